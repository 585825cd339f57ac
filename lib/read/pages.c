// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A page: where it stands in the file, whether it is what it says, and its slots.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

enum fkt_page_kind fkt_page_check(const struct fkt_trace *trace, const void *data,
				  struct fkt_page_header *header)
{
	uint32_t begin = trace->header.page_header_bytes;

	memcpy(header, data, sizeof(*header));
	header->magic = le32toh(header->magic);
	header->lane = le16toh(header->lane);
	header->cpu = le16toh(header->cpu);
	header->seq = le64toh(header->seq);
	header->first = le64toh(header->first);
	header->end = le64toh(header->end);
	header->lost = le64toh(header->lost);
	header->used = le32toh(header->used);
	header->events = le32toh(header->events);
	header->pid = le32toh(header->pid);
	header->flags = le32toh(header->flags);

	if (header->magic == FKT_SECTION_MAGIC)
		return FKT_PAGE_TAIL;
	if (header->magic != FKT_PAGE_MAGIC)
		return FKT_PAGE_BAD;
	if (memcmp(header->id, trace->header.id, FKT_ID_BYTES))
		return FKT_PAGE_FOREIGN;
	if (header->used < begin || header->used > FKT_PAGE_BYTES || header->used % 8)
		return FKT_PAGE_BAD;
	if (header->lane == FKT_LANE_INDEX) {
		if (header->events > FKT_INDEX_ENTRIES ||
		    header->used < begin + offsetof(struct fkt_index, entry) +
					   header->events * sizeof(struct fkt_index_entry))
			return FKT_PAGE_BAD;
		return FKT_PAGE_INDEX;
	}
	if (header->lane >= trace->header.lanes || header->events > (header->used - begin) / 8)
		return FKT_PAGE_BAD;
	if (header->first > header->end) {
		/* The CPU that opened it may not be the one that closed it. */
		if (header->first - header->end > FKT_SKEW_CYCLES)
			return FKT_PAGE_BAD;
		header->end = header->first;
	}
	return FKT_PAGE_EVENTS;
}

enum fkt_page_kind fkt_page_open(const struct fkt_trace *trace, const void *data,
				 struct fkt_page *page)
{
	enum fkt_page_kind kind = fkt_page_check(trace, data, &page->header);
	const struct fkt_page_header *header = &page->header;
	const uint64_t *words = data;

	if (kind == FKT_PAGE_EVENTS)
		page->cursor = (struct fkt_cursor){
			.pos = words + trace->header.page_header_bytes / sizeof(*words),
			.end = words + header->used / sizeof(*words),
			.stamp = header->first,
			.left = header->events,
			.lane = header->lane,
			.cpu = header->cpu,
			.shared = trace->header.shared,
			.page = words,
			.first = words + trace->header.page_header_bytes / sizeof(*words),
		};
	return kind;
}

uint64_t fkt_read_pages(struct fkt_trace *trace, uint64_t first, uint64_t count, void *data)
{
	return fkt_input_read_at(&trace->input, data, count * FKT_PAGE_BYTES,
				 fkt_page_offset(trace, first)) /
	       FKT_PAGE_BYTES;
}

enum fkt_page_kind fkt_read_page(struct fkt_trace *trace, uint64_t number, void *data,
				 struct fkt_page *page)
{
	if (fkt_read_pages(trace, number, 1, data) != 1)
		return FKT_PAGE_BAD;
	return fkt_page_open(trace, data, page);
}

enum fkt_page_kind fkt_read_page_header(struct fkt_trace *trace, uint64_t number,
					struct fkt_page_header *header)
{
	struct fkt_page_header data;

	if (fkt_input_read_at(&trace->input, &data, sizeof(data), fkt_page_offset(trace, number)) !=
	    sizeof(data))
		return FKT_PAGE_BAD;
	return fkt_page_check(trace, &data, header);
}

int fkt_window_page(struct fkt_trace *trace, struct fkt_window *window, uint64_t number,
		    void **page)
{
	*page = fkt_window_find(window, number);
	if (*page)
		return 0;
	if (!window->data)
		window->data = malloc(window->room * FKT_PAGE_BYTES);
	if (!window->data)
		return -ENOMEM;
	window->first = number;
	window->pages = fkt_read_pages(trace, number, window->room, window->data);
	*page = window->data;
	return window->pages ? 0 : -EIO;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "read/internal.h"
#include "timedat.h"

#define LINE_BYTES 256

static int add(struct page_times *times, const struct page_time *page)
{
	size_t room = times->room ? 2 * times->room : 1024;
	struct page_time *larger;

	if (times->count == times->room) {
		larger = reallocarray(times->page, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		times->page = larger;
		times->room = room;
	}
	times->page[times->count++] = *page;
	if (page->lane >= times->lanes)
		times->lanes = page->lane + 1;
	if (page->end > times->end)
		times->end = page->end;
	return 0;
}

static uint64_t since(const struct fkt_trace *trace, uint64_t first, uint64_t stamp)
{
	return stamp > first ? (uint64_t)fkt_cycles_to_ns(trace, (int64_t)(stamp - first)) : 0;
}

int timedat_of_trace(struct page_times *times, struct fkt_trace *trace)
{
	struct fkt_page_header header;
	struct page_time page;
	uint64_t first, last;
	int err = 0;

	if (!fkt_has_clock(trace))
		return -ENODATA;
	if (!trace->input.seekable)
		return -ESPIPE;
	if (!fkt_span(trace, &first, &last))
		return 0;
	for (uint64_t i = 0; i < trace->pages && !err; i++) {
		if (fkt_read_page_header(trace, i, &header) != FKT_PAGE_EVENTS)
			continue;
		/* A damaged header must not stretch the picture. */
		if (header.first > last || header.end < first)
			continue;
		page = (struct page_time){
			.lane = header.lane,
			.begin = since(trace, first, header.first),
			.end = since(trace, first, header.end < last ? header.end : last),
			.events = header.events,
			.bytes = header.used,
		};
		err = add(times, &page);
	}
	return err;
}

int timedat_read(struct page_times *times, FILE *file)
{
	char line[LINE_BYTES];
	struct page_time page;
	int err = 0, end;

	if (!fgets(line, sizeof(line), file) || strcmp(line, TIMEDAT_HEAD))
		return -EBADMSG;
	while (!err && fgets(line, sizeof(line), file)) {
		end = 0;
		if (sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
			   &page.lane, &page.begin, &page.end, &page.events, &page.bytes,
			   &end) != 5 ||
		    line[end] != '\n' || page.end < page.begin || page.lane >= FKT_LANE_INDEX ||
		    page.end > INT64_MAX || page.events > FKT_PAGE_BYTES ||
		    page.bytes > FKT_PAGE_BYTES)
			return -EBADMSG;
		err = add(times, &page);
	}
	return err ?: ferror(file) ? -EIO : 0;
}

void timedat_write(const struct page_times *times, FILE *file)
{
	fputs(TIMEDAT_HEAD, file);
	for (size_t i = 0; i < times->count; i++)
		fprintf(file, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			times->page[i].lane, times->page[i].begin, times->page[i].end,
			times->page[i].events, times->page[i].bytes);
}

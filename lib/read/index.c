// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * To a moment of a file without reading what comes before: by bisection over the full index
 * pages, which stand at places that can be computed.
 *
 * max_end never decreases from one index to the next, so a page that is before an index page whose
 * max_end is before the moment need not be read. An index that is missing is stepped over. One that
 * does not agree with the others is not believed, nor are the others: then all is read.
 */
#include "internal.h"

bool fkt_read_block(struct fkt_trace *trace, uint64_t number, struct fkt_block *block)
{
	uint64_t page = number * FKT_BLOCK_PAGES + FKT_INDEX_ENTRIES;
	uint32_t begin = trace->header.page_header_bytes;
	uint64_t data[FKT_PAGE_WORDS];
	struct fkt_page_header header;
	struct fkt_index_entry *entry;
	struct fkt_index index;

	if (!trace->input.seekable || page >= trace->pages ||
	    fkt_read_pages(trace, page, 1, data) != 1 ||
	    fkt_page_check(trace, data, &header) != FKT_PAGE_INDEX ||
	    header.events != FKT_INDEX_ENTRIES)
		return false;
	memcpy(&index, (const char *)data + begin, sizeof(index));
	block->complete = le64toh(index.complete);
	block->max_end = le64toh(index.max_end);
	block->events_before = le64toh(index.events_before);
	for (unsigned int i = 0; i < FKT_INDEX_ENTRIES; i++) {
		entry = &block->entry[i];
		entry->first = le64toh(index.entry[i].first);
		entry->end = le64toh(index.entry[i].end);
		entry->events = le32toh(index.entry[i].events);
		entry->lane = le16toh(index.entry[i].lane);
		entry->cpu = le16toh(index.entry[i].cpu);
		if (entry->lane >= trace->header.lanes && entry->lane != FKT_LANE_INDEX)
			return false;
	}
	return true;
}

/* Whether a block's index and the one before it tell the same story. */
static bool agrees(struct fkt_trace *trace, uint64_t number, const struct fkt_block *block)
{
	uint64_t max_end = 0, events = 0;
	struct fkt_block before;

	if (number && !fkt_read_block(trace, number - 1, &before))
		return true;
	if (number) {
		max_end = before.max_end;
		events = before.events_before;
		for (unsigned int i = 0; i < FKT_INDEX_ENTRIES; i++)
			events += before.entry[i].events;
	}
	for (unsigned int i = 0; i < FKT_INDEX_ENTRIES; i++)
		if (block->entry[i].lane != FKT_LANE_INDEX && block->entry[i].end > max_end)
			max_end = block->entry[i].end;
	return block->max_end == max_end && block->events_before == events;
}

uint64_t fkt_seek_stamp(struct fkt_trace *trace, uint64_t stamp)
{
	uint64_t low = 0, high = fkt_blocks(trace), middle, at;
	uint64_t low_end = 0, high_end = UINT64_MAX;
	struct fkt_block block;

	/* Blocks before low have nothing to offer; that at high, and those behind it, may have. */
	while (low < high) {
		middle = low + (high - low) / 2;
		for (at = middle; at < high && !fkt_read_block(trace, at, &block); at++)
			;
		if (at == high) {
			high = middle;
			continue;
		}
		if (block.max_end < low_end || block.max_end > high_end)
			return 0;
		if (block.max_end < stamp) {
			if (!agrees(trace, at, &block))
				return 0;
			low = at + 1;
			low_end = block.max_end;
		} else {
			high = middle;
			high_end = block.max_end;
		}
	}
	return low;
}

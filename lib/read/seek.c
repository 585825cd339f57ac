// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Moments of a trace: its first and its last one, that of an event's number, and one from which on
 * to read so as to know how things stood. The index leads near them, and a reader to the event.
 */
#include <errno.h>

#include "internal.h"

uint64_t fkt_look_back_pages(struct fkt_trace *trace, uint64_t from, uint64_t pages)
{
	uint64_t number = fkt_seek_stamp(trace, from);
	struct fkt_block block;

	if (number <= pages / FKT_BLOCK_PAGES)
		return 0;
	/* No event of the pages before this index is later than its max_end. */
	number -= pages / FKT_BLOCK_PAGES;
	if (!fkt_read_block(trace, number, &block) || block.max_end >= from)
		return 0;
	return block.max_end;
}

uint64_t fkt_recording_end(const struct fkt_trace *trace, uint64_t last)
{
	const char *info = fkt_info(trace, "stop_cycles");
	uint64_t stop;

	return info && fkt_parse_u64(info, &stop) && stop > last && fkt_clocks_agree(trace) &&
			       stop <= trace->clock[1].cycles
		       ? stop
		       : last;
}

uint64_t fkt_look_back(struct fkt_trace *trace, uint64_t from)
{
	return fkt_look_back_pages(trace, from, FKT_LOOK_BACK_PAGES);
}

bool fkt_span(struct fkt_trace *trace, uint64_t *first, uint64_t *last)
{
	struct fkt_bounds bounds = fkt_stamp_bounds(trace);
	struct fkt_page_header header;
	struct fkt_reader *reader;
	struct fkt_block index;
	struct fkt_event event;
	uint64_t block, start, stop;
	int what;

	if (!trace->input.seekable)
		return false;
	reader = fkt_reader_new(trace);
	block = fkt_blocks(trace);
	while (reader && (what = fkt_reader_next(reader, &event)) > 0 && what != FKT_EVENT)
		;
	if (!reader || what != FKT_EVENT) {
		fkt_reader_free(reader);
		return false;
	}
	fkt_reader_free(reader);
	*first = *last = event.stamp;

	while (block && !fkt_read_block(trace, block - 1, &index))
		block--;
	if (block && index.max_end > *last)
		*last = index.max_end;
	for (uint64_t page = block * FKT_BLOCK_PAGES; page < trace->pages; page++)
		if (fkt_read_page_header(trace, page, &header) == FKT_PAGE_EVENTS &&
		    header.first <= bounds.high && header.end > *last)
			*last = header.end;
	if (*last > bounds.high)
		*last = bounds.high;
	/* Pages that were open when the recording stopped are closed later. */
	if (fkt_recorded(trace, &start, &stop) && *last > stop)
		*last = stop > *first ? stop : *first;
	return true;
}

/*
 * From a moment before which fewer events came: look at each event until its number is reached.
 * 1, 0 when there are not so many, -ERANGE when the moment is after it, or another errno value.
 */
static int count_from(struct fkt_trace *trace, uint64_t from, uint64_t number, uint64_t *stamp)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, from, UINT64_MAX);
	struct fkt_event event;
	int what;

	if (!reader)
		return -ENOMEM;
	while ((what = fkt_reader_next(reader, &event)) > 0) {
		if (what != FKT_EVENT)
			continue;
		/* The first event is delivered when all that is earlier has been passed over. */
		if (reader->passed > number)
			what = -ERANGE;
		if (reader->passed + reader->stats.events < number + 1 && what > 0)
			continue;
		*stamp = event.stamp;
		break;
	}
	fkt_reader_free(reader);
	return what < 0 ? what : what > 0;
}

int fkt_event_stamp(struct fkt_trace *trace, uint64_t number, uint64_t *stamp)
{
	uint64_t low = 0, high = fkt_blocks(trace), middle;
	struct fkt_block block;
	int ret;

	if (!trace->input.seekable)
		return -ESPIPE;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (!fkt_read_block(trace, middle, &block))
			return count_from(trace, 0, number, stamp);
		if (block.events_before <= number)
			low = middle + 1;
		else
			high = middle;
	}
	/* Pages that are still open there hold earlier events: go back until there are fewer. */
	for (uint64_t back = 2; back < low; back *= 2) {
		if (!fkt_read_block(trace, low - back, &block))
			break;
		ret = count_from(trace, block.max_end + 1, number, stamp);
		if (ret != -ERANGE)
			return ret;
	}
	return count_from(trace, 0, number, stamp);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of all lanes in the order of time.
 *
 * A source has the pages of each lane that were found and not yet read. The lanes that have an
 * event to deliver stand in a heap. The earliest event may go out when no earlier one can come any
 * more: every lane stands in the heap, or an index page has said that all events before that
 * moment have been found, or there is nothing more to find. Otherwise more pages are looked for.
 */
#include <errno.h>
#include <stdlib.h>

#include "source.h"

/* How far before a window a lane's last page is looked for: some 700 MB. */
#define JOIN_BLOCKS_MAX 1024
/* How far before a window of a shared lane the CPUs' threads are followed. */
#define SHARED_BLOCKS	16

/**
 * struct fkt_lane - a lane being read
 * @cursor: in its page
 * @key: stamp of its next event, when it stands in the heap
 * @begin: of its page, no slot is earlier
 * @end: nor later
 * @seq: of its page
 * @jump: pages missing before that one
 * @closed: when that was closed; 0 without one
 * @lost: events lost as far as its pages said
 * @more_lost: those that its last page said
 * @discarded: events discarded at its end, as far as the totals were asked
 * @joined: reading began in its midst: its next page is taken as it is
 * @waiting: gaps to be told before its next event, indexed by enum fkt_gap_kind
 * @cpu: its CPU, FKT_CPU_ANY when it is shared
 * @in_heap: whether it stands in the heap
 */
struct fkt_lane {
	struct fkt_cursor cursor;
	uint64_t key;
	uint64_t begin;
	uint64_t end;
	uint64_t seq;
	uint64_t jump;
	uint64_t closed;
	uint64_t lost;
	uint64_t more_lost;
	uint64_t discarded;
	bool joined;
	uint64_t waiting[FKT_GAP_OVERWRITTEN + 1];
	uint16_t cpu;
	bool in_heap;
};

static bool earlier(const struct fkt_lane *a, const struct fkt_lane *b)
{
	return a->key < b->key || (a->key == b->key && a->cursor.lane < b->cursor.lane);
}

static void heap_down(struct fkt_reader *reader, uint32_t i)
{
	struct fkt_lane **heap = reader->heap;
	struct fkt_lane *lane = heap[i];
	uint32_t child;

	while ((child = 2 * i + 1) < reader->in_heap) {
		if (child + 1 < reader->in_heap && earlier(heap[child + 1], heap[child]))
			child++;
		if (!earlier(heap[child], lane))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = lane;
}

static void heap_add(struct fkt_reader *reader, struct fkt_lane *lane)
{
	struct fkt_lane **heap = reader->heap;
	uint32_t i = reader->in_heap++;

	while (i && earlier(lane, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = lane;
	lane->in_heap = true;
}

static void heap_drop_first(struct fkt_reader *reader)
{
	reader->heap[0]->in_heap = false;
	reader->heap[0] = reader->heap[--reader->in_heap];
	if (reader->in_heap)
		heap_down(reader, 0);
}

/*
 * Whether this can be the lane's next page. A sequence number that does not grow is that of a page
 * that stood in the file before, unless time says that it was the number before that was wrong.
 */
static bool follows(const struct fkt_lane *lane, const struct fkt_page_header *header)
{
	return header->seq > lane->seq || header->first >= lane->cursor.stamp;
}

/*
 * Take in the header of the lane's next page: what is missing before it, and the thread current on
 * its CPU. After a gap in a shared lane, nothing is known of the other CPUs.
 */
static void take_header(struct fkt_reader *reader, struct fkt_lane *lane,
			const struct fkt_page_header *header)
{
	bool gap = lane->joined;

	/* It was the page before that had a wrong number: nothing was missing. */
	if (header->seq <= lane->seq && lane->jump) {
		reader->stats.missing -= lane->jump;
		reader->stats.damaged++;
		lane->waiting[FKT_GAP_MISSING] = 0;
		lane->waiting[FKT_GAP_DAMAGED]++;
	}
	lane->jump = 0;
	if (header->seq > lane->seq + 1 && !lane->joined) {
		lane->jump = header->seq - lane->seq - 1;
		lane->waiting[FKT_GAP_MISSING] += lane->jump;
		reader->stats.missing += lane->jump;
		gap = true;
	}
	if (header->flags & FKT_PAGE_OVERWROTE && !lane->joined) {
		lane->waiting[FKT_GAP_OVERWRITTEN] = 1;
		gap = true;
	}
	lane->seq = header->seq;
	lane->closed = header->end;
	/* The same of the number of lost events. */
	if (header->lost < lane->lost && lane->more_lost) {
		lane->lost -= lane->more_lost;
		reader->stats.lost -= lane->more_lost;
		reader->stats.damaged++;
		lane->waiting[FKT_GAP_LOST] = 0;
		lane->waiting[FKT_GAP_DAMAGED]++;
	}
	lane->more_lost = 0;
	if (header->lost > lane->lost) {
		if (!lane->joined) {
			lane->more_lost = header->lost - lane->lost;
			lane->waiting[FKT_GAP_LOST] += lane->more_lost;
			reader->stats.lost += lane->more_lost;
		}
		lane->lost = header->lost;
		gap = true;
	}
	lane->joined = false;
	if (gap && reader->trace->header.shared)
		memset(reader->cpu_pid, 0xff, sizeof(reader->cpu_pid));
	reader->cpu_pid[header->cpu] = header->pid;
}

/* The lane's page has no more whole slots: were they all that it said it has? */
static void end_page(struct fkt_reader *reader, struct fkt_lane *lane)
{
	if (lane->cursor.pos == lane->cursor.end && !lane->cursor.left)
		return;
	lane->waiting[FKT_GAP_DAMAGED]++;
	reader->stats.damaged++;
}

/* What is missing before an event that is passed over is nobody's business. */
static void pass_gaps(struct fkt_reader *reader, struct fkt_lane *lane)
{
	if (lane->waiting[FKT_GAP_MISSING])
		lane->jump = 0;
	if (lane->waiting[FKT_GAP_LOST])
		lane->more_lost = 0;
	reader->stats.missing -= lane->waiting[FKT_GAP_MISSING];
	reader->stats.lost -= lane->waiting[FKT_GAP_LOST];
	reader->stats.damaged -= lane->waiting[FKT_GAP_DAMAGED];
	memset(lane->waiting, 0, sizeof(lane->waiting));
}

/*
 * Of pages that end before this, all events are passed over, and no thread needs to be followed
 * through them: in a lane of one CPU the next page says who is current.
 */
static uint64_t passed_before(const struct fkt_trace *trace, uint64_t from)
{
	return trace->header.shared ? 0 : from;
}

/* Look at the lane's next slot. One whose stamp the page can't have is where the page ends. */
static bool next_slot(struct fkt_lane *lane, struct fkt_event *event)
{
	if (!fkt_slot_decode(&lane->cursor, event))
		return false;
	if (likely(event->stamp >= lane->begin && event->stamp <= lane->end))
		return true;
	lane->cursor.end = lane->cursor.pos;
	return false;
}

/* Set the lane's key to its next event in this page that is not passed over; false: none. */
static bool find_key(struct fkt_reader *reader, struct fkt_lane *lane)
{
	struct fkt_event event;

	while (next_slot(lane, &event)) {
		if (likely(event.stamp >= reader->from)) {
			lane->key = event.stamp;
			return true;
		}
		fkt_slot_pass(&lane->cursor, &event);
		fkt_follow(reader, &event);
		pass_gaps(reader, lane);
		reader->passed++;
	}
	end_page(reader, lane);
	return false;
}

/* Begin with the lane's next page. False when no event in it is to be delivered. */
static bool begin_page(struct fkt_reader *reader, struct fkt_lane *lane,
		       const struct fkt_page *page)
{
	take_header(reader, lane, &page->header);
	if (page->header.end < passed_before(reader->trace, reader->from)) {
		pass_gaps(reader, lane);
		lane->cursor.stamp = page->header.first;
		reader->passed += page->header.events;
		return false;
	}
	reader->stats.pages++;
	lane->cursor = page->cursor;
	lane->cursor.cpu = page->header.cpu;
	/* Where the CPUs' clocks are not quite the same, a shared lane's stamps may be, too. */
	lane->begin = page->header.first > FKT_SKEW_CYCLES ? page->header.first - FKT_SKEW_CYCLES
							   : 0;
	lane->end = page->header.end < UINT64_MAX - FKT_SKEW_CYCLES
			    ? page->header.end + FKT_SKEW_CYCLES
			    : UINT64_MAX;
	if (reader->processes && !fkt_may_have_process_event(&lane->cursor)) {
		reader->passed += page->header.events;
		return false;
	}
	return find_key(reader, lane);
}

/* Whether a page can be the lane's next one; a wrong number in its header is put right. */
static bool believe(struct fkt_reader *reader, struct fkt_lane *lane,
		    struct fkt_page_header *header)
{
	const struct fkt_before before = {
		.seq = lane->seq,
		.lost = lane->lost,
		.stamp = lane->cursor.stamp,
		.jump = lane->jump,
		.more_lost = lane->more_lost,
		.joined = lane->joined,
		.cpu = lane->cpu,
	};
	struct fkt_page_header next;
	bool known;

	if (likely(!fkt_needs_belief(&reader->bounds, &before, header)))
		return true;
	known = fkt_source_peek(reader->source, lane->cursor.lane, &next);
	switch (fkt_believe(reader->trace, &reader->bounds, &before, header,
			    known ? &next : NULL)) {
	case FKT_BELIEVED:
		return true;
	case FKT_REPAIRED:
		lane->waiting[FKT_GAP_DAMAGED]++;
		reader->stats.damaged++;
		return !reader->source->whole;
	default:
		return false;
	}
}

/* Go to the lane's next page that has an event. 1, 0 when none was found yet, or an errno value. */
static int next_page(struct fkt_reader *reader, struct fkt_lane *lane)
{
	struct fkt_page page;
	int ret;

	while ((ret = fkt_source_next(reader->source, lane->cursor.lane, &page))) {
		if (ret < 0 && ret != -EBADMSG)
			return ret;
		if (ret > 0 && follows(lane, &page.header) && believe(reader, lane, &page.header)) {
			if (begin_page(reader, lane, &page))
				return 1;
			continue;
		}
		if (reader->source->whole)
			return -EAGAIN;
		reader->stats.damaged++;
	}
	return 0;
}

/* Called for each page that the source finds. */
static int page_found(void *arg, uint32_t number)
{
	struct fkt_reader *reader = arg;
	struct fkt_lane *lane = &reader->lane[number];
	int ret;

	if (lane->in_heap)
		return 0;
	ret = next_page(reader, lane);
	if (ret > 0)
		heap_add(reader, lane);
	return ret < 0 ? ret : 0;
}

/* 1, 0 when there are no more pages to find, or a negative errno value. */
static int find_pages(struct fkt_reader *reader)
{
	int ret = fkt_source_find(reader->source, &reader->watermark);

	reader->ended = !ret;
	return ret;
}

/* The lane that delivered until now has come to its limit or to its page's end: put it right. */
static int settle(struct fkt_reader *reader, struct fkt_event *event)
{
	const struct fkt_source *source = reader->source;
	struct fkt_lane *lane = reader->heap[0];
	int ret = 0;

	reader->cursor = &reader->none;
	reader->room = 0;
	if (next_slot(lane, event)) {
		lane->key = event->stamp;
		heap_down(reader, 0);
		return 0;
	}
	end_page(reader, lane);
	/* What comes behind the next page says whether that one can be right. */
	if (source->trace->input.seekable && !reader->ended &&
	    source->queue[lane->cursor.lane].tail - source->queue[lane->cursor.lane].head < 2)
		ret = find_pages(reader);
	if (ret < 0)
		return ret;
	ret = next_page(reader, lane);
	if (ret > 0)
		heap_down(reader, 0);
	else if (!ret)
		heap_drop_first(reader);
	while (ret >= 0 && !reader->ended && source->waiting < source->wanted)
		ret = find_pages(reader);
	return ret < 0 ? ret : 0;
}

/* Whether all that is in the window has been delivered. */
static bool is_past(const struct fkt_reader *reader)
{
	if (reader->to == UINT64_MAX || (reader->in_heap && reader->heap[0]->key < reader->to))
		return false;
	/* What the trace's end says of losses belongs to the window that it lies in. */
	if (reader->ended)
		return reader->in_heap;
	return reader->in_heap == reader->trace->header.lanes || reader->watermark >= reader->to;
}

/* Whether no event earlier than the first one in the heap can come any more. */
static bool is_due(struct fkt_reader *reader)
{
	if (!reader->in_heap)
		return false;
	if (reader->ended || reader->in_heap == reader->trace->header.lanes ||
	    reader->heap[0]->key < reader->watermark)
		return true;
	if (reader->source->waiting < reader->source->waiting_max)
		return false;
	if (!reader->hurried)
		fkt_warn(reader->trace,
			 "too many pages wait for those of another lane: events may "
			 "be out of order; read it from a file to have them in order");
	reader->hurried = true;
	return true;
}

static bool tell_gap(struct fkt_reader *reader, struct fkt_lane *lane, struct fkt_event *event)
{
	for (unsigned int kind = 0; kind <= FKT_GAP_OVERWRITTEN; kind++) {
		if (!lane->waiting[kind])
			continue;
		reader->gap.kind = (enum fkt_gap_kind)kind;
		reader->gap.lane = lane->cursor.lane;
		reader->gap.cpu = lane->cpu;
		reader->gap.count = lane->waiting[kind];
		reader->gap.after = kind == FKT_GAP_DISCARDED ? lane->closed : 0;
		lane->waiting[kind] = 0;
		event->stamp = lane->in_heap ? lane->key : lane->cursor.stamp;
		event->lane = lane->cursor.lane;
		event->cpu = lane->cpu;
		return true;
	}
	return false;
}

/* How far the first lane in the heap may deliver before this file is asked again. */
static uint64_t run_room(const struct fkt_reader *reader)
{
	const struct fkt_lane *first = reader->heap[0], *second = NULL;
	uint64_t limit = UINT64_MAX;

	/* Each event is looked at, see deliver_began(). */
	if (reader->begans)
		return 0;
	if (reader->in_heap > 1)
		second = reader->heap[1];
	if (reader->in_heap > 2 && earlier(reader->heap[2], second))
		second = reader->heap[2];
	if (second) {
		limit = second->key;
		if (limit < UINT64_MAX && first->cursor.lane < second->cursor.lane)
			limit++;
	}
	if (!reader->ended && reader->in_heap < reader->trace->header.lanes &&
	    limit > reader->watermark)
		limit = reader->watermark;
	if (limit > reader->to)
		limit = reader->to;
	if (first->end < limit)
		limit = first->end + 1;
	return limit > first->begin ? limit - first->begin : 0;
}

/* What is missing at the end of a lane is not in any page, but in the totals. */
static void take_totals(struct fkt_reader *reader)
{
	const struct fkt_lane_totals *totals;
	struct fkt_lane *lane;

	for (size_t i = 0; (totals = fkt_lane_totals(reader->trace, i)); i++) {
		if (totals->lane >= reader->trace->header.lanes)
			continue;
		lane = &reader->lane[totals->lane];
		if (totals->discarded > lane->discarded) {
			lane->waiting[FKT_GAP_DISCARDED] += totals->discarded - lane->discarded;
			lane->discarded = totals->discarded;
		}
		if (totals->lost <= lane->lost)
			continue;
		lane->waiting[FKT_GAP_LOST] += totals->lost - lane->lost;
		reader->stats.lost += totals->lost - lane->lost;
		lane->lost = totals->lost;
	}
}

/* All events are out: what gaps are there behind the last ones? */
static bool tell_end(struct fkt_reader *reader, struct fkt_event *event)
{
	/* They are those of the window that has the last event. */
	if (reader->from && !reader->stats.events)
		return false;
	if (!reader->closing)
		take_totals(reader);
	for (; reader->closing < reader->trace->header.lanes; reader->closing++)
		if (tell_gap(reader, &reader->lane[reader->closing], event))
			return true;
	return false;
}

/*
 * What a program says of itself may be wrong: a thread that it was in where another one ran. Then
 * it remains what a program says, and is no event of that other one's.
 */
static bool is_claim(const struct fkt_reader *reader, const struct fkt_began *one)
{
	const uint32_t pid = reader->cpu_pid[one->cpu];

	return one->claimed && pid != one->pid && pid != FKT_PID_UNKNOWN;
}

/*
 * Deliver an event that was told of later, if one is due before a stamp. No event of the trace: it
 * counts by the one that told of it.
 */
static bool deliver_began(struct fkt_reader *reader, uint64_t before, struct fkt_event *event)
{
	const struct fkt_began *one;

	if (likely(!reader->begans) || reader->next_began == reader->begans->count)
		return false;
	one = &reader->begans->one[reader->next_began];
	if (one->at >= before || one->at >= reader->to)
		return false;
	*event = (struct fkt_event){
		.stamp = one->at,
		.args = one->args + FKT_LATE_WORDS,
		.code = one->code,
		.pid = one->pid,
		.cpu = one->cpu,
		.lane = one->lane,
		.words = one->words,
	};
	if (is_claim(reader, one)) {
		event->code = FKT_CODE_TOLD;
		event->imm = one->cpu;
		event->pid = reader->cpu_pid[one->cpu];
		event->args = one->args;
		event->words = (uint8_t)(FKT_LATE_WORDS + one->words);
	}
	reader->next_began++;
	if (!reader->stats.events && !reader->began)
		reader->stats.first = one->at;
	if (one->at > reader->stats.last)
		reader->stats.last = one->at;
	reader->began = true;
	reader->delivered = true;
	return true;
}

/*
 * Whether the first lane's next event told of such a one: it is passed over, unless it was a call
 * and its begin may have been forgotten since.
 */
static bool pass_began(struct fkt_reader *reader, struct fkt_event *event)
{
	struct fkt_lane *lane = reader->heap[0];

	if (likely(!reader->begans) || !fkt_slot_decode(&lane->cursor, event) ||
	    !fkt_began_is_told(reader->trace, reader->begans, event) ||
	    (event->code == FKT_CODE_BEGAN && fkt_arg64(event, 0) <= reader->broken))
		return false;
	fkt_slot_pass(&lane->cursor, event);
	reader->stats.events++;
	return true;
}

int fkt_next_slow(struct fkt_reader *reader, struct fkt_event *event)
{
	int ret;

	if (reader->cursor != &reader->none) {
		ret = settle(reader, event);
		if (ret)
			return ret;
	}
	for (;;) {
		if (is_past(reader))
			return deliver_began(reader, reader->to, event) ? FKT_EVENT : FKT_END;
		if (is_due(reader)) {
			if (deliver_began(reader, reader->heap[0]->key, event))
				return FKT_EVENT;
			if (tell_gap(reader, reader->heap[0], event)) {
				reader->broken = event->stamp;
				return FKT_GAP;
			}
			if (likely(!pass_began(reader, event)))
				break;
			ret = settle(reader, event);
			if (ret)
				return ret;
			continue;
		}
		if (reader->ended && deliver_began(reader, UINT64_MAX, event))
			return FKT_EVENT;
		if (reader->ended)
			return tell_end(reader, event) ? FKT_GAP : FKT_END;
		if (reader->delivered && fkt_scan_would_block(reader->source->scan)) {
			reader->delivered = false;
			return FKT_WAIT;
		}
		ret = find_pages(reader);
		if (ret < 0)
			return ret;
	}

	reader->delivered = true;
	reader->cursor = &reader->heap[0]->cursor;
	reader->floor = reader->heap[0]->begin;
	reader->room = run_room(reader);
	fkt_slot_decode(reader->cursor, event);
	if (!reader->stats.events && !reader->began)
		reader->stats.first = event->stamp;
	if (unlikely(reader->begans && fkt_is_stop(event)))
		reader->broken = event->stamp;
	fkt_deliver(reader, event);
	return FKT_EVENT;
}

int fkt_next(struct fkt_reader *reader, struct fkt_event *event)
{
	return fkt_reader_next(reader, event);
}

const struct fkt_gap *fkt_gap(const struct fkt_reader *reader)
{
	return &reader->gap;
}

const struct fkt_read_stats *fkt_read_stats(const struct fkt_reader *reader)
{
	return &reader->stats;
}

/*
 * A lane that is begun in its midst goes on from its last page before that: its sequence number,
 * and the thread that was current on its CPU at its end.
 */
static void join_lane(struct fkt_reader *reader, uint32_t number, uint64_t at)
{
	struct fkt_lane *lane = &reader->lane[number];
	uint64_t data[FKT_PAGE_WORDS];
	struct fkt_event event;
	struct fkt_page page;

	if (fkt_read_page(reader->trace, at, data, &page) != FKT_PAGE_EVENTS ||
	    page.header.lane != number)
		return;
	lane->seq = page.header.seq;
	lane->closed = page.header.end;
	lane->lost = page.header.lost;
	lane->joined = false;

	if (!reader->trace->header.shared)
		page.header.cpu = page.cursor.cpu = lane->cpu;
	reader->cpu_pid[page.header.cpu] = page.header.pid;
	while (fkt_slot_decode(&page.cursor, &event)) {
		fkt_slot_pass(&page.cursor, &event);
		fkt_follow(reader, &event);
	}
	/* Of a damaged page this may be anything. */
	lane->cursor.stamp = page.cursor.stamp < page.header.end ? page.cursor.stamp
								 : page.header.end;
}

/* Begin with this block. A lane without a page for long before it is taken as it comes. */
static void join_block(struct fkt_reader *reader, uint64_t number)
{
	uint32_t lanes = reader->trace->header.lanes, left = lanes, lane;
	uint64_t steps = JOIN_BLOCKS_MAX;
	struct fkt_block block;

	if (fkt_read_block(reader->trace, number, &block))
		reader->passed = block.events_before;
	reader->block = number;
	fkt_scan_seek(reader->source->scan, number * FKT_BLOCK_PAGES);
	for (uint32_t i = 0; i < lanes; i++)
		reader->lane[i].joined = true;
	for (; number && left && steps; steps--) {
		if (!fkt_read_block(reader->trace, --number, &block))
			return;
		for (unsigned int i = FKT_INDEX_ENTRIES; i-- && left;) {
			lane = block.entry[i].lane;
			if (lane == FKT_LANE_INDEX || !reader->lane[lane].joined)
				continue;
			join_lane(reader, lane, number * FKT_BLOCK_PAGES + i);
			left -= !reader->lane[lane].joined;
		}
	}
	for (uint32_t i = 0; i < lanes && !number; i++)
		reader->lane[i].joined = false;
}

struct fkt_reader *fkt_reader_new(struct fkt_trace *trace)
{
	return fkt_reader_new_window(trace, 0, UINT64_MAX);
}

struct fkt_reader *fkt_reader_new_window(struct fkt_trace *trace, uint64_t from, uint64_t to)
{
	const struct fkt_begans *begans;
	struct fkt_source *source;
	struct fkt_reader *reader;
	int err;

	begans = fkt_begans(trace, &err);
	if (err)
		return NULL;
	if (trace->input.seekable)
		source = fkt_source_file(trace, passed_before(trace, from));
	else if (!__atomic_exchange_n(&trace->streaming, true, __ATOMIC_RELAXED))
		source = fkt_source_stream(trace);
	else
		return NULL; /* it would get what the first reader then lacks */
	reader = fkt_reader_new_source(source, from, to, from ? fkt_seek_stamp(trace, from) : 0);
	if (reader && begans) {
		reader->begans = begans;
		reader->next_began = fkt_begans_from(begans, from);
	}
	return reader;
}

struct fkt_reader *fkt_reader_new_source(struct fkt_source *source, uint64_t from, uint64_t to,
					 uint64_t block)
{
	struct fkt_reader *reader = source ? calloc(1, sizeof(*reader)) : NULL;
	struct fkt_trace *trace;
	uint32_t lanes;

	if (!reader) {
		fkt_source_free(source);
		return NULL;
	}
	trace = source->trace;
	lanes = trace->header.lanes;
	reader->trace = trace;
	reader->source = source;
	reader->cursor = &reader->none;
	reader->from = from;
	reader->to = to;
	reader->lane = calloc(lanes, sizeof(*reader->lane));
	reader->heap = calloc(lanes, sizeof(*reader->heap));
	if (!reader->lane || !reader->heap ||
	    fkt_source_begin(source, page_found, reader, &reader->stats)) {
		fkt_reader_free(reader);
		return NULL;
	}
	for (uint32_t i = 0; i < lanes; i++) {
		reader->lane[i].cursor.lane = (uint16_t)i;
		reader->lane[i].cursor.shared = trace->header.shared;
		reader->lane[i].cpu = fkt_cpu_of_lane(trace, i);
	}
	reader->bounds = fkt_stamp_bounds(trace);
	memset(reader->cpu_pid, 0xff, sizeof(reader->cpu_pid));
	for (size_t i = 0; i < trace->n_current; i++)
		reader->cpu_pid[trace->current[i].cpu] = trace->current[i].tid;

	/* In a shared lane switches say who is current on each CPU. */
	if (trace->header.shared)
		block -= block < SHARED_BLOCKS ? block : SHARED_BLOCKS;
	if (block)
		join_block(reader, block);
	return reader;
}

struct fkt_reader *fkt_reader_new_processes(struct fkt_trace *trace, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, 0, to);

	/* In a shared lane each page has to be gone through to know who is current on each CPU. */
	if (reader) {
		reader->processes = !trace->header.shared;
		reader->begans = NULL;
	}
	return reader;
}

bool fkt_lane_before(const struct fkt_reader *reader, uint32_t lane, uint64_t *seq, uint64_t *lost)
{
	*seq = reader->lane[lane].seq;
	*lost = reader->lane[lane].lost;
	return !reader->lane[lane].joined;
}

void fkt_reader_free(struct fkt_reader *reader)
{
	if (!reader)
		return;
	fkt_source_free(reader->source);
	free(reader->lane);
	free(reader->heap);
	free(reader);
}

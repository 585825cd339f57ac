/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * merge.c: the events of all lanes in the order of time, inline for loops that see every event.
 */
#ifndef FKT_READER_H
#define FKT_READER_H

#include "decode.h"

struct fkt_lane;
struct fkt_source;

/**
 * struct fkt_bounds - between which stamps all events of a trace are
 * @low: none is earlier
 * @high: none is later
 */
struct fkt_bounds {
	uint64_t low;
	uint64_t high;
};

/**
 * struct fkt_reader - delivers the events of a trace; callers touch none of it
 * @cursor: in the page from which events are delivered at the moment
 * @floor: no event of its page is earlier
 * @room: it may deliver events with stamps from @floor on, and less than so many cycles later,
 *	  before other lanes have their turn, or its page is seen to be damaged
 * @from: earlier events are passed over
 * @to: where reading ends; UINT64_MAX: with the trace
 * @stats: what was seen
 * @gap: the gap last returned
 * @watermark: all pages with events of earlier stamps have been found
 * @trace: of this trace
 * @source: where its pages come from
 * @lane: all lanes
 * @heap: those lanes that have an event to deliver, the one with the earliest at [0]
 * @in_heap: how many
 * @none: a cursor without slots
 * @delivered: something was delivered since FKT_WAIT
 * @hurried: events were delivered although earlier ones might have come
 * @ended: there are no more pages to find
 * @closing: lane whose end is looked at next, once all is delivered
 * @block: the block of pages with which it began
 * @processes: pages without events about processes are passed over
 * @bounds: all stamps are between these
 * @passed: events before @from: those that were passed over, and those before the index page
 * @begans: entries that are delivered though no slot has them; NULL: none
 * @next_began: the next one of these
 * @broken: stamp of the last gap, or of the last moment when all CPUs had stopped recording: calls
 *	that began before are not known of any more
 * @began: one was delivered
 * @cpu_pid: thread that is current on each CPU
 */
struct fkt_reader {
	struct fkt_cursor *cursor;
	uint64_t floor;
	uint64_t room;
	uint64_t from;
	uint64_t to;
	struct fkt_read_stats stats;
	struct fkt_gap gap;
	uint64_t watermark;
	struct fkt_trace *trace;
	struct fkt_source *source;
	struct fkt_lane *lane;
	struct fkt_lane **heap;
	uint32_t in_heap;
	struct fkt_cursor none;
	bool delivered;
	bool hurried;
	bool ended;
	uint32_t closing;
	uint64_t block;
	bool processes;
	struct fkt_bounds bounds;
	uint64_t passed;
	const struct fkt_begans *begans;
	size_t next_began;
	uint64_t broken;
	bool began;
	uint32_t cpu_pid[UINT16_MAX + 1];
};

/* The way of fkt_next() when a page ends, another lane has its turn, or there is a gap. */
int fkt_next_slow(struct fkt_reader *reader, struct fkt_event *event);

/* Follow the current thread of the event's CPU. */
static inline void fkt_follow(struct fkt_reader *reader, struct fkt_event *event)
{
	uint32_t *pid = &reader->cpu_pid[event->cpu];

	/* An exec by a thread that is not the leader takes over the leader's pid. */
	if (event->code == FKT_CODE_EXEC && event->words >= 1)
		*pid = fkt_arg32(event, 0);
	event->pid = *pid;
	if (event->code == FKT_CODE_SWITCH && event->words >= 1) {
		event->pid = fkt_arg32(event, 0);
		*pid = fkt_arg32(event, 4);
	}
}

/* Move behind the event that the reader's cursor looks at. */
static inline void fkt_deliver(struct fkt_reader *reader, struct fkt_event *event)
{
	fkt_slot_pass(reader->cursor, event);
	fkt_follow(reader, event);
	if (event->stamp > reader->stats.last)
		reader->stats.last = event->stamp;
	reader->stats.events++;
}

/* The same as fkt_next(). */
static inline int fkt_reader_next(struct fkt_reader *reader, struct fkt_event *event)
{
	if (__builtin_expect(fkt_slot_decode(reader->cursor, event) &&
				     event->stamp - reader->floor < reader->room,
			     1)) {
		fkt_deliver(reader, event);
		return FKT_EVENT;
	}
	return fkt_next_slow(reader, event);
}

/**
 * fkt_recording_end() - when a recording ended
 * @trace: the trace
 * @last: stamp of its last event
 *
 * Return: a stamp, a little after @last, or @last where the trace does not say so, or can't be
 * believed.
 */
uint64_t fkt_recording_end(const struct fkt_trace *trace, uint64_t last);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A part of a trace as a trace of its own.
 *
 * A stretch of time is copied page by page, in the file's order; only the pages at its edges are
 * made anew. When events are picked, all pages are: in the order of time each event is appended to
 * the open page of its lane. In both, pages are numbered and losses counted from the beginning of
 * the part, so that what is missing within it, and nothing else, is still seen to be missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "extract.h"
#include "state.h"
#include "write.h"

#define READ_PAGES 64
#define NS_PER_MS  1000000ull
/* More than Linux ever gives. */
#define PIDS	   (1u << 22)
/* To know what is not known at the end, so many pages before it are. */
#define END_PAGES  2048
/* An event has the kernel's stack, the program's, or both. */
#define STACKS_MAX 2

/**
 * struct out_lane - a lane of the new trace
 * @seq: number of its last page, missing ones counted
 * @lost: events lost before its last page
 * @discarded: events discarded after it, as the reader told
 * @overwrote: what was before its next page was overwritten
 * @behind_gap: something is missing before its next event
 * @old_seq: number of the last page in the old trace
 * @old_lost: events lost before that
 * @joined: these are not known yet
 * @events: events written
 * @pages: pages written
 * @cpu: its CPU
 * @open: page being made, NULL when there is none; its header is in host byte order
 * @cursor_stamp: of the last slot in it
 * @cursor_cpu: likewise
 * @stacks: how many the next event has, or had
 * @stack: these
 */
struct out_lane {
	uint64_t seq;
	uint64_t lost;
	uint64_t discarded;
	bool overwrote;
	bool behind_gap;
	uint64_t old_seq;
	uint64_t old_lost;
	bool joined;
	uint64_t events;
	uint64_t pages;
	uint16_t cpu;
	uint64_t *open;
	uint64_t cursor_stamp;
	uint16_t cursor_cpu;
	unsigned int stacks;
	struct fkt_stack_part stack[STACKS_MAX];
};

/**
 * struct kept - a call or wake-up that is kept, though events like it, or its entry, are not
 * @stamp: of it or its entry
 * @code: likewise
 * @how: enum fkt_kept
 */
struct kept {
	uint64_t stamp;
	uint32_t code;
	uint32_t how;
};

/**
 * struct out - the new trace
 * @trace: the old one
 * @extract: what is wanted
 * @writer: where it goes
 * @complete: all events before this stamp have been put in
 * @first: stamp of its first event
 * @last: the latest stamp, up to @stop
 * @start, @stop: when the old recording began and stopped, @stop UINT64_MAX when that is not known
 * @latest: the latest stamp of all events in the part's time, where not all are in it
 * @paused: all CPUs had stopped recording then, and had not begun anew at its end; 0: they recorded
 * @reached_end: its last event is the old trace's last one
 * @lane: all lanes
 * @current: who is current on each CPU, as a reader of the new trace will know it
 * @kept: in the order of their stamps
 * @n_kept: how many
 * @kept_room: for so many
 * @wakers: a bit for each pid: it wakes some of those that are wanted, outside of all calls
 * @first_tid: who is current on each CPU according to its first event, FKT_PID_UNKNOWN where it
 *	has none, or others that are picked will tell
 * @met: there was an event of this CPU
 * @in: pages of the old trace
 * @bounds: all its stamps are between these
 */
struct out {
	struct fkt_trace *trace;
	struct fkt_extract *extract;
	struct fkt_writer writer;
	uint64_t complete;
	uint64_t first;
	uint64_t last;
	uint64_t start;
	uint64_t stop;
	uint64_t latest;
	uint64_t paused;
	bool reached_end;
	struct out_lane *lane;
	uint32_t current[UINT16_MAX + 1];
	struct kept *kept;
	size_t n_kept;
	size_t kept_room;
	uint8_t wakers[PIDS / 8];
	uint32_t first_tid[UINT16_MAX + 1];
	bool met[UINT16_MAX + 1];
	struct fkt_window in;
	struct fkt_bounds bounds;
};

/* ---- sections ---- */

/* Of these the new trace has its own. */
static bool is_replaced(uint32_t type)
{
	return type == FKT_SECTION_PROCESSES || type == FKT_SECTION_STATE ||
	       type == FKT_SECTION_LANES;
}

static void put_head(struct out *out, const char *processes, size_t processes_bytes,
		     const char *state, size_t state_bytes)
{
	struct fkt_writer *writer = &out->writer;

	fkt_write_header(writer, fkt_write_sections_of(NULL, out->trace, false, is_replaced) +
					 fkt_section_bytes(processes_bytes) +
					 fkt_section_bytes(state_bytes) + fkt_section_bytes(0));
	fkt_write_sections_of(writer, out->trace, false, is_replaced);
	fkt_write_section(writer, FKT_SECTION_PROCESSES, processes, processes_bytes);
	fkt_write_section(writer, FKT_SECTION_STATE, state, state_bytes);
	fkt_write_head_end(writer);
}

/* Totals of each lane of the old trace, NULL where there are none; to be freed. */
static const struct fkt_lane_totals **totals_of_lanes(const struct out *out)
{
	uint32_t lanes = out->trace->header.lanes;
	const struct fkt_lane_totals **of = calloc(lanes, sizeof(*of)), *totals;

	for (size_t i = 0; of && (totals = fkt_lane_totals(out->trace, i)); i++)
		if (totals->lane < lanes && !of[totals->lane])
			of[totals->lane] = totals;
	return of;
}

static bool has_cpu(const struct fkt_extract *extract, uint16_t cpu)
{
	return !extract->cpus || extract->cpus[cpu / 8] & 1u << cpu % 8;
}

static bool by_process(const struct fkt_extract *extract)
{
	return extract->processes;
}

/* Whether there are events in its time that it does not have. */
static bool picks(const struct fkt_extract *extract)
{
	return by_process(extract) || extract->cpus;
}

/*
 * Of a trace that was cut off, and has no totals, each lane that has events behind the part has the
 * number of its CPU: up to there all of it is known.
 */
static void find_silent_lanes(struct out *out)
{
	struct fkt_trace *trace = out->trace;
	struct fkt_page_header header;
	bool any = false;

	for (uint32_t i = 0; i < trace->header.lanes; i++)
		any |= out->lane[i].cpu == FKT_CPU_ANY;
	if (!any || !trace->input.seekable || trace->header.shared || fkt_lane_totals(trace, 0))
		return;
	for (uint64_t page = 0; page < trace->pages; page++)
		if (fkt_read_page_header(trace, page, &header) == FKT_PAGE_EVENTS &&
		    header.lane < trace->header.lanes && header.end >= out->extract->to &&
		    out->lane[header.lane].cpu == FKT_CPU_ANY)
			out->lane[header.lane].cpu = header.lane;
}

/* The CPU of a lane: one from which nothing came meanwhile is there all the same. */
static uint32_t cpu_of_lane(const struct out *out, uint32_t number,
			    const struct fkt_lane_totals *totals)
{
	uint32_t cpu = out->lane[number].cpu;

	return cpu == FKT_CPU_ANY && totals && !out->trace->header.shared ? totals->cpu : cpu;
}

/* At the trace's end, losses after a lane's last page are in its totals alone. */
static uint64_t lost_to_end(const struct out_lane *lane, const struct fkt_lane_totals *totals)
{
	return totals && !lane->joined && totals->lost > lane->old_lost
		       ? lane->lost + (totals->lost - lane->old_lost)
		       : lane->lost;
}

/* Whose part it is: what others were at is not in it. */
static void put_part(struct out *out)
{
	const struct fkt_extract *extract = out->extract;
	const struct fkt_extract_process *one = extract->process;
	char text[256] = "part=of process";
	size_t length = strlen(text);

	if (!by_process(extract))
		return;
	for (; one < extract->process + extract->processes && length < sizeof(text); one++)
		length += (size_t)(one->name ? snprintf(text + length, sizeof(text) - length,
							" %.64s", one->name)
					     : snprintf(text + length, sizeof(text) - length,
							" %" PRIu32, one->pid));
	fkt_write_section(&out->writer, FKT_SECTION_INFO, text, strlen(text) + 1);
}

/* A part that ends before: it is not the size limit that has ended it. */
static void put_no_limit(struct out *out)
{
	static const char text[] = "limit_reached=0";

	if (fkt_info(out->trace, "limit_reached") && out->extract->to < out->stop)
		fkt_write_section(&out->writer, FKT_SECTION_INFO, text, sizeof(text));
}

/*
 * It is of all the time that was asked for, also where nothing happens at its ends. A recording of
 * the newest events has some from before its begin, and CPUs do not all stop in the same moment.
 */
static void set_ends(struct out *out)
{
	const struct fkt_extract *extract = out->extract;
	uint64_t start = out->start, first, last;

	if ((extract->from || extract->to <= start) && fkt_span(out->trace, &first, &last) &&
	    first < start)
		start = first;
	out->first = extract->from > start ? extract->from : start;
	out->last = extract->to < out->stop ? extract->to : out->stop;
	if (out->latest > out->last)
		out->last = out->latest;
}

/* The stamp of the last event, which the last page of events of a trace that was cut off has. */
static uint64_t last_event(struct fkt_trace *trace, uint64_t otherwise)
{
	struct fkt_page_header header = { 0 };
	struct fkt_reader *reader;
	struct fkt_event event;
	uint64_t page = trace->pages;
	int what = 0;

	while (page && fkt_read_page_header(trace, page - 1, &header) != FKT_PAGE_EVENTS)
		page--;
	reader = fkt_reader_new_window(trace, header.first, UINT64_MAX);
	while (page && reader && (what = fkt_reader_next(reader, &event)) > 0)
		if (what == FKT_EVENT)
			otherwise = event.stamp;
	fkt_reader_free(reader);
	return otherwise;
}

/*
 * Of a trace that was cut off, there is but one reading of the clock, and who reads the part would
 * not believe its ends. The second one is behind its end, by the frequency that the kernel gave,
 * by which the trace itself is read: times are the same.
 */
static void put_cut_off(struct out *out)
{
	const struct fkt_trace *trace = out->trace;
	const char *info = fkt_info(trace, "tsc_khz");
	struct fkt_clock_pair end;
	uint64_t first, last, khz, ms;

	if (fkt_clocks(trace) != 1 || !info || !fkt_parse_u64(info, &khz) || !khz ||
	    !fkt_span(out->trace, &first, &last) || first < trace->clock[0].cycles)
		return;
	end = trace->clock[0];
	out->start = first;
	out->stop = out->extract->to < last ? last : last_event(out->trace, last);
	set_ends(out);
	ms = (out->last - end.cycles) / khz + 1;
	if (ms > INT64_MAX / NS_PER_MS || khz > (UINT64_MAX - end.cycles) / ms)
		return;
	end.cycles = htole64(end.cycles + ms * khz);
	end.mono_ns = htole64(end.mono_ns + ms * NS_PER_MS);
	end.real_ns = htole64(end.real_ns + ms * NS_PER_MS);
	fkt_write_section(&out->writer, FKT_SECTION_CLOCK, &end, sizeof(end));
}

static int put_tail(struct out *out, const char *after_end)
{
	uint32_t lanes = out->trace->header.lanes;
	struct fkt_lane_totals *totals = calloc(lanes, sizeof(*totals));
	const struct fkt_lane_totals **old = totals_of_lanes(out);
	struct fkt_writer *writer = &out->writer;
	uint64_t tail = writer->bytes, pages = writer->pages;
	uint64_t events = 0, lost = 0, discarded = 0;
	char *info = NULL, paused[40];
	int length;

	if (!totals || !old) {
		free(totals);
		free(old);
		return -ENOMEM;
	}
	find_silent_lanes(out);
	for (uint32_t i = 0; i < lanes; i++) {
		const struct out_lane *lane = &out->lane[i];
		const struct fkt_lane_totals *at_end = out->reached_end ? old[i] : NULL;
		uint64_t lane_lost = lost_to_end(lane, at_end);
		uint64_t lane_discarded = at_end ? at_end->discarded : lane->discarded;

		totals[i].lane = htole32(i);
		totals[i].cpu = htole32(cpu_of_lane(out, i, old[i]));
		totals[i].events = htole64(lane->events);
		totals[i].lost = htole64(lane_lost);
		totals[i].pages = htole64(lane->pages);
		totals[i].discarded = htole64(lane_discarded);
		events += lane->events;
		lost += lane_lost;
		discarded += lane_discarded;
	}
	free(old);

	fkt_write_sections_of(writer, out->trace, true, is_replaced);
	if (out->stop != UINT64_MAX)
		set_ends(out);
	else
		put_cut_off(out);
	/* A later value of a key takes the place of an earlier one. */
	length = asprintf(&info,
			  "events=%" PRIu64 "%clost=%" PRIu64 "%cdiscarded=%" PRIu64
			  "%cpages=%" PRIu64 "%cbytes=%" PRIu64 "%cstart_cycles=%" PRIu64
			  "%cstop_cycles=%" PRIu64 "%c%s%s",
			  events, 0, lost, 0, discarded, 0, pages, 0, pages * FKT_PAGE_BYTES, 0,
			  out->first, 0, out->last, 0, after_end ? "after_end=" : "",
			  after_end ?: "");
	put_part(out);
	put_no_limit(out);
	if (out->paused) {
		snprintf(paused, sizeof(paused), "paused_cycles=%" PRIu64, out->paused);
		fkt_write_section(writer, FKT_SECTION_INFO, paused, strlen(paused) + 1);
	}
	if (length >= 0)
		fkt_write_section(writer, FKT_SECTION_INFO, info, (size_t)length + !!after_end);
	fkt_write_section(writer, FKT_SECTION_LANES, totals, lanes * sizeof(*totals));
	fkt_write_section(writer, FKT_SECTION_END, NULL, 0);
	fkt_write_footer(writer, tail);
	out->extract->events = events;
	out->extract->pages = pages;
	out->extract->bytes = writer->bytes;
	free(info);
	free(totals);
	return length < 0 ? -ENOMEM : 0;
}

/* ---- pages ---- */

/* Events of an open page are not in the file yet. */
static uint64_t complete_before(const void *arg)
{
	const struct out *out = arg;
	uint64_t complete = out->complete;
	struct fkt_page_header open;

	for (uint32_t i = 0; i < out->trace->header.lanes; i++) {
		if (!out->lane[i].open)
			continue;
		memcpy(&open, out->lane[i].open, sizeof(open));
		if (open.events && open.first < complete)
			complete = open.first;
	}
	return complete;
}

/* Put a page of a lane; the header, in host byte order, goes into it. */
static void put_page(struct out *out, void *page, const struct fkt_page_header *header)
{
	struct out_lane *lane = &out->lane[header->lane];
	struct fkt_page_header put = *header;

	put.seq = lane->seq;
	put.lost = lane->lost;
	fkt_write_page(&out->writer, page, &put);
	if (!out->trace->header.shared)
		lane->cpu = header->cpu;
	lane->pages++;
	lane->events += header->events;
	if (header->first < out->first)
		out->first = header->first;
	/* Pages that were open when the recording stopped are closed later. */
	if (header->end > out->last && header->end <= out->stop)
		out->last = header->end;
	else if (header->end > out->stop)
		out->last = out->stop;
}

static void close_page(struct out *out, struct out_lane *lane)
{
	struct fkt_page_header header;
	uint64_t *page = lane->open;

	if (!page)
		return;
	memcpy(&header, page, sizeof(header));
	memset((char *)page + header.used, 0, FKT_PAGE_BYTES - header.used);
	/* It is not open any more for the index that may follow it. */
	lane->open = NULL;
	lane->seq++;
	put_page(out, page, &header);
	free(page);
}

/* Append a slot to its lane's page, if @more words of slots that are not wide fit behind it. */
static int put_slot(struct out *out, const struct fkt_event *event, unsigned int more)
{
	struct out_lane *lane = &out->lane[event->lane];
	struct fkt_page_header header;
	uint64_t *end;
	bool wide;

	if (lane->open) {
		memcpy(&header, lane->open, sizeof(header));
		/*
		 * The old page's header may have said who is current: so must a new one. And a slot
		 * without room for a wide stamp does not need one at a page's beginning.
		 */
		wide = fkt_slot_is_wide(event, lane->cursor_stamp, lane->cursor_cpu);
		if (header.used + 8u * (1u + wide + event->words + more) > FKT_PAGE_BYTES ||
		    out->current[event->cpu] != event->pid ||
		    (wide && event->words == FKT_SLOT_WORDS_MAX))
			close_page(out, lane);
	}
	if (!lane->open) {
		lane->open = malloc(FKT_PAGE_BYTES);
		if (!lane->open)
			return -ENOMEM;
		memset(&header, 0, sizeof(header));
		header.lane = event->lane;
		header.cpu = event->cpu;
		header.first = header.end = event->stamp;
		header.used = out->trace->header.page_header_bytes;
		header.pid = event->pid;
		header.flags = lane->overwrote ? FKT_PAGE_OVERWROTE : 0;
		lane->overwrote = false;
		memcpy(header.id, out->trace->header.id, sizeof(header.id));
		memset(lane->open, 0, header.used);
		lane->cursor_stamp = event->stamp;
		lane->cursor_cpu = event->cpu;
	}
	end = fkt_slot_encode(lane->open + header.used / sizeof(*end), event, lane->cursor_stamp,
			      lane->cursor_cpu);
	header.used = (uint32_t)((size_t)(end - lane->open) * sizeof(*end));
	header.events++;
	if (event->stamp > header.end)
		header.end = event->stamp;
	memcpy(lane->open, &header, sizeof(header));
	lane->cursor_stamp = event->stamp;
	lane->cursor_cpu = event->cpu;
	out->current[event->cpu] = event->pid;
	if (event->code == FKT_CODE_SWITCH && event->words >= 1)
		out->current[event->cpu] = fkt_arg32(event, 4);
	return 0;
}

/*
 * Where a stack stands in the page that is open, if it and what comes behind it, so many words, may
 * be appended to that.
 */
static unsigned int find_stack(const struct out *out, const struct out_lane *lane,
			       const struct fkt_stack_part *stack, const struct fkt_event *event,
			       unsigned int behind)
{
	const uint64_t *first;
	struct fkt_page_header header;

	if (!lane->open || out->current[event->cpu] != event->pid)
		return 0;
	memcpy(&header, lane->open, sizeof(header));
	/* The stack's slot may be wide: else another page is begun. */
	if (header.used + 8u * (2u + behind) > FKT_PAGE_BYTES)
		return 0;
	first = lane->open + out->trace->header.page_header_bytes / sizeof(*first);
	return fkt_stack_find(lane->open, first, lane->open + header.used / sizeof(*first), stack);
}

/*
 * Append an event to its lane's page, and before it the stacks that it has: all into one page, as
 * if those behind the first one were to be written out.
 */
static int put_event(struct out *out, const struct fkt_event *event)
{
	struct out_lane *lane = &out->lane[event->lane];
	unsigned int behind = 1u + event->words, at, done, left;
	struct fkt_event slot = *event;
	int err = 0;

	for (unsigned int i = 1; i < lane->stacks; i++)
		behind += fkt_stack_words(&lane->stack[i]);
	for (unsigned int i = 0; i < lane->stacks && !err; i++) {
		const struct fkt_stack_part *stack = &lane->stack[i];

		if (i)
			behind -= fkt_stack_words(stack);
		at = stack->known ? find_stack(out, lane, stack, event, behind) : 0;
		if (at || !stack->known) {
			fkt_stack_slot_again(stack, at, &slot);
			err = put_slot(out, &slot, behind);
			continue;
		}
		left = fkt_stack_words(stack);
		for (done = 0; !err && done < stack->count;) {
			done = fkt_stack_slot(stack, done, &slot);
			left -= 1u + slot.words;
			err = put_slot(out, &slot, left + behind);
		}
	}
	lane->stacks = 0;
	return err ?: put_slot(out, event, 0);
}

/* ---- a stretch of time ---- */

/**
 * struct remade - a page that is made of a part of another one, in which stacks refer to others
 * @page: the page
 * @to: up to here
 * @first: its first slot
 * @slots: how many it has
 */
struct remade {
	uint64_t page[FKT_PAGE_WORDS];
	uint64_t *to;
	uint64_t *first;
	uint32_t slots;
};

static void copy_slot(struct remade *remade, const uint64_t *from, const uint64_t *end)
{
	memcpy(remade->to, from, (size_t)(end - from) * sizeof(*from));
	remade->to += end - from;
	remade->slots++;
}

/* What is said to stand elsewhere in the page: it may stand elsewhere now, or be gone. */
static void remake_stack(struct remade *remade, const struct fkt_cursor *cursor,
			 const struct fkt_event *event, size_t room)
{
	const uint64_t clear = ~((uint64_t)UINT16_MAX << FKT_SLOT_IMM_SHIFT);
	uint64_t head = le64toh(*cursor->pos) & clear;
	struct fkt_stack_part stack;
	struct fkt_event slot;
	unsigned int at, done = 0;

	fkt_stack_part(cursor, event, &stack);
	at = stack.known ? fkt_stack_find(remade->page, remade->first, remade->to, &stack) : 0;
	if (at || !stack.known || fkt_stack_words(&stack) + 1 > room) {
		fkt_stack_slot_again(&stack, at, &slot);
		copy_slot(remade, cursor->pos, event->args);
		remade->to[cursor->pos - event->args] =
			htole64(head | (uint64_t)slot.imm << FKT_SLOT_IMM_SHIFT);
		return;
	}
	while (done < stack.count) {
		done = fkt_stack_slot(&stack, done, &slot);
		*remade->to++ =
			htole64((head + slot.words) | (uint64_t)slot.imm << FKT_SLOT_IMM_SHIFT);
		/* The first one is wide if that slot was. */
		if (head & FKT_SLOT_WIDE)
			*remade->to++ = cursor->pos[1];
		head &= ~(FKT_SLOT_WIDE | FKT_SLOT_WORDS_MASK);
		memcpy(remade->to, slot.args, slot.words * sizeof(*slot.args));
		remade->to += slot.words;
		remade->slots++;
	}
}

/*
 * Slots of a page that begins behind others: as they are, but for stacks that stand in these. They
 * never need more room than those took, if the page is right.
 */
static void remake_page(struct remade *remade, struct fkt_cursor cursor, const uint64_t *last)
{
	struct fkt_event event = { 0 };

	remade->to = remade->first;
	remade->slots = 0;
	for (; cursor.pos < last && fkt_slot_decode(&cursor, &event);
	     fkt_slot_pass(&cursor, &event)) {
		/* For all that is still to be copied there is room. */
		const size_t left = (size_t)(last - (event.args + event.words));
		const size_t room = (size_t)(remade->page + FKT_PAGE_WORDS - remade->to) - left;

		if (event.code == FKT_CODE_STACK && !event.words && event.imm & FKT_STACK_PLACE)
			remake_stack(remade, &cursor, &event, room);
		else
			copy_slot(remade, cursor.pos, event.args + event.words);
	}
}

/* Take out of a page what is not in the stretch. False when nothing is left. */
static bool cut_page(struct out *out, char *data, struct fkt_page *page)
{
	const struct fkt_extract *extract = out->extract;
	uint32_t begin = out->trace->header.page_header_bytes;
	struct fkt_page_header *header = &page->header;
	struct fkt_cursor cursor = page->cursor, kept = cursor;
	const uint64_t *first = NULL, *last = cursor.pos;
	struct fkt_event event;
	uint64_t end = 0, latest = header->end;
	struct remade remade;

	header->events = 0;
	for (; fkt_slot_decode(&cursor, &event); fkt_slot_pass(&cursor, &event)) {
		/* The page is damaged from here on. */
		if (event.stamp > latest)
			break;
		if (event.stamp >= extract->to && extract->to != UINT64_MAX) {
			out->reached_end = false;
			break;
		}
		if (!first && event.stamp < extract->from) {
			/* What is missing before it is missing before the stretch. */
			header->flags &= ~(uint32_t)FKT_PAGE_OVERWROTE;
			if (event.code == FKT_CODE_SWITCH && event.words >= 1)
				header->pid = fkt_arg32(&event, 4);
			else if (event.code == FKT_CODE_EXEC && event.words >= 1)
				header->pid = fkt_arg32(&event, 0);
			continue;
		}
		if (!first) {
			first = cursor.pos;
			kept = cursor;
			header->first = event.stamp;
		}
		if (event.stamp > end)
			end = event.stamp;
		last = event.args + event.words;
		header->events++;
	}
	if (!first)
		return false;
	header->end = end;
	remade.first = remade.page + begin / sizeof(*remade.page);
	remake_page(&remade, kept, last);
	header->events = remade.slots;
	header->used = (uint32_t)((size_t)(remade.to - remade.page) * sizeof(*remade.page));
	memcpy(data + begin, remade.first, header->used - begin);
	memset(data + header->used, 0, FKT_PAGE_BYTES - header->used);
	return true;
}

/* Called for each page of the old trace, in its order. */
static int copy_page(void *arg, uint32_t number, union fkt_page_ref ref)
{
	struct out *out = arg;
	const struct fkt_extract *extract = out->extract;
	struct out_lane *lane = &out->lane[number];
	struct fkt_page page;
	const struct fkt_page_header *header = &page.header;
	uint64_t seq, lost;
	const struct fkt_before before = {
		.seq = lane->old_seq,
		.lost = lane->old_lost,
		.stamp = lane->cursor_stamp,
		.joined = lane->joined,
		.cpu = fkt_cpu_of_lane(out->trace, number),
	};
	void *data;
	bool known;
	int err;

	err = fkt_window_page(out->trace, &out->in, ref.number, &data);
	if (err == -ENOMEM)
		return err;
	if (err || fkt_page_open(out->trace, data, &page) != FKT_PAGE_EVENTS ||
	    header->lane != number)
		return 0;
	/* As the reader does, a page that was there before is left out. */
	if (header->seq <= lane->old_seq && header->first < lane->cursor_stamp)
		return 0;
	if (fkt_needs_belief(&out->bounds, &before, header) &&
	    fkt_believe(out->trace, &out->bounds, &before, &page.header, NULL) == FKT_NOT_BELIEVED)
		return 0;
	if (header->first >= extract->to && extract->to != UINT64_MAX) {
		out->reached_end = false;
		return 0;
	}
	/* What is missing before the stretch is no concern of it. */
	known = !lane->joined && header->first >= extract->from;
	seq = known && header->seq > lane->old_seq ? header->seq - lane->old_seq : 1;
	lost = known && header->lost > lane->old_lost ? header->lost - lane->old_lost : 0;
	lane->joined = false;
	lane->old_seq = header->seq;
	if (header->lost > lane->old_lost)
		lane->old_lost = header->lost;
	lane->cursor_stamp = header->first;
	if (header->end < extract->from ||
	    ((header->first < extract->from ||
	      (header->end >= extract->to && extract->to != UINT64_MAX)) &&
	     !cut_page(out, data, &page)))
		return 0;
	lane->seq += seq;
	lane->lost += lost;
	put_page(out, data, header);
	return out->writer.err;
}

static int copy_stretch(struct out *out, struct fkt_reader *reader)
{
	struct fkt_read_stats stats = { 0 };
	struct fkt_scan *scan = fkt_scan_new(out->trace, copy_page, out, &stats);
	int ret;

	if (!scan)
		return -ENOMEM;
	out->bounds = fkt_stamp_bounds(out->trace);
	for (uint32_t i = 0; i < out->trace->header.lanes; i++)
		out->lane[i].joined =
			!fkt_lane_before(reader, i, &out->lane[i].old_seq, &out->lane[i].old_lost);
	fkt_scan_seek(scan, reader->block * FKT_BLOCK_PAGES);
	do {
		ret = fkt_scan_step(scan, &out->complete);
	} while (ret > 0 && (out->extract->to == UINT64_MAX || out->complete < out->extract->to));
	/* Not looked at to its end. */
	if (ret > 0)
		out->reached_end = false;
	fkt_scan_free(scan);
	return ret < 0 ? ret : 0;
}

/* ---- picked events ---- */

static bool is_it(const struct fkt_extract_process *one, uint32_t tid, uint32_t tgid,
		  const char *comm)
{
	return one->name ? fkt_is_called(comm, one->name) : tid == one->pid || tgid == one->pid;
}

static bool wants(void *arg, struct fkt_state *state, uint32_t tid)
{
	const struct fkt_extract *extract = arg;
	const char *comm;
	uint32_t tgid;

	if (!fkt_state_thread(state, tid, &tgid, &comm))
		return false;
	for (unsigned int i = 0; i < extract->processes; i++)
		if (is_it(&extract->process[i], tid, tgid, comm))
			return true;
	return false;
}

/* There is an event of the thread. */
static void set_found(struct fkt_extract *extract, struct fkt_state *state, uint32_t tid)
{
	const char *comm;
	uint32_t tgid;

	extract->found = true;
	if (!by_process(extract) || !fkt_state_thread(state, tid, &tgid, &comm))
		return;
	for (unsigned int i = 0; i < extract->processes; i++)
		extract->process[i].found |= is_it(&extract->process[i], tid, tgid, comm);
}

static bool has_found(const struct fkt_extract *extract)
{
	for (unsigned int i = 0; i < extract->processes; i++)
		if (!extract->process[i].found)
			return false;
	return extract->found;
}

static bool by_name(const struct fkt_extract *extract)
{
	for (unsigned int i = 0; i < extract->processes; i++)
		if (extract->process[i].name)
			return true;
	return false;
}

/* Whether all events are picked of what happens on a CPU in a thread. */
static bool is_wanted(const struct out *out, struct fkt_state *state, uint16_t cpu, uint32_t tid)
{
	return has_cpu(out->extract, cpu) &&
	       (!by_process(out->extract) || wants(out->extract, state, tid));
}

static bool is_wakeup(const struct fkt_event *event)
{
	return (event->code == FKT_CODE_WAKEUP || event->code == FKT_CODE_WAKEUP_NEW) &&
	       event->words >= 1;
}

/*
 * Whether an event is picked by what it is: all of those that are wanted, and of others what says
 * who is what, who runs when, and who wakes those that are wanted.
 */
static bool is_picked(struct out *out, struct fkt_state *state, const struct fkt_event *event)
{
	struct fkt_extract *extract = out->extract;

	if (is_wanted(out, state, event->cpu, event->pid)) {
		set_found(extract, state, event->pid);
		return true;
	}
	if (is_wakeup(event)) {
		if (!by_process(extract))
			return true;
		if (!wants(extract, state, fkt_arg32(event, 0)))
			return false;
		if (has_cpu(extract, event->cpu))
			set_found(extract, state, fkt_arg32(event, 0));
		return true;
	}
	/* What was counted is told from one reading of a CPU to the next one, whoever is there. */
	if (event->code == FKT_CODE_COUNTERS)
		return has_cpu(extract, event->cpu);
	return event->code == FKT_CODE_SWITCH || event->code == FKT_CODE_FILTER ||
	       event->code == FKT_CODE_PAUSE || event->code == FKT_CODE_SETMASK ||
	       fkt_is_process_event(event->code);
}

/*
 * Some calls are kept though their entries and exits are not picked by what they are: those in
 * which a thread comes to a CPU that is wanted, as its time there is theirs; and what wakes a
 * thread, so that it is known what that was. The events are gone through once to find them.
 */
static int keep(struct out *out, uint64_t stamp, uint32_t code, enum fkt_kept how)
{
	struct kept *larger;
	size_t room;

	if (out->n_kept == out->kept_room) {
		room = out->kept_room ? 2 * out->kept_room : 1024;
		larger = realloc(out->kept, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		out->kept = larger;
		out->kept_room = room;
	}
	out->kept[out->n_kept++] = (struct kept){ stamp, code, how };
	return 0;
}

static int keep_call(struct out *out, struct fkt_state_call *call, enum fkt_kept how)
{
	if (!call || call->kept >= how)
		return 0;
	call->kept = (uint8_t)how;
	return keep(out, call->stamp, call->code, how);
}

/* What wakes a thread is kept; and where that is no call, what will tell what its waker is at. */
static int keep_waker(struct out *out, struct fkt_state *state, const struct fkt_event *event)
{
	struct fkt_state_call *call = fkt_state_at_work(state, event);

	if (!call && event->pid < PIDS)
		out->wakers[event->pid / 8] |= (uint8_t)(1u << event->pid % 8);
	return keep_call(out, call, FKT_KEPT);
}

static bool is_waker(const struct out *out, uint32_t pid)
{
	return pid < PIDS && out->wakers[pid / 8] & 1u << pid % 8;
}

/* Of whom it is told what he is at outside of all calls when the part begins. */
static bool wants_base(void *arg, struct fkt_state *state, uint32_t tid)
{
	struct out *out = arg;

	return is_waker(out, tid) || wants(out->extract, state, tid);
}

static int keep_calls(struct out *out, struct fkt_state_call *call, uint32_t depth)
{
	int err = 0;

	for (uint32_t i = 0; i < depth && !err; i++)
		err = keep_call(out, &call[i], FKT_KEPT_WITH_CALLEES);
	return err;
}

static int keep_calls_of(struct out *out, struct fkt_state *state, uint32_t tid)
{
	uint32_t depth;
	struct fkt_state_call *call = fkt_state_calls(state, tid, &depth);

	return keep_calls(out, call, depth);
}

/* Those that are open when the part begins. */
static int keep_open(struct out *out, struct fkt_state *state)
{
	const struct fkt_extract *extract = out->extract;
	const struct fkt_open_wait *wait;
	struct fkt_state_call *call;
	uint32_t tid, depth;
	int err = 0;

	for (uint32_t cpu = 0; cpu <= UINT16_MAX && !err; cpu++) {
		tid = fkt_state_current(state, (uint16_t)cpu);
		if (!is_wanted(out, state, (uint16_t)cpu, tid))
			continue;
		call = fkt_state_interrupts(state, (uint16_t)cpu, &depth);
		err = keep_calls(out, call, depth) ?: keep_calls_of(out, state, tid);
	}
	for (uint32_t i = 0; i < fkt_state_threads(state) && !err; i++) {
		wait = fkt_state_wait(state, i, &tid);
		/* What a thread sleeps in is told where it left its CPU. */
		if (extract->cpus && (!wait || !has_cpu(extract, wait->cpu)))
			continue;
		if (!by_process(extract) || wants(out->extract, state, tid))
			err = keep_calls_of(out, state, tid);
	}
	return err;
}

/* By the name that is wanted now, it is in calls, and was woken, when it had another one. */
static int keep_by_name(struct out *out, struct fkt_state *state, uint32_t tid)
{
	const struct fkt_state_wake *wake = fkt_state_wake(state, tid);
	int err = keep_calls_of(out, state, tid);

	if (err || !wake)
		return err;
	err = keep(out, wake->stamp, wake->code, FKT_KEPT);
	if (!err && wake->work_code != FKT_NO_CODE)
		err = keep(out, wake->work_stamp, wake->work_code, FKT_KEPT);
	return err;
}

/*
 * That a thread sleeps in a function says nothing of what it is at outside of that: without it, it
 * would be taken to sleep outside.
 */
static int keep_sleeper(struct out *out, struct fkt_state *state, const struct fkt_event *event)
{
	uint32_t depth;
	struct fkt_state_call *call;

	if (!event->imm || fkt_is_no_switch(event) || !fkt_state_is_untold(state, event->pid))
		return 0;
	call = fkt_state_calls(state, event->pid, &depth);
	return depth ? keep_call(out, call, FKT_KEPT) : 0;
}

static int keep_at_event(struct out *out, struct fkt_state *state, const struct fkt_event *event)
{
	int err = 0;

	if (is_wanted(out, state, event->cpu, event->pid)) {
		if (event->pid != out->current[event->cpu])
			err = keep_calls_of(out, state, event->pid);
	} else if (is_wakeup(event) &&
		   (!by_process(out->extract) || wants(out->extract, state, fkt_arg32(event, 0)))) {
		err = keep_waker(out, state, event);
	}
	if (!err && by_name(out->extract) && event->words >= 1 &&
	    (event->code == FKT_CODE_EXEC || event->code == FKT_CODE_RENAME) &&
	    wants(out->extract, state, fkt_arg32(event, 0)))
		err = keep_by_name(out, state, fkt_arg32(event, 0));
	out->current[event->cpu] = event->pid;
	if (event->code != FKT_CODE_SWITCH || event->words < 1)
		return err;
	out->current[event->cpu] = fkt_arg32(event, 4);
	err = err ?: keep_sleeper(out, state, event);
	if (!err && is_wanted(out, state, event->cpu, fkt_arg32(event, 4)))
		err = keep_calls_of(out, state, fkt_arg32(event, 4));
	return err;
}

static int compare_kept(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->stamp != y->stamp)
		return x->stamp < y->stamp ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

static void sort_kept(struct out *out)
{
	size_t n = 0;

	if (!out->n_kept)
		return;
	qsort(out->kept, out->n_kept, sizeof(*out->kept), compare_kept);
	for (size_t i = 1; i < out->n_kept; i++) {
		if (compare_kept(&out->kept[n], &out->kept[i]))
			out->kept[++n] = out->kept[i];
		else if (out->kept[i].how > out->kept[n].how)
			out->kept[n].how = out->kept[i].how;
	}
	out->n_kept = n + 1;
}

static uint8_t how_kept(const struct out *out, uint64_t stamp, uint32_t code)
{
	const struct kept key = { .stamp = stamp, .code = code };
	const struct kept *kept =
		out->n_kept ? bsearch(&key, out->kept, out->n_kept, sizeof(key), compare_kept)
			    : NULL;

	return kept ? (uint8_t)kept->how : FKT_NOT_KEPT;
}

/* Go through the part; the state is that of its begin, and becomes that of its end. */
static int find_kept(struct out *out, struct fkt_state *state)
{
	struct fkt_reader *reader =
		fkt_reader_new_window(out->trace, out->extract->from, out->extract->to);
	struct fkt_event event;
	bool stopped = false;
	int what = 0, err;

	if (!reader)
		return -ENOMEM;
	memset(out->current, 0xff, sizeof(out->current));
	err = keep_open(out, state);
	while (!err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_GAP) {
			fkt_state_gap(state, fkt_gap(reader)->cpu);
			/* Behind it nothing tells any more who was current before. */
			if (fkt_gap(reader)->cpu == FKT_CPU_ANY)
				stopped = true;
			else
				out->met[fkt_gap(reader)->cpu] = true;
		}
		if (what != FKT_EVENT)
			continue;
		if (is_picked(out, state, &event))
			out->first_tid[event.cpu] = FKT_PID_UNKNOWN;
		else if (!out->met[event.cpu] && !stopped)
			out->first_tid[event.cpu] = event.pid;
		out->met[event.cpu] = true;
		stopped |= fkt_is_stop(&event);
		err = fkt_state_event(state, &event) ?: keep_at_event(out, state, &event);
	}
	fkt_reader_free(reader);
	sort_kept(out);
	return err ?: what < 0 ? what : 0;
}

/* Mark those that are open, and who is current where no event of the part will tell. */
static void mark_kept(struct out *out, struct fkt_state *state)
{
	struct fkt_state_call *call;
	uint32_t tid, depth;

	for (uint32_t cpu = 0; cpu <= UINT16_MAX; cpu++) {
		call = fkt_state_interrupts(state, (uint16_t)cpu, &depth);
		for (uint32_t i = 0; i < depth; i++)
			call[i].kept = how_kept(out, call[i].stamp, call[i].code);
		if (out->first_tid[cpu] != FKT_PID_UNKNOWN)
			fkt_state_set_current(state, (uint16_t)cpu, out->first_tid[cpu]);
	}
	for (uint32_t j = 0; j < fkt_state_threads(state); j++) {
		fkt_state_wait(state, j, &tid);
		call = fkt_state_calls(state, tid, &depth);
		for (uint32_t i = 0; i < depth; i++)
			call[i].kept = how_kept(out, call[i].stamp, call[i].code);
	}
}

/* Whether an event is kept for a call that it enters or ends; the state has it already. */
static bool is_kept(const struct out *out, const struct fkt_state *state,
		    const struct fkt_event *event, bool picked)
{
	struct fkt_state_call *call = fkt_state_entered(state);
	const struct fkt_state_call *caller = fkt_state_caller(state);
	/* What it is at elsewhere, it is at on CPUs that are wanted, and when it wakes others. */
	bool tells = (out->extract->cpus || is_waker(out, event->pid)) &&
		     fkt_state_told_base(state);

	if (call) {
		if (picked || (caller && caller->kept == FKT_KEPT_WITH_CALLEES))
			call->kept = FKT_KEPT_WITH_CALLEES;
		else
			call->kept = how_kept(out, call->stamp, call->code) ?: (uint8_t)tells;
	}
	return picked || tells || (call && call->kept) || fkt_state_ended_kept(state);
}

static void put_gap(struct out *out, const struct fkt_gap *gap)
{
	struct out_lane *lane = &out->lane[gap->lane];

	close_page(out, lane);
	lane->behind_gap = true;
	if (out->trace->header.shared)
		memset(out->current, 0xff, sizeof(out->current));
	if (gap->kind == FKT_GAP_LOST)
		lane->lost += gap->count;
	else if (gap->kind == FKT_GAP_DISCARDED)
		lane->discarded += gap->count;
	else if (gap->kind == FKT_GAP_OVERWRITTEN)
		lane->overwrote = true;
	else
		lane->seq += gap->count;
}

/* Where something is missing is told by the event behind it: that is kept, whatever it is. */
static bool is_kept_for_gap(struct out_lane *lane, struct fkt_state *state)
{
	struct fkt_state_call *call = fkt_state_entered(state);

	if (!lane->behind_gap)
		return false;
	lane->behind_gap = false;
	if (call && !call->kept)
		call->kept = FKT_KEPT;
	return true;
}

/* A stack of the lane's next event. What is not in its place is none. */
static void take_stack(struct out_lane *lane, const struct fkt_cursor *cursor,
		       const struct fkt_event *event)
{
	struct fkt_stack_part part;

	if (!fkt_stack_part(cursor, event, &part))
		return;
	if (!(part.flags & FKT_STACK_BELOW) || lane->stacks == STACKS_MAX)
		lane->stacks = 0;
	lane->stack[lane->stacks++] = part;
}

static int pick_events(struct out *out, struct fkt_reader *reader, struct fkt_state *state)
{
	struct fkt_event event;
	struct out_lane *lane;
	int what, err = 0;
	bool picked, kept;

	for (uint32_t cpu = 0; cpu <= UINT16_MAX; cpu++)
		out->current[cpu] = fkt_state_current(state, (uint16_t)cpu);
	while (!err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_GAP) {
			put_gap(out, fkt_gap(reader));
			fkt_state_gap(state, fkt_gap(reader)->cpu);
		} else if (what == FKT_EVENT && event.code == FKT_CODE_STACK) {
			take_stack(&out->lane[event.lane], reader->cursor, &event);
		} else if (what == FKT_EVENT) {
			out->complete = event.stamp;
			picked = is_picked(out, state, &event) ||
				 (is_wakeup(&event) && how_kept(out, event.stamp, event.code));
			err = fkt_state_event(state, &event);
			lane = &out->lane[event.lane];
			kept = is_kept(out, state, &event, picked);
			kept |= is_kept_for_gap(lane, state);
			if (!err && kept)
				err = put_event(out, &event);
			lane->stacks = 0;
			err = err ?: out->writer.err;
		}
	}
	for (uint32_t i = 0; i < out->trace->header.lanes; i++)
		close_page(out, &out->lane[i]);
	/* The reader told of all losses. */
	out->reached_end = false;
	out->latest = fkt_read_stats(reader)->last;
	return err ?: what < 0 ? what : 0;
}

/* ---- behind the end ---- */

/* Follow the state between two stamps. */
static int go_to(struct out *out, struct fkt_state *state, uint64_t from, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_window(out->trace, from, to);
	struct fkt_event event;
	int what, err = 0;

	if (!reader)
		return -ENOMEM;
	while (!err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_EVENT)
			err = fkt_state_event(state, &event);
		else if (what == FKT_GAP)
			fkt_state_gap(state, fkt_gap(reader)->cpu);
	}
	err = err ?: what < 0 ? what : 0;
	fkt_state_join(state, reader);
	fkt_reader_free(reader);
	return err;
}

/**
 * struct open_end - a thread of which something is not known at the end
 * @tid: the thread
 * @woken: it is off its CPU, and was woken before it left: on its way out if it runs again without
 *	being woken once more
 * @outside: what it was at is said by its next system call
 * @remasked: fkt_state_remasked()
 * @depth: so many calls of those that it was in at the end are still open
 */
struct open_end {
	uint32_t tid;
	uint32_t depth;
	uint32_t remasked;
	bool woken;
	bool outside;
};

struct open_ends {
	struct open_end *end;
	size_t count;
	size_t left;
};

static int compare_ends(const void *a, const void *b)
{
	const struct open_end *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/*
 * What was known at the begin, by all that lies before it, is known in the part up to its end,
 * unless events are missing in between.
 */
static int find_ends(const struct out *out, struct fkt_state *state, struct fkt_state *begin,
		     struct open_ends *ends)
{
	const uint32_t threads = fkt_state_threads(state);
	const struct fkt_open_wait *wait;
	struct open_end end;

	if (fkt_state_has_gaps(state))
		begin = NULL;
	ends->end = calloc(threads + 1, sizeof(*ends->end));
	if (!ends->end)
		return -ENOMEM;
	for (uint32_t i = 0; i < threads; i++) {
		wait = fkt_state_wait(state, i, &end.tid);
		end.woken = wait && wait->early && wait->state && !wait->woken;
		end.outside = fkt_state_is_outside(state, i, out->extract->from) &&
			      !(begin && !fkt_state_is_anew(state, i) &&
				!fkt_state_remasked(state, end.tid) &&
				fkt_state_knows(begin, end.tid));
		fkt_state_calls(state, end.tid, &end.depth);
		end.remasked = fkt_state_remasked(state, end.tid);
		if (end.woken || end.outside)
			ends->end[ends->count++] = end;
		ends->left += end.woken + end.outside;
	}
	qsort(ends->end, ends->count, sizeof(*ends->end), compare_ends);
	return 0;
}

static struct open_end *end_of(const struct open_ends *ends, uint32_t tid)
{
	const struct open_end key = { .tid = tid };

	return bsearch(&key, ends->end, ends->count, sizeof(key), compare_ends);
}

/* It has come out that a thread runs, or was woken. Whether that was not known. */
static bool close_woken(struct open_ends *ends, uint32_t tid)
{
	struct open_end *end = end_of(ends, tid);

	if (!end || !end->woken)
		return false;
	end->woken = false;
	ends->left--;
	return true;
}

static bool is_outside(const struct open_ends *ends, uint32_t tid)
{
	const struct open_end *end = end_of(ends, tid);

	return end && end->outside;
}

static bool close_outside(struct open_ends *ends, uint32_t tid)
{
	struct open_end *end = end_of(ends, tid);

	if (!end || !end->outside)
		return false;
	end->outside = false;
	ends->left--;
	return true;
}

/*
 * Whether an event has ended a call that was open at the end, of a thread of which it is not known
 * what it was at outside of that: else the call's exit would be missing before what tells that.
 */
static bool ended_open(const struct out *out, const struct open_ends *ends, struct fkt_state *state,
		       uint32_t tid)
{
	struct open_end *end = end_of(ends, tid);
	uint32_t depth;

	if (!end || !end->outside)
		return false;
	fkt_state_calls(state, tid, &depth);
	if (depth >= end->depth)
		return false;
	/* One that was entered behind the end may be the last that those were around. */
	if (fkt_state_ended(state) != FKT_NO_CALL && fkt_state_ended(state) >= end->depth)
		return false;
	end->depth = depth;
	/* Of calls that the part does not have, it needs no exits. */
	return !picks(out->extract) || fkt_state_ended_kept(state);
}

/*
 * A thread goes on by another number: by that one it comes out what it was at. Return: the one that
 * it had, 0 if there is none.
 */
static uint32_t rename_end(struct open_ends *ends, struct fkt_state *state)
{
	uint32_t from, to;

	if (!fkt_state_took_over(state, &from, &to) || !is_outside(ends, from))
		return 0;
	/* Of a leader that has ended, nothing comes out any more. */
	if (end_of(ends, to)) {
		close_outside(ends, to);
		close_woken(ends, to);
		end_of(ends, to)->tid = FKT_PID_UNKNOWN;
	}
	end_of(ends, from)->tid = to;
	qsort(ends->end, ends->count, sizeof(*ends->end), compare_ends);
	return from;
}

/*
 * Behind where system calls are turned on or off, nothing tells what a thread was at before. Where
 * other layers are, it may be in fewer calls, whose exits do not come.
 */
static void close_remasked(struct open_ends *ends, struct fkt_state *state, uint32_t tid)
{
	struct open_end *end = end_of(ends, tid);
	uint32_t depth;

	if (!end)
		return;
	fkt_state_calls(state, tid, &depth);
	if (depth < end->depth)
		end->depth = depth;
	if (end->outside && end->remasked != fkt_state_remasked(state, tid))
		close_outside(ends, tid);
}

/* Whether an event tells of a thread what was not known, and who is its thread from then on. */
static int tells_of_end(const struct out *out, struct open_ends *ends, struct fkt_state *state,
			const struct fkt_event *event, bool *tells, uint32_t *renamed)
{
	int err;

	*tells = close_woken(ends, event->pid);
	if (event->code == FKT_CODE_SWITCH && event->words >= 1)
		*tells |= close_woken(ends, fkt_arg32(event, 4));
	else if (is_wakeup(event))
		*tells |= close_woken(ends, fkt_arg32(event, 0));
	err = fkt_state_event(state, event);
	if (event->code == FKT_CODE_SWITCH && event->words >= 1)
		close_remasked(ends, state, fkt_arg32(event, 4));
	for (size_t i = 0; event->code == FKT_CODE_SETMASK && i < ends->count; i++)
		close_remasked(ends, state, ends->end[i].tid);
	*renamed = rename_end(ends, state);
	*tells |= *renamed;
	*tells |= ended_open(out, ends, state, event->pid);
	close_remasked(ends, state, event->pid);
	if (fkt_state_told_base(state))
		*tells |= close_outside(ends, event->pid);
	else if (fkt_state_told_sleep(state))
		*tells |= is_outside(ends, event->pid);
	/* Its pid may be given anew. */
	if (event->code == FKT_CODE_RELEASE && event->words >= 1) {
		close_woken(ends, fkt_arg32(event, 0));
		close_outside(ends, fkt_arg32(event, 0));
	}
	return err;
}

static void print_after_end(FILE *file, const struct fkt_event *event)
{
	fprintf(file, "%" PRIu64 " %u %" PRIu32 " %" PRIu32 " %u", event->stamp, event->cpu,
		event->pid, event->code, event->imm);
	for (unsigned int i = 0; i < event->words; i++)
		fprintf(file, " %" PRIu64, fkt_arg64(event, 8 * i));
	fputc(';', file);
}

/* Who is on a CPU up to an event there: not all switches are told of. */
static void print_current(FILE *file, const struct fkt_event *event, uint32_t tid)
{
	const uint64_t words[1] = { htole64(tid | (uint64_t)tid << 32) };
	const struct fkt_event current = {
		.stamp = event->stamp,
		.cpu = event->cpu,
		.pid = tid,
		.code = FKT_CODE_SWITCH,
		.words = 1,
		.args = words,
	};

	print_after_end(file, &current);
}

/* Whether a thread slept is not told by what comes when recording was off. */
static void close_all_woken(struct open_ends *ends)
{
	for (size_t i = 0; i < ends->count; i++)
		close_woken(ends, ends->end[i].tid);
}

/* What a thread was at is not told by what comes behind missing events. */
static void close_all_outside(struct open_ends *ends)
{
	for (size_t i = 0; i < ends->count; i++)
		close_outside(ends, ends->end[i].tid);
}

static int look_behind_end(struct out *out, struct fkt_state *state, struct open_ends *ends,
			   FILE *file)
{
	struct fkt_reader *reader = fkt_reader_new_window(out->trace, out->extract->to, UINT64_MAX);
	const char *info = fkt_info(out->trace, "after_end");
	struct fkt_event event;
	int what = FKT_END, err = reader ? 0 : -ENOMEM;
	bool tells, gaps = false;
	uint32_t renamed;

	for (unsigned int i = 0; !err && ends->left && i < FKT_LOOK_AHEAD; i++) {
		what = fkt_reader_next(reader, &event);
		if (what <= 0)
			break;
		if (what == FKT_GAP) {
			fkt_state_gap(state, fkt_gap(reader)->cpu);
			if (!gaps)
				close_all_outside(ends);
			gaps = true;
		} else if (what == FKT_EVENT) {
			err = tells_of_end(out, ends, state, &event, &tells, &renamed);
			if (renamed)
				print_current(file, &event, renamed);
			/* What is recorded from then on matters to what tells. */
			if (tells || (event.code == FKT_CODE_SETMASK && !fkt_is_stop(&event)))
				print_after_end(file, &event);
			if (!fkt_is_stop(&event))
				continue;
			close_all_woken(ends);
			if (!gaps)
				close_all_outside(ends);
			gaps = true;
		}
	}
	/* What comes behind the old trace comes behind the new one. */
	if (!err && ends->left && what == FKT_END && info)
		fputs(info, file);
	fkt_reader_free(reader);
	return err ?: what < 0 ? what : 0;
}

/* Whether recording was paused when the part ended: the next event says so, and since when. */
static int find_pause(struct out *out)
{
	const uint64_t to = out->extract->to;
	struct fkt_reader *reader;
	struct fkt_event event;
	int what;

	if (to == UINT64_MAX)
		return 0;
	reader = fkt_reader_new_window(out->trace, to, UINT64_MAX);
	if (!reader)
		return -ENOMEM;
	do {
		what = fkt_reader_next(reader, &event);
	} while (what == FKT_GAP);
	if (what == FKT_EVENT && event.code == FKT_CODE_PAUSE && event.words &&
	    fkt_arg64(&event, 0) < to)
		out->paused = fkt_arg64(&event, 0);
	fkt_reader_free(reader);
	return what < 0 ? what : 0;
}

/*
 * The events behind the end that tell what is not known there. The state is that of the end; or,
 * when it was not followed up to there, of the begin: then one is made, from a little before.
 */
static int find_after_end(struct out *out, struct fkt_state *state, bool at_end, char **text)
{
	const uint64_t to = out->extract->to;
	struct fkt_state *own = NULL, *end = state;
	struct open_ends ends = { 0 };
	FILE *file;
	size_t bytes;
	int err = 0;

	if (to == UINT64_MAX)
		return 0;
	file = open_memstream(text, &bytes);
	if (!file)
		return -ENOMEM;
	if (!at_end) {
		end = own = fkt_state_new(out->trace);
		err = own ? go_to(out, own, fkt_look_back_pages(out->trace, to, END_PAGES), to)
			  : -ENOMEM;
	}
	err = err ?: find_pause(out) ?: find_ends(out, end, own ? state : NULL, &ends);
	if (!err && ends.left)
		err = look_behind_end(out, end, &ends, file);
	if (fclose(file) && !err)
		err = -ENOMEM;
	free(ends.end);
	fkt_state_free(own);
	return err;
}

/* ---- all of it ---- */

/* CPUs that have had no event yet, but may have one. */
static uint32_t silent_cpus(const struct out *out, const struct fkt_state *state)
{
	const char *info = fkt_info(out->trace, "cpus");
	const uint32_t seen = fkt_state_seen(state);
	const struct fkt_lane_totals *totals;
	uint32_t cpus = out->trace->header.lanes;

	if (out->trace->header.shared && (!info || !fkt_parse_u32(info, &cpus)))
		return 0;
	for (size_t i = 0; (totals = fkt_lane_totals(out->trace, i)); i++)
		cpus -= cpus && !out->trace->header.shared && !totals->events;
	return cpus > seen ? cpus - seen : 0;
}

/*
 * Who is current on those their first events say, but not if all CPUs stop recording before, nor
 * behind a gap: of those without an event it is known, too, that they need not have been idle.
 */
static int look_for_current(struct out *out, struct fkt_state *state)
{
	uint32_t silent = silent_cpus(out, state);
	struct fkt_reader *reader;
	struct fkt_event event;
	bool stopped = false, gap = false, events = false;
	int what = 0;

	if (!silent)
		return 0;
	reader = fkt_reader_new_window(out->trace, out->extract->from, UINT64_MAX);
	if (!reader)
		return -ENOMEM;
	for (unsigned int i = 0; silent && i < FKT_LOOK_AHEAD; i++) {
		what = fkt_reader_next(reader, &event);
		if (what <= 0)
			break;
		if (what == FKT_GAP && fkt_gap(reader)->cpu != FKT_CPU_ANY)
			fkt_state_first_missing(state, fkt_gap(reader)->cpu);
		else if (what == FKT_GAP)
			gap |= events || fkt_state_seen(state);
		if (what != FKT_EVENT)
			continue;
		events = true;
		if (event.code != FKT_CODE_PAUSE)
			silent -= fkt_state_first(state, &event, stopped || gap);
		stopped |= fkt_is_stop(&event);
	}
	/* The analysis, too, takes the first numbers for those of CPUs without an event. */
	for (uint32_t cpu = 0; gap && out->trace->header.shared && silent && cpu <= UINT16_MAX;
	     cpu++)
		silent -= fkt_state_first_missing(state, (uint16_t)cpu);
	fkt_reader_free(reader);
	return what < 0 ? what : 0;
}

/* How things stand when the part begins. */
static int find_state(struct out *out, struct fkt_state *state)
{
	uint64_t from = out->extract->from;

	return go_to(out, state, fkt_look_back(out->trace, from), from)
		       ?: look_for_current(out, state);
}

/* Which calls are kept of events that are not picked: by a state of its own. */
static int look_ahead_for_kept(struct out *out)
{
	struct fkt_state *state = fkt_state_new(out->trace);
	int err;

	if (!state)
		return -ENOMEM;
	err = find_state(out, state) ?: find_kept(out, state);
	fkt_state_free(state);
	return err;
}

static int extract_to(struct out *out)
{
	struct fkt_extract *extract = out->extract;
	struct fkt_state *state = fkt_state_new(out->trace);
	struct fkt_reader *reader = fkt_reader_new_window(out->trace, extract->from, extract->to);
	char *processes = NULL, *text = NULL, *after_end = NULL;
	bool picked = picks(extract);
	size_t processes_bytes, text_bytes;
	int err = -ENOMEM;

	if (!state || !reader)
		goto out_free;
	err = picked ? look_ahead_for_kept(out) : 0;
	err = err ?: find_state(out, state);
	if (err)
		goto out_free;
	if (picked)
		mark_kept(out, state);
	processes = fkt_state_processes(state, &processes_bytes);
	text = fkt_state_text(state, picked, by_process(extract) ? wants_base : NULL, out,
			      &text_bytes);
	if (!processes || !text) {
		err = -ENOMEM;
		goto out_free;
	}
	put_head(out, processes, processes_bytes, text, text_bytes);
	/*
	 * A page of a shared lane does not say who is current on each CPU; and entries that were
	 * told of late have slots of their own in a part.
	 */
	if (picked || out->trace->header.shared || reader->begans)
		err = pick_events(out, reader, state)
			      ?: find_after_end(out, state, true, &after_end);
	else
		err = copy_stretch(out, reader) ?: find_after_end(out, state, false, &after_end);
	if (!err)
		err = put_tail(out, after_end);
	if (!err && (!extract->events || (picked && !has_found(extract))))
		err = -ENODATA;

out_free:
	free(processes);
	free(text);
	free(after_end);
	fkt_reader_free(reader);
	fkt_state_free(state);
	return err;
}

int fkt_extract(struct fkt_trace *trace, struct fkt_extract *extract, int fd)
{
	uint32_t lanes = trace->header.lanes;
	struct out *out = calloc(1, sizeof(*out));
	int err = -ENOMEM, write_err;

	if (!out)
		return -ENOMEM;
	out->trace = trace;
	out->extract = extract;
	out->writer.header = trace->header;
	out->writer.complete = complete_before;
	out->writer.arg = out;
	out->first = UINT64_MAX;
	if (!fkt_recorded(trace, &out->start, &out->stop))
		out->stop = UINT64_MAX;
	out->reached_end = true;
	memset(out->first_tid, 0xff, sizeof(out->first_tid));
	out->lane = calloc(lanes, sizeof(*out->lane));
	out->in.room = READ_PAGES;
	if (!fkt_writer_init(&out->writer, fd) && out->lane) {
		for (uint32_t i = 0; i < lanes; i++)
			out->lane[i].cpu = FKT_CPU_ANY;
		err = trace->input.seekable ? extract_to(out) : -ESPIPE;
	}
	for (uint32_t i = 0; out->lane && i < lanes; i++)
		free(out->lane[i].open);
	free(out->lane);
	free(out->kept);
	write_err = fkt_writer_end(&out->writer);
	free(out->in.data);
	free(out);
	return err ?: write_err;
}

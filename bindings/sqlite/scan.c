// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The events of a part of a trace, found by the page index, with what has to be followed to know
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fkt_sqlite.h"
#include "read/internal.h"
#include "read/reader.h"

/* So far may stamps be out of order: where CPUs' clocks are not quite the same. */
#define MARGIN FKT_SKEW_CYCLES

enum verdict {
	VERDICT_WANTED = 1,
	VERDICT_PASSED,
};

/* The part that numbers of events are in. */
static bool seek_id(struct fkt_scan *scan)
{
	uint64_t first = UINT64_MAX, last = 0, stamp;
	bool any = false;

	for (unsigned int i = 0; i < scan->want->id.count; i++) {
		if (scan->want->id.number[i] < 0 ||
		    fkt_event_stamp(scan->shared->trace, (uint64_t)scan->want->id.number[i],
				    &stamp) != 1)
			continue;
		any = true;
		first = stamp < first ? stamp : first;
		last = stamp > last ? stamp : last;
	}
	if (!any)
		return false;
	scan->from = first > scan->from ? first : scan->from;
	scan->to = last < scan->to ? last + 1 : scan->to;
	return true;
}

bool fkt_scan_begin(struct fkt_scan *scan, struct fkt_shared *shared, const struct fkt_want *want,
		    unsigned int follow)
{
	uint64_t begin;

	*scan = (struct fkt_scan){
		.shared = shared, .want = want, .follow = follow, .from = want->from, .to = want->to
	};
	if (want->end_from > scan->from)
		scan->from = want->end_from;
	if (follow & FKT_FOLLOW_ALL)
		scan->to = want->end_to;
	scan->nothing = !want->id.any && !seek_id(scan);
	scan->from = scan->from > MARGIN ? scan->from - MARGIN : 0;
	scan->to = scan->to <= shared->last ? scan->to + MARGIN : UINT64_MAX;
	if (!want->code.any || want->names) {
		scan->code = calloc(FKT_SLOT_CODES, 1);
		if (!scan->code)
			return false;
	}
	begin = scan->from;
	if (follow & FKT_FOLLOW_PROCESSES) {
		scan->processes = fkt_processes_new(shared->trace);
		if (!scan->processes)
			goto out_free;
		begin = begin ? fkt_look_back(shared->trace, begin) : 0;
	}
	if (begin || scan->to != UINT64_MAX)
		scan->reader = fkt_reader_new_window(shared->trace, begin, scan->to);
	else
		scan->reader = fkt_reader_new(shared->trace);
	if (scan->reader)
		return true;
out_free:
	fkt_scan_end(scan);
	return false;
}

void fkt_scan_end(struct fkt_scan *scan)
{
	fkt_reader_free(scan->reader);
	fkt_processes_free(scan->processes);
	free(scan->code);
	free(scan->comm);
	*scan = (struct fkt_scan){ 0 };
}

static bool wants_code(struct fkt_scan *scan, uint32_t code)
{
	const struct fkt_code_info *info;

	if (!scan->code[code]) {
		info = fkt_shared_code(scan->shared, code);
		scan->code[code] = fkt_set_has(&scan->want->code, code) &&
						   (!info || fkt_want_name(scan->want, info->name))
					   ? VERDICT_WANTED
					   : VERDICT_PASSED;
	}
	return scan->code[code] == VERDICT_WANTED;
}

void fkt_scan_follow_process(struct fkt_scan *scan)
{
	uint32_t id;

	fkt_processes_event(scan->processes, &scan->event);
	if (scan->event.words < 1 || scan->event.code == FKT_CODE_RELEASE)
		return;
	id = fkt_process_id(scan->processes, fkt_arg32(&scan->event, 0), scan->event.cpu);
	if (id < scan->comms)
		scan->comm[id] = NULL;
}

static void follow_stack(struct fkt_scan *scan)
{
	if (!scan->has_stack || scan->stack_lane != scan->event.lane)
		scan->room.known = false;
	scan->has_stack = true;
	scan->stack_lane = scan->event.lane;
	if (scan->follow & FKT_FOLLOW_STACKS)
		fkt_stack_event(scan->reader, &scan->event, &scan->room);
}

static bool is_wanted(struct fkt_scan *scan)
{
	const struct fkt_want *want = scan->want;

	return (!scan->code || wants_code(scan, scan->event.code)) &&
	       (want->cpu.any || fkt_set_has(&want->cpu, scan->event.cpu)) &&
	       (want->tid.any || fkt_set_has(&want->tid, scan->event.pid)) &&
	       scan->event.stamp >= scan->from;
}

int fkt_scan_next(struct fkt_scan *scan)
{
	int what;

	if (scan->nothing)
		return 0;
	while ((what = fkt_reader_next(scan->reader, &scan->event)) > 0) {
		if (what == FKT_GAP && scan->follow & FKT_FOLLOW_GAPS) {
			scan->gap = fkt_gap(scan->reader);
			return 1;
		}
		if (++scan->looked_at % FKT_INTERRUPT_EVENTS == 0 &&
		    fkt_shared_interrupted(scan->shared))
			return -EINTR;
		if (what != FKT_EVENT)
			continue;
		scan->gap = NULL;
		if (scan->event.code == FKT_CODE_STACK) {
			follow_stack(scan);
			continue;
		}
		scan->stack = scan->has_stack && scan->stack_lane == scan->event.lane ? &scan->room
										      : NULL;
		scan->has_stack = false;
		if (scan->follow & FKT_FOLLOW_ALL)
			return 1;
		if (scan->processes && fkt_is_process_event(scan->event.code))
			fkt_scan_follow_process(scan);
		if (is_wanted(scan))
			return 1;
	}
	return what;
}

int64_t fkt_scan_id(const struct fkt_scan *scan)
{
	return (int64_t)(scan->reader->passed + scan->reader->stats.events) - 1;
}

uint32_t fkt_scan_thread(struct fkt_scan *scan)
{
	return fkt_process_id(scan->processes, scan->event.pid, scan->event.cpu);
}

void fkt_result_pid(sqlite3_context *context, uint32_t pid)
{
	if (pid == FKT_PID_UNKNOWN)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, pid);
}

void fkt_result_comm(struct fkt_scan *scan, sqlite3_context *context, uint32_t id)
{
	uint32_t room = scan->comms ? scan->comms : 256;
	const char **larger, *comm, *text;

	if (!id) {
		sqlite3_result_null(context);
		return;
	}
	if (id < scan->comms && scan->comm[id]) {
		sqlite3_result_text(context, scan->comm[id], -1, SQLITE_STATIC);
		return;
	}
	text = fkt_process(scan->processes, id)->comm;
	comm = fkt_shared_comm(scan->shared, text);
	if (!comm) {
		sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
		return;
	}
	while (room <= id)
		room *= 2;
	if (room > scan->comms) {
		larger = realloc(scan->comm, room * sizeof(*larger));
		if (larger) {
			memset(larger + scan->comms, 0, (room - scan->comms) * sizeof(*larger));
			scan->comm = larger;
			scan->comms = room;
		}
	}
	if (id < scan->comms)
		scan->comm[id] = comm;
	sqlite3_result_text(context, comm, -1, SQLITE_STATIC);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables of what the analysis tells: calls, when they end, and times in which threads did not run,
 * when they are over. It is told of each event; what comes of an event are rows, which are given
 * before the next one is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fkt_sqlite.h"
#include "read/internal.h"
#include "read/reader.h"
#include "show/args.h"

#define CPUS   (UINT16_MAX + 1u)

/* So far may stamps be out of order, as in scan.c. */
#define MARGIN FKT_SKEW_CYCLES

/* A call that is open; of one of whose entry we were not told, all is 0. */
struct frame {
	uint64_t begin;
	struct fkt_event *entry; /* with its words behind it */
	uint32_t row;
	bool counted; /* in struct told's @open */
};

/* Those of a thread, or of a CPU's interrupts, the innermost one at the end. */
struct frames {
	struct frame *frame;
	uint32_t depth;
	uint32_t room;
};

struct row {
	union {
		struct fkt_call call;
		struct fkt_wait wait;
	};
	struct fkt_event *entry;
	uint64_t caller_begin;
	bool has_caller;
	uint64_t counted[2 * FKT_COUNTERS_MAX]; /* the call's, where it has any */
};

/**
 * struct told - a cursor of these tables
 * @scan: the events
 * @want: which rows
 * @analysis: what tells of them
 * @keep_frames: what is known when calls begin is kept
 * @keep_entries: the events, too
 * @thread: open calls, by the thread's number
 * @threads: room there
 * @cpu: those of interrupts, by CPU
 * @verdict: on each row's name
 * @open: how many calls are open that began in the time that is wanted, and may be wanted
 * @moved: calls were moved to other threads: @open is not right
 * @row: rows of the last event
 * @rows: how many
 * @room: room there
 * @at: the next one
 * @ended: there are no more events
 * @err: an error in a hook
 * @exit: valid while rows are given
 * @args: arguments as JSON
 * @number: numbers the rows
 */
struct told {
	struct fkt_scan scan;
	const struct fkt_want *want;
	struct fkt_analysis *analysis;
	bool keep_frames;
	bool keep_entries;
	struct frames *thread;
	uint32_t threads;
	struct frames *cpu;
	uint8_t *verdict;
	uint64_t open;
	bool moved;
	struct row *row;
	size_t rows;
	size_t room;
	size_t at;
	bool ended;
	int err;
	struct fkt_args *args;
	int64_t number;
};

/* ---- open calls ---- */

static void cut(struct frames *frames, uint32_t depth)
{
	while (frames->depth > depth)
		free(frames->frame[--frames->depth].entry);
}

static struct frames *frames_of_thread(struct told *told, uint32_t id)
{
	uint32_t room = told->threads ? told->threads : 256;
	struct frames *larger;

	if (id >= told->threads) {
		while (room <= id)
			room *= 2;
		larger = realloc(told->thread, room * sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + told->threads, 0, (room - told->threads) * sizeof(*larger));
		told->thread = larger;
		told->threads = room;
	}
	return &told->thread[id];
}

static struct frames *frames_of(struct told *told, const struct fkt_call *call)
{
	return call->interrupt ? &told->cpu[call->cpu] : frames_of_thread(told, call->id);
}

static struct fkt_event *copy_event(const struct fkt_event *event)
{
	struct fkt_event *copy = malloc(sizeof(*copy) + event->words * sizeof(uint64_t));

	if (!copy)
		return NULL;
	*copy = *event;
	copy->args = (const uint64_t *)(copy + 1);
	memcpy(copy + 1, event->args, event->words * sizeof(uint64_t));
	return copy;
}

static bool wants_row(struct told *told, uint32_t row)
{
	const char *name;

	if (told->want->names == NULL && told->want->code.any)
		return true;
	if (!told->verdict[row]) {
		name = fkt_shared_row(told->scan.shared, row);
		told->verdict[row] = 1 + (name && fkt_want_name(told->want, name) &&
					  fkt_set_has(&told->want->code,
						      fkt_row_code(told->scan.shared->trace, row)));
	}
	return told->verdict[row] == 2;
}

static bool wants_thread(const struct told *told, uint32_t id)
{
	const struct fkt_process *process;

	if (told->want->tid.any)
		return true;
	process = fkt_process(told->scan.processes, id);
	return fkt_set_has(&told->want->tid, process->tid);
}

/* Whether its end is waited for, as it began when it should have. */
static bool is_awaited(struct told *told, const struct fkt_call *call)
{
	return call->begin <= told->want->to && wants_row(told, call->row) &&
	       wants_thread(told, call->id);
}

static void on_enter(void *arg, const struct fkt_call *call)
{
	struct told *told = arg;
	struct frames *frames = frames_of(told, call);
	struct frame *larger, *frame;
	uint32_t room;

	if (!frames)
		goto out_memory;
	cut(frames, call->depth);
	if (call->depth >= frames->room) {
		room = (call->depth + 1) * 2;
		larger = realloc(frames->frame, room * sizeof(*larger));
		if (!larger)
			goto out_memory;
		frames->frame = larger;
		frames->room = room;
	}
	memset(frames->frame + frames->depth, 0,
	       (call->depth + 1 - frames->depth) * sizeof(*frame));
	frames->depth = call->depth + 1;
	frame = &frames->frame[call->depth];
	frame->begin = call->begin;
	frame->row = call->row;
	frame->counted = is_awaited(told, call);
	told->open += frame->counted;
	if (told->keep_entries && call->entry && wants_row(told, call->row)) {
		frame->entry = copy_event(call->entry);
		if (!frame->entry)
			goto out_memory;
	}
	return;
out_memory:
	told->err = -ENOMEM;
}

static void on_moved(void *arg, uint32_t from, uint32_t to)
{
	struct told *told = arg;
	struct frames *a, *b, frames;

	told->moved = true;
	if (!frames_of_thread(told, from > to ? from : to)) {
		told->err = -ENOMEM;
		return;
	}
	a = &told->thread[from];
	b = &told->thread[to];
	frames = *a;
	*a = *b;
	*b = frames;
}

/* ---- rows ---- */

static struct row *add_row(struct told *told)
{
	size_t room = told->room ? 2 * told->room : 16;
	struct row *larger;

	if (told->rows == told->room) {
		larger = realloc(told->row, room * sizeof(*larger));
		if (!larger) {
			told->err = -ENOMEM;
			return NULL;
		}
		told->row = larger;
		told->room = room;
	}
	memset(&told->row[told->rows], 0, sizeof(*told->row));
	return &told->row[told->rows++];
}

static void drop_rows(struct told *told)
{
	for (size_t i = 0; i < told->rows; i++)
		free(told->row[i].entry);
	told->rows = told->at = 0;
}

static bool wants_call(struct told *told, const struct fkt_call *call)
{
	const struct fkt_want *want = told->want;

	return call->counts && wants_row(told, call->row) && wants_thread(told, call->id) &&
	       fkt_set_has(&want->cpu, call->cpu) && call->end >= want->end_from &&
	       call->end <= want->end_to &&
	       (call->entered ? call->begin >= want->from && call->begin <= want->to : !want->from);
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct told *told = arg;
	struct frames *frames = told->keep_frames ? frames_of(told, call) : NULL;
	struct frame *frame = NULL;
	struct row *row;

	if (frames && call->entered && call->depth < frames->depth)
		frame = &frames->frame[call->depth];
	row = wants_call(told, call) ? add_row(told) : NULL;
	if (row) {
		row->call = *call;
		row->call.entry = NULL;
		if (call->counted)
			memcpy(row->counted, call->counted, sizeof(row->counted));
		if (frame) {
			row->entry = frame->entry;
			frame->entry = NULL;
		}
		if (frames && call->depth && call->depth <= frames->depth &&
		    frames->frame[call->depth - 1].begin) {
			row->has_caller = true;
			row->caller_begin = frames->frame[call->depth - 1].begin;
		}
	}
	if (frame) {
		told->open -= frame->counted;
		cut(frames, call->depth);
	}
}

static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct told *told = arg;
	const struct fkt_want *want = told->want;
	struct row *row;

	if (!wants_thread(told, wait->id) || !fkt_set_has(&want->cpu, wait->cpu) ||
	    wait->left < want->from || (wait->back && wait->back < want->end_from))
		return;
	row = add_row(told);
	if (row)
		row->wait = *wait;
}

/* ---- reading ---- */

static void told_free(void *cursor)
{
	struct told *told = cursor;

	if (!told)
		return;
	drop_rows(told);
	free(told->row);
	for (uint32_t i = 0; i < told->threads; i++) {
		cut(&told->thread[i], 0);
		free(told->thread[i].frame);
	}
	for (uint32_t i = 0; told->cpu && i < CPUS; i++) {
		cut(&told->cpu[i], 0);
		free(told->cpu[i].frame);
	}
	free(told->thread);
	free(told->cpu);
	free(told->verdict);
	fkt_args_free(told->args);
	fkt_analysis_free(told->analysis);
	fkt_scan_end(&told->scan);
	free(told);
}

static struct told *told_new(struct fkt_shared *shared, const struct fkt_want *want,
			     const struct fkt_analysis_hooks *hooks, bool frames, bool args)
{
	struct fkt_analysis_hooks own = *hooks;
	struct told *told = calloc(1, sizeof(*told));

	if (!told)
		return NULL;
	told->want = want;
	told->number = -1;
	own.arg = told;
	told->keep_frames = frames;
	told->keep_entries = args;
	if (frames) {
		own.enter = on_enter;
		own.moved = on_moved;
	}
	if (!fkt_scan_begin(&told->scan, shared, want,
			    FKT_FOLLOW_PROCESSES | FKT_FOLLOW_GAPS | FKT_FOLLOW_ALL)) {
		free(told);
		return NULL;
	}
	told->verdict = calloc(FKT_ROWS, 1);
	told->cpu = calloc(CPUS, sizeof(*told->cpu));
	told->analysis = fkt_analysis_new(shared->trace, told->scan.processes, &own);
	if (args)
		told->args =
			fkt_args_new(shared->trace, told->scan.processes, fkt_format_find("json"));
	if (told->verdict && told->cpu && told->analysis && (told->args || !args))
		return told;
	told_free(told);
	return NULL;
}

/* Whether no more rows can come: none that is wanted can begin any more, and all have ended. */
static bool is_over(const struct told *told)
{
	return told->keep_frames && !told->moved && !told->open && !told->scan.gap &&
	       told->scan.event.stamp > told->want->to &&
	       told->scan.event.stamp - told->want->to > MARGIN;
}

static int take(struct told *told)
{
	struct fkt_scan *scan = &told->scan;
	int what = fkt_scan_next(scan), err;

	if (what < 0)
		return what;
	if (!what) {
		told->ended = true;
		/* Where the trace goes on, so do calls. */
		if (scan->to != UINT64_MAX)
			return 0;
		return fkt_analysis_end(told->analysis, fkt_read_stats(scan->reader)->last);
	}
	if (scan->gap) {
		fkt_analysis_gap(told->analysis, scan->gap);
		return 0;
	}
	err = fkt_analysis_event(told->analysis, &scan->event);
	if (err)
		return err;
	if (fkt_is_process_event(scan->event.code))
		fkt_scan_follow_process(scan);
	told->ended = is_over(told);
	return 0;
}

static int told_next(void *cursor)
{
	struct told *told = cursor;
	int err;

	told->number++;
	if (told->at + 1 < told->rows) {
		told->at++;
		return 1;
	}
	drop_rows(told);
	while (!told->rows && !told->ended) {
		err = take(told) ?: told->err;
		if (err)
			return err;
	}
	return told->rows != 0;
}

static int64_t told_id(const void *cursor)
{
	return ((const struct told *)cursor)->number;
}

/* ---- what is in both ---- */

static void result_thread(struct told *told, sqlite3_context *context, uint32_t id)
{
	fkt_result_pid(context, fkt_process(told->scan.processes, id)->tid);
}

static void result_process(struct told *told, sqlite3_context *context, uint32_t id)
{
	fkt_result_pid(context, fkt_process(told->scan.processes, id)->tgid);
}

static void result_time(struct told *told, sqlite3_context *context, uint64_t stamp)
{
	sqlite3_result_int64(context, fkt_shared_time(told->scan.shared, stamp));
}

static void result_span(struct told *told, sqlite3_context *context, uint64_t from, uint64_t to)
{
	sqlite3_result_int64(context,
			     fkt_shared_span(told->scan.shared, to > from ? to - from : 0));
}

static void result_row(struct told *told, sqlite3_context *context, uint32_t row)
{
	if (row >= FKT_ROWS)
		sqlite3_result_null(context);
	else
		fkt_result_static(context, fkt_shared_row(told->scan.shared, row));
}

/* ---- calls ---- */

enum {
	CALLS_BEGIN,
	CALLS_END,
	CALLS_ELAPSED,
	CALLS_ON_CPU,
	CALLS_OWN,
	CALLS_CPU,
	CALLS_TID,
	CALLS_PID,
	CALLS_PROCESS,
	CALLS_CODE,
	CALLS_NAME,
	CALLS_LAYER,
	CALLS_DEPTH,
	CALLS_PARENT,
	CALLS_PARENT_BEGIN,
	CALLS_INTERRUPT,
	CALLS_WHOLE,
	CALLS_RESULT,
	CALLS_ERRNO,
	CALLS_ARGS,
	CALLS_COUNTED, /* and those behind it, see FKT_COUNTED_BOTH */
};

static const struct fkt_column_info calls_columns[] = {
	{ "begin", "INTEGER", FKT_PUSH_TIME, false },
	{ "end", "INTEGER", FKT_PUSH_END, false },
	{ "elapsed", "INTEGER", FKT_PUSH_NONE, false },
	{ "on_cpu", "INTEGER", FKT_PUSH_NONE, false },
	{ "own", "INTEGER", FKT_PUSH_NONE, false },
	{ "cpu", "INTEGER", FKT_PUSH_CPU, false },
	{ "tid", "INTEGER", FKT_PUSH_TID, false },
	{ "pid", "INTEGER", FKT_PUSH_NONE, false },
	{ "process", "TEXT", FKT_PUSH_NONE, false },
	{ "code", "INTEGER", FKT_PUSH_CODE, false },
	{ "name", "TEXT", FKT_PUSH_NAME, false },
	{ "layer", "TEXT", FKT_PUSH_NONE, false },
	{ "depth", "INTEGER", FKT_PUSH_NONE, false },
	{ "parent", "TEXT", FKT_PUSH_NONE, false },
	{ "parent_begin", "INTEGER", FKT_PUSH_NONE, false },
	{ "interrupt", "INTEGER", FKT_PUSH_NONE, false },
	{ "whole", "INTEGER", FKT_PUSH_NONE, false },
	{ "result", "INTEGER", FKT_PUSH_NONE, false },
	{ "errno", "TEXT", FKT_PUSH_NONE, false },
	{ "args", "TEXT", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *calls_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	static const struct fkt_analysis_hooks hooks = { .leave = on_leave };
	bool args = fkt_want_uses(want, CALLS_ARGS) || fkt_want_uses(want, CALLS_RESULT) ||
		    fkt_want_uses(want, CALLS_ERRNO);
	/* Reading goes on until the last of those has ended that began in time. */
	bool frames = args || fkt_want_uses(want, CALLS_PARENT_BEGIN) || want->to != UINT64_MAX;

	return told_new(shared, want, &hooks, frames, args);
}

static void result_of(struct told *told, sqlite3_context *context, const struct fkt_call *call,
		      bool wants_error)
{
	struct fkt_value value;
	const char *error;

	if (!call->exit || !fkt_args_result(told->args, &told->scan.event, &value, &error))
		sqlite3_result_null(context);
	else if (wants_error)
		fkt_result_static(context, error);
	else
		sqlite3_result_int64(context, (int64_t)value.number);
}

static void result_counted(const struct told *told, sqlite3_context *context, const struct row *row,
			   unsigned int column)
{
	const unsigned int counters = fkt_counters(told->scan.shared->trace);
	unsigned int number = column - CALLS_COUNTED;

	if (number >= counters)
		number += FKT_COUNTERS_MAX - counters;
	if (row->call.counted)
		sqlite3_result_int64(context, (int64_t)row->counted[number]);
}

static void calls_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	struct told *told = cursor;
	const struct row *row = &told->row[told->at];
	const struct fkt_call *call = &row->call;
	uint32_t code;

	switch (column) {
	case CALLS_BEGIN:
		if (call->entered)
			result_time(told, context, call->begin);
		break;
	case CALLS_END:
		result_time(told, context, call->end);
		break;
	case CALLS_ELAPSED:
		if (call->entered)
			result_span(told, context, call->begin, call->end);
		break;
	case CALLS_ON_CPU:
		result_span(told, context, 0, call->cycles);
		break;
	case CALLS_OWN:
		result_span(told, context, 0, call->own);
		break;
	case CALLS_CPU:
		sqlite3_result_int(context, call->cpu);
		break;
	case CALLS_TID:
		result_thread(told, context, call->id);
		break;
	case CALLS_PID:
		result_process(told, context, call->id);
		break;
	case CALLS_PROCESS:
		fkt_result_comm(&told->scan, context, call->id);
		break;
	case CALLS_CODE:
		code = fkt_row_code(told->scan.shared->trace, call->row);
		if (code < FKT_SLOT_CODES)
			sqlite3_result_int(context, (int)code);
		break;
	case CALLS_NAME:
		result_row(told, context, call->row);
		break;
	case CALLS_LAYER:
		fkt_result_static(context, fkt_row_layer(told->scan.shared->trace, call->row));
		break;
	case CALLS_DEPTH:
		sqlite3_result_int64(context, call->depth);
		break;
	case CALLS_PARENT:
		result_row(told, context, call->caller);
		break;
	case CALLS_PARENT_BEGIN:
		if (row->has_caller)
			result_time(told, context, row->caller_begin);
		break;
	case CALLS_INTERRUPT:
		sqlite3_result_int(context, call->interrupt);
		break;
	case CALLS_WHOLE:
		sqlite3_result_int(context, !call->partial);
		break;
	case CALLS_RESULT:
	case CALLS_ERRNO:
		result_of(told, context, call, column == CALLS_ERRNO);
		break;
	case CALLS_ARGS:
		if (row->entry)
			fkt_result_copy(context, fkt_args_entry(told->args, row->entry, call->row));
		break;
	default:
		result_counted(told, context, row, column);
	}
}

const struct fkt_table fkt_table_calls = {
	.name = "calls",
	.columns = calls_columns,
	.counted = FKT_COUNTED_BOTH,
	.rows_per_event = 0.45,
	.open = calls_open,
	.next = told_next,
	.column = calls_column,
	.id = told_id,
	.free = told_free,
};

/* ---- waits ---- */

enum {
	WAITS_BEGIN,
	WAITS_WOKEN,
	WAITS_END,
	WAITS_ELAPSED,
	WAITS_ASLEEP,
	WAITS_READY,
	WAITS_STATE,
	WAITS_CPU,
	WAITS_TID,
	WAITS_PID,
	WAITS_PROCESS,
	WAITS_IN,
	WAITS_FUNCTION,
	WAITS_NEXT_TID,
	WAITS_NEXT_PROCESS,
	WAITS_WAKER_TID,
	WAITS_WAKER,
	WAITS_WAKER_IN,
};

static const struct fkt_column_info waits_columns[] = {
	{ "begin", "INTEGER", FKT_PUSH_TIME, false },
	{ "woken", "INTEGER", FKT_PUSH_NONE, false },
	{ "end", "INTEGER", FKT_PUSH_END, false },
	{ "elapsed", "INTEGER", FKT_PUSH_NONE, false },
	{ "asleep", "INTEGER", FKT_PUSH_NONE, false },
	{ "ready", "INTEGER", FKT_PUSH_NONE, false },
	{ "state", "TEXT", FKT_PUSH_NONE, false },
	{ "cpu", "INTEGER", FKT_PUSH_CPU, false },
	{ "tid", "INTEGER", FKT_PUSH_TID, false },
	{ "pid", "INTEGER", FKT_PUSH_NONE, false },
	{ "process", "TEXT", FKT_PUSH_NONE, false },
	{ "in_call", "TEXT", FKT_PUSH_NONE, false },
	{ "in_function", "TEXT", FKT_PUSH_NONE, false },
	{ "next_tid", "INTEGER", FKT_PUSH_NONE, false },
	{ "next_process", "TEXT", FKT_PUSH_NONE, false },
	{ "waker_tid", "INTEGER", FKT_PUSH_NONE, false },
	{ "waker", "TEXT", FKT_PUSH_NONE, false },
	{ "waker_in", "TEXT", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *waits_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	static const struct fkt_analysis_hooks hooks = { .wait = on_wait };

	return told_new(shared, want, &hooks, false, false);
}

/* Who was interrupted by an interrupt that wakes is chance. */
static bool is_by_interrupt(const struct told *told, const struct fkt_wait *wait)
{
	return wait->woken && fkt_row_interrupts(told->scan.shared->trace, wait->waker_row);
}

static void waits_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	struct told *told = cursor;
	const struct fkt_wait *wait = &told->row[told->at].wait;
	char state[FKT_STATE_BYTES];

	switch (column) {
	case WAITS_BEGIN:
		result_time(told, context, wait->left);
		break;
	case WAITS_WOKEN:
		if (wait->woken)
			result_time(told, context, wait->woken);
		break;
	case WAITS_END:
		if (wait->back)
			result_time(told, context, wait->back);
		break;
	case WAITS_ELAPSED:
		result_span(told, context, wait->left, wait->to);
		break;
	case WAITS_ASLEEP:
		if (wait->state)
			result_span(told, context, wait->left,
				    wait->woken && wait->woken < wait->to ? wait->woken : wait->to);
		break;
	case WAITS_READY:
		/* New threads are woken when they begin to wait. */
		if (!wait->state)
			result_span(told, context, wait->left, wait->to);
		else if (wait->woken)
			result_span(told, context, wait->woken, wait->to);
		break;
	case WAITS_STATE:
		fkt_state_letters(wait->state, state);
		fkt_result_copy(context, state);
		break;
	case WAITS_CPU:
		sqlite3_result_int(context, wait->cpu);
		break;
	case WAITS_TID:
		result_thread(told, context, wait->id);
		break;
	case WAITS_PID:
		result_process(told, context, wait->id);
		break;
	case WAITS_PROCESS:
		fkt_result_comm(&told->scan, context, wait->id);
		break;
	case WAITS_IN:
		result_row(told, context, wait->outer);
		break;
	case WAITS_FUNCTION:
		if (wait->inner != wait->outer)
			result_row(told, context, wait->inner);
		break;
	case WAITS_NEXT_TID:
		if (wait->next)
			result_thread(told, context, wait->next);
		break;
	case WAITS_NEXT_PROCESS:
		fkt_result_comm(&told->scan, context, wait->next);
		break;
	case WAITS_WAKER_TID:
		if (wait->woken && !is_by_interrupt(told, wait))
			result_thread(told, context, wait->waker);
		break;
	case WAITS_WAKER:
		if (is_by_interrupt(told, wait))
			fkt_result_static(context, "(interrupt)");
		else if (wait->woken)
			fkt_result_comm(&told->scan, context, wait->waker);
		break;
	case WAITS_WAKER_IN:
		if (wait->woken)
			result_row(told, context, wait->waker_row);
		break;
	}
}

const struct fkt_table fkt_table_waits = {
	.name = "waits",
	.columns = waits_columns,
	.rows_per_event = 0.05,
	.open = waits_open,
	.next = told_next,
	.column = waits_column,
	.id = told_id,
	.free = told_free,
};

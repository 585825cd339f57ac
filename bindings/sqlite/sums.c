// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Small tables: what all events come to, by several threads in one go as fkt_print's summary is
 * made, and kept as long as the trace is open; and what the trace says of itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fkt_sqlite.h"
#include "read/reader.h"
#include "trace/internal.h"

/**
 * struct fkt_sums - what all events come to
 * @processes: the threads
 * @analysis: the sums
 * @thread: each thread
 * @threads: how many
 * @on: each thread on each CPU
 * @ons: how many
 */
struct fkt_sums {
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct fkt_thread_sums *thread;
	size_t threads;
	struct fkt_on_cpu *on;
	size_t ons;
};

/* A value: a text that lives as long as the trace, or a number. */
struct cell {
	enum {
		CELL_NULL,
		CELL_NUMBER,
		CELL_TEXT,
	} type;
	int64_t number;
	const char *text;
};

/**
 * struct small - a cursor of these tables
 * @shared: the trace
 * @table: the table
 * @columns: how many it has
 * @cell: all rows, one after the other
 * @cells: how many cells
 * @room: room for so many
 * @row: the row
 */
struct small {
	struct fkt_shared *shared;
	unsigned int columns;
	struct cell *cell;
	size_t cells;
	size_t room;
	int64_t row;
};

/* ---- the sums ---- */

void fkt_sums_free(struct fkt_sums *sums)
{
	if (!sums)
		return;
	free(sums->thread);
	free(sums->on);
	fkt_analysis_free(sums->analysis);
	fkt_processes_free(sums->processes);
	free(sums);
}

static bool begin_sums(struct fkt_sums *sums, struct fkt_trace *trace)
{
	sums->processes = fkt_processes_new(trace);
	sums->analysis = sums->processes ? fkt_analysis_new(trace, sums->processes, NULL) : NULL;
	return sums->analysis;
}

/* Event by event, where something is odd. */
static int sum_in_order(struct fkt_sums *sums, struct fkt_trace *trace, uint64_t *last)
{
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_event event;
	int what = -ENOMEM, err = 0;

	while (reader && !err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			err = fkt_analysis_event(sums->analysis, &event);
			if (fkt_is_process_event(event.code))
				fkt_processes_event(sums->processes, &event);
		} else if (what == FKT_GAP) {
			fkt_analysis_gap(sums->analysis, fkt_gap(reader));
		}
	}
	if (reader)
		*last = fkt_read_stats(reader)->last;
	fkt_reader_free(reader);
	return err ?: what;
}

static int sum(struct fkt_sums *sums, struct fkt_trace *trace)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct fkt_read_stats stats = { 0 };
	uint64_t last = 0;
	int err = -EAGAIN;

	if (!begin_sums(sums, trace))
		return -ENOMEM;
	if (fkt_can_sum(trace)) {
		err = fkt_sum(trace, sums->processes, sums->analysis,
			      cpus > 0 ? (unsigned int)cpus : 1, &stats);
		last = stats.last;
	}
	if (err == -EAGAIN) {
		fkt_analysis_free(sums->analysis);
		fkt_processes_free(sums->processes);
		if (!begin_sums(sums, trace))
			return -ENOMEM;
		err = sum_in_order(sums, trace, &last);
	}
	err = err ?: fkt_analysis_end(sums->analysis, last);
	if (err)
		return err;
	sums->thread = fkt_analysis_threads(sums->analysis, &sums->threads);
	sums->on = fkt_analysis_on_cpus(sums->analysis, &sums->ons);
	return sums->thread && sums->on ? 0 : -ENOMEM;
}

static const struct fkt_sums *get_sums(struct fkt_shared *shared)
{
	struct fkt_sums *sums = shared->sums;

	if (sums)
		return sums;
	sums = calloc(1, sizeof(*sums));
	if (sums && sum(sums, shared->trace)) {
		fkt_sums_free(sums);
		sums = NULL;
	}
	shared->sums = sums;
	return sums;
}

/* ---- rows ---- */

static void small_free(void *cursor)
{
	struct small *small = cursor;

	if (!small)
		return;
	free(small->cell);
	free(small);
}

static struct small *small_new(struct fkt_shared *shared, const struct fkt_column_info *columns)
{
	struct small *small = calloc(1, sizeof(*small));

	if (!small)
		return NULL;
	small->shared = shared;
	small->row = -1;
	while (columns[small->columns].name)
		small->columns++;
	return small;
}

/* A row whose cells are to be filled in; NULL without memory. */
static struct cell *add_row(struct small *small)
{
	size_t room = small->room ? 2 * small->room : 16 * small->columns;
	struct cell *larger;

	if (small->cells + small->columns > small->room) {
		larger = realloc(small->cell, room * sizeof(*larger));
		if (!larger)
			return NULL;
		small->cell = larger;
		small->room = room;
	}
	memset(small->cell + small->cells, 0, small->columns * sizeof(*small->cell));
	small->cells += small->columns;
	return small->cell + small->cells - small->columns;
}

static void put_number(struct cell **cell, int64_t number)
{
	*(*cell)++ = (struct cell){ .type = CELL_NUMBER, .number = number };
}

static void put_span(struct small *small, struct cell **cell, uint64_t cycles)
{
	put_number(cell, fkt_shared_span(small->shared, cycles));
}

static void put_text(struct cell **cell, const char *text)
{
	*(*cell)++ = (struct cell){ .type = text ? CELL_TEXT : CELL_NULL, .text = text };
}

static void put_pid(struct cell **cell, uint32_t pid)
{
	*(*cell)++ = (struct cell){ .type = pid == FKT_PID_UNKNOWN ? CELL_NULL : CELL_NUMBER,
				    .number = pid };
}

static int small_next(void *cursor)
{
	struct small *small = cursor;

	return (size_t)++small->row * small->columns < small->cells;
}

static int64_t small_id(const void *cursor)
{
	return ((const struct small *)cursor)->row;
}

static void small_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	const struct small *small = cursor;
	const struct cell *cell = &small->cell[(size_t)small->row * small->columns + column];

	if (cell->type == CELL_NUMBER)
		sqlite3_result_int64(context, cell->number);
	else
		fkt_result_static(context, cell->text);
}

#define SMALL_TABLE(TABLE, COUNTED)                                                                \
	const struct fkt_table fkt_table_##TABLE = {                                               \
		.name = #TABLE,                                                                    \
		.columns = TABLE##_columns,                                                        \
		.counted = FKT_COUNTED_##COUNTED,                                                  \
		.open = TABLE##_open,                                                              \
		.next = small_next,                                                                \
		.column = small_column,                                                            \
		.id = small_id,                                                                    \
		.free = small_free,                                                                \
	}

/* ---- threads ---- */

static const struct fkt_column_info threads_columns[] = {
	{ "id", "INTEGER", FKT_PUSH_NONE, false },
	{ "tid", "INTEGER", FKT_PUSH_NONE, false },
	{ "pid", "INTEGER", FKT_PUSH_NONE, false },
	{ "process", "TEXT", FKT_PUSH_NONE, false },
	{ "leader", "INTEGER", FKT_PUSH_NONE, false },
	{ "kernel", "INTEGER", FKT_PUSH_NONE, false },
	{ "on_cpu", "INTEGER", FKT_PUSH_NONE, false },
	{ "user", "INTEGER", FKT_PUSH_NONE, false },
	{ "in_kernel", "INTEGER", FKT_PUSH_NONE, false },
	{ "interrupts", "INTEGER", FKT_PUSH_NONE, false },
	{ "ready", "INTEGER", FKT_PUSH_NONE, false },
	{ "sleep_s", "INTEGER", FKT_PUSH_NONE, false },
	{ "sleep_d", "INTEGER", FKT_PUSH_NONE, false },
	{ "sleep_i", "INTEGER", FKT_PUSH_NONE, false },
	{ "sleep_other", "INTEGER", FKT_PUSH_NONE, false },
	{ "switches", "INTEGER", FKT_PUSH_NONE, false },
	{ 0 },
};

static bool put_thread(struct small *small, const struct fkt_sums *sums,
		       const struct fkt_thread_sums *thread)
{
	const struct fkt_process *process = fkt_process(sums->processes, thread->id);
	struct cell *cell = add_row(small);

	if (!cell)
		return false;
	put_number(&cell, thread->id);
	put_pid(&cell, process->tid);
	put_pid(&cell, process->tgid);
	put_text(&cell, thread->id ? process->comm : NULL);
	put_number(&cell, fkt_process_leader(sums->processes, thread->id));
	put_number(&cell, process->kernel);
	put_span(small, &cell, thread->cycles);
	put_span(small, &cell, thread->user);
	put_span(small, &cell, thread->kernel + thread->before);
	put_span(small, &cell, thread->interrupts);
	put_span(small, &cell, thread->waiting);
	put_span(small, &cell, thread->sleeping[FKT_SLEEP_INTERRUPTIBLE]);
	put_span(small, &cell, thread->sleeping[FKT_SLEEP_UNINTERRUPTIBLE]);
	put_span(small, &cell, thread->sleeping[FKT_SLEEP_IDLE]);
	put_span(small, &cell,
		 thread->sleeping[FKT_SLEEP_STOPPED] + thread->sleeping[FKT_SLEEP_OTHER]);
	put_number(&cell, (int64_t)thread->switches);
	return true;
}

static void *threads_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	const struct fkt_sums *sums = get_sums(shared);
	struct small *small = sums ? small_new(shared, threads_columns) : NULL;

	(void)want;
	for (size_t i = 0; small && i < sums->threads; i++)
		if (!put_thread(small, sums, &sums->thread[i])) {
			small_free(small);
			return NULL;
		}
	return small;
}

SMALL_TABLE(threads, NONE);

/* ---- on_cpu: each thread on each CPU ---- */

static const struct fkt_column_info on_cpu_columns[] = {
	{ "cpu", "INTEGER", FKT_PUSH_NONE, false },
	{ "id", "INTEGER", FKT_PUSH_NONE, false },
	{ "tid", "INTEGER", FKT_PUSH_NONE, false },
	{ "pid", "INTEGER", FKT_PUSH_NONE, false },
	{ "process", "TEXT", FKT_PUSH_NONE, false },
	{ "time", "INTEGER", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *on_cpu_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	const struct fkt_sums *sums = get_sums(shared);
	struct small *small = sums ? small_new(shared, on_cpu_columns) : NULL;
	const struct fkt_process *process;
	struct cell *cell;

	(void)want;
	for (size_t i = 0; small && i < sums->ons; i++) {
		process = fkt_process(sums->processes, sums->on[i].id);
		cell = add_row(small);
		if (!cell) {
			small_free(small);
			return NULL;
		}
		put_number(&cell, sums->on[i].cpu);
		put_number(&cell, sums->on[i].id);
		put_pid(&cell, process->tid);
		put_pid(&cell, process->tgid);
		put_text(&cell, sums->on[i].id ? process->comm : NULL);
		put_span(small, &cell, sums->on[i].cycles);
	}
	return small;
}

SMALL_TABLE(on_cpu, NONE);

/* ---- cpus ---- */

static const struct fkt_column_info cpus_columns[] = {
	{ "cpu", "INTEGER", FKT_PUSH_NONE, false },	{ "time", "INTEGER", FKT_PUSH_NONE, false },
	{ "busy", "INTEGER", FKT_PUSH_NONE, false },	{ "idle", "INTEGER", FKT_PUSH_NONE, false },
	{ "unknown", "INTEGER", FKT_PUSH_NONE, false }, { 0 },
};

static bool put_cpu(struct small *small, const struct fkt_sums *sums, uint16_t cpu)
{
	uint64_t busy = 0, idle = 0, unknown = 0, *sum;
	struct cell *cell;

	for (size_t i = 0; i < sums->ons; i++) {
		if (sums->on[i].cpu != cpu)
			continue;
		sum = !sums->on[i].id					       ? &unknown
		      : fkt_process(sums->processes, sums->on[i].id)->tid == 0 ? &idle
									       : &busy;
		*sum += sums->on[i].cycles;
	}
	cell = add_row(small);
	if (!cell)
		return false;
	put_number(&cell, cpu);
	put_span(small, &cell, busy + idle + unknown);
	put_span(small, &cell, busy);
	put_span(small, &cell, idle);
	put_span(small, &cell, unknown);
	return true;
}

static void *cpus_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	const struct fkt_sums *sums = get_sums(shared);
	struct small *small = sums ? small_new(shared, cpus_columns) : NULL;

	(void)want;
	for (uint32_t cpu = 0; small && cpu < fkt_analysis_cpu_end(sums->analysis); cpu++)
		if (fkt_analysis_has_cpu(sums->analysis, (uint16_t)cpu) &&
		    !put_cpu(small, sums, (uint16_t)cpu)) {
			small_free(small);
			return NULL;
		}
	return small;
}

SMALL_TABLE(cpus, NONE);

/* ---- functions ---- */

static const struct fkt_column_info functions_columns[] = {
	{ "code", "INTEGER", FKT_PUSH_NONE, false },
	{ "name", "TEXT", FKT_PUSH_NONE, false },
	{ "layer", "TEXT", FKT_PUSH_NONE, false },
	{ "calls", "INTEGER", FKT_PUSH_NONE, false },
	{ "partial", "INTEGER", FKT_PUSH_NONE, false },
	{ "own", "INTEGER", FKT_PUSH_NONE, false },
	{ "total", "INTEGER", FKT_PUSH_NONE, false },
	{ 0 },
};

static bool has_counted(const struct fkt_sums *sums, uint32_t row, unsigned int counters)
{
	for (unsigned int i = 0; i < counters; i++)
		if (fkt_analysis_counted(sums->analysis, row, i))
			return true;
	return false;
}

static void *functions_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	const struct fkt_sums *sums = get_sums(shared);
	struct small *small = sums ? small_new(shared, functions_columns) : NULL;
	const unsigned int counters = fkt_counters(shared->trace);
	const struct fkt_row_sums *row;
	struct cell *cell;
	const char *name;
	uint32_t code;

	(void)want;
	if (small)
		small->columns += counters;
	for (uint32_t i = 0; small && i < FKT_ROWS; i++) {
		row = fkt_analysis_row(sums->analysis, i);
		if (!row->own && !row->calls && !row->partial && !has_counted(sums, i, counters))
			continue;
		cell = add_row(small);
		name = fkt_shared_row(shared, i);
		if (!cell || !name) {
			small_free(small);
			return NULL;
		}
		code = fkt_row_code(shared->trace, i);
		if (code < FKT_SLOT_CODES)
			put_number(&cell, code);
		else
			put_text(&cell, NULL);
		put_text(&cell, name);
		put_text(&cell, fkt_row_layer(shared->trace, i));
		put_number(&cell, (int64_t)row->calls);
		put_number(&cell, (int64_t)row->partial);
		put_span(small, &cell, row->own);
		put_span(small, &cell, row->total);
		for (unsigned int k = 0; k < counters; k++)
			put_number(&cell, (int64_t)fkt_analysis_counted(sums->analysis, i, k));
	}
	return small;
}

SMALL_TABLE(functions, OWN);

/* ---- counts ---- */

static const struct fkt_column_info counts_columns[] = {
	{ "code", "INTEGER", FKT_PUSH_NONE, false },  { "name", "TEXT", FKT_PUSH_NONE, false },
	{ "layer", "TEXT", FKT_PUSH_NONE, false },    { "kind", "TEXT", FKT_PUSH_NONE, false },
	{ "count", "INTEGER", FKT_PUSH_NONE, false }, { 0 },
};

static void *counts_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	const struct fkt_sums *sums = get_sums(shared);
	struct small *small = sums ? small_new(shared, counts_columns) : NULL;
	const struct fkt_code_info *info;
	struct cell *cell;
	uint64_t count;

	(void)want;
	for (uint32_t code = 0; small && code < FKT_SLOT_CODES; code++) {
		count = fkt_analysis_code_count(sums->analysis, code);
		if (!count || code == FKT_CODE_STACK)
			continue;
		cell = add_row(small);
		info = fkt_shared_code(shared, code);
		if (!cell || !info) {
			small_free(small);
			return NULL;
		}
		put_number(&cell, code);
		put_text(&cell, info->name);
		put_text(&cell, info->layer);
		put_text(&cell, info->kind);
		put_number(&cell, (int64_t)count);
	}
	return small;
}

SMALL_TABLE(counts, NONE);

/* ---- info ---- */

static const struct fkt_column_info info_columns[] = {
	{ "key", "TEXT", FKT_PUSH_NONE, false },
	{ "value", "", FKT_PUSH_NONE, false },
	{ 0 },
};

/* What is worked out rather than told. */
static bool put_fact(struct small *small, const char *key, bool known, int64_t number)
{
	struct cell *cell = add_row(small);

	if (!cell)
		return false;
	put_text(&cell, key);
	if (known)
		put_number(&cell, number);
	else
		put_text(&cell, NULL);
	return true;
}

/* A key's text has "=" and the value behind it: SQL gets it up to there, see info_column(). */
static bool put_told(struct small *small, const struct fkt_info_piece *piece)
{
	struct cell *cell;

	for (const char *told = piece->text; told < piece->text + piece->bytes;
	     told += strlen(told) + 1) {
		if (!strchr(told, '='))
			continue;
		cell = add_row(small);
		if (!cell)
			return false;
		put_text(&cell, told);
		put_text(&cell, strchr(told, '=') + 1);
	}
	return true;
}

static void *info_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	struct small *small = small_new(shared, info_columns);
	struct fkt_trace *trace = shared->trace;
	bool ok = small, wall = fkt_has_wall_clock(trace);

	(void)want;
	ok = ok && put_fact(small, "first_stamp", shared->has_events, (int64_t)shared->first) &&
	     put_fact(small, "duration", shared->has_events,
		      fkt_shared_span(shared, shared->last - shared->first)) &&
	     put_fact(small, "wall_ns", wall && shared->has_events,
		      wall ? fkt_wall_ns(trace, shared->first) : 0) &&
	     put_fact(small, "has_clock", true, fkt_has_clock(trace)) &&
	     put_fact(small, "complete", true, fkt_is_complete(trace)) &&
	     put_fact(small, "lanes", true, fkt_header(trace)->lanes);
	for (const struct fkt_info_piece *piece = trace->info; ok && piece; piece = piece->before)
		ok = put_told(small, piece);
	if (ok)
		return small;
	small_free(small);
	return NULL;
}

static void info_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	const struct small *small = cursor;
	const struct cell *cell = &small->cell[(size_t)small->row * small->columns];

	if (column)
		small_column(cursor, context, column);
	else
		sqlite3_result_text(context, cell->text, (int)strcspn(cell->text, "="),
				    SQLITE_STATIC);
}

const struct fkt_table fkt_table_info = {
	.name = "info",
	.columns = info_columns,
	.open = info_open,
	.next = small_next,
	.column = info_column,
	.id = small_id,
	.free = small_free,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* The summary: what was recorded, where the time went, and how often each event came. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/missing.h"
#include "print.h"
#include "read/reader.h"
#include "sum/reduce.h"
#include "trace/internal.h"
#include "trace/put.h"

/**
 * struct summary - what the filter lets through, where it does not let everything through
 * @filter: the filter
 * @counters: how many the trace has
 * @calls: only calls are summed up, see FILTER_CALLS: then @row and @thread are used
 * @events: events
 * @code: of them, how many had each code
 * @row: what each row comes to
 * @counted: what each counter has counted of it, FKT_COUNTERS_MAX a row
 * @codes: which parts of @code are in use
 * @rows: which parts of @row and @counted are
 * @thread: the own time of calls, by the thread's number
 * @threads: room there
 */
struct summary {
	struct filter *filter;
	unsigned int counters;
	bool calls;
	uint64_t events;
	uint64_t *code;
	struct fkt_row_sums *row;
	uint64_t *counted;
	bool codes[FKT_SLOT_CODES / FKT_PART + 1];
	bool rows[FKT_ROWS / FKT_PART + 1];
	uint64_t *thread;
	uint32_t threads;
};

static void summary_free(void *view)
{
	struct summary *summary = view;

	free(summary->code);
	free(summary->row);
	free(summary->counted);
	free(summary->thread);
	free(summary);
}

static void *summary_new(const struct context *context)
{
	struct summary *summary = calloc(1, sizeof(*summary));

	if (!summary)
		return NULL;
	summary->filter = context->filter;
	summary->counters = fkt_counters(context->trace);
	summary->calls = filter_picks_calls(context->filter);
	if (filter_is_open(context->filter))
		return summary;
	summary->code = calloc(FKT_SLOT_CODES, sizeof(*summary->code));
	summary->row = calloc(FKT_ROWS, sizeof(*summary->row));
	summary->counted = calloc(FKT_ROWS * FKT_COUNTERS_MAX, sizeof(*summary->counted));
	if (!summary->code || !summary->row || !summary->counted) {
		summary_free(summary);
		return NULL;
	}
	return summary;
}

static int summary_event(void *view, const struct fkt_event *event, bool passes)
{
	struct summary *summary = view;

	if (passes) {
		summary->events++;
		summary->code[event->code]++;
		summary->codes[event->code / FKT_PART] = true;
	}
	return 0;
}

static int add_to_thread(struct summary *summary, uint32_t id, uint64_t own)
{
	uint32_t room = summary->threads ? summary->threads : 256;
	uint64_t *larger;

	if (id >= summary->threads) {
		while (room <= id)
			room *= 2;
		larger = realloc(summary->thread, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		memset(larger + summary->threads, 0, (room - summary->threads) * sizeof(*larger));
		summary->thread = larger;
		summary->threads = room;
	}
	summary->thread[id] += own;
	return 0;
}

/* Without what it called. */
static void add_counted(struct summary *summary, const struct fkt_call *call)
{
	for (unsigned int i = 0; i < summary->counters; i++)
		summary->counted[call->row * FKT_COUNTERS_MAX + i] +=
			call->counted[FKT_COUNTERS_MAX + i];
}

/* The time is charged already by where, when and of whom it is: what is left is whose calls'. */
static int summary_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct summary *summary = view;
	struct fkt_row_sums *row = &summary->row[call->row];

	if (!summary->calls || !passes)
		return 0;
	summary->rows[call->row / FKT_PART] = true;
	row->own += call->own;
	row->calls += !call->partial;
	row->partial += call->partial;
	if (call->counted)
		add_counted(summary, call);
	return add_to_thread(summary, call->id, call->own - call->former_own)
		       ?: call->former_own ? add_to_thread(summary, call->former, call->former_own)
					   : 0;
}

/* The width of what stands before the lines of the summary's head. */
#define TITLE_WIDTH 10

/* The columns whose bits are in @without are for programs alone. */
#define COLUMNS_MAX 16

static void drop_columns(const struct fkt_output *out, const struct fkt_column *columns,
			 unsigned int without, struct fkt_column kept[COLUMNS_MAX])
{
	unsigned int n = 0;

	for (unsigned int i = 0; columns[i].key; i++)
		if (!fkt_format_for_people(out->format) || !(without & 1u << i))
			kept[n++] = columns[i];
	kept[n] = (struct fkt_column){ 0 };
}

static void put_row(struct fkt_output *out, const char *table, const struct fkt_column *columns,
		    unsigned int without, const union fkt_cell *cells, bool strong)
{
	struct fkt_column kept[COLUMNS_MAX];
	union fkt_cell cell[COLUMNS_MAX];
	unsigned int n = 0;

	drop_columns(out, columns, without, kept);
	for (unsigned int i = 0; columns[i].key; i++)
		if (!fkt_format_for_people(out->format) || !(without & 1u << i))
			cell[n++] = cells[i];
	fkt_table_row(out, table, kept, cell, strong);
}

struct code_count {
	uint32_t code;
	uint64_t count;
};

static void print_info(FILE *out, const struct fkt_trace *trace, const char *title,
		       const char *const *keys)
{
	const char *value;
	bool first = true;

	for (; *keys; keys++) {
		value = fkt_info(trace, *keys);
		if (!value || !*value)
			continue;
		if (first)
			fprintf(out, "%-10s", title);
		fprintf(out, " %s", value);
		first = false;
	}
	if (!first)
		fputc('\n', out);
}

static void print_start(FILE *out, const struct fkt_trace *trace, uint64_t stamp)
{
	char text[64];
	struct tm tm;
	time_t time;

	if (!fkt_has_wall_clock(trace))
		return;
	time = (time_t)(fkt_wall_ns(trace, stamp) / FKT_NS_PER_SECOND);
	if (localtime_r(&time, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm))
		fprintf(out, "%-10s %s\n", "Began", text);
}

static const struct fkt_column trace_columns[] = {
	{ "Command", "command", FKT_COLUMN_TEXT, 0 },
	{ "Duration", "duration", FKT_COLUMN_DURATION, 0 },
	{ "CPUs", "cpus", FKT_COLUMN_NUMBER, 0 },
	{ "Events", "events", FKT_COLUMN_NUMBER, 0 },
	{ "Selected", "selected_events", FKT_COLUMN_NUMBER, 0 },
	{ "Selected", "selected", FKT_COLUMN_DURATION, 0 },
	{ "Of", "on_cpu", FKT_COLUMN_DURATION, 0 },
	{ "Lost", "lost", FKT_COLUMN_NUMBER, 0 },
	{ "Missing", "missing_pages", FKT_COLUMN_NUMBER, 0 },
	{ "Damaged", "damaged_pages", FKT_COLUMN_NUMBER, 0 },
	{ "Longer than", "longer_than", FKT_COLUMN_DURATION, 0 },
	{ 0 },
};

/**
 * struct total - the time on all CPUs, in cycles
 * @all: in the time that was asked for
 * @selected: what the filter let through of it
 * @events: likewise
 * @cpus: likewise
 */
struct total {
	uint64_t all;
	uint64_t selected;
	uint64_t events;
	uint32_t cpus;
};

static void print_totals_for_programs(struct fkt_output *out, const struct fkt_read_stats *stats,
				      const struct fkt_analysis *analysis,
				      const struct total *total)
{
	const char *longer = fkt_info(out->trace, "longer_than_cycles");
	uint64_t cycles = fkt_analysis_duration(analysis);

	fkt_table_begin(out, trace_columns);
	fkt_table_row(out, "trace", trace_columns,
		      (const union fkt_cell[]){
			      { .text = fkt_info_lines(out->trace, "command") ?: "" },
			      { .number = cycles },
			      { .number = total->cpus },
			      { .number = stats->events },
			      { .number = total->events },
			      { .number = total->selected },
			      { .number = total->all },
			      { .number = stats->lost },
			      { .number = stats->missing },
			      { .number = stats->damaged },
			      { .number = longer ? strtoull(longer, NULL, 10) : FKT_CELL_NONE } },
		      false);
}

/* Whether not all events that were written are there. */
static bool has_fewer(const struct fkt_trace *trace, uint64_t read, uint64_t written, bool open)
{
	return open && fkt_is_complete(trace) && fkt_lane_totals(trace, 0) && written != read;
}

/* When the whole recording began, as far as that can be believed. */
static uint64_t recording_begin(const struct fkt_trace *trace, uint64_t first)
{
	const char *info = fkt_info(trace, "start_cycles");
	uint64_t start;

	return info && fkt_parse_u64(info, &start) && start < first && fkt_clocks_agree(trace) &&
			       start >= trace->clock[0].cycles
		       ? start
		       : first;
}

/* What a part is of the whole trace. */
static void print_range(FILE *out, struct fkt_trace *trace, const struct fkt_read_stats *stats,
			const struct fkt_analysis *analysis, const struct total *total,
			uint64_t written)
{
	const uint64_t stacks = fkt_analysis_code_count(analysis, FKT_CODE_STACK);
	char text[FKT_DURATION_BYTES], whole[FKT_DURATION_BYTES];
	uint64_t first, last, all;

	/* What comes of a stream is not known yet. */
	if (!fkt_span(trace, &first, &last))
		return;
	all = (fkt_recording_end(trace, last) - recording_begin(trace, first)) *
	      fkt_analysis_cpus(analysis);
	if (!all || total->all > all)
		return;
	fprintf(out, "%-10s ", "Range");
	if (fkt_is_complete(trace) && written >= stats->events + stacks)
		fprintf(out, "%" PRIu64 " of %" PRIu64 " events%s, ", stats->events + stacks,
			written, stacks ? " and stacks" : "");
	fprintf(out, "%s of %s on CPUs (%.2f %%)\n", fkt_duration(trace, total->all, text),
		fkt_duration(trace, all, whole), (double)fkt_parts(total->all, all) / 10000);
}

static void print_totals(FILE *out, struct fkt_trace *trace, const struct fkt_read_stats *stats,
			 const struct fkt_analysis *analysis, const struct total *total, bool part,
			 bool open, bool selects, bool complete, int64_t triggered, bool near,
			 uint64_t to)
{
	const char *overwritten = fkt_info(trace, "overwritten");
	const char *told_lost = fkt_info(trace, "application_lost");
	const char *recovered = fkt_info(trace, "recovered");
	const char *pages_recovered = fkt_info(trace, "recovered_pages");
	uint64_t pages = stats->pages + stats->index_pages;
	/* Stacks were counted when they were written. */
	uint64_t read = stats->events + fkt_analysis_code_count(analysis, FKT_CODE_STACK);
	uint64_t written = 0, discarded = 0;
	const struct fkt_lane_totals *totals;
	char text[FKT_DURATION_BYTES], whole[FKT_DURATION_BYTES], without[FKT_ERROR_BYTES];

	for (size_t i = 0; (totals = fkt_lane_totals(trace, i)); i++) {
		written += totals->events;
		discarded += part ? 0 : totals->discarded;
	}

	print_info(out, trace, "Command", (const char *const[]){ "command", NULL });
	print_info(out, trace, "Machine",
		   (const char *const[]){ "nodename", "machine", "cpu_model", NULL });
	print_info(out, trace, "Kernel",
		   (const char *const[]){ "sysname", "release", "version", NULL });
	print_info(out, trace, "Layers", (const char *const[]){ "layers", NULL });
	print_info(out, trace, "Filter", (const char *const[]){ "filter", NULL });
	print_info(out, trace, "Part", (const char *const[]){ "part", NULL });
	if (missing_short_calls(trace, without))
		fprintf(out, "%-10s %s\n", "Calls", without + strlen("calls "));
	if (stats->events)
		print_start(out, trace, stats->first);
	fprintf(out, "%-10s %s, %" PRIu64 " cycles, on ", "Duration",
		fkt_duration(trace, fkt_analysis_duration(analysis), text),
		fkt_analysis_duration(analysis));
	if (total->cpus != fkt_analysis_cpus(analysis))
		fprintf(out, "%" PRIu32 " of ", total->cpus);
	fprintf(out, "%" PRIu32 " CPU%s\n", fkt_analysis_cpus(analysis),
		fkt_analysis_cpus(analysis) == 1 ? "" : "s");
	if (part)
		print_range(out, trace, stats, analysis, total, written);
	if (selects)
		fprintf(out,
			"%-10s %" PRIu64 " of %" PRIu64 " events, %s of %s on CPUs (%.2f %%)\n",
			"Selected", total->events, stats->events,
			fkt_duration(trace, total->selected, text),
			fkt_duration(trace, total->all, whole),
			(double)fkt_parts(total->selected, total->all) / 10000);
	else if (total->events != stats->events)
		fprintf(out,
			"%-10s %" PRIu64 " of %" PRIu64 " events, and the time that --while lets "
			"through\n",
			"Selected", total->events, stats->events);
	fprintf(out, "%-10s %" PRIu64, "Events", stats->events);
	if (!part)
		fprintf(out, " in %" PRIu64 " pages, %" PRIu64 " bytes", pages,
			pages * FKT_PAGE_BYTES);
	if (!part && stats->events)
		fprintf(out, " (%.2f bytes an event)",
			(double)(pages * FKT_PAGE_BYTES) / (double)stats->events);
	fputc('\n', out);

	fprintf(out, "%-10s ", "Lost");
	if (!stats->lost && !discarded)
		fprintf(out, "none%s\n",
			stats->missing || stats->damaged || has_fewer(trace, read, written, open)
				? " while it was recorded; but the file lacks some, see File"
			: !part && !fkt_is_complete(trace)
				? " up to where the trace was cut off; not known from there on"
				: "");
	else
		fprintf(out,
			"%" PRIu64 " event%s for which there was no room in the buffer, %" PRIu64
			" that could not be written\n",
			stats->lost, stats->lost == 1 ? "" : "s", discarded);
	if (!part && told_lost && strcmp(told_lost, "0"))
		fprintf(out, "%-10s %s of their events were lost\n", "Programs", told_lost);
	if (missing_by_limit(trace, to))
		fprintf(out, "%-10s the recording ended when the size limit was reached\n",
			"Limit");
	if (triggered >= 0)
		fprintf(out, "%-10s %s, in thread %s, %.9f s from the first event on%s\n",
			"Trigger", fkt_info(trace, "trigger") ?: "?",
			fkt_info(trace, "trigger_tid") ?: "?",
			(double)triggered / FKT_NS_PER_SECOND,
			near ? "; from 50 ms before that. --from 0 shows all" : "");
	else if (fkt_info(trace, "trigger"))
		fprintf(out, "%-10s %s, in thread %s, before the first event\n", "Trigger",
			fkt_info(trace, "trigger"), fkt_info(trace, "trigger_tid") ?: "?");
	if (overwritten && strcmp(overwritten, "0"))
		fprintf(out, "%-10s %s events were overwritten, the oldest%s\n", "Ring",
			overwritten,
			complete ? "; nothing from here on. --from 0 shows what some CPUs have of "
				   "before"
				 : "");
	if (recovered && !strcmp(recovered, "1"))
		fprintf(out, "%-10s after a crash; %s pages were in memory alone\n", "Recovered",
			pages_recovered ? pages_recovered : "?");
	if (stats->missing || stats->damaged)
		fprintf(out, "%-10s %" PRIu64 " pages missing, %" PRIu64 " damaged\n", "File",
			stats->missing, stats->damaged);
	if (has_fewer(trace, read, written, open))
		fprintf(out, "%-10s %" PRIu64 " events were recorded, %" PRIu64 " are here\n",
			"File", written, read);
}

/* ---- figure 4 ---- */

static const struct fkt_column row_columns[] = {
	{ "Name", "name", FKT_COLUMN_TEXT, 0 },
	{ "Code", "code", FKT_COLUMN_TEXT, 3 },
	{ "Time", "own", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "Of all", "percent_of_all", FKT_COLUMN_PERCENT, 1 },
	{ "Calls", "calls", FKT_COLUMN_NUMBER, 0 },
	{ "Partial", "partial", FKT_COLUMN_NUMBER, 2 },
};

static const struct fkt_column bar_column = { "", "", FKT_COLUMN_BAR, 0 };

/* Without a filter, what was selected is all. */
#define ROW_PERCENT 3
#define ROW_OF_ALL  4
#define ROW_COLUMNS (sizeof(row_columns) / sizeof(row_columns[0]))

/* They are followed by what counters have counted, and by a bar. */
struct row_table {
	struct fkt_column column[ROW_COLUMNS + FKT_COUNTERS_MAX + 2];
	unsigned int counters;
	unsigned int without;
	uint64_t total[FKT_COUNTERS_MAX];
};

static void put_row_columns(struct row_table *table, const struct fkt_trace *trace)
{
	memcpy(table->column, row_columns, sizeof(row_columns));
	table->counters = counted_columns(trace, table->column + ROW_COLUMNS);
	table->column[ROW_COLUMNS + table->counters] = bar_column;
}

/* @cells: those of row_columns; the bar is that of their percentage. */
static void put_sums(struct fkt_output *out, struct row_table *table, const char *name,
		     const union fkt_cell cells[ROW_COLUMNS], const uint64_t *counted, bool strong)
{
	union fkt_cell cell[ROW_COLUMNS + FKT_COUNTERS_MAX + 1] = { 0 };
	unsigned int n = ROW_COLUMNS;

	memcpy(cell, cells, ROW_COLUMNS * sizeof(*cell));
	for (unsigned int i = 0; i < table->counters; i++)
		cell[n++].number = counted[i];
	cell[n].number = strong ? FKT_CELL_NONE : cell[ROW_PERCENT].number;
	put_row(out, name, table->column, table->without, cell, strong);
}

struct row {
	uint32_t row;
	uint64_t own;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static const struct fkt_row_sums *row_sums(const struct summary *summary,
					   const struct fkt_analysis *analysis, uint32_t row)
{
	return summary->calls ? &summary->row[row] : fkt_analysis_row(analysis, row);
}

/* What counters have counted of a row, without what it called. */
static void row_counted(const struct summary *summary, const struct fkt_analysis *analysis,
			uint32_t row, uint64_t counted[FKT_COUNTERS_MAX])
{
	for (unsigned int i = 0; i < summary->counters; i++)
		counted[i] = summary->calls ? summary->counted[row * FKT_COUNTERS_MAX + i]
					    : fkt_analysis_counted(analysis, row, i);
}

static bool row_has_any(const struct summary *summary, const struct fkt_analysis *analysis,
			uint32_t row)
{
	const struct fkt_row_sums *sums = row_sums(summary, analysis, row);
	uint64_t counted[FKT_COUNTERS_MAX] = { 0 }, any = 0;

	if (summary->calls && !summary->rows[row / FKT_PART])
		return false;
	row_counted(summary, analysis, row, counted);
	for (unsigned int i = 0; i < FKT_COUNTERS_MAX; i++)
		any |= counted[i];
	return any || sums->own || sums->calls || sums->partial;
}

static int print_rows(struct fkt_output *out, const struct summary *summary,
		      const struct fkt_analysis *analysis, const struct options *options,
		      uint64_t all)
{
	struct row_table table = {
		.without = filter_selects(summary->filter) ? 0 : 1u << ROW_OF_ALL,
	};
	struct fkt_column columns[COLUMNS_MAX];
	uint64_t total = 0, counted[FKT_COUNTERS_MAX];
	char name[FKT_NAME_BYTES], code[CODE_BYTES], label[48];
	const struct fkt_row_sums *sums;
	size_t n = 0;
	struct row *rows = malloc(FKT_ROWS * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (uint32_t row = 0; row < FKT_ROWS; row++) {
		if (!row_has_any(summary, analysis, row))
			continue;
		sums = row_sums(summary, analysis, row);
		if (options->kernel_only && row == FKT_ROW_USER)
			continue;
		rows[n].row = row;
		rows[n++].own = sums->own;
		total += sums->own;
	}
	if (n)
		qsort(rows, n, sizeof(*rows), compare_rows);

	fkt_table_line(out, "%s", "");
	put_row_columns(&table, out->trace);
	drop_columns(out, table.column, table.without, columns);
	fkt_table_begin(out, columns);
	for (size_t i = 0; i < n; i++) {
		sums = row_sums(summary, analysis, rows[i].row);
		row_counted(summary, analysis, rows[i].row, counted);
		for (unsigned int j = 0; j < table.counters; j++)
			table.total[j] += counted[j];
		fkt_row_name(out->trace, rows[i].row, name);
		if (rows[i].row == FKT_ROW_USER && !fkt_analysis_has_syscalls(analysis))
			strcpy(name, "not traced");
		put_row_code(out->trace, rows[i].row, code);
		put_sums(out, &table, "rows",
			 (const union fkt_cell[]){
				 { .text = name },
				 { .text = *code ? code : NULL },
				 { .number = sums->own },
				 { .number = fkt_parts(sums->own, total) },
				 { .number = fkt_parts(sums->own, all) },
				 { .number = rows[i].row < FKT_ROW_USER ? sums->calls
									: FKT_CELL_NONE },
				 { .number = rows[i].row < FKT_ROW_USER ? sums->partial
									: FKT_CELL_NONE } },
			 counted, false);
	}
	snprintf(label, sizeof(label), "Total elapsed %s%s",
		 out->time == FKT_TIME_CYCLES && fkt_format_for_people(out->format) ? "cycles"
										    : "time",
		 options->kernel_only ? ", without user" : "");
	put_sums(out, &table, "rows_total",
		 (const union fkt_cell[]){ { .text = label },
					   { .text = NULL },
					   { .number = total },
					   { .number = fkt_parts(total, total) },
					   { .number = fkt_parts(total, all) },
					   { .number = FKT_CELL_NONE },
					   { .number = FKT_CELL_NONE } },
		 table.total, true);
	free(rows);
	return 0;
}

/* ---- processes ---- */

static const struct fkt_column process_columns[] = {
	{ "Pid", "tid", FKT_COLUMN_NUMBER, 0 },
	{ "Process", "process", FKT_COLUMN_TEXT, 0 },
	{ "Time", "on_cpu", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "Of all", "percent_of_all", FKT_COLUMN_PERCENT, 1 },
	{ "User", "user", FKT_COLUMN_DURATION, 1 },
	{ "Kernel", "kernel", FKT_COLUMN_DURATION, 1 },
	{ "Interrupts", "interrupts", FKT_COLUMN_DURATION, 3 },
	{ "Waiting", "waiting", FKT_COLUMN_DURATION, 2 },
	{ "Sleep S", "sleep_s", FKT_COLUMN_DURATION, 5 },
	{ "Sleep D", "sleep_d", FKT_COLUMN_DURATION, 4 },
	{ "Sleep I", "sleep_i", FKT_COLUMN_DURATION, 8 },
	{ "Other", "sleep_other", FKT_COLUMN_DURATION, 7 },
	{ "Switches", "switches", FKT_COLUMN_NUMBER, 6 },
	{ 0 },
};

#define PROCESS_OF_ALL 4
/* How a thread's time divides is not known of calls alone. */
#define PROCESS_PARTS  (((1u << 9) - 1) << 5)

/* 0 is shown as nothing: most threads sleep in one state, or never. */
static uint64_t or_none(uint64_t cycles)
{
	return cycles ? cycles : FKT_CELL_NONE;
}

/* What all rows of the table have in common. */
struct process_table {
	struct fkt_output *out;
	unsigned int without;
	uint64_t total;
	uint64_t all;
	bool modes; /* user mode is known */
	bool parts; /* how the time divides */
};

static uint64_t if_parts(const struct process_table *table, uint64_t cycles)
{
	return table->parts ? cycles : FKT_CELL_NONE;
}

static void print_process(const struct process_table *table, const struct fkt_process *process,
			  const struct fkt_thread_sums *sums)
{
	char name[FKT_THREAD_BYTES];
	bool idle = !process->tid, modes = table->modes;
	/* Nothing is known of it but when it ran. */
	bool out = (sums->left_out || sums->untraced) && !sums->user && !sums->program &&
		   !sums->kernel && !sums->before;

	put_row(table->out, "processes", process_columns, table->without,
		(const union fkt_cell[]){
			{ .number = pid_cell(process) },
			{ .text = process->tid == FKT_PID_UNKNOWN
					  ? "unknown"
					  : fkt_thread_name(process, name) },
			{ .number = sums->cycles },
			{ .number = fkt_parts(sums->cycles, table->total) },
			{ .number = fkt_parts(sums->cycles, table->all) },
			{ .number = modes && !process->kernel && !idle && sums->id && !out
					    ? if_parts(table, sums->user + sums->program)
					    : FKT_CELL_NONE },
			{ .number = !sums->id || idle || out
					    ? FKT_CELL_NONE
					    : if_parts(table, sums->kernel + sums->before) },
			{ .number = or_none(sums->interrupts) },
			{ .number = or_none(sums->waiting) },
			{ .number = or_none(sums->sleeping[FKT_SLEEP_INTERRUPTIBLE]) },
			{ .number = or_none(sums->sleeping[FKT_SLEEP_UNINTERRUPTIBLE]) },
			{ .number = or_none(sums->sleeping[FKT_SLEEP_IDLE]) },
			{ .number = or_none(sums->sleeping[FKT_SLEEP_STOPPED] +
					    sums->sleeping[FKT_SLEEP_OTHER]) },
			{ .number = if_parts(table, sums->switches) },
		},
		false);
}

static int compare_threads(const void *a, const void *b)
{
	const struct fkt_thread_sums *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Threads by the time of the calls that were picked. */
static struct fkt_thread_sums *picked_threads(const struct summary *summary, size_t *count)
{
	struct fkt_thread_sums *rows = calloc(summary->threads + 1, sizeof(*rows));

	*count = 0;
	for (uint32_t id = 0; rows && id < summary->threads; id++)
		if (summary->thread[id])
			rows[(*count)++] = (struct fkt_thread_sums){
				.id = id,
				.cycles = summary->thread[id],
			};
	if (rows && *count)
		qsort(rows, *count, sizeof(*rows), compare_threads);
	return rows;
}

static int print_processes(struct fkt_output *out, const struct summary *summary,
			   const struct fkt_processes *processes, struct fkt_analysis *analysis,
			   uint64_t all)
{
	struct process_table table = {
		.out = out,
		.without = (filter_selects(summary->filter) ? 0 : 1u << PROCESS_OF_ALL) |
			   (summary->calls ? PROCESS_PARTS : 0),
		.all = all,
		.modes = fkt_analysis_has_syscalls(analysis),
		.parts = !summary->calls,
	};
	struct fkt_column columns[COLUMNS_MAX];
	struct fkt_thread_sums *rows, sum = { 0 };
	size_t count;

	rows = summary->calls ? picked_threads(summary, &count)
			      : fkt_analysis_threads(analysis, &count);
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		table.total += rows[i].cycles;
	fkt_table_line(out, "%s", "");
	drop_columns(out, process_columns, table.without, columns);
	fkt_table_begin(out, columns);
	for (size_t i = 0; i < count; i++) {
		print_process(&table, fkt_process(processes, rows[i].id), &rows[i]);
		sum.interrupts += rows[i].interrupts;
		sum.switches += rows[i].switches;
	}
	put_row(out, "processes_total", process_columns, table.without,
		(const union fkt_cell[]){ { .number = FKT_CELL_NONE },
					  { .text = "total" },
					  { .number = table.total },
					  { .number = fkt_parts(table.total, table.total) },
					  { .number = fkt_parts(table.total, all) },
					  { .number = FKT_CELL_NONE },
					  { .number = FKT_CELL_NONE },
					  { .number = if_parts(&table, sum.interrupts) },
					  { .number = FKT_CELL_NONE },
					  { .number = FKT_CELL_NONE },
					  { .number = FKT_CELL_NONE },
					  { .number = FKT_CELL_NONE },
					  { .number = FKT_CELL_NONE },
					  { .number = if_parts(&table, sum.switches) } },
		true);
	free(rows);
	return 0;
}

static int compare_counts(const void *a, const void *b)
{
	const struct code_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

/* The code at the other end of what an entry begins or an exit ends, FKT_SLOT_CODES if none. */
static uint32_t other_end(const struct fkt_trace *trace, uint32_t code, bool *is_exit)
{
	const struct fkt_code_row *row = fkt_code_row(trace, code), *pair;

	*is_exit = row && (row->kind == FKT_KIND_EXIT || row->kind == FKT_KIND_CPU_EXIT);
	if (!row || row->kind == FKT_KIND_POINT)
		return FKT_SLOT_CODES;
	pair = fkt_code_row(trace, row->pair);
	if (!pair || code - row->first >= pair->count)
		return FKT_SLOT_CODES;
	return pair->first + (code - row->first);
}

static const struct fkt_column count_columns[] = {
	{ "Code", "code", FKT_COLUMN_TEXT, 0 },
	{ "Name", "name", FKT_COLUMN_TEXT, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Exits", "exits", FKT_COLUMN_NUMBER, 0 },
	{ 0 },
};

static uint64_t code_count(const struct summary *summary, const struct fkt_analysis *analysis,
			   uint32_t code)
{
	if (code == FKT_CODE_STACK)
		return 0;
	if (!summary->code)
		return fkt_analysis_code_count(analysis, code);
	return summary->codes[code / FKT_PART] ? summary->code[code] : 0;
}

/* Events by code, exits in the row of their entry. */
static int print_counts(struct fkt_output *out, const struct summary *summary,
			const struct fkt_analysis *analysis)
{
	const struct fkt_trace *trace = out->trace;
	struct code_count *rows = NULL, *larger;
	char name[FKT_NAME_BYTES], code[CODE_BYTES];
	size_t n = 0, room = 0;
	uint64_t count;
	uint32_t other;
	bool is_exit, is_entry, pair;

	for (uint32_t i = 0; i < FKT_SLOT_CODES; i++) {
		count = code_count(summary, analysis, i);
		if (!count)
			continue;
		other = other_end(trace, i, &is_exit);
		if (is_exit && other < FKT_SLOT_CODES && code_count(summary, analysis, other))
			continue;
		pair = is_exit && other < FKT_SLOT_CODES && other_end(trace, other, &is_entry) == i;
		if (n == room) {
			room = room ? room * 2 : 256;
			larger = realloc(rows, room * sizeof(*rows));
			if (!larger) {
				free(rows);
				return -ENOMEM;
			}
			rows = larger;
		}
		/* Exits alone have the row of the entry that did not come. */
		rows[n].code = pair ? other : i;
		rows[n].count = pair ? 0 : count;
		n++;
	}
	if (n)
		qsort(rows, n, sizeof(*rows), compare_counts);

	fkt_table_line(out, "%s", "");
	fkt_table_begin(out, count_columns);
	for (size_t i = 0; i < n; i++) {
		fkt_code_name(trace, rows[i].code, name);
		snprintf(code, sizeof(code), "%04" PRIx32, rows[i].code);
		other = other_end(trace, rows[i].code, &is_exit);
		fkt_table_row(out, "counts", count_columns,
			      (const union fkt_cell[]){
				      { .text = code },
				      { .text = name },
				      { .number = rows[i].count },
				      { .number = !is_exit && other < FKT_SLOT_CODES
							  ? code_count(summary, analysis, other)
							  : FKT_CELL_NONE } },
			      false);
	}
	free(rows);
	return 0;
}

/* Threads add up to what rows add up to, and are fewer. */
static int add_up(const struct context *context, const struct summary *summary, struct total *total)
{
	struct fkt_analysis *analysis = context->analysis;
	uint32_t end = fkt_analysis_cpu_end(analysis);
	struct fkt_thread_sums *threads;
	size_t count;

	threads = fkt_analysis_threads(analysis, &count);
	if (!threads)
		return -ENOMEM;
	*total = (struct total){
		.events = summary->code ? summary->events : context->stats.events,
	};
	for (size_t i = 0; i < count; i++)
		total->selected += threads[i].cycles;
	total->all = total->selected + fkt_analysis_left_out(analysis);
	free(threads);
	if (summary->calls) {
		total->selected = 0;
		for (uint32_t id = 0; id < summary->threads; id++)
			total->selected += summary->thread[id];
	}
	for (uint32_t cpu = 0; cpu < end; cpu++)
		total->cpus += fkt_analysis_has_cpu(analysis, (uint16_t)cpu) &&
			       filter_cpu(summary->filter, (uint16_t)cpu);
	return 0;
}

/* Whether nothing else is printed, which would have said it. */
static bool is_alone(const struct options *options)
{
	for (unsigned int i = 0; i < VIEW_COUNT; i++)
		if (options->view[i] && i != VIEW_summary)
			return false;
	return !options->listing;
}

static int summary_print(const struct context *context, void *view)
{
	const struct options *options = context->options;
	struct fkt_analysis *analysis = context->analysis;
	struct fkt_output *out = context->out;
	const struct summary *summary = view;
	struct total total;
	char *text = NULL;
	size_t bytes;
	FILE *file;

	if (add_up(context, summary, &total))
		return -ENOMEM;
	if (fkt_format_for_people(out->format)) {
		file = open_memstream(&text, &bytes);
		if (!file)
			return -ENOMEM;
		print_totals(file, context->trace, &context->stats, analysis, &total,
			     options->selected.from >= 0 || options->selected.to >= 0,
			     filter_is_open(summary->filter), filter_selects(summary->filter),
			     options->selected.overwritten, options->selected.triggered,
			     options->selected.near_trigger, filter_to(summary->filter));
		if (!fclose(file))
			fkt_print_wrapped(out, text, TITLE_WIDTH + 1);
		free(text);
	} else {
		print_totals_for_programs(out, &context->stats, analysis, &total);
	}
	/* That nothing was selected is said above. */
	if (!filter_is_open(summary->filter) && !total.events && !total.selected &&
	    fkt_format_for_people(out->format)) {
		if (is_alone(options))
			tell_nothing(context, "event or call", false);
		return 0;
	}
	return print_rows(out, summary, analysis, options, total.all)
		       ?: print_processes(out, summary, context->processes, analysis, total.all)
		       ?: print_counts(out, summary, analysis);
}

const struct view view_summary = {
	.name = "summary",
	.wants = VIEW_SUMS | VIEW_PICKS,
	.new = summary_new,
	.event = summary_event,
	.leave = summary_leave,
	.print = summary_print,
	.free = summary_free,
};

// SPDX-License-Identifier: GPL-2.0-only
/* The summary: what was recorded, where the time went, and how often each event came. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "print.h"

struct code_count {
	uint32_t code;
	uint64_t count;
};

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* "1.234567 s", in the unit that fits; "-" when the trace has no clock */
static const char *duration(const struct fkt_trace *trace, uint64_t cycles, char *text,
			    size_t bytes)
{
	int64_t ns;

	if (!fkt_has_clock(trace)) {
		snprintf(text, bytes, "-");
		return text;
	}
	ns = fkt_cycles_to_ns(trace, (int64_t)cycles);
	if (ns < 1000)
		snprintf(text, bytes, "%" PRId64 " ns", ns);
	else if (ns < 1000000)
		snprintf(text, bytes, "%.3f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, bytes, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, bytes, "%.3f s", (double)ns / 1e9);
	return text;
}

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
	time = (time_t)(fkt_wall_ns(trace, stamp) / 1000000000);
	if (localtime_r(&time, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &tm))
		fprintf(out, "%-10s %s\n", "Began", text);
}

static void print_totals(FILE *out, const struct fkt_trace *trace,
			 const struct fkt_read_stats *stats)
{
	uint64_t cycles = stats->events ? stats->last - stats->first : 0;
	uint64_t pages = stats->pages + stats->index_pages;
	uint64_t written = 0, discarded = 0;
	const struct fkt_lane_totals *totals;
	char text[32];

	for (size_t i = 0; (totals = fkt_lane_totals(trace, i)); i++) {
		written += totals->events;
		discarded += totals->discarded;
	}

	print_info(out, trace, "Command", (const char *const[]){ "command", NULL });
	print_info(out, trace, "Machine",
		   (const char *const[]){ "nodename", "machine", "cpu_model", NULL });
	print_info(out, trace, "Kernel",
		   (const char *const[]){ "sysname", "release", "version", NULL });
	print_info(out, trace, "Layers", (const char *const[]){ "layers", NULL });
	if (stats->events)
		print_start(out, trace, stats->first);
	fprintf(out, "%-10s %s, %" PRIu64 " cycles\n", "Duration",
		duration(trace, cycles, text, sizeof(text)), cycles);
	fprintf(out, "%-10s %" PRIu64 " in %" PRIu64 " pages, %" PRIu64 " bytes", "Events",
		stats->events, pages, pages * FKT_PAGE_BYTES);
	if (stats->events)
		fprintf(out, " (%.2f bytes an event)",
			(double)(pages * FKT_PAGE_BYTES) / (double)stats->events);
	fputc('\n', out);

	fprintf(out, "%-10s ", "Lost");
	if (!stats->lost && !discarded)
		fprintf(out, "none\n");
	else
		fprintf(out,
			"%" PRIu64 " events for which there was no room in the buffer, %" PRIu64
			" that could not be written\n",
			stats->lost, discarded);
	if (stats->missing || stats->damaged)
		fprintf(out, "%-10s %" PRIu64 " pages missing, %" PRIu64 " damaged\n", "File",
			stats->missing, stats->damaged);
	if (fkt_is_complete(trace) && fkt_lane_totals(trace, 0) && written != stats->events)
		fprintf(out, "%-10s %" PRIu64 " events were recorded, %" PRIu64 " are here\n",
			"File", written, stats->events);
}

static int print_processes(FILE *out, const struct fkt_trace *trace,
			   const struct fkt_processes *processes, struct fkt_analysis *analysis)
{
	struct fkt_process_time *rows;
	const struct fkt_process *process;
	uint64_t total = 0;
	char text[32];
	size_t count;

	rows = fkt_analysis_processes(analysis, &count);
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		total += rows[i].cycles;

	fprintf(out, "\n    Pid %-16s               Cycles         Time  Percent\n", "Process");
	for (size_t i = 0; i < count; i++) {
		process = fkt_process(processes, rows[i].id);
		/* The idle task is one for each CPU: its pid is the CPU's number, negated. */
		if (process->tid == FKT_PID_UNKNOWN)
			snprintf(text, sizeof(text), "?");
		else
			snprintf(text, sizeof(text), "%s%" PRIu32, process->tid ? "" : "-",
				 process->tid ? process->tid : process->cpu);
		fprintf(out, "%7s %-16s %20" PRIu64, text, process->comm, rows[i].cycles);
		fprintf(out, " %12s %7.2f%%\n", duration(trace, rows[i].cycles, text, sizeof(text)),
			percent(rows[i].cycles, total));
	}
	fprintf(out, "%7s %-16s %20" PRIu64 " %12s %7.2f%%\n", "", "total", total,
		duration(trace, total, text, sizeof(text)), percent(total, total));
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

/* Events by code, exits in the row of their entry. */
static int print_counts(FILE *out, const struct fkt_trace *trace, struct fkt_analysis *analysis)
{
	struct code_count *rows = NULL, *larger;
	char name[FKT_NAME_BYTES];
	size_t n = 0, room = 0;
	uint64_t count;
	uint32_t other;
	bool is_exit;

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		count = fkt_analysis_code_count(analysis, code);
		if (!count)
			continue;
		other = other_end(trace, code, &is_exit);
		if (is_exit && other < FKT_SLOT_CODES && fkt_analysis_code_count(analysis, other))
			continue;
		if (n == room) {
			room = room ? room * 2 : 256;
			larger = realloc(rows, room * sizeof(*rows));
			if (!larger) {
				free(rows);
				return -ENOMEM;
			}
			rows = larger;
		}
		rows[n].code = code;
		rows[n].count = count;
		n++;
	}
	if (n)
		qsort(rows, n, sizeof(*rows), compare_counts);

	fprintf(out, "\nCode  %-32s %14s %14s\n", "Event", "Count", "Exits");
	for (size_t i = 0; i < n; i++) {
		fkt_code_name(trace, rows[i].code, name);
		fprintf(out, "%04" PRIx32 "  %-32s %14" PRIu64, rows[i].code, name, rows[i].count);
		other = other_end(trace, rows[i].code, &is_exit);
		if (!is_exit && other < FKT_SLOT_CODES)
			fprintf(out, " %14" PRIu64, fkt_analysis_code_count(analysis, other));
		fputc('\n', out);
	}
	free(rows);
	return 0;
}

int print_summary(FILE *out, const struct fkt_trace *trace, const struct fkt_read_stats *stats,
		  const struct fkt_processes *processes, struct fkt_analysis *analysis)
{
	print_totals(out, trace, stats);
	return print_processes(out, trace, processes, analysis)
		       ?: print_counts(out, trace, analysis);
}

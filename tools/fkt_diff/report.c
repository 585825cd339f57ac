// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables: for people what differs, for programs all of it. */
#include <math.h>
#include <stdlib.h>

#include "diff.h"

#define CELL_BYTES 48

static const char *const kinds[] = {
	[KIND_CALL] = "call",
	[KIND_FUNCTION] = "function",
	[KIND_STACK] = "stack",
	[KIND_WAIT] = "wait",
};

static const char *const titles[] = {
	[KIND_CALL] = "Calls and interrupts",
	[KIND_FUNCTION] = "Functions",
	[KIND_STACK] = "Stacks of calls",
	[KIND_WAIT] = "Waits",
};

static const char *const verdicts[] = {
	[VERDICT_NONE] = "",	 [VERDICT_SLOWER] = "slower", [VERDICT_FASTER] = "faster",
	[VERDICT_MORE] = "more", [VERDICT_FEWER] = "fewer",   [VERDICT_NEW] = "new",
	[VERDICT_GONE] = "gone",
};

/* ---- for people ---- */

/* "12.34 us" */
static const char *put_duration(char text[CELL_BYTES], double ns, const char *sign)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	unsigned int unit = 0;

	if (isnan(ns))
		return NULL;
	for (; fabs(ns) >= 999.995 && unit < 3; unit++)
		ns /= 1000;
	snprintf(text, CELL_BYTES, "%s%.*f %s", ns < 0 ? "-" : sign, unit ? 2 : 0, fabs(ns),
		 units[unit]);
	return text;
}

static const char *put_change(char text[CELL_BYTES], double before, double after)
{
	if (isnan(before) || isnan(after) || !(before > 0))
		return NULL;
	snprintf(text, CELL_BYTES, "%+.1f%%", 100 * (after / before - 1));
	return text;
}

static const char *put_count(char text[CELL_BYTES], double count)
{
	snprintf(text, CELL_BYTES, "%.*f", count == floor(count) || count >= 1000 ? 0 : 2, count);
	return text;
}

static const struct fkt_column people_columns[] = {
	{ "Name", "name", FKT_COLUMN_TEXT, 0 },
	{ "Before", "before", FKT_COLUMN_JSON, 0 },
	{ "After", "after", FKT_COLUMN_JSON, 0 },
	{ "Change", "change", FKT_COLUMN_JSON, 0 },
	{ "99% of them", "before_p99", FKT_COLUMN_JSON, 5 },
	{ "After", "after_p99", FKT_COLUMN_JSON, 5 },
	{ "Times", "before_count", FKT_COLUMN_JSON, 2 },
	{ "After", "after_count", FKT_COLUMN_JSON, 2 },
	{ "In all", "total", FKT_COLUMN_JSON, 1 },
	{ "Of all", "share", FKT_COLUMN_JSON, 3 },
	{ "", "verdict", FKT_COLUMN_TEXT, 0 },
	{ 0 },
};

static void print_person_row(const struct report *report, const struct result *result)
{
	const struct numbers *before = &result->side[BEFORE], *after = &result->side[AFTER];
	char text[9][CELL_BYTES];
	const double share = after->share - before->share;
	union fkt_cell cells[] = {
		{ .text = result->item->name },
		{ .text = put_duration(text[0], before->mean, "") },
		{ .text = put_duration(text[1], after->mean, "") },
		{ .text = put_change(text[2], before->mean, after->mean) },
		{ .text = put_duration(text[3], before->p99, "") },
		{ .text = put_duration(text[4], after->p99, "") },
		{ .text = put_count(text[5], before->count) },
		{ .text = put_count(text[6], after->count) },
		{ .text = put_duration(text[7], after->total - before->total, "+") },
		{ .text = text[8] },
		{ .text = verdicts[result->verdict] },
	};

	snprintf(text[8], sizeof(text[8]), "%+.2f%%", 100 * share);
	fkt_table_row(report->out, "differences", people_columns, cells, false);
}

static void print_recordings(const struct report *report)
{
	static const char *const sides[] = { "Before", "After" };
	const struct recording *recording;
	char text[CELL_BYTES];

	for (unsigned int r = 0; r < report->recordings; r++) {
		recording = &report->recording[r];
		fkt_table_line(report->out, "%-6s  %s, %s on %u CPU%s", sides[recording->side],
			       recording->path, put_duration(text, recording->ns, ""),
			       recording->cpus, recording->cpus == 1 ? "" : "s");
	}
}

static void print_kind(const struct report *report, const struct result *result, size_t results,
		       enum kind kind)
{
	const char *of = kind == KIND_WAIT ? ""
			 : report->elapsed ? ", from entry to exit"
					   : ", own time";
	size_t all = 0, differ = 0;

	for (size_t i = 0; i < results; i++) {
		all += result[i].item->kind == kind;
		differ += result[i].item->kind == kind && result[i].verdict;
	}
	if (!all)
		return;
	fkt_table_line(report->out, "%s", "");
	fkt_table_line(report->out, "%s%s, per %s: %zu of %zu differ", titles[kind], of,
		       report->per, differ, all);
	if (!differ && !report->all)
		return;
	fkt_table_line(report->out, "%s", "");
	fkt_table_begin(report->out, people_columns);
	for (size_t i = 0; i < results; i++)
		if (result[i].item->kind == kind && (report->all || result[i].verdict))
			print_person_row(report, &result[i]);
	fkt_table_end(report->out);
}

/* ---- for programs ---- */

static const struct fkt_column columns[] = {
	{ "Kind", "kind", FKT_COLUMN_TEXT, 0 },
	{ "Name", "name", FKT_COLUMN_TEXT, 0 },
	{ "Verdict", "verdict", FKT_COLUMN_TEXT, 0 },
	{ "Count", "before_count", FKT_COLUMN_JSON, 0 },
	{ "Count", "after_count", FKT_COLUMN_JSON, 0 },
	{ "Mean", "before_mean_ns", FKT_COLUMN_JSON, 0 },
	{ "Mean", "after_mean_ns", FKT_COLUMN_JSON, 0 },
	{ "p50", "before_p50_ns", FKT_COLUMN_JSON, 0 },
	{ "p50", "after_p50_ns", FKT_COLUMN_JSON, 0 },
	{ "p99", "before_p99_ns", FKT_COLUMN_JSON, 0 },
	{ "p99", "after_p99_ns", FKT_COLUMN_JSON, 0 },
	{ "Total", "before_total_ns", FKT_COLUMN_JSON, 0 },
	{ "Total", "after_total_ns", FKT_COLUMN_JSON, 0 },
	{ "Share", "before_share", FKT_COLUMN_JSON, 0 },
	{ "Share", "after_share", FKT_COLUMN_JSON, 0 },
	{ "Chance", "duration_chance", FKT_COLUMN_JSON, 0 },
	{ "Chance", "count_chance", FKT_COLUMN_JSON, 0 },
	{ 0 },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]) - 1)
#define TEXTS	3
#define NUMBERS (COLUMNS - TEXTS)

static void print_program_row(const struct report *report, const struct result *result)
{
	const struct numbers *before = &result->side[BEFORE], *after = &result->side[AFTER];
	const double value[NUMBERS] = {
		before->count,
		after->count,
		before->mean,
		after->mean,
		before->p50,
		after->p50,
		before->p99,
		after->p99,
		before->total,
		after->total,
		before->share,
		after->share,
		result->duration_chance,
		result->count_chance,
	};
	char text[NUMBERS][CELL_BYTES];
	union fkt_cell cells[COLUMNS] = {
		{ .text = kinds[result->item->kind] },
		{ .text = result->item->name },
		{ .text = result->verdict ? verdicts[result->verdict] : NULL },
	};

	for (size_t i = 0; i < NUMBERS; i++) {
		snprintf(text[i], CELL_BYTES, "%.15g", value[i]);
		cells[TEXTS + i].text = isnan(value[i]) ? NULL : text[i];
	}
	fkt_table_row(report->out, "differences", columns, cells, false);
}

static void print_for_programs(const struct report *report, const struct result *result,
			       size_t results)
{
	fkt_table_begin(report->out, columns);
	for (size_t i = 0; i < results; i++)
		print_program_row(report, &result[i]);
	fkt_table_end(report->out);
}

void print_report(const struct report *report, const struct result *result, size_t results)
{
	if (!fkt_format_for_people(report->out->format)) {
		print_for_programs(report, result, results);
		return;
	}
	print_recordings(report);
	for (enum kind kind = 0; kind < KINDS; kind++)
		print_kind(report, result, results, kind);
}

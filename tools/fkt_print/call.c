// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls one by one, with their arguments and results: what --graph and --spans have in common. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

void copy_event(struct fkt_event *to, uint64_t *args, const struct fkt_event *event)
{
	*to = *event;
	to->args = args;
	memcpy(args, event->args, event->words * sizeof(*args));
}

void keep_event(struct kept_event *kept, const struct fkt_event *event)
{
	kept->known = event;
	if (event)
		copy_event(&kept->event, kept->args, event);
}

const struct fkt_event *kept_event(struct kept_event *kept)
{
	if (!kept || !kept->known)
		return NULL;
	/* It may have been moved. */
	kept->event.args = kept->args;
	return &kept->event;
}

const uint64_t *copy_counted(uint64_t to[COUNTED], const uint64_t counted[COUNTED])
{
	return memcpy(to, counted, COUNTED * sizeof(*to));
}

const char *call_lacks(const struct fkt_call *call)
{
	if (!call->entered)
		return "entry not seen";
	if (!call->exit)
		return "not left";
	return call->partial ? "in part" : "";
}

#define CALL_COLUMNS 13

/* They are followed by what counters have counted, and by the same without what was called. */
static struct fkt_column columns[CALL_COLUMNS + COUNTED + 1] = {
	{ "", "begin", FKT_COLUMN_MOMENT, 0 },	    { "", "end", FKT_COLUMN_MOMENT, 0 },
	{ "", "duration", FKT_COLUMN_DURATION, 0 }, { "", "own", FKT_COLUMN_DURATION, 0 },
	{ "", "cpu", FKT_COLUMN_NUMBER, 0 },	    { "", "process", FKT_COLUMN_THREAD, 0 },
	{ "", "depth", FKT_COLUMN_NUMBER, 0 },	    { "", "code", FKT_COLUMN_TEXT, 0 },
	{ "", "name", FKT_COLUMN_TEXT, 0 },	    { "", "args", FKT_COLUMN_JSON, 0 },
	{ "", "result", FKT_COLUMN_JSON, 0 },	    { "", "errno", FKT_COLUMN_TEXT, 0 },
	{ "", "whole", FKT_COLUMN_NUMBER, 0 },
};
static struct fkt_column *const counted = columns + CALL_COLUMNS;
static unsigned int counters;

void begin_calls(struct fkt_output *out)
{
	counters = counted_columns(out->trace, counted);
	counted_own_columns(out->trace, counted + counters);
	if (!fkt_format_for_people(out->format))
		fkt_table_begin(out, columns);
}

#define COUNTED_LEAST 9

/* What is beside a time, of a column. */
static char *put_cell(char *to, unsigned int counter, const char *text)
{
	const int width = (int)strlen(counted[counter].title);

	return to + sprintf(to, " %*s", width > COUNTED_LEAST ? width : COUNTED_LEAST, text);
}

const char *counted_titles(char text[COUNTED_BYTES])
{
	char *to = text;

	*to = '\0';
	for (unsigned int i = 0; i < counters; i++)
		to = put_cell(to, i, counted[i].title);
	return text;
}

const char *counted_cells(const struct fkt_call *call, char text[COUNTED_BYTES])
{
	char number[NUMBER_BYTES] = "", *to = text;

	*to = '\0';
	for (unsigned int i = 0; i < counters; i++) {
		if (call && call->counted)
			snprintf(number, sizeof(number), "%" PRIu64, call->counted[i]);
		else if (call)
			strcpy(number, "?");
		to = put_cell(to, i, number);
	}
	return text;
}

/* Behind the other cells. */
static void put_counted(const struct fkt_call *call, union fkt_cell *cells)
{
	for (unsigned int i = 0; i < counters; i++) {
		cells[i].number = call->counted ? call->counted[i] : FKT_CELL_NONE;
		cells[counters + i].number = call->counted ? call->counted[FKT_COUNTERS_MAX + i]
							   : FKT_CELL_NONE;
	}
}

void print_call(struct line_maker *maker, const char *table, const struct line *line)
{
	struct fkt_output *out = &maker->out;
	const struct fkt_call *call = &line->call;
	char name[FKT_NAME_BYTES], code[CODE_BYTES], result[NUMBER_BYTES];
	struct fkt_value value;
	const char *error;
	bool returned = fkt_args_result(maker->args, call->exit, &value, &error);
	union fkt_cell cells[CALL_COLUMNS + COUNTED] = {
		{ .number = call->entered ? call->begin : FKT_CELL_NONE },
		{ .number = call->end },
		{ .number = call->entered ? call->end - call->begin : FKT_CELL_NONE },
		{ .number = call->own },
		{ .number = call->cpu },
		{ .thread = &line->process },
		{ .number = call->depth },
		{ .text = NULL },
		{ .text = name },
		{ .text = call->entry ? line_entry(maker, line) : NULL },
		{ .text = returned ? result : NULL },
		{ .text = error },
		{ .number = !call->partial },
	};

	fkt_row_name(out->trace, call->row, name);
	put_row_code(out->trace, call->row, code);
	cells[7].text = *code ? code : NULL;
	out->first = filter_first(maker->filter);
	if (returned && value.kind == FKT_VALUE_SIGNED)
		snprintf(result, sizeof(result), "%" PRId64, (int64_t)value.number);
	else if (returned)
		snprintf(result, sizeof(result), "%" PRIu64, value.number);
	put_counted(call, cells + CALL_COLUMNS);
	fkt_table_row(out, table, columns, cells, false);
}

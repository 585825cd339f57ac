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

const char *call_lacks(const struct fkt_call *call)
{
	if (!call->entered)
		return "entry not seen";
	if (!call->exit)
		return "not left";
	return call->partial ? "in part" : "";
}

static const struct fkt_column columns[] = {
	{ "", "begin", FKT_COLUMN_MOMENT, 0 },	    { "", "end", FKT_COLUMN_MOMENT, 0 },
	{ "", "duration", FKT_COLUMN_DURATION, 0 }, { "", "own", FKT_COLUMN_DURATION, 0 },
	{ "", "cpu", FKT_COLUMN_NUMBER, 0 },	    { "", "process", FKT_COLUMN_THREAD, 0 },
	{ "", "depth", FKT_COLUMN_NUMBER, 0 },	    { "", "code", FKT_COLUMN_TEXT, 0 },
	{ "", "name", FKT_COLUMN_TEXT, 0 },	    { "", "args", FKT_COLUMN_JSON, 0 },
	{ "", "result", FKT_COLUMN_JSON, 0 },	    { "", "errno", FKT_COLUMN_TEXT, 0 },
	{ "", "whole", FKT_COLUMN_NUMBER, 0 },	    { 0 },
};

void begin_calls(struct fkt_output *out)
{
	fkt_table_begin(out, columns);
}

void print_call(struct line_maker *maker, const char *table, const struct line *line)
{
	struct fkt_output *out = &maker->out;
	const struct fkt_call *call = &line->call;
	char name[FKT_NAME_BYTES], code[CODE_BYTES], result[NUMBER_BYTES];
	struct fkt_value value;
	const char *error;
	bool returned = fkt_args_result(maker->args, call->exit, &value, &error);

	fkt_row_name(out->trace, call->row, name);
	put_row_code(out->trace, call->row, code);
	out->first = filter_first(maker->filter);
	if (returned && value.kind == FKT_VALUE_SIGNED)
		snprintf(result, sizeof(result), "%" PRId64, (int64_t)value.number);
	else if (returned)
		snprintf(result, sizeof(result), "%" PRIu64, value.number);
	fkt_table_row(out, table, columns,
		      (const union fkt_cell[]){
			      { .number = call->entered ? call->begin : FKT_CELL_NONE },
			      { .number = call->end },
			      { .number = call->entered ? call->end - call->begin : FKT_CELL_NONE },
			      { .number = call->own },
			      { .number = call->cpu },
			      { .thread = &line->process },
			      { .number = call->depth },
			      { .text = *code ? code : NULL },
			      { .text = name },
			      { .text = call->entry ? line_entry(maker, line) : NULL },
			      { .text = returned ? result : NULL },
			      { .text = error },
			      { .number = !call->partial } },
		      false);
}

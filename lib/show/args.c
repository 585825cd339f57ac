// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The arguments and the results of calls, by themselves: a listing of which no lines are made. It
 * has the labels, which say how the fields of a code look.
 */
#include <stdlib.h>

#include "args.h"
#include "internal.h"

/* As a line of the listing. */
#define ARGS_BYTES (64 << 10)

struct fkt_args {
	struct fkt_text *text;
	char entry[ARGS_BYTES];
	char exit[ARGS_BYTES];
};

struct fkt_args *fkt_args_new(struct fkt_trace *trace, struct fkt_processes *processes,
			      const struct fkt_format *format)
{
	struct fkt_args *args = malloc(sizeof(*args));

	if (!args)
		return NULL;
	args->text = fkt_text_new(trace, processes, -1, FKT_TIME_CYCLES);
	if (!args->text) {
		free(args);
		return NULL;
	}
	fkt_text_set_format(args->text, format->for_people ? format : &fkt_format_json, false);
	return args;
}

void fkt_args_free(struct fkt_args *args)
{
	if (!args)
		return;
	fkt_text_free(args->text);
	free(args);
}

static const char *put(struct fkt_args *args, char text[ARGS_BYTES], const struct fkt_event *event,
		       bool exit, uint32_t row)
{
	const struct fkt_label *label = event ? fkt_text_label(args->text, event->code) : NULL;
	char *end = text;

	if (label)
		end = args->text->format->args(args->text, text, label, event, exit, row);
	*end = '\0';
	return text;
}

const char *fkt_args_entry(struct fkt_args *args, const struct fkt_event *entry, uint32_t row)
{
	return put(args, args->entry, entry, false, row);
}

const char *fkt_args_exit(struct fkt_args *args, const struct fkt_event *exit, uint32_t row)
{
	return put(args, args->exit, exit, true, row);
}

bool fkt_args_name_threads(struct fkt_args *args, const struct fkt_event *event)
{
	const struct fkt_label *label = event ? fkt_text_label(args->text, event->code) : NULL;

	for (unsigned int i = 0; label && i < label->fields; i++)
		if (label->field[i].field.type == FKT_FIELD_PID)
			return true;
	return false;
}

bool fkt_args_result(struct fkt_args *args, const struct fkt_event *exit, struct fkt_value *value,
		     const char **error)
{
	const struct fkt_label *label = exit ? fkt_text_label(args->text, exit->code) : NULL;
	const struct fkt_field *field;

	*error = NULL;
	for (unsigned int i = 0; label && i < label->fields; i++) {
		field = &label->field[i].field;
		/* Of a program's function, nobody knows what it is: it is a register's value. */
		if (!fkt_field_is_result(field) &&
		    (field->type != FKT_FIELD_ARGUMENT || strcmp(field->name, "ret")))
			continue;
		if (!fkt_field_value(field, exit, value))
			return false;
		if (field->type == FKT_FIELD_RESULT && fkt_is_errno(value->number))
			*error = fkt_errno_name((int)-(int64_t)value->number);
		return true;
	}
	return false;
}

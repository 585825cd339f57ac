// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CSV, as RFC 4180 has it but for its line ends: a line with the names of the columns, then rows.
 * What an event holds is one column, an object of JSON.
 */
#include <stdio.h>

#include "internal.h"

/* So much of a text is quoted at a time. */
#define PIECE_BYTES 256

static bool needs_quotes(const char *text)
{
	return strpbrk(text, ",\"\n\t");
}

static char *double_quotes(char *to, const char *text, size_t bytes)
{
	for (; bytes; bytes--, text++) {
		if (*text == '"')
			*to++ = '"';
		/* A row is a line. */
		*to++ = *text == '\n' || *text == '\t' ? '?' : *text;
	}
	return to;
}

/* ---- a listing ---- */

static char *put_string(char *to, const char *string)
{
	if (!needs_quotes(string))
		return fkt_put_word(to, string);
	*to++ = '"';
	to = double_quotes(to, string, strlen(string));
	*to++ = '"';
	return to;
}

static char *csv_header(const struct fkt_text *text, char *to)
{
#define X(name) to = fkt_put_word(to, #name ",");
	FKT_EVENT_COLUMNS(X)
#undef X
	if (text->stacks)
		to = fkt_put_word(to, "stack,");
	to[-1] = '\n';
	return to;
}

static void csv_prefix(struct fkt_shown *shown, uint32_t code)
{
	(void)code;
	fkt_json_prefix(shown, true);
}

/* ",0101,sys_openat,openat," */
static char *csv_label(const struct fkt_text *text, char *to, uint32_t code, const char *name,
		       unsigned int fields)
{
	const struct fkt_syscall *call = fkt_code_syscall(text->trace, code);

	(void)fields;
	to += sprintf(to, ",%04x,", code);
	to = put_string(to, name);
	*to++ = ',';
	if (call)
		to = put_string(to, call->name);
	*to++ = ',';
	return to;
}

/* ",0,730,find" */
static char *csv_who(const struct fkt_text *text, char *to, const struct fkt_event *event,
		     const char *comm)
{
	(void)text;
	*to++ = ',';
	to = fkt_put_unsigned(to, event->cpu);
	*to++ = ',';
	if (event->pid != FKT_PID_UNKNOWN)
		to = fkt_put_unsigned(to, event->pid);
	*to++ = ',';
	return put_string(to, comm);
}

static char *csv_event(struct fkt_text *text, char *to, const struct fkt_who *who,
		       const struct fkt_label *label, const struct fkt_event *event)
{
	to = fkt_put_unsigned(to, event->stamp);
	*to++ = ',';
	to = fkt_put_time_ns(text, to, event->stamp, "");
	to = fkt_put_padded(to, who->text, who->text_bytes, 64);
	to = fkt_put_padded(to, label->text, label->text_bytes, 64);
	if (!label->fields)
		return fkt_put_bytes(to, "{}", 2);
	*to++ = '"';
	to = fkt_put_json_fields(text, to, label, event, true);
	*to++ = '"';
	return to;
}

static char *csv_stack(const struct fkt_text *text, char *to, const struct fkt_stack *stack)
{
	*to++ = ',';
	if (!stack)
		return to;
	*to++ = '"';
	to = fkt_put_json_stack(text->trace, to, stack, true);
	*to++ = '"';
	return to;
}

/* ---- tables ---- */

static void csv_table(struct fkt_output *out, const struct fkt_column *columns)
{
	char key[FKT_KEY_BYTES];
	const char *comma = "";

	if (out->tables)
		fputc('\n', out->file);
	for (; columns->title; columns++) {
		for (unsigned int i = 0; i < fkt_members(columns); i++) {
			fprintf(out->file, "%s%s", comma, fkt_member_key(columns, i, key));
			comma = ",";
		}
	}
	fputc('\n', out->file);
}

static void print_string(FILE *file, const char *text)
{
	char piece[2 * PIECE_BYTES];
	size_t bytes;

	if (!needs_quotes(text)) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text += bytes) {
		bytes = strnlen(text, PIECE_BYTES);
		fwrite(piece, 1, (size_t)(double_quotes(piece, text, bytes) - piece), file);
	}
	fputc('"', file);
}

static void csv_row(struct fkt_output *out, const char *name, const struct fkt_column *columns,
		    const union fkt_cell *cells, bool strong)
{
	char room[FKT_THREAD_BYTES];
	const char *comma = "", *text;

	(void)name;
	(void)strong;
	for (; columns->title; columns++, cells++) {
		for (unsigned int i = 0; i < fkt_members(columns); i++) {
			fputs(comma, out->file);
			comma = ",";
			if (fkt_member_text(columns, i, *cells, room, &text))
				print_string(out->file, text ?: "");
			else
				fkt_print_member(out, columns, i, *cells, "");
		}
	}
	fputc('\n', out->file);
}

const struct fkt_format fkt_format_csv = {
	.name = "csv",
	.about = "",
	.line_bytes = 112 << 10, /* the same where each byte may be a quote */
	.header = csv_header,
	.prefix = csv_prefix,
	.label = csv_label,
	.who = csv_who,
	.event = csv_event,
	.stack = csv_stack,
	.table = csv_table,
	.row = csv_row,
};

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * JSON: an object a line, for each event and for each row of a table, whose member "table" says
 * what it is of.
 *
 * Numbers are numbers, those of 64 bits that are shown in hexadecimal excepted: they are addresses,
 * or bits, and many a program takes numbers for doubles.
 */
#include <stdio.h>

#include "internal.h"
#include "trace/maps.h"

/* So much of a text is quoted at a time. */
#define PIECE_BYTES  256
/* A string in an event. */
#define STRING_BYTES (FKT_SLOT_WORDS_MAX * 8)

static char *put_quote(char *to, bool doubled)
{
	*to++ = '"';
	if (doubled)
		*to++ = '"';
	return to;
}

/* What stands between the quotes of a string; its only control characters are of lines. */
static char *escape(char *to, const char *text, size_t bytes, bool doubled)
{
	for (; bytes; bytes--, text++) {
		if (*text == '\n' || *text == '\t') {
			*to++ = '\\';
			*to++ = *text == '\n' ? 'n' : 't';
			continue;
		}
		if (*text == '"' || *text == '\\')
			*to++ = '\\';
		if (*text == '"' && doubled)
			*to++ = '"';
		*to++ = *text;
	}
	return to;
}

static char *put_bytes(char *to, const char *text, size_t bytes, bool doubled)
{
	to = put_quote(to, doubled);
	to = escape(to, text, bytes, doubled);
	return put_quote(to, doubled);
}

static char *put_string(char *to, const char *text)
{
	return put_bytes(to, text, strlen(text), false);
}

/* ---- what an event holds ---- */

void fkt_json_prefix(struct fkt_shown *shown, bool doubled)
{
	const char *quote = doubled ? "\"\"" : "\"", *name = shown->field.name;

	shown->prefix_bytes = (uint8_t)snprintf(shown->prefix, sizeof(shown->prefix),
						",%s%s%s:", quote, name, quote);
	shown->name_bytes = (uint8_t)snprintf(shown->name, sizeof(shown->name),
					      ",%s%s_name%s:", quote, name, quote);
}

static char *put_text(char *to, const struct fkt_field *field, const struct fkt_event *event,
		      bool doubled)
{
	char string[STRING_BYTES + 1];
	size_t bytes;
	const char *text = fkt_field_text(field, event, &bytes);
	char *end = fkt_put_untrusted(string, text, bytes);

	return put_bytes(to, string, (size_t)(end - string), doubled);
}

static char *put_address(char *to, uint64_t address, bool doubled)
{
	return put_quote(fkt_put_hex(put_quote(to, doubled), address), doubled);
}

static char *put_state(char *to, uint64_t state, bool doubled)
{
	char letters[FKT_STATE_BYTES];

	fkt_state_letters((uint32_t)state, letters);
	return put_bytes(to, letters, strlen(letters), doubled);
}

static char *put_char(char *to, uint64_t value, bool doubled)
{
	char c = (char)value;

	if (value >= ' ' && value <= '~')
		return put_bytes(to, &c, 1, doubled);
	to = put_quote(to, doubled);
	to += sprintf(to, "\\u%04x", (unsigned int)value & 0xff);
	return put_quote(to, doubled);
}

/* The name of what a number is, as a member of its own, if it has one. */
static char *put_name(struct fkt_text *text, char *to, const struct fkt_shown *shown,
		      const struct fkt_event *event, uint64_t number, bool doubled)
{
	char name[FKT_VALUE_NAME_BYTES];
	char *end = fkt_put_name(text->trace, text->processes, &shown->field, event, number, name);

	if (end == name)
		return to;
	to = fkt_put_bytes(to, shown->name, shown->name_bytes);
	return put_bytes(to, name, (size_t)(end - name), doubled);
}

static char *put_field(struct fkt_text *text, char *to, const struct fkt_shown *shown,
		       const struct fkt_event *event, bool doubled);

/* "[1,2,3]": without their names. */
static char *put_array(struct fkt_text *text, char *to, const struct fkt_shown *shown,
		       const struct fkt_event *event, bool doubled)
{
	struct fkt_shown element = { 0 };

	for (unsigned int i = 0; i < shown->field.elements; i++) {
		*to++ = i ? ',' : '[';
		element.field = fkt_field_element(&shown->field, i);
		if (element.field.type == FKT_FIELD_SYMBOL)
			element.field.type = FKT_FIELD_HEX;
		else if (element.field.type == FKT_FIELD_DEVICE)
			element.field.type = FKT_FIELD_UNSIGNED;
		else if (element.field.type == FKT_FIELD_ENUM)
			element.field.type = FKT_FIELD_SIGNED;
		to = put_field(text, to, &element, event, doubled);
	}
	*to++ = ']';
	return to;
}

static char *put_field(struct fkt_text *text, char *to, const struct fkt_shown *shown,
		       const struct fkt_event *event, bool doubled)
{
	const struct fkt_field *field = &shown->field;
	uint64_t number;

	switch (field->type) {
	case FKT_FIELD_COMM:
	case FKT_FIELD_STRING:
	case FKT_FIELD_QUOTED:
		return put_text(to, field, event, doubled);
	case FKT_FIELD_VOID:
		return fkt_put_bytes(to, "null", 4);
	case FKT_FIELD_ARRAY:
		return put_array(text, to, shown, event, doubled);
	default:
		break;
	}
	number = fkt_field_number(field, event);
	switch (field->type) {
	case FKT_FIELD_SIGNED:
	case FKT_FIELD_ARGUMENT:
		return fkt_put_signed(to, (int64_t)number);
	case FKT_FIELD_RESULT:
		to = fkt_put_signed(to, (int64_t)number);
		return fkt_is_errno(number) ? put_name(text, to, shown, event, number, doubled)
					    : to;
	case FKT_FIELD_ENUM:
		to = fkt_put_signed(to, (int64_t)number);
		return put_name(text, to, shown, event, number, doubled);
	case FKT_FIELD_PID:
	case FKT_FIELD_IRQ:
	case FKT_FIELD_SOFTIRQ:
	case FKT_FIELD_TRIGGER:
	case FKT_FIELD_TRAP:
	case FKT_FIELD_DEVICE:
	case FKT_FIELD_CODE:
		to = fkt_put_unsigned(to, number);
		return put_name(text, to, shown, event, number, doubled);
	case FKT_FIELD_SYMBOL:
	case FKT_FIELD_FUNCTION:
		to = put_address(to, number, doubled);
		return put_name(text, to, shown, event, number, doubled);
	case FKT_FIELD_STATE:
		return put_state(to, number, doubled);
	case FKT_FIELD_CHAR:
		return put_char(to, number, doubled);
	case FKT_FIELD_HEX:
		if (field->bytes == 8 && !field->immediate)
			return put_address(to, number, doubled);
		return fkt_put_unsigned(to, number);
	default:
		return fkt_put_unsigned(to, number);
	}
}

char *fkt_put_json_fields(struct fkt_text *text, char *to, const struct fkt_label *label,
			  const struct fkt_event *event, bool doubled)
{
	const struct fkt_shown *shown = label->field;
	char *begin = to;

	for (; shown < label->field + label->fields; shown++) {
		if (!fkt_field_is_there(&shown->field, event))
			break;
		to = fkt_put_padded(to, shown->prefix, shown->prefix_bytes, 16);
		to = put_field(text, to, shown, event, doubled);
	}
	/* In the place of the first comma. */
	*begin = '{';
	if (to == begin)
		to++;
	*to++ = '}';
	return to;
}

char *fkt_put_json_stack(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			 bool doubled)
{
	char frame[FKT_FRAME_BYTES];
	struct fkt_stack placed;
	unsigned int i;

	if (!stack->known)
		return fkt_put_word(to, "null");
	stack = fkt_stack_placed(trace, stack, &placed);
	*to++ = '[';
	for (i = fkt_stack_begin(trace, stack); i < stack->count; i++) {
		to = put_bytes(to, frame, (size_t)(fkt_put_frame(trace, frame, stack, i) - frame),
			       doubled);
		*to++ = ',';
	}
	if (stack->cut)
		to = put_bytes(to, "...", 3, doubled);
	else if (to[-1] == ',')
		to--;
	*to++ = ']';
	return to;
}

/* ---- a listing ---- */

static void json_prefix(struct fkt_shown *shown, uint32_t code)
{
	(void)code;
	fkt_json_prefix(shown, false);
}

static char *json_label(const struct fkt_text *text, char *to, uint32_t code, const char *name,
			unsigned int fields)
{
	const struct fkt_syscall *call = fkt_code_syscall(text->trace, code);

	(void)fields;
	to += sprintf(to, ",\"code\":\"%04x\",\"name\":", code);
	to = put_string(to, name);
	to = fkt_put_word(to, ",\"syscall\":");
	to = call ? put_string(to, call->name) : fkt_put_word(to, "null");
	return fkt_put_word(to, ",\"args\":");
}

static char *json_who(const struct fkt_text *text, char *to, const struct fkt_event *event,
		      const char *comm)
{
	(void)text;
	to = fkt_put_word(to, ",\"cpu\":");
	to = fkt_put_unsigned(to, event->cpu);
	to = fkt_put_word(to, ",\"tid\":");
	to = event->pid == FKT_PID_UNKNOWN ? fkt_put_word(to, "null")
					   : fkt_put_unsigned(to, event->pid);
	to = fkt_put_word(to, ",\"process\":");
	return put_string(to, comm);
}

static char *json_event(struct fkt_text *text, char *to, const struct fkt_who *who,
			const struct fkt_label *label, const struct fkt_event *event)
{
	to = fkt_put_word(to, "{\"table\":\"events\",\"stamp\":");
	to = fkt_put_unsigned(to, event->stamp);
	to = fkt_put_word(to, ",\"time_ns\":");
	to = fkt_put_time_ns(text, to, event->stamp, "null");
	to = fkt_put_padded(to, who->text, who->text_bytes, 64);
	to = fkt_put_padded(to, label->text, label->text_bytes, 64);
	to = fkt_put_json_fields(text, to, label, event, false);
	*to++ = '}';
	return to;
}

/* In the place of the brace. */
static char *json_stack(const struct fkt_text *text, char *to, const struct fkt_stack *stack)
{
	to = fkt_put_word(to, ",\"stack\":");
	to = stack ? fkt_put_json_stack(text->trace, to, stack, false) : fkt_put_word(to, "null");
	*to++ = '}';
	return to;
}

static char *json_args(struct fkt_text *text, char *to, const struct fkt_label *label,
		       const struct fkt_event *event, bool exit, uint32_t row)
{
	(void)exit;
	(void)row;
	return fkt_put_json_fields(text, to, label, event, false);
}

/* ---- tables ---- */

static void json_table(struct fkt_output *out, const struct fkt_column *columns)
{
	(void)out;
	(void)columns;
}

static void print_string(FILE *file, const char *text)
{
	char piece[2 * PIECE_BYTES];
	size_t bytes;

	fputc('"', file);
	for (; *text; text += bytes) {
		bytes = strnlen(text, PIECE_BYTES);
		fwrite(piece, 1, (size_t)(escape(piece, text, bytes, false) - piece), file);
	}
	fputc('"', file);
}

static void json_row(struct fkt_output *out, const char *name, const struct fkt_column *columns,
		     const union fkt_cell *cells, bool strong)
{
	char key[FKT_KEY_BYTES], room[FKT_THREAD_BYTES];
	const char *text;

	(void)strong;
	fprintf(out->file, "{\"table\":\"%s\"", name);
	for (; columns->title; columns++, cells++) {
		for (unsigned int i = 0; i < fkt_members(columns); i++) {
			fprintf(out->file, ",\"%s\":", fkt_member_key(columns, i, key));
			if (!fkt_member_text(columns, i, *cells, room, &text))
				fkt_print_member(out, columns, i, *cells, "null");
			else if (!text)
				fputs("null", out->file);
			else if (columns->type == FKT_COLUMN_JSON)
				fputs(text, out->file);
			else
				print_string(out->file, text);
		}
	}
	fputs("}\n", out->file);
}

const struct fkt_format fkt_format_json = {
	.name = "json",
	.about = "(a line each)",
	.line_bytes = 72 << 10, /* that of people, where each byte of a stack may be escaped */
	.prefix = json_prefix,
	.label = json_label,
	.who = json_who,
	.event = json_event,
	.stack = json_stack,
	.stack_within = 1,
	.args = json_args,
	.table = json_table,
	.row = json_row,
};

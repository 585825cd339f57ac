// SPDX-License-Identifier: LGPL-2.1-or-later
/* Listings and tables for people (paper, §1.2, figures 3 and 4). */
#include <inttypes.h>
#include <stdio.h>

#include "internal.h"
#include "trace/maps.h"
#include "trace/put.h"

#define NAME_COLUMN  24
#define COLUMN_MAX   16
#define PID_COLUMN   7
/* Stacks stand under the names, a bit further in. */
#define STACK_COLUMN 48

#define COLOR_OFF    "\033[0m"

/* Arguments from here on are likely to be addresses, and shown in hexadecimal. */
#define SMALL_MAX    0xffff

/*
 * A number right-aligned in a column, with a point before its last @decimals digits; 0 is for
 * none.
 */
static inline char *put_column(char *to, int64_t value, unsigned int width, unsigned int decimals)
{
	uint64_t positive = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char text[48], *end = text + sizeof(text), *begin = end;
	size_t bytes;

	/* The usual cases: written in place. */
	if (!decimals && value >= 0 && value < 10000 && width <= COLUMN_MAX) {
		memset(to, ' ', COLUMN_MAX);
		fkt_digits_before(to + width, positive);
		return to + width;
	}
	if (decimals == 3 && value >= 0 && value < 1000000 && width >= 7 && width <= COLUMN_MAX) {
		memset(to, ' ', COLUMN_MAX);
		to += width;
		/* A thousand more, so that zeros in front are written, and then overwritten. */
		fkt_digits_before(to, positive % 1000 + 1000);
		to[-4] = '.';
		fkt_digits_before(to - 4, positive / 1000);
		return to;
	}
	if (decimals) {
		for (unsigned int i = 0; i < decimals; i++) {
			*--begin = (char)('0' + positive % 10);
			positive /= 10;
		}
		*--begin = '.';
	}
	begin = fkt_digits_before(begin, positive);
	if (value < 0)
		*--begin = '-';
	bytes = (size_t)(end - begin);
	if (bytes < width) {
		memset(to, ' ', width - bytes);
		to += width - bytes;
	}
	return fkt_put_bytes(to, begin, bytes);
}

static char *pad(char *to, const char *begin, size_t columns)
{
	unsigned int width = fkt_width(begin, (size_t)(to - begin));

	columns -= width < columns ? width : columns;
	memset(to, ' ', columns);
	return to + columns;
}

/* ---- what an event holds ---- */

static char *put_pid(struct fkt_text *text, char *to, const struct fkt_field *field,
		     const struct fkt_event *event, uint64_t pid)
{
	to = fkt_put_name(text->trace, text->processes, field, event, pid, to);
	if (!pid)
		return to;
	*to++ = '[';
	to = fkt_put_unsigned(to, pid);
	*to++ = ']';
	return to;
}

/* The name of the number that ends at @to, behind a space. */
/* What stands for the number alone, if there is anything. */
static char *put_trigger(struct fkt_text *text, char *to, const struct fkt_field *field,
			 const struct fkt_event *event, uint64_t value)
{
	char *end = fkt_put_name(text->trace, text->processes, field, event, value, to);

	return end == to ? fkt_put_unsigned(to, value) : end;
}

static char *put_name(struct fkt_text *text, char *to, const struct fkt_field *field,
		      const struct fkt_event *event, uint64_t number)
{
	char *end = fkt_put_name(text->trace, text->processes, field, event, number, to + 1);

	if (end == to + 1)
		return to;
	*to = ' ';
	return end;
}

static char *put_address(struct fkt_text *text, char *to, const struct fkt_field *field,
			 const struct fkt_event *event, uint64_t address)
{
	char *end = fkt_put_name(text->trace, text->processes, field, event, address, to);

	return end == to ? fkt_put_hex(to, address) : end;
}

static char *put_argument(char *to, uint64_t value)
{
	if (fkt_is_errno(value))
		return fkt_put_signed(to, (int64_t)value);
	return value <= SMALL_MAX ? fkt_put_unsigned(to, value) : fkt_put_hex(to, value);
}

static char *put_char(char *to, unsigned char c)
{
	if (c < ' ' || c > '~')
		return fkt_put_hex(to, c);
	*to++ = '\'';
	*to++ = (char)c;
	*to++ = '\'';
	return to;
}

static char *put_result(struct fkt_text *text, char *to, const struct fkt_field *field,
			const struct fkt_event *event)
{
	int64_t value = (int64_t)fkt_result_number(field, event);

	to = fkt_put_bytes(to, "= ", 2);
	if (field->type == FKT_FIELD_RESULT_UNSIGNED)
		return fkt_put_unsigned(to, (uint64_t)value);
	if (value > INT32_MAX || value < INT32_MIN)
		return fkt_put_hex(to, (uint64_t)value);
	to = fkt_put_signed(to, value);
	return fkt_is_errno((uint64_t)value) ? put_name(text, to, field, event, (uint64_t)value)
					     : to;
}

static char *put_text(char *to, const struct fkt_field *field, const struct fkt_event *event)
{
	size_t bytes;
	const char *string = fkt_field_text(field, event, &bytes);

	return fkt_put_untrusted(to, string, bytes);
}

static char *put_field(struct fkt_text *text, char *to, const struct fkt_field *field,
		       const struct fkt_event *event);

/* "{1,2,3}" */
static char *put_array(struct fkt_text *text, char *to, const struct fkt_field *field,
		       const struct fkt_event *event)
{
	struct fkt_field element;

	for (unsigned int i = 0; i < field->elements; i++) {
		*to++ = i ? ',' : '{';
		element = fkt_field_element(field, i);
		to = put_field(text, to, &element, event);
	}
	*to++ = '}';
	return to;
}

static char *put_field(struct fkt_text *text, char *to, const struct fkt_field *field,
		       const struct fkt_event *event)
{
	char letters[FKT_STATE_BYTES], *name;
	uint64_t value;

	switch (field->type) {
	case FKT_FIELD_COMM:
	case FKT_FIELD_STRING:
		return put_text(to, field, event);
	case FKT_FIELD_QUOTED:
		*to++ = '"';
		to = put_text(to, field, event);
		*to++ = '"';
		return to;
	case FKT_FIELD_RESULT:
	case FKT_FIELD_RESULT_UNSIGNED:
		return put_result(text, to, field, event);
	case FKT_FIELD_VOID:
		return fkt_put_bytes(to, "= void", 6);
	case FKT_FIELD_ARRAY:
		return put_array(text, to, field, event);
	default:
		break;
	}
	value = fkt_field_number(field, event);
	switch (field->type) {
	case FKT_FIELD_SIGNED:
		return fkt_put_signed(to, (int64_t)value);
	case FKT_FIELD_HEX:
		return fkt_put_hex(to, value);
	case FKT_FIELD_PID:
		return put_pid(text, to, field, event, value);
	case FKT_FIELD_IRQ:
	case FKT_FIELD_SOFTIRQ:
	case FKT_FIELD_TRAP:
		return put_name(text, fkt_put_unsigned(to, value), field, event, value);
	case FKT_FIELD_ENUM:
		name = fkt_put_name(text->trace, text->processes, field, event, value, to);
		return name != to ? name : fkt_put_signed(to, (int64_t)value);
	case FKT_FIELD_DEVICE:
	case FKT_FIELD_CODE:
		return fkt_put_name(text->trace, text->processes, field, event, value, to);
	case FKT_FIELD_TRIGGER:
		return put_trigger(text, to, field, event, value);
	case FKT_FIELD_STATE:
		fkt_state_letters((uint32_t)value, letters);
		return fkt_put_string(to, letters, sizeof(letters));
	case FKT_FIELD_SYMBOL:
	case FKT_FIELD_FUNCTION:
		return put_address(text, to, field, event, value);
	case FKT_FIELD_CHAR:
		return put_char(to, (unsigned char)value);
	case FKT_FIELD_ARGUMENT:
		return put_argument(to, value);
	default:
		return fkt_put_unsigned(to, value);
	}
}

/* ---- a listing ---- */

/* To the nearest. */
static int64_t divide(int64_t ns, int64_t unit)
{
	const int64_t twice = ns % unit * 2;

	return ns / unit + (twice >= unit) - (twice <= -unit);
}

/* "365 ns", "1.234 us", in the unit that fits, as wide as a column. */
static char *put_fitting(char *to, int64_t ns)
{
	uint64_t positive = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	if (positive < FKT_NS_PER_US)
		return fkt_put_bytes(put_column(to, ns, 9, 0), " ns", 3);
	if (positive < FKT_NS_PER_MS)
		return fkt_put_bytes(put_column(to, ns, 9, 3), " us", 3);
	if (positive < FKT_NS_PER_SECOND - FKT_NS_PER_US / 2)
		return fkt_put_bytes(put_column(to, divide(ns, FKT_NS_PER_US), 9, 3), " ms", 3);
	return fkt_put_bytes(put_column(to, divide(ns, FKT_NS_PER_MS), 10, 3), " s", 2);
}

static char *put_time(struct fkt_text *text, char *to, uint64_t stamp)
{
	int64_t since = (int64_t)(stamp - text->last);

	switch (text->time) {
	case FKT_TIME_CYCLES:
		return put_column(to, since, 12, 0);
	case FKT_TIME_NS:
		return put_column(to, fkt_cycles_to_ns(text->trace, since), 12, 0);
	case FKT_TIME_US:
		return put_column(to, fkt_cycles_to_ns(text->trace, since), 12, 3);
	case FKT_TIME_FIT:
		return put_fitting(to, fkt_cycles_to_ns(text->trace, since));
	case FKT_TIME_REL:
		since = (int64_t)(stamp - text->first);
		return put_column(to, fkt_cycles_to_ns(text->trace, since), 14, 9);
	default:
		return fkt_put_date(&text->date, to, fkt_wall_ns(text->trace, stamp));
	}
}

static char *plain_header(const struct fkt_text *text, char *to)
{
	static const char *const times[] = {
		[FKT_TIME_CYCLES] = "      Cycles",
		[FKT_TIME_NS] = "          ns",
		[FKT_TIME_US] = "          us",
		[FKT_TIME_REL] = "       Seconds",
		[FKT_TIME_ABS] = "Time                         ",
		[FKT_TIME_FIT] = "       Since",
	};
	int bytes = sprintf(to, "%s  CPU     Pid %-16s Code  %-24s %s\n", times[text->time],
			    "Process", "Name", "Arguments");

	to += bytes;
	memset(to, '-', (size_t)bytes - 1);
	to += bytes - 1;
	*to++ = '\n';
	return to;
}

static unsigned int plain_fields(const struct fkt_trace *trace, uint32_t code,
				 struct fkt_field fields[FKT_FIELDS_MAX])
{
	/* "find[730] S ==> idle" */
	static const struct fkt_field of_switch[] = {
		{ .type = FKT_FIELD_PID, .bytes = 4, .offset = 0, .bare = true },
		{ .type = FKT_FIELD_STATE, .bytes = 2, .immediate = true, .bare = true },
		{ .type = FKT_FIELD_PID, .bytes = 4, .offset = 4, .name = "==> " },
	};

	if (code != FKT_CODE_SWITCH)
		return fkt_fields(trace, code, fields);
	memcpy(fields, of_switch, sizeof(of_switch));
	return sizeof(of_switch) / sizeof(of_switch[0]);
}

static void plain_prefix(struct fkt_shown *shown, uint32_t code)
{
	if (!shown->field.bare)
		shown->prefix_bytes = (uint8_t)snprintf(shown->prefix, sizeof(shown->prefix),
							"%s%s", shown->field.name,
							code == FKT_CODE_SWITCH ? "" : "=");
}

static const char *color_of(const struct fkt_code_row *row)
{
	if (!row)
		return "\033[2m";
	switch (row->kind) {
	case FKT_KIND_ENTRY:
		return "\033[32m";
	case FKT_KIND_EXIT:
		return "\033[2;32m";
	case FKT_KIND_CPU_ENTRY:
		return "\033[33m";
	case FKT_KIND_CPU_EXIT:
		return "\033[2;33m";
	default:
		return "\033[36m";
	}
}

/* "0101  sys_openat               " */
static char *plain_label(const struct fkt_text *text, char *to, uint32_t code, const char *name,
			 unsigned int fields)
{
	to += sprintf(to, "%04x  ", code);
	if (text->color)
		to = fkt_put_word(to, color_of(fkt_code_row(text->trace, code)));
	to = fkt_put_string(to, name, FKT_NAME_BYTES);
	if (fields)
		to = pad(to, to - strlen(name), NAME_COLUMN);
	if (text->color)
		to = fkt_put_word(to, COLOR_OFF);
	return to;
}

/* "   0     730 find             " */
static char *plain_who(const struct fkt_text *text, char *to, const struct fkt_event *event,
		       const char *comm)
{
	char *name;

	(void)text;
	to = put_column(to, event->cpu, 4, 0);
	*to++ = ' ';
	if (event->pid == FKT_PID_UNKNOWN) {
		memset(to, ' ', PID_COLUMN - 1);
		to += PID_COLUMN - 1;
		*to++ = '?';
	} else {
		to = put_column(to, event->pid, PID_COLUMN, 0);
	}
	*to++ = ' ';
	name = to;
	to = fkt_put_string(to, comm, FKT_COMM_BYTES);
	to = pad(to, name, FKT_COMM_BYTES);
	*to++ = ' ';
	return to;
}

static char *plain_event(struct fkt_text *text, char *to, const struct fkt_who *who,
			 const struct fkt_label *label, const struct fkt_event *event)
{
	const struct fkt_shown *shown = label->field;

	to = put_time(text, to, event->stamp);
	to = fkt_put_padded(to, who->text, who->text_bytes, 32);
	to = fkt_put_padded(to, label->text, label->text_bytes, 32);
	for (; shown < label->field + label->fields; shown++) {
		if (!fkt_field_is_there(&shown->field, event))
			break;
		*to++ = ' ';
		to = fkt_put_padded(to, shown->prefix, shown->prefix_bytes, 8);
		to = put_field(text, to, &shown->field, event);
	}
	while (to[-1] == ' ')
		to--;
	return to;
}

static char *put_stack_line(char *to)
{
	*to++ = '\n';
	memset(to, ' ', STACK_COLUMN);
	return to + STACK_COLUMN;
}

/* Lines of their own, under the name. */
static char *plain_stack(const struct fkt_text *text, char *to, const struct fkt_stack *stack)
{
	struct fkt_stack placed;

	if (!stack)
		return to;
	stack = fkt_stack_placed(text->trace, stack, &placed);
	for (unsigned int i = stack->known ? fkt_stack_begin(text->trace, stack) : 0;
	     i < stack->count; i++) {
		to = put_stack_line(to);
		to = fkt_put_frame(text->trace, to, stack, i);
	}
	if (!stack->known || stack->cut)
		to = fkt_put_word(put_stack_line(to),
				  stack->known ? "..." : "(stack not recorded)");
	return to;
}

/* What the name of a row of its own says: the number of an IRQ, the function at an address. */
static bool is_in_name(const struct fkt_field *field, uint32_t row)
{
	return row >= FKT_ROW_IRQ &&
	       (field->type == FKT_FIELD_IRQ || field->type == FKT_FIELD_SOFTIRQ ||
		field->type == FKT_FIELD_FUNCTION);
}

/* "fd=3, count=4096", or "= 12": that a function has no result need not be said here. */
static char *plain_args(struct fkt_text *text, char *to, const struct fkt_label *label,
			const struct fkt_event *event, bool exit, uint32_t row)
{
	const struct fkt_shown *shown = label->field;
	char *begin = to;

	for (; shown < label->field + label->fields; shown++) {
		if (!fkt_field_is_there(&shown->field, event))
			break;
		if (is_in_name(&shown->field, row) || shown->field.type == FKT_FIELD_VOID)
			continue;
		if (to != begin)
			to = fkt_put_word(to, exit ? " " : ", ");
		to = fkt_put_padded(to, shown->prefix, shown->prefix_bytes, 8);
		to = put_field(text, to, &shown->field, event);
	}
	return to;
}

/* From when on, in seconds from the first event that is listed, and why. */
static char *put_discarded(const struct fkt_text *text, char *to, uint64_t after)
{
	const char *limit = fkt_info(text->trace, "limit_reached");
	int64_t since = (int64_t)(after - text->first);

	if (after && text->begun) {
		to += sprintf(to, " after ");
		to = put_column(to, fkt_cycles_to_ns(text->trace, since), 0, 9);
		to += sprintf(to, " s");
	}
	return to + sprintf(to, ", because %s",
			    limit && !strcmp(limit, "1") ? "the size limit was reached"
							 : "the output did not take them");
}

static char *plain_gap(const struct fkt_text *text, char *to, const struct fkt_gap *gap)
{
	static const char *const whats[][2] = {
		[FKT_GAP_LOST] = { "event lost", "events lost" },
		[FKT_GAP_MISSING] = { "page missing", "pages missing" },
		[FKT_GAP_DAMAGED] = { "page damaged", "pages damaged" },
		[FKT_GAP_DISCARDED] = { "event discarded", "events discarded" },
	};

	to += sprintf(to, "*** lane %u", gap->lane);
	if (gap->cpu != FKT_CPU_ANY)
		to += sprintf(to, " (CPU %u)", gap->cpu);
	if (gap->kind == FKT_GAP_OVERWRITTEN)
		return to + sprintf(to, ": what came before was overwritten ***");
	to += sprintf(to, ": %" PRIu64 " %s", gap->count, whats[gap->kind][gap->count != 1]);
	if (gap->kind == FKT_GAP_DISCARDED)
		to = put_discarded(text, to, gap->after);
	return to + sprintf(to, " ***");
}

/* ---- tables ---- */

static void plain_table(struct fkt_output *out, const struct fkt_column *columns)
{
	fkt_layout_begin(out, columns);
}

static void plain_row(struct fkt_output *out, const char *name, const struct fkt_column *columns,
		      const union fkt_cell *cells, bool strong)
{
	(void)name;
	(void)columns;
	fkt_layout_row(out, cells, strong);
}

static void plain_remark(struct fkt_output *out, const char *line)
{
	fkt_layout_end(out);
	fputs(line, out->file);
	fputc('\n', out->file);
}

const struct fkt_format fkt_format_plain = {
	.name = "text",
	.about = "",
	.for_people = true,
	.line_bytes = 48 << 10, /* two stacks of 112 frames; 15 words of symbols need less */
	.header = plain_header,
	.fields = plain_fields,
	.prefix = plain_prefix,
	.label = plain_label,
	.who = plain_who,
	.event = plain_event,
	.stack = plain_stack,
	.args = plain_args,
	.gap = plain_gap,
	.table = plain_table,
	.row = plain_row,
	.end = fkt_layout_end,
	.remark = plain_remark,
};

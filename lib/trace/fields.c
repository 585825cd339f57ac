// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The fields of an event: what its words and its immediate are, by the spec of its code's row (see
 * codes.h). Whoever shows an event, or groups by it, asks here, once a code.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fields.h"
#include "maps.h"

/* A name, beside the number that has it. */
#define NAME_OF	   "_name"
/* Of a device's number. */
#define MINOR_BITS 20

/* clang-format off */
static const struct field_kind {
	const char *name;
	enum fkt_field_type type;
	uint8_t bytes; /* 0: all that remain */
	bool bare;     /* speaks for itself: people are shown it without its name */
} field_kinds[] = {
	{ "s8", FKT_FIELD_SIGNED, 1, false },
	{ "s16", FKT_FIELD_SIGNED, 2, false },
	{ "s32", FKT_FIELD_SIGNED, 4, false },
	{ "s64", FKT_FIELD_SIGNED, 8, false },
	{ "u8", FKT_FIELD_UNSIGNED, 1, false },
	{ "u16", FKT_FIELD_UNSIGNED, 2, false },
	{ "u32", FKT_FIELD_UNSIGNED, 4, false },
	{ "u64", FKT_FIELD_UNSIGNED, 8, false },
	{ "x8", FKT_FIELD_HEX, 1, false },
	{ "x16", FKT_FIELD_HEX, 2, false },
	{ "x32", FKT_FIELD_HEX, 4, false },
	{ "x64", FKT_FIELD_HEX, 8, false },
	{ "cycles", FKT_FIELD_CYCLES, 8, false },
	{ "pid", FKT_FIELD_PID, 4, false },
	{ "irq", FKT_FIELD_IRQ, 2, true },
	{ "softirq", FKT_FIELD_SOFTIRQ, 2, true },
	{ "trap", FKT_FIELD_TRAP, 2, true },
	{ "enum8", FKT_FIELD_ENUM, 1, false }, /* with its names behind it: "{NAME=NUMBER,…}" */
	{ "enum16", FKT_FIELD_ENUM, 2, false },
	{ "enum32", FKT_FIELD_ENUM, 4, false },
	{ "enum64", FKT_FIELD_ENUM, 8, false },
	{ "dev", FKT_FIELD_DEVICE, 4, false },
	{ "trigger", FKT_FIELD_TRIGGER, 2, true },
	{ "state", FKT_FIELD_STATE, 2, true },
	{ "sym", FKT_FIELD_SYMBOL, 8, false },
	{ "func", FKT_FIELD_FUNCTION, 8, true },
	{ "comm", FKT_FIELD_COMM, FKT_COMM_BYTES, true },
	{ "str", FKT_FIELD_STRING, 0, true },
	{ "string", FKT_FIELD_QUOTED, 0, false }, /* or "stringN", of N bytes */
	{ "char", FKT_FIELD_CHAR, 1, false },
	{ "args", FKT_FIELD_ARGUMENT, 0, true },
	{ "arg", FKT_FIELD_ARGUMENT, 8, false },
	{ "ret", FKT_FIELD_RESULT, 0, true },
	{ "rets8", FKT_FIELD_RESULT, 1, true },
	{ "rets16", FKT_FIELD_RESULT, 2, true },
	{ "rets32", FKT_FIELD_RESULT, 4, true },
	{ "retu8", FKT_FIELD_RESULT_UNSIGNED, 1, true },
	{ "retu16", FKT_FIELD_RESULT_UNSIGNED, 2, true },
	{ "retu32", FKT_FIELD_RESULT_UNSIGNED, 4, true },
	{ "void", FKT_FIELD_VOID, 0, true },
	{ "code", FKT_FIELD_CODE, 4, true },
};
/* clang-format on */

/* ---- the spec of a code ---- */

/* Whether fields already have this name, or their names do. */
static bool is_taken(const struct fkt_field *fields, unsigned int n, const char *name)
{
	size_t bytes;

	for (unsigned int i = 0; i < n; i++) {
		bytes = strlen(fields[i].name);
		if (!strncmp(fields[i].name, name, bytes) &&
		    (!name[bytes] ||
		     (fkt_field_is_named(&fields[i]) && !strcmp(name + bytes, NAME_OF))))
			return true;
	}
	return false;
}

/* Room for "_" and the number of a field. */
#define NUMBER_BYTES 3

/*
 * Give a field its name, as the spec has it, but that it needs no quoting; where there is one of
 * that name before it, with a number behind it.
 */
static void set_name(struct fkt_field *fields, unsigned int n, const char *name, size_t bytes)
{
	struct fkt_field *field = &fields[n];
	size_t keep = bytes < sizeof(field->name) - 2 ? bytes : sizeof(field->name) - 2;
	char base[FKT_FIELD_NAME_BYTES], with_name[FKT_FIELD_NAME_BYTES + sizeof(NAME_OF)];

	snprintf(base, sizeof(base), "%.*s", (int)keep, name);
	fkt_sanitize(base);
	for (char *c = base; (c = strpbrk(c, "\"\\")); c++)
		*c = '?';
	strcpy(field->name, base);
	for (unsigned int i = 2; i <= FKT_FIELDS_MAX; i++) {
		snprintf(with_name, sizeof(with_name), "%s" NAME_OF, field->name);
		if (!is_taken(fields, n, field->name) &&
		    (!fkt_field_is_named(field) || !is_taken(fields, n, with_name)))
			return;
		snprintf(field->name, sizeof(field->name), "%.*s_%u",
			 (int)sizeof(field->name) - 2 - NUMBER_BYTES, base, i);
		fkt_sanitize(field->name);
	}
}

/* Fields for the arguments of a system call, and for those that its table does not name. */
static unsigned int argument_fields(struct fkt_field *fields, unsigned int n, unsigned int offset,
				    const struct fkt_syscall *call)
{
	const char *name = call ? call->args : "";
	char number[16];
	size_t bytes;

	for (unsigned int i = 0; offset + 8 <= FKT_SLOT_WORDS_MAX * 8 && i < FKT_CALL_ARGS;
	     offset += 8, i++, n++) {
		fields[n] = (struct fkt_field){
			.type = FKT_FIELD_ARGUMENT,
			.bytes = 8,
			.offset = (uint8_t)offset,
		};
		bytes = strcspn(name, ",");
		if (bytes) {
			set_name(fields, n, name, bytes);
		} else {
			snprintf(number, sizeof(number), "arg%u", i);
			set_name(fields, n, number, strlen(number));
		}
		name += bytes;
		name += *name == ',';
	}
	return n;
}

/* The N of "stringN": a whole number of words. 0: it is no such type. */
static uint8_t string_bytes(const char *name, size_t bytes)
{
	static const char string[] = "string";
	const size_t prefix = sizeof(string) - 1;
	unsigned long value;
	char *end;

	if (bytes <= prefix || memcmp(name, string, prefix) || name[prefix] < '1' ||
	    name[prefix] > '9')
		return 0;
	value = strtoul(name + prefix, &end, 10);
	return end == name + bytes && value <= FKT_SLOT_WORDS_MAX * 8 && value % 8 == 0
		       ? (uint8_t)value
		       : 0;
}

/* The N of "TYPE[N]", an array; *bytes is then that of TYPE. 0: it is none. */
static uint8_t array_elements(const char *name, size_t *bytes)
{
	const char *open = memchr(name, '[', *bytes);
	unsigned long value;
	char *end;

	if (!open || open[1] < '1' || open[1] > '9')
		return 0;
	value = strtoul(open + 1, &end, 10);
	if (*end != ']' || end + 1 != name + *bytes || value > FKT_SLOT_WORDS_MAX * 8)
		return 0;
	*bytes = (size_t)(open - name);
	return (uint8_t)value;
}

/* What a number may be that stands in an array. */
static bool is_element(const struct field_kind *kind)
{
	const enum fkt_field_type type = kind->type;

	/* Of small ones there are so many in an event that their names have no room in a line. */
	if (type == FKT_FIELD_ENUM)
		return kind->bytes >= 4;
	return type == FKT_FIELD_SIGNED || type == FKT_FIELD_UNSIGNED || type == FKT_FIELD_HEX ||
	       type == FKT_FIELD_SYMBOL || type == FKT_FIELD_CHAR || type == FKT_FIELD_DEVICE;
}

/* The names behind an enum's type, NULL where there are none. */
static const char *enum_names(const char *name, size_t bytes)
{
	const char *open = memchr(name, '{', bytes);

	return open && name[bytes - 1] == '}' ? open + 1 : NULL;
}

static const struct field_kind *find_kind(const char *name, size_t bytes)
{
	const char *names = enum_names(name, bytes);

	if (names)
		bytes = (size_t)(names - 1 - name);
	else if (string_bytes(name, bytes))
		bytes = strlen("string");
	for (size_t i = 0; i < sizeof(field_kinds) / sizeof(field_kinds[0]); i++)
		if (strlen(field_kinds[i].name) == bytes &&
		    !memcmp(field_kinds[i].name, name, bytes))
			return (field_kinds[i].type == FKT_FIELD_ENUM) == !!names ? &field_kinds[i]
										  : NULL;
	return NULL;
}

/* What does not fit into an immediate: text, and addresses, whose names are long. */
static bool is_too_large(enum fkt_field_type type)
{
	return type == FKT_FIELD_COMM || type == FKT_FIELD_STRING || type == FKT_FIELD_QUOTED ||
	       type == FKT_FIELD_SYMBOL || type == FKT_FIELD_FUNCTION;
}

/* Work out a code's fields from its row's spec. Stops at a type that it does not know. */
static unsigned int parse_spec(const struct fkt_trace *trace, const struct fkt_code_row *row,
			       uint32_t code, struct fkt_field *fields)
{
	bool compat = !strncmp(row->spec, "#compat", 7);
	bool words = !strncmp(row->spec, "#words", 6);
	const char *word = row->spec, *colon;
	const struct field_kind *kind;
	unsigned int n = 0, offset = 0;
	struct fkt_field *field;
	size_t bytes, type_bytes;
	uint8_t elements;
	bool immediate;

	/* The last ones are left for the arguments of a system call. */
	for (; *word && n < FKT_FIELDS_MAX - FKT_CALL_ARGS; word += bytes) {
		word += strspn(word, " ");
		bytes = strcspn(word, " ");
		if (*word == '#')
			continue;
		immediate = *word == '@';
		word += immediate;
		bytes -= immediate;
		colon = memchr(word, ':', bytes);
		type_bytes = colon ? bytes - (size_t)(colon + 1 - word) : 0;
		elements = colon ? array_elements(colon + 1, &type_bytes) : 0;
		kind = colon ? find_kind(colon + 1, type_bytes) : NULL;
		if (!kind || (immediate && (is_too_large(kind->type) || elements)))
			break;
		if (elements &&
		    (!is_element(kind) || elements * kind->bytes > FKT_SLOT_WORDS_MAX * 8))
			break;
		if (kind->type == FKT_FIELD_ARGUMENT && !kind->bytes)
			return argument_fields(fields, n, offset,
					       fkt_syscall(trace, compat, code - row->first));

		/* Numbers are aligned to their size, as in C. */
		if (words || kind->type == FKT_FIELD_QUOTED)
			offset = (offset + 7) & ~7u;
		else if (!immediate && kind->bytes && kind->bytes <= 8)
			offset = (offset + kind->bytes - 1) & ~(kind->bytes - 1u);
		field = &fields[n];
		*field = (struct fkt_field){
			.type = kind->type,
			.bytes = kind->bytes,
			.offset = (uint8_t)offset,
			.immediate = immediate,
			.bare = kind->bare || (kind->type == FKT_FIELD_PID && colon - word == 3 &&
					       !memcmp(word, "pid", 3)),
			.unit = kind->type == FKT_FIELD_CYCLES ? "cycles" : "",
		};
		if (kind->type == FKT_FIELD_ENUM)
			field->names = enum_names(colon + 1, type_bytes);
		if (elements) {
			field->type = FKT_FIELD_ARRAY;
			field->bytes = (uint8_t)(elements * kind->bytes);
			field->element = (uint8_t)kind->type;
			field->elements = elements;
		}
		if (kind->type == FKT_FIELD_QUOTED)
			field->bytes = string_bytes(colon + 1, bytes - (size_t)(colon + 1 - word));
		if (!immediate)
			offset += field->bytes;
		if (offset > FKT_SLOT_WORDS_MAX * 8)
			break;
		set_name(fields, n++, word, (size_t)(colon - word));
		if (!immediate && !field->bytes)
			break;
	}
	return n;
}

unsigned int fkt_fields(const struct fkt_trace *trace, uint32_t code,
			struct fkt_field fields[FKT_FIELDS_MAX])
{
	const struct fkt_code_row *row = fkt_code_row(trace, code);

	return row ? parse_spec(trace, row, code, fields) : argument_fields(fields, 0, 0, NULL);
}

uint8_t fkt_function_field(const struct fkt_trace *trace, uint32_t code)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int n = fkt_fields(trace, code, fields);

	for (unsigned int i = 0; i < n; i++)
		if (fields[i].type == FKT_FIELD_FUNCTION && !fields[i].immediate)
			return fields[i].offset;
	return FKT_NO_FUNCTION;
}

/* ---- values ---- */

bool fkt_field_value(const struct fkt_field *field, const struct fkt_event *event,
		     struct fkt_value *value)
{
	*value = (struct fkt_value){ .kind = FKT_VALUE_NONE };
	if (!fkt_field_is_there(field, event))
		return false;
	switch (field->type) {
	case FKT_FIELD_COMM:
	case FKT_FIELD_STRING:
	case FKT_FIELD_QUOTED:
		value->kind = FKT_VALUE_TEXT;
		value->text = fkt_field_text(field, event, &value->bytes);
		value->bytes = strnlen(value->text, value->bytes);
		return true;
	case FKT_FIELD_ARRAY:
		value->kind = FKT_VALUE_ARRAY;
		value->text = fkt_field_text(field, event, &value->bytes);
		return true;
	case FKT_FIELD_VOID:
		return false;
	default:
		value->kind = fkt_field_is_signed(field) ? FKT_VALUE_SIGNED : FKT_VALUE_UNSIGNED;
		value->number = fkt_field_number(field, event);
		return true;
	}
}

static char *put_symbol(struct fkt_trace *trace, char *to, uint64_t address, bool function)
{
	struct fkt_symbol symbol;

	if (!fkt_symbol(trace, address, &symbol))
		return to;
	to = fkt_put_string(to, symbol.name, FKT_SYMBOL_BYTES);
	if (!function || symbol.offset) {
		*to++ = '+';
		to = fkt_put_hex(to, symbol.offset);
	}
	if (symbol.module) {
		to = fkt_put_bytes(to, " [", 2);
		to = fkt_put_string(to, symbol.module, FKT_MODULE_BYTES);
		*to++ = ']';
	}
	return to;
}

/* Whether a frame is of what an interrupt or an exception has interrupted: their entries' names. */
static bool is_interrupted(struct fkt_trace *trace, const struct fkt_stack *stack, unsigned int i)
{
	static const char entry[] = "asm_";
	struct fkt_symbol symbol;

	return i && fkt_symbol(trace, stack->frame[i - 1] - 1, &symbol) &&
	       !strncmp(symbol.name, entry, sizeof(entry) - 1);
}

static bool is_kernel(uint64_t frame)
{
	return frame >= FKT_FRAME_KERNEL;
}

/* Whether it is a frame, and not one of FKT_FRAME_CUT and its like, which stand for others. */
static bool is_frame(uint64_t frame)
{
	return is_kernel(frame) || frame < FKT_FRAME_CUT;
}

static char *put_mark(char *to, uint64_t frame)
{
	if (frame == FKT_FRAME_CUT)
		return fkt_put_word(to, "...");
	return fkt_put_word(to, frame == FKT_FRAME_FAULT ? "(stack not in memory)"
							 : "(stack not recorded)");
}

static char *put_file(struct fkt_trace *trace, char *to, uint64_t place)
{
	*to++ = '(';
	to = fkt_put_string(to, fkt_frame_file(trace, place), FKT_MODULE_BYTES);
	*to++ = ')';
	return to;
}

/*
 * Where a program's frame is; frames return behind a call, but not the innermost one, which is
 * where the program came into the kernel.
 */
static uint64_t place_of(struct fkt_trace *trace, const struct fkt_stack *stack, unsigned int i,
			 unsigned int *back)
{
	*back = i && !is_kernel(stack->frame[i - 1]) && is_frame(stack->frame[i - 1]);
	return fkt_frame_place(trace, stack, stack->frame[i]);
}

static char *put_kernel_frame(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			      unsigned int i)
{
	/* Others return behind a call, which may be the last instruction of its function. */
	const uint64_t back = !is_interrupted(trace, stack, i) && !(stack->exact && !i);
	struct fkt_symbol symbol;

	if (!fkt_symbol(trace, stack->frame[i] - back, &symbol))
		return fkt_put_hex(to, stack->frame[i]);
	to = fkt_put_string(to, symbol.name, FKT_FRAME_NAME_BYTES);
	*to++ = '+';
	to = fkt_put_hex(to, symbol.offset + back);
	if (symbol.module) {
		to = fkt_put_bytes(to, " [", 2);
		to = fkt_put_string(to, symbol.module, FKT_MODULE_BYTES);
		*to++ = ']';
	}
	return to;
}

char *fkt_put_frame(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
		    unsigned int i)
{
	uint64_t place, into;
	unsigned int back;
	const char *name;

	if (is_kernel(stack->frame[i]))
		return put_kernel_frame(trace, to, stack, i);
	if (!is_frame(stack->frame[i]))
		return put_mark(to, stack->frame[i]);
	place = place_of(trace, stack, i, &back);
	if (!(place & FKT_FRAME_FILE))
		return fkt_put_hex(to, place);
	if (!fkt_frame_function(trace, place, back, &name, &into)) {
		to = put_file(trace, to, place);
		*to++ = '+';
		return fkt_put_hex(to, place & FKT_FRAME_FILE_OFFSET);
	}
	to = fkt_put_string(to, name, FKT_FRAME_NAME_BYTES);
	*to++ = '+';
	to = fkt_put_hex(to, into + back);
	*to++ = ' ';
	return put_file(trace, to, place);
}

char *fkt_put_frame_name(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			 unsigned int i)
{
	const char *object;

	return fkt_put_frame_names(trace, to, stack, i, &object);
}

char *fkt_put_frame_names(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			  unsigned int i, const char **object)
{
	const uint64_t frame = stack->frame[i];
	struct fkt_symbol symbol;
	uint64_t place, into;
	unsigned int back;
	const char *name;

	*object = NULL;
	if (is_kernel(frame)) {
		back = i && !is_interrupted(trace, stack, i);
		*object = "kernel";
		if (!fkt_symbol(trace, frame - back, &symbol))
			return fkt_put_hex(to, frame);
		if (symbol.module)
			*object = symbol.module;
		return fkt_put_string(to, symbol.name, FKT_FRAME_NAME_BYTES);
	}
	if (!is_frame(frame))
		return put_mark(to, frame);
	place = place_of(trace, stack, i, &back);
	if (!(place & FKT_FRAME_FILE))
		return fkt_put_hex(to, place);
	*object = fkt_frame_file(trace, place);
	if (fkt_frame_function(trace, place, back, &name, &into))
		return fkt_put_string(to, name, FKT_FRAME_NAME_BYTES);
	return put_file(trace, to, place);
}

unsigned int fkt_stack_begin(struct fkt_trace *trace, const struct fkt_stack *stack)
{
	static const char iterator[] = "__traceiter_";
	struct fkt_symbol symbol;
	unsigned int i = 0;

	/* There, that is what was interrupted. */
	if (stack->exact)
		return 0;
	while (i < stack->count && is_kernel(stack->frame[i]) &&
	       fkt_symbol(trace, stack->frame[i] - 1, &symbol) &&
	       !strncmp(symbol.name, iterator, sizeof(iterator) - 1))
		i++;
	return i;
}

/* The name that an enum has for a number. */
static char *put_enum(char *to, const struct fkt_field *field, uint64_t number)
{
	const uint64_t mask = UINT64_MAX >> (64 - 8 * field->bytes);
	const char *name = field->names, *equals;
	char text[FKT_NUMBER_NAME_BYTES + 1];

	for (; name && *name && *name != '}'; name += *name == ',') {
		size_t bytes = strcspn(name, ",}");

		equals = memchr(name, '=', bytes);
		if (equals > name && ((strtoull(equals + 1, NULL, 10) ^ number) & mask) == 0) {
			snprintf(text, sizeof(text), "%.*s", (int)(equals - name), name);
			fkt_sanitize(text);
			return fkt_put_word(to, text);
		}
		name += bytes;
	}
	return to;
}

char *fkt_put_name(struct fkt_trace *trace, struct fkt_processes *processes,
		   const struct fkt_field *field, const struct fkt_event *event, uint64_t number,
		   char *to)
{
	char code_name[FKT_NAME_BYTES];
	const char *name = NULL;
	uint32_t id;

	switch (field->type) {
	case FKT_FIELD_PID:
		id = fkt_process_id(processes, (uint32_t)number, event->cpu);
		return fkt_put_string(to, fkt_process(processes, id)->comm, FKT_COMM_BYTES);
	case FKT_FIELD_SYMBOL:
	case FKT_FIELD_FUNCTION:
		return put_symbol(trace, to, number, field->type == FKT_FIELD_FUNCTION);
	case FKT_FIELD_IRQ:
		name = fkt_irq_name(trace, (uint32_t)number);
		break;
	case FKT_FIELD_SOFTIRQ:
		name = fkt_softirq_name((uint32_t)number);
		break;
	case FKT_FIELD_TRAP:
		name = fkt_trap_name(trace, (uint32_t)number);
		break;
	case FKT_FIELD_CODE:
		if (number < FKT_SLOT_CODES)
			fkt_code_name(trace, (uint32_t)number, code_name);
		name = number < FKT_SLOT_CODES ? code_name : NULL;
		break;
	case FKT_FIELD_TRIGGER:
		name = fkt_trigger_name(trace, (uint32_t)number);
		break;
	case FKT_FIELD_ENUM:
		return put_enum(to, field, number);
	case FKT_FIELD_DEVICE:
		to = fkt_put_unsigned(to, number >> MINOR_BITS);
		*to++ = ':';
		return fkt_put_unsigned(to, number & ((1u << MINOR_BITS) - 1));
	case FKT_FIELD_RESULT:
		if (fkt_is_errno(number))
			name = fkt_errno_name((int)-(int64_t)number);
		break;
	default:
		break;
	}
	return name ? fkt_put_string(to, name, FKT_NUMBER_NAME_BYTES) : to;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as lines of text (paper, §1.2, figure 3).
 *
 * What a line of some code looks like is worked out when the code first comes, and kept: its fixed
 * part as text, its arguments as a list of operations. What stands for a CPU's thread is kept
 * likewise. So a line costs copies and the conversion of its numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define BUFFER_BYTES (256 << 10)
/* No line is longer: 15 words of symbols, or 60 16-bit fields with their names. */
#define LINE_BYTES   (16 << 10)

#define NAME_COLUMN  24
#define COLUMN_MAX   16
#define PID_COLUMN   7
#define FIELDS_MAX   60
#define PREFIX_BYTES 32
#define SYMBOL_BYTES 512
#define IRQ_BYTES    128

/* Arguments and results from here on are likely to be addresses, and shown in hexadecimal. */
#define SMALL_MAX    0xffff
#define ERRNO_MAX    4095

enum field_type {
	FIELD_SIGNED,
	FIELD_UNSIGNED,
	FIELD_HEX,
	FIELD_PID,
	FIELD_IRQ,
	FIELD_SOFTIRQ,
	FIELD_TRAP,
	FIELD_STATE,
	FIELD_SYMBOL,
	FIELD_FUNCTION,
	FIELD_COMM,
	FIELD_STRING,
	FIELD_QUOTED,
	FIELD_CHAR,
	FIELD_ARGUMENT,
	FIELD_RESULT,
	FIELD_RESULT_UNSIGNED,
	FIELD_VOID,
};

/* clang-format off */
static const struct field_kind {
	const char *name;
	enum field_type type;
	uint8_t bytes; /* 0: all that remain */
	bool bare;     /* speaks for itself: shown without its name */
} field_kinds[] = {
	{ "s8", FIELD_SIGNED, 1, false },
	{ "s16", FIELD_SIGNED, 2, false },
	{ "s32", FIELD_SIGNED, 4, false },
	{ "s64", FIELD_SIGNED, 8, false },
	{ "u8", FIELD_UNSIGNED, 1, false },
	{ "u16", FIELD_UNSIGNED, 2, false },
	{ "u32", FIELD_UNSIGNED, 4, false },
	{ "u64", FIELD_UNSIGNED, 8, false },
	{ "x8", FIELD_HEX, 1, false },
	{ "x16", FIELD_HEX, 2, false },
	{ "x32", FIELD_HEX, 4, false },
	{ "x64", FIELD_HEX, 8, false },
	{ "cycles", FIELD_UNSIGNED, 8, false },
	{ "pid", FIELD_PID, 4, false },
	{ "irq", FIELD_IRQ, 2, true },
	{ "softirq", FIELD_SOFTIRQ, 2, true },
	{ "trap", FIELD_TRAP, 2, true },
	{ "state", FIELD_STATE, 2, true },
	{ "sym", FIELD_SYMBOL, 8, false },
	{ "func", FIELD_FUNCTION, 8, true },
	{ "comm", FIELD_COMM, FKT_COMM_BYTES, true },
	{ "str", FIELD_STRING, 0, true },
	{ "string", FIELD_QUOTED, 0, false }, /* or "stringN", of N bytes */
	{ "char", FIELD_CHAR, 1, false },
	{ "args", FIELD_ARGUMENT, 0, true },
	{ "arg", FIELD_ARGUMENT, 8, false },
	{ "ret", FIELD_RESULT, 0, true },
	{ "rets8", FIELD_RESULT, 1, true },
	{ "rets16", FIELD_RESULT, 2, true },
	{ "rets32", FIELD_RESULT, 4, true },
	{ "retu8", FIELD_RESULT_UNSIGNED, 1, true },
	{ "retu16", FIELD_RESULT_UNSIGNED, 2, true },
	{ "retu32", FIELD_RESULT_UNSIGNED, 4, true },
	{ "void", FIELD_VOID, 0, true },
};
/* clang-format on */

/**
 * struct field - how to show one argument
 * @type: as what
 * @bytes: its size in the words
 * @offset: where it stands in the words, in bytes
 * @immediate: it is the slot's immediate instead
 * @prefix_bytes: length of @prefix
 * @prefix: what is written before it
 */
struct field {
	enum field_type type;
	uint8_t bytes;
	uint8_t offset;
	bool immediate;
	uint8_t prefix_bytes;
	char prefix[PREFIX_BYTES];
};

/**
 * struct label - how to show the events of a code
 * @next: the one made before
 * @text_bytes: length of @text
 * @text: code and name, padded to their columns; for programs, as members
 * @fields: number of @field
 * @field: arguments
 */
struct label {
	struct label *next;
	uint8_t text_bytes;
	char text[2 * FKT_NAME_BYTES + 48];
	uint8_t fields;
	struct field field[];
};

/* What stands for a CPU and its current thread. */
struct who {
	uint32_t pid;
	uint32_t generation; /* of names, when it was written */
	uint8_t text_bytes;
	char text[96];
};

struct fkt_text {
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	int fd;
	fkt_text_may_write_fn *may_write; /* NULL: always */
	void *arg;
	enum fkt_time time;
	enum fkt_text_format format;
	bool color;
	int error;
	bool begun;
	uint64_t first; /* stamp of the first event */
	uint64_t last;	/* of the event before */
	uint32_t generation;
	int64_t date_second; /* for which date is written */
	char date[32];
	char *buf;
	size_t room;	 /* of @buf, so far as it is to be filled before it is written */
	size_t capacity; /* of @buf */
	size_t bytes;
	struct label *labels; /* all of them */
	struct label *label[FKT_SLOT_CODES];
	struct who who[UINT16_MAX + 1];
};

static char *put_text(char *to, const char *text, size_t bytes)
{
	memcpy(to, text, bytes);
	return to + bytes;
}

static char *put_string(char *to, const char *text, size_t max)
{
	return put_text(to, text, strnlen(text, max));
}

static char *put_word(char *to, const char *word)
{
	return put_text(to, word, strlen(word));
}

/*
 * Copy text out of an array of which it usually fills less than @usual: so many bytes are copied
 * in any case, which takes a few instructions. What is too much is written over by what follows.
 */
#define put_padded(to, array, bytes, usual)                                                        \
	({                                                                                         \
		_Static_assert(sizeof(array) >= (usual), "within the array");                      \
		memcpy(to, array, usual);                                                          \
		if (unlikely((bytes) > (usual)))                                                   \
			memcpy(to, array, bytes);                                                  \
		(to) + (bytes);                                                                    \
	})

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
				  "31323334353637383940414243444546474849505152535455565758596061"
				  "62636465666768697071727374757677787980818283848586878889909192"
				  "93949596979899";

/* The digits of a number, written backwards from @end. */
static char *digits_before(char *end, uint64_t value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + 2 * value, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

static char *put_unsigned(char *to, uint64_t value)
{
	char digits[20], *begin;

	if (value < 10) {
		*to++ = (char)('0' + value);
		return to;
	}
	begin = digits_before(digits + sizeof(digits), value);
	return put_text(to, begin, (size_t)(digits + sizeof(digits) - begin));
}

static char *put_signed(char *to, int64_t value)
{
	if (value < 0)
		*to++ = '-';
	return put_unsigned(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static char *put_hex(char *to, uint64_t value)
{
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	*to++ = '0';
	*to++ = 'x';
	for (; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[value >> shift & 15];
	return to;
}

/*
 * A number right-aligned in a column, with a point before its last @decimals digits; 0 is for
 * none.
 */
static char *put_column(char *to, int64_t value, unsigned int width, unsigned int decimals)
{
	uint64_t positive = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char text[48], *end = text + sizeof(text), *begin = end;
	size_t bytes;

	/* The usual case: written in place. */
	if (!decimals && value >= 0 && value < 10000 && width <= COLUMN_MAX) {
		memset(to, ' ', COLUMN_MAX);
		digits_before(to + width, positive);
		return to + width;
	}
	if (decimals) {
		for (unsigned int i = 0; i < decimals; i++) {
			*--begin = (char)('0' + positive % 10);
			positive /= 10;
		}
		*--begin = '.';
	}
	begin = digits_before(begin, positive);
	if (value < 0)
		*--begin = '-';
	bytes = (size_t)(end - begin);
	if (bytes < width) {
		memset(to, ' ', width - bytes);
		to += width - bytes;
	}
	return put_text(to, begin, bytes);
}

/* A string from an event: @bytes long at most, and not trusted. */
static char *put_untrusted(char *to, const char *text, size_t bytes)
{
	bytes = strnlen(text, bytes);
	memcpy(to, text, bytes);
	to[bytes] = '\0';
	fkt_sanitize(to);
	return to + bytes;
}

static char *pad(char *to, const char *begin, size_t columns)
{
	/* Bytes in the middle of a character take no column. */
	for (; begin < to; begin++)
		if ((*begin & 0xc0) != 0x80 && columns)
			columns--;
	memset(to, ' ', columns);
	return to + columns;
}

/* ---- arguments ---- */

static uint64_t field_value(const struct field *field, const struct fkt_event *event)
{
	if (field->immediate)
		return field->type == FIELD_SIGNED ? (uint64_t)(int64_t)(int16_t)event->imm
						   : event->imm;
	switch (field->bytes) {
	case 1:
		return ((const uint8_t *)event->args)[field->offset];
	case 2:
		return fkt_arg16(event, field->offset);
	case 4:
		return fkt_arg32(event, field->offset);
	default:
		return fkt_arg64(event, field->offset);
	}
}

static int64_t sign_extend(uint64_t value, unsigned int bytes)
{
	return (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

static char *put_pid(struct fkt_text *text, char *to, uint32_t pid, uint16_t cpu)
{
	const struct fkt_process *process =
		fkt_process(text->processes, fkt_process_id(text->processes, pid, cpu));

	to = put_string(to, process->comm, FKT_COMM_BYTES);
	if (!pid)
		return to;
	*to++ = '[';
	to = put_unsigned(to, pid);
	*to++ = ']';
	return to;
}

static char *put_symbol(struct fkt_text *text, char *to, uint64_t address, bool function)
{
	struct fkt_symbol symbol;

	if (!fkt_symbol(text->trace, address, &symbol))
		return put_hex(to, address);
	to = put_string(to, symbol.name, SYMBOL_BYTES);
	if (!function || symbol.offset) {
		*to++ = '+';
		to = put_hex(to, symbol.offset);
	}
	if (symbol.module) {
		to = put_text(to, " [", 2);
		to = put_string(to, symbol.module, PREFIX_BYTES);
		*to++ = ']';
	}
	return to;
}

static char *put_number_and_name(char *to, uint64_t number, const char *name)
{
	to = put_unsigned(to, number);
	if (name) {
		*to++ = ' ';
		to = put_string(to, name, IRQ_BYTES);
	}
	return to;
}

static char *put_argument(char *to, uint64_t value)
{
	/* A small negative number, of 32 or 64 bits. */
	if (value >= -(uint64_t)ERRNO_MAX)
		return put_signed(to, (int64_t)value);
	if (value <= UINT32_MAX && (uint32_t)value >= -(uint32_t)ERRNO_MAX)
		return put_signed(to, (int32_t)value);
	return value <= SMALL_MAX ? put_unsigned(to, value) : put_hex(to, value);
}

static char *put_char(char *to, unsigned char c)
{
	if (c < ' ' || c > '~')
		return put_hex(to, c);
	*to++ = '\'';
	*to++ = (char)c;
	*to++ = '\'';
	return to;
}

static char *put_result(char *to, int64_t value)
{
	const char *name = NULL;

	if (value < 0 && value >= -ERRNO_MAX)
		name = fkt_errno_name((int)-value);
	to = put_text(to, "= ", 2);
	if (value > INT32_MAX || value < INT32_MIN)
		return put_hex(to, (uint64_t)value);
	to = put_signed(to, value);
	if (name) {
		*to++ = ' ';
		to = put_string(to, name, PREFIX_BYTES);
	}
	return to;
}

/* A result is the immediate when no word follows. */
static uint64_t result_value(const struct field *field, const struct fkt_event *event)
{
	if (event->words * 8u < field->offset + 8u)
		return (uint64_t)(int16_t)event->imm;
	return fkt_arg64(event, field->offset);
}

static bool is_result(const struct field *field)
{
	return field->type == FIELD_RESULT || field->type == FIELD_RESULT_UNSIGNED;
}

static char *put_field(struct fkt_text *text, char *to, const struct field *field,
		       const struct fkt_event *event)
{
	const char *at = (const char *)event->args + field->offset;
	char letters[FKT_STATE_BYTES];
	uint64_t value;

	switch (field->type) {
	case FIELD_COMM:
		return put_untrusted(to, at, FKT_COMM_BYTES);
	case FIELD_STRING:
		return put_untrusted(to, at, event->words * 8u - field->offset);
	case FIELD_QUOTED:
		*to++ = '"';
		to = put_untrusted(to, at,
				   field->bytes ? field->bytes : event->words * 8u - field->offset);
		*to++ = '"';
		return to;
	case FIELD_RESULT:
		return put_result(to, sign_extend(result_value(field, event), field->bytes ?: 8));
	case FIELD_RESULT_UNSIGNED:
		value = result_value(field, event);
		to = put_text(to, "= ", 2);
		return put_unsigned(to, value & (UINT64_MAX >> (64 - 8 * field->bytes)));
	case FIELD_VOID:
		return put_text(to, "= void", 6);
	default:
		break;
	}
	value = field_value(field, event);
	switch (field->type) {
	case FIELD_SIGNED:
		return put_signed(to, field->immediate ? (int64_t)value
						       : sign_extend(value, field->bytes));
	case FIELD_HEX:
		return put_hex(to, value);
	case FIELD_PID:
		return put_pid(text, to, (uint32_t)value, event->cpu);
	case FIELD_IRQ:
		return put_number_and_name(to, value, fkt_irq_name(text->trace, (uint32_t)value));
	case FIELD_SOFTIRQ:
		return put_number_and_name(to, value, fkt_softirq_name((uint32_t)value));
	case FIELD_TRAP:
		return put_number_and_name(to, value, fkt_trap_name((uint32_t)value));
	case FIELD_STATE:
		fkt_state_letters((uint32_t)value, letters);
		return put_string(to, letters, sizeof(letters));
	case FIELD_SYMBOL:
		return put_symbol(text, to, value, false);
	case FIELD_FUNCTION:
		return put_symbol(text, to, value, true);
	case FIELD_CHAR:
		return put_char(to, (unsigned char)value);
	case FIELD_ARGUMENT:
		return put_argument(to, value);
	default:
		return put_unsigned(to, value);
	}
}

/* ---- how a code looks ---- */

static void set_prefix(struct field *field, const char *name, size_t bytes, const char *sign)
{
	int n = snprintf(field->prefix, sizeof(field->prefix), "%.*s%s",
			 (int)(bytes < PREFIX_BYTES - 2 ? bytes : PREFIX_BYTES - 2), name, sign);

	fkt_sanitize(field->prefix);
	field->prefix_bytes = (uint8_t)n;
}

/* Fields for the arguments of a system call, and for those that its table does not name. */
static unsigned int argument_fields(struct field *field, unsigned int offset,
				    const struct fkt_syscall *call)
{
	const char *name = call ? call->args : "";
	unsigned int n = 0;
	char number[16];
	size_t bytes;

	for (; offset + 8 <= FKT_SLOT_WORDS_MAX * 8 && n < 6; offset += 8, n++) {
		field[n].type = FIELD_ARGUMENT;
		field[n].bytes = 8;
		field[n].offset = (uint8_t)offset;
		bytes = strcspn(name, ",");
		if (bytes) {
			set_prefix(&field[n], name, bytes, "=");
		} else {
			snprintf(number, sizeof(number), "arg%u", n);
			set_prefix(&field[n], number, strlen(number), "=");
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

static const struct field_kind *find_kind(const char *name, size_t bytes)
{
	if (string_bytes(name, bytes))
		bytes = strlen("string");
	for (size_t i = 0; i < sizeof(field_kinds) / sizeof(field_kinds[0]); i++)
		if (strlen(field_kinds[i].name) == bytes &&
		    !memcmp(field_kinds[i].name, name, bytes))
			return &field_kinds[i];
	return NULL;
}

/* Work out a code's fields from its row's spec. Stops at a type that it does not know. */
static unsigned int parse_spec(const struct fkt_trace *trace, const struct fkt_code_row *row,
			       uint32_t code, struct field *fields)
{
	bool compat = !strncmp(row->spec, "#compat", 7);
	bool words = !strncmp(row->spec, "#words", 6);
	const struct field_kind *kind;
	const char *word = row->spec, *colon;
	unsigned int n = 0, offset = 0;
	struct field *field;
	size_t bytes;
	bool immediate;

	for (; *word && n < FIELDS_MAX; word += bytes) {
		word += strspn(word, " ");
		bytes = strcspn(word, " ");
		if (*word == '#')
			continue;
		immediate = *word == '@';
		word += immediate;
		bytes -= immediate;
		colon = memchr(word, ':', bytes);
		kind = colon ? find_kind(colon + 1, bytes - (size_t)(colon + 1 - word)) : NULL;
		if (!kind)
			break;
		if (kind->type == FIELD_ARGUMENT && !kind->bytes)
			return n + argument_fields(fields + n, offset,
						   fkt_syscall(trace, compat, code - row->first));

		/* Numbers are aligned to their size, as in C. */
		if (words || kind->type == FIELD_QUOTED)
			offset = (offset + 7) & ~7u;
		else if (!immediate && kind->bytes && kind->bytes <= 8)
			offset = (offset + kind->bytes - 1) & ~(kind->bytes - 1u);
		field = &fields[n];
		field->type = kind->type;
		field->immediate = immediate;
		field->bytes = kind->bytes;
		if (kind->type == FIELD_QUOTED)
			field->bytes = string_bytes(colon + 1, bytes - (size_t)(colon + 1 - word));
		field->offset = (uint8_t)offset;
		if (!immediate)
			offset += field->bytes;
		if (offset > FKT_SLOT_WORDS_MAX * 8)
			break;
		if (kind->bare ||
		    (kind->type == FIELD_PID && colon - word == 3 && !memcmp(word, "pid", 3)))
			set_prefix(field, "", 0, "");
		else
			set_prefix(field, word, (size_t)(colon - word), "=");
		n++;
		if (!immediate && !field->bytes)
			break;
	}
	return n;
}

uint8_t fkt_function_field(const struct fkt_trace *trace, const struct fkt_code_row *row,
			   uint32_t code)
{
	struct field fields[FIELDS_MAX + 6] = { 0 };
	unsigned int n = parse_spec(trace, row, code, fields);

	for (unsigned int i = 0; i < n; i++)
		if (fields[i].type == FIELD_FUNCTION && !fields[i].immediate)
			return fields[i].offset;
	return FKT_NO_FUNCTION;
}

/* "find[730] S ==> idle" */
static unsigned int switch_fields(struct field *field)
{
	static const struct field fields[] = {
		{ .type = FIELD_PID, .bytes = 4, .offset = 0 },
		{ .type = FIELD_STATE, .bytes = 2, .immediate = true },
		{ .type = FIELD_PID, .bytes = 4, .offset = 4, .prefix = "==> ", .prefix_bytes = 4 },
	};

	memcpy(field, fields, sizeof(fields));
	return sizeof(fields) / sizeof(fields[0]);
}

#define COLOR_BYTES 8
#define COLOR_OFF   "\033[0m"

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

/* A string as programs want it; there are no control characters in it. */
static char *put_quoted(char *to, const char *string, enum fkt_text_format format)
{
	bool json = format == FKT_TEXT_JSON;

	if (!json && !strpbrk(string, ",\"\n"))
		return put_text(to, string, strlen(string));
	*to++ = '"';
	for (; *string; string++) {
		if (*string == '"')
			*to++ = json ? '\\' : '"';
		else if (json && *string == '\\')
			*to++ = '\\';
		*to++ = *string;
	}
	*to++ = '"';
	return to;
}

/* ",0101,sys_openat," */
static char *put_program_label(const struct fkt_text *text, char *to, uint32_t code,
			       const char *name)
{
	bool json = text->format == FKT_TEXT_JSON;

	to += sprintf(to, json ? ",\"code\":\"%04x\",\"name\":" : ",%04x,", code);
	to = put_quoted(to, name, text->format);
	return put_word(to, json ? ",\"arguments\":" : ",");
}

static struct label *make_label(struct fkt_text *text, uint32_t code)
{
	const struct fkt_code_row *row = fkt_code_row(text->trace, code);
	struct field fields[FIELDS_MAX + 6] = { 0 };
	unsigned int n = 0;
	struct label *label;
	char name[FKT_NAME_BYTES], *end;

	if (code == FKT_CODE_SWITCH)
		n = switch_fields(fields);
	else if (row)
		n = parse_spec(text->trace, row, code, fields);
	else
		n = argument_fields(fields, 0, NULL);

	label = malloc(sizeof(*label) + n * sizeof(*fields));
	if (!label)
		return NULL;
	label->fields = (uint8_t)n;
	memcpy(label->field, fields, n * sizeof(*fields));
	fkt_code_name(text->trace, code, name);
	if (text->format != FKT_TEXT_PLAIN) {
		end = put_program_label(text, label->text, code, name);
	} else {
		end = label->text + sprintf(label->text, "%04x  ", code);
		if (text->color)
			end = put_string(end, color_of(row), COLOR_BYTES);
		end = put_string(end, name, FKT_NAME_BYTES);
		if (n)
			end = pad(end, end - strlen(name), NAME_COLUMN);
		if (text->color)
			end = put_string(end, COLOR_OFF, COLOR_BYTES);
	}
	label->text_bytes = (uint8_t)(end - label->text);
	label->next = text->labels;
	text->labels = label;
	text->label[code] = label;
	return label;
}

/* ---- lines ---- */

static void write_out(struct fkt_text *text)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->bytes && !text->error) {
		n = write(text->fd, text->buf + done, text->bytes - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			text->error = -errno;
	}
	text->bytes = 0;
	/* As much as stays in a CPU's cache. */
	text->room = BUFFER_BYTES;
}

/* The next line does not fit any more. */
static void make_room(struct fkt_text *text)
{
	char *larger;

	if (!text->may_write || text->may_write(text->arg)) {
		write_out(text);
		return;
	}
	if (text->room == text->capacity) {
		larger = realloc(text->buf, text->capacity * 2);
		if (!larger) {
			text->error = -ENOMEM;
			text->bytes = 0;
			return;
		}
		text->buf = larger;
		text->capacity *= 2;
	}
	text->room += BUFFER_BYTES;
}

static char *begin_line(struct fkt_text *text)
{
	if (text->bytes > text->room - LINE_BYTES * (text->format == FKT_TEXT_PLAIN ? 1 : 3))
		make_room(text);
	return text->buf + text->bytes;
}

static void end_line(struct fkt_text *text, char *to)
{
	while (to[-1] == ' ')
		to--;
	*to++ = '\n';
	text->bytes = (size_t)(to - text->buf);
}

static char *put_date(struct fkt_text *text, char *to, int64_t ns)
{
	int64_t second = ns / 1000000000, rest = ns % 1000000000;
	struct tm tm;
	time_t time;

	if (rest < 0) {
		second--;
		rest += 1000000000;
	}
	if (second != text->date_second || !*text->date) {
		time = (time_t)second;
		if (!localtime_r(&time, &tm) ||
		    !strftime(text->date, sizeof(text->date), "%Y-%m-%d %H:%M:%S", &tm))
			strcpy(text->date, "?");
		text->date_second = second;
	}
	to = put_string(to, text->date, sizeof(text->date));
	*to++ = '.';
	for (int64_t unit = 100000000; unit; unit /= 10)
		*to++ = (char)('0' + rest / unit % 10);
	return to;
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
	case FKT_TIME_REL:
		since = (int64_t)(stamp - text->first);
		return put_column(to, fkt_cycles_to_ns(text->trace, since), 14, 9);
	default:
		return put_date(text, to, fkt_wall_ns(text->trace, stamp));
	}
}

/* ",0,730,find" */
static char *put_program_who(const struct fkt_text *text, char *to, const struct fkt_event *event,
			     const char *comm)
{
	bool json = text->format == FKT_TEXT_JSON;

	to = put_word(to, json ? ",\"cpu\":" : ",");
	to = put_unsigned(to, event->cpu);
	to = put_word(to, json ? ",\"pid\":" : ",");
	if (event->pid != FKT_PID_UNKNOWN)
		to = put_unsigned(to, event->pid);
	else if (json)
		to = put_text(to, "null", 4);
	to = put_word(to, json ? ",\"process\":" : ",");
	return put_quoted(to, comm, text->format);
}

/* "   0     730 find             " */
static char *put_who(char *to, const struct fkt_event *event, const char *comm)
{
	char *name;

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
	to = put_string(to, comm, FKT_COMM_BYTES);
	to = pad(to, name, FKT_COMM_BYTES);
	*to++ = ' ';
	return to;
}

static void write_who(struct fkt_text *text, struct who *who, const struct fkt_event *event)
{
	const struct fkt_process *process = fkt_process(
		text->processes, fkt_process_id(text->processes, event->pid, event->cpu));
	char *to;

	if (text->format == FKT_TEXT_PLAIN)
		to = put_who(who->text, event, process->comm);
	else
		to = put_program_who(text, who->text, event, process->comm);
	who->text_bytes = (uint8_t)(to - who->text);
	who->pid = event->pid;
	who->generation = text->generation;
}

static char *put_fields(struct fkt_text *text, char *to, const struct label *label,
			const struct fkt_event *event)
{
	const struct field *field;

	for (unsigned int i = 0; i < label->fields; i++) {
		field = &label->field[i];
		if (!field->immediate && !is_result(field) &&
		    field->offset + field->bytes > event->words * 8u)
			break;
		*to++ = ' ';
		to = put_padded(to, field->prefix, field->prefix_bytes, 8);
		to = put_field(text, to, field, event);
	}
	return to;
}

/* The members of a line for programs, in their order. */
static const char *const members[] = { "stamp",	  "time_ns", "cpu",  "pid",
				       "process", "code",    "name", "arguments" };

/* Whether a string has to be quoted, or something in it. */
static bool has_special(const char *string, const char *end, bool json)
{
	bool found = false;

	for (; string < end; string++)
		found |= *string == '"' || *string == (json ? '\\' : ',') || *string == '\n';
	return found;
}

/* The arguments, as one string, behind the comma or colon before them. */
static char *put_program_fields(struct fkt_text *text, char *to, const struct label *label,
				const struct fkt_event *event)
{
	bool json = text->format == FKT_TEXT_JSON;
	char *begin = json ? to : to - 1, first = *begin, fields[LINE_BYTES], *end;

	/* Each field begins with a space: the first one's is in the place of what precedes it. */
	end = put_fields(text, begin, label, event);
	*begin = json ? '"' : first;
	if (end == begin)
		return put_word(to, json ? "\"\"" : "");
	if (unlikely(has_special(begin + 1, end, json))) {
		*end = '\0';
		memcpy(fields, begin + 1, (size_t)(end - begin));
		return put_quoted(to, fields, text->format);
	}
	if (json)
		*end++ = '"';
	return end;
}

static void program_event(struct fkt_text *text, const struct who *who, const struct label *label,
			  const struct fkt_event *event)
{
	bool json = text->format == FKT_TEXT_JSON;
	char *to = begin_line(text);

	if (json)
		to = put_word(to, "{\"table\":\"events\",\"stamp\":");
	to = put_unsigned(to, event->stamp);
	to = put_word(to, json ? ",\"time_ns\":" : ",");
	if (fkt_has_clock(text->trace))
		to = put_signed(to, fkt_cycles_to_ns(text->trace,
						     (int64_t)(event->stamp - text->first)));
	else if (json)
		to = put_text(to, "null", 4);
	to = put_padded(to, who->text, who->text_bytes, 64);
	to = put_padded(to, label->text, label->text_bytes, 64);
	to = put_program_fields(text, to, label, event);
	if (json)
		*to++ = '}';
	*to++ = '\n';
	text->bytes = (size_t)(to - text->buf);
}

void fkt_text_event(struct fkt_text *text, const struct fkt_event *event)
{
	struct label *label = text->label[event->code];
	struct who *who = &text->who[event->cpu];
	char *to = begin_line(text);

	if (unlikely(!label)) {
		label = make_label(text, event->code);
		if (!label) {
			text->error = -ENOMEM;
			return;
		}
	}
	if (unlikely(fkt_is_process_event(event->code)))
		text->generation++;
	if (unlikely(who->pid != event->pid || who->generation != text->generation))
		write_who(text, who, event);
	if (unlikely(!text->begun)) {
		text->begun = true;
		text->first = text->last = event->stamp;
	}
	if (unlikely(text->format != FKT_TEXT_PLAIN)) {
		program_event(text, who, label, event);
		return;
	}

	to = put_time(text, to, event->stamp);
	text->last = event->stamp;
	to = put_padded(to, who->text, who->text_bytes, 32);
	to = put_padded(to, label->text, label->text_bytes, 32);
	end_line(text, put_fields(text, to, label, event));
}

void fkt_text_gap(struct fkt_text *text, const struct fkt_gap *gap)
{
	static const char *const whats[][2] = {
		[FKT_GAP_LOST] = { "event lost", "events lost" },
		[FKT_GAP_MISSING] = { "page missing", "pages missing" },
		[FKT_GAP_DAMAGED] = { "page damaged", "pages damaged" },
	};
	char *to;

	/* Programs get the number of what is missing in the summary. */
	if (text->format != FKT_TEXT_PLAIN)
		return;
	to = begin_line(text);
	to += sprintf(to, "*** lane %u", gap->lane);
	if (gap->cpu != FKT_CPU_ANY)
		to += sprintf(to, " (CPU %u)", gap->cpu);
	to = put_text(to, ": ", 2);
	to = put_unsigned(to, gap->count);
	to += sprintf(to, " %s ***", whats[gap->kind][gap->count != 1]);
	end_line(text, to);
}

void fkt_text_header(struct fkt_text *text)
{
	static const char *const times[] = {
		[FKT_TIME_CYCLES] = "      Cycles",
		[FKT_TIME_NS] = "          ns",
		[FKT_TIME_US] = "          us",
		[FKT_TIME_REL] = "       Seconds",
		[FKT_TIME_ABS] = "Time                         ",
	};
	char *to = begin_line(text), *begin = to;

	if (text->format == FKT_TEXT_JSON)
		return;
	if (text->format == FKT_TEXT_CSV) {
		for (unsigned int i = 0; i < sizeof(members) / sizeof(members[0]); i++)
			to += sprintf(to, "%s%s", i ? "," : "", members[i]);
		end_line(text, to);
		return;
	}
	to += sprintf(to, "%s  CPU     Pid %-16s Code  %-24s %s", times[text->time], "Process",
		      "Name", "Arguments");
	end_line(text, to);
	to = begin_line(text);
	memset(to, '-', (size_t)(to - begin) - 1);
	end_line(text, to + (to - begin) - 1);
}

int fkt_text_flush(struct fkt_text *text)
{
	write_out(text);
	return text->error;
}

struct fkt_text *fkt_text_new(struct fkt_trace *trace, struct fkt_processes *processes, int fd,
			      enum fkt_time time)
{
	struct fkt_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->buf = malloc(BUFFER_BYTES);
	if (!text->buf) {
		free(text);
		return NULL;
	}
	text->room = text->capacity = BUFFER_BYTES;
	text->trace = trace;
	text->processes = processes;
	text->fd = fd;
	text->time = time;
	text->generation = 1;
	return text;
}

void fkt_text_set_first(struct fkt_text *text, uint64_t first)
{
	if (text->begun)
		return;
	text->begun = true;
	text->first = text->last = first;
}

void fkt_text_set_format(struct fkt_text *text, enum fkt_text_format format, bool color)
{
	text->format = format;
	text->color = color && format == FKT_TEXT_PLAIN;
}

void fkt_text_hold(struct fkt_text *text, fkt_text_may_write_fn *may_write, void *arg)
{
	text->may_write = may_write;
	text->arg = arg;
}

void fkt_text_resume(struct fkt_text *text, uint64_t first, uint64_t last)
{
	text->begun = true;
	text->first = first;
	text->last = last;
	text->generation++;
}

void fkt_text_free(struct fkt_text *text)
{
	struct label *label;

	if (!text)
		return;
	while ((label = text->labels)) {
		text->labels = label->next;
		free(label);
	}
	free(text->buf);
	free(text);
}

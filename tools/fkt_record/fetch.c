// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a probe is to fetch, in the language of tracefs' kprobe_events
 * (Documentation/trace/kprobetrace.rst), and with the names of arguments and fields besides. It is
 * compiled into operations that the module checks and executes.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch.h"
#include "btf.h"
#include "fetch.h"
#include "functions.h"
#include "program_types.h"
#include "record.h"

#define ARRAY_MAX     64 /* as kprobe_events have it */
#define COMM_WORDS    2
/* A string that is not asked for has at least so many. */
#define STRING_WORDS  2
/* What the operations that find it are followed by, at most. */
#define OPS_TO_RECORD 3
#define NAME_LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum how {
	AS_NUMBER,
	AS_STRING,
	AS_USER_STRING,
};

static const struct fetch_type {
	const char *name;
	enum how how;
	uint8_t bytes;
	const char *spec;
} types[] = {
	{ "u8", AS_NUMBER, 1, "u8" },
	{ "u16", AS_NUMBER, 2, "u16" },
	{ "u32", AS_NUMBER, 4, "u32" },
	{ "u64", AS_NUMBER, 8, "u64" },
	{ "s8", AS_NUMBER, 1, "s8" },
	{ "s16", AS_NUMBER, 2, "s16" },
	{ "s32", AS_NUMBER, 4, "s32" },
	{ "s64", AS_NUMBER, 8, "s64" },
	{ "x8", AS_NUMBER, 1, "x8" },
	{ "x16", AS_NUMBER, 2, "x16" },
	{ "x32", AS_NUMBER, 4, "x32" },
	{ "x64", AS_NUMBER, 8, "x64" },
	{ "char", AS_NUMBER, 1, "char" },
	{ "symbol", AS_NUMBER, 8, "sym" },
	{ "dev", AS_NUMBER, 4, "dev" },
	{ "arg", AS_NUMBER, 8, "arg" },	   /* not of the language: what nothing is known of */
	{ "symstr", AS_NUMBER, 8, "sym" }, /* it is made text when it is listed */
	{ "string", AS_STRING, 0, "string" },
	{ "ustring", AS_USER_STRING, 0, "string" },
};

static void __attribute__((noreturn))
complain(int status, const struct fetching *fetch, const char *format, va_list ap)
{
	char why[512];

	vsnprintf(why, sizeof(why), format, ap);
	errx(status, "%s '%s': %s", fetch->option, fetch->text, why);
}

void fetch_wrong(const struct fetching *fetch, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(EXIT_USAGE, fetch, format, ap);
}

void fetch_missing(const struct fetching *fetch, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(EXIT_FAILURE, fetch, format, ap);
}

/* What it is that has arguments, for messages. */
static const char *called(const struct fetching *fetch)
{
	return fetch->event ?: fetch->function;
}

/* ---- what to fetch ---- */

static void add_op(const struct fetching *fetch, struct fetch_argument *argument, uint32_t op,
		   uint32_t size, int64_t value)
{
	if (argument->ops == FKT_FETCH_OPS_MAX)
		fetch_wrong(fetch, "%s has too many parentheses", argument->name);
	argument->op[argument->ops++] = (struct fkt_fetch){ op, size, value };
}

bool fetch_number(const char *text, int64_t *value)
{
	bool negative = *text == '-';
	const char *digits = text + (*text == '-' || *text == '+');
	unsigned long long number;
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	number = strtoull(digits, &end, 0);
	if (errno || *end)
		return false;
	*value = (int64_t)(negative ? -number : number);
	return true;
}

/* The address of any symbol, a variable as well. Return: 0 when there is none. */
static uint64_t symbol_address(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], symbol[512];
	uint64_t address = 0, found = 0;

	while (!found && file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %*c %511s", &address, symbol) == 2 &&
		    !strcmp(symbol, name))
			found = address;
	if (file)
		fclose(file);
	return found;
}

static void parse_memory(const struct fetching *fetch, struct fetch_argument *argument,
			 const char *text)
{
	size_t length = strcspn(text + 1, "+-") + 1;
	char symbol[512];
	int64_t address;

	argument->reads = true;
	argument->user = fetch->program;
	if (fetch_number(text, &address)) {
		add_op(fetch, argument, FKT_FETCH_VALUE, 0, address);
		return;
	}
	snprintf(symbol, sizeof(symbol), "%.*s", (int)length, text);
	if (fetch->program)
		fetch_wrong(fetch, "@%s: the kernel's symbols are not in a program; write @ADDRESS",
			    symbol);
	address = (int64_t)symbol_address(symbol);
	if (!address)
		fetch_wrong(fetch, "@%s: there is no such symbol", symbol);
	if (text[length] && !fetch_number(text + length, &argument->offset))
		fetch_wrong(fetch, "@%s: '%s' is not an offset", text, text + length);
	add_op(fetch, argument, FKT_FETCH_VALUE, 0, address);
}

/* What is behind a function's last argument is something else's. */
static void check_argument(const struct fetching *fetch, const char *name, int64_t number)
{
	struct signature signature;
	uint32_t words;

	if (!fetch->function || fetch->program)
		return;
	btf_signature(fetch->function, fetch->module, &signature);
	words = signature.most_words - fetch->own;
	if (signature.known && number > words)
		fetch_wrong(fetch, "%s has %" PRIu32 " argument%s: there is no $%s", called(fetch),
			    words, words == 1 ? "" : "s", name);
}

/* One of the first arguments, which are all that there is, from 1. */
static void add_first_argument(const struct fetching *fetch, struct fetch_argument *argument,
			       const char *name, int64_t number)
{
	if (number > fetch->args)
		fetch_missing(fetch,
			      "%s is behind the first %" PRIu32 " arguments, which can be had%s",
			      name, fetch->args, fetch->event ? "" : " here; -P has it");
	add_op(fetch, argument, FKT_FETCH_REGISTER, 0, number - 1);
}

/* The word at a distance from the top of a program's stack. */
static void add_stack_word(const struct fetching *fetch, struct fetch_argument *argument,
			   int64_t number)
{
	if (!fetch->program) {
		add_op(fetch, argument, FKT_FETCH_STACK, 0, number);
		return;
	}
	add_op(fetch, argument, FKT_FETCH_REGISTER, 0, arch.stack);
	add_op(fetch, argument, FKT_FETCH_READ_USER, 8, 8 * number);
}

/* The same of a program's function, or of its own probe. */
static void add_program_argument(const struct fetching *fetch, struct fetch_argument *argument,
				 const char *name, int64_t number)
{
	if (fetch->points || fetch->point) {
		const struct fetch_argument *of;

		if (number > (int64_t)fetch->points)
			fetch_wrong(fetch, "%s has %zu argument%s: there is no %s", called(fetch),
				    fetch->points, fetch->points == 1 ? "" : "s", name);
		of = &fetch->point[number - 1];
		if (!of->ops)
			fetch_missing(fetch, "%s is where FKT can't fetch it from", name);
		for (size_t i = 0; i < of->ops; i++)
			add_op(fetch, argument, of->op[i].op, of->op[i].size, of->op[i].value);
		if (!of->reads)
			return;
		/* Its own size is read, and not that of what is shown of it. */
		add_op(fetch, argument, FKT_FETCH_READ_USER, of->type->bytes, of->offset);
		return;
	}
	if (fetch->returns)
		fetch_wrong(fetch, "%s is there when a function is entered, not later", name);
	if (number <= (int64_t)arch.argument_count)
		add_op(fetch, argument, FKT_FETCH_REGISTER, 0, arch.argument[number - 1]);
	else
		add_stack_word(fetch, argument, number - (int64_t)arch.argument_count);
}

/* Argument number @number of the function, from 1, called @name: as it was at the entry. */
static void add_function_argument(const struct fetching *fetch, struct fetch_argument *argument,
				  const char *name, int64_t number)
{
	if (fetch->args) {
		add_first_argument(fetch, argument, name, number);
		return;
	}
	if (fetch->program) {
		add_program_argument(fetch, argument, name, number);
		return;
	}
	if (fetch->inside)
		fetch_wrong(fetch, "%s is there when a function is entered, not later", name);
	if (number <= (int64_t)arch.argument_count)
		add_op(fetch, argument,
		       fetch->returns ? FKT_FETCH_ENTRY_REGISTER : FKT_FETCH_REGISTER, 0,
		       arch.argument[number - 1]);
	else
		add_op(fetch, argument, fetch->returns ? FKT_FETCH_ENTRY_STACK : FKT_FETCH_STACK, 0,
		       number - (int64_t)arch.argument_count);
}

static void check_result(const struct fetching *fetch)
{
	if (fetch->event)
		fetch_wrong(fetch, "a tracepoint has no $retval");
	if (fetch->args)
		fetch_wrong(
			fetch,
			"the exit has the result as it is, which is $retval alone; what it leads to "
			"is recorded by -P 'r:%s …'",
			called(fetch));
	if (!fetch->returns)
		fetch_wrong(fetch, "$retval is there when a function returns: begin with r:");
}

static void add_result(const struct fetching *fetch, struct fetch_argument *argument)
{
	check_result(fetch);
	add_op(fetch, argument, FKT_FETCH_REGISTER, 0, arch.result);
}

/* NULL where nothing is known of it; *why is set then. */
static const struct btf_type *known_prototype(const struct fetching *fetch, const struct btf **btf,
					      const char **why)
{
	if (fetch->program)
		return program_prototype(fetch->program, fetch->of, btf, why);
	return btf_prototype(fetch->function, fetch->module, btf, why);
}

static const struct btf_type *find_prototype(const struct fetching *fetch, const char *text,
					     const struct btf **btf)
{
	const struct btf_type *prototype;
	const char *why;

	if (fetch->program && !fetch->of)
		fetch_wrong(
			fetch,
			"'%s': the arguments of a probe in the program's source have no names; use "
			"$argN",
			text);
	if (!fetch->function)
		fetch_wrong(fetch, "'%s': of which function? There is an address alone", text);
	prototype = known_prototype(fetch, btf, &why);
	if (prototype && fetch->unknown) {
		prototype = NULL;
		why = fetch->unknown;
	}
	if (!prototype)
		fetch_missing(fetch, "'%s': nothing is known of the arguments of %s: %s; use $argN",
			      text, called(fetch), why);
	return prototype;
}

/* An argument of the function by its name, or its result, or a field that it leads to. */
static void parse_name(const struct fetching *fetch, struct fetch_argument *argument,
		       const char *text)
{
	struct value *value = &argument->value;
	const struct btf_type *prototype;
	const struct btf *btf;
	char why[VALUE_WHY_BYTES];

	if (*text == '$')
		check_result(fetch);
	prototype = find_prototype(fetch, text, &btf);
	if (!value_find(btf, prototype, called(fetch), (uint32_t)arch.argument_count, text, value,
			why))
		fetch_missing(fetch, "%s", why);
	argument->named = true;
	if (value->argument)
		add_function_argument(fetch, argument, text, value->argument - fetch->own);
	else
		add_result(fetch, argument);
	for (size_t i = 0; i + 1 < value->steps; i++)
		add_op(fetch, argument, fetch->program ? FKT_FETCH_READ_USER : FKT_FETCH_READ, 8,
		       value->offset[i]);
	if (value->steps) {
		argument->reads = true;
		argument->offset = value->offset[value->steps - 1];
	}
}

static void parse_variable(const struct fetching *fetch, struct fetch_argument *argument,
			   const char *name)
{
	int64_t number;

	if (!strcmp(name, "comm")) {
		argument->comm = true;
	} else if (!strcmp(name, "retval")) {
		add_result(fetch, argument);
	} else if (!strncmp(name, "retval->", strlen("retval->"))) {
		parse_name(fetch, argument, name - strlen("$"));
	} else if (!strncmp(name, "stack", strlen("stack")) && fetch->event) {
		fetch_wrong(fetch, "$%s: a tracepoint's stack is not fetched from", name);
	} else if (!strncmp(name, "stack", strlen("stack")) && fetch->args) {
		fetch_wrong(fetch, "$%s: the stack is fetched from by -P", name);
	} else if (!strcmp(name, "stack") && fetch->program) {
		add_op(fetch, argument, FKT_FETCH_REGISTER, 0, arch.stack);
	} else if (!strcmp(name, "stack")) {
		add_op(fetch, argument, FKT_FETCH_STACK_ADDR, 0, 0);
	} else if (!strncmp(name, "stack", strlen("stack")) &&
		   fetch_number(name + strlen("stack"), &number) && number >= 0 && number < 512) {
		add_stack_word(fetch, argument, number);
	} else if (!strncmp(name, "arg", strlen("arg")) &&
		   fetch_number(name + strlen("arg"), &number) && number >= 1 && number <= 64) {
		check_argument(fetch, name, number);
		add_function_argument(fetch, argument, name - strlen("$"), number);
	} else {
		fetch_wrong(fetch, "$%s: there are $retval, $stack, $stackN, $argN and $comm",
			    name);
	}
}

static void parse_register(const struct fetching *fetch, struct fetch_argument *argument,
			   const char *name)
{
	if (fetch->args)
		fetch_wrong(fetch, "%%%s: registers are there at addresses (-P), not %s", name,
			    fetch->event ? "at a tracepoint" : "here: $argN are");
	for (size_t i = 0; i < arch.registers_count; i++) {
		if (arch.registers[i] && !strcmp(arch.registers[i], name)) {
			add_op(fetch, argument, FKT_FETCH_REGISTER, 0, (int64_t)i);
			return;
		}
	}
	fetch_wrong(fetch,
		    "%%%s: there is no such register; they are called ax, bx … r15, without r or e",
		    name);
}

static void parse_fetch(const struct fetching *fetch, struct fetch_argument *argument, char *text);

/* +|-[u]OFFSET(FETCHARG) */
static void parse_dereference(const struct fetching *fetch, struct fetch_argument *argument,
			      char *text)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	char number[32];
	bool user = text[1] == 'u';
	int64_t offset;

	if (!open || !close || close[1])
		fetch_wrong(fetch, "'%s': write %cOFFSET(…)", text, *text);
	snprintf(number, sizeof(number), "%c%.*s", *text, (int)(open - (text + 1 + user)),
		 text + 1 + user);
	if (!fetch_number(number, &offset))
		fetch_wrong(fetch, "'%s' is not an offset", number);
	*close = '\0';
	parse_fetch(fetch, argument, open + 1);
	if (argument->comm)
		fetch_wrong(fetch, "$comm is no address");
	if (argument->reads)
		add_op(fetch, argument, argument->user ? FKT_FETCH_READ_USER : FKT_FETCH_READ, 8,
		       argument->offset);
	argument->reads = true;
	argument->user = user || fetch->program;
	argument->named = false;
	argument->offset = offset;
}

static void parse_fetch(const struct fetching *fetch, struct fetch_argument *argument, char *text)
{
	int64_t value;

	if (!isdigit((unsigned char)*text) && strspn(text, NAME_LETTERS)) {
		parse_name(fetch, argument, text);
		return;
	}
	switch (*text) {
	case '%':
		parse_register(fetch, argument, text + 1);
		return;
	case '$':
		parse_variable(fetch, argument, text + 1);
		return;
	case '@':
		parse_memory(fetch, argument, text + 1);
		return;
	case '+':
	case '-':
		parse_dereference(fetch, argument, text);
		return;
	case '\\':
		if (!fetch_number(text + 1, &value))
			fetch_wrong(fetch, "'%s' is not a number", text + 1);
		add_op(fetch, argument, FKT_FETCH_VALUE, 0, value);
		return;
	default:
		fetch_wrong(
			fetch,
			"'%s': an argument is %%REGISTER, $argN, $retval, $stack, $stackN, $comm, "
			"@ADDRESS, @SYMBOL, \\NUMBER, +OFFSET(…), or the name of an argument of "
			"the function, with ->FIELD and .FIELD",
			text);
	}
}

static const struct fetch_type *find_type(const struct fetching *fetch, const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	fetch_wrong(
		fetch,
		":%s: the types are u8 … u64, s8 … s64, x8 … x64, char, symbol, symstr, dev, "
		"string, ustring; arrays of numbers, TYPE[COUNT]; and bit fields, bBITS@FIRST/WORDBITS",
		name);
}

/* bBITS@FIRST/WORDBITS: bits of a number of 8, 16, 32 or 64 bits. */
static void parse_bits(const struct fetching *fetch, struct fetch_argument *argument,
		       const char *text)
{
	unsigned int bits, first, word;
	char name[16], end;

	if (sscanf(text, "b%u@%u/%u%c", &bits, &first, &word, &end) != 3)
		fetch_wrong(fetch, ":%s: write bBITS@FIRST/WORDBITS", text);
	if (word != 8 && word != 16 && word != 32 && word != 64)
		fetch_wrong(fetch, ":%s: bits are of a word of 8, 16, 32 or 64", text);
	if (!bits || bits > word || first > word - bits)
		fetch_wrong(fetch, ":%s: a word of %u bits does not have these", text, word);
	snprintf(name, sizeof(name), "u%u", word);
	argument->type = find_type(fetch, name);
	argument->bit = first;
	argument->bits = bits;
}

/* A type as it is written: TYPE, TYPE[COUNT], or a bit field. */
static void parse_type(const struct fetching *fetch, struct fetch_argument *argument,
		       const char *text)
{
	const char *open = strchr(text, '[');
	char name[16], count[16];
	int64_t elements;
	size_t length;

	if (*text == 'b') {
		parse_bits(fetch, argument, text);
		return;
	}
	if (!open) {
		argument->type = find_type(fetch, text);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(open - text), text);
	argument->type = find_type(fetch, name);
	length = strlen(open + 1);
	if (!length || open[length] != ']' || length > sizeof(count))
		fetch_wrong(fetch, ":%s: write TYPE[COUNT]", text);
	snprintf(count, sizeof(count), "%.*s", (int)length - 1, open + 1);
	if (!fetch_number(count, &elements) || elements < 1 || elements > ARRAY_MAX)
		fetch_wrong(fetch, ":%s: an array has 1 to %d elements", text, ARRAY_MAX);
	if (argument->type->how != AS_NUMBER || !strcmp(name, "symstr"))
		fetch_wrong(fetch, ":%s: arrays are of numbers", text);
	if (!argument->reads)
		fetch_wrong(fetch, ":%s: an array is in memory: +OFFSET(…):%s", text, text);
	if (elements * argument->type->bytes > 8 * FKT_FETCH_WORDS_MAX)
		fetch_wrong(fetch, ":%s: an event has room for %d bytes", text,
			    8 * FKT_FETCH_WORDS_MAX);
	argument->elements = (uint32_t)elements;
}

/* The type of what is called by its name, where none is written. */
static void natural_type(const struct fetching *fetch, struct fetch_argument *argument,
			 const char *text)
{
	static const char *const numbers[][2] = {
		[1] = { "u8", "s8" },
		[2] = { "u16", "s16" },
		[4] = { "u32", "s32" },
		[8] = { "u64", "s64" },
	};
	const struct value *value = &argument->value;
	const char *type;

	if (!value->bytes && !value->is_array)
		fetch_wrong(fetch, "%s is a %s: write which field of it, or :TYPE behind it", text,
			    value->type);
	if (value->is_array && !value->is_chars &&
	    (!value->bytes || !value->elements || value->elements > ARRAY_MAX ||
	     value->elements * value->bytes > 8 * FKT_FETCH_WORDS_MAX))
		fetch_wrong(fetch,
			    "%s is a %s: write which elements of it by :TYPE[COUNT] behind it",
			    text, value->type);
	if (value->is_chars)
		type = "string";
	else if (value->is_function && !fetch->program)
		type = "symbol";
	else if (value->is_pointer)
		type = "x64";
	else if (!strcmp(value->type, "dev_t") && value->bytes == 4 && !value->bits)
		type = "dev";
	else
		type = numbers[value->bytes][value->is_signed];
	argument->type = find_type(fetch, type);
	argument->bit = value->bit;
	argument->bits = value->bits;
	/* A reader has no room for the names of so many as small ones would be. */
	argument->by_name = value->enumeration && (!value->is_array || value->bytes >= 4);
	if (value->is_array && !value->is_chars)
		argument->elements = value->elements;
}

/* A string is where a pointer points to, or where an array of characters is. */
static void point_to_string(const struct fetching *fetch, struct fetch_argument *argument,
			    const char *text)
{
	const struct value *value = &argument->value;

	if (!value->is_text)
		fetch_wrong(fetch, "%s is a %s, and no string", text, value->type);
	if (value->is_pointer && argument->reads) {
		add_op(fetch, argument, fetch->program ? FKT_FETCH_READ_USER : FKT_FETCH_READ, 8,
		       argument->offset);
		argument->offset = 0;
	}
}

/* The last name in it: what it is called where no NAME= is written. */
static const char *last_name(const char *text)
{
	const char *last = text + strlen(text);

	while (last > text && strchr(NAME_LETTERS, last[-1]))
		last--;
	return last;
}

void fetch_add(struct fetching *fetch, char *text)
{
	struct fetch_argument *argument = &fetch->argument[fetch->arguments];
	char *equals = strchr(text, '='), *colon = strrchr(text, ':');
	const char *type = NULL;
	size_t length;

	if (fetch->arguments == FETCH_ARGS_MAX)
		fetch_wrong(fetch, "an event has room for %d arguments", FETCH_ARGS_MAX);
	fetch->arguments++;
	if (colon) {
		*colon = '\0';
		type = colon + 1;
	}
	if (equals) {
		length = (size_t)(equals - text);
		if (!length || length >= sizeof(argument->name) ||
		    strspn(text, NAME_LETTERS) != length)
			fetch_wrong(fetch, "'%.*s' is not a name", (int)length, text);
		memcpy(argument->name, text, length);
		argument->name[length] = '\0';
		text = equals + 1;
	} else {
		snprintf(argument->name, sizeof(argument->name), "arg%zu", fetch->arguments);
	}
	parse_fetch(fetch, argument, text);
	if (argument->named && !equals)
		snprintf(argument->name, sizeof(argument->name), "%s", last_name(text));
	if (!type && argument->named)
		natural_type(fetch, argument, text);
	else
		parse_type(fetch, argument, type ?: argument->comm ? "string" : "x64");
	if (argument->named && argument->type->how != AS_NUMBER)
		point_to_string(fetch, argument, text);
	if (argument->comm && argument->type->how != AS_STRING)
		fetch_wrong(fetch, "$comm is a string");
	if (!fetch->program)
		return;
	if (!strcmp(argument->type->spec, "sym"))
		fetch_wrong(fetch, ":%s: that is for addresses of the kernel",
			    argument->type->name);
	argument->user = true;
}

/* A register by its name in assembly: eax, %r10d, … Return: its number, negative for none. */
static int register_by_name(const char *name, size_t length)
{
	static const char *const low[] = { "al", "bl", "cl", "dl", "sil", "dil", "bpl", "spl" };
	static const char *const of_low[] = { "ax", "bx", "cx", "dx", "si", "di", "bp", "sp" };
	char plain[8];

	if (!length || length >= sizeof(plain))
		return -1;
	memcpy(plain, name, length);
	plain[length] = '\0';
	for (size_t i = 0; i < sizeof(low) / sizeof(low[0]); i++)
		if (!strcmp(plain, low[i]))
			strcpy(plain, of_low[i]);
	if (plain[0] == 'r' && isdigit((unsigned char)plain[1]))
		plain[1 + strspn(plain + 1, "0123456789")] = '\0';
	for (size_t i = 0; i < arch.registers_count; i++)
		if (arch.registers[i] &&
		    (!strcmp(plain, arch.registers[i]) ||
		     (strchr("re", plain[0]) && !strcmp(plain + 1, arch.registers[i]))))
			return (int)i;
	return -1;
}

/* %REGISTER, $NUMBER, OFFSET(%REGISTER) */
static bool parse_operand(const struct fetching *fetch, struct fetch_argument *argument,
			  const char *text)
{
	const char *open = strchr(text, '(');
	char offset[32];
	int number;

	if (*text == '$') {
		int64_t value;

		if (!fetch_number(text + 1, &value))
			return false;
		add_op(fetch, argument, FKT_FETCH_VALUE, 0, value);
		return true;
	}
	if (*text == '%') {
		number = register_by_name(text + 1, strlen(text + 1));
		if (number < 0)
			return false;
		add_op(fetch, argument, FKT_FETCH_REGISTER, 0, number);
		return true;
	}
	/* With a second register, or from the instruction on, it is not fetched. */
	if (!open || open[1] != '%' || open[strlen(open) - 1] != ')' || strchr(open, ',') ||
	    (size_t)(open - text) >= sizeof(offset))
		return false;
	memcpy(offset, text, (size_t)(open - text));
	offset[open - text] = '\0';
	if (*offset && !fetch_number(offset, &argument->offset))
		return false;
	number = register_by_name(open + 2, strlen(open + 2) - 1);
	if (number < 0 || !strcmp(arch.registers[number], "ip"))
		return false;
	add_op(fetch, argument, FKT_FETCH_REGISTER, 0, number);
	argument->reads = true;
	argument->user = true;
	return true;
}

bool fetch_add_point(struct fetching *fetch, const char *text)
{
	struct fetch_argument *argument = &fetch->argument[fetch->arguments];
	const char *at = strchr(text, '@');
	int64_t bytes = 8;
	char size[8], type[8];

	if (fetch->arguments == FETCH_ARGS_MAX)
		return false;
	*argument = (struct fetch_argument){ .user = false };
	if (at && (size_t)(at - text) >= sizeof(size)) {
		bytes = 0;
	} else if (at) {
		memcpy(size, text, (size_t)(at - text));
		size[at - text] = '\0';
		if (!fetch_number(size, &bytes))
			bytes = 0;
		text = at + 1;
	}
	if (bytes >= -8 && bytes <= 8)
		snprintf(type, sizeof(type), "%c%d", bytes < 0 ? 's' : 'u', abs((int)bytes) * 8);
	else
		*type = '\0';
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, type))
			argument->type = &types[i];
	fetch->arguments++;
	if (argument->type && parse_operand(fetch, argument, text))
		return true;
	argument->ops = 0;
	return false;
}

static void add_all(struct fetching *fetch)
{
	const struct btf *btf;
	const struct btf_type *prototype = find_prototype(fetch, "$arg*", &btf);
	char name[FETCH_NAME_BYTES];

	for (uint32_t i = fetch->own; i < btf_vlen(prototype); i++) {
		const char *own = btf__name_by_offset(btf, btf_params(prototype)[i].name_off);

		/* The last one is "…" if it has no name. */
		if (!own || !*own)
			continue;
		snprintf(name, sizeof(name), "%s", own);
		/* Those of a tracepoint, or of a program, that can be had. */
		if ((fetch->event || fetch->program) && !fetch_has(fetch, name))
			continue;
		fetch_add(fetch, name);
	}
}

void fetch_add_word(struct fetching *fetch, char *text)
{
	if (strcmp(text, "$arg*") != 0)
		fetch_add(fetch, text);
	else
		add_all(fetch);
}

bool fetch_has(const struct fetching *fetch, const char *text)
{
	const char *equals = strchr(text, '='), *why_not, *colon;
	const struct btf_type *prototype;
	char name[FETCH_NAME_BYTES], why[VALUE_WHY_BYTES];
	struct value value;
	const struct btf *btf;

	if (equals)
		text = equals + 1;
	colon = strchr(text, ':');
	snprintf(name, sizeof(name), "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
	prototype = known_prototype(fetch, &btf, &why_not);
	if (!prototype || !value_find(btf, prototype, called(fetch), (uint32_t)arch.argument_count,
				      name, &value, why))
		return false;
	if (fetch->args && value.argument - fetch->own > fetch->args)
		return false;
	if (colon && !strcmp(colon, ":string"))
		return value.is_text;
	return value.is_chars || (value.bytes && !value.is_array);
}

static bool is_string(const struct fetch_argument *argument)
{
	return !argument->comm && argument->type->how != AS_NUMBER;
}

const char *fetch_type_name(const struct fetch_argument *argument)
{
	return argument->type->name;
}

/* The words of what is no string. */
static uint32_t argument_words(const struct fetch_argument *argument)
{
	if (argument->comm)
		return COMM_WORDS;
	return argument->elements ? (argument->elements * argument->type->bytes + 7) / 8 : 1;
}

/* The most words that a string needs: an array of characters, as comm in struct task_struct. */
static uint32_t most_words(const struct fetch_argument *argument)
{
	const struct value *value = &argument->value;

	if (!argument->named || !value->is_chars || !value->elements)
		return FKT_FETCH_WORDS_MAX;
	return value->elements <= 8 * FKT_FETCH_WORDS_MAX ? (value->elements + 7) / 8
							  : FKT_FETCH_WORDS_MAX;
}

/* How many words may be recorded. */
static uint32_t room(const struct fetching *fetch)
{
	return fetch->room ?: FKT_FETCH_WORDS_MAX;
}

/* What all but the strings take; *strings is how many of those there are. */
static uint32_t fixed_words(const struct fetching *fetch, uint32_t *strings)
{
	uint32_t words = 0;

	*strings = 0;
	for (size_t i = 0; i < fetch->arguments; i++) {
		const struct fetch_argument *argument = &fetch->argument[i];

		if (is_string(argument))
			++*strings;
		else
			words += argument_words(argument);
	}
	return words;
}

/*
 * What is left to each of the strings when everything else has its words, and those strings that
 * need no more than their share have what they need.
 */
static uint32_t string_words(const struct fetching *fetch, uint32_t *left)
{
	uint32_t strings, words = fixed_words(fetch, &strings), share;

	if (words + strings > room(fetch))
		fetch_wrong(fetch,
			    "an event has room for %" PRIu32
			    " arguments, of which $comm takes two, and an "
			    "array one for each 8 bytes",
			    room(fetch));
	*left = room(fetch) - words;
	words = *left;
	share = strings ? words / strings : 0;
	for (size_t i = 0; i < fetch->arguments; i++) {
		const struct fetch_argument *argument = &fetch->argument[i];

		if (is_string(argument) && most_words(argument) <= share) {
			words -= most_words(argument);
			strings--;
		}
	}
	return strings ? words / strings : share;
}

bool fetch_fits(const struct fetching *fetch)
{
	uint32_t strings, words = fixed_words(fetch, &strings);
	size_t ops = 0;

	for (size_t i = 0; i < fetch->arguments; i++)
		ops += fetch->argument[i].ops + OPS_TO_RECORD;
	return words + STRING_WORDS * strings <= room(fetch) && ops <= FKT_FETCH_OPS_MAX;
}

size_t fetch_compile(const struct fetching *fetch, struct fkt_fetch *ops, char *spec)
{
	uint32_t left, each = string_words(fetch, &left);
	size_t count = 0, used = (size_t)sprintf(spec, "#words");

	for (size_t i = 0; i < fetch->arguments; i++) {
		const struct fetch_argument *argument = &fetch->argument[i];
		bool last = i == fetch->arguments - 1;
		char type[ENUM_NAMES_BYTES], elements[16] = "";
		struct fkt_fetch op = { FKT_FETCH_WORD, 0, 0 };

		if (count + argument->ops + OPS_TO_RECORD > FKT_FETCH_OPS_MAX)
			fetch_wrong(fetch, "that is too much to fetch");
		memcpy(ops + count, argument->op, argument->ops * sizeof(*ops));
		count += argument->ops;
		if (!argument->by_name ||
		    !signature_enum(argument->value.btf, argument->value.enumeration,
				    argument->type->bytes, type))
			snprintf(type, sizeof(type), "%s", argument->type->spec);
		if (argument->comm) {
			op.op = FKT_FETCH_COMM;
			snprintf(type, sizeof(type), "string%d", 8 * COMM_WORDS);
		} else if (is_string(argument)) {
			bool user = argument->user || argument->type->how == AS_USER_STRING;

			if (last)
				op.op = user ? FKT_FETCH_LAST_STRING_USER : FKT_FETCH_LAST_STRING;
			else
				op.op = user ? FKT_FETCH_STRING_USER : FKT_FETCH_STRING;
			op.value = argument->offset;
			op.size = last ? left : each;
			if (op.size > most_words(argument))
				op.size = most_words(argument);
			left -= op.size;
			if (!last)
				snprintf(type, sizeof(type), "string%u", 8 * op.size);
		} else if (argument->elements) {
			op.op = argument->user ? FKT_FETCH_BYTES_USER : FKT_FETCH_BYTES;
			op.size = argument->elements * argument->type->bytes;
			op.value = argument->offset;
			snprintf(elements, sizeof(elements), "[%u]", argument->elements);
		} else if (argument->reads) {
			ops[count++] = (struct fkt_fetch){
				argument->user ? FKT_FETCH_READ_USER : FKT_FETCH_READ,
				argument->type->bytes,
				argument->offset,
			};
		}
		if (argument->bits)
			ops[count++] =
				(struct fkt_fetch){ FKT_FETCH_BITS, argument->bits, argument->bit };
		ops[count++] = op;
		used += (size_t)snprintf(spec + used, FETCH_SPEC_BYTES - used, " %.50s:%s%s",
					 argument->name, type, elements);
	}
	return count;
}

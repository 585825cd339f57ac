// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The addresses that -P names, in the language of tracefs' kprobe_events
 * (Documentation/trace/kprobetrace.rst):
 *
 *	[p[:[GRP/]EVENT]] [MOD:]SYM[+OFFSET]|0xADDRESS [FETCHARGS]
 *	r[MAXACTIVE][:[GRP/]EVENT] [MOD:]SYM [FETCHARGS]
 *
 * and "p:SYM" and "r:SYM" where no place follows. What they are to fetch is compiled into
 * operations that the module checks and executes.
 */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "arch.h"
#include "btf.h"
#include "functions.h"
#include "record.h"
#include "value.h"

#define RETURN_SUFFIX "%return"
#define SPEC_BYTES    1024
#define NAME_BYTES    128
#define ARGS_MAX      FKT_FETCH_WORDS_MAX
#define ARRAY_MAX     64 /* as kprobe_events have it */
#define COMM_WORDS    2
#define NAME_LETTERS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* What the command line names, NULL after the last one. */
static char **texts;

/*
 * The addresses of the recording: what the module is told, what the user wrote, for messages; and
 * what they record, one behind the other.
 */
static struct {
	struct fkt_kprobe_spec *spec;
	const char **text;
	size_t count;
	struct fkt_fetch *fetch;
	size_t fetches;
} addresses;

enum how {
	AS_NUMBER,
	AS_STRING,
	AS_USER_STRING,
	AS_COMM,
};

static const struct type {
	const char *name;
	enum how how;
	uint8_t bytes;
	const char *spec;
} types[] = {
	{ "u8", AS_NUMBER, 1, "u8" },	      { "u16", AS_NUMBER, 2, "u16" },
	{ "u32", AS_NUMBER, 4, "u32" },	      { "u64", AS_NUMBER, 8, "u64" },
	{ "s8", AS_NUMBER, 1, "s8" },	      { "s16", AS_NUMBER, 2, "s16" },
	{ "s32", AS_NUMBER, 4, "s32" },	      { "s64", AS_NUMBER, 8, "s64" },
	{ "x8", AS_NUMBER, 1, "x8" },	      { "x16", AS_NUMBER, 2, "x16" },
	{ "x32", AS_NUMBER, 4, "x32" },	      { "x64", AS_NUMBER, 8, "x64" },
	{ "char", AS_NUMBER, 1, "char" },     { "symbol", AS_NUMBER, 8, "sym" },
	{ "symstr", AS_NUMBER, 8, "sym" }, /* it is made text when it is listed */
	{ "string", AS_STRING, 0, "string" }, { "ustring", AS_USER_STRING, 0, "string" },
};

/**
 * struct argument - one FETCHARG
 * @name: what it is called
 * @type: how it is recorded
 * @comm: it is $comm
 * @reads: its value is in memory, at what the operations give plus @offset
 * @user: in the program's
 * @named: it is called by its name, and is @value
 * @value: what BTF says of it
 * @elements: how many an array has, else 0
 * @bit: the first bit of a bit field
 * @bits: how many it has, else 0
 * @op: operations
 * @ops: how many
 */
struct argument {
	char name[NAME_BYTES];
	const struct type *type;
	bool comm;
	bool reads;
	bool user;
	bool named;
	struct value value;
	uint32_t elements;
	uint32_t bit;
	uint32_t bits;
	int64_t offset;
	struct fkt_fetch op[FKT_FETCH_OPS_MAX];
	size_t ops;
};

/**
 * struct probe - what is being parsed
 * @text: all of it, for messages
 * @returns: a function's return
 * @inside: a place inside a function
 * @max_active: see struct fkt_kprobe_spec
 * @address: where
 * @function: the function's name, NULL when an address is given
 * @module: the function's, NULL when it is the kernel's
 * @name: of its code
 * @argument: what it fetches
 * @arguments: how many
 */
struct probe {
	const char *text;
	bool returns;
	bool inside;
	uint32_t max_active;
	uint64_t address;
	const char *function;
	const char *module;
	char name[NAME_BYTES];
	struct argument argument[ARGS_MAX];
	size_t arguments;
};

static void __attribute__((noreturn))
complain(int status, const struct probe *probe, const char *format, va_list ap)
{
	char why[512];

	vsnprintf(why, sizeof(why), format, ap);
	errx(status, "-P '%s': %s", probe->text, why);
}

/* What is not written as it should be. */
static void __attribute__((noreturn, format(printf, 2, 3)))
wrong(const struct probe *probe, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(EXIT_USAGE, probe, format, ap);
}

/* What this kernel does not have. */
static void __attribute__((noreturn, format(printf, 2, 3)))
missing(const struct probe *probe, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	complain(EXIT_FAILURE, probe, format, ap);
}

/* ---- what to fetch ---- */

static void add_op(const struct probe *probe, struct argument *argument, uint32_t op, uint32_t size,
		   int64_t value)
{
	if (argument->ops == FKT_FETCH_OPS_MAX)
		wrong(probe, "%s has too many parentheses", argument->name);
	argument->op[argument->ops++] = (struct fkt_fetch){ op, size, value };
}

/* A number that takes all of the text. */
static bool parse_number(const char *text, int64_t *value)
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

static void parse_memory(const struct probe *probe, struct argument *argument, const char *text)
{
	size_t length = strcspn(text + 1, "+-") + 1;
	char symbol[512];
	int64_t address;

	argument->reads = true;
	if (parse_number(text, &address)) {
		add_op(probe, argument, FKT_FETCH_VALUE, 0, address);
		return;
	}
	snprintf(symbol, sizeof(symbol), "%.*s", (int)length, text);
	address = (int64_t)symbol_address(symbol);
	if (!address)
		wrong(probe, "@%s: there is no such symbol", symbol);
	if (text[length] && !parse_number(text + length, &argument->offset))
		wrong(probe, "@%s: '%s' is not an offset", text, text + length);
	add_op(probe, argument, FKT_FETCH_VALUE, 0, address);
}

/* What is behind a function's last argument is something else's. */
static void check_argument(const struct probe *probe, const char *name, int64_t number)
{
	struct signature signature;

	if (!probe->function)
		return;
	btf_signature(probe->function, probe->module, &signature);
	if (signature.known && number > signature.most_words)
		wrong(probe, "%s has %" PRIu32 " argument%s: there is no $%s", probe->function,
		      signature.most_words, signature.most_words == 1 ? "" : "s", name);
}

/* Argument number @number of the function, from 1, called @name: as it was at the entry. */
static void add_function_argument(const struct probe *probe, struct argument *argument,
				  const char *name, int64_t number)
{
	if (probe->inside)
		wrong(probe, "%s is there when a function is entered, not later", name);
	if (number <= (int64_t)arch.argument_count)
		add_op(probe, argument,
		       probe->returns ? FKT_FETCH_ENTRY_REGISTER : FKT_FETCH_REGISTER, 0,
		       arch.argument[number - 1]);
	else
		add_op(probe, argument, probe->returns ? FKT_FETCH_ENTRY_STACK : FKT_FETCH_STACK, 0,
		       number - (int64_t)arch.argument_count);
}

static void check_result(const struct probe *probe)
{
	if (!probe->returns)
		wrong(probe, "$retval is there when a function returns: begin with r:");
}

static void add_result(const struct probe *probe, struct argument *argument)
{
	check_result(probe);
	add_op(probe, argument, FKT_FETCH_REGISTER, 0, arch.result);
}

static const struct btf_type *find_prototype(const struct probe *probe, const char *text,
					     const struct btf **btf)
{
	const struct btf_type *prototype;
	const char *why;

	if (!probe->function)
		wrong(probe, "'%s': of which function? There is an address alone", text);
	prototype = btf_prototype(probe->function, probe->module, btf, &why);
	if (!prototype)
		missing(probe, "'%s': nothing is known of the arguments of %s: %s; use $argN", text,
			probe->function, why);
	return prototype;
}

/* An argument of the function by its name, or its result, or a field that it leads to. */
static void parse_name(const struct probe *probe, struct argument *argument, const char *text)
{
	struct value *value = &argument->value;
	const struct btf_type *prototype;
	const struct btf *btf;
	char why[VALUE_WHY_BYTES];

	if (*text == '$')
		check_result(probe);
	prototype = find_prototype(probe, text, &btf);
	if (!value_find(btf, prototype, probe->function, (uint32_t)arch.argument_count, text, value,
			why))
		missing(probe, "%s", why);
	argument->named = true;
	if (value->argument)
		add_function_argument(probe, argument, text, value->argument);
	else
		add_result(probe, argument);
	for (size_t i = 0; i + 1 < value->steps; i++)
		add_op(probe, argument, FKT_FETCH_READ, 8, value->offset[i]);
	if (value->steps) {
		argument->reads = true;
		argument->offset = value->offset[value->steps - 1];
	}
}

static void parse_variable(const struct probe *probe, struct argument *argument, const char *name)
{
	int64_t number;

	if (!strcmp(name, "comm")) {
		argument->comm = true;
	} else if (!strcmp(name, "retval")) {
		add_result(probe, argument);
	} else if (!strncmp(name, "retval->", strlen("retval->"))) {
		parse_name(probe, argument, name - strlen("$"));
	} else if (!strcmp(name, "stack")) {
		add_op(probe, argument, FKT_FETCH_STACK_ADDR, 0, 0);
	} else if (!strncmp(name, "stack", strlen("stack")) &&
		   parse_number(name + strlen("stack"), &number) && number >= 0 && number < 512) {
		add_op(probe, argument, FKT_FETCH_STACK, 0, number);
	} else if (!strncmp(name, "arg", strlen("arg")) &&
		   parse_number(name + strlen("arg"), &number) && number >= 1 && number <= 64) {
		check_argument(probe, name, number);
		add_function_argument(probe, argument, name - strlen("$"), number);
	} else {
		wrong(probe, "$%s: there are $retval, $stack, $stackN, $argN and $comm", name);
	}
}

static void parse_register(const struct probe *probe, struct argument *argument, const char *name)
{
	for (size_t i = 0; i < arch.registers_count; i++) {
		if (arch.registers[i] && !strcmp(arch.registers[i], name)) {
			add_op(probe, argument, FKT_FETCH_REGISTER, 0, (int64_t)i);
			return;
		}
	}
	wrong(probe,
	      "%%%s: there is no such register; they are called ax, bx … r15, without r or e",
	      name);
}

static void parse_fetch(const struct probe *probe, struct argument *argument, char *text);

/* +|-[u]OFFSET(FETCHARG) */
static void parse_dereference(const struct probe *probe, struct argument *argument, char *text)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	char number[32];
	bool user = text[1] == 'u';
	int64_t offset;

	if (!open || !close || close[1])
		wrong(probe, "'%s': write %cOFFSET(…)", text, *text);
	snprintf(number, sizeof(number), "%c%.*s", *text, (int)(open - (text + 1 + user)),
		 text + 1 + user);
	if (!parse_number(number, &offset))
		wrong(probe, "'%s' is not an offset", number);
	*close = '\0';
	parse_fetch(probe, argument, open + 1);
	if (argument->comm)
		wrong(probe, "$comm is no address");
	if (argument->reads)
		add_op(probe, argument, argument->user ? FKT_FETCH_READ_USER : FKT_FETCH_READ, 8,
		       argument->offset);
	argument->reads = true;
	argument->user = user;
	argument->named = false;
	argument->offset = offset;
}

static void parse_fetch(const struct probe *probe, struct argument *argument, char *text)
{
	int64_t value;

	if (!isdigit((unsigned char)*text) && strspn(text, NAME_LETTERS)) {
		parse_name(probe, argument, text);
		return;
	}
	switch (*text) {
	case '%':
		parse_register(probe, argument, text + 1);
		return;
	case '$':
		parse_variable(probe, argument, text + 1);
		return;
	case '@':
		parse_memory(probe, argument, text + 1);
		return;
	case '+':
	case '-':
		parse_dereference(probe, argument, text);
		return;
	case '\\':
		if (!parse_number(text + 1, &value))
			wrong(probe, "'%s' is not a number", text + 1);
		add_op(probe, argument, FKT_FETCH_VALUE, 0, value);
		return;
	default:
		wrong(probe,
		      "'%s': an argument is %%REGISTER, $argN, $retval, $stack, $stackN, $comm, "
		      "@ADDRESS, @SYMBOL, \\NUMBER, +OFFSET(…), or the name of an argument of "
		      "the function, with ->FIELD and .FIELD",
		      text);
	}
}

static const struct type *find_type(const struct probe *probe, const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, name))
			return &types[i];
	wrong(probe,
	      ":%s: the types are u8 … u64, s8 … s64, x8 … x64, char, symbol, symstr, string, "
	      "ustring; arrays of numbers, TYPE[COUNT]; and bit fields, bBITS@FIRST/WORDBITS",
	      name);
}

/* bBITS@FIRST/WORDBITS: bits of a number of 8, 16, 32 or 64 bits. */
static void parse_bits(const struct probe *probe, struct argument *argument, const char *text)
{
	unsigned int bits, first, word;
	char name[16], end;

	if (sscanf(text, "b%u@%u/%u%c", &bits, &first, &word, &end) != 3)
		wrong(probe, ":%s: write bBITS@FIRST/WORDBITS", text);
	if (word != 8 && word != 16 && word != 32 && word != 64)
		wrong(probe, ":%s: bits are of a word of 8, 16, 32 or 64", text);
	if (!bits || bits > word || first > word - bits)
		wrong(probe, ":%s: a word of %u bits does not have these", text, word);
	snprintf(name, sizeof(name), "u%u", word);
	argument->type = find_type(probe, name);
	argument->bit = first;
	argument->bits = bits;
}

/* A type as it is written: TYPE, TYPE[COUNT], or a bit field. */
static void parse_type(const struct probe *probe, struct argument *argument, const char *text)
{
	const char *open = strchr(text, '[');
	char name[16], count[16];
	int64_t elements;
	size_t length;

	if (*text == 'b') {
		parse_bits(probe, argument, text);
		return;
	}
	if (!open) {
		argument->type = find_type(probe, text);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(open - text), text);
	argument->type = find_type(probe, name);
	length = strlen(open + 1);
	if (!length || open[length] != ']' || length > sizeof(count))
		wrong(probe, ":%s: write TYPE[COUNT]", text);
	snprintf(count, sizeof(count), "%.*s", (int)length - 1, open + 1);
	if (!parse_number(count, &elements) || elements < 1 || elements > ARRAY_MAX)
		wrong(probe, ":%s: an array has 1 to %d elements", text, ARRAY_MAX);
	if (argument->type->how != AS_NUMBER || !strcmp(name, "symstr"))
		wrong(probe, ":%s: arrays are of numbers", text);
	if (!argument->reads)
		wrong(probe, ":%s: an array is in memory: +OFFSET(…):%s", text, text);
	if (elements * argument->type->bytes > 8 * FKT_FETCH_WORDS_MAX)
		wrong(probe, ":%s: an event has room for %d bytes", text, 8 * FKT_FETCH_WORDS_MAX);
	argument->elements = (uint32_t)elements;
}

/* The type of what is called by its name, where none is written. */
static void natural_type(const struct probe *probe, struct argument *argument, const char *text)
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
		wrong(probe, "%s is a %s: write which field of it, or :TYPE behind it", text,
		      value->type);
	if (value->is_array && !value->is_chars &&
	    (!value->bytes || !value->elements || value->elements > ARRAY_MAX ||
	     value->elements * value->bytes > 8 * FKT_FETCH_WORDS_MAX))
		wrong(probe, "%s is a %s: write which elements of it by :TYPE[COUNT] behind it",
		      text, value->type);
	if (value->is_chars)
		type = "string";
	else if (value->is_function)
		type = "symbol";
	else if (value->is_pointer)
		type = "x64";
	else
		type = numbers[value->bytes][value->is_signed];
	argument->type = find_type(probe, type);
	argument->bit = value->bit;
	argument->bits = value->bits;
	if (value->is_array && !value->is_chars)
		argument->elements = value->elements;
}

/* A string is where a pointer points to, or where an array of characters is. */
static void point_to_string(const struct probe *probe, struct argument *argument, const char *text)
{
	const struct value *value = &argument->value;

	if (!value->is_text)
		wrong(probe, "%s is a %s, and no string", text, value->type);
	if (value->is_pointer && argument->reads) {
		add_op(probe, argument, FKT_FETCH_READ, 8, argument->offset);
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

static void parse_argument(struct probe *probe, char *text)
{
	struct argument *argument = &probe->argument[probe->arguments];
	char *equals = strchr(text, '='), *colon = strrchr(text, ':');
	const char *type = NULL;
	size_t length;

	if (probe->arguments == ARGS_MAX)
		wrong(probe, "an event has room for %d arguments", ARGS_MAX);
	probe->arguments++;
	if (colon) {
		*colon = '\0';
		type = colon + 1;
	}
	if (equals) {
		length = (size_t)(equals - text);
		if (!length || length >= sizeof(argument->name) ||
		    strspn(text, NAME_LETTERS) != length)
			wrong(probe, "'%.*s' is not a name", (int)length, text);
		memcpy(argument->name, text, length);
		argument->name[length] = '\0';
		text = equals + 1;
	} else {
		snprintf(argument->name, sizeof(argument->name), "arg%zu", probe->arguments);
	}
	parse_fetch(probe, argument, text);
	if (argument->named && !equals)
		snprintf(argument->name, sizeof(argument->name), "%s", last_name(text));
	if (!type && argument->named)
		natural_type(probe, argument, text);
	else
		parse_type(probe, argument, type ?: argument->comm ? "string" : "x64");
	if (argument->named && argument->type->how != AS_NUMBER)
		point_to_string(probe, argument, text);
	if (argument->comm && argument->type->how != AS_STRING)
		wrong(probe, "$comm is a string");
}

/* $arg*: all of the function's, by their names. */
static void parse_all_arguments(struct probe *probe)
{
	const struct btf *btf;
	const struct btf_type *prototype = find_prototype(probe, "$arg*", &btf);
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < btf_vlen(prototype); i++) {
		const char *own = btf__name_by_offset(btf, btf_params(prototype)[i].name_off);

		/* The last one is "…" if it has no name. */
		if (!own || !*own)
			continue;
		snprintf(name, sizeof(name), "%s", own);
		parse_argument(probe, name);
	}
}

static bool is_string(const struct argument *argument)
{
	return !argument->comm && argument->type->how != AS_NUMBER;
}

/* The words of what is no string. */
static uint32_t argument_words(const struct argument *argument)
{
	if (argument->comm)
		return COMM_WORDS;
	return argument->elements ? (argument->elements * argument->type->bytes + 7) / 8 : 1;
}

/* What is left to each of the strings when everything else has its words. */
static uint32_t string_words(const struct probe *probe, uint32_t *left)
{
	uint32_t strings = 0, words = 0;

	for (size_t i = 0; i < probe->arguments; i++) {
		const struct argument *argument = &probe->argument[i];

		if (is_string(argument))
			strings++;
		else
			words += argument_words(argument);
	}
	if (words + strings > FKT_FETCH_WORDS_MAX)
		wrong(probe,
		      "an event has room for %d arguments, of which $comm takes two, and an array "
		      "one for each 8 bytes",
		      FKT_FETCH_WORDS_MAX);
	*left = FKT_FETCH_WORDS_MAX - words;
	return strings ? *left / strings : 0;
}

/* The operations of all arguments, and the spec of what they record. */
static size_t compile(const struct probe *probe, struct fkt_fetch *ops, char *spec)
{
	uint32_t left, each = string_words(probe, &left);
	size_t count = 0, used = (size_t)sprintf(spec, "#words");

	for (size_t i = 0; i < probe->arguments; i++) {
		const struct argument *argument = &probe->argument[i];
		bool last = i == probe->arguments - 1;
		char type[16];
		struct fkt_fetch op = { FKT_FETCH_WORD, 0, 0 };

		if (count + argument->ops + 3 > FKT_FETCH_OPS_MAX)
			wrong(probe, "that is too much to fetch");
		memcpy(ops + count, argument->op, argument->ops * sizeof(*ops));
		count += argument->ops;
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
			op.size = last ? left : each;
			op.value = argument->offset;
			left -= op.size;
			if (!last)
				snprintf(type, sizeof(type), "string%u", 8 * op.size);
		} else if (argument->elements) {
			op.op = argument->user ? FKT_FETCH_BYTES_USER : FKT_FETCH_BYTES;
			op.size = argument->elements * argument->type->bytes;
			op.value = argument->offset;
			snprintf(type, sizeof(type), "%s[%u]", argument->type->spec,
				 argument->elements);
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
		used += (size_t)snprintf(spec + used, SPEC_BYTES - used, " %.50s:%s",
					 argument->name, type);
	}
	return count;
}

/* ---- where ---- */

/* How many bytes of code there are from this address to the next symbol. */
static uint64_t code_bytes(uint64_t address)
{
	const struct functions *symbols = functions_symbols();
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < symbols->count; i++)
		if (symbols->function[i].address > address && symbols->function[i].address < next)
			next = symbols->function[i].address;
	return next - address;
}

/* Its address. *module is that which was asked for, or NULL, and is then the one it is in. */
static uint64_t find_function(const struct probe *probe, const char *name, const char **module)
{
	const struct functions *symbols = functions_symbols();
	const struct function *function = functions_find(symbols, name), *first = NULL;
	const struct function *end = symbols->function + symbols->count;
	size_t found = 0, used = 0;
	const char *why;
	char where[256];

	if (!symbols->count)
		missing(probe, "the kernel hides its addresses (sysctl kernel.kptr_restrict)");
	for (; function && function < end && !strcmp(function->name, name); function++) {
		if (*module && (!function->module || strcmp(function->module, *module)))
			continue;
		if (!found++)
			first = function;
		if (used < sizeof(where))
			used += (size_t)snprintf(where + used, sizeof(where) - used, "%s%#" PRIx64,
						 found > 1 ? ", " : "", function->address);
	}
	if (found > 1)
		missing(probe, "there are %zu functions %s; write the address of one of them (%s)",
			found, name, where);
	if (!found) {
		const char *nearest = functions_nearest(symbols, name);

		if (nearest && strcmp(nearest, name))
			missing(probe, "there is no function %s; is %s meant?", name, nearest);
		missing(probe, "there is no function %s%s%s", name,
			*module ? " in the module " : "", *module ? *module : "");
	}
	if (first->module && functions_own(first->module))
		missing(probe, "FKT does not trace itself");
	if (hazard_find(name, &why) == FUNCTION_NEVER)
		missing(probe, "not to be probed: %s", why);
	*module = first->module;
	return first->address;
}

static void parse_place(struct probe *probe, char *place)
{
	size_t length = strlen(place), suffix = strlen(RETURN_SUFFIX);
	const char *module = NULL;
	char *symbol, *plus;
	int64_t offset = 0;

	if (length > suffix && !strcmp(place + length - suffix, RETURN_SUFFIX)) {
		place[length - suffix] = '\0';
		probe->returns = true;
	}
	if (!*probe->name)
		snprintf(probe->name, sizeof(probe->name), "%s%s", place,
			 probe->returns ? RETURN_SUFFIX : "");
	if (*place >= '0' && *place <= '9') {
		if (!parse_number(place, &offset))
			wrong(probe, "'%s' is not an address", place);
		probe->address = (uint64_t)offset;
		return;
	}
	symbol = strchr(place, ':');
	if (symbol) {
		module = place;
		*symbol++ = '\0';
	} else {
		symbol = place;
	}
	plus = strpbrk(symbol, "+-");
	if (plus) {
		if (*plus == '-' || !parse_number(plus, &offset))
			wrong(probe, "'%s' is not an offset in a function; write +NUMBER", plus);
		*plus = '\0';
	}
	if (probe->returns && offset)
		wrong(probe,
		      "a function's return is traced from its beginning: leave out the offset");
	probe->address = find_function(probe, symbol, &module);
	if ((uint64_t)offset >= code_bytes(probe->address))
		missing(probe, "%s has only %#" PRIx64 " bytes", symbol,
			code_bytes(probe->address));
	probe->address += (uint64_t)offset;
	probe->inside = offset;
	probe->function = symbol;
	probe->module = module;
}

/*
 * "p", "p:…", "r", "r16:…". Return: what follows the colon, "" without one; NULL: it is none of
 * these.
 */
static char *parse_kind(struct probe *probe, char *word)
{
	size_t digits = strspn(word + 1, "0123456789");
	int64_t number;
	char end;

	if (*word != 'p' && *word != 'r')
		return NULL;
	end = word[1 + digits];
	if (end && end != ':')
		return NULL;
	if (digits) {
		word[1 + digits] = '\0';
		if (*word == 'p' || !parse_number(word + 1, &number) || number < 1 ||
		    number > FKT_KPROBE_ACTIVE_MAX)
			wrong(probe, "'%s': a number belongs behind r, and is at most %u", word,
			      FKT_KPROBE_ACTIVE_MAX);
		probe->max_active = (uint32_t)number;
	}
	probe->returns = *word == 'r';
	return word + 1 + digits + (end == ':');
}

static bool is_place(const char *word)
{
	return word && !strpbrk(word, "=>") && !strchr("%$@+-\\", *word);
}

/*
 * Whether a word that may be a place is an argument, called by its name, of a function that stands
 * where kprobe_events have the name of an event.
 */
static bool is_argument(const char *word, const char *event)
{
	return !functions_find(functions_symbols(), word) &&
	       functions_find(functions_symbols(), event);
}

static void parse_probe(struct probe *probe, char *text)
{
	char *save, *word = strtok_r(text, " \t\n", &save), *event;

	if (!word)
		wrong(probe, "which function or address?");
	if (*word == '-')
		wrong(probe, "nothing is there to be deleted: a probe ends with its recording");
	event = parse_kind(probe, word);
	if (event) {
		word = strtok_r(NULL, " \t\n", &save);
		if (is_place(word) && !is_argument(word, event)) {
			char *slash = strchr(event, '/');

			if (slash)
				*slash = ':';
			snprintf(probe->name, sizeof(probe->name), "%s", event);
			event = word;
			word = strtok_r(NULL, " \t\n", &save);
		}
		if (!*event)
			wrong(probe, "which function or address?");
		parse_place(probe, event);
	} else {
		parse_place(probe, word);
		word = strtok_r(NULL, " \t\n", &save);
	}
	for (; word; word = strtok_r(NULL, " \t\n", &save)) {
		if (!strcmp(word, "$arg*"))
			parse_all_arguments(probe);
		else
			parse_argument(probe, word);
	}
}

static void add_address(struct codes *codes, const char *text)
{
	struct probe *probe = calloc(1, sizeof(*probe));
	struct fkt_fetch ops[FKT_FETCH_OPS_MAX];
	size_t count = addresses.count, n;
	char spec[SPEC_BYTES], *copy = strdup(text);

	if (!probe || !copy)
		err(EXIT_FAILURE, "no memory for the addresses");
	probe->text = text;
	parse_probe(probe, copy);
	if (count == FKT_KPROBES_MAX)
		wrong(probe, "there are too many addresses");
	n = compile(probe, ops, spec);
	/* What is there may be a variable as well as a function. */
	if (strstr(spec, ":sym"))
		codes->names_data = true;
	if (!(count & (count - 1))) {
		size_t room = count ? 2 * count : 1;

		addresses.spec = reallocarray(addresses.spec, room, sizeof(*addresses.spec));
		addresses.text = reallocarray(addresses.text, room, sizeof(*addresses.text));
	}
	if (n)
		addresses.fetch = reallocarray(addresses.fetch, addresses.fetches + n,
					       sizeof(*addresses.fetch));
	if (!addresses.spec || !addresses.text || (n && !addresses.fetch))
		err(EXIT_FAILURE, "no memory for the addresses");
	if (n)
		memcpy(addresses.fetch + addresses.fetches, ops, n * sizeof(*ops));
	addresses.text[count] = text;
	addresses.spec[count] = (struct fkt_kprobe_spec){
		.address = probe->address,
		.code = fkt_codes_add(codes, FKT_KIND_POINT, 0, (uint32_t)FKT_KEY_ADDRESSES,
				      probe->name, spec),
		.key = (uint8_t)__builtin_ctz(FKT_KEY_ADDRESSES),
		.flags = probe->returns ? FKT_KPROBE_RETURN : 0,
		.ops = (uint16_t)n,
		.max_active = probe->max_active,
		.ops_first = (uint32_t)addresses.fetches,
	};
	addresses.count++;
	addresses.fetches += n;
	free(copy);
	free(probe);
}

const char *address_refused(int error, bool returns)
{
	switch (error) {
	case EINVAL:
		return returns ? "the kernel allows no probe there: it is not the beginning of a "
				 "function, or of one that must not be probed"
			       : "the kernel allows no probe there: it is not code, or code that must "
				 "not be probed (/sys/kernel/debug/kprobes/blacklist)";
	case EILSEQ:
		return "no instruction begins there";
	case EDEADLK:
		return "FKT does not trace itself";
	case ERANGE:
		return "it is the last function of its module, and the kernel, when it puts a probe "
		       "there, reads past the module's end";
	case ENOENT:
		return "there is no code at that address";
	default:
		return strerror(error);
	}
}

static void find_addresses(struct recording *recording)
{
	for (char **text = texts; text && *text; text++)
		add_address(&recording->codes, *text);
}

static int set_addresses(struct recording *recording)
{
	struct fkt_probes kprobes = {
		.size = sizeof(kprobes),
		.kind = FKT_PROVIDER_KPROBE,
		.count = (uint32_t)addresses.count,
		.spec_bytes = sizeof(*addresses.spec),
		.specs_ptr = (uintptr_t)addresses.spec,
		.common_ptr = (uintptr_t)addresses.fetch,
		.common_bytes = (uint32_t)(addresses.fetches * sizeof(*addresses.fetch)),
	};
	const char *level;

	if (!addresses.count || !ioctl(recording->device, FKT_ADD_PROBES, &kprobes))
		return 0;
	level = lockdown();
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM && level)
		warnx("-P: the kernel is locked down for %s (Secure Boot), which forbids to read its memory; "
		      "see kernel_lockdown(7)",
		      level);
	else if (errno == EPERM)
		warnx(FKT_DEVICE ": -P takes CAP_SYS_ADMIN");
	else if (kprobes.done >= addresses.count)
		warn("cannot set the addresses");
	else
		warnx("-P '%s': %s", addresses.text[kprobes.done],
		      address_refused(errno,
				      addresses.spec[kprobes.done].flags & FKT_KPROBE_RETURN));
	return -1;
}

static const struct argp_option options_of_addresses[] = {
	{ "probe", 'P', "PROBE", 0,
	  "Trace an address, FUNCTION+OFFSET, or a function's return, r:FUNCTION, and what it finds "
	  "in registers and memory: as in tracefs' kprobe_events",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != 'P')
		return ARGP_ERR_UNKNOWN;
	options_add_word(&texts, arg);
	options->probe_keys |= FKT_KEY_ADDRESSES;
	return 0;
}

const struct probe_kind kind_addresses = {
	.argp = { .options = options_of_addresses, .parser = parse },
	.find = find_addresses,
	.set = set_addresses,
};

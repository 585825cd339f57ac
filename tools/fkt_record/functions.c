// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions that can be traced: what ftrace lists, with addresses from /proc/kallsyms. */
#include <err.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "arch.h"
#include "common/distance.h"
#include "ftrace.h"
#include "functions.h"
#include "record.h"
#include "sections.h"

/* "ffffffff81000000 T name": addresses have all their digits. */
#define NAME_AT	      19

/* How the functions begin that the kernel calls at each security check, for BPF's sake alone. */
#define FOR_BPF	      "bpf_lsm_"

/* No function of the kernel has a longer name: its KSYM_NAME_LEN. */
#define NAME_BYTES    512

/* Where patterns name more, ftrace's list of all is read. */
#define PICKED_MAX    1024

/* What ftrace calls places that are in no function. */
#define INVALID_PLACE "__ftrace_invalid_address__"

static uint64_t order_of(const char *name)
{
	uint64_t order = 0;

	for (int shift = 56; shift >= 0 && *name; shift -= 8)
		order |= (uint64_t)(unsigned char)*name++ << shift;
	return order;
}

static void add(struct functions *functions, uint64_t address, const char *name, const char *module)
{
	size_t count = functions->count;

	/* Room for a power of two of them. */
	if (!(count & (count - 1))) {
		size_t room = count ? 2 * count : 1;
		void *grown = reallocarray(functions->function, room, sizeof(struct function));

		if (!grown)
			err(EXIT_FAILURE, "no memory for the functions");
		functions->function = grown;
	}
	functions->function[functions->count++] = (struct function){
		.address = address,
		.order = order_of(name),
		.name = name,
		.module = module,
	};
}

/* Cuts "name [module]", or "name<tab>[module]", in two. Return: the module, or NULL. */
static char *cut_module(char *name)
{
	char *module = name;
	size_t length;

	while ((unsigned char)*module > ' ')
		module++;

	if (*module && *module != '\n')
		*module++ = '\0';
	if (*module != '[') {
		*module = '\0';
		return NULL;
	}
	module++;
	length = strcspn(module, "]");
	module[length] = '\0';
	return module;
}

/* As strcmp() of @function's name and @name, which has this @order. */
static int compare_name(const struct function *function, uint64_t order, const char *name)
{
	if (function->order != order)
		return function->order > order ? 1 : -1;
	return strcmp(function->name, name);
}

static int compare_functions(const void *va, const void *vb)
{
	const struct function *a = va, *b = vb;
	int order = compare_name(a, b->order, b->name);

	return order ? order : (a->address > b->address) - (a->address < b->address);
}

static void sort(struct functions *functions)
{
	if (functions->count)
		qsort(functions->function, functions->count, sizeof(struct function),
		      compare_functions);
}

/* Names of the room before functions, which is filled when they are moved or called indirectly. */
static bool is_padding(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6);
}

struct functions *functions_symbols(void)
{
	static struct functions symbols;
	static bool read;
	const struct sections *running = symbols_running();
	char *text, *line, *next;

	/* Where addresses are hidden, there are none; this is asked for each function. */
	if (read || !running->bytes)
		return &symbols;
	read = true;
	/* The functions' names live as long as the program. */
	text = malloc(running->bytes + 1);
	if (!text)
		err(EXIT_FAILURE, "no memory for the functions");
	memcpy(text, running->data, running->bytes);
	text[running->bytes] = '\0';
	for (line = text; (next = strchr(line, '\n')); line = next + 1) {
		uint64_t address;

		/* In kernels that have them, half of all names. */
		if (is_padding(line + NAME_AT))
			continue;
		*next = '\0';
		address = strtoull(line, NULL, 16);
		if (address)
			add(&symbols, address, line + NAME_AT, cut_module(line + NAME_AT));
	}
	sort(&symbols);
	return &symbols;
}

struct function *functions_find(const struct functions *functions, const char *name)
{
	const uint64_t order = order_of(name);
	size_t low = 0, high = functions->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_name(&functions->function[middle], order, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == functions->count || strcmp(functions->function[low].name, name))
		return NULL;
	return &functions->function[low];
}

static bool same_module(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * The address of a function that ftrace lists after the one at @last: it lists them by address, as
 * far as they are of one module. Of several with one name that tells which it is.
 */
static uint64_t next_address(const char *name, const char *module, uint64_t last)
{
	const struct functions *symbols = functions_symbols();
	const struct function *symbol = functions_find(symbols, name);
	const struct function *end = symbols->function + symbols->count;
	uint64_t first = 0;

	for (; symbol && symbol < end && !strcmp(symbol->name, name); symbol++) {
		if (!same_module(symbol->module, module))
			continue;
		if (symbol->address > last)
			return symbol->address;
		if (!first)
			first = symbol->address;
	}
	return first;
}

/* A copy that lives as long as the program. */
static const char *keep(const char *name)
{
	const char *copy = strdup(name);

	if (!copy)
		err(EXIT_FAILURE, "no memory for the functions");
	return copy;
}

/* A table of all names in these texts, which are separated by |. */
static void enter_names(struct hsearch_data *table, const char *const *names, size_t count)
{
	size_t all = 0;
	ENTRY *entry;

	for (size_t i = 0; i < count; i++)
		for (const char *name = names[i]; name; name = strchr(name + 1, '|'))
			all++;
	if (!hcreate_r(2 * all, table))
		err(EXIT_FAILURE, "no memory for the functions");
	for (size_t i = 0; i < count; i++) {
		char *copy = strdup(names[i]), *rest = copy, *name;

		if (!copy)
			err(EXIT_FAILURE, "no memory for the functions");
		while ((name = strsep(&rest, "|")))
			if (!hsearch_r((ENTRY){ .key = name }, ENTER, &entry, table))
				err(EXIT_FAILURE, "no memory for the functions");
	}
}

/* Functions of one name and one module follow each other, but for those of others in between. */
static void count_namesakes(struct functions *functions)
{
	struct function *end = functions->function + functions->count;

	for (struct function *function = functions->function; function < end; function++)
		for (const struct function *other = functions_find(functions, function->name);
		     other < end && !strcmp(other->name, function->name); other++)
			function->namesakes += same_module(other->module, function->module);
}

/* Whether one of some patterns, NULL after the last one, names a function. */
static bool any_matches(char *const *patterns, const struct function *function)
{
	for (; patterns && *patterns; patterns++)
		if (functions_match(*patterns, function))
			return true;
	return false;
}

/*
 * Add all functions of the names in a table, and up to @most that the patterns name. Return:
 * whether these were all.
 */
static bool add_picked(struct functions *functions, struct hsearch_data *table,
		       char *const *patterns, size_t most)
{
	const struct sections *running = symbols_running();
	const char *line = running->data, *end = line + running->bytes, *next;

	for (; line < end && (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		size_t length = (size_t)(next - line) - NAME_AT;
		struct function function = { 0 };
		char name[NAME_BYTES];
		ENTRY *entry;

		if (length >= sizeof(name) || is_padding(line + NAME_AT))
			continue;
		memcpy(name, line + NAME_AT, length);
		name[length] = '\0';
		function.module = cut_module(name);
		function.name = name;
		if (!hsearch_r((ENTRY){ .key = name }, FIND, &entry, table)) {
			if (!any_matches(patterns, &function))
				continue;
			if (!most--)
				return false;
		}
		function.address = strtoull(line, NULL, 16);
		if (function.address)
			add(functions, function.address, keep(name),
			    function.module ? keep(function.module) : NULL);
	}
	return true;
}

struct functions *functions_named(const char *const *names, size_t count)
{
	static struct functions functions;
	struct hsearch_data table = { 0 };

	enter_names(&table, names, count);
	add_picked(&functions, &table, NULL, 0);
	hdestroy_r(&table);
	sort(&functions);
	count_namesakes(&functions);
	return &functions;
}

/**
 * struct place - where a function is
 * @address: of it
 * @name: what /proc/kallsyms calls it first, in its line there
 */
struct place {
	uint64_t address;
	const char *name;
};

static int compare_places(const void *va, const void *vb)
{
	const struct place *a = va, *b = vb;

	return (a->address > b->address) - (a->address < b->address);
}

static void find_names(struct place *places, size_t count)
{
	const struct sections *running = symbols_running();
	const char *line = running->data, *end = line + running->bytes, *next;

	for (; line < end && (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		const struct place wanted = { .address = strtoull(line, NULL, 16) };
		struct place *place =
			bsearch(&wanted, places, count, sizeof(*places), compare_places);

		if (place && !place->name)
			place->name = line + NAME_AT;
	}
}

/* Of several names of one address ftrace has the first. */
static void bar_aliases(struct functions *functions)
{
	struct place *places = calloc(functions->count + 1, sizeof(*places));

	if (!places)
		err(EXIT_FAILURE, "no memory for the functions");
	for (size_t i = 0; i < functions->count; i++)
		places[i].address = functions->function[i].address;
	qsort(places, functions->count, sizeof(*places), compare_places);
	find_names(places, functions->count);
	for (size_t i = 0; i < functions->count; i++) {
		struct function *function = &functions->function[i];
		const struct place wanted = { .address = function->address };
		const struct place *place =
			bsearch(&wanted, places, functions->count, sizeof(*places), compare_places);
		const size_t length = strlen(function->name);

		if (strncmp(place->name, function->name, length) ||
		    (unsigned char)place->name[length] > ' ')
			function->barred = "ftrace has it by another name";
	}
	free(places);
}

/* Leave those that can be hooked, as the module says. Return: whether it does. */
static bool keep_hookable(struct functions *functions)
{
	uint64_t addresses[FKT_HOOKABLE_MAX];
	struct fkt_hookable hookable = {
		.size = sizeof(hookable),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = (uint32_t)functions->count,
		.addresses_ptr = (uintptr_t)addresses,
	};
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	size_t left = 0;
	bool said;

	for (size_t i = 0; i < functions->count; i++)
		addresses[i] = functions->function[i].address;
	said = fd >= 0 && !ioctl(fd, FKT_HOOKABLE, &hookable);
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; said && i < functions->count; i++)
		if (addresses[i])
			functions->function[left++] = functions->function[i];
	functions->count = left;
	return said;
}

struct functions *functions_picked(const char *const *names, size_t count, char *const *patterns)
{
	static struct functions functions;
	struct hsearch_data table = { 0 };
	bool all;

	enter_names(&table, names, count);
	all = add_picked(&functions, &table, patterns, PICKED_MAX);
	hdestroy_r(&table);
	if (!all || !functions.count || functions.count > FKT_HOOKABLE_MAX)
		return NULL;
	sort(&functions);
	count_namesakes(&functions);
	bar_aliases(&functions);
	return keep_hookable(&functions) ? &functions : NULL;
}

/*
 * Of a weak function that the linker has left out for another one, the code is still there, and
 * ftrace's place in it: behind the function before it, by whose name ftrace may call it.
 */
static const char *why_barred(const struct function *function, bool begins_here)
{
	if (!strncmp(function->name, INVALID_PLACE, strlen(INVALID_PLACE)))
		return "it is what is left of a function that the linker replaced";
	return begins_here ? NULL : "ftrace's place for it is in what is left of another function";
}

/* Whether ftrace's place for a function is at the beginning of what is called like a symbol. */
static bool is_at(const struct function *function, const struct function *symbol)
{
	return symbol->address == function->address ||
	       symbol->address + arch.landing_bytes == function->address;
}

/*
 * Look at the symbols of the name of each function: how many there are, and whether one begins at
 * ftrace's place, or before what stands in a function before that.
 */
static void match_symbols(struct functions *hookable)
{
	const struct functions *symbols = functions_symbols();
	const struct function *end = symbols->function + symbols->count;
	const struct function *first = symbols->function;

	for (size_t i = 0; i < hookable->count; i++) {
		struct function *function = &hookable->function[i];
		bool begins_here = !symbols->count;

		while (first < end && compare_name(first, function->order, function->name) < 0)
			first++;
		for (const struct function *symbol = first;
		     symbol < end && !compare_name(symbol, function->order, function->name);
		     symbol++) {
			if (!same_module(symbol->module, function->module))
				continue;
			function->namesakes++;
			begins_here |= is_at(function, symbol);
		}
		/*
		 * Where ftrace does not tell addresses, the second of two may have got the first
		 * one's.
		 */
		if (i && function[-1].address == function->address &&
		    !strcmp(function[-1].name, function->name))
			begins_here = false;
		function->barred = why_barred(function, begins_here);
	}
}

struct functions *functions_hookable(void)
{
	static struct functions hookable;
	const char *dir;
	char path[64], *line = NULL;
	bool addresses = true;
	uint64_t last = 0;
	size_t room = 0;
	FILE *file;

	if (hookable.count)
		return &hookable;
	dir = tracefs();
	snprintf(path, sizeof(path), "%s/available_filter_functions_addrs", dir);
	file = fopen(path, "re");
	if (!file) {
		addresses = false;
		snprintf(path, sizeof(path), "%s/available_filter_functions", dir);
		file = fopen(path, "re");
	}
	if (!file)
		err(EXIT_FAILURE, "%s", path);
	if (!addresses && !functions_symbols()->count)
		errx(EXIT_FAILURE, "this kernel says by its symbols alone where functions are");
	while (getline(&line, &room, file) > 0) {
		char *name = line, *module;
		uint64_t address = 0;
		bool invalid;

		if (addresses)
			address = strtoull(line, &name, 16);
		name += strspn(name, " ");
		module = cut_module(name);
		invalid = !strncmp(name, INVALID_PLACE, strlen(INVALID_PLACE));
		if (!addresses && !invalid)
			address = next_address(name, module, last);
		if (!address && !invalid)
			continue;
		if (!invalid)
			last = address;
		add(&hookable, address, keep(name), module ? keep(module) : NULL);
	}
	free(line);
	fclose(file);
	sort(&hookable);
	match_symbols(&hookable);
	return &hookable;
}

const char *functions_alias(const struct functions *hookable, const char *name)
{
	const struct functions *symbols = functions_symbols();
	const struct function *end = symbols->function + symbols->count;
	const struct function *symbol = functions_find(symbols, name);

	for (; symbol && symbol < end && !strcmp(symbol->name, name); symbol++)
		for (size_t i = 0; i < hookable->count; i++)
			if (is_at(&hookable->function[i], symbol) &&
			    !functions_never(&hookable->function[i]))
				return hookable->function[i].name;
	return NULL;
}

bool functions_own(const char *module)
{
	return !strcmp(module, "fkt") || !strcmp(module, "fkt_gate");
}

bool functions_for_bpf(const struct function *function)
{
	return !function->module && !strncmp(function->name, FOR_BPF, strlen(FOR_BPF));
}

const char *functions_never(const struct function *function)
{
	const char *why;

	if (function->barred)
		return function->barred;
	if (function->module && functions_own(function->module))
		return "it is FKT's own";
	return hazard_find(function->name, &why) == FUNCTION_NEVER ? why : NULL;
}

/* Why BTF may not tell of all the functions that have this one's name, or NULL. */
static const char *why_strangers(const struct function *function, const struct signature *signature)
{
	uint32_t count = function->namesakes;

	/* Not counted. */
	if (!count) {
		const struct functions *symbols = functions_symbols();
		const struct function *end = symbols->function + symbols->count;
		const struct function *symbol = functions_find(symbols, function->name);

		if (!symbols->count)
			return "the kernel hides how many functions have its name "
			       "(kernel.kptr_restrict)";
		for (; symbol && symbol < end && !strcmp(symbol->name, function->name); symbol++)
			count += same_module(symbol->module, function->module);
	}
	return count > signature->entries
		       ? "BTF does not have all functions of this name: they may "
			 "differ in their arguments"
		       : NULL;
}

/* Why nothing is known of a function's arguments. */
static const char *why_unknown(const struct function *function)
{
	if (!btf_has_types(function->module))
		return function->module
			       ? "its module has no BTF, which would say whether it has "
				 "arguments on the stack"
			       : "the kernel has no BTF, which would say whether it has arguments "
				 "on the stack";
	/* ".isra.0", ".part.0", …: of a function of this name, but nobody says of which one. */
	if (strchr(function->name, '.'))
		return "the compiler made it of another function, and may have changed its arguments";
	return "BTF does not say whether it has arguments on the stack";
}

void functions_describe(struct function *function)
{
	struct signature *signature;

	if (function->described)
		return;
	signature = malloc(sizeof(*signature));
	if (!signature)
		err(EXIT_FAILURE, "no memory for the functions");
	function->described = true;
	function->how = hazard_find(function->name, &function->why);
	function->signature = signature;
	if (function->barred) {
		function->how = FUNCTION_NEVER;
		function->why = function->barred;
	}
	btf_signature(function->name, function->module, signature);
	function->unknown = signature->known ? why_strangers(function, signature)
					     : why_unknown(function);
	signature->known = !function->unknown;
	if (function->how != FUNCTION_PAIR)
		return;
	if (function->unknown || signature->unfit) {
		function->how = FUNCTION_ENTRY;
		function->why = function->unknown ?: signature->unfit;
	} else if (signature->copy_words) {
		function->how = FUNCTION_COPY;
	}
}

bool functions_match(const char *pattern, const struct function *function)
{
	const char *colon = strchr(pattern, ':');

	if (colon) {
		size_t length = (size_t)(colon - pattern);

		if (!function->module || strlen(function->module) != length ||
		    strncmp(function->module, pattern, length))
			return false;
		pattern = colon + 1;
	}
	return !fnmatch(pattern, function->name, 0);
}

const char *functions_nearest(const struct functions *functions, const char *name)
{
	unsigned int best = (unsigned int)strlen(name) / 4 + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < functions->count; i++) {
		unsigned int d = fkt_distance(name, functions->function[i].name);

		if (d <= best && (d < best || !nearest)) {
			best = d;
			nearest = functions->function[i].name;
		}
	}
	return nearest;
}

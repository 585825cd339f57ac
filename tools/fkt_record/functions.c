// SPDX-License-Identifier: GPL-2.0-only
/* The functions that can be traced: what ftrace lists, with addresses from /proc/kallsyms. */
#include <err.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "distance.h"
#include "functions.h"
#include "record.h"
#include "sections.h"

/* "ffffffff81000000 T name": addresses have all their digits. */
#define NAME_AT 19

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

struct functions *functions_symbols(void)
{
	static struct functions symbols;
	const struct sections *running = symbols_running();
	char *text, *line, *next;

	if (symbols.count || !running->bytes)
		return &symbols;
	/* The functions' names live as long as the program. */
	text = malloc(running->bytes + 1);
	if (!text)
		err(EXIT_FAILURE, "no memory for the functions");
	memcpy(text, running->data, running->bytes);
	text[running->bytes] = '\0';
	for (line = text; (next = strchr(line, '\n')); line = next + 1) {
		uint64_t address = strtoull(line, NULL, 16);
		char *module;

		*next = '\0';
		module = cut_module(line + NAME_AT);
		if (address)
			add(&symbols, address, line + NAME_AT, module);
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

const char *tracefs(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct stat st;

		snprintf(path, sizeof(path), "%s/available_filter_functions", places[i]);
		if (!stat(path, &st))
			return places[i];
	}
	if (mount("tracefs", places[0], "tracefs", 0, NULL))
		err(EXIT_FAILURE, "%s: cannot mount tracefs, which lists the functions that can "
				  "be traced", places[0]);
	return places[0];
}

/* A copy that lives as long as the program. */
static const char *keep(const char *name)
{
	const char *copy = strdup(name);

	if (!copy)
		err(EXIT_FAILURE, "no memory for the functions");
	return copy;
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
	while (getline(&line, &room, file) > 0) {
		char *name = line, *module;
		uint64_t address = 0;

		if (addresses)
			address = strtoull(line, &name, 16);
		name += strspn(name, " ");
		module = cut_module(name);
		if (!addresses)
			address = next_address(name, module, last);
		if (!address)
			continue;
		last = address;
		add(&hookable, address, keep(name), module ? keep(module) : NULL);
	}
	free(line);
	fclose(file);
	sort(&hookable);
	return &hookable;
}

/* "tcp_v4_rcv" of "tcp_v4_rcv.isra.0", into @base; false where there is none. */
static bool base_name(const char *name, char *base, size_t bytes)
{
	size_t length = strcspn(name, ".");

	if (!name[length] || length >= bytes)
		return false;
	memcpy(base, name, length);
	base[length] = '\0';
	return true;
}

/*
 * Where BTF does not know a function, its arguments may be on the stack. The compiler's variants
 * have no more of them than the function that they come from, except those that it took apart.
 */
static void describe_unknown(struct function *function)
{
	struct signature signature;
	char base[256];

	if (base_name(function->name, base, sizeof(base)) && !strstr(function->name, ".isra")) {
		btf_signature(base, function->module, &signature);
		if (signature.known && !signature.unfit && !signature.copy_words)
			return;
	}
	function->how = FUNCTION_ENTRY;
	function->why = "BTF does not say whether it has arguments on the stack";
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
	btf_signature(function->name, function->module, signature);
	if (function->how != FUNCTION_PAIR)
		return;
	if (!signature->known) {
		describe_unknown(function);
	} else if (signature->unfit) {
		function->how = FUNCTION_ENTRY;
		function->why = signature->unfit;
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
	unsigned int best = (unsigned int)strlen(name) / 3 + 1;
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

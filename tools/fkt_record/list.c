// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be traced: --list-functions and --list-layers. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace.h"
#include "functions.h"
#include "record.h"
#include "sections.h"

#define NAME_COLUMN 40

static void print_function(struct function *function, bool verbose)
{
	static const char *const hows[] = {
		[FUNCTION_PAIR] = "pair",
		[FUNCTION_COPY] = "copy",
		[FUNCTION_ENTRY] = "entry",
		[FUNCTION_NEVER] = "never",
	};
	char spec[512];

	if (!verbose) {
		printf("%s", function->name);
		if (function->module)
			printf(" [%s]", function->module);
		putchar('\n');
		return;
	}
	functions_describe(function);
	select_entry_spec(function, false, spec, sizeof(spec));
	printf("%-*s %-5s (%s)", NAME_COLUMN - 1, function->name, hows[function->how],
	       function->signature->known ? spec : "?");
	if (function->how == FUNCTION_PAIR || function->how == FUNCTION_COPY)
		printf(" %s", function->signature->known ? function->signature->ret : "ret");
	if (function->module)
		printf(" [%s]", function->module);
	if (function->how == FUNCTION_COPY)
		printf("; copies %u words of arguments on the stack",
		       function->signature->copy_words);
	if (function->why)
		printf("; %s", function->why);
	if (functions_for_bpf(function))
		printf("; patterns with another beginning leave it to BPF programs");
	if (function->held)
		printf("; a BPF program or a live patch holds it");
	putchar('\n');
}

static bool is_wanted(char **patterns, const struct function *function)
{
	bool wanted = false;

	for (char **pattern = patterns; *pattern; pattern++) {
		if (**pattern != '!')
			wanted |= functions_match(*pattern, function);
		else if (functions_match(*pattern + 1, function))
			return false;
	}
	return wanted;
}

/* Functions that are never traced: those that FKT leaves out, and those that ftrace does. */
static void list_never(const struct functions *hookable, char **patterns)
{
	const struct functions *symbols = functions_symbols();

	for (size_t i = 0; i < hookable->count; i++) {
		struct function *function = &hookable->function[i];

		if (!is_wanted(patterns, function))
			continue;
		if (functions_never(function) || (functions_for_bpf(function) && !function->keys))
			print_function(function, true);
	}
	for (size_t i = 0; i < symbols->count; i++) {
		struct function *function = &symbols->function[i];

		if (!is_wanted(patterns, function) || functions_find(hookable, function->name))
			continue;
		functions_describe(function);
		function->how = FUNCTION_NEVER;
		function->why = "ftrace cannot hook it";
		print_function(function, true);
	}
}

int list_functions(char **patterns, bool verbose)
{
	struct functions *functions = functions_hookable();

	ftrace_mark_held(functions);
	if (select_patterns(functions, patterns, verbose))
		return -1;
	for (size_t i = 0; i < functions->count; i++)
		if (functions->function[i].keys)
			print_function(&functions->function[i], verbose);
	if (verbose)
		list_never(functions, patterns);
	return 0;
}

/* The layers whose probes are in the module: what they trace is in the table. */
static void print_own(const char *name, uint32_t bit, const char *about)
{
	printf("%-12s bit %-2u  %s\n", name, bit, about);
}

static void print_functions(uint32_t key, bool verbose)
{
	const struct functions *functions = functions_hookable();
	struct sections missing = { 0 };
	int column = 0;

	select_layer(functions, key, &missing);
	for (size_t i = 0; i < functions->count; i++) {
		struct function *function = &functions->function[i];

		if (function->keys != key)
			continue;
		function->keys = 0;
		if (verbose) {
			printf("    ");
			print_function(function, true);
			continue;
		}
		if (column && column + (int)strlen(function->name) > 96) {
			putchar('\n');
			column = 0;
		}
		column += printf("%s%s", column ? " " : "    ", function->name);
	}
	if (column)
		putchar('\n');
	if (missing.bytes)
		printf("    not in this kernel: %.*s\n", (int)missing.bytes, missing.data);
	free(missing.data);
}

int list_layers(const struct options *options)
{
#define X(NAME, bit, name, about)                                                                  \
	print_own(name, bit, about);                                                               \
	print_functions((uint32_t)FKT_KEY_##NAME, options->verbose);
	FKT_LAYERS(X)
#undef X
	return 0;
}

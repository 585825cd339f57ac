// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fields that -F names behind functions: what the entries of these have in place of their
 * arguments, in the language of fetch.c.
 */
#include <err.h>
#include <fkt/trace.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"
#include "functions.h"
#include "record.h"

#define BLANKS " \t\n"

/* "GLOB FIELD…", as the command line has them, NULL after the last one. */
static char **texts;

/* The operations of all functions, one behind the other. */
static struct fkt_fetch *fetches;
static uint32_t fetch_count;

char *fields_take(char *text, bool *any)
{
	size_t length;
	char *glob;

	text += strspn(text, BLANKS);
	length = strcspn(text, BLANKS);
	*any = text[length + strspn(text + length, BLANKS)];
	if (*any)
		options_add_word(&texts, text);
	glob = strndup(text, length);
	if (!glob)
		err(EXIT_FAILURE, "no memory for the fields of functions");
	return glob;
}

bool fields_any(void)
{
	return texts;
}

const struct fkt_fetch *fields_fetches(uint32_t *count)
{
	*count = fetch_count;
	return fetches;
}

/* $retval alone: the exit has it, where there is one. */
static void check_exit(const struct fetching *fetch, const struct function *function)
{
	if (function->how == FUNCTION_ENTRY)
		fetch_missing(fetch, "%s: the exit of %s is not traced: %s", VALUE_RESULT,
			      function->name, function->why);
}

static void add_fields(struct fetching *fetch, const struct function *function)
{
	char *copy = strdup(fetch->text), *save, *word;

	if (!copy)
		err(EXIT_FAILURE, "no memory for the fields of functions");
	strtok_r(copy, BLANKS, &save);
	while ((word = strtok_r(NULL, BLANKS, &save))) {
		if (!strcmp(word, VALUE_RESULT))
			check_exit(fetch, function);
		else
			fetch_add_word(fetch, word);
	}
	free(copy);
}

/* Operations, behind those that there are. */
static void add_fetches(const struct fetching *fetch, const struct fkt_fetch *ops, size_t count)
{
	if (count > FKT_FUNCTION_OPS_MAX - fetch_count)
		fetch_wrong(fetch, "these are too many functions with fields");
	if (!count)
		return;
	fetches = reallocarray(fetches, fetch_count + count, sizeof(*fetches));
	if (!fetches)
		err(EXIT_FAILURE, "no memory for the fields of functions");
	memcpy(fetches + fetch_count, ops, count * sizeof(*ops));
	fetch_count += (uint32_t)count;
}

static struct function_fields *describe(struct function *function, const char *text)
{
	struct function_fields *fields = calloc(1, sizeof(*fields));
	struct fetching *fetch = calloc(1, sizeof(*fetch));
	struct fkt_fetch ops[FKT_FETCH_OPS_MAX];
	char spec[FETCH_SPEC_BYTES];

	if (!fields || !fetch)
		err(EXIT_FAILURE, "no memory for the fields of functions");
	functions_describe(function);
	fetch->option = "-F";
	fetch->text = text;
	fetch->function = function->name;
	fetch->module = function->module;
	fetch->args = FKT_FUNCTION_ARGS_MAX;
	fetch->unknown = function->unknown;
	/* What is kept of a call until it ends. */
	fetch->room = longer_any() ? FKT_CALL_ARGS : 0;
	add_fields(fetch, function);
	fields->first = fetch_count;
	fields->ops = (uint16_t)fetch_compile(fetch, ops, spec);
	add_fetches(fetch, ops, fields->ops);
	fields->spec = strdup(spec);
	if (!fields->spec)
		err(EXIT_FAILURE, "no memory for the fields of functions");
	free(fetch);
	return fields;
}

void fields_find(const struct functions *functions, struct codes *codes)
{
	for (char **text = texts; text && *text; text++) {
		char *glob = strndup(*text, strcspn(*text, BLANKS));

		if (!glob)
			err(EXIT_FAILURE, "no memory for the fields of functions");
		for (size_t i = 0; i < functions->count; i++) {
			struct function *function = &functions->function[i];

			if (!(function->keys & FKT_KEY_FUNCTIONS) ||
			    !functions_match(glob, function))
				continue;
			if (function->fields)
				errx(EXIT_FAILURE,
				     "-F '%s': %s is already named with fields: write them all behind "
				     "one of them",
				     *text, function->name);
			function->fields = describe(function, *text);
			/* What is there may be a variable as well as a function. */
			codes->names_data |= !!strstr(function->fields->spec, ":sym");
		}
		free(glob);
	}
}

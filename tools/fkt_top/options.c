// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. Options of a recording are fkt_record's, which gets them as they are. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/config.h"
#include "common/help.h"
#include "top.h"

const char *argp_program_version = "fkt_top (FKT) " FKT_RELEASE;

#define NS_PER_SECOND 1e9
#define DELAY_MIN     1e-6
#define DELAY_LIVE_NS 100000000 /* the least of a recording: an interval is work, too */
#define DELAY_MAX     86400
#define ROWS_USUAL    10
#define WORDS_MAX     256

enum {
	OPTION_COUNT = 0x100,
	OPTION_VIEW,
	OPTION_SORT,
	OPTION_ROWS,
	OPTION_FORMAT,
	OPTION_RECORD,
};

/* Options that fkt_record has: X(name, letter or 0, argument or NULL, flags, doc). */
#define RECORD(X)                                                                                  \
	X("mask", 'k', "MASK", 0, "Layers to record (default: system)")                            \
	X("function", 'F', "GLOB", 0, "Record entry and exit of these functions")                  \
	X("event", 'e', "SYSTEM:EVENT", 0, "Record this tracepoint")                               \
	X("probe", 'P', "PROBE", 0, "Record an address, or a function's return")                   \
	X("user", 'U', "FILE:FUNCTION", 0, "Record this function of a program or library")         \
	X("args", 0, NULL, 0, "Record arguments")                                                  \
	X("stack", 0, "EVENTS", 0, "Record the kernel's stack with these events")                  \
	X("user-stack", 0, "EVENTS", 0, "Record the program's stack with these events")            \
	X("profile", 0, "HZ", OPTION_ARG_OPTIONAL, "Record samples with their stacks")             \
	X("counters", 0, "COUNTER,…", 0, "Record what these perf events count, as page-faults")    \
	X("graph", 0, "GLOB", 0, "Record functions only while one that matches runs")              \
	X("graph-depth", 0, "N", 0, "Record only N levels of functions")                           \
	X("pid", 0, "PID,…", 0, "Record only these processes")                                     \
	X("tid", 0, "TID,…", 0, "Record only these threads")                                       \
	X("children", 0, NULL, 0, "With --pid or --tid: and all that comes of them")               \
	X("comm", 0, "NAME", 0, "Record only threads of this name")                                \
	X("uid", 0, "USER,…", 0, "Record only threads of these users")                             \
	X("cgroup", 0, "PATH", 0, "Record only threads in this cgroup or container")               \
	X("cpu", 0, "LIST", 0, "Record only on these CPUs")                                        \
	X("pow", 'p', "POW", 0, "Let each lane begin with 2^POW pages")

enum {
	RECORD_FIRST = OPTION_RECORD,
};

static const char *const record_names[] = {
#define X(name, letter, arg, flags, doc) name,
	RECORD(X)
#undef X
};

#define RECORD_COUNT (sizeof(record_names) / sizeof(record_names[0]))

const char *const view_names[VIEW_COUNT] = {
#define X(name, title) #name,
	VIEWS(X)
#undef X
};

const char *const sort_names[SORT_COUNT_OF] = { "time", "count", "name", "all" };

/**
 * struct parsed - what is told by several options together
 * @options: to be filled in
 * @words: for fkt_record
 * @count: how many
 * @option: an option of a recording that was given, NULL if none was
 */
struct parsed {
	struct options *options;
	char **words;
	size_t count;
	const char *option;
};

static const struct argp_option own_options[] = {
	{ "delay", 'd', "SECONDS", 0, "How long an interval is (default: 1)", 1 },
	{ "count", OPTION_COUNT, "N", 0, "End after so many intervals", 1 },
	{ "lines", 'b', NULL, 0, "Print lines, also on a terminal", 1 },
	{ "view", OPTION_VIEW, "VIEW,…", 0,
	  "Show calls, functions, threads, waits or stacks; the first one on a terminal, all that are "
	  "named as lines (default: those that have something)",
	  1 },
	{ "sort", OPTION_SORT, "HOW", 0,
	  "Sort by time, count, name, or by the time of all intervals: all (default: time)", 1 },
	{ "rows", OPTION_ROWS, "N", 0, "Lines of each table; 0: all (default: 10)", 1 },
	{ "format", OPTION_FORMAT, "FORMAT", 0, "Print lines as text, csv or json", 1 },
	{ NULL, 0, NULL, 0, "Of the recording, as fkt_record has them:", 2 },
	FKT_OPTION_HELP,
};

#define OWN_COUNT (sizeof(own_options) / sizeof(own_options[0]))

static int choose(struct argp_state *state, const char *option, const char *text, size_t bytes,
		  const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == bytes && !strncmp(names[i], text, bytes))
			return i;
	argp_error(state, "--%s: '%.*s' is none; there are %s and so on, see --help", option,
		   (int)bytes, text, names[0]);
	return 0;
}

static void parse_views(struct argp_state *state, struct options *options, const char *arg)
{
	size_t bytes;

	for (;; arg += bytes + 1) {
		bytes = strcspn(arg, ",");
		options->view[choose(state, "view", arg, bytes, view_names, VIEW_COUNT)] = true;
		options->any_view = true;
		if (!arg[bytes])
			return;
	}
}

static uint64_t parse_number(struct argp_state *state, const char *option, const char *arg,
			     uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long number = strtoull(arg, &end, 10);

	if (*arg < '0' || *arg > '9' || *end || number < least || number > most)
		argp_error(state, "--%s=%s: it is a number", option, arg);
	return number;
}

static uint64_t parse_delay(struct argp_state *state, const char *arg)
{
	char *end;
	double seconds = strtod(arg, &end);

	if (end == arg || *end || !(seconds >= DELAY_MIN && seconds <= DELAY_MAX))
		argp_error(state, "-d %s: it is a number of seconds, such as 2 or 0.5", arg);
	return (uint64_t)(seconds * NS_PER_SECOND + 0.5);
}

static void add_word(struct parsed *parsed, char *word)
{
	if (!word || parsed->count == WORDS_MAX - 1)
		err(EXIT_FAILURE, "options");
	parsed->words[parsed->count++] = word;
	parsed->words[parsed->count] = NULL;
}

/* Both kinds of option as one word. */
static void pass_on(struct parsed *parsed, const char *name, const char *arg)
{
	char *word;

	if (asprintf(&word, "--%s%s%s", name, arg ? "=" : "", arg ?: "") < 0)
		word = NULL;
	add_word(parsed, word);
	parsed->option = name;
}

static bool parse_record(struct parsed *parsed, int key, const char *arg)
{
	static const int letters[] = {
#define X(name, letter, arg, flags, doc) letter,
		RECORD(X)
#undef X
	};

	for (size_t i = 0; i < RECORD_COUNT; i++) {
		if (key != (letters[i] ?: RECORD_FIRST + (int)i))
			continue;
		pass_on(parsed, record_names[i], arg);
		return true;
	}
	return false;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parsed *parsed = state->input;
	struct options *options = parsed->options;

	switch (key) {
	case 'd':
		options->delay_ns = parse_delay(state, arg);
		break;
	case OPTION_COUNT:
		options->count = parse_number(state, "count", arg, 1, UINT64_MAX);
		break;
	case 'b':
		options->lines = true;
		break;
	case OPTION_VIEW:
		parse_views(state, options, arg);
		break;
	case OPTION_SORT:
		options->sort = (enum sort)choose(state, "sort", arg, strlen(arg), sort_names,
						  SORT_COUNT_OF);
		break;
	case OPTION_ROWS:
		options->rows = (unsigned int)parse_number(state, "rows", arg, 0, UINT32_MAX);
		break;
	case OPTION_FORMAT:
		options->format = fkt_format_find(arg);
		if (!options->format)
			argp_error(state, "--format=%s: there are text, csv and json", arg);
		options->lines = true;
		break;
	case ARGP_KEY_ARG:
		options->path = fkt_one_trace(state, arg);
		break;
	case ARGP_KEY_END:
		if (options->path && parsed->option)
			argp_error(state, "--%s is of a recording, and %s is a trace",
				   parsed->option, options->path);
		if (!options->path && options->delay_ns < DELAY_LIVE_NS)
			argp_error(state, "-d: of a recording, at least 0.1 seconds");
		break;
	default:
		if (!parse_record(parsed, key, arg))
			return fkt_other_option(key, state);
	}
	return 0;
}

void parse_options(int argc, char **argv, struct options *options)
{
	static const struct argp_option record_options[] = {
#define X(name, letter, arg, flags, doc) { name, letter, arg, flags, doc, 2 },
		RECORD(X)
#undef X
	};
	struct argp_option all[OWN_COUNT + RECORD_COUNT + 1] = { 0 };
	const struct argp argp = {
		.options = all,
		.parser = parse_option,
		.args_doc = "\nTRACE",
		.doc = "Show where the time goes, every second: of a recording that is made for it, or "
		       "of a trace.\v"
		       "TRACE may be - for standard input. On a terminal, h shows the keys. See "
		       "fkt_top(1).",
	};
	struct parsed parsed = {
		.options = options,
		.words = calloc(WORDS_MAX, sizeof(*parsed.words)),
	};

	*options = (struct options){
		.delay_ns = (uint64_t)NS_PER_SECOND,
		.rows = ROWS_USUAL,
		.format = fkt_format(0),
	};
	if (!parsed.words)
		err(EXIT_FAILURE, "options");
	memcpy(all, own_options, sizeof(own_options));
	for (size_t i = 0; i < RECORD_COUNT; i++) {
		all[OWN_COUNT + i] = record_options[i];
		if (!all[OWN_COUNT + i].key)
			all[OWN_COUNT + i].key = RECORD_FIRST + (int)i;
	}
	add_word(&parsed, "fkt_record");
	add_word(&parsed, "--no-command");
	add_word(&parsed, "--output=-");
	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, &parsed);
	options->record = parsed.words;
	if (!isatty(STDOUT_FILENO))
		options->lines = true;
}

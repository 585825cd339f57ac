// SPDX-License-Identifier: GPL-2.0-or-later
/* fkt_diff: what takes longer in some recordings than in others, and whether that is noise. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/complain.h"
#include "common/distance.h"
#include "common/help.h"
#include "common/width.h"
#include "diff.h"

#define USUAL_LEVEL   0.01
#define USUAL_PERCENT 5

enum {
	OPTION_AGAINST = 256,
	OPTION_ALL,
	OPTION_ELAPSED,
	OPTION_FLAMEGRAPH,
	OPTION_FORMAT,
	OPTION_LEAST,
	OPTION_PER,
};

struct options {
	struct recording recording[RECORDINGS_MAX];
	unsigned int recordings;
	bool against;
	bool all;
	bool elapsed;
	const char *svg;
	const char *per;
	const struct fkt_format *format;
	struct limits limits;
};

const char *argp_program_version = "fkt_diff (FKT) " FKT_RELEASE;

static const struct argp_option argp_options[] = {
	{ "against", OPTION_AGAINST, NULL, 0,
	  "The recordings in front of this are before, those behind it after", 0 },
	{ "all", OPTION_ALL, NULL, 0, "Also what does not differ", 0 },
	{ "elapsed", OPTION_ELAPSED, NULL, 0,
	  "Calls take the time from entry to exit, not their own time on a CPU", 0 },
	{ "flamegraph", OPTION_FLAMEGRAPH, "OUT.svg", 0,
	  "Draw how time by call path differs, as fkt_print --flamegraph --diff does; of one "
	  "recording on each side",
	  0 },
	{ "format", OPTION_FORMAT, "FORMAT", 0, "text, csv or json (a line each); default text",
	  0 },
	{ "least", OPTION_LEAST, "PERCENT", 0, "What changed by less does not differ; default 5",
	  0 },
	{ "per", OPTION_PER, "UNIT", 0,
	  "How often things come, and what they take in all, is told for each run (the default: "
	  "recordings are of the same work), for a second of time (time), or for each call of a "
	  "NAME",
	  0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static void add_recording(struct argp_state *state, struct options *options, const char *path)
{
	if (options->recordings == RECORDINGS_MAX)
		argp_error(state, "no more than %d recordings", RECORDINGS_MAX);
	options->recording[options->recordings++] = (struct recording){
		.path = path,
		.side = options->against ? AFTER : BEFORE,
	};
}

static void end_of_options(struct argp_state *state, struct options *options)
{
	unsigned int count[SIDES] = { 0 };

	/* Two need no word between them. */
	if (!options->against && options->recordings == 2)
		options->recording[1].side = AFTER;
	for (unsigned int r = 0; r < options->recordings; r++)
		count[options->recording[r].side]++;
	if (!count[BEFORE] || !count[AFTER])
		argp_error(state, "BEFORE AFTER, or BEFORE... --against AFTER...");
	if (options->svg && options->recordings != 2)
		argp_error(state, "--flamegraph compares one recording with one");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char meant[FKT_MEANT_BYTES];
	char *end;

	switch (key) {
	case OPTION_AGAINST:
		options->against = true;
		return 0;
	case OPTION_ALL:
		options->all = true;
		return 0;
	case OPTION_ELAPSED:
		options->elapsed = true;
		return 0;
	case OPTION_FLAMEGRAPH:
		options->svg = arg;
		return 0;
	case OPTION_FORMAT:
		options->format = fkt_format_find(strcmp(arg, "text") ? arg : "plain");
		if (!options->format)
			argp_error(state, "--format=%s: text, csv or json%s", arg,
				   fkt_format_meant(arg, meant));
		return 0;
	case OPTION_LEAST:
		options->limits.least = strtod(arg, &end) / 100;
		if (end == arg || *end || !(options->limits.least >= 0) ||
		    options->limits.least > 1000)
			argp_error(state, "--least=%s: a number of percent", arg);
		return 0;
	case OPTION_PER:
		options->per = arg;
		return 0;
	case ARGP_KEY_ARG:
		add_recording(state, options, arg);
		return 0;
	case ARGP_KEY_END:
		end_of_options(state, options);
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "BEFORE AFTER\nBEFORE... --against AFTER...",
	.doc = "Tell which calls, functions and waits take longer in some recordings than in "
	       "others, and whether that is more than noise."
	       "\vSeveral recordings a side say most surely what is noise. The exit status is 1 "
	       "when a recording cannot be read, or not to its end.",
};

/* ---- what counts are divided by ---- */

static double count_of(const struct items *items, const char *name, unsigned int recording)
{
	double count = 0;

	for (uint32_t i = 0; i < items->count; i++)
		if (items->one[i].kind <= KIND_FUNCTION && !strcmp(items->one[i].name, name) &&
		    items->one[i].in[recording])
			count += (double)items->one[i].in[recording]->count;
	return count;
}

static bool set_units(struct options *options, const struct items *items)
{
	struct recording *recording;
	char text[FKT_ERROR_BYTES];

	for (unsigned int r = 0; r < options->recordings; r++) {
		recording = &options->recording[r];
		if (!strcmp(options->per, "run")) {
			recording->unit = 1;
			continue;
		}
		recording->unit = strcmp(options->per, "time") ? count_of(items, options->per, r)
							       : recording->ns / 1e9;
		if (recording->unit > 0)
			continue;
		snprintf(text, sizeof(text), "--per=%s: it %s", options->per,
			 strcmp(options->per, "time") ? "has no such calls" : "took no time");
		complain(recording->path, text);
		return false;
	}
	return true;
}

/* ---- a picture ---- */

/* fkt_print of the same place draws it. */
static bool draw(const struct options *options)
{
	char tool[PATH_MAX], *slash;
	ssize_t bytes = readlink("/proc/self/exe", tool, sizeof(tool) - sizeof("fkt_print"));
	int status;
	pid_t pid;

	if (bytes <= 0)
		return false;
	tool[bytes] = '\0';
	slash = strrchr(tool, '/');
	strcpy(slash ? slash + 1 : tool, "fkt_print");
	pid = fork();
	if (!pid) {
		execl(tool, "fkt_print", "--flamegraph", options->svg, "--diff",
		      options->recording[0].path, "--", options->recording[1].path, (char *)NULL);
		complain(tool, strerror(errno));
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

/* ---- the run ---- */

static int report(struct options *options, struct items *items)
{
	struct fkt_output out = {
		.file = stdout,
		.format = options->format,
		.width = output_width(),
	};
	const struct report report = {
		.out = &out,
		.recording = options->recording,
		.recordings = options->recordings,
		.per = strcmp(options->per, "time") ? options->per : "second",
		.elapsed = options->elapsed,
		.all = options->all,
	};
	struct result *result =
		compare(items, options->recording, options->recordings, &options->limits);

	if (!result) {
		complain("comparing", "out of memory");
		return 1;
	}
	print_report(&report, result, items->count);
	free(result);
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		complain("standard output", strerror(errno));
		return 1;
	}
	return 0;
}

static void tell_left_out(const struct items *items)
{
	if (items->left_out)
		fprintf(stderr, "%s: too many stacks: %" PRIu64 " calls are not among them\n",
			program_invocation_short_name, items->left_out);
	if (items->waits_left_out)
		fprintf(stderr,
			"%s: too many names of threads that wait: %" PRIu64
			" waits are not there\n",
			program_invocation_short_name, items->waits_left_out);
}

/* What only one of them could have recorded is no difference of what ran. */
static void tell_otherwise(const struct recording *a, const struct recording *b)
{
	const char *in_a, *in_b;

	for (unsigned int i = 0; i < RECORDED_COUNT; i++) {
		in_a = a->recorded[i] ?: "none";
		in_b = b->recorded[i] ?: "none";
		if (strcmp(in_a, in_b))
			fprintf(stderr,
				"%s: %s: was recorded otherwise than %s (%s: %s, there %s): what "
				"comes of that is among what differs\n",
				program_invocation_short_name, b->path, a->path, recorded_names[i],
				in_b, in_a);
	}
}

static int run(struct options *options, struct items *items)
{
	bool whole = true;

	for (unsigned int r = 0; r < options->recordings; r++) {
		if (!collect(&options->recording[r], r, items, options->elapsed))
			return 1;
		whole &= options->recording[r].whole;
	}
	tell_left_out(items);
	for (unsigned int r = 1; r < options->recordings; r++)
		tell_otherwise(&options->recording[0], &options->recording[r]);
	if (!set_units(options, items) || report(options, items))
		return 1;
	if (options->svg && !draw(options))
		return 1;
	return whole ? 0 : 1;
}

int main(int argc, char **argv)
{
	static struct options options = {
		.per = "run",
		.limits = { .level = USUAL_LEVEL, .least = USUAL_PERCENT / 100.0 },
	};
	struct items items = { 0 };
	int status = 1;

	setlocale(LC_CTYPE, "C.UTF-8");
	argp_err_exit_status = 2;
	options.format = fkt_format(0);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	if (items_init(&items))
		complain("starting", "out of memory");
	else
		status = run(&options, &items);
	items_free(&items);
	for (unsigned int r = 0; r < options.recordings; r++)
		for (unsigned int i = 0; i < RECORDED_COUNT; i++)
			free(options.recording[r].recorded[i]);
	return status;
}

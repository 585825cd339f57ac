// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/version.h>

#include "common/config.h"
#include "common/distance.h"
#include "common/help.h"
#include "common/keys.h"
#include "record.h"

const char *argp_program_version = "fkt_record (FKT) " FKT_RELEASE;

enum {
	OPTION_LANES = 0x100,
	OPTION_ARGS,
	OPTION_ON_FULL,
	OPTION_RING,
	OPTION_GAP,
	OPTION_LIST_LAYERS,
};

/* What is told by several options together. */
struct parsed {
	struct options *options;
	bool mask_given;
	bool pow_given;
	bool on_full_given;
};

static const char *const on_full[] = {
	[FKT_ON_FULL_DROP] = "drop",
	[FKT_ON_FULL_PAUSE] = "pause",
	[FKT_ON_FULL_OVERWRITE] = "overwrite",
	NULL,
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0,
	  "Record to FILE: a regular file, a block device, or - for standard output "
	  "(default: trace_file)",
	  0 },
	{ NULL, 'f', "FILE", OPTION_ALIAS, NULL, 0 },
	{ "mask", 'k', "MASK", 0,
	  "Layers to begin with: a number, or names with commas between them, or all, which is every "
	  "one but profile (default: system, or what -F, -e, -P and -U turn on)",
	  0 },
	{ "size", 's', "SIZE", 0,
	  "Stop when this much was recorded; K, M, G and T mean powers of 1024 (default: no limit)",
	  0 },
	{ "no-command", 'n', NULL, 0, "Run nothing; record until Ctrl-C", 0 },
	{ "system-map", 'S', "FILE", 0,
	  "Check the kernel's symbols against this System.map, and complete them from it", 0 },
	{ "module", 'M', "FILE", 0,
	  "Complete the functions of a loaded module from its file; may be given more than once "
	  "(modules that use FKT and are installed are found without it)",
	  0 },
	{ "pow", 'p', "POW", 0, "Let each lane begin with 2^POW pages of 4 KB (default: 9)", 0 },
	{ "lanes", OPTION_LANES, "cpu|1", 0,
	  "One lane a CPU, or one that all CPUs share (default: cpu)", 0 },
	{ "args", OPTION_ARGS, NULL, 0, "Record the arguments of system calls and functions", 0 },
	{ "on-full", OPTION_ON_FULL, "WHAT", 0,
	  "When the buffer is full: drop, and count what is lost; pause, which stops all layers as "
	  "well; or overwrite the oldest events, see --ring (default: drop)",
	  0 },
	{ "ring", OPTION_RING, "SIZE", 0,
	  "Keep the newest events in SIZE of memory, for as long as it takes, and write these in the "
	  "end, or when fkt_snapshot or SIGUSR1 asks for them; K, M and G mean powers of 1024 "
	  "(--on-full=overwrite, with a buffer of that size). Takes as much memory again, for what is "
	  "recorded while a snapshot is written. The output file has the names from the beginning: "
	  "fkt_recover finds the events in an image of a crashed machine's memory",
	  0 },
	{ "gap", OPTION_GAP, NULL, 0,
	  "Do without that memory: what a snapshot leaves no room for is counted as lost", 0 },
	{ "list-layers", OPTION_LIST_LAYERS, NULL, 0,
	  "List the layers, and what each traces on this kernel, and record nothing", 0 },
	{ "verbose", 'v', NULL, 0, "List all that is known; name the functions that are left out",
	  0 },
	FKT_OPTION_HELP,
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static uint64_t parse_size(const char *text, struct argp_state *state)
{
	static const char units[] = "KMGT";
	unsigned long long value;
	const char *unit;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno)
		argp_error(state, "'%s' is not a size; write a number and K, M, G or T", text);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		int shift = 10 * (int)(unit - units + 1);

		if (value > UINT64_MAX >> shift)
			argp_error(state, "'%s' is more than any file can hold", text);
		value <<= shift;
		end++;
	}
	if (*end)
		argp_error(state, "'%s' is not a size; write a number and K, M, G or T", text);
	if (value < FKT_PAGE_BYTES)
		argp_error(state, "'%s' is less than a page of %u bytes", text, FKT_PAGE_BYTES);
	return value;
}

static uint32_t parse_pow(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || value < FKT_POW_MIN || value > FKT_POW_MAX)
		argp_error(state, "POW is a number from %u to %u, not '%s'", FKT_POW_MIN,
			   FKT_POW_MAX, text);
	return (uint32_t)value;
}

/* The index of a word among those that an option takes. */
static uint32_t parse_choice(const char *option, const char *text, const char *const *choices,
			     const char *said, struct argp_state *state)
{
	struct fkt_near near = { .wanted = text };
	char meant[FKT_MEANT_BYTES];

	for (uint32_t i = 0; choices[i]; i++) {
		if (!strcmp(text, choices[i]))
			return i;
		fkt_near_show(&near, choices[i]);
	}
	argp_error(state, "%s is %s, not '%s'%s", option, said, text, fkt_near_meant(&near, meant));
	return 0;
}

/* As much for each CPU that runs, and not more together than was asked for. */
static void finish_ring(const struct parsed *parsed, struct argp_state *state)
{
	struct options *options = parsed->options;
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (parsed->pow_given)
		argp_error(state, "--ring and -p both say how large the buffer is");
	if (parsed->on_full_given && options->on_full != FKT_ON_FULL_OVERWRITE)
		argp_error(state, "--ring is --on-full=overwrite, not --on-full=%s",
			   on_full[options->on_full]);
	options->on_full = FKT_ON_FULL_OVERWRITE;
	options->pow = FKT_POW_MIN;
	if ((cpus * FKT_PAGE_BYTES << FKT_POW_MIN) > options->ring_bytes)
		argp_error(state, "--ring: that is not enough for %llu CPUs; %llu KB are needed",
			   (unsigned long long)cpus,
			   (unsigned long long)(cpus * FKT_PAGE_BYTES << FKT_POW_MIN) >> 10);
	if (options->ring_bytes > cpus * FKT_PAGE_BYTES << FKT_POW_MAX)
		argp_error(state, "--ring: that is too much for %llu CPUs; %llu GB are possible",
			   (unsigned long long)cpus,
			   (unsigned long long)(cpus * FKT_PAGE_BYTES << FKT_POW_MAX) >> 30);
	while ((cpus * FKT_PAGE_BYTES << (options->pow + 1)) <= options->ring_bytes)
		options->pow++;
}

void options_add_word(char ***list, char *word)
{
	size_t count = 0;

	while (*list && (*list)[count])
		count++;
	*list = reallocarray(*list, count + 2, sizeof(char *));
	if (!*list)
		err(EXIT_FAILURE, "no memory for the command line");
	(*list)[count] = word;
	(*list)[count + 1] = NULL;
}

static void finish(const struct parsed *parsed, struct argp_state *state)
{
	struct options *options = parsed->options;

	if (!parsed->mask_given && options->probe_keys)
		options->mask = 0;
	options->mask |= options->probe_keys;
	if (options->list)
		return;
	if (options->ring_bytes)
		finish_ring(parsed, state);
	if (options->gap && options->on_full != FKT_ON_FULL_OVERWRITE)
		argp_error(state, "--gap is about snapshots of --ring");
	if (options->on_full == FKT_ON_FULL_OVERWRITE && options->lanes == FKT_LANES_SHARED)
		argp_error(state,
			   "only lanes of one CPU each can be overwritten: not with --lanes=1");
	if (options->on_full == FKT_ON_FULL_OVERWRITE && options->limit_bytes)
		argp_error(state, "-s ends the recording, what is overwritten has no end; --ring "
				  "says how much is kept");
	if (options->no_command && options->command)
		argp_error(state, "-n runs no command, but there is one: %s", options->command[0]);
	if (!options->no_command && !options->command)
		argp_error(state, "which command? (-n to record without one)");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const lanes[] = {
		[FKT_LANES_PER_CPU] = "cpu",
		[FKT_LANES_SHARED] = "1",
		NULL,
	};
	struct parsed *parsed = state->input;
	struct options *options = parsed->options;
	char why[FKT_KEYS_WHY_BYTES];

	switch (key) {
	case ARGP_KEY_INIT:
		kinds_input(state, options);
		return 0;
	case 'o':
	case 'f':
		options->output = arg;
		return 0;
	case 'k':
		/* Samples are for those who ask for them. */
		if (!strcmp(arg, "all"))
			options->mask = fkt_keys_all() & ~(uint32_t)FKT_KEY_PROFILE;
		else if (fkt_keys_parse(arg, &options->mask, why))
			argp_error(state, "%s", why);
		parsed->mask_given = true;
		return 0;
	case OPTION_LIST_LAYERS:
		options->list = list_layers;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case 's':
		options->limit_bytes = parse_size(arg, state);
		return 0;
	case 'n':
		options->no_command = true;
		return 0;
	case 'S':
		options->system_map = arg;
		return 0;
	case 'M':
		options->module_files = reallocarray(options->module_files,
						     options->module_files_count + 1,
						     sizeof(*options->module_files));
		if (!options->module_files)
			argp_failure(state, EXIT_FAILURE, errno, "-M");
		options->module_files[options->module_files_count++] = arg;
		return 0;
	case 'p':
		options->pow = parse_pow(arg, state);
		parsed->pow_given = true;
		return 0;
	case OPTION_LANES:
		options->lanes = parse_choice("--lanes", arg, lanes, "cpu or 1", state);
		return 0;
	case OPTION_ARGS:
		options->args = true;
		return 0;
	case OPTION_ON_FULL:
		options->on_full =
			parse_choice("--on-full", arg, on_full, "drop, pause or overwrite", state);
		parsed->on_full_given = true;
		return 0;
	case OPTION_RING:
		options->ring_bytes = parse_size(arg, state);
		return 0;
	case OPTION_GAP:
		options->gap = true;
		return 0;
	case ARGP_KEY_ARG:
		/* All the rest is the command's. */
		options->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		finish(parsed, state);
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.children = kinds_options(),
		.args_doc = "[--] COMMAND [ARGUMENT...]\n-n",
		.doc = "Record what the kernel does while COMMAND runs.\v"
		       "fkt_print shows what was recorded. See fkt_record(1).",
	};

	*options = (struct options){
		.output = "trace_file",
		.mask = FKT_KEY_SYSTEM,
		.pow = FKT_POW_DEFAULT,
	};
	struct parsed parsed = { .options = options };

	argp_err_exit_status = EXIT_USAGE;
	config_parse(&argp, argc, argv, ARGP_IN_ORDER, &parsed);
}

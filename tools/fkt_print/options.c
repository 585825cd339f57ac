// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/config.h"
#include "common/distance.h"
#include "common/help.h"
#include "print.h"

const char *argp_program_version = "fkt_print (FKT) " FKT_RELEASE;

enum {
	OPTION_TIME = 256,
	OPTION_NO_SUMMARY,
	OPTION_ELAPSED,
	OPTION_FORMAT,
	OPTION_NO_PAGER,
	OPTION_THREADS,
	OPTION_STACK,
	OPTION_VIEW, /* and VIEW_OPTIONS_MAX for each view */
};

#define VIEW_OPTIONS_MAX 4

/* The group in which options of views are. */
#define GROUP_VIEWS	 1

static const struct argp_option own_options[] = {
	{ NULL, 0, NULL, 0, "What to print (default: the events, then a summary):", 1 },
	{ "summary", 'q', NULL, 0, "Only the summary, not the events", 1 },
	{ "no-summary", OPTION_NO_SUMMARY, NULL, 0, "Only the events, not the summary", 1 },
	{ "kernel-only", 'k', NULL, 0, "Leave time in user mode out of the summary", 1 },
	{ "stack", OPTION_STACK, NULL, 0,
	  "Show under events the stacks that fkt_record --stack and --user-stack have recorded",
	  1 },
	{ "elapsed", OPTION_ELAPSED, NULL, 0,
	  "Calls take the time from entry to exit, not their time on a CPU", 1 },

	{ "timedat", 't', "OUT", 0,
	  "Write to OUT when each page of the trace was filled, for fkt_selection", 1 },
	{ "bufdat", 'b', "OUT", 0,
	  "Write to OUT what became of the recording's pages, for fkt_bufstats; of a trace with the "
	  "layer fkt",
	  1 },

	{ NULL, 0, NULL, 0,
	  "Of what: listed and summed up alike. Several of a kind mean any of them, different kinds all "
	  "of them, and ! before one means not (patterns are those of file names):",
	  2 },
	{ NULL, 'p', "[+]PROCESS", 0, "The same as --while; with +, as --process", 2 },
	{ NULL, 's', "PROCESS", 0, "The same as --while", 2 },

	{ NULL, 0, NULL, 0, "How:", 3 },
	{ "time", OPTION_TIME, "UNIT", 0,
	  "Times in cycles, ns, us or the unit that fits (fit, the default), in the listing since "
	  "the event before; or moments: rel (seconds since the first event), abs (date and time "
	  "of day)",
	  3 },
	{ "format", OPTION_FORMAT, "FORMAT", 0, NULL, 3 }, /* see help_filter() */
	{ "threads", OPTION_THREADS, "N", 0,
	  "Read with N threads (default: one for each CPU, up to 8)", 3 },
	{ "no-pager", OPTION_NO_PAGER, NULL, 0, "Print to the terminal itself", 3 },
	{ NULL, 0, NULL, 0, NULL, -1 },
	FKT_OPTION_HELP,
};

#define LIST_BYTES 512

/* "text, csv or json (a line each)", the last with what there is to know of them. */
static const char *list_formats(char *list, size_t room, bool about)
{
	const struct fkt_format *format;
	size_t bytes = 0;

	for (unsigned int i = 0; (format = fkt_format(i)) && bytes < room; i++)
		bytes += (size_t)snprintf(list + bytes, room - bytes, "%s%s%s%s",
					  !i		      ? ""
					  : fkt_format(i + 1) ? ", "
							      : " or ",
					  fkt_format_name(format),
					  about && *fkt_format_about(format) ? " " : "",
					  about ? fkt_format_about(format) : "");
	return list;
}

/* What --help says of an option, where the table of options can't know it. */
static char *help_filter(int key, const char *text, void *input)
{
	char list[LIST_BYTES], *help;

	(void)input;
	if (key == SELECT_LONGER && asprintf(&help, "%s; listed as --spans lists them", text) >= 0)
		return help;
	if (key == OPTION_FORMAT &&
	    asprintf(&help, "%s; default %s", list_formats(list, sizeof(list), true),
		     fkt_format_name(fkt_format(0))) >= 0)
		return help;
	return (char *)text;
}

static int find_word(const char *const *words, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return (int)i;
	return -1;
}

#define FIND_WORD(words, word) find_word(words, sizeof(words) / sizeof((words)[0]), word)

/* What makes no sense for a view, though it was asked for both. */
static void refuse(struct argp_state *state, const struct options *options)
{
	static const char *const names[] = { "--while", "--process",  "--cpu",	 "--code",
					     "--layer", "--function", "--range", "--longer-than" };
	unsigned int kinds = filter_kinds(&options->selected);

	for (unsigned int i = 0; i < VIEW_COUNT; i++)
		for (unsigned int kind = 0; kind < sizeof(names) / sizeof(names[0]); kind++)
			if (options->view[i] && kinds & views[i]->refuses & 1u << kind)
				argp_error(state, "--%s is of %s: %s makes no sense for it",
					   views[i]->name, views[i]->about, names[kind]);
}

static void end_of_options(struct argp_state *state, struct options *options, bool only_summary,
			   bool no_summary, bool has_path)
{
	bool any = false;

	if (only_summary && no_summary)
		argp_error(state, "--summary and --no-summary together leave nothing");
	for (unsigned int i = 0; i < VIEW_COUNT; i++)
		any |= options->view[i];
	options->listing = !only_summary && !any;
	options->view[VIEW_summary] = !no_summary && (only_summary || !any);
	/* Calls are listed with both of their ends. */
	if (options->listing && options->selected.longer >= 0) {
		options->listing = false;
		options->view[VIEW_spans] = true;
	}
	selection_check(state, &options->selected);
	if (options->elapsed && !options->view[VIEW_calls] && !options->view[VIEW_by] &&
	    !options->view[VIEW_queues])
		argp_error(state, "--elapsed is for --calls, --histogram, --by and --queues");
	if (options->kernel_only && !options->view[VIEW_summary])
		argp_error(state, "-k is for the summary, which is not printed; -q adds it");
	if (options->stacks && !options->listing)
		argp_error(state, "--stack is for the listing, which is not printed; --by stack "
				  "sums stacks up");
	if (options->folded && !fkt_format_for_people(options->format))
		argp_error(state,
			   "--folded is a format of its own: --format makes no sense for it");
	if (options->histogram && !has_path && !access(options->histogram, F_OK))
		argp_error(state, "--histogram=%s: that is a file; --histogram FUNCTION %s?",
			   options->histogram, options->histogram);
	refuse(state, options);
}

/* What parse_option() sees of it. */
struct input {
	struct options *options;
	bool only_summary;
	bool no_summary;
};

/* An option of a view. */
static bool parse_view(struct argp_state *state, struct options *options, int key, char *arg)
{
	unsigned int number = (unsigned int)(key - OPTION_VIEW) / VIEW_OPTIONS_MAX;

	if (key < OPTION_VIEW || number >= VIEW_COUNT)
		return false;
	options->view[number] = true;
	if (views[number]->parse)
		views[number]->parse(state, options,
				     (unsigned int)(key - OPTION_VIEW) % VIEW_OPTIONS_MAX, arg);
	return true;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	char meant[FKT_MEANT_BYTES];
	static const char *const times[] = {
		[FKT_TIME_CYCLES] = "cycles", [FKT_TIME_NS] = "ns",   [FKT_TIME_US] = "us",
		[FKT_TIME_REL] = "rel",	      [FKT_TIME_ABS] = "abs", [FKT_TIME_FIT] = "fit",
	};
	struct input *input = state->input;
	struct options *options = input->options;
	char *end, list[LIST_BYTES];
	int word;

	switch (key) {
	case 'q':
		input->only_summary = true;
		break;
	case OPTION_NO_SUMMARY:
		input->no_summary = true;
		break;
	case 'k':
		options->kernel_only = true;
		break;
	case OPTION_ELAPSED:
		options->elapsed = true;
		break;
	case OPTION_TIME:
		word = FIND_WORD(times, arg);
		if (word < 0)
			argp_error(state, "--time=%s: it can be fit, cycles, ns, us, rel or abs%s",
				   arg, WORD_MEANT(arg, times, meant));
		options->time = (enum fkt_time)word;
		break;
	case OPTION_FORMAT:
		options->format = fkt_format_find(arg);
		if (!options->format)
			argp_error(state, "--format=%s: it can be %s%s", arg,
				   list_formats(list, sizeof(list), false),
				   fkt_format_meant(arg, meant));
		break;
	case OPTION_THREADS:
		options->threads = (unsigned int)strtoul(arg, &end, 10);
		if (*arg < '1' || *arg > '9' || *end || options->threads > 1024)
			argp_error(state, "--threads=%s: a number from 1 on", arg);
		break;
	case OPTION_NO_PAGER:
		options->no_pager = true;
		break;
	case 's':
		selection_choose_process(state, &options->selected.lives, "-s", arg);
		break;
	case 'p':
		if (*arg == '+')
			selection_choose_process(state, &options->selected.process, "-p", arg + 1);
		else
			selection_choose_process(state, &options->selected.lives, "-p", arg);
		break;
	case 't':
		options->view[VIEW_timedat] = true;
		options->timedat = arg;
		break;
	case 'b':
		options->view[VIEW_bufdat] = true;
		options->bufdat = arg;
		break;
	case OPTION_STACK:
		options->stacks = true;
		break;
	case ARGP_KEY_ARG:
		options->selected.path = fkt_one_trace(state, arg);
		options->no_path = false;
		break;
	case ARGP_KEY_END:
		end_of_options(state, options, input->only_summary, input->no_summary,
			       state->arg_num);
		break;
	default:
		if (!selection_parse(state, &options->selected, key, arg) &&
		    !parse_view(state, options, key, arg))
			return fkt_other_option(key, state);
	}
	return 0;
}

/* All options: our own and those of views. */
static void gather_options(struct argp_option *to)
{
	const struct argp_option *option;

	memcpy(to, own_options, sizeof(own_options));
	to += sizeof(own_options) / sizeof(own_options[0]);
	memcpy(to, selection_options, sizeof(selection_options));
	to += SELECT_COUNT;
	for (unsigned int i = 0; i < VIEW_COUNT; i++) {
		option = views[i]->option;
		for (unsigned int j = 0; j < VIEW_OPTIONS_MAX && option && option[j].name; j++) {
			*to = option[j];
			to->key = (int)(OPTION_VIEW + i * VIEW_OPTIONS_MAX + j);
			to++->group = GROUP_VIEWS;
		}
	}
	*to = (struct argp_option){ 0 };
}

static const struct argp argp_template = {
	.parser = parse_option,
	.args_doc = "[FILE]",
	.help_filter = help_filter,
	.doc = "List the events of an FKT trace, and sum them up.\v"
	       "FILE defaults to trace_file; - is standard input, whose events are shown as they "
	       "come. The exit status is 1 when FILE cannot be read, or not to its end.",
};

void parse_options(int argc, char **argv, struct options *options)
{
	struct argp_option all[sizeof(own_options) / sizeof(own_options[0]) + SELECT_COUNT +
			       VIEW_COUNT * VIEW_OPTIONS_MAX + 1];
	struct input input = { .options = options };
	struct argp argp = argp_template;

	*options = (struct options){
		.selected = SELECTION_NONE,
		.no_path = true,
		.format = fkt_format(0),
		.time = FKT_TIME_FIT,
	};
	argp_err_exit_status = 2;
	gather_options(all);
	argp.options = all;
	config_parse(&argp, argc, argv, 0, &input);
}

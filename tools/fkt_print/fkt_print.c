// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt_print: list a trace's events, and sum them up (paper, §1.2 and §C.3).
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "fkt.h"
#include "print.h"

const char *argp_program_version = "fkt_print (FKT) " FKT_RELEASE;

struct options {
	const char *path;
	enum fkt_time time;
	bool listing;
	bool summary;
};

enum {
	OPTION_TIME = 256,
	OPTION_NO_SUMMARY,
};

static const struct argp_option argp_options[] = {
	{ "summary", 'q', NULL, 0, "Only the summary, not the events", 0 },
	{ "no-summary", OPTION_NO_SUMMARY, NULL, 0, "Only the events, not the summary", 0 },
	{ "time", OPTION_TIME, "UNIT", 0,
	  "First column: cycles, ns or us since the event before, rel (seconds since the first "
	  "event) or abs (date and time of day); default cycles",
	  0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const times[] = {
		[FKT_TIME_CYCLES] = "cycles", [FKT_TIME_NS] = "ns",   [FKT_TIME_US] = "us",
		[FKT_TIME_REL] = "rel",	      [FKT_TIME_ABS] = "abs",
	};
	struct options *options = state->input;

	switch (key) {
	case 'q':
		options->listing = false;
		break;
	case OPTION_NO_SUMMARY:
		options->summary = false;
		break;
	case OPTION_TIME:
		for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
			if (strcmp(arg, times[i]))
				continue;
			options->time = (enum fkt_time)i;
			return 0;
		}
		argp_error(state, "--time=%s: it can be cycles, ns, us, rel or abs", arg);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "%s: one trace at a time, please", arg);
		options->path = arg;
		break;
	case ARGP_KEY_END:
		if (!options->listing && !options->summary)
			argp_error(state, "--summary and --no-summary together leave nothing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "List the events of an FKT trace, and sum them up.\v"
	       "FILE defaults to trace_file; - is standard input, whose events are shown as they "
	       "come. The exit status is 1 when FILE cannot be read, or not to its end.",
};

static const char *path_name(const struct options *options)
{
	return strcmp(options->path, "-") ? options->path : "standard input";
}

static void complain(const struct options *options, const char *sentence)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, path_name(options),
		sentence);
}

static void warn(void *arg, const char *sentence)
{
	complain(arg, sentence);
}

/* What the trace lacks, on stderr. Whether it is whole. */
static bool tell_missing(const struct options *options, const struct fkt_trace *trace,
			 const struct fkt_read_stats *stats)
{
	bool whole = true;
	char text[FKT_ERROR_BYTES];

	if (stats->foreign) {
		snprintf(text, sizeof(text),
			 "pages of another recording follow: this one was cut off; read up to "
			 "there, %" PRIu64 " pages",
			 stats->pages + stats->index_pages);
		complain(options, text);
		whole = false;
	} else if (!fkt_is_complete(trace)) {
		snprintf(text, sizeof(text),
			 "the end sections are missing: the recording was cut off; read up to its "
			 "last whole page, %" PRIu64 " pages",
			 stats->pages + stats->index_pages);
		complain(options, text);
		whole = false;
	}
	if (stats->damaged || stats->missing) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " damaged pages were skipped, or in part; %" PRIu64
			 " pages are missing",
			 stats->damaged, stats->missing);
		complain(options, text);
		whole = false;
	}
	return whole;
}

/* The whole run: 0 or 1, the exit status, or a negative errno value. */
static int print_events(const struct options *options, struct fkt_trace *trace,
			struct fkt_reader *reader, struct fkt_processes *processes,
			struct fkt_analysis *analysis, struct fkt_text *text)
{
	struct fkt_event event;
	int what, err = 0;

	if (options->listing)
		fkt_text_header(text);
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			if (options->summary)
				err = fkt_analysis_event(analysis, &event);
			if (fkt_is_process_event(event.code))
				fkt_processes_event(processes, &event);
			if (options->listing)
				fkt_text_event(text, &event);
		} else if (options->listing) {
			if (what == FKT_GAP)
				fkt_text_gap(text, fkt_gap(reader));
			else
				err = fkt_text_flush(text);
		}
		if (err)
			return err;
	}
	if (what < 0)
		return what;
	err = fkt_text_flush(text);
	if (err)
		return err;

	if (options->summary) {
		fkt_analysis_end(analysis, reader->stats.first, reader->stats.last);
		if (options->listing)
			putchar('\n');
		err = print_summary(stdout, trace, fkt_read_stats(reader), processes, analysis);
		if (!err && fflush(stdout))
			err = -errno;
	}
	if (err)
		return err;
	return tell_missing(options, trace, fkt_read_stats(reader)) ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct options options = {
		.path = "trace_file",
		.listing = true,
		.summary = true,
	};
	struct fkt_processes *processes = NULL;
	struct fkt_analysis *analysis = NULL;
	struct fkt_reader *reader = NULL;
	struct fkt_text *text = NULL;
	struct fkt_trace *trace;
	char error[FKT_ERROR_BYTES];
	int status = 1;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &options);

	trace = fkt_open(options.path, warn, &options, error);
	if (!trace) {
		complain(&options, error);
		return 1;
	}
	if ((options.time != FKT_TIME_CYCLES && !fkt_has_clock(trace)) ||
	    (options.time == FKT_TIME_ABS && !fkt_has_wall_clock(trace))) {
		complain(&options, "does not say how fast its clock is; try --time=cycles");
		goto out;
	}

	processes = fkt_processes_new(trace);
	reader = fkt_reader_new(trace);
	if (processes) {
		analysis = fkt_analysis_new(processes);
		text = fkt_text_new(trace, processes, STDOUT_FILENO, options.time);
	}
	if (processes && reader && analysis && text)
		status = print_events(&options, trace, reader, processes, analysis, text);
	else
		status = -ENOMEM;
	/* Whoever reads the output has seen enough. */
	if (status == -EPIPE) {
		status = 0;
	} else if (status < 0) {
		if (status == -ENOMEM)
			complain(&options, "out of memory");
		else
			fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name,
				strerror(-status));
		status = 1;
	}
out:
	fkt_text_free(text);
	fkt_analysis_free(analysis);
	fkt_reader_free(reader);
	fkt_processes_free(processes);
	fkt_close(trace);
	return status;
}

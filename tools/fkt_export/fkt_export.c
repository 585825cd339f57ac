// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_export: a trace in the formats of other tools.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/config.h"
#include "common/distance.h"
#include "common/follow.h"
#include "common/help.h"
#include "common/known.h"
#include "common/missing.h"
#include "format.h"
#include "read/reader.h"
#include "spool.h"

const char *argp_program_version = "fkt_export (FKT) " FKT_RELEASE;

static const struct export_format *const formats[] = {
#define X(name) &export_##name,
	EXPORT_FORMATS(X)
#undef X
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/**
 * struct options - what the user asked for
 * @selected: which trace, and what of it
 * @format: in which format
 * @output: the file; NULL: standard output
 * @quiet: no progress
 */
struct options {
	struct selection selected;
	const struct export_format *format;
	const char *output;
	bool quiet;
};

enum {
	OPTION_TO = 256,
};

static const struct argp_option own_options[] = {
	{ NULL, 0, NULL, 0, "Where to:", 1 },
	{ "to", OPTION_TO, "FORMAT", 0, "In this format, see below", 1 },
	{ "output", 'o', "FILE", 0,
	  "Into FILE, which is there once it is whole (default: standard output); of ctf, a "
	  "directory",
	  1 },
	{ "quiet", 'q', NULL, 0, "Show no progress", 1 },
	{ NULL, 0, NULL, 0,
	  "Of what. Several of a kind mean any of them, different kinds all of them, and ! before "
	  "one means not (patterns are those of file names):",
	  SELECT_GROUP },
	{ NULL, 0, NULL, 0, NULL, -1 },
	FKT_OPTION_HELP,
};

static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t bytes;
	FILE *file;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	file = open_memstream(&help, &bytes);
	if (!file)
		return (char *)text;
	fputs("Formats, what reads them, and what they cannot hold:\n", file);
	for (size_t i = 0; i < FORMATS; i++)
		fprintf(file, "\n  %s: %s. Without %s.\n", formats[i]->name, formats[i]->about,
			formats[i]->lacks);
	fprintf(file, "\n%s", text);
	fclose(file);
	return help;
}

static const struct export_format *find_format(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static void set_format(struct argp_state *state, struct options *options, const char *arg)
{
	char list[256] = "", meant[FKT_MEANT_BYTES];
	struct fkt_near near = { .wanted = arg };
	size_t bytes = 0;

	for (size_t i = 0; i < FORMATS; i++)
		bytes += (size_t)snprintf(list + bytes, sizeof(list) - bytes, "%s%s",
					  !i		    ? ""
					  : i + 1 < FORMATS ? ", "
							    : " or ",
					  formats[i]->name);
	for (size_t i = 0; i < FORMATS; i++)
		fkt_near_show(&near, formats[i]->name);
	options->format = find_format(arg);
	if (!options->format)
		argp_error(state, "--to=%s: it can be %s (--range is for times)%s", arg, list,
			   fkt_near_meant(&near, meant));
}

/* What makes no sense for the format. */
static void refuse(struct argp_state *state, const struct options *options)
{
	static const char *const names[] = { "--while", "--process",  "--cpu",	 "--code",
					     "--layer", "--function", "--range", "--longer-than" };
	unsigned int kinds = filter_kinds(&options->selected) & options->format->refuses;

	for (unsigned int kind = 0; kind < sizeof(names) / sizeof(names[0]); kind++)
		if (kinds & 1u << kind)
			argp_error(state, "--to=%s: %s makes no sense for it",
				   options->format->name, names[kind]);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_TO:
		set_format(state, options, arg);
		break;
	case 'o':
		options->output = strcmp(arg, "-") ? arg : NULL;
		break;
	case 'q':
		options->quiet = true;
		break;
	case ARGP_KEY_ARG:
		options->selected.path = fkt_one_trace(state, arg);
		break;
	case ARGP_KEY_END:
		if (!options->format)
			argp_error(state, "--to FORMAT says in which format");
		selection_check(state, &options->selected);
		refuse(state, options);
		if (!options->output && options->format->wants & EXPORT_DIRECTORY)
			argp_error(state, "--to=%s: -o DIRECTORY says into which directory",
				   options->format->name);
		if (!options->output && options->format->wants & EXPORT_BINARY &&
		    isatty(STDOUT_FILENO))
			argp_error(state, "--to=%s is nothing for a terminal; -o FILE?",
				   options->format->name);
		break;
	default:
		if (!selection_parse(state, &options->selected, key, arg))
			return fkt_other_option(key, state);
	}
	return 0;
}

static void parse_options(int argc, char **argv, struct options *options)
{
	struct argp_option all[sizeof(own_options) / sizeof(own_options[0]) + SELECT_COUNT + 1];
	struct argp_option *to = all;
	const struct argp argp = {
		.options = all,
		.parser = parse_option,
		.args_doc = "[TRACE]",
		.help_filter = help_filter,
		.doc = "Write an FKT trace in the format of another tool.\v"
		       "TRACE defaults to trace_file; - is standard input. The exit status is 1 "
		       "when TRACE cannot be read, or not to its end: then what is there is "
		       "written, and what is missing is said.",
	};

	*options = (struct options){ .selected = SELECTION_NONE };
	for (size_t i = 0; i < sizeof(own_options) / sizeof(own_options[0]); i++)
		*to++ = own_options[i];
	/* --to is the format's: the time is --range's. */
	for (size_t i = 0; i < SELECT_COUNT; i++)
		if (selection_options[i].key != SELECT_TO)
			*to++ = selection_options[i];
	*to = (struct argp_option){ 0 };
	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, options);
}

/* ---- progress ---- */

/**
 * struct progress - what is said on a terminal
 * @wanted: it is
 * @size: of the trace, 0: not known
 * @next_ms: when
 */
struct progress {
	bool wanted;
	uint64_t size;
	uint64_t next_ms;
};

#define PROGRESS_EVENTS 0x10000
#define PROGRESS_MS	200

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void begin_progress(struct progress *progress, const struct options *options)
{
	struct stat status;

	progress->wanted = !options->quiet && isatty(STDERR_FILENO);
	progress->size = !strcmp(options->selected.path, "-") ||
					 stat(options->selected.path, &status) ||
					 !S_ISREG(status.st_mode)
				 ? 0
				 : (uint64_t)status.st_size;
	progress->next_ms = now_ms() + PROGRESS_MS;
}

static void show_progress(struct progress *progress, const struct fkt_read_stats *stats,
			  const struct output *output)
{
	const uint64_t now = now_ms();
	uint64_t read = (stats->pages + stats->index_pages) * FKT_PAGE_BYTES;

	if (now < progress->next_ms)
		return;
	progress->next_ms = now + PROGRESS_MS;
	fprintf(stderr, "\r%" PRIu64 " events", stats->events);
	if (output->written)
		fprintf(stderr, ", %" PRIu64 " MB written", output->written >> 20);
	if (progress->size)
		fprintf(stderr, ", %" PRIu64 " %%",
			read >= progress->size ? 100 : read * 100 / progress->size);
	fputs("\033[K", stderr);
}

/* ---- the run ---- */

/**
 * struct run - what is at work
 * @export: what the format knows, too
 * @format: the format
 * @data: its own
 * @reader: the events
 * @hooks: of the analysis
 * @progress: see there
 * @follow: the events, one by one
 * @stopped: at the end of that time
 * @held: what is written is held back: nobody knows yet whether the trace has all that options name
 * @something: the filter has let something through
 * @nothing: the trace has nothing of what was asked for, or not what options name
 * @err: of the format, the first one
 */
struct run {
	struct export export;
	const struct export_format *format;
	void *data;
	struct fkt_reader *reader;
	struct fkt_analysis_hooks hooks;
	struct progress progress;
	struct follow follow;
	bool stopped;
	bool held;
	bool something;
	bool nothing;
	int err;
};

static void warn(void *arg, const char *sentence)
{
	selection_complain(arg, sentence);
}

static void keep_error(struct run *run, int err)
{
	if (err && !run->err)
		run->err = err;
}

static void on_enter(void *arg, const struct fkt_call *call)
{
	struct run *run = arg;

	filter_enter(run->export.filter, call);
	if (run->format->enter)
		keep_error(run,
			   run->format->enter(run->data, call,
					      run->follow.inside && !run->stopped &&
						      filter_row(run->export.filter, call) &&
						      filter_cpu(run->export.filter, call->cpu) &&
						      filter_thread(run->export.filter, call->id)));
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct run *run = arg;
	struct fkt_call cut;
	bool passes;

	if (filter_cut(run->export.filter, call, &cut))
		call = &cut;
	if (run->format->leave) {
		passes = filter_call(run->export.filter, call);
		run->something |= passes;
		keep_error(run, run->format->leave(run->data, call, passes));
	}
	filter_leave(run->export.filter, call);
}

static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct run *run = arg;

	if (!filter_wait(run->export.filter, wait))
		return;
	run->something = true;
	keep_error(run, run->format->wait(run->data, wait));
}

static void on_moved(void *arg, uint32_t from, uint32_t to)
{
	struct run *run = arg;

	filter_moved(run->export.filter, from, to);
	if (run->format->moved)
		keep_error(run, run->format->moved(run->data, from, to));
}

static bool on_charges(void *arg, uint16_t cpu, uint32_t id)
{
	const struct run *run = arg;

	return filter_cpu(run->export.filter, cpu) && filter_thread(run->export.filter, id);
}

static bool make_analysis(struct run *run)
{
	const struct export_format *format = run->format;
	const struct filter *filter = run->export.filter;
	const bool calls = format->enter || format->leave || filter_needs_calls(filter);

	if (!calls && !format->wait && !(format->wants & EXPORT_SUMS))
		return true;
	run->hooks.arg = run;
	if (calls) {
		run->hooks.enter = on_enter;
		run->hooks.leave = on_leave;
		run->hooks.moved = on_moved;
	}
	if (format->wait)
		run->hooks.wait = on_wait;
	if (filter_needs_charges(filter))
		run->hooks.charges = on_charges;
	run->hooks.keep_args = format->wants & EXPORT_ARGS;
	run->export.analysis =
		fkt_analysis_new(run->export.trace, run->export.processes, &run->hooks);
	return run->export.analysis;
}

static int tell_gaps(struct run *run, uint64_t stamp, bool inside)
{
	int err = 0;

	for (size_t i = 0; inside && i < run->follow.gaps && !err; i++)
		if (run->format->gap && filter_gap(run->export.filter, &run->follow.gap[i])) {
			run->something = true;
			err = run->format->gap(run->data, &run->follow.gap[i], stamp);
		}
	run->follow.gaps = 0;
	return err;
}

static int on_process(void *arg, const struct fkt_event *event)
{
	struct run *run = arg;

	if (run->format->process)
		keep_error(run, run->format->process(run->data, event));
	return 0;
}

static int take_event(struct run *run, const struct fkt_event *event, bool inside)
{
	const bool is_stack = follow_is_stack(&run->follow, event);
	int err = follow_event(&run->follow, event, inside);
	bool passes;

	if (err || is_stack)
		return err ?: run->err;
	passes = follow_passes(&run->follow, event, inside);
	run->export.stack = follow_stack(&run->follow, event);
	if (run->format->look)
		keep_error(run, run->format->look(run->data, event));
	if (passes && run->format->event) {
		run->something = true;
		keep_error(run, run->format->event(run->data, event));
	}
	return run->err;
}

/* Let out what was held back, once the trace has had all that options name, and some of it. */
static void release(struct run *run)
{
	if (!run->something || !run->follow.inside ||
	    !known_already(run->export.selection, run->export.trace, run->export.filter,
			   run->format->wait))
		return;
	output_release(run->export.out);
	run->held = false;
}

static int read_all(struct run *run)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	enum filter_time time = FILTER_BEFORE;
	struct fkt_event event;
	uint32_t count = 0;
	int what, err = 0;

	run->follow = (struct follow){
		.selection = run->export.selection,
		.trace = run->export.trace,
		.reader = run->reader,
		.processes = run->export.processes,
		.filter = run->export.filter,
		.analysis = run->export.analysis,
		.process = on_process,
		.arg = run,
	};
	while ((what = fkt_reader_next(run->reader, &event)) > 0) {
		if (what == FKT_WAIT)
			continue;
		if (what == FKT_GAP) {
			err = follow_gap(&run->follow, fkt_gap(run->reader));
		} else {
			if (!(++count % PROGRESS_EVENTS)) {
				if (run->progress.wanted)
					show_progress(&run->progress, stats, run->export.out);
				if (run->held)
					release(run);
			}
			time = filter_time(run->export.filter, event.stamp);
			run->export.first = filter_first(run->export.filter);
			err = run->follow.gaps ? tell_gaps(run, event.stamp, time == FILTER_INSIDE)
					       : 0;
			if (time == FILTER_AFTER) {
				run->stopped = true;
				return err ?: follow_after(&run->follow, &event);
			}
			err = err ?: take_event(run, &event, time == FILTER_INSIDE);
		}
		if (err || run->export.out->err)
			return err;
	}
	if (!what)
		follow_to_the_end(&run->follow);
	/* Behind the last event: where that is, this is. */
	return tell_gaps(run, stats->last, time == FILTER_INSIDE || run->export.selection->from < 0)
		       ?: what;
}

void export_gap(const struct fkt_gap *gap, char text[GAP_BYTES])
{
	static const char *const kinds[] = {
		[FKT_GAP_LOST] = "lost %" PRIu64 " event%s",
		[FKT_GAP_MISSING] = "%" PRIu64 " page%s missing",
		[FKT_GAP_DAMAGED] = "%" PRIu64 " page%s damaged",
		[FKT_GAP_DISCARDED] = "discarded %" PRIu64 " event%s",
		[FKT_GAP_OVERWRITTEN] = "overwritten before this",
	};
	int bytes;

	bytes = snprintf(text, GAP_BYTES, kinds[gap->kind], gap->count, gap->count == 1 ? "" : "s");
	if (gap->cpu == FKT_CPU_ANY)
		snprintf(text + bytes, GAP_BYTES - (size_t)bytes, " in lane %u", gap->lane);
	else
		snprintf(text + bytes, GAP_BYTES - (size_t)bytes, " on CPU %u", gap->cpu);
}

/* Options together have left nothing, though the trace has what each of them names. */
static bool tell_nothing(const struct run *run)
{
	const struct export_format *format = run->format;
	const struct selection *selection = run->export.selection;
	const unsigned int kinds = filter_kinds(selection);
	char text[FKT_ERROR_BYTES];

	/* Sums are written in the end, and may be of threads that were not seen to do anything. */
	if (!kinds ||
	    (format->wants & EXPORT_SUMS ? !output_is_empty(run->export.out) : run->something))
		return false;
	snprintf(text, sizeof(text), "no %s that was asked for was seen%s",
		 format->event		       ? "event"
		 : format->wants & EXPORT_SUMS ? "own time"
		 : format->wait		       ? "wait"
					       : "call",
		 kinds & FILTER_RANGE ? " in the time that was asked for" : "");
	selection_complain(selection, text);
	return true;
}

/* Everything is read and written. Return: 0 or 1, the exit status, or a negative errno value. */
static int export_all(struct run *run)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	const struct selection *selection = run->export.selection;
	char text[FKT_ERROR_BYTES];
	uint64_t last;
	bool whole;
	int err;

	err = read_all(run);
	last = run->stopped ? filter_to(run->export.filter) : stats->last;
	if (!err && run->export.analysis)
		err = fkt_analysis_end(run->export.analysis, stats->last);
	err = err ?: run->err;
	if (!err && !run->export.out->err && run->format->end)
		err = run->format->end(run->data, last);
	if (run->progress.wanted)
		fputs("\r\033[K", stderr);
	if (err || run->export.out->err)
		return err ?: run->export.out->err;
	if (run->export.left_out) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " event%s left out, which --to %s cannot hold",
			 run->export.left_out, run->export.left_out == 1 ? " is" : "s are",
			 run->format->name);
		selection_complain(selection, text);
	}
	if (!known_after(selection, run->export.trace, run->export.processes, run->export.filter) ||
	    !known_events(selection, run->export.trace, run->export.filter, run->format->wait)) {
		run->nothing = true;
		return 1;
	}
	if (!run->follow.inside && stats->events) {
		selection_complain(selection, "no event is in the time that was asked for");
		run->nothing = true;
		return 1;
	}
	run->nothing = stats->events && tell_nothing(run);
	if (stats->lost) {
		snprintf(text, sizeof(text), "%" PRIu64 " event%s lost while it was recorded",
			 stats->lost, stats->lost == 1 ? " was" : "s were");
		selection_complain(selection, text);
	}
	missing_tell_short_calls(selection, run->export.trace);
	whole = missing_tell(selection, run->export.trace, stats, run->stopped);
	return whole && !run->nothing ? 0 : 1;
}

static int run_all(struct run *run)
{
	struct export *export = &run->export;
	int status = -ENOMEM;

	export->processes = fkt_processes_new(export->trace);
	if (export->processes)
		export->filter = filter_new(export->selection, export->trace, export->processes);
	if (export->filter && make_analysis(run)) {
		run->reader = filter_reader(export->filter, export->trace);
		run->data = run->reader ? run->format->begin(export) : NULL;
		status = run->data ? export_all(run) : -errno;
	}
	if (run->data)
		run->format->free(run->data);
	follow_free(&run->follow);
	fkt_analysis_free(export->analysis);
	filter_free(export->filter);
	fkt_reader_free(run->reader);
	fkt_processes_free(export->processes);
	return status;
}

static bool is_fit(const struct options *options, struct fkt_trace *trace)
{
	const struct selection *selection = &options->selected;

	if (!fkt_has_clock(trace) && (options->format->wants & EXPORT_NS || selection->from >= 0 ||
				      selection->to >= 0 || selection->longer >= 0)) {
		selection_complain(selection, "does not say how fast its clock is; try --to csv");
		return false;
	}
	return true;
}

/* Not all is written, though nobody has asked for a part. */
static void tell_begin(const struct selection *selection)
{
	if (selection->near_trigger)
		selection_complain(selection, "is written from 50 ms before what triggered the "
					      "snapshot on; --from 0 takes all of it");
	else if (selection->overwritten)
		selection_complain(selection, "is written from where on no CPU's events were "
					      "overwritten; --from 0 takes all of it");
}

/* The trace itself would be replaced. */
static bool is_itself(const struct options *options)
{
	struct stat trace, output;

	return options->output && !stat(options->output, &output) &&
	       !stat(options->selected.path, &trace) && trace.st_dev == output.st_dev &&
	       trace.st_ino == output.st_ino;
}

/* Of the file that is at fault. */
static void complain_of_output(const struct options *options, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
		spool_has_failed() ? "a file in $TMPDIR, or /tmp"
		: options->output  ? options->output
				   : "standard output",
		strerror(-err));
}

int main(int argc, char **argv)
{
	static struct output output;
	struct options options;
	struct run run = { .export = { .out = &output } };
	char error[FKT_ERROR_BYTES];
	int status = 1, err;

	setlocale(LC_CTYPE, "C.UTF-8");
	parse_options(argc, argv, &options);
	run.format = options.format;
	run.export.selection = &options.selected;
	run.export.trace = fkt_open(options.selected.path, warn, &options.selected, error);
	if (!run.export.trace) {
		selection_complain(&options.selected, error);
		return 1;
	}
	if (is_itself(&options)) {
		complain_of_output(&options, -EEXIST);
		goto out;
	}
	if (!is_fit(&options, run.export.trace) ||
	    !selection_find(&options.selected, run.export.trace) ||
	    !known_before(&options.selected, run.export.trace))
		goto out;
	err = options.format->wants & EXPORT_DIRECTORY
		      ? output_open_directory(&output, options.output, "metadata")
		      : output_open(&output, options.output);
	if (err) {
		complain_of_output(&options, err);
		goto out;
	}
	run.held = filter_kinds(&options.selected);
	err = run.held ? output_hold(&output) : 0;
	if (err) {
		complain_of_output(&options, err);
		output_abandon(&output);
		goto out;
	}
	tell_begin(&options.selected);
	begin_progress(&run.progress, &options);
	status = run_all(&run);
	err = status < 0 || run.nothing ? 0 : output_finish(&output);
	if (output.err || err) {
		/* Whoever reads standard output has seen enough. */
		if (options.output || output.err != -EPIPE)
			complain_of_output(&options, output.err ?: err);
		status = !options.output && output.err == -EPIPE ? 0 : 1;
	} else if (status < 0 && spool_has_failed()) {
		complain_of_output(&options, status);
		status = 1;
	} else if (status < 0) {
		selection_complain(&options.selected,
				   status == -ENOMEM ? "out of memory" : strerror(-status));
		status = 1;
	}
	output_abandon(&output);
out:
	fkt_close(run.export.trace);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt_print: list a trace's events, and sum them up (paper, §1.2 and §C.3).
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "print.h"

/**
 * struct run - what is at work
 * @options: what the user asked for
 * @out: where tables go
 * @trace, @reader, @processes: what is read
 * @filter: what of it is looked at
 * @analysis: the sums, if they are needed
 * @summed: the threads that they are of, if not @processes
 * @text: the listing, if it is
 * @calls, @by, @waits, @graph: the views that are
 * @inside: events were in the time that was asked for
 * @stats: of that time: events, and what is missing
 * @err: of a view, the first one
 */
struct run {
	const struct options *options;
	struct fkt_output *out;
	struct fkt_trace *trace;
	struct fkt_reader *reader;
	struct fkt_processes *processes;
	struct filter *filter;
	struct fkt_analysis *analysis;
	struct fkt_processes *summed;
	struct fkt_text *text;
	struct calls *calls;
	struct by *by;
	struct waits *waits;
	struct graph *graph;
	bool inside;
	struct fkt_read_stats stats;
	int err;
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

/* ---- calls ---- */

static void keep_error(struct run *run, int err)
{
	if (err && !run->err)
		run->err = err;
}

static void on_enter(void *arg, const struct fkt_call *call)
{
	struct run *run = arg;

	filter_enter(run->filter, call);
	if (run->graph)
		keep_error(run, graph_enter(run->graph, call, filter_row(run->filter, call)));
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct run *run = arg;
	bool passes = filter_call(run->filter, call);

	if (run->graph)
		keep_error(run, graph_leave(run->graph, call, passes));
	if (run->calls)
		keep_error(run, calls_add(run->calls, call, passes));
	if (run->by && passes)
		keep_error(run, by_add_call(run->by, call));
	filter_leave(run->filter, call);
}

static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct run *run = arg;

	if (filter_wait(run->filter, wait))
		keep_error(run, waits_add(run->waits, wait));
}

/* ---- events ---- */

static unsigned int threads(const struct options *options)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return options->threads ?: cpus > 0 ? (unsigned int)cpus : 1;
}

/* The listing by several threads, in the background when there is something to be summed up. */
struct listing {
	struct fkt_trace *trace;
	struct fkt_listing how;
	struct fkt_read_stats stats;
	pthread_t thread;
	int err;
};

static void *list(void *arg)
{
	struct listing *listing = arg;

	listing->err = fkt_list(listing->trace, &listing->how, &listing->stats);
	return NULL;
}

static int read_all(struct run *run);

/* Only the summary of all events; by several threads, if the trace is fit for that. */
static int sum_all(struct run *run, unsigned int threads)
{
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct fkt_read_stats stats;
	int err = -ENOMEM;

	if (!fkt_can_sum(run->trace))
		return read_all(run);
	processes = fkt_processes_new(run->trace);
	analysis = processes ? fkt_analysis_new(run->trace, processes, NULL) : NULL;
	if (analysis)
		err = fkt_sum(run->trace, processes, analysis, threads, &stats);
	if (err) {
		fkt_analysis_free(analysis);
		fkt_processes_free(processes);
		return err == -EAGAIN ? read_all(run) : err;
	}
	fkt_analysis_free(run->analysis);
	run->analysis = analysis;
	run->summed = processes;
	run->reader->stats = stats;
	return 0;
}

static int list_all(struct run *run)
{
	struct options options = *run->options;
	struct listing listing = {
		.trace = run->trace,
		.how = { .fd = STDOUT_FILENO,
			 .time = options.time,
			 .format = options.format,
			 .color = run->out->color,
			 .threads = threads(&options) },
	};
	const struct options *before = run->options;
	int err;

	err = fkt_text_flush(run->text);
	if (err)
		return err;
	if (!options.summary) {
		list(&listing);
		run->reader->stats = listing.stats;
		return listing.err;
	}
	err = -pthread_create(&listing.thread, NULL, list, &listing);
	if (err)
		return err;
	options.listing = false;
	run->options = &options;
	err = sum_all(run, 1);
	run->options = before;
	pthread_join(listing.thread, NULL);
	return listing.err ?: err;
}

/* All events, nothing left out and no views: the fast way. */
static int read_all(struct run *run)
{
	const struct options *options = run->options;
	struct fkt_event event;
	int what, err = 0;

	while ((what = fkt_next(run->reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			if (options->summary)
				err = fkt_analysis_event(run->analysis, &event);
			if (fkt_is_process_event(event.code))
				fkt_processes_event(run->processes, &event);
			if (options->listing)
				fkt_text_event(run->text, &event);
		} else if (what == FKT_GAP) {
			if (options->summary)
				fkt_analysis_gap(run->analysis, fkt_gap(run->reader));
			if (options->listing)
				fkt_text_gap(run->text, fkt_gap(run->reader));
		} else if (options->listing) {
			err = fkt_text_flush(run->text);
		}
		if (err)
			return err;
	}
	return what;
}

/* Whether an event is no call's beginning or end. */
static bool is_point(const struct run *run, uint32_t code)
{
	const struct fkt_code_row *row = fkt_code_row(run->trace, code);

	return !row || row->kind == FKT_KIND_POINT;
}

static bool counts_events(const struct options *options)
{
	for (unsigned int i = 0; i < options->bys; i++)
		if (options->by[i] == BY_CODE)
			return true;
	return options->codes;
}

static int take_event(struct run *run, const struct fkt_event *event, bool inside)
{
	const struct options *options = run->options;
	bool passes;
	int err;

	if (run->analysis) {
		/* Who runs where is followed before the time that is asked for, too. */
		if (!run->inside)
			fkt_analysis_charge(run->analysis,
					    inside && filter_from(run->filter)
						    ? filter_from(run->filter)
						    : event->stamp,
					    inside && filter_charges(run->filter));
		err = fkt_analysis_event(run->analysis, event);
		if (err)
			return err;
	}
	run->inside |= inside;
	run->stats.events += inside;
	if (fkt_is_process_event(event->code))
		fkt_processes_event(run->processes, event);
	passes = filter_event(run->filter, event) && inside;
	if (run->analysis && inside)
		fkt_analysis_charge(run->analysis, event->stamp, filter_charges(run->filter));
	if (passes && run->text) {
		fkt_text_set_first(run->text, filter_first(run->filter));
		fkt_text_event(run->text, event);
	}
	if (passes && run->by && counts_events(options) && is_point(run, event->code))
		keep_error(run, by_add_event(run->by, event,
					     fkt_analysis_current(run->analysis, event->cpu)));
	return run->err;
}

/* How many events behind the end are looked at, for CPUs that had none before it. */
#define LOOK_AHEAD 1000000

/* No more time is charged; who was current on a CPU until then, its next event says. */
static int look_ahead(struct run *run, struct fkt_event *event)
{
	int what = FKT_EVENT, err;

	if (!run->analysis)
		return 0;
	fkt_analysis_charge(run->analysis, filter_to(run->filter), false);
	for (unsigned int i = 0; what > 0 && i < LOOK_AHEAD; i++) {
		if (fkt_analysis_knows_cpus(run->analysis))
			return 0;
		err = 0;
		if (what == FKT_EVENT)
			err = fkt_analysis_event(run->analysis, event);
		else if (what == FKT_GAP)
			fkt_analysis_gap(run->analysis, fkt_gap(run->reader));
		if (err)
			return err;
		what = fkt_next(run->reader, event);
	}
	return what < 0 ? what : 0;
}

static void count_gap(struct fkt_read_stats *stats, const struct fkt_gap *gap)
{
	uint64_t *const counts[] = {
		[FKT_GAP_LOST] = &stats->lost,
		[FKT_GAP_MISSING] = &stats->missing,
		[FKT_GAP_DAMAGED] = &stats->damaged,
	};

	*counts[gap->kind] += gap->count;
}

/* The events that the filter lets through, and the views. */
static int read_some(struct run *run)
{
	enum filter_time time = FILTER_BEFORE;
	struct fkt_event event;
	int what, err = 0;

	while ((what = fkt_next(run->reader, &event)) > 0) {
		if (what == FKT_WAIT) {
			err = run->text ? fkt_text_flush(run->text) : 0;
		} else if (what == FKT_GAP) {
			if (run->analysis)
				fkt_analysis_gap(run->analysis, fkt_gap(run->reader));
			if (time == FILTER_INSIDE || run->options->from < 0) {
				count_gap(&run->stats, fkt_gap(run->reader));
				if (run->text)
					fkt_text_gap(run->text, fkt_gap(run->reader));
			}
		} else {
			time = filter_time(run->filter, event.stamp);
			if (time == FILTER_AFTER)
				return look_ahead(run, &event);
			err = take_event(run, &event, time == FILTER_INSIDE);
		}
		if (err)
			return err;
	}
	return what;
}

/* What was read before the time that was asked for is not in the summary. */
static struct fkt_read_stats summary_stats(const struct run *run)
{
	struct fkt_read_stats stats = *fkt_read_stats(run->reader);

	if (run->options->from < 0 && run->options->to < 0)
		return stats;
	stats.events = run->stats.events;
	stats.lost = run->stats.lost;
	stats.missing = run->stats.missing;
	stats.damaged = run->stats.damaged;
	if (filter_from(run->filter) > stats.first)
		stats.first = filter_from(run->filter);
	return stats;
}

static int print_views(struct run *run)
{
	const struct fkt_read_stats stats = summary_stats(run);
	int err = 0;

	if (run->options->cpus)
		err = print_cpus(run->out, run->filter, run->processes, run->analysis);
	if (run->waits && !err)
		err = waits_print(run->waits, run->out, run->processes);
	if (run->calls && !err)
		err = calls_print(run->calls, run->out);
	if (run->by && !err)
		err = by_print(run->by, run->out);
	if (run->options->summary && !err)
		err = print_summary(run->out, run->options, &stats, run->summed ?: run->processes,
				    run->analysis);
	if (!err && (fflush(run->out->file) || ferror(run->out->file)))
		err = errno ? -errno : -EIO;
	return err;
}

/* Why there was no event in the time that was asked for. */
static void tell_outside(const struct run *run)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	uint64_t first = stats->first, last = stats->last;
	char text[FKT_ERROR_BYTES] = "no event is in the time that was asked for";

	/* What was read need not go to the end. */
	if (!strcmp(run->options->path, "-") || fkt_span(run->trace, &first, &last))
		if (filter_from(run->filter) > last)
			snprintf(text, sizeof(text),
				 "no event is in the time that was asked for: the trace ends after "
				 "%.6f s",
				 (double)fkt_cycles_to_ns(run->trace, (int64_t)(last - first)) /
					 1e9);
	complain(run->options, text);
}

/* The whole run: 0 or 1, the exit status, or a negative errno value. */
static int print_events(struct run *run)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	bool all = filter_is_open(run->filter) && !run->calls && !run->by && !run->graph &&
		   !run->waits && !run->options->cpus;
	int err;

	if (run->text)
		fkt_text_header(run->text);
	if (!all)
		err = read_some(run);
	else if (run->text && threads(run->options) > 1 && fkt_can_list(run->trace))
		err = list_all(run);
	else if (!run->text && run->analysis)
		err = sum_all(run, threads(run->options));
	else
		err = read_all(run);
	if (!err && run->analysis)
		err = fkt_analysis_end(run->analysis, stats->last);
	if (!err)
		err = run->err;
	if (!err && run->text)
		err = fkt_text_flush(run->text);
	if (!err && run->text && run->options->summary)
		fkt_table_line(run->out, "%s", "");
	if (!err)
		err = print_views(run);
	if (err)
		return err;
	if (!all && !run->inside && stats->events && run->options->from >= 0) {
		tell_outside(run);
		return 1;
	}
	return tell_missing(run->options, run->trace, stats) ? 0 : 1;
}

/* ---- setting up ---- */

static bool needs_clock(const struct options *options)
{
	return options->time != FKT_TIME_CYCLES || options->from >= 0 || options->to >= 0 ||
	       options->longer >= 0;
}

static bool make_views(struct run *run)
{
	const struct options *options = run->options;
	struct fkt_analysis_hooks hooks = { .arg = run, .keep_args = options->bys };

	run->filter = filter_new(options, run->trace, run->processes);
	if (!run->filter)
		return false;
	if (options->calls || options->histogram) {
		run->calls = calls_new(options, run->trace);
		if (!run->calls)
			return false;
	}
	if (options->bys) {
		run->by = by_new(options, run->trace, run->processes);
		if (!run->by)
			return false;
	}
	if (options->waits) {
		run->waits = waits_new();
		if (!run->waits)
			return false;
		hooks.wait = on_wait;
	}
	if (options->graph) {
		run->graph = graph_new(options, run->out, run->processes);
		if (!run->graph)
			return false;
	}
	if (run->calls || run->by || run->graph || filter_needs_calls(run->filter)) {
		hooks.enter = on_enter;
		hooks.leave = on_leave;
	}
	if (options->summary || options->cpus || hooks.leave || hooks.wait) {
		run->analysis = fkt_analysis_new(run->trace, run->processes, &hooks);
		if (!run->analysis)
			return false;
	}
	return true;
}

static bool make_text(struct run *run)
{
	const struct options *options = run->options;

	if (!options->listing)
		return true;
	run->text = fkt_text_new(run->trace, run->processes, STDOUT_FILENO, options->time);
	if (!run->text)
		return false;
	fkt_text_set_format(run->text, options->format, run->out->color);
	run->out->tables++;
	return true;
}

/* Who lives at some moment is said by what happened to processes before it, since the beginning. */
static int follow_processes(struct run *run, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_processes(run->trace, to);
	struct fkt_event event;
	int what;

	if (!reader)
		return -ENOMEM;
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what != FKT_EVENT || !fkt_is_process_event(event.code))
			continue;
		fkt_processes_event(run->processes, &event);
		filter_event(run->filter, &event);
	}
	fkt_reader_free(reader);
	return what;
}

/* A reader that begins where it must so as to know how things stand at --from. */
static struct fkt_reader *make_reader(struct run *run)
{
	const struct options *options = run->options;
	uint64_t first, last, begin;

	if (options->from <= 0 || !strcmp(options->path, "-") ||
	    !fkt_span(run->trace, &first, &last))
		return fkt_reader_new(run->trace);
	filter_begin(run->filter, first);
	begin = fkt_look_back(run->trace, filter_from(run->filter));
	if (begin && (options->stats_while.set || options->list_while.set) &&
	    follow_processes(run, begin))
		return NULL;
	return fkt_reader_new_window(run->trace, begin, UINT64_MAX);
}

static int run_all(struct run *run)
{
	int status = -ENOMEM;

	run->processes = fkt_processes_new(run->trace);
	if (run->processes && make_views(run) && make_text(run)) {
		run->reader = make_reader(run);
		if (run->reader)
			status = print_events(run);
	}
	fkt_text_free(run->text);
	graph_free(run->graph);
	waits_free(run->waits);
	by_free(run->by);
	calls_free(run->calls);
	fkt_analysis_free(run->analysis);
	filter_free(run->filter);
	fkt_reader_free(run->reader);
	fkt_processes_free(run->summed);
	fkt_processes_free(run->processes);
	return status;
}

/* Colours for a terminal that has them, unless the user wants none (no-color.org). */
static bool wants_color(const struct options *options)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return fkt_format_for_people(options->format) && isatty(STDOUT_FILENO) &&
	       !(no_color && *no_color) && terminal && strcmp(terminal, "dumb");
}

int main(int argc, char **argv)
{
	struct fkt_output out = { .file = stdout };
	struct options options;
	struct run run = { .options = &options, .out = &out };
	char error[FKT_ERROR_BYTES];
	int status = 1;

	parse_options(argc, argv, &options);
	out.format = options.format;
	out.color = wants_color(&options);

	run.trace = fkt_open(options.path, warn, &options, error);
	out.trace = run.trace;
	if (!run.trace) {
		complain(&options, error);
		return 1;
	}
	if ((needs_clock(&options) && !fkt_has_clock(run.trace)) ||
	    (options.time == FKT_TIME_ABS && !fkt_has_wall_clock(run.trace))) {
		complain(&options,
			 options.time == FKT_TIME_CYCLES
				 ? "does not say how fast its clock is: times cannot be "
				   "compared with it"
				 : "does not say how fast its clock is; try --time=cycles");
		goto out;
	}
	/* Who follows a stream wants to see what comes when it comes. */
	if (!options.no_pager && strcmp(options.path, "-"))
		start_pager();
	status = run_all(&run);
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
	end_pager();
out:
	fkt_close(run.trace);
	return status;
}

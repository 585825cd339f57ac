// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_print: list a trace's events, and sum them up (paper, §1.2 and §C.3).
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/follow.h"
#include "common/missing.h"
#include "common/width.h"
#include "print.h"
#include "read/reader.h"
#include "trace/put.h"

const struct view *const views[VIEW_COUNT] = {
#define X(name) &view_##name,
	VIEWS(X)
#undef X
};

/* A view that was asked for. */
struct chosen {
	const struct view *view;
	void *data;
};

/* Views that are called for the same thing, up to NULL. */
struct chosen_list {
	const struct chosen *chosen[VIEW_COUNT + 1];
};

#define for_each_view(list, one)                                                                   \
	for (const struct chosen *const *at = (list)->chosen, *one; (one = *at); at++)

/**
 * struct run - what is at work
 * @context: what views know of it, too
 * @reader: the events
 * @processes: the threads, as the reader goes
 * @summed: the threads that the analysis is of, if not @processes
 * @text: the listing, if it is
 * @chosen: the views that are
 * @views: how many
 * @process, @event, @enter, @leave, @wait, @flush, @print: those of them that are called for these
 * @hooks: of the analysis
 * @in_order: all events have to be looked at, in their order
 * @passed: an event of it is one of those that were asked for
 * @headed: the listing has its header
 * @stats: of that time: events, and what is missing
 * @err: of a view, the first one
 * @stacks: slots of stacks that were read
 * @follow: the events, one by one
 */
struct run {
	struct context context;
	struct fkt_reader *reader;
	struct fkt_processes *processes;
	struct fkt_processes *summed;
	struct fkt_text *text;
	struct chosen chosen[VIEW_COUNT];
	unsigned int views;
	struct chosen_list process;
	struct chosen_list event;
	struct chosen_list enter;
	struct chosen_list moved;
	struct chosen_list leave;
	struct chosen_list wait;
	struct chosen_list flush;
	struct chosen_list print;
	struct fkt_analysis_hooks hooks;
	bool in_order;
	bool passed;
	bool headed;
	bool stopped; /* at --to: what comes behind it was not asked for */
	struct fkt_read_stats stats;
	int err;
	uint64_t stacks;
	struct follow follow;
};

static void warn(void *arg, const char *sentence)
{
	selection_complain(arg, sentence);
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

	filter_enter(run->context.filter, call);
	for_each_view(&run->enter, one)
		keep_error(run, one->view->enter(one->data, call,
						 filter_row(run->context.filter, call)));
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct run *run = arg;
	bool open = filter_is_open(run->context.filter), passes;
	struct fkt_call cut;

	if (!open && filter_cut(run->context.filter, call, &cut))
		call = &cut;
	passes = open ? call->counts : filter_call(run->context.filter, call);
	for_each_view(&run->leave, one)
		keep_error(run, one->view->leave(one->data, call, passes));
	if (!open)
		filter_leave(run->context.filter, call);
}

static void on_moved(void *arg, uint32_t from, uint32_t to)
{
	struct run *run = arg;

	filter_moved(run->context.filter, from, to);
	for_each_view(&run->moved, one)
		keep_error(run, one->view->moved(one->data, from, to));
}

static bool on_charges(void *arg, uint16_t cpu, uint32_t id)
{
	const struct run *run = arg;

	return filter_cpu(run->context.filter, cpu) && filter_thread(run->context.filter, id);
}

static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct run *run = arg;
	const bool passes = filter_wait(run->context.filter, wait);

	for_each_view(&run->wait, one)
		keep_error(run, one->view->wait(one->data, wait, passes));
}

static int flush_views(struct run *run)
{
	int err = 0;

	for_each_view(&run->flush, one)
		err = err ?: one->view->flush(one->data);
	return err;
}

/* ---- events ---- */

unsigned int thread_count(const struct options *options)
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

/* All events, nothing left out and no views: the fast way; listed if there is a @text. */
static int read_all(struct run *run, struct fkt_text *text)
{
	struct fkt_analysis *analysis = run->context.analysis;
	struct fkt_event event;
	int what, err = 0;

	while ((what = fkt_reader_next(run->reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			if (analysis)
				err = fkt_analysis_event(analysis, &event);
			if (fkt_is_process_event(event.code))
				fkt_processes_event(run->processes, &event);
			if (text)
				fkt_text_event(text, &event);
		} else if (what == FKT_GAP) {
			if (analysis)
				fkt_analysis_gap(analysis, fkt_gap(run->reader));
			if (text)
				fkt_text_gap(text, fkt_gap(run->reader));
		} else if (text) {
			err = fkt_text_flush(text);
		}
		if (err)
			return err;
	}
	return what;
}

/* What views were told is to be told once more. */
static bool restart_views(struct run *run)
{
	for (unsigned int i = 0; i < run->views; i++) {
		struct chosen *one = &run->chosen[i];

		if (!one->view->new)
			continue;
		one->view->free(one->data);
		one->data = one->view->new (&run->context);
		if (!one->data)
			return false;
	}
	return true;
}

/* Only the summary of all events; by several threads, if the trace is fit for that. */
static int sum_all(struct run *run, unsigned int threads)
{
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct fkt_read_stats stats;
	int err = -ENOMEM;

	if (!fkt_can_sum(run->context.trace))
		return read_all(run, NULL);
	processes = fkt_processes_new(run->context.trace);
	analysis = processes ? fkt_analysis_new(run->context.trace, processes, &run->hooks) : NULL;
	/* Views look at what they are told of. */
	run->context.processes = processes;
	if (analysis)
		err = fkt_sum(run->context.trace, processes, analysis, threads, &stats);
	if (err) {
		run->context.processes = run->processes;
		fkt_analysis_free(analysis);
		fkt_processes_free(processes);
		if (err != -EAGAIN)
			return err;
		return restart_views(run) ? read_all(run, NULL) : -ENOMEM;
	}
	fkt_analysis_free(run->context.analysis);
	run->context.analysis = analysis;
	run->summed = processes;
	run->reader->stats = stats;
	return 0;
}

static int list_all(struct run *run)
{
	const struct options *options = run->context.options;
	struct listing listing = {
		.trace = run->context.trace,
		.how = { .fd = STDOUT_FILENO,
			 .time = options->time,
			 .format = options->format,
			 .color = run->context.out->color,
			 .stacks = options->stacks,
			 .threads = thread_count(options) },
	};
	int err;

	err = fkt_text_flush(run->text);
	if (err)
		return err;
	if (!run->context.analysis) {
		list(&listing);
		run->reader->stats = listing.stats;
		return listing.err;
	}
	err = -pthread_create(&listing.thread, NULL, list, &listing);
	if (err)
		return err;
	err = sum_all(run, 1);
	pthread_join(listing.thread, NULL);
	return listing.err ?: err;
}

/* Not before there is something to list: what is asked for may turn out not to be there. */
static void print_header(struct run *run)
{
	if (!run->headed)
		fkt_text_header(run->text);
	run->headed = true;
}

static int on_process(void *arg, const struct fkt_event *event)
{
	struct run *run = arg;

	for_each_view(&run->process, one)
		keep_error(run, one->view->process(one->data, event));
	return 0;
}

static int take_event(struct run *run, const struct fkt_event *event, bool inside)
{
	const bool is_stack = follow_is_stack(&run->follow, event);
	bool passes;
	int err;

	if (is_stack && run->text)
		fkt_text_event(run->text, event);
	err = follow_event(&run->follow, event, inside);
	if (err)
		return err;
	run->stats.events += inside && !is_stack;
	run->stacks += is_stack;
	if (is_stack)
		return run->err;
	passes = follow_passes(&run->follow, event, inside);
	run->passed |= passes;
	if (passes && run->text) {
		print_header(run);
		fkt_text_set_first(run->text, filter_first(run->context.filter));
		fkt_text_event(run->text, event);
	}
	if (!passes && run->text)
		fkt_text_pass(run->text);
	run->context.stack = follow_stack(&run->follow, event);
	for_each_view(&run->event, one)
		keep_error(run, one->view->event(one->data, event, passes));
	return run->err;
}

static void tell_gaps(struct run *run, bool inside)
{
	for (size_t i = 0; inside && i < run->follow.gaps; i++) {
		if (!filter_gap(run->context.filter, &run->follow.gap[i]))
			continue;
		missing_count(&run->stats, &run->follow.gap[i]);
		if (!run->text)
			continue;
		print_header(run);
		fkt_text_gap(run->text, &run->follow.gap[i]);
	}
	run->follow.gaps = 0;
}

/* The events that the filter lets through, and the views. */
static int read_some(struct run *run)
{
	enum filter_time time = FILTER_BEFORE;
	struct fkt_event event;
	int what, err = 0;

	run->follow = (struct follow){
		.selection = &run->context.options->selected,
		.trace = run->context.trace,
		.reader = run->reader,
		.processes = run->processes,
		.filter = run->context.filter,
		.analysis = run->context.analysis,
		.process = on_process,
		.arg = run,
	};
	while ((what = fkt_reader_next(run->reader, &event)) > 0) {
		if (what == FKT_WAIT) {
			/* Views that print as they go, too. */
			err = flush_views(run);
			if (!err)
				err = fflush(run->context.out->file) ? -errno : 0;
			if (!err && run->text)
				err = fkt_text_flush(run->text);
		} else if (what == FKT_GAP) {
			err = follow_gap(&run->follow, fkt_gap(run->reader));
		} else {
			time = filter_time(run->context.filter, event.stamp);
			tell_gaps(run, time == FILTER_INSIDE);
			if (time == FILTER_AFTER) {
				run->stopped = true;
				return follow_after(&run->follow, &event);
			}
			err = take_event(run, &event, time == FILTER_INSIDE);
		}
		if (err)
			return err;
	}
	/* Behind the last event: where that is, this is. */
	tell_gaps(run, time == FILTER_INSIDE || run->context.options->selected.from < 0);
	if (!what)
		follow_to_the_end(&run->follow);
	return what;
}

/* What was not asked for is not in the summary. */
static struct fkt_read_stats summary_stats(const struct run *run)
{
	struct fkt_read_stats stats = *fkt_read_stats(run->reader);

	/* A stack is a part of its event. */
	if (filter_is_open(run->context.filter) && run->context.analysis)
		stats.events -= fkt_analysis_code_count(run->context.analysis, FKT_CODE_STACK);
	if (filter_is_open(run->context.filter))
		return stats;
	stats.events -= run->stacks;
	if (run->context.options->selected.from >= 0 || run->context.options->selected.to >= 0)
		stats.events = run->stats.events;
	stats.lost = run->stats.lost;
	stats.missing = run->stats.missing;
	stats.damaged = run->stats.damaged;
	if (filter_from(run->context.filter) > stats.first)
		stats.first = filter_from(run->context.filter);
	return stats;
}

static int print_views(struct run *run)
{
	int err = 0;

	run->context.stats = summary_stats(run);
	for_each_view(&run->print, one)
		if (err >= 0) {
			err = one->view->print(&run->context, one->data) ?: err;
			fkt_table_end(run->context.out);
		}
	if (err >= 0 && (fflush(run->context.out->file) || ferror(run->context.out->file)))
		err = errno ? -errno : -EIO;
	return err;
}

/* Whether nothing is there from the time on that was asked for; then @seconds is how much is. */
static bool is_behind(const struct run *run, double *seconds)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	uint64_t first = stats->first, last = stats->last;

	if (run->follow.inside || !stats->events || run->context.options->selected.from < 0)
		return false;
	/* What was read of a file need not go to the end. */
	fkt_span(run->context.trace, &first, &last);
	*seconds = (double)fkt_cycles_to_ns(run->context.trace, (int64_t)(last - first)) /
		   FKT_NS_PER_SECOND;
	return filter_from(run->context.filter) > last;
}

/* Whether the time that was asked for ends before all CPUs have what happened, in a ring. */
static bool is_overwritten(const struct run *run)
{
	const struct selection *selected = &run->context.options->selected;

	return selected->overwritten && selected->to >= 0 && selected->to <= selected->from;
}

/* Whether the time that was asked for ends with the first event, or before it. */
static bool is_before_all(const struct run *run)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	uint64_t first = stats->first, last;

	if (run->follow.inside || !stats->events || run->context.options->selected.to < 0)
		return false;
	fkt_span(run->context.trace, &first, &last);
	return filter_to(run->context.filter) <= first || is_overwritten(run);
}

/* Whether nothing was recorded then, either: up to there, time is somebody's without an event. */
static bool is_behind_all(const struct run *run)
{
	const char *info = fkt_info(run->context.trace, "stop_cycles");
	double seconds;

	return is_behind(run, &seconds) &&
	       (!info || filter_from(run->context.filter) >= strtoull(info, NULL, 10));
}

/* Why there was no event in the time that was asked for. */
static void tell_outside(const struct run *run)
{
	char text[FKT_ERROR_BYTES] = "no event is in the time that was asked for";
	const uint64_t zero = filter_first(run->context.filter);
	uint64_t first = 0, last;
	double seconds;

	fkt_span(run->context.trace, &first, &last);
	if (is_overwritten(run))
		snprintf(text, sizeof(text),
			 "no event is in the time that was asked for: all CPUs have what happened "
			 "from %.6f s on; --from 0 shows what some of them have of before",
			 (double)run->context.options->selected.from / 1e9);
	else if (is_before_all(run) && fkt_has_clock(run->context.trace) && first >= zero)
		snprintf(text, sizeof(text),
			 "no event is in the time that was asked for: the first one is at %.6f s",
			 (double)fkt_cycles_to_ns(run->context.trace, (int64_t)(first - zero)) /
				 1e9);
	else if (is_behind(run, &seconds))
		snprintf(text, sizeof(text),
			 "no event is in the time that was asked for: the trace ends after %.6f s",
			 seconds);
	selection_complain(&run->context.options->selected, text);
}

/* A listing without a line. */
static int list_nothing(struct run *run)
{
	if (!fkt_format_for_people(run->context.options->format))
		print_header(run);
	tell_nothing(&run->context, "event", true);
	return fkt_text_flush(run->text);
}

/* Behind the last line: why there is no more, also where nothing had to be discarded for it. */
static void list_limit(struct run *run)
{
	if (run->headed && !run->stopped && fkt_format_for_people(run->context.options->format) &&
	    missing_by_limit(run->context.trace, filter_to(run->context.filter)))
		fkt_table_line(run->context.out, "*** the recording ended here, because the size "
						 "limit was reached ***");
}

/* Whether the trace has all that options name, and something of it came; if not, that is said. */
static bool all_known(const struct run *run)
{
	const struct options *options = run->context.options;
	const struct fkt_trace *trace = run->context.trace;
	bool all =
		known_after(&options->selected, trace, run->context.processes, run->context.filter);

	all &= known_function(&options->selected, trace, run->context.analysis, options->calls_of);
	all &= known_function(&options->selected, trace, run->context.analysis, options->histogram);
	/* What is spelled wrong is not told twice. */
	return all && known_events(&options->selected, trace, run->context.filter,
				   options->view[VIEW_waits]);
}

/* The whole run: 0 or 1, the exit status, or a negative errno value. */
static int print_events(struct run *run)
{
	const struct fkt_read_stats *stats = fkt_read_stats(run->reader);
	bool part = run->context.options->selected.from >= 0 ||
		    run->context.options->selected.to >= 0;
	bool all = filter_is_open(run->context.filter) && !run->in_order, known, outside;
	int err;

	if (run->text && all)
		print_header(run);
	if (!all)
		err = read_some(run);
	else if (run->text && thread_count(run->context.options) > 1 &&
		 fkt_can_list(run->context.trace))
		err = list_all(run);
	else if (!run->text && run->context.analysis)
		err = sum_all(run, thread_count(run->context.options));
	else
		err = read_all(run, run->text);
	if (!err && run->context.analysis)
		err = fkt_analysis_end(run->context.analysis, stats->last);
	if (!err)
		err = run->err;
	if (!err)
		err = flush_views(run);
	if (!err && run->text)
		err = fkt_text_flush(run->text);
	if (err)
		return err;
	list_limit(run);
	known = all_known(run);
	outside = known && !all && part && !run->follow.inside && stats->events;
	if (run->text && !run->headed && known && !outside)
		err = list_nothing(run);
	if (err)
		return err;
	/* Of a part of the trace, what else was asked for can be there; behind its end, nothing. */
	if ((known || (part && run->passed)) && !is_before_all(run) && !is_behind_all(run)) {
		if (run->text && run->views)
			fkt_table_line(run->context.out, "%s", "");
		err = print_views(run);
	}
	if (err || !known)
		return err ?: 1;
	if (outside) {
		tell_outside(run);
		return 1;
	}
	/* A listing as text says where, and the summary how many; rows and tables do not. */
	if (stats->lost && (!run->text || run->context.options->format != fkt_format(0)) &&
	    !run->context.options->view[VIEW_summary])
		missing_tell_lost(&run->context.options->selected, stats);
	/* The summary says so itself. */
	if (run->views && !run->context.options->view[VIEW_summary])
		missing_tell_short_calls(&run->context.options->selected, run->context.trace);
	return missing_tell(&run->context.options->selected, run->context.trace, stats,
			    run->stopped)
		       ? 0
		       : 1;
}

/* ---- setting up ---- */

static bool needs_clock(const struct options *options)
{
	return (options->time != FKT_TIME_CYCLES && options->time != FKT_TIME_FIT) ||
	       options->selected.from >= 0 || options->selected.to >= 0 ||
	       options->selected.longer >= 0;
}

static void add_to(struct chosen_list *list, const struct chosen *one, bool called)
{
	const struct chosen **at = list->chosen;

	if (!called)
		return;
	while (*at)
		at++;
	*at = one;
}

/* Begin a view that is asked for. */
static bool make_view(struct run *run, const struct view *view)
{
	struct chosen *one = &run->chosen[run->views];
	bool called;

	one->view = view;
	one->data = view->new ? view->new (&run->context) : NULL;
	if (view->new && !one->data)
		return false;
	run->views++;
	called = !(view->wants & VIEW_PICKS) || !filter_is_open(run->context.filter);
	add_to(&run->process, one, called && view->process);
	add_to(&run->event, one,
	       called && view->event && !(view->no_events && view->no_events(one->data)));
	add_to(&run->enter, one, called && view->enter);
	add_to(&run->leave, one, called && view->leave);
	add_to(&run->moved, one, called && view->moved);
	add_to(&run->wait, one, called && view->wait);
	add_to(&run->flush, one, view->flush);
	add_to(&run->print, one, view->print);
	return true;
}

/* Begin the views, and the analysis if one of them or the filter wants it. */
static bool make_views(struct run *run)
{
	const struct options *options = run->context.options;
	unsigned int wants = 0;

	run->hooks.arg = run;
	run->context.filter = filter_new(&options->selected, run->context.trace, run->processes);
	if (!run->context.filter)
		return false;
	for (unsigned int i = 0; i < VIEW_COUNT; i++) {
		if (!options->view[i])
			continue;
		if (!make_view(run, views[i]))
			return false;
		wants |= views[i]->wants;
	}
	if (*run->enter.chosen || filter_needs_calls(run->context.filter))
		run->hooks.enter = on_enter;
	if (*run->leave.chosen || filter_needs_calls(run->context.filter))
		run->hooks.leave = on_leave;
	if (run->hooks.leave)
		run->hooks.moved = on_moved;
	if (*run->wait.chosen)
		run->hooks.wait = on_wait;
	if (filter_needs_charges(run->context.filter))
		run->hooks.charges = on_charges;
	run->hooks.keep_args = wants & VIEW_ARGS;
	run->hooks.leaders = wants & VIEW_LEADERS;
	run->in_order = *run->event.chosen || run->hooks.enter;
	if (wants & VIEW_SUMS || run->in_order || run->hooks.leave || run->hooks.wait) {
		run->context.analysis =
			fkt_analysis_new(run->context.trace, run->processes, &run->hooks);
		if (!run->context.analysis)
			return false;
	}
	return true;
}

static bool make_text(struct run *run)
{
	const struct options *options = run->context.options;

	if (!options->listing)
		return true;
	run->text = fkt_text_new(run->context.trace, run->processes, STDOUT_FILENO, options->time);
	if (!run->text)
		return false;
	fkt_text_set_format(run->text, options->format, run->context.out->color);
	if (options->stacks)
		fkt_text_set_stacks(run->text);
	run->context.out->tables++;
	return true;
}

static int run_all(struct run *run)
{
	int status = -ENOMEM;

	run->processes = run->context.processes = fkt_processes_new(run->context.trace);
	if (run->processes && make_views(run) && make_text(run)) {
		run->reader = filter_reader(run->context.filter, run->context.trace);
		if (run->text)
			fkt_text_set_reader(run->text, run->reader);
		if (run->reader)
			status = print_events(run);
	}
	follow_free(&run->follow);
	fkt_text_free(run->text);
	for (unsigned int i = 0; i < run->views; i++)
		if (run->chosen[i].data)
			run->chosen[i].view->free(run->chosen[i].data);
	fkt_analysis_free(run->context.analysis);
	filter_free(run->context.filter);
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

/* Without a name, and without a file of the usual one: what is meant may be on standard input. */
static bool is_on_stdin(const struct options *options)
{
	struct stat input, null;

	return options->no_path && access(options->selected.path, F_OK) && errno == ENOENT &&
	       !fstat(STDIN_FILENO, &input) && !isatty(STDIN_FILENO) &&
	       (stat("/dev/null", &null) || input.st_rdev != null.st_rdev ||
		!S_ISCHR(input.st_mode));
}

/* Read a trace, and print what was asked for: the exit status. */
static int print_trace(struct options *options, struct fkt_output *out)
{
	struct run run = { .context = { .options = options, .out = out } };
	char error[FKT_ERROR_BYTES];
	int status = 1;

	run.context.trace = fkt_open(options->selected.path, warn, &options->selected, error);
	out->trace = run.context.trace;
	if (!run.context.trace) {
		if (is_on_stdin(options))
			snprintf(strchr(error, '\0'), sizeof(error) - strlen(error),
				 "; standard input is read by fkt_print -");
		selection_complain(&options->selected, error);
		return 1;
	}
	if ((needs_clock(options) && !fkt_has_clock(run.context.trace)) ||
	    (options->time == FKT_TIME_ABS && !fkt_has_wall_clock(run.context.trace))) {
		selection_complain(
			&options->selected,
			options->time == FKT_TIME_CYCLES || options->time == FKT_TIME_FIT
				? "does not say how fast its clock is: times cannot be "
				  "compared with it"
				: "does not say how fast its clock is; try --time=cycles");
		goto out;
	}
	if (!selection_find(&options->selected, run.context.trace) ||
	    !known_before(&options->selected, run.context.trace))
		goto out;
	/* Who follows a stream wants to see what comes when it comes. */
	if (!options->no_pager && !options->is_before && strcmp(options->selected.path, "-"))
		start_pager();
	status = run_all(&run);
	/* Whoever reads the output has seen enough. */
	if (status == -EPIPE) {
		status = 0;
	} else if (status < 0) {
		if (status == -ENOMEM)
			selection_complain(&options->selected, "out of memory");
		else
			fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name,
				strerror(-status));
		status = 1;
	}
	end_pager();
out:
	fkt_close(run.context.trace);
	return status;
}

int main(int argc, char **argv)
{
	struct fkt_output out = { .file = stdout };
	struct options options, before;

	/* What is printed is UTF-8, whatever the locale is: it says how wide characters are. */
	setlocale(LC_CTYPE, "C.UTF-8");
	parse_options(argc, argv, &options);
	out.format = options.format;
	out.color = wants_color(&options);
	out.time = options.time;
	out.width = output_width();
	if (options.before) {
		before = options;
		before.selected.path = options.before;
		before.no_path = false;
		before.is_before = true;
		before.listing = false;
		for (unsigned int i = 0; i < VIEW_COUNT; i++)
			before.view[i] &= views[i]->compares;
		if (print_trace(&before, &out))
			return 1;
	}
	return print_trace(&options, &out);
}

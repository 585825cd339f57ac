/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views: what fkt_print makes of the events of a trace besides listing them. Each is a struct view
 * in a file of its own, and a name in VIEWS; fkt_print.c knows none by name.
 */
#ifndef VIEW_H
#define VIEW_H

#include <argp.h>

#include <fkt/trace.h>

#include "show/table.h"

/* The views, X(name) each, in the order in which they are printed: struct view view_NAME. */
#define VIEWS(X)                                                                                   \
	X(cpus)                                                                                    \
	X(waits)                                                                                   \
	X(noise)                                                                                   \
	X(queues)                                                                                  \
	X(calls)                                                                                   \
	X(by)                                                                                      \
	X(stack)                                                                                   \
	X(profile)                                                                                 \
	X(gmon)                                                                                    \
	X(graph)                                                                                   \
	X(spans)                                                                                   \
	X(strace)                                                                                  \
	X(flame)                                                                                   \
	X(timedat)                                                                                 \
	X(bufdat)                                                                                  \
	X(summary)

enum view_number {
#define X(name) VIEW_##name,
	VIEWS(X)
#undef X
	VIEW_COUNT
};

struct options;
struct filter;

/**
 * struct context - what views know
 * @options: what the user asked for
 * @out: where tables go
 * @trace: the trace
 * @processes: its threads, at this moment
 * @filter: what of it is looked at
 * @analysis: the sums, if a view wants them or is told of anything; not in new(), and after
 *	fkt_analysis_end() in print()
 * @stack: the stack of the event that @event is called for, NULL where it has none
 * @stats: what was read, in print()
 */
struct context {
	const struct options *options;
	struct fkt_output *out;
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct filter *filter;
	struct fkt_analysis *analysis;
	const struct fkt_stack *stack;
	struct fkt_read_stats stats;
};

/* What a view wants besides what it is called for. */
enum view_wants {
	VIEW_SUMS = 1,	  /* the analysis, in the end */
	VIEW_ARGS = 2,	  /* the arguments of calls */
	VIEW_LEADERS = 8, /* who leads the processes whose calls they are */
	VIEW_PICKS = 4,	  /* events and calls only where the filter lets not all of them through */
};

/**
 * struct view - a view
 * @name: what it is called
 * @wants: of enum view_wants
 * @refuses: of enum filter_kind, what makes no sense for it
 * @compares: it looks at options->before, too: that is read first, with a view of its own
 * @about: what it is of, for the sentence that says so
 * @option: the options that ask for it, four at most, up to one without a name; only name, arg,
 *	flags and doc. NULL: options.c has them
 * @parse: the argument of one of them, by its index; ends the program when it is wrong. NULL: they
 *	have none
 * @new: begin; NULL without memory
 * @process: an event that may change what threads are called, before it does
 * @event: an event; @passes: the filter lets it through
 * @no_events: there is @event, but this time it need not be called
 * @enter: a call begins; @passes: the filter lets it through, so far as it can tell. It has no
 *	entry if it was open when an extracted trace began
 * @leave: it has ended; @passes: the filter lets it through
 * @wait: a thread runs again, or does not yet when time is charged no longer; @passes: the filter
 *	lets it through
 * @moved: the calls that a thread is in are another one's, see struct fkt_analysis_hooks
 * @flush: what it prints as it goes is to be out, as something else follows
 * @print: all has been read
 * @free: end; not called for what new() did not make
 *
 * What is NULL is not called. The context lives as long as the view. Those that return a number
 * return 0 or a negative errno value; @print returns 1 after a complaint.
 */
struct view {
	const char *name;
	unsigned int wants;
	unsigned int refuses;
	bool compares;
	const char *about;
	const struct argp_option *option;
	void (*parse)(struct argp_state *state, struct options *options, unsigned int option,
		      char *arg);
	void *(*new)(const struct context *context);
	int (*process)(void *view, const struct fkt_event *event);
	int (*event)(void *view, const struct fkt_event *event, bool passes);
	bool (*no_events)(const void *view);
	int (*enter)(void *view, const struct fkt_call *call, bool passes);
	int (*leave)(void *view, const struct fkt_call *call, bool passes);
	int (*wait)(void *view, const struct fkt_wait *wait, bool passes);
	int (*moved)(void *view, uint32_t from, uint32_t to);
	int (*flush)(void *view);
	int (*print)(const struct context *context, void *view);
	void (*free)(void *view);
};

#define X(name) extern const struct view view_##name;
VIEWS(X)
#undef X

/* By enum view_number. */
extern const struct view *const views[VIEW_COUNT];

#endif

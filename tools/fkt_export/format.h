/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of other tools: what fkt_export writes. Each is a struct export_format in a file of its
 * own, and a name in EXPORT_FORMATS; fkt_export.c knows none by name.
 */
#ifndef FKT_EXPORT_FORMAT_H
#define FKT_EXPORT_FORMAT_H

#include <fkt/trace.h>

#include "common/filter.h"
#include "common/selection.h"
#include "output.h"

/* The formats, X(name) each, in the order of --help: struct export_format export_NAME. */
#define EXPORT_FORMATS(X)                                                                          \
	X(perfetto)                                                                                \
	X(chrome)                                                                                  \
	X(folded)                                                                                  \
	X(offcpu)                                                                                  \
	X(callgrind)                                                                               \
	X(speedscope)                                                                              \
	X(ctf)                                                                                     \
	X(trace_dat)                                                                               \
	X(csv)

/**
 * struct export - what formats know
 * @selection: what of the trace is wanted
 * @trace: the trace
 * @processes: its threads, at this moment
 * @filter: what is let through
 * @analysis: the sums, of a format that wants them
 * @out: where the output goes
 * @first: stamp since which times are: of the trace's first event
 * @stack: the stack of the event that @event is called for; NULL: it has none
 * @left_out: the format could not hold this many of the events that it was told of
 */
struct export
{
	const struct selection *selection;
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct filter *filter;
	struct fkt_analysis *analysis;
	struct output *out;
	uint64_t first;
	const struct fkt_stack *stack;
	uint64_t left_out;
};

/* What a format wants besides what it is called for. */
enum export_wants {
	EXPORT_NS = 1,	       /* the trace has to say how long a cycle is */
	EXPORT_SUMS = 2,       /* the analysis, in the end */
	EXPORT_ARGS = 4,       /* the arguments of calls */
	EXPORT_BINARY = 8,     /* nothing for a terminal */
	EXPORT_DIRECTORY = 16, /* its output is a directory, whose file "metadata" is @out */
};

/**
 * struct export_format - a format
 * @name: what the user calls it
 * @about: what reads it, a few words
 * @lacks: what it cannot hold
 * @wants: of enum export_wants
 * @refuses: of enum filter_kind, what makes no sense for it
 * @begin: begin, before anything is read; NULL, and errno, on failure
 * @process: an event that may change what threads are called, before it does
 * @look: an event, whatever the filter lets through, before @event
 * @event: an event that the filter lets through
 * @gap: something is missing; @stamp: before this moment
 * @enter: a call begins; @passes: the filter lets it through, as far as its beginning tells
 * @leave: a call has ended, or was given up; @passes: the filter lets it through
 * @wait: a thread runs again that the filter lets through
 * @moved: the calls that a thread is in are another one's, see struct fkt_analysis_hooks
 * @end: all has been read: write what is left; @last: stamp of the last event
 * @free: end; not called for what begin() did not make
 *
 * What is NULL is not called. Those that return a number return 0 or a negative errno value;
 * errors of the output are kept there.
 */
struct export_format {
	const char *name;
	const char *about;
	const char *lacks;
	unsigned int wants;
	unsigned int refuses;
	void *(*begin)(struct export *export);
	int (*process)(void *format, const struct fkt_event *event);
	int (*look)(void *format, const struct fkt_event *event);
	int (*event)(void *format, const struct fkt_event *event);
	int (*gap)(void *format, const struct fkt_gap *gap, uint64_t stamp);
	int (*enter)(void *format, const struct fkt_call *call, bool passes);
	int (*leave)(void *format, const struct fkt_call *call, bool passes);
	int (*wait)(void *format, const struct fkt_wait *wait);
	int (*moved)(void *format, uint32_t from, uint32_t to);
	int (*end)(void *format, uint64_t last);
	void (*free)(void *format);
};

#define X(name) extern const struct export_format export_##name;
EXPORT_FORMATS(X)
#undef X

/* Nanoseconds since the trace's first event. */
static inline int64_t export_ns(const struct export *export, uint64_t stamp)
{
	return fkt_cycles_to_ns(export->trace, (int64_t)(stamp - export->first));
}

#define GAP_BYTES 96

/**
 * export_gap() - what is missing, for people: "lost 12 events on CPU 0"
 * @gap: what
 * @text: written
 */
void export_gap(const struct fkt_gap *gap, char text[GAP_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events, calls and times of a trace a selection lets through. */
#ifndef FKT_COMMON_FILTER_H
#define FKT_COMMON_FILTER_H

#include <fkt/trace.h>

#include "cpus.h"
#include "selection.h"

struct filter;

/** filter_moved() - the calls that a thread is in are another one's from now on */
void filter_moved(struct filter *filter, uint32_t from, uint32_t to);

/**
 * filter_new() - what a selection lets through
 * @selection: must outlive it
 * @trace: likewise
 * @processes: likewise
 *
 * Return: the filter, or NULL without memory; with selection->from or longer and no clock in the
 * trace it must not be called.
 */
struct filter *filter_new(const struct selection *selection, const struct fkt_trace *trace,
			  struct fkt_processes *processes);
void filter_free(struct filter *filter);

/* What is asked for; an event, a call or a time has to be let through by each. */
enum filter_kind {
	FILTER_WHILE = 1,
	FILTER_PROCESS = 2,
	FILTER_CPU = 4,
	FILTER_CODE = 8,
	FILTER_LAYER = 16,
	FILTER_FUNCTION = 32,
	FILTER_RANGE = 64,
	FILTER_LONGER = 128,
	/* What picks calls: a time outside of all calls is not let through. */
	FILTER_CALLS = FILTER_CODE | FILTER_LAYER | FILTER_FUNCTION | FILTER_LONGER,
};

unsigned int filter_kinds(const struct selection *selection);

/* Whether it lets anything through at all times: then filter_event() need not be called. */
bool filter_is_open(const struct filter *filter);
/* Whether it lets through only some of what happened at the times that it lets through. */
bool filter_selects(const struct filter *filter);
/* Whether it has to know of calls: then filter_enter() and filter_leave() must be called. */
bool filter_needs_calls(const struct filter *filter);
/* Whether there are times that filter_cpu() or filter_thread() do not let through. */
bool filter_needs_charges(const struct filter *filter);
/* Whether it picks calls, see FILTER_CALLS. */
bool filter_picks_calls(const struct filter *filter);

/* What filter_time() says. */
enum filter_time {
	FILTER_BEFORE,
	FILTER_INSIDE,
	FILTER_AFTER,
};

/* The trace begins with this stamp; without this, with that of the first event. */
void filter_begin(struct filter *filter, uint64_t first);
/* Where in time an event is. */
enum filter_time filter_time(struct filter *filter, uint64_t stamp);
/*
 * The trace's beginning, and the stamps between which time is charged, once filter_time() was
 * called.
 */
uint64_t filter_first(const struct filter *filter);
uint64_t filter_from(const struct filter *filter);
uint64_t filter_to(const struct filter *filter);

bool filter_cpu(const struct filter *filter, uint16_t cpu);
/* Whether a thread is among those that are asked for, by the name that it has now. */
bool filter_thread(const struct filter *filter, uint32_t id);
/* Whether to list an event; after the analysis and the processes were told of it. */
bool filter_event(struct filter *filter, const struct fkt_event *event);
/* Whether filter_event()'s last event, an exit, passes but for its code and selection->longer. */
bool filter_but_code(const struct filter *filter);
/* Whether selection->code and layer let a code through. */
bool filter_code(struct filter *filter, uint32_t code);
/* Whether to list what is missing. */
bool filter_gap(const struct filter *filter, const struct fkt_gap *gap);
/* Whether time is to be charged after this event; likewise. */
bool filter_charges(const struct filter *filter);
void filter_enter(struct filter *filter, const struct fkt_call *call);
void filter_leave(struct filter *filter, const struct fkt_call *call);
/*
 * Whether a call is among those that are asked for, or a part of it is: then it is partial; before
 * filter_leave().
 */
bool filter_call(struct filter *filter, const struct fkt_call *call);
/* Whether it can be, as far as its beginning tells; after filter_enter(). */
bool filter_row(struct filter *filter, const struct fkt_call *call);
/*
 * A call that goes on beyond the time that is asked for, however far that is known: it is as long
 * as it is there, and does not end. Whether it is one; then @cut is what is left of it.
 */
bool filter_cut(const struct filter *filter, const struct fkt_call *call, struct fkt_call *cut);
/* Whether a code, with its name, or its layer is like what a user wrote. */
bool filter_is_code(const char *pattern, const char *name, uint32_t code);
bool filter_is_layer(const struct fkt_code_row *row, const char *pattern);
/* Whether a process that is chosen, by process or lives, was met, or has its name now. */
bool filter_has_met(const struct filter *filter, const struct chosen_one *one);
/* Whether there was an event of what is chosen by selection->code, layer or function. */
bool filter_has_come(const struct filter *filter, const struct chosen_one *one);
/* Whether there was one that selection->code and layer let through. */
bool filter_any_code(const struct filter *filter);
/* How long the longest call, or wait, took but for selection->longer; 0 when there was none. */
uint64_t filter_longest(const struct filter *filter, bool wait);
/* Whether selection->code lets something through, but nothing that is a call. */
bool filter_names_no_call(const struct filter *filter);
/* The CPUs that --cpu leaves. */
void filter_choose_cpus(const struct choice *choice, uint8_t cpu[CPUS_BYTES]);
/* Whether a time in which a thread did not run is. */
bool filter_wait(struct filter *filter, const struct fkt_wait *wait);
/* Whether the switch that it began with is, as one of the thread that left the CPU, at any time. */
bool filter_switch(struct filter *filter, const struct fkt_wait *wait);

/**
 * filter_reader() - a reader that begins where it must so as to know how things stand at --from
 * @filter: a new one
 * @trace: the trace
 *
 * Return: to be freed with fkt_reader_free(); NULL without memory.
 */
struct fkt_reader *filter_reader(struct filter *filter, struct fkt_trace *trace);

#endif

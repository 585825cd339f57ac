/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the time went. Uses trace/ and read/.
 *
 *	rows.c		what time is charged to, and what a code's events do to open calls
 *	histogram.c	how values are distributed
 *	paths.c		weights by call path (paths.h)
 *	analysis.c	charges the time, event by event (outside.h: that outside of all calls;
 *			clone.h: another one that knows as much)
 *	take.c		the same of many events in one call
 *	reduce.c	what a page comes to by itself (reduce.h)
 *	sum.c		the analysis, made by several threads
 */
#ifndef FKT_SUM_INTERNAL_H
#define FKT_SUM_INTERNAL_H

#include "trace/internal.h"

/* rows.c: what events do to the calls that are open */

enum fkt_use {
	FKT_USE_NEW,   /* not looked at yet */
	FKT_USE_PAUSE, /* special, too: says that nobody has recorded for some time */
	FKT_USE_ENTRY,
	FKT_USE_EXIT,
	FKT_USE_CPU_ENTRY,
	FKT_USE_CPU_EXIT,
	FKT_USE_SPECIAL, /* says who runs where */
	FKT_USE_FOLDED,	 /* see reduce.c */
	FKT_USE_POINT,	 /* no more than counted */
};

/**
 * struct fkt_code_use - what events with a code do
 * @kind: enum fkt_use
 * @system: it is of the layer of system calls and interrupts
 * @syscall: its entry comes from user mode, and its exit returns there
 * @user: it is a function of a program, which is around all calls of the kernel
 * @task: it is a softirq that a thread runs, with which it is preempted: fkt_is_preempt_rt()
 * @function: where the address is that tells the row, in bytes, or FKT_NO_FUNCTION
 * @keys: its layers, by enum fkt_key; 0: not known
 * @numbers: how many rows it has, by its immediate; 0 for one
 * @row: the first of them
 * @count: events that had it, for who uses this
 */
struct fkt_code_use {
	uint8_t kind;
	bool system;
	bool syscall;
	bool user;
	bool task;
	bool everyones; /* recorded of threads that a filter leaves out, too */
	uint8_t function;
	uint32_t keys;
	uint32_t numbers;
	uint32_t row;
	uint64_t count;
};

/* Look it up; @count stays as it is. */
void fkt_code_use(const struct fkt_trace *trace, uint32_t number, struct fkt_code_use *use);

/* The row of the function whose address an event has. Not for several threads at once. */
uint32_t fkt_function_row(const struct fkt_trace *trace, const struct fkt_code_use *use,
			  const struct fkt_event *event);

static inline uint32_t fkt_use_row(const struct fkt_trace *trace, const struct fkt_code_use *use,
				   const struct fkt_event *event)
{
	if (unlikely(use->function != FKT_NO_FUNCTION))
		return fkt_function_row(trace, use, event);
	if (likely(!use->numbers))
		return use->row;
	return use->row + (event->imm < use->numbers ? event->imm : use->numbers - 1);
}

/* analysis.c: events of which fkt_reduce() has taken some out */

struct fkt_reducer;

/* In the place of what was taken out; no recording has so many codes. */
#define FKT_CODE_FOLDED (FKT_SLOT_CODES - 1)

/* To be called first. */
void fkt_analysis_use_reduced(struct fkt_analysis *analysis);
/* Whether it tells of waits: then it needs to know what somebody was woken in. */
bool fkt_analysis_tells_waits(const struct fkt_analysis *analysis);
/* Whether it tells of calls: then it needs to know what they were. */
bool fkt_analysis_tells_calls(const struct fkt_analysis *analysis);
/*
 * From now on tell these hooks, and of calls that were taken out, together, @folded if it is not
 * NULL. Returns the hooks that it had.
 */
struct fkt_folded_calls;
struct fkt_analysis_hooks
fkt_analysis_tell(struct fkt_analysis *analysis, const struct fkt_analysis_hooks *hooks,
		  void (*folded)(void *arg, const struct fkt_folded_calls *calls));
/* Whether something was taken out that should not have been: then the sums are wrong. */
bool fkt_analysis_is_odd(const struct fkt_analysis *analysis);
/* To be called last, with what has reduced the pages. */
void fkt_analysis_add_reduced(struct fkt_analysis *analysis, const struct fkt_reducer *reducer);

#endif

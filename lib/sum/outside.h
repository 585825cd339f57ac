/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a thread did outside of all calls, and in those that are open, at any moment. */
#ifndef FKT_SUM_OUTSIDE_H
#define FKT_SUM_OUTSIDE_H

#include <fkt/trace.h>

/**
 * struct fkt_outside - time outside of all calls, in cycles, as far as it was charged
 * @user: in user mode
 * @before: in a call that was entered before the trace began
 * @left_out: while the thread was not recorded
 * @untraced: while system calls were not recorded
 * @kernel: of a kernel thread
 * @pending: it is not known yet in which of these, or in which call
 * @row: what that turned out to have been, first, which was pending when this was asked for last;
 *	FKT_ROW_NONE while it has not
 */
struct fkt_outside {
	uint64_t user;
	uint64_t before;
	uint64_t left_out;
	uint64_t untraced;
	uint64_t kernel;
	uint64_t pending;
	uint32_t row;
};

/**
 * fkt_analysis_reach() - charge a thread that is on a CPU what it had up to now
 * @analysis: the sums
 * @id: the thread
 * @stamp: that of the next event, of whatever CPU: without this, only the last event of its own one
 *	is known
 */
void fkt_analysis_reach(struct fkt_analysis *analysis, uint32_t id, uint64_t stamp);

/**
 * fkt_analysis_outside() - what a thread did outside of all calls, up to the last event
 * @analysis: the sums
 * @id: the thread
 *
 * Return: all zero, and FKT_ROW_NONE, of one that was not seen.
 */
struct fkt_outside fkt_analysis_outside(struct fkt_analysis *analysis, uint32_t id);

/**
 * fkt_analysis_open_own() - own time of a call that is open, up to the last event
 * @analysis: the sums
 * @id: the thread
 * @depth: which of its calls, 0 for the outermost one
 *
 * Return: as that of struct fkt_call when the call ends, in cycles; 0 when there is no such call.
 */
uint64_t fkt_analysis_open_own(const struct fkt_analysis *analysis, uint32_t id, uint32_t depth);

#endif

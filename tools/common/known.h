/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a trace has what options name; what it has not is said, with what may have been meant. */
#ifndef FKT_COMMON_KNOWN_H
#define FKT_COMMON_KNOWN_H

#include <fkt/trace.h>

#include "filter.h"
#include "selection.h"

/**
 * known_before() - of codes, layers and CPUs, which the trace tells from the beginning
 * @selection: what is asked for
 * @trace: the trace
 *
 * Return: whether it has all of them.
 */
bool known_before(const struct selection *selection, const struct fkt_trace *trace);

/**
 * known_after() - the same of processes and functions, when all was read
 * @selection: what is asked for
 * @trace: the trace
 * @processes: those of the trace
 * @filter: which saw them
 *
 * Return: whether it has all of them.
 */
bool known_after(const struct selection *selection, const struct fkt_trace *trace,
		 const struct fkt_processes *processes, const struct filter *filter);

/**
 * known_function() - the same of a pattern of functions that another option has, and whether there
 * was a call of one
 * @selection: what is asked for
 * @trace: the trace
 * @analysis: of what was selected; where that has none, one of all of the trace is made
 * @pattern: NULL: none
 */
bool known_function(const struct selection *selection, const struct fkt_trace *trace,
		    const struct fkt_analysis *analysis, const char *pattern);

/**
 * known_events() - whether anything came of codes, layers and functions, which the trace does know
 * @selection: what is asked for
 * @trace: the trace
 * @filter: which saw all that came
 * @waits: what is asked for is waits, of which --code and --layer may name different calls
 *
 * If only a part of the trace was asked for, that nothing came is an answer.
 */
bool known_events(const struct selection *selection, const struct fkt_trace *trace,
		  const struct filter *filter, bool waits);

/**
 * known_already() - whether known_after() and known_events() will say nothing any more
 * @selection: what is asked for
 * @trace: the trace
 * @filter: which saw what has come up to here
 * @waits: as of known_events()
 *
 * Return: whether both will be true, whatever is still to come.
 */
bool known_already(const struct selection *selection, const struct fkt_trace *trace,
		   const struct filter *filter, bool waits);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace lacks: counted while it is read, and said in the end. */
#ifndef FKT_COMMON_MISSING_H
#define FKT_COMMON_MISSING_H

#include <fkt/trace.h>

#include "selection.h"

/* Count what is missing; that the totals say of the end and of the beginning is enough. */
void missing_count(struct fkt_read_stats *stats, const struct fkt_gap *gap);

/**
 * missing_by_limit() - whether a size limit ended the recording in the time that was asked for
 * @trace: the trace, read to its end
 * @to: stamp before which that time ends, UINT64_MAX: it does not
 */
bool missing_by_limit(const struct fkt_trace *trace, uint64_t to);

/**
 * missing_short_calls() - what there is to say of a trace of calls that took long alone
 * @trace: the trace
 * @text: written: a sentence without its capital letter and its point, that begins with "calls "
 *
 * Return: false for all other traces.
 */
bool missing_short_calls(const struct fkt_trace *trace, char text[FKT_ERROR_BYTES]);

/** missing_tell_short_calls() - the same on stderr */
void missing_tell_short_calls(const struct selection *selection, const struct fkt_trace *trace);

/** missing_tell_lost() - say on stderr how many events were lost */
void missing_tell_lost(const struct selection *selection, const struct fkt_read_stats *stats);

/**
 * missing_tell() - say on stderr what the trace lacks, as far as it was to be read
 * @selection: which trace it is
 * @trace: the trace
 * @stats: of its reader
 * @stopped: it was not read to its end, for no more was asked for
 *
 * Return: whether it is whole.
 */
bool missing_tell(const struct selection *selection, const struct fkt_trace *trace,
		  const struct fkt_read_stats *stats, bool stopped);

#endif

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

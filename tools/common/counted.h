/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FKT_COMMON_COUNTED_H
#define FKT_COMMON_COUNTED_H

#include <fkt/trace.h>

#include "show/table.h"

/**
 * counted_columns() - columns with what the counters of a trace have counted
 * @trace: the trace; what is printed of another one comes before the first call, or after the end
 * @columns: room for FKT_COUNTERS_MAX
 *
 * Return: how many there are.
 */
unsigned int counted_columns(const struct fkt_trace *trace, struct fkt_column *columns);

/* The same without what was called: "own_page_faults". For programs. */
unsigned int counted_own_columns(const struct fkt_trace *trace, struct fkt_column *columns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that are asked for, and those that a trace has. */
#ifndef FKT_COMMON_TRACE_CPUS_H
#define FKT_COMMON_TRACE_CPUS_H

#include "fkt/trace.h"

#include "cpus.h"

/**
 * has_cpus() - whether some of some CPUs are there
 * @trace: it may not tell how many there are: all are, then
 * @listed: a bit for each CPU
 */
bool has_cpus(const struct fkt_trace *trace, const uint8_t listed[CPUS_BYTES]);

/* The same, of a list as people write it; what is no list is not there. */
bool has_cpus_of(const struct fkt_trace *trace, const char *list);

#endif

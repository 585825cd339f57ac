/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_PRINT_H
#define FKT_PRINT_H

#include <stdio.h>

#include "fkt.h"

/**
 * print_summary() - what a trace comes to
 * @out: where to
 * @trace: the trace
 * @stats: what was read of it
 * @processes: its threads
 * @analysis: its sums, after fkt_analysis_end()
 *
 * Return: 0 or -ENOMEM.
 */
int print_summary(FILE *out, const struct fkt_trace *trace, const struct fkt_read_stats *stats,
		  const struct fkt_processes *processes, struct fkt_analysis *analysis);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* analysis.c: sums of one interval after the other. */
#ifndef FKT_CLONE_H
#define FKT_CLONE_H

#include <fkt/trace.h>

/**
 * fkt_analysis_clone() - another analysis that knows what one knows
 * @analysis: the one, not ended, which charges no time and has charged none
 * @hooks: of the other one, with keep_args as the one's; NULL for none
 *
 * If that one charges from some moment on, it comes to what fkt_analysis_charge() of the one itself
 * at that moment would have come to. Their tables are large, and mostly empty: none is copied.
 *
 * Return: to be freed with fkt_analysis_free(), or NULL without memory.
 */
struct fkt_analysis *fkt_analysis_clone(const struct fkt_analysis *analysis,
					const struct fkt_analysis_hooks *hooks);

/**
 * fkt_analysis_forget() - give up what is known of threads that have ended
 * @analysis: one that charges no time, and has charged none
 *
 * Memory is then that of threads that live, however many there were.
 */
void fkt_analysis_forget(struct fkt_analysis *analysis);

#endif

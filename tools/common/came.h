/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of which codes and functions a trace has anything: to say what may have been meant where it does
 * not have what was asked for. The whole trace is read for it, when it is asked for the first time.
 */
#ifndef FKT_COMMON_CAME_H
#define FKT_COMMON_CAME_H

#include <fkt/trace.h>

/**
 * struct came - what came in a trace
 * @trace: set by who uses it, and nothing else
 * @tried: it was read, as far as it can be: a stream can't be again
 * @processes: of the analysis
 * @analysis: what came; NULL when nothing is known
 */
struct came {
	const struct fkt_trace *trace;
	bool tried;
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
};

void came_free(struct came *came);

/* Whether that is known at all. */
bool came_is_known(struct came *came);
/* Whether there was an event of a code. */
bool came_code(struct came *came, uint32_t code);
/* Whether there was a call of a row, or a part of one. */
bool came_row(struct came *came, uint32_t row);

#endif

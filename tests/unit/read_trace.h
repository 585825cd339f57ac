/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading built traces with libfkt, as a file and as a stream. */
#ifndef READ_TRACE_H
#define READ_TRACE_H

#include <fkt/trace.h>

#include "build_trace.h"

enum read_how {
	READ_FILE,
	READ_STREAM,
};

/**
 * struct reading - what came of reading a trace
 * @opened: whether it could be opened
 * @complete: whether it had its end sections
 * @error: why it could not be opened
 * @warnings: what the library said, each with a newline
 * @text: the listing
 * @events: the events, without what their args point to
 * @gaps: the gaps
 * @n_events: how many events were delivered; the first READ_EVENTS_MAX are kept
 * @n_gaps: how many gaps there were; the first READ_GAPS_MAX are kept
 * @stats: the reader's
 */
#define READ_EVENTS_MAX 4096
#define READ_GAPS_MAX	64
struct reading {
	bool opened;
	bool complete;
	char error[FKT_ERROR_BYTES];
	char warnings[4096];
	char *text;
	struct fkt_event events[READ_EVENTS_MAX];
	struct fkt_gap gaps[READ_GAPS_MAX];
	size_t n_events;
	size_t n_gaps;
	struct fkt_read_stats stats;
};

/* The trace that is in a file that is open, and stays so. */
struct fkt_trace *read_open(int fd);

/* Read the first bytes of a trace; with a listing if asked. To be freed with read_free(). */
struct reading *read_bytes(const struct build *build, size_t bytes, enum read_how how, bool list);
/* The whole trace, with a listing. */
struct reading *read_trace(const struct build *build, enum read_how how);
void read_free(struct reading *reading);

/* The listing's line number n after its header, in a static buffer; from its code on. */
const char *read_line(const struct reading *reading, unsigned int n);

#endif

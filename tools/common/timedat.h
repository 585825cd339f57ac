/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the pages of a trace were filled (paper, figure 9), from the trace or from the file that
 * fkt_print -t has made of it: a line each, "LANE BEGIN END EVENTS BYTES", with times in
 * nanoseconds since the first event, behind a line TIMEDAT_HEAD.
 */
#ifndef FKT_COMMON_TIMEDAT_H
#define FKT_COMMON_TIMEDAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <fkt/trace.h>

#define TIMEDAT_HEAD "# fkt timedat 1: lane begin_ns end_ns events bytes\n"

/**
 * struct page_time - a page
 * @lane: its lane
 * @begin: when its first event came, in nanoseconds since the first event of all
 * @end: when it was full, likewise
 * @events: how many it holds
 * @bytes: how far it is used
 */
struct page_time {
	uint32_t lane;
	uint64_t begin;
	uint64_t end;
	uint64_t events;
	uint64_t bytes;
};

/**
 * struct page_times - the pages of a trace; begin with all zero, and free @page in the end
 * @page: each, in the order of the file
 * @count: how many
 * @room: of @page
 * @lanes: one more than the largest number of a lane
 * @end: when the last one was full
 */
struct page_times {
	struct page_time *page;
	size_t count;
	size_t room;
	uint32_t lanes;
	uint64_t end;
};

/* The pages of a trace. 0; -ENOMEM; -ESPIPE of a stream; -ENODATA where it has no clock. */
int timedat_of_trace(struct page_times *times, struct fkt_trace *trace);

/* Those of a file of TIMEDAT_HEAD. 0, -EBADMSG where it has none or is wrong, -ENOMEM. */
int timedat_read(struct page_times *times, FILE *file);
void timedat_write(const struct page_times *times, FILE *file);

#endif

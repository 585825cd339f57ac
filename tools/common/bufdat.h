/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of a recording's own pages (paper, figure 10), from a trace's events of the layer fkt
 * or from the file that fkt_print -b has made of them: a line each, "TIME WHAT LANE NUMBER FREE
 * OF", with times in nanoseconds since the first event, behind a line BUFDAT_HEAD.
 */
#ifndef FKT_COMMON_BUFDAT_H
#define FKT_COMMON_BUFDAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <fkt/trace.h>

#define BUFDAT_HEAD "# fkt bufdat 1: ns what lane number free of\n"

/* What is said where there is nothing. */
#define BUFDAT_NOTHING                                                                             \
	"has nothing of the recording's own pages; fkt_record -k system,fkt records that"

/* What happens to pages, and its word: X(NAME, "word"). */
#define BUFDAT_WHATS(X)                                                                            \
	X(SUBMIT, "submit")                                                                        \
	X(RELEASE, "release")                                                                      \
	X(EXTRA, "extra")                                                                          \
	X(SYNC, "sync")                                                                            \
	X(SYNCED, "synced")

enum bufdat_what {
#define X(NAME, word) BUFDAT_##NAME,
	BUFDAT_WHATS(X)
#undef X
	BUFDAT_COUNT
};

/**
 * struct bufdat - something that happened to pages
 * @ns: when
 * @what: enum bufdat_what
 * @lane: of which lane; 0 of a synchronization
 * @number: the page; of extra ones, how many; of SYNC 1 when it was forced; of SYNCED the error
 * @free: pages of the lane that are free then; of SYNC bytes
 * @of: pages that it has
 */
struct bufdat {
	uint64_t ns;
	unsigned int what;
	uint32_t lane;
	int64_t number;
	uint64_t free;
	uint32_t of;
};

/* What an event says; false: nothing. @first: stamp of the first event. */
bool bufdat_event(struct bufdat *bufdat, const struct fkt_trace *trace,
		  const struct fkt_event *event, uint64_t first);
void bufdat_write(const struct bufdat *bufdat, FILE *file);
/* A line: 1, 0 at the end, -EBADMSG where it is wrong, -EIO. The first line is the caller's. */
int bufdat_read(struct bufdat *bufdat, FILE *file);

#endif

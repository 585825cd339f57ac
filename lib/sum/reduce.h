/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a page comes to by itself: see reduce.c. */
#ifndef FKT_REDUCE_H
#define FKT_REDUCE_H

#include "internal.h"

/* The words of a slot FKT_CODE_FOLDED. */
enum {
	FKT_FOLDED_CALLS,      /* cycles of the calls that were taken out here */
	FKT_FOLDED_INTERRUPTS, /* cycles of interrupts, if this is not itself in one */
	FKT_FOLDED_SINCE,      /* stamp since which the page tells all */
	FKT_FOLDED_DEPTH,      /* so deep the calls were nested */
	FKT_FOLDED_SYSCALLS,   /* system calls are among them: this is outside of all calls */
	FKT_FOLDED_WORDS,
};

/*
 * Slots that remain are not longer together than they were, as each wide stamp that is put in
 * stands for a slot that was taken out; a folded slot stands for two.
 */
#define FKT_REDUCED_WORDS (FKT_PAGE_BYTES / sizeof(uint64_t) * (FKT_FOLDED_WORDS + 3) / 2)

/**
 * struct fkt_reduced - what remains of a page
 * @slots: how many slots
 * @end: where they end
 * @slot: the slots, as in a page; the first one's stamp is relative to the page's first
 */
struct fkt_reduced {
	uint32_t slots;
	const uint64_t *end;
	uint64_t slot[FKT_REDUCED_WORDS];
};

struct fkt_page;
struct fkt_reducer;

/* For one thread; @wakers: calls in which somebody is woken remain. NULL without memory. */
struct fkt_reducer *fkt_reducer_new(const struct fkt_trace *trace, bool wakers);
void fkt_reducer_free(struct fkt_reducer *reducer);

/*
 * Sum up what can be of a page of a lane that is not shared. False when the page is odd: then the
 * sums are of no use any more.
 */
bool fkt_reduce(struct fkt_reducer *reducer, const struct fkt_page *page, struct fkt_reduced *out);

/* The sums of the calls that were taken out, by row, and the counts of events, by code. */
const struct fkt_row_sums *fkt_reducer_rows(const struct fkt_reducer *reducer);
const struct fkt_code_use *fkt_reducer_codes(const struct fkt_reducer *reducer);

#endif

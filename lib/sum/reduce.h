/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a page comes to by itself: see reduce.c. */
#ifndef FKT_REDUCE_H
#define FKT_REDUCE_H

#include "internal.h"

/* The words of a slot FKT_CODE_FOLDED. */
enum {
	FKT_FOLDED_CALLS,      /* cycles of the calls that were taken out here */
	FKT_FOLDED_INTERRUPTS, /* cycles of interrupts, if this is not itself in one */
	FKT_FOLDED_ELAPSED,    /* of those calls, from entry to exit, what was not in interrupts */
	FKT_FOLDED_INTERRUPTS_ELAPSED, /* and what was, as this page says */
	FKT_FOLDED_SINCE,	       /* stamp since which the page tells all */
	FKT_FOLDED_DEPTH,	       /* so deep the calls were nested */
	FKT_FOLDED_SYSCALLS, /* system calls are among them: this is outside of all calls */
	FKT_FOLDED_TOLD,     /* which of the page's calls they are: the first, and where they end */
	FKT_FOLDED_PAGE,     /* the struct fkt_reduced */
	FKT_FOLDED_WORDS,
};

/*
 * The last word of a wake-up, when it is asked for what it came in: the row of the innermost
 * interrupt and of the outermost call that were open there since the page began, or FKT_ROW_NONE.
 * So that there is room for it, a wake-up must not have more words than this of its own.
 */
static inline uint64_t fkt_at_work(uint32_t interrupt, uint32_t outermost)
{
	return interrupt | (uint64_t)outermost << 32;
}

#define FKT_WAKEUP_WORDS_MAX 4

/*
 * Slots that remain are not longer together than they were, as each wide stamp that is put in
 * stands for a slot that was taken out; a folded slot stands for two, and a word more in a wake-up,
 * which has two, is as little.
 */
#define FKT_REDUCED_WORDS    (FKT_PAGE_BYTES / sizeof(uint64_t) * (FKT_FOLDED_WORDS + 3) / 2)

/**
 * struct fkt_folded_call - a call that was taken out
 * @row: see struct fkt_call, as for all that is not explained
 * @caller: FKT_ROW_NONE when it is not in the page: the innermost one that remains
 * @interrupt: it was on the CPU's stack of interrupts, and this page says so
 * @depth: how many of those around it, on the same stack, were taken out with it
 * @op: place in the page, see reduce.c
 * @args: as many as @entry_words
 */
struct fkt_folded_call {
	uint32_t row;
	uint32_t caller;
	bool interrupt;
	uint32_t depth;
	uint32_t op;
	uint64_t begin;
	uint64_t cycles;
	uint64_t own;
	uint64_t only_elapsed;
	unsigned int entry_words;
	uint64_t args[FKT_CALL_WORDS];
	struct fkt_event exit;
};

/* Each has two slots in its page. */
#define FKT_FOLDED_CALLS_MAX (FKT_PAGE_BYTES / sizeof(uint64_t) / 2)

/**
 * struct fkt_folded_calls - calls of a page that were taken out at one place, and what is around it
 * @page: the page
 * @first: the first one
 * @end: where they end
 * @id, @leader, @outside, @cpu: see struct fkt_call
 * @stack: the calls that are open around them; of those in interrupts, @irq
 * @in_irq: @stack is itself one of interrupts
 */
struct fkt_folded_calls {
	const struct fkt_reduced *page;
	uint32_t first;
	uint32_t end;
	uint32_t id;
	uint32_t leader;
	uint32_t outside;
	uint16_t cpu;
	bool in_irq;
	struct fkt_folded_around {
		uint32_t depth;
		uint32_t row; /* the innermost one's, or FKT_ROW_NONE */
	} stack, irq;
};

/* Tell of each of them, in the order in which they were left. */
void fkt_tell_folded(const struct fkt_folded_calls *calls,
		     void (*leave)(void *arg, const struct fkt_call *call), void *arg);

/**
 * struct fkt_reduced - what remains of a page
 * @slots: how many slots
 * @end: where they end
 * @slot: the slots, as in a page; the first one's stamp is relative to the page's first
 * @calls: how many were taken out, if somebody wants to be told of them
 * @call: these, in the order in which they were left; room for FKT_FOLDED_CALLS_MAX, the
 *	caller's, or NULL
 */
struct fkt_reduced {
	uint32_t slots;
	const uint64_t *end;
	uint64_t slot[FKT_REDUCED_WORDS];
	uint32_t calls;
	struct fkt_folded_call *call;
};

struct fkt_page;
struct fkt_reducer;

/* For one thread; @wakers: it is asked for what somebody is woken in. NULL without memory. */
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

/* Rows and codes stand in parts; those of which nothing came need not be looked at. */
#define FKT_PART 256u
bool fkt_reducer_has_rows(const struct fkt_reducer *reducer, uint32_t part);
bool fkt_reducer_has_codes(const struct fkt_reducer *reducer, uint32_t part);

#endif

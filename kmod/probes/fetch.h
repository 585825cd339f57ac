/* SPDX-License-Identifier: GPL-2.0-only */
/* What addresses, tracepoints and functions share: operations that fetch what a probe records. */
#ifndef FKT_PROBES_FETCH_H
#define FKT_PROBES_FETCH_H

#include <linux/bitops.h>
#include <linux/types.h>
#include <fkt/ioctl.h>
#include "stacks.h"

/* Whether a word has a byte that is 0, and which is the first one. */
static __always_inline bool fkt_has_nul(u64 word, u32 *first)
{
	const u64 ones = ~0ull / 0xff, nul = (word - ones) & ~word & (ones << 7);

	if (!nul)
		return false;
	*first = __ffs64(nul) / 8;
	return true;
}

void fkt_fetch(u64 tag, const struct fkt_fetch *op, u32 ops, void *registers, const u64 *kept);
void fkt_fetch_stack(u64 tag, const struct fkt_fetch *op, u32 ops, void *registers, const u64 *kept,
		     unsigned long ip, enum fkt_stack_of of);
u32 fkt_fetch_args(const struct fkt_fetch *op, u32 ops, void *registers, const u64 *kept,
		   u64 args[FKT_FETCH_WORDS_MAX + 1]);
bool fkt_fetch_value(const struct fkt_fetch *op, u32 ops, void *registers, u64 *word);
int fkt_fetch_check(const struct fkt_fetch *op, bool last, u32 registers);
bool fkt_fetch_valid(const struct fkt_fetch *op, u32 count, u32 first, u32 ops, u32 registers);

#endif

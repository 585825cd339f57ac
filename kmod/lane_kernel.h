/* SPDX-License-Identifier: GPL-2.0-only */
/* What lane.h and lane.c need of their surroundings, in the kernel. */
#ifndef FKT_LANE_KERNEL_H
#define FKT_LANE_KERNEL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/local64.h>
#include <asm/msr.h>

/* A count that probes add to: by CPU-local instructions, or by locked ones in a shared lane. */
typedef union {
	local64_t local;
	atomic64_t shared;
} fkt_counter_t;

/*
 * The stamp. Within one CPU the exchange that follows orders it: an interrupt between the two makes
 * the exchange fail. Between CPUs the processor must be kept from reading it too early.
 */
static __always_inline u64 fkt_clock(bool shared)
{
	return shared ? rdtsc_ordered() : rdtsc();
}

static __always_inline u32 fkt_cpu(void)
{
	return raw_smp_processor_id();
}

static __always_inline u32 fkt_current_pid(void)
{
	return current->pid;
}

/* On failure, *old is what was found. cmpxchg8b on 32-bit x86 (§4). */
static __always_inline bool fkt_try_cmpxchg(u64 *p, u64 *old, u64 new, bool shared)
{
	u64 found, expected = *old;

	if (shared)
		return try_cmpxchg64(p, old, new);
	found = cmpxchg64_local(p, expected, new);
	*old = found;
	return likely(found == expected);
}

/* Orders all writes of this context before the addition; x86 keeps the order of stores. */
static __always_inline void fkt_counter_add_release(fkt_counter_t *c, u64 n, bool shared)
{
	smp_wmb(); /* partner: the callers of fkt_counter_read_acquire() */
	if (shared)
		atomic64_add(n, &c->shared);
	else
		local64_add(n, &c->local);
}

static __always_inline u64 fkt_counter_read_acquire(fkt_counter_t *c)
{
	return atomic64_read_acquire(&c->shared);
}

static __always_inline void fkt_counter_set(fkt_counter_t *c, u64 n)
{
	atomic64_set(&c->shared, n);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What lane.h and lane.c need of their surroundings, in the kernel. */
#ifndef FKT_LANE_KERNEL_H
#define FKT_LANE_KERNEL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/local64.h>
#include "arch.h"

/* Kernels that clear every variable on the stack would clear a slot before it is reserved. */
#define __fkt_uninitialized __attribute__((__uninitialized__))

/* A build for the tests has a counter that a sleep sets to 0, as that of a real machine. */
#ifdef FKT_TEST
extern u64 fkt_clock_zero;
#else
#define fkt_clock_zero 0ull
#endif

/*
 * The counter. Within one CPU the exchange that follows orders it: an interrupt between the two
 * makes the exchange fail. Between CPUs the processor must be kept from reading it too early.
 */
static __always_inline u64 fkt_clock(bool shared)
{
	return fkt_arch_clock(shared) - fkt_clock_zero;
}

/*
 * A load that may be done earlier than it is written, and that an instruction can have as operand.
 */
#define fkt_read_early(x) data_race(x)

static __always_inline u32 fkt_cpu(void)
{
	return raw_smp_processor_id();
}

/**
 * struct fkt_leaving - a CPU's last switch, as its events have it
 * @task: who left; current, until the CPU has switched, and not again before it has left once more
 * @next_pid: who came
 *
 * Written by the CPU itself, with interrupts off; by others while the switch is not hooked.
 */
struct fkt_leaving {
	const struct task_struct *task;
	pid_t next_pid;
};
DECLARE_PER_CPU(struct fkt_leaving, fkt_leaving);

/*
 * Who is current by the events so far: between the event of a switch and the switch, it is the next
 * one already.
 */
static __always_inline u32 fkt_current_pid(void)
{
	const struct fkt_leaving *leaving = raw_cpu_ptr(&fkt_leaving);

	return unlikely(leaving->task == current) ? leaving->next_pid : current->pid;
}

/* Whether *p was *old, and now is @new; if not, *old is what *p was. */
static __always_inline bool fkt_cmpxchg(u64 *p, u64 *old, u64 new, bool shared)
{
	return fkt_arch_cmpxchg(p, old, new, shared);
}

/* Orders all that this context wrote before the addition. */
static __always_inline void fkt_add_release(u32 *p, u32 n, bool shared)
{
	fkt_arch_add_release(p, n, shared);
}

/* A count that several contexts add to, and that orders nothing. */
static __always_inline void fkt_count(u64 *p, bool shared)
{
	if (shared)
		atomic64_inc((atomic64_t *)p);
	else
		local64_inc((local64_t *)p);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The active mask, and each CPU's own: what its current task may record of it (probes/filter.c).
 * Probes ask the CPU's alone.
 *
 * The active mask is what counts. A CPU changes its own mask with its interrupts off, and then
 * looks whether the active one is still what it was. Others write into it only to turn it off, or
 * while no filter is there, so that nobody changes it at a switch.
 */
#include <linux/percpu.h>
#include <linux/smp.h>
#include "fkt.h"

u32 fkt_mask;
DEFINE_PER_CPU(u32, fkt_cpu_mask);
/* Written by the CPU itself; by others while it is not there, or nothing is recorded. */
static DEFINE_PER_CPU(u32, fkt_cpu_may) = ~0u;
/* How many are turning it off. */
static atomic_t fkt_mask_closing;

/* As the active mask is now. On this CPU, interrupts off, or where nobody else writes there. */
static void fkt_mask_follow(int cpu)
{
	u32 *own = per_cpu_ptr(&fkt_cpu_mask, cpu);
	u32 mask, may;

	do {
		mask = READ_ONCE(fkt_mask);
		may = mask & READ_ONCE(per_cpu(fkt_cpu_may, cpu));
		if (READ_ONCE(*own) == may)
			return;
		WRITE_ONCE(*own, may);
		smp_mb(); /* partner: the exchange in fkt_mask_off(), and that in fkt_mask_set() */
	} while (READ_ONCE(fkt_mask) != mask);
}

/**
 * fkt_mask_off - turn the active mask off, on all CPUs
 *
 * Context: any, NMI included.
 * Return: what it was.
 */
u32 fkt_mask_off(void)
{
	u32 before;
	int cpu;

	if (!READ_ONCE(fkt_mask))
		return 0;
	/*
	 * Whoever sets it anew waits for those who have turned it off before: the exchange comes
	 * after this. So nobody comes in between.
	 */
	preempt_disable_notrace();
	atomic_inc(&fkt_mask_closing);
	before = xchg(&fkt_mask, 0); /* partner: the barrier in fkt_mask_follow() */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(fkt_cpu_mask, cpu), 0);
	smp_mb__before_atomic(); /* partner: the acquire in fkt_mask_wait_off() */
	atomic_dec(&fkt_mask_closing);
	fkt_program_follow_mask();
	preempt_enable_notrace();
	return before;
}

/**
 * fkt_mask_wait_off - wait for those who are turning the active mask off
 *
 * Context: may spin, so no probe's. They do not wait themselves.
 */
void fkt_mask_wait_off(void)
{
	while (atomic_read_acquire(&fkt_mask_closing))
		cpu_relax();
}

/* Take out of a CPU's own mask, wherever it is, what is not in @mask. */
static void fkt_mask_narrow(int cpu, u32 mask)
{
	u32 *own = per_cpu_ptr(&fkt_cpu_mask, cpu);
	u32 is = READ_ONCE(*own);

	while (is & ~mask && !try_cmpxchg(own, &is, is & mask))
		;
}

/* Nobody filters: the masks are the same, and no CPU changes its own. */
static void fkt_mask_spread(void)
{
	u32 mask;
	int cpu;

	preempt_disable_notrace();
	do {
		mask = READ_ONCE(fkt_mask);
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu(fkt_cpu_mask, cpu),
				   mask & READ_ONCE(per_cpu(fkt_cpu_may, cpu)));
		smp_mb(); /* partner: the exchange in fkt_mask_off() */
	} while (READ_ONCE(fkt_mask) != mask);
	preempt_enable_notrace();
}

/* This CPU records from now on: who is current is the first thing that it says. Interrupts off. */
static void fkt_mask_join(void *unused)
{
	if (READ_ONCE(fkt_mask) && !this_cpu_read(fkt_cpu_mask))
		fkt_session_say_current(NULL);
	fkt_mask_follow(smp_processor_id());
}

/**
 * fkt_mask_set - change the active mask, on all CPUs
 * @mask: what it is to be
 * @say: where nothing is recorded yet, each CPU is to say who is current before anything else
 *
 * Context: the session's lock, that of CPU hotplug; interrupts on; does not sleep. It may be turned
 * off meanwhile, and stays so.
 * Return: what it was.
 */
u32 fkt_mask_set(u32 mask, bool say)
{
	u32 before;
	int cpu;

	if (!mask)
		return fkt_mask_off();
	/* Partner: the barrier in fkt_mask_follow(). */
	before = xchg(&fkt_mask, mask);
	/* What goes, goes at once. */
	for_each_possible_cpu(cpu)
		fkt_mask_narrow(cpu, mask);
	fkt_mask_wait_off();
	if (fkt_filter_looks() || (say && !before)) {
		on_each_cpu(fkt_filter_looks() ? fkt_filter_look : fkt_mask_join, NULL, 1);
		for_each_possible_cpu(cpu)
			if (!cpu_online(cpu))
				fkt_mask_follow(cpu);
	} else {
		fkt_mask_spread();
	}
	fkt_program_follow_mask();
	return before;
}

/**
 * fkt_mask_set_alone - the same, where no other CPU runs
 * @mask: what it is to be
 *
 * Context: interrupts off, on the only CPU.
 */
void fkt_mask_set_alone(u32 mask)
{
	WRITE_ONCE(fkt_mask, mask);
	fkt_mask_spread();
	fkt_program_follow_mask();
}

/**
 * fkt_mask_may - what this CPU's current task may record
 *
 * Context: preemption off.
 * Return: a mask.
 */
u32 fkt_mask_may(void)
{
	return this_cpu_read(fkt_cpu_may);
}

/**
 * fkt_mask_let - say what this CPU's current task may record, from now on
 * @may: a mask
 *
 * Context: interrupts off.
 */
void fkt_mask_let(u32 may)
{
	this_cpu_write(fkt_cpu_may, may);
	fkt_mask_follow(smp_processor_id());
}

/**
 * fkt_mask_let_all - say what all CPUs' tasks may record
 * @may: a mask
 *
 * Context: the session's lock; nothing is recorded, and no CPU changes it by itself.
 */
void fkt_mask_let_all(u32 may)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(fkt_cpu_may, cpu), may);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* How much is left of the stack that a probe runs on. */
#ifndef FKT_STACK_H
#define FKT_STACK_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <asm/processor.h>

/* Where less than a quarter of the stack is left, nothing is to be put on it for long. */
#define FKT_STACK_RESERVE(bytes) ((bytes) / 4)

/* The end (the highest address) of the stack of this CPU's interrupts, 0 if it is not known. */
DECLARE_PER_CPU(unsigned long, fkt_irq_stack_end);

bool fkt_stack_low_elsewhere(const void *frame);

/**
 * fkt_stack_unsure - whether neither the task's stack nor the interrupts' is known to have enough
 * left
 * @frame: where it is used up to
 *
 * Calls nobody, for the fast ways: the slow ones ask fkt_stack_low().
 *
 * Context: any; preemption is off.
 */
static __always_inline bool fkt_stack_unsure(const void *frame)
{
	unsigned long used, left = (unsigned long)frame - FKT_STACK_RESERVE(THREAD_SIZE);

	OPTIMIZER_HIDE_VAR(left); /* gcc would subtract in an order that takes two moves more */
	left -= (unsigned long)current->stack;
	if (likely(left < THREAD_SIZE - FKT_STACK_RESERVE(THREAD_SIZE)))
		return false;
	used = raw_cpu_read(fkt_irq_stack_end) - (unsigned long)frame;
	return used > IRQ_STACK_SIZE - FKT_STACK_RESERVE(IRQ_STACK_SIZE);
}

/**
 * fkt_stack_low - whether little is left of the stack
 * @frame: where it is used up to
 *
 * The stacks of exceptions and NMIs are small: on them there is never enough.
 *
 * Context: any; preemption is off.
 */
static __always_inline bool fkt_stack_low(const void *frame)
{
	return unlikely(fkt_stack_unsure(frame)) && fkt_stack_low_elsewhere(frame);
}

void fkt_stack_find(void);

#endif

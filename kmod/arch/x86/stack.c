// SPDX-License-Identifier: GPL-2.0-only
/* Finding each CPU's stack for interrupts: the kernel does not tell where they are. */
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/workqueue.h>
#include <asm/cpu_entry_area.h>
#include "stack.h"

DEFINE_PER_CPU(unsigned long, fkt_irq_stack_end);

static bool fkt_on_task_stack(unsigned long sp)
{
	return sp - (unsigned long)current->stack < THREAD_SIZE;
}

/**
 * fkt_stack_low_elsewhere - fkt_stack_low() where neither the task's stack nor the interrupts' has
 * enough
 * @frame: as there
 *
 * While the scheduler switches tasks, the next one's stack is in use before it is the current task.
 * The stacks of tasks stand at multiples of their size; but where that of the interrupts is not
 * known, it might be this one.
 *
 * Context: any; preemption is off.
 * Return: as fkt_stack_low().
 */
bool fkt_stack_low_elsewhere(const void *frame)
{
	unsigned long sp = (unsigned long)frame, irq_end = raw_cpu_read(fkt_irq_stack_end);

	if (fkt_on_task_stack(sp) || !irq_end || irq_end - sp <= IRQ_STACK_SIZE ||
	    sp - CPU_ENTRY_AREA_BASE < CPU_ENTRY_AREA_MAP_SIZE)
		return true;
	return sp % THREAD_SIZE < FKT_STACK_RESERVE(THREAD_SIZE);
}

/*
 * In an interrupt that a kernel thread has raised on its own CPU: it has just begun to use the
 * stack, whose first word is where the thread's own was used up to. Not so if it was another
 * interrupt that was interrupted: then it is found another time. One that comes while a program
 * runs uses that task's own stack.
 */
static void fkt_stack_note(struct irq_work *work)
{
	unsigned long sp = current_stack_pointer, end = PAGE_ALIGN(sp);

	if (!fkt_on_task_stack(sp) && fkt_on_task_stack(((unsigned long *)end)[-1]))
		__this_cpu_write(fkt_irq_stack_end, end);
}

static long fkt_stack_ask(void *unused)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(fkt_stack_note);

	irq_work_queue(&work);
	irq_work_sync(&work);
	return 0;
}

/**
 * fkt_stack_find - find the interrupts' stacks of all CPUs that are online
 *
 * That of a CPU stays where it is when it goes offline and comes back.
 *
 * Context: process; may sleep.
 */
void fkt_stack_find(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (!per_cpu(fkt_irq_stack_end, cpu))
			work_on_cpu(cpu, fkt_stack_ask, NULL);
	cpus_read_unlock();
}

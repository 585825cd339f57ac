// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that knows nothing of FKT, built with -finstrument-functions, for
 * tests/vm/instrument.sh.
 *
 *	echo N >/sys/module/fkt_instrumented/parameters/run	calls instr_top() N times
 */
#include <linux/irq_work.h>
#include <linux/module.h>

static unsigned int leaves;

noinline unsigned int instr_leaf(unsigned int n);
noinline unsigned int instr_leaf(unsigned int n)
{
	leaves++;
	return n + 1;
}

static noinline unsigned int instr_recurse(unsigned int depth)
{
	return depth ? instr_recurse(depth - 1) + 1 : instr_leaf(depth);
}

static noinline unsigned int instr_top(unsigned int n)
{
	unsigned int sum = instr_leaf(n);

	sum += instr_recurse(2);
	return sum + instr_leaf(n);
}

static void instr_in_irq(struct irq_work *work)
{
	instr_leaf(0);
}

static struct irq_work irq = IRQ_WORK_INIT_HARD(instr_in_irq);

static int instr_run(const char *value, const struct kernel_param *param)
{
	unsigned int i, count;
	int ret = kstrtouint(value, 0, &count);

	if (ret)
		return ret;
	for (i = 0; i < count; i++)
		instr_top(i);
	irq_work_queue(&irq);
	irq_work_sync(&irq);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = instr_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init instr_begin(void)
{
	instr_leaf(0);
	return 0;
}

static void __exit instr_end(void)
{
	instr_leaf(0);
}

module_init(instr_begin);
module_exit(instr_end);
MODULE_DESCRIPTION("Functions that gcc instruments, for FKT's tests");
MODULE_LICENSE("GPL");

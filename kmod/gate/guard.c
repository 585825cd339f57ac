// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether ftrace is turned on (kernel.ftrace_enabled), and that it stays so while functions are hooked.
 *
 * While it is off, ftrace takes direct calls, calls nobody, and is confused when they are taken back.
 * It can't be turned off while there is a hook that is said to be permanent, and takes no such hook
 * while it is off; but of direct calls nobody can say that. So there is one more hook, on a function
 * of the gate's own that nobody calls.
 */
#include <linux/ftrace.h>
#include "trampoline.h"

static noinline void fkt_gate_guarded(void)
{
	barrier();
}

static void fkt_gate_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
}

static struct ftrace_ops fkt_gate_guard = {
	.func = fkt_gate_nothing,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

/**
 * fkt_gate_guard_set - see to it that ftrace stays on
 * Context: process; may sleep.
 * Return: 0, -EOPNOTSUPP while it is off, or another negative errno value.
 */
int fkt_gate_guard_set(void)
{
	/* The filter stays set: the gate is loaded for good when this is first called. */
	int ret = ftrace_set_filter_ip(&fkt_gate_guard, (unsigned long)fkt_gate_guarded, 0, 0);

	if (!ret)
		ret = register_ftrace_function(&fkt_gate_guard);
	return ret == -EBUSY ? -EOPNOTSUPP : ret;
}

/**
 * fkt_gate_guard_clear - it may be turned off again
 *
 * After an error of its own, ftrace keeps the hook; it calls nobody.
 *
 * Context: process; may sleep.
 */
void fkt_gate_guard_clear(void)
{
	unregister_ftrace_function(&fkt_gate_guard);
}

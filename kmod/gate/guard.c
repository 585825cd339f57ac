// SPDX-License-Identifier: GPL-2.0-only
/*
 * What keeps ftrace as the gate needs it.
 *
 * It is turned on (kernel.ftrace_enabled), and stays so while functions are hooked.
 *
 * While it is off, ftrace takes direct calls, calls nobody, and is confused when they are taken
 * back. It can't be turned off while there is a hook that is said to be permanent, and takes no
 * such hook while it is off; but of direct calls nobody can say that. So there is one more hook, on
 * a function of the gate's own that nobody calls.
 */
#include <linux/ftrace.h>
#include "../compat.h"
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

/*
 * Before 6.7, ftrace's table of direct calls grows anew whenever it was empty, and of the tables
 * that it grows out of within one call, all but the last are lost. One direct call that is never
 * taken back, on another function that nobody calls, keeps the table: so it grows once.
 */
static noinline void fkt_gate_kept(void)
{
	barrier();
}

static struct ftrace_ops fkt_gate_keeper;

/**
 * fkt_gate_keep_table - have ftrace keep its table of direct calls, where it has to be kept
 *
 * Without that, a recording of many functions costs some memory.
 *
 * Context: process; may sleep; once, when the gate is to stay loaded.
 */
void fkt_gate_keep_table(void)
{
	if (!FKT_DIRECT_TABLE_LEAKS)
		return;
	if (ftrace_set_filter_ip(&fkt_gate_keeper, (unsigned long)fkt_gate_kept, 0, 0) ||
	    fkt_register_direct(&fkt_gate_keeper, (unsigned long)fkt_gate_called))
		pr_warn("fkt_gate: ftrace's table of direct calls is not kept\n");
}

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

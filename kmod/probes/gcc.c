// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules built with -finstrument-functions: gcc makes each of their functions call these two
 * (paper, §7).
 *
 * Such a function may be called in any context, and so may these. They call nothing that a module
 * could have instrumented: a probe cannot come back here but by an interrupt, and that it may.
 */
#include <linux/export.h>
#include <linux/kprobes.h>
#include "fkt.h"

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

/**
 * __cyg_profile_func_enter - called by gcc's code when a function is entered
 * @function: its address
 * @caller: where it will return to
 */
__visible void __cyg_profile_func_enter(void *function, void *caller)
{
	if (!fkt_on(FKT_KEY_GCC))
		return;
	preempt_disable_notrace();
	/* Asked with preemption off: the session waits for those before it takes the lane away. */
	if (likely(fkt_on(FKT_KEY_GCC)))
		FKT_EVENT(FKT_CODE_GCC_ENTRY, 0, (u64)function, (u64)caller);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(__cyg_profile_func_enter);
NOKPROBE_SYMBOL(__cyg_profile_func_enter);

/**
 * __cyg_profile_func_exit - called by gcc's code when a function returns
 * @function: its address
 * @caller: where it returns to; the entry has said so
 */
__visible void __cyg_profile_func_exit(void *function, void *caller)
{
	if (!fkt_on(FKT_KEY_GCC))
		return;
	preempt_disable_notrace();
	if (likely(fkt_on(FKT_KEY_GCC)))
		FKT_EVENT(FKT_CODE_GCC_EXIT, 0, (u64)function);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(__cyg_profile_func_exit);
NOKPROBE_SYMBOL(__cyg_profile_func_exit);

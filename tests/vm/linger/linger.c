// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who calls a function comes to it, or back from it, later, as if a hypervisor ran another machine
 * meanwhile.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timekeeping.h>

static char *function;
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "whose callers are to linger");

static unsigned int ms = 100;
module_param(ms, uint, 0400);
MODULE_PARM_DESC(ms, "for so many milliseconds");

static int times = INT_MAX;
module_param(times, int, 0400);
MODULE_PARM_DESC(times, "so many of them");

static bool behind;
module_param(behind, bool, 0400);
MODULE_PARM_DESC(behind, "when they return from it, with interrupts on if it is so there");

static atomic_t lingered;

/* By the clock: mdelay() counts loops, and takes 5 ms for a second where an emulator runs them. */
static void linger(void)
{
	u64 until = ktime_get_mono_fast_ns() + (u64)ms * NSEC_PER_MSEC;

	if (atomic_inc_return(&lingered) > times)
		return;
	while (ktime_get_mono_fast_ns() < until)
		cpu_relax();
}

static int linger_before(struct kprobe *probe, struct pt_regs *regs)
{
	linger();
	return 0;
}

static int linger_behind(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	linger();
	return 0;
}

static struct kprobe linger_probe = { .pre_handler = linger_before };
static struct kretprobe linger_return = { .handler = linger_behind };

static int __init linger_init(void)
{
	linger_probe.symbol_name = function;
	linger_return.kp.symbol_name = function;
	return behind ? register_kretprobe(&linger_return) : register_kprobe(&linger_probe);
}

static void __exit linger_exit(void)
{
	if (behind)
		unregister_kretprobe(&linger_return);
	else
		unregister_kprobe(&linger_probe);
}

module_init(linger_init);
module_exit(linger_exit);

MODULE_DESCRIPTION("Callers of a function linger");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel does on its last CPU before it lets a machine fall asleep, and after it has woken
 * up, without what comes between: QEMU's file server and console do not survive that.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/syscore_ops.h>

static int nap(const char *text, const struct kernel_param *kp)
{
	enum system_states state = system_state;
	unsigned int ms;
	int ret = kstrtouint(text, 0, &ms);

	if (ret)
		return ret;
	if (num_online_cpus() != 1)
		return -EBUSY;
	local_irq_disable();
	system_state = SYSTEM_SUSPEND;
	ret = syscore_suspend();
	if (!ret) {
		mdelay(ms);
		syscore_resume();
	}
	system_state = state;
	local_irq_enable();
	return ret;
}

static const struct kernel_param_ops nap_ops = { .set = nap };
module_param_cb(ms, &nap_ops, NULL, 0200);
MODULE_PARM_DESC(ms, "write a number: a nap of so many milliseconds");

MODULE_DESCRIPTION("A nap");
MODULE_LICENSE("GPL");

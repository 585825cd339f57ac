// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who calls a function comes to it later, as if a hypervisor ran another machine meanwhile.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

static char *function;
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "whose callers are to linger");

static unsigned int ms = 100;
module_param(ms, uint, 0400);
MODULE_PARM_DESC(ms, "for so many milliseconds");

static int linger(struct kprobe *probe, struct pt_regs *regs)
{
	mdelay(ms);
	return 0;
}

static struct kprobe linger_probe = { .pre_handler = linger };

static int __init linger_init(void)
{
	linger_probe.symbol_name = function;
	return register_kprobe(&linger_probe);
}

static void __exit linger_exit(void)
{
	unregister_kprobe(&linger_probe);
}

module_init(linger_init);
module_exit(linger_exit);

MODULE_DESCRIPTION("Callers of a function linger before it");
MODULE_LICENSE("GPL");

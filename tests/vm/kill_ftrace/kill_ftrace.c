// SPDX-License-Identifier: GPL-2.0-only
/* Does when it is loaded what ftrace does to itself when it has found an error of its own. */
#include <linux/kprobes.h>
#include <linux/module.h>

static int __init kill_ftrace_init(void)
{
	struct kprobe probe = { .symbol_name = "ftrace_kill" };
	void (*kill)(void);
	int ret;

	/* It is not exported: a kprobe finds it. */
	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	kill = (void *)probe.addr;
	unregister_kprobe(&probe);
	kill();
	return 0;
}

static void __exit kill_ftrace_exit(void)
{
}

module_init(kill_ftrace_init);
module_exit(kill_ftrace_exit);
MODULE_DESCRIPTION("Stops ftrace for good");
MODULE_LICENSE("GPL");

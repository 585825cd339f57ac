// SPDX-License-Identifier: GPL-2.0-only
/* The floor: functions that do nothing on both system call tracepoints. */
#include <linux/module.h>
#include <linux/tracepoint.h>

static struct tracepoint *enter, *leave;

static void empty_enter(void *data, struct pt_regs *regs, long id)
{
}

static void empty_exit(void *data, struct pt_regs *regs, long ret)
{
}

static void find(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_enter"))
		enter = tp;
	if (!strcmp(tp->name, "sys_exit"))
		leave = tp;
}

static int __init empty_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find, NULL);
	if (!enter || !leave)
		return -ENOENT;
	ret = tracepoint_probe_register(enter, empty_enter, NULL);
	if (ret)
		return ret;
	ret = tracepoint_probe_register(leave, empty_exit, NULL);
	if (ret) {
		tracepoint_probe_unregister(enter, empty_enter, NULL);
		tracepoint_synchronize_unregister();
	}
	return ret;
}

static void __exit empty_end(void)
{
	tracepoint_probe_unregister(enter, empty_enter, NULL);
	tracepoint_probe_unregister(leave, empty_exit, NULL);
	tracepoint_synchronize_unregister();
}

module_init(empty_init);
module_exit(empty_end);
MODULE_DESCRIPTION("Empty functions on the system call tracepoints");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live patch of one function of the kernel, with up to six arguments, which does as before: it
 * counts the calls and goes on in the function that it has replaced, behind ftrace's call.
 *
 *	insmod fkt_livepatch.ko function=rw_verify_area
 */
#include <linux/atomic.h>
#include <linux/livepatch.h>
#include <linux/module.h>

static char *function;
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "which function to patch");

static atomic_long_t calls;

static struct klp_func funcs[];

static notrace long patched(long a, long b, long c, long d, long e, long f)
{
	const u8 *old = funcs[0].old_func;
	long (*body)(long, long, long, long, long, long);

	atomic_long_inc(&calls);
	/* The call of ftrace is the first instruction, or the first one after ENDBR. */
	body = (void *)(old + (old[0] == 0xe8 ? 5 : 9));
	return body(a, b, c, d, e, f);
}

static struct klp_func funcs[] = { { .new_func = patched }, {} };

static struct klp_object objs[] = { { .funcs = funcs }, {} };

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objs,
};

static int calls_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%ld\n", atomic_long_read(&calls));
}

static const struct kernel_param_ops calls_ops = { .get = calls_get };
module_param_cb(calls, &calls_ops, NULL, 0444);
MODULE_PARM_DESC(calls, "how often it was called");

static int __init fkt_livepatch_init(void)
{
	if (!function)
		return -EINVAL;
	funcs[0].old_name = function;
	return klp_enable_patch(&patch);
}

static void __exit fkt_livepatch_exit(void)
{
}

module_init(fkt_livepatch_init);
module_exit(fkt_livepatch_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A live patch for FKT's tests");
MODULE_INFO(livepatch, "Y");

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module whose functions have all kinds of arguments and results, for tests/vm/arguments.sh.
 *
 *	cat /sys/module/fkt_args/parameters/run
 *
 * calls all of them, and prints what they got and returned: a number for each kind, which does not
 * depend on anything.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "args.h"

/* How much stack is left where the recursion ends. */
#define STACK_LEFT 2048

u64 args_mix(const void *data, size_t bytes)
{
	const u8 *byte = data;
	u64 sum = 0xcbf29ce484222325;

	while (bytes--)
		sum = (sum ^ *byte++) * 0x100000001b3;
	return sum;
}

/* twin.c has one of this name with more arguments. */
static PLAIN u64 args_same_name(u64 a)
{
	return args_mix(&a, sizeof(a));
}

/* --- recursion -------------------------------------------------------------------------------- */

static unsigned long stack_left(void)
{
	return current_stack_pointer - (unsigned long)task_stack_page(current);
}

/* How deep it gets depends on who traces it; that each level finds its own again does not. */
PLAIN u64 args_recurse(u64 depth, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h);
PLAIN u64 args_recurse(u64 depth, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	u64 wrong = b != depth + 1 || c != depth + 2 || d != depth + 3 || e != depth + 4 ||
		    f != depth + 5 || g != depth + 6 || h != depth + 7;

	if (stack_left() < STACK_LEFT)
		return wrong;
	wrong += args_recurse(depth + 1, b + 1, c + 1, d + 1, e + 1, f + 1, g + 1, h + 1);
	/* Else the compiler makes a loop of it. */
	OPTIMIZER_HIDE_VAR(wrong);
	return wrong + (h != depth + 7) + (g != depth + 6);
}

PLAIN u64 args_recurse_plain(u64 depth);
PLAIN u64 args_recurse_plain(u64 depth)
{
	u64 below = stack_left() < STACK_LEFT ? depth + 1 : args_recurse_plain(depth + 1);

	OPTIMIZER_HIDE_VAR(below);
	return below == depth + 1 ? depth : U64_MAX;
}

static u64 args_stack(void)
{
	const u64 got[] = { args_recurse(0, 1, 2, 3, 4, 5, 6, 7), args_recurse_plain(0) };

	return args_mix(got, sizeof(got));
}

/* --- faults ----------------------------------------------------------------------------------- */

PLAIN u64 args_fault_kernel(const void *at, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g);
PLAIN u64 args_fault_kernel(const void *at, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g)
{
	u64 got[] = { 1, b, c, d, e, f, g, 0 };

	got[7] = (u64)copy_from_kernel_nofault(got, at, sizeof(got[0]));
	/* What is there after a fault is anything. */
	if (got[7])
		got[0] = 0;
	return args_mix(got, sizeof(got));
}

PLAIN u64 args_fault_user(const u32 __user *at, u64 b);
PLAIN u64 args_fault_user(const u32 __user *at, u64 b)
{
	u32 found = 7, more[4] = { 1, 2, 3, 4 };
	u64 got[] = { (u64)get_user(found, at), b, 0, 0 };

	got[2] = found;
	got[3] = copy_from_user(more, at, sizeof(more));
	return args_mix(got, sizeof(got));
}

static u64 args_faults(void)
{
	const u64 here = 5;
	const u64 got[] = {
		args_fault_kernel(&here, 2, 3, 4, 5, 6, 7),
		/* Not an address; one of the kernel's where nothing is; the first page. */
		args_fault_kernel((void *)0x8000000000000000, 2, 3, 4, 5, 6, 7),
		args_fault_kernel((void *)0xffff800000001000, 2, 3, 4, 5, 6, 7),
		args_fault_kernel((void *)8, 2, 3, 4, 5, 6, 7),
		args_fault_user((const u32 __user *)8, 9),
		args_fault_user((const u32 __user *)0xffff888000000000, 9),
	};

	return args_mix(got, sizeof(got));
}

/* --- threads that end inside ------------------------------------------------------------------ */

struct ending {
	struct completion done;
	u64 got;
};

PLAIN void __noreturn args_end(struct ending *ending, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g,
			       u64 h);
PLAIN void args_end(struct ending *ending, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	const u64 got[] = { b, c, d, e, f, g, h };

	ending->got = args_mix(got, sizeof(got));
	kthread_complete_and_exit(&ending->done, 0);
}

PLAIN int args_thread(void *data);
PLAIN int args_thread(void *data)
{
	args_end(data, 2, 3, 4, 5, 6, 7, 8);
}

static u64 args_ends(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < 20; i++) {
		struct ending ending = { .got = 0 };

		init_completion(&ending.done);
		if (IS_ERR(kthread_run(args_thread, &ending, "fkt_args")))
			return 0;
		wait_for_completion(&ending.done);
		sum += ending.got;
	}
	return sum;
}

/* ---------------------------------------------------------------------------------------------- */

static int run_get(char *text, const struct kernel_param *param)
{
	u64 twins = args_same_name(41) + args_twin();
	int length = 0;

	length += sysfs_emit_at(text, length, "numbers %016llx\n", args_values());
	length += sysfs_emit_at(text, length, "structures %016llx\n", args_structures());
	length += sysfs_emit_at(text, length, "results %016llx\n", args_results());
	length += sysfs_emit_at(text, length, "twins %016llx\n", twins);
	length += sysfs_emit_at(text, length, "stack %016llx\n", args_stack());
	length += sysfs_emit_at(text, length, "faults %016llx\n", args_faults());
	length += sysfs_emit_at(text, length, "ends %016llx\n", args_ends());
	return length;
}

static const struct kernel_param_ops run_ops = { .get = run_get };
module_param_cb(run, &run_ops, NULL, 0400);

MODULE_DESCRIPTION("Functions with all kinds of arguments, for FKT's tests");
MODULE_LICENSE("GPL");

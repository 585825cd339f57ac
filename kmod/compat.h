/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between the kernels that FKT runs on, and nothing else. */
#ifndef FKT_COMPAT_H
#define FKT_COMPAT_H

#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/splice.h>
#include <linux/syscore_ops.h>
#include <linux/version.h>

/* From 6.8 on, do_splice_direct() protects the output against freezing itself. */
static inline void fkt_splice_start_write(struct file *out)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	file_start_write(out);
#endif
}

static inline void fkt_splice_end_write(struct file *out)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	file_end_write(out);
#endif
}

/*
 * What is called while the machine falls asleep, and wakes up, on the one CPU that is left, with
 * interrupts off. From 6.19 on, and in late releases of older kernels, it has a pointer of its own:
 * Kbuild looks which it is.
 */
#ifndef FKT_HAS_SYSCORE
#define FKT_SYSCORE(name, on_suspend, on_resume)                                                   \
	static struct syscore_ops name = { .suspend = on_suspend, .resume = on_resume }
#define FKT_SYSCORE_ARG	      void
#define fkt_register_syscore   register_syscore_ops
#define fkt_unregister_syscore unregister_syscore_ops
#else
#define FKT_SYSCORE(name, on_suspend, on_resume)                                                   \
	static const struct syscore_ops name##_ops = {                                             \
		.suspend = on_suspend,                                                             \
		.resume = on_resume,                                                               \
	};                                                                                         \
	static struct syscore name = { .ops = &name##_ops }
#define FKT_SYSCORE_ARG	      void *unused
#define fkt_register_syscore   register_syscore
#define fkt_unregister_syscore unregister_syscore
#endif

/* From 6.5 on, the direct trampolines that hook several functions are the only kind. */
static inline int fkt_register_direct(struct ftrace_ops *ops, unsigned long addr)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return register_ftrace_direct_multi(ops, addr);
#else
	return register_ftrace_direct(ops, addr);
#endif
}

static inline int fkt_unregister_direct(struct ftrace_ops *ops, unsigned long addr)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
	return unregister_ftrace_direct_multi(ops, addr);
#else
	return unregister_ftrace_direct(ops, addr, false);
#endif
}

/*
 * How many functions may have a direct trampoline. Before 6.7, each one that is added beyond 8192
 * makes a new copy of the kernel's table of them all, and loses the old one.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define FKT_DIRECT_MAX 4096
#else
#define FKT_DIRECT_MAX U32_MAX
#endif

#endif

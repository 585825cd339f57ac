/* SPDX-License-Identifier: GPL-2.0-only */
/* Every difference between the kernels that FKT runs on, and nothing else. */
#ifndef FKT_COMPAT_H
#define FKT_COMPAT_H

#include <linux/version.h>

/* Where a CPU counts who has turned preemption off, for PER_CPU_VAR() in assembly. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
#define FKT_PREEMPT_COUNT __preempt_count
#else
#define FKT_PREEMPT_COUNT pcpu_hot + 8
#endif

#ifndef __ASSEMBLER__

#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/splice.h>
#include <linux/syscore_ops.h>
#include <linux/uprobes.h>
#include <linux/workqueue.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
static_assert(offsetof(struct pcpu_hot, preempt_count) == 8);
#endif

/*
 * Until 6.12 the kernel calls each probe of a tracepoint with preemption off. From 6.13 on it may
 * be on in those of sys_enter and sys_exit, from 7.0 on in all of them: a task that went to another
 * CPU between finding its lane and writing into it would write into a foreign one. So a probe takes
 * preemption off itself, before it asks whether anything is recorded: the session waits for it
 * then.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define FKT_PREEMPTIBLE_PROBES 0
#else
#define FKT_PREEMPTIBLE_PROBES 1
#endif

static __always_inline int fkt_probe_enter(void)
{
	if (FKT_PREEMPTIBLE_PROBES)
		preempt_disable_notrace();
	return 0;
}

static __always_inline void fkt_probe_leave(int *unused)
{
	if (FKT_PREEMPTIBLE_PROBES)
		preempt_enable_notrace();
}

/*
 * The last declaration of each function that a tracepoint or a kprobe calls: lasts until its end.
 */
#define FKT_PROBE_GUARD()                                                                          \
	int fkt_guard __attribute__((__cleanup__(fkt_probe_leave), __unused__)) = fkt_probe_enter()

/* perf's MAX_INTERRUPTS, of its own file: the event's interrupts rest until the next tick. */
#define FKT_PERF_THROTTLED (~0ULL)

/* From 6.3 on, nobody writes into a mapping's flags directly. */
static inline void fkt_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags |= flags;
#else
	vm_flags_set(vma, flags);
#endif
}

static inline void fkt_vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags &= ~flags;
#else
	vm_flags_clear(vma, flags);
#endif
}

/* From 6.16 on, sched_process_exit also says whether it is the last thread of its process. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define FKT_GROUP_DEAD
#else
#define FKT_GROUP_DEAD , bool group_dead
#endif

/* What a task is made with (CLONE_…), as task_newtask has it. From 6.18 on it has 64 bits. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define FKT_CLONE_FLAGS unsigned long
#else
#define FKT_CLONE_FLAGS u64
#endif

/* Where the page faults' tracepoints are declared: Kbuild looks. */
#ifdef FKT_HAS_TRACE_EXCEPTIONS
#define FKT_TRACE_EXCEPTIONS <trace/events/exceptions.h>
#else
#define FKT_TRACE_EXCEPTIONS <asm/trace/exceptions.h>
#endif

/* A kernel without cgroups has none that a filter could name. */
#ifdef CONFIG_CGROUPS
static inline struct cgroup *fkt_cgroup_get(int fd)
{
	return cgroup_get_from_fd(fd);
}

static inline void fkt_cgroup_put(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}

/* Within RCU, or with interrupts off. */
static inline bool fkt_task_is_in(const struct task_struct *p, struct cgroup *cgroup)
{
	return cgroup_is_descendant(rcu_dereference_raw(p->cgroups)->dfl_cgrp, cgroup);
}
#else
static inline struct cgroup *fkt_cgroup_get(int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void fkt_cgroup_put(struct cgroup *cgroup)
{
}

static inline bool fkt_task_is_in(const struct task_struct *p, struct cgroup *cgroup)
{
	return false;
}
#endif

/*
 * A kernel that checks at each indirect call that the function has the type it is called as, and
 * stops when it has not. The option had another name until 6.18.
 */
#define FKT_CALLS_ARE_CHECKED (IS_ENABLED(CONFIG_CFI) || IS_ENABLED(CONFIG_CFI_CLANG))

/*
 * What is called while the machine falls asleep, and wakes up, on the one CPU that is left, with
 * interrupts off. From 6.19 on, and in late releases of older kernels, it has a pointer of its own:
 * Kbuild looks which it is.
 */
#ifndef FKT_HAS_SYSCORE
#define FKT_SYSCORE(name, on_suspend, on_resume)                                                   \
	static struct syscore_ops name = { .suspend = on_suspend, .resume = on_resume }
#define FKT_SYSCORE_ARG	       void
#define fkt_register_syscore   register_syscore_ops
#define fkt_unregister_syscore unregister_syscore_ops
#else
#define FKT_SYSCORE(name, on_suspend, on_resume)                                                   \
	static const struct syscore_ops name##_ops = {                                             \
		.suspend = on_suspend,                                                             \
		.resume = on_resume,                                                               \
	};                                                                                         \
	static struct syscore name = { .ops = &name##_ops }
#define FKT_SYSCORE_ARG	       void *unused
#define fkt_register_syscore   register_syscore
#define fkt_unregister_syscore unregister_syscore
#endif

/*
 * Where work waits that any CPU may do. From 6.17 on it has another name, and by 7.2 the kernel
 * complains of the old one in its log.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define fkt_any_cpu_wq system_unbound_wq
#else
#define fkt_any_cpu_wq system_dfl_wq
#endif

/* From 6.13 on, a timer has its function from the beginning. */
static inline void fkt_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *),
				     clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#else
	hrtimer_setup(timer, function, clock, mode);
#endif
}

/*
 * A place in a file where programs are interrupted. Until 6.11 it is named by the file and the
 * offset again when it is to go, and unregistering waits until nobody is in a handler; from 6.12 on
 * that is waited for once for all of them. From 6.13 on, handlers have a word of their own of each
 * call.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define FKT_UPROBE_DATA
#define FKT_UPROBE_ARG
#else
#define FKT_UPROBE_DATA , __u64 *data
#define FKT_UPROBE_ARG	, data
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
typedef bool fkt_uprobe_handle;

static inline int fkt_uprobe_register(struct inode *inode, loff_t offset, loff_t semaphore,
				      struct uprobe_consumer *consumer, fkt_uprobe_handle *handle)
{
	int ret = uprobe_register_refctr(inode, offset, semaphore, consumer);

	*handle = !ret;
	return ret;
}

static inline void fkt_uprobe_unregister(struct inode *inode, loff_t offset,
					 struct uprobe_consumer *consumer,
					 fkt_uprobe_handle *handle)
{
	uprobe_unregister(inode, offset, consumer);
	*handle = false;
}

static inline void fkt_uprobe_unregister_wait(void)
{
}
#else
typedef struct uprobe *fkt_uprobe_handle;

static inline int fkt_uprobe_register(struct inode *inode, loff_t offset, loff_t semaphore,
				      struct uprobe_consumer *consumer, fkt_uprobe_handle *handle)
{
	struct uprobe *uprobe = uprobe_register(inode, offset, semaphore, consumer);

	if (IS_ERR(uprobe))
		return PTR_ERR(uprobe);
	*handle = uprobe;
	return 0;
}

static inline void fkt_uprobe_unregister(struct inode *inode, loff_t offset,
					 struct uprobe_consumer *consumer,
					 fkt_uprobe_handle *handle)
{
	uprobe_unregister_nosync(*handle, consumer);
	*handle = NULL;
}

static inline void fkt_uprobe_unregister_wait(void)
{
	uprobe_unregister_sync();
}
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

/* The code of a module, from its memory on. */
struct fkt_text {
	unsigned long begin;
	size_t bytes;
};

static inline bool fkt_text_has(const struct fkt_text *text, unsigned long address)
{
	return address - text->begin < text->bytes;
}

/* From 6.4 on, a module has an array of kinds of memory. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define FKT_TEXT_OF(mod, layout, type)                                                             \
	((struct fkt_text){ (unsigned long)(mod)->layout.base, (mod)->layout.text_size })
#else
#define FKT_TEXT_OF(mod, layout, type)                                                             \
	((struct fkt_text){ (unsigned long)(mod)->mem[type].base, (mod)->mem[type].size })
#endif

static inline struct fkt_text fkt_module_text(const struct module *mod)
{
	return FKT_TEXT_OF(mod, core_layout, MOD_TEXT);
}

/* What is freed when the module has come. */
static inline struct fkt_text fkt_module_init_text(const struct module *mod)
{
	return FKT_TEXT_OF(mod, init_layout, MOD_INIT_TEXT);
}

/*
 * How many functions may have a direct trampoline, all in all. Before 6.7, each one that is added
 * beyond 8192 makes a new copy of the kernel's table of them all, and loses the old one, as when
 * the table grows several times at once (FKT_DIRECT_TABLE_LEAKS).
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define FKT_DIRECT_MAX	       4096u
#define FKT_DIRECT_TABLE_LEAKS true
#else
#define FKT_DIRECT_MAX	       U32_MAX
#define FKT_DIRECT_TABLE_LEAKS false
#endif

#endif
#endif

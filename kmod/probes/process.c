// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the analysis must know of processes (paper, §6): who runs, who wakes whom, names, and when a
 * pid is free to be another process.
 */
#include <linux/binfmts.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>
#include "comm.h"
#include "compat.h"
#include "fkt.h"
#include "graph.h"
#include "stacks.h"

DEFINE_PER_CPU(struct fkt_leaving, fkt_leaving);

/* Whether a filter leaves the current task out: of it, there is what happened, but no stack. */
static bool fkt_is_left_out(void)
{
	return fkt_mask_may() == FKT_KEY_PROCESS;
}

static __always_inline void fkt_switch(bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int prev_state,
				       bool stack)
{
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_PROCESS)) {
		__this_cpu_write(fkt_leaving.task, NULL);
		return;
	}
	/*
	 * A task that was preempted is still runnable, whatever it was about to become. One that is
	 * dead says in its exit_state whether somebody will wait for it (Z) or not (X); who does so
	 * now changes it from the one to the other.
	 */
	FKT_EVENT_OR_STACK(stack && !fkt_is_left_out(), FKT_CODE_SWITCH,
			   preempt ? TASK_RUNNING : prev_state | READ_ONCE(prev->exit_state),
			   fkt_pair(prev->pid, next->pid));
	/* Pages that begin from here on begin with the next one. */
	__this_cpu_write(fkt_leaving.next_pid, next->pid);
	barrier(); /* partner: fkt_current_pid() in an NMI, on this CPU */
	__this_cpu_write(fkt_leaving.task, prev);
}

static void fkt_sched_switch(void *data, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int prev_state)
{
	fkt_switch(preempt, prev, next, prev_state, false);
}

static void fkt_sched_switch_stack(void *data, bool preempt, struct task_struct *prev,
				   struct task_struct *next, unsigned int prev_state)
{
	fkt_switch(preempt, prev, next, prev_state, true);
}

/* The CPU is the one that the task is on, as in ftrace: a new task's has been chosen by then. */
static __always_inline void fkt_wakeup(u32 code, const struct task_struct *p, bool stack)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_PROCESS))
		FKT_EVENT_OR_STACK(stack && !fkt_is_left_out(), code, task_cpu(p),
				   fkt_pair(p->pid, p->prio));
}

/* In the context of whoever wakes; sched_wakeup may come later, on the CPU of the woken. */
static void fkt_sched_waking(void *data, struct task_struct *p)
{
	fkt_wakeup(FKT_CODE_WAKEUP, p, false);
}

static void fkt_sched_waking_stack(void *data, struct task_struct *p)
{
	fkt_wakeup(FKT_CODE_WAKEUP, p, true);
}

static void fkt_sched_wakeup_new(void *data, struct task_struct *p)
{
	fkt_wakeup(FKT_CODE_WAKEUP_NEW, p, false);
}

static void fkt_sched_wakeup_new_stack(void *data, struct task_struct *p)
{
	fkt_wakeup(FKT_CODE_WAKEUP_NEW, p, true);
}

static void fkt_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_PROCESS))
		FKT_EVENT(FKT_CODE_FORK, 0, fkt_pair(child->pid, child->tgid),
			  fkt_pair(parent->pid, parent->tgid));
}

static void fkt_exec(void *data, struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm)
{
	struct fkt_comm comm;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_PROCESS))
		return;
	comm = fkt_comm(p->comm);
	FKT_EVENT(FKT_CODE_EXEC, 0, fkt_pair(p->pid, old_pid), comm.word[0], comm.word[1]);
}

static void fkt_exit(void *data, struct task_struct *p FKT_GROUP_DEAD)
{
	FKT_PROBE_GUARD();

	fkt_graph_forget(p);
	if (!fkt_on(FKT_KEY_PROCESS))
		return;
	if (fkt_overwrites(&fkt_session))
		fkt_ended_add(p);
	FKT_EVENT(FKT_CODE_EXIT, 0, fkt_pair(p->pid, p->exit_code));
}

static void fkt_rename(void *data, struct task_struct *p, const char *name)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_PROCESS))
		fkt_record_name(p, name);
}

/* The first ones are told by fkt_process_choose(). */
enum {
	FKT_POINT_SWITCH,
	FKT_POINT_WAKING,
	FKT_POINT_WAKEUP_NEW,
};

static struct fkt_tracepoint fkt_process_points[] = {
	[FKT_POINT_SWITCH] = FKT_POINT(sched_switch, fkt_sched_switch),
	[FKT_POINT_WAKING] = FKT_POINT(sched_waking, fkt_sched_waking),
	[FKT_POINT_WAKEUP_NEW] = FKT_POINT(sched_wakeup_new, fkt_sched_wakeup_new),
	FKT_POINT(sched_process_fork, fkt_fork),
	FKT_POINT(sched_process_exec, fkt_exec),
	FKT_POINT(sched_process_exit, fkt_exit),
	FKT_POINT(task_rename, fkt_rename),
};

/*
 * The release of the pid: the paper's probe was in unhash_pid(), after which fork() may give the
 * number to another process. Today that happens in release_task(); the tracepoint
 * sched_process_free comes a grace period later, when the pid may be in use again.
 */
static int fkt_release_task(struct kprobe *probe, struct pt_regs *regs)
{
	const struct task_struct *p = (const struct task_struct *)regs_get_kernel_argument(regs, 0);
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_PROCESS))
		FKT_EVENT(FKT_CODE_RELEASE, 0, fkt_pair(p->pid, p->tgid));
	return 0;
}

static struct kprobe fkt_release_probe;
static bool fkt_release_hooked;

/*
 * Where it is to be hooked: behind ftrace's call, where nothing has been done yet. In the place of
 * that call the kernel would have it called by ftrace: by nobody, while that is turned off
 * (kernel.ftrace_enabled), and when it is turned on again after that, ftrace finds its own books
 * wrong, and stops for good.
 */
static kprobe_opcode_t *fkt_release_at;

static int fkt_release_find(void)
{
	struct kprobe probe = { .symbol_name = "release_task", .flags = KPROBE_FLAG_DISABLED };
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	fkt_release_at = probe.addr + (kprobe_ftrace(&probe) ? MCOUNT_INSN_SIZE : 0);
	unregister_kprobe(&probe);
	return 0;
}

static int fkt_release_hook(void)
{
	int ret = fkt_release_at ? 0 : fkt_release_find();

	if (ret)
		return ret;
	/* A kprobe is not to be registered with what an earlier registration left in it. */
	fkt_release_probe = (struct kprobe){
		.addr = fkt_release_at,
		.pre_handler = fkt_release_task,
	};
	ret = register_kprobe(&fkt_release_probe);
	fkt_release_hooked = !ret;
	return ret;
}

/* Those that take stacks are probes of their own, so that the others need not ask. */
static void fkt_process_choose(void)
{
	fkt_process_points[FKT_POINT_SWITCH].probe =
		fkt_stack_wanted(FKT_CODE_SWITCH, 1)
			? FKT_PROBE_FOR(sched_switch, fkt_sched_switch_stack)
			: FKT_PROBE_FOR(sched_switch, fkt_sched_switch);
	fkt_process_points[FKT_POINT_WAKING].probe =
		fkt_stack_wanted(FKT_CODE_WAKEUP, 1)
			? FKT_PROBE_FOR(sched_waking, fkt_sched_waking_stack)
			: FKT_PROBE_FOR(sched_waking, fkt_sched_waking);
	fkt_process_points[FKT_POINT_WAKEUP_NEW].probe =
		fkt_stack_wanted(FKT_CODE_WAKEUP_NEW, 1)
			? FKT_PROBE_FOR(sched_wakeup_new, fkt_sched_wakeup_new_stack)
			: FKT_PROBE_FOR(sched_wakeup_new, fkt_sched_wakeup_new);
}

static int fkt_process_attach(const struct fkt_session *s, u32 keys)
{
	int ret = fkt_release_hook(), cpu;

	if (ret)
		return ret;
	/* The CPUs have switched since it was last hooked. */
	for_each_possible_cpu(cpu)
		per_cpu(fkt_leaving, cpu).task = NULL;
	fkt_process_choose();
	return fkt_tracepoints_attach(fkt_process_points, ARRAY_SIZE(fkt_process_points));
}

static void fkt_process_detach(void)
{
	fkt_tracepoints_detach(fkt_process_points, ARRAY_SIZE(fkt_process_points));
	if (fkt_release_hooked)
		unregister_kprobe(&fkt_release_probe);
	fkt_release_hooked = false;
}

const struct fkt_provider fkt_provider_process = {
	.name = "process",
	.keys = FKT_KEY_PROCESS,
	.attach = fkt_process_attach,
	.detach = fkt_process_detach,
};

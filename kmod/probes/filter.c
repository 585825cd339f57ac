// SPDX-License-Identifier: GPL-2.0-only
/*
 * Only what matters: which tasks are recorded, and on which CPUs.
 *
 * That is decided when a CPU switches to a task, and where a task changes its name (which execve()
 * does): the CPU's mask becomes what the task may record. Probes know nothing of it. Of a task that
 * is left out, the process events remain, which the analysis needs of all. An interrupt is the time
 * of whom it interrupts, and is recorded with it.
 *
 * Who was named by its number, and all that comes of it, is known by the address of its
 * task_struct, which is nobody else's until it has left its CPU for the last time.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>
#include "comm.h"
#include "compat.h"
#include "fkt.h"

#define FKT_FILTER_EACH_MAX 16

/* Who else is recorded with a task: the threads that come to its process, and its children. */
#define FKT_TASK_THREADS    1ul
#define FKT_TASK_CHILDREN   2ul
#define FKT_TASK_FLAGS	    (FKT_TASK_THREADS | FKT_TASK_CHILDREN)

/* --- What the recorder asked for ------------------------------------------------------------ */

/**
 * struct fkt_filter_root - who was named by its number
 * @pid: of the process, or of the thread
 * @flags: FKT_TASK_…
 */
struct fkt_filter_root {
	struct pid *pid;
	unsigned long flags;
};

/* What is in them is the session's lock's, and constant while attached. */
static struct {
	bool any;
	struct fkt_filter_root *root;
	u32 roots;
	struct fkt_comm comm[FKT_FILTER_EACH_MAX];
	u32 comms;
	kuid_t uid[FKT_FILTER_EACH_MAX];
	u32 uids;
	struct cgroup *cgroup[FKT_FILTER_EACH_MAX];
	u32 cgroups;
	struct cpumask cpus;
	bool some_cpus;
} fkt_filter;

static int fkt_filter_add_root(const struct fkt_filter_spec *spec)
{
	const bool process = spec->kind == FKT_FILTER_PID;
	struct fkt_filter_root *roots;
	struct pid *pid;
	bool there;

	if (spec->value > INT_MAX)
		return -EINVAL;
	roots = krealloc(fkt_filter.root, (fkt_filter.roots + 1) * sizeof(*roots), GFP_KERNEL);
	if (!roots)
		return -ENOMEM;
	fkt_filter.root = roots;
	pid = find_get_pid(spec->value);
	rcu_read_lock();
	there = pid && pid_task(pid, process ? PIDTYPE_TGID : PIDTYPE_PID);
	rcu_read_unlock();
	if (!there) {
		put_pid(pid);
		return -ESRCH;
	}
	roots[fkt_filter.roots++] = (struct fkt_filter_root){
		.pid = pid,
		.flags = (process ? FKT_TASK_THREADS : 0) |
			 (spec->flags & FKT_FILTER_CHILDREN ? FKT_TASK_CHILDREN : 0),
	};
	return 0;
}

static int fkt_filter_add_comm(const struct fkt_filter_spec *spec)
{
	char padded[TASK_COMM_LEN];

	if (fkt_filter.comms == FKT_FILTER_EACH_MAX)
		return -ENOSPC;
	if (!spec->comm[0] || strnlen(spec->comm, sizeof(spec->comm)) == sizeof(spec->comm))
		return -EINVAL;
	if (memchr_inv(spec->comm + strlen(spec->comm), 0, sizeof(spec->comm) - strlen(spec->comm)))
		return -EINVAL;
	strscpy_pad(padded, spec->comm, sizeof(padded));
	fkt_filter.comm[fkt_filter.comms++] = fkt_comm(padded);
	return 0;
}

static int fkt_filter_add_uid(const struct fkt_filter_spec *spec)
{
	kuid_t uid = make_kuid(current_user_ns(), spec->value);

	if (fkt_filter.uids == FKT_FILTER_EACH_MAX)
		return -ENOSPC;
	if (spec->value > U32_MAX || !uid_valid(uid))
		return -EINVAL;
	fkt_filter.uid[fkt_filter.uids++] = uid;
	return 0;
}

static int fkt_filter_add_cgroup(const struct fkt_filter_spec *spec)
{
	struct cgroup *cgroup;

	if (fkt_filter.cgroups == FKT_FILTER_EACH_MAX)
		return -ENOSPC;
	if (spec->value > INT_MAX)
		return -EINVAL;
	cgroup = fkt_cgroup_get(spec->value);
	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	fkt_filter.cgroup[fkt_filter.cgroups++] = cgroup;
	return 0;
}

static int fkt_filter_add_cpu(const struct fkt_filter_spec *spec)
{
	if (spec->value >= nr_cpu_ids || !cpu_possible(spec->value))
		return -EINVAL;
	cpumask_set_cpu(spec->value, &fkt_filter.cpus);
	fkt_filter.some_cpus = true;
	return 0;
}

static int fkt_filter_add_one(const struct fkt_filter_spec *spec)
{
	const bool root = spec->kind == FKT_FILTER_PID || spec->kind == FKT_FILTER_TID;

	if (spec->reserved || spec->flags & ~FKT_FILTER_CHILDREN || (spec->flags && !root) ||
	    (spec->kind != FKT_FILTER_COMM && memchr_inv(spec->comm, 0, sizeof(spec->comm))))
		return -EINVAL;
	switch (spec->kind) {
	case FKT_FILTER_PID:
	case FKT_FILTER_TID:
		return fkt_filter_add_root(spec);
	case FKT_FILTER_COMM:
		return fkt_filter_add_comm(spec);
	case FKT_FILTER_UID:
		return fkt_filter_add_uid(spec);
	case FKT_FILTER_CGROUP:
		return fkt_filter_add_cgroup(spec);
	case FKT_FILTER_CPU:
		return fkt_filter_add_cpu(spec);
	}
	return -EINVAL;
}

static int fkt_filter_add(struct fkt_specs *specs)
{
	const struct fkt_filter_spec *spec = specs->spec;
	int ret;

	if (specs->count > FKT_FILTERS_MAX - fkt_filter.roots)
		return -EINVAL;
	for (; specs->done < specs->count; specs->done++) {
		ret = fkt_filter_add_one(&spec[specs->done]);
		if (ret)
			return ret;
		fkt_filter.any = true;
	}
	return 0;
}

static void fkt_filter_clear(void)
{
	u32 i;

	for (i = 0; i < fkt_filter.roots; i++)
		put_pid(fkt_filter.root[i].pid);
	for (i = 0; i < fkt_filter.cgroups; i++)
		fkt_cgroup_put(fkt_filter.cgroup[i]);
	kfree(fkt_filter.root);
	memset(&fkt_filter, 0, sizeof(fkt_filter));
}

/* --- Who was named, and what comes of it ---------------------------------------------------- */

#define FKT_TASK_BITS 14
#define FKT_TASK_WAYS 8

/* A word is a task's address, and FKT_TASK_… in its low bits, which are zeros. 0: free. */
struct fkt_filter_tasks {
	unsigned long word[1 << FKT_TASK_BITS][FKT_TASK_WAYS];
};

/* There while it is hooked, if anybody was named. */
static struct fkt_filter_tasks *fkt_filter_tasks;
/* Tasks for which there was no place. */
static atomic64_t fkt_filter_full;

static unsigned long *fkt_task_line(const struct task_struct *p)
{
	return fkt_filter_tasks->word[hash_ptr((void *)p, FKT_TASK_BITS)];
}

/* Its word, or 0. */
static unsigned long fkt_task_find(const struct task_struct *p)
{
	const unsigned long *line = fkt_task_line(p);
	unsigned long word;
	u32 i;

	for (i = 0; i < FKT_TASK_WAYS; i++) {
		word = READ_ONCE(line[i]);
		if ((word & ~FKT_TASK_FLAGS) == (unsigned long)p)
			return word;
	}
	return 0;
}

/* It may be added twice, by two CPUs at a time. Where it is already, flags are added. */
static void fkt_task_add(const struct task_struct *p, unsigned long flags)
{
	unsigned long *line = fkt_task_line(p), word;
	u32 i, tries;

	for (tries = 0; tries < FKT_TASK_WAYS; tries++) {
		word = fkt_task_find(p);
		if (word && !(flags & ~word))
			return;
		for (i = 0; i < FKT_TASK_WAYS && READ_ONCE(line[i]) != word; i++)
			;
		/* No place; or somebody adds to it. */
		if (i == FKT_TASK_WAYS && !word)
			break;
		if (i < FKT_TASK_WAYS &&
		    cmpxchg(&line[i], word, (unsigned long)p | word | flags) == word)
			return;
	}
	atomic64_inc(&fkt_filter_full);
}

static void fkt_task_forget(const struct task_struct *p)
{
	unsigned long *line = fkt_task_line(p);
	u32 i;

	for (i = 0; i < FKT_TASK_WAYS; i++)
		if ((READ_ONCE(line[i]) & ~FKT_TASK_FLAGS) == (unsigned long)p)
			WRITE_ONCE(line[i], 0);
}

/* One that was there before the recording; it may be ending. RCU keeps its memory. */
static void fkt_task_add_old(const struct task_struct *p, unsigned long flags)
{
	fkt_task_add(p, flags);
	smp_mb(); /* partner: the scheduler's, between the state and the switch's tracepoint */
	if (READ_ONCE(p->__state) & TASK_DEAD)
		fkt_task_forget(p);
}

static void fkt_filter_add_tasks(void)
{
	struct task_struct *p, *thread;
	u32 i;

	rcu_read_lock();
	for (i = 0; i < fkt_filter.roots; i++) {
		const struct fkt_filter_root *root = &fkt_filter.root[i];

		if (!(root->flags & FKT_TASK_THREADS)) {
			p = pid_task(root->pid, PIDTYPE_PID);
			if (p)
				fkt_task_add_old(p, root->flags);
			continue;
		}
		/* A new thread comes last: it is found, or fkt_filter_new() finds its maker. */
		p = pid_task(root->pid, PIDTYPE_TGID);
		if (p)
			for_each_thread(p, thread) fkt_task_add_old(thread, root->flags);
	}
	rcu_read_unlock();
}

/* The current task has made another one, which has not run yet. */
static void fkt_filter_new(void *data, struct task_struct *p, FKT_CLONE_FLAGS clone_flags)
{
	unsigned long word, flags;
	FKT_PROBE_GUARD();

	smp_mb(); /* partner: the exchange in fkt_task_add(); it is in its process's list already */
	word = fkt_task_find(current);
	flags = word & FKT_TASK_FLAGS;
	if (p->tgid == current->tgid) {
		if (flags)
			fkt_task_add(p, flags);
	} else if (flags & FKT_TASK_CHILDREN) {
		fkt_task_add(p, FKT_TASK_THREADS | FKT_TASK_CHILDREN);
	}
}

/* --- What the current task may record ------------------------------------------------------- */

/**
 * fkt_filter_has_cpu - whether events of a CPU are to be recorded, as far as that decides
 * @cpu: its number, which a program may have made up
 * Context: process; a recording runs, or ends.
 */
bool fkt_filter_has_cpu(u32 cpu)
{
	return !fkt_filter.some_cpus ||
	       (cpu < nr_cpu_ids && cpumask_test_cpu(cpu, &fkt_filter.cpus));
}

static bool fkt_filter_passes(const struct task_struct *p, const struct fkt_comm *comm)
{
	bool met;
	u32 i;

	if (fkt_filter_tasks && !fkt_task_find(p))
		return false;
	for (i = 0, met = !fkt_filter.comms; i < fkt_filter.comms && !met; i++)
		met = comm->word[0] == fkt_filter.comm[i].word[0] &&
		      comm->word[1] == fkt_filter.comm[i].word[1];
	/* Interrupts are off, or it is within RCU: what the task has stays. */
	for (i = 0; i < fkt_filter.uids && met; i++)
		if (uid_eq(rcu_dereference_raw(p->real_cred)->uid, fkt_filter.uid[i]))
			break;
	met = met && (i < fkt_filter.uids || !fkt_filter.uids);
	for (i = 0; i < fkt_filter.cgroups && met; i++)
		if (fkt_task_is_in(p, fkt_filter.cgroup[i]))
			break;
	return met && (i < fkt_filter.cgroups || !fkt_filter.cgroups);
}

/* What a task may record that is this CPU's, or is about to be. Interrupts are off. */
static u32 fkt_filter_ask(const struct task_struct *p, const struct fkt_comm *comm, bool tell)
{
	const bool passes = fkt_filter_has_cpu(raw_smp_processor_id()) &&
			    fkt_filter_passes(p, comm);
	const u32 may = passes ? ~0u : FKT_KEY_PROCESS;

	if ((may != fkt_mask_may() || tell) && fkt_on_for_all(FKT_KEY_PROCESS))
		FKT_EVENT(FKT_CODE_FILTER, may != FKT_KEY_PROCESS, fkt_pair(p->pid, 0));
	return may;
}

/*
 * The active mask is on, and this CPU is looked at only later: from here on it follows, and says
 * who is current. Otherwise what it records would be that of whom nobody has switched to.
 * Interrupts are off.
 */
static void fkt_filter_follow(void)
{
	if (likely(this_cpu_read(fkt_cpu_mask) & FKT_KEY_PROCESS) ||
	    !fkt_on_for_all(FKT_KEY_PROCESS))
		return;
	fkt_session_say_current(NULL);
	fkt_mask_let(fkt_mask_may());
}

/* What the task may record that this CPU is about to switch to. */
static DEFINE_PER_CPU(u32, fkt_filter_next);

/*
 * Before the switch's own event, so that whoever reads that knows. A page that began behind it
 * would be said to begin with the task that leaves.
 */
static void fkt_filter_switches(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	const struct fkt_comm comm = fkt_comm(next->comm);
	FKT_PROBE_GUARD();

	fkt_filter_follow();
	this_cpu_write(fkt_filter_next, fkt_filter_ask(next, &comm, false));
}

/* After the other probes of this tracepoint, which record for the task that leaves. */
static void fkt_filter_switch(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	const u32 may = this_cpu_read(fkt_filter_next);
	FKT_PROBE_GUARD();

	/* 0: hooked only since the other one was called. */
	if (may)
		fkt_mask_let(may);
	this_cpu_write(fkt_filter_next, 0);
	/* It leaves for the last time: its address may be another one's. */
	if (unlikely(prev_state & TASK_DEAD) && fkt_filter_tasks)
		fkt_task_forget(prev);
}

static void fkt_filter_rename(void *data, struct task_struct *p, const char *name)
{
	char padded[TASK_COMM_LEN];
	struct fkt_comm comm;
	unsigned long irqs;
	FKT_PROBE_GUARD();

	/* Another one is looked at when it runs again. */
	if (p != current)
		return;
	strscpy_pad(padded, name, sizeof(padded));
	comm = fkt_comm(padded);
	raw_local_irq_save(irqs);
	fkt_filter_follow();
	fkt_mask_let(fkt_filter_ask(p, &comm, false));
	raw_local_irq_restore(irqs);
}

/**
 * fkt_filter_looks - whether there is a filter
 * Context: the session's lock.
 */
bool fkt_filter_looks(void)
{
	return fkt_filter.any;
}

/**
 * fkt_filter_look - look at this CPU's current task, and say in the trace what came of it
 * @unused: for on_each_cpu()
 * Context: interrupts off; the active mask has been changed.
 */
void fkt_filter_look(void *unused)
{
	const struct fkt_comm comm = fkt_comm(current->comm);

	if (fkt_on_for_all(~0u) && !this_cpu_read(fkt_cpu_mask))
		fkt_session_say_current(NULL);
	fkt_mask_let(fkt_filter_ask(current, &comm, true));
}

/**
 * fkt_filter_has - whether a thread is to be recorded that says something of itself
 * @pid: the thread
 *
 * Context: process; a recording runs, or ends.
 * Return: FKT_FILTER_UNKNOWN of a thread that has ended, where only threads can be asked.
 */
enum fkt_filter_has fkt_filter_has(struct pid *pid)
{
	enum fkt_filter_has has = FKT_FILTER_UNKNOWN;
	const struct task_struct *p;
	struct fkt_comm comm;

	if (!fkt_filter_tasks && !fkt_filter.comms && !fkt_filter.uids && !fkt_filter.cgroups)
		return FKT_FILTER_HAS;
	rcu_read_lock();
	p = pid_task(pid, PIDTYPE_PID);
	if (p) {
		comm = fkt_comm(p->comm);
		/*
		 * One that has ended may still be found, when it was forgotten here already.
		 * Partner: its last switch, which forgets it, and it ended before that.
		 */
		if (fkt_filter_passes(p, &comm)) {
			has = FKT_FILTER_HAS;
		} else {
			smp_rmb();
			has = READ_ONCE(p->exit_state) ? FKT_FILTER_UNKNOWN : FKT_FILTER_HAS_NOT;
		}
	}
	rcu_read_unlock();
	return has;
}

/* --- Attaching ------------------------------------------------------------------------------ */

static struct fkt_tracepoint fkt_filter_points[] = {
	FKT_POINT(sched_switch, fkt_filter_switches),
	{ .name = "sched_switch",
	  .probe = FKT_PROBE_FOR(sched_switch, fkt_filter_switch),
	  .last = true },
	FKT_POINT(task_rename, fkt_filter_rename),
};

static struct fkt_tracepoint fkt_filter_task_points[] = {
	FKT_POINT(task_newtask, fkt_filter_new),
};

/**
 * fkt_filter_begin - before the mask of a recording is set for the first time
 *
 * Hooked for as long as the recording lasts, whatever the mask is: what comes of a task while
 * nothing is recorded belongs to it, too.
 *
 * Context: the session's lock; may sleep.
 * Return: 0 or a negative errno value.
 */
int fkt_filter_begin(void)
{
	int ret = 0;

	atomic64_set(&fkt_filter_full, 0);
	if (!fkt_filter.any)
		return 0;
	fkt_mask_let_all(FKT_KEY_PROCESS);
	if (fkt_filter.roots) {
		fkt_filter_tasks = kvzalloc(sizeof(*fkt_filter_tasks), GFP_KERNEL);
		if (!fkt_filter_tasks)
			ret = -ENOMEM;
		else
			ret = fkt_tracepoints_attach(fkt_filter_task_points,
						     ARRAY_SIZE(fkt_filter_task_points));
	}
	if (!ret)
		ret = fkt_tracepoints_attach(fkt_filter_points, ARRAY_SIZE(fkt_filter_points));
	if (ret)
		fkt_filter_end();
	else if (fkt_filter_tasks)
		fkt_filter_add_tasks();
	return ret;
}

/**
 * fkt_filter_end - the mask of the recording has been turned off for good
 * Context: the session's lock; may sleep.
 */
void fkt_filter_end(void)
{
	if (!fkt_filter.any)
		return;
	fkt_tracepoints_detach(fkt_filter_points, ARRAY_SIZE(fkt_filter_points));
	fkt_tracepoints_detach(fkt_filter_task_points, ARRAY_SIZE(fkt_filter_task_points));
	kvfree(fkt_filter_tasks);
	fkt_filter_tasks = NULL;
	fkt_mask_let_all(~0u);
}

static void fkt_filter_status(struct fkt_status *status)
{
	status->untracked = atomic64_read(&fkt_filter_full);
}

const struct fkt_provider fkt_provider_filter = {
	.name = "filter",
	.spec_bytes = sizeof(struct fkt_filter_spec),
	.count_max = FKT_FILTERS_MAX,
	.harmless = true,
	.add = fkt_filter_add,
	.clear = fkt_filter_clear,
	.status = fkt_filter_status,
};

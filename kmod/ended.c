// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of threads that have ended, while a recording overwrites: what said how they are called
 * may be gone before what they did is.
 */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "compat.h"
#include "fkt.h"

/*
 * Filled round and round. The table is allocated with the session's lock, where no probe can run,
 * and freed with the module; an entry is the probe's that has counted to it.
 */
static struct fkt_ended *fkt_ended;
static atomic_t fkt_ended_count;

/**
 * fkt_ended_begin - a recording begins: forget the threads of the one before
 * @s: the session
 * Context: the session's lock, no probe can run; may sleep.
 * Return: 0 or -ENOMEM.
 */
int fkt_ended_begin(struct fkt_session *s)
{
	if (!fkt_overwrites(s))
		return 0;
	if (!fkt_ended)
		fkt_ended = vcalloc(FKT_ENDED_MAX, sizeof(*fkt_ended));
	if (!fkt_ended)
		return -ENOMEM;
	memset(fkt_ended, 0, FKT_ENDED_MAX * sizeof(*fkt_ended));
	atomic_set(&fkt_ended_count, 0);
	return 0;
}

/**
 * fkt_ended_add - a thread ends
 * @p: the thread, which is current
 * Context: a probe.
 */
void fkt_ended_add(const struct task_struct *p)
{
	u32 at = (u32)atomic_inc_return(&fkt_ended_count) - 1;
	struct fkt_ended *ended = &fkt_ended[at % FKT_ENDED_MAX];

	WRITE_ONCE(ended->tid, 0);
	smp_wmb(); /* partner: the first smp_rmb() in fkt_ended_copy() */
	ended->pid = p->tgid;
	ended->ppid = rcu_dereference_raw(p->real_parent)->tgid;
	data_race(memcpy(ended->comm, p->comm, sizeof(ended->comm))); /* as in fkt_comm() */
	smp_wmb(); /* partner: the second one there */
	WRITE_ONCE(ended->tid, p->pid);
}

/* False when it is just being written. */
static bool fkt_ended_copy(struct fkt_ended *to, const struct fkt_ended *from)
{
	const u32 tid = READ_ONCE(from->tid);

	smp_rmb(); /* partner: the second smp_wmb() in fkt_ended_add() */
	/* What it may be torn by is found below. */
	data_race(memcpy(to, from, sizeof(*to)));
	smp_rmb(); /* partner: the first one there */
	return tid && READ_ONCE(from->tid) == tid && to->tid == tid;
}

/**
 * fkt_ended_list - the threads that have ended, the last one first
 * @to: where to
 * @room: how many fit there
 * @count: receives how many there are; all are at @to if they are not more than @room
 *
 * Context: process; may sleep. Not while a recording may begin: the session's lock must not be held
 * over what a user's memory does, so a table that begins anew meanwhile is copied as it is then.
 * Return: 0 or -EFAULT.
 */
int fkt_ended_list(struct fkt_ended __user *to, u32 room, u32 *count)
{
	const struct fkt_ended *table = READ_ONCE(fkt_ended);
	const u32 last = atomic_read(&fkt_ended_count);
	struct fkt_ended one;
	u32 i;

	*count = 0;
	for (i = 0; table && i < min_t(u32, last, FKT_ENDED_MAX); i++) {
		if (!fkt_ended_copy(&one, &table[(last - 1 - i) % FKT_ENDED_MAX]))
			continue;
		if (*count < room && copy_to_user(&to[*count], &one, sizeof(one)))
			return -EFAULT;
		++*count;
		cond_resched();
	}
	return 0;
}

/**
 * fkt_ended_free - give the memory back
 * Context: module unload.
 */
void fkt_ended_free(void)
{
	vfree(fkt_ended);
	fkt_ended = NULL;
}

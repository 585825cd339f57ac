/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of threads, as they are in events. */
#ifndef FKT_COMM_H
#define FKT_COMM_H

#include <linux/build_bug.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "fkt.h"

/*
 * A process name as two words; what follows its NUL is zero, as the kernel keeps it. Another thread
 * may be changing it (/proc/PID/comm), and half of it is then the new one, as for ps: the event of
 * the change follows.
 */
struct fkt_comm {
	u64 word[2];
};
static_assert(sizeof(struct fkt_comm) == TASK_COMM_LEN);

static __always_inline struct fkt_comm fkt_comm(const char *from)
{
	struct fkt_comm comm;

	data_race(memcpy(&comm, from, sizeof(comm)));
	return comm;
}

/**
 * fkt_record_name - record the name of a thread
 * @p: the thread
 * @name: its name
 *
 * Context: as for fkt_event_n().
 */
static inline void fkt_record_name(const struct task_struct *p, const char *name)
{
	char padded[TASK_COMM_LEN];
	struct fkt_comm comm;

	strscpy_pad(padded, name, sizeof(padded));
	comm = fkt_comm(padded);
	FKT_EVENT(FKT_CODE_RENAME, 0, fkt_pair(p->pid, p->tgid), comm.word[0], comm.word[1]);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Perf events of the kernel, as counters and for samples: perf_event.c. */
#ifndef FKT_PERF_EVENT_H
#define FKT_PERF_EVENT_H

#include <linux/perf_event.h>
#include <linux/types.h>

typedef void (*fkt_perf_handler)(struct perf_event *event, struct perf_sample_data *data,
				 struct pt_regs *regs);

/* Whether a recorder may ask for such a perf event. */
bool fkt_perf_event_valid(u32 type, u64 config);

/* Whether it counts nanoseconds. */
bool fkt_perf_event_is_clock(u32 type, u64 config);

/**
 * fkt_perf_event_make - have a CPU count
 * @attr: what, and what for; it is pinned: it counts all the time, or there is no room for it among
 *	those that count already
 * @handler: called when it has counted so much, in whatever context that was; NULL: nobody
 * @result: the event, also with -ENOSPC; left as it is where the CPU has just gone
 *
 * Return: 0, -ENOENT where this machine has no such counter, -ENOSPC, or another error of perf's.
 * Context: may sleep.
 */
int fkt_perf_event_make(const struct perf_event_attr *attr, int cpu, fkt_perf_handler handler,
			struct perf_event **result);

/* What fkt_perf_event_make() gave. Context: may sleep; nobody reads it any more. */
void fkt_perf_event_release(struct perf_event *event);

#endif

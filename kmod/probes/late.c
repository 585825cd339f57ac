// SPDX-License-Identifier: GPL-2.0-only
/*
 * What takes a CPU and is no event: seen when a timer's interrupt comes, by how late that is, and
 * by the time that the hypervisor says it has taken.
 *
 * A timer is late as well where the kernel has had interrupts off. Who reads the trace knows what
 * else was there.
 */
#include <linux/hrtimer.h>
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <trace/events/timer.h>
#include "compat.h"
#include "fkt.h"

/* Interrupts take some microseconds to come, on any machine. */
#define FKT_LATE_NS 10000

/**
 * struct fkt_late - what is known of a CPU, on it alone
 * @ns: how late the timer is whose function runs, 0 where that is little
 * @stolen_ns: what the hypervisor had taken when that was looked at last
 */
struct fkt_late {
	u64 ns;
	u64 stolen_ns;
};

static DEFINE_PER_CPU(struct fkt_late, fkt_late);

/* Timers that softirqs run are late for other reasons. */
static void fkt_timer_begins(void *data, struct hrtimer *timer, ktime_t now)
{
	s64 ns = ktime_sub(now, hrtimer_get_expires(timer));
	FKT_PROBE_GUARD();

	if (in_hardirq())
		this_cpu_write(fkt_late.ns, ns >= FKT_LATE_NS ? ns : 0);
}

/* Where kernels tell the time by its address. */
static void fkt_timer_begins_at(void *data, struct hrtimer *timer, ktime_t *now)
{
	fkt_timer_begins(data, timer, *now);
}

/* The kernel asks the hypervisor in the tick, which is such a timer. */
static void fkt_timer_ends(void *data, struct hrtimer *timer)
{
	u64 stolen_ns, all_ns, late_ns;
	FKT_PROBE_GUARD();

	if (!in_hardirq())
		return;
	all_ns = kcpustat_this_cpu->cpustat[CPUTIME_STEAL];
	stolen_ns = all_ns - this_cpu_read(fkt_late.stolen_ns);
	late_ns = this_cpu_read(fkt_late.ns);
	this_cpu_write(fkt_late.stolen_ns, all_ns);
	this_cpu_write(fkt_late.ns, 0);
	if ((stolen_ns || late_ns) && fkt_on(FKT_KEY_SYSTEM) && !is_idle_task(current))
		FKT_EVENT(FKT_CODE_LATE, 0, late_ns, stolen_ns);
}

static struct fkt_tracepoint fkt_late_points[] = {
	{
		.name = "hrtimer_expire_entry",
		.probe = FKT_PROBE_FOR_EITHER(hrtimer_expire_entry, fkt_timer_begins,
					      fkt_timer_begins_at),
	},
	FKT_POINT(hrtimer_expire_exit, fkt_timer_ends),
};

static void fkt_late_begin(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(fkt_late, cpu) = (struct fkt_late){
			.stolen_ns = kcpustat_cpu(cpu).cpustat[CPUTIME_STEAL],
		};
}

static int fkt_late_attach(const struct fkt_session *s, u32 keys)
{
	return fkt_tracepoints_attach(fkt_late_points, ARRAY_SIZE(fkt_late_points));
}

static void fkt_late_detach(void)
{
	fkt_tracepoints_detach(fkt_late_points, ARRAY_SIZE(fkt_late_points));
}

const struct fkt_provider fkt_provider_late = {
	.name = "late timer",
	.keys = FKT_KEY_SYSTEM,
	.begin = fkt_late_begin,
	.attach = fkt_late_attach,
	.detach = fkt_late_detach,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples by a counter: a perf event of the kernel, one for each CPU, calls when it has counted so
 * much, and what it has interrupted is recorded. Where the processor counts, that is an NMI, which
 * sees code that has interrupts off, too.
 *
 * The events are there from when the recorder has named the counter until the recording has ended.
 * They can't be made where a CPU comes: that takes locks which are held then.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include "compat.h"
#include "fkt.h"
#include "perf_event.h"
#include "profile.h"

/**
 * struct fkt_overflow - the samples of a CPU
 * @event: what counts; NULL: nothing does
 * @late: samples, at least, that did not come: see fkt_status.late; written on that CPU
 */
struct fkt_overflow {
	struct perf_event *event;
	u64 late;
};

static DEFINE_PER_CPU(struct fkt_overflow, fkt_overflows);

/* Whether there are any; the session's lock. */
static bool fkt_overflow_any;

#ifdef CONFIG_PERF_EVENTS
/* The scheduler has called perf, which has made up registers. */
static bool fkt_overflow_is_called(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* Context: whatever the event comes in, NMI included. */
static void fkt_overflow(struct perf_event *event, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	struct fkt_overflow *overflow;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_PROFILE) || !regs || fkt_profile_is_idle())
		return;
	overflow = this_cpu_ptr(&fkt_overflows);
	/* The kernel lets it rest until the next tick: they are too many. */
	if (event->hw.interrupts == FKT_PERF_THROTTLED)
		WRITE_ONCE(overflow->late, overflow->late + 1);
	fkt_profile_record(regs, 0, fkt_overflow_is_called(event));
}

static bool fkt_overflow_counts(const struct perf_event *event)
{
	return event && READ_ONCE(event->state) > PERF_EVENT_STATE_OFF;
}

static void fkt_overflow_stop(struct perf_event *event)
{
	perf_event_disable(event);
}
#else
#define fkt_overflow NULL

static bool fkt_overflow_counts(const struct perf_event *event)
{
	return false;
}

static void fkt_overflow_stop(struct perf_event *event)
{
}
#endif

static void fkt_overflow_begin(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(fkt_overflows, cpu).late = 0;
}

static bool fkt_overflow_valid(const struct fkt_overflow_spec *spec)
{
	if (!fkt_perf_event_valid(spec->type, spec->config) || !spec->hz == !spec->period)
		return false;
	if (fkt_perf_event_is_clock(spec->type, spec->config) && !spec->hz &&
	    spec->period < FKT_OVERFLOW_NS_MIN)
		return false;
	return spec->hz <= FKT_PROFILE_HZ_MAX && spec->period <= S64_MAX;
}

static void fkt_overflow_clear(void)
{
	struct perf_event **event;
	int cpu;

	for_each_possible_cpu(cpu) {
		event = &per_cpu(fkt_overflows, cpu).event;
		if (*event)
			fkt_perf_event_release(*event);
		*event = NULL;
	}
	fkt_overflow_any = false;
}

/* It counts from here on, and samples are taken once the layer is on. */
static int fkt_overflow_add(struct fkt_specs *specs)
{
	const struct fkt_overflow_spec *spec = specs->spec;
	const struct perf_event_attr attr = {
		.type = spec->type,
		.config = spec->config,
		.sample_period = spec->hz ?: spec->period,
		.freq = !!spec->hz,
	};
	int cpu, ret = 0;

	if (fkt_overflow_any || !fkt_overflow_valid(spec))
		return -EINVAL;
	for_each_online_cpu(cpu) {
		ret = fkt_perf_event_make(&attr, cpu, fkt_overflow,
					  &per_cpu(fkt_overflows, cpu).event);
		if (ret)
			break;
	}
	if (ret)
		fkt_overflow_clear();
	else
		fkt_overflow_any = true;
	return ret;
}

static int fkt_overflow_attach(const struct fkt_session *s, u32 keys)
{
	if (fkt_overflow_any)
		fkt_profile_prepare();
	return 0;
}

/* The layer is off: what comes from here on is no sample any more. */
static void fkt_overflow_detach(void)
{
	struct fkt_overflow *overflow;
	int cpu;

	if (!fkt_overflow_any)
		return;
	for_each_online_cpu(cpu) {
		overflow = &per_cpu(fkt_overflows, cpu);
		/* It came later, or has been away: it had no samples, or not all. */
		if (!fkt_overflow_counts(overflow->event))
			WRITE_ONCE(overflow->late, overflow->late + 1);
	}
	for_each_possible_cpu(cpu)
		if (per_cpu(fkt_overflows, cpu).event)
			fkt_overflow_stop(per_cpu(fkt_overflows, cpu).event);
	/* A software event's handler may have been interrupted for the stop. */
	synchronize_rcu();
}

/* Behind the timers', of which there are none then. */
static void fkt_overflow_status(struct fkt_status *status)
{
	int cpu;

	for_each_possible_cpu(cpu)
		status->late += READ_ONCE(per_cpu(fkt_overflows, cpu).late);
}

const struct fkt_provider fkt_provider_overflow = {
	.name = "overflow",
	.keys = FKT_KEY_PROFILE,
	.spec_bytes = sizeof(struct fkt_overflow_spec),
	.count_max = 1,
	.begin = fkt_overflow_begin,
	.add = fkt_overflow_add,
	.clear = fkt_overflow_clear,
	.attach = fkt_overflow_attach,
	.detach = fkt_overflow_detach,
	.status = fkt_overflow_status,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters: what perf events of the kernel have counted on a CPU, as an event of its own right
 * before that of a system call, an interrupt or a switch, in a probe that comes before the other
 * ones; probes of functions and vectors ask for it. All others know nothing of it.
 *
 * There is a perf event for each counter and CPU, from when the recorder has named it until the
 * recording has ended. The kernel's perf_event_read_local() is not for modules; what it does for an
 * event of this CPU alone is little, and waits for nobody.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/syscalls.h>
#include <asm/local64.h>
#include "compat.h"
#include "counters.h"
#include "fkt.h"
#include "perf_event.h"

/**
 * struct fkt_counters - the counters of a CPU
 * @event: each; NULL where the CPU was not there when they were made
 * @busy: they are being read: what that runs through may be traced
 * @uncounted: events of which some did not count, see struct fkt_status
 */
struct fkt_counters {
	struct perf_event *event[FKT_COUNTERS_MAX];
	bool busy;
	u64 uncounted;
};

static DEFINE_PER_CPU(struct fkt_counters, fkt_counters);

/* How many there are, the session's lock; constant while attached, as are the others. */
static u32 fkt_counters_count;
/* Those that are counted by something else than an addition to the event: it has to be asked. */
static u32 fkt_counters_asked;
/* Those that count a switch right after its event, which is still that of who leaves. */
static u32 fkt_counters_switches;

bool fkt_counters_wanted(void)
{
	return fkt_counters_count;
}

/* --- A perf event --------------------------------------------------------------------------- */

#ifdef CONFIG_PERF_EVENTS
/* Return: whether it counts now; what it has counted is in @value in any case. */
static __always_inline bool fkt_counter_read(struct perf_event *event, bool ask, u64 *value)
{
	bool counts;

	*value = 0;
	if (unlikely(!event))
		return false;
	/* Elsewhere it is not: it was made for this CPU. It is off where the CPU has been away. */
	counts = READ_ONCE(event->oncpu) == raw_smp_processor_id();
	if (counts && ask)
		event->pmu->read(event);
	*value = local64_read(&event->count);
	return counts;
}
#else
static bool fkt_counter_read(struct perf_event *event, bool ask, u64 *value)
{
	*value = 0;
	return false;
}
#endif

/* --- Reading them --------------------------------------------------------------------------- */

static __always_inline void fkt_counters_record(u32 more)
{
	struct fkt_counters *counters = this_cpu_ptr(&fkt_counters);
	u64 value[FKT_COUNTERS_MAX];
	unsigned long irqs;
	u16 missing = 0;
	u32 i;

	/* Who interrupts this has later readings: they are to stand behind these. */
	raw_local_irq_save(irqs);
	if (unlikely(counters->busy))
		goto out;
	WRITE_ONCE(counters->busy, true);
	barrier(); /* partner: whoever is traced here, or an NMI, on this CPU */
	for (i = 0; i < fkt_counters_count; i++) {
		if (!fkt_counter_read(counters->event[i], fkt_counters_asked & BIT(i), &value[i]))
			missing |= BIT(i);
		value[i] += !!(more & BIT(i));
	}
	if (unlikely(missing))
		WRITE_ONCE(counters->uncounted, counters->uncounted + 1);
	fkt_event_tag(FKT_TAG(FKT_CODE_COUNTERS, i, missing), i, value);
	barrier(); /* partner: the same */
	WRITE_ONCE(counters->busy, false);
out:
	raw_local_irq_restore(irqs);
}

void fkt_counters_tell(void)
{
	fkt_counters_record(0);
}
NOKPROBE_SYMBOL(fkt_counters_tell);

/* --- The probes ----------------------------------------------------------------------------- */

static void fkt_counters_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		fkt_counters_record(0);
}

static void fkt_counters_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		fkt_counters_record(0);
}

static void fkt_counters_irq_entry(void *data, int irq, struct irqaction *action)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		fkt_counters_record(0);
}

static void fkt_counters_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		fkt_counters_record(0);
}

static void fkt_counters_softirq(void *data, unsigned int vec)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		fkt_counters_record(0);
}

static void fkt_counters_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_PROCESS))
		fkt_counters_record(fkt_counters_switches);
}

#define FKT_POINT_FIRST(event, function)                                                           \
	{                                                                                          \
		.name = #event, .probe = FKT_PROBE_FOR(event, function), .first = true             \
	}

static struct fkt_tracepoint fkt_counters_system[] = {
	FKT_POINT_FIRST(sys_enter, fkt_counters_sys_enter),
	FKT_POINT_FIRST(sys_exit, fkt_counters_sys_exit),
	FKT_POINT_FIRST(irq_handler_entry, fkt_counters_irq_entry),
	FKT_POINT_FIRST(irq_handler_exit, fkt_counters_irq_exit),
	FKT_POINT_FIRST(softirq_entry, fkt_counters_softirq),
	FKT_POINT_FIRST(softirq_exit, fkt_counters_softirq),
};

static struct fkt_tracepoint fkt_counters_process[] = {
	FKT_POINT_FIRST(sched_switch, fkt_counters_switch),
};

static int fkt_counters_attach(const struct fkt_session *s, u32 keys)
{
	int ret = 0;

	if (!fkt_counters_count)
		return 0;
	if (keys & FKT_KEY_PROCESS)
		ret = fkt_tracepoints_attach(fkt_counters_process,
					     ARRAY_SIZE(fkt_counters_process));
	if (!ret && keys & FKT_KEY_SYSTEM)
		ret = fkt_tracepoints_attach(fkt_counters_system, ARRAY_SIZE(fkt_counters_system));
	return ret;
}

static void fkt_counters_detach(void)
{
	/* It takes two grace periods. */
	if (!fkt_counters_count)
		return;
	fkt_tracepoints_detach(fkt_counters_system, ARRAY_SIZE(fkt_counters_system));
	fkt_tracepoints_detach(fkt_counters_process, ARRAY_SIZE(fkt_counters_process));
}

static void fkt_counters_begin(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(fkt_counters, cpu).uncounted = 0;
}

static void fkt_counters_status(struct fkt_status *status)
{
	int cpu;

	status->uncounted = 0;
	for_each_possible_cpu(cpu)
		status->uncounted += READ_ONCE(per_cpu(fkt_counters, cpu).uncounted);
}

/* --- What the recorder asked for ------------------------------------------------------------ */

static bool fkt_counter_valid(const struct fkt_counter_spec *spec)
{
	return !spec->reserved && fkt_perf_event_valid(spec->type, spec->config);
}

/* Give one back, on all CPUs. */
static void fkt_counter_free(u32 number)
{
	struct perf_event **event;
	int cpu;

	for_each_possible_cpu(cpu) {
		event = &per_cpu(fkt_counters, cpu).event[number];
		if (*event)
			fkt_perf_event_release(*event);
		*event = NULL;
	}
}

static int fkt_counter_add(const struct fkt_counter_spec *spec)
{
	const struct perf_event_attr attr = { .type = spec->type, .config = spec->config };
	const u32 number = fkt_counters_count;
	int cpu, ret = 0;

	for_each_online_cpu(cpu) {
		ret = fkt_perf_event_make(&attr, cpu, NULL,
					  &per_cpu(fkt_counters, cpu).event[number]);
		if (ret)
			break;
	}
	if (ret) {
		fkt_counter_free(number);
		return ret;
	}
	if (spec->type != PERF_TYPE_SOFTWARE || fkt_perf_event_is_clock(spec->type, spec->config))
		fkt_counters_asked |= BIT(number);
	if (spec->type == PERF_TYPE_SOFTWARE && spec->config == PERF_COUNT_SW_CONTEXT_SWITCHES)
		fkt_counters_switches |= BIT(number);
	fkt_counters_count++;
	return 0;
}

static int fkt_counters_add(struct fkt_specs *specs)
{
	const struct fkt_counter_spec *spec = specs->spec;
	u32 i;
	int ret;

	if (specs->count > FKT_COUNTERS_MAX - fkt_counters_count)
		return -EINVAL;
	for (i = 0; i < specs->count; i++)
		if (!fkt_counter_valid(&spec[i]))
			return -EINVAL;
	for (i = 0; i < specs->count; i++) {
		ret = fkt_counter_add(&spec[i]);
		if (ret)
			return ret;
		specs->done++;
	}
	return 0;
}

static void fkt_counters_clear(void)
{
	while (fkt_counters_count)
		fkt_counter_free(--fkt_counters_count);
	fkt_counters_asked = 0;
	fkt_counters_switches = 0;
}

const struct fkt_provider fkt_provider_counters = {
	.name = "counter",
	.keys = FKT_KEY_SYSTEM | FKT_KEY_PROCESS,
	.spec_bytes = sizeof(struct fkt_counter_spec),
	.count_max = FKT_COUNTERS_MAX,
	.harmless = true,
	.begin = fkt_counters_begin,
	.add = fkt_counters_add,
	.clear = fkt_counters_clear,
	.attach = fkt_counters_attach,
	.detach = fkt_counters_detach,
	.status = fkt_counters_status,
};

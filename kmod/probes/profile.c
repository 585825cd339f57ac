// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples: a timer on each CPU, so many times a second, records what its interrupt has interrupted.
 *
 * The timer is bound to its CPU. It is started when the CPU comes and cancelled before it goes, on
 * that CPU itself, so that no callback runs meanwhile, and none is left when probes are detached.
 */
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <asm/irq_regs.h>
#include "compat.h"
#include "fkt.h"
#include "profile.h"
#include "stacks.h"

/* Samples may take a part of a CPU's time: after each there is none for so many times as long. */
#define FKT_PROFILE_REST 3

/**
 * struct fkt_profile - the samples of a CPU
 * @timer: its timer
 * @late: times at which there was none, see fkt_status.late; written on that CPU
 */
struct fkt_profile {
	struct hrtimer timer;
	u64 late;
};

static DEFINE_PER_CPU(struct fkt_profile, fkt_profiles);

/* The session's lock, and constant while attached; 0: nobody asked for samples. */
static ktime_t fkt_profile_period;
static bool fkt_profile_stacks;
/* Handle of the CPU hotplug callbacks; 0: no timer runs. The session's lock. */
static int fkt_profile_cpuhp;

void fkt_profile_prepare(void)
{
	fkt_profile_stacks = fkt_stack_wanted(FKT_CODE_SAMPLE, 1);
}

/*
 * An idle CPU has nothing to tell: that it is idle is told by the switches. What a softirq does on
 * it is work.
 */
bool fkt_profile_is_idle(void)
{
	return is_idle_task(current) && !in_serving_softirq();
}

void fkt_profile_record(struct pt_regs *regs, u64 late, bool called)
{
	const u64 args[] = {
		fkt_pair(current->pid, min_t(u64, late, U32_MAX)),
		instruction_pointer(regs),
	};
	const u64 tag = FKT_TAG(FKT_CODE_SAMPLE, ARRAY_SIZE(args), user_mode(regs));

	if (fkt_profile_stacks && called)
		fkt_event_stack(tag, ARRAY_SIZE(args), args, instruction_pointer(regs),
				FKT_STACK_OF_ADDRESS);
	else if (fkt_profile_stacks)
		fkt_event_interrupted(tag, ARRAY_SIZE(args), args, regs);
	else
		fkt_event_tag(tag, ARRAY_SIZE(args), args);
}

/*
 * The timer's interrupt. Samples stay at multiples of their period; those that would have come
 * while interrupts were off, or while this took too long, do not come any more, and are counted.
 */
static enum hrtimer_restart fkt_profile_tick(struct hrtimer *timer)
{
	struct fkt_profile *profile = container_of(timer, struct fkt_profile, timer);
	const ktime_t begin = ktime_get();
	u64 late = hrtimer_forward(timer, begin, fkt_profile_period);
	struct pt_regs *regs = get_irq_regs();
	ktime_t took;

	late -= !!late;
	if (!fkt_on(FKT_KEY_PROFILE) || fkt_profile_is_idle())
		return HRTIMER_RESTART;
	/* Timers may be run by somebody else than an interrupt. */
	if (regs)
		fkt_profile_record(regs, late, false);
	else
		late++;
	took = ktime_sub(ktime_get(), begin);
	late += hrtimer_forward(timer, ktime_add_ns(begin, (1 + FKT_PROFILE_REST) * took),
				fkt_profile_period);
	WRITE_ONCE(profile->late, profile->late + late);
	return HRTIMER_RESTART;
}

/* On a CPU that has come. */
static int fkt_profile_cpu_comes(unsigned int cpu)
{
	struct hrtimer *timer = &this_cpu_ptr(&fkt_profiles)->timer;

	fkt_hrtimer_setup(timer, fkt_profile_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(timer, fkt_profile_period, HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

/* On one that is about to go. */
static int fkt_profile_cpu_goes(unsigned int cpu)
{
	hrtimer_cancel(&this_cpu_ptr(&fkt_profiles)->timer);
	return 0;
}

static void fkt_profile_begin(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(fkt_profiles, cpu).late = 0;
}

static int fkt_profile_add(struct fkt_specs *specs)
{
	const struct fkt_profile_spec *spec = specs->spec;

	if (!spec->hz || spec->hz > FKT_PROFILE_HZ_MAX || spec->reserved)
		return -EINVAL;
	fkt_profile_period = ns_to_ktime(NSEC_PER_SEC / spec->hz);
	return 0;
}

static void fkt_profile_clear(void)
{
	fkt_profile_period = 0;
}

static int fkt_profile_attach(const struct fkt_session *s, u32 keys)
{
	int ret;

	if (!fkt_profile_period)
		return 0;
	fkt_profile_prepare();
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "fkt:profile", fkt_profile_cpu_comes,
				fkt_profile_cpu_goes);
	if (ret < 0)
		return ret;
	fkt_profile_cpuhp = ret;
	return 0;
}

static void fkt_profile_detach(void)
{
	if (fkt_profile_cpuhp)
		cpuhp_remove_state(fkt_profile_cpuhp);
	fkt_profile_cpuhp = 0;
}

static void fkt_profile_status(struct fkt_status *status)
{
	int cpu;

	status->late = 0;
	for_each_possible_cpu(cpu)
		status->late += READ_ONCE(per_cpu(fkt_profiles, cpu).late);
}

const struct fkt_provider fkt_provider_profile = {
	.name = "profile",
	.keys = FKT_KEY_PROFILE,
	.spec_bytes = sizeof(struct fkt_profile_spec),
	.count_max = 1,
	.begin = fkt_profile_begin,
	.add = fkt_profile_add,
	.clear = fkt_profile_clear,
	.attach = fkt_profile_attach,
	.detach = fkt_profile_detach,
	.status = fkt_profile_status,
};

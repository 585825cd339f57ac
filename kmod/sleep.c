// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine sleeps while it is recorded. Its counter of cycles may be set back by that, or stand
 * still; the stamps go on, by the time that was slept. A page's events are told from each other by
 * the counter alone, so that no page is open meanwhile; nor is anything recorded.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/timekeeping.h>
#include "compat.h"
#include "fkt.h"

/*
 * What the kernel may be wrong by about how long it slept: some clocks that go on know seconds
 * only.
 */
#define FKT_SLEPT_ERROR_MS 2000

#ifdef FKT_TEST
u64 fkt_clock_zero;

static void fkt_clock_reset(void)
{
	fkt_clock_zero = fkt_arch_clock(true);
}

/* As if there were no page for the event that says that the machine falls asleep. */
static bool fkt_full_asleep;
module_param_named(full_asleep, fkt_full_asleep, bool, 0600);

static void fkt_sleep_full(void)
{
	if (fkt_full_asleep)
		fkt_lane_full(this_cpu_read(fkt_lane), fkt_stamp(fkt_clock(true)));
}
#else
static void fkt_clock_reset(void)
{
}

static void fkt_sleep_full(void)
{
}
#endif

/* Since when the machine sleeps, and the mask that is to be set when it wakes up. */
static u64 fkt_sleep_stamp;
static u64 fkt_sleep_ns;
static u32 fkt_sleep_mask;

static u64 fkt_ns_to_cycles(u64 ns)
{
	return mul_u64_u32_div(ns, fkt_arch_clock_khz(), NSEC_PER_MSEC);
}

/*
 * The last one of the callbacks: with the interrupts off, on the only CPU. So no probe is anywhere.
 */
static int fkt_falls_asleep(FKT_SYSCORE_ARG)
{
	struct fkt_session *s = &fkt_session;
	u32 i;

	fkt_sleep_mask = READ_ONCE(fkt_mask);
	if (fkt_sleep_mask)
		FKT_EVENT(FKT_CODE_SETMASK, 0, fkt_pair(0, current->pid));
	fkt_sleep_full();
	/*
	 * The buffer may have been full for that event, or for an NMI's: the pause lasts
	 * (on_full=pause).
	 */
	if (!fkt_mask_off())
		fkt_sleep_mask = 0;
	barrier(); /* partner: the probe of an NMI, on this CPU */
	if (s->state == FKT_STATE_RECORDING)
		for (i = 0; i < s->pools_count; i++)
			fkt_lane_close(s->pools[i].lane, fkt_shared(s));
	fkt_sleep_ns = ktime_get_boottime_ns();
	fkt_sleep_stamp = fkt_stamp(fkt_clock(true));
	return 0;
}

/* The clocks of the kernel's own are right again: their callbacks come before. */
static void fkt_wakes_up(FKT_SYSCORE_ARG)
{
	u64 slept, now, is;

	fkt_clock_reset();
	slept = fkt_ns_to_cycles(ktime_get_boottime_ns() - fkt_sleep_ns);
	now = fkt_clock(true);
	is = fkt_stamp(now) - fkt_sleep_stamp;
	/* A counter that has counted on knows best, unless what it says cannot be. */
	if ((s64)is < 0 || is + fkt_ns_to_cycles((u64)FKT_SLEPT_ERROR_MS * NSEC_PER_MSEC) < slept)
		fkt_clock_goes_on(now, fkt_sleep_stamp + slept);
	fkt_mask_set_alone(fkt_sleep_mask);
	if (fkt_sleep_mask)
		FKT_EVENT(FKT_CODE_SETMASK, 0, fkt_pair(fkt_sleep_mask, current->pid));
}

FKT_SYSCORE(fkt_sleep, fkt_falls_asleep, fkt_wakes_up);

/**
 * fkt_sleep_init - once, at module load
 */
void fkt_sleep_init(void)
{
	fkt_register_syscore(&fkt_sleep);
}

/**
 * fkt_sleep_exit - at module unload
 */
void fkt_sleep_exit(void)
{
	fkt_unregister_syscore(&fkt_sleep);
}

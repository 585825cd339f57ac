/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a wait consists of. */
#ifndef FKT_COMMON_WAIT_H
#define FKT_COMMON_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <fkt/trace.h>

static inline uint64_t fkt_cycles_between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/**
 * fkt_wait_off - for how long a thread waited for what it needed
 * @wait: its wait
 *
 * Return: cycles until it was woken; where that is not known until it ran again, and so where it
 * had not slept: it was preempted, or is new and was woken as such, and waited for a CPU all the
 * time.
 */
static inline uint64_t fkt_wait_off(const struct fkt_wait *wait)
{
	bool woken = wait->state && wait->woken && wait->woken < wait->to;

	return fkt_cycles_between(wait->from, woken ? wait->woken : wait->to);
}

/**
 * fkt_wait_was_ready - whether a thread that had slept waited for a CPU then
 * @wait: its wait
 * @cycles: to here, for how long
 */
static inline bool fkt_wait_was_ready(const struct fkt_wait *wait, uint64_t *cycles)
{
	if (!wait->state || !wait->woken)
		return false;
	*cycles = fkt_cycles_between(wait->woken > wait->from ? wait->woken : wait->from, wait->to);
	return true;
}

#endif

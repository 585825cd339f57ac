/* SPDX-License-Identifier: GPL-2.0-only */
/* What perf events of the kernel count, before events: probes/counters.c. */
#ifndef FKT_COUNTERS_H
#define FKT_COUNTERS_H

#include <linux/types.h>

/* Whether any counter was asked for. The session's lock, or while attached. */
bool fkt_counters_wanted(void);

/**
 * fkt_counters_tell - record what the counters of this CPU are at
 *
 * To be called right before the event of what begins or ends here.
 *
 * Context: as for fkt_event_n(); fkt_counters_wanted() said so when the probe was attached.
 */
void fkt_counters_tell(void);

/* Whether a recorder may ask for such a perf event, and what to tell it of an error of perf's. */
bool fkt_perf_event_valid(u32 type, u64 config);
/* Whether it counts nanoseconds. */
bool fkt_perf_event_is_clock(u32 type, u64 config);
/* Each PMU has its own way to say that it has not such a one: -ENOENT. */
int fkt_perf_error(long error);

#endif

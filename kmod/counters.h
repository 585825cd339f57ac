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

#endif

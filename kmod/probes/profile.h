/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_PROFILE_H
#define FKT_PROFILE_H

#include <linux/types.h>

struct pt_regs;

/* Of all samples, whatever brings them about; the session's lock, before they come. */
void fkt_profile_prepare(void);
bool fkt_profile_is_idle(void);
/*
 * @regs are those of what was interrupted; with @called, of whoever has called: nothing but the
 * address is to be relied on then. @late: how many should have come before it. In an interrupt, or
 * with preemption off.
 */
void fkt_profile_record(struct pt_regs *regs, u64 late, bool called);

#endif

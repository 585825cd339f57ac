/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of fkt_gate.ko share. */
#ifndef FKT_GATE_TRAMPOLINE_H
#define FKT_GATE_TRAMPOLINE_H

#include <linux/types.h>

/* Where ftrace enters: as if called by the function. */
void fkt_gate_called(void);
void fkt_gate_called_copying(void);

/* Used by the trampolines. */
extern u64 fkt_gate_first;
extern u64 fkt_gate_tickets;
void fkt_gate_resched(void);

void fkt_gate_keep_table(void);
int fkt_gate_guard_set(void);
void fkt_gate_guard_clear(void);

#endif

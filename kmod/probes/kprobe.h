/* SPDX-License-Identifier: GPL-2.0-only */
/* What those who use kprobes share. */
#ifndef FKT_PROBES_KPROBE_H
#define FKT_PROBES_KPROBE_H

#include <linux/kprobes.h>

int fkt_kprobe_check(const struct kprobe *kp);
int fkt_kprobe_enable(struct kprobe *kp);
bool fkt_kprobe_stays(const struct kprobe *kp);

#endif

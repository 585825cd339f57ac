// SPDX-License-Identifier: GPL-2.0-only
/* Device interrupts and softirqs, in and out (paper, §B.5, layer System). */
#include <linux/interrupt.h>
#include <trace/events/irq.h>
#include "compat.h"
#include "fkt.h"

static void fkt_irq_entry(void *data, int irq, struct irqaction *action)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		FKT_EVENT0(FKT_CODE_IRQ_ENTRY, irq);
}

static void fkt_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		FKT_EVENT0(FKT_CODE_IRQ_EXIT, irq);
}

/* The softirqs' probes get the code to record as their data. */
static void fkt_softirq(void *data, unsigned int vec)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		FKT_EVENT0((unsigned long)data, vec);
}

#define FKT_POINT_DATA(event, function, code)                                                      \
	{                                                                                          \
#event, FKT_PROBE_FOR(event, function), (void *)(code)                             \
	}

static struct fkt_tracepoint fkt_irq_points[] = {
	FKT_POINT(irq_handler_entry, fkt_irq_entry),
	FKT_POINT(irq_handler_exit, fkt_irq_exit),
	FKT_POINT_DATA(softirq_entry, fkt_softirq, FKT_CODE_SOFTIRQ_ENTRY),
	FKT_POINT_DATA(softirq_exit, fkt_softirq, FKT_CODE_SOFTIRQ_EXIT),
	FKT_POINT_DATA(softirq_raise, fkt_softirq, FKT_CODE_SOFTIRQ_RAISE),
};

static int fkt_irq_attach(const struct fkt_session *s, u32 keys)
{
	return fkt_tracepoints_attach(fkt_irq_points, ARRAY_SIZE(fkt_irq_points));
}

static void fkt_irq_detach(void)
{
	fkt_tracepoints_detach(fkt_irq_points, ARRAY_SIZE(fkt_irq_points));
}

const struct fkt_provider fkt_provider_irq = {
	.name = "interrupt",
	.keys = FKT_KEY_SYSTEM,
	.attach = fkt_irq_attach,
	.detach = fkt_irq_detach,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Perf events of the kernel: which ones a recorder may ask for, and how they are made. */
#include <linux/err.h>
#include <linux/errno.h>
#include "perf_event.h"

bool fkt_perf_event_valid(u32 type, u64 config)
{
	/* Of the kernel's own; not those that count nothing, or what BPF programs say. */
	if (type == PERF_TYPE_SOFTWARE)
		return config <= PERF_COUNT_SW_EMULATION_FAULTS;
	return type == PERF_TYPE_HARDWARE && config < PERF_COUNT_HW_MAX;
}

bool fkt_perf_event_is_clock(u32 type, u64 config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

#ifdef CONFIG_PERF_EVENTS
int fkt_perf_event_make(const struct perf_event_attr *attr, int cpu, fkt_perf_handler handler,
			struct perf_event **result)
{
	struct perf_event_attr pinned = *attr;
	struct perf_event *event;

	pinned.size = sizeof(pinned);
	pinned.pinned = 1;
	event = perf_event_create_kernel_counter(&pinned, cpu, NULL, handler, NULL);
	if (!IS_ERR(event)) {
		*result = event;
		return event->state == PERF_EVENT_STATE_ERROR ? -ENOSPC : 0;
	}
	switch (PTR_ERR(event)) {
	case -ENODEV: /* the CPU has just gone */
		return 0;
	case -EINVAL: /* each PMU has its own way to say that it has not such a one */
	case -EOPNOTSUPP:
		return -ENOENT;
	default:
		return PTR_ERR(event);
	}
}

void fkt_perf_event_release(struct perf_event *event)
{
	perf_event_release_kernel(event);
}
#else
int fkt_perf_event_make(const struct perf_event_attr *attr, int cpu, fkt_perf_handler handler,
			struct perf_event **result)
{
	return -ENOENT;
}

void fkt_perf_event_release(struct perf_event *event)
{
}
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples. */
#ifndef FKT_COMMON_SAMPLE_H
#define FKT_COMMON_SAMPLE_H

#include <fkt/trace.h>

/* Where in their words samples have what, in bytes; how many words they have. */
#define SAMPLE_PID   0
#define SAMPLE_LATE  4
#define SAMPLE_IP    8
#define SAMPLE_WORDS 2

static inline bool is_sample(const struct fkt_event *event)
{
	return event->code == FKT_CODE_SAMPLE && event->words >= SAMPLE_WORDS;
}

/**
 * sample_stack_of() - the stack of a sample, at least as far as the event itself knows it
 * @processes: the threads, at that moment
 * @stack: what the trace has of it, NULL for nothing
 * @event: the sample
 * @room: for a stack
 *
 * Return: the stack, @room or another one, with at least one frame.
 */
const struct fkt_stack *sample_stack_of(struct fkt_processes *processes,
					const struct fkt_stack *stack,
					const struct fkt_event *event, struct fkt_stack *room);

#endif

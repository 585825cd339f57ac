// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples, with the stack that they have at least: of the one function in which they were. */
#include "sample.h"

static bool is_mark(uint64_t frame)
{
	return frame >= FKT_FRAME_CUT && frame < FKT_FRAME_KERNEL;
}

const struct fkt_stack *sample_stack_of(struct fkt_processes *processes,
					const struct fkt_stack *stack,
					const struct fkt_event *event, struct fkt_stack *room)
{
	const bool known = stack && stack->known && stack->count;
	const uint64_t ip = fkt_arg64(event, SAMPLE_IP);
	uint32_t id;

	if (known && !is_mark(stack->frame[0]))
		return stack;
	if (known)
		*room = *stack;
	else
		*room = (struct fkt_stack){ .known = true, .exact = true, .count = 1 };
	if (!event->imm) {
		room->frame[0] = FKT_FRAME_KERNEL | (uint32_t)ip;
		return room;
	}
	id = fkt_process_id(processes, fkt_arg32(event, SAMPLE_PID), event->cpu);
	room->pid = fkt_process(processes, id)->tgid;
	room->stamp = event->stamp;
	room->frame[0] = ip < FKT_FRAME_CUT ? ip : FKT_FRAME_UNKNOWN;
	return room;
}

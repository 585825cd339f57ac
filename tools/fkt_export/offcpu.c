// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks of waits: the thread's name, its stacks when it left its CPU, and for how long it
 * did not run, in nanoseconds. It takes a trace with stacks of switches; without them, the call in
 * which it was stands for the stack.
 */
#include <errno.h>
#include <stdlib.h>

#include "format.h"
#include "paths.h"

struct offcpu {
	struct export *export;
	struct paths paths;
	uint32_t *node; /* path of each thread's last switch, PATH_NONE: it had no stack */
	uint32_t threads;
};

static int keep(struct offcpu *offcpu, uint32_t id, uint32_t node)
{
	uint32_t count = offcpu->threads ? offcpu->threads : 256, *larger;

	if (id >= offcpu->threads) {
		while (count <= id)
			count *= 2;
		larger = reallocarray(offcpu->node, count, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		for (uint32_t i = offcpu->threads; i < count; i++)
			larger[i] = PATH_NONE;
		offcpu->node = larger;
		offcpu->threads = count;
	}
	offcpu->node[id] = node;
	return 0;
}

/* The root of a thread's paths; PATH_NONE without memory. */
static uint32_t root_of(struct offcpu *offcpu, uint32_t id)
{
	uint64_t root =
		paths_text(&offcpu->paths, fkt_process(offcpu->export->processes, id)->comm);

	return root ? paths_step(&offcpu->paths, PATH_NONE, root) : PATH_NONE;
}

static int event(void *format, const struct fkt_event *event)
{
	struct offcpu *offcpu = format;
	const struct fkt_stack *stack = offcpu->export->stack;
	uint32_t id, node = PATH_NONE;
	uint64_t frame;

	if (event->code != FKT_CODE_SWITCH || event->words < 1)
		return 0;
	id = fkt_process_id(offcpu->export->processes, fkt_arg32(event, 0), event->cpu);
	if (stack && stack->known && stack->count) {
		node = root_of(offcpu, id);
		for (unsigned int i = stack->count; i-- && node != PATH_NONE;) {
			frame = paths_frame(&offcpu->paths, offcpu->export->trace, stack, i);
			node = frame ? paths_step(&offcpu->paths, node, frame) : PATH_NONE;
		}
		if (node == PATH_NONE)
			return -ENOMEM;
	}
	return keep(offcpu, id, node);
}

static int wait(void *format, const struct fkt_wait *wait)
{
	struct offcpu *offcpu = format;
	uint32_t node = wait->id < offcpu->threads ? offcpu->node[wait->id] : PATH_NONE;

	if (!fkt_process(offcpu->export->processes, wait->id)->tid || wait->to <= wait->from)
		return 0;
	if (node == PATH_NONE) {
		node = root_of(offcpu, wait->id);
		if (node != PATH_NONE)
			node = paths_step(&offcpu->paths, node, STEP_ROW | wait->outer);
		if (node != PATH_NONE && wait->inner != wait->outer)
			node = paths_step(&offcpu->paths, node, STEP_ROW | wait->inner);
	}
	return node == PATH_NONE ? -ENOMEM : paths_add(&offcpu->paths, node, wait->to - wait->from);
}

static int end(void *format, uint64_t last)
{
	struct offcpu *offcpu = format;

	(void)last;
	paths_write(&offcpu->paths, offcpu->export);
	return 0;
}

static void free_offcpu(void *format)
{
	struct offcpu *offcpu = format;

	paths_free(&offcpu->paths);
	free(offcpu->node);
	free(offcpu);
}

static void *begin(struct export *export)
{
	struct offcpu *offcpu = calloc(1, sizeof(*offcpu));

	if (offcpu)
		offcpu->export = export;
	return offcpu;
}

const struct export_format export_offcpu = {
	.name = "offcpu",
	.about = "the same tools as folded: how long threads did not run, by stack, in ns",
	.lacks = "when anything happened, who woke whom, and what ran; losses shorten the sums",
	.wants = EXPORT_NS,
	.begin = begin,
	.event = event,
	.wait = wait,
	.end = end,
	.free = free_offcpu,
};

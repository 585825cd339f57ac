// SPDX-License-Identifier: GPL-2.0-or-later
/* A number for each call that is open. */
#include <errno.h>
#include <stdlib.h>

#include "frames.h"

struct frames_of {
	uint32_t *number; /* by depth */
	uint32_t room;
};

static int make_room(struct frames_of **all, uint32_t *room, uint32_t index)
{
	uint32_t count = *room ? *room : 64;
	struct frames_of *larger;

	if (index < *room)
		return 0;
	while (count <= index)
		count *= 2;
	larger = reallocarray(*all, count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	memset(larger + *room, 0, (count - *room) * sizeof(*larger));
	*all = larger;
	*room = count;
	return 0;
}

static int set(struct frames_of *frames, uint32_t depth, uint32_t number)
{
	uint32_t room = frames->room ? frames->room : 8, *larger;

	if (depth >= frames->room) {
		while (room <= depth)
			room *= 2;
		larger = reallocarray(frames->number, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		for (uint32_t i = frames->room; i < room; i++)
			larger[i] = FRAME_NONE;
		frames->number = larger;
		frames->room = room;
	}
	frames->number[depth] = number;
	return 0;
}

int frames_set(struct frames *frames, const struct fkt_call *call, uint32_t number)
{
	if (call->interrupt)
		return make_room(&frames->cpu, &frames->cpus, call->cpu)
			       ?: set(&frames->cpu[call->cpu], call->depth, number);
	return make_room(&frames->thread, &frames->threads, call->id)
		       ?: set(&frames->thread[call->id], call->depth, number);
}

uint32_t frames_get(const struct frames *frames, const struct fkt_call *call, uint32_t depth)
{
	const struct frames_of *of = NULL;

	if (call->interrupt && call->cpu < frames->cpus)
		of = &frames->cpu[call->cpu];
	else if (!call->interrupt && call->id < frames->threads)
		of = &frames->thread[call->id];
	return of && depth < of->room ? of->number[depth] : FRAME_NONE;
}

int frames_swap(struct frames *frames, uint32_t from, uint32_t to)
{
	struct frames_of of;

	if (make_room(&frames->thread, &frames->threads, from > to ? from : to))
		return -ENOMEM;
	of = frames->thread[from];
	frames->thread[from] = frames->thread[to];
	frames->thread[to] = of;
	return 0;
}

void frames_free(struct frames *frames)
{
	for (uint32_t i = 0; i < frames->threads; i++)
		free(frames->thread[i].number);
	for (uint32_t i = 0; i < frames->cpus; i++)
		free(frames->cpu[i].number);
	free(frames->thread);
	free(frames->cpu);
}

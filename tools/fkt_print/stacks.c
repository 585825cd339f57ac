// SPDX-License-Identifier: GPL-2.0-or-later
/* Something for each thread, and for what goes on in interrupts, for each CPU. */
#include <stdlib.h>
#include <string.h>

#include "print.h"

struct stacks {
	size_t bytes;
	char *thread; /* by number */
	uint32_t threads;
	char *cpu;
};

#define CPUS (UINT16_MAX + 1u)

struct stacks *stacks_new(size_t bytes)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->bytes = bytes;
	stacks->cpu = calloc(CPUS, bytes);
	if (!stacks->cpu) {
		free(stacks);
		return NULL;
	}
	return stacks;
}

void stacks_free(struct stacks *stacks, void (*free_one)(void *stack))
{
	if (!stacks)
		return;
	for (uint32_t i = 0; i < stacks->threads; i++)
		free_one(stacks->thread + i * stacks->bytes);
	for (uint32_t i = 0; i < CPUS; i++)
		free_one(stacks->cpu + i * stacks->bytes);
	free(stacks->thread);
	free(stacks->cpu);
	free(stacks);
}

void *stacks_get(struct stacks *stacks, const struct fkt_call *call)
{
	uint32_t room = stacks->threads ? stacks->threads : 256;
	char *larger;

	if (call->interrupt)
		return stacks->cpu + call->cpu * stacks->bytes;
	if (call->id >= stacks->threads) {
		while (room <= call->id)
			room *= 2;
		larger = realloc(stacks->thread, room * stacks->bytes);
		if (!larger)
			return NULL;
		memset(larger + stacks->threads * stacks->bytes, 0,
		       (room - stacks->threads) * stacks->bytes);
		stacks->thread = larger;
		stacks->threads = room;
	}
	return stacks->thread + call->id * stacks->bytes;
}

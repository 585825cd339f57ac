// SPDX-License-Identifier: GPL-2.0-or-later
/* Something for each thread, and for what goes on in interrupts, for each CPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"

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

static char *of_thread(struct stacks *stacks, uint32_t id)
{
	uint32_t room = stacks->threads ? stacks->threads : 256;
	char *larger;

	if (id >= stacks->threads) {
		while (room <= id)
			room *= 2;
		larger = realloc(stacks->thread, room * stacks->bytes);
		if (!larger)
			return NULL;
		memset(larger + stacks->threads * stacks->bytes, 0,
		       (room - stacks->threads) * stacks->bytes);
		stacks->thread = larger;
		stacks->threads = room;
	}
	return stacks->thread + id * stacks->bytes;
}

void *stacks_get(struct stacks *stacks, const struct fkt_call *call)
{
	if (call->interrupt)
		return stacks->cpu + call->cpu * stacks->bytes;
	return of_thread(stacks, call->id);
}

int stacks_move(struct stacks *stacks, uint32_t from, uint32_t to)
{
	char *a, *b, byte;

	/* The larger one first: it may make room. */
	if (!of_thread(stacks, from > to ? from : to))
		return -ENOMEM;
	a = of_thread(stacks, from);
	b = of_thread(stacks, to);
	for (size_t i = 0; i < stacks->bytes; i++) {
		byte = a[i];
		a[i] = b[i];
		b[i] = byte;
	}
	return 0;
}

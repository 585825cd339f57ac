// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "top.h"
#include "trace/maps.h"

struct stacks {
	struct fkt_trace *trace;
	uint64_t seed; /* so that no trace can be made to fill one place */
	uint32_t count;
	struct fkt_stack *stack[STACKS_MAX]; /* by number, from 1; only as long as it has to be */
	uint32_t place[2 * STACKS_MAX];	     /* numbers, by hash */
};

struct stacks *stacks_new(struct fkt_trace *trace)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->trace = trace;
	if (getrandom(&stacks->seed, sizeof(stacks->seed), 0) < 0)
		stacks->seed = (uintptr_t)stacks;
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	for (uint32_t i = 1; i <= stacks->count; i++)
		free(stacks->stack[i]);
	free(stacks);
}

static size_t bytes_of(const struct fkt_stack *stack)
{
	return offsetof(struct fkt_stack, frame) + stack->count * sizeof(stack->frame[0]);
}

static bool same(const struct fkt_stack *a, const struct fkt_stack *b)
{
	return a->count == b->count && a->cut == b->cut && a->exact == b->exact &&
	       !memcmp(a->frame, b->frame, a->count * sizeof(a->frame[0]));
}

static uint32_t *place_of(struct stacks *stacks, const struct fkt_stack *stack)
{
	uint64_t h = stacks->seed ^ stack->count ^ (uint64_t)stack->exact << 32;

	for (unsigned int i = 0; i < stack->count; i++) {
		h = (h ^ stack->frame[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	for (h %= 2 * STACKS_MAX;; h = (h + 1) % (2 * STACKS_MAX))
		if (!stacks->place[h] || same(stacks->stack[stacks->place[h]], stack))
			return &stacks->place[h];
}

bool stacks_number(struct stacks *stacks, const struct fkt_stack *stack, uint32_t *number)
{
	struct fkt_stack placed;
	uint32_t *place;

	*number = NO_STACK;
	if (!stack->known)
		return true;
	/* Programs have the same code at addresses of their own. */
	if (stack->pid) {
		placed = *stack;
		fkt_stack_place(stacks->trace, &placed);
		stack = &placed;
	}
	place = place_of(stacks, stack);
	if (!*place && stacks->count < STACKS_MAX - 1) {
		stacks->stack[stacks->count + 1] = malloc(bytes_of(stack));
		if (!stacks->stack[stacks->count + 1])
			return false;
		*place = ++stacks->count;
		memcpy(stacks->stack[*place], stack, bytes_of(stack));
	}
	*number = *place;
	return true;
}

const struct fkt_stack *stacks_get(const struct stacks *stacks, uint32_t number)
{
	return stacks->stack[number];
}

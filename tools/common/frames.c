// SPDX-License-Identifier: GPL-2.0-or-later
/* Something for each call that is open. */
#include <stdlib.h>
#include <string.h>

#include "frames.h"

struct frames {
	size_t bytes;
	void (*drop)(void *frame);
	struct stacks *stacks;
};

/* The calls of a thread, or of a CPU's interrupts, the innermost one at the end. */
struct stack {
	const struct frames *frames;
	char *frame;
	uint32_t depth;
	uint32_t room;
};

struct frames *frames_new(size_t bytes, void (*drop)(void *frame))
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->bytes = bytes;
	frames->drop = drop;
	frames->stacks = stacks_new(sizeof(struct stack));
	if (!frames->stacks) {
		free(frames);
		return NULL;
	}
	return frames;
}

static void cut(const struct frames *frames, struct stack *stack, uint32_t depth)
{
	while (stack->depth > depth) {
		stack->depth--;
		if (frames->drop)
			frames->drop(stack->frame + stack->depth * frames->bytes);
	}
}

static void free_stack(void *arg)
{
	struct stack *stack = arg;

	if (stack->depth)
		cut(stack->frames, stack, 0);
	free(stack->frame);
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	stacks_free(frames->stacks, free_stack);
	free(frames);
}

void *frames_enter(struct frames *frames, const struct fkt_call *call)
{
	struct stack *stack = stacks_get(frames->stacks, call);
	uint32_t room;
	char *larger;

	if (!stack)
		return NULL;
	stack->frames = frames;
	cut(frames, stack, call->depth);
	if (call->depth >= stack->room) {
		room = (call->depth + 1) * 2;
		larger = realloc(stack->frame, room * frames->bytes);
		if (!larger)
			return NULL;
		stack->frame = larger;
		stack->room = room;
	}
	/* Of calls that nobody told us of there is nothing. */
	memset(stack->frame + stack->depth * frames->bytes, 0,
	       (call->depth + 1 - stack->depth) * frames->bytes);
	stack->depth = call->depth + 1;
	return stack->frame + call->depth * frames->bytes;
}

void *frames_at(struct frames *frames, const struct fkt_call *call, uint32_t depth)
{
	struct stack *stack = stacks_get(frames->stacks, call);

	return stack && depth < stack->depth ? stack->frame + depth * frames->bytes : NULL;
}

void frames_leave(struct frames *frames, const struct fkt_call *call)
{
	struct stack *stack = stacks_get(frames->stacks, call);

	if (stack)
		cut(frames, stack, call->depth);
}

int frames_move(struct frames *frames, uint32_t from, uint32_t to)
{
	return stacks_move(frames->stacks, from, to);
}

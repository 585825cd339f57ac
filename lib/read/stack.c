// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's stacks of events: slots before theirs. A stack stands in a page once; further events
 * only say where. Nothing of this is believed.
 */
#include "internal.h"

/* What the 32 bits of a frame leave out: the kernel's code is in the last 2 GB of x86_64. */
#define FRAME_HIGH 0xffffffff00000000ull

/* The frames of a slot that has any; 0 for one that can't be right. */
static unsigned int frames_of(const struct fkt_event *event)
{
	unsigned int count = event->imm & FKT_STACK_COUNT;

	return count <= 2u * event->words ? count : 0;
}

static void append(struct fkt_stack *stack, const struct fkt_event *event)
{
	unsigned int count = frames_of(event);

	if (!count || stack->count + count > FKT_STACK_FRAMES_MAX) {
		stack->known = false;
		return;
	}
	for (unsigned int i = 0; i < count; i++)
		stack->frame[stack->count++] = FRAME_HIGH | fkt_arg32(event, 4 * i);
	stack->cut = event->imm & FKT_STACK_CUT;
}

/* The slots of a stack from a place in a page on. */
static void append_from(struct fkt_stack *stack, struct fkt_cursor cursor)
{
	struct fkt_event event = { 0 };
	bool more = true;

	for (unsigned int i = 0; more && stack->known; i++) {
		if (!fkt_slot_decode(&cursor, &event) || event.code != FKT_CODE_STACK ||
		    !event.words || !(event.imm & FKT_STACK_ON) != !i) {
			stack->known = false;
			return;
		}
		append(stack, &event);
		more = event.imm & FKT_STACK_MORE;
		fkt_slot_pass(&cursor, &event);
	}
}

void fkt_stack_at(const struct fkt_cursor *cursor, const struct fkt_event *event,
		  struct fkt_stack *stack)
{
	const uint64_t *at;

	if (event->words) {
		if (!(event->imm & FKT_STACK_ON)) {
			stack->count = 0;
			stack->known = true;
		}
		if (stack->known)
			append(stack, event);
		goto out;
	}
	stack->count = 0;
	stack->cut = false;
	at = cursor->page ? cursor->page + event->imm : NULL;
	stack->known = at && at >= cursor->first && at < event->args;
	if (stack->known)
		append_from(stack, (struct fkt_cursor){
					   .pos = at, .end = event->args, .left = UINT32_MAX });
out:
	if (!stack->known)
		stack->count = 0;
}

void fkt_stack_event(const struct fkt_reader *reader, const struct fkt_event *event,
		     struct fkt_stack *stack)
{
	fkt_stack_at(reader->cursor, event, stack);
}

/* ---- pages that are made anew ---- */

unsigned int fkt_stack_slot(const struct fkt_stack *stack, unsigned int from,
			    uint64_t words[FKT_STACK_SLOT_WORDS], struct fkt_event *slot)
{
	unsigned int count = stack->count - from;
	bool more = count > FKT_STACK_SLOT_FRAMES;

	if (more)
		count = FKT_STACK_SLOT_FRAMES;
	memset(words, 0, FKT_STACK_SLOT_WORDS * sizeof(*words));
	for (unsigned int i = 0; i < count; i++)
		words[i / 2] |= (stack->frame[from + i] & UINT32_MAX) << (i % 2 ? 32 : 0);
	for (unsigned int i = 0; i < FKT_STACK_SLOT_WORDS; i++)
		words[i] = htole64(words[i]);
	slot->code = FKT_CODE_STACK;
	slot->imm = (uint16_t)(count | (from ? FKT_STACK_ON : 0) | (more ? FKT_STACK_MORE : 0) |
			       (!more && stack->cut ? FKT_STACK_CUT : 0));
	slot->args = words;
	slot->words = (uint8_t)((count + 1) / 2);
	return from + count;
}

unsigned int fkt_stack_words(const struct fkt_stack *stack)
{
	unsigned int slots = (stack->count + FKT_STACK_SLOT_FRAMES - 1) / FKT_STACK_SLOT_FRAMES;

	return slots + (stack->count + 1) / 2;
}

static bool same(const struct fkt_stack *a, const struct fkt_stack *b)
{
	return a->known == b->known && a->cut == b->cut && a->count == b->count &&
	       !memcmp(a->frame, b->frame, a->count * sizeof(*a->frame));
}

unsigned int fkt_stack_find(const uint64_t *page, const uint64_t *first, const uint64_t *end,
			    const struct fkt_stack *stack)
{
	struct fkt_cursor cursor = {
		.pos = first, .end = end, .left = UINT32_MAX, .page = page, .first = first
	};
	struct fkt_stack other = { 0 };
	struct fkt_event event = { 0 };
	const uint64_t *at = first;

	for (; fkt_slot_decode(&cursor, &event); fkt_slot_pass(&cursor, &event)) {
		if (event.code != FKT_CODE_STACK || !event.words)
			continue;
		if (!(event.imm & FKT_STACK_ON))
			at = cursor.pos;
		fkt_stack_at(&cursor, &event, &other);
		if (!(event.imm & FKT_STACK_MORE) && same(stack, &other))
			return (unsigned int)(at - page);
	}
	return 0;
}

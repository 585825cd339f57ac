// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The stacks of events: slots before theirs. A stack stands in a page once; further events only say
 * where. Nothing of this is believed.
 */
#include "internal.h"

/* Nobody has code there. */
#define USER_ADDRESS_MAX (1ull << 57)

static unsigned int in_word(uint16_t flags)
{
	return flags & FKT_STACK_USER ? 8 : 2;
}

static unsigned int words_of(uint16_t flags, unsigned int count)
{
	return (count + in_word(flags) - 1) / in_word(flags);
}

/* ---- what slots say ---- */

/* Take in a slot that has words. Whether it can be right. */
static bool append(struct fkt_stack_part *part, const struct fkt_event *event)
{
	const unsigned int count = event->imm & FKT_STACK_COUNT;
	const unsigned int words = words_of(event->imm, count);
	const unsigned int before = part->count / in_word(part->flags);

	if (!count || words != event->words || before + words > FKT_STACK_WORDS_MAX ||
	    part->count % in_word(part->flags) || ((event->imm ^ part->flags) & FKT_STACK_USER))
		return false;
	memcpy(part->words + before, event->args, words * sizeof(*event->args));
	part->count += count;
	part->flags |= event->imm & (FKT_STACK_CUT | FKT_STACK_FAULT);
	return true;
}

/* A slot at which a stack begins, and those behind it that go on with it. Whether all is right. */
static bool append_all(struct fkt_stack_part *part, const struct fkt_event *event,
		       const uint64_t *end)
{
	struct fkt_cursor cursor = { .pos = event->args + event->words,
				     .end = end,
				     .left = UINT32_MAX };
	struct fkt_event next = *event;

	if (event->imm & FKT_STACK_ON || !event->words)
		return false;
	while (append(part, &next)) {
		if (!(next.imm & FKT_STACK_MORE))
			return true;
		if (!fkt_slot_decode(&cursor, &next) || next.code != FKT_CODE_STACK ||
		    !(next.imm & FKT_STACK_ON))
			return false;
		fkt_slot_pass(&cursor, &next);
	}
	return false;
}

/* The same of a place in the page, before an event. */
static bool append_at(struct fkt_stack_part *part, const struct fkt_cursor *cursor,
		      const struct fkt_event *event)
{
	const unsigned int place = event->imm & FKT_STACK_PLACE;
	const uint64_t *at = cursor->page ? cursor->page + place : NULL;
	struct fkt_cursor there = { .pos = at, .end = event->args, .left = UINT32_MAX };
	struct fkt_event first = { 0 };

	return at && at >= cursor->first && at < event->args && fkt_slot_decode(&there, &first) &&
	       first.code == FKT_CODE_STACK && append_all(part, &first, event->args);
}

bool fkt_stack_part(const struct fkt_cursor *cursor, const struct fkt_event *event,
		    struct fkt_stack_part *part)
{
	if (event->words && event->imm & FKT_STACK_ON)
		return false;
	part->flags = event->imm & (FKT_STACK_USER | FKT_STACK_BELOW);
	part->count = 0;
	part->known = event->words ? append_all(part, event, cursor->end)
				   : append_at(part, cursor, event);
	if (!part->known)
		part->count = 0;
	return true;
}

/* ---- frames ---- */

static void add_kernel(struct fkt_stack *stack, const struct fkt_stack_part *part)
{
	for (unsigned int i = 0; i < part->count; i++)
		stack->frame[stack->count++] =
			FKT_FRAME_KERNEL |
			(uint32_t)(le64toh(part->words[i / 2]) >> (i % 2 ? 32 : 0));
}

/* Read a number of a program's stack at @at, and move that behind it. False: there is none. */
static bool take_number(const struct fkt_stack_part *part, unsigned int *at, uint64_t *number)
{
	const uint8_t *bytes = (const uint8_t *)part->words;

	*number = 0;
	for (unsigned int shift = 0; *at < part->count && shift < 64; shift += 7) {
		const uint8_t byte = bytes[(*at)++];

		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Frames of a program. False: they can't be right. */
static bool add_user(struct fkt_stack *stack, const struct fkt_stack_part *part)
{
	unsigned int at = 0, frames = 0;
	uint64_t number, address = 0;

	if (!take_number(part, &at, &number) || number > UINT32_MAX || at == part->count)
		return false;
	stack->pid = (uint32_t)number;
	while (at < part->count) {
		if (!take_number(part, &at, &number) || frames++ == FKT_STACK_FRAMES_MAX)
			return false;
		address += number >> 1 ^ -(number & 1);
		if (address >= USER_ADDRESS_MAX)
			return false;
		stack->frame[stack->count++] = address;
	}
	return true;
}

void fkt_stack_add(struct fkt_stack *stack, const struct fkt_stack_part *part, uint64_t stamp)
{
	const bool user = part->flags & FKT_STACK_USER;
	unsigned int kernel;

	if (!user || !(part->flags & FKT_STACK_BELOW) || stack->count > FKT_STACK_FRAMES_MAX)
		stack->known = false;
	if (!stack->known) {
		stack->cut = false;
		stack->count = 0;
	}
	stack->pid = 0;
	if (!user) {
		stack->known = part->known;
		stack->cut = part->flags & FKT_STACK_CUT;
		add_kernel(stack, part);
		return;
	}
	/* Of the kernel's, there is no other way to say it. */
	if (stack->cut)
		stack->frame[stack->count++] = FKT_FRAME_CUT;
	else if (part->flags & FKT_STACK_BELOW && !stack->known)
		stack->frame[stack->count++] = FKT_FRAME_UNKNOWN;
	kernel = stack->count;
	stack->cut = false;
	stack->stamp = stamp;
	if (part->known && add_user(stack, part)) {
		stack->known = true;
		stack->cut = part->flags & FKT_STACK_CUT;
		if (part->flags & FKT_STACK_FAULT)
			stack->frame[stack->count++] = FKT_FRAME_FAULT;
		return;
	}
	stack->count = stack->known ? kernel : 0;
	stack->pid = 0;
	if (stack->known)
		stack->frame[stack->count++] = FKT_FRAME_UNKNOWN;
}

/* Whether the event of a stack is a sample: it stands behind all of the stack's slots. */
static bool is_of_sample(const struct fkt_cursor *cursor, const struct fkt_event *event)
{
	struct fkt_cursor behind = { .pos = event->args + event->words,
				     .end = cursor->end,
				     .left = UINT32_MAX };
	struct fkt_event next = *event;

	while (next.code == FKT_CODE_STACK && fkt_slot_decode(&behind, &next))
		fkt_slot_pass(&behind, &next);
	return next.code == FKT_CODE_SAMPLE;
}

void fkt_stack_event(const struct fkt_reader *reader, const struct fkt_event *event,
		     struct fkt_stack *stack)
{
	struct fkt_stack_part part;

	stack->exact = is_of_sample(reader->cursor, event);
	if (fkt_stack_part(reader->cursor, event, &part))
		fkt_stack_add(stack, &part, event->stamp);
	else if (!stack->known)
		stack->count = 0;
}

/* ---- pages that are made anew ---- */

unsigned int fkt_stack_slot(const struct fkt_stack_part *part, unsigned int from,
			    struct fkt_event *slot)
{
	const unsigned int room = FKT_STACK_SLOT_WORDS * in_word(part->flags);
	const bool more = part->count - from > room;
	const unsigned int count = more ? room : part->count - from;
	const uint16_t ends = FKT_STACK_CUT | FKT_STACK_FAULT;

	slot->code = FKT_CODE_STACK;
	slot->imm = (uint16_t)(count | (from ? FKT_STACK_ON : 0) |
			       (more ? FKT_STACK_MORE | (part->flags & ~ends) : part->flags));
	slot->args = part->words + from / in_word(part->flags);
	slot->words = (uint8_t)words_of(part->flags, count);
	return from + count;
}

void fkt_stack_slot_again(const struct fkt_stack_part *part, unsigned int place,
			  struct fkt_event *slot)
{
	slot->code = FKT_CODE_STACK;
	slot->imm = (uint16_t)(place | (part->flags & (FKT_STACK_USER | FKT_STACK_BELOW)));
	slot->words = 0;
}

unsigned int fkt_stack_words(const struct fkt_stack_part *part)
{
	const unsigned int words = words_of(part->flags, part->count);

	return (words + FKT_STACK_SLOT_WORDS - 1) / FKT_STACK_SLOT_WORDS + words;
}

static bool same(const struct fkt_stack_part *a, const struct fkt_stack_part *b)
{
	return a->known == b->known && !((a->flags ^ b->flags) & ~FKT_STACK_BELOW) &&
	       a->count == b->count &&
	       !memcmp(a->words, b->words, words_of(a->flags, a->count) * sizeof(*a->words));
}

unsigned int fkt_stack_find(const uint64_t *page, const uint64_t *first, const uint64_t *end,
			    const struct fkt_stack_part *part)
{
	struct fkt_cursor cursor = {
		.pos = first, .end = end, .left = UINT32_MAX, .page = page, .first = first
	};
	struct fkt_stack_part other;
	struct fkt_event event = { 0 };

	for (; fkt_slot_decode(&cursor, &event); fkt_slot_pass(&cursor, &event)) {
		if (event.code == FKT_CODE_STACK && event.words &&
		    fkt_stack_part(&cursor, &event, &other) && other.known && same(part, &other))
			return (unsigned int)(cursor.pos - page);
	}
	return 0;
}

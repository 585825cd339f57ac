/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots to events: the part of libfkt that runs once an event, inline in the caller's loop.
 *
 * A cursor walks the slots of one page; whatever a slot says, the cursor never leaves the bytes
 * that the page's header and the file's size allow.
 */
#ifndef FKT_DECODE_H
#define FKT_DECODE_H

#include <endian.h>

#include <fkt/trace.h>

/**
 * struct fkt_cursor - a place among the slots of a page
 * @pos: next slot
 * @end: end of the used part of the page
 * @stamp: stamp of the slot before @pos; of the page itself at its first slot
 * @left: slots from @pos on, as the page says
 * @lane: lane of the page
 * @cpu: CPU of the slot before @pos
 * @shared: whether wide slots change the CPU
 * @page: where the page begins; NULL where no slot refers to another one
 * @first: its first slot
 */
struct fkt_cursor {
	const uint64_t *pos;
	const uint64_t *end;
	uint64_t stamp;
	uint32_t left;
	uint16_t lane;
	uint16_t cpu;
	bool shared;
	const uint64_t *page;
	const uint64_t *first;
};

/**
 * fkt_extend() - the full stamp nearest to another one with given low bits
 * @stamp: a stamp not far away
 * @low: the low @bits bits; what stands above them is ignored
 * @bits: how many
 */
static inline uint64_t fkt_extend(uint64_t stamp, uint64_t low, unsigned int bits)
{
	uint64_t difference = (low - stamp) << (64 - bits);

	return stamp + (uint64_t)((int64_t)difference >> (64 - bits));
}

/**
 * fkt_slot_decode() - look at the slot at a cursor
 * @cursor: where; not moved
 * @event: filled in except for @pid
 *
 * Return: false at the end of the page (then nothing is left, and pos is end), or when no whole
 * slot stands there.
 */
static inline bool fkt_slot_decode(const struct fkt_cursor *cursor, struct fkt_event *event)
{
	uint64_t head, wide;
	unsigned int words;

	if (!cursor->left || cursor->pos >= cursor->end)
		return false;
	head = le64toh(*cursor->pos);
	words = head & FKT_SLOT_WORDS_MASK;
	if ((uint64_t)(cursor->end - cursor->pos) <= words)
		return false;

	event->args = cursor->pos + 1;
	event->cpu = cursor->cpu;
	event->lane = cursor->lane;
	event->code = (head >> FKT_SLOT_CODE_SHIFT) & (FKT_SLOT_CODES - 1);
	event->imm = (uint16_t)(head >> FKT_SLOT_IMM_SHIFT);
	if (__builtin_expect(!(head & FKT_SLOT_WIDE), 1)) {
		event->stamp = fkt_extend(cursor->stamp, head >> FKT_SLOT_STAMP_SHIFT,
					  FKT_SLOT_STAMP_BITS);
	} else {
		if (!words)
			return false;
		wide = le64toh(*event->args);
		event->args++;
		words--;
		event->stamp = fkt_extend(cursor->stamp, wide, FKT_WIDE_STAMP_BITS);
		if (cursor->shared)
			event->cpu = (uint16_t)(wide >> FKT_WIDE_STAMP_BITS);
	}
	event->words = (uint8_t)words;
	return true;
}

/**
 * fkt_slot_pass() - move a cursor behind the slot that it looks at
 * @cursor: the cursor
 * @event: what fkt_slot_decode() said of that slot
 */
static inline void fkt_slot_pass(struct fkt_cursor *cursor, const struct fkt_event *event)
{
	cursor->pos = event->args + event->words;
	cursor->stamp = event->stamp;
	cursor->cpu = event->cpu;
	cursor->left--;
}

#endif

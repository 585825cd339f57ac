/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lane: the rotating buffer of pages that probes write into (paper, §3 and §4).
 *
 * This file and lane.c depend on nothing but atomics, a clock and a page. They are compiled
 * unchanged into fkt.ko (with lane_kernel.h) and into the host's stress test and benchmark (with
 * tests/stress/lane_user.h).
 *
 * Pages are counted: the lane's page number n lives in ring[n & mask] from when it is queued until
 * it is taken. At any moment
 *
 *	tail <= head's page + 1 <= limit
 *
 *	pages before tail		the reader's: taken, on their way to the output
 *	tail … head's page		probes write into them, or have; a page is whole, and may be
 *					taken, once it is closed and all that was reserved is committed
 *	head's page + 1 … limit - 1	queued: the next ones to be filled
 *
 * Probes move the head (and so pages from queued to filled) by one 64-bit compare-and-exchange.
 * The reader alone moves tail and limit, one reader at a time.
 */
#ifndef FKT_LANE_H
#define FKT_LANE_H

#ifdef __KERNEL__
#include "lane_kernel.h"
#else
#include "lane_user.h"
#endif
#include <fkt/format.h>

/**
 * struct fkt_ring_entry - where a page stands in the ring
 * @page: the page; its first bytes are the header
 * @commit: bytes committed in the low 32 bits, slots committed in the high 32 bits
 * @used: 0 while the page is open, then the bytes used, header included
 * @buf: the reader's own handle of the page
 */
struct fkt_ring_entry {
	struct fkt_page_header *page;
	fkt_counter_t commit;
	u32 used;
	void *buf;
};

/**
 * struct fkt_lane - one rotating buffer
 * @head: page number in bits 32…63, the CPU that reserved last (shared lanes) in bits 16…31, and
 *	in bits 0…15 the bytes used of that page, or FKT_HEAD_CLOSED when it takes no more
 * @last: stamp of a recent slot, never later than that of the slot before @head
 * @ring: entries, a power of two of them
 * @mask: their number less one
 * @limit: number of the first page that is not queued yet
 * @lost: events for which there was no page
 * @kick_mask: the reader is told of a new page when its number has none of these bits
 * @number: the lane's number
 * @cpu: the lane's CPU, FKT_CPU_ANY when it is shared
 * @tail: number of the first page that is not taken; the reader's
 * @taken: pages taken so far; the reader's
 * @taken_end: stamp of the closing of page @tail - 1; the reader's
 *
 * The first line of cache is all that a probe touches besides the page and its ring entry.
 */
struct fkt_lane {
	u64 head;
	u64 last;
	struct fkt_ring_entry *ring;
	u32 mask;
	u32 limit;
	fkt_counter_t lost;
	u32 kick_mask;
	u16 number;
	u16 cpu;

	u32 tail ____cacheline_aligned;
	u64 taken;
	u64 taken_end;
} ____cacheline_aligned;

#define FKT_HEAD_OFFSET(head)	 ((u32)(u16)(head))
#define FKT_HEAD_CPU(head)	 ((u32)(u16)((head) >> 16))
#define FKT_HEAD_PAGE(head)	 ((u32)((head) >> 32))
#define FKT_HEAD(page, cpu, off) (((u64)(page) << 32) | ((u64)(cpu) << 16) | (off))
#define FKT_HEAD_CLOSED		 0xffffu

/* A difference of stamps that a slot's low bits can hold as a signed number. */
#define FKT_NEAR_SHIFT		 (FKT_SLOT_STAMP_BITS - 1)
/* A difference that not even a wide slot's stamp can hold: such a slot begins a page. */
#define FKT_FAR_SHIFT		 (FKT_WIDE_STAMP_BITS - 1)

/**
 * struct fkt_slot - a slot that was reserved and is not yet committed
 * @entry: its page's entry in the ring, NULL when there was no room
 * @offset: where in the page the words behind the slot's header (and wide word) begin
 * @bytes: what to commit
 */
struct fkt_slot {
	struct fkt_ring_entry *entry;
	u32 offset;
	u32 bytes;
};

/* The static part of a slot's first word. */
#define FKT_TAG(code, words, imm)                                                                  \
	((u64)(words) | ((u64)(code) << FKT_SLOT_CODE_SHIFT) | ((u64)(u16)(imm) << FKT_SLOT_IMM_SHIFT))

struct fkt_slot fkt_reserve_slow(struct fkt_lane *lane, u64 tag, bool shared);

static __always_inline struct fkt_ring_entry *fkt_ring_entry(struct fkt_lane *lane, u32 page)
{
	return &lane->ring[page & lane->mask];
}

/**
 * fkt_reserve - take room for a slot and write its first word (paper, figure 7)
 * @lane: the lane
 * @tag: FKT_TAG(code, words, imm)
 * @words: words that the caller will write at fkt_slot_words(); as in @tag
 * @shared: a constant: whether other CPUs write into this lane
 *
 * Context: any, NMI included; the caller can't migrate until it has committed. Never waits. The
 * clock is read anew on each try, so that stamps never run backwards within a lane.
 * Return: the slot, to be filled and committed; one whose entry is NULL when the lane is full (the
 * event has been counted as lost).
 */
static __always_inline struct fkt_slot fkt_reserve(struct fkt_lane *lane, u64 tag, u32 words,
						   bool shared)
{
	const u32 bytes = 8 * (1 + words);
	struct fkt_slot slot;
	u64 head, now;

	head = READ_ONCE(lane->head);
	do {
		now = fkt_clock(shared);
		/*
		 * @last is never later than the stamp of the slot before @head, as long as @head is
		 * still what it was; if it is not, the exchange fails. An older value only makes a
		 * slot wide that need not have been.
		 */
		if (unlikely((now - READ_ONCE(lane->last)) >> FKT_NEAR_SHIFT))
			return fkt_reserve_slow(lane, tag, shared);
		if (unlikely(FKT_HEAD_OFFSET(head) + bytes > FKT_PAGE_BYTES))
			return fkt_reserve_slow(lane, tag, shared);
		if (shared && unlikely(FKT_HEAD_CPU(head) != fkt_cpu()))
			return fkt_reserve_slow(lane, tag, shared);
	} while (unlikely(!fkt_try_cmpxchg(&lane->head, &head, head + bytes, shared)));
	WRITE_ONCE(lane->last, now);

	slot.entry = fkt_ring_entry(lane, FKT_HEAD_PAGE(head));
	slot.offset = FKT_HEAD_OFFSET(head) + 8;
	slot.bytes = bytes;
	*(u64 *)((char *)slot.entry->page + FKT_HEAD_OFFSET(head)) =
		(now << FKT_SLOT_STAMP_SHIFT) | tag;
	return slot;
}

/**
 * fkt_slot_words - where a slot's arguments go
 * @slot: a slot whose entry is not NULL
 * Return: room for as many words as were asked for.
 */
static __always_inline u64 *fkt_slot_words(const struct fkt_slot *slot)
{
	return (u64 *)((char *)slot->entry->page + slot->offset);
}

/**
 * fkt_commit - give a filled slot to the reader
 * @slot: a slot whose entry is not NULL
 * @shared: as for fkt_reserve()
 *
 * Does what unlocking the page does in the paper. The count's release is the partner of the acquire
 * in fkt_lane_take().
 */
static __always_inline void fkt_commit(const struct fkt_slot *slot, bool shared)
{
	fkt_counter_add_release(&slot->entry->commit, (1ull << 32) | slot->bytes, shared);
}

/* The reader's side, and setting up. One caller at a time. */
void fkt_lane_init(struct fkt_lane *lane, struct fkt_ring_entry *ring, u32 entries, u16 number,
		   u16 cpu, u32 kick_pages);
void fkt_lane_queue(struct fkt_lane *lane, void *page, void *buf);
struct fkt_page_header *fkt_lane_take(struct fkt_lane *lane, void **buf);
void *fkt_lane_unqueue(struct fkt_lane *lane);
bool fkt_lane_ready(struct fkt_lane *lane);
u32 fkt_lane_free(struct fkt_lane *lane);
u32 fkt_lane_filling(struct fkt_lane *lane);

bool fkt_lane_close(struct fkt_lane *lane, bool shared);
bool fkt_lane_pending(struct fkt_lane *lane);

/*
 * What the lane calls from inside a probe, in any context; neither may wait.
 * fkt_lane_kick: there are pages to take. fkt_lane_full: an event was lost.
 */
void fkt_lane_kick(struct fkt_lane *lane);
void fkt_lane_full(struct fkt_lane *lane, u64 now);

#endif

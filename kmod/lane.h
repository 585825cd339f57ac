/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lane: the rotating buffer of pages that probes write into (paper, §3 and §4).
 *
 * This file and lane.c depend on nothing but atomics, a clock and a page. They are compiled
 * unchanged into fkt.ko (with lane_kernel.h) and into the host's stress test and benchmark (with
 * tests/stress/lane_user.h).
 *
 * Pages are counted: the lane's page number n lives in ring[n modulo its size] from when it is
 * queued until it is taken. At any moment
 *
 *	tail <= head's page + 1 <= limit
 *
 *	pages before tail		the reader's: taken, on their way to the output
 *	tail … head's page		probes write into them, or have; a page is whole, and may
 *					be taken, once it is closed and all that was reserved is
 *					committed
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

#define FKT_RING_ENTRY_SHIFT 5
#define FKT_RING_ENTRY_BYTES (1u << FKT_RING_ENTRY_SHIFT)

/**
 * struct fkt_ring_entry - where a page stands in the ring
 * @commit: what is committed: FKT_COMMIT(bytes, slots)
 * @used: 0 while the page is open, then the bytes used, header included
 * @magic: FKT_NOTE_RING_MAGIC, by which the ring is found in an image of memory
 * @number: the page's number
 * @base: the address of the page, whose first bytes are the header, less @number in bits 32…63: a
 *	head added to it is the address that it reserves from
 * @buf: the reader's own handle of the page
 * @unused: makes it a power of two long, so that a shift finds the entry
 *
 * Whoever looks for pages in an image of memory knows it as struct fkt_note_entry.
 */
struct fkt_ring_entry {
	u32 commit;
	u32 used;
	u32 magic;
	u32 number;
	u64 base;
	void *buf;
	u8 unused[FKT_RING_ENTRY_BYTES - sizeof(void *) - sizeof(u64) - 4 * sizeof(u32)];
};

#define FKT_COMMIT(bytes, slots)  ((u32)(bytes) | (u32)(slots) << 16)
#define FKT_COMMIT_BYTES(commit)  ((commit)&0xffff)
#define FKT_COMMIT_EVENTS(commit) ((commit) >> 16)

/**
 * struct fkt_lane - one rotating buffer
 * @head: page number in bits 32…63, the CPU that reserved last (shared lanes) in bits 16…31, and
 *	in bits 0…15 the bytes used of that page, or FKT_HEAD_CLOSED when it takes no more; then
 *	bits 16…31 count the fences
 * @near: up to this reading of the clock, a slot's low bits are enough to tell its distance from
 *	the slot before
 * @ring: entries, a power of two of them
 * @ring_mask: their size in bytes, less one entry
 * @limit: number of the first page that is not queued yet
 * @lost: events for which there was no page
 * @kick_mask: the reader is told of a new page when its number has none of these bits; the
 *	reader's
 * @number: the lane's number
 * @cpu: the lane's CPU, FKT_CPU_ANY when it is shared
 * @overwrites: a probe that begins a page sees to it that there is another one, and overwrites the
 *	oldest ones. No reader then, but where no probe can run, or while the lane is held, see
 *	fkt_lane_hold(). Not for shared lanes
 * @overwriting: a probe is at it
 * @overwritten: events that were overwritten
 * @overwritten_end: stamp of the closing of the last page that was, or of the fence that the lane
 *	begins at
 * @tail: number of the first page that is not taken; the reader's
 * @taken: pages taken so far; the reader's
 * @taken_end: stamp of the closing of page @tail - 1; the reader's
 * @fence_end: stamp of the last fence, see fkt_lane_fence(); the reader's
 * @fence_page: the head's page at that moment; the reader's
 * @fence_lost: @lost at that moment, or less; the reader's
 * @id: the recording's random number, which is in the header of each page from the beginning
 *
 * The first line of cache is all that a probe touches besides the page and its ring entry.
 */
struct fkt_lane {
	u64 head;
	u64 near;
	struct fkt_ring_entry *ring;
	u32 ring_mask;
	u32 limit;
	u64 lost;
	u32 kick_mask;
	u16 number;
	u16 cpu;

	u32 tail ____cacheline_aligned;
	bool overwrites;
	bool overwriting;
	u64 overwritten;
	u64 overwritten_end;
	u64 taken;
	u64 taken_end;
	u64 fence_end;
	u32 fence_page;
	u64 fence_lost;
	u8 id[FKT_ID_BYTES];
} ____cacheline_aligned;

/*
 * By how much the stamps are ahead of the clock, which a sleep of the machine may set back: a
 * multiple of 2 to the FKT_SLOT_STAMP_BITS, so that the low bits, which are all that most slots
 * have, are the clock's own. Changed by fkt_clock_goes_on() alone.
 */
extern u64 fkt_clock_ahead;

/* The stamp of a moment: its place on a clock that never runs backwards. */
static __always_inline u64 fkt_stamp(u64 clock)
{
	return clock + READ_ONCE(fkt_clock_ahead);
}

#define FKT_HEAD_OFFSET(head)	 ((u32)(u16)(head))
#define FKT_HEAD_CPU(head)	 ((u32)(u16)((head) >> 16))
#define FKT_HEAD_PAGE(head)	 ((u32)((head) >> 32))
#define FKT_HEAD(page, cpu, off) (((u64)(page) << 32) | ((u64)(cpu) << 16) | (off))
#define FKT_HEAD_CLOSED		 0xffffu
/*
 * How far a fence counts. With bit 31 never set, what fkt_reserve() adds to the low half of a
 * closed head in a lane that is not shared can't wrap to what looks like room.
 */
#define FKT_HEAD_FENCES		 0x7fffu

/*
 * Pages that a lane keeps empty by overwriting: one for a probe that needs one while another one,
 * which it has interrupted, is overwriting; and one for a probe that interrupts that.
 */
#define FKT_OVERWRITE_PAGES	 2

/*
 * A slot's low bits hold differences of up to 2 to the 23 as a signed number. @near is set anew
 * only once half of that has passed since the slot that it was last set for: a store less for the
 * others.
 */
#define FKT_NEAR_CYCLES		 (1ull << (FKT_SLOT_STAMP_BITS - 2))
/* From here on a difference does not fit into a wide slot's signed one. */
#define FKT_FAR_CYCLES		 (1ull << (FKT_WIDE_STAMP_BITS - 1))

/**
 * struct fkt_slot - a slot that was reserved and is not yet committed
 * @entry: its page's entry in the ring
 * @words: where its arguments go
 * @bytes: what to commit
 */
struct fkt_slot {
	struct fkt_ring_entry *entry;
	u64 *words;
	u32 bytes;
};

bool fkt_reserve_slow(struct fkt_lane *lane, u64 tag, bool shared, struct fkt_slot *slot);

static __always_inline struct fkt_ring_entry *fkt_ring_entry(struct fkt_lane *lane, u32 page)
{
	return (void *)lane->ring + ((page * FKT_RING_ENTRY_BYTES) & lane->ring_mask);
}

/* The same, for the page of a head: one shift does both the extraction and the scaling. */
static __always_inline struct fkt_ring_entry *fkt_head_entry(struct fkt_lane *lane, u64 head)
{
	return (void *)lane->ring + ((u32)(head >> (32 - FKT_RING_ENTRY_SHIFT)) & lane->ring_mask);
}

/* The page of an entry of the ring. */
static __always_inline struct fkt_page_header *fkt_entry_page(const struct fkt_ring_entry *entry)
{
	return (void *)(unsigned long)(entry->base + FKT_HEAD(entry->number, 0, 0));
}

/**
 * fkt_reserve - take room for a slot and write its first word (paper, figure 7)
 * @lane: the lane
 * @tag: FKT_TAG(code, words, imm); read when there is room for it
 * @imm: its immediate, 16 bits, if *@tag has none
 * @words: words that the caller will write; as in *@tag
 * @shared: a constant: whether other CPUs write into this lane
 * @slot: receives the slot, to be filled and committed
 *
 * This is the way of nearly all events. It takes no room where the slot begins a page, is wide, or
 * finds the lane full: that is fkt_reserve_slow()'s.
 *
 * Context: any, NMI included; the caller can't migrate until it has committed. Never waits. The
 * clock is read anew on each try, so that stamps never run backwards within a lane.
 * Return: true, or false when fkt_reserve_slow() is to be asked.
 */
static __always_inline bool fkt_reserve(struct fkt_lane *lane, const u64 *tag, u64 imm, u32 words,
					bool shared, struct fkt_slot *slot)
{
	const u32 bytes = 8 * (1 + words);
	u64 head, next, now, old;
	u64 *first;

	do {
		head = READ_ONCE(lane->head);
		now = fkt_clock(shared);
		/*
		 * No slot before @head is earlier than the one that @near was set for, as long as
		 * @head is still what it was; if it is not, the exchange fails. An older value of
		 * @near only makes a slot wide that need not have been.
		 */
		if (unlikely(now > fkt_read_early(lane->near)))
			return false;
		next = head + bytes;
		/* In a lane that is not shared the CPU's bits are 0: the low half is the offset. */
		if (unlikely((shared ? FKT_HEAD_OFFSET(head) + bytes : (u32)next) > FKT_PAGE_BYTES))
			return false;
		if (shared && unlikely(FKT_HEAD_CPU(head) != fkt_cpu()))
			return false;
		old = head;
	} while (unlikely(!fkt_cmpxchg(&lane->head, &old, next, shared)));

	slot->entry = fkt_head_entry(lane, head);
	if (shared)
		old = FKT_HEAD(FKT_HEAD_PAGE(old), 0, FKT_HEAD_OFFSET(old));
	first = (void *)(unsigned long)(slot->entry->base + old);
	*first = FKT_SLOT_STAMP(now) | (imm << FKT_SLOT_IMM_SHIFT) | *tag;
	slot->words = first + 1;
	slot->bytes = bytes;
	return true;
}

/**
 * fkt_commit - give a filled slot to the reader
 * @slot: the slot
 * @shared: as for fkt_reserve()
 *
 * Does what unlocking the page does in the paper.
 */
static __always_inline void fkt_commit(const struct fkt_slot *slot, bool shared)
{
	/* Partner: the acquire in fkt_page_whole(). */
	fkt_add_release(&slot->entry->commit, FKT_COMMIT(slot->bytes, 1), shared);
}

/**
 * struct fkt_slots - consecutive slots that are reserved as one, and have one stamp
 * @tag: FKT_TAG of the first one
 * @bytes: of all of them, none of which is wide
 */
struct fkt_slots {
	u64 tag;
	u32 bytes;
};

bool fkt_reserve_slots(struct fkt_lane *lane, const struct fkt_slots *slots,
		       const struct fkt_slots *within, u32 page, bool shared, struct fkt_slot *slot,
		       bool *is_within);

/* The number of the page that a slot is in. */
static __always_inline u32 fkt_slot_page(const struct fkt_slot *slot)
{
	return slot->entry->number;
}

/* fkt_commit() of so many slots. */
static __always_inline void fkt_commit_slots(const struct fkt_slot *slot, u32 count, bool shared)
{
	/* Partner: the acquire in fkt_page_whole(). */
	fkt_add_release(&slot->entry->commit, FKT_COMMIT(slot->bytes, count), shared);
}

void fkt_lane_record_slow(struct fkt_lane *lane, u64 tag, u32 words, const u64 *args, bool shared);
bool fkt_lane_try_record(struct fkt_lane *lane, u64 tag, u32 words, const u64 *args, bool shared);

/**
 * fkt_lane_record - reserve, fill, commit
 * @lane: the lane
 * @tag: FKT_TAG(code, words, imm)
 * @words: number of @args, a constant, less than FKT_SLOT_WORDS_MAX
 * @args: the words
 * @shared: as for fkt_reserve()
 *
 * An event for which there is no room is counted as lost.
 *
 * Context: as for fkt_reserve().
 */
static __always_inline void fkt_lane_record(struct fkt_lane *lane, u64 tag, u32 words,
					    const u64 *args, bool shared)
{
	struct fkt_slot slot __fkt_uninitialized;
	u32 i;

	if (unlikely(!fkt_reserve(lane, &tag, 0, words, shared, &slot))) {
		fkt_lane_record_slow(lane, tag, words, args, shared);
		return;
	}
	for (i = 0; i < words; i++)
		slot.words[i] = args[i];
	fkt_commit(&slot, shared);
}

/* The reader's side, and setting up. One caller at a time. */
void fkt_lane_init(struct fkt_lane *lane, struct fkt_ring_entry *ring, u32 entries, u16 number,
		   u16 cpu, u32 kick_pages, const u8 *id);
void fkt_lane_set_ring(struct fkt_lane *lane, struct fkt_ring_entry *ring);
bool fkt_lane_hold(struct fkt_lane *lane);
void fkt_lane_release(struct fkt_lane *lane);
void fkt_lane_restart(struct fkt_lane *lane, bool used, u64 events);
void *fkt_lane_forget(struct fkt_lane *lane, u64 until);
bool fkt_lane_before_fence(const struct fkt_lane *lane);
void fkt_lane_kick_every(struct fkt_lane *lane, u32 pages);
void fkt_lane_queue(struct fkt_lane *lane, void *page, void *buf);
struct fkt_page_header *fkt_lane_take(struct fkt_lane *lane, void **buf);
void *fkt_lane_unqueue(struct fkt_lane *lane);
bool fkt_lane_ready(struct fkt_lane *lane);
u32 fkt_lane_queued(struct fkt_lane *lane);
u32 fkt_lane_filling(struct fkt_lane *lane);

bool fkt_lane_close(struct fkt_lane *lane, bool shared);
void fkt_lane_fence(struct fkt_lane *lane, bool shared);
u64 fkt_lane_complete(const struct fkt_lane *lane);
void fkt_clock_goes_on(u64 clock, u64 stamp);
bool fkt_lane_pending(struct fkt_lane *lane);

/*
 * What the lane calls from inside a probe, in any context; neither may wait.
 * fkt_lane_kick: there are pages to take. fkt_lane_full: an event was lost.
 */
void fkt_lane_kick(struct fkt_lane *lane);
void fkt_lane_full(struct fkt_lane *lane, u64 now);

#endif

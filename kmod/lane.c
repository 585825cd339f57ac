// SPDX-License-Identifier: GPL-2.0-only
/* The rotating buffer's rare way (page switch, wide slots, no room), and the reader's side. */
#include "lane.h"

u64 fkt_clock_ahead;

/*
 * Publish how much of a page is used. The caller has just moved the head off the page, and is
 * therefore the only one to close it; the page is still the lane's, for it is not whole before.
 */
static void fkt_page_close(struct fkt_ring_entry *entry, u32 used, u64 now)
{
	fkt_entry_page(entry)->end = now;
	smp_store_release(&entry->used, used); /* partner: the acquire in fkt_page_whole() */
}

/**
 * struct fkt_place - where a slot could be
 * @now: the clock, read after the head
 * @next: the head that takes it
 * @page: page number of the head before
 * @offset: its offset
 * @opens: the slot is not in that page: it opens the next one, or there is none
 * @start: where it begins in its page; 0 when there is no page, and this one is to be closed
 * @wide: bytes by which it is longer than a narrow one
 * @lost: events lost before the page that it opens
 */
struct fkt_place {
	u64 now;
	u64 next;
	u32 page;
	u32 offset;
	bool opens;
	u32 start;
	u32 wide;
	u64 lost;
};

/*
 * Find a place for a slot of @bytes. False when there is no page, and the last one is closed
 * already.
 */
static __always_inline bool fkt_place_find(struct fkt_lane *lane, u64 head, u32 bytes, u32 cpu,
					   bool shared, struct fkt_place *place)
{
	const u32 head_cpu = shared ? cpu : 0;
	u64 near;

	place->now = fkt_clock(shared);
	near = READ_ONCE(lane->near);
	place->offset = FKT_HEAD_OFFSET(head);
	place->page = FKT_HEAD_PAGE(head);
	place->wide = 0;
	place->lost = 0;
	if ((s64)(place->now - near) >= (s64)FKT_NEAR_CYCLES ||
	    (shared && FKT_HEAD_CPU(head) != cpu))
		place->wide = sizeof(u64);

	/*
	 * After hours of silence not even a wide slot says how long it was: begin a page. The slot
	 * before may be FKT_NEAR_CYCLES earlier than @near.
	 */
	place->opens = place->offset + bytes + place->wide > FKT_PAGE_BYTES ||
		       (s64)(place->now - near) >= (s64)(FKT_FAR_CYCLES - FKT_NEAR_CYCLES);
	if (!place->opens) {
		place->start = place->offset;
		place->next = FKT_HEAD(place->page, head_cpu, place->offset + bytes + place->wide);
		return true;
	}
	if ((s32)(smp_load_acquire(&lane->limit) - (place->page + 1)) > 0) {
		/*
		 * Partner of the acquire: the release in fkt_lane_queue(). What is lost from here
		 * on is lost after this page began, or is not yet counted; and read before the
		 * exchange, the count never runs backwards from page to page.
		 */
		place->lost = READ_ONCE(lane->lost);
		place->start = sizeof(struct fkt_page_header);
		place->wide = 0; /* the page's header has the stamp and the CPU */
		place->next = FKT_HEAD(place->page + 1, head_cpu, place->start + bytes);
		return true;
	}
	/*
	 * No page. Close this one as it is: the reader may have it, and the loss falls between two
	 * pages, where the next one's header counts it.
	 */
	place->start = 0;
	place->next = FKT_HEAD(place->page, head_cpu, FKT_HEAD_CLOSED);
	return place->offset != FKT_HEAD_CLOSED;
}

/*
 * A page was begun: let there be more, at the cost of the oldest ones. In the order of time, a
 * lane's CPU does this alone; a probe that interrupts it here finds that it is being done, and so
 * does fkt_lane_hold(). A page in which an interrupted probe has not committed its slot yet stays,
 * with all after it.
 */
static void fkt_lane_overwrite(struct fkt_lane *lane)
{
	struct fkt_ring_entry *oldest;

	if (READ_ONCE(lane->overwriting))
		return;
	WRITE_ONCE(lane->overwriting, true);
	barrier(); /* partner: a probe, or fkt_lane_hold(), that interrupts this, on this CPU */
	/*
	 * Once more: it may have been held since the caller looked. Partner: the release in
	 * fkt_lane_release().
	 */
	while (smp_load_acquire(&lane->overwrites) && fkt_lane_queued(lane) < FKT_OVERWRITE_PAGES &&
	       fkt_lane_ready(lane)) {
		oldest = fkt_ring_entry(lane, lane->tail);
		lane->overwritten += FKT_COMMIT_EVENTS(oldest->commit);
		lane->overwritten_end = fkt_entry_page(oldest)->end;
		/* Partner: the acquire in fkt_lane_filling(), by one who is not the reader. */
		smp_store_release(&lane->tail, lane->tail + 1);
		fkt_lane_queue(lane, fkt_entry_page(oldest), oldest->buf);
	}
	barrier(); /* partner: the same */
	WRITE_ONCE(lane->overwriting, false);
}

/*
 * Whoever finds a page in an image of memory, when the machine has died, knows it by its header:
 * see struct fkt_note. The header is no page's while it is being changed. The image is as if this
 * CPU had been interrupted somewhere: the compiler's order is all that counts.
 */
static void fkt_header_begin(struct fkt_lane *lane, struct fkt_page_header *header, u32 page)
{
	WRITE_ONCE(header->magic, 0);
	barrier();
	header->lane = lane->number;
	header->seq = page;
	header->used = 0;
	header->events = (u32)((unsigned long)header / FKT_PAGE_BYTES);
	header->flags = FKT_PAGE_HELD;
	memcpy(header->id, lane->id, sizeof(header->id));
}

static void fkt_header_end(struct fkt_page_header *header)
{
	barrier();
	WRITE_ONCE(header->magic, FKT_PAGE_MAGIC);
}

/*
 * The place is taken: write the slot's first words, and before them the header of a page that it
 * opens.
 */
static __always_inline void fkt_place_begin(struct fkt_lane *lane, const struct fkt_place *place,
					    u64 tag, u32 bytes, u32 cpu, struct fkt_slot *slot)
{
	const u64 stamp = fkt_stamp(place->now);
	struct fkt_page_header *header;
	u64 *first;

	WRITE_ONCE(lane->near, place->now + FKT_NEAR_CYCLES);
	slot->entry = fkt_head_entry(lane, place->next);
	slot->bytes = bytes + place->wide;
	header = fkt_entry_page(slot->entry);
	first = (void *)header + place->start;
	if (place->opens) {
		/* The header is committed together with the slot that opens the page. */
		slot->bytes += sizeof(*header);
		fkt_header_begin(lane, header, FKT_HEAD_PAGE(place->next));
		header->cpu = cpu;
		header->first = stamp;
		header->lost = place->lost;
		header->pid = fkt_current_pid();
		fkt_header_end(header);
		if (!(place->page & READ_ONCE(lane->kick_mask)))
			fkt_lane_kick(lane);
	} else if (place->wide) {
		tag = (tag + 1) | FKT_SLOT_WIDE;
		first[1] = FKT_WIDE_WORD(stamp, cpu);
	}
	first[0] = FKT_SLOT_STAMP(place->now) | tag;
	slot->words = (void *)first + 8 + place->wide;
}

/*
 * Reserve @slots; or, without @page being left, those of @within, if there are any. What @can_wait
 * is not lost where there is no room. In the other functions here, so that those without know of
 * none.
 */
static __always_inline bool fkt_reserve_any(struct fkt_lane *lane, const struct fkt_slots *slots,
					    const struct fkt_slots *within, u32 page, bool shared,
					    struct fkt_slot *slot, bool *is_within, bool can_wait)
{
	const u32 cpu = fkt_cpu();
	const struct fkt_slots *now;
	struct fkt_place place;
	bool again = true, found;
	u64 head;

retry:
	do {
		head = READ_ONCE(lane->head);
		now = within && FKT_HEAD_PAGE(head) == page ? within : slots;
		found = fkt_place_find(lane, head, now->bytes, cpu, shared, &place);
		if (within && now == within && (!found || place.opens)) {
			now = slots;
			found = fkt_place_find(lane, head, now->bytes, cpu, shared, &place);
		}
		if (!found)
			goto full;
	} while (!fkt_cmpxchg(&lane->head, &head, place.next, shared));

	if (place.opens && place.offset != FKT_HEAD_CLOSED)
		fkt_page_close(fkt_ring_entry(lane, place.page), place.offset,
			       fkt_stamp(place.now));
	if (!place.start) {
		/*
		 * Once, not for each event that is lost from here on: the interrupt that a kick
		 * raises is an event itself.
		 */
		fkt_lane_kick(lane);
		goto full;
	}
	fkt_place_begin(lane, &place, now->tag, now->bytes, cpu, slot);
	if (place.opens && READ_ONCE(lane->overwrites))
		fkt_lane_overwrite(lane);
	if (within)
		*is_within = now == within;
	return true;

full:
	/*
	 * Pages are overwritten when one is begun: where all were full of an interrupted probe's
	 * page and those behind it, nobody would ever begin one, though that probe has committed.
	 */
	if (again && READ_ONCE(lane->overwrites)) {
		again = false;
		fkt_lane_overwrite(lane);
		if (fkt_lane_queued(lane))
			goto retry;
	}
	if (can_wait)
		return false;
	fkt_count(&lane->lost, shared);
	fkt_lane_full(lane, fkt_stamp(place.now));
	return false;
}

/**
 * fkt_reserve_slow - fkt_reserve() in every case
 * @lane: the lane
 * @tag: as for fkt_reserve()
 * @shared: as for fkt_reserve()
 * @slot: receives the slot
 *
 * Context: as for fkt_reserve().
 * Return: true, or false when there is no room: the event has been counted as lost.
 */
bool fkt_reserve_slow(struct fkt_lane *lane, u64 tag, bool shared, struct fkt_slot *slot)
{
	const struct fkt_slots one = { tag, 8 * (1 + (u32)(tag & FKT_SLOT_WORDS_MASK)) };

	return fkt_reserve_any(lane, &one, NULL, 0, shared, slot, NULL, false);
}

/**
 * fkt_reserve_slots - reserve several slots as one
 * @lane: the lane
 * @slots: the slots, one page's at most
 * @within: other ones, which are reserved if they get into a certain page; fewer bytes than @slots
 * @page: that page, see fkt_slot_page()
 * @shared: as for fkt_reserve()
 * @slot: receives the first one; the others stand behind its words, and each begins with its
 *	FKT_SLOT_STAMP. To be committed by fkt_commit_slots()
 * @is_within: set to whether it is @within
 *
 * Context: as for fkt_reserve().
 * Return: as fkt_reserve_slow(); one event is counted as lost.
 */
bool fkt_reserve_slots(struct fkt_lane *lane, const struct fkt_slots *slots,
		       const struct fkt_slots *within, u32 page, bool shared, struct fkt_slot *slot,
		       bool *is_within)
{
	return fkt_reserve_any(lane, slots, within, page, shared, slot, is_within, false);
}

/**
 * fkt_lane_record_slow - fkt_lane_record() in every case
 * @lane: as there
 * @tag: as there
 * @words: as there
 * @args: as there
 * @shared: as there
 */
void fkt_lane_record_slow(struct fkt_lane *lane, u64 tag, u32 words, const u64 *args, bool shared)
{
	struct fkt_slot slot;

	if (!fkt_reserve_slow(lane, tag, shared, &slot))
		return;
	memcpy(slot.words, args, words * sizeof(*args));
	fkt_commit(&slot, shared);
}

/**
 * fkt_lane_try_record - fkt_lane_record() of what can be recorded later
 * @lane: as there
 * @tag: as there
 * @words: as there
 * @args: as there
 * @shared: as there
 *
 * Context: as for fkt_reserve().
 * Return: whether there was room; else nothing is counted as lost.
 */
bool fkt_lane_try_record(struct fkt_lane *lane, u64 tag, u32 words, const u64 *args, bool shared)
{
	const struct fkt_slots one = { tag, 8 * (1 + words) };
	struct fkt_slot slot;

	if (!fkt_reserve_any(lane, &one, NULL, 0, shared, &slot, NULL, true))
		return false;
	memcpy(slot.words, args, words * sizeof(*args));
	fkt_commit(&slot, shared);
	return true;
}

/**
 * fkt_lane_close - close the page that is being filled, if anything is in it
 * @lane: the lane
 * @shared: as for fkt_reserve()
 *
 * Context: on the lane's own CPU with preemption off, or when no probe can run; anywhere for a
 * shared lane.
 * Return: true when a page was closed.
 */
bool fkt_lane_close(struct fkt_lane *lane, bool shared)
{
	u64 head, now;

	do {
		head = READ_ONCE(lane->head);
		if (FKT_HEAD_OFFSET(head) == FKT_HEAD_CLOSED)
			return false;
		now = fkt_clock(shared);
	} while (!fkt_cmpxchg(&lane->head, &head, FKT_HEAD(FKT_HEAD_PAGE(head), 0, FKT_HEAD_CLOSED),
			      shared));
	fkt_page_close(fkt_ring_entry(lane, FKT_HEAD_PAGE(head)), FKT_HEAD_OFFSET(head),
		       fkt_stamp(now));
	return true;
}

/**
 * fkt_clock_goes_on - make the stamps go on, where the clock may have been set back
 * @clock: what the clock says
 * @stamp: the moment that this is to be; or up to 2 to the FKT_SLOT_STAMP_BITS later
 *
 * Context: no probe can run, and none of the lanes has a page that is open: what is in a page is
 * told from each other by the clock alone.
 */
void fkt_clock_goes_on(u64 clock, u64 stamp)
{
	const u64 unit = 1ull << FKT_SLOT_STAMP_BITS;

	WRITE_ONCE(fkt_clock_ahead, (stamp - clock + unit - 1) & ~(unit - 1));
}

/**
 * fkt_lane_fence - let nothing that is recorded from here on be earlier than now
 * @lane: the lane
 * @shared: as for fkt_reserve()
 *
 * Closes the page that is being filled. Where there is none, the head is moved all the same: a
 * probe that was interrupted between its clock and its slot, or whose CPU was taken away there by a
 * hypervisor, for however long, does not get that slot and reads the clock again. (The count wraps
 * after 32768 fences; the probe would have to stay there for exactly as many.)
 *
 * Context: as for fkt_lane_close(); on behalf of the reader, who waits for it.
 */
void fkt_lane_fence(struct fkt_lane *lane, bool shared)
{
	u64 head, next, now, lost;
	u32 page, fences;
	bool open;

	do {
		head = READ_ONCE(lane->head);
		/*
		 * Read before the exchange: whoever sees the new head reads the clock after that.
		 */
		now = fkt_clock(true);
		lost = READ_ONCE(lane->lost); /* as in fkt_place_find() */
		page = FKT_HEAD_PAGE(head);
		open = FKT_HEAD_OFFSET(head) != FKT_HEAD_CLOSED;
		fences = open ? 0 : (FKT_HEAD_CPU(head) + 1) & FKT_HEAD_FENCES;
		next = FKT_HEAD(page, fences, FKT_HEAD_CLOSED);
	} while (!fkt_cmpxchg(&lane->head, &head, next, shared));
	if (open)
		fkt_page_close(fkt_ring_entry(lane, page), FKT_HEAD_OFFSET(head), fkt_stamp(now));
	lane->fence_end = fkt_stamp(now);
	lane->fence_page = page;
	lane->fence_lost = lost;
}

/**
 * fkt_lane_complete - up to which stamp all that the lane will ever hold has been taken
 * @lane: the lane
 *
 * What the lane still holds, and what is recorded later, came after the closing of the last page
 * that was taken; and after the last fence, once all pages from before it are taken.
 *
 * Context: the reader.
 * Return: no event that is taken from here on has an earlier stamp.
 */
u64 fkt_lane_complete(const struct fkt_lane *lane)
{
	if (!fkt_lane_before_fence(lane) && lane->fence_end > lane->taken_end)
		return lane->fence_end;
	return lane->taken_end;
}

/**
 * fkt_lane_init - make an empty lane
 * @lane: the lane; no probe may use it yet
 * @ring: room for the ring, stays the caller's; may come later, with the first page
 * @entries: its size, a power of two, at least the pages that will ever be in the lane at a time
 * @number: the lane's number
 * @cpu: the lane's CPU, FKT_CPU_ANY for a shared lane
 * @kick_pages: call fkt_lane_kick() once for so many pages; a power of two, or 0: for a lane that
 *	overwrites
 * @id: the recording's random number
 */
void fkt_lane_init(struct fkt_lane *lane, struct fkt_ring_entry *ring, u32 entries, u16 number,
		   u16 cpu, u32 kick_pages, const u8 *id)
{
	memset(lane, 0, sizeof(*lane));
	lane->ring_mask = (entries - 1) * FKT_RING_ENTRY_BYTES;
	if (ring)
		fkt_lane_set_ring(lane, ring);
	memcpy(lane->id, id, sizeof(lane->id));
	lane->kick_mask = kick_pages - 1;
	lane->overwrites = !kick_pages;
	lane->number = number;
	lane->cpu = cpu;
	/* As if a page 0 had been closed, taken and forgotten. */
	lane->head = FKT_HEAD(0, 0, FKT_HEAD_CLOSED);
	lane->tail = 1;
	lane->limit = 1;
}

/**
 * fkt_lane_set_ring - give a lane its ring, in which there is nothing yet
 * @lane: the lane; probes look at the ring only when a page was queued
 * @ring: the ring
 */
void fkt_lane_set_ring(struct fkt_lane *lane, struct fkt_ring_entry *ring)
{
	const u32 entries = lane->ring_mask / FKT_RING_ENTRY_BYTES + 1;
	u32 i;

	memset(ring, 0, entries * sizeof(*ring));
	for (i = 0; i < entries; i++)
		ring[i].magic = FKT_NOTE_RING_MAGIC;
	lane->ring = ring;
}

/**
 * fkt_lane_hold - let a lane that overwrites keep what it has: from here on it has a reader
 * @lane: the lane
 *
 * Context: on the lane's own CPU with interrupts off, or where no probe can run.
 * Return: false when a probe that this has interrupted is overwriting: try again when it has ended.
 */
bool fkt_lane_hold(struct fkt_lane *lane)
{
	if (READ_ONCE(lane->overwriting))
		return false;
	WRITE_ONCE(lane->overwrites, false);
	barrier(); /* partner: a probe that interrupts this: limit and tail are the reader's now */
	return true;
}

/**
 * fkt_lane_release - let a lane overwrite again: it has no reader any more
 * @lane: the lane, with FKT_OVERWRITE_PAGES and one more, empty or not
 *
 * Context: the reader, anywhere.
 */
void fkt_lane_release(struct fkt_lane *lane)
{
	/* Partner: the acquire in fkt_lane_overwrite(). Limit and tail are whole. */
	smp_store_release(&lane->overwrites, true);
}

/**
 * fkt_lane_restart - forget what was taken, as if the lane were new
 * @lane: the lane
 * @used: it has come to where it was to go, and all from before the last fence was taken
 * @events: those that were taken, which count as overwritten if not
 *
 * The next page that is taken will be the first one.
 *
 * Context: the reader.
 */
void fkt_lane_restart(struct fkt_lane *lane, bool used, u64 events)
{
	const u64 complete = fkt_lane_complete(lane);

	lane->overwritten = used ? 0 : lane->overwritten + events;
	if (lane->overwritten_end < complete)
		lane->overwritten_end = complete;
	lane->taken = 0;
}

/**
 * fkt_lane_forget - take the oldest page out of a lane as one that was overwritten
 * @lane: the lane
 * @until: only if it was closed before this stamp
 *
 * Context: the reader.
 * Return: the handle that it was queued with; NULL when there is none, or it is not whole.
 */
void *fkt_lane_forget(struct fkt_lane *lane, u64 until)
{
	struct fkt_ring_entry *oldest = fkt_ring_entry(lane, lane->tail);

	if (!fkt_lane_ready(lane) || fkt_entry_page(oldest)->end >= until)
		return NULL;
	lane->overwritten += FKT_COMMIT_EVENTS(oldest->commit);
	lane->overwritten_end = fkt_entry_page(oldest)->end;
	/* Partner: the acquire in fkt_lane_filling(), by one who is not the reader. */
	smp_store_release(&lane->tail, lane->tail + 1);
	return oldest->buf;
}

/**
 * fkt_lane_before_fence - whether the oldest page is from before the last fence
 * @lane: the lane
 * Context: the reader.
 */
bool fkt_lane_before_fence(const struct fkt_lane *lane)
{
	return (s32)(lane->fence_page - lane->tail) >= 0;
}

/**
 * fkt_lane_kick_every - call fkt_lane_kick() once for so many pages from here on
 * @lane: the lane
 * @pages: how many, at least 1; of what is no power of two, the next smaller one
 *
 * Context: the reader. The mask is in the line of cache that probes write to: it is touched only
 * where it changes.
 */
void fkt_lane_kick_every(struct fkt_lane *lane, u32 pages)
{
	u32 mask = 0;

	while (2 * mask + 2 <= pages)
		mask = 2 * mask + 1;
	if (lane->kick_mask != mask)
		WRITE_ONCE(lane->kick_mask, mask);
}

/**
 * fkt_lane_queue - give the lane an empty page
 * @lane: the lane
 * @page: FKT_PAGE_BYTES of memory; the lane's until fkt_lane_take() or fkt_lane_unqueue()
 * @buf: the caller's handle, given back with the page
 *
 * Context: the reader.
 */
void fkt_lane_queue(struct fkt_lane *lane, void *page, void *buf)
{
	struct fkt_ring_entry *entry = fkt_ring_entry(lane, lane->limit);

	BUILD_BUG_ON(sizeof(*entry) != FKT_RING_ENTRY_BYTES);
	BUILD_BUG_ON(sizeof(struct fkt_note_entry) != FKT_RING_ENTRY_BYTES);
	BUILD_BUG_ON(offsetof(struct fkt_ring_entry, base) !=
		     offsetof(struct fkt_note_entry, base));
	entry->number = lane->limit;
	entry->base = (unsigned long)page - FKT_HEAD(entry->number, 0, 0);
	entry->buf = buf;
	entry->used = 0;
	entry->commit = 0;
	/* Partner: the acquire in fkt_place_find(). */
	smp_store_release(&lane->limit, lane->limit + 1);
}

/* Closed, and all that was reserved in it is committed: no probe will touch it again. */
static bool fkt_page_whole(struct fkt_ring_entry *entry)
{
	u32 used = smp_load_acquire(&entry->used); /* partner: the release in fkt_page_close() */

	/* Partner: the release in fkt_commit(). */
	return used && FKT_COMMIT_BYTES(smp_load_acquire(&entry->commit)) == used;
}

/**
 * fkt_lane_ready - whether fkt_lane_take() would find a page
 * @lane: the lane
 * Context: the reader.
 */
bool fkt_lane_ready(struct fkt_lane *lane)
{
	return lane->tail != lane->limit && fkt_page_whole(fkt_ring_entry(lane, lane->tail));
}

/**
 * fkt_lane_take - take the oldest page out of the lane, when it is whole
 * @lane: the lane
 * @buf: receives the handle that it was queued with
 *
 * Context: the reader.
 * Return: the page, with its header complete but for the recording's id, now the caller's; NULL
 * when there is none.
 */
struct fkt_page_header *fkt_lane_take(struct fkt_lane *lane, void **buf)
{
	struct fkt_ring_entry *entry = fkt_ring_entry(lane, lane->tail);
	struct fkt_page_header *header;

	if (!fkt_lane_ready(lane))
		return NULL;
	header = fkt_entry_page(entry);
	WRITE_ONCE(header->magic, 0); /* see fkt_header_begin() */
	barrier();
	header->seq = ++lane->taken;
	header->used = entry->used;
	header->events = FKT_COMMIT_EVENTS(entry->commit);
	header->flags = lane->overwritten && header->seq == 1 ? FKT_PAGE_OVERWROTE : 0;
	fkt_header_end(header);
	*buf = entry->buf;
	lane->taken_end = header->end;
	/* Partner: the acquire in fkt_lane_filling(), by one who is not the reader. */
	smp_store_release(&lane->tail, lane->tail + 1);
	return header;
}

/**
 * fkt_lane_unqueue - take back a page that was queued and not written to
 * @lane: the lane
 * Context: the reader, when no probe can run; or on the lane's own CPU with interrupts off, when so
 * many are queued that what interrupts all the same does not get to the last one.
 * Return: the handle of the page queued last; NULL when there is none.
 */
void *fkt_lane_unqueue(struct fkt_lane *lane)
{
	if (!fkt_lane_queued(lane))
		return NULL;
	WRITE_ONCE(lane->limit, lane->limit - 1);
	return fkt_ring_entry(lane, lane->limit)->buf;
}

/**
 * fkt_lane_queued - pages queued and not begun
 * @lane: the lane
 * Context: the reader; probes may take some at any moment. Or anybody who wants but a hint.
 */
u32 fkt_lane_queued(struct fkt_lane *lane)
{
	/*
	 * The limit only grows, and the head follows it: read in this order, one who is not the
	 * reader may find too many, and never less than none. Partner: the releases of the limit
	 * in fkt_lane_queue(), which came before any head beyond it.
	 */
	u64 head = smp_load_acquire(&lane->head);

	return READ_ONCE(lane->limit) - 1 - FKT_HEAD_PAGE(head);
}

/**
 * fkt_lane_filling - pages that were begun and not taken
 * @lane: the lane
 * Context: the reader; or anybody who wants but a hint.
 */
u32 fkt_lane_filling(struct fkt_lane *lane)
{
	/* The head is never behind the tail, which only grows. Partner: fkt_lane_take(). */
	u32 tail = smp_load_acquire(&lane->tail);

	return FKT_HEAD_PAGE(READ_ONCE(lane->head)) + 1 - tail;
}

/**
 * fkt_lane_pending - whether the lane holds events that were not taken
 * @lane: the lane
 * Context: the reader.
 */
bool fkt_lane_pending(struct fkt_lane *lane)
{
	return fkt_lane_filling(lane) != 0;
}

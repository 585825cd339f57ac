// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace out of what was in a machine's memory when it died, and of what its recorder had written.
 *
 * Pages that had gone out, or were on their way, have a header as in a file. Of a page that had not
 * it is told what was reserved in it, by its lane, and what was written, by its lane's ring; where
 * these are the same, all is. Otherwise a probe was interrupted, and there are slots that may be of
 * the page's former use: they are found, or the page is left out from there on.
 *
 * Nothing of this is believed: a slot is one only if all those of its page, one after the other,
 * come to the numbers that are told elsewhere.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "recover.h"
#include "write.h"

#define HEADER_BYTES   ((uint32_t)sizeof(struct fkt_page_header))
#define ENTRIES_A_PAGE (FKT_PAGE_BYTES / sizeof(struct fkt_note_entry))
#define PAGE_SLOTS_MAX ((FKT_PAGE_BYTES - sizeof(struct fkt_page_header)) / sizeof(uint64_t))
#define READ_PAGES     64
/* In place of how far the head's page is reserved: it is closed. */
#define HEAD_CLOSED    0xffffu

/**
 * struct found - a page of events in the image
 * @id: its recording
 * @place: where it is
 * @seq, @first, @end, @lane, @cpu: as its header says
 * @events: likewise; or, when it is held, the bits of its address
 * @used: likewise; 0 when it is held
 * @held: it had not gone out
 */
struct found {
	uint8_t id[FKT_ID_BYTES];
	uint64_t place;
	uint64_t seq;
	uint64_t first;
	uint64_t end;
	uint32_t events;
	uint16_t used;
	uint16_t lane;
	uint16_t cpu;
	bool held;
};

/* A lane in the image; see struct fkt_note. */
struct note {
	uint8_t id[FKT_ID_BYTES];
	uint16_t lane;
	uint16_t cpu;
	bool overwrites;
	uint32_t lanes;
	uint32_t tsc_khz;
	uint64_t head;
	uint32_t tail;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t overwritten_end;
};

struct fkt_recovery {
	fkt_image_fn *read;
	void *arg;
	struct found *found;
	size_t n_found;
	struct note *note;
	size_t n_notes;
	uint64_t *ring; /* places of pages of rings */
	size_t n_rings;
	struct fkt_recovered *recording;
	size_t n_recordings;
};

/* ---- looking ---- */

/* Make room for one more in an array whose room is always a power of two. */
static void *one_more(void *array, size_t count, size_t bytes)
{
	if (count & (count - 1) || (count && count < 16))
		return array;
	return reallocarray(array, count ? 2 * count : 16, bytes);
}

static uint64_t word_at(const void *page, unsigned int at)
{
	uint64_t word;

	if (at > FKT_PAGE_BYTES - sizeof(word))
		return 0;
	memcpy(&word, (const char *)page + at, sizeof(word));
	return le64toh(word);
}

static int look_note(struct fkt_recovery *recovery, const void *page)
{
	struct fkt_note said;
	struct note *larger, note = { 0 };

	memcpy(&said, page, sizeof(said));
	if (le16toh(said.bytes) < sizeof(said) || le16toh(said.lane) >= FKT_LANE_INDEX)
		return 0;
	memcpy(note.id, said.id, sizeof(note.id));
	note.lane = le16toh(said.lane);
	note.cpu = le16toh(said.cpu);
	note.overwrites = le16toh(said.flags) & FKT_NOTE_OVERWRITES;
	note.lanes = le32toh(said.lanes);
	note.tsc_khz = le32toh(said.tsc_khz);
	note.head = word_at(page, le16toh(said.head_at));
	note.tail = (uint32_t)word_at(page, le16toh(said.tail_at));
	note.lost = word_at(page, le16toh(said.lost_at));
	note.overwritten = word_at(page, le16toh(said.overwritten_at));
	note.overwritten_end = word_at(page, le16toh(said.overwritten_end_at));
	larger = one_more(recovery->note, recovery->n_notes, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	recovery->note = larger;
	larger[recovery->n_notes++] = note;
	return 0;
}

static int look_ring(struct fkt_recovery *recovery, uint64_t place)
{
	uint64_t *larger = one_more(recovery->ring, recovery->n_rings, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	recovery->ring = larger;
	larger[recovery->n_rings++] = place;
	return 0;
}

/* Whether a page that has gone out can be what its header says; the rest is looked at later. */
static bool header_can_be(const struct fkt_page_header *header)
{
	return header->used > HEADER_BYTES && header->used <= FKT_PAGE_BYTES &&
	       !(header->used % 8) && header->events &&
	       header->events <= (header->used - HEADER_BYTES) / 8 && header->seq &&
	       (header->first <= header->end || header->first - header->end <= FKT_SKEW_CYCLES);
}

static int look_page(struct fkt_recovery *recovery, const void *page, uint64_t place)
{
	struct fkt_page_header header;
	struct found *larger, *found;
	bool held;

	memcpy(&header, page, sizeof(header));
	header.lane = le16toh(header.lane);
	header.cpu = le16toh(header.cpu);
	header.seq = le64toh(header.seq);
	header.first = le64toh(header.first);
	header.end = le64toh(header.end);
	header.used = le32toh(header.used);
	header.events = le32toh(header.events);
	held = le32toh(header.flags) & FKT_PAGE_HELD;
	if (header.lane == FKT_LANE_INDEX ||
	    (held ? header.used || header.seq > UINT32_MAX : !header_can_be(&header)))
		return 0;
	larger = one_more(recovery->found, recovery->n_found, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	recovery->found = larger;
	found = &larger[recovery->n_found++];
	memcpy(found->id, header.id, sizeof(found->id));
	found->place = place;
	found->seq = header.seq;
	found->first = header.first;
	found->end = header.end;
	found->events = header.events;
	found->used = (uint16_t)header.used;
	found->lane = header.lane;
	found->cpu = header.cpu;
	found->held = held;
	return 0;
}

int fkt_recovery_look(struct fkt_recovery *recovery, const void *page, uint64_t place)
{
	uint32_t magic;

	memcpy(&magic, page, sizeof(magic));
	switch (le32toh(magic)) {
	case FKT_PAGE_MAGIC:
		return look_page(recovery, page, place);
	case FKT_NOTE_MAGIC:
		return look_note(recovery, page);
	default:
		return fkt_recovery_may(page) ? look_ring(recovery, place) : 0;
	}
}

struct fkt_recovery *fkt_recovery_new(fkt_image_fn *read, void *arg)
{
	struct fkt_recovery *recovery = calloc(1, sizeof(*recovery));

	if (!recovery)
		return NULL;
	recovery->read = read;
	recovery->arg = arg;
	return recovery;
}

void fkt_recovery_free(struct fkt_recovery *recovery)
{
	if (!recovery)
		return;
	free(recovery->found);
	free(recovery->note);
	free(recovery->ring);
	free(recovery->recording);
	free(recovery);
}

/* ---- which recordings ---- */

/* By recording, lane and time; of copies of a page, the one with the most in it comes first. */
static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int ids = memcmp(x->id, y->id, sizeof(x->id));

	if (ids)
		return ids;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->used != y->used)
		return x->used > y->used ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static int compare_notes(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int ids = memcmp(x->id, y->id, sizeof(x->id));

	if (ids)
		return ids;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->head > y->head ? -1 : x->head < y->head;
}

static int compare_recordings(const void *a, const void *b)
{
	const struct fkt_recovered *x = a, *y = b;

	if (!x->notes != !y->notes)
		return x->notes ? -1 : 1;
	if (x->last != y->last)
		return x->last > y->last ? -1 : 1;
	return memcmp(x->id, y->id, sizeof(x->id));
}

int fkt_recovery_sort(struct fkt_recovery *recovery, const struct fkt_recovered **recordings,
		      size_t *count)
{
	struct fkt_recovered *recording = NULL, *larger;
	const struct note *note = recovery->note;
	const struct note *notes_end = note + recovery->n_notes;
	int ids;

	if (recovery->n_found)
		qsort(recovery->found, recovery->n_found, sizeof(*recovery->found), compare_found);
	if (recovery->n_notes)
		qsort(recovery->note, recovery->n_notes, sizeof(*recovery->note), compare_notes);
	recovery->n_recordings = 0;
	for (size_t i = 0; i < recovery->n_found; i++) {
		const struct found *found = &recovery->found[i];

		if (!recording || memcmp(recording->id, found->id, sizeof(found->id))) {
			larger = one_more(recovery->recording, recovery->n_recordings,
					  sizeof(*larger));
			if (!larger)
				return -ENOMEM;
			recovery->recording = larger;
			recording = &larger[recovery->n_recordings++];
			*recording = (struct fkt_recovered){ 0 };
			memcpy(recording->id, found->id, sizeof(recording->id));
			for (; note < notes_end; note++) {
				ids = memcmp(note->id, found->id, sizeof(found->id));
				if (ids > 0)
					break;
				if (ids)
					continue;
				recording->notes++;
				recording->tsc_khz = note->tsc_khz;
			}
		}
		recording->pages++;
		recording->held += found->held;
		if (found->first > recording->last)
			recording->last = found->first;
	}
	if (recovery->n_recordings)
		qsort(recovery->recording, recovery->n_recordings, sizeof(*recovery->recording),
		      compare_recordings);
	*recordings = recovery->recording;
	*count = recovery->n_recordings;
	return 0;
}

/* ---- one of them ---- */

/**
 * struct piece - a page in memory that is to go into the trace
 * @found: where it is
 * @limit: up to where it was reserved, in bytes
 * @commit: how much of that was written, as struct fkt_note_entry has it
 * @told: both are known
 * @open: it is not closed
 */
struct piece {
	const struct found *found;
	uint32_t limit;
	uint32_t commit;
	bool told;
	bool open;
};

/**
 * struct lane - a lane of the new trace
 * @piece: its pages in memory, in their order
 * @pieces: how many
 * @next: the first one that is not written
 * @note: the lane itself in memory; NULL when it was not found
 * @old_seq: number of the page written last, as memory or the file counts
 * @was_held: that was the lane's count
 * @seq: as the new trace does
 * @stamp: when it began
 * @lost: events lost, as it says
 * @events: events written
 * @pages: pages written
 * @cpu: its CPU
 */
struct lane {
	struct piece *piece;
	size_t pieces;
	size_t next;
	const struct note *note;
	uint64_t old_seq;
	bool was_held;
	uint64_t seq;
	uint64_t stamp;
	uint64_t lost;
	uint64_t events;
	uint64_t pages;
	uint16_t cpu;
};

/**
 * struct rebuild - a trace being made
 * @recovery: where from
 * @head: the file, or NULL
 * @writer: where to
 * @result: what came of it
 * @lane: all lanes
 * @pieces: all pages in memory
 * @n_pieces: how many
 * @overwrites: pages before a lane's first one were overwritten: they are not missing
 * @in_file: pages are still being read from the file
 * @watermark: all events of earlier stamps were read from it
 * @first: of all stamps, the earliest
 * @last: of all stamps, the latest
 */
struct rebuild {
	struct fkt_recovery *recovery;
	struct fkt_trace *head;
	struct fkt_writer writer;
	struct fkt_recover *result;
	struct lane *lane;
	struct piece *pieces;
	size_t n_pieces;
	bool overwrites;
	bool in_file;
	uint64_t watermark;
	uint64_t first;
	uint64_t last;
};

/* The number of a page in its lane, of which 32 bits are known, near another one. */
static uint64_t near_number(uint64_t number, uint64_t bits)
{
	uint64_t near = number + (uint64_t)(int64_t)(int32_t)((uint32_t)bits - (uint32_t)number);

	return near > INT64_MAX ? (uint32_t)bits : near;
}

static int compare_by_entry(const void *a, const void *b)
{
	const struct found *x = (*(struct piece *const *)a)->found;
	const struct found *y = (*(struct piece *const *)b)->found;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return x->events < y->events ? -1 : x->events > y->events;
}

/* An entry of a ring: whose page is it? */
static void take_entry(struct piece **held, size_t count, const struct fkt_note_entry *entry)
{
	uint32_t number = le32toh(entry->number);
	uint64_t page = le64toh(entry->base) + ((uint64_t)number << 32);
	uint32_t address = (uint32_t)(page / FKT_PAGE_BYTES);
	uint32_t commit = le32toh(entry->commit), used = le32toh(entry->used);
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (held[middle]->found->seq < number ||
		    (held[middle]->found->seq == number && held[middle]->found->events < address))
			low = middle + 1;
		else
			high = middle;
	}
	/* There may be several copies of a page. */
	for (;
	     low < count && held[low]->found->seq == number && held[low]->found->events == address;
	     low++) {
		held[low]->told = true;
		held[low]->open = !used;
		held[low]->limit = used;
		held[low]->commit = commit;
	}
}

/* What the rings tell of the pages that have not gone out. */
static int read_rings(struct rebuild *rebuild)
{
	struct fkt_recovery *recovery = rebuild->recovery;
	struct piece **held = calloc(rebuild->n_pieces + 1, sizeof(*held));
	struct fkt_note_entry entry[ENTRIES_A_PAGE];
	size_t count = 0;

	if (!held)
		return -ENOMEM;
	for (size_t i = 0; i < rebuild->n_pieces; i++)
		if (rebuild->pieces[i].found->held)
			held[count++] = &rebuild->pieces[i];
	if (count)
		qsort(held, count, sizeof(*held), compare_by_entry);
	for (size_t i = 0; count && i < recovery->n_rings; i++) {
		if (!recovery->read(recovery->arg, recovery->ring[i], entry))
			continue;
		for (size_t k = 0; k < ENTRIES_A_PAGE; k++)
			if (le32toh(entry[k].magic) == FKT_NOTE_RING_MAGIC &&
			    (entry[k].base || entry[k].number))
				take_entry(held, count, &entry[k]);
	}
	free(held);
	return 0;
}

/* Up to where a page that is held was reserved; false when nothing says so. */
static bool find_limit(const struct lane *lane, struct piece *piece)
{
	uint32_t offset;

	if (!piece->told)
		return false;
	if (piece->open) {
		if (!lane->note)
			return false;
		offset = (uint32_t)(lane->note->head & 0xffff);
		/* One whose lane has gone on, and that was about to be closed, is as it is. */
		piece->limit = lane->note->head >> 32 != piece->found->seq || offset == HEAD_CLOSED
				       ? piece->commit & 0xffff
				       : offset;
	}
	return piece->limit > HEADER_BYTES && piece->limit <= FKT_PAGE_BYTES &&
	       !(piece->limit % 8) && (piece->commit & 0xffff) <= piece->limit;
}

/* Choose the pages of each lane: each once, and none that the lane says was overwritten. */
static int choose_pieces(struct rebuild *rebuild, const struct found *found, size_t count)
{
	const uint32_t lanes = rebuild->writer.header.lanes;
	struct piece *piece, *to;
	struct lane *lane;
	int err;

	rebuild->pieces = calloc(count + 1, sizeof(*rebuild->pieces));
	if (!rebuild->pieces)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (found[i].lane >= lanes) {
			rebuild->result->damaged++;
			continue;
		}
		rebuild->pieces[rebuild->n_pieces++].found = &found[i];
	}
	err = read_rings(rebuild);
	if (err)
		return err;
	for (size_t i = 0; i < rebuild->n_pieces; i++) {
		piece = &rebuild->pieces[i];
		lane = &rebuild->lane[piece->found->lane];
		if (!lane->piece)
			lane->piece = piece;
		to = lane->piece + lane->pieces;
		if (piece->found->held && lane->note &&
		    (int32_t)((uint32_t)piece->found->seq - lane->note->tail) < 0)
			continue;
		if (piece->found->held && !find_limit(lane, piece)) {
			rebuild->result->unknown++;
			continue;
		}
		if (lane->pieces && to[-1].found->first == piece->found->first &&
		    to[-1].found->seq == piece->found->seq &&
		    to[-1].found->held == piece->found->held)
			continue;
		*to = *piece;
		lane->pieces++;
	}
	return 0;
}

/* ---- a page ---- */

/* Slots of a page, checked. */
struct slots {
	struct fkt_event event[PAGE_SLOTS_MAX];
	uint32_t bytes[PAGE_SLOTS_MAX];
	uint32_t count;
	uint32_t end; /* where the last one ends */
	uint64_t stamp;
	uint16_t cpu;
};

/* Go on from slot to slot while they can be slots. Whether they end at @limit. */
static bool walk(struct slots *slots, const void *data, const struct fkt_page_header *header,
		 bool shared, uint32_t from, uint32_t limit)
{
	const uint64_t *words = data;
	const uint64_t skew = shared ? FKT_SKEW_CYCLES : 0;
	struct fkt_cursor cursor = {
		.pos = words + from / sizeof(*words),
		.end = words + limit / sizeof(*words),
		.stamp = slots->stamp,
		.left = UINT32_MAX,
		.lane = header->lane,
		.cpu = slots->cpu,
		.shared = shared,
	};
	struct fkt_event event = { 0 };

	slots->end = from;
	while (fkt_slot_decode(&cursor, &event)) {
		if (slots->count == PAGE_SLOTS_MAX || event.stamp > header->end ||
		    (from == HEADER_BYTES && !slots->count ? event.stamp != header->first
							   : event.stamp + skew < cursor.stamp))
			return false;
		slots->event[slots->count] = event;
		fkt_slot_pass(&cursor, &event);
		slots->bytes[slots->count++] =
			(uint32_t)((size_t)(cursor.pos - words) * sizeof(*words)) - slots->end;
		slots->end = (uint32_t)((size_t)(cursor.pos - words) * sizeof(*words));
		slots->stamp = cursor.stamp;
		slots->cpu = cursor.cpu;
	}
	return slots->end == limit;
}

static void take_out(struct slots *slots, uint32_t first, uint32_t count)
{
	memmove(&slots->event[first], &slots->event[first + count],
		(slots->count - first - count) * sizeof(*slots->event));
	slots->count -= count;
}

/*
 * All slots can be slots, though some were not written to their end: each has its first word, but
 * its arguments may be of the page's former use. It is one that nobody came after, or one of the
 * only size that it can be. False when it can't be said which.
 */
static bool take_out_unwritten(struct slots *slots, uint32_t written, uint32_t bytes)
{
	uint32_t count = slots->count - written, sum = 0;

	if (slots->count <= written)
		return false;
	for (uint32_t i = 0; i < count; i++)
		sum += slots->bytes[slots->count - 1 - i];
	if (sum == bytes) {
		take_out(slots, slots->count - count, count);
		return true;
	}
	if (count != 1)
		return false;
	/* The header is committed with the first slot. */
	if (slots->bytes[0] + HEADER_BYTES == bytes) {
		take_out(slots, 0, 1);
		return true;
	}
	for (uint32_t i = slots->count; i-- > 1;) {
		if (slots->bytes[i] != bytes)
			continue;
		take_out(slots, i, 1);
		return true;
	}
	return false;
}

/*
 * The slots of a page that is held. Where one was reserved and never begun, what stands there is
 * most likely no slot that can be, and those behind it are found.
 */
static bool held_slots(struct rebuild *rebuild, const struct piece *piece, const void *data,
		       const struct fkt_page_header *header, struct slots *slots)
{
	const bool shared = rebuild->writer.header.shared;
	const uint32_t written = piece->commit >> 16;
	uint32_t hole = piece->limit - (piece->commit & 0xffff), unwritten, before;
	uint64_t stamp;
	uint16_t cpu;

	if (walk(slots, data, header, shared, HEADER_BYTES, piece->limit)) {
		if (!hole)
			return slots->count == written;
		unwritten = slots->count - written;
		if (!take_out_unwritten(slots, written, hole))
			return false;
		rebuild->result->unwritten += unwritten;
		return true;
	}
	before = slots->count;
	if (hole && !before && hole > HEADER_BYTES)
		hole -= HEADER_BYTES;
	if (hole && slots->end + hole <= piece->limit && before <= written) {
		stamp = slots->stamp;
		cpu = slots->cpu;
		if (slots->end + hole == piece->limit ||
		    walk(slots, data, header, shared, slots->end + hole, piece->limit)) {
			rebuild->result->unwritten++;
			return slots->count == written;
		}
		slots->count = before;
		slots->stamp = stamp;
		slots->cpu = cpu;
	}
	rebuild->result->damaged++;
	if (slots->count > written)
		slots->count = written;
	return true;
}

/* Where a stack that stands in the old page, as an event says, is in the new one; 0: nowhere. */
static void move_stack(const uint64_t *page, const uint64_t *end, const void *old,
		       struct fkt_event *event)
{
	const size_t begin = HEADER_BYTES / sizeof(*page);
	const struct fkt_cursor cursor = { .page = old, .first = (const uint64_t *)old + begin };
	struct fkt_stack_part part;

	fkt_stack_part(&cursor, event, &part);
	fkt_stack_slot_again(&part, part.known ? fkt_stack_find(page, page + begin, end, &part) : 0,
			     event);
}

/* Make a page of slots. */
static void put_slots(void *data, struct fkt_page_header *header, struct slots *slots)
{
	uint64_t page[FKT_PAGE_WORDS] = { 0 };
	uint64_t *to = page + HEADER_BYTES / sizeof(*page);
	uint64_t stamp = slots->event[0].stamp;
	uint16_t cpu = slots->event[0].cpu;

	header->first = stamp;
	header->cpu = cpu;
	for (uint32_t i = 0; i < slots->count; i++) {
		/* What stood before a stack may have been left out, or it itself. */
		if (slots->event[i].code == FKT_CODE_STACK && !slots->event[i].words)
			move_stack(page, to, data, &slots->event[i]);
		/* No room for the stamp: not one of the module's. */
		if (slots->event[i].words == FKT_SLOT_WORDS_MAX &&
		    fkt_slot_is_wide(&slots->event[i], stamp, cpu)) {
			slots->count = i;
			break;
		}
		to = fkt_slot_encode(to, &slots->event[i], stamp, cpu);
		stamp = slots->event[i].stamp;
		cpu = slots->event[i].cpu;
	}
	header->used = (uint32_t)((size_t)(to - page) * sizeof(*page));
	memcpy(data, page, sizeof(page));
}

/*
 * Whether a page is still what was found. It is not where the machine goes on meanwhile, as a guest
 * does whose memory is a file; and what was asked of the page then counts no more.
 */
static bool is_as_found(const struct found *found, const struct fkt_page_header *header)
{
	return !memcmp(header->id, found->id, sizeof(found->id)) && header->lane == found->lane &&
	       header->seq == found->seq && header->first == found->first &&
	       header->used == found->used && header->events == found->events &&
	       !(header->flags & FKT_PAGE_HELD) == !found->held;
}

/*
 * Read a page from memory, and make it what it would be in a file, maybe one without events. False:
 * it is none.
 */
static bool read_piece(struct rebuild *rebuild, const struct piece *piece, void *data,
		       struct fkt_page_header *header)
{
	const bool shared = rebuild->writer.header.shared;
	struct slots *slots = NULL;
	bool ok = false;
	uint64_t end;

	if (!rebuild->recovery->read(rebuild->recovery->arg, piece->found->place, data))
		return false;
	memcpy(header, data, sizeof(*header));
	header->lane = le16toh(header->lane);
	header->cpu = le16toh(header->cpu);
	header->seq = le64toh(header->seq);
	header->first = le64toh(header->first);
	header->end = piece->found->held && piece->open ? UINT64_MAX : le64toh(header->end);
	header->lost = le64toh(header->lost);
	header->used = le32toh(header->used);
	header->events = le32toh(header->events);
	header->pid = le32toh(header->pid);
	header->flags = le32toh(header->flags);
	if (!is_as_found(piece->found, header))
		return false;
	slots = malloc(sizeof(*slots));
	if (!slots)
		return false;
	slots->count = 0;
	slots->stamp = header->first;
	slots->cpu = header->cpu;
	/* Where CPUs share it, the one that closed it may be a bit behind. */
	end = header->end;
	if (shared && end < UINT64_MAX - FKT_SKEW_CYCLES)
		header->end += FKT_SKEW_CYCLES;
	if (!piece->found->held) {
		ok = walk(slots, data, header, shared, HEADER_BYTES, header->used) &&
		     slots->count == header->events;
	} else if (held_slots(rebuild, piece, data, header, slots)) {
		ok = true;
		if (slots->count)
			put_slots(data, header, slots);
	}
	header->events = slots->count;
	header->end = end;
	if (ok && piece->found->held && piece->open)
		header->end = slots->stamp;
	if (ok && header->end < header->first)
		header->end = header->first;
	free(slots);
	return ok;
}

/* ---- the trace ---- */

static uint64_t complete_before(const void *arg)
{
	const struct rebuild *rebuild = arg;
	uint64_t complete = rebuild->in_file ? rebuild->watermark : UINT64_MAX;

	for (uint32_t i = 0; i < rebuild->writer.header.lanes; i++) {
		const struct lane *lane = &rebuild->lane[i];

		if (lane->next < lane->pieces && lane->piece[lane->next].found->first < complete)
			complete = lane->piece[lane->next].found->first;
	}
	/* Nothing is behind the last page. */
	return complete == UINT64_MAX ? rebuild->last : complete;
}

/* Write a page, whose number is the lane's in memory and in the file. */
static void put_page(struct rebuild *rebuild, void *data, struct fkt_page_header *header, bool held)
{
	struct lane *lane = &rebuild->lane[header->lane];
	uint64_t step = header->seq - lane->old_seq;

	/* When a lane that overwrites goes out, its pages are numbered anew. */
	if (rebuild->overwrites && (!lane->pages || (held && !lane->was_held))) {
		step = 1;
		header->flags = lane->pages ? 0 : FKT_PAGE_OVERWROTE;
		if (!lane->pages && header->seq == 1)
			header->flags = 0;
	} else {
		header->flags &= FKT_PAGE_OVERWROTE;
		rebuild->result->missing += step - 1;
	}
	lane->old_seq = header->seq;
	lane->was_held = held;
	lane->seq += step;
	header->seq = lane->seq;
	if (header->lost < lane->lost)
		header->lost = lane->lost;
	lane->lost = header->lost;
	lane->stamp = header->first;
	if (!rebuild->writer.header.shared)
		lane->cpu = header->cpu;
	lane->events += header->events;
	lane->pages++;
	if (header->first < rebuild->first)
		rebuild->first = header->first;
	if (header->end > rebuild->last)
		rebuild->last = header->end;
	fkt_write_page(&rebuild->writer, data, header);
}

/* The number of a lane's next page in memory, near that of another one. */
static uint64_t next_number(const struct lane *lane, uint64_t near)
{
	const struct found *found = lane->piece[lane->next].found;

	return found->held ? near_number(near, found->seq) : found->seq;
}

/* Write the lane's next page in memory, if it can be it. */
static void put_piece(struct rebuild *rebuild, struct lane *lane)
{
	const struct piece *piece = &lane->piece[lane->next];
	uint64_t number = next_number(lane, lane->old_seq);
	uint64_t data[FKT_PAGE_WORDS];
	struct fkt_page_header header;
	const bool anew = rebuild->overwrites &&
			  (!lane->pages || (piece->found->held && !lane->was_held));

	lane->next++;
	/* It was in the file. */
	if (lane->pages && !anew && number == lane->old_seq)
		return;
	if ((!anew && number <= lane->old_seq) ||
	    (!rebuild->writer.header.shared && piece->found->first < lane->stamp) ||
	    !read_piece(rebuild, piece, data, &header)) {
		rebuild->result->damaged++;
		return;
	}
	/* It was begun, and that was all. */
	if (!header.events)
		return;
	header.seq = number;
	rebuild->result->from_memory++;
	put_page(rebuild, data, &header, piece->found->held);
}

/* A page of the file; those before it that only memory has come first. */
static void put_from_file(struct rebuild *rebuild, void *data, struct fkt_page_header *header)
{
	struct lane *lane = &rebuild->lane[header->lane];
	const struct fkt_bounds bounds = { 0, UINT64_MAX };
	const struct fkt_before before = {
		.seq = lane->old_seq,
		.lost = lane->lost,
		.stamp = lane->stamp,
		.joined = !lane->pages,
		.cpu = fkt_cpu_of_lane(rebuild->head, header->lane),
	};

	while (lane->next < lane->pieces &&
	       !(rebuild->overwrites && lane->piece[lane->next].found->held) &&
	       next_number(lane, header->seq) < header->seq)
		put_piece(rebuild, lane);
	if ((fkt_needs_belief(&bounds, &before, header) &&
	     fkt_believe(rebuild->head, &bounds, &before, header, NULL) == FKT_NOT_BELIEVED) ||
	    header->seq <= lane->old_seq) {
		rebuild->result->damaged++;
		return;
	}
	/* A page that the disk has in part has its header all the same. */
	if (lane->next < lane->pieces && !lane->piece[lane->next].found->held &&
	    lane->piece[lane->next].found->seq == header->seq &&
	    lane->piece[lane->next].found->used >= header->used) {
		uint64_t copy[FKT_PAGE_WORDS];
		struct fkt_page_header of_copy;

		if (read_piece(rebuild, &lane->piece[lane->next], copy, &of_copy)) {
			put_page(rebuild, copy, &of_copy, false);
			return;
		}
	}
	put_page(rebuild, data, header, false);
}

static int read_file(struct rebuild *rebuild)
{
	struct fkt_trace *head = rebuild->head;
	char *data = malloc(READ_PAGES * FKT_PAGE_BYTES);
	uint64_t pages = 0, number = 0, complete;
	struct fkt_page_header header;
	enum fkt_page_kind kind = FKT_PAGE_EVENTS;

	if (!data)
		return -ENOMEM;
	rebuild->in_file = true;
	while (!rebuild->writer.err && number < head->pages && kind != FKT_PAGE_TAIL &&
	       (pages = fkt_read_pages(head, number,
				       head->pages - number < READ_PAGES ? head->pages - number
									 : READ_PAGES,
				       data))) {
		for (uint64_t i = 0; i < pages && kind != FKT_PAGE_TAIL; i++) {
			char *page = data + i * FKT_PAGE_BYTES;

			kind = fkt_page_check(head, page, &header);
			/* The rest of a device is of earlier recordings. */
			if (kind == FKT_PAGE_FOREIGN && !head->pages_known)
				kind = FKT_PAGE_TAIL;
			if (kind == FKT_PAGE_EVENTS && header.used > HEADER_BYTES) {
				put_from_file(rebuild, page, &header);
			} else if (kind == FKT_PAGE_INDEX) {
				complete = word_at(page, HEADER_BYTES + offsetof(struct fkt_index,
										 complete));
				if (complete > rebuild->watermark)
					rebuild->watermark = complete;
			}
		}
		number += pages;
	}
	free(data);
	rebuild->in_file = false;
	return head->input.error ? -head->input.error : 0;
}

/* What is left is in memory alone: in the order in which the pages were closed, open ones last. */
static void put_rest(struct rebuild *rebuild)
{
	const struct piece *piece;
	struct lane *lane, *next;
	uint64_t end, next_end;

	do {
		next = NULL;
		next_end = 0;
		for (uint32_t i = 0; i < rebuild->writer.header.lanes; i++) {
			lane = &rebuild->lane[i];
			if (lane->next == lane->pieces)
				continue;
			piece = &lane->piece[lane->next];
			end = piece->found->held && piece->open ? UINT64_MAX : piece->found->end;
			if (!next || end < next_end) {
				next = lane;
				next_end = end;
			}
		}
		if (next)
			put_piece(rebuild, next);
	} while (next && !rebuild->writer.err);
}

static bool is_replaced(uint32_t type)
{
	return type == FKT_SECTION_LANES;
}

static int add_info(char **info, size_t *bytes, const char *key, uint64_t value)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "%s=%" PRIu64, key, value) + 1;
	char *larger = realloc(*info, *bytes + (size_t)length);

	if (!larger)
		return -ENOMEM;
	memcpy(larger + *bytes, text, (size_t)length);
	*info = larger;
	*bytes += (size_t)length;
	return 0;
}

static int put_head(struct rebuild *rebuild, const struct note *note)
{
	struct fkt_writer *writer = &rebuild->writer;
	size_t bytes = 0;
	char *info = NULL;
	int err = 0;

	if (rebuild->head) {
		fkt_write_header(writer,
				 fkt_write_sections_of(NULL, rebuild->head, false, is_replaced) +
					 fkt_section_bytes(0));
		fkt_write_sections_of(writer, rebuild->head, false, is_replaced);
	} else {
		if (note)
			err = add_info(&info, &bytes, "tsc_khz", note->tsc_khz);
		fkt_write_header(writer, fkt_section_bytes(bytes) + fkt_section_bytes(0));
		fkt_write_section(writer, FKT_SECTION_INFO, info, bytes);
	}
	fkt_write_head_end(writer);
	free(info);
	return err;
}

static int put_tail(struct rebuild *rebuild)
{
	const uint32_t lanes = rebuild->writer.header.lanes;
	struct fkt_lane_totals *totals = calloc(lanes, sizeof(*totals));
	struct fkt_recover *result = rebuild->result;
	struct fkt_writer *writer = &rebuild->writer;
	uint64_t overwritten = 0, complete = 0, tail = writer->bytes;
	size_t bytes = 0;
	char *info = NULL;
	int err;

	if (!totals)
		return -ENOMEM;
	result->pages = writer->pages;
	for (uint32_t i = 0; i < lanes; i++) {
		const struct lane *lane = &rebuild->lane[i];
		uint64_t lost = lane->lost;
		uint32_t cpu = lane->cpu;

		if (lane->note && lane->note->lost > lost)
			lost = lane->note->lost;
		if (lane->note && cpu == FKT_CPU_ANY)
			cpu = lane->note->cpu;
		totals[i].lane = htole32(i);
		totals[i].cpu = htole32(cpu);
		totals[i].events = htole64(lane->events);
		totals[i].lost = htole64(lost);
		totals[i].pages = htole64(lane->pages);
		result->events += lane->events;
		result->lost += lost;
		if (!lane->note || !rebuild->overwrites)
			continue;
		overwritten += lane->note->overwritten;
		if (lane->note->overwritten_end > complete)
			complete = lane->note->overwritten_end;
	}
	err = add_info(&info, &bytes, "events", result->events) ?:
	      add_info(&info, &bytes, "lost", result->lost) ?:
	      add_info(&info, &bytes, "discarded", 0) ?:
	      add_info(&info, &bytes, "pages", result->pages) ?:
	      add_info(&info, &bytes, "bytes", result->pages * FKT_PAGE_BYTES) ?:
	      add_info(&info, &bytes, "start_cycles", rebuild->first) ?:
	      add_info(&info, &bytes, "stop_cycles", rebuild->last) ?:
	      add_info(&info, &bytes, "recovered", 1) ?:
	      add_info(&info, &bytes, "recovered_pages", result->from_memory) ?:
	      add_info(&info, &bytes, "recovered_unwritten", result->unwritten) ?:
	      add_info(&info, &bytes, "recovered_unknown", result->unknown);
	if (!err && overwritten)
		err = add_info(&info, &bytes, "overwritten", overwritten)
			      ?: add_info(&info, &bytes, "complete_from_cycles", complete);
	if (rebuild->head)
		fkt_write_sections_of(writer, rebuild->head, true, is_replaced);
	fkt_write_section(writer, FKT_SECTION_INFO, info, bytes);
	fkt_write_section(writer, FKT_SECTION_LANES, totals, lanes * sizeof(*totals));
	fkt_write_section(writer, FKT_SECTION_END, NULL, 0);
	fkt_write_footer(writer, tail);
	result->bytes = writer->bytes;
	free(info);
	free(totals);
	return err;
}

/* Of how many lanes the recording is, where no file says so. */
static void make_header(struct fkt_file_header *header, const uint8_t *id,
			const struct found *found, size_t count, const struct note *note)
{
	memcpy(header->id, id, sizeof(header->id));
	header->page_header_bytes = HEADER_BYTES;
	header->lanes = count ? found[count - 1].lane + 1u : 1;
	if (note && note->lanes && note->lanes < FKT_LANE_INDEX)
		header->lanes = note->lanes;
	header->shared = note && note->cpu == FKT_CPU_ANY;
	/* Where no note says so, a lane with pages of other CPUs than its own is shared. */
	for (size_t i = 0; i < count && !note && header->lanes == 1; i++)
		header->shared |= found[i].cpu != 0;
}

static int rebuild_trace(struct rebuild *rebuild, const struct found *found, size_t count,
			 const struct note *note, size_t notes)
{
	int err;

	for (uint32_t i = 0; i < rebuild->writer.header.lanes; i++)
		rebuild->lane[i].cpu = FKT_CPU_ANY;
	/* Of two that say to be one, the first is the newer. */
	for (size_t i = 0; i < notes; i++) {
		if (note[i].lane >= rebuild->writer.header.lanes ||
		    rebuild->lane[note[i].lane].note)
			continue;
		rebuild->lane[note[i].lane].note = &note[i];
		rebuild->overwrites |= note[i].overwrites;
	}
	err = choose_pieces(rebuild, found, count) ?: put_head(rebuild, notes ? note : NULL);
	if (!err && rebuild->head)
		err = read_file(rebuild);
	if (err)
		return err;
	put_rest(rebuild);
	return put_tail(rebuild);
}

int fkt_recover(struct fkt_recovery *recovery, const uint8_t *id, struct fkt_trace *head, int fd,
		struct fkt_recover *result)
{
	struct rebuild rebuild = {
		.recovery = recovery,
		.head = head,
		.writer = { .complete = complete_before },
		.result = result,
		.first = UINT64_MAX,
	};
	const struct found *found = recovery->found, *found_end = found + recovery->n_found;
	const struct note *note = recovery->note, *note_end = note + recovery->n_notes;
	size_t count = 0, notes = 0;
	const char *on_full;
	int err = -ENOMEM, write_err;

	if (head && !head->input.seekable)
		return -ESPIPE;
	if (head && head->header.page_header_bytes != HEADER_BYTES)
		return -EPROTONOSUPPORT;
	*result = (struct fkt_recover){ 0 };
	while (found < found_end && memcmp(found->id, id, FKT_ID_BYTES) < 0)
		found++;
	while (found + count < found_end && !memcmp(found[count].id, id, FKT_ID_BYTES))
		count++;
	while (note < note_end && memcmp(note->id, id, FKT_ID_BYTES) < 0)
		note++;
	while (note + notes < note_end && !memcmp(note[notes].id, id, FKT_ID_BYTES))
		notes++;
	if (head)
		rebuild.writer.header = head->header;
	else
		make_header(&rebuild.writer.header, id, found, count, notes ? note : NULL);
	on_full = head ? fkt_info(head, "on_full") : NULL;
	rebuild.overwrites = on_full && !strcmp(on_full, "overwrite");
	rebuild.writer.arg = &rebuild;
	rebuild.lane = calloc(rebuild.writer.header.lanes, sizeof(*rebuild.lane));
	if (!fkt_writer_init(&rebuild.writer, fd) && rebuild.lane)
		err = rebuild_trace(&rebuild, found, count, note, notes);
	write_err = fkt_writer_end(&rebuild.writer);
	free(rebuild.lane);
	free(rebuild.pieces);
	err = err ?: write_err;
	return err ?: result->events ? 0 : -ENODATA;
}

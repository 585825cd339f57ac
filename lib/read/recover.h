/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recover.c: a trace out of what was in a machine's memory when it died.
 *
 * An image of memory is looked at page by page, in any order. See struct fkt_note in fkt/format.h
 * for what there is to find.
 */
#ifndef FKT_RECOVER_H
#define FKT_RECOVER_H

#include <endian.h>

#include <fkt/trace.h>

struct fkt_recovery;

/* Read a page of the image again. False when it can't be read. */
typedef bool fkt_image_fn(void *arg, uint64_t place, void *page);

/**
 * struct fkt_recovered - a recording of which there are pages
 * @id: its random number
 * @pages: pages of events that were found, the same one twice if it was there twice
 * @held: how many of them had not gone out
 * @last: the latest stamp of a page's beginning
 * @notes: the lanes that were found
 * @tsc_khz: frequency of the stamps, 0 when nothing says so
 */
struct fkt_recovered {
	uint8_t id[FKT_ID_BYTES];
	uint64_t pages;
	uint64_t held;
	uint64_t last;
	uint32_t notes;
	uint32_t tsc_khz;
};

/**
 * struct fkt_recover - what came of it
 * @events: events in the new trace
 * @pages: pages in it
 * @bytes: its size
 * @from_memory: pages of events that the file had not
 * @missing: pages that are neither in the file nor in memory
 * @lost: events for which there was no room in the buffer
 * @unwritten: events that were being recorded when the machine stopped; left out
 * @unknown: pages that had not gone out, and of which nothing says what of them was written
 * @damaged: pages that are not what they say, or were used in part
 */
struct fkt_recover {
	uint64_t events;
	uint64_t pages;
	uint64_t bytes;
	uint64_t from_memory;
	uint64_t missing;
	uint64_t lost;
	uint64_t unwritten;
	uint64_t unknown;
	uint64_t damaged;
};

/* Whether a page may be of interest; of most, no more than the first bytes are looked at. */
static inline bool fkt_recovery_may(const void *page)
{
	const uint32_t *words = page;

	return le32toh(words[0]) == FKT_PAGE_MAGIC || le32toh(words[0]) == FKT_NOTE_MAGIC ||
	       le32toh(words[offsetof(struct fkt_note_entry, magic) / sizeof(*words)]) ==
		       FKT_NOTE_RING_MAGIC;
}

/* @read is called by fkt_recover() alone. NULL without memory. */
struct fkt_recovery *fkt_recovery_new(fkt_image_fn *read, void *arg);
void fkt_recovery_free(struct fkt_recovery *recovery);

/* Look at a page of the image; @place is what it will be asked for by. 0 or -ENOMEM. */
int fkt_recovery_look(struct fkt_recovery *recovery, const void *page, uint64_t place);

/*
 * All has been looked at: of which recordings are there pages? The newest one comes first: one of
 * which there are lanes, and then the one with the latest stamp. 0 or -ENOMEM.
 */
int fkt_recovery_sort(struct fkt_recovery *recovery, const struct fkt_recovered **recordings,
		      size_t *count);

/**
 * fkt_recover() - write a recording as a trace
 * @recovery: where its pages are
 * @id: which recording
 * @head: a trace with its names, and maybe pages; not a stream. NULL: do without
 * @fd: where to, in sequence
 * @result: set
 *
 * Return: 0, -ENODATA when there is no event, or another negative errno value.
 */
int fkt_recover(struct fkt_recovery *recovery, const uint8_t *id, struct fkt_trace *head, int fd,
		struct fkt_recover *result);

#endif

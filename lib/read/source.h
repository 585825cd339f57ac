/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a reader has a trace's pages from.
 *
 * A source finds out what pages there are, keeps for each lane a queue of those that its reader has
 * not come to yet, and opens them when it does. The kinds are a file, a stream, a file of which
 * some pages are in memory already (all three in source.c), and pages that other threads have
 * summed up (sum.c). A new kind fills in a struct fkt_source_ops; the reader does not ask for it.
 */
#ifndef FKT_SOURCE_H
#define FKT_SOURCE_H

#include "internal.h"

struct fkt_source;

/**
 * struct fkt_source_ops - a kind of source
 * @next: take the next page of a lane, which has one, by fkt_source_take(), and open it: 1 or a
 *	negative errno value, as for fkt_source_next()
 * @found: called when pages were found and put into the queues; may be NULL
 * @peek: read the header of a page that is in a lane's queue
 * @free: free what is its own, but not the struct itself; may be called after a part of it was made
 */
struct fkt_source_ops {
	int (*next)(struct fkt_source *source, uint32_t lane, struct fkt_page *page);
	void (*found)(struct fkt_source *source);
	enum fkt_page_kind (*peek)(struct fkt_source *source, uint32_t lane,
				   union fkt_page_ref page, struct fkt_page_header *header);
	void (*free)(struct fkt_source *source);
};

/* Called for each page that was put into a lane's queue. 0 or a negative errno value. */
typedef int fkt_found_fn(void *arg, uint32_t lane);

/**
 * struct fkt_queue - pages of a lane, a ring
 * @page: the pages
 * @room: entries of @page, a power of two
 * @head: counts those taken out
 * @tail: counts those put in
 */
struct fkt_queue {
	union fkt_page_ref *page;
	size_t room;
	size_t head;
	size_t tail;
};

/**
 * struct fkt_source - what all kinds have; the first member of what each has besides
 * @ops: its kind
 * @trace: the trace
 * @scan: what pages there are
 * @queue: of each lane, pages that were found and not yet taken
 * @waiting: how many, of all lanes
 * @wanted: so many should wait, so that they are known of before they are needed
 * @waiting_max: when so many wait, events go out although earlier ones may yet come
 * @whole: no page may be left out: where one would be, reading ends with -EAGAIN
 * @on_found: told of each page
 * @arg: for @on_found
 */
struct fkt_source {
	const struct fkt_source_ops *ops;
	struct fkt_trace *trace;
	struct fkt_scan *scan;
	struct fkt_queue *queue;
	uint64_t waiting;
	uint64_t wanted;
	uint64_t waiting_max;
	bool whole;
	fkt_found_fn *on_found;
	void *arg;
};

/* ---- for kinds of sources ---- */

/* Set up what all kinds have, for a struct of zeros. -ENOMEM: it is to be freed all the same. */
int fkt_source_init(struct fkt_source *source, const struct fkt_source_ops *ops,
		    struct fkt_trace *trace);

/* Take the first page of a lane's queue, which has one. */
union fkt_page_ref fkt_source_take(struct fkt_source *source, uint32_t lane);

/* ---- for readers ---- */

/*
 * The pages of a file. Of those that end before @from, not more than the header may be had: their
 * cursors have no slots.
 */
struct fkt_source *fkt_source_file(struct fkt_trace *trace, uint64_t from);

/*
 * The same, when some pages are in memory and stay there while the source lives: @lent[i] is page
 * number @first + i, or NULL when that one is not.
 */
struct fkt_source *fkt_source_lent(struct fkt_trace *trace, uint64_t from, const void *const *lent,
				   uint64_t first, uint64_t pages);

/* The pages of a stream, in the order in which they come. */
struct fkt_source *fkt_source_stream(struct fkt_trace *trace);

/* May be NULL. */
void fkt_source_free(struct fkt_source *source);

/* To be called first. Counts in @stats what fkt_scan_new() says. 0 or -ENOMEM. */
int fkt_source_begin(struct fkt_source *source, fkt_found_fn *found, void *arg,
		     struct fkt_read_stats *stats);

/* Find more pages: see fkt_scan_step(). */
int fkt_source_find(struct fkt_source *source, uint64_t *watermark);

/*
 * The next page of a lane, to be used until the next call for this lane. 1; 0 when none has been
 * found yet; -EBADMSG when it can't be read, or is damaged; or another negative errno value.
 */
int fkt_source_next(struct fkt_source *source, uint32_t lane, struct fkt_page *page);

/* The header of the page that is next, when one is known and it is as it should be. */
bool fkt_source_peek(struct fkt_source *source, uint32_t lane, struct fkt_page_header *header);

/*
 * merge.c: read from a source, which is freed with the reader, or at once when there is none. The
 * file is read from this block on: see fkt_seek_stamp(). NULL without memory or a source.
 */
struct fkt_reader *fkt_reader_new_source(struct fkt_source *source, uint64_t from, uint64_t to,
					 uint64_t block);

#endif

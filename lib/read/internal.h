/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What reads a trace's pages. Uses trace/; each file uses those above it, and none below it:
 *
 *	pages.c		a page of the file, its header, its slots
 *	stack.c		the stacks of events
 *	index.c		what index pages say, and to a moment by them
 *	scan.c		what pages there are, and to which lane each belongs
 *	believe.c	whether a lane's page can be what it says
 *	began.c		entries of calls that were told of when they ended, and what programs wrote
 *	source.c	the pages of each lane, one after the other (source.h)
 *	merge.c		the events of all lanes
 *	wanted.c	those of them that are wanted
 *	seek.c		moments that take reading to find
 *	state.c		how things stand at some moment
 *	write.c		a trace that is written in sequence (write.h)
 *	extract.c	a part of a trace as a trace
 */
#ifndef FKT_READ_INTERNAL_H
#define FKT_READ_INTERNAL_H

#include "decode.h"
#include "reader.h"
#include "trace/internal.h"

/* ---- pages.c ---- */

#define FKT_PAGE_WORDS (FKT_PAGE_BYTES / sizeof(uint64_t))

enum fkt_page_kind {
	FKT_PAGE_EVENTS,
	FKT_PAGE_INDEX,	  /* an index or a mark */
	FKT_PAGE_BAD,	  /* not a page, or damaged */
	FKT_PAGE_FOREIGN, /* a page of another recording */
	FKT_PAGE_TAIL,	  /* not a page: the tail sections begin here */
};

/**
 * struct fkt_page - a page of events, checked
 * @header: its header, in host byte order
 * @cursor: its slots, from the first one on
 */
struct fkt_page {
	struct fkt_page_header header;
	struct fkt_cursor cursor;
};

/**
 * struct fkt_window - consecutive pages of a file, in memory
 * @data: @room pages, or NULL before the first one was read
 * @room: how many are read at once
 * @first: number of the first one
 * @pages: how many are there
 */
struct fkt_window {
	char *data;
	uint64_t room;
	uint64_t first;
	uint64_t pages;
};

/* Where a page stands in the file. */
static inline uint64_t fkt_page_offset(const struct fkt_trace *trace, uint64_t number)
{
	return trace->header.data_offset + number * FKT_PAGE_BYTES;
}

/* Check the header at @data, and copy it to @header in host byte order. */
enum fkt_page_kind fkt_page_check(const struct fkt_trace *trace, const void *data,
				  struct fkt_page_header *header);

/* The same of a whole page; of one of events, @page is filled in. */
enum fkt_page_kind fkt_page_open(const struct fkt_trace *trace, const void *data,
				 struct fkt_page *page);

/* Read pages of a file: how many whole ones, fewer than @count at its end or after an error. */
uint64_t fkt_read_pages(struct fkt_trace *trace, uint64_t first, uint64_t count, void *data);

/* Read a page of a file into @data and open it; one that can't be read is bad. */
enum fkt_page_kind fkt_read_page(struct fkt_trace *trace, uint64_t number, void *data,
				 struct fkt_page *page);

/* Read no more than the header. */
enum fkt_page_kind fkt_read_page_header(struct fkt_trace *trace, uint64_t number,
					struct fkt_page_header *header);

/* A page that is in the window; NULL when it is not. */
static inline void *fkt_window_find(const struct fkt_window *window, uint64_t number)
{
	if (number - window->first >= window->pages)
		return NULL;
	return window->data + (number - window->first) * FKT_PAGE_BYTES;
}

/*
 * A page of a file. Where it is not in the window, that is filled from it on, and what was in it is
 * gone. 0, -EIO when the page can't be read, or -ENOMEM.
 */
int fkt_window_page(struct fkt_trace *trace, struct fkt_window *window, uint64_t number,
		    void **page);

/*
 * Whether there may be a process event among the slots of a page. All words are looked at,
 * arguments too: that takes less time than to go from slot to slot.
 */
static inline bool fkt_may_have_process_event(const struct fkt_cursor *cursor)
{
	uint64_t found = 0;

	for (const uint64_t *pos = cursor->pos; pos < cursor->end; pos++)
		found |= fkt_is_process_event((le64toh(*pos) >> FKT_SLOT_CODE_SHIFT) &
					      (FKT_SLOT_CODES - 1));
	return found;
}

/* Whether an event's slot is wide where it follows one with this stamp and CPU. */
static inline bool fkt_slot_is_wide(const struct fkt_event *event, uint64_t stamp, uint16_t cpu)
{
	const uint64_t half = 1ull << (FKT_SLOT_STAMP_BITS - 1);

	return event->stamp - stamp + half >= 2 * half || event->cpu != cpu;
}

/*
 * Write an event as the slot that follows one with this stamp and CPU. The place behind it, which
 * is not more than the event's words and two away. One that gets wide must have room for a word.
 */
static inline uint64_t *fkt_slot_encode(uint64_t *to, const struct fkt_event *event, uint64_t stamp,
					uint16_t cpu)
{
	bool wide = fkt_slot_is_wide(event, stamp, cpu);

	*to++ = htole64(FKT_TAG(event->code, event->words + (unsigned int)wide, event->imm) |
			(wide ? FKT_SLOT_WIDE : 0) | FKT_SLOT_STAMP(event->stamp));
	if (wide)
		*to++ = htole64(FKT_WIDE_WORD(event->stamp, event->cpu));
	if (event->words)
		memcpy(to, event->args, event->words * sizeof(*to));
	return to + event->words;
}

/* ---- stack.c ---- */

/**
 * struct fkt_stack_part - a stack as it is recorded, the kernel's or a program's
 * @known: it was recorded
 * @flags: FKT_STACK_USER, _BELOW, _CUT, _FAULT
 * @count: frames, or bytes
 * @words: as in slots, one behind the other
 */
struct fkt_stack_part {
	bool known;
	uint16_t flags;
	unsigned int count;
	uint64_t words[FKT_STACK_WORDS_MAX];
};

/*
 * What an event of FKT_CODE_STACK stands for, in its page. False: for nothing of its own, it goes
 * on with the one before it.
 */
bool fkt_stack_part(const struct fkt_cursor *cursor, const struct fkt_event *event,
		    struct fkt_stack_part *part);

/* Frames of a part, behind those that are there if it is below them. */
void fkt_stack_add(struct fkt_stack *stack, const struct fkt_stack_part *part, uint64_t stamp);

/*
 * The slot that has the part's frames, or bytes, from some on, for a page that is made anew; @slot
 * has its other members already. What the next slot begins with. That of one that is not known, or
 * stands at @place, has no words.
 */
unsigned int fkt_stack_slot(const struct fkt_stack_part *part, unsigned int from,
			    struct fkt_event *slot);
void fkt_stack_slot_again(const struct fkt_stack_part *part, unsigned int place,
			  struct fkt_event *slot);

/* The words of all its slots, none of which is wide. */
unsigned int fkt_stack_words(const struct fkt_stack_part *part);

/* Where in a page, in words, a part stands, with slots from @first up to @end; 0: nowhere. */
unsigned int fkt_stack_find(const uint64_t *page, const uint64_t *first, const uint64_t *end,
			    const struct fkt_stack_part *part);

/* ---- index.c ---- */

/* So many pages have a full index behind them: a block. */
#define FKT_BLOCK_PAGES (FKT_INDEX_ENTRIES + 1)

/**
 * struct fkt_block - what a full index page says, in host byte order
 * @complete, @max_end, @events_before, @entry: see struct fkt_index
 */
struct fkt_block {
	uint64_t complete;
	uint64_t max_end;
	uint64_t events_before;
	struct fkt_index_entry entry[FKT_INDEX_ENTRIES];
};

/* How many blocks a file has that end with a full index, if all is well. */
static inline uint64_t fkt_blocks(const struct fkt_trace *trace)
{
	return trace->pages / FKT_BLOCK_PAGES;
}

/* Read the index of a block; false when there is none, or one that makes no sense. */
bool fkt_read_block(struct fkt_trace *trace, uint64_t number, struct fkt_block *block);

/*
 * The first block that may have an event with this stamp or a later one: no page before it has.
 * 0 when the index pages do not agree.
 */
uint64_t fkt_seek_stamp(struct fkt_trace *trace, uint64_t stamp);

/* fkt_look_back(), by about so many pages. */
uint64_t fkt_look_back_pages(struct fkt_trace *trace, uint64_t from, uint64_t pages);

/* ---- scan.c ---- */

/*
 * A page that was scanned and waits for its lane: of a file, its number; of a stream, its bytes,
 * which belong to whoever holds this.
 */
union fkt_page_ref {
	uint64_t number;
	void *data;
};

/* What fkt_scan_step() calls for each page of events, in the file's order. */
typedef int fkt_scan_fn(void *arg, uint32_t lane, union fkt_page_ref page);

struct fkt_scan *fkt_scan_new(struct fkt_trace *trace, fkt_scan_fn *page, void *arg,
			      struct fkt_read_stats *stats);
void fkt_scan_free(struct fkt_scan *scan);
/*
 * Scan on: a page of a stream, some hundred pages of a file. Raises *watermark: all events with
 * earlier stamps have been scanned. 1, 0 when there is nothing more, or a negative errno value.
 */
int fkt_scan_step(struct fkt_scan *scan, uint64_t *watermark);
/* Begin with another page than the first one, before the first step. */
void fkt_scan_seek(struct fkt_scan *scan, uint64_t page);
/* Whether the next step would wait for a stream's writer. */
bool fkt_scan_would_block(const struct fkt_scan *scan);

/* ---- believe.c ---- */

/*
 * By so much CPUs' clocks may differ, a millisecond: where CPUs share a lane, a slot's stamp may be
 * outside of its page's first and last one, and a page's first before the last of the page before.
 */
#define FKT_SKEW_CYCLES (1ull << 22)

/**
 * struct fkt_before - what is known of a lane before its next page
 * @seq: number of the page before
 * @lost: events lost before that
 * @stamp: of its last event
 * @jump: pages that were missing before that page, as it says
 * @more_lost: events lost since the page before that, as it says
 * @joined: nothing of this is known
 * @cpu: fkt_cpu_of_lane(), that is known all the same
 */
struct fkt_before {
	uint64_t seq;
	uint64_t lost;
	uint64_t stamp;
	uint64_t jump;
	uint64_t more_lost;
	bool joined;
	uint16_t cpu;
};

enum fkt_belief {
	FKT_BELIEVED,
	FKT_REPAIRED,	  /* a number in the header was wrong, and is now what is likely */
	FKT_NOT_BELIEVED, /* it is damaged */
};

/* When the recording began and stopped; false when the trace does not say so, or not credibly. */
bool fkt_recorded(const struct fkt_trace *trace, uint64_t *start, uint64_t *stop);
/* All stamps there can be, where the trace does not say when it began and ended. */
struct fkt_bounds fkt_stamp_bounds(struct fkt_trace *trace);

/* Whether fkt_believe() has anything to look at: not so for most pages. */
bool fkt_needs_belief(const struct fkt_bounds *bounds, const struct fkt_before *before,
		      const struct fkt_page_header *header);

/* Look at a lane's next page, and at the header of the one after it, NULL if it is not known. */
enum fkt_belief fkt_believe(const struct fkt_trace *trace, const struct fkt_bounds *bounds,
			    const struct fkt_before *before, struct fkt_page_header *header,
			    const struct fkt_page_header *next);

/* ---- began.c ---- */

/* What the slots of both kinds that tell of an event begin with. */
#define FKT_LATE_WORDS 2
_Static_assert(FKT_LATE_WORDS == FKT_BEGAN_WORDS && FKT_LATE_WORDS == FKT_TOLD_WORDS,
	       "they are read as one");

/**
 * struct fkt_began - an event that was told of later: the entry of a call, when that had ended; or
 *	what a program has written
 * @at: when it was
 * @told: when that was told
 * @code: of the event
 * @pid: in which thread
 * @cpu: where
 * @lane: likewise
 * @words: how many words it has itself
 * @claimed: a program says so
 * @args: as they stand in the file: those that tell of it, and its own
 */
struct fkt_began {
	uint64_t at;
	uint64_t told;
	uint32_t code;
	uint32_t pid;
	uint16_t cpu;
	uint16_t lane;
	uint8_t words;
	bool claimed;
	uint64_t args[FKT_LATE_WORDS + FKT_CALL_ARGS];
};

/**
 * struct fkt_begans - all of them
 * @one: they, in the order of time
 * @count: how many there are
 * @low: of each lane, the first stamp that one may have
 */
struct fkt_begans {
	struct fkt_began *one;
	size_t count;
	uint64_t *low;
};

/* Whether a trace may have any. */
bool fkt_tells_late(const struct fkt_trace *trace);
/* Those of a trace, found by the first who asks; NULL: there are none, or *err says why not. */
const struct fkt_begans *fkt_begans(struct fkt_trace *trace, int *err);
/* The first one that is not before a stamp. */
size_t fkt_begans_from(const struct fkt_begans *begans, uint64_t from);
/* Whether an event tells of one of them. */
bool fkt_began_is_told(const struct fkt_trace *trace, const struct fkt_begans *begans,
		       const struct fkt_event *event);

/* ---- merge.c ---- */

/*
 * A lane's last page before those that a new reader, from which nothing was read yet, will
 * read; false when it is not known. Its sequence number, and what was lost before it.
 */
bool fkt_lane_before(const struct fkt_reader *reader, uint32_t lane, uint64_t *seq, uint64_t *lost);

#endif

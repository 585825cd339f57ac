/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fkt_view --tui: a trace in the terminal, where there is no browser. It shows what the page shows,
 * and has it from the same places (model.h).
 *
 *	screen.c		the terminal, and keys; the only one that knows curses
 *	terminal.c		what is looked at: asking, moving, marking, finding
 *	terminal_rows.c		which CPUs, counters and threads there are
 *	terminal_tracks.c	how a row was, column by column
 *	terminal_paint.c	all of it as characters
 *	terminal_text.c		times as text, and what is under the cursor
 */
#ifndef FKT_VIEW_TERMINAL_H
#define FKT_VIEW_TERMINAL_H

#include <wchar.h>

#include "model.h"

/* What a screen needs, and what of it is used at most. */
#define COLUMNS_MIN   40u
#define LINES_MIN     10u
#define COLUMNS_MAX   1000u
#define LINES_MAX     500u
/*
 * Lines above the rows: title, time scale, marks; and below: the span, the cursor, a message, and
 * one more where there is a marked span.
 */
#define LINES_HEAD    3u
#define LINES_FOOT    3u
#define LABEL_BYTES   128
#define MESSAGE_BYTES 256
/* No window is shorter. */
#define SPAN_MIN_NS   100
#define NO_MARK	      UINT64_MAX

enum row_kind {
	ROW_CPU,
	ROW_COUNTER,
	ROW_GROUP,
	ROW_THREAD,
};

/* Groups that are no processes. */
#define GROUP_KERNEL   UINT32_MAX
#define GROUP_COUNTERS (UINT32_MAX - 1)

/**
 * struct row - what has a line
 * @kind: of enum row_kind
 * @key: its track; TRACK_NONE: it has none
 * @group: of a group and of its members
 * @member: it is in a group
 * @closed: of a group, its members are not shown
 * @label: its name
 */
struct row {
	enum row_kind kind;
	uint32_t key;
	uint32_t group;
	bool member;
	bool closed;
	char label[LABEL_BYTES];
};

/* What colours stand for; the last ones are of names. */
enum hue {
	HUE_NONE,
	HUE_FAINT,
	HUE_RUNNING,
	HUE_READY,
	HUE_BLOCKED,
	HUE_SLEEPING,
	HUE_UNKNOWN,
	HUE_IRQ,
	HUE_SOFTIRQ,
	HUE_LOSS,
	HUE_MARK,
	HUE_VALUE,
	HUE_ON, /* of text on a colour */
	HUE_NAMES,
	HUES = HUE_NAMES + 8,
};

#define LOOK_REVERSE   1
#define LOOK_BOLD      2
#define LOOK_UNDERLINE 4

/* A character; @fore and @back are of enum hue. */
struct glyph {
	wchar_t c;
	uint8_t fore;
	uint8_t back;
	uint8_t look;
};

/**
 * struct tracks - a picture whose cells can be found by track
 * @picture: the picture; @request: what it was asked for by
 * @order: numbers of its cells, by track and then as they come; @cells: how many
 */
struct tracks {
	struct picture picture;
	struct request request;
	uint32_t *order;
	size_t cells;
};

/**
 * struct track_part - how a track was from one moment to another; see struct cell
 * @least, @most, @value: of a counter
 */
struct track_part {
	uint8_t share[SHARES];
	uint32_t top;
	uint32_t inner;
	uint8_t state;
	uint8_t flags;
	float least;
	float most;
	int64_t value;
};

/**
 * struct pixel - how a track was in a column
 * @share: of the column, 0 to 1; @seen: how much of it is known at all
 * @top, @inner: those of which there is most, and how much
 */
struct pixel {
	float share[SHARES];
	float seen;
	float top_weight;
	float inner_weight;
	uint32_t top;
	uint32_t inner;
	uint8_t state;
	uint8_t flags;
	bool has_value;
	float least;
	float most;
};

/**
 * struct terminal - what is looked at
 * @view: the trace; @title: its name
 * @columns, @lines: of the screen
 * @ascii: without characters that not all terminals have; @mono: without colours
 * @end: length of the trace, in nanoseconds, as are all moments here
 * @progress: how far it has been read; @complete, @growing: as the page has them
 * @from, @to: what is seen
 * @cursor: a moment in it
 * @mark: the ends of what is marked, in the order in which they were set, or NO_MARK
 * @row, @rows: all rows; @top: the first one that is seen; @at: the one that is chosen
 * @wanted: a thread that is to be chosen, or TRACK_NONE
 * @thread, @threads: those that were met, by their numbers
 * @folded: uint32_t, groups that are closed; @unfolded: it was looked whether all threads are few
 * @filter: only threads that have this in their names
 * @tracks: what is seen
 * @calls: struct drawn_call, of the thread @calls_of, in @calls_depth lines
 * @message: for the last line
 * @marked: what is to be said of the marked span
 * @panel: lines over the rows; none where it is empty
 * @follows: the panel says who woke a thread: @waker, at @woken
 */
struct terminal {
	struct view *view;
	char *title;
	unsigned int columns;
	unsigned int lines;
	bool ascii;
	bool mono;
	uint64_t end;
	struct progress progress;
	bool complete;
	bool growing;
	uint64_t from;
	uint64_t to;
	uint64_t cursor;
	uint64_t mark[2];
	struct row *row;
	size_t rows;
	size_t row_room;
	size_t top;
	size_t at;
	uint32_t wanted;
	struct collected_thread *thread;
	size_t threads;
	struct answer folded;
	bool unfolded;
	char filter[REQUEST_TEXT_BYTES];
	struct tracks tracks;
	struct answer calls;
	uint32_t calls_of;
	unsigned int calls_depth;
	char message[MESSAGE_BYTES];
	char marked[MESSAGE_BYTES];
	struct answer panel;
	bool follows;
	uint32_t waker;
	uint64_t woken;
};

/* ---- terminal.c ---- */

/* Begin with all of a trace: 0 or a negative errno value; to be freed with terminal_free(). */
int terminal_begin(struct terminal *terminal, struct view *view);
void terminal_free(struct terminal *terminal);
/* The screen has another size. */
void terminal_resize(struct terminal *terminal, unsigned int columns, unsigned int lines);

/* Look at the trace anew, while it is read or grows: 0 or a negative errno value. */
int terminal_refresh(struct terminal *terminal);
/* Ask for what is seen: likewise. */
int terminal_ask(struct terminal *terminal);

void terminal_show(struct terminal *terminal, uint64_t from, uint64_t to);
/* Around the cursor; @by: more than 1 is more of the trace. */
void terminal_zoom(struct terminal *terminal, double by);
/* By a part of what is seen, or by columns: the window, and the cursor, which moves the window. */
void terminal_pan(struct terminal *terminal, double part);
void terminal_step(struct terminal *terminal, int columns);
/* The cursor is at a moment, and that is seen. */
void terminal_go(struct terminal *terminal, uint64_t ns);
/* Another row is chosen: by so many rows. */
void terminal_choose(struct terminal *terminal, int by);
/* That of a thread is. */
void terminal_choose_thread(struct terminal *terminal, uint32_t tid);
/* Only threads that have this in their names, if any has it. */
void terminal_filter(struct terminal *terminal, const char *text);
/* The group of the chosen row is closed, or not any more. */
void terminal_fold(struct terminal *terminal);

/* Whether there is a marked span, and which. */
bool terminal_marked(const struct terminal *terminal, uint64_t *from, uint64_t *to);
/* Say how long it is, and what happened in it. */
void terminal_sum_up(struct terminal *terminal);
/* What the chosen row was at, at the cursor, is in the panel. */
void terminal_moment(struct terminal *terminal);
/* The same of who woke it. */
void terminal_follow(struct terminal *terminal);
/* The next event of the thread that @filter names, or whose name has it, or the one before. */
void terminal_find(struct terminal *terminal, bool back);

static inline unsigned int terminal_side(const struct terminal *terminal)
{
	const unsigned int side = terminal->columns / 4;

	return side < 12 ? 12 : side > 26 ? 26 : side;
}

/* How many columns the time has, and how many lines the rows. */
static inline unsigned int terminal_width(const struct terminal *terminal)
{
	return terminal->columns - terminal_side(terminal);
}

static inline unsigned int terminal_foot(const struct terminal *terminal)
{
	return LINES_FOOT + !!*terminal->marked;
}

static inline unsigned int terminal_body(const struct terminal *terminal)
{
	return terminal->lines - LINES_HEAD - terminal_foot(terminal);
}

/* How many lines a row has. */
static inline unsigned int terminal_high(const struct terminal *terminal, size_t row)
{
	return row == terminal->at && row < terminal->rows &&
			       terminal->row[row].key == terminal->calls_of
		       ? 1 + terminal->calls_depth
		       : 1;
}

static inline const struct row *terminal_row(const struct terminal *terminal)
{
	return terminal->at < terminal->rows ? &terminal->row[terminal->at] : NULL;
}

/* Whether a row is a thread, or the first one of a process. */
static inline bool row_is_thread(const struct row *row)
{
	return row && row->key != TRACK_NONE && (row->kind == ROW_THREAD || row->kind == ROW_GROUP);
}

/* ---- terminal_rows.c ---- */

/* Make them anew; that which was chosen still is. With the view's lock: 0 or -ENOMEM. */
int rows_make(struct terminal *terminal);
bool rows_is_folded(const struct terminal *terminal, uint32_t group);
void rows_fold(struct terminal *terminal, uint32_t group, bool fold);
/* The thread with a number, or NULL. */
const struct collected_thread *rows_thread(const struct terminal *terminal, uint32_t tid);
/* Whether any thread's name has the filter. */
bool rows_match(const struct terminal *terminal);
/* The first of these rows is chosen, unless one is. */
void rows_choose_match(struct terminal *terminal);
/* Threads whose name, or number, is the filter itself: how many there are, or room for. */
unsigned int rows_named(const struct terminal *terminal, uint32_t tid[REQUEST_TIDS]);

/* ---- terminal_tracks.c ---- */

/* Ask for tracks of a window, by @request: 0 or a negative errno value. With the view's lock. */
int tracks_make(struct tracks *tracks, struct view *view);
void tracks_free(struct tracks *tracks);
/* How a track was, in @count columns from one moment to another. */
void tracks_pixels(const struct tracks *tracks, uint32_t key, uint64_t from, uint64_t to,
		   unsigned int count, struct pixel *pixel);
/* How it was at a moment: false where that is not known. */
bool tracks_at(const struct tracks *tracks, uint32_t key, uint64_t ns, struct track_part *part);

/* ---- terminal_paint.c ---- */

/* All that is seen, @columns * @lines of the terminal. */
int terminal_paint(const struct terminal *terminal, struct glyph *glyphs);

/* ---- terminal_text.c ---- */

#define TIME_BYTES 40

/* A length of time, and a moment with as many digits as a step of so many ns needs. */
const char *text_length(uint64_t ns, char text[TIME_BYTES]);
const char *text_when(uint64_t ns, uint64_t step, char text[TIME_BYTES]);
/* A thread, as in "comm 123". */
void text_thread(const struct terminal *terminal, uint32_t tid, char text[LABEL_BYTES]);
/* What is under the cursor. */
void text_cursor(const struct terminal *terminal, char text[MESSAGE_BYTES]);
/* What a thread was at. */
void text_moment(const struct terminal *terminal, const struct moment *moment,
		 struct answer *answer);

/* ---- screen.c ---- */

/* The terminal, until the user has seen enough: the exit status. */
int show_screen(struct view *view);
/* What is wrong, from any thread: false when nothing is on the screen; else it is said there. */
bool screen_warn(const char *sentence);

#endif

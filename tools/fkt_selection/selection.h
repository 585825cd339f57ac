/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fkt_selection: how fast pages filled over time (paper, figure 9), and a part of it.
 *
 *	picture.c	what is seen, as characters
 *	screen.c	on a terminal, with keys
 *	cut.c		the part between the marks, by fkt_extract
 */
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "common/timedat.h"

#define ALL_LANES   UINT32_MAX
#define NO_MARK	    UINT64_MAX
/* No window is shorter, in nanoseconds, than so much a column. */
#define COLUMN_MIN  1
/* What a picture of characters needs, and what it has at most. */
#define COLUMNS_MIN 40
#define COLUMNS_MAX 1000
#define ROWS_MIN    10
#define ROWS_MAX    500

/**
 * struct selection - what is looked at
 * @path: what was read
 * @trace: the trace to cut, NULL when it is not known
 * @times: its pages
 * @from: where the window begins, in nanoseconds since the first event
 * @to: where it ends
 * @cursor: a moment in it
 * @mark: the two marks, or NO_MARK
 * @lane: the lane, or ALL_LANES
 * @bytes: bytes instead of events
 * @ascii: without characters that not all terminals have
 * @message: for the last line, "" for none
 */
struct selection {
	const char *path;
	const char *trace;
	struct page_times times;
	uint64_t from;
	uint64_t to;
	uint64_t cursor;
	uint64_t mark[2];
	uint32_t lane;
	bool bytes;
	bool ascii;
	char message[256];
};

/* How a character is shown. */
enum look {
	LOOK_PLAIN,
	LOOK_REVERSE, /* between the marks, and what stands out */
	LOOK_CURSOR,
};

/**
 * struct picture - characters
 * @columns, @rows: how many
 * @text: of each row, @columns
 * @look: of each, enum look
 */
struct picture {
	unsigned int columns;
	unsigned int rows;
	wchar_t *text;
	uint8_t *look;
};

/**
 * rates() - how fast pages filled
 * @selection: the window, and of what
 * @lane: of this lane
 * @count: in so many equal parts of the window
 * @rate: of each, a second
 */
void rates(const struct selection *selection, uint32_t lane, unsigned int count, double *rate);

/* The range between the marks, or the window: false when there are no two marks. */
bool marked(const struct selection *selection, uint64_t *from, uint64_t *to);

/* Make a picture of that size: 0 or -ENOMEM; to be freed with picture_free(). */
int picture_make(struct picture *picture, const struct selection *selection, unsigned int columns,
		 unsigned int rows);
void picture_free(struct picture *picture);

/* The moment of a column, and back. */
uint64_t column_time(const struct selection *selection, unsigned int column, unsigned int columns);
unsigned int time_column(const struct selection *selection, uint64_t ns, unsigned int columns);

/* Show a window from @from on, as long as it is, within the trace. */
void move_window(struct selection *selection, int64_t by);
/* Show a window of another length around the cursor. */
void zoom_window(struct selection *selection, double by);
void set_window(struct selection *selection, uint64_t from, uint64_t to);

/* The terminal, until the user has seen enough: the exit status. */
int show_screen(struct selection *selection);

/* A name for the part that no file has. */
void cut_name(const struct selection *selection, char *name, size_t room);
/* Cut out what is between two moments: whether it could; @why says what was written, or why not. */
bool cut_out(const struct selection *selection, uint64_t from, uint64_t to, const char *name,
	     char *why, size_t room);

#endif

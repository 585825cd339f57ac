/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a trace, for those who show it: the page is sent it as JSON, and the terminal
 * (terminal.h) is painted from it. All of it is to be asked with the view's lock held for reading.
 */
#ifndef FKT_VIEW_MODEL_H
#define FKT_VIEW_MODEL_H

#include "view.h"

/* ---- picture.c ---- */

/* A thread, @by, current on a CPU, has woken another one; FKT_PID_UNKNOWN: it is not known who. */
struct wake {
	uint64_t stamp;
	uint32_t by;
	uint32_t tid;
	uint16_t cpu;
};

/* A sample of a thread, whose function's name begins at @function of the picture's @texts. */
struct sample {
	uint64_t stamp;
	uint64_t function;
	uint32_t tid;
	uint16_t cpu;
	bool user;
};

/**
 * struct picture - the cells of a window, and what else there is
 * @view, @request: what is asked for
 * @from, @to: stamps
 * @part: where its bins are
 * @exact: it is made of the events
 * @cells: struct cell, one behind the other, not in the order of tracks
 * @losses, @wakes, @marks, @samples: struct loss, and so on, likewise
 * @texts: names, each with its NUL
 * @loss_count, @wake_count, @mark_count: how many there are, also of those that are left out
 * @sampled: by CPU, the bin of its last sample, and one; NULL: there was none
 * @last_loss: by CPU, the number of its last one in @losses, from one on; NULL: there was none
 */
struct picture {
	struct view *view;
	const struct request *request;
	uint64_t from;
	uint64_t to;
	struct level_part part;
	bool exact;
	struct answer cells;
	struct answer losses;
	struct answer wakes;
	struct answer marks;
	struct answer samples;
	struct answer texts;
	unsigned int loss_count;
	unsigned int wake_count;
	unsigned int mark_count;
	uint32_t *sampled;
	uint32_t *last_loss;
};

/**
 * picture_make() - what there is in a window
 * @picture: filled in, to be freed with picture_free() in any case
 * @view: of this trace
 * @request: the window, at most how many bins, and the threads
 *
 * Return: 0 or a negative errno value.
 */
int picture_make(struct picture *picture, struct view *view, const struct request *request);
void picture_free(struct picture *picture);

/* ---- moment.c ---- */

#define MOMENT_CALLS_MAX 64

/* A call around the moment. */
struct around {
	uint32_t row;
	uint32_t depth;
	bool partial;
	bool ended;
	uint64_t begin;
	uint64_t end;
};

/**
 * struct moment - what a thread was at
 * @view: of what
 * @tid: the thread
 * @at: the moment
 * @processes: the threads, as the events go
 * @wait: the wait that the moment is in, if @waits
 * @waker_tid, @waker: who woke it from that
 * @call: calls around it, the innermost one first
 * @calls: how many
 * @cpu: where it ran, if @runs
 * @open: calls that it is in, as far as is read
 * @over: those that it was in at the moment have ended
 * @cut: what comes long after the moment was not looked at
 */
struct moment {
	struct view *view;
	uint32_t tid;
	uint64_t at;
	struct fkt_processes *processes;
	bool waits;
	struct fkt_wait wait;
	uint32_t waker_tid;
	char waker[FKT_COMM_BYTES + 1];
	struct around call[MOMENT_CALLS_MAX];
	unsigned int calls;
	bool runs;
	uint16_t cpu;
	uint32_t open;
	bool over;
	bool cut;
};

/**
 * moment_find() - what a thread was at
 * @moment: filled in, to be freed with moment_free() in any case
 * @view: of this trace
 * @tid: the thread
 * @at: when, a stamp
 *
 * Return: 0 or a negative errno value.
 */
int moment_find(struct moment *moment, struct view *view, uint32_t tid, uint64_t at);
void moment_free(struct moment *moment);
/* The thread's name. */
const char *moment_comm(const struct moment *moment);
/* Whether it is known which thread woke it, and it was no interrupt. */
bool moment_has_waker(const struct moment *moment);
/* The name of a row of the analysis; "" for none. */
void moment_row(const struct moment *moment, uint32_t row, char name[FKT_NAME_BYTES]);

/**
 * next_find() - the next event of a name, or the one before
 * @view: of this trace
 * @request: @from, @text, @tid, @back
 * @event: set to it
 *
 * Return: 1, 0 if there is none, or a negative errno value.
 */
int next_find(struct view *view, const struct request *request, struct fkt_event *event);

/* ---- calls.c ---- */

/**
 * struct drawn_call - one call, or several that are too short to be seen
 * @from, @to: stamps
 * @name: number of its name, 0: several
 * @count: how many
 * @depth: in so many others
 * @error: one failed
 */
struct drawn_call {
	uint64_t from;
	uint64_t to;
	uint32_t name;
	uint32_t count;
	uint32_t depth;
	bool error;
};

/**
 * calls_find() - the calls of a thread in a window
 * @view: of this trace
 * @request: the window, how many pixels it has, and the thread
 * @calls: struct drawn_call, one behind the other; to be freed with answer_free()
 * @exact: set to whether the window is short enough for them
 *
 * Return: 0 or a negative errno value.
 */
int calls_find(struct view *view, const struct request *request, struct answer *calls, bool *exact);

/* ---- trace.c ---- */

#define VIEW_CPUS (UINT16_MAX + 1u)

/* Each CPU that has a lane, or was met, is set in @met: one more than the largest number. */
uint32_t view_cpus(struct view *view, uint8_t met[VIEW_CPUS]);
/* Name of a counter, and its process: false for none. */
bool view_counter(struct view *view, uint32_t track, char name[FKT_NAME_BYTES], uint32_t *tgid);
/* The file's name without its folders, fit to be shown; malloc()ed. */
char *view_title(const struct view *view);

/* ---- tables.c ---- */

/* A table as fkt_print shows it to people, lines of @columns; otherwise like answer_table(). */
int text_table(struct view *view, const struct request *request, int client, unsigned int columns,
	       struct answer *answer);

#endif

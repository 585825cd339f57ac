/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fkt_top: where the time goes, every second, of a recording that runs or of a trace.
 *
 *	options.c	the command line
 *	recorder.c	fkt_record, in a process of its own
 *	follow.c	the events, interval by interval: an analysis for each of them
 *	sums.c		what an interval comes to, and all of them together
 *	tally.c		counts by keys, in bounded memory
 *	stacks.c	numbers for stacks
 *	tables.c	what is shown of it
 *	screen.c	on a terminal, with keys
 *
 * The sums of an interval are those of fkt_print --range of it: the same analysis has made them,
 * and what happens behind its end tells it the same things.
 */
#ifndef TOP_H
#define TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <fkt/trace.h>

#include "show/table.h"

/* What can be looked at: X(name, title). */
#define VIEWS(X)                                                                                   \
	X(calls, "Calls")                                                                          \
	X(functions, "Functions")                                                                  \
	X(threads, "Threads")                                                                      \
	X(waits, "Waits")                                                                          \
	X(stacks, "Stacks")

enum view {
#define X(name, title) VIEW_##name,
	VIEWS(X)
#undef X
	VIEW_COUNT
};

/* How rows are sorted. */
enum sort {
	SORT_TIME,
	SORT_COUNT,
	SORT_NAME,
	SORT_ALL, /* by the time of all intervals */
	SORT_COUNT_OF,
};

/**
 * struct options - the command line
 * @path: the trace; NULL: a recording is made
 * @record: the words for fkt_record, with its name and options, up to NULL
 * @delay_ns: how long an interval is
 * @count: so many intervals; 0: all
 * @rows: so many of a table where lines are printed; 0: all
 * @view: which ones are printed
 * @any_view: some were named
 * @sort: enum sort
 * @lines: lines, also on a terminal
 * @format: of them
 */
struct options {
	const char *path;
	char **record;
	uint64_t delay_ns;
	uint64_t count;
	unsigned int rows;
	bool view[VIEW_COUNT];
	bool any_view;
	enum sort sort;
	bool lines;
	const struct fkt_format *format;
};

/* Read the command line; ends the program when it is wrong. */
void parse_options(int argc, char **argv, struct options *options);

extern const char *const view_names[VIEW_COUNT];
extern const char *const sort_names[SORT_COUNT_OF];

/* ---- recorder.c ---- */

/**
 * struct recorder - fkt_record, whose trace comes on standard input
 * @pid: its process; 0: there is none
 * @said: what it has said, where nobody could see that; < 0: it went to stderr
 * @stopped: it was asked to end
 */
struct recorder {
	pid_t pid;
	int said;
	bool stopped;
};

/*
 * Begin to record: whether it could be tried. Standard input is the trace from then on. @quiet: a
 * screen is in the way of what it says.
 */
bool recorder_begin(struct recorder *recorder, char **words, bool quiet);
/* Have it end: what is left comes, and then the end of the trace. */
void recorder_stop(struct recorder *recorder);
/* Wait for its end, and say what it has said: whether it ended well. */
bool recorder_end(struct recorder *recorder);

/* ---- tally.c ---- */

#define TALLY_KEYS 4
/* More keys than this are counted together. */
#define TALLY_MAX  32768

/**
 * struct tallied - what has a key
 * @key: the key
 * @count: how many
 * @ended: of them, those that are not in the next interval, too
 * @off: of waits, time until they were woken, or ran again where they had not slept
 * @ready: and from then on
 * @max: the longest of @off
 */
struct tallied {
	uint64_t key[TALLY_KEYS];
	uint64_t count;
	uint64_t ended;
	uint64_t off;
	uint64_t ready;
	uint64_t max;
};

struct tally;

struct tally *tally_new(void);
void tally_free(struct tally *tally);
/* What a key has; zeros if it is new. NULL without memory. */
struct tallied *tally_get(struct tally *tally, const uint64_t key[TALLY_KEYS]);
/* The same of one that may not be there; NULL if it is not. */
const struct tallied *tally_find(const struct tally *tally, const uint64_t key[TALLY_KEYS]);
/* The number of keys; all by their index, in no order. */
size_t tally_count(const struct tally *tally);
const struct tallied *tally_at(const struct tally *tally, size_t index);
/* What came for keys for which there was no room. */
struct tallied *tally_others(struct tally *tally);

/* ---- stacks.c ---- */

/* In the place of a stack that was not recorded, and where there are too many. */
#define NO_STACK   0
#define STACKS_MAX 32768

struct stacks;

struct stacks *stacks_new(struct fkt_trace *trace);
void stacks_free(struct stacks *stacks);
/* A stack's number: false without memory. */
bool stacks_number(struct stacks *stacks, const struct fkt_stack *stack, uint32_t *number);
/* NULL for NO_STACK. */
const struct fkt_stack *stacks_get(const struct stacks *stacks, uint32_t number);

/* ---- sums.c ---- */

/* What waits are told apart by. */
enum {
	WAIT_THREAD,
	WAIT_STATE,
	WAIT_IN,
};

/* And what has a stack. */
enum {
	STACK_CODE,
	STACK_NUMBER,
};

/**
 * struct top_row - what a row comes to
 * @row: which
 * @own: its time
 * @calls: whole calls
 * @partial: calls that began before, or went on
 * @ended: of those, the ones that began before the interval, and ended in it
 * @counted: what each counter of the trace has counted, without what it called
 */
struct top_row {
	uint32_t row;
	uint64_t own;
	uint64_t calls;
	uint64_t partial;
	uint64_t ended;
	uint64_t counted[FKT_COUNTERS_MAX];
};

/**
 * struct interval - what an interval comes to
 * @number: counted from the trace's beginning
 * @from, @to: stamps between which it is
 * @events: without those that are only the stacks of others
 * @lost: events that were lost, as far as that was told in it
 * @duration: for how long time was charged
 * @cpus: on so many CPUs
 * @row, @rows: those that have anything
 * @thread, @threads: likewise
 * @waits, @stacks: counts by WAIT_ and STACK_
 */
struct interval {
	uint64_t number;
	uint64_t from;
	uint64_t to;
	uint64_t events;
	uint64_t lost;
	uint64_t duration;
	uint32_t cpus;
	struct top_row *row;
	size_t rows;
	struct fkt_thread_sums *thread;
	size_t threads;
	struct tally *waits;
	struct tally *stacks;
};

/* Of a thread, all intervals together. */
struct top_thread {
	uint64_t cycles;
	uint64_t waiting;
	uint64_t sleeping;
	uint64_t switches;
};

/**
 * struct whole - all intervals together
 * @events, @lost, @duration: their sums
 * @time: on all CPUs
 * @row: by row; @calls are all that ended
 * @thread: by the thread's number
 * @threads: room there
 * @waits, @stacks: counts; of waits those that ended
 */
struct whole {
	uint64_t events;
	uint64_t lost;
	uint64_t duration;
	uint64_t time;
	struct top_row *row;
	struct top_thread *thread;
	uint32_t threads;
	struct tally *waits;
	struct tally *stacks;
};

void interval_free(struct interval *interval);

bool whole_begin(struct whole *whole);
void whole_end(struct whole *whole);
/* Add an interval: false without memory. */
bool whole_add(struct whole *whole, const struct interval *interval);
const struct top_thread *whole_thread(const struct whole *whole, uint32_t id);

/* ---- follow.c ---- */

/* Intervals of which it is not known yet what all their time went to. */
#define PENDING_MAX 16

struct open_interval;

/**
 * struct top - what is at work
 * @options: what was asked for
 * @trace, @reader, @processes: the trace
 * @state: follows who runs where, and in which calls, and charges nothing
 * @now: the interval that events go to; NULL before the first one
 * @pending: those before it that are not settled yet, the oldest first
 * @n_pending: how many
 * @first: stamp of the first event
 * @lost: since the last event
 * @stack, @stack_lane, @has_stack: the next event of @stack_lane has @stack
 * @stacks: their numbers
 * @whole: all intervals
 * @last: the last interval that is known
 * @has_last: there is one
 * @events: that were read
 */
struct top {
	const struct options *options;
	struct fkt_trace *trace;
	struct fkt_reader *reader;
	struct fkt_processes *processes;
	struct fkt_analysis *state;
	struct open_interval *now;
	struct open_interval *pending[PENDING_MAX];
	unsigned int n_pending;
	uint64_t first;
	uint64_t lost;
	struct fkt_stack stack;
	uint16_t stack_lane;
	bool has_stack;
	struct stacks *stacks;
	struct whole whole;
	struct interval last;
	bool has_last;
	uint64_t events;
};

/* Milliseconds of a clock that nobody sets. */
uint64_t now_ms(void);

/* What top_step() came to. */
enum step {
	STEP_MORE,
	STEP_INTERVAL, /* another one is in top->last */
	STEP_WAIT,     /* nothing is there as yet */
	STEP_END,      /* nor will there be */
};

bool top_begin(struct top *top, const struct options *options, struct fkt_trace *trace);
void top_end(struct top *top);
/* Read on for some events: enum step, or a negative errno value. */
int top_step(struct top *top);

/* ---- tables.c ---- */

/**
 * show_view() - print a table of the last interval
 * @top: what is known
 * @out: where
 * @view: which
 * @sort: by what its rows are sorted
 * @rows: so many at most; 0: all
 *
 * Return: false without memory.
 */
bool show_view(const struct top *top, struct fkt_output *out, enum view view, enum sort sort,
	       unsigned int rows);
/* Whether it would be empty, of this interval. */
bool is_empty(const struct top *top, enum view view);
/* What stands above the tables. */
void show_head(const struct top *top, struct fkt_output *out);

/* ---- screen.c ---- */

struct screen;

/* The terminal; NULL after a complaint if it is none. */
struct screen *screen_begin(const struct options *options);
void screen_end(struct screen *screen);
/* Show the last interval, if that is not held. */
void screen_show(struct screen *screen, const struct top *top);
/* Take keys, waiting for so long for one: false when the user has seen enough. */
bool screen_keys(struct screen *screen, const struct top *top, int wait_ms);
/* Nothing more will come. */
void screen_say_end(struct screen *screen, const struct top *top);

#endif

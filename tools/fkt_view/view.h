/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fkt_view: a trace in the browser. A server on this machine's own address, which answers what its
 * page asks for: what is on the screen is some thousand pixels, whatever the trace's size.
 *
 *	request.c	what a page may ask for, checked
 *	server.c	HTTP, and who may ask
 *	answer.c	texts that grow, JSON
 *	open.c		the trace, also one that is still recorded
 *	grow.c		bytes that come: from a pipe into a file, from a file into a pipe
 *	names.c		numbers for names
 *	trace.c		the trace, its CPUs and threads
 *	collect.c	events to cells: how each thread and CPU was, bin by bin
 *	levels.c	cells of all the trace, of many bin lengths, in files
 *	picture.c	the cells of a window: from its events, or from the levels
 *	picture_answer.c  them as the page is sent them
 *	moment.c	what a thread was at, and who woke it; the next event of a kind
 *	calls.c		the calls of a thread in a window
 *	tables.c	tables, queries and parts of the trace, by fkt_print, fkt_query, fkt_extract
 *	notes.c		notes on moments, in a file beside the trace
 *	note_parse.c	a line of it
 *	page/		what the browser shows; page.S has it in the program
 *	model.h		what is known of a trace, for the page and for the terminal (terminal.h)
 */
#ifndef FKT_VIEW_H
#define FKT_VIEW_H

#include <fkt/trace.h>

#include <pthread.h>

#include "answer.h"
#include "grow.h"
#include "levels.h"
#include "names.h"
#include "request.h"

/* So many traces are looked at at once. */
#define TRACES_MAX 8

/**
 * struct view - a trace that is looked at
 * @path: the trace's file; @name: what the user calls it
 * @lock: held for reading by who answers: what follows changes while the trace grows
 * @trace: the trace
 * @first, @last: stamps of its first and its last moment; @empty: it has no event
 * @levels: all of it in cells; NULL where @empty
 * @names: names of calls
 * @stream: of a trace that grows, it once more, as it comes, of which the levels are made
 * @feed: makes that stream of the file
 * @spool: makes a file, @spooled, of what came through a pipe
 * @bytes: how large the file was when it was opened
 * @watcher: looks whether it has grown, if @watched, until @watch is closed
 */
struct view {
	const char *path;
	const char *name;
	pthread_rwlock_t lock;
	struct fkt_trace *trace;
	uint64_t first;
	uint64_t last;
	bool empty;
	struct levels *levels;
	struct names *names;
	struct fkt_trace *stream;
	struct grow *feed;
	struct grow *spool;
	char spooled[GROW_PATH_BYTES];
	uint64_t bytes;
	pthread_t watcher;
	bool watched;
	int watch[2];
};

/**
 * view_open() - begin to look at a trace
 * @view: all zero
 * @path: the trace, - for standard input
 * @warn: told of what is wrong but harmless
 * @error: on failure, a sentence that says why, without the file's name
 *
 * Return: whether it can be looked at; to be closed with view_close() in both cases.
 */
bool view_open(struct view *view, const char *path, fkt_warn_fn *warn, char error[FKT_ERROR_BYTES]);
void view_close(struct view *view);
/* Whether the file of its name is that of another trace by now. */
bool view_is_replaced(struct view *view);

/* A moment as the page has it, in nanoseconds since the first event, as a stamp, and back. */
static inline uint64_t view_stamp(const struct view *view, uint64_t ns)
{
	const uint64_t cycles = fkt_ns_to_cycles(view->trace, ns);

	return cycles < UINT64_MAX - view->first ? view->first + cycles : UINT64_MAX;
}

static inline int64_t view_ns(const struct view *view, uint64_t stamp)
{
	return fkt_cycles_to_ns(view->trace, (int64_t)(stamp - view->first));
}

/* The last stamp that is in a nanosecond: what is said to be there, is not behind it. */
static inline uint64_t view_last_stamp(const struct view *view, uint64_t ns)
{
	uint64_t stamp = view_stamp(view, ns + 1);

	return stamp > view->first && view_ns(view, stamp) > (int64_t)ns ? stamp - 1 : stamp;
}

/* Answers: 0 or a negative errno value. */
int answer_trace(struct view *view, struct answer *answer);
/* All traces, and how they stand to the one that asks; it takes their locks. */
int answer_traces(struct view *views, unsigned int count, const struct view *asks,
		  struct answer *answer);
int answer_threads(struct view *view, struct answer *answer);
int answer_picture(struct view *view, const struct request *request, struct answer *answer);
int answer_moment(struct view *view, const struct request *request, struct answer *answer);
int answer_calls(struct view *view, const struct request *request, struct answer *answer);
int answer_next(struct view *view, const struct request *request, struct answer *answer);
int answer_notes(struct view *view, struct answer *answer);
/* Add a note, or take one back; the answer is all of them. The text is changed. */
int answer_note(struct view *view, const struct request *request, char *text,
		struct answer *answer);
/* It may take long, and ends when the socket @client is closed at its other end. */
int answer_table(struct view *view, const struct request *request, int client,
		 struct answer *answer);
/* What a SELECT gives, a line each; likewise. */
int answer_query(struct view *view, const struct request *request, int client,
		 struct answer *answer);
/* The part of the trace, as a file without a name; likewise. */
int answer_part(struct view *view, const struct request *request, int client, int *fd);

/**
 * serve() - answer until a signal ends it
 * @views: what is looked at; a page each
 * @count: how many traces that are
 * @port: the port, 0: any that is free
 * @ready: called with the page's address
 *
 * Return: 0 or a negative errno value.
 */
int serve(struct view *views, unsigned int count, uint16_t port,
	  void (*ready)(const char *address, uint16_t port));

#endif

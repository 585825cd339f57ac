/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a part of a trace, in their order: what has to be known of those before it and
 * behind it, so that all who ask for the same part get the same answers.
 */
#ifndef FKT_COMMON_FOLLOW_H
#define FKT_COMMON_FOLLOW_H

#include <fkt/trace.h>

#include "filter.h"

/**
 * struct follow - what is followed
 * @selection: what was asked for
 * @trace: the trace
 * @reader: its events
 * @processes: its threads, at this moment
 * @filter: what is asked for
 * @analysis: the sums; NULL: nobody asks for any
 * @process: if it is there, told of an event that changes @processes, before it does; 0 or a
 *	negative errno value
 * @arg: for it
 * @inside: events were in the time that was asked for
 * @gap: those since the last event, until it says in which window they are
 * @gaps: how many
 * @gap_room: and how many there is room for
 * @has_stack: the next event of @stack_lane has @stack
 * @stack_lane: a lane
 * @stack: its stack
 *
 * All up to @arg are the caller's, the others begin with zero.
 */
struct follow {
	const struct selection *selection;
	struct fkt_trace *trace;
	struct fkt_reader *reader;
	struct fkt_processes *processes;
	struct filter *filter;
	struct fkt_analysis *analysis;
	int (*process)(void *arg, const struct fkt_event *event);
	void *arg;
	bool inside;
	struct fkt_gap *gap;
	size_t gaps;
	size_t gap_room;
	bool has_stack;
	uint16_t stack_lane;
	struct fkt_stack stack;
};

/* End; @follow is not freed. */
void follow_free(struct follow *follow);

/*
 * Whether an event only says what stack the next one has. That is asked for with it, and it is not
 * for follow_passes().
 */
bool follow_is_stack(struct follow *follow, const struct fkt_event *event);
/* The next event; @inside the time that is asked for. Return: 0 or a negative errno value. */
int follow_event(struct follow *follow, const struct fkt_event *event, bool inside);
/* Whether it is asked for; after follow_event(). */
bool follow_passes(struct follow *follow, const struct fkt_event *event, bool inside);
/* Its stack, NULL if it has none; once for each event. */
const struct fkt_stack *follow_stack(struct follow *follow, const struct fkt_event *event);

/* Something is missing, which is kept in @gap. Return: 0 or -ENOMEM. */
int follow_gap(struct follow *follow, const struct fkt_gap *gap);

/**
 * follow_after() - an event is the first behind the time that is asked for
 * @follow: what is followed
 * @event: the event
 *
 * Some of those behind it are read, which say what went on up to that time.
 *
 * Return: 0 or a negative errno value.
 */
int follow_after(struct follow *follow, struct fkt_event *event);
/* All events were read, and the time that is asked for may begin or end behind the last one. */
void follow_to_the_end(struct follow *follow);

#endif

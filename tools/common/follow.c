// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of a part of a trace, in their order. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"
#include "read/reader.h"

void follow_free(struct follow *follow)
{
	free(follow->gap);
}

bool follow_is_stack(struct follow *follow, const struct fkt_event *event)
{
	if (event->code != FKT_CODE_STACK)
		return false;
	if (!follow->has_stack || follow->stack_lane != event->lane)
		follow->stack.known = false;
	follow->has_stack = true;
	follow->stack_lane = event->lane;
	fkt_stack_event(follow->reader, event, &follow->stack);
	return true;
}

int follow_event(struct follow *follow, const struct fkt_event *event, bool inside)
{
	struct fkt_analysis *analysis = follow->analysis;
	const uint64_t from = filter_from(follow->filter);
	int err = 0;

	if (analysis) {
		/* Who runs where is followed before the time that is asked for, too. */
		if (!follow->inside)
			fkt_analysis_charge(analysis, inside && from ? from : event->stamp,
					    inside && filter_charges(follow->filter));
		follow->inside |= inside;
		err = fkt_analysis_event(analysis, event);
	}
	follow->inside |= inside;
	if (err || !fkt_is_process_event(event->code))
		return err;
	if (follow->process)
		err = follow->process(follow->arg, event);
	fkt_processes_event(follow->processes, event);
	return err;
}

bool follow_passes(struct follow *follow, const struct fkt_event *event, bool inside)
{
	bool passes = inside;

	if (!filter_is_open(follow->filter))
		passes = filter_event(follow->filter, event) && inside;
	if (follow->analysis && inside)
		fkt_analysis_charge(follow->analysis, event->stamp, filter_charges(follow->filter));
	return passes;
}

const struct fkt_stack *follow_stack(struct follow *follow, const struct fkt_event *event)
{
	const bool has_stack = follow->has_stack && follow->stack_lane == event->lane;

	follow->has_stack = false;
	return has_stack ? &follow->stack : NULL;
}

int follow_gap(struct follow *follow, const struct fkt_gap *gap)
{
	struct fkt_gap *larger;

	if (follow->analysis)
		fkt_analysis_gap(follow->analysis, gap);
	if (follow->gaps == follow->gap_room) {
		larger = reallocarray(follow->gap, follow->gap_room + 16, 2 * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		follow->gap = larger;
		follow->gap_room = 2 * (follow->gap_room + 16);
	}
	follow->gap[follow->gaps++] = *gap;
	return 0;
}

/* ---- behind the end ---- */

/*
 * How many events behind the end are looked at, for CPUs that had none before it, for threads that
 * were outside of all calls since their first event, and for those of which it is not known whether
 * they sleep; and how often these are asked for.
 */
#define LOOK_AHEAD	1000000
#define LOOK_AHEAD_STEP 1024
/* For so long a stream is waited for. */
#define LOOK_AHEAD_MS	1000

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Of a stream, what is to come may be long in coming. Return: whether to read on. */
static bool await_more(const struct follow *follow, uint64_t until)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t now = now_ms();

	if (now >= until)
		return false;
	return strcmp(follow->selection->path, "-") || poll(&in, 1, (int)(until - now)) != 0;
}

int follow_after(struct follow *follow, struct fkt_event *event)
{
	const uint64_t until = now_ms() + LOOK_AHEAD_MS;
	struct fkt_analysis *analysis = follow->analysis;
	int what = FKT_EVENT, err;

	if (!analysis)
		return 0;
	/* Also a time without an event is somebody's. */
	if (!follow->inside && follow->selection->from >= 0)
		fkt_analysis_charge(analysis, filter_from(follow->filter),
				    filter_charges(follow->filter));
	/*
	 * No more time is charged; who was current on a CPU until then, its next event says, and
	 * what a thread was at, its next system call.
	 */
	fkt_analysis_charge(analysis, filter_to(follow->filter), false);
	for (unsigned int i = 0; what > 0 && i < LOOK_AHEAD; i++) {
		if (!(i % LOOK_AHEAD_STEP) && fkt_analysis_is_settled(analysis))
			return 0;
		err = 0;
		if (what == FKT_WAIT && !await_more(follow, until))
			return 0;
		if (what == FKT_EVENT)
			err = fkt_analysis_event(analysis, event);
		/* A pid that is given anew is another thread's; names stay as they were. */
		if (what == FKT_EVENT && event->code == FKT_CODE_FORK)
			fkt_processes_event(follow->processes, event);
		else if (what == FKT_GAP)
			fkt_analysis_gap(analysis, fkt_gap(follow->reader));
		if (err)
			return err;
		what = fkt_reader_next(follow->reader, event);
	}
	return what < 0 ? what : 0;
}

void follow_to_the_end(struct follow *follow)
{
	const uint64_t from = filter_from(follow->filter), to = filter_to(follow->filter);
	const uint64_t last = fkt_read_stats(follow->reader)->last;
	const uint64_t stop = fkt_recording_end(follow->trace, last);

	if (!follow->analysis)
		return;
	/* The recording went on behind its last event. */
	if (follow->selection->from >= 0 && from > last && from < stop)
		fkt_analysis_charge(follow->analysis, from, filter_charges(follow->filter));
	if (follow->selection->to >= 0 && to > last && to < stop)
		fkt_analysis_charge(follow->analysis, to, false);
}

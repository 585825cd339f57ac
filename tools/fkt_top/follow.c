// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An analysis follows all events and charges no time: it knows in which calls threads are. When an
 * interval begins, a copy of it charges until the interval ends, and goes on for some time without
 * charging: who was current, and what threads were at, events behind the end tell. That is what
 * fkt_print --range does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/missing.h"
#include "common/wait.h"
#include "read/reader.h"
#include "sum/clone.h"
#include "top.h"

/* So many events at a time. */
#define STEP_EVENTS  4096
/* As fkt_print has it: so many events behind an interval tell of it, and so long one waits. */
#define AHEAD_EVENTS 1000000
#define AHEAD_STEP   1024
#define AHEAD_MS     1000

/**
 * struct open_interval - one whose events come, or have come
 * @interval: what is known
 * @analysis: its sums
 * @ended: of calls that began before it, those that ended in it, by row
 * @first: stamp of the trace's first event
 * @behind: events that came behind its end
 * @until: wait for them until then, by now_ms()
 * @silent: nothing happened in it, for an interval or longer: of all together it is a part
 * @failed: there was no memory
 */
struct open_interval {
	struct interval interval;
	struct fkt_analysis *analysis;
	struct tally *ended;
	uint64_t first;
	uint64_t behind;
	uint64_t until;
	bool silent;
	bool failed;
};

static uint64_t later(uint64_t stamp, uint64_t cycles)
{
	return cycles < UINT64_MAX - stamp ? stamp + cycles : UINT64_MAX;
}

/* ---- an interval ---- */

/* A call that is not whole in the interval may be so in the trace. */
static void on_leave(void *arg, const struct fkt_call *call)
{
	struct open_interval *open = arg;
	const uint64_t key[TALLY_KEYS] = { call->row };
	struct tallied *one;

	if (!call->partial || !call->entered || !call->exit || call->begin < open->first ||
	    call->begin >= open->interval.from || call->end >= open->interval.to)
		return;
	one = tally_get(open->ended, key);
	if (one)
		one->count++;
	else
		open->failed = true;
}

/* As fkt_print --waits has it. */
static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct open_interval *open = arg;
	const uint64_t key[TALLY_KEYS] = {
		[WAIT_THREAD] = wait->id,
		[WAIT_STATE] = wait->state,
		[WAIT_IN] = wait->outer,
	};
	struct tallied *one = tally_get(open->interval.waits, key);
	const uint64_t off = fkt_wait_off(wait);
	uint64_t ready;

	if (!one) {
		open->failed = true;
		return;
	}
	one->count++;
	one->ended += wait->back != 0;
	one->off += off;
	if (off > one->max)
		one->max = off;
	if (fkt_wait_was_ready(wait, &ready))
		one->ready += ready;
}

static void open_free(struct open_interval *open)
{
	if (!open)
		return;
	fkt_analysis_free(open->analysis);
	tally_free(open->ended);
	interval_free(&open->interval);
	free(open);
}

static struct open_interval *open_new(struct top *top, uint64_t number)
{
	struct open_interval *open = calloc(1, sizeof(*open));
	const struct fkt_analysis_hooks hooks = {
		.arg = open,
		.leave = on_leave,
		.wait = on_wait,
	};

	if (!open)
		return NULL;
	open->interval.number = number;
	open->interval.waits = tally_new();
	open->interval.stacks = tally_new();
	open->ended = tally_new();
	/* The recording began a little before its first event: the first one has that, too. */
	open->analysis = number ? fkt_analysis_clone(top->state, &hooks)
				: fkt_analysis_new(top->trace, top->processes, &hooks);
	if (open->interval.waits && open->interval.stacks && open->ended && open->analysis)
		return open;
	open_free(open);
	return NULL;
}

/* When an interval begins, to the cycle, as --range has it. */
static uint64_t begin_of(const struct top *top, uint64_t number)
{
	uint64_t ns;

	if (__builtin_mul_overflow(number, top->options->delay_ns, &ns))
		return UINT64_MAX;
	return later(top->first, fkt_ns_to_cycles(top->trace, ns));
}

/* In which one a stamp is that is behind the interval that events go to. */
static uint64_t number_of(const struct top *top, uint64_t stamp)
{
	const int64_t ns = fkt_cycles_to_ns(top->trace, (int64_t)(stamp - top->first));
	const uint64_t next = top->now->interval.number + 1;
	uint64_t number = ns > 0 ? (uint64_t)ns / top->options->delay_ns : 0;

	/* Both ways are rounded. */
	if (number && begin_of(top, number) > stamp)
		number--;
	else if (begin_of(top, number + 1) <= stamp)
		number++;
	return number > next ? number : next;
}

/* When it is: up to the one with a number. */
static void place(const struct top *top, struct open_interval *open, uint64_t next)
{
	struct interval *interval = &open->interval;

	open->first = top->first;
	interval->from = begin_of(top, interval->number);
	interval->to = begin_of(top, next);
	if (interval->number)
		fkt_analysis_charge(open->analysis, interval->from, true);
}

static void take_counted(const struct open_interval *open, struct top_row *row)
{
	for (unsigned int i = 0; i < FKT_COUNTERS_MAX; i++)
		row->counted[i] = fkt_analysis_counted(open->analysis, row->row, i);
}

static bool take_rows(struct open_interval *open)
{
	struct interval *interval = &open->interval;
	const struct fkt_row_sums *sums;
	const struct tallied *ended;
	size_t rows = 0;

	for (uint32_t row = 0; row < FKT_ROWS; row++) {
		sums = fkt_analysis_row(open->analysis, row);
		rows += sums->own || sums->calls || sums->partial;
	}
	interval->row = calloc(rows + 1, sizeof(*interval->row));
	if (!interval->row)
		return false;
	for (uint32_t row = 0; row < FKT_ROWS; row++) {
		sums = fkt_analysis_row(open->analysis, row);
		if (!sums->own && !sums->calls && !sums->partial)
			continue;
		ended = tally_find(open->ended, (const uint64_t[TALLY_KEYS]){ row });
		interval->row[interval->rows++] = (struct top_row){
			.row = row,
			.own = sums->own,
			.calls = sums->calls,
			.partial = sums->partial,
			.ended = ended ? ended->count : 0,
		};
		take_counted(open, &interval->row[interval->rows - 1]);
	}
	return true;
}

/* The oldest one that is not settled is taken as it is. */
static int publish(struct top *top)
{
	struct open_interval *open = top->pending[0];
	struct interval *interval = &open->interval;
	bool silent;
	int err = fkt_analysis_end(open->analysis, fkt_read_stats(top->reader)->last);

	top->n_pending--;
	memmove(top->pending, top->pending + 1, top->n_pending * sizeof(*top->pending));
	interval->duration = fkt_analysis_duration(open->analysis);
	interval->cpus = fkt_analysis_cpus(open->analysis);
	interval->thread = fkt_analysis_threads(open->analysis, &interval->threads);
	if (!err && (!interval->thread || !take_rows(open) || open->failed ||
		     !whole_add(&top->whole, interval)))
		err = -ENOMEM;
	silent = open->silent;
	if (!silent) {
		interval_free(&top->last);
		top->last = *interval;
		top->has_last = true;
		*interval = (struct interval){ 0 };
	}
	open_free(open);
	return err ?: silent ? STEP_MORE : STEP_INTERVAL;
}

/* Whether nothing more will be known of the oldest one. */
static bool is_settled(const struct top *top, bool waits)
{
	struct open_interval *open = top->n_pending ? top->pending[0] : NULL;

	if (!open)
		return false;
	/* Two may come at once. */
	if (top->n_pending > PENDING_MAX - 2 || open->behind >= AHEAD_EVENTS ||
	    (waits && now_ms() >= open->until))
		return true;
	return !(open->behind % AHEAD_STEP) && fkt_analysis_is_settled(open->analysis);
}

/* What comes next is an interval, up to the one with number @next: false without memory. */
static bool open_next(struct top *top, uint64_t number, uint64_t next)
{
	top->now = open_new(top, number);
	if (top->now)
		place(top, top->now, next);
	return top->now;
}

/* The one that events went to is over. */
static void close_now(struct top *top)
{
	struct open_interval *open = top->now;

	fkt_analysis_charge(open->analysis, open->interval.to, false);
	open->until = now_ms() + AHEAD_MS;
	top->pending[top->n_pending++] = open;
	top->now = NULL;
}

/* ---- events ---- */

/* Whether a stack was what the event was about. */
static bool take_stack(struct top *top, const struct fkt_event *event)
{
	if (event->code != FKT_CODE_STACK)
		return false;
	if (!top->has_stack || top->stack_lane != event->lane)
		top->stack.known = false;
	top->has_stack = true;
	top->stack_lane = event->lane;
	fkt_stack_event(top->reader, event, &top->stack);
	return true;
}

static int count_event(struct top *top, const struct fkt_event *event)
{
	const bool has_stack = top->has_stack && top->stack_lane == event->lane;
	struct interval *interval = &top->now->interval;
	uint64_t key[TALLY_KEYS] = { [STACK_CODE] = event->code };
	struct tallied *one;
	uint32_t number;

	interval->lost += top->lost;
	top->lost = 0;
	top->has_stack = false;
	if (event->stamp < interval->from)
		return 0;
	interval->events++;
	if (!has_stack)
		return 0;
	if (!stacks_number(top->stacks, &top->stack, &number))
		return -ENOMEM;
	key[STACK_NUMBER] = number;
	one = tally_get(interval->stacks, key);
	if (!one)
		return -ENOMEM;
	one->count++;
	one->ended++;
	return 0;
}

static int tell(struct top *top, const struct fkt_event *event)
{
	int err = fkt_analysis_event(top->state, event);

	for (unsigned int i = 0; i < top->n_pending && !err; i++) {
		err = fkt_analysis_event(top->pending[i]->analysis, event);
		top->pending[i]->behind++;
	}
	err = err ?: fkt_analysis_event(top->now->analysis, event);
	if (fkt_is_process_event(event->code))
		fkt_processes_event(top->processes, event);
	return err;
}

/* The next interval in which something happens has a number; those before it are not shown. */
static int go_on(struct top *top, uint64_t number)
{
	const uint64_t next = top->now->interval.number + 1;

	close_now(top);
	fkt_analysis_forget(top->state);
	if (number > next) {
		if (!open_next(top, next, number))
			return -ENOMEM;
		top->now->silent = true;
		close_now(top);
	}
	return open_next(top, number, number + 1) ? 0 : -ENOMEM;
}

static int take_event(struct top *top, const struct fkt_event *event)
{
	int err;

	if (!top->events) {
		top->first = event->stamp;
		fkt_analysis_charge(top->state, event->stamp, false);
		place(top, top->now, 1);
	}
	top->events++;
	if (event->stamp >= top->now->interval.to) {
		err = go_on(top, number_of(top, event->stamp));
		if (err)
			return err;
	}
	err = tell(top, event);
	if (err || take_stack(top, event))
		return err;
	return count_event(top, event);
}

static void take_gap(struct top *top)
{
	const struct fkt_gap *gap = fkt_gap(top->reader);
	struct fkt_read_stats stats = { 0 };

	missing_count(&stats, gap);
	top->lost += stats.lost;
	fkt_analysis_gap(top->state, gap);
	for (unsigned int i = 0; i < top->n_pending; i++)
		fkt_analysis_gap(top->pending[i]->analysis, gap);
	fkt_analysis_gap(top->now->analysis, gap);
}

/* The recording went on behind its last event, maybe for longer than the interval. */
static int end_now(struct top *top)
{
	const uint64_t last = fkt_read_stats(top->reader)->last;
	const struct interval *interval = &top->now->interval;
	const uint64_t to = interval->to, next = interval->number + 1;

	top->now->interval.lost += top->lost;
	top->lost = 0;
	if (to > last && to < fkt_recording_end(top->trace, last)) {
		close_now(top);
		if (!open_next(top, next, next + 1))
			return -ENOMEM;
		top->now->silent = true;
	}
	top->pending[top->n_pending++] = top->now;
	top->now = NULL;
	return 0;
}

int top_step(struct top *top)
{
	struct fkt_event event;
	int what, err = 0;

	for (unsigned int i = 0; i < STEP_EVENTS && !err; i++) {
		if (is_settled(top, false))
			return publish(top);
		what = fkt_reader_next(top->reader, &event);
		if (what < 0)
			return what;
		if (what == FKT_END) {
			if (top->now && top->events)
				err = end_now(top);
			if (err)
				return err;
			return top->n_pending ? publish(top) : STEP_END;
		}
		if (what == FKT_WAIT)
			return is_settled(top, true) ? publish(top) : STEP_WAIT;
		if (what == FKT_GAP)
			take_gap(top);
		else
			err = take_event(top, &event);
	}
	return err ?: STEP_MORE;
}

bool top_begin(struct top *top, const struct options *options, struct fkt_trace *trace)
{
	*top = (struct top){ .options = options, .trace = trace };
	top->processes = fkt_processes_new(trace);
	if (top->processes)
		top->state = fkt_analysis_new(trace, top->processes, NULL);
	top->reader = fkt_reader_new(trace);
	top->stacks = stacks_new(trace);
	/* What is missing before the first event is its, too. */
	if (top->processes)
		top->now = open_new(top, 0);
	return whole_begin(&top->whole) && top->state && top->now && top->reader && top->stacks;
}

void top_end(struct top *top)
{
	open_free(top->now);
	while (top->n_pending)
		open_free(top->pending[--top->n_pending]);
	interval_free(&top->last);
	whole_end(&top->whole);
	stacks_free(top->stacks);
	fkt_reader_free(top->reader);
	fkt_analysis_free(top->state);
	fkt_processes_free(top->processes);
}

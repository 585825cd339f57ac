// SPDX-License-Identifier: GPL-2.0-or-later
/* Why threads did not run: what they waited in, who woke them, and how long it took. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/wait.h"
#include "print.h"

/* What a group's key holds. */
enum {
	KEY_THREAD,
	KEY_STATE,
	KEY_OUTER,
	KEY_INNER,
	KEY_WAKER,
	KEY_WAKER_ROW,
};

/* In the place of a waker. */
#define NO_WAKER  UINT64_MAX
#define INTERRUPT (UINT64_MAX - 1)

struct waits {
	const struct fkt_trace *trace;
	struct groups *off;   /* from leaving the CPU to being woken, or to running again */
	struct groups *ready; /* of those that slept, from being woken to running again */
};

static const struct fkt_column columns[] = {
	{ "Thread", "process", FKT_COLUMN_THREAD, 0 },
	{ "State", "state", FKT_COLUMN_TEXT, 0 },
	{ "In", "in", FKT_COLUMN_TEXT, 0 },
	{ "Function", "function", FKT_COLUMN_TEXT, 4 },
	{ "Woken by", "waker", FKT_COLUMN_THREAD, 0 },
	{ "In", "waker_in", FKT_COLUMN_TEXT, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Cut", "cut", FKT_COLUMN_NUMBER, 5 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Average", "average", FKT_COLUMN_DURATION, 3 },
	{ "p99", "p99", FKT_COLUMN_DURATION, 6 },
	{ "Max", "max", FKT_COLUMN_DURATION, 1 },
	{ "Then ready", "ready_average", FKT_COLUMN_DURATION, 2 },
	{ "Max ready", "ready_max", FKT_COLUMN_DURATION, 7 },
	{ 0 },
};

/* In the place of a waker's name. */
static const struct fkt_process interrupt = { .tid = FKT_PID_UNKNOWN, .comm = "(interrupt)" };

static void waits_free(void *view)
{
	struct waits *waits = view;

	groups_free(waits->off);
	groups_free(waits->ready);
	free(waits);
}

static void *waits_new(const struct context *context)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->trace = context->out->trace;
	waits->off = groups_new();
	waits->ready = groups_new();
	if (!waits->off || !waits->ready) {
		waits_free(waits);
		return NULL;
	}
	return waits;
}

static int waits_wait(void *view, const struct fkt_wait *wait, bool passes)
{
	struct waits *waits = view;
	const uint64_t key[BY_MAX] = {
		[KEY_THREAD] = wait->id,
		[KEY_STATE] = wait->state,
		[KEY_OUTER] = wait->outer,
		[KEY_INNER] = wait->inner,
		/* Who was interrupted by an interrupt that wakes is chance. */
		[KEY_WAKER] = !wait->woken					  ? NO_WAKER
			      : fkt_row_interrupts(waits->trace, wait->waker_row) ? INTERRUPT
										  : wait->waker,
		[KEY_WAKER_ROW] = wait->waker_row,
	};
	struct group *off, *ready;
	uint64_t cycles;

	if (!passes)
		return 0;
	off = groups_get(waits->off, key);
	if (!off)
		return -ENOMEM;
	off->count++;
	off->cut += wait->from != wait->left || !wait->back;
	fkt_histogram_add(&off->values, fkt_wait_off(wait));
	if (!fkt_wait_was_ready(wait, &cycles))
		return 0;
	ready = groups_get(waits->ready, key);
	if (!ready)
		return -ENOMEM;
	ready->count++;
	fkt_histogram_add(&ready->values, cycles);
	return 0;
}

static void print_group(struct waits *waits, struct fkt_output *out,
			const struct fkt_processes *processes, const struct group *off)
{
	char state[FKT_STATE_BYTES];
	char outer[FKT_NAME_BYTES], inner[FKT_NAME_BYTES] = "", waker_row[FKT_NAME_BYTES] = "";
	const struct fkt_histogram *values = &off->values, *ready = NULL;
	const struct fkt_process *waker = NULL;

	fkt_state_letters((uint32_t)off->key[KEY_STATE], state);
	fkt_row_name(out->trace, (uint32_t)off->key[KEY_OUTER], outer);
	if (off->key[KEY_INNER] != off->key[KEY_OUTER])
		fkt_row_name(out->trace, (uint32_t)off->key[KEY_INNER], inner);
	if (off->key[KEY_WAKER] != NO_WAKER) {
		if (off->key[KEY_WAKER] == INTERRUPT)
			waker = &interrupt;
		else
			waker = fkt_process(processes, (uint32_t)off->key[KEY_WAKER]);
		fkt_row_name(out->trace, (uint32_t)off->key[KEY_WAKER_ROW], waker_row);
		if (off->key[KEY_STATE])
			ready = &groups_get(waits->ready, off->key)->values;
	}
	fkt_table_row(out, "waits", columns,
		      (const union fkt_cell[]){
			      { .thread = fkt_process(processes, (uint32_t)off->key[KEY_THREAD]) },
			      { .text = state },
			      { .text = outer },
			      { .text = *inner ? inner : NULL },
			      { .thread = waker },
			      { .text = *waker_row ? waker_row : NULL },
			      { .number = off->count },
			      { .number = off->cut },
			      { .number = values->sum },
			      { .number = values->sum / values->count },
			      { .number = fkt_histogram_percentile(values, 99) },
			      { .number = values->max },
			      { .number = ready && ready->count ? ready->sum / ready->count
								: FKT_CELL_NONE },
			      { .number = ready && ready->count ? ready->max : FKT_CELL_NONE },
		      },
		      false);
}

static int waits_print(const struct context *context, void *view)
{
	struct fkt_output *out = context->out;
	struct waits *waits = view;
	struct group **groups;
	size_t count;

	groups = groups_sorted(waits->off, &count);
	if (!groups)
		return -ENOMEM;
	if (!count)
		tell_nothing(context, "wait", true);
	else
		fkt_table_line(out, "%s", "");
	if (count || !fkt_format_for_people(out->format))
		fkt_table_begin(out, columns);
	for (size_t i = 0; i < count; i++)
		print_group(waits, out, context->processes, groups[i]);
	if (groups_others(waits->off))
		fkt_table_line(out, "%" PRIu64 " times more, for other reasons than these %d",
			       groups_others(waits->off)->count, GROUPS_MAX);
	free(groups);
	return 0;
}

static const struct argp_option waits_options[] = {
	{ .name = "waits", .doc = "Why threads did not run, and who woke them" },
	{ 0 },
};

const struct view view_waits = {
	.name = "waits",
	.option = waits_options,
	.new = waits_new,
	.wait = waits_wait,
	.print = waits_print,
	.free = waits_free,
};

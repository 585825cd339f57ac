// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --by stack: events by who called. Of switches it is told how long threads were off the CPU that
 * they left there, of wake-ups for how long those that they woke had been off it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "print.h"
#include "trace/fields.h"
#include "trace/internal.h"
#include "trace/maps.h"

/* In the place of a stack that was not recorded, and of one beyond STACKS_MAX. */
#define NO_STACK   0
#define STACKS_MAX 65536

/* What a group's key holds. */
enum {
	KEY_CODE,
	KEY_STACK,
};

/**
 * struct off - what a thread's wait began with, and ended with
 * @left: stamp of the last switch away from it, 0 when there was none
 * @stack: of that
 * @has_stack: it has one
 * @woken: stamp of the first wake-up since then
 * @waker: the group of that, NULL if it is not counted
 */
struct off {
	uint64_t left;
	uint32_t stack;
	bool has_stack;
	uint64_t woken;
	struct group *waker;
};

struct stack_view {
	const struct context *context;
	struct groups *groups;
	uint64_t seed; /* of @place, so that no trace can be made to fill one of them */
	struct fkt_stack *stack[STACKS_MAX]; /* by number, from 1; only as long as it has to be */
	uint32_t stacks;
	uint32_t place[2 * STACKS_MAX]; /* numbers, by hash */
	struct off *off;		/* by the thread's number */
	uint32_t threads;
	bool switches; /* there are switches with stacks */
	/* Waits of which the switch was not seen. */
	uint64_t unseen;
	uint64_t unseen_sum;
	uint64_t unseen_max;
};

static void stack_free(void *data)
{
	struct stack_view *view = data;

	groups_free(view->groups);
	for (uint32_t i = 1; i <= view->stacks && i < STACKS_MAX; i++)
		free(view->stack[i]);
	free(view->off);
	free(view);
}

static void *stack_new(const struct context *context)
{
	struct stack_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->context = context;
	if (getrandom(&view->seed, sizeof(view->seed), 0) < 0)
		view->seed = (uintptr_t)view;
	view->groups = groups_new();
	if (!view->groups) {
		stack_free(view);
		return NULL;
	}
	return view;
}

static size_t bytes_of(const struct fkt_stack *stack)
{
	return offsetof(struct fkt_stack, frame) + stack->count * sizeof(stack->frame[0]);
}

static bool same(const struct fkt_stack *a, const struct fkt_stack *b)
{
	return a->count == b->count && a->cut == b->cut && a->exact == b->exact &&
	       !memcmp(a->frame, b->frame, a->count * sizeof(a->frame[0]));
}

/* The number of a stack. 0 or -ENOMEM. */
static int number_of(struct stack_view *view, const struct fkt_stack *stack, uint32_t *number)
{
	uint64_t h = view->seed ^ stack->count ^ (uint64_t)stack->exact << 32;
	struct fkt_stack placed;
	uint32_t *place;

	/* Programs have the same code at addresses of their own. */
	if (stack->pid) {
		placed = *stack;
		fkt_stack_place(view->context->trace, &placed);
		stack = &placed;
	}

	*number = NO_STACK;
	if (!stack->known)
		return 0;
	for (unsigned int i = 0; i < stack->count; i++) {
		h = (h ^ stack->frame[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	for (h %= 2 * STACKS_MAX;; h = (h + 1) % (2 * STACKS_MAX)) {
		place = &view->place[h];
		if (!*place || same(view->stack[*place], stack))
			break;
	}
	*number = *place;
	if (*place || view->stacks == STACKS_MAX - 1)
		return 0;
	view->stack[view->stacks + 1] = malloc(bytes_of(stack));
	if (!view->stack[view->stacks + 1])
		return -ENOMEM;
	memcpy(view->stack[++view->stacks], stack, bytes_of(stack));
	*number = *place = view->stacks;
	return 0;
}

static struct off *off_of(struct stack_view *view, uint32_t id)
{
	uint32_t room = view->threads ?: 256;
	struct off *larger;

	if (id >= view->threads) {
		while (room <= id)
			room *= 2;
		larger = realloc(view->off, room * sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + view->threads, 0, (room - view->threads) * sizeof(*larger));
		view->off = larger;
		view->threads = room;
	}
	return view->off + id;
}

static int follow_switch(struct stack_view *view, const struct fkt_event *event, uint32_t stack)
{
	const uint32_t prev = fkt_arg32(event, 0);
	struct off *off = off_of(view, fkt_process_id(view->context->processes, prev, event->cpu));

	if (!off)
		return -ENOMEM;
	*off = (struct off){
		.left = event->stamp,
		.stack = stack,
		.has_stack = view->context->stack,
		.woken = off->woken,
	};
	view->switches |= off->has_stack;
	return 0;
}

/* Further wake-ups of a thread that is not yet back end nothing. */
static int follow_wakeup(struct stack_view *view, const struct fkt_event *event,
			 struct group *group)
{
	const uint32_t pid = fkt_arg32(event, 0);
	struct off *off = off_of(view, fkt_process_id(view->context->processes, pid, event->cpu));

	if (!off)
		return -ENOMEM;
	if (off->woken > off->left)
		return 0;
	off->woken = event->stamp;
	off->waker = group;
	return 0;
}

/* All are looked at: those that are not counted, too, say what a thread's wait began with. */
static int stack_event(void *data, const struct fkt_event *event, bool passes)
{
	struct stack_view *view = data;
	const struct fkt_stack *stack = view->context->stack;
	const bool is_switch = event->code == FKT_CODE_SWITCH && event->words >= 1;
	uint64_t key[BY_MAX] = { [KEY_CODE] = event->code };
	struct group *group = NULL;
	uint32_t number = NO_STACK;

	if (stack && (passes || is_switch) && number_of(view, stack, &number))
		return -ENOMEM;
	if (stack && passes) {
		key[KEY_STACK] = number;
		group = groups_get(view->groups, key);
		if (!group)
			return -ENOMEM;
		group->count++;
	}
	if (is_switch && !fkt_is_no_switch(event))
		return follow_switch(view, event, number);
	if ((event->code == FKT_CODE_WAKEUP || event->code == FKT_CODE_WAKEUP_NEW) &&
	    event->words >= 1)
		return follow_wakeup(view, event, group);
	return 0;
}

/* A part of a wait. The switch that it began with may be one that is in no part of the trace. */
static int stack_wait(void *data, const struct fkt_wait *wait, bool passes)
{
	struct stack_view *view = data;
	const struct off none = { 0 },
			 *off = wait->id < view->threads ? &view->off[wait->id] : &none;
	const uint64_t cycles = wait->to > wait->from ? wait->to - wait->from : 0;
	const uint64_t key[BY_MAX] = { [KEY_CODE] = FKT_CODE_SWITCH, [KEY_STACK] = off->stack };
	struct group *group;

	(void)passes; /* that is said of its calls, too, and not of the switch */
	if (off->waker && off->woken == wait->woken && wait->woken > wait->from &&
	    filter_thread(view->context->filter, wait->id))
		fkt_histogram_add(&off->waker->values,
				  (wait->woken < wait->to ? wait->woken : wait->to) - wait->from);
	/* A new thread has left no CPU. */
	if ((!wait->state && wait->woken) || !filter_switch(view->context->filter, wait))
		return 0;
	if (off->left != wait->left) {
		view->unseen++;
		view->unseen_sum += cycles;
		if (cycles > view->unseen_max)
			view->unseen_max = cycles;
		return 0;
	}
	if (!off->has_stack)
		return 0;
	group = groups_get(view->groups, key);
	if (!group)
		return -ENOMEM;
	fkt_histogram_add(&group->values, cycles);
	return 0;
}

/* ---- printing ---- */

static const struct fkt_column columns[] = {
	{ "Event", "event", FKT_COLUMN_TEXT, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Off CPU", "off_cpu", FKT_COLUMN_NUMBER, 0 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Average", "average", FKT_COLUMN_DURATION, 0 },
	{ "Max", "max", FKT_COLUMN_DURATION, 0 },
	{ "Stack", "stack", FKT_COLUMN_TEXT, 0 },
	{ 0 },
};

/* For people: how often, and for how long; then the frames. */
static void print_head(const struct context *context, const struct group *group, const char *name)
{
	char sum[FKT_DURATION_BYTES], average[FKT_DURATION_BYTES], max[FKT_DURATION_BYTES];
	const struct fkt_histogram *values = &group->values;

	char line[FKT_NAME_BYTES + 3 * FKT_DURATION_BYTES + 80];

	if (!values->count)
		snprintf(line, sizeof(line), "%s: %" PRIu64 " times\n", name, group->count);
	else
		snprintf(line, sizeof(line), "%s: %" PRIu64 " times, %s %s, average %s, max %s\n",
			 name, group->count, fkt_duration(context->trace, values->sum, sum),
			 group->key[KEY_CODE] == FKT_CODE_SWITCH ? "off the CPU" : "of waits ended",
			 fkt_duration(context->trace, values->sum / values->count, average),
			 fkt_duration(context->trace, values->max, max));
	fkt_print_wrapped(context->out, line, 2);
}

static void print_frames(const struct context *context, const struct fkt_stack *stack)
{
	char frame[FKT_FRAME_BYTES + 1];

	if (!stack) {
		fkt_table_line(context->out, "        (stack not recorded)");
		return;
	}
	for (unsigned int i = fkt_stack_begin(context->trace, stack); i < stack->count; i++) {
		*fkt_put_frame(context->trace, frame, stack, i) = '\0';
		fkt_table_line(context->out, "        %s", frame);
	}
	if (stack->cut)
		fkt_table_line(context->out, "        ...");
}

/* For programs: the frames with semicolons between them, the innermost first. To be freed. */
static char *join_frames(const struct context *context, const struct fkt_stack *stack)
{
	char *text = malloc(FKT_STACK_FRAMES_BOTH * (FKT_FRAME_BYTES + 1) + sizeof("...")),
	     *to = text;

	if (!text)
		return NULL;
	for (unsigned int i = stack ? fkt_stack_begin(context->trace, stack) : 0;
	     stack && i < stack->count; i++) {
		to = fkt_put_frame(context->trace, to, stack, i);
		*to++ = ';';
	}
	if (stack && stack->cut)
		to = stpcpy(to, "...");
	else if (to != text)
		to--;
	*to = '\0';
	return text;
}

static int print_row(const struct context *context, const struct group *group, const char *name,
		     const struct fkt_stack *stack)
{
	const struct fkt_histogram *values = &group->values;
	char *text = join_frames(context, stack);

	if (!text)
		return -ENOMEM;
	fkt_table_row(
		context->out, "stacks", columns,
		(const union fkt_cell[]){
			{ .text = name },
			{ .number = group->count },
			{ .number = values->count },
			{ .number = values->count ? values->sum : FKT_CELL_NONE },
			{ .number = values->count ? values->sum / values->count : FKT_CELL_NONE },
			{ .number = values->count ? values->max : FKT_CELL_NONE },
			{ .text = *text ? text : NULL },
		},
		false);
	free(text);
	return 0;
}

static int print_group(const struct stack_view *view, const struct group *group)
{
	const struct context *context = view->context;
	const struct fkt_stack *stack = view->stack[group->key[KEY_STACK]];
	char name[FKT_NAME_BYTES];

	fkt_code_name(context->trace, (uint32_t)group->key[KEY_CODE], name);
	if (!fkt_format_for_people(context->out->format))
		return print_row(context, group, name, stack);
	fkt_table_line(context->out, "%s", "");
	print_head(context, group, name);
	print_frames(context, stack);
	return 0;
}

/* Of what began before the trace did, or where events are missing, nobody knows the stack. */
static int add_unseen(struct stack_view *view)
{
	const uint64_t key[BY_MAX] = { [KEY_CODE] = FKT_CODE_SWITCH, [KEY_STACK] = NO_STACK };
	struct group *group;

	if (!view->unseen || !view->switches)
		return 0;
	group = groups_get(view->groups, key);
	if (!group)
		return -ENOMEM;
	group->values.count += view->unseen;
	group->values.sum += view->unseen_sum;
	if (view->unseen_max > group->values.max)
		group->values.max = view->unseen_max;
	return 0;
}

static int stack_print(const struct context *context, void *data)
{
	struct stack_view *view = data;
	struct group **groups;
	size_t count;
	int err = add_unseen(view);

	if (err)
		return err;
	groups = groups_sorted(view->groups, &count);
	if (!groups)
		return -ENOMEM;
	if (!count) {
		fkt_table_line(context->out, "%s", "");
		tell(context, "no event that was asked for has a stack; fkt_record --stack records "
			      "them");
	}
	if (!fkt_format_for_people(context->out->format))
		fkt_table_begin(context->out, columns);
	for (size_t i = 0; i < count && !err; i++)
		err = print_group(view, groups[i]);
	if (groups_others(view->groups))
		fkt_table_line(context->out,
			       "%" PRIu64 " events more, with other stacks than these %d",
			       groups_others(view->groups)->count, GROUPS_MAX);
	free(groups);
	return err;
}

const struct view view_stack = {
	.name = "by=stack",
	.refuses = FILTER_LONGER,
	.about = "events",
	.new = stack_new,
	.event = stack_event,
	.wait = stack_wait,
	.print = stack_print,
	.free = stack_free,
};

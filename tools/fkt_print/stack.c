// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --by stack: events by who called. What leaves a CPU there is told how long it was off, too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "trace/fields.h"

/* In the place of a stack that was not recorded, and of one beyond STACKS_MAX. */
#define NO_STACK   0
#define STACKS_MAX 65536

/* What a group's key holds. */
enum {
	KEY_CODE,
	KEY_STACK,
};

/* A thread that is off its CPU since then. */
struct off {
	uint64_t since;
	struct group *group; /* NULL: it is not */
};

struct stack_view {
	const struct context *context;
	struct groups *groups;
	struct fkt_stack *stack[STACKS_MAX]; /* by number, from 1; only as long as it has to be */
	uint32_t stacks;
	uint32_t place[2 * STACKS_MAX]; /* numbers, by hash */
	struct off *off;		/* by the thread's number */
	uint32_t threads;
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
	return a->count == b->count && a->cut == b->cut &&
	       !memcmp(a->frame, b->frame, a->count * sizeof(a->frame[0]));
}

/* The number of a stack. 0 or -ENOMEM. */
static int number_of(struct stack_view *view, const struct fkt_stack *stack, uint32_t *number)
{
	uint64_t h = stack->count;
	uint32_t *place;

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

/* Who comes to the CPU was off it up to now; who leaves it is from now on. */
static int follow_switch(struct stack_view *view, const struct fkt_event *event,
			 struct group *group)
{
	const uint32_t prev = fkt_arg32(event, 0), next = fkt_arg32(event, 4);
	struct off *off;

	off = off_of(view, fkt_process_id(view->context->processes, next, event->cpu));
	if (!off)
		return -ENOMEM;
	if (off->group && next)
		fkt_histogram_add(&off->group->values,
				  event->stamp > off->since ? event->stamp - off->since : 0);
	off->group = NULL;
	off = off_of(view, fkt_process_id(view->context->processes, prev, event->cpu));
	if (!off)
		return -ENOMEM;
	*off = (struct off){ event->stamp, prev ? group : NULL };
	return 0;
}

static int stack_event(void *data, const struct fkt_event *event)
{
	struct stack_view *view = data;
	const struct fkt_stack *stack = view->context->stack;
	uint64_t key[BY_MAX] = { [KEY_CODE] = event->code };
	struct group *group = NULL;
	uint32_t number;

	if (stack) {
		if (number_of(view, stack, &number))
			return -ENOMEM;
		key[KEY_STACK] = number;
		group = groups_get(view->groups, key);
		if (!group)
			return -ENOMEM;
		group->count++;
	}
	if (event->code == FKT_CODE_SWITCH && event->words >= 1)
		return follow_switch(view, event, group);
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

	if (!values->count) {
		fkt_table_line(context->out, "%s: %" PRIu64 " times", name, group->count);
		return;
	}
	fkt_table_line(context->out,
		       "%s: %" PRIu64 " times; off the CPU for %s, on average %s, at most %s", name,
		       group->count, fkt_duration(context->trace, values->sum, sum),
		       fkt_duration(context->trace, values->sum / values->count, average),
		       fkt_duration(context->trace, values->max, max));
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
	char *text = malloc(FKT_STACK_FRAMES_MAX * (FKT_FRAME_BYTES + 1) + sizeof("...")),
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

static int stack_print(const struct context *context, void *data)
{
	struct stack_view *view = data;
	struct group **groups;
	size_t count;
	int err = 0;

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
	.new = stack_new,
	.event = stack_event,
	.print = stack_print,
	.free = stack_free,
};

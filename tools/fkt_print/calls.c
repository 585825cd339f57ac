// SPDX-License-Identifier: GPL-2.0-or-later
/* What each function calls (paper, figure 5), and how long its calls take. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* In the place of a callee: the caller itself, with and without what it calls. */
#define WHOLE	     FKT_ROWS
#define ONLY	     (FKT_ROWS + 1)
/* Calls that were not seen from entry to exit. */
#define CUT	     (FKT_ROWS + 2)

/* What a call has called is kept until it is known that it was seen whole; so much of a stack. */
#define CALLED_MAX   65536u

#define CALL_COLUMNS (7 + SPREAD)

struct called {
	uint32_t row; /* or CUT */
	uint32_t depth;
	uint64_t value;
	uint64_t counted[FKT_COUNTERS_MAX];
};

/* What the calls that are open have called, the innermost one's at the end. */
struct stack {
	struct called *called;
	uint32_t count;
	uint32_t room;
};

struct calls {
	const struct options *options;
	const struct fkt_trace *trace;
	struct groups *groups; /* by caller and callee */
	struct stacks *stacks;
	unsigned int counters;
	struct fkt_column column[CALL_COLUMNS + FKT_COUNTERS_MAX + 1];
};

/*
 * For programs, each line says of which function it is, in the first column. Behind them is what
 * counters have counted.
 */
static const struct fkt_column call_columns[CALL_COLUMNS] = {
	{ "Function", "function", FKT_COLUMN_TEXT, 0 },
	{ "Name", "name", FKT_COLUMN_TEXT, 0 },
	{ "Code", "code", FKT_COLUMN_TEXT, 7 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Average", "average", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	SPREAD_COLUMNS,
};

static const struct fkt_column power_columns[] = {
	{ "Function", "function", FKT_COLUMN_TEXT, 0 },
	{ "From", "from", FKT_COLUMN_DURATION, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "", "", FKT_COLUMN_BAR, 0 },
	{ 0 },
};

static void free_stack(void *stack)
{
	free(((struct stack *)stack)->called);
}

static void calls_free(void *view)
{
	struct calls *calls = view;

	stacks_free(calls->stacks, free_stack);
	groups_free(calls->groups);
	free(calls);
}

static void *calls_new(const struct context *context)
{
	struct calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->options = context->options;
	calls->trace = context->trace;
	memcpy(calls->column, call_columns, sizeof(call_columns));
	calls->counters = counted_columns(context->trace, calls->column + CALL_COLUMNS);
	calls->groups = groups_new();
	calls->stacks = stacks_new(sizeof(struct stack));
	if (!calls->groups || !calls->stacks) {
		calls_free(calls);
		return NULL;
	}
	return calls;
}

/* @counted: NULL where there are no counters. */
static bool add(struct calls *calls, uint32_t caller, uint32_t callee, uint64_t value,
		const uint64_t *counted)
{
	struct group *group = groups_get(calls->groups, (const uint64_t[BY_MAX]){ caller, callee });

	if (!group)
		return false;
	group->count++;
	fkt_histogram_add(&group->values, value);
	for (unsigned int i = 0; counted && i < calls->counters; i++)
		group->counted[i] += counted[i];
	return true;
}

static bool keep(struct calls *calls, struct stack *stack, const struct fkt_call *call,
		 uint32_t row, uint64_t value)
{
	struct called *larger;
	uint32_t room;

	/* So many calls by one that is still open: it is taken to end well. */
	if (stack->count >= CALLED_MAX)
		return add(calls, call->caller, row, value, call->counted);
	if (stack->count == stack->room) {
		room = stack->room ? stack->room * 2 : 16;
		larger = realloc(stack->called, room * sizeof(*larger));
		if (!larger)
			return false;
		stack->called = larger;
		stack->room = room;
	}
	stack->called[stack->count] =
		(struct called){ .row = row, .depth = call->depth, .value = value };
	for (unsigned int i = 0; call->counted && i < calls->counters; i++)
		stack->called[stack->count].counted[i] = call->counted[i];
	stack->count++;
	return true;
}

static int calls_moved(void *view, uint32_t from, uint32_t to)
{
	struct calls *calls = view;

	return stacks_move(calls->stacks, from, to);
}

static int calls_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct calls *calls = view;
	bool elapsed = calls->options->elapsed, ok = true, whole = passes && !call->partial;
	uint64_t value = elapsed ? call->end - call->begin : call->cycles;
	struct stack *stack = stacks_get(calls->stacks, call);
	const struct called *called;

	if (!stack)
		return -ENOMEM;
	if (!call->entered)
		return 0;
	while (stack->count && stack->called[stack->count - 1].depth > call->depth) {
		called = &stack->called[--stack->count];
		if (whole && called->depth == call->depth + 1)
			ok = ok &&
			     add(calls, call->row, called->row, called->value, called->counted);
	}
	if (whole)
		ok = ok && add(calls, call->row, WHOLE, value, call->counted) &&
		     add(calls, call->row, ONLY, elapsed ? call->only_elapsed : call->own,
			 call->counted ? call->counted + FKT_COUNTERS_MAX : NULL);
	if (call->depth)
		ok = ok && keep(calls, stack, call, whole ? call->row : CUT, value);
	return ok ? 0 : -ENOMEM;
}

static bool is_wanted(const struct calls *calls, const char *pattern, uint32_t row)
{
	char name[FKT_NAME_BYTES];

	fkt_row_name(calls->trace, row, name);
	return !pattern || !fnmatch(pattern, name, 0);
}

static void print_line(const struct calls *calls, struct fkt_output *out, const struct group *group,
		       uint64_t whole)
{
	const struct fkt_histogram *values = &group->values;
	uint32_t callee = (uint32_t)group->key[1];
	uint32_t row = callee < FKT_ROWS ? callee : (uint32_t)group->key[0];
	char name[FKT_NAME_BYTES + 16], function[FKT_NAME_BYTES], code[CODE_BYTES];
	bool text = fkt_format_for_people(out->format);

	fkt_row_name(calls->trace, (uint32_t)group->key[0], function);
	fkt_row_name(calls->trace, row, name);
	put_row_code(calls->trace, callee == CUT ? FKT_ROW_NONE : row, code);
	if (callee == ONLY)
		strcat(name, " ONLY");
	else if (callee == group->key[0])
		strcat(name, " (recursive)");
	else if (callee == CUT)
		strcpy(name, "other calls");

	union fkt_cell cells[CALL_COLUMNS + FKT_COUNTERS_MAX] = {
		{ .text = function },
		{ .text = name },
		{ .text = *code ? code : NULL },
		{ .number = values->sum },
		{ .number = values->count },
		{ .number = values->sum / values->count },
		{ .number = fkt_parts(values->sum, whole) },
	};

	put_spread(values, &cells[7]);
	for (unsigned int i = 0; i < calls->counters; i++)
		cells[CALL_COLUMNS + i].number = group->counted[i];
	fkt_table_row(out, "calls", text ? calls->column + 1 : calls->column,
		      text ? cells + 1 : cells, callee == WHOLE);
}

static int compare_callers(const void *a, const void *b)
{
	const struct group *x = *(const struct group *const *)a;
	const struct group *y = *(const struct group *const *)b;

	if (x->key[0] != y->key[0])
		return x->key[0] < y->key[0] ? -1 : 1;
	if (x->values.sum != y->values.sum)
		return x->values.sum > y->values.sum ? -1 : 1;
	return x->key[1] < y->key[1] ? -1 : x->key[1] > y->key[1];
}

/* Where the groups of a caller begin among those sorted by callers. */
static size_t find_caller(struct group **groups, size_t count, uint64_t caller)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (groups[middle]->key[0] < caller)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A function: what it calls, itself, and both. */
static void print_function(const struct calls *calls, struct fkt_output *out, struct group **groups,
			   size_t count, const struct group *function)
{
	const struct group *only = NULL;
	size_t i = find_caller(groups, count, function->key[0]);

	if (fkt_format_for_people(out->format)) {
		fkt_table_line(out, "%s", "");
		fkt_table_begin(out, calls->column + 1);
	}
	for (; i < count && groups[i]->key[0] == function->key[0]; i++) {
		if (groups[i]->key[1] == WHOLE)
			continue;
		if (groups[i]->key[1] == ONLY)
			only = groups[i];
		else
			print_line(calls, out, groups[i], function->values.sum);
	}
	if (only)
		print_line(calls, out, only, function->values.sum);
	print_line(calls, out, function, function->values.sum);
}

static const char *put_percentile(const struct fkt_output *out, const struct fkt_histogram *values,
				  double percent, char text[FKT_DURATION_BYTES])
{
	return fkt_duration_as(out->trace, out->time, fkt_histogram_percentile(values, percent),
			       text);
}

static void print_histogram(const struct calls *calls, struct fkt_output *out,
			    const struct group *function)
{
	unsigned int first = 0, last = 64;
	const struct fkt_histogram *values = &function->values;
	bool people = fkt_format_for_people(out->format);
	char name[FKT_NAME_BYTES], text[4][FKT_DURATION_BYTES];
	char line[FKT_NAME_BYTES + 4 * FKT_DURATION_BYTES + 80];
	uint64_t count, from;

	fkt_row_name(calls->trace, (uint32_t)function->key[0], name);
	if (people) {
		fkt_table_line(out, "%s", "");
		snprintf(line, sizeof(line),
			 "%s: %" PRIu64 " call%s, p50 %s, p90 %s, p99 %s, p99.9 %s\n", name,
			 values->count, values->count == 1 ? "" : "s",
			 put_percentile(out, values, 50, text[0]),
			 put_percentile(out, values, 90, text[1]),
			 put_percentile(out, values, 99, text[2]),
			 put_percentile(out, values, 99.9, text[3]));
		fkt_print_wrapped(out, line, 2);
		fkt_table_begin(out, power_columns + 1);
	}
	while (first < last && !fkt_histogram_power(values, first))
		first++;
	while (last > first && !fkt_histogram_power(values, last))
		last--;
	for (unsigned int power = first; power <= last; power++) {
		count = fkt_histogram_power(values, power);
		from = power ? 1ull << (power - 1) : 0;

		const union fkt_cell cells[] = {
			{ .text = name },
			{ .number = from },
			{ .number = count },
			{ .number = fkt_parts(count, values->count) },
			{ .number = fkt_parts(count, values->count) },
		};

		fkt_table_row(out, "histogram", people ? power_columns + 1 : power_columns,
			      people ? cells + 1 : cells, false);
	}
}

static void tell_none(const struct context *context, const char *function)
{
	uint64_t longest = filter_longest(context->filter, false);

	/* The longest one may be of another function. */
	if (!function && context->options->selected.longer >= 0 && longest)
		return tell_nothing(context, "call", false);
	fkt_table_line(context->out, "%s", "");
	tell(context, "no whole call%s%s was seen", function ? " of " : "", function ?: "");
}

static int calls_print(const struct context *context, void *view)
{
	struct fkt_output *out = context->out;
	struct calls *calls = view;
	const struct options *options = calls->options;
	struct group **groups, **callers;
	bool any = false;
	size_t count;

	groups = groups_sorted(calls->groups, &count);
	callers = groups_sorted(calls->groups, &count);
	if (!groups || !callers) {
		free(groups);
		free(callers);
		return -ENOMEM;
	}
	if (count)
		qsort(callers, count, sizeof(*callers), compare_callers);
	if (options->calls) {
		if (!fkt_format_for_people(out->format))
			fkt_table_begin(out, calls->column);
		for (size_t i = 0; i < count; i++) {
			if (groups[i]->key[1] != WHOLE ||
			    !is_wanted(calls, options->calls_of, (uint32_t)groups[i]->key[0]))
				continue;
			print_function(calls, out, callers, count, groups[i]);
			any = true;
		}
		if (!any)
			tell_none(context, options->calls_of);
	}
	any = false;
	if (options->histogram) {
		if (!fkt_format_for_people(out->format))
			fkt_table_begin(out, power_columns);
		for (size_t i = 0; i < count; i++) {
			if (groups[i]->key[1] != WHOLE ||
			    !is_wanted(calls, options->histogram, (uint32_t)groups[i]->key[0]))
				continue;
			print_histogram(calls, out, groups[i]);
			any = true;
		}
		if (!any)
			tell_none(context, options->histogram);
	}
	if (groups_others(calls->groups))
		fkt_table_line(out,
			       "\n%" PRIu64
			       " calls more, of pairs of functions beyond the first %d",
			       groups_others(calls->groups)->count, GROUPS_MAX);
	free(groups);
	free(callers);
	return 0;
}

enum {
	OPTION_CALLS,
	OPTION_HISTOGRAM,
};

static void calls_parse(struct argp_state *state, struct options *options, unsigned int option,
			char *arg)
{
	if (arg && !*arg)
		argp_error(state, "--%s=: of which function?", view_calls.option[option].name);
	if (option == OPTION_CALLS) {
		options->calls = true;
		options->calls_of = arg;
	} else {
		options->histogram = arg;
	}
}

static const struct argp_option calls_options[] = {
	[OPTION_CALLS] = { .name = "calls",
			   .arg = "FUNCTION",
			   .flags = OPTION_ARG_OPTIONAL,
			   .doc = "What functions call, and how long it takes; of those that the "
				  "pattern FUNCTION matches" },
	[OPTION_HISTOGRAM] = { .name = "histogram",
			       .arg = "FUNCTION",
			       .doc = "How long calls of FUNCTION take, in powers of two" },
	{ 0 },
};

const struct view view_calls = {
	.name = "calls",
	.option = calls_options,
	.parse = calls_parse,
	.new = calls_new,
	.leave = calls_leave,
	.moved = calls_moved,
	.print = calls_print,
	.free = calls_free,
};

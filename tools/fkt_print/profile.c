// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --profile: samples by process, and by function: how many were in it, and how many in what it has
 * called as well.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "sum/paths.h"
#include "trace/fields.h"

/* A trace may be made to name any number of them; further ones share the first. */
#define FUNCTIONS_MAX (1u << 20)
#define OTHERS	      0

/**
 * struct function - samples of a function
 * @self: in it
 * @total: in it, or in what it has called
 * @last: the last sample of these, so that a function counts once that is on a stack twice
 */
struct function {
	uint64_t self;
	uint64_t total;
	uint64_t last;
};

/**
 * struct of_process - samples of a process
 * @user: in user mode
 * @all: in all
 */
struct of_process {
	uint64_t user;
	uint64_t all;
};

/**
 * struct profile - the view
 * @context: what it knows
 * @samples: how many there were
 * @late: how many did not come, as those that did say
 * @names: function and, behind a new line, what it is part of
 * @function: by the number of the name
 * @functions: how many there is room for
 * @process: by the number of its leader
 * @processes: how many there is room for
 */
struct profile {
	const struct context *context;
	uint64_t samples;
	uint64_t late;
	struct fkt_path_names names;
	struct function *function;
	uint32_t functions;
	struct of_process *process;
	uint32_t processes;
};

static void profile_free(void *view)
{
	struct profile *profile = view;

	fkt_path_names_free(&profile->names);
	free(profile->function);
	free(profile->process);
	free(profile);
}

static void *profile_new(const struct context *context)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->context = context;
	if (fkt_path_name(&profile->names, "(others)\n") == OTHERS)
		return profile;
	profile_free(profile);
	return NULL;
}

/* Room in an array for what has a number. Return: the array, NULL without memory. */
static void *grow(void *array, uint32_t *room, uint32_t number, size_t bytes)
{
	const uint32_t before = *room;

	if (number < before)
		return array;
	*room = before ?: 256;
	while (*room <= number)
		*room *= 2;
	array = reallocarray(array, *room, bytes);
	if (array)
		memset((char *)array + before * bytes, 0, (*room - before) * bytes);
	return array;
}

/* The function of a frame; NULL without memory. */
static struct function *function_of(struct profile *profile, const struct fkt_stack *stack,
				    unsigned int i)
{
	char name[FKT_FRAME_BYTES + 1 + FKT_MODULE_BYTES + 1], *to;
	const char *object;
	struct function *all;
	uint32_t number = OTHERS;

	to = fkt_put_frame_names(profile->context->trace, name, stack, i, &object);
	*to++ = '\n';
	if (object)
		to = stpncpy(to, object, FKT_MODULE_BYTES);
	*to = '\0';
	if (profile->names.count < FUNCTIONS_MAX)
		number = fkt_path_name(&profile->names, name);
	if (number == FKT_PATHS_NONE)
		return NULL;
	all = grow(profile->function, &profile->functions, number, sizeof(*all));
	if (!all)
		return NULL;
	profile->function = all;
	return &all[number];
}

static int count_functions(struct profile *profile, const struct fkt_stack *stack)
{
	struct function *function;

	for (unsigned int i = 0; i < stack->count; i++) {
		function = function_of(profile, stack, i);
		if (!function)
			return -ENOMEM;
		function->self += !i;
		function->total += function->last != profile->samples;
		function->last = profile->samples;
	}
	return 0;
}

static int count_process(struct profile *profile, const struct fkt_event *event)
{
	struct fkt_processes *processes = profile->context->processes;
	const uint32_t id = fkt_process_leader(
		processes, fkt_process_id(processes, fkt_arg32(event, SAMPLE_PID), event->cpu));
	struct of_process *all = grow(profile->process, &profile->processes, id, sizeof(*all));

	if (!all)
		return -ENOMEM;
	profile->process = all;
	all[id].all++;
	all[id].user += !!event->imm;
	return 0;
}

static int profile_event(void *view, const struct fkt_event *event, bool passes)
{
	struct profile *profile = view;
	struct fkt_stack room;

	if (!passes || !is_sample(event))
		return 0;
	profile->samples++;
	profile->late += fkt_arg32(event, SAMPLE_LATE);
	return count_functions(profile, sample_stack(profile->context, event, &room))
		       ?: count_process(profile, event);
}

/* ---- printing ---- */

static const struct fkt_column process_columns[] = {
	{ "Process", "process", FKT_COLUMN_THREAD, 0 },
	{ "Samples", "samples", FKT_COLUMN_NUMBER, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "User", "user_percent", FKT_COLUMN_PERCENT, 0 },
	{ "Kernel", "kernel_percent", FKT_COLUMN_PERCENT, 0 },
	{ 0 },
};

static const struct fkt_column function_columns[] = {
	{ "Function", "function", FKT_COLUMN_TEXT, 0 },
	{ "Of", "object", FKT_COLUMN_TEXT, 0 },
	{ "Self", "self_percent", FKT_COLUMN_PERCENT, 0 },
	{ "Total", "total_percent", FKT_COLUMN_PERCENT, 0 },
	{ "Samples", "samples", FKT_COLUMN_NUMBER, 0 },
	{ "With callees", "total_samples", FKT_COLUMN_NUMBER, 1 },
	{ 0 },
};

/* Those that are asked for, with the most samples first. */
struct order {
	uint64_t first;
	uint64_t second;
	const char *name;
	uint32_t number;
};

static int compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->first != y->first)
		return x->first > y->first ? -1 : 1;
	if (x->second != y->second)
		return x->second > y->second ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int print_processes(struct profile *profile)
{
	const struct context *context = profile->context;
	struct order *order = calloc(profile->processes + 1ul, sizeof(*order));
	const struct of_process *process;
	size_t count = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->processes; i++)
		if (profile->process[i].all)
			order[count++] =
				(struct order){ .first = profile->process[i].all,
						.second = profile->process[i].user,
						.name = fkt_process(context->processes, i)->comm,
						.number = i };
	qsort(order, count, sizeof(*order), compare);
	fkt_table_begin(context->out, process_columns);
	for (size_t i = 0; i < count; i++) {
		process = &profile->process[order[i].number];
		fkt_table_row(
			context->out, "profile_processes", process_columns,
			(const union fkt_cell[]){
				{ .thread = fkt_process(context->processes, order[i].number) },
				{ .number = process->all },
				{ .number = fkt_parts(process->all, profile->samples) },
				{ .number = fkt_parts(process->user, profile->samples) },
				{ .number = fkt_parts(process->all - process->user,
						      profile->samples) } },
			false);
	}
	free(order);
	fkt_table_end(context->out);
	return 0;
}

static void print_function(struct profile *profile, const struct function *function,
			   const char *name)
{
	const char *end = strchr(name, '\n');
	char text[FKT_FRAME_BYTES + 1];

	snprintf(text, sizeof(text), "%.*s", (int)(end - name), name);
	fkt_table_row(profile->context->out, "profile", function_columns,
		      (const union fkt_cell[]){
			      { .text = text },
			      { .text = end[1] ? end + 1 : NULL },
			      { .number = fkt_parts(function->self, profile->samples) },
			      { .number = fkt_parts(function->total, profile->samples) },
			      { .number = function->self },
			      { .number = function->total } },
		      false);
}

static int print_functions(struct profile *profile)
{
	struct order *order = calloc(profile->functions + 1ul, sizeof(*order));
	size_t count = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->functions; i++)
		if (profile->function[i].total)
			order[count++] = (struct order){ .first = profile->function[i].self,
							 .second = profile->function[i].total,
							 .name = profile->names.name[i],
							 .number = i };
	qsort(order, count, sizeof(*order), compare);
	fkt_table_begin(profile->context->out, function_columns);
	for (size_t i = 0; i < count; i++)
		print_function(profile, &profile->function[order[i].number], order[i].name);
	free(order);
	return 0;
}

static int profile_print(const struct context *context, void *view)
{
	struct profile *profile = view;
	const char *hz = fkt_info(context->trace, "profile_hz");
	const char *event = fkt_info(context->trace, "profile_event");
	const char *period = fkt_info(context->trace, "profile_period");
	int err;

	fkt_table_line(context->out, "%s", "");
	if (!profile->samples)
		tell(context, "no sample that was asked for was seen; fkt_record --profile records "
			      "them");
	if (!profile->samples && fkt_format_for_people(context->out->format))
		return 0;
	if (period)
		fkt_table_line(context->out, "%" PRIu64 " samples, one for each %s %s",
			       profile->samples, period, event ?: "counts");
	else
		fkt_table_line(context->out, "%" PRIu64 " samples%s%s%s%s%s", profile->samples,
			       hz ? ", " : "", hz ?: "",
			       hz ? " a second of each CPU that is not idle" : "",
			       event ? ", by " : "", event ?: "");
	if (profile->late)
		fkt_table_line(context->out,
			       "%" PRIu64
			       " more were due, and did not come: interrupts were off, or "
			       "a virtual CPU did not run",
			       profile->late);
	fkt_table_line(context->out, "%s", "");
	err = print_processes(profile);
	fkt_table_line(context->out, "%s", "");
	return err ?: print_functions(profile);
}

static const struct argp_option profile_options[] = {
	{ .name = "profile",
	  .doc = "Samples of fkt_record --profile, by process and by function: in it, and in what "
		 "it has called" },
	{ 0 },
};

const struct view view_profile = {
	.name = "profile",
	.refuses = FILTER_CALLS | FILTER_LONGER,
	.about = "samples, in whatever call",
	.option = profile_options,
	.new = profile_new,
	.event = profile_event,
	.print = profile_print,
	.free = profile_free,
};

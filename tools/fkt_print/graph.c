// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls, indented under their callers.
 *
 * The line that opens a call is put off until something inside the call is to be shown: a call in
 * which nothing is takes one line, with its duration. So calls that are too short for the user cost
 * nothing, and those around one that is not are there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

#define INDENT 2

struct open {
	uint32_t row;
	bool shown;  /* it is itself asked for */
	bool opened; /* its line was printed */
};

struct stack {
	struct open *open;
	uint32_t depth;
	uint32_t room;
};

struct graph {
	struct fkt_output *out;
	const struct fkt_processes *processes;
	struct stacks *stacks;
};

static const struct fkt_column columns[] = {
	{ "begin", "begin_cycles", FKT_COLUMN_CYCLES, 0 },
	{ "duration", "duration_ns", FKT_COLUMN_DURATION, 0 },
	{ "cycles", "duration_cycles", FKT_COLUMN_CYCLES, 0 },
	{ "cpu", "cpu", FKT_COLUMN_NUMBER, 0 },
	{ "pid", "pid", FKT_COLUMN_TEXT, 0 },
	{ "process", "process", FKT_COLUMN_TEXT, 0 },
	{ "depth", "depth", FKT_COLUMN_NUMBER, 0 },
	{ "name", "name", FKT_COLUMN_TEXT, 0 },
	{ "whole", "whole", FKT_COLUMN_NUMBER, 0 },
	{ 0 },
};

static void *graph_new(const struct context *context)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->out = context->out;
	graph->processes = context->processes;
	graph->stacks = stacks_new(sizeof(struct stack));
	if (!graph->stacks) {
		free(graph);
		return NULL;
	}
	if (fkt_format_for_people(graph->out->format))
		fkt_table_line(graph->out, "%11s %4s %-24s   %s", "Duration", "CPU", "Thread",
			       "Calls");
	else
		fkt_table_begin(graph->out, columns);
	return graph;
}

static void free_stack(void *stack)
{
	free(((struct stack *)stack)->open);
}

static void graph_free(void *view)
{
	struct graph *graph = view;

	stacks_free(graph->stacks, free_stack);
	free(graph);
}

/* A call that the filter lets through, or one around it, begins. */
static int graph_enter(void *view, const struct fkt_call *call, bool passes)
{
	struct graph *graph = view;
	struct stack *stack = stacks_get(graph->stacks, call);
	uint32_t room;
	struct open *larger;

	if (!stack)
		return -ENOMEM;
	stack->depth = call->depth;
	if (stack->depth >= FKT_CALL_DEPTH_MAX)
		return 0;
	if (stack->depth >= stack->room) {
		room = (stack->depth + 1) * 2;
		larger = realloc(stack->open, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		memset(larger + stack->room, 0, (room - stack->room) * sizeof(*larger));
		stack->open = larger;
		stack->room = room;
	}
	stack->open[stack->depth++] = (struct open){ .row = call->row, .shown = passes };
	return 0;
}

static void print_line(struct graph *graph, const struct fkt_call *call, const char *duration,
		       uint32_t depth, const char *before, const char *name, const char *after)
{
	const struct fkt_process *process = fkt_process(graph->processes, call->id);
	char who[THREAD_BYTES];

	put_thread(process, who);
	fprintf(graph->out->file, "%11s %4u %-24s | %*s%s%s%s%s\n", duration, call->cpu, who,
		(int)(depth * INDENT), "", call->interrupt ? "=> " : "", before, name, after);
}

/* Print the lines of the calls around this one that were put off. */
static void open_around(struct graph *graph, const struct stack *stack, const struct fkt_call *call)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t i = 0; i < call->depth && i < stack->depth; i++) {
		if (stack->open[i].opened || !stack->open[i].shown)
			continue;
		fkt_row_name(graph->out->trace, stack->open[i].row, name);
		print_line(graph, call, "", i, "", name, "() {");
		stack->open[i].opened = true;
	}
}

static void print_program(struct graph *graph, const struct fkt_call *call, const char *name)
{
	const struct fkt_process *process = fkt_process(graph->processes, call->id);
	char pid[PID_BYTES];

	put_pid(process, pid);
	fkt_table_row(graph->out, "graph", columns,
		      (const union fkt_cell[]){ { .number = call->begin },
						{ .number = call->end - call->begin },
						{ .number = call->end - call->begin },
						{ .number = call->cpu },
						{ .text = pid },
						{ .text = process->comm },
						{ .number = call->depth },
						{ .text = name },
						{ .number = !call->partial } },
		      false);
}

static int graph_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct graph *graph = view;
	struct stack *stack = stacks_get(graph->stacks, call);
	char name[FKT_NAME_BYTES], duration[FKT_DURATION_BYTES];
	struct open *open;
	bool shown;

	if (!stack)
		return -ENOMEM;
	if (!call->entered || call->depth >= stack->depth)
		return 0;
	open = &stack->open[call->depth];
	shown = passes && open->shown;
	fkt_row_name(graph->out->trace, call->row, name);
	fkt_duration(graph->out->trace, call->end - call->begin, duration);
	if (shown && !fkt_format_for_people(graph->out->format)) {
		print_program(graph, call, name);
	} else if (open->opened) {
		print_line(graph, call, duration, call->depth, "} /* ", name,
			   call->exit ? " */" : ", not left */");
	} else if (shown) {
		open_around(graph, stack, call);
		print_line(graph, call, duration, call->depth, "", name,
			   call->exit ? "();" : "(); /* not left */");
	}
	stack->depth = call->depth;
	return 0;
}

static const struct argp_option graph_options[] = {
	{ .name = "graph", .doc = "Calls, indented under their callers" },
	{ 0 },
};

const struct view view_graph = {
	.name = "graph",
	.option = graph_options,
	.new = graph_new,
	.enter = graph_enter,
	.leave = graph_leave,
	.free = graph_free,
};

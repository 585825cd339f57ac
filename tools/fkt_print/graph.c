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
	uint16_t cpu;
	uint64_t begin;
	bool shown;  /* it is itself asked for, or can be */
	bool opened; /* its line was printed */
	struct kept_event entry;
};

struct graph {
	struct fkt_output *out;
	const struct options *options;
	const struct filter *filter;
	const struct fkt_processes *processes;
	struct fkt_args *args;
	struct frames *frames;
	struct fkt_moments moments;
	unsigned int thread; /* width of its column */
};

static void graph_free(void *view)
{
	struct graph *graph = view;

	frames_free(graph->frames);
	fkt_args_free(graph->args);
	free(graph);
}

static bool has_moments(const struct graph *graph)
{
	return graph->options->time == FKT_TIME_REL || graph->options->time == FKT_TIME_ABS;
}

static void print_header(const struct graph *graph)
{
	const char *moment = graph->options->time == FKT_TIME_ABS ? "Time" : "Seconds";
	int width = graph->options->time == FKT_TIME_ABS ? -29 : 14;

	if (has_moments(graph))
		fkt_table_line(graph->out, "%*s %11s %4s %-*s   %s", width, moment, "Duration",
			       "CPU", (int)graph->thread, "Thread", "Calls");
	else
		fkt_table_line(graph->out, "%11s %4s %-*s   %s", "Duration", "CPU",
			       (int)graph->thread, "Thread", "Calls");
}

static void *graph_new(const struct context *context)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->out = context->out;
	graph->options = context->options;
	graph->filter = context->filter;
	graph->processes = context->processes;
	graph->moments.trace = context->trace;
	graph->moments.time = context->options->time;
	graph->thread = thread_width(context->out);
	graph->args = fkt_args_new(context->trace, context->processes, context->out->format);
	graph->frames = frames_new(sizeof(struct open), NULL);
	if (!graph->args || !graph->frames) {
		graph_free(graph);
		return NULL;
	}
	if (fkt_format_for_people(graph->out->format))
		print_header(graph);
	else
		begin_calls(graph->out);
	return graph;
}

static int graph_enter(void *view, const struct fkt_call *call, bool passes)
{
	struct graph *graph = view;
	struct open *open = frames_enter(graph->frames, call);

	if (!open)
		return -ENOMEM;
	open->row = call->row;
	open->cpu = call->cpu;
	open->begin = call->begin;
	open->shown = passes;
	open->opened = false;
	keep_event(&open->entry, call->entry);
	return 0;
}

/* What stands before the calls of a line: of an opening one, when the call began, else its end. */
static void print_margin(struct graph *graph, uint64_t stamp, const char *duration, uint16_t cpu,
			 const struct fkt_call *call, uint32_t depth)
{
	char thread[THREAD_BYTES], moment[FKT_MOMENT_BYTES];
	FILE *file = graph->out->file;

	put_thread(fkt_process(graph->processes, call->id), graph->thread, thread);
	if (has_moments(graph)) {
		graph->moments.first = filter_first(graph->filter);
		fprintf(file, "%14s ", fkt_moment(&graph->moments, stamp, moment));
	}
	fprintf(file, "%11s %4u %-*s | %*s%s", duration, cpu, (int)graph->thread, thread,
		(int)(depth * INDENT), "", call->interrupt ? "=> " : "");
}

/* Print the lines of the calls around this one that were put off. */
static void open_around(struct graph *graph, const struct fkt_call *call)
{
	char name[FKT_NAME_BYTES];
	struct open *open;

	for (uint32_t i = 0; i < call->depth && (open = frames_at(graph->frames, call, i)); i++) {
		if (open->opened || !open->shown || !open->entry.known)
			continue;
		fkt_row_name(graph->out->trace, open->row, name);
		print_margin(graph, open->begin, "", open->cpu, call, i);
		fprintf(graph->out->file, "%s(%s) {\n", name,
			fkt_args_entry(graph->args, kept_event(&open->entry), open->row));
		open->opened = true;
	}
}

static void print_end(struct graph *graph, struct open *open, const struct fkt_call *call)
{
	const char *result = fkt_args_exit(graph->args, call->exit, call->row);
	char name[FKT_NAME_BYTES], duration[FKT_DURATION_BYTES] = "?";
	const char *space = *result ? " " : "", *lacks = call_lacks(call);
	FILE *file = graph->out->file;
	bool opened = open && open->opened;

	fkt_row_name(graph->out->trace, call->row, name);
	if (call->entered)
		fkt_duration_as(graph->out->trace, graph->out->time, call->end - call->begin,
				duration);
	print_margin(graph, opened || !call->entered ? call->end : call->begin, duration, call->cpu,
		     call, call->depth);
	if (opened)
		fprintf(file, "}%s%s /* %s%s%s */\n", space, result, name, *lacks ? ", " : "",
			lacks);
	else
		fprintf(file, "%s(%s)%s%s;%s%s%s\n", name,
			fkt_args_entry(graph->args, call->entry, call->row), space, result,
			*lacks ? " /* " : "", lacks, *lacks ? " */" : "");
}

static int graph_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct graph *graph = view;
	/* Nobody told of the beginning of one that was open when the trace began. */
	struct open *open = call->entered ? frames_at(graph->frames, call, call->depth) : NULL;
	struct fkt_call whole = *call;

	whole.entry = open ? kept_event(&open->entry) : NULL;
	if (!fkt_format_for_people(graph->out->format)) {
		if (passes)
			print_call(graph->out, "graph", graph->args, filter_first(graph->filter),
				   fkt_process(graph->processes, call->id), &whole);
	} else if (passes || (open && open->opened)) {
		if (!open || !open->opened)
			open_around(graph, call);
		print_end(graph, open, &whole);
	}
	if (call->entered)
		frames_leave(graph->frames, call);
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

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
	bool begun;  /* somebody told of its beginning */
	bool shown;  /* it is itself asked for, or can be */
	bool opened; /* its line was printed */
	struct kept_event entry;
};

struct graph {
	struct fkt_output *out;
	const struct fkt_processes *processes;
	struct lines *lines;
	struct frames *frames;
	bool begun; /* the header is printed */
};

/* Kinds of lines. */
enum {
	LINE_OPEN,
	LINE_CLOSE, /* of a call with a line that opens it */
	LINE_WHOLE,
	LINE_ROW, /* for programs */
};

static void graph_free(void *view)
{
	struct graph *graph = view;

	frames_free(graph->frames);
	lines_free(graph->lines);
	free(graph);
}

static bool has_moments(const struct fkt_output *out)
{
	return out->time == FKT_TIME_REL || out->time == FKT_TIME_ABS;
}

static void print_header(struct fkt_output *out)
{
	const char *moment = out->time == FKT_TIME_ABS ? "Time" : "Seconds";
	int width = out->time == FKT_TIME_ABS ? -29 : 14, thread = (int)thread_width(out);
	char counted[COUNTED_BYTES];

	counted_titles(counted);
	if (has_moments(out))
		fkt_table_line(out, "%*s %11s%s %4s %-*s   %s", width, moment, "Duration", counted,
			       "CPU", thread, "Thread", "Calls");
	else
		fkt_table_line(out, "%11s%s %4s %-*s   %s", "Duration", counted, "CPU", thread,
			       "Thread", "Calls");
}

/* ---- lines, made in any thread ---- */

/* What stands before the calls of a line: of an opening one, when the call began, else its end. */
static void print_margin(struct line_maker *maker, const struct line *line, uint64_t stamp,
			 const char *duration)
{
	const struct fkt_call *call = &line->call;
	unsigned int width = thread_width(&maker->out);
	char thread[THREAD_BYTES], moment[FKT_MOMENT_BYTES], counted[COUNTED_BYTES];
	FILE *file = maker->out.file;

	put_thread(&line->process, width, thread);
	if (has_moments(&maker->out)) {
		maker->moments.first = filter_first(maker->filter);
		fprintf(file, "%14s ", fkt_moment(&maker->moments, stamp, moment));
	}
	fprintf(file, "%11s%s %4u %-*s | %*s%s", duration,
		counted_cells(line->kind == LINE_OPEN ? NULL : call, counted), call->cpu,
		(int)width, thread, (int)(call->depth * INDENT), "", call->interrupt ? "=> " : "");
}

static void print_end(struct line_maker *maker, const struct line *line)
{
	const struct fkt_call *call = &line->call;
	const char *result = line_exit(maker, line);
	char name[FKT_NAME_BYTES], duration[FKT_DURATION_BYTES] = "?";
	const char *space = *result ? " " : "", *lacks = call_lacks(call);
	bool opened = line->kind == LINE_CLOSE;
	FILE *file = maker->out.file;

	fkt_row_name(maker->out.trace, call->row, name);
	if (call->entered)
		fkt_duration_as(maker->out.trace, maker->out.time, call->end - call->begin,
				duration);
	print_margin(maker, line, opened || !call->entered ? call->end : call->begin, duration);
	if (opened)
		fprintf(file, "}%s%s /* %s%s%s */\n", space, result, name, *lacks ? ", " : "",
			lacks);
	else
		fprintf(file, "%s(%s)%s%s;%s%s%s\n", name, line_entry(maker, line), space, result,
			*lacks ? " /* " : "", lacks, *lacks ? " */" : "");
}

static void make_line(struct line_maker *maker, const struct line *line)
{
	char name[FKT_NAME_BYTES];

	switch (line->kind) {
	case LINE_OPEN:
		fkt_row_name(maker->out.trace, line->call.row, name);
		print_margin(maker, line, line->call.begin, "");
		fprintf(maker->out.file, "%s(%s) {\n", name, line_entry(maker, line));
		break;
	case LINE_ROW:
		print_call(maker, "graph", line);
		break;
	default:
		print_end(maker, line);
	}
}

/* Not before there is something to print: what is asked for may turn out not to be there. */
static void begin(struct graph *graph)
{
	if (graph->begun)
		return;
	graph->begun = true;
	begin_calls(graph->out);
	if (fkt_format_for_people(graph->out->format))
		print_header(graph->out);
}

static int add_line(struct graph *graph, unsigned int kind, const struct fkt_call *call)
{
	begin(graph);
	return lines_add(graph->lines, kind, fkt_process(graph->processes, call->id), call);
}

/* ---- calls ---- */

static void *graph_new(const struct context *context)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->out = context->out;
	graph->processes = context->processes;
	graph->lines = lines_new(context, make_line);
	graph->frames = frames_new(sizeof(struct open), NULL);
	if (!graph->lines || !graph->frames) {
		graph_free(graph);
		return NULL;
	}
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
	open->begun = true;
	open->shown = passes;
	open->opened = false;
	keep_event(&open->entry, call->entry);
	return 0;
}

/* Print the lines of the calls around this one that were put off. */
static int open_around(struct graph *graph, const struct fkt_call *call)
{
	struct open *open;
	int err = 0;

	for (uint32_t i = 0; i < call->depth && (open = frames_at(graph->frames, call, i)); i++) {
		if (open->opened || !open->shown || !open->begun)
			continue;
		open->opened = true;
		err = err
			      ?: add_line(graph, LINE_OPEN,
					  &(const struct fkt_call){
						  .row = open->row,
						  .id = call->id,
						  /* A part does not know where it began. */
						  .cpu = open->entry.known ? open->cpu : call->cpu,
						  .depth = i,
						  .interrupt = call->interrupt,
						  .begin = open->begin,
						  .entry = kept_event(&open->entry),
					  });
	}
	return err;
}

static int graph_moved(void *view, uint32_t from, uint32_t to)
{
	struct graph *graph = view;

	return frames_move(graph->frames, from, to);
}

static int graph_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct graph *graph = view;
	/* Nobody told of the beginning of one that was open when the trace began. */
	struct open *open = call->entered ? frames_at(graph->frames, call, call->depth) : NULL;
	bool opened = open && open->opened;
	struct fkt_call whole = *call;
	int err = 0;

	whole.entry = open && !opened ? kept_event(&open->entry) : NULL;
	if (!fkt_format_for_people(graph->out->format)) {
		if (passes)
			err = add_line(graph, LINE_ROW, &whole);
	} else if (opened) {
		err = add_line(graph, LINE_CLOSE, &whole);
	} else if (passes) {
		err = open_around(graph, call) ?: add_line(graph, LINE_WHOLE, &whole);
	}
	if (call->entered)
		frames_leave(graph->frames, call);
	return err;
}

static int graph_flush(void *view)
{
	return lines_flush(((struct graph *)view)->lines);
}

static int graph_print(const struct context *context, void *view)
{
	struct graph *graph = view;

	if (graph->begun)
		return 0;
	if (!fkt_format_for_people(graph->out->format))
		begin(graph);
	tell_nothing(context, "call", false);
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
	.moved = graph_moved,
	.flush = graph_flush,
	.print = graph_print,
	.free = graph_free,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls as single lines, in the order in which they begin.
 *
 * A line has what only the end of a call tells: so it is put off until all calls that began before
 * it have ended. All calls are in a list, in the order of their begin: those that are open, and
 * those that have ended and are to be printed. No more than WAITING_MAX wait. When there are more,
 * the call that holds them up is taken out of the order, and is printed when it ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* Each takes some 250 bytes, and what it holds. */
#define WAITING_MAX 100000u
/* A call that belongs further before the last one makes the list one that has to be sorted. */
#define STEPS_MAX   32

struct span {
	struct span *next; /* in a circle with struct spans's list */
	struct span *before;
	bool ended;
	bool late; /* taken out of the order */
	struct fkt_call call;
	struct fkt_process process; /* when it ended */
	bool entered;		    /* @entry is there */
	struct fkt_event entry;
	struct fkt_event exit;
	uint64_t args[]; /* of both, and behind them what the call has counted */
};

struct spans {
	struct fkt_output *out;
	const struct fkt_processes *processes;
	struct lines *lines;
	struct frames *frames; /* a struct span * each */
	bool begun;	       /* the header is printed */
	uint32_t waiting;
	uint64_t late; /* how many were printed out of the order */
	bool unsorted; /* @list is, for those that were open when an extracted trace began */
	struct span list;
};

static void link_behind(struct span *before, struct span *span)
{
	span->before = before;
	span->next = before->next;
	span->before->next = span->next->before = span;
}

static void drop(struct span *span)
{
	span->before->next = span->next;
	span->next->before = span->before;
	free(span);
}

/* A call of whose end we are not told. */
static void drop_frame(void *frame)
{
	struct span *span = *(struct span **)frame;

	if (span)
		drop(span);
}

static void spans_free(void *view)
{
	struct spans *spans = view;

	frames_free(spans->frames);
	while (spans->list.next != &spans->list)
		drop(spans->list.next);
	lines_free(spans->lines);
	free(spans);
}

/* Where lines are short, what is left for the call counts. */
static bool is_narrow(const struct fkt_output *out)
{
	return out->width && out->width < 100;
}

/* The width of the first column, less than 0 if it begins at the left. */
static int moment_width(const struct fkt_output *out)
{
	if (!fkt_has_clock(out->trace))
		return 20;
	if (out->time == FKT_TIME_ABS)
		return -29;
	return is_narrow(out) ? 12 : 14;
}

/* That of a duration. */
static int duration_width(const struct fkt_output *out)
{
	return is_narrow(out) ? 10 : 11;
}

/* So much is left of a name, and of arguments, with what says that it is cut. */
#define NAME_LEAST 8
#define ARGS_LEAST 1

static unsigned int columns_of(const char *text)
{
	return fkt_width(text, strlen(text));
}

static void put_cut(FILE *file, const char *text, int room)
{
	if (room < 1 || columns_of(text) <= (unsigned int)room)
		fputs(text, file);
	else
		fprintf(file, "%.*s~", (int)fkt_fitting(text, strlen(text), (unsigned int)room - 1),
			text);
}

/* The call itself, in what is left of a line's width: its result is there in any case. */
static void put_call(struct line_maker *maker, const struct line *line, int room)
{
	const char *args = line_entry(maker, line), *lacks = call_lacks(&line->call), *result;
	const char *arrow = line->call.interrupt ? "=> " : "";
	FILE *file = maker->out.file;
	char name[FKT_NAME_BYTES];
	int rest;

	result = line_exit(maker, line);
	fkt_row_name(maker->out.trace, line->call.row, name);
	rest = room - (int)(strlen(arrow) + strlen("()") + (*result ? 1 : 0) + columns_of(result));
	/* That the beginning is not known, or the result is missing, is seen without it, too. */
	if (*lacks && maker->out.width &&
	    rest - (int)(columns_of(name) + (*args ? ARGS_LEAST : 0) + strlen(lacks)) <
		    (int)strlen(" /*  */"))
		lacks = "";
	if (*lacks)
		rest -= (int)(strlen(lacks) + strlen(" /*  */"));
	fputs(arrow, file);
	if (!maker->out.width) {
		fprintf(file, "%s(%s)", name, args);
	} else {
		int most = rest - (*args ? ARGS_LEAST : 0);

		put_cut(file, name, most > NAME_LEAST ? most : NAME_LEAST);
		rest -= (int)columns_of(name);
		fputc('(', file);
		put_cut(file, args, rest > ARGS_LEAST ? rest : ARGS_LEAST);
		fputc(')', file);
	}
	fprintf(file, "%s%s%s%s%s\n", *result ? " " : "", result, *lacks ? " /* " : "", lacks,
		*lacks ? " */" : "");
}

static void make_line(struct line_maker *maker, const struct line *line)
{
	const struct fkt_trace *trace = maker->out.trace;
	const struct fkt_call *call = &line->call;
	char thread[THREAD_BYTES], moment[FKT_MOMENT_BYTES] = "?";
	char duration[FKT_DURATION_BYTES] = "?", own[FKT_DURATION_BYTES];
	unsigned int width = thread_width(&maker->out);
	char counted[COUNTED_BYTES];
	int before;

	if (!fkt_format_for_people(maker->out.format)) {
		print_call(maker, "spans", line);
		return;
	}
	put_thread(&line->process, width, thread);
	maker->moments.first = filter_first(maker->filter);
	if (call->entered && fkt_has_clock(trace))
		fkt_moment(&maker->moments, call->begin, moment);
	else if (call->entered)
		snprintf(moment, sizeof(moment), "%" PRIu64, call->begin);
	if (call->entered)
		fkt_duration_as(trace, maker->out.time, call->end - call->begin, duration);
	before = fprintf(maker->out.file, "%*s %*s %*s%s %4u ", moment_width(&maker->out), moment,
			 duration_width(&maker->out), duration, duration_width(&maker->out),
			 fkt_duration_as(trace, maker->out.time, call->own, own),
			 counted_cells(call, counted), call->cpu);
	fprintf(maker->out.file, "%-*s ", (int)width, thread);
	put_call(maker, line, (int)maker->out.width - before - (int)width - 1);
}

static void *spans_new(const struct context *context)
{
	struct spans *spans = calloc(1, sizeof(*spans));

	if (!spans)
		return NULL;
	spans->list.next = spans->list.before = &spans->list;
	spans->out = context->out;
	spans->processes = context->processes;
	spans->lines = lines_new(context, make_line);
	spans->frames = frames_new(sizeof(struct span *), drop_frame);
	if (!spans->lines || !spans->frames) {
		spans_free(spans);
		return NULL;
	}
	return spans;
}

/* Not before there is something to print: what is asked for may turn out not to be there. */
static void begin(struct spans *spans)
{
	struct fkt_output *out = spans->out;
	char counted[COUNTED_BYTES];

	if (spans->begun)
		return;
	spans->begun = true;
	begin_calls(out);
	if (fkt_format_for_people(out->format))
		fkt_table_line(out, "%*s %*s %*s%s %4s %-*s %s", moment_width(out),
			       !fkt_has_clock(out->trace)  ? "Stamp"
			       : out->time == FKT_TIME_ABS ? "Time"
							   : "Seconds",
			       duration_width(out), "Duration", duration_width(out), "Own",
			       counted_titles(counted), "CPU", (int)thread_width(out), "Thread",
			       "Call");
}

static int print(struct spans *spans, const struct fkt_process *process,
		 const struct fkt_call *call)
{
	begin(spans);
	return lines_add(spans->lines, 0, process, call);
}

/* Merge lists of spans, each up to NULL; of those that begin together, @a's come first. */
static struct span *merge(struct span *a, struct span *b)
{
	struct span *merged = NULL, **end = &merged, **from;

	while (a && b) {
		from = b->call.begin < a->call.begin ? &b : &a;
		*end = *from;
		end = &(*end)->next;
		*from = *end;
	}
	*end = a ?: b;
	return merged;
}

/* Runs of 1, 2, 4, … spans are merged as soon as there are two of a length. */
static void sort(struct spans *spans)
{
	struct span *run[64] = { 0 }, *span = spans->list.next, *next, *sorted = NULL;
	unsigned int i;

	if (!spans->unsorted)
		return;
	spans->unsorted = false;
	spans->list.before->next = NULL;
	for (; span; span = next) {
		next = span->next;
		span->next = NULL;
		for (i = 0; run[i]; i++) {
			span = merge(run[i], span);
			run[i] = NULL;
		}
		run[i] = span;
	}
	for (i = 0; i < sizeof(run) / sizeof(run[0]); i++)
		sorted = merge(run[i], sorted);
	spans->list.next = spans->list.before = &spans->list;
	for (; sorted; sorted = next) {
		next = sorted->next;
		link_behind(spans->list.before, sorted);
	}
}

/* Print what nothing holds up; more than @max calls are not held up at all. */
static int print_ended(struct spans *spans, uint32_t max)
{
	struct span *span;
	int err = 0;

	/* No other can be before the first one that is open, and does not hold it up as well. */
	if (!spans->list.next->ended && spans->waiting <= max)
		return 0;
	sort(spans);
	while ((span = spans->list.next) != &spans->list) {
		if (!span->ended) {
			if (spans->waiting <= max)
				return err;
			span->late = true;
			span->before->next = span->next;
			span->next->before = span->before;
			span->next = span->before = span;
			continue;
		}
		err = err ?: print(spans, &span->process, &span->call);
		spans->waiting--;
		drop(span);
	}
	return err;
}

static bool is_later(const struct spans *spans, const struct span *span, uint64_t begin)
{
	return span != &spans->list && span->call.begin > begin;
}

/* One that is to stand behind all that began before; without memory, NULL. */
static struct span *add(struct spans *spans, const struct fkt_event *entry, uint64_t begin)
{
	struct span *before = spans->list.before;
	struct span *span =
		calloc(1, sizeof(*span) + (entry ? entry->words : 0) * sizeof(span->args[0]));

	if (!span)
		return NULL;
	span->entered = entry;
	if (entry)
		copy_event(&span->entry, span->args, entry);
	span->call.begin = begin;
	/* Those that were open when an extracted trace began come in any order, see sort(). */
	for (unsigned int i = 0; i < STEPS_MAX && is_later(spans, before, begin); i++)
		before = before->before;
	if (spans->unsorted || is_later(spans, before, begin)) {
		spans->unsorted = true;
		before = spans->list.before;
	}
	link_behind(before, span);
	return span;
}

static int spans_enter(void *view, const struct fkt_call *call, bool passes)
{
	struct spans *spans = view;
	struct span **frame = frames_enter(spans->frames, call);

	/* Whether it passes is known when it ends. */
	(void)passes;
	if (!frame)
		return -ENOMEM;
	*frame = add(spans, call->entry, call->begin);
	return *frame ? 0 : -ENOMEM;
}

/* It has ended, and others that began before it may not have. */
static int keep(struct spans *spans, struct span **frame, const struct fkt_call *call)
{
	unsigned int words = (*frame)->entered ? (*frame)->entry.words : 0;
	unsigned int more = call->exit ? call->exit->words : 0;
	unsigned int counted = call->counted ? COUNTED : 0;
	struct span *span =
		realloc(*frame, sizeof(*span) + (words + more + counted) * sizeof(span->args[0]));

	if (!span)
		return -ENOMEM;
	span->before->next = span->next->before = span;
	*frame = NULL;
	span->ended = true;
	span->call = *call;
	span->process = *fkt_process(spans->processes, call->id);
	span->entry.args = span->args;
	span->call.entry = span->entered ? &span->entry : NULL;
	if (call->exit) {
		copy_event(&span->exit, span->args + words, call->exit);
		span->call.exit = &span->exit;
	}
	if (call->counted)
		span->call.counted = copy_counted(span->args + words + more, call->counted);
	spans->waiting++;
	return 0;
}

static int spans_moved(void *view, uint32_t from, uint32_t to)
{
	struct spans *spans = view;

	return frames_move(spans->frames, from, to);
}

static int spans_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct spans *spans = view;
	struct span **frame, *span;
	struct fkt_call whole = *call;
	int err = 0;

	/* Nobody knows when it began: it stands where it ended. */
	if (!call->entered) {
		span = passes ? add(spans, NULL, call->end) : NULL;
		err = span ? keep(spans, &span, call) : passes ? -ENOMEM : 0;
		return print_ended(spans, WAITING_MAX) ?: err;
	}
	frame = frames_at(spans->frames, call, call->depth);
	if (passes && frame && *frame && !(*frame)->late) {
		err = keep(spans, frame, call);
	} else if (passes) {
		span = frame ? *frame : NULL;
		whole.entry = span && span->entered ? &span->entry : NULL;
		err = print(spans, fkt_process(spans->processes, call->id), &whole);
		spans->late += span != NULL;
	}
	frames_leave(spans->frames, call);
	return print_ended(spans, WAITING_MAX) ?: err;
}

static int spans_print(const struct context *context, void *view)
{
	struct spans *spans = view;
	int err;

	err = print_ended(spans, 0) ?: lines_flush(spans->lines);
	if (!err && !spans->begun) {
		if (!fkt_format_for_people(spans->out->format))
			begin(spans);
		tell_nothing(context, "call", false);
	}
	if (err || !spans->late)
		return err;
	/* Behind what it is about, where both go to the same place. */
	fflush(spans->out->file);
	fprintf(stderr,
		"%s: %" PRIu64 " call%s not in the order of begin, because more than %u others "
		"ended in the meantime\n",
		program_invocation_short_name, spans->late, spans->late == 1 ? " is" : "s are",
		WAITING_MAX);
	return 0;
}

static int spans_flush(void *view)
{
	return lines_flush(((struct spans *)view)->lines);
}

static const struct argp_option spans_options[] = {
	{ .name = "spans",
	  .doc = "Calls, a line each, with arguments and result, in the order of their begin" },
	{ .name = "calls-as-lines", .flags = OPTION_ALIAS },
	{ 0 },
};

const struct view view_spans = {
	.name = "spans",
	.option = spans_options,
	.new = spans_new,
	.enter = spans_enter,
	.leave = spans_leave,
	.moved = spans_moved,
	.flush = spans_flush,
	.print = spans_print,
	.free = spans_free,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PRINT_H
#define PRINT_H

#include <fkt/trace.h>

#include "common/counted.h"
#include "common/filter.h"
#include "common/frames.h"
#include "common/known.h"
#include "common/sample.h"
#include "common/selection.h"
#include "show/args.h"
#include "show/table.h"
#include "sum/histogram.h"
#include "view.h"

#define BY_MAX 6

/* What --by can group by. */
enum by_field {
	BY_FUNCTION,
	BY_CALLER,
	BY_PROCESS,
	BY_THREAD,
	BY_CPU,
	BY_LAYER,
	BY_CODE,
	BY_ERRNO,
	BY_ARG0, /* … BY_ARG0 + FKT_CALL_ARGS - 1 */
	BY_NAMED = BY_ARG0 + FKT_CALL_ARGS,
};

/* A recorded field by whose name --by groups, and how its column is called. */
struct by_named {
	char name[FKT_FIELD_NAME_BYTES];
	char title[FKT_FIELD_NAME_BYTES + 8];
	char key[FKT_FIELD_NAME_BYTES + 8];
};

/**
 * struct options - what the user asked for
 * @selected: which trace, and what of it
 * @no_path: nobody named the trace: it is that of fkt_record
 * @time: first column of the listing, and the unit of times in tables
 * @format: of all that is printed
 * @listing: the events
 * @stacks: with their stacks
 * @view: which views, by enum view_number
 * @kernel_only: the rows without user mode
 * @calls: of the view calls, what functions call; of those that @calls_of matches, if it is there
 * @histogram: of the same, how long calls of what this matches took
 * @by: of the view by, the fields
 * @by_named: of those that are BY_NAMED
 * @bys: how many
 * @elapsed: calls take the time from entry to exit, not CPU time
 * @threads: how many make the listing
 * @no_pager: even when the output is long
 * @before: another trace, which views are told of first, to compare with; NULL for none
 * @timedat, @bufdat: files that these views write
 * @folded: --folded, whose format is its own
 * @is_before: it is that one: views keep what they find, and print nothing
 */
struct options {
	struct selection selected;
	bool no_path;
	enum fkt_time time;
	const struct fkt_format *format;
	bool listing;
	bool stacks;
	bool view[VIEW_COUNT];
	bool kernel_only;
	bool calls;
	const char *calls_of;
	const char *histogram;
	enum by_field by[BY_MAX];
	struct by_named by_named[BY_MAX];
	unsigned int bys;
	bool elapsed;
	unsigned int threads;
	bool no_pager;
	const char *before;
	const char *timedat;
	const char *bufdat;
	bool folded;
	bool is_before;
};

/**
 * parse_options() - read the command line; ends the program when it is wrong
 * @argc: from main()
 * @argv: likewise
 * @options: filled in
 */
void parse_options(int argc, char **argv, struct options *options);

/* How many threads are to be used. */
unsigned int thread_count(const struct options *options);

/**
 * start_pager() - let the output go through a pager, if it goes to a terminal
 *
 * Nothing is changed if there is none. output_width() is to be called before.
 */
void start_pager(void);

/**
 * end_pager() - wait until the user has seen enough
 */
void end_pager(void);

/* ---- put.c: names in tables ---- */

#define CODE_BYTES    16
#define NUMBER_BYTES  32
#define THREAD_BYTES  64

/* What a thread's name takes in lines that are no rows of a table, and where there is no room. */
#define THREAD_WIDE   24
#define THREAD_NARROW 16

/* The width of such a column. */
static inline unsigned int thread_width(const struct fkt_output *out)
{
	return out->width && out->width < 110 ? THREAD_NARROW : THREAD_WIDE;
}

/**
 * put_thread() - a thread's name and its number, "find[164]"; an idle task is "idle/1"
 * @process: the thread
 * @width: columns; the name is cut so that both fit, and what is left are spaces
 * @text: written
 */
void put_thread(const struct fkt_process *process, unsigned int width, char text[THREAD_BYTES]);

/* A thread's number as a cell. */
static inline uint64_t pid_cell(const struct fkt_process *process)
{
	return process->tid == FKT_PID_UNKNOWN ? FKT_CELL_NONE : process->tid;
}

/**
 * put_row_code() - the code of a row in hexadecimal, "" if it has none
 * @trace: the trace
 * @row: the row
 * @text: written
 */
void put_row_code(const struct fkt_trace *trace, uint32_t row, char text[CODE_BYTES]);

/* Columns of how values spread, and how many they are. */
#define SPREAD 6
#define SPREAD_COLUMNS                                                                             \
	{ "Min", "min", FKT_COLUMN_DURATION, 4 }, { "p50", "p50", FKT_COLUMN_DURATION, 3 },        \
		{ "p90", "p90", FKT_COLUMN_DURATION, 5 },                                          \
		{ "p99", "p99", FKT_COLUMN_DURATION, 2 },                                          \
		{ "p99.9", "p99_9", FKT_COLUMN_DURATION, 6 },                                      \
	{                                                                                          \
		"Max", "max", FKT_COLUMN_DURATION, 1                                               \
	}

/**
 * put_spread() - the cells of SPREAD_COLUMNS
 * @values: at least one
 * @cells: written
 */
void put_spread(const struct fkt_histogram *values, union fkt_cell cells[SPREAD]);

/* ---- sample.c: samples ---- */

/* How many samples a second were asked for of each CPU. */
uint32_t sample_hz(const struct context *context);

/**
 * sample_stack() - the stack of a sample; where it could not be had, as far as the event knows it
 * @context: that of the view which is told of it
 * @event: the sample
 * @room: for a stack
 *
 * Return: the stack, @room or another one, with at least one frame.
 */
const struct fkt_stack *sample_stack(const struct context *context, const struct fkt_event *event,
				     struct fkt_stack *room);

/* ---- nothing.c: in place of a table in which there would be nothing ---- */

/**
 * tell() - a sentence, to people where the table would be, else on stderr
 * @context: what was asked for
 * @format: as for printf(): a sentence without its capital letter and its point
 */
void tell(const struct context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * tell_nothing() - that nothing was left of a kind of thing, and why
 * @context: what was asked for
 * @what: such as "call"
 * @wait: it is a time in which a thread did not run
 */
void tell_nothing(const struct context *context, const char *what, bool wait);

/* ---- lines.c: lines of calls, made by several threads ---- */

/**
 * struct line - a line of a call
 * @kind: the view's
 * @process: the call's thread, as it was then
 * @call: the call, with its entry if that is known
 * @entry_text, @exit_text: see line_entry(), line_exit()
 */
struct line {
	unsigned int kind;
	struct fkt_process process;
	struct fkt_call call;
	char *entry_text;
	char *exit_text;
};

/**
 * struct line_maker - what makes lines, in one thread
 * @out: where they go
 * @args: shows arguments that name no threads
 * @moments: shows moments
 * @filter: for filter_first()
 */
struct line_maker {
	struct fkt_output out;
	struct fkt_args *args;
	struct fkt_moments moments;
	const struct filter *filter;
};

struct lines;

/**
 * lines_new() - begin to print lines
 * @context: what the view knows
 * @make: prints a line, in any thread; from the line and the maker alone
 *
 * Return: to be freed with lines_free(), or NULL without memory.
 */
struct lines *lines_new(const struct context *context,
			void (*make)(struct line_maker *maker, const struct line *line));
void lines_free(struct lines *lines);

/**
 * lines_add() - the next line
 * @lines: the lines
 * @kind: the view's
 * @process: the call's thread
 * @call: the call; copied
 *
 * Return: 0 or a negative errno value.
 */
int lines_add(struct lines *lines, unsigned int kind, const struct fkt_process *process,
	      const struct fkt_call *call);
/* Have all of them out. Returns 0 or a negative errno value. */
int lines_flush(struct lines *lines);

/* The arguments of a line's call, and what it returned, as fkt_args_entry() and _exit() say. */
const char *line_entry(struct line_maker *maker, const struct line *line);
const char *line_exit(struct line_maker *maker, const struct line *line);

/* ---- call.c: calls one by one, with their arguments and results ---- */

/* An event, until its call ends. */
struct kept_event {
	bool known;
	struct fkt_event event;
	uint64_t args[FKT_SLOT_WORDS_MAX];
};

/* A copy of an event, whose arguments are where there is room for as many words. */
void copy_event(struct fkt_event *to, uint64_t *args, const struct fkt_event *event);
void keep_event(struct kept_event *kept, const struct fkt_event *event);
/* The event, valid as long as where it is kept; NULL: there is none. */
const struct fkt_event *kept_event(struct kept_event *kept);

/* How many numbers a call's counted are; a copy of them, in the place that is given. */
#define COUNTED (2 * FKT_COUNTERS_MAX)
const uint64_t *copy_counted(uint64_t to[COUNTED], const uint64_t counted[COUNTED]);

/* What is missing of a call that is there in part; "" if nothing is. */
const char *call_lacks(const struct fkt_call *call);

/* Begin to list calls; for programs that is a table. */
void begin_calls(struct fkt_output *out);

/* What stands beside a call's time, to people: "" where nothing was counted. */
#define COUNTED_BYTES (FKT_COUNTERS_MAX * (FKT_NAME_BYTES + 32))
const char *counted_titles(char text[COUNTED_BYTES]);
/* What a call has counted, with what it called; spaces where @call is NULL. */
const char *counted_cells(const struct fkt_call *call, char text[COUNTED_BYTES]);

/**
 * print_call() - a row of such a table
 * @maker: prints it
 * @table: its name
 * @line: the call
 */
void print_call(struct line_maker *maker, const char *table, const struct line *line);

/* ---- groups.c: values by keys, in bounded memory ---- */

/* More groups than this share the last one. */
#define GROUPS_MAX 32768

struct group {
	uint64_t key[BY_MAX];
	uint64_t count; /* of events that have no value, too */
	uint64_t cut;	/* of those that are there in part, for who uses this */
	uint64_t counted[FKT_COUNTERS_MAX];
	struct fkt_histogram values;
};

struct groups;

struct groups *groups_new(void);
void groups_free(struct groups *groups);

/**
 * groups_get() - the group with a key
 * @groups: the groups
 * @key: the key
 *
 * Return: the group, a new one if there is none; valid until groups_free(). NULL without memory.
 */
struct group *groups_get(struct groups *groups, const uint64_t key[BY_MAX]);

/**
 * groups_sorted() - all groups, those with the largest sums first
 * @groups: the groups
 * @count: how many
 *
 * Return: to be freed, or NULL without memory.
 */
struct group **groups_sorted(const struct groups *groups, size_t *count);

/**
 * groups_others() - the group of all that came when there were too many
 * @groups: the groups
 */
const struct group *groups_others(const struct groups *groups);

/* ---- values.c: numbers for the values of a field that has some name ---- */

#define VALUE_BYTES 192

struct values;

/**
 * values_new() - begin
 * @context: what the view knows
 * @name: of the field; must outlive it
 *
 * Return: to be freed with values_free(), or NULL without memory.
 */
struct values *values_new(const struct context *context, const char *name);
void values_free(struct values *values);

/**
 * values_get() - the number of the value that an event has
 * @values: all
 * @event: the event
 * @whole: its immediate is known, too
 * @number: set to it: the same one for the same value; where there are too many, one that none has
 *
 * Return: 1; 0 when it has no such field, -1 without memory.
 */
int values_get(struct values *values, const struct fkt_event *event, bool whole, uint64_t *number);

/* Whether one of them is a text: then all have to be shown as such to programs. */
bool values_have_texts(const struct values *values);

/* Write a value as people see it, or the number that it is. */
void values_put(const struct values *values, uint64_t number, bool people, char text[VALUE_BYTES]);

#endif

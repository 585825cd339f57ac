/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PRINT_H
#define PRINT_H

#include <fkt/trace.h>

#include "common/cpus.h"
#include "show/args.h"
#include "show/table.h"
#include "sum/histogram.h"
#include "view.h"

#define BY_MAX	    6
#define CHOICES_MAX 32

/**
 * struct chosen_one - one of what an option names
 * @unwanted: it is left out, by "!"
 * @is_pid: a process or a thread, by @pid, else by @name
 * @pid: see there
 * @name: as the user wrote it: a pattern, a list of CPUs, a process
 */
struct chosen_one {
	bool unwanted;
	bool is_pid;
	uint32_t pid;
	const char *name;
};

/**
 * struct choice - all that an option names, given several times: any of them, and none with "!"
 * @one: each
 * @count: how many
 */
struct choice {
	struct chosen_one one[CHOICES_MAX];
	unsigned int count;
};

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
};

/**
 * struct options - what the user asked for
 * @path: the trace
 * @no_path: nobody named it: @path is that of fkt_record
 * @time: first column of the listing, and the unit of times in tables
 * @format: of all that is printed
 * @listing: the events
 * @stacks: with their stacks
 * @view: which views, by enum view_number
 * @overwritten: it begins where nothing was overwritten on any CPU, though some have more: @from
 * @at_trigger: @from is told by what triggered the snapshot, and @trigger_ns
 * @near_trigger: so it is without being asked for
 * @trigger_ns: so long after the trigger; before it, where it is negative
 * @triggered: when the snapshot was triggered, as @from; < 0 when it was not
 * @kernel_only: the rows without user mode
 * @calls: of the view calls, what functions call; of those that @calls_of matches, if it is there
 * @histogram: of the same, how long calls of what this matches took
 * @by: of the view by, the fields
 * @bys: how many
 * @elapsed: calls take the time from entry to exit, not CPU time
 * @threads: how many make the listing
 * @no_pager: even when the output is long
 * @lives: only while one of these processes lives, and none of those
 * @process: only these processes
 * @cpu: these CPUs alone, lists such as "0,2-3"
 * @code: events with names or codes like these alone
 * @layer: events of these layers alone
 * @function: events in calls of what these match alone
 * @from, @to: between these times alone, in nanoseconds since the beginning; < 0 for none
 * @longer: calls that took longer alone, in nanoseconds; < 0 for all
 */
struct options {
	const char *path;
	bool no_path;
	enum fkt_time time;
	const struct fkt_format *format;
	bool listing;
	bool stacks;
	bool overwritten;
	bool at_trigger;
	bool near_trigger;
	int64_t trigger_ns;
	int64_t triggered;
	bool view[VIEW_COUNT];
	bool kernel_only;
	bool calls;
	const char *calls_of;
	const char *histogram;
	enum by_field by[BY_MAX];
	unsigned int bys;
	bool elapsed;
	unsigned int threads;
	bool no_pager;
	struct choice lives;
	struct choice process;
	struct choice cpu;
	struct choice code;
	struct choice layer;
	struct choice function;
	int64_t from;
	int64_t to;
	int64_t longer;
};

/**
 * parse_options() - read the command line; ends the program when it is wrong
 * @argc: from main()
 * @argv: likewise
 * @options: filled in
 */
void parse_options(int argc, char **argv, struct options *options);

/* What messages call the trace. */
const char *path_name(const struct options *options);

/* How many threads are to be used. */
unsigned int thread_count(const struct options *options);

/**
 * start_pager() - let the output go through a pager, if it goes to a terminal
 *
 * Nothing is changed if there is none.
 */
void start_pager(void);

/**
 * output_width() - columns of the terminal to which the output goes
 *
 * To be called before start_pager().
 *
 * Return: what COLUMNS in the environment says, or the terminal; 0 when there is neither: then all
 * is printed.
 */
unsigned int output_width(void);

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

/* ---- stacks.c: something for each thread, and of interrupts for each CPU ---- */

struct stacks;

/**
 * stacks_new() - begin
 * @bytes: size of what there is for each
 *
 * Return: to be freed with stacks_free(), or NULL without memory.
 */
struct stacks *stacks_new(size_t bytes);

/**
 * stacks_free() - end
 * @stacks: may be NULL
 * @free_one: frees what belongs to one of them
 */
void stacks_free(struct stacks *stacks, void (*free_one)(void *stack));

/**
 * stacks_get() - that of a call's thread; of an interrupt, of its CPU
 * @stacks: all
 * @call: the call
 *
 * Return: the same as before, at first all zero; valid until the next call. NULL without memory.
 */
void *stacks_get(struct stacks *stacks, const struct fkt_call *call);

/**
 * stacks_move() - the calls that a thread is in are another one's from now on
 * @stacks: all
 * @from: the thread
 * @to: the other one, which gets what @from has, and @from what it has
 *
 * Return: 0 or -ENOMEM.
 */
int stacks_move(struct stacks *stacks, uint32_t from, uint32_t to);

/* ---- frames.c: something for each call that is open ---- */

struct frames;

/**
 * frames_new() - begin
 * @bytes: size of what there is for each
 * @drop: called for one that is over; NULL: nothing is
 *
 * Return: to be freed with frames_free(), or NULL without memory.
 */
struct frames *frames_new(size_t bytes, void (*drop)(void *frame));
void frames_free(struct frames *frames);

/**
 * frames_enter() - a call begins
 * @frames: all
 * @call: the call
 *
 * Return: what there is for it, all zero, valid until the next call; NULL without memory.
 */
void *frames_enter(struct frames *frames, const struct fkt_call *call);

/**
 * frames_at() - the same of a call that is open
 * @frames: all
 * @call: a call of that thread, or of the interrupts of that CPU
 * @depth: how many calls are around the one that is meant
 *
 * Return: NULL when nobody told us of its begin.
 */
void *frames_at(struct frames *frames, const struct fkt_call *call, uint32_t depth);

/* A call has ended; what there was for it is gone. */
void frames_leave(struct frames *frames, const struct fkt_call *call);

/** frames_move() - see stacks_move() */
int frames_move(struct frames *frames, uint32_t from, uint32_t to);

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

/* What is missing of a call that is there in part; "" if nothing is. */
const char *call_lacks(const struct fkt_call *call);

/* Begin a table of calls for programs. */
void begin_calls(struct fkt_output *out);

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

/* ---- filter.c ---- */

/** filter_moved() - the calls that a thread is in are another one's from now on */
void filter_moved(struct filter *filter, uint32_t from, uint32_t to);

/**
 * filter_new() - what the options let through
 * @options: must outlive it
 * @trace: likewise
 * @processes: likewise
 *
 * Return: the filter, or NULL without memory; with options->from or longer and no clock in the
 * trace it must not be called.
 */
struct filter *filter_new(const struct options *options, const struct fkt_trace *trace,
			  struct fkt_processes *processes);
void filter_free(struct filter *filter);

/* What is asked for; an event, a call or a time has to be let through by each. */
enum filter_kind {
	FILTER_WHILE = 1,
	FILTER_PROCESS = 2,
	FILTER_CPU = 4,
	FILTER_CODE = 8,
	FILTER_LAYER = 16,
	FILTER_FUNCTION = 32,
	FILTER_RANGE = 64,
	FILTER_LONGER = 128,
	/* What picks calls: a time outside of all calls is not let through. */
	FILTER_CALLS = FILTER_CODE | FILTER_LAYER | FILTER_FUNCTION | FILTER_LONGER,
};

unsigned int filter_kinds(const struct options *options);

/* Whether it lets anything through at all times: then filter_event() need not be called. */
bool filter_is_open(const struct filter *filter);
/* Whether it lets through only some of what happened at the times that it lets through. */
bool filter_selects(const struct filter *filter);
/* Whether it has to know of calls: then filter_enter() and filter_leave() must be called. */
bool filter_needs_calls(const struct filter *filter);
/* Whether there are times that filter_cpu() or filter_thread() do not let through. */
bool filter_needs_charges(const struct filter *filter);
/* Whether it picks calls, see FILTER_CALLS. */
bool filter_picks_calls(const struct filter *filter);

/* What filter_time() says. */
enum filter_time {
	FILTER_BEFORE,
	FILTER_INSIDE,
	FILTER_AFTER,
};

/* The trace begins with this stamp; without this, with that of the first event. */
void filter_begin(struct filter *filter, uint64_t first);
/* Where in time an event is. */
enum filter_time filter_time(struct filter *filter, uint64_t stamp);
/*
 * The trace's beginning, and the stamps between which time is charged, once filter_time() was
 * called.
 */
uint64_t filter_first(const struct filter *filter);
uint64_t filter_from(const struct filter *filter);
uint64_t filter_to(const struct filter *filter);

bool filter_cpu(const struct filter *filter, uint16_t cpu);
/* Whether a thread is among those that are asked for, by the name that it has now. */
bool filter_thread(const struct filter *filter, uint32_t id);
/* Whether to list an event; after the analysis and the processes were told of it. */
bool filter_event(struct filter *filter, const struct fkt_event *event);
/* Whether filter_event()'s last event, an exit, passes but for its code and options->longer. */
bool filter_but_code(const struct filter *filter);
/* Whether options->code and layer let a code through. */
bool filter_code(struct filter *filter, uint32_t code);
/* Whether to list what is missing. */
bool filter_gap(const struct filter *filter, const struct fkt_gap *gap);
/* Whether time is to be charged after this event; likewise. */
bool filter_charges(const struct filter *filter);
void filter_enter(struct filter *filter, const struct fkt_call *call);
void filter_leave(struct filter *filter, const struct fkt_call *call);
/*
 * Whether a call is among those that are asked for, or a part of it is: then it is partial; before
 * filter_leave().
 */
bool filter_call(struct filter *filter, const struct fkt_call *call);
/* Whether it can be, as far as its beginning tells; after filter_enter(). */
bool filter_row(struct filter *filter, const struct fkt_call *call);
/*
 * A call that goes on beyond the time that is asked for, however far that is known: it is as long
 * as it is there, and does not end. Whether it is one; then @cut is what is left of it.
 */
bool filter_cut(const struct filter *filter, const struct fkt_call *call, struct fkt_call *cut);
/* Whether a code, with its name, or a layer is what a user wrote. */
bool filter_is_code(const char *pattern, const char *name, uint32_t code);
bool filter_is_layer(const struct fkt_code_row *row, const char *layer);
/* Whether a process that is chosen, by options->process or lives, was met, or has its name now. */
bool filter_has_met(const struct filter *filter, const struct chosen_one *one);
/* Whether there was an event of what is chosen by options->code, layer or function. */
bool filter_has_come(const struct filter *filter, const struct chosen_one *one);
/* Whether there was one that options->code and layer let through. */
bool filter_any_code(const struct filter *filter);
/* Whether there was a call of a row; told where options->function is asked for. */
bool filter_had_call(const struct filter *filter, uint32_t row);
/* How long the longest call, or wait, took but for options->longer; 0 when there was none. */
uint64_t filter_longest(const struct filter *filter, bool wait);
/* Whether options->code lets something through, but nothing that is a call. */
bool filter_names_no_call(const struct filter *filter);
/* The CPUs that --cpu leaves. */
void filter_choose_cpus(const struct choice *choice, uint8_t cpu[CPUS_BYTES]);
/* Whether a time in which a thread did not run is. */
bool filter_wait(struct filter *filter, const struct fkt_wait *wait);
/* Whether the switch that it began with is, as one of the thread that left the CPU, at any time. */
bool filter_switch(struct filter *filter, const struct fkt_wait *wait);

/* ---- known.c: whether the trace has what options name; complains of what it has not ---- */

/**
 * known_before() - of codes, layers and CPUs, which the trace tells from the beginning
 * @options: what is asked for
 * @trace: the trace
 *
 * Return: whether it has all of them.
 */
bool known_before(const struct options *options, const struct fkt_trace *trace);

/**
 * known_after() - the same of processes and functions, when all was read
 * @options: what is asked for
 * @trace: the trace
 * @processes: those of the trace
 * @filter: which saw them
 *
 * That nothing came of a code, a layer or a function is told as well. If only a part of the trace
 * was asked for, that is an answer.
 *
 * Return: whether it has all of them, and something of those that are wanted.
 */
bool known_after(const struct options *options, const struct fkt_trace *trace,
		 const struct fkt_processes *processes, const struct filter *filter);

#endif

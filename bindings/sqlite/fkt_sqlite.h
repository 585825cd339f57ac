/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQL over traces: virtual tables of SQLite, which read a trace by libfkt as they are asked.
 *
 *	extension.c	what SQLite calls: the module "fkt", the function fkt_open()
 *	plan.c		which conditions are pushed down, and what it costs
 *	shared.c	a trace, as all tables of it have it; names, times
 *	scan.c		the events of a part of it
 *	events.c	tables of events: events, args, switches, stacks, losses
 *	grouped.c	events that are only counted, in groups
 *	calls.c		tables of what the analysis tells: calls, waits
 *	sums.c		tables that are made of all events at once: threads, cpus, functions, …
 *	views.c		views, made when a trace is opened
 */
#ifndef FKT_SQLITE_H
#define FKT_SQLITE_H

#include <sqlite3ext.h>

#include <fkt/trace.h>

#ifdef FKT_SQLITE_MAIN
SQLITE_EXTENSION_INIT1
#else
SQLITE_EXTENSION_INIT3
#endif

/* The tables, X(name) each: struct fkt_table fkt_table_NAME. */
#define FKT_TABLES(X)                                                                              \
	X(events)                                                                                  \
	X(args)                                                                                    \
	X(calls)                                                                                   \
	X(switches)                                                                                \
	X(waits)                                                                                   \
	X(stacks)                                                                                  \
	X(losses)                                                                                  \
	X(threads)                                                                                 \
	X(cpus)                                                                                    \
	X(on_cpu)                                                                                  \
	X(functions)                                                                               \
	X(counts)                                                                                  \
	X(info)

/* ---- shared.c ---- */

/**
 * struct fkt_code_info - what is known of a code, with texts that live as long as the trace
 * @name: its name
 * @layer: its layer's, or ""
 * @kind: "point", "entry", …
 */
struct fkt_code_info {
	const char *name;
	const char *layer;
	const char *kind;
};

struct fkt_sums;
struct fkt_interned;

/**
 * struct fkt_shared - a trace that tables are of
 * @next: another one that is open
 * @refs: how many tables and cursors it has
 * @db: the connection
 * @path: its file
 * @trace: it
 * @has_events: there is an event
 * @first: stamp of the first one
 * @last: no event is later
 * @events: how many there are, about
 * @cpus: how many CPUs, about
 * @code: by code, what was asked for so far
 * @row: by enum fkt_row, its name, likewise
 * @comms: names of processes
 * @sums: of all events, once they were asked for
 */
struct fkt_shared {
	struct fkt_shared *next;
	unsigned int refs;
	sqlite3 *db;
	char *path;
	struct fkt_trace *trace;
	bool has_events;
	uint64_t first;
	uint64_t last;
	double events;
	unsigned int cpus;
	struct fkt_code_info *code;
	const char **row;
	struct fkt_interned *comms;
	struct fkt_sums *sums;
};

/**
 * fkt_shared_get() - open a trace, or have one that is open once more
 * @list: those that are open
 * @db: the connection
 * @path: its file
 * @error: set to a sentence, to be freed with sqlite3_free(), when it can't be
 *
 * Return: the trace, to be given back with fkt_shared_put(), or NULL.
 */
struct fkt_shared *fkt_shared_get(struct fkt_shared **list, sqlite3 *db, const char *path,
				  char **error);
void fkt_shared_put(struct fkt_shared **list, struct fkt_shared *shared);

/*
 * Whether the query was interrupted: SQLite sees it between rows, and there may be none for long.
 * SQLite 3.40 tells it by a statement that does not run.
 */
bool fkt_shared_interrupted(const struct fkt_shared *shared);
/* So many events are read before that is asked. */
#define FKT_INTERRUPT_EVENTS (1u << 20)

/* A stamp as the time since the first event, and a span: in ns; in cycles without clock. */
int64_t fkt_shared_time(const struct fkt_shared *shared, uint64_t stamp);
int64_t fkt_shared_span(const struct fkt_shared *shared, uint64_t cycles);
/* The first stamp at which it is not earlier than a time; 0 for times before the first event. */
uint64_t fkt_shared_stamp(const struct fkt_shared *shared, int64_t time);

/* NULL without memory. */
const struct fkt_code_info *fkt_shared_code(struct fkt_shared *shared, uint32_t code);
const char *fkt_shared_row(struct fkt_shared *shared, uint32_t row);
/* A name of a process, as it is for as long as the trace; NULL when there are too many. */
const char *fkt_shared_comm(struct fkt_shared *shared, const char *comm);

/* ---- plan.c ---- */

/* What a column is to those who push conditions down. */
enum fkt_push {
	FKT_PUSH_NONE,
	FKT_PUSH_TIME,	/* since the first event; of a call, when it begins */
	FKT_PUSH_STAMP, /* the same as a stamp */
	FKT_PUSH_END,	/* when it ends */
	FKT_PUSH_ID,	/* the number of an event */
	FKT_PUSH_CPU,
	FKT_PUSH_TID,
	FKT_PUSH_CODE,
	FKT_PUSH_NAME, /* of a code, or of a row */
};

/**
 * struct fkt_column_info - a column
 * @name: its name
 * @type: its type in SQL; "" where it has values of several
 * @push: what conditions on it are
 * @grouped: its values are few, so that events with the same ones can be counted
 */
struct fkt_column_info {
	const char *name;
	const char *type;
	enum fkt_push push;
	bool grouped;
};

/* How many values of "tid IN (…)" and its like are pushed down; with more, none is. */
#define FKT_SET_MAX 64

/**
 * struct fkt_set - numbers, one of which is wanted
 * @any: whichever
 * @count: how many
 * @number: them
 */
struct fkt_set {
	bool any;
	unsigned int count;
	int64_t number[FKT_SET_MAX];
};

static inline bool fkt_set_has(const struct fkt_set *set, int64_t number)
{
	if (set->any)
		return true;
	for (unsigned int i = 0; i < set->count; i++)
		if (set->number[i] == number)
			return true;
	return false;
}

/**
 * struct fkt_want - which rows a cursor is to have; it may have others, too
 * @used: bits of the columns that are asked for
 * @from: no earlier ones
 * @to: no later ones; UINT64_MAX: to the end
 * @end_from: @from of their end
 * @end_to: @to of their end
 * @id: numbers of events
 * @cpu: CPUs
 * @tid: threads
 * @code: codes
 * @names: texts that are their names, up to NULL; NULL: any
 * @group: columns by which equal rows are to be together, and in order, up to -1, those with
 *	FKT_GROUP_DOWN the largest first; NULL: they are in order of time
 * @distinct: of equal rows, one will do
 */
struct fkt_want {
	uint32_t used;
	uint64_t from;
	uint64_t to;
	uint64_t end_from;
	uint64_t end_to;
	struct fkt_set id;
	struct fkt_set cpu;
	struct fkt_set tid;
	struct fkt_set code;
	char **names;
	const signed char *group;
	bool distinct;
};

#define FKT_GROUP_DOWN 0x40

static inline bool fkt_want_uses(const struct fkt_want *want, unsigned int column)
{
	return want->used & 1u << column;
}

/* Whether one of the names is this one. */
bool fkt_want_name(const struct fkt_want *want, const char *name);
void fkt_want_free(struct fkt_want *want);

struct fkt_table;

/* @columns: the table's, with those that it has of this trace alone */
int fkt_plan(const struct fkt_table *table, const struct fkt_column_info *columns,
	     struct fkt_shared *shared, sqlite3_index_info *info);
/* What fkt_plan() has said, with the values of the conditions. */
int fkt_want_read(struct fkt_want *want, const struct fkt_shared *shared, int number,
		  const char *plan, sqlite3_value **values, int count);

/* ---- tables ---- */

/* Which columns a table has for each counter that was read with the events of a trace. */
enum fkt_counted {
	FKT_COUNTED_NONE,
	FKT_COUNTED_OWN,  /* own_page_faults */
	FKT_COUNTED_BOTH, /* page_faults, of all counters, and own_page_faults of all */
};

/**
 * struct fkt_table - a table
 * @name: its name
 * @columns: its columns, up to one without a name
 * @counted: further ones behind these
 * @rows_per_event: about how many rows it has for each event; 0: it is small
 * @open: begin to read what is wanted, which lives as long; NULL without memory
 * @next: to the next row, or to the first one. 1, 0 when there is none, or a negative errno value
 * @column: give a value of the row
 * @id: the number of the row
 * @free: end; may be called with NULL
 */
struct fkt_table {
	const char *name;
	const struct fkt_column_info *columns;
	enum fkt_counted counted;
	double rows_per_event;
	void *(*open)(struct fkt_shared *shared, const struct fkt_want *want);
	int (*next)(void *cursor);
	void (*column)(void *cursor, sqlite3_context *context, unsigned int column);
	int64_t (*id)(const void *cursor);
	void (*free)(void *cursor);
};

#define X(name) extern const struct fkt_table fkt_table_##name;
FKT_TABLES(X)
#undef X

/* Text that lives as long as the trace; NULL: none. */
static inline void fkt_result_static(sqlite3_context *context, const char *text)
{
	if (text)
		sqlite3_result_text(context, text, -1, SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

static inline void fkt_result_copy(sqlite3_context *context, const char *text)
{
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* ---- scan.c ---- */

/* What a scan has to follow. */
enum fkt_follow {
	FKT_FOLLOW_PROCESSES = 1,
	FKT_FOLLOW_STACKS = 2,
	FKT_FOLLOW_GAPS = 4, /* deliver those, too */
	FKT_FOLLOW_ALL = 8,  /* deliver all events, also before the time that is wanted */
};

/**
 * struct fkt_scan - the events that are wanted
 * @shared: of this trace
 * @want: which
 * @follow: of enum fkt_follow
 * @reader: their reader
 * @processes: the threads as they are now, if they are followed
 * @event: the event; of a gap its stamp, lane and CPU alone
 * @gap: what is missing before @event; NULL: it is an event
 * @stack: that of the event; NULL: none
 * @from: earlier events are passed over
 * @to: reading ends there
 * @nothing: no event can be wanted
 * @code: a verdict on each code, if not all are wanted
 * @comm: names by the thread's number, as long as they do not change
 * @comms: room there
 * @looked_at: how many events were
 * @has_stack: the next event of @stack_lane has @room
 */
struct fkt_scan {
	struct fkt_shared *shared;
	const struct fkt_want *want;
	unsigned int follow;
	struct fkt_reader *reader;
	struct fkt_processes *processes;
	struct fkt_event event;
	const struct fkt_gap *gap;
	const struct fkt_stack *stack;
	uint64_t from;
	uint64_t to;
	bool nothing;
	uint8_t *code;
	const char **comm;
	uint32_t comms;
	uint32_t looked_at;
	bool has_stack;
	uint16_t stack_lane;
	struct fkt_stack room;
};

/* Begin. False: without memory, also when it has been freed. */
bool fkt_scan_begin(struct fkt_scan *scan, struct fkt_shared *shared, const struct fkt_want *want,
		    unsigned int follow);
void fkt_scan_end(struct fkt_scan *scan);
/* 1: there is another one, 0, or a negative errno value. */
int fkt_scan_next(struct fkt_scan *scan);
/* Of FKT_FOLLOW_ALL: follow an event about processes, once all else has been told of it. */
void fkt_scan_follow_process(struct fkt_scan *scan);
/* The number of the event, from 0, in the order of fkt_next(). */
int64_t fkt_scan_id(const struct fkt_scan *scan);
/* Numbers of the current thread, for processes; those that are not known are NULL in SQL. */
uint32_t fkt_scan_thread(struct fkt_scan *scan);
void fkt_result_pid(sqlite3_context *context, uint32_t pid);
void fkt_result_comm(struct fkt_scan *scan, sqlite3_context *context, uint32_t id);

/* ---- grouped.c ---- */

/* How events.c has its columns in common with grouped.c: the first ones of events. */
enum fkt_event_column {
	EVENT_ID,
	EVENT_TIME,
	EVENT_STAMP,
	EVENT_CPU,
	EVENT_TID,
	EVENT_PID,
	EVENT_PROCESS,
	EVENT_CODE,
	EVENT_NAME,
	EVENT_LAYER,
	EVENT_KIND,
	EVENT_LANE,
	EVENT_IMM,
	EVENT_ARGS,
	EVENT_STACK,
};

struct fkt_grouped;

/* Count the events of a scan by the columns that are wanted. NULL without memory. */
struct fkt_grouped *fkt_grouped_new(struct fkt_scan *scan, const struct fkt_want *want);
void fkt_grouped_free(struct fkt_grouped *grouped);
int fkt_grouped_next(struct fkt_grouped *grouped);
void fkt_grouped_column(struct fkt_grouped *grouped, sqlite3_context *context, unsigned int column);

/* ---- sums.c ---- */

void fkt_sums_free(struct fkt_sums *sums);

/* ---- views.c ---- */

/* Statements, up to NULL, each with one %w for the schema. */
extern const char *const fkt_views[];
/* The views that they make, up to NULL. */
extern const char *const fkt_view_names[];

#endif

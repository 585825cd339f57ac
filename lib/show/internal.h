/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events and tables as text. Uses trace/ and read/.
 *
 *	text.c		events as lines
 *	time.c		moments and durations
 *	args.c		what calls were given and returned, by itself
 *	list.c		a listing made by several threads
 *	table.c		tables, and which formats there are
 *	columns.c	how wide tables are for people
 *	width.c		how wide text is
 *	plain.c …	formats: a struct fkt_format each, in a file of its own, and a name in
 *			FKT_FORMATS
 *
 * What a listing's lines repeat is made once and kept: text.c has a format write what stands for a
 * code (a label) and for a CPU's thread (struct fkt_who), and then lines of these and of values.
 */
#ifndef FKT_SHOW_INTERNAL_H
#define FKT_SHOW_INTERNAL_H

#include "table.h"
#include "trace/fields.h"

/* The formats, X(name) each, the first one for people: struct fkt_format fkt_format_NAME. */
#define FKT_FORMATS(X)                                                                             \
	X(plain)                                                                                   \
	X(csv)                                                                                     \
	X(json)

/* ---- text.c, for list.c ---- */

/* Whether lines may be written now; otherwise they are held until fkt_text_flush() */
typedef bool fkt_text_may_write_fn(void *arg);
void fkt_text_hold(struct fkt_text *text, fkt_text_may_write_fn *may_write, void *arg);
/* How to show the events of a code; NULL without memory. */
struct fkt_label *fkt_text_label(struct fkt_text *text, uint32_t code);
/*
 * Go on with events behind some that were not listed here: the trace's first stamp, the last one.
 */
void fkt_text_resume(struct fkt_text *text, uint64_t first, uint64_t last);

/* ---- what is kept of a listing ---- */

#define FKT_PREFIX_BYTES 54
#define FKT_LABEL_BYTES	 (5 * FKT_NAME_BYTES)

/**
 * struct fkt_shown - how to show a field
 * @prefix_bytes: length of @prefix
 * @name_bytes: length of @name
 * @prefix: what is written before its value
 * @field: the field
 * @name: what is written before the name of what it numbers
 */
struct fkt_shown {
	uint8_t prefix_bytes;
	uint8_t name_bytes;
	char prefix[FKT_PREFIX_BYTES];
	struct fkt_field field;
	char name[FKT_PREFIX_BYTES];
};

/**
 * struct fkt_label - how to show the events of a code
 * @next: the one made before
 * @text_bytes: length of @text
 * @fields: number of @field
 * @text: what stands for the code
 * @field: its fields
 */
struct fkt_label {
	struct fkt_label *next;
	uint16_t text_bytes;
	uint8_t fields;
	char text[FKT_LABEL_BYTES];
	struct fkt_shown field[];
};

/**
 * struct fkt_who - what stands for a CPU and its current thread
 * @pid: the thread's
 * @changes: of names, when it was written
 * @text_bytes: length of @text
 * @text: what stands for both
 */
struct fkt_who {
	uint32_t pid;
	uint32_t changes;
	uint8_t text_bytes;
	char text[96];
};

/**
 * struct fkt_text - a listing
 * @trace: of this trace
 * @processes: its threads
 * @format: how lines look
 * @fd: where they go
 * @may_write: whether they may; NULL: always
 * @arg: for @may_write
 * @time: what the first column shows people
 * @color: whether to colour names
 * @error: of writing, the first one
 * @begun: @first and @last are there
 * @first: stamp of the first event
 * @last: of the event before
 * @changes: how often threads' names have changed
 * @date: of the last line
 * @buf: lines that were not written yet
 * @room: of @buf, so far as it is to be filled before it is written
 * @capacity: of @buf
 * @bytes: filled of @buf
 * @reader: which delivers the events, so that their stacks can be had; NULL without
 * @stacks: show them
 * @stack_there: the next event of @stack_lane has @stack, or had one
 * @labels: all of them
 * @label: those that there are, by code
 * @who: by CPU
 */
struct fkt_text {
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	const struct fkt_format *format;
	int fd;
	fkt_text_may_write_fn *may_write;
	void *arg;
	enum fkt_time time;
	bool color;
	int error;
	bool begun;
	uint64_t first;
	uint64_t last;
	const uint32_t *changes;
	struct fkt_date date;
	char *buf;
	size_t room;
	size_t capacity;
	size_t bytes;
	const struct fkt_reader *reader;
	bool stacks;
	bool stack_there;
	uint16_t stack_lane;
	struct fkt_stack stack;
	struct fkt_label *labels;
	struct fkt_label *label[FKT_SLOT_CODES];
	struct fkt_who who[UINT16_MAX + 1];
};

/* ---- a format ---- */

/**
 * struct fkt_format - how listings and tables look
 * @name: what it is called
 * @about: what there is to know of it, in brackets, or ""
 * @for_people: see fkt_format_for_people()
 * @line_bytes: no line of a listing is longer; at most 128 KB
 * @header: write what precedes a listing, with its newlines; NULL: nothing
 * @fields: other fields than fkt_fields() says, or in another order; NULL: those
 * @prefix: set what is written before a field, and before its name
 * @label: write what stands for a code, called @name, with some number of fields
 * @who: write what stands for the CPU and the thread of an event
 * @event: write an event's line, without its newline
 * @stack: write the stack of the event whose line was just written; @stack is NULL where there is
 *	none. Called for each one where stacks are shown
 * @stack_within: what of the event's line comes behind it, and is written anew by @stack
 * @args: write what an event holds that begins a call, or ends it (@exit), of row @row; NULL: that
 *	of JSON is used
 * @gap: write a line for something missing, likewise; NULL: none
 * @table: write what precedes a table
 * @row: write a row of a table that is called @name
 * @end: write what was kept of a table; NULL: nothing is
 * @remark: write a line that is not of a table; NULL: none
 *
 * Those that write return the end of it. All of a listing are called by several threads, each with
 * a listing of its own.
 */
struct fkt_format {
	const char *name;
	const char *about;
	bool for_people;
	size_t line_bytes;

	char *(*header)(const struct fkt_text *text, char *to);
	unsigned int (*fields)(const struct fkt_trace *trace, uint32_t code,
			       struct fkt_field fields[FKT_FIELDS_MAX]);
	void (*prefix)(struct fkt_shown *shown, uint32_t code);
	char *(*label)(const struct fkt_text *text, char *to, uint32_t code, const char *name,
		       unsigned int fields);
	char *(*who)(const struct fkt_text *text, char *to, const struct fkt_event *event,
		     const char *comm);
	char *(*event)(struct fkt_text *text, char *to, const struct fkt_who *who,
		       const struct fkt_label *label, const struct fkt_event *event);
	char *(*stack)(const struct fkt_text *text, char *to, const struct fkt_stack *stack);
	size_t stack_within;
	char *(*args)(struct fkt_text *text, char *to, const struct fkt_label *label,
		      const struct fkt_event *event, bool exit, uint32_t row);
	char *(*gap)(const struct fkt_text *text, char *to, const struct fkt_gap *gap);

	void (*table)(struct fkt_output *out, const struct fkt_column *columns);
	void (*row)(struct fkt_output *out, const char *name, const struct fkt_column *columns,
		    const union fkt_cell *cells, bool strong);
	void (*end)(struct fkt_output *out);
	void (*remark)(struct fkt_output *out, const char *line);
};

#define X(name) extern const struct fkt_format fkt_format_##name;
FKT_FORMATS(X)
#undef X

/* ---- what formats share ---- */

/* A string from an event: @bytes long at most, and not trusted. */
static inline char *fkt_put_untrusted(char *to, const char *text, size_t bytes)
{
	bytes = strnlen(text, bytes);
	memcpy(to, text, bytes);
	to[bytes] = '\0';
	fkt_sanitize(to);
	return to + bytes;
}

/* Nanoseconds since the first event, if the trace has a clock; else @none. */
static inline char *fkt_put_time_ns(const struct fkt_text *text, char *to, uint64_t stamp,
				    const char *none)
{
	if (!fkt_has_clock(text->trace))
		return fkt_put_word(to, none);
	return fkt_put_signed(to, fkt_cycles_to_ns(text->trace, (int64_t)(stamp - text->first)));
}

/* json.c: a stack as an array of strings, null where it was not recorded; @doubled as below */
char *fkt_put_json_stack(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			 bool doubled);

/* The names of an event's columns for programs, in their order. */
#define FKT_EVENT_COLUMNS(X)                                                                       \
	X(stamp) X(time_ns) X(cpu) X(tid) X(process) X(code) X(name) X(syscall) X(args)

/* time.c: the date and the time of day, in nanoseconds since 1970 */
char *fkt_put_date(struct fkt_date *date, char *to, int64_t ns);

/* columns.c: tables for people */
void fkt_layout_begin(struct fkt_output *out, const struct fkt_column *columns);
void fkt_layout_row(struct fkt_output *out, const union fkt_cell *cells, bool strong);
void fkt_layout_end(struct fkt_output *out);

/* table.c: what programs get of a column: none, one or two columns */

#define FKT_MEMBERS_MAX 2
#define FKT_KEY_BYTES	64

unsigned int fkt_members(const struct fkt_column *column);
/* The key of one of them. */
const char *fkt_member_key(const struct fkt_column *column, unsigned int member,
			   char key[FKT_KEY_BYTES]);
/* Its text, NULL if it has none; @room is used where it has to be made. False: it is a number. */
bool fkt_member_text(const struct fkt_column *column, unsigned int member, union fkt_cell cell,
		     char room[FKT_THREAD_BYTES], const char **text);
/* Write its number, @none where it is not known. */
void fkt_print_member(struct fkt_output *out, const struct fkt_column *column, unsigned int member,
		      union fkt_cell cell, const char *none);

/*
 * json.c: an event's fields as an object. In a column of CSV, where quotes are doubled, likewise:
 * @doubled, and the prefixes set so.
 */
void fkt_json_prefix(struct fkt_shown *shown, bool doubled);
char *fkt_put_json_fields(struct fkt_text *text, char *to, const struct fkt_label *label,
			  const struct fkt_event *event, bool doubled);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables, in any format. */
#ifndef FKT_TABLE_H
#define FKT_TABLE_H

#include <stdio.h>

#include <fkt/trace.h>

struct fkt_layout;

/*
 * text.c: the stacks of events in a listing. Who delivers its events; none of what it lists is a
 * stack then. To show them; before the header. An event that is not listed.
 */
void fkt_text_set_reader(struct fkt_text *text, const struct fkt_reader *reader);
void fkt_text_set_stacks(struct fkt_text *text);
void fkt_text_pass(struct fkt_text *text);

/**
 * struct fkt_output - where tables go
 * @file: to this
 * @format: as what
 * @color: whether the terminal takes colours
 * @time: in which unit people are shown durations: FKT_TIME_CYCLES, _NS, _US, or else what fits
 * @width: columns of the terminal; 0: as many as are needed
 * @trace: whose clock converts cycles
 * @first: stamp of its beginning, since which moments are
 * @tables: how many were begun
 * @layout: the table that is being printed, for people
 * @told_left_out: it was said which columns there is no room for
 * @told_too_wide: it was said that lines are longer than there is room for
 */
struct fkt_output {
	FILE *file;
	const struct fkt_format *format;
	bool color;
	enum fkt_time time;
	unsigned int width;
	const struct fkt_trace *trace;
	uint64_t first;
	unsigned int tables;
	struct fkt_layout *layout;
	bool told_left_out;
	bool told_too_wide;
};

/*
 * What a column holds. Some are two columns for programs, whose keys are made of the column's, KEY:
 * so that a thing has the same name and the same unit in every table.
 */
enum fkt_column_type {
	FKT_COLUMN_TEXT, /* to the left; NULL: there is none */
	FKT_COLUMN_JSON, /* text of JSON; for people, a number as text */
	FKT_COLUMN_NUMBER,
	FKT_COLUMN_DURATION, /* cycles; KEY_cycles and KEY_ns */
	FKT_COLUMN_MOMENT,   /* a stamp; KEY_stamp, and KEY_ns since the beginning; for programs */
	FKT_COLUMN_PERCENT,  /* parts of a million */
	FKT_COLUMN_THREAD,   /* "find[164]"; KEY_tid and KEY, see fkt_member_key() */
	FKT_COLUMN_BAR,	     /* parts of a million, as stars; not for programs */
};

/**
 * struct fkt_column - a column of a table
 * @title: for people
 * @key: for programs
 * @type: what it holds
 * @rank: those with the largest rank are left out first, where people have no room; 0: never
 */
struct fkt_column {
	const char *title;
	const char *key;
	enum fkt_column_type type;
	unsigned int rank;
};

/* A cell: its text, its thread or its number; a number that is not known is FKT_CELL_NONE. */
union fkt_cell {
	const char *text;
	const struct fkt_process *thread;
	uint64_t number;
};

#define FKT_CELL_NONE UINT64_MAX

static inline bool fkt_column_is_text(const struct fkt_column *column)
{
	return column->type == FKT_COLUMN_TEXT || column->type == FKT_COLUMN_JSON;
}

/**
 * fkt_table_begin() - the line with the columns' names
 * @out: where
 * @columns: the columns, up to one without a title
 */
void fkt_table_begin(struct fkt_output *out, const struct fkt_column *columns);

/**
 * fkt_table_row() - a line
 * @out: where
 * @name: of the table, for programs
 * @columns: as for fkt_table_begin()
 * @cells: one for each of them
 * @strong: it is a total, or something else that should stand out
 */
void fkt_table_row(struct fkt_output *out, const char *name, const struct fkt_column *columns,
		   const union fkt_cell *cells, bool strong);

/**
 * fkt_table_line() - a line that a program does not get: a title, a remark
 * @out: where
 * @format: as for printf()
 */
void fkt_table_line(struct fkt_output *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * struct fkt_date - the date and the time of day, as they are the same for many moments
 * @second: since 1970
 * @text: what is written for it, or ""
 */
struct fkt_date {
	int64_t second;
	char text[32];
};

/**
 * struct fkt_moments - how to show moments
 * @trace: of this trace, which has a clock
 * @time: FKT_TIME_ABS: as date and time of day; else as seconds since @first
 * @first: stamp of the trace's beginning
 * @date: of the last one
 */
struct fkt_moments {
	const struct fkt_trace *trace;
	enum fkt_time time;
	uint64_t first;
	struct fkt_date date;
};

/* Room for a moment. */
#define FKT_MOMENT_BYTES 64

/**
 * fkt_moment() - "12.345678901", or "2025-06-01 12:00:00.123456789"
 * @moments: how
 * @stamp: the moment
 * @text: written
 *
 * Return: @text.
 */
const char *fkt_moment(struct fkt_moments *moments, uint64_t stamp, char text[FKT_MOMENT_BYTES]);

/**
 * fkt_print_wrapped() - print text to people, broken at spaces where it is too wide for @out
 * @out: where to
 * @text: lines, each with its end
 * @indent: spaces before what goes on below
 */
void fkt_print_wrapped(struct fkt_output *out, const char *text, unsigned int indent);

/**
 * fkt_table_end() - print what was kept of the last table
 * @out: where
 *
 * To be called before anything else goes to the same file.
 */
void fkt_table_end(struct fkt_output *out);

/**
 * fkt_width() - how many columns text takes
 * @text: UTF-8
 * @bytes: its length
 *
 * The program's locale has to be one of UTF-8; in others, all but ASCII takes one column.
 */
unsigned int fkt_width(const char *text, size_t bytes);

/**
 * fkt_fitting() - how much of text has room
 * @text: UTF-8
 * @bytes: its length
 * @room: columns
 *
 * Return: in bytes, whole characters.
 */
size_t fkt_fitting(const char *text, size_t bytes, unsigned int room);

/* Room for the name of a thread. */
#define FKT_THREAD_BYTES (FKT_COMM_BYTES + 8)

/**
 * fkt_thread_name() - a thread's name; of an idle task, with its CPU: "idle/1"
 * @thread: the thread
 * @text: written
 *
 * Return: @text.
 */
const char *fkt_thread_name(const struct fkt_process *thread, char text[FKT_THREAD_BYTES]);

/* Room for a duration. */
#define FKT_DURATION_BYTES 32

/**
 * fkt_duration() - "1.234 ms", in the unit that fits; in cycles when the trace has no clock
 * @trace: the trace
 * @cycles: the duration
 * @text: written
 *
 * Return: @text.
 */
const char *fkt_duration(const struct fkt_trace *trace, uint64_t cycles,
			 char text[FKT_DURATION_BYTES]);

/**
 * fkt_duration_as() - the same in a given unit
 * @trace: the trace
 * @time: FKT_TIME_CYCLES, _NS or _US; else what fits
 * @cycles: the duration
 * @text: written
 *
 * Return: @text.
 */
const char *fkt_duration_as(const struct fkt_trace *trace, enum fkt_time time, uint64_t cycles,
			    char text[FKT_DURATION_BYTES]);

/**
 * fkt_parts() - a part in parts of a million
 * @part: of the whole
 * @whole: may be 0
 */
uint64_t fkt_parts(uint64_t part, uint64_t whole);

#endif

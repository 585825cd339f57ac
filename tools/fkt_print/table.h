/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables, as text for people, or as CSV or JSON for programs. */
#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

#include "fkt.h"

enum format {
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
};

/**
 * struct output - where tables go
 * @file: to this
 * @format: as what
 * @color: whether the terminal takes colours
 * @trace: whose clock converts cycles
 * @tables: how many were begun
 */
struct output {
	FILE *file;
	enum format format;
	bool color;
	const struct fkt_trace *trace;
	unsigned int tables;
};

enum column_type {
	COLUMN_TEXT, /* to the left */
	COLUMN_LAST, /* the same, the last one of the line: as wide as it needs */
	COLUMN_NUMBER,
	COLUMN_CYCLES,	 /* a number, that of cycles */
	COLUMN_DURATION, /* cycles, shown as time if the trace has a clock; for programs, in ns */
	COLUMN_PERCENT,	 /* parts of a million */
	COLUMN_BAR,	 /* the same, as stars; not for programs */
};

/**
 * struct column - a column of a table
 * @title: for people
 * @key: for programs
 * @type: what it holds
 * @width: for people
 */
struct column {
	const char *title;
	const char *key;
	enum column_type type;
	int width;
};

/* A cell: its text or its number; a number that is not known is CELL_NONE. */
union cell {
	const char *text;
	uint64_t number;
};

#define CELL_NONE UINT64_MAX

/**
 * table_begin() - the line with the columns' names
 * @out: where
 * @columns: the columns, up to one without a title
 */
void table_begin(struct output *out, const struct column *columns);

/**
 * table_row() - a line
 * @out: where
 * @name: of the table, for programs
 * @columns: as for table_begin()
 * @cells: one for each of them
 * @strong: it is a total, or something else that should stand out
 */
void table_row(struct output *out, const char *name, const struct column *columns,
	       const union cell *cells, bool strong);

/**
 * table_line() - a line that a program does not get: a title, a remark
 * @out: where
 * @format: as for printf()
 */
void table_line(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for a duration. */
#define DURATION_BYTES 32

/**
 * put_duration() - "1.234 ms", in the unit that fits; in cycles when the trace has no clock
 * @trace: the trace
 * @cycles: the duration
 * @text: written
 */
const char *put_duration(const struct fkt_trace *trace, uint64_t cycles, char text[DURATION_BYTES]);

/**
 * parts_of() - a part in parts of a million
 * @part: of the whole
 * @whole: may be 0
 */
uint64_t parts_of(uint64_t part, uint64_t whole);

#endif

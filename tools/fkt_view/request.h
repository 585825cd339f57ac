/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a page asks for. All of it is checked here, whoever has sent it. */
#ifndef FKT_VIEW_REQUEST_H
#define FKT_VIEW_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_TIDS	   256
#define REQUEST_WIDTH_MAX  8192
#define REQUEST_TEXT_BYTES 128
#define REQUEST_SQL_BYTES  4096
/* Moments that the page's numbers are exact for. */
#define REQUEST_NS_MAX	   (1ull << 53)

enum asked {
	ASKED_NOTHING, /* that is known */
	ASKED_PAGE,
	ASKED_SCRIPT,
	ASKED_STYLE,
	ASKED_ICON,
	ASKED_TRACE,
	ASKED_THREADS,
	ASKED_PICTURE,
	ASKED_MOMENT,
	ASKED_CALLS,
	ASKED_NEXT,
	ASKED_TABLE,
	ASKED_PART,
	ASKED_QUERY,
	ASKED_NOTES,
	ASKED_NOTE,
	ASKED_TRACES,
};

/* Tables that fkt_print makes. */
enum table {
	TABLE_NONE,
	TABLE_SUMMARY,
	TABLE_WAITS,
	TABLE_BY,
	TABLE_SPANS,
	TABLE_CALLS,
	TABLE_NOISE,
	TABLE_PROFILE,
	TABLE_EVENTS,
};

/* What a part of the trace is written as. */
enum part {
	PART_TRACE,
	PART_PERFETTO,
	PART_FLAME,
	PARTS,
};

/**
 * struct request - what is asked for
 * @what: of enum asked
 * @from, @to: nanoseconds since the trace's first event
 * @width: how many bins there should be at most
 * @tid: threads
 * @tids: how many
 * @table: which table, enum table
 * @part: of ASKED_PART, enum part
 * @text: a word: what is searched for, the fields of a table, the name of an event
 * @longer: calls that take so long, in nanoseconds
 * @back: the one before, not the next one
 * @sql: of ASKED_QUERY; as long as the value of the parameter
 * @remove: of ASKED_NOTE, the one that is taken back, or 0
 * @writes: something is written: it is to be a POST
 */
struct request {
	enum asked what;
	uint64_t from;
	uint64_t to;
	uint32_t width;
	uint32_t tid[REQUEST_TIDS];
	unsigned int tids;
	enum table table;
	enum part part;
	char text[REQUEST_TEXT_BYTES];
	uint64_t longer;
	bool back;
	const char *sql;
	uint64_t remove;
	bool writes;
};

/* The value of a parameter: NULL if there is none. */
typedef const char *request_value_fn(void *arg, const char *name);

/**
 * request_read() - understand a request
 * @request: filled in
 * @path: what is asked for, behind the token: "/picture"
 * @value: called for each parameter that is needed
 * @arg: for it
 *
 * Return: NULL, or a sentence that says what is wrong with it.
 */
const char *request_read(struct request *request, const char *path, request_value_fn *value,
			 void *arg);

#endif

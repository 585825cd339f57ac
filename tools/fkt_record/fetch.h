/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a probe is to fetch besides the moment: the language of -P, -e and -F. */
#ifndef FKT_RECORD_FETCH_H
#define FKT_RECORD_FETCH_H

#include <fkt/ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value.h"

#define FETCH_SPEC_BYTES 65536
#define FETCH_NAME_BYTES 128
#define FETCH_ARGS_MAX	 FKT_FETCH_WORDS_MAX

struct fetch_type;
struct program_file;
struct program_function;

/**
 * struct fetch_argument - one FETCHARG
 * @name: what it is called
 * @type: how it is recorded
 * @comm: it is $comm
 * @reads: its value is in memory, at what the operations give plus @offset
 * @user: in the program's
 * @named: it is called by its name, and is @value
 * @value: what BTF says of it
 * @by_name: it is of an enum, and no type is written: its names are told
 * @elements: how many an array has, else 0
 * @bit: the first bit of a bit field
 * @bits: how many it has, else 0
 * @op: operations
 * @ops: how many
 */
struct fetch_argument {
	char name[FETCH_NAME_BYTES];
	const struct fetch_type *type;
	bool comm;
	bool reads;
	bool user;
	bool named;
	struct value value;
	bool by_name;
	uint32_t elements;
	uint32_t bit;
	uint32_t bits;
	int64_t offset;
	struct fkt_fetch op[FKT_FETCH_OPS_MAX];
	size_t ops;
};

/**
 * struct fetching - all that one probe fetches
 * @option: by which it was asked for, for messages
 * @text: all of what is written there, for messages
 * @function: whose arguments there are, NULL when an address is given
 * @module: the function's, NULL when it is the kernel's
 * @event: of a tracepoint: its name, @function being what calls its probes; else NULL
 * @own: how many of the function's first arguments are not meant: 1 for a tracepoint, else 0
 * @args: there are these first arguments alone, and neither registers nor a stack: of a tracepoint,
 *	or where a function is entered (-F); 0: there are all registers
 * @unknown: why what BTF says of the function's name is not of this one, NULL if it is
 * @room: how many words may be recorded; 0: FKT_FETCH_WORDS_MAX
 * @program: it is in this program: all registers and all memory are that one's
 * @of: there, the function
 * @point: of a probe that a program has in its source: its arguments, else NULL
 * @points: how many
 * @returns: a function's return
 * @inside: a place inside a function
 * @argument: what it fetches
 * @arguments: how many
 */
struct fetching {
	const char *option;
	const char *text;
	const char *function;
	const char *module;
	const char *event;
	uint32_t own;
	uint32_t args;
	const char *unknown;
	uint32_t room;
	const struct program_file *program;
	const struct program_function *of;
	const struct fetch_argument *point;
	size_t points;
	bool returns;
	bool inside;
	struct fetch_argument argument[FETCH_ARGS_MAX];
	size_t arguments;
};

/** fetch_wrong - end with what is not written as it should be */
void __attribute__((noreturn, format(printf, 2, 3)))
fetch_wrong(const struct fetching *fetch, const char *format, ...);

/** fetch_missing - end with what this kernel does not have */
void __attribute__((noreturn, format(printf, 2, 3)))
fetch_missing(const struct fetching *fetch, const char *format, ...);

/** fetch_number - a number that takes all of the text */
bool fetch_number(const char *text, int64_t *value);

/**
 * fetch_add - one FETCHARG more: [NAME=]WHAT[:TYPE]
 * @fetch: where
 * @text: it; changed. Ends with a message when it is wrong
 */
void fetch_add(struct fetching *fetch, char *text);

/**
 * fetch_add_point - an argument of a program's own probe, [N][f]@OPERAND
 * @fetch: where
 * @text: it
 *
 * Return: false for one that can't be had, which has no operations.
 */
bool fetch_add_point(struct fetching *fetch, const char *text);

/** fetch_type_name - what the type of an argument is called */
const char *fetch_type_name(const struct fetch_argument *argument);

/**
 * fetch_add_word - the same, or "$arg*": all of the function's arguments, by their names
 * @fetch: where
 * @text: it; changed
 */
void fetch_add_word(struct fetching *fetch, char *text);

/** fetch_fits - whether an event has room for all that was added */
bool fetch_fits(const struct fetching *fetch);

/**
 * fetch_has - whether fetch_add() takes this
 * @fetch: where
 * @text: [NAME=]ARGUMENT[->FIELD…][:TYPE]
 */
bool fetch_has(const struct fetching *fetch, const char *text);

/**
 * fetch_compile - the operations of all arguments
 * @fetch: they
 * @ops: room for FKT_FETCH_OPS_MAX operations
 * @spec: room for FETCH_SPEC_BYTES: what they record, for a code's description
 *
 * Return: how many operations there are.
 */
size_t fetch_compile(const struct fetching *fetch, struct fkt_fetch *ops, char *spec);

#endif

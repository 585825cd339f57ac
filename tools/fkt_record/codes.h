/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Codes that are given out for one recording, and the lines that say in the trace what they mean.
 */
#ifndef FKT_RECORD_CODES_H
#define FKT_RECORD_CODES_H

#include <stdbool.h>
#include <stdint.h>

#include <fkt/codes.h>

#include "sections.h"

/**
 * struct codes - the codes from FKT_CODE_DYNAMIC on; begin with all zero
 * @count: how many are taken
 * @lines: their lines of FKT_SECTION_CODES; head.c puts them behind the built-in ones
 * @names_data: an argument is to be shown as the name of what is there, which may be a variable
 */
struct codes {
	uint32_t count;
	struct sections lines;
	bool names_data;
};

/** struct code_line - a row of codes.h or one like it; see there */
struct code_line {
	uint32_t code, count;
	enum fkt_kind kind;
	uint32_t pair, key;
	const char *name, *spec;
};

/** fkt_codes_line - append the line of FKT_SECTION_CODES for a row */
void fkt_codes_line(struct sections *lines, const struct code_line *line);

/** fkt_codes_next - the code that fkt_codes_add() will give out next */
uint32_t fkt_codes_next(const struct codes *codes);

/**
 * fkt_codes_add - give out a code
 * @codes: where from
 * @kind: what it is
 * @pair: the code of the matching entry or exit, 0 without one
 * @key: the mask of its layer
 * @name: its name, without spaces
 * @spec: its fields, see FKT_CODES
 *
 * Exits with a message when there are no more codes, or there is no memory.
 */
uint32_t fkt_codes_add(struct codes *codes, enum fkt_kind kind, uint32_t pair, uint32_t key,
		       const char *name, const char *spec);

/**
 * fkt_codes_name - what a code is called that was given out
 * @bytes: receives the length of the name, which no NUL follows
 *
 * Return: the name, NULL for a code that was not.
 */
const char *fkt_codes_name(const struct codes *codes, uint32_t code, size_t *bytes);

/*
 * * fkt_codes_add_pair - the same for an entry, which is returned, and its exit: the code after it
 */
uint32_t fkt_codes_add_pair(struct codes *codes, uint32_t key, const char *name,
			    const char *entry_spec, const char *exit_spec);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the kernel and its modules, as lines of /proc/kallsyms and as tables. */
#ifndef FKT_RECORD_SYMBOLS_H
#define FKT_RECORD_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sections.h"

/** struct symbol - a function; @name is not terminated */
struct symbol {
	uint64_t address;
	const char *name;
	size_t length;
	char type;
};

/** struct symbols - functions that were parsed; begin with all zero; free @symbol */
struct symbols {
	struct symbol *symbol;
	size_t count;
	size_t room;
};

/**
 * symbols_read - append the lines of functions of /proc/kallsyms, or of a System.map
 *
 * Return: 0, or -1 with errno.
 */
int symbols_read(struct sections *text, const char *name);

/**
 * symbols_parse - parse lines
 * @module: that module's functions, NULL for the kernel's own
 *
 * The symbols point into @text. Exits with a message when there is no memory.
 */
void symbols_parse(struct symbols *symbols, const char *text, size_t bytes, const char *module);

/** symbols_sort - by name, for the next two */
void symbols_sort(struct symbols *symbols);

/** symbols_find - the first one of that name, or NULL */
const struct symbol *symbols_find(const struct symbols *sorted, const struct symbol *wanted);

/*
 * * symbols_is_at - whether one of that name is at this address; @first is what symbols_find()
 * found
 */
bool symbols_is_at(const struct symbols *sorted, const struct symbol *first, uint64_t address);

#endif

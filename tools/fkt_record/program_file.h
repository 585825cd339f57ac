/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and libraries: where they are, and what in them can be traced. */
#ifndef FKT_RECORD_PROGRAM_FILE_H
#define FKT_RECORD_PROGRAM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * program_find - where a program or library is that is named without a directory
 * @name: it
 *
 * Libraries are looked for where the dynamic linker has them (ld.so.cache), then programs in PATH,
 * then what processes have mapped.
 *
 * Return: a path, to be freed, or NULL.
 */
char *program_find(const char *name);

/* How far a function may be traced. */
enum program_how {
	PROGRAM_PAIR,	  /* entry and return */
	PROGRAM_ENTRY,	  /* its return must not be caught */
	PROGRAM_INDIRECT, /* it is another one that is decided on when programs start */
};

/**
 * struct program_function - a function of a program or library
 * @name: its name
 * @offset: where it is in the file; 0: of an indirect one, nobody knows
 * @address: where the program has it; 0 likewise
 * @how: how far it may be traced
 */
struct program_function {
	char *name;
	uint64_t offset;
	uint64_t address;
	enum program_how how;
};

/**
 * struct program_point - a probe that a program has in its source (sys/sdt.h)
 * @provider: by whom it is
 * @name: its name
 * @args: the specification of its arguments
 * @offset: where it is in the file
 * @semaphore: where in the file is its semaphore, or 0
 */
struct program_point {
	char *provider;
	char *name;
	char *args;
	uint64_t offset;
	uint64_t semaphore;
};

/**
 * struct program_file - a program or library
 * @path: where it is
 * @label: the last part of that, for names of events
 * @fd: it, open
 * @why_no_returns: why the kernel must not catch returns of its functions, or NULL
 * @function: its functions, by name
 * @functions: how many
 * @point: its probes
 * @points: how many
 */
struct program_file {
	char *path;
	char *label;
	int fd;
	const char *why_no_returns;
	struct program_function *function;
	size_t functions;
	struct program_point *point;
	size_t points;
};

/**
 * program_open - read a program or library
 * @path: where it is
 * @why: receives why it can't be
 *
 * Return: the file, which lasts until the end; or NULL.
 */
const struct program_file *program_open(const char *path, const char **why);

/**
 * program_debug_file - what was taken out of a file for debuggers, where somebody has installed it
 * @file: the file
 *
 * Return: an open file, or < 0.
 */
int program_debug_file(const struct program_file *file);

/**
 * program_grow - room for one more in an array, or the end of the program
 * @array: the array, which may be moved; NULL at first
 * @count: how many are in it
 * @bytes: what one takes
 *
 * Return: the array.
 */
void *program_grow(void *array, size_t count, size_t bytes);

#endif

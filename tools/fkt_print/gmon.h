/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gprof reads: a profile, and a program of which nothing is there but its functions' names. */
#ifndef GMON_H
#define GMON_H

#include <stdint.h>
#include <stdio.h>

/**
 * struct gmon_arc - calls of a function by another one
 * @from: number of who calls
 * @to: number of who is called
 * @count: how often
 */
struct gmon_arc {
	uint32_t from;
	uint32_t to;
	uint64_t count;
};

/**
 * struct gmon - a profile
 * @rate: ticks a second
 * @names: of the functions
 * @ticks: in each of them, not in what it calls
 * @functions: how many
 * @arc: who calls whom
 * @arcs: how many
 */
struct gmon {
	uint32_t rate;
	char *const *names;
	const uint64_t *ticks;
	uint32_t functions;
	const struct gmon_arc *arc;
	uint32_t arcs;
};

/* Write gmon.out. Errors are the file's. */
void gmon_write(FILE *file, const struct gmon *gmon);

/* Write the program that it is of. Likewise. */
void gmon_write_elf(FILE *file, const struct gmon *gmon);

#endif

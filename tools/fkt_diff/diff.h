/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fkt_diff: what takes longer in some recordings than in others.
 *
 *	fkt_diff.c	options, the run
 *	collect.c	what a recording comes to: calls, functions, waits, stacks
 *	items.c		these by name, with their durations in each recording
 *	compare.c	whether they differ, and by how much
 *	chance.c	whether that is more than noise: the tests
 *	report.c	the tables
 */
#ifndef FKT_DIFF_H
#define FKT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fkt/trace.h>

#include "show/table.h"
#include "sum/paths.h"

#define RECORDINGS_MAX 64
/* Into so many parts of equal time a recording is cut. */
#define PARTS	       16

enum side {
	BEFORE,
	AFTER,
	SIDES,
};

/* What a trace says of what was recorded. */
enum recorded {
	RECORDED_LAYERS,
	RECORDED_FILTER,
	RECORDED_LONGER,
	RECORDED_COUNT,
};

enum kind {
	KIND_CALL,     /* system calls and interrupts */
	KIND_FUNCTION, /* functions of the kernel */
	KIND_STACK,    /* the same below what called them */
	KIND_WAIT,     /* times for which threads did not run */
	KINDS,
};

/**
 * struct durations - how long something took in a recording
 * @count: how often it came
 * @sum: of all, in nanoseconds
 * @part_count: how often in each part of the recording
 * @part_sum: and what these come to
 * @kept: how many of @value there are: all, or so many that were picked at random
 * @room: of @value
 * @value: durations
 */
struct durations {
	uint64_t count;
	double sum;
	uint32_t part_count[PARTS];
	double part_sum[PARTS];
	uint32_t kept;
	uint32_t room;
	uint64_t *value;
};

/**
 * struct item - something that takes time
 * @kind: what
 * @name: its name, owned by struct items
 * @in: in each recording; NULL: it did not come there
 */
struct item {
	enum kind kind;
	char *name;
	struct durations *in[RECORDINGS_MAX];
};

/**
 * struct items - all of them; begin with all zero
 * @one: they
 * @count: how many
 * @room: of @one
 * @names: their names, with a letter for their kind before it
 * @paths: stacks, by these names
 * @of_name: the item of each name, plus 1
 * @of_path: likewise of each path
 * @names_room: of @of_name
 * @paths_room: of @of_path
 * @random: for what is picked at random, the same in each run
 * @waits: how many of @names are of waits
 * @left_out: calls of stacks that there were too many of
 * @waits_left_out: likewise waits
 */
struct items {
	struct item *one;
	uint32_t count;
	uint32_t room;
	struct fkt_path_names names;
	struct fkt_paths paths;
	uint32_t *of_name;
	uint32_t *of_path;
	uint32_t names_room;
	uint32_t paths_room;
	uint64_t random;
	uint32_t waits;
	uint64_t left_out;
	uint64_t waits_left_out;
};

/* ---- items.c ---- */

/* 0 or -ENOMEM; to be freed with items_free() in both cases. */
int items_init(struct items *items);
void items_free(struct items *items);
/* The number of a name in items->names, FKT_PATHS_NONE without memory. */
uint32_t items_name(struct items *items, enum kind kind, const char *name);
/* Something that is called so took so long, in a part of a recording: 0 or -ENOMEM. */
int items_add(struct items *items, enum kind kind, uint32_t name, unsigned int recording,
	      unsigned int part, uint64_t ns);
/* The same of a wait with a name. */
int items_add_wait(struct items *items, const char *name, unsigned int recording, unsigned int part,
		   uint64_t ns);
/* The same of a path of items->paths. */
int items_add_path(struct items *items, uint32_t path, unsigned int recording, unsigned int part,
		   uint64_t ns);

/* ---- collect.c ---- */

/**
 * struct recording - a trace
 * @path: its file
 * @side: on which side
 * @ns: how long it took
 * @cpus: on how many CPUs
 * @unit: its counts and sums are divided by this
 * @whole: nothing is missing in it
 * @recorded: what was recorded, freed by who has the recording; NULL: nothing is said of that
 */
struct recording {
	const char *path;
	enum side side;
	double ns;
	unsigned int cpus;
	double unit;
	bool whole;
	char *recorded[RECORDED_COUNT];
};

/* What these are called. */
extern const char *const recorded_names[RECORDED_COUNT];

/**
 * collect() - read a recording
 * @recording: with its path and side; the rest is set
 * @number: its number
 * @items: what it has is added
 * @elapsed: of calls the time from entry to exit, not their own
 *
 * Return: false after a complaint.
 */
bool collect(struct recording *recording, unsigned int number, struct items *items, bool elapsed);

/* ---- chance.c ---- */

/**
 * chance_of_ranks() - Mann and Whitney's test
 * @a: values, in ascending order
 * @b: likewise
 * @larger: set to whether those of @b tend to be larger
 *
 * Return: how likely two such different sets are where both are of the same kind; 1 where there are
 * too few to tell.
 */
double chance_of_ranks(const double *a, size_t a_count, const double *b, size_t b_count,
		       bool *larger);

/**
 * chance_of_means() - Welch's test
 * @a: values; they are taken to be normal, of variances that need not be the same
 * @b: likewise
 * @grain: values are multiples of about this: what is the same in all of a side may vary by less
 *
 * Return: as chance_of_ranks().
 */
double chance_of_means(const double *a, size_t a_count, const double *b, size_t b_count,
		       double grain);

/* ---- compare.c ---- */

enum verdict {
	VERDICT_NONE,
	VERDICT_SLOWER,
	VERDICT_FASTER,
	VERDICT_MORE,
	VERDICT_FEWER,
	VERDICT_NEW,
	VERDICT_GONE,
};

/**
 * struct numbers - what an item comes to on a side
 * @count: how often it came, a unit
 * @total: how long it took in all, a unit, in nanoseconds
 * @share: that as a part of the time of all CPUs
 * @mean: how long it took on the average; NAN: it did not come
 * @p50, @p99: how long at most half of them took, and 99 of 100
 */
struct numbers {
	double count;
	double total;
	double share;
	double mean;
	double p50;
	double p99;
};

/**
 * struct result - how an item differs
 * @item: the item
 * @side: its numbers
 * @duration_chance: how likely such different durations are by chance
 * @count_chance: and such different counts
 * @verdict: how it differs
 */
struct result {
	const struct item *item;
	struct numbers side[SIDES];
	double duration_chance;
	double count_chance;
	enum verdict verdict;
};

/**
 * struct limits - what counts as a difference
 * @level: of all differences that are told, about this part may be by chance
 * @least: by which part of what was before it has to have changed
 */
struct limits {
	double level;
	double least;
};

/**
 * compare() - compare all items
 * @items: the items
 * @recording: the recordings
 * @recordings: how many
 * @limits: what counts as a difference
 *
 * Return: a result for each item, those that changed most first; to be freed with free(). NULL
 * without memory.
 */
struct result *compare(const struct items *items, const struct recording *recording,
		       unsigned int recordings, const struct limits *limits);

/* ---- report.c ---- */

/**
 * struct report - what the tables say
 * @out: where to
 * @recording: the recordings
 * @recordings: how many
 * @per: what a unit is, for people
 * @elapsed: of calls it is the time from entry to exit
 * @all: also what does not differ
 */
struct report {
	struct fkt_output *out;
	const struct recording *recording;
	unsigned int recordings;
	const char *per;
	bool elapsed;
	bool all;
};

void print_report(const struct report *report, const struct result *result, size_t results);

#endif

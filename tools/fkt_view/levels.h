/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All of a trace in cells, made by a thread in the background: the base level has bins of some
 * hundred events, and each level above it bins twice as long. Cells are in files without a name, in
 * the order of their bins, and can be read up to where they have been made. When all are, those of
 * a large trace are kept for the next time.
 */
#ifndef FKT_VIEW_LEVELS_H
#define FKT_VIEW_LEVELS_H

#include <fkt/trace.h>

#include "collect.h"

/**
 * struct progress - how far the thread is
 * @made: all bins before this stamp are made
 * @done: all that can be is
 * @err: 0, or a negative errno value that has ended it
 * @events: how many it has seen
 * @lost: and how many of them are missing; @pages: and how many pages
 * @marks_left: and how many marks are not kept, for there are too many
 */
struct progress {
	uint64_t made;
	bool done;
	int err;
	uint64_t events;
	uint64_t lost;
	uint64_t pages;
	uint64_t marks_left;
};

struct levels;

/**
 * levels_new() - begin to make them
 * @trace: the trace
 * @names: names of calls
 * @keep: what is made is kept for the next time, if it is a complete file
 * @first, @last: its span
 * @growing: it is a stream, which goes on behind @last
 *
 * Return: to be freed with levels_free(), which ends the thread; NULL, and errno, on failure.
 */
struct levels *levels_new(struct fkt_trace *trace, struct names *names, bool keep, uint64_t first,
			  uint64_t last, bool growing);
void levels_free(struct levels *levels);

void levels_progress(struct levels *levels, struct progress *progress);

/**
 * levels_threads() - the threads that were met so far, those that ran longest first
 * @levels: the levels
 * @count: how many there are
 *
 * Return: to be freed with free(); NULL if there are none, or no memory.
 */
struct collected_thread *levels_threads(struct levels *levels, size_t *count);

/* The CPUs that were met so far: one more than the largest number. */
uint32_t levels_cpus(struct levels *levels, uint8_t *met, uint32_t room);

/* The counters that were met so far, each by its track. */
typedef int level_counter_fn(void *arg, uint32_t track);

int levels_counters(struct levels *levels, level_counter_fn *counter, void *arg);

/* What is missing, and what stands out, is told once for each in a part of the trace. */
typedef int level_loss_fn(void *arg, const struct loss *loss);
typedef int level_cell_fn(void *arg, const struct cell *cell);

typedef int level_mark_fn(void *arg, const struct mark *mark);

int levels_marks(struct levels *levels, uint64_t from, uint64_t to, level_mark_fn *mark, void *arg);
int levels_losses(struct levels *levels, uint64_t from, uint64_t to, level_loss_fn *loss,
		  void *arg);

/**
 * struct level_part - the cells that a picture takes
 * @from: stamp with which bin 0 begins
 * @bin_cycles: length of a bin
 * @made: as struct progress has it
 */
struct level_part {
	uint64_t from;
	uint64_t bin_cycles;
	uint64_t made;
};

/**
 * levels_read() - the cells of a part of the trace
 * @levels: the levels
 * @from, @to: stamps
 * @bins: of so many bins, or up to twice as many
 * @part: filled in
 * @cell: called for each; not in the order of tracks
 * @arg: for it
 *
 * Return: 0 or a negative errno value.
 */
int levels_read(struct levels *levels, uint64_t from, uint64_t to, uint32_t bins,
		struct level_part *part, level_cell_fn *cell, void *arg);

/**
 * levels_before() - how tracks were at a moment
 * @levels: the levels
 * @at: the moment, a stamp
 * @track: the tracks
 * @count: how many
 * @cell: called for those that are known, with a cell of the bin CELL_BEFORE
 * @arg: for it
 *
 * Return: 0 or a negative errno value.
 */
int levels_before(struct levels *levels, uint64_t at, const uint32_t *track, unsigned int count,
		  level_cell_fn *cell, void *arg);

/* A file without a name, on a disk: -1, and errno, on failure. */
int levels_file(void);
/* Write all of it: false when it cannot be. */
bool levels_write(int fd, const void *from, size_t bytes);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What levels.c makes, and kept.c keeps. */
#ifndef FKT_VIEW_LEVELS_INTERNAL_H
#define FKT_VIEW_LEVELS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "levels.h"

#define LEVELS_MAX 10
/* Of losses, further ones are one with the last. */
#define LOSSES_MAX (1u << 16)
#define MARKS_MAX  4096u

/* How a track was at the end of its last bin, and its cell in the one that goes on. */
struct known {
	uint32_t last;
	uint32_t last_inner;
	uint32_t pending;
	uint8_t state;
	bool softirq;
};

/**
 * struct level - cells of a bin length
 * @fd: where they are
 * @begin: at what byte of it
 * @count: how many can be read there
 * @buffer: behind them
 * @buffered: how many
 * @known: of each track, by its number
 * @pending: cells of the bin that goes on
 * @pendings, @pending_room: how many
 * @bin: that bin
 */
struct level {
	int fd;
	uint64_t begin;
	uint64_t count;
	struct cell *buffer;
	unsigned int buffered;
	struct known *known;
	struct cell *pending;
	uint32_t pendings;
	uint32_t pending_room;
	uint32_t bin;
};

/**
 * struct levels - all of them
 * @keep: what is made is kept for the next time
 * @file: how the trace's file was when it was begun to be read
 * @lock: held for what both the thread and those who ask look at: level[].count and what follows
 *	@lock
 */
struct levels {
	struct fkt_trace *trace;
	bool keep;
	struct stat file;
	struct names *names;
	uint64_t first;
	uint64_t last;
	uint64_t bin_cycles;
	unsigned int levels;
	struct level level[LEVELS_MAX];
	uint32_t *slot; /* numbers of tracks + 1, by a hash of their key */
	uint32_t tracks;
	uint32_t track_room;
	pthread_t thread;
	bool running;
	bool growing;
	bool stop;
	pthread_mutex_t lock;
	struct cell *before; /* of each track, by its number */
	uint32_t befores;
	struct progress progress;
	struct loss *loss;
	uint32_t losses;
	uint32_t loss_room;
	struct mark *mark; /* MARKS_MAX */
	uint32_t marks;
	struct collected_thread *threads;
	size_t thread_count;
	uint8_t cpu[UINT16_MAX + 1];
	uint32_t cpus;
};

/* The cache directory: whether there can be one. */
bool levels_folder(char *path, size_t bytes);

/**
 * kept_take() - what was made of the trace at an earlier time
 * @levels: file, trace, names, first, last and bin_cycles are set
 *
 * Return: whether there is such, of this very file: all that can be asked is there then.
 */
bool kept_take(struct levels *levels);

/**
 * kept_put() - keep what was made, in the cache directory
 * @levels: all is made
 *
 * Nothing is said when that cannot be done: it is made anew the next time.
 */
void kept_put(struct levels *levels);

#endif

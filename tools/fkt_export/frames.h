/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A number for each call that is open, by the thread, or for interrupts the CPU, and the depth. */
#ifndef FKT_EXPORT_FRAMES_H
#define FKT_EXPORT_FRAMES_H

#include <fkt/trace.h>

struct frames_of;

/**
 * struct frames - the numbers; begin with all zero
 * @thread: of each thread, by number
 * @cpu: of each CPU
 * @threads: how many there is room for
 * @cpus: likewise
 */
struct frames {
	struct frames_of *thread;
	struct frames_of *cpu;
	uint32_t threads;
	uint32_t cpus;
};

#define FRAME_NONE UINT32_MAX

/* Set the number of a call. Return: 0 or -ENOMEM. */
int frames_set(struct frames *frames, const struct fkt_call *call, uint32_t number);

/**
 * frames_get() - the number of an open call
 * @frames: all
 * @call: a call of the same thread, or an interrupt on the same CPU
 * @depth: how many are around the one that is meant
 *
 * Return: FRAME_NONE where there is none.
 */
uint32_t frames_get(const struct frames *frames, const struct fkt_call *call, uint32_t depth);

/* What a thread has is another one's, and the other way round. Return: 0 or -ENOMEM. */
int frames_swap(struct frames *frames, uint32_t from, uint32_t to);
void frames_free(struct frames *frames);

#endif

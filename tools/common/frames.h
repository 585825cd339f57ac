/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Something for each thread, and for each call that is open. */
#ifndef FKT_COMMON_FRAMES_H
#define FKT_COMMON_FRAMES_H

#include <fkt/trace.h>

/* ---- stacks.c: something for each thread, and of interrupts for each CPU ---- */

struct stacks;

/**
 * stacks_new() - begin
 * @bytes: size of what there is for each
 *
 * Return: to be freed with stacks_free(), or NULL without memory.
 */
struct stacks *stacks_new(size_t bytes);

/**
 * stacks_free() - end
 * @stacks: may be NULL
 * @free_one: frees what belongs to one of them
 */
void stacks_free(struct stacks *stacks, void (*free_one)(void *stack));

/**
 * stacks_get() - that of a call's thread; of an interrupt, of its CPU
 * @stacks: all
 * @call: the call
 *
 * Return: the same as before, at first all zero; valid until the next call. NULL without memory.
 */
void *stacks_get(struct stacks *stacks, const struct fkt_call *call);

/**
 * stacks_move() - the calls that a thread is in are another one's from now on
 * @stacks: all
 * @from: the thread
 * @to: the other one, which gets what @from has, and @from what it has
 *
 * Return: 0 or -ENOMEM.
 */
int stacks_move(struct stacks *stacks, uint32_t from, uint32_t to);

/* ---- frames.c: something for each call that is open ---- */

struct frames;

/**
 * frames_new() - begin
 * @bytes: size of what there is for each
 * @drop: called for one that is over; NULL: nothing is
 *
 * Return: to be freed with frames_free(), or NULL without memory.
 */
struct frames *frames_new(size_t bytes, void (*drop)(void *frame));
void frames_free(struct frames *frames);

/**
 * frames_enter() - a call begins
 * @frames: all
 * @call: the call
 *
 * Return: what there is for it, all zero, valid until the next call; NULL without memory.
 */
void *frames_enter(struct frames *frames, const struct fkt_call *call);

/**
 * frames_at() - the same of a call that is open
 * @frames: all
 * @call: a call of that thread, or of the interrupts of that CPU
 * @depth: how many calls are around the one that is meant
 *
 * Return: NULL when nobody told us of its begin.
 */
void *frames_at(struct frames *frames, const struct fkt_call *call, uint32_t depth);

/* A call has ended; what there was for it is gone. */
void frames_leave(struct frames *frames, const struct fkt_call *call);

/** frames_move() - see stacks_move() */
int frames_move(struct frames *frames, uint32_t from, uint32_t to);

#endif

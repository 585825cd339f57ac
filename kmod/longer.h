/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that are recorded only if they take long: probes/longer.c. */
#ifndef FKT_LONGER_H
#define FKT_LONGER_H

#include <linux/hash.h>
#include <linux/types.h>
#include "fkt.h"

#define FKT_BEGUN_BITS 16
/* A call's place is one of so many, from the one on that its key selects. */
#define FKT_BEGUN_WAYS 8
/* As many arguments as a system call has, or a function in registers. */
#define FKT_BEGUN_ARGS 6

/**
 * struct fkt_begun - a call that is open, of which nothing is recorded yet
 * @key: whose: of a system call, the address of the task, whose place it stays until the task ends;
 *	of a function, where the call's ticket is on the stack. 0: nobody's
 * @begin: stamp; 0: the task is in no call
 * @code: of its entry
 * @pid: who is current at that moment by the events, as with all of them
 * @cpu: where
 * @words: how many of @args there are
 * @keys: its layers
 * @place: which function it is, in the table of functions
 * @args: the arguments
 *
 * Nobody but the call's own task or interrupt touches it, but for fkt_longer_tell_open().
 */
struct fkt_begun {
	u64 key;
	u64 begin;
	u32 code;
	u32 pid;
	u16 cpu;
	u16 words;
	u32 keys;
	u32 place;
	u64 args[FKT_BEGUN_ARGS];
};

#define FKT_BEGUN_COUNT ((1u << FKT_BEGUN_BITS) + FKT_BEGUN_WAYS)
#define FKT_BEGUN_BYTES (FKT_BEGUN_COUNT * sizeof(struct fkt_begun))

/* All places; NULL: calls are recorded whatever they take. Constant while attached. */
extern struct fkt_begun *fkt_begun;
/* In cycles: calls that take no more leave nothing. */
extern u64 fkt_longer_than;
/* The recording has ended: what is open now is to be told as open. */
extern bool fkt_longer_ended;

/*
 * Whether the recording has ended, asked behind whether a layer is on: one that is off because of
 * that is not one that was turned off, and the call's place is left as it is.
 */
static __always_inline bool fkt_longer_has_ended(void)
{
	smp_rmb(); /* partner: fkt_longer_end() */
	return unlikely(READ_ONCE(fkt_longer_ended));
}

static inline bool fkt_longer_wanted(void)
{
	return fkt_begun;
}

struct fkt_begun *fkt_begun_find(u64 key);
struct fkt_begun *fkt_begun_take(u64 key);
struct fkt_begun *fkt_begun_claim(u64 key);
void fkt_begun_tell(const struct fkt_begun *begun);
void fkt_longer_gate(u64 ticket);
void fkt_longer_end(void);
void fkt_longer_tell_open(u64 until);

static __always_inline struct fkt_begun *fkt_begun_first(u64 key)
{
	return &fkt_begun[hash_64(key, FKT_BEGUN_BITS)];
}

/* The call begins now; its words and arguments are there. */
static __always_inline void fkt_begun_begin(struct fkt_begun *begun, u32 code, u32 keys)
{
	begun->code = code;
	begun->keys = keys;
	begun->pid = fkt_current_pid();
	begun->cpu = raw_smp_processor_id();
	/* Partner: the acquire in fkt_begun_tell_open(). */
	smp_store_release(&begun->begin, fkt_stamp(fkt_clock(false)));
}

/* Counters of CPUs may differ a little: a call does not end before it began. */
static __always_inline bool fkt_begun_is_long(const struct fkt_begun *begun)
{
	return (s64)(fkt_stamp(fkt_clock(false)) - begun->begin) > (s64)fkt_longer_than;
}

/* A function's call has ended: its place is free. */
static __always_inline void fkt_begun_free(struct fkt_begun *begun)
{
	WRITE_ONCE(begun->begin, 0);
	smp_store_release(&begun->key, 0); /* partner: the exchange in fkt_begun_claim() */
}

#endif

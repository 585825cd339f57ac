// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that are recorded only if they take longer than some time.
 *
 * When a call begins, nothing is written: the moment, and what it was given, are kept in a table,
 * where nobody waits and nothing is locked. When it has ended and took long, an event says when
 * and where it began, FKT_CODE_BEGAN, and its exit is recorded as ever. A call for which there is
 * no place in the table is recorded as ever, too. What is still open in the end, or when its task
 * dies, is told without an exit.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>
#include "compat.h"
#include "longer.h"

struct fkt_begun *fkt_begun;
u64 fkt_longer_than;
bool fkt_longer_ended;
/* The ticket of the first place of the table, 0 while functions have none. */
static u64 fkt_begun_ticket;
static bool fkt_longer_hooked;

/**
 * fkt_begun_find - the place of a call
 * @key: see struct fkt_begun
 *
 * Context: that of a probe.
 * Return: it, or NULL.
 */
struct fkt_begun *fkt_begun_find(u64 key)
{
	struct fkt_begun *begun = fkt_begun_first(key);
	u32 i;

	for (i = 0; i < FKT_BEGUN_WAYS; i++, begun++)
		if (READ_ONCE(begun->key) == key)
			return begun;
	return NULL;
}

/**
 * fkt_begun_claim - a place that is nobody's, or that of an earlier call with the same key
 * @key: whose it is to be
 *
 * Context: that of a probe.
 * Return: it, or NULL when there is none.
 */
struct fkt_begun *fkt_begun_claim(u64 key)
{
	struct fkt_begun *begun = fkt_begun_first(key);
	u64 whose;
	u32 i;

	for (i = 0; i < FKT_BEGUN_WAYS; i++, begun++) {
		whose = READ_ONCE(begun->key);
		/* It never returned, as on a CPU that was taken offline: its ticket is gone. */
		if (whose == key) {
			WRITE_ONCE(begun->begin, 0);
			return begun;
		}
		if (!whose && !cmpxchg(&begun->key, 0, key))
			return begun;
	}
	return NULL;
}

/**
 * fkt_begun_take - the place that a task has, or gets now
 * @key: the task
 *
 * Context: that of a probe.
 * Return: it, or NULL when there is none.
 */
noinline struct fkt_begun *fkt_begun_take(u64 key)
{
	return fkt_begun_find(key) ?: fkt_begun_claim(key);
}

/**
 * fkt_begun_tell - record when a call began, and with what
 * @begun: the call
 *
 * Context: that of a probe, which has asked whether its layer is on.
 */
noinline void fkt_begun_tell(const struct fkt_begun *begun)
{
	const u32 words = FKT_BEGAN_WORDS + min_t(u32, begun->words, FKT_BEGUN_ARGS);
	u64 args[FKT_BEGAN_WORDS + FKT_BEGUN_ARGS];
	u32 i;

	args[0] = begun->begin;
	args[1] = fkt_pair(begun->code, begun->pid);
	for (i = FKT_BEGAN_WORDS; i < words; i++)
		args[i] = begun->args[i - FKT_BEGAN_WORDS];
	fkt_event_tag(FKT_TAG(FKT_CODE_BEGAN, words, begun->cpu), words, args);
}

/**
 * fkt_longer_gate - which tickets functions have whose calls are in the table
 * @ticket: that of its first place; each other one's is as much more as the place is further on.
 *	0: there are none
 *
 * Context: the session's lock; no function is hooked.
 */
void fkt_longer_gate(u64 ticket)
{
	fkt_begun_ticket = ticket;
}

/* ---- calls that do not return ---- */

static void fkt_begun_end(struct fkt_begun *begun)
{
	const bool on = fkt_on(begun->keys);

	if (fkt_longer_has_ended())
		return;
	if (on && begun->begin && fkt_begun_is_long(begun))
		fkt_begun_tell(begun);
	fkt_begun_free(begun);
}

/* The place that a word of the stack is the ticket of, if it is one. */
static struct fkt_begun *fkt_begun_of_word(const unsigned long *at, unsigned long word)
{
	const u64 offset = word - fkt_begun_ticket;
	struct fkt_begun *begun = (void *)fkt_begun + offset;

	if (offset >= FKT_BEGUN_BYTES || offset % sizeof(*begun) ||
	    READ_ONCE(begun->key) != (unsigned long)at)
		return NULL;
	return begun;
}

/* Where the current task, which dies, is on its way out: its calls are on its stack. */
static void fkt_longer_dies(void)
{
	const unsigned long *at = __builtin_frame_address(0);
	const unsigned long *end = task_stack_page(current) + THREAD_SIZE;
	struct fkt_begun *begun = fkt_begun_find((unsigned long)current);

	if (begun)
		fkt_begun_end(begun);
	for (; fkt_begun_ticket && at < end; at++) {
		begun = fkt_begun_of_word(at, READ_ONCE_NOCHECK(*at));
		if (begun)
			fkt_begun_end(begun);
	}
}

static void fkt_longer_switch(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	FKT_PROBE_GUARD();

	if (unlikely(prev_state & TASK_DEAD) && !READ_ONCE(fkt_longer_ended))
		fkt_longer_dies();
}

static struct fkt_tracepoint fkt_longer_points[] = {
	FKT_POINT(sched_switch, fkt_longer_switch),
};

/*
 * Tell of a call that is open, if it had taken long by the stamp @until; it may end meanwhile, or
 * another one begin.
 */
static void fkt_begun_tell_open(const struct fkt_begun *begun, u64 until)
{
	const u64 begin = smp_load_acquire(&begun->begin); /* partner: fkt_begun_begin() */
	struct fkt_begun copy;

	if (!begin || !READ_ONCE(begun->key))
		return;
	data_race(memcpy(&copy, begun, sizeof(copy))); /* of use only if it is the same below */
	smp_rmb(); /* partner: the release in fkt_begun_begin() */
	if (READ_ONCE(begun->begin) != begin)
		return;
	copy.begin = begin;
	if ((s64)(until - begin) > (s64)fkt_longer_than)
		fkt_begun_tell(&copy);
}

/**
 * fkt_longer_end - from now on calls that end are told as open ones
 * Context: the session's lock; the recording is about to end.
 */
void fkt_longer_end(void)
{
	WRITE_ONCE(fkt_longer_ended, true);
	smp_wmb(); /* before the mask is off; partner: fkt_longer_has_ended() */
}

/**
 * fkt_longer_tell_open - record when the calls began that are open, if they have taken long
 * @until: by this stamp
 *
 * Context: process, the session's lock; the lanes take events.
 */
void fkt_longer_tell_open(u64 until)
{
	u32 i;

	for (i = 0; fkt_begun && i < FKT_BEGUN_COUNT; i++) {
		if (!(i % 1024))
			cond_resched();
		if (!READ_ONCE(fkt_begun[i].begin))
			continue;
		preempt_disable_notrace();
		fkt_begun_tell_open(&fkt_begun[i], until);
		preempt_enable_notrace();
	}
}

/* ---- what the recorder asked for ---- */

static int fkt_longer_add(struct fkt_specs *specs)
{
	const struct fkt_longer_spec *spec = specs->spec;

	if (!spec->cycles || (s64)spec->cycles < 0)
		return -EINVAL;
	if (!fkt_begun)
		fkt_begun = vzalloc(FKT_BEGUN_BYTES);
	if (!fkt_begun)
		return -ENOMEM;
	fkt_longer_than = spec->cycles;
	return 0;
}

static void fkt_longer_clear(void)
{
	vfree(fkt_begun);
	fkt_begun = NULL;
}

static void fkt_longer_start(void)
{
	fkt_longer_ended = false;
}

static int fkt_longer_attach(const struct fkt_session *s, u32 keys)
{
	if (!fkt_begun || fkt_longer_hooked)
		return 0;
	fkt_longer_hooked = true;
	return fkt_tracepoints_attach(fkt_longer_points, ARRAY_SIZE(fkt_longer_points));
}

static void fkt_longer_detach(void)
{
	if (!fkt_longer_hooked)
		return;
	fkt_longer_hooked = false;
	fkt_tracepoints_detach(fkt_longer_points, ARRAY_SIZE(fkt_longer_points));
}

const struct fkt_provider fkt_provider_longer = {
	.name = "longer",
	.keys = ~0u,
	.spec_bytes = sizeof(struct fkt_longer_spec),
	.count_max = 1,
	.harmless = true,
	.begin = fkt_longer_start,
	.add = fkt_longer_add,
	.clear = fkt_longer_clear,
	.attach = fkt_longer_attach,
	.detach = fkt_longer_detach,
};

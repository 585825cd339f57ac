// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of lanes that overwrite: what they hold goes out while probes record on.
 *
 * Each lane is held, on its own CPU: it overwrites no more, and is the reader's like any other,
 * with more empty pages from the reserve. A fence says where the snapshot ends in it. The pages up
 * to there go out by flush.c, whose pages come back into the reserve; then the lanes are let go.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include "fkt.h"
#include "longer.h"

/* Empty pages that change hands at a time with interrupts off. */
#define FKT_SNAPSHOT_BATCH 256

/* Empty pages that a lane keeps of too many: more than probes that interrupt an interrupt begin. */
#define FKT_SNAPSHOT_KEEP  8

/* Give the lane up to @count empty pages of the reserve. The reader, or on its behalf. */
static void fkt_pool_feed(struct fkt_pool *pool, u32 count)
{
	struct fkt_buf *buf;

	while (count-- && (buf = list_first_entry_or_null(&pool->spare, struct fkt_buf, link))) {
		list_del_init(&buf->link);
		fkt_lane_queue(pool->lane, page_address(buf->page), buf);
	}
}

/* Pages that the output has let go of: back into the reserve. */
static void fkt_pool_regain(struct fkt_pool *pool)
{
	struct fkt_buf *buf, *next;

	/* See fkt_buffer_reclaim(). */
	list_for_each_entry_safe(buf, next, &pool->out, link) {
		if (page_ref_count(buf->page) != 1)
			continue;
		list_move_tail(&buf->link, &pool->spare);
		pool->out_count--;
	}
}

/* The pages that the lane has, empty or not. The reader: probes make empty ones full. */
static u32 fkt_pool_in_lane(const struct fkt_pool *pool)
{
	return pool->lane->limit - pool->lane->tail;
}

/* Whether the lane has pages, and overwrites. */
static bool fkt_pool_overwrites(const struct fkt_pool *pool)
{
	return pool->pages && !pool->held;
}

static void fkt_pool_hold(struct fkt_pool *pool)
{
	if (!fkt_lane_hold(pool->lane))
		return;
	fkt_pool_feed(pool, FKT_SNAPSHOT_BATCH);
	fkt_lane_fence(pool->lane, false);
	pool->lost_end = pool->lane->fence_lost;
	pool->held = true;
}

static bool fkt_pool_is_held(const struct fkt_pool *pool)
{
	return pool->held;
}

/*
 * Let the lane overwrite again, when it has no more pages than in the beginning: empty ones go
 * back, and where it is full of what was recorded since, the oldest go. Some at a time.
 */
static void fkt_pool_let_go(struct fkt_pool *pool)
{
	const u32 keep = min_t(u32, pool->initial / 2, FKT_SNAPSHOT_KEEP);
	struct fkt_buf *buf;
	u32 count;

	for (count = 0; count < FKT_SNAPSHOT_BATCH; count++) {
		buf = NULL;
		if (fkt_pool_in_lane(pool) > pool->initial)
			buf = fkt_lane_queued(pool->lane) > keep
				      ? fkt_lane_unqueue(pool->lane)
				      : fkt_lane_forget(pool->lane, U64_MAX);
		if (!buf) {
			if (!fkt_pool_is_short(&fkt_session, pool))
				fkt_lane_release(pool->lane);
			pool->held = false;
			return;
		}
		list_add(&buf->link, &pool->spare);
	}
}

/* What to do, and to which lanes. */
struct fkt_lanes_do {
	struct fkt_session *s;
	bool (*which)(const struct fkt_pool *pool);
	void (*what)(struct fkt_pool *pool);
};

static bool fkt_lanes_chosen(int cpu, void *data)
{
	const struct fkt_lanes_do *todo = data;

	return todo->which(&todo->s->pools[cpu]);
}

static void fkt_lanes_here(void *data)
{
	const struct fkt_lanes_do *todo = data;

	todo->what(&todo->s->pools[smp_processor_id()]);
}

/*
 * Do something to the lanes that are to have it done, until there is none: each on its own CPU with
 * interrupts off, or here where that CPU is not there, and no probe can run. Holding
 * fkt_snapshot_lock().
 */
static void fkt_lanes_do(struct fkt_session *s, bool (*which)(const struct fkt_pool *pool),
			 void (*what)(struct fkt_pool *pool))
{
	struct fkt_lanes_do todo = { .s = s, .which = which, .what = what };
	bool again;
	u32 i;

	do {
		again = false;
		on_each_cpu_cond(fkt_lanes_chosen, fkt_lanes_here, &todo, true);
		for (i = 0; i < s->pools_count; i++) {
			if (!cpu_online(i) && which(&s->pools[i]))
				what(&s->pools[i]);
			again |= which(&s->pools[i]);
		}
	} while (again);
}

/*
 * The session's lock, no CPU that comes or goes, and the reader's mutex. The locks come in this
 * order: a CPU that comes takes the last one.
 */
static int fkt_snapshot_lock(struct fkt_session *s)
{
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	cpus_read_lock();
	mutex_lock(&s->stream.reader);
	return 0;
}

static void fkt_snapshot_unlock(struct fkt_session *s)
{
	mutex_unlock(&s->stream.reader);
	cpus_read_unlock();
	mutex_unlock(&s->lock);
}

static int fkt_snapshot_may_begin(const struct fkt_session *s, u64 generation)
{
	if (!generation || s->generation != generation || s->state != FKT_STATE_RECORDING)
		return -ENODEV;
	if (!fkt_overwrites(s) || fkt_has_output(s))
		return -EINVAL;
	return s->stream.snapshot ? -EBUSY : 0;
}

/* The stamp up to which the snapshot that is being taken has all events. */
static u64 fkt_snapshot_stop(const struct fkt_session *s)
{
	u64 stop = fkt_stamp(fkt_clock(true));
	u32 i;

	for (i = 0; i < s->pools_count; i++)
		if (s->pools[i].held)
			stop = min(stop, s->pools[i].lane->fence_end);
	return stop;
}

/* Give all of the reserve to the lanes: to each a part of its own, and then another one. */
static void fkt_snapshot_feed(struct fkt_session *s)
{
	bool again;
	u32 i;

	do {
		again = false;
		for (i = 0; i < s->pools_count; i++) {
			if (!s->pools[i].held)
				continue;
			fkt_pool_feed(&s->pools[i], FKT_SNAPSHOT_BATCH);
			again |= !list_empty(&s->pools[i].spare);
		}
		cond_resched();
	} while (again);
}

/**
 * fkt_snapshot_begin - let what the lanes hold go out
 * @s: the session
 * @generation: the recording's number
 * @snapshot: its id, and what is wanted; receives where it ends
 *
 * Context: process; may sleep.
 * Return: 0, or a negative errno value, see FKT_SNAPSHOT.
 */
int fkt_snapshot_begin(struct fkt_session *s, u64 generation, struct fkt_snapshot *snapshot)
{
	struct fkt_pool *pool;
	struct fkt_buf *buf;
	int ret;
	u32 i;

	ret = fkt_snapshot_lock(s);
	if (ret)
		return ret;
	ret = fkt_snapshot_may_begin(s, generation);
	if (ret)
		goto out_unlock;
	/* Whoever asks what goes on wants to know of what does not end. */
	if (fkt_on_for_all(~0u))
		fkt_longer_tell_open(fkt_stamp(fkt_clock(true)));
	fkt_programs_tell();
	fkt_stream_begin(s, snapshot->id);
	WRITE_ONCE(s->stream.snapshot, true);
	s->skipped_end = atomic64_read(&s->skipped);
	for (i = 0; i < s->pools_count; i++) {
		fkt_pool_regain(&s->pools[i]);
		s->pools[i].lost_end = READ_ONCE(s->pools[i].lane->lost);
	}
	fkt_lanes_do(s, fkt_pool_overwrites, fkt_pool_hold);
	snapshot->stop_cycles = fkt_snapshot_stop(s);
	/* Whoever takes the snapshot may take its time. */
	fkt_snapshot_feed(s);
	for (i = 0; i < s->pools_count; i++) {
		pool = &s->pools[i];
		while (pool->held && fkt_lane_before_fence(pool->lane) &&
		       (buf = fkt_lane_forget(pool->lane, snapshot->from_cycles))) {
			list_add_tail(&buf->link, &pool->spare);
			cond_resched();
		}
	}
out_unlock:
	fkt_snapshot_unlock(s);
	return ret;
}

/**
 * fkt_snapshot_has - whether the lane's oldest page belongs to the snapshot that is being taken
 * @s: the session, recording
 * @pool: the lane's pool
 * Context: the reader, or one who only wants a hint.
 */
bool fkt_snapshot_has(const struct fkt_session *s, const struct fkt_pool *pool)
{
	return s->stream.snapshot && pool->held && fkt_lane_before_fence(pool->lane);
}

/**
 * fkt_snapshot_is_out - whether all pages of the snapshot that is being taken have gone out
 * @s: the session
 * Context: the reader.
 */
bool fkt_snapshot_is_out(const struct fkt_session *s)
{
	u32 i;

	if (!s->stream.snapshot)
		return false;
	for (i = 0; i < s->pools_count; i++)
		if (fkt_snapshot_has(s, &s->pools[i]))
			return false;
	return true;
}

/*
 * A lane needs an empty page more than it keeps, or pages to overwrite. False while the output
 * holds on to all.
 */
static bool fkt_snapshot_may_end(struct fkt_session *s)
{
	struct fkt_pool *pool;
	struct fkt_buf *buf;
	u32 i, there;

	for (i = 0; i < s->pools_count; i++) {
		pool = &s->pools[i];
		if (!pool->held)
			continue;
		fkt_pool_regain(pool);
		there = fkt_pool_in_lane(pool);
		list_for_each_entry(buf, &pool->spare, link)
			if (there++ > FKT_OVERWRITE_PAGES)
				break;
		if (pool->out_count && there <= FKT_OVERWRITE_PAGES)
			return false;
	}
	return true;
}

/* What went out is used up, or lost: @pool begins anew, with as many pages as in the beginning. */
static void fkt_pool_restart(struct fkt_pool *pool, bool used)
{
	if (pool->held) {
		fkt_lane_restart(pool->lane, used, pool->events);
		if (fkt_pool_in_lane(pool) < pool->initial)
			fkt_pool_feed(pool, pool->initial - fkt_pool_in_lane(pool));
	}
	if (used)
		pool->lost_before = pool->lost_end;
}

/**
 * fkt_snapshot_end - the lanes overwrite again
 * @s: the session
 * @generation: the recording's number
 * @used: what went out is used up; false: it has not come to where it was to go
 *
 * Context: process; may sleep, until the output has let go of a few pages, where there is no
 * reserve.
 * Return: 0, -ENODEV when no snapshot is being taken, -ERESTARTSYS on a signal.
 */
int fkt_snapshot_end(struct fkt_session *s, u64 generation, bool used)
{
	int ret;
	u32 i;

	for (;;) {
		ret = fkt_snapshot_lock(s);
		if (ret)
			return ret;
		if (!generation || s->generation != generation || !s->stream.snapshot) {
			fkt_snapshot_unlock(s);
			return -ENODEV;
		}
		if (fkt_snapshot_may_end(s))
			break;
		fkt_snapshot_unlock(s);
		if (schedule_timeout_interruptible(1) && signal_pending(current))
			return -ERESTARTSYS;
	}
	used &= fkt_snapshot_is_out(s);
	if (used) {
		s->skipped_before = s->skipped_end;
		s->start_cycles = fkt_snapshot_stop(s);
	}
	for (i = 0; i < s->pools_count; i++)
		fkt_pool_restart(&s->pools[i], used);
	fkt_stream_begin(s, s->conf.id);
	fkt_lanes_do(s, fkt_pool_is_held, fkt_pool_let_go);
	WRITE_ONCE(s->stream.snapshot, false);
	fkt_snapshot_unlock(s);
	return 0;
}

/**
 * fkt_snapshot_service - keep a lane in pages while its snapshot goes out
 * @pool: the lane's pool
 * Context: the reader.
 */
void fkt_snapshot_service(struct fkt_pool *pool)
{
	u32 queued;

	if (!pool->held)
		return;
	fkt_pool_regain(pool);
	queued = fkt_lane_queued(pool->lane);
	if (queued < FKT_SNAPSHOT_BATCH)
		fkt_pool_feed(pool, FKT_SNAPSHOT_BATCH - queued);
}

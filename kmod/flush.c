// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way out: whole pages go to the output by reference, through splice_read (paper, §2 and §5),
 * on behalf of the flush thread, or of any program that calls sendfile(2) or splice(2) on /dev/fkt.
 */
#include <linux/anon_inodes.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/splice.h>
#include "compat.h"
#include "fkt.h"

static DEFINE_PER_CPU(bool, fkt_kicking);

/**
 * fkt_lane_kick - there are pages to take
 * @lane: the lane
 *
 * Context: any, from inside a probe, preemption off. Waking a thread takes locks that the probed
 * code may hold: the interrupt that irq_work raises does it (the paper's softirq bit, §4). The
 * functions that raise it may be traced themselves: they do not kick again. A CPU that is going
 * leaves it to fkt_session_cpu_gone().
 */
void fkt_lane_kick(struct fkt_lane *lane)
{
	if (this_cpu_read(fkt_kicking) || !fkt_irq_work_runs())
		return;
	this_cpu_write(fkt_kicking, true);
	barrier(); /* partner: a probe that runs inside irq_work_queue(), on this CPU */
	irq_work_queue(&fkt_session.stream.kick);
	barrier();
	this_cpu_write(fkt_kicking, false);
}

static void fkt_index_free(struct fkt_session *s)
{
	if (s->stream.index)
		put_page(virt_to_page(s->stream.index));
	s->stream.index = NULL;
}

/**
 * fkt_stream_begin - what goes out from here on is a trace of its own
 * @s: the session
 * @id: its random number
 * Context: the reader.
 */
void fkt_stream_begin(struct fkt_session *s, const u8 *id)
{
	u32 i;

	fkt_index_free(s);
	memcpy(s->stream.id, id, sizeof(s->stream.id));
	s->stream.eof = false;
	s->stream.index_seq = 0;
	s->stream.max_end = 0;
	s->stream.events = 0;
	s->stream.pages_out = 0;
	WRITE_ONCE(s->stream.bytes, 0);
	s->stream.handed_count = 0;
	for (i = 0; i < s->pools_count; i++) {
		WRITE_ONCE(s->pools[i].events, 0);
		WRITE_ONCE(s->pools[i].pages_out, 0);
		WRITE_ONCE(s->pools[i].discarded, 0);
	}
}

/* Clean the counters of what went out; the pages themselves are buffer.c's. */
void fkt_stream_reset(struct fkt_session *s)
{
	s->stream.kicked = false;
	s->stream.stop = false;
	s->stream.snapshot = false;
	s->stream.limit_pages = s->conf.limit_bytes / FKT_PAGE_BYTES;
	s->stream.limit_at = 0;
	s->stream.limit_reached = false;
	fkt_stream_begin(s, s->conf.id);
	s->stream.pauses_told = 0;
	s->stream.pauses_logged = 0;
	s->stream.mark_due = jiffies + msecs_to_jiffies(s->conf.flush_ms);
	s->stream.fence_due = jiffies;
}

static struct fkt_index *fkt_page_index(struct fkt_page_header *header)
{
	return (struct fkt_index *)(header + 1);
}

/*
 * A page for the index, or for a mark. Nobody holds on to it but the output: it is freed when that
 * lets go.
 */
static struct fkt_page_header *fkt_index_new(struct fkt_session *s)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	struct fkt_page_header *header;

	if (!page)
		return NULL;
	header = page_address(page);
	header->magic = FKT_PAGE_MAGIC;
	header->lane = FKT_LANE_INDEX;
	header->cpu = FKT_CPU_ANY;
	header->used =
		sizeof(*header) + sizeof(struct fkt_index) - sizeof_field(struct fkt_index, entry);
	memcpy(header->id, s->stream.id, sizeof(header->id));
	fkt_page_index(header)->events_before = s->stream.events;
	return header;
}

/*
 * The stamp up to which all events have been handed out. A probe may be between its clock and its
 * slot, in a lane that looks empty as in any other, and nobody knows for how long: only what a lane
 * itself says counts. Where no probe can run, now is as good: on a CPU that is not there (one that
 * comes waits for the reader first), and in the end.
 */
static u64 fkt_stream_complete(struct fkt_session *s)
{
	const bool probes = fkt_state_now(s) != FKT_STATE_DRAINING;
	u64 complete = fkt_stamp(fkt_clock(true));
	u32 i;

	for (i = 0; i < s->pools_count; i++) {
		struct fkt_pool *pool = &s->pools[i];

		if ((probes && pool->present) || fkt_lane_pending(pool->lane))
			complete = min(complete, fkt_lane_complete(pool->lane));
	}
	return complete;
}

/* The next page of the stream is to be the index of those before it. */
static bool fkt_index_due(const struct fkt_session *s)
{
	return s->stream.index && s->stream.index->events == FKT_INDEX_ENTRIES;
}

static void fkt_index_finish(struct fkt_session *s, struct fkt_page_header *header)
{
	header->seq = ++s->stream.index_seq;
	fkt_page_index(header)->complete = fkt_stream_complete(s);
	fkt_page_index(header)->max_end = s->stream.max_end;
}

/* Whether the lane's oldest page may go out. */
static bool fkt_pool_ready(const struct fkt_session *s, const struct fkt_pool *pool)
{
	if (fkt_overwrites(s) && fkt_state_now(s) == FKT_STATE_RECORDING &&
	    !fkt_snapshot_has(s, pool))
		return false;
	return fkt_lane_ready(pool->lane);
}

/*
 * Whether the page that follows in memory on the one handed out last is next in its lane:
 * consecutive pages make large writes (§3). A run is short enough that pages still come about in
 * the order in which they were finished.
 */
static bool fkt_stream_run_goes_on(struct fkt_session *s)
{
	struct fkt_lane *lane;

	if (!s->stream.run_pool || s->stream.run_pages == FKT_RUN_PAGES)
		return false;
	lane = s->stream.run_pool->lane;
	return fkt_pool_ready(s, s->stream.run_pool) &&
	       fkt_entry_page(fkt_ring_entry(lane, lane->tail)) == s->stream.run_next;
}

/*
 * Whether pages go out in the order in which they were begun: when all are closed, and there may
 * not be room for all of them. What does not go out is then later, on any CPU, than the beginning
 * of each page that does, however long that was open.
 */
static bool fkt_stream_by_begin(const struct fkt_session *s)
{
	return s->stream.limit_pages && fkt_state_now(s) == FKT_STATE_DRAINING;
}

/*
 * The page that is to go out next, of those that are whole: the one that was finished first, or,
 * see above, begun first.
 */
static struct fkt_pool *fkt_stream_oldest(struct fkt_session *s)
{
	const bool by_begin = fkt_stream_by_begin(s);
	const struct fkt_page_header *header;
	struct fkt_pool *oldest = NULL;
	u64 stamp, oldest_stamp = U64_MAX;
	u32 i;

	for (i = 0; i < s->pools_count; i++) {
		struct fkt_lane *lane = s->pools[i].lane;

		if (!fkt_pool_ready(s, &s->pools[i]))
			continue;
		header = fkt_entry_page(fkt_ring_entry(lane, lane->tail));
		stamp = by_begin ? header->first : header->end;
		if (stamp <= oldest_stamp) {
			oldest_stamp = stamp;
			oldest = &s->pools[i];
		}
	}
	return oldest;
}

/* Count a page that goes out, and put it into the index. */
static void fkt_stream_account(struct fkt_session *s, struct fkt_pool *pool,
			       const struct fkt_page_header *header)
{
	struct fkt_index_entry *entry;

	s->stream.pages_out++;
	if (fkt_has_output(s)) {
		s->stream.handed[s->stream.handed_count].pool = pool;
		s->stream.handed[s->stream.handed_count].events = pool ? header->events : 0;
		s->stream.handed_count++;
	}
	if (header == s->stream.index)
		return;
	entry = &fkt_page_index(s->stream.index)->entry[s->stream.index->events++];
	s->stream.index->used += sizeof(*entry);
	entry->first = header->first;
	entry->end = header->end;
	entry->lane = header->lane;
	entry->cpu = header->cpu;
	if (!pool)
		return;
	entry->events = header->events;
	s->stream.max_end = max(s->stream.max_end, header->end);
	s->stream.events += header->events;
	pool->events += header->events;
	pool->pages_out++;
	fkt_pool_tell(FKT_CODE_SUBMIT, pool, header->seq);
}

/**
 * struct fkt_chunk - pages that stand one behind the other in memory, on their way to the output
 * @page: the first one, with a reference for the output
 * @count: how many
 */
struct fkt_chunk {
	struct page *page;
	u32 count;
};

/* The index page is full: it goes out itself. The output gets its only reference. */
static void fkt_stream_take_index(struct fkt_session *s, struct fkt_chunk *chunk)
{
	struct fkt_page_header *header = s->stream.index;

	fkt_index_finish(s, header);
	fkt_stream_account(s, NULL, header);
	s->stream.index = NULL;
	s->stream.run_pool = NULL;
	chunk->page = virt_to_page(header);
	chunk->count = 1;
}

/*
 * The next page of the stream: an index page where one is due, else the oldest whole page. It goes
 * into chunk[count], or into the chunk before where it continues that. Returns the number of
 * chunks, as before when there is no page, or -ENOMEM without memory for an index page. Lanes'
 * pages go to their pool's list of those that are out, to be taken back when the output has let go.
 */
static int fkt_stream_next(struct fkt_session *s, struct fkt_chunk *chunk, int count)
{
	struct fkt_page_header *header;
	struct fkt_pool *pool;
	struct fkt_buf *buf;
	bool run;
	void *handle;

	if (fkt_index_due(s)) {
		fkt_stream_take_index(s, &chunk[count]);
		return count + 1;
	}
	run = count && fkt_stream_run_goes_on(s);
	pool = run ? s->stream.run_pool : fkt_stream_oldest(s);
	if (!pool)
		return count;
	if (!s->stream.index) {
		s->stream.index = fkt_index_new(s);
		if (!s->stream.index)
			return -ENOMEM;
	}
	header = fkt_lane_take(pool->lane, &handle);
	buf = handle;
	memcpy(header->id, s->stream.id, sizeof(header->id));
	/* Of the page's former use, which may have been a recording of somebody who may do more. */
	memset((void *)header + header->used, 0, FKT_PAGE_BYTES - header->used);
	header->lost -= pool->lost_before;
	fkt_stream_account(s, pool, header);
	list_add_tail(&buf->link, &pool->out);
	pool->out_count++;

	s->stream.run_next = (void *)header + FKT_PAGE_BYTES;
	if (run) {
		s->stream.run_pages++;
		chunk[count - 1].count++;
		return count;
	}
	s->stream.run_pool = s->stream.runs && !fkt_stream_by_begin(s) ? pool : NULL;
	s->stream.run_pages = 1;
	get_page(buf->page);
	chunk[count].page = buf->page;
	chunk[count].count = 1;
	return count + 1;
}

/* A mark tells a reader who follows the stream how far it is complete; its place is in no grid. */
static int fkt_stream_mark(struct fkt_session *s, struct fkt_chunk *chunk, int count)
{
	struct fkt_page_header *header;

	if (!s->stream.index)
		s->stream.index = fkt_index_new(s);
	header = s->stream.index ? fkt_index_new(s) : NULL;
	if (!header)
		return -ENOMEM;
	fkt_index_finish(s, header);
	fkt_stream_account(s, NULL, header);
	s->stream.run_pool = NULL;
	chunk[count].page = virt_to_page(header);
	chunk[count].count = 1;
	return count + 1;
}

/**
 * fkt_stream_ready - whether there is something to hand out
 * @s: the session
 * Context: the reader, or one who only wants a hint.
 */
bool fkt_stream_ready(struct fkt_session *s)
{
	u32 i;

	for (i = 0; i < s->pools_count; i++)
		if (fkt_pool_ready(s, &s->pools[i]))
			return true;
	return false;
}

static void fkt_fence_here(void *unused)
{
	fkt_lane_fence(this_cpu_read(fkt_lane), false);
}

static bool fkt_fence_any(int cpu, void *s)
{
	return true;
}

/* Nothing is in this lane, and it holds the others back. */
static bool fkt_fence_silent(int cpu, void *s)
{
	struct fkt_lane *lane = ((struct fkt_session *)s)->pools[cpu].lane;

	return FKT_HEAD_OFFSET(READ_ONCE(lane->head)) == FKT_HEAD_CLOSED && !fkt_lane_pending(lane);
}

/*
 * Close the pages that are partly filled, and move the heads of lanes where there are none, each on
 * its own CPU: it is the interrupt that comes between a probe's clock and its slot that makes the
 * probe read the clock again. Of the CPUs that @which chooses.
 */
static void fkt_stream_fence(struct fkt_session *s, bool (*which)(int cpu, void *s))
{
	u32 i;

	if (fkt_shared(s)) {
		if (which(0, s))
			fkt_lane_fence(s->pools[0].lane, true);
		return;
	}
	/* A CPU on its way here waits for the reader's mutex: do not wait for it in turn. */
	if (!cpus_read_trylock())
		return;
	on_each_cpu_cond(which, fkt_fence_here, s, true);
	for (i = 0; i < s->pools_count; i++)
		if (!cpu_online(i) && which(i, s))
			fkt_lane_fence(s->pools[i].lane, false); /* no probe runs there */
	cpus_read_unlock();
}

/**
 * fkt_stream_pause_untold - whether a pause has not been brought into the trace
 * @s: the session
 * Context: the reader.
 */
bool fkt_stream_pause_untold(const struct fkt_session *s)
{
	return atomic_read(&s->stream.pauses) != s->stream.pauses_told;
}

/**
 * fkt_stream_tell_pause - bring a pause (§8.1) into the log and the trace
 * @s: the session
 *
 * Context: the reader; recording, for the event may begin a page.
 * Return: whether no pause is untold: of one for whose event there is no room it is said later.
 */
bool fkt_stream_tell_pause(struct fkt_session *s)
{
	const u32 pauses = atomic_read(&s->stream.pauses);
	u64 at;

	/* The count as it was read: one that strikes since is told next time. */
	if (pauses == s->stream.pauses_told)
		return true;
	smp_rmb(); /* partner: the barrier in fkt_lane_full() */
	at = s->stream.paused_at;
	if (pauses != s->stream.pauses_logged)
		pr_warn("fkt: no page free in lane %u: recording paused; set the mask again to go on (fkt_setmask)\n",
			s->stream.paused_lane);
	s->stream.pauses_logged = pauses;
	preempt_disable_notrace();
	if (fkt_lane_try_record(fkt_shared(s) ? s->pools[0].lane : this_cpu_read(fkt_lane),
				FKT_TAG(FKT_CODE_PAUSE, 1, s->stream.paused_lane), 1, &at,
				fkt_shared(s)))
		s->stream.pauses_told = pauses;
	preempt_enable_notrace();
	return pauses == s->stream.pauses_told;
}

/* Whoever began the recording may make no file as large (RLIMIT_FSIZE). */
static bool fkt_too_large(struct fkt_session *s)
{
	return s->output.pos + (s->stream.pages_out + 1) * FKT_PAGE_BYTES > s->output.max;
}

/*
 * What the size limit leaves, in pages, when all that the lanes hold by now has gone out: pages
 * that are whole, pages that are partly filled, and the index pages that are due on the way.
 */
static u64 fkt_limit_left(struct fkt_session *s)
{
	const u64 entries = s->stream.index ? s->stream.index->events : 0;
	u64 held = 0, needed;
	u32 i;

	for (i = 0; i < s->pools_count; i++)
		held += fkt_lane_filling(s->pools[i].lane);
	needed = s->stream.pages_out + held + (entries + held) / FKT_INDEX_ENTRIES;
	return s->stream.limit_pages > needed ? s->stream.limit_pages - needed : 0;
}

/**
 * fkt_stream_limit_near - let lanes kick the more often, the less is left of the size limit
 * @s: the session
 *
 * So that the reader hears of the limit before much has been recorded that it has no room for: all
 * lanes together fill no more than half of what is left until one of them kicks.
 *
 * Context: the reader.
 */
void fkt_stream_limit_near(struct fkt_session *s)
{
	u64 left, lanes = 0;
	u32 i;

	if (!s->stream.limit_pages)
		return;
	for (i = 0; i < s->pools_count; i++)
		lanes += s->pools[i].present;
	left = div64_u64(fkt_limit_left(s), 2 * max(lanes, 1ull));
	for (i = 0; i < s->pools_count; i++)
		fkt_lane_kick_every(s->pools[i].lane,
				    clamp_t(u64, left, 1, fkt_kick_pages(&s->pools[i])));
}

/*
 * The lanes hold all that the limit has room for: the recording ends, on all CPUs, at this moment.
 * What is recorded until they hear of it goes out where there is room for it, and is counted as
 * discarded where there is none.
 */
static void fkt_limit_end(struct fkt_session *s)
{
	s->stream.limit_at = fkt_stamp(fkt_clock(true));
	WRITE_ONCE(s->stream.limit_reached, true);
	smp_mb(); /* partner: that in fkt_session_write_mask() */
	fkt_mask_off();
	WRITE_ONCE(s->stream.stop, true);
}

/* Whether the size limit lets no page go out: until the probes have stopped, or at all. */
static bool fkt_limit_holds(struct fkt_session *s, bool draining)
{
	if (!s->stream.limit_pages)
		return false;
	if (!draining) {
		if (!s->stream.limit_reached && !fkt_limit_left(s))
			fkt_limit_end(s);
		return s->stream.limit_reached;
	}
	if (s->stream.pages_out < s->stream.limit_pages)
		return false;
	/* Also where the recording was stopped in another way. */
	if (fkt_stream_ready(s))
		WRITE_ONCE(s->stream.limit_reached, true);
	fkt_stream_discard(s);
	s->stream.eof = true;
	return true;
}

/*
 * Collect pages for the output: at most @room chunks, at most @pages pages. Returns the number of
 * chunks, -ENOMEM when there is no memory for an index page now, or -EFBIG when the file would
 * become too large. Zero does not mean the end: see s->stream.eof.
 */
static int fkt_stream_collect(struct fkt_session *s, struct fkt_chunk *chunk, int room, u64 pages)
{
	/* Partner: the release in fkt_session_stop_probes(). What is found after it is the rest. */
	bool draining = smp_load_acquire(&s->state) == FKT_STATE_DRAINING;
	const u64 end = s->stream.pages_out + pages;
	int count = 0, next;
	bool mark = false;
	u64 before;

	if (fkt_buffer_service(s))
		fkt_sync_request(s);
	if (fkt_overwrites(s) && !draining && !s->stream.snapshot)
		return 0;
	if (!draining)
		(void)fkt_stream_tell_pause(s);
	if (!draining)
		fkt_stream_limit_near(s);
	if (s->conf.flush_ms && time_after_eq(jiffies, s->stream.mark_due) && !draining) {
		s->stream.mark_due = jiffies + msecs_to_jiffies(s->conf.flush_ms);
		fkt_stream_fence(s, fkt_fence_any);
		mark = true;
	} else if (!s->conf.flush_ms && fkt_index_due(s) && !draining && !fkt_overwrites(s) &&
		   time_after_eq(jiffies, s->stream.fence_due)) {
		/* So that the index can say more than that nothing is known of a CPU. */
		s->stream.fence_due = jiffies + HZ;
		fkt_stream_fence(s, fkt_fence_silent);
	}
	s->stream.run_pool = NULL;
	while (count < room && s->stream.pages_out < end) {
		if (fkt_limit_holds(s, draining))
			break;
		if (fkt_too_large(s))
			return count ? count : -EFBIG;
		before = s->stream.pages_out;
		next = fkt_stream_next(s, chunk, count);
		if (next >= 0 && s->stream.pages_out == before && mark) {
			next = fkt_stream_mark(s, chunk, count);
			mark = false;
		}
		if (next < 0)
			return count ? count : next;
		count = next;
		if (s->stream.pages_out == before) {
			s->stream.eof = draining || fkt_snapshot_is_out(s);
			break;
		}
	}
	return count;
}

/**
 * fkt_stream_discard - take everything that is left and count it as not written
 * @s: the session
 * Context: draining, the reader.
 */
void fkt_stream_discard(struct fkt_session *s)
{
	struct fkt_page_header *header;
	struct fkt_pool *pool;
	struct fkt_buf *buf;
	void *handle;

	while ((pool = fkt_stream_oldest(s))) {
		header = fkt_lane_take(pool->lane, &handle);
		buf = handle;
		pool->discarded += header->events;
		list_add_tail(&buf->link, &pool->spare);
	}
	fkt_index_free(s);
}

static void fkt_spd_release(struct splice_pipe_desc *spd, unsigned int i)
{
	put_page(spd->pages[i]);
}

static bool fkt_wait_over(struct fkt_session *s)
{
	return READ_ONCE(s->stream.kicked) || READ_ONCE(s->stream.stop);
}

/* How long to wait for a kick before having a look without one. */
static unsigned long fkt_wait_jiffies(struct fkt_session *s)
{
	unsigned long wait = msecs_to_jiffies(FKT_POLL_MS);

	if (s->stream.snapshot)
		return 1; /* a probe is about to leave a page */
	if (s->conf.flush_ms) {
		long due = s->stream.mark_due - jiffies;

		wait = clamp_t(long, due, 1, wait);
	}
	return wait;
}

/*
 * How many pages a call of splice may take.
 *
 * Splice never asks for more pages than the pipe has buffers. Those of the flush thread hold
 * several: it takes all that its call may still hand out. That is more than @len, and not more than
 * splice_direct_to_actor() is still to move, which goes by what it gets.
 */
static u64 fkt_splice_pages(const struct fkt_session *s, const struct file *in, size_t len)
{
	return in == s->output.source ? FKT_HANDED_PAGES - s->stream.handed_count
				      : len / FKT_PAGE_BYTES;
}

/*
 * How many buffers a pipe takes; what is taken out of a lane must find room: it can't be put back.
 */
static int fkt_splice_room(const struct pipe_inode_info *pipe)
{
	int room = (int)pipe->max_usage - (int)pipe_occupancy(pipe->head, pipe->tail);

	room = min(room, FKT_PIPE_BUFFERS);
	if (room <= 0)
		return -EAGAIN;
	if (!pipe->readers) {
		send_sig(SIGPIPE, current, 0);
		return -EPIPE;
	}
	return room;
}

/**
 * fkt_is_readers - whether the lanes are those of a recording, and its pages may be taken
 * @s: the session
 * @generation: the recording's number
 *
 * Between recordings lanes are made and freed under the session's lock alone.
 *
 * Context: the reader: it stays so for as long.
 */
bool fkt_is_readers(const struct fkt_session *s, u64 generation)
{
	return s->generation == generation && fkt_state_now(s) != FKT_STATE_IDLE;
}

/*
 * Take pages of a recording, at most @pages in at most @room chunks, as soon as there are any.
 * Returns the number of chunks, 0 at the recording's end, -EAGAIN where nobody waits and there are
 * none, or another error.
 */
static int fkt_splice_take(struct fkt_session *s, u64 generation, struct fkt_chunk *chunk, int room,
			   u64 pages, bool waits)
{
	bool over, ends;
	unsigned long wait;
	long ret;
	int count;

	for (;;) {
		if (mutex_lock_interruptible(&s->stream.reader))
			return -ERESTARTSYS;
		if (!fkt_is_readers(s, generation)) {
			mutex_unlock(&s->stream.reader);
			return 0;
		}
		WRITE_ONCE(s->stream.kicked, false);
		count = fkt_stream_collect(s, chunk, room, pages);
		if (count > 0)
			WRITE_ONCE(s->stream.bytes, s->stream.pages_out * FKT_PAGE_BYTES);
		over = s->stream.eof;
		ends = s->stream.limit_reached && !fkt_has_output(s) &&
		       fkt_state_now(s) == FKT_STATE_RECORDING;
		wait = fkt_wait_jiffies(s);
		mutex_unlock(&s->stream.reader);
		if (count || over)
			return count;
		/* Nobody else does it: a flush thread would. */
		if (ends) {
			if (mutex_lock_interruptible(&s->lock))
				return -ERESTARTSYS;
			fkt_session_stop_probes(s);
			mutex_unlock(&s->lock);
			continue;
		}
		if (!waits)
			return -EAGAIN;
		/* Without the reader's mutex: a CPU that comes does not wait for us. */
		if (READ_ONCE(s->stream.stop)) {
			/* Whoever set it is about to stop the probes; then there is an end. */
			if (schedule_timeout_interruptible(1) && signal_pending(current))
				return -ERESTARTSYS;
			continue;
		}
		ret = wait_event_interruptible_timeout(s->stream.reader_wait, fkt_wait_over(s),
						       wait);
		if (ret < 0)
			return ret;
	}
}

/* Put them into the pipe, whose they are then. */
static ssize_t fkt_splice_give(struct pipe_inode_info *pipe, const struct fkt_chunk *chunk,
			       int count)
{
	struct partial_page partial[FKT_PIPE_BUFFERS];
	struct page *first[FKT_PIPE_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages = first,
		.partial = partial,
		.nr_pages = count,
		.nr_pages_max = FKT_PIPE_BUFFERS,
		.ops = &nosteal_pipe_buf_ops,
		.spd_release = fkt_spd_release,
	};
	int i;

	for (i = 0; i < count; i++) {
		first[i] = chunk[i].page;
		partial[i].offset = 0;
		partial[i].len = chunk[i].count * FKT_PAGE_BYTES;
		partial[i].private = 0;
	}
	return splice_to_pipe(pipe, &spd);
}

/**
 * fkt_splice_read - hand whole pages of a recording to a pipe, by reference
 * @generation: the recording's number
 * @in: /dev/fkt, or the flush thread's own file
 * @pos: counted up, else without meaning
 * @pipe: where to; locked, or private to the caller, see splice_direct_to_actor()
 * @len: bytes wanted; whole pages only
 * @flags: SPLICE_F_NONBLOCK is honoured
 *
 * Blocks until there are pages, with the pipe's lock held, for splice(2) calls with it: whoever
 * reads from that pipe, or asks about it, waits as well. That can't be helped from here; it is not
 * longer than flush_ms, when a mark comes. Nothing of FKT's is held meanwhile.
 *
 * A page is the pipe's from splice_to_pipe() on. The flush thread, which writes to files and waits
 * until they are written, gets consecutive pages in one buffer: they are its own until it asks for
 * more. For everyone else a page is a buffer with a reference. The buffers have the kernel's own
 * operations, so a pipe, or a socket behind it, may keep our pages for as long as it likes, even
 * beyond this module: nothing of it is called when they are let go.
 *
 * Return: bytes, 0 at the recording's end, or a negative errno value.
 */
ssize_t fkt_splice_read(u64 generation, struct file *in, loff_t *pos, struct pipe_inode_info *pipe,
			size_t len, unsigned int flags)
{
	struct fkt_session *s = &fkt_session;
	struct fkt_chunk chunk[FKT_PIPE_BUFFERS];
	u64 pages = fkt_splice_pages(s, in, len);
	int room, count;
	ssize_t ret;

	if (!pages)
		return -EINVAL;
	room = fkt_splice_room(pipe);
	if (room < 0)
		return room;
	count = fkt_splice_take(s, generation, chunk, room, pages, !(flags & SPLICE_F_NONBLOCK));
	if (count <= 0)
		return count;
	ret = fkt_splice_give(pipe, chunk, count);
	if (ret > 0)
		*pos += ret;
	return ret;
}

/* The flush thread, whose recording ends no sooner than itself. */
static ssize_t fkt_stream_splice_read(struct file *in, loff_t *pos, struct pipe_inode_info *pipe,
				      size_t len, unsigned int flags)
{
	return fkt_splice_read(fkt_session.generation, in, pos, pipe, len, flags);
}

/* The file that the flush thread splices from: it outlives the recorder's, and pins the module. */
const struct file_operations fkt_stream_fops = {
	.owner = THIS_MODULE,
	.splice_read = fkt_stream_splice_read,
	.llseek = noop_llseek,
};

/*
 * The output took only @written bytes of what this call handed out: take the rest back from the
 * counts.
 */
static void fkt_flush_unwritten(struct fkt_session *s, u64 written)
{
	u32 i;

	mutex_lock(&s->stream.reader);
	for (i = written / FKT_PAGE_BYTES; i < s->stream.handed_count; i++) {
		struct fkt_handed *handed = &s->stream.handed[i];

		s->stream.pages_out--;
		if (!handed->pool)
			continue;
		handed->pool->pages_out--;
		handed->pool->events -= handed->events;
		handed->pool->discarded += handed->events;
	}
	WRITE_ONCE(s->stream.bytes, s->stream.pages_out * FKT_PAGE_BYTES);
	mutex_unlock(&s->stream.reader);
}

/* Whether somebody reads from the output at its other end, who may let us wait for ever. */
static bool fkt_output_has_reader(const struct file *out)
{
	const umode_t mode = file_inode(out)->i_mode;

	return (S_ISFIFO(mode) || S_ISSOCK(mode)) && out->f_op->poll;
}

/*
 * Wait until such an output takes a page, or an error of it can be had. Writing would wait as well,
 * but does not let itself be frozen; and whoever reads is frozen first when the machine falls
 * asleep.
 */
static void fkt_flush_wait_reader(struct file *out)
{
	const __poll_t wanted = EPOLLOUT | EPOLLERR | EPOLLHUP;
	struct poll_wqueues wait;

	poll_initwait(&wait);
	wait.pt._key = wanted;
	while (!(vfs_poll(out, &wait.pt) & wanted)) {
		wait.pt._qproc = NULL; /* it is in their queues by now */
		set_current_state(TASK_INTERRUPTIBLE);
		if (!READ_ONCE(wait.triggered))
			schedule();
		__set_current_state(TASK_RUNNING);
		smp_store_mb(wait.triggered, 0); /* partner: the barrier in pollwake() */
		try_to_freeze();
	}
	poll_freewait(&wait);
}

/*
 * Write all that the pipe holds. What did not go out is lost when this returns: an output that does
 * not wait (O_NONBLOCK, which anybody who shares the open file can set) is asked again until it has
 * taken everything; and one that took a part is asked for the rest, to hear why.
 */
static int fkt_flush_actor(struct pipe_inode_info *pipe, struct splice_desc *sd)
{
	struct fkt_session *s = sd->u.data;
	struct file *out = s->output.file;
	const bool has_reader = fkt_output_has_reader(out);
	size_t left = sd->total_len, now;
	ssize_t ret = 0;

	while (left) {
		/* Also while all that is left of a recording is written, which may take long. */
		try_to_freeze();
		now = left;
		if (has_reader) {
			fkt_flush_wait_reader(out);
			now = min_t(size_t, left, FKT_PAGE_BYTES);
		}
		file_start_write(out);
		if (out->f_op->splice_write)
			ret = out->f_op->splice_write(pipe, out, sd->opos, now, 0);
		else
			ret = iter_file_splice_write(pipe, out, sd->opos, now, 0);
		file_end_write(out);
		if (ret == -EAGAIN) {
			schedule_timeout_interruptible(1);
			continue;
		}
		if (ret <= 0)
			break;
		left -= ret;
	}
	if (left)
		s->output.write_error = ret ?: -EIO;
	return sd->total_len - left ?: ret;
}

/*
 * As do_splice_direct() from the stream, with the checks that any write has, and the actor above.
 */
static long fkt_flush_splice(struct fkt_session *s, loff_t *from, loff_t *to, size_t bytes)
{
	struct splice_desc sd = {
		.len = bytes,
		.total_len = bytes,
		.flags = SPLICE_F_NONBLOCK,
		.pos = *from,
		.u.data = s,
		.opos = to,
	};
	long ret;

	if (s->output.file->f_flags & O_APPEND)
		return -EINVAL;
	/* The security modules' say, too. */
	ret = rw_verify_area(WRITE, s->output.file, to, bytes);
	if (ret < 0)
		return ret;
	ret = splice_direct_to_actor(s->output.source, &sd, fkt_flush_actor);
	if (ret > 0)
		*from = sd.pos;
	return ret;
}

/*
 * One round: write what is ready. Returns 0, -EAGAIN when an index page could not be had now and
 * nothing is lost, or another negative errno value when the output failed.
 */
static int fkt_flush_once(struct fkt_session *s, loff_t *from)
{
	loff_t to = s->output.pos + s->stream.pages_out * FKT_PAGE_BYTES;
	u64 written = 0;
	long ret = 0;

	s->stream.handed_count = 0;
	while (s->stream.handed_count < FKT_HANDED_PAGES) {
		ret = fkt_flush_splice(
			s, from, &to, (FKT_HANDED_PAGES - s->stream.handed_count) * FKT_PAGE_BYTES);
		if (ret <= 0)
			break;
		written += ret;
		if (written < (u64)s->stream.handed_count * FKT_PAGE_BYTES)
			break;
	}
	if (written < (u64)s->stream.handed_count * FKT_PAGE_BYTES) {
		fkt_flush_unwritten(s, written);
		/* Also -ENOMEM, of the file system: these pages, and their index, are gone. */
		return s->output.write_error ?: ret < 0 ? ret : -EIO;
	}
	if (ret == -ENOMEM)
		return -EAGAIN;
	return ret == -EAGAIN || ret > 0 ? 0 : ret;
}

static int fkt_flush_thread(void *data)
{
	struct fkt_session *s = data;
	const struct cred *own = override_creds(s->output.cred);
	struct file *out = s->output.file;
	loff_t from = 0;
	int ret = 0;

	set_freezable(); /* no write to a disk whose image is on its way there */
	while (!READ_ONCE(s->stream.stop)) {
		wait_event_freezable_timeout(s->stream.reader_wait, fkt_wait_over(s),
					     fkt_wait_jiffies(s));
		try_to_freeze();
		ret = fkt_flush_once(s, &from);
		/* The tick adds to it. */
		WRITE_ONCE(s->output.flush_cpu_ns, READ_ONCE(current->se.sum_exec_runtime));
		if (ret == -EAGAIN)
			ret = 0; /* the next round may find the memory */
		if (ret)
			break;
	}

	mutex_lock(&s->lock);
	fkt_session_stop_probes(s);
	mutex_unlock(&s->lock);
	while (!ret && !s->stream.eof) {
		ret = fkt_flush_once(s, &from);
		if (ret == -EAGAIN) {
			schedule_timeout_uninterruptible(1);
			ret = 0;
		}
	}
	mutex_lock(&s->stream.reader);
	fkt_stream_discard(s);
	mutex_unlock(&s->stream.reader);
	WRITE_ONCE(s->output.error, -ret);
	ret = fkt_sync_finish(s);
	if (ret && !s->output.error)
		WRITE_ONCE(s->output.error, -ret);
	out->f_pos = s->output.pos + s->stream.bytes;

	/*
	 * Closed here and now, not when a kernel thread's fput() gets round to it: who stopped the
	 * recording may want to unmount, or to unload the module, at once.
	 */
	s->output.file = NULL;
	__fput_sync(s->output.source);
	s->output.source = NULL;
	__fput_sync(out);
	revert_creds(own);
	put_cred(s->output.cred);
	s->output.cred = NULL;

	mutex_lock(&s->lock);
	fkt_session_finish(s);
	mutex_unlock(&s->lock);
	module_put_and_kthread_exit(0);
	return 0;
}

/**
 * fkt_flush_start - start the flush thread
 * @s: the session; s->output.file is the thread's from here on
 *
 * The thread ends by itself, when s->stream.stop is set or the output fails; it then finishes the
 * session.
 *
 * Context: the session's lock.
 * Return: 0 or a negative errno value.
 */
int fkt_flush_start(struct fkt_session *s)
{
	struct task_struct *task;

	s->output.source = anon_inode_getfile("[fkt]", &fkt_stream_fops, s, O_RDONLY);
	if (IS_ERR(s->output.source))
		return PTR_ERR(s->output.source);
	s->output.source->f_mode |= FMODE_LSEEK; /* splice asks for it; noop_llseek answers */
	__module_get(THIS_MODULE); /* put by the thread as the last thing that it does */
	task = kthread_create(fkt_flush_thread, s, "fkt_flush");
	if (IS_ERR(task)) {
		module_put(THIS_MODULE);
		fput(s->output.source);
		s->output.source = NULL;
		return PTR_ERR(task);
	}
	s->output.flush_task = get_task_struct(task); /* put by fkt_flush_wait() */
	wake_up_process(task);
	return 0;
}

/**
 * fkt_flush_wait - wait until the flush thread of a recording that has ended is gone
 * @s: the session
 *
 * So that whoever stopped a recording can unload the module at once.
 *
 * Context: the session's lock, idle: the thread needs the lock no more; or module unload. May
 * sleep.
 */
void fkt_flush_wait(struct fkt_session *s)
{
	struct task_struct *task = xchg(&s->output.flush_task, NULL);

	if (!task)
		return;
	kthread_stop(task);
	put_task_struct(task);
}

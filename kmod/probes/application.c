// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that programs write themselves (paper, §B.5): what is in their lanes is taken, checked,
 * and recorded as told later, each with the stamp, CPU and thread that it is of.
 *
 * A lane is emptied every FKT_TAKE_MS, when its program asks for it because it is half full, when
 * the program goes, and when the recording ends. Nothing in it is believed: each word is read once,
 * and what is copied is checked. Threads and codes are those that the program was given.
 */
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>
#include "compat.h"
#include "fkt.h"
#include "program.h"

#define FKT_TAKE_MS	  10
/* An event that is not done so long after it was seen first is given up, to go on with others. */
#define FKT_STUCK_JIFFIES HZ

/* Why a program's lanes are emptied. */
enum fkt_take {
	FKT_TAKE_ON,   /* in between: what has no room in the trace stays */
	FKT_TAKE_GOES, /* the program goes */
	FKT_TAKE_END,  /* the recording ends: nobody writes any more, whatever the mask says */
};

/*
 * A recording that has the layer runs, since this stamp. Written with the programs' lock; a program
 * that is being emptied without that lock sees the end, or the end waits for the program's lock.
 */
static bool fkt_programs_recorded;
static u64 fkt_programs_since;
/* Events of programs that were recorded, and lost, in the running recording, or the last one. */
static atomic64_t fkt_programs_told;
static atomic64_t fkt_programs_lost;

static struct delayed_work fkt_programs_work;

static u64 *fkt_program_word(const struct fkt_program *p, u32 lane, u32 at)
{
	const u32 word = lane * FKT_USER_LANE_WORDS + at % FKT_USER_LANE_WORDS;

	return (u64 *)page_address(p->pages[word / (PAGE_SIZE / sizeof(u64))]) +
	       word % (PAGE_SIZE / sizeof(u64));
}

/* A number of the program's own that a thread can have; 0 stands for the process. */
static u32 fkt_program_number(const struct fkt_program *p, u32 thread)
{
	return thread > p->threads_room ? 0 : array_index_nospec(thread, p->threads_room + 1);
}

/* The thread with such a number. */
static struct pid *fkt_program_pid(const struct fkt_program *p, u32 thread)
{
	const u32 number = fkt_program_number(p, thread);

	return (number ? p->threads[number - 1] : NULL) ?: p->process;
}

/* What the filter says of a thread, as long as that is there; with the lock, and a filter. */
static void fkt_program_ask(struct fkt_program *p, u32 thread)
{
	const u32 number = fkt_program_number(p, thread);
	const enum fkt_filter_has has = fkt_filter_has(fkt_program_pid(p, number));

	if (has == FKT_FILTER_UNKNOWN)
		return;
	__set_bit(number, p->asked);
	__assign_bit(number, p->chosen, has == FKT_FILTER_HAS);
}

/**
 * fkt_program_ask_filter - have the filter say of a thread whether it is to be recorded
 * @p: the program, with its lock
 * @thread: the number of the thread
 *
 * It is asked while the thread is there, as its events are often taken when it has ended: then what
 * it said last still holds.
 *
 * Context: process.
 */
void fkt_program_ask_filter(struct fkt_program *p, u32 thread)
{
	if (READ_ONCE(fkt_programs_recorded))
		fkt_program_ask(p, thread);
}

/* Whether an event of a thread was to be recorded. */
static enum fkt_filter_has fkt_program_filter_has(struct fkt_program *p, u32 thread, u32 cpu)
{
	const u32 number = fkt_program_number(p, thread);

	if (!fkt_filter_has_cpu(cpu))
		return FKT_FILTER_HAS_NOT;
	fkt_program_ask(p, number);
	if (!test_bit(number, p->asked))
		return FKT_FILTER_UNKNOWN;
	return test_bit(number, p->chosen) ? FKT_FILTER_HAS : FKT_FILTER_HAS_NOT;
}

/* Record it, if it may be. False: not now. */
static bool fkt_told_record(u32 words, const u64 *args, u64 tag, enum fkt_take take)
{
	const bool shared = fkt_shared(&fkt_session);
	bool done;

	preempt_disable_notrace();
	done = take == FKT_TAKE_END || fkt_on_for_all(FKT_KEY_APPLICATION);
	if (done && take == FKT_TAKE_ON)
		done = fkt_lane_try_record(shared ? fkt_session.pools[0].lane
						  : this_cpu_read(fkt_lane),
					   tag, words, args, shared);
	else if (done)
		fkt_event_tag(tag, words, args);
	preempt_enable_notrace();
	return done;
}

/**
 * struct fkt_told - an event of a program, copied
 * @tag: see FKT_USER_TAG()
 * @stamp: the clock's reading
 * @arg: arguments
 */
struct fkt_told {
	u64 tag;
	u64 stamp;
	u64 arg[FKT_USER_ARGS_MAX];
};

/* Whether a program can have written this. @now was read after all of it had been reserved. */
static bool fkt_told_can_be(const struct fkt_program *p, const struct fkt_told *told, u64 now)
{
	const u32 code = FKT_USER_TAG_CODE(told->tag);

	if (FKT_USER_TAG_CPU(told->tag) >= nr_cpu_ids)
		return false;
	if (told->stamp < fkt_programs_since || told->stamp > now)
		return false;
	if (code == FKT_CODE_MARK)
		return true;
	return code >= FKT_CODE_PROGRAMS && code < FKT_CODE_PROGRAMS_END &&
	       test_bit((code - FKT_CODE_PROGRAMS) / 2, p->names);
}

/* False when there is no room for it now. */
static bool fkt_told_tell(const struct fkt_program *p, const struct fkt_told *told,
			  enum fkt_take take)
{
	struct pid *pid = fkt_program_pid(p, FKT_USER_TAG_THREAD(told->tag));
	const u32 words = FKT_USER_ARGS(told->tag), cpu = FKT_USER_TAG_CPU(told->tag);
	u64 args[FKT_TOLD_WORDS + FKT_USER_ARGS_MAX];
	bool done;
	u32 i;

	args[0] = told->stamp;
	args[1] = fkt_pair(FKT_USER_TAG_CODE(told->tag), pid_nr(pid));
	for (i = 0; i < words; i++)
		args[FKT_TOLD_WORDS + i] = told->arg[i];
	done = fkt_told_record(FKT_TOLD_WORDS + words, args,
			       FKT_TAG(FKT_CODE_TOLD, FKT_TOLD_WORDS + words, cpu), take);
	if (done) {
		atomic64_inc(&fkt_programs_told);
		if (FKT_USER_TAG_CODE(told->tag) != FKT_CODE_MARK)
			fkt_program_name_told(FKT_USER_TAG_CODE(told->tag));
	}
	return done;
}

/* Say how many events are missing of a lane. */
static void fkt_program_tell_lost(struct fkt_program *p, u32 lane, enum fkt_take take)
{
	struct fkt_user_lane *theirs = &fkt_program_head(p)->lane[lane];
	struct fkt_program_lane *own = &p->lane[lane];
	const u64 lost = READ_ONCE(theirs->lost), now = fkt_clock(true);
	/* A program may claim any number, but not that it could have tried so often. */
	const u64 more = min(lost - own->lost, (now - own->lost_at) / 4);
	u64 args[2];

	if (!more && !own->missing)
		return;
	args[0] = pid_nr(p->process);
	args[1] = more + own->missing;
	if (!fkt_told_record(ARRAY_SIZE(args), args,
			     FKT_TAG(FKT_CODE_APPLICATION_LOST, ARRAY_SIZE(args), 0), take) &&
	    take == FKT_TAKE_ON)
		return;
	atomic64_add(args[1], &fkt_programs_lost);
	own->missing = 0;
	own->lost = lost;
	own->lost_at = now;
}

/* @words are the program's again. */
static void fkt_lane_empty(struct fkt_program *p, u32 lane, u32 words)
{
	struct fkt_program_lane *own = &p->lane[lane];
	u32 i;

	/* What another event is written to is not to look like one that is done. */
	for (i = 0; i < words; i++)
		WRITE_ONCE(*fkt_program_word(p, lane, own->tail + i), 0);
	own->tail += words;
	own->stuck = false;
	/* Partner: the acquire in fkt_user_write(). */
	smp_store_release(&fkt_program_head(p)->lane[lane].tail, own->tail);
}

/* Forget all up to a head. */
static void fkt_lane_give_up(struct fkt_program *p, u32 lane, u64 head)
{
	struct fkt_program_lane *own = &p->lane[lane];
	const u32 words = min((u32)head - own->tail, FKT_USER_LANE_WORDS);

	own->missing += clamp_t(u32, (u32)(head >> 32) - own->taken, words > 0,
				words / FKT_USER_HEAD_WORDS);
	own->taken = head >> 32;
	fkt_lane_empty(p, lane, words);
	own->tail = (u32)head;
	smp_store_release(&fkt_program_head(p)->lane[lane].tail, own->tail); /* as above */
}

/* Whether an event that is not done is to be given up. */
static bool fkt_lane_is_stuck(struct fkt_program_lane *own, enum fkt_take take)
{
	if (!own->stuck)
		own->stuck_since = jiffies;
	own->stuck = true;
	return take != FKT_TAKE_ON || time_after(jiffies, own->stuck_since + FKT_STUCK_JIFFIES);
}

static void fkt_lane_take_told(struct fkt_program *p, u32 lane, enum fkt_take take)
{
	struct fkt_program_lane *own = &p->lane[lane];
	const u64 head = READ_ONCE(fkt_program_head(p)->lane[lane].head);
	const u64 now = fkt_stamp(fkt_clock(true));
	enum fkt_filter_has has;
	struct fkt_told told;
	u32 left, words, i;
	bool done;

	while ((left = (u32)head - own->tail)) {
		/* Partner of the acquire: the release in fkt_user_write(). */
		told.tag = smp_load_acquire(fkt_program_word(p, lane, own->tail));
		words = FKT_USER_HEAD_WORDS + FKT_USER_ARGS(told.tag);
		done = told.tag & FKT_USER_DONE &&
		       FKT_USER_TAG_LAP(told.tag) == FKT_USER_LAP(own->tail);
		if (!done && !fkt_lane_is_stuck(own, take))
			return;
		/* What has no length that can be, or has not said it, takes all with it. */
		if (left > FKT_USER_LANE_WORDS || words > left || !told.tag ||
		    FKT_USER_ARGS(told.tag) > FKT_USER_ARGS_MAX) {
			fkt_lane_give_up(p, lane, head);
			return;
		}
		told.stamp = fkt_stamp(READ_ONCE(*fkt_program_word(p, lane, own->tail + 1)) -
				       fkt_clock_zero);
		for (i = 0; i < words - FKT_USER_HEAD_WORDS; i++)
			told.arg[i] = READ_ONCE(
				*fkt_program_word(p, lane, own->tail + FKT_USER_HEAD_WORDS + i));
		has = fkt_program_filter_has(p, FKT_USER_TAG_THREAD(told.tag),
					     FKT_USER_TAG_CPU(told.tag));
		if (!done || !fkt_told_can_be(p, &told, now) || has == FKT_FILTER_UNKNOWN)
			own->missing++;
		else if (has == FKT_FILTER_HAS && !fkt_told_tell(p, &told, take))
			return;
		own->taken++;
		fkt_lane_empty(p, lane, words);
	}
}

/* Take what a program has written. With its lock. Without pages, it can have lost events alone. */
static void fkt_program_take(struct fkt_program *p, enum fkt_take take)
{
	u32 i;

	for (i = 0; i < p->lanes; i++) {
		if (p->pages)
			fkt_lane_take_told(p, i, take);
		fkt_program_tell_lost(p, i, take);
		cond_resched();
	}
}

/* What was written before belongs to no recording. With its lock. */
static void fkt_program_forget(struct fkt_program *p)
{
	struct fkt_user_lane *theirs;
	u32 i;

	for (i = 0; i < p->lanes; i++) {
		theirs = &fkt_program_head(p)->lane[i];
		if (p->pages)
			fkt_lane_give_up(p, i, READ_ONCE(theirs->head));
		p->lane[i].missing = 0;
		p->lane[i].lost = READ_ONCE(theirs->lost);
		p->lane[i].lost_at = fkt_clock(true);
	}
	bitmap_zero(p->asked, FKT_PROGRAM_THREADS_MAX + 1);
}

/**
 * fkt_program_comes - a program is about to write its first event
 * @p: the program
 *
 * Context: the programs' lock; may sleep.
 */
void fkt_program_comes(struct fkt_program *p)
{
	mutex_lock(&p->lock);
	fkt_program_forget(p);
	fkt_program_ask_filter(p, FKT_USER_THREAD_NONE);
	p->writes = true;
	mutex_unlock(&p->lock);
}

/* Remember which threads have ended, and where what they have written ends. With its lock. */
static void fkt_program_look_for_ended(struct fkt_program *p)
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < p->threads_room; i++) {
		if (!p->threads[i] || pid_task(p->threads[i], PIDTYPE_PID))
			continue;
		__set_bit(i, p->ended);
		p->ended_any = true;
	}
	rcu_read_unlock();
	/* Partner: the lock with which the kernel takes its pid from a thread that has ended. */
	smp_rmb();
	for (i = 0; i < p->lanes; i++)
		p->lane[i].ended_until = (u32)READ_ONCE(fkt_program_head(p)->lane[i].head);
}

/* Whether all is taken that these threads have written. With its lock. */
static bool fkt_program_ended_are_told(const struct fkt_program *p)
{
	u32 i;

	for (i = 0; i < p->lanes; i++)
		if ((s32)(p->lane[i].tail - p->lane[i].ended_until) < 0)
			return false;
	return true;
}

/**
 * fkt_program_free_numbers - take the numbers of threads that have ended from them
 * @p: the program, which has lanes
 *
 * An event has no more than the number, so first all is taken that they have written. What can't be
 * taken now keeps the numbers until the next call.
 *
 * Context: the program's @joining; may sleep.
 */
void fkt_program_free_numbers(struct fkt_program *p)
{
	u32 i;

	mutex_lock(&p->lock);
	if (!p->ended_any)
		fkt_program_look_for_ended(p);
	if (!p->ended_any)
		goto out_unlock;
	if (!READ_ONCE(fkt_programs_recorded))
		fkt_program_forget(p);
	else if (!fkt_program_ended_are_told(p))
		fkt_program_take(p, FKT_TAKE_ON);
	if (!fkt_program_ended_are_told(p))
		goto out_unlock;
	for_each_set_bit(i, p->ended, FKT_PROGRAM_THREADS_MAX)
	{
		put_pid(p->threads[i]);
		p->threads[i] = NULL;
	}
	bitmap_zero(p->ended, FKT_PROGRAM_THREADS_MAX);
	p->ended_any = false;
out_unlock:
	mutex_unlock(&p->lock);
}

/**
 * fkt_program_flush - take what a program has written: it asks for it
 * @p: the program
 *
 * Context: process; may sleep.
 */
void fkt_program_flush(struct fkt_program *p)
{
	if (!fkt_on_for_all(FKT_KEY_APPLICATION) || mutex_lock_killable(&p->lock))
		return;
	if (p->writes && READ_ONCE(fkt_programs_recorded))
		fkt_program_take(p, FKT_TAKE_ON);
	mutex_unlock(&p->lock);
}

/**
 * fkt_program_refused - a thread joins, and there is no place for its program, or it is of another
 * version
 *
 * What it writes is not even counted by itself, for it has no lanes: one event at least is missing.
 *
 * Context: process; with the programs' lock.
 */
void fkt_program_refused(void)
{
	if (fkt_programs_recorded)
		atomic64_inc(&fkt_programs_lost);
}

/**
 * fkt_program_goes - take what a program has left
 * @p: the program, which nobody has any more
 *
 * Context: the programs' lock; may sleep.
 */
void fkt_program_goes(struct fkt_program *p)
{
	u32 i;

	if (!fkt_programs_recorded)
		return;
	mutex_lock(&p->lock);
	fkt_program_take(p, FKT_TAKE_GOES);
	/* Turned off, or about to end: what is there now has no place in the trace any more. */
	for (i = 0; p->pages && i < p->lanes; i++) {
		fkt_lane_give_up(p, i, READ_ONCE(fkt_program_head(p)->lane[i].head));
		atomic64_add(p->lane[i].missing, &fkt_programs_lost);
	}
	mutex_unlock(&p->lock);
}

/* All programs. With the programs' lock. */
static void fkt_programs_take(enum fkt_take take)
{
	struct fkt_program *p;

	list_for_each_entry(p, &fkt_programs, link) {
		mutex_lock(&p->lock);
		fkt_program_take(p, take);
		mutex_unlock(&p->lock);
	}
}

/**
 * fkt_programs_tell - record what all programs have written so far
 * Context: process; may sleep.
 */
void fkt_programs_tell(void)
{
	mutex_lock(&fkt_programs_lock);
	if (fkt_programs_recorded)
		fkt_programs_take(FKT_TAKE_ON);
	mutex_unlock(&fkt_programs_lock);
}

/**
 * fkt_programs_end - record what all programs have written, in the end
 * @tell: there is a recording that it belongs to: the lanes take events
 *
 * Nobody asks the filter any more behind this.
 *
 * Context: process, the session's lock; the mask is off. May sleep.
 */
void fkt_programs_end(bool tell)
{
	struct fkt_program *p;
	bool recorded;

	mutex_lock(&fkt_programs_lock);
	recorded = fkt_programs_recorded;
	WRITE_ONCE(fkt_programs_recorded, false);
	if (recorded && tell) {
		fkt_programs_take(FKT_TAKE_END);
	} else if (recorded) {
		list_for_each_entry(p, &fkt_programs, link) {
			mutex_lock(&p->lock);
			fkt_program_forget(p);
			mutex_unlock(&p->lock);
		}
	}
	mutex_unlock(&fkt_programs_lock);
}

static void fkt_programs_look(struct work_struct *work)
{
	fkt_programs_tell();
	queue_delayed_work(fkt_any_cpu_wq, &fkt_programs_work, msecs_to_jiffies(FKT_TAKE_MS));
}

static int fkt_application_init(void)
{
	INIT_DELAYED_WORK(&fkt_programs_work, fkt_programs_look);
	return 0;
}

static void fkt_application_begin(void)
{
	mutex_lock(&fkt_programs_lock);
	fkt_programs_recorded = false;
	mutex_unlock(&fkt_programs_lock);
	atomic64_set(&fkt_programs_told, 0);
	atomic64_set(&fkt_programs_lost, 0);
	fkt_program_names_forget(false);
}

static int fkt_application_attach(const struct fkt_session *s, u32 keys)
{
	struct fkt_program *p;
	u32 i;

	mutex_lock(&fkt_programs_lock);
	list_for_each_entry(p, &fkt_programs, link) {
		mutex_lock(&p->lock);
		fkt_program_forget(p);
		mutex_unlock(&p->lock);
	}
	fkt_programs_since = fkt_stamp(fkt_clock(true));
	WRITE_ONCE(fkt_programs_recorded, true);
	/* Threads that join from here on ask for themselves. */
	list_for_each_entry(p, &fkt_programs, link) {
		mutex_lock(&p->lock);
		for (i = 0; i <= p->threads_room; i++)
			fkt_program_ask_filter(p, i);
		mutex_unlock(&p->lock);
	}
	mutex_unlock(&fkt_programs_lock);
	queue_delayed_work(fkt_any_cpu_wq, &fkt_programs_work, msecs_to_jiffies(FKT_TAKE_MS));
	return 0;
}

static void fkt_application_detach(void)
{
	cancel_delayed_work_sync(&fkt_programs_work);
}

static void fkt_application_status(struct fkt_status *status)
{
	status->applications = atomic64_read(&fkt_programs_told);
	status->applications_lost = atomic64_read(&fkt_programs_lost);
}

const struct fkt_provider fkt_provider_application = {
	.name = "application",
	.keys = FKT_KEY_APPLICATION,
	.init = fkt_application_init,
	.begin = fkt_application_begin,
	.attach = fkt_application_attach,
	.detach = fkt_application_detach,
	.status = fkt_application_status,
};

// SPDX-License-Identifier: GPL-2.0-only
/* One recording, from idle through ready, recording and draining to idle again. */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include "comm.h"
#include "fkt.h"
#include "longer.h"

struct fkt_session fkt_session;
DEFINE_STATIC_KEY_FALSE(fkt_shared_key);

static const u32 fkt_keys_all = 0
#define X(NAME, bit, name, about) | (1u << (bit))
	FKT_LAYERS(X);
#undef X

/**
 * fkt_event_shared - fkt_event_n() into the shared lane, kept out of the probes' own code
 * @tag: FKT_TAG(code, words, imm)
 * @words: number of @args
 * @args: the arguments
 */
noinline void fkt_event_shared(u64 tag, u32 words, const u64 *args)
{
	fkt_lane_record(fkt_session.pools[0].lane, tag, words, args, true);
}

/**
 * fkt_event_lost - count an event as lost that could not be recorded, though there was room for it
 * Context: as for fkt_event_n().
 */
noinline void fkt_event_lost(void)
{
	if (static_branch_unlikely(&fkt_shared_key))
		fkt_count(&fkt_session.pools[0].lane->lost, true);
	else
		fkt_count(&this_cpu_read(fkt_lane)->lost, false);
	/*
	 * After the lane's count: whoever reads them in the other order finds no more of these than
	 * lost.
	 */
	atomic64_inc(&fkt_session.skipped);
}

/**
 * fkt_lane_full - an event was lost
 * @lane: where
 * @now: when
 *
 * Context: any, from inside a probe. With on_full=pause the first to come here turns everything
 * off; the flush thread says so.
 */
void fkt_lane_full(struct fkt_lane *lane, u64 now)
{
	struct fkt_session *s = &fkt_session;

	if (s->conf.on_full != FKT_ON_FULL_PAUSE || !fkt_mask_off())
		return;
	s->stream.paused_lane = lane->number;
	s->stream.paused_at = now;
	smp_mb__before_atomic(); /* partner: the barrier in fkt_stream_tell_pause() */
	atomic_inc(&s->stream.pauses);
}

/* In the interrupt that fkt_lane_kick() asked for. */
static void fkt_session_kicked(struct irq_work *work)
{
	struct fkt_session *s = container_of(work, struct fkt_session, stream.kick);

	WRITE_ONCE(s->stream.kicked, true);
	wake_up_interruptible(&s->stream.reader_wait);
}

/* One who waits in poll(2) may now splice a mark. */
static void fkt_session_mark_due(struct work_struct *work)
{
	struct fkt_session *s =
		container_of(to_delayed_work(work), struct fkt_session, stream.wake_work);

	wake_up_interruptible(&s->stream.reader_wait);
}

/*
 * CPU hotplug: a CPU that comes gets its pages before it runs. It comes also when there are none:
 * its events are lost then, and counted, and fkt_buffer_service() tries again.
 */
static int fkt_session_cpu_comes(unsigned int cpu)
{
	struct fkt_session *s = &fkt_session;
	int ret = 0;

	/* The reader may be queueing in the same lane, if the CPU was here before. */
	mutex_lock(&s->stream.reader);
	s->pools[cpu].present = true;
	/* Until it has pages: then fkt_buffer_fill() lets it overwrite them. */
	if (fkt_overwrites(s) && fkt_pool_is_short(s, &s->pools[cpu]))
		(void)fkt_lane_hold(s->pools[cpu].lane);
	if (!s->pools[cpu].pages)
		ret = fkt_buffer_fill(s, &s->pools[cpu]);
	/*
	 * It comes back as the idle task, and may have left as another one: while nothing was
	 * recorded. A page says who is there, and no probe runs there yet.
	 */
	fkt_lane_close(s->pools[cpu].lane, false);
	if (ret) {
		s->fill_error = ret;
		if (fkt_state_now(s) == FKT_STATE_RECORDING && !s->pools[cpu].pages)
			pr_warn("fkt: no memory for CPU %u: its events are lost until there is\n",
				cpu);
	}
	mutex_unlock(&s->stream.reader);
	return 0;
}

/* A CPU that is gone leaves its lane, and perhaps what it could not wake anybody for. */
static int fkt_session_cpu_gone(unsigned int cpu)
{
	struct fkt_session *s = &fkt_session;

	mutex_lock(&s->stream.reader);
	s->pools[cpu].present = false;
	mutex_unlock(&s->stream.reader);
	WRITE_ONCE(s->stream.kicked, true);
	wake_up(&s->stream.reader_wait);
	return 0;
}

static int fkt_session_fill(struct fkt_session *s)
{
	u32 i;
	int ret;

	if (fkt_shared(s))
		return fkt_buffer_fill(s, &s->pools[0]);
	/* Pages kept from the last recording are queued here, new CPUs' in the callback. */
	for (i = 0; i < s->pools_count; i++) {
		if (!s->pools[i].pages)
			continue;
		ret = fkt_buffer_fill(s, &s->pools[i]);
		if (ret)
			return ret;
	}
	s->fill_error = 0;
	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "fkt:lane", fkt_session_cpu_comes,
				fkt_session_cpu_gone);
	if (ret < 0)
		return ret;
	s->cpuhp_state = ret;
	return s->fill_error;
}

/* The process events are on whenever anything is: the analysis needs them (§6). */
static u32 fkt_mask_effective(u32 mask)
{
	return mask ? mask | FKT_KEY_PROCESS : 0;
}

/*
 * Let probes record these layers; or none, where the size limit has just ended the recording.
 * Returns what the mask was. With CPU hotplug locked; does not sleep.
 */
static u32 fkt_session_write_mask(struct fkt_session *s, u32 mask, bool say)
{
	u32 before = fkt_mask_set(mask, say);

	smp_mb(); /* partner: that in fkt_limit_end() */
	if (READ_ONCE(s->stream.limit_reached))
		fkt_mask_off();
	return before;
}

/*
 * No probe is inside a lane any more: every one runs with preemption off, so that RCU waits for it;
 * on a CPU that RCU believes to be idle, it runs with interrupts off, and an interrupt waits for
 * it.
 */
static void fkt_session_wait_for_probes(struct fkt_session *s)
{
	synchronize_rcu();
	kick_all_cpus_sync();
	irq_work_sync(&s->stream.kick);
}

/*
 * Probes that had looked at the mask before it was turned off write behind the event that says so,
 * and whoever reads it would take their CPUs for such as record: it is said again, behind them.
 */
static void fkt_session_say_off(struct fkt_session *s)
{
	fkt_session_wait_for_probes(s);
	preempt_disable_notrace();
	FKT_EVENT(FKT_CODE_SETMASK, 0, fkt_pair(0, current->pid));
	preempt_enable_notrace();
}

/*
 * FKT's own threads are younger than the recorder's list of processes. The page that this begins
 * says who is current: who calls it has preemption off until switches are recorded, or it is said
 * again.
 */
static void fkt_session_name_threads(struct fkt_session *s)
{
	if (s->threads_named || !fkt_has_output(s))
		return;
	s->threads_named = true;
	preempt_disable_notrace();
	fkt_record_name(s->output.flush_task, s->output.flush_task->comm);
	if (s->output.sync_task)
		fkt_record_name(s->output.sync_task, s->output.sync_task->comm);
	preempt_enable_notrace();
}

/* The memory and the flags of a recording that has ended, or has failed to begin. */
static void fkt_session_release(struct fkt_session *s)
{
	if (s->cpuhp_state > 0)
		cpuhp_remove_state(s->cpuhp_state);
	s->cpuhp_state = 0;
	cancel_delayed_work_sync(&s->stream.wake_work);
	fkt_buffer_settle(s);
	static_branch_disable(&fkt_shared_key);
	smp_store_release(&s->state, FKT_STATE_IDLE);
	wake_up_all(&s->state_wait);
}

static void fkt_session_close_output(struct fkt_session *s)
{
	if (!s->output.file)
		return;
	fput(s->output.file);
	s->output.file = NULL;
	put_cred(s->output.cred);
	s->output.cred = NULL;
}

static int fkt_session_open_output(struct fkt_session *s)
{
	struct file *out;

	s->output.file = NULL;
	s->output.direct = false;
	s->output.write_error = 0;
	s->output.max = U64_MAX;
	s->stream.runs = false;
	if (!fkt_has_output(s))
		return 0;
	out = fget(s->conf.out_fd);
	if (!out)
		return -EBADF;
	if (!(out->f_mode & FMODE_WRITE)) {
		fput(out);
		return -EBADF;
	}
	if (out->f_flags & O_APPEND || (!out->f_op->splice_write && !out->f_op->write_iter)) {
		fput(out);
		return -EINVAL;
	}
	s->output.file = out;
	s->output.direct = out->f_flags & O_DIRECT;
	s->stream.runs = S_ISREG(file_inode(out)->i_mode) || S_ISBLK(file_inode(out)->i_mode);
	s->output.pos = out->f_pos;
	/* The flush thread writes as the caller would, and no further. */
	s->output.cred = get_current_cred();
	if (S_ISREG(file_inode(out)->i_mode) && rlimit(RLIMIT_FSIZE) != RLIM_INFINITY)
		s->output.max = rlimit(RLIMIT_FSIZE);
	return 0;
}

/**
 * fkt_session_say_current - say who is current on this CPU, as a switch from the thread to itself
 * @unused: for on_each_cpu()
 *
 * Where nobody has said it: in a shared lane a page says it of one CPU alone, and while nothing was
 * recorded the CPUs have switched.
 *
 * Context: preemption off.
 */
void fkt_session_say_current(void *unused)
{
	FKT_EVENT(FKT_CODE_SWITCH, TASK_RUNNING, fkt_pair(current->pid, current->pid));
}

/**
 * fkt_session_start - begin a recording
 * @s: the session
 * @conf: what to record; checked by the caller
 * @file: on whose behalf; probes that another file has named are in the way
 * @generation: receives the recording's number
 *
 * Context: process; may sleep.
 * Return: 0, -EBUSY when one is running, or another negative errno value; see FKT_START.
 */
int fkt_session_start(struct fkt_session *s, const struct fkt_start *conf, const struct file *file,
		      u64 *generation)
{
	u32 mask;
	int ret;

	/* Once more: the device may have been opened before. */
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	ret = -EBUSY;
	if (s->state != FKT_STATE_IDLE || (s->probes_of && s->probes_of != file))
		goto out_unlock;
	fkt_flush_wait(s);
	/* From here on nobody else's file looks at the lanes: see fkt_is_readers(). */
	mutex_lock(&s->stream.reader);
	s->conf = *conf;
	s->generation++;
	mutex_unlock(&s->stream.reader);
	ret = fkt_session_open_output(s);
	if (ret)
		goto out_unlock;

	smp_store_release(&s->state, FKT_STATE_READY);
	ret = fkt_ended_begin(s);
	if (!ret)
		ret = fkt_buffer_alloc(s);
	if (ret)
		goto out_state;
	if (fkt_shared(s))
		static_branch_enable(&fkt_shared_key);
	fkt_stream_reset(s);
	s->output.error = 0;
	atomic_set(&s->stream.pauses, 0);
	atomic64_set(&s->skipped, 0);
	s->skipped_before = 0;
	s->output.flush_cpu_ns = 0;
	s->output.sync_cpu_ns = 0;
	s->start_cycles = 0;
	s->stop_cycles = 0;
	s->threads_named = false;
	fkt_providers_begin();
	ret = fkt_session_fill(s);
	if (ret)
		goto out_release;
	mutex_lock(&s->stream.reader);
	fkt_stream_limit_near(s);
	mutex_unlock(&s->stream.reader);

	ret = fkt_filter_begin();
	if (ret)
		goto out_release;
	mask = fkt_mask_effective(s->initmask);
	ret = fkt_providers_attach(s, mask);
	if (ret)
		goto out_detach;
	if (s->output.file) {
		ret = fkt_sync_start(s);
		if (ret)
			goto out_detach;
		ret = fkt_flush_start(s);
		if (ret)
			goto out_sync;
	}
	*generation = s->generation;
	s->start_cycles = fkt_stamp(fkt_clock(true));
	smp_store_release(&s->state, FKT_STATE_RECORDING);
	cpus_read_lock();
	preempt_disable_notrace();
	if (mask)
		fkt_session_name_threads(s);
	/* Each page says it of its own CPU. */
	fkt_session_write_mask(s, mask, fkt_shared(s));
	preempt_enable_notrace();
	cpus_read_unlock();
	wake_up_all(&s->state_wait);
	mutex_unlock(&s->lock);
	return 0;

out_sync:
	(void)fkt_sync_finish(s);
out_detach:
	fkt_providers_detach(s);
	fkt_programs_end(false);
	fkt_filter_end();
	fkt_session_wait_for_probes(s);
out_release:
	/* After a signal, the call begins anew by itself, with the same probes. */
	if (ret != -ERESTARTSYS)
		fkt_providers_clear(s);
	fkt_session_release(s);
	if (ret == -ENOMEM)
		fkt_buffer_free(s); /* what could be had is of no use */
out_state:
	smp_store_release(&s->state, FKT_STATE_IDLE);
	fkt_session_close_output(s);
out_unlock:
	mutex_unlock(&s->lock);
	return ret;
}

/*
 * Tell a pause (§8.1) that is untold, perhaps because there was no page. Returns whether none is
 * untold. The reader.
 */
static bool fkt_session_tell_pause(struct fkt_session *s)
{
	if (!fkt_stream_pause_untold(s))
		return true;
	(void)fkt_buffer_service(s);
	return fkt_stream_tell_pause(s);
}

/**
 * fkt_session_stop_probes - end the recording of events, and make what was recorded available
 * @s: the session
 *
 * Context: the session's lock; may sleep. Does nothing when it has been done.
 */
void fkt_session_stop_probes(struct fkt_session *s)
{
	u32 i;

	if (s->state != FKT_STATE_RECORDING)
		return;
	fkt_longer_end();
	fkt_mask_off();
	/* Or somebody has been about it. */
	fkt_mask_wait_off();
	s->stop_cycles = fkt_stamp(fkt_clock(true));
	fkt_providers_detach(s);
	fkt_programs_end(true);
	fkt_filter_end();
	fkt_session_wait_for_probes(s);
	fkt_longer_tell_open(s->stop_cycles);
	mutex_lock(&s->stream.reader);
	if (s->stream.limit_at)
		s->stop_cycles = s->stream.limit_at;
	/* A snapshot that was being taken goes on as what the recording ends with. */
	s->stream.snapshot = false;
	s->stream.eof = false;
	for (i = 0; i < s->pools_count; i++)
		s->pools[i].held = false;
	/* The last event of all: a page that is begun after this is never closed. */
	if (!fkt_session_tell_pause(s)) {
		preempt_disable_notrace();
		fkt_event_lost();
		preempt_enable_notrace();
	}
	for (i = 0; i < s->pools_count; i++)
		fkt_lane_fence(s->pools[i].lane, fkt_shared(s));
	/* Partner: the acquire in fkt_stream_collect(). */
	smp_store_release(&s->state, FKT_STATE_DRAINING);
	mutex_unlock(&s->stream.reader);
	wake_up_interruptible(&s->stream.reader_wait);
}

/**
 * fkt_session_finish - the last pages are written: back to idle
 * @s: the session
 * Context: the session's lock; draining; nobody reads any more.
 */
void fkt_session_finish(struct fkt_session *s)
{
	if (s->state != FKT_STATE_DRAINING)
		return;
	fkt_providers_clear(s);
	fkt_session_release(s);
}

/**
 * fkt_session_request_stop - let the flush thread, or whoever splices, end the recording
 * @s: the session
 * Context: any.
 */
void fkt_session_request_stop(struct fkt_session *s)
{
	WRITE_ONCE(s->stream.stop, true);
	wake_up_interruptible(&s->stream.reader_wait);
}

/**
 * fkt_session_stop - end a recording
 * @s: the session
 * @generation: the recording's number
 *
 * With an output, waits until the flush thread has written everything. Without, the caller splices
 * the rest until the end of file.
 *
 * Context: process; may sleep.
 * Return: 0, also when it had ended already; -ERESTARTSYS on a signal.
 */
int fkt_session_stop(struct fkt_session *s, u64 generation)
{
	int ret;

	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	if (s->generation == generation && s->state != FKT_STATE_IDLE) {
		fkt_session_request_stop(s);
		if (!fkt_has_output(s)) {
			fkt_session_stop_probes(s);
			mutex_unlock(&s->lock);
			return 0;
		}
	}
	mutex_unlock(&s->lock);
	ret = wait_event_interruptible(s->state_wait, READ_ONCE(s->generation) != generation ||
							      fkt_state_now(s) == FKT_STATE_IDLE);
	if (ret)
		return ret;
	mutex_lock(&s->lock);
	if (s->generation == generation)
		fkt_flush_wait(s);
	mutex_unlock(&s->lock);
	return 0;
}

/**
 * fkt_session_abandon - whoever began the recording is gone
 * @s: the session
 * @generation: the recording's number
 *
 * With an output, the flush thread stops, writes what there is and finishes. Without, there is
 * nobody left to write for.
 *
 * Context: process; may sleep.
 */
void fkt_session_abandon(struct fkt_session *s, u64 generation)
{
	mutex_lock(&s->lock);
	if (s->generation == generation && s->state != FKT_STATE_IDLE) {
		fkt_session_request_stop(s);
		if (!fkt_has_output(s)) {
			fkt_session_stop_probes(s);
			mutex_lock(&s->stream.reader);
			fkt_stream_discard(s);
			mutex_unlock(&s->stream.reader);
			fkt_session_finish(s);
		}
	}
	/*
	 * One that had ended by itself: its thread, which needs the lock no more, is about to go.
	 */
	if (s->generation == generation && s->state == FKT_STATE_IDLE)
		fkt_flush_wait(s);
	mutex_unlock(&s->lock);
}

/**
 * fkt_session_forget_probes - a file that may have named probes is closed
 * @s: the session
 * @file: the file
 *
 * Context: process; may sleep. A recording that runs with these probes goes on.
 */
void fkt_session_forget_probes(struct fkt_session *s, const struct file *file)
{
	mutex_lock(&s->lock);
	if (s->probes_of == file && s->state == FKT_STATE_IDLE)
		fkt_providers_clear(s);
	mutex_unlock(&s->lock);
}

/**
 * fkt_mask_valid - whether each bit of a mask has a layer
 * @mask: the mask
 */
bool fkt_mask_valid(u32 mask)
{
	return !(mask & ~fkt_keys_all);
}

/*
 * Write the new mask and its event; the mask was @before. A pause lasts until it is told, so that
 * nothing is recorded anew before that. Returns 0; -EAGAIN where there is no room to tell it; or
 * -EINTR if one has struck since. Then the mask is off.
 */
static int fkt_session_change_mask(struct fkt_session *s, u32 mask, u32 before)
{
	int ret = -EAGAIN;

	/* The probe that struck it may still be about to count it. */
	if (!before && s->conf.on_full == FKT_ON_FULL_PAUSE)
		fkt_session_wait_for_probes(s);
	/* In the order of the hotplug callback. */
	cpus_read_lock();
	mutex_lock(&s->stream.reader);
	if (!before && !fkt_session_tell_pause(s) && mask)
		goto out_unlock;
	ret = 0;
	preempt_disable_notrace();
	/* Others may have been here when nothing was recorded. */
	if (mask && !before && !fkt_filter_looks())
		fkt_session_say_current(NULL);
	if (mask | READ_ONCE(fkt_mask))
		FKT_EVENT(FKT_CODE_SETMASK, 0, fkt_pair(mask, current->pid));
	if (!mask)
		fkt_mask_off();
	preempt_enable_notrace();
	if (mask && !fkt_session_write_mask(s, mask, true) && before) {
		fkt_mask_off();
		ret = -EINTR;
	}
out_unlock:
	mutex_unlock(&s->stream.reader);
	cpus_read_unlock();
	return ret;
}

/**
 * fkt_session_set_mask - change the active mask
 * @s: the session
 * @set: bits to set
 * @clear: bits to clear first
 *
 * Context: process; may sleep: the probes of a layer are attached when it is first asked for.
 * Return: 0, -EINVAL for a bit without a layer, -ENODEV without a recording, -EAGAIN while it is
 * paused (§8.1) and there is no page that could say so.
 */
int fkt_session_set_mask(struct fkt_session *s, u32 set, u32 clear)
{
	u32 mask, before;
	int ret;

	if (!fkt_mask_valid(set))
		return -EINVAL;
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	ret = -ENODEV;
	if (s->state != FKT_STATE_RECORDING)
		goto out_unlock;
	before = READ_ONCE(fkt_mask);
	mask = (before & ~clear) | set;
	/* Process events alone are what remains when the last layer is turned off. */
	if (!(set & FKT_KEY_PROCESS) && !(mask & ~FKT_KEY_PROCESS))
		mask = 0;
	mask = fkt_mask_effective(mask);
	ret = fkt_providers_attach(s, mask);
	if (ret)
		goto out_unlock;
	if (mask)
		fkt_session_name_threads(s);
	ret = fkt_session_change_mask(s, mask, before);
	if (ret == -EINTR)
		ret = fkt_session_change_mask(s, mask, 0);
	if (!mask && before)
		fkt_session_say_off(s);
out_unlock:
	mutex_unlock(&s->lock);
	return ret;
}

/**
 * fkt_session_init - once, at module load
 * @s: the session
 */
void fkt_session_init(struct fkt_session *s)
{
	mutex_init(&s->lock);
	mutex_init(&s->stream.reader);
	init_waitqueue_head(&s->state_wait);
	init_waitqueue_head(&s->stream.reader_wait);
	init_waitqueue_head(&s->output.sync_wait);
	init_irq_work(&s->stream.kick, fkt_session_kicked);
	INIT_DELAYED_WORK(&s->stream.wake_work, fkt_session_mark_due);
	s->pow = FKT_POW_DEFAULT;
	s->initmask = FKT_KEY_SYSTEM;
}

/**
 * fkt_session_exit - once, at module unload; idle, for every recording holds the module
 * @s: the session
 */
void fkt_session_exit(struct fkt_session *s)
{
	fkt_flush_wait(s);
	fkt_providers_exit();
	irq_work_sync(&s->stream.kick);
	cancel_delayed_work_sync(&s->stream.wake_work);
	fkt_buffer_free(s);
}

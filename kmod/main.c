// SPDX-License-Identifier: GPL-2.0-only
/* /dev/fkt: who may do what, and checking what comes from user space (paper, §B.4). */
#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <fkt/version.h>
#include "fkt.h"
#include "program.h"

/**
 * struct fkt_file - an open /dev/fkt
 * @generation: the recording that it began, 0 for none
 */
struct fkt_file {
	u64 generation;
};

/*
 * A kernel that is locked down, as with Secure Boot, keeps root from reading what is secret in it
 * (confidentiality) or from changing what it does (integrity). FKT may do what the kernel's own
 * tracers may do then.
 */
static int fkt_open(struct inode *inode, struct file *file)
{
	struct fkt_file *ff;
	int ret;

	if (!perfmon_capable())
		return -EPERM;
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;
	ff = kzalloc(sizeof(*ff), GFP_KERNEL);
	if (!ff)
		return -ENOMEM;
	file->private_data = ff;
	return 0;
}

static int fkt_release(struct inode *inode, struct file *file)
{
	struct fkt_file *ff = file->private_data;

	if (ff->generation)
		fkt_session_abandon(&fkt_session, ff->generation);
	fkt_session_forget_probes(&fkt_session, file);
	kfree(ff);
	return 0;
}

/*
 * A number that the next recording will use: only to be set while none runs, and nobody else has
 * named probes for one.
 */
static int fkt_set_idle(struct fkt_session *s, const struct file *file,
			void (*set)(struct fkt_session *s, u32 value), u32 value)
{
	int ret = -EBUSY;

	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	if (s->state == FKT_STATE_IDLE && (!s->probes_of || s->probes_of == file)) {
		set(s, value);
		ret = 0;
	}
	mutex_unlock(&s->lock);
	return ret;
}

static void fkt_set_pow(struct fkt_session *s, u32 value)
{
	s->pow = value;
}

static void fkt_set_initmask(struct fkt_session *s, u32 value)
{
	s->initmask = value;
}

static void fkt_set_trydma(struct fkt_session *s, u32 value)
{
	s->trydma = value;
}

static void fkt_set_free(struct fkt_session *s, u32 value)
{
	fkt_buffer_free(s);
}

/*
 * A struct of fkt/ioctl.h, which may have grown since the caller was built: it gets 0 for what the
 * caller does not know. That is never less than the first version had, for what a caller must say
 * has no default.
 */
static int fkt_copy_args(void *to, size_t to_bytes, size_t first_bytes, void __user *arg,
			 size_t bytes)
{
	int ret;

	if (bytes < first_bytes)
		return -EINVAL;
	ret = copy_struct_from_user(to, to_bytes, arg, bytes);
	if (!ret && *(u32 *)to != bytes)
		ret = -EINVAL;
	return ret;
}
#define FKT_COPY_ARGS(to, first_last, arg, bytes)                                                  \
	fkt_copy_args(&(to), sizeof(to), offsetofend(typeof(to), first_last), arg, bytes)

/* Whether the recording that runs is the one that a file began. The session's lock. */
static bool fkt_is_recording(const struct fkt_session *s, const struct fkt_file *ff)
{
	return ff->generation && s->generation == ff->generation && s->state == FKT_STATE_RECORDING;
}

static int fkt_ioctl_start(struct file *file, void __user *arg, size_t size)
{
	struct fkt_file *ff = file->private_data;
	struct fkt_start conf;
	int ret;

	ret = FKT_COPY_ARGS(conf, id, arg, size);
	if (ret)
		return ret;
	if (conf.lanes > FKT_LANES_SHARED || conf.on_full > FKT_ON_FULL_OVERWRITE ||
	    (conf.on_full == FKT_ON_FULL_OVERWRITE && conf.lanes == FKT_LANES_SHARED) ||
	    conf.flags & ~(FKT_START_SYSCALL_ARGS | FKT_START_RESERVE) ||
	    conf.flush_ms > 3600 * MSEC_PER_SEC || conf.out_fd < FKT_NO_OUTPUT)
		return -EINVAL;
	if (conf.limit_bytes &&
	    (conf.limit_bytes < FKT_PAGE_BYTES || conf.on_full == FKT_ON_FULL_OVERWRITE))
		return -EINVAL;
	if (conf.flags & FKT_START_RESERVE && conf.on_full != FKT_ON_FULL_OVERWRITE)
		return -EINVAL;
	if (conf.out_fd == FKT_NO_OUTPUT && !conf.flush_ms)
		conf.flush_ms = FKT_MARK_MS;
	/* Nobody waits for what comes when it is asked for. */
	if (conf.on_full == FKT_ON_FULL_OVERWRITE)
		conf.flush_ms = 0;
	return fkt_session_start(&fkt_session, &conf, file, &ff->generation);
}

static int fkt_ioctl_add_probes(struct file *file, void __user *arg, size_t size)
{
	struct fkt_probes probes;
	int ret;

	ret = FKT_COPY_ARGS(probes, done, arg, size);
	if (ret)
		return ret;
	ret = fkt_providers_add(&fkt_session, &probes, file);
	if (copy_to_user(arg, &probes, min(size, sizeof(probes))))
		return -EFAULT;
	return ret;
}

static int fkt_ioctl_hookable(void __user *arg, size_t size)
{
	struct fkt_hookable hookable;
	int ret;

	ret = FKT_COPY_ARGS(hookable, addresses_ptr, arg, size);
	return ret ?: fkt_providers_hookable(&hookable);
}

static int fkt_ioctl_snapshot(struct fkt_file *ff, void __user *arg, size_t size)
{
	struct fkt_snapshot snapshot;
	int ret;

	ret = FKT_COPY_ARGS(snapshot, stop_cycles, arg, size);
	if (ret)
		return ret;
	if (snapshot.reserved)
		return -EINVAL;
	ret = fkt_snapshot_begin(&fkt_session, ff->generation, &snapshot);
	if (!ret && copy_to_user(arg, &snapshot, min(size, sizeof(snapshot)))) {
		(void)fkt_snapshot_end(&fkt_session, ff->generation, false);
		ret = -EFAULT;
	}
	return ret;
}

static int fkt_ioctl_triggered(struct fkt_file *ff, void __user *arg, size_t size)
{
	struct fkt_session *s = &fkt_session;
	struct fkt_triggered told;
	int ret;

	ret = FKT_COPY_ARGS(told, comm, arg, size);
	if (ret)
		return ret;
	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	ret = fkt_is_recording(s, ff) ? 0 : -ENODEV;
	if (!ret)
		fkt_trigger_tell(&told);
	mutex_unlock(&s->lock);
	told.size = size;
	if (!ret && copy_to_user(arg, &told, min(size, sizeof(told))))
		ret = -EFAULT;
	return ret;
}

static int fkt_ioctl_trigger_arm(struct fkt_file *ff)
{
	struct fkt_session *s = &fkt_session;
	int ret = -ENODEV;

	if (mutex_lock_interruptible(&s->lock))
		return -ERESTARTSYS;
	if (fkt_is_recording(s, ff)) {
		fkt_trigger_arm();
		ret = 0;
	}
	mutex_unlock(&s->lock);
	return ret;
}

static int fkt_ioctl_list_codes(void __user *arg, size_t size)
{
	struct fkt_code_lines lines;
	int ret;

	ret = FKT_COPY_ARGS(lines, text_ptr, arg, size);
	if (ret)
		return ret;
	if (lines.reserved)
		return -EINVAL;
	ret = fkt_codes_list(u64_to_user_ptr(lines.text_ptr), lines.room, &lines.bytes);
	if (!ret && copy_to_user(arg, &lines, min(size, sizeof(lines))))
		ret = -EFAULT;
	return ret;
}

static int fkt_ioctl_list_ended(void __user *arg, size_t size)
{
	struct fkt_ended_list list;
	int ret;

	ret = FKT_COPY_ARGS(list, ended_ptr, arg, size);
	if (ret)
		return ret;
	if (list.reserved)
		return -EINVAL;
	ret = fkt_ended_list(u64_to_user_ptr(list.ended_ptr), list.room, &list.count);
	if (!ret && copy_to_user(arg, &list, min(size, sizeof(list))))
		ret = -EFAULT;
	return ret;
}

static struct fkt_lane_status fkt_status_of_lane(const struct fkt_session *s,
						 const struct fkt_pool *pool)
{
	struct fkt_lane *lane = pool->lane;
	const u64 lost = s->stream.snapshot ? pool->lost_end : READ_ONCE(lane->lost);

	return (struct fkt_lane_status){
		.lane = lane->number,
		.cpu = lane->cpu,
		.pages_free = fkt_lane_queued(lane),
		.pages_filling = fkt_lane_filling(lane),
		.pages_writing = READ_ONCE(pool->out_count),
		.pages_extra = READ_ONCE(pool->extra),
		.events = READ_ONCE(pool->events),
		.lost = lost - pool->lost_before,
		.pages = READ_ONCE(pool->pages_out),
		.discarded = READ_ONCE(pool->discarded),
		.overwritten = READ_ONCE(lane->overwritten),
		.complete_from = READ_ONCE(lane->overwritten_end),
	};
}

/* What is known of the session, and of the first @room of its lanes. The session's lock. */
static void fkt_status_fill(struct fkt_session *s, struct fkt_status *status,
			    struct fkt_lane_status *lanes, u32 room)
{
	u32 i;

	status->state = s->state;
	status->mask = READ_ONCE(fkt_mask);
	status->error = READ_ONCE(s->output.error);
	status->events = 0;
	status->lost = 0;
	status->discarded = 0;
	status->missed = 0;
	status->bytes = READ_ONCE(s->stream.bytes);
	status->pages = status->bytes / FKT_PAGE_BYTES;
	status->flush_cpu_ns = READ_ONCE(s->output.flush_cpu_ns);
	status->sync_cpu_ns = READ_ONCE(s->output.sync_cpu_ns);
	status->start_cycles = s->start_cycles;
	status->stop_cycles = s->stop_cycles;
	status->pauses = atomic_read(&s->stream.pauses);
	status->limit_reached = READ_ONCE(s->stream.limit_reached);
	status->direct = s->output.direct;
	status->lanes = s->pools_count;
	status->skipped = (s->stream.snapshot ? s->skipped_end : atomic64_read(&s->skipped)) -
			  s->skipped_before;
	status->clock_ahead = READ_ONCE(fkt_clock_ahead) - fkt_clock_zero;
	fkt_providers_status(status);
	for (i = 0; i < s->pools_count; i++) {
		const struct fkt_lane_status lane = fkt_status_of_lane(s, &s->pools[i]);

		status->events += lane.events;
		status->lost += lane.lost;
		status->discarded += lane.discarded;
		if (i < room)
			lanes[i] = lane;
	}
}

static int fkt_ioctl_status(void __user *arg, size_t size)
{
	struct fkt_session *s = &fkt_session;
	struct fkt_lane_status *lanes = NULL;
	struct fkt_status status;
	u32 room;
	int ret;

	ret = FKT_COPY_ARGS(status, lanes_ptr, arg, size);
	if (ret)
		return ret;
	room = min_t(u32, status.lanes_room, nr_cpu_ids);
	if (room) {
		lanes = kvmalloc_array(room, sizeof(*lanes), GFP_KERNEL);
		if (!lanes)
			return -ENOMEM;
	}
	ret = -ERESTARTSYS;
	if (mutex_lock_interruptible(&s->lock))
		goto out_free;
	fkt_status_fill(s, &status, lanes, room);
	mutex_unlock(&s->lock);
	/* Without the lock: the caller's memory may let us wait. */
	ret = 0;
	room = min(room, status.lanes);
	if (room && copy_to_user(u64_to_user_ptr(status.lanes_ptr), lanes, room * sizeof(*lanes)))
		ret = -EFAULT;
	if (!ret && copy_to_user(arg, &status, min(size, sizeof(status))))
		ret = -EFAULT;
out_free:
	kvfree(lanes);
	return ret;
}

static long fkt_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct fkt_session *s = &fkt_session;
	struct fkt_file *ff = file->private_data;
	void __user *ptr = (void __user *)arg;
	u32 value = 0;

	if (_IOC_TYPE(cmd) != FKT_IOC)
		return -ENOTTY;

	/* Structs may grow: only their number counts, and the size says what the caller knows. */
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(FKT_START):
		return fkt_ioctl_start(file, ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_STATUS):
		return fkt_ioctl_status(ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_ADD_PROBES):
		return fkt_ioctl_add_probes(file, ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_HOOKABLE):
		return fkt_ioctl_hookable(ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_SNAPSHOT):
		return fkt_ioctl_snapshot(ff, ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_TRIGGERED):
		return fkt_ioctl_triggered(ff, ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_LIST_CODES):
		return fkt_ioctl_list_codes(ptr, _IOC_SIZE(cmd));
	case _IOC_NR(FKT_LIST_ENDED):
		return fkt_ioctl_list_ended(ptr, _IOC_SIZE(cmd));
	}

	switch (cmd) {
	case FKT_SETINITPOWPAGES:
	case FKT_SETINITMASK:
	case FKT_SETTRYDMA:
	case FKT_ENABLE:
	case FKT_DISABLE:
	case FKT_SETMASK:
	case FKT_SNAPSHOT_END:
		if (get_user(value, (u32 __user *)ptr))
			return -EFAULT;
	}

	switch (cmd) {
	case FKT_VERSION:
		return put_user(FKT_IOCTL_VERSION, (u32 __user *)ptr);
	case FKT_SETINITPOWPAGES:
		if (value < FKT_POW_MIN || value > FKT_POW_MAX)
			return -EINVAL;
		return fkt_set_idle(s, file, fkt_set_pow, value);
	case FKT_SETINITMASK:
		if (!fkt_mask_valid(value))
			return -EINVAL;
		return fkt_set_idle(s, file, fkt_set_initmask, value);
	case FKT_SETTRYDMA:
		if (value > 1)
			return -EINVAL;
		return fkt_set_idle(s, file, fkt_set_trydma, value);
	case FKT_FREEBUFFER:
		return fkt_set_idle(s, file, fkt_set_free, 0);
	case FKT_WAITREADY:
		return wait_event_interruptible(s->state_wait,
						fkt_state_now(s) >= FKT_STATE_RECORDING);
	case FKT_ENABLE:
		return fkt_session_set_mask(s, value, 0);
	case FKT_DISABLE:
		if (!fkt_mask_valid(value))
			return -EINVAL;
		return fkt_session_set_mask(s, 0, value);
	case FKT_SETMASK:
		return fkt_session_set_mask(s, value, ~0u);
	case FKT_STOP:
		if (!ff->generation)
			return fkt_state_now(s) == FKT_STATE_IDLE ? -ENODEV : -EPERM;
		return fkt_session_stop(s, ff->generation);
	case FKT_TRIGGER_ARM:
		return fkt_ioctl_trigger_arm(ff);
	case FKT_SNAPSHOT_END:
		if (value > 1)
			return -EINVAL;
		return fkt_snapshot_end(s, ff->generation, value);
	}
	return -ENOTTY;
}

/* sendfile(2) and splice(2): the first call begins a recording if none runs (§2). */
static ssize_t fkt_dev_splice_read(struct file *in, loff_t *pos, struct pipe_inode_info *pipe,
				   size_t len, unsigned int flags)
{
	struct fkt_session *s = &fkt_session;
	struct fkt_file *ff = in->private_data;
	struct fkt_start conf = {
		.out_fd = FKT_NO_OUTPUT,
		.flush_ms = FKT_MARK_MS,
	};
	int ret;

	if (!ff->generation) {
		get_random_bytes(conf.id, sizeof(conf.id));
		ret = fkt_session_start(s, &conf, in, &ff->generation);
		if (ret)
			return ret;
	}
	/* A recording that ended is at its end; one with an output is its flush thread's. */
	if (READ_ONCE(s->generation) != ff->generation)
		return 0;
	if (fkt_has_output(s))
		return -EBUSY;
	return fkt_splice_read(ff->generation, in, pos, pipe, len, flags);
}

/*
 * Whether splice(2) would find pages, or have a mark to give. A kick comes only once for several
 * pages, and none for a mark: one who waits is woken when that is due.
 */
static bool fkt_poll_pages(struct fkt_session *s, u64 generation)
{
	bool ready = true;
	long due = 0;

	if (fkt_has_output(s))
		return false;
	if (fkt_overwrites(s))
		return READ_ONCE(s->stream.snapshot);
	mutex_lock(&s->stream.reader);
	/* Of one that has just ended, splice(2) finds the end. */
	if (fkt_is_readers(s, generation)) {
		due = s->stream.mark_due - jiffies;
		ready = fkt_stream_ready(s) || s->stream.limit_reached || due <= 0;
	}
	mutex_unlock(&s->stream.reader);
	if (!ready)
		schedule_delayed_work(&s->stream.wake_work, due);
	return ready;
}

static __poll_t fkt_poll(struct file *file, poll_table *wait)
{
	struct fkt_session *s = &fkt_session;
	struct fkt_file *ff = file->private_data;
	__poll_t ready = 0;

	poll_wait(file, &s->state_wait, wait);
	/* Pages are the flush thread's, if there is one: do not wake its recorder for each kick. */
	if (!fkt_has_output(s))
		poll_wait(file, &s->stream.reader_wait, wait);
	if (!ff->generation)
		return 0;
	if (READ_ONCE(s->generation) != ff->generation || fkt_state_now(s) == FKT_STATE_IDLE)
		return EPOLLHUP;
	if (fkt_state_now(s) == FKT_STATE_DRAINING || fkt_poll_pages(s, ff->generation))
		ready = EPOLLIN | EPOLLRDNORM;
	if (fkt_trigger_pending())
		ready |= EPOLLPRI;
	return ready;
}

static const struct file_operations fkt_fops = {
	.owner = THIS_MODULE,
	.open = fkt_open,
	.release = fkt_release,
	.unlocked_ioctl = fkt_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.splice_read = fkt_dev_splice_read,
	.poll = fkt_poll,
	.llseek = noop_llseek,
};

static struct miscdevice fkt_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "fkt",
	.fops = &fkt_fops,
	.mode = 0600,
};

static int __init fkt_init(void)
{
	int ret;

	fkt_session_init(&fkt_session);
	ret = fkt_providers_init();
	if (ret)
		return ret;
	ret = fkt_program_init();
	if (ret)
		goto out_providers;
	ret = misc_register(&fkt_device);
	if (ret)
		goto out_program;
	fkt_sleep_init();
	return 0;

out_program:
	fkt_program_exit();
out_providers:
	fkt_providers_exit();
	return ret;
}

static void __exit fkt_exit(void)
{
	misc_deregister(&fkt_device);
	fkt_program_exit();
	fkt_sleep_exit();
	fkt_session_exit(&fkt_session);
	fkt_ended_free();
}

module_init(fkt_init);
module_exit(fkt_exit);
MODULE_DESCRIPTION("Fast Kernel Tracing");
MODULE_VERSION(FKT_RELEASE);
MODULE_LICENSE("GPL");

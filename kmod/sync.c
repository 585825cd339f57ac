// SPDX-License-Identifier: GPL-2.0-only
/*
 * The synchronizing thread (paper, §8.1): fsync() does not return before everything is on the disk,
 * so a thread of its own waits for it, and the flush thread never does.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include "fkt.h"

static unsigned int sync_ms = 1000;
module_param(sync_ms, uint, 0644);
MODULE_PARM_DESC(sync_ms,
		 "synchronize the file at least so often, 0: only when pages run low (1000)");

static void fkt_sync_tell(u64 tag, u64 arg)
{
	preempt_disable_notrace();
	if (fkt_on_for_all(FKT_KEY_FKT))
		fkt_event_tag(tag, 1, &arg);
	preempt_enable_notrace();
}

/*
 * Push what was written to the disk. Pages of the page cache that are clean then are dropped: they
 * are ours, and nobody will read them soon.
 */
static int fkt_sync_once(struct fkt_session *s, bool forced)
{
	u64 bytes = READ_ONCE(s->stream.bytes);
	loff_t from = s->output.pos + s->output.synced, to = s->output.pos + bytes;
	int ret;

	if (bytes == s->output.synced || s->output.sync_error)
		return s->output.sync_error;
	fkt_sync_tell(FKT_TAG(FKT_CODE_SYNC_ENTRY, 1, forced), bytes - s->output.synced);
	ret = vfs_fsync_range(s->output.file, from, to - 1, 1);
	fkt_sync_tell(FKT_TAG(FKT_CODE_SYNC_EXIT, 1, 0), ret);
	if (ret) {
		s->output.sync_error = ret;
		return ret;
	}
	if (!(s->output.file->f_flags & O_DIRECT))
		invalidate_mapping_pages(s->output.file->f_mapping, from >> PAGE_SHIFT,
					 (to - 1) >> PAGE_SHIFT);
	s->output.synced = bytes;
	return 0;
}

static int fkt_sync_thread(void *data)
{
	struct fkt_session *s = data;
	const struct cred *own;
	unsigned int ms;

	own = override_creds(s->output.cred);
	set_freezable();
	while (!kthread_should_stop()) {
		bool forced;

		ms = READ_ONCE(sync_ms);
		wait_event_freezable_timeout(s->output.sync_wait,
					     READ_ONCE(s->output.sync_wanted) ||
						     kthread_should_stop(),
					     ms ? msecs_to_jiffies(ms) : MAX_SCHEDULE_TIMEOUT);
		/* Asked for because pages ran low (§8.1), or because it is time. */
		forced = xchg(&s->output.sync_wanted, false);
		/*
		 * What is written after this would stand behind a hole: fkt_sync_finish() says why.
		 */
		if (fkt_sync_once(s, forced))
			fkt_session_request_stop(s);
		/* The tick adds to it. */
		WRITE_ONCE(s->output.sync_cpu_ns, READ_ONCE(current->se.sum_exec_runtime));
	}
	revert_creds(own);
	return 0;
}

/**
 * fkt_sync_start - start the synchronizing thread, where the output has something to synchronize
 * @s: the session
 *
 * Context: the session's lock.
 * Return: 0 or a negative errno value.
 */
int fkt_sync_start(struct fkt_session *s)
{
	struct inode *inode = file_inode(s->output.file);
	struct task_struct *task;

	s->output.synced = 0;
	s->output.sync_error = 0;
	s->output.sync_wanted = false;
	s->output.sync_task = NULL;
	if (!S_ISREG(inode->i_mode) && !S_ISBLK(inode->i_mode))
		return 0;
	task = kthread_run(fkt_sync_thread, s, "fkt_sync");
	if (IS_ERR(task))
		return PTR_ERR(task);
	s->output.sync_task = task;
	return 0;
}

/**
 * fkt_sync_request - ask for a synchronization soon
 * @s: the session
 *
 * With direct I/O the data is on the disk already, and only the file's size would be pushed: that
 * frees no page, and waits for its second.
 *
 * Context: the reader.
 */
void fkt_sync_request(struct fkt_session *s)
{
	if (!s->output.sync_task || s->output.file->f_flags & O_DIRECT ||
	    READ_ONCE(s->output.sync_wanted))
		return;
	WRITE_ONCE(s->output.sync_wanted, true);
	wake_up_interruptible(&s->output.sync_wait);
}

/**
 * fkt_sync_finish - end the thread and synchronize a last time
 * @s: the session
 * Return: 0 or the negative errno value with which writing back first failed. The file's own memory
 * of that was used up by the call that found it.
 */
int fkt_sync_finish(struct fkt_session *s)
{
	if (!s->output.sync_task)
		return 0;
	kthread_stop(s->output.sync_task);
	s->output.sync_task = NULL;
	return fkt_sync_once(s, false);
}

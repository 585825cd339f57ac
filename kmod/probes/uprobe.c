// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of programs, by the kernel's uprobes: a breakpoint in each process that has the file,
 * and a trampoline in place of the return address. The kernel calls the probes in the thread that
 * came there, on its way back to the program, where preemption is on.
 *
 * What is fetched is the program's registers and its memory, which nobody waits for: what is not
 * there is not fetched. A program may make others wait for its memory for as long as it likes.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uprobes.h>
#include "compat.h"
#include "counters.h"
#include "fetch.h"
#include "fkt.h"
#include "stacks.h"

/**
 * struct fkt_uprobe_event - what is recorded of an entry, or of a return
 * @tag: FKT_TAG, without words and immediate
 * @ops: number of @fetch
 * @fetch: what to record
 * @stack: with the stack; set when attached
 */
struct fkt_uprobe_event {
	u64 tag;
	u32 ops;
	const struct fkt_fetch *fetch;
	bool stack;
};

/**
 * struct fkt_uprobe - a place that is traced
 * @consumer: what the kernel knows of it
 * @key: mask of its layer
 * @code: what the recorder calls it
 * @pair: entry and return belong together, and say where on the stack they are
 * @entry: what is recorded when a program comes there, if @consumer.handler says that it is
 * @ret: likewise when the function returns, for @consumer.ret_handler
 * @file: which file it is in; keeps the inode and what it is mounted on
 * @inode: the file's own one, below all overlays
 * @offset: where
 * @semaphore: see struct fkt_uprobe_spec
 * @handle: the kernel's
 * @registered: while attached, unless the kernel has refused it
 * @link: in fkt_uprobes
 * @fetch: the operations of both
 */
struct fkt_uprobe {
	struct uprobe_consumer consumer;
	u32 key;
	u32 code;
	bool pair;
	struct fkt_uprobe_event entry;
	struct fkt_uprobe_event ret;
	struct file *file;
	struct inode *inode;
	loff_t offset;
	loff_t semaphore;
	fkt_uprobe_handle handle;
	bool registered;
	struct list_head link;
	struct fkt_fetch fetch[];
};

/* The session's lock, as for all that says no other. */
static LIST_HEAD(fkt_uprobes);
static u32 fkt_uprobe_count;
/* Of the running or the last recording. */
static u32 fkt_uprobes_traced;
static u32 fkt_uprobes_refused;
static struct fkt_refused fkt_uprobes_refused_first[FKT_REFUSED_FIRST];
/* Probes count, without a lock. */
static atomic64_t fkt_uprobes_missed;

/* --- Being hit -------------------------------------------------------------------------------- */

/* @at: where on the stack the return address is, or was. */
static __always_inline void fkt_uprobe_record(const struct fkt_uprobe *probe,
					      const struct fkt_uprobe_event *event,
					      struct pt_regs *regs, unsigned long at)
{
	u64 tag = event->tag;

	if (probe->pair)
		tag |= FKT_TAG(0, 0, FKT_UPROBE_PLACE(at));
	preempt_disable_notrace();
	if (!fkt_on(probe->key))
		goto out;
	if (event->stack)
		fkt_fetch_stack(tag, event->fetch, event->ops, regs, NULL,
				instruction_pointer(regs), FKT_STACK_OF_ADDRESS);
	else if (event->ops)
		fkt_fetch(tag, event->fetch, event->ops, regs, NULL);
	else
		fkt_event_tag(tag, 0, NULL);
out:
	preempt_enable_notrace();
}

/*
 * The kernel catches no more returns of a thread than so many that are within each other: an entry
 * that will have no exit is left out with it, for it would be taken for one that has not returned.
 */
static bool fkt_uprobe_too_deep(void)
{
#ifdef CONFIG_UPROBES
	return current->utask && current->utask->depth >= MAX_URETPROBE_DEPTH;
#else
	return false;
#endif
}

static int fkt_uprobe_hit(struct uprobe_consumer *consumer, struct pt_regs *regs FKT_UPROBE_DATA)
{
	struct fkt_uprobe *probe = container_of(consumer, struct fkt_uprobe, consumer);

	if (unlikely(consumer->ret_handler && fkt_uprobe_too_deep())) {
		if (fkt_on_for_all(probe->key))
			atomic64_inc(&fkt_uprobes_missed);
		if (probe->pair)
			return 0;
	}
	if (probe->entry.tag)
		fkt_uprobe_record(probe, &probe->entry, regs, user_stack_pointer(regs));
	return 0;
}

static int fkt_uprobe_returns(struct uprobe_consumer *consumer, unsigned long function,
			      struct pt_regs *regs FKT_UPROBE_DATA)
{
	struct fkt_uprobe *probe = container_of(consumer, struct fkt_uprobe, consumer);

	fkt_uprobe_record(probe, &probe->ret, regs,
			  user_stack_pointer(regs) - sizeof(unsigned long));
	return 0;
}

/* What counters are at before such an event. */
static void fkt_uprobe_tell(const struct fkt_uprobe *probe)
{
	preempt_disable_notrace();
	if (fkt_on(probe->key))
		fkt_counters_tell();
	preempt_enable_notrace();
}

static int fkt_uprobe_hit_counted(struct uprobe_consumer *consumer,
				  struct pt_regs *regs FKT_UPROBE_DATA)
{
	fkt_uprobe_tell(container_of(consumer, struct fkt_uprobe, consumer));
	return fkt_uprobe_hit(consumer, regs FKT_UPROBE_ARG);
}

static int fkt_uprobe_returns_counted(struct uprobe_consumer *consumer, unsigned long function,
				      struct pt_regs *regs FKT_UPROBE_DATA)
{
	fkt_uprobe_tell(container_of(consumer, struct fkt_uprobe, consumer));
	return fkt_uprobe_returns(consumer, function, regs FKT_UPROBE_ARG);
}

/* Those that read counters are handlers of their own, so that the others need not ask. */
static void fkt_uprobe_choose(struct fkt_uprobe *probe)
{
	const bool counted = fkt_counters_wanted();

	probe->consumer.handler = counted ? fkt_uprobe_hit_counted : fkt_uprobe_hit;
	if (probe->consumer.ret_handler)
		probe->consumer.ret_handler = counted ? fkt_uprobe_returns_counted
						      : fkt_uprobe_returns;
}

/* --- What the recorder asked for -------------------------------------------------------------- */

/* Whether an operation is about the program alone. */
static bool fkt_uprobe_op_fits(const struct fkt_fetch *op)
{
	switch (op->op) {
	case FKT_FETCH_REGISTER:
	case FKT_FETCH_VALUE:
	case FKT_FETCH_READ_USER:
	case FKT_FETCH_WORD:
	case FKT_FETCH_STRING_USER:
	case FKT_FETCH_LAST_STRING_USER:
	case FKT_FETCH_COMM:
	case FKT_FETCH_BITS:
	case FKT_FETCH_BYTES_USER:
		return true;
	default:
		return false;
	}
}

static bool fkt_uprobe_ops_fit(const struct fkt_fetch *op, u32 ops)
{
	int words = 0, ret;
	u32 i;

	for (i = 0; i < ops; i++) {
		ret = fkt_uprobe_op_fits(&op[i]) ? fkt_fetch_check(&op[i], i == ops - 1, 0)
						 : -EINVAL;
		if (ret < 0)
			return false;
		words += ret;
		if (words > FKT_FETCH_WORDS_MAX)
			return false;
	}
	return true;
}

/* @fetches operations are there for all. */
static bool fkt_uprobe_spec_valid(const struct fkt_uprobe_spec *spec, u32 fetches)
{
	const bool pair = spec->flags == FKT_UPROBE_FLAGS;

	return spec->key < 32 && spec->code >= FKT_CODE_DYNAMIC &&
	       spec->code < FKT_CODE_DYNAMIC_END - pair && spec->flags &&
	       !(spec->flags & ~FKT_UPROBE_FLAGS) && !spec->reserved && spec->offset < S64_MAX &&
	       spec->semaphore < S64_MAX && spec->ops <= FKT_FETCH_OPS_MAX &&
	       spec->return_ops <= FKT_FETCH_OPS_MAX &&
	       (spec->flags & FKT_UPROBE_ENTRY || !spec->ops) &&
	       (spec->flags & FKT_UPROBE_RETURN || !spec->return_ops) &&
	       spec->ops_first <= fetches && spec->ops <= fetches - spec->ops_first &&
	       spec->return_ops_first <= fetches &&
	       spec->return_ops <= fetches - spec->return_ops_first;
}

/* Its file, open for as long as it is traced. */
static int fkt_uprobe_open(struct fkt_uprobe *probe, int fd)
{
	struct file *file = fget(fd);
	struct inode *inode;

	if (!file)
		return -EBADF;
	/* Where file systems lie upon each other, it is the lowest one whose pages are mapped. */
	inode = d_real_inode(file->f_path.dentry);
	if (!(file->f_mode & FMODE_READ) || !S_ISREG(inode->i_mode)) {
		const int ret = file->f_mode & FMODE_READ ? -EINVAL : -EBADF;

		fput(file);
		return ret;
	}
	probe->file = file;
	probe->inode = inode;
	return 0;
}

static int fkt_uprobe_add_one(const struct fkt_uprobe_spec *spec, const struct fkt_fetch *fetch,
			      u32 fetches)
{
	struct fkt_uprobe *probe;
	int ret;

	if (!fkt_uprobe_spec_valid(spec, fetches))
		return -EINVAL;
	if (!fkt_uprobe_ops_fit(fetch + spec->ops_first, spec->ops) ||
	    !fkt_uprobe_ops_fit(fetch + spec->return_ops_first, spec->return_ops))
		return -EINVAL;
	probe = kzalloc(struct_size(probe, fetch, spec->ops + spec->return_ops),
			GFP_KERNEL_ACCOUNT);
	if (!probe)
		return -ENOMEM;
	ret = fkt_uprobe_open(probe, spec->fd);
	if (ret) {
		kfree(probe);
		return ret;
	}
	memcpy(probe->fetch, fetch + spec->ops_first, spec->ops * sizeof(*fetch));
	memcpy(probe->fetch + spec->ops, fetch + spec->return_ops_first,
	       spec->return_ops * sizeof(*fetch));
	probe->key = 1u << spec->key;
	probe->code = spec->code;
	probe->pair = spec->flags == FKT_UPROBE_FLAGS;
	probe->offset = spec->offset;
	probe->semaphore = spec->semaphore;
	/* Also where the return alone is wanted: it counts those that are not caught. */
	probe->consumer.handler = fkt_uprobe_hit;
	if (spec->flags & FKT_UPROBE_ENTRY)
		probe->entry = (struct fkt_uprobe_event){
			.tag = FKT_TAG(spec->code, 0, 0),
			.ops = spec->ops,
			.fetch = probe->fetch,
		};
	if (spec->flags & FKT_UPROBE_RETURN) {
		probe->consumer.ret_handler = fkt_uprobe_returns;
		probe->ret = (struct fkt_uprobe_event){
			.tag = FKT_TAG(spec->code + probe->pair, 0, 0),
			.ops = spec->return_ops,
			.fetch = probe->fetch + spec->ops,
		};
	}
	list_add_tail(&probe->link, &fkt_uprobes);
	fkt_uprobe_count++;
	return 0;
}

static int fkt_uprobe_add(struct fkt_specs *specs)
{
	const struct fkt_uprobe_spec *spec = specs->spec;
	const u32 fetches = specs->common_bytes / sizeof(struct fkt_fetch);
	int ret;

	if (!IS_ENABLED(CONFIG_UPROBES))
		return -EOPNOTSUPP;
	if (specs->count > FKT_UPROBES_MAX - fkt_uprobe_count ||
	    specs->common_bytes % sizeof(struct fkt_fetch))
		return -EINVAL;
	for (; specs->done < specs->count; specs->done++) {
		ret = fkt_uprobe_add_one(&spec[specs->done], specs->common, fetches);
		if (ret)
			return ret;
	}
	return 0;
}

static void fkt_uprobe_clear(void)
{
	struct fkt_uprobe *probe, *next;

	list_for_each_entry_safe(probe, next, &fkt_uprobes, link) {
		/* Here and now: what it is on may be unmounted next. */
		if (current->flags & PF_KTHREAD)
			__fput_sync(probe->file);
		else
			fput(probe->file);
		kfree(probe);
	}
	INIT_LIST_HEAD(&fkt_uprobes);
	fkt_uprobe_count = 0;
}

static void fkt_uprobe_status(struct fkt_status *status)
{
	const u32 count = min_t(u32, fkt_uprobes_refused, FKT_REFUSED_FIRST);

	status->uprobes = fkt_uprobes_traced;
	status->uprobes_refused = fkt_uprobes_refused;
	memset(status->uprobe_refused, 0, sizeof(status->uprobe_refused));
	memcpy(status->uprobe_refused, fkt_uprobes_refused_first,
	       count * sizeof(status->uprobe_refused[0]));
	status->uprobes_missed = atomic64_read(&fkt_uprobes_missed);
}

/* --- Attaching -------------------------------------------------------------------------------- */

/* Take the breakpoints of some layers out again; nobody is in their handlers afterwards. */
static void fkt_uprobes_unregister(u32 keys)
{
	struct fkt_uprobe *probe;
	bool any = false;

	list_for_each_entry(probe, &fkt_uprobes, link) {
		if (!probe->registered || !(probe->key & keys))
			continue;
		fkt_uprobe_unregister(probe->inode, probe->offset, &probe->consumer,
				      &probe->handle);
		probe->registered = false;
		any = true;
		cond_resched();
	}
	if (any)
		fkt_uprobe_unregister_wait();
}

static void fkt_uprobe_refuse(const struct fkt_uprobe *probe, int error)
{
	if (fkt_uprobes_refused < FKT_REFUSED_FIRST)
		fkt_uprobes_refused_first[fkt_uprobes_refused] = (struct fkt_refused){
			.code = probe->code,
			.error = -error,
		};
	fkt_uprobes_refused++;
}

static int fkt_uprobe_attach(const struct fkt_session *s, u32 keys)
{
	const u32 traced = fkt_uprobes_traced, refused = fkt_uprobes_refused;
	struct fkt_uprobe *probe;
	int ret;

	list_for_each_entry(probe, &fkt_uprobes, link) {
		if (!(probe->key & keys))
			continue;
		/* Each may take a grace period. */
		if (signal_pending(current)) {
			fkt_uprobes_unregister(keys);
			fkt_uprobes_traced = traced;
			fkt_uprobes_refused = refused;
			return -ERESTARTSYS;
		}
		fkt_uprobe_choose(probe);
		probe->entry.stack = probe->entry.tag && fkt_stack_wanted(probe->code, 1);
		probe->ret.stack = !probe->entry.tag && fkt_stack_wanted(probe->code, 1);
		ret = fkt_uprobe_register(probe->inode, probe->offset, probe->semaphore,
					  &probe->consumer, &probe->handle);
		if (ret) {
			fkt_uprobe_refuse(probe, ret);
		} else {
			probe->registered = true;
			fkt_uprobes_traced++;
		}
		cond_resched();
	}
	return 0;
}

static void fkt_uprobe_detach(void)
{
	fkt_uprobes_unregister(~0u);
}

static void fkt_uprobe_begin(void)
{
	fkt_uprobes_traced = 0;
	fkt_uprobes_refused = 0;
	atomic64_set(&fkt_uprobes_missed, 0);
}

const struct fkt_provider fkt_provider_uprobe = {
	.name = "program",
	.keys = ~0u,
	.spec_bytes = sizeof(struct fkt_uprobe_spec),
	.common_max = FKT_UPROBE_OPS_MAX * sizeof(struct fkt_fetch),
	.count_max = FKT_UPROBES_MAX,
	/* Programs' memory may be read: the same rule as for the kernel's. */
	.lockdown = LOCKDOWN_KPROBES,
	/* A breakpoint within an instruction makes it another one. */
	.changes = true,
	.begin = fkt_uprobe_begin,
	.add = fkt_uprobe_add,
	.clear = fkt_uprobe_clear,
	.attach = fkt_uprobe_attach,
	.detach = fkt_uprobe_detach,
	.status = fkt_uprobe_status,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any address in the kernel, by kprobes, and the return of any function, by kretprobes.
 *
 * What is recorded besides the moment, the recorder says as a list of operations, which are checked
 * when they are given, and executed each time. The probes are registered at once, for that is the
 * kernel's check of the address, and enabled when their layer is attached.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat.h"
#include "fkt.h"
#include "fetch.h"
#include "kprobe.h"
#include "stacks.h"

/* In fkt_kprobe.keep; there are fewer words on a stack. */
#define FKT_KEEP_STACK 0x8000

/**
 * struct fkt_kprobe - an address that is traced
 * @tag: its FKT_TAG, without words
 * @key: mask of its layer
 * @ops: number of @fetch
 * @returns: it is a kretprobe
 * @refused: its module has gone before it was enabled
 * @kept: number of @keep
 * @keep: what is kept from when the function is entered until it returns: the number of a register,
 *	or, with FKT_KEEP_STACK, of a word on the stack
 * @rp: the kretprobe, or its rp.kp alone
 * @link: in fkt_kprobes
 * @fetch: what to record
 */
struct fkt_kprobe {
	u64 tag;
	u32 key;
	u16 ops;
	bool returns;
	bool refused;
	u8 kept;
	u16 keep[FKT_FETCH_WORDS_MAX];
	struct kretprobe rp;
	struct list_head link;
	struct fkt_fetch fetch[];
};

/* The session's lock. */
static LIST_HEAD(fkt_kprobes);
static u32 fkt_kprobe_count;
/* Of the recording that ended last. */
static u64 fkt_kprobes_missed_before;
/* Of the running or the last recording: whose module had gone before they were enabled. */
static u32 fkt_kprobes_refused;
static u32 fkt_kprobes_refused_first[FKT_REFUSED_FIRST]; /* their codes */

/* --- Being hit -------------------------------------------------------------------------------- */

static __always_inline void fkt_kprobe_record(const struct fkt_kprobe *probe, struct pt_regs *regs)
{
	FKT_PROBE_GUARD();

	if (!fkt_on(probe->key))
		return;
	if (probe->ops)
		fkt_fetch(probe->tag, probe->fetch, probe->ops, regs, NULL);
	else
		fkt_event_tag(probe->tag, 0, NULL);
}

static int fkt_kprobe_hit(struct kprobe *kp, struct pt_regs *regs)
{
	fkt_kprobe_record(container_of(kp, struct fkt_kprobe, rp.kp), regs);
	return 0;
}
NOKPROBE_SYMBOL(fkt_kprobe_hit);

static int fkt_kretprobe_hit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	/* NULL when it is being unregistered. */
	if (rp)
		fkt_kprobe_record(container_of(rp, struct fkt_kprobe, rp), regs);
	return 0;
}
NOKPROBE_SYMBOL(fkt_kretprobe_hit);

/*
 * The function is entered: keep what its return is to be recorded with, in the room that the kernel
 * gives each call for that. Whether the layer is on or not: it may be when the function returns.
 */
static int fkt_kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);
	const struct fkt_kprobe *probe;
	u64 *kept = (u64 *)ri->data;
	u32 i;

	if (!rp)
		return 1; /* nobody asks for this return any more */
	probe = container_of(rp, struct fkt_kprobe, rp);
	for (i = 0; i < probe->kept; i++)
		kept[i] = probe->keep[i] & FKT_KEEP_STACK
				  ? fkt_arch_stack_word(regs, probe->keep[i] & ~FKT_KEEP_STACK)
				  : ((unsigned long *)regs)[probe->keep[i]];
	return 0;
}
NOKPROBE_SYMBOL(fkt_kretprobe_entry);

static __always_inline void fkt_kprobe_record_kept(const struct fkt_kprobe *probe,
						   struct pt_regs *regs, const u64 *kept)
{
	FKT_PROBE_GUARD();

	if (fkt_on(probe->key))
		fkt_fetch(probe->tag, probe->fetch, probe->ops, regs, kept);
}

/* As fkt_kretprobe_hit(), where something was kept. */
static int fkt_kretprobe_hit_kept(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		fkt_kprobe_record_kept(container_of(rp, struct fkt_kprobe, rp), regs,
				       (const u64 *)ri->data);
	return 0;
}
NOKPROBE_SYMBOL(fkt_kretprobe_hit_kept);

/* The same of all, with the stack. */
static __always_inline void fkt_kprobe_record_stack(const struct fkt_kprobe *probe,
						    struct pt_regs *regs, const u64 *kept)
{
	FKT_PROBE_GUARD();

	if (fkt_on(probe->key))
		fkt_fetch_stack(probe->tag, probe->fetch, probe->ops, regs, kept,
				instruction_pointer(regs), FKT_STACK_OF_ADDRESS);
}

static int fkt_kprobe_hit_stack(struct kprobe *kp, struct pt_regs *regs)
{
	fkt_kprobe_record_stack(container_of(kp, struct fkt_kprobe, rp.kp), regs, NULL);
	return 0;
}
NOKPROBE_SYMBOL(fkt_kprobe_hit_stack);

static int fkt_kretprobe_hit_stack(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	if (rp)
		fkt_kprobe_record_stack(container_of(rp, struct fkt_kprobe, rp), regs,
					(const u64 *)ri->data);
	return 0;
}
NOKPROBE_SYMBOL(fkt_kretprobe_hit_stack);

/* --- What the recorder asked for ------------------------------------------------------------ */

/*
 * Whether an operation asks for what was there at the function's entry. If so, 1: it is kept from
 * now on, each but once, and the operation's size is where.
 */
static int fkt_fetch_keep(struct fkt_kprobe *probe, struct fkt_fetch *op)
{
	const bool stack = op->op == FKT_FETCH_ENTRY_STACK;
	struct fkt_fetch here = *op;
	u16 keep;
	u8 i;

	if (!stack && op->op != FKT_FETCH_ENTRY_REGISTER)
		return 0;
	here.op = stack ? FKT_FETCH_STACK : FKT_FETCH_REGISTER;
	if (!probe->returns || fkt_fetch_check(&here, false, 0) < 0)
		return -EINVAL;
	BUILD_BUG_ON(THREAD_SIZE / sizeof(unsigned long) > FKT_KEEP_STACK);
	keep = op->value | (stack ? FKT_KEEP_STACK : 0);
	for (i = 0; i < probe->kept && probe->keep[i] != keep; i++)
		;
	if (i == FKT_FETCH_WORDS_MAX)
		return -EINVAL;
	if (i == probe->kept)
		probe->keep[probe->kept++] = keep;
	op->size = i;
	return 1;
}

/* Check all operations of a probe. */
static int fkt_fetch_check_all(struct fkt_kprobe *probe)
{
	int words = 0, ret;
	u32 i;

	for (i = 0; i < probe->ops; i++) {
		ret = fkt_fetch_keep(probe, &probe->fetch[i]);
		if (!ret) {
			ret = fkt_fetch_check(&probe->fetch[i], i == probe->ops - 1u, 0);
			words += ret;
		}
		if (ret < 0 || words > FKT_FETCH_WORDS_MAX)
			return -EINVAL;
	}
	return 0;
}

static bool fkt_kprobe_spec_valid(const struct fkt_kprobe_spec *spec)
{
	return spec->key < 32 && spec->code >= FKT_CODE_DYNAMIC &&
	       spec->code < FKT_CODE_DYNAMIC_END && !(spec->flags & ~FKT_KPROBE_RETURN) &&
	       spec->ops <= FKT_FETCH_OPS_MAX && spec->max_active <= FKT_KPROBE_ACTIVE_MAX &&
	       (spec->flags & FKT_KPROBE_RETURN || !spec->max_active);
}

/**
 * fkt_kprobe_check - whether a kprobe may be put where the recorder asks for it
 * @kp: the kprobe, with its address
 *
 * What the kernel refuses, it does. But it takes the last function of a module to go on to the end
 * of its pages, decodes whatever there is up to there, and panics where the last instruction has
 * half of its bytes behind that.
 *
 * Context: process.
 * Return: 0, -EDEADLK if it is in FKT, -ERANGE if the kernel would read what is not there.
 */
int fkt_kprobe_check(const struct kprobe *kp)
{
	const unsigned long at = (unsigned long)kp->addr;
	unsigned long offset, size, end;
	char symbol[KSYM_SYMBOL_LEN];
	const char *place;
	u32 beyond;
	u8 byte;

	if (within_module(at, THIS_MODULE))
		return -EDEADLK;
	sprint_symbol(symbol, at);
	place = strchr(symbol, '+');
	if (!place || sscanf(place, "+%lx/%lx", &offset, &size) != 2)
		return 0; /* it has no name, and the kernel takes no such address */
	beyond = fkt_arch_kprobe_reads(at, offset);
	end = at - offset + size;
	if (beyond && copy_from_kernel_nofault(&byte, (void *)(end + beyond - 1), sizeof(byte)))
		return -ERANGE;
	return 0;
}

/**
 * fkt_kprobe_enable - have the kernel call a kprobe
 * @kp: the kprobe, registered
 *
 * While all kprobes are turned off (debugfs' kprobes/enabled), the kernel says that it does, and
 * does not. That is found out of those that ftrace calls, which are at the beginnings of functions,
 * where nobody else has one.
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP while they are turned off, or another negative errno value.
 */
int fkt_kprobe_enable(struct kprobe *kp)
{
	int ret = enable_kprobe(kp);

	if (!ret && kprobe_disabled(kp))
		ret = -EOPNOTSUPP;
	return ret;
}

static int fkt_kprobe_register(struct fkt_kprobe *probe)
{
	int ret = fkt_kprobe_check(&probe->rp.kp);

	if (ret)
		return ret;
	return probe->returns ? register_kretprobe(&probe->rp) : register_kprobe(&probe->rp.kp);
}

/* @fetch are @fetches operations, some of which are the address'. */
static int fkt_kprobe_add_one(const struct fkt_kprobe_spec *spec, const struct fkt_fetch *fetch,
			      u32 fetches)
{
	struct fkt_kprobe *probe;
	int ret;

	if (!fkt_kprobe_spec_valid(spec) || spec->ops_first > fetches ||
	    spec->ops > fetches - spec->ops_first)
		return -EINVAL;
	probe = kzalloc(struct_size(probe, fetch, spec->ops), GFP_KERNEL);
	if (!probe)
		return -ENOMEM;
	if (spec->ops)
		memcpy(probe->fetch, fetch + spec->ops_first, spec->ops * sizeof(*fetch));
	probe->tag = FKT_TAG(spec->code, 0, 0);
	probe->key = 1u << spec->key;
	probe->ops = spec->ops;
	probe->returns = spec->flags & FKT_KPROBE_RETURN;
	ret = fkt_fetch_check_all(probe);
	if (ret)
		goto out_free;
	probe->rp.kp.addr = (kprobe_opcode_t *)(unsigned long)spec->address;
	probe->rp.kp.flags = KPROBE_FLAG_DISABLED;
	if (probe->returns) {
		probe->rp.handler = fkt_kretprobe_hit;
		if (probe->kept) {
			probe->rp.handler = fkt_kretprobe_hit_kept;
			probe->rp.entry_handler = fkt_kretprobe_entry;
			probe->rp.data_size = probe->kept * sizeof(u64);
		}
		probe->rp.maxactive = spec->max_active;
	} else {
		probe->rp.kp.pre_handler = fkt_kprobe_hit;
	}
	ret = fkt_kprobe_register(probe);
	if (ret)
		goto out_free;
	list_add_tail(&probe->link, &fkt_kprobes);
	fkt_kprobe_count++;
	return 0;

out_free:
	kfree(probe);
	return ret;
}

static int fkt_kprobe_add(struct fkt_specs *specs)
{
	const struct fkt_kprobe_spec *spec = specs->spec;
	const u32 fetches = specs->common_bytes / sizeof(struct fkt_fetch);
	int ret;

	if (specs->count > FKT_KPROBES_MAX - fkt_kprobe_count ||
	    specs->common_bytes % sizeof(struct fkt_fetch))
		return -EINVAL;
	for (; specs->done < specs->count; specs->done++) {
		ret = fkt_kprobe_add_one(&spec[specs->done], specs->common, fetches);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * How often the kernel could not call a probe, because another one was running, or too many were
 * inside the function whose return is traced: the sum over the probes of the next or running
 * recording, else over those of the last one.
 */
static u64 fkt_kprobes_missed(void)
{
	const struct fkt_kprobe *probe;
	u64 missed = 0;

	if (list_empty(&fkt_kprobes))
		return fkt_kprobes_missed_before;
	list_for_each_entry(probe, &fkt_kprobes, link)
		missed += data_race(probe->rp.kp.nmissed) + data_race(probe->rp.nmissed);
	return missed;
}

static u32 fkt_kprobe_code(const struct fkt_kprobe *probe)
{
	return probe->tag >> FKT_SLOT_CODE_SHIFT & (FKT_SLOT_CODES - 1);
}

/* A recording does without what is in a module that has gone. */
static void fkt_kprobe_refuse(struct fkt_kprobe *probe)
{
	if (probe->refused)
		return;
	probe->refused = true;
	if (fkt_kprobes_refused < FKT_REFUSED_FIRST)
		fkt_kprobes_refused_first[fkt_kprobes_refused] = fkt_kprobe_code(probe);
	fkt_kprobes_refused++;
}

/* Those that were refused come behind the functions that were, which are there before. */
static void fkt_kprobe_status(struct fkt_status *status)
{
	u32 i, at = status->functions_refused;

	for (i = 0; i < fkt_kprobes_refused && at < FKT_REFUSED_FIRST; i++, at++)
		status->refused[at] = (struct fkt_refused){
			.code = fkt_kprobes_refused_first[i],
			.error = ENOENT,
		};
	status->functions_refused += fkt_kprobes_refused;
	status->missed += fkt_kprobes_missed();
}

/**
 * fkt_kprobe_stays - whether the kernel goes on calling a kprobe that was unregistered
 * @kp: the kprobe
 *
 * After an error of its own, ftrace lets go of nothing that it calls, which kprobes at the
 * beginning of functions are. Then the kprobe is never to be freed, and this module stays for it.
 *
 * Context: process.
 */
bool fkt_kprobe_stays(const struct kprobe *kp)
{
	if (kp->addr)
		return false;
	pr_warn_once("fkt: the kernel cannot take kprobes out any more: fkt stays loaded\n");
	__module_get(THIS_MODULE);
	return true;
}

static void fkt_kprobe_begin(void)
{
	fkt_kprobes_missed_before = 0;
	fkt_kprobes_refused = 0;
}

static void fkt_kprobe_clear(void)
{
	struct fkt_kprobe *probe, *next;
	struct kretprobe **returns;
	struct kprobe **kprobes;
	u32 kprobes_n = 0, returns_n = 0;

	fkt_kprobes_missed_before = fkt_kprobe_count ? fkt_kprobes_missed() : 0;
	if (!fkt_kprobe_count)
		return;
	/* All at once, for each call waits until no CPU is in a probe; one by one if it must be. */
	kprobes = kvmalloc_array(fkt_kprobe_count, sizeof(*kprobes), GFP_KERNEL);
	returns = kvmalloc_array(fkt_kprobe_count, sizeof(*returns), GFP_KERNEL);
	list_for_each_entry(probe, &fkt_kprobes, link) {
		if (!kprobes || !returns) {
			if (probe->returns)
				unregister_kretprobe(&probe->rp);
			else
				unregister_kprobe(&probe->rp.kp);
		} else if (probe->returns) {
			returns[returns_n++] = &probe->rp;
		} else {
			kprobes[kprobes_n++] = &probe->rp.kp;
		}
	}
	unregister_kprobes(kprobes, kprobes_n);
	unregister_kretprobes(returns, returns_n);
	kvfree(kprobes);
	kvfree(returns);
	list_for_each_entry_safe(probe, next, &fkt_kprobes, link) {
		if (fkt_kprobe_stays(&probe->rp.kp))
			WRITE_ONCE(probe->key, 0); /* it records nothing any more */
		else
			kfree(probe);
	}
	INIT_LIST_HEAD(&fkt_kprobes);
	fkt_kprobe_count = 0;
}

/* --- Attaching ------------------------------------------------------------------------------ */

/* It is registered, but not enabled; those without a stack stay as they are. */
static void fkt_kprobe_choose(struct fkt_kprobe *probe)
{
	if (!fkt_stack_wanted(fkt_kprobe_code(probe), 1))
		return;
	if (probe->returns)
		probe->rp.handler = fkt_kretprobe_hit_stack;
	else
		probe->rp.kp.pre_handler = fkt_kprobe_hit_stack;
}

static int fkt_kprobe_attach(const struct fkt_session *s, u32 keys)
{
	struct fkt_kprobe *probe;
	int ret;

	list_for_each_entry(probe, &fkt_kprobes, link) {
		if (!(probe->key & keys))
			continue;
		fkt_kprobe_choose(probe);
		ret = fkt_kprobe_enable(&probe->rp.kp);
		if (ret && kprobe_gone(&probe->rp.kp))
			fkt_kprobe_refuse(probe);
		else if (ret)
			return ret;
	}
	return 0;
}

static void fkt_kprobe_detach(void)
{
	struct fkt_kprobe *probe;

	list_for_each_entry(probe, &fkt_kprobes, link)
		disable_kprobe(&probe->rp.kp);
}

const struct fkt_provider fkt_provider_kprobe = {
	.name = "address",
	.keys = ~0u,
	.spec_bytes = sizeof(struct fkt_kprobe_spec),
	.common_max = FKT_KPROBES_MAX * FKT_FETCH_OPS_MAX * sizeof(struct fkt_fetch),
	.count_max = FKT_KPROBES_MAX,
	/* Any memory may be read: as for the kernel's own kprobe events. */
	.lockdown = LOCKDOWN_KPROBES,
	.add = fkt_kprobe_add,
	.begin = fkt_kprobe_begin,
	.clear = fkt_kprobe_clear,
	.attach = fkt_kprobe_attach,
	.detach = fkt_kprobe_detach,
	.status = fkt_kprobe_status,
};

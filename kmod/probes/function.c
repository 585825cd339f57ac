// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel functions, in and out, through ftrace's direct trampolines.
 *
 * The recorder names the functions by address, each with the code of its entry; the code of its exit
 * is the next one. A table by the address that the trampoline finds on its stack says what to record.
 */
#include <linux/ftrace.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "compat.h"
#include "fkt.h"

/**
 * struct fkt_function - a function that is traced
 * @body: where the trampoline returns to to run the function; 0 in an empty place of the table
 * @entry_tag: the entry's FKT_TAG, with its number of arguments
 * @exit_tag: the exit's
 * @key: its layer, 0 once it is traced no more
 * @flags: FKT_FUNCTION_…, and FKT_FUNCTION_ARGS when @entry_tag has some
 */
struct fkt_function {
	unsigned long body;
	u32 entry_tag;
	u32 exit_tag;
	u32 key;
	u32 flags;
	u64 unused;
};

#define FKT_FUNCTION_SHIFT 5
#define FKT_FUNCTION_ARGS  (1u << 31)
static_assert(sizeof(struct fkt_function) == 1u << FKT_FUNCTION_SHIFT);

/**
 * struct fkt_function_table - the functions of one recording, by @body
 * @mask: the size of @place in bytes, less one place
 * @retired: link in fkt_functions_retired, from the beginning
 * @place: the places, a power of two, at most half of them taken
 */
struct fkt_function_table {
	unsigned long mask;
	struct list_head retired;
	struct fkt_function place[];
};

/* One set of hooks for each layer: layers are attached when they are first asked for. */
struct fkt_function_group {
	struct ftrace_ops ops;
};

void fkt_function_trampoline(void);
struct fkt_function *fkt_function_entry(unsigned long body, const u64 *args);
void fkt_function_exit(struct fkt_function *function, u64 ret);

/* What the recorder asked for; the session's lock. */
static struct fkt_function_spec *fkt_function_specs;
static u32 fkt_function_count;

static struct fkt_function_table *fkt_functions;
static struct fkt_function_group *fkt_function_groups[32];

/* Tasks between a traced function's entry and its exit, as a sum over CPUs. */
static DEFINE_PER_CPU(long, fkt_functions_inside);

/* Tables that tasks may still come back to. While there are any, the module is pinned. */
static LIST_HEAD(fkt_functions_retired);
static bool fkt_functions_live;
static DEFINE_MUTEX(fkt_functions_lock);

/*
 * Functions begin at multiples of 16 and places are 32 bytes long: twice the address, cut to the
 * table's size, is where to look first.
 */
static __always_inline struct fkt_function *fkt_function_place(struct fkt_function_table *table,
							       unsigned long offset)
{
	return (void *)table->place + (offset & table->mask);
}

static __always_inline struct fkt_function *fkt_function_find(unsigned long body)
{
	struct fkt_function_table *table = READ_ONCE(fkt_functions);
	unsigned long offset = body << (FKT_FUNCTION_SHIFT - 4);
	struct fkt_function *function = fkt_function_place(table, offset);

	while (unlikely(function->body != body)) {
		if (!function->body)
			return NULL;
		offset += sizeof(*function);
		function = fkt_function_place(table, offset);
	}
	return function;
}

/* Every case of fkt_function_entry(), which has turned preemption off. */
static noinline struct fkt_function *fkt_function_entry_slow(struct fkt_function *function,
							     const u64 *args)
{
	u64 copy[6];

	memcpy(copy, args, sizeof(copy));
	fkt_event_tag(function->entry_tag, function->entry_tag & FKT_SLOT_WORDS_MASK, copy);
	if (function->flags & FKT_FUNCTION_ENTRY_ONLY)
		function = NULL;
	else
		this_cpu_inc(fkt_functions_inside);
	preempt_enable_notrace();
	return function;
}

/**
 * fkt_function_entry - called by the trampoline when a function is entered
 * @body: the return into its body
 * @args: its six argument registers
 *
 * Context: that of the traced function: any.
 * Return: what fkt_function_exit() is to be called with, NULL when the exit is not to be caught.
 */
__visible struct fkt_function *fkt_function_entry(unsigned long body, const u64 *args)
{
	struct fkt_function *function = fkt_function_find(body);
	struct fkt_slot slot __fkt_uninitialized;

	if (unlikely(!function))
		return NULL;
	preempt_disable_notrace();
	/* Asked with preemption off: the session waits for those before it takes the lane away. */
	if (unlikely(!fkt_on(READ_ONCE(function->key)))) {
		preempt_enable_notrace();
		return NULL;
	}
	if (unlikely(function->flags) || static_branch_unlikely(&fkt_shared_key) ||
	    unlikely(!fkt_reserve(this_cpu_read(fkt_lane), function->entry_tag, 0, false, &slot)))
		return fkt_function_entry_slow(function, args);
	fkt_commit(&slot, false);
	this_cpu_inc(fkt_functions_inside);
	preempt_enable_notrace();
	return function;
}

/* Every case of fkt_function_exit(), which has turned preemption off. */
static noinline void fkt_function_exit_slow(struct fkt_function *function, u64 ret)
{
	u64 tag = function->exit_tag;

	if ((s64)ret == (s16)ret)
		fkt_event_tag(tag | (u64)(u16)ret << FKT_SLOT_IMM_SHIFT, 0, NULL);
	else
		fkt_event_tag(tag | 1, 1, &ret);
	this_cpu_dec(fkt_functions_inside);
	preempt_enable_notrace();
}

/**
 * fkt_function_exit - called by the trampoline when a function returns
 * @function: what fkt_function_entry() returned
 * @ret: the value that it returns
 *
 * Context: that of the traced function: any, possibly long after the recording.
 */
__visible void fkt_function_exit(struct fkt_function *function, u64 ret)
{
	struct fkt_slot slot __fkt_uninitialized;

	preempt_disable_notrace();
	if (likely(fkt_on(READ_ONCE(function->key)))) {
		u64 tag = function->exit_tag | (u64)(u16)ret << FKT_SLOT_IMM_SHIFT;

		if (unlikely((s64)ret != (s16)ret) || static_branch_unlikely(&fkt_shared_key) ||
		    unlikely(!fkt_reserve(this_cpu_read(fkt_lane), tag, 0, false, &slot))) {
			fkt_function_exit_slow(function, ret);
			return;
		}
		fkt_commit(&slot, false);
	}
	this_cpu_dec(fkt_functions_inside);
	preempt_enable_notrace();
}

/* --- Attaching ------------------------------------------------------------------------------ */

static bool fkt_spec_valid(const struct fkt_function_spec *spec)
{
	return spec->address && spec->key < 32 && spec->args <= 6 && !spec->reserved &&
	       !(spec->flags & ~FKT_FUNCTION_FLAGS) && spec->code >= FKT_CODE_DYNAMIC &&
	       spec->code < FKT_CODE_DYNAMIC_END - 1;
}

/**
 * fkt_functions_add - functions for the next recording, see FKT_ADD_FUNCTIONS
 * @specs: user memory
 * @count: how many
 *
 * Context: the session's lock, idle; may sleep.
 * Return: 0 or a negative errno value.
 */
int fkt_functions_add(const struct fkt_function_spec __user *specs, u32 count)
{
	struct fkt_function_spec *all;
	u32 i;

	if (!count || count > FKT_FUNCTIONS_MAX - fkt_function_count)
		return -EINVAL;
	all = kvmalloc_array(fkt_function_count + count, sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	if (copy_from_user(all + fkt_function_count, specs, count * sizeof(*all))) {
		kvfree(all);
		return -EFAULT;
	}
	for (i = fkt_function_count; i < fkt_function_count + count; i++) {
		if (!fkt_spec_valid(&all[i])) {
			kvfree(all);
			return -EINVAL;
		}
	}
	if (fkt_function_count)
		memcpy(all, fkt_function_specs, fkt_function_count * sizeof(*all));
	kvfree(fkt_function_specs);
	fkt_function_specs = all;
	fkt_function_count += count;
	return 0;
}

/**
 * fkt_functions_clear - forget what fkt_functions_add() was given
 * Context: the session's lock, idle.
 */
void fkt_functions_clear(void)
{
	kvfree(fkt_function_specs);
	fkt_function_specs = NULL;
	fkt_function_count = 0;
}

/* Where ftrace's call in a function that ftrace knows returns to. */
static unsigned long fkt_function_body(unsigned long address)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (!memcmp((void *)address, endbr64, sizeof(endbr64)))
		address += sizeof(endbr64);
	return address + MCOUNT_INSN_SIZE;
}

static int fkt_table_insert(struct fkt_function_table *table, const struct fkt_function_spec *spec)
{
	unsigned long body = fkt_function_body(spec->address);
	unsigned long offset = body << (FKT_FUNCTION_SHIFT - 4);
	struct fkt_function *function = fkt_function_place(table, offset);

	while (function->body) {
		if (function->body == body)
			return -EEXIST;
		offset += sizeof(*function);
		function = fkt_function_place(table, offset);
	}
	*function = (struct fkt_function){
		.entry_tag = FKT_TAG(spec->code, spec->args, 0),
		.exit_tag = FKT_TAG(spec->code + 1, 0, 0),
		.key = 1u << spec->key,
		.flags = spec->flags | (spec->args ? FKT_FUNCTION_ARGS : 0),
	};
	/* A probe of another layer may pass by: it must find the place whole, or not at all. */
	smp_store_release(&function->body, body);
	return 0;
}

static struct fkt_function_table *fkt_table_new(u32 count)
{
	unsigned long bytes = 2 * roundup_pow_of_two(count) * sizeof(struct fkt_function);
	struct fkt_function_table *table = vzalloc(sizeof(*table) + bytes);

	if (table)
		table->mask = bytes - sizeof(struct fkt_function);
	return table;
}

/* Hook the functions of one layer. */
static int fkt_group_attach(u32 bit)
{
	struct fkt_function_group *group;
	unsigned long *ips;
	u32 i, count = 0;
	int ret = 0;

	ips = kvmalloc_array(fkt_function_count, sizeof(*ips), GFP_KERNEL);
	group = kzalloc(sizeof(*group), GFP_KERNEL);
	if (!ips || !group) {
		ret = -ENOMEM;
		goto out;
	}
	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].key == bit)
			ips[count++] = fkt_function_specs[i].address;
	if (!count)
		goto out;
	/* This is also the check of the addresses: ftrace takes only functions that it can hook. */
	ret = ftrace_set_filter_ips(&group->ops, ips, count, 0, 1);
	if (ret)
		goto out_filter;
	for (i = 0; i < fkt_function_count && !ret; i++)
		if (fkt_function_specs[i].key == bit)
			ret = fkt_table_insert(fkt_functions, &fkt_function_specs[i]);
	if (ret)
		goto out_filter;
	/* Patching the functions makes every CPU see the table before it gets to the trampoline. */
	ret = fkt_register_direct(&group->ops, (unsigned long)fkt_function_trampoline);
	if (ret)
		goto out_filter;
	fkt_function_groups[bit] = group;
	group = NULL;
	goto out;

out_filter:
	ftrace_free_filter(&group->ops);
out:
	kfree(group);
	kvfree(ips);
	return ret;
}

/*
 * Free the tables of past recordings, once no task is inside a traced function, or in the trampoline
 * itself. Runs again and again until then.
 */
#define FKT_REAP_MS 200

static void fkt_functions_reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(fkt_functions_reaper, fkt_functions_reap);

static bool fkt_functions_empty(void)
{
	long inside = 0;
	int cpu;

	/* Without live hooks the count only goes down, and a sum can only be too large. */
	for_each_possible_cpu(cpu)
		inside += READ_ONCE(per_cpu(fkt_functions_inside, cpu));
	return !inside;
}

static void fkt_functions_reap(struct work_struct *work)
{
	struct fkt_function_table *table, *next;
	bool done = false;

	mutex_lock(&fkt_functions_lock);
	if (!fkt_functions_live && fkt_functions_empty()) {
		/*
		 * Nobody comes back through a body any more; some may be in the trampoline's last
		 * instructions, or in its first ones. They leave without sleeping.
		 */
		synchronize_rcu_tasks_rude();
		synchronize_rcu_tasks();
		list_for_each_entry_safe(table, next, &fkt_functions_retired, retired)
			vfree(table);
		INIT_LIST_HEAD(&fkt_functions_retired);
		fkt_functions = NULL;
		done = true;
	}
	if (!done)
		schedule_delayed_work(&fkt_functions_reaper, msecs_to_jiffies(FKT_REAP_MS));
	mutex_unlock(&fkt_functions_lock);
	if (done)
		module_put(THIS_MODULE);
}

/**
 * fkt_functions_exit - at module unload, which the reaper has allowed: wait until it has returned
 */
void fkt_functions_exit(void)
{
	cancel_delayed_work_sync(&fkt_functions_reaper);
}

static void fkt_function_detach(void)
{
	u32 bit, i;

	for (bit = 0; bit < ARRAY_SIZE(fkt_function_groups); bit++) {
		struct fkt_function_group *group = fkt_function_groups[bit];

		if (!group)
			continue;
		fkt_unregister_direct(&group->ops, (unsigned long)fkt_function_trampoline);
		ftrace_free_filter(&group->ops);
		kfree(group);
		fkt_function_groups[bit] = NULL;
	}
	mutex_lock(&fkt_functions_lock);
	if (fkt_functions_live) {
		/*
		 * Tasks may sleep in traced functions for as long as they like; when they come
		 * back, they find that nothing is to be recorded. The table stays until then.
		 */
		for (i = 0; i <= fkt_functions->mask >> FKT_FUNCTION_SHIFT; i++)
			WRITE_ONCE(fkt_functions->place[i].key, 0);
		fkt_functions_live = false;
		schedule_delayed_work(&fkt_functions_reaper, 0);
	}
	mutex_unlock(&fkt_functions_lock);
}

/* Make the table for a recording. Those who are still in an old one's functions keep that. */
static int fkt_table_begin(void)
{
	struct fkt_function_table *table = fkt_table_new(fkt_function_count);

	if (!table)
		return -ENOMEM;
	mutex_lock(&fkt_functions_lock);
	if (list_empty(&fkt_functions_retired))
		__module_get(THIS_MODULE); /* put by the reaper */
	list_add(&table->retired, &fkt_functions_retired);
	smp_store_release(&fkt_functions, table);
	fkt_functions_live = true;
	mutex_unlock(&fkt_functions_lock);
	return 0;
}

static int fkt_function_attach(const struct fkt_session *s, u32 keys)
{
	u32 bit;
	int ret;

	if (!fkt_function_count)
		return 0;
	if (!fkt_functions_live) {
		ret = fkt_table_begin();
		if (ret)
			return ret;
	}
	for (bit = 0; bit < ARRAY_SIZE(fkt_function_groups); bit++) {
		if (!(keys & 1u << bit) || fkt_function_groups[bit])
			continue;
		ret = fkt_group_attach(bit);
		if (ret)
			return ret;
	}
	return 0;
}

const struct fkt_provider fkt_provider_function = {
	.name = "function",
	.keys = ~0u,
	.attach = fkt_function_attach,
	.detach = fkt_function_detach,
};

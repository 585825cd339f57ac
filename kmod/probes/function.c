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
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <asm/text-patching.h>
#include "compat.h"
#include "fkt.h"
#include "graph.h"
#include "trampoline.h"

/**
 * struct fkt_function - a function that is traced, in a line of cache of its own
 * @body: where the trampoline returns to to run the function; 0 in an empty place of the table
 * @ret_mask: which bits of %rax the function sets
 * @entry_tag: the entry's FKT_TAG, with its number of arguments
 * @exit_tag: the exit's
 * @entry_keys: @keys, if fkt_function_entry() needs to know nothing else, else 0
 * @exit_keys: the same for fkt_function_exit()
 * @keys: its layers, 0 once it is traced no more
 * @copy_words: how many words of arguments it has on the stack, that the trampoline is to copy
 * @flags: FKT_FUNCTION_…
 */
struct fkt_function {
	unsigned long body;
	u64 ret_mask;
	u32 entry_tag;
	u32 exit_tag;
	u32 entry_keys;
	u32 exit_keys;
	u32 keys;
	u8 copy_words;
	u8 flags;
} __aligned(1u << 6);

#define FKT_FUNCTION_SHIFT 6
/* Functions begin at multiples of 16. */
#define FKT_BODY_SHIFT	   4
#define FKT_ENDBR_BYTES	   4
static_assert(sizeof(struct fkt_function) == 1u << FKT_FUNCTION_SHIFT);
static_assert(offsetof(struct fkt_function, copy_words) == FKT_FUNCTION_COPY_OFFSET);
static_assert(FKT_FUNCTION_COPY_MAX == FKT_COPY_WORDS);

/**
 * struct fkt_function_table - the functions of one recording, by @body
 * @retired: link in fkt_functions_retired, from the beginning
 * @unused: keeps @mask at a small distance from @place
 * @mask: the size of @place in bytes, less one place
 * @place: the places, a power of two, at most half of them taken
 */
struct fkt_function_table {
	struct list_head retired;
	u8 unused[40];
	unsigned long mask;
	struct fkt_function place[];
};

/**
 * struct fkt_function_group - functions that were hooked together: when their layers were asked for,
 * those of each module apart, and of the kernel's own those that have arguments on the stack
 * @link: in fkt_function_groups
 * @ops: the hooks
 * @address: one of the functions
 * @direct: hooked by direct trampoline, else by redirection
 * @copying: by the trampoline that copies the arguments on the stack
 */
struct fkt_function_group {
	struct list_head link;
	struct ftrace_ops ops;
	unsigned long address;
	bool direct;
	bool copying;
};

/* What the recorder asked for; the session's lock. */
static struct fkt_function_spec *fkt_function_specs;
static u32 fkt_function_count;
static u32 fkt_function_graph_depth;

/* The places of the table of the running, or of the last recording. */
static struct fkt_function *fkt_functions;
/* The groups that are hooked, and its lock. */
static LIST_HEAD(fkt_function_groups);
static DEFINE_MUTEX(fkt_groups_lock);
static u32 fkt_function_keys; /* the layers whose functions are hooked */

/* How many functions the recording has hooked, and how many ftrace would not hook. */
static u32 fkt_functions_hooked;
static u32 fkt_functions_refused;

/* Tables that tasks may still come back to. Each one pins the module. */
static LIST_HEAD(fkt_functions_retired);
static bool fkt_functions_live;
static DEFINE_MUTEX(fkt_functions_lock);

static __always_inline struct fkt_function_table *fkt_table_of(struct fkt_function *places)
{
	return container_of(places, struct fkt_function_table, place[0]);
}

/* Where to look first: the address, in units of places, cut to the table's size. */
static __always_inline struct fkt_function *fkt_function_first(struct fkt_function *places,
							       unsigned long body)
{
	unsigned long offset = body << (FKT_FUNCTION_SHIFT - FKT_BODY_SHIFT);

	return (void *)places + (offset & fkt_table_of(places)->mask);
}

/* Where a function is, or the empty place where it would be. */
static struct fkt_function *fkt_function_find(struct fkt_function *places, unsigned long body)
{
	struct fkt_function *function = fkt_function_first(places, body);
	unsigned long offset = (void *)function - (void *)places;

	while (function->body && function->body != body) {
		offset = (offset + sizeof(*function)) & fkt_table_of(places)->mask;
		function = (void *)places + offset;
	}
	return function;
}

/* Whether the current task is where functions are to be recorded, or enters it with this one. */
static bool fkt_function_in_graph(const struct fkt_function *function)
{
	bool full, in;

	in = fkt_graph_enter(function->flags & FKT_FUNCTION_ROOT,
			     !(function->flags & FKT_FUNCTION_ENTRY_ONLY), &full);
	if (full)
		fkt_event_lost();
	return in;
}

/*
 * Whoever interrupts a function of a graph is as deep in it as the order of the events says: nobody
 * does between the count and the event.
 */
static __always_inline unsigned long fkt_graph_lock(const struct fkt_function *function)
{
	unsigned long irqs = 0;

	if (function->flags & FKT_FUNCTION_GRAPH)
		raw_local_irq_save(irqs);
	return irqs;
}

static __always_inline void fkt_graph_unlock(const struct fkt_function *function,
					     unsigned long irqs)
{
	if (function->flags & FKT_FUNCTION_GRAPH)
		raw_local_irq_restore(irqs);
}

/* Every case of fkt_function_entry(), which has turned preemption off. */
static noinline struct fkt_function *fkt_function_entry_slow(unsigned long body, const u64 *args)
{
	struct fkt_function *function = fkt_function_find(READ_ONCE(fkt_functions), body);
	bool recorded = false;
	unsigned long irqs;
	u64 copy[6];

	if (!function->body || !fkt_on(READ_ONCE(function->keys))) {
		preempt_enable_notrace();
		return NULL;
	}
	memcpy(copy, args, sizeof(copy));
	irqs = fkt_graph_lock(function);
	if (!(function->flags & FKT_FUNCTION_GRAPH) || fkt_function_in_graph(function)) {
		fkt_event_tag(function->entry_tag, function->entry_tag & FKT_SLOT_WORDS_MASK, copy);
		recorded = true;
	}
	fkt_graph_unlock(function, irqs);
	preempt_enable_notrace();
	return recorded && !(function->flags & FKT_FUNCTION_ENTRY_ONLY) ? function : NULL;
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
	struct fkt_function *function;
	struct fkt_slot slot __fkt_uninitialized;

	/* Before all else: the session waits for those before it takes the lane away. */
	preempt_disable_notrace();
	function = fkt_function_first(READ_ONCE(fkt_functions), body);
	if (unlikely(function->body != body) ||
	    unlikely(!fkt_on(READ_ONCE(function->entry_keys))) ||
	    static_branch_unlikely(&fkt_shared_key) ||
	    unlikely(!fkt_reserve(this_cpu_read(fkt_lane), function->entry_tag, 0, false, &slot)))
		return fkt_function_entry_slow(body, args);
	fkt_commit(&slot, false);
	preempt_enable_notrace();
	return function;
}

/* Every case of fkt_function_exit(), which has turned preemption off. */
static noinline void fkt_function_exit_slow(struct fkt_function *function, u64 ret)
{
	u32 keys = READ_ONCE(function->keys);
	u64 tag = function->exit_tag;
	unsigned long irqs;

	irqs = fkt_graph_lock(function);
	if (!fkt_on(keys))
		;
	else if ((s64)ret == (s16)ret)
		fkt_event_tag(tag | (u64)(u16)ret << FKT_SLOT_IMM_SHIFT, 0, NULL);
	else
		fkt_event_tag(tag | 1, 1, &ret);
	/* Who was recorded going in goes out, also while the layer is off, but not after its time. */
	if (keys && function->flags & FKT_FUNCTION_GRAPH)
		fkt_graph_leave();
	fkt_graph_unlock(function, irqs);
	preempt_enable_notrace();
}

/**
 * fkt_function_exit - called by the trampoline when a function returns
 * @function: what fkt_function_entry() returned
 * @ret: the value that it returns
 *
 * Context: that of the traced function: any, possibly after the recording.
 */
__visible void fkt_function_exit(struct fkt_function *function, u64 ret)
{
	struct fkt_slot slot __fkt_uninitialized;
	u64 imm;

	ret &= function->ret_mask;
	imm = (u16)ret;
	/* Else gcc shifts first, and masks with a constant of 64 bits. */
	OPTIMIZER_HIDE_VAR(imm);
	preempt_disable_notrace();
	if (unlikely(!fkt_on(READ_ONCE(function->exit_keys))) || unlikely((s64)ret != (s16)ret) ||
	    static_branch_unlikely(&fkt_shared_key) ||
	    unlikely(!fkt_reserve(this_cpu_read(fkt_lane),
				  function->exit_tag | imm << FKT_SLOT_IMM_SHIFT, 0, false,
				  &slot))) {
		fkt_function_exit_slow(function, ret);
		return;
	}
	fkt_commit(&slot, false);
	preempt_enable_notrace();
}

/* --- Attaching ------------------------------------------------------------------------------ */

static bool fkt_spec_valid(const struct fkt_function_spec *spec)
{
	return spec->address && spec->keys && fkt_mask_valid(spec->keys) && spec->args <= 6 &&
	       (!spec->ret_bytes || is_power_of_2(spec->ret_bytes)) && spec->ret_bytes <= 8 &&
	       spec->copy_words <= FKT_FUNCTION_COPY_MAX && !(spec->flags & ~FKT_FUNCTION_FLAGS) &&
	       spec->code >= FKT_CODE_DYNAMIC && spec->code < FKT_CODE_DYNAMIC_END - 1;
}

/*
 * A function whose exit is caught gets copies of the arguments on its stack: how many it has is taken
 * on trust, and with too few of them it works with others. Whoever may not write into the kernel may not
 * say that. Its entry alone changes nothing.
 */
static int fkt_spec_check(const struct fkt_function_spec *spec)
{
	if (!fkt_spec_valid(spec))
		return -EINVAL;
	return spec->flags & FKT_FUNCTION_ENTRY_ONLY ? 0 :
						       security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL);
}

/**
 * fkt_functions_add - functions for the next recording, see FKT_ADD_FUNCTIONS
 * @specs: user memory
 * @count: how many
 * @graph_depth: how deep to record those with FKT_FUNCTION_GRAPH; the last one counts
 *
 * Context: the session's lock, idle; may sleep.
 * Return: 0 or a negative errno value.
 */
int fkt_functions_add(const struct fkt_function_spec __user *specs, u32 count, u32 graph_depth)
{
	struct fkt_function_spec *all;
	u32 i;
	int ret;

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
		ret = fkt_spec_check(&all[i]);
		if (ret) {
			kvfree(all);
			return ret;
		}
	}
	if (fkt_function_count)
		memcpy(all, fkt_function_specs, fkt_function_count * sizeof(*all));
	kvfree(fkt_function_specs);
	fkt_function_specs = all;
	fkt_function_count += count;
	fkt_function_graph_depth = graph_depth;
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

/*
 * Where ftrace's call in a function that ftrace knows returns to. The call stands at its beginning,
 * or behind an ENDBR, or behind what the kernel writes over an ENDBR that nobody needs.
 */
static unsigned long fkt_function_body(unsigned long address)
{
	static const u8 nop[MCOUNT_INSN_SIZE] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	if (*(u8 *)address != CALL_INSN_OPCODE && memcmp((void *)address, nop, sizeof(nop)))
		address += FKT_ENDBR_BYTES;
	return address + MCOUNT_INSN_SIZE;
}

static int fkt_table_insert(struct fkt_function *places, const struct fkt_function_spec *spec)
{
	unsigned long body = fkt_function_body(spec->address);
	struct fkt_function *function = fkt_function_find(places, body);
	bool plain = !spec->flags && !spec->args;

	if (function->body)
		return -EEXIST;
	*function = (struct fkt_function){
		.ret_mask = spec->ret_bytes ? GENMASK_ULL(8 * spec->ret_bytes - 1, 0) : 0,
		.entry_tag = FKT_TAG(spec->code, spec->args, 0),
		.exit_tag = FKT_TAG(spec->code + 1, 0, 0),
		.entry_keys = plain ? spec->keys : 0,
		.exit_keys = spec->flags & FKT_FUNCTION_GRAPH ? 0 : spec->keys,
		.keys = spec->keys,
		.flags = spec->flags,
		.copy_words = spec->copy_words,
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

/*
 * Add @count addresses to what @ops hooks. ftrace takes all of them or none: what it refuses is
 * found by halving. Return: how many it took.
 */
static u32 fkt_filter_add(struct ftrace_ops *ops, unsigned long *ips, u32 count)
{
	u32 half = count / 2;

	if (!count || !ftrace_set_filter_ips(ops, ips, count, 0, 0))
		return count;
	if (count == 1) {
		ips[0] = 0;
		return 0;
	}
	return fkt_filter_add(ops, ips, half) + fkt_filter_add(ops, ips + half, count - half);
}

/* What ftrace calls where it can't call the trampoline directly. */
static __always_inline void fkt_function_redirect(struct ftrace_regs *fregs, void (*to)(void))
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	regs->r10 = regs->ip;
	regs->ip = (unsigned long)to;
}

static void fkt_function_redirect_plain(unsigned long ip, unsigned long parent_ip,
					struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fkt_function_redirect(fregs, fkt_function_redirected);
}

static void fkt_function_redirect_copying(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fkt_function_redirect(fregs, fkt_function_redirected_copying);
}

static unsigned long fkt_group_trampoline(const struct fkt_function_group *group)
{
	return (unsigned long)(group->copying ? fkt_function_trampoline_copying
					      : fkt_function_trampoline);
}

static int fkt_group_hook(struct fkt_function_group *group)
{
	int ret;

	if (group->direct) {
		ret = fkt_register_direct(&group->ops, fkt_group_trampoline(group));
	} else {
		group->ops.func = group->copying ? fkt_function_redirect_copying
						 : fkt_function_redirect_plain;
		group->ops.flags |= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY;
		ret = register_ftrace_function(&group->ops);
	}
	return ret == -EBUSY || ret == -EEXIST ? -EADDRINUSE : ret;
}

static void fkt_group_unhook(struct fkt_function_group *group)
{
	if (group->direct)
		fkt_unregister_direct(&group->ops, fkt_group_trampoline(group));
	else
		unregister_ftrace_function(&group->ops);
	ftrace_free_filter(&group->ops);
	list_del(&group->link);
	kfree(group);
}

/* Hook @count functions, which make a group. */
static int fkt_group_attach(const struct fkt_function_spec *const *specs, unsigned long *ips,
			    u32 count)
{
	struct fkt_function_group *group = kzalloc(sizeof(*group), GFP_KERNEL);
	u32 i, hooked;
	int ret;

	if (!group)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		ips[i] = specs[i]->address;
		group->copying |= !!specs[i]->copy_words;
	}
	group->address = ips[0];
	group->direct = count <= FKT_DIRECT_MAX;
	hooked = fkt_filter_add(&group->ops, ips, count);
	fkt_functions_refused += count - hooked;
	for (i = 0; i < count; i++) {
		if (ips[i] && fkt_table_insert(fkt_functions, specs[i])) {
			fkt_functions_refused++;
			hooked--;
		}
	}
	/* Without any, ftrace would hook every function. */
	if (!hooked) {
		ftrace_free_filter(&group->ops);
		kfree(group);
		return 0;
	}
	/* Patching the functions makes every CPU see the table before it gets to the trampoline. */
	ret = fkt_group_hook(group);
	if (ret) {
		ftrace_free_filter(&group->ops);
		kfree(group);
		return ret;
	}
	fkt_functions_hooked += hooked;
	list_add(&group->link, &fkt_function_groups);
	return 0;
}

/*
 * A module has one group: unhooking each takes two grace periods. Its few functions go the slower
 * way together if one of them has to.
 */
static int fkt_spec_order(const void *va, const void *vb)
{
	const struct fkt_function_spec *a = *(const struct fkt_function_spec *const *)va;
	const struct fkt_function_spec *b = *(const struct fkt_function_spec *const *)vb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->group)
		return 0;
	return !a->copy_words - !b->copy_words;
}

/* Hook the functions of the layers in @keys that are in none of those in @before. */
static int fkt_layers_attach(u32 keys, u32 before)
{
	const struct fkt_function_spec **specs;
	u32 i, end, count = 0;
	unsigned long *ips;
	int ret = 0;

	ips = kvmalloc_array(fkt_function_count, sizeof(*ips), GFP_KERNEL);
	specs = kvmalloc_array(fkt_function_count, sizeof(*specs), GFP_KERNEL);
	if (!ips || !specs) {
		ret = -ENOMEM;
		goto out;
	}
	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].keys & keys && !(fkt_function_specs[i].keys & before))
			specs[count++] = &fkt_function_specs[i];
	sort(specs, count, sizeof(*specs), fkt_spec_order, NULL);
	mutex_lock(&fkt_groups_lock);
	for (i = 0; i < count && !ret; i = end) {
		for (end = i + 1; end < count && !fkt_spec_order(&specs[i], &specs[end]); end++)
			;
		ret = fkt_group_attach(specs + i, ips, end - i);
	}
	mutex_unlock(&fkt_groups_lock);
out:
	kvfree(specs);
	kvfree(ips);
	return ret;
}

/* A module goes: ftrace is about to forget its functions. */
static int fkt_function_module(struct notifier_block *block, unsigned long state, void *data)
{
	struct fkt_function_group *group, *next;
	const struct module *module = data;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&fkt_groups_lock);
	list_for_each_entry_safe(group, next, &fkt_function_groups, link)
		if (within_module(group->address, module))
			fkt_group_unhook(group);
	mutex_unlock(&fkt_groups_lock);
	return NOTIFY_OK;
}

static struct notifier_block fkt_function_modules = {
	.notifier_call = fkt_function_module,
};

/*
 * Free the tables of past recordings. Nobody enters a function through them any more; those who are
 * inside are made to return past the trampoline, which needs to wait for none of them. If that is
 * not possible on this kernel, it is tried again until they have left.
 */
#define FKT_REAP_AGAIN_MS 2000

static void fkt_functions_reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(fkt_functions_reaper, fkt_functions_reap);

/* The tables that the reaper has at hand. */
static LIST_HEAD(fkt_functions_dead);

/* Whether a frame on some task's stack is that of a function in one of them. */
static bool fkt_function_dead(const struct fkt_function *function, unsigned long body)
{
	struct fkt_function_table *table;

	list_for_each_entry(table, &fkt_functions_dead, retired) {
		unsigned long offset = (const void *)function - (const void *)table->place;

		if (offset <= table->mask && IS_ALIGNED(offset, sizeof(*function)))
			return function->body == body;
	}
	return false;
}

/*
 * Nobody is in the trampoline's own instructions, or in what it calls: that does not sleep. Idle
 * tasks are waited for by the first, all others by the second, also those that are about to end.
 */
static void fkt_functions_wait(void)
{
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}

static void fkt_functions_reap(struct work_struct *work)
{
	struct fkt_function_table *table, *next;

	mutex_lock(&fkt_functions_lock);
	/* While one records, it will ask again when it ends. */
	if (!fkt_functions_live)
		list_splice_init(&fkt_functions_retired, &fkt_functions_dead);
	mutex_unlock(&fkt_functions_lock);
	if (list_empty(&fkt_functions_dead))
		return;
	/*
	 * This takes a moment: meanwhile the next recording may begin, with a table of its own. Who
	 * is still on the way in will have a frame afterwards, and who is on the way out none.
	 */
	fkt_functions_wait();
	if (fkt_frames_take_back(fkt_function_dead)) {
		mutex_lock(&fkt_functions_lock);
		list_splice_init(&fkt_functions_dead, &fkt_functions_retired);
		mutex_unlock(&fkt_functions_lock);
		schedule_delayed_work(&fkt_functions_reaper, msecs_to_jiffies(FKT_REAP_AGAIN_MS));
		return;
	}
	fkt_functions_wait();
	list_for_each_entry_safe(table, next, &fkt_functions_dead, retired) {
		list_del(&table->retired);
		vfree(table);
		/* The module's exit waits for this work's end. */
		module_put(THIS_MODULE);
	}
}

/**
 * fkt_functions_init - once, at module load
 * Return: 0 or a negative errno value.
 */
int fkt_functions_init(void)
{
	return register_module_notifier(&fkt_function_modules);
}

/**
 * fkt_functions_exit - at module unload, which the reaper has allowed: wait until it has returned
 */
void fkt_functions_exit(void)
{
	unregister_module_notifier(&fkt_function_modules);
	cancel_delayed_work_sync(&fkt_functions_reaper);
	fkt_graph_free();
}

static void fkt_function_detach(void)
{
	struct fkt_function_group *group, *next;
	u32 i;

	mutex_lock(&fkt_groups_lock);
	list_for_each_entry_safe(group, next, &fkt_function_groups, link)
		fkt_group_unhook(group);
	mutex_unlock(&fkt_groups_lock);
	fkt_function_keys = 0;
	mutex_lock(&fkt_functions_lock);
	if (fkt_functions_live) {
		/* Until they are made to return past it, those inside come back to the table. */
		for (i = 0; i <= fkt_table_of(fkt_functions)->mask >> FKT_FUNCTION_SHIFT; i++) {
			WRITE_ONCE(fkt_functions[i].entry_keys, 0);
			WRITE_ONCE(fkt_functions[i].exit_keys, 0);
			WRITE_ONCE(fkt_functions[i].keys, 0);
		}
		fkt_functions_live = false;
		mod_delayed_work(system_wq, &fkt_functions_reaper, 0);
	}
	mutex_unlock(&fkt_functions_lock);
}

static bool fkt_functions_flagged(u8 flag)
{
	u32 i;

	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].flags & flag)
			return true;
	return false;
}

/* Make the table for a recording. Those who are still in an old one's functions keep that. */
static int fkt_table_begin(void)
{
	struct fkt_function_table *table;

	if (fkt_functions_flagged(FKT_FUNCTION_GRAPH) && fkt_graph_begin(fkt_function_graph_depth))
		return -ENOMEM;
	table = fkt_table_new(fkt_function_count);
	if (!table)
		return -ENOMEM;
	mutex_lock(&fkt_functions_lock);
	__module_get(THIS_MODULE); /* put by the reaper */
	list_add(&table->retired, &fkt_functions_retired);
	smp_store_release(&fkt_functions, table->place);
	fkt_functions_live = true;
	mutex_unlock(&fkt_functions_lock);
	return 0;
}

/* Whether any of the functions that the recorder named is of these layers. */
static bool fkt_functions_wanted(u32 keys)
{
	u32 i;

	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].keys & keys)
			return true;
	return false;
}

static int fkt_function_attach(const struct fkt_session *s, u32 keys)
{
	u32 before = fkt_function_keys;
	int ret;

	if (!before) {
		fkt_functions_hooked = 0;
		fkt_functions_refused = 0;
	}
	fkt_function_keys |= keys;
	/* Layers without functions need no table, and nothing that waits for all tasks afterwards. */
	if (!fkt_functions_wanted(keys))
		return 0;
	if (!fkt_functions_live) {
		ret = fkt_table_begin();
		if (ret)
			return ret;
	}
	return fkt_layers_attach(keys, before);
}

/**
 * fkt_functions_status - how many functions the running or the last recording has hooked
 * @hooked: receives it
 * @refused: receives how many could not be hooked
 * Context: the session's lock.
 */
void fkt_functions_status(u32 *hooked, u32 *refused)
{
	*hooked = fkt_functions_hooked;
	*refused = fkt_functions_refused;
}

const struct fkt_provider fkt_provider_function = {
	.name = "function",
	.keys = ~0u,
	.attach = fkt_function_attach,
	.detach = fkt_function_detach,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel functions, in and out, through the trampolines of fkt_gate.ko.
 *
 * The recorder names the functions by address, each with the code of its entry; the code of its exit
 * is the next one. A table by the address that the trampoline finds on its stack says what to record.
 * It lives as long as the gate is open: from before the first function is hooked until nobody comes
 * through any more.
 */
#include <linux/ftrace.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/text-patching.h>
#include "compat.h"
#include "fkt.h"
#include "gate/fkt_gate.h"
#include "graph.h"
#include "stack.h"

/**
 * struct fkt_function - a function that is traced, in a line of cache of its own
 * @body: where the trampoline returns to to run the function; 0 in an empty place of the table
 * @ret_mask: which bits of %rax the function sets
 * @entry_tag: the entry's FKT_TAG, with its number of arguments
 * @exit_tag: the exit's
 * @ticket: what the gate gets for the exit: the place's offset in the table, and the recording's
 *	first ticket
 * @entry_keys: @keys, if fkt_function_entry() needs to know nothing else, else 0
 * @exit_keys: the same for fkt_function_exit()
 * @keys: its layers
 * @copy_words: how many words of arguments it has on the stack, that the trampoline is to copy
 * @flags: FKT_FUNCTION_…
 */
struct fkt_function {
	unsigned long body;
	u64 ret_mask;
	u64 entry_tag;
	u64 exit_tag;
	u64 ticket;
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
static_assert(FKT_FUNCTION_COPY_MAX <= FKT_GATE_COPY_WORDS);

/**
 * struct fkt_function_table - the functions of one recording, by @body
 * @unused: keeps @mask at a small distance from @place
 * @mask: the size of @place in bytes, less one place
 * @place: the places, a power of two, at most half of them taken
 */
struct fkt_function_table {
	u8 unused[56];
	unsigned long mask;
	struct fkt_function place[];
};

/**
 * struct fkt_function_group - functions that were hooked together: when their layers were asked for,
 * those of each module apart, and of the kernel's own those that have arguments on the stack
 * @link: in fkt_function_groups
 * @ops: the hooks
 * @direct: hooked by direct trampoline, which is in a table of the kernel's and excludes other such
 *	hooks; else it is the hook's own trampoline, as those are that ftrace makes
 * @copying: by the trampoline that copies the arguments on the stack
 * @count: how many
 * @ips: their addresses
 */
struct fkt_function_group {
	struct list_head link;
	struct ftrace_ops ops;
	bool direct;
	bool copying;
	u32 count;
	unsigned long ips[];
};

/* What the recorder asked for; the session's lock. */
static struct fkt_function_spec *fkt_function_specs;
static u32 fkt_function_count;
static u32 fkt_function_graph_depth;

/* The places of the running recording's table, NULL without one, and the gate, which is open then. */
static struct fkt_function *fkt_functions;
static struct fkt_gate fkt_functions_gate;
/* The groups that are hooked, and its lock. */
static LIST_HEAD(fkt_function_groups);
static DEFINE_MUTEX(fkt_groups_lock);
static u32 fkt_function_keys; /* the layers whose functions are hooked */

/* How many functions the recording has hooked, and how many ftrace would not hook. */
static u32 fkt_functions_hooked;
/* How many functions the groups have that are hooked directly; fkt_groups_lock. */
static u32 fkt_functions_direct;
static u32 fkt_functions_refused;
/* Whether all CPUs write into one lane. */
static bool fkt_functions_shared;

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
static bool fkt_function_in_graph(const struct fkt_function *function, bool pair)
{
	bool full, in;

	in = fkt_graph_enter(function->flags & FKT_FUNCTION_ROOT, pair, &full);
	if (full)
		fkt_event_lost();
	return in;
}

/*
 * Whether the exit of a function is to be caught: not where little is left of the stack, so that a
 * frame more could be the one too many. Such an exit is lost, and counted.
 */
static bool fkt_function_has_exit(const struct fkt_function *function, const void *frame, bool copies)
{
	if (function->flags & FKT_FUNCTION_ENTRY_ONLY)
		return false;
	if (likely(!fkt_stack_low(frame) && (copies || !function->copy_words)))
		return true;
	fkt_event_lost();
	return false;
}

/* Every case of a function's entry. Return: a ticket, 0 for no exit. */
static noinline u64 fkt_function_entry_slow(const u64 *args, unsigned long body,
					    unsigned long *copy_words)
{
	struct fkt_function *function = fkt_function_find(fkt_functions, body);
	const u32 words = function->entry_tag & FKT_SLOT_WORDS_MASK;
	bool pair, recorded = true;
	unsigned long irqs;

	if (!function->body) {
		/* The call is passed by; or the body is another one, a live patch's. */
		if (fkt_on(READ_ONCE(fkt_function_keys)))
			fkt_event_lost();
		return 0;
	}
	if (!fkt_on(function->keys))
		return 0;
	pair = fkt_function_has_exit(function, args, copy_words);
	if (function->flags & FKT_FUNCTION_GRAPH) {
		/*
		 * Whoever interrupts a function of a graph is as deep in it as the order of the
		 * events says: nobody does between the count and the event.
		 */
		raw_local_irq_save(irqs);
		recorded = fkt_function_in_graph(function, pair);
		if (recorded)
			fkt_event_tag(function->entry_tag, words, args);
		raw_local_irq_restore(irqs);
	} else {
		fkt_event_tag(function->entry_tag, words, args);
	}
	if (!recorded || !pair)
		return 0;
	if (copy_words)
		*copy_words = function->copy_words;
	return function->ticket;
}

/* That of one without arguments, and without anything else to know, that has no room in its page. */
static noinline u64 fkt_function_entry_full(const struct fkt_function *function)
{
	fkt_event_tag(function->entry_tag, 0, NULL);
	return function->ticket;
}

/* A function is entered, see struct fkt_gate_ops. */
static u64 fkt_function_entry(struct fkt_gate_call *call)
{
	const unsigned long body = call->body;
	struct fkt_slot slot __fkt_uninitialized;
	struct fkt_function *function;

	function = fkt_function_first(fkt_functions, body);
	if (unlikely(function->body != body) || unlikely(!fkt_on(function->entry_keys)) ||
	    unlikely(fkt_stack_low(call)))
		return fkt_function_entry_slow(call->args, call->body, NULL);
	if (unlikely(!fkt_reserve(this_cpu_read(fkt_lane), &function->entry_tag, 0, 0, false,
				  &slot)))
		return fkt_function_entry_full(function);
	fkt_commit(&slot, false);
	return function->ticket;
}

/* The same, of a function that may have arguments on the stack. */
static u64 fkt_function_entry_copying(struct fkt_gate_copying_call *call)
{
	return fkt_function_entry_slow(call->args, call->body, &call->copy_words);
}

/* Every case of a function's exit. */
static noinline void fkt_function_exit_slow(const struct fkt_function *function, u64 ret)
{
	const bool graph = function->flags & FKT_FUNCTION_GRAPH;
	unsigned long irqs;

	if (graph)
		raw_local_irq_save(irqs);
	if (!fkt_on(function->keys))
		;
	else if ((s64)ret == (s16)ret)
		fkt_event_tag(function->exit_tag | (u64)(u16)ret << FKT_SLOT_IMM_SHIFT, 0, NULL);
	else
		fkt_event_tag(function->exit_tag | 1, 1, &ret);
	/* Who was recorded going in goes out, also while the layer is off. */
	if (graph) {
		fkt_graph_leave();
		raw_local_irq_restore(irqs);
	}
}

/* A function returns, see struct fkt_gate_ops: @offset is its place in the table. */
static void fkt_function_exit(u64 offset, u64 ret)
{
	const struct fkt_function *function = (void *)fkt_functions + offset;
	struct fkt_slot slot __fkt_uninitialized;
	u64 imm;

	ret &= function->ret_mask;
	if (unlikely(!fkt_on(function->exit_keys)) || unlikely((s64)ret != (s16)ret)) {
		fkt_function_exit_slow(function, ret);
		return;
	}
	imm = (u16)ret;
	/* Else gcc shifts first, and masks with a constant of 64 bits. */
	OPTIMIZER_HIDE_VAR(imm);
	if (unlikely(!fkt_reserve(this_cpu_read(fkt_lane), &function->exit_tag, imm, 0, false,
				  &slot))) {
		fkt_function_exit_slow(function, (s16)imm);
		return;
	}
	fkt_commit(&slot, false);
}

static const struct fkt_gate_ops fkt_function_gate_ops = {
	.entry = fkt_function_entry,
	.entry_copying = fkt_function_entry_copying,
	.exit = fkt_function_exit,
};

/* --- Attaching ------------------------------------------------------------------------------ */

static bool fkt_spec_valid(const struct fkt_function_spec *spec)
{
	const bool in_module = spec->address >= MODULES_VADDR && spec->address < MODULES_END;

	/* What is unhooked together with a module is known by its group. */
	return spec->address && in_module == !!spec->group && spec->keys && fkt_mask_valid(spec->keys) && spec->args <= 6 &&
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

/* The first four bytes of the no-operation that ftrace leaves where it calls nobody. */
#define FKT_FTRACE_NOP 0x00441f0f

/*
 * Whether a call of ftrace's, or the no-operation in its place, is at an address. Another tracer may
 * be changing the one into the other: then the first byte is a breakpoint for a moment, before any
 * other is changed; so all are read at once.
 */
static bool fkt_is_ftrace_place(unsigned long address)
{
	const u32 code = READ_ONCE(*(u32 *)address);

	return code == FKT_FTRACE_NOP || (u8)code == CALL_INSN_OPCODE ||
	       (u8)code == INT3_INSN_OPCODE;
}

/*
 * Where ftrace's call in a function that ftrace knows returns to. The call stands at its beginning,
 * or behind an ENDBR, or behind what the kernel writes over an ENDBR that nobody needs.
 */
static unsigned long fkt_function_body(unsigned long address)
{
	if (!fkt_is_ftrace_place(address))
		address += FKT_ENDBR_BYTES;
	return address + MCOUNT_INSN_SIZE;
}

/*
 * Put a function into the table. It may be there already, from when it was tried to hook it together
 * with others. Return: false when there is another one of that address, or when that is none of a
 * function: ftrace takes any that is within its call.
 */
static bool fkt_table_insert(struct fkt_function *places, const struct fkt_function_spec *spec)
{
	const u64 entry_tag = FKT_TAG(spec->code, spec->args, 0);
	unsigned long body = fkt_function_body(spec->address);
	struct fkt_function *function = fkt_function_find(places, body);
	bool plain = !spec->flags && !spec->args && !spec->copy_words && !fkt_functions_shared;

	if (!fkt_is_ftrace_place(body - MCOUNT_INSN_SIZE))
		return false;
	if (function->body)
		return function->entry_tag == entry_tag;
	*function = (struct fkt_function){
		.ret_mask = spec->ret_bytes ? GENMASK_ULL(8 * spec->ret_bytes - 1, 0) : 0,
		.entry_tag = entry_tag,
		.exit_tag = FKT_TAG(spec->code + 1, 0, 0),
		.ticket = fkt_functions_gate.first + ((void *)function - (void *)places),
		.entry_keys = plain ? spec->keys : 0,
		.exit_keys = spec->flags & FKT_FUNCTION_GRAPH || fkt_functions_shared ? 0 : spec->keys,
		.keys = spec->keys,
		.flags = spec->flags,
		.copy_words = spec->copy_words,
	};
	/* A probe of another layer may pass by: it must find the place whole, or not at all. */
	smp_store_release(&function->body, body);
	return true;
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

static unsigned long fkt_group_trampoline(const struct fkt_function_group *group)
{
	return group->copying ? fkt_functions_gate.called_copying : fkt_functions_gate.called;
}

static int fkt_group_hook(struct fkt_function_group *group)
{
	int ret;

	if (group->direct) {
		ret = fkt_register_direct(&group->ops, fkt_group_trampoline(group));
	} else {
		group->ops.func = group->copying ? fkt_functions_gate.shared_copying
						 : fkt_functions_gate.shared;
		group->ops.trampoline = fkt_group_trampoline(group);
		group->ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
		ret = register_ftrace_function(&group->ops);
	}
	if (!ret && group->direct)
		fkt_functions_direct += group->count;
	return ret;
}

/* After an error of its own, ftrace unhooks nothing any more, and keeps what it was given. */
static void fkt_group_unhook(struct fkt_function_group *group)
{
	int ret;

	list_del(&group->link);
	if (group->direct)
		ret = fkt_unregister_direct(&group->ops, fkt_group_trampoline(group));
	else
		ret = unregister_ftrace_function(&group->ops);
	if (ret) {
		pr_warn_once("fkt: ftrace cannot unhook functions any more: error %d\n", -ret);
		return;
	}
	if (group->direct)
		fkt_functions_direct -= group->count;
	ftrace_free_filter(&group->ops);
	kvfree(group);
}

/* Whether there is room for @count direct trampolines more. */
static bool fkt_may_be_direct(u32 count)
{
	return count <= FKT_DIRECT_MAX - min(fkt_functions_direct, FKT_DIRECT_MAX);
}

/*
 * Hook @count functions, which make a group. ftrace hooks all of them or none: those that somebody
 * else holds, a BPF program or a live patch, are found by halving, and left out.
 */
static int fkt_group_attach(const struct fkt_function_spec *const *specs, u32 count)
{
	struct fkt_function_group *group;
	u32 i, half = count / 2, hooked;
	int ret;

	group = kvzalloc(struct_size(group, ips, count), GFP_KERNEL);
	if (!group)
		return -ENOMEM;
	group->count = count;
	group->direct = fkt_may_be_direct(count);
	for (i = 0; i < count; i++) {
		group->ips[i] = specs[i]->address;
		group->copying |= !!specs[i]->copy_words;
	}
	hooked = fkt_filter_add(&group->ops, group->ips, count);
	for (i = 0; i < count; i++)
		if (group->ips[i] && !fkt_table_insert(fkt_functions, specs[i]))
			hooked--;
	ret = 0;
	/* Without any, ftrace would hook every function. */
	if (!hooked)
		goto out_free;
	/* Patching the functions makes every CPU see the table before it gets to the trampoline. */
	ret = fkt_group_hook(group);
	if (!ret) {
		list_add(&group->link, &fkt_function_groups);
		fkt_functions_hooked += hooked;
		fkt_functions_refused += count - hooked;
		return 0;
	}

out_free:
	ftrace_free_filter(&group->ops);
	kvfree(group);
	if (ret && ret != -EBUSY && ret != -EEXIST)
		return ret;
	if (!ret || count == 1) {
		fkt_functions_refused += count;
		return 0;
	}
	return fkt_group_attach(specs, half) ?: fkt_group_attach(specs + half, count - half);
}

/* Whether somebody is called at what the recorder says to be a function: it may be no memory at all. */
static bool fkt_spec_called(const struct fkt_function_spec *spec)
{
	u32 code[2];

	if (copy_from_kernel_nofault(code, (void *)spec->address, sizeof(code)))
		return false;
	return code[0] != FKT_FTRACE_NOP && code[1] != FKT_FTRACE_NOP;
}

/*
 * Hook @count functions that may be too many for direct trampolines. A hook with a trampoline of its own
 * does not exclude others: where a BPF program has the function already, the function would go on to
 * that one's alone. So those that somebody has already are hooked directly, or found to be held.
 */
static int fkt_functions_attach(const struct fkt_function_spec **specs, u32 count)
{
	u32 i, held = 0;
	int ret = 0;

	if (fkt_may_be_direct(count))
		return fkt_group_attach(specs, count);
	for (i = 0; i < count; i++) {
		if (!fkt_spec_called(specs[i]))
			continue;
		swap(specs[i], specs[held]);
		held++;
	}
	if (held && held < count && fkt_may_be_direct(held))
		ret = fkt_group_attach(specs, held);
	else
		held = 0;
	return ret ?: fkt_group_attach(specs + held, count - held);
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
	int ret = 0;

	specs = kvmalloc_array(fkt_function_count, sizeof(*specs), GFP_KERNEL);
	if (!specs)
		return -ENOMEM;
	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].keys & keys && !(fkt_function_specs[i].keys & before))
			specs[count++] = &fkt_function_specs[i];
	sort(specs, count, sizeof(*specs), fkt_spec_order, NULL);
	mutex_lock(&fkt_groups_lock);
	for (i = 0; i < count && !ret; i = end) {
		for (end = i + 1; end < count && !fkt_spec_order(&specs[i], &specs[end]); end++)
			;
		ret = fkt_functions_attach(specs + i, end - i);
	}
	mutex_unlock(&fkt_groups_lock);
	kvfree(specs);
	return ret;
}

static bool fkt_group_within(const struct fkt_function_group *group, const struct module *module)
{
	u32 i;

	for (i = 0; i < group->count; i++)
		if (group->ips[i] && within_module(group->ips[i], module))
			return true;
	return false;
}

/* A module goes: ftrace is about to forget its functions. */
static int fkt_function_module(struct notifier_block *block, unsigned long state, void *data)
{
	struct fkt_function_group *group, *next;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&fkt_groups_lock);
	list_for_each_entry_safe(group, next, &fkt_function_groups, link)
		if (fkt_group_within(group, data))
			fkt_group_unhook(group);
	mutex_unlock(&fkt_groups_lock);
	return NOTIFY_OK;
}

static struct notifier_block fkt_function_modules = {
	.notifier_call = fkt_function_module,
};

/**
 * fkt_functions_init - once, at module load
 * Return: 0 or a negative errno value.
 */
int fkt_functions_init(void)
{
	return register_module_notifier(&fkt_function_modules);
}

/**
 * fkt_functions_exit - at module unload
 */
void fkt_functions_exit(void)
{
	unregister_module_notifier(&fkt_function_modules);
	fkt_graph_free();
}

static void fkt_function_detach(void)
{
	struct fkt_function_group *group, *next;

	mutex_lock(&fkt_groups_lock);
	list_for_each_entry_safe(group, next, &fkt_function_groups, link)
		fkt_group_unhook(group);
	mutex_unlock(&fkt_groups_lock);
	fkt_function_keys = 0;
	if (!fkt_functions)
		return;
	fkt_gate_close();
	vfree(fkt_table_of(fkt_functions));
	fkt_functions = NULL;
}

static bool fkt_functions_flagged(u8 flag)
{
	u32 i;

	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].flags & flag)
			return true;
	return false;
}

/* Make the table for a recording, and open the gate. */
static int fkt_table_begin(const struct fkt_session *s)
{
	const u32 places = 2 * roundup_pow_of_two(fkt_function_count);
	struct fkt_function_table *table;
	int ret;

	if (fkt_functions_flagged(FKT_FUNCTION_GRAPH) && fkt_graph_begin(fkt_function_graph_depth))
		return -ENOMEM;
	fkt_stack_find();
	table = vzalloc(struct_size(table, place, places));
	if (!table)
		return -ENOMEM;
	table->mask = (places - 1) * sizeof(table->place[0]);
	fkt_functions_shared = fkt_shared(s);
	fkt_functions = table->place;
	ret = fkt_gate_open(&fkt_function_gate_ops, places * sizeof(table->place[0]),
			    &fkt_functions_gate);
	if (ret) {
		fkt_functions = NULL;
		vfree(table);
	}
	return ret;
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
	if (!fkt_functions) {
		ret = fkt_table_begin(s);
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

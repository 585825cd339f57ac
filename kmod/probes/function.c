// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel functions, in and out, through the trampolines of fkt_gate.ko.
 *
 * The recorder names the functions by address, each with the code of its entry; the code of its
 * exit is the next one. A table by the address that the trampoline finds on its stack says what to
 * record. It lives as long as the gate is open: from before the first function is hooked until
 * nobody comes through any more.
 */
#include <linux/bitmap.h>
#include <linux/ftrace.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>
#include "compat.h"
#include "counters.h"
#include "fetch.h"
#include "fkt.h"
#include "function_arch.h"
#include "gate/fkt_gate.h"
#include "graph.h"
#include "longer.h"
#include "stack.h"
#include "stacks.h"

#define FKT_FUNCTION_SHIFT 6

/* struct fkt_function's @special */
#define FKT_SPECIAL_STACK  1u /* the stack */
#define FKT_SPECIAL_FETCH  2u /* what operations fetch, in place of the arguments */

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
 * @special: FKT_SPECIAL_…: what its entry has besides its arguments, or in place of them
 * @ops: how many operations give what FKT_SPECIAL_FETCH records
 * @spec: which one it is of those that the recorder asked for
 * @ops_first: the first of the operations in fkt_function_fetches
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
	u8 special;
	u8 ops;
	u32 spec;
	u32 ops_first;
} __aligned(1u << FKT_FUNCTION_SHIFT);

/* Functions begin at multiples of 16. */
#define FKT_BODY_SHIFT 4
static_assert(sizeof(struct fkt_function) == 1u << FKT_FUNCTION_SHIFT);
static_assert(FKT_FUNCTION_COPY_MAX <= FKT_GATE_COPY_WORDS);
static_assert(FKT_FUNCTION_ARGS_MAX == FKT_GATE_ARGS);
static_assert(FKT_FETCH_OPS_MAX <= U8_MAX);

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
 * struct fkt_function_group - functions that were hooked together: when their layers were asked
 * for, those of each module apart, and of the kernel's own those that have arguments on the stack
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

/*
 * What the recorder asked for; changed with the session's lock and fkt_groups_lock, read with
 * either. Of those whose module has gone the address is 0: fkt_groups_lock.
 */
static struct fkt_function_spec *fkt_function_specs;
static u32 fkt_function_count;
static u32 fkt_function_graph_depth;

/* The operations of all of them; the session's lock, and constant while attached. */
static struct fkt_fetch *fkt_function_fetches;
static u32 fkt_function_fetch_count;

/*
 * The pages of the modules' memory whose code has gone, or is about to, and nobody else's is there.
 * When another module's comes, that is counted, from a random number on, and the last ones are
 * kept: whoever has looked up addresses before may take its functions for others. fkt_groups_lock.
 */
#define FKT_TEXTS_KEPT 64
#define FKT_TEXT_PAGES ((MODULES_END - MODULES_VADDR) / PAGE_SIZE)
static DECLARE_BITMAP(fkt_text_gone, FKT_TEXT_PAGES);
/* Those of modules that have not come yet, which go when they have. fkt_groups_lock. */
static DECLARE_BITMAP(fkt_text_init, FKT_TEXT_PAGES);
static struct fkt_text fkt_text_came[FKT_TEXTS_KEPT]; /* by @fkt_text_reused */
static u32 fkt_text_reused;

/*
 * The places of the running recording's table, NULL without one, and the gate, which is open then.
 */
static struct fkt_function *fkt_functions;
static struct fkt_gate fkt_functions_gate;
/* The groups that are hooked, and its lock. */
static LIST_HEAD(fkt_function_groups);
/* Those that ftrace would not hook, until they are freed. */
static LIST_HEAD(fkt_groups_refused);
static DEFINE_MUTEX(fkt_groups_lock);
static u32 fkt_function_keys; /* the layers whose functions are hooked */

/*
 * How many functions the recording has hooked, and how many could not be hooked, with the first of
 * these; fkt_groups_lock.
 */
static u32 fkt_functions_hooked;
static u32 fkt_functions_refused;
static struct fkt_refused fkt_functions_refused_first[FKT_REFUSED_FIRST];
/* How many functions the groups have that are hooked directly; fkt_groups_lock. */
static u32 fkt_functions_direct;
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
	unsigned long offset = (void *)function - (void *)places, is;

	/* Partner: the release in fkt_table_insert(), where another layer is being attached. */
	while ((is = smp_load_acquire(&function->body)) && is != body) {
		offset = (offset + sizeof(*function)) & fkt_table_of(places)->mask;
		function = (void *)places + offset;
	}
	return function;
}

/*
 * The function that a probe is called for; NULL when the table has none such. An empty place may
 * become another one's at any moment, when another layer is being attached.
 */
static const struct fkt_function *fkt_function_of(unsigned long body)
{
	const struct fkt_function *function = fkt_function_find(fkt_functions, body);

	/* Partner: the release in fkt_table_insert(). */
	return body && smp_load_acquire(&function->body) == body ? function : NULL;
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
static bool fkt_function_has_exit(const struct fkt_function *function, const void *frame,
				  bool copies)
{
	if (function->flags & FKT_FUNCTION_ENTRY_ONLY)
		return false;
	if (likely(!fkt_stack_low(frame) && (copies || !function->copy_words)))
		return true;
	fkt_event_lost();
	return false;
}

/*
 * What operations fetch. Where little is left of the stack, nothing: memory that is not there takes
 * a fault. Return: how many words.
 */
static u32 fkt_function_fetch(const struct fkt_function *function, const u64 *args,
			      u64 words[FKT_FETCH_WORDS_MAX + 1])
{
	if (fkt_stack_low(args))
		return 0;
	return fkt_fetch_args(fkt_function_fetches + function->ops_first, function->ops,
			      (void *)args, NULL, words);
}

static noinline void fkt_function_record_special(const struct fkt_function *function,
						 const u64 *args)
{
	u64 fetched[FKT_FETCH_WORDS_MAX + 1] __fkt_uninitialized;
	u32 words = function->entry_tag & FKT_SLOT_WORDS_MASK;

	if (function->special & FKT_SPECIAL_FETCH) {
		words = fkt_function_fetch(function, args, fetched);
		args = fetched;
	}
	if (function->special & FKT_SPECIAL_STACK)
		fkt_event_stack(function->entry_tag | words, words, args, function->body,
				FKT_STACK_OF_FUNCTION);
	else
		fkt_event_tag(function->entry_tag | words, words, args);
}

static __always_inline void fkt_function_record(const struct fkt_function *function, u32 words,
						const u64 *args)
{
	if (function->special)
		fkt_function_record_special(function, args);
	else
		fkt_event_tag(function->entry_tag, words, args);
}

/* A call of no function of the table: passed by, or its body is another one, a live patch's. */
static u64 fkt_function_passed(void)
{
	if (fkt_on(READ_ONCE(fkt_function_keys)))
		fkt_event_lost();
	return 0;
}

/*
 * Every case of the entry of a function that is in the table; or of a call that is passed by, whose
 * place is empty and has no body either. @args come first, for in the caller they are what its own
 * argument points to. Return: a ticket, 0 for no exit.
 */
static noinline u64 fkt_function_entry_known(const u64 *args, const struct fkt_function *function,
					     unsigned long *copy_words)
{
	const u32 words = function->entry_tag & FKT_SLOT_WORDS_MASK;
	bool pair, recorded = true;
	unsigned long irqs;

	if (!fkt_on(function->keys))
		return function->body ? 0 : fkt_function_passed();
	pair = fkt_function_has_exit(function, args, copy_words);
	if (function->flags & FKT_FUNCTION_GRAPH) {
		/*
		 * Whoever interrupts a function of a graph is as deep in it as the order of the
		 * events says: nobody does between the count and the event.
		 */
		raw_local_irq_save(irqs);
		recorded = fkt_function_in_graph(function, pair);
		if (recorded)
			fkt_function_record(function, words, args);
		raw_local_irq_restore(irqs);
	} else {
		fkt_function_record(function, words, args);
	}
	if (!recorded || !pair)
		return 0;
	if (copy_words)
		*copy_words = function->copy_words;
	return function->ticket;
}

/* The same of any, wherever in the table it is. */
static noinline u64 fkt_function_entry_any(const u64 *args, unsigned long body,
					   unsigned long *copy_words)
{
	const struct fkt_function *function = fkt_function_of(body);

	return likely(function) ? fkt_function_entry_known(args, function, copy_words)
				: fkt_function_passed();
}

/*
 * That of one without arguments, and without anything else to know, that has no room in its page.
 */
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
	/* The place is being filled: then it is not found here. Loads are in order. */
	if (unlikely(fkt_read_early(function->body) != body))
		return fkt_function_entry_any(call->args, call->body, NULL);
	if (unlikely(!fkt_on(function->entry_keys)) || unlikely(fkt_stack_unsure(call)))
		return fkt_function_entry_known(call->args, function, NULL);
	if (unlikely(!fkt_reserve(this_cpu_read(fkt_lane), &function->entry_tag, 0, 0, false,
				  &slot)))
		return fkt_function_entry_full(function);
	fkt_commit(&slot, false);
	return function->ticket;
}

/* The same, of a function that may have arguments on the stack. */
static u64 fkt_function_entry_copying(struct fkt_gate_copying_call *call)
{
	return fkt_function_entry_any(call->args, call->body, &call->copy_words);
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

/* --- The same with what counters are at before --------------------------------------------- */

static __always_inline void fkt_function_tell(void)
{
	if (fkt_on(READ_ONCE(fkt_function_keys)))
		fkt_counters_tell();
}

static u64 fkt_function_entry_counted(struct fkt_gate_call *call)
{
	fkt_function_tell();
	return fkt_function_entry(call);
}

static u64 fkt_function_entry_counted_copying(struct fkt_gate_copying_call *call)
{
	fkt_function_tell();
	return fkt_function_entry_copying(call);
}

static void fkt_function_exit_counted(u64 offset, u64 ret)
{
	fkt_function_tell();
	fkt_function_exit(offset, ret);
}

static const struct fkt_gate_ops fkt_function_counted_ops = {
	.entry = fkt_function_entry_counted,
	.entry_copying = fkt_function_entry_counted_copying,
	.exit = fkt_function_exit_counted,
};

/* --- Calls that are recorded only if they take long ----------------------------------------- */

static_assert(FKT_FUNCTION_ARGS_MAX <= FKT_BEGUN_ARGS);

/* How far the tickets go of the places in the table: behind them are those of @fkt_begun. */
static u64 fkt_functions_bytes;

/* What it records of its entry, as far as there is room. */
static void fkt_function_keep(struct fkt_begun *begun, const struct fkt_function *function,
			      const u64 *args)
{
	u64 fetched[FKT_FETCH_WORDS_MAX + 1] __fkt_uninitialized;
	u32 words = function->entry_tag & FKT_SLOT_WORDS_MASK, i;

	if (function->special & FKT_SPECIAL_FETCH) {
		words = min_t(u32, fkt_function_fetch(function, args, fetched), FKT_BEGUN_ARGS);
		args = fetched;
	}
	begun->words = words;
	for (i = 0; i < words; i++)
		begun->args[i] = args[i];
}

/*
 * The entry of a function of the table. One whose exit is not caught is recorded as ever, as is one
 * for which there is no place. @frame: where the ticket is going to be. Return: a ticket, or 0.
 */
static u64 fkt_function_begin(const struct fkt_function *function, const u64 *args,
			      unsigned long *frame, unsigned long *copy_words)
{
	const u32 words = function->entry_tag & FKT_SLOT_WORDS_MASK;
	const bool graph = function->flags & FKT_FUNCTION_GRAPH;
	const bool pair = fkt_function_has_exit(function, args, copy_words);
	struct fkt_begun *begun = NULL;
	unsigned long irqs;
	u64 ticket = 0;

	if (graph)
		raw_local_irq_save(irqs);
	if (graph && !fkt_function_in_graph(function, pair))
		goto out;
	if (pair)
		begun = fkt_begun_claim((unsigned long)frame);
	if (!begun) {
		fkt_function_record(function, words, args);
		ticket = pair ? function->ticket : 0;
		goto out;
	}
	begun->place = (void *)function - (void *)fkt_functions;
	fkt_function_keep(begun, function, args);
	fkt_begun_begin(begun, function->entry_tag >> FKT_SLOT_CODE_SHIFT & (FKT_SLOT_CODES - 1),
			function->keys);
	ticket = fkt_functions_gate.first + fkt_functions_bytes +
		 ((void *)begun - (void *)fkt_begun);
out:
	if (graph)
		raw_local_irq_restore(irqs);
	if (ticket && copy_words)
		*copy_words = function->copy_words;
	return ticket;
}

static u64 fkt_function_entry_longer_any(const u64 *args, unsigned long *body,
					 unsigned long *copy_words)
{
	const struct fkt_function *function = fkt_function_of(*body);

	if (unlikely(!function))
		return fkt_function_passed();
	if (!fkt_on(function->keys) || fkt_longer_has_ended())
		return 0;
	return fkt_function_begin(function, args, body, copy_words);
}

/* A function is entered, see struct fkt_gate_ops: the ticket comes to be where @body is. */
static u64 fkt_function_entry_longer(struct fkt_gate_call *call)
{
	return fkt_function_entry_longer_any(call->args, &call->body, NULL);
}

static u64 fkt_function_entry_longer_copying(struct fkt_gate_copying_call *call)
{
	return fkt_function_entry_longer_any(call->args, &call->body, &call->copy_words);
}

/* It returns: @offset is its place in the table of functions, or in that of calls behind it. */
static void fkt_function_exit_longer(u64 offset, u64 ret)
{
	struct fkt_begun *begun = (void *)fkt_begun + (offset - fkt_functions_bytes);
	const struct fkt_function *function;
	unsigned long irqs;
	bool on;

	if (unlikely(offset < fkt_functions_bytes)) {
		fkt_function_exit(offset, ret);
		return;
	}
	function = (void *)fkt_functions + begun->place;
	on = fkt_on(function->keys);
	if (fkt_longer_has_ended())
		return;
	if (unlikely(fkt_begun_is_long(begun))) {
		if (on)
			fkt_begun_tell(begun);
		fkt_function_exit_slow(function, ret & function->ret_mask);
	} else if (function->flags & FKT_FUNCTION_GRAPH) {
		raw_local_irq_save(irqs);
		fkt_graph_leave();
		raw_local_irq_restore(irqs);
	}
	fkt_begun_free(begun);
}

static const struct fkt_gate_ops fkt_function_longer_ops = {
	.entry = fkt_function_entry_longer,
	.entry_copying = fkt_function_entry_longer_copying,
	.exit = fkt_function_exit_longer,
};

/* --- Attaching ------------------------------------------------------------------------------ */

static bool fkt_spec_valid(const struct fkt_function_spec *spec)
{
	const bool in_module = spec->address >= MODULES_VADDR && spec->address < MODULES_END;

	/* What is unhooked together with a module is known by its group. */
	return spec->address && in_module == !!spec->group && spec->keys &&
	       fkt_mask_valid(spec->keys) && spec->args <= FKT_FUNCTION_ARGS_MAX &&
	       (!spec->ret_bytes || is_power_of_2(spec->ret_bytes)) && spec->ret_bytes <= 8 &&
	       spec->copy_words <= FKT_FUNCTION_COPY_MAX && !(spec->flags & ~FKT_FUNCTION_FLAGS) &&
	       !spec->reserved && (spec->ops ? !spec->args : !spec->ops_first) &&
	       spec->code >= FKT_CODE_DYNAMIC && spec->code < FKT_CODE_DYNAMIC_END - 1;
}

/*
 * A function whose exit is caught gets copies of the arguments on its stack: how many it has is
 * taken on trust, and with too few of them it works with others. Whoever may not write into the
 * kernel may not say that. Its entry alone changes nothing.
 */
static int fkt_spec_check(const struct fkt_function_spec *spec, const struct fkt_fetch *fetch,
			  u32 fetches)
{
	if (!fkt_spec_valid(spec) ||
	    !fkt_fetch_valid(fetch, fetches, spec->ops_first, spec->ops, FKT_FUNCTION_ARGS_MAX))
		return -EINVAL;
	return spec->flags & FKT_FUNCTION_ENTRY_ONLY
		       ? 0
		       : security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL);
}

static unsigned long fkt_text_page(unsigned long address)
{
	return (address - MODULES_VADDR) / PAGE_SIZE;
}

/*
 * Whether another module's code has come to an address, among the last @came that did so, or its
 * own has gone.
 */
static bool fkt_text_changed(unsigned long address, u32 came)
{
	u32 k;

	for (k = 0; k < came; k++)
		if (fkt_text_has(&fkt_text_came[(fkt_text_reused - k) % FKT_TEXTS_KEPT], address))
			return true;
	return test_bit(fkt_text_page(address), fkt_text_gone);
}

/*
 * Strike out what is no longer what the recorder has found at the addresses: a function that is
 * there by now in place of another one may have more arguments on the stack. Return: 0, or -ESTALE
 * when so many modules have come that nobody knows.
 */
static int fkt_specs_freshen(struct fkt_function_spec *specs, u32 count, u32 text_reused)
{
	u32 i, came = text_reused ? fkt_text_reused - text_reused : 0;

	lockdep_assert_held(&fkt_groups_lock);
	for (i = 0; i < count; i++) {
		if (!specs[i].group)
			continue;
		if (came > FKT_TEXTS_KEPT)
			return -ESTALE;
		if (fkt_text_changed(specs[i].address, came))
			specs[i].address = 0;
	}
	return 0;
}

/* Room for @count functions and @ops operations more, with those that there are before them. */
static int fkt_functions_grow(struct fkt_function_spec **all, u32 count, struct fkt_fetch **fetches,
			      u32 ops)
{
	*all = kvmalloc_array(fkt_function_count + count, sizeof(**all), GFP_KERNEL);
	*fetches =
		kvmalloc_array(fkt_function_fetch_count + ops + 1, sizeof(**fetches), GFP_KERNEL);
	if (!*all || !*fetches)
		return -ENOMEM;
	if (fkt_function_fetch_count)
		memcpy(*fetches, fkt_function_fetches,
		       fkt_function_fetch_count * sizeof(**fetches));
	return 0;
}

static int fkt_function_add(struct fkt_specs *specs)
{
	const struct fkt_functions_common *common = specs->common;
	const struct fkt_fetch *fetch = common ? (const void *)(common + 1) : NULL;
	const u32 bytes = common ? specs->common_bytes - (u32)sizeof(*common) : 0;
	const u32 ops = bytes / sizeof(*fetch);
	struct fkt_function_spec *all = NULL, *added;
	struct fkt_fetch *fetches = NULL;
	int ret;
	u32 i;

	if (specs->count > FKT_FUNCTIONS_MAX - fkt_function_count ||
	    (common && specs->common_bytes < sizeof(*common)) || bytes % sizeof(*fetch) ||
	    ops > FKT_FUNCTION_OPS_MAX - fkt_function_fetch_count)
		return -EINVAL;
	/* Any memory may be read: as for the kernel's own kprobe events. */
	ret = ops ? security_locked_down(LOCKDOWN_KPROBES) : 0;
	if (ret)
		return ret;
	ret = fkt_functions_grow(&all, specs->count, &fetches, ops);
	if (ret)
		goto out_free;
	added = all + fkt_function_count;
	memcpy(added, specs->spec, specs->count * sizeof(*all));
	for (i = 0; i < specs->count && !ret; i++) {
		ret = fkt_spec_check(&added[i], fetch, ops);
		if (added[i].ops)
			added[i].ops_first += fkt_function_fetch_count;
	}
	if (ret)
		goto out_free;
	if (ops)
		memcpy(fetches + fkt_function_fetch_count, fetch, ops * sizeof(*fetch));
	/* Those that are there lose their addresses when a module goes. */
	mutex_lock(&fkt_groups_lock);
	ret = fkt_specs_freshen(added, specs->count, common ? common->text_reused : 0);
	if (!ret) {
		if (fkt_function_count)
			memcpy(all, fkt_function_specs, fkt_function_count * sizeof(*all));
		swap(all, fkt_function_specs);
		swap(fetches, fkt_function_fetches);
		fkt_function_count += specs->count;
		fkt_function_fetch_count += ops;
		fkt_function_graph_depth = common ? common->graph_depth : 0;
	}
	mutex_unlock(&fkt_groups_lock);
out_free:
	kvfree(all);
	kvfree(fetches);
	return ret;
}

static void fkt_function_clear(void)
{
	mutex_lock(&fkt_groups_lock);
	kvfree(fkt_function_specs);
	fkt_function_specs = NULL;
	fkt_function_count = 0;
	mutex_unlock(&fkt_groups_lock);
	kvfree(fkt_function_fetches);
	fkt_function_fetches = NULL;
	fkt_function_fetch_count = 0;
}

/*
 * Where ftrace's call in a function that ftrace knows returns to. The call stands at its beginning,
 * or behind where an indirect call has to land.
 */
static unsigned long fkt_function_body(unsigned long address)
{
	if (!fkt_arch_is_ftrace_place(address))
		address += FKT_ARCH_LANDING_BYTES;
	return address + MCOUNT_INSN_SIZE;
}

/* Whether an address that ftrace takes is a function's: it takes any that is within its call. */
static bool fkt_function_place(unsigned long address)
{
	return fkt_arch_is_ftrace_place(fkt_function_body(address) - MCOUNT_INSN_SIZE);
}

/*
 * Put a function into the table. It may be there already, from an attach that a signal has ended.
 * Return: 0, -EEXIST when another one of that address is there, or -EINVAL when that is none of a
 * function.
 */
static int fkt_table_insert(struct fkt_function *places, const struct fkt_function_spec *spec)
{
	const u32 number = spec - fkt_function_specs;
	unsigned long body = fkt_function_body(spec->address);
	struct fkt_function *function = fkt_function_find(places, body);
	u8 special = (fkt_stack_wanted(spec->code, 1) ? FKT_SPECIAL_STACK : 0) |
		     (spec->ops ? FKT_SPECIAL_FETCH : 0);
	bool plain = !spec->flags && !spec->args && !spec->copy_words && !special &&
		     !fkt_functions_shared;

	if (!fkt_function_place(spec->address))
		return -EINVAL;
	if (function->body)
		return function->spec == number ? 0 : -EEXIST;
	*function = (struct fkt_function){
		.ret_mask = spec->ret_bytes ? GENMASK_ULL(8 * spec->ret_bytes - 1, 0) : 0,
		.entry_tag = FKT_TAG(spec->code, spec->args, 0),
		.exit_tag = FKT_TAG(spec->code + 1, 0, 0),
		.ticket = fkt_functions_gate.first + ((void *)function - (void *)places),
		.entry_keys = plain ? spec->keys : 0,
		.exit_keys = spec->flags & FKT_FUNCTION_GRAPH || fkt_functions_shared ? 0
										      : spec->keys,
		.keys = spec->keys,
		.flags = spec->flags,
		.special = special,
		.copy_words = spec->copy_words,
		.ops = spec->ops,
		.ops_first = spec->ops_first,
		.spec = number,
	};
	/* A probe of another layer may pass by: it must find the place whole, or not at all. */
	smp_store_release(&function->body, body);
	return 0;
}

/* A function that the recording does without. */
static void fkt_function_refuse(const struct fkt_function_spec **spec, int error)
{
	if (fkt_functions_refused < FKT_REFUSED_FIRST)
		fkt_functions_refused_first[fkt_functions_refused] = (struct fkt_refused){
			.code = (*spec)->code,
			.error = -error,
		};
	fkt_functions_refused++;
	*spec = NULL;
}

/* Close the gaps that fkt_function_refuse() has left. Return: how many there are. */
static u32 fkt_specs_compact(const struct fkt_function_spec **specs, u32 count)
{
	u32 i, left = 0;

	for (i = 0; i < count; i++)
		if (specs[i])
			specs[left++] = specs[i];
	return left;
}

/*
 * Set those of @count addresses to 0 that ftrace does not know. It takes all of a list of them or
 * none: they are found by halving, each time from an empty filter, so that a list in which every
 * second one is wrong takes no more than twice as many steps as it has addresses. @ops is never
 * registered.
 */
static int fkt_ips_sieve(struct ftrace_ops *ops, unsigned long *ips, u32 count)
{
	u32 half = count / 2;
	int ret;

	cond_resched();
	if (signal_pending(current))
		return -ERESTARTSYS;
	ret = ftrace_set_filter_ips(ops, ips, count, 0, 1);
	if (!ret || ret == -ENOMEM || ret == -ENODEV)
		return ret;
	if (count == 1) {
		*ips = 0;
		return 0;
	}
	ret = fkt_ips_sieve(ops, ips, half);
	return ret ?: fkt_ips_sieve(ops, ips + half, count - half);
}

/* The same for all of them. Return: 0, or a negative errno value. */
static int fkt_ips_check(unsigned long *ips, u32 count)
{
	/* A new one each time: what ftrace_free_filter() frees stays in it. */
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	int ret;

	if (!ops)
		return -ENOMEM;
	ret = fkt_ips_sieve(ops, ips, count);
	ftrace_free_filter(ops);
	kfree(ops);
	return ret;
}

/*
 * Refuse those of @count functions that can't be hooked, whoever else is there: those that are not
 * what the recorder took them for, or are there twice. The others are in the table then. Return:
 * how many, or a negative errno value.
 */
static int fkt_specs_check(const struct fkt_function_spec **specs, u32 count)
{
	unsigned long *ips;
	int ret;
	u32 i;

	for (i = 0; i < count; i++)
		if (!specs[i]->address)
			fkt_function_refuse(&specs[i], -ENOENT);
	count = fkt_specs_compact(specs, count);
	if (!count)
		return 0;
	ips = kvmalloc_array(count, sizeof(*ips), GFP_KERNEL);
	if (!ips)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		ips[i] = specs[i]->address;
	ret = fkt_ips_check(ips, count);
	for (i = 0; i < count && !ret; i++) {
		int error = ips[i] ? fkt_table_insert(fkt_functions, specs[i]) : -EINVAL;

		if (error)
			fkt_function_refuse(&specs[i], error);
	}
	kvfree(ips);
	return ret ?: fkt_specs_compact(specs, count);
}

/* Which of some addresses are of functions that can be hooked; see struct fkt_provider. */
static int fkt_function_hookable(unsigned long *addresses, u32 count)
{
	int ret = fkt_ips_check(addresses, count);
	u32 i;

	/* Of a module that has gone since ftrace was asked, nothing is there. */
	for (i = 0; i < count && !ret; i++)
		if (addresses[i] && !fkt_function_place(addresses[i]))
			addresses[i] = 0;
	return ret;
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

/*
 * Whether ftrace has stopped for good, after an error of its own: it says so to whoever sets a
 * filter.
 */
static bool fkt_ftrace_is_dead(void)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	bool dead;

	if (!ops)
		return false;
	dead = ftrace_set_filter(ops, NULL, 0, 1) == -ENODEV;
	ftrace_free_filter(ops);
	kfree(ops);
	return dead;
}

/*
 * When ftrace has stopped, it unhooks nothing any more, and keeps what it was given. It is not even
 * asked to: it would forget what a direct hook calls, and warn of that with each call of a function
 * that somebody else has hooked as well.
 */
static void fkt_group_unhook(struct fkt_function_group *group)
{
	int ret;

	list_del(&group->link);
	if (fkt_ftrace_is_dead())
		ret = -ENODEV;
	else if (group->direct)
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

/* Hook a new group, whose functions are named: all of them or none. It is given away. */
static int fkt_group_begin(struct fkt_function_group *group)
{
	int ret;

	group->direct = fkt_may_be_direct(group->count);
	/* Patching the functions makes every CPU see the table before it gets to the trampoline. */
	ret = ftrace_set_filter_ips(&group->ops, group->ips, group->count, 0, 0);
	if (ret) {
		ftrace_free_filter(&group->ops);
		kvfree(group);
		return ret;
	}
	ret = fkt_group_hook(group);
	list_add(&group->link, ret ? &fkt_groups_refused : &fkt_function_groups);
	return ret;
}

/* Hook @count functions as one group: all of them or none. */
static int fkt_group_attach(const struct fkt_function_spec *const *specs, u32 count)
{
	struct fkt_function_group *group;
	u32 i;

	group = kvzalloc(struct_size(group, ips, count), GFP_KERNEL);
	if (!group)
		return -ENOMEM;
	group->count = count;
	for (i = 0; i < count; i++) {
		group->ips[i] = specs[i]->address;
		group->copying |= !!specs[i]->copy_words;
	}
	return fkt_group_begin(group);
}

/*
 * Free the groups that ftrace has refused. It had them in its list of hooks for a moment, and waits
 * for nobody when it takes them out again: another CPU may be going through them.
 */
static void fkt_groups_refused_free(void)
{
	struct fkt_function_group *group, *next;

	if (list_empty(&fkt_groups_refused))
		return;
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
	list_for_each_entry_safe(group, next, &fkt_groups_refused, link) {
		list_del(&group->link);
		ftrace_free_filter(&group->ops);
		kvfree(group);
	}
}

/*
 * How many groups may come of looking for functions that somebody else holds: each is hooked and
 * unhooked.
 */
#define FKT_GROUPS_MAX 256

/*
 * Hook @count functions. ftrace hooks all of a group or none: those that somebody else holds, a BPF
 * program or a live patch, are found by halving, and refused. @groups counts the groups.
 */
static int fkt_groups_attach(const struct fkt_function_spec **specs, u32 count, u32 *groups)
{
	u32 i, half = count / 2;
	int ret = -EBUSY;

	cond_resched();
	if (signal_pending(current))
		return -ERESTARTSYS;
	if (*groups < FKT_GROUPS_MAX)
		ret = fkt_group_attach(specs, count);
	if (!ret)
		++*groups;
	if (ret != -EBUSY && ret != -EEXIST)
		return ret;
	if (count == 1 || *groups == FKT_GROUPS_MAX) {
		for (i = 0; i < count; i++)
			fkt_function_refuse(&specs[i], -EBUSY);
		return 0;
	}
	ret = fkt_groups_attach(specs, half, groups);
	return ret ?: fkt_groups_attach(specs + half, count - half, groups);
}

static void fkt_group_unhook_last(void)
{
	fkt_group_unhook(list_first_entry(&fkt_function_groups, struct fkt_function_group, link));
}

/*
 * The same, as a single group in the end: each takes two grace periods to be unhooked. Who holds a
 * function is found only by trying, so that there are more of them on the way.
 */
static int fkt_specs_attach(const struct fkt_function_spec **specs, u32 count)
{
	u32 groups = 0;
	int ret;

	if (!count)
		return 0;
	ret = fkt_groups_attach(specs, count, &groups);
	count = fkt_specs_compact(specs, count);
	if (!ret && groups > 1) {
		for (; groups; groups--)
			fkt_group_unhook_last();
		ret = fkt_groups_attach(specs, count, &groups);
		count = fkt_specs_compact(specs, count);
	}
	fkt_functions_hooked += count;
	return ret;
}

/* Whether a function calls somebody already. */
static bool fkt_spec_called(const struct fkt_function_spec *spec)
{
	const unsigned long body = fkt_function_body(spec->address);

	return READ_ONCE(*(u32 *)(body - MCOUNT_INSN_SIZE)) != FKT_FTRACE_NOP;
}

/*
 * Hook @count functions. Where a function calls nobody, nobody holds it: the others are tried apart
 * from these. They are hooked directly, or found to be held: a hook with a trampoline of its own
 * does not exclude others, and where a BPF program has the function already, the function would go
 * on to that one's alone.
 */
static int fkt_functions_attach(const struct fkt_function_spec **specs, u32 count)
{
	int ret = fkt_specs_check(specs, count);
	u32 i, called = 0;

	if (ret <= 0)
		return ret;
	count = ret;
	for (i = 0; i < count; i++) {
		if (!fkt_spec_called(specs[i]))
			continue;
		swap(specs[i], specs[called]);
		called++;
	}
	return fkt_specs_attach(specs, called) ?: fkt_specs_attach(specs + called, count - called);
}

/* Whether a function goes as soon as its module has come. */
static bool fkt_spec_is_init(const struct fkt_function_spec *spec)
{
	return spec->group && spec->address &&
	       test_bit(fkt_text_page(spec->address), fkt_text_init);
}

/*
 * A module has one group: unhooking each takes two grace periods. Its few functions go the slower
 * way together if one of them has to. One more has those that go earlier than the others.
 */
static int fkt_spec_order(const void *va, const void *vb)
{
	const struct fkt_function_spec *a = *(const struct fkt_function_spec *const *)va;
	const struct fkt_function_spec *b = *(const struct fkt_function_spec *const *)vb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->group)
		return fkt_spec_is_init(a) - fkt_spec_is_init(b);
	return !a->copy_words - !b->copy_words;
}

/*
 * Hook the functions of the layers in @keys that are in none of those in @before. After an error
 * none of them is hooked.
 */
static int fkt_layers_attach(u32 keys, u32 before)
{
	const u32 hooked = fkt_functions_hooked, refused = fkt_functions_refused;
	const struct fkt_function_spec **specs;
	const struct list_head *last;
	u32 i, end, count = 0;
	int ret = 0;

	specs = kvmalloc_array(fkt_function_count, sizeof(*specs), GFP_KERNEL);
	if (!specs)
		return -ENOMEM;
	mutex_lock(&fkt_groups_lock);
	last = fkt_function_groups.next;
	for (i = 0; i < fkt_function_count; i++)
		if (fkt_function_specs[i].keys & keys && !(fkt_function_specs[i].keys & before))
			specs[count++] = &fkt_function_specs[i];
	sort(specs, count, sizeof(*specs), fkt_spec_order, NULL);
	for (i = 0; i < count && !ret; i = end) {
		for (end = i + 1; end < count && !fkt_spec_order(&specs[i], &specs[end]); end++)
			;
		ret = fkt_functions_attach(specs + i, end - i);
	}
	if (ret) {
		while (fkt_function_groups.next != last)
			fkt_group_unhook_last();
		fkt_functions_hooked = hooked;
		fkt_functions_refused = refused;
	}
	fkt_groups_refused_free();
	mutex_unlock(&fkt_groups_lock);
	kvfree(specs);
	return ret;
}

/*
 * The code of some functions of a group goes. The others are hooked again at once: those that go
 * together are in one group, but this module may have been loaded too late to know that
 * (fkt_text_init), or have been told wrong.
 */
static void fkt_group_without(struct fkt_function_group *group, const struct fkt_text *text)
{
	struct fkt_function_group *rest;
	u32 i, left = 0;
	int ret = -ENOMEM;

	for (i = 0; i < group->count; i++)
		left += !fkt_text_has(text, group->ips[i]);
	rest = left ? kvzalloc(struct_size(rest, ips, left), GFP_KERNEL) : NULL;
	for (i = 0; rest && i < group->count; i++)
		if (!fkt_text_has(text, group->ips[i]))
			rest->ips[rest->count++] = group->ips[i];
	if (rest)
		rest->copying = group->copying;
	fkt_group_unhook(group);
	if (rest)
		ret = fkt_group_begin(rest);
	if (left && ret)
		pr_warn("fkt: %u functions are not traced any more: error %d\n", left, -ret);
	fkt_groups_refused_free();
}

static bool fkt_group_within(const struct fkt_function_group *group, const struct fkt_text *text)
{
	u32 i;

	for (i = 0; i < group->count; i++)
		if (fkt_text_has(text, group->ips[i]))
			return true;
	return false;
}

/* Nobody may ask for the functions any more that are, or were, where this code is. */
static void fkt_text_strike_out(const struct fkt_text *text)
{
	struct fkt_function_group *group, *next;
	u32 i;

	for (i = 0; i < fkt_function_count; i++)
		if (fkt_text_has(text, fkt_function_specs[i].address))
			fkt_function_specs[i].address = 0;
	list_for_each_entry_safe(group, next, &fkt_function_groups, link)
		if (fkt_group_within(group, text))
			fkt_group_without(group, text);
}

/*
 * A module's code goes: ftrace is about to forget its functions, but has not yet, and others may
 * come to be where they are.
 */
static void fkt_text_goes(const struct fkt_text text)
{
	if (!text.bytes)
		return;
	bitmap_set(fkt_text_gone, fkt_text_page(text.begin), PFN_UP(text.bytes));
	bitmap_clear(fkt_text_init, fkt_text_page(text.begin), PFN_UP(text.bytes));
	fkt_text_strike_out(&text);
}

/*
 * A module's code comes. Who has asked for a function there already, meant that of a module that
 * could not be loaded in the end, of which nobody says that it goes.
 */
static void fkt_text_comes(const struct fkt_text text, bool init)
{
	const unsigned long first = fkt_text_page(text.begin);
	const unsigned long end = first + PFN_UP(text.bytes);

	if (!text.bytes)
		return;
	fkt_text_strike_out(&text);
	if (init)
		bitmap_set(fkt_text_init, first, end - first);
	if (find_next_bit(fkt_text_gone, end, first) >= end)
		return;
	bitmap_clear(fkt_text_gone, first, end - first);
	fkt_text_came[++fkt_text_reused % FKT_TEXTS_KEPT] = text;
}

static int fkt_function_module(struct notifier_block *block, unsigned long state, void *data)
{
	mutex_lock(&fkt_groups_lock);
	switch (state) {
	case MODULE_STATE_COMING:
		fkt_text_comes(fkt_module_text(data), false);
		fkt_text_comes(fkt_module_init_text(data), true);
		break;
	case MODULE_STATE_LIVE:
		fkt_text_goes(fkt_module_init_text(data));
		break;
	case MODULE_STATE_GOING:
		fkt_text_goes(fkt_module_text(data));
		fkt_text_goes(fkt_module_init_text(data));
		break;
	}
	mutex_unlock(&fkt_groups_lock);
	return NOTIFY_OK;
}

static struct notifier_block fkt_function_modules = {
	.notifier_call = fkt_function_module,
};

static int fkt_function_init(void)
{
	struct fkt_text gate;

	fkt_gate_text(&gate.begin, &gate.bytes);
	fkt_stack_set_gate(&gate);
	/*
	 * Whoever has asked an earlier instance of this module, before it was loaded anew, is told
	 * apart.
	 */
	fkt_text_reused = get_random_u32() >> 1 | 1;
	return register_module_notifier(&fkt_function_modules);
}

static void fkt_function_fini(void)
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
	fkt_longer_gate(0);
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

static const struct fkt_gate_ops *fkt_function_ops(void)
{
	if (fkt_longer_wanted())
		return &fkt_function_longer_ops;
	return fkt_counters_wanted() ? &fkt_function_counted_ops : &fkt_function_gate_ops;
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
	fkt_functions_bytes = places * sizeof(table->place[0]);
	ret = fkt_gate_open(fkt_function_ops(),
			    fkt_functions_bytes + (fkt_longer_wanted() ? FKT_BEGUN_BYTES : 0),
			    &fkt_functions_gate);
	if (!ret && fkt_longer_wanted())
		fkt_longer_gate(fkt_functions_gate.first + fkt_functions_bytes);
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
		mutex_lock(&fkt_groups_lock);
		fkt_functions_hooked = 0;
		fkt_functions_refused = 0;
		mutex_unlock(&fkt_groups_lock);
	}
	fkt_function_keys |= keys;
	/*
	 * Layers without functions need no table, and nothing that waits for all tasks afterwards.
	 */
	if (!fkt_functions_wanted(keys))
		return 0;
	if (!fkt_functions) {
		ret = fkt_table_begin(s);
		if (ret)
			goto out;
	}
	ret = fkt_layers_attach(keys, before);
out:
	if (ret)
		fkt_function_keys = before;
	return ret;
}

static void fkt_function_status(struct fkt_status *status)
{
	const size_t bytes = sizeof(status->refused[0]);
	u32 count;

	mutex_lock(&fkt_groups_lock);
	count = min_t(u32, fkt_functions_refused, FKT_REFUSED_FIRST);
	status->functions = fkt_functions_hooked;
	status->functions_refused = fkt_functions_refused;
	status->text_reused = fkt_text_reused;
	memset(status->refused, 0, sizeof(status->refused));
	memcpy(status->refused, fkt_functions_refused_first, count * bytes);
	mutex_unlock(&fkt_groups_lock);
}

const struct fkt_provider fkt_provider_function = {
	.name = "function",
	.keys = ~0u,
	.spec_bytes = sizeof(struct fkt_function_spec),
	.common_max = sizeof(struct fkt_functions_common) +
		      FKT_FUNCTION_OPS_MAX * sizeof(struct fkt_fetch),
	.count_max = FKT_FUNCTIONS_MAX,
	.init = fkt_function_init,
	.exit = fkt_function_fini,
	.add = fkt_function_add,
	.hookable = fkt_function_hookable,
	.clear = fkt_function_clear,
	.attach = fkt_function_attach,
	.detach = fkt_function_detach,
	.status = fkt_function_status,
};

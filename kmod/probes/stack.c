// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's stack of an event, by the kernel's unwinder.
 *
 * It stands in slots of its own right before the event's slot, reserved together with that. The
 * same stack stands in a page but once; later events of the page only say where. Which stacks a
 * page has, each CPU knows of those that it has written itself, in a small table.
 */
#include <linux/bitmap.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include "compat.h"
#include "fkt.h"
#include "stacks.h"

/* Of threads, softirqs, interrupts and NMIs: one may interrupt the other. */
#define FKT_STACK_LEVELS     4
/* Frames of the probe, and of what calls it, that come before the first one that is wanted. */
#define FKT_STACK_OWN_FRAMES 16
/* Where a probe is, is not quite where the unwinder finds it: behind a breakpoint or a call. */
#define FKT_STACK_IP_BYTES   16

#define FKT_STACK_KNOWN_BITS 8
#define FKT_STACK_MIX	     0x9e3779b97f4a7c15ull

/**
 * struct fkt_stack_known - a stack that stands in a page of this CPU's lane
 * @at: number of the page, and in the low 16 bits where in it the stack is, in words
 * @check: the stack's hash, and that of @at; an interrupt may have written one of the two
 */
struct fkt_stack_known {
	u64 at;
	u64 check;
};

/**
 * struct fkt_stack_room - what a CPU needs to take stacks
 * @busy: a bit for each level that is just taking one
 * @known: by their hashes
 * @rules: for fkt_unwind()
 * @frame: of each level; first as addresses, then as frames of a slot
 */
struct fkt_stack_room {
	unsigned long busy;
	struct fkt_stack_known known[1 << FKT_STACK_KNOWN_BITS];
	struct fkt_unwind_rules rules;
	unsigned long frame[FKT_STACK_LEVELS][1 + FKT_STACK_OWN_FRAMES + FKT_STACK_FRAMES_MAX];
};

/**
 * struct fkt_stack - a stack
 * @frame: its frames, two in a word
 * @count: how many
 * @cut: there are more
 */
struct fkt_stack {
	const u32 *frame;
	u32 count;
	bool cut;
};

/* Which codes have stacks, and where they are taken; the session's lock. NULL: none has. */
static unsigned long *fkt_stack_codes;
static struct fkt_stack_room __percpu *fkt_stack_rooms;
/* Of a module's notifier, which comes without the session's lock: the rooms do not go meanwhile. */
static DEFINE_MUTEX(fkt_stack_rooms_lock);

/*
 * Code of FKT, constant while attached, and of its gate, where functions can be traced: it is on
 * the stack within them.
 */
static struct fkt_text fkt_stack_own;
static struct fkt_text fkt_stack_gate;

void fkt_stack_set_gate(const struct fkt_text *text)
{
	fkt_stack_gate = *text;
}

/* Whether of @count codes from @code on any is to be recorded with its stack. */
bool fkt_stack_wanted(u32 code, u32 count)
{
	return fkt_stack_codes && find_next_bit(fkt_stack_codes, code + count, code) < code + count;
}

/* --- Taking a stack ------------------------------------------------------------------------- */

/*
 * The first frame that is wanted: behind those of the probe. Of an event at a known address, that
 * one, if it is there: between it and the probe there are frames of how the probe was called.
 */
static u32 fkt_stack_begin(const unsigned long *frame, u32 count, unsigned long ip)
{
	u32 own = 0, i;

	while (own < count && fkt_text_has(&fkt_stack_own, frame[own]))
		own++;
	/* What the gate was called in may be FKT's own again. */
	while (own < count && fkt_text_has(&fkt_stack_gate, frame[own]))
		own++;
	if (!ip)
		return own;
	for (i = own; i < min_t(u32, count, FKT_STACK_OWN_FRAMES); i++)
		if (frame[i] + 1 - ip < FKT_STACK_IP_BYTES)
			return i;
	return own;
}

/* Put the frames that are wanted, in half of their length, where they all were. */
static void fkt_stack_pack(struct fkt_stack *stack, unsigned long *frame, u32 begin, u32 count)
{
	u32 *to = (u32 *)frame, n = 0, i;

	for (i = begin; i < count && n < FKT_STACK_FRAMES_MAX; i++)
		if (!fkt_text_has(&fkt_stack_gate, frame[i]))
			to[n++] = (u32)frame[i];
	/* The second half of the last word. */
	if (n % 2)
		to[n] = 0;
	stack->frame = to;
	stack->count = n;
	stack->cut = i < count;
}

/* The stack of here; of a function that is just entered, with @ip in it before all others. */
static void fkt_stack_take(struct fkt_stack *stack, struct fkt_unwind_rules *rules,
			   unsigned long *frame, unsigned long ip, enum fkt_stack_of of)
{
	const u32 room = FKT_STACK_OWN_FRAMES + FKT_STACK_FRAMES_MAX;
	u32 count, begin;

	count = fkt_unwind(rules, frame + 1, room) ?: stack_trace_save(frame + 1, room, 0);
	begin = 1 + fkt_stack_begin(frame + 1, count, of == FKT_STACK_OF_ADDRESS ? ip : 0);
	if (of == FKT_STACK_OF_FUNCTION)
		frame[--begin] = ip;
	fkt_stack_pack(stack, frame, begin, 1 + count);
	/* The unwinder was out of room, not at the end. */
	stack->cut |= count == room;
}
NOKPROBE_SYMBOL(fkt_stack_take);

static u64 fkt_stack_hash(const struct fkt_stack *stack)
{
	const u64 *word = (const u64 *)stack->frame;
	u64 hash = stack->count + ((u64)stack->cut << 32);
	u32 i;

	for (i = 0; i < DIV_ROUND_UP(stack->count, 2); i++) {
		hash = (hash ^ word[i]) * FKT_STACK_MIX;
		hash ^= hash >> 32;
	}
	return hash;
}

/* --- Writing it ----------------------------------------------------------------------------- */

/* One of a stack's slots. Return: where the next one begins. */
static u64 *fkt_stack_put_slot(u64 *to, const struct fkt_stack *stack, u32 from, u32 count)
{
	const u32 words = DIV_ROUND_UP(count, 2);

	/* The rest of the first word is there already. */
	memcpy(to, stack->frame + from, words * sizeof(*to));
	return to + words;
}

static u64 fkt_stack_tag(const struct fkt_stack *stack, u32 from)
{
	const u32 count = min_t(u32, stack->count - from, FKT_STACK_SLOT_FRAMES);
	const bool more = from + count < stack->count;

	return FKT_TAG(FKT_CODE_STACK, DIV_ROUND_UP(count, 2),
		       count | (from ? FKT_STACK_ON : 0) | (more ? FKT_STACK_MORE : 0) |
			       (!more && stack->cut ? FKT_STACK_CUT : 0));
}

/**
 * struct fkt_stack_event - the event that has a stack
 * @tag: its FKT_TAG
 * @words: number of @args
 * @args: its arguments
 */
struct fkt_stack_event {
	u64 tag;
	u32 words;
	const u64 *args;
};

/* Fill the slots of a stack and of its event. Return: how many. */
static u32 fkt_stack_fill(const struct fkt_slot *slot, const struct fkt_stack *stack, bool whole,
			  const struct fkt_stack_event *event, u64 stamp)
{
	u32 from = 0, slots = 1, count;
	u64 *to = slot->words;

	while (whole) {
		count = min_t(u32, stack->count - from, FKT_STACK_SLOT_FRAMES);
		to = fkt_stack_put_slot(to, stack, from, count);
		from += count;
		if (from == stack->count)
			break;
		*to++ = stamp | fkt_stack_tag(stack, from);
		slots++;
	}
	*to++ = stamp | event->tag;
	memcpy(to, event->args, event->words * sizeof(*to));
	return slots + 1;
}

/* Where the first slot stands in its page, in words. */
static u32 fkt_stack_place(const struct fkt_slot *slot, const u64 *first)
{
	return first - (const u64 *)slot->entry->page;
}

/* @known is where the stack may stand already, NULL where there is none. */
static __always_inline void fkt_stack_record(struct fkt_lane *lane, const struct fkt_stack *stack,
					     u64 hash, struct fkt_stack_known *known,
					     const struct fkt_stack_event *event, bool shared)
{
	const u64 at = known ? READ_ONCE(known->at) : 0;
	const bool seen = known && READ_ONCE(known->check) == (hash ^ at * FKT_STACK_MIX);
	const u32 event_bytes = 8 * (1 + event->words);
	const u32 slots = DIV_ROUND_UP(stack->count, FKT_STACK_SLOT_FRAMES) ?: 1;
	const struct fkt_slots whole = {
		.tag = stack->count ? fkt_stack_tag(stack, 0) : FKT_TAG(FKT_CODE_STACK, 0, 0),
		.bytes = 8 * (slots + DIV_ROUND_UP(stack->count, 2)) + event_bytes,
	};
	const struct fkt_slots again = {
		.tag = FKT_TAG(FKT_CODE_STACK, 0, (u16)at),
		.bytes = 8 + event_bytes,
	};
	struct fkt_slot slot;
	bool is_again = false;
	u64 *first;

	if (!fkt_reserve_slots(lane, &whole, seen ? &again : NULL, at >> 16, shared, &slot,
			       &is_again))
		return;
	/* Where it is wide, its stamp stands before its words. */
	first = slot.words - 1 - (slot.bytes == (is_again ? &again : &whole)->bytes + sizeof(u64));
	if (known && !is_again) {
		const u64 here = (u64)fkt_slot_page(&slot) << 16 | fkt_stack_place(&slot, first);

		WRITE_ONCE(known->at, here);
		WRITE_ONCE(known->check, hash ^ here * FKT_STACK_MIX);
	}
	fkt_commit_slots(&slot,
			 fkt_stack_fill(&slot, stack, stack->count && !is_again, event,
					*first & FKT_SLOT_STAMP(~0ull)),
			 shared);
}

/* A CPU that is at it already, on this level, goes without: what is traced is the unwinder. */
static __always_inline void fkt_stack_event(struct fkt_lane *lane, unsigned long ip,
					    enum fkt_stack_of of,
					    const struct fkt_stack_event *event, bool shared)
{
	struct fkt_stack_room *room = this_cpu_ptr(fkt_stack_rooms);
	const u32 level = interrupt_context_level();
	struct fkt_stack stack = {};
	u64 hash = 0;

	if (room->busy & BIT(level)) {
		fkt_stack_record(lane, &stack, 0, NULL, event, shared);
		return;
	}
	/* Who interrupts this leaves the bits as they are. */
	WRITE_ONCE(room->busy, room->busy | BIT(level));
	barrier(); /* partner: whoever is traced here, on this CPU */
	fkt_stack_take(&stack, &room->rules, room->frame[level], ip, of);
	if (stack.count)
		hash = fkt_stack_hash(&stack);
	fkt_stack_record(lane, &stack, hash,
			 stack.count ? &room->known[hash >> (64 - FKT_STACK_KNOWN_BITS)] : NULL,
			 event, shared);
	barrier(); /* partner: the same */
	WRITE_ONCE(room->busy, room->busy & ~BIT(level));
}

/**
 * fkt_event_stack - record an event with the stack that it has here
 * @tag: as for fkt_event_tag()
 * @words: likewise
 * @args: likewise
 * @ip: see @of; else 0
 * @of: what it is of: FKT_STACK_OF_CALLER, of whoever has called the probe; _FUNCTION, of a
 *	function that is just entered, at @ip; _ADDRESS, of what is interrupted at @ip
 *
 * Context: as for fkt_event_n(); fkt_stack_wanted() said so when the probe was attached.
 */
void fkt_event_stack(u64 tag, u32 words, const u64 *args, unsigned long ip, enum fkt_stack_of of)
{
	const struct fkt_stack_event event = { tag, words, args };

	if (static_branch_unlikely(&fkt_shared_key))
		fkt_stack_event(fkt_session.pools[0].lane, ip, of, &event, true);
	else
		fkt_stack_event(this_cpu_read(fkt_lane), ip, of, &event, false);
}
NOKPROBE_SYMBOL(fkt_event_stack);

/* --- What the recorder asked for ------------------------------------------------------------ */

static int fkt_stack_add(struct fkt_specs *specs)
{
	const struct fkt_stack_spec *spec = specs->spec;
	u32 i;

	if (!IS_ENABLED(CONFIG_STACKTRACE) || !IS_ENABLED(CONFIG_X86_64))
		return -EOPNOTSUPP;
	for (i = 0; i < specs->count; i++)
		if (!spec[i].count || spec[i].code >= FKT_SLOT_CODES ||
		    spec[i].count > FKT_SLOT_CODES - spec[i].code)
			return -EINVAL;
	mutex_lock(&fkt_stack_rooms_lock);
	if (!fkt_stack_rooms)
		fkt_stack_rooms = alloc_percpu(struct fkt_stack_room);
	mutex_unlock(&fkt_stack_rooms_lock);
	if (fkt_stack_rooms && !fkt_stack_codes)
		fkt_stack_codes =
			kvzalloc(BITS_TO_LONGS(FKT_SLOT_CODES) * sizeof(long), GFP_KERNEL);
	if (!fkt_stack_codes)
		return -ENOMEM;
	for (i = 0; i < specs->count; i++)
		bitmap_set(fkt_stack_codes, spec[i].code, spec[i].count);
	return 0;
}

static void fkt_stack_clear(void)
{
	kvfree(fkt_stack_codes);
	fkt_stack_codes = NULL;
	mutex_lock(&fkt_stack_rooms_lock);
	free_percpu(fkt_stack_rooms);
	fkt_stack_rooms = NULL;
	mutex_unlock(&fkt_stack_rooms_lock);
}

static void fkt_stack_begin_recording(void)
{
	int cpu;

	if (!fkt_stack_codes)
		return;
	fkt_stack_own = fkt_module_text(THIS_MODULE);
	/* Pages are counted anew. */
	for_each_possible_cpu(cpu) {
		memset(per_cpu_ptr(fkt_stack_rooms, cpu)->known, 0, sizeof(fkt_stack_rooms->known));
		fkt_unwind_begin(&per_cpu_ptr(fkt_stack_rooms, cpu)->rules);
	}
}

/* Coming, live (so that the code of its beginning goes) and going. */
static int fkt_stack_module(struct notifier_block *block, unsigned long state, void *data)
{
	int cpu;

	mutex_lock(&fkt_stack_rooms_lock);
	if (fkt_stack_rooms)
		for_each_possible_cpu(cpu)
			fkt_unwind_forget(&per_cpu_ptr(fkt_stack_rooms, cpu)->rules);
	mutex_unlock(&fkt_stack_rooms_lock);
	return NOTIFY_OK;
}

static struct notifier_block fkt_stack_modules = {
	.notifier_call = fkt_stack_module,
};

static int fkt_stack_init(void)
{
	return register_module_notifier(&fkt_stack_modules);
}

static void fkt_stack_exit(void)
{
	unregister_module_notifier(&fkt_stack_modules);
}

const struct fkt_provider fkt_provider_stack = {
	.name = "stack",
	.spec_bytes = sizeof(struct fkt_stack_spec),
	.count_max = FKT_STACKS_MAX,
	.init = fkt_stack_init,
	.exit = fkt_stack_exit,
	.begin = fkt_stack_begin_recording,
	.add = fkt_stack_add,
	.clear = fkt_stack_clear,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of an event: the kernel's, by the kernel's unwinder, and the program's.
 *
 * They stand in slots of their own right before the event's slot, reserved together with that. The
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
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include "compat.h"
#include "fkt.h"
#include "stacks.h"

/*
 * Of threads, softirqs, interrupts and NMIs, each with interrupts on and off: one may interrupt the
 * other. Off, for an interrupt that ends is a thread again to preempt_count(), and wakes others,
 * before it has left.
 */
#define FKT_STACK_LEVELS	 8
/*
 * Of a level with interrupts on, in fkt_stack_room.busy: while it takes a stack, the program's took
 * a fault on the same level with interrupts off.
 */
#define FKT_STACK_FAULTED(level) BIT(FKT_STACK_LEVELS + (level))
/* Frames of the probe, and of what calls it, that come before the first one that is wanted. */
#define FKT_STACK_OWN_FRAMES	 16
/* Where a probe is, is not quite where the unwinder finds it: behind a breakpoint or a call. */
#define FKT_STACK_IP_BYTES	 16

#define FKT_STACK_KNOWN_BITS	 8
#define FKT_STACK_MIX		 0x9e3779b97f4a7c15ull

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
 * @busy: a bit for each level that is just taking one; FKT_STACK_FAULTED
 * @known: by their hashes
 * @rules: for fkt_unwind()
 * @frame: of each level; first as addresses, then as frames of a slot
 * @user: of each level, the program's stack
 */
struct fkt_stack_room {
	unsigned long busy;
	struct fkt_stack_known known[1 << FKT_STACK_KNOWN_BITS];
	struct fkt_unwind_rules rules;
	unsigned long frame[FKT_STACK_LEVELS][1 + FKT_STACK_OWN_FRAMES + FKT_STACK_FRAMES_MAX];
	u64 user[FKT_STACK_LEVELS][FKT_STACK_WORDS_MAX];
};
static_assert(sizeof(struct fkt_stack_room) <= PCPU_MIN_UNIT_SIZE); /* or alloc_percpu() fails */

/**
 * struct fkt_stack - a stack
 * @words: its frames, as slots have them; the rest of the last word is 0
 * @count: how many frames, or bytes (FKT_STACK_USER); 0: it could not be had
 * @flags: FKT_STACK_USER, _BELOW, _CUT, _FAULT
 * @hash: of all this but of FKT_STACK_BELOW
 */
struct fkt_stack {
	const u64 *words;
	u32 count;
	u16 flags;
	u64 hash;
};

/* The kernel's, and the program's. */
#define FKT_STACKS_OF_EVENT 2

/*
 * Which codes have the kernel's stack, behind them which have the program's, and where they are
 * taken; the session's lock. NULL: none has.
 */
static unsigned long *fkt_stack_codes;
static struct fkt_stack_room __percpu *fkt_stack_rooms;
/* So that no program can make a stack that is taken for another one's. */
static u64 fkt_stack_seed;
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

static unsigned long *fkt_stack_user_codes(void)
{
	return fkt_stack_codes + BITS_TO_LONGS(FKT_SLOT_CODES);
}

static bool fkt_stack_has_any(const unsigned long *codes, u32 code, u32 count)
{
	return find_next_bit(codes, code + count, code) < code + count;
}

/* Whether of @count codes from @code on any is to be recorded with a stack. */
bool fkt_stack_wanted(u32 code, u32 count)
{
	return fkt_stack_codes && (fkt_stack_has_any(fkt_stack_codes, code, count) ||
				   fkt_stack_has_any(fkt_stack_user_codes(), code, count));
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
	stack->words = (const u64 *)to;
	stack->count = n;
	stack->flags |= i < count ? FKT_STACK_CUT : 0;
}

/* How many words so many frames, or bytes, take. */
static u32 fkt_stack_words(const struct fkt_stack *stack, u32 count)
{
	return DIV_ROUND_UP(count, stack->flags & FKT_STACK_USER ? 8 : 2);
}

static void fkt_stack_set_hash(struct fkt_stack *stack)
{
	u64 hash = fkt_stack_seed ^ (stack->count + ((u64)stack->flags << 32));
	u32 i;

	for (i = 0; i < fkt_stack_words(stack, stack->count); i++) {
		hash = (hash ^ stack->words[i]) * FKT_STACK_MIX;
		hash ^= hash >> 32;
	}
	stack->hash = hash;
}

/**
 * struct fkt_stack_from - where the kernel's stack begins
 * @of: see fkt_event_stack()
 * @ip: see there; of FKT_STACK_OF_INTERRUPTED, the address in @regs
 * @regs: of FKT_STACK_OF_INTERRUPTED: the registers of what is interrupted
 */
struct fkt_stack_from {
	enum fkt_stack_of of;
	unsigned long ip;
	struct pt_regs *regs;
};

/* The stack of here; of a function that is just entered, with its address before all others. */
static void fkt_stack_take(struct fkt_stack *stack, struct fkt_unwind_rules *rules,
			   unsigned long *frame, const struct fkt_stack_from *from)
{
	const u32 room = FKT_STACK_OWN_FRAMES + FKT_STACK_FRAMES_MAX;
	u32 count = 0, begin = 1;

	if (from->of == FKT_STACK_OF_INTERRUPTED)
		count = fkt_unwind_regs(rules, from->regs, frame + 1, room);
	if (!count) {
		count = fkt_unwind(rules, frame + 1, room) ?: stack_trace_save(frame + 1, room, 0);
		begin += fkt_stack_begin(frame + 1, count,
					 from->of == FKT_STACK_OF_FUNCTION ? 0 : from->ip);
	}
	if (from->of == FKT_STACK_OF_FUNCTION)
		frame[--begin] = from->ip;
	fkt_stack_pack(stack, frame, begin, 1 + count);
	/* The unwinder was out of room, not at the end. */
	if (count == room)
		stack->flags |= FKT_STACK_CUT;
	fkt_stack_set_hash(stack);
}
NOKPROBE_SYMBOL(fkt_stack_take);

/* The stack of the program that is current. Return: whether there is one. */
static bool fkt_stack_take_user(struct fkt_stack *stack, u64 *words)
{
	stack->words = words;
	stack->count = fkt_user_stack(words, &stack->flags);
	if (!stack->count)
		return false;
	if (stack->count % 8)
		words[stack->count / 8] &= (1ull << (stack->count % 8 * 8)) - 1;
	fkt_stack_set_hash(stack);
	return true;
}

/* --- Writing it ----------------------------------------------------------------------------- */

/* How many frames, or bytes, a slot has room for. */
static u32 fkt_stack_room_of_slot(const struct fkt_stack *stack)
{
	return FKT_STACK_SLOT_WORDS * (stack->flags & FKT_STACK_USER ? 8 : 2);
}

/* The tag of the slot whose first frame, or byte, is @from. */
static u64 fkt_stack_tag(const struct fkt_stack *stack, u32 from)
{
	const u32 count = min_t(u32, stack->count - from, fkt_stack_room_of_slot(stack));
	const u32 ends = FKT_STACK_CUT | FKT_STACK_FAULT;
	const bool more = from + count < stack->count;

	return FKT_TAG(FKT_CODE_STACK, fkt_stack_words(stack, count),
		       count | (from ? FKT_STACK_ON : 0) |
			       (more ? FKT_STACK_MORE | (stack->flags & ~ends) : stack->flags));
}

/* That of a stack which stands at @place already; 0: which could not be had. */
static u64 fkt_stack_again_tag(const struct fkt_stack *stack, u32 place)
{
	return FKT_TAG(FKT_CODE_STACK, 0,
		       place | (stack->flags & (FKT_STACK_USER | FKT_STACK_BELOW)));
}

/* All of its slots, none of which is wide. */
static u32 fkt_stack_bytes(const struct fkt_stack *stack)
{
	const u32 slots = DIV_ROUND_UP(stack->count, fkt_stack_room_of_slot(stack)) ?: 1;

	return 8 * (slots + fkt_stack_words(stack, stack->count));
}

/**
 * struct fkt_stack_event - the event that has stacks
 * @tag: its FKT_TAG
 * @words: number of @args
 * @args: its arguments
 * @stacks: number of @stack
 * @stack: in their order
 */
struct fkt_stack_event {
	u64 tag;
	u32 words;
	const u64 *args;
	u32 stacks;
	struct fkt_stack stack[FKT_STACKS_OF_EVENT];
};

/**
 * struct fkt_stack_fill - slots that are being written
 * @to: where the next one begins
 * @first: there is none yet: the first one has its first word already
 * @stamp: of all of them
 * @slots: how many there are
 */
struct fkt_stack_fill {
	u64 *to;
	bool first;
	u64 stamp;
	u32 slots;
};

static void fkt_stack_put_slot(struct fkt_stack_fill *fill, u64 tag, const u64 *words, u32 count)
{
	if (!fill->first)
		*fill->to++ = fill->stamp | tag;
	fill->first = false;
	memcpy(fill->to, words, count * sizeof(*words));
	fill->to += count;
	fill->slots++;
}

static void fkt_stack_put(struct fkt_stack_fill *fill, const struct fkt_stack *stack)
{
	const u32 room = fkt_stack_room_of_slot(stack);
	u32 from;

	for (from = 0; from < stack->count; from += room)
		fkt_stack_put_slot(fill, fkt_stack_tag(stack, from),
				   stack->words + fkt_stack_words(stack, from),
				   fkt_stack_words(stack, min(stack->count - from, room)));
}

static struct fkt_stack_known *fkt_stack_known(struct fkt_stack_room *room,
					       const struct fkt_stack *stack)
{
	return &room->known[stack->hash >> (64 - FKT_STACK_KNOWN_BITS)];
}

/* Where a stack may stand already, as struct fkt_stack_known has it; 0: nowhere. */
static u64 fkt_stack_seen(struct fkt_stack_room *room, const struct fkt_stack *stack)
{
	const struct fkt_stack_known *known = fkt_stack_known(room, stack);
	const u64 at = stack->count ? READ_ONCE(known->at) : 0;

	return at && READ_ONCE(known->check) == (stack->hash ^ at * FKT_STACK_MIX) ? at : 0;
}

static void fkt_stack_remember(struct fkt_stack_room *room, const struct fkt_stack *stack,
			       const struct fkt_slot *slot, const u64 *first)
{
	struct fkt_stack_known *known = fkt_stack_known(room, stack);
	const u64 *page = (u64 *)fkt_entry_page(slot->entry);
	const u64 here = (u64)fkt_slot_page(slot) << 16 | (u16)(first - page);

	WRITE_ONCE(known->at, here);
	WRITE_ONCE(known->check, stack->hash ^ here * FKT_STACK_MIX);
}

static __always_inline void fkt_stack_record(struct fkt_lane *lane, struct fkt_stack_room *room,
					     const struct fkt_stack_event *event, bool shared)
{
	struct fkt_slots whole = { .bytes = 8 * (1 + event->words) }, again = whole;
	struct fkt_stack_fill fill = { .first = true };
	const struct fkt_stack *stack = event->stack;
	u64 seen[FKT_STACKS_OF_EVENT], at = 0, *first;
	bool is_again = false, wide;
	struct fkt_slot slot;
	u32 i;

	/* One page can be hoped for: the newest one that has any of them. */
	for (i = 0; i < event->stacks; i++) {
		seen[i] = fkt_stack_seen(room, &stack[i]);
		if (seen[i] && (!at || (s32)((seen[i] >> 16) - (at >> 16)) > 0))
			at = seen[i];
	}
	whole.tag = event->tag;
	again.tag = event->tag;
	for (i = event->stacks; i--;) {
		if (seen[i] >> 16 != at >> 16)
			seen[i] = 0;
		whole.tag = stack[i].count ? fkt_stack_tag(&stack[i], 0)
					   : fkt_stack_again_tag(&stack[i], 0);
		whole.bytes += fkt_stack_bytes(&stack[i]);
		again.tag = seen[i] ? fkt_stack_again_tag(&stack[i], (u16)seen[i]) : whole.tag;
		again.bytes += seen[i] ? 8 : fkt_stack_bytes(&stack[i]);
	}
	if (!fkt_reserve_slots(lane, &whole, at ? &again : NULL, at >> 16, shared, &slot,
			       &is_again))
		return;
	/* Where it is wide, its stamp stands before its words. */
	wide = slot.bytes == (is_again ? &again : &whole)->bytes + sizeof(u64);
	first = slot.words - 1 - wide;
	fill.to = slot.words;
	fill.stamp = *first & FKT_SLOT_STAMP(~0ull);
	for (i = 0; i < event->stacks; i++) {
		if (is_again && seen[i]) {
			fkt_stack_put_slot(&fill, fkt_stack_again_tag(&stack[i], (u16)seen[i]),
					   NULL, 0);
		} else if (!stack[i].count) {
			fkt_stack_put_slot(&fill, fkt_stack_again_tag(&stack[i], 0), NULL, 0);
		} else {
			fkt_stack_remember(room, &stack[i], &slot, fill.first ? first : fill.to);
			fkt_stack_put(&fill, &stack[i]);
		}
	}
	fkt_stack_put_slot(&fill, event->tag, event->args, event->words);
	fkt_commit_slots(&slot, fill.slots, shared);
}

/*
 * Whether on this level no program's stack is to be had: each of many functions on the way of a
 * fault would take a fault again.
 */
static bool fkt_stack_has_faulted(const struct fkt_stack_room *room, u32 level)
{
	return level % 2 && room->busy & FKT_STACK_FAULTED(level - 1);
}

/*
 * Take those that the event's code is to have; @at_it: none can be had. Where a program is
 * interrupted, the kernel has none.
 */
static void fkt_stack_take_all(struct fkt_stack_event *event, struct fkt_stack_room *room,
			       u32 level, bool at_it, const struct fkt_stack_from *from)
{
	const u32 code = event->tag >> FKT_SLOT_CODE_SHIFT & (FKT_SLOT_CODES - 1);
	struct fkt_stack *stack = event->stack;

	if (test_bit(code, fkt_stack_codes) && !(from->regs && user_mode(from->regs))) {
		*stack = (struct fkt_stack){};
		if (!at_it)
			fkt_stack_take(stack, &room->rules, room->frame[level], from);
		stack++;
	}
	if (test_bit(code, fkt_stack_user_codes())) {
		*stack = (struct fkt_stack){ .flags = FKT_STACK_USER };
		if (at_it || fkt_stack_has_faulted(room, level) ||
		    fkt_stack_take_user(stack, room->user[level])) {
			stack->flags |= stack > event->stack ? FKT_STACK_BELOW : 0;
			stack++;
		}
	}
	event->stacks = stack - event->stack;
}

/*
 * The bits when a level has taken its stacks. The program's comes last; where it took a fault with
 * interrupts off, who takes one with them on, and is interrupted or took a fault, hears of it.
 */
static unsigned long fkt_stack_after(const struct fkt_stack_room *room,
				     const struct fkt_stack_event *event, u32 level)
{
	const unsigned long busy = room->busy & ~(BIT(level) | FKT_STACK_FAULTED(level));

	if (level % 2 && busy & BIT(level - 1) && event->stacks &&
	    event->stack[event->stacks - 1].flags & FKT_STACK_FAULT)
		return busy | FKT_STACK_FAULTED(level - 1);
	return busy;
}

/* A CPU that is at it already, on this level, goes without: what is traced is the unwinder. */
static __always_inline void fkt_stack_event(struct fkt_lane *lane,
					    const struct fkt_stack_from *from,
					    struct fkt_stack_event *event, bool shared)
{
	struct fkt_stack_room *room = this_cpu_ptr(fkt_stack_rooms);
	const u32 level = 2 * interrupt_context_level() + irqs_disabled();

	if (room->busy & BIT(level)) {
		fkt_stack_take_all(event, room, level, true, from);
		fkt_stack_record(lane, room, event, shared);
		return;
	}
	/* Who interrupts this leaves the bits, but for this level's FKT_STACK_FAULTED. */
	WRITE_ONCE(room->busy, room->busy | BIT(level));
	barrier(); /* partner: whoever is traced here, on this CPU */
	fkt_stack_take_all(event, room, level, false, from);
	fkt_stack_record(lane, room, event, shared);
	barrier(); /* partner: the same */
	WRITE_ONCE(room->busy, fkt_stack_after(room, event, level));
}

static __always_inline void fkt_stack_event_from(u64 tag, u32 words, const u64 *args,
						 const struct fkt_stack_from *from)
{
	struct fkt_stack_event event;

	fkt_check_not_preemptible();
	event.tag = tag;
	event.words = words;
	event.args = args;
	if (static_branch_unlikely(&fkt_shared_key))
		fkt_stack_event(fkt_session.pools[0].lane, from, &event, true);
	else
		fkt_stack_event(this_cpu_read(fkt_lane), from, &event, false);
}

/**
 * fkt_event_stack - record an event with the stacks that it has here
 * @tag: as for fkt_event_tag()
 * @words: likewise
 * @args: likewise
 * @ip: see @of; else 0
 * @of: what the kernel's is of: FKT_STACK_OF_CALLER, of whoever has called the probe; _FUNCTION, of
 *	a function that is just entered, at @ip; _ADDRESS, of what is interrupted at @ip
 *
 * Context: as for fkt_event_n(); fkt_stack_wanted() said so when the probe was attached.
 */
void fkt_event_stack(u64 tag, u32 words, const u64 *args, unsigned long ip, enum fkt_stack_of of)
{
	const struct fkt_stack_from from = { .of = of, .ip = ip };

	fkt_stack_event_from(tag, words, args, &from);
}
NOKPROBE_SYMBOL(fkt_event_stack);

/**
 * fkt_event_interrupted - record an event with the stacks of what this interrupt has interrupted
 * @tag: as for fkt_event_tag()
 * @words: likewise
 * @args: likewise
 * @regs: its registers; where they are a program's, the event has no stack of the kernel
 *
 * Context: as for fkt_event_stack(), in an interrupt.
 */
void fkt_event_interrupted(u64 tag, u32 words, const u64 *args, struct pt_regs *regs)
{
	const struct fkt_stack_from from = {
		.of = FKT_STACK_OF_INTERRUPTED,
		.ip = instruction_pointer(regs),
		.regs = regs,
	};

	fkt_stack_event_from(tag, words, args, &from);
}
NOKPROBE_SYMBOL(fkt_event_interrupted);

/* --- What the recorder asked for ------------------------------------------------------------ */

static int fkt_stack_add(struct fkt_specs *specs)
{
	const struct fkt_stack_spec *spec = specs->spec;
	u32 i;

	if (!IS_ENABLED(CONFIG_STACKTRACE) || !IS_ENABLED(CONFIG_X86_64))
		return -EOPNOTSUPP;
	for (i = 0; i < specs->count; i++)
		if (!spec[i].count || spec[i].code >= FKT_SLOT_CODES ||
		    spec[i].count > FKT_SLOT_CODES - spec[i].code || !spec[i].of ||
		    spec[i].of & ~(FKT_STACKS_KERNEL | FKT_STACKS_USER) || spec[i].reserved)
			return -EINVAL;
	mutex_lock(&fkt_stack_rooms_lock);
	if (!fkt_stack_rooms)
		fkt_stack_rooms = alloc_percpu(struct fkt_stack_room);
	mutex_unlock(&fkt_stack_rooms_lock);
	if (fkt_stack_rooms && !fkt_stack_codes)
		fkt_stack_codes =
			kvcalloc(2 * BITS_TO_LONGS(FKT_SLOT_CODES), sizeof(long), GFP_KERNEL);
	if (!fkt_stack_codes)
		return -ENOMEM;
	fkt_stack_seed = get_random_u64();
	for (i = 0; i < specs->count; i++) {
		if (spec[i].of & FKT_STACKS_KERNEL)
			bitmap_set(fkt_stack_codes, spec[i].code, spec[i].count);
		if (spec[i].of & FKT_STACKS_USER)
			bitmap_set(fkt_stack_user_codes(), spec[i].code, spec[i].count);
	}
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
	.harmless = true,
	.init = fkt_stack_init,
	.exit = fkt_stack_exit,
	.begin = fkt_stack_begin_recording,
	.add = fkt_stack_add,
	.clear = fkt_stack_clear,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's stack, by what its unwinder says of each place in the code, once.
 *
 * What leads from a frame to the next one depends on the place alone: where the stack was before
 * the call, as seen from %rsp or %rbp, and where %rbp was kept. The unwinder finds that in its
 * tables for each frame anew, which takes most of its time, and does not export them. But it
 * unwinds whatever it is given: from a made-up stack, of which each word says where it stands, what
 * it does at a place can be read off. These rules are kept for each CPU.
 *
 * Only a thread's own stack is unwound so, from call to call up to where the thread came into the
 * kernel. Whatever else there is on it (an interrupt, another stack, code without tables, a return
 * that somebody has put a trampoline in the place of) is left to the unwinder.
 */
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "stacks.h"

#if IS_ENABLED(CONFIG_UNWINDER_ORC)
#include <asm/unwind.h>

enum rule_kind {
	RULE_NONE, /* the unwinder's */
	RULE_CALL,
	RULE_REGS, /* here are the registers with which the kernel was entered */
	RULE_END,
};

/*
 * A rule is one word, so that whoever interrupts its writing, or its reading, sees a whole one:
 * the low half of the place, enum rule_kind, whether the previous frame's %rsp is seen from %rbp,
 * where it is, whether %rbp was kept, and where that is seen from there. All in words.
 */
#define RULE_IP		GENMASK_ULL(31, 0)
#define RULE_KIND_SHIFT 32
#define RULE_KIND	3ull
#define RULE_FROM_BP	BIT_ULL(34)
#define RULE_BP_KEPT	BIT_ULL(35)
#define RULE_SP_SHIFT	36
#define RULE_BP_SHIFT	46
#define RULE_OFFSET	GENMASK_ULL(9, 0)

/* The made-up stack: from the one place on %rsp, at the other %rbp. */
#define SCRATCH_WORDS	1024
#define SCRATCH_SP	64
#define SCRATCH_BP	896
#define SCRATCH_MARK	0x5ca7c4ull

static unsigned long fkt_scratch[SCRATCH_WORDS];

void fkt_unwind_begin(struct fkt_unwind_rules *rules)
{
	u32 i;

	for (i = 0; i < SCRATCH_WORDS; i++)
		fkt_scratch[i] = SCRATCH_MARK << 32 | i;
	fkt_unwind_forget(rules);
}

/* A rule that is just being kept elsewhere is not about code that is going, which nobody is in. */
void fkt_unwind_forget(struct fkt_unwind_rules *rules)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules->rule); i++)
		WRITE_ONCE(rules->rule[i], 0);
}

/*
 * Whether a call is before a place in the kernel's code: a return that goes somewhere else first
 * has the address of a trampoline in its place.
 */
static bool fkt_is_behind_call(unsigned long ip)
{
	u8 code[8];
	bool is = false;

	if ((long)ip >> 31 != -1)
		return false;
	pagefault_disable();
	__get_kernel_nofault(code, (void *)(ip - sizeof(code)), u64, out);
	is = code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0xf8) == 0xd0);
out:
	pagefault_enable();
	return is;
}

/* Have the unwinder make a step on the made-up stack. */
static bool fkt_try_step(struct unwind_state *state, unsigned long ip, u32 bp)
{
	/* Of the current thread, the unwinder would complain in the kernel's log. */
	*state = (struct unwind_state){
		.stack_info = {
			.type = STACK_TYPE_TASK,
			.begin = fkt_scratch,
			.end = fkt_scratch + SCRATCH_WORDS,
		},
		.task = &init_task,
		.ip = ip,
		.sp = (unsigned long)&fkt_scratch[SCRATCH_SP],
		.bp = (unsigned long)&fkt_scratch[bp],
	};
	return unwind_next_frame(state);
}

static u32 fkt_scratch_index(unsigned long address)
{
	return (unsigned long *)address - fkt_scratch;
}

/* What is done at a place, as a rule without its low half. */
static u64 fkt_learn_rule(unsigned long ip)
{
	struct unwind_state state, other;
	u32 sp, bp, base;
	u64 rule;

	if (!fkt_try_step(&state, ip, SCRATCH_BP))
		return state.error ? 0 : (u64)RULE_END << RULE_KIND_SHIFT;
	if (state.error)
		return 0;
	if (state.regs) {
		base = fkt_scratch_index((unsigned long)state.regs) - SCRATCH_SP;
		if (!state.full_regs || base > RULE_OFFSET)
			return 0;
		return (u64)RULE_REGS << RULE_KIND_SHIFT | (u64)base << RULE_SP_SHIFT;
	}
	/* Where %rbp is elsewhere, it shows what depends on it. */
	if (!fkt_try_step(&other, ip, SCRATCH_BP - 1))
		return 0;
	sp = fkt_scratch_index(state.sp);
	rule = (u64)RULE_CALL << RULE_KIND_SHIFT;
	base = SCRATCH_SP;
	if (state.sp != other.sp) {
		rule |= RULE_FROM_BP;
		base = SCRATCH_BP;
	}
	if (sp <= base || sp - base > RULE_OFFSET || sp > SCRATCH_WORDS)
		return 0;
	rule |= (u64)(sp - base) << RULE_SP_SHIFT;
	if (state.bp == (unsigned long)&fkt_scratch[SCRATCH_BP])
		return rule;
	bp = (u32)state.bp;
	if (state.bp >> 32 != SCRATCH_MARK || bp >= sp || sp - bp > RULE_OFFSET ||
	    /* Kept where it is seen from %rbp, though the frame is not. */
	    (u32)other.bp - fkt_scratch_index(other.sp) != bp - sp)
		return 0;
	return rule | RULE_BP_KEPT | (u64)(sp - bp) << RULE_BP_SHIFT;
}

/* The rule of a place; 0 where there is none. */
static __always_inline u64 fkt_rule(struct fkt_unwind_rules *rules, unsigned long ip, bool first)
{
	u64 *at = &rules->rule[hash_32((u32)ip, FKT_UNWIND_RULES_BITS)];
	u64 rule = READ_ONCE(*at);

	if (likely((rule & RULE_IP) == (u32)ip))
		return rule;
	rule = first || fkt_is_behind_call(ip) ? fkt_learn_rule(ip) : 0;
	WRITE_ONCE(*at, rule | (u32)ip);
	return rule;
}

static __always_inline unsigned long fkt_stack_word(unsigned long address)
{
	return READ_ONCE_NOCHECK(*(unsigned long *)address);
}

/*
 * From a place in the current thread's code on, with these registers there: the addresses of those
 * that have called. Return: how many; 0 where the kernel's unwinder is to be asked.
 */
static __always_inline u32 fkt_unwind_from(struct fkt_unwind_rules *rules, unsigned long ip,
					   unsigned long sp, unsigned long bp, unsigned long *frame,
					   u32 room)
{
	const unsigned long top = (unsigned long)task_pt_regs(current);
	unsigned long cfa, kept;
	u32 count = 0;
	u64 rule;

	if (sp < (unsigned long)task_stack_page(current) || sp >= top)
		return 0;
	for (;; frame[count++] = ip) {
		rule = fkt_rule(rules, ip, !count);
		cfa = (rule & RULE_FROM_BP ? bp : sp) +
		      (rule >> RULE_SP_SHIFT & RULE_OFFSET) * sizeof(long);
		switch (rule >> RULE_KIND_SHIFT & RULE_KIND) {
		case RULE_CALL:
			break;
		case RULE_REGS:
		case RULE_END:
			return cfa == top ? count : 0;
		default:
			return 0;
		}
		if (cfa <= sp || cfa > top || cfa % sizeof(long))
			return 0;
		if (count == room)
			return count;
		ip = fkt_stack_word(cfa - sizeof(long));
		if (rule & RULE_BP_KEPT) {
			kept = cfa - (rule >> RULE_BP_SHIFT & RULE_OFFSET) * sizeof(long);
			if (kept < sp)
				return 0;
			bp = fkt_stack_word(kept);
		}
		sp = cfa;
	}
}

u32 fkt_unwind(struct fkt_unwind_rules *rules, unsigned long *frame, u32 room)
{
	unsigned long ip, sp, bp;

	asm volatile("lea (%%rip), %0\n\t"
		     "mov %%rsp, %1\n\t"
		     "mov %%rbp, %2"
		     : "=r"(ip), "=r"(sp), "=r"(bp));
	return fkt_unwind_from(rules, ip, sp, bp, frame, room);
}
NOKPROBE_SYMBOL(fkt_unwind);

/*
 * Rules are of places behind calls, and what was interrupted may be anywhere: the first step is the
 * unwinder's, as are all of them where an interrupt or an exception has been interrupted.
 */
u32 fkt_unwind_regs(struct fkt_unwind_rules *rules, struct pt_regs *regs, unsigned long *frame,
		    u32 room)
{
	struct unwind_state state;
	u32 count = 0, more = 0;

	frame[count++] = instruction_pointer(regs);
	/* Makes the step. */
	unwind_start(&state, current, regs, NULL);
	for (; !unwind_done(&state) && count < room; unwind_next_frame(&state)) {
		frame[count] = unwind_get_return_address(&state);
		if (!frame[count++])
			return count - 1;
		if (count == 2 && !state.regs)
			more = fkt_unwind_from(rules, frame[1], state.sp, state.bp, frame + count,
					       room - count);
		if (more)
			return count + more;
	}
	return count;
}
NOKPROBE_SYMBOL(fkt_unwind_regs);
#endif

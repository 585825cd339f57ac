/* SPDX-License-Identifier: GPL-2.0-only */
/* Events with stacks: probes/stack.c. */
#ifndef FKT_STACKS_H
#define FKT_STACKS_H

#include <linux/types.h>
#include <fkt/format.h>

struct fkt_text;
struct pt_regs;

/* What a stack begins with, see fkt_event_stack(). */
enum fkt_stack_of {
	FKT_STACK_OF_CALLER,
	FKT_STACK_OF_FUNCTION,
	FKT_STACK_OF_ADDRESS,
	FKT_STACK_OF_INTERRUPTED,
};

/*
 * Whether any of @count codes from @code on is to be recorded with its stack. The session's lock,
 * or while attached.
 */
bool fkt_stack_wanted(u32 code, u32 count);
/* Where the gate's code is, of which nothing is shown; once, before anything is recorded. */
void fkt_stack_set_gate(const struct fkt_text *text);
void fkt_event_stack(u64 tag, u32 words, const u64 *args, unsigned long ip, enum fkt_stack_of of);
void fkt_event_interrupted(u64 tag, u32 words, const u64 *args, struct pt_regs *regs);

/*
 * user_stack.c: the stack of the program that is current, as the bytes of FKT_STACK_USER, without
 * the rest of the last word being set.
 *
 * Context: any, with preemption off.
 * Return: how many bytes; 0: no program is.
 */
u32 fkt_user_stack(u64 words[FKT_STACK_WORDS_MAX], u16 *flags);

#define FKT_UNWIND_RULES_BITS 10

/**
 * struct fkt_unwind_rules - how to get from a frame to the next one, of a CPU
 * @rule: see arch/x86/unwind.c
 */
struct fkt_unwind_rules {
	u64 rule[1 << FKT_UNWIND_RULES_BITS];
};

#if IS_ENABLED(CONFIG_X86_64) && IS_ENABLED(CONFIG_UNWINDER_ORC)
/**
 * fkt_unwind - the stack of the current thread
 * @rules: those of this CPU
 * @frame: where to put return addresses, from that of this function on
 * @room: for so many
 *
 * Context: any, on a CPU that stays the same; at one time on each level of interrupts, once with
 * interrupts on and once with them off.
 * Return: how many; 0 where the kernel's unwinder is to be asked.
 */
u32 fkt_unwind(struct fkt_unwind_rules *rules, unsigned long *frame, u32 room);
/* The same of what this interrupt has interrupted in the kernel: where that is comes first. */
u32 fkt_unwind_regs(struct fkt_unwind_rules *rules, struct pt_regs *regs, unsigned long *frame,
		    u32 room);
void fkt_unwind_begin(struct fkt_unwind_rules *rules);
/* The code of a module comes or goes, and with it what is known of its places. */
void fkt_unwind_forget(struct fkt_unwind_rules *rules);
#else
static inline u32 fkt_unwind(struct fkt_unwind_rules *rules, unsigned long *frame, u32 room)
{
	return 0;
}

static inline u32 fkt_unwind_regs(struct fkt_unwind_rules *rules, struct pt_regs *regs,
				  unsigned long *frame, u32 room)
{
	return 0;
}

static inline void fkt_unwind_begin(struct fkt_unwind_rules *rules)
{
}

static inline void fkt_unwind_forget(struct fkt_unwind_rules *rules)
{
}
#endif

/* FKT_EVENT(), with its stack where @stack, a constant, says so. */
#define FKT_EVENT_OR_STACK(stack, code, imm, ...)                                                  \
	do {                                                                                       \
		const u64 fkt_args[] = { __VA_ARGS__ };                                            \
		if (stack)                                                                         \
			fkt_event_stack(FKT_TAG(code, ARRAY_SIZE(fkt_args), imm),                  \
					ARRAY_SIZE(fkt_args), fkt_args, 0, FKT_STACK_OF_CALLER);   \
		else                                                                               \
			fkt_event_n(code, imm, ARRAY_SIZE(fkt_args), fkt_args);                    \
	} while (0)

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Events with the kernel's stack: probes/stack.c. */
#ifndef FKT_STACKS_H
#define FKT_STACKS_H

#include <linux/types.h>

/* What a stack begins with, see fkt_event_stack(). */
enum fkt_stack_of {
	FKT_STACK_OF_CALLER,
	FKT_STACK_OF_FUNCTION,
	FKT_STACK_OF_ADDRESS,
};

/*
 * Whether any of @count codes from @code on is to be recorded with its stack. The session's lock,
 * or while attached.
 */
bool fkt_stack_wanted(u32 code, u32 count);
void fkt_event_stack(u64 tag, u32 words, const u64 *args, unsigned long ip, enum fkt_stack_of of);

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

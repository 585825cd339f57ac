/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The first bytes of where ftrace calls from, and what stands there when it does not. Programs can
 * include this as well: tests/unit/test_ftrace_code.c does.
 */
#ifndef FKT_FTRACE_CODE_H
#define FKT_FTRACE_CODE_H

#include <linux/types.h>

/* The first four bytes of the no-operation that ftrace leaves where it calls nobody. */
#define FKT_FTRACE_NOP	0x00441f0f

/* The first byte of a call, and of the breakpoint that stands there while the rest is changed. */
#define FKT_FTRACE_CALL 0xe8
#define FKT_FTRACE_INT3 0xcc

/*
 * Whether four bytes of code are the first ones of ftrace's place in a function. Another tracer may
 * be changing the call into the no-operation, or back: then the first byte is a breakpoint for a
 * moment, before any other is changed, and until all others are.
 */
static inline _Bool fkt_is_ftrace_code(__u32 code)
{
	const __u8 first = code;

	return code == FKT_FTRACE_NOP || first == FKT_FTRACE_CALL || first == FKT_FTRACE_INT3;
}

#endif

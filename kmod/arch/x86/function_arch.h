/* SPDX-License-Identifier: GPL-2.0-only */
/* What hooking functions asks of x86, see arch.h. */
#ifndef FKT_FUNCTION_ARCH_H
#define FKT_FUNCTION_ARCH_H

#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/text-patching.h>

/* An ENDBR, or what the kernel writes over one that nobody needs. */
#define FKT_ARCH_LANDING_BYTES 4

/* The first four bytes of the no-operation that ftrace leaves where it calls nobody. */
#define FKT_FTRACE_NOP	       0x00441f0f

/*
 * Another tracer may be changing the call into the no-operation, or back: then the first byte is a
 * breakpoint for a moment, before any other is changed; so all are read at once.
 */
static inline bool fkt_arch_is_ftrace_place(unsigned long address)
{
	const u32 code = READ_ONCE(*(u32 *)address);

	return code == FKT_FTRACE_NOP || (u8)code == CALL_INSN_OPCODE ||
	       (u8)code == INT3_INSN_OPCODE;
}

static __always_inline unsigned long *fkt_arch_detour(struct pt_regs *regs)
{
	return &regs->orig_ax;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What hooking functions asks of x86, see arch.h. */
#ifndef FKT_FUNCTION_ARCH_H
#define FKT_FUNCTION_ARCH_H

#include <linux/build_bug.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>
#include "ftrace_code.h"

/* An ENDBR, or what the kernel writes over one that nobody needs. */
#define FKT_ARCH_LANDING_BYTES 4

static_assert(FKT_FTRACE_CALL == CALL_INSN_OPCODE);
static_assert(FKT_FTRACE_INT3 == INT3_INSN_OPCODE);

/* All four bytes are read at once: they may be changed meanwhile. */
static inline bool fkt_arch_is_ftrace_place(unsigned long address)
{
	u32 code;

	return !get_kernel_nofault(code, (u32 *)address) && fkt_is_ftrace_code(code);
}

static __always_inline unsigned long *fkt_arch_detour(struct pt_regs *regs)
{
	return &regs->orig_ax;
}

#endif

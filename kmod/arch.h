/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module asks of an architecture. It is in a folder arch/NAME/, with the NAME that the
 * kernel's own arch/NAME/ has, and Kbuild finds there
 *
 *	machine.h	what is declared below; no architecture does without
 *	*.c		kinds of probe that it alone has, each a struct fkt_provider of
 *			FKT_PROVIDERS; and the same for those of which each architecture has a file
 *			of its own, such as system calls
 *	trampoline.S	the gate's trampolines (gate/trampoline.h says which), if functions can be
 *			traced. Then it also has
 *	function_arch.h	what is said below under "Functions", and
 *	stack.h		fkt_stack_unsure() and its like: how much is left of the stack
 *
 * A kind of FKT_PROVIDERS of which there is no file is there without probes. Where the traced
 * kernel has tables of its own, such as of the system calls, they are in include/fkt/NAME/, for the
 * tools as well.
 *
 * arch/none/ is for compiling the rest where an architecture has no folder: nobody records with
 * that.
 */
#ifndef FKT_ARCH_H
#define FKT_ARCH_H

#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/types.h>

/* --- The lane --------------------------------------------------------------------------------- */

/**
 * fkt_arch_clock - read the counter that all CPUs share
 * @shared: other CPUs write into the lane as well: it is not to be read before what was read
 *	earlier. Where nobody else does, an interrupt alone can come between, and that makes
 *	fkt_arch_cmpxchg() fail.
 *
 * Context: any, NMI included.
 * Return: what never gets less while the machine is awake, and programs can read too: fkt_record
 * does.
 */
static __always_inline u64 fkt_arch_clock(bool shared);

/**
 * fkt_arch_clock_khz - how far the counter goes in a millisecond
 */
static inline u32 fkt_arch_clock_khz(void);

/**
 * fkt_arch_cmpxchg - compare and exchange 64 bits
 * @p: where
 * @old: what is expected there; receives what was there when it is something else
 * @new: what is to be there
 * @shared: a constant: whether other CPUs write there. If not, it only has to be whole for
 *	interrupts.
 *
 * Context: any, NMI included.
 * Return: whether it was exchanged.
 */
static __always_inline bool fkt_arch_cmpxchg(u64 *p, u64 *old, u64 new, bool shared);

/**
 * fkt_arch_add_release - add, after all that this context has written before
 * @p: to what; whoever reads it by smp_load_acquire() sees that
 * @n: how much
 * @shared: as for fkt_arch_cmpxchg()
 *
 * Context: any, NMI included.
 */
static __always_inline void fkt_arch_add_release(u32 *p, u32 n, bool shared);

/**
 * fkt_arch_cpu_has - whether this CPU's copy of a variable has any of these bits
 * @var: a u32 that was declared by DECLARE_PER_CPU()
 * @bits: the bits
 *
 * Every probe asks it first: as few instructions as can be. The load may be done once for several.
 *
 * Context: any, NMI included.
 */
/* #define fkt_arch_cpu_has(var, bits) */

/* --- Registers -------------------------------------------------------------------------------- */

/**
 * fkt_arch_stack_word - a word of the kernel's stack
 * @regs: the registers, of which one says how far the stack is used
 * @n: the number of the word from there
 *
 * Context: any, NMI included.
 * Return: the word, 0 if it is not on the stack.
 */
static __always_inline unsigned long fkt_arch_stack_word(struct pt_regs *regs, unsigned int n);

/**
 * fkt_arch_user_word - how long an address is in the program whose registers these are
 * @regs: with which it has come into the kernel
 *
 * Context: any, NMI included.
 * Return: bytes.
 */
static __always_inline u32 fkt_arch_user_word(struct pt_regs *regs);

/**
 * fkt_arch_memory_is_there - whether a program's memory is what this CPU sees
 * @mm: the current task's
 *
 * It is another one's in the middle of a switch, and the kernel's own while it patches code.
 *
 * Context: any; preemption off.
 */
static __always_inline bool fkt_arch_memory_is_there(struct mm_struct *mm);

/**
 * fkt_arch_programs_have_clock - whether fkt/user.h can read the clock and the CPU's number here
 */
static inline bool fkt_arch_programs_have_clock(void);

/* --- Memory ----------------------------------------------------------------------------------- */

/**
 * fkt_arch_kernel_address - whether the kernel may have memory at an address, with the page tables
 *	that it uses
 * @address: the address
 *
 * copy_from_kernel_nofault() is asked after this alone: on x86 it goes by what the processor could
 * do, and the kernel warns where that is more.
 *
 * Context: any, NMI included.
 */
static __always_inline bool fkt_arch_kernel_address(u64 address);

/**
 * fkt_arch_kprobe_reads - how far behind a function's end the kernel reads to put a kprobe into it
 * @at: the kprobe's address
 * @offset: how far that is behind the function's beginning
 *
 * Context: process.
 * Return: bytes.
 */
static inline u32 fkt_arch_kprobe_reads(unsigned long at, unsigned long offset);

#include "machine.h"

/* --- Functions -------------------------------------------------------------------------------- */

/*
 * function_arch.h, for the gate and for probes/function.c:
 *
 * FKT_ARCH_LANDING_BYTES: the length of what may stand in a function before ftrace's call
 *
 * bool fkt_arch_is_ftrace_place(unsigned long address): whether ftrace's call, or what it leaves
 *	where it calls nobody, is at an address of the kernel's code, also while it is just being
 *	changed; not where code has gone
 *
 * unsigned long *fkt_arch_detour(struct pt_regs *regs): where it is to be said to ftrace, when it
 *	has called several tracers of a function, to which trampoline it is to go on; 0 for into
 *	the function
 */

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock, the exchanges and the stack of x86, see arch.h. */
#ifndef FKT_MACHINE_H
#define FKT_MACHINE_H

#include <linux/atomic.h>
#include <linux/mm_types.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/uaccess.h>
#include <asm/barrier.h>
#include <asm/insn.h>
#include <asm/msr.h>
#include <asm/page.h>
#include <asm/processor.h>
#include <asm/tsc.h>
#include <asm/vsyscall.h>

static __always_inline u64 fkt_arch_clock(bool shared)
{
	return shared ? rdtsc_ordered() : rdtsc();
}

static inline u32 fkt_arch_clock_khz(void)
{
	return tsc_khz;
}

/*
 * cmpxchg8b on 32-bit x86 (§4). Without the lock prefix where no other CPU writes: an instruction
 * is atomic for interrupts as it is.
 */
static __always_inline bool fkt_arch_cmpxchg(u64 *p, u64 *old, u64 new, bool shared)
{
#ifdef CONFIG_X86_64
	bool done;

	if (!shared) {
		asm volatile("cmpxchgq %[new], %[p]"
			     : "=@ccz"(done), [p] "+m"(*p), "+a"(*old)
			     : [new] "r"(new)
			     : "memory");
		return done;
	}
#endif
	return try_cmpxchg64(p, old, new);
}

/* Stores are not reordered. */
static __always_inline void fkt_arch_add_release(u32 *p, u32 n, bool shared)
{
	if (shared)
		asm volatile(LOCK_PREFIX "addl %1, %0" : "+m"(*p) : "ri"(n) : "memory");
	else
		asm volatile("addl %1, %0" : "+m"(*p) : "ri"(n) : "memory");
}

/*
 * One instruction. Kernels that tell the compiler of the segment have it make that of the plain
 * expression; those that do not have an asm of their own, which only loads.
 */
#ifdef CONFIG_USE_X86_SEG_SUPPORT
#define fkt_arch_cpu_has(var, bits) (raw_cpu_read(var) & (bits))
#else
#define fkt_arch_cpu_has(var, bits)                                                                \
	({                                                                                         \
		bool fkt_has;                                                                      \
                                                                                                   \
		asm("testl %[mask], %%" __stringify(__percpu_seg) ":%[own]"                        \
		    : "=@ccnz"(fkt_has)                                                            \
		    : [own] "m"(var), [mask] "ri"((u32)(bits)));                                   \
		fkt_has;                                                                           \
	})
#endif

static __always_inline unsigned long fkt_arch_stack_word(struct pt_regs *regs, unsigned int n)
{
	return regs_get_kernel_stack_nth(regs, n);
}

static __always_inline u32 fkt_arch_user_word(struct pt_regs *regs)
{
	return user_64bit_mode(regs) ? sizeof(u64) : sizeof(u32);
}

static __always_inline bool fkt_arch_memory_is_there(struct mm_struct *mm)
{
	return read_cr3_pa() == __pa(mm->pgd);
}

static inline bool fkt_arch_programs_have_clock(void)
{
	return boot_cpu_has(X86_FEATURE_RDTSCP);
}

/*
 * In four levels of page tables, or in five: the bits above are all ones. The page of vsyscall() is
 * the programs', and a fault there is taken for one of theirs.
 */
static __always_inline bool fkt_arch_kernel_address(u64 address)
{
#ifdef CONFIG_X86_64
	return (s64)address >> __VIRTUAL_MASK_SHIFT == -1 &&
	       address - (VSYSCALL_ADDR - sizeof(u64)) >= PAGE_SIZE + sizeof(u64);
#else
	return address >= TASK_SIZE_MAX;
#endif
}

/* It decodes the function to its end to see whether a jump may stand for the breakpoint. */
static inline u32 fkt_arch_kprobe_reads(unsigned long at, unsigned long offset)
{
	static const u8 call_site[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	u8 code[sizeof(call_site)];

	/* Where ftrace calls, behind an ENDBR or not, kprobes are called by it. */
	if ((!offset || offset == 4) && !copy_from_kernel_nofault(code, (void *)at, sizeof(code)) &&
	    !memcmp(code, call_site, sizeof(code)))
		return 0;
	return MAX_INSN_SIZE - 1;
}

#endif

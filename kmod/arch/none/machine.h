/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What arch.h asks for, by what all kernels have: for make check, which so compiles the module's
 * generic part for another architecture. Programs can't read this clock.
 */
#ifndef FKT_MACHINE_H
#define FKT_MACHINE_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/timekeeping.h>

static __always_inline u64 fkt_arch_clock(bool shared)
{
	return ktime_get_mono_fast_ns();
}

static inline u32 fkt_arch_clock_khz(void)
{
	return NSEC_PER_MSEC;
}

static __always_inline bool fkt_arch_cmpxchg(u64 *p, u64 *old, u64 new, bool shared)
{
	return try_cmpxchg64(p, old, new);
}

#define fkt_arch_cpu_has(var, bits) (raw_cpu_read(var) & (bits))

static __always_inline void fkt_arch_add_release(u32 *p, u32 n, bool shared)
{
	atomic_fetch_add_release(n, (atomic_t *)p);
}

static __always_inline unsigned long fkt_arch_stack_word(struct pt_regs *regs, unsigned int n)
{
	return 0;
}

static __always_inline u32 fkt_arch_user_word(struct pt_regs *regs)
{
	return sizeof(u64);
}

static __always_inline bool fkt_arch_memory_is_there(struct mm_struct *mm)
{
	return true;
}

static inline bool fkt_arch_programs_have_clock(void)
{
	return false;
}

static __always_inline bool fkt_arch_kernel_address(u64 address)
{
	return true;
}

static inline u32 fkt_arch_kprobe_reads(unsigned long at, unsigned long offset)
{
	return 0;
}

#endif

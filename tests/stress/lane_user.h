/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lane.h and lane.c need of their surroundings, in user space: a CPU is a thread, an interrupt
 * is a signal.
 *
 * On x86 these are the kernel module's own instructions. Under ThreadSanitizer, which does not see
 * into those, and on other architectures they are the compiler's atomics, with the orderings that
 * lane.h asks for and no stronger ones.
 *
 * With FKT_STRESS the primitives call fkt_stress_point() wherever an interrupt or another CPU could
 * come between, and the clock can be moved forward.
 */
#ifndef FKT_LANE_USER_H
#define FKT_LANE_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define likely(x)	      __builtin_expect(!!(x), 1)
#define unlikely(x)	      __builtin_expect(!!(x), 0)
#define ____cacheline_aligned __attribute__((aligned(64)))
#define BUILD_BUG_ON(x)	      _Static_assert(!(x), #x)
#define __fkt_uninitialized
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define FKT_LANE_X86 1
#endif

/* The thread that plays a CPU: its number, and the process that it says it runs. */
extern __thread u32 fkt_user_cpu;
extern __thread u32 fkt_user_pid;

#ifdef FKT_STRESS
extern __thread int fkt_stress_countdown;
extern u64 fkt_clock_offset;
void fkt_stress_now(void);

static __always_inline void fkt_stress_point(void)
{
	if (unlikely(--fkt_stress_countdown < 0))
		fkt_stress_now();
}

/* Whoever sees a slot sees the clock at least as far forward as the slot's writer did. */
static __always_inline u64 fkt_clock_moved(void)
{
	return __atomic_load_n(&fkt_clock_offset, __ATOMIC_ACQUIRE);
}
#else
static __always_inline void fkt_stress_point(void)
{
}

static __always_inline u64 fkt_clock_moved(void)
{
	return 0;
}
#endif

#define barrier()	  __atomic_signal_fence(__ATOMIC_SEQ_CST)
#define READ_ONCE(x)	  __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define fkt_read_early(x) READ_ONCE(x)
#define WRITE_ONCE(x, v)                                                                           \
	({                                                                                         \
		fkt_stress_point();                                                                \
		__atomic_store_n(&(x), (v), __ATOMIC_RELAXED);                                     \
	})

#define smp_load_acquire(p)                                                                        \
	({                                                                                         \
		fkt_stress_point();                                                                \
		typeof(*(p)) loaded = __atomic_load_n((p), __ATOMIC_ACQUIRE);                      \
		fkt_stress_point();                                                                \
		loaded;                                                                            \
	})
#define smp_store_release(p, v)                                                                    \
	({                                                                                         \
		fkt_stress_point();                                                                \
		__atomic_store_n((p), (v), __ATOMIC_RELEASE);                                      \
		fkt_stress_point();                                                                \
	})

static __always_inline u64 fkt_counter(bool shared)
{
#ifdef __x86_64__
	if (shared)
		__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
#else
	struct timespec t;

	if (shared)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
#endif
}

static __always_inline u64 fkt_clock(bool shared)
{
	u64 now;

	fkt_stress_point();
	now = fkt_counter(shared) + fkt_clock_moved();
	fkt_stress_point();
	return now;
}

static __always_inline u32 fkt_cpu(void)
{
	return fkt_user_cpu;
}

static __always_inline u32 fkt_current_pid(void)
{
	fkt_stress_point();
	return fkt_user_pid;
}

static __always_inline bool fkt_cmpxchg(u64 *p, u64 *old, u64 new, bool shared)
{
	bool done;

#ifdef FKT_LANE_X86
	if (shared)
		asm volatile("lock cmpxchgq %[new], %[p]"
			     : "=@ccz"(done), [p] "+m"(*p), "+a"(*old)
			     : [new] "r"(new)
			     : "memory");
	else
		asm volatile("cmpxchgq %[new], %[p]"
			     : "=@ccz"(done), [p] "+m"(*p), "+a"(*old)
			     : [new] "r"(new)
			     : "memory");
#else
	(void)shared;
	done = __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
#endif
	fkt_stress_point();
	return done;
}

static __always_inline void fkt_add_release(u32 *p, u32 n, bool shared)
{
	fkt_stress_point();
#ifdef FKT_LANE_X86
	if (shared)
		asm volatile("lock addl %1, %0" : "+m"(*p) : "ri"(n) : "memory");
	else
		asm volatile("addl %1, %0" : "+m"(*p) : "ri"(n) : "memory");
#else
	(void)shared;
	__atomic_fetch_add(p, n, __ATOMIC_RELEASE);
#endif
}

static __always_inline void fkt_count(u64 *p, bool shared)
{
	fkt_stress_point();
#ifdef FKT_LANE_X86
	if (shared)
		asm volatile("lock incq %0" : "+m"(*p));
	else
		asm volatile("incq %0" : "+m"(*p));
#else
	(void)shared;
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
#endif
}

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* System calls, in and out (paper, §B.5, layer System). */
#include <asm/syscall.h>
#include <linux/hash.h>
#include <linux/nospec.h>
#include <trace/events/syscalls.h>
#include "compat.h"
#include "fkt.h"
#include "longer.h"
#include "probes/data.h"
#include "stacks.h"
#include <fkt/x86/syscalls.h>

#define FKT_SYSCALLS_MAX     1024
/*
 * Stands for all numbers that are not less: those of x32, and those of no system call. The event
 * of the entry has the number as its argument.
 */
#define FKT_SYSCALL_OTHER    (FKT_SYSCALLS_MAX - 1)
/* As many arguments as a system call has; see syscall_get_arguments(). */
#define FKT_SYSCALL_ARGS_MAX 6

/* How many arguments each system call has. */
static const u8 fkt_syscall_args[FKT_SYSCALLS_MAX] = {
#define X(nr, name, nargs, args) [nr] = (nargs),
	FKT_SYSCALLS(X)
#undef X
};

static const u8 fkt_compat_args[FKT_SYSCALLS_MAX] = {
#define X(nr, name, nargs, args) [nr] = (nargs),
	FKT_SYSCALLS_I386(X)
#undef X
};

/* ---- system calls without a number when they return ---- */

/* What returns from a signal puts back all registers, and -1 as the number of the call. */
#define FKT_RT_SIGRETURN      15
#define FKT_IA32_SIGRETURN    119
#define FKT_IA32_RT_SIGRETURN 173

/* By this one a program tells the kernel that a function returns (uprobes), with the same end. */
#define FKT_URETPROBE	      335

static const u16 fkt_sigreturns[] = { FKT_RT_SIGRETURN, FKT_IA32_SIGRETURN, FKT_IA32_RT_SIGRETURN,
				      FKT_SYSCALL_OTHER };
/* In fkt_sigreturns: a call with a number beyond all tables, which may be -1 from the beginning. */
#define FKT_SIGRETURN_NONE 3

/*
 * Which threads are in such a call: the address of each, in whose low bits, which are zeros, is the
 * index of the call in fkt_sigreturns, and in whose highest ones, which are ones, when it came; 0:
 * nobody. A thread has its place in one cache line. What is not recorded when it returns stays
 * there, maybe of a thread that is no more; where there is no room, what came first goes. So when
 * more of them are in such a call at a time than a line has room for, one returns from a call that
 * is not known.
 */
#define FKT_SIGRETURN_BITS 5
#define FKT_SIGRETURN_ROOM (SMP_CACHE_BYTES / sizeof(u64))
#define FKT_SIGRETURN_KIND (sizeof(u64) - 1)
#define FKT_SIGRETURN_CAME 56
#define FKT_SIGRETURN_WHO  (GENMASK_ULL(FKT_SIGRETURN_CAME - 1, 0) & ~FKT_SIGRETURN_KIND)
static u64 fkt_in_sigreturn[1 << FKT_SIGRETURN_BITS][FKT_SIGRETURN_ROOM] __cacheline_aligned;
/* How many came to each line. */
static atomic_t fkt_sigreturn_came[1 << FKT_SIGRETURN_BITS];

/* Where this thread is, and what is there; NULL: nowhere. */
static u64 *fkt_sigreturn_find(u64 *line, u64 *seen)
{
	u32 i;

	for (i = 0; i < FKT_SIGRETURN_ROOM; i++) {
		*seen = READ_ONCE(line[i]);
		if (*seen && !((*seen ^ (unsigned long)current) & FKT_SIGRETURN_WHO))
			return &line[i];
	}
	return NULL;
}

/* A place that is free, or of what came first, and what is there. */
static u64 *fkt_sigreturn_room(u64 *line, const atomic_t *came, u64 *seen)
{
	s32 age, most = -1;
	u64 *room = line, there;
	u32 i;

	for (i = 0; i < FKT_SIGRETURN_ROOM; i++) {
		/* Before @came, which has counted it then. */
		there = smp_load_acquire(&line[i]); /* partner: fkt_sigreturn_enter() */
		age = there ? (u8)(atomic_read(came) - (there >> FKT_SIGRETURN_CAME)) : S32_MAX;
		if (age > most) {
			most = age;
			room = &line[i];
			*seen = there;
		}
	}
	return room;
}

static noinline void fkt_sigreturn_enter(u32 kind)
{
	const u32 hash = hash_ptr(current, FKT_SIGRETURN_BITS);
	atomic_t *came = &fkt_sigreturn_came[hash];
	const u64 here = ((unsigned long)current & FKT_SIGRETURN_WHO) | kind |
			 (u64)atomic_inc_return(came) << FKT_SIGRETURN_CAME;
	u64 *line = fkt_in_sigreturn[hash];
	u64 seen, *place;

	/* It may be there still. Another one may take the same room. */
	do {
		place = fkt_sigreturn_find(line, &seen) ?: fkt_sigreturn_room(line, came, &seen);
	} while (!try_cmpxchg(place, &seen, here)); /* partner: fkt_sigreturn_room() */
}

/* Whether the kernel catches returns of functions of this thread, and so has it make that call. */
static bool fkt_is_uretprobed(void)
{
#ifdef CONFIG_UPROBES
	return current->utask && !in_ia32_syscall();
#else
	return false;
#endif
}

/* The call that now returns, FKT_SYSCALL_OTHER when it is none of these. */
static u32 fkt_sigreturn_leave(void)
{
	u64 *line = fkt_in_sigreturn[hash_ptr(current, FKT_SIGRETURN_BITS)];
	u64 seen, *place = fkt_sigreturn_find(line, &seen);

	if (!place)
		return fkt_is_uretprobed() ? FKT_URETPROBE : FKT_SYSCALL_OTHER;
	/* Another one may just have taken it. */
	cmpxchg_relaxed(place, seen, 0);
	return fkt_sigreturns[seen & FKT_SIGRETURN_KIND];
}

/* ---- entries ---- */

static bool fkt_is_ia32_sigreturn(u32 index)
{
	return index == FKT_IA32_SIGRETURN || index == FKT_IA32_RT_SIGRETURN;
}

/*
 * The entry of a 32-bit program's call, of a return from a signal, or with a number beyond all
 * tables, of which the kernel looks at the lower half alone. A function of its own, and the last
 * thing that is called, so that the others save no registers for it.
 */
static noinline void fkt_sys_enter_rare(long nr)
{
	u32 index = nr;
	u32 code = in_ia32_syscall() ? FKT_CODE_COMPAT_ENTRY : FKT_CODE_SYSCALL_ENTRY;

	if (index >= FKT_SYSCALL_OTHER) {
		/* As -1 it would return from FKT_URETPROBE, or from what it is there with still. */
		fkt_sigreturn_enter(FKT_SIGRETURN_NONE);
		FKT_EVENT(code + FKT_SYSCALL_OTHER, 0, (s32)index);
		return;
	}
	if (code == FKT_CODE_SYSCALL_ENTRY && index == FKT_RT_SIGRETURN)
		fkt_sigreturn_enter(0);
	else if (code == FKT_CODE_COMPAT_ENTRY && fkt_is_ia32_sigreturn(index))
		fkt_sigreturn_enter(index == FKT_IA32_SIGRETURN ? 1 : 2);
	FKT_EVENT0(code + index, 0);
}

static void fkt_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	unsigned long index = nr;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (unlikely(index >= FKT_SYSCALL_OTHER || index == FKT_RT_SIGRETURN ||
		     in_ia32_syscall())) {
		fkt_sys_enter_rare(nr);
		return;
	}
	FKT_EVENT0(FKT_CODE_SYSCALL_ENTRY + index, 0);
}

static void fkt_sys_enter_args(void *data, struct pt_regs *regs, long nr)
{
	u32 index = nr;
	unsigned long arg[FKT_SYSCALL_ARGS_MAX];
	u32 code, count;
	bool ia32 = in_ia32_syscall();
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	/* A return from a signal has no arguments. */
	if (unlikely(index >= FKT_SYSCALL_OTHER ||
		     (ia32 ? fkt_is_ia32_sigreturn(index) : index == FKT_RT_SIGRETURN))) {
		fkt_sys_enter_rare(nr);
		return;
	}
	index = array_index_nospec(index, FKT_SYSCALL_OTHER);
	if (likely(!ia32)) {
		code = FKT_CODE_SYSCALL_ENTRY + index;
		count = fkt_syscall_args[index];
	} else {
		code = FKT_CODE_COMPAT_ENTRY + index;
		count = fkt_compat_args[index];
	}
	syscall_get_arguments(current, regs, arg);
	/* The number of words is a constant in each of these, so that no loop is left of them. */
	switch (count) {
	case 0:
		FKT_EVENT0(code, 0);
		break;
	case 1:
		FKT_EVENT(code, 0, arg[0]);
		break;
	case 2:
		FKT_EVENT(code, 0, arg[0], arg[1]);
		break;
	case 3:
		FKT_EVENT(code, 0, arg[0], arg[1], arg[2]);
		break;
	case 4:
		FKT_EVENT(code, 0, arg[0], arg[1], arg[2], arg[3]);
		break;
	case 5:
		FKT_EVENT(code, 0, arg[0], arg[1], arg[2], arg[3], arg[4]);
		break;
	default:
		FKT_EVENT(code, 0, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
		break;
	}
}

/*
 * The same, of which some have their stack, and what their arguments point to before them; and
 * their arguments where these are recorded at all.
 */
static void fkt_sys_enter_more(void *data, struct pt_regs *regs, long nr)
{
	const bool ia32 = in_ia32_syscall();
	unsigned long arg[FKT_SYSCALL_ARGS_MAX];
	u32 index = nr, code, count = 0;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (unlikely(index >= FKT_SYSCALL_OTHER ||
		     (ia32 ? fkt_is_ia32_sigreturn(index) : index == FKT_RT_SIGRETURN))) {
		fkt_sys_enter_rare(nr);
		return;
	}
	index = array_index_nospec(index, FKT_SYSCALL_OTHER);
	code = (ia32 ? FKT_CODE_COMPAT_ENTRY : FKT_CODE_SYSCALL_ENTRY) + index;
	if (fkt_session.conf.flags & FKT_START_SYSCALL_ARGS)
		count = ia32 ? fkt_compat_args[index] : fkt_syscall_args[index];
	syscall_get_arguments(current, regs, arg);
	if (fkt_data_wanted())
		fkt_data_enter(code, ia32, arg);
	if (fkt_stack_wanted(code, 1))
		fkt_event_stack(FKT_TAG(code, count, 0), count, (const u64 *)arg, 0,
				FKT_STACK_OF_CALLER);
	else
		fkt_event_tag(FKT_TAG(code, count, 0), count, (const u64 *)arg);
}

/* ---- exits ---- */

/* The exit of a call without a number, or of those of fkt_sys_enter_rare(). */
static noinline void fkt_sys_exit_rare(const struct pt_regs *regs, long ret)
{
	const bool ia32 = in_ia32_syscall();
	const s32 nr = regs->orig_ax;
	u32 code = ia32 ? FKT_CODE_COMPAT_EXIT : FKT_CODE_SYSCALL_EXIT;
	u32 left;

	if ((u32)nr < FKT_SYSCALL_OTHER) {
		/* It has failed to return from a signal: what returns as -1 next is not that. */
		if (ia32 ? fkt_is_ia32_sigreturn(nr) : nr == FKT_RT_SIGRETURN)
			fkt_sigreturn_leave();
		if (ret == (s16)ret)
			FKT_EVENT0(code + nr, ret);
		else
			FKT_EVENT(code + nr, 0, ret);
		return;
	}
	/* Whatever its number is: it has a place since fkt_sys_enter_rare(). */
	left = fkt_sigreturn_leave();
	code += nr == -1 ? left : FKT_SYSCALL_OTHER;
	FKT_EVENT(code, 0, ret);
}

static void fkt_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	u32 index = regs->orig_ax;
	u32 code;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (unlikely(index >= FKT_SYSCALL_OTHER || index == FKT_RT_SIGRETURN ||
		     in_ia32_syscall())) {
		fkt_sys_exit_rare(regs, ret);
		return;
	}
	code = FKT_CODE_SYSCALL_EXIT + index;
	if (likely(ret == (s16)ret))
		FKT_EVENT0(code, ret);
	else
		FKT_EVENT(code, 0, ret);
}

/* The same, with what the call has written before it. */
static void fkt_sys_exit_more(void *data, struct pt_regs *regs, long ret)
{
	const bool ia32 = in_ia32_syscall();
	unsigned long arg[FKT_SYSCALL_ARGS_MAX];
	u32 index = regs->orig_ax;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (likely(index < FKT_SYSCALL_OTHER)) {
		index = array_index_nospec(index, FKT_SYSCALL_OTHER);
		syscall_get_arguments(current, regs, arg);
		fkt_data_exit((ia32 ? FKT_CODE_COMPAT_ENTRY : FKT_CODE_SYSCALL_ENTRY) + index, ia32,
			      arg, ret);
	}
	fkt_sys_exit(data, regs, ret);
}

/* ---- calls that are recorded only if they take long ---- */

#define FKT_ENTRY_TO_EXIT (FKT_CODE_SYSCALL_EXIT - FKT_CODE_SYSCALL_ENTRY)
static_assert(FKT_CODE_COMPAT_EXIT - FKT_CODE_COMPAT_ENTRY == FKT_ENTRY_TO_EXIT);
static_assert(FKT_SYSCALL_ARGS_MAX <= FKT_BEGUN_ARGS);

static __always_inline u32 fkt_sys_words(u32 index, bool ia32)
{
	if (!(fkt_session.conf.flags & FKT_START_SYSCALL_ARGS) ||
	    (ia32 ? fkt_is_ia32_sigreturn(index) : index == FKT_RT_SIGRETURN))
		return 0;
	index = array_index_nospec(index, FKT_SYSCALL_OTHER);
	return ia32 ? fkt_compat_args[index] : fkt_syscall_args[index];
}

/* Every case of an entry. */
static noinline void fkt_sys_enter_longer_any(void *data, struct pt_regs *regs, long nr)
{
	const bool ia32 = in_ia32_syscall();
	struct fkt_begun *begun = fkt_begun_take((unsigned long)current);
	u32 index = nr;

	if (unlikely(!begun)) {
		if (fkt_session.conf.flags & FKT_START_SYSCALL_ARGS)
			fkt_sys_enter_args(data, regs, nr);
		else
			fkt_sys_enter(data, regs, nr);
		return;
	}
	if (unlikely(index >= FKT_SYSCALL_OTHER)) {
		begun->words = 1;
		begun->args[0] = (s32)index;
		index = FKT_SYSCALL_OTHER;
	} else {
		begun->words = fkt_sys_words(index, ia32);
		if (begun->words)
			syscall_get_arguments(current, regs, (unsigned long *)begun->args);
	}
	fkt_begun_begin(begun, (ia32 ? FKT_CODE_COMPAT_ENTRY : FKT_CODE_SYSCALL_ENTRY) + index,
			FKT_KEY_SYSTEM);
}

static void fkt_sys_enter_longer(void *data, struct pt_regs *regs, long nr)
{
	const u64 key = (unsigned long)current;
	struct fkt_begun *begun = fkt_begun_first(key);
	unsigned long index = nr;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM) || fkt_longer_has_ended())
		return;
	if (unlikely(begun->key != key || index >= FKT_SYSCALL_OTHER || in_ia32_syscall() ||
		     fkt_session.conf.flags & FKT_START_SYSCALL_ARGS)) {
		fkt_sys_enter_longer_any(data, regs, nr);
		return;
	}
	begun->words = 0;
	fkt_begun_begin(begun, FKT_CODE_SYSCALL_ENTRY + index, FKT_KEY_SYSTEM);
}

/* clone(), fork(), vfork() and clone3(). */
static bool fkt_is_fork(u32 index, bool ia32)
{
	static const u16 forks[2][4] = { { 56, 57, 58, 435 }, { 120, 2, 190, 435 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forks[0]); i++)
		if (index == forks[ia32][i])
			return true;
	return false;
}

/* Of a call whose begin is not known. A new task returns from one that it never made: no call. */
static noinline void fkt_sys_exit_unknown(void *data, struct pt_regs *regs, long ret)
{
	if (ret || !fkt_is_fork(regs->orig_ax, in_ia32_syscall()))
		fkt_sys_exit(data, regs, ret);
}

/* Every case of an exit. */
static noinline void fkt_sys_exit_longer_any(void *data, struct pt_regs *regs, long ret)
{
	struct fkt_begun *begun = fkt_begun_find((unsigned long)current);
	u32 code;
	bool on;

	if (unlikely(!begun || !begun->begin)) {
		fkt_sys_exit_unknown(data, regs, ret);
		return;
	}
	on = fkt_on(FKT_KEY_SYSTEM);
	if (fkt_longer_has_ended())
		return;
	if (on && fkt_begun_is_long(begun)) {
		fkt_begun_tell(begun);
		code = begun->code + FKT_ENTRY_TO_EXIT;
		if (ret == (s16)ret && begun->code != FKT_CODE_SYSCALL_ENTRY + FKT_SYSCALL_OTHER &&
		    begun->code != FKT_CODE_COMPAT_ENTRY + FKT_SYSCALL_OTHER)
			FKT_EVENT0(code, ret);
		else
			FKT_EVENT(code, 0, ret);
	}
	/* Also where it is left out by now: the next one is another one. */
	WRITE_ONCE(begun->begin, 0);
}

static void fkt_sys_exit_longer(void *data, struct pt_regs *regs, long ret)
{
	const u64 key = (unsigned long)current;
	struct fkt_begun *begun = fkt_begun_first(key);
	FKT_PROBE_GUARD();

	/* One that is not known, and so began at 0, took long. */
	if (likely(begun->key == key && !fkt_begun_is_long(begun) && !READ_ONCE(fkt_longer_ended)))
		WRITE_ONCE(begun->begin, 0);
	else
		fkt_sys_exit_longer_any(data, regs, ret);
}

static struct fkt_tracepoint fkt_syscall_points[] = {
	FKT_POINT(sys_enter, fkt_sys_enter),
	FKT_POINT(sys_exit, fkt_sys_exit),
};

static int fkt_syscall_attach(const struct fkt_session *s, u32 keys)
{
	const bool more = fkt_data_wanted() ||
			  fkt_stack_wanted(FKT_CODE_SYSCALL_ENTRY, FKT_SYSCALLS_MAX) ||
			  fkt_stack_wanted(FKT_CODE_COMPAT_ENTRY, FKT_SYSCALLS_MAX);

	/* Nobody else is here yet: what is there is of calls that returned after a recording. */
	memset(fkt_in_sigreturn, 0, sizeof(fkt_in_sigreturn));
	if (fkt_longer_wanted()) {
		if (more)
			return -EINVAL;
		fkt_syscall_points[0].probe = FKT_PROBE_FOR(sys_enter, fkt_sys_enter_longer);
		fkt_syscall_points[1].probe = FKT_PROBE_FOR(sys_exit, fkt_sys_exit_longer);
		return fkt_tracepoints_attach(fkt_syscall_points, ARRAY_SIZE(fkt_syscall_points));
	}
	if (more)
		fkt_syscall_points[0].probe = FKT_PROBE_FOR(sys_enter, fkt_sys_enter_more);
	else
		fkt_syscall_points[0].probe = s->conf.flags & FKT_START_SYSCALL_ARGS
						      ? FKT_PROBE_FOR(sys_enter, fkt_sys_enter_args)
						      : FKT_PROBE_FOR(sys_enter, fkt_sys_enter);
	fkt_syscall_points[1].probe = fkt_data_wanted() ? FKT_PROBE_FOR(sys_exit, fkt_sys_exit_more)
							: FKT_PROBE_FOR(sys_exit, fkt_sys_exit);
	return fkt_tracepoints_attach(fkt_syscall_points, ARRAY_SIZE(fkt_syscall_points));
}

static void fkt_syscall_detach(void)
{
	fkt_tracepoints_detach(fkt_syscall_points, ARRAY_SIZE(fkt_syscall_points));
}

const struct fkt_provider fkt_provider_syscall = {
	.name = "system call",
	.keys = FKT_KEY_SYSTEM,
	.attach = fkt_syscall_attach,
	.detach = fkt_syscall_detach,
};

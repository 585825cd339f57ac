// SPDX-License-Identifier: GPL-2.0-only
/* System calls, in and out (paper, §B.5, layer System). */
#include <asm/syscall.h>
#include <linux/hash.h>
#include <linux/nospec.h>
#include <trace/events/syscalls.h>
#include "compat.h"
#include "fkt.h"
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

static const u8 fkt_sigreturns[] = { FKT_RT_SIGRETURN, FKT_IA32_SIGRETURN, FKT_IA32_RT_SIGRETURN };

/*
 * Which threads are in such a call: the address of each, and in its low bits, which are zeros, the
 * index of the call in fkt_sigreturns. When two threads at a time have the same place, one of them
 * returns from a call that is not known.
 */
#define FKT_SIGRETURN_BITS 8
#define FKT_SIGRETURN_KIND (sizeof(u64) - 1)
static unsigned long fkt_in_sigreturn[1 << FKT_SIGRETURN_BITS];

static noinline void fkt_sigreturn_enter(u32 kind)
{
	WRITE_ONCE(fkt_in_sigreturn[hash_ptr(current, FKT_SIGRETURN_BITS)],
		   (unsigned long)current | kind);
}

/* The call that now returns, FKT_SYSCALL_OTHER when it is none of these. */
static u32 fkt_sigreturn_leave(void)
{
	unsigned long *place = &fkt_in_sigreturn[hash_ptr(current, FKT_SIGRETURN_BITS)];
	unsigned long seen = READ_ONCE(*place);

	if ((seen & ~FKT_SIGRETURN_KIND) != (unsigned long)current)
		return FKT_SYSCALL_OTHER;
	WRITE_ONCE(*place, 0);
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
		/* It may have failed to return from a signal before. */
		fkt_sigreturn_leave();
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

/* The exit of a call without a number, or beyond all tables: as fkt_sys_enter_rare(). */
static noinline void fkt_sys_exit_rare(const struct pt_regs *regs, long ret)
{
	s32 nr = regs->orig_ax;
	u32 code = in_ia32_syscall() ? FKT_CODE_COMPAT_EXIT : FKT_CODE_SYSCALL_EXIT;

	code += nr == -1 ? fkt_sigreturn_leave() : FKT_SYSCALL_OTHER;
	FKT_EVENT(code, 0, ret);
}

static void fkt_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	u32 index = regs->orig_ax;
	u32 code;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (unlikely(index >= FKT_SYSCALL_OTHER)) {
		fkt_sys_exit_rare(regs, ret);
		return;
	}
	code = FKT_CODE_SYSCALL_EXIT + index;
	if (unlikely(in_ia32_syscall()))
		code += FKT_CODE_COMPAT_EXIT - FKT_CODE_SYSCALL_EXIT;
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

static struct fkt_tracepoint fkt_syscall_points[] = {
	FKT_POINT(sys_enter, fkt_sys_enter),
	FKT_POINT(sys_exit, fkt_sys_exit),
};

static int fkt_syscall_attach(const struct fkt_session *s, u32 keys)
{
	if (fkt_data_wanted() || fkt_stack_wanted(FKT_CODE_SYSCALL_ENTRY, FKT_SYSCALLS_MAX) ||
	    fkt_stack_wanted(FKT_CODE_COMPAT_ENTRY, FKT_SYSCALLS_MAX))
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

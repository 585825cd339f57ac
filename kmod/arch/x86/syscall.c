// SPDX-License-Identifier: GPL-2.0-only
/* System calls, in and out (paper, §B.5, layer System). */
#include <asm/syscall.h>
#include <trace/events/syscalls.h>
#include "compat.h"
#include "fkt.h"
#include <fkt/x86/syscalls.h>

#define FKT_SYSCALLS_MAX     1024
/* A number that is no system call's, so also the one of a call that changed its own number. */
#define FKT_SYSCALL_STRANGE  (FKT_SYSCALLS_MAX - 1)
#define FKT_X32_BIT	     0x40000000ul
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

static __always_inline u32 fkt_syscall_index(unsigned long nr)
{
	if (unlikely(nr >= FKT_SYSCALLS_MAX)) {
		nr &= ~FKT_X32_BIT;
		if (nr >= FKT_SYSCALLS_MAX)
			nr = FKT_SYSCALL_STRANGE;
	}
	return nr;
}

static void fkt_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	u32 index = fkt_syscall_index(nr);
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (likely(!in_ia32_syscall()))
		FKT_EVENT0(FKT_CODE_SYSCALL_ENTRY + index, 0);
	else
		FKT_EVENT0(FKT_CODE_COMPAT_ENTRY + index, 0);
}

static void fkt_sys_enter_args(void *data, struct pt_regs *regs, long nr)
{
	u32 index = fkt_syscall_index(nr);
	unsigned long arg[FKT_SYSCALL_ARGS_MAX];
	u32 code, count;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	if (likely(!in_ia32_syscall())) {
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

static void fkt_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	u32 code;
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	code = FKT_CODE_SYSCALL_EXIT + fkt_syscall_index(regs->orig_ax);
	if (unlikely(in_ia32_syscall()))
		code += FKT_CODE_COMPAT_EXIT - FKT_CODE_SYSCALL_EXIT;
	if (likely(ret == (s16)ret))
		FKT_EVENT0(code, ret);
	else
		FKT_EVENT(code, 0, ret);
}

static struct fkt_tracepoint fkt_syscall_points[] = {
	FKT_POINT(sys_enter, fkt_sys_enter),
	FKT_POINT(sys_exit, fkt_sys_exit),
};

static int fkt_syscall_attach(const struct fkt_session *s, u32 keys)
{
	fkt_syscall_points[0].probe = s->conf.flags & FKT_START_SYSCALL_ARGS
					      ? FKT_PROBE_FOR(sys_enter, fkt_sys_enter_args)
					      : FKT_PROBE_FOR(sys_enter, fkt_sys_enter);
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

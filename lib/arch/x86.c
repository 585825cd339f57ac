// SPDX-License-Identifier: LGPL-2.1-or-later
/* x86-64 machines, with i386's system calls for 32-bit programs. */
#include <fkt/x86/codes.h>
#include <fkt/x86/syscalls.h>

#include "arch.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const struct fkt_syscall syscalls[] = {
#define X(nr, name, nargs, args) [nr] = { name, args },
	FKT_SYSCALLS(X)
#undef X
};

static const struct fkt_syscall compat_syscalls[] = {
#define X(nr, name, nargs, args) [nr] = { name, args },
	FKT_SYSCALLS_I386(X)
#undef X
};

static const char *const traps[] = {
#define X(number, name) [number] = name,
	FKT_TRAPS(X)
#undef X
};

static const char *const vectors[] = {
#define X(index, name) [index] = #name,
	FKT_VECTORS(X)
#undef X
};

static const struct fkt_flag flags[] = {
#define FLAG(table, mask, value, name) { table, mask, value, name },
#include "x86_flags.inc"
#undef FLAG
};

const struct fkt_arch fkt_arch_x86 = {
	.machine = { "x86_64", "i386", "i486", "i586", "i686" },
	.abi = "x86_64",
	.compat_abi = "i386",
	.compat_prefix = "ia32_",
	.syscall = syscalls,
	.syscalls = ARRAY_SIZE(syscalls),
	.compat_syscall = compat_syscalls,
	.compat_syscalls = ARRAY_SIZE(compat_syscalls),
	.trap = traps,
	.traps = ARRAY_SIZE(traps),
	.vector = vectors,
	.vectors = ARRAY_SIZE(vectors),
	.flag = flags,
	.flags = ARRAY_SIZE(flags),
};

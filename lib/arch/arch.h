/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What numbers mean on the machine that was traced, which may be of another architecture than the
 * one that reads: a file each, x86.c …, and a name in FKT_ARCHS.
 */
#ifndef FKT_ARCH_TABLES_H
#define FKT_ARCH_TABLES_H

#include <fkt/trace.h>

#define FKT_ARCHS(X)	      X(x86)

/* Of fkt_arch.machine; "" stands in what remains. */
#define FKT_ARCH_MACHINES_MAX 8

/**
 * struct fkt_flag - a name of a number that a system call is given, or of a bit of it
 * @table: what it is a number of, see include/fkt/calls.h; those of a table stand together
 * @mask: the bits that tell; of a table's first one 0: its name stands for what has none
 * @value: what they are
 * @name: the name
 */
struct fkt_flag {
	const char *table;
	uint32_t mask;
	uint32_t value;
	const char *name;
};

/**
 * struct fkt_arch - an architecture's tables
 * @machine: what uname(2) calls machines of it
 * @abi: its system calls, as the lines of FKT_SECTION_SYSCALLS begin
 * @compat_abi: those of 32-bit programs on a 64-bit kernel
 * @compat_prefix: what their events' names begin with
 * @syscall: by number; one without a name is none. The same for the others; NULL with a count of 0.
 * @syscalls: how many
 * @compat_syscall: those of 32-bit programs
 * @compat_syscalls: how many
 * @trap: names of the exceptions, NULL where a number stands for none
 * @traps: how many
 * @vector: names of the interrupt vectors
 * @vectors: how many
 * @flag: names of flags and other numbers
 * @flags: how many
 */
struct fkt_arch {
	const char *machine[FKT_ARCH_MACHINES_MAX];
	const char *abi;
	const char *compat_abi;
	const char *compat_prefix;
	const struct fkt_syscall *syscall;
	size_t syscalls;
	const struct fkt_syscall *compat_syscall;
	size_t compat_syscalls;
	const char *const *trap;
	size_t traps;
	const char *const *vector;
	size_t vectors;
	const struct fkt_flag *flag;
	size_t flags;
};

#define X(name) extern const struct fkt_arch fkt_arch_##name;
FKT_ARCHS(X)
#undef X

#endif

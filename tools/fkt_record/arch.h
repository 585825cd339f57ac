/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the recorder asks of the machine that it runs on: arch/NAME/ has it, with the NAME that the
 * kernel's own arch/NAME/ has, and the Makefile takes what is in there. Besides this, abi.h is such
 * an architecture's.
 */
#ifndef FKT_RECORD_ARCH_H
#define FKT_RECORD_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "functions.h"
#include "sections.h"

/**
 * struct hazard - functions that have no exit, or whose exit must not be caught, or that are not to
 * be traced at all
 * @glob: their names
 * @how: how far they may be traced
 * @why: why not further
 */
struct hazard {
	const char *glob;
	enum function_how how;
	const char *why;
};

/**
 * struct arch_syscall - a system call that the machine's kernel has
 * @code: of its entry
 * @compat: it is one of 32-bit programs
 * @name: what it is called
 */
struct arch_syscall {
	uint32_t code;
	bool compat;
	const char *name;
};

#define HAZARD_NO_RETURN "it does not return"
#define HAZARD_OWN_WAY	 "FKT itself calls it for each page that is full"

/**
 * struct arch - the machine
 * @registers: the names of the words of the kernel's struct pt_regs, in their order, as
 *	kprobe_events has them; NULL for those that it does not name
 * @registers_count: how many words
 * @result: the number of the register with a function's result
 * @argument: the numbers of those with its arguments, in their order; the others are on the stack
 * @argument_count: how many
 * @stack: the number of that with the stack pointer
 * @elf_machine: what its programs are for, as their files say
 * @landing_bytes: the length of what may stand in a function before ftrace's call
 * @hazards: functions that only its kernel has, until one whose glob is NULL
 * @cycles: read the counter that the module's fkt_arch_clock() reads; after what precedes it, and
 *	before what follows
 * @syscalls: the system calls of its kernel, until one whose name is NULL
 * @add_syscalls: say what system calls its kernel has, in the lines of FKT_SECTION_SYSCALLS
 */
struct arch {
	const char *const *registers;
	size_t registers_count;
	unsigned int result;
	const unsigned int *argument;
	size_t argument_count;
	unsigned int stack;
	uint16_t elf_machine;
	uint32_t landing_bytes;
	const struct hazard *hazards;
	uint64_t (*cycles)(void);
	const struct arch_syscall *syscalls;
	void (*add_syscalls)(struct sections *head);
};

extern const struct arch arch;

#endif

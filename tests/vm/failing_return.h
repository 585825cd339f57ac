/* SPDX-License-Identifier: GPL-2.0-only */
/* For programs that fail to return from a signal. */
#ifndef FKT_TESTS_VM_FAILING_RETURN_H
#define FKT_TESTS_VM_FAILING_RETURN_H

#include <sys/syscall.h>

/*
 * Nothing is where the stack says that the signal's frame is: SIGSEGV, whose handler has another
 * stack, and does not return.
 */
static inline _Noreturn void fail_to_return(void)
{
	asm volatile("mov $16, %%esp\n\t"
		     "syscall\n\t"
		     "ud2"
		     :
		     : "a"(SYS_rt_sigreturn)
		     : "rcx", "r11", "memory");
	__builtin_unreachable();
}

#endif

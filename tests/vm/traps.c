// SPDX-License-Identifier: GPL-2.0-only
/*
 * traps: raise exceptions, each in a process of its own that dies of it. Prints for each "NAME PID
 * ADDRESS": the kernel's name of it, whose it was, and the address that it should be seen with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Print the address of @label, then run @code, which has that label in it. */
#define RAISE(name, label, code)                                                                   \
	do {                                                                                       \
		pid_t pid = fork();                                                                \
		if (!pid) {                                                                        \
			void *address;                                                             \
			asm volatile("leaq " label "(%%rip), %0" : "=r"(address));                 \
			printf("%s %d %p\n", name, getpid(), address);                             \
			fflush(stdout);                                                            \
			asm volatile(code ::: "rax", "rcx", "rdx", "memory", "cc");                \
			_exit(0);                                                                  \
		}                                                                                  \
		waitpid(pid, NULL, 0);                                                             \
	} while (0)

int main(void)
{
	RAISE("divide_error", "trap_divide",
	      "xorl %%edx, %%edx; movl $1, %%eax; xorl %%ecx, %%ecx; trap_divide: divl %%ecx");
	/* Of these two the address is that of the next instruction. */
	RAISE("int3", "trap_int3", "int3; trap_int3: nop");
	RAISE("debug", "trap_debug",
	      "pushfq; orq $0x100, (%%rsp); popfq; nop; trap_debug: nop; nop");
	RAISE("invalid_op", "trap_ud", "trap_ud: ud2");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of which it is known who makes them: main, a, b, c, and there read() with a number of bytes
 * that says which one it is. Then some with frame pointers that lead nowhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEEP	  200
#define FAR_BYTES (64 << 20)

/* A system call of the function that it is in, with this frame pointer; 0: its own. */
static inline __attribute__((always_inline)) long read_with(uintptr_t frame, long bytes)
{
	register long nr asm("rax") = SYS_read;

	if (!frame)
		asm volatile("syscall"
			     : "+r"(nr)
			     : "D"(-1l), "S"(0l), "d"(bytes)
			     : "rcx", "r11", "memory");
	else
		asm volatile("xchg %%rbp, %[frame]\n\t"
			     "syscall\n\t"
			     "xchg %%rbp, %[frame]"
			     : "+r"(nr), [frame] "+r"(frame)
			     : "D"(-1l), "S"(0l), "d"(bytes)
			     : "rcx", "r11", "memory");
	return nr;
}

/* Not the last thing that its caller does. */
static volatile long sum;

static __attribute__((noinline)) void c(uintptr_t frame, long bytes)
{
	sum += read_with(frame, bytes);
}

static __attribute__((noinline)) void b(uintptr_t frame, long bytes)
{
	c(frame, bytes);
	sum++;
}

static __attribute__((noinline)) void a(uintptr_t frame, long bytes)
{
	b(frame, bytes);
	sum++;
}

static __attribute__((noinline)) void deep(unsigned int depth, long bytes)
{
	if (depth)
		deep(depth - 1, bytes);
	else
		a(0, bytes);
	sum++;
}

int main(int argc, char **argv)
{
	uintptr_t here[64];
	const uintptr_t self = (uintptr_t)&here[32];
	char *far = mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	if (far == MAP_FAILED)
		return EXIT_FAILURE;
	for (int i = 0; i < rounds; i++)
		a(0, 1000 + i);
	if (argc < 3)
		return EXIT_SUCCESS;
	/* Above the stack's end, so that it may be a frame; never touched. */
	memset(here, 0, sizeof(here));
	a(1, 2001);
	a(self + 1, 2002);
	a((uintptr_t)-4096, 2003);
	a(0xffffffff81000000, 2004);
	/* One that points to itself, and one down. */
	here[32] = self;
	here[33] = (uintptr_t)main + 1;
	a(self, 2005);
	here[32] = (uintptr_t)&here[8];
	a(self, 2006);
	/* A return into the kernel. */
	here[32] = (uintptr_t)&here[40];
	here[33] = 0xffffffff81000000;
	a(self, 2007);
	/* Behind the one on the stack, one that is not there. */
	here[32] = 0x7ffffffff000 - 64;
	here[33] = (uintptr_t)main + 1;
	a(self, 2008);
	a((uintptr_t)environ[0] | 0xfffff8, 2009);
	deep(DEEP, 2010);
	puts("done");
	return EXIT_SUCCESS;
}

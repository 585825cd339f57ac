// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of which it is known who makes them: main, a, b, c, and there read() with a number of bytes
 * that says which one it is. Then some with frame pointers that lead nowhere. ustack ROUNDS; ustack
 * ROUNDS x y: these, too; ustack MS wait: it waits instead; ustack MS ever: and does not end.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEEP	    200
#define FAR_BYTES   (64 << 20)
#define STACK_BYTES (1 << 20)

static long call = SYS_read;

/* A system call of the function that it is in, with this frame pointer; 0: its own. */
static inline __attribute__((always_inline)) long call_with(uintptr_t frame, long bytes)
{
	register long nr asm("rax") = call;

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
	/* Without anything on its stack, it would get no frame. */
	volatile long on_stack = bytes;

	sum += call_with(frame, on_stack);
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

/*
 * On a stack of its own, of which only the lower end was ever touched: a frame that is to be
 * further up is not in memory.
 */
static void *elsewhere(void *far)
{
	a((uintptr_t)far + FAR_BYTES - 4096, 2008);
	return NULL;
}

static int call_elsewhere(void)
{
	char *far = mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	if (far == MAP_FAILED)
		return -1;
	/* Some kernels have no huge pages, and say so. */
	if (madvise(far, FAR_BYTES, MADV_NOHUGEPAGE) && errno != EINVAL)
		return -1;
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, far, STACK_BYTES) ||
	    pthread_create(&thread, &attr, elsewhere, far))
		return -1;
	return pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	uintptr_t here[64] = { 0 };
	const uintptr_t self = (uintptr_t)&here[32];
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	/* Wait for so many milliseconds, a hundred times or always: poll() of nothing. */
	if (argc == 3) {
		call = SYS_poll;
		for (int i = 0; i < 100; i += strcmp(argv[2], "ever") != 0)
			a(0, rounds);
		return EXIT_SUCCESS;
	}
	for (int i = 0; i < rounds; i++)
		a(0, 1000 + i);
	if (argc < 3)
		return EXIT_SUCCESS;
	/* Before the stack, unaligned, behind all programs, in the kernel. */
	a(8, 2001);
	a(self + 1, 2002);
	a((uintptr_t)-4096, 2003);
	a(0xffffffff81000000, 2004);
	/* One that points to itself, and down. */
	here[32] = self;
	here[33] = (uintptr_t)main + 1;
	a(self, 2005);
	here[32] = (uintptr_t)&here[8];
	a(self, 2006);
	/* A return into the kernel. */
	here[32] = (uintptr_t)&here[40];
	here[33] = 0xffffffff81000000;
	a(self, 2007);
	if (call_elsewhere())
		return EXIT_FAILURE;
	deep(DEEP, 2009);
	return EXIT_SUCCESS;
}

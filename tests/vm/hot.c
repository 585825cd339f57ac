// SPDX-License-Identifier: GPL-2.0-only
/*
 * hot SECONDS: uses a CPU for so long, half of the time in user mode, in functions of which one
 * does what another one does four times, and half of it in system calls. Prints how long both take
 * at least, in nanoseconds: one_part() and four_parts().
 *
 * hot SECONDS quarters: in four functions, a quarter of each 4 ms in each of them, by the clock.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS	    4000000u
#define BLOCK_BYTES 4096

static volatile uint64_t counter;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Functions that call nobody have a frame only if they ask for it. */
#define SPIN(name, rounds)                                                                         \
	static void __attribute__((noinline)) name(void)                                           \
	{                                                                                          \
		__asm__ volatile("" : : "r"(__builtin_frame_address(0)));                          \
		for (unsigned int i = 0; i < (rounds); i++)                                        \
			counter += i;                                                              \
	}

SPIN(one_part, 100000)
SPIN(two_parts, 200000)
SPIN(four_parts, 400000)

#define QUARTER(number)                                                                            \
	static void __attribute__((noinline)) quarter_##number(void)                               \
	{                                                                                          \
		for (unsigned int i = 0; i < 2000; i++)                                            \
			counter += i;                                                              \
	}

QUARTER(0)
QUARTER(1)
QUARTER(2)
QUARTER(3)

static void quarters(uint64_t end)
{
	static void (*const quarter[])(void) = { quarter_0, quarter_1, quarter_2, quarter_3 };
	uint64_t now;

	while ((now = now_ns()) < end)
		quarter[now % TICK_NS / (TICK_NS / 4)]();
}

static void least_since(uint64_t *least_ns, uint64_t begin)
{
	const uint64_t ns = now_ns() - begin;

	if (ns < *least_ns)
		*least_ns = ns;
}

/* The callers, so that there is a call graph. */
static void __attribute__((noinline)) outer(uint64_t *four_ns)
{
	uint64_t begin;

	two_parts();
	begin = now_ns();
	four_parts();
	least_since(four_ns, begin);
}

/* For so long each: what a call takes is another matter on each kernel. */
static void __attribute__((noinline)) calls(uint64_t ns)
{
	static char block[BLOCK_BYTES];
	int zero = open("/dev/zero", O_RDONLY);
	const uint64_t begin = now_ns();

	while (now_ns() < begin + ns)
		if (read(zero, block, sizeof(block)) != sizeof(block))
			err(1, "/dev/zero");
	close(zero);
	while (now_ns() < begin + 2 * ns)
		for (unsigned int i = 0; i < 50; i++)
			syscall(SYS_getppid);
}

int main(int argc, char **argv)
{
	uint64_t one_ns = UINT64_MAX, four_ns = UINT64_MAX, begin,
		 end = now_ns() + (uint64_t)atoi(argc > 1 ? argv[1] : "1") * 1000000000u;

	if (argc > 2)
		quarters(end);
	while ((begin = now_ns()) < end) {
		one_part();
		least_since(&one_ns, begin);
		outer(&four_ns);
		calls((now_ns() - begin) / 2);
	}
	printf("%llu %llu\n", (unsigned long long)one_ns, (unsigned long long)four_ns);
	return 0;
}

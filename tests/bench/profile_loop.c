// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints how long some work takes in nanoseconds, which are instructions in a guest that counts
 * them: half of it in user mode, ten calls deep, half of it in system calls.
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1500
#define DEPTH  10
#define SPINS  20000
#define CALLS  300

static volatile unsigned long counter;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void __attribute__((noinline)) work(unsigned int depth)
{
	if (depth) {
		work(depth - 1);
		counter++;
		return;
	}
	for (unsigned int i = 0; i < SPINS; i++)
		counter += i;
	for (unsigned int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
}

int main(void)
{
	double begin = now_ns();

	for (unsigned int i = 0; i < ROUNDS; i++)
		work(DEPTH);
	printf("%.0f\n", now_ns() - begin);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints how long a getppid() takes: the median of nine series, in nanoseconds, which are
 * instructions in a guest that counts them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SERIES 9
#define ROUNDS 20000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

int main(void)
{
	double series[SERIES], begin;
	int i, k;

	for (i = 0; i < SERIES; i++) {
		begin = now_ns();
		for (k = 0; k < ROUNDS; k++)
			syscall(SYS_getppid);
		series[i] = (now_ns() - begin) / ROUNDS;
	}
	qsort(series, SERIES, sizeof(series[0]), compare);
	printf("%.1f\n", series[SERIES / 2]);
	return 0;
}

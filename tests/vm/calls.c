// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls [-6] [-c CPU] [-t THREADS] [-s SECONDS] COUNT: each thread, on a CPU of its own from CPU
 * on, calls getppid() COUNT times; with -s as often as it can in that time. With -6 it is a call
 * with six arguments, that fails. Prints how many calls were made.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define ROUND	    1000 /* calls between looks at the clock */

static unsigned long count, seconds, first_cpu;
static bool six;
static pthread_barrier_t barrier;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *call(void *arg)
{
	unsigned long made = 0;
	cpu_set_t cpus;
	double end;

	CPU_ZERO(&cpus);
	CPU_SET(first_cpu + (size_t)arg, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "CPU %zu", first_cpu + (size_t)arg);
	pthread_barrier_wait(&barrier);
	end = now() + (double)seconds;
	while (seconds ? made % ROUND || now() < end : made < count) {
		if (six)
			syscall(SYS_preadv2, -1, 1, 2, 3, 4, 5);
		else
			syscall(SYS_getppid);
		made++;
	}
	return (void *)made;
}

int main(int argc, char **argv)
{
	unsigned long threads = 1, total = 0;
	pthread_t thread[THREADS_MAX];
	void *made;
	int option;

	while ((option = getopt(argc, argv, "6c:t:s:")) > 0) {
		if (option == 't')
			threads = strtoul(optarg, NULL, 10);
		else if (option == 'c')
			first_cpu = strtoul(optarg, NULL, 10);
		else if (option == '6')
			six = true;
		else if (option == 's')
			seconds = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind < argc)
		count = strtoul(argv[optind], NULL, 10);
	if (!threads || threads > THREADS_MAX || (!count && !seconds))
		errx(2, "usage: calls [-6] [-c CPU] [-t THREADS] [-s SECONDS] COUNT");
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
	for (size_t i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, call, (void *)i))
			errx(1, "pthread_create");
	for (size_t i = 0; i < threads; i++) {
		pthread_join(thread[i], &made);
		total += (unsigned long)made;
	}
	printf("%lu\n", total);
	return 0;
}

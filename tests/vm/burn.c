// SPDX-License-Identifier: GPL-2.0-only
/*
 * burn SECONDS: ten processes that use the CPUs for so long, in user mode and in the kernel to
 * different parts, and sleep at times. For each, when it has ended, a line:
 *
 *	PID SCHEDSTAT_NS USER_US SYSTEM_US
 *
 * its CPU time as /proc/PID/schedstat has it, and that in user mode and in the kernel from
 * getrusage(). The parent takes them while the process is a zombie, so that its end is in them.
 *
 * burn calls: some system calls, always as many, a few of which sleep.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES   10
#define BLOCK_BYTES (1 << 20)
#define NAPS	    10
#define NAP_NS	    50000000
#define CALLS	    200

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* In rounds of some 10 ms, of which so many tenths are in user mode. */
static void burn(double seconds, unsigned int tenths)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	int zero = open("/dev/zero", O_RDONLY);
	volatile unsigned long counter = 0;
	double end = now() + seconds, until;
	char *block;

	/* Without page faults, of which a trace does not say how long they take. */
	block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (block == MAP_FAILED)
		err(1, "mmap");
	for (unsigned int round = 0; now() < end; round++) {
		until = now() + 0.001 * tenths;
		while (now() < until)
			for (unsigned int i = 0; i < 1000; i++)
				counter += i;
		until = now() + 0.001 * (10 - tenths);
		while (now() < until)
			if (read(zero, block, BLOCK_BYTES) < 0)
				err(1, "/dev/zero");
		if (round % 16 == tenths)
			nanosleep(&nap, NULL);
	}
}

static void report(pid_t pid)
{
	unsigned long long ns = 0;
	struct rusage usage;
	siginfo_t info;
	char path[64];
	FILE *file;

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		err(1, "waitid");
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		err(1, "%s", path);
	fclose(file);
	if (wait4(pid, NULL, 0, &usage) != pid)
		err(1, "wait4");
	printf("%d %llu %llu %llu\n", pid, ns,
	       usage.ru_utime.tv_sec * 1000000ull + (unsigned long long)usage.ru_utime.tv_usec,
	       usage.ru_stime.tv_sec * 1000000ull + (unsigned long long)usage.ru_stime.tv_usec);
}

static void calls(void)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	char byte;
	int zero;

	for (unsigned int i = 0; i < CALLS; i++) {
		zero = open("/dev/zero", O_RDONLY);
		if (zero < 0 || read(zero, &byte, 1) != 1)
			err(1, "/dev/zero");
		close(zero);
		access("/nonexistent", F_OK);
	}
	for (unsigned int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
}

int main(int argc, char **argv)
{
	pid_t pid[PROCESSES];

	if (argc != 2)
		errx(2, "usage: burn SECONDS|calls");
	if (!strcmp(argv[1], "calls")) {
		calls();
		return 0;
	}
	for (unsigned int i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			err(1, "fork");
		if (!pid[i]) {
			burn(atof(argv[1]), i);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < PROCESSES; i++)
		report(pid[i]);
	return 0;
}

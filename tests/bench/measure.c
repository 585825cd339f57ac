// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure COMMAND…: run it, and print on stderr its wall-clock and CPU time in seconds, and its
 * peak memory in MB.
 */
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2)
		error(2, 0, "usage: measure COMMAND...");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		error(127, errno, "%s", argv[1]);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		error(1, errno, "%s", argv[1]);
	clock_gettime(CLOCK_MONOTONIC, &end);
	fprintf(stderr, "%.3f %.3f %.1f\n",
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
		seconds(usage.ru_utime) + seconds(usage.ru_stime), (double)usage.ru_maxrss / 1024);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

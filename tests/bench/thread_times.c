// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_times COMMAND…: run it, and print on stderr the CPU time of all its threads together and
 * that of the one that took longest, in seconds. This is how long it would take on a machine that
 * does nothing else, as far as its threads do not wait for each other.
 */
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a thread that is about to exit. */
static double cpu_time(pid_t thread)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", thread);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		error(1, errno, "%s", path);
	fclose(file);
	return (double)ns / 1e9;
}

static pid_t begin(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		error(127, errno, "%s", argv[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC |
			   PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL))
		error(1, errno, "%s", argv[0]);
	return pid;
}

int main(int argc, char **argv)
{
	double all = 0, longest = 0, one;
	int status, result = 1;
	pid_t pid, thread;
	long signal;

	if (argc < 2)
		error(2, 0, "usage: thread_times COMMAND...");
	pid = begin(argv + 1);
	while ((thread = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (thread == pid)
				result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
			continue;
		}
		signal = WSTOPSIG(status);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
			one = cpu_time(thread);
			all += one;
			if (one > longest)
				longest = one;
		}
		/* A new thread begins with a stop of its own. */
		if (signal == SIGTRAP || signal == SIGSTOP)
			signal = 0;
		ptrace(PTRACE_CONT, thread, NULL, signal);
	}
	fprintf(stderr, "%.3f %.3f\n", all, longest);
	return result;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that sleep in the kernel, each in another system call, until a byte comes on standard
 * input; says "asleep" when they do. Then wakes them, and says which system calls returned what
 * they have to: "NAME ok", or "NAME wrong".
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int pipe_fds[2], poll_fds[2], select_fds[2], child_fds[2];
static unsigned int futex_word = 7;

static int in_pipe(void)
{
	char c = 0;

	return read(pipe_fds[0], &c, 1) == 1 && c == 'r';
}

static int in_poll(void)
{
	struct pollfd fd = { .fd = poll_fds[0], .events = POLLIN };

	return poll(&fd, 1, -1) == 1 && fd.revents == POLLIN;
}

static int in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(select_fds[0], &set);
	return select(select_fds[0] + 1, &set, NULL, NULL, NULL) == 1 &&
	       FD_ISSET(select_fds[0], &set);
}

/* In the kernel this goes through do_futex(), which has an argument on the stack. */
static int in_futex(void)
{
	return !syscall(SYS_futex, &futex_word, FUTEX_WAIT_BITSET_PRIVATE, 7, NULL, NULL, 0x55);
}

static int in_wait(void)
{
	int status;
	char c;
	pid_t pid = fork();

	if (!pid) {
		close(child_fds[1]);
		if (read(child_fds[0], &c, 1) != 1)
			_exit(1);
		_exit(42);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 42;
}

static struct sleeper {
	const char *name;
	int (*sleep)(void);
	pthread_t thread;
	int ok;
} sleepers[] = {
	{ .name = "pipe", .sleep = in_pipe },	  { .name = "poll", .sleep = in_poll },
	{ .name = "select", .sleep = in_select }, { .name = "futex", .sleep = in_futex },
	{ .name = "wait", .sleep = in_wait },
};

#define N_SLEEPERS (sizeof(sleepers) / sizeof(sleepers[0]))

static void *run(void *data)
{
	struct sleeper *sleeper = data;

	sleeper->ok = sleeper->sleep();
	return NULL;
}

/* Whether all threads but the first, and the children, are where they sleep. */
static int count_asleep(void)
{
	char command[128];
	int count = -1;
	FILE *out;

	snprintf(command, sizeof(command), "cat /proc/%d/task/*/stat | grep -c ') S '", getpid());
	out = popen(command, "r");
	if (out && fscanf(out, "%d", &count) != 1)
		count = -1;
	if (out)
		pclose(out);
	return count;
}

int main(void)
{
	char c;

	if (pipe(pipe_fds) || pipe(poll_fds) || pipe(select_fds) || pipe(child_fds))
		return 1;
	for (size_t i = 0; i < N_SLEEPERS; i++)
		if (pthread_create(&sleepers[i].thread, NULL, run, &sleepers[i]))
			return 1;
	/* This thread sleeps as well, while it counts. */
	while (count_asleep() != N_SLEEPERS + 1)
		usleep(10000);
	puts("asleep");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 1;
	if (write(pipe_fds[1], "r", 1) != 1 || write(poll_fds[1], "p", 1) != 1 ||
	    write(select_fds[1], "s", 1) != 1 || write(child_fds[1], "c", 1) != 1 ||
	    syscall(SYS_futex, &futex_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 0x10) != 1)
		return 1;
	for (size_t i = 0; i < N_SLEEPERS; i++) {
		pthread_join(sleepers[i].thread, NULL);
		printf("%s %s\n", sleepers[i].name, sleepers[i].ok ? "ok" : "wrong");
	}
	return 0;
}

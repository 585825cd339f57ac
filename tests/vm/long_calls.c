// SPDX-License-Identifier: GPL-2.0-only
/*
 * long_calls: calls that take long among many that do not, in threads, children, and programs that
 * are executed. Each thread writes what it has done to standard output, a line for each call that
 * takes longer than 10 ms: "NAME TID BEGIN END RESULT", in readings of the counter that the stamps
 * of a trace are, before the call and after it.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define SHORT_CALLS 1000
#define LONG_CALLS  5
#define LONG_NS	    20000000
#define THREADS	    3

static void tell(const char *name, uint64_t begin, long result)
{
	const uint64_t end = __rdtsc();

	printf("%s %ld %" PRIu64 " %" PRIu64 " %ld\n", name, syscall(SYS_gettid), begin, end,
	       result);
	fflush(stdout);
}

static void sleep_ns(long ns)
{
	const struct timespec time = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	const uint64_t begin = __rdtsc();
	const long result = syscall(SYS_nanosleep, &time, NULL);

	tell("nanosleep", begin, result < 0 ? -errno : result);
}

/* Read a byte that a child writes late. */
static void read_late(void)
{
	uint64_t begin;
	int ends[2];
	long result;
	char byte;
	pid_t pid;

	if (pipe(ends))
		err(EXIT_FAILURE, "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		usleep(LONG_NS / 1000);
		_exit(write(ends[1], "x", 1) != 1);
	}
	begin = __rdtsc();
	result = read(ends[0], &byte, 1);
	tell("read", begin, result);
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void short_calls(void)
{
	for (int i = 0; i < SHORT_CALLS; i++)
		syscall(SYS_getppid);
}

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < LONG_CALLS; i++) {
		short_calls();
		sleep_ns(LONG_NS + i * 1000000);
	}
	return NULL;
}

/* From one CPU to another one within the call: it sleeps on the one, and runs again elsewhere. */
static void *move(void *arg)
{
	const pid_t tid = *(pid_t *)arg;
	cpu_set_t cpus;

	usleep(LONG_NS / 2000);
	CPU_ZERO(&cpus);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &cpus);
	sched_setaffinity(tid, sizeof(cpus), &cpus);
	return NULL;
}

static void migrate(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	pthread_t mover;
	cpu_set_t all, first;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	pthread_create(&mover, NULL, move, &tid);
	sleep_ns(LONG_NS);
	pthread_join(mover, NULL);
	sched_setaffinity(0, sizeof(all), &all);
}

static void on_signal(int number)
{
	(void)number;
}

/* A signal ends the call; and one after which the kernel makes it go on by another call. */
static void interrupt(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	const char *slow = getenv("FKT_SLOW");
	const pid_t pid = getpid();
	pid_t child;

	sigaction(SIGUSR1, &action, NULL);
	fflush(stdout);
	child = fork();
	if (!child) {
		usleep(LONG_NS / 1000);
		kill(pid, SIGUSR1);
		usleep(2 * LONG_NS / 1000);
		kill(pid, SIGSTOP);
		usleep(LONG_NS / 1000);
		kill(pid, SIGCONT);
		_exit(0);
	}
	sleep_ns(500000000);
	/* There is much left of it when it goes on, however slow the machine is. */
	sleep_ns(25l * LONG_NS * (slow ? atoi(slow) : 1));
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc > 1) {
		short_calls();
		sleep_ns(LONG_NS);
		return 0;
	}
	work(NULL);
	read_late();
	migrate();
	interrupt();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	fflush(stdout);
	if (!fork()) {
		execl(argv[0], argv[0], "child", NULL);
		_exit(127);
	}
	wait(NULL);
	return 0;
}

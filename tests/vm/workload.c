// SPDX-License-Identifier: GPL-2.0-only
/*
 * workload [exec-thread]: several processes and threads that fork, exec, signal each other, talk
 * through pipes, and die, always with the same system calls: nothing in it depends on who is
 * faster. So no lock that may or may not be contended, and threads that are made and that end
 * without the C library's help.
 *
 * It visits each CPU at the beginning and at the end, in the main thread, so that each CPU has a
 * first and a last switch that has to do with this process.
 *
 * With exec-thread it does one thing more: a thread that is not its process's first one calls
 * execve(), and so takes over the pid of the first.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS	    6
#define THREADS	    4
#define PINGS	    50
#define CALLS	    200
#define STACK_BYTES (64 << 10)

static const char *self;

static void visit_cpus(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all))
		err(1, "sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		nanosleep(&moment, NULL);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		errx(1, "process %d", pid);
}

static void on_signal(int sig)
{
	(void)sig;
	syscall(SYS_getpid);
}

/* Calls of several kinds, some of which fail. */
static void work(int n)
{
	char buf[512];
	int fd;

	for (int i = 0; i < CALLS + n; i++)
		syscall(SYS_getppid);
	fd = open("/proc/self/stat", O_RDONLY);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
	for (int i = 0; i < 20; i++) {
		fd = open("/nonexistent", O_RDONLY);
		close(fd);
	}
	for (int i = 0; i < 10; i++) {
		char *map = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		memset(map, i, 1 << 16);
		munmap(map, 1 << 16);
	}
	prctl(PR_SET_NAME, "a new\tname 0001", 0, 0, 0);
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
}

/* One byte to and fro between two processes. */
static void ping_pong(void)
{
	int to[2], fro[2];
	char byte = 0;
	pid_t pid;

	if (pipe(to) || pipe(fro))
		err(1, "pipe");
	pid = fork();
	if (!pid) {
		for (int i = 0; i < PINGS; i++)
			if (read(to[0], &byte, 1) != 1 || write(fro[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < PINGS; i++)
		if (write(to[1], &byte, 1) != 1 || read(fro[0], &byte, 1) != 1)
			err(1, "ping");
	wait_for(pid);
	close(to[0]);
	close(to[1]);
	close(fro[0]);
	close(fro[1]);
}

/* A process that is stopped, goes on, and is killed. It says when it is there. */
static void kill_one(void)
{
	int up[2], status;
	char byte;
	pid_t pid;

	if (pipe(up))
		err(1, "pipe");
	pid = fork();
	if (!pid) {
		if (write(up[1], "", 1) != 1)
			_exit(1);
		for (;;)
			sched_yield(); /* not counted, see below */
	}
	if (read(up[0], &byte, 1) != 1)
		err(1, "read");
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	kill(pid, SIGCONT);
	waitpid(pid, &status, WCONTINUED);
	kill(pid, SIGKILL);
	wait_for(pid);
	close(up[0]);
	close(up[1]);
}

static int thread(void *arg)
{
	(void)arg;
	/* The C library's data of a thread are not here: only plain calls. */
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return 0;
}

static int exec_thread(void *arg)
{
	char *const argv[] = { (char *)self, "leaf", NULL };
	char *const env[] = { NULL };

	(void)arg;
	execve(self, argv, env);
	return 1;
}

/*
 * A process of several threads whose first one goes before the others: its parent is told when the
 * last has ended.
 */
static void threads(int (*function)(void *), int count)
{
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < count; i++) {
			char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			clone(function, stack + STACK_BYTES,
			      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				      CLONE_SYSVSEM,
			      NULL);
		}
		syscall(SYS_exit, 0);
	}
	wait_for(pid);
}

static void run(char *const argv[])
{
	char *const env[] = { NULL };
	pid_t pid = vfork();

	if (!pid) {
		execve(argv[0], argv, env);
		_exit(127);
	}
	wait_for(pid);
}

int main(int argc, char **argv)
{
	char *const leaf[] = { argv[0], "leaf", NULL };
	char *const nothing[] = { "/nonexistent", NULL };
	pid_t worker[WORKERS];
	sigset_t chld;

	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "leaf")) {
		work(1);
		return 3;
	}

	/*
	 * A process that is traced is told of its children's end even where it does not want to
	 * know.
	 */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	visit_cpus();
	for (int i = 0; i < WORKERS; i++) {
		worker[i] = fork();
		if (!worker[i]) {
			work(i);
			_exit(i);
		}
	}
	ping_pong();
	run(leaf);
	run(nothing);
	threads(thread, THREADS);
	if (argc > 1 && !strcmp(argv[1], "exec-thread")) {
		threads(exec_thread, 1);
		kill_one();
	}
	for (int i = 0; i < WORKERS; i++)
		wait_for(worker[i]);
	visit_cpus();
	return 0;
}

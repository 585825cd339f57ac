// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of functions of its own, in all ways that are hard on a tracer; says how many there were of
 * each: "NAME COUNT". user_calls [ROUNDS], or user_calls loop|forever.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	 4
#define NOINLINE __attribute__((noinline, noclone, noipa, used))

long user_add(long a, long b);
long user_text(const char *text);
long user_factorial(long n);
long user_inner(long n);
long user_outer(long n);
long user_leaps(long n);
long user_signalled(long n);
long user_deep(long n);
long user_tail(long n);
void user_sleeps(void);

/* So that the compiler does not see what a call does. */
static volatile long sink;
static jmp_buf back;
static volatile sig_atomic_t handled;

__extension__ unsigned short user_test_guarded_semaphore
	__attribute__((unused, section(".probes")));
__extension__ unsigned short user_test_plain_semaphore __attribute__((unused, section(".probes")));

NOINLINE long user_add(long a, long b)
{
	sink = a;
	return a + b;
}

NOINLINE long user_text(const char *text)
{
	return (long)strlen(text) + sink - sink;
}

NOINLINE long user_factorial(long n)
{
	long rest = n > 1 ? user_factorial(n - 1) : 1;

	sink = n;
	return n * rest;
}

NOINLINE long user_inner(long n)
{
	sink = syscall(SYS_getppid);
	return n + 1;
}

NOINLINE long user_outer(long n)
{
	long first = user_inner(n), second = user_inner(first);

	sink = n;
	return second;
}

/* Tail calls: the other one returns to the caller. */
NOINLINE long user_tail(long n)
{
	sink = n;
	return user_inner(n);
}

NOINLINE static void leap(long n)
{
	sink = n;
	longjmp(back, 1);
}

/* Is left by a leap, each second time; and again inside, as itself. */
NOINLINE long user_leaps(long n)
{
	if (n == 2)
		leap(n);
	sink = n;
	if (!n && !setjmp(back))
		user_leaps(1);
	else if (n == 1)
		user_leaps(2);
	sink = n;
	return 100 + n;
}

static void handler(int signal)
{
	(void)signal;
	handled++;
	user_add(handled, 1000);
}

NOINLINE long user_signalled(long n)
{
	raise(SIGUSR1);
	sink = n;
	return n;
}

NOINLINE long user_deep(long n)
{
	long rest = n > 1 ? user_deep(n - 1) : 0;

	sink = n;
	return rest + 1;
}

NOINLINE void user_sleeps(void)
{
	pause();
	sink = 1;
}

static void *adds(void *arg)
{
	const long rounds = (long)arg;

	for (long i = 0; i < rounds; i++)
		user_add(i, 2);
	return NULL;
}

static void forks(long rounds)
{
	pid_t child = fork();

	if (!child) {
		for (long i = 0; i < rounds; i++)
			user_add(i, 3);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void all(long rounds)
{
	static char long_text[200];
	pthread_t thread[THREADS];

	signal(SIGUSR1, handler);
	memset(long_text, 'x', sizeof(long_text) - 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, adds, (void *)rounds);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (long i = 0; i < rounds; i++) {
		user_text(i % 2 ? "odd" : "a text");
		user_outer(i);
		user_tail(i);
		user_leaps(0);
		user_signalled(i);
		DTRACE_PROBE2(user_test, plain, i, "here");
		if (user_test_guarded_semaphore)
			DTRACE_PROBE1(user_test, guarded, (int)-i);
	}
	user_text(long_text);
	user_factorial(10);
	user_deep(100);
	forks(rounds);
	printf("user_add %ld\n", (THREADS + 2) * rounds);
	printf("user_text %ld\n", rounds + 1);
	printf("user_outer %ld\n", rounds);
	printf("user_inner %ld\n", 3 * rounds);
	printf("user_tail %ld\n", rounds);
	printf("user_leaps %ld\n", 3 * rounds);
	printf("user_signalled %ld\n", rounds);
	printf("user_factorial 10\n");
	printf("user_deep 100\n");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "forever"))
		user_sleeps();
	while (argc > 1 && !strcmp(argv[1], "loop"))
		user_outer(user_add(1, 2));
	all(argc > 1 ? strtol(argv[1], NULL, 10) : 100);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * raced_returns ROUNDS: makes THREADS threads, one after the other, says so, and reads which of
 * them are to do something, by their numbers from 0 on, in a line. The first one of these returns
 * from a signal ROUNDS times, on one CPU, and each time one of the others, in their turn, fails to
 * at that moment on another CPU, and lives on.
 */
#include <err.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "failing_return.h"

#define THREADS	    512
#define STACK_BYTES (1ul << 15)

static unsigned int rounds;
/* Of each thread, from 1 on: which one it is of those that do something; 0: of none. */
static unsigned int role[THREADS];
static unsigned int roles;
static pthread_barrier_t all_know;
/* Which round the thread that returns has come to, which one has begun, and whose turn it is. */
static atomic_uint ready, begun, turn[THREADS + 1];
static _Thread_local sigjmp_buf again;

static void wait_actively(atomic_uint *at, unsigned int round)
{
	while (atomic_load(at) < round)
		__builtin_ia32_pause();
}

static void on_signal(int sig)
{
	const unsigned int round = atomic_fetch_add(&ready, 1) + 1;

	(void)sig;
	wait_actively(&begun, round);
}

static void on_failure(int sig)
{
	(void)sig;
	siglongjmp(again, 1);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		errx(1, "pthread_setaffinity_np");
}

static __attribute__((noipa)) void fail(void)
{
	if (!sigsetjmp(again, 0))
		fail_to_return();
}

static void fail_in_turn(unsigned int mine)
{
	const unsigned int next = mine == roles ? 2 : mine + 1;
	unsigned int round, seen;

	for (round = mine - 1; round <= rounds; round += roles - 1) {
		while ((seen = atomic_load(&turn[mine])) < round)
			syscall(SYS_futex, &turn[mine], FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		wait_actively(&ready, round);
		atomic_store(&begun, round);
		/* As long as it takes the other one to begin, or less. */
		for (unsigned int i = (round * 2654435761u >> 16) % 64; i; i--)
			asm volatile("");
		fail();
		atomic_store(&turn[next], round + 1);
		syscall(SYS_futex, &turn[next], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *thread(void *number)
{
	static char stacks[THREADS][STACK_BYTES];
	const size_t i = (size_t)number;
	const stack_t alternate = { .ss_sp = stacks[i], .ss_size = STACK_BYTES };

	pthread_barrier_wait(&all_know);
	if (!role[i])
		return NULL;
	if (sigaltstack(&alternate, NULL))
		err(1, "sigaltstack");
	run_on(role[i] > 1);
	if (role[i] > 1)
		fail_in_turn(role[i]);
	else
		for (unsigned int round = 0; round < rounds; round++)
			raise(SIGUSR1);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction returns = { .sa_handler = on_signal };
	const struct sigaction fails = { .sa_handler = on_failure,
					 .sa_flags = SA_ONSTACK | SA_NODEFER };
	static pthread_t threads[THREADS];
	pthread_attr_t small;
	unsigned int number;

	if (argc != 2)
		errx(2, "usage: raced_returns ROUNDS");
	rounds = strtoul(argv[1], NULL, 10);
	if (sigaction(SIGUSR1, &returns, NULL) || sigaction(SIGSEGV, &fails, NULL))
		err(1, "sigaction");
	if (pthread_barrier_init(&all_know, NULL, THREADS + 1) || pthread_attr_init(&small) ||
	    pthread_attr_setstacksize(&small, STACK_BYTES))
		errx(1, "pthread");
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], &small, thread, (void *)i))
			errx(1, "pthread_create");
	puts("made");
	fflush(stdout);
	while (scanf("%u", &number) == 1 && number < THREADS)
		role[number] = ++roles;
	if (roles < 2)
		errx(1, "too few that do something");
	atomic_store(&turn[2], 1);
	pthread_barrier_wait(&all_know);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

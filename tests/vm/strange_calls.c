// SPDX-License-Identifier: GPL-2.0-only
/*
 * strange_calls: returns from 40 signals, fails to return from one that there is not, and makes
 * calls with numbers that no table has: 9999 and 1023 three times each, -1 five times, getppid() by
 * its x32 number twice, and number 520, which only x32 has, once. Prints how many signals came, and
 * its pid.
 */
#include <err.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "failing_return.h"

#define SIGNALS	   40
#define X32_BIT	   0x40000000l
#define X32_EXECVE 520

static volatile sig_atomic_t signals;

static void count(int sig)
{
	(void)sig;
	signals++;
}

static sigjmp_buf failed;

static void on_failure(int sig)
{
	(void)sig;
	siglongjmp(failed, 1);
}

static void fail(void)
{
	static char stack[1 << 16];
	const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = on_failure, .sa_flags = SA_ONSTACK };

	if (sigaltstack(&alternate, NULL) || sigaction(SIGSEGV, &action, NULL))
		err(1, "sigaction");
	if (!sigsetjmp(failed, 0))
		fail_to_return();
}

static __attribute__((noipa)) void call(long number, unsigned int times)
{
	while (times--)
		syscall(number, 0, 0, 0, 0, 0, 0);
}

int main(void)
{
	if (signal(SIGUSR1, count) == SIG_ERR)
		err(1, "signal");
	for (unsigned int i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
	fail();
	/* Where its return is caught, the kernel makes a call for that. */
	call(0, 0);
	call(9999, 3);
	call(1023, 3);
	call(-1, 5);
	call(X32_BIT + SYS_getppid, 2);
	call(X32_EXECVE, 1);
	/* The kernel looks at the lower half alone: this is getppid(). */
	call((1l << 32) + SYS_getppid, 4);
	printf("%d %d\n", signals, getpid());
	return 0;
}

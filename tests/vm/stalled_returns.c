// SPDX-License-Identifier: GPL-2.0-only
/*
 * stalled_returns: THREADS threads return from a signal, all of them at a time: what each returns
 * by is on a stack that is not there (userfaultfd(2)) before all have begun. Before that FAILING
 * threads, all of them at a time, fail to return from one, and end.
 */
#include <err.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "failing_return.h"

#define FAILING		    600
#define THREADS		    40
#define STACK_BYTES	    (1ul << 16)
#define FAILING_STACK_BYTES (1ul << 15)

/* What the threads' stacks had on them, and the stacks. */
static char (*kept)[STACK_BYTES], (*stacks)[STACK_BYTES];

static void *map(void)
{
	void *at = mmap(NULL, THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

/* Nothing is on the stack any more from the first call on. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	const unsigned long i = ((char *)context - (char *)stacks) / STACK_BYTES;

	(void)sig;
	(void)info;
	memcpy(kept[i], stacks[i], STACK_BYTES);
	asm volatile(
		"syscall\n\t"
		"mov %[context], %%rsp\n\t"
		"mov %[rt_sigreturn], %%eax\n\t"
		"syscall\n\t"
		"ud2"
		:
		: "a"(SYS_madvise), "D"(stacks[i]), "S"(STACK_BYTES),
		  "d"(MADV_DONTNEED), [context] "r"(context), [rt_sigreturn] "i"(SYS_rt_sigreturn)
		: "rcx", "r11", "memory");
	__builtin_unreachable();
}

static void *thread(void *stack)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = STACK_BYTES };

	if (sigaltstack(&alternate, NULL) || raise(SIGUSR1))
		err(1, "raise");
	return NULL;
}

static pthread_barrier_t all_failed;

static void on_failure(int sig)
{
	(void)sig;
	pthread_barrier_wait(&all_failed);
	syscall(SYS_exit, 0);
}

static void *failing_thread(void *stack)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = FAILING_STACK_BYTES };

	if (sigaltstack(&alternate, NULL))
		err(1, "sigaltstack");
	fail_to_return();
}

static void fail(void)
{
	const struct sigaction action = { .sa_handler = on_failure, .sa_flags = SA_ONSTACK };
	static char alternate[FAILING][FAILING_STACK_BYTES];
	static pthread_t threads[FAILING];
	pthread_attr_t small;

	if (sigaction(SIGSEGV, &action, NULL))
		err(1, "sigaction");
	if (pthread_barrier_init(&all_failed, NULL, FAILING) || pthread_attr_init(&small) ||
	    pthread_attr_setstacksize(&small, FAILING_STACK_BYTES))
		errx(1, "pthread");
	for (int i = 0; i < FAILING; i++)
		if (pthread_create(&threads[i], &small, failing_thread, alternate[i]))
			errx(1, "pthread_create");
	for (int i = 0; i < FAILING; i++)
		pthread_join(threads[i], NULL);
	if (signal(SIGSEGV, SIG_DFL) == SIG_ERR)
		err(1, "signal");
}

int main(void)
{
	const struct sigaction action = { .sa_sigaction = on_signal,
					  .sa_flags = SA_SIGINFO | SA_ONSTACK };
	const int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register stacks_of = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t threads[THREADS];
	struct uffd_msg fault;

	fail();
	kept = map();
	stacks = map();
	memset(stacks, 1, THREADS * STACK_BYTES);
	stacks_of.range = (struct uffdio_range){ (unsigned long)stacks, THREADS * STACK_BYTES };
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &stacks_of))
		err(1, "userfaultfd");
	if (sigaction(SIGUSR1, &action, NULL))
		err(1, "sigaction");
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, stacks[i]))
			errx(1, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		if (read(fd, &fault, sizeof(fault)) != sizeof(fault) ||
		    fault.event != UFFD_EVENT_PAGEFAULT)
			err(1, "read");
	for (int i = 0; i < THREADS; i++) {
		struct uffdio_copy copy = { .dst = (unsigned long)stacks[i],
					    .src = (unsigned long)kept[i],
					    .len = STACK_BYTES };

		if (ioctl(fd, UFFDIO_COPY, &copy))
			err(1, "UFFDIO_COPY");
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

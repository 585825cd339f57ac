// SPDX-License-Identifier: GPL-2.0-only
/*
 * fault_calls: system calls of which it is known how many pages they fault in, and how often they
 * leave the CPU. For each, a line: the system call, what is counted, how many calls, how many in
 * all of them.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAGE   4096
#define CALLS  20
#define PAGES  8
#define NAPS   25
#define NAP_NS 2000000

/* Memory that is not there yet, in pages of its own. */
static char *fresh(size_t bytes)
{
	char *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* Some kernels have no huge pages. */
	if (there == MAP_FAILED || (madvise(there, bytes, MADV_NOHUGEPAGE) && errno != EINVAL))
		err(1, "mmap");
	return there;
}

/* How often this thread has given its CPU away. */
static long left(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		err(1, "getrusage");
	return usage.ru_nvcsw;
}

int main(void)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int zero = open("/dev/zero", O_RDONLY);
	char *pages = fresh(CALLS * PAGES * PAGE);
	unsigned int touched = 0;
	long switches;

	if (zero < 0)
		err(1, "/dev/zero");
	/* In the kernel: what it reads into faults a page in after the other. */
	for (unsigned int i = 0; i < CALLS; i++)
		if (pread(zero, pages + i * PAGES * PAGE, PAGES * PAGE, 0) != PAGES * PAGE)
			err(1, "pread");
	/* The same ones again: they are there now. */
	for (unsigned int i = 0; i < CALLS; i++)
		if (read(zero, pages + i * PAGES * PAGE, PAGES * PAGE) != PAGES * PAGE)
			err(1, "read");
	/* In the program, between two calls that fault none in. */
	pages = fresh(CALLS * PAGES * PAGE);
	for (unsigned int i = 0; i < CALLS; i++) {
		for (unsigned int j = 0; j < PAGES; j++)
			pages[(i * PAGES + j) * PAGE] = 1;
		touched += PAGES;
		if (getppid() < 0)
			return 1;
	}
	/* One whose time is over before it has begun, on a CPU that was stolen, leaves nothing. */
	switches = left();
	for (unsigned int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
	switches = left() - switches;
	printf("sys_pread64 page_faults %d %d\n", CALLS, CALLS * PAGES);
	printf("sys_read page_faults 0 0\n");
	printf("sys_getppid page_faults %d 0\n", CALLS);
	printf("sys_clock_nanosleep context_switches %d %ld\n", NAPS, switches);
	printf("user page_faults 0 %u\n", touched);
	return 0;
}

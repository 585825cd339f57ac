// SPDX-License-Identifier: GPL-2.0-only
/*
 * ust_calls COUNT: getppid() so many times, and before and after each an event of LTTng-UST's, with
 * a few milliseconds between them.
 */
#include <err.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <lttng/tracef.h>

#define BETWEEN_US 4000

int main(int argc, char **argv)
{
	unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;

	if (!count)
		errx(2, "ust_calls COUNT");
	for (unsigned long i = 0; i < count; i++) {
		tracef("before %lu", i);
		usleep(BETWEEN_US);
		syscall(SYS_getppid);
		usleep(BETWEEN_US);
		tracef("after %lu", i);
		usleep(BETWEEN_US);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* deep_write FILE TEXT: writes the text, from some calls deep, so that its stack has 12 frames. */
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With main(), and what the C library calls that from. */
#define DEPTH 10

/* Not the last thing that its caller does. */
static volatile long sum;

static __attribute__((noinline)) void deep(unsigned int depth, int file, const char *text)
{
	long written;

	if (depth > 1) {
		deep(depth - 1, file, text);
	} else {
		/* The C library's own function would have no frame. */
		asm volatile("syscall"
			     : "=a"(written)
			     : "a"(SYS_write), "D"(file), "S"(text), "d"(strlen(text))
			     : "rcx", "r11", "memory");
		if (written < 0)
			errx(1, "write: error %ld", -written);
	}
	sum++;
}

int main(int argc, char **argv)
{
	int file;

	if (argc != 3)
		errx(2, "deep_write FILE TEXT");
	file = open(argv[1], O_WRONLY | O_CLOEXEC);
	if (file < 0)
		err(1, "%s", argv[1]);
	deep(DEPTH, file, argv[2]);
	return 0;
}

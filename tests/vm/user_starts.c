// SPDX-License-Identifier: GPL-2.0-only
/*
 * Begin and end recordings of one function of a program, for so many seconds: user_starts FILE
 * OFFSET SECONDS. Says how many there were.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/ioctl.h>

static void record(const char *path, uint64_t offset)
{
	struct fkt_uprobe_spec spec[2] = {
		{ .offset = offset, .code = FKT_CODE_DYNAMIC, .flags = FKT_UPROBE_FLAGS },
		{ .offset = offset, .code = FKT_CODE_DYNAMIC + 2, .flags = FKT_UPROBE_RETURN },
	};
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_UPROBE,
		.count = 2,
		.spec_bytes = sizeof(spec[0]),
		.specs_ptr = (uintptr_t)spec,
	};
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT };
	uint32_t mask = FKT_KEY_USER;
	int device = open(FKT_DEVICE, O_RDWR | O_CLOEXEC), file = open(path, O_RDONLY | O_CLOEXEC);

	if (device < 0 || file < 0)
		err(EXIT_FAILURE, "%s", device < 0 ? FKT_DEVICE : path);
	for (int i = 0; i < 2; i++) {
		spec[i].fd = file;
		spec[i].key = (uint8_t)__builtin_ctz(FKT_KEY_USER);
	}
	if (ioctl(device, FKT_SETINITMASK, &mask) || ioctl(device, FKT_ADD_PROBES, &probes))
		err(EXIT_FAILURE, "adding the probes");
	close(file);
	if (ioctl(device, FKT_START, &start))
		err(EXIT_FAILURE, "starting");
	/* It ends with the file. */
	close(device);
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc == 4 ? strtol(argv[3], NULL, 10) : 0);
	unsigned long count = 0;

	if (argc != 4)
		errx(2, "user_starts FILE OFFSET SECONDS");
	for (; time(NULL) < end; count++)
		record(argv[1], strtoull(argv[2], NULL, 0));
	printf("%lu\n", count);
	return 0;
}

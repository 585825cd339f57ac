// SPDX-License-Identifier: GPL-2.0-only
/*
 * many LAYERS EACH: record the entries of EACH of the kernel's functions in each of so many layers, which are turned on one
 * after another. Says how many functions were hooked, and how many kB of memory are less available after it than before.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/ioctl.h>

#define FIRST_LAYER 1
#define NAMES_LEFT_OUT 10000

static long available_kb(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[256];
	long kb = -1;

	while (f && kb < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "MemAvailable: %ld", &kb);
	if (!f || kb < 0)
		errx(1, "/proc/meminfo has no MemAvailable");
	fclose(f);
	return kb;
}

/* Not the first ones, with the kernel's entry and its scheduler, which run all the time. */
static void list_functions(struct fkt_function_spec *specs, uint32_t count, uint32_t each)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[256], kind, after;
	uint32_t i = 0, names = 0;
	uint64_t address;

	if (!f)
		err(1, "/proc/kallsyms");
	while (i < count && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %255s%c", &address, &kind, name, &after) != 4 ||
		    after != '\n' || (kind != 't' && kind != 'T') || !strncmp(name, "__pfx_", 6) ||
		    names++ < NAMES_LEFT_OUT)
			continue;
		specs[i] = (struct fkt_function_spec){
			.address = address,
			.code = FKT_CODE_DYNAMIC + 2 * i,
			.keys = 1u << (FIRST_LAYER + i / each),
			.flags = FKT_FUNCTION_ENTRY_ONLY,
		};
		i++;
	}
	fclose(f);
	if (i < count)
		errx(1, "the kernel has no %u functions", count);
}

int main(int argc, char **argv)
{
	uint32_t layers = argc == 3 ? (uint32_t)atoi(argv[1]) : 0, i, key = FKT_KEY_SYSTEM;
	uint32_t each = argc == 3 ? (uint32_t)atoi(argv[2]) : 0, count = layers * each;
	struct fkt_function_spec *specs = calloc(count, sizeof(*specs));
	struct fkt_functions functions = {
		.size = sizeof(functions),
		.count = count,
		.specs_ptr = (uintptr_t)specs,
	};
	struct fkt_status status = { .size = sizeof(status) };
	struct fkt_start start = { .size = sizeof(start) };
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	long before;

	if (!count || !specs || fd < 0)
		err(1, "usage: many LAYERS EACH");
	list_functions(specs, count, each);
	start.out_fd = open("/dev/null", O_WRONLY);
	if (ioctl(fd, FKT_ADD_FUNCTIONS, &functions) || ioctl(fd, FKT_SETINITMASK, &key) ||
	    ioctl(fd, FKT_START, &start))
		err(1, "the recording does not begin");
	before = available_kb();
	for (i = 0; i < layers; i++) {
		key = 1u << (FIRST_LAYER + i);
		if (ioctl(fd, FKT_ENABLE, &key))
			err(1, "layer %u", FIRST_LAYER + i);
	}
	if (ioctl(fd, FKT_STOP) || ioctl(fd, FKT_STATUS, &status))
		err(1, "the recording does not end");
	close(fd);
	printf("%u %ld\n", status.functions, before - available_kb());
	return 0;
}

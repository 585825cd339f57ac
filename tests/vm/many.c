// SPDX-License-Identifier: GPL-2.0-only
/*
 * many [-b] LAYERS EACH: record the entries of EACH of the kernel's functions in each of so many
 * layers, which are turned on one after another. Says how many functions were hooked, how many kB
 * of memory are less available after it than before, and how many ms it took to hook them. With -b,
 * each is followed by an address in its midst, where there is no function.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/ioctl.h>

#define FIRST_LAYER    1
#define NAMES_LEFT_OUT 10000

/* What FIELD has in a file of /proc, all of its lines together; -1 when there is none. */
static long sum_of(const char *path, const char *field)
{
	FILE *f = fopen(path, "r");
	char line[256], name[64];
	long sum = -1, value;

	if (!f)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld", name, &value) == 2 && !strcmp(name, field))
			sum = (sum < 0 ? 0 : sum) + value;
	fclose(f);
	return sum;
}

/* With the freed pages that CPUs keep, tens of megabytes each from 6.7 on: no total has those. */
static long available_kb(void)
{
	long kb = sum_of("/proc/meminfo", "MemAvailable:");
	long pages = sum_of("/proc/zoneinfo", "count:");

	if (kb < 0 || pages < 0)
		errx(1, "/proc has no MemAvailable or no count");
	return kb + pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Not the first ones, with the kernel's entry and its scheduler, which run all the time. */
static void list_functions(struct fkt_function_spec *specs, uint32_t count, uint32_t each, bool bad)
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
		if (!bad)
			continue;
		specs[i] = specs[i - 1];
		specs[i].address += 9;
		specs[i].code += 2;
		i++;
	}
	fclose(f);
	if (i < count)
		errx(1, "the kernel has no %u functions", count);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	const bool bad = argc == 4 && !strcmp(argv[1], "-b");
	char **args = argv + bad;
	uint32_t layers = argc == 3 + bad ? (uint32_t)atoi(args[1]) : 0, i, key = FKT_KEY_SYSTEM;
	uint32_t each = layers ? (uint32_t)atoi(args[2]) * (1 + bad) : 0, count = layers * each;
	struct fkt_function_spec *specs = calloc(count, sizeof(*specs));
	struct fkt_probes functions = {
		.size = sizeof(functions),
		.kind = FKT_PROVIDER_FUNCTION,
		.spec_bytes = sizeof(*specs),
		.count = count,
		.specs_ptr = (uintptr_t)specs,
	};
	struct fkt_status status = { .size = sizeof(status) };
	struct fkt_start start = { .size = sizeof(start) };
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	int64_t begin;
	long before;

	if (!count || !specs || fd < 0)
		err(1, "usage: many [-b] LAYERS EACH");
	list_functions(specs, count, each, bad);
	start.out_fd = open("/dev/null", O_WRONLY);
	if (ioctl(fd, FKT_ADD_PROBES, &functions) || ioctl(fd, FKT_SETINITMASK, &key) ||
	    ioctl(fd, FKT_START, &start))
		err(1, "the recording does not begin");
	before = available_kb();
	begin = now_ms();
	for (i = 0; i < layers; i++) {
		key = 1u << (FIRST_LAYER + i);
		if (ioctl(fd, FKT_ENABLE, &key))
			err(1, "layer %u", FIRST_LAYER + i);
	}
	begin = now_ms() - begin;
	if (ioctl(fd, FKT_STOP) || ioctl(fd, FKT_STATUS, &status))
		err(1, "the recording does not end");
	close(fd);
	printf("%u %ld %" PRId64 "\n", status.functions, before - available_kb(), begin);
	return 0;
}

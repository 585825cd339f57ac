// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook [-a | -l | -p | -s] OUTPUT COMMAND GROUP NAME…: records functions as a recorder might that
 * does not look at them before: they are in the group of that number, while the shell's COMMAND
 * runs.
 * Prints how many were hooked, how many refused and why, or what the kernel answered.
 *
 *	-a	all have the same code
 *	-l	their layer is turned on late, after the command
 *	-p	as -l, with a kprobe at each, in no group
 *	-s	the command runs before they are added, after they were looked up; the device is
 *		closed meanwhile
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fkt/codes.h>
#include <fkt/ioctl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static __u64 address_of(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char symbol[256], type;

	while (file && fscanf(file, "%llx %c %255s%*[^\n]", &address, &type, symbol) == 3)
		if (!strcmp(symbol, name) && (type | 0x20) == 't') {
			fclose(file);
			return address;
		}
	errx(77, "there is no function %s", name);
}

static int open_device(void)
{
	int device = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (device < 0)
		err(2, FKT_DEVICE);
	return device;
}

static void run(const char *command)
{
	if (system(command))
		warnx("%s: failed", command);
}

static int answer(const char *what)
{
	printf("%s: %s\n", what, strerrorname_np(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct fkt_function_spec spec[16] = {};
	struct fkt_kprobe_spec place[16] = {};
	struct fkt_functions_common common = {};
	struct fkt_probes functions = {
		.size = sizeof(functions),
		.kind = FKT_PROVIDER_FUNCTION,
		.spec_bytes = sizeof(spec[0]),
		.specs_ptr = (uintptr_t)spec,
		.common_ptr = (uintptr_t)&common,
		.common_bytes = sizeof(common),
	};
	struct fkt_probes places = {
		.size = sizeof(places),
		.kind = FKT_PROVIDER_KPROBE,
		.spec_bytes = sizeof(place[0]),
		.specs_ptr = (uintptr_t)place,
	};
	struct fkt_start start = { .size = sizeof(start) };
	struct fkt_status status = { .size = sizeof(status) };
	__u32 pow = 7, key = FKT_KEY_FUNCTIONS, mask;
	char when = ' ';
	bool late;
	int device, i;

	if (argc > 1 && argv[1][0] == '-') {
		when = argv[1][1];
		argc--;
		argv++;
	}
	if (argc < 5 || argc > 4 + 16)
		errx(2, "usage: hook [-a | -l | -p | -s] OUTPUT COMMAND GROUP NAME...");
	late = when == 'l' || when == 'p';
	mask = late ? FKT_KEY_SYSTEM : key;
	for (i = 4; i < argc; i++) {
		place[i - 4] = (struct fkt_kprobe_spec){
			.address = address_of(argv[i]),
			.code = FKT_CODE_DYNAMIC + 2 * (__u32)i,
			.key = (__u32)__builtin_ctz(FKT_KEY_FUNCTIONS),
		};
		spec[i - 4] = (struct fkt_function_spec){
			.address = address_of(argv[i]),
			.code = FKT_CODE_DYNAMIC + (when == 'a' ? 0 : 2 * (__u32)i),
			.keys = FKT_KEY_FUNCTIONS,
			.ret_bytes = 8,
			.group = (__u32)atoi(argv[3]),
		};
	}
	places.count = (__u32)(argc - 4);
	functions.count = (__u32)(argc - 4);
	device = open_device();
	start.out_fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (start.out_fd < 0)
		err(2, "%s", argv[1]);
	if (ioctl(device, FKT_STATUS, &status))
		return answer("status");
	common.text_reused = status.text_reused;
	if (when == 's') {
		close(device);
		run(argv[2]);
		device = open_device();
	}
	if (ioctl(device, FKT_SETINITPOWPAGES, &pow) || ioctl(device, FKT_SETINITMASK, &mask))
		return answer("set up");
	if (ioctl(device, FKT_ADD_PROBES, when == 'p' ? &places : &functions))
		return answer("add");
	if (ioctl(device, FKT_START, &start))
		return answer("start");
	if (when != 's')
		run(argv[2]);
	if (late && ioctl(device, FKT_ENABLE, &key))
		return answer("enable");
	if (ioctl(device, FKT_STATUS, &status))
		return answer("status");
	if (ioctl(device, FKT_STOP))
		return answer("stop");
	printf("%u hooked, %u refused", status.functions, status.functions_refused);
	for (__u32 j = 0; j < status.functions_refused && j < FKT_REFUSED_FIRST; j++)
		printf(" %s", strerrorname_np((int)status.refused[j].error) ?: "?");
	putchar('\n');
	return 0;
}

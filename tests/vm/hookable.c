// SPDX-License-Identifier: GPL-2.0-only
/*
 * hookable NAME MODULE: says "asking", and asks whether the function NAME can be hooked, until that
 * is denied: each time with addresses within functions of MODULE behind it, so that it takes long.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <fkt/ioctl.h>

/* Of a function's code, that is in no place of ftrace's. */
#define WITHIN 11

static uint64_t address_of(const char *name, const char *module)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256], of[256], kind;
	unsigned long long address;

	while (file && fgets(line, sizeof(line), file)) {
		int fields = sscanf(line, "%llx %c %255s [%255[^]]", &address, &kind, symbol, of);

		if (fields < 3 || (kind | 0x20) != 't' || (name && strcmp(symbol, name)) ||
		    (module && (fields < 4 || strcmp(of, module))))
			continue;
		fclose(file);
		return address;
	}
	errx(1, "/proc/kallsyms: no %s", name ? name : module);
}

int main(int argc, char **argv)
{
	static uint64_t addresses[FKT_HOOKABLE_MAX];
	const struct fkt_hookable hookable = {
		.size = sizeof(hookable),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = FKT_HOOKABLE_MAX,
		.addresses_ptr = (uintptr_t)addresses,
	};
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	uint64_t function, within;

	if (argc != 3)
		errx(2, "usage: hookable NAME MODULE");
	if (fd < 0)
		err(1, FKT_DEVICE);
	function = address_of(argv[1], NULL);
	within = address_of(NULL, argv[2]) + WITHIN;
	setlinebuf(stdout);
	puts("asking");
	do {
		for (int i = 0; i < FKT_HOOKABLE_MAX; i++)
			addresses[i] = i ? within : function;
		if (ioctl(fd, FKT_HOOKABLE, &hookable))
			err(1, "FKT_HOOKABLE");
	} while (addresses[0]);
	return 0;
}

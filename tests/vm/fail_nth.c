// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail_nth FUNCTION-ADDRESS: allocations that an ioctl of /dev/fkt makes fail once, one after
 * the other: the ioctl says ENOMEM or goes on without it, nothing is left half done, and the next
 * recording is as any other. Needs a kernel with fault injection (fail-nth), set up by the caller.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/ioctl.h>

#define ALLOCATIONS_MAX 4000
#define CALLS		200

static uint64_t address;
static int device, output, fail_nth, failures;
static uint64_t injected;

static int do_open(void)
{
	device = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	return device;
}

static int do_pages(void)
{
	uint32_t pow = FKT_POW_MIN;

	return ioctl(device, FKT_SETINITPOWPAGES, &pow);
}

static int do_functions(void)
{
	struct fkt_function_spec spec = {
		.address = address,
		.code = FKT_CODE_DYNAMIC,
		.keys = FKT_KEY_FUNCTIONS,
		.args = 3,
		.ret_bytes = 8,
	};
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
	};

	return ioctl(device, FKT_ADD_PROBES, &probes);
}

static int do_tracepoints(void)
{
	struct fkt_tracepoint_spec spec = {
		.name = "sched_process_fork",
		.code = FKT_CODE_DYNAMIC + 2,
		.key = __builtin_ctz(FKT_KEY_FUNCTIONS),
		.args = 2,
	};
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_TRACEPOINT,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
	};

	return ioctl(device, FKT_ADD_PROBES, &probes);
}

static int do_kprobes(void)
{
	struct fkt_fetch ops[] = {
		{ .op = FKT_FETCH_REGISTER, .value = 14 },
		{ .op = FKT_FETCH_WORD },
	};
	struct fkt_kprobe_spec spec = {
		.address = address,
		.code = FKT_CODE_DYNAMIC + 4,
		.key = __builtin_ctz(FKT_KEY_FUNCTIONS),
		.flags = FKT_KPROBE_RETURN,
		.ops = 2,
	};
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_KPROBE,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
		.common_ptr = (uintptr_t)ops,
		.common_bytes = sizeof(ops),
	};

	return ioctl(device, FKT_ADD_PROBES, &probes);
}

static int do_start(void)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = output };

	return ioctl(device, FKT_START, &start);
}

static int do_mask(void)
{
	uint32_t all = ~0u;

	for (int bit = 0; bit < 32; bit++) {
		uint32_t mask = 1u << bit;

		if (ioctl(device, FKT_ENABLE, &mask) && errno == EINVAL)
			all &= ~mask;
	}
	return ioctl(device, FKT_SETMASK, &all);
}

static int do_status(void)
{
	struct fkt_status status = { .size = sizeof(status) };

	return ioctl(device, FKT_STATUS, &status);
}

static int do_list(void)
{
	struct fkt_code_lines lines = { .size = sizeof(lines) };

	return ioctl(device, FKT_LIST_CODES, &lines);
}

static int do_stop(void)
{
	return ioctl(device, FKT_STOP);
}

static int do_free(void)
{
	return ioctl(device, FKT_FREEBUFFER);
}

/* What must_begin marks: without it there is no recording, and what follows is left out. */
static const struct step {
	const char *name;
	int (*run)(void);
	bool must_begin;
} steps[] = {
	{ "open", do_open, true },
	{ "SETINITPOWPAGES", do_pages, false },
	{ "ADD_FUNCTIONS", do_functions, false },
	{ "ADD_TRACEPOINTS", do_tracepoints, false },
	{ "ADD_KPROBES", do_kprobes, false },
	{ "START", do_start, true },
	{ "SETMASK", do_mask, false },
	{ "STATUS", do_status, false },
	{ "LIST_CODES", do_list, false },
	{ "STOP", do_stop, false },
	{ "FREEBUFFER", do_free, false },
};
#define STEPS (int)(sizeof(steps) / sizeof(*steps))

static void arm(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_nth, text, length, 0) != length)
		err(1, "fail-nth");
}

/* Disarms it as well; returns whether a fault was injected. */
static bool was_injected(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) <= 0)
		err(1, "fail-nth");
	arm(0);
	return atoi(text) == 0;
}

/* sequence FAILING N: true when allocation N was made there, and so failed. */
static bool sequence(int failing, unsigned int n)
{
	bool hit = false, recording = false;

	output = open("fail_nth.trace", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (output < 0)
		err(1, "fail_nth.trace");
	device = -1;
	for (int i = 0; i < STEPS; i++) {
		int ret, error;

		if (i == failing)
			arm(n);
		ret = steps[i].run();
		error = errno;
		if (i == failing)
			hit = was_injected();
		if (ret < 0 && (!hit || error != ENOMEM)) {
			printf("FAILED: %s, with allocation %u of %s failing: %s\n", steps[i].name,
			       n, failing < 0 ? "none" : steps[failing].name, strerror(error));
			failures++;
		}
		/*
		 * What a recording is set up with need not be used each time: the last sequence
		 * does.
		 */
		if ((ret < 0 && steps[i].must_begin) ||
		    (hit && steps[i].run != do_start && !recording))
			break;
		recording |= steps[i].run == do_start;
		/* Something to record. */
		if (!strcmp(steps[i].name, "SETMASK"))
			for (int call = 0; call < CALLS; call++)
				syscall(SYS_getppid);
	}
	if (device >= 0)
		close(device);
	close(output);
	injected += hit;
	return hit;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: fail_nth FUNCTION-ADDRESS");
	address = strtoull(argv[1], NULL, 16);
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		err(1, "/proc/thread-self/fail-nth");
	sequence(-1, 0);
	for (int i = 0; i < STEPS; i++) {
		unsigned int n = 1, missed = 0;

		/*
		 * Not all calls make the same allocations: more are tried behind the last one. Of
		 * many that follow each other some are left out, for they are pages of a lane.
		 */
		for (; n <= ALLOCATIONS_MAX && missed < 2; n += 1 + n / 16)
			missed = sequence(i, n) ? 0 : missed + 1;
		printf("%s: up to allocation %u\n", steps[i].name, n);
		fflush(stdout);
	}
	sequence(-1, 0);
	printf("%llu faults\n", (unsigned long long)injected);
	return failures != 0;
}

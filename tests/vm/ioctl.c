// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioctl wrong: each ioctl of /dev/fkt with wrong values, and at wrong moments: the errors that
 * fkt/ioctl.h names, and no harm.
 * ioctl hammer SECONDS: random ioctls from several threads, while recordings begin and end.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <fkt/codes.h>
#include <fkt/ioctl.h>

/* The layout is the same for 32- and 64-bit programs, also where it has grown: no padding. */
_Static_assert(sizeof(struct fkt_start) >= 48 && sizeof(struct fkt_start) % 8 == 0, "fkt_start");
_Static_assert(offsetof(struct fkt_start, limit_bytes) == 8, "fkt_start.limit_bytes");
_Static_assert(offsetof(struct fkt_start, id) == 32, "fkt_start.id");
_Static_assert(sizeof(struct fkt_lane_status) == 72, "fkt_lane_status");
_Static_assert(offsetof(struct fkt_lane_status, events) == 24, "fkt_lane_status.events");
_Static_assert(sizeof(struct fkt_status) >= 120 && sizeof(struct fkt_status) % 8 == 0,
	       "fkt_status");
_Static_assert(offsetof(struct fkt_status, events) == 16, "fkt_status.events");
_Static_assert(offsetof(struct fkt_status, pauses) == 88, "fkt_status.pauses");
_Static_assert(offsetof(struct fkt_status, lanes_ptr) == 112, "fkt_status.lanes_ptr");

#define LANES_MAX      64
#define STATUS_BYTES_1 120 /* what the first version of struct fkt_status had */
#define THREADS	       4

static int failures;
static void *const nowhere = (void *)16; /* nothing is there */

/* 0, or the errno value of the call. */
static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? errno : 0;
}

static void expect_at(int line, const char *what, int wanted, int got)
{
	if (wanted == got) {
		printf("ok: %s: %s\n", what, wanted ? strerrorname_np(wanted) : "0");
		return;
	}
	printf("FAILED: line %d: %s: %s, not %s\n", line, what, got ? strerrorname_np(got) : "0",
	       wanted ? strerrorname_np(wanted) : "0");
	failures++;
}

#define expect(wanted, fd, request, arg)                                                           \
	expect_at(__LINE__, #request " " #arg, wanted, call(fd, request, arg))
#define holds(what) expect_at(__LINE__, #what, 0, (what) ? 0 : EPROTO)

static int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(1, FKT_DEVICE);
	return fd;
}

static struct fkt_status get_status(int fd)
{
	struct fkt_status status = { .size = sizeof(status) };

	if (ioctl(fd, FKT_STATUS, &status))
		err(1, "FKT_STATUS");
	return status;
}

static void wait_idle(int fd)
{
	while (get_status(fd).state != FKT_STATE_IDLE)
		usleep(10000);
}

static void expect_value_at(int line, int fd, const char *what, unsigned long request,
			    uint32_t value, int wanted)
{
	char text[80];

	snprintf(text, sizeof(text), "%s %#x", what, value);
	expect_at(line, text, wanted, call(fd, request, &value));
}
#define expect_value(fd, request, value, wanted)                                                   \
	expect_value_at(__LINE__, fd, #request, request, value, wanted)

static uint32_t all_keys(void)
{
	return 0
#define X(NAME, bit, name, about) | (1u << (bit))
		FKT_LAYERS(X)
#undef X
			;
}

/* The lowest bit that no layer has. */
static uint32_t free_key(void)
{
	uint32_t keys = all_keys();

	return ~keys & -~keys;
}

static void wrong_requests(int fd)
{
	uint32_t value = 0;

	for (unsigned int nr = 100; nr < 256; nr++)
		if (call(fd, _IO(FKT_IOC, nr), &value) != ENOTTY)
			expect_at(__LINE__, "a number that is no ioctl", ENOTTY, 0);
	expect(ENOTTY, fd, _IO(0xfb, 1), &value);
	expect(ENOTTY, fd, FIONREAD, &value);
	expect(ENOTTY, fd, TCGETS, &value);
	/* The right numbers with the wrong direction or size. */
	expect(ENOTTY, fd, _IOR(FKT_IOC, 1, uint32_t), &value);
	expect(ENOTTY, fd, _IOW(FKT_IOC, 1, uint64_t), &value);
	expect(ENOTTY, fd, _IO(FKT_IOC, 1), &value);
	expect(ENOTTY, fd, _IOW(FKT_IOC, 10, uint32_t), &value);

	expect(0, fd, FKT_VERSION, &value);
	holds(value == FKT_IOCTL_VERSION);
	expect(EFAULT, fd, FKT_VERSION, nowhere);
	expect(EFAULT, fd, FKT_SETINITPOWPAGES, nowhere);
	expect(EFAULT, fd, FKT_SETINITMASK, nowhere);
	expect(EFAULT, fd, FKT_SETTRYDMA, nowhere);
	expect(EFAULT, fd, FKT_ENABLE, nowhere);
	expect(EFAULT, fd, FKT_DISABLE, nowhere);
	expect(EFAULT, fd, FKT_SETMASK, nowhere);
	expect(EFAULT, fd, FKT_START, nowhere);
	expect(EFAULT, fd, FKT_STATUS, nowhere);
	expect(EFAULT, fd, FKT_VERSION, NULL);
	expect(EFAULT, fd, FKT_START, NULL);
}

static void wrong_values(int fd)
{
	expect_value(fd, FKT_SETINITPOWPAGES, 0, EINVAL);
	expect_value(fd, FKT_SETINITPOWPAGES, FKT_POW_MIN - 1, EINVAL);
	expect_value(fd, FKT_SETINITPOWPAGES, FKT_POW_MAX + 1, EINVAL);
	expect_value(fd, FKT_SETINITPOWPAGES, 0xffffffff, EINVAL);
	expect_value(fd, FKT_SETINITPOWPAGES, FKT_POW_MIN, 0);
	expect_value(fd, FKT_SETINITPOWPAGES, FKT_POW_MAX, 0);
	expect_value(fd, FKT_SETINITPOWPAGES, FKT_POW_DEFAULT, 0);
	expect_value(fd, FKT_SETINITMASK, free_key(), EINVAL);
	expect_value(fd, FKT_SETINITMASK, 0xffffffff, EINVAL);
	expect_value(fd, FKT_SETINITMASK, 0, 0);
	expect_value(fd, FKT_SETINITMASK, FKT_KEY_SYSTEM, 0);
	expect_value(fd, FKT_SETTRYDMA, 2, EINVAL);
	expect_value(fd, FKT_SETTRYDMA, 0xffffffff, EINVAL);
	expect_value(fd, FKT_SETTRYDMA, 1, 0);
	expect_value(fd, FKT_SETTRYDMA, 0, 0);
	expect(0, fd, FKT_FREEBUFFER, NULL);
	expect(0, fd, FKT_FREEBUFFER, NULL);
}

/* Nothing runs. */
static void wrong_moments(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	expect_value(fd, FKT_ENABLE, FKT_KEY_SYSTEM, ENODEV);
	expect_value(fd, FKT_DISABLE, FKT_KEY_SYSTEM, ENODEV);
	expect_value(fd, FKT_SETMASK, FKT_KEY_SYSTEM, ENODEV);
	expect_value(fd, FKT_SETMASK, 0, ENODEV);
	expect_value(fd, FKT_ENABLE, free_key(), EINVAL);
	expect_value(fd, FKT_DISABLE, free_key(), EINVAL);
	expect_value(fd, FKT_SETMASK, free_key(), EINVAL);
	expect(ENODEV, fd, FKT_STOP, NULL);
	holds(poll(&poll_fd, 1, 0) == 0);
}

/* Larger than the module's, as a program of the future has it. */
struct future_start {
	struct fkt_start start;
	uint64_t more;
};

static void wrong_starts(int fd, int out)
{
	struct fkt_start good = { .size = sizeof(good), .out_fd = FKT_NO_OUTPUT }, start;
	struct future_start future = { .start = good };
	int read_only = open("out", O_RDONLY), appends = open("out", O_WRONLY | O_APPEND);
	int directory = open(".", O_RDONLY);
	uint8_t few[8] = { sizeof(few) };

#define wrong(wanted, field, value)                                                                \
	do {                                                                                       \
		start = good;                                                                      \
		start.field = value;                                                               \
		expect_at(__LINE__, "FKT_START " #field "=" #value, wanted,                        \
			  call(fd, FKT_START, &start));                                            \
	} while (0)
	wrong(EINVAL, size, 0);
	wrong(EINVAL, size, sizeof(good) - 1);
	wrong(EINVAL, size, sizeof(good) + 1);
	wrong(EINVAL, size, 0xffffffff);
	wrong(EINVAL, lanes, 2);
	wrong(EINVAL, lanes, 0xffffffff);
	wrong(EINVAL, on_full, 77);
	wrong(EINVAL, flags, 0x80000000);
	wrong(EINVAL, flush_ms, 0xffffffff);
	wrong(EINVAL, limit_bytes, 1);
	wrong(EINVAL, limit_bytes, 4095);
	wrong(EINVAL, out_fd, -2);
	wrong(EINVAL, out_fd, (-2147483647 - 1));
	wrong(EBADF, out_fd, 2147483647);
	wrong(EBADF, out_fd, 999);
	wrong(EBADF, out_fd, read_only);
	wrong(EBADF, out_fd, directory);
	wrong(EINVAL, out_fd, appends);
#undef wrong
	/* A program of the future: what it sets beyond what we know is refused. */
	future.start.size = sizeof(future);
	future.more = 1;
	expect(E2BIG, fd, _IOW(FKT_IOC, 9, struct future_start), &future);
	expect(EINVAL, fd, _IOW(FKT_IOC, 9, uint64_t), few + 1);
	/* One of the past knows at least what the first version had. */
	expect(EINVAL, fd, _IO(FKT_IOC, 9), &good);
	expect(EINVAL, fd, _IOW(FKT_IOC, 9, uint64_t), few);
	holds(get_status(fd).state == FKT_STATE_IDLE);

	future.more = 0;
	future.start.out_fd = out;
	expect(0, fd, _IOW(FKT_IOC, 9, struct future_start), &future);
	expect(0, fd, FKT_STOP, NULL);
	close(read_only);
	close(appends);
	close(directory);
}

static void wrong_status(int fd)
{
	struct fkt_lane_status lanes[LANES_MAX];
	struct fkt_status status = { .size = sizeof(status) };
	struct {
		struct fkt_status status;
		uint64_t more;
	} future = { .status.size = sizeof(future) };

	status.size = 1;
	expect(EINVAL, fd, FKT_STATUS, &status);
	status.size = sizeof(status);
	status.lanes_room = LANES_MAX;
	status.lanes_ptr = (uintptr_t)nowhere;
	expect(EFAULT, fd, FKT_STATUS, &status);
	status.lanes_ptr = (uintptr_t)lanes;
	expect(0, fd, FKT_STATUS, &status);
	holds(status.size == sizeof(status));
	holds(status.lanes >= 1 && status.lanes <= LANES_MAX);
	memset(lanes, 0x55, sizeof(lanes));
	status.lanes_room = 1;
	expect(0, fd, FKT_STATUS, &status);
	holds(lanes[0].lane == 0 && lanes[1].lane == 0x55555555);
	expect(0, fd, _IOWR(FKT_IOC, 11, __typeof__(future)), &future);
	future.more = 1;
	expect(E2BIG, fd, _IOWR(FKT_IOC, 11, __typeof__(future)), &future);
	/* A part of it, for a program that knows no more. */
	memset(&status, 0x55, sizeof(status));
	status.size = STATUS_BYTES_1;
	status.lanes_room = 0;
	expect(0, fd, _IOC(_IOC_READ | _IOC_WRITE, FKT_IOC, 11, STATUS_BYTES_1), &status);
	holds(status.state == FKT_STATE_IDLE);
	holds(sizeof(status) == STATUS_BYTES_1 || status.missed == 0x5555555555555555);
	status.size = STATUS_BYTES_1 - 8;
	expect(EINVAL, fd, _IOC(_IOC_READ | _IOC_WRITE, FKT_IOC, 11, STATUS_BYTES_1 - 8), &status);
}

#define wrong(wanted, good, field, value)                                                          \
	do {                                                                                       \
		probes = good;                                                                     \
		probes.field = value;                                                              \
		expect_at(__LINE__, #good " " #field "=" #value, wanted,                           \
			  call(fd, FKT_ADD_PROBES, &probes));                                      \
	} while (0)

/* FKT_ADD_PROBES: what is wrong in what all kinds have, and in what each has of its own. */
static void wrong_probes(int fd)
{
	struct {
		struct fkt_function_spec spec;
		uint64_t more;
	} future[2] = {};
	struct fkt_function_spec function = { .address = 1,
					      .code = FKT_CODE_DYNAMIC,
					      .keys = FKT_KEY_FUNCTIONS };
	struct {
		struct fkt_functions_common functions;
		struct fkt_fetch fetch[2];
	} common = {};
	struct fkt_tracepoint_spec point = { .name = "fkt_none", .code = FKT_CODE_DYNAMIC };
	struct fkt_kprobe_spec kprobe = { .code = FKT_CODE_DYNAMIC, .ops = 1 };
	struct fkt_fetch fetch[2] = { { .op = FKT_FETCH_STACK_ADDR },
				      { .op = FKT_FETCH_STACK_ADDR } };
	const struct fkt_probes functions = {
		.size = sizeof(functions),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = 1,
		.spec_bytes = sizeof(function),
		.specs_ptr = (uintptr_t)&function,
		.common_ptr = (uintptr_t)&common,
		.common_bytes = sizeof(common.functions),
	};
	const struct fkt_probes fetching_functions = {
		.size = sizeof(fetching_functions),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = 1,
		.spec_bytes = sizeof(function),
		.specs_ptr = (uintptr_t)&function,
		.common_ptr = (uintptr_t)&common,
		.common_bytes = sizeof(common),
	};
	const struct fkt_probes points = {
		.size = sizeof(points),
		.kind = FKT_PROVIDER_TRACEPOINT,
		.count = 1,
		.spec_bytes = sizeof(point),
		.specs_ptr = (uintptr_t)&point,
	};
	const struct fkt_probes fetching = {
		.size = sizeof(fetching),
		.kind = FKT_PROVIDER_TRACEPOINT,
		.count = 1,
		.spec_bytes = sizeof(point),
		.specs_ptr = (uintptr_t)&point,
		.common_ptr = (uintptr_t)fetch,
		.common_bytes = sizeof(fetch),
	};
	const struct fkt_probes kprobes = {
		.size = sizeof(kprobes),
		.kind = FKT_PROVIDER_KPROBE,
		.count = 1,
		.spec_bytes = sizeof(kprobe),
		.specs_ptr = (uintptr_t)&kprobe,
		.common_ptr = (uintptr_t)fetch,
		.common_bytes = sizeof(fetch),
	};
	struct fkt_function_spec *many;
	struct fkt_probes probes;
	int other;

	expect(EFAULT, fd, FKT_ADD_PROBES, nowhere);
	wrong(EINVAL, functions, size, 0);
	wrong(EINVAL, functions, size, sizeof(probes) + 1);
	for (uint32_t kind = 0; kind < FKT_PROVIDER_FUNCTION; kind++)
		wrong(EINVAL, functions, kind, kind);
	wrong(EINVAL, functions, kind, FKT_PROVIDER_MODULE);
	wrong(EINVAL, functions, kind, FKT_PROVIDER_MODULE + 100);
	wrong(EINVAL, functions, kind, 0x80000000);
	wrong(EINVAL, functions, kind, 0xffffffff);
	wrong(EINVAL, functions, count, 0);
	wrong(EINVAL, functions, count, FKT_FUNCTIONS_MAX + 1);
	wrong(EINVAL, functions, count, 0xffffffff);
	wrong(EINVAL, functions, spec_bytes, 0);
	wrong(EINVAL, functions, spec_bytes, sizeof(function) - 1);
	wrong(EINVAL, functions, spec_bytes, 0xffffffff);
	wrong(EFAULT, functions, specs_ptr, (uintptr_t)nowhere);
	wrong(EFAULT, functions, specs_ptr, 0xffffffffffffff00);
	wrong(EFAULT, functions, common_ptr, (uintptr_t)nowhere);
	wrong(EINVAL, functions, common_bytes, sizeof(common.functions) - 1);
	wrong(EINVAL, functions, common_bytes, sizeof(common.functions) + 1);
	wrong(EINVAL, functions, common_bytes, sizeof(common) - 1);
	wrong(EINVAL, functions, common_bytes, 0xffffffff);
	wrong(EINVAL, points, count, FKT_TRACEPOINTS_MAX + 1);
	wrong(EINVAL, points, spec_bytes, sizeof(function));
	wrong(EFAULT, points, specs_ptr, (uintptr_t)nowhere);
	wrong(EFAULT, points, common_bytes, 1);
	wrong(EINVAL, fetching, common_bytes, sizeof(fetch) - 1);
	wrong(EINVAL, fetching, common_bytes, 0xffffffff);
	wrong(EFAULT, fetching, common_ptr, (uintptr_t)nowhere);
	/* A stack, registers that a tracepoint does not have, operations that there are not. */
	point.args = 2;
	point.ops = 1;
	wrong(EINVAL, fetching, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_STACK };
	wrong(EINVAL, fetching, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_ENTRY_REGISTER };
	wrong(EINVAL, fetching, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_REGISTER, .value = 2 };
	wrong(EINVAL, fetching, done, 0);
	fetch[0].value = -1;
	wrong(EINVAL, fetching, done, 0);
	fetch[0].value = 1;
	point.args = FKT_TRACEPOINT_ARGS_MAX + 1;
	wrong(EINVAL, fetching, done, 0);
	point.args = 0;
	wrong(EINVAL, fetching, done, 0);
	point.args = 2;
	point.ops_first = 2;
	wrong(EINVAL, fetching, done, 0);
	point.ops_first = 0xffffffff;
	wrong(EINVAL, fetching, done, 0);
	point.ops_first = 1;
	point.ops = 2;
	wrong(EINVAL, fetching, done, 0);
	point.ops = 0xffff;
	wrong(EINVAL, fetching, done, 0);
	point.ops = 0;
	wrong(EINVAL, fetching, done, 0);
	point.ops_first = 0;
	point.args = 0;
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_STACK_ADDR };
	wrong(EINVAL, kprobes, count, FKT_KPROBES_MAX + 1);
	wrong(EFAULT, kprobes, specs_ptr, (uintptr_t)nowhere);
	wrong(EFAULT, kprobes, common_ptr, (uintptr_t)nowhere);
	wrong(EINVAL, kprobes, common_bytes, 0);
	wrong(EINVAL, kprobes, common_bytes, sizeof(fetch) - 1);
	wrong(EINVAL, kprobes, common_bytes, 0xffffffff);
	kprobe.ops_first = 2;
	wrong(EINVAL, kprobes, done, 0);
	kprobe.ops_first = 0xffffffff;
	wrong(EINVAL, kprobes, done, 0);
	kprobe.ops_first = 1;
	kprobe.ops = 2;
	wrong(EINVAL, kprobes, done, 0);
	holds(probes.done == 0);
	point.key = 32;
	wrong(EINVAL, points, done, 7);
	holds(probes.done == 0);
	point.key = 0;
	function.keys = 0;
	wrong(EINVAL, functions, done, 0);
	function.keys = FKT_KEY_FUNCTIONS;
	function.flags = 0x80;
	wrong(EINVAL, functions, done, 0);
	function.flags = FKT_FUNCTION_ENTRY_ONLY;
	/* What it fetches is among what there is, of its arguments, and in place of them. */
	function.reserved = 1;
	wrong(EINVAL, functions, done, 0);
	function.reserved = 0;
	function.ops_first = 1;
	wrong(EINVAL, fetching_functions, done, 0);
	function.ops = 2;
	wrong(EINVAL, fetching_functions, done, 0);
	function.ops_first = 0xffffffff;
	wrong(EINVAL, fetching_functions, done, 0);
	function.ops_first = 0;
	function.ops = 3;
	wrong(EINVAL, fetching_functions, done, 0);
	function.ops = 0xffff;
	wrong(EINVAL, fetching_functions, done, 0);
	function.ops = 2;
	wrong(EINVAL, functions, done, 0);
	common.fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_REGISTER };
	common.fetch[1] = (struct fkt_fetch){ .op = FKT_FETCH_WORD };
	function.args = 1;
	wrong(EINVAL, fetching_functions, done, 0);
	function.args = 0;
	common.fetch[0].value = FKT_FUNCTION_ARGS_MAX;
	wrong(EINVAL, fetching_functions, done, 0);
	common.fetch[0].value = -1;
	wrong(EINVAL, fetching_functions, done, 0);
	common.fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_STACK };
	wrong(EINVAL, fetching_functions, done, 0);
	common.fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_ENTRY_REGISTER };
	wrong(EINVAL, fetching_functions, done, 0);
	common.fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_LAST_STRING, .size = 1 };
	wrong(EINVAL, fetching_functions, done, 0);
	common.fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_STRING, .size = FKT_FETCH_WORDS_MAX };
	wrong(EINVAL, fetching_functions, done, 0);
	holds(probes.done == 0);
	function.ops = 0;
	future[0].spec = function;
	future[1].spec = function;

	/* A program of the future: what it says beyond what we know is refused, each spec of it. */
	probes = functions;
	probes.count = 2;
	probes.specs_ptr = (uintptr_t)future;
	probes.spec_bytes = sizeof(future[0]);
	future[1].more = 1;
	expect(E2BIG, fd, FKT_ADD_PROBES, &probes);
	future[1].more = 0;
	expect(0, fd, FKT_ADD_PROBES, &probes);
	holds(probes.done == 2);
	/* Now the probes are of this file: nobody else may add, or begin, before it is closed. */
	other = open_device();
	probes = points;
	expect(EBUSY, other, FKT_ADD_PROBES, &probes);
	probes.specs_ptr = (uintptr_t)nowhere;
	expect(EBUSY, other, FKT_ADD_PROBES, &probes);
	holds(probes.done == 0);
	expect_value(other, FKT_SETINITPOWPAGES, FKT_POW_DEFAULT, EBUSY);
	expect_value(other, FKT_SETINITMASK, FKT_KEY_SYSTEM, EBUSY);
	expect(EBUSY, other, FKT_FREEBUFFER, NULL);
	expect_value(fd, FKT_SETINITPOWPAGES, FKT_POW_DEFAULT, 0);
	many = calloc(FKT_FUNCTIONS_MAX, sizeof(*many));
	if (!many)
		err(1, "no memory");
	probes = functions;
	probes.count = FKT_FUNCTIONS_MAX - 1;
	probes.specs_ptr = (uintptr_t)many;
	expect(EINVAL, fd, FKT_ADD_PROBES, &probes);
	free(many);
	wrong(0, points, done, 0);
	holds(probes.done == 1);
	close(fd);
	probes = points;
	expect(0, other, FKT_ADD_PROBES, &probes);
	close(other);
}

/* Samples by a counter: what is none; and there is one of them. */
static void wrong_samples(int fd)
{
	struct fkt_overflow_spec spec = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.period = 100,
	};
	const struct fkt_probes samples = {
		.size = sizeof(samples),
		.kind = FKT_PROVIDER_OVERFLOW,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
	};
	struct fkt_probes probes;

	spec.hz = 1;
	wrong(EINVAL, samples, done, 0);
	spec.period = 0;
	spec.hz = FKT_PROFILE_HZ_MAX + 1;
	wrong(EINVAL, samples, done, 0);
	spec.hz = 0;
	wrong(EINVAL, samples, done, 0);
	spec.period = 1ull << 63;
	wrong(EINVAL, samples, done, 0);
	spec.period = 100;
	spec.type = PERF_TYPE_TRACEPOINT;
	wrong(EINVAL, samples, done, 0);
	spec.type = PERF_TYPE_SOFTWARE;
	spec.config = PERF_COUNT_SW_CPU_CLOCK;
	wrong(EINVAL, samples, done, 0);
	spec.period = FKT_OVERFLOW_NS_MIN;
	wrong(EINVAL, samples, count, 2);
	wrong(0, samples, done, 0);
	wrong(EINVAL, samples, done, 0);
	close(fd);
}

static uint64_t address_of(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char symbol[256];

	while (file && fscanf(file, "%llx %*c %255s%*[^\n]", &address, symbol) == 2) {
		if (strcmp(symbol, name))
			continue;
		fclose(file);
		return address;
	}
	errx(1, "/proc/kallsyms: no %s", name);
}

/* Which addresses can be hooked: those of functions, but not of all, and not what is within. */
static void which_hookable(int fd)
{
	uint64_t function = address_of("vfs_read");
	uint64_t addresses[] = { function,
				 function + 1,
				 function + 16,
				 0,
				 1,
				 UINT64_MAX,
				 address_of("preempt_schedule_notrace"),
				 function };
	const struct fkt_hookable right = {
		.size = sizeof(right),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = sizeof(addresses) / sizeof(addresses[0]),
		.addresses_ptr = (uintptr_t)addresses,
	};
	struct fkt_hookable hookable = right;

	expect(EFAULT, fd, FKT_HOOKABLE, nowhere);
	hookable.size--;
	expect(EINVAL, fd, FKT_HOOKABLE, &hookable);
	hookable = right;
	hookable.kind = FKT_PROVIDER_KPROBE;
	expect(EINVAL, fd, FKT_HOOKABLE, &hookable);
	hookable.kind = UINT32_MAX;
	expect(EINVAL, fd, FKT_HOOKABLE, &hookable);
	hookable = right;
	hookable.count = 0;
	expect(EINVAL, fd, FKT_HOOKABLE, &hookable);
	hookable.count = FKT_HOOKABLE_MAX + 1;
	expect(EINVAL, fd, FKT_HOOKABLE, &hookable);
	hookable = right;
	hookable.reserved = 1;
	expect(EINVAL, fd, FKT_HOOKABLE, &hookable);
	hookable = right;
	hookable.addresses_ptr = (uintptr_t)nowhere;
	expect(EFAULT, fd, FKT_HOOKABLE, &hookable);
	holds(addresses[0] == function && addresses[4] == 1);
	hookable = right;
	expect(0, fd, FKT_HOOKABLE, &hookable);
	holds(addresses[0] == function && addresses[7] == function);
	for (size_t i = 1; i < 7; i++)
		holds(addresses[i] == 0);
	close(fd);
}

/* What a trigger's conditions fetch: one word, of what is there, and of registers that it has. */
static void wrong_triggers(int fd)
{
	struct fkt_trigger_spec trigger = { .kind = FKT_TRIGGER_TRACEPOINT,
					    .conditions = 1,
					    .name = "sched_process_exec" };
	struct fkt_trigger_condition *condition = &trigger.condition[0];
	struct fkt_fetch fetch[2] = { { .op = FKT_FETCH_REGISTER }, { .op = FKT_FETCH_WORD } };
	const struct fkt_probes triggers = {
		.size = sizeof(triggers),
		.kind = FKT_PROVIDER_TRIGGER,
		.count = 1,
		.spec_bytes = sizeof(trigger),
		.specs_ptr = (uintptr_t)&trigger,
		.common_ptr = (uintptr_t)fetch,
		.common_bytes = sizeof(fetch),
	};
	struct fkt_probes probes;

	*condition =
		(struct fkt_trigger_condition){ .op = FKT_TRIGGER_EQUAL, .bytes = 8, .ops = 2 };
	wrong(EINVAL, triggers, common_bytes, 0);
	wrong(EINVAL, triggers, common_bytes, sizeof(fetch) - 1);
	wrong(EINVAL, triggers, common_bytes, sizeof(fetch[0]));
	wrong(EINVAL, triggers, common_bytes, 0xffffffff);
	wrong(EFAULT, triggers, common_ptr, (uintptr_t)nowhere);
	condition->ops_first = 1;
	wrong(EINVAL, triggers, done, 0);
	condition->ops_first = 0xffff;
	wrong(EINVAL, triggers, done, 0);
	condition->ops_first = 0;
	condition->ops = 0xffff;
	wrong(EINVAL, triggers, done, 0);
	condition->ops = 1;
	wrong(EINVAL, triggers, done, 0);
	condition->ops = 2;
	fetch[0].value = FKT_TRACEPOINT_ARGS_MAX;
	wrong(EINVAL, triggers, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_STACK };
	wrong(EINVAL, triggers, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_WORD };
	wrong(EINVAL, triggers, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_STRING, .size = FKT_FETCH_WORDS_MAX };
	wrong(EINVAL, triggers, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_COMM };
	wrong(EINVAL, triggers, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_ENTRY_REGISTER };
	wrong(EINVAL, triggers, done, 0);
	fetch[0] = (struct fkt_fetch){ .op = FKT_FETCH_REGISTER };
	fetch[1] = (struct fkt_fetch){ .op = FKT_FETCH_LAST_STRING, .size = 1 };
	wrong(EINVAL, triggers, done, 0);
	/* Of a return there is the result alone. */
	fetch[1] = (struct fkt_fetch){ .op = FKT_FETCH_WORD };
	trigger.kind = FKT_TRIGGER_RETURN;
	memset(trigger.name, 0, sizeof(trigger.name));
	fetch[0].value = 1;
	wrong(EINVAL, triggers, done, 0);
	holds(probes.done == 0);
}

#undef wrong

static void while_it_runs(int fd, int out)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = out };
	struct pollfd poll_fd = { .fd = fd };
	int other = open_device();

	expect(0, fd, FKT_START, &start);
	holds(get_status(other).state == FKT_STATE_RECORDING);
	holds(get_status(other).mask == (uint32_t)(FKT_KEY_SYSTEM | FKT_KEY_PROCESS));
	expect(EBUSY, fd, FKT_START, &start);
	expect(EBUSY, other, FKT_START, &start);
	expect_value(fd, FKT_SETINITPOWPAGES, 9, EBUSY);
	expect_value(other, FKT_SETINITPOWPAGES, 9, EBUSY);
	expect_value(other, FKT_SETINITPOWPAGES, 99, EINVAL);
	expect_value(fd, FKT_SETINITMASK, 1, EBUSY);
	expect_value(fd, FKT_SETTRYDMA, 1, EBUSY);
	expect(EBUSY, fd, FKT_FREEBUFFER, NULL);
	expect(EPERM, other, FKT_STOP, NULL);
	expect(0, other, FKT_WAITREADY, NULL);

	/* Anybody who may open the device may change the mask. */
	expect_value(other, FKT_DISABLE, free_key(), EINVAL);
	expect_value(other, FKT_ENABLE, free_key(), EINVAL);
	expect_value(other, FKT_SETMASK, free_key() | 1, EINVAL);
	expect_value(other, FKT_DISABLE, FKT_KEY_SYSTEM, 0);
	holds(get_status(fd).mask == 0);
	expect_value(other, FKT_ENABLE, FKT_KEY_SYSTEM, 0);
	holds(get_status(fd).mask == (uint32_t)(FKT_KEY_SYSTEM | FKT_KEY_PROCESS));
	expect_value(other, FKT_SETMASK, FKT_KEY_PROCESS, 0);
	holds(get_status(fd).mask == (uint32_t)FKT_KEY_PROCESS);
	expect_value(other, FKT_SETMASK, 0, 0);
	holds(get_status(fd).mask == 0);

	holds(poll(&poll_fd, 1, 0) == 0);
	close(other);
	holds(get_status(fd).state == FKT_STATE_RECORDING);
	expect(0, fd, FKT_STOP, NULL);
	holds(poll(&poll_fd, 1, 0) == 1 && poll_fd.revents == POLLHUP);
	expect(0, fd, FKT_STOP, NULL);
	holds(get_status(fd).state == FKT_STATE_IDLE);
	expect_value(fd, FKT_ENABLE, 1, ENODEV);
	expect(0, fd, FKT_START, &start);
	close(fd);
	fd = open_device();
	wait_idle(fd);
	close(fd);
}

/* A recording that has ended stays so, whatever somebody else begins, or cannot begin. */
static void ended(int out)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = out };
	struct fkt_start large = { .size = sizeof(large), .out_fd = FKT_NO_OUTPUT };
	int fd = open_device(), other = open_device(), fds[2];
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	if (pipe(fds))
		err(1, "pipe");
	expect(0, fd, FKT_START, &start);
	expect(0, fd, FKT_STOP, NULL);
	expect_value(other, FKT_SETINITPOWPAGES, FKT_POW_MAX, 0);
	expect(ENOMEM, other, FKT_START, &large);
	usleep(1500000); /* a mark would be due */
	holds(splice(fd, NULL, fds[1], NULL, 65536, SPLICE_F_NONBLOCK) == 0);
	holds(poll(&poll_fd, 1, 0) == 1 && poll_fd.revents == POLLHUP);
	expect(0, other, FKT_FREEBUFFER, NULL);
	holds(splice(fd, NULL, fds[1], NULL, 65536, SPLICE_F_NONBLOCK) == 0);
	expect_value(other, FKT_SETINITPOWPAGES, FKT_POW_DEFAULT, 0);
	expect(0, other, FKT_START, &start);
	holds(splice(fd, NULL, fds[1], NULL, 65536, SPLICE_F_NONBLOCK) == 0);
	expect(0, other, FKT_STOP, NULL);
	close(fd);
	close(other);
	close(fds[0]);
	close(fds[1]);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void waiting(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT };
	int fd = open_device(), status;
	pid_t pid;

	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	expect(EINTR, fd, FKT_WAITREADY, NULL);
	pid = fork();
	if (!pid)
		_exit(call(fd, FKT_WAITREADY, NULL));
	usleep(200000);
	holds(waitpid(pid, &status, WNOHANG) == 0);
	expect(0, fd, FKT_START, &start);
	holds(waitpid(pid, &status, 0) == pid && status == 0);
	close(fd);
}

static void no_rights(void)
{
	int status, fd = open_device();
	pid_t pid = fork();

	if (!pid) {
		/*
		 * The device's file may be anybody's by mistake: the right is asked for all the
		 * same.
		 */
		if (setgid(65534) || setuid(65534))
			_exit(99);
		_exit(open(FKT_DEVICE, O_RDWR) < 0 ? errno : 0);
	}
	holds(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == EACCES);
	chmod(FKT_DEVICE, 0666);
	pid = fork();
	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(99);
		_exit(open(FKT_DEVICE, O_RDWR) < 0 ? errno : 0);
	}
	holds(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == EPERM);
	chmod(FKT_DEVICE, 0600);
	close(fd);
}

static int wrong(void)
{
	int fd = open_device(), out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600);

	wrong_requests(fd);
	wrong_values(fd);
	wrong_moments(fd);
	wrong_starts(fd, out);
	wrong_status(fd);
	wrong_probes(open_device());
	wrong_samples(open_device());
	which_hookable(open_device());
	wrong_triggers(open_device());
	while_it_runs(open_device(), out);
	ended(out);
	close(fd);
	waiting();
	no_rights();
	return failures ? 1 : 0;
}

/* ---- hammer ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* It has to begin so many recordings; on a slow machine it goes on for that to the last moment. */
#define HAMMER_STARTS 4
static double hammer_end, hammer_last;
static unsigned long done[256], refused[256];

static uint32_t random_value(unsigned int *seed)
{
	static const uint32_t values[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 0x80000000, 0x80000001, 0xffffffff, 0x7fffffff
	};
	uint32_t r = (uint32_t)rand_r(seed);

	return r % 4 ? values[r / 4 % (sizeof(values) / sizeof(values[0]))] : r;
}

static void random_start(struct fkt_start *start, int out, unsigned int *seed)
{
	memset(start, 0, sizeof(*start));
	start->size = sizeof(*start);
	start->out_fd = rand_r(seed) % 3 ? out : FKT_NO_OUTPUT;
	start->limit_bytes = rand_r(seed) % 2 ? 0 : (unsigned int)rand_r(seed) % (1 << 20);
	start->lanes = (unsigned int)rand_r(seed) % 2;
	start->on_full = (unsigned int)rand_r(seed) % 2;
	start->flags = (unsigned int)rand_r(seed) % 2;
	start->flush_ms = rand_r(seed) % 2 ? 0 : 1 + (unsigned int)rand_r(seed) % 50;
	/* Now and then a byte of nonsense. */
	if (rand_r(seed) % 4 == 0)
		((uint8_t *)start)[(unsigned int)rand_r(seed) % sizeof(*start)] =
			(uint8_t)rand_r(seed);
}

static void *hammer_thread(void *arg)
{
	unsigned int seed = 1 + (unsigned int)(uintptr_t)arg;
	struct fkt_lane_status lanes[LANES_MAX];
	struct fkt_status status;
	struct fkt_start start;
	int fd = open_device(), null = open("/dev/null", O_WRONLY), fds[2];
	char name[32];
	uint32_t value;
	int out, ret;

	snprintf(name, sizeof(name), "hammer.%u", seed);
	out = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (pipe(fds))
		err(1, "pipe");
	while (now() < hammer_end ||
	       (now() < hammer_last &&
		__atomic_load_n(&done[9], __ATOMIC_RELAXED) < HAMMER_STARTS)) {
		unsigned int nr = (unsigned int)rand_r(&seed) % 16;

		value = random_value(&seed);
		switch (nr) {
		case 1: /* not so large that all memory goes */
			value = value % 16 > 8 ? value | 0x20 : value % 16;
			ret = ioctl(fd, FKT_SETINITPOWPAGES, &value);
			break;
		case 5: /* it may wait for long */
			ret = get_status(fd).state == FKT_STATE_RECORDING ? 0 : -1;
			break;
		case 9:
			random_start(&start, out, &seed);
			ret = ioctl(fd, FKT_START, &start);
			break;
		case 11:
			memset(&status, 0, sizeof(status));
			status.size = sizeof(status);
			status.lanes_room = value % (LANES_MAX + 1);
			status.lanes_ptr = rand_r(&seed) % 8 ? (uintptr_t)lanes : (uintptr_t)value;
			ret = ioctl(fd, FKT_STATUS, &status);
			break;
		case 12:
			ret = (int)splice(fd, NULL, fds[1], NULL, 1 << 16, SPLICE_F_NONBLOCK);
			if (ret > 0)
				splice(fds[0], NULL, null, NULL, 1 << 20, SPLICE_F_NONBLOCK);
			break;
		case 13:
			close(fd);
			fd = open_device();
			ret = 0;
			break;
		case 14:
			value = (uint32_t)rand_r(&seed);
			ret = ioctl(fd,
				    _IOC(value % 4, FKT_IOC, value / 4 % 256, value / 1024 % 8192),
				    nowhere);
			break;
		case 15:
			for (int i = 0; i < 2000; i++)
				syscall(SYS_getppid);
			ret = 0;
			break;
		default:
			ret = ioctl(fd,
				    _IOC(nr == 4 || nr == 10 ? 0
					 : nr == 0	     ? _IOC_READ
							     : _IOC_WRITE,
					 FKT_IOC, nr, nr == 4 || nr == 10 ? 0 : 4),
				    &value);
		}
		__atomic_add_fetch(ret < 0 ? &refused[nr] : &done[nr], 1, __ATOMIC_RELAXED);
	}
	close(fd);
	close(out);
	return NULL;
}

static int hammer(unsigned long seconds)
{
	pthread_t thread[THREADS];
	uint32_t pow = FKT_POW_DEFAULT, mask = FKT_KEY_SYSTEM, zero = 0;
	int fd;

	hammer_end = now() + (double)seconds;
	hammer_last = hammer_end + 3 * (double)seconds;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, hammer_thread, (void *)i))
			errx(1, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 16; i++)
		printf("%2d: %lu done, %lu refused\n", i, done[i], refused[i]);
	fd = open_device();
	wait_idle(fd);
	expect(0, fd, FKT_FREEBUFFER, NULL);
	expect(0, fd, FKT_SETINITPOWPAGES, &pow);
	expect(0, fd, FKT_SETINITMASK, &mask);
	expect(0, fd, FKT_SETTRYDMA, &zero);
	holds(done[9] >= HAMMER_STARTS);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	setlinebuf(stdout);
	if (argc == 2 && !strcmp(argv[1], "wrong"))
		return wrong();
	if (argc == 3 && !strcmp(argv[1], "hammer"))
		return hammer(strtoul(argv[2], NULL, 10));
	errx(2, "usage: ioctl wrong | ioctl hammer SECONDS");
}

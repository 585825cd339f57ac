// SPDX-License-Identifier: GPL-2.0-only
/*
 * fetch_ops SEED [functions]: random operations of probes at an address, or of functions, right
 * ones and wrong ones: those that fkt/ioctl.h allows are taken, the others are refused with EINVAL;
 * and what was taken is executed.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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

#define ROUNDS	  4
#define SPECS	  400
#define OPS	  24
#define CALLS	  20
#define REGISTERS 21 /* of struct pt_regs */

static unsigned int seed;
/* Operations are of functions, which have arguments, and neither registers nor a stack. */
static bool functions;

/* What is called, by the number of the call: an address; or functions, each of which is one's. */
static const struct {
	const char *name;
	long number;
} calls[] = {
	{ "__x64_sys_getppid", SYS_getppid }, { "__x64_sys_getpid", SYS_getpid },
	{ "__x64_sys_gettid", SYS_gettid },   { "__x64_sys_getuid", SYS_getuid },
	{ "__x64_sys_geteuid", SYS_geteuid }, { "__x64_sys_getgid", SYS_getgid },
	{ "__x64_sys_getegid", SYS_getegid }, { "__x64_sys_getpgrp", SYS_getpgrp },
};

#define FUNCTIONS (sizeof(calls) / sizeof(calls[0]))

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)rand_r(&seed) % n;
}

static uint64_t find_address(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], symbol[512];
	uint64_t address;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %*c %511s", &address, symbol) == 2 &&
		    !strcmp(symbol, name)) {
			fclose(file);
			return address;
		}
	}
	errx(1, "there is no %s", name);
}

static uint64_t address[FUNCTIONS];

/* Of words: those that an operation records; -1: it is not allowed. */
static int words_of(const struct fkt_fetch *op, bool returns, bool last)
{
	const bool plain = !op->size && !op->value;

	if (functions && op->op == FKT_FETCH_REGISTER)
		return !op->size && op->value >= 0 && op->value < FKT_FUNCTION_ARGS_MAX ? 0 : -1;
	if (functions && (op->op == FKT_FETCH_STACK || op->op == FKT_FETCH_STACK_ADDR))
		return -1;
	switch (op->op) {
	case FKT_FETCH_ENTRY_REGISTER:
		if (!returns)
			return -1;
		/* fall through */
	case FKT_FETCH_REGISTER:
		return !op->size && op->value >= 0 && op->value < REGISTERS ? 0 : -1;
	case FKT_FETCH_ENTRY_STACK:
		if (!returns)
			return -1;
		/* fall through */
	case FKT_FETCH_STACK:
		return !op->size && op->value >= 0 && op->value < 2048 ? 0 : -1;
	case FKT_FETCH_STACK_ADDR:
		return plain ? 0 : -1;
	case FKT_FETCH_VALUE:
		return op->size ? -1 : 0;
	case FKT_FETCH_READ:
	case FKT_FETCH_READ_USER:
		return op->size == 1 || op->size == 2 || op->size == 4 || op->size == 8 ? 0 : -1;
	case FKT_FETCH_WORD:
		return plain ? 1 : -1;
	case FKT_FETCH_LAST_STRING:
	case FKT_FETCH_LAST_STRING_USER:
		if (!last)
			return -1;
		/* fall through */
	case FKT_FETCH_STRING:
	case FKT_FETCH_STRING_USER:
		return op->size && op->size <= FKT_FETCH_WORDS_MAX ? (int)op->size : -1;
	case FKT_FETCH_COMM:
		return plain ? 2 : -1;
	case FKT_FETCH_BITS:
		return op->size && op->size <= 64 && op->value >= 0 && op->value < 64 &&
				       op->size + op->value <= 64
			       ? 0
			       : -1;
	case FKT_FETCH_BYTES:
	case FKT_FETCH_BYTES_USER:
		return op->size && op->size <= 8 * FKT_FETCH_WORDS_MAX ? (int)(op->size + 7) / 8
								       : -1;
	}
	return -1;
}

static bool allowed(const struct fkt_fetch *op, uint32_t ops, bool returns)
{
	int64_t kept[FKT_FETCH_WORDS_MAX];
	int words = 0, one;
	uint32_t count = 0, k;

	for (uint32_t i = 0; i < ops; i++) {
		one = words_of(&op[i], returns, i == ops - 1);
		words += one;
		if (one < 0 || words > FKT_FETCH_WORDS_MAX)
			return false;
		if (op[i].op != FKT_FETCH_ENTRY_REGISTER && op[i].op != FKT_FETCH_ENTRY_STACK)
			continue;
		/* Which ones: registers by their numbers, words behind them. */
		int64_t which = op[i].value + (op[i].op == FKT_FETCH_ENTRY_STACK ? REGISTERS : 0);

		for (k = 0; k < count && kept[k] != which; k++)
			;
		if (k == FKT_FETCH_WORDS_MAX)
			return false;
		if (k == count)
			kept[count++] = which;
	}
	return true;
}

static struct fkt_fetch random_op(void)
{
	static const int64_t values[] = { 0,	1,    7,   8,	      20,	21,
					  63,	64,   -1,  -4096,     0x100000, INT64_MAX,
					  2047, 8192, 512, INT64_MIN, 1ll << 32 };
	static const uint32_t sizes[] = { 0,  1,  2,  3,   4,	8,   13,       14,	  15,
					  63, 64, 65, 111, 112, 113, 1u << 31, UINT32_MAX };
	struct fkt_fetch op;

	/* Mostly right ones: with a wrong one among them, a probe is refused. */
	do {
		op.op = random_below(FKT_FETCH_ENTRY_STACK + 2);
		op.size = random_below(3) ? sizes[random_below(sizeof(sizes) / sizeof(sizes[0]))]
					  : 0;
		op.value = random_below(3)
				   ? values[random_below(sizeof(values) / sizeof(values[0]))]
				   : 0;
	} while (words_of(&op, !functions && random_below(8), false) < 0 && random_below(200));
	return op;
}

/* Operations of a probe, with what is before them for functions. */
struct program {
	struct fkt_functions_common common;
	struct fkt_fetch op[OPS];
};

/* Return: 0, or what was wrong. */
static int add_address(int fd, const struct program *program, uint32_t number, uint16_t ops,
		       bool returns)
{
	const struct fkt_kprobe_spec spec = {
		.address = address[0],
		.code = FKT_CODE_DYNAMIC + number,
		.key = (uint8_t)__builtin_ctz(FKT_KEY_ADDRESSES),
		.flags = returns ? FKT_KPROBE_RETURN : 0,
		.ops = ops,
	};
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_KPROBE,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
		.common_ptr = (uintptr_t)program->op,
		.common_bytes = sizeof(program->op),
	};

	return ioctl(fd, FKT_ADD_PROBES, &probes) ? errno : 0;
}

/* The same; of those of one function, the first one is hooked. */
static int add_function(int fd, const struct program *program, uint32_t number, uint16_t ops)
{
	const struct fkt_function_spec spec = {
		.address = address[number % FUNCTIONS],
		.code = FKT_CODE_DYNAMIC + 2 * number,
		.keys = FKT_KEY_FUNCTIONS,
		.ret_bytes = 8,
		.ops = ops,
	};
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_FUNCTION,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
		.common_ptr = (uintptr_t)program,
		.common_bytes = sizeof(*program),
	};

	return ioctl(fd, FKT_ADD_PROBES, &probes) ? errno : 0;
}

/* Return: how many were taken. */
static uint32_t add_probes(int fd)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < SPECS; i++) {
		struct program program = { .common.text_reused = 0 };
		const bool returns = !functions && random_below(2);
		const uint16_t ops = (uint16_t)(1 + random_below(OPS));
		int wanted, got;

		for (uint32_t n = 0; n < OPS; n++)
			program.op[n] = random_op();
		wanted = allowed(program.op, ops, returns) ? 0 : EINVAL;
		got = functions ? add_function(fd, &program, taken, ops)
				: add_address(fd, &program, taken, ops, returns);
		if (got != wanted) {
			for (uint32_t n = 0; n < ops; n++)
				printf("  %" PRIu32 " %" PRIu32 " %" PRId64 "\n", program.op[n].op,
				       program.op[n].size, (int64_t)program.op[n].value);
			errx(1, "FAILED: %s: %s, not %s", returns ? "return" : "entry",
			     strerrorname_np(got), strerrorname_np(wanted));
		}
		taken += !got;
	}
	return taken;
}

int main(int argc, char **argv)
{
	struct fkt_status status = { .size = sizeof(status) };
	uint32_t key, taken, recorded;
	uint64_t events;
	int out = open("out", O_RDWR | O_CREAT | O_TRUNC, 0600), fd;
	struct fkt_start start = { .size = sizeof(start), .out_fd = out };

	functions = argc == 3 && !strcmp(argv[2], "functions");
	if (argc != 2 && !functions)
		errx(2, "usage: fetch_ops SEED [functions]");
	seed = (unsigned int)strtoul(argv[1], NULL, 0);
	key = functions ? FKT_KEY_FUNCTIONS : FKT_KEY_ADDRESSES;
	for (size_t i = 0; i < FUNCTIONS; i++)
		address[i] = find_address(calls[i].name);
	for (int round = 0; round < ROUNDS; round++) {
		fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			err(1, FKT_DEVICE);
		taken = add_probes(fd);
		if (ioctl(fd, FKT_START, &start) || ioctl(fd, FKT_ENABLE, &key))
			err(1, "FKT_START");
		for (size_t i = 0; i < CALLS * FUNCTIONS; i++)
			syscall(calls[i % FUNCTIONS].number);
		if (ioctl(fd, FKT_STOP, NULL) || ioctl(fd, FKT_STATUS, &status))
			err(1, "FKT_STOP");
		events = status.events;
		printf("%u of %u taken, %" PRIu64 " events, %" PRIu64 " missed\n", taken, SPECS,
		       events, (uint64_t)status.missed);
		if (taken < SPECS / 8 || taken > SPECS * 7 / 8)
			errx(1, "FAILED: that is no test");
		/* Of each function that is hooked, in and out. */
		recorded = functions ? 2 * FUNCTIONS : taken;
		if (events + status.missed < (uint64_t)recorded * CALLS)
			errx(1, "FAILED: %u were expected", recorded * CALLS);
		close(fd);
	}
	return 0;
}

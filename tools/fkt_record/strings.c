// SPDX-License-Identifier: GPL-2.0-or-later
/* --strings: the memory that system calls are given, and that they write. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <fkt/calls.h>
#include <fkt/format.h>

#include "common/permission.h"
#include "arch.h"
#include "btf.h"
#include "record.h"

/* As many bytes of a string as strace shows, of a path as there may be, of an address or option. */
#define STRING_BYTES 32
#define PATH_BYTES   (PATH_MAX - 1)
#define OPTION_BYTES 128

enum {
	OPTION_STRINGS = 0x500,
};

/* What the command line says. */
static bool wanted;
static uint16_t string_bytes = STRING_BYTES;

/* What the module is told. */
static struct {
	struct fkt_data_spec *spec;
	uint32_t count;
} strings;

static const struct {
	const char *name;
	const char *args;
	const char *result;
} calls[] = {
#define X(name, args, result) { name, args, result },
	FKT_CALLS(X)
#undef X
};

static const struct {
	const char *word;
	uint8_t read;
	uint16_t bytes;
} kinds[] = {
#define X(NAME, word, read, bytes) { word, FKT_DATA_##read, bytes },
	FKT_ARG_KINDS(X)
#undef X
};

bool strings_any(void)
{
	return wanted;
}

/* How much is wanted of what is as long as somebody says. */
static uint16_t limit_of(enum fkt_arg_kind kind)
{
	switch (kind) {
	case FKT_ARG_PATH:
	case FKT_ARG_RCWD:
		return PATH_BYTES;
	case FKT_ARG_ADDR:
	case FKT_ARG_RADDR:
	case FKT_ARG_OPT:
	case FKT_ARG_ROPT:
		return OPTION_BYTES;
	default:
		return string_bytes;
	}
}

static void add_spec(const struct fkt_data_spec *spec)
{
	strings.spec = reallocarray(strings.spec, strings.count + 1, sizeof(*strings.spec));
	if (!strings.spec)
		err(EXIT_FAILURE, "no memory for --strings");
	strings.spec[strings.count++] = *spec;
}

static void add(const struct arch_syscall *call, uint8_t arg, enum fkt_arg_kind kind)
{
	const uint16_t limit = kinds[kind].bytes ?: limit_of(kind);

	if (kinds[kind].read == FKT_DATA_NONE)
		return;
	/* Structures of 32-bit programs are others. */
	if (call->compat &&
	    (kinds[kind].bytes > sizeof(uint32_t) || kinds[kind].read == FKT_DATA_VECTOR_IN ||
	     kinds[kind].read == FKT_DATA_VECTOR_OUT))
		return;
	add_spec(&(struct fkt_data_spec){ call->code, arg, kinds[kind].read, limit });
}

/* The arguments of a call, of which there is a word each in the table; and its result. */
static void add_call(const struct arch_syscall *call, const char *args, const char *result)
{
	size_t bytes;

	/* Of fcntl(), some are. */
	if (!strcmp(result, "fd") || strstr(args, "fcntlarg"))
		add_spec(&(struct fkt_data_spec){ call->code, FKT_DATA_RESULT, FKT_DATA_FD, 0 });

	for (uint8_t arg = 0; *args; arg++, args += bytes) {
		args += *args == ' ';
		bytes = strcspn(args, " ");
		for (unsigned int i = 0; i < FKT_ARG_FLAGS; i++)
			if (strlen(kinds[i].word) == bytes && !memcmp(kinds[i].word, args, bytes))
				add(call, arg, i);
	}
}

/* Where the kernel says where things are, the module can tell files' paths. */
static bool find_mount(struct fkt_data_common *mount)
{
	return btf_member("mount", "mnt", &mount->mnt) &&
	       btf_member("mount", "mnt_parent", &mount->parent) &&
	       btf_member("mount", "mnt_mountpoint", &mount->mountpoint);
}

static int set(struct recording *recording)
{
	struct fkt_data_common mount = { 0 };
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_DATA,
		.spec_bytes = sizeof(struct fkt_data_spec),
	};

	if (!wanted)
		return 0;
	for (const struct arch_syscall *call = arch.syscalls; call->name; call++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			if (!strcmp(calls[i].name, call->name))
				add_call(call, calls[i].args, calls[i].result);
	if (find_mount(&mount)) {
		probes.common_ptr = (uintptr_t)&mount;
		probes.common_bytes = sizeof(mount);
	} else {
		warnx("--strings: the kernel has no type information (BTF), so there are no paths of "
		      "files that are open");
	}
	probes.count = strings.count;
	probes.specs_ptr = (uintptr_t)strings.spec;
	if (!strings.count || !ioctl(recording->device, FKT_ADD_PROBES, &probes))
		return 0;
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM)
		permission_warn("the memory of programs is");
	else
		warn("--strings");
	return -1;
}

static void find(struct recording *recording)
{
	if (wanted && !(recording->options.mask & FKT_KEY_SYSTEM))
		warnx("--strings: system calls are recorded with -k system alone");
}

static const struct argp_option options[] = {
	{ "strings", OPTION_STRINGS, "N", OPTION_ARG_OPTIONAL,
	  "Record what the arguments of system calls point to as well: paths, command lines, socket "
	  "addresses, and the first N bytes of buffers (32 by default); see fkt_print --strace",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *all = state->input;
	unsigned long number;
	char *end;

	if (key != OPTION_STRINGS)
		return ARGP_ERR_UNKNOWN;
	if (arg) {
		errno = 0;
		number = strtoul(arg, &end, 10);
		if (!*arg || *end || *arg == '-' || errno || number > FKT_DATA_LIMIT_MAX)
			argp_error(state, "--strings=%s: a number of bytes from 0 to %u", arg,
				   FKT_DATA_LIMIT_MAX);
		string_bytes = (uint16_t)number;
	}
	wanted = true;
	all->args = true;
	return 0;
}

const struct probe_kind kind_strings = {
	.argp = { .options = options, .parser = parse },
	.find = find,
	.set = set,
};

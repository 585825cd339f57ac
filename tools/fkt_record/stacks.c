// SPDX-License-Identifier: GPL-2.0-or-later
/* --stack, --user-stack: events that are recorded with the kernel's stack, and the program's. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "arch.h"
#include "common/keys.h"
#include "record.h"

#define NAME_BYTES 512
#define LINE_BYTES 2048

enum {
	OPTION_STACK = 0x400,
	OPTION_USER_STACK,
};

/* The two options. */
static struct stack_option {
	const char *name;
	uint32_t of;
	char **texts; /* what the command line says; NULL after the last one */
} kernel = { "--stack", FKT_STACKS_KERNEL, NULL }, user = { "--user-stack", FKT_STACKS_USER, NULL },
  *option; /* which is looked at */

/* What the module is told. */
static struct {
	struct fkt_stack_spec *spec;
	uint32_t count;
} stacks;

bool stacks_any(void)
{
	return kernel.texts || user.texts || profile_any();
}

bool stacks_user(void)
{
	return user.texts || profile_any();
}

static void add_of(uint32_t code, uint32_t of)
{
	struct fkt_stack_spec *last = stacks.count ? &stacks.spec[stacks.count - 1] : NULL;

	if (last && last->code + last->count == code && last->of == of) {
		last->count++;
		return;
	}
	stacks.spec = reallocarray(stacks.spec, stacks.count + 1, sizeof(*stacks.spec));
	if (!stacks.spec)
		err(EXIT_FAILURE, "no memory for stacks");
	stacks.spec[stacks.count++] = (struct fkt_stack_spec){ .code = code, .count = 1, .of = of };
}

static void add(uint32_t code)
{
	add_of(code, option->of);
}

static bool is_like(const char *pattern, const char *name)
{
	return !fnmatch(pattern, name, 0);
}

/* Copy a line, as far as there is room; sscanf() would look for the end of them all. The next. */
static const char *take_line(const char *from, const char *end, char line[LINE_BYTES])
{
	const char *next = memchr(from, '\n', (size_t)(end - from));
	size_t bytes = (size_t)((next ?: end) - from);

	if (bytes >= LINE_BYTES)
		bytes = LINE_BYTES - 1;
	memcpy(line, from, bytes);
	line[bytes] = '\0';
	return next ? next + 1 : end;
}

/* One of the layers, "files,functions". */
static bool is_in_layer(const char *pattern, char *layers)
{
	char *rest;

	for (char *layer = strtok_r(layers, ",", &rest); layer; layer = strtok_r(NULL, ",", &rest))
		if (is_like(pattern, layer))
			return true;
	return false;
}

/* Of a call, nothing is written when it begins. */
static void refuse_longer(const char *pattern, bool call)
{
	if (call && longer_any())
		errx(EXIT_FAILURE,
		     "%s %s: calls have no stack with --longer-than, which writes nothing when they "
		     "begin; other events have",
		     option->name, pattern);
}

/* Those of the process layer that say who called. */
static bool add_built_in(const char *pattern)
{
	static const struct {
		const char *name, *other;
		uint32_t code;
	} events[] = {
		{ "switch_to", "switch", FKT_CODE_SWITCH },
		{ "wakeup", "wakeup", FKT_CODE_WAKEUP },
		{ "wakeup_new", "wakeup_new", FKT_CODE_WAKEUP_NEW },
	};
	bool any = false;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (!is_like(pattern, events[i].name) && !is_like(pattern, events[i].other))
			continue;
		add(events[i].code);
		any = true;
	}
	return any;
}

/* System calls as they are called in the listing: sys_read, ia32_sys_read. */
static bool add_syscalls(const char *pattern)
{
	struct sections lines = { 0 };
	char line[LINE_BYTES], abi[16], name[NAME_BYTES], full[NAME_BYTES + 16];
	const char *at, *end;
	uint32_t number;
	bool any = false, compat;

	arch.add_syscalls(&lines);
	at = lines.data;
	end = at + lines.bytes;
	while (at < end) {
		at = take_line(at, end, line);

		if (sscanf(line, "%15s %" SCNu32 " %511s", abi, &number, name) != 3 ||
		    number >= FKT_CODE_SYSCALL_EXIT - FKT_CODE_SYSCALL_ENTRY)
			continue;
		compat = !strcmp(abi, "i386");
		snprintf(full, sizeof(full), "%ssys_%s", compat ? "ia32_" : "", name);
		if (!is_like(pattern, full))
			continue;
		add((compat ? FKT_CODE_COMPAT_ENTRY : FKT_CODE_SYSCALL_ENTRY) + number);
		any = true;
	}
	free(lines.data);
	return any;
}

/* Of what layers, -F, -e and -P name, by its name or its layer; of functions, the entry. */
static bool add_named(const struct recording *recording, const char *pattern)
{
	const struct codes *codes = &recording->codes;
	const char *at = codes->lines.data, *end = at + codes->lines.bytes;
	char line[LINE_BYTES], kind[16], layers[NAME_BYTES], name[NAME_BYTES];
	char why[FKT_KEYS_WHY_BYTES], first[NAME_BYTES], off[NAME_BYTES] = "";
	uint32_t code, keys;
	bool any = false, on = false;

	while (at < end) {
		at = take_line(at, end, line);
		if (sscanf(line, "%" SCNx32 " %*s %15s %*s %511s %511s", &code, kind, layers,
			   name) != 4 ||
		    !strcmp(kind, "exit"))
			continue;
		if (fkt_keys_parse(layers, &keys, why))
			keys = UINT32_MAX;
		memcpy(first, layers, sizeof(first));
		if (!is_like(pattern, name) && !is_in_layer(pattern, layers))
			continue;
		refuse_longer(pattern, !strcmp(kind, "entry"));
		add(code);
		any = true;
		if (keys & recording->options.mask)
			on = true;
		else
			memcpy(off, first, sizeof(off));
	}
	if (any && !on)
		warnx("%s %s: that is recorded with -k %s alone", option->name, pattern, off);
	return any;
}

static void add_pattern(const struct recording *recording, const char *pattern)
{
	bool syscalls = add_syscalls(pattern);
	bool any = syscalls | add_built_in(pattern) | add_named(recording, pattern);

	if (!any && strchr(pattern, ':'))
		errx(EXIT_FAILURE, "%s %s: no such event is recorded; -e '%s' would", option->name,
		     pattern, pattern);
	if (!any)
		errx(EXIT_FAILURE,
		     "%s %s: no event of that name can have a stack here: it can be switch, "
		     "wakeup, wakeup_new, sys_..., and what -F, -e and -P name, or their layers",
		     option->name, pattern);
	refuse_longer(pattern, syscalls);
	if (syscalls && !(recording->options.mask & FKT_KEY_SYSTEM))
		warnx("%s %s: system calls are recorded with -k system alone", option->name,
		      pattern);
}

static void add_option(const struct recording *recording, struct stack_option *of)
{
	option = of;
	for (char **text = of->texts; text && *text; text++)
		for (char *word = strtok(*text, ","); word; word = strtok(NULL, ","))
			add_pattern(recording, word);
}

static int set(struct recording *recording)
{
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_STACK,
		.spec_bytes = sizeof(struct fkt_stack_spec),
	};

	add_option(recording, &kernel);
	add_option(recording, &user);
	if (profile_any())
		add_of(FKT_CODE_SAMPLE, FKT_STACKS_KERNEL | FKT_STACKS_USER);
	for (uint32_t done = 0; done < stacks.count; done += probes.count) {
		probes.count = stacks.count - done;
		if (probes.count > FKT_STACKS_MAX)
			probes.count = FKT_STACKS_MAX;
		probes.specs_ptr = (uintptr_t)&stacks.spec[done];
		if (!ioctl(recording->device, FKT_ADD_PROBES, &probes))
			continue;
		if (errno == EBUSY)
			warnx(FKT_DEVICE ": another recording is running");
		else if (errno == EOPNOTSUPP)
			warnx("the module takes no stacks on this kernel");
		else
			warn("stacks");
		return -1;
	}
	return 0;
}

static const struct argp_option options[] = {
	{ "stack", OPTION_STACK, "EVENTS", 0,
	  "Record the kernel's stack with these events: names and patterns with commas between them, "
	  "of switch, wakeup, wakeup_new, sys_NAME, and of what -F, -e and -P name; functions, "
	  "tracepoints, addresses and layers mean all of these",
	  0 },
	{ "user-stack", OPTION_USER_STACK, "EVENTS", 0,
	  "Record the stack of the program that is current with these events, as with --stack, by "
	  "its frame pointers",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stack_option *of = key == OPTION_USER_STACK ? &user : &kernel;

	if (key != OPTION_STACK && key != OPTION_USER_STACK)
		return ARGP_ERR_UNKNOWN;
	if (!arg[strspn(arg, ",")])
		argp_error(state, "%s: of which events?", of->name);
	options_add_word(&of->texts, arg);
	return 0;
}

const struct probe_kind kind_stacks = {
	.argp = { .options = options, .parser = parse },
	.set = set,
};

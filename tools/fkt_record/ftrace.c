// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's own tracing of functions: where it is, whether it is on, and who uses it. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "ftrace.h"
#include "functions.h"
#include "record.h"

#define MOUNT_POINT "/sys/kernel/tracing"

const char *ftrace_directory(void)
{
	static const char *const places[] = { MOUNT_POINT, "/sys/kernel/debug/tracing" };
	char path[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct stat st;

		snprintf(path, sizeof(path), "%s/available_filter_functions", places[i]);
		if (!stat(path, &st))
			return places[i];
	}
	return mount("tracefs", MOUNT_POINT, "tracefs", 0, NULL) ? NULL : MOUNT_POINT;
}

const char *tracefs(void)
{
	const char *directory = ftrace_directory(), *level = lockdown();

	/* There it is empty, or nothing in it can be opened. */
	if (level && !strcmp(level, "confidentiality"))
		errx(EXIT_FAILURE,
		     "the kernel is locked down for confidentiality, which forbids all tracing; "
		     "see kernel_lockdown(7)");
	if (!directory && (errno == EPERM || errno == EACCES))
		errx(EXIT_FAILURE,
		     "%s: what can be traced is listed there, for root alone (sudo?), unless root "
		     "mounts it for a group: mount -o remount,gid=GROUP,mode=750 %s",
		     MOUNT_POINT, MOUNT_POINT);
	if (!directory)
		err(EXIT_FAILURE,
		    MOUNT_POINT ": cannot mount tracefs, which lists the functions that "
				"can be traced");
	return directory;
}

/* What a kernel does not tell can't be turned off. */
static bool is_turned_off(const char *path)
{
	FILE *file = fopen(path, "re");
	int enabled = 1;

	if (!file)
		return false;
	if (fscanf(file, "%d", &enabled) != 1)
		enabled = 1;
	fclose(file);
	return !enabled;
}

int ftrace_refuse_disabled(void)
{
	if (!is_turned_off("/proc/sys/kernel/ftrace_enabled"))
		return 0;
	warnx("all tracing of functions is turned off; turn it on with 'sysctl kernel.ftrace_enabled=1'");
	return -1;
}

int kprobes_refuse_disabled(void)
{
	static const char path[] = "/sys/kernel/debug/kprobes/enabled";

	if (!is_turned_off(path))
		return ftrace_refuse_disabled();
	warnx("all kprobes are turned off; turn them on with 'echo 1 >%s'", path);
	return -1;
}

/* "NAME [MODULE] (USERS) R I D ...": D has a direct trampoline, I has its way changed. */
static bool is_held(const char *line)
{
	const char *flags = strchr(line, ')');

	return flags && strcspn(flags, "ID") < strcspn(flags, "\t\n");
}

void ftrace_mark_held(struct functions *functions)
{
	const struct function *end = functions->function + functions->count;
	const char *directory = ftrace_directory();
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/enabled_functions", directory ? directory : MOUNT_POINT);
	file = fopen(path, "re");
	/* Then the kernel says so, when it is asked to hook them. */
	if (!file)
		return;
	while (getline(&line, &room, file) > 0) {
		struct function *function;

		/* Lines that go on are indented. */
		if (*line <= ' ' || !is_held(line))
			continue;
		line[strcspn(line, " ")] = '\0';
		/* All that have this name: nobody says which one it is. */
		for (function = functions_find(functions, line);
		     function && function < end && !strcmp(function->name, line); function++)
			function->held = true;
	}
	free(line);
	fclose(file);
}

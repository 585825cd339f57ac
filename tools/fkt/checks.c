// SPDX-License-Identifier: GPL-2.0-or-later
/* fkt doctor's checks of the machine and its kernel. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "doctor.h"

#define KERNEL_MAJOR 6
#define KERNEL_MINOR 1

/* What is written to see how fast that is, in pieces as the module's. */
#define PIECE_BYTES  (1 << 20)
#define DISK_PIECES  64
/* A machine that is busy: 5 million events a second of 8 bytes. */
#define DISK_MB_A_S  40
#define DISK_FREE_MB 1024

void check_kernel(struct finding *finding)
{
	unsigned int major = 0, minor = 0;
	struct utsname uts;

	uname(&uts);
	if (strcmp(uts.machine, "x86_64"))
		finding_set(finding, VERDICT_PROBLEM, "record on x86-64; traces are read here, too",
			    "%s on %s: FKT records on x86-64 alone", uts.release, uts.machine);
	else if (sscanf(uts.release, "%u.%u", &major, &minor) != 2 || major < KERNEL_MAJOR ||
		 (major == KERNEL_MAJOR && minor < KERNEL_MINOR))
		finding_set(finding, VERDICT_PROBLEM, "install a newer kernel",
			    "%s: FKT needs Linux %d.%d or newer", uts.release, KERNEL_MAJOR,
			    KERNEL_MINOR);
	else
		finding_set(finding, VERDICT_GOOD, NULL, "%s", uts.release);
}

/* How many lines a file has; -1 where it can't be read. */
static int count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	int c, lines = 0;

	if (!file)
		return -1;
	while ((c = fgetc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines;
}

void check_ftrace(struct finding *finding)
{
	char line[80];
	int users;

	if (read_line("/proc/sys/kernel/ftrace_enabled", line, sizeof(line)) || line[0] == '0') {
		finding_set(finding, VERDICT_NOTE,
			    line[0] ? "sysctl kernel.ftrace_enabled=1" : NULL,
			    "the kernel's tracing of functions is %s: -F is not possible",
			    line[0] ? "turned off" : "not there");
		return;
	}
	if (read_line("/sys/kernel/tracing/current_tracer", line, sizeof(line))) {
		finding_set(finding, VERDICT_GOOD, NULL, "on; who uses it, only root sees");
		return;
	}
	users = count_lines("/sys/kernel/tracing/enabled_functions");
	if (strcmp(line, "nop"))
		finding_set(finding, VERDICT_NOTE, "echo nop >/sys/kernel/tracing/current_tracer",
			    "the tracer '%s' is on: it works beside FKT, and costs time", line);
	else if (users > 0)
		finding_set(
			finding, VERDICT_NOTE, NULL,
			"%d functions are in use by others (BPF programs, live patches, tracers): "
			"of some, FKT may not see the exit",
			users);
	else
		finding_set(finding, VERDICT_GOOD, NULL, "on, and nobody else uses it");
}

void check_types(struct finding *finding)
{
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		finding_set(finding, VERDICT_GOOD, NULL, "the kernel has type information (BTF)");
	else
		finding_set(finding, VERDICT_NOTE,
			    "use a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's",
			    "the kernel has no type information (BTF): functions have an entry "
			    "alone, and no arguments by name");
}

/* Whether the first CPU has all of these flags. */
static bool cpu_has(const char *const flags[], size_t count)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *word, *rest;
	size_t room = 0, found = 0;

	while (file && getline(&line, &room, file) > 0) {
		if (strncmp(line, "flags", strlen("flags")))
			continue;
		for (word = strtok_r(line, " \t\n", &rest); word;
		     word = strtok_r(NULL, " \t\n", &rest))
			for (size_t i = 0; i < count; i++)
				found += !strcmp(word, flags[i]);
		break;
	}
	free(line);
	if (file)
		fclose(file);
	return found == count;
}

void check_clock(struct finding *finding)
{
	static const char *const flags[] = { "constant_tsc", "nonstop_tsc" };
	char source[64];

	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		  sizeof(source));
	if (!cpu_has(flags, 2))
		finding_set(finding, VERDICT_NOTE, NULL,
			    "the CPUs' counter may change its pace or stand still: times are "
			    "inexact, cycles are not");
	else if (strcmp(source, "tsc") && strcmp(source, "kvm-clock"))
		finding_set(
			finding, VERDICT_NOTE, NULL,
			"the kernel does not go by the CPUs' counter but by %s: that of one CPU "
			"may differ from another's",
			source);
	else
		finding_set(finding, VERDICT_GOOD, NULL,
			    "the CPUs' counter has one pace, and the kernel goes by it (%s)",
			    source);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* MB a second, of a file without a name, past the page cache where that can be; 0 with errno. */
static double disk_speed(void)
{
	void *piece = aligned_alloc(4096, PIECE_BYTES);
	double begin, speed = 0;
	int fd, i;

	fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC | O_DIRECT, 0600);
	if (fd < 0)
		fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || !piece)
		goto out;
	memset(piece, 0x5a, PIECE_BYTES);
	begin = now_s();
	for (i = 0; i < DISK_PIECES; i++)
		if (write(fd, piece, PIECE_BYTES) != PIECE_BYTES)
			goto out;
	if (fdatasync(fd))
		goto out;
	speed = (double)DISK_PIECES * PIECE_BYTES / 1e6 / (now_s() - begin);
out:
	if (fd >= 0)
		close(fd);
	free(piece);
	return speed;
}

void check_disk(struct finding *finding)
{
	char here[PATH_MAX];
	struct statvfs fs;
	double speed, free_mb = 0;

	if (!getcwd(here, sizeof(here)))
		snprintf(here, sizeof(here), ".");
	if (!statvfs(".", &fs))
		free_mb = (double)fs.f_bavail * (double)fs.f_frsize / 1e6;
	speed = disk_speed();
	if (speed <= 0)
		finding_set(finding, VERDICT_NOTE, "record elsewhere: fkt_record -o FILE",
			    "%.160s: cannot write there: %s", here, strerror(errno));
	else if (free_mb < DISK_FREE_MB)
		finding_set(finding, VERDICT_NOTE,
			    "record elsewhere (-o FILE), or with a limit (-s SIZE)",
			    "%.160s: %.0f MB are free", here, free_mb);
	else if (speed < DISK_MB_A_S)
		finding_set(finding, VERDICT_NOTE, "fkt_record --ring SIZE records into memory",
			    "%.160s takes %.0f MB a second, %.1f million events", here, speed,
			    speed / 8.2);
	else
		finding_set(finding, VERDICT_GOOD, NULL,
			    "%.160s takes %.0f MB a second, %.0f million events; %.0f MB are free",
			    here, speed, speed / 8.2, free_mb);
}

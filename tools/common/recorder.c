// SPDX-License-Identifier: GPL-2.0-or-later
/* Who records at the moment: see recorder.h. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder.h"

#define RECORDER "fkt_record"
#define SERVICE	 ".service"
/* What is in names of units. Whoever may make groups of processes calls them as he likes. */
#define LETTERS	 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:-_.@\\"

/* A line of a file in a process's /proc, without its newline. Return: whether there is one. */
static bool read_line(pid_t pid, const char *name, char *line, int bytes)
{
	char path[64];
	FILE *file;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	is = file && fgets(line, bytes, file);
	if (file)
		fclose(file);
	if (is)
		line[strcspn(line, "\n")] = '\0';
	return is;
}

/* From its group of processes, as 0::/system.slice/fkt-flight.service. */
static void find_unit(pid_t pid, char unit[RECORDER_UNIT_BYTES])
{
	char line[512] = "";
	const char *name;
	size_t length;

	unit[0] = '\0';
	if (!read_line(pid, "cgroup", line, sizeof(line)))
		return;
	name = strrchr(line, '/');
	length = name ? strlen(++name) : 0;
	if (length > strlen(SERVICE) && length < RECORDER_UNIT_BYTES &&
	    !name[strspn(name, LETTERS)] && !strcmp(name + length - strlen(SERVICE), SERVICE) &&
	    !strncmp(name, "fkt", 3))
		strcpy(unit, name);
}

pid_t recorder_find(char unit[RECORDER_UNIT_BYTES])
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;
	char comm[32];

	unit[0] = '\0';
	while (processes && !found && (entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && read_line(pid, "comm", comm, sizeof(comm)) &&
		    !strcmp(comm, RECORDER))
			found = pid;
	}
	if (processes)
		closedir(processes);
	if (found)
		find_unit(found, unit);
	return found;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "beside.h"

void become_beside(char *const argv[])
{
	char path[PATH_MAX + NAME_MAX], *slash;
	ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (bytes > 0 && strlen(argv[0]) < NAME_MAX) {
		path[bytes] = '\0';
		slash = strrchr(path, '/');
		if (slash) {
			strcpy(slash + 1, argv[0]);
			execv(path, argv);
		}
	}
	execvp(argv[0], argv);
}

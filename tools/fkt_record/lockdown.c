// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the kernel is locked down, which makes it refuse root what it otherwise may do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record.h"

#define LOCKDOWN_FILE "/sys/kernel/security/lockdown"
#define ENFORCED_FILE "/sys/module/module/parameters/sig_enforce"

/* The first line of a small file; empty where it can't be read. Keeps errno. */
static void read_first(const char *path, char *text, int bytes)
{
	int error = errno;
	FILE *file = fopen(path, "re");

	if (!file || !fgets(text, bytes, file))
		text[0] = '\0';
	if (file)
		fclose(file);
	errno = error;
}

const char *lockdown(void)
{
	static const char *const levels[] = { "[integrity]", "[confidentiality]" };
	static const char *const names[] = { "integrity", "confidentiality" };
	char text[80];

	read_first(LOCKDOWN_FILE, text, sizeof(text));
	/* As in "none [integrity] confidentiality". */
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strstr(text, levels[i]))
			return names[i];
	return NULL;
}

bool signatures_wanted(void)
{
	char text[8];

	read_first(ENFORCED_FILE, text, sizeof(text));
	return text[0] == 'Y' || lockdown();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether the kernel is locked down, which makes it refuse root what it otherwise may do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record.h"

#define LOCKDOWN_FILE "/sys/kernel/security/lockdown"

const char *lockdown(void)
{
	static const char *const levels[] = { "[integrity]", "[confidentiality]" };
	static const char *const names[] = { "integrity", "confidentiality" };
	char text[80] = "";
	int error = errno;
	FILE *file = fopen(LOCKDOWN_FILE, "re");

	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	errno = error;
	/* As in "none [integrity] confidentiality". */
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strstr(text, levels[i]))
			return names[i];
	return NULL;
}

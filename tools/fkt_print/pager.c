// SPDX-License-Identifier: GPL-2.0-or-later
/* Long output goes through a pager, when somebody looks at it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "print.h"

static pid_t pager;

void start_pager(void)
{
	const char *command = getenv("PAGER");
	int ends[2];

	if (!isatty(STDOUT_FILENO))
		return;
	if (!command)
		command = "less -FRX";
	if (!*command || !strcmp(command, "cat") || pipe(ends))
		return;
	pager = fork();
	if (!pager) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		/* As git does: short output is left on the screen, and colours are shown. */
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pager > 0) {
		dup2(ends[1], STDOUT_FILENO);
		/* Whoever leaves the pager has seen enough: writing fails with EPIPE. */
		signal(SIGPIPE, SIG_IGN);
	}
	close(ends[0]);
	close(ends[1]);
}

void end_pager(void)
{
	if (pager <= 0)
		return;
	fclose(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

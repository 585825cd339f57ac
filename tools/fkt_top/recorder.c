// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/beside.h"
#include "common/complain.h"
#include "top.h"

#define NOT_THERE  127
#define SAID_BYTES 65536

/* In the child. Ctrl-C is ours alone: the trace is to have its end. */
static void __attribute__((noreturn)) record(char **words, int output, int said)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    (said < 0 || dup2(said, STDERR_FILENO) >= 0) && !prctl(PR_SET_PDEATHSIG, SIGINT))
		become_beside(words);
	complain(words[0], errno == ENOENT ? "is not there" : strerror(errno));
	_exit(NOT_THERE);
}

bool recorder_begin(struct recorder *recorder, char **words, bool quiet)
{
	int trace[2];

	*recorder = (struct recorder){ .said = -1 };
	if (pipe2(trace, O_CLOEXEC)) {
		complain("a pipe", strerror(errno));
		return false;
	}
	if (quiet)
		recorder->said = memfd_create("said", MFD_CLOEXEC);
	recorder->pid = fork();
	if (!recorder->pid)
		record(words, trace[1], recorder->said);
	close(trace[1]);
	if (recorder->pid < 0 || dup2(trace[0], STDIN_FILENO) < 0) {
		complain(words[0], strerror(errno));
		return false;
	}
	close(trace[0]);
	return true;
}

void recorder_stop(struct recorder *recorder)
{
	if (recorder->pid > 0 && !recorder->stopped)
		kill(recorder->pid, SIGINT);
	recorder->stopped = true;
}

bool recorder_end(struct recorder *recorder)
{
	char text[SAID_BYTES];
	off_t at = 0;
	ssize_t bytes;
	int status;

	/* What nobody has read would keep it from ending. */
	while ((bytes = read(STDIN_FILENO, text, sizeof(text))) > 0 ||
	       (bytes < 0 && errno == EINTR))
		;
	while (waitpid(recorder->pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	while (recorder->said >= 0 && (bytes = pread(recorder->said, text, sizeof(text), at)) > 0) {
		fwrite(text, 1, (size_t)bytes, stderr);
		at += bytes;
	}
	if (recorder->said >= 0)
		close(recorder->said);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

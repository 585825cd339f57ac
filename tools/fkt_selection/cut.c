// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/beside.h"
#include "selection.h"

#define NOT_THERE 127
#define NAMES_MAX 10000

void cut_name(const struct selection *selection, char *name, size_t room)
{
	for (unsigned int i = 1; i < NAMES_MAX; i++) {
		snprintf(name, room, "%s.part%u", selection->trace ?: "selection", i);
		if (access(name, F_OK))
			return;
	}
}

static void run_extract(char *range, char *output, const char *trace)
{
	char *const argv[] = { "fkt_extract", range, output, "--", (char *)trace, NULL };

	become_beside(argv);
	_exit(NOT_THERE);
}

/* What it says, its last line. */
static void read_sentence(int fd, char *text, size_t room)
{
	char *line, *save, *last = text;
	size_t bytes = 0;
	ssize_t got;

	while ((got = read(fd, text + bytes, room - 1 - bytes)) > 0 ||
	       (got < 0 && errno == EINTR)) {
		bytes += got > 0 ? (size_t)got : 0;
		/* A program that says more is not to wait. */
		if (bytes == room - 1)
			bytes = room / 2;
	}
	text[bytes] = '\0';
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		last = line;
	memmove(text, last, strlen(last) + 1);
}

bool cut_out(const struct selection *selection, uint64_t from, uint64_t to, const char *name,
	     char *why, size_t room)
{
	char range[80], *output;
	struct stat made;
	int fd, status, says[2];
	pid_t pid;

	if (!selection->trace) {
		snprintf(why, room, "which trace? (fkt_selection FILE.timedat TRACE)");
		return false;
	}
	/* No file that is there is written into. */
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		snprintf(why, room, "%s: %s%s", name, strerror(errno),
			 errno == EEXIST ? "; it is not overwritten" : "");
		return false;
	}
	close(fd);
	snprintf(range, sizeof(range), "--range=%" PRIu64 "ns..%" PRIu64 "ns", from, to);
	if (asprintf(&output, "--output=%s", name) < 0 || pipe2(says, O_CLOEXEC)) {
		snprintf(why, room, "%s", strerror(errno));
		return false;
	}
	pid = fork();
	if (!pid) {
		dup2(says[1], STDOUT_FILENO);
		dup2(says[1], STDERR_FILENO);
		run_extract(range, output, selection->trace);
	}
	close(says[1]);
	free(output);
	read_sentence(says[0], why, room);
	close(says[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status)) {
		snprintf(why, room, "%s was written", name);
		return true;
	}
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
		snprintf(why, room, "fkt_extract is not there");
	else if (!*why)
		snprintf(why, room, "fkt_extract has failed");
	if (!stat(name, &made) && !made.st_size)
		unlink(name);
	return false;
}

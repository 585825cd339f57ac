// SPDX-License-Identifier: GPL-2.0-or-later
/* The command that is recorded: it is started only when the recorder is ready. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

static int complain(const char *command, int error)
{
	if (error == ENOENT && !strchr(command, '/')) {
		warnx("%s: command not found", command);
		return EXIT_NOT_FOUND;
	}
	warnx("%s: %s", command, strerror(error));
	return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Return: 0 or an errno value. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

/* As execvp() does: the first one in PATH that may be executed. */
static int search(const char *command, char **path)
{
	const char *dir = getenv("PATH");
	int error = ENOENT;

	for (dir = dir ? dir : "/bin:/usr/bin";; dir++) {
		size_t length = strcspn(dir, ":");
		int found;

		if (asprintf(path, "%.*s/%s", length ? (int)length : 1, length ? dir : ".",
			     command) < 0)
			return ENOMEM;
		found = check_executable(*path);
		if (!found)
			return 0;
		free(*path);
		if (found == EACCES)
			error = found;
		dir += length;
		if (!*dir)
			return error;
	}
}

int child_find(const char *command, char **path)
{
	int error;

	if (strchr(command, '/') || !*command) {
		error = check_executable(command);
		if (!error && !(*path = strdup(command)))
			error = ENOMEM;
	} else {
		error = search(command, path);
	}
	return error ? complain(command, error) : 0;
}

/* In the child. */
static void __attribute__((noreturn))
become(const char *path, char **command, int go, int failed, const sigset_t *signals)
{
	char byte;
	int error;

	/* End of file without a byte: the recorder has died, or given up. */
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILURE);

	sigprocmask(SIG_SETMASK, signals, NULL);
	/* Not execv(): a script may have no #! line. */
	execvp(path, command);

	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		warnx("%s: %s", command[0], strerror(error));
	_exit(EXIT_NOT_EXECUTABLE);
}

int child_fork(struct child *child, const char *path, char **command, int stdout_fd,
	       const sigset_t *signals)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC)) {
		warn("pipe");
		return -1;
	}
	if (pipe2(failed, O_CLOEXEC)) {
		warn("pipe");
		goto out_go;
	}
	child->pid = fork();
	if (child->pid < 0) {
		warn("fork");
		child->pid = 0;
		goto out_failed;
	}
	if (!child->pid) {
		close(go[1]);
		close(failed[0]);
		if (stdout_fd >= 0)
			dup2(stdout_fd, STDOUT_FILENO);
		if (child->ignores_ends)
			signal(SIGCHLD, SIG_IGN);
		become(path, command, go[0], failed[1], signals);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	return 0;

out_failed:
	close(failed[0]);
	close(failed[1]);
out_go:
	close(go[0]);
	close(go[1]);
	return -1;
}

int child_release(struct child *child, const char *command)
{
	int error = 0;
	ssize_t got;

	/* A child that was killed meanwhile does not read it: its status will tell. */
	if (write(child->go, "", 1) < 0 && errno != EPIPE)
		warn("%s", command);
	close(child->go);
	got = read(child->failed, &error, sizeof(error));
	close(child->failed);
	if (got != sizeof(error))
		return 0;
	child_reap(child, true);
	return complain(command, error);
}

void child_reap(struct child *child, bool wait)
{
	int status;

	if (!child->pid || child->ended)
		return;
	if (waitpid(child->pid, &status, wait ? 0 : WNOHANG) != child->pid)
		return;
	child->ended = true;
	child->status = WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_abandon(struct child *child)
{
	if (!child->pid)
		return;
	close(child->go);
	close(child->failed);
	child_reap(child, true);
}

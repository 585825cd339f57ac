// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "create.h"
#include "plot.h"

#define NOT_THERE 127

static const char *type_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return !dot		      ? NULL
	       : !strcmp(dot, ".svg") ? "svg"
	       : !strcmp(dot, ".png") ? "pngcairo"
				      : NULL;
}

bool plot_can(const char *path)
{
	return type_of(path);
}

/* No name of a file is in what gnuplot reads: it writes to its standard output. */
bool plot_begin(struct plot *plot, const char *path, unsigned int width, unsigned int height)
{
	FILE *output = fkt_create(path);
	int in[2];

	if (!output)
		return false;
	*plot = (struct plot){ .path = path };
	if (pipe(in))
		goto fail;
	plot->pid = fork();
	if (!plot->pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(fileno(output), STDOUT_FILENO);
		close(in[0]);
		close(in[1]);
		execlp("gnuplot", "gnuplot", "-d", "-", (char *)NULL);
		_exit(NOT_THERE);
	}
	close(in[0]);
	if (plot->pid < 0) {
		close(in[1]);
		goto fail;
	}
	fclose(output);
	/* That it is not there, its exit status says. */
	signal(SIGPIPE, SIG_IGN);
	plot->file = fdopen(in[1], "w");
	if (!plot->file) {
		close(in[1]);
		waitpid(plot->pid, NULL, 0);
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, strerror(errno));
		return false;
	}
	fprintf(plot->file,
		"set terminal %s noenhanced size %u,%u background '#ffffff'\n"
		"set grid lc rgb '#dddddd'\nset tics nomirror\n",
		type_of(path), width, height);
	return true;
fail:
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, strerror(errno));
	fclose(output);
	return false;
}

bool plot_end(struct plot *plot)
{
	int status = 0;

	fclose(plot->file);
	while (waitpid(plot->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, plot->path,
		WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE
			? "gnuplot makes pictures, and is not there (apt install gnuplot-nox)"
			: "gnuplot has failed");
	unlink(plot->path);
	return false;
}

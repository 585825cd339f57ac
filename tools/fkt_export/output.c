// SPDX-License-Identifier: GPL-2.0-or-later
/* Where an export goes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fkt/trace.h>

#include "output.h"

/* The file that a signal's handler takes away. */
static const char *volatile unfinished;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

static void on_signal(int number)
{
	const char *part = unfinished;

	if (part)
		unlink(part);
	/* SA_RESETHAND: the second time it ends the program, as it would have without this. */
	raise(number);
}

static void block_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(how, &set, NULL);
}

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND }, old;

	/* Then the write fails. */
	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

static int open_part(struct output *output)
{
	int err = 0;

	if (asprintf(&output->part, "%s.part.XXXXXX", output->path) < 0) {
		output->part = NULL;
		return -ENOMEM;
	}
	take_signals();
	block_signals(SIG_BLOCK);
	/* Traces hold kernel addresses: like them, for nobody else. */
	output->fd = mkostemp(output->part, O_CLOEXEC);
	if (output->fd < 0) {
		err = -errno;
		free(output->part);
		output->part = NULL;
	} else {
		unfinished = output->part;
	}
	block_signals(SIG_UNBLOCK);
	return err;
}

int output_open(struct output *output, const char *path)
{
	struct stat status;

	output->path = path;
	output->part = NULL;
	output->fd = STDOUT_FILENO;
	output->err = 0;
	output->written = 0;
	output->used = 0;
	if (!path)
		return 0;
	if (stat(path, &status) || S_ISREG(status.st_mode))
		return open_part(output);
	output->fd = open(path, O_WRONLY | O_CLOEXEC);
	return output->fd < 0 ? -errno : 0;
}

static void write_all(struct output *output, const char *bytes, size_t count)
{
	ssize_t done;

	while (count && !output->err) {
		done = write(output->fd, bytes, count);
		if (done < 0 && errno != EINTR)
			output->err = -errno;
		if (done <= 0)
			continue;
		bytes += done;
		count -= (size_t)done;
		output->written += (size_t)done;
	}
}

int output_flush(struct output *output)
{
	write_all(output, output->buffer, output->used);
	output->used = 0;
	return output->err;
}

void output_long(struct output *output, const void *bytes, size_t count)
{
	output_flush(output);
	if (count >= OUTPUT_BYTES) {
		write_all(output, bytes, count);
		return;
	}
	memcpy(output->buffer, bytes, count);
	output->used = count;
}

/* The file's end: closed, and a name less or another one. */
static void end_part(struct output *output)
{
	unfinished = NULL;
	free(output->part);
	output->part = NULL;
}

int output_finish(struct output *output)
{
	int err = output_flush(output);

	if (!output->path)
		return err;
	if (!err && output->part && fsync(output->fd))
		err = -errno;
	if (close(output->fd) && !err)
		err = -errno;
	output->fd = -1;
	if (err || !output->part)
		return err;
	block_signals(SIG_BLOCK);
	if (rename(output->part, output->path))
		err = -errno;
	else
		end_part(output);
	block_signals(SIG_UNBLOCK);
	return err;
}

void output_abandon(struct output *output)
{
	if (output->path && output->fd >= 0)
		close(output->fd);
	if (!output->part)
		return;
	block_signals(SIG_BLOCK);
	unlink(output->part);
	end_part(output);
	block_signals(SIG_UNBLOCK);
}

void output_format(struct output *output, const char *format, ...)
{
	char text[4096];
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	output_bytes(output, text, bytes < (int)sizeof(text) ? (size_t)bytes : sizeof(text) - 1);
}

void output_json(struct output *output, const char *text, size_t bytes)
{
	char copy[1024];
	size_t count = bytes < sizeof(copy) - 1 ? bytes : sizeof(copy) - 1;

	memcpy(copy, text, count);
	/* What follows a NUL is no text. */
	copy[count] = '\0';
	fkt_sanitize(copy);
	output_bytes(output, "\"", 1);
	for (const char *at = copy; *at; at++) {
		if (*at == '"' || *at == '\\')
			output_bytes(output, "\\", 1);
		output_bytes(output, at, 1);
	}
	output_bytes(output, "\"", 1);
}

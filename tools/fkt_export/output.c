// SPDX-License-Identifier: GPL-2.0-or-later
/* Where an export goes. */
#include <dirent.h>
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
#include "spool.h"

/* The file, or the directory, that a signal's handler takes away. */
static const char *volatile unfinished;
static const struct output *volatile unfinished_directory;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

static void remove_directory(const struct output *output, const char *part)
{
	for (size_t i = 0; i < output->files; i++)
		unlinkat(output->directory, output->name[i], 0);
	rmdir(part);
}

static void on_signal(int number)
{
	const char *part = unfinished;

	if (unfinished_directory)
		remove_directory(unfinished_directory, part);
	else if (part)
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

/* Make what is to be the output: called while no signal comes. */
static int make_part(struct output *output, bool directory)
{
	if (!directory) {
		output->fd = mkostemp(output->part, O_CLOEXEC);
		return output->fd < 0 ? -errno : 0;
	}
	if (!mkdtemp(output->part))
		return -errno;
	output->directory = open(output->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (output->directory >= 0)
		return 0;
	rmdir(output->part);
	return -errno;
}

/* Traces hold kernel addresses: what is made of them is for nobody else, either. */
static int open_part(struct output *output, bool directory)
{
	int bytes = (int)strlen(output->path), err;

	/* As in "-o out/". */
	while (directory && bytes > 1 && output->path[bytes - 1] == '/')
		bytes--;
	if (asprintf(&output->part, "%.*s.part.XXXXXX", bytes, output->path) < 0) {
		output->part = NULL;
		return -ENOMEM;
	}
	take_signals();
	block_signals(SIG_BLOCK);
	err = make_part(output, directory);
	if (err) {
		free(output->part);
		output->part = NULL;
	} else {
		unfinished = output->part;
		unfinished_directory = directory ? output : NULL;
	}
	block_signals(SIG_UNBLOCK);
	return err;
}

static void begin_output(struct output *output, const char *path)
{
	output->path = path;
	output->part = NULL;
	output->fd = STDOUT_FILENO;
	output->target = -1;
	output->directory = -1;
	output->name = NULL;
	output->files = 0;
	output->err = 0;
	output->written = 0;
	output->used = 0;
}

int output_open(struct output *output, const char *path)
{
	struct stat status;

	begin_output(output, path);
	if (!path)
		return 0;
	if (stat(path, &status) || S_ISREG(status.st_mode))
		return open_part(output, false);
	output->fd = open(path, O_WRONLY | O_CLOEXEC);
	return output->fd < 0 ? -errno : 0;
}

/* Whether a directory may get this name: there is none, or an empty one. */
static int can_be_directory(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int err = 0;

	if (!directory)
		return errno == ENOENT ? 0 : -errno;
	while ((entry = readdir(directory)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = -ENOTEMPTY;
	closedir(directory);
	return err;
}

int output_open_directory(struct output *output, const char *path, const char *main)
{
	int err = can_be_directory(path), file;

	begin_output(output, path);
	output->fd = -1;
	if (!err)
		err = open_part(output, true);
	if (err)
		return err;
	file = output_add_file(output, main);
	if (file >= 0)
		output->fd = openat(output->directory, main, O_WRONLY | O_CLOEXEC);
	if (output->fd >= 0)
		return 0;
	err = file < 0 ? file : -errno;
	output_abandon(output);
	return err;
}

void output_error(struct output *output, int err)
{
	if (err && !output->err)
		output->err = output->target < 0 ? err : spool_error(err);
}

static void write_all(struct output *output, int fd, const char *bytes, size_t count)
{
	ssize_t done;

	while (count && !output->err) {
		done = write(fd, bytes, count);
		if (done < 0 && errno != EINTR)
			output_error(output, -errno);
		if (done <= 0)
			continue;
		bytes += done;
		count -= (size_t)done;
		output->written += (size_t)done;
	}
}

/* The descriptor's number stays, for whoever writes to it. */
static int point(int fd, int number)
{
	int err = dup3(fd, number, number == STDOUT_FILENO ? 0 : O_CLOEXEC) < 0 ? -errno : 0;

	close(fd);
	return err;
}

int output_hold(struct output *output)
{
	int held, err;

	if (output->part)
		return 0;
	held = spool_file();
	if (held < 0)
		return held;
	output->target = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
	if (output->target < 0) {
		err = -errno;
		close(held);
		return err;
	}
	return point(held, output->fd);
}

void output_release(struct output *output)
{
	char block[16384];
	ssize_t got = 1;
	off_t at = 0;
	int held, err;

	if (output->target < 0)
		return;
	held = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
	err = held < 0 ? -errno : point(output->target, output->fd);
	output->target = -1;
	output->written = 0;
	while (!err && got > 0 && !output->err) {
		got = pread(held, block, sizeof(block), at);
		if (got < 0)
			err = spool_error(-errno);
		else
			write_all(output, output->fd, block, (size_t)got);
		at += got;
	}
	if (held >= 0)
		close(held);
	if (!output->err)
		output->err = err;
}

int output_add_file(struct output *output, const char *name)
{
	char(*larger)[OUTPUT_NAME_BYTES] = output->name;
	int err = 0, fd;

	/* The signals' handler goes through the names. */
	block_signals(SIG_BLOCK);
	if (!(output->files & (output->files - 1)))
		larger = reallocarray(output->name, output->files ? 2 * output->files : 1,
				      sizeof(*larger));
	if (larger) {
		output->name = larger;
		snprintf(larger[output->files], OUTPUT_NAME_BYTES, "%s", name);
		fd = openat(output->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		err = fd < 0 ? -errno : (int)output->files++;
		if (fd >= 0)
			close(fd);
	} else {
		err = -ENOMEM;
	}
	block_signals(SIG_UNBLOCK);
	return err;
}

/* Each is open only for this: there may be more of them than a program may have open. */
void output_append(struct output *output, int file, const void *bytes, size_t count)
{
	int fd;

	if (output->err)
		return;
	fd = openat(output->directory, output->name[file], O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0) {
		output->err = -errno;
		return;
	}
	write_all(output, fd, bytes, count);
	if (close(fd) && !output->err)
		output->err = -errno;
}

int output_flush(struct output *output)
{
	write_all(output, output->fd, output->buffer, output->used);
	output->used = 0;
	return output->err;
}

void output_long(struct output *output, const void *bytes, size_t count)
{
	output_flush(output);
	if (count >= OUTPUT_BYTES) {
		write_all(output, output->fd, bytes, count);
		return;
	}
	memcpy(output->buffer, bytes, count);
	output->used = count;
}

/* The file's end: closed, and a name less or another one. */
static void end_part(struct output *output)
{
	unfinished = NULL;
	unfinished_directory = NULL;
	free(output->part);
	output->part = NULL;
}

/* What is in a directory is on the disk before that has its name, too. */
static int sync_directory(struct output *output)
{
	int err = 0, fd;

	for (size_t i = 0; i < output->files && !err; i++) {
		fd = openat(output->directory, output->name[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fsync(fd))
			err = -errno;
		if (fd >= 0)
			close(fd);
	}
	if (!err && fsync(output->directory))
		err = -errno;
	return err;
}

int output_finish(struct output *output)
{
	int err = output_flush(output);

	if (!err) {
		output_release(output);
		err = output->err;
	}
	if (!output->path)
		return err;
	if (!err && output->part && fsync(output->fd))
		err = -errno;
	if (close(output->fd) && !err)
		err = -errno;
	output->fd = -1;
	if (!err && output->directory >= 0)
		err = sync_directory(output);
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
	if (output->target >= 0)
		close(output->target);
	if (output->path && output->fd >= 0)
		close(output->fd);
	if (output->part) {
		block_signals(SIG_BLOCK);
		if (output->directory >= 0)
			remove_directory(output, output->part);
		else
			unlink(output->part);
		end_part(output);
		block_signals(SIG_UNBLOCK);
	}
	if (output->directory >= 0)
		close(output->directory);
	free(output->name);
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

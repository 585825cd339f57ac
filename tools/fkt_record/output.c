// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the trace goes: a regular file, a block device, or a stream. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

/* Direct writes begin and end at multiples of a disk's block; pages do, behind a head that does. */
#define DIRECT_ALIGN FKT_PAGE_BYTES

/* What a pipe holds. */
#define SPLICE_BYTES (16 * FKT_PAGE_BYTES)

static int open_standard_output(struct output *output)
{
	int flags;

	output->name = "standard output";
	if (isatty(STDOUT_FILENO)) {
		warnx("a trace is not for terminals; redirect standard output, or give -o a file");
		return -1;
	}
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	flags = fcntl(STDOUT_FILENO, F_GETFL);
	if (output->fd < 0 || flags < 0) {
		warn("%s", output->name);
		return -1;
	}

	/* Pages can't be spliced to a file that appends; its end is the place all the same. */
	if (flags & O_APPEND) {
		fcntl(output->fd, F_SETFL, flags & ~O_APPEND);
		lseek(output->fd, 0, SEEK_END);
	}
	return 0;
}

static int open_named(struct output *output)
{
	output->fd = open(output->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (output->fd >= 0) {
		output->created = true;
		return 0;
	}
	/*
	 * O_EXCL on a block device: nobody has it mounted. O_CREAT on all others: in a folder of
	 * everybody's, the kernel then refuses what is somebody else's (fs.protected_regular).
	 */
	if (errno == EEXIST) {
		struct stat st;
		bool block = !stat(output->name, &st) && S_ISBLK(st.st_mode);

		output->fd =
			open(output->name, O_WRONLY | O_CLOEXEC | (block ? O_EXCL : O_CREAT), 0600);
	}
	if (output->fd < 0) {
		if (errno == EBUSY)
			warnx("%s: the device is in use; is it mounted?", output->name);
		else if (errno == EISDIR)
			warnx("%s: this is a directory; -o wants the name of a file", output->name);
		else
			warn("%s: cannot write a trace there", output->name);
		return -1;
	}
	return 0;
}

int output_open(struct output *output, const char *name)
{
	struct stat st;
	off_t end;

	*output = (struct output){ .name = name };
	if (!strcmp(name, "-") ? open_standard_output(output) : open_named(output))
		return -1;
	if (fstat(output->fd, &st)) {
		warn("%s", output->name);
		return -1;
	}

	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		output->kind = OUTPUT_FILE;
		output->ours = strcmp(name, "-");
		/* For as long as it is open, here or in the module. */
		if (output->ours && flock(output->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
			warnx("%s: another recording is written there", output->name);
			return -1;
		}
		break;
	case S_IFBLK:
		output->kind = OUTPUT_BLOCK;
		end = lseek(output->fd, 0, SEEK_END);
		if (end < 0 || lseek(output->fd, 0, SEEK_SET) < 0) {
			warn("%s", output->name);
			return -1;
		}
		output->room_bytes = (uint64_t)end;
		break;
	default:
		output->kind = OUTPUT_STREAM;
		return 0;
	}
	output->start = lseek(output->fd, 0, SEEK_CUR);
	return 0;
}

void output_take(struct output *output, int fd, const char *name)
{
	*output = (struct output){ .name = name, .fd = fd, .kind = OUTPUT_FILE, .ours = true };
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t written = write(fd, data, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		/* A pipe that somebody has made O_NONBLOCK. */
		if (written < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (written < 0)
			return -1;
		data += written;
		bytes -= (size_t)written;
	}
	return 0;
}

int output_begin(struct output *output, const void *head, size_t bytes)
{
	output->begun = true;
	if (output->ours && ftruncate(output->fd, 0)) {
		warn("%s", output->name);
		return -1;
	}
	if (write_all(output->fd, head, bytes)) {
		warn("%s: cannot write the trace's head", output->name);
		return -1;
	}
	output->head_bytes = bytes;
	if (output->kind == OUTPUT_STREAM)
		return 0;

	/* The space that the head needs may be missing only now. */
	if (fdatasync(output->fd)) {
		warn("%s: cannot write the trace's head", output->name);
		return -1;
	}
	/* Past the page cache, where the file system can: EINVAL where it can't. */
	if (!((output->start + (off_t)bytes) % DIRECT_ALIGN))
		fcntl(output->fd, F_SETFL, fcntl(output->fd, F_GETFL) | O_DIRECT);
	return 0;
}

int output_splice(struct output *output, int from)
{
	int pipes[2], error = 0;
	ssize_t in, out;

	if (pipe2(pipes, O_CLOEXEC)) {
		warn("pipe");
		return errno;
	}
	while (!error && (in = splice(from, NULL, pipes[1], NULL, SPLICE_BYTES, 0))) {
		if (in < 0 && errno != EINTR)
			error = errno;
		for (; in > 0 && !error; in -= out > 0 ? out : 0) {
			out = splice(pipes[0], NULL, output->fd, NULL, (size_t)in, 0);
			/* A pipe that somebody has made O_NONBLOCK. */
			if (out < 0 && errno == EAGAIN)
				poll(&(struct pollfd){ .fd = output->fd, .events = POLLOUT }, 1,
				     -1);
			else if (out <= 0 && errno != EINTR)
				error = out ? errno : EIO;
		}
	}
	close(pipes[0]);
	close(pipes[1]);
	if (error && error != EPIPE)
		warnx("%s: %s; the trace ends there", output->name, strerror(error));
	return error;
}

uint64_t output_page_room(const struct output *output, size_t tail_bytes)
{
	uint64_t others = output->head_bytes + tail_bytes + sizeof(struct fkt_footer);

	if (output->kind != OUTPUT_BLOCK)
		return 0;
	/* 1, not 0, when there is none: no page fits under that limit. */
	return output->room_bytes > others ? output->room_bytes - others : 1;
}

/* Where the pages end, from the trace's beginning. Return: -1 with errno when it is not known. */
static off_t pages_end(const struct output *output, uint64_t page_bytes)
{
	off_t end;

	if (output->kind == OUTPUT_STREAM)
		return (off_t)(output->head_bytes + page_bytes);
	end = lseek(output->fd, 0, SEEK_CUR);
	return end < 0 ? end : end - output->start;
}

static int write_tail(const struct output *output, const struct fkt_footer *footer,
		      const void *tail, size_t bytes)
{
	if (write_all(output->fd, tail, bytes))
		return -1;
	if (output->kind == OUTPUT_BLOCK &&
	    lseek(output->fd, (off_t)(output->room_bytes - sizeof(*footer)), SEEK_SET) < 0)
		return -1;
	if (write_all(output->fd, (const char *)footer, sizeof(*footer)))
		return -1;
	return output->kind == OUTPUT_STREAM ? 0 : fdatasync(output->fd);
}

int output_end(struct output *output, const uint8_t *id, uint64_t page_bytes, const void *tail,
	       size_t bytes)
{
	struct fkt_footer footer = { .magic = FKT_FOOTER_MAGIC };
	off_t end = pages_end(output, page_bytes);
	int error;

	if (end < 0)
		goto fail;
	memcpy(footer.id, id, FKT_ID_BYTES);
	footer.tail_offset = (uint64_t)end;
	if (output->kind != OUTPUT_STREAM)
		fcntl(output->fd, F_SETFL, fcntl(output->fd, F_GETFL) & ~O_DIRECT);

	/* An output error may have left a part of a page. */
	if (output->ours && ftruncate(output->fd, end))
		goto fail;
	if (!write_tail(output, &footer, tail, bytes))
		return 0;
	/* A reader who has seen enough. */
	if (output->kind == OUTPUT_STREAM && errno == EPIPE)
		return 0;
	error = errno;
	if (output->ours && ftruncate(output->fd, end))
		warn("%s", output->name);
	errno = error;
fail:
	warnx("%s: %s; the trace is left without its tail (fkt_print reads it all the same)",
	      output->name, strerror(errno));
	return -1;
}

void output_discard(struct output *output)
{
	if (output->created)
		unlink(output->name);
	else if (output->ours && output->begun && ftruncate(output->fd, 0))
		warn("%s", output->name);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The file of notes: read whenever it is asked for, appended to when a user adds one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notes.h"
#include "view.h"

#define SUFFIX ".notes"

/* Those of one server take turns; others append whole lines, as it does. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Its descriptor, or a negative errno value. Nothing but a file is opened, and no link to one. */
static int open_notes(const struct view *view, int flags)
{
	char path[4096];
	struct stat file;
	int fd;

	/* What comes through a pipe, or is on a device, has no place beside it. */
	if (view->spool || stat(view->path, &file) || !S_ISREG(file.st_mode))
		return -ENOTSUP;
	if (snprintf(path, sizeof(path), "%s" SUFFIX, view->path) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static void put_trace_id(const struct view *view, char id[NOTE_TRACE_BYTES])
{
	const uint8_t *bytes = fkt_header(view->trace)->id;

	for (unsigned int i = 0; i < FKT_ID_BYTES; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
}

/* ---- reading ---- */

/**
 * struct reading - the file as it is read
 * @view: of which trace
 * @id: the trace's
 * @note: what belongs to it; NOTES_MAX
 * @notes: how many
 * @others: how many belong to another trace
 * @bad: how many lines are none
 * @cut: there is more than is read
 */
struct reading {
	struct view *view;
	char id[NOTE_TRACE_BYTES];
	struct note *note;
	unsigned int notes;
	unsigned int others;
	unsigned int bad;
	bool cut;
};

static void take_line(struct reading *reading, unsigned int number, const char *line, size_t bytes)
{
	struct note *note = &reading->note[reading->notes];

	if (!bytes)
		return;
	if (!note_parse(note, line, bytes)) {
		reading->bad++;
		return;
	}
	if (strcmp(note->trace, reading->id)) {
		reading->others += !note->removes;
		return;
	}
	note->line = number;
	if (!note->removes) {
		reading->notes++;
		return;
	}
	for (unsigned int i = 0; i < reading->notes; i++)
		if (reading->note[i].line == note->removes)
			reading->note[i].removes = number;
}

static char *read_file(struct reading *reading, size_t *bytes)
{
	const int fd = open_notes(reading->view, O_RDONLY);
	char *data = fd >= 0 ? malloc(NOTES_BYTES_MAX) : NULL;
	ssize_t got = 0;

	*bytes = 0;
	while (data && *bytes < NOTES_BYTES_MAX &&
	       (got = read(fd, data + *bytes, NOTES_BYTES_MAX - *bytes)) > 0)
		*bytes += (size_t)got;
	reading->cut = *bytes == NOTES_BYTES_MAX;
	if (fd >= 0)
		close(fd);
	return data;
}

static void read_notes(struct reading *reading)
{
	size_t bytes;
	char *data = read_file(reading, &bytes), *at = data, *end;

	for (unsigned int line = 1; data && at < data + bytes; line++, at = end + 1) {
		end = memchr(at, '\n', (size_t)(data + bytes - at)) ?: data + bytes;
		if (reading->notes == NOTES_MAX) {
			reading->cut = true;
			break;
		}
		take_line(reading, line, at, (size_t)(end - at));
	}
	free(data);
}

int answer_notes(struct view *view, struct answer *answer)
{
	struct reading reading = { .view = view, .note = calloc(NOTES_MAX, sizeof(*reading.note)) };
	const char *comma = "";

	if (!reading.note)
		return -ENOMEM;
	put_trace_id(view, reading.id);
	read_notes(&reading);
	answer_text(answer, "{\"others\":%u,\"bad\":%u,\"cut\":%s,\"notes\":[", reading.others,
		    reading.bad, reading.cut ? "true" : "false");
	for (unsigned int i = 0; i < reading.notes; i++) {
		const struct note *note = &reading.note[i];

		if (note->removes)
			continue;
		answer_text(answer, "%s[%u,%" PRId64 ",%" PRId64 ",", comma, note->line,
			    view_ns(view, note->stamp),
			    note->has_tid ? (int64_t)note->tid : INT64_C(-1));
		answer_string(answer, note->text);
		answer_bytes(answer, "]", 1);
		comma = ",";
	}
	answer_text(answer, "]}");
	free(reading.note);
	return answer_error(answer);
}

/* ---- writing ---- */

static void put_line(struct view *view, const struct request *request, const char *text,
		     struct answer *line)
{
	char id[NOTE_TRACE_BYTES];

	put_trace_id(view, id);
	answer_text(line, "{\"trace\":\"%s\"", id);
	if (request->remove) {
		answer_text(line, ",\"removes\":%" PRIu64 "}\n", request->remove);
		return;
	}
	answer_text(line, ",\"stamp\":%" PRIu64 ",\"at_ns\":%" PRIu64 ",\"tid\":",
		    view_last_stamp(view, request->from), request->from);
	if (request->tids)
		answer_text(line, "%" PRIu32, request->tid[0]);
	else
		answer_text(line, "null");
	answer_text(line, ",\"text\":");
	answer_string(line, text);
	answer_text(line, "}\n");
}

/* A line that somebody has not ended is not gone on with. */
static bool ends_a_line(int fd)
{
	struct stat file;
	char last;

	return fstat(fd, &file) || !file.st_size || pread(fd, &last, 1, file.st_size - 1) != 1 ||
	       last == '\n';
}

static int append(int fd, const struct answer *line)
{
	struct stat file;
	ssize_t put;

	if (!fstat(fd, &file) && (uint64_t)file.st_size + line->bytes > NOTES_BYTES_MAX)
		return -EFBIG;
	if (!ends_a_line(fd) && write(fd, "\n", 1) != 1)
		return -errno;
	put = write(fd, line->data, line->bytes);
	if (put == (ssize_t)line->bytes)
		return 0;
	return put < 0 ? -errno : -ENOSPC;
}

int answer_note(struct view *view, const struct request *request, char *text, struct answer *answer)
{
	struct answer line = { 0 };
	int fd, err;

	for (char *at = text; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = ' ';
	fkt_sanitize(text);
	put_line(view, request, text, &line);
	err = answer_error(&line);
	pthread_mutex_lock(&lock);
	if (!err) {
		fd = open_notes(view, O_RDWR | O_APPEND | O_CREAT);
		err = fd < 0 ? fd : append(fd, &line);
		if (fd >= 0 && close(fd) && !err)
			err = -errno;
	}
	pthread_mutex_unlock(&lock);
	answer_free(&line);
	return err ?: answer_notes(view, answer);
}

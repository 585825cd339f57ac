// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "read_trace.h"

static void warn(void *arg, const char *sentence)
{
	struct reading *reading = arg;
	size_t used = strlen(reading->warnings);

	snprintf(reading->warnings + used, sizeof(reading->warnings) - used, "%s\n", sentence);
}

static void write_all(int fd, const uint8_t *data, size_t bytes)
{
	ssize_t n;

	for (; bytes; data += n, bytes -= (size_t)n) {
		n = write(fd, data, bytes);
		if (n < 0)
			_exit(0);
	}
}

/*
 * A descriptor with the bytes to be read. The child that writes a long stream is waited for later.
 */
static int offer(const struct build *build, size_t bytes, enum read_how how, pid_t *child)
{
	int ends[2], fd;

	*child = 0;
	if (how == READ_FILE) {
		fd = memfd_create("trace", 0);
		assert(fd >= 0);
		write_all(fd, build->data, bytes);
		return fd;
	}
	assert(!pipe(ends));
	if (bytes <= 65536) {
		write_all(ends[1], build->data, bytes);
	} else {
		*child = fork();
		assert(*child >= 0);
		if (!*child) {
			close(ends[0]);
			write_all(ends[1], build->data, bytes);
			_exit(0);
		}
	}
	close(ends[1]);
	return ends[0];
}

static char *slurp(int fd)
{
	struct stat stat;
	char *text;

	assert(!fstat(fd, &stat));
	text = malloc((size_t)stat.st_size + 1);
	assert(text && pread(fd, text, (size_t)stat.st_size, 0) == stat.st_size);
	text[stat.st_size] = '\0';
	return text;
}

static void read_events(struct reading *reading, struct fkt_trace *trace, bool list)
{
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_processes *processes = NULL;
	struct fkt_text *text = NULL;
	struct fkt_event event;
	int what, out = -1;

	assert(reader);
	if (list) {
		out = memfd_create("listing", 0);
		processes = fkt_processes_new(trace);
		text = fkt_text_new(trace, processes, out, FKT_TIME_CYCLES);
		assert(out >= 0 && processes && text);
		fkt_text_header(text);
	}
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			if (reading->n_events < READ_EVENTS_MAX)
				reading->events[reading->n_events] = event;
			reading->n_events++;
			if (list && fkt_is_process_event(event.code))
				fkt_processes_event(processes, &event);
			if (list)
				fkt_text_event(text, &event);
		} else if (what == FKT_GAP) {
			if (reading->n_gaps < READ_GAPS_MAX)
				reading->gaps[reading->n_gaps] = *fkt_gap(reader);
			reading->n_gaps++;
			if (list)
				fkt_text_gap(text, fkt_gap(reader));
		}
	}
	assert(!what);
	reading->stats = *fkt_read_stats(reader);
	assert(reading->stats.events == reading->n_events);
	fkt_reader_free(reader);
	if (list) {
		assert(!fkt_text_flush(text));
		fkt_text_free(text);
		fkt_processes_free(processes);
		reading->text = slurp(out);
		close(out);
	}
}

struct fkt_trace *read_open(int fd)
{
	char path[32], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, NULL, NULL, error);
	assert(trace);
	return trace;
}

struct reading *read_bytes(const struct build *build, size_t bytes, enum read_how how, bool list)
{
	struct reading *reading = malloc(sizeof(*reading));
	struct fkt_trace *trace;
	char path[32];
	pid_t child;
	int fd;

	assert(reading);
	memset(reading, 0, offsetof(struct reading, events));
	reading->n_events = reading->n_gaps = 0;
	*reading->error = *reading->warnings = '\0';
	memset(&reading->stats, 0, sizeof(reading->stats));

	fd = offer(build, bytes, how, &child);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, warn, reading, reading->error);
	close(fd);
	if (trace) {
		reading->opened = true;
		read_events(reading, trace, list);
		reading->complete = fkt_is_complete(trace);
		fkt_close(trace);
	}
	if (child)
		waitpid(child, NULL, 0);
	return reading;
}

struct reading *read_trace(const struct build *build, enum read_how how)
{
	return read_bytes(build, build->bytes, how, true);
}

void read_free(struct reading *reading)
{
	free(reading->text);
	free(reading);
}

const char *read_line(const struct reading *reading, unsigned int n)
{
	static char line[16384];
	const char *at = reading->text;

	for (n += 2; n && at; n--) {
		at = strchr(at, '\n');
		at += !!at;
	}
	if (!at)
		return "";
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	/* cycles, CPU, pid and process name are columns of fixed width. */
	return *line == '*' || strlen(line) < 42 ? line : line + 42;
}

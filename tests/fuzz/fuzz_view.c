// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libFuzzer feeds: a line that is a request, "/picture?from=0&to=9&width=100&tids=50", and
 * behind it any bytes as a trace. What fkt_view would answer is made, but for what other programs
 * do, and notes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fkt_view/notes.h"
#include "fkt_view/terminal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINE_BYTES 4096
#define VALUES_MAX 32
#define WAIT_US	   1000
#define WAITS_MAX  20000

struct values {
	char *name[VALUES_MAX];
	char *value[VALUES_MAX];
	unsigned int count;
};

static const char *get_value(void *arg, const char *name)
{
	const struct values *values = arg;

	for (unsigned int i = 0; i < values->count; i++)
		if (!strcmp(values->name[i], name))
			return values->value[i];
	return NULL;
}

static void split(struct values *values, char *query)
{
	char *word, *value;

	while (query && (word = strsep(&query, "&")) && values->count < VALUES_MAX) {
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		values->name[values->count] = word;
		values->value[values->count++] = value;
	}
}

static void answer(struct view *view, const struct request *request)
{
	struct answer text = { 0 };

	answer_trace(view, &text);
	answer_threads(view, &text);
	if (request->what == ASKED_PICTURE)
		answer_picture(view, request, &text);
	if (request->what == ASKED_MOMENT)
		answer_moment(view, request, &text);
	if (request->what == ASKED_CALLS)
		answer_calls(view, request, &text);
	if (request->what == ASKED_NEXT)
		answer_next(view, request, &text);
	answer_free(&text);
}

/* The same in a terminal: what is asked for is seen, and a thread of it is looked at. */
static void paint(struct view *view, const struct request *request)
{
	struct terminal terminal;
	struct glyph *glyphs;

	if (!terminal_begin(&terminal, view)) {
		terminal_resize(&terminal, request->width, request->width / 8);
		terminal_show(&terminal, request->from, request->to);
		terminal_choose_thread(&terminal, request->tids ? request->tid[0] : 1);
		terminal.mark[0] = terminal.from;
		terminal.mark[1] = terminal.to;
		terminal_ask(&terminal);
		terminal_sum_up(&terminal);
		if (request->what == ASKED_MOMENT)
			terminal_moment(&terminal);
		glyphs = calloc((size_t)terminal.columns * terminal.lines, sizeof(*glyphs));
		if (glyphs)
			terminal_paint(&terminal, glyphs);
		free(glyphs);
	}
	terminal_free(&terminal);
}

static void look(const char *path, const struct request *request)
{
	struct view view = { 0 };
	char error[FKT_ERROR_BYTES];
	struct progress progress = { 0 };

	if (view_open(&view, path, NULL, error)) {
		/* While it is made, and afterwards. */
		answer(&view, request);
		for (unsigned int i = 0; view.levels && !progress.done && i < WAITS_MAX; i++) {
			usleep(WAIT_US);
			levels_progress(view.levels, &progress);
		}
		answer(&view, request);
		paint(&view, request);
	}
	view_close(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t bytes = end ? (size_t)(end - data) : size;
	char line[LINE_BYTES], path[64], *query = line;
	struct values values = { 0 };
	struct request request;
	struct note note;
	int fd;

	/* The line may be that of a note, too. */
	note_parse(&note, (const char *)data, bytes);
	bytes = bytes < LINE_BYTES ? bytes : LINE_BYTES - 1;
	memcpy(line, data, bytes);
	line[bytes] = '\0';
	strsep(&query, "?");
	split(&values, query);
	if (request_read(&request, line, get_value, &values) || !end)
		return 0;
	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	size -= (size_t)(end + 1 - data);
	if (write(fd, end + 1, size) == (ssize_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		look(path, &request);
	}
	close(fd);
	return 0;
}

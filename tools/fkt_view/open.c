// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening what is looked at, and keeping up with it while it is recorded: when the file has grown,
 * it is opened anew, which takes no more than reading its head, and what is appended is fed to the
 * levels as a stream. All who answer hold the lock for reading.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/internal.h"
#include "view.h"

#define WATCH_MS 500

static void end_levels(struct view *view)
{
	/* The pipe's end wakes the levels' thread, and its reader's end the feeder. */
	grow_stop(view->feed);
	levels_free(view->levels);
	fkt_close(view->stream);
	grow_free(view->feed);
	view->levels = NULL;
	view->stream = NULL;
	view->feed = NULL;
}

static int begin_levels(struct view *view, bool growing)
{
	char pipe[GROW_PATH_BYTES], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace = view->trace;

	if (growing) {
		view->feed = grow_feed(view->path, pipe);
		if (!view->feed)
			return -errno;
		trace = view->stream = fkt_open(pipe, NULL, NULL, error);
		grow_opened(view->feed);
		if (!trace)
			return -EIO;
	}
	view->levels =
		levels_new(trace, view->names, !view->spool, view->first, view->last, growing);
	return view->levels ? 0 : -errno;
}

static uint64_t file_bytes(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISREG(file.st_mode) ? (uint64_t)file.st_size : 0;
}

/* The file has grown: look at it as it is now. */
static void take_growth(struct view *view)
{
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace = fkt_open(view->path, NULL, NULL, error), *old;
	uint64_t first = 0, last = 0;
	bool whole;

	if (!trace || memcmp(fkt_header(trace)->id, fkt_header(view->trace)->id, FKT_ID_BYTES) ||
	    !fkt_has_clock(trace) || !fkt_span(trace, &first, &last)) {
		fkt_close(trace);
		return;
	}
	pthread_rwlock_wrlock(&view->lock);
	/*
	 * A CPU's first page may come long after those of others, and begin before them. And in the
	 * end, what a stream has when it is told of belongs where it was.
	 */
	whole = fkt_is_complete(trace);
	if (!view->feed || first != view->first || (whole && fkt_tells_late(trace)))
		end_levels(view);
	old = view->trace;
	view->trace = trace;
	view->empty = false;
	view->first = first;
	view->last = last;
	if (!view->levels && begin_levels(view, !whole))
		end_levels(view);
	if (whole && view->feed)
		grow_finish(view->feed);
	pthread_rwlock_unlock(&view->lock);
	fkt_close(old);
}

static void *watch(void *arg)
{
	struct view *view = arg;
	struct pollfd stop = { .fd = view->watch[0], .events = POLLIN };
	uint64_t bytes, known = view->bytes;

	while (!poll(&stop, 1, WATCH_MS)) {
		bytes = file_bytes(view->path);
		if (bytes <= known)
			continue;
		known = bytes;
		take_growth(view);
		if (fkt_is_complete(view->trace))
			break;
	}
	return NULL;
}

/* The user does not wait any more: those signals are blocked. */
static bool is_ended(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT);
}

/* Until there is a whole head: the trace, or NULL where it does not come. */
static struct fkt_trace *await_head(struct view *view, fkt_warn_fn *warn,
				    char error[FKT_ERROR_BYTES])
{
	struct fkt_trace *trace;
	bool ended;

	for (;;) {
		ended = grow_has_ended(view->spool);
		trace = fkt_open(view->path, ended ? warn : NULL, NULL, error);
		if (ended || (trace && file_bytes(view->path) > fkt_header(trace)->data_offset))
			return trace;
		fkt_close(trace);
		if (is_ended()) {
			snprintf(error, FKT_ERROR_BYTES, "was ended before a trace came");
			return NULL;
		}
		poll(NULL, 0, WATCH_MS / 5);
	}
}

/* Standard input, or a pipe that has a name, and for whose writer nobody waits here. */
static bool is_stream(const char *path, int *input)
{
	struct stat about;

	*input = STDIN_FILENO;
	if (!strcmp(path, "-"))
		return true;
	if (stat(path, &about) || !S_ISFIFO(about.st_mode))
		return false;
	*input = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return true;
}

bool view_open(struct view *view, const char *path, fkt_warn_fn *warn, char error[FKT_ERROR_BYTES])
{
	int err = 0, input;

	pthread_rwlock_init(&view->lock, NULL);
	view->watch[0] = view->watch[1] = -1;
	view->path = view->name = path;
	if (is_stream(path, &input)) {
		view->spool = input < 0 ? NULL : grow_spool(input, view->spooled);
		view->path = view->spooled;
		view->name = input == STDIN_FILENO ? "standard input" : path;
		if (!view->spool) {
			snprintf(error, FKT_ERROR_BYTES, "cannot be kept in a file: %s",
				 strerror(errno));
			return false;
		}
		view->trace = await_head(view, warn, error);
	} else {
		view->trace = fkt_open(path, warn, NULL, error);
	}
	if (!view->trace)
		return false;
	if (!fkt_has_clock(view->trace)) {
		snprintf(error, FKT_ERROR_BYTES,
			 "does not say how fast its clock is, so there is no time to draw");
		return false;
	}
	view->bytes = file_bytes(view->path);
	view->names = names_new();
	view->empty = !fkt_span(view->trace, &view->first, &view->last);
	if (!view->names)
		err = -ENOMEM;
	else if (!view->empty)
		err = begin_levels(view, false);
	if (!err && !fkt_is_complete(view->trace) && (view->bytes || view->spool)) {
		err = pipe(view->watch) ? -errno
					: -pthread_create(&view->watcher, NULL, watch, view);
		view->watched = !err;
	}
	if (err)
		snprintf(error, FKT_ERROR_BYTES, "nothing can be summed up: %s", strerror(-err));
	return !err;
}

bool view_is_replaced(struct view *view)
{
	const int fd = open(view->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct fkt_file_header header;
	bool replaced = false;

	if (fd < 0)
		return false;
	if (pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header)) {
		pthread_rwlock_rdlock(&view->lock);
		replaced = memcmp(header.id, fkt_header(view->trace)->id, FKT_ID_BYTES);
		pthread_rwlock_unlock(&view->lock);
	}
	close(fd);
	return replaced;
}

void view_close(struct view *view)
{
	if (view->watch[1] >= 0)
		close(view->watch[1]);
	if (view->watched)
		pthread_join(view->watcher, NULL);
	if (view->watch[0] >= 0)
		close(view->watch[0]);
	end_levels(view);
	grow_free(view->spool);
	names_free(view->names);
	fkt_close(view->trace);
	pthread_rwlock_destroy(&view->lock);
}

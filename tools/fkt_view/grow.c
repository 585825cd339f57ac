// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "grow.h"
#include "levels.h"

#define POLL_MS	   100
#define COPY_BYTES 65536

/**
 * struct grow - bytes that are copied
 * @from, @to: descriptors
 * @end: that of the pipe's other end, until grow_opened(); or -1
 * @ends: @from ends with a read of no bytes, and does not grow
 * @stop: end now; @finish: @from has all that will come
 * @ended: it has
 */
struct grow {
	int from;
	int to;
	int end;
	bool ends;
	bool stop;
	bool finish;
	bool ended;
	pthread_t thread;
};

static bool stopped(const struct grow *grow)
{
	return __atomic_load_n(&grow->stop, __ATOMIC_RELAXED);
}

static void *run(void *arg)
{
	struct grow *grow = arg;
	struct pollfd in = { .fd = grow->from, .events = POLLIN };
	char data[COPY_BYTES];
	bool finish;
	ssize_t got;

	while (!stopped(grow)) {
		/* A file is always ready, and a pipe may never be. */
		if (grow->ends && poll(&in, 1, POLL_MS) == 0)
			continue;
		finish = grow->ends || __atomic_load_n(&grow->finish, __ATOMIC_ACQUIRE);
		got = read(grow->from, data, sizeof(data));
		if ((got < 0 && errno != EINTR) || (!got && finish))
			break;
		if (!got)
			poll(NULL, 0, POLL_MS);
		if (got > 0 && !levels_write(grow->to, data, (size_t)got))
			break;
	}
	/* A file is read on by its name. */
	if (!grow->ends) {
		close(grow->to);
		grow->to = -1;
	}
	__atomic_store_n(&grow->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static struct grow *begin(int from, int to, int end, bool ends)
{
	struct grow *grow = calloc(1, sizeof(*grow));
	int err = ENOMEM;

	if (grow) {
		*grow = (struct grow){ .from = from, .to = to, .end = end, .ends = ends };
		err = pthread_create(&grow->thread, NULL, run, grow);
	}
	if (!err)
		return grow;
	free(grow);
	errno = err;
	return NULL;
}

struct grow *grow_spool(int input, char path[GROW_PATH_BYTES])
{
	struct grow *grow;
	int file = levels_file();

	if (file < 0)
		return NULL;
	/* For other programs, too. */
	snprintf(path, GROW_PATH_BYTES, "/proc/%ld/fd/%d", (long)getpid(), file);
	grow = begin(input, file, -1, true);
	if (!grow)
		close(file);
	return grow;
}

struct grow *grow_feed(const char *path, char pipe[GROW_PATH_BYTES])
{
	int file = open(path, O_RDONLY | O_CLOEXEC), ends[2], err;
	struct grow *grow;

	if (file < 0)
		return NULL;
	if (pipe2(ends, O_CLOEXEC)) {
		err = errno;
		close(file);
		errno = err;
		return NULL;
	}
	snprintf(pipe, GROW_PATH_BYTES, "/proc/self/fd/%d", ends[0]);
	grow = begin(file, ends[1], ends[0], false);
	if (!grow) {
		err = errno;
		close(file);
		close(ends[0]);
		close(ends[1]);
		errno = err;
	}
	return grow;
}

void grow_opened(struct grow *grow)
{
	close(grow->end);
	grow->end = -1;
}

void grow_finish(struct grow *grow)
{
	__atomic_store_n(&grow->finish, true, __ATOMIC_RELEASE);
}

bool grow_has_ended(const struct grow *grow)
{
	return __atomic_load_n(&grow->ended, __ATOMIC_ACQUIRE);
}

void grow_stop(struct grow *grow)
{
	if (grow)
		__atomic_store_n(&grow->stop, true, __ATOMIC_RELAXED);
}

void grow_free(struct grow *grow)
{
	if (!grow)
		return;
	grow_stop(grow);
	if (grow->end >= 0)
		close(grow->end);
	pthread_join(grow->thread, NULL);
	if (!grow->ends)
		close(grow->from);
	if (grow->to >= 0)
		close(grow->to);
	free(grow);
}

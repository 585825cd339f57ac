// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program for docs/tutorial.md: one thread answers requests, another one writes a report, and
 * holds their lock for longer than it needs it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned int requests;
static volatile int done;

static __attribute__((noinline)) void write_report(void)
{
	pthread_mutex_lock(&lock);
	/* A disk that takes its time, and nobody has thought of the lock. */
	usleep(20000);
	pthread_mutex_unlock(&lock);
}

static __attribute__((noinline)) void answer_request(void)
{
	pthread_mutex_lock(&lock);
	requests++;
	pthread_mutex_unlock(&lock);
}

static void *report(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "report");
	while (!done) {
		write_report();
		usleep(80000);
	}
	return NULL;
}

int main(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	pthread_t thread;

	if (pthread_create(&thread, NULL, report, NULL))
		return 1;
	pthread_setname_np(pthread_self(), "answers");
	for (int i = 0; i < 1000; i++) {
		answer_request();
		nanosleep(&pause, NULL);
	}
	done = 1;
	pthread_join(thread, NULL);
	return requests != 1000;
}

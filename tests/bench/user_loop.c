// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_loop fkt|lttng|floor THREADS EVENTS: what an event with one argument takes that a program
 * writes, in ns, with so many threads that write at the same time; the least of some rounds. The
 * floor is what no such event can be cheaper than on this machine: a reading of the clock and an
 * exchange, in a cache line of the thread's own.
 *
 * Without the module: fkt/user.h writes into lanes in ordinary memory. In the kernel's place is
 * this program, which takes what is there, as often as the kernel does, by a thread, and where a
 * lane is half full by the writer's call. It believes as little, and copies each event.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int stand_in(int fd, unsigned long request, ...);
#define ioctl(...) stand_in(__VA_ARGS__)
#include <fkt/user.h>
#undef ioctl

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "user_loop_lttng.h"

#define ROUNDS	    7
#define THREADS_MAX 16
#define TAKE_NS	    10000000 /* a hundred times a second */
#define FD	    1000
#define CODE	    77
#define WORDS_MAX   (FKT_USER_HEAD_WORDS + 15)
#define COPY_WORDS  65536
#define NS_A_SECOND 1000000000ull

static struct fkt_user_lanes *lanes;
static pthread_mutex_t taking[FKT_USER_LANES_MAX];
static __u64 copied[FKT_USER_LANES_MAX][COPY_WORDS];
static unsigned long taken;
static bool ended;

static unsigned long count;
static enum {
	FKT,
	LTTNG,
	FLOOR
} writer;
static pthread_barrier_t barrier;

FKT_USER_EVENT(one, "one", "value:u64");

/* ---- in the kernel's place ---- */

static void take(unsigned int number)
{
	struct fkt_user_lane *lane = &lanes->lane[number];
	__u64 *word =
		(__u64 *)(void *)((char *)lanes + FKT_USER_PAGE) + number * FKT_USER_LANE_WORDS;
	const __u32 mask = FKT_USER_LANE_WORDS - 1;
	unsigned long events = 0;
	__u32 at, head, words;
	__u64 tag;

	pthread_mutex_lock(&taking[number]);
	at = (__u32)lane->tail;
	head = (__u32)__atomic_load_n(&lane->head, __ATOMIC_ACQUIRE);
	while (at != head) {
		tag = __atomic_load_n(&word[at & mask], __ATOMIC_ACQUIRE);
		words = FKT_USER_HEAD_WORDS + FKT_USER_ARGS(tag);
		if (!(tag & FKT_USER_DONE) || FKT_USER_TAG_LAP(tag) != FKT_USER_LAP(at) ||
		    words > WORDS_MAX)
			break;
		for (__u32 i = 0; i < words; i++) {
			copied[number][(at + i) % COPY_WORDS] = word[(at + i) & mask];
			word[(at + i) & mask] = 0;
		}
		at += words;
		events++;
	}
	__atomic_fetch_add(&taken, events, __ATOMIC_RELAXED);
	__atomic_store_n(&lane->tail, at, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&taking[number]);
}

static void take_all(void)
{
	for (unsigned int i = 0; i <= lanes->mask; i++)
		take(i);
}

static int stand_in(int fd, unsigned long request, ...)
{
	(void)fd;
	if (request == FKT_USER_FLUSH) {
		syscall(SYS_getppid); /* a call into the kernel is a part of it */
		take_all();
	}
	return 1;
}

static void *take_always(void *arg)
{
	const struct timespec time = { .tv_nsec = TAKE_NS };

	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
		take_all();
		nanosleep(&time, NULL);
	}
	return arg;
}

/* What a program has when somebody records, and its first event has come. */
static void begin_fkt(void)
{
	static struct fkt_user_control control = { FKT_USER_VERSION, 1 };
	static struct fkt_user_process process;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int n = FKT_USER_LANES_MIN;

	while (n < FKT_USER_LANES_MAX && n < 2 * (unsigned long)cpus)
		n *= 2;
	lanes = mmap(NULL, FKT_USER_LANES_BYTES(FKT_USER_LANES_MAX), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (lanes == MAP_FAILED)
		err(1, "mmap");
	lanes->generation = 1;
	lanes->fd = FD;
	lanes->id = 1;
	lanes->mask = n - 1;
	process.lanes = lanes;
	fkt_user_process = &process;
	one.known = (__u64)lanes->generation << 32 | CODE;
	for (unsigned int i = 0; i < n; i++)
		pthread_mutex_init(&taking[i], NULL);
	fkt_user_control = &control;
}

/* ---- the loop ---- */

static void floor_loop(void)
{
	__u64 head __attribute__((aligned(64))) = 0, before;
	__u32 aux;

	for (unsigned long i = 0; i < count; i++) {
		(void)__builtin_ia32_rdtscp(&aux);
		before = __atomic_load_n(&head, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&head, &before, before + 1, 1, __ATOMIC_RELAXED,
						    __ATOMIC_RELAXED))
			;
	}
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * NS_A_SECOND + (unsigned long long)now.tv_nsec;
}

static void *loop(void *arg)
{
	fkt_user_thread.generation = 1;
	fkt_user_thread.number = 1 + (__u32)(unsigned long)arg;
	pthread_barrier_wait(&barrier);
	if (writer == FLOOR)
		floor_loop();
	else if (writer == LTTNG)
		for (unsigned long i = 0; i < count; i++)
			lttng_ust_tracepoint(user_loop, one, i);
	else
		for (unsigned long i = 0; i < count; i++)
			fkt_event1(one, i);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* Seconds from when all threads begin until the last one has ended. */
static unsigned long long round_ns(unsigned int threads)
{
	pthread_t thread[THREADS_MAX];
	unsigned long long begin;

	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, loop, (void *)(unsigned long)i))
			errx(1, "no thread");
	pthread_barrier_wait(&barrier);
	begin = now_ns();
	pthread_barrier_wait(&barrier);
	begin = now_ns() - begin;
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	return begin;
}

static unsigned long lost_in_lanes(void)
{
	unsigned long lost = 0;

	for (unsigned int i = 0; lanes && i <= lanes->mask; i++)
		lost += lanes->lane[i].lost;
	return lost;
}

int main(int argc, char **argv)
{
	unsigned int threads = argc == 4 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	unsigned long long least = 0, ns;
	pthread_t taker;

	if (threads < 1 || threads > THREADS_MAX)
		errx(2, "user_loop fkt|lttng|floor THREADS EVENTS");
	count = strtoul(argv[3], NULL, 10);
	writer = !strcmp(argv[1], "lttng") ? LTTNG : !strcmp(argv[1], "floor") ? FLOOR : FKT;
	if (writer == FKT) {
		begin_fkt();
		if (pthread_create(&taker, NULL, take_always, NULL))
			errx(1, "no thread");
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		ns = round_ns(threads);
		if (!least || ns < least)
			least = ns;
	}
	if (writer == FKT) {
		__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
		pthread_join(taker, NULL);
		take_all();
		if (taken + lost_in_lanes() != ROUNDS * threads * count)
			errx(1, "%lu were taken and %lu lost of %lu", taken, lost_in_lanes(),
			     ROUNDS * threads * count);
	}
	/* ns an event of each thread, events, those that were lost, bytes an event in memory */
	printf("%.1f %lu %lu %zu\n", (double)least / (double)count, ROUNDS * threads * count,
	       lost_in_lanes(), (FKT_USER_HEAD_WORDS + 1) * sizeof(__u64));
	return 0;
}

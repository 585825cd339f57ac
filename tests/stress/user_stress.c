// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt/user.h in a program of four threads, which signal handlers interrupt: each event that was
 * made is read once and whole, those of a thread and a lane in their order, or is counted as lost,
 * which few are: a thread that is put off in the midst of an event holds up its lane alone.
 *
 * Without the module: in the kernel's place is this program, which takes what is there, by a thread
 * all the time and by the writers' calls where a lane is half full, and believes as little.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/types.h>

#define FD 1000

static int device_open(const char *path, int flags);
static void *device_map(void *at, size_t bytes, int protection, int flags, int fd, long offset);
static int device_call(int fd, unsigned long request, ...);
static int device_close(int fd);
#define open(path, flags) device_open(path, flags)
#define mmap(at, bytes, protection, flags, fd, offset)                                             \
	device_map(at, bytes, protection, flags, fd, offset)
#define ioctl(...)  device_call(__VA_ARGS__)
#define close(file) device_close(file)
#include <fkt/user.h>
#undef open
#undef mmap
#undef ioctl
#undef close

#define THREADS	     4
#define LANES	     4
#define ID	     7
#define PESTER_NS    200000
#define TAKE_NS	     100000
#define EVENTS	     10000000u
/* The sanitizers see to each access. */
#define EVENTS_SLOW  1000000u
#define HANDLED_MAX  (1u << 20)
#define LOST_PERCENT 5u
#define CODE_MADE    1
#define CODE_HANDLED 2

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define COUNT (EVENTS_SLOW / THREADS)
#else
#define COUNT (EVENTS / THREADS)
#endif

FKT_USER_EVENT(made, "made", "thread:u64 number:u64");
FKT_USER_EVENT(handled, "handled", "thread:u64 number:u64");

/**
 * struct seen - what was read of a thread's events of one kind
 * @last: by lane, the number of the last one
 * @is: bits, by number: it was read
 */
struct seen {
	__u64 last[LANES];
	unsigned char *is;
};

static struct fkt_user_lanes *lanes;
static pthread_mutex_t taking[LANES] = { [0 ... LANES - 1] = PTHREAD_MUTEX_INITIALIZER };
static struct seen seen[2][THREADS];
static __u64 taken[LANES];
static __u32 joined;
static bool ended;
static __thread __u64 own, own_handled;
static __u64 all_handled;
static unsigned int done;
static pthread_barrier_t begun;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(1);
}

/* ---- in the kernel's place ---- */

static void check(unsigned int lane, __u64 tag, const __u64 *arg)
{
	const bool by_handler = FKT_USER_TAG_CODE(tag) == CODE_HANDLED;
	const __u64 most = by_handler ? HANDLED_MAX : COUNT;
	struct seen *of;

	if (FKT_USER_ARGS(tag) != 2 || arg[0] >= THREADS || !arg[1] || arg[1] > most)
		fail("lane %u: thread %llu, number %llu: what is that?", lane, arg[0], arg[1]);
	of = &seen[by_handler][arg[0]];
	if (arg[1] <= of->last[lane])
		fail("thread %llu: %llu behind %llu", arg[0], arg[1], of->last[lane]);
	of->last[lane] = arg[1];
	if (__atomic_fetch_or(&of->is[arg[1] / 8], 1 << arg[1] % 8, __ATOMIC_RELAXED) &
	    1 << arg[1] % 8)
		fail("thread %llu: %llu is there twice", arg[0], arg[1]);
	taken[lane]++;
}

static void take(unsigned int number)
{
	struct fkt_user_lane *lane = &lanes->lane[number];
	__u64 *word =
		(__u64 *)(void *)((char *)lanes + FKT_USER_PAGE) + number * FKT_USER_LANE_WORDS;
	const __u32 mask = FKT_USER_LANE_WORDS - 1;
	__u64 tag, arg[FKT_USER_ARGS_MAX] = { 0 };
	__u32 at, words;

	pthread_mutex_lock(&taking[number]);
	at = (__u32)lane->tail;
	while (at != (__u32)__atomic_load_n(&lane->head, __ATOMIC_RELAXED)) {
		/* Partner: the release of who has written it. */
		tag = __atomic_load_n(&word[at & mask], __ATOMIC_ACQUIRE);
		if (!(tag & FKT_USER_DONE))
			break;
		if (FKT_USER_TAG_LAP(tag) != FKT_USER_LAP(at))
			fail("lane %u: %#llx at %u", number, tag, at);
		words = FKT_USER_HEAD_WORDS + FKT_USER_ARGS(tag);
		for (__u32 i = FKT_USER_HEAD_WORDS; i < words && i < 4; i++)
			arg[i - FKT_USER_HEAD_WORDS] = word[(at + i) & mask];
		check(number, tag, arg);
		for (__u32 i = 1; i < words; i++)
			word[(at + i) & mask] = 0;
		__atomic_store_n(&word[at & mask], 0, __ATOMIC_RELAXED);
		at += words;
		/* Partner: the acquire of who fills them next. */
		__atomic_store_n(&lane->tail, at, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&taking[number]);
}

static int device_open(const char *path, int flags)
{
	(void)path;
	(void)flags;
	return FD;
}

static int device_close(int fd)
{
	return fd == FD ? 0 : close(fd);
}

/* Not freed: who was not the first one to have lanes takes others. */
static void *device_map(void *at, size_t bytes, int protection, int flags, int fd, long offset)
{
	static struct fkt_user_control control = { FKT_USER_VERSION, 1 };
	struct fkt_user_lanes *fresh;

	if (fd != FD)
		return mmap(at, bytes, protection, flags, fd, offset);
	if (!offset)
		return &control;
	fresh = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		err(1, "mmap");
	fresh->mask = LANES - 1;
	fresh->id = ID;
	return fresh;
}

/* In the order of numbers a signal handler can't come between: what is taken is checked there. */
static int device_call(int fd, unsigned long request, ...)
{
	struct fkt_user_lanes *all = __atomic_load_n(&fkt_user_process->lanes, __ATOMIC_ACQUIRE);
	struct fkt_user_join *join;
	struct fkt_user_name *name;
	sigset_t every, before;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	switch (request) {
	case FKT_USER_JOIN:
		join = arg;
		join->thread = __atomic_add_fetch(&joined, 1, __ATOMIC_RELAXED);
		return 0;
	case FKT_USER_NAME:
		name = arg;
		name->code = !strcmp(name->name, "made") ? CODE_MADE : CODE_HANDLED;
		return 0;
	case FKT_USER_FLUSH:
		sigfillset(&every);
		pthread_sigmask(SIG_BLOCK, &every, &before);
		for (unsigned int i = 0; all == lanes && i < LANES; i++)
			take(i);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		return ID;
	default:
		return fd == FD ? ID : -1;
	}
}

static void *take_always(void *arg)
{
	const struct timespec time = { .tv_nsec = TAKE_NS };

	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < LANES; i++)
			take(i);
		nanosleep(&time, NULL);
	}
	return arg;
}

/* ---- the program ---- */

static void handler(int signal)
{
	(void)signal;
	if (own_handled == HANDLED_MAX)
		return;
	own_handled++;
	fkt_event2(handled, own, own_handled);
}

/* It is there until nobody sends it a signal any more. */
static void *write_all(void *arg)
{
	const struct timespec time = { .tv_nsec = PESTER_NS };
	sigset_t signals;

	own = (unsigned long)arg;
	sigemptyset(&signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	pthread_barrier_wait(&begun);
	for (__u64 i = 1; i <= COUNT; i++)
		fkt_event2(made, own, i);
	sigfillset(&signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	__atomic_fetch_add(&all_handled, own_handled, __ATOMIC_RELAXED);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED))
		nanosleep(&time, NULL);
	return NULL;
}

/* There are lanes before there is a thread; all threads ask for the events' names at once. */
static void begin(void)
{
	static const unsigned int bytes[] = { COUNT / 8 + 1, HANDLED_MAX / 8 + 1 };

	for (unsigned int kind = 0; kind < 2; kind++)
		for (unsigned int i = 0; i < THREADS; i++) {
			seen[kind][i].is = calloc(bytes[kind], 1);
			if (!seen[kind][i].is)
				err(1, "calloc");
		}
	pthread_barrier_init(&begun, NULL, THREADS);
	lanes = fkt_user_prepare(NULL);
	if (!lanes)
		errx(1, "no lanes");
}

static void run(void)
{
	const struct timespec time = { .tv_nsec = PESTER_NS };
	pthread_t taker, writer[THREADS];

	if (pthread_create(&taker, NULL, take_always, NULL))
		errx(1, "no thread");
	for (unsigned long i = 0; i < THREADS; i++)
		if (pthread_create(&writer[i], NULL, write_all, (void *)i))
			errx(1, "no thread");
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < THREADS) {
		for (unsigned int i = 0; i < THREADS; i++)
			pthread_kill(writer[i], SIGUSR1);
		nanosleep(&time, NULL);
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(writer[i], NULL);
	pthread_join(taker, NULL);
}

int main(void)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	__u64 read = 0, lost = 0, all;
	sigset_t every;

	begin();
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, NULL);
	if (sigaction(SIGUSR1, &action, NULL))
		err(1, "sigaction");
	run();
	for (unsigned int i = 0; i < LANES; i++) {
		take(i);
		if ((__u32)lanes->lane[i].head != (__u32)lanes->lane[i].tail)
			fail("lane %u: events that are never done", i);
		read += taken[i];
		lost += lanes->lane[i].lost;
	}
	all = (__u64)THREADS * COUNT + all_handled;
	printf("made %llu, %llu of them in signal handlers; read %llu, lost %llu\n", all,
	       all_handled, read, lost);
	if (read + lost != all || !read || !all_handled)
		fail("made is not read + lost");
	if (lost > all / 100 * LOST_PERCENT)
		fail("more than %u %% were lost", LOST_PERCENT);
	return 0;
}

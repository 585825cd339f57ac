// SPDX-License-Identifier: GPL-2.0-only
/*
 * app_events HOW COUNT: events of a program's own, with numbers by which they are known again. Says
 * how many it has made, a line "made PID EVENTS" for each process.
 *
 *	calls	four threads, and each event is between two close() with its number
 *	burst	four threads, as fast as they can
 *	signals	the same in one thread, which a signal interrupts: its handler has events, too
 *	fork	a child for each hundredth event, which goes on with its own
 *	kill	a child that writes until it is killed, in the midst of something
 *	exec	a child that writes, and then is another program
 *	leap	the handler never returns: it leaps over an event that may not be done
 *	lives	threads, one after another, and each has one event
 *	leader	events of the first thread, which ends a while before another one does
 *	closes	all files are closed under it, and others opened; again and again
 *	files	a child for each event: how many files of the device it has before its own first
 *		event, and behind that, as "files BEFORE BEHIND"
 *	steps	events, a thousand at a time, with a line and a rest behind them
 *	looks	the device is opened so often, and mapped, as by programs that record nothing
 *	spans	so often, a span with a space in its name, in it another one, in that a system call
 *	counts	a counter that counts, a ms apart, and a mark behind it
 *	marks	marks, when it is told to begin by a line
 *	names	so often, a name of another program, which ends then, is asked for
 *	holds	so many names are asked for, and kept until it is killed
 *	joins	so many ms long, lanes are made and given back: "longest MS"
 *	storm	four threads, a thread's events in blocks of a hundred, each between two close()
 *		with the number of its first one; a signal every millisecond, whose handler has
 *		events; and children all the while: one that writes and ends, one that is killed
 *	quiet	events, without a word
 */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fkt/user.h>

#define THREADS	     4
#define FIRST_NUMBER 0x40000000
#define THREAD_SHIFT 24
#define TICK_US	     200

FKT_USER_EVENT(numbered, "numbered", "thread:u32 number:u32");
FKT_USER_EVENT(in_handler, "in_handler", "number:u32");
FKT_USER_EVENT(of_child, "of_child", "number:u32");
FKT_USER_EVENT(lived, "lived", "number:u32");

static unsigned long count;
static volatile unsigned long handled;
static sigjmp_buf back;

static void say(pid_t pid, unsigned long made)
{
	printf("made %d %lu\n", pid, made);
	fflush(stdout);
}

static void *calls(void *arg)
{
	unsigned long thread = (unsigned long)arg;

	for (unsigned long i = 1; i <= count; i++) {
		syscall(SYS_close, FIRST_NUMBER | thread << THREAD_SHIFT | i);
		fkt_event2(numbered, thread, i);
		syscall(SYS_close, FIRST_NUMBER | thread << THREAD_SHIFT | i);
	}
	return NULL;
}

static void *burst(void *arg)
{
	for (unsigned long i = 1; i <= count; i++)
		fkt_event2(numbered, arg, i);
	return NULL;
}

static void threads(void *(*function)(void *))
{
	pthread_t thread[THREADS];

	for (unsigned long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, function, (void *)i))
			errx(1, "pthread_create");
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	say(getpid(), THREADS * count);
}

static void handler(int signal)
{
	(void)signal;
	handled++;
	fkt_event1(in_handler, handled);
}

static void leap(int signal)
{
	handler(signal);
	siglongjmp(back, 1);
}

static void tick(void (*function)(int), unsigned int us)
{
	const struct itimerval every = { { 0, us }, { 0, us } };
	const struct sigaction action = { .sa_handler = function };

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &every, NULL))
		err(1, "setitimer");
}

static void signals(void)
{
	tick(handler, TICK_US);
	burst(NULL);
	tick(handler, 0);
	say(getpid(), count + handled);
}

static void leaps(void)
{
	volatile unsigned long made = 0;

	while (made < count) {
		if (!sigsetjmp(back, 1))
			tick(leap, TICK_US);
		while (made < count) {
			made++;
			fkt_event2(numbered, 0, made);
		}
	}
	tick(handler, 0);
	say(getpid(), made + handled);
}

/* A child is made; its parent waits for it. Return: whether this is the child. */
static bool is_child(void)
{
	pid_t child = fork();

	if (child < 0)
		err(1, "fork");
	if (child)
		waitpid(child, NULL, 0);
	return !child;
}

static void forks(void)
{
	for (unsigned long i = 1; i <= count; i++) {
		fkt_event2(numbered, 0, i);
		if (i % 100 || !is_child())
			continue;
		for (unsigned long k = 1; k <= 10; k++)
			fkt_event1(of_child, k);
		say(getpid(), 10);
		_exit(0);
	}
	say(getpid(), count);
}

/* The child counts before each event and after it: as many as the one or the other are made. */
static void kills(void)
{
	volatile unsigned long *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	if (made == MAP_FAILED)
		err(1, "mmap");
	for (unsigned long i = 0; i < count; i++) {
		made[0] = made[1] = 0;
		child = fork();
		if (child < 0)
			err(1, "fork");
		while (!child) {
			made[0]++;
			fkt_event1(of_child, made[0]);
			made[1]++;
		}
		/* A machine that is slow has not begun it by then. */
		while (!made[1])
			usleep(1000);
		usleep(20000 + (useconds_t)(i * 1000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		printf("killed %d %lu %lu\n", child, made[1], made[0]);
		fflush(stdout);
	}
}

#define BLOCK	       100
#define CHILD_EVENTS   200
#define CHILD_LIVES_US 20000
#define STORM_TICK_US  1000

static unsigned int storming;

static void *storm_thread(void *arg)
{
	unsigned long thread = (unsigned long)arg, block = 0;

	for (unsigned long i = 1; i <= count; i++) {
		if (i % BLOCK == 1) {
			block = FIRST_NUMBER | thread << THREAD_SHIFT | i;
			syscall(SYS_close, block);
		}
		fkt_event2(numbered, thread, i);
		if (i % BLOCK == 0)
			syscall(SYS_close, block);
	}
	__atomic_fetch_sub(&storming, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Its number, which no two of them have. */
static void storm_handler(int signal)
{
	(void)signal;
	fkt_event1(in_handler, __atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED));
}

/* Events of a child, which counts before and after each; it is killed, or ends by itself. */
static void storm_child(volatile unsigned long *made, unsigned long most)
{
	int status;
	pid_t child;

	made[0] = made[1] = 0;
	child = fork();
	if (child < 0)
		err(1, "fork");
	while (!child && made[1] < most) {
		made[0]++;
		fkt_event1(of_child, made[0]);
		made[1]++;
	}
	if (!child)
		_exit(0);
	if (most == ULONG_MAX) {
		usleep(CHILD_LIVES_US);
		kill(child, SIGKILL);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	printf("killed %d %lu %lu\n", child, made[1], made[0]);
}

static void storm(void)
{
	volatile unsigned long *made =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t thread[THREADS];

	if (made == MAP_FAILED)
		err(1, "mmap");
	storming = THREADS;
	tick(storm_handler, STORM_TICK_US);
	for (unsigned long i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, storm_thread, (void *)i))
			errx(1, "pthread_create");
	while (__atomic_load_n(&storming, __ATOMIC_ACQUIRE)) {
		storm_child(made, CHILD_EVENTS);
		storm_child(made, ULONG_MAX);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	tick(storm_handler, 0);
	say(getpid(), THREADS * count + handled);
	if (ferror(stdout))
		errx(1, "not all was said");
}

static void execs(void)
{
	pid_t child;

	for (unsigned long i = 0; i < count; i++) {
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (!child) {
			fkt_event1(of_child, 1);
			execlp("true", "true", NULL);
			err(1, "true");
		}
		waitpid(child, NULL, 0);
		say(child, 1);
	}
}

static void steps(void)
{
	for (unsigned long i = 1; i <= count; i++) {
		fkt_event2(numbered, 0, i);
		if (i % 1000)
			continue;
		printf("step %lu\n", i);
		fflush(stdout);
		usleep(20000);
	}
}

static void *live(void *number)
{
	fkt_event1(lived, number);
	return NULL;
}

static void lives(void)
{
	pthread_t thread;

	for (unsigned long i = 1; i <= count; i++) {
		if (pthread_create(&thread, NULL, live, (void *)i))
			errx(1, "pthread_create");
		pthread_join(thread, NULL);
	}
	say(getpid(), count);
}

static void *outlive(void *unused)
{
	(void)unused;
	usleep(300000);
	exit(0);
}

static void leader(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, outlive, NULL))
		errx(1, "pthread_create");
	for (unsigned long i = 1; i <= count; i++)
		fkt_event1(lived, i);
	say(getpid(), count);
	/* Without a word to anybody. */
	syscall(SYS_exit, 0);
}

/* All that daemons close, and what they open then has the same numbers. A new thread asks anew. */
static void closes(void)
{
	pthread_t thread;

	for (unsigned long i = 1; i <= count; i++) {
		fkt_event2(numbered, 0, i);
		closefrom(3);
		for (int k = 0; k < 4; k++)
			if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
				err(1, "/dev/null");
		if (pthread_create(&thread, NULL, live, (void *)i))
			errx(1, "pthread_create");
		pthread_join(thread, NULL);
	}
	say(getpid(), 2 * count);
}

static unsigned int files_of_device(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned int n = 0;
	char target[64];
	ssize_t length;

	if (!dir)
		err(1, "/proc/self/fd");
	while ((entry = readdir(dir))) {
		length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (length < 0)
			continue;
		target[length] = '\0';
		n += !strcmp(target, FKT_USER_DEVICE);
	}
	closedir(dir);
	return n;
}

static void files(void)
{
	unsigned int before;

	for (unsigned long i = 1; i <= count; i++) {
		fkt_event2(numbered, 0, i);
		if (!is_child())
			continue;
		before = files_of_device();
		fkt_event1(of_child, 1);
		printf("files %u %u\n", before, files_of_device());
		fflush(stdout);
		_exit(0);
	}
	say(getpid(), count);
}

static void looks(void)
{
	for (unsigned long i = 0; i < count; i++) {
		int fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);

		if (fd < 0 || mmap(NULL, FKT_USER_PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
			err(1, FKT_USER_DEVICE);
		close(fd);
	}
	printf("looks\n");
	fflush(stdout);
	pause();
}

static void names(void)
{
	struct fkt_user_name name = { .kind = FKT_USER_POINT };

	for (unsigned long i = 0; i < count; i++) {
		int fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);

		snprintf(name.name, sizeof(name.name), "name%lu", i);
		if (fd < 0 || ioctl(fd, FKT_USER_NAME, &name))
			err(1, "%s", name.name);
		close(fd);
	}
	say(getpid(), count);
}

static void spans(void)
{
	for (unsigned long i = 0; i < count; i++) {
		FKT_SPAN("outer span");
		{
			FKT_SPAN("inner");
			getppid();
		}
	}
}

static void counts(void)
{
	for (unsigned long i = 0; i < count; i++) {
		fkt_counter("counted", i);
		usleep(1000);
	}
	fkt_mark("counted up");
}

static void marks(void)
{
	/* Its group has less memory by then. */
	(void)getchar();
	for (unsigned long i = 0; i < count; i++)
		fkt_mark("a mark");
	say(getpid(), count);
}

static void holds(void)
{
	struct fkt_user_name name = { .kind = FKT_USER_POINT };
	int fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);

	for (unsigned long i = 0; i < count; i++) {
		snprintf(name.name, sizeof(name.name), "held%lu", i);
		if (fd < 0 || ioctl(fd, FKT_USER_NAME, &name))
			err(1, "%s", name.name);
	}
	printf("holds\n");
	fflush(stdout);
	pause();
}

static unsigned long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000 + (unsigned long)now.tv_nsec / 1000000;
}

static void joins(void)
{
	const unsigned long end = now_ms() + count;
	struct fkt_user_join join = { FKT_USER_VERSION, 0 };
	unsigned long begin, took, longest = 0;

	do {
		int fd;

		begin = now_ms();
		fd = open(FKT_USER_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd < 0 || ioctl(fd, FKT_USER_JOIN, &join))
			err(1, FKT_USER_DEVICE);
		close(fd);
		took = now_ms() - begin;
		longest = took > longest ? took : longest;
		usleep(1000);
	} while (now_ms() < end);
	printf("longest %lu\n", longest);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *how = argc == 3 ? argv[1] : "";

	count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	if (!count)
		errx(2, "app_events HOW COUNT");
	if (!strcmp(how, "calls"))
		threads(calls);
	else if (!strcmp(how, "burst"))
		threads(burst);
	else if (!strcmp(how, "signals"))
		signals();
	else if (!strcmp(how, "leap"))
		leaps();
	else if (!strcmp(how, "fork"))
		forks();
	else if (!strcmp(how, "kill"))
		kills();
	else if (!strcmp(how, "exec"))
		execs();
	else if (!strcmp(how, "steps"))
		steps();
	else if (!strcmp(how, "lives"))
		lives();
	else if (!strcmp(how, "leader"))
		leader();
	else if (!strcmp(how, "closes"))
		closes();
	else if (!strcmp(how, "files"))
		files();
	else if (!strcmp(how, "looks"))
		looks();
	else if (!strcmp(how, "names"))
		names();
	else if (!strcmp(how, "marks"))
		marks();
	else if (!strcmp(how, "holds"))
		holds();
	else if (!strcmp(how, "spans"))
		spans();
	else if (!strcmp(how, "counts"))
		counts();
	else if (!strcmp(how, "joins"))
		joins();
	else if (!strcmp(how, "storm"))
		storm();
	else if (!strcmp(how, "quiet"))
		burst(NULL);
	else
		errx(2, "%s: what is that?", how);
	return 0;
}

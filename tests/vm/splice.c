// SPDX-License-Identifier: GPL-2.0-only
/*
 * splice TEST: take pages from /dev/fkt with sendfile(2) and splice(2), as any program may, and
 * look at each of them: tests/vm/splice.sh has the list of tests.
 *
 * Exit status 0 when all was as it should be; what was not is said.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/format.h>
#include <fkt/ioctl.h>

#define LANES_MAX 64
#define BATCH	  (16 * FKT_PAGE_BYTES)
#define MUCH	  (8 << 20)

static int failures;

#define complain(...)                                                                              \
	do {                                                                                       \
		printf("FAILED: " __VA_ARGS__);                                                    \
		putchar('\n');                                                                     \
		failures++;                                                                        \
	} while (0)

#define expect(what, condition)                                                                    \
	do {                                                                                       \
		if (condition)                                                                     \
			printf("ok: %s\n", what);                                                  \
		else                                                                               \
			complain("%s: %s (errno %d)", what, #condition, errno);                    \
	} while (0)

/* ---- looking at pages ---- */

/**
 * struct inspector - what was seen of a stream of pages
 * @page: the page that is being received
 * @filled: how much of it
 * @pages: pages of lanes
 * @indexes: index pages and marks
 * @events: events
 * @calls: getppid() entries
 * @pauses: pauses told
 * @complete: the stamp that no later page may have an event before
 * @lost: events lost, as the last page of each lane says
 * @seq: number of the last page of each lane
 * @end: its closing stamp
 * @id: the recording
 */
struct inspector {
	uint8_t page[FKT_PAGE_BYTES] __attribute__((aligned(8)));
	size_t filled;
	uint64_t pages, indexes, events, calls, pauses, complete;
	uint64_t lost[LANES_MAX], seq[LANES_MAX], end[LANES_MAX], index_seq;
	uint8_t id[FKT_ID_BYTES];
};

/* The slots of a page: whole, in order, and as many as its header says. */
static void inspect_slots(struct inspector *in, const struct fkt_page_header *header)
{
	const uint64_t *word = (const uint64_t *)(header + 1);
	const uint64_t *end = (const uint64_t *)(in->page + header->used);
	uint64_t stamp = header->first;
	uint32_t events = 0;

	while (word < end) {
		uint64_t slot = *word;
		int64_t since = (int64_t)((slot >> FKT_SLOT_STAMP_SHIFT) - (stamp & 0xffffff));
		uint32_t code = slot >> FKT_SLOT_CODE_SHIFT & (FKT_SLOT_CODES - 1);

		since = (int64_t)((uint64_t)since << FKT_SLOT_STAMP_SHIFT) >> FKT_SLOT_STAMP_SHIFT;
		if (slot & FKT_SLOT_WIDE)
			stamp = (stamp & ~((1ull << FKT_WIDE_STAMP_BITS) - 1)) |
				(word[1] & ((1ull << FKT_WIDE_STAMP_BITS) - 1));
		else if (since < 0)
			complain("lane %u, page %" PRIu64 ": a slot goes back in time",
				 header->lane, (uint64_t)header->seq);
		else
			stamp += (uint64_t)since;
		if (stamp < header->first || stamp > header->end)
			complain("lane %u, page %" PRIu64 ": a slot is not of its time",
				 header->lane, (uint64_t)header->seq);
		in->calls += code == SYS_getppid;
		in->pauses += code == FKT_CODE_PAUSE;
		word += 1 + (slot & FKT_SLOT_WORDS_MASK);
		events++;
	}
	if (word != end || events != header->events)
		complain("lane %u, page %" PRIu64 ": %u slots, not %u, or the last one is cut",
			 header->lane, (uint64_t)header->seq, events, header->events);
	in->events += events;
}

static void inspect_page(struct inspector *in)
{
	const struct fkt_page_header *header = (const void *)in->page;

	if (header->magic != FKT_PAGE_MAGIC) {
		complain("page %" PRIu64 ": magic %#x", in->pages + in->indexes, header->magic);
		return;
	}
	if (in->pages + in->indexes == 0)
		memcpy(in->id, header->id, sizeof(in->id));
	else if (memcmp(in->id, header->id, sizeof(in->id)))
		complain("page %" PRIu64 ": of another recording", in->pages + in->indexes);
	if (header->used < sizeof(*header) || header->used > FKT_PAGE_BYTES) {
		complain("page %" PRIu64 ": %u bytes used", in->pages + in->indexes, header->used);
		return;
	}
	if (header->lane == FKT_LANE_INDEX) {
		in->indexes++;
		if (header->seq != ++in->index_seq)
			complain("index page %" PRIu64 ", not %" PRIu64, (uint64_t)header->seq,
				 in->index_seq);
		in->complete = ((const struct fkt_index *)(header + 1))->complete;
		return;
	}
	if (header->lane >= LANES_MAX) {
		complain("page %" PRIu64 ": lane %u", in->pages, header->lane);
		return;
	}
	if (header->seq != in->seq[header->lane] + 1)
		complain("lane %u: page %" PRIu64 " after page %" PRIu64, header->lane,
			 (uint64_t)header->seq, in->seq[header->lane]);
	if (header->first < in->end[header->lane] || header->end < header->first)
		complain("lane %u, page %" PRIu64 ": begins before the last one ends", header->lane,
			 (uint64_t)header->seq);
	if (header->first < in->complete)
		complain("lane %u, page %" PRIu64 ": begins %" PRIu64
			 " cycles before what was said to be complete",
			 header->lane, (uint64_t)header->seq,
			 (uint64_t)(in->complete - header->first));
	in->seq[header->lane] = header->seq;
	in->end[header->lane] = header->end;
	in->lost[header->lane] = header->lost;
	in->pages++;
	inspect_slots(in, header);
}

static void inspect(struct inspector *in, const uint8_t *data, size_t bytes)
{
	while (bytes) {
		size_t n = FKT_PAGE_BYTES - in->filled;

		n = n < bytes ? n : bytes;
		memcpy(in->page + in->filled, data, n);
		in->filled += n;
		data += n;
		bytes -= n;
		if (in->filled == FKT_PAGE_BYTES) {
			inspect_page(in);
			in->filled = 0;
		}
	}
}

/* What must hold of any stream that was read to its end. */
static void conclude(const char *what, struct inspector *in, uint64_t bytes)
{
	printf("%s: %" PRIu64 " bytes, %" PRIu64 " pages, %" PRIu64 " index pages, %" PRIu64
	       " events, %" PRIu64 " calls\n",
	       what, bytes, in->pages, in->indexes, in->events, in->calls);
	expect("whole pages", in->filled == 0);
	expect("all that was sent came", (in->pages + in->indexes) * FKT_PAGE_BYTES == bytes);
	expect("there are calls in it", in->calls > 100);
}

/* ---- the other sides ---- */

static pid_t load_pid;

/* A process that calls getppid() all the time. */
static void load_start(void)
{
	load_pid = fork();
	if (load_pid)
		return;
	/* The device is the parent's alone: its recording ends when that closes it. */
	close_range(3, ~0u, 0);
	for (;;)
		syscall(SYS_getppid);
}

static void load_stop(void)
{
	kill(load_pid, SIGKILL);
	waitpid(load_pid, NULL, 0);
}

static int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR);

	if (fd < 0)
		err(1, FKT_DEVICE);
	return fd;
}

static uint32_t state(void)
{
	struct fkt_status status = { .size = sizeof(status) };
	int fd = open_device();

	if (ioctl(fd, FKT_STATUS, &status))
		err(1, "FKT_STATUS");
	close(fd);
	return status.state;
}

/* What reads from a pipe or socket, and how slowly. */
struct sink {
	pthread_t thread;
	int fd;
	long pause_us;
	size_t chunk;
	struct inspector in;
	uint64_t bytes;
};

static void *drain(void *arg)
{
	static __thread uint8_t buf[1 << 16];
	struct sink *sink = arg;
	ssize_t n;

	while ((n = read(sink->fd, buf, sink->chunk)) > 0) {
		inspect(&sink->in, buf, (size_t)n);
		sink->bytes += (size_t)n;
		if (sink->pause_us)
			usleep((useconds_t)sink->pause_us);
	}
	if (n < 0)
		complain("read: %s", strerror(errno));
	return NULL;
}

static struct sink *sink_start(int fd, size_t chunk, long pause_us)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	sink->fd = fd;
	sink->chunk = chunk;
	sink->pause_us = pause_us;
	if (pthread_create(&sink->thread, NULL, drain, sink))
		errx(1, "pthread_create");
	return sink;
}

static void sink_end(struct sink *sink, int writer)
{
	close(writer);
	pthread_join(sink->thread, NULL);
	close(sink->fd);
}

/* Until @bytes were sent, or the end. Return: what was sent. */
static uint64_t send_to(int out, int device, uint64_t bytes)
{
	uint64_t sent = 0;
	ssize_t n;

	while (sent < bytes) {
		n = sendfile(out, device, NULL, bytes - sent);
		if (n <= 0) {
			if (n < 0)
				complain("sendfile: %s", strerror(errno));
			break;
		}
		sent += (uint64_t)n;
	}
	return sent;
}

/* ---- the tests ---- */

static void inspect_file(const char *name, struct inspector *in)
{
	static uint8_t buf[1 << 16];
	int fd = open(name, O_RDONLY);
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		inspect(in, buf, (size_t)n);
	close(fd);
}

/* sendfile(2) into a file begins a recording, and closing the device ends it. */
static void test_file(void)
{
	static struct inspector in;
	int out = open("pages", O_RDWR | O_CREAT | O_TRUNC, 0600), device = open_device();
	uint64_t sent;

	load_start();
	sent = send_to(out, device, MUCH);
	expect("as many bytes as were asked for", sent == MUCH);
	expect("it is recording", state() == FKT_STATE_RECORDING);
	close(device);
	expect("idle after close()", state() == FKT_STATE_IDLE);
	load_stop();
	close(out);
	inspect_file("pages", &in);
	conclude("file", &in, sent);
}

static void test_pipe(void)
{
	int fds[2], device = open_device();
	uint64_t sent = 0;
	struct sink *sink;
	ssize_t n;

	if (pipe(fds))
		err(1, "pipe");
	load_start();
	sink = sink_start(fds[0], 10000, 100);
	while (sent < MUCH / 2) {
		/* In turns as many as the pipe has room for, and fewer. */
		size_t wanted = sent / BATCH % 2 ? 3 * FKT_PAGE_BYTES : BATCH;

		n = splice(device, NULL, fds[1], NULL, wanted, 0);
		if (n <= 0 || n % FKT_PAGE_BYTES || (size_t)n > wanted) {
			complain("splice of %zu: %zd, %s", wanted, n, strerror(errno));
			break;
		}
		sent += (uint64_t)n;
	}
	close(device);
	load_stop();
	expect("idle after close()", state() == FKT_STATE_IDLE);
	sink_end(sink, fds[1]);
	conclude("pipe", &sink->in, sent);
	expect("nothing was lost on the way", sink->bytes == sent);
}

/*
 * A slow reader at the other end of a socket, and a buffer of so few pages that each is used often.
 */
static void slow_socket(const char *what, int out, int in)
{
	int device = open_device();
	uint32_t pow = 5;
	struct sink *sink;
	uint64_t sent;

	if (ioctl(device, FKT_SETINITPOWPAGES, &pow))
		err(1, "FKT_SETINITPOWPAGES");
	load_start();
	/* Emulated CPUs that are all busy take turns: each time that it waits may take 0.1 s. */
	sink = sink_start(in, 14000, 200);
	sent = send_to(out, device, MUCH / 4);
	close(device);
	expect("idle while pages are still on their way", state() == FKT_STATE_IDLE);
	load_stop();
	sink_end(sink, out);
	conclude(what, &sink->in, sent);
	expect("the slow reader got all of it", sink->bytes == sent);
	device = open_device();
	pow = FKT_POW_DEFAULT;
	ioctl(device, FKT_SETINITPOWPAGES, &pow);
	close(device);
}

static void test_unix(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		err(1, "socketpair");
	slow_socket("unix socket", fds[0], fds[1]);
}

static void tcp_pair(int fds[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (void *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &length))
		err(1, "listen");
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fds[0], (void *)&address, length))
		err(1, "connect");
	fds[1] = accept(listener, NULL, NULL);
	if (fds[1] < 0)
		err(1, "accept");
	close(listener);
}

static void test_tcp(void)
{
	int fds[2];

	tcp_pair(fds);
	slow_socket("TCP socket", fds[0], fds[1]);
}

/* FKT_START without an output, a limit: the stream has an end, exactly there. */
static void test_limit(void)
{
	struct fkt_start start = { .size = sizeof(start),
				   .out_fd = FKT_NO_OUTPUT,
				   .limit_bytes = (1 << 20) + 5000 };
	static struct inspector in;
	int out = open("pages", O_RDWR | O_CREAT | O_TRUNC, 0600), device = open_device();
	uint64_t sent;
	char byte;

	memcpy(start.id, "abcdefghijklmnop", sizeof(start.id));
	expect("FKT_START", !ioctl(device, FKT_START, &start));
	load_start();
	sent = send_to(out, device, MUCH);
	load_stop();
	expect("the limit, in whole pages", sent == (1 << 20) + FKT_PAGE_BYTES);
	expect("then the end", sendfile(out, device, NULL, BATCH) == 0);
	expect("read() is no way to pages", read(device, &byte, 1) < 0 && errno == EINVAL);
	close(device);
	close(out);
	inspect_file("pages", &in);
	expect("the pages have the id of FKT_START", !memcmp(in.id, start.id, sizeof(in.id)));
	conclude("limit", &in, sent);
	expect("idle", state() == FKT_STATE_IDLE);
}

static void *stop_later(void *arg)
{
	usleep(500000);
	if (ioctl(*(int *)arg, FKT_STOP))
		complain("FKT_STOP: %s", strerror(errno));
	return NULL;
}

/* FKT_STOP by another thread: the one that waits in sendfile() gets the rest, and the end. */
static void test_stop(void)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT };
	struct fkt_status status = { .size = sizeof(status) };
	static struct inspector in;
	int out = open("pages", O_RDWR | O_CREAT | O_TRUNC, 0600), device = open_device();
	pthread_t stopper;
	uint64_t sent;

	expect("FKT_START", !ioctl(device, FKT_START, &start));
	pthread_create(&stopper, NULL, stop_later, &device);
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	sent = send_to(out, device, 1ull << 40);
	pthread_join(stopper, NULL);
	ioctl(device, FKT_STATUS, &status);
	close(out);
	inspect_file("pages", &in);
	conclude("stop", &in, sent);
	expect("all calls are there", in.calls == 1000);
	expect("the status has the sum of the events", status.events == in.events);
	expect("the status has the sum of the bytes", status.bytes == sent);
	close(device);
	expect("idle", state() == FKT_STATE_IDLE);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* A signal ends the waiting, and so does SPLICE_F_NONBLOCK. */
static void test_signal(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { .it_value = { .tv_usec = 200000 } };
	struct timespec begin, end;
	uint32_t none = 0, system = 1;
	int fds[2], device = open_device();
	ssize_t n;

	if (pipe(fds) || ioctl(device, FKT_SETINITMASK, &none))
		err(1, "pipe");
	sigaction(SIGALRM, &action, NULL);
	n = splice(device, NULL, fds[1], NULL, BATCH, SPLICE_F_NONBLOCK);
	expect("nothing yet, and no waiting", n < 0 && errno == EAGAIN);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	setitimer(ITIMER_REAL, &timer, NULL);
	n = splice(device, NULL, fds[1], NULL, BATCH, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	expect("EINTR", n < 0 && errno == EINTR && alarms == 1);
	expect("at once", end.tv_sec - begin.tv_sec < 2);
	expect("less than a page is no length",
	       splice(device, NULL, fds[1], NULL, 4000, 0) < 0 && errno == EINVAL);
	n = splice(device, NULL, fds[1], NULL, BATCH, 0);
	expect("a mark comes when nothing else does", n == FKT_PAGE_BYTES);
	close(device);
	device = open_device();
	expect("mask", !ioctl(device, FKT_SETINITMASK, &system));
	close(device);

	/* The same with a sendfile() that has sent something: that much, then. */
	device = open_device();
	load_start();
	/* To attach the probes takes its time; this begins the recording. */
	splice(device, NULL, fds[1], NULL, BATCH, SPLICE_F_NONBLOCK);
	timer.it_value.tv_usec = 700000;
	setitimer(ITIMER_REAL, &timer, NULL);
	n = sendfile(open("pages", O_RDWR | O_CREAT | O_TRUNC, 0600), device, NULL, 0x7ffff000);
	printf("%zd bytes, %d alarms\n", n, (int)alarms);
	expect("whole pages before the signal", n > 0 && n % FKT_PAGE_BYTES == 0 && alarms == 2);
	load_stop();
	close(device);
	expect("idle", state() == FKT_STATE_IDLE);
}

/* Who may not: a second program, and one whose recording has another output. */
static void test_others(void)
{
	struct fkt_start start = { .size = sizeof(start) };
	int first = open_device(), second = open_device(), fds[2];

	if (pipe(fds))
		err(1, "pipe");
	expect("the first one begins",
	       splice(first, NULL, fds[1], NULL, BATCH, SPLICE_F_NONBLOCK) >= 0 || errno == EAGAIN);
	expect("a second one is refused",
	       splice(second, NULL, fds[1], NULL, BATCH, SPLICE_F_NONBLOCK) < 0 && errno == EBUSY);
	expect("and may not stop it", ioctl(second, FKT_STOP) < 0 && errno == EPERM);
	close(first);
	start.out_fd = open("pages", O_RDWR | O_CREAT | O_TRUNC, 0600);
	expect("FKT_START with an output", !ioctl(second, FKT_START, &start));
	expect("its pages are the flush thread's",
	       splice(second, NULL, fds[1], NULL, BATCH, SPLICE_F_NONBLOCK) < 0 && errno == EBUSY);
	close(second);
	/* The flush thread ends in its own time. */
	for (int i = 0; i < 100 && state() != FKT_STATE_IDLE; i++)
		usleep(100000);
	expect("idle", state() == FKT_STATE_IDLE);
}

/*
 * Pages that a pipe, and a copy of it, still hold are good after the recording, and after the
 * module.
 */
static void test_unload(void)
{
	int fds[2], copy[2], device = open_device();
	static struct inspector in, in_copy;
	static uint8_t buf[BATCH];
	ssize_t n, copied;

	if (pipe(fds) || pipe(copy))
		err(1, "pipe");
	load_start();
	usleep(100000);
	n = splice(device, NULL, fds[1], NULL, BATCH, 0);
	while (n >= 0 && n < BATCH) {
		ssize_t more = splice(device, NULL, fds[1], NULL, (size_t)(BATCH - n), 0);

		if (more <= 0)
			break;
		n += more;
	}
	expect("a full pipe", n == BATCH);
	copied = tee(fds[0], copy[1], BATCH, 0);
	expect("its copy", copied == BATCH);
	usleep(300000);
	close(device);
	expect("idle", state() == FKT_STATE_IDLE);
	expect("the module can go", !system("rmmod fkt"));
	/* All memory that is free is used: had the pages been freed, they would change now. */
	expect("memory", !system("dd if=/dev/zero of=/dev/shm/fill bs=1M count=300 status=none; "
				 "rm /dev/shm/fill"));
	expect("read", read(fds[0], buf, BATCH) == n);
	inspect(&in, buf, (size_t)n);
	expect("read", read(copy[0], buf, BATCH) == copied);
	inspect(&in_copy, buf, (size_t)copied);
	load_stop();
	expect("the module can come back", !system("insmod /run/fkt-vm/fkt.ko"));
	conclude("pipe", &in, (uint64_t)n);
	conclude("copy", &in_copy, (uint64_t)copied);
}

/* ---- who waits, and for what ---- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "CPU %d", cpu);
}

static void set_number(unsigned long request, uint32_t value)
{
	int device = open_device();

	if (ioctl(device, request, &value))
		err(1, "ioctl");
	close(device);
}

/* All that there is now, without waiting. Return: bytes. */
static uint64_t take(int device, int fds[2], struct inspector *in)
{
	static uint8_t buf[BATCH];
	uint64_t bytes = 0;
	ssize_t n;

	while ((n = splice(device, NULL, fds[1], NULL, BATCH, SPLICE_F_NONBLOCK)) > 0) {
		if (read(fds[0], buf, (size_t)n) != n)
			complain("read: %s", strerror(errno));
		inspect(in, buf, (size_t)n);
		bytes += (uint64_t)n;
	}
	return bytes;
}

static bool readable(int device, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = device, .events = POLLIN };

	return poll(&poll_fd, 1, timeout_ms) == 1 && poll_fd.revents & POLLIN;
}

/* poll(2) tells of pages that splice(2) would give, and of a mark that is due. */
static void test_poll(void)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT };
	static struct inspector in;
	int fds[2], device;
	uint32_t none = 0;
	double begin;

	if (pipe(fds))
		err(1, "pipe");
	start.flush_ms = 3600 * 1000;
	pin(0);
	device = open_device();
	expect("FKT_START", !ioctl(device, FKT_START, &start));
	/* Some pages, and none for which the lane says so: that is one of 64. */
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	take(device, fds, &in);
	for (int i = 0; i < 4000; i++)
		syscall(SYS_getppid);
	expect("pages are readable", readable(device, 0));
	expect("and there", take(device, fds, &in) > 0);
	close(device);

	set_number(FKT_SETINITMASK, none);
	device = open_device();
	start.flush_ms = 1000;
	expect("FKT_START", !ioctl(device, FKT_START, &start));
	expect("nothing is readable", !readable(device, 0));
	begin = now();
	expect("a mark becomes readable", readable(device, 8000));
	expect("when it is due", now() - begin < 3);
	expect("it is there", take(device, fds, &in) == FKT_PAGE_BYTES);
	close(device);
	set_number(FKT_SETINITMASK, FKT_KEY_SYSTEM);
}

/* A pause that nobody has told when the recording is stopped is in the trace, and costs no page. */
static void test_pause(void)
{
	struct fkt_start start = { .size = sizeof(start),
				   .out_fd = FKT_NO_OUTPUT,
				   .on_full = FKT_ON_FULL_PAUSE };
	uint8_t page[FKT_PAGE_BYTES];
	int fds[2];

	if (pipe(fds))
		err(1, "pipe");
	pin(0);
	set_number(FKT_SETINITPOWPAGES, 2);
	for (int round = 0; round < 6; round++) {
		struct fkt_status status = { .size = sizeof(status) };
		static struct inspector in;
		int device = open_device();

		memset(&in, 0, sizeof(in));
		expect("FKT_START", !ioctl(device, FKT_START, &start));
		/* One page is in the pipe, and comes back before anybody tells of the pause. */
		while (splice(device, NULL, fds[1], NULL, FKT_PAGE_BYTES, SPLICE_F_NONBLOCK) < 0)
			for (int i = 0; i < 100; i++)
				syscall(SYS_getppid);
		while (!status.pauses && !ioctl(device, FKT_STATUS, &status))
			for (int i = 0; i < 100; i++)
				syscall(SYS_getppid);
		if (read(fds[0], page, sizeof(page)) != sizeof(page))
			complain("read: %s", strerror(errno));
		inspect(&in, page, sizeof(page));
		expect("FKT_STOP", !ioctl(device, FKT_STOP));
		take(device, fds, &in);
		ioctl(device, FKT_STATUS, &status);
		close(device);
		printf("%" PRIu64 " events, %u pauses, %" PRIu64 " told, %" PRIu64 " lost\n",
		       in.events, status.pauses, in.pauses, (uint64_t)status.lost);
		expect("the pause is told", in.pauses == 1);
		expect("all pages of the lane were there", in.events > 900);
	}
	set_number(FKT_SETINITPOWPAGES, FKT_POW_DEFAULT);
}

static void *wait_for_pages(void *arg)
{
	int fds[2];

	if (!pipe(fds))
		splice(*(int *)arg, NULL, fds[1], NULL, BATCH, 0);
	return NULL;
}

static bool set_online(const char *value)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool done = fd >= 0 && write(fd, value, 1) == 1;

	close(fd);
	return done;
}

/* One who waits for pages does not keep a CPU from coming. */
static void test_hotplug(void)
{
	struct fkt_start start = { .size = sizeof(start),
				   .out_fd = FKT_NO_OUTPUT,
				   .flush_ms = 20000 };
	int device = open_device();
	uint32_t none = 0;
	pthread_t waiter;
	double begin;

	set_number(FKT_SETINITMASK, none);
	expect("FKT_START", !ioctl(device, FKT_START, &start));
	pthread_create(&waiter, NULL, wait_for_pages, &device);
	usleep(300000);
	begin = now();
	expect("a CPU goes", set_online("0"));
	expect("and comes", set_online("1"));
	printf("%.1f s\n", now() - begin);
	expect("at once", now() - begin < 8);
	expect("FKT_STOP", !ioctl(device, FKT_STOP));
	pthread_join(waiter, NULL);
	close(device);
	set_number(FKT_SETINITMASK, FKT_KEY_SYSTEM);
}

static uint64_t address_of(const char *symbol)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	unsigned long address = 0, found;
	char name[256];

	while (!address && symbols && fscanf(symbols, "%lx %*c %255s%*[^\n]", &found, name) == 2)
		if (!strcmp(name, symbol))
			address = found;
	if (symbols)
		fclose(symbols);
	return address;
}

/* A layer whose probes can't be attached is refused, and refused again; the others go on. */
static void test_attach(void)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT };
	const uint32_t masks[] = { 0, FKT_KEY_SYSTEM };
	uint32_t block = FKT_KEY_BLOCK, irqs = FKT_KEY_SYSTEM;
	int fds[2];

	if (pipe(fds))
		err(1, "pipe");
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct fkt_function_spec spec = { .code = FKT_CODE_DYNAMIC,
						  .keys = block,
						  .ret_bytes = 8 };
		struct fkt_functions_common common = {};
		struct fkt_probes probes = { .size = sizeof(probes),
					     .kind = FKT_PROVIDER_FUNCTION,
					     .count = 1,
					     .spec_bytes = sizeof(spec),
					     .specs_ptr = (uintptr_t)&spec,
					     .common_ptr = (uintptr_t)&common,
					     .common_bytes = sizeof(common) };
		struct fkt_status status = { .size = sizeof(status) };
		static struct inspector in;
		int device;

		printf("mask %#x\n", masks[i]);
		set_number(FKT_SETINITMASK, masks[i]);
		device = open_device();
		expect("FKT_STATUS", !ioctl(device, FKT_STATUS, &status));
		common.text_reused = status.text_reused;
		spec.address = address_of("vfs_fsync");
		expect("a function", !ioctl(device, FKT_ADD_PROBES, &probes));
		expect("FKT_START", !ioctl(device, FKT_START, &start));
		expect("ftrace is turned off", !system("sysctl -qw kernel.ftrace_enabled=0"));
		expect("its layer is refused",
		       ioctl(device, FKT_ENABLE, &block) && errno == EOPNOTSUPP);
		expect("and again", ioctl(device, FKT_ENABLE, &block) && errno == EOPNOTSUPP);
		expect("others are not", !ioctl(device, FKT_ENABLE, &irqs));
		memset(&in, 0, sizeof(in));
		for (int j = 0; j < 100; j++)
			syscall(SYS_getppid);
		expect("FKT_STOP", !ioctl(device, FKT_STOP));
		take(device, fds, &in);
		expect("and record", in.calls >= 100);
		close(device);
		expect("ftrace is turned on", !system("sysctl -qw kernel.ftrace_enabled=1"));
	}
	set_number(FKT_SETINITMASK, FKT_KEY_SYSTEM);
}

/*
 * What index pages and marks say is complete, while CPU 1 has little to say, and takes long for it.
 */
static void test_order(void)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT, .flush_ms = 1 };
	static struct inspector in;
	int fds[2], device = open_device();
	double end = now() + 6;

	if (pipe(fds))
		err(1, "pipe");
	load_pid = fork();
	if (!load_pid) {
		close_range(3, ~0u, 0);
		pin(1);
		for (;;) {
			syscall(SYS_getppid);
			usleep(3000);
		}
	}
	pin(0);
	/* Process events alone: those of CPU 1 are few. */
	set_number(FKT_SETINITMASK, FKT_KEY_PROCESS);
	expect("FKT_START", !ioctl(device, FKT_START, &start));
	while (now() < end) {
		take(device, fds, &in);
		usleep(1000);
	}
	load_stop();
	close(device);
	set_number(FKT_SETINITMASK, FKT_KEY_SYSTEM);
	printf("%" PRIu64 " pages, %" PRIu64 " index pages\n", in.pages, in.indexes);
	expect("many of both", in.pages > 200 && in.indexes > 200);
}

int main(int argc, char **argv)
{
	static const struct test {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{ "file", test_file },	   { "pipe", test_pipe },     { "unix", test_unix },
		{ "tcp", test_tcp },	   { "limit", test_limit },   { "stop", test_stop },
		{ "signal", test_signal }, { "others", test_others }, { "unload", test_unload },
		{ "poll", test_poll },	   { "pause", test_pause },   { "hotplug", test_hotplug },
		{ "attach", test_attach }, { "order", test_order },
	};

	setlinebuf(stdout);
	for (size_t i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(argv[1], tests[i].name))
			continue;
		tests[i].run();
		return failures ? 1 : 0;
	}
	errx(2,
	     "usage: splice file|pipe|unix|tcp|limit|stop|signal|others|unload|poll|pause|hotplug|attach|order");
}

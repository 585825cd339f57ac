// SPDX-License-Identifier: GPL-2.0-only
/*
 * stall: calls of /dev/fkt that wait for a page of their caller's memory for as long as that wants
 * (userfaultfd) make nobody else wait: the status, the list of codes, and the probes of another
 * process go on.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/ioctl.h>

#define PAGE	   4096
#define STALLED_MS 5000 /* until the call must have come to the page */
#define OTHERS_S   3	/* until the others must be through */

static int failures;

/* Where nothing is until it is asked for, and then nothing either. */
static int faults;
static char *stalled;

static void open_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
		err(77, "userfaultfd");
}

static void stall_begin(void)
{
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	stalled = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)stalled;
	range.range.len = PAGE;
	if (stalled == MAP_FAILED || ioctl(faults, UFFDIO_REGISTER, &range))
		err(1, "a page of which nothing is there");
}

/* The page is there now, and empty. */
static void stall_end(void)
{
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)stalled, .len = PAGE } };

	if (ioctl(faults, UFFDIO_ZEROPAGE, &zero) && errno != EEXIST)
		err(1, "UFFDIO_ZEROPAGE");
}

static bool is_stalled(void)
{
	struct pollfd fault = { .fd = faults, .events = POLLIN };
	struct uffd_msg message;

	return poll(&fault, 1, STALLED_MS) == 1 &&
	       read(faults, &message, sizeof(message)) == sizeof(message) &&
	       message.event == UFFD_EVENT_PAGEFAULT;
}

static int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(1, FKT_DEVICE);
	return fd;
}

/* --- The calls that stall ------------------------------------------------------------------- */

static int fd;

static void add(uint32_t kind, uint32_t spec_bytes, const void *specs, const void *common,
		uint32_t common_bytes)
{
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = kind,
		.count = 1,
		.spec_bytes = spec_bytes,
		.specs_ptr = (uintptr_t)specs,
		.common_ptr = (uintptr_t)common,
		.common_bytes = common_bytes,
	};

	ioctl(fd, FKT_ADD_PROBES, &probes);
}

static void add_functions(void)
{
	add(FKT_PROVIDER_FUNCTION, sizeof(struct fkt_function_spec), stalled, NULL, 0);
}

static void add_tracepoints(void)
{
	add(FKT_PROVIDER_TRACEPOINT, sizeof(struct fkt_tracepoint_spec), stalled, NULL, 0);
}

static void add_kprobes(void)
{
	add(FKT_PROVIDER_KPROBE, sizeof(struct fkt_kprobe_spec), stalled, NULL, 0);
}

static void add_fetches(void)
{
	struct fkt_kprobe_spec spec = { .code = FKT_CODE_DYNAMIC, .ops = 1 };

	add(FKT_PROVIDER_KPROBE, sizeof(spec), &spec, stalled, sizeof(struct fkt_fetch));
}

static void status_of_lanes(void)
{
	struct fkt_status status = { .size = sizeof(status),
				     .lanes_room = 1,
				     .lanes_ptr = (uintptr_t)stalled };

	ioctl(fd, FKT_STATUS, &status);
}

static void list_codes(void)
{
	struct fkt_code_lines lines = { .size = sizeof(lines),
					.room = PAGE,
					.text_ptr = (uintptr_t)stalled };

	ioctl(fd, FKT_LIST_CODES, &lines);
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{ "functions", add_functions },	      { "tracepoints", add_tracepoints },
	{ "addresses", add_kprobes },	      { "what addresses fetch", add_fetches },
	{ "lanes' status", status_of_lanes }, { "list of codes", list_codes },
};

static void *run(void *call)
{
	(*(void (**)(void))call)();
	return NULL;
}

/* --- The others ----------------------------------------------------------------------------- */

/* In a process of its own. Exit status: 0, or which one failed; a signal when one waits. */
static void others(void)
{
	struct fkt_status status = { .size = sizeof(status) };
	struct fkt_code_lines lines = { .size = sizeof(lines) };
	struct fkt_tracepoint_spec spec = { .name = "sched_switch", .code = FKT_CODE_DYNAMIC };
	struct fkt_probes tracepoints = { .size = sizeof(tracepoints),
					  .kind = FKT_PROVIDER_TRACEPOINT,
					  .count = 1,
					  .spec_bytes = sizeof(spec),
					  .specs_ptr = (uintptr_t)&spec };
	int own = open_device();

	if (ioctl(own, FKT_STATUS, &status))
		_exit(1);
	if (ioctl(own, FKT_LIST_CODES, &lines))
		_exit(2);
	if (ioctl(own, FKT_ADD_PROBES, &tracepoints))
		_exit(3);
	_exit(0);
}

/* Return: the status of the process, or -1 when it waits; it is then left to itself. */
static int others_status(pid_t pid)
{
	int status;

	for (int ms = 0; ms < OTHERS_S * 1000; ms += 10) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	kill(pid, SIGKILL);
	return -1;
}

static void stall(const char *name, const void *call)
{
	pthread_t thread;
	int status;
	pid_t pid;

	stall_begin();
	fd = open_device();
	if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)call))
		errx(1, "pthread_create");
	if (!is_stalled()) {
		printf("FAILED: %s: the call does not wait for its memory\n", name);
		failures++;
		stall_end();
		pthread_join(thread, NULL);
		return;
	}
	pid = fork();
	if (!pid)
		others();
	status = others_status(pid);
	if (status)
		failures++;
	if (status == -1)
		printf("FAILED: %s: while the call waits for its memory, others wait for it\n",
		       name);
	else if (status)
		printf("FAILED: %s: while the call waits for its memory, call %d of others fails\n",
		       name, WEXITSTATUS(status));
	else
		printf("ok: %s\n", name);
	stall_end();
	pthread_join(thread, NULL);
	if (status == -1)
		waitpid(pid, NULL, 0);
	close(fd);
	munmap(stalled, PAGE);
}

/* So that there are lanes. */
static void record_nothing(void)
{
	struct fkt_start start = { .size = sizeof(start), .out_fd = FKT_NO_OUTPUT };
	int device = open_device();

	if (ioctl(device, FKT_START, &start))
		err(1, "FKT_START");
	close(device);
}

int main(void)
{
	setlinebuf(stdout);
	open_faults();
	record_nothing();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		stall(calls[i].name, &calls[i].call);
	return failures ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Without memory: each allocation of libfkt fails in turn. Whatever comes of it, nothing is used
 * that is not there, and all that was allocated is freed.
 */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fkt/trace.h>

#include "build_trace.h"
#include "read/extract.h"

#define CPUS	 4
#define LIVE_MAX 65536

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *pointer);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *pointer);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool counting;
static unsigned int fail_at, count; /* the one that fails, from 1 on; those so far */
static void *live[LIVE_MAX];
static unsigned int lives;
static bool listed; /* the last listing was made */

/* With the lock. */
static bool fails(void)
{
	return counting && ++count == fail_at;
}

/* With the lock. */
static void *note(void *pointer)
{
	if (counting && pointer && lives < LIVE_MAX)
		live[lives++] = pointer;
	return pointer;
}

/* With the lock. */
static void forget(const void *pointer)
{
	for (unsigned int i = lives; pointer && i--;)
		if (live[i] == pointer) {
			live[i] = live[--lives];
			return;
		}
}

void *__wrap_malloc(size_t bytes)
{
	void *pointer;

	pthread_mutex_lock(&lock);
	pointer = fails() ? NULL : note(__real_malloc(bytes));
	pthread_mutex_unlock(&lock);
	return pointer;
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	void *pointer;

	pthread_mutex_lock(&lock);
	pointer = fails() ? NULL : note(__real_calloc(n, bytes));
	pthread_mutex_unlock(&lock);
	return pointer;
}

void *__wrap_realloc(void *old, size_t bytes)
{
	void *pointer = NULL;

	pthread_mutex_lock(&lock);
	if (!fails()) {
		pointer = __real_realloc(old, bytes);
		if (pointer) {
			forget(old);
			note(pointer);
		}
	}
	pthread_mutex_unlock(&lock);
	return pointer;
}

void __wrap_free(void *pointer)
{
	pthread_mutex_lock(&lock);
	forget(pointer);
	__real_free(pointer);
	pthread_mutex_unlock(&lock);
}

/* Pages with few events each, so that there are some blocks of them. */
static int make_trace(void)
{
	uint64_t now = 1000, word;
	struct build build;
	int fd = memfd_create("trace", 0);

	build_begin(&build, CPUS, false);
	build_clock(&build, 0, 0, 0);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n51 50 1 app\n");
	build_text(&build, FKT_SECTION_IRQS, "14 ide0\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F size:u64\n"
		   "0x10001 1 exit 0x10000 functions F ret:ret\n");
	build_pages(&build);
	for (unsigned int i = 0; i < 700; i++) {
		unsigned int cpu = i % CPUS;

		word = i % 2 ? 50ull << 32 : 51 | 50ull << 32;
		build_slot(&build, cpu, (uint16_t)cpu, now += 100, FKT_CODE_SWITCH, 0, &word, 1);
		build_fork(&build, cpu, now += 100, 100 + i, 50);
		build_slot(&build, cpu, (uint16_t)cpu, now += 100, 0x10000, 0, &word, 1);
		build_event(&build, cpu, now += 100, 0x10001, 0);
		if (cpu)
			build_close(&build, cpu);
	}
	build_end(&build, now, now, now);
	assert_int_equal(write(fd, build.data, build.bytes), build.bytes);
	build_free(&build);
	return fd;
}

static void read_all(struct fkt_trace *trace, uint64_t from)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, from, UINT64_MAX);
	struct fkt_event event;

	while (reader && fkt_next(reader, &event) > 0)
		;
	fkt_reader_free(reader);
}

static void do_read(struct fkt_trace *trace, int out)
{
	(void)out;
	read_all(trace, 0);
	if (fkt_can_sum(trace))
		read_all(trace, 100000);
}

static void do_sum(struct fkt_trace *trace, int out)
{
	struct fkt_processes *processes = fkt_processes_new(trace);
	struct fkt_analysis *analysis = processes ? fkt_analysis_new(trace, processes, NULL) : NULL;
	struct fkt_read_stats stats;

	(void)out;
	if (analysis)
		fkt_sum(trace, processes, analysis, 2, &stats);
	fkt_analysis_free(analysis);
	fkt_processes_free(processes);
}

static void do_list(struct fkt_trace *trace, int out)
{
	const struct fkt_listing listing = {
		.fd = out,
		.format = fkt_format_find("plain"),
		.threads = 2,
	};
	struct fkt_read_stats stats;

	/* Not where an end section was not read for want of memory. */
	if (fkt_can_list(trace))
		listed = fkt_list(trace, &listing, &stats) == 0;
}

static void do_extract(struct fkt_trace *trace, int out)
{
	struct fkt_extract_process wanted = { .pid = 50 };
	struct fkt_extract extract = { .from = 100000, .to = 200000 };

	fkt_extract(trace, &extract, out);
	extract.process = &wanted;
	extract.processes = 1;
	fkt_extract(trace, &extract, out);
}

/* Let each allocation fail, until there are no more. */
static void fail_each(void (*run)(struct fkt_trace *trace, int out), bool stream)
{
	int file = make_trace(), out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char path[64], command[128], why[FKT_ERROR_BYTES];
	struct fkt_trace *trace;
	FILE *pipe = NULL;

	fail_at = lives = 0;
	do {
		fail_at++;
		count = 0;
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), file);
		if (stream) {
			snprintf(command, sizeof(command), "cat %s", path);
			pipe = popen(command, "r");
			assert_non_null(pipe);
			snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(pipe));
		}
		counting = true;
		trace = fkt_open(path, NULL, NULL, why);
		if (trace)
			run(trace, out);
		fkt_close(trace);
		counting = false;
		if (pipe)
			pclose(pipe);
		if (lives)
			print_message("allocation %u fails: %u are not freed\n", fail_at, lives);
		assert_int_equal(lives, 0);
	} while (count >= fail_at);
	assert_true(fail_at > 10);
	close(out);
	close(file);
}

static void test_read(void **state)
{
	(void)state;
	fail_each(do_read, false);
}

static void test_stream(void **state)
{
	(void)state;
	fail_each(do_read, true);
}

static void test_sum(void **state)
{
	(void)state;
	fail_each(do_sum, false);
}

static void test_list(void **state)
{
	(void)state;
	fail_each(do_list, false);
	assert_true(listed);
}

static void test_extract(void **state)
{
	(void)state;
	fail_each(do_extract, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),	cmocka_unit_test(test_stream),
		cmocka_unit_test(test_sum),	cmocka_unit_test(test_list),
		cmocka_unit_test(test_extract),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

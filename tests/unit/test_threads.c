// SPDX-License-Identifier: GPL-2.0-only
/*
 * One trace and several threads, each with a reader of its own: what they find out for the trace
 * itself (its end sections, its symbols, which functions there are) is found out once. As
 * test_threads_tsan it is built with -fsanitize=thread.
 */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read_trace.h"

#define THREADS	  4
#define ROUNDS	  40
#define FUNCTIONS 500
#define FIRST	  0xffffffff81000000
#define LONG	  9000

static struct build trace_bytes;
static pthread_barrier_t barrier;

struct work {
	struct fkt_trace *trace;
	const char *command;
	bool all_named;
	bool one_row_each;
	size_t info_bytes;
};

/* Its footer is damaged: each reader comes upon the end sections by itself. */
static void build_damaged(struct build *build)
{
	/* They need both readings of the clock, the second of which is behind the events. */
	static const char info[] =
		"command=find /usr\0tsc_khz=1000000\0start_cycles=1500\0stop_cycles=100000";
	char symbols[FUNCTIONS * 40] = "", comment[LONG];
	size_t used = 0;

	memset(comment, 'x', sizeof(comment));
	memcpy(comment, "comment=", strlen("comment="));
	comment[LONG - 1] = '\0';
	build_begin(build, 1, false);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_clock(build, 1000, 1000, 1700000000000000000);
	build_text(build, FKT_SECTION_CODES,
		   "0x7000 1 entry 0x7001 own call f:func\n0x7001 1 exit 0x7000 own call f:func\n");
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		used += (size_t)sprintf(symbols + used, "%llx T f%u\n", FIRST + 16ull * i, i);
	build_section(build, FKT_SECTION_SYMBOLS, symbols, used, true);
	build_pages(build);
	for (unsigned int i = 0; i < 2 * FUNCTIONS; i++) {
		uint64_t address = FIRST + 16 * (i % FUNCTIONS);

		build_slot(build, 0, 0, 2000 + 20 * i, 0x7000, 0, &address, 1);
		build_slot(build, 0, 0, 2010 + 20 * i, 0x7001, 0, &address, 1);
	}
	build_tail(build);
	build_section(build, FKT_SECTION_INFO, comment, LONG, false);
	build_end(build, 1 << 20, 1 << 20, 1700000000001048576);
	build->data[build->bytes - 1] ^= 0x55;
}

static struct fkt_trace *open_built(const struct build *build, fkt_warn_fn *warn, void *arg)
{
	int made = memfd_create("trace", MFD_CLOEXEC), fd = fcntl(made, F_DUPFD_CLOEXEC, 3);
	char path[64], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;

	assert_true(fd >= 0);
	close(made);
	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, warn, arg, error);
	assert_non_null(trace);
	close(fd);
	return trace;
}

/* Whether each function has one row, of its own name. */
static bool check_rows(const struct work *work, const struct fkt_analysis *analysis)
{
	char name[FKT_NAME_BYTES];
	unsigned int i;

	for (uint32_t row = FKT_ROW_FUNCTION; row < FKT_ROW_FUNCTION + FUNCTIONS; row++) {
		fkt_row_name(work->trace, row, name);
		if (sscanf(name, "f%u", &i) != 1 || fkt_analysis_row(analysis, row)->calls != 2)
			return false;
	}
	return true;
}

static void *read_all(void *arg)
{
	struct work *work = arg;
	struct fkt_reader *reader = fkt_reader_new(work->trace);
	struct fkt_processes *processes = fkt_processes_new(work->trace);
	struct fkt_analysis *analysis = fkt_analysis_new(work->trace, processes, NULL);
	const char *comment;
	struct fkt_event event;
	struct fkt_symbol symbol;

	pthread_barrier_wait(&barrier);
	work->command = fkt_info(work->trace, "command");
	work->all_named = true;
	while (fkt_next(reader, &event) == FKT_EVENT) {
		fkt_processes_event(processes, &event);
		fkt_analysis_event(analysis, &event);
		work->all_named &= fkt_symbol(work->trace, fkt_arg64(&event, 0), &symbol) &&
				   !symbol.offset;
	}
	fkt_analysis_end(analysis, fkt_read_stats(reader)->last);
	comment = fkt_info(work->trace, "comment");
	work->info_bytes = comment ? strlen(comment) : 0;
	work->one_row_each = check_rows(work, analysis);
	fkt_analysis_free(analysis);
	fkt_processes_free(processes);
	fkt_reader_free(reader);
	return NULL;
}

/* A reader is made when the end is not read yet, while it is, and when it has been. */
static void *make_readers(void *arg)
{
	struct fkt_trace *trace = arg;

	pthread_barrier_wait(&barrier);
	do {
		fkt_reader_free(fkt_reader_new(trace));
	} while (!fkt_is_complete(trace));
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct work work[THREADS] = { 0 };
		pthread_t thread[THREADS], maker;

		work[0].trace = open_built(&trace_bytes, NULL, NULL);
		for (unsigned int i = 0; i < THREADS; i++) {
			work[i].trace = work[0].trace;
			assert_int_equal(pthread_create(&thread[i], NULL, read_all, &work[i]), 0);
		}
		assert_int_equal(pthread_create(&maker, NULL, make_readers, work[0].trace), 0);
		for (unsigned int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		pthread_join(maker, NULL);
		for (unsigned int i = 0; i < THREADS; i++) {
			assert_string_equal(work[i].command, "find /usr");
			assert_true(work[i].all_named);
			assert_true(work[i].one_row_each);
			assert_int_equal(work[i].info_bytes, LONG - 1 - strlen("comment="));
		}
		assert_true(fkt_is_complete(work[0].trace));
		fkt_close(work[0].trace);
	}
	pthread_barrier_destroy(&barrier);
}

static void count(void *arg, const char *sentence)
{
	(void)sentence;
	++*(unsigned int *)arg;
}

/* What was said of the trace stays where it is, and a second reader finds nothing else. */
static void test_readers(void **state)
{
	unsigned int warnings = 0, before;
	struct fkt_trace *trace;
	struct fkt_event event;
	const char *command;

	(void)state;
	trace = open_built(&trace_bytes, count, &warnings);
	before = warnings;
	command = fkt_info(trace, "command");
	for (unsigned int i = 0; i < 3; i++) {
		struct fkt_reader *reader = fkt_reader_new(trace);
		size_t events = 0;

		while (fkt_next(reader, &event) == FKT_EVENT)
			events++;
		assert_int_equal(events, 4 * FUNCTIONS);
		assert_int_equal(fkt_read_stats(reader)->damaged, 0);
		fkt_reader_free(reader);
		assert_ptr_equal(fkt_info(trace, "command"), command);
		assert_int_equal(warnings, before);
		assert_true(fkt_is_complete(trace));
	}
	fkt_close(trace);
}

/* An open file may have any number. */
static void test_descriptor(void **state)
{
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	(void)state;
	close(STDIN_FILENO);
	fkt_close(open_built(&trace_bytes, NULL, NULL));
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	if (in >= 0)
		assert_int_equal(dup2(in, STDIN_FILENO), STDIN_FILENO);
	close(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers),
		cmocka_unit_test(test_descriptor),
		cmocka_unit_test(test_threads),
	};
	int ret;

	build_damaged(&trace_bytes);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	build_free(&trace_bytes);
	return ret;
}

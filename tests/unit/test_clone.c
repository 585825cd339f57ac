// SPDX-License-Identifier: GPL-2.0-only
/*
 * An analysis that charges nothing and its copies: each comes to what a new analysis of that part
 * comes to, however many threads there have been, in memory that does not grow with these.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <fkt/trace.h>

#include "build_trace.h"
#include "sum/clone.h"

#define THREADS	  60000u
#define FIRST_PID 100u
#define PARENT	  50u
#define THREAD_NS 1000u
/* Not a multiple of a thread's time: some are in the middle of a call then. */
#define WINDOW_NS 1234567u
#define BEGIN	  1000u

static char path[] = "/tmp/test_clone.XXXXXX";

/* Threads that are made, run one after the other, sleep, and end; each in two calls. */
static void write_trace(void)
{
	static const char info[] = "command=clone\0cpus=1\0tsc_khz=1000000";
	struct build build;

	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	for (uint32_t i = 0; i < THREADS; i++) {
		const uint64_t at = BEGIN + (uint64_t)i * THREAD_NS;
		const uint32_t pid = FIRST_PID + i;
		const uint64_t word = pid | (uint64_t)pid << 32;

		build_fork(&build, 0, at, pid, PARENT);
		build_slot(&build, 0, 0, at + 20, FKT_CODE_WAKEUP_NEW, 0, &(uint64_t){ pid }, 1);
		build_switch(&build, 0, at + 50, 0, PARENT, pid);
		build_event(&build, 0, at + 100, FKT_CODE_SYSCALL_ENTRY + 20, 0);
		build_event(&build, 0, at + 300, FKT_CODE_SYSCALL_EXIT + 20, 0);
		build_event(&build, 0, at + 350, FKT_CODE_SYSCALL_ENTRY + 60, 0);
		build_slot(&build, 0, 0, at + 700, FKT_CODE_EXIT, 0, &(uint64_t){ pid }, 1);
		build_switch(&build, 0, at + 800, 0x80, pid, PARENT);
		build_slot(&build, 0, 0, at + 900, FKT_CODE_RELEASE, 0, &word, 1);
	}
	build_end(&build, BEGIN + (uint64_t)THREADS * THREAD_NS, 1000000000, 0);
	build_write(&build, path, build.bytes);
	build_free(&build);
}

static struct fkt_trace *open_trace(void)
{
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace = fkt_open(path, NULL, NULL, error);

	assert_non_null(trace);
	return trace;
}

/* The events are told to all of these. */
struct run {
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct fkt_reader *reader;
};

static struct run begin(void)
{
	struct run run = { .trace = open_trace() };

	run.processes = fkt_processes_new(run.trace);
	run.reader = fkt_reader_new(run.trace);
	assert_non_null(run.processes);
	assert_non_null(run.reader);
	return run;
}

static void end(struct run *run)
{
	fkt_reader_free(run->reader);
	fkt_processes_free(run->processes);
	fkt_close(run->trace);
}

/* A part of the trace, by an analysis that was there from the beginning. */
static struct fkt_analysis *anew(struct run *run, uint64_t from, uint64_t to)
{
	struct fkt_analysis *analysis = fkt_analysis_new(run->trace, run->processes, NULL);
	struct fkt_event event;
	bool on = false;

	assert_non_null(analysis);
	while (fkt_next(run->reader, &event) > 0 && event.stamp < to) {
		if (!on)
			fkt_analysis_charge(analysis, event.stamp < from ? event.stamp : from,
					    event.stamp >= from);
		on |= event.stamp >= from;
		assert_int_equal(fkt_analysis_event(analysis, &event), 0);
		if (fkt_is_process_event(event.code))
			fkt_processes_event(run->processes, &event);
	}
	fkt_analysis_charge(analysis, to, false);
	assert_int_equal(fkt_analysis_end(analysis, to), 0);
	return analysis;
}

static void same(struct fkt_analysis *a, struct fkt_analysis *b)
{
	struct fkt_thread_sums *of_a, *of_b;
	uint64_t own = 0, calls = 0;
	size_t threads, others;

	assert_int_equal(fkt_analysis_duration(a), fkt_analysis_duration(b));
	for (uint32_t row = 0; row < FKT_ROWS; row++) {
		assert_memory_equal(fkt_analysis_row(a, row), fkt_analysis_row(b, row),
				    sizeof(struct fkt_row_sums));
		own += fkt_analysis_row(a, row)->own;
		calls += fkt_analysis_row(a, row)->calls;
	}
	assert_int_equal(own, WINDOW_NS);
	assert_true(calls > WINDOW_NS / THREAD_NS - 2);
	of_a = fkt_analysis_threads(a, &threads);
	of_b = fkt_analysis_threads(b, &others);
	assert_int_equal(threads, others);
	assert_true(threads > WINDOW_NS / THREAD_NS - 2);
	assert_memory_equal(of_a, of_b, threads * sizeof(*of_a));
	free(of_a);
	free(of_b);
}

/* In use; tables of which little is are apart from that. */
static size_t in_use(void)
{
	return mallinfo2().uordblks;
}

static void test_windows(void **state)
{
	struct fkt_analysis *following, *copy = NULL, *other;
	struct run run = begin(), again;
	size_t before = 0, most = 0, windows = 0;
	uint64_t from = 0, to = BEGIN;
	struct fkt_event event;

	(void)state;
	following = fkt_analysis_new(run.trace, run.processes, NULL);
	assert_non_null(following);
	while (fkt_next(run.reader, &event) > 0) {
		if (!from)
			fkt_analysis_charge(following, event.stamp, false);
		if (event.stamp >= to) {
			if (copy) {
				fkt_analysis_charge(copy, to, false);
				assert_int_equal(fkt_analysis_end(copy, to), 0);
				again = begin();
				other = anew(&again, from, to);
				/* Some of the first ones, and of the last ones. */
				if (windows < 4 || windows > 40)
					same(copy, other);
				fkt_analysis_free(other);
				end(&again);
				fkt_analysis_free(copy);
				windows++;
			}
			fkt_analysis_forget(following);
			if (windows == 4)
				before = in_use();
			if (windows > 4 && in_use() > most)
				most = in_use();
			copy = fkt_analysis_clone(following, NULL);
			assert_non_null(copy);
			from = to;
			to += WINDOW_NS;
			fkt_analysis_charge(copy, from, true);
		}
		assert_int_equal(fkt_analysis_event(following, &event), 0);
		assert_int_equal(fkt_analysis_event(copy, &event), 0);
		if (fkt_is_process_event(event.code))
			fkt_processes_event(run.processes, &event);
	}
	assert_true(windows > 45);
	/* 50,000 threads have come and gone: that is what their names take, and hardly more. */
	assert_true(most < before + 50000 * 100);
	fkt_analysis_free(copy);
	fkt_analysis_free(following);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 77;
	close(fd);
	/* A table that is freed is gone, so that what is in use can be told. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	write_trace();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

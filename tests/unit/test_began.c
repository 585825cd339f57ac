// SPDX-License-Identifier: GPL-2.0-only
/* Calls that are told of when they end: their entries are where they belong. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read/extract.h"
#include "read_trace.h"

#define FUNCTION   0x10000u
#define NANOSLEEP  35u
#define READ_CALL  0u
#define EXIT_OF(x) ((x) + FKT_CODE_SYSCALL_EXIT)

static void build_began(struct build *build, unsigned int lane, uint64_t stamp, uint16_t cpu,
			uint64_t at, uint32_t code, uint32_t pid, uint64_t arg)
{
	const uint64_t words[] = { at, code | (uint64_t)pid << 32, arg };

	build_slot(build, lane, (uint16_t)lane, stamp, FKT_CODE_BEGAN, cpu, words, 3);
}

/*
 * Thread 50 sleeps in a function in a call, from CPU 0 to CPU 1, and then it is in one to the end,
 * which is told twice; another call began before the trace, and one says that it will begin.
 */
static void build_calls(struct build *build)
{
	static const char info[] = "longer_than_cycles=1000";

	build_begin(build, 2, false);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(
		build, FKT_SECTION_CODES,
		"65536 1 entry 65537 functions F a:s64\n65537 1 exit 65536 functions F ret:ret\n");
	build_clock(build, 900, 0, 0);
	build_pages(build);
	build_switch(build, 0, 2000, 0, 0, 50);
	build_switch(build, 0, 4000, 1, 50, 0);
	build_event(build, 0, 9500, FKT_CODE_IRQ_ENTRY, 1);
	build_event(build, 0, 9600, FKT_CODE_IRQ_EXIT, 1);
	build_switch(build, 1, 2500, 0, 0, 60);
	build_began(build, 1, 2600, 1, 100, READ_CALL, 60, 3);
	build_event(build, 1, 2600, EXIT_OF(READ_CALL), 7);
	build_switch(build, 1, 9000, 1, 60, 50);
	build_began(build, 1, 9100, 0, 3500, FUNCTION, 50, 2);
	build_event(build, 1, 9100, FUNCTION + 1, 0);
	build_began(build, 1, 9200, 0, 3000, NANOSLEEP, 50, 1);
	build_event(build, 1, 9200, EXIT_OF(NANOSLEEP), 0);
	build_began(build, 1, 9700, 1, 9900, READ_CALL, 50, 8);
	build_began(build, 1, 9700, 1, 9800, FKT_CODE_SWITCH, 50, 8);
	build_began(build, 1, 11000, 1, 9300, READ_CALL, 50, 9);
	build_began(build, 1, 11000, 1, 9300, READ_CALL, 50, 9);
	build_end(build, 12000, 12000, 12000);
}

static struct fkt_trace *open_bytes(const struct build *build)
{
	char path[64], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;
	int fd = memfd_create("trace", 0);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	build_write(build, path, build->bytes);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	close(fd);
	return trace;
}

/* "STAMP CODE PID CPU;" of what is no switch or interrupt. */
static char *list(struct fkt_trace *trace, uint64_t from, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, from, to);
	struct fkt_event event;
	size_t bytes;
	char *text;
	FILE *file = open_memstream(&text, &bytes);
	int what;

	assert_non_null(reader);
	while ((what = fkt_next(reader, &event)) > 0)
		if (what == FKT_EVENT && event.code != FKT_CODE_SWITCH &&
		    event.code != FKT_CODE_IRQ_ENTRY && event.code != FKT_CODE_IRQ_EXIT)
			fprintf(file, "%lu %x %u %u;", (unsigned long)event.stamp, event.code,
				event.pid, event.cpu);
	assert_int_equal(what, FKT_END);
	fclose(file);
	fkt_reader_free(reader);
	return text;
}

static void check_list(struct fkt_trace *trace, uint64_t from, uint64_t to, const char *wanted)
{
	char *text = list(trace, from, to);

	assert_string_equal(text, wanted);
	free(text);
}

/* What began before the trace is told where it ended, and what makes no sense is as it is. */
#define OLD   "2600 1206 60 1;2600 400 60 1;"
#define BEGIN "3000 23 50 0;3500 10000 50 0;"
#define ENDED "9100 10001 50 1;9200 423 50 1;"
#define OPEN  "9300 0 50 1;"
#define ODD   "9700 1206 50 1;9700 1206 50 1;"

static void test_order(void **state)
{
	struct build build;
	struct fkt_trace *trace;

	(void)state;
	build_calls(&build);
	trace = open_bytes(&build);
	check_list(trace, 0, UINT64_MAX, OLD BEGIN ENDED OPEN ODD);
	/* Each is in one of the windows. */
	check_list(trace, 0, 3200, OLD "3000 23 50 0;");
	check_list(trace, 3200, 9250, "3500 10000 50 0;" ENDED);
	check_list(trace, 9250, UINT64_MAX, OPEN ODD);
	fkt_close(trace);
	build_free(&build);
}

/* An event is missing, or all stop recording, in a call: it is told of once more when it ends. */
static void test_forgotten(void **state)
{
	static const char info[] = "longer_than_cycles=1000";
	struct build build;
	struct fkt_trace *trace;
	const uint64_t off = 0;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		build_begin(&build, 1, false);
		build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
		build_clock(&build, 900, 0, 0);
		build_pages(&build);
		build_switch(&build, 0, 2000, 0, 0, 50);
		build_switch(&build, 0, 3500, 1, 50, 0);
		if (i)
			build_slot(&build, 0, 0, 4000, FKT_CODE_SETMASK, 0, &off, 1);
		build_close(&build, 0);
		build.lane[0].lost = !i;
		build_switch(&build, 0, 7000, 0, 0, 50);
		build_began(&build, 0, 9000, 0, 3000, NANOSLEEP, 50, 1);
		build_event(&build, 0, 9000, EXIT_OF(NANOSLEEP), 0);
		build_began(&build, 0, 9500, 0, 9100, READ_CALL, 50, 1);
		build_event(&build, 0, 9500, EXIT_OF(READ_CALL), 0);
		build_end(&build, 12000, 12000, 12000);
		trace = open_bytes(&build);
		check_list(
			trace, 0, UINT64_MAX,
			i ? "3000 23 50 0;4000 1201 0 0;9000 1206 50 0;9000 423 50 0;"
			    "9100 0 50 0;9500 400 50 0;"
			  : "3000 23 50 0;9000 1206 50 0;9000 423 50 0;9100 0 50 0;9500 400 50 0;");
		fkt_close(trace);
		build_free(&build);
	}
}

/* A stream has them as they were told. */
static void test_stream(void **state)
{
	struct reading *reading;
	struct build build;
	size_t began = 0;

	(void)state;
	build_calls(&build);
	reading = read_trace(&build, READ_STREAM);
	for (size_t i = 0; i < reading->n_events; i++)
		began += reading->events[i].code == FKT_CODE_BEGAN;
	assert_int_equal(began, 7);
	read_free(reading);
	build_free(&build);
}

/* In a part, entries are where they are, in slots of their own. */
static void test_part(void **state)
{
	struct fkt_extract extract = { .from = 3200, .to = 9250 };
	char path[64], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace, *part;
	struct build build;
	int fd = memfd_create("part", 0);

	(void)state;
	build_calls(&build);
	trace = open_bytes(&build);
	assert_int_equal(fkt_extract(trace, &extract, fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	part = fkt_open(path, NULL, NULL, error);
	assert_non_null(part);
	check_list(part, 0, UINT64_MAX, "3500 10000 50 0;" ENDED);
	fkt_close(part);
	fkt_close(trace);
	close(fd);
	build_free(&build);
}

struct calls {
	unsigned int whole;
	unsigned int partial;
	uint64_t cycles;
};

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct calls *calls = arg;

	if (call->interrupt)
		return;
	calls->whole += !call->partial;
	calls->partial += call->partial;
	if (call->row == NANOSLEEP) {
		calls->cycles = call->cycles;
		assert_int_equal(call->begin, 3000);
		assert_int_equal(call->end, 9200);
		assert_int_equal(call->own, 1000 + 200 - (500 + 100));
	}
	/* The one from before the trace: when it began is known. */
	if (call->row == READ_CALL && call->id && call->partial && call->end == 2600)
		assert_int_equal(call->begin, 100);
}

/* Own time and time in functions are those of a trace that has all entries. */
static void test_sums(void **state)
{
	struct calls calls = { 0 };
	const struct fkt_analysis_hooks hooks = { .leave = on_leave, .arg = &calls };
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct fkt_reader *reader;
	struct fkt_trace *trace;
	struct fkt_event event;
	struct build build;
	int what;

	(void)state;
	build_calls(&build);
	trace = open_bytes(&build);
	assert_false(fkt_can_sum(trace));
	assert_false(fkt_can_list(trace));
	processes = fkt_processes_new(trace);
	analysis = fkt_analysis_new(trace, processes, &hooks);
	reader = fkt_reader_new(trace);
	while ((what = fkt_next(reader, &event)) > 0)
		if (what == FKT_EVENT)
			assert_int_equal(fkt_analysis_event(analysis, &event), 0);
	assert_int_equal(fkt_analysis_end(analysis, fkt_read_stats(reader)->last), 0);
	assert_int_equal(calls.whole, 2);
	assert_int_equal(calls.partial, 2);
	assert_int_equal(calls.cycles, 1000 + 200);
	fkt_reader_free(reader);
	fkt_analysis_free(analysis);
	fkt_processes_free(processes);
	fkt_close(trace);
	build_free(&build);
}

/* With --trace=FILE, it does no more than write the trace of build_calls(). */
int main(int argc, char **argv)
{
	struct build build;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),  cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_stream), cmocka_unit_test(test_part),
		cmocka_unit_test(test_sums),
	};

	if (argc > 1 && !strncmp(argv[1], "--trace=", 8)) {
		build_calls(&build);
		build_write(&build, argv[1] + 8, build.bytes);
		build_free(&build);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

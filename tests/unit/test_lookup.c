// SPDX-License-Identifier: GPL-2.0-only
/* Symbols, the clock, threads over time, and where the time went. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "read_trace.h"

static struct fkt_trace *open_built(struct build *build)
{
	char error[FKT_ERROR_BYTES], path[] = "/tmp/fkt-test-XXXXXX";
	int fd = mkstemp(path);
	struct fkt_trace *trace;

	assert_true(fd >= 0);
	close(fd);
	build_write(build, path, build->bytes);
	trace = fkt_open(path, NULL, NULL, error);
	unlink(path);
	assert_non_null(trace);
	build_free(build);
	return trace;
}

static void expect_symbol(struct fkt_trace *trace, uint64_t address, const char *expected)
{
	struct fkt_symbol symbol;
	char text[128] = "-";

	if (fkt_symbol(trace, address, &symbol))
		snprintf(text, sizeof(text), "%s+%#llx %s", symbol.name,
			 (unsigned long long)symbol.offset, symbol.module ?: "");
	assert_string_equal(text, expected);
}

static void test_symbols(void **state)
{
	static const char symbols[] = "ffffffffc0000000 t init\t[mod]\n"
				      "ffffffff81000100 T second\n"
				      "ffffffff81000100 T alias\n"
				      "0000000000000000 A hidden\n"
				      "nonsense line\n"
				      "ffffffff81000000 T first\n"
				      "ffffffff81000200 t evil\x1b[2J\n"
				      "ffffffff81000300\n"
				      "ffffffffc0000100 t exit [mod]";
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	for (int zstd = 0; zstd < 2; zstd++) {
		build_begin(&build, 1, false);
		build_section(&build, FKT_SECTION_SYMBOLS, symbols, sizeof(symbols) - 1, zstd);
		build_pages(&build);
		build_end(&build, 0, 0, 0);
		trace = open_built(&build);
		expect_symbol(trace, 0xffffffff81000000, "first+0 ");
		expect_symbol(trace, 0xffffffff810000ff, "first+0xff ");
		expect_symbol(trace, 0xffffffff81000100, "second+0 ");
		expect_symbol(trace, 0xffffffff81000201, "evil?[2J+0x1 ");
		expect_symbol(trace, 0xffffffffc0000010, "init+0x10 mod");
		expect_symbol(trace, 0xffffffffc0000110, "exit+0x10 mod");
		expect_symbol(trace, 0xffffffff80ffffff, "-");
		expect_symbol(trace, 0x1000, "-");
		expect_symbol(trace, UINT64_MAX, "-");
		fkt_close(trace);
	}
}

/* Modules that came while recording have theirs in the tail. */
static void test_late_symbols(void **state)
{
	static const char early[] = "ffffffff81000000 T first\nffffffff81000200 T last\n";
	static const char late[] = "ffffffff81000100 t middle\t[late]\n";
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_SYMBOLS, early, sizeof(early) - 1, true);
	build_pages(&build);
	build_tail(&build);
	build_section(&build, FKT_SECTION_SYMBOLS, late, sizeof(late) - 1, true);
	build_section(&build, FKT_SECTION_SYMBOLS, early, sizeof(early) - 1, false);
	build_end(&build, 0, 0, 0);
	trace = open_built(&build);
	expect_symbol(trace, 0xffffffff81000000, "first+0 ");
	expect_symbol(trace, 0xffffffff81000110, "middle+0x10 late");
	expect_symbol(trace, 0xffffffff81000200, "last+0 ");
	fkt_close(trace);
}

static void test_no_symbols(void **state)
{
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_SYMBOLS, "", 0, true);
	build_pages(&build);
	trace = open_built(&build);
	expect_symbol(trace, 0xffffffff81000000, "-");
	fkt_close(trace);
}

/* 3 GHz exactly: three cycles a nanosecond. The line goes through both pairs. */
static void test_clock(void **state)
{
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, "tsc_khz=2900000", 16, false);
	build_clock(&build, 3000000000, 1000000000, 1700000000000000000);
	build_pages(&build);
	build_end(&build, 33000000000, 11000000000, 1700000010000000000);
	trace = open_built(&build);
	assert_true(fkt_has_clock(trace));
	assert_true(fkt_has_wall_clock(trace));
	assert_int_equal(fkt_cycles_to_ns(trace, 0), 0);
	/* To the nearest, though a third of a nanosecond is not exact. */
	assert_int_equal(fkt_cycles_to_ns(trace, 600000), 200000);
	assert_int_equal(fkt_cycles_to_ns(trace, 600001), 200000);
	assert_int_equal(fkt_cycles_to_ns(trace, 600002), 200001);
	assert_int_equal(fkt_cycles_to_ns(trace, -600002), -200001);
	assert_int_equal(fkt_cycles_to_ns(trace, 30000000000), 10000000000);
	assert_int_equal(fkt_cycles_to_ns(trace, 3000000000000000), 1000000000000000);
	assert_int_equal(fkt_cycles_to_ns(trace, -3000), -1000);
	assert_int_equal(fkt_wall_ns(trace, 6000000000), 1700000001000000000);
	assert_int_equal(fkt_wall_ns(trace, 0), 1699999999000000000);
	/* What is printed as so long is so long, and what is a cycle less is not. */
	for (uint64_t ns = 199990; ns < 200010; ns++) {
		uint64_t cycles = fkt_ns_to_cycles(trace, ns);

		assert_int_equal(fkt_cycles_to_ns(trace, (int64_t)cycles), ns);
		assert_int_equal(fkt_cycles_to_ns(trace, (int64_t)cycles - 1), ns - 1);
	}
	fkt_close(trace);
}

static void test_clock_without_tail(void **state)
{
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, "tsc_khz=2000000", 16, false);
	build_clock(&build, 1000, 1000, 5000);
	build_pages(&build);
	trace = open_built(&build);
	assert_int_equal(fkt_cycles_to_ns(trace, 2000000000), 1000000000);
	assert_int_equal(fkt_cycles_to_ns(trace, -2000000000), -1000000000);
	assert_int_equal(fkt_wall_ns(trace, 3000), 6000);
	fkt_close(trace);
}

/* Clocks slower than the counter's nanosecond, and ones that cannot be. */
static void test_odd_clocks(void **state)
{
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, "tsc_khz=400000", 15, false);
	build_pages(&build);
	trace = open_built(&build);
	assert_int_equal(fkt_cycles_to_ns(trace, 400000), 1000000);
	assert_int_equal(fkt_cycles_to_ns(trace, 1), 3); /* 2.5 */
	assert_false(fkt_has_wall_clock(trace));
	fkt_close(trace);

	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, "tsc_khz=0", 10, false);
	build_clock(&build, 1000, 1000, 5000);
	build_pages(&build);
	build_end(&build, 1000, 2000, 6000);
	trace = open_built(&build);
	assert_false(fkt_has_clock(trace));
	fkt_close(trace);
}

static void expect_process(struct fkt_processes *processes, uint32_t tid, const char *comm,
			   uint32_t tgid)
{
	const struct fkt_process *process =
		fkt_process(processes, fkt_process_id(processes, tid, 0));

	assert_string_equal(process->comm, comm);
	assert_int_equal(process->tgid, tgid);
}

/* A pid that is released and forked again is another thread; until then it is the old one. */
static void test_processes(void **state)
{
	struct fkt_processes *processes;
	struct fkt_reader *reader;
	struct fkt_trace *trace;
	struct fkt_event event;
	struct build build;
	uint32_t old = 0, new;
	const uint64_t release = 100 | 100ull << 32;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_PROCESSES,
		   "50 50 1 bash\n51 50 1 helper\n0 0 0 zero\nx y z w\n7\n50 9 9 twice\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	build_fork(&build, 0, 1000, 100, 50);
	build_name(&build, 0, 1001, FKT_CODE_EXEC, 100, "find");
	build_slot(&build, 0, 0, 1002, FKT_CODE_RELEASE, 0, &release, 1);
	build_switch(&build, 0, 1003, 0x80, 100, 50);
	build_fork(&build, 0, 1004, 100, 51);
	build_name(&build, 0, 1005, FKT_CODE_RENAME, 50, "sh");
	build_end(&build, 0, 0, 0);
	trace = open_built(&build);
	processes = fkt_processes_new(trace);
	reader = fkt_reader_new(trace);
	assert_non_null(processes);
	assert_non_null(reader);
	expect_process(processes, 50, "bash", 50);
	expect_process(processes, 51, "helper", 50);
	while (fkt_next(reader, &event) > 0) {
		fkt_processes_event(processes, &event);
		switch (event.stamp) {
		case 1000:
			expect_process(processes, 100, "bash", 100);
			old = fkt_process_id(processes, 100, 0);
			break;
		case 1001:
		case 1003:
			expect_process(processes, 100, "find", 100);
			assert_int_equal(fkt_process_id(processes, 100, 0), old);
			break;
		case 1002:
			assert_true(fkt_process(processes, old)->released);
			break;
		}
	}
	new = fkt_process_id(processes, 100, 0);
	assert_int_not_equal(new, old);
	assert_string_equal(fkt_process(processes, new)->comm, "helper");
	assert_string_equal(fkt_process(processes, old)->comm, "find");
	expect_process(processes, 50, "sh", 50);
	expect_process(processes, 12345, "?", FKT_PID_UNKNOWN);
	/* idle: one for each CPU */
	assert_int_not_equal(fkt_process_id(processes, 0, 0), fkt_process_id(processes, 0, 1));
	assert_int_equal(fkt_process(processes, fkt_process_id(processes, 0, 3))->cpu, 3);
	assert_int_equal(fkt_process_id(processes, FKT_PID_UNKNOWN, 0), 0);
	fkt_reader_free(reader);
	fkt_processes_free(processes);
	fkt_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_late_symbols),
		cmocka_unit_test(test_no_symbols),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_clock_without_tail),
		cmocka_unit_test(test_odd_clocks),
		cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

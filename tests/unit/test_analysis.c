// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time went, in traces made by hand with the answer worked out by hand (paper, §6).
 *
 * In the comments, "F(" and "F)" are the entry and the exit of a function, "sys(" and "sys)" those
 * of a system call; a number before it is its stamp.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>

#include <fkt/trace.h>

#include "build_trace.h"
#include "read_trace.h"
#include "read/reader.h"
#include "sum/histogram.h"
#include "sum/internal.h"

/* Functions, in the trace's own table. */
#define F     0x10000u
#define F_END 0x10001u
#define G     0x10002u
#define G_END 0x10003u

static const char codes[] = "0x10000 1 entry 0x10001 functions F args:args\n"
			    "0x10001 1 exit 0x10000 functions F ret:ret\n"
			    "0x10002 1 entry 0x10003 functions G args:args\n"
			    "0x10003 1 exit 0x10002 functions G ret:ret\n";

#define SYS_READ      0x0000u
#define SYS_READ_END  0x0400u

#define SYS_CLONE     0x0038u
#define SYS_CLONE_END 0x0438u

#define STATE_S	      0x1
#define STATE_D	      0x2
#define STATE_DEAD    0x80

static struct fkt_trace *trace;
static struct fkt_processes *processes;
static struct fkt_analysis *analysis;

static void begin(struct build *build, unsigned int lanes, bool shared)
{
	build_begin(build, lanes, shared);
	build_text(build, FKT_SECTION_CODES, codes);
	build_pages(build);
}

static void wake(struct build *build, unsigned int lane, uint64_t stamp, uint32_t pid)
{
	uint64_t word = pid;

	build_slot(build, lane, build->lane[lane].cpu, stamp, FKT_CODE_WAKEUP, 0, &word, 1);
}

/* A thread's times on the CPUs are all of its time, and those on a CPU all of the CPU's. */
static void check_pairs(const struct fkt_thread_sums *threads, size_t count)
{
	uint64_t on_cpu[UINT16_MAX + 1] = { 0 }, cycles;
	struct fkt_on_cpu *all;
	size_t times;

	all = fkt_analysis_on_cpus(analysis, &times);
	assert_non_null(all);
	for (size_t i = 0; i < count; i++) {
		cycles = 0;
		for (size_t j = 0; j < times; j++)
			if (all[j].id == threads[i].id)
				cycles += all[j].cycles;
		assert_int_equal(cycles, threads[i].cycles);
		assert_true(!threads[i].id || cycles <= fkt_analysis_duration(analysis));
	}
	for (size_t i = 0; i < times; i++)
		on_cpu[all[i].cpu] += all[i].cycles;
	for (uint32_t cpu = 0; cpu < UINT16_MAX; cpu++)
		assert_int_equal(on_cpu[cpu], fkt_analysis_has_cpu(analysis, (uint16_t)cpu)
						      ? fkt_analysis_duration(analysis)
						      : 0);
	free(all);
}

/* The sum of all rows, and that of all threads, is the duration times the CPUs. */
static void check_sums(void)
{
	uint64_t all = fkt_analysis_duration(analysis) * fkt_analysis_cpus(analysis);
	uint64_t rows = 0, sum = 0;
	struct fkt_thread_sums *threads;
	size_t count;

	for (uint32_t row = 0; row < FKT_ROWS; row++)
		rows += fkt_analysis_row(analysis, row)->own;
	assert_int_equal(rows, all);
	threads = fkt_analysis_threads(analysis, &count);
	assert_non_null(threads);
	for (size_t i = 0; i < count; i++) {
		sum += threads[i].cycles;
		if (threads[i].id)
			assert_int_equal(threads[i].cycles,
					 threads[i].user + threads[i].kernel + threads[i].before +
						 threads[i].interrupts + threads[i].left_out +
						 threads[i].untraced);
	}
	assert_int_equal(sum, all);
	check_pairs(threads, count);
	free(threads);
}

/* Analyse a trace; time counts from one stamp to another one, if they are not 0. */
/* Where time is charged once more behind the first window, if not 0. */
static uint64_t again_from;

static void analyse_hooked(struct build *build, size_t bytes, uint64_t from, uint64_t to,
			   const struct fkt_analysis_hooks *hooks)
{
	struct fkt_reader *reader;
	struct fkt_event event;
	uint64_t last;
	int what, fd;
	bool begun = false;

	fd = memfd_create("trace", 0);
	assert_int_equal(write(fd, build->data, bytes), bytes);
	trace = read_open(fd);
	close(fd);
	build_free(build);
	processes = fkt_processes_new(trace);
	analysis = fkt_analysis_new(trace, processes, hooks);
	reader = fkt_reader_new(trace);
	assert_true(processes && analysis && reader);
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP) {
			fkt_analysis_gap(analysis, fkt_gap(reader));
			continue;
		}
		if (from && !begun && event.stamp < from)
			fkt_analysis_charge(analysis, event.stamp, false);
		if (!begun && event.stamp >= from) {
			fkt_analysis_charge(analysis, from, true);
			begun = true;
		}
		if (to && event.stamp >= to)
			fkt_analysis_charge(analysis, to, false);
		if (again_from && event.stamp >= again_from) {
			fkt_analysis_charge(analysis, again_from, true);
			to = 0;
		}
		assert_int_equal(fkt_analysis_event(analysis, &event), 0);
		if (fkt_is_process_event(event.code))
			fkt_processes_event(processes, &event);
	}
	assert_int_equal(what, 0);
	last = fkt_read_stats(reader)->last;
	if (to > last && to < fkt_recording_end(trace, last))
		fkt_analysis_charge(analysis, to, false);
	assert_int_equal(fkt_analysis_end(analysis, last), 0);
	fkt_reader_free(reader);
	check_sums();
}

static void analyse(struct build *build)
{
	build_end(build, 0, 0, 0);
	analyse_hooked(build, build->bytes, 0, 0, NULL);
}

static void done(void)
{
	fkt_analysis_free(analysis);
	fkt_processes_free(processes);
	fkt_close(trace);
}

/* own and total cycles, whole calls, and others */
#define expect_row(number, own_, total_, calls_, partial_)                                         \
	do {                                                                                       \
		const struct fkt_row_sums *row_ = fkt_analysis_row(analysis, number);              \
		assert_int_equal(row_->own, own_);                                                 \
		assert_int_equal(row_->total, total_);                                             \
		assert_int_equal(row_->calls, calls_);                                             \
		assert_int_equal(row_->partial, partial_);                                         \
	} while (0)

#define expect_own(number, own_) assert_int_equal(fkt_analysis_row(analysis, number)->own, own_)

/* The n-th thread with this pid, or the idle task of a CPU. */
static struct fkt_thread_sums thread_sums(uint32_t tid, uint32_t cpu, unsigned int n)
{
	struct fkt_thread_sums *threads, found = { 0 };
	const struct fkt_process *process;
	uint32_t last = 0;
	size_t count;

	threads = fkt_analysis_threads(analysis, &count);
	assert_non_null(threads);
	do {
		bool any = false;

		for (size_t i = 0; i < count; i++) {
			process = fkt_process(processes, threads[i].id);
			if (process->tid != tid || (!tid && process->cpu != cpu) ||
			    (last && threads[i].id <= last) || (any && threads[i].id > found.id))
				continue;
			found = threads[i];
			any = true;
		}
		assert_true(any);
		last = found.id;
	} while (n--);
	free(threads);
	return found;
}

/*
 * CPU 0: 50 from 1000 on, 60 from 1300 to 1600, then idle; CPU 1: idle, and 50 again from 1500 on.
 * From 1000 to 2000: 50 has 300 + 500, 60 has 300, idle 0 400 and idle 1 500.
 */
static void test_times(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, 0x27, 0);
	build_switch(&build, 0, 1300, STATE_S, 50, 60);
	build_event(&build, 0, 1400, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 1, 1450, FKT_CODE_IRQ_ENTRY, 1);
	build_switch(&build, 1, 1500, 0, 0, 50);
	build_switch(&build, 0, 1600, STATE_S, 60, 0);
	build_event(&build, 1, 2000, 0x27, 0);
	analyse(&build);
	assert_int_equal(thread_sums(50, 0, 0).cycles, 800);
	assert_int_equal(thread_sums(60, 0, 0).cycles, 300);
	assert_int_equal(thread_sums(0, 0, 0).cycles, 400);
	assert_int_equal(thread_sums(0, 1, 0).cycles, 500);
	assert_int_equal(fkt_analysis_on_cpu(analysis, thread_sums(50, 0, 0).id, 0), 300);
	assert_int_equal(fkt_analysis_on_cpu(analysis, thread_sums(50, 0, 0).id, 1), 500);
	/* Also what was before the CPU's first event. */
	assert_int_equal(fkt_analysis_on_cpu(analysis, thread_sums(0, 1, 0).id, 1), 500);
	assert_int_equal(fkt_analysis_code_count(analysis, FKT_CODE_SWITCH), 3);
	assert_int_equal(fkt_analysis_code_count(analysis, 0x27), 2);
	done();
}

/*
 * 1000 sys( 1100 F( 1150 G( 1250 G) 1300 G( 1320 G) 1400 F) 1500 sys) 1700 sys( 1750 sys)
 *
 * G: 100 + 20. F: 300 in all, 180 its own. sys: 500 + 50 in all, of which 200 + 50 its own. User
 * mode: the 200 between the calls.
 */
static void test_calls(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_event(&build, 0, 1150, G, 0);
	build_event(&build, 0, 1250, G_END, 0);
	build_event(&build, 0, 1300, G, 0);
	build_event(&build, 0, 1320, G_END, 0);
	build_event(&build, 0, 1400, F_END, 0);
	build_event(&build, 0, 1500, SYS_READ_END, 0);
	build_event(&build, 0, 1700, SYS_READ, 0);
	build_event(&build, 0, 1750, SYS_READ_END, 0);
	analyse(&build);
	expect_row(G, 120, 120, 2, 0);
	expect_row(F, 180, 300, 1, 0);
	expect_row(SYS_READ, 250, 550, 2, 0);
	expect_own(FKT_ROW_USER, 200);
	assert_int_equal(thread_sums(50, 0, 0).user, 200);
	assert_int_equal(thread_sums(50, 0, 0).kernel, 550);
	done();
}

/*
 * Two threads in the same function at the same time, on one CPU:
 *
 * 50: 1000 sys( 1100 F( 1200 asleep			      1500 F) 1600 sys)
 * 60:			      1200 sys( 1300 F( 1400 asleep
 *
 * 50's F took 100 + 100, as it slept in between; 60's has taken 100 and is not left. The first
 * events of a thread that is switched to: 60 was in user mode for 0 cycles. At 1400 60 sleeps, and
 * 50 is back, in its F. The last event is at 1600.
 */
static void test_sleep_in_function(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_switch(&build, 0, 1200, STATE_S, 50, 60);
	build_event(&build, 0, 1200, SYS_READ, 0);
	build_event(&build, 0, 1300, F, 0);
	wake(&build, 0, 1350, 50);
	build_switch(&build, 0, 1400, STATE_D, 60, 50);
	build_event(&build, 0, 1500, F_END, 0);
	build_event(&build, 0, 1600, SYS_READ_END, 0);
	analyse(&build);
	expect_row(F, 300, 200, 1, 1);
	expect_row(SYS_READ, 300, 400, 1, 1);
	/* 50 slept from 1200 until it was woken, and waited until 1400. 60 sleeps to the end. */
	assert_int_equal(thread_sums(50, 0, 0).sleeping[FKT_SLEEP_INTERRUPTIBLE], 150);
	assert_int_equal(thread_sums(50, 0, 0).waiting, 50);
	assert_int_equal(thread_sums(60, 0, 0).sleeping[FKT_SLEEP_UNINTERRUPTIBLE], 200);
	done();
}

/* A thread sleeps as its switch reports: for a lock of PREEMPT_RT, too, a state of its own. */
static void test_sleeps_as_reported(void **state)
{
	static const struct {
		uint32_t bits, sleep;
	} as[] = {
		{ 0x0001, FKT_SLEEP_INTERRUPTIBLE },
		{ 0x2001, FKT_SLEEP_INTERRUPTIBLE },
		{ 0x0002, FKT_SLEEP_UNINTERRUPTIBLE },
		{ 0x0102, FKT_SLEEP_UNINTERRUPTIBLE },
		{ 0x1000, FKT_SLEEP_UNINTERRUPTIBLE },
		{ 0x8000, FKT_SLEEP_UNINTERRUPTIBLE },
		{ 0x0402, FKT_SLEEP_IDLE },
		{ 0x0104, FKT_SLEEP_STOPPED },
		{ 0x0008, FKT_SLEEP_STOPPED },
		{ 0x0040, FKT_SLEEP_OTHER },
	};
	struct build build;

	(void)state;
	for (size_t i = 0; i < sizeof(as) / sizeof(as[0]); i++) {
		begin(&build, 1, false);
		build.lane[0].pid = 50;
		build_event(&build, 0, 1000, SYS_READ, 0);
		build_switch(&build, 0, 1200, as[i].bits, 50, 60);
		wake(&build, 0, 1350, 50);
		analyse(&build);
		for (uint32_t sleep = 0; sleep < FKT_SLEEPS; sleep++)
			assert_int_equal(thread_sums(50, 0, 0).sleeping[sleep],
					 sleep == as[i].sleep ? 150 : 0);
		done();
	}
}

/*
 * A thread sleeps in a function on CPU 0 and goes on in it on CPU 1:
 *
 * CPU 0: 1000 50: sys( 1100 F( 1200 to idle				   2000 tick(
 * CPU 1: 1000 idle: tick( 1010 tick) 1500 to 50, 1600 F) 1700 sys) 1900 sys( 1950 sys)
 *
 * F: 100 on CPU 0, and 100 on CPU 1, counted from the switch there, the CPU's last event. sys:
 * 100 + 100 its own, 400 in all, and 50. CPU 1's idle has 490, its tick 10.
 */
static void test_migration(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1000, FKT_CODE_VECTOR_ENTRY, 0);
	build_event(&build, 1, 1010, FKT_CODE_VECTOR_EXIT, 0);
	build_event(&build, 0, 1100, F, 0);
	build_switch(&build, 0, 1200, STATE_S, 50, 0);
	build_switch(&build, 1, 1500, 0, 0, 50);
	build_event(&build, 1, 1600, F_END, 0);
	build_event(&build, 1, 1700, SYS_READ_END, 0);
	build_event(&build, 1, 1900, SYS_READ, 0);
	build_event(&build, 1, 1950, SYS_READ_END, 0);
	build_event(&build, 0, 2000, FKT_CODE_VECTOR_ENTRY, 0);
	analyse(&build);
	expect_row(F, 200, 200, 1, 0);
	expect_row(SYS_READ, 250, 450, 2, 0);
	expect_row(FKT_CODE_VECTOR_ENTRY, 10, 10, 1, 1);
	assert_int_equal(thread_sums(0, 0, 0).cycles, 800);
	assert_int_equal(thread_sums(0, 1, 0).cycles, 500);
	assert_int_equal(thread_sums(0, 1, 0).interrupts, 10);
	expect_own(FKT_ROW_IDLE, 800 + 490);
	/* between its calls, and after them to the end of the trace */
	expect_own(FKT_ROW_USER, 200 + 50);
	done();
}

/*
 * Interrupts nest, and are charged to themselves, not to the call that they interrupt:
 *
 * 1000 sys( 1100 softirq( 1150 F( 1200 tick( 1220 irq( 1225 irq) 1230 tick) 1300 F) 1400 softirq)
 * 1450 sys)
 *
 * irq 5; tick 30 - 5 = 25; F 150 - 30 = 120; softirq 300 - 150 = 150; sys 100 + 50.
 */
static void test_interrupts(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, FKT_CODE_SOFTIRQ_ENTRY, 3);
	build_event(&build, 0, 1150, F, 0);
	build_event(&build, 0, 1200, FKT_CODE_VECTOR_ENTRY, 0);
	build_event(&build, 0, 1220, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 1225, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 1230, FKT_CODE_VECTOR_EXIT, 0);
	build_event(&build, 0, 1300, F_END, 0);
	build_event(&build, 0, 1400, FKT_CODE_SOFTIRQ_EXIT, 3);
	build_event(&build, 0, 1450, SYS_READ_END, 0);
	analyse(&build);
	expect_row(FKT_ROW_IRQ + 14, 5, 5, 1, 0);
	expect_row(FKT_CODE_VECTOR_ENTRY, 25, 30, 1, 0);
	expect_row(F, 120, 150, 1, 0);
	expect_row(FKT_ROW_SOFTIRQ + 3, 150, 300, 1, 0);
	expect_row(SYS_READ, 150, 150, 1, 0);
	assert_int_equal(thread_sums(50, 0, 0).kernel, 150);
	assert_int_equal(thread_sums(50, 0, 0).interrupts, 300);
	done();
}

/*
 * An interrupt between the event of a switch and the switch itself: what comes then still says that
 * 50 is current (here, as the headers of new pages do).
 *
 * 1000 50: sys( 1100 switch to 60 | 1120 50: irq( 1150 irq) | 1250 60: sys( 1300 sys)
 *
 * Until 1120 it is 50's time, then the interrupt's; the switch counts when 60's first event comes,
 * and 60's time from the last event on: 1150.
 */
static void test_interrupt_in_switch(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1100, STATE_S, 50, 60);
	build_close(&build, 0);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1120, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 1150, FKT_CODE_IRQ_EXIT, 14);
	build_close(&build, 0);
	build.lane[0].pid = 60;
	build_event(&build, 0, 1250, SYS_READ, 0);
	build_event(&build, 0, 1300, SYS_READ_END, 0);
	analyse(&build);
	assert_int_equal(thread_sums(50, 0, 0).cycles, 120 + 30);
	assert_int_equal(thread_sums(50, 0, 0).interrupts, 30);
	assert_int_equal(thread_sums(60, 0, 0).cycles, 150);
	expect_row(FKT_ROW_IRQ + 14, 30, 30, 1, 0);
	expect_row(SYS_READ, 120 + 50, 50, 1, 1);
	expect_own(FKT_ROW_USER, 100);
	done();
}

/* Idle on both CPUs at the same time: from 1000 to 1500, and from 1200 to 2000. */
static void test_idle(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[1].pid = 60;
	build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_switch(&build, 1, 1200, STATE_S, 60, 0);
	build_switch(&build, 0, 1500, 0, 0, 50);
	build_event(&build, 0, 2000, SYS_READ, 0);
	analyse(&build);
	assert_int_equal(thread_sums(0, 0, 0).cycles, 500);
	assert_int_equal(thread_sums(0, 1, 0).cycles, 800);
	assert_int_equal(thread_sums(50, 0, 0).cycles, 500);
	assert_int_equal(thread_sums(60, 0, 0).cycles, 200);
	/* 60 went to sleep outside of all calls that were seen: not from user mode. */
	assert_int_equal(thread_sums(60, 0, 0).before, 200);
	expect_own(FKT_ROW_BEFORE, 200);
	/* An idle task neither waits nor sleeps. */
	assert_int_equal(thread_sums(0, 0, 0).waiting, 0);
	done();
}

/*
 * 50 ends, and its pid is given out again: 200 and 300 cycles of two processes. The first one's
 * call is not the second one's.
 */
static void test_reused_pid(void **state)
{
	uint64_t word = 50 | 50ull << 32;
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1200, STATE_DEAD, 50, 60);
	build_slot(&build, 0, 0, 1250, FKT_CODE_RELEASE, 0, &word, 1);
	build_fork(&build, 0, 1300, 50, 60);
	build_switch(&build, 0, 1400, 0, 60, 50);
	build_event(&build, 0, 1500, SYS_READ, 0);
	build_event(&build, 0, 1700, SYS_READ_END, 0);
	analyse(&build);
	assert_int_equal(thread_sums(50, 0, 0).cycles, 200);
	assert_int_equal(thread_sums(50, 0, 1).cycles, 300);
	expect_row(SYS_READ, 400, 200, 1, 1);
	done();
}

/*
 * 1000 50: irq( 1010 irq) 1100 F) 1200 sys) 1400 sys( 1500 F( 1600 the end
 *
 * F and sys were entered before the trace began: 90 and 100, less the interrupt, are theirs, but no
 * call of them was seen from beginning to end. Neither are the last ones.
 */
static void test_partial_calls(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 1010, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 1100, F_END, 0);
	build_event(&build, 0, 1200, SYS_READ_END, 0);
	build_event(&build, 0, 1400, SYS_READ, 0);
	build_event(&build, 0, 1500, F, 0);
	build_event(&build, 0, 1600, FKT_CODE_SOFTIRQ_RAISE, 1);
	analyse(&build);
	expect_row(F, 90 + 100, 0, 0, 2);
	expect_row(SYS_READ, 100 + 100, 0, 0, 2);
	expect_own(FKT_ROW_USER, 200);
	done();
}

/* The first event on a CPU is an interrupt's end: all the time before it was the interrupt's. */
static void test_interrupt_before(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1100, FKT_CODE_SOFTIRQ_EXIT, 1);
	build_event(&build, 1, 1150, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_event(&build, 0, 1200, SYS_READ_END, 0);
	analyse(&build);
	expect_row(FKT_ROW_SOFTIRQ + 1, 100, 0, 0, 1);
	assert_int_equal(thread_sums(0, 1, 0).interrupts, 100);
	expect_own(FKT_ROW_IDLE, 100);
	done();
}

static void build_lost(struct build *build)
{
	begin(build, 2, false);
	build->lane[0].pid = 50;
	build->lane[1].pid = 60;
	build_event(build, 0, 1000, SYS_READ, 0);
	build_event(build, 1, 1000, SYS_READ, 0);
	build_event(build, 0, 1100, F, 0);
	build_event(build, 0, 1200, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_close(build, 0);
	build->lane[0].lost = 5;
	build_event(build, 1, 1350, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_event(build, 0, 1500, F_END, 0);
	build_event(build, 0, 1600, SYS_READ_END, 0);
	build_event(build, 0, 1700, SYS_READ, 0);
	build_event(build, 0, 1800, SYS_READ_END, 0);
	build_event(build, 1, 1900, SYS_READ_END, 0);
	build_end(build, 0, 0, 0);
}

/*
 * Events are lost on CPU 0 between 1200 and 1500:
 *
 * CPU 0: 1000 50: sys( 1100 F( 1200 softirq_raise | lost | 1500 50: F) 1600 sys) 1700 sys( 1800
 * sys) CPU 1: 1000 60: sys( 1900 sys)
 *
 * What 50 did until 1500 is not known, not even that it was the same F. F has 100, and then, from
 * 1500 on, what was entered is not known: F ends, having taken 0, and the 100 until sys) are that
 * call's. Then all is known again. 60, on the other CPU, is not concerned.
 */
static void test_lost(void **state)
{
	struct build build;

	(void)state;
	build_lost(&build);
	analyse_hooked(&build, build.bytes, 0, 0, NULL);
	expect_own(FKT_ROW_UNKNOWN, 300);
	assert_int_equal(thread_sums(FKT_PID_UNKNOWN, 0, 0).cycles, 300);
	expect_row(F, 100, 0, 0, 2);
	expect_row(SYS_READ, 100 + 100 + 100 + 900, 100 + 900, 2, 2);
	expect_own(FKT_ROW_USER, 100 + 100);
	assert_int_equal(thread_sums(60, 0, 0).kernel, 900);
	done();
}

/*
 * 50 sleeps in F while events are lost on the other CPU, where it may have run: when it comes back,
 * it is not known in which calls it is.
 *
 * CPU 0: 1000 50: sys( 1100 F( 1200 to idle			   1600 to 50, 1700 F) 1800 sys)
 * CPU 1: 1000 idle: softirq_raise | lost | 1400 idle: softirq_raise
 */
static void test_lost_elsewhere(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_close(&build, 1);
	build.lane[1].lost = 5;
	build_event(&build, 0, 1100, F, 0);
	build_switch(&build, 0, 1200, STATE_S, 50, 0);
	build_event(&build, 1, 1400, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_switch(&build, 0, 1600, 0, 0, 50);
	build_event(&build, 0, 1700, F_END, 0);
	build_event(&build, 0, 1800, SYS_READ_END, 0);
	analyse(&build);
	/*
	 * Its cycles are right, as nobody else can have had them, but the calls are no whole ones.
	 */
	expect_row(F, 100 + 100, 0, 0, 2);
	expect_row(SYS_READ, 100 + 100, 0, 0, 2);
	expect_own(FKT_ROW_UNKNOWN, 400);
	done();
}

static void build_shared(struct build *build)
{
	static const struct {
		uint64_t stamp;
		uint32_t code;
		uint16_t cpu;
		uint16_t imm;
		uint64_t word;
	} slots[] = {
		{ 1000, SYS_READ, 0, 0, 0 },
		{ 1100, FKT_CODE_SOFTIRQ_RAISE, 1, 1, 0 },
		{ 1200, FKT_CODE_IRQ_ENTRY, 1, 1, 0 },
		{ 1300, SYS_READ_END, 0, 0, 0 },
		{ 1400, FKT_CODE_IRQ_EXIT, 1, 1, 0 },
		{ 1500, FKT_CODE_WAKEUP, 0, 0, 60 },
		{ 1600, FKT_CODE_SWITCH, 1, STATE_S, 60 | 70ull << 32 },
		{ 1700, SYS_READ_END, 1, 0, 0 },
		{ 1750, FKT_CODE_SOFTIRQ_RAISE, 2, 1, 0 },
		{ 1800, FKT_CODE_IRQ_ENTRY, 2, 1, 0 },
		{ 1900, FKT_CODE_SWITCH, 2, 0, 80ull << 32 },
		{ 1950, SYS_READ, 0, 0, 0 },
		{ 1960, SYS_READ, 2, 0, 0 },
	};

	begin(build, 1, true);
	build->lane[0].pid = 50;
	for (unsigned int i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		build_slot(build, 0, slots[i].cpu, slots[i].stamp, slots[i].code, slots[i].imm,
			   &slots[i].word,
			   slots[i].code == FKT_CODE_SWITCH || slots[i].code == FKT_CODE_WAKEUP);
	build_end(build, 0, 0, 0);
}

#define SHARED_PIDS 6
#define WINDOW_SUMS (SHARED_PIDS + FKT_ROWS + SHARED_PIDS)

/* Add what a window of that trace has: of each thread, of each row, and how long each waited. */
static void add_window(void (*make)(struct build *build), uint64_t from, uint64_t to,
		       uint64_t sums[WINDOW_SUMS])
{
	static const uint32_t pids[SHARED_PIDS] = { 0, 50, 60, 70, 80, FKT_PID_UNKNOWN };
	struct fkt_thread_sums *threads;
	struct build build;
	size_t count;

	make(&build);
	analyse_hooked(&build, build.bytes, from, to, NULL);
	threads = fkt_analysis_threads(analysis, &count);
	assert_non_null(threads);
	for (size_t i = 0; i < count; i++)
		for (unsigned int j = 0; j < SHARED_PIDS; j++)
			if (fkt_process(processes, threads[i].id)->tid == pids[j]) {
				sums[j] += threads[i].cycles;
				sums[SHARED_PIDS + FKT_ROWS + j] += threads[i].waiting;
			}
	free(threads);
	for (uint32_t row = 0; row < FKT_ROWS; row++)
		sums[SHARED_PIDS + row] += fkt_analysis_row(analysis, row)->own;
	done();
}

/* Windows put together again are the whole. */
static void check_windows(void (*make)(struct build *build), const uint64_t *whole)
{
	static uint64_t parts[WINDOW_SUMS];

	for (uint64_t cut = 1050; cut < 1950; cut += 50) {
		memset(parts, 0, sizeof(parts));
		add_window(make, 0, cut, parts);
		add_window(make, cut, cut + 120, parts);
		add_window(make, cut + 120, 0, parts);
		for (unsigned int i = 0; i < WINDOW_SUMS; i++)
			assert_int_equal(parts[i], whole[i]);
	}
}

/*
 * In a shared lane it is not known who is current on CPUs 1 and 2 before they switch: that tells
 * whose the time since the event before is, also where a window ends in between.
 */
static void test_shared_windows(void **state)
{
	static uint64_t whole[WINDOW_SUMS];

	(void)state;
	add_window(build_shared, 0, 0, whole);
	/* 60's, from the interrupt's end to the switch: when it was woken it was on its CPU. */
	assert_int_equal(whole[2], 200);
	assert_int_equal(whole[SHARED_PIDS + FKT_ROWS + 2], 0);
	check_windows(build_shared, whole);
}

/* Windows that begin or end where events are missing: nobody's time is in the one or the other. */
static void test_lost_windows(void **state)
{
	static uint64_t whole[WINDOW_SUMS];

	(void)state;
	add_window(build_lost, 0, 0, whole);
	assert_int_equal(whole[5], 300);
	check_windows(build_lost, whole);
}

/* 60 comes to CPU 0 from CPU 1, where what says that it left is missing, as is told later. */
static void test_lost_move(void **state)
{
	const struct fkt_process *process;
	struct fkt_on_cpu *all;
	struct build build;
	uint64_t cycles[2] = { 0 };
	size_t count;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build.lane[1].pid = 60;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1000, SYS_READ, 0);
	build_event(&build, 1, 1200, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_close(&build, 1);
	build.lane[1].lost = 5;
	build.lane[1].pid = 70;
	build_switch(&build, 0, 1300, STATE_S, 50, 60);
	build_switch(&build, 0, 1400, STATE_S, 60, 50);
	build_event(&build, 1, 1500, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_event(&build, 0, 1600, FKT_CODE_SOFTIRQ_RAISE, 1);
	analyse(&build);
	all = fkt_analysis_on_cpus(analysis, &count);
	assert_non_null(all);
	for (size_t i = 0; i < count; i++) {
		process = fkt_process(processes, all[i].id);
		if (process->tid == 60)
			cycles[all[i].cpu] += all[i].cycles;
	}
	free(all);
	assert_int_equal(cycles[0], 100);
	assert_int_equal(cycles[1], 200);
	done();
}

/*
 * An extracted trace says that 50 was on two CPUs: it is charged where it is seen first. CPU 1 has
 * no event (0), or one by 50 at 1500, and then it is not known for whom 50 has left CPU 0 (1).
 */
static void test_two_places(void **state)
{
	for (unsigned int seen = 0; seen <= 1; seen++) {
		struct build build;
		uint32_t id;

		(void)state;
		build_begin(&build, 2, false);
		build_text(&build, FKT_SECTION_STATE, "cpu 0 50\ncpu 1 50\n");
		build_pages(&build);
		build.lane[0].pid = build.lane[1].pid = 50;
		build_event(&build, 0, 1000, SYS_READ, 0);
		build_event(&build, 0, 1400, SYS_READ_END, 0);
		if (seen)
			build_event(&build, 1, 1500, SYS_READ, 0);
		build_event(&build, 0, 1600, SYS_READ, 0);
		analyse(&build);
		id = thread_sums(50, 0, 0).id;
		assert_int_equal(fkt_analysis_on_cpu(analysis, id, 0), seen ? 400 : 600);
		assert_int_equal(fkt_analysis_on_cpu(analysis, id, 1), 0);
		expect_own(FKT_ROW_UNKNOWN, seen ? 800 : 600);
		done();
	}
}

/* 60 shows up on CPU 0 without a word, and ran on CPU 1 since that one's last event. */
static void test_came_unseen(void **state)
{
	struct build build;
	uint32_t id;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build.lane[1].pid = 60;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1000, SYS_READ, 0);
	build_event(&build, 1, 1900, SYS_READ_END, 0);
	build_close(&build, 0);
	build.lane[0].pid = 60;
	build_event(&build, 0, 2100, SYS_READ, 0);
	analyse(&build);
	id = thread_sums(60, 0, 0).id;
	assert_int_equal(fkt_analysis_on_cpu(analysis, id, 0), 0);
	assert_int_equal(fkt_analysis_on_cpu(analysis, id, 1), 900);
	expect_own(FKT_ROW_UNKNOWN, 1100 + 200);
	done();
}

/*
 * A page of a shared lane is missing, and may have had events of any CPU: of CPU 1 nothing is known
 * if it has no others (0), or up to its first one (1).
 */
static void test_shared_missing(void **state)
{
	static const char info[] = "cpus=2";

	for (unsigned int seen = 0; seen <= 1; seen++) {
		struct build build;

		(void)state;
		build_begin(&build, 1, true);
		build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
		build_pages(&build);
		build.lane[0].pid = 50;
		build_slot(&build, 0, 0, 1000, SYS_READ, 0, NULL, 0);
		build_close(&build, 0);
		build.lane[0].seq++;
		build_slot(&build, 0, 0, 1300, SYS_READ_END, 0, NULL, 0);
		if (seen) {
			build_close(&build, 0);
			build.lane[0].cpu = 1;
			build.lane[0].pid = 60;
			build_slot(&build, 0, 1, 1400, SYS_READ, 0, NULL, 0);
		}
		analyse(&build);
		assert_int_equal(fkt_analysis_cpus(analysis), 2);
		expect_own(FKT_ROW_IDLE, 0);
		expect_own(FKT_ROW_UNKNOWN, 300 + (seen ? 400 : 300));
		done();
	}
}

/* A call whose exit is missing without a word: it ends with the call around it. */
static void test_missing_exit(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_event(&build, 0, 1200, G, 0);
	build_event(&build, 0, 1300, F_END, 0);
	build_event(&build, 0, 1400, F, 0);
	/* The next system call comes from user mode, so the one before has ended somehow. */
	build_event(&build, 0, 1500, SYS_READ, 0);
	build_event(&build, 0, 1600, SYS_READ_END, 0);
	analyse(&build);
	expect_row(G, 100, 0, 0, 1);
	expect_row(F, 100 + 100, 200, 1, 1);
	expect_row(SYS_READ, 200 + 100, 100, 1, 1);
	done();
}

/*
 * A recording of two lanes of which one has recorded nothing: its CPU was idle, if the trace is
 * whole; if the end is missing, nobody knows.
 */
static void test_silent_cpu(void **state)
{
	for (unsigned int whole = 0; whole <= 1; whole++) {
		struct build build;
		size_t bytes;

		(void)state;
		begin(&build, 2, false);
		build.lane[0].pid = 50;
		build_event(&build, 0, 1000, SYS_READ, 0);
		build_event(&build, 0, 1300, SYS_READ_END, 0);
		build_close(&build, 0);
		bytes = build.bytes;
		build_end(&build, 0, 0, 0);
		analyse_hooked(&build, whole ? build.bytes : bytes, 0, 0, NULL);
		assert_int_equal(fkt_analysis_cpus(analysis), 2);
		expect_own(FKT_ROW_IDLE, whole ? 300 : 0);
		expect_own(FKT_ROW_UNKNOWN, whole ? 0 : 300);
		done();
	}
}

/*
 * Kernel threads, known as children of kthreadd, have no user mode; the recording's own limits are
 * in the end sections: from 900 to 2100, also before the first event and after the last one.
 */
static void test_limits(void **state)
{
	static const char info[] = "start_cycles=900\0stop_cycles=2100";
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 800, 800, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "7 7 2 kworker\n");
	build_pages(&build);
	build.lane[0].pid = 7;
	build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_switch(&build, 0, 1500, STATE_S, 7, 0);
	build_event(&build, 0, 2000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_end(&build, 2200, 2200, 0);
	analyse_hooked(&build, build.bytes, 0, 0, NULL);
	assert_int_equal(fkt_analysis_duration(analysis), 1200);
	expect_own(FKT_ROW_KERNEL, 600);
	expect_own(FKT_ROW_IDLE, 600);
	assert_int_equal(thread_sums(7, 0, 0).user, 0);
	assert_int_equal(thread_sums(7, 0, 0).kernel, 600);
	done();
}

/*
 * 1000 sys( 1100 F( 1200 F) 1400 sys) 1500 sys( 1600 sys), but time counts from 1150 to 1550 only:
 * F has 50, sys 200 and 50, user mode 100; no call was whole in that time.
 */
static void test_window(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_event(&build, 0, 1200, F_END, 0);
	build_event(&build, 0, 1400, SYS_READ_END, 0);
	build_event(&build, 0, 1500, SYS_READ, 0);
	build_event(&build, 0, 1600, SYS_READ_END, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 1150, 1550, NULL);
	assert_int_equal(fkt_analysis_duration(analysis), 400);
	expect_row(F, 50, 0, 0, 1);
	expect_row(SYS_READ, 200 + 50, 0, 0, 2);
	expect_own(FKT_ROW_USER, 100);
	done();
}

/* One lane for both CPUs: the CPU is in the slots. */
static void test_shared_lane(void **state)
{
	const uint64_t to_idle = 60;
	struct build build;

	(void)state;
	begin(&build, 1, true);
	build.lane[0].pid = 50;
	build_slot(&build, 0, 0, 1000, SYS_READ, 0, NULL, 0);
	build_slot(&build, 0, 1, 1200, FKT_CODE_SWITCH, STATE_S, &to_idle, 1);
	build_slot(&build, 0, 0, 1300, SYS_READ_END, 0, NULL, 0);
	build_slot(&build, 0, 1, 1400, FKT_CODE_VECTOR_ENTRY, 0, NULL, 0);
	build_slot(&build, 0, 1, 1500, FKT_CODE_VECTOR_EXIT, 0, NULL, 0);
	analyse(&build);
	assert_int_equal(fkt_analysis_cpus(analysis), 2);
	assert_int_equal(thread_sums(50, 0, 0).cycles, 500);
	assert_int_equal(thread_sums(60, 0, 0).cycles, 200);
	assert_int_equal(thread_sums(0, 1, 0).cycles, 300);
	done();
}

/* Recording was turned off from 1200 to 1500: nobody knows what happened then. */
static void test_turned_off(void **state)
{
	uint64_t off[1] = { 0 }, on[1] = { 1 };
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_slot(&build, 0, 0, 1200, FKT_CODE_SETMASK, 0, off, 1);
	build_slot(&build, 0, 0, 1500, FKT_CODE_SETMASK, 0, on, 1);
	build_event(&build, 0, 1600, SYS_READ, 0);
	build_event(&build, 0, 1700, SYS_READ_END, 0);
	analyse(&build);
	expect_own(FKT_ROW_UNKNOWN, 300);
	expect_row(SYS_READ, 200 + 100, 100, 1, 1);
	done();
}

/* A thread that is not its process's first one calls execve(): it goes on under the first's pid. */
/* A trace that says that it has many lanes, and many events behind its end. */
static void test_hostile_end(void **state)
{
	static const char key[] = "after_end=", one[] = "1 0 50 4100 1;";
	static struct fkt_lane_totals totals[1u << 14];
	const size_t events = 1000000, bytes = sizeof(key) + events * (sizeof(one) - 1);
	const clock_t begun = clock();
	char *info = malloc(bytes), *end = info;
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_event(&build, 0, 1100, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_tail(&build);
	for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		totals[i].events = htole64(1);
	build_section(&build, FKT_SECTION_LANES, totals, sizeof(totals), true);
	assert_non_null(info);
	end = stpcpy(end, key);
	for (size_t i = 0; i < events; i++)
		end = stpcpy(end, one);
	build_section(&build, FKT_SECTION_INFO, info, bytes, true);
	free(info);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, NULL);
	done();
	assert_true(clock() - begun < 10 * CLOCKS_PER_SEC);
}

static void test_exec_by_thread(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 51;
	build_event(&build, 0, 1000, 59, 0);
	build_name(&build, 0, 1300, FKT_CODE_EXEC, 50, "new");
	build_event(&build, 0, 1400, 0x400 + 59, 0);
	build_event(&build, 0, 1500, SYS_READ, 0);
	analyse(&build);
	expect_row(59, 400, 400, 1, 0);
	assert_int_equal(thread_sums(51, 0, 0).kernel, 300);
	assert_int_equal(thread_sums(50, 0, 0).kernel, 100);
	assert_int_equal(thread_sums(50, 0, 0).user, 100);
	done();
}

/*
 * It has the leader's pid for a while before the exec tells of it, and sleeps in it: the
 * switch says so, without one from the thread to the leader.
 */
static void test_exec_sleeps(void **state)
{
	struct build build;

	(void)state;
	for (unsigned int woken = 0; woken < 2; woken++) {
		build_begin(&build, 1, false);
		build_text(&build, FKT_SECTION_CODES, codes);
		build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 old\n51 50 1 old\n");
		build_pages(&build);
		build.lane[0].pid = 50;
		build_event(&build, 0, 1000, 60, 0);
		build_switch(&build, 0, 1100, STATE_DEAD, 50, 51);
		build_event(&build, 0, 1200, 59, 0);
		/* On its way to sleep it may be woken by its new pid. */
		if (woken)
			wake(&build, 0, 1900, 50);
		build_switch(&build, 0, 2000, STATE_D, 50, 0);
		wake(&build, 0, 4000, 50);
		build_switch(&build, 0, 4500, 0, 0, 50);
		build_name(&build, 0, 5000, FKT_CODE_EXEC, 50, "new");
		build_event(&build, 0, 5500, 0x400 + 59, 0);
		build_event(&build, 0, 6000, SYS_READ, 0);
		analyse(&build);
		expect_row(59, 1800, 1800, 1, 0);
		assert_int_equal(thread_sums(51, 0, 0).kernel, 800);
		assert_int_equal(thread_sums(50, 0, 0).waiting, 500);
		done();
	}
}

struct left {
	unsigned int count;
	struct fkt_call call[4];
};

static void keep_left(void *arg, const struct fkt_call *call)
{
	struct left *left = arg;

	if (left->count < 4 && call->counts)
		left->call[left->count++] = *call;
}

/* It execs behind the time that is asked for: what it did in that is the thread's that it was. */
static void test_exec_behind(void **state)
{
	struct left left = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &left, .leave = keep_left };
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 51;
	build_event(&build, 0, 1000, 59, 0);
	build_event(&build, 0, 1100, F, 0);
	build_name(&build, 0, 1300, FKT_CODE_EXEC, 50, "new");
	build_event(&build, 0, 1350, F_END, 0);
	build_event(&build, 0, 1400, 0x400 + 59, 0);
	build_event(&build, 0, 1500, SYS_READ, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 1200, &hooks);
	expect_row(F, 100, 0, 0, 1);
	expect_row(59, 100, 0, 0, 1);
	assert_int_equal(left.count, 2);
	for (unsigned int i = 0; i < left.count; i++)
		assert_int_equal(fkt_process(processes, left.call[i].id)->tid, 51);
	done();
}

/* Of a call whose entry was not seen, only an execve's can have begun before an exec. */
static void test_exec_unseen(void **state)
{
	struct build build;

	(void)state;
	for (unsigned int execve = 0; execve < 2; execve++) {
		begin(&build, 1, false);
		build.lane[0].pid = 51;
		build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
		build_switch(&build, 0, 1100, STATE_D, 51, 0);
		wake(&build, 0, 1150, 51);
		build_switch(&build, 0, 1200, 0, 0, 51);
		build_name(&build, 0, 1300, FKT_CODE_EXEC, 51, "new");
		build_event(&build, 0, 1350, execve ? 0x400 + 59 : SYS_READ_END, 0);
		build_event(&build, 0, 1500, SYS_READ, 0);
		analyse(&build);
		expect_own(FKT_ROW_BEFORE, execve ? 0 : 200);
		expect_own(SYS_READ, execve ? 0 : 50);
		expect_own(59, execve ? 250 : 0);
		expect_own(FKT_ROW_USER, 150);
		done();
	}
}

/* A thread sleeps; only where system calls are recorded it was in one of them before. */
static void test_sleep_without_syscalls(void **state)
{
	static const char *const layers[] = { "layers=functions", "layers=system,functions" };
	struct build build;

	(void)state;
	for (unsigned int system = 0; system < 2; system++) {
		build_begin(&build, 1, false);
		build_text(&build, FKT_SECTION_CODES, codes);
		build_section(&build, FKT_SECTION_INFO, layers[system], strlen(layers[system]) + 1,
			      false);
		build_pages(&build);
		build.lane[0].pid = 51;
		build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
		build_switch(&build, 0, 1100, STATE_D, 51, 0);
		wake(&build, 0, 1150, 51);
		build_switch(&build, 0, 1200, 0, 0, 51);
		build_event(&build, 0, 1300, F, 0);
		build_event(&build, 0, 1400, F_END, 0);
		build_event(&build, 0, 1500, FKT_CODE_SOFTIRQ_RAISE, 1);
		analyse(&build);
		expect_own(FKT_ROW_BEFORE, system ? 300 : 0);
		expect_own(FKT_ROW_UNTRACED, system ? 0 : 300);
		assert_int_equal(thread_sums(51, 0, 0).kernel, 100);
		assert_int_equal(fkt_analysis_has_syscalls(analysis), system);
		done();
	}
}

static void set_mask(struct build *build, uint64_t stamp, uint32_t mask)
{
	uint64_t word = mask;

	build_slot(build, 0, build->lane[0].cpu, stamp, FKT_CODE_SETMASK, 0, &word, 1);
}

#define MASK_ALL     (FKT_KEY_SYSTEM | FKT_KEY_FUNCTIONS | FKT_KEY_PROCESS)
#define MASK_PROCESS FKT_KEY_PROCESS

/*
 * System calls are not recorded from 400 to 900. 51 is in one when they are turned off, and 52, on
 * the other CPU, in an interrupt; 53 sleeps in one meanwhile, and 54 is in user mode before and
 * after, without having run.
 */
static void test_system_off(void **state)
{
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_section(&build, FKT_SECTION_INFO, "layers=system,functions",
		      sizeof("layers=system,functions"), false);
	build_pages(&build);
	build.lane[0].pid = 54;
	build.lane[1].pid = 52;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1000, SYS_READ, 0);
	build_event(&build, 0, 1010, SYS_READ_END, 0);
	build_event(&build, 1, 1010, SYS_READ_END, 0);
	build_switch(&build, 0, 1020, 0, 54, 53);
	build_event(&build, 0, 1050, SYS_CLONE, 0);
	build_switch(&build, 0, 1100, STATE_S, 53, 51);
	build_event(&build, 0, 1200, SYS_READ, 0);
	build_event(&build, 1, 1300, FKT_CODE_IRQ_ENTRY, 7);
	set_mask(&build, 1400, MASK_PROCESS);
	/* Sleeps: it is not told in what. */
	build_switch(&build, 0, 1500, STATE_S, 51, 0);
	wake(&build, 0, 1600, 51);
	build_switch(&build, 0, 1700, 0, 0, 51);
	set_mask(&build, 1900, MASK_ALL);
	/* Of a call of which nothing is known, it is so since then. */
	build_event(&build, 0, 1950, SYS_CLONE_END, 0);
	build_event(&build, 1, 1970, SYS_READ, 0);
	wake(&build, 0, 1980, 53);
	build_switch(&build, 0, 2000, 0, 51, 53);
	build_event(&build, 0, 2010, SYS_CLONE_END, 0);
	build_switch(&build, 0, 2020, 0, 53, 54);
	build_event(&build, 0, 2030, SYS_READ, 0);
	build_event(&build, 0, 2040, SYS_READ_END, 0);
	build_event(&build, 1, 2040, SYS_READ_END, 0);
	analyse(&build);
	/* 51: from 1400 on but for its sleep, up to 1900; 52: from 1400 on. */
	expect_own(FKT_ROW_UNTRACED, 100 + 200 + 500);
	expect_own(FKT_ROW_BEFORE, 0);
	/* 51's, up to 1400; those of 54 and 52. */
	expect_own(SYS_READ, 200 + 10 + 10 + 10 + 70);
	assert_int_equal(fkt_analysis_row(analysis, SYS_READ)->partial, 1);
	/* 53 has slept in it all the time; and 51's. */
	expect_own(SYS_CLONE, 50 + 10 + 50);
	assert_int_equal(fkt_analysis_row(analysis, SYS_CLONE)->calls, 1);
	assert_int_equal(fkt_analysis_row(analysis, SYS_CLONE)->total, 60);
	expect_own(FKT_ROW_IRQ + 7, 100);
	/* 52: 290 before, 70 after; 54: 10 and 10; 53: 30; 51: 100 before, 50 after. */
	expect_own(FKT_ROW_USER, 290 + 70 + 10 + 10 + 30 + 10 + 100 + 50);
	assert_int_equal(thread_sums(51, 0, 0).untraced, 300);
	assert_int_equal(thread_sums(52, 0, 0).untraced, 500);
	assert_int_equal(thread_sums(54, 0, 0).untraced, 0);
	done();
}

/* Recorded from the beginning on was something else. */
static void test_system_on(void **state)
{
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_section(&build, FKT_SECTION_INFO, "layers=functions", sizeof("layers=functions"),
		      false);
	build_pages(&build);
	build.lane[0].pid = 51;
	build_event(&build, 0, 1000, F, 0);
	build_event(&build, 0, 1100, F_END, 0);
	build_switch(&build, 0, 1200, STATE_D, 51, 52);
	set_mask(&build, 1300, MASK_ALL);
	build_event(&build, 0, 1400, SYS_READ_END, 0);
	wake(&build, 0, 1450, 51);
	build_switch(&build, 0, 1500, 0, 52, 51);
	build_event(&build, 0, 1600, SYS_CLONE_END, 0);
	analyse(&build);
	expect_own(F, 100);
	expect_own(FKT_ROW_UNTRACED, 100 + 100);
	expect_own(SYS_READ, 100);
	expect_own(SYS_CLONE, 100);
	expect_own(FKT_ROW_USER, 100);
	done();
}

/* The call and the interrupt that come while they are being turned off have no end. */
static void test_system_off_late(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 51;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1010, SYS_READ_END, 0);
	set_mask(&build, 1100, MASK_PROCESS);
	build_event(&build, 0, 1101, SYS_READ, 0);
	build_event(&build, 0, 1102, FKT_CODE_IRQ_ENTRY, 7);
	build_switch(&build, 0, 1500, STATE_S, 51, 0);
	build_switch(&build, 0, 1600, 0, 0, 51);
	build_switch(&build, 0, 1700, STATE_S, 51, 0);
	analyse(&build);
	expect_own(SYS_READ, 10);
	expect_own(FKT_ROW_IRQ + 7, 0);
	expect_own(FKT_ROW_USER, 90 + 1);
	expect_own(FKT_ROW_UNTRACED, 399 + 100);
	done();
}

/* Stamps that are damaged go back, again and again: nobody sleeps for longer than there is time. */
static void test_stamps_back(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 51;
	build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	for (unsigned int i = 0; i < 5; i++) {
		build_switch(&build, 0, 1100, STATE_S, 51, 0);
		wake(&build, 0, 2500, 51);
		build_switch(&build, 0, 2900, 0, 0, 51);
	}
	build_event(&build, 0, 3000, FKT_CODE_SOFTIRQ_RAISE, 1);
	analyse(&build);
	assert_int_equal(thread_sums(51, 0, 0).sleeping[FKT_SLEEP_INTERRUPTIBLE], 1400);
	assert_int_equal(thread_sums(51, 0, 0).waiting, 400);
	done();
}

/* What each of its two numbers had of the calls that are open when it execs. */
static void test_exec_parts(void **state)
{
	struct left left = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &left, .leave = keep_left };
	static const uint64_t former[] = { 0, 150, 100 }, own[] = { 50, 200, 140 };
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 51;
	build_event(&build, 0, 1000, 59, 0);
	build_event(&build, 0, 1100, F, 0);
	build_name(&build, 0, 1250, FKT_CODE_EXEC, 50, "new");
	build_event(&build, 0, 1260, G, 0);
	build_event(&build, 0, 1310, G_END, 0);
	build_event(&build, 0, 1350, F_END, 0);
	build_event(&build, 0, 1390, 0x400 + 59, 0);
	build_event(&build, 0, 1500, SYS_READ, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	assert_int_equal(left.count, 4);
	for (unsigned int i = 0; i < 3; i++) {
		assert_false(left.call[i].partial);
		assert_int_equal(fkt_process(processes, left.call[i].id)->tid, 50);
		assert_int_equal(left.call[i].own, own[i]);
		assert_int_equal(left.call[i].former_own, former[i]);
		if (former[i])
			assert_int_equal(fkt_process(processes, left.call[i].former)->tid, 51);
	}
	done();
}

/* Calls that begin in the time that is asked for are left in it, whatever was charged to them. */
static void test_left_behind(void **state)
{
	struct left left = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &left, .leave = keep_left };
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1200, F, 0);
	build_switch(&build, 0, 1200, 1, 50, 0);
	build_switch(&build, 0, 1500, 0, 0, 50);
	build_event(&build, 0, 1600, F_END, 0);
	build_event(&build, 0, 1700, SYS_READ_END, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 1400, &hooks);
	expect_row(SYS_READ, 200, 0, 0, 1);
	expect_row(F, 0, 0, 0, 1);
	assert_int_equal(left.count, 2);
	done();
}

/* The time that is asked for may end behind the last event: calls are open up to there. */
static void test_left_at_the_end(void **state)
{
	static const char info[] = "start_cycles=900\0stop_cycles=2100";
	struct left left = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &left, .leave = keep_left };
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 800, 800, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1200, F, 0);
	build_end(&build, 2200, 2200, 0);
	analyse_hooked(&build, build.bytes, 0, 1900, &hooks);
	assert_int_equal(left.count, 2);
	assert_int_equal(left.call[0].cycles, 700);
	assert_int_equal(left.call[0].end, 1900);
	assert_int_equal(left.call[1].end, 1900);
	assert_int_equal(left.call[1].only_elapsed, 200);
	done();
}

/* A switch from a thread to itself says who is current: nothing ends, and nobody has waited. */
static void test_says_current(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, FKT_CODE_IRQ_ENTRY, 5);
	build_switch(&build, 0, 1200, 0, 50, 50);
	build_event(&build, 0, 1400, FKT_CODE_IRQ_EXIT, 5);
	build_event(&build, 0, 1700, SYS_READ_END, 0);
	analyse(&build);
	expect_row(SYS_READ, 400, 400, 1, 0);
	expect_row(FKT_ROW_IRQ + 5, 300, 300, 1, 0);
	assert_int_equal(thread_sums(50, 0, 0).switches, 0);
	done();
}

struct waits {
	unsigned int count;
	struct fkt_wait wait[4];
};

static void keep_wait(void *arg, const struct fkt_wait *wait)
{
	struct waits *waits = arg;

	if (waits->count < 4)
		waits->wait[waits->count] = *wait;
	waits->count++;
}

/*
 * 50 sleeps in F, called by sys, from 1200 on; irq 14 on CPU 1 wakes it at 1510; it runs at 1600.
 * 60 is preempted at 1600, in user mode as far as one knows, and back at 1800.
 */
static void test_waits(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_switch(&build, 0, 1200, STATE_S, 50, 60);
	build_event(&build, 1, 1500, FKT_CODE_IRQ_ENTRY, 14);
	wake(&build, 1, 1510, 50);
	build_event(&build, 1, 1520, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 1600, 0, 60, 50);
	build_switch(&build, 0, 1800, STATE_S, 50, 60);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	assert_int_equal(waits.count, 2);
	assert_int_equal(fkt_process(processes, waits.wait[0].id)->tid, 50);
	assert_int_equal(waits.wait[0].state, STATE_S);
	assert_int_equal(waits.wait[0].outer, SYS_READ);
	assert_int_equal(waits.wait[0].inner, F);
	assert_int_equal(waits.wait[0].left, 1200);
	assert_int_equal(waits.wait[0].woken, 1510);
	assert_int_equal(waits.wait[0].back, 1600);
	assert_int_equal(waits.wait[0].waker_row, FKT_ROW_IRQ + 14);
	assert_true(fkt_row_interrupts(trace, FKT_ROW_IRQ + 14));
	assert_true(fkt_row_interrupts(trace, FKT_ROW_SOFTIRQ + 9));
	assert_false(fkt_row_interrupts(trace, F));
	assert_false(fkt_row_interrupts(trace, FKT_ROW_USER));
	assert_int_equal(fkt_process(processes, waits.wait[1].id)->tid, 60);
	assert_int_equal(waits.wait[1].state, 0);
	assert_int_equal(waits.wait[1].outer, FKT_ROW_USER);
	assert_int_equal(waits.wait[1].woken, 0);
	assert_int_equal(waits.wait[1].back - waits.wait[1].left, 200);
	done();
}

/* A new thread is preempted before it has returned from the call by which 50 has made it. */
static void test_wait_of_new(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };
	const uint64_t child = 51;
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_CLONE, 0);
	build_fork(&build, 0, 1100, 51, 50);
	build_slot(&build, 0, 0, 1150, FKT_CODE_WAKEUP_NEW, 0, &child, 1);
	build_switch(&build, 0, 1200, 0, 50, 51);
	build_switch(&build, 0, 1300, 0, 51, 50);
	build_switch(&build, 0, 1500, 0, 50, 51);
	build_event(&build, 0, 1600, SYS_CLONE_END, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	assert_int_equal(waits.count, 4);
	assert_int_equal(waits.wait[2].left, 1300);
	assert_int_equal(waits.wait[2].outer, SYS_CLONE);
	expect_own(SYS_CLONE, 600);
	expect_own(FKT_ROW_USER, 0);
	done();
}

/*
 * 50 sleeps from 1200 on; irq 14, which has interrupted a softirq on CPU 1, wakes it from within F:
 * the irq does, not what it has interrupted.
 */
static void test_nested_waker(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1200, STATE_S, 50, 60);
	build_event(&build, 1, 1400, FKT_CODE_SOFTIRQ_ENTRY, 9);
	build_event(&build, 1, 1410, G, 0);
	build_event(&build, 1, 1500, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 1505, F, 0);
	wake(&build, 1, 1510, 50);
	build_event(&build, 1, 1515, F_END, 0);
	build_event(&build, 1, 1520, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 1, 1550, G_END, 0);
	build_event(&build, 1, 1560, FKT_CODE_SOFTIRQ_EXIT, 9);
	build_switch(&build, 0, 1600, 0, 60, 50);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	assert_int_equal(waits.count, 1);
	assert_int_equal(waits.wait[0].waker_row, FKT_ROW_IRQ + 14);
	done();
}

/*
 * On PREEMPT_RT a thread runs softirqs: this one is preempted in it, and goes on on another CPU.
 * The interrupt that comes in it is no part of it, nor is what 60 and its interrupt take.
 *
 * CPU 0: 1000 50: sys( 1100 softirq( 1150 F( 1200 tick( 1230 tick) 1250 wakes 61, and is preempted
 *        by 60: 1300 tick( 1320 tick) 1600 switch to 61: 1700 sys(
 * CPU 1: 1000 61, 1050 which sleeps; 1400 switch to 50 | 1450 F) 1500 softirq) 1550 sys)
 */
static void test_preempted_softirq(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_text(&build, FKT_SECTION_INFO, "version=#1 SMP PREEMPT_RT Debian");
	build_text(&build, FKT_SECTION_CODES, codes);
	build_pages(&build);
	build.lane[0].pid = 50;
	build.lane[1].pid = 61;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_switch(&build, 1, 1050, STATE_S, 61, 0);
	build_event(&build, 0, 1100, FKT_CODE_SOFTIRQ_ENTRY, 3);
	build_event(&build, 0, 1150, F, 0);
	build_event(&build, 0, 1200, FKT_CODE_VECTOR_ENTRY, 0);
	build_event(&build, 0, 1230, FKT_CODE_VECTOR_EXIT, 0);
	wake(&build, 0, 1250, 61);
	build_switch(&build, 0, 1250, 0, 50, 60);
	build_event(&build, 0, 1300, FKT_CODE_VECTOR_ENTRY, 0);
	build_event(&build, 0, 1320, FKT_CODE_VECTOR_EXIT, 0);
	build_switch(&build, 1, 1400, 0, 0, 50);
	build_event(&build, 1, 1450, F_END, 0);
	build_event(&build, 1, 1500, FKT_CODE_SOFTIRQ_EXIT, 3);
	build_event(&build, 1, 1550, SYS_READ_END, 0);
	build_switch(&build, 0, 1600, 0, 60, 61);
	build_event(&build, 0, 1700, SYS_READ, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	expect_row(FKT_CODE_VECTOR_ENTRY, 50, 50, 2, 0);
	expect_row(F, 50 + 20 + 50, 120, 1, 0);
	expect_row(FKT_ROW_SOFTIRQ + 3, 50 + 50, 220, 1, 0);
	expect_row(SYS_READ, 100 + 50, 370, 1, 1);
	assert_int_equal(thread_sums(50, 0, 0).interrupts, 30);
	assert_int_equal(thread_sums(60, 0, 0).interrupts, 20);
	assert_true(waits.count >= 2);
	assert_int_equal(waits.wait[0].left, 1250);
	assert_int_equal(waits.wait[0].outer, SYS_READ);
	assert_int_equal(waits.wait[0].inner, F);
	assert_int_equal(waits.wait[1].woken, 1250);
	assert_int_equal(waits.wait[1].waker_row, FKT_ROW_SOFTIRQ + 3);
	assert_false(fkt_row_interrupts(trace, FKT_ROW_SOFTIRQ + 3));
	assert_true(fkt_row_interrupts(trace, FKT_CODE_VECTOR_ENTRY));
	done();
}

/* The layer that has it is turned off from 1300 to 1600: nothing tells how it goes on. */
static void test_softirq_turned_off(void **state)
{
	static const char info[] = "layers=system,functions\0version=#1 SMP PREEMPT_RT Debian";
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, FKT_CODE_SOFTIRQ_ENTRY, 3);
	set_mask(&build, 1300, MASK_PROCESS);
	build_event(&build, 0, 1310, FKT_CODE_SOFTIRQ_ENTRY, 4);
	set_mask(&build, 1600, MASK_ALL);
	build_event(&build, 0, 1700, FKT_CODE_SOFTIRQ_ENTRY, 5);
	build_event(&build, 0, 1750, FKT_CODE_SOFTIRQ_EXIT, 5);
	build_event(&build, 0, 1800, SYS_READ_END, 0);
	analyse(&build);
	expect_row(FKT_ROW_SOFTIRQ + 3, 200, 0, 0, 1);
	expect_row(FKT_ROW_SOFTIRQ + 4, 0, 0, 0, 0);
	expect_row(FKT_ROW_SOFTIRQ + 5, 50, 50, 1, 0);
	expect_own(FKT_ROW_UNTRACED, 300);
	expect_row(SYS_READ, 100 + 150, 0, 0, 2);
	done();
}

/*
 * So many functions in an interrupt that those around them are given up: the last one's end is that
 * of all that is known of the interrupt, and from there on the time is the thread's.
 */
static void test_deep_interrupt(void **state)
{
	const uint64_t end = 1200 + FKT_CALL_DEPTH_MAX;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, FKT_CODE_IRQ_ENTRY, 14);
	for (unsigned int i = 0; i < FKT_CALL_DEPTH_MAX; i++)
		build_event(&build, 0, 1101 + i, F, 0);
	build_event(&build, 0, end, F_END, 0);
	build_event(&build, 0, end + 300, SYS_READ_END, 0);
	analyse(&build);
	expect_row(FKT_ROW_IRQ + 14, 1, 0, 0, 1);
	expect_own(F, end - 1101);
	expect_own(SYS_READ, 100 + 300);
	assert_int_equal(thread_sums(50, 0, 0).interrupts, end - 1100);
	done();
}

/*
 * 50 is on its way to sleep when 70, on CPU 1, wakes it at 1180; it leaves its CPU at 1200, and all
 * the time to 1600 it waits for one. At 1700 it is woken while it runs, and does not sleep for
 * that; then it sleeps from 1800 to 1900, when it is woken, and runs again at 2000.
 */
static void analyse_woken_early(uint64_t from, uint64_t to, const struct fkt_analysis_hooks *hooks)
{
	struct build build;

	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build.lane[1].pid = 70;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1100, SYS_READ, 0);
	wake(&build, 1, 1180, 50);
	build_switch(&build, 0, 1200, STATE_D, 50, 60);
	build_switch(&build, 0, 1600, 0, 60, 50);
	wake(&build, 1, 1700, 50);
	build_switch(&build, 0, 1800, STATE_S, 50, 60);
	wake(&build, 1, 1900, 50);
	build_switch(&build, 0, 2000, 0, 60, 50);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, from, to, hooks);
}

/* Nothing of a thread that is in no table. */
static struct fkt_thread_sums off_cpu_sums(uint32_t tid)
{
	struct fkt_thread_sums *threads, found = { 0 };
	size_t count;

	threads = fkt_analysis_threads(analysis, &count);
	assert_non_null(threads);
	for (size_t i = 0; i < count; i++)
		if (fkt_process(processes, threads[i].id)->tid == tid)
			found = threads[i];
	free(threads);
	return found;
}

static void expect_off_cpu(uint64_t waiting, uint64_t uninterruptible, uint64_t interruptible)
{
	struct fkt_thread_sums sums = thread_sums(50, 0, 0);

	assert_int_equal(sums.waiting, waiting);
	assert_int_equal(sums.sleeping[FKT_SLEEP_UNINTERRUPTIBLE], uninterruptible);
	assert_int_equal(sums.sleeping[FKT_SLEEP_INTERRUPTIBLE], interruptible);
}

static void test_woken_early(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };

	(void)state;
	analyse_woken_early(0, 0, &hooks);
	assert_int_equal(waits.count, 3);
	assert_int_equal(waits.wait[0].left, 1200);
	assert_int_equal(waits.wait[0].woken, 1200);
	assert_int_equal(waits.wait[0].back, 1600);
	assert_int_equal(fkt_process(processes, waits.wait[0].waker)->tid, 70);
	assert_int_equal(waits.wait[0].waker_row, SYS_READ);
	assert_int_equal(fkt_process(processes, waits.wait[2].id)->tid, 50);
	assert_int_equal(waits.wait[2].left, 1800);
	assert_int_equal(waits.wait[2].woken, 1900);
	expect_off_cpu(500, 0, 100);
	done();
}

/* The same in windows that end while 50 is off its CPU: what comes behind them says what it was. */
static void test_woken_early_at_a_cut(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };

	(void)state;
	analyse_woken_early(0, 1400, &hooks);
	assert_int_equal(waits.count, 1);
	assert_int_equal(waits.wait[0].left, 1200);
	assert_int_equal(waits.wait[0].woken, 1200);
	assert_int_equal(waits.wait[0].waker_row, SYS_READ);
	assert_int_equal(waits.wait[0].back, 0);
	assert_int_equal(waits.wait[0].from, 1200);
	assert_int_equal(waits.wait[0].to, 1400);
	expect_off_cpu(200, 0, 0);
	done();

	waits.count = 0;
	analyse_woken_early(1400, 1850, &hooks);
	assert_int_equal(waits.count, 3);
	/* That of 60, which came to its CPU at 1800, is between the two. */
	assert_int_equal(waits.wait[0].woken, 1200);
	assert_int_equal(waits.wait[0].back, 1600);
	assert_int_equal(waits.wait[0].from, 1400);
	assert_int_equal(waits.wait[2].left, 1800);
	assert_int_equal(waits.wait[2].woken, 0);
	assert_int_equal(waits.wait[2].to, 1850);
	expect_off_cpu(200, 0, 50);
	done();

	waits.count = 0;
	analyse_woken_early(1850, 0, &hooks);
	assert_int_equal(waits.count, 1);
	assert_int_equal(waits.wait[0].woken, 1900);
	expect_off_cpu(100, 0, 50);
	done();
}

/* In which order was told of waits and of calls that ended, and where the last one did. */
struct told {
	char order[16];
	uint16_t cpu;
};

static void add_told(struct told *told, char what)
{
	size_t length = strlen(told->order);

	if (length < sizeof(told->order) - 1)
		told->order[length] = what;
}

static void told_wait(void *arg, const struct fkt_wait *wait)
{
	if (fkt_process(processes, wait->id)->tid == 50)
		add_told(arg, 'w');
}

static void told_leave(void *arg, const struct fkt_call *call)
{
	struct told *told = arg;

	if (fkt_process(processes, call->id)->tid != 50)
		return;
	add_told(arg, 'c');
	told->cpu = call->cpu;
}

/* Whoever is told of a wait can ask in which calls it was: none of them has ended by then. */
static void test_waits_before_calls(void **state)
{
	struct told told = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &told,
						  .wait = told_wait,
						  .leave = told_leave };
	struct build build;

	(void)state;
	/* 50 was woken on its way out, or not: it never runs again. The same up to 2000. */
	for (uint64_t to = 0; to <= 2000; to += 2000) {
		told = (struct told){ 0 };
		begin(&build, 1, false);
		build.lane[0].pid = 50;
		build_event(&build, 0, 1000, F, 0);
		wake(&build, 0, 1100, 50);
		build_switch(&build, 0, 1200, STATE_S, 50, 60);
		build_event(&build, 0, 3000, SYS_READ, 0);
		build_end(&build, 0, 0, 0);
		analyse_hooked(&build, build.bytes, 0, to, &hooks);
		assert_string_equal(told.order, "wc");
		done();
	}

	/* An event of CPU 1 is lost while it sleeps: then its calls are forgotten. */
	told = (struct told){ 0 };
	begin(&build, 2, false);
	build.lane[0].pid = 50;
	build.lane[1].pid = 70;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_event(&build, 1, 1150, SYS_READ, 0);
	build_switch(&build, 0, 1200, STATE_D, 50, 60);
	build_close(&build, 1);
	build.lane[1].lost++;
	build_event(&build, 1, 3150, SYS_READ, 0);
	wake(&build, 0, 8000, 50);
	build_switch(&build, 0, 8100, STATE_S, 60, 50);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	assert_string_equal(told.order, "wcc");
	done();
}

/* A call goes on behind the time that is charged, on another CPU: it ends where it was by then. */
static void test_cut_on_cpu(void **state)
{
	struct told told = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &told, .leave = told_leave };
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 60;
	build.lane[1].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1100, SYS_READ, 0);
	build_switch(&build, 1, 1200, STATE_S, 50, 70);
	wake(&build, 0, 2000, 50);
	build_switch(&build, 0, 2100, STATE_S, 60, 50);
	build_event(&build, 0, 2200, SYS_READ_END, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 1500, &hooks);
	assert_string_equal(told.order, "c");
	assert_int_equal(told.cpu, 1);
	done();
}

/*
 * 50 waits from 1200 to 1300. Events are lost then, and it is not known where it went: since when
 * it waits when it is woken is not known either.
 */
static void test_wait_after_loss(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1200, 0, 50, 60);
	build_switch(&build, 0, 1300, STATE_S, 60, 50);
	build_event(&build, 0, 1400, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_close(&build, 0);
	build.lane[0].lost = 5;
	build.lane[0].pid = 0;
	build_event(&build, 0, 2000, FKT_CODE_SOFTIRQ_RAISE, 1);
	wake(&build, 0, 2100, 50);
	build_switch(&build, 0, 2200, 0, 0, 50);
	build_event(&build, 0, 2300, SYS_READ, 0);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	for (unsigned int i = 0; i < waits.count; i++)
		if (fkt_process(processes, waits.wait[i].id)->tid == 50)
			assert_int_equal(waits.wait[i].back, 1300);
	assert_int_equal(waits.count, 2);
	/* 1200 to 1300, and since it was woken */
	assert_int_equal(thread_sums(50, 0, 0).waiting, 100 + 100);
	done();
}

/* 50 has ended, and an exec by which another thread has its number is missing: it does not wait. */
static void test_wait_after_end(void **state)
{
	struct waits waits = { 0 };
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1200, STATE_DEAD, 50, 0);
	build_close(&build, 0);
	build.lane[0].lost = 5;
	build_event(&build, 0, 2000, FKT_CODE_SOFTIRQ_RAISE, 1);
	wake(&build, 0, 2100, 50);
	build_switch(&build, 0, 2200, 0, 0, 50);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, &hooks);
	assert_int_equal(waits.count, 0);
	done();
}

static void verdict(struct build *build, uint64_t stamp, bool recorded, uint32_t pid)
{
	uint64_t word = pid;

	build_slot(build, 0, 0, stamp, FKT_CODE_FILTER, recorded, &word, 1);
}

/*
 * Of a recording of 60 alone: 60 to 2000, 70 to 5000, 60 to 6000, when events are lost, then 72,
 * of which that is not said. What is about the recording itself comes while 70 runs, too, and
 * stacks do: 70 is left out all the same.
 */
static void test_left_out(void **state)
{
	static const uint32_t others[] = { FKT_CODE_STACK, FKT_CODE_TRIGGER, FKT_CODE_SUBMIT,
					   FKT_CODE_RENAME };
	struct build build;

	(void)state;
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		build_begin(&build, 1, false);
		build_text(&build, FKT_SECTION_CODES, codes);
		build_text(&build, FKT_SECTION_INFO, "filter=--pid 60");
		build_pages(&build);
		build.lane[0].pid = 60;
		verdict(&build, 1000, true, 60);
		build_event(&build, 0, 1500, SYS_READ, 0);
		build_event(&build, 0, 1600, SYS_READ_END, 0);
		verdict(&build, 1990, false, 70);
		build_switch(&build, 0, 2000, STATE_S, 60, 70);
		build_event(&build, 0, 3000, others[i], 1);
		build_switch(&build, 0, 4000, 0, 70, 71);
		verdict(&build, 4990, true, 60);
		build_switch(&build, 0, 5000, 0, 71, 60);
		build_event(&build, 0, 5500, SYS_READ, 0);
		build_event(&build, 0, 6000, SYS_READ_END, 0);
		build_close(&build, 0);
		build.lane[0].lost = 2;
		build.lane[0].pid = 72;
		wake(&build, 0, 7000, 60);
		verdict(&build, 7990, true, 60);
		build_switch(&build, 0, 8000, 0, 72, 60);
		build_event(&build, 0, 8500, SYS_READ, 0);
		build_end(&build, 0, 0, 0);
		analyse_hooked(&build, build.bytes, 0, 0, NULL);
		assert_int_equal(thread_sums(70, 0, 0).user, 0);
		assert_int_equal(thread_sums(71, 0, 0).user, 0);
		assert_int_equal(thread_sums(70, 0, 0).left_out, 2000);
		assert_int_equal(thread_sums(72, 0, 0).left_out, 1000);
		assert_int_equal(thread_sums(72, 0, 0).user, 0);
		assert_int_equal(thread_sums(71, 0, 0).left_out, 1000);
		expect_own(FKT_ROW_LEFT_OUT, 4000);
		expect_own(FKT_ROW_UNKNOWN, 1000);
		done();
	}
}

/*
 * 71, which is recorded, takes the number of its leader 70, which is not; what it does is recorded
 * as before. Or it was not recorded, and is by what it has become, which is said by that number.
 */
static void test_left_out_exec(void **state)
{
	struct build build;

	(void)state;
	for (unsigned int recorded = 0; recorded < 2; recorded++) {
		build_begin(&build, 1, false);
		build_text(&build, FKT_SECTION_CODES, codes);
		build_text(&build, FKT_SECTION_INFO, "filter=--tid 71");
		build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 70 1 first\n");
		build_pages(&build);
		build.lane[0].pid = 70;
		verdict(&build, 900, false, 70);
		if (recorded)
			verdict(&build, 990, true, 71);
		build_switch(&build, 0, 1000, 0, 70, 71);
		if (recorded)
			build_event(&build, 0, 1500, SYS_READ, 0);
		else
			verdict(&build, 1500, true, 70);
		build_name(&build, 0, 1600, FKT_CODE_EXEC, 70, "new");
		build_event(&build, 0, 1700, SYS_READ_END, 0);
		build_event(&build, 0, 2700, SYS_READ, 0);
		build_event(&build, 0, 2800, SYS_READ_END, 0);
		build_end(&build, 0, 0, 0);
		analyse_hooked(&build, build.bytes, 0, 0, NULL);
		assert_int_equal(thread_sums(70, 0, 0).user, 1000);
		assert_int_equal(thread_sums(70, 0, 0).left_out, 100);
		assert_int_equal(thread_sums(71, 0, 0).left_out, recorded ? 0 : 600);
		done();
	}
}

/* FKT's own threads, which are made before anything is recorded, are the kernel's; a 70 is not. */
static void test_own_threads(void **state)
{
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_text(&build, FKT_SECTION_PROCESSES, "60 60 1 sixty\n70 70 1 bash\n");
	build_pages(&build);
	build.lane[0].pid = 60;
	build_name(&build, 0, 1000, FKT_CODE_RENAME, 80, "fkt_flush");
	build_name(&build, 0, 1100, FKT_CODE_RENAME, 70, "fkt_flush");
	build_switch(&build, 0, 2000, 0, 60, 80);
	build_switch(&build, 0, 2500, STATE_S, 80, 70);
	build_switch(&build, 0, 4500, STATE_S, 70, 60);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 0, NULL);
	expect_own(FKT_ROW_KERNEL, 500);
	expect_own(FKT_ROW_BEFORE, 2000);
	done();
}

/* All stop recording before there is an event of CPU 1: who was there is not known. */
static void test_off_before(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 60;
	build.lane[1].pid = 70;
	build_event(&build, 0, 1000, SYS_READ, 0);
	for (uint64_t i = 0; i < 2; i++)
		build_slot(&build, 0, 0, 2000 + 1000 * i, FKT_CODE_SETMASK, 0, &i, 1);
	build_event(&build, 1, 3100, SYS_READ, 0);
	build_event(&build, 1, 3500, SYS_READ_END, 0);
	analyse(&build);
	assert_int_equal(thread_sums(70, 0, 0).cycles, 400);
	done();
}

/* Recording is off from 2000 to 5000, and from 8000 to 9000; CPU 1 has no event from 1500 on. */
static void test_off_twice(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 60;
	build.lane[1].pid = 70;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_event(&build, 1, 1010, SYS_READ, 0);
	build_event(&build, 1, 1500, SYS_READ_END, 0);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t word = i & 1;

		build_slot(&build, 0, 0, (const uint64_t[]){ 2000, 5000, 8000, 9000 }[i],
			   FKT_CODE_SETMASK, 0, &word, 1);
	}
	build_event(&build, 1, 20000, SYS_READ, 0);
	analyse(&build);
	/* Its time until all was off, and nothing of what came then. */
	assert_int_equal(thread_sums(70, 0, 0).cycles, 1000);
	done();
}

/* No thread is on its CPU and off it for longer than recording was on. */
static void check_known(uint64_t on)
{
	struct fkt_thread_sums *threads;
	uint64_t known;
	size_t count;

	threads = fkt_analysis_threads(analysis, &count);
	assert_non_null(threads);
	for (size_t i = 0; i < count; i++) {
		known = threads[i].cycles + threads[i].waiting;
		for (unsigned int j = 0; j < FKT_SLEEPS; j++)
			known += threads[i].sleeping[j];
		assert_true(!threads[i].id || known <= on);
	}
	free(threads);
}

/*
 * Recording is off from 2000 to 3000, as is said at 2000 or, of a pause, at 2100: 50 sleeps then,
 * 60 waits for a CPU, 70 waits after it was woken and 80 was woken on its way out of its CPU. 50 is
 * woken at 3500 and runs at 3600, 60 at 3700; it waits to the end, and 70 and 80 come no more.
 */
static void analyse_off(bool paused, uint64_t from, uint64_t to,
			const struct fkt_analysis_hooks *hooks)
{
	const uint64_t off = 0, on = 1, at = 2000;
	struct build build;

	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1200, STATE_S, 50, 60);
	build_switch(&build, 0, 1300, 0, 60, 70);
	build_switch(&build, 0, 1400, STATE_D, 70, 80);
	wake(&build, 0, 1500, 70);
	wake(&build, 0, 1550, 80);
	build_switch(&build, 0, 1600, STATE_D, 80, 0);
	if (paused)
		build_slot(&build, 0, 0, 2100, FKT_CODE_PAUSE, 0, &at, 1);
	else
		build_slot(&build, 0, 0, 2000, FKT_CODE_SETMASK, 0, &off, 1);
	build_switch(&build, 0, 3000, 0, 0, 0);
	build_slot(&build, 0, 0, 3000, FKT_CODE_SETMASK, 0, &on, 1);
	wake(&build, 0, 3500, 50);
	build_switch(&build, 0, 3600, 0, 0, 50);
	build_switch(&build, 0, 3700, 0, 50, 60);
	build_switch(&build, 0, 3900, 0, 60, 0);
	build_event(&build, 0, 4000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, from, to, hooks);
}

static void expect_part(const struct fkt_wait *wait, uint32_t tid, uint64_t from, uint64_t to,
			bool back)
{
	assert_int_equal(fkt_process(processes, wait->id)->tid, tid);
	assert_int_equal(wait->from, from);
	assert_int_equal(wait->to, to);
	assert_int_equal(wait->back, back ? to : 0);
}

static void test_off_cpu_while_off(void **state)
{
	/* Sleep in S and D, and waiting, of 50, 60, 70 and 80. */
	static const uint64_t wanted[4][3] = {
		{ 800, 0, 100 + 300 }, { 0, 0, 700 + 100 }, { 0, 100, 500 }, { 0, 400, 0 }
	};
	static const uint64_t windows[][2] = { { 0, 0 },       { 0, 1800 },    { 1800, 2050 },
					       { 2050, 2500 }, { 2500, 3550 }, { 3550, 0 } };
	uint64_t sums[4][3];

	(void)state;
	for (unsigned int paused = 0; paused < 2; paused++) {
		memset(sums, 0, sizeof(sums));
		for (unsigned int i = 0; i < 6; i++) {
			analyse_off(paused, windows[i][0], windows[i][1], NULL);
			if (!i)
				check_known(2000);
			for (unsigned int j = 0; j < 4; j++) {
				struct fkt_thread_sums got = off_cpu_sums(50 + 10 * j);

				if (!i) {
					assert_int_equal(got.sleeping[FKT_SLEEP_INTERRUPTIBLE],
							 wanted[j][0]);
					assert_int_equal(got.sleeping[FKT_SLEEP_UNINTERRUPTIBLE],
							 wanted[j][1]);
					assert_int_equal(got.waiting, wanted[j][2]);
					continue;
				}
				sums[j][0] += got.sleeping[FKT_SLEEP_INTERRUPTIBLE];
				sums[j][1] += got.sleeping[FKT_SLEEP_UNINTERRUPTIBLE];
				sums[j][2] += got.waiting;
			}
			done();
		}
		assert_memory_equal(sums, wanted, sizeof(sums));
	}
}

/* The same, as it is told to those who ask for waits; that of 70 has been told from its wake-up. */
static void test_waits_while_off(void **state)
{
	struct waits waits;
	const struct fkt_analysis_hooks hooks = { .arg = &waits, .wait = keep_wait };

	(void)state;
	for (unsigned int paused = 0; paused < 2; paused++) {
		waits.count = 0;
		analyse_off(paused, 0, 3750, &hooks);
		assert_int_equal(waits.count, 5);
		expect_part(&waits.wait[0], 50, 1200, 2000, false);
		expect_part(&waits.wait[1], 60, 1300, 2000, false);
		done();
		/* The window ends while recording is off. */
		waits.count = 0;
		analyse_off(paused, 1800, 2050, &hooks);
		assert_int_equal(waits.count, 4);
		for (unsigned int i = 0; i < 4; i++)
			expect_part(&waits.wait[i], 50 + 10 * i, 1800, 2000, false);
		done();
	}
}

/* What a CPU does once recording is off, when that is said, is nobody's; nor is it in a window. */
static void test_pause_in_window(void **state)
{
	static const uint64_t windows[][2] = { { 0, 0 }, { 0, 2050 }, { 2050, 0 } };
	static const uint64_t on[] = { 2000, 1000, 1000 }, unknown[] = { 1000, 50, 950 };
	const uint64_t at = 2000, mask = 1;
	struct build build;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		begin(&build, 1, false);
		build.lane[0].pid = 50;
		build_event(&build, 0, 1000, SYS_READ, 0);
		build_slot(&build, 0, 0, 2100, FKT_CODE_PAUSE, 0, &at, 1);
		build_switch(&build, 0, 3000, 0, 50, 50);
		build_slot(&build, 0, 0, 3000, FKT_CODE_SETMASK, 0, &mask, 1);
		build_event(&build, 0, 4000, SYS_READ_END, 0);
		build_end(&build, 0, 0, 0);
		analyse_hooked(&build, build.bytes, windows[i][0], windows[i][1], NULL);
		assert_int_equal(thread_sums(50, 0, 0).cycles, on[i]);
		expect_own(FKT_ROW_UNKNOWN, unknown[i]);
		done();
	}
}

/* In a window there is no event but that recording was paused: all of it is of the duration. */
static void test_first_is_pause(void **state)
{
	const uint64_t at = 1000, mask = 1;
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_slot(&build, 0, 0, 1000, FKT_CODE_PAUSE, 0, &at, 1);
	build_switch(&build, 0, 3000, 0, 50, 50);
	build_slot(&build, 0, 0, 3000, FKT_CODE_SETMASK, 0, &mask, 1);
	build_end(&build, 0, 0, 0);
	analyse_hooked(&build, build.bytes, 0, 2000, NULL);
	assert_int_equal(fkt_analysis_duration(analysis), 1000);
	expect_own(FKT_ROW_UNKNOWN, 1000);
	done();
}

/* Recording was paused in a window, [1000, 1500), which comes out in the next one, from 1650 on. */
static void test_pause_before_window(void **state)
{
	const uint64_t at = 1400, mask = 1;
	struct build build;

	(void)state;
	begin(&build, 1, false);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, SYS_READ, 0);
	build_switch(&build, 0, 1100, 0, 50, 60);
	build_slot(&build, 0, 0, 1900, FKT_CODE_PAUSE, 0, &at, 1);
	build_switch(&build, 0, 3000, 0, 60, 60);
	build_slot(&build, 0, 0, 3000, FKT_CODE_SETMASK, 0, &mask, 1);
	build_event(&build, 0, 3500, SYS_READ, 0);
	build_switch(&build, 0, 4000, 0, 60, 50);
	build_end(&build, 0, 0, 0);
	again_from = 1650;
	analyse_hooked(&build, build.bytes, 0, 1500, NULL);
	again_from = 0;
	assert_int_equal(thread_sums(50, 0, 0).waiting, 300);
	assert_int_equal(thread_sums(50, 0, 0).cycles, 100);
	assert_int_equal(thread_sums(60, 0, 0).cycles, 300 + 1000);
	expect_own(FKT_ROW_UNKNOWN, 100 + 1350);
	done();
}

/* Woken while it is on a CPU of which there was no event so far: it does not wait. */
static void test_woken_on_silent_cpu(void **state)
{
	struct build build;

	(void)state;
	begin(&build, 2, false);
	build.lane[0].pid = 60;
	build.lane[1].pid = 70;
	build_event(&build, 0, 1000, SYS_READ, 0);
	wake(&build, 0, 1200, 70);
	build_event(&build, 1, 9000, SYS_READ, 0);
	analyse(&build);
	assert_int_equal(thread_sums(70, 0, 0).cycles, 8000);
	assert_int_equal(thread_sums(70, 0, 0).waiting, 0);
	done();
}

/* Anything at all, with losses: the sums are right (see check_sums()), and nothing is hurt. */
static void test_random(void **state)
{
	static const uint32_t all[] = {
		SYS_READ,
		SYS_READ_END,
		F,
		F_END,
		G,
		G_END,
		FKT_CODE_IRQ_ENTRY,
		FKT_CODE_IRQ_EXIT,
		FKT_CODE_SOFTIRQ_ENTRY,
		FKT_CODE_SOFTIRQ_EXIT,
		FKT_CODE_VECTOR_ENTRY,
		FKT_CODE_VECTOR_EXIT,
		FKT_CODE_SWITCH,
		FKT_CODE_WAKEUP,
		FKT_CODE_FORK,
		FKT_CODE_EXEC,
		FKT_CODE_EXIT,
		FKT_CODE_RELEASE,
		FKT_CODE_SETMASK,
		FKT_CODE_PAUSE,
	};

	(void)state;
	for (unsigned int seed = 1; seed <= 40; seed++) {
		bool shared = seed % 4 == 0;
		unsigned int lanes = shared ? 1 : 1 + seed % 4;
		uint64_t stamp = 1000000;
		struct build build;

		srand(seed);
		begin(&build, lanes, shared);
		for (unsigned int i = 0; i < 5000; i++) {
			unsigned int lane = (unsigned int)rand() % lanes;
			uint16_t cpu = shared ? (uint16_t)(rand() % 3) : (uint16_t)lane;
			uint32_t code = all[(unsigned int)rand() % (sizeof(all) / sizeof(all[0]))];
			uint64_t words[3];

			/* Those that make all CPUs blind are rare. */
			if (code >= FKT_CODE_PAUSE && code < F && rand() % 50)
				code = FKT_CODE_SWITCH;
			for (unsigned int j = 0; j < 3; j++)
				words[j] = (uint64_t)(rand() % 6) | (uint64_t)(rand() % 6) << 32;
			if (code == FKT_CODE_PAUSE)
				words[0] = stamp - (uint64_t)(rand() % 100);
			if (rand() % 200 == 0) {
				build_close(&build, lane);
				build.lane[lane].lost += (uint64_t)(rand() % 3);
				build.lane[lane].pid = (uint32_t)(rand() % 6);
			}
			stamp += (uint64_t)(rand() % 100);
			build_slot(&build, lane, cpu, stamp, code, (uint16_t)(rand() % 3), words,
				   (unsigned int)rand() % 4);
		}
		build_end(&build, 0, 0, 0);
		analyse_hooked(&build, build.bytes, seed % 3 ? 0 : 1050000, seed % 5 ? 0 : 1150000,
			       NULL);
		done();
	}
}

static void test_histogram(void **state)
{
	struct fkt_histogram histogram = { 0 }, few = { 0 };

	(void)state;
	assert_int_equal(fkt_histogram_percentile(&histogram, 50), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		fkt_histogram_add(&histogram, i);
	assert_int_equal(histogram.count, 1000);
	assert_int_equal(histogram.sum, 500500);
	assert_int_equal(histogram.min, 1);
	assert_int_equal(histogram.max, 1000);
	/* off by no more than 1/16 */
	assert_in_range(fkt_histogram_percentile(&histogram, 50), 469, 531);
	assert_in_range(fkt_histogram_percentile(&histogram, 99), 929, 1000);
	assert_int_equal(fkt_histogram_percentile(&histogram, 100), 1000);
	assert_int_equal(fkt_histogram_percentile(&histogram, 0), 1);
	/*
	 * The smallest value that is not less than so many: of 95, p99 is the largest one, and p50
	 * the 48th.
	 */
	for (uint64_t i = 1; i <= 95; i++)
		fkt_histogram_add(&few, i < 48 ? 1 : i < 95 ? 2 : 1000000);
	assert_int_equal(fkt_histogram_percentile(&few, 99), 1000000);
	assert_int_equal(fkt_histogram_percentile(&few, 50), 2);
	assert_int_equal(fkt_histogram_percentile(&few, 100.0 * 47 / 95), 1);
	assert_int_equal(fkt_histogram_percentile(&few, 100.0 * 94 / 95), 2);
	/* 1; 2, 3; 4 … 7; …; 512 … 1000 */
	assert_int_equal(fkt_histogram_power(&histogram, 0), 0);
	assert_int_equal(fkt_histogram_power(&histogram, 1), 1);
	assert_int_equal(fkt_histogram_power(&histogram, 2), 2);
	assert_int_equal(fkt_histogram_power(&histogram, 3), 4);
	assert_int_equal(fkt_histogram_power(&histogram, 9), 256);
	assert_int_equal(fkt_histogram_power(&histogram, 10), 489);
	fkt_histogram_add(&histogram, 0);
	fkt_histogram_add(&histogram, UINT64_MAX);
	assert_int_equal(fkt_histogram_power(&histogram, 0), 1);
	assert_int_equal(fkt_histogram_power(&histogram, 64), 1);
	assert_int_equal(fkt_histogram_percentile(&histogram, 100), UINT64_MAX);
}

static void gcc(struct build *build, uint64_t stamp, uint32_t code, uint64_t address)
{
	const uint64_t words[2] = { address, 0x9999 };

	build_slot(build, 0, 0, stamp, code, 0, words, code == FKT_CODE_GCC_ENTRY ? 2 : 1);
}

/*
 * Functions with a code in common, told apart by their address: 1000 run( 1100 leaf( 1150 leaf)
 * 1200 top( 1300 leaf( 1400 leaf) 1500 top) and in it an exit of which nothing was entered; 1800
 * run), 1900 leaf( not left.
 */
static void test_functions_by_address(void **state)
{
	enum {
		RUN = 0xffff1000,
		TOP = 0xffff2000,
		LEAF = 0xffff3000
	};
	const uint32_t row = FKT_ROW_FUNCTION;
	struct fkt_code_use entry = { 0 };
	char name[FKT_NAME_BYTES];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_SYMBOLS,
		   "ffff1000 t run\t[module]\nffff2000 t top\t[module]\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	gcc(&build, 1000, FKT_CODE_GCC_ENTRY, RUN);
	gcc(&build, 1100, FKT_CODE_GCC_ENTRY, LEAF);
	gcc(&build, 1150, FKT_CODE_GCC_EXIT, LEAF);
	gcc(&build, 1200, FKT_CODE_GCC_ENTRY, TOP);
	gcc(&build, 1300, FKT_CODE_GCC_ENTRY, LEAF);
	gcc(&build, 1400, FKT_CODE_GCC_EXIT, LEAF);
	gcc(&build, 1450, FKT_CODE_GCC_EXIT, 0xffff4000);
	gcc(&build, 1500, FKT_CODE_GCC_EXIT, TOP);
	gcc(&build, 1800, FKT_CODE_GCC_EXIT, RUN);
	gcc(&build, 1900, FKT_CODE_GCC_ENTRY, LEAF);
	build_event(&build, 0, 2000, 0x1005, 0);
	analyse(&build);
	expect_row(row, 800 - 50 - 300, 800, 1, 0);
	expect_row(row + 1, 50 + 100 + 100, 150, 2, 1);
	expect_row(row + 2, 300 - 100, 300, 1, 0);
	expect_row(row + 3, 0, 0, 0, 1);
	expect_row(FKT_CODE_GCC_ENTRY, 0, 0, 0, 0);
	fkt_row_name(trace, row, name);
	assert_string_equal(name, "run");
	fkt_row_name(trace, row + 1, name);
	assert_string_equal(name, "top+0x1000");
	fkt_row_name(trace, FKT_ROW_USER - 1, name);
	assert_string_equal(name, "other functions");
	fkt_row_name(trace, FKT_ROWS + 1, name);
	assert_string_equal(name, "-");
	fkt_row_name(trace, UINT32_MAX, name);
	assert_string_equal(name, "-");
	assert_int_equal(fkt_row_code(trace, row), FKT_CODE_GCC_ENTRY);
	assert_string_equal(fkt_row_layer(trace, row), "gcc");

	/* There are rows for so many, and one for all others. */
	fkt_code_use(trace, FKT_CODE_GCC_ENTRY, &entry);
	for (uint64_t i = 0; i < 70000; i++) {
		const struct fkt_event event = { .args = &i, .words = 1 };
		uint32_t found = fkt_function_row(trace, &entry, &event);

		assert_int_equal(found,
				 row + 4 + i < FKT_ROW_USER ? row + 4 + i : FKT_ROW_USER - 1);
	}
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_functions_by_address),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_sleep_in_function),
		cmocka_unit_test(test_sleeps_as_reported),
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_interrupt_in_switch),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_reused_pid),
		cmocka_unit_test(test_partial_calls),
		cmocka_unit_test(test_interrupt_before),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_elsewhere),
		cmocka_unit_test(test_shared_windows),
		cmocka_unit_test(test_lost_windows),
		cmocka_unit_test(test_lost_move),
		cmocka_unit_test(test_two_places),
		cmocka_unit_test(test_came_unseen),
		cmocka_unit_test(test_shared_missing),
		cmocka_unit_test(test_missing_exit),
		cmocka_unit_test(test_silent_cpu),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_shared_lane),
		cmocka_unit_test(test_turned_off),
		cmocka_unit_test(test_hostile_end),
		cmocka_unit_test(test_exec_by_thread),
		cmocka_unit_test(test_exec_sleeps),
		cmocka_unit_test(test_exec_behind),
		cmocka_unit_test(test_exec_unseen),
		cmocka_unit_test(test_sleep_without_syscalls),
		cmocka_unit_test(test_system_off),
		cmocka_unit_test(test_system_on),
		cmocka_unit_test(test_system_off_late),
		cmocka_unit_test(test_stamps_back),
		cmocka_unit_test(test_exec_parts),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_left_at_the_end),
		cmocka_unit_test(test_says_current),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_wait_of_new),
		cmocka_unit_test(test_nested_waker),
		cmocka_unit_test(test_preempted_softirq),
		cmocka_unit_test(test_softirq_turned_off),
		cmocka_unit_test(test_deep_interrupt),
		cmocka_unit_test(test_woken_early),
		cmocka_unit_test(test_woken_early_at_a_cut),
		cmocka_unit_test(test_waits_before_calls),
		cmocka_unit_test(test_cut_on_cpu),
		cmocka_unit_test(test_wait_after_loss),
		cmocka_unit_test(test_wait_after_end),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_left_out_exec),
		cmocka_unit_test(test_off_before),
		cmocka_unit_test(test_own_threads),
		cmocka_unit_test(test_off_twice),
		cmocka_unit_test(test_off_cpu_while_off),
		cmocka_unit_test(test_waits_while_off),
		cmocka_unit_test(test_pause_in_window),
		cmocka_unit_test(test_pause_before_window),
		cmocka_unit_test(test_first_is_pause),
		cmocka_unit_test(test_woken_on_silent_cpu),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

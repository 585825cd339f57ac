// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said of a trace in which some bits are wrong: no total that can't be. One field of one
 * page's header, of a slot, or of the end sections is changed at a time.
 */
#include "test.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fkt/trace.h>

#include "build_trace.h"
#include "read_trace.h"
#include "read/extract.h"

#define LANES	    2
#define EVENTS	    20000
#define PAGE_EVENTS 64
#define START	    1000000000000ull
#define STEP	    5000 /* cycles, of half a nanosecond each */
#define STOP	    (START + (EVENTS + 20ull) * STEP)
#define DURATION    (STOP - START)
#define MONO_NS	    500000000ull
#define REAL_NS	    1700000000000000000ull
#define LOST	    7

static struct build good;
static char stop_text[64];

static void make_trace(bool tail)
{
	static const char head[] = "tsc_khz=2000000\0command=true";
	char end[256];
	size_t bytes;

	build_begin(&good, LANES, false);
	build_section(&good, FKT_SECTION_INFO, head, sizeof(head), false);
	build_clock(&good, START, MONO_NS, REAL_NS);
	build_pages(&good);
	for (unsigned int i = 0; i < EVENTS; i++) {
		unsigned int lane = i % 3 ? 0 : 1;

		if (i == EVENTS / 2) {
			build_close(&good, 0);
			good.lane[0].lost = LOST;
		}
		/* Many pages of few events. */
		if (i % (3 * PAGE_EVENTS) < 3)
			build_close(&good, lane);
		build_event(&good, lane, START + (i + 10ull) * STEP,
			    i / 3 % 2 ? FKT_CODE_SYSCALL_EXIT : FKT_CODE_SYSCALL_ENTRY, 0);
	}
	if (!tail)
		return;
	build_tail(&good);
	snprintf(stop_text, sizeof(stop_text), "stop_cycles=%llu", STOP - STEP);
	bytes = (size_t)snprintf(end, sizeof(end),
				 "start_cycles=%llu%c%s%cevents=%u%clost=%u%cdiscarded=0",
				 START + STEP, 0, stop_text, 0, EVENTS, 0, LOST, 0);
	build_section(&good, FKT_SECTION_INFO, end, bytes + 1, false);
	build_end(&good, STOP, MONO_NS + DURATION / 2, REAL_NS + DURATION / 2);
}

struct answer {
	struct fkt_read_stats stats;
	uint64_t duration;
	int64_t ns;
	uint64_t most; /* cycles of the thread that has most */
	uint64_t waiting;
	uint32_t cpus;
};

static int sum_one_by_one(struct fkt_trace *trace, struct fkt_processes *processes,
			  struct fkt_analysis *analysis, struct fkt_read_stats *stats)
{
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_event event;
	int what;

	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			fkt_analysis_gap(analysis, fkt_gap(reader));
		else
			assert_int_equal(fkt_analysis_event(analysis, &event), 0);
	}
	(void)processes;
	*stats = *fkt_read_stats(reader);
	fkt_reader_free(reader);
	return what;
}

static struct answer ask(const struct build *build, bool many)
{
	int fd = memfd_create("trace", 0), err = -EAGAIN;
	struct fkt_thread_sums *threads;
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct answer answer = { 0 };
	struct fkt_trace *trace;
	size_t count;

	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	trace = read_open(fd);
	for (int way = many && fkt_can_sum(trace) ? 0 : 1; err == -EAGAIN; way++) {
		processes = fkt_processes_new(trace);
		analysis = fkt_analysis_new(trace, processes, NULL);
		err = way ? sum_one_by_one(trace, processes, analysis, &answer.stats)
			  : fkt_sum(trace, processes, analysis, 2, &answer.stats);
		if (err != -EAGAIN)
			break;
		fkt_analysis_free(analysis);
		fkt_processes_free(processes);
	}
	assert_int_equal(err, 0);
	assert_int_equal(fkt_analysis_end(analysis, answer.stats.last), 0);
	answer.duration = fkt_analysis_duration(analysis);
	answer.cpus = fkt_analysis_cpus(analysis);
	answer.ns = fkt_has_clock(trace) ? fkt_cycles_to_ns(trace, (int64_t)answer.duration) : 0;
	threads = fkt_analysis_threads(analysis, &count);
	for (size_t i = 0; i < count; i++)
		if (threads[i].cycles > answer.most)
			answer.most = threads[i].cycles;
	free(threads);
	fkt_analysis_free(analysis);
	fkt_processes_free(processes);
	fkt_close(trace);
	close(fd);
	return answer;
}

static void check(const char *what, uint64_t where, unsigned int bit)
{
	for (int many = 0; many < 2; many++) {
		struct answer answer = ask(&good, many);
		const struct fkt_read_stats *stats = &answer.stats;

		if (answer.duration > DURATION || answer.ns < 0 || (uint64_t)answer.ns > DURATION ||
		    answer.most > LANES * DURATION || answer.cpus != LANES || stats->missing > 2 ||
		    stats->lost > LOST || stats->events > EVENTS ||
		    stats->events < EVENTS - 3 * PAGE_EVENTS)
			fail_msg("%s %llu, bit %u: %llu cycles, %lld ns, a thread has %llu; %u "
				 "CPUs, %llu pages missing, %llu events lost, %llu read",
				 what, (unsigned long long)where, bit,
				 (unsigned long long)answer.duration, (long long)answer.ns,
				 (unsigned long long)answer.most, answer.cpus,
				 (unsigned long long)stats->missing,
				 (unsigned long long)stats->lost,
				 (unsigned long long)stats->events);
	}
}

static void flip(size_t offset, unsigned int bit)
{
	good.data[offset + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* Try each of these bits of a number. */
static void flip_number(const char *what, uint64_t where, size_t offset)
{
	static const unsigned int bits[] = { 1, 9, 26, 41, 55, 62, 63 };

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		flip(offset, bits[i]);
		check(what, where, bits[i]);
		flip(offset, bits[i]);
	}
}

static void flip_pages(void)
{
	const uint64_t pages = good.pages;

	for (uint64_t page = 0; page < pages;
	     page += page < 3 || page + 5 > pages ? 1 : pages / 7) {
		size_t at = good.data_offset + page * FKT_PAGE_BYTES;

		flip_number("number of page", page, at + offsetof(struct fkt_page_header, seq));
		flip_number("first of page", page, at + offsetof(struct fkt_page_header, first));
		flip_number("end of page", page, at + offsetof(struct fkt_page_header, end));
		flip_number("lost of page", page, at + offsetof(struct fkt_page_header, lost));
		flip_number("a slot of page", page, at + sizeof(struct fkt_page_header) + 80);
	}
}

static void test_good(void **state)
{
	struct answer answer;

	(void)state;
	make_trace(true);
	check("nothing", 0, 0);
	answer = ask(&good, true);
	assert_int_equal(answer.duration, DURATION - 2 * STEP);
	assert_int_equal(answer.stats.lost, LOST);
	build_free(&good);
}

static void test_pages(void **state)
{
	(void)state;
	make_trace(true);
	assert_true(good.pages > FKT_INDEX_ENTRIES + 10);
	flip_pages();
	build_free(&good);
}

/* A trace that was cut off has nothing that says when it ended. */
static void test_pages_of_a_cut_trace(void **state)
{
	(void)state;
	make_trace(false);
	flip_pages();
	build_free(&good);
}

/* All of a page's stamps are far away. */
static void test_strange_page(void **state)
{
	for (int tail = 0; tail < 2; tail++) {
		(void)state;
		make_trace(tail);
		for (uint64_t page = 5; page < good.pages - 5; page += good.pages / 9) {
			size_t at = good.data_offset + page * FKT_PAGE_BYTES;

			flip(at + offsetof(struct fkt_page_header, first), 50);
			flip(at + offsetof(struct fkt_page_header, end), 50);
			check("stamps of page", page, 50);
			flip(at + offsetof(struct fkt_page_header, first), 50);
			flip(at + offsetof(struct fkt_page_header, end), 50);
		}
		build_free(&good);
	}
}

/* Read events from a moment on, each of which is of its lane's CPU. How many there are. */
static uint64_t read_from(struct fkt_trace *trace, uint64_t from, uint64_t *damaged)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, from, UINT64_MAX);
	struct fkt_event event;
	uint64_t count;
	int what;

	while ((what = fkt_next(reader, &event)) > 0)
		assert_int_equal(event.cpu, event.lane);
	assert_int_equal(what, 0);
	count = fkt_read_stats(reader)->events;
	*damaged = fkt_read_stats(reader)->damaged;
	fkt_reader_free(reader);
	return count;
}

/* Events of a window, and of a part that is of that window. */
static void read_window(uint64_t from, uint64_t counts[2], uint64_t damaged[2])
{
	struct fkt_extract extract = { .from = from, .to = UINT64_MAX };
	int fd = memfd_create("trace", 0), part_fd = memfd_create("part", 0);
	struct fkt_trace *trace, *part;

	assert_int_equal(write(fd, good.data, good.bytes), good.bytes);
	trace = read_open(fd);
	counts[0] = read_from(trace, from, &damaged[0]);
	assert_int_equal(fkt_extract(trace, &extract, part_fd), 0);
	part = read_open(part_fd);
	counts[1] = read_from(part, 0, &damaged[1]);
	fkt_close(part);
	fkt_close(trace);
	close(part_fd);
	close(fd);
}

/* A page's CPU is its lane's, whatever it says, and wherever reading begins. */
static void test_cpu_of_page(void **state)
{
	const unsigned int bits[] = { 0, 1, 9, 15 };

	(void)state;
	for (int tail = 0; tail < 2; tail++) {
		make_trace(tail);
		for (uint64_t page = 0; page < good.pages;
		     page += page < 3 || page + 5 > good.pages ? 1 : good.pages / 7) {
			size_t at = good.data_offset + page * FKT_PAGE_BYTES;
			uint64_t counts[2], whole[2], damaged[2], first;
			uint64_t from[3] = { 0 };

			if (page % (FKT_INDEX_ENTRIES + 1) == FKT_INDEX_ENTRIES)
				continue;
			memcpy(&first, good.data + at + offsetof(struct fkt_page_header, first),
			       sizeof(first));
			from[1] = le64toh(first) + 1;
			from[2] = le64toh(first) + (EVENTS / 10) * STEP;
			for (size_t i = 0; i < 3 * sizeof(bits) / sizeof(bits[0]); i++) {
				size_t cpu = at + offsetof(struct fkt_page_header, cpu);

				read_window(from[i % 3], whole, damaged);
				flip(cpu, bits[i / 3]);
				if (i % 3 == 0)
					check("CPU of page", page, bits[i / 3]);
				read_window(from[i % 3], counts, damaged);
				assert_int_equal(counts[0], whole[0]);
				assert_int_equal(counts[1], whole[1]);
				assert_int_equal(damaged[0], i % 3 == 0);
				assert_int_equal(damaged[1], 0);
				flip(cpu, bits[i / 3]);
			}
		}
		build_free(&good);
	}
}

/* A page with the number of another lane is damaged, and no event of that lane's CPU. */
static void test_lane_of_page(void **state)
{
	(void)state;
	make_trace(true);
	for (uint64_t page = good.pages - 5; page < good.pages; page++) {
		size_t at = good.data_offset + page * FKT_PAGE_BYTES;
		struct answer answer;

		flip(at + offsetof(struct fkt_page_header, lane), 0);
		check("lane of page", page, 0);
		answer = ask(&good, false);
		assert_true(answer.stats.events < EVENTS && answer.stats.damaged);
		flip(at + offsetof(struct fkt_page_header, lane), 0);
	}
	build_free(&good);
}

static void test_end(void **state)
{
	uint8_t *stop;

	(void)state;
	make_trace(true);
	for (size_t at = good.tail_offset; at + 8 <= good.bytes; at += 8)
		if (at + 8 != good.bytes - sizeof(struct fkt_footer) + 16)
			flip_number("end sections", at - good.tail_offset, at);
	stop = memmem(good.data, good.bytes, stop_text, strlen(stop_text));
	assert_non_null(stop);
	memcpy(stop + strlen("stop_cycles="), "9", 1);
	check("stop_cycles", 0, 0);
	build_free(&good);
}

static void test_first_clock(void **state)
{
	uint64_t cycles = htole64(START);
	uint8_t *clock;

	(void)state;
	make_trace(true);
	clock = memmem(good.data, good.data_offset, &cycles, sizeof(cycles));
	assert_non_null(clock);
	for (unsigned int i = 0; i < 3; i++)
		flip_number("clock", i, (size_t)(clock - good.data) + 8 * i);
	build_free(&good);
}

/* A lane that CPUs share whose clocks differ by some microseconds: nothing of it is damaged. */
static void test_clocks_that_differ(void **state)
{
	static const uint64_t behind[] = { 0, 500, 3000, 20000, 1000000 };

	(void)state;
	for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
		build_begin(&good, 1, true);
		build_clock(&good, START, MONO_NS, REAL_NS);
		build_pages(&good);
		for (unsigned int event = 0; event < EVENTS; event++) {
			/* The CPU whose clock is behind begins each tenth page. */
			bool other = event % (10 * PAGE_EVENTS) == 0;

			if (event % PAGE_EVENTS == 0)
				build_close(&good, 0);
			good.lane[0].slot_cpu = other;
			build_event(&good, 0,
				    START + behind[4] + (event + 10ull) * STEP -
					    (other ? behind[i] : 0),
				    FKT_CODE_SYSCALL_ENTRY, 0);
			if (event % (10 * PAGE_EVENTS) == PAGE_EVENTS)
				build_close(&good, 0);
		}
		build_tail(&good);
		build_end(&good, START + behind[4] + (EVENTS + 20ull) * STEP,
			  MONO_NS + DURATION / 2, REAL_NS + DURATION / 2);
		for (int many = 0; many < 2; many++) {
			struct answer answer = ask(&good, many);

			if (answer.stats.events != EVENTS || answer.stats.damaged)
				fail_msg("%llu cycles: %llu of %u events, %llu pages damaged",
					 (unsigned long long)behind[i],
					 (unsigned long long)answer.stats.events, EVENTS,
					 (unsigned long long)answer.stats.damaged);
		}
		build_free(&good);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pages_of_a_cut_trace),
		cmocka_unit_test(test_strange_page),
		cmocka_unit_test(test_cpu_of_page),
		cmocka_unit_test(test_lane_of_page),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_first_clock),
		cmocka_unit_test(test_clocks_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* However many threads make a listing, it is the same. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_trace.h"

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Threads that come, change their names and go, on lanes at different speeds; holes and losses. */
static void build_random(struct build *build, unsigned int lanes, unsigned int events,
			 uint32_t seed, bool holes, unsigned int rare)
{
	uint64_t stamp = 1000000, words[8] = { 0 };
	char name[16];

	build_begin(build, lanes, false);
	build_text(build, FKT_SECTION_INFO, "tsc_khz=1000000");
	build_text(build, FKT_SECTION_PROCESSES, "1 1 0 one\n2 2 1 two\n3 3 1 three\n");
	build_pages(build);
	for (unsigned int i = 0; i < events; i++) {
		unsigned int lane = next_random(&seed) % lanes;
		uint32_t pid = next_random(&seed) % 20, other = next_random(&seed) % 20;

		if (!lane && next_random(&seed) % rare)
			lane = lanes - 1;
		stamp += next_random(&seed) % 3;
		words[0] = next_random(&seed);
		switch (next_random(&seed) % 64) {
		case 0:
		case 1:
			build_switch(build, lane, stamp, 0, pid, other);
			break;
		case 2:
			build_fork(build, lane, stamp, 1 + pid, 1 + other);
			break;
		case 3:
			snprintf(name, sizeof(name), "name%u", i);
			build_name(build, lane, stamp, i % 2 ? FKT_CODE_RENAME : FKT_CODE_EXEC,
				   1 + pid, name);
			break;
		default:
			build_slot(build, lane, (uint16_t)lane, stamp, (uint32_t)i % 400,
				   (uint16_t)i, words, next_random(&seed) % 8);
		}
		if (next_random(&seed) % 1000 == 0) {
			build_close(build, lane);
			build->lane[lane].seq += holes && next_random(&seed) % 2;
			build->lane[lane].lost += next_random(&seed) % 2;
		}
	}
	build_end(build, stamp, 0, 0);
}

static struct fkt_trace *open_build(const struct build *build)
{
	int fd = memfd_create("trace", 0);
	struct fkt_trace *trace;

	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	trace = read_open(fd);
	close(fd);
	return trace;
}

static char *read_back(int fd, size_t *bytes)
{
	struct stat stat;
	char *text;

	assert_int_equal(fstat(fd, &stat), 0);
	*bytes = (size_t)stat.st_size;
	text = malloc(*bytes + 1);
	assert_int_equal(pread(fd, text, *bytes, 0), *bytes);
	close(fd);
	return text;
}

static char *list_by_one(struct fkt_trace *trace, enum fkt_time time, size_t *bytes,
			 struct fkt_read_stats *stats)
{
	struct fkt_processes *processes = fkt_processes_new(trace);
	struct fkt_reader *reader = fkt_reader_new(trace);
	int fd = memfd_create("text", 0), what;
	struct fkt_text *text = fkt_text_new(trace, processes, fd, time);
	struct fkt_event event;

	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP) {
			fkt_text_gap(text, fkt_gap(reader));
			continue;
		}
		if (fkt_is_process_event(event.code))
			fkt_processes_event(processes, &event);
		fkt_text_event(text, &event);
	}
	assert_int_equal(fkt_text_flush(text), 0);
	*stats = *fkt_read_stats(reader);
	fkt_text_free(text);
	fkt_reader_free(reader);
	fkt_processes_free(processes);
	return read_back(fd, bytes);
}

static void check_threads(const struct build *build, enum fkt_time time)
{
	struct fkt_trace *trace = open_build(build);
	struct fkt_listing listing = { .time = time };
	struct fkt_read_stats one, many;
	size_t bytes, same;
	char *whole, *text;

	assert_true(fkt_can_list(trace));
	whole = list_by_one(trace, time, &bytes, &one);
	for (listing.threads = 1; listing.threads <= 8; listing.threads *= 2) {
		listing.fd = memfd_create("text", 0);
		assert_int_equal(fkt_list(trace, &listing, &many), 0);
		text = read_back(listing.fd, &same);
		assert_int_equal(same, bytes);
		assert_int_equal(memcmp(text, whole, bytes), 0);
		assert_int_equal(many.events, one.events);
		assert_int_equal(many.lost, one.lost);
		assert_int_equal(many.missing, one.missing);
		assert_int_equal(many.first, one.first);
		assert_int_equal(many.last, one.last);
		free(text);
	}
	free(whole);
	fkt_close(trace);
}

static void test_threads(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 6; seed++) {
		build_random(&build, 1 + seed % 4, 150000, seed, seed % 2, 64);
		check_threads(&build, seed % 3 ? FKT_TIME_CYCLES : FKT_TIME_REL);
		build_free(&build);
	}
}

/* So many windows that their places are used again and again. */
static void test_many_windows(void **state)
{
	struct build build;

	(void)state;
	build_random(&build, 2, 1500000, 9, true, 64);
	assert_true(build.pages > 40 * (FKT_INDEX_ENTRIES + 1));
	check_threads(&build, FKT_TIME_CYCLES);
	build_free(&build);
}

/* Nobody reads the text: an error, and no thread waits for ever. */
/* The next process event; false at the end. */
static bool next_process_event(struct fkt_reader *reader, struct fkt_event *event)
{
	int what;

	while ((what = fkt_next(reader, event)) > 0)
		if (what == FKT_EVENT && fkt_is_process_event(event->code))
			return true;
	assert_int_equal(what, 0);
	return false;
}

/* All process events up to some moment, and no more than that. */
static void test_only_processes(void **state)
{
	const uint64_t to = 1000000 + 300000;
	struct fkt_reader *some, *all;
	struct fkt_event one, other;
	struct fkt_trace *trace;
	unsigned int events = 0;
	struct build build;

	(void)state;
	for (unsigned int i = 0; i < 400000; i++) {
		if (!i) {
			build_begin(&build, 2, false);
			build_pages(&build);
		}
		if (i % 7001 == 0)
			build_fork(&build, i / 7001 % 2, 1000000 + i, 100 + i % 50, 2);
		build_event(&build, i % 2, 1000000 + i, 7, 0);
	}
	build_end(&build, 0, 0, 0);
	trace = open_build(&build);
	some = fkt_reader_new_processes(trace, to);
	all = fkt_reader_new_window(trace, 0, to);
	assert_true(some && all);
	while (next_process_event(all, &one)) {
		assert_true(next_process_event(some, &other));
		assert_int_equal(one.stamp, other.stamp);
		assert_int_equal(one.code, other.code);
		assert_int_equal(fkt_arg32(&one, 0), fkt_arg32(&other, 0));
		events++;
	}
	assert_false(next_process_event(some, &other));
	assert_int_equal(events, 43);
	/* Most pages have none. */
	assert_true(fkt_read_stats(some)->events < fkt_read_stats(all)->events / 4);
	fkt_reader_free(some);
	fkt_reader_free(all);
	fkt_close(trace);
	build_free(&build);
}

/* A CPU whose pages are open for most of the time. */
static void test_far_apart(void **state)
{
	struct build build;

	(void)state;
	build_random(&build, 2, 1500000, 3, false, 2000);
	assert_true(build.pages > 40 * (FKT_INDEX_ENTRIES + 1));
	check_threads(&build, FKT_TIME_CYCLES);
	build_free(&build);
}

static void test_error(void **state)
{
	struct fkt_listing listing = { .fd = -1, .threads = 4 };
	struct fkt_read_stats stats;
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_random(&build, 2, 200000, 1, false, 64);
	trace = open_build(&build);
	assert_int_equal(fkt_list(trace, &listing, &stats), -EBADF);
	fkt_close(trace);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),	       cmocka_unit_test(test_many_windows),
		cmocka_unit_test(test_only_processes), cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

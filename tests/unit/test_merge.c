// SPDX-License-Identifier: GPL-2.0-only
/* Lanes in the order of time; files and streams alike; losses and holes. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "read_trace.h"

/* A number that looks like chance and is the same in each run. */
static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Lanes at different speeds; imm counts the events of a lane. */
static void build_random(struct build *build, unsigned int lanes, unsigned int events,
			 uint32_t seed, bool marks)
{
	uint64_t stamp = 1000000;
	uint16_t count[BUILD_LANES_MAX] = { 0 };
	uint64_t words[3] = { 1, 2, 3 };

	build_begin(build, lanes, false);
	build_pages(build);
	for (unsigned int i = 0; i < events; i++) {
		unsigned int lane = next_random(&seed) % lanes;

		/* Lane 0 has few events, so that its pages come late. */
		if (!lane && next_random(&seed) % 64)
			lane = lanes - 1;
		stamp += next_random(&seed) % 3;
		build_slot(build, lane, (uint16_t)lane, stamp, 0x27, count[lane]++, words,
			   next_random(&seed) % 4);
		if (marks && next_random(&seed) % 200 == 0) {
			build_close(build, lane);
			build_mark(build);
		}
	}
	build_end(build, stamp, 0, 0);
}

static void check_order(const struct reading *reading, unsigned int lanes, unsigned int events)
{
	uint16_t count[BUILD_LANES_MAX] = { 0 };
	const struct fkt_event *event, *last = NULL;

	assert_int_equal(reading->n_events, events);
	assert_int_equal(reading->n_gaps, 0);
	for (size_t i = 0; i < events && i < READ_EVENTS_MAX; i++) {
		event = &reading->events[i];
		assert_true(event->lane < lanes);
		assert_int_equal(event->imm, count[event->lane]);
		count[event->lane]++;
		if (last)
			assert_true(last->stamp < event->stamp ||
				    (last->stamp == event->stamp && last->lane <= event->lane));
		last = event;
	}
}

static void check_random(unsigned int lanes, unsigned int events, uint32_t seed, bool marks)
{
	struct reading *file, *stream;
	struct build build;

	build_random(&build, lanes, events, seed, marks);
	file = read_trace(&build, READ_FILE);
	stream = read_trace(&build, READ_STREAM);
	check_order(file, lanes, events);
	check_order(stream, lanes, events);
	assert_string_equal(file->text, stream->text);
	assert_string_equal(file->warnings, "");
	assert_string_equal(stream->warnings, "");
	assert_true(file->complete);
	assert_true(stream->complete);
	assert_int_equal(file->stats.pages + file->stats.index_pages, build.pages);
	assert_int_equal(stream->stats.pages + stream->stats.index_pages, build.pages);
	read_free(file);
	read_free(stream);
	build_free(&build);
}

static void test_one_lane(void **state)
{
	(void)state;
	check_random(1, 4000, 1, false);
}

static void test_lanes(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		check_random(2, 2000, seed, false);
		check_random(5, 4000, seed, true);
	}
}

/* So many pages that there are several full indexes. */
static void test_many_pages(void **state)
{
	(void)state;
	check_random(3, 120000, 1, false);
	check_random(8, 120000, 2, true);
}

static void test_ties(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_begin(&build, 3, false);
	build_pages(&build);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int lane = 3; lane--;)
			build_event(&build, lane, 100 + i / 2, 0x27, (uint16_t)i);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 12);
	for (unsigned int i = 0; i < 12; i++) {
		assert_int_equal(reading->events[i].stamp, 100 + i / 6);
		assert_int_equal(reading->events[i].lane, i % 6 / 2);
	}
	read_free(reading);
	build_free(&build);
}

/* The latest stamps that there can be: nothing waits for later ones. */
static void test_last_stamps(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_pages(&build);
	for (unsigned int i = 0; i < 8; i++)
		build_event(&build, i % 2, UINT64_MAX - 3 + i / 2, 0x27, 0);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 8);
	assert_int_equal(reading->events[7].stamp, UINT64_MAX);
	read_free(reading);
	build_free(&build);
}

static void test_lost(void **state)
{
	for (enum read_how how = READ_FILE; how <= READ_STREAM; how++) {
		struct reading *reading;
		struct build build;

		(void)state;
		build_begin(&build, 2, false);
		build_pages(&build);
		build_event(&build, 0, 100, 0x27, 0);
		build_event(&build, 1, 101, 0x27, 0);
		build_close(&build, 1);
		build.lane[1].lost = 532;
		build_event(&build, 0, 102, 0x27, 0);
		build_event(&build, 1, 103, 0x27, 0);
		build_close(&build, 1);
		/* after the last page of a lane: only the totals say so */
		build.lane[1].lost = 542;
		build_end(&build, 0, 0, 0);
		reading = read_trace(&build, how);
		assert_int_equal(reading->n_events, 4);
		assert_int_equal(reading->n_gaps, 2);
		assert_int_equal(reading->stats.lost, 542);
		assert_string_equal(read_line(reading, 3),
				    "*** lane 1 (CPU 1): 532 events lost ***");
		assert_string_equal(read_line(reading, 5),
				    "*** lane 1 (CPU 1): 10 events lost ***");
		read_free(reading);
		build_free(&build);
	}
}

/* Take a page out of the file. */
static void cut_out(struct build *build, size_t offset)
{
	memmove(build->data + offset, build->data + offset + FKT_PAGE_BYTES,
		build->bytes - offset - FKT_PAGE_BYTES);
	build->bytes -= FKT_PAGE_BYTES;
}

static void test_missing_pages(void **state)
{
	struct reading *reading;
	struct build build;
	size_t page[3];

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	for (unsigned int i = 0; i < 3; i++) {
		build_event(&build, 0, 100 + i, 0x27, 0);
		page[i] = build_close(&build, 0);
	}
	cut_out(&build, page[1]);
	cut_out(&build, page[0]);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 1);
	assert_int_equal(reading->events[0].stamp, 102);
	assert_int_equal(reading->stats.missing, 2);
	assert_string_equal(read_line(reading, 0), "*** lane 0 (CPU 0): 2 pages missing ***");
	assert_false(reading->complete);
	read_free(reading);
	build_free(&build);
}

/* The same page twice: the second time it is skipped. */
static void test_sequence_goes_back(void **state)
{
	struct reading *reading;
	struct build build;
	size_t page;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	build_event(&build, 0, 101, 0x27, 0);
	page = build_close(&build, 0);
	build_append(&build, NULL, 0);
	build_event(&build, 0, 102, 0x27, 0);
	build_close(&build, 0);
	{
		uint8_t copy[FKT_PAGE_BYTES];

		memcpy(copy, build.data + page, sizeof(copy));
		build_append(&build, copy, sizeof(copy));
	}
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 3);
	assert_int_equal(reading->stats.damaged, 1);
	read_free(reading);
	build_free(&build);
}

/* One wrong sequence number does not cost the pages after it. */
static void test_sequence_jumps(void **state)
{
	struct fkt_page_header *header;
	struct reading *reading;
	struct build build;
	size_t page;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	page = build_close(&build, 0);
	header = (void *)(build.data + page);
	header->seq = htole64(1ull << 40);
	for (unsigned int i = 0; i < 3; i++) {
		build_event(&build, 0, 101 + i, 0x27, 0);
		build_close(&build, 0);
	}
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 4);
	read_free(reading);
	build_free(&build);
}

/* What an earlier recording left behind this one, on a partition. */
static void test_foreign_pages(void **state)
{
	for (enum read_how how = READ_FILE; how <= READ_STREAM; how++) {
		struct reading *reading;
		struct build build;

		(void)state;
		build_begin(&build, 1, false);
		build_pages(&build);
		build_event(&build, 0, 100, 0x27, 0);
		build_close(&build, 0);
		build.id[3] ^= 1;
		build_event(&build, 0, 101, 0x27, 0);
		build_close(&build, 0);
		build.id[3] ^= 1;
		build_event(&build, 0, 102, 0x27, 0);
		build_close(&build, 0);
		reading = read_trace(&build, how);
		assert_int_equal(reading->n_events, 1);
		assert_true(reading->stats.foreign);
		assert_false(reading->complete);
		read_free(reading);
		build_free(&build);
	}
}

/* With a damaged index, pages are found through their headers. */
static void test_damaged_index(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_random(&build, 3, 120000, 7, false);
	assert_true(build.pages > 2 * (FKT_INDEX_ENTRIES + 1));
	memset(build.data + build.data_offset + FKT_INDEX_ENTRIES * FKT_PAGE_BYTES, 0, 100);
	reading = read_trace(&build, READ_FILE);
	check_order(reading, 3, 120000);
	read_free(reading);
	build_free(&build);
}

/* Indexes that name the wrong lanes cost pages, which is said, and nothing worse. */
static void test_lying_index(void **state)
{
	struct reading *reading;
	struct fkt_index *index;
	struct build build;

	(void)state;
	build_random(&build, 3, 120000, 7, false);
	index = (void *)(build.data + build.data_offset + FKT_INDEX_ENTRIES * FKT_PAGE_BYTES +
			 sizeof(struct fkt_page_header));
	index->entry[5].lane = htole16((le16toh(index->entry[5].lane) + 1) % 3);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->stats.damaged, 1);
	assert_int_equal(reading->stats.missing, 1);
	assert_true(reading->n_events < 120000);
	assert_true(reading->n_events > 119000);
	read_free(reading);
	build_free(&build);
}

/* A stream that is still being written: what a mark says is complete comes out, then it waits. */
static void test_live_stream(void **state)
{
	char path[32], error[FKT_ERROR_BYTES];
	struct fkt_reader *reader;
	struct fkt_trace *trace;
	struct fkt_event event;
	struct build build;
	size_t marked;
	int ends[2];

	(void)state;
	build_begin(&build, 2, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	build_event(&build, 1, 101, 0x27, 0);
	build_event(&build, 0, 102, 0x27, 0);
	build_close(&build, 0);
	build_close(&build, 1);
	build_event(&build, 0, 103, 0x27, 0);
	build_event(&build, 1, 103, 0x27, 0);
	build_close(&build, 0);
	build_mark(&build);
	marked = build.bytes;
	build_end(&build, 0, 0, 0);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], build.data, marked), marked);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	reader = fkt_reader_new(trace);
	assert_non_null(reader);
	for (uint64_t stamp = 100; stamp < 103; stamp++) {
		assert_int_equal(fkt_next(reader, &event), FKT_EVENT);
		assert_int_equal(event.stamp, stamp);
	}
	assert_int_equal(fkt_next(reader, &event), FKT_WAIT);

	assert_int_equal(write(ends[1], build.data + marked, build.bytes - marked),
			 build.bytes - marked);
	close(ends[1]);
	for (unsigned int lane = 0; lane < 2; lane++) {
		assert_int_equal(fkt_next(reader, &event), FKT_EVENT);
		assert_int_equal(event.stamp, 103);
		assert_int_equal(event.lane, lane);
	}
	assert_int_equal(fkt_next(reader, &event), FKT_END);
	assert_int_equal(fkt_next(reader, &event), FKT_END);
	assert_true(fkt_is_complete(trace));
	fkt_reader_free(reader);
	fkt_close(trace);
	close(ends[0]);
	build_free(&build);
}

/*
 * A stream's events come once: who asks for more than its one reader gets nothing, and takes
 * nothing.
 */
static void test_one_reader(void **state)
{
	char path[32], error[FKT_ERROR_BYTES];
	struct fkt_reader *reader;
	uint64_t first, last;
	struct fkt_trace *trace;
	struct fkt_event event;
	struct build build;
	int ends[2];

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	build_close(&build, 0);
	build_event(&build, 0, 101, 0x27, 0);
	build_end(&build, 0, 0, 0);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], build.data, build.bytes), build.bytes);
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	assert_false(fkt_span(trace, &first, &last));
	assert_int_equal(fkt_event_stamp(trace, 0, &first), -ESPIPE);
	reader = fkt_reader_new(trace);
	assert_non_null(reader);
	assert_null(fkt_reader_new(trace));
	assert_false(fkt_span(trace, &first, &last));
	for (uint64_t stamp = 100; stamp < 102; stamp++) {
		assert_int_equal(fkt_next(reader, &event), FKT_EVENT);
		assert_int_equal(event.stamp, stamp);
	}
	assert_int_equal(fkt_next(reader, &event), FKT_END);
	fkt_reader_free(reader);
	fkt_close(trace);
	close(ends[0]);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_lane),       cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_many_pages),     cmocka_unit_test(test_ties),
		cmocka_unit_test(test_last_stamps),    cmocka_unit_test(test_lost),
		cmocka_unit_test(test_missing_pages),  cmocka_unit_test(test_sequence_goes_back),
		cmocka_unit_test(test_sequence_jumps), cmocka_unit_test(test_foreign_pages),
		cmocka_unit_test(test_damaged_index),  cmocka_unit_test(test_lying_index),
		cmocka_unit_test(test_live_stream),    cmocka_unit_test(test_one_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

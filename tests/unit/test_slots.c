// SPDX-License-Identifier: GPL-2.0-only
/* Slots to events: stamps, wide slots, CPUs, and slots that lie. */
#include "test.h"

#include "read/decode.h"
#include "read_trace.h"

static void write_word(struct build *build, size_t offset, uint64_t word)
{
	word = htole64(word);
	memcpy(build->data + offset, &word, sizeof(word));
}

static void test_extend(void **state)
{
	(void)state;
	assert_int_equal(fkt_extend(0x1000000, 0x10, 24), 0x1000010);
	/* the low bits ran over */
	assert_int_equal(fkt_extend(0x1fffff0, 0x10, 24), 0x2000010);
	/* a little back, also below the low bits' beginning */
	assert_int_equal(fkt_extend(0x2000010, 0xfffff0, 24), 0x1fffff0);
	/* the farthest forward and back */
	assert_int_equal(fkt_extend(0x1000000, 0x7fffff, 24), 0x17fffff);
	assert_int_equal(fkt_extend(0x1000000, 0x800000, 24), 0x0800000);
	/* 48 bits, with a CPU above them */
	assert_int_equal(fkt_extend(0xabcd000000000001, 0x0007000000000000, 48),
			 0xabcd000000000000);
	assert_int_equal(fkt_extend(0xabcdffffffffffff, 0x0000000000000005, 48),
			 0xabce000000000005);
}

static void test_fields(void **state)
{
	const uint64_t words[2] = { 0x1122334455667788, 0x99aabbccddeeff00 };
	struct fkt_event event;
	struct fkt_cursor cursor = { .lane = 3, .cpu = 2 };
	uint64_t page[3];

	(void)state;
	page[0] = htole64(2 | 0x12345ull << 5 | 0xbeefull << 24 | 0x000123ull << 40);
	page[1] = htole64(words[0]);
	page[2] = htole64(words[1]);
	cursor.pos = page;
	cursor.end = page + 3;
	cursor.stamp = 0x5000100;
	cursor.left = 1;
	assert_true(fkt_slot_decode(&cursor, &event));
	assert_int_equal(event.code, 0x12345);
	assert_int_equal(event.imm, 0xbeef);
	assert_int_equal(event.stamp, 0x5000123);
	assert_int_equal(event.words, 2);
	assert_int_equal(event.cpu, 2);
	assert_int_equal(event.lane, 3);
	assert_int_equal(fkt_arg64(&event, 0), words[0]);
	assert_int_equal(fkt_arg32(&event, 8), 0xddeeff00);
	assert_int_equal(fkt_arg16(&event, 6), 0x1122);
	fkt_slot_pass(&cursor, &event);
	assert_ptr_equal(cursor.pos, cursor.end);
	assert_false(fkt_slot_decode(&cursor, &event));

	/* A slot that reaches beyond the end is none. */
	cursor.left = 1;
	cursor.pos = page;
	cursor.end = page + 2;
	assert_false(fkt_slot_decode(&cursor, &event));
	/* Nor is a wide one without a word. */
	page[0] = htole64(FKT_SLOT_WIDE);
	cursor.end = page + 3;
	assert_false(fkt_slot_decode(&cursor, &event));
}

/* Stamps that go on, run over 24 bits, jump far and step back. */
static void test_stamps(void **state)
{
	static const uint64_t stamps[] = {
		0x0000000000fffff0, 0x0000000000ffffff, 0x0000000001000000, 0x00000000017fffff,
		0x0000000001800000, 0x0000000001000000, 0x0000000001000000, 0x0000123456789abc,
		0x0000123456789abd, 0x0000800000000000, 0x0000fffffffffff0, 0x0001000000000010,
		0x0001000000000000,
	};
	struct reading *reading;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++)
		build_event(&build, 0, stamps[i], 0x27, (uint16_t)i);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, sizeof(stamps) / sizeof(stamps[0]));
	for (size_t i = 0; i < reading->n_events; i++) {
		assert_int_equal(reading->events[i].stamp, stamps[i]);
		assert_int_equal(reading->events[i].imm, i);
	}
	assert_int_equal(reading->n_gaps, 0);
	read_free(reading);
	build_free(&build);
}

/* A shared lane: the CPU changes with wide slots, and each CPU has its own current thread. */
static void test_shared_lane(void **state)
{
	struct reading *reading;
	struct build build;
	uint64_t word = 10 | 11ull << 32;

	(void)state;
	build_begin(&build, 1, true);
	build_pages(&build);
	build.lane[0].pid = 10;
	build_slot(&build, 0, 0, 100, 0x27, 0, NULL, 0);
	build_slot(&build, 0, 3, 101, 0x27, 1, NULL, 0);
	build_slot(&build, 0, 3, 102, 0x27, 2, NULL, 0);
	build_slot(&build, 0, 0, 103, FKT_CODE_SWITCH, 0, &word, 1);
	word = 20 | 21ull << 32;
	build_slot(&build, 0, 3, 104, FKT_CODE_SWITCH, 0, &word, 1);
	build_slot(&build, 0, 0, 105, 0x27, 5, NULL, 0);
	build_slot(&build, 0, 3, 106, 0x27, 6, NULL, 0);
	/* A page after a loss: only the thread in its header is known. */
	build_close(&build, 0);
	build.lane[0].lost = 7;
	build.lane[0].pid = 21;
	build_slot(&build, 0, 3, 107, 0x27, 7, NULL, 0);
	build_slot(&build, 0, 0, 108, 0x27, 8, NULL, 0);
	build_end(&build, 0, 0, 0);

	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 9);
	static const uint16_t cpus[] = { 0, 3, 3, 0, 3, 0, 3, 3, 0 };
	static const uint32_t pids[] = { 10, FKT_PID_UNKNOWN, FKT_PID_UNKNOWN, 10, 20, 11, 21,
					 21, FKT_PID_UNKNOWN };
	for (size_t i = 0; i < reading->n_events; i++) {
		assert_int_equal(reading->events[i].stamp, 100 + i);
		assert_int_equal(reading->events[i].cpu, cpus[i]);
		assert_int_equal(reading->events[i].pid, pids[i]);
	}
	assert_int_equal(reading->n_gaps, 1);
	assert_int_equal(reading->gaps[0].kind, FKT_GAP_LOST);
	assert_int_equal(reading->gaps[0].count, 7);
	read_free(reading);
	build_free(&build);
}

/* What could not be written is told at the end, once a lane, with the moment it is behind. */
static void test_discarded(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_begin(&build, 3, false);
	build_pages(&build);
	build_slot(&build, 0, 0, 100, 0x27, 0, NULL, 0);
	build_slot(&build, 1, 1, 130, 0x27, 1, NULL, 0);
	build.lane[0].discarded = 7;
	build.lane[2].discarded = 1;
	build_end(&build, 0, 0, 0);

	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 2);
	assert_int_equal(reading->n_gaps, 2);
	assert_int_equal(reading->gaps[0].kind, FKT_GAP_DISCARDED);
	assert_int_equal(reading->gaps[0].lane, 0);
	assert_int_equal(reading->gaps[0].count, 7);
	assert_int_equal(reading->gaps[0].after, 100);
	/* A lane without a page. */
	assert_int_equal(reading->gaps[1].lane, 2);
	assert_int_equal(reading->gaps[1].cpu, 2);
	assert_int_equal(reading->gaps[1].count, 1);
	assert_int_equal(reading->gaps[1].after, 0);
	read_free(reading);
	build_free(&build);
}

/* In a lane of one CPU, what a wide slot says of the CPU does not count. */
static void test_wide_cpu_of_private_lane(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_slot(&build, 0, 0, 100, 0x27, 0, NULL, 0);
	build_slot(&build, 0, 9, 101, 0x27, 0, NULL, 0);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 2);
	assert_int_equal(reading->events[1].cpu, 0);
	read_free(reading);
	build_free(&build);
}

/* A slot that runs past the used bytes ends its page; the next page is read. */
static void test_slot_past_used(void **state)
{
	struct reading *reading;
	struct build build;
	size_t page;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	build_event(&build, 0, 101, 0x27, 1);
	page = build_close(&build, 0);
	write_word(&build, page + sizeof(struct fkt_page_header) + 8,
		   5 | 0x27ull << FKT_SLOT_CODE_SHIFT | 101ull << FKT_SLOT_STAMP_SHIFT);
	build_event(&build, 0, 102, 0x27, 2);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 2);
	assert_int_equal(reading->events[1].stamp, 102);
	assert_int_equal(reading->n_gaps, 1);
	assert_int_equal(reading->gaps[0].kind, FKT_GAP_DAMAGED);
	assert_int_equal(reading->stats.damaged, 1);
	assert_string_equal(read_line(reading, 1), "*** lane 0 (CPU 0): 1 page damaged ***");
	read_free(reading);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extend),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_shared_lane),
		cmocka_unit_test(test_discarded),
		cmocka_unit_test(test_wide_cpu_of_private_lane),
		cmocka_unit_test(test_slot_past_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

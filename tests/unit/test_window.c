// SPDX-License-Identifier: GPL-2.0-only
/* Parts of a trace: cut anywhere, they are together what the whole is. */
#include "test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read_trace.h"

/**
 * struct list - what readers delivered, a line for each event and gap
 */
struct list {
	char *text;
	size_t bytes;
	FILE *file;
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Lanes at different speeds, with switches, losses and now and then a page that is not there. */
static void build_random(struct build *build, unsigned int lanes, bool shared, unsigned int events,
			 uint32_t seed, bool holes)
{
	uint64_t stamp = 1000000, words[15] = { 0 };
	uint16_t count = 0;

	build_begin(build, lanes, shared);
	build_pages(build);
	for (unsigned int i = 0; i < events; i++) {
		unsigned int lane = next_random(&seed) % lanes;
		uint16_t cpu = (uint16_t)(shared ? next_random(&seed) % 4 : lane);

		if (!lane && next_random(&seed) % 64)
			lane = lanes - 1;
		cpu = shared ? cpu : (uint16_t)lane;
		stamp += next_random(&seed) % 3;
		words[0] = next_random(&seed) % 8 | (uint64_t)(next_random(&seed) % 8) << 32;
		if (next_random(&seed) % 20 == 0)
			build_slot(build, lane, cpu, stamp, FKT_CODE_SWITCH, 0, words, 1);
		else
			build_slot(build, lane, cpu, stamp, 0x27, count++, words,
				   next_random(&seed) % 15);
		if (next_random(&seed) % 500 == 0)
			build->lane[lane].lost += 3;
		if (next_random(&seed) % 1000 == 0) {
			build_close(build, lane);
			build->lane[lane].seq += holes;
			build_mark(build);
		}
	}
	for (unsigned int i = 0; i < lanes; i++) {
		build_close(build, i);
		build->lane[i].lost += 7;
	}
	build_end(build, stamp, 0, 0);
}

static struct fkt_trace *open_build(const struct build *build)
{
	char path[64], error[FKT_ERROR_BYTES];
	int fd = memfd_create("trace", 0);
	struct fkt_trace *trace;

	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	close(fd);
	return trace;
}

static void list_window(struct list *list, struct fkt_trace *trace, uint64_t from, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, from, to);
	struct fkt_event event;
	int what;

	assert_non_null(reader);
	if (!list->file)
		list->file = open_memstream(&list->text, &list->bytes);
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			assert_true(event.stamp >= from);
			assert_true(event.stamp < to);
			fprintf(list->file, "%lu %u %u %u %d %u\n", event.stamp, event.lane,
				event.cpu, event.code, (int)event.pid, event.imm);
		} else {
			fprintf(list->file, "gap %d %u %lu\n", fkt_gap(reader)->kind,
				fkt_gap(reader)->lane, fkt_gap(reader)->count);
		}
	}
	assert_int_equal(what, FKT_END);
	fkt_reader_free(reader);
}

static char *end_list(struct list *list)
{
	fclose(list->file);
	return list->text;
}

/* Shows the first line that differs, of megabytes. */
static void assert_same(const char *whole, const char *parts)
{
	size_t line = 0, i;

	for (i = 0; whole[i] && whole[i] == parts[i]; i++)
		if (whole[i] == '\n')
			line = i + 1;
	if (whole[i] != parts[i])
		fail_msg("%.60s instead of %.60s", parts + line, whole + line);
}

static void check_cuts(const struct build *build, uint32_t seed, unsigned int cuts)
{
	struct list whole = { 0 }, parts = { 0 };
	struct fkt_trace *trace = open_build(build);
	uint64_t first, last, at, next;

	list_window(&whole, trace, 0, UINT64_MAX);
	assert_true(fkt_span(trace, &first, &last));
	for (at = 0; cuts--; at = next) {
		next = (at ? at : first) + next_random(&seed) % ((last - first) / 4);
		list_window(&parts, trace, at, next);
	}
	list_window(&parts, trace, at, UINT64_MAX);
	assert_same(end_list(&whole), end_list(&parts));
	free(whole.text);
	free(parts.text);
	fkt_close(trace);
}

static void test_cuts(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 24; seed++) {
		build_random(&build, 1 + seed % 5, false, 60000, seed, seed % 2);
		check_cuts(&build, seed, 6);
		build_free(&build);
	}
}

/* Who runs on the other CPUs is looked for before the window. */
static void test_shared(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 4; seed++) {
		build_random(&build, 1, true, 150000, seed, false);
		check_cuts(&build, seed, 4);
		build_free(&build);
	}
}

/* The index pages' places in the built trace. */
static struct fkt_index *index_of(struct build *build, unsigned int block)
{
	uint64_t page = block * (FKT_INDEX_ENTRIES + 1) + FKT_INDEX_ENTRIES;
	uint8_t *data = build->data + build->data_offset + page * FKT_PAGE_BYTES;

	return (void *)(data + sizeof(struct fkt_page_header));
}

/* Indexes that are not there, or lie: slower, but the same. */
static void test_bad_indexes(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 16; seed++) {
		build_random(&build, 3, false, 100000, seed, false);
		assert_true(build.pages > 5 * (FKT_INDEX_ENTRIES + 1));
		switch (seed % 4) {
		case 0:
			memset((char *)index_of(&build, 2) - sizeof(struct fkt_page_header), 0,
			       FKT_PAGE_BYTES);
			break;
		case 1:
			index_of(&build, 2)->max_end = 0;
			break;
		case 2:
			index_of(&build, 1)->max_end = htole64(UINT64_MAX);
			break;
		case 3:
			index_of(&build, 3)->events_before = htole64(UINT64_MAX);
			break;
		}
		check_cuts(&build, seed, 5);
		build_free(&build);
	}
}

/* Long before the window there is a hole: it is none of the window's business. */
static void test_outside(void **state)
{
	struct fkt_trace *trace;
	struct list list = { 0 };
	struct build build;
	uint64_t first, last;

	(void)state;
	build_random(&build, 2, false, 30000, 5, true);
	trace = open_build(&build);
	assert_true(fkt_span(trace, &first, &last));
	list_window(&list, trace, 0, first);
	list_window(&list, trace, last / 2, last / 2);
	list_window(&list, trace, last, first);
	assert_string_equal(end_list(&list), "");
	free(list.text);
	fkt_close(trace);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_bad_indexes),
		cmocka_unit_test(test_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

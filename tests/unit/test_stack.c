// SPDX-License-Identifier: GPL-2.0-only
/* The stacks of events: once in a page, in parts of a trace, and where all is wrong. */
#include "test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_trace.h"
#include "read/extract.h"
#include "read/reader.h"

#define POINT 0x20u
#define BASE  0xffffffff81000000ull

static void put_event(struct build *build, uint64_t stamp, uint16_t imm)
{
	build_event(build, 0, stamp, POINT, imm);
}

/* Where the next slot stands in its page, in words. */
static uint16_t place(const struct build *build)
{
	struct fkt_page_header header;

	if (!build->lane[0].open)
		return sizeof(header) / 8;
	memcpy(&header, build->lane[0].page, sizeof(header));
	return (uint16_t)(header.used / 8);
}

/* A slot of frames BASE + first, BASE + first + 1, … */
static void put_frames(struct build *build, uint64_t stamp, uint32_t first, unsigned int count,
		       uint16_t flags)
{
	uint64_t words[FKT_STACK_SLOT_WORDS] = { 0 };

	for (unsigned int i = 0; i < count; i++)
		words[i / 2] |= ((BASE + first + i) & UINT32_MAX) << (i % 2 ? 32 : 0);
	build_slot(build, 0, 0, stamp, FKT_CODE_STACK, (uint16_t)(count | flags), words,
		   (count + 1) / 2);
}

static void put_again(struct build *build, uint64_t stamp, uint16_t at)
{
	build_slot(build, 0, 0, stamp, FKT_CODE_STACK, at, NULL, 0);
}

static int to_file(const struct build *build)
{
	int fd = memfd_create("trace", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	return fd;
}

static struct fkt_trace *open_fd(int fd)
{
	char path[64], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	return trace;
}

/* What stacks events have: "imm:first+count" each, with ~ where it is cut, "imm:?" not recorded. */
static void tell(int fd, char *text, size_t room)
{
	struct fkt_trace *trace = open_fd(fd);
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_stack stack = { 0 };
	struct fkt_event event;
	bool there = false;
	char *to = text;
	int what;

	assert_non_null(reader);
	*text = '\0';
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what != FKT_EVENT)
			continue;
		if (event.code == FKT_CODE_STACK) {
			fkt_stack_event(reader, &event, &stack);
			there = true;
			continue;
		}
		to += snprintf(to, room - (size_t)(to - text), "%s%u:", to == text ? "" : " ",
			       event.imm);
		if (there && stack.known)
			to += snprintf(to, room - (size_t)(to - text), "%u+%u%s",
				       (unsigned int)(stack.frame[0] - BASE), stack.count,
				       stack.cut ? "~" : "");
		else
			to += snprintf(to, room - (size_t)(to - text), "%s", there ? "?" : "-");
		for (unsigned int i = 0; there && i < stack.count; i++)
			assert_int_equal(stack.frame[i], stack.frame[0] + i);
		there = false;
	}
	assert_int_equal(what, FKT_END);
	fkt_reader_free(reader);
	fkt_close(trace);
}

static void assert_tells(struct build *build, const char *expected)
{
	char text[16384];
	int fd;

	build_end(build, 1000000, 1000000, 0);
	fd = to_file(build);
	tell(fd, text, sizeof(text));
	assert_string_equal(text, expected);
	close(fd);
	build_free(build);
}

static void begin(struct build *build)
{
	build_begin(build, 1, false);
	build_clock(build, 0, 0, 0);
	build_pages(build);
}

static void test_once(void **state)
{
	struct build build;
	uint16_t first, second;

	(void)state;
	begin(&build);
	first = place(&build);
	put_frames(&build, 100, 10, 5, 0);
	put_event(&build, 100, 1);
	put_event(&build, 110, 2);
	second = place(&build);
	put_frames(&build, 120, 20, 28, FKT_STACK_MORE);
	put_frames(&build, 120, 48, 28, FKT_STACK_ON | FKT_STACK_MORE);
	put_frames(&build, 120, 76, 3, FKT_STACK_ON | FKT_STACK_CUT);
	put_event(&build, 120, 3);
	put_again(&build, 130, first);
	put_event(&build, 130, 4);
	put_again(&build, 140, second);
	put_event(&build, 140, 5);
	put_again(&build, 150, 0);
	put_event(&build, 150, 6);
	assert_tells(&build, "1:10+5 2:- 3:20+59~ 4:10+5 5:20+59~ 6:?");
}

/* Nothing of it is believed. */
static void test_wrong(void **state)
{
	struct build build;
	uint16_t first, event, on;

	(void)state;
	begin(&build);
	first = place(&build);
	put_frames(&build, 100, 10, 6, 0);
	event = place(&build);
	put_event(&build, 100, 1);
	/* More frames than words, or none. */
	put_frames(&build, 110, 20, 4, 5);
	put_event(&build, 110, 2);
	put_frames(&build, 120, 20, 4, 0x1000);
	put_event(&build, 120, 3);
	/* An event, its middle, this one, one behind it, outside of the page, in its header. */
	put_again(&build, 130, event);
	put_event(&build, 130, 4);
	put_again(&build, 140, (uint16_t)(first + 1));
	put_event(&build, 140, 5);
	put_again(&build, 150, place(&build));
	put_event(&build, 150, 6);
	put_again(&build, 160, (uint16_t)(place(&build) + 3));
	put_event(&build, 160, 7);
	put_again(&build, 170, 0xffff);
	put_event(&build, 170, 8);
	put_again(&build, 180, 1);
	put_event(&build, 180, 9);
	/* What goes on with nothing; to which nothing comes; more than there can be. */
	on = place(&build);
	put_frames(&build, 190, 30, 4, FKT_STACK_ON);
	put_event(&build, 190, 10);
	put_again(&build, 200, on);
	put_event(&build, 200, 11);
	on = place(&build);
	put_frames(&build, 210, 40, 4, FKT_STACK_MORE);
	put_event(&build, 210, 12);
	put_again(&build, 220, on);
	put_event(&build, 220, 13);
	put_frames(&build, 230, 0, 28, FKT_STACK_MORE);
	for (unsigned int i = 1; i < 5; i++)
		put_frames(&build, 230, 28 * i, 28, FKT_STACK_ON | FKT_STACK_MORE);
	put_event(&build, 230, 14);
	put_again(&build, 240, first);
	put_event(&build, 240, 15);
	assert_tells(&build, "1:10+6 2:? 3:? 4:? 5:? 6:? 7:? 8:? 9:? 10:? 11:? 12:40+4 13:? 14:? "
			     "15:10+6");
}

#define EVENTS 3000
#define STACKS 7

/* Many events with few stacks, over several pages, as the module writes them. */
static void build_many(struct build *build)
{
	uint16_t at[STACKS] = { 0 }, begin_of_page = 0;

	begin(build);
	for (unsigned int i = 0; i < EVENTS; i++) {
		const uint64_t stamp = 1000 + 10 * i;
		const unsigned int which = i * i % STACKS, count = 1 + 5 * which;
		const bool new_page = place(build) < begin_of_page ||
				      place(build) + 40 > FKT_PAGE_BYTES / 8;

		if (i % 50 == 49)
			build_switch(build, 0, stamp - 1, 0, i / 50 % 2, 1 - i / 50 % 2);
		if (new_page) {
			build_close(build, 0);
			memset(at, 0, sizeof(at));
		}
		begin_of_page = place(build);
		if (at[which]) {
			put_again(build, stamp, at[which]);
		} else {
			at[which] = place(build);
			if (count > FKT_STACK_SLOT_FRAMES) {
				put_frames(build, stamp, 100 * which, FKT_STACK_SLOT_FRAMES,
					   FKT_STACK_MORE);
				put_frames(build, stamp, 100 * which + FKT_STACK_SLOT_FRAMES,
					   count - FKT_STACK_SLOT_FRAMES, FKT_STACK_ON);
			} else {
				put_frames(build, stamp, 100 * which, count, 0);
			}
		}
		put_event(build, stamp, (uint16_t)i);
	}
	build_end(build, 1000000, 1000000, 0);
}

/* All events of a part have the stacks that they had. */
static void assert_part(int whole, struct fkt_extract extract)
{
	struct fkt_trace *trace = open_fd(whole);
	static char text[EVENTS * 32];
	unsigned int number, first, count, n = 0;
	int fd = memfd_create("part", 0), used;

	assert_true(fd >= 0);
	assert_int_equal(fkt_extract(trace, &extract, fd), 0);
	fkt_close(trace);
	tell(fd, text, sizeof(text));
	for (const char *at = text; *at; at += used, n++) {
		/* A switch has none. */
		if (sscanf(at, "%u:-%n", &number, &used) == 1 && at[used - 1] == '-')
			goto next;
		assert_int_equal(sscanf(at, "%u:%u+%u%n", &number, &first, &count, &used), 3);
		assert_int_equal(first, 100 * (number * number % STACKS));
		assert_int_equal(count, 1 + 5 * (number * number % STACKS));
next:
		used += at[used] == ' ';
	}
	assert_true(n > 10);
	close(fd);
}

static void test_parts(void **state)
{
	struct build build;
	int fd;

	(void)state;
	build_many(&build);
	fd = to_file(&build);
	assert_part(fd, (struct fkt_extract){ .to = UINT64_MAX });
	for (uint64_t from = 1000; from < 20000; from += 770)
		assert_part(fd, (struct fkt_extract){ .from = from, .to = from + 5000 });
	assert_part(fd, (struct fkt_extract){ .to = UINT64_MAX, .by_pid = true, .pid = 1 });
	assert_part(fd,
		    (struct fkt_extract){ .from = 9990, .to = 20000, .by_pid = true, .pid = 1 });
	close(fd);
	build_free(&build);
}

/* What is damaged anyhow is read to its end, and extracted from. */
static void test_noise(void **state)
{
	struct build build;
	uint32_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		struct fkt_extract extract = { .from = 5000, .to = 25000 };
		struct fkt_trace *trace;
		int fd, part;

		build_many(&build);
		for (unsigned int i = 0; i < 60; i++) {
			seed = seed * 1664525 + 1013904223;
			/* Immediates and what stands beside them. */
			build.data[build.data_offset + 72 +
				   (seed >> 4) % (build.tail_offset - build.data_offset - 72)] ^=
				(uint8_t)(1u << (seed >> 1) % 8);
		}
		fd = to_file(&build);
		trace = open_fd(fd);
		{
			struct fkt_reader *reader = fkt_reader_new(trace);
			struct fkt_stack stack = { 0 };
			struct fkt_event event;
			int what;

			while ((what = fkt_next(reader, &event)) > 0)
				if (what == FKT_EVENT && event.code == FKT_CODE_STACK) {
					fkt_stack_event(reader, &event, &stack);
					assert_true(stack.count <= FKT_STACK_FRAMES_MAX);
				}
			fkt_reader_free(reader);
		}
		part = memfd_create("part", 0);
		fkt_extract(trace, &extract, part);
		extract.by_pid = true;
		fkt_extract(trace, &extract, part);
		fkt_close(trace);
		close(part);
		close(fd);
		build_free(&build);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The file as a whole: headers, sections, and traces cut and damaged in every place. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read_trace.h"

/* A small trace with a bit of everything. */
static void build_small(struct build *build)
{
	static const char info[] = "command=find /usr\0tsc_khz=2000000\0release=6.1.0";
	static const char symbols[] =
		"ffffffff81000000 T first\nffffffff81000100 t second\t[mod]\n";
	uint64_t fault[2] = { 0x1234, 0xffffffff81000123 };
	uint64_t args[4] = { 0xffffff9c, 0x7ffe00001000, 0, 0 };

	build_begin(build, 2, false);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_clock(build, 1000, 500, 1700000000000000000);
	build_text(build, FKT_SECTION_IRQS, "14 ide0\n");
	build_section(build, FKT_SECTION_SYMBOLS, symbols, sizeof(symbols) - 1, true);
	build_text(build, FKT_SECTION_PROCESSES, "730 730 1 find\n");
	build_text(build, FKT_SECTION_CODES,
		   "0x1100 1 point 0 process switch_to @state:state\n"
		   "0x7000 2 entry 0x7002 own mine a:u32 b:str\n");
	build_text(build, FKT_SECTION_SYSCALLS, "x86_64 257 openat dfd,filename,flags,mode\n");
	build_pages(build);
	build->lane[0].pid = 730;
	build_slot(build, 0, 0, 2000, 257, 0, args, 4);
	build_event(build, 1, 2010, FKT_CODE_IRQ_ENTRY, 14);
	build_slot(build, 0, 0, 2020, FKT_CODE_PAGE_FAULT_KERNEL, 2, fault, 2);
	build_close(build, 0);
	build_event(build, 1, 2030, FKT_CODE_IRQ_EXIT, 14);
	build_event(build, 0, 2040, 0x400 + 257, 3);
	build_fork(build, 0, 2050, 731, 730);
	build_close(build, 1);
	build_mark(build);
	build_name(build, 0, 2060, FKT_CODE_EXEC, 731, "ls");
	build_slot(build, 0, 0, 2070, 0x7000, 0, args, 2);
	build->lane[1].lost = 3;
	build_event(build, 1, 1ull << 30, 0x12345, 1);
	build_switch(build, 0, 3000, 1, 730, 731);
	build_end(build, 1ull << 31, 1ull << 30, 1700000001000000000);
}

static struct reading *read_small(const struct build *build, size_t bytes, enum read_how how)
{
	return read_bytes(build, bytes, how, false);
}

/* Events in the pages that lie whole in the first bytes. */
static size_t events_within(const struct build *build, size_t bytes)
{
	const struct fkt_page_header *header;
	size_t events = 0;

	for (size_t offset = build->data_offset; offset + FKT_PAGE_BYTES <= bytes;
	     offset += FKT_PAGE_BYTES) {
		header = (const void *)(build->data + offset);
		if (le32toh(header->magic) != FKT_PAGE_MAGIC)
			break;
		if (le16toh(header->lane) != FKT_LANE_INDEX)
			events += le32toh(header->events);
	}
	return events;
}

static void test_small(void **state)
{
	struct reading *file, *stream;
	struct build build;

	(void)state;
	build_small(&build);
	file = read_trace(&build, READ_FILE);
	stream = read_trace(&build, READ_STREAM);
	assert_string_equal(file->warnings, "");
	assert_int_equal(file->n_events, 10);
	assert_true(file->complete && stream->complete);
	assert_string_equal(file->text, stream->text);
	assert_string_equal(read_line(file, 0),
			    "0101  sys_openat               dfd=-100 filename=0x7ffe00001000 "
			    "flags=0 mode=0");
	assert_string_equal(read_line(file, 1), "1000  irq                      14 ide0");
	assert_string_equal(read_line(file, 2),
			    "1006  page_fault_kernel        error=2 address=0x1234 "
			    "ip=second+0x23 [mod]");
	read_free(file);
	read_free(stream);
	build_free(&build);
}

/*
 * Codes of modules that came while recording are in the tail: a stream's reader gets them too late.
 */
static void test_late_codes(void **state)
{
	struct reading *file, *stream;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_CODES, "0x70000 1 point 0 modules early #words\n");
	build_pages(&build);
	build_event(&build, 0, 1000, 0x70000, 0);
	build_event(&build, 0, 1001, 0x70001, 0);
	build_tail(&build);
	build_text(&build, FKT_SECTION_CODES, "0x70001 1 point 0 modules late #words\n");
	build_text(&build, FKT_SECTION_IRQS, "14 ide0\n");
	build_end(&build, 0, 0, 0);
	file = read_trace(&build, READ_FILE);
	stream = read_trace(&build, READ_STREAM);
	assert_string_equal(file->warnings, "");
	assert_string_equal(stream->warnings, "");
	assert_string_equal(read_line(file, 0), "70000  early");
	assert_string_equal(read_line(file, 1), "70001  late");
	assert_string_equal(read_line(stream, 0), "70000  early");
	assert_string_equal(read_line(stream, 1), "70001  code_458753");
	read_free(file);
	read_free(stream);
	build_free(&build);
}

static void test_cut_anywhere(void **state)
{
	struct reading *reading;
	struct build build;
	size_t end;

	(void)state;
	build_small(&build);
	/* The footer is only needed to find the tail; the tail's end is what makes it whole. */
	end = build.bytes - sizeof(struct fkt_footer);
	for (size_t bytes = 0; bytes <= build.bytes; bytes++) {
		for (enum read_how how = READ_FILE; how <= READ_STREAM; how++) {
			/* Streams are slow to set up: only near the borders, and here and there. */
			if (how == READ_STREAM && bytes % 61 &&
			    (bytes + 64) % FKT_PAGE_BYTES > 128 && bytes + 300 < build.bytes)
				continue;
			reading = read_small(&build, bytes, how);
			assert_int_equal(reading->opened, bytes >= sizeof(struct fkt_file_header));
			assert_int_equal(reading->complete, bytes >= end);
			if (!reading->opened)
				assert_true(strlen(reading->error) > 0);
			else
				assert_int_equal(reading->n_events, events_within(&build, bytes));
			read_free(reading);
		}
	}
	build_free(&build);
}

/* Whatever byte is wrong, there is an answer. */
static void test_flipped_anywhere(void **state)
{
	static const uint8_t flips[] = { 0xff, 0x01, 0x80, 0x08 };
	struct reading *reading;
	struct build build;

	(void)state;
	build_small(&build);
	for (size_t at = 0; at < build.bytes; at++) {
		uint8_t flip = flips[at % sizeof(flips)];

		/* Zeros that fill up a page are as good as any others. */
		if (!build.data[at] && at % 7)
			continue;
		for (unsigned int i = 0; i < 2; i++) {
			uint8_t xor = i ? flip : 0x10;

			build.data[at] ^= xor;
			reading = read_bytes(&build, build.bytes, READ_FILE, at % 4 == 0);
			assert_true(reading->opened || *reading->error);
			assert_true(reading->n_events <= 12);
			read_free(reading);
			reading = read_bytes(&build, build.bytes, READ_STREAM, at % 16 == 0);
			assert_true(reading->opened || *reading->error);
			assert_true(reading->n_events <= 12);
			read_free(reading);
			build.data[at] ^= xor;
		}
	}
	build_free(&build);
}

static void expect_error(const struct build *build, size_t bytes, const char *sentence)
{
	for (enum read_how how = READ_FILE; how <= READ_STREAM; how++) {
		struct reading *reading = read_small(build, bytes, how);

		assert_false(reading->opened);
		if (!strstr(reading->error, sentence))
			fail_msg("\"%s\" is not in \"%s\"", sentence, reading->error);
		read_free(reading);
	}
}

static void test_errors(void **state)
{
	char error[FKT_ERROR_BYTES];
	struct fkt_file_header *header;
	struct build build;

	(void)state;
	build_small(&build);
	header = (void *)build.data;
	expect_error(&build, 0, "is empty");
	expect_error(&build, 20, "cut off in its header");
	header->version_major = htole16(FKT_VERSION_MAJOR + 1);
	expect_error(&build, build.bytes, "format version 2.0");
	header->version_major = htole16(FKT_VERSION_MAJOR);
	header->lanes = htole32(1u << 30);
	expect_error(&build, build.bytes, "damaged header");
	header->lanes = htole32(2);
	header->data_offset = htole64(4095);
	expect_error(&build, build.bytes, "damaged header");
	header->magic[0] = 'X';
	expect_error(&build, build.bytes, "bad magic");
	build_free(&build);

	assert_null(fkt_open("/", NULL, NULL, error));
	assert_non_null(strstr(error, "directory"));
	assert_null(fkt_open("/nowhere/trace_file", NULL, NULL, error));
	assert_non_null(strstr(error, "No such file"));
}

/* Sections that claim too much, and ones that nobody knows. */
static void test_sections(void **state)
{
	struct fkt_section_header *section;
	struct reading *reading;
	struct build build;
	size_t at;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, 4711, "from the future");
	at = build.bytes;
	build_section(&build, FKT_SECTION_INFO, "a=1", 4, true);
	build_text(&build, FKT_SECTION_PROCESSES, "5 5 1 five\n");
	build_pages(&build);
	build.lane[0].pid = 5;
	build_event(&build, 0, 100, 0x27, 0);
	build_end(&build, 0, 0, 0);

	reading = read_trace(&build, READ_FILE);
	assert_string_equal(reading->warnings, "");
	assert_non_null(strstr(reading->text, "five"));
	read_free(reading);

	section = (void *)(build.data + at);
	section->raw_bytes = htole64(1ull << 40);
	reading = read_trace(&build, READ_FILE);
	assert_non_null(strstr(reading->warnings, "claims to be of"));
	assert_non_null(strstr(reading->text, "five"));
	read_free(reading);

	section->raw_bytes = htole64(3);
	reading = read_trace(&build, READ_FILE);
	assert_non_null(strstr(reading->warnings, "damaged: not used"));
	assert_non_null(strstr(reading->text, "five"));
	read_free(reading);

	section->raw_bytes = htole64(4);
	section->stored_bytes = htole64(1ull << 63);
	reading = read_trace(&build, READ_STREAM);
	assert_non_null(strstr(reading->warnings, "damaged or cut off"));
	assert_int_equal(reading->n_events, 1);
	read_free(reading);
	build_free(&build);
}

/* A gigabyte of nothing, compressed into little: memory is only taken up to the limit. */
static void test_bomb(void **state)
{
	struct fkt_section_header *section;
	struct reading *reading;
	struct build build;
	size_t bytes = 80 << 20, at;
	void *zeros = calloc(1, bytes);
	uint64_t fault[2] = { 0, 0xffffffff81000123 };

	(void)state;
	assert_non_null(zeros);
	build_begin(&build, 1, false);
	at = build.bytes;
	build_section(&build, FKT_SECTION_SYMBOLS, zeros, bytes, true);
	free(zeros);
	section = (void *)(build.data + at);
	build_pages(&build);
	build_slot(&build, 0, 0, 100, FKT_CODE_PAGE_FAULT_KERNEL, 0, fault, 2);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_non_null(strstr(reading->warnings, "claims to be of"));
	assert_int_equal(reading->n_events, 1);
	read_free(reading);

	section = (void *)(build.data + at);
	section->raw_bytes = htole64(60 << 20);
	reading = read_trace(&build, READ_FILE);
	assert_non_null(strstr(reading->warnings, "symbols are damaged"));
	assert_int_equal(reading->n_events, 1);
	read_free(reading);
	build_free(&build);
}

/* Many that are not too large by themselves, and of kilobytes in the file: they take no minutes. */
static void test_bombs(void **state)
{
	struct reading *reading;
	struct build build;
	size_t bytes = 60 << 20, at, section;
	void *zeros = calloc(1, bytes);

	(void)state;
	assert_non_null(zeros);
	build_begin(&build, 1, false);
	at = build.bytes;
	build_section(&build, FKT_SECTION_IRQS, zeros, bytes, true);
	free(zeros);
	section = build.bytes - at;
	build.data = realloc(build.data, build.bytes + 200 * section);
	assert_non_null(build.data);
	build.room = build.bytes + 200 * section;
	for (unsigned int i = 0; i < 200; i++, build.bytes += section)
		memcpy(build.data + build.bytes, build.data + at, section);
	build_pages(&build);
	build_event(&build, 0, 1000, 0x70000, 0);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_non_null(strstr(reading->warnings, "more than 256 MB together"));
	assert_int_equal(reading->n_events, 1);
	read_free(reading);
	build_free(&build);
}

/* A file without a footer, in which every second page looks like the end sections. */
static void test_lies(void **state)
{
	struct reading *reading;
	struct build build;
	unsigned int lines = 0;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	for (unsigned int i = 0; i < 4000; i++) {
		build_event(&build, 0, 1000 + i, 0x70000, 0);
		build_close(&build, 0);
	}
	for (size_t at = build.data_offset; at + 2 * FKT_PAGE_BYTES < build.bytes;
	     at += 2 * FKT_PAGE_BYTES) {
		struct fkt_section_header *section = (void *)(build.data + at);

		memset(section, 0, FKT_PAGE_BYTES);
		section->magic = htole32(FKT_SECTION_MAGIC);
		section->type = htole32(FKT_SECTION_PROCESSES);
		section->stored_bytes = htole64((build.bytes - at - sizeof(*section)) & ~7ull);
	}
	reading = read_trace(&build, READ_FILE);
	for (const char *line = reading->warnings; (line = strchr(line, '\n')); line++)
		lines++;
	assert_in_range(lines, 1, 20);
	assert_in_range(reading->n_events, 2000, 2100);
	read_free(reading);
	build_free(&build);
}

/* A lost machine leaves holes and zeros. */
static void test_zeros_at_end(void **state)
{
	struct reading *reading;
	struct build build;
	static const uint8_t zeros[FKT_PAGE_BYTES];
	size_t page;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	build_close(&build, 0);
	build_event(&build, 0, 101, 0x27, 0);
	page = build_close(&build, 0);
	build_event(&build, 0, 102, 0x27, 0);
	build_close(&build, 0);
	memset(build.data + page, 0, FKT_PAGE_BYTES);
	for (unsigned int i = 0; i < 2000; i++)
		build_append(&build, zeros, sizeof(zeros));
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 2);
	assert_int_equal(reading->stats.damaged, 1);
	assert_int_equal(reading->stats.missing, 1);
	assert_false(reading->complete);
	read_free(reading);
	build_free(&build);
}

/* A bad page just before the tail is one that is missing, in a file and in a stream. */
static void test_bad_last_page(void **state)
{
	struct reading *reading;
	struct build build;
	size_t page;

	(void)state;
	build_begin(&build, 1, false);
	build_pages(&build);
	build_event(&build, 0, 100, 0x27, 0);
	build_close(&build, 0);
	build_event(&build, 0, 101, 0x27, 0);
	page = build_close(&build, 0);
	build_end(&build, 0, 0, 0);
	build.data[page] ^= 1;
	for (enum read_how how = READ_FILE; how <= READ_STREAM; how++) {
		reading = read_trace(&build, how);
		assert_int_equal(reading->n_events, 1);
		assert_int_equal(reading->stats.damaged, 1);
		assert_true(reading->complete);
		read_free(reading);
	}
	build_free(&build);
}

/* Without its footer, a file's tail is found behind its pages. */
static void test_no_footer(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_small(&build);
	reading = read_bytes(&build, build.bytes - sizeof(struct fkt_footer), READ_FILE, true);
	assert_int_equal(reading->n_events, 10);
	assert_true(reading->complete);
	read_free(reading);
	build_free(&build);
}

static void test_empty_recording(void **state)
{
	struct reading *reading;
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_pages(&build);
	build_end(&build, 0, 0, 0);
	reading = read_trace(&build, READ_FILE);
	assert_int_equal(reading->n_events, 0);
	assert_true(reading->complete);
	read_free(reading);
	build_free(&build);
}

static void test_info(void **state)
{
	char error[FKT_ERROR_BYTES], path[] = "/tmp/fkt-test-XXXXXX";
	int fd = mkstemp(path);
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_small(&build);
	build_write(&build, path, build.bytes);
	trace = fkt_open(path, NULL, NULL, error);
	unlink(path);
	assert_non_null(trace);
	assert_string_equal(fkt_info(trace, "command"), "find /usr");
	assert_string_equal(fkt_info(trace, "release"), "6.1.0");
	assert_null(fkt_info(trace, "comm"));
	assert_null(fkt_info(trace, ""));
	assert_int_equal(fkt_header(trace)->lanes, 2);
	assert_int_equal(fkt_lane_totals(trace, 1)->lost, 3);
	assert_null(fkt_lane_totals(trace, 2));
	assert_true(fkt_is_complete(trace));
	fkt_close(trace);
	build_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_late_codes),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_flipped_anywhere),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_zeros_at_end),
		cmocka_unit_test(test_bad_last_page),
		cmocka_unit_test(test_no_footer),
		cmocka_unit_test(test_empty_recording),
		cmocka_unit_test(test_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

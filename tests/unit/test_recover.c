// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces out of images of memory that are made here: lanes of kmod/lane.c record into memory, which
 * is then looked through at whatever moment.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fkt/codes.h>

#include "lane.h"
#include "read/recover.h"
#include "test.h"

#define LANES	     2
#define LANE_PAGES   8
#define RING	     128 /* a page of it */
#define CODE	     FKT_CODE_DYNAMIC
#define NUMBERS_MAX  100000
#define MEMORY_PAGES (LANES * (2 + LANE_PAGES))

/* What lane.c and lane_user.h ask for. */
__thread u32 fkt_user_cpu, fkt_user_pid;

void fkt_lane_kick(struct fkt_lane *lane)
{
	(void)lane;
}

void fkt_lane_full(struct fkt_lane *lane, u64 now)
{
	(void)lane;
	(void)now;
}

/* As in kmod/buffer.c. */
struct lane_page {
	struct fkt_note note;
	struct fkt_lane lane;
};

union page {
	struct lane_page lane;
	struct fkt_ring_entry ring[RING];
	struct fkt_page_header header;
	u8 bytes[FKT_PAGE_BYTES];
};

/* The machine: of each lane its page, its ring, and its pages. */
static union page memory[MEMORY_PAGES] __attribute__((aligned(FKT_PAGE_BYTES)));
static u8 recording[FKT_ID_BYTES];
static char file_name[] = "/tmp/fkt_test_recover.XXXXXX";
static u64 next_number[LANES];
/* How far the first lane's pages were counted before: to 32 bits, and from 0 again. */
static u32 pages_before;

static struct lane_page *lane_page(u32 number)
{
	return &memory[number * (2 + LANE_PAGES)].lane;
}

static struct fkt_lane *lane(u32 number)
{
	return &lane_page(number)->lane;
}

static void begin(bool overwrites, bool shared, u8 id)
{
	memset(memory, 0, sizeof(memory));
	memset(recording, id, sizeof(recording));
	fkt_user_pid = 77;
	for (u32 i = 0; i < (shared ? 1 : LANES); i++) {
		union page *own = &memory[i * (2 + LANE_PAGES)];
		u16 cpu = shared ? FKT_CPU_ANY : (u16)i;

		fkt_lane_init(&own->lane.lane, own[1].ring, RING, (u16)i, cpu, overwrites ? 0 : 1,
			      recording);
		own->lane.note = (struct fkt_note){
			.magic = FKT_NOTE_MAGIC,
			.bytes = sizeof(struct fkt_note),
			.lane = (u16)i,
			.cpu = cpu,
			.flags = overwrites ? FKT_NOTE_OVERWRITES : 0,
			.lanes = shared ? 1 : LANES,
			.tsc_khz = 1000000,
			.head_at = offsetof(struct lane_page, lane.head),
			.tail_at = offsetof(struct lane_page, lane.tail),
			.lost_at = offsetof(struct lane_page, lane.lost),
			.overwritten_at = offsetof(struct lane_page, lane.overwritten),
			.overwritten_end_at = offsetof(struct lane_page, lane.overwritten_end),
		};
		memcpy(own->lane.note.id, recording, sizeof(recording));
		if (!i) {
			own->lane.lane.head = FKT_HEAD(pages_before, 0, FKT_HEAD_CLOSED);
			own->lane.lane.tail = pages_before + 1;
			own->lane.lane.limit = pages_before + 1;
		}
		for (u32 k = 0; k < LANE_PAGES; k++)
			fkt_lane_queue(&own->lane.lane, &own[2 + k], &own[2 + k]);
		next_number[i] = 1;
	}
}

/* An event with its number, and @more words besides. */
static void record(u32 number, u32 more)
{
	u64 args[8] = { next_number[number]++, 1, 2, 3, 4, 5, 6, 7 };
	bool shared = lane(number)->cpu == FKT_CPU_ANY;

	if (!shared)
		fkt_user_cpu = number;
	fkt_lane_record(lane(number), FKT_TAG(CODE, 1 + more, 0), 1 + more, args, shared);
}

static void record_many(u32 number, u32 count)
{
	while (count--)
		record(number, count % 3);
}

/* The output takes the lane's oldest page and lets go of it. */
static bool go_out(u32 number)
{
	void *buf;
	struct fkt_page_header *header = fkt_lane_take(lane(number), &buf);

	if (!header)
		return false;
	fkt_lane_queue(lane(number), header, buf);
	return true;
}

/* ---- what is recovered ---- */

/**
 * struct numbers - the events of a trace
 * @of: those of each lane
 * @count: how many
 * @gaps: gaps of each kind
 */
struct numbers {
	u64 of[LANES][NUMBERS_MAX];
	u64 count[LANES];
	u64 gaps[FKT_GAP_OVERWRITTEN + 1];
};

static struct numbers numbers;

static bool read_memory(void *arg, uint64_t place, void *page)
{
	memcpy(page, (u8 *)arg + place, FKT_PAGE_BYTES);
	return true;
}

static void no_warning(void *arg, const char *sentence)
{
	(void)arg;
	(void)sentence;
}

static struct fkt_trace *open_file(void)
{
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace = fkt_open(file_name, no_warning, NULL, error);

	assert_non_null(trace);
	return trace;
}

static void read_numbers(void)
{
	struct fkt_trace *trace = open_file();
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_event event;
	int what;

	assert_non_null(reader);
	memset(&numbers, 0, sizeof(numbers));
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			numbers.gaps[fkt_gap(reader)->kind]++;
		if (what != FKT_EVENT)
			continue;
		assert_true(event.lane < LANES && numbers.count[event.lane] < NUMBERS_MAX);
		if (event.words)
			numbers.of[event.lane][numbers.count[event.lane]++] = event.args[0];
	}
	assert_int_equal(what, 0);
	fkt_reader_free(reader);
	fkt_close(trace);
}

/* What the machine that goes on does to a page's header between the two times it is looked at. */
static void (*changes)(struct fkt_page_header *header);

static bool read_changed(void *arg, uint64_t place, void *page)
{
	union page *read = page;

	read_memory(arg, place, page);
	if (changes && read->header.magic == FKT_PAGE_MAGIC)
		changes(&read->header);
	return true;
}

/* Look through the machine, and write what is there; with the file as it was, if @merge. */
static int recover_from(const void *image, size_t pages, bool merge, struct fkt_recover *result)
{
	struct fkt_recovery *recovery = fkt_recovery_new(read_changed, (void *)(uintptr_t)image);
	const struct fkt_recovered *found;
	struct fkt_trace *head = merge ? open_file() : NULL;
	char other[] = "/tmp/fkt_test_recover.XXXXXX";
	int fd = mkstemp(other), ret = -ENODATA;
	size_t count;

	assert_non_null(recovery);
	assert_true(fd >= 0);
	for (size_t i = 0; i < pages; i++) {
		const u8 *page = (const u8 *)image + i * FKT_PAGE_BYTES;

		if (fkt_recovery_may(page))
			assert_int_equal(fkt_recovery_look(recovery, page, i * FKT_PAGE_BYTES), 0);
	}
	assert_int_equal(fkt_recovery_sort(recovery, &found, &count), 0);
	if (count)
		ret = fkt_recover(recovery, found[0].id, head, fd, result);
	close(fd);
	fkt_recovery_free(recovery);
	fkt_close(head);
	rename(other, file_name);
	return ret;
}

static struct fkt_recover recover(bool merge)
{
	struct fkt_recover result;

	assert_int_equal(recover_from(memory, MEMORY_PAGES, merge, &result), 0);
	read_numbers();
	assert_int_equal(numbers.count[0] + numbers.count[1], result.events);
	return result;
}

/* The lane has the events from one number to another one, and each once. */
static void expect(u32 number, u64 from, u64 to)
{
	assert_int_equal(numbers.count[number], to - from + 1);
	for (u64 i = 0; i < numbers.count[number]; i++)
		assert_int_equal(numbers.of[number][i], from + i);
}

/* The first one that it has. */
static u64 first_of(u32 number)
{
	assert_true(numbers.count[number]);
	return numbers.of[number][0];
}

/* ---- the tests ---- */

static void test_all_that_is_held(void **state)
{
	struct fkt_recover result;

	(void)state;
	begin(false, false, 1);
	record_many(0, 500);
	record_many(1, 3);
	result = recover(false);
	expect(0, 1, 500);
	expect(1, 1, 3);
	assert_int_equal(result.missing + result.damaged + result.unknown + result.unwritten, 0);
}

/* Pages go out and come back: what stands behind the newest slots is of their former use. */
static void test_used_before(void **state)
{
	struct fkt_recover result;
	u64 first;

	(void)state;
	for (u32 more = 1; more < 400; more += 7) {
		begin(false, false, 1);
		for (u32 i = 0; i < 40; i++) {
			record_many(0, 300);
			while (go_out(0))
				;
		}
		record_many(0, more);
		record_many(1, 1);
		result = recover(false);
		first = first_of(0);
		assert_true(first > 1 && first <= 40 * 300);
		expect(0, first, 40 * 300 + more);
		assert_true(result.missing);
		assert_int_equal(result.damaged + result.unknown + result.unwritten, 0);
	}
}

static void test_ring(void **state)
{
	struct fkt_recover result;

	(void)state;
	for (u32 count = 3000; count < 3400; count += 13) {
		begin(true, false, 1);
		record_many(0, count);
		record_many(1, 10);
		result = recover(false);
		expect(0, first_of(0), count);
		assert_true(count - first_of(0) > 700);
		expect(1, 1, 10);
		assert_int_equal(numbers.gaps[FKT_GAP_OVERWRITTEN], 1);
		assert_int_equal(numbers.gaps[FKT_GAP_MISSING], 0);
		assert_int_equal(result.missing + result.damaged + result.unknown, 0);
		/* Overwritten events, and those that are there, are all. */
		assert_int_equal(lane(0)->overwritten + numbers.count[0], count);
	}
}

/* The same, of one that has been at it for days. */
static void test_ring_of_days(void **state)
{
	pages_before = -16u;
	test_ring(state);
	pages_before = 0;
}

static void test_shared(void **state)
{
	struct fkt_recover result;

	(void)state;
	begin(false, true, 1);
	for (u32 i = 0; i < 700; i++) {
		fkt_user_cpu = i / 3 % 4;
		record(0, i % 2);
	}
	result = recover(false);
	expect(0, 1, 700);
	assert_int_equal(result.damaged + result.unwritten, 0);
}

/* Of a lane whose note is gone, its pages say that CPUs share it. */
static void test_shared_without_note(void **state)
{
	struct fkt_trace *trace;

	(void)state;
	begin(false, true, 1);
	for (u32 i = 0; i < 700; i++) {
		fkt_user_cpu = i / 300;
		record(0, i % 2);
	}
	fkt_lane_fence(lane(0), true);
	while (go_out(0))
		;
	lane_page(0)->note.magic = 0;
	recover(false);
	expect(0, 1, 700);
	trace = open_file();
	assert_int_equal(fkt_header(trace)->shared, 1);
	fkt_close(trace);
}

static void reserve(u32 number, u32 words, struct fkt_slot *slot)
{
	const u64 tag = FKT_TAG(CODE, words, 0);

	if (!fkt_reserve(lane(number), &tag, 0, words, false, slot))
		assert_true(fkt_reserve_slow(lane(number), tag, false, slot));
}

/* A page that was used before, and has so many new slots in it. */
static void fill_again(u32 slots)
{
	begin(false, false, 1);
	for (u32 i = 0; i < 3 * LANE_PAGES; i++) {
		record_many(0, 250);
		fkt_lane_fence(lane(0), false);
		while (go_out(0))
			;
	}
	record_many(0, slots);
}

/* The machine stops in a probe: its slot is reserved, and more or less of it is there. */
static void test_in_a_probe(void **state)
{
	struct fkt_recover result;
	struct fkt_slot slot;
	static union page before[MEMORY_PAGES];
	u64 last;
	size_t at;

	(void)state;
	for (u32 slots = 1; slots < 400; slots += 3)
		for (u32 words = 1; words < 5; words++) {
			fill_again(slots);
			last = next_number[0] - 1;
			/* All but the arguments. */
			reserve(0, words, &slot);
			result = recover(false);
			expect(0, first_of(0), last);
			assert_int_equal(result.unwritten, 1);
			assert_int_equal(result.damaged, 0);

			/* Nothing of it at all. */
			fill_again(slots);
			last = next_number[0] - 1;
			memcpy(before, memory, sizeof(before));
			reserve(0, words, &slot);
			at = (size_t)((u8 *)&slot.words[-1] - (u8 *)memory);
			memcpy(&slot.words[-1], (u8 *)before + at, sizeof(u64));
			result = recover(false);
			assert_true(numbers.count[0] >= 1);
			assert_true(numbers.of[0][numbers.count[0] - 1] == last);
			expect(0, first_of(0), last);
		}
}

/* Interrupts record while a probe is interrupted: their events are there, and its own is not. */
static void test_interrupted(void **state)
{
	struct fkt_recover result;
	struct fkt_slot slot;
	u64 before, at;

	(void)state;
	for (u32 slots = 1; slots < 150; slots += 5)
		for (u32 after = 1; after < 4; after++) {
			fill_again(slots);
			before = next_number[0] - 1;
			reserve(0, 9, &slot);
			/* As if it had come to nothing yet. */
			slot.words[-1] = FKT_TAG(CODE, 2, 0) | FKT_SLOT_STAMP(1ull << 23);
			slot.words[-1] += FKT_SLOT_STAMP(__builtin_ia32_rdtsc() & 0xffffff);
			record_many(0, after);
			result = recover(false);
			expect(0, first_of(0), before + after);
			assert_int_equal(result.unwritten, 1);

			/* It was a size that no other has. */
			fill_again(slots);
			before = next_number[0] - 1;
			reserve(0, 9, &slot);
			memset(slot.words, 0xff, 9 * sizeof(u64));
			record_many(0, after);
			result = recover(false);
			expect(0, first_of(0), before + after);
			assert_int_equal(result.unwritten, 1);
			for (at = 0; at < numbers.count[0]; at++)
				assert_true(numbers.of[0][at] != UINT64_MAX);
		}
}

/* The disk has all up to a moment; and of that, memory has a part as well. */
static void test_with_file(void **state)
{
	struct fkt_recover result;

	(void)state;
	begin(false, false, 1);
	record_many(0, 400);
	record_many(1, 20);
	fkt_lane_fence(lane(0), false);
	fkt_lane_fence(lane(1), false);
	recover(false);
	for (u32 i = 0; i < 3; i++) {
		while (go_out(0) || go_out(1))
			;
		record_many(0, 400);
		record_many(1, 20);
		fkt_lane_fence(lane(0), false);
		fkt_lane_fence(lane(1), false);
		result = recover(true);
		expect(0, 1, 800 + 400 * i);
		expect(1, 1, 40 + 20 * i);
		assert_int_equal(result.missing + result.damaged + result.unknown, 0);
	}
	/* And with what another recording has left. */
	memset(memory[2].header.id, 9, FKT_ID_BYTES);
	result = recover(true);
	expect(0, 1, 1600);
}

/* Of a lane without its page, or its ring, nothing is known of what has not gone out. */
static void test_parts_missing(void **state)
{
	struct fkt_recover result;

	(void)state;
	begin(false, false, 1);
	record_many(0, 200);
	record_many(1, 200);
	memset(&memory[0], 0, FKT_PAGE_BYTES);
	result = recover(false);
	assert_int_equal(result.unknown, 1);
	/* Pages that are closed can do without. */
	assert_true(numbers.count[0] > 100 && numbers.count[0] < 200);
	expect(1, 1, 200);
	memset(&memory[1], 0, FKT_PAGE_BYTES);
	result = recover(false);
	assert_int_equal(numbers.count[0], 0);
	expect(1, 1, 200);
}

/* Whatever an image says, what comes out can be read. */
static void test_hostile(void **state)
{
	static union page image[MEMORY_PAGES];
	struct fkt_recover result;
	unsigned int seed = 1;

	(void)state;
	for (u32 round = 0; round < 3000; round++) {
		if (round % 100 == 0) {
			begin(round % 200, false, 1);
			record_many(0, 700);
			record_many(1, 300);
			if (!(round % 200))
				go_out(0);
		}
		memcpy(image, memory, sizeof(image));
		for (u32 i = 0; i < 1 + round % 8; i++) {
			size_t page = (size_t)rand_r(&seed) % MEMORY_PAGES;
			size_t at = (size_t)rand_r(&seed) % (round % 2 ? 128 : FKT_PAGE_BYTES);

			image[page].bytes[at] = (u8)rand_r(&seed);
			if (round % 3 == 0)
				memset(&image[page].bytes[at & ~7u & (FKT_PAGE_BYTES - 8)], 0xff,
				       8);
			if (round % 5 == 0)
				memcpy(&image[page], &image[(size_t)rand_r(&seed) % MEMORY_PAGES],
				       sizeof(*image));
		}
		if (!recover_from(image, MEMORY_PAGES, false, &result))
			read_numbers();
	}
}

static void change_lane(struct fkt_page_header *header)
{
	header->lane = FKT_LANE_INDEX - 1;
}

static void change_used(struct fkt_page_header *header)
{
	header->used = 1u << 30;
}

static void change_first(struct fkt_page_header *header)
{
	header->first++;
}

static void change_seq(struct fkt_page_header *header)
{
	header->seq += 1ull << 40;
}

static void change_held(struct fkt_page_header *header)
{
	header->flags ^= FKT_PAGE_HELD;
}

/* An image that somebody writes to meanwhile, as that of a guest that was not stopped. */
static void test_goes_on(void **state)
{
	static void (*const all[])(struct fkt_page_header *) = {
		change_lane, change_used, change_first, change_seq, change_held,
	};
	struct fkt_recover result;

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		begin(false, false, 1);
		record_many(0, 700);
		record_many(1, 300);
		assert_true(go_out(0));
		changes = all[i];
		assert_int_equal(recover_from(memory, MEMORY_PAGES, false, &result), -ENODATA);
		assert_int_equal(result.events + result.from_memory, 0);
		assert_true(result.damaged);
		changes = NULL;
		assert_int_equal(recover_from(memory, MEMORY_PAGES, false, &result), 0);
		assert_int_equal(result.damaged, 0);
	}
}

/* ---- the tool ---- */

static int run(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "PATH=build/bin:$PATH; f=%s; %s", file_name, command);
	return system(line);
}

static void write_image(const void *before, size_t before_bytes, const void *data, size_t bytes)
{
	char name[sizeof(file_name) + 8];
	FILE *file;

	snprintf(name, sizeof(name), "%s.image", file_name);
	file = fopen(name, "w");
	assert_non_null(file);
	if (before_bytes)
		assert_int_equal(fwrite(before, before_bytes, 1, file), 1);
	assert_int_equal(fwrite(data, bytes, 1, file), 1);
	fclose(file);
}

static void test_tool_raw(void **state)
{
	(void)state;
	begin(false, false, 1);
	record_many(0, 100);
	write_image(NULL, 0, memory, sizeof(memory));
	assert_int_equal(run("fkt_recover $f.image -o $f >$f.said"), 0);
	read_numbers();
	expect(0, 1, 100);
	assert_int_equal(run("fkt_recover $f.image --list | grep -q '^0101.* 1 *1 *2 '"), 0);
	assert_int_equal(run("fkt_recover $f.image -o - | fkt_print --no-summary - | "
			     "[ $(grep -c 0x2000) = 0 ]"),
			 0);
	/* Two recordings: the one whose lanes are there, or the one that is asked for. */
	memset(memory[2 + LANE_PAGES + 2].bytes, 0, FKT_PAGE_BYTES);
	memcpy(&memory[2 + LANE_PAGES + 2], &memory[2], FKT_PAGE_BYTES);
	memset(memory[2 + LANE_PAGES + 2].header.id, 9, FKT_ID_BYTES);
	write_image(NULL, 0, memory, sizeof(memory));
	assert_int_equal(run("[ $(fkt_recover $f.image --list | wc -l) = 3 ] && "
			     "fkt_recover $f.image -o $f >$f.said"),
			 0);
	read_numbers();
	expect(0, 1, 100);
	assert_int_equal(run("fkt_recover $f.image --id 09 -o $f.no 2>&1 | "
			     "grep -q 'of which it is known' && [ ! -e $f.no ]"),
			 0);
	assert_int_equal(run("fkt_recover $f.image --id 0 -o $f.no 2>&1 | grep -q 'several'"), 0);
	assert_int_equal(run("fkt_recover $f.image --id ff -o $f.no 2>&1 | grep -q 'list'"), 0);
	assert_int_equal(run("fkt_recover $f.image --head $f -o $f.two >$f.said && rm $f.two"), 0);
	assert_int_equal(run("fkt_recover $f.image --head $f -o $f 2>&1 | grep -q 'what is read'"),
			 0);
}

static void test_tool_elf(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment[3];
		char odd[1000];
	} elf = {
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_CORE,
			.e_machine = EM_X86_64,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 3,
		},
		.segment = {
			{ .p_type = PT_NOTE, .p_offset = 400, .p_filesz = 100 },
			/* It begins in the midst of a page. */
			{ .p_type = PT_LOAD, .p_paddr = 4096 - 500, },
			{ .p_type = PT_LOAD, .p_paddr = 1 << 20, .p_offset = 1ull << 40,
			  .p_filesz = 1ull << 41 },
		},
	};

	(void)state;
	begin(false, false, 1);
	record_many(0, 100);
	elf.segment[1].p_offset = sizeof(elf) - 500;
	elf.segment[1].p_filesz = 500 + sizeof(memory);
	write_image(&elf, sizeof(elf), memory, sizeof(memory));
	assert_int_equal(run("fkt_recover $f.image -o $f >$f.said 2>$f.err; "
			     "grep -q 'cut off' $f.err"),
			 0);
	read_numbers();
	expect(0, 1, 100);

	elf.segment[1].p_offset = UINT64_MAX - 100;
	elf.segment[2].p_filesz = UINT64_MAX;
	write_image(&elf, sizeof(elf), memory, sizeof(memory));
	assert_int_equal(run("fkt_recover $f.image -o $f.no 2>&1 | grep -q 'no memory'"), 0);
	elf.header.e_phnum = PN_XNUM;
	elf.header.e_shoff = UINT64_MAX - 3;
	write_image(&elf, sizeof(elf), memory, sizeof(memory));
	assert_int_equal(run("fkt_recover $f.image -o $f.no 2>&1 | grep -q 'no memory'"), 0);
	elf.header.e_type = ET_EXEC;
	write_image(&elf, sizeof(elf), memory, sizeof(memory));
	assert_int_equal(run("fkt_recover $f.image -o $f.no 2>&1 | grep -q 'is an ELF file, but'"),
			 0);
}

static void test_tool_refuses(void **state)
{
	(void)state;
	assert_int_equal(run("fkt_recover /nowhere -o $f.no 2>&1 | grep -q 'No such file'"), 0);
	assert_int_equal(run("fkt_recover /dev/null -o $f.no 2>&1 | grep -q 'neither a file'"), 0);
	assert_int_equal(run(": >$f.image; fkt_recover $f.image -o $f.no 2>&1 | "
			     "grep -q 'is empty'"),
			 0);
	assert_int_equal(run("head -c 1000000 /dev/zero >$f.image; "
			     "fkt_recover $f.image -o $f.no 2>&1 | grep -q 'no page of FKT'"),
			 0);
	assert_int_equal(run("echo makedumpfile >$f.image; fkt_recover $f.image -o $f.no 2>&1 | "
			     "grep -q 'is flattened'"),
			 0);
	assert_int_equal(run("{ echo 'KDUMP   '; head -c 99999 /dev/urandom; } >$f.image; "
			     "fkt_recover $f.image -o $f.no 2>$f.err; [ $? = 1 ] && "
			     "[ $(wc -l <$f.err) = 1 ]"),
			 0);
	assert_int_equal(run("[ ! -e $f.no ]"), 0);
	assert_int_equal(run("fkt_recover $f.image 2>/dev/null; [ $? = 2 ]"), 0);
	assert_int_equal(run("fkt_recover 2>/dev/null; [ $? = 2 ]"), 0);
	assert_int_equal(run("fkt_recover $f.image --list --id 0 2>/dev/null; [ $? = 2 ]"), 0);
	assert_int_equal(run("fkt_recover $f.image --id x -o $f.no 2>/dev/null; [ $? = 2 ]"), 0);
}

static int clean_up(void **state)
{
	(void)state;
	return run("rm -f $f $f.*");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_is_held),
		cmocka_unit_test(test_used_before),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_ring_of_days),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_shared_without_note),
		cmocka_unit_test(test_in_a_probe),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_with_file),
		cmocka_unit_test(test_parts_missing),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_tool_raw),
		cmocka_unit_test(test_tool_elf),
		cmocka_unit_test(test_tool_refuses),
	};

	close(mkstemp(file_name));
	return cmocka_run_group_tests(tests, NULL, clean_up);
}

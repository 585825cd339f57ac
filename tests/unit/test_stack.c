// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of events: once in a page, in parts of a trace, and where all is wrong. With the
 * argument --trace=FILE the program does no more than write a trace of threads that wait and wake
 * each other, with their stacks.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build_trace.h"
#include "read_trace.h"
#include "read/extract.h"
#include "read/reader.h"

#define POINT 0x20u
#define BASE  0xffffffff81000000ull

static char top[4096]; /* the checkout */

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

/* What stacks events have: "imm:first+count" each, with ~ where it is cut, "imm:?" not recorded. */
static void tell(int fd, char *text, size_t room)
{
	struct fkt_trace *trace = read_open(fd);
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_stack stack = { 0 };
	struct fkt_event event;
	const void *page = NULL;
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
			page = reader->cursor->page;
			continue;
		}
		/* In one page. */
		if (there)
			assert_ptr_equal(reader->cursor->page, page);
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
	put_frames(&build, 120, 20, 4, 0x200);
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
	assert_tells(&build, "1:10+6 2:? 3:? 4:? 5:? 6:? 7:? 8:? 9:? 10:? 11:? 12:? 13:? 14:? "
			     "15:10+6");
}

#define EVENTS 3000
#define STACKS 7

/* Many events with few stacks, over several pages, as the module writes them. */
static void build_many(struct build *build, uint64_t step)
{
	uint16_t at[STACKS] = { 0 }, begin_of_page = 0;

	begin(build);
	for (unsigned int i = 0; i < EVENTS; i++) {
		const uint64_t stamp = 1000 + step * i;
		const unsigned int which = i * i % STACKS, count = 1 + 5 * which;
		const bool new_page = place(build) < begin_of_page ||
				      place(build) + 140 > FKT_PAGE_BYTES / 8;

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
	build_end(build, 100000 * step, 100000 * step, 0);
}

static struct fkt_extract_process swapper = { .pid = 0 }, first_thread = { .pid = 1 };

/* All events of a part have the stacks that they had. */
static void assert_part(int whole, struct fkt_extract extract)
{
	struct fkt_trace *trace = read_open(whole);
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
	build_many(&build, 10);
	fd = to_file(&build);
	assert_part(fd, (struct fkt_extract){ .to = UINT64_MAX });
	for (uint64_t from = 1000; from < 20000; from += 770)
		assert_part(fd, (struct fkt_extract){ .from = from, .to = from + 5000 });
	assert_part(fd, (struct fkt_extract){
				.to = UINT64_MAX, .process = &first_thread, .processes = 1 });
	assert_part(fd,
		    (struct fkt_extract){
			    .from = 9990, .to = 20000, .process = &first_thread, .processes = 1 });
	close(fd);
	build_free(&build);
}

/* Pages are filled to their end, also where stamps are wide; a stack does not stay behind there. */
static void test_full_pages(void **state)
{
	struct build build;
	int fd;

	(void)state;
	build_many(&build, 1ull << FKT_SLOT_STAMP_BITS);
	fd = to_file(&build);
	for (uint64_t i = 0; i < 60; i++)
		assert_part(fd, (struct fkt_extract){ .from = i << FKT_SLOT_STAMP_BITS,
						      .to = UINT64_MAX,
						      .process = &first_thread,
						      .processes = 1 });
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

		build_many(&build, 10);
		for (unsigned int i = 0; i < 60; i++) {
			seed = seed * 1664525 + 1013904223;
			/* Immediates and what stands beside them. */
			build.data[build.data_offset + 72 +
				   (seed >> 4) % (build.tail_offset - build.data_offset - 72)] ^=
				(uint8_t)(1u << (seed >> 1) % 8);
		}
		fd = to_file(&build);
		trace = read_open(fd);
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
		extract.process = &swapper;
		extract.processes = 1;
		fkt_extract(trace, &extract, part);
		fkt_close(trace);
		close(part);
		close(fd);
		build_free(&build);
	}
}

/* ---- threads that wait ---- */

#define READ	0x0000u
#define END	0x0400u
#define F	0x10000u
#define F_END	0x10001u
#define THREADS 5 /* from FIRST on; the last one is forked */
#define FIRST	70u

enum state {
	NONE,
	RUNNING,
	READY,
	SLEEPING,
	ON_ITS_WAY_OUT
};

struct machine {
	struct build build;
	uint32_t seed;
	uint64_t stamp;
	enum state state[THREADS];
	unsigned int depth[THREADS]; /* of READ and F in it */
	uint32_t current[2];
};

static uint32_t draw(struct machine *machine, uint32_t below)
{
	machine->seed = machine->seed * 1664525 + 1013904223;
	return (machine->seed >> 8) % below;
}

/* One of a few stacks; some events have none. */
static void put_stack(struct machine *machine, unsigned int cpu)
{
	const uint32_t which = draw(machine, 8);

	if (which < 7)
		build_slot(&machine->build, cpu, (uint16_t)cpu, machine->stamp, FKT_CODE_STACK, 2,
			   (uint64_t[]){ ((uint32_t)BASE + 0x1000 * which) | BASE << 32 }, 1);
}

static void put(struct machine *machine, unsigned int cpu, uint32_t code, uint16_t imm)
{
	build_event(&machine->build, cpu, machine->stamp, code, imm);
}

static void wake(struct machine *machine, unsigned int cpu, uint32_t code, unsigned int i)
{
	const uint64_t word = (FIRST + i) | 120ull << 32;

	put_stack(machine, cpu);
	build_slot(&machine->build, cpu, (uint16_t)cpu, machine->stamp, code, 0, &word, 1);
	machine->state[i] = machine->state[i] == RUNNING ? ON_ITS_WAY_OUT : READY;
}

static void wake_any(struct machine *machine, unsigned int cpu)
{
	const unsigned int i = draw(machine, THREADS);
	const bool other = machine->current[cpu] != FIRST + i;

	if (machine->state[i] == SLEEPING || (machine->state[i] == RUNNING && other))
		wake(machine, cpu, FKT_CODE_WAKEUP, i);
}

static void switch_any(struct machine *machine, unsigned int cpu)
{
	const uint32_t prev = machine->current[cpu], i = draw(machine, THREADS);
	const uint32_t next = machine->state[i] == READY ? FIRST + i : 0;
	const uint16_t sleep = prev && machine->depth[prev - FIRST] ? (uint16_t)draw(machine, 3)
								    : 0;

	if (prev == next)
		return;
	put_stack(machine, cpu);
	build_switch(&machine->build, cpu, machine->stamp, sleep, prev, next);
	if (prev && machine->state[prev - FIRST] == RUNNING && sleep)
		machine->state[prev - FIRST] = SLEEPING;
	else if (prev)
		machine->state[prev - FIRST] = READY;
	if (next)
		machine->state[i] = RUNNING;
	machine->current[cpu] = next;
}

static void call_any(struct machine *machine, unsigned int cpu)
{
	unsigned int *depth = &machine->depth[machine->current[cpu] - FIRST];

	if (*depth == 2) {
		put(machine, cpu, F_END, 0);
		*depth = 1;
	} else if (*depth && draw(machine, 2)) {
		put(machine, cpu, END, 0);
		*depth = 0;
	} else {
		put(machine, cpu, *depth ? F : READ, 0);
		++*depth;
	}
}

static int write_waits(const char *file)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const char told[] = "start_cycles=900\0stop_cycles=100000";
	struct machine machine = { .seed = 7, .stamp = 1000, .current = { FIRST, FIRST + 1 } };
	struct build *build = &machine.build;

	build_begin(build, 2, false);
	build_clock(build, 0, 0, 0);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(build, FKT_SECTION_PROCESSES,
		   "70 70 1 first\n71 71 1 second\n72 72 1 third\n73 73 1 fourth\n");
	build_text(build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x20 1 point 0 functions P\n");
	build_pages(build);
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		machine.state[cpu] = RUNNING;
		build->lane[cpu].pid = FIRST + cpu;
		put(&machine, cpu, READ, 0);
		machine.depth[cpu] = 1;
	}
	machine.state[2] = machine.state[3] = SLEEPING;
	for (unsigned int i = 0; i < 300; i++) {
		const unsigned int cpu = draw(&machine, 2), what = draw(&machine, 8);

		machine.stamp += 40 + draw(&machine, 500);
		if (i >= 60 && machine.state[4] == NONE && machine.current[cpu]) {
			build_fork(build, cpu, machine.stamp, FIRST + 4, machine.current[cpu]);
			wake(&machine, cpu, FKT_CODE_WAKEUP_NEW, 4);
		} else if (what < 3) {
			switch_any(&machine, cpu);
		} else if (what < 5) {
			wake_any(&machine, cpu);
		} else if (machine.current[cpu]) {
			call_any(&machine, cpu);
		} else {
			put(&machine, cpu, FKT_CODE_IRQ_ENTRY, 14);
			machine.stamp += 100;
			wake_any(&machine, cpu);
			machine.stamp += 100;
			put(&machine, cpu, FKT_CODE_IRQ_EXIT, 14);
		}
	}
	build_tail(build);
	build_section(build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(build, 200000, 200000, 0);
	build_write(build, file, build->bytes);
	build_free(build);
	return 0;
}

/*
 * What a part says by stack is what its window says; but the switches of waits that began before it
 * are not in it, and so their stacks are not known.
 */
static void test_waits_of_part(void **state)
{
	char path[] = "/tmp/test_stack.XXXXXX", command[8192];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_waits(path);
	snprintf(
		command, sizeof(command),
		"cd %s && f=%s; p=build/bin/fkt_print; s=0; by() { $p --by stack --format csv \"$@\" | awk -F, "
		"'/^switch_to/ { n += $2; c += $3; t += $4 } /^wakeup/; END { print n, c, t }' | sort; }; "
		"for w in 0ns..20us 10us..30us 20us..50us 33us..77us 60us..; do "
		"for o in '' '--process 71' '--process first' '--cpu 1'; do "
		"build/bin/fkt_extract --range $w $o -o $f.part $f >/dev/null && "
		"by $o --range $w $f >$f.whole && by $o $f.part | diff $f.whole - || s=1; "
		"[ $(wc -l <$f.whole) -gt 1 ] || s=1; "
		"done; done; $p --by stack $f.part | grep -q '(stack not recorded)' || s=1; "
		"rm -f $f.*; exit $s",
		top, path);
	assert_int_equal(system(command), 0);
	unlink(path);
}

/* What stands above a stack has the width that there is. */
static void test_width(void **state)
{
	char path[] = "/tmp/test_stack.XXXXXX", command[8192];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_waits(path);
	snprintf(
		command, sizeof(command),
		"for c in 40 60 80; do NO_COLOR=1 COLUMNS=$c %s/build/bin/fkt_print --by stack %s | "
		"grep -v '^    ' | awk -v c=$c '/^switch_to/ { n++ } length > c { exit n = 0 } "
		"END { exit !n }' || exit 1; done",
		top, path);
	assert_int_equal(system(command), 0);
	unlink(path);
}

int main(int argc, char **argv)
{
	ssize_t bytes = readlink("/proc/self/exe", top, sizeof(top) - 1);
	char *build = bytes > 0 ? strstr(top, "/build/tests/unit/") : NULL;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),  cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_parts), cmocka_unit_test(test_full_pages),
		cmocka_unit_test(test_noise), cmocka_unit_test(test_waits_of_part),
		cmocka_unit_test(test_width),
	};

	if (!build)
		return 77;
	*build = '\0';
	if (argc == 2 && !strncmp(argv[1], "--trace=", 8))
		return write_waits(argv[1] + 8);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

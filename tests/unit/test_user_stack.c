// SPDX-License-Identifier: GPL-2.0-only
/* The stacks of programs: as slots, as addresses in files, by name, and where all is wrong. */
#include "test.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "build_trace.h"
#include "read_trace.h"
#include "read/extract.h"
#include "read/reader.h"
#include "trace/elf.h"
#include "trace/fields.h"
#include "trace/maps.h"

#define POINT	   0x20u
#define FRAMES_MAX 130

static char build_id[FKT_BUILD_ID_TEXT]; /* of this program */
static char exe[4096];

/* ---- writing ---- */

static unsigned int put_number(uint8_t *to, uint64_t number)
{
	unsigned int n = 0;

	for (; number >= 0x80; number >>= 7)
		to[n++] = (uint8_t)(number | 0x80);
	to[n++] = (uint8_t)number;
	return n;
}

/* The slots of a program's stack, as the module makes them. */
static void put_user(struct build *build, uint64_t stamp, uint16_t flags, uint32_t pid,
		     const uint64_t *frame, unsigned int frames)
{
	const unsigned int slot_bytes = 8 * FKT_STACK_SLOT_WORDS;
	uint64_t words[FRAMES_MAX + 2] = { 0 }, before = 0;
	uint8_t *bytes = (uint8_t *)words;
	unsigned int count = put_number(bytes, pid), n;

	for (unsigned int i = 0; i < frames; before = frame[i++])
		count += put_number(bytes + count, FKT_STACK_ZIGZAG(frame[i] - before));
	for (unsigned int at = 0; at < count; at += n) {
		const bool more = count - at > slot_bytes;

		n = more ? slot_bytes : count - at;
		build_slot(build, 0, 0, stamp, FKT_CODE_STACK,
			   (uint16_t)(n | FKT_STACK_USER |
				      (more ? flags & FKT_STACK_BELOW : flags) |
				      (at ? FKT_STACK_ON : 0) | (more ? FKT_STACK_MORE : 0)),
			   words + at / 8, (n + 7) / 8);
	}
}

static void put_kernel(struct build *build, uint64_t stamp, uint16_t flags)
{
	const uint64_t word = 0x8100000281000001;

	build_slot(build, 0, 0, stamp, FKT_CODE_STACK, 2 | flags, &word, 1);
}

static void put_again(struct build *build, uint64_t stamp, uint16_t imm)
{
	build_slot(build, 0, 0, stamp, FKT_CODE_STACK, imm, NULL, 0);
}

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

/* A stamp is a nanosecond. */
static void begin(struct build *build, const char *maps)
{
	build_begin(build, 1, false);
	build_clock(build, 0, 0, 0);
	if (maps)
		build_text(build, FKT_SECTION_MAPS, maps);
	build_pages(build);
}

static int to_file(struct build *build)
{
	int fd = memfd_create("trace", 0);

	build_end(build, 1000000, 1000000, 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	build_free(build);
	return fd;
}

/* ---- reading ---- */

/* What stacks events have: "imm:frame,frame" each, "pid" before them, with ~ where it is cut. */
static void tell(int fd, char *text, size_t room)
{
	struct fkt_trace *trace = read_open(fd);
	struct fkt_reader *reader = fkt_reader_new(trace);
	char frame[FKT_FRAME_BYTES + 1], *to = text;
	struct fkt_stack stack = { 0 };
	struct fkt_event event;
	bool there = false;
	int what;

#define say(...) (to += snprintf(to, room - (size_t)(to - text), __VA_ARGS__))
	*text = '\0';
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what != FKT_EVENT)
			continue;
		if (event.code == FKT_CODE_STACK) {
			if (!there)
				stack.known = false;
			there = true;
			fkt_stack_event(reader, &event, &stack);
			continue;
		}
		say("%s%u:", to == text ? "" : " ", event.imm);
		if (!there || !stack.known)
			say("%s", there ? "?" : "-");
		else if (stack.pid)
			say("%u:", stack.pid);
		for (unsigned int i = 0; there && i < stack.count; i++) {
			assert_true(i < FKT_STACK_FRAMES_BOTH);
			*fkt_put_frame(trace, frame, &stack, i) = '\0';
			say("%s%s", i ? "," : "", frame);
		}
		say("%s", there && stack.cut ? "~" : "");
		there = false;
	}
#undef say
	assert_int_equal(what, FKT_END);
	fkt_reader_free(reader);
	fkt_close(trace);
}

static void assert_tells(struct build *build, const char *expected)
{
	static char text[65536];
	int fd = to_file(build);

	tell(fd, text, sizeof(text));
	assert_string_equal(text, expected);
	close(fd);
}

#define KERNEL "0xffffffff81000001,0xffffffff81000002"

/* Alone, below the kernel's, the same again; cut, not in memory, not to be had. */
static void build_slots(struct build *build)
{
	const uint64_t frame[] = { 0x555555555389, 0x5555555553d9, 0x7ffff7dfa24a, 0x1000 };
	uint16_t kernel, user;

	begin(build, NULL);
	user = place(build);
	put_user(build, 100, 0, 70, frame, 4);
	put_event(build, 100, 1);
	kernel = place(build);
	put_kernel(build, 110, 0);
	put_user(build, 110, FKT_STACK_BELOW, 71, frame, 1);
	put_event(build, 110, 2);
	put_again(build, 120, kernel);
	put_again(build, 120, user | FKT_STACK_USER | FKT_STACK_BELOW);
	put_event(build, 120, 3);
	put_again(build, 130, user | FKT_STACK_USER);
	put_event(build, 130, 4);
	put_kernel(build, 140, FKT_STACK_CUT);
	put_user(build, 140, FKT_STACK_BELOW | FKT_STACK_CUT, 70, frame, 2);
	put_event(build, 140, 5);
	put_user(build, 150, FKT_STACK_FAULT, 70, frame, 2);
	put_event(build, 150, 6);
	put_again(build, 160, 0);
	put_user(build, 160, FKT_STACK_BELOW, 70, frame, 1);
	put_event(build, 160, 7);
	put_kernel(build, 170, 0);
	put_again(build, 170, FKT_STACK_USER | FKT_STACK_BELOW);
	put_event(build, 170, 8);
	put_again(build, 180, FKT_STACK_USER);
	put_event(build, 180, 9);
	put_event(build, 190, 10);
	/* The kernel's, of which the program's is not behind it, is another one. */
	put_kernel(build, 200, 0);
	put_user(build, 200, 0, 70, frame, 1);
	put_event(build, 200, 11);
}

static void test_slots(void **state)
{
	struct build build;

	(void)state;
	build_slots(&build);
	assert_tells(&build, "1:70:0x555555555389,0x5555555553d9,0x7ffff7dfa24a,0x1000 "
			     "2:71:" KERNEL ",0x555555555389 "
			     "3:70:" KERNEL ",0x555555555389,0x5555555553d9,0x7ffff7dfa24a,0x1000 "
			     "4:70:0x555555555389,0x5555555553d9,0x7ffff7dfa24a,0x1000 "
			     "5:70:" KERNEL ",...,0x555555555389,0x5555555553d9~ "
			     "6:70:0x555555555389,0x5555555553d9,(stack not in memory) "
			     "7:70:(stack not recorded),0x555555555389 "
			     "8:" KERNEL ",(stack not recorded) 9:? 10:- 11:70:0x555555555389");
}

/* As many frames as there can be, over several slots; and one more. */
static void test_many(void **state)
{
	static char expected[65536];
	uint64_t frame[FRAMES_MAX];
	struct build build;
	char *to = expected + sprintf(expected, "1:70:");

	(void)state;
	for (unsigned int i = 0; i < FRAMES_MAX; i++)
		frame[i] = 0x555555550000 + 0x1000 * (i * 7 % 16);
	for (unsigned int i = 0; i < FKT_STACK_FRAMES_MAX; i++)
		to += sprintf(to, "%s0x%" PRIx64, i ? "," : "", frame[i]);
	strcpy(to, "~ 2:?");
	begin(&build, NULL);
	put_user(&build, 100, FKT_STACK_CUT, 70, frame, FKT_STACK_FRAMES_MAX);
	put_event(&build, 100, 1);
	put_user(&build, 110, 0, 70, frame, FKT_STACK_FRAMES_MAX + 1);
	put_event(&build, 110, 2);
	assert_tells(&build, expected);
}

/* Nothing of it is believed. */
static void test_wrong(void **state)
{
	static const struct {
		const char *bytes;
		unsigned int count;
	} wrong[] = {
		{ "\x46", 1 },	   /* no frames */
		{ "\x46\x80", 2 }, /* a number without an end */
		{ "\x46\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12 }, /* and too long a one */
		{ "\x46\x01", 2 },					    /* an address below 0 */
		{ "\xff\xff\xff\xff\x7f\x20", 6 },		    /* a process that can't be */
		{ "\x46\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10 }, /* the kernel's address */
	};
	char expected[256] = "";
	uint16_t kernel;
	struct build build;

	(void)state;
	begin(&build, NULL);
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		uint64_t words[2] = { 0 };

		memcpy(words, wrong[i].bytes, wrong[i].count);
		build_slot(&build, 0, 0, 100 + i, FKT_CODE_STACK,
			   (uint16_t)(FKT_STACK_USER | wrong[i].count), words,
			   (wrong[i].count + 7) / 8);
		put_event(&build, 100 + i, (uint16_t)i);
		sprintf(expected + strlen(expected), "%u:? ", i);
	}
	/* The kernel's as a program's, and the other way round: neither is what was said. */
	kernel = place(&build);
	put_kernel(&build, 200, 0);
	put_event(&build, 200, 20);
	put_again(&build, 210, kernel | FKT_STACK_USER);
	put_event(&build, 210, 21);
	strcat(expected, "20:" KERNEL " 21:?");
	assert_tells(&build, expected);
}

/* ---- names ---- */

int known_function(int number);

/* Whatever: it has a name. */
__attribute__((noinline)) int known_function(int number)
{
	return number * 3 + getpid();
}

/* Where this program's code is. */
static struct {
	uint64_t begin, end, offset;
} own;

static void find_own(void)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");

	assert_non_null(maps);
	do
		assert_non_null(fgets(line, sizeof(line), maps));
	while (sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64, &own.begin, &own.end,
		      &own.offset) != 3 ||
	       (uint64_t)(uintptr_t)known_function - own.begin >= own.end - own.begin);
	fclose(maps);
}

/* Append a line that says that a process has it, in this file. */
static void map_line(char *to, const char *since_and_pid, const char *id, const char *path)
{
	sprintf(to + strlen(to), "map %s %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %s %s\n",
		since_and_pid, own.begin, own.end, own.offset, id, path);
}

static void test_names(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)known_function + 1, two[] = { here, here };
	static char maps[32768], expected[8192];
	char file[64], fifo[] = "/tmp/test_user_stack.XXXXXX";
	const char *program = strrchr(exe, '/') + 1;
	struct build build;

	(void)state;
	snprintf(file, sizeof(file), "known_function+0x1 (%s)", program);
	assert_non_null(mkdtemp(fifo));
	rmdir(fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	/* Forked; executed; another file at the same place; and back again. */
	map_line(maps, "0 70", build_id, exe);
	strcat(maps, "fork 150 71 70\nfork 160 72 71\nexec 170 71\n");
	map_line(maps, "180 71", build_id, "/other/file");
	map_line(maps, "190 71", build_id, exe);
	/* Of another build; of none that is known; what is no file, or may be anywhere. */
	map_line(maps, "0 73", "00112233445566778899aabbccddeeff00112233", exe);
	map_line(maps, "0 74", "-", exe);
	map_line(maps, "0 75", build_id, "/dev/tty");
	map_line(maps, "0 76", build_id, fifo);
	map_line(maps, "0 77", build_id, program);
	/* What makes no sense. */
	strcat(maps, "fork 10 78 79\nfork 10 79 78\nmap 1 2\n\nmap 0 70 9 1 0 - /x\nexec x\nx\n");
	begin(&build, maps);
	for (uint32_t pid = 70; pid <= 79; pid++) {
		put_user(&build, 100 + pid, 0, pid, two, 2);
		put_event(&build, 100 + pid, (uint16_t)pid);
	}
	for (uint64_t stamp = 182; stamp <= 192; stamp += 10) {
		put_user(&build, stamp, 0, 71, two, 1);
		put_event(&build, stamp, (uint16_t)stamp);
	}
	for (uint32_t pid = 70; pid <= 79; pid++) {
		const uint64_t offset = here - own.begin + own.offset;
		char frame[256];

		if (pid == 70 || pid == 72)
			strcpy(frame, file);
		else if (pid >= 73 && pid <= 77)
			sprintf(frame, "(%s)+%#" PRIx64,
				pid == 75   ? "tty"
				: pid == 76 ? strrchr(fifo, '/') + 1
					    : program,
				offset);
		else
			sprintf(frame, "%#" PRIx64, here);
		sprintf(expected + strlen(expected), "%u:%u:%s,%s ", pid, pid, frame, frame);
	}
	sprintf(expected + strlen(expected), "182:71:(file)+%#" PRIx64 " 192:71:%s",
		here - own.begin + own.offset, file);
	assert_tells(&build, expected);
	unlink(fifo);
}

/*
 * Where lines are missing, what a process had before is not known any more, and of what comes of it
 * neither; until there are lines from behind that.
 */
static void test_missing(void **state)
{
	static const uint64_t stamp[] = { 110, 121, 125, 135, 150, 190, 210 };
	const uint64_t here = (uint64_t)(uintptr_t)known_function + 1;
	static char maps[32768], expected[8192];
	const char *program = strrchr(exe, '/') + 1;
	struct build build;

	(void)state;
	/* One is within another one, and another one begins before it. */
	strcat(maps, "missing 122 124\nmissing 120 130\nmissing 200 18446744073709551615\n"
		     "missing 5\nmissing 7 6\nmissing\n");
	map_line(maps, "0 70", build_id, exe);
	strcat(maps, "fork 105 71 70\nfork 122 72 70\nexec 140 70\n");
	map_line(maps, "140 70", build_id, exe);
	begin(&build, maps);
	for (unsigned int i = 0; i < sizeof(stamp) / sizeof(stamp[0]); i++) {
		for (uint32_t pid = 70; pid <= 72; pid++) {
			const bool known = stamp[i] == 110 ||
					   (pid == 70 && stamp[i] >= 140 && stamp[i] < 200);

			put_user(&build, stamp[i] + pid - 70, 0, pid, &here, 1);
			put_event(&build, stamp[i] + pid - 70, (uint16_t)pid);
			/* Nothing has told of 72 yet. */
			if (known && pid < 72)
				sprintf(expected + strlen(expected),
					"%s%u:%u:known_function+0x1 (%s)", *expected ? " " : "",
					pid, pid, program);
			else
				sprintf(expected + strlen(expected), "%s%u:%u:%#" PRIx64,
					*expected ? " " : "", pid, pid, here);
		}
	}
	assert_tells(&build, expected);
}

/* Tables and stacks that are made to take long: a thousand look-ups of all frames take a moment. */
static void test_long_tables(void **state)
{
	static const char *const lines[] = {
		/* None of them has an address; all have all but one. */
		"map 1 70 0x1000 0x2000 0 - /x\n",
		"map 1 70 0x10000 0x20000 0 - /x\n",
	};
	struct fkt_stack one = { .known = true, .count = 112, .pid = 70, .stamp = 100 }, placed;
	const unsigned int count = 20000;
	struct fkt_trace *trace;
	struct build build;
	clock_t since;
	char *maps;
	int fd;

	(void)state;
	for (unsigned int i = 0; i < one.count; i++)
		one.frame[i] = 0x20000 - i;
	for (unsigned int which = 0; which < 2; which++) {
		maps = malloc(count * strlen(lines[which]) + 1);
		assert_non_null(maps);
		for (unsigned int i = 0; i < count; i++)
			strcpy(maps + i * strlen(lines[which]), lines[which]);
		begin(&build, maps);
		free(maps);
		fd = to_file(&build);
		trace = read_open(fd);
		since = clock();
		for (unsigned int i = 0; i < 1000; i++) {
			fkt_stack_placed(trace, &one, &placed);
			for (unsigned int k = 0; k < placed.count; k++)
				assert_true((fkt_frame_place(trace, &placed, placed.frame[k]) ==
					     one.frame[k]) == (!which || !k));
		}
		/* The thread's own time; frame by frame, it were a hundred times as much. */
		assert_true(clock() - since < 3 * CLOCKS_PER_SEC);
		fkt_close(trace);
		close(fd);
	}
}

static void run(const char *format, ...)
{
	char command[16384];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if (system(command))
		fail_msg("%s", command);
}

/* Whether a file, or what it refers to, has the name of a function. */
static bool is_named(const char *path)
{
	const uint64_t offset = (uint64_t)(uintptr_t)known_function - own.begin + own.offset;
	struct fkt_elf *elf = fkt_elf_new(path, build_id);
	const char *name;
	uint64_t into;
	bool named;

	assert_non_null(elf);
	named = fkt_elf_function(elf, offset, &name, &into) && !strcmp(name, "known_function") &&
		!into;
	fkt_elf_free(elf);
	return named;
}

/* A file that has been stripped says where its symbols are: where gdb looks, of the same build. */
static void test_debug_link(void **state)
{
	char folder[] = "/tmp/test_user_stack.XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/app", folder);
	run("cd %s && objcopy --only-keep-debug %s app.debug && objcopy -S %s app", folder, exe,
	    exe);
	assert_false(is_named(path));
	run("cd %s && objcopy --add-gnu-debuglink=app.debug app", folder);
	assert_true(is_named(path));
	run("cd %s && mkdir .debug && mv app.debug .debug", folder);
	assert_true(is_named(path));
	/* Another build's; a folder; nothing. */
	run("cd %s && mv .debug/app.debug other && objcopy --remove-section=.note.gnu.build-id other .debug/app.debug",
	    folder);
	assert_false(is_named(path));
	run("cd %s && rm .debug/app.debug && mkdir .debug/app.debug", folder);
	assert_false(is_named(path));
	run("cd %s && rmdir .debug/app.debug && mkfifo .debug/app.debug", folder);
	assert_false(is_named(path));
	run("cd %s && rm .debug/app.debug", folder);
	assert_false(is_named(path));
	/* A way to elsewhere is no name. */
	run("cd %s && mv other .debug/app.debug && sed -i s,app.debug,.debug/app, app", folder);
	assert_false(is_named(path));
	run("rm -r %s", folder);
}

/* What has the same place in a file has the same number, whatever the process. */
static void test_places(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)known_function, there = here - own.begin;
	struct fkt_stack one = { .known = true, .count = 3, .pid = 70, .stamp = 100 }, two = one;
	static char maps[32768];
	struct fkt_trace *trace;
	struct build build;
	int fd;

	(void)state;
	map_line(maps, "0 70", build_id, exe);
	sprintf(maps + strlen(maps), "map 0 71 0x400000 %#" PRIx64 " %#" PRIx64 " %s %s\n",
		0x400000 + own.end - own.begin, own.offset, build_id, exe);
	begin(&build, maps);
	fd = to_file(&build);
	trace = read_open(fd);
	one.frame[0] = two.frame[0] = 0xffffffff81000000;
	one.frame[1] = here;
	two.frame[1] = 0x400000 + there;
	two.pid = 71;
	one.frame[2] = two.frame[2] = FKT_FRAME_FAULT;
	fkt_stack_place(trace, &one);
	fkt_stack_place(trace, &two);
	assert_memory_equal(one.frame, two.frame, 3 * sizeof(one.frame[0]));
	assert_true(one.frame[1] & FKT_FRAME_FILE);
	assert_int_equal(one.frame[0], 0xffffffff81000000);
	assert_int_equal(one.frame[2], FKT_FRAME_FAULT);
	fkt_close(trace);
	close(fd);
}

/* ---- what is damaged ---- */

static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Any byte of the section, or of the pages, may be any other. */
static void test_noise(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)known_function + 1, two[] = { here, here };
	static char text[1 << 20];
	static char maps[131072];

	(void)state;
	for (uint32_t pid = 70; pid < 80; pid++) {
		char since[32];

		sprintf(since, "%u %u", pid % 3 * 50, pid);
		map_line(maps, since, build_id, pid % 2 ? exe : "/lib/x");
		sprintf(maps + strlen(maps), "fork %u %u %u\nexec 20 %u\n", pid % 4, pid, pid + 1,
			pid - 1);
	}
	for (unsigned int round = 0; round < 1000; round++) {
		static char damaged[sizeof(maps)];
		struct build build;
		int fd, part;

		strcpy(damaged, maps);
		for (unsigned int i = draw(20); i; i--)
			damaged[draw((uint32_t)strlen(maps))] =
				draw(2) ? (char)(1 + draw(255)) : "0123456789 x\n"[draw(13)];
		begin(&build, damaged);
		for (uint32_t pid = 70; pid < 80; pid++) {
			put_kernel(&build, pid, 0);
			put_user(&build, pid, FKT_STACK_BELOW, pid, two, 2);
			put_event(&build, pid, (uint16_t)pid);
		}
		build_close(&build, 0);
		for (unsigned int i = round % 2 ? draw(20) : 0; i; i--)
			build.data[build.data_offset + 72 + draw(600)] ^= (uint8_t)(1u << draw(8));
		fd = to_file(&build);
		tell(fd, text, sizeof(text));
		part = memfd_create("part", 0);
		{
			struct fkt_trace *trace = read_open(fd);
			struct fkt_extract extract = { .from = 73, .to = 78 };
			struct fkt_extract_process process = { .pid = 0 };

			fkt_extract(trace, &extract, part);
			extract.process = &process;
			extract.processes = 1;
			fkt_extract(trace, &extract, part);
			fkt_close(trace);
		}
		close(part);
		close(fd);
	}
}

/* A file that has the build id, and is damaged, or cut off. */
static void test_damaged_file(void **state)
{
	char path[] = "/tmp/test_user_stack.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), fd = mkstemp(path);
	unsigned int known = 0, opened = 0;
	const char *name;
	struct stat st;
	uint64_t into;
	char *data;

	(void)state;
	assert_true(from >= 0 && fd >= 0 && !fstat(from, &st));
	data = malloc((size_t)st.st_size);
	assert_int_equal(read(from, data, (size_t)st.st_size), st.st_size);
	for (unsigned int round = 0; round < 150; round++) {
		const off_t bytes = round % 3 ? st.st_size : (off_t)draw((uint32_t)st.st_size);
		struct fkt_elf *elf;

		assert_int_equal(pwrite(fd, data, (size_t)bytes, 0), bytes);
		assert_int_equal(ftruncate(fd, bytes), 0);
		/* The headers, the tables of sections, anywhere. */
		for (unsigned int i = 0; round && i < 8; i++) {
			const uint32_t at = draw(3)	? draw((uint32_t)st.st_size)
					    : round % 2 ? draw(1024)
							: (uint32_t)st.st_size - 1 - draw(3000);
			const uint8_t byte = (uint8_t)draw(256);

			if ((off_t)at < bytes)
				assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		}
		elf = fkt_elf_new(path, build_id);
		opened += !!elf;
		for (uint64_t offset = 0; elf && offset < (uint64_t)st.st_size; offset += 977)
			if (fkt_elf_function(elf, offset, &name, &into))
				known += strlen(name) > 0;
		fkt_elf_free(elf);
	}
	assert_true(opened > 20 && known > 1000);
	assert_null(fkt_elf_new(path, "../../../etc/passwd"));
	assert_null(fkt_elf_new("/tmp", build_id));
	free(data);
	close(from);
	close(fd);
	unlink(path);
}

/* A file as anybody may make it: notes without end, names that are all underscores. */
static int make_file(unsigned int notes, unsigned int symbols, size_t name_bytes, char path[])
{
	static const struct {
		Elf64_Nhdr header;
		char owner[4];
		uint8_t id[4];
	} note = { { 4, 4, NT_GNU_BUILD_ID }, "GNU", { 1, 2, 3, 4 } };
	const Elf64_Off headers = sizeof(Elf64_Ehdr) + notes * sizeof(Elf64_Phdr);
	const Elf64_Off id_at = headers + 3 * sizeof(Elf64_Shdr);
	const Elf64_Off table_at = id_at + sizeof(note);
	const Elf64_Off names_at = table_at + symbols * sizeof(Elf64_Sym);
	const Elf64_Ehdr file = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(file),
		.e_shoff = headers,
		.e_ehsize = sizeof(file),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)notes,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
	};
	const Elf64_Shdr sections[3] = {
		[1] = { .sh_type = SHT_SYMTAB,
			.sh_offset = table_at,
			.sh_size = symbols * sizeof(Elf64_Sym),
			.sh_link = 2,
			.sh_entsize = sizeof(Elf64_Sym) },
		[2] = { .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = name_bytes },
	};
	const int fd = mkstemp(path);
	FILE *out = fdopen(fd, "w");

	assert_non_null(out);
	fwrite(&file, sizeof(file), 1, out);
	/* The last of them has it. */
	for (unsigned int i = 0; i < notes; i++) {
		const Elf64_Phdr header = {
			.p_type = PT_NOTE,
			.p_offset = i + 1 < notes ? table_at : id_at,
			.p_filesz = i + 1 < notes ? 16 : sizeof(note),
			.p_align = 4,
		};

		fwrite(&header, sizeof(header), 1, out);
	}
	fwrite(sections, sizeof(sections), 1, out);
	fwrite(&note, sizeof(note), 1, out);
	for (unsigned int i = 0; i < symbols; i++) {
		const Elf64_Sym symbol = { .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					   .st_shndx = 1,
					   .st_value = 16 * i,
					   .st_size = 16 };

		fwrite(&symbol, sizeof(symbol), 1, out);
	}
	for (size_t i = 0; i < name_bytes; i++)
		putc('_', out);
	assert_int_equal(fclose(out), 0);
	return open(path, O_RDONLY);
}

static void test_made_file(void **state)
{
	static const struct {
		unsigned int notes;
		bool found;
	} cases[] = { { 1, true }, { 10, true }, { 64, true }, { 65, false }, { 3000, false } };
	char text[FKT_BUILD_ID_TEXT], path[64];
	clock_t begin;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(path, "/tmp/test_user_stack.XXXXXX");
		fd = make_file(cases[i].notes, 1, 1, path);
		assert_int_equal(fkt_elf_build_id(fd, text), cases[i].found);
		assert_string_equal(text, cases[i].found ? "01020304" : "");
		close(fd);
		unlink(path);
	}
	strcpy(path, "/tmp/test_user_stack.XXXXXX");
	fd = make_file(1, 50000, 5000000, path);
	begin = clock();
	fkt_elf_free(fkt_elf_new(path, "01020304"));
	/* 50000 times 5 MB take longer than 10 seconds. */
	assert_true(clock() - begin < 3 * CLOCKS_PER_SEC);
	close(fd);
	unlink(path);
}

/* ---- parts of a trace ---- */

#define EVENTS 2000

/* All events of a part have the stacks that they had. */
static void test_parts(void **state)
{
	static char whole[1 << 20], part_text[1 << 20];
	uint16_t at[8] = { 0 }, kernel = 0, before = 0;
	struct build build;
	int fd, part;

	(void)state;
	begin(&build, NULL);
	for (unsigned int i = 0; i < EVENTS; i++) {
		const unsigned int which = i * i % 7;
		const uint64_t stamp = 1000 + 10 * i;
		uint64_t frame[32];

		for (unsigned int k = 0; k < 32; k++)
			frame[k] = 0x400000 + 0x1000 * which + k * k;
		if (i % 50 == 49)
			build_switch(&build, 0, stamp - 1, 0, i / 50 % 2, 1 - i / 50 % 2);
		if (place(&build) < before || place(&build) + 140 > FKT_PAGE_BYTES / 8) {
			build_close(&build, 0);
			memset(at, 0, sizeof(at));
			kernel = 0;
		}
		before = place(&build);
		if (i % 3) {
			if (kernel) {
				put_again(&build, stamp, kernel);
			} else {
				kernel = place(&build);
				put_kernel(&build, stamp, 0);
			}
		}
		if (at[which]) {
			put_again(&build, stamp,
				  (uint16_t)(at[which] | FKT_STACK_USER |
					     (i % 3 ? FKT_STACK_BELOW : 0)));
		} else {
			at[which] = place(&build);
			put_user(&build, stamp, i % 3 ? FKT_STACK_BELOW : 0, 70 + which, frame,
				 1 + 4 * which);
		}
		put_event(&build, stamp, (uint16_t)i);
	}
	fd = to_file(&build);
	tell(fd, whole, sizeof(whole));
	for (uint64_t from = 1000; from < 20000; from += 770) {
		for (uint32_t pid = 0; pid <= 2; pid++) {
			struct fkt_extract_process process = { .pid = pid };
			struct fkt_extract extract = {
				.from = from,
				.to = from + 5000,
				.process = pid < 2 ? &process : NULL,
				.processes = pid < 2,
			};
			struct fkt_trace *trace = read_open(fd);
			unsigned int events = 0;

			part = memfd_create("part", 0);
			assert_int_equal(fkt_extract(trace, &extract, part), 0);
			fkt_close(trace);
			tell(part, part_text, sizeof(part_text));
			for (char *rest = part_text, *one; (one = strtok_r(rest, " ", &rest));) {
				/* A switch is an event with the same state as others. */
				if (!strchr(one, '-')) {
					assert_non_null(strstr(whole, one));
					events++;
				}
				assert_null(strchr(one, '?'));
			}
			assert_true(events > 20);
			close(part);
		}
	}
	close(fd);
}

static int write_slots(const char *file)
{
	struct build build;

	build_slots(&build);
	build_end(&build, 1000000, 1000000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots),	   cmocka_unit_test(test_many),
		cmocka_unit_test(test_wrong),	   cmocka_unit_test(test_names),
		cmocka_unit_test(test_missing),	   cmocka_unit_test(test_long_tables),
		cmocka_unit_test(test_debug_link), cmocka_unit_test(test_places),
		cmocka_unit_test(test_noise),	   cmocka_unit_test(test_damaged_file),
		cmocka_unit_test(test_made_file),  cmocka_unit_test(test_parts),
	};
	ssize_t bytes = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int fd = open("/proc/self/exe", O_RDONLY);

	if (argc == 2 && !strncmp(argv[1], "--trace=", 8))
		return write_slots(argv[1] + 8);
	if (bytes <= 0 || !fkt_elf_build_id(fd, build_id)) {
		puts("skipped: the linker gives no build ids");
		return 77;
	}
	close(fd);
	find_own();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt_print --strace: what it makes of traces made by hand, good ones and bad ones, against
 * tests/unit/strace/. FKT_GOLDEN=write test_strace writes these files anew.
 */
#include "test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_trace.h"

#define EXITS	FKT_CODE_SYSCALL_EXIT
#define READ	0u
#define WRITE	1u
#define OPEN	2u
#define CLOSE	3u
#define MMAP	9u
#define ACTION	13u
#define WRITEV	20u
#define PIPE	22u
#define CONNECT 42u
#define CLONE	56u
#define EXECVE	59u
#define EXIT	60u
#define WAIT4	61u
#define FCNTL	72u
#define GETSOCK 51u
#define STAT	4u
#define FUTEX	202u
#define GROUP	231u
#define OPENAT	257u
#define CLONE3	435u
#define FUTURE	900u

static char top[4096]; /* the checkout */
static char path[] = "/tmp/test_strace.XXXXXX";
static struct build build;
static uint64_t now;

static void begin(void)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";

	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n60 60 1 other\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	now = 1000;
}

static void event(uint32_t code, uint16_t imm, unsigned int n, const uint64_t *words)
{
	build_slot(&build, 0, 0, now += 10, code, imm, words, n);
}

#define enter(code, ...)                                                                           \
	event(code, 0, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8,                              \
	      (const uint64_t[]){ __VA_ARGS__ })

static void leave(uint32_t code, int64_t result)
{
	if (result == (int16_t)result)
		event(EXITS + code, (uint16_t)result, 0, NULL);
	else
		event(EXITS + code, 0, 1, (const uint64_t[]){ (uint64_t)result });
}

/* One event; @bytes may be more than there are. */
static void piece(uint32_t code, unsigned int of, unsigned int index, const void *data,
		  size_t there, size_t bytes)
{
	uint64_t words[FKT_SLOT_WORDS_MAX] = { 0 };

	assert_true(there <= FKT_DATA_SLOT_BYTES);
	words[0] = code | (uint64_t)index << 32 | (uint64_t)bytes << 48;
	memcpy(words + 1, data, there);
	event(FKT_CODE_DATA, (uint16_t)of, 1 + (unsigned int)(there + 7) / 8, words);
}

static void data(uint32_t code, unsigned int of, unsigned int index, const void *data, size_t bytes)
{
	piece(code, of, index, data, bytes, bytes);
}

static void text(uint32_t code, unsigned int of, unsigned int index, const char *string)
{
	data(code, of, index, string, strlen(string));
}

static void count(uint32_t code, unsigned int of, uint32_t n)
{
	data(code, of, FKT_DATA_ARRAY, &n, sizeof(n));
}

static void thread(uint32_t from, uint32_t to)
{
	build_switch(&build, 0, now += 10, 1, from, to);
}

static void ends(uint32_t pid, uint32_t code)
{
	event(FKT_CODE_EXIT, 0, 1, (const uint64_t[]){ pid | (uint64_t)code << 32 });
}

/*
 * What fkt_print says of a part of the trace, or of all without a @range, against
 * tests/unit/strace/NAME, and that it is well.
 */
static void expect_part(const char *name, const char *options, const char *range)
{
	static char got[1 << 20], wanted[1 << 20];
	const bool write = getenv("FKT_GOLDEN") && !strcmp(getenv("FKT_GOLDEN"), "write");
	char command[8192], golden[4200];
	FILE *file;

	build_end(&build, now + 1000, now + 1000, 0);
	build_write(&build, path, build.bytes);
	build_free(&build);
	if (range) {
		snprintf(command, sizeof(command),
			 "cd %s/build/bin && ./fkt_extract %s -o %s.part --range=%s 2>/dev/null && "
			 "mv %s.part %s",
			 top, path, path, range, path, path);
		assert_int_equal(system(command), 0);
	}
	snprintf(command, sizeof(command), "%s/build/bin/fkt_print --strace %s %s 2>/dev/null", top,
		 options, path);
	file = popen(command, "r");
	assert_non_null(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	assert_int_equal(pclose(file), 0);
	snprintf(golden, sizeof(golden), "%s/tests/unit/strace/%s", top, name);
	file = fopen(golden, write ? "w" : "r");
	assert_non_null(file);
	if (write) {
		fputs(got, file);
	} else {
		wanted[fread(wanted, 1, sizeof(wanted) - 1, file)] = '\0';
		assert_string_equal(got, wanted);
	}
	fclose(file);
}

static void expect(const char *name, const char *options)
{
	expect_part(name, options, NULL);
}

static void test_numbers(void **state)
{
	(void)state;
	begin();
	enter(OPENAT, (uint32_t)-100, 0x7000, 0x80241, 0644);
	leave(OPENAT, -2);
	enter(OPENAT, (uint32_t)-100, 0x7000, 0x90800, 0);
	leave(OPENAT, 3);
	enter(READ, 3, 0, 4096);
	leave(READ, -512);
	enter(MMAP, 0, 8192, 5, 0x22, (uint64_t)-1, 0x26000);
	leave(MMAP, 0x7f0000000000);
	enter(FCNTL, 3, 3, 0);
	leave(FCNTL, 0x802);
	enter(FCNTL, 3, 2, 1);
	leave(FCNTL, 0);
	enter(FUTEX, 0x1000, 0x81, 1, 0, 0, 0);
	leave(FUTEX, 1);
	enter(FUTEX, 0x1000, 0x189, 2, 0, 0, 0xffffffff);
	leave(FUTEX, -110);
	enter(CLONE, 0x1200011, 0, 0, 0x7f0000000a10, 0);
	leave(CLONE, 51);
	enter(FUTURE, 1, 2, 0x30);
	leave(FUTURE, -38);
	enter(GROUP, 3);
	ends(50, 0x300);
	expect("numbers", "");
}

/* Lines that others come between; a child; what begins before the trace, and what never ends. */
static void test_lines(void **state)
{
	(void)state;
	begin();
	leave(READ, 5);
	enter(WAIT4, (uint32_t)-1, 0x7000, 0, 0);
	thread(50, 60);
	enter(FUTEX, 0x1000, 0, 1, 0, 0, 0);
	thread(60, 50);
	data(WAIT4, 1 | FKT_DATA_EXIT, 0, &(uint32_t){ 9 }, 4);
	leave(WAIT4, 60);
	thread(50, 60);
	leave(FUTEX, 0);
	enter(CLONE, 17, 0, 0, 0, 0);
	build_fork(&build, 0, now += 10, 61, 60);
	leave(CLONE, 61);
	thread(60, 61);
	leave(CLONE, 0);
	enter(CLOSE, 3);
	thread(61, 60);
	enter(CLOSE, 4);
	ends(60, 0x8b);
	expect("lines", "");
}

/* A child whose fork lies before the trace: it comes out of its parent's call. */
static void test_birth(void **state)
{
	(void)state;
	begin();
	leave(CLONE3, 0);
	enter(CLOSE, 3);
	leave(CLOSE, 0);
	thread(50, 60);
	leave(CLONE3, 61);
	expect("birth", "");
}

static void test_memory(void **state)
{
	static const uint64_t action[4] = { 0x5000, 0x14000000, 0x6000, 1 << 9 | 1ull << 32 };
	static const uint32_t stat[14] = { [6] = 0100644, [12] = 49 };
	uint64_t iov[2] = { 3, 0 };

	(void)state;
	begin();
	text(EXECVE, 0, 0, "/bin/app");
	text(EXECVE, 1, 0, "app");
	piece(EXECVE, 1 | FKT_DATA_CUT, 1, "long", 4, 4);
	count(EXECVE, 1, 2);
	count(EXECVE, 2, 1);
	enter(EXECVE, 0x7000, 0x7100, 0x7200);
	leave(EXECVE, 0);
	/* A path in two pieces, with what a terminal must not see. */
	text(OPENAT, 0, 0, "/tmp<>\n");
	text(OPENAT, 1 | FKT_DATA_MORE, 0, "a\033\"\\");
	text(OPENAT, 1, 0, "1\n\1\2\x33\xff");
	enter(OPENAT, (uint32_t)-100, 0x7000, 0, 0);
	text(OPENAT, FKT_DATA_RESULT | FKT_DATA_EXIT, 0, "/tmp/x (deleted)");
	leave(OPENAT, 3);
	/* Not there at the begin, but at the end; and never. */
	piece(OPEN, 0 | FKT_DATA_FAULT, 0, "", 0, 0);
	enter(OPEN, 0x7000, 0, 0);
	thread(50, 60);
	thread(60, 50);
	text(OPEN, 0 | FKT_DATA_EXIT, 0, "late");
	leave(OPEN, -13);
	piece(OPEN, 0 | FKT_DATA_FAULT, 0, "", 0, 0);
	enter(OPEN, 8, 0, 0);
	piece(OPEN, 0 | FKT_DATA_FAULT | FKT_DATA_EXIT, 0, "", 0, 0);
	leave(OPEN, -14);
	text(READ, 0, 0, "socket:[5]");
	enter(READ, 3, 0x7000, 100);
	piece(READ, 1 | FKT_DATA_EXIT | FKT_DATA_CUT, 0, "ab", 2, 2);
	leave(READ, 90);
	memcpy(iov + 1, "abc", 3);
	data(WRITEV, 1, 0, iov, 11);
	count(WRITEV, 1, 1);
	enter(WRITEV, 1, 0x7000, 1);
	leave(WRITEV, 3);
	data(PIPE, 0 | FKT_DATA_EXIT, 0, (const int32_t[]){ 3, 4 }, 8);
	text(PIPE, 0 | FKT_DATA_EXIT, 1, "pipe:[1]");
	text(PIPE, 0 | FKT_DATA_EXIT, 2, "pipe:[1]");
	now += 10;
	enter(PIPE, 0x7000);
	data(PIPE, 0 | FKT_DATA_EXIT, 0, (const int32_t[]){ 3, 4 }, 8);
	text(PIPE, 0 | FKT_DATA_EXIT, 1, "pipe:[1]");
	text(PIPE, 0 | FKT_DATA_EXIT, 2, "pipe:[1]");
	leave(PIPE, 0);
	data(CONNECT, 1, 0, "\2\0\0\x50\x7f\0\0\1\0\0\0\0\0\0\0\0", 16);
	enter(CONNECT, 3, 0x7000, 16);
	leave(CONNECT, -115);
	data(CONNECT, 1, 0, "\1\0/run/x\0\0", 10);
	enter(CONNECT, 3, 0x7000, 110);
	leave(CONNECT, 0);
	data(GETSOCK, 2, 0, &(uint32_t){ 110 }, 4);
	enter(GETSOCK, 3, 0x7000, 0x7100);
	data(GETSOCK, 1 | FKT_DATA_EXIT, 0, "\1\0@", 2);
	data(GETSOCK, 2 | FKT_DATA_EXIT, 0, &(uint32_t){ 2 }, 4);
	leave(GETSOCK, 0);
	data(ACTION, 1, 0, action, sizeof(action));
	enter(ACTION, 10, 0x7000, 0, 8);
	leave(ACTION, 0);
	enter(STAT, 0x7000, 0x7100);
	data(STAT, 1 | FKT_DATA_EXIT, 0, stat, sizeof(stat));
	leave(STAT, 0);
	expect("memory", "");
}

/* Memory of calls whose own events were lost, and what no module writes. */
static void test_bad(void **state)
{
	(void)state;
	begin();
	/* Of a call that is not there. */
	text(OPEN, 0, 0, "lost");
	text(CLOSE, 0, 0, "/there");
	enter(CLOSE, 3);
	leave(CLOSE, 0);
	/* Its end was lost, and so were the begin of the next one and its memory. */
	enter(READ, 3, 0x7000, 5);
	text(WRITE, 1, 0, "mine");
	enter(WRITE, 1, 0x7000, 4);
	leave(WRITE, 4);
	leave(READ, 4);
	/* More bytes than words; no words; numbers beyond all arguments. */
	piece(WRITE, 1, 0, "abc", 3, 0xffff);
	event(FKT_CODE_DATA, 1, 0, NULL);
	text(WRITE, 0xffff, 0, "none");
	text(WRITE, 7, 0, "none");
	enter(WRITE, 1, 0x7000, 4);
	leave(WRITE, 4);
	/* An array that is said to be endless, and a count that is none. */
	count(EXECVE, 1, UINT32_MAX);
	data(EXECVE, 2, FKT_DATA_ARRAY, "a", 1);
	enter(EXECVE, 0x7000, 0x7100, 0x7200);
	leave(EXECVE, -2);
	/* Structures that are too short. */
	data(CONNECT, 1, 0, "\2\0", 2);
	enter(CONNECT, 3, 0x7000, 16);
	leave(CONNECT, 0);
	data(CONNECT, 1, 0, "\1", 1);
	enter(CONNECT, 3, 0x7000, 16);
	leave(CONNECT, 0);
	enter(STAT, 0x7000, 0x7100);
	data(STAT, 1 | FKT_DATA_EXIT, 0, "", 1);
	leave(STAT, 0);
	/* Events without words, where there should be some. */
	event(FKT_CODE_EXEC, 0, 0, NULL);
	event(FKT_CODE_EXIT, 0, 0, NULL);
	/* Fewer arguments than it has. */
	enter(MMAP, 0, 4096);
	leave(MMAP, 0x1000);
	expect("bad", "");
}

static void test_formats(void **state)
{
	(void)state;
	begin();
	text(WRITE, 1, 0, "a\"b");
	enter(WRITE, 1, 0x7000, 3);
	thread(50, 60);
	enter(CLOSE, 3);
	leave(CLOSE, -9);
	thread(60, 50);
	leave(WRITE, 3);
	expect("calls.json", "--format json");
}

/* What is not known is null. */
static void test_unknown(void **state)
{
	(void)state;
	begin();
	leave(CLOSE, 0);
	expect("unknown.json", "--format json");
}

/* A call that was open when a part began: its head says since when. */
static void test_open(void **state)
{
	(void)state;
	begin();
	enter(CLOSE, 3);
	thread(50, 60);
	thread(60, 50);
	leave(CLOSE, 0);
	enter(CLOSE, 4);
	leave(CLOSE, 0);
	expect_part("open.json", "--format json", "15ns..60ns");
}

static void test_nothing(void **state)
{
	(void)state;
	begin();
	enter(CLOSE, 3);
	leave(CLOSE, 0);
	thread(50, 60);
	expect("nothing", "--process=other");
}

/* A call that its thread's end ends is selected by its own code, and how long it took. */
static void test_exits(void **state)
{
	static const struct {
		const char *name;
		const char *options;
	} cases[] = {
		{ "exits-not", "'--code=!sys_exit_group'" },
		{ "exits-call", "--code=sys_exit_group" },
		{ "exits-event", "--code=exit" },
		{ "exits-call.json", "--code=sys_exit_group --format=json" },
		{ "exits-long.json", "--longer-than=15ns --format=json" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		enter(CLOSE, 3);
		leave(CLOSE, 0);
		enter(GROUP, 3);
		thread(50, 60);
		thread(60, 50);
		ends(50, 0x300);
		expect(cases[i].name, cases[i].options);
	}
}

/* A thread ends in a call that was open when a part began. */
static void test_exits_of_part(void **state)
{
	static const char *const cases[][2] = {
		{ "exits-part", "" },
		{ "exits-part-call.json", "--code=sys_exit_group --format=json" },
		{ "exits-part-event", "--code=exit" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		enter(GROUP, 3);
		thread(50, 60);
		enter(CLOSE, 3);
		leave(CLOSE, 0);
		thread(60, 50);
		ends(50, 0x300);
		thread(50, 60);
		ends(60, 0x200);
		expect_part(cases[i][0], cases[i][1], "5ns..90ns");
	}
}

static void test_none(void **state)
{
	(void)state;
	begin();
	event(READ, 0, 0, NULL);
	leave(READ, 0);
	expect("no-arguments", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_exits),	cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_open),
		cmocka_unit_test(test_birth),	cmocka_unit_test(test_memory),
		cmocka_unit_test(test_bad),	cmocka_unit_test(test_formats),
		cmocka_unit_test(test_none),	cmocka_unit_test(test_exits_of_part),
	};
	ssize_t bytes = readlink("/proc/self/exe", top, sizeof(top) - 1);
	char *build_at = bytes > 0 ? strstr(top, "/build/tests/unit/") : NULL;
	int fd = mkstemp(path), failed;

	if (!build_at || fd < 0)
		return 77;
	*build_at = '\0';
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

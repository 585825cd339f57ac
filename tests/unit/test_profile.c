// SPDX-License-Identifier: GPL-2.0-only
/* Samples: by process and function, for gprof, by stack, and where they are damaged. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_trace.h"

#define BASE  0xffffffff81000000ull
#define LEAF  0x200u
#define INNER 0x100u
#define OUTER 0x000u

static char top[4096];	/* the checkout */
static char path[4096]; /* of the trace */

static void begin(struct build *build)
{
	static const char info[] = "tsc_khz=1000000\0profile_hz=1000";

	build_begin(build, 1, false);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_clock(build, 0, 0, 0);
	build_text(build, FKT_SECTION_SYMBOLS,
		   "ffffffff81000000 T outer\nffffffff81000100 T inner\nffffffff81000200 T leaf\n"
		   "ffffffff81000300 t last\t[mod]\n");
	build_text(build, FKT_SECTION_PROCESSES, "7 7 1 seven\n8 7 1 eight\n9 9 1 nine\n");
	build_text(build, FKT_SECTION_CODES,
		   "1203 1 point 0 process stack @how:x16\n"
		   "1400 1 point 0 profile sample @user:u16 pid:pid late:u32 ip:sym\n"
		   "0000 1024 entry 0400 system sys #sysnr args:args\n"
		   "0400 1024 exit 0000 system sys_exit #sysnr ret:ret\n");
	build_text(build, FKT_SECTION_SYSCALLS, "x86_64 0 read fd\nx86_64 1 write fd\n");
	build_pages(build);
}

static void end(struct build *build)
{
	build_end(build, 1000000000000, 1000000000000, 0);
	build_write(build, path, build->bytes);
	build_free(build);
}

static void put_stack(struct build *build, uint64_t stamp, const uint32_t *frame, unsigned int n)
{
	uint64_t words[4] = { 0 };

	for (unsigned int i = 0; i < n; i++)
		words[i / 2] |= ((BASE + frame[i]) & UINT32_MAX) << (i % 2 ? 32 : 0);
	build_slot(build, 0, 0, stamp, FKT_CODE_STACK, (uint16_t)n, words, (n + 1) / 2);
}

static void put_sample(struct build *build, uint64_t stamp, uint16_t user, uint32_t pid,
		       uint32_t late, uint64_t ip)
{
	const uint64_t words[] = { pid | (uint64_t)late << 32, ip };

	build_slot(build, 0, 0, stamp, FKT_CODE_SAMPLE, user, words, 2);
}

#define FRAMES(...) (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / 4

/* Ten samples: in functions, at their first instruction, in a recursion, without a stack. */
static void put_ten(struct build *build, uint64_t stamp)
{
	for (unsigned int i = 0; i < 4; i++) {
		put_stack(build, stamp + i, FRAMES(LEAF, INNER + 8, OUTER + 8));
		put_sample(build, stamp + i, 0, 7, 0, BASE + LEAF);
	}
	/* leaf() is on it twice, and has called what it returns to at its very end. */
	for (unsigned int i = 4; i < 7; i++) {
		put_stack(build, stamp + i, FRAMES(LEAF + 4, INNER + 8, LEAF + 0x100, OUTER + 8));
		put_sample(build, stamp + i, 0, 8, 2, BASE + LEAF + 4);
	}
	put_stack(build, stamp + 7, FRAMES(INNER + 1, OUTER + 8));
	put_sample(build, stamp + 7, 0, 9, 0, BASE + INNER + 1);
	put_sample(build, stamp + 8, 0, 9, 0, BASE + 0x300);
	put_sample(build, stamp + 9, 1, 9, 1, 0x5500);
}

/* What a command of the shell prints; $p is fkt_print, $f the trace, $t a file of its own. */
static const char *output(const char *command)
{
	static char text[65536];
	char line[4 * sizeof(top) + 4096];
	size_t bytes;
	FILE *pipe;

	snprintf(
		line, sizeof(line),
		"cd /tmp && p=%s/build/bin/fkt_print; x=%s/build/bin/fkt_extract; f=%s; t=%s.out; %s",
		top, top, path, path, command);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	bytes = fread(text, 1, sizeof(text) - 1, pipe);
	text[bytes] = '\0';
	assert_int_equal(pclose(pipe), 0);
	return text;
}

static const char functions[] = "function,object,self_percent,total_percent,samples,total_samples\n"
				"leaf,kernel,70.0000,70.0000,7,7\n"
				"inner,kernel,10.0000,80.0000,1,8\n"
				"0x5500,,10.0000,10.0000,1,1\n"
				"last,mod,10.0000,10.0000,1,1\n"
				"outer,kernel,0.0000,80.0000,0,8\n";

static void test_profile(void **state)
{
	struct build build;

	(void)state;
	begin(&build);
	put_ten(&build, 1000);
	end(&build);
	assert_string_equal(output("$p --profile --format csv $f | sed -n '/^function/,$p'"),
			    functions);
	assert_string_equal(output("$p --profile --format csv $f | sed '/^$/,$d; /^function/,$d'"),
			    "tid,process,samples,percent,user_percent,kernel_percent\n"
			    "7,seven,7,70.0000,0.0000,70.0000\n9,nine,3,30.0000,10.0000,20.0000\n");
	assert_string_equal(output("$p --profile $f | grep -e samples, -e 'more were'"),
			    "10 samples, 1000 a second of each CPU that is not idle\n"
			    "7 more were due, and did not come: interrupts were off, or a virtual "
			    "CPU did not run\n");
	/* A first frame is no return address, and others are. */
	assert_string_equal(output("$p --no-summary --stack --format json $f | sed -n "
				   "'1p; 5p' | sed 's/.*\"stack\"://'"),
			    "[\"leaf+0x0\",\"inner+0x8\",\"outer+0x8\"]}\n"
			    "[\"leaf+0x4\",\"inner+0x8\",\"leaf+0x100\",\"outer+0x8\"]}\n");
	assert_string_equal(output("$p --by stack --format csv $f | cut -d, -f 1,2"),
			    "event,count\nsample,4\nsample,3\nsample,1\n");
	assert_string_equal(output("$p --profile --format csv --range ..6ns $f | grep ^leaf"),
			    "leaf,kernel,100.0000,100.0000,6,6\n");
	output("$x --from 0 -o $t $f >/dev/null; $p --profile --format csv $f >$t.a; "
	       "$p --profile --format csv $t | cmp - $t.a; s=$?; rm -f $t $t.a; exit $s");
}

/* Another event's stack begins with a return address. */
static void test_others(void **state)
{
	struct build build;

	(void)state;
	begin(&build);
	put_stack(&build, 100, FRAMES(LEAF, OUTER + 8));
	build_event(&build, 0, 100, 0x20, 1);
	put_stack(&build, 110, FRAMES(LEAF, OUTER + 8));
	put_sample(&build, 110, 0, 7, 0, BASE + LEAF);
	end(&build);
	assert_string_equal(output("$p --no-summary --stack --format json $f | sed "
				   "'s/.*\"stack\"://'"),
			    "[\"inner+0x100\",\"outer+0x8\"]}\n[\"leaf+0x0\",\"outer+0x8\"]}\n");
}

/* A millisecond for each, below the thread's name. */
static void test_flame(void **state)
{
	struct build build;

	(void)state;
	begin(&build);
	put_ten(&build, 1000);
	end(&build);
	assert_string_equal(output("$p --folded --flame-of samples $f | sort"),
			    "eight;outer;leaf;inner;leaf 3000000\nnine;0x5500 1000000\n"
			    "nine;last 1000000\nnine;outer;inner 1000000\n"
			    "seven;outer;inner;leaf 4000000\n");
	assert_string_equal(output("$p --folded --flame-of samples --range ..4ns $f"),
			    "seven;outer;inner;leaf 4000000\n");
	assert_string_equal(output("$p --flamegraph - --flame-of samples $f | grep -c "
				   "'leaf.*: 4.000 ms'"),
			    "1\n");
}

static void test_gmon(void **state)
{
	struct build build;

	(void)state;
	if (system("gprof --version >/dev/null 2>&1")) {
		print_message("skipped: gprof is not installed (apt-get install binutils)\n");
		skip();
	}
	begin(&build);
	put_ten(&build, 1000);
	end(&build);
	assert_string_equal(
		output("$p --gmon $t $f >/dev/null; gprof -b -p $t.elf $t 2>&1 | awk '$1 ~ /^[0-9.]+$/ "
		       "{ print $NF, $1, $4 }'; rm -f $t $t.elf"),
		"leaf 70.00 10\ninner 10.00 8\n0x5500 10.00 0x5500\n[mod] 10.00 last\n");
	/* More than a number of gmon.out holds, of calls: 100 s and 10 s. */
	begin(&build);
	build_event(&build, 0, 0, 0, 0);
	build_event(&build, 0, 100000000000, 0x400, 0);
	for (unsigned int i = 0; i < 10; i++) {
		build_event(&build, 0, 110000000000 + i * 2000000000ull, 1, 0);
		build_event(&build, 0, 111000000000 + i * 2000000000ull, 0x401, 0);
	}
	end(&build);
	assert_string_equal(
		output("$p --gmon $t $f >/dev/null; gprof -b -p $t.elf $t 2>&1 | awk '$1 ~ /^[0-9.]+$/ "
		       "{ print $NF, $1, $3, $4 }'; rm -f $t $t.elf"),
		"sys_read 90.91 100.00 1\nsys_write 9.09 10.00 10\n");
}

/* Whatever is damaged, it is read to its end. */
static void test_damage(void **state)
{
	struct build build;
	uint32_t seed = 1;

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		begin(&build);
		for (unsigned int i = 0; i < 30; i++)
			put_ten(&build, 1000 + 100 * i);
		/* Of fewer words than it has. */
		build_slot(&build, 0, 0, 9000, FKT_CODE_SAMPLE, 0, (uint64_t[]){ 7 }, round % 2);
		build_end(&build, 1000000000000, 1000000000000, 0);
		for (unsigned int i = 0; round && i < 40; i++) {
			seed = seed * 1664525 + 1013904223;
			build.data[build.data_offset + 72 +
				   (seed >> 4) % (build.tail_offset - build.data_offset - 72)] ^=
				(uint8_t)(1u << (seed >> 1) % 8);
		}
		build_write(&build, path, build.bytes);
		build_free(&build);
		output("$p --profile $f >/dev/null 2>&1; [ $? -lt 2 ] || exit 1; "
		       "$p --gmon $t $f >/dev/null 2>&1; [ $? -lt 2 ]; s=$?; rm -f $t $t.elf; exit $s");
	}
}

/* The trace alone, for other tests. */
static int write_trace(const char *file)
{
	struct build build;

	begin(&build);
	put_ten(&build, 1000);
	build_end(&build, 1000000000000, 1000000000000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

int main(int argc, char **argv)
{
	ssize_t bytes = readlink("/proc/self/exe", top, sizeof(top) - 1);
	char *build = bytes > 0 ? strstr(top, "/build/tests/unit/") : NULL;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile), cmocka_unit_test(test_others),
		cmocka_unit_test(test_flame),	cmocka_unit_test(test_gmon),
		cmocka_unit_test(test_damage),
	};
	char name[] = "/tmp/test_profile.XXXXXX";
	int fd = mkstemp(name), failed;

	if (!build || fd < 0)
		return 77;
	close(fd);
	if (argc == 2 && !strncmp(argv[1], "--trace=", 8)) {
		unlink(name);
		return write_trace(argv[1] + 8);
	}
	*build = '\0';
	strcpy(path, name);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

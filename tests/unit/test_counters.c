// SPDX-License-Identifier: GPL-2.0-only
/* What counters have counted: of calls, what they call, the time between, and where damaged. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_trace.h"

#define READ   0x0000
#define WRITE  0x0001
#define EXIT   0x0400
#define F      0x10000
#define F_EXIT 0x10001
#define OUTER  0x6f800
#define INNER  0x6f802

static char top[4096];	/* the checkout */
static char path[4096]; /* of the trace */

static void begin(struct build *build, const char *counters)
{
	char info[256] = "tsc_khz=1000000";
	size_t bytes = strlen(info) + 1;

	bytes += (size_t)sprintf(info + bytes, "layers=system,functions") + 1;
	if (counters)
		bytes += (size_t)sprintf(info + bytes, "counters=%s", counters) + 1;
	build_begin(build, 1, false);
	build_section(build, FKT_SECTION_INFO, info, bytes, false);
	build_clock(build, 0, 0, 0);
	build_text(build, FKT_SECTION_PROCESSES, "7 7 1 seven\n8 8 1 eight\n");
	build_text(build, FKT_SECTION_CODES,
		   "0x0000 1024 entry 0x0400 system sys #sysnr args:args\n"
		   "0x0400 1024 exit 0x0000 system sys_exit #sysnr ret:ret\n"
		   "0x1100 1 point 0 process switch_to @state:state prev:pid next:pid\n"
		   "0x120a 1 point 0 process counters @missing:x16 page_faults:u64 task_clock:u64\n"
		   "0x10000 1 entry 0x10001 functions f args:args\n"
		   "0x10001 1 exit 0x10000 functions f ret:ret\n"
		   "0x6f800 1 entry 0x6f801 application app:outer #words\n"
		   "0x6f801 1 exit 0x6f800 application app:outer #words\n"
		   "0x6f802 1 entry 0x6f803 application app:inner #words\n"
		   "0x6f803 1 exit 0x6f802 application app:inner #words\n");
	build_text(build, FKT_SECTION_SYSCALLS, "x86_64 0 read fd\nx86_64 1 write fd\n");
	build_pages(build);
	build->lane[0].pid = 7;
}

static void end(struct build *build)
{
	build_end(build, 1000000000000, 1000000000000, 0);
	build_write(build, path, build->bytes);
	build_free(build);
}

/* What they are at, and an event behind it. */
static void put(struct build *build, uint64_t stamp, uint16_t missing, uint64_t faults,
		uint64_t clock, uint32_t code)
{
	const uint64_t words[] = { faults, clock };

	build_slot(build, 0, 0, stamp, FKT_CODE_COUNTERS, missing, words, 2);
	build_event(build, 0, stamp + 1, code, 0);
}

static void put_calls(struct build *build)
{
	const uint64_t words[] = { 23, 360 };

	put(build, 1000, 0, 10, 100, READ);
	put(build, 1100, 0, 13, 150, F);
	put(build, 1200, 0, 18, 200, F_EXIT);
	put(build, 1300, 0, 19, 260, EXIT + READ);
	put(build, 1400, 0, 22, 300, WRITE);
	put(build, 1500, 0, 22, 350, EXIT + WRITE);
	build_slot(build, 0, 0, 1600, FKT_CODE_COUNTERS, 0, words, 2);
	build_switch(build, 0, 1601, 0, 7, 8);
	/* What thread 8 was at comes out now. */
	put(build, 1700, 0, 25, 400, READ);
	/* Both go back. */
	put(build, 1800, 0, 20, 390, EXIT + READ);
	/* The first one does not count any more, and then counts again. */
	put(build, 1900, 1, 0, 500, WRITE);
	put(build, 2000, 0, 30, 600, EXIT + WRITE);
	/* Where events are missing, it is not known what has counted. */
	build_close(build, 0);
	build->lane[0].lost += 5;
	put(build, 3000, 0, 40, 700, READ);
	put(build, 3100, 0, 41, 710, EXIT + READ);
}

static void put_trace(const char *counters)
{
	struct build build;

	begin(&build, counters);
	put_calls(&build);
	end(&build);
}

/* What a command of the shell prints: $b/ has the tools; $f is the trace, $t a file. */
static const char *output(const char *command)
{
	static char text[65536];
	char line[3 * sizeof(top) + 4096];
	size_t bytes;
	FILE *pipe;

	snprintf(line, sizeof(line),
		 "cd /tmp && b=%s/build/bin; p=$b/fkt_print; x=$b/fkt_extract; e=$b/fkt_export; "
		 "f=%s; t=%s.out; %s",
		 top, path, path, command);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	bytes = fread(text, 1, sizeof(text) - 1, pipe);
	text[bytes] = '\0';
	assert_int_equal(pclose(pipe), 0);
	return text;
}

/* The first and the last two columns of a table. */
#define COUNTED "awk -F, '{ print $1, $(NF - 1), $NF }'"

static void test_summary(void **state)
{
	(void)state;
	put_trace("page-faults,task-clock");
	assert_string_equal(output("$p -q --format csv $f | sed -n '/^name,/,/^Total/p' | " COUNTED
				   " | sort"),
			    "Total elapsed time 26 610\nf 5 50\nname page_faults task_clock_ns\n"
			    "sys_read 5 120\nsys_write 0 150\nunknown 10 100\nuser 6 190\n");
	assert_string_equal(output("$p -q $f | grep -oE 'page-faults +task-clock ns'"),
			    "page-faults task-clock ns\n");
	/* Of the calls that a filter picks. */
	assert_string_equal(
		output("$p -q --format csv --function sys_read $f | grep ^sys_read | " COUNTED),
		"sys_read 5 120\n");
	/* From one reading within the window to another. */
	assert_string_equal(
		output("$p -q --format csv --from 350ns --to 1050ns $f | grep ^Total | " COUNTED),
		"Total elapsed time 3 300\n");
	assert_string_equal(
		output("$p -q --format csv --process eight $f | grep ^Total | " COUNTED),
		"Total elapsed time 3 250\n");
}

static void test_calls(void **state)
{
	(void)state;
	put_trace("page-faults,task-clock");
	assert_string_equal(
		output("$p --calls=sys_read --format csv $f | cut -d, -f 2- | " COUNTED),
		"name page_faults task_clock_ns\nf 5 50\nsys_read ONLY 5 120\n"
		"sys_read 10 170\n");
	assert_string_equal(output("$p --by process --format csv $f | sed 1d | " COUNTED " | sort"),
			    "7 14 260\n8 1 110\n");
	assert_string_equal(
		output("$p --by function --format json $f | "
		       "grep -oE '\"f\"|\"page_faults\":5|\"task_clock_ns\":50\\b' | tr '\\n' ' '"),
		"\"f\" \"page_faults\":5 \"task_clock_ns\":50 ");
	assert_string_equal(
		output("$p --no-summary $f | grep -c 'counters  *missing=0x0 page_faults='"),
		"12\n");
	/* A part has its own beginning; and what is exported are the calls. */
	assert_string_equal(output("$x --from 350ns -o $t $f >/dev/null && "
				   "$p --by process --format csv $t | sed 1d | " COUNTED
				   " | sort; rm -f $t"),
			    "7 0 50\n8 1 110\n");
	/* Of a process: what others have counted meanwhile is not its own. */
	assert_string_equal(output("$x --process eight -o $t $f >/dev/null && "
				   "$p -q --process eight --format csv $t | grep ^Total | " COUNTED
				   "; rm -f $t"),
			    "Total elapsed time 3 250\n");
	assert_string_equal(
		output("$e --to chrome -o $t $f >/dev/null && grep -c counters $t; rm -f $t"),
		"0\n");
}

/* Beside the time of each call, with what it called; of programs' columns the last ones without. */
static void test_lines(void **state)
{
	struct build build;

	(void)state;
	put_trace("page-faults,task-clock");
	assert_string_equal(output("$p --graph $f 2>/dev/null | cut -c -46 | head -4"),
			    "   Duration page-faults task-clock ns  CPU Thr\n"
			    "                                         0 sev\n"
			    "     100 ns           5            50    0 sev\n"
			    "     300 ns           9           160    0 sev\n");
	assert_string_equal(output("$p --spans $f 2>/dev/null | cut -c 39-65 | head -3"),
			    " page-faults task-clock ns \n           9           160 \n"
			    "           5            50 \n");
	assert_string_equal(output("$p --graph --format csv $f | cut -d, -f 14,19- | head -4"),
			    "name,page_faults,task_clock_ns,own_page_faults,own_task_clock_ns\n"
			    "f,5,50,5,50\nsys_read,9,160,4,110\nsys_write,0,50,0,50\n");
	/* Who makes the lines, and in which order, is the same to them; so is a filter. */
	assert_string_equal(output("$p --spans --format csv --threads 4 $f | grep ',f,' | "
				   "cut -d, -f 19-; $p --graph --function f --threads 1 $f | "
				   "grep -c ' 5            50 '"),
			    "5,50,5,50\n1\n");
	/* Of a call whose entry is not there nobody knows. */
	begin(&build, "page-faults,task-clock");
	put(&build, 1000, 0, 10, 100, EXIT + READ);
	put(&build, 1100, 0, 13, 150, WRITE);
	end(&build);
	assert_string_equal(
		output("$p --graph $f | sed -n 's/^ *? *\\(?\\) *? .*/\\1/p'; $p --spans --format csv $f | "
		       "grep ,sys_read, | cut -d, -f 18-; $b/fkt_query --format csv $f 'SELECT count(*) "
		       "FROM calls WHERE page_faults IS NULL AND own_task_clock_ns IS NULL'"),
		"?\n0,,,,\ncount(*)\n1\n");
}

/*
 * Programs read no counters where their spans begin and end: what is counted meanwhile is that of
 * what was open all the time, and of a span that is over between two readings nobody knows.
 */
static void test_spans(void **state)
{
	struct build build;

	(void)state;
	begin(&build, "page-faults,task-clock");
	put(&build, 1000, 0, 10, 100, READ);
	put(&build, 1100, 0, 11, 150, EXIT + READ);
	build_event(&build, 0, 1200, OUTER, 0);
	put(&build, 1300, 0, 21, 350, READ);
	put(&build, 1400, 0, 24, 450, EXIT + READ);
	build_event(&build, 0, 1500, INNER, 0);
	build_event(&build, 0, 1700, INNER + 1, 0);
	build_event(&build, 0, 1800, INNER, 0);
	put(&build, 1900, 0, 31, 950, WRITE);
	put(&build, 2000, 0, 31, 1050, EXIT + WRITE);
	put(&build, 2100, 0, 33, 1150, WRITE);
	put(&build, 2200, 0, 33, 1250, EXIT + WRITE);
	build_event(&build, 0, 2300, INNER + 1, 0);
	build_event(&build, 0, 2400, OUTER + 1, 0);
	put(&build, 2500, 0, 40, 1550, READ);
	put(&build, 2600, 0, 40, 1650, EXIT + READ);
	end(&build);
	assert_string_equal(output("$p --spans --format csv $f | grep ,app: | cut -d, -f 14,19-"),
			    "app:outer,12,900,7,500\napp:inner,,,,\napp:inner,2,300,2,100\n");
	assert_string_equal(output("$p -q --format csv $f | sed -n '/^name,/,/^Total/p' | " COUNTED
				   " | sort"),
			    "Total elapsed time 30 1550\napp:inner 2 100\napp:outer 7 500\n"
			    "name page_faults task_clock_ns\nsys_read 4 250\nsys_write 0 200\n"
			    "user 17 500\n");
}

/* As columns of SQL's tables, of each interval of fkt_top. */
static void test_tables(void **state)
{
	(void)state;
	put_trace("page-faults,task-clock");
	assert_string_equal(
		output("$b/fkt_query --format csv $f 'SELECT name, page_faults, task_clock_ns, "
		       "own_page_faults, own_task_clock_ns FROM calls' 2>/dev/null | head -3"),
		"name,page_faults,task_clock_ns,own_page_faults,own_task_clock_ns\n"
		"f,5,50,5,50\nsys_read,9,160,4,110\n");
	assert_string_equal(
		output("$b/fkt_query --format csv $f 'SELECT name FROM calls WHERE page_faults > 5 "
		       "OR task_clock_ns = 100 ORDER BY own_page_faults' 2>/dev/null"),
		"name\nsys_write\nsys_read\n");
	assert_string_equal(
		output("$b/fkt_query --format csv $f 'SELECT name, own_page_faults, own_task_clock_ns "
		       "FROM functions ORDER BY name' 2>/dev/null"),
		"name,own_page_faults,own_task_clock_ns\nf,5,50\nsys_read,5,120\n"
		"sys_write,0,150\nunknown,10,100\nuser,6,190\n");
	assert_string_equal(output("$b/fkt_top --format csv --view calls $f 2>/dev/null | "
				   "sed -n '/^name,/,$p' | " COUNTED " | sort"),
			    "name page_faults task_clock_ns\nsys_read 5 120\n"
			    "sys_write 0 150\nunknown 10 100\nuser 6 190\n");
	put_trace(NULL);
	assert_string_equal(output("$b/fkt_query --format csv $f 'SELECT * FROM functions LIMIT 1' "
				   "2>/dev/null | sed q"),
			    "code,name,layer,calls,partial,own,total\n");
	/* Names that other columns have. */
	put_trace("end,end");
	assert_string_equal(
		output("$b/fkt_query --format csv $f 'SELECT \"end\", end_, end__, own_end, own_end_ "
		       "FROM calls LIMIT 1' 2>/dev/null"),
		"end,end_,end__,own_end,own_end_\n201,5,50,5,50\n");
}

/* Traces without counters have no such columns; names that are none are not shown. */
static void test_names(void **state)
{
	static const struct {
		const char *info, *keys;
	} rows[] = {
		{ NULL, "" },
		{ "", "" },
		{ "instructions", "instructions" },
		{ ",", "counter0,counter1" },
		{ "<b>,page-faults,\033[m,Page faults,cpu-clock",
		  "counter0,page_faults,counter2,counter3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_trace(rows[i].info);
		assert_string_equal(
			output("$p --calls --format csv $f | sed -n 's/.*,max_ns,*//p' | tr -d '\\n'"),
			rows[i].keys);
		output("$p -q $f >/dev/null && $p --by function $f >/dev/null && "
		       "$b/fkt_query $f 'SELECT * FROM functions' >/dev/null 2>&1");
	}
}

/* No words, too many, and all that a bit more or less makes of it. */
static void test_damage(void **state)
{
	struct build build;
	uint32_t seed = 11;
	uint64_t words[14] = { 0 };

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		begin(&build, round % 3 ? "page-faults,task-clock" : "a,b,c,d,e,f");
		put_calls(&build);
		words[round % 14] = UINT64_MAX;
		build_slot(&build, 0, 0, 9000, FKT_CODE_COUNTERS, (uint16_t)(round % 5), words,
			   round % 15);
		build_slot(&build, 0, 0, 9001, FKT_CODE_COUNTERS, 0xffff, words, 2);
		build_end(&build, 1000000000000, 1000000000000, 0);
		for (unsigned int i = 0; round && i < 40; i++) {
			seed = seed * 1664525 + 1013904223;
			build.data[build.data_offset + 72 +
				   (seed >> 4) % (build.tail_offset - build.data_offset - 72)] ^=
				(uint8_t)(1u << (seed >> 1) % 8);
		}
		build_write(&build, path, build.bytes);
		build_free(&build);
		output("$p -q --calls --by function --graph --spans $f >/dev/null 2>&1; [ $? -lt 2 ]");
		output("$b/fkt_query $f 'SELECT * FROM calls' >/dev/null 2>&1; [ $? -lt 2 ]");
	}
}

int main(int argc, char **argv)
{
	ssize_t bytes = readlink("/proc/self/exe", top, sizeof(top) - 1);
	char *build = bytes > 0 ? strstr(top, "/build/tests/unit/") : NULL;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_lines),	cmocka_unit_test(test_spans),
		cmocka_unit_test(test_tables),	cmocka_unit_test(test_names),
		cmocka_unit_test(test_damage),
	};
	char name[] = "/tmp/test_counters.XXXXXX";
	int fd, failed;

	/* For the tests of other readers. */
	if (argc == 2 && !strncmp(argv[1], "--trace=", 8)) {
		snprintf(path, sizeof(path), "%s", argv[1] + 8);
		put_trace("page-faults,task-clock");
		return 0;
	}
	fd = mkstemp(name);
	if (!build || fd < 0)
		return 77;
	close(fd);
	*build = '\0';
	strcpy(path, name);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

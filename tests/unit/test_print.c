// SPDX-License-Identifier: GPL-2.0-only
/*
 * What fkt_print prints of traces made by hand, in each of its modes, against tests/unit/print/.
 *
 * The trace: two CPUs, one cycle a nanosecond. On CPU 0 "app" (50) reads, through F and G, and
 * sleeps in G until an interrupt on CPU 1 wakes it; it goes on there. Meanwhile "other" (60) runs
 * on CPU 0, fails to read, and has an interrupt with a softirq in it. It all takes 10 us.
 *
 * FKT_TEST='test_w*' test_print runs these tests alone.
 *
 * FKT_GOLDEN=write test_print writes the files anew; look at what git says has changed. With the
 * argument --trace=FILE the program does no more than write the trace, and with --outside=FILE,
 * --noise=FILE, --late=FILE, --renames=FILE or --pictures=FILE another one.
 */
#include "test.h"

#include <locale.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "build_trace.h"

#define F     0x10000u
#define F_END 0x10001u
#define G     0x10002u
#define G_END 0x10003u
#define READ  0x0000u
#define END   0x0400u

static char top[4096]; /* the checkout */
static char path[] = "/tmp/test_print.XXXXXX";

static void slot(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code,
		 uint16_t imm, unsigned int n, uint64_t a, uint64_t b)
{
	const uint64_t words[2] = { a, b };

	build_slot(build, lane, build->lane[lane].cpu, stamp, code, imm, words, n);
}

static void make_trace(void)
{
	static const char info[] = "command=app --quick\0nodename=host\0machine=x86_64\0cpus=2\0"
				   "tsc_khz=1000000";
	struct build build;
	int fd;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n60 60 1 o\033ther\n");
	build_text(&build, FKT_SECTION_IRQS, "14 ide0\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F size:u64 flags:x64\n"
		   "0x10001 1 exit 0x10000 functions F ret:ret\n"
		   "0x10002 1 entry 0x10003 files,functions G\n"
		   "0x10003 1 exit 0x10002 files,functions G ret:ret\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	slot(&build, 0, 1000, READ, 0, 2, 3, 0x7ffe1000);
	slot(&build, 0, 1500, F, 0, 2, 4096, 0x1);
	build_event(&build, 0, 2000, G, 0);
	build_event(&build, 0, 2300, G_END, 0);
	build_event(&build, 0, 2500, G, 0);
	build_switch(&build, 0, 3000, 0x2, 50, 60);
	slot(&build, 0, 3500, READ, 0, 2, 9, 0x7ffe2000);
	build_event(&build, 0, 4000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 4200, FKT_CODE_SOFTIRQ_ENTRY, 4);
	build_event(&build, 0, 4600, FKT_CODE_SOFTIRQ_EXIT, 4);
	build_event(&build, 0, 4700, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 5000, END, (uint16_t)-9);
	build_event(&build, 1, 5500, FKT_CODE_IRQ_ENTRY, 14);
	slot(&build, 1, 5600, FKT_CODE_WAKEUP, 0, 1, 50 | 120ull << 32, 0);
	build_event(&build, 1, 5700, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 1, 6000, 0, 0, 50);
	build_event(&build, 1, 6400, G_END, 0);
	build_event(&build, 1, 7000, F_END, 12);
	build_event(&build, 1, 7500, END, 12);
	slot(&build, 1, 9000, READ, 0, 2, 3, 0x7ffe1000);
	slot(&build, 1, 9200, F, 0, 2, 512, 0x1);
	build_event(&build, 1, 9700, F_END, 0);
	slot(&build, 1, 10500, FKT_CODE_EXIT, 0, 1, 50, 0);
	build_switch(&build, 0, 11000, 0x1, 60, 0);
	build_end(&build, 20000, 20000, 0);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	build_write(&build, path, build.bytes);
	build_free(&build);
}

/* For pictures: names that are markup, or no characters of XML, and what became of pages. */
static int write_pictures(const char *file)
{
	static const char info[] = "command=app\0machine=x86_64\0cpus=2\0tsc_khz=1000000";
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES,
		   "50 50 1 </title><script\n60 60 1 \"a'&;\x01\xef\xbf\xbf\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions ]]>&lt;<script>alert(1)</script>\n"
		   "0x10001 1 exit 0x10000 functions F\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	build.lane[1].pid = 60;
	slot(&build, 0, 1000, READ, 0, 2, 3, 0x7ffe1000);
	build_event(&build, 0, 2000, F, 0);
	build_event(&build, 0, 4000, F_END, 0);
	slot(&build, 1, 5000, FKT_CODE_SUBMIT, 0, 2, 1, 5 | 8ull << 32);
	slot(&build, 1, 6000, FKT_CODE_RELEASE_PAGE, 0, 2, 1, 6 | 8ull << 32);
	slot(&build, 1, 6500, FKT_CODE_SUBMIT, 1, 2, 1, 1 | 8ull << 32);
	slot(&build, 1, 7000, FKT_CODE_EXTRA, 1, 2, 4, 5 | 12ull << 32);
	slot(&build, 1, 7500, FKT_CODE_SYNC_ENTRY, 1, 1, 4096, 0);
	slot(&build, 1, 8500, FKT_CODE_SYNC_EXIT, 0, 1, 0, 0);
	build_event(&build, 0, 9000, END, 0);
	build_end(&build, 20000, 20000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

/*
 * Threads that are in calls which began before the trace did: what "first" is at, the end of its
 * system call tells in the end, and "second" never leaves its own.
 */
static int write_outside(const char *file)
{
	static const char info[] =
		"command=perl -e 'outside of all calls, where the time goes to'\0"
		"machine=x86_64\0cpus=1\0tsc_khz=1000000\0sysname=Linux\0"
		"release=6.12.117+deb12-amd64\0version=#1 SMP PREEMPT_DYNAMIC "
		"Debian 6.12.117-1~deb12u1 (2026-11-14)";
	static const char told[] = "start_cycles=400\0stop_cycles=12000";
	struct build build;

	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 1200, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 3000, 0x1, 70, 71);
	build_event(&build, 0, 4000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 4100, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 5000, 0x2, 71, 0);
	build_switch(&build, 0, 7000, 0, 0, 70);
	build_event(&build, 0, 9000, END, 0);
	slot(&build, 0, 9500, READ, 0, 2, 3, 0x7ffe1000);
	/* F calls itself. */
	build_event(&build, 0, 9550, F, 0);
	build_event(&build, 0, 9600, F, 0);
	build_event(&build, 0, 9650, F_END, 0);
	build_event(&build, 0, 9700, F_END, 0);
	build_fork(&build, 0, 9720, 72, 70);
	slot(&build, 0, 9740, FKT_CODE_WAKEUP_NEW, 0, 1, 72 | 120ull << 32, 0);
	build_event(&build, 0, 9800, END, 12);
	build_switch(&build, 0, 10500, 0x1, 70, 72);
	build_event(&build, 0, 10600, END + 56, 0);
	build_switch(&build, 0, 10800, 0x1, 72, 0);
	build_switch(&build, 0, 11000, 0, 0, 71);
	build_switch(&build, 0, 11500, 0x1, 71, 0);
	/* Its page is closed some time after it has stopped. */
	build.lane[0].latest = 15000;
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 20000, 20000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

/*
 * Interrupts within each other, and threads that take each other's place, on the same CPU and on
 * another one. What comes while a CPU is idle, and the wait of a new thread, are nobody's noise.
 */
static int write_noise(const char *file)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const char told[] = "start_cycles=500\0stop_cycles=8000";
	const uint32_t timer = FKT_CODE_VECTOR_ENTRY, timer_end = FKT_CODE_VECTOR_EXIT;
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_text(&build, FKT_SECTION_IRQS, "14 ide0\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	build_event(&build, 0, 1500, timer, 0);
	build_event(&build, 0, 1600, timer_end, 0);
	/* 700 in all: the interrupt itself 300, the softirq with F 350, the vector in F 50 */
	build_event(&build, 0, 2000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 2100, FKT_CODE_SOFTIRQ_ENTRY, 4);
	build_event(&build, 0, 2200, F, 0);
	build_event(&build, 0, 2300, timer + 1, 0);
	build_event(&build, 0, 2350, timer_end + 1, 0);
	build_event(&build, 0, 2400, F_END, 0);
	build_event(&build, 0, 2500, FKT_CODE_SOFTIRQ_EXIT, 4);
	build_event(&build, 0, 2700, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 3000, 0, 70, 71);
	build_event(&build, 0, 3200, timer, 0);
	build_event(&build, 0, 3300, timer_end, 0);
	build_switch(&build, 0, 3500, 0x1, 71, 70);
	build_event(&build, 1, 3850, FKT_CODE_IRQ_ENTRY, 14);
	slot(&build, 1, 3900, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 1, 3950, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 4000, 0, 70, 71);
	build_switch(&build, 0, 4200, 0, 71, 0);
	build_event(&build, 0, 4400, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 4500, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 1, 4700, 0, 0, 70);
	build_switch(&build, 1, 5000, 0, 70, 71);
	build_event(&build, 1, 5300, timer, 0);
	build_event(&build, 1, 5400, timer_end, 0);
	build_switch(&build, 1, 6000, 0x1, 71, 70);
	build_fork(&build, 1, 6100, 73, 70);
	slot(&build, 1, 6150, FKT_CODE_WAKEUP_NEW, 0, 1, 73 | 120ull << 32, 0);
	build_switch(&build, 1, 6500, 0, 70, 73);
	build_event(&build, 1, 6800, READ, 0);
	build_event(&build, 1, 6900, END, 0);
	/* Woken on its way out of its CPU, the first time that it leaves it. */
	slot(&build, 0, 7000, FKT_CODE_WAKEUP, 0, 1, 73 | 120ull << 32, 0);
	build_switch(&build, 1, 7200, 0x1, 73, 0);
	build_switch(&build, 1, 7500, 0, 0, 73);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 20000, 20000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

static char *read_all(FILE *file, char *text, size_t room)
{
	size_t bytes = fread(text, 1, room - 1, file);

	text[bytes] = '\0';
	return text;
}

static void check(const char *name, const char *options)
{
	static char got[65536], wanted[65536];
	char command[8192], golden[4200];
	bool write = getenv("FKT_GOLDEN") && !strcmp(getenv("FKT_GOLDEN"), "write");
	FILE *file;

	snprintf(command, sizeof(command), "NO_COLOR=1 %s/build/bin/fkt_print %s %s 2>&1", top,
		 options, path);
	file = popen(command, "r");
	assert_non_null(file);
	read_all(file, got, sizeof(got));
	assert_int_equal(pclose(file), 0);
	snprintf(golden, sizeof(golden), "%s/tests/unit/print/%s", top, name);
	file = fopen(golden, write ? "w" : "r");
	assert_non_null(file);
	if (write)
		fputs(got, file);
	else
		assert_string_equal(got, read_all(file, wanted, sizeof(wanted)));
	fclose(file);
}

static const char *const modes[][2] = {
	{ "plain", "--time=rel" },
	{ "summary", "-q" },
	{ "kernel-only", "-q -k" },
	{ "summary-cpu", "-q --cpu '!1'" },
	{ "summary-code", "-q --code 'sys_*'" },
	{ "waits-range", "--waits --range 3us..5.5us" },
	{ "summary.csv", "-q --format csv" },
	{ "summary.json", "-q --format json" },
	{ "events.csv", "--no-summary --format csv" },
	{ "events.json", "--no-summary --format json" },
	{ "cpus", "--cpus" },
	{ "cpus-process", "--cpus -p +app" },
	{ "calls", "--calls" },
	{ "calls-elapsed", "--calls=F --elapsed" },
	{ "calls.json", "--calls --format json" },
	{ "histogram", "--histogram 'sys_*'" },
	{ "by-function", "--by function" },
	{ "by-errno", "--by function,errno" },
	{ "by-argument", "--by function,arg0 --code F --elapsed" },
	{ "by-code", "--by code,cpu" },
	{ "by-field", "--by arg:fd,function" },
	{ "by-field-events", "--by arg:prev,cpu" },
	{ "by-result.json", "--by arg:ret,arg:size --format json" },
	{ "by-process", "--by process,layer,caller" },
	{ "graph", "--graph" },
	{ "graph-function", "--graph --function F" },
	{ "graph.json", "--graph --format json" },
	{ "graph-time", "--graph --time=rel" },
	{ "spans", "--spans" },
	{ "spans.csv", "--calls-as-lines --format csv" },
	{ "spans.json", "--spans --format json" },
	{ "spans-cpu", "--spans --cpu 1" },
	{ "waits", "--waits" },
	{ "waits.csv", "--waits --format csv" },
	{ "noise", "--noise" },
	{ "noise-process", "--noise -p +app" },
	{ "noise.csv", "--noise --format csv" },
	{ "noise.json", "--noise --format json" },
	{ "only-process", "--no-summary -p +app" },
	{ "while-process", "--no-summary -p app" },
	{ "plain-cycles", "--time=cycles" },
	{ "plain-fit", "--no-summary" },
	{ "calls-us", "--calls --time=us" },
	{ "by-thread.json", "--by thread,arg0,cpu,errno --format json" },
	{ "stats-while-process", "-q -s 50" },
	{ "range", "--range 1us..3us --time=rel" },
	{ "code", "--no-summary --code 'irq*' --code 1101" },
	{ "layer", "--no-summary --layer functions --cpu 1" },
	{ "function", "--no-summary --function G" },
	{ "longer-than", "--no-summary --longer-than 1us" },
	{ "longer-graph", "--graph --longer-than 1us" },
	{ "folded", "--folded" },
	{ "folded-range", "--folded --range 1us..3us" },
	{ "folded-code", "--folded --code F --code G" },
	{ "folded-off-cpu", "--folded --flame-of off-cpu" },
	{ "folded-wakeups", "--folded --flame-of wakeups" },
};

static void test_modes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		check(modes[i][0], modes[i][1]);
}

/*
 * In so many columns: no line of a table is longer, and whatever is cut, no number is; with enough
 * of them, nothing is left out.
 */
static void test_width(void **state)
{
	static const char *const views[] = {
		"-q",
		"-q -k",
		"--cpus",
		"--calls",
		"--waits",
		"--noise",
		"--histogram F",
		"--by process,layer,caller",
		"--by function,arg0",
		"--by errno,code",
	};
	static const unsigned int widths[] = { 40, 60, 80, 120, 300 };
	char command[8192], line[1024];
	bool told;
	FILE *out;

	(void)state;
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		for (size_t j = 0; j < sizeof(widths) / sizeof(widths[0]); j++) {
			told = false;
			snprintf(command, sizeof(command),
				 "NO_COLOR=1 COLUMNS=%u %s/build/bin/fkt_print %s %s", widths[j],
				 top, views[i], path);
			out = popen(command, "r");
			assert_non_null(out);
			while (fgets(line, sizeof(line), out)) {
				told |= !strncmp(line, "(No room for", 12);
				if (widths[j] >= 60 && strlen(line) > widths[j] + 1)
					fail_msg("%s: %s", command, line);
				/* Numbers of a thread stand in whole brackets. */
				if (strchr(line, '[') && !strstr(line, "[50]") &&
				    !strstr(line, "[60]"))
					fail_msg("%s: %s", command, line);
			}
			assert_int_equal(pclose(out), 0);
			if (widths[j] == 300)
				assert_false(told);
		}
	}
}

/* Two threads, of which one has this name, that take each other's place and read. */
static void write_named(const char *file, const char *name)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	char processes[128];
	struct build build;

	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	snprintf(processes, sizeof(processes), "70 70 1 %s\n71 71 1 second\n", name);
	build_text(&build, FKT_SECTION_PROCESSES, processes);
	build_pages(&build);
	build.lane[0].pid = 70;
	for (unsigned int i = 0; i < 3; i++) {
		build_event(&build, 0, 1000 + i * 1000, READ, 0);
		slot(&build, 0, 1100 + i * 1000, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
		build_switch(&build, 0, 1200 + i * 1000, i ? 1 : 0, 70, 71);
		slot(&build, 0, 1300 + i * 1000, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
		build_switch(&build, 0, 1400 + i * 1000, 1, 71, 70);
		build_event(&build, 0, 1500 + i * 1000, END, 0);
	}
	build_end(&build, 6000, 6000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
}

/* What a command has in lines of its own is in JSON as it was; a row of CSV is a line. */
static void test_command(void **state)
{
	static const char info[] = "command=sh -c a\n\tb\033\0machine=x86_64\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_command.XXXXXX", command[8192];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	build_event(&build, 0, 1000, READ, 0);
	build_end(&build, 6000, 6000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "p='%s/build/bin/fkt_print -q'; f=%s; "
		 "$p --format json $f | grep -qF '\"command\":\"sh -c a\\n\\tb?\"' && "
		 "$p --format csv $f | grep -q '^\"sh -c a??b?\",' && "
		 "$p $f | grep -q '^Command *sh -c a??b?$'",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

static unsigned int columns_of(char *line)
{
	wchar_t wide[1024];

	line[strcspn(line, "\n")] = '\0';
	assert_true(mbstowcs(wide, line, 1024) != (size_t)-1);
	return (unsigned int)wcswidth(wide, 1024);
}

/* A name whose characters take two columns each is as one of as many columns that take one. */
static void test_wide(void **state)
{
	static const char wide[] = "\u7f51\u7edc\u670d\u52a1\u5668", narrow[] = "abcdefghij";
	static const char *const views[] = {
		"",	   "-q",      "--cpus",		 "--waits",    "--noise",
		"--spans", "--graph", "--by thread,cpu", "--graph -q", "--longer-than 1ns"
	};
	static const unsigned int widths[] = { 60, 80, 90 };
	char file[] = "/tmp/test_print_wide.XXXXXX", command[8192], line[1024];
	int fd = mkstemp(file);
	FILE *out;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		write_named(file, narrow);
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print --time=rel %s %s | grep -v bytes >%s.narrow", top,
			 views[i], file, file);
		assert_int_equal(system(command), 0);
		write_named(file, wide);
		snprintf(command, sizeof(command),
			 "LC_ALL=C %s/build/bin/fkt_print --time=rel %s %s | grep -v bytes | "
			 "sed 's/%s/%s/g' | diff %s.narrow - >&2; s=$?; rm %s.narrow; exit $s",
			 top, views[i], file, wide, narrow, file, file);
		if (system(command))
			fail_msg("%s", views[i]);
		/* The listing and the calls of --graph and --spans are not cut. */
		for (size_t j = 0; i > 0 && i < 5 && j < sizeof(widths) / sizeof(widths[0]); j++) {
			snprintf(command, sizeof(command),
				 "COLUMNS=%u %s/build/bin/fkt_print %s %s", widths[j], top,
				 views[i], file);
			out = popen(command, "r");
			assert_non_null(out);
			while (fgets(line, sizeof(line), out))
				if (columns_of(line) > widths[j])
					fail_msg("%s: %s", command, line);
			assert_int_equal(pclose(out), 0);
		}
	}
	unlink(file);
}

static int run(const char *options, const char *file)
{
	char command[8192];
	int status;

	snprintf(command, sizeof(command), "%s/build/bin/fkt_print %s %s >/dev/null 2>&1", top,
		 options, file);
	status = system(command);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * Each of 10000 threads on one of 256 CPUs: the time of a view grows with the events, not with one
 * times the other.
 */
static void test_many(void **state)
{
	const unsigned int cpus = 256, threads = 10000;
	char file[] = "/tmp/test_print_many.XXXXXX", command[8192];
	struct build build;
	unsigned long rows = 0;
	uint64_t words[1];
	FILE *output;
	int fd;

	(void)state;
	fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, true);
	build_pages(&build);
	for (unsigned int i = 0; i < threads; i++) {
		words[0] = (i < cpus ? 0 : 100 + i - cpus) | (uint64_t)(100 + i) << 32;
		build_slot(&build, 0, (uint16_t)(i % cpus), 1000 + 10ull * i, FKT_CODE_SWITCH, 0,
			   words, 1);
	}
	build_end(&build, 0, 0, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		snprintf(command, sizeof(command),
			 "timeout 20 %s/build/bin/fkt_print %s %s >/dev/null 2>&1", top,
			 modes[i][1], file);
		/* 1: these pages have no end sections. */
		if (WEXITSTATUS(system(command)) > 1)
			fail_msg("%s", command);
	}
	snprintf(command, sizeof(command), "%s/build/bin/fkt_print -q --cpus --format csv %s 2>&1",
		 top, file);
	output = popen(command, "r");
	while (fgets(command, sizeof(command), output))
		rows++;
	pclose(output);
	unlink(file);
	printf("%lu rows\n", rows);
	assert_true(rows >= threads - cpus);
}

/*
 * Calls in the order of their begin, while F is open and G is called again and again on another
 * CPU: F comes first, but if there are too many to wait for it.
 */
static void test_spans(void **state)
{
	static const unsigned int counts[] = { 99999, 100000, 150000 };
	char file[] = "/tmp/test_print_spans.XXXXXX", command[8192], line[256];
	unsigned long long begin, last;
	struct build build;
	unsigned long rows;
	bool late, f_late, said;
	FILE *out;
	int fd;

	(void)state;
	fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		late = counts[i] > 100000;
		build_begin(&build, 2, false);
		build_text(&build, FKT_SECTION_CODES,
			   "0x10000 1 entry 0x10001 functions F a:u64\n"
			   "0x10001 1 exit 0x10000 functions F ret:ret\n"
			   "0x10002 1 entry 0x10003 functions G\n"
			   "0x10003 1 exit 0x10002 functions G ret:ret\n");
		build_pages(&build);
		build.lane[0].pid = 50;
		build.lane[1].pid = 60;
		slot(&build, 0, 1000, F, 0, 1, 77, 0);
		for (unsigned int j = 0; j < counts[i]; j++) {
			build_event(&build, 1, 2000 + 10 * j, G, 0);
			build_event(&build, 1, 2005 + 10 * j, G_END, 0);
		}
		build_event(&build, 0, 9000000, F_END, 5);
		build_end(&build, 0, 0, 0);
		build_write(&build, file, build.bytes);
		build_free(&build);
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print --spans --format csv %s 2>&1", top, file);
		out = popen(command, "r");
		assert_non_null(out);
		assert_non_null(fgets(line, sizeof(line), out));
		rows = 0;
		last = 0;
		f_late = said = false;
		while (fgets(line, sizeof(line), out)) {
			if (strstr(line, "fkt_print: 1 call is not in the order")) {
				said = true;
				continue;
			}
			begin = strtoull(line, NULL, 10);
			f_late |= begin == 1000 && last;
			if (begin != 1000)
				assert_true(begin > last);
			else
				assert_non_null(strstr(line, ",\"{\"\"a\"\":77}\",5,"));
			last = begin;
			rows++;
		}
		assert_int_equal(pclose(out), 0);
		assert_int_equal(rows, counts[i] + 1);
		assert_int_equal(f_late, late);
		assert_int_equal(said, late);
	}
	unlink(file);
}

/* fkt_extract writes the same to standard output as into a file, and what it says elsewhere. */
static void test_extract_to_stdout(void **state)
{
	char command[16384];

	(void)state;
	snprintf(command, sizeof(command),
		 "f=%s.part; e=%s/build/bin/fkt_extract; $e --from 2us -o $f %s >$f.said && "
		 "$e --from 2us -o - %s 2>$f.err | cmp - $f && grep -q ' events in ' $f.said && "
		 "grep -q '^standard output: .* events in ' $f.err && ! [ -e ./- ]; s=$?; "
		 "rm -f $f $f.said $f.err; exit $s",
		 path, top, path, path);
	assert_int_equal(system(command), 0);
}

/* --cpu and --process are those of fkt_print; times are given once. */
static void test_extract_options(void **state)
{
	static const char *const same[] = { "--cpu 1",		"--cpu 0 --cpu 1",
					    "--cpu 0,1",	"--cpu '!0'",
					    "--cpu '0-1,!0'",	"--cpu '!0,0'",
					    "--process app,60", "--process 60 --process 50" };
	static const char *const wrong[] = { "--from 1us --range 2us..",
					     "--to 1us --to 2us",
					     "--cpu 1-",
					     "--cpu '0,'",
					     "--cpu '!!0'",
					     "--pid app",
					     "--process app,",
					     "--process 'app,!70'" };
	char command[16384];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(command, sizeof(command),
			 "bash -c \"cd %s/build/bin; ./fkt_extract %s -o - %s 2>/dev/null | "
			 "./fkt_print --no-summary --format csv %s - | cut -d, -f1,3- | "
			 "cmp - <(./fkt_print --no-summary --format csv %s %s | "
			 "cut -d, -f1,3-)\"",
			 top, same[i], path, same[i], same[i], path);
		if (system(command))
			fail_msg("%s", same[i]);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_extract %s -o /dev/null %s >/dev/null 2>&1", top,
			 wrong[i], path);
		assert_int_equal(WEXITSTATUS(system(command)), 2);
	}
}

/* Of a process that the trace does not have, no trace is made. */
static void test_extract_nothing(void **state)
{
	static const struct {
		const char *option;
		const char *said;
	} wrong[] = {
		{ "--pid 99999", "no events of process 99999" },
		{ "--process nobody", "no events of a process 'nobody'" },
		{ "--cpu 99", "has no CPU '99'" },
		{ "--cpu 0,7", "has no CPU '7'" },
		{ "--cpu '!1,!7'", "has no CPU '7'" },
		{ "--cpu 0 --cpu 7 --pid 99999", "has no CPU '7'" },
		{ "--cpu 0 --cpu '!0'", "leave no CPU" },
	};
	char command[16384];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(
			command, sizeof(command),
			"f=%s.part; %s/build/bin/fkt_extract %s -o $f %s 2>$f.err; s=$?; "
			"grep -q \"%s\" $f.err && ! [ -e $f ] && [ $s = 1 ]; s=$?; rm -f $f $f.err; "
			"exit $s",
			path, top, wrong[i].option, path, wrong[i].said);
		if (system(command))
			fail_msg("%s", wrong[i].option);
	}
}

/* What is on standard output and on standard error, behind which a pipe may stand. */
static void said(const char *options, const char *sentence)
{
	char command[8192];

	snprintf(command, sizeof(command),
		 "{ %s/build/bin/fkt_print %s %.*s 2>&1 %s; } | grep -q -- \"%s\"", top, path,
		 (int)strcspn(options, "|"), options, options + strcspn(options, "|"), sentence);
	if (system(command))
		fail_msg("%s: does not say %s", options, sentence);
}

/* What there is no room for is told so that it can be told apart. */
static void test_room(void **state)
{
	static const struct {
		const char *options;
		const char *said;
	} rows[] = {
		{ "--noise",
		  "(No room for Count of Interrupts, Count of Softirqs, Max of Softirqs" },
		{ "--noise", "Max of Preempted, Of;" },
		{ "--by function,arg1,arg0,arg2,arg3,arg4", "(Numbers are not cut: lines take" },
	};

	(void)state;
	setenv("COLUMNS", "60", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char options[256];

		snprintf(options, sizeof(options), "%s | tr '\\n' ' ' | tr -s ' '",
			 rows[i].options);
		said(options, rows[i].said);
	}
	unsetenv("COLUMNS");
}

/* Calls as lines: in a line that is short, arguments and names are cut, and no number. */
static void test_spans_width(void **state)
{
	char command[2 * sizeof(top)];

	(void)state;
	snprintf(
		command, sizeof(command),
		"p=%s/build/bin/fkt_print; f=%s; COLUMNS=80 $p --spans $f >$f.80 && "
		"COLUMNS=300 $p --spans $f >$f.300 && $p --spans $f >$f.all; "
		"! grep -E '^.{81}' $f.80 && [ $(wc -l <$f.80) = $(wc -l <$f.all) ] && "
		"grep -q 'sys_read(.*~) = 12$' $f.80 && grep -q 'sys_read(.*~) = -9 EBADF$' $f.80 && "
		"grep -q 'sys_read(fd=3, buf=0x7ffe1000) = 12$' $f.300 && "
		"sed 's/  */ /g' $f.300 >$f.a && sed 's/  */ /g' $f.all | cmp - $f.a; s=$?; "
		"[ $s = 0 ] || cat $f.80 $f.300 >&2; rm -f $f.80 $f.300 $f.all $f.a; exit $s",
		top, path);
	assert_int_equal(system(command), 0);
}

static void test_wrong_options(void **state)
{
	static const char *const options[] = {
		"--by nothing",
		"--by ''",
		"--format yaml",
		"--time minutes",
		"--from soon",
		"--range 5",
		"--range 2s..1s",
		"--cpu 1-",
		"--cpu 70000",
		"--longer-than -1",
		"-q --no-summary",
		"--to 1e40",
		"--by function,caller,process,thread,cpu,layer,code",
		"--by function,function",
		"--cpus --code irq",
		"--cpus --longer-than 1us -q",
		"--cpu '!'",
		"--process ''",
		"--from 1us --from 2us",
		"--range 1us..2us --to 3us",
		"-q --elapsed",
		"--graph --elapsed",
		"--graph -k",
		"--no-summary -k",
		"--longer-than 1us --longer-than 2us",
		"--from 5us --from trigger-1us",
		"--from trigger-1us --from 5us",
		"--from trigger --from trigger-1us",
		"--range 1us..2us --from trigger",
		"--by stack --by function",
		"--by function --by stack",
	};

	static const char *const unknown[] = {
		"--code sys_raed",
		"--code read",
		"--layer sistem",
		"--function FF",
		"--cpu 7",
		"--process ap -q",
		"--while 4711",
		"--process '!ap' --waits",
		"--calls=sys_raed",
		"--calls=sys_write",
		"--histogram sys_write --cpu 0",
		"--histogram FF",
		"--layer block",
		"--code fork -q",
		"--function sys_write",
		"--cpu '!0' --cpu 0",
		"--code sys_read --code '!sys_*'",
		"--by arg2",
	};
	static const char *const known[] = {
		"--code sys_read",
		"--layer block --to 5us",
		"--layer block,functions",
		"--code sys_read,1000",
		"--function 'sys_*' -q",
		"--cpu 0-7",
		"--process app",
		"--process app --process 50",
		"--process app --cpu 0 --code 1000",
		"--calls=F",
	};
	char histogram[64];

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		assert_int_equal(run(options[i], path), 2);
	/* what is not there, or spelled otherwise, is no empty answer */
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_int_equal(run(unknown[i], path), 1);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(run(known[i], path), 0);
	said("--layer block,functions", "has no event of layer 'block'\n");
	said("--process other -q --to 2us",
	     "has no process 'other' in the time that was asked for");
	said("-q -p 50", "^Selected .* of 24 events, and the time that --while lets through");
	said("--by arg2 -q", "--by=arg2: nothing that was selected has such an argument");
	said("--longer-than 1us --longer-than 2us", "--longer-than: once, please");
	said("--from 5us --from trigger", "--from: there is such a time already");
	said("--by stack --by cpu", "--by=stack is of events, and of nothing else besides");
	said("--folded --format json", "--folded is a format of its own: --format makes no sense");
	said("-q --elapsed", "--elapsed is for --calls, --histogram, --by and --queues");
	said("-q --cpu '!0' --cpu 0", "--cpu: what is wanted and what is not leave no CPU");
	/* no table comes before or after what was wrong */
	said("-q --process ap | head -1", "has no process 'ap'");
	said("-q --process ap | tail -1", "has no process 'ap'");
	/* nothing is there: it says so */
	assert_int_equal(run("--from 1s", path), 1);
	/* the trace, taken for the function */
	snprintf(histogram, sizeof(histogram), "--histogram %s", path);
	assert_int_equal(run(histogram, ""), 2);
}

/* What is wrong, or missing, is said as it is, and what may have been meant. */
static void test_sentences(void **state)
{
	static const char *const rows[][2] = {
		{ "--code '!*'", "^fkt_print: --code: what is wanted and what is not leave no" },
		{ "--code sys_read --code '!sys_read'", "^fkt_print: --code: what is wanted" },
		{ "--layer '!system,functions,files,process'", "^fkt_print: --layer: what is" },
		{ "--code sys_read --layer files", "--code and --layer together leave no event" },
		/* an event that is no call, and a call whose event has another name */
		{ "--calls=forc | grep -v fork", "has no function like 'forc'" },
		{ "--calls=fork", "has no function like 'fork'; --code takes it" },
		/* what may have been meant is in the trace: the table of all codes has more */
		{ "--code sys_raed", "has no code like 'sys_raed'; did you mean 'sys_read'?$" },
		{ "--code sys_wrte", "has no code like 'sys_wrte'$" },
		{ "--code raed", "has no code like 'raed'; did you mean 'sys_read'?$" },
		{ "--code sys_ready", "has no code like 'sys_ready'; did you mean 'sys_read'?$" },
		{ "--code sys_readv", "has no event like 'sys_readv'; did you mean 'sys_read'?$" },
		{ "--code sys_readv --to 2us", "in the time that was asked for; did you mean " },
		{ "--layer filess", "has no layer 'filess'; did you mean 'files'?$" },
		{ "--layer blok", "has no layer 'blok'$" },
		{ "--calls=sys_readv",
		  "has no call of a function like 'sys_readv'; did you mean 'sys_read'?$" },
		{ "--histogram sys_readv",
		  "has no call of a function like 'sys_readv'; did you mean 'sys_read'?$" },
		{ "--function sys_rad",
		  "has no function like 'sys_rad'; did you mean 'sys_read'?$" },
		{ "--by proces", "; or stack; did you mean 'process'?" },
		{ "--time cycels", "rel or abs; did you mean 'cycles'?" },
		{ "--time sec", "rel or abs$" },
		{ "--format jsn", "; did you mean 'json'?" },
		{ "--flamegraph /dev/null --flame-of offcpu", "; did you mean 'off-cpu'?" },
		{ "--function wakeup", "has no function like 'wakeup'; --code takes it" },
		{ "--function sys_raed",
		  "has no function like 'sys_raed'; did you mean 'sys_read'" },
		/* a system call that there is, but not here */
		{ "--function sys_clsoe", "has no function like 'sys_clsoe'$" },
		{ "--cpu 0-1,7", "^fkt_print: .*: has no CPU '7'" },
		{ "--code 'irq 14*'", "has no code like 'irq 14\\*'; --function takes it" },
		{ "--histogram=", "--histogram=: of which function?" },
		{ "--calls=", "--calls=: of which function?" },
	};
	char command[16384];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		said(rows[i][0], rows[i][1]);
	snprintf(command, sizeof(command),
		 "cd $(mktemp -d) && b=%s/build/bin; f=%s; "
		 "$b/fkt_print <$f 2>&1 | grep -q ': trace_file: .*fkt_print -$' && "
		 "cat $f | $b/fkt_print 2>&1 | grep -q ' fkt_print -$' && "
		 "! $b/fkt_print 2>&1 </dev/null | grep ' fkt_print -$' && "
		 "! $b/fkt_print 2>&1 other <$f | grep ' fkt_print -$' && "
		 "! $b/fkt_extract --process '!app' -o /dev/null $f 2>said && "
		 "grep -q '! is not taken here' said && "
		 "[ -z \"$($b/fkt_print --process nosuch --to 9us $f 2>said)\" ] && "
		 "grep -q \"no process 'nosuch'\" said && rm said && rmdir $PWD",
		 top, path);
	assert_int_equal(system(command), 0);
}

/* An empty table is a sentence, for programs on stderr, where the table has its columns at most. */
static void test_nothing(void **state)
{
	static const char *const rows[][2] = {
		{ "--waits --longer-than 100s", "no wait took 100.000 s or longer; the longest" },
		{ "--waits --process idle", "no wait that was asked for was seen" },
		{ "--waits --cpu 1 --code F", "no wait that was asked for was seen" },
		{ "--by function --longer-than 100s", "no call took 100.000 s or longer; the" },
		{ "--by code --process app --cpu 1 --code softirq",
		  "no call or event that was asked for was seen" },
		{ "--no-summary --longer-than 7us", "no call took 7.000 us or longer; the longest "
						    "took 6.500 us" },
		{ "--spans --function G --code irq", "no call that was asked for was seen" },
		{ "--calls --longer-than 100s", "no call took 100.000 s or longer; the longest" },
		{ "--histogram F --code G", "no whole call of F was seen" },
		{ "--no-summary --function G --code irq", "no event that was asked for was seen" },
		{ "--graph --code switch_to",
		  "no call that was asked for was seen; what --code names are no calls" },
		{ "--noise --process idle", "no thread that was asked for wanted a CPU" },
		{ "--noise --longer-than 100s", "no noise that was asked for was seen" },
		{ "-q --function G --code irq", "no event or call that was asked for was seen" },
	};
	char command[16384];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(command, sizeof(command),
			 "cd %s/build/bin; print() { ./fkt_print \"$@\" %s %s; }; f=%s; "
			 "print >$f.text 2>$f.err && grep -qi '^%s' $f.text && ! [ -s $f.err ] && "
			 "! grep -E '^( *(Since|Thread|Function|CPU|Seconds)|---)' $f.text && "
			 "print --format csv >$f.csv 2>$f.err && ! grep -i '%s' $f.csv && "
			 "case '%s' in -q*) ;; *) grep -q ': %s' $f.err ;; esac && "
			 "print --format json 2>/dev/null >$f.json && ! grep -v '^{.*}$' $f.json; "
			 "s=$?; rm -f $f.*; exit $s",
			 top, rows[i][0], path, path, rows[i][1], rows[i][1], rows[i][0],
			 rows[i][1]);
		if (system(command))
			fail_msg("%s: does not say %s", rows[i][0], rows[i][1]);
	}
	/* What is wrong is said alone. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; for o in '--process nobody' '--from 3' '--from 3 -q' "
		 "'--spans --process nobody' '--graph --from 3' '--from 3 --format csv' '--to 0' "
		 "'--to 0 -q' '--to 0 --waits' '--to 0 --spans --format csv'; do "
		 "./fkt_print $o %s >/dev/null 2>&1; [ $? = 1 ] && "
		 "[ $(./fkt_print $o %s 2>&1 | wc -l) = 1 ] || { echo \"$o\" >&2; exit 1; }; done",
		 top, path, path);
	assert_int_equal(system(command), 0);
}

/* A damaged page is told of in a sentence, and the summary does not say that nothing is lost. */
static void test_damaged(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_damaged.XXXXXX", command[3 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;
	size_t offset;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	build_event(&build, 1, 1200, READ, 0);
	build_event(&build, 1, 1300, END, 0);
	offset = build_close(&build, 1);
	build_end(&build, 6000, 6000, 0);
	memset(build.data + offset, 0xa5, FKT_PAGE_BYTES);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(
		command, sizeof(command),
		"%s/build/bin/fkt_print -q %s >%s.out 2>&1; cd /tmp; "
		"grep -q ': 1 damaged page was skipped, or in part$' %s.out && "
		"grep -q '^Lost  *none while it was recorded; but the file' %s.out && "
		/* It ends behind its first page, as if the disk was full then. */
		"head -c %zu %s >%s.cut && "
		"%s/build/bin/fkt_print -q %s.cut 2>/dev/null >%s.out; "
		"grep -q '^Lost  *none up to where the trace was cut off; not known' %s.out; s=$?; "
		"[ $s = 0 ] || cat %s.out >&2; rm -f %s.out %s.cut; exit $s",
		top, file, file, file, file, offset + FKT_PAGE_BYTES, file, file, top, file, file,
		file, file, file, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A file for a trace, to be unlinked. */
static void write_temporary(struct build *build, char *file)
{
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	close(fd);
	build_end(build, 3000000, 3000000, 0);
	build_write(build, file, build->bytes);
	build_free(build);
}

/* A column has numbers of one base, and one number one row, however each code's field is shown. */
static void test_one_base(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_base.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F len:u64\n"
		   "0x10001 1 exit 0x10000 functions F ret:ret\n"
		   "0x10002 1 entry 0x10003 functions G len:x64 only:u64\n"
		   "0x10003 1 exit 0x10002 functions G ret:ret\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	slot(&build, 0, 1000, F, 0, 1, 16, 0);
	build_event(&build, 0, 1100, F_END, 0);
	slot(&build, 0, 1200, F, 0, 1, 100, 0);
	build_event(&build, 0, 1300, F_END, 0);
	slot(&build, 0, 1400, G, 0, 2, 16, 70000);
	build_event(&build, 0, 1500, G_END, 0);
	slot(&build, 0, 1600, G, 0, 2, 4096, 7);
	build_event(&build, 0, 1700, G_END, 0);
	write_temporary(&build, file);
	snprintf(
		command, sizeof(command),
		"p=%s/build/bin/fkt_print; f=%s; by() { $p --by \"$@\" $f | awk 'NR > 2 { print $1, "
		"$2 }' | sort | tr '\\n' ' '; }; [ \"$(by arg:len)\" = '0x10 2 0x1000 1 0x64 1 ' ] && "
		"[ \"$(by arg:only)\" = '7 1 70000 1 ' ] && "
		"[ \"$(by arg:len --code F)\" = '100 1 16 1 ' ] && "
		"[ \"$($p --by arg:len --format csv $f | cut -d, -f1,2 | sort | tr '\\n' ' ')\" = "
		"'100,1 16,2 4096,1 arg_len,count ' ] || { by arg:len >&2; exit 1; }",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A call's fields are all those of its entry, which may have more words than a system call. */
static void test_by_many_words(void **state)
{
	static const char name[8 * 12] =
		"a name that has more letters than six words of an event do";
	char file[] = "/tmp/test_print_words.XXXXXX", command[3 * sizeof(top)];
	struct build build;
	uint64_t words[13];

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F #words name:string96 count:u64\n"
		   "0x10001 1 exit 0x10000 functions F ret:ret\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	memcpy(words, name, sizeof(name));
	words[12] = 7;
	build_slot(&build, 0, 0, 1000, F, 0, words, 13);
	build_event(&build, 0, 1100, F_END, 0);
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "p=%s/build/bin/fkt_print; f=%s; "
		 "$p --by arg:name --format csv $f | grep -q '^\"*%s\"*,1,' && "
		 "$p --by arg:count --format csv $f | grep -q '^7,1,'",
		 top, file, name);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* What leads to a thread that is chosen is there, whoever it is by, and however it is chosen. */
static void test_leads_to(void **state)
{
	static const char *const rows[][2] = {
		/* on CPU 1, idle is left for app; on CPU 0, app for other, and that for idle */
		{ "--process '!0' --code switch_to", "app>other idle>app other>idle " },
		{ "--process '!app' --code switch_to", "app>other idle>app other>idle " },
		{ "--process '!app,!0' --code switch_to", "app>other other>idle " },
		{ "--process app --code switch_to", "app>other idle>app " },
		{ "--process app --process '!0' --code switch_to", "app>other idle>app " },
		{ "--process app --process '!app' --code switch_to", "" },
		{ "--process '!0' --code wakeup", "idle>app " },
		{ "--process '!app' --code wakeup", "idle>app " },
	};
	char command[3 * sizeof(top)];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(
			command, sizeof(command),
			"said=$(%s/build/bin/fkt_print --no-summary --format json %s %s "
			"2>/dev/null | perl -MJSON::PP -ne 'my $e = decode_json($_); "
			"my $a = $e->{args}; (my $from = $e->{process}) =~ s{[^a-z]|/.*}{}g; "
			"my $to = $a->{next_name} // $a->{pid_name}; $to =~ s{[^a-z]|/.*}{}g; "
			"print qq($from>$to )'); [ \"$said\" = '%s' ] || { echo \"$said\" >&2; exit 1; }",
			top, rows[i][0], path, rows[i][1]);
		if (system(command))
			fail_msg("%s: is not %s", rows[i][0], rows[i][1]);
	}
}

/* Durations are rounded to the nearest of what is printed of them, in the listing as in tables. */
static void test_rounded(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=3000000";
	char file[] = "/tmp/test_print_rounded.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1000 + 600000, END, 0);
	build_event(&build, 0, 2000000, READ, 0);
	build_event(&build, 0, 2000000 + 5999999, END, 0);
	build_event(&build, 0, 10000000, READ, 0);
	build_event(&build, 0, 10000000 + 2999999000, END, 0);
	build_event(&build, 0, 3100000000, READ, 0);
	build_event(&build, 0, 3100000000 + 3000000000ull - 1, END, 0);
	write_temporary(&build, file);
	snprintf(
		command, sizeof(command),
		"p=%s/build/bin/fkt_print; f=%s; times='200.000 us 2.000 ms 1.000 s 1.000 s '; "
		"[ \"$($p --no-summary $f | sed -n '/sys_exit\\|= /s/^ *\\([^ ]* [^ ]*\\).*/\\1/p' "
		"| tr '\\n' ' ')\" = \"$times\" ] && "
		"[ \"$($p --spans --format json $f | sed 's/.*\"duration_ns\":\\([0-9]*\\).*/\\1/' "
		"| tr '\\n' ' ')\" = '200000 2000000 999999667 1000000000 ' ] || "
		"{ $p --no-summary $f >&2; $p --spans --format json $f >&2; exit 1; }",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A lane's total that cannot be is not believed where INFO does not tell it as well. */
static void test_absurd_total(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_absurd.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	build_event(&build, 0, 1000, READ, 0);
	build_close(&build, 0);
	build.lane[0].lost = 34;
	build_event(&build, 0, 2000, END, 0);
	build.lane[0].lost = 1ull << 63;
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "%s/build/bin/fkt_print -q %s 2>&1 | awk '/^Lost +34 events/ { n++ } "
		 "/ its end says wrongly: / { n++ } END { exit n != 2 }'",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A snapshot has its names before those of the recording: the whole and a part take the first. */
static void test_listed_twice(void **state)
{
	char file[] = "/tmp/test_print_twice.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 sh\n");
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 fkt_record\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 2000, END, 0);
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; ./fkt_extract --from 0 -o $f.part $f >/dev/null; s=0; "
		 "for t in $f $f.part; do ./fkt_print --no-summary $t | grep -q ' 50 sh ' || s=1; "
		 "done; rm $f.part; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

#define OPEN_CALLS 80000

/* Calls that are open when a part begins, in the wrong order and many: some ms, not minutes. */
static void test_spans_of_many_open(void **state)
{
	char file[] = "/tmp/test_print_open.XXXXXX", command[2 * sizeof(top)];
	struct build build;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_non_null(out);
	for (unsigned int i = 0; i < OPEN_CALLS; i++)
		fprintf(out, "call %u 0 %u\n", 100 + i, 1000000 - i);
	fclose(out);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_text(&build, FKT_SECTION_STATE, text);
	free(text);
	build_pages(&build);
	build.lane[0].pid = 100;
	for (unsigned int i = 0; i < 50; i++) {
		build_event(&build, 0, 2000000 + 10 * i, END, 0);
		build_switch(&build, 0, 2000005 + 10 * i, 0, 100 + i, 101 + i);
	}
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "timeout 20 %s/build/bin/fkt_print --spans --format csv %s | "
		 "awk -F, 'NR > 1 && $1 <= last { exit 1 } { last = $1 + 0 } "
		 "END { exit NR != 51 }'",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A trace that a size limit has ended says so, in its listing and in its summary; so do parts. */
static void test_limit(void **state)
{
	static const char info[] = "start_cycles=900\0stop_cycles=9000\0limit_reached=1";
	char file[] = "/tmp/test_print_limit.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, "tsc_khz=1000000", 16, false);
	build_pages(&build);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 2000, END, 0);
	build_event(&build, 1, 4000, READ, 0);
	build_event(&build, 1, 5000, END, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	write_temporary(&build, file);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; s=0; "
		"says() { ./fkt_print \"$@\" | grep -c '^[*][*][*] the recording ended here, because the "
		"size limit was reached [*][*][*]$\\|^Limit .* when the size limit was reached$'; }; "
		"for o in '' '--threads 1' '--threads 3' '--from 2us' '--cpu 1' '--to 20us'; do "
		"[ \"$(says $o $f)\" = 2 ] && [ \"$(says --no-summary $o $f)\" = 1 ] && "
		"[ \"$(says -q $o $f)\" = 1 ] && ./fkt_print --no-summary $o $f | tail -1 | "
		"grep -q '^[*]' || s=1; done; "
		"for o in '--to 3us' '--to 6us' '--range 1us..5us'; do "
		"[ \"$(says $o $f)\" = 0 ] || s=1; done; "
		"for o in '0 --to 3us' '0 --range 1us..6us' '2 --from 2us' '2 --cpu 0' '2 --range 1us..20us'; "
		"do ./fkt_extract -o $f.part ${o#? } $f >/dev/null; "
		"[ \"$(says $f.part)\" = ${o%%%% *} ] || s=1; done; rm -f $f.part; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * A call of a thread that left its CPU, where events are lost then: it is one of that CPU, and not
 * of the one on which the thread is met again.
 */
static void test_cut_by_gap(void **state)
{
	static const char told[] = "start_cycles=900\0stop_cycles=9000";
	char file[] = "/tmp/test_print_cut.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n60 60 1 other\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, READ, 0);
	build_switch(&build, 0, 2000, 1, 50, 60);
	build_event(&build, 0, 2500, READ, 0);
	build_event(&build, 1, 2600, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 2700, FKT_CODE_IRQ_EXIT, 14);
	build_close(&build, 0);
	build.lane[0].lost += 3;
	build_event(&build, 0, 4000, END, 0);
	build_switch(&build, 1, 5000, 0, 0, 50);
	build_event(&build, 1, 6000, END, 0);
	build_event(&build, 1, 7000, READ, 0);
	build_event(&build, 1, 8000, END, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; s=0; "
		"for c in 0 1; do ./fkt_print -q --format csv --cpu $c $f | grep '^sys_read' >$f.$c; "
		"./fkt_extract --cpu $c -o $f.part $f >/dev/null; "
		"./fkt_print -q --format csv --cpu $c $f.part | grep '^sys_read' | cmp - $f.$c || s=1; "
		"done; cut -d, -f8 $f.1 | grep -qx 1 || s=1; cut -d, -f8 $f.0 | grep -qx 3 || s=1; "
		"[ $(./fkt_print --spans --format csv --cpu 1 $f | grep -c sys_read) = 2 ] || s=1; "
		"for c in 0 1; do ./fkt_print -q --threads 3 --format csv --cpu $c $f | "
		"grep '^sys_read' | cmp - $f.$c || s=1; done; rm -f $f.*; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* fkt_extract knows the names that processes got while it was recorded. */
static void test_extract_meant(void **state)
{
	char file[] = "/tmp/test_print_meant.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 sh\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	build_name(&build, 0, 1000, FKT_CODE_RENAME, 50, "perl");
	build_event(&build, 0, 2000, READ, 0);
	write_temporary(&build, file);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; ! ./fkt_extract --process prel -o $f.part $f 2>$f.said && "
		"grep -q \"did you mean 'perl'?\" $f.said && ! ./fkt_extract -o $f.part $f 2>$f.said && "
		"grep -q 'which part of it?.*--range' $f.said; s=$?; rm -f $f.*; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* Patterns are for hexadecimal codes and names of processes, too; and fields have to be there. */
static void test_patterns(void **state)
{
	char command[3 * sizeof(top)];

	(void)state;
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; p='./fkt_print --no-summary'; f=%s; s=0; "
		 "$p --code 'irq*' $f >$f.1; $p --code '100[01]' $f | cmp -s - $f.1 || s=1; "
		 "$p --code '0x100[01]' $f | cmp -s - $f.1 || s=9; "
		 "$p --code '*00' $f && s=10; $p --code ' 1000' $f && s=11; "
		 "$p --process app $f >$f.1; $p --process 'a?p*' $f | cmp -s - $f.1 || s=2; "
		 "[ -s $f.1 ] || s=3; ./fkt_extract --process app -o $f.2 $f >$f.1 && "
		 "./fkt_extract --process 'a?p*' -o $f.3 $f >$f.1 || s=6; "
		 "for i in 2 3; do $p $f.$i >$f.$i.text || s=7; done; "
		 "cmp -s $f.2.text $f.3.text || s=8; "
		 "./fkt_print --by=arg:prip $f 2>$f.1 && s=4; "
		 "grep -q \"did you mean 'prio'?\" $f.1 || s=5; rm -f $f.*; exit $s",
		 top, path);
	assert_int_equal(system(command), 0);
}

/*
 * A field's values are those of the listing: letters of states, addresses in base 16, and -1; and
 * one thread, whatever it is called, is one of them.
 */
static void test_by_values(void **state)
{
	char file[] = "/tmp/test_print_values.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n60 60 1 other\n");
	build_text(&build, FKT_SECTION_CODES, "0x10000 1 point 0 functions P c:char\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	slot(&build, 0, 1000, READ, 0, 2, UINT64_MAX, 0x7ffff7fc2000);
	slot(&build, 0, 1500, END, 0, 1, 0x7ffff7fc2000, 0);
	slot(&build, 0, 2000, F, 0, 1, 'x', 0);
	slot(&build, 0, 2500, READ, 0, 2, 0x7ffff7fc3000, 0x7ffff7fc2000);
	build_event(&build, 0, 2600, END, 0);
	build_switch(&build, 0, 3000, 0x2, 50, 60);
	build_switch(&build, 0, 4000, 0x102, 60, 50);
	build_name(&build, 0, 4500, FKT_CODE_RENAME, 50, "perl");
	build_switch(&build, 0, 5000, 0x402, 50, 60);
	build_tail(&build);
	write_temporary(&build, file);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; s=0; p=./fkt_print; "
		"$p --by=arg:state $f | grep -Eqx 'D +2( +-)*' || s=1; "
		"$p --by=arg:state $f | grep -Eqx 'I +1( +-)*' || s=2; "
		"$p --by=arg:state --format json $f | grep -q '\"arg_state\":\"D\",\"count\":2' || "
		"s=3; $p --by=arg:ret $f | grep -q '^0x7ffff7fc2000 ' || s=4; "
		"$p --by=arg:ret --format csv $f | grep -q '^140737353883648,' || s=5; "
		"$p --by=arg:fd $f | grep -q '^ *-1 ' || s=6; "
		"$p --by=arg0 $f | grep -q '^ *-1 ' || s=9; "
		"$p --by=arg:prev $f | grep -q '^ *perl 50 *2 ' || s=10; "
		"$p --by=arg:fd $f | grep -q '^0x7ffff7fc3000 ' || s=7; "
		"$p --by=arg:c --format json $f | grep -q '\"arg_c\":\"x\"' || s=8; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* Of a ring, what some CPUs have of before is there for who asks for it, and that is said. */
static void test_before_ring(void **state)
{
	static const char told[] = "complete_from_cycles=3000\0overwritten=7\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_ring.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_pages(&build);
	build.lane[0].pid = 50;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 2000, END, 0);
	build_event(&build, 1, 3100, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 3200, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 4000, READ, 0);
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; s=0; for o in --no-summary -q --waits; do "
		 "./fkt_print $o --to 1us $f >$f.out 2>$f.said && s=1; [ -s $f.out ] && s=2; "
		 "grep -q 'from 0.000002 s on; --from 0 shows' $f.said || s=3; done; "
		 "./fkt_print -q --from 0 --to 1us $f | grep -q '^sys_read' || s=4; "
		 "rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* However wide: a line fits, and does not part a number from its unit. */
static void test_wrapped(void **state)
{
	char command[8192];

	(void)state;
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; s=0; for c in $(seq 40 80); do "
		 "NO_COLOR=1 COLUMNS=$c ./fkt_print --histogram 'sys_*' $f >$f.out; "
		 "grep '^ *[num]*s\\([, ]\\|$\\)' $f.out && s=1; "
		 "awk -v c=$c 'length > c { exit 1 }' $f.out || s=1; done; "
		 "grep -q '^sys_read: .* ns' $f.out || s=1; rm -f $f.out; exit $s",
		 top, path);
	assert_int_equal(system(command), 0);
}

/* In a list, "!" before one is for that one, and "!" before the first for all. */
static void test_lists(void **state)
{
	static const char *const same[][2] = {
		{ "--code 'sys_*,!sys_read'", "--code 'sys_*' --code '!sys_read'" },
		{ "--code '1000,irq,!1000'", "--code irq --code '!1000'" },
		{ "--code '!irq*,!1000'", "--code '!irq*,1000'" },
		{ "--code '!irq*,softirq*'", "--code '!irq*' --code '!softirq*'" },
		{ "--layer 'functions,!files'", "--layer functions --layer '!files'" },
		{ "--layer 'fun?tion*,!file*'", "--layer Functions --layer '!files'" },
		{ "--function 'sys_*,!F'", "--function 'sys_*' --function '!F'" },
		{ "--process 'app,!60'", "--process app --process '!60'" },
		{ "--process '50,60'", "--process 50 --process 60" },
		{ "--while '!app,60'", "--while '!app' --while '!60'" },
		{ "-p '+app,60'", "--process app --process 60" },
		{ "-s '50,!60'", "-p 50 -p '!60'" },
		{ "--cpu '0-1,!0'", "--cpu 0,1 --cpu '!0'" },
		{ "--cpu '!0,!0'", "--cpu '!0'" },
	};
	char command[16384];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(
			command, sizeof(command),
			"cd %s/build/bin; print() { ./fkt_print --format csv \"$@\" 2>&1; }; f=%s; "
			"print $f >$f.all; print %s $f >$f.list; print %s $f >$f.each; "
			"cmp $f.list $f.each && ! cmp -s $f.list $f.all; s=$?; rm -f $f.*; exit $s",
			top, path, same[i][0], same[i][1]);
		if (system(command))
			fail_msg("%s is not %s", same[i][0], same[i][1]);
	}
}

/* Cut off anywhere, or with bits flipped: whatever the mode, an answer or an error, and an end. */
static void test_bad_input(void **state)
{
	static char whole[1 << 20], bad[1 << 20];
	char file[] = "/tmp/test_print_bad.XXXXXX";
	FILE *from = fopen(path, "r"), *to;
	size_t bytes;
	int fd, status;

	(void)state;
	assert_non_null(from);
	bytes = fread(whole, 1, sizeof(whole), from);
	fclose(from);
	fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	srand(1);
	for (unsigned int i = 0; i < 120; i++) {
		size_t length = i % 2 ? bytes : (size_t)rand() % bytes;

		memcpy(bad, whole, bytes);
		/* in what was used of pages, mostly */
		for (unsigned int flips = 0; i % 2 && flips < 20; flips++) {
			size_t at = (size_t)rand() % bytes;

			if (at >= 4096)
				at = at / 4096 * 4096 + at % 400;
			bad[at] ^= (char)(1 << rand() % 8);
		}
		to = fopen(file, "w");
		assert_int_equal(fwrite(bad, 1, length, to), length);
		fclose(to);
		status = run(modes[i % (sizeof(modes) / sizeof(modes[0]))][1], file);
		assert_in_range(status, 0, 1);
	}
	unlink(file);
}

/* Of a function whose result is an int, the upper half of the register is whatever it is. */
static void test_errno_of_int(void **state)
{
	static char file[] = "/tmp/test_print_int.XXXXXX";
	char command[8192], got[4096];
	struct build build;
	FILE *out;
	int fd;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n"
		   "0x10001 1 exit 0x10000 functions F ret:rets32\n");
	build_pages(&build);
	build_event(&build, 0, 1000, F, 0);
	slot(&build, 0, 2000, F_END, 0, 1, 0x12345678fffffffe, 0);
	build_end(&build, 3000, 3000, 0);
	fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command), "%s/build/bin/fkt_print --by errno --format csv %s", top,
		 file);
	out = popen(command, "r");
	assert_non_null(out);
	read_all(out, got, sizeof(got));
	assert_int_equal(pclose(out), 0);
	unlink(file);
	assert_non_null(strstr(got, "\nENOENT,1,"));
}

/* fkt_print says the same of a file whichever way it comes: ways have a %s for it. */
static void check_ways(const char *options, const char *file, const char *const *ways, size_t count)
{
	static char got[65536], wanted[65536];
	char command[2 * sizeof(top)], way[sizeof(path) + 64];
	FILE *out;

	for (size_t i = 0; i < count; i++) {
		snprintf(way, sizeof(way), ways[i], file);
		snprintf(command, sizeof(command), "bash -c '%s/build/bin/fkt_print %s %s 2>&1'",
			 top, options, way);
		out = popen(command, "r");
		assert_non_null(out);
		read_all(out, i ? got : wanted, sizeof(got));
		assert_int_equal(pclose(out), 0);
		if (i)
			assert_string_equal(got, wanted);
	}
}

/* A part of a trace is the same when it comes through a pipe, by whatever name. */
static void test_part_of_stream(void **state)
{
	static const char *const parts[] = { "--no-summary --from 2us", "--no-summary --to 2us",
					     "--no-summary --range 1us..3us" };
	static const char *const ways[] = { "%s", "- < <(cat %s)", "<(cat %s)" };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		check_ways(parts[i], path, ways, sizeof(ways) / sizeof(ways[0]));
}

/* What only the trace that write_outside() makes has. */
static void test_outside(void **state)
{
	static const struct {
		const char *options;
		const char *has;
	} rows[] = {
		/* a new thread waits from its wake-up on: 10500 - 9740 */
		{ "--waits", "^72,first,R,sys_read,,70,first,sys_read,1,0,760,760,.*,,,,$" },
		/* one row a name */
		{ "--calls=F", "^F,F (recursive),10000,50,50,1," },
		{ "--calls=F", "^F,F,10000,200,200,2," },
		/* called by nobody */
		{ "--by=function,caller", "^sys_read,,[0-9]" },
		/* a time without an event is somebody's as well */
		{ "-q --range 4.5us..5.5us", "^idle,,1000,1000," },
		/* exits without an entry */
		{ "-q", "^0038,sys_clone,0,1$" },
	};
	char file[] = "/tmp/test_print_outside.XXXXXX", command[8192], line[1024];
	int fd = mkstemp(file);
	FILE *out;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_outside(file);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print --format csv %s %s | grep -q '%s'", top,
			 rows[i].options, file, rows[i].has);
		if (system(command))
			fail_msg("%s: no %s", rows[i].options, rows[i].has);
	}
	snprintf(command, sizeof(command), "NO_COLOR=1 COLUMNS=60 %s/build/bin/fkt_print -q %s",
		 top, file);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out))
		if (strlen(line) > 60 + 1)
			fail_msg("%s", line);
	assert_int_equal(pclose(out), 0);
	unlink(file);
}

/* Nothing stolen, and no gaps. */
#define NONE ",0,0,0,,,0,0,0,,"

/* What write_noise() says that it makes, of all threads, and of one or in a part of the time. */
static void test_noise(void **state)
{
	static const struct {
		const char *options;
		const char *has;
	} rows[] = {
		/* each interrupt without those in it: 100 + 300 + 50 + 100 */
		{ "",
		  "^0,550,550,4,300,300,350,350,1,350,350,2000,2000,3,800,800" NONE ",2900,2900,"
		  "5700,5700,50.8772$" },
		{ "", "^1,100,100,1,100,100,0,0,0,,,2500,2500,2,1500,1500" NONE ",2600,2600,"
		      "5500,5500,47.2727$" },
		/* not back when the recording ended */
		{ "", "^6500,5500,1500,1500,1,70,first,preempted,,73,first$" },
		{ "", "^4200,3200,800,800,0,71,second,preempted,,0,idle/0$" },
		{ "", "^2000,1000,300,300,0,70,first,interrupt,irq 14 ide0,,$" },
		{ "", "^2100,1100,350,350,0,70,first,softirq,softirq BLOCK,,$" },
		{ "--process second", "^0,100,100,1,100,100,0,0,0,,,800,800,1," },
		{ "--cpu 1 --process first", "^1,0,0,0,,,0,0,0,,,2500,2500,2," },
		/* the part that is in the window, of each: 2050 to 2450 */
		{ "--range 1050ns..1450ns", "^0,100,100,2,50,50,300,300,1,300,300," },
		{ "--to 5.8us", "^6500,5500,300,300,1,70,first,preempted,,73,first$" },
		{ "--longer-than 600ns", "^0,300,300,1,300,300,0,0,0,,,1500,1500,2," },
		{ "--code 'softirq*'", "^0,0,0,0,,,350,350,1,350,350,0,0,0,," NONE ",350,350,,,$" },
		{ "--threads=1", "^1,100,100,1,100,100,0,0,0,,,2500,2500,2," },
		{ "--threads=2", "^1,100,100,1,100,100,0,0,0,,,2500,2500,2," },
	};
	char file[] = "/tmp/test_print_noise.XXXXXX", command[8192];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_noise(file);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print --noise --format csv %s %s | grep -q '%s'", top,
			 rows[i].options, file, rows[i].has);
		if (system(command))
			fail_msg("%s: no %s", rows[i].options, rows[i].has);
	}
	unlink(file);
}

/*
 * On PREEMPT_RT a thread runs softirqs, and another one may take its CPU meanwhile: it is one
 * softirq, before and after that.
 */
static void test_noise_preempted(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000\0"
				   "version=#1 SMP PREEMPT_RT Debian";
	char file[] = "/tmp/test_print_preempted.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, FKT_CODE_SOFTIRQ_ENTRY, 1);
	build_switch(&build, 0, 1200, 0, 70, 71);
	build_switch(&build, 0, 1300, 0x1, 71, 70);
	build_event(&build, 0, 1400, FKT_CODE_SOFTIRQ_EXIT, 1);
	build_event(&build, 0, 1500, END, 0);
	build_tail(&build);
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "%s/build/bin/fkt_print --noise --format csv %s | "
		 "grep -q '^0,0,0,0,,,200,200,1,200,200,100,100,1,'",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Three wait at 1120, and one has a CPU after the other: the most at once in a time that begins
 * later are fewer, and who waits when it begins is one of them.
 */
static void test_queues_most(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	static const struct {
		const char *from;
		unsigned int most;
	} asked[] = { { "0ns", 3 }, { "250ns", 2 }, { "350ns", 1 }, { "450ns", 1 } };
	char file[] = "/tmp/test_print_most.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1000, READ, 0);
	for (uint64_t pid = 71; pid <= 73; pid++)
		build_slot(&build, 0, 0, 1100 + 10 * (pid - 71), FKT_CODE_WAKEUP, 0, &pid, 1);
	build_switch(&build, 0, 1200, 0x1, 70, 71);
	build_switch(&build, 0, 1300, 0x1, 71, 72);
	build_switch(&build, 0, 1400, 0x1, 72, 73);
	build_slot(&build, 0, 0, 1500, FKT_CODE_WAKEUP, 0, &(uint64_t){ 70 }, 1);
	build_switch(&build, 0, 1600, 0x1, 73, 70);
	build_event(&build, 0, 1800, END, 0);
	build_tail(&build);
	write_temporary(&build, file);
	for (unsigned int i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print --queues --from %s --format csv %s | "
			 "tail -1 | grep -q '^all,[0-9.]*,%u,'",
			 top, asked[i].from, file, asked[i].most);
		assert_int_equal(system(command), 0);
	}
	unlink(file);
}

/*
 * Timers that were late, and what was stolen: of "first" (70), which computes on CPU 0, and of CPU
 * 1, which is idle at first. A hypervisor that steals can't be had where the tests run: their
 * guests are emulated.
 */
static int write_late(const char *file)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const char told[] = "start_cycles=500\0stop_cycles=400000";
	const uint32_t timer = FKT_CODE_VECTOR_ENTRY, timer_end = FKT_CODE_VECTOR_EXIT;
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	/* due at 40000, and nothing has happened since: 20000 */
	build_event(&build, 0, 60000, timer, 0);
	slot(&build, 0, 60100, FKT_CODE_LATE, 0, 2, 20000, 0);
	build_event(&build, 0, 60200, timer_end, 0);
	/* due at 80000, but a system call was at 95000: 5000 */
	build_event(&build, 0, 95000, READ, 0);
	build_event(&build, 0, 100000, timer, 0);
	slot(&build, 0, 100100, FKT_CODE_LATE, 0, 2, 20000, 0);
	build_event(&build, 0, 100200, timer_end, 0);
	build_event(&build, 0, 100300, END, 0);
	/* within an interrupt, which explains it: nothing */
	build_event(&build, 0, 110000, FKT_CODE_SOFTIRQ_ENTRY, 4);
	build_event(&build, 0, 130000, timer, 0);
	slot(&build, 0, 130100, FKT_CODE_LATE, 0, 2, 15000, 0);
	build_event(&build, 0, 130200, timer_end, 0);
	build_event(&build, 0, 130300, FKT_CODE_SOFTIRQ_EXIT, 4);
	/* 12000 of 30000 were stolen, which the second one of two timers tells */
	build_event(&build, 0, 180000, timer, 0);
	slot(&build, 0, 180100, FKT_CODE_LATE, 0, 2, 30000, 0);
	slot(&build, 0, 180200, FKT_CODE_LATE, 0, 2, 11000, 12000);
	build_event(&build, 0, 180300, timer_end, 0);
	/* all of it, and more */
	build_event(&build, 0, 240000, timer, 0);
	slot(&build, 0, 240100, FKT_CODE_LATE, 0, 2, 15000, 16000);
	build_event(&build, 0, 240200, timer_end, 0);
	/* CPU 1 was idle up to 290000: no more can have been stolen since than 10000 */
	build_event(&build, 1, 250000, timer, 0);
	slot(&build, 1, 250100, FKT_CODE_LATE, 0, 2, 15000, 16000);
	build_event(&build, 1, 250200, timer_end, 0);
	build_switch(&build, 0, 280000, 0x1, 70, 0);
	build_switch(&build, 1, 290000, 0, 0, 71);
	build_event(&build, 1, 299900, timer, 0);
	slot(&build, 1, 300000, FKT_CODE_LATE, 0, 2, UINT64_MAX, UINT64_MAX);
	build_event(&build, 1, 300100, timer_end, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 400000, 400000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

static void test_late(void **state)
{
	static const struct {
		const char *options;
		const char *has;
	} rows[] = {
		{ "--format csv",
		  "^0,.*,28000,28000,2,16000,16000,43000,43000,3,20000,20000,[0-9]*,[0-9]*," },
		/* what is left of the gap is what the steal does not explain: none of 9900 */
		{ "--format csv", "^1,.*,10000,10000,1,10000,10000,0,0,0,,,[0-9]*,[0-9]*," },
		{ "--format csv", "^40000,39000,20000,20000,0,70,first,gap,(unknown),,$" },
		{ "--format csv", "^150000,149000,18000,18000,0,70,first,gap,(unknown),,$" },
		{ "--format csv", "^,,16000,16000,0,70,first,stolen,(hypervisor),,$" },
		{ "--format csv --cpu 1", "^1,.*,10000,10000,1,10000,10000,0,0,0,,," },
		{ "--format csv --to 90us", "^0,.*,0,0,0,,,20000,20000,1,20000,20000," },
		{ "--format csv --threads 1",
		  "^0,.*,28000,28000,2,16000,16000,43000,43000,3,20000,20000," },
		{ "", "CPU .* Stolen .* Gaps .* Noise" },
		{ "", "^ *16.384 us .* 0  *2  *3 " },
		{ "", "^0.000039000 20.000 us   0 first.70. *(unknown)$" },
		{ "", "^ *? 16.000 us   0 first.70. *(hypervisor)$" },
	};
	char file[] = "/tmp/test_print_late.XXXXXX", command[8192];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_late(file);
	setenv("COLUMNS", "200", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print --noise %s %s | grep -q '%s'", top,
			 rows[i].options, file, rows[i].has);
		if (system(command))
			fail_msg("%s: no %s", rows[i].options, rows[i].has);
	}
	unsetenv("COLUMNS");
	unlink(file);
}

/*
 * The totals of a trace, of the same one through a pipe, which says only at its end when recording
 * began, and of one whose footer was cut off are the same; and the end is that of the recording.
 */
static void test_ends(void **state)
{
	static const char *const views[] = { "--format csv -q", "--format csv --cpus",
					     "--format csv --waits",
					     "--format csv -q --process second",
					     "--format csv -q --to 3us" };
	static const char *const ways[] = { "%s", "- < <(cat %s)", "<(head -c -32 %s)",
					    "- < <(head -c -32 %s)" };
	char file[] = "/tmp/test_print_ends.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_outside(file);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		check_ways(views[i], file, ways, sizeof(ways) / sizeof(ways[0]));
	/* 12000 - 1000 */
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; ./fkt_print -q --from 1s %s 2>&1 | grep -q 'after 0.000011 s' && "
		"./fkt_extract --from 1s -o /dev/null %s 2>&1 | grep -q 'ends after 0.000011000' && "
		"./fkt_extract --from 6us -o %s.part %s >/dev/null && "
		"./fkt_print -q --format csv %s.part | grep -q ',5000,5000,1,'; s=$?; "
		"rm -f %s.part; exit $s",
		top, file, file, file, file, file, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* Parts have the times and waits that the whole trace has in these windows. */
static void expect_parts(const char *file, const char *const windows[], size_t count)
{
	char command[2 * sizeof(top)];

	for (size_t i = 0; i < count; i++) {
		snprintf(command, sizeof(command),
			 "cd %s/build/bin; v='--no-summary --cpus --waits --format csv'; "
			 "q='-q --format csv'; rows='^name,code' ; "
			 "./fkt_extract --range %s -o %s.part %s >/dev/null && "
			 "{ ./fkt_print $v --range %s %s; ./fkt_print $q --range %s %s | "
			 "sed -n \"/$rows/,/^$/p\"; } | sort >%s.whole && "
			 "{ ./fkt_print $v %s.part; ./fkt_print $q %s.part | "
			 "sed -n \"/$rows/,/^$/p\"; } | sort | diff %s.whole -; s=$?; "
			 "[ $(grep -c . %s.whole) -gt 4 ] || s=1; rm -f %s.*; exit $s",
			 top, windows[i], file, file, windows[i], file, windows[i], file, file,
			 file, file, file, file, file);
		if (system(command))
			fail_msg("%s", windows[i]);
	}
}

/* A window that was cut out has the times and waits that the whole trace has in that window. */
static void test_extracted_window(void **state)
{
	static const char *const windows[] = { "1.2us..3us", "3us..6us", "6us..", "..5us",
					       "1us..11us" };
	char file[] = "/tmp/test_print_window.XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_outside(file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	unlink(file);
}

/* Turn recording off or on, or a part of it. */
static void set_mask(struct build *build, uint64_t stamp, uint32_t mask)
{
	slot(build, 0, stamp, FKT_CODE_SETMASK, 0, 1, mask | 70ull << 32, 0);
}

/*
 * System calls are switched off from 3000 to 7000: 70 is in one then, 71 sleeps in one all the
 * while, and 72 comes meanwhile. A part may begin and end anywhere in there.
 */
static void test_extracted_mask(void **state)
{
	static const char *const windows[] = { "..1.5us",    "1.5us..2.5us", "1.5us..4.5us",
					       "3.5us..4us", "3.5us..5.5us", "4.5us..6.5us",
					       "4.5us..",    "6.2us..7.5us", "6.9us..",
					       "3.5us..8us" };
	static const char told[] = "start_cycles=1000\0stop_cycles=12000";
	static const char info[] = "layers=system\0tsc_khz=1000000\0machine=x86_64\0cpus=2";
	char file[] = "/tmp/test_print_mask.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n72 72 1 third\n");
	build_pages(&build);
	build.lane[0].pid = 71;
	build.lane[1].pid = 72;
	build_event(&build, 1, 1400, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 1500, FKT_CODE_IRQ_EXIT, 14);
	slot(&build, 0, 1500, READ, 0, 2, 3, 0x7ffe1000);
	build_switch(&build, 0, 2000, 0x1, 71, 70);
	slot(&build, 0, 2500, READ, 0, 2, 3, 0x7ffe1000);
	build_event(&build, 1, 3800, FKT_CODE_IRQ_ENTRY, 14);
	set_mask(&build, 4000, FKT_KEY_PROCESS);
	build_switch(&build, 0, 4400, 0x1, 70, 0);
	build_switch(&build, 1, 5000, 0x1, 72, 0);
	slot(&build, 0, 5200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_switch(&build, 0, 5300, 0, 0, 70);
	build_switch(&build, 0, 6000, 0, 70, 72);
	set_mask(&build, 7000, FKT_KEY_PROCESS | FKT_KEY_SYSTEM);
	build_event(&build, 0, 7300, END, 0);
	slot(&build, 0, 7400, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_switch(&build, 0, 8000, 0, 72, 71);
	build_event(&build, 0, 8500, END, 0);
	build_switch(&build, 0, 9000, 0x1, 71, 70);
	build_event(&build, 0, 9500, END, 0);
	build_switch(&build, 0, 9800, 0x1, 70, 0);
	build_event(&build, 1, 10000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 10100, FKT_CODE_IRQ_EXIT, 14);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; ./fkt_print -q --format csv %s >%s.csv; "
		 "grep -q '^not traced,' %s.csv && ! grep -q '^begun before,' %s.csv; s=$?; "
		 "rm -f %s.csv; exit $s",
		 top, file, file, file, file, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * A program's function is open around a system call when its layer is switched off, at 6000: in a
 * window that ends before, it is a part of a call as any other that is open then.
 */
static void test_extracted_ends(void **state)
{
	static const char *const windows[] = { "1.2us..3us", "2us..4.5us", "1.2us..6us",
					       "4us..7us",   "5.5us..7us", "5.5us.." };
	static const char told[] = "start_cycles=900\0stop_cycles=12000";
	static const char info[] = "layers=system,user\0tsc_khz=1000000\0machine=x86_64\0cpus=2";
	char file[] = "/tmp/test_print_ends.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 app\n71 71 1 other\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 user V\n0x10001 1 exit 0x10000 user V\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build.lane[1].pid = 71;
	build_event(&build, 0, 1000, F, 100);
	slot(&build, 0, 1500, READ, 0, 2, 3, 0x7ffe1000);
	build_event(&build, 1, 1600, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 1700, FKT_CODE_IRQ_EXIT, 14);
	for (unsigned int i = 0; i < 8; i++) {
		build_event(&build, 0, 2000 + 500 * i, FKT_CODE_IRQ_ENTRY, 14);
		build_event(&build, 0, 2100 + 500 * i, FKT_CODE_IRQ_EXIT, 14);
	}
	set_mask(&build, 6000, FKT_KEY_PROCESS | FKT_KEY_SYSTEM);
	build_event(&build, 0, 7000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 7100, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 8000, END, 12);
	build_switch(&build, 0, 9000, 0, 70, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	snprintf(command, sizeof(command),
		 "%s/build/bin/fkt_print -q --range 1.2us..3us --format csv %s | "
		 "grep -q '^V,10000,0,.*,0,1$'",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Whom a part has on CPU 1, which has no event in it before some are lost, has come to CPU 0, of
 * which events are lost as well: what it was at before is not what it is at then.
 */
static void test_extracted_elsewhere(void **state)
{
	static const char *const windows[] = { "1us..", "1.5us..", "2.1us.." };
	static const char told[] = "start_cycles=900\0stop_cycles=12000";
	static const char info[] = "layers=system\0tsc_khz=1000000\0machine=x86_64\0cpus=2";
	char file[] = "/tmp/test_print_elsewhere.XXXXXX";
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 app\n71 71 1 other\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build.lane[1].pid = 71;
	build_event(&build, 1, 1000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 1100, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 1500, 0, 70, 0);
	build_switch(&build, 0, 3500, 0, 0, 71);
	build_event(&build, 0, 4000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 4100, FKT_CODE_IRQ_EXIT, 14);
	build_close(&build, 0);
	build.lane[0].lost += 4;
	build.lane[0].pid = 71;
	build_event(&build, 0, 6000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 6100, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 6500, END, 12);
	build_switch(&build, 0, 9000, 0x1, 71, 0);
	build_close(&build, 1);
	build.lane[1].lost += 5;
	build.lane[1].pid = 0;
	build_event(&build, 1, 10000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 10100, FKT_CODE_IRQ_EXIT, 14);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	unlink(file);
}

/*
 * Functions are switched off from 4000 to 7000: a kernel thread, or the idle task, is in one then,
 * and 70; 71 sleeps in one all the while. What is open on a CPU ends there, and is not taken for
 * what goes on for ever.
 */
static void check_functions_off(uint32_t pid)
{
	static const char *const windows[] = { "..1.5us", "1.5us..2.5us", "1.5us..4.5us",
					       "3.5us..", "4.5us..6.5us", "6.5us..7.5us",
					       "7.5us..", "3.5us..8us" };
	static const char told[] = "start_cycles=1000\0stop_cycles=12000";
	static const char info[] =
		"layers=process,system,functions\0tsc_khz=1000000\0machine=x86_64\0cpus=2";
	char file[] = "/tmp/test_print_off.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES,
		   "70 70 1 first\n71 71 1 second\n90 90 2 kthread\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n");
	build_pages(&build);
	build.lane[0].pid = 71;
	build.lane[1].pid = pid;
	build_event(&build, 1, 1500, F, 0);
	slot(&build, 0, 1500, READ, 0, 2, 3, 0x7ffe1000);
	build_event(&build, 0, 1600, F, 0);
	build_switch(&build, 0, 2000, 0x1, 71, 70);
	slot(&build, 0, 2500, READ, 0, 2, 3, 0x7ffe1000);
	build_event(&build, 0, 3000, F, 0);
	set_mask(&build, 4000, FKT_KEY_PROCESS | FKT_KEY_SYSTEM);
	/* It came too late, and its exit does not. */
	build_event(&build, 1, 4010, F, 0);
	build_event(&build, 1, 5000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 5100, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 6000, END, 0);
	set_mask(&build, 7000, FKT_KEY_PROCESS | FKT_KEY_SYSTEM | FKT_KEY_FUNCTIONS);
	slot(&build, 0, 7400, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_switch(&build, 0, 8000, 0, 70, 71);
	build_event(&build, 0, 8200, F_END, 0);
	build_event(&build, 0, 8500, END, 0);
	build_event(&build, 1, 9000, F, 0);
	build_event(&build, 1, 9100, F_END, 0);
	build_event(&build, 0, 10000, READ, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; [ \"$(./fkt_print -q --format csv --code F %s | "
		 "sed -n '/^F,/p' | head -1 | cut -d, -f1,3)\" = 'F,4200' ]",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

static void test_functions_off(void **state)
{
	(void)state;
	check_functions_off(90);
	check_functions_off(0);
}

static void put_told(struct build *build, uint64_t stamp, uint64_t at, uint32_t code)
{
	slot(build, 0, stamp, FKT_CODE_TOLD, 0, 2, at, code | 70ull << 32);
}

/* Spans of a program, told later than they were. */
static void build_program_spans(struct build *build)
{
	static const char info[] = "layers=process,system,application\0tsc_khz=1000000\0"
				   "machine=x86_64\0cpus=1\0application_events=6";
	static const char told[] = "start_cycles=1000\0stop_cycles=4000\0application_lost=3";

	build_begin(build, 1, false);
	build_clock(build, 0, 0, 0);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(build, FKT_SECTION_PROCESSES, "70 70 1 shop\n");
	build_text(build, FKT_SECTION_CODES,
		   "0x6f800 1 entry 0x6f801 application app:order #words\n"
		   "0x6f801 1 exit 0x6f800 application app:order #words\n"
		   "0x6f802 1 entry 0x6f803 application app:look #words\n"
		   "0x6f803 1 exit 0x6f802 application app:look #words\n");
	build_pages(build);
	build->lane[0].pid = 70;
	slot(build, 0, 1000, READ, 0, 2, 3, 0x7ffe1000);
	build_event(build, 0, 1100, END, 0);
	slot(build, 0, 2000, READ, 0, 2, 3, 0x7ffe1000);
	build_event(build, 0, 2500, END, 0);
	put_told(build, 3000, 1500, 0x6f800);
	put_told(build, 3001, 1600, 0x6f802);
	put_told(build, 3002, 2800, 0x6f803);
	put_told(build, 3003, 2900, 0x6f802);
	put_told(build, 3004, 2900, 0x6f803);
	put_told(build, 3005, 2950, 0x6f801);
	build_tail(build);
	build_section(build, FKT_SECTION_INFO, told, sizeof(told), false);
}

static int write_spans(const char *file)
{
	struct build build;

	build_program_spans(&build);
	build_end(&build, 4500, 4500, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

/*
 * They are calls around its system calls; those of one moment come in the order in which they were
 * told.
 */
static void test_program_spans(void **state)
{
	static const char *const windows[] = { "..1us", "0.4us..1.2us", "0.7us..",
					       "1.3us..1.85us" };
	char file[] = "/tmp/test_print_told.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_program_spans(&build);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; [ \"$(./fkt_print -q --format csv %s | "
		 "awk -F, '/^(app:|sys_read)/ && NF > 6 { print $1, $3, $7, $8 }' | xargs)\" = "
		 "'app:look 700 2 0 sys_read 600 2 0 app:order 250 1 0' ]",
		 top, file);
	assert_int_equal(system(command), 0);
	/* What is lost before it is in a lane is no lane's. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; ./fkt_print -q %s | grep -A1 ^Lost | tail -1 | "
		 "grep -qx 'Programs   3 of their events were lost'",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

static void begin_user(struct build *build, const char *layers)
{
	char info[100];
	const int bytes =
		snprintf(info, sizeof(info), "layers=%s%ctsc_khz=1000000%ccpus=1", layers, 0, 0);

	build_begin(build, 1, false);
	build_clock(build, 0, 0, 0);
	build_section(build, FKT_SECTION_INFO, info, (size_t)bytes + 1, false);
	build_text(build, FKT_SECTION_PROCESSES, "70 70 1 prog\n");
	build_text(build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 user F\n0x10001 1 exit 0x10000 user F\n"
		   "0x10002 1 entry 0x10003 user H\n0x10003 1 exit 0x10002 user H\n");
	build_pages(build);
	build->lane[0].pid = 70;
}

/* It ends by sleeping at 5900; its folded calls are these, and its parts as its windows. */
static void expect_user(struct build *build, const char *folded)
{
	static const char *const windows[] = { "..1.6us", "0.6us..1.7us", "1.6us..", "1.2us..3us",
					       "3.1us.." };
	static const char told[] = "start_cycles=1000\0stop_cycles=6000";
	char file[] = "/tmp/test_print_user.XXXXXX", command[3 * sizeof(top)];

	build_switch(build, 0, 5900, 0x1, 70, 0);
	build_tail(build);
	build_section(build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(build, file);
	snprintf(command, sizeof(command),
		 "f=\"$(%s/build/bin/fkt_print --folded %s | xargs)\"; [ \"$f\" = '%s' ] || "
		 "{ echo \"$f\" >&2; exit 1; }",
		 top, file, folded);
	assert_int_equal(system(command), 0);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	unlink(file);
}

/* Functions of programs around what else there is, or is not. */
static void test_user_functions(void **state)
{
	const uint64_t exec[3] = { 70 | (uint64_t)70 << 32, 0x77656e, 0 };
	struct build build;

	(void)state;
	/* Without system calls, nobody knows what is outside; and names change. */
	begin_user(&build, "user,process");
	build_event(&build, 0, 2000, F, 1);
	build_event(&build, 0, 2500, F + 2, 0);
	build_event(&build, 0, 3000, F + 3, 0);
	build_event(&build, 0, 3500, F_END, 1);
	build_slot(&build, 0, 0, 4000, FKT_CODE_RENAME, 0, exec, 3);
	build_slot(&build, 0, 0, 5000, FKT_CODE_EXEC, 0, exec, 3);
	expect_user(
		&build,
		"idle;idle 100 new;not traced 1900 prog;F 1000 prog;F;H 500 prog;not traced 1500");

	/* They are turned off around a system call, which goes on. */
	begin_user(&build, "user,system,process");
	build_event(&build, 0, 1500, F, 1);
	build_event(&build, 0, 2000, READ, 0);
	set_mask(&build, 3000, FKT_KEY_PROCESS | FKT_KEY_SYSTEM);
	build_event(&build, 0, 4000, END, 0);
	expect_user(&build, "idle;idle 100 prog;F 500 prog;F;sys_read 2000 prog;user 2400");

	/* Their program is another one in a system call, of which the exit ends them. */
	begin_user(&build, "user,system,process");
	build_event(&build, 0, 1500, F, 1);
	build_event(&build, 0, 2000, FKT_CODE_SYSCALL_ENTRY + 59, 0);
	build_slot(&build, 0, 0, 2500, FKT_CODE_EXEC, 0, exec, 3);
	build_event(&build, 0, 3000, FKT_CODE_SYSCALL_EXIT + 59, 0);
	expect_user(&build, "idle;idle 100 new;F;sys_execve 500 new;user 2900 prog;F 500 "
			    "prog;F;sys_execve 500 prog;user 500");

	/* One is left by a longjmp() time and again, and entered at the same place. */
	begin_user(&build, "user,system,process");
	build_event(&build, 0, 1500, F + 2, 8);
	for (unsigned int i = 0; i < 10; i++)
		build_event(&build, 0, 2000 + 100 * i, F, 1);
	build_event(&build, 0, 3500, F + 3, 8);
	build_event(&build, 0, 5000, READ, 0);
	expect_user(&build, "idle;idle 100 prog;H 500 prog;H;F 1500 prog;user 2000 "
			    "prog;sys_read 900");
}

/* 50 sleeps in a call, and 51, which has one behind it, in user mode, when events are lost. */
static void test_extracted_behind_gap(void **state)
{
	static const char *const windows[] = { "1.5us..2.05us", "1.5us..", "2.05us..",
					       "0.2us..2.05us" };
	static const char told[] = "start_cycles=1000\0stop_cycles=9000";
	static const char info[] = "tsc_khz=1000000\0machine=x86_64\0cpus=2";
	char file[] = "/tmp/test_print_behind.XXXXXX";
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 first\n51 51 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	slot(&build, 0, 2000, READ, 0, 2, 3, 0x7ffe1000);
	build_switch(&build, 0, 2100, 0x1, 50, 51);
	build_event(&build, 1, 2150, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 2160, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 0, 2200, END, 0);
	build_switch(&build, 0, 2300, 0x2, 51, 0);
	build_close(&build, 0);
	build.lane[0].lost += 3;
	build_event(&build, 0, 4000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 4100, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 7000, 0, 0, 50);
	build_event(&build, 0, 7500, END, 0);
	build_switch(&build, 0, 8000, 0x1, 50, 51);
	slot(&build, 0, 8500, READ, 0, 2, 3, 0x7ffe1000);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	unlink(file);
}

/* 50 sleeps in a call when events are lost, and runs then: it may still be in that one. */
static void test_extracted_slept_over_gap(void **state)
{
	static const char *const windows[] = { "0.2us..", "3.5us..", "3.5us..6us" };
	static const char told[] = "start_cycles=1000\0stop_cycles=9000";
	static const char info[] = "tsc_khz=1000000\0machine=x86_64\0cpus=1";
	char file[] = "/tmp/test_print_slept.XXXXXX", command[2 * sizeof(top)];
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 first\n51 51 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	slot(&build, 0, 2000, READ, 0, 2, 3, 0x7ffe1000);
	build_switch(&build, 0, 2100, 0x1, 50, 51);
	build_close(&build, 0);
	build.lane[0].lost += 3;
	build_event(&build, 0, 4000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 4100, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 5000, 0, 51, 50);
	build_event(&build, 0, 6000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 6100, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 8000, 0, 50, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	write_temporary(&build, file);
	expect_parts(file, windows, sizeof(windows) / sizeof(windows[0]));
	snprintf(command, sizeof(command),
		 "%s/build/bin/fkt_print --folded %s | grep -qx 'first;begun before 2900'", top,
		 file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Of the newest events, some are from before the moment from which on all are there, and some CPUs
 * go on behind the one at which it ends: parts have all of that time, and what it was.
 */
static void test_extracted_ring(void **state)
{
	static const char begins_late[] = "start_cycles=5000\0stop_cycles=9000";
	static const char begins_early[] = "start_cycles=900\0stop_cycles=9000";
	char file[] = "/tmp/test_print_newest.XXXXXX", command[8192];
	struct fkt_page_header *header;
	struct build build;

	(void)state;
	for (unsigned int early = 0; early < 2; early++) {
		build_begin(&build, 2, false);
		build_clock(&build, 0, 0, 0);
		build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n60 60 1 other\n");
		build_pages(&build);
		build.lane[0].pid = 50;
		build.lane[1].pid = 60;
		build_event(&build, 1, 1000, FKT_CODE_IRQ_ENTRY, 14);
		header = (struct fkt_page_header *)build.lane[1].page;
		header->flags = htole32(FKT_PAGE_OVERWROTE);
		build_event(&build, 1, 1100, FKT_CODE_IRQ_EXIT, 14);
		build_event(&build, 1, 4000, FKT_CODE_IRQ_ENTRY, 14);
		build_event(&build, 1, 4100, FKT_CODE_IRQ_EXIT, 14);
		build_event(&build, 0, 5200, READ, 0);
		build_event(&build, 0, 5400, END, 0);
		build_event(&build, 0, 8000, READ, 0);
		build_event(&build, 1, 9600, FKT_CODE_IRQ_ENTRY, 14);
		build_tail(&build);
		build_section(&build, FKT_SECTION_INFO, early ? begins_early : begins_late,
			      early ? sizeof(begins_early) : sizeof(begins_late), false);
		strcpy(file + strlen(file) - 6, "XXXXXX");
		write_temporary(&build, file);
		snprintf(
			command, sizeof(command),
			"cd %s/build/bin; f=%s; p() { ./fkt_print -q --format csv \"$@\" | "
			"sed -n 's/^not traced/user/; /^\\(user\\|unknown\\|idle\\|irq\\|sys\\|Total\\)/p'; }; "
			"./fkt_extract %s -o $f.part $f >/dev/null && p %s $f >$f.whole && "
			"p %s $f.part | diff $f.whole - && grep -q '^%s' $f.whole; s=$?; "
			"rm -f $f.*; exit $s",
			top, file, early ? "--process app" : "--range 500ns..3500ns",
			early ? "--process app" : "--range 500ns..3500ns",
			early ? "--process app" : "", early ? "sys_read" : "irq 14,1000,100,");
		assert_int_equal(system(command), 0);
		unlink(file);
	}
}

/* A waker that is in no call is in user mode in a part, too, where a call of its own told so. */
static void test_extracted_waker_outside(void **state)
{
	char file[] = "/tmp/test_print_outside.XXXXXX", command[8192];
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n60 60 1 other\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	build.lane[1].pid = 60;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1500, READ, 0);
	build_event(&build, 1, 1600, END, 0);
	/* in calls that are not recorded */
	build_switch(&build, 1, 2100, 1, 60, 0);
	build_switch(&build, 1, 2500, 0, 0, 60);
	build_switch(&build, 0, 2000, 1, 50, 0);
	slot(&build, 1, 3000, FKT_CODE_WAKEUP, 0, 1, 50 | 120ull << 32, 0);
	build_switch(&build, 0, 3500, 0, 0, 50);
	build_event(&build, 0, 4000, END, 0);
	write_temporary(&build, file);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; p='./fkt_print --waits --format csv --process app'; "
		 "./fkt_extract --process app -o $f.part $f >/dev/null && $p $f >$f.whole && "
		 "$p $f.part | diff $f.whole - && grep -q ',60,other,user,' $f.whole; s=$?; "
		 "rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A part that was cut out has the noise that the whole trace has there, CPU by CPU. */
static void test_extracted_noise(void **state)
{
	char file[] = "/tmp/test_print_part.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_noise(file);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; cpus() { ./fkt_print --noise --format csv \"$@\" | "
		 "sed '/^$/q'; }; s=0; for b in 600 1050 1250 1340 1450 2100 3300; do "
		 "for e in 4500ns 5300ns ''; do "
		 "./fkt_extract --range ${b}ns..$e -o $f.part $f >/dev/null && "
		 "cpus --range ${b}ns..$e $f >$f.whole && cpus $f.part | diff $f.whole - || s=1; "
		 "done; done; rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* An extracted trace's waits are those of its windows: what was before its first event, too. */
static void test_windows_of_part(void **state)
{
	char file[] = "/tmp/test_print_part.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_noise(file);
	/* "first" waits from before the part; it begins at 3100, and its first event is at 3200 */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; sum() { ./fkt_print --waits --format csv \"$@\" %s.part | "
		 "awk -F, '$1 == 70 { s += $11 } END { print s }'; }; "
		 "./fkt_extract --range 2100ns..5000ns -o %s.part %s >/dev/null && "
		 "[ $(sum) = 2100 ] && [ $(sum --to 150ns) = 250 ] && "
		 "[ $(sum --from 150ns) = 1850 ]; s=$?; rm -f %s.part; exit $s",
		 top, file, file, file, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * "first" (70) is in F, in a read, when CPU 0 is interrupted; in the interrupt's softirq F and G
 * are called, and "second" (71), which sleeps in F, is woken.
 */
static void write_interrupted(const char *file)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const char told[] = "start_cycles=0\0stop_cycles=6000";
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x10002 1 entry 0x10003 functions G\n0x10003 1 exit 0x10002 functions G\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build.lane[1].pid = 71;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1010, READ, 0);
	build_event(&build, 1, 1110, F, 0);
	build_event(&build, 0, 1200, F, 0);
	build_switch(&build, 1, 1310, 0x1, 71, 0);
	build_event(&build, 0, 2000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 2200, FKT_CODE_SOFTIRQ_ENTRY, 4);
	build_event(&build, 0, 2400, F, 0);
	build_event(&build, 0, 2500, G, 0);
	slot(&build, 0, 2800, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 0, 3000, G_END, 0);
	build_event(&build, 0, 3200, F_END, 0);
	build_event(&build, 0, 3400, FKT_CODE_SOFTIRQ_EXIT, 4);
	build_switch(&build, 1, 3500, 0, 0, 71);
	build_event(&build, 0, 3600, FKT_CODE_IRQ_EXIT, 14);
	build_event(&build, 1, 3710, F_END, 0);
	build_event(&build, 1, 3910, END, 0);
	build_event(&build, 0, 4000, F_END, 0);
	build_event(&build, 0, 4200, END, 0);
	build_event(&build, 0, 5000, READ, 0);
	build_event(&build, 0, 5200, END, 0);
	build_event(&build, 1, 5500, READ, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 6000, 6000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
}

/* Views of windows that begin at some moments, cut out, against those of the whole trace. */
static void compare_windows(const char *file, const char *begins, const char *views)
{
	char command[3 * sizeof(top)];

	snprintf(command, sizeof(command),
		 "perl %s/tests/unit/windows.pl %s/build/bin %s '%s' '2900ns 4100ns 5600ns end' "
		 "<<'V'\n%s\nV\n",
		 top, top, file, begins, views);
	assert_int_equal(system(command), 0);
}

/*
 * Parts of a trace that was cut off, by a full disk: they are as long as what was asked for, and
 * end where the whole one does.
 */
static void test_extracted_cut_off(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_x_cut.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build.lane[1].pid = 71;
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	build_event(&build, 1, 1150, READ, 0);
	build_switch(&build, 1, 1600, 0x2, 71, 0);
	build_event(&build, 0, 2000, READ, 0);
	build_switch(&build, 0, 2500, 0x1, 70, 0);
	slot(&build, 1, 3000, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_close(&build, 0);
	build_close(&build, 1);
	build_switch(&build, 0, 4000, 0, 0, 70);
	build_event(&build, 0, 4500, END, 0);
	build_event(&build, 1, 5000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 5300, FKT_CODE_IRQ_EXIT, 14);
	build.lane[1].latest = 5500;
	build_close(&build, 0);
	build_close(&build, 1);
	build_write(&build, file, build.bytes);
	build_free(&build);
	compare_windows(file, "0ns 200ns 700ns 1800ns 2200ns 3500ns",
			"-q\n--no-summary --cpus\n--no-summary --waits\n--noise\n"
			"--no-summary --by function,thread\n--no-summary --calls");
	unlink(file);
}

/* Picked events against the whole trace's of the same CPU or process, in some windows. */
static void compare_picked(const char *file, const char *begins)
{
	char command[3 * sizeof(top)];

	snprintf(command, sizeof(command),
		 "perl %s/tests/unit/windows.pl --picked %s/build/bin %s '%s' '2900ns end' <<'V'\n"
		 "-q\n--noise\n--no-summary --spans\n"
		 "--no-summary --cpus --waits --by function,thread,caller --calls\nV\n",
		 top, top, file, begins);
	assert_int_equal(system(command), 0);
}

/* A thread that is no leader execs within a call, and goes on with it by the leader's number. */
static void test_exec_in_call(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	const uint64_t exec[3] = { 70 | (uint64_t)71 << 32, 0x656c6973, 0 };
	char file[] = "/tmp/test_print_exec.XXXXXX", command[3 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 70 1 second\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x10002 1 entry 0x10003 functions G\n0x10003 1 exit 0x10002 functions G\n");
	build_pages(&build);
	build.lane[0].pid = 71;
	build_event(&build, 0, 1000, FKT_CODE_SYSCALL_ENTRY + 59, 0);
	build_event(&build, 0, 1100, F, 0);
	build_slot(&build, 0, 0, 1200, FKT_CODE_EXEC, 0, exec, 3);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1300, G, 0);
	build_event(&build, 0, 1400, G_END, 0);
	build_event(&build, 0, 1500, F_END, 0);
	build_event(&build, 0, 1600, FKT_CODE_SYSCALL_EXIT + 59, 0);
	build_event(&build, 0, 1700, READ, 0);
	build_event(&build, 0, 1800, END, 0);
	build_tail(&build);
	build_end(&build, 2000, 2000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; p=./fkt_print; "
		 "[ \"$($p --by function --function sys_execve --format csv $f | cut -d, -f1 | "
		 "sort | xargs)\" = 'F G function sys_execve' ] && "
		 "[ \"$($p --no-summary --function sys_execve --format csv $f | wc -l)\" = 8 ] && "
		 "[ \"$($p --no-summary --while second --format csv $f | wc -l)\" = 4 ] && "
		 "[ \"$($p --no-summary --spans $f | sed 1d | grep -o '[a-zA-Z_]*(' | xargs -d"
		 "'\\n')\" = 'sys_execve( F( G( sys_read(' ] && "
		 "$p --no-summary --graph $f | grep -q 'sys_execve() {' && "
		 /* What it had by either number is that one's, in all views. */
		 "[ \"$($p --folded $f | xargs)\" = 'second;sys_execve 100 second;sys_execve;F 100 "
		 "sile;user 100 sile;sys_execve 100 sile;sys_execve;F 200 "
		 "sile;sys_execve;F;G 100 sile;sys_read 100' ] && "
		 "[ \"$($p -q --function F --format csv $f | grep -E '^7[01],' | cut -d, -f1-3 | "
		 "xargs)\" = '70,sile,300 71,second,100' ] && "
		 "[ \"$($p -q --process 71 --code sys_execve --format csv $f | grep -E '^7[01],' | "
		 "cut -d, -f1-3 | xargs)\" = 71,second,100 ] && "
		 "for v in --calls --spans --graph; do $p --no-summary --threads 1 $v $f >$f.1; "
		 "$p --no-summary --threads 3 $v $f | cmp - $f.1 || exit; done; s=$?; rm -f $f.1; "
		 "exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* Threads change their names, in calls, outside of them, and before it is known what they do. */
static int write_renames(const char *file)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	static const char told[] = "start_cycles=900\0stop_cycles=2700";
	const uint64_t exec[3] = { 70 | (uint64_t)71 << 32, 0x656c6973, 0 },
		       third[3] = { 70 | (uint64_t)70 << 32, 0x6472696874, 0 },
		       worker[3] = { 90 | (uint64_t)90 << 32, 0x72656b726f77, 0 },
		       known[3] = { 80 | (uint64_t)80 << 32, 0x6e776f6e6b, 0 };
	struct build build;

	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES,
		   "70 70 1 first\n71 70 1 second\n80 80 1 fresh\n90 90 2 kthread\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n");
	build_pages(&build);
	build.lane[0].pid = 71;
	build_event(&build, 0, 900, READ, 0);
	build_event(&build, 0, 950, END, 0);
	build_event(&build, 0, 1000, FKT_CODE_SYSCALL_ENTRY + 59, 0);
	build_event(&build, 0, 1100, F, 0);
	/* By a thread that is not the leader: the calls go on as the leader's. */
	build_slot(&build, 0, 0, 1200, FKT_CODE_EXEC, 0, exec, 3);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1500, F_END, 0);
	build_event(&build, 0, 1600, FKT_CODE_SYSCALL_EXIT + 59, 0);
	build_event(&build, 0, 1700, FKT_CODE_SYSCALL_ENTRY + 157, 0);
	build_slot(&build, 0, 0, 1800, FKT_CODE_RENAME, 0, third, 3);
	build_event(&build, 0, 1900, FKT_CODE_SYSCALL_EXIT + 157, 0);
	/* A kernel thread is at nothing that has another name. */
	build_switch(&build, 0, 2000, 1, 70, 90);
	build.lane[0].pid = 90;
	build_slot(&build, 0, 0, 2100, FKT_CODE_RENAME, 0, worker, 3);
	/* Of one that was not seen before, a system call has to say that it was in user mode. */
	build_switch(&build, 0, 2300, 1, 90, 80);
	build.lane[0].pid = 80;
	build_slot(&build, 0, 0, 2400, FKT_CODE_RENAME, 0, known, 3);
	build_event(&build, 0, 2600, READ, 0);
	build_event(&build, 0, 2700, END, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 3000, 3000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	return 0;
}

/* What threads did is told by the name that they had then: windows come to what all comes to. */
static void test_folded_renames(void **state)
{
	char file[] = "/tmp/test_print_renames.XXXXXX", command[3 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_renames(file);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; "
		"fold() { ./fkt_print --folded \"$@\" $f 2>/dev/null; }; "
		"[ \"$(fold | xargs)\" = 'fresh;user 100 known;user 200 known;sys_read 100 "
		"kthread;kernel threads 100 second;user 50 second;sys_execve 100 "
		"second;sys_execve;F 100 second;sys_read 50 sile;user 100 sile;sys_execve 100 "
		"sile;sys_execve;F 300 sile;sys_prctl 100 third;user 100 third;sys_prctl 100 "
		"worker;kernel threads 200' ] || { fold >&2; exit 1; }; "
		"[ \"$(fold --code sys_read | xargs)\" = 'known;sys_read 100 second;sys_read 50' ] || "
		"{ fold --code sys_read >&2; exit 1; }; "
		"fold | sort >$f.whole; "
		"for cut in $(seq 50 50 2050); do "
		"{ fold --range ..${cut}ns; fold --range ${cut}ns..; } | "
		"awk '{ n = $NF; sub(/ [0-9]+$/, \"\"); sum[$0] += n } "
		"END { for (path in sum) print path, sum[path] }' | sort | "
		"diff $f.whole - >&2 || { echo \"cut at $cut\" >&2; exit 1; }; "
		/* A part knows by its first name alone what is open there. */
		"./fkt_extract --range ${cut}ns.. -o $f.part $f >/dev/null 2>&1 || continue; "
		"fold --range ${cut}ns.. >$f.window; ./fkt_print --folded $f.part | "
		"diff $f.window - >&2 || { echo \"part from $cut\" >&2; exit 1; }; "
		"done; rm $f.whole $f.window $f.part",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* FKT's own threads, whose names are told when it begins, are the kernel's in all views. */
static void test_folded_own_thread(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_own.XXXXXX", command[sizeof(top) + 200];
	uint64_t flush[3] = { 80 | (uint64_t)80 << 32 };
	struct build build;
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	memcpy(&flush[1], "fkt_flush", sizeof("fkt_flush"));
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "60 60 1 sixty\n");
	build_pages(&build);
	build.lane[0].pid = 60;
	build_slot(&build, 0, 0, 1000, FKT_CODE_RENAME, 0, flush, 3);
	build_switch(&build, 0, 2000, 1, 60, 80);
	build.lane[0].pid = 80;
	build_switch(&build, 0, 2500, 1, 80, 60);
	build_tail(&build);
	build_end(&build, 3000, 3000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "[ \"$(%s/build/bin/fkt_print --folded --process fkt_flush %s)\" = "
		 "'fkt_flush;kernel threads 500' ]",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

static void begin_small(struct build *build, const char *info, size_t bytes)
{
	build_begin(build, 1, false);
	build_clock(build, 0, 0, 0);
	build_section(build, FKT_SECTION_INFO, info, bytes, false);
	build_text(build, FKT_SECTION_PROCESSES, "50 50 1 fifty\n60 60 1 sixty\n");
	build_text(build, FKT_SECTION_CODES, "0x1000 1 point 0 other none\n");
	build_pages(build);
	build->lane[0].pid = 50;
}

/* Behind a window: a pid that is given anew is another thread's; and a stream may be silent. */
static void test_behind_the_end(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	static const char told[] = "start_cycles=0\0stop_cycles=99999999";
	const uint64_t zeros[2] = { 0, 0 };
	char file[] = "/tmp/test_print_behind.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_small(&build, info, sizeof(info));
	build_slot(&build, 0, 0, 1000, FKT_CODE_PAGE_FAULT_USER, 4, zeros, 2);
	build_slot(&build, 0, 0, 3000, FKT_CODE_PAGE_FAULT_USER, 4, zeros, 2);
	build_switch(&build, 0, 3200, 0x80, 50, 60);
	slot(&build, 0, 3300, FKT_CODE_RELEASE, 0, 1, 50, 0);
	build_fork(&build, 0, 3400, 50, 60);
	build_switch(&build, 0, 3500, 1, 60, 50);
	build_event(&build, 0, 3600, FKT_CODE_SYSCALL_EXIT + 56, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 4000, 4000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; ./fkt_print -q --to 2us %s | grep -q '^user .* 100.00' && "
		 "./fkt_print -q --to 3600s %s | grep -q '^Duration  *[0-9.]* us,'",
		 top, file, file);
	assert_int_equal(system(command), 0);

	/* 50 was woken before it left its CPU, and does not run again. */
	begin_small(&build, info, sizeof(info));
	build_event(&build, 0, 1000, READ, 0);
	slot(&build, 0, 1100, FKT_CODE_WAKEUP, 0, 1, 50, 0);
	build_switch(&build, 0, 1200, 1, 50, 60);
	for (uint64_t at = 1300; at < 3000000; at += 100)
		build_event(&build, 0, at, READ, 0);
	build_close(&build, 0);
	build_mark(&build);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; { cat %s; sleep 6; } | { timeout 4 ./fkt_print -q --to 100us "
		 "- || echo waited; } | grep -q '^Duration '",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Outside of all calls, what is known of a thread from before: "first" (70) is in user mode, and
 * has slept there; "second" (71) slept before anything was known of it, so it was in some call.
 */
static void write_bases(const char *file)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const char told[] = "start_cycles=0\0stop_cycles=6000";
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_text(&build, FKT_SECTION_CODES, "0x1000 1 point 0 other none\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build.lane[1].pid = 71;
	build_switch(&build, 1, 500, 0x1, 71, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1200, END, 0);
	build_switch(&build, 1, 1500, 0, 0, 71);
	build_switch(&build, 0, 2500, 0x1, 70, 0);
	build_switch(&build, 0, 3000, 0, 0, 70);
	build_switch(&build, 1, 5500, 0, 71, 0);
	build_switch(&build, 0, 5700, 0, 70, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 6000, 6000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
}

static void test_extracted_bases(void **state)
{
	char file[] = "/tmp/test_print_bases.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_bases(file);
	compare_windows(file, "1700ns 2700ns 3200ns", "-q\n--cpus");
	/* And a part of a part. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; ./fkt_extract --from 1100ns -o $f.1 $f >/dev/null && "
		 "./fkt_extract --from 500ns -o $f.2 $f.1 >/dev/null && "
		 "./fkt_print -q --format csv $f.2 | grep -q '^begun before,'; "
		 "s=$?; rm -f $f.1 $f.2; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Calls that are open when a part begins have their places, and their times, as they have them in
 * the same window of the whole trace: without their arguments, which the part does not know.
 */
static void test_extracted_order(void **state)
{
	static const char *const views[] = { "--spans", "--graph", "--graph -q",
					     "--spans --cpu 1" };
	char file[] = "/tmp/test_print_order.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_interrupted(file);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		snprintf(
			command, sizeof(command),
			"cd %s/build/bin; f=%s; s=0; "
			"print() { ./fkt_print --time=rel %s \"$@\" | "
			"sed -n '/Duration.*Thread/,/^$/s/^ *-*[0-9]*\\.[0-9]* //p'; }; "
			"for b in 1100 1150 1250 1900 2950 3450 4100; do "
			"./fkt_extract --from ${b}ns -o $f.part $f >/dev/null && "
			"print --from ${b}ns $f >$f.whole && print $f.part | diff $f.whole - >&2 && "
			"[ -s $f.whole ] || s=1; done; rm -f $f.*; exit $s",
			top, file, views[i]);
		if (system(command))
			fail_msg("%s", views[i]);
	}
	unlink(file);
}

/* So it is where interrupts are open at its begin, and calls in them. */
static void test_extracted_interrupts(void **state)
{
	char file[] = "/tmp/test_print_irqs.XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_interrupted(file);
	compare_windows(file,
			"1100ns 1250ns 1900ns 2100ns 2300ns 2450ns 2600ns 2850ns 3100ns 3300ns "
			"3450ns 3550ns 3700ns 4100ns",
			"-q\n--no-summary --cpus --waits "
			"--by function,thread --calls");
	/* While F is open; where it is not, a part does not know it. */
	compare_windows(file, "1100ns 1250ns 1900ns 2100ns 2300ns 2450ns 2600ns 2850ns",
			"-q --function F\n--no-summary --waits --function sys_read\n"
			"--no-summary --by function,thread --function F");
	unlink(file);
}

/* The head of a trace of threads "first" (70) and "second" (71), on so many CPUs, and its tail. */
static void begin_pair_of(struct build *build, const char *info, size_t bytes, unsigned int cpus,
			  uint32_t first, uint32_t second)
{
	build_begin(build, cpus, false);
	build_clock(build, 0, 0, 0);
	build_section(build, FKT_SECTION_INFO, info, bytes, false);
	build_text(build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_text(build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x10002 1 entry 0x10003 functions G\n0x10003 1 exit 0x10002 functions G\n");
	build_pages(build);
	build->lane[0].pid = first;
	build->lane[1].pid = second;
}

static void begin_pair(struct build *build, unsigned int cpus, uint32_t first, uint32_t second)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";

	begin_pair_of(build, info, sizeof(info), cpus, first, second);
}

static void end_pair(struct build *build, const char *file)
{
	static const char told[] = "start_cycles=0\0stop_cycles=6000";

	build_tail(build);
	build_section(build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(build, 6000, 6000, 0);
	build_write(build, file, build->bytes);
	build_free(build);
}

/*
 * Parts that end before the recording's first system call: what threads are at in them is told by
 * that one behind the end, as of a window.
 */
static void test_extracted_first_call(void **state)
{
	char file[] = "/tmp/test_print_call.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 0, 1010, FKT_CODE_IRQ_EXIT, 1);
	build_event(&build, 1, 1500, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 1, 1510, FKT_CODE_IRQ_EXIT, 1);
	build_event(&build, 0, 4500, END, 0);
	build_event(&build, 1, 5000, READ, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1005ns 2000ns",
			"-q\n--no-summary --cpus --by function,thread");
	unlink(file);
}

/* Recording was off: a part that begins later does not know what is open, nor who runs where. */
static void test_extracted_off(void **state)
{
	char file[] = "/tmp/test_print_off.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	build_event(&build, 1, 1500, F, 0);
	build_event(&build, 1, 1600, FKT_CODE_IRQ_ENTRY, 1);
	set_mask(&build, 2000, 0); /* F and the interrupt end meanwhile */
	set_mask(&build, 3000, 0xffffffff);
	build_event(&build, 0, 3500, READ, 0);
	build_event(&build, 0, 3800, END, 0);
	build_event(&build, 1, 3600, G, 0);
	build_event(&build, 1, 3700, G_END, 0);
	slot(&build, 0, 4500, FKT_CODE_PAUSE, 0, 1, 4300, 0);
	build_event(&build, 0, 4600, READ, 0);
	build_event(&build, 0, 4700, END, 0);
	build_event(&build, 1, 5000, G, 0);
	build_event(&build, 1, 5100, G_END, 0);
	end_pair(&build, file);
	compare_windows(file, "650ns 1200ns 2200ns 2650ns 3550ns 3650ns 4050ns",
			"-q\n--no-summary --cpus --waits "
			"--by function,thread --calls");
	unlink(file);
}

/*
 * Recording is off while "first" (70) sleeps and "second" (71) waits: in parts as in windows their
 * waits end there. In the part that begins while it is off, nothing is known of "first" on CPU 1,
 * where another one is when it goes on. Last, "second" was woken on its way out of its CPU, which
 * nothing tells any more.
 */
static void test_extracted_waits_off(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000\0layers=system";
	char file[] = "/tmp/test_print_w_off.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair_of(&build, info, sizeof(info), 2, 71, 70);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1010, READ, 0);
	build_switch(&build, 1, 1200, 0x1, 70, 0);
	build_switch(&build, 0, 1300, 0x0, 71, 0);
	set_mask(&build, 2000, 0);
	build_close(&build, 0);
	build_close(&build, 1);
	build.lane[0].pid = 71;
	build.lane[1].pid = 70;
	build_switch(&build, 0, 2500, 0, 71, 71);
	build_switch(&build, 1, 2500, 0, 70, 70);
	set_mask(&build, 2500, 0xffffffff);
	set_mask(&build, 2600, 0);
	build_close(&build, 1);
	build.lane[1].pid = 0;
	build_switch(&build, 0, 3000, 0, 71, 71);
	build_switch(&build, 1, 3000, 0, 0, 0);
	set_mask(&build, 3000, 0xffffffff);
	slot(&build, 0, 3200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_switch(&build, 1, 3300, 0, 0, 70);
	slot(&build, 1, 3400, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_switch(&build, 0, 3500, 0x1, 71, 0);
	build_switch(&build, 1, 3600, 0x1, 70, 0);
	set_mask(&build, 4000, 0);
	build_switch(&build, 0, 4500, 0, 0, 0);
	build_switch(&build, 1, 4500, 0, 0, 0);
	set_mask(&build, 4500, 0xffffffff);
	build_switch(&build, 0, 5000, 0, 0, 71);
	build_event(&build, 0, 5100, END, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1200ns 1550ns 1700ns 2250ns 2650ns 3300ns",
			"-q\n--no-summary --cpus --waits "
			"--by function,thread");
	unlink(file);
}

/* What kept the recording's own from being written: it says when all CPUs stopped recording. */
static void pause_at(struct build *build, uint64_t stamp, uint64_t at)
{
	build->lane[0].pid = 99;
	slot(build, 0, stamp, FKT_CODE_PAUSE, 0, 1, at, 0);
	build_close(build, 0);
	build_close(build, 1);
}

/*
 * That recording was paused comes out a while after: parts and windows that begin or end between.
 * Who says so was on no CPU before; it may be woken, or not, when recording goes on.
 */
static void test_extracted_paused(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000\0layers=system";
	static const char *const views = "-q\n--no-summary --cpus --waits\n"
					 "--no-summary --by function,thread";
	char file[] = "/tmp/test_print_paused.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (unsigned int i = 0; i < 2; i++) {
		begin_pair_of(&build, info, sizeof(info), 2, 70, 71);
		build_event(&build, 0, 1000, READ, 0);
		build_event(&build, 1, 1010, READ, 0);
		build_switch(&build, 1, 1200, 0x1, 71, 0);
		pause_at(&build, 3000, 2000);
		build.lane[0].pid = 70;
		build.lane[1].pid = 0;
		build_switch(&build, 0, 4000, 0, 70, 70);
		build_switch(&build, 1, 4000, 0, 0, 0);
		set_mask(&build, 4000, 0xffffffff);
		if (i)
			slot(&build, 0, 4050, FKT_CODE_WAKEUP, 0, 1, 99 | 120ull << 32, 0);
		build_event(&build, 0, 5000, END, 0);
		build_switch(&build, 1, 5010, 0, 0, 71);
		build_event(&build, 1, 5100, END, 0);
		end_pair(&build, file);
		compare_windows(file, "0ns 500ns 1005ns 1500ns 2100ns 3050ns 4045ns", views);
	}
	/* Of the first CPU it is the first event; an idle one. */
	begin_pair_of(&build, info, sizeof(info), 2, 0, 71);
	build_event(&build, 1, 100, READ, 0);
	build_event(&build, 1, 1000, END, 0);
	pause_at(&build, 3000, 2000);
	build.lane[0].pid = 0;
	build.lane[1].pid = 71;
	build_switch(&build, 1, 4000, 0, 71, 71);
	build_switch(&build, 0, 4010, 0, 0, 0);
	build_event(&build, 1, 5000, READ, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1500ns 2100ns 3050ns", views);
	unlink(file);
}

/*
 * The leader (70) ends, and "second" (71) of its process is in an execve, in which it sleeps by the
 * leader's pid before EXEC tells of it, or not: parts that begin before and after its first event
 * by that pid, the first one of its CPU, know whose call it is.
 */
static void test_extracted_exec(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const char codes[] = "0x10000 1 entry 0x10001 functions F\n"
				    "0x10001 1 exit 0x10000 functions F\n";
	const uint64_t exec[3] = { 70 | (uint64_t)71 << 32, 0x656c6973, 0 };
	char file[] = "/tmp/test_print_x_exec.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (unsigned int sleeps = 0; sleeps < 2; sleeps++) {
		build_begin(&build, 2, false);
		build_clock(&build, 0, 0, 0);
		build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
		build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 70 1 second\n");
		build_text(&build, FKT_SECTION_CODES, codes);
		build_pages(&build);
		build.lane[0].pid = 71;
		build.lane[1].pid = 70;
		build_event(&build, 0, 1000, FKT_CODE_SYSCALL_ENTRY + 59, 0);
		build_event(&build, 1, 1010, READ, 0);
		build_event(&build, 0, 1100, F, 0);
		build_switch(&build, 1, 1200, 0x80, 70, 0);
		build_close(&build, 0);
		build.lane[0].pid = 70;
		if (sleeps) {
			build_switch(&build, 0, 2000, 0x2, 70, 0);
			slot(&build, 1, 2500, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
			build_switch(&build, 0, 3000, 0, 0, 70);
		}
		build_slot(&build, 0, 0, 3500, FKT_CODE_EXEC, 0, exec, 3);
		build_event(&build, 0, 3600, F_END, 0);
		build_event(&build, 0, 3700, FKT_CODE_SYSCALL_EXIT + 59, 0);
		build_event(&build, 0, 5000, READ, 0);
		build_event(&build, 0, 5200, END, 0);
		end_pair(&build, file);
		compare_windows(file, "0ns 500ns 1200ns 1700ns 2200ns 2550ns",
				"-q\n--no-summary --cpus --waits "
				"--by function,thread --calls");
	}
	unlink(file);
}

/*
 * System calls are recorded only after "first" (70) has slept and made an exec: the call that it
 * leaves then began behind that, also where the part ends before it.
 */
static void test_extracted_exec_unseen(void **state)
{
	const uint64_t exec[3] = { 70 | (uint64_t)70 << 32, 0x656c6973, 0 };
	char file[] = "/tmp/test_print_x_unseen.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, FKT_CODE_SOFTIRQ_RAISE, 1);
	build_event(&build, 1, 1010, READ, 0);
	build_switch(&build, 0, 1500, 0x2, 70, 0);
	slot(&build, 0, 1600, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_switch(&build, 0, 1700, 0, 0, 70);
	build_slot(&build, 0, 0, 2500, FKT_CODE_EXEC, 0, exec, 3);
	build_event(&build, 0, 3500, END, 0);
	build_event(&build, 0, 4500, READ, 0);
	build_event(&build, 0, 4700, END, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 550ns 1000ns 1800ns 2200ns 2800ns",
			"-q\n--no-summary --cpus --waits\n--no-summary --folded");
	unlink(file);
}

/*
 * CPU 1 is idle in a part, without an event. Behind its end "first" (70) comes there and tells what
 * is to be known, that it wakes "second" (71), which had been woken on its way out of its CPU.
 */
static void test_extracted_came_behind(void **state)
{
	char file[] = "/tmp/test_print_behind.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 71, 70);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1010, READ, 0);
	build_switch(&build, 1, 1100, 0x1, 70, 0);
	build_event(&build, 0, 2000, FKT_CODE_IRQ_ENTRY, 1);
	slot(&build, 0, 2010, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 0, 2020, FKT_CODE_IRQ_EXIT, 1);
	build_switch(&build, 0, 2200, 0x1, 71, 0);
	slot(&build, 0, 3950, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_switch(&build, 1, 4000, 0, 0, 70);
	slot(&build, 1, 4050, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 1, 5000, END, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1050ns",
			"-q\n--no-summary --cpus --waits "
			"--by function,thread");
	unlink(file);
}

/* A CPU's first event comes when recording was off: who was there before is not known. */
static void test_extracted_before_off(void **state)
{
	char file[] = "/tmp/test_print_b_off.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	set_mask(&build, 2000, 0);
	set_mask(&build, 3000, 0xffffffff);
	build_event(&build, 0, 3100, READ, 0);
	build_event(&build, 0, 3200, END, 0);
	build_event(&build, 1, 3500, READ, 0);
	build_event(&build, 1, 3700, END, 0);
	end_pair(&build, file);
	compare_windows(file, "50ns 500ns 1050ns 1500ns 2150ns 2550ns", "-q\n--no-summary --cpus");
	compare_picked(file, "0 500ns 1050ns 1500ns");
	unlink(file);
}

/* Recording is off again and again: a part is made without going through all CPUs each time. */
static void test_extracted_often_off(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_often.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;
	char *text = NULL;
	size_t bytes;
	FILE *cpus;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	cpus = open_memstream(&text, &bytes);
	assert_non_null(cpus);
	for (uint32_t i = 0; i <= UINT16_MAX; i++)
		fprintf(cpus, "cpu %u %u\n", i, 1000 + i);
	assert_int_equal(fclose(cpus), 0);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n");
	build_text(&build, FKT_SECTION_STATE, text);
	free(text);
	build_pages(&build);
	build.lane[0].pid = 70;
	for (uint64_t t = 1000; t < 61000; t++)
		slot(&build, 0, t, FKT_CODE_PAUSE, 0, 1, t, 0);
	build_end(&build, 70000, 70000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; ulimit -t 1; "
		"./fkt_extract --process 70 -o $f.part $f >/dev/null; s=$?; rm -f $f.part; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* What is lost on one CPU is no concern of a thread that runs on another one. */
static void test_extracted_lost(void **state)
{
	char file[] = "/tmp/test_print_lost.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, F, 0);
	build_event(&build, 0, 1100, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 1, 1500, READ, 0);
	build_close(&build, 1);
	build.lane[1].lost++;
	build_event(&build, 1, 2500, READ, 0);
	build_event(&build, 1, 2600, END, 0);
	build_event(&build, 0, 2700, FKT_CODE_IRQ_EXIT, 1);
	build_event(&build, 0, 3000, G, 0);
	build_event(&build, 0, 3100, G_END, 0);
	build_event(&build, 0, 5000, F_END, 0);
	end_pair(&build, file);
	compare_windows(file, "1550ns 1650ns 1750ns 2050ns 3000ns",
			"-q\n--no-summary --cpus --by function,thread "
			"--calls");
	unlink(file);
}

/* On whom is on the CPU, or on whom it is about to switch to. */
static void verdict(struct build *build, uint64_t stamp, uint16_t recorded, uint32_t tid)
{
	slot(build, 0, stamp, FKT_CODE_FILTER, recorded, 1, tid, 0);
}

/*
 * Of a recording of 70 alone a part knows who is not recorded, also between what says so and the
 * switch. After a loss nobody says it; 71 is recorded, as it has events that others do not.
 */
static void test_extracted_left_out(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000\0filter=--pid 70";
	char file[] = "/tmp/test_print_left_out.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_small(&build, info, sizeof(info));
	build.lane[0].pid = 70;
	verdict(&build, 900, 1, 70);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1200, END, 0);
	verdict(&build, 1990, 0, 71);
	build_switch(&build, 0, 2000, 1, 70, 71);
	build_switch(&build, 0, 2500, 1, 71, 72);
	slot(&build, 0, 2800, FKT_CODE_WAKEUP, 0, 1, 70, 0);
	verdict(&build, 2990, 1, 70);
	build_switch(&build, 0, 3000, 0, 72, 70);
	build_event(&build, 0, 3100, READ, 0);
	build_event(&build, 0, 3400, END, 0);
	verdict(&build, 3590, 0, 72);
	build_switch(&build, 0, 3600, 0, 70, 72);
	verdict(&build, 3990, 1, 70);
	build_switch(&build, 0, 4000, 1, 72, 70);
	build_close(&build, 0);
	build.lane[0].lost++;
	build.lane[0].pid = 71;
	build_event(&build, 0, 4500, READ, 0);
	build_event(&build, 0, 4600, END, 0);
	build_switch(&build, 0, 5000, 1, 71, 72);
	build_switch(&build, 0, 5500, 1, 72, 70);
	build_event(&build, 0, 5600, READ, 0);
	end_pair(&build, file);
	compare_windows(
		file, "600ns 1095ns 1300ns 1800ns 2095ns 2150ns 2695ns 2800ns 3595ns 3650ns 4300ns",
		"-q\n--no-summary --cpus --waits "
		"--by function,thread --calls");
	unlink(file);
}

/* Who woke a thread that is recorded was not recorded, also in a part of that thread's. */
static void test_extracted_left_out_waker(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000\0filter=--pid 70";
	char file[] = "/tmp/test_print_out_waker.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build.lane[1].pid = 71;
	verdict(&build, 900, 1, 70);
	slot(&build, 1, 950, FKT_CODE_FILTER, 0, 1, 71, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_switch(&build, 0, 1100, 1, 70, 0);
	slot(&build, 1, 1200, FKT_CODE_WAKEUP, 0, 1, 70, 0);
	slot(&build, 1, 1300, FKT_CODE_WAKEUP, 0, 1, 72, 0);
	build_switch(&build, 0, 2700, 0, 0, 70);
	build_event(&build, 0, 4500, END, 0);
	end_pair(&build, file);
	compare_picked(file, "320ns 500ns");
	unlink(file);
}

/*
 * A part that begins within a loss: what was open before that is not. Its first event says nothing
 * of who is recorded, so 71 is not.
 */
static void test_extracted_in_loss(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000\0filter=--pid 70";
	char file[] = "/tmp/test_print_in_loss.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 1, 70, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1050, F, 0);
	build_switch(&build, 0, 1100, 1, 70, 71);
	build_close(&build, 0);
	build.lane[0].lost++;
	build_event(&build, 0, 1500, READ, 0);
	build_event(&build, 0, 1550, END, 0);
	build_switch(&build, 0, 1600, 1, 71, 70);
	build_event(&build, 0, 1900, READ, 0);
	build_event(&build, 0, 2000, END, 0);
	end_pair(&build, file);
	compare_windows(file, "400ns", "-q\n--no-summary --by function,thread --cpus");
	begin_small(&build, info, sizeof(info));
	build.lane[0].pid = 70;
	verdict(&build, 900, 1, 70);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1100, END, 0);
	build_close(&build, 0);
	build.lane[0].lost++;
	build.lane[0].pid = 71;
	slot(&build, 0, 1500, FKT_CODE_WAKEUP, 0, 1, 72, 0);
	build_switch(&build, 0, 2000, 1, 71, 72);
	build_switch(&build, 0, 2500, 1, 72, 0);
	end_pair(&build, file);
	compare_windows(file, "300ns", "-q\n--no-summary --by function,thread --cpus");
	unlink(file);
}

/* An interrupt that is open when a part ends has interrupted 70, though 71 is there next. */
static void test_extracted_in_interrupt(void **state)
{
	char file[] = "/tmp/test_print_in_irq.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 71, 0);
	build_switch(&build, 1, 100, 0, 0, 72);
	build_event(&build, 1, 200, READ, 0);
	build_event(&build, 1, 300, END, 0);
	build_switch(&build, 0, 1500, 0, 71, 70);
	build_event(&build, 0, 2500, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, 2700, FKT_CODE_SOFTIRQ_ENTRY, 4);
	build_event(&build, 0, 3000, FKT_CODE_SOFTIRQ_EXIT, 4);
	build_event(&build, 0, 3100, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, 3200, 0, 70, 71);
	build_event(&build, 0, 3300, READ, 0);
	build_event(&build, 0, 3400, END, 0);
	build_switch(&build, 0, 3500, 0, 71, 70);
	build_event(&build, 0, 3600, F, 0);
	build_event(&build, 0, 3700, F_END, 0);
	build_event(&build, 0, 3800, READ, 0);
	end_pair(&build, file);
	compare_windows(file, "1000ns 2600ns 2800ns",
			"-q\n--no-summary --by function,thread --cpus");
	/* Moments from the beginning are others in a part. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; "
		 "print() { ./fkt_print --no-summary --spans --format csv \"$@\" | "
		 "cut -d, -f 1,3,5-; }; "
		 "./fkt_extract --range 1000ns..2900ns -o $f.part $f >/dev/null && "
		 "print --range 1000ns..2900ns $f >$f.whole && print $f.part | diff $f.whole - >&2 "
		 "&& grep -q first $f.whole; s=$?; rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * What comes behind a part's end tells what was outside of a call that is open at its end, or was
 * at its begin (70), and that a thread sleeps in one (71).
 */
static void test_extracted_in_call(void **state)
{
	char file[] = "/tmp/test_print_in_call.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 1, 900, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 1, 910, FKT_CODE_IRQ_EXIT, 1);
	build_switch(&build, 1, 1000, 0, 71, 72);
	build_event(&build, 1, 1100, READ, 0);
	build_event(&build, 1, 1200, END, 0);
	build_switch(&build, 1, 1300, 0, 72, 71);
	build_event(&build, 0, 1800, F, 0);
	build_event(&build, 0, 2200, F_END, 0);
	build_event(&build, 0, 2600, G, 0);
	build_event(&build, 0, 3000, G_END, 0);
	build_switch(&build, 1, 3500, 0x1, 71, 0);
	build_event(&build, 0, 4500, END, 0);
	end_pair(&build, file);
	compare_windows(file, "1500ns 2000ns 2300ns", "-q\n--no-summary --cpus");
	unlink(file);
}

/* Of a CPU of a shared lane that has no event in a part it is known who was current. */
static void test_extracted_silent(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_silent.XXXXXX";
	const uint64_t to_71 = 71ull << 32, to_idle = 71;
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, true);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_slot(&build, 0, 0, 1000, READ, 0, NULL, 0);
	build_slot(&build, 0, 1, 1100, FKT_CODE_SWITCH, 0, &to_71, 1);
	build_slot(&build, 0, 1, 1200, END, 0, NULL, 0);
	build_slot(&build, 0, 0, 2000, END, 0, NULL, 0);
	build_slot(&build, 0, 0, 2500, READ, 0, NULL, 0);
	build_slot(&build, 0, 0, 3500, END, 0, NULL, 0);
	build_slot(&build, 0, 1, 5000, FKT_CODE_SWITCH, 0, &to_idle, 1);
	end_pair(&build, file);
	compare_windows(file, "1500ns 2200ns", "-q\n--no-summary --cpus");
	unlink(file);
}

/* Where nobody says who was current on a CPU of a shared lane, it was not idle for that. */
static void test_extracted_unknown(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_unknown.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, true);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_slot(&build, 0, 0, 1000, READ, 0, NULL, 0);
	build_slot(&build, 0, 0, 2000, END, 0, NULL, 0);
	build_slot(&build, 0, 0, 3500, READ, 0, NULL, 0);
	build_slot(&build, 0, 1, 5100, READ, 0, NULL, 0);
	build_slot(&build, 0, 0, 5200, END, 0, NULL, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 1500ns 2200ns", "-q\n--no-summary --cpus");
	unlink(file);
}

/*
 * The first event of CPU 1 is behind a loss, of its own lane or of the shared one: so it does not
 * say who was there before. 70 was on CPU 0.
 */
static void test_extracted_behind_loss(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_behind.XXXXXX";
	const uint64_t to_71 = 70 | 71ull << 32;
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 70);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 2000, END, 0);
	build_switch(&build, 0, 3000, 0, 70, 71);
	build.lane[1].lost++;
	build_event(&build, 1, 4500, READ, 0);
	build_event(&build, 1, 5000, END, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1500ns", "-q\n--no-summary --cpus");
	compare_picked(file, "0ns 500ns 1500ns");
	build_begin(&build, 1, true);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_slot(&build, 0, 0, 1000, READ, 0, NULL, 0);
	build_slot(&build, 0, 0, 2000, END, 0, NULL, 0);
	build_slot(&build, 0, 0, 3000, FKT_CODE_SWITCH, 0, &to_71, 1);
	build_slot(&build, 0, 0, 4200, READ, 0, NULL, 0);
	build_close(&build, 0);
	build.lane[0].lost++;
	build.lane[0].cpu = 1;
	build.lane[0].pid = 70;
	build_slot(&build, 0, 1, 4500, READ, 0, NULL, 0);
	build_slot(&build, 0, 1, 5000, END, 0, NULL, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1500ns", "-q\n--no-summary --cpus");
	unlink(file);
}

/* 70 comes to CPU 1 from CPU 0, which has left it for whom a later loss tells, or nothing. */
static void test_extracted_left_unseen(void **state)
{
	char file[] = "/tmp/test_print_unseen.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_switch(&build, 1, 1200, 0, 0, 70);
	build_event(&build, 1, 1300, END, 0);
	build_event(&build, 1, 2000, READ, 0);
	build_event(&build, 1, 2400, END, 0);
	build_close(&build, 0);
	build.lane[0].lost++;
	build.lane[0].pid = 71;
	build_event(&build, 0, 5000, READ, 0);
	end_pair(&build, file);
	compare_windows(file, "250ns 500ns 1200ns", "-q\n--no-summary --cpus");
	unlink(file);
}

/* A thread is woken on its way out; a part begins when it has not left yet. */
static void test_extracted_early(void **state)
{
	char file[] = "/tmp/test_print_early.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1050, READ, 0);
	slot(&build, 1, 1200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_event(&build, 1, 1250, END, 0);
	build_switch(&build, 0, 1600, 0x1, 70, 0);
	build_switch(&build, 0, 3800, 0, 0, 70);
	build_event(&build, 0, 4500, END, 0);
	end_pair(&build, file);
	compare_windows(file, "100ns 230ns 400ns 650ns", "-q\n--no-summary --waits");
	unlink(file);
}

/* A thread is woken from another CPU than its own, by the idle task there. */
static void test_extracted_idle_waker(void **state)
{
	char file[] = "/tmp/test_print_idle.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1010, FKT_CODE_IRQ_ENTRY, 3);
	build_event(&build, 1, 1020, FKT_CODE_IRQ_EXIT, 3);
	build_switch(&build, 0, 1100, 0x1, 70, 0);
	slot(&build, 1, 1200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_event(&build, 0, 1700, FKT_CODE_IRQ_ENTRY, 3);
	build_event(&build, 0, 1710, FKT_CODE_IRQ_EXIT, 3);
	build_switch(&build, 0, 2500, 0, 0, 70);
	build_event(&build, 0, 4500, END, 0);
	end_pair(&build, file);
	compare_windows(file, "150ns 250ns 600ns", "--no-summary --waits");
	unlink(file);
}

/* Who preempts a thread has ended when a part begins. */
static void test_extracted_preempted(void **state)
{
	char file[] = "/tmp/test_print_preempted.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 0);
	build_event(&build, 0, 1000, END, 0);
	build_switch(&build, 0, 1100, 0, 70, 71);
	slot(&build, 0, 1200, FKT_CODE_EXIT, 0, 1, 71, 0);
	build_switch(&build, 0, 1500, 0x20, 71, 72);
	slot(&build, 0, 1600, FKT_CODE_RELEASE, 0, 1, 71, 0);
	build_switch(&build, 0, 2500, 0, 72, 70);
	build_event(&build, 0, 4500, READ, 0);
	end_pair(&build, file);
	/* Moments from the beginning are others in a part. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; s=0; "
		 "print() { ./fkt_print --noise --format csv \"$@\" | cut -d, -f 1,3-; }; "
		 "for b in 150 550 800; do "
		 "./fkt_extract --from ${b}ns -o $f.part $f >/dev/null && "
		 "print --from ${b}ns $f >$f.whole && print $f.part | diff $f.whole - >&2 && "
		 "grep -q 'preempted,,71,second' $f.whole || s=1; done; rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* Who has woken a thread is known by name in a part that begins when it has ended. */
static void test_extracted_waker(void **state)
{
	char file[] = "/tmp/test_print_waker.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 1, 1000, READ, 0);
	build_switch(&build, 1, 1010, 0x1, 71, 0);
	build_event(&build, 0, 1020, READ, 0);
	slot(&build, 0, 1200, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 0, 1220, END, 0);
	slot(&build, 0, 1300, FKT_CODE_EXIT, 0, 1, 70, 0);
	build_switch(&build, 0, 1400, 0x20, 70, 0);
	slot(&build, 1, 1500, FKT_CODE_RELEASE, 0, 1, 70, 0);
	build_event(&build, 0, 1600, FKT_CODE_IRQ_ENTRY, 3);
	build_event(&build, 0, 1700, FKT_CODE_IRQ_EXIT, 3);
	build_switch(&build, 1, 2500, 0, 0, 71);
	build_event(&build, 1, 4500, END, 0);
	end_pair(&build, file);
	compare_windows(file, "550ns 650ns", "--no-summary --waits");
	unlink(file);
}

/* A call is open at a part's end, in another one whose entry was not seen: both end behind it. */
static void test_extracted_open(void **state)
{
	char file[] = "/tmp/test_print_open.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 71, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1010, END, 0);
	build_switch(&build, 0, 1020, 0x1, 71, 70);
	build_event(&build, 0, 1200, F, 0);
	build_event(&build, 0, 4200, F_END, 0);
	build_event(&build, 0, 4300, F_END, 0);
	build_event(&build, 0, 5000, END, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 150ns", "-q\n--no-summary --cpus --by function,thread");
	/* Nor are they left in the part. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; "
		 "print() { ./fkt_print --time=rel --spans \"$@\" | "
		 "sed -n '/Duration.*Thread/,/^$/s/^ *-*[0-9]*\\.[0-9]* //p'; }; "
		 "./fkt_extract --range 100ns..2900ns -o $f.part $f >/dev/null && "
		 "print --range 100ns..2900ns $f >$f.whole && print $f.part | diff $f.whole - >&2 "
		 "&& grep -q 'F.*not left' $f.whole; s=$?; rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Behind a part's end it comes out that "first" (70) was woken on its way out, and that "second"
 * (71), of which nothing was known, was in a call that began before.
 */
static void test_extracted_after_end(void **state)
{
	char file[] = "/tmp/test_print_after.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 0);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1010, FKT_CODE_IRQ_ENTRY, 3);
	build_event(&build, 1, 1020, FKT_CODE_IRQ_EXIT, 3);
	slot(&build, 0, 1200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_switch(&build, 0, 1600, 0x1, 70, 0);
	build_switch(&build, 1, 2000, 0, 0, 71);
	build_switch(&build, 1, 2500, 0x1, 71, 0);
	build_switch(&build, 0, 2700, 0x0, 0, 71);
	build_switch(&build, 0, 4300, 0x1, 71, 0);
	build_switch(&build, 0, 4400, 0, 0, 70);
	build_event(&build, 0, 4500, END, 0);
	build_switch(&build, 1, 5200, 0, 0, 71);
	build_event(&build, 1, 5300, END + 1, 7);
	end_pair(&build, file);
	compare_windows(file, "0ns 100ns 230ns 650ns 1100ns",
			"-q\n--no-summary --cpus --waits "
			"--by function,thread");
	compare_picked(file, "0 230ns 650ns");
	/* And a part of a part, which ends with it, or before. */
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; v='-q --format csv'; "
		 "./fkt_extract --to 2us -o $f.1 $f >/dev/null && for e in 1800ns 5us; do "
		 "./fkt_extract --range 500ns..$e -o $f.2 $f.1 >/dev/null && "
		 "./fkt_print $v --range 500ns..$e $f.1 >$f.3 && "
		 "./fkt_print $v $f.2 | diff $f.3 - || { rm -f $f.*; exit 1; }; done; rm -f $f.*",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * Recording is off behind a part's end: "first" (70) comes back from a call, in which it need not
 * have been before, and "second" (71) had told that it was in one.
 */
static void test_extracted_off_after_end(void **state)
{
	char file[] = "/tmp/test_print_off_after.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 72, 71);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 1010, END, 0);
	build_switch(&build, 0, 1020, 0, 72, 70);
	build_event(&build, 1, 1030, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 1, 1040, FKT_CODE_IRQ_EXIT, 1);
	build_event(&build, 0, 2000, FKT_CODE_IRQ_ENTRY, 1);
	build_event(&build, 0, 2010, FKT_CODE_IRQ_EXIT, 1);
	build_event(&build, 1, 4200, END, 0);
	slot(&build, 0, 4300, FKT_CODE_SETMASK, 0, 1, 70ull << 32, 0);
	slot(&build, 0, 5000, FKT_CODE_SETMASK, 0, 1, 0xffffffff | 70ull << 32, 0);
	build_switch(&build, 0, 5100, 0, 70, 70);
	build_event(&build, 0, 5200, END + 61, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 500ns 1050ns", "-q\n--no-summary --cpus --by function,thread");
	unlink(file);
}

/*
 * "first" (70) is in a read and in F when it comes to CPU 1, where it calls G; back on CPU 0, F
 * ends. "second" (71) sleeps on CPU 1, is woken by an interrupt of CPU 0, and goes on there.
 */
static void write_wandering(const char *file)
{
	struct build build;

	begin_pair(&build, 2, 70, 71);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1010, READ, 0);
	build_event(&build, 0, 1100, F, 0);
	build_event(&build, 0, 1200, G, 0);
	build_event(&build, 0, 1300, G_END, 0);
	build_switch(&build, 1, 1350, 0x1, 71, 0);
	build_switch(&build, 0, 1400, 0x0, 70, 0);
	build_switch(&build, 1, 1600, 0x0, 0, 70);
	build_event(&build, 1, 1700, G, 0);
	build_event(&build, 0, 1710, FKT_CODE_IRQ_ENTRY, 3);
	build_event(&build, 0, 1720, F, 0);
	slot(&build, 0, 1750, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 0, 1760, F_END, 0);
	build_event(&build, 0, 1780, FKT_CODE_IRQ_EXIT, 3);
	build_switch(&build, 0, 1790, 0x0, 0, 71);
	build_event(&build, 1, 1800, G_END, 0);
	build_switch(&build, 1, 2000, 0x2, 70, 0);
	build_event(&build, 0, 2100, END, 0);
	build_event(&build, 0, 2200, READ + 1, 0);
	slot(&build, 0, 2300, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_event(&build, 0, 2400, END + 1, 0);
	build_switch(&build, 0, 2500, 0x1, 71, 70);
	build_event(&build, 0, 2600, F_END, 0);
	build_event(&build, 0, 2800, END, 0);
	build_event(&build, 1, 3000, FKT_CODE_SOFTIRQ_ENTRY, 1);
	slot(&build, 1, 3100, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
	build_event(&build, 1, 3200, FKT_CODE_SOFTIRQ_EXIT, 1);
	build_switch(&build, 0, 3300, 0, 70, 71);
	build_event(&build, 0, 4000, READ, 0);
	build_switch(&build, 0, 4200, 0, 71, 70);
	build_switch(&build, 1, 4300, 0, 0, 71);
	build_event(&build, 1, 4600, END, 0);
	end_pair(&build, file);
}

static void test_extracted_picked(void **state)
{
	char file[] = "/tmp/test_print_picked.XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_wandering(file);
	compare_picked(file, "0 150ns 250ns 450ns 650ns 755ns 850ns 1050ns 1250ns 1450ns 1550ns "
			     "1700ns 2050ns 2150ns 2250ns 3100ns 3250ns");
	write_interrupted(file);
	compare_picked(file, "0 250ns 900ns 1100ns 1450ns 1600ns 1850ns 2300ns 2700ns 4100ns");
	unlink(file);
}

/* Where a process comes and goes, others stay on their CPUs: theirs is the time of each turn. */
static void test_while_again(void **state)
{
	char file[] = "/tmp/test_print_while.XXXXXX", command[8192];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 70, 71);
	build_event(&build, 1, 1000, READ, 0);
	for (uint32_t i = 0; i < 3; i++) {
		build_fork(&build, 0, 1000 + 1000 * i, 80 + i, 70);
		build_switch(&build, 0, 1100 + 1000 * i, 0, 70, 80 + i);
		build_name(&build, 0, 1200 + 1000 * i, FKT_CODE_EXEC, 80 + i, "x");
		slot(&build, 0, 1500 + 1000 * i, FKT_CODE_EXIT, 0, 1, 80 + i, 0);
		build_switch(&build, 0, 1600 + 1000 * i, 0x80, 80 + i, 70);
		slot(&build, 0, 1700 + 1000 * i, FKT_CODE_RELEASE, 0, 1, 80 + i, 0);
		build_event(&build, 1, 1750 + 1000 * i, F, 0);
		build_event(&build, 1, 1760 + 1000 * i, F_END, 0);
	}
	end_pair(&build, file);
	snprintf(
		command, sizeof(command),
		"p='%s/build/bin/fkt_print --no-pager --time=cycles --while x'; f=%s; "
		"sum() { awk '$2 == \"second\" { print $i }' i=$1; }; "
		"c=$($p --cpus $f | sum 4); q=$($p -q $f | sum 3); n=$($p --noise $f | awk '$1 == 1 { print $(NF - 2) }'); "
		"[ -n \"$c\" ] && [ \"$c\" = \"$q\" ] && [ \"$c\" = \"$n\" ] || "
		"{ echo \"--cpus $c, -q $q, --noise $n\"; exit 1; }",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A process that comes and goes again and again, each time as another thread: as a build has it. */
static void test_while_of_many(void **state)
{
	static const char *const views[] = { "-q", "--waits", "--spans", "--by=function" };
	char file[] = "/tmp/test_print_turns.XXXXXX", command[8192];
	int fd = mkstemp(file);
	struct build build;
	uint64_t at;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 1, 70, 71);
	for (uint32_t i = 0; i < 100000; i++) {
		at = 1000 + 100 * i;
		build_fork(&build, 0, at, 1000 + i, 70);
		build_switch(&build, 0, at + 10, 0x1, 70, 1000 + i);
		build_name(&build, 0, at + 20, FKT_CODE_EXEC, 1000 + i, "x");
		build_event(&build, 0, at + 30, READ, 0);
		build_event(&build, 0, at + 40, END, 0);
		slot(&build, 0, at + 50, FKT_CODE_EXIT, 0, 1, 1000 + i, 0);
		slot(&build, 0, at + 60, FKT_CODE_WAKEUP, 0, 1, 70, 0);
		build_switch(&build, 0, at + 70, 0x80, 1000 + i, 70);
		slot(&build, 0, at + 80, FKT_CODE_RELEASE, 0, 1, 1000 + i, 0);
	}
	build_end(&build, at + 100, at + 100, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		snprintf(
			command, sizeof(command),
			"timeout 12 %s/build/bin/fkt_print --format csv %s --while x %s >/dev/null",
			top, views[i], file);
		if (system(command))
			fail_msg("%s", command);
	}
	unlink(file);
}

/*
 * In a damaged page stamps run back: a call that ends before it began has taken no time, in any
 * view.
 */
static void test_running_back(void **state)
{
	char file[] = "/tmp/test_print_back.XXXXXX", command[8192];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 1, 70, 71);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 0, 3000, F, 0);
	build_event(&build, 0, 2000, F_END, 0);
	build_event(&build, 0, 4000, END, 0);
	build_event(&build, 0, 5000, F, 0);
	build_close(&build, 0);
	build_event(&build, 0, 4500, F_END, 0);
	end_pair(&build, file);
	snprintf(
		command, sizeof(command),
		"p='%s/build/bin/fkt_print --no-pager --time=cycles --format=json'; f=%s; "
		"for o in '--calls --elapsed' '--elapsed --histogram F' --spans '--by=function --elapsed' "
		"'--graph --no-summary' '--no-summary --longer-than 10us'; do "
		"for t in 1 2; do $p $o --threads $t $f 2>/dev/null; done; "
		"done | grep -E ':-[0-9]|[0-9]{15}' && exit 1; exit 0",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* What others are in when a part of one process begins does not last: its end is not there. */
static void test_extracted_others(void **state)
{
	char file[] = "/tmp/test_print_others.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_interrupted(file);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; ./fkt_extract -p 71 --from 2600ns -o %s.part %s >/dev/null && "
		 "! ./fkt_print -q %s.part | grep -E 'irq|NET_RX|G '; s=$?; "
		 "rm -f %s.part; exit $s",
		 top, file, file, file, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/*
 * A thread has a name from the midst of a call on: bash is in an execve, and worker sleeps in a
 * read when somebody else renames it. What it is in then is in the part, too.
 */
static void test_extracted_renamed(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	static const char told[] = "start_cycles=800\0stop_cycles=2000";
	char file[] = "/tmp/test_print_renamed.XXXXXX", command[3 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 bash\n71 71 1 other\n72 72 1 worker\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x10002 1 entry 0x10003 functions G\n0x10003 1 exit 0x10002 functions G\n");
	build_pages(&build);
	build.lane[0].pid = 72;
	build_event(&build, 0, 830, READ, 0);
	build_switch(&build, 0, 850, 0x1, 72, 71);
	build_event(&build, 0, 860, READ, 0);
	build_event(&build, 0, 870, END, 0);
	build_name(&build, 0, 900, FKT_CODE_RENAME, 72, "ls");
	build_switch(&build, 0, 950, 0, 71, 70);
	build_event(&build, 0, 1000, FKT_CODE_SYSCALL_ENTRY + 59, 0);
	build_event(&build, 0, 1100, F, 0);
	build_name(&build, 0, 1200, FKT_CODE_EXEC, 70, "ls");
	build_event(&build, 0, 1300, G, 0);
	build_event(&build, 0, 1400, G_END, 0);
	build_event(&build, 0, 1500, F_END, 0);
	build_event(&build, 0, 1600, FKT_CODE_SYSCALL_EXIT + 59, 0);
	build_event(&build, 0, 1700, READ, 0);
	build_event(&build, 0, 1750, END, 0);
	build_switch(&build, 0, 1800, 0, 70, 71);
	build_event(&build, 0, 1850, READ, 0);
	build_event(&build, 0, 1900, END, 0);
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 2000, 2000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	/* Both begin with the first event. */
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; ./fkt_extract --process ls -o $f.part $f >/dev/null && "
		"[ \"$(./fkt_print --no-summary --spans --process ls $f.part | "
		"grep -c 'in part')\" = 2 ] && "
		"for v in --spans --graph --calls --waits '--by function,thread,caller'; do "
		"./fkt_print --no-summary $v --process ls $f >$f.whole || exit; "
		"./fkt_print --no-summary $v --process ls $f.part | diff $f.whole - || exit; done; "
		"s=$?; rm -f $f.*; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* bash is woken on its way out, and has a name then by which its wait is wanted; so is worker. */
static void test_extracted_woken_renamed(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_woken.XXXXXX", command[3 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 bash\n71 71 1 other\n72 72 1 worker\n");
	build_pages(&build);
	build.lane[0].pid = 72;
	build.lane[1].pid = 71;
	build_event(&build, 0, 0, READ, 0);
	build_switch(&build, 0, 500, 1, 72, 70);
	build_event(&build, 0, 1000, READ, 0);
	build_event(&build, 1, 1100, READ + 1, 0);
	slot(&build, 1, 1200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
	build_event(&build, 1, 1300, END + 1, 0);
	build_name(&build, 0, 1500, FKT_CODE_RENAME, 70, "ls");
	build_switch(&build, 0, 2000, 1, 70, 0);
	build_event(&build, 1, 2100, FKT_CODE_IRQ_ENTRY, 3);
	slot(&build, 1, 2200, FKT_CODE_WAKEUP, 0, 1, 72 | 120ull << 32, 0);
	build_event(&build, 1, 2300, FKT_CODE_IRQ_EXIT, 3);
	build_name(&build, 1, 2500, FKT_CODE_RENAME, 72, "ls");
	build_switch(&build, 0, 3000, 0, 0, 70);
	build_event(&build, 0, 4000, END, 0);
	build_switch(&build, 0, 5000, 1, 70, 72);
	build_event(&build, 0, 5500, END, 0);
	end_pair(&build, file);
	snprintf(
		command, sizeof(command),
		"cd %s/build/bin; f=%s; ./fkt_extract --process ls -o $f.part $f >/dev/null && "
		"for v in --waits '--by function,thread,caller'; do "
		"./fkt_print --no-summary $v --process ls $f >$f.whole || exit; "
		"./fkt_print --no-summary $v --process ls $f.part | diff $f.whole - || exit; done; "
		"s=$?; rm -f $f.*; exit $s",
		top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* The CPUs that are left out of a lane for all are not idle for that. */
static void test_extracted_shared(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=3\0tsc_khz=1000000";
	static const char told[] = "start_cycles=900\0stop_cycles=5500";
	char file[] = "/tmp/test_print_shared.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, true);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES,
		   "60 60 1 sixty\n70 70 1 seventy\n80 80 1 eighty\n");
	build_pages(&build);
	build.lane[0].pid = 60;
	for (uint64_t t = 1000; t < 5000; t += 200) {
		const uint64_t words[] = { 60 | 70ull << 32, 80ull << 32, 70 | 60ull << 32, 80 };

		build_slot(&build, 0, 0, t, FKT_CODE_SWITCH, 1, &words[0], 1);
		build_slot(&build, 0, 1, t + 50, FKT_CODE_SWITCH, 0, &words[1], 1);
		build_slot(&build, 0, 0, t + 100, FKT_CODE_SWITCH, 1, &words[2], 1);
		build_slot(&build, 0, 1, t + 150, FKT_CODE_SWITCH, 1, &words[3], 1);
	}
	build_tail(&build);
	build_section(&build, FKT_SECTION_INFO, told, sizeof(told), false);
	build_end(&build, 6000, 6000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; f=%s; ./fkt_extract --cpu 0 -o $f.part $f >/dev/null && "
		 "./fkt_print --no-summary --format csv --cpus $f >$f.whole && "
		 "./fkt_print --no-summary --format csv --cpus $f.part | diff $f.whole -; s=$?; "
		 "rm -f $f.*; exit $s",
		 top, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A thread that has ended is in no call any more, though its last one is never left. */
static void test_extracted_end(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	char file[] = "/tmp/test_print_end.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 71 1 second\n");
	build_pages(&build);
	build.lane[0].pid = 70;
	build_event(&build, 0, 1000, FKT_CODE_SYSCALL_ENTRY + 231, 0);
	build_switch(&build, 0, 2000, 0x20, 70, 71);
	build_event(&build, 0, 4000, FKT_CODE_SYSCALL_ENTRY + 39, 0);
	build_event(&build, 0, 5000, FKT_CODE_SYSCALL_EXIT + 39, 0);
	build_tail(&build);
	build_end(&build, 6000, 6000, 0);
	build_write(&build, file, build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "cd %s/build/bin; ./fkt_extract --from 3us -o %s.part %s >/dev/null && "
		 "./fkt_print --no-summary --spans %s.part >%s.spans && "
		 "grep -q getpid %s.spans && ! grep exit_group %s.spans; s=$?; rm -f %s.*; exit $s",
		 top, file, file, file, file, file, file, file);
	assert_int_equal(system(command), 0);
	unlink(file);
}

/* A CPU that is idle is in an interrupt, and a softirq in it, that have no event in a part. */
static void test_extracted_idle_interrupt(void **state)
{
	char file[] = "/tmp/test_print_idle_irq.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 71, 0);
	build_event(&build, 0, 900, READ, 0);
	build_event(&build, 1, 1000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 1, 1700, FKT_CODE_SOFTIRQ_ENTRY, 4);
	build_event(&build, 0, 2500, END, 0);
	build_event(&build, 0, 3500, READ, 0);
	build_event(&build, 0, 4000, END, 0);
	build_event(&build, 1, 4500, FKT_CODE_SOFTIRQ_EXIT, 4);
	build_event(&build, 1, 5000, FKT_CODE_IRQ_EXIT, 14);
	end_pair(&build, file);
	compare_windows(file, "0ns 200ns 1200ns 2000ns 3050ns",
			"-q\n--no-summary --by function,thread --cpus\n--noise");
	unlink(file);
}

/*
 * The call in which "second" (71) makes an exec began before the trace, by the number that it had
 * then: all of the time is that call's, and none the leader's (70), who has ended; in F or not, and
 * asleep at a part's end or not.
 */
static void test_extracted_exec_before(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";
	const uint64_t exec[3] = { 70 | (uint64_t)71 << 32, 0x656c6973, 0 };
	char file[] = "/tmp/test_print_x_before.XXXXXX", command[2 * sizeof(top)];
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (unsigned int i = 0; i < 4; i++) {
		const bool in_f = i % 2, sleeps = i / 2;

		build_begin(&build, 2, false);
		build_clock(&build, 0, 0, 0);
		build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
		build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 first\n71 70 1 second\n");
		build_text(&build, FKT_SECTION_CODES,
			   "0x10000 1 entry 0x10001 functions F\n"
			   "0x10001 1 exit 0x10000 functions F\n");
		build_pages(&build);
		build.lane[0].pid = 71;
		build.lane[1].pid = 70;
		build_event(&build, 0, 900, FKT_CODE_IRQ_ENTRY, 1);
		build_event(&build, 0, 910, FKT_CODE_IRQ_EXIT, 1);
		build_event(&build, 1, 1000, READ, 0);
		build_switch(&build, 1, 1200, 0x80, 70, 0);
		if (in_f)
			build_event(&build, 0, 1100, F, 0);
		if (sleeps) {
			build_switch(&build, 0, 2000, 0x2, 71, 0);
			build_switch(&build, 0, 3200, 0, 0, 71);
		}
		build_close(&build, 0);
		build.lane[0].pid = 70;
		build_slot(&build, 0, 0, 3500, FKT_CODE_EXEC, 0, exec, 3);
		if (in_f)
			build_event(&build, 0, 3600, F_END, 0);
		build_event(&build, 0, 4200, FKT_CODE_SYSCALL_EXIT + 59, 0);
		build_event(&build, 0, 5000, READ, 0);
		build_event(&build, 0, 5200, END, 0);
		end_pair(&build, file);
		snprintf(command, sizeof(command),
			 "%s/build/bin/fkt_print -q --format csv %s | "
			 "grep -q '^sys_execve,003b,%u,'",
			 top, file, (in_f ? 1690 : 4190) - (sleeps && !in_f ? 1200 : 0));
		assert_int_equal(system(command), 0);
		compare_windows(file, "0ns 905ns 1150ns 2000ns",
				"-q\n--no-summary --cpus --waits "
				"--by function,thread --calls");
	}
	unlink(file);
}

/*
 * "second" (71) wakes "first" (70), and then sleeps in a call that began before the trace: only
 * then it comes out that it was not in user mode, also in a part that begins behind that. In the
 * second trace, "first" has not left its CPU yet when it is woken.
 */
static void test_extracted_waker_base(void **state)
{
	char file[] = "/tmp/test_print_waker_b.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (unsigned int early = 0; early < 2; early++) {
		begin_pair(&build, 2, 70, 71);
		build_event(&build, 0, 1000, READ, 0);
		if (!early)
			build_switch(&build, 0, 1100, 0x1, 70, 0);
		slot(&build, 1, 1200, FKT_CODE_WAKEUP, 0, 1, 70 | 120ull << 32, 0);
		build_switch(&build, 1, 1300, 0x1, 71, 0);
		if (early)
			build_switch(&build, 0, 2200, 0x1, 70, 0);
		build_switch(&build, 0, 3500, 0, 0, 70);
		build_event(&build, 0, 3600, END, 0);
		slot(&build, 0, 3700, FKT_CODE_WAKEUP, 0, 1, 71 | 120ull << 32, 0);
		build_switch(&build, 1, 3800, 0, 0, 71);
		build_event(&build, 1, 4500, END, 0);
		end_pair(&build, file);
		compare_windows(file, "0ns 250ns 1000ns 1500ns", "-q\n--no-summary --cpus --waits");
	}
	unlink(file);
}

/*
 * Recording was off when CPU 0, idle, and CPU 1 were interrupted, and goes on before that ends: of
 * a part that begins in between it is known that no interrupt was entered.
 */
static void test_extracted_resumed_in_interrupt(void **state)
{
	char file[] = "/tmp/test_print_resumed.XXXXXX";
	int fd = mkstemp(file);
	struct build build;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	begin_pair(&build, 2, 0, 71);
	build_event(&build, 1, 900, READ, 0);
	build_event(&build, 0, 1000, FKT_CODE_IRQ_ENTRY, 5);
	set_mask(&build, 1100, 0);
	build_switch(&build, 0, 1500, 0, 0, 0);
	build_switch(&build, 1, 1505, 0, 71, 71);
	set_mask(&build, 1510, 0xffffffff);
	build_event(&build, 0, 2500, FKT_CODE_IRQ_EXIT, 5);
	build_event(&build, 1, 3000, FKT_CODE_SOFTIRQ_EXIT, 3);
	build_event(&build, 1, 3500, FKT_CODE_IRQ_EXIT, 6);
	build_event(&build, 1, 4500, END, 0);
	end_pair(&build, file);
	compare_windows(file, "0ns 150ns 400ns 603ns 700ns 1700ns 2500ns",
			"-q\n--no-summary --cpus --by function,thread\n--noise");
	unlink(file);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_extract_to_stdout),
		cmocka_unit_test(test_extract_nothing),
		cmocka_unit_test(test_extract_options),
		cmocka_unit_test(test_spans_width),
		cmocka_unit_test(test_wrong_options),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_one_base),
		cmocka_unit_test(test_by_many_words),
		cmocka_unit_test(test_leads_to),
		cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_absurd_total),
		cmocka_unit_test(test_listed_twice),
		cmocka_unit_test(test_spans_of_many_open),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_cut_by_gap),
		cmocka_unit_test(test_extracted_waker_outside),
		cmocka_unit_test(test_extracted_ring),
		cmocka_unit_test(test_extract_meant),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_by_values),
		cmocka_unit_test(test_before_ring),
		cmocka_unit_test(test_wrapped),

		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_errno_of_int),
		cmocka_unit_test(test_part_of_stream),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_extracted_window),
		cmocka_unit_test(test_extracted_cut_off),
		cmocka_unit_test(test_extracted_mask),
		cmocka_unit_test(test_extracted_ends),
		cmocka_unit_test(test_extracted_elsewhere),
		cmocka_unit_test(test_functions_off),
		cmocka_unit_test(test_program_spans),
		cmocka_unit_test(test_user_functions),
		cmocka_unit_test(test_extracted_behind_gap),
		cmocka_unit_test(test_extracted_slept_over_gap),
		cmocka_unit_test(test_extracted_interrupts),
		cmocka_unit_test(test_extracted_order),
		cmocka_unit_test(test_extracted_bases),
		cmocka_unit_test(test_behind_the_end),
		cmocka_unit_test(test_exec_in_call),
		cmocka_unit_test(test_folded_renames),
		cmocka_unit_test(test_folded_own_thread),
		cmocka_unit_test(test_extracted_noise),
		cmocka_unit_test(test_windows_of_part),
		cmocka_unit_test(test_extracted_end),
		cmocka_unit_test(test_extracted_in_interrupt),
		cmocka_unit_test(test_extracted_in_call),
		cmocka_unit_test(test_extracted_silent),
		cmocka_unit_test(test_extracted_unknown),
		cmocka_unit_test(test_extracted_behind_loss),
		cmocka_unit_test(test_extracted_left_unseen),
		cmocka_unit_test(test_extracted_early),
		cmocka_unit_test(test_extracted_after_end),
		cmocka_unit_test(test_extracted_off_after_end),
		cmocka_unit_test(test_extracted_open),
		cmocka_unit_test(test_extracted_idle_waker),
		cmocka_unit_test(test_extracted_preempted),
		cmocka_unit_test(test_extracted_waker),
		cmocka_unit_test(test_extracted_picked),
		cmocka_unit_test(test_extracted_others),
		cmocka_unit_test(test_extracted_renamed),
		cmocka_unit_test(test_extracted_woken_renamed),
		cmocka_unit_test(test_extracted_shared),
		cmocka_unit_test(test_while_again),
		cmocka_unit_test(test_while_of_many),
		cmocka_unit_test(test_running_back),
		cmocka_unit_test(test_extracted_off),
		cmocka_unit_test(test_extracted_waits_off),
		cmocka_unit_test(test_extracted_paused),
		cmocka_unit_test(test_extracted_exec),
		cmocka_unit_test(test_extracted_exec_unseen),
		cmocka_unit_test(test_extracted_came_behind),
		cmocka_unit_test(test_extracted_before_off),
		cmocka_unit_test(test_extracted_often_off),
		cmocka_unit_test(test_extracted_lost),
		cmocka_unit_test(test_extracted_left_out),
		cmocka_unit_test(test_extracted_left_out_waker),
		cmocka_unit_test(test_extracted_in_loss),
		cmocka_unit_test(test_extracted_first_call),
		cmocka_unit_test(test_extracted_idle_interrupt),
		cmocka_unit_test(test_extracted_exec_before),
		cmocka_unit_test(test_extracted_waker_base),
		cmocka_unit_test(test_extracted_resumed_in_interrupt),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_noise_preempted),
		cmocka_unit_test(test_queues_most),
		cmocka_unit_test(test_late),
	};
	ssize_t bytes = readlink("/proc/self/exe", top, sizeof(top) - 1);
	char *build = bytes > 0 ? strstr(top, "/build/tests/unit/") : NULL;
	int failed;

	if (!build)
		return 77;
	*build = '\0';
	if (argc == 2 && !strncmp(argv[1], "--pictures=", 11))
		return write_pictures(argv[1] + 11);
	if (argc == 2 && !strncmp(argv[1], "--outside=", 10))
		return write_outside(argv[1] + 10);
	if (argc == 2 && !strncmp(argv[1], "--renames=", 10))
		return write_renames(argv[1] + 10);
	if (argc == 2 && !strncmp(argv[1], "--spans=", 8))
		return write_spans(argv[1] + 8);
	if (argc == 2 && !strncmp(argv[1], "--late=", 7))
		return write_late(argv[1] + 7);
	if (argc == 2 && !strncmp(argv[1], "--noise=", 8))
		return write_noise(argv[1] + 8);
	make_trace();
	if (argc == 2 && !strncmp(argv[1], "--trace=", 8))
		return rename(path, argv[1] + 8) ? 1 : 0;
	cmocka_set_test_filter(getenv("FKT_TEST"));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}

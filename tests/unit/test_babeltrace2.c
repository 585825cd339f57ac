// SPDX-License-Identifier: GPL-2.0-only
/*
 * What babeltrace2 lists of a trace made by hand, with FKT's plugin: line for line; what it says of
 * losses; the CTF that it and fkt_export make of it, which it reads back as the same; and what the
 * readers of LTTng's kernel traces insist on. With cut and damaged traces it ends in order.
 */
#include "test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_trace.h"

#define F     0x10000u
#define F_END 0x10001u
#define B     0x10002u
#define DISK  0x10003u
#define RUN   "babeltrace2 --plugin-path %s/lib/babeltrace2 "

static char build_dir[4096];
static char dir[] = "/tmp/test_babeltrace2.XXXXXX";
static char output[1 << 20];

static void slot(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code,
		 uint16_t imm, unsigned int n, uint64_t a, uint64_t b)
{
	const uint64_t words[2] = { a, b };

	build_slot(build, lane, build->lane[lane].cpu, stamp, code, imm, words, n);
}

/* Two CPUs; 2 cycles a nanosecond; 1000 s after 1970. CPU 1 loses 7 events. */
static void make_with(struct build *build, const char *codes)
{
	static const char info[] = "nodename=host\0machine=x86_64\0cpus=2\0tsc_khz=2000000";

	build_begin(build, 2, false);
	build_clock(build, 0, 0, 1000000000000);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(build, FKT_SECTION_PROCESSES, "50 50 7 a\033pp\n60 60 2 kthread\n");
	build_text(build, FKT_SECTION_IRQS, "14 ide\0330\n");
	build_text(build, FKT_SECTION_CODES, codes);
	build_pages(build);
	build->lane[0].pid = 50;
	slot(build, 0, 1000, 257, 0, 2, (uint64_t)-100, 5);
	slot(build, 0, 1002, F, 0, 2, 4096, 0x1);
	/* Its entry is not there. */
	build_event(build, 0, 1004, FKT_CODE_IRQ_EXIT, 14);
	build_event(build, 0, 1006, FKT_CODE_IRQ_ENTRY, 14);
	build_event(build, 0, 1008, FKT_CODE_IRQ_EXIT, 14);
	build_event(build, 0, 1010, FKT_CODE_VECTOR_ENTRY, 0);
	build_event(build, 0, 1012, F_END, (uint16_t)-2);
	slot(build, 0, 1014, FKT_CODE_STACK, 2, 1, 0x8100000281000001, 0);
	slot(build, 0, 1014, B, 0, 1, 50 | (uint64_t)'\n' << 32, 0);
	build_event(build, 1, 1016, FKT_CODE_IRQ_ENTRY, 14);
	build_close(build, 1);
	build->lane[1].lost = 7;
	/* What was lost may have been an exit, and another entry. */
	build_event(build, 1, 1018, FKT_CODE_IRQ_EXIT, 14);
	slot(build, 1, 1020, FKT_CODE_WAKEUP, 3, 1, 60 | 115ull << 32, 0);
	build_switch(build, 1, 1022, 0x2001, 0, 60);
	build_event(build, 1, 1024, 1024 + 257, (uint16_t)-9);
	/* A synchronous write, of which the caller waits until it is on the disk. */
	slot(build, 1, 1026, DISK, 0, 2, 254 << 20 | 0x20801ull << 32, 2064);
	build_end(build, 2000000000, 1000000000, 1001000000000);
}

#define CODES                                                                                      \
	"0x10000 1 entry 0x10001 functions F size:u64 f->x:x64\n"                                  \
	"0x10001 1 exit 0x10000 functions F ret:ret\n"                                             \
	"0x10002 1 point 0 tracepoints sched:sched_switch prev_pid:s32 c:char\n"                   \
	"0x10003 1 point 0 tracepoints block:block_rq_issue dev:u32 opf:x32 sector:u64\n"

static void make(struct build *build)
{
	make_with(build, CODES);
}

static const char *const lines[] = {
	"[1000.000000500] host lttng_statedump_start: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { }",
	"[1000.000000500] host lttng_statedump_process_state: { cpu_id = 0 }, { tid = 50, procname "
	"= \"a\\?pp\" }, { tid = 50, pid = 50, ppid = 7, name = \"a\\?pp\", type = 0, mode = 5, "
	"submode = 1, status = 6, cpu = 0 }",
	"[1000.000000500] host lttng_statedump_process_state: { cpu_id = 0 }, { tid = 50, procname "
	"= \"a\\?pp\" }, { tid = 60, pid = 60, ppid = 2, name = \"kthread\", type = 1, mode = 5, "
	"submode = 1, status = 5, cpu = 0 }",
	"[1000.000000500] host lttng_statedump_end: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { }",
	"[1000.000000500] host syscall_entry_openat: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { dfd = -100, filename = 5 }",
	"[1000.000000501] host fkt_function_entry: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { name = \"F\", size = 4096, f__x = 0x1 }",
	"[1000.000000503] host irq_handler_entry: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { irq = 14, name = \"ide\\?0\" }",
	"[1000.000000504] host irq_handler_exit: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { irq = 14 }",
	"[1000.000000505] host x86_irq_vectors_local_timer_entry: { cpu_id = 0 }, { tid = 50, "
	"procname = \"a\\?pp\" }, { vector = 236 }",
	"[1000.000000506] host fkt_function_exit: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { name = \"F\", ret = -2 }",
	"[1000.000000507] host sched:sched_switch: { cpu_id = 0 }, { tid = 50, procname = "
	"\"a\\?pp\" }, { prev_pid = 50, c = \"\\?\", "
	"callstack_kernel_length = 2, callstack_kernel = [ [0] = 0xFFFFFFFF81000001, [1] = "
	"0xFFFFFFFF81000002 ], callstack_kernel_names = [ [0] = \"0xffffffff81000001\", [1] = "
	"\"0xffffffff81000002\" ] }",
	"[1000.000000508] host irq_handler_entry: { cpu_id = 1 }, { tid = 0, procname = "
	"\"swapper/1\" }, { irq = 14, name = \"ide\\?0\" }",
	"[1000.000000510] host sched_waking: { cpu_id = 1 }, { tid = 0, procname = \"swapper/1\" }, "
	"{ comm = \"kthread\", tid = 60, prio = 15, target_cpu = 3 }",
	"[1000.000000511] host sched_switch: { cpu_id = 1 }, { tid = 0, procname = \"swapper/1\" }, "
	"{ prev_comm = \"swapper/1\", prev_tid = 0, prev_prio = 20, prev_state = 1, next_comm = "
	"\"kthread\", next_tid = 60, next_prio = 15 }",
	"[1000.000000512] host syscall_exit_openat: { cpu_id = 1 }, { tid = 60, procname = "
	"\"kthread\" }, { ret = -9 }",
	"[1000.000000513] host block_rq_issue: { cpu_id = 1 }, { tid = 60, procname = \"kthread\" }, "
	"{ dev = 266338304, opf = 0x20801, rwbs = 0x221, sector = 2064 }",
};

/* Run a command of the shell; its status, and its output in output. */
static int run(const char *command)
{
	FILE *pipe = popen(command, "r");
	size_t bytes;
	int status;

	assert_non_null(pipe);
	bytes = fread(output, 1, sizeof(output) - 1, pipe);
	output[bytes] = '\0';
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void expect_lines(void)
{
	const char *at = output;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t bytes = strcspn(at, "\n");

		if (bytes != strlen(lines[i]) || memcmp(at, lines[i], bytes))
			fail_msg("line %zu is\n%.*s\nand not\n%s", i, (int)bytes, at, lines[i]);
		at += bytes + 1;
	}
	assert_string_equal(at, "");
}

static int in_dir(const char *format)
{
	char command[8192], in[8400];

	snprintf(command, sizeof(command), format, build_dir);
	snprintf(in, sizeof(in), "cd %s && %s", dir, command);
	return run(in);
}

static void test_listing(void **state)
{
	(void)state;
	/* Which plugin reads it, babeltrace2 finds out. */
	assert_int_equal(in_dir(RUN "--clock-seconds --no-delta trace 2>said"), 0);
	expect_lines();
	assert_int_equal(in_dir(RUN "--clock-seconds --no-delta -c source.fkt.fs "
				    "-p 'inputs=[\"trace\"]' 2>said"),
			 0);
	expect_lines();
	assert_int_equal(in_dir(RUN "--clock-seconds --no-delta trace 2>&1 >/dev/null"), 0);
	assert_non_null(strstr(output, "racer discarded 7 events between "
				       "[1000.000000508] and [1000.000000509]"));
	assert_non_null(strstr(output, "2 exits from interrupts were left out"));
}

static void test_ctf(void **state)
{
	static const char *const rules[] = {
		"domain = \"kernel\";", "tracer_name = \"lttng-modules\";",
		"tracer_major = 2;",	"tracer_minor = 13;",
		"freq = 2000000000;",	"offset_s = 1000;",
		"absolute = true;",	"cpu_id;",
		"events_discarded;",
	};

	(void)state;
	assert_int_equal(in_dir(RUN "-c source.fkt.fs -p 'inputs=[\"trace\"]' "
				    "-c sink.ctf.fs -p 'path=\"out\"' 2>&1"),
			 0);
	assert_int_equal(in_dir("babeltrace2 --clock-seconds --no-delta out 2>said #%s"), 0);
	expect_lines();
	assert_int_equal(in_dir("cat said #%s"), 0);
	assert_non_null(strstr(output, "racer discarded 7 events between "
				       "[1000.000000508] and [1000.000000509]"));
	assert_int_equal(in_dir("cat out/kernel/metadata #%s"), 0);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!strstr(output, rules[i]))
			fail_msg("the metadata does not say %s", rules[i]);
}

/* fkt_export writes the same events; and tells of the same losses. */
static void test_export(void **state)
{
	(void)state;
	assert_int_equal(in_dir("%s/bin/fkt_export --to ctf -o exported trace 2>&1"), 0);
	assert_non_null(strstr(output, "2 events are left out"));
	assert_int_equal(in_dir("babeltrace2 --clock-seconds --no-delta exported 2>said #%s"), 0);
	expect_lines();
	assert_int_equal(in_dir("cat said #%s"), 0);
	if (!strstr(output, "racer discarded 7 events between "
			    "[1000.000000508] and [1000.000000509]"))
		fail_msg("it says %s", output);
}

/* Where a wake-up's target is not told, it is the CPU where the thread ran last, or the event's. */
static void test_old_wakeup(void **state)
{
	struct build build;
	char path[64];

	(void)state;
	make_with(&build, "0x1101 1 point 0 process wakeup pid:pid prio:s32\n" CODES);
	snprintf(path, sizeof(path), "%s/old", dir);
	build_write(&build, path, build.bytes);
	build_free(&build);
	assert_int_equal(in_dir(RUN "--no-delta old 2>said | grep -o 'target_cpu = .'"), 0);
	assert_string_equal(output, "target_cpu = 1\n");
	assert_int_equal(in_dir("%s/bin/fkt_export --to perfetto -o - old | protoc --decode_raw | "
				"sed -n '/115$/,/}/p' | grep -o '5: .*'"),
			 0);
	assert_string_equal(output, "5: 1\n");
	assert_int_equal(in_dir("%s/bin/fkt_print --no-summary --code wakeup --format json old | "
				"grep -o 'prio.*'"),
			 0);
	assert_string_equal(output, "prio\":115}}\n");

	assert_int_equal(
		in_dir("%s/bin/fkt_export --to perfetto -o - trace | protoc --decode_raw | "
		       "sed -n '/115$/,/}/p' | grep -o '5: .*'"),
		0);
	assert_string_equal(output, "5: 3\n");
	assert_int_equal(in_dir("%s/bin/fkt_print --no-summary --code wakeup --format json trace | "
				"grep -o 'prio.*'"),
			 0);
	assert_string_equal(output, "prio\":115,\"target_cpu\":3}}\n");
}

/* List what there is of a trace in a file: what CTF made of it says, and the plugin. */
static void expect_both(struct build *build, const char *name, const char *sed, const char *lines)
{
	char command[1024], path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	build_write(build, path, build->bytes);
	build_free(build);
	snprintf(command, sizeof(command), RUN "--no-delta %s 2>&1 | sed -n '%s'", "%s", name, sed);
	assert_int_equal(in_dir(command), 0);
	assert_string_equal(output, lines);
	snprintf(command, sizeof(command),
		 "%s/bin/fkt_export --to ctf -o %s.ctf %s && babeltrace2 --no-delta %s.ctf 2>&1 | "
		 "sed -n '%s'",
		 "%s", name, name, name, sed);
	assert_int_equal(in_dir(command), 0);
	assert_string_equal(output, lines);
}

/* Events too short for LTTng's fields are others, and change none of those that are not. */
static void test_short_switch(void **state)
{
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 1000000000000);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 7 app\n");
	build_pages(&build);
	for (uint64_t stamp = 1000; stamp < 1004; stamp += 2) {
		build_event(&build, 0, stamp, FKT_CODE_SWITCH, 1);
		build_switch(&build, 0, stamp + 1, 1, 50, 0);
	}
	build_end(&build, 2000000000, 1000000000, 1001000000000);
	expect_both(&build, "short",
		    "s/.* \\(s[a-z_]*\\): .* \\(prev_tid = [0-9]*\\|state = .\\)[ ,].*/\\1 \\2/p",
		    "switch_to state = 1\nsched_switch prev_tid = 50\n"
		    "switch_to state = 1\nsched_switch prev_tid = 50\n");
}

/* A field has no name of a stack's. */
static void test_field_of_stack(void **state)
{
	struct build build;

	(void)state;
	make_with(&build,
		  "0x10002 1 point 0 tracepoints a:one callstack-kernel_length:u32 x:u32\n");
	expect_both(&build, "fields",
		    "s/.* one: .*{ \\([^=]*= 50, x = 10, callstack_kernel_length\\) = .*/\\1/p",
		    "field_callstack_kernel_length = 50, x = 10, callstack_kernel_length\n");
}

#define MANY 60000

/* However many names of events there are, each is found at once: it took minutes. */
static void test_many_names(void **state)
{
	static char codes[64 * MANY];
	struct build build;
	char path[64], *to = codes;

	(void)state;
	for (unsigned int i = 0; i < MANY; i++)
		to += sprintf(to, "%u 1 point 0 tracepoints s%u:x%u a:u64\n", F + i, i, i);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 1000000000000);
	build_text(&build, FKT_SECTION_CODES, codes);
	build_pages(&build);
	for (unsigned int i = 0; i < MANY; i++)
		slot(&build, 0, 1000 + i, F + i, 0, 1, 1, 0);
	build_end(&build, 2000000000, 1000000000, 1001000000000);
	snprintf(path, sizeof(path), "%s/many", dir);
	build_write(&build, path, build.bytes);
	build_free(&build);
	assert_int_equal(in_dir("timeout 20 %s/bin/fkt_export --to ctf -o many.ctf many"), 0);
	assert_int_equal(in_dir("timeout 20 %s/bin/fkt_export --to trace.dat many >many.dat"), 0);
}

/* Whatever stands in it: an error or a listing, and no crash. */
static void test_damage(void **state)
{
	struct build build;
	char path[64];
	int status, listed = 0;

	(void)state;
	make(&build);
	snprintf(path, sizeof(path), "%s/damaged", dir);
	for (size_t bytes = 8; bytes < build.bytes; bytes += 1601) {
		build_write(&build, path, bytes);
		status = in_dir(RUN "damaged 2>&1");
		if (status > 1)
			fail_msg("cut off at %zu: status %d", bytes, status);
		listed += !status;
	}
	for (size_t at = 8; at < build.bytes; at += 613) {
		build.data[at] ^= 0xff;
		build_write(&build, path, build.bytes);
		status = in_dir(RUN "damaged 2>&1");
		if (status > 1)
			fail_msg("damaged at %zu: status %d", at, status);
		listed += !status;
		build.data[at] ^= 0xff;
	}
	assert_true(listed > 10);
	build_free(&build);
	assert_int_equal(in_dir("echo FKTTRACX >other; " RUN "other >/dev/null 2>&1"), 1);
}

static int setup(void **state)
{
	struct build build;
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	make(&build);
	snprintf(path, sizeof(path), "%s/trace", dir);
	build_write(&build, path, build.bytes);
	build_free(&build);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return in_dir("rm -rf \"$PWD\" #%s");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing),	     cmocka_unit_test(test_ctf),
		cmocka_unit_test(test_export),	     cmocka_unit_test(test_old_wakeup),
		cmocka_unit_test(test_short_switch), cmocka_unit_test(test_field_of_stack),
		cmocka_unit_test(test_many_names),   cmocka_unit_test(test_damage),
	};
	ssize_t bytes = readlink("/proc/self/exe", build_dir, sizeof(build_dir) - 1);

	(void)argc;
	(void)argv;
	for (int i = 0; i < 3 && bytes > 0; i++)
		while (bytes > 0 && build_dir[--bytes] != '/')
			continue;
	build_dir[bytes > 0 ? bytes : 0] = '\0';
	return cmocka_run_group_tests(tests, setup, teardown);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt_diff on traces that are made: of recordings of the same work nothing differs, also where
 * their times vary by chance; of those in which one thing takes longer, or comes more often, it is
 * exactly that. And its tests against examples whose answers are known.
 *
 * With the argument --truth=FILE the program does no more than write the trace of one_truth.
 */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_trace.h"
#include "fkt_diff/diff.h"

#define F	       0x10000u
#define F_END	       0x10001u
#define G	       0x10002u
#define G_END	       0x10003u
#define H	       0x10004u
#define H_END	       0x10005u
#define READ	       0x0000u
#define WRITE	       0x0001u
#define OPENAT	       0x0101u
#define END	       0x0400u
#define FSYNC	       0x004au
#define ROUNDS	       600
#define NAME_MAX_BYTES 64

static char top[4096]; /* the checkout */
static char directory[] = "/tmp/test_diff.XXXXXX";

/**
 * struct work - how a recording differs from others
 * @seed: of what is by chance
 * @read, @write, @g, @sleep: these take so much of their usual time, in percent
 * @opens: so many calls of openat in a hundred rounds
 * @open: which take so much of their usual time
 * @rare: so many calls of fsync in all of it
 * @info: what is said of what was recorded, an INFO section; or NULL
 */
struct work {
	uint64_t seed;
	unsigned int read;
	unsigned int write;
	unsigned int g;
	unsigned int sleep;
	unsigned int opens;
	unsigned int open;
	unsigned int rare;
	const char *info;
};

#define USUAL(number)                                                                              \
	((struct work){ .seed = (number),                                                          \
			.read = 100,                                                               \
			.write = 100,                                                              \
			.g = 100,                                                                  \
			.sleep = 100,                                                              \
			.opens = 100,                                                              \
			.open = 100 })

static uint64_t seed;

/* About so long, a tenth more or less. */
static uint64_t about(uint64_t ns, unsigned int percent)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ns * percent * (900 + seed % 201) / 100000;
}

static void wakeup(struct build *build, unsigned int lane, uint64_t stamp, uint32_t pid)
{
	const uint64_t word = pid | 120ull << 32;

	build_slot(build, lane, build->lane[lane].cpu, stamp, FKT_CODE_WAKEUP, 0, &word, 1);
}

/* "app" reads, through F and G, in which it sleeps now and then, writes and opens, on CPU 0. */
static void make(const char *path, struct work work)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	struct build build;
	uint64_t t = 1000;

	seed = 0x9e3779b97f4a7c15ull * (work.seed + 1);
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	if (work.info)
		build_section(&build, FKT_SECTION_INFO, work.info, strlen(work.info) + 1, false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x10002 1 entry 0x10003 functions G\n0x10003 1 exit 0x10002 functions G\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		build_event(&build, 0, t += about(2000, 100), READ, 0);
		build_event(&build, 0, t += about(400, work.read), F, 0);
		build_event(&build, 0, t += about(700, 100), G, 0);
		if (!(i % 3)) {
			build_switch(&build, 0, t += about(300, work.g), 0x2, 50, 0);
			wakeup(&build, 0, t += about(20000, work.sleep), 50);
			build_switch(&build, 0, t += about(500, 100), 0, 0, 50);
		}
		build_event(&build, 0, t += about(900, work.g), G_END, 0);
		build_event(&build, 0, t += about(300, 100), F_END, 0);
		build_event(&build, 0, t += about(200, work.read), END + READ, 12);
		build_event(&build, 0, t += about(900, 100), WRITE, 0);
		build_event(&build, 0, t += about(1500, work.write), END + WRITE, 12);
		for (unsigned int n = work.opens * (i + 1) / 100 - work.opens * i / 100; n--;) {
			build_event(&build, 0, t += about(600, 100), OPENAT, 0);
			build_event(&build, 0, t += about(1100, work.open), END + OPENAT, 3);
		}
		for (unsigned int n = i == ROUNDS / 2 ? work.rare : 0; n--;) {
			build_event(&build, 0, t += about(600, 100), FSYNC, 0);
			build_event(&build, 0, t += about(1100, 100), END + FSYNC, 0);
		}
	}
	build_end(&build, 2 * t, 2 * t, 0);
	build_write(&build, path, build.bytes);
	build_free(&build);
}

/* ---- a trace for tests/unit/one_truth ---- */

#define FUTEX	    0x00cau
#define NONE	    0
#define ALPHA	    50
#define BETA	    60
#define GAMMA	    70
#define TRUE_ROUNDS 40

/* A call that does nothing else. */
static void short_call(struct build *build, unsigned int lane, uint64_t *t, uint32_t nr, int ret)
{
	build_event(build, lane, *t += about(300, 100), nr, 0);
	build_event(build, lane, *t += about(500, 100), END + nr, (uint16_t)ret);
}

static void interrupt(struct build *build, unsigned int lane, uint64_t *t, uint16_t irq,
		      uint32_t wakes)
{
	build_event(build, lane, *t += about(200, 100), FKT_CODE_IRQ_ENTRY, irq);
	if (wakes)
		wakeup(build, lane, *t += about(100, 100), wakes);
	build_event(build, lane, *t += about(150, 100), FKT_CODE_IRQ_EXIT, irq);
}

/*
 * On CPU 0 "alpha" opens and syncs, and sleeps until the disk's interrupt comes on CPU 1; meanwhile
 * "gamma" does the same there without sleeping. On CPU 1 "beta" waits for a futex.
 */
static int make_truth(const char *path)
{
	static const char info[] = "nodename=host\0machine=x86_64\0cpus=2\0tsc_khz=1000000";
	static const int alpha[] = { -2, 3, 4, -13, 5, -2 }, gamma[] = { 3, 3, -2, 4, -24 };
	struct build build;
	uint64_t t = 1000;

	seed = 0x2545f4914f6cdd1dull;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 alpha\n60 60 1 beta\n70 70 1 gamma\n");
	build_text(&build, FKT_SECTION_IRQS, "14 disk\n15 net\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 files,functions vfs_fsync\n"
		   "0x10001 1 exit 0x10000 files,functions vfs_fsync ret:ret\n");
	build_pages(&build);
	build_switch(&build, 0, t, 0, NONE, ALPHA);
	build_switch(&build, 1, t += 100, 0, NONE, BETA);
	for (unsigned int i = 0; i < TRUE_ROUNDS; i++) {
		short_call(&build, 0, &t, OPENAT, alpha[i % 6]);
		build_event(&build, 1, t += about(200, 100), FUTEX, 0);
		build_switch(&build, 1, t += about(400, 100), 1, BETA, NONE);
		build_event(&build, 0, t += about(200, 100), FSYNC, 0);
		build_event(&build, 0, t += about(300, 100), F, 0);
		build_switch(&build, 0, t += about(600, 100), 2, ALPHA, GAMMA);
		short_call(&build, 0, &t, OPENAT, gamma[i % 5]);
		build_event(&build, 0, t += about(200, 100), FSYNC, 0);
		build_event(&build, 0, t += about(300, 100), F, 0);
		if (i % 7 == 3)
			interrupt(&build, 0, &t, 15, NONE);
		build_event(&build, 0, t += about(5000, 60 + i * 13 % 80), F_END, 0);
		build_event(&build, 0, t += about(200, 100), END + FSYNC, 0);
		if (!(i % 4)) {
			build_event(&build, i % 8 == 0, t += about(300, 100), FKT_CODE_VECTOR_ENTRY,
				    0);
			build_event(&build, i % 8 == 0, t += about(200, 100), FKT_CODE_VECTOR_EXIT,
				    0);
		}
		interrupt(&build, 1, &t, 14, ALPHA);
		build_switch(&build, 0, t += about(900, 100), 0, GAMMA, ALPHA);
		build_event(&build, 0, t += about(300, 100), F_END, 0);
		build_event(&build, 0, t += about(100, 100), END + FSYNC, 0);
		if (i % 5)
			interrupt(&build, 1, &t, 15, BETA);
		else
			wakeup(&build, 0, t += about(2000, 10 * i), BETA);
		build_switch(&build, 1, t += about(700, 100), 0, NONE, BETA);
		build_event(&build, 1, t += about(100, 100), END + FUTEX, 0);
	}
	build_switch(&build, 0, t += 500, 1, ALPHA, NONE);
	build_switch(&build, 1, t += 500, 1, BETA, NONE);
	build_end(&build, 2 * t, 2 * t, 0);
	build_write(&build, path, build.bytes);
	build_free(&build);
	return 0;
}

/* ---- fkt_diff ---- */

static char *path_of(char path[NAME_MAX_BYTES], const char *name)
{
	snprintf(path, NAME_MAX_BYTES, "%s/%s", directory, name);
	return path;
}

static void make_in(const char *name, struct work work)
{
	char path[NAME_MAX_BYTES];

	make(path_of(path, name), work);
}

/* What it prints, errors too, of recordings in the directory; its exit status. */
static int diff(const char *options, char *text, size_t room)
{
	char command[8192];
	size_t bytes;
	FILE *out;

	snprintf(command, sizeof(command),
		 "cd %s && COLUMNS=80 timeout 60 %s/build/bin/fkt_diff %s 2>&1", directory, top,
		 options);
	out = popen(command, "r");
	assert_non_null(out);
	bytes = fread(text, 1, room - 1, out);
	text[bytes] = '\0';
	return WEXITSTATUS(pclose(out));
}

/* All that differs, as "call sys_write slower", a line each. */
static void differs(const char *options, const char *wanted)
{
	char arguments[512], got[4096] = "", kind[32], name[256], verdict[32];
	static char text[1 << 18];
	unsigned int rows = 0;

	snprintf(arguments, sizeof(arguments), "--format=json %s", options);
	assert_int_equal(diff(arguments, text, sizeof(text)), 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), rows++)
		if (sscanf(line,
			   "{\"table\":\"differences\",\"kind\":\"%31[^\"]\",\"name\":\"%255[^\"]\","
			   "\"verdict\":\"%31[^\"]\"",
			   kind, name, verdict) == 3)
			sprintf(strchr(got, '\0'), "%s %s %s\n", kind, name, verdict);
	assert_string_equal(got, wanted);
	/* 3 calls, 2 functions, 2 stacks, 2 waits */
	assert_true(rows >= 9);
}

static void test_same(void **state)
{
	char text[4096];

	(void)state;
	make_in("a", USUAL(1));
	differs("a a", "");
	differs("a a --elapsed --per=time", "");
	differs("a a --against a a a", "");
	assert_int_equal(diff("a a", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "Calls and interrupts, own time, per run: 0 of 3 differ"));
}

/* What varies by chance alone. */
static void test_noise(void **state)
{
	char options[64], name[16];

	(void)state;
	make_in("a", USUAL(1));
	for (unsigned int i = 2; i < 12; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		make_in(name, USUAL(i));
		snprintf(options, sizeof(options), "--least=0 a %s", name);
		differs(options, "");
	}
	differs("--least=0 n2 n3 n4 --against n5 n6 n7", "");
}

static void test_slower(void **state)
{
	struct work work = USUAL(2);

	(void)state;
	make_in("a", USUAL(1));
	work.write = 120;
	make_in("write", work);
	differs("a write", "call sys_write slower\n");
	differs("write a", "call sys_write faster\n");
	differs("--per=sys_read a write", "call sys_write slower\n");
	differs("--least=30 a write", "");
	work = USUAL(3);
	work.g = 120;
	make_in("g", work);
	differs("a g", "function G slower\nstack sys_read;F;G slower\n");
	work = USUAL(4);
	work.sleep = 130;
	make_in("sleep", work);
	differs("a sleep", "wait app D sys_read;G slower\n");
}

static void test_more(void **state)
{
	struct work work = USUAL(2);

	(void)state;
	make_in("a", USUAL(1));
	work.opens = 150;
	make_in("more", work);
	differs("a more", "call sys_openat more\n");
	differs("more a", "call sys_openat fewer\n");
	/* For each openat there is less of the others. */
	work.opens = 0;
	make_in("none", work);
	differs("a none", "call sys_openat gone\n");
	differs("none a", "call sys_openat new\n");
}

/*
 * What differs from one recording to the next is noise, which one recording can't tell; what
 * differs in all of them is not.
 */
static void test_several(void **state)
{
	static const unsigned int read[] = { 70, 130, 100, 85, 120, 105 };
	struct work work;
	char name[16];

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		work = USUAL(20 + i);
		work.read = read[i];
		work.write = i < 3 ? 100 : 120;
		snprintf(name, sizeof(name), "s%u", i);
		make_in(name, work);
	}
	differs("s0 s1 s2 --against s3 s4 s5", "call sys_write slower\n");
	differs("s0 s1", "call sys_read slower\n");
}

/* What is the same in all recordings of a side by chance, because there is little of it. */
static void test_rare(void **state)
{
	struct work work;
	char name[16];

	(void)state;
	for (unsigned int i = 0; i < 9; i++) {
		work = USUAL(40 + i);
		work.rare = (unsigned int[]){ 0, 1, 2 }[i / 3];
		work.opens = i < 3 ? 0 : 100;
		snprintf(name, sizeof(name), "r%u", i);
		make_in(name, work);
	}
	differs("r3 r4 --against r6 r7", "");
	differs("r3 r4 r5 --against r6 r7 r8", "");
	differs("r0 r1 --against r3 r4", "call sys_openat new\n");
	differs("r3 r4 r5 --against r0 r1 r2", "call sys_openat gone\n");
}

/* One recording with most of the calls does not turn what is so in all others. */
static void test_uneven(void **state)
{
	char options[512] = "", name[16];
	struct work work;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		work = USUAL(60 + i);
		work.opens = i % 20 ? 10 : 1000;
		work.open = i < 20 ? 100 : 112;
		if (!(i % 20))
			work.open = i < 20 ? 125 : 95;
		snprintf(name, sizeof(name), "u%u", i);
		make_in(name, work);
		sprintf(strchr(options, '\0'), "%s %s", i == 20 ? " --against" : "", name);
	}
	differs(options, "");
}

/* The numbers in JSON are as many as there are. */
static void test_exact(void **state)
{
	static char text[1 << 18];
	struct work work = USUAL(2);
	const char *wait;
	double count, mean, total;
	unsigned long long whole;

	(void)state;
	work.sleep = 99999999;
	make_in("long", work);
	assert_int_equal(diff("--format=json long long", text, sizeof(text)), 0);
	wait = strstr(text, "\"app D sys_read;G\"");
	assert_non_null(wait);
	assert_int_equal(sscanf(strstr(wait, "\"before_count\":"), "\"before_count\":%lf", &count),
			 1);
	assert_int_equal(
		sscanf(strstr(wait, "\"before_mean_ns\":"), "\"before_mean_ns\":%lf", &mean), 1);
	assert_int_equal(
		sscanf(strstr(wait, "\"before_total_ns\":"), "\"before_total_ns\":%lf", &total), 1);
	whole = (unsigned long long)total;
	assert_true(whole > 1000000000000ull);
	if (fabs(count * mean - total) > 1 || (double)whole != total || !(whole % 10000))
		fail_msg("%.0f * %.9f is not %.9f", count, mean, total);
}

/* A thread that has another name each time that it waits: so many are told from each other. */
static void test_names(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	const unsigned int names = 66000;
	static char text[1 << 16];
	char path[NAME_MAX_BYTES], name[16];
	struct build build;
	uint64_t t = 1000;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	for (unsigned int i = 0; i < names; i++) {
		snprintf(name, sizeof(name), "name%u", i % (names - 10));
		build_switch(&build, 0, t += 300, 0, 50, 0);
		build_name(&build, 0, t += 100, FKT_CODE_RENAME, 50, name);
		build_switch(&build, 0, t += 500, 0, 0, 50);
	}
	build_end(&build, 2 * t, 2 * t, 0);
	build_write(&build, path_of(path, "names"), build.bytes);
	build_free(&build);
	/* 10 names come twice, also when there are too many others. */
	assert_int_equal(diff("names names", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "too many names of threads that wait: 908 waits are"));
	assert_non_null(strstr(text, "Waits, per run: 0 of 65536 differ"));
}

/* Calls of F and G below each other in all orders, up to a number. */
static void call_all(struct build *build, uint64_t *t, unsigned int depth, unsigned int *calls)
{
	for (uint32_t code = F; depth && *calls && code <= G; code += 2) {
		--*calls;
		build_event(build, 0, *t += 10, code, 0);
		call_all(build, t, depth - 1, calls);
		build_event(build, 0, *t += 10, code + 1, 0);
	}
}

/* What is called when there are too many stacks is not taken for its caller. */
static void test_stacks(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=1\0tsc_khz=1000000";
	static const uint32_t last[] = { F, F, H, F, F_END, H_END, F_END, F_END };
	unsigned int calls = FKT_PATHS_MAX;
	char path[NAME_MAX_BYTES], command[8192], text[4096];
	struct build build;
	uint64_t t = 1000;
	FILE *out;

	(void)state;
	build_begin(&build, 1, false);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 app\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions F\n0x10001 1 exit 0x10000 functions F\n"
		   "0x10002 1 entry 0x10003 functions G\n0x10003 1 exit 0x10002 functions G\n"
		   "0x10004 1 entry 0x10005 functions H\n0x10005 1 exit 0x10004 functions H\n");
	build_pages(&build);
	build.lane[0].pid = 50;
	call_all(&build, &t, 24, &calls);
	for (unsigned int i = 0; i < 8; i++)
		build_event(&build, 0, t += 10, last[i], 0);
	build_end(&build, 2 * t, 2 * t, 0);
	build_write(&build, path_of(path, "stacks"), build.bytes);
	build_free(&build);
	snprintf(command, sizeof(command),
		 "cd %s && %s/build/bin/fkt_diff --format=json stacks stacks 2>&1 | "
		 "grep -e '\"F;F\"' -e 'too many stacks'; rm stacks",
		 directory, top);
	out = popen(command, "r");
	assert_non_null(out);
	text[fread(text, 1, sizeof(text) - 1, out)] = '\0';
	assert_int_equal(pclose(out), 0);
	assert_non_null(strstr(text, "too many stacks: "));
	/* Below all others, and at last. */
	assert_non_null(strstr(text, "\"name\":\"F;F\",\"verdict\":null,\"before_count\":2,"));
}

/* What only one of them could have recorded is said. */
static void test_otherwise(void **state)
{
	static char text[1 << 16];
	struct work work = USUAL(1);

	(void)state;
	make_in("a", work);
	work.info = "layers=process,system";
	make_in("layers", work);
	work.info = "layers=process,system\0";
	make_in("same", work);
	work.info = "longer_than_cycles=5000";
	make_in("longer", work);
	assert_int_equal(diff("layers same", text, sizeof(text)), 0);
	assert_null(strstr(text, "otherwise"));
	assert_int_equal(diff("a layers", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "layers: was recorded otherwise than a (layers: process,"
				     "system, there none)"));
	assert_int_equal(diff("longer a", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "longer: calls that took no longer than 5.000 us were not"));
	assert_non_null(strstr(text, "a: was recorded otherwise than longer (calls longer than: "
				     "none, there 5.000 us)"));
}

/* Of a ring, what some CPUs have of before others' oldest events is left out, with its time. */
static void test_ring(void **state)
{
	static char text[1 << 18];
	struct work work = USUAL(1);
	const char *at;
	long count;

	(void)state;
	make_in("whole", work);
	/* About half of it. */
	work.info = "complete_from_cycles=4600000";
	make_in("ring", work);
	assert_int_equal(diff("--all --format=json whole ring", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "ring: is read from where on no CPU's events were "
				     "overwritten; what some CPUs have of before is left out"));
	at = strstr(text, "\"name\":\"sys_read\"");
	assert_non_null(at);
	at = strstr(at, "\"after_count\":");
	assert_non_null(at);
	count = strtol(at + strlen("\"after_count\":"), NULL, 10);
	assert_in_range(count, ROUNDS / 4, ROUNDS * 3 / 4);
	/* It comes as often as in all of it. */
	differs("--per time whole ring", "");
}

/* No line is wider than the terminal; what differs is there with its numbers. */
static void test_text(void **state)
{
	struct work work = USUAL(2);
	static char text[1 << 16];
	char path[NAME_MAX_BYTES];
	struct stat svg;

	(void)state;
	make_in("a", USUAL(1));
	work.write = 120;
	make_in("write", work);
	assert_int_equal(diff("--all --flamegraph=out.svg a write", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "sys_write"));
	assert_non_null(strstr(text, "1.80 us"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 80)
			fail_msg("%s", line);
	assert_int_equal(stat(path_of(path, "out.svg"), &svg), 0);
	assert_true(svg.st_size > 1000);
	assert_int_equal(diff("--format=csv a write", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "kind,name,verdict,before_count,"));
	assert_non_null(strstr(text, "\ncall,sys_write,slower,600,600,"));
}

static void test_errors(void **state)
{
	static const struct {
		const char *options;
		int status;
		const char *sentence;
	} all[] = {
		{ "", 2, "BEFORE AFTER" },
		{ "a", 2, "BEFORE AFTER" },
		{ "a a a", 2, "--against" },
		{ "--against a a", 2, "--against" },
		{ "a nowhere", 1, "nowhere: No such file" },
		{ "a - </dev/null", 1, "standard input: it is read twice" },
		{ "a /dev/stdin <a", 0, "Before  a" },
		{ "a fifo", 1, "fifo: it is read twice" },
		{ "--per=sys_nothing a a", 1, "it has no such calls" },
		{ "--format=xml a a", 2, "text, csv or json" },
		{ "--least=much a a", 2, "a number of percent" },
		{ "--flamegraph=x.svg a a --against a", 2, "one recording with one" },
		{ "a cut", 1, "cut: the end sections are missing" },
	};
	char text[8192], path[NAME_MAX_BYTES], cut[NAME_MAX_BYTES], command[256];

	(void)state;
	make_in("a", USUAL(1));
	snprintf(command, sizeof(command), "head -c 20000 %s >%s", path_of(path, "a"),
		 path_of(cut, "cut"));
	assert_int_equal(system(command), 0);
	assert_int_equal(mkfifo(path_of(path, "fifo"), 0600), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (diff(all[i].options, text, sizeof(text)) != all[i].status ||
		    !strstr(text, all[i].sentence))
			fail_msg("fkt_diff %s: %s", all[i].options, text);
	}
}

/* ---- the tests themselves ---- */

static void assert_near(double got, double wanted)
{
	if (!(fabs(got - wanted) <= 0.02 * wanted))
		fail_msg("%g is not %g", got, wanted);
}

static void test_ranks(void **state)
{
	static const double low[] = { 1, 2, 3, 4, 5 }, high[] = { 6, 7, 8, 9, 10 },
			    tied[] = { 3, 3, 3, 3, 3 };
	bool larger;

	(void)state;
	/* z = (40 - 27.5 - 0.5) / sqrt(25 * 11 / 12) */
	assert_near(chance_of_ranks(low, 5, high, 5, &larger), 0.01219);
	assert_true(larger);
	assert_near(chance_of_ranks(high, 5, low, 5, &larger), 0.01219);
	assert_false(larger);
	assert_near(chance_of_ranks(low, 5, low, 5, &larger), 1);
	assert_near(chance_of_ranks(tied, 5, tied, 5, &larger), 1);
	assert_near(chance_of_ranks(low, 3, high, 5, &larger), 1);
	/* As many of low are below them as above. */
	assert_near(chance_of_ranks(low, 5, tied, 5, &larger), 1);
}

static void test_means(void **state)
{
	static const double a[] = { 27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
				    21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4 },
			    b[] = { 27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
				    24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4 },
			    one[] = { 1, 1 }, two[] = { 2, 2 }, c[] = { 0, 2 }, d[] = { 3, 5 };

	(void)state;
	assert_near(chance_of_means(a, 15, b, 15, 0), 0.021);
	assert_near(chance_of_means(b, 15, a, 15, 0), 0.021);
	assert_near(chance_of_means(a, 15, a, 15, 0), 1);
	/* t = 3 / sqrt(2), with two degrees of freedom: 1 - t / sqrt(2 + t^2) */
	assert_near(chance_of_means(c, 2, d, 2, 0), 1 - 3 / sqrt(13));
	assert_near(chance_of_means(one, 2, one, 2, 0), 1);
	assert_true(chance_of_means(one, 2, two, 2, 0) == 0);
	assert_near(chance_of_means(one, 1, two, 2, 0), 1);
	/* t = 1 / sqrt(1 / 12), with two degrees of freedom: 1 - t / sqrt(2 + t^2) */
	assert_near(chance_of_means(one, 2, two, 2, 1), 1 - sqrt(12) / sqrt(14));
	assert_near(chance_of_means(a, 15, b, 15, 1), 0.021);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	  cmocka_unit_test(test_noise),
		cmocka_unit_test(test_slower),	  cmocka_unit_test(test_more),
		cmocka_unit_test(test_several),	  cmocka_unit_test(test_text),
		cmocka_unit_test(test_errors),	  cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_means),	  cmocka_unit_test(test_rare),
		cmocka_unit_test(test_uneven),	  cmocka_unit_test(test_exact),
		cmocka_unit_test(test_otherwise), cmocka_unit_test(test_ring),
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_stacks),
	};
	ssize_t bytes = readlink("/proc/self/exe", top, sizeof(top) - 1);
	char *build = bytes > 0 ? strstr(top, "/build/tests/unit/") : NULL, command[64];
	int failed;

	if (argc == 2 && !strncmp(argv[1], "--truth=", 8))
		return make_truth(argv[1] + 8);
	if (!build || !mkdtemp(directory))
		return 1;
	*build = '\0';
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return failed | system(command);
}

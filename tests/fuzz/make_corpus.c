// SPDX-License-Identifier: GPL-2.0-only
/* make_corpus DIR: small traces of all kinds, for the fuzzer to begin with. */
#include <error.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "build_trace.h"

static const char *dir;

static void write_trace(struct build *build, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	build_write(build, path, build->bytes);
	build_free(build);
}

static void begin(struct build *build, unsigned int lanes, bool shared, bool sections)
{
	static const char symbols[] = "ffffffff81000000 T _stext\nffffffff81000100 t one\n"
				      "ffffffffc0000000 t two\t[module]\n";

	static const char info[] = "tsc_khz=2000000\0command=true\0release=6.1\0machine=x86_64";

	build_begin(build, lanes, shared);
	if (sections) {
		build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
		build_clock(build, 1000, 1000000, 1700000000000000000);
		build_text(build, FKT_SECTION_IRQS, "4 ttyS0\n30 virtio2\n");
		build_section(build, FKT_SECTION_SYMBOLS, symbols, sizeof(symbols) - 1, true);
		build_text(build, FKT_SECTION_PROCESSES, "7 7 1 seven\n8 8 7 eight\n9 8 7 nine\n");
		build_text(build, FKT_SECTION_CODES,
			   "65536 1 entry 65537 functions one arg0:x64\n"
			   "65537 1 exit 65536 functions one ret:ret\n"
			   "65538 1 entry 0 functions only\n");
		build_text(build, FKT_SECTION_SYSCALLS,
			   "x86_64 0 read fd,buf,count\nx86_64 57 fork\ni386 3 read fd\n");
		build_text(build, FKT_SECTION_STATE,
			   "cpu 0 7\ncall 7 257 900\ninterrupt 1 4096 950\n"
			   "interrupt 0 4096 940 4\ninterrupt 0 65536 945 0\n");
		build_text(build, FKT_SECTION_MAPS,
			   "map 0 7 0x1000 0x9000 0x0 0123456789abcdef /bin/seven\n"
			   "fork 1000100 8 7\nexec 1000200 8\n"
			   "map 1000300 8 0x2000 0x3000 0x1000 - [vdso]\n");
	}
	build_pages(build);
}

/* One of each row of codes.h, and functions. */
static void all_codes(struct build *build, unsigned int lane, uint64_t stamp)
{
	static const uint32_t codes[] = {
#define X(NAME, code, count, KIND, pair, LAYER, name, spec) code,
		FKT_CODES(X)
#undef X
			65536,
		65537,
		65538,
		70000,
	};
	uint64_t words[4] = { 7 | 8ull << 32, 0x6576656e, 0xffffffff81000104, 3 };

	for (unsigned int i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		build_slot(build, lane, (uint16_t)lane, stamp += 17, codes[i], (uint16_t)i, words,
			   i % 5);
}

#define EURO5	 "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
#define NAME_30	 EURO5 EURO5
#define NAME_120 NAME_30 NAME_30 NAME_30 NAME_30
#define NAME_480 NAME_120 NAME_120 NAME_120 NAME_120

/* Names of which whoever has room for a part has room for a part of a character. */
static void long_names(struct build *build)
{
	static const char info[] =
		"tsc_khz=2000000\0machine=x86_64\0command=" NAME_480 NAME_480 NAME_480
		"\0release=" NAME_480 NAME_480 "\0nodename=" NAME_480;
	const uint64_t words[] = { 4, 0xffffffff81000104, 0xffffffffc0000010 };

	build_begin(build, 1, false);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(build, FKT_SECTION_IRQS, "4 " NAME_480 "\n");
	build_text(build, FKT_SECTION_PROCESSES, "7 7 1 " NAME_30 "\n");
	build_text(build, FKT_SECTION_SYMBOLS,
		   "ffffffff81000100 t " NAME_480 "\nffffffffc0000000 t two\t[" NAME_480 "]\n");
	build_text(build, FKT_SECTION_CODES,
		   "65536 1 entry 65537 functions " NAME_120 " " NAME_30 ":u64\n"
		   "65537 1 exit 65536 functions " NAME_120 " ret:ret\n"
		   "65538 1 point 0 " NAME_120 " a" NAME_120 " n:u64 one:sym two:sym\n");
	build_pages(build);
	build_event(build, 0, 1000, FKT_CODE_IRQ_ENTRY, 4);
	build_event(build, 0, 1100, FKT_CODE_IRQ_EXIT, 4);
	build_slot(build, 0, 0, 1200, 65536, 0, words, 1);
	build_slot(build, 0, 0, 1300, 65538, 0, words, 3);
	build_slot(build, 0, 0, 1400, 65537, 0, words, 1);
	build_end(build, 9000, 5000000, 1700000000005000000);
}

/* Times up to the last one that there is, of a machine that takes them to be before 1970. */
static void long_times(struct build *build)
{
	static const char info[] = "tsc_khz=1000000\0machine=x86_64";
	const uint64_t half = 1ull << 63, words[] = { 1 };

	build_begin(build, 2, false);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_clock(build, 0, 0, UINT64_MAX - 1000);
	build_text(build, FKT_SECTION_CODES,
		   "65536 1 entry 65537 functions one\n65537 1 exit 65536 functions one ret:ret\n");
	build_pages(build);
	build_slot(build, 0, 0, 10, 65536, 0, words, 1);
	build_switch(build, 1, 20, 1, 8, 7);
	build_close(build, 0);
	build_close(build, 1);
	build_switch(build, 0, half + 10, 1, 7, 8);
	build_slot(build, 0, 0, half + 20, 65537, 0, words, 1);
	build_switch(build, 1, UINT64_MAX - 10, 1, 8, 7);
	build_end(build, 0, 0, 0);
}

int main(int argc, char **argv)
{
	struct build build;

	if (argc != 2)
		error(2, 0, "usage: make_corpus DIR");
	dir = argv[1];
	if (mkdir(dir, 0777) && errno != EEXIST)
		error(1, errno, "%s", dir);

	begin(&build, 1, false, false);
	build_end(&build, 0, 0, 0);
	write_trace(&build, "empty");

	begin(&build, 2, false, true);
	all_codes(&build, 0, 1000);
	all_codes(&build, 1, 1100);
	build_end(&build, 9000, 5000000, 1700000000005000000);
	write_trace(&build, "codes");

	long_names(&build);
	write_trace(&build, "names");

	long_times(&build);
	write_trace(&build, "times");

	/* Stacks of 7 and 8, and again: the kernel's, with the program's below. */
	begin(&build, 1, false, true);
	for (unsigned int i = 0; i < 8; i++) {
		const uint64_t kernel = 0x8100000481000104, user = 0x0848e800 | (7 + i % 2);
		const uint16_t below = FKT_STACK_USER | FKT_STACK_BELOW;

		build_slot(&build, 0, 0, 1000 + 50 * i, FKT_CODE_STACK, i < 2 ? 2 : 9, &kernel,
			   i < 2);
		build_slot(&build, 0, 0, 1000 + 50 * i, FKT_CODE_STACK,
			   below | (i < 2 ? 4 : 11 + 5 * (i % 2)), &user, i < 2);
		build_event(&build, 0, 1000 + 50 * i, 65537, (uint16_t)i);
	}
	build_end(&build, 9000, 5000000, 1700000000005000000);
	write_trace(&build, "stacks");

	/* Samples of the kernel, with both stacks, and of a program, with its own and with none. */
	begin(&build, 1, false, true);
	for (unsigned int i = 0; i < 8; i++) {
		const uint64_t kernel = 0x8100000481000104, user = 0x0848e800 | (7 + i % 2);
		const uint64_t words[] = { 7 + i % 2 + ((uint64_t)i << 32), 0xffffffff81000104 };
		const uint16_t below = i % 4 ? 0 : FKT_STACK_BELOW;

		if (below)
			build_slot(&build, 0, 0, 1000 + 50 * i, FKT_CODE_STACK, 2, &kernel, 1);
		if (i % 4 < 3)
			build_slot(&build, 0, 0, 1000 + 50 * i, FKT_CODE_STACK,
				   FKT_STACK_USER | below | 4, &user, 1);
		build_slot(&build, 0, 0, 1000 + 50 * i, FKT_CODE_SAMPLE, !below, words, 2);
	}
	build_end(&build, 9000, 5000000, 1700000000005000000);
	write_trace(&build, "samples");

	begin(&build, 3, false, true);
	for (unsigned int i = 0; i < 40; i++) {
		build_switch(&build, i % 3, 2000 + i * 100, (uint16_t)(i % 3), 7 + i % 3,
			     i % 4 ? 8 + i % 2 : 0);
		build_event(&build, i % 3, 2010 + i * 100, 0, (uint16_t)i);
		build_event(&build, i % 3, 2020 + i * 100, FKT_CODE_IRQ_ENTRY, 4);
		build_event(&build, i % 3, 2030 + i * 100, FKT_CODE_IRQ_EXIT, 4);
		build_event(&build, i % 3, 2040 + i * 100, FKT_CODE_SYSCALL_EXIT, 0xfffe);
		if (i % 8 == 7) {
			build_close(&build, i % 3);
			build.lane[i % 3].lost += i;
			build.lane[i % 3].seq += i % 16 == 15;
			build_mark(&build);
		}
		if (i % 8 == 3) {
			build_fork(&build, i % 3, 2050 + i * 100, 20 + i, 7);
			build_name(&build, i % 3, 2060 + i * 100, FKT_CODE_EXEC, 20 + i, "new");
		}
	}
	build_end(&build, 9000, 5000000, 1700000000005000000);
	write_trace(&build, "lanes");

	begin(&build, 1, true, true);
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t words[2] = { (7 + i % 3) | (7ull + i % 2) << 32, i };

		build_slot(&build, 0, (uint16_t)(i % 3), 3000 + i * (i % 9 ? 10 : 1ull << 25),
			   i % 7 ? i % 30 : FKT_CODE_SWITCH, 1, words, 1 + i % 2);
	}
	build_end(&build, 9000, 5000000, 1700000000005000000);
	write_trace(&build, "shared");

	/* Pages that are all but empty, so many that an index comes. */
	begin(&build, 2, false, false);
	for (unsigned int i = 0; i < FKT_INDEX_ENTRIES + 8; i++) {
		build_event(&build, i % 2, 1000 + i * 50, 1, 0);
		build_close(&build, i % 2);
	}
	build_end(&build, 0, 0, 0);
	write_trace(&build, "index");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * many_threads FILE EVENTS: a trace of 256 CPUs and 10000 threads, which take turns: each is woken
 * on the CPU of another, runs, makes a system call, and sleeps in the next one.
 */
#include <err.h>
#include <stdlib.h>

#include "build_trace.h"

#define CPUS	  256u
#define THREADS	  10000u
#define FIRST_PID 100u
#define CYCLES	  50u /* between events */

static struct build build;
static uint64_t stamp = 1000;

static void put(uint32_t cpu, uint32_t code, uint16_t imm, const uint64_t *words, unsigned int n)
{
	stamp += CYCLES;
	build_slot(&build, 0, (uint16_t)cpu, stamp, code, imm, words, n);
}

int main(int argc, char **argv)
{
	static const char info[] = "command=many threads\0cpus=256\0tsc_khz=1000000";
	unsigned long events = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, done = 0;
	uint32_t current[CPUS] = { 0 }, turn = 0;

	if (!events)
		errx(2, "usage: many_threads FILE EVENTS");
	build_begin(&build, 1, true);
	build_clock(&build, 0, 0, 0);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_pages(&build);
	for (; done < events; turn++) {
		uint32_t cpu = turn % CPUS, next = FIRST_PID + turn % THREADS;
		uint64_t words[1];

		/* The one whose turn comes half a round later is woken here. */
		words[0] = FIRST_PID + (turn + CPUS / 2) % THREADS;
		put(cpu, FKT_CODE_WAKEUP, 120, words, 1);
		words[0] = current[cpu] | (uint64_t)next << 32;
		put(cpu, FKT_CODE_SWITCH, current[cpu] ? 1 : 0, words, 1);
		current[cpu] = next;
		if (turn >= THREADS)
			put(cpu, FKT_CODE_SYSCALL_EXIT + turn % 7, 0, NULL, 0);
		put(cpu, FKT_CODE_SYSCALL_ENTRY + 20, 0, NULL, 0);
		put(cpu, FKT_CODE_SYSCALL_EXIT + 20, 0, NULL, 0);
		put(cpu, FKT_CODE_SYSCALL_ENTRY + (turn + CPUS) % 7, 0, NULL, 0);
		done += 5 + (turn >= THREADS);
	}
	build_end(&build, stamp + CYCLES, stamp + CYCLES, 0);
	build_write(&build, argv[1], build.bytes);
	return 0;
}

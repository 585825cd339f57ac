// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time went (paper, §6): to each thread, the cycles for which it was current on a CPU.
 *
 * Between two events on a CPU, the time is that of the thread that was current at the first one.
 * Switches are always recorded: until a CPU's first event, and after its last one, nobody else was
 * current than then.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

struct cpu {
	uint64_t last;	   /* stamp of its last event */
	uint64_t first;	   /* of its first one */
	uint32_t first_id; /* current at its first event */
	uint32_t pid;	   /* current after its last event */
	uint32_t id;	   /* number of that thread */
	bool seen;
};

struct fkt_analysis {
	struct fkt_processes *processes;
	uint64_t *cycles; /* of each thread, by number */
	uint32_t room;
	uint64_t *count; /* of each code */
	struct cpu cpu[UINT16_MAX + 1];
};

struct fkt_analysis *fkt_analysis_new(struct fkt_processes *processes)
{
	struct fkt_analysis *analysis = calloc(1, sizeof(*analysis));

	if (!analysis)
		return NULL;
	analysis->processes = processes;
	analysis->count = calloc(FKT_SLOT_CODES, sizeof(*analysis->count));
	if (!analysis->count) {
		free(analysis);
		return NULL;
	}
	return analysis;
}

void fkt_analysis_free(struct fkt_analysis *analysis)
{
	if (!analysis)
		return;
	free(analysis->cycles);
	free(analysis->count);
	free(analysis);
}

/* Make sure that a thread has its sum. */
static int make_room(struct fkt_analysis *analysis, uint32_t id)
{
	uint32_t room = analysis->room ? analysis->room : 256;
	uint64_t *cycles;

	if (id < analysis->room)
		return 0;
	while (room <= id)
		room *= 2;
	cycles = realloc(analysis->cycles, room * sizeof(*cycles));
	if (!cycles)
		return -ENOMEM;
	memset(cycles + analysis->room, 0, (room - analysis->room) * sizeof(*cycles));
	analysis->cycles = cycles;
	analysis->room = room;
	return 0;
}

static int set_current(struct fkt_analysis *analysis, struct cpu *cpu, uint32_t pid,
		       uint16_t number)
{
	cpu->pid = pid;
	cpu->id = fkt_process_id(analysis->processes, pid, number);
	return make_room(analysis, cpu->id);
}

int fkt_analysis_event(struct fkt_analysis *analysis, const struct fkt_event *event)
{
	struct cpu *cpu = &analysis->cpu[event->cpu];
	int err;

	analysis->count[event->code]++;
	if (unlikely(!cpu->seen || cpu->pid != event->pid)) {
		/* The first event, or one after a gap. What is in the gap stays the former's. */
		if (cpu->seen && event->stamp > cpu->last)
			analysis->cycles[cpu->id] += event->stamp - cpu->last;
		err = set_current(analysis, cpu, event->pid, event->cpu);
		if (err)
			return err;
		if (!cpu->seen) {
			cpu->first = event->stamp;
			cpu->first_id = cpu->id;
			cpu->seen = true;
		}
		cpu->last = event->stamp;
	} else if (event->stamp > cpu->last) {
		analysis->cycles[cpu->id] += event->stamp - cpu->last;
		cpu->last = event->stamp;
	}
	if (event->code == FKT_CODE_SWITCH && event->words >= 1)
		return set_current(analysis, cpu, fkt_arg32(event, 4), event->cpu);
	return 0;
}

void fkt_analysis_end(struct fkt_analysis *analysis, uint64_t first, uint64_t last)
{
	struct cpu *cpu;

	for (uint32_t i = 0; i <= UINT16_MAX; i++) {
		cpu = &analysis->cpu[i];
		if (!cpu->seen)
			continue;
		if (cpu->first > first)
			analysis->cycles[cpu->first_id] += cpu->first - first;
		if (last > cpu->last)
			analysis->cycles[cpu->id] += last - cpu->last;
	}
}

static int compare_times(const void *a, const void *b)
{
	const struct fkt_process_time *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

struct fkt_process_time *fkt_analysis_processes(struct fkt_analysis *analysis, size_t *count)
{
	struct fkt_process_time *rows;

	*count = 0;
	rows = malloc((analysis->room + 1ull) * sizeof(*rows));
	if (!rows)
		return NULL;
	for (uint32_t id = 0; id < analysis->room; id++) {
		if (!analysis->cycles[id])
			continue;
		rows[*count].id = id;
		rows[*count].cycles = analysis->cycles[id];
		++*count;
	}
	qsort(rows, *count, sizeof(*rows), compare_times);
	return rows;
}

uint64_t fkt_analysis_code_count(const struct fkt_analysis *analysis, uint32_t code)
{
	return analysis->count[code];
}

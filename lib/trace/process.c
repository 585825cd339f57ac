// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Threads over time: who has which pid, and what it is called (paper, §6).
 *
 * A pid that was released still means the thread that had it, which may have a few events left,
 * until a fork gives it to another one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "internal.h"

#define PROCESSES_MAX (1u << 20)
#define HASH_BITS     14
#define HASH_BUCKETS  (1u << HASH_BITS)
#define NO_PROCESS    0 /* whom nobody knows: no pid leads there */

/* The ancestor of all kernel threads. */
#define KTHREADD      2u

struct fkt_processes {
	struct fkt_process *process;
	uint32_t *next; /* in the same bucket */
	uint32_t count;
	uint32_t room;
	uint32_t seed;	  /* odd: so that no trace can be made to fill one bucket */
	uint32_t changes; /* of names, and 1 */
	uint32_t bucket[HASH_BUCKETS];
	uint32_t idle[UINT16_MAX + 1]; /* of each CPU, or NO_PROCESS */
};

static uint32_t *bucket_of(struct fkt_processes *processes, uint32_t tid)
{
	return &processes->bucket[(tid * processes->seed) >> (32 - HASH_BITS)];
}

/* Where the number of the newest thread that had the pid stands, or NO_PROCESS. */
static uint32_t *find_link(struct fkt_processes *processes, uint32_t tid)
{
	uint32_t *link = bucket_of(processes, tid);

	while (*link != NO_PROCESS && processes->process[*link].tid != tid)
		link = &processes->next[*link];
	return link;
}

static uint32_t find(struct fkt_processes *processes, uint32_t tid)
{
	return *find_link(processes, tid);
}

static uint32_t add(struct fkt_processes *processes, uint32_t tid, uint32_t tgid)
{
	struct fkt_process *process;
	uint32_t *next;
	uint32_t room;

	if (processes->count == processes->room) {
		room = processes->room ? processes->room * 2 : 256;
		if (room > PROCESSES_MAX)
			return 0;
		process = realloc(processes->process, room * sizeof(*process));
		if (!process)
			return 0;
		processes->process = process;
		next = realloc(processes->next, room * sizeof(*next));
		if (!next)
			return 0;
		processes->next = next;
		processes->room = room;
	}
	process = &processes->process[processes->count];
	memset(process, 0, sizeof(*process));
	process->tid = tid;
	process->tgid = tgid;
	process->parent = FKT_PID_UNKNOWN;
	strcpy(process->comm, "?");
	processes->next[processes->count] = NO_PROCESS;
	return processes->count++;
}

/* A thread that from now on is the one with this pid. */
static uint32_t add_thread(struct fkt_processes *processes, uint32_t tid, uint32_t tgid)
{
	uint32_t id = add(processes, tid, tgid);
	uint32_t *link = find_link(processes, tid);

	if (id) {
		if (*link != NO_PROCESS)
			processes->next[id] = processes->next[*link];
		*link = id;
	}
	return id;
}

static uint32_t find_or_add(struct fkt_processes *processes, uint32_t tid)
{
	uint32_t id = find(processes, tid);

	return id == NO_PROCESS ? add_thread(processes, tid, FKT_PID_UNKNOWN) : id;
}

static void set_comm(struct fkt_processes *processes, uint32_t id, const char *comm, size_t bytes)
{
	struct fkt_process *process = &processes->process[id];

	if (!id)
		return;
	bytes = strnlen(comm, bytes < FKT_COMM_BYTES ? bytes : FKT_COMM_BYTES);
	memcpy(process->comm, comm, bytes);
	process->comm[bytes] = '\0';
	fkt_sanitize(process->comm);
}

static void read_initial(struct fkt_processes *processes, const struct fkt_trace *trace)
{
	char *copy = strdup(trace->processes.text ?: ""), *text = copy, *line;
	uint32_t tid, tgid, ppid, id;

	/*
	 * A copy, as this may be done any number of times and cuts the text into lines. A snapshot
	 * tells how things stand where it begins, and behind that the names from when the recording
	 * did: the first line of a thread holds.
	 */
	while (copy && (line = fkt_next_line(&text)))
		if (fkt_parse_u32(fkt_next_word(&line), &tid) && tid &&
		    fkt_parse_u32(fkt_next_word(&line), &tgid) &&
		    fkt_parse_u32(fkt_next_word(&line), &ppid) &&
		    find(processes, tid) == NO_PROCESS) {
			id = add_thread(processes, tid, tgid);
			set_comm(processes, id, line, strlen(line));
			if (!id)
				continue;
			processes->process[id].kernel = ppid == KTHREADD || tid == KTHREADD;
			processes->process[id].parent = ppid;
		}
	free(copy);
}

struct fkt_processes *fkt_processes_new(const struct fkt_trace *trace)
{
	struct fkt_processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return NULL;
	if (getrandom(&processes->seed, sizeof(processes->seed), 0) < 0)
		processes->seed = (uint32_t)(uintptr_t)processes;
	processes->seed |= 1;
	processes->changes = 1;
	add(processes, FKT_PID_UNKNOWN, FKT_PID_UNKNOWN);
	if (!processes->count) {
		fkt_processes_free(processes);
		return NULL;
	}
	read_initial(processes, trace);
	return processes;
}

void fkt_processes_free(struct fkt_processes *processes)
{
	if (!processes)
		return;
	free(processes->process);
	free(processes->next);
	free(processes);
}

static void fork_process(struct fkt_processes *processes, const struct fkt_event *event)
{
	uint32_t tid = fkt_arg32(event, 0), tgid = fkt_arg32(event, 4);
	uint32_t parent = find_or_add(processes, fkt_arg32(event, 8));
	uint32_t child = add_thread(processes, tid, tgid);

	if (child && parent) {
		memcpy(processes->process[child].comm, processes->process[parent].comm,
		       sizeof(processes->process[child].comm));
		processes->process[child].kernel = processes->process[parent].kernel ||
						   processes->process[parent].tid == KTHREADD;
		processes->process[child].parent = tid == tgid ? fkt_arg32(event, 12)
							       : processes->process[parent].parent;
	}
}

void fkt_processes_event(struct fkt_processes *processes, const struct fkt_event *event)
{
	const char *comm;
	uint32_t id;
	bool own;

	processes->changes += fkt_is_process_event(event->code);
	switch (event->code) {
	case FKT_CODE_FORK:
		if (event->words >= 2)
			fork_process(processes, event);
		break;
	case FKT_CODE_EXEC:
	case FKT_CODE_RENAME:
		if (event->words < 3)
			break;
		comm = (const char *)event->args + 8;
		id = find_or_add(processes, fkt_arg32(event, 0));
		/* Of whom nobody has told before, whoever has asked. */
		own = !strcmp(processes->process[id].comm, "?") &&
		      fkt_is_own_thread(comm, FKT_COMM_BYTES);
		set_comm(processes, id, comm, FKT_COMM_BYTES);
		if (id && own)
			processes->process[id].kernel = true;
		/* The kernel's own threads run programs too: modprobe and its like. */
		if (id && event->code == FKT_CODE_EXEC)
			processes->process[id].kernel = false;
		break;
	case FKT_CODE_RELEASE:
		id = event->words >= 1 ? find(processes, fkt_arg32(event, 0)) : NO_PROCESS;
		if (id != NO_PROCESS)
			processes->process[id].released = true;
		break;
	}
}

const uint32_t *fkt_process_changes(const struct fkt_processes *processes)
{
	return &processes->changes;
}

uint32_t fkt_process_id(struct fkt_processes *processes, uint32_t tid, uint16_t cpu)
{
	struct fkt_process *process;
	uint32_t id;

	if (tid == FKT_PID_UNKNOWN)
		return 0;
	if (tid)
		return find_or_add(processes, tid);
	if (processes->idle[cpu] != NO_PROCESS)
		return processes->idle[cpu];
	id = add(processes, 0, 0);
	if (id) {
		process = &processes->process[id];
		process->cpu = cpu;
		strcpy(process->comm, "idle");
	}
	processes->idle[cpu] = id;
	return id;
}

const struct fkt_process *fkt_process(const struct fkt_processes *processes, uint32_t id)
{
	return &processes->process[id < processes->count ? id : 0];
}

uint32_t fkt_process_count(const struct fkt_processes *processes)
{
	return processes->count;
}

uint32_t fkt_process_leader(struct fkt_processes *processes, uint32_t id)
{
	const struct fkt_process *process;
	uint32_t leader;

	if (id >= processes->count)
		return id;
	process = &processes->process[id];
	if (!process->tid || process->tgid == FKT_PID_UNKNOWN || process->tgid == process->tid)
		return id;
	leader = find(processes, process->tgid);
	return leader == NO_PROCESS ? id : leader;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* extract.c: a part of a trace as a trace. */
#ifndef FKT_EXTRACT_H
#define FKT_EXTRACT_H

#include <fkt/trace.h>

/**
 * struct fkt_extract_process - one of those whose events are wanted
 * @name: all threads with this name, which may be a pattern; NULL: the process or thread @pid
 * @pid: its number
 * @found: set to whether there is any event of it on the CPUs that are wanted
 */
struct fkt_extract_process {
	const char *name;
	uint32_t pid;
	bool found;
};

/**
 * struct fkt_extract - which part, and what came of it
 * @from: stamp with which it begins
 * @to: stamp before which it ends; UINT64_MAX: with the trace
 * @process: only the events of any of these
 * @processes: how many they are; 0: of all
 * @cpus: only the events of CPUs whose bits are set in it, a bit for each number there can be;
 *	NULL: of all
 * @found: set to whether there is any event of any of @process on @cpus
 * @events: set to how many events there are
 * @pages: set to how many pages
 * @bytes: set to the size of the new trace
 *
 * With @process and @cpus, some events are kept of all threads and CPUs: switches, and
 * events about processes, which say who ran when, and who is called what; wake-ups, of those that
 * are wanted, with the call or interrupt that did them; and calls in which a thread came to a CPU
 * that is wanted.
 */
struct fkt_extract {
	uint64_t from;
	uint64_t to;
	struct fkt_extract_process *process;
	unsigned int processes;
	const uint8_t *cpus;
	bool found;
	uint64_t events;
	uint64_t pages;
	uint64_t bytes;
};

/**
 * fkt_extract() - write a part of a trace as a trace of its own
 * @trace: the trace, not a stream
 * @extract: which part
 * @fd: where to, in sequence
 *
 * Return: 0, -ENODATA when there is no such event, or none of one of the processes that are asked
 * for, another errno value of writing or of reading.
 */
int fkt_extract(struct fkt_trace *trace, struct fkt_extract *extract, int fd);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights by call path, as the events of a trace say them. These are the own time of calls, below
 * their thread's name, and what threads did outside of all calls, so that all comes to what the
 * summary comes to; or how long threads were off the CPU, by the stack with which they left it; or
 * how long those were off it that were woken, by the stack that woke them.
 *
 * A thread has the name that it had at that moment, which is when a call began: so what parts of a
 * trace come to, added up, is what all of it comes to.
 */
#ifndef FKT_COMMON_PATHS_H
#define FKT_COMMON_PATHS_H

#include <fkt/trace.h>

#include "sum/paths.h"

/* The first character of a name is what it is; the name follows. */
#define PATHS_THREAD	'T'
#define PATHS_SYSCALL	'S'
#define PATHS_FUNCTION	'F'
#define PATHS_INTERRUPT 'I'
#define PATHS_OUTSIDE	'O' /* of all calls: user mode, idle, ... */
#define PATHS_OTHER	'X'

enum paths_of {
	PATHS_OWN,
	PATHS_OFF_CPU,
	PATHS_WAKEUPS,
};

struct paths;

/**
 * paths_new() - begin
 * @of: what the weights are
 * @outside: of PATHS_OWN: what threads did outside of all calls is asked for, too
 * @trace: the trace
 * @processes: its threads, at each moment
 * @names: where names get numbers
 *
 * Return: to be freed with paths_free(), or NULL without memory.
 */
struct paths *paths_new(enum paths_of of, bool outside, struct fkt_trace *trace,
			struct fkt_processes *processes, struct fkt_path_names *names);
void paths_free(struct paths *paths);

/*
 * What happens, whatever a filter lets through: so that callers are known. Those that return a
 * number return 0 or -ENOMEM.
 */

/* An event that may change what threads are called, before fkt_processes_event(). */
int paths_process(struct paths *paths, struct fkt_analysis *analysis,
		  const struct fkt_event *event);
/* Any event, with its stack, if it has one; not needed of PATHS_OWN. */
int paths_event(struct paths *paths, const struct fkt_event *event, const struct fkt_stack *stack);
int paths_enter(struct paths *paths, const struct fkt_call *call);
/* @counts: its own time does. */
int paths_leave(struct paths *paths, struct fkt_analysis *analysis, const struct fkt_call *call,
		bool counts);
int paths_moved(struct paths *paths, const struct fkt_analysis *analysis, uint32_t from,
		uint32_t to);
/* A wait that is asked for. */
int paths_wait(struct paths *paths, const struct fkt_wait *wait);

/**
 * paths_end() - all has been read
 * @paths: the paths
 * @analysis: the sums, after fkt_analysis_end()
 * @named: set to the paths by the numbers of names, in nanoseconds if the trace knows them; to be
 *	freed by fkt_paths_free() in any case
 *
 * Return: 0 or -ENOMEM.
 */
int paths_end(struct paths *paths, struct fkt_analysis *analysis, struct fkt_paths *named);

/**
 * struct paths_order - nodes in the order in which they are shown: each one above those below it,
 *	and these by name
 * @node: all nodes, the root first
 * @depth: of each of @node, how many are above it
 * @total: of each node, by its number, the weight with all below it
 */
struct paths_order {
	uint32_t *node;
	uint32_t *depth;
	uint64_t *total;
};

/* Put them in order: 0 or -ENOMEM; to be freed with paths_order_free() in both cases. */
int paths_order(struct paths_order *order, const struct fkt_paths *named,
		const struct fkt_path_names *names);
void paths_order_free(struct paths_order *order);

/**
 * paths_old() - where nodes were before
 * @named: the nodes
 * @before: the paths before, which get those that were not there, without weight
 *
 * Return: of each node, the number of that of @before, to be freed; NULL without memory.
 */
uint32_t *paths_old(const struct fkt_paths *named, struct fkt_paths *before);

/**
 * paths_write() - "thread;call;call NANOSECONDS" of each that has any weight
 * @named: the paths
 * @names: their names
 * @before: if there is one, its weight stands before the other one, as difffolded.pl has it
 * @put: gets each line
 * @arg: for it
 *
 * Return: 1 when there was a weight, 0 when there was none, or -ENOMEM.
 */
int paths_write(const struct fkt_paths *named, const struct fkt_path_names *names,
		struct fkt_paths *before, void (*put)(void *arg, const char *line, size_t bytes),
		void *arg);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks are inside a function below which calls are recorded, and how deep.
 *
 * A table of tasks that nobody locks: a task's place is one of the few in the line of cache that
 * its address selects, only the task itself takes it, and interrupts give back what they took.
 */
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "graph.h"

#define FKT_GRAPH_BITS 10
#define FKT_GRAPH_WAYS 8

/**
 * struct fkt_graph_line - the tasks whose addresses select it
 * @task: who, NULL where there is nobody
 * @depth: how many recorded functions it is inside
 */
struct fkt_graph_line {
	const struct task_struct *task[FKT_GRAPH_WAYS];
	u32 depth[FKT_GRAPH_WAYS];
};

static struct fkt_graph_line *fkt_graph;
static u32 fkt_graph_depth;

static u32 *fkt_graph_find(struct fkt_graph_line *line, const struct task_struct *task)
{
	int i;

	for (i = 0; i < FKT_GRAPH_WAYS; i++)
		if (READ_ONCE(line->task[i]) == task)
			return &line->depth[i];
	return NULL;
}

static u32 *fkt_graph_take(struct fkt_graph_line *line)
{
	int i;

	for (i = 0; i < FKT_GRAPH_WAYS; i++) {
		if (READ_ONCE(line->task[i]) || cmpxchg(&line->task[i], NULL, current))
			continue;
		line->depth[i] = 0;
		return &line->depth[i];
	}
	return NULL;
}

static void fkt_graph_give_back(struct fkt_graph_line *line, const u32 *depth)
{
	WRITE_ONCE(line->task[depth - line->depth], NULL);
}

static struct fkt_graph_line *fkt_graph_line(const struct task_struct *task)
{
	return &fkt_graph[hash_ptr((void *)task, FKT_GRAPH_BITS)];
}

/**
 * fkt_graph_enter - the current task enters a function
 * @root: whether everything below is to be recorded
 * @pair: whether it will be said when it leaves it
 * @full: receives whether there was no place for the task, so that an event is lost
 *
 * Context: that of a probe.
 * Return: whether to record this; only then, fkt_graph_leave() is to be called.
 */
bool fkt_graph_enter(bool root, bool pair, bool *full)
{
	struct fkt_graph_line *line = fkt_graph_line(current);
	u32 *depth = fkt_graph_find(line, current);

	*full = false;
	if (!depth) {
		if (!root || !pair)
			return root;
		depth = fkt_graph_take(line);
		if (!depth) {
			*full = true;
			return false;
		}
	}
	if (fkt_graph_depth && *depth >= fkt_graph_depth)
		return false;
	*depth += pair;
	return true;
}

/**
 * fkt_graph_leave - the current task leaves a function
 * Context: that of a probe.
 */
void fkt_graph_leave(void)
{
	struct fkt_graph_line *line = fkt_graph_line(current);
	u32 *depth = fkt_graph_find(line, current);

	if (depth && !--*depth)
		fkt_graph_give_back(line, depth);
}

/**
 * fkt_graph_forget - a task ends, and will not leave what it is inside
 * @task: the current task
 * Context: that of a probe.
 */
void fkt_graph_forget(const struct task_struct *task)
{
	struct fkt_graph_line *line;
	u32 *depth;

	if (!READ_ONCE(fkt_graph))
		return;
	line = fkt_graph_line(task);
	depth = fkt_graph_find(line, task);
	if (depth)
		fkt_graph_give_back(line, depth);
}

/**
 * fkt_graph_begin - before a recording that asks for it: nobody is inside anything
 * @depth: how many levels to record, 0 for all
 * Context: process; no probe runs.
 * Return: 0 or -ENOMEM.
 */
int fkt_graph_begin(u32 depth)
{
	size_t bytes = sizeof(*fkt_graph) << FKT_GRAPH_BITS;

	fkt_graph_depth = depth;
	if (fkt_graph)
		memset(fkt_graph, 0, bytes);
	else
		WRITE_ONCE(fkt_graph, vzalloc(bytes));
	return fkt_graph ? 0 : -ENOMEM;
}

/**
 * fkt_graph_free - at module unload
 */
void fkt_graph_free(void)
{
	vfree(fkt_graph);
}

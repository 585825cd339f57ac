// SPDX-License-Identifier: GPL-2.0-or-later
/* Which rows there are, as on the page: CPUs, counters, and threads by process. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"

/* As on the page. */
#define THREADS_MAX  20000
#define FEW_COUNTERS 4
#define FIRST_ROOM   64u

/* Threads of a process, or of the kernel, one behind the other. */
struct group {
	uint32_t key;
	uint64_t running;
	size_t first;
	size_t count;
};

/* ---- what is folded ---- */

static size_t find_folded(const struct terminal *terminal, uint32_t group)
{
	const uint32_t *folded = (const uint32_t *)terminal->folded.data;
	const size_t count = terminal->folded.bytes / sizeof(*folded);
	size_t at = 0;

	while (at < count && folded[at] != group)
		at++;
	return at;
}

bool rows_is_folded(const struct terminal *terminal, uint32_t group)
{
	return find_folded(terminal, group) < terminal->folded.bytes / sizeof(group);
}

void rows_fold(struct terminal *terminal, uint32_t group, bool fold)
{
	uint32_t *folded = (uint32_t *)terminal->folded.data;
	const size_t count = terminal->folded.bytes / sizeof(*folded);
	const size_t at = find_folded(terminal, group);

	if (fold && at == count)
		answer_bytes(&terminal->folded, &group, sizeof(group));
	if (fold || at == count)
		return;
	folded[at] = folded[count - 1];
	terminal->folded.bytes -= sizeof(group);
}

/* ---- rows ---- */

static struct row *add_row(struct terminal *terminal, enum row_kind kind, uint32_t key,
			   uint32_t group)
{
	const size_t room = terminal->row_room ? 2 * terminal->row_room : FIRST_ROOM;
	struct row *larger;

	if (terminal->rows == terminal->row_room) {
		larger = reallocarray(terminal->row, room, sizeof(*larger));
		if (!larger)
			return NULL;
		terminal->row = larger;
		terminal->row_room = room;
	}
	terminal->row[terminal->rows] = (struct row){ .kind = kind, .key = key, .group = group };
	return &terminal->row[terminal->rows++];
}

static int add_cpus(struct terminal *terminal)
{
	uint8_t *met = malloc(VIEW_CPUS);
	uint32_t cpus = met ? view_cpus(terminal->view, met) : 0;
	struct row *row;
	int err = met ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < cpus && !err; i++) {
		if (!met[i])
			continue;
		row = add_row(terminal, ROW_CPU, TRACK_CPU | i, 0);
		if (row)
			snprintf(row->label, sizeof(row->label), "CPU %" PRIu32, i);
		else
			err = -ENOMEM;
	}
	free(met);
	return err;
}

/* ---- counters ---- */

/* One is added while the levels are locked, and named behind that. */
static int add_counter(void *arg, uint32_t track)
{
	return add_row(arg, ROW_COUNTER, track, GROUP_COUNTERS) ? 0 : -ENOMEM;
}

static void name_counter(struct terminal *terminal, struct row *row)
{
	const struct collected_thread *thread;
	char name[FKT_NAME_BYTES];
	uint32_t tgid;

	if (!view_counter(terminal->view, row->key, name, &tgid))
		return;
	thread = rows_thread(terminal, tgid);
	snprintf(row->label, sizeof(row->label), "%s %s %" PRIu32,
		 strncmp(name, "app:", 4) ? name : name + 4, thread ? thread->comm : "?", tgid);
}

static int add_counters(struct terminal *terminal)
{
	const size_t first = terminal->rows;
	struct row *row;
	size_t count;
	int err = levels_counters(terminal->view->levels, add_counter, terminal);

	count = terminal->rows - first;
	for (size_t i = first; i < terminal->rows; i++)
		name_counter(terminal, &terminal->row[i]);
	if (err || count <= FEW_COUNTERS)
		return err;
	row = add_row(terminal, ROW_GROUP, TRACK_NONE, GROUP_COUNTERS);
	if (!row)
		return -ENOMEM;
	row->closed = rows_is_folded(terminal, GROUP_COUNTERS);
	snprintf(row->label, sizeof(row->label), "counters (%zu)", count);
	if (row->closed) {
		terminal->row[first] = *row;
		terminal->rows = first + 1;
		return 0;
	}
	/* The group is before its members. */
	const struct row group = *row;

	memmove(&terminal->row[first + 1], &terminal->row[first], count * sizeof(*row));
	terminal->row[first] = group;
	for (size_t i = first + 1; i < terminal->rows; i++)
		terminal->row[i].member = true;
	return 0;
}

/* ---- threads ---- */

static uint32_t group_of(const struct collected_thread *thread)
{
	return thread->kernel ? GROUP_KERNEL : thread->tgid;
}

static int by_group(const void *a, const void *b)
{
	const struct collected_thread *one = a, *other = b;
	const uint32_t group = group_of(one), others = group_of(other);

	if (group != others)
		return group < others ? -1 : 1;
	if (one->running != other->running)
		return one->running < other->running ? 1 : -1;
	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

static int by_running(const void *a, const void *b)
{
	const struct group *one = a, *other = b;
	const bool kernel = one->key == GROUP_KERNEL, others = other->key == GROUP_KERNEL;

	if (kernel != others)
		return kernel ? 1 : -1;
	if (one->running != other->running)
		return one->running < other->running ? 1 : -1;
	return one->key < other->key ? -1 : one->key > other->key;
}

static int by_tid(const void *a, const void *b)
{
	const struct collected_thread *one = a, *other = b;

	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

const struct collected_thread *rows_thread(const struct terminal *terminal, uint32_t tid)
{
	const struct collected_thread wanted = { .tid = tid };

	return terminal->threads ? bsearch(&wanted, terminal->thread, terminal->threads,
					   sizeof(wanted), by_tid)
				 : NULL;
}

static bool matches(const struct terminal *terminal, const struct collected_thread *thread)
{
	char tid[12];

	snprintf(tid, sizeof(tid), "%" PRIu32, thread->tid);
	return strcasestr(thread->comm, terminal->filter) || !strcmp(tid, terminal->filter);
}

bool rows_match(const struct terminal *terminal)
{
	for (size_t i = 0; i < terminal->threads; i++)
		if (matches(terminal, &terminal->thread[i]))
			return true;
	return false;
}

static bool row_matches(const struct terminal *terminal, const struct row *row)
{
	const struct collected_thread *thread = row_is_thread(row) ? rows_thread(terminal, row->key)
								   : NULL;

	return thread && matches(terminal, thread);
}

void rows_choose_match(struct terminal *terminal)
{
	size_t at = 0;

	if (row_matches(terminal, terminal_row(terminal)))
		return;
	while (at < terminal->rows && !row_matches(terminal, &terminal->row[at]))
		at++;
	if (at < terminal->rows)
		terminal->at = at;
}

unsigned int rows_named(const struct terminal *terminal, uint32_t tid[REQUEST_TIDS])
{
	unsigned int count = 0;

	for (size_t i = 0; i < terminal->threads && count < REQUEST_TIDS; i++) {
		const struct collected_thread *thread = &terminal->thread[i];
		char number[12];

		snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
		if (!strcmp(thread->comm, terminal->filter) || !strcmp(number, terminal->filter))
			tid[count++] = thread->tid;
	}
	return count;
}

static int add_thread(struct terminal *terminal, const struct collected_thread *thread,
		      uint32_t group, bool member)
{
	struct row *row = add_row(terminal, ROW_THREAD, thread->tid, group);

	if (!row)
		return -ENOMEM;
	row->member = member;
	snprintf(row->label, sizeof(row->label), "%s %" PRIu32, thread->comm, thread->tid);
	return 0;
}

/* @thread: the group's, those that ran longest first. */
static int add_group(struct terminal *terminal, const struct group *group,
		     const struct collected_thread *thread, uint32_t chosen, bool filtered)
{
	const bool alone = group->count == 1, kernel = group->key == GROUP_KERNEL;
	const bool closed = !alone && !filtered && rows_is_folded(terminal, group->key);
	const struct collected_thread *leader = thread;
	struct row *row;
	int err = 0;

	for (size_t i = 0; i < group->count; i++)
		if (thread[i].tid == group->key)
			leader = &thread[i];
	if (!alone) {
		row = add_row(terminal, ROW_GROUP, kernel ? TRACK_NONE : leader->tid, group->key);
		if (!row)
			return -ENOMEM;
		row->closed = closed;
		if (kernel)
			snprintf(row->label, sizeof(row->label), "kernel threads (%zu)",
				 group->count);
		else
			snprintf(row->label, sizeof(row->label), "%s %" PRIu32 " (%zu threads)",
				 leader->comm, group->key, group->count);
	}
	for (size_t i = 0; i < group->count && !err; i++)
		if (!closed || thread[i].tid == chosen)
			err = add_thread(terminal, &thread[i], group->key, !alone);
	return err;
}

/* @thread: in the order of by_group(). */
static int add_groups(struct terminal *terminal, const struct collected_thread *thread,
		      size_t count, uint32_t chosen, bool filtered)
{
	struct group *group = calloc(count, sizeof(*group));
	size_t groups = 0;
	int err = 0;

	if (!group)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!i || group_of(&thread[i]) != group_of(&thread[i - 1]))
			group[groups++] = (struct group){ .key = group_of(&thread[i]), .first = i };
		group[groups - 1].running += thread[i].running;
		group[groups - 1].count++;
	}
	qsort(group, groups, sizeof(*group), by_running);
	for (size_t i = 0; i < groups && !err; i++)
		err = add_group(terminal, &group[i], &thread[group[i].first], chosen, filtered);
	free(group);
	return err;
}

static int add_threads(struct terminal *terminal, uint32_t chosen)
{
	const bool filtered = *terminal->filter && rows_match(terminal);
	struct collected_thread *thread;
	size_t count = 0;
	int err = 0;

	if (!terminal->threads)
		return 0;
	thread = calloc(terminal->threads, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	for (size_t i = 0; i < terminal->threads; i++)
		if (!filtered || terminal->thread[i].tid == chosen ||
		    matches(terminal, &terminal->thread[i]))
			thread[count++] = terminal->thread[i];
	qsort(thread, count, sizeof(*thread), by_group);
	if (count)
		err = add_groups(terminal, thread, count, chosen, filtered);
	free(thread);
	return err;
}

/* The row that was chosen, or is to be. */
static struct row chosen_row(const struct terminal *terminal)
{
	const struct row *row = terminal_row(terminal);

	if (terminal->wanted != TRACK_NONE)
		return (struct row){ .kind = ROW_THREAD, .key = terminal->wanted };
	return row ? *row : (struct row){ .key = TRACK_NONE };
}

int rows_make(struct terminal *terminal)
{
	const struct row chosen = chosen_row(terminal);
	struct levels *levels = terminal->view->levels;
	const struct row *row;
	size_t count = 0;
	int err;

	free(terminal->thread);
	terminal->thread = levels ? levels_threads(levels, &count) : NULL;
	terminal->threads = !terminal->thread ? 0 : count < THREADS_MAX ? count : THREADS_MAX;
	if (terminal->threads)
		qsort(terminal->thread, terminal->threads, sizeof(*terminal->thread), by_tid);
	terminal->rows = 0;
	err = add_cpus(terminal);
	if (!err && levels)
		err = add_counters(terminal);
	if (!err)
		err = add_threads(terminal, row_is_thread(&chosen) ? chosen.key : TRACK_NONE);
	for (size_t i = 0; i < terminal->rows; i++) {
		row = &terminal->row[i];
		if (row->key != chosen.key || row->kind != chosen.kind ||
		    (row->kind == ROW_GROUP && row->group != chosen.group))
			continue;
		terminal->at = i;
		return err;
	}
	if (terminal->at >= terminal->rows)
		terminal->at = terminal->rows ? terminal->rows - 1 : 0;
	return err;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events that are only counted: "GROUP BY name" and its like. SQLite would sort all events by name
 * first; here they are counted by their few different values, and come as so many equal rows, those
 * of a group together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fkt_sqlite.h"
#include "read/reader.h"

/* Events with the same values, in the columns that are asked for; the others are 0. */
struct group {
	uint32_t code;
	uint32_t tid;
	uint32_t pid;
	uint16_t cpu;
	bool known;
	const char *comm;
	uint64_t count;
};

/**
 * struct fkt_grouped - the groups
 * @scan: of these events
 * @want: the columns
 * @group: a hash table; then those that there are, in order
 * @groups: how many there are
 * @room: of the table, a power of two
 * @at: the one that comes at the moment
 * @left: rows that it still has
 * @counted: all has been read
 */
struct fkt_grouped {
	struct fkt_scan *scan;
	const struct fkt_want *want;
	struct group *group;
	size_t groups;
	size_t room;
	size_t at;
	uint64_t left;
	bool counted;
};

struct fkt_grouped *fkt_grouped_new(struct fkt_scan *scan, const struct fkt_want *want)
{
	struct fkt_grouped *grouped = calloc(1, sizeof(*grouped));

	if (!grouped)
		return NULL;
	grouped->scan = scan;
	grouped->want = want;
	grouped->room = 1024;
	grouped->group = calloc(grouped->room, sizeof(*grouped->group));
	if (!grouped->group) {
		free(grouped);
		return NULL;
	}
	return grouped;
}

void fkt_grouped_free(struct fkt_grouped *grouped)
{
	if (!grouped)
		return;
	free(grouped->group);
	free(grouped);
}

static bool same(const struct group *a, const struct group *b)
{
	return a->code == b->code && a->tid == b->tid && a->cpu == b->cpu && a->pid == b->pid &&
	       a->comm == b->comm;
}

static size_t hash(const struct group *group)
{
	uint64_t hash = group->code | (uint64_t)group->cpu << 32;

	hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15ull;
	hash ^= group->tid + ((uint64_t)group->pid << 32) + (uintptr_t)group->comm;
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull;
	return (size_t)(hash >> 32);
}

static struct group *find(struct group *groups, size_t room, const struct group *group)
{
	size_t at = hash(group) & (room - 1);

	while (groups[at].known && !same(&groups[at], group))
		at = (at + 1) & (room - 1);
	return &groups[at];
}

static int grow(struct fkt_grouped *grouped)
{
	size_t room = 4 * grouped->room;
	struct group *larger = calloc(room, sizeof(*larger));

	if (!larger)
		return -ENOMEM;
	for (size_t i = 0; i < grouped->room; i++)
		if (grouped->group[i].known)
			*find(larger, room, &grouped->group[i]) = grouped->group[i];
	free(grouped->group);
	grouped->group = larger;
	grouped->room = room;
	return 0;
}

static bool uses(const struct fkt_grouped *grouped, unsigned int column)
{
	return fkt_want_uses(grouped->want, column);
}

/* Those of its columns that say something of who was current. */
static int set_thread(struct fkt_grouped *grouped, struct group *key)
{
	struct fkt_scan *scan = grouped->scan;
	const struct fkt_process *process;
	uint32_t id;

	if (uses(grouped, EVENT_TID))
		key->tid = scan->event.pid;
	if (!scan->processes)
		return 0;
	id = fkt_scan_thread(scan);
	process = fkt_process(scan->processes, id);
	if (uses(grouped, EVENT_PID))
		key->pid = process->tgid;
	if (uses(grouped, EVENT_PROCESS) && id) {
		key->comm = fkt_shared_comm(scan->shared, process->comm);
		if (!key->comm)
			return -ENOMEM;
	}
	return 0;
}

static int count(struct fkt_grouped *grouped)
{
	const uint32_t of_code = 1u << EVENT_CODE | 1u << EVENT_NAME | 1u << EVENT_LAYER |
				 1u << EVENT_KIND;
	const uint32_t of_thread = 1u << EVENT_TID | 1u << EVENT_PID | 1u << EVENT_PROCESS;
	const uint32_t used = grouped->want->used;
	struct fkt_scan *scan = grouped->scan;
	struct group *last = grouped->group, *found;
	int what, err;

	while ((what = fkt_scan_next(scan)) > 0) {
		struct group key = { .known = true };

		if (used & of_code)
			key.code = scan->event.code;
		if (used & 1u << EVENT_CPU)
			key.cpu = scan->event.cpu;
		if (used & of_thread) {
			err = set_thread(grouped, &key);
			if (err)
				return err;
		}
		found = last->known && same(last, &key) ? last
							: find(grouped->group, grouped->room, &key);
		last = found;
		if (!found->known) {
			*found = key;
			if (++grouped->groups > grouped->room / 2) {
				found->count++;
				err = grow(grouped);
				if (err)
					return err;
				last = grouped->group;
				continue;
			}
		}
		found->count++;
	}
	return what;
}

/* ---- in order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return compare_numbers(a != NULL, b != NULL);
	return strcmp(a, b);
}

static int compare_column(struct fkt_shared *shared, const struct group *a, const struct group *b,
			  int column)
{
	switch (column) {
	case EVENT_CPU:
		return compare_numbers(a->cpu, b->cpu);
	case EVENT_TID:
		return compare_numbers(a->tid + 1u, b->tid + 1u);
	case EVENT_PID:
		return compare_numbers(a->pid + 1u, b->pid + 1u);
	case EVENT_PROCESS:
		return compare_texts(a->comm, b->comm);
	case EVENT_CODE:
		return compare_numbers(a->code, b->code);
	case EVENT_NAME:
		return compare_texts(shared->code[a->code].name, shared->code[b->code].name);
	case EVENT_LAYER:
		return compare_texts(shared->code[a->code].layer, shared->code[b->code].layer);
	default:
		return compare_texts(shared->code[a->code].kind, shared->code[b->code].kind);
	}
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct fkt_grouped *grouped = arg;
	int order = 0;

	for (const signed char *column = grouped->want->group; !order && *column >= 0; column++) {
		order = compare_column(grouped->scan->shared, a, b, *column & ~FKT_GROUP_DOWN);
		if (*column & FKT_GROUP_DOWN)
			order = -order;
	}
	return order;
}

/* Those that there are, in order. */
static int sort(struct fkt_grouped *grouped)
{
	size_t n = 0;

	for (size_t i = 0; i < grouped->room; i++) {
		if (!grouped->group[i].known)
			continue;
		grouped->group[n] = grouped->group[i];
		/* Its texts have to be there. */
		if (!fkt_shared_code(grouped->scan->shared, grouped->group[n].code))
			return -ENOMEM;
		n++;
	}
	qsort_r(grouped->group, n, sizeof(*grouped->group), compare, grouped);
	grouped->groups = n;
	grouped->at = 0;
	grouped->left = n ? grouped->group[0].count : 0;
	return 0;
}

int fkt_grouped_next(struct fkt_grouped *grouped)
{
	int err;

	if (__builtin_expect(grouped->left > 1 && !grouped->want->distinct, 1)) {
		grouped->left--;
		return 1;
	}
	if (!grouped->counted) {
		grouped->counted = true;
		err = count(grouped) ?: sort(grouped);
		return err ?: grouped->groups != 0;
	}
	if (++grouped->at >= grouped->groups)
		return 0;
	grouped->left = grouped->group[grouped->at].count;
	return 1;
}

void fkt_grouped_column(struct fkt_grouped *grouped, sqlite3_context *context, unsigned int column)
{
	const struct group *group = &grouped->group[grouped->at];
	const struct fkt_code_info *info = &grouped->scan->shared->code[group->code];

	switch (column) {
	case EVENT_CPU:
		sqlite3_result_int(context, group->cpu);
		break;
	case EVENT_TID:
		fkt_result_pid(context, group->tid);
		break;
	case EVENT_PID:
		fkt_result_pid(context, group->pid);
		break;
	case EVENT_PROCESS:
		fkt_result_static(context, group->comm);
		break;
	case EVENT_CODE:
		sqlite3_result_int(context, (int)group->code);
		break;
	case EVENT_NAME:
		fkt_result_static(context, info->name);
		break;
	case EVENT_LAYER:
		fkt_result_static(context, info->layer);
		break;
	case EVENT_KIND:
		fkt_result_static(context, info->kind);
		break;
	}
}

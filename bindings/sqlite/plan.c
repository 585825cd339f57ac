// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which conditions are pushed down. The plan is text: two letters a condition, what it is on and
 * how it compares, in the order of the values; behind "/", the columns to group by, a letter each
 * from "A" on, small where the largest comes first, with "!" before them when equal rows may be
 * left out.
 *
 * SQLite looks at each condition once more: the rows that a table has need only be among others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fkt_sqlite.h"

/* By enum fkt_push. */
static const char push_letter[] = "?tseipdcn";

/* What is taken for the part of rows that a condition leaves, where its value does not say. */
#define PART_RANGE 0.25
#define PART_SET   0.02

/* What an event costs that is passed over, and a row. */
#define COST_EVENT 1.0
#define COST_ROW   5.0
/* Of reading what was before the part that is asked for. */
#define COST_SEEK  1000.0
#define COST_CALLS 1000000.0

static bool is_set_push(enum fkt_push push)
{
	return push >= FKT_PUSH_ID;
}

/* The letter of a comparison that can be pushed down, or 0. */
static char comparison(enum fkt_push push, unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return is_set_push(push) ? 0 : '>';
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return is_set_push(push) ? 0 : '<';
	}
	return 0;
}

/* ---- what it costs ---- */

/* The parts of a trace's time before which, and from which on, a condition leaves nothing. */
struct window {
	double from;
	double to;
	bool guessed_from;
	bool guessed_to;
};

static void narrow(struct window *window, const struct fkt_shared *shared, sqlite3_index_info *info,
		   int i, enum fkt_push push, char how)
{
	double length = (double)fkt_shared_span(shared, shared->last - shared->first), at;
	sqlite3_value *value = NULL;
	bool known = sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK && value &&
		     sqlite3_value_type(value) != SQLITE_NULL;

	if (!known || length <= 0) {
		window->guessed_from |= how != '<';
		window->guessed_to |= how != '>';
		return;
	}
	at = sqlite3_value_double(value);
	if (push == FKT_PUSH_STAMP)
		at = (at - (double)shared->first) / (double)(shared->last - shared->first);
	else
		at /= length;
	if (how != '<' && at > window->from)
		window->from = at > 1 ? 1 : at;
	if (how != '>' && at < window->to)
		window->to = at < 0 ? 0 : at;
}

static double window_part(const struct window *window)
{
	double part = window->to > window->from ? window->to - window->from : 0;

	if (window->guessed_from && window->guessed_to)
		part *= PART_RANGE * PART_RANGE / 16;
	else if (window->guessed_from || window->guessed_to)
		part *= PART_RANGE;
	return part;
}

static double set_part(const struct fkt_shared *shared, enum fkt_push push)
{
	if (push == FKT_PUSH_ID)
		return 0;
	return push == FKT_PUSH_CPU ? 1.0 / shared->cpus : PART_SET;
}

/* ---- to group by ---- */

/* Whether equal rows are to be together, and all that is asked for can be counted. */
static bool can_group(const struct fkt_column_info *columns, const sqlite3_index_info *info,
		      int distinct)
{
	if (distinct < 1 || !info->nOrderBy || info->nOrderBy > 16)
		return false;
	for (unsigned int i = 0; columns[i].name; i++)
		if (info->colUsed & 1ull << i && !columns[i].grouped)
			return false;
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].iColumn < 0 || !columns[info->aOrderBy[i].iColumn].grouped)
			return false;
	return true;
}

int fkt_plan(const struct fkt_table *table, const struct fkt_column_info *columns,
	     struct fkt_shared *shared, sqlite3_index_info *info)
{
	const int distinct = sqlite3_vtab_distinct(info);
	struct window begin = { .to = 1 }, end = { .to = 1 };
	double rows = shared->events * table->rows_per_event, read, part = 1, ends;
	bool grouped = can_group(columns, info, distinct), bounded = false, single = false;
	char *plan = sqlite3_malloc(2 * info->nConstraint + info->nOrderBy + 4), *to = plan;
	int values = 0;

	if (!plan)
		return SQLITE_NOMEM;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *one = &info->aConstraint[i];
		enum fkt_push push = one->iColumn < 0 ? FKT_PUSH_NONE : columns[one->iColumn].push;
		char how = comparison(push, one->op);

		if (push == FKT_PUSH_NONE || !how)
			continue;
		if (push == FKT_PUSH_NAME && strcmp(sqlite3_vtab_collation(info, i), "BINARY"))
			continue;
		if (!one->usable) {
			/* It can be in another order of the tables. */
			continue;
		}
		if (is_set_push(push)) {
			if (sqlite3_vtab_in(info, i, -1))
				sqlite3_vtab_in(info, i, 1);
			part *= set_part(shared, push);
			single |= push == FKT_PUSH_ID;
		} else {
			narrow(push == FKT_PUSH_END ? &end : &begin, shared, info, i, push, how);
			bounded = true;
		}
		*to++ = push_letter[push];
		*to++ = how;
		info->aConstraintUsage[i].argvIndex = ++values;
	}
	if (grouped) {
		*to++ = '/';
		if (distinct >= 2)
			*to++ = '!';
		for (int i = 0; i < info->nOrderBy; i++)
			*to++ = (char)((info->aOrderBy[i].desc ? 'a' : 'A') +
				       info->aOrderBy[i].iColumn);
		info->orderByConsumed = 1;
	}
	*to = '\0';
	ends = window_part(&end);
	read = window_part(&begin);
	if (ends < read)
		read = ends;
	if (!table->rows_per_event)
		rows = 1000;
	info->idxNum = (int)(uint32_t)info->colUsed;
	info->idxStr = plan;
	info->needToFreeIdxStr = 1;
	rows *= read * part;
	info->estimatedRows = single ? 1 : (sqlite3_int64)(rows < 2 ? 2 : rows);
	info->estimatedCost =
		single ? COST_SEEK
		       : shared->events * read * COST_EVENT + rows * COST_ROW + COST_SEEK;
	/* Those that follow calls look back. */
	if (bounded && table->columns[0].push != FKT_PUSH_ID && table->rows_per_event)
		info->estimatedCost += COST_CALLS < shared->events ? COST_CALLS : shared->events;
	if (!table->rows_per_event)
		info->estimatedCost = rows;
	return SQLITE_OK;
}

/* ---- what was planned ---- */

bool fkt_want_name(const struct fkt_want *want, const char *name)
{
	for (char **one = want->names; one && *one; one++)
		if (!strcmp(*one, name))
			return true;
	return !want->names;
}

void fkt_want_free(struct fkt_want *want)
{
	for (char **one = want->names; one && *one; one++)
		free(*one);
	free(want->names);
	free((void *)want->group);
	want->names = NULL;
	want->group = NULL;
}

/* Numbers that are whole; of others, everything is wanted. */
static void add_number(struct fkt_set *set, sqlite3_value *value, bool *whole)
{
	if (sqlite3_value_type(value) != SQLITE_INTEGER || set->count == FKT_SET_MAX) {
		*whole = false;
		return;
	}
	set->number[set->count++] = sqlite3_value_int64(value);
}

static void read_set(struct fkt_set *set, sqlite3_value *value)
{
	struct fkt_set read = { 0 };
	sqlite3_value *one;
	bool whole = true;
	int rc;

	/* Of two conditions on the same column, the first one will do. */
	if (!set->any)
		return;
	rc = sqlite3_vtab_in_first(value, &one);
	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		add_number(&read, value, &whole);
	for (; whole && rc == SQLITE_OK; rc = sqlite3_vtab_in_next(value, &one))
		add_number(&read, one, &whole);
	if (whole)
		*set = read;
}

static bool add_name(char **names, unsigned int *count, sqlite3_value *value, bool *whole)
{
	const char *text = (const char *)sqlite3_value_text(value);

	if (sqlite3_value_type(value) != SQLITE_TEXT || *count == FKT_SET_MAX) {
		*whole = false;
		return true;
	}
	names[*count] = text ? strdup(text) : NULL;
	return names[(*count)++];
}

static bool read_names(struct fkt_want *want, sqlite3_value *value)
{
	struct fkt_want read = { 0 };
	bool whole = true, ok = true;
	unsigned int count = 0;
	sqlite3_value *one;
	int rc;

	if (want->names)
		return true;
	read.names = calloc(FKT_SET_MAX + 1, sizeof(*read.names));
	if (!read.names)
		return false;
	rc = sqlite3_vtab_in_first(value, &one);
	if (rc != SQLITE_OK && rc != SQLITE_DONE)
		ok = add_name(read.names, &count, value, &whole);
	for (; ok && whole && rc == SQLITE_OK; rc = sqlite3_vtab_in_next(value, &one))
		ok = add_name(read.names, &count, one, &whole);
	if (whole && ok)
		want->names = read.names;
	else
		fkt_want_free(&read);
	return ok;
}

/* A number as the whole one before it or after it. False: it is none. */
static bool read_bound(sqlite3_value *value, bool up, int64_t *number)
{
	double real;

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		*number = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = sqlite3_value_double(value);
		real = up ? ceil(real) : floor(real);
		if (real >= 9.2e18)
			*number = INT64_MAX;
		else
			*number = real <= -9.2e18 ? INT64_MIN : (int64_t)real;
		return true;
	}
	return false;
}

static void read_time(const struct fkt_shared *shared, sqlite3_value *value, bool is_stamp,
		      char how, uint64_t *from, uint64_t *to)
{
	uint64_t stamp;
	int64_t bound;

	if (how != '<' && read_bound(value, false, &bound)) {
		if (is_stamp)
			stamp = bound > 0 ? (uint64_t)bound : 0;
		else
			stamp = fkt_shared_stamp(shared, bound);
		if (stamp > *from)
			*from = stamp;
	}
	if (how != '>' && read_bound(value, true, &bound)) {
		/* Stamps are shown as signed numbers: beyond those, anything may be. */
		if (is_stamp)
			stamp = bound >= 0 ? (uint64_t)bound : UINT64_MAX;
		else if (bound < 0 || bound == INT64_MAX)
			stamp = bound < 0 ? shared->first : UINT64_MAX;
		else
			stamp = fkt_shared_stamp(shared, bound + 1);
		if (stamp < *to)
			*to = stamp;
	}
}

static bool read_group(struct fkt_want *want, const char *plan)
{
	signed char *group = malloc(strlen(plan) + 1);
	unsigned int n = 0;

	if (!group)
		return false;
	if (*plan == '!')
		want->distinct = true;
	for (plan += *plan == '!'; *plan; plan++)
		group[n++] =
			(signed char)(*plan >= 'a' ? FKT_GROUP_DOWN | (*plan - 'a') : *plan - 'A');
	group[n] = -1;
	want->group = group;
	return true;
}

int fkt_want_read(struct fkt_want *want, const struct fkt_shared *shared, int number,
		  const char *plan, sqlite3_value **values, int count)
{
	struct fkt_set *const sets[] = {
		[FKT_PUSH_ID] = &want->id,
		[FKT_PUSH_CPU] = &want->cpu,
		[FKT_PUSH_TID] = &want->tid,
		[FKT_PUSH_CODE] = &want->code,
	};
	enum fkt_push push;
	bool ok = true;

	*want = (struct fkt_want){ .used = (uint32_t)number,
				   .to = UINT64_MAX,
				   .end_to = UINT64_MAX };
	want->id.any = want->cpu.any = want->tid.any = want->code.any = true;
	for (int i = 0; ok && i < count; i++, plan += 2) {
		push = (enum fkt_push)(strchr(push_letter, plan[0]) - push_letter);
		if (push == FKT_PUSH_NAME)
			ok = read_names(want, values[i]);
		else if (is_set_push(push))
			read_set(sets[push], values[i]);
		else if (push == FKT_PUSH_END)
			read_time(shared, values[i], false, plan[1], &want->end_from,
				  &want->end_to);
		else
			read_time(shared, values[i], push == FKT_PUSH_STAMP, plan[1], &want->from,
				  &want->to);
	}
	if (ok && *plan == '/')
		ok = read_group(want, plan + 1);
	if (!ok)
		fkt_want_free(want);
	return ok ? SQLITE_OK : SQLITE_NOMEM;
}

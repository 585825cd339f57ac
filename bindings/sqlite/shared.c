// SPDX-License-Identifier: LGPL-2.1-or-later
/* A trace as all tables of it have it: opened once, with names that stay where they are. */
#include <stdlib.h>
#include <string.h>

#include "fkt_sqlite.h"

/* Names that the trace's names have in common with none: there are few, but a hostile trace's. */
#define COMMS_MAX 0x100000u

struct comm {
	struct comm *next;
	char text[FKT_COMM_BYTES + 1];
};

struct fkt_interned {
	uint32_t count;
	struct comm *bucket[4096];
};

static void free_shared(struct fkt_shared *shared)
{
	struct comm *comm;

	for (uint32_t i = 0; shared->code && i < FKT_SLOT_CODES; i++)
		free((char *)shared->code[i].name);
	for (uint32_t i = 0; shared->row && i < FKT_ROWS; i++)
		free((char *)shared->row[i]);
	for (uint32_t i = 0; shared->comms && i < 4096; i++)
		while ((comm = shared->comms->bucket[i])) {
			shared->comms->bucket[i] = comm->next;
			free(comm);
		}
	fkt_sums_free(shared->sums);
	free(shared->comms);
	free(shared->code);
	free(shared->row);
	free(shared->path);
	fkt_close(shared->trace);
	free(shared);
}

bool fkt_shared_interrupted(const struct fkt_shared *shared)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(shared->db, "SELECT 1", -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	sqlite3_finalize(statement);
	return rc == SQLITE_INTERRUPT;
}

/* How many events, and CPUs: for estimates. */
static void estimate(struct fkt_shared *shared)
{
	const struct fkt_lane_totals *totals;

	for (size_t i = 0; (totals = fkt_lane_totals(shared->trace, i)); i++)
		shared->events += (double)totals->events;
	if (shared->events < 1)
		shared->events = 1000000;
	shared->cpus = fkt_header(shared->trace)->lanes;
	if (shared->cpus < 2)
		shared->cpus = 8;
}

struct fkt_shared *fkt_shared_get(struct fkt_shared **list, sqlite3 *db, const char *path,
				  char **error)
{
	char sentence[FKT_ERROR_BYTES];
	struct fkt_shared *shared;

	for (shared = *list; shared; shared = shared->next)
		if (!strcmp(shared->path, path)) {
			shared->refs++;
			return shared;
		}
	shared = calloc(1, sizeof(*shared));
	if (!shared)
		goto out_memory;
	shared->refs = 1;
	shared->db = db;
	shared->path = strdup(path);
	shared->code = calloc(FKT_SLOT_CODES, sizeof(*shared->code));
	shared->row = calloc(FKT_ROWS, sizeof(*shared->row));
	shared->comms = calloc(1, sizeof(*shared->comms));
	if (!shared->path || !shared->code || !shared->row || !shared->comms)
		goto out_memory;
	/* What can be read only once can't be asked twice. */
	shared->trace = strcmp(path, "-") ? fkt_open(path, NULL, NULL, sentence) : NULL;
	if (!shared->trace) {
		*error = strcmp(path, "-") ? sqlite3_mprintf("%s: %s", path, sentence)
					   : sqlite3_mprintf("a trace is read from a file, not "
							     "from standard input");
		free_shared(shared);
		return NULL;
	}
	shared->has_events = fkt_span(shared->trace, &shared->first, &shared->last);
	estimate(shared);
	shared->next = *list;
	*list = shared;
	return shared;
out_memory:
	if (shared)
		free_shared(shared);
	*error = NULL;
	return NULL;
}

void fkt_shared_put(struct fkt_shared **list, struct fkt_shared *shared)
{
	if (--shared->refs)
		return;
	while (*list != shared)
		list = &(*list)->next;
	*list = shared->next;
	free_shared(shared);
}

int64_t fkt_shared_span(const struct fkt_shared *shared, uint64_t cycles)
{
	if (!fkt_has_clock(shared->trace))
		return (int64_t)cycles;
	return fkt_cycles_to_ns(shared->trace, (int64_t)cycles);
}

int64_t fkt_shared_time(const struct fkt_shared *shared, uint64_t stamp)
{
	return fkt_shared_span(shared, stamp - shared->first);
}

uint64_t fkt_shared_stamp(const struct fkt_shared *shared, int64_t time)
{
	uint64_t cycles = (uint64_t)time;

	if (time <= 0)
		return 0;
	if (fkt_has_clock(shared->trace))
		cycles = fkt_ns_to_cycles(shared->trace, (uint64_t)time);
	return cycles < UINT64_MAX - shared->first ? shared->first + cycles : UINT64_MAX;
}

const struct fkt_code_info *fkt_shared_code(struct fkt_shared *shared, uint32_t code)
{
	static const char *const kinds[] = {
#define X(NAME, name) [FKT_KIND_##NAME] = name,
		FKT_KINDS(X)
#undef X
	};
	struct fkt_code_info *info = &shared->code[code];
	const struct fkt_code_row *row;
	char name[FKT_NAME_BYTES];

	if (__builtin_expect(info->name != NULL, 1))
		return info;
	row = fkt_code_row(shared->trace, code);
	info->layer = row ? row->layer : "";
	info->kind = row && row->kind < sizeof(kinds) / sizeof(*kinds) ? kinds[row->kind] : "point";
	fkt_code_name(shared->trace, code, name);
	info->name = strdup(name);
	return info->name ? info : NULL;
}

const char *fkt_shared_row(struct fkt_shared *shared, uint32_t row)
{
	char name[FKT_NAME_BYTES];

	if (!shared->row[row]) {
		fkt_row_name(shared->trace, row, name);
		shared->row[row] = strdup(name);
	}
	return shared->row[row];
}

const char *fkt_shared_comm(struct fkt_shared *shared, const char *text)
{
	uint32_t hash = 5381;
	struct comm **link, *comm;

	for (const char *c = text; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	link = &shared->comms->bucket[(hash ^ hash >> 12) % 4096];
	for (; (comm = *link); link = &comm->next)
		if (!strcmp(comm->text, text))
			return comm->text;
	if (shared->comms->count >= COMMS_MAX)
		return NULL;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return NULL;
	shared->comms->count++;
	strncpy(comm->text, text, FKT_COMM_BYTES);
	*link = comm;
	return comm->text;
}

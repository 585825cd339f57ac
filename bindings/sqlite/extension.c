// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What SQLite calls: the module of all tables, and
 *
 *	SELECT fkt_open('trace');		tables and views of a trace, in temp
 *	SELECT fkt_open('trace', 'before');	the same as before.events and so on
 */
#define FKT_SQLITE_MAIN
#include "fkt_sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "trace/internal.h"

/**
 * struct fkt_db - what a connection has
 * @refs: the module and the functions
 * @shared: its traces
 */
struct fkt_db {
	unsigned int refs;
	struct fkt_shared *shared;
};

/* More than any table has, with what counters have counted. */
#define COLUMNS_MAX 32
#define OWN	    "own_"

/* The name of a counter's column, and room to make it another one. */
struct counter_name {
	char text[sizeof(OWN) + FKT_COUNTER_BYTES + COLUMNS_MAX];
};

/**
 * struct vtab - a table of a trace
 * @base: SQLite's
 * @db: the connection
 * @table: what it is
 * @shared: the trace
 * @columns: the table's, and those of counters
 * @counter: their names
 */
struct vtab {
	sqlite3_vtab base;
	struct fkt_db *db;
	const struct fkt_table *table;
	struct fkt_shared *shared;
	struct fkt_column_info columns[COLUMNS_MAX + 1];
	struct counter_name counter[2 * FKT_COUNTERS_MAX];
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct fkt_table *table;
	struct fkt_want want;
	void *rows; /* NULL: not begun */
	bool end;
};

static const struct fkt_table *const tables[] = {
#define X(name) &fkt_table_##name,
	FKT_TABLES(X)
#undef X
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

/* ---- the module ---- */

/* What stands in quotes, or without them. */
static char *unquote(const char *text)
{
	char *copy = sqlite3_mprintf("%s", text), *to = copy, quote;

	if (!copy || (*copy != '\'' && *copy != '"'))
		return copy;
	quote = *copy;
	for (const char *from = copy + 1; *from; from++) {
		if (*from == quote && *++from != quote)
			break;
		*to++ = *from;
	}
	*to = '\0';
	return copy;
}

static const struct fkt_table *find_table(const char *name)
{
	for (size_t i = 0; i < TABLES; i++)
		if (!sqlite3_stricmp(tables[i]->name, name))
			return tables[i];
	return NULL;
}

static bool has_column(const struct vtab *vtab, const char *name)
{
	for (const struct fkt_column_info *column = vtab->columns; column->name; column++)
		if (!sqlite3_stricmp(column->name, name))
			return true;
	return false;
}

static void add_column(struct vtab *vtab, unsigned int at, struct counter_name *name)
{
	/* A trace may call its counters whatever it likes. */
	while (has_column(vtab, name->text))
		strcat(name->text, "_");
	vtab->columns[at] = (struct fkt_column_info){ name->text, "INTEGER", FKT_PUSH_NONE, false };
}

static void make_columns(struct vtab *vtab)
{
	const enum fkt_counted counted = vtab->table->counted;
	struct counter_name *name = vtab->counter;
	char key[FKT_COUNTER_BYTES];
	unsigned int at;

	for (at = 0; vtab->table->columns[at].name; at++)
		vtab->columns[at] = vtab->table->columns[at];
	for (unsigned int own = counted != FKT_COUNTED_BOTH; counted && own < 2; own++)
		for (unsigned int i = 0; i < fkt_counters(vtab->shared->trace); i++) {
			fkt_counter_key(vtab->shared->trace, i, key);
			snprintf(name->text, sizeof(name->text), "%s%s", own ? OWN : "", key);
			add_column(vtab, at++, name++);
		}
}

static int declare(sqlite3 *db, const struct vtab *vtab)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int rc;

	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (const struct fkt_column_info *column = vtab->columns; column->name; column++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", column == vtab->columns ? "" : ", ",
				    column->name, column->type);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	return rc;
}

/* CREATE VIRTUAL TABLE … USING fkt('trace', events); without the latter, by the table's own name */
static int vtab_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **vtab, char **error)
{
	const struct fkt_table *table;
	struct fkt_db *own = aux;
	char *path = NULL, *name = NULL;
	struct vtab *made = NULL;
	int rc = SQLITE_ERROR;

	if (argc < 4 || argc > 5) {
		*error = sqlite3_mprintf("fkt('TRACE', TABLE): which trace?");
		return SQLITE_ERROR;
	}
	path = unquote(argv[3]);
	name = unquote(argv[argc == 5 ? 4 : 2]);
	table = name ? find_table(name) : NULL;
	made = sqlite3_malloc(sizeof(*made));
	if (!path || !name || !made) {
		rc = SQLITE_NOMEM;
		goto out_free;
	}
	if (!table) {
		*error = sqlite3_mprintf("there is no table \"%s\" in a trace", name);
		goto out_free;
	}
	*made = (struct vtab){ .db = own, .table = table };
	made->shared = fkt_shared_get(&own->shared, db, path, error);
	if (!made->shared) {
		rc = *error ? SQLITE_ERROR : SQLITE_NOMEM;
		goto out_free;
	}
	make_columns(made);
	rc = declare(db, made);
	if (rc != SQLITE_OK) {
		fkt_shared_put(&own->shared, made->shared);
		goto out_free;
	}
	own->refs++;
	*vtab = &made->base;
	made = NULL;
out_free:
	sqlite3_free(made);
	sqlite3_free(path);
	sqlite3_free(name);
	return rc;
}

static void put_db(void *arg)
{
	struct fkt_db *db = arg;

	if (!--db->refs)
		sqlite3_free(db);
}

static int vtab_disconnect(sqlite3_vtab *base)
{
	struct vtab *vtab = (struct vtab *)base;

	fkt_shared_put(&vtab->db->shared, vtab->shared);
	put_db(vtab->db);
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int vtab_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct vtab *vtab = (struct vtab *)base;

	return fkt_plan(vtab->table, vtab->columns, vtab->shared, info);
}

static int vtab_open(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor)
{
	struct cursor *made = sqlite3_malloc(sizeof(*made));

	if (!made)
		return SQLITE_NOMEM;
	*made = (struct cursor){ .table = ((struct vtab *)base)->table };
	*cursor = &made->base;
	return SQLITE_OK;
}

static void rewind_cursor(struct cursor *cursor)
{
	cursor->table->free(cursor->rows);
	cursor->rows = NULL;
	fkt_want_free(&cursor->want);
}

static int vtab_close(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	rewind_cursor(cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int vtab_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	int more = cursor->table->next(cursor->rows);

	cursor->end = more <= 0;
	if (more >= 0)
		return SQLITE_OK;
	if (more == -EINTR)
		return SQLITE_INTERRUPT;
	return more == -ENOMEM ? SQLITE_NOMEM : SQLITE_IOERR;
}

static int vtab_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		       sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	struct fkt_shared *shared = ((struct vtab *)base->pVtab)->shared;
	int rc;

	rewind_cursor(cursor);
	rc = fkt_want_read(&cursor->want, shared, number, plan, argv, argc);
	if (rc != SQLITE_OK)
		return rc;
	cursor->rows = cursor->table->open(shared, &cursor->want);
	return cursor->rows ? vtab_next(base) : SQLITE_NOMEM;
}

static int vtab_eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->end;
}

static int vtab_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->table->column(cursor->rows, context, (unsigned int)column);
	return SQLITE_OK;
}

static int vtab_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	struct cursor *cursor = (struct cursor *)base;

	*id = cursor->table->id(cursor->rows);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xCreate = vtab_connect,
	.xConnect = vtab_connect,
	.xBestIndex = vtab_best_index,
	.xDisconnect = vtab_disconnect,
	.xDestroy = vtab_disconnect,
	.xOpen = vtab_open,
	.xClose = vtab_close,
	.xFilter = vtab_filter,
	.xNext = vtab_next,
	.xEof = vtab_eof,
	.xColumn = vtab_column,
	.xRowid = vtab_rowid,
};

/* ---- all tables of a trace ---- */

static int run(sqlite3 *db, char *sql, char **error)
{
	int rc;

	if (!sql)
		return SQLITE_NOMEM;
	sqlite3_free(*error);
	*error = NULL;
	rc = sqlite3_exec(db, sql, NULL, NULL, error);
	sqlite3_free(sql);
	return rc;
}

static bool has_schema(sqlite3 *db, const char *schema)
{
	const char *name;

	for (int i = 0; (name = sqlite3_db_name(db, i)); i++)
		if (!sqlite3_stricmp(name, schema))
			return true;
	return !sqlite3_stricmp(schema, "temp");
}

/* Those of a trace that was opened before; other tables of these names are left alone. */
static int drop_all(sqlite3 *db, const char *schema, char **error)
{
	sqlite3_stmt *is_ours = NULL;
	bool ours = false;
	char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_schema WHERE name = 'events' AND "
				    "sql LIKE 'CREATE VIRTUAL TABLE %% USING fkt(%%'",
				    schema);
	int rc = sql ? sqlite3_prepare_v2(db, sql, -1, &is_ours, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (rc == SQLITE_OK)
		ours = sqlite3_step(is_ours) == SQLITE_ROW;
	sqlite3_finalize(is_ours);
	for (size_t i = 0; ours && rc == SQLITE_OK && fkt_view_names[i]; i++)
		rc = run(db,
			 sqlite3_mprintf("DROP VIEW IF EXISTS \"%w\".%s", schema,
					 fkt_view_names[i]),
			 error);
	for (size_t i = 0; ours && rc == SQLITE_OK && i < TABLES; i++)
		rc = run(db,
			 sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\".%s", schema, tables[i]->name),
			 error);
	return rc;
}

int fkt_attach(sqlite3 *db, const char *path, const char *schema, char **error)
{
	int rc = SQLITE_OK;

	*error = NULL;
	if (!has_schema(db, schema))
		rc = run(db, sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", schema), error);
	else
		rc = drop_all(db, schema, error);
	for (size_t i = 0; rc == SQLITE_OK && i < TABLES; i++)
		rc = run(db,
			 sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".%s USING fkt(%Q, %s)", schema,
					 tables[i]->name, path, tables[i]->name),
			 error);
	for (size_t i = 0; rc == SQLITE_OK && fkt_views[i]; i++)
		rc = run(db, sqlite3_mprintf(fkt_views[i], schema), error);
	return rc;
}

static void sql_open(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *schema = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : "temp";
	char *error = NULL;
	int rc;

	if (!path || !schema) {
		sqlite3_result_error(context, "fkt_open('TRACE'): which trace?", -1);
		return;
	}
	rc = fkt_attach(sqlite3_context_db_handle(context), path, schema, &error);
	if (error)
		sqlite3_result_error(context, error, -1);
	else if (rc != SQLITE_OK)
		sqlite3_result_error_code(context, rc);
	else
		sqlite3_result_text(context, path, -1, SQLITE_TRANSIENT);
	sqlite3_free(error);
}

__attribute__((visibility("default"))) int sqlite3_fktsqlite_init(sqlite3 *db, char **error,
								  const sqlite3_api_routines *api)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	struct fkt_db *own;
	int rc;

	SQLITE_EXTENSION_INIT2(api);
	/* xBestIndex asks what is older versions do not know. */
	if (sqlite3_libversion_number() < 3038000) {
		*error = sqlite3_mprintf("fkt_sqlite: SQLite 3.38 or later is needed, not %s",
					 sqlite3_libversion());
		return SQLITE_ERROR;
	}
	own = sqlite3_malloc(sizeof(*own));
	if (!own)
		return SQLITE_NOMEM;
	*own = (struct fkt_db){ .refs = 1 };
	rc = sqlite3_create_module_v2(db, "fkt", &module, own, put_db);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db, "fkt_open", 1, flags, NULL, sql_open, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(db, "fkt_open", 2, flags, NULL, sql_open, NULL, NULL);
	return rc;
}

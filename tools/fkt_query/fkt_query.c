// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_query: ask a trace in SQL. The trace's tables are virtual ones (bindings/sqlite): nothing is
 * imported, and nothing is written but temporary tables.
 */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/config.h"
#include "common/distance.h"
#include "../../bindings/sqlite/attach.h"
#include "common/help.h"
#include "common/missing.h"
#include "common/width.h"
#include "query.h"

#define ALSO_MAX      16
/* With --bounded. */
#define BOUNDED_VALUE (1 << 20)
#define BOUNDED_HEAP  (256 << 20)

enum {
	OPTION_FORMAT = 256,
	OPTION_TABLES,
	OPTION_ALSO,
	OPTION_BOUNDED,
};

/* Another trace, and the name of its tables' schema. */
struct also {
	char *name;
	const char *path;
};

struct options {
	const char *path;
	const char **sql;
	unsigned int count;
	bool tables;
	bool bounded;
	const struct fkt_format *format;
	struct also also[ALSO_MAX];
	unsigned int alsos;
};

const char *argp_program_version = "fkt_query (FKT) " FKT_RELEASE;

static sqlite3 *database;

static const struct argp_option argp_options[] = {
	{ "format", OPTION_FORMAT, "FORMAT", 0, "text, csv or json (a line each); default text",
	  0 },
	{ "tables", OPTION_TABLES, NULL, 0, "List the tables with their columns", 0 },
	{ "bounded", OPTION_BOUNDED, NULL, 0,
	  "One SELECT that does no more than read, within bounds of memory and no file: for SQL "
	  "that somebody else has written",
	  0 },
	{ "also", OPTION_ALSO, "NAME=FILE", 0, "Another trace, as NAME.events and so on", 0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static void add_also(struct argp_state *state, struct options *options, char *arg)
{
	struct also *also = &options->also[options->alsos];
	char *equals = strchr(arg, '=');

	if (options->alsos == ALSO_MAX)
		argp_error(state, "--also: no more than %d traces", ALSO_MAX);
	if (!equals || equals == arg || !equals[1])
		argp_error(state, "--also=%s: it takes NAME=FILE", arg);
	also->name = strndup(arg, (size_t)(equals - arg));
	also->path = equals + 1;
	if (!also->name)
		argp_failure(state, 1, ENOMEM, "--also");
	if (!sqlite3_stricmp(also->name, "main") || !sqlite3_stricmp(also->name, "temp"))
		argp_error(state, "--also=%s: SQLite has other things of that name", arg);
	options->alsos++;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char meant[FKT_MEANT_BYTES];

	switch (key) {
	case OPTION_FORMAT:
		options->format = fkt_format_find(strcmp(arg, "text") ? arg : "plain");
		if (!options->format)
			options->format = fkt_format_find(arg);
		if (!options->format)
			argp_error(state, "--format=%s: text, csv or json%s", arg,
				   fkt_format_meant(arg, meant));
		return 0;
	case OPTION_TABLES:
		options->tables = true;
		return 0;
	case OPTION_BOUNDED:
		options->bounded = true;
		return 0;
	case OPTION_ALSO:
		add_also(state, options, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (!options->path)
			options->path = arg;
		else
			options->sql[options->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->path)
			argp_error(state, "which TRACE?");
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "TRACE [SQL...]",
	.doc = "Ask a trace in SQL (SQLite's)."
	       "\vWithout SQL, it is read from standard input. Times are nanoseconds since the "
	       "first event. Tables and columns: --tables, fkt_query(1). The exit status is 1 when "
	       "a statement fails, or TRACE cannot be read.",
};

static void complain(const char *what, const char *sentence)
{
	fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, what, *what ? ": " : "",
		sentence);
}

/* ---- what SQL may do ---- */

static bool is_temp(const char *schema)
{
	return schema && !strcmp(schema, "temp");
}

/*
 * It reads traces, and makes temporary tables, if it is not bounded: no files, no other traces, no
 * settings.
 */
static int authorize(void *arg, int action, const char *a, const char *b, const char *schema,
		     const char *inner)
{
	const struct options *options = arg;
	static const char *const pragmas[] = {
		"table_info",  "table_xinfo",	 "table_list",	  "function_list",   "module_list",
		"pragma_list", "collation_list", "database_list", "compile_options",
	};

	(void)inner;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_VIEW:
		return options->bounded ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && (!sqlite3_stricmp(b, "load_extension") ||
			     !sqlite3_stricmp(b, "fkt_open"))
			       ? SQLITE_DENY
			       : SQLITE_OK;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_REINDEX:
		return is_temp(schema) && !options->bounded ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_PRAGMA:
		for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
			if (a && !sqlite3_stricmp(a, pragmas[i]))
				return SQLITE_OK;
		return SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* The second time, the program ends. */
static void interrupt(int number)
{
	signal(number, SIG_DFL);
	sqlite3_interrupt(database);
}

static bool attach(const char *path, const char *schema)
{
	char *error = NULL;
	int rc = fkt_attach(database, path, schema, &error);

	if (rc == SQLITE_OK)
		return true;
	complain("", error ?: sqlite3_errstr(rc));
	sqlite3_free(error);
	return false;
}

static void warn(void *arg, const char *sentence)
{
	selection_complain(arg, sentence);
}

static void ignore(void *arg, const char *sentence)
{
	(void)arg;
	(void)sentence;
}

/* What a trace says without being read through; where events were lost, losses has. */
static void tell_lost(const struct selection *selection, const struct fkt_trace *trace)
{
	const struct fkt_lane_totals *totals;
	char text[FKT_ERROR_BYTES];
	uint64_t lost = 0;

	for (size_t i = 0; (totals = fkt_lane_totals(trace, i)); i++)
		lost += totals->lost;
	if (!fkt_is_complete(trace))
		selection_complain(selection,
				   "the recording was cut off, or its footer is damaged; the "
				   "tables have what is there");
	if (!lost)
		return;
	snprintf(text, sizeof(text),
		 "%" PRIu64 " event%s lost while it was recorded; the table losses says where",
		 lost, lost == 1 ? " was" : "s were");
	selection_complain(selection, text);
}

/* Of a ring, some CPUs have more than others. */
static void tell_overwritten(const struct selection *selection, struct fkt_trace *trace)
{
	const uint64_t from = selection_complete_from(trace);
	char text[FKT_ERROR_BYTES];
	uint64_t first, last;

	if (!from || !fkt_span(trace, &first, &last))
		return;
	snprintf(text, sizeof(text),
		 "before time %" PRId64
		 ", there is only what some CPUs have; of others, events were overwritten",
		 fkt_has_clock(trace) ? fkt_cycles_to_ns(trace, (int64_t)(from - first))
				      : (int64_t)(from - first));
	selection_complain(selection, text);
}

/*
 * What the tables lack of a trace. Whoever asks within bounds gets rows for others, who know the
 * trace: no more is said there than what no table has.
 */
static void tell_missing(const char *path, bool bounded)
{
	struct selection selection = SELECTION_NONE;
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;

	selection.path = path;
	trace = fkt_open(path, bounded ? ignore : warn, &selection, error);
	if (!trace)
		return;
	if (!bounded) {
		tell_lost(&selection, trace);
		tell_overwritten(&selection, trace);
	}
	missing_tell_short_calls(&selection, trace);
	fkt_close(trace);
}

/* Before there are tables: where they are kept can't be changed afterwards. */
static void set_bounds(void)
{
	sqlite3_exec(database, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	sqlite3_hard_heap_limit64(BOUNDED_HEAP);
	sqlite3_limit(database, SQLITE_LIMIT_LENGTH, BOUNDED_VALUE);
	sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
}

static bool open_all(struct options *options)
{
	int rc;

	sqlite3_auto_extension((void (*)(void))sqlite3_fktsqlite_init);
	rc = sqlite3_open(":memory:", &database);
	if (rc != SQLITE_OK) {
		complain("SQLite", sqlite3_errstr(rc));
		return false;
	}
	if (options->bounded)
		set_bounds();
	if (!attach(options->path, "temp"))
		return false;
	for (unsigned int i = 0; i < options->alsos; i++)
		if (!attach(options->also[i].path, options->also[i].name))
			return false;
	tell_missing(options->path, options->bounded);
	for (unsigned int i = 0; i < options->alsos; i++)
		tell_missing(options->also[i].path, options->bounded);
	/* SQLite makes this table when it is used first, which later would not be let through. */
	sqlite3_exec(database, "SELECT 1 FROM pragma_table_info('events')", NULL, NULL, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_set_authorizer(database, authorize, options);
	signal(SIGINT, interrupt);
	return true;
}

/* ---- tables and columns ---- */

/* The names of tables and views, and their columns, up to the end of the query. */
static const char list_sql[] = "SELECT m.type, m.name, group_concat(c.name, ', ') AS columns"
			       " FROM temp.sqlite_schema m, pragma_table_info(m.name, 'temp') c"
			       " WHERE m.type IN ('table', 'view')"
			       " GROUP BY m.type, m.name ORDER BY m.type, min(m.rowid)";

/* Lines with what is longer than the terminal is wide broken between columns. */
static void print_table(struct fkt_output *out, const char *name, const char *columns)
{
	char *text = NULL;

	if (asprintf(&text, "%-14s %s\n", name, columns) < 0)
		return;
	fkt_print_wrapped(out, text, 15);
	free(text);
}

static int list_tables(const struct options *options, struct fkt_output *out)
{
	sqlite3_stmt *statement = NULL;
	bool views = false;
	int rc = sqlite3_prepare_v2(database, list_sql, -1, &statement, NULL);

	if (rc == SQLITE_OK && !fkt_format_for_people(options->format))
		rc = print_rows(out, statement, true);
	while (fkt_format_for_people(options->format) && statement &&
	       (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!views && !strcmp((const char *)sqlite3_column_text(statement, 0), "view")) {
			views = true;
			fputs("\nViews, made of these:\n", out->file);
		}
		print_table(out, (const char *)sqlite3_column_text(statement, 1),
			    (const char *)sqlite3_column_text(statement, 2));
	}
	sqlite3_finalize(statement);
	if (rc == SQLITE_DONE)
		return 0;
	complain("", sqlite3_errmsg(database));
	return 1;
}

static bool has_word(const char *text, const char *word)
{
	size_t bytes = strlen(word);

	for (const char *at = text; (at = strcasestr(at, word)); at++)
		if ((at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) &&
		    !isalnum((unsigned char)at[bytes]) && at[bytes] != '_')
			return true;
	return false;
}

/* What there is in the place of what there is not. */
static void suggest(const char *error, const char *sql)
{
	bool column = !strncmp(error, "no such column", 14);
	bool table = !strncmp(error, "no such table", 13);
	struct fkt_output out = { .file = stderr, .format = fkt_format(0) };
	sqlite3_stmt *statement = NULL;
	const char *name;

	if ((!column && !table) ||
	    sqlite3_prepare_v2(database, list_sql, -1, &statement, NULL) != SQLITE_OK)
		return;
	if (table)
		fputs("There are:", stderr);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		name = (const char *)sqlite3_column_text(statement, 1);
		if (table)
			fprintf(stderr, " %s", name);
		else if (has_word(sql, name))
			print_table(&out, name, (const char *)sqlite3_column_text(statement, 2));
	}
	if (table)
		fputc('\n', stderr);
	sqlite3_finalize(statement);
}

/* ---- statements ---- */

static int run_sql(struct fkt_output *out, const char *sql, bool *first)
{
	sqlite3_stmt *statement;
	const char *rest;
	int rc;

	for (; *sql; sql = rest) {
		statement = NULL;
		rc = sqlite3_prepare_v2(database, sql, -1, &statement, &rest);
		if (rc == SQLITE_OK && statement) {
			rc = print_rows(out, statement, *first);
			*first &= !sqlite3_column_count(statement);
		}
		if (rc != SQLITE_OK && rc != SQLITE_DONE) {
			char *error = strdup(sqlite3_errmsg(database));

			sqlite3_finalize(statement);
			/* It has words of the statement in it, which may be somebody else's. */
			if (error)
				fkt_sanitize(error);
			fflush(out->file);
			/* Whoever reads it has seen enough. */
			if (!ferror(out->file))
				complain("", error ?: "out of memory");
			if (error && !ferror(out->file))
				suggest(error, sql);
			free(error);
			return 1;
		}
		sqlite3_finalize(statement);
	}
	return 0;
}

static char *read_input(void)
{
	size_t room = 4096, bytes = 0, got;
	char *text = malloc(room), *larger;

	while (text && (got = fread(text + bytes, 1, room - bytes - 1, stdin))) {
		bytes += got;
		if (bytes < room - 1)
			continue;
		room *= 2;
		larger = realloc(text, room);
		if (!larger)
			free(text);
		text = larger;
	}
	if (text)
		text[bytes] = '\0';
	return text;
}

static bool is_blank(const char *sql)
{
	return !sql[strspn(sql, " \t\r\n;")];
}

/* The one SELECT that a bounded query is. */
static int run_select(struct fkt_output *out, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	const char *rest = "";
	bool first = true, is_one;
	int rc = sqlite3_prepare_v2(database, sql, -1, &statement, &rest);

	is_one = rc != SQLITE_OK || (statement && sqlite3_stmt_readonly(statement) &&
				     sqlite3_column_count(statement) && is_blank(rest) &&
				     !sqlite3_stmt_isexplain(statement));
	sqlite3_finalize(statement);
	if (is_one)
		return run_sql(out, sql, &first);
	complain("", "--bounded: it takes one SELECT, and nothing else");
	return 1;
}

static int query(const struct options *options, struct fkt_output *out)
{
	bool first = true;
	int status = 0;
	char *text;

	if (options->tables)
		status = list_tables(options, out);
	for (unsigned int i = 0; !status && i < options->count; i++)
		status = options->bounded ? run_select(out, options->sql[i])
					  : run_sql(out, options->sql[i], &first);
	if (options->tables || options->count)
		return status;
	text = read_input();
	if (!text) {
		complain("standard input", "out of memory");
		return 1;
	}
	status = options->bounded ? run_select(out, text) : run_sql(out, text, &first);
	free(text);
	return status;
}

int main(int argc, char **argv)
{
	struct fkt_output out = { .file = stdout };
	struct options options = { .format = fkt_format(0) };
	int status = 1;

	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	argp_err_exit_status = 2;
	options.sql = calloc((size_t)argc, sizeof(*options.sql));
	if (!options.sql)
		return 1;
	config_parse(&argp, argc, argv, 0, &options);
	out.format = options.format;
	out.width = output_width();
	if (open_all(&options))
		status = query(&options, &out);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE) {
			complain("standard output", strerror(errno));
			status = 1;
		} else {
			status = 0;
		}
	}
	sqlite3_close(database);
	for (unsigned int i = 0; i < options.alsos; i++)
		free(options.also[i].name);
	free(options.sql);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Results of statements, for people and for programs. Numbers are as SQL has them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query.h"

/* Tables for people have no more columns. */
#define COLUMNS_MAX 32

/* A number or a text of a row, without control characters if people see it; to be freed. */
static char *make_text(sqlite3_stmt *statement, int column)
{
	const unsigned char *bytes = sqlite3_column_blob(statement, column);
	int type = sqlite3_column_type(statement, column);
	int count = sqlite3_column_bytes(statement, column);
	char *text;

	if (type == SQLITE_NULL)
		return NULL;
	if (type != SQLITE_BLOB) {
		text = strdup((const char *)sqlite3_column_text(statement, column) ?: "");
		if (text)
			fkt_sanitize(text);
		return text;
	}
	text = malloc(2 * (size_t)count + 4);
	if (!text)
		return NULL;
	strcpy(text, "x'");
	for (int i = 0; i < count; i++)
		sprintf(text + 2 + 2 * i, "%02x", bytes[i]);
	strcat(text, "'");
	return text;
}

/* Names of columns are the statement's: clean, to be freed. */
static char *make_title(sqlite3_stmt *statement, int column)
{
	char *title = strdup(sqlite3_column_name(statement, column) ?: "?");

	if (title)
		fkt_sanitize(title);
	return title;
}

/* ---- for people ---- */

static bool is_number(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	const char *declared = sqlite3_column_decltype(statement, column);

	if (declared && !strcmp(declared, "INTEGER"))
		return true;
	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void begin_table(struct fkt_output *out, sqlite3_stmt *statement, struct fkt_column *columns,
			int count)
{
	memset(columns, 0, (COLUMNS_MAX + 1) * sizeof(*columns));
	for (int i = 0; i < count; i++) {
		columns[i].title = make_title(statement, i);
		columns[i].key = columns[i].title;
		/* The text of a number stands to the right. */
		columns[i].type = is_number(statement, i) ? FKT_COLUMN_JSON : FKT_COLUMN_TEXT;
	}
	fkt_table_begin(out, columns);
}

static int print_for_people(struct fkt_output *out, sqlite3_stmt *statement, bool first)
{
	int all = sqlite3_column_count(statement), count = all < COLUMNS_MAX ? all : COLUMNS_MAX;
	struct fkt_column columns[COLUMNS_MAX + 1];
	union fkt_cell cells[COLUMNS_MAX];
	bool begun = false;
	int rc;

	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		if (!begun) {
			if (!first)
				fkt_table_line(out, "%s", "");
			begin_table(out, statement, columns, count);
		}
		begun = true;
		for (int i = 0; i < count; i++)
			cells[i].text = make_text(statement, i);
		fkt_table_row(out, "query", columns, cells, false);
		for (int i = 0; i < count; i++)
			free((char *)cells[i].text);
	}
	fkt_table_end(out);
	for (int i = 0; begun && i < count; i++)
		free((char *)columns[i].title);
	if (begun && all > count)
		fprintf(out->file, "(%d columns more; --format=csv and json have all of them)\n",
			all - count);
	if (rc == SQLITE_DONE && !begun && all)
		fputs("(no rows)\n", out->file);
	return rc;
}

/* ---- for programs ---- */

static void print_csv_text(FILE *file, const char *text)
{
	if (!strpbrk(text, "\",\n\r")) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void print_json_text(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(file, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(file, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static void print_csv_row(FILE *file, sqlite3_stmt *statement)
{
	char *text;

	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		if (i)
			fputc(',', file);
		text = make_text(statement, i);
		print_csv_text(file, text ?: "");
		free(text);
	}
	fputc('\n', file);
}

static void print_json_row(FILE *file, sqlite3_stmt *statement)
{
	char *text;

	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		fputc(i ? ',' : '{', file);
		text = make_title(statement, i);
		print_json_text(file, text ?: "?");
		free(text);
		fputc(':', file);
		text = make_text(statement, i);
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_NULL:
			fputs("null", file);
			break;
		case SQLITE_FLOAT:
			/* JSON has no infinity. */
			if (!isfinite(sqlite3_column_double(statement, i))) {
				fputs("null", file);
				break;
			}
			/* fall through */
		case SQLITE_INTEGER:
			fputs(text ?: "null", file);
			break;
		default:
			print_json_text(file, text ?: "");
		}
		free(text);
	}
	fputs("}\n", file);
}

static int print_for_programs(struct fkt_output *out, sqlite3_stmt *statement, bool first)
{
	bool csv = !strcmp(fkt_format_name(out->format), "csv");
	int rc, count = sqlite3_column_count(statement);
	char *title;

	if (csv && count) {
		if (!first)
			fputc('\n', out->file);
		for (int i = 0; i < count; i++) {
			if (i)
				fputc(',', out->file);
			title = make_title(statement, i);
			print_csv_text(out->file, title ?: "?");
			free(title);
		}
		fputc('\n', out->file);
	}
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		if (csv)
			print_csv_row(out->file, statement);
		else
			print_json_row(out->file, statement);
		/* Whoever reads it has seen enough. */
		if (ferror(out->file))
			return SQLITE_IOERR;
	}
	return rc;
}

int print_rows(struct fkt_output *out, sqlite3_stmt *statement, bool first)
{
	return fkt_format_for_people(out->format) ? print_for_people(out, statement, first)
						  : print_for_programs(out, statement, first);
}

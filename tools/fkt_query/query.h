/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fkt_query: SQL over traces.
 *
 *	fkt_query.c	options, the connection, statements
 *	rows.c		results, in any format
 */
#ifndef FKT_QUERY_H
#define FKT_QUERY_H

#include <sqlite3.h>

#include <fkt/trace.h>

#include "show/table.h"

/**
 * print_rows() - run a statement, and print its rows as they come
 * @out: where to
 * @statement: the statement
 * @first: nothing was printed before
 *
 * Return: SQLITE_DONE, or an error of SQLite's.
 */
int print_rows(struct fkt_output *out, sqlite3_stmt *statement, bool first);

#endif

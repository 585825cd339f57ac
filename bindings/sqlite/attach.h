/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The extension, for programs that have it built in: no more than SQLite's own header is needed. */
#ifndef FKT_ATTACH_H
#define FKT_ATTACH_H

struct sqlite3;
struct sqlite3_api_routines;

/* For sqlite3_auto_extension(). */
int sqlite3_fktsqlite_init(struct sqlite3 *db, char **error,
			   const struct sqlite3_api_routines *api);

/**
 * fkt_attach() - make the tables and views of a trace
 * @db: the connection, which has the extension
 * @path: the trace
 * @schema: where; "temp", or a new name
 * @error: set to a sentence, to be freed with sqlite3_free(), or NULL
 *
 * Return: SQLITE_OK, or one of SQLite's errors.
 */
int fkt_attach(struct sqlite3 *db, const char *path, const char *schema, char **error);

#endif

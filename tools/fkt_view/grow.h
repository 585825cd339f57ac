/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that is being recorded: what is appended to its file goes into a pipe, of which the
 * levels are made as it comes. And a trace that comes through a pipe itself, which is kept in a
 * file.
 */
#ifndef FKT_VIEW_GROW_H
#define FKT_VIEW_GROW_H

#include <stdbool.h>
#include <stddef.h>

struct grow;

/* Room for the name of a file. */
#define GROW_PATH_BYTES 64

/**
 * grow_spool() - keep what comes through a descriptor in a file without a name
 * @input: the descriptor
 * @path: set to a name that programs can open as long as this one runs
 *
 * Return: to be freed with grow_free(); NULL, and errno, on failure.
 */
struct grow *grow_spool(int input, char path[GROW_PATH_BYTES]);

/**
 * grow_feed() - feed a pipe with what a file has, and with what is appended to it
 * @path: the file
 * @pipe: set to a name of the pipe's other end, for this process
 *
 * Return: as grow_spool() does.
 */
struct grow *grow_feed(const char *path, char pipe[GROW_PATH_BYTES]);

/* The pipe has been opened by its name: only who has done that reads it. */
void grow_opened(struct grow *grow);
/* The file has all that will come: the pipe ends when it has that, too. */
void grow_finish(struct grow *grow);
/* Whether all was copied that came. */
bool grow_has_ended(const struct grow *grow);
/* The pipe ends now. */
void grow_stop(struct grow *grow);
/* End; of grow_feed(), after the pipe's other end was closed. */
void grow_free(struct grow *grow);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that tools make for people: pictures, and data for them. */
#ifndef FKT_COMMON_CREATE_H
#define FKT_COMMON_CREATE_H

#include <stdbool.h>
#include <stdio.h>

/**
 * fkt_create() - begin to write a file; what it had is gone, unless it is a trace
 * @path: the file, - for standard output
 *
 * Return: the file, or NULL after a complaint.
 */
FILE *fkt_create(const char *path);

/**
 * fkt_created() - end it
 * @file: from fkt_create(), closed if it is not standard output
 * @path: as given there
 *
 * Return: false after a complaint: not all could be written. A regular file is gone then.
 */
bool fkt_created(FILE *file, const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of calls and interrupts get numbers, from 1 on, that stay. For several threads at once. */
#ifndef FKT_VIEW_NAMES_H
#define FKT_VIEW_NAMES_H

#include <fkt/trace.h>

struct names;

/* Begin: NULL without memory; to be freed with names_free(). */
struct names *names_new(void);
void names_free(struct names *names);

/* The number of a name; 0 without memory. */
uint32_t names_add(struct names *names, const char *name);

/* That of a row of the analysis. */
uint32_t names_row(struct names *names, const struct fkt_trace *trace, uint32_t row);

/**
 * names_get() - a name
 * @names: the names
 * @number: its number
 * @name: set to it; "" if there is none
 */
void names_get(struct names *names, uint32_t number, char name[FKT_NAME_BYTES]);

/* The largest number. */
uint32_t names_count(struct names *names);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of a trace file, put together in memory. */
#ifndef FKT_RECORD_SECTIONS_H
#define FKT_RECORD_SECTIONS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct sections - bytes that grow; begin with all zero
 * @data: the bytes
 * @bytes: how many
 * @room: how many fit
 * @header: where the open section's header is
 */
struct sections {
	char *data;
	size_t bytes;
	size_t room;
	size_t header;
};

/* All of these exit with a message when there is no memory. */

/** sections_reserve - make room for so many bytes more; returns where they will be */
char *sections_reserve(struct sections *s, size_t bytes);

/** sections_add - append bytes */
void sections_add(struct sections *s, const void *data, size_t bytes);

/** sections_printf - append text, without its NUL */
void sections_printf(struct sections *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** sections_pad - append zeros up to a multiple of so many bytes */
void sections_pad(struct sections *s, size_t multiple);

/** sections_begin - open a section; what is appended from here on is its data */
void sections_begin(struct sections *s, uint32_t type);

/** sections_end - close the section */
void sections_end(struct sections *s);

/** sections_end_compressed - compress the section's data, if that makes it smaller, and close it */
void sections_end_compressed(struct sections *s);

#endif

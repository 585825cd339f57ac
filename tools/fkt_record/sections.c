// SPDX-License-Identifier: GPL-2.0-or-later
/* Sections of a trace file, put together in memory. */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <fkt/format.h>

#include "sections.h"

#define SECTION_ALIGN 8

/* The lowest: the head is written while the user waits for the command to start. */
#define ZSTD_LEVEL    1

char *sections_reserve(struct sections *s, size_t bytes)
{
	if (s->room - s->bytes < bytes) {
		size_t room = 2 * s->room + bytes + 4096;
		char *data = realloc(s->data, room);

		if (!data)
			err(EXIT_FAILURE, "no memory for the trace's head");
		s->data = data;
		s->room = room;
	}
	return s->data + s->bytes;
}

void sections_add(struct sections *s, const void *data, size_t bytes)
{
	memcpy(sections_reserve(s, bytes), data, bytes);
	s->bytes += bytes;
}

void sections_printf(struct sections *s, const char *format, ...)
{
	va_list ap, again;
	int length;

	va_start(ap, format);
	va_copy(again, ap);
	length = vsnprintf(NULL, 0, format, ap);
	vsnprintf(sections_reserve(s, (size_t)length + 1), (size_t)length + 1, format, again);
	s->bytes += (size_t)length;
	va_end(again);
	va_end(ap);
}

void sections_pad(struct sections *s, size_t multiple)
{
	size_t pad = -s->bytes % multiple;

	memset(sections_reserve(s, pad), 0, pad);
	s->bytes += pad;
}

static struct fkt_section_header *open_header(struct sections *s)
{
	return (struct fkt_section_header *)(s->data + s->header);
}

void sections_begin(struct sections *s, uint32_t type)
{
	struct fkt_section_header header = {
		.magic = FKT_SECTION_MAGIC,
		.type = type,
	};

	s->header = s->bytes;
	sections_add(s, &header, sizeof(header));
}

static size_t data_bytes(const struct sections *s)
{
	return s->bytes - s->header - sizeof(struct fkt_section_header);
}

void sections_end(struct sections *s)
{
	struct fkt_section_header *header = open_header(s);

	header->stored_bytes = data_bytes(s);
	if (header->compression == FKT_COMPRESS_NONE)
		header->raw_bytes = header->stored_bytes;
	sections_pad(s, SECTION_ALIGN);
}

void sections_end_compressed(struct sections *s)
{
	size_t raw_bytes = data_bytes(s);
	size_t room = ZSTD_compressBound(raw_bytes);
	char *raw = s->data + s->bytes - raw_bytes;
	char *stored = malloc(room);
	size_t bytes;

	if (!stored)
		err(EXIT_FAILURE, "no memory for the trace's head");
	bytes = ZSTD_compress(stored, room, raw, raw_bytes, ZSTD_LEVEL);
	if (!ZSTD_isError(bytes) && bytes < raw_bytes) {
		memcpy(raw, stored, bytes);
		s->bytes -= raw_bytes - bytes;
		open_header(s)->compression = FKT_COMPRESS_ZSTD;
		open_header(s)->raw_bytes = raw_bytes;
	}
	free(stored);
	sections_end(s);
}

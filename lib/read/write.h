/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* write.c: a trace that is written in sequence, for what makes one out of another. */
#ifndef FKT_WRITE_H
#define FKT_WRITE_H

#include "internal.h"

/**
 * struct fkt_writer - a trace being written
 * @header: its file header, in host byte order; without @data_offset
 * @fd: where it goes
 * @err: the first error, a negative errno value
 * @buffer: what was not written yet
 * @used: of @buffer
 * @bytes: bytes so far, those in @buffer included
 * @pages: pages so far, of all kinds
 * @index_seq: index pages so far
 * @max_end: latest end of all pages
 * @before: events before the first page of @entry
 * @entry: pages since the last index, in the file's byte order
 * @entries: how many there are
 * @complete: up to which stamp all events have been written or are in the page that is; asked
 *	when an index is due
 * @arg: for @complete
 */
struct fkt_writer {
	struct fkt_file_header header;
	int fd;
	int err;
	char *buffer;
	size_t used;
	uint64_t bytes;
	uint64_t pages;
	uint64_t index_seq;
	uint64_t max_end;
	uint64_t before;
	struct fkt_index_entry entry[FKT_INDEX_ENTRIES];
	unsigned int entries;
	uint64_t (*complete)(const void *arg);
	const void *arg;
};

/* Set up a struct of zeros, but for @header and @complete. 0 or -ENOMEM. */
int fkt_writer_init(struct fkt_writer *writer, int fd);
/* Write what is still in memory, and free that. The first error there was, or 0. */
int fkt_writer_end(struct fkt_writer *writer);

void fkt_write(struct fkt_writer *writer, const void *data, size_t bytes);
/* Zeros up to a multiple of this. */
void fkt_write_zeros(struct fkt_writer *writer, uint64_t align);

/* The file header, for sections that take so many bytes, with that of FKT_SECTION_END. */
void fkt_write_header(struct fkt_writer *writer, uint64_t section_bytes);
void fkt_write_section(struct fkt_writer *writer, uint32_t type, const void *data, size_t bytes);
/* What a section takes. */
uint64_t fkt_section_bytes(uint64_t data_bytes);
/* The head, or the tail, has all of its sections. */
void fkt_write_head_end(struct fkt_writer *writer);
void fkt_write_footer(struct fkt_writer *writer, uint64_t tail_offset);

/*
 * Copy the sections of a seekable trace as they are, of its head or of its tail, but for those that
 * @leave_out names; only count their bytes when @writer is NULL.
 */
uint64_t fkt_write_sections_of(struct fkt_writer *writer, struct fkt_trace *trace, bool in_tail,
			       bool (*leave_out)(uint32_t type));

/*
 * Write a page of events; the header, in host byte order, goes into it. An index page follows where
 * one is due.
 */
void fkt_write_page(struct fkt_writer *writer, void *page, const struct fkt_page_header *header);

#endif

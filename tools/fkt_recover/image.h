/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image of a machine's memory: its pages, wherever they stand in the file.
 *
 * A kind of image is a file with a struct image_kind, and a row of IMAGE_KINDS.
 */
#ifndef FKT_IMAGE_H
#define FKT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_PAGE_BYTES  4096
#define IMAGE_ERROR_BYTES 256

/* The last one takes whatever the others do not know. */
#define IMAGE_KINDS(X)                                                                             \
	X(elf)                                                                                     \
	X(kdump)                                                                                   \
	X(raw)

/**
 * struct image_part - memory that stands in the file as it is
 * @offset: where in the file its first page begins
 * @pages: how many
 */
struct image_part {
	uint64_t offset;
	uint64_t pages;
};

struct image;

/* Called for each page; @place is what image_read() knows it by. Not 0: that ends it. */
typedef int image_page_fn(void *arg, const void *page, uint64_t place);

/**
 * struct image_kind - a format
 * @name: for messages
 * @open: whether it is of this kind, from its first bytes; what went wrong then goes into
 *	image->error
 * @scan: call a function for each page; NULL: those of image->part. What the function returned
 * @read: read one of them again; NULL: likewise
 * @close: may be NULL
 */
struct image_kind {
	const char *name;
	bool (*open)(struct image *image, const void *begin, size_t bytes);
	int (*scan)(struct image *image, image_page_fn *page, void *arg);
	bool (*read)(struct image *image, uint64_t place, void *page);
	void (*close)(struct image *image);
};

/**
 * struct image - an open one
 * @kind: its format
 * @fd: the file
 * @bytes: its size
 * @part: what is memory in it
 * @parts: how many
 * @lacks: bytes that it says to have, and has not
 * @failed: bytes that could not be read
 * @pages: how many there are
 * @done: how many have been looked at
 * @progress: called now and then; may be NULL
 * @error: a sentence, when it can't be used
 * @own: the kind's
 */
struct image {
	const struct image_kind *kind;
	int fd;
	uint64_t bytes;
	struct image_part *part;
	size_t parts;
	uint64_t lacks;
	uint64_t failed;
	uint64_t pages;
	uint64_t done;
	void (*progress)(const struct image *image);
	char error[IMAGE_ERROR_BYTES];
	void *own;
};

/* False, with image->error. */
bool image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* Go through all pages. 0, or what @page returned. */
int image_scan(struct image *image, image_page_fn *page, void *arg);
bool image_read(struct image *image, uint64_t place, void *page);

/* For kinds: memory that stands at @offset, of which the file may have less. False: no memory. */
bool image_add_part(struct image *image, uint64_t offset, uint64_t bytes);

#endif

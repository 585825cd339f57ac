// SPDX-License-Identifier: GPL-2.0-or-later
/* Images of memory of any kind: opening them, and going through those that are not compressed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"

/* What is read at once. */
#define CHUNK_PAGES 1024
#define BEGIN_BYTES 4096

#define X(name)	    extern const struct image_kind image_kind_##name;
IMAGE_KINDS(X)
#undef X

static const struct image_kind *const kinds[] = {
#define X(name) &image_kind_##name,
	IMAGE_KINDS(X)
#undef X
};

bool image_add_part(struct image *image, uint64_t offset, uint64_t bytes)
{
	uint64_t there = offset < image->bytes ? image->bytes - offset : 0;
	struct image_part *larger;

	if (bytes > there) {
		image->lacks += bytes - there;
		bytes = there;
	}
	larger = reallocarray(image->part, image->parts + 1, sizeof(*larger));
	if (!larger) {
		snprintf(image->error, sizeof(image->error), "out of memory");
		return false;
	}
	image->part = larger;
	larger[image->parts++] = (struct image_part){ offset, bytes / IMAGE_PAGE_BYTES };
	image->pages += bytes / IMAGE_PAGE_BYTES;
	return true;
}

static bool find_kind(struct image *image)
{
	char begin[BEGIN_BYTES];
	ssize_t bytes = pread(image->fd, begin, sizeof(begin), 0);

	if (bytes < 0) {
		snprintf(image->error, sizeof(image->error), "%s", strerror(errno));
		return false;
	}
	if (!bytes) {
		snprintf(image->error, sizeof(image->error), "is empty");
		return false;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		image->kind = kinds[i];
		if (kinds[i]->open(image, begin, (size_t)bytes))
			return !*image->error;
	}
	return false;
}

bool image_open(struct image *image, const char *path)
{
	struct stat stat;
	off_t bytes;

	*image = (struct image){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	if (image->fd < 0 || fstat(image->fd, &stat)) {
		snprintf(image->error, sizeof(image->error), "%s", strerror(errno));
		goto fail;
	}
	bytes = lseek(image->fd, 0, SEEK_END);
	if ((!S_ISREG(stat.st_mode) && !S_ISBLK(stat.st_mode)) || bytes < 0) {
		snprintf(image->error, sizeof(image->error),
			 "is neither a file nor a block device; save the image to one first");
		goto fail;
	}
	image->bytes = (uint64_t)bytes;
	posix_fadvise(image->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (find_kind(image))
		return true;

fail:
	image_close(image);
	return false;
}

void image_close(struct image *image)
{
	if (image->kind && image->kind->close)
		image->kind->close(image);
	image->kind = NULL;
	if (image->fd >= 0)
		close(image->fd);
	image->fd = -1;
	free(image->part);
	image->part = NULL;
}

static size_t read_at(int fd, char *data, size_t bytes, uint64_t offset)
{
	size_t got = 0;
	ssize_t n;

	while (got < bytes) {
		n = pread(fd, data + got, bytes - got, (off_t)(offset + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* Where nothing was written, there is nothing to find. The next page of @part that is there. */
static uint64_t skip_hole(const struct image *image, const struct image_part *part, uint64_t page)
{
	uint64_t at = part->offset + page * IMAGE_PAGE_BYTES;
	off_t data = lseek(image->fd, (off_t)at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? part->pages : page;
	page += ((uint64_t)data - at) / IMAGE_PAGE_BYTES;
	return page < part->pages ? page : part->pages;
}

static int scan_part(struct image *image, const struct image_part *part, char *data,
		     image_page_fn *page, void *arg)
{
	uint64_t at = 0, next, count, got;
	int ret = 0;

	while (!ret && at < part->pages) {
		next = skip_hole(image, part, at);
		image->done += next - at;
		at = next;
		count = part->pages - at < CHUNK_PAGES ? part->pages - at : CHUNK_PAGES;
		got = read_at(image->fd, data, count * IMAGE_PAGE_BYTES,
			      part->offset + at * IMAGE_PAGE_BYTES) /
		      IMAGE_PAGE_BYTES;
		for (uint64_t i = 0; !ret && i < got; i++)
			ret = page(arg, data + i * IMAGE_PAGE_BYTES,
				   part->offset + (at + i) * IMAGE_PAGE_BYTES);
		/* A disk that does not give them may give those behind them. */
		image->failed += (count - got) * IMAGE_PAGE_BYTES;
		at += count;
		image->done += count;
		if (image->progress)
			image->progress(image);
	}
	return ret;
}

int image_scan(struct image *image, image_page_fn *page, void *arg)
{
	char *data;
	int ret = 0;

	if (image->kind->scan)
		return image->kind->scan(image, page, arg);
	data = aligned_alloc(IMAGE_PAGE_BYTES, CHUNK_PAGES * IMAGE_PAGE_BYTES);
	if (!data)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < image->parts; i++)
		ret = scan_part(image, &image->part[i], data, page, arg);
	free(data);
	return ret;
}

bool image_read(struct image *image, uint64_t place, void *page)
{
	if (image->kind->read)
		return image->kind->read(image, place, page);
	return read_at(image->fd, page, IMAGE_PAGE_BYTES, place) == IMAGE_PAGE_BYTES;
}

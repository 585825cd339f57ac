// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What makedumpfile writes, as kdump does by default, and QEMU: pages compressed one by one.
 *
 * A file of blocks, of a page each: a header, a second one, two bitmaps (memory that there is, and
 * pages that are in the file), and for each of the latter, in their order, where it stands.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "image.h"

/* How it is compressed, all of it or a page. */
#define KDUMP_ZLIB   0x1u
#define KDUMP_LZO    0x2u
#define KDUMP_SNAPPY 0x4u
#define KDUMP_ZSTD   0x20u

/* Places in the header (struct disk_dump_header), all numbers being of 4 bytes. */
enum {
	AT_STATUS = 424,
	AT_BLOCK_BYTES = 428,
	AT_SUB_BLOCKS = 432,
	AT_BITMAP_BLOCKS = 436,
	AT_PAGES = 440,
};

/* And in the second one (struct kdump_sub_header): a part of a dump; from version 6 on, 8 bytes. */
#define AT_SPLIT	12
#define AT_PAGES_64	96
#define VERSION_64	6

#define DESCS_AT_A_TIME 4096

/**
 * struct desc - where a page stands
 * @offset: in the file
 * @bytes: how many it takes
 * @flags: how it is compressed; 0: not at all
 * @page_flags: of no concern
 */
struct desc {
	uint64_t offset;
	uint32_t bytes;
	uint32_t flags;
	uint64_t page_flags;
};

/**
 * struct kdump - an open one
 * @descs: where they begin
 * @count: how many there are
 */
struct kdump {
	uint64_t descs;
	uint64_t count;
};

static bool begins_with(const void *begin, size_t bytes, const char *magic)
{
	return bytes >= strlen(magic) && !memcmp(begin, magic, strlen(magic));
}

static uint32_t number_at(const void *data, unsigned int at)
{
	uint32_t number;

	memcpy(&number, (const char *)data + at, sizeof(number));
	return le32toh(number);
}

/* How many bits are set in the second bitmap. */
static bool count_pages(struct image *image, uint64_t offset, uint64_t bytes)
{
	struct kdump *kdump = image->own;
	uint64_t words[512];
	size_t n;

	if (offset > image->bytes || bytes > image->bytes - offset)
		return false;
	for (; bytes; bytes -= n, offset += n) {
		n = bytes < sizeof(words) ? (size_t)bytes : sizeof(words);
		memset(words, 0, sizeof(words));
		if (pread(image->fd, words, n, (off_t)offset) != (ssize_t)n)
			return false;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			kdump->count += (unsigned int)__builtin_popcountll(words[i]);
	}
	return true;
}

/* Why it can't be used; NULL when it can. */
static const char *read_header(struct image *image, const void *begin, size_t bytes)
{
	struct kdump *kdump = image->own;
	char sub[128] = { 0 };
	uint64_t bitmap_blocks, bitmap, pages, room;

	if (bytes < IMAGE_PAGE_BYTES ||
	    pread(image->fd, sub, sizeof(sub), IMAGE_PAGE_BYTES) != sizeof(sub))
		return "is cut off in its header";
	if (number_at(begin, AT_BLOCK_BYTES) != IMAGE_PAGE_BYTES)
		return "has a damaged header, or is of a machine whose pages have not 4096 bytes";
	if (number_at(begin, AT_STATUS) & (KDUMP_LZO | KDUMP_SNAPPY))
		return "is compressed by LZO or snappy; makedumpfile -c IMAGE NEW makes one of it "
		       "that can be read";
	if (number_at(sub, AT_SPLIT))
		return "is a part of a dump; makedumpfile --reassemble puts them together";
	bitmap_blocks = number_at(begin, AT_BITMAP_BLOCKS);
	bitmap = (1ull + number_at(begin, AT_SUB_BLOCKS)) * IMAGE_PAGE_BYTES;
	pages = number_at(begin, AT_PAGES);
	if (number_at(begin, 8) >= VERSION_64 && number_at(sub, AT_PAGES_64 + 4))
		return "says to be of more memory than there is";
	if (bitmap_blocks % 2 || pages / 8 > bitmap_blocks / 2 * IMAGE_PAGE_BYTES)
		return "has a damaged header";
	kdump->descs = bitmap + bitmap_blocks * IMAGE_PAGE_BYTES;
	if (!count_pages(image, bitmap + bitmap_blocks / 2 * IMAGE_PAGE_BYTES,
			 bitmap_blocks / 2 * IMAGE_PAGE_BYTES))
		return "is cut off before its memory begins";
	room = (image->bytes - kdump->descs) / sizeof(struct desc);
	if (kdump->count > room) {
		image->lacks += (kdump->count - room) * IMAGE_PAGE_BYTES;
		kdump->count = room;
	}
	image->pages = kdump->count;
	return kdump->count ? NULL : "has no memory in it";
}

static bool kdump_open(struct image *image, const void *begin, size_t bytes)
{
	const char *why = NULL;

	/* What comes out of a pipe is so, and from QEMU in any case. */
	if (begins_with(begin, bytes, "makedumpfile"))
		why = "is flattened; makedumpfile -R NEW <IMAGE makes one of it that can be read";
	else if (!begins_with(begin, bytes, "KDUMP   "))
		return false;
	if (!why) {
		image->own = calloc(1, sizeof(struct kdump));
		why = image->own ? read_header(image, begin, bytes) : "out of memory";
	}
	if (why)
		snprintf(image->error, sizeof(image->error), "%s", why);
	return true;
}

static bool read_page(const struct image *image, const struct desc *desc, void *page)
{
	uint32_t bytes = le32toh(desc->bytes);
	char stored[IMAGE_PAGE_BYTES];
	uLongf inflated = IMAGE_PAGE_BYTES;

	if (bytes > sizeof(stored) || le64toh(desc->offset) > INT64_MAX ||
	    pread(image->fd, stored, bytes, (off_t)le64toh(desc->offset)) != (ssize_t)bytes)
		return false;
	switch (le32toh(desc->flags)) {
	case 0:
		memcpy(page, stored, bytes);
		return bytes == IMAGE_PAGE_BYTES;
	case KDUMP_ZLIB:
		return uncompress(page, &inflated, (const Bytef *)stored, bytes) == Z_OK &&
		       inflated == IMAGE_PAGE_BYTES;
	case KDUMP_ZSTD:
		return ZSTD_decompress(page, IMAGE_PAGE_BYTES, stored, bytes) == IMAGE_PAGE_BYTES;
	default:
		return false;
	}
}

static bool kdump_read(struct image *image, uint64_t place, void *page)
{
	struct desc desc;

	return pread(image->fd, &desc, sizeof(desc), (off_t)place) == sizeof(desc) &&
	       read_page(image, &desc, page);
}

static bool is_zero(const uint64_t *page)
{
	return !page[0] && !memcmp(page, page + 1, IMAGE_PAGE_BYTES - sizeof(*page));
}

static int kdump_scan(struct image *image, image_page_fn *page, void *arg)
{
	const struct kdump *kdump = image->own;
	struct desc *desc = calloc(DESCS_AT_A_TIME, sizeof(*desc));
	uint64_t data[IMAGE_PAGE_BYTES / sizeof(uint64_t)];
	uint64_t zeros = UINT64_MAX, place = kdump->descs, count;
	int ret = 0;

	if (!desc)
		return -ENOMEM;
	while (!ret && image->done < kdump->count) {
		count = kdump->count - image->done;
		if (count > DESCS_AT_A_TIME)
			count = DESCS_AT_A_TIME;
		if (pread(image->fd, desc, count * sizeof(*desc), (off_t)place) !=
		    (ssize_t)(count * sizeof(*desc))) {
			image->failed += (kdump->count - image->done) * IMAGE_PAGE_BYTES;
			break;
		}
		for (uint64_t i = 0; !ret && i < count; i++, place += sizeof(*desc)) {
			/* All pages of zeros are stored as one. */
			if (desc[i].offset == zeros)
				continue;
			if (le64toh(desc[i].offset) >= image->bytes)
				image->lacks += IMAGE_PAGE_BYTES;
			else if (!read_page(image, &desc[i], data))
				image->failed += IMAGE_PAGE_BYTES;
			else if (is_zero(data))
				zeros = desc[i].offset;
			else
				ret = page(arg, data, place);
		}
		image->done += count;
		if (image->progress)
			image->progress(image);
	}
	free(desc);
	return ret;
}

static void kdump_close(struct image *image)
{
	free(image->own);
	image->own = NULL;
}

const struct image_kind image_kind_kdump = {
	.name = "kdump",
	.open = kdump_open,
	.scan = kdump_scan,
	.read = kdump_read,
	.close = kdump_close,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* What makedumpfile has compressed. */
#include <stdio.h>
#include <string.h>

#include "image.h"

static bool begins_with(const void *begin, size_t bytes, const char *magic)
{
	return bytes >= strlen(magic) && !memcmp(begin, magic, strlen(magic));
}

static bool kdump_open(struct image *image, const void *begin, size_t bytes)
{
	if (begins_with(begin, bytes, "makedumpfile"))
		snprintf(image->error, sizeof(image->error),
			 "is flattened; makedumpfile -R FILE <IMAGE makes a file of it that can be "
			 "read");
	else if (begins_with(begin, bytes, "KDUMP   ") || begins_with(begin, bytes, "DISKDUMP"))
		snprintf(image->error, sizeof(image->error),
			 "is compressed; makedumpfile -E, or crash, makes an ELF file of it");
	else
		return false;
	return true;
}

const struct image_kind image_kind_kdump = {
	.name = "kdump",
	.open = kdump_open,
};

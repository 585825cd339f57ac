// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory as it is, from one end to the other: what is no other kind. */
#include "image.h"

static bool raw_open(struct image *image, const void *begin, size_t bytes)
{
	(void)begin;
	(void)bytes;
	image_add_part(image, 0, image->bytes);
	return true;
}

const struct image_kind image_kind_raw = {
	.name = "raw",
	.open = raw_open,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* How much two names resemble each other, to suggest one that was meant. */
#include <stdint.h>
#include <string.h>

#include "distance.h"

/* Longer names resemble none. */
#define NAME_MAX_COMPARED 64

unsigned int fkt_distance(const char *a, const char *b)
{
	unsigned int rows[3][NAME_MAX_COMPARED + 1];
	unsigned int *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	size_t height = strlen(a), width = strlen(b);

	if (height > NAME_MAX_COMPARED || width > NAME_MAX_COMPARED)
		return UINT32_MAX;
	for (unsigned int j = 0; j <= width; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= height; i++) {
		spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = i;
		for (unsigned int j = 1; j <= width; j++) {
			unsigned int best = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return row[width];
}

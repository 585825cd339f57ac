// SPDX-License-Identifier: GPL-2.0-or-later
/* How much two names resemble each other, to suggest one that was meant. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <fkt/trace.h>

#include "distance.h"

/* Longer names resemble none. */
#define NAME_MAX_COMPARED 64

/* Further away than this, something else was meant. */
#define DISTANCE_MAX	  2

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

/* In a short word, two letters are most of it. */
static unsigned int far(const char *wanted)
{
	size_t half = strlen(wanted) / 2;

	return half < DISTANCE_MAX ? (unsigned int)half : DISTANCE_MAX;
}

void fkt_near_show(struct fkt_near *near, const char *name)
{
	unsigned int distance = fkt_distance(near->wanted, name), shorter = distance;
	const char *colon = strchr(name, ':');

	near->is_there |= !distance;
	if (!strncmp(name, "sys_", 4))
		shorter = fkt_distance(near->wanted, name + 4);
	else if (colon)
		shorter = fkt_distance(near->wanted, colon + 1);
	if (shorter < distance)
		distance = shorter;
	if (distance > far(near->wanted) || (*near->name && distance >= near->distance))
		return;
	near->distance = distance;
	snprintf(near->name, sizeof(near->name), "%s", name);
}

const char *fkt_near_meant(const struct fkt_near *near, char text[FKT_MEANT_BYTES])
{
	*text = '\0';
	if (*near->name && !near->is_there)
		snprintf(text, FKT_MEANT_BYTES, "; did you mean '%s'?", near->name);
	return text;
}

const char *fkt_word_meant(const char *wanted, const char *const *words, size_t count,
			   char text[FKT_MEANT_BYTES])
{
	struct fkt_near near = { .wanted = wanted };

	for (size_t i = 0; i < count; i++)
		if (words[i])
			fkt_near_show(&near, words[i]);
	return fkt_near_meant(&near, text);
}

const char *fkt_format_meant(const char *wanted, char text[FKT_MEANT_BYTES])
{
	struct fkt_near near = { .wanted = wanted };
	const struct fkt_format *format;

	for (unsigned int i = 0; (format = fkt_format(i)); i++)
		fkt_near_show(&near, fkt_format_name(format));
	return fkt_near_meant(&near, text);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much two names resemble each other. */
#ifndef FKT_COMMON_DISTANCE_H
#define FKT_COMMON_DISTANCE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * fkt_distance - how many letters differ, are missing, or changed places
 * @a: a name
 * @b: another one
 *
 * Return: the number, UINT32_MAX when one of them is longer than 64 letters.
 */
unsigned int fkt_distance(const char *a, const char *b);

#define FKT_NEAR_BYTES 80

/**
 * struct fkt_near - the name that is nearest to what was asked for, of those that were shown to it
 * @wanted: what was asked for
 * @name: that name, "" when nothing is near
 * @distance: between both
 * @is_there: @wanted itself was shown
 */
struct fkt_near {
	const char *wanted;
	char name[FKT_NEAR_BYTES];
	unsigned int distance;
	bool is_there;
};

/**
 * fkt_near_show() - show a name
 * @near: of which @wanted is set
 * @name: the name; system calls need not be asked for with their "sys_", nor tracepoints with
 *	their system
 */
void fkt_near_show(struct fkt_near *near, const char *name);

#define FKT_MEANT_BYTES (FKT_NEAR_BYTES + 32)

/**
 * fkt_near_meant() - the end of a sentence that says what there is not
 * @near: which was shown all that there is
 * @text: written
 *
 * Return: @text: "; did you mean 'sys_read'?", or "".
 */
const char *fkt_near_meant(const struct fkt_near *near, char text[FKT_MEANT_BYTES]);

/* The same of words that there are. */
const char *fkt_word_meant(const char *wanted, const char *const *words, size_t count,
			   char text[FKT_MEANT_BYTES]);
#define WORD_MEANT(wanted, words, text)                                                            \
	fkt_word_meant(wanted, words, sizeof(words) / sizeof((words)[0]), text)

/* The same of formats of listings and tables. */
const char *fkt_format_meant(const char *wanted, char text[FKT_MEANT_BYTES]);

#endif

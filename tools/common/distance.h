/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much two names resemble each other. */
#ifndef FKT_COMMON_DISTANCE_H
#define FKT_COMMON_DISTANCE_H

/**
 * fkt_distance - how many letters differ, are missing, or changed places
 * @a: a name
 * @b: another one
 *
 * Return: the number, UINT32_MAX when one of them is longer than 64 letters.
 */
unsigned int fkt_distance(const char *a, const char *b);

#endif

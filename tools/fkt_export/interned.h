/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs of numbers that have a number of their own, counted up from 0. */
#ifndef FKT_EXPORT_INTERNED_H
#define FKT_EXPORT_INTERNED_H

#include <stdbool.h>
#include <stdint.h>

#define INTERNED_FAILED UINT32_MAX

/**
 * struct interned - the pairs; begin with all zero
 * @key: of each number
 * @count: how many
 * @slot: number + 1 by the hash of the pair, 0: none
 * @room: of @slot, a power of two
 */
struct interned {
	uint64_t (*key)[2];
	uint32_t count;
	uint32_t *slot;
	uint32_t room;
};

/**
 * interned() - the number of a pair, a new one if it has none
 * @all: the pairs
 * @a: the pair
 * @b: the pair
 *
 * Return: INTERNED_FAILED without memory.
 */
uint32_t interned(struct interned *all, uint64_t a, uint64_t b);
void interned_free(struct interned *all);

#endif

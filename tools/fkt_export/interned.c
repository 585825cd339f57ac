// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs of numbers that have a number of their own. */
#include <stdlib.h>

#include "interned.h"

static uint32_t slot_of(const struct interned *all, uint64_t a, uint64_t b)
{
	uint64_t hash = (a * 0x9e3779b97f4a7c15 ^ b) * 0xbf58476d1ce4e5b9;

	return (uint32_t)(hash >> 32) & (all->room - 1);
}

static bool grow(struct interned *all)
{
	const uint32_t room = all->room ? all->room * 2 : 1024;
	uint64_t(*key)[2] = reallocarray(all->key, room / 2, sizeof(*key));
	uint32_t *slot;

	if (!key)
		return false;
	all->key = key;
	slot = calloc(room, sizeof(*slot));
	if (!slot)
		return false;
	free(all->slot);
	all->slot = slot;
	all->room = room;
	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t at = slot_of(all, key[i][0], key[i][1]);

		while (slot[at])
			at = (at + 1) & (room - 1);
		slot[at] = i + 1;
	}
	return true;
}

uint32_t interned(struct interned *all, uint64_t a, uint64_t b)
{
	uint32_t at, number;

	if (all->count == all->room / 2 && (all->room >= 1u << 30 || !grow(all)))
		return INTERNED_FAILED;
	for (at = slot_of(all, a, b); (number = all->slot[at]); at = (at + 1) & (all->room - 1))
		if (all->key[number - 1][0] == a && all->key[number - 1][1] == b)
			return number - 1;
	all->key[all->count][0] = a;
	all->key[all->count][1] = b;
	all->slot[at] = all->count + 1;
	return all->count++;
}

void interned_free(struct interned *all)
{
	free(all->key);
	free(all->slot);
}

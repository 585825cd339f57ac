// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "top.h"

#define SLOTS_FIRST 64

struct tally {
	uint64_t seed; /* so that no trace can be made to fill one place */
	size_t count;
	size_t room;
	size_t slots;
	struct tallied *one;
	uint32_t *slot; /* its index and 1 */
	struct tallied others;
};

void tally_free(struct tally *tally)
{
	if (!tally)
		return;
	free(tally->one);
	free(tally->slot);
	free(tally);
}

struct tally *tally_new(void)
{
	struct tally *tally = calloc(1, sizeof(*tally));

	if (!tally)
		return NULL;
	if (getrandom(&tally->seed, sizeof(tally->seed), 0) < 0)
		tally->seed = (uintptr_t)tally;
	tally->slots = SLOTS_FIRST;
	tally->room = SLOTS_FIRST / 2;
	tally->slot = calloc(tally->slots, sizeof(*tally->slot));
	tally->one = malloc(tally->room * sizeof(*tally->one));
	if (tally->slot && tally->one)
		return tally;
	tally_free(tally);
	return NULL;
}

static size_t slot_of(const struct tally *tally, const uint64_t key[TALLY_KEYS])
{
	uint64_t h = tally->seed;
	size_t i;

	for (unsigned int k = 0; k < TALLY_KEYS; k++) {
		h = (h ^ key[k]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	for (i = (h ^ h >> 32) % tally->slots; tally->slot[i]; i = (i + 1) % tally->slots)
		if (!memcmp(tally->one[tally->slot[i] - 1].key, key, sizeof(tally->one->key)))
			break;
	return i;
}

static bool grow(struct tally *tally)
{
	struct tallied *one = reallocarray(tally->one, tally->room * 2, sizeof(*one));
	uint32_t *slot = calloc(tally->slots * 2, sizeof(*slot));

	if (one)
		tally->one = one;
	if (!one || !slot) {
		free(slot);
		return false;
	}
	free(tally->slot);
	tally->slot = slot;
	tally->slots *= 2;
	tally->room *= 2;
	for (size_t i = 0; i < tally->count; i++)
		tally->slot[slot_of(tally, tally->one[i].key)] = (uint32_t)i + 1;
	return true;
}

struct tallied *tally_get(struct tally *tally, const uint64_t key[TALLY_KEYS])
{
	size_t i = slot_of(tally, key);
	struct tallied *one;

	if (tally->slot[i])
		return &tally->one[tally->slot[i] - 1];
	if (tally->count == TALLY_MAX)
		return &tally->others;
	if (tally->count == tally->room) {
		if (!grow(tally))
			return NULL;
		i = slot_of(tally, key);
	}
	one = &tally->one[tally->count++];
	*one = (struct tallied){ 0 };
	memcpy(one->key, key, sizeof(one->key));
	tally->slot[i] = (uint32_t)tally->count;
	return one;
}

const struct tallied *tally_find(const struct tally *tally, const uint64_t key[TALLY_KEYS])
{
	const size_t i = slot_of(tally, key);

	return tally->slot[i] ? &tally->one[tally->slot[i] - 1] : NULL;
}

size_t tally_count(const struct tally *tally)
{
	return tally->count;
}

const struct tallied *tally_at(const struct tally *tally, size_t index)
{
	return &tally->one[index];
}

struct tallied *tally_others(struct tally *tally)
{
	return &tally->others;
}

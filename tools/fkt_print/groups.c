// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "print.h"

#define SLOTS (GROUPS_MAX * 2)

struct groups {
	uint64_t seed; /* so that no trace can be made to fill one place */
	size_t count;
	struct group *others;
	struct group *slot[SLOTS];
};

struct groups *groups_new(void)
{
	struct groups *groups = calloc(1, sizeof(*groups));

	if (groups && getrandom(&groups->seed, sizeof(groups->seed), 0) < 0)
		groups->seed = (uintptr_t)groups;
	return groups;
}

void groups_free(struct groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		free(groups->slot[i]);
	free(groups->others);
	free(groups);
}

static uint64_t hash(const struct groups *groups, const uint64_t key[BY_MAX])
{
	uint64_t h = groups->seed;

	for (unsigned int i = 0; i < BY_MAX; i++) {
		h = (h ^ key[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h ^ h >> 32;
}

struct group *groups_get(struct groups *groups, const uint64_t key[BY_MAX])
{
	uint64_t i = hash(groups, key) % SLOTS;
	struct group **slot = &groups->slot[i];

	while (*slot) {
		if (!memcmp((*slot)->key, key, sizeof((*slot)->key)))
			return *slot;
		i = (i + 1) % SLOTS;
		slot = &groups->slot[i];
	}
	if (groups->count >= GROUPS_MAX) {
		if (!groups->others)
			groups->others = calloc(1, sizeof(*groups->others));
		return groups->others;
	}
	*slot = calloc(1, sizeof(**slot));
	if (!*slot)
		return NULL;
	memcpy((*slot)->key, key, sizeof((*slot)->key));
	groups->count++;
	return *slot;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = *(const struct group *const *)a;
	const struct group *y = *(const struct group *const *)b;

	if (x->values.sum != y->values.sum)
		return x->values.sum > y->values.sum ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return memcmp(x->key, y->key, sizeof(x->key));
}

struct group **groups_sorted(const struct groups *groups, size_t *count)
{
	struct group **sorted = malloc((groups->count + 1) * sizeof(struct group *));
	size_t n = 0;

	if (!sorted)
		return NULL;
	for (size_t i = 0; i < SLOTS; i++)
		if (groups->slot[i])
			sorted[n++] = groups->slot[i];
	if (n)
		qsort(sorted, n, sizeof(struct group *), compare_groups);
	*count = n;
	return sorted;
}

const struct group *groups_others(const struct groups *groups)
{
	return groups->others;
}

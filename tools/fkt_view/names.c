// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "names.h"

#define FIRST_ROOM 256u

/**
 * struct names - names with numbers
 * @lock: held for all of it
 * @name: the names, that with number 1 first
 * @count: how many
 * @room: of @name
 * @slot: numbers, by a hash of the name; twice as many as there is room for names
 */
struct names {
	pthread_mutex_t lock;
	char (*name)[FKT_NAME_BYTES];
	uint32_t count;
	uint32_t room;
	uint32_t *slot;
};

struct names *names_new(void)
{
	struct names *names = calloc(1, sizeof(*names));

	if (names)
		pthread_mutex_init(&names->lock, NULL);
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	pthread_mutex_destroy(&names->lock);
	free(names->name);
	free(names->slot);
	free(names);
}

/* FNV-1a. */
static uint32_t hash(const char *name)
{
	uint32_t value = 2166136261u;

	while (*name)
		value = (value ^ (uint8_t)*name++) * 16777619u;
	return value;
}

/* The place of a name in @slot, or the free one where it would be. */
static uint32_t *find(struct names *names, const char *name)
{
	const uint32_t mask = 2 * names->room - 1;
	uint32_t at = hash(name) & mask;

	while (names->slot[at] && strcmp(names->name[names->slot[at] - 1], name))
		at = (at + 1) & mask;
	return &names->slot[at];
}

static bool grow(struct names *names)
{
	uint32_t room = names->room ? 2 * names->room : FIRST_ROOM;
	char(*larger)[FKT_NAME_BYTES] = reallocarray(names->name, room, sizeof(*larger));
	uint32_t *slot = calloc(2 * (size_t)room, sizeof(*slot));

	if (larger)
		names->name = larger;
	if (!larger || !slot) {
		free(slot);
		return false;
	}
	free(names->slot);
	names->slot = slot;
	names->room = room;
	for (uint32_t i = 0; i < names->count; i++)
		*find(names, names->name[i]) = i + 1;
	return true;
}

uint32_t names_add(struct names *names, const char *name)
{
	uint32_t *slot, number = 0;

	pthread_mutex_lock(&names->lock);
	if (names->count < names->room || grow(names)) {
		slot = find(names, name);
		if (!*slot) {
			snprintf(names->name[names->count], FKT_NAME_BYTES, "%s", name);
			*slot = ++names->count;
		}
		number = *slot;
	}
	pthread_mutex_unlock(&names->lock);
	return number;
}

uint32_t names_row(struct names *names, const struct fkt_trace *trace, uint32_t row)
{
	char name[FKT_NAME_BYTES];

	fkt_row_name(trace, row, name);
	return names_add(names, name);
}

void names_get(struct names *names, uint32_t number, char name[FKT_NAME_BYTES])
{
	name[0] = '\0';
	pthread_mutex_lock(&names->lock);
	if (number && number <= names->count)
		memcpy(name, names->name[number - 1], FKT_NAME_BYTES);
	pthread_mutex_unlock(&names->lock);
}

uint32_t names_count(struct names *names)
{
	uint32_t count;

	pthread_mutex_lock(&names->lock);
	count = names->count;
	pthread_mutex_unlock(&names->lock);
	return count;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Weights by call path. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "paths.h"

#define ROOM_FIRST 1024

static uint64_t make_seed(const void *otherwise)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = (uintptr_t)otherwise;
	return seed | 1;
}

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

int fkt_paths_init(struct fkt_paths *paths)
{
	*paths = (struct fkt_paths){ .count = 1, .room = ROOM_FIRST };
	paths->seed = make_seed(paths);
	paths->node = calloc(paths->room, sizeof(*paths->node));
	paths->place = calloc(2ul * paths->room, sizeof(*paths->place));
	if (paths->node && paths->place)
		return 0;
	fkt_paths_free(paths);
	return -ENOMEM;
}

void fkt_paths_free(struct fkt_paths *paths)
{
	free(paths->node);
	free(paths->place);
	*paths = (struct fkt_paths){ 0 };
}

/* The place of a node, or where it is to be. */
static uint32_t *find(const struct fkt_paths *paths, uint32_t *place, uint32_t room, uint32_t above,
		      uint64_t key)
{
	uint32_t i = (uint32_t)mix(mix(paths->seed, above), key) & (2 * room - 1);

	while (place[i] &&
	       (paths->node[place[i]].above != above || paths->node[place[i]].key != key))
		i = (i + 1) & (2 * room - 1);
	return &place[i];
}

static int grow(struct fkt_paths *paths)
{
	uint32_t room = 2 * paths->room;
	struct fkt_path *node = realloc(paths->node, room * sizeof(*node));
	uint32_t *place;

	if (!node)
		return -ENOMEM;
	paths->node = node;
	place = calloc(2ul * room, sizeof(*place));
	if (!place)
		return -ENOMEM;
	for (uint32_t i = 1; i < paths->count; i++)
		*find(paths, place, room, node[i].above, node[i].key) = i;
	free(paths->place);
	paths->place = place;
	paths->room = room;
	return 0;
}

uint32_t fkt_paths_below(struct fkt_paths *paths, uint32_t above, uint64_t key)
{
	uint32_t *place = find(paths, paths->place, paths->room, above, key);

	if (*place)
		return *place;
	if (paths->count == FKT_PATHS_MAX)
		return above;
	if (paths->count == paths->room) {
		if (grow(paths))
			return FKT_PATHS_NONE;
		place = find(paths, paths->place, paths->room, above, key);
	}
	*place = paths->count;
	paths->node[paths->count] = (struct fkt_path){ .key = key, .above = above };
	return paths->count++;
}

static uint32_t *find_name(const struct fkt_path_names *names, uint32_t *place, uint32_t room,
			   const char *name)
{
	uint64_t h = names->seed;

	for (const char *c = name; *c; c++)
		h = mix(h, (unsigned char)*c);
	h &= 2 * room - 1;
	while (place[h] && strcmp(names->name[place[h] - 1], name))
		h = (h + 1) & (2 * room - 1);
	return &place[h];
}

static int grow_names(struct fkt_path_names *names)
{
	uint32_t room = names->room ? 2 * names->room : ROOM_FIRST;
	char **name = realloc(names->name, room * sizeof(*name));
	uint32_t *place;

	if (!name)
		return -ENOMEM;
	names->name = name;
	place = calloc(2ul * room, sizeof(*place));
	if (!place)
		return -ENOMEM;
	if (!names->room)
		names->seed = make_seed(names);
	for (uint32_t i = 0; i < names->count; i++)
		*find_name(names, place, room, name[i]) = i + 1;
	free(names->place);
	names->place = place;
	names->room = room;
	return 0;
}

uint32_t fkt_path_name(struct fkt_path_names *names, const char *name)
{
	uint32_t *place;

	if (names->count == names->room && grow_names(names))
		return FKT_PATHS_NONE;
	place = find_name(names, names->place, names->room, name);
	if (*place)
		return *place - 1;
	names->name[names->count] = strdup(name);
	if (!names->name[names->count])
		return FKT_PATHS_NONE;
	*place = ++names->count;
	return names->count - 1;
}

uint32_t fkt_path_name_known(const struct fkt_path_names *names, const char *name)
{
	return names->room ? *find_name(names, names->place, names->room, name) - 1
			   : FKT_PATHS_NONE;
}

void fkt_path_names_free(struct fkt_path_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	free(names->place);
	*names = (struct fkt_path_names){ 0 };
}

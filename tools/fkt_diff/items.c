// SPDX-License-Identifier: GPL-2.0-or-later
/* What takes time, by its name, with its durations in each recording. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

/* So many durations are kept of an item in a recording; of more, as many are picked at random. */
#define KEPT_MAX   4096
/* So many stacks are told from each other. */
#define STACK_MAX  65536
/* And so many waits: a program may give its threads any number of names. */
#define WAIT_MAX   65536

#define NAME_BYTES 512

int items_init(struct items *items)
{
	items->random = 0x2545f4914f6cdd1dull;
	return fkt_paths_init(&items->paths);
}

void items_free(struct items *items)
{
	for (uint32_t i = 0; i < items->count; i++) {
		for (unsigned int r = 0; r < RECORDINGS_MAX; r++)
			if (items->one[i].in[r])
				free(items->one[i].in[r]->value);
		for (unsigned int r = 0; r < RECORDINGS_MAX; r++)
			free(items->one[i].in[r]);
		free(items->one[i].name);
	}
	free(items->one);
	free(items->of_name);
	free(items->of_path);
	fkt_path_names_free(&items->names);
	fkt_paths_free(&items->paths);
}

static void put_name(char text[NAME_BYTES], enum kind kind, const char *name)
{
	snprintf(text, NAME_BYTES, "%c%s", 'A' + (int)kind, name);
}

uint32_t items_name(struct items *items, enum kind kind, const char *name)
{
	char text[NAME_BYTES];

	put_name(text, kind, name);
	return fkt_path_name(&items->names, text);
}

/* The place of a number in a table that grows. */
static uint32_t *place(uint32_t **table, uint32_t *room, uint32_t number)
{
	uint32_t want = *room ?: 1024, *larger;

	if (number >= *room) {
		while (want <= number)
			want *= 2;
		larger = realloc(*table, want * sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + *room, 0, (want - *room) * sizeof(*larger));
		*table = larger;
		*room = want;
	}
	return &(*table)[number];
}

/* "sys_read;vfs_read;G" */
static char *path_name(const struct items *items, uint32_t path)
{
	const struct fkt_path *node = &items->paths.node[path];
	const char *name = items->names.name[node->key] + 1;
	char *above, *text;

	if (node->above == FKT_PATHS_ROOT)
		return strdup(name);
	above = path_name(items, node->above);
	if (!above || asprintf(&text, "%s;%s", above, name) < 0)
		text = NULL;
	free(above);
	return text;
}

static struct item *add_item(struct items *items, uint32_t *number, enum kind kind, char *name)
{
	uint32_t room = items->room ? 2 * items->room : 256;
	struct item *larger;

	if (!name)
		return NULL;
	if (items->count == items->room) {
		larger = realloc(items->one, room * sizeof(*larger));
		if (!larger) {
			free(name);
			return NULL;
		}
		items->one = larger;
		items->room = room;
	}
	items->one[items->count] = (struct item){ .kind = kind, .name = name };
	*number = ++items->count;
	return &items->one[items->count - 1];
}

static uint64_t next_random(struct items *items)
{
	items->random ^= items->random << 13;
	items->random ^= items->random >> 7;
	items->random ^= items->random << 17;
	return items->random;
}

/* All of the first ones, and of all of them the same chance for each. */
static int keep(struct items *items, struct durations *durations, uint64_t ns)
{
	uint32_t room = durations->room ? 2 * durations->room : 8;
	uint64_t *larger, at;

	if (durations->kept == KEPT_MAX) {
		at = next_random(items) % durations->count;
		if (at < KEPT_MAX)
			durations->value[at] = ns;
		return 0;
	}
	if (durations->kept == durations->room) {
		larger = realloc(durations->value, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		durations->value = larger;
		durations->room = room;
	}
	durations->value[durations->kept++] = ns;
	return 0;
}

static int add(struct items *items, struct item *item, unsigned int recording, unsigned int part,
	       uint64_t ns)
{
	struct durations *durations = item->in[recording];

	if (!durations) {
		durations = item->in[recording] = calloc(1, sizeof(*durations));
		if (!durations)
			return -ENOMEM;
	}
	durations->count++;
	durations->sum += (double)ns;
	durations->part_count[part]++;
	durations->part_sum[part] += (double)ns;
	return keep(items, durations, ns);
}

int items_add(struct items *items, enum kind kind, uint32_t name, unsigned int recording,
	      unsigned int part, uint64_t ns)
{
	uint32_t *number = place(&items->of_name, &items->names_room, name);
	struct item *item;

	if (!number)
		return -ENOMEM;
	item = *number ? &items->one[*number - 1]
		       : add_item(items, number, kind, strdup(items->names.name[name] + 1));
	return item ? add(items, item, recording, part, ns) : -ENOMEM;
}

int items_add_wait(struct items *items, const char *name, unsigned int recording, unsigned int part,
		   uint64_t ns)
{
	char text[NAME_BYTES];
	uint32_t number;

	put_name(text, KIND_WAIT, name);
	number = fkt_path_name_known(&items->names, text);
	if (number == FKT_PATHS_NONE && items->waits == WAIT_MAX) {
		items->waits_left_out++;
		return 0;
	}
	if (number == FKT_PATHS_NONE) {
		number = fkt_path_name(&items->names, text);
		if (number == FKT_PATHS_NONE)
			return -ENOMEM;
		items->waits++;
	}
	return items_add(items, KIND_WAIT, number, recording, part, ns);
}

int items_add_path(struct items *items, uint32_t path, unsigned int recording, unsigned int part,
		   uint64_t ns)
{
	uint32_t *number;
	struct item *item;

	if (path >= STACK_MAX) {
		items->left_out++;
		return 0;
	}
	number = place(&items->of_path, &items->paths_room, path);
	if (!number)
		return -ENOMEM;
	item = *number ? &items->one[*number - 1]
		       : add_item(items, number, KIND_STACK, path_name(items, path));
	return item ? add(items, item, recording, part, ns) : -ENOMEM;
}

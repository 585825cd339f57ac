// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paths in the order in which they are shown, and as lines. A path may have any number of steps, so
 * nothing here calls itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

struct compared {
	uint32_t above;
	uint32_t node;
	const char *name;
};

static int compare(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;

	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* From the root down, to the next one beside, and up again. */
static void walk(struct paths_order *order, const struct fkt_paths *named,
		 const struct compared *all, uint32_t *next)
{
	const uint32_t last = named->count - 1;
	uint32_t node = FKT_PATHS_ROOT, depth = 0, at = 0;

	order->node[at++] = node;
	while (at < named->count) {
		if (next[node] == last || all[next[node]].above != node) {
			node = named->node[node].above;
			depth--;
			continue;
		}
		node = all[next[node]++].node;
		order->depth[at] = ++depth;
		order->node[at++] = node;
	}
}

int paths_order(struct paths_order *order, const struct fkt_paths *named,
		const struct fkt_path_names *names)
{
	const uint32_t count = named->count;
	struct compared *all = malloc(count * sizeof(*all));
	/* Where in @all those below a node begin, of which it is told as they come. */
	uint32_t *next = malloc(count * sizeof(*next));
	const struct fkt_path *path;

	order->node = calloc(count, sizeof(*order->node));
	order->depth = calloc(count, sizeof(*order->depth));
	order->total = calloc(count, sizeof(*order->total));
	if (!all || !next || !order->node || !order->depth || !order->total) {
		free(all);
		free(next);
		return -ENOMEM;
	}
	for (uint32_t i = count; i-- > 0;) {
		path = &named->node[i];
		next[i] = count - 1;
		order->total[i] += path->weight;
		if (!i)
			break;
		order->total[path->above] += order->total[i];
		all[i - 1] = (struct compared){ .above = path->above,
						.node = i,
						.name = names->name[path->key] };
	}
	qsort(all, count - 1, sizeof(*all), compare);
	for (uint32_t i = count - 1; i-- > 0;)
		next[all[i].above] = i;
	walk(order, named, all, next);
	free(all);
	free(next);
	return 0;
}

void paths_order_free(struct paths_order *order)
{
	free(order->node);
	free(order->depth);
	free(order->total);
}

uint32_t *paths_old(const struct fkt_paths *named, struct fkt_paths *before)
{
	uint32_t *old = calloc(named->count, sizeof(*old));

	for (uint32_t i = 1; old && i < named->count; i++) {
		old[i] = fkt_paths_below(before, old[named->node[i].above], named->node[i].key);
		if (old[i] == FKT_PATHS_NONE) {
			free(old);
			return NULL;
		}
	}
	return old;
}

/**
 * struct writer - at work
 * @text: the path to the node that is written
 * @room: of it
 * @end: by depth, where in @text the path up to there ends
 * @ends: how many there is room for
 */
struct writer {
	char *text;
	size_t room;
	size_t *end;
	uint32_t ends;
};

/* Behind the path comes " WAS IS" and a newline. */
#define NUMBERS_BYTES 64

static int add_name(struct writer *writer, uint32_t depth, const char *name)
{
	const size_t begin = depth > 1 ? writer->end[depth - 1] + 1 : 0;
	const size_t bytes = strlen(name), room = begin + bytes + NUMBERS_BYTES;
	size_t *end;
	char *text;

	if (room > writer->room) {
		text = realloc(writer->text, 2 * room);
		if (!text)
			return -ENOMEM;
		writer->text = text;
		writer->room = 2 * room;
	}
	if (depth >= writer->ends) {
		end = reallocarray(writer->end, depth + 1, 2 * sizeof(*end));
		if (!end)
			return -ENOMEM;
		writer->end = end;
		writer->ends = 2 * (depth + 1);
	}
	if (begin)
		writer->text[begin - 1] = ';';
	memcpy(writer->text + begin, name, bytes);
	writer->end[depth] = begin + bytes;
	return 0;
}

int paths_write(const struct fkt_paths *named, const struct fkt_path_names *names,
		struct fkt_paths *before, void (*put)(void *arg, const char *line, size_t bytes),
		void *arg)
{
	uint32_t *old = before ? paths_old(named, before) : NULL, node;
	struct paths_order order = { 0 };
	struct writer writer = { 0 };
	uint64_t weight, was = 0;
	int err, any = 0;
	size_t bytes;

	err = before && !old ? -ENOMEM : paths_order(&order, named, names);
	for (uint32_t i = 0; i < named->count && !err; i++) {
		node = order.node[i];
		/* The root has what there were too many paths for. */
		err = add_name(&writer, node ? order.depth[i] : 1,
			       node ? names->name[named->node[node].key] + 1 : "other");
		if (err)
			break;
		weight = named->node[node].weight;
		if (before)
			was = before->node[old[node]].weight;
		any |= !!weight;
		if (!weight && !was)
			continue;
		bytes = writer.end[node ? order.depth[i] : 1];
		if (before)
			bytes += (size_t)snprintf(writer.text + bytes, NUMBERS_BYTES, " %" PRIu64,
						  was);
		bytes += (size_t)snprintf(writer.text + bytes, NUMBERS_BYTES, " %" PRIu64 "\n",
					  weight);
		put(arg, writer.text, bytes);
	}
	paths_order_free(&order);
	free(writer.text);
	free(writer.end);
	free(old);
	return err ?: any;
}

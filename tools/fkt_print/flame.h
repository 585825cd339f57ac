/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs: weights by call path, as a picture. */
#ifndef FLAME_H
#define FLAME_H

#include <stdio.h>

#include "sum/paths.h"

/* The first character of a name is what it is, which colours it; the name follows. */
#define FLAME_THREAD	'T'
#define FLAME_SYSCALL	'S'
#define FLAME_FUNCTION	'F'
#define FLAME_INTERRUPT 'I'
#define FLAME_OUTSIDE	'O' /* of all calls: user mode, idle, ... */
#define FLAME_OTHER	'X'

/**
 * struct flame - a flame graph
 * @paths: the paths; their keys are names
 * @names: the names
 * @before: those of a trace to compare with, of the same names; without nodes if there is none
 * @title: what it is
 */
struct flame {
	struct fkt_paths paths;
	struct fkt_path_names *names;
	struct fkt_paths *before;
	const char *title;
};

/**
 * struct flame_order - the nodes of a flame graph in the order in which they are shown
 * @first: of each node, where in @node the nodes below it begin; those of node i end with
 *	@first[i + 1]
 * @node: nodes, by name
 * @total: of each node, its weight with all below it
 */
struct flame_order {
	uint32_t *first;
	uint32_t *node;
	uint64_t *total;
};

/* Put them in order: 0 or -ENOMEM; to be freed with flame_order_free() in both cases. */
int flame_order(struct flame_order *order, const struct flame *flame);
void flame_order_free(struct flame_order *order);

/* Write a picture that browsers show, zoom and search: 0 or -ENOMEM. */
int flame_svg(FILE *file, struct flame *flame);

#endif

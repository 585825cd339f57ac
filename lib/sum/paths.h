/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights by call path, for flame graphs: a tree whose nodes are found by the node above and a
 * key. It is used twice: with the keys of what is followed, such as rows; and then, when all names
 * are known, with names, so that what is called the same is the same.
 */
#ifndef FKT_SUM_PATHS_H
#define FKT_SUM_PATHS_H

#include <stdint.h>

/* The node above all others, and what is returned without memory. */
#define FKT_PATHS_ROOT 0
#define FKT_PATHS_NONE UINT32_MAX
/* So many paths are told from each other; the weight of further ones is that of their callers. */
#define FKT_PATHS_MAX  (1u << 22)

/**
 * struct fkt_path - a node
 * @key: the caller's
 * @above: the node above, whose number is less
 * @weight: its own, without those below
 */
struct fkt_path {
	uint64_t key;
	uint32_t above;
	uint64_t weight;
};

/**
 * struct fkt_paths - the tree
 * @node: all nodes, the root first
 * @count: how many
 * @room: of @node
 * @place: numbers of nodes, by hash
 * @seed: of the hash, so that no trace can be made to fill one place
 */
struct fkt_paths {
	struct fkt_path *node;
	uint32_t count;
	uint32_t room;
	uint32_t *place;
	uint64_t seed;
};

/* Begin: 0 or -ENOMEM. */
int fkt_paths_init(struct fkt_paths *paths);
void fkt_paths_free(struct fkt_paths *paths);

/*
 * The node below another one that has a key. It is @above itself where there are FKT_PATHS_MAX
 * already; FKT_PATHS_NONE without memory.
 */
uint32_t fkt_paths_below(struct fkt_paths *paths, uint32_t above, uint64_t key);

/**
 * struct fkt_path_names - names, each with a number of its own; begin with all zero
 * @name: the names
 * @count: how many
 * @room: of @name
 * @place: their numbers + 1, by hash
 * @seed: of the hash
 */
struct fkt_path_names {
	char **name;
	uint32_t count;
	uint32_t room;
	uint32_t *place;
	uint64_t seed;
};

/* The number of a name; FKT_PATHS_NONE without memory. */
uint32_t fkt_path_name(struct fkt_path_names *names, const char *name);
/* The same, FKT_PATHS_NONE where it has none. */
uint32_t fkt_path_name_known(const struct fkt_path_names *names, const char *name);
void fkt_path_names_free(struct fkt_path_names *names);

#endif

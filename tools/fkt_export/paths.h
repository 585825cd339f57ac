/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: a line for each path of names from a root, with a weight. A path is a node, which
 * is its last step and the node of what is before that.
 */
#ifndef FKT_EXPORT_PATHS_H
#define FKT_EXPORT_PATHS_H

#include <fkt/trace.h>

#include "interned.h"
#include "output.h"

#define PATH_NONE    UINT32_MAX

/* Steps: names of rows, of functions by address, and texts by number have ranges of their own. */
#define STEP_ROW     (1ull << 56)
#define STEP_TEXT    (2ull << 56)
#define STEP_SYMBOL  (3ull << 56)
#define STEP_FRAME   (4ull << 56)
#define STEP_KIND    (255ull << 56)
#define STEP_ADDRESS 0xffffffffffffff

/**
 * struct paths - the paths; begin with all zero
 * @node: the node before it + 1 and the step of each
 * @weight: of each, in cycles
 * @room: how many of @weight there is room for
 * @text: those of STEP_TEXT, whose 16 bytes are a pair
 * @frame: those of STEP_FRAME: in files, see fkt_frame_place()
 */
struct paths {
	struct interned node;
	uint64_t *weight;
	uint32_t room;
	struct interned text;
	struct interned frame;
};

/* A path one step longer; @node PATH_NONE: from a root. PATH_NONE without memory. */
uint32_t paths_step(struct paths *paths, uint32_t node, uint64_t step);
/* The step of a text of up to 16 bytes, such as a thread's name; 0 without memory. */
uint64_t paths_text(struct paths *paths, const char *text);
/* The step of a frame of a stack; likewise. */
uint64_t paths_frame(struct paths *paths, struct fkt_trace *trace, const struct fkt_stack *stack,
		     unsigned int i);
/* More weight. Return: 0 or -ENOMEM. */
int paths_add(struct paths *paths, uint32_t node, uint64_t cycles);

struct export;

/* Write the lines of all that have any weight. */
void paths_write(const struct paths *paths, struct export *export);
void paths_free(struct paths *paths);

#endif

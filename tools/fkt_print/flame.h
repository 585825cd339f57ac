/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flame graphs: weights by call path, as a picture. */
#ifndef FLAME_H
#define FLAME_H

#include <stdio.h>

#include "common/paths.h"

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

/* A sample, whose path's names are @names: 0 or -ENOMEM. */
struct context;
struct fkt_event;
int flame_sample(struct fkt_paths *paths, struct fkt_path_names *names,
		 const struct context *context, const struct fkt_event *event);
/* Then, the weights in nanoseconds. */
void flame_samples_end(struct fkt_paths *paths, const struct context *context);

/* Write a picture that browsers show, zoom and search: 0 or -ENOMEM. */
int flame_svg(FILE *file, struct flame *flame);

#endif

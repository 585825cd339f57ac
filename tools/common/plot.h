/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures by gnuplot. */
#ifndef FKT_COMMON_PLOT_H
#define FKT_COMMON_PLOT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct plot - a picture that is made
 * @file: what is written here, gnuplot does
 * @path: where the picture goes
 * @pid: gnuplot
 */
struct plot {
	FILE *file;
	const char *path;
	pid_t pid;
};

/* Whether a name is that of a picture that can be made: OUT.svg or OUT.png. */
bool plot_can(const char *path);

/* Begin a picture, of so many pixels: false after a complaint. */
bool plot_begin(struct plot *plot, const char *path, unsigned int width, unsigned int height);

/* End it: false after a complaint. */
bool plot_end(struct plot *plot);

#endif

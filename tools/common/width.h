/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How wide lines may be. */
#ifndef FKT_COMMON_WIDTH_H
#define FKT_COMMON_WIDTH_H

/* Of a terminal that does not say. */
#define USUAL_WIDTH 80

/**
 * output_width() - columns of the terminal to which standard output goes
 *
 * $COLUMNS says so whatever that is.
 *
 * Return: 0 when it is no terminal.
 */
unsigned int output_width(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Key masks as people write them. */
#ifndef FKT_COMMON_KEYS_H
#define FKT_COMMON_KEYS_H

#include <stddef.h>
#include <stdint.h>

#define FKT_KEYS_WHY_BYTES 768

/**
 * fkt_keys_parse - read a key mask
 * @text: a number or names of layers, or several of both with commas between them
 * @mask: where to put it
 * @why: at least FKT_KEYS_WHY_BYTES, for what is wrong with @text
 *
 * Return: 0, or -1 with @why filled in; @mask is then unchanged.
 */
int fkt_keys_parse(const char *text, uint32_t *mask, char *why);

/* The mask of all layers. */
uint32_t fkt_keys_all(void);

/**
 * fkt_keys_names - write the names of a mask's layers, with commas between them
 * @mask: the mask; bits without a layer are written as one number
 * @names: where to, always terminated
 * @bytes: room there
 */
void fkt_keys_names(uint32_t mask, char *names, size_t bytes);

#endif

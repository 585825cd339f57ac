/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other tools. */
#ifndef FKT_COMMON_BESIDE_H
#define FKT_COMMON_BESIDE_H

/**
 * become_beside() - become another tool: the one beside this program, or else the one that the
 *	shell finds
 * @argv: its words, the first one its name
 *
 * Returns only when there is none.
 */
void become_beside(char *const argv[]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs as people write them. */
#ifndef FKT_COMMON_CPUS_H
#define FKT_COMMON_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* A bit for each CPU. */
#define CPUS_BYTES (UINT16_MAX / 8 + 1)

/**
 * read_cpus() - a list of CPUs
 * @list: such as "0,2-3"
 * @cpus: its bits are set; NULL: only look
 *
 * Return: false when it is not one.
 */
bool read_cpus(const char *list, uint8_t cpus[CPUS_BYTES]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who records at the moment: there is one recording at a time. */
#ifndef FKT_COMMON_RECORDER_H
#define FKT_COMMON_RECORDER_H

#include <sys/types.h>

#define RECORDER_UNIT_BYTES 128

/**
 * recorder_find() - another fkt_record that runs, which is the one that records, unless somebody
 *	has called a second one just now
 * @unit: written: the service whose it is, such as fkt-flight.service; empty where it is none's
 *
 * Return: its process, 0 where none can be seen.
 */
pid_t recorder_find(char unit[RECORDER_UNIT_BYTES]);

#endif

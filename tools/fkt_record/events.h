/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tracepoints that -e names. */
#ifndef FKT_RECORD_EVENTS_H
#define FKT_RECORD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <fkt/ioctl.h>

#include "codes.h"

/** struct events - the tracepoints of one recording; begin with all zero */
struct events {
	struct fkt_tracepoint_spec *spec;
	size_t count;
};

/**
 * events_find - add the tracepoints that a pattern names
 * @codes: gives out their codes
 * @pattern: "system:event" or the tracepoint's name alone, or a glob of these
 * @later: take a name that there is not for that of a tracepoint of a module that comes later
 *
 * Exits with a message when there is none, or the kernel keeps it silent.
 */
void events_find(struct events *events, struct codes *codes, const char *pattern, bool later);

/**
 * events_set - give them to the module, for the next recording
 *
 * Return: 0, or -1 with a message.
 */
int events_set(const struct events *events, int device);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses that -P names. */
#ifndef FKT_RECORD_ADDRESSES_H
#define FKT_RECORD_ADDRESSES_H

#include <stddef.h>

#include <fkt/ioctl.h>

#include "codes.h"

/**
 * struct addresses - the addresses of one recording; begin with all zero
 * @spec: what the module is told
 * @text: what the user wrote, for messages
 * @count: how many
 * @fetch: what they record, one behind the other
 * @fetches: how many operations these are
 */
struct addresses {
	struct fkt_kprobe_spec *spec;
	const char **text;
	size_t count;
	struct fkt_fetch *fetch;
	size_t fetches;
};

/**
 * addresses_add - add a probe, written as in tracefs' kprobe_events
 * @codes: gives out its code
 * @text: the probe
 *
 * Exits with a message when it is wrong.
 */
void addresses_add(struct addresses *addresses, struct codes *codes, const char *text);

/**
 * addresses_set - give them to the module, for the next recording
 *
 * Return: 0, or -1 with a message.
 */
int addresses_set(const struct addresses *addresses, int device);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of probe that the command line names, each a file with a struct probe_kind. */
#ifndef FKT_RECORD_KINDS_H
#define FKT_RECORD_KINDS_H

#include <argp.h>

struct recording;

/* X(name): a file has kind_name. In the order in which they are found, and handed to the module. */
#define PROBE_KINDS(X)                                                                             \
	X(functions)                                                                               \
	X(events)                                                                                  \
	X(addresses)                                                                               \
	X(triggers)                                                                                \
	X(stacks)                                                                                  \
	X(filters)                                                                                 \
	X(strings)                                                                                 \
	X(longer)                                                                                  \
	X(profile)                                                                                 \
	X(programs)                                                                                \
	X(counters)                                                                                \
	/* a new one comes last */

/**
 * struct probe_kind - a kind of probe
 * @argp: its options; the parser's input is struct options
 * @find: look up what was named, before anything is done. Exits with a message where it is wrong
 * @set: describe the probes in the recording's codes and hand them to the module, for the next
 *	recording. Return: 0, or -1 with a message
 * @summary: say in the end what is not in the recording
 *
 * All but @argp and @set may be NULL.
 */
struct probe_kind {
	struct argp argp;
	void (*find)(struct recording *recording);
	int (*set)(struct recording *recording);
	void (*summary)(const struct recording *recording);
};

#define X(name) extern const struct probe_kind kind_##name;
PROBE_KINDS(X)
#undef X

/** kinds_options - the options of all kinds, each with the same input; the last one has no argp */
const struct argp_child *kinds_options(void);

/** kinds_input - give all parsers of kinds_options() their input; for ARGP_KEY_INIT */
void kinds_input(struct argp_state *state, void *input);

/** kinds_find, kinds_set, kinds_summary - the same of all kinds; the first error ends it */
void kinds_find(struct recording *recording);
int kinds_set(struct recording *recording);
void kinds_summary(const struct recording *recording);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of probe as one. */
#include <stddef.h>

#include "kinds.h"

static const struct probe_kind *const kinds[] = {
#define X(name) &kind_##name,
	PROBE_KINDS(X)
#undef X
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct argp_child *kinds_options(void)
{
	static struct argp_child options[KINDS + 1];

	for (size_t i = 0; i < KINDS; i++)
		options[i].argp = &kinds[i]->argp;
	return options;
}

void kinds_input(struct argp_state *state, void *input)
{
	for (size_t i = 0; i < KINDS; i++)
		state->child_inputs[i] = input;
}

void kinds_find(struct recording *recording)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->find)
			kinds[i]->find(recording);
}

int kinds_set(struct recording *recording)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->set(recording))
			return -1;
	return 0;
}

void kinds_summary(const struct recording *recording)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i]->summary)
			kinds[i]->summary(recording);
}

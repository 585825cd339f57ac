/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What command lines of tools have in common: -h, which argp leaves to programs, and the trace. */
#ifndef FKT_COMMON_HELP_H
#define FKT_COMMON_HELP_H

#include <argp.h>

/* Among a tool's options; its parser leaves it to fkt_other_option(). */
#define FKT_OPTION_HELP                                                                            \
	{                                                                                          \
		NULL, 'h', NULL, 0, "The same as --help", -1                                       \
	}

/* What a tool's parser returns of a key that is none of its own. */
static inline error_t fkt_other_option(int key, struct argp_state *state)
{
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
	return 0;
}

/* A trace as the argument that a tool takes one of. */
static inline const char *fkt_one_trace(struct argp_state *state, const char *arg)
{
	if (state->arg_num)
		argp_error(state, "%s: one trace at a time, please", arg);
	return arg;
}

#endif

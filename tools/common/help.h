/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -h, which argp leaves to programs: it knows -? and --help. */
#ifndef FKT_COMMON_HELP_H
#define FKT_COMMON_HELP_H

#include <argp.h>

/* Among a tool's options; its parser gives it to fkt_help(). */
#define FKT_OPTION_HELP                                                                            \
	{                                                                                          \
		NULL, 'h', NULL, 0, "The same as --help", -1                                       \
	}

/* Print what --help prints, and end the program. */
static inline void fkt_help(struct argp_state *state)
{
	argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How tools say what is wrong. */
#ifndef FKT_COMMON_COMPLAIN_H
#define FKT_COMMON_COMPLAIN_H

#include <errno.h>
#include <stdio.h>

/* "fkt_TOOL: WHAT: SENTENCE" on stderr; @what is a file, or whatever else it is wrong with. */
static inline void complain(const char *what, const char *sentence)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, sentence);
}

#endif

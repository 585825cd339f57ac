/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options from elsewhere than the command line: /etc/fkt/fkt.conf, ~/.config/fkt/config, the
 * environment, and named sets of them.
 */
#ifndef FKT_COMMON_CONFIG_H
#define FKT_COMMON_CONFIG_H

#include <argp.h>

/**
 * config_parse() - argp_parse(), of the options from elsewhere and then of those that are given
 * @argp, @argc, @argv, @flags, @input: as there; an option that is given counts, for it comes last.
 *	With ARGP_IN_ORDER the first words may be @NAME, for the set NAME. What @input keeps of the
 *	words stays
 *
 * Does not return when anything is wrong.
 */
void config_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * renames COUNT: change the own name to r0, r1, … as often: as many rename events, each one known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char name[32];

	for (unsigned long i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "r%lu", i);
		prctl(PR_SET_NAME, name, 0, 0, 0);
	}
	return 0;
}

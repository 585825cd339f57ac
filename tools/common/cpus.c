// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of CPUs as people write them. */
#include <stdlib.h>

#include "cpus.h"

bool read_cpus(const char *list, uint8_t cpus[CPUS_BYTES])
{
	unsigned long first, last;
	char *end;

	do {
		if (*list < '0' || *list > '9')
			return false;
		first = last = strtoul(list, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last > UINT16_MAX)
			return false;
		for (unsigned long cpu = first; cpus && cpu <= last; cpu++)
			cpus[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		list = end + 1;
	} while (*end == ',');
	return !*end;
}

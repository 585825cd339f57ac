// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which counters were read with the events (INFO's counters). */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* No counter's name has others: a column of a table is called by it. */
#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

unsigned int fkt_counters(const struct fkt_trace *trace)
{
	const char *names = fkt_info(trace, "counters");
	unsigned int count = 1;

	if (!names || !*names)
		return 0;
	while (count < FKT_COUNTERS_MAX && (names = strchr(names, ',')) && names++)
		count++;
	return count;
}

const char *fkt_counter_name(const struct fkt_trace *trace, unsigned int number,
			     char name[FKT_NAME_BYTES])
{
	const char *names = fkt_info(trace, "counters");
	size_t bytes;

	for (unsigned int i = 0; names && i < number; i++)
		names = strchr(names, ',') ? strchr(names, ',') + 1 : NULL;
	bytes = names ? strspn(names, LETTERS) : 0;
	if (!bytes || bytes >= FKT_NAME_BYTES || (names[bytes] && names[bytes] != ','))
		snprintf(name, FKT_NAME_BYTES, "counter%u", number);
	else
		snprintf(name, FKT_NAME_BYTES, "%.*s", (int)bytes, names);
	return name;
}

/* Two of the kernel's are clocks, which count nanoseconds. */
static const char *unit_of(const char *name)
{
	return !strcmp(name, "cpu-clock") || !strcmp(name, "task-clock") ? " ns" : "";
}

void fkt_counter_title(const struct fkt_trace *trace, unsigned int number,
		       char title[FKT_COUNTER_BYTES])
{
	char name[FKT_NAME_BYTES];

	fkt_counter_name(trace, number, name);
	snprintf(title, FKT_COUNTER_BYTES, "%s%s", name, unit_of(name));
}

void fkt_counter_key(const struct fkt_trace *trace, unsigned int number,
		     char key[FKT_COUNTER_BYTES])
{
	fkt_counter_title(trace, number, key);
	for (char *c = key; *c; c++)
		if (*c == '-' || *c == ' ')
			*c = '_';
}

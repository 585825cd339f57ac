// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "counted.h"
#include "trace/internal.h"

#define OWN "own_"

/* A table may be printed when the view that has made it is gone. */
static char titles[FKT_COUNTERS_MAX][FKT_COUNTER_BYTES];
static char keys[FKT_COUNTERS_MAX][sizeof(OWN) + FKT_COUNTER_BYTES];

/* Their keys stand behind OWN. */
static unsigned int make_names(const struct fkt_trace *trace)
{
	const unsigned int count = fkt_counters(trace);

	for (unsigned int i = 0; i < count; i++) {
		fkt_counter_title(trace, i, titles[i]);
		strcpy(keys[i], OWN);
		fkt_counter_key(trace, i, keys[i] + strlen(OWN));
	}
	return count;
}

unsigned int counted_columns(const struct fkt_trace *trace, struct fkt_column *columns)
{
	const unsigned int count = make_names(trace);

	for (unsigned int i = 0; i < count; i++)
		columns[i] = (struct fkt_column){ titles[i], keys[i] + strlen(OWN),
						  FKT_COLUMN_NUMBER, 0 };
	return count;
}

unsigned int counted_own_columns(const struct fkt_trace *trace, struct fkt_column *columns)
{
	const unsigned int count = make_names(trace);

	for (unsigned int i = 0; i < count; i++)
		columns[i] = (struct fkt_column){ titles[i], keys[i], FKT_COLUMN_NUMBER, 0 };
	return count;
}

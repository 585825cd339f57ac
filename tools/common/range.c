// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranges of time on the command line. */
#include <string.h>

#include <fkt/trace.h>

#include "common/range.h"

/* One end, which may be left out. */
static bool parse_end(const char *text, size_t bytes, bool *has, uint64_t *ns)
{
	char copy[64];

	if (!bytes)
		return true;
	if (bytes >= sizeof(copy))
		return false;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	*has = fkt_parse_time(copy, ns);
	return *has;
}

bool fkt_range_parse(const char *text, struct fkt_range *range)
{
	const char *dots = strstr(text, "..");

	*range = (struct fkt_range){ 0 };
	return dots && parse_end(text, (size_t)(dots - text), &range->has_from, &range->from_ns) &&
	       parse_end(dots + 2, strlen(dots + 2), &range->has_to, &range->to_ns) &&
	       (range->has_from || range->has_to);
}

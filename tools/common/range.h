/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two moments of a trace as people write them. */
#ifndef FKT_COMMON_RANGE_H
#define FKT_COMMON_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct fkt_range - from one moment to another
 * @has_from: it has a beginning
 * @has_to: it has an end
 * @from_ns: the beginning, since the trace's first event
 * @to_ns: the end
 */
struct fkt_range {
	bool has_from;
	bool has_to;
	uint64_t from_ns;
	uint64_t to_ns;
};

/**
 * fkt_range_parse - read "A..B", "A.." or "..B"
 * @text: it, whose ends are times as fkt_parse_time() knows them
 * @range: where to put it; changed in any case
 *
 * Return: whether it was one.
 */
bool fkt_range_parse(const char *text, struct fkt_range *range);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a trace lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "missing.h"
#include "show/table.h"

void missing_count(struct fkt_read_stats *stats, const struct fkt_gap *gap)
{
	uint64_t *const counts[] = {
		[FKT_GAP_LOST] = &stats->lost,
		[FKT_GAP_MISSING] = &stats->missing,
		[FKT_GAP_DAMAGED] = &stats->damaged,
	};

	if (gap->kind == FKT_GAP_DISCARDED || gap->kind == FKT_GAP_OVERWRITTEN)
		return; /* that the totals say so is enough */
	*counts[gap->kind] += gap->count;
}

static uint64_t info_number(const struct fkt_trace *trace, const char *key)
{
	const char *value = fkt_info(trace, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

bool missing_by_limit(const struct fkt_trace *trace, uint64_t to)
{
	return info_number(trace, "limit_reached") == 1 && to >= info_number(trace, "stop_cycles");
}

bool missing_short_calls(const struct fkt_trace *trace, char text[FKT_ERROR_BYTES])
{
	uint64_t cycles = info_number(trace, "longer_than_cycles");
	char least[FKT_DURATION_BYTES];

	if (!cycles)
		return false;
	snprintf(
		text, FKT_ERROR_BYTES,
		"calls that took no longer than %s were not recorded; their time is told as that of "
		"what was around them",
		fkt_duration(trace, cycles, least));
	return true;
}

void missing_tell_lost(const struct selection *selection, const struct fkt_read_stats *stats)
{
	char text[FKT_ERROR_BYTES];

	snprintf(text, sizeof(text),
		 "%" PRIu64 " event%s lost while it was recorded; the listing as text says where",
		 stats->lost, stats->lost == 1 ? " was" : "s were");
	selection_complain(selection, text);
}

void missing_tell_short_calls(const struct selection *selection, const struct fkt_trace *trace)
{
	char text[FKT_ERROR_BYTES];

	if (missing_short_calls(trace, text))
		selection_complain(selection, text);
}

/* fkt_recover has made it: what it could find is there. */
static void tell_recovered(const struct selection *selection, const struct fkt_trace *trace)
{
	uint64_t unwritten = info_number(trace, "recovered_unwritten");
	uint64_t unknown = info_number(trace, "recovered_unknown");
	char text[FKT_ERROR_BYTES];

	if (!info_number(trace, "recovered"))
		return;
	snprintf(text, sizeof(text),
		 "was recovered after a crash; %" PRIu64 " of its pages were in memory alone",
		 info_number(trace, "recovered_pages"));
	selection_complain(selection, text);
	if (!unwritten && !unknown)
		return;
	snprintf(text, sizeof(text),
		 "left out are %" PRIu64 " events that were being recorded, and %" PRIu64
		 " pages of which nothing says what was written into them",
		 unwritten, unknown);
	selection_complain(selection, text);
}

#define COUNTED_BYTES 80

/* "2 pages", or "" for none. */
static void put_counted(char text[COUNTED_BYTES], uint64_t count, const char *one, const char *many)
{
	*text = '\0';
	if (count)
		snprintf(text, COUNTED_BYTES, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

bool missing_tell(const struct selection *selection, const struct fkt_trace *trace,
		  const struct fkt_read_stats *stats, bool stopped)
{
	char text[FKT_ERROR_BYTES], damaged[COUNTED_BYTES], missing[COUNTED_BYTES];
	bool whole = true;

	tell_recovered(selection, trace);
	if (stats->foreign) {
		snprintf(text, sizeof(text),
			 "pages of another recording follow: this one was cut off; read up to "
			 "there, %" PRIu64 " pages",
			 stats->pages + stats->index_pages);
		selection_complain(selection, text);
		whole = false;
	} else if (!stopped && !fkt_is_complete(trace)) {
		snprintf(text, sizeof(text),
			 "the end sections are missing: the recording was cut off; read up to its "
			 "last whole page, %" PRIu64 " pages",
			 stats->pages + stats->index_pages);
		selection_complain(selection, text);
		whole = false;
	}
	if (stats->damaged || stats->missing) {
		put_counted(damaged, stats->damaged, "damaged page was skipped, or in part",
			    "damaged pages were skipped, or in part");
		put_counted(missing, stats->missing, "page is missing", "pages are missing");
		snprintf(text, sizeof(text), "%s%s%s", damaged, *damaged && *missing ? "; " : "",
			 missing);
		selection_complain(selection, text);
		whole = false;
	}
	return whole;
}

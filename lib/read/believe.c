// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which of a lane's pages to believe. A page may be damaged and still look like one: a number in
 * its header that is wrong by a bit would make billions of pages missing, or a trace of an hour one
 * of years.
 *
 * Within a lane, numbers of pages, numbers of lost events and stamps only grow (stamps but for what
 * clocks of CPUs that share it differ), and none is outside of the time of the recording. Of a page
 * that says otherwise, the one after it tells whether it is wrong, or the one before it was. Its
 * CPU is known without any other page.
 */
#include "internal.h"

/* After so many cycles without an event in a lane, some seconds, a page is looked at twice. */
#define FAR_CYCLES    (1ull << 33)
/* More pages than this are not missing at once, when nothing confirms it. */
#define MISSING_PAGES (1ull << 20)
/* So many pages are asked whether the clock's first reading is before them. */
#define FIRST_PAGES   4

/* Of a trace that was cut off: the first reading of the clock, when its first pages agree. */
static uint64_t earliest(struct fkt_trace *trace)
{
	struct fkt_page_header header;

	for (uint64_t page = 0; fkt_clocks(trace) && trace->input.seekable && page < FIRST_PAGES;
	     page++)
		if (fkt_read_page_header(trace, page, &header) == FKT_PAGE_EVENTS &&
		    header.first >= trace->clock[0].cycles)
			return trace->clock[0].cycles;
	return 0;
}

bool fkt_recorded(const struct fkt_trace *trace, uint64_t *start, uint64_t *stop)
{
	const char *start_text = fkt_info(trace, "start_cycles");
	const char *stop_text = fkt_info(trace, "stop_cycles");

	/* The clock was read before the recording began and after it ended: told twice. */
	return start_text && stop_text && fkt_parse_u64(start_text, start) &&
	       fkt_parse_u64(stop_text, stop) && fkt_clocks_agree(trace) &&
	       *start >= trace->clock[0].cycles && *stop <= trace->clock[1].cycles &&
	       *start <= *stop;
}

struct fkt_bounds fkt_stamp_bounds(struct fkt_trace *trace)
{
	uint64_t start, stop;

	if (!fkt_recorded(trace, &start, &stop))
		return (struct fkt_bounds){ earliest(trace), UINT64_MAX };
	return (struct fkt_bounds){ trace->clock[0].cycles, trace->clock[1].cycles };
}

/* By more than CPUs' clocks may differ. */
static bool is_earlier(uint64_t stamp, uint64_t than)
{
	return stamp < than && than - stamp > FKT_SKEW_CYCLES;
}

static bool is_wrong_time(const struct fkt_before *before, const struct fkt_page_header *header,
			  const struct fkt_page_header *next)
{
	if (is_earlier(header->first, before->stamp))
		return !next || !is_earlier(next->first, before->stamp);
	return next && header->first > before->stamp &&
	       header->first - before->stamp >= FAR_CYCLES && next->first < header->first &&
	       next->end < header->end;
}

static bool is_wrong_seq(const struct fkt_before *before, const struct fkt_page_header *header,
			 const struct fkt_page_header *next)
{
	if (header->seq <= before->seq)
		return next ? next->seq > before->seq : !before->jump;
	if (next)
		return next->seq <= header->seq;
	return header->seq - before->seq > MISSING_PAGES;
}

static bool is_wrong_lost(const struct fkt_trace *trace, const struct fkt_before *before,
			  const struct fkt_page_header *header, const struct fkt_page_header *next)
{
	const struct fkt_lane_totals *totals;

	if (header->lost < before->lost)
		return next ? next->lost >= before->lost : !before->more_lost;
	if (next)
		return next->lost < header->lost;
	for (size_t i = 0; (totals = fkt_lane_totals(trace, i)); i++)
		if (totals->lane == header->lane)
			return header->lost > totals->lost;
	return header->lost - before->lost > FKT_LOST_EVENTS;
}

static bool is_wrong_cpu(const struct fkt_before *before, const struct fkt_page_header *header)
{
	return before->cpu != FKT_CPU_ANY && header->cpu != before->cpu;
}

enum fkt_belief fkt_believe(const struct fkt_trace *trace, const struct fkt_bounds *bounds,
			    const struct fkt_before *before, struct fkt_page_header *header,
			    const struct fkt_page_header *next)
{
	enum fkt_belief belief = FKT_BELIEVED;

	if (header->first < bounds->low || header->first > bounds->high)
		return FKT_NOT_BELIEVED;
	if (header->end > bounds->high) {
		header->end = bounds->high;
		belief = FKT_REPAIRED;
	}
	if (is_wrong_cpu(before, header)) {
		/* Neither its CPU nor its number is of this lane: it is another one's. */
		if (!before->joined && header->seq != before->seq + 1)
			return FKT_NOT_BELIEVED;
		header->cpu = before->cpu;
		belief = FKT_REPAIRED;
	}
	if (before->joined)
		return belief;
	if (next && (next->first < bounds->low || next->first > bounds->high))
		next = NULL;
	if (is_wrong_time(before, header, next))
		return FKT_NOT_BELIEVED;
	if (header->seq != before->seq + 1 && is_wrong_seq(before, header, next)) {
		header->seq = before->seq + 1;
		belief = FKT_REPAIRED;
	}
	if (header->lost != before->lost && is_wrong_lost(trace, before, header, next)) {
		header->lost = before->lost;
		belief = FKT_REPAIRED;
	}
	return belief;
}

bool fkt_needs_belief(const struct fkt_bounds *bounds, const struct fkt_before *before,
		      const struct fkt_page_header *header)
{
	return is_wrong_cpu(before, header) || header->seq != before->seq + 1 ||
	       header->lost != before->lost ||
	       header->first - before->stamp + FKT_SKEW_CYCLES >= FAR_CYCLES ||
	       header->first < bounds->low || header->end > bounds->high;
}

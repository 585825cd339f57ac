// SPDX-License-Identifier: GPL-2.0-or-later
/* Of which codes and functions a trace has anything. */
#include <errno.h>
#include <unistd.h>

#include "came.h"
#include "trace/internal.h"

#define EVENTS_AT_ONCE 4096

void came_free(struct came *came)
{
	fkt_analysis_free(came->analysis);
	fkt_processes_free(came->processes);
	came->analysis = NULL;
	came->processes = NULL;
}

static bool begin(struct came *came)
{
	static const struct fkt_analysis_hooks none;

	came_free(came);
	came->processes = fkt_processes_new(came->trace);
	if (came->processes)
		came->analysis = fkt_analysis_new(came->trace, came->processes, &none);
	return came->analysis;
}

static int read_one_by_one(struct came *came, struct fkt_trace *trace)
{
	struct fkt_reader *reader = fkt_reader_new(trace);
	int what = -ENOMEM;

	while (reader && (what = fkt_analysis_read(came->analysis, came->processes, reader,
						   EVENTS_AT_ONCE)) > 0)
		;
	fkt_reader_free(reader);
	return what;
}

static void read_trace(struct came *came)
{
	struct fkt_trace *trace = (struct fkt_trace *)came->trace;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct fkt_read_stats stats;
	uint64_t first, last;
	int err = -EAGAIN;

	came->tried = true;
	if (trace->streaming || !fkt_span(trace, &first, &last) || !begin(came))
		return;
	if (fkt_can_sum(trace))
		err = fkt_sum(trace, came->processes, came->analysis,
			      cpus > 0 ? (unsigned int)cpus : 1, &stats);
	if (err == -EAGAIN && begin(came))
		err = read_one_by_one(came, trace);
	/* What comes before a page that can't be read has come. */
	if (err == -ENOMEM || !came->analysis || fkt_analysis_end(came->analysis, last))
		came_free(came);
}

bool came_is_known(struct came *came)
{
	if (!came->tried)
		read_trace(came);
	return came->analysis;
}

bool came_code(struct came *came, uint32_t code)
{
	return came_is_known(came) && fkt_analysis_code_count(came->analysis, code);
}

bool came_row(struct came *came, uint32_t row)
{
	const struct fkt_row_sums *sums;

	if (!came_is_known(came))
		return false;
	sums = fkt_analysis_row(came->analysis, row);
	return sums->calls || sums->partial || sums->own;
}

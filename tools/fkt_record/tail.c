// SPDX-License-Identifier: GPL-2.0-or-later
/* The tail of a trace: what is known only after the recording. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>

#include "record.h"
#include "sections.h"

/* Without the lanes' totals. */
#define TAIL_BYTES 4096
/* For modules that came while recording, on a device that is filled up to its end. */
#define LATE_BYTES (128 * 1024)

static void add_info_number(struct sections *tail, const char *key, uint64_t value)
{
	sections_printf(tail, "%s=%" PRIu64, key, value);
	sections_add(tail, "", 1);
}

/* What was overwritten, and from when on nothing was, on any CPU. */
static uint64_t add_overwritten(struct sections *tail, const struct recording *recording)
{
	uint64_t events = 0, from = 0;

	for (uint32_t i = 0; i < recording->status.lanes; i++) {
		events += recording->lane_status[i].overwritten;
		if (recording->lane_status[i].complete_from > from)
			from = recording->lane_status[i].complete_from;
	}
	add_info_number(tail, "overwritten", events);
	if (from)
		add_info_number(tail, "complete_from_cycles", from);
	return from ? from : recording->status.start_cycles;
}

static void add_infos(struct sections *tail, const struct recording *recording, uint64_t end_ns)
{
	const struct fkt_status *status = &recording->status;
	uint64_t start = status->start_cycles;

	sections_begin(tail, FKT_SECTION_INFO);
	add_info_number(tail, "end_ns", end_ns);
	/* Time before is nobody's. */
	if (recording->options.on_full == FKT_ON_FULL_OVERWRITE)
		start = add_overwritten(tail, recording);
	add_info_number(tail, "start_cycles", start);
	add_info_number(tail, "stop_cycles", status->stop_cycles);
	add_info_number(tail, "events", status->events);
	add_info_number(tail, "lost", status->lost);
	add_info_number(tail, "discarded", status->discarded);
	add_info_number(tail, "pages", status->pages);
	add_info_number(tail, "bytes", status->bytes);
	add_info_number(tail, "missed", status->missed);
	add_info_number(tail, "application_events", status->applications);
	add_info_number(tail, "application_lost", status->applications_lost);
	add_info_number(tail, "pauses", status->pauses);
	add_info_number(tail, "flush_cpu_ns", status->flush_cpu_ns);
	add_info_number(tail, "sync_cpu_ns", status->sync_cpu_ns);
	add_info_number(tail, "direct", status->direct);
	add_info_number(tail, "limit_reached", status->limit_reached);
	add_info_number(tail, "error", (uint64_t)status->error);
	if (recording->trigger) {
		sections_printf(tail, "trigger=%s", recording->trigger);
		sections_add(tail, "", 1);
		add_info_number(tail, "trigger_tid", recording->fired.tid);
		add_info_number(tail, "trigger_cycles",
				recording->fired.stamp ?: status->stop_cycles);
	}
	if (recording->child.ended)
		add_info_number(tail, "exit_status", (uint64_t)recording->child.status);
	sections_end(tail);
}

static void add_late(struct sections *tail, const struct recording *recording)
{
	struct sections late = { 0 };

	modules_add_late(&late, recording);
	if (recording->output.kind == OUTPUT_BLOCK && late.bytes > LATE_BYTES)
		warnx("%s: no room for the names of modules that came while recording",
		      recording->output.name);
	else if (late.bytes)
		sections_add(tail, late.data, late.bytes);
	free(late.data);
}

void tail_build(struct sections *tail, const struct recording *recording)
{
	struct fkt_clock_pair end = clock_pair();

	end.cycles += recording->status.clock_ahead;
	sections_begin(tail, FKT_SECTION_CLOCK);
	sections_add(tail, &end, sizeof(end));
	sections_end(tail);

	sections_begin(tail, FKT_SECTION_LANES);
	for (uint32_t i = 0; i < recording->status.lanes; i++) {
		const struct fkt_lane_status *lane = &recording->lane_status[i];
		struct fkt_lane_totals totals = {
			.lane = lane->lane,
			.cpu = lane->cpu,
			.events = lane->events,
			.lost = lane->lost,
			.pages = lane->pages,
			.discarded = lane->discarded,
		};

		sections_add(tail, &totals, sizeof(totals));
	}
	sections_end(tail);

	add_infos(tail, recording, end.real_ns);
	add_late(tail, recording);
	maps_add_tail(tail, recording);
	sections_begin(tail, FKT_SECTION_END);
	sections_end(tail);
}

size_t tail_room(const struct recording *recording)
{
	return TAIL_BYTES + LATE_BYTES + maps_room() +
	       recording->lanes * sizeof(struct fkt_lane_totals);
}

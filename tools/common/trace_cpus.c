// SPDX-License-Identifier: GPL-2.0-or-later
/* CPUs that are asked for, and those that a trace has. */
#include "trace/internal.h"
#include "trace_cpus.h"

/* CPUs have the numbers below what the trace says, 0 if it does not. */
static uint64_t count_cpus(const struct fkt_trace *trace)
{
	const char *info = fkt_info(trace, "cpus");
	const struct fkt_lane_totals *totals;
	uint64_t cpus = 0;

	if (!info || !fkt_parse_u64(info, &cpus))
		return 0;
	if (!fkt_header(trace)->shared && fkt_header(trace)->lanes > cpus)
		cpus = fkt_header(trace)->lanes;
	for (size_t i = 0; (totals = fkt_lane_totals(trace, i)); i++)
		if (totals->cpu != FKT_CPU_ANY && totals->cpu >= cpus)
			cpus = totals->cpu + 1u;
	return cpus;
}

bool has_cpus(const struct fkt_trace *trace, const uint8_t listed[CPUS_BYTES])
{
	uint64_t cpus = count_cpus(trace);

	for (uint64_t cpu = 0; cpu < (cpus ? cpus : UINT16_MAX) && cpu < UINT16_MAX; cpu++)
		if (listed[cpu / 8] & 1u << cpu % 8)
			return true;
	return false;
}

bool has_cpus_of(const struct fkt_trace *trace, const char *list)
{
	uint8_t listed[CPUS_BYTES] = { 0 };

	return read_cpus(list, listed) && has_cpus(trace, listed);
}

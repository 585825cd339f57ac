// SPDX-License-Identifier: GPL-2.0-or-later
/* The time of each thread on each CPU. */
#include <errno.h>
#include <stdlib.h>

#include "print.h"

static const struct fkt_column on_cpu_columns[] = {
	{ "Pid", "pid", FKT_COLUMN_TEXT, 7 },
	{ "Process", "process", FKT_COLUMN_TEXT, 16 },
	{ "CPU", "cpu", FKT_COLUMN_NUMBER, 4 },
	{ "Cycles", "cycles", FKT_COLUMN_CYCLES, 16 },
	{ "Time", "time_ns", FKT_COLUMN_DURATION, 12 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 8 },
	{ 0 },
};

static int cpus_print(const struct context *context, void *view)
{
	struct fkt_analysis *analysis = context->analysis;
	struct fkt_output *out = context->out;
	const struct fkt_process *process;
	struct fkt_thread_sums *rows;
	char pid[PID_BYTES];
	uint64_t cycles;
	size_t count;

	(void)view;
	rows = fkt_analysis_threads(analysis, &count);
	if (!rows)
		return -ENOMEM;
	fkt_table_line(out, "%s", "");
	fkt_table_begin(out, on_cpu_columns);
	for (size_t i = 0; i < count; i++) {
		process = fkt_process(context->processes, rows[i].id);
		put_pid(process, pid);
		if (!filter_thread(context->filter, rows[i].id))
			continue;
		for (uint32_t cpu = 0; cpu < fkt_analysis_cpu_end(analysis); cpu++) {
			cycles = fkt_analysis_on_cpu(analysis, rows[i].id, (uint16_t)cpu);
			if (!cycles)
				continue;
			fkt_table_row(out, "on_cpu", on_cpu_columns,
				      (const union fkt_cell[]){
					      { .text = pid },
					      { .text = process->comm },
					      { .number = cpu },
					      { .number = cycles },
					      { .number = cycles },
					      { .number = fkt_parts(cycles, fkt_analysis_duration(
										    analysis)) } },
				      false);
		}
	}
	free(rows);
	return 0;
}

static const struct argp_option cpus_options[] = {
	{ .name = "cpus", .doc = "The time of each thread on each CPU" },
	{ 0 },
};

const struct view view_cpus = {
	.name = "cpus",
	.wants = VIEW_SUMS | VIEW_ORDER,
	.option = cpus_options,
	.print = cpus_print,
};

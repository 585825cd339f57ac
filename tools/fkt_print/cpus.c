// SPDX-License-Identifier: GPL-2.0-or-later
/* The time of each thread on each CPU. */
#include <errno.h>
#include <stdlib.h>

#include "print.h"

static const struct fkt_column on_cpu_columns[] = {
	{ "Pid", "tid", FKT_COLUMN_NUMBER, 0 },
	{ "Process", "process", FKT_COLUMN_TEXT, 0 },
	{ "CPU", "cpu", FKT_COLUMN_NUMBER, 0 },
	{ "Time", "on_cpu", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ 0 },
};

static void print_row(const struct context *context, const struct fkt_process *process,
		      const struct fkt_on_cpu *on)
{
	char name[FKT_THREAD_BYTES];

	fkt_table_row(context->out, "on_cpu", on_cpu_columns,
		      (const union fkt_cell[]){
			      { .number = pid_cell(process) },
			      { .text = on->id ? fkt_thread_name(process, name) : "unknown" },
			      { .number = on->cpu },
			      { .number = on->cycles },
			      { .number = fkt_parts(on->cycles,
						    fkt_analysis_duration(context->analysis)) } },
		      false);
}

static int compare_ids(const void *key, const void *on)
{
	const uint32_t id = *(const uint32_t *)key, its = ((const struct fkt_on_cpu *)on)->id;

	return id < its ? -1 : id > its;
}

/* Threads in the order of the summary, each with its CPUs. */
static int cpus_print(const struct context *context, void *view)
{
	size_t threads = 0, times = 0;
	struct fkt_thread_sums *rows = fkt_analysis_threads(context->analysis, &threads);
	struct fkt_on_cpu *all = fkt_analysis_on_cpus(context->analysis, &times);
	const struct fkt_on_cpu *on;
	int err = 0;

	(void)view;
	if (!rows || !all) {
		err = -ENOMEM;
		goto out_free;
	}
	if (!times)
		tell_nothing(context, "time on a CPU", false);
	else
		fkt_table_line(context->out, "%s", "");
	if (times || !fkt_format_for_people(context->out->format))
		fkt_table_begin(context->out, on_cpu_columns);
	for (size_t i = 0; i < threads; i++) {
		on = bsearch(&rows[i].id, all, times, sizeof(*all), compare_ids);
		while (on && on > all && on[-1].id == on->id)
			on--;
		for (; on && on < all + times && on->id == rows[i].id; on++)
			print_row(context, fkt_process(context->processes, on->id), on);
	}
out_free:
	free(rows);
	free(all);
	return err;
}

static const struct argp_option cpus_options[] = {
	{ .name = "cpus", .doc = "The time of each thread on each CPU" },
	{ 0 },
};

const struct view view_cpus = {
	.name = "cpus",
	.wants = VIEW_SUMS,
	.refuses = FILTER_CALLS,
	.about = "how long threads ran on CPUs, in whatever call",
	.option = cpus_options,
	.print = cpus_print,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, for flame graphs: the lines of fkt_print --folded. Of calls, what is around them
 * and their own time; of waits, the stack with which a thread left its CPU and for how long it did
 * not run, both in nanoseconds.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/paths.h"
#include "format.h"

struct folded {
	struct export *export;
	struct fkt_path_names names;
	struct paths *paths;
	bool calls; /* are picked: nothing outside of them is counted */
};

static int process(void *format, const struct fkt_event *event)
{
	const struct folded *folded = format;

	return paths_process(folded->paths, folded->export->analysis, event);
}

static int look(void *format, const struct fkt_event *event)
{
	const struct folded *folded = format;

	return paths_event(folded->paths, event, folded->export->stack);
}

static int enter(void *format, const struct fkt_call *call, bool passes)
{
	const struct folded *folded = format;

	(void)passes;
	return paths_enter(folded->paths, call);
}

static int leave(void *format, const struct fkt_call *call, bool passes)
{
	const struct folded *folded = format;

	return paths_leave(folded->paths, folded->export->analysis, call, passes || !folded->calls);
}

static int moved(void *format, uint32_t from, uint32_t to)
{
	const struct folded *folded = format;

	return paths_moved(folded->paths, folded->export->analysis, from, to);
}

static int wait(void *format, const struct fkt_wait *wait)
{
	const struct folded *folded = format;

	return paths_wait(folded->paths, wait);
}

static void put_line(void *arg, const char *line, size_t bytes)
{
	output_bytes(arg, line, bytes);
}

static int end(void *format, uint64_t last)
{
	const struct folded *folded = format;
	struct export *export = folded->export;
	struct fkt_paths named;
	int err;

	(void)last;
	err = paths_end(folded->paths, export->analysis, &named);
	if (!err)
		err = paths_write(&named, &folded->names, NULL, put_line, export->out);
	fkt_paths_free(&named);
	return err < 0 ? err : 0;
}

static void free_folded(void *format)
{
	struct folded *folded = format;

	paths_free(folded->paths);
	fkt_path_names_free(&folded->names);
	free(folded);
}

static void *begin_paths(struct export *export, enum paths_of of)
{
	struct folded *folded = calloc(1, sizeof(*folded));

	if (!folded)
		return NULL;
	folded->export = export;
	folded->calls = filter_picks_calls(export->filter);
	folded->paths =
		paths_new(of, !folded->calls, export->trace, export->processes, &folded->names);
	if (!folded->paths) {
		free(folded);
		return NULL;
	}
	return folded;
}

static void *begin_own(struct export *export)
{
	return begin_paths(export, PATHS_OWN);
}

static void *begin_off_cpu(struct export *export)
{
	return begin_paths(export, PATHS_OFF_CPU);
}

const struct export_format export_folded = {
	.name = "folded",
	.about = "flamegraph.pl, Speedscope, inferno: own time of calls by those around them, in "
		 "ns, as fkt_print --folded",
	.lacks = "when anything happened, and who waited; losses shorten the sums",
	.wants = EXPORT_NS | EXPORT_SUMS,
	.begin = begin_own,
	.process = process,
	.enter = enter,
	.leave = leave,
	.moved = moved,
	.end = end,
	.free = free_folded,
};

/* It takes a trace with stacks of switches; without them, the call in which it was stands there. */
const struct export_format export_offcpu = {
	.name = "offcpu",
	.about = "the same tools as folded: how long threads did not run, by stack, in ns",
	.lacks = "when anything happened, who woke whom, and what ran; losses shorten the sums",
	.wants = EXPORT_NS,
	.begin = begin_off_cpu,
	.process = process,
	.look = look,
	.wait = wait,
	.end = end,
	.free = free_folded,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks of calls: the thread's name, the calls around each other, and the innermost one's
 * own time on a CPU in nanoseconds, for flame graphs.
 */
#include <errno.h>
#include <stdlib.h>

#include "format.h"
#include "frames.h"
#include "paths.h"

struct folded {
	struct export *export;
	struct paths paths;
	struct frames frames;
};

/* The path of a call; PATH_NONE without memory. */
static uint32_t path_of(struct folded *folded, const struct fkt_call *call)
{
	uint32_t node = PATH_NONE;
	uint64_t root;

	/* One whose beginning nobody saw hangs on the nearest that is known. */
	for (uint32_t depth = call->depth; depth-- && node == PATH_NONE;)
		node = frames_get(&folded->frames, call, depth);
	if (node == PATH_NONE) {
		root = paths_text(&folded->paths,
				  call->interrupt
					  ? "interrupts"
					  : fkt_process(folded->export->processes, call->id)->comm);
		node = root ? paths_step(&folded->paths, PATH_NONE, root) : PATH_NONE;
		if (node == PATH_NONE)
			return node;
	}
	return paths_step(&folded->paths, node, STEP_ROW | call->row);
}

static int enter(void *format, const struct fkt_call *call)
{
	struct folded *folded = format;
	uint32_t node = path_of(folded, call);

	return node == PATH_NONE ? -ENOMEM : frames_set(&folded->frames, call, node);
}

static int leave(void *format, const struct fkt_call *call, bool passes)
{
	struct folded *folded = format;
	uint32_t node = frames_get(&folded->frames, call, call->depth);

	if (node == PATH_NONE && passes)
		node = path_of(folded, call);
	if (!passes)
		return node == PATH_NONE ? 0 : frames_set(&folded->frames, call, FRAME_NONE);
	return (node == PATH_NONE ? -ENOMEM : 0) ?:
		       paths_add(&folded->paths, node, call->own) ?:
		       frames_set(&folded->frames, call, FRAME_NONE);
}

static int moved(void *format, uint32_t from, uint32_t to)
{
	struct folded *folded = format;

	return frames_swap(&folded->frames, from, to);
}

/* What threads did outside of all calls. */
static int add_user(struct folded *folded)
{
	struct fkt_thread_sums *sums;
	uint64_t root, user;
	uint32_t node;
	size_t count;
	int err = 0;

	sums = fkt_analysis_threads(folded->export->analysis, &count);
	user = paths_text(&folded->paths, "user");
	if (!sums || !user)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < count; i++) {
		if (!sums[i].user)
			continue;
		root = paths_text(&folded->paths,
				  fkt_process(folded->export->processes, sums[i].id)->comm);
		node = root ? paths_step(&folded->paths, PATH_NONE, root) : PATH_NONE;
		node = node == PATH_NONE ? node : paths_step(&folded->paths, node, user);
		err = node == PATH_NONE ? -ENOMEM : paths_add(&folded->paths, node, sums[i].user);
	}
	free(sums);
	return err;
}

static int end(void *format, uint64_t last)
{
	struct folded *folded = format;
	int err = 0;

	(void)last;
	if (!filter_picks_calls(folded->export->filter))
		err = add_user(folded);
	if (!err)
		paths_write(&folded->paths, folded->export);
	return err;
}

static void free_folded(void *format)
{
	struct folded *folded = format;

	paths_free(&folded->paths);
	frames_free(&folded->frames);
	free(folded);
}

static void *begin(struct export *export)
{
	struct folded *folded = calloc(1, sizeof(*folded));

	if (folded)
		folded->export = export;
	return folded;
}

const struct export_format export_folded = {
	.name = "folded",
	.about =
		"flamegraph.pl, Speedscope, inferno: own time of calls by those around them, in ns",
	.lacks = "when anything happened, who waited, and what is no call; losses shorten the sums",
	.wants = EXPORT_NS | EXPORT_SUMS,
	.begin = begin,
	.enter = enter,
	.leave = leave,
	.moved = moved,
	.end = end,
	.free = free_folded,
};

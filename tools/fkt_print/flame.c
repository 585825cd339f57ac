// SPDX-License-Identifier: GPL-2.0-or-later
/* --folded and --flamegraph: weights by call path, as common/paths.h has them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/create.h"
#include "common/distance.h"
#include "flame.h"
#include "print.h"

static const char *const whats[] = { "own", "off-cpu", "wakeups", "samples" };
static const char *const titles[] = {
	"Own time of calls",
	"Time off the CPU, by where threads left it",
	"Time off the CPU, by what ended it",
	"Time on the CPU, by samples",
};

/* What no enum paths_of is: the stacks of samples. */
#define SAMPLES (sizeof(whats) / sizeof(whats[0]) - 1)

static unsigned int what;
static const char *svg; /* NULL: as lines */

/* The names of this trace and of the one before it, whose paths are kept. */
static struct fkt_path_names names;
static struct fkt_paths before;
static bool before_ns; /* they are in nanoseconds */

/**
 * struct flame_view - the view
 * @context: what it knows
 * @calls: calls are picked: nothing outside of them is counted
 * @paths: the paths; NULL with those of samples
 * @samples: numbers of samples, by names
 */
struct flame_view {
	const struct context *context;
	bool calls;
	struct paths *paths;
	struct fkt_paths samples;
};

static void flame_free(void *view)
{
	struct flame_view *flame = view;
	const bool is_before = flame->context->options->is_before;

	if (flame->paths)
		paths_free(flame->paths);
	fkt_paths_free(&flame->samples);
	free(flame);
	/* What is of the trace before this one is needed for this one. */
	if (is_before)
		return;
	fkt_paths_free(&before);
	fkt_path_names_free(&names);
}

static void *flame_new(const struct context *context)
{
	struct flame_view *flame = calloc(1, sizeof(*flame));

	if (!flame)
		return NULL;
	flame->context = context;
	flame->calls = filter_picks_calls(context->filter);
	if (what != SAMPLES)
		flame->paths =
			paths_new(what, !flame->calls, context->trace, context->processes, &names);
	if (what == SAMPLES ? fkt_paths_init(&flame->samples) : !flame->paths) {
		flame_free(flame);
		return NULL;
	}
	return flame;
}

static int flame_process(void *view, const struct fkt_event *event)
{
	const struct flame_view *flame = view;

	return what == SAMPLES ? 0 : paths_process(flame->paths, flame->context->analysis, event);
}

static bool flame_no_events(const void *view)
{
	(void)view;
	return what == PATHS_OWN;
}

/* All are looked at: what began before the time that is asked for may go on in it. */
static int flame_event(void *view, const struct fkt_event *event, bool passes)
{
	struct flame_view *flame = view;

	if (what == SAMPLES)
		return passes && is_sample(event)
			       ? flame_sample(&flame->samples, &names, flame->context, event)
			       : 0;
	return paths_event(flame->paths, event, flame->context->stack);
}

static int flame_enter(void *view, const struct fkt_call *call, bool passes)
{
	const struct flame_view *flame = view;

	(void)passes;
	return what == SAMPLES ? 0 : paths_enter(flame->paths, call);
}

static int flame_leave(void *view, const struct fkt_call *call, bool passes)
{
	const struct flame_view *flame = view;

	return what == SAMPLES ? 0
			       : paths_leave(flame->paths, flame->context->analysis, call,
					     passes || !flame->calls);
}

static int flame_moved(void *view, uint32_t from, uint32_t to)
{
	const struct flame_view *flame = view;

	return what == SAMPLES ? 0 : paths_moved(flame->paths, flame->context->analysis, from, to);
}

static int flame_wait(void *view, const struct fkt_wait *wait, bool passes)
{
	const struct flame_view *flame = view;

	return passes && what != SAMPLES ? paths_wait(flame->paths, wait) : 0;
}

/* What was only in the trace before is in this one with no weight. */
static int add_old(struct fkt_paths *paths)
{
	uint32_t *node = malloc(before.count * sizeof(*node));
	int err = node ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < before.count && !err; i++) {
		node[i] = i ? fkt_paths_below(paths, node[before.node[i].above], before.node[i].key)
			    : FKT_PATHS_ROOT;
		err = node[i] == FKT_PATHS_NONE ? -ENOMEM : 0;
	}
	free(node);
	return err;
}

static void put_line(void *arg, const char *line, size_t bytes)
{
	fwrite(line, 1, bytes, arg);
}

static int write_flame(const struct context *context, struct flame *flame)
{
	FILE *file;
	int err;

	if (!svg) {
		err = paths_write(&flame->paths, flame->names, flame->before, put_line,
				  context->out->file);
		if (!err)
			fprintf(stderr, "%s: %s: no time that was asked for was seen\n",
				program_invocation_short_name,
				selection_path(&context->options->selected));
		return err < 0 ? err : 0;
	}
	file = fkt_create(svg);
	if (!file)
		return 1;
	err = flame_svg(file, flame);
	return fkt_created(file, svg) ? err : err ?: 1;
}

static int flame_print(const struct context *context, void *view)
{
	struct flame_view *shown = view;
	struct flame flame = { .names = &names, .title = titles[what] };
	int err = 0;

	if (what == SAMPLES) {
		flame_samples_end(&shown->samples, context);
		flame.paths = shown->samples;
		shown->samples = (struct fkt_paths){ 0 };
	} else {
		err = paths_end(shown->paths, context->analysis, &flame.paths);
	}

	if (!err && context->options->is_before) {
		before = flame.paths;
		before_ns = fkt_has_clock(context->trace);
		return 0;
	}
	if (!err && context->options->before && before_ns != fkt_has_clock(context->trace)) {
		fprintf(stderr, "%s: only one of %s and %s says how fast its clock is\n",
			program_invocation_short_name, context->options->before,
			selection_path(&context->options->selected));
		err = 1;
	}
	if (!err && context->options->before) {
		flame.before = &before;
		err = add_old(&flame.paths);
	}
	if (!err)
		err = write_flame(context, &flame);
	fkt_paths_free(&flame.paths);
	return err;
}

enum {
	OPTION_FOLDED,
	OPTION_FLAMEGRAPH,
	OPTION_WEIGHT,
	OPTION_DIFF,
};

static const struct argp_option flame_options[] = {
	[OPTION_FOLDED] = { .name = "folded",
			    .doc = "Own time by call path, a;b;c NANOSECONDS, as tools for flame "
				   "graphs read it" },
	[OPTION_FLAMEGRAPH] = { .name = "flamegraph",
				.arg = "OUT.svg",
				.doc = "The same as a picture, that a browser zooms and searches" },
	[OPTION_WEIGHT] = { .name = "flame-of",
			    .arg = "WHAT",
			    .doc = "Of what these are: own (own time, the default); off-cpu (time "
				   "off the CPU by where threads left it: by stack if the trace "
				   "has stacks of switches); wakeups (the same by what ended it); "
				   "samples (of fkt_record --profile, by their stacks)" },
	[OPTION_DIFF] = { .name = "diff",
			  .arg = "BEFORE",
			  .doc = "With these: how they differ from the trace BEFORE" },
};

static void flame_parse(struct argp_state *state, struct options *options, unsigned int option,
			char *arg)
{
	char meant[FKT_MEANT_BYTES];
	unsigned int i = 0;

	switch (option) {
	case OPTION_FOLDED:
		options->folded = true;
		break;
	case OPTION_FLAMEGRAPH:
		svg = arg;
		break;
	case OPTION_WEIGHT:
		while (i < sizeof(whats) / sizeof(whats[0]) && strcmp(arg, whats[i]))
			i++;
		if (i == sizeof(whats) / sizeof(whats[0]))
			argp_error(state,
				   "--flame-of=%s: it can be own, off-cpu, wakeups or samples%s",
				   arg, WORD_MEANT(arg, whats, meant));
		what = i;
		break;
	case OPTION_DIFF:
		options->before = arg;
		break;
	}
}

const struct view view_flame = {
	.name = "folded",
	.wants = VIEW_SUMS,
	.compares = true,
	.about = "time by call path",
	.option = flame_options,
	.parse = flame_parse,
	.new = flame_new,
	.process = flame_process,
	.event = flame_event,
	.no_events = flame_no_events,
	.enter = flame_enter,
	.leave = flame_leave,
	.wait = flame_wait,
	.moved = flame_moved,
	.print = flame_print,
	.free = flame_free,
};

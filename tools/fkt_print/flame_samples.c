// SPDX-License-Identifier: GPL-2.0-or-later
/* --flame-of samples: the stacks of samples below their threads' names, a period for each. */
#include <errno.h>
#include <stdio.h>

#include "flame.h"
#include "print.h"
#include "trace/fields.h"

/* A path one name longer; FKT_PATHS_NONE without memory, also of one that is. */
static uint32_t below(struct fkt_paths *paths, struct fkt_path_names *names, uint32_t path,
		      char *text)
{
	uint32_t name;

	if (path == FKT_PATHS_NONE)
		return path;
	/* It stands between names. */
	for (char *c = text; *c; c++)
		if (*c == ';')
			*c = ':';
	name = fkt_path_name(names, text);
	return name == FKT_PATHS_NONE ? name : fkt_paths_below(paths, path, name);
}

int flame_sample(struct fkt_paths *paths, struct fkt_path_names *names,
		 const struct context *context, const struct fkt_event *event)
{
	const uint32_t id =
		fkt_process_id(context->processes, fkt_arg32(event, SAMPLE_PID), event->cpu);
	const struct fkt_process *process = fkt_process(context->processes, id);
	char text[1 + FKT_FRAME_BYTES + 1];
	const struct fkt_stack *stack;
	struct fkt_stack room;
	uint32_t path;

	snprintf(text, sizeof(text), "%c%s", PATHS_THREAD,
		 !id		 ? "unknown"
		 : !process->tid ? "idle"
				 : process->comm);
	path = below(paths, names, FKT_PATHS_ROOT, text);
	stack = sample_stack(context, event, &room);
	if (stack->cut) {
		snprintf(text, sizeof(text), "%c...", PATHS_OTHER);
		path = below(paths, names, path, text);
	}
	*text = PATHS_FUNCTION;
	for (unsigned int i = stack->count; i--;) {
		*fkt_put_frame_name(context->trace, text + 1, stack, i) = '\0';
		path = below(paths, names, path, text);
	}
	if (path == FKT_PATHS_NONE)
		return -ENOMEM;
	paths->node[path].weight++;
	return 0;
}

void flame_samples_end(struct fkt_paths *paths, const struct context *context)
{
	const uint32_t hz = sample_hz(context);

	for (uint32_t i = 0; i < paths->count; i++)
		paths->node[i].weight =
			(uint64_t)((double)paths->node[i].weight * FKT_NS_PER_SECOND / hz + .5);
}

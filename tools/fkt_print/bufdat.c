// SPDX-License-Identifier: GPL-2.0-or-later
/* -b: what became of the recording's own pages, into a file for fkt_bufstats. */
#include <errno.h>
#include <stdlib.h>

#include "common/bufdat.h"
#include "common/create.h"
#include "print.h"

struct bufdat_view {
	const struct context *context;
	FILE *file; /* NULL until there is something */
	bool failed;
};

static void *bufdat_new(const struct context *context)
{
	struct bufdat_view *view = calloc(1, sizeof(*view));

	if (view)
		view->context = context;
	return view;
}

static void bufdat_free(void *data)
{
	struct bufdat_view *view = data;

	if (view->file)
		fkt_created(view->file, view->context->options->bufdat);
	free(view);
}

static int bufdat_take(void *data, const struct fkt_event *event, bool passes)
{
	struct bufdat_view *view = data;
	const struct context *context = view->context;
	struct bufdat bufdat;

	if (!passes || view->failed || !fkt_has_clock(context->trace) ||
	    !bufdat_event(&bufdat, context->trace, event, filter_first(context->filter)))
		return 0;
	if (!view->file) {
		view->file = fkt_create(context->options->bufdat);
		view->failed = !view->file;
		if (view->failed)
			return 0;
		fputs(BUFDAT_HEAD, view->file);
	}
	bufdat_write(&bufdat, view->file);
	return 0;
}

static int bufdat_print(const struct context *context, void *data)
{
	struct bufdat_view *view = data;
	FILE *file = view->file;

	view->file = NULL;
	if (file)
		return fkt_created(file, context->options->bufdat) ? 0 : 1;
	if (!view->failed)
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
			selection_path(&context->options->selected),
			fkt_has_clock(context->trace)
				? BUFDAT_NOTHING
				: "does not say how fast its clock is; -b is of times");
	return 1;
}

const struct view view_bufdat = {
	.name = "bufdat",
	.refuses = ~(unsigned int)FILTER_RANGE,
	.about = "the recording's own pages",
	.new = bufdat_new,
	.event = bufdat_take,
	.print = bufdat_print,
	.free = bufdat_free,
};

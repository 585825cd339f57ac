// SPDX-License-Identifier: GPL-2.0-or-later
/* -t: when the trace's pages were filled, into a file for fkt_selection. */
#include <errno.h>
#include <stdlib.h>

#include "common/create.h"
#include "common/timedat.h"
#include "print.h"

static int timedat_print(const struct context *context, void *view)
{
	const char *path = context->options->timedat;
	struct page_times times = { 0 };
	int err = timedat_of_trace(&times, context->trace);
	FILE *file;

	(void)view;
	if (err == -ESPIPE || err == -ENODATA) {
		fprintf(stderr, "%s: %s: -t is of files whose clock is known\n",
			program_invocation_short_name, selection_path(&context->options->selected));
		err = 1;
	}
	file = err ? NULL : fkt_create(path);
	if (file) {
		timedat_write(&times, file);
		err = fkt_created(file, path) ? 0 : 1;
	} else {
		err = err ?: 1;
	}
	free(times.page);
	return err;
}

const struct view view_timedat = {
	.name = "timedat",
	.refuses = ~0u,
	.about = "the pages of a whole trace",
	.print = timedat_print,
};

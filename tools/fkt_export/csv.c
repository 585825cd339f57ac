// SPDX-License-Identifier: GPL-2.0-or-later
/* A line an event, as fkt_print --format csv lists them: libfkt has it. */
#include <errno.h>
#include <stdlib.h>

#include "format.h"

struct csv {
	struct export *export;
	struct fkt_text *text;
	bool begun;
};

static void *begin(struct export *export)
{
	struct csv *csv = calloc(1, sizeof(*csv));

	if (!csv)
		return NULL;
	csv->export = export;
	csv->text =
		fkt_text_new(export->trace, export->processes, export->out->fd, FKT_TIME_CYCLES);
	if (!csv->text) {
		free(csv);
		return NULL;
	}
	fkt_text_set_format(csv->text, fkt_format_find("csv"), false);
	fkt_text_header(csv->text);
	return csv;
}

static int event(void *format, const struct fkt_event *event)
{
	struct csv *csv = format;

	if (!csv->begun)
		fkt_text_set_first(csv->text, csv->export->first);
	csv->begun = true;
	fkt_text_event(csv->text, event);
	return 0;
}

static int gap(void *format, const struct fkt_gap *gap, uint64_t stamp)
{
	struct csv *csv = format;

	(void)stamp;
	fkt_text_gap(csv->text, gap);
	return 0;
}

static int end(void *format, uint64_t last)
{
	struct csv *csv = format;

	(void)last;
	output_error(csv->export->out, fkt_text_flush(csv->text));
	return 0;
}

static void free_csv(void *format)
{
	struct csv *csv = format;

	fkt_text_free(csv->text);
	free(csv);
}

const struct export_format export_csv = {
	.name = "csv",
	.about = "spreadsheets, databases: a line an event",
	.lacks = "calls as such, which fkt_print --spans --format csv has, and stacks",
	.begin = begin,
	.event = event,
	.gap = gap,
	.end = end,
	.free = free_csv,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_selection: look at how fast the pages of a trace filled, and cut a part of it out (paper, §6
 * and §C.3).
 */
#include <argp.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fkt/version.h>

#include "common/complain.h"
#include "common/config.h"
#include "common/help.h"
#include "common/plot.h"
#include "common/range.h"
#include "selection.h"

const char *argp_program_version = "fkt_selection (FKT) " FKT_RELEASE;

#define POINTS	  1000
#define PLOT_WIDE 900
#define PLOT_HIGH 260
#define PANELS	  9

enum {
	OPTION_TEXT = 256,
	OPTION_SIZE,
	OPTION_RANGE,
	OPTION_LANE,
	OPTION_BYTES,
	OPTION_CUT,
};

struct options {
	const char *output;
	const char *cut;
	bool text;
	bool has_range;
	struct fkt_range range;
	unsigned int columns;
	unsigned int rows;
	long lane;
};

struct input {
	struct options *options;
	struct selection *selection;
};

static void warn(void *arg, const char *sentence)
{
	complain(((struct selection *)arg)->path, sentence);
}

/* ---- reading ---- */

static bool read_trace(struct selection *selection)
{
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace = fkt_open(selection->path, warn, selection, error);
	int err;

	if (!trace) {
		complain(selection->path, error);
		return false;
	}
	err = timedat_of_trace(&selection->times, trace);
	if (err)
		complain(selection->path, err == -ENODATA ? "does not say how fast its clock is"
					  : err == -ESPIPE
						  ? "is a stream, of which no part can be chosen"
						  : strerror(-err));
	fkt_close(trace);
	if (!selection->trace)
		selection->trace = selection->path;
	return !err;
}

static bool read_pages(struct selection *selection)
{
	FILE *file = strcmp(selection->path, "-") ? fopen(selection->path, "re") : NULL;
	char word[8] = "";
	int err;

	if (file && fread(word, 5, 1, file) == 1 && !strcmp(word, "# fkt")) {
		rewind(file);
		err = timedat_read(&selection->times, file);
		fclose(file);
		if (err)
			complain(selection->path,
				 err == -EBADMSG ? "is no file of fkt_print -t, or is damaged"
						 : strerror(-err));
		return !err;
	}
	if (file)
		fclose(file);
	return read_trace(selection);
}

/* ---- without a terminal ---- */

static int print_text(const struct selection *selection, unsigned int columns, unsigned int rows)
{
	struct picture picture;

	if (picture_make(&picture, selection, columns, rows))
		return 1;
	for (unsigned int row = 0; row < rows; row++) {
		const wchar_t *text = picture.text + (size_t)row * columns;
		unsigned int end = columns;

		while (end && text[end - 1] == L' ')
			end--;
		for (unsigned int i = 0; i < end; i++)
			printf("%lc", (wint_t)text[i]);
		putchar('\n');
	}
	picture_free(&picture);
	return fflush(stdout) || ferror(stdout);
}

static void plot_lane(FILE *file, const struct selection *selection, uint32_t lane,
		      unsigned int number)
{
	double *rate = calloc(POINTS, sizeof(*rate)), width;

	if (!rate)
		return;
	rates(selection, lane, POINTS, rate);
	width = (double)(selection->to - selection->from) / POINTS;
	fprintf(file, "$d%u << END\n", number);
	for (unsigned int i = 0; i < POINTS; i++)
		fprintf(file, "%.9f %.1f\n",
			((double)selection->from + width * ((double)i + 0.5)) / 1e9, rate[i]);
	free(rate);
	if (lane == ALL_LANES)
		fprintf(file, "END\nset title 'All lanes'\n");
	else
		fprintf(file, "END\nset title 'Lane %u'\n", lane);
	fprintf(file, "plot $d%u u 1:2 w filledcurves y1=0 lc rgb '#3060b0' notitle\n", number);
}

static int plot(const struct selection *selection, const char *path)
{
	unsigned int panels = selection->lane == ALL_LANES && selection->times.lanes > 1
				      ? selection->times.lanes + 1
				      : 1;
	struct plot plot;

	if (panels > PANELS)
		panels = PANELS;
	if (!plot_begin(&plot, path, PLOT_WIDE, panels * PLOT_HIGH))
		return 1;
	fprintf(plot.file,
		"set multiplot layout %u,1\nset xlabel 'seconds'\nset ylabel '%s a second'\n"
		"set yrange [0:*]\nset xrange [%.9f:%.9f]\nset format y '%%.1s%%c'\n",
		panels, selection->bytes ? "bytes" : "events", (double)selection->from / 1e9,
		(double)selection->to / 1e9);
	for (unsigned int i = 0; i < panels; i++)
		plot_lane(plot.file, selection, i ? i - 1 : selection->lane, i);
	fprintf(plot.file, "unset multiplot\n");
	return !plot_end(&plot);
}

static int cut(const struct selection *selection, const char *name)
{
	char why[1024];
	bool done = cut_out(selection, selection->from, selection->to, name, why, sizeof(why));

	if (!done)
		fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
	return !done;
}

/* ---- the command line ---- */

static const struct argp_option argp_options[] = {
	{ "output", 'o', "OUT", 0, "A picture, OUT.svg or OUT.png, by gnuplot", 0 },
	{ "text", OPTION_TEXT, NULL, 0, "Print the picture, and end", 0 },
	{ "size", OPTION_SIZE, "COLUMNSxROWS", 0, "Its size (default: 80x24)", 0 },
	{ "cut", OPTION_CUT, "FILE", 0,
	  "Cut the part of --range out, into FILE, and end; no file is overwritten", 0 },
	{ "range", OPTION_RANGE, "TIME..TIME", 0,
	  "Begin with this part, marked; either may be left out", 0 },
	{ "lane", OPTION_LANE, "N", 0, "Of this lane alone", 0 },
	{ "bytes", OPTION_BYTES, NULL, 0, "Bytes a second, not events", 0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct input *input = state->input;
	struct options *options = input->options;
	char *end;

	switch (key) {
	case 'o':
		if (!plot_can(arg))
			argp_error(state, "--output=%s: its name is to end in .svg or .png", arg);
		options->output = arg;
		break;
	case OPTION_TEXT:
		options->text = true;
		break;
	case OPTION_SIZE:
		if (sscanf(arg, "%ux%u", &options->columns, &options->rows) != 2 ||
		    options->columns < COLUMNS_MIN || options->columns > COLUMNS_MAX ||
		    options->rows < ROWS_MIN || options->rows > ROWS_MAX)
			argp_error(state, "--size=%s: such as 80x24; at least %dx%d", arg,
				   COLUMNS_MIN, ROWS_MIN);
		break;
	case OPTION_CUT:
		options->cut = arg;
		break;
	case OPTION_RANGE:
		if (!fkt_range_parse(arg, &options->range))
			argp_error(
				state,
				"--range=%s: it is two times, or one of them, as in 12.5s..13s or 12.5s..",
				arg);
		options->has_range = true;
		break;
	case OPTION_LANE:
		options->lane = strtol(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || options->lane >= FKT_LANE_INDEX)
			argp_error(state, "--lane=%s: a number", arg);
		break;
	case OPTION_BYTES:
		input->selection->bytes = true;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(state, "%s: one trace at a time, please", arg);
		if (state->arg_num)
			input->selection->trace = arg;
		else
			input->selection->path = arg;
		break;
	case ARGP_KEY_END:
		if (options->cut && !options->has_range)
			argp_error(state, "--cut: which part? (--range)");
		break;
	default:
		return fkt_other_option(key, state);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[TRACE]\nFILE.timedat [TRACE]",
	.doc = "Show how fast the pages of a trace filled, on the terminal, and cut a part out.\v"
	       "TRACE defaults to trace_file; FILE.timedat is what fkt_print -t has made of one. Keys "
	       "are shown by ?. See fkt_selection(1).",
};

static bool begin(struct selection *selection, const struct options *options)
{
	uint64_t from = options->range.has_from ? options->range.from_ns : 0;
	uint64_t to = options->range.has_to ? options->range.to_ns : UINT64_MAX;

	if (!selection->times.count) {
		complain(selection->path, "has no events");
		return false;
	}
	if (options->lane >= (long)selection->times.lanes) {
		complain(selection->path, "has no such lane");
		return false;
	}
	if (options->has_range && (from >= to || from > selection->times.end)) {
		complain(selection->path, "nothing is in the part that was asked for");
		return false;
	}
	selection->lane = options->lane < 0 ? ALL_LANES : (uint32_t)options->lane;
	set_window(selection, from, to);
	selection->cursor = selection->from + (selection->to - selection->from) / 2;
	if (options->has_range) {
		selection->mark[0] = selection->from;
		selection->mark[1] = selection->to;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options options = { .columns = 80, .rows = 24, .lane = -1 };
	struct selection selection = { .path = "trace_file", .mark = { NO_MARK, NO_MARK } };
	struct input input = { .options = &options, .selection = &selection };
	int status = 1;

	setlocale(LC_CTYPE, "");
	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, &input);
	selection.ascii = strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!read_pages(&selection) || !begin(&selection, &options))
		goto out_free;
	if (options.cut)
		status = cut(&selection, options.cut);
	else if (options.output)
		status = plot(&selection, options.output);
	else if (options.text)
		status = print_text(&selection, options.columns, options.rows);
	else
		status = show_screen(&selection);
out_free:
	free(selection.times.page);
	return status;
}

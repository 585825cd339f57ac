// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_bufstats: how a recording's own pages fared (paper, figure 10).
 *
 * An event of a lane's pages says how many of them are free. Those that are not are filled, or
 * being filled, and not yet written: so filled pages are the written ones and these, and available
 * ones, up to which pages can be filled, are the written ones and all that the lane has.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/complain.h"
#include "common/config.h"
#include "common/bufdat.h"
#include "common/help.h"
#include "common/plot.h"

const char *argp_program_version = "fkt_bufstats (FKT) " FKT_RELEASE;

#define ROWS	    20
#define ROWS_MAX    100000
#define POINTS	    240
#define PANELS_MAX  9
#define PANEL_WIDTH 900
#define PANEL_HIGH  260

struct options {
	const char *path;
	const char *output;
	unsigned int rows;
};

enum {
	OPTION_ROWS = 256,
};

/**
 * struct state - pages of a lane, or of all
 * @submitted: handed to the output, since the beginning
 * @written: come back from it, likewise
 * @free: pages that can be filled
 * @of: pages that there are
 * @least: the least of @free since the last row
 * @extra: extra pages that came, since the beginning
 * @gone: extra pages that went
 * @known: there was an event
 */
struct state {
	uint64_t submitted;
	uint64_t written;
	uint64_t free;
	uint64_t of;
	uint64_t least;
	uint64_t extra;
	uint64_t gone;
	bool known;
};

/**
 * struct stats - all that happened
 * @event: each
 * @count: how many
 * @room: of @event
 * @lane: which lanes there are
 * @lanes: one more than the largest number of one
 */
struct stats {
	struct bufdat *event;
	size_t count;
	size_t room;
	uint8_t *lane;
	uint32_t lanes;
};

#define LANES_MAX (UINT16_MAX + 1u)
#define ALL_LANES UINT32_MAX

static void warn(void *arg, const char *sentence)
{
	complain(((struct options *)arg)->path, sentence);
}

/* ---- reading ---- */

static int add(struct stats *stats, const struct bufdat *event)
{
	size_t room = stats->room ? 2 * stats->room : 1024;
	struct bufdat *larger;

	if (stats->count == stats->room) {
		larger = reallocarray(stats->event, room, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		stats->event = larger;
		stats->room = room;
	}
	stats->event[stats->count] = *event;
	/* CPUs' clocks may differ. */
	if (stats->count && event->ns < stats->event[stats->count - 1].ns)
		stats->event[stats->count].ns = stats->event[stats->count - 1].ns;
	stats->count++;
	if (event->what <= BUFDAT_EXTRA) {
		stats->lane[event->lane] = 1;
		if (event->lane >= stats->lanes)
			stats->lanes = event->lane + 1;
	}
	return 0;
}

static int read_trace(struct stats *stats, struct fkt_trace *trace)
{
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_event event;
	struct bufdat bufdat;
	int what, err = 0;

	if (!reader)
		return -ENOMEM;
	while (!err && (what = fkt_next(reader, &event)) != FKT_END) {
		if (what < 0)
			err = what;
		else if (what == FKT_EVENT &&
			 bufdat_event(&bufdat, trace, &event, fkt_read_stats(reader)->first))
			err = add(stats, &bufdat);
	}
	fkt_reader_free(reader);
	return err;
}

/* 0 after a complaint, if it is neither what fkt_print -b makes nor a trace. */
static bool read_all(struct stats *stats, struct options *options)
{
	char line[sizeof(BUFDAT_HEAD)] = "", error[FKT_ERROR_BYTES];
	FILE *file = strcmp(options->path, "-") ? fopen(options->path, "re") : NULL;
	struct fkt_trace *trace;
	struct bufdat event;
	int err;

	if (file && fgets(line, sizeof(line), file) && !strcmp(line, BUFDAT_HEAD)) {
		while ((err = bufdat_read(&event, file)) > 0 && !(err = add(stats, &event)))
			;
		fclose(file);
		if (err)
			complain(options->path, err == -EBADMSG ? "is no file of fkt_print -b, or "
								  "is damaged"
								: strerror(-err));
		return !err;
	}
	if (file)
		fclose(file);
	trace = fkt_open(options->path, warn, options, error);
	if (!trace) {
		complain(options->path, error);
		return false;
	}
	err = -ENODATA;
	if (fkt_has_clock(trace))
		err = read_trace(stats, trace);
	if (err)
		complain(options->path,
			 err == -ENODATA ? "does not say how fast its clock is" : strerror(-err));
	fkt_close(trace);
	return !err;
}

/* ---- summing up ---- */

/* What has become of one lane, or of all when state[ALL] is kept. */
static void follow(struct state *state, const struct bufdat *event)
{
	state->free = event->free;
	state->of = event->of;
	switch (event->what) {
	case BUFDAT_SUBMIT:
		state->submitted++;
		break;
	case BUFDAT_RELEASE:
		state->written++;
		break;
	default:
		if (event->number > 0)
			state->extra += (uint64_t)event->number;
		else
			state->gone += 0 - (uint64_t)event->number;
	}
}

/* What a row, or a point of a picture, shows. */
struct row {
	double seconds;
	struct state state;
	uint64_t syncs;
	uint64_t forced;
};

typedef void row_fn(void *arg, const struct row *row);

static void add_state(struct state *sum, const struct state *state)
{
	sum->submitted += state->submitted;
	sum->written += state->written;
	sum->free += state->free;
	sum->of += state->of;
	sum->extra += state->extra;
	sum->gone += state->gone;
	sum->known |= state->known;
}

/* Rows of a lane, or ALL_LANES, at equal distances in time: 0 or -ENOMEM. */
static int for_rows(const struct stats *stats, uint32_t lane, unsigned int rows, row_fn *call,
		    void *arg)
{
	uint64_t first = stats->event[0].ns, last = stats->event[stats->count - 1].ns;
	uint64_t step = (last - first) / rows + 1, least = UINT64_MAX, other;
	struct state *states = calloc(stats->lanes + 1ul, sizeof(*states)), sum = { 0 };
	struct row row = { 0 };
	size_t i = 0;

	if (!states)
		return -ENOMEM;
	/* What a lane's first event says was so before it, as far as anybody knows. */
	for (size_t j = stats->count; j-- > 0;) {
		const struct bufdat *event = &stats->event[j];

		if (event->what <= BUFDAT_EXTRA && (lane == ALL_LANES || lane == event->lane))
			states[event->lane] = (struct state){
				.free = event->free,
				.of = event->of,
				.known = true,
			};
	}
	for (uint32_t j = 0; j < stats->lanes; j++)
		sum.free += states[j].free;
	for (unsigned int n = 1; n <= rows && i < stats->count; n++) {
		least = UINT64_MAX;
		for (; i < stats->count && stats->event[i].ns - first < n * step; i++) {
			const struct bufdat *event = &stats->event[i];

			if (event->what == BUFDAT_SYNC) {
				row.syncs++;
				row.forced += event->number == 1;
			}
			if (event->what > BUFDAT_EXTRA ||
			    (lane != ALL_LANES && lane != event->lane))
				continue;
			/* All together change by what this one does. */
			other = sum.free - states[event->lane].free;
			follow(&states[event->lane], event);
			sum.free = other + event->free;
			if (sum.free < least)
				least = sum.free;
		}
		row.state = (struct state){ 0 };
		for (uint32_t j = 0; j < stats->lanes; j++)
			add_state(&row.state, &states[j]);
		row.state.least = least == UINT64_MAX ? row.state.free : least;
		row.seconds = (double)(i == stats->count ? last : first + n * step) / 1e9;
		if (row.state.known)
			call(arg, &row);
	}
	free(states);
	return 0;
}

/* ---- showing ---- */

static void print_row(void *arg, const struct row *row)
{
	const struct state *state = &row->state;

	(void)arg;
	printf("%12.6f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %6" PRIu64
	       " %6" PRIu64 " %5" PRIu64 " %6" PRIu64 "\n",
	       row->seconds, state->written + state->of - state->free, state->submitted,
	       state->written, state->written + state->of, state->of, state->least,
	       state->extra - state->gone, row->syncs, row->forced);
}

static int print_lane(const struct stats *stats, uint32_t lane, unsigned int rows)
{
	if (lane == ALL_LANES)
		printf("All lanes\n");
	else
		printf("\nLane %" PRIu32 "\n", lane);
	printf("%12s %9s %9s %9s %9s %9s %6s %6s %5s %6s\n", "Seconds", "Filled", "Submitted",
	       "Written", "Available", "Pages", "Free", "Extra", "Syncs", "Forced");
	return for_rows(stats, lane, rows, print_row, NULL);
}

static int print_all(const struct stats *stats, unsigned int rows)
{
	int err = print_lane(stats, ALL_LANES, rows);
	uint32_t lanes = 0;

	for (uint32_t i = 0; i < stats->lanes; i++)
		lanes += stats->lane[i];
	for (uint32_t i = 0; i < stats->lanes && !err && lanes > 1; i++)
		if (stats->lane[i])
			err = print_lane(stats, i, rows);
	return err;
}

static void plot_row(void *arg, const struct row *row)
{
	const struct state *state = &row->state;

	fprintf(arg,
		"%.9f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		row->seconds, state->written + state->of - state->free, state->submitted,
		state->written, state->written + state->of, state->of, state->extra - state->gone);
}

/* The colours are the paper's. */
static int plot_panel(FILE *file, const struct stats *stats, uint32_t lane, unsigned int number)
{
	int err;

	fprintf(file, "$d%u << END\n", number);
	err = for_rows(stats, lane, POINTS, plot_row, file);
	fprintf(file, "END\n");
	if (lane == ALL_LANES)
		fprintf(file, "set title 'All lanes'\n");
	else
		fprintf(file, "set title 'Lane %" PRIu32 "'\n", lane);
	fprintf(file,
		"plot $d%1$u u 1:5 w steps lc rgb '#d02020' lw 1.5 t 'available', "
		"'' u 1:2 w steps lc rgb '#000000' t 'filled', "
		"'' u 1:3 w steps lc rgb '#3050e0' t 'submitted', "
		"'' u 1:4 w steps lc rgb '#209030' t 'written', "
		"'' u 1:6 w steps lc rgb '#c8a000' t 'allocated', "
		"'' u 1:7 w steps lc rgb '#a040a0' dt 2 t 'extra'\n",
		number);
	return err;
}

/* Forced synchronizations are marks on the axis of time. */
static void plot_syncs(FILE *file, const struct stats *stats)
{
	size_t forced = 0;

	for (size_t i = 0; i < stats->count && forced < POINTS; i++) {
		const struct bufdat *event = &stats->event[i];

		if (event->what != BUFDAT_SYNC || event->number != 1)
			continue;
		forced++;
		fprintf(file,
			"set arrow from %.9f, graph 0 to %.9f, graph 0.05 nohead "
			"lc rgb '#d02020'\n",
			(double)event->ns / 1e9, (double)event->ns / 1e9);
	}
	if (forced)
		fprintf(file, "set xlabel 'seconds (ticks at the bottom: forced syncs)'\n");
}

static int plot_all(const struct stats *stats, const char *path)
{
	uint32_t lane[PANELS_MAX] = { ALL_LANES };
	unsigned int panels = 1;
	struct plot plot;
	int err = 0;

	for (uint32_t i = 0; i < stats->lanes && panels < PANELS_MAX; i++)
		if (stats->lane[i])
			lane[panels++] = i;
	if (panels == 2)
		panels = 1;
	if (!plot_begin(&plot, path, PANEL_WIDTH, panels * PANEL_HIGH))
		return 1;
	fprintf(plot.file,
		"set multiplot layout %u,1\nset key outside right Left reverse samplen 2\n"
		"set xlabel 'seconds'\nset ylabel 'pages'\nset yrange [0:*]\n",
		panels);
	plot_syncs(plot.file, stats);
	for (unsigned int i = 0; i < panels && !err; i++)
		err = plot_panel(plot.file, stats, lane[i], i);
	fprintf(plot.file, "unset multiplot\n");
	return plot_end(&plot) ? err : 1;
}

/* ---- the command line ---- */

static const struct argp_option argp_options[] = {
	{ "output", 'o', "OUT", 0, "A picture, OUT.svg or OUT.png, by gnuplot", 0 },
	{ "rows", OPTION_ROWS, "N", 0, "So many lines of text of each lane (default: 20)", 0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	unsigned long rows;
	char *end;

	switch (key) {
	case 'o':
		if (!plot_can(arg))
			argp_error(state, "--output=%s: its name is to end in .svg or .png", arg);
		options->output = arg;
		break;
	case OPTION_ROWS:
		rows = strtoul(arg, &end, 10);
		if (*arg < '1' || *arg > '9' || *end || rows > ROWS_MAX)
			argp_error(state, "--rows=%s: a number from 1 on", arg);
		options->rows = (unsigned int)rows;
		break;
	case ARGP_KEY_ARG:
		options->path = fkt_one_trace(state, arg);
		break;
	default:
		return fkt_other_option(key, state);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Show how a recording's own pages fared: how many were filled, submitted to the "
	       "output, written, and available.\v"
	       "FILE is a trace with the layer fkt (default: trace_file), or what fkt_print -b has "
	       "made of one. See fkt_bufstats(1).",
};

int main(int argc, char **argv)
{
	struct options options = { .path = "trace_file", .rows = ROWS };
	struct stats stats = { 0 };
	int err = 1;

	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, &options);
	stats.lane = calloc(LANES_MAX, 1);
	if (!stats.lane) {
		err = -ENOMEM;
		goto out_free;
	}
	if (!read_all(&stats, &options))
		goto out_free;
	if (!stats.lanes) {
		complain(options.path, BUFDAT_NOTHING);
		goto out_free;
	}
	err = options.output ? plot_all(&stats, options.output) : print_all(&stats, options.rows);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -errno;
out_free:
	if (err < 0)
		complain(options.path, strerror(-err));
	free(stats.event);
	free(stats.lane);
	return err ? 1 : 0;
}

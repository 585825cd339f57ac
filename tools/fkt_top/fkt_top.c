// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_top: where the time goes, every second, of a recording that runs.
 */
#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/complain.h"
#include "common/width.h"
#include "top.h"

/* So long keys, or what there is to read, wait at most. */
#define STEP_MS	    50
#define TABLE_BYTES (256 << 10)

/* For the signals. */
static volatile sig_atomic_t stopped;
static struct recorder recorder;

/* The recording ends, and what it still has comes. */
static void on_signal(int number)
{
	(void)number;
	stopped = 1;
	recorder_stop(&recorder);
}

static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void warn(void *arg, const char *sentence)
{
	/* Not into the screen: what is missing is counted there. */
	if (!arg)
		complain("the trace", sentence);
}

uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Lines of an interval, which is the first one, or not: 0 or a negative errno value. */
static int print_interval(const struct top *top, bool first)
{
	const struct options *options = top->options;
	struct fkt_output out = {
		.file = stdout,
		.format = options->format,
		.trace = top->trace,
		.time = FKT_TIME_FIT,
		.first = top->first,
		.width = output_width() ?: USUAL_WIDTH,
		.tables = !first,      /* all are in one file */
		.told_left_out = true, /* each time anew it would be in the way */
	};

	show_head(top, &out);
	for (unsigned int i = 0; i < VIEW_COUNT; i++) {
		if (options->any_view ? !options->view[i] : is_empty(top, (enum view)i))
			continue;
		fkt_table_line(&out, "%s", "");
		if (!show_view(top, &out, (enum view)i, options->sort, options->rows))
			return -ENOMEM;
	}
	fkt_table_line(&out, "%s", "");
	return fflush(stdout) || ferror(stdout) ? -EPIPE : 0;
}

/* A trace that is there already is shown as fast as it was recorded: false, to quit. */
static bool let_look(struct screen *screen, const struct top *top, bool paced)
{
	const uint64_t until = now_ms() + top->options->delay_ns / 1000000;
	uint64_t now;

	if (!paced)
		return screen_keys(screen, top, 0);
	for (now = now_ms(); now < until && !stopped; now = now_ms())
		if (!screen_keys(screen, top, until - now < STEP_MS ? (int)(until - now) : STEP_MS))
			return false;
	return true;
}

static void await_input(struct screen *screen)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	poll(&in, 1, screen ? 0 : STEP_MS);
}

/* 0 or a negative errno value. */
static int follow(struct top *top, struct screen *screen, bool paced)
{
	uint64_t count = 0, looked = 0, now;
	int step, err;

	while (!stopped || (recorder.pid && !screen)) {
		step = top_step(top);
		if (step < 0)
			return step;
		if (step == STEP_END)
			break;
		if (step == STEP_INTERVAL) {
			if (screen)
				screen_show(screen, top);
			err = screen ? 0 : print_interval(top, !count);
			if (err || ++count == top->options->count)
				return err;
		}
		now = now_ms();
		if (step == STEP_WAIT)
			await_input(screen);
		if (screen && step == STEP_INTERVAL && !let_look(screen, top, paced))
			return 0;
		/* A recording that is busy is not to be in the way of keys, nor the other way. */
		if (screen && (step == STEP_WAIT || now >= looked + STEP_MS)) {
			if (!screen_keys(screen, top, step == STEP_WAIT ? STEP_MS : 0))
				return 0;
			looked = now;
		}
	}
	if (!screen || stopped)
		return 0;
	screen_say_end(screen, top);
	while (!stopped && screen_keys(screen, top, STEP_MS))
		;
	return 0;
}

static bool is_file(const struct options *options)
{
	struct stat file;

	return options->path && strcmp(options->path, "-") && !stat(options->path, &file) &&
	       S_ISREG(file.st_mode);
}

static int run(const struct options *options, struct fkt_trace *trace, const char *name)
{
	struct screen *screen = NULL;
	struct top top;
	int err = -ENOMEM;

	if (!fkt_has_clock(trace)) {
		complain(name, "does not say how fast its clock is");
		return 1;
	}
	if (!options->lines) {
		screen = screen_begin(options);
		if (!screen)
			return 1;
	}
	if (top_begin(&top, options, trace))
		err = follow(&top, screen, is_file(options));
	screen_end(screen);
	if (!err && !top.events && !stopped)
		complain(name, "has no events");
	top_end(&top);
	/* Whoever reads the lines has seen enough. */
	if (err && err != -EPIPE)
		complain(name, strerror(-err));
	return err && err != -EPIPE;
}

int main(int argc, char **argv)
{
	struct options options;
	struct fkt_trace *trace;
	char error[FKT_ERROR_BYTES];
	const char *path, *name;
	int status = 1;

	setlocale(LC_CTYPE, "");
	/* Large tables of which little is used come and go: of fresh pages only those are there. */
	mallopt(M_MMAP_THRESHOLD, TABLE_BYTES);
	parse_options(argc, argv, &options);
	if (!options.path && !recorder_begin(&recorder, options.record, true))
		return 1;
	catch_signals();
	path = options.path ?: "-";
	name = !options.path ? "the recording" : strcmp(path, "-") ? path : "standard input";
	trace = fkt_open(path, warn, options.lines ? NULL : &options, error);
	if (trace)
		status = run(&options, trace, name);
	recorder_stop(&recorder);
	if (recorder.pid && !recorder_end(&recorder))
		status = 1;
	else if (!trace)
		complain(name, error);
	fkt_close(trace);
	return status;
}

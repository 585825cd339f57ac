// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_view: a trace of any size in the browser, or in the terminal.
 */
#include <argp.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/config.h"
#include "common/help.h"
#include "terminal.h"

const char *argp_program_version = "fkt_view (FKT) " FKT_RELEASE;

#define MMAP_BYTES (1 << 20)

enum {
	OPTION_PORT = 256,
	OPTION_NO_BROWSER,
	OPTION_TUI,
};

struct options {
	const char *path[TRACES_MAX];
	unsigned int paths;
	uint16_t port;
	bool no_browser;
	bool tui;
};

static struct options options;
static const char *opening; /* what a warning is about */

static void complain(const char *sentence)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, opening, sentence);
}

static void warn(void *arg, const char *sentence)
{
	(void)arg;
	/* A terminal that shows the trace is no place for it. */
	if (!screen_warn(sentence))
		complain(sentence);
}

static void add_trace(struct argp_state *state, const char *path)
{
	for (unsigned int i = 0; i < options.paths; i++)
		if (!strcmp(path, "-") && !strcmp(options.path[i], "-"))
			argp_error(state, "-: standard input can be read once");
	if (options.paths == TRACES_MAX)
		argp_error(state, "no more than %d traces at a time", TRACES_MAX);
	options.path[options.paths++] = path;
}

static const struct argp_option argp_options[] = {
	{ "port", OPTION_PORT, "N", 0, "Listen on this port of 127.0.0.1 (default: a free one)",
	  0 },
	{ "no-browser", OPTION_NO_BROWSER, NULL, 0, "Only print the address", 0 },
	{ "tui", OPTION_TUI, NULL, 0, "Show it in this terminal, not in the browser", 0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	unsigned long port;
	char *end;

	switch (key) {
	case OPTION_PORT:
		port = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || !port || port > UINT16_MAX)
			argp_error(state, "--port=%s: a number from 1 to 65535", arg);
		options.port = (uint16_t)port;
		break;
	case OPTION_NO_BROWSER:
		options.no_browser = true;
		break;
	case OPTION_TUI:
		options.tui = true;
		break;
	case ARGP_KEY_ARG:
		add_trace(state, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		add_trace(state, "trace_file");
		break;
	case ARGP_KEY_END:
		if (options.tui && options.paths > 1)
			argp_error(state, "--tui: one trace at a time, please");
		break;
	default:
		return fkt_other_option(key, state);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "[TRACE...]",
	.doc = "Show a trace in the browser: who ran, who waited for what, and where the time went."
	       "\vTRACE defaults to trace_file; - is standard input. It may still be recorded. Several are "
	       "shown on one line of time, where their clocks tell how they stand to each other. The page is served to this machine alone, until "
	       "Ctrl-C; its address is printed. --tui shows it in the terminal; ? has the keys.",
};

/* The user's browser, if there is a display to show it on. */
static void open_browser(const char *address)
{
	char *const args[] = { "xdg-open", (char *)address, NULL };
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;

	if (options.no_browser || !((display && *display) || (wayland && *wayland)))
		return;
	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	/* Without one, there is still the address. */
	(void)posix_spawnp(&pid, args[0], NULL, &attributes, args, environ);
	posix_spawnattr_destroy(&attributes);
}

static void ready(const char *address, uint16_t port)
{
	char host[256] = "HOST";

	printf("%s\n", address);
	gethostname(host, sizeof(host) - 1);
	if (getenv("SSH_CONNECTION"))
		printf("From where you are: ssh -L %u:127.0.0.1:%u %s, and then the same address\n",
		       port, port, host);
	fflush(stdout);
	open_browser(address);
}

int main(int argc, char **argv)
{
	struct view views[TRACES_MAX] = { 0 };
	char error[FKT_ERROR_BYTES];
	unsigned int opened = 0;
	sigset_t signals;
	bool all = true;
	int err = 1;

	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, NULL);
	/* Large tables, of which little is used, are made for each answer: not to be cleared. */
	mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
	/* Before there is a thread: serve() waits for them. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (options.tui) {
		sigaddset(&signals, SIGQUIT);
		/* Only the thread that draws is to hear of these: see screen.c. */
		sigaddset(&signals, SIGWINCH);
		sigaddset(&signals, SIGTSTP);
	}
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* A pipe, or a page, that is gone is an error of write(2). */
	signal(SIGPIPE, SIG_IGN);
	/* As is a file that may not get so large: what is kept is more than what was summed up. */
	signal(SIGXFSZ, SIG_IGN);
	while (all && opened < options.paths) {
		opening = options.path[opened];
		all = view_open(&views[opened++], opening, warn, error);
	}
	if (all && options.tui) {
		err = show_screen(&views[0]);
	} else if (all) {
		err = serve(views, opened, options.port, ready);
		if (err)
			fprintf(stderr, "%s: 127.0.0.1: %s\n", program_invocation_short_name,
				strerror(-err));
	} else {
		complain(error);
	}
	while (opened)
		view_close(&views[--opened]);
	return !!err;
}

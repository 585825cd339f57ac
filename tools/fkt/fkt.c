// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt: a front to all tools. "fkt record" is fkt_record, and so on; the tools are looked for beside
 * this program, and then as any command is.
 */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/distance.h"
#include "common/help.h"
#include "doctor.h"

#define EXIT_USAGE     2
#define MODULE_VERSION "/sys/module/fkt/version"

static const struct command {
	const char *name;
	const char *about;
} commands[] = {
	{ "record", "record while a command runs, or until Ctrl-C" },
	{ "print", "list a trace and sum it up" },
	{ "enable", "switch layers on while it records" },
	{ "disable", "switch layers off" },
	{ "setmask", "replace the layers that are on" },
	{ "snapshot", "write what a recording keeps in memory into a file" },
	{ "recover", "make a trace of what a crashed machine had in memory" },
	{ "extract", "cut a part out of a trace" },
	{ "export", "write a trace for other tools" },
	{ "top", "show where the time goes, every second" },
	{ "view", "show a trace in the browser" },
	{ "selection", "show how fast a trace filled, and cut a part out" },
	{ "bufstats", "show how the recording's buffer fared" },
	{ "query", "ask a trace in SQL" },
	{ "diff", "tell what takes longer in some recordings than in others" },
	{ "kgmon", "profile the kernel for gprof" },
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Both, for they may differ: the module stays loaded when another release is installed. */
static void print_version(FILE *stream, struct argp_state *state)
{
	FILE *file = fopen(MODULE_VERSION, "re");
	char version[64] = "";

	(void)state;
	if (file && !fgets(version, sizeof(version), file))
		version[0] = '\0';
	if (file)
		fclose(file);
	version[strcspn(version, "\n")] = '\0';
	fprintf(stream, "fkt (FKT) " FKT_RELEASE "\nmodule: %s\n", file ? version : "not loaded");
}

void (*argp_program_version_hook)(FILE *stream, struct argp_state *state) = print_version;

static const struct argp_option argp_options[] = {
	FKT_OPTION_HELP,
	{ 0 },
};

/* The commands, as a part of --help. */
static char *filter_help(int key, const char *text, void *input)
{
	char *list;
	size_t bytes;
	FILE *file;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	file = open_memstream(&list, &bytes);
	if (!file)
		return NULL;
	fputs("Commands, each with --help and a man page, fkt_COMMAND:\n\n", file);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].about);
	fprintf(file, "  %-10s %s\n", "doctor",
		"see whether this machine can be traced, and what helps; see fkt(1)");
	fclose(file);
	return list;
}

/* Returns only when there is no such tool. */
static void become(char **argv)
{
	char self[PATH_MAX], path[PATH_MAX + NAME_MAX], tool[NAME_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *name = argv[0], *slash;

	snprintf(tool, sizeof(tool), "fkt_%s", name);
	argv[0] = tool;
	self[length > 0 ? length : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash && !strchr(name, '/')) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s/%s", self, tool);
		execv(path, argv);
		if (errno == ENOENT)
			execvp(tool, argv);
		if (errno != ENOENT)
			err(126, "%s", tool);
	}
	argv[0] = name;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	int *first = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		/* What follows is the command's. */
		*first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which command?");
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = "Fast Kernel Tracing: record what the kernel does, and look at it.\v ",
	.help_filter = filter_help,
};

int main(int argc, char **argv)
{
	struct fkt_near near = { 0 };
	char meant[FKT_MEANT_BYTES];
	int first = 0;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &first);
	if (!strcmp(argv[first], "doctor"))
		return doctor(argc - first, argv + first);
	become(argv + first);
	near.wanted = argv[first];
	for (size_t i = 0; i < COMMANDS; i++)
		fkt_near_show(&near, commands[i].name);
	warnx("'%s': no such command%s (see --help)", argv[first], fkt_near_meant(&near, meant));
	return EXIT_USAGE;
}

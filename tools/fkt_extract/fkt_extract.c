// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_extract: a part of a trace as a trace of its own (paper, §6 and §C.3).
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/complain.h"
#include "common/config.h"
#include "common/help.h"
#include "common/distance.h"
#include "common/range.h"
#include "common/trace_cpus.h"
#include "read/extract.h"
#include "trace/put.h"

const char *argp_program_version = "fkt_extract (FKT) " FKT_RELEASE;

struct options {
	const char *path;
	const char *output;
	bool has_from;
	uint64_t from_ns;
	bool has_to;
	uint64_t to_ns;
	bool by_number;
	uint64_t first;
	uint64_t last;
	const char **cpus; /* as the user wrote them */
	size_t cpu_lists;
	bool some_cpus;
	bool no_cpus;
	uint8_t wanted_cpus[CPUS_BYTES];
	uint8_t unwanted_cpus[CPUS_BYTES];
	struct fkt_extract extract;
};

enum {
	OPTION_FROM = 256,
	OPTION_TO,
	OPTION_RANGE,
	OPTION_CPU,
	OPTION_EVENTS,
	OPTION_PROCESS,
};

static const struct argp_option argp_options[] = {
	{ "from", OPTION_FROM, "TIME", 0,
	  "Begin at TIME, in seconds since the trace's first event, or with a unit: 12.5s, 900ms, "
	  "20us; or 12.5s..13s for --from and --to together",
	  0 },
	{ "to", OPTION_TO, "TIME", 0, "End before TIME", 0 },
	{ "range", OPTION_RANGE, "TIME..TIME", 0, "Both; either may be left out", 0 },
	{ "events", OPTION_EVENTS, "A..B", 0,
	  "Events number A to B, the first one of the trace being number 1", 0 },
	{ "process", OPTION_PROCESS, "PROCESS,...", 0,
	  "Only events of these processes or threads, pid or name, and what leads to them", 0 },
	{ "pid", 'p', "PID,...", 0, "The same, by their numbers", 0 },
	{ "cpu", OPTION_CPU, "LIST", 0,
	  "Only events of these CPUs, as in 0,2-3; with ! before it, of all others; several times: "
	  "of any of them",
	  0 },
	{ "output", 'o', "FILE", 0, "Write the new trace to FILE, - for standard output", 0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

/* The two ends of "A..B"; false when there are not two. Cuts the text. */
static bool split(char *text, char **second)
{
	char *dots = strstr(text, "..");

	if (!dots)
		return false;
	*dots = '\0';
	*second = dots + 2;
	return true;
}

/* One beginning and one end: of several, none is likely to be what was meant. */
static void once(struct argp_state *state, const char *option, bool twice)
{
	if (twice)
		argp_error(state, "%s: there is such a time already; one range at a time, please",
			   option);
}

static void parse_from(struct options *options, const char *arg, bool only_range,
		       struct argp_state *state)
{
	struct fkt_range range;

	if (fkt_range_parse(arg, &range)) {
		once(state, only_range ? "--range" : "--from", range.has_from && options->has_from);
		once(state, only_range ? "--range" : "--from", range.has_to && options->has_to);
		options->has_from |= range.has_from;
		if (range.has_from)
			options->from_ns = range.from_ns;
		if (range.has_to)
			options->to_ns = range.to_ns;
		options->has_to |= range.has_to;
		return;
	}
	if (only_range)
		argp_error(
			state,
			"--range=%s: it is two times, or one of them, as in 12.5s..13s or 12.5s..",
			arg);
	once(state, "--from", options->has_from);
	if (!fkt_parse_time(arg, &options->from_ns))
		argp_error(state, "--from=%s: no time (try 12.5s, 900ms or 12.5s..13s)", arg);
	options->has_from = true;
}

static void check_options(const struct options *options, struct argp_state *state)
{
	const struct fkt_extract *extract = &options->extract;

	if (!options->path)
		argp_error(state, "which trace?");
	if (!options->output)
		argp_error(state, "where to? (-o FILE)");
	if (options->by_number && (options->has_from || options->has_to))
		argp_error(state, "--events and a time together: which one?");
	if (options->has_to && options->to_ns <= options->from_ns)
		argp_error(state, "--to is not after --from: there is nothing between them");
	if (!options->has_from && !options->has_to && !options->by_number && !extract->processes &&
	    !extract->cpus)
		argp_error(state, "which part of it? (--from, --to, --range, --events, --pid, "
				  "--process, --cpu)");
}

/* Those that are wanted, or all, without those that are not. */
static void choose_cpus(struct options *options)
{
	if (!options->some_cpus && !options->no_cpus)
		return;
	if (!options->some_cpus)
		memset(options->wanted_cpus, 0xff, CPUS_BYTES);
	for (unsigned int i = 0; i < CPUS_BYTES; i++)
		options->wanted_cpus[i] &= (uint8_t)~options->unwanted_cpus[i];
	options->extract.cpus = options->wanted_cpus;
}

/* A "!" before a list is for all of it, and before one of it for that one, as in fkt_print. */
static bool add_cpus(struct options *options, const char *list)
{
	char *copy = strdup(list), *text = copy, *one;
	bool ok = copy, unwanted;
	const char **larger;

	while (ok && (one = strsep(&text, ","))) {
		unwanted = *list == '!' || *one == '!';
		ok = read_cpus(one + (*one == '!'),
			       unwanted ? options->unwanted_cpus : options->wanted_cpus);
		options->some_cpus |= !unwanted;
		options->no_cpus |= unwanted;
	}
	free(copy);
	if (ok) {
		larger = reallocarray(options->cpus, options->cpu_lists + 1, sizeof(*larger));
		ok = larger;
	}
	if (ok) {
		options->cpus = larger;
		larger[options->cpu_lists++] = list;
	}
	return ok;
}

/* A list with commas, of numbers alone or of names as well; several options are one list. */
static void add_processes(struct argp_state *state, const char *option, char *arg, bool numbers)
{
	struct options *options = state->input;
	struct fkt_extract *extract = &options->extract;
	struct fkt_extract_process *larger, *one;
	uint64_t number;
	char *name;

	while ((name = strsep(&arg, ","))) {
		larger = reallocarray(extract->process, extract->processes + 1, sizeof(*larger));
		if (!larger)
			argp_failure(state, 1, 0, "out of memory");
		extract->process = larger;
		one = &larger[extract->processes++];
		*one = (struct fkt_extract_process){ 0 };
		if (parse_number(name, FKT_PID_UNKNOWN - 1, &number)) {
			one->pid = (uint32_t)number;
			continue;
		}
		if (numbers)
			argp_error(state, "%s=%s: no number of a process", option, name);
		if (*name == '!')
			argp_error(state,
				   "%s=%s: ! is not taken here; a part has all events of some "
				   "processes, or of all",
				   option, name);
		if (!*name)
			argp_error(state, "%s: a name is missing in the list", option);
		one->name = name;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char *second;

	switch (key) {
	case OPTION_FROM:
		parse_from(options, arg, false, state);
		break;
	case OPTION_RANGE:
		parse_from(options, arg, true, state);
		break;
	case OPTION_TO:
		once(state, "--to", options->has_to);
		if (!fkt_parse_time(arg, &options->to_ns))
			argp_error(state, "--to=%s: no time (try 12.5s or 900ms)", arg);
		options->has_to = true;
		break;
	case OPTION_EVENTS:
		if (!split(arg, &second) || !parse_number(arg, UINT64_MAX - 1, &options->first) ||
		    !parse_number(second, UINT64_MAX - 1, &options->last) || !options->first ||
		    options->last < options->first)
			argp_error(state, "--events: two numbers from 1 on, as in 1000..2000");
		options->by_number = true;
		break;
	case 'p':
		add_processes(state, "--pid", arg, true);
		break;
	case OPTION_PROCESS:
		add_processes(state, "--process", arg, false);
		break;
	case OPTION_CPU:
		if (!add_cpus(options, arg))
			argp_error(state, "--cpu=%s: it is a list of CPUs, as in 0,2-3", arg);
		break;
	case 'o':
		options->output = arg;
		break;
	case ARGP_KEY_ARG:
		options->path = fkt_one_trace(state, arg);
		break;
	case ARGP_KEY_END:
		choose_cpus(options);
		check_options(options, state);
		break;
	default:
		return fkt_other_option(key, state);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "FILE -o FILE",
	.doc = "Write a part of an FKT trace as a trace of its own.\v"
	       "The new trace has all that fkt_print needs, and says which calls were already open "
	       "when it begins. See fkt_extract(1).",
};

static void warn(void *arg, const char *sentence)
{
	complain(arg, sentence);
}

/* From times and numbers to stamps. */
static bool find_range(struct options *options, struct fkt_trace *trace)
{
	struct fkt_extract *extract = &options->extract;
	uint64_t first, last, length;
	char text[FKT_ERROR_BYTES];
	int found;

	extract->from = 0;
	extract->to = UINT64_MAX;
	if (options->by_number) {
		found = fkt_event_stamp(trace, options->first - 1, &extract->from);
		if (!found) {
			snprintf(text, sizeof(text), "has no event number %" PRIu64,
				 options->first);
			complain(options->path, text);
			return false;
		}
		if (found > 0)
			found = fkt_event_stamp(trace, options->last - 1, &extract->to);
		if (found < 0) {
			complain(options->path, strerror(-found));
			return false;
		}
		/* Those with the same stamp as the last one stay with it. */
		extract->to = found && extract->to != UINT64_MAX ? extract->to + 1 : UINT64_MAX;
		return true;
	}
	if (!options->has_from && !options->has_to)
		return true;
	if (!fkt_has_clock(trace)) {
		complain(options->path, "does not say how fast its clock is; try --events");
		return false;
	}
	if (!fkt_span(trace, &first, &last)) {
		complain(options->path, "has no events");
		return false;
	}
	length = (uint64_t)fkt_cycles_to_ns(trace, (int64_t)(last - first));
	if (options->from_ns > length) {
		snprintf(text, sizeof(text), "ends after %.9f s: there is nothing from %.9f s on",
			 (double)length / FKT_NS_PER_SECOND,
			 (double)options->from_ns / FKT_NS_PER_SECOND);
		complain(options->path, text);
		return false;
	}
	if (options->from_ns)
		extract->from = first + fkt_ns_to_cycles(trace, options->from_ns);
	/* The recording may have gone on behind the last event. */
	if (options->has_to)
		extract->to = first + fkt_ns_to_cycles(trace, options->to_ns);
	if (extract->to < first)
		extract->to = UINT64_MAX;
	return true;
}

static bool to_stdout(const struct options *options)
{
	return !strcmp(options->output, "-");
}

/* Open the new file, which must not be the trace. -1 after a complaint. */
static int open_output(const struct options *options)
{
	struct stat in, out;
	int fd;

	if (to_stdout(options)) {
		if (!isatty(STDOUT_FILENO))
			return STDOUT_FILENO;
		complain("standard output", "is a terminal; a trace is no text");
		return -1;
	}
	if (!stat(options->output, &out)) {
		if (!stat(options->path, &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino) {
			complain(options->output, "is the trace itself; name another file with -o");
			return -1;
		}
		if (!S_ISREG(out.st_mode)) {
			complain(options->output,
				 "is not a regular file; name one that is, or a new one, with -o");
			return -1;
		}
	}
	fd = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* It has kernel addresses in it: it is the user's alone also when it was there before. */
	if (fd < 0 || fchmod(fd, 0600)) {
		complain(options->output, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

/* Those of the whole trace, by the names that they had in the end. */
static struct fkt_processes *all_processes(struct fkt_trace *trace)
{
	struct fkt_processes *processes = fkt_processes_new(trace);
	struct fkt_reader *reader = fkt_reader_new_processes(trace, UINT64_MAX);
	struct fkt_event event;
	int what;

	while (processes && reader && (what = fkt_next(reader, &event)) > 0)
		if (what == FKT_EVENT)
			fkt_processes_event(processes, &event);
	fkt_reader_free(reader);
	return processes;
}

/* The process that may have been meant. */
static const char *meant_process(struct fkt_trace *trace, const char *name,
				 char meant[FKT_MEANT_BYTES])
{
	struct fkt_processes *processes = all_processes(trace);
	struct fkt_near near = { .wanted = name };

	for (uint32_t id = 1; processes && id < fkt_process_count(processes); id++)
		fkt_near_show(&near, fkt_process(processes, id)->comm);
	fkt_processes_free(processes);
	return fkt_near_meant(&near, meant);
}

/* Of each range of the lists of CPUs, some have to be there, so far as the trace tells. */
static bool knows_cpus(const struct options *options, const struct fkt_trace *trace)
{
	char *copy, *rest, *range, text[FKT_ERROR_BYTES];
	bool all = true;

	for (size_t i = 0; i < options->cpu_lists && all; i++) {
		copy = rest = strdup(options->cpus[i]);
		while (all && (range = strsep(&rest, ","))) {
			range += *range == '!';
			all = has_cpus_of(trace, range);
			if (!all) {
				snprintf(text, sizeof(text), "has no CPU '%s'; nothing was written",
					 range);
				complain(options->path, text);
			}
		}
		free(copy);
	}
	if (all && options->extract.cpus && !has_cpus(trace, options->wanted_cpus)) {
		complain(options->path, "--cpu: what is wanted and what is not leave no CPU; "
					"nothing was written");
		all = false;
	}
	return all;
}

/* Nothing was found of what was asked for: of what? */
static void complain_nothing(const struct options *options, struct fkt_trace *trace)
{
	const struct fkt_extract *extract = &options->extract;
	const bool in_part = extract->from || extract->to != UINT64_MAX;
	const char *when = in_part ? " in the time that was asked for" : "";
	char text[FKT_ERROR_BYTES], meant[FKT_MEANT_BYTES];
	unsigned int i;

	for (i = 0; i < extract->processes && extract->process[i].found; i++)
		;
	if (i == extract->processes) {
		complain(options->path, "has no such events; nothing was written");
		return;
	}
	if (extract->process[i].name) {
		snprintf(text, sizeof(text),
			 "has no events of a process '%s'%s; nothing was written%s",
			 extract->process[i].name, when,
			 meant_process(trace, extract->process[i].name, meant));
	} else {
		snprintf(text, sizeof(text),
			 "has no events of process %" PRIu32 "%s; nothing was written",
			 extract->process[i].pid, when);
	}
	complain(options->path, text);
}

static int extract(struct options *options, struct fkt_trace *trace)
{
	int fd, err;

	if (!knows_cpus(options, trace) || !find_range(options, trace))
		return 1;
	fd = open_output(options);
	if (fd < 0)
		return 1;
	err = fkt_extract(trace, &options->extract, fd);
	if (close(fd) && !err)
		err = -errno;
	if (!err) {
		fprintf(to_stdout(options) ? stderr : stdout,
			"%s: %" PRIu64 " events in %" PRIu64 " pages, %" PRIu64 " bytes\n",
			to_stdout(options) ? "standard output" : options->output,
			options->extract.events, options->extract.pages, options->extract.bytes);
		return 0;
	}
	if (err == -ENODATA)
		complain_nothing(options, trace);
	else if (err == -ENOMEM)
		complain(options->path, "out of memory");
	else
		complain(to_stdout(options) ? "standard output" : options->output, strerror(-err));
	if (!to_stdout(options))
		unlink(options->output);
	return 1;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	struct fkt_trace *trace;
	char error[FKT_ERROR_BYTES];
	struct stat input;
	int status;

	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, &options);

	trace = fkt_open(options.path, warn, (void *)(uintptr_t)options.path, error);
	if (!trace) {
		complain(options.path, error);
		return 1;
	}
	if (!strcmp(options.path, "-") ||
	    (!stat(options.path, &input) && S_ISFIFO(input.st_mode))) {
		complain(options.path, "a stream can't be searched; save it as a file first");
		status = 1;
	} else {
		status = extract(&options, trace);
	}
	fkt_close(trace);
	free(options.extract.process);
	free(options.cpus);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The options that say what of a trace is wanted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "range.h"
#include "selection.h"

const struct argp_option selection_options[SELECT_COUNT] = {
	{ "process", SELECT_PROCESS, "PROCESS", 0,
	  "By this process or thread, pid or name, and switches to it and its wake-ups",
	  SELECT_GROUP },
	{ "while", SELECT_WHILE, "PROCESS", 0, "While it lives", SELECT_GROUP },
	{ "cpu", SELECT_CPU, "LIST", 0, "On these CPUs, as in 0,2-3", SELECT_GROUP },
	{ "code", SELECT_CODE, "PATTERN", 0, "Whose name or hexadecimal code is like this",
	  SELECT_GROUP },
	{ "layer", SELECT_LAYER, "PATTERN", 0, "Of layers whose name is like this", SELECT_GROUP },
	{ "function", SELECT_FUNCTION, "PATTERN", 0, "In calls of such functions or system calls",
	  SELECT_GROUP },
	{ "from", SELECT_FROM, "TIME", 0,
	  "From TIME on, since the first event: seconds, or 12.5s, 300ms, 20us, 5ns, 2m, 1h; "
	  "trigger-50ms, trigger, trigger+50ms: by what triggered the snapshot",
	  SELECT_GROUP },
	{ "to", SELECT_TO, "TIME", 0, "Before TIME", SELECT_GROUP },
	{ "range", SELECT_RANGE, "TIME..TIME", 0, "Both; either may be left out", SELECT_GROUP },
	{ "longer-than", SELECT_LONGER, "TIME", 0, "Calls that took so long from entry to exit",
	  SELECT_GROUP },
};

static int64_t need_time(struct argp_state *state, const char *option, const char *text)
{
	uint64_t ns;

	if (!fkt_parse_time(text, &ns))
		argp_error(state,
			   "%s=%s: a time is a number of seconds, or such as 12.5s, 300ms, 20us, "
			   "5ns, 2m, 1h",
			   option, text);
	return (int64_t)ns;
}

/* One beginning and one end: of several, none is likely to be what was meant. */
static void check_first(struct argp_state *state, const char *option, bool another)
{
	if (another)
		argp_error(state, "%s: there is such a time already; one range at a time, please",
			   option);
}

static void set_from(struct argp_state *state, struct selection *selection, const char *option,
		     int64_t ns)
{
	check_first(state, option, selection->from >= 0 || selection->at_trigger);
	selection->from = ns;
}

static void set_to(struct argp_state *state, struct selection *selection, const char *option,
		   int64_t ns)
{
	check_first(state, option, selection->to >= 0 || selection->to_trigger);
	selection->to = ns;
}

/* "trigger", "trigger-50ms", "trigger+1s". Return: whether it is that, and how long after it. */
static bool parse_at_trigger(struct argp_state *state, const char *option, const char *arg,
			     int64_t *ns)
{
	const char *sign = arg + strlen("trigger");

	if (strncmp(arg, "trigger", strlen("trigger")))
		return false;
	*ns = 0;
	if (*sign == '-')
		*ns = -need_time(state, option, sign + 1);
	else if (*sign == '+')
		*ns = need_time(state, option, sign + 1);
	else if (*sign)
		argp_error(state, "%s=%s: as in trigger-50ms", option, arg);
	return true;
}

static void parse_from(struct argp_state *state, struct selection *selection, const char *option,
		       const char *arg)
{
	int64_t ns;
	bool at_trigger = parse_at_trigger(state, option, arg, &ns);

	if (!at_trigger) {
		set_from(state, selection, option, need_time(state, option, arg));
		return;
	}
	check_first(state, option, selection->from >= 0 || selection->at_trigger);
	selection->at_trigger = true;
	selection->trigger_ns = ns;
}

static void parse_to(struct argp_state *state, struct selection *selection, const char *option,
		     const char *arg)
{
	int64_t ns;
	bool to_trigger = parse_at_trigger(state, option, arg, &ns);

	if (!to_trigger) {
		set_to(state, selection, option, need_time(state, option, arg));
		return;
	}
	check_first(state, option, selection->to >= 0 || selection->to_trigger);
	selection->to_trigger = true;
	selection->trigger_to_ns = ns;
}

static void parse_range(struct argp_state *state, struct selection *selection, const char *option,
			const char *arg)
{
	const char *dots = strstr(arg, "..");
	struct fkt_range range;
	char from[64];

	/* One end, or both, by the trigger. */
	if (strstr(arg, "trigger") && dots && (size_t)(dots - arg) < sizeof(from)) {
		snprintf(from, sizeof(from), "%.*s", (int)(dots - arg), arg);
		if (*from)
			parse_from(state, selection, option, from);
		if (dots[2])
			parse_to(state, selection, option, dots + 2);
		return;
	}
	if (!fkt_range_parse(arg, &range))
		argp_error(
			state,
			"%s=%s: it is two times, or one of them, as in 12.5s..13s or 12.5s.., or "
			"trigger-1ms..trigger+1ms",
			option, arg);
	if (range.has_from)
		set_from(state, selection, option, (int64_t)range.from_ns);
	if (range.has_to)
		set_to(state, selection, option, (int64_t)range.to_ns);
}

/* One more of a kind; "!" before it is for what is not wanted. */
static struct chosen_one *choose(struct argp_state *state, struct choice *choice,
				 const char *option, const char *arg)
{
	struct chosen_one *one;

	if (choice->count == CHOICES_MAX)
		argp_error(state, "%s: no more than %d times, please", option, CHOICES_MAX);
	one = &choice->one[choice->count++];
	one->unwanted = *arg == '!';
	one->name = arg + one->unwanted;
	if (!*one->name)
		argp_error(state, "%s=%s: it names nothing", option, arg);
	return one;
}

/* A list with commas; "!" before it is for all of it, and "!" before one of it for that one. */
static void
choose_each(struct argp_state *state, struct choice *choice, const char *option, char *arg,
	    void (*check)(struct argp_state *state, struct chosen_one *one, const char *option))
{
	bool unwanted = *arg == '!';
	struct chosen_one *one;
	char *comma;

	for (; arg; arg = comma) {
		comma = strchr(arg, ',');
		if (comma)
			*comma++ = '\0';
		one = choose(state, choice, option, arg);
		one->unwanted |= unwanted;
		if (check)
			check(state, one, option);
	}
}

static void check_cpus(struct argp_state *state, struct chosen_one *one, const char *option)
{
	if (!read_cpus(one->name, NULL))
		argp_error(state, "%s=%s: it is a list of CPUs, as in 0,2-3", option, one->name);
}

/* A list of CPUs is one of a choice, as it may be a long one. */
static void choose_cpus(struct argp_state *state, struct choice *choice, char *arg)
{
	if (strstr(arg, ",!"))
		choose_each(state, choice, "--cpu", arg, check_cpus);
	else
		check_cpus(state, choose(state, choice, "--cpu", arg), "--cpu");
}

static void check_process(struct argp_state *state, struct chosen_one *one, const char *option)
{
	unsigned long long pid;
	char *end;

	(void)state;
	(void)option;
	errno = 0;
	pid = strtoull(one->name, &end, 10);
	one->is_pid = *one->name >= '0' && *one->name <= '9' && !*end && !errno &&
		      pid < FKT_PID_UNKNOWN;
	one->pid = (uint32_t)pid;
}

void selection_choose_process(struct argp_state *state, struct choice *choice, const char *option,
			      char *arg)
{
	choose_each(state, choice, option, arg, check_process);
}

bool selection_parse(struct argp_state *state, struct selection *selection, int key, char *arg)
{
	switch (key) {
	case SELECT_PROCESS:
		selection_choose_process(state, &selection->process, "--process", arg);
		break;
	case SELECT_WHILE:
		selection_choose_process(state, &selection->lives, "--while", arg);
		break;
	case SELECT_CPU:
		choose_cpus(state, &selection->cpu, arg);
		break;
	case SELECT_CODE:
		choose_each(state, &selection->code, "--code", arg, NULL);
		break;
	case SELECT_LAYER:
		choose_each(state, &selection->layer, "--layer", arg, NULL);
		break;
	case SELECT_FUNCTION:
		choose_each(state, &selection->function, "--function", arg, NULL);
		break;
	case SELECT_FROM:
		if (strstr(arg, ".."))
			parse_range(state, selection, "--from", arg);
		else
			parse_from(state, selection, "--from", arg);
		break;
	case SELECT_TO:
		parse_to(state, selection, "--to", arg);
		break;
	case SELECT_RANGE:
		parse_range(state, selection, "--range", arg);
		break;
	case SELECT_LONGER:
		if (selection->longer >= 0)
			argp_error(state, "--longer-than: once, please; there is such a time "
					  "already");
		selection->longer = need_time(state, "--longer-than", arg);
		break;
	default:
		return false;
	}
	return true;
}

void selection_check(struct argp_state *state, const struct selection *selection)
{
	bool both = selection->from >= 0 && selection->to >= 0;
	bool by_trigger = selection->at_trigger && selection->to_trigger;

	if ((both && selection->to < selection->from) ||
	    (by_trigger && selection->trigger_to_ns < selection->trigger_ns))
		argp_error(state, "the time to which to read is before that from which to");
}

const char *selection_path(const struct selection *selection)
{
	return strcmp(selection->path, "-") ? selection->path : "standard input";
}

void selection_complain(const struct selection *selection, const char *sentence)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, selection_path(selection),
		sentence);
}

/* So long before a trigger it is of interest what happened. */
#define TRIGGER_BEFORE_NS 50000000

uint64_t selection_complete_from(struct fkt_trace *trace)
{
	const char *info = fkt_info(trace, "complete_from_cycles");
	uint64_t from = info ? strtoull(info, NULL, 10) : 0, first, last;

	return from && fkt_span(trace, &first, &last) && from > first && from <= last ? from : 0;
}

/*
 * Where some lanes were overwritten, what others have of before is but a part of what happened:
 * it is shown to who asks for it.
 */
static void begin_where_complete(struct selection *selection, struct fkt_trace *trace)
{
	const uint64_t from = selection_complete_from(trace);
	uint64_t first, last;

	if (!from || selection->from >= 0 || selection->at_trigger || !fkt_has_clock(trace) ||
	    !fkt_span(trace, &first, &last))
		return;
	selection->from = fkt_cycles_to_ns(trace, (int64_t)(from - first)) + 1;
	selection->overwritten = true;
}

/*
 * Times that are told by what triggered a snapshot. Without any, it begins a little before that.
 */
static bool find_trigger(struct selection *selection, struct fkt_trace *trace)
{
	const char *info = fkt_info(trace, "trigger_cycles");
	const bool asked = selection->at_trigger || selection->to_trigger;
	uint64_t at, first, last;
	int64_t ns;

	if (!info || !fkt_has_clock(trace) || !(at = strtoull(info, NULL, 10)) ||
	    !fkt_span(trace, &first, &last)) {
		if (asked)
			selection_complain(selection,
					   "no trigger has taken it as a snapshot, so trigger is "
					   "no moment in it");
		return !asked;
	}
	/* Overwritten before it was taken, or a part from behind it. */
	if (at < first) {
		if (asked)
			selection_complain(selection,
					   "it begins after what triggered the snapshot");
		return !asked;
	}
	selection->triggered = fkt_cycles_to_ns(trace, (int64_t)(at - first));
	/* A part from before. */
	if (at > last) {
		if (asked)
			selection_complain(selection,
					   "the part ends before what triggered the snapshot");
		return !asked;
	}
	if (selection->to_trigger) {
		ns = selection->triggered + selection->trigger_to_ns;
		selection->to = ns > 0 ? ns : 0;
	}
	if (selection->at_trigger) {
		ns = selection->triggered + selection->trigger_ns;
		selection->from = ns > 0 ? ns : 0;
		selection->overwritten = false;
	} else if ((selection->from < 0 || selection->overwritten) && selection->to < 0) {
		ns = selection->triggered - TRIGGER_BEFORE_NS;
		selection->near_trigger = ns > 0 && ns > selection->from;
		if (selection->near_trigger)
			selection->from = ns;
	}
	/* Where one of them is told by the trigger, this is the first time that both are known. */
	if (asked && selection->from >= 0 && selection->to >= 0 &&
	    selection->to < selection->from) {
		selection_complain(selection,
				   "the time to which to read is before that from which to");
		return false;
	}
	return true;
}

bool selection_find(struct selection *selection, struct fkt_trace *trace)
{
	begin_where_complete(selection, trace);
	return find_trigger(selection, trace);
}

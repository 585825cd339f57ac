// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a trace has what options name, and what may have been meant where it has not. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <fkt/codes.h>

#include "distance.h"
#include "filter.h"
#include "keys.h"
#include "known.h"
#include "selection.h"
#include "trace_cpus.h"
#include "trace/internal.h"

/* Further away than this, something else was meant. */
#define DISTANCE_MAX 2

/* The name that is nearest to what was asked for, of those that were shown to it. */
struct near {
	const char *wanted;
	char name[FKT_NAME_BYTES];
	unsigned int distance;
};

static void show(struct near *near, const char *name)
{
	char prefixed[FKT_NAME_BYTES];
	unsigned int distance = fkt_distance(near->wanted, name);
	const char *colon = strchr(name, ':');

	/* System calls, without what FKT puts before them; events, without the kernel's system. */
	snprintf(prefixed, sizeof(prefixed), "sys_%s", near->wanted);
	if (!strcmp(prefixed, name) || (colon && !strcmp(near->wanted, colon + 1)))
		distance = 0;
	if (distance > DISTANCE_MAX || (*near->name && distance >= near->distance))
		return;
	near->distance = distance;
	snprintf(near->name, sizeof(near->name), "%s", name);
}

static bool is_part(const struct selection *selection)
{
	return selection->from >= 0 || selection->to >= 0;
}

/* @hint: the option that takes it; NULL: none does. */
static void complain(const struct selection *selection, const char *what, const char *name,
		     const struct near *near, const char *hint, bool in_part)
{
	fprintf(stderr, "%s: %s: has no %s '%s'%s", program_invocation_short_name,
		selection_path(selection), what, name,
		in_part && is_part(selection) ? " in the time that was asked for" : "");
	if (hint)
		fprintf(stderr, "; %s takes it", hint);
	else if (near && *near->name)
		fprintf(stderr, "; did you mean '%s'?", near->name);
	fputc('\n', stderr);
}

static bool knows_code(const struct fkt_trace *trace, const char *pattern, struct near *near)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		if (!fkt_code_row(trace, code))
			continue;
		fkt_code_name(trace, code, name);
		if (filter_is_code(pattern, name, code))
			return true;
		show(near, name);
	}
	return false;
}

/* A layer of which the trace has nothing, but which there is, is no mistake. */
static bool knows_layer(const struct fkt_trace *trace, const char *wanted, struct near *near)
{
	char name[FKT_NAME_BYTES], why[FKT_KEYS_WHY_BYTES];
	const struct fkt_code_row *row;
	uint32_t mask;

	if (!strchr(wanted, ',') && (*wanted < '0' || *wanted > '9') &&
	    !fkt_keys_parse(wanted, &mask, why))
		return true;
	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		row = fkt_code_row(trace, code);
		if (!row)
			continue;
		if (filter_is_layer(row, wanted))
			return true;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(row->layer, ","), row->layer);
		show(near, name);
	}
	return false;
}

/* Whether there are calls of a row: an event that is a point in time has one of its own as well. */
static bool is_of_calls(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_code_row *code;

	if (row >= FKT_SLOT_CODES)
		return true;
	code = fkt_code_row(trace, row);
	return code && code->kind != FKT_KIND_POINT;
}

/* @filter: only what it had calls of may have been meant; NULL: anything. */
static bool knows_function(const struct fkt_trace *trace, const struct filter *filter,
			   const char *pattern, struct near *near)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t row = 0; row < FKT_ROW_FUNCTION; row++) {
		if (!is_of_calls(trace, row))
			continue;
		fkt_row_name(trace, row, name);
		if (!fnmatch(pattern, name, 0))
			return true;
		if (!filter || filter_had_call(filter, row))
			show(near, name);
	}
	return false;
}

/* Functions that events tell by their addresses have rows of their own, as they come. */
static bool came_by_address(const struct fkt_trace *trace, const char *pattern)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t row = FKT_ROW_FUNCTION; row < FKT_ROW_USER; row++) {
		fkt_row_name(trace, row, name);
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

bool known_function(const struct selection *selection, const struct fkt_trace *trace,
		    const struct filter *filter, const char *pattern)
{
	struct near near = { .wanted = pattern }, code = near;

	if (!pattern || knows_function(trace, filter, pattern, &near) ||
	    came_by_address(trace, pattern))
		return true;
	complain(selection, "function like", pattern, &near,
		 knows_code(trace, pattern, &code) ? "--code" : NULL, true);
	return false;
}

/* Of each range of a list, some have to be there. */
static bool knows_each_cpu(const struct selection *selection, const struct fkt_trace *trace,
			   const char *list)
{
	char *copy = strdup(list), *rest = copy, *range;
	bool all = true;

	while ((range = strsep(&rest, ","))) {
		if (!*range || has_cpus_of(trace, range))
			continue;
		complain(selection, "CPU", range, NULL, NULL, false);
		all = false;
	}
	free(copy);
	return all;
}

static bool knows_any_cpu(const struct selection *selection, const struct fkt_trace *trace)
{
	uint8_t left[CPUS_BYTES];

	filter_choose_cpus(&selection->cpu, left);
	return has_cpus(trace, left);
}

bool known_before(const struct selection *selection, const struct fkt_trace *trace)
{
	const struct {
		const char *what;
		const struct choice *choice;
		bool (*knows)(const struct fkt_trace *trace, const char *name, struct near *near);
	} kinds[] = {
		{ "code like", &selection->code, knows_code },
		{ "layer", &selection->layer, knows_layer },
	};
	bool all = true;

	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		for (unsigned int i = 0; i < kinds[kind].choice->count; i++) {
			struct near near = { .wanted = kinds[kind].choice->one[i].name };
			struct near call = near;

			if (kinds[kind].knows(trace, near.wanted, &near))
				continue;
			/* Such as "irq 30*", which is what calls have their rows by. */
			complain(selection, kinds[kind].what, near.wanted, &near,
				 kinds[kind].choice == &selection->code &&
						 knows_function(trace, NULL, near.wanted, &call)
					 ? "--function"
					 : NULL,
				 false);
			all = false;
		}
	}
	for (unsigned int i = 0; i < selection->cpu.count; i++)
		all &= knows_each_cpu(selection, trace, selection->cpu.one[i].name);
	if (all && selection->cpu.count && !knows_any_cpu(selection, trace)) {
		fprintf(stderr, "%s: --cpu: what is wanted and what is not leave no CPU\n",
			program_invocation_short_name);
		all = false;
	}
	return all;
}

/*
 * What the trace could have, and has no event of: whether there is something of a kind, or nothing
 * of it is wanted.
 */
static bool tell_absent(const struct selection *selection, const char *what,
			const struct choice *choice, const struct filter *filter)
{
	bool any = false, wanted = false;

	for (unsigned int i = 0; i < choice->count; i++) {
		if (choice->one[i].unwanted)
			continue;
		wanted = true;
		if (filter_has_come(filter, &choice->one[i]))
			any = true;
		else
			complain(selection, what, choice->one[i].name, NULL, NULL, true);
	}
	return any || !wanted || is_part(selection);
}

bool known_events(const struct selection *selection, const struct filter *filter, bool waits)
{
	bool all = tell_absent(selection, "event like", &selection->code, filter);

	all &= tell_absent(selection, "event of layer", &selection->layer, filter);
	all &= tell_absent(selection, "call of a function like", &selection->function, filter);
	/* Of a wait, one may name the outermost call and the other the innermost one. */
	if (all && !waits && (selection->code.count || selection->layer.count) &&
	    !filter_any_code(filter) && !is_part(selection)) {
		fprintf(stderr,
			selection->code.count && selection->layer.count
				? "%s: --code and --layer together leave no event\n"
				: "%s: %s: what is wanted and what is not leave no event\n",
			program_invocation_short_name,
			selection->code.count ? "--code" : "--layer");
		return false;
	}
	return all;
}

bool known_after(const struct selection *selection, const struct fkt_trace *trace,
		 const struct fkt_processes *processes, const struct filter *filter)
{
	const struct choice *const choices[] = { &selection->process, &selection->lives };
	bool all = true;

	for (size_t c = 0; c < sizeof(choices) / sizeof(choices[0]); c++) {
		for (unsigned int i = 0; i < choices[c]->count; i++) {
			const struct chosen_one *one = &choices[c]->one[i];
			struct near near = { .wanted = one->name };

			if (filter_has_met(filter, one))
				continue;
			for (uint32_t id = 1; id < fkt_process_count(processes); id++)
				show(&near, fkt_process(processes, id)->comm);
			complain(selection, "process", one->name, one->is_pid ? NULL : &near, NULL,
				 true);
			all = false;
		}
	}
	for (unsigned int i = 0; i < selection->function.count; i++)
		all &= known_function(selection, trace, filter, selection->function.one[i].name);
	return all;
}

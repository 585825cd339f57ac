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

#include "came.h"
#include "distance.h"
#include "filter.h"
#include "keys.h"
#include "known.h"
#include "selection.h"
#include "trace_cpus.h"
#include "trace/internal.h"

static bool is_part(const struct selection *selection)
{
	return selection->from >= 0 || selection->to >= 0;
}

/* @hint: the option that takes it; NULL: none does. */
static void complain(const struct selection *selection, const char *what, const char *name,
		     const struct fkt_near *near, const char *hint, bool in_part)
{
	char meant[FKT_MEANT_BYTES] = "";

	if (hint)
		snprintf(meant, sizeof(meant), "; %s takes it", hint);
	else if (near)
		fkt_near_meant(near, meant);
	fprintf(stderr, "%s: %s: has no %s '%s'%s%s\n", program_invocation_short_name,
		selection_path(selection), what, name,
		in_part && is_part(selection) ? " in the time that was asked for" : "", meant);
}

static bool knows_code(const struct fkt_trace *trace, const char *pattern)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		if (!fkt_code_row(trace, code))
			continue;
		fkt_code_name(trace, code, name);
		if (filter_is_code(pattern, name, code))
			return true;
	}
	return false;
}

static void show_codes(struct came *came, struct fkt_near *near)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		if (!came_code(came, code))
			continue;
		fkt_code_name(came->trace, code, name);
		fkt_near_show(near, name);
	}
}

/* A layer of which the trace has nothing, but which there is, is no mistake. */
static bool knows_layer(const struct fkt_trace *trace, const char *wanted)
{
	char why[FKT_KEYS_WHY_BYTES];
	uint32_t mask;

	if (!strchr(wanted, ',') && (*wanted < '0' || *wanted > '9') &&
	    !fkt_keys_parse(wanted, &mask, why))
		return true;
	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++)
		if (filter_is_layer(fkt_code_row(trace, code), wanted))
			return true;
	return false;
}

static void show_layers(struct came *came, struct fkt_near *near)
{
	char layers[FKT_NAME_BYTES], *rest, *layer;
	const struct fkt_code_row *row;

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		row = came_code(came, code) ? fkt_code_row(came->trace, code) : NULL;
		snprintf(layers, sizeof(layers), "%s", row ? row->layer : "");
		for (rest = layers; (layer = strsep(&rest, ","));)
			fkt_near_show(near, layer);
	}
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

/* Functions that events tell by their addresses have rows of their own, as they come. */
static bool knows_function(const struct fkt_trace *trace, const char *pattern)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t row = 0; row < FKT_ROW_USER; row++) {
		if (!is_of_calls(trace, row))
			continue;
		fkt_row_name(trace, row, name);
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

static void show_functions(struct came *came, struct fkt_near *near)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t row = 0; row < FKT_ROW_USER; row++) {
		if (!came_row(came, row) || !is_of_calls(came->trace, row))
			continue;
		fkt_row_name(came->trace, row, name);
		fkt_near_show(near, name);
	}
}

/* Whether there was a call of such a function; of a stream it is not known any more. */
static bool function_came(struct came *came, const char *pattern)
{
	char name[FKT_NAME_BYTES];

	for (uint32_t row = 0; row < FKT_ROW_USER; row++) {
		if (!came_row(came, row))
			continue;
		fkt_row_name(came->trace, row, name);
		if (!fnmatch(pattern, name, 0))
			return true;
	}
	return !came_is_known(came);
}

static bool tell_unknown_function(const struct selection *selection, struct came *came,
				  const char *pattern)
{
	struct fkt_near near = { .wanted = pattern };

	if (!pattern || knows_function(came->trace, pattern))
		return true;
	show_functions(came, &near);
	complain(selection, "function like", pattern, &near,
		 knows_code(came->trace, pattern) ? "--code" : NULL, true);
	return false;
}

bool known_function(const struct selection *selection, const struct fkt_trace *trace,
		    const struct fkt_analysis *analysis, const char *pattern)
{
	struct came came = { .trace = trace }, seen = { .tried = true };
	struct fkt_near near = { .wanted = pattern };
	bool known = tell_unknown_function(selection, &came, pattern);

	if (!pattern || !known)
		return known;
	seen.trace = trace;
	seen.analysis = (struct fkt_analysis *)analysis;
	if (!function_came(&seen, pattern) && !function_came(&came, pattern)) {
		show_functions(&came, &near);
		complain(selection, "call of a function like", pattern, &near, NULL, false);
		known = false;
	}
	came_free(&came);
	return known;
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
		bool (*knows)(const struct fkt_trace *trace, const char *name);
		void (*show)(struct came *came, struct fkt_near *near);
	} kinds[] = {
		{ "code like", &selection->code, knows_code, show_codes },
		{ "layer", &selection->layer, knows_layer, show_layers },
	};
	struct came came = { .trace = trace };
	bool all = true;

	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		for (unsigned int i = 0; i < kinds[kind].choice->count; i++) {
			struct fkt_near near = { .wanted = kinds[kind].choice->one[i].name };

			if (kinds[kind].knows(trace, near.wanted))
				continue;
			kinds[kind].show(&came, &near);
			/* Such as "irq 30*", which is what calls have their rows by. */
			complain(selection, kinds[kind].what, near.wanted, &near,
				 kinds[kind].choice == &selection->code &&
						 knows_function(trace, near.wanted)
					 ? "--function"
					 : NULL,
				 false);
			all = false;
		}
	}
	came_free(&came);
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
			const struct choice *choice, const struct filter *filter, struct came *came,
			void (*show_all)(struct came *came, struct fkt_near *near))
{
	bool any = false, wanted = false;

	for (unsigned int i = 0; i < choice->count; i++) {
		struct fkt_near near = { .wanted = choice->one[i].name };

		if (choice->one[i].unwanted)
			continue;
		wanted = true;
		if (filter_has_come(filter, &choice->one[i])) {
			any = true;
			continue;
		}
		show_all(came, &near);
		complain(selection, what, near.wanted, &near, NULL, true);
	}
	return any || !wanted || is_part(selection);
}

bool known_events(const struct selection *selection, const struct fkt_trace *trace,
		  const struct filter *filter, bool waits)
{
	struct came came = { .trace = trace };
	bool all =
		tell_absent(selection, "event like", &selection->code, filter, &came, show_codes);

	all &= tell_absent(selection, "event of layer", &selection->layer, filter, &came,
			   show_layers);
	all &= tell_absent(selection, "call of a function like", &selection->function, filter,
			   &came, show_functions);
	came_free(&came);
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

/* Whether something came of a kind, or nothing of it is wanted. */
static bool has_come(const struct choice *choice, const struct filter *filter)
{
	bool wanted = false;

	for (unsigned int i = 0; i < choice->count; i++) {
		if (choice->one[i].unwanted)
			continue;
		wanted = true;
		if (filter_has_come(filter, &choice->one[i]))
			return true;
	}
	return !wanted;
}

bool known_already(const struct selection *selection, const struct fkt_trace *trace,
		   const struct filter *filter, bool waits)
{
	const struct choice *const choices[] = { &selection->process, &selection->lives };
	const bool codes = selection->code.count || selection->layer.count;

	/* Not filter_has_met(): a name that a thread has now it may not have in the end. */
	for (size_t c = 0; c < sizeof(choices) / sizeof(choices[0]); c++)
		for (unsigned int i = 0; i < choices[c]->count; i++)
			if (!filter_has_come(filter, &choices[c]->one[i]))
				return false;
	if (!is_part(selection) &&
	    (!has_come(&selection->code, filter) || !has_come(&selection->layer, filter) ||
	     !has_come(&selection->function, filter) ||
	     (codes && !waits && !filter_any_code(filter))))
		return false;
	for (unsigned int i = 0; i < selection->function.count; i++)
		if (!knows_function(trace, selection->function.one[i].name))
			return false;
	return true;
}

bool known_after(const struct selection *selection, const struct fkt_trace *trace,
		 const struct fkt_processes *processes, const struct filter *filter)
{
	const struct choice *const choices[] = { &selection->process, &selection->lives };
	struct came came = { .trace = trace };
	bool all = true;

	for (size_t c = 0; c < sizeof(choices) / sizeof(choices[0]); c++) {
		for (unsigned int i = 0; i < choices[c]->count; i++) {
			const struct chosen_one *one = &choices[c]->one[i];
			struct fkt_near near = { .wanted = one->name };

			if (filter_has_met(filter, one))
				continue;
			for (uint32_t id = 1; id < fkt_process_count(processes); id++)
				fkt_near_show(&near, fkt_process(processes, id)->comm);
			complain(selection, "process", one->name, one->is_pid ? NULL : &near, NULL,
				 true);
			all = false;
		}
	}
	for (unsigned int i = 0; i < selection->function.count; i++)
		all &= tell_unknown_function(selection, &came, selection->function.one[i].name);
	came_free(&came);
	return all;
}

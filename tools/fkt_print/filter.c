// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events and calls the user wants to see. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

enum verdict {
	VERDICT_NONE, /* not looked at yet */
	VERDICT_NO,
	VERDICT_YES,
};

/* Processes that an option names, as they come and go. */
struct watch {
	const struct who *who;
	uint8_t *alive; /* of each thread, by its number */
	uint32_t room;
	uint32_t count; /* how many are */
};

struct filter {
	const struct options *options;
	const struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct watch stats;
	struct watch list;
	bool begun;
	uint64_t first; /* stamp of the beginning */
	uint64_t from;
	uint64_t to;
	uint64_t longer; /* cycles */
	bool cpus;
	uint8_t cpu[CPUS_BYTES];
	uint8_t *code;	   /* a verdict on each */
	uint8_t *function; /* the same, on each row */
	uint32_t *inside;  /* of each thread: in how many calls of the function it is */
	uint32_t inside_room;
	bool left;	/* the last event left the function */
	bool long_call; /* the last event ended a call that was long enough */
};

bool read_cpus(const char *list, uint8_t cpus[CPUS_BYTES])
{
	unsigned long first, last;
	char *end;

	do {
		if (*list < '0' || *list > '9')
			return false;
		first = last = strtoul(list, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last > UINT16_MAX)
			return false;
		for (unsigned long cpu = first; cpus && cpu <= last; cpu++)
			cpus[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		list = end + 1;
	} while (*end == ',');
	return !*end;
}

struct filter *filter_new(const struct options *options, const struct fkt_trace *trace,
			  struct fkt_processes *processes)
{
	struct filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->options = options;
	filter->trace = trace;
	filter->processes = processes;
	filter->stats.who = &options->stats_while;
	filter->list.who = &options->list_while;
	/* The last one is for calls whose code is not known. */
	filter->code = calloc(FKT_SLOT_CODES + 1, 1);
	filter->function = calloc(FKT_ROWS, 1);
	if (!filter->code || !filter->function) {
		filter_free(filter);
		return NULL;
	}
	if (options->cpu)
		filter->cpus = read_cpus(options->cpu, filter->cpu);
	if (options->longer >= 0)
		filter->longer = fkt_ns_to_cycles(trace, (uint64_t)options->longer);
	return filter;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	free(filter->stats.alive);
	free(filter->list.alive);
	free(filter->code);
	free(filter->function);
	free(filter->inside);
	free(filter);
}

bool filter_is_open(const struct filter *filter)
{
	const struct options *options = filter->options;

	return !options->stats_while.set && !options->list_while.set && !options->only.set &&
	       !options->cpu && !options->codes && !options->layer && !options->function &&
	       options->from < 0 && options->to < 0 && options->longer < 0;
}

bool filter_needs_calls(const struct filter *filter)
{
	return filter->options->function || filter->options->longer >= 0;
}

/* ---- processes ---- */

static bool is_who(const struct fkt_processes *processes, const struct who *who, uint32_t id)
{
	const struct fkt_process *process = fkt_process(processes, id);

	if (!id)
		return false;
	if (who->is_pid)
		return process->tid == who->pid || (process->tid && process->tgid == who->pid);
	return !strcmp(process->comm, who->name);
}

static void set_alive(struct watch *watch, uint32_t id, bool alive)
{
	uint32_t room = watch->room ? watch->room : 256;
	uint8_t *larger;

	if (id >= watch->room) {
		if (!alive)
			return;
		while (room <= id)
			room *= 2;
		larger = realloc(watch->alive, room);
		if (!larger)
			return;
		memset(larger + watch->room, 0, room - watch->room);
		watch->alive = larger;
		watch->room = room;
	}
	watch->count += (uint32_t)alive - watch->alive[id];
	watch->alive[id] = alive;
}

static void watch_begin(struct filter *filter, struct watch *watch)
{
	uint32_t count = fkt_process_count(filter->processes);

	for (uint32_t id = 1; watch->who->set && id < count; id++)
		if (is_who(filter->processes, watch->who, id))
			set_alive(watch, id, true);
}

/* The process that the event is about, and the one that is current. */
static void watch_event(struct filter *filter, struct watch *watch, const struct fkt_event *event,
			uint32_t current)
{
	uint32_t id;

	if (!watch->who->set)
		return;
	if (event->code == FKT_CODE_EXIT && event->words >= 1) {
		id = fkt_process_id(filter->processes, fkt_arg32(event, 0), event->cpu);
		set_alive(watch, id, false);
	} else if (fkt_is_process_event(event->code) && event->code != FKT_CODE_RELEASE &&
		   event->words >= 1) {
		id = fkt_process_id(filter->processes, fkt_arg32(event, 0), event->cpu);
		set_alive(watch, id, is_who(filter->processes, watch->who, id));
	} else if (!watch->count && event->pid && current < watch->room + 1u &&
		   !fkt_process(filter->processes, current)->released &&
		   fkt_process(filter->processes, current)->tgid == FKT_PID_UNKNOWN &&
		   (current == watch->room || !watch->alive[current]) &&
		   is_who(filter->processes, watch->who, current)) {
		/* One that nobody had told us of. */
		set_alive(watch, current, true);
	}
}

/* ---- time ---- */

static uint64_t later(uint64_t stamp, uint64_t cycles)
{
	return cycles < UINT64_MAX - stamp ? stamp + cycles : UINT64_MAX;
}

void filter_begin(struct filter *filter, uint64_t first)
{
	const struct options *options = filter->options;

	filter->begun = true;
	filter->first = first;
	filter->from = 0;
	filter->to = UINT64_MAX;
	if (options->from >= 0)
		filter->from =
			later(first, fkt_ns_to_cycles(filter->trace, (uint64_t)options->from));
	if (options->to >= 0)
		filter->to = later(first, fkt_ns_to_cycles(filter->trace, (uint64_t)options->to));
	watch_begin(filter, &filter->stats);
	watch_begin(filter, &filter->list);
}

enum filter_time filter_time(struct filter *filter, uint64_t stamp)
{
	if (!filter->begun)
		filter_begin(filter, stamp);
	if (stamp < filter->from)
		return FILTER_BEFORE;
	return stamp < filter->to ? FILTER_INSIDE : FILTER_AFTER;
}

uint64_t filter_first(const struct filter *filter)
{
	return filter->first;
}

uint64_t filter_from(const struct filter *filter)
{
	return filter->from;
}

uint64_t filter_to(const struct filter *filter)
{
	return filter->to;
}

/* ---- events and calls ---- */

static bool looks_like_code(const char *pattern, uint32_t code)
{
	unsigned long number;
	char *end;

	number = strtoul(pattern, &end, 16);
	return end != pattern && !*end && number == code;
}

/* Whether a code is of a layer, which may be one of several. */
static bool has_layer(const struct fkt_code_row *row, const char *layer)
{
	const char *at = row ? row->layer : "";
	size_t bytes;

	for (; *at; at += bytes + (at[bytes] == ',')) {
		bytes = strcspn(at, ",");
		if (bytes == strlen(layer) && !strncasecmp(at, layer, bytes))
			return true;
	}
	return false;
}

static bool match_code(const struct filter *filter, uint32_t code)
{
	const struct fkt_code_row *row = fkt_code_row(filter->trace, code);
	const struct options *options = filter->options;
	char name[FKT_NAME_BYTES];

	if (options->layer && !has_layer(row, options->layer))
		return false;
	fkt_code_name(filter->trace, code, name);
	for (unsigned int i = 0; i < options->codes; i++)
		if (!fnmatch(options->code[i], name, 0) || looks_like_code(options->code[i], code))
			return true;
	return !options->codes;
}

static bool code_passes(struct filter *filter, uint32_t code)
{
	uint8_t *verdict = &filter->code[code];

	if (*verdict == VERDICT_NONE)
		*verdict = match_code(filter, code) ? VERDICT_YES : VERDICT_NO;
	return *verdict == VERDICT_YES;
}

static bool cpu_passes(const struct filter *filter, uint16_t cpu)
{
	return !filter->cpus || filter->cpu[cpu / 8] & 1u << cpu % 8;
}

bool filter_thread(const struct filter *filter, uint32_t id)
{
	return !filter->options->only.set || is_who(filter->processes, &filter->options->only, id);
}

static bool is_inside(const struct filter *filter, uint32_t id)
{
	return !filter->options->function || (id < filter->inside_room && filter->inside[id]);
}

static bool is_function(struct filter *filter, uint32_t row)
{
	uint8_t *verdict = &filter->function[row];
	char name[FKT_NAME_BYTES];

	if (*verdict == VERDICT_NONE) {
		fkt_row_name(filter->trace, row, name);
		*verdict = fnmatch(filter->options->function, name, 0) ? VERDICT_NO : VERDICT_YES;
	}
	return *verdict == VERDICT_YES;
}

void filter_enter(struct filter *filter, const struct fkt_call *call)
{
	uint32_t room = filter->inside_room ? filter->inside_room : 256, *larger;

	if (!filter->options->function || !is_function(filter, call->row))
		return;
	if (call->id >= filter->inside_room) {
		while (room <= call->id)
			room *= 2;
		larger = realloc(filter->inside, room * sizeof(*larger));
		if (!larger)
			return;
		memset(larger + filter->inside_room, 0,
		       (room - filter->inside_room) * sizeof(*larger));
		filter->inside = larger;
		filter->inside_room = room;
	}
	filter->inside[call->id]++;
}

void filter_leave(struct filter *filter, const struct fkt_call *call)
{
	if (call->exit && call->end - call->begin >= filter->longer)
		filter->long_call = true;
	if (!filter->options->function || !is_function(filter, call->row))
		return;
	if (call->id < filter->inside_room && filter->inside[call->id])
		filter->inside[call->id]--;
	filter->left = true;
}

bool filter_row(struct filter *filter, const struct fkt_call *call)
{
	return filter_thread(filter, call->id) && cpu_passes(filter, call->cpu) &&
	       code_passes(filter, fkt_row_code(filter->trace, call->row)) &&
	       is_inside(filter, call->id) && (!filter->list.who->set || filter->list.count);
}

bool filter_call(struct filter *filter, const struct fkt_call *call)
{
	return call->end - call->begin >= filter->longer && call->end >= filter->from &&
	       call->end < filter->to && filter_row(filter, call);
}

bool filter_wait(const struct filter *filter, const struct fkt_wait *wait)
{
	return filter_thread(filter, wait->id) && wait->back - wait->left >= filter->longer;
}

bool filter_charges(const struct filter *filter)
{
	return !filter->stats.who->set || filter->stats.count;
}

bool filter_event(struct filter *filter, const struct fkt_event *event)
{
	uint32_t id = fkt_process_id(filter->processes, event->pid, event->cpu);
	bool listed = !filter->list.who->set || filter->list.count;
	bool pass;

	watch_event(filter, &filter->stats, event, id);
	watch_event(filter, &filter->list, event, id);
	/* Its first and its last event are its own. */
	listed = listed || filter->list.count;
	pass = listed && cpu_passes(filter, event->cpu) && code_passes(filter, event->code) &&
	       filter_thread(filter, id) && (filter->left || is_inside(filter, id)) &&
	       (filter->options->longer < 0 || filter->long_call);
	filter->left = false;
	filter->long_call = false;
	return pass;
}

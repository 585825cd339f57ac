// SPDX-License-Identifier: GPL-2.0-or-later
/* Which events and calls the user wants to see. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "trace/internal.h"

/* What is known of a code or a row, in bits. */
enum verdict {
	VERDICT_LOOKED = 1, /* it was looked at: without this, the others say nothing */
	VERDICT_WANTED = 2, /* one of the patterns matches, or there are none */
	VERDICT_BARRED = 4, /* one of those with "!" does */
	VERDICT_LAYER =
		8, /* of a code: its layer is wanted, as VERDICT_WANTED is said of its name */
	VERDICT_PASSES = VERDICT_WANTED | VERDICT_LAYER,
};

/* Processes that options name, as they come and go. */
struct watch {
	const struct choice *choice;
	bool unwanted;	/* those of it that have this */
	bool any;	/* whether there are such */
	uint8_t *alive; /* of each thread, by its number */
	uint32_t room;
	uint32_t count; /* how many are */
};

struct filter {
	const struct selection *selection;
	const struct fkt_trace *trace;
	struct fkt_processes *processes;
	unsigned int kinds;  /* of enum filter_kind, that are asked for */
	struct watch wanted; /* while they live */
	struct watch barred; /* not while they live */
	bool begun;
	uint64_t first; /* stamp of the beginning */
	uint64_t from;
	uint64_t to;
	uint64_t longer;     /* cycles */
	uint64_t longest[2]; /* but for this: of calls, of waits */
	uint8_t cpu[CPUS_BYTES];
	uint8_t *code;	   /* a verdict on each */
	uint8_t *function; /* the same, on each row */
	/* What came of what options name: of process, lives, code, layer and function. */
	bool (*met)[CHOICES_MAX];
	bool any_code;	       /* one passed, by code and layer */
	bool functions;	       /* some have to be called */
	struct inside *inside; /* of each thread */
	uint32_t inside_room;
	bool left_wanted; /* the last event left such a function */
	bool left_barred;
	bool long_call; /* the last event ended a call that was long enough */
	bool but_code;	/* the last event, an exit, passes but for its code and for that */
};

enum met {
	MET_PROCESS,
	MET_LIVES,
	MET_CODE,
	MET_LAYER,
	MET_FUNCTION,
	MET_COUNT,
};

/* In how many calls of functions that are wanted a thread is, and of others. */
struct inside {
	uint32_t wanted;
	uint32_t barred;
};

static bool has_yes(const struct choice *choice)
{
	for (unsigned int i = 0; i < choice->count; i++)
		if (!choice->one[i].unwanted)
			return true;
	return false;
}

static bool has_no(const struct choice *choice)
{
	for (unsigned int i = 0; i < choice->count; i++)
		if (choice->one[i].unwanted)
			return true;
	return false;
}

void filter_choose_cpus(const struct choice *choice, uint8_t cpu[CPUS_BYTES])
{
	uint8_t unwanted[CPUS_BYTES] = { 0 };

	memset(cpu, has_yes(choice) ? 0 : 0xff, CPUS_BYTES);
	for (unsigned int i = 0; i < choice->count; i++)
		read_cpus(choice->one[i].name, choice->one[i].unwanted ? unwanted : cpu);
	for (unsigned int i = 0; i < CPUS_BYTES; i++)
		cpu[i] &= (uint8_t)~unwanted[i];
}

static void begin_watch(struct watch *watch, const struct choice *choice, bool unwanted)
{
	watch->choice = choice;
	watch->unwanted = unwanted;
	watch->any = unwanted ? has_no(choice) : has_yes(choice);
}

struct filter *filter_new(const struct selection *selection, const struct fkt_trace *trace,
			  struct fkt_processes *processes)
{
	struct filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->selection = selection;
	filter->trace = trace;
	filter->processes = processes;
	filter->kinds = filter_kinds(selection);
	filter->to = UINT64_MAX;
	filter->functions = has_yes(&selection->function);
	begin_watch(&filter->wanted, &selection->lives, false);
	begin_watch(&filter->barred, &selection->lives, true);
	/* The last one is for calls whose code is not known. */
	filter->code = calloc(FKT_SLOT_CODES + 1, 1);
	filter->function = calloc(FKT_ROWS, 1);
	filter->met = calloc(MET_COUNT, sizeof(*filter->met));
	if (!filter->code || !filter->function || !filter->met) {
		filter_free(filter);
		return NULL;
	}
	filter_choose_cpus(&selection->cpu, filter->cpu);
	if (selection->longer >= 0)
		filter->longer = fkt_ns_to_cycles(trace, (uint64_t)selection->longer);
	return filter;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	free(filter->wanted.alive);
	free(filter->barred.alive);
	free(filter->code);
	free(filter->function);
	free(filter->met);
	free(filter->inside);
	free(filter);
}

unsigned int filter_kinds(const struct selection *selection)
{
	return (selection->lives.count ? FILTER_WHILE : 0) |
	       (selection->process.count ? FILTER_PROCESS : 0) |
	       (selection->cpu.count ? FILTER_CPU : 0) | (selection->code.count ? FILTER_CODE : 0) |
	       (selection->layer.count ? FILTER_LAYER : 0) |
	       (selection->function.count ? FILTER_FUNCTION : 0) |
	       (selection->from >= 0 || selection->to >= 0 ? FILTER_RANGE : 0) |
	       (selection->longer >= 0 ? FILTER_LONGER : 0);
}

bool filter_is_open(const struct filter *filter)
{
	return !filter->kinds;
}

bool filter_selects(const struct filter *filter)
{
	return filter->kinds & ~(unsigned int)(FILTER_RANGE | FILTER_WHILE);
}

bool filter_needs_calls(const struct filter *filter)
{
	return filter->kinds & (FILTER_FUNCTION | FILTER_LONGER);
}

bool filter_needs_charges(const struct filter *filter)
{
	return filter->kinds & (FILTER_PROCESS | FILTER_CPU);
}

bool filter_picks_calls(const struct filter *filter)
{
	return filter->kinds & FILTER_CALLS;
}

/* ---- processes ---- */

static bool is_named(const struct fkt_process *process, const struct chosen_one *one)
{
	if (one->is_pid)
		return process->tid == one->pid || (process->tid && process->tgid == one->pid);
	return fkt_is_called(process->comm, one->name);
}

/* Whether a thread is one of the wanted ones of a choice, or of the unwanted ones. */
static bool is_among(const struct filter *filter, const struct choice *choice, bool unwanted,
		     uint32_t id)
{
	const struct fkt_process *process = fkt_process(filter->processes, id);
	bool *met = filter->met[choice == &filter->selection->lives ? MET_LIVES : MET_PROCESS];
	bool is = false;

	/* All are looked at until they have come: two may name the same one. */
	for (unsigned int i = 0; id && i < choice->count; i++) {
		if (choice->one[i].unwanted != unwanted || (is && met[i]) ||
		    !is_named(process, &choice->one[i]))
			continue;
		is = true;
		met[i] = true;
	}
	return is;
}

static bool has_met(const struct filter *filter, const struct chosen_one *one)
{
	const struct selection *selection = filter->selection;
	const struct choice *const choices[MET_COUNT] = {
		[MET_PROCESS] = &selection->process,   [MET_LIVES] = &selection->lives,
		[MET_CODE] = &selection->code,	       [MET_LAYER] = &selection->layer,
		[MET_FUNCTION] = &selection->function,
	};

	for (size_t c = 0; c < MET_COUNT; c++)
		if (one >= choices[c]->one && one < choices[c]->one + choices[c]->count)
			return filter->met[c][one - choices[c]->one];
	return false;
}

bool filter_has_come(const struct filter *filter, const struct chosen_one *one)
{
	return has_met(filter, one);
}

bool filter_any_code(const struct filter *filter)
{
	return filter->any_code;
}

bool filter_has_met(const struct filter *filter, const struct chosen_one *one)
{
	if (has_met(filter, one))
		return true;
	for (uint32_t id = 1; id < fkt_process_count(filter->processes); id++)
		if (is_named(fkt_process(filter->processes, id), one))
			return true;
	return false;
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

	for (uint32_t id = 1; watch->any && id < count; id++)
		if (is_among(filter, watch->choice, watch->unwanted, id))
			set_alive(watch, id, true);
}

/* The process that the event is about, and the one that is current. */
static void watch_event(struct filter *filter, struct watch *watch, const struct fkt_event *event,
			uint32_t current)
{
	uint32_t id;

	if (!watch->any)
		return;
	if (event->code == FKT_CODE_EXIT && event->words >= 1) {
		id = fkt_process_id(filter->processes, fkt_arg32(event, 0), event->cpu);
		set_alive(watch, id, false);
	} else if (fkt_is_process_event(event->code) && event->code != FKT_CODE_RELEASE &&
		   event->words >= 1) {
		id = fkt_process_id(filter->processes, fkt_arg32(event, 0), event->cpu);
		set_alive(watch, id, is_among(filter, watch->choice, watch->unwanted, id));
		/* A thread that was not the leader has become it. */
		if (event->code == FKT_CODE_EXEC && event->words >= 3 &&
		    fkt_arg32(event, 4) != fkt_arg32(event, 0))
			set_alive(watch,
				  fkt_process_id(filter->processes, fkt_arg32(event, 4),
						 event->cpu),
				  false);
	} else if (!watch->count && event->pid && current < watch->room + 1u &&
		   !fkt_process(filter->processes, current)->released &&
		   fkt_process(filter->processes, current)->tgid == FKT_PID_UNKNOWN &&
		   (current == watch->room || !watch->alive[current]) &&
		   is_among(filter, watch->choice, watch->unwanted, current)) {
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
	const struct selection *selection = filter->selection;

	filter->begun = true;
	filter->first = first;
	filter->from = 0;
	filter->to = UINT64_MAX;
	if (selection->from >= 0)
		filter->from =
			later(first, fkt_ns_to_cycles(filter->trace, (uint64_t)selection->from));
	if (selection->to >= 0)
		filter->to = later(first, fkt_ns_to_cycles(filter->trace, (uint64_t)selection->to));
	watch_begin(filter, &filter->wanted);
	watch_begin(filter, &filter->barred);
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
	char *end, text[12];

	if (!isxdigit((unsigned char)*pattern))
		return false;
	number = strtoul(pattern, &end, 16);
	if (!*end)
		return number == code;
	/* What begins otherwise is for names: those of *64 are sys_pread64 and its like. */
	if (!isdigit((unsigned char)*pattern) || !strpbrk(pattern, "*?["))
		return false;
	if (!strncasecmp(pattern, "0x", 2))
		pattern += 2;
	snprintf(text, sizeof(text), "%04x", code);
	return !fnmatch(pattern, text, FNM_CASEFOLD);
}

bool filter_is_code(const char *pattern, const char *name, uint32_t code)
{
	return !fnmatch(pattern, name, 0) || looks_like_code(pattern, code);
}

/* Whether a code is of a layer like that, which may be one of several. */
bool filter_is_layer(const struct fkt_code_row *row, const char *pattern)
{
	const char *at = row ? row->layer : "";
	char name[FKT_NAME_BYTES];
	size_t bytes;

	for (; *at; at += bytes + (at[bytes] == ',')) {
		bytes = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)bytes, at);
		if (!fnmatch(pattern, name, FNM_CASEFOLD))
			return true;
	}
	return false;
}

static void look_at_code(struct filter *filter, uint32_t code, uint8_t *verdict)
{
	const struct fkt_code_row *row = fkt_code_row(filter->trace, code);
	const struct choice *codes = &filter->selection->code, *layers = &filter->selection->layer;
	bool code_wanted = !has_yes(codes), layer_wanted = !has_yes(layers), barred = false, is;
	char name[FKT_NAME_BYTES];

	fkt_code_name(filter->trace, code, name);
	for (unsigned int i = 0; i < codes->count; i++) {
		is = filter_is_code(codes->one[i].name, name, code);
		filter->met[MET_CODE][i] |= is;
		code_wanted |= is && !codes->one[i].unwanted;
		barred |= is && codes->one[i].unwanted;
	}
	for (unsigned int i = 0; i < layers->count; i++) {
		is = filter_is_layer(row, layers->one[i].name);
		filter->met[MET_LAYER][i] |= is;
		layer_wanted |= is && !layers->one[i].unwanted;
		barred |= is && layers->one[i].unwanted;
	}
	*verdict = (uint8_t)(VERDICT_LOOKED | (code_wanted ? VERDICT_WANTED : 0) |
			     (layer_wanted ? VERDICT_LAYER : 0) | (barred ? VERDICT_BARRED : 0));
	filter->any_code |= code_wanted && layer_wanted && !barred;
}

static uint8_t code_verdict(struct filter *filter, uint32_t code)
{
	if (!filter->code[code])
		look_at_code(filter, code, &filter->code[code]);
	return filter->code[code];
}

static bool code_passes(struct filter *filter, uint32_t code)
{
	return (code_verdict(filter, code) & (VERDICT_PASSES | VERDICT_BARRED)) == VERDICT_PASSES;
}

bool filter_cpu(const struct filter *filter, uint16_t cpu)
{
	return filter->cpu[cpu / 8] & 1u << cpu % 8;
}

static bool thread_is_wanted(const struct filter *filter, uint32_t id)
{
	const struct choice *choice = &filter->selection->process;

	return !has_yes(choice) || is_among(filter, choice, false, id);
}

static bool thread_is_barred(const struct filter *filter, uint32_t id)
{
	return is_among(filter, &filter->selection->process, true, id);
}

bool filter_thread(const struct filter *filter, uint32_t id)
{
	return !(filter->kinds & FILTER_PROCESS) ||
	       (thread_is_wanted(filter, id) && !thread_is_barred(filter, id));
}

/* The thread that a switch leads to, or a wake-up; 0 for other events. */
static uint32_t leads_to(const struct filter *filter, const struct fkt_event *event)
{
	if (event->words < 1)
		return 0;
	if (event->code == FKT_CODE_SWITCH)
		return fkt_process_id(filter->processes, fkt_arg32(event, 4), event->cpu);
	if (event->code == FKT_CODE_WAKEUP || event->code == FKT_CODE_WAKEUP_NEW)
		return fkt_process_id(filter->processes, fkt_arg32(event, 0), event->cpu);
	return 0;
}

/*
 * An event passes when its thread does. So does a switch to a thread that passes, and a wake-up of
 * one, by whomever: they are what its wait is told with, and its coming to the CPU.
 */
static bool thread_passes(const struct filter *filter, uint32_t id, const struct fkt_event *event)
{
	uint32_t other;

	if (!(filter->kinds & FILTER_PROCESS) || filter_thread(filter, id))
		return true;
	other = leads_to(filter, event);
	return other && filter_thread(filter, other);
}

static bool is_inside(const struct filter *filter, uint32_t id, bool left_wanted, bool left_barred)
{
	struct inside inside = { 0 };

	if (!(filter->kinds & FILTER_FUNCTION))
		return true;
	if (id < filter->inside_room)
		inside = filter->inside[id];
	return (!filter->functions || inside.wanted || left_wanted) && !inside.barred &&
	       !left_barred;
}

static uint8_t row_verdict(struct filter *filter, uint32_t row)
{
	const struct choice *choice = &filter->selection->function;
	uint8_t *verdict = &filter->function[row];
	char name[FKT_NAME_BYTES];

	if (*verdict)
		return *verdict;
	*verdict = VERDICT_LOOKED;
	fkt_row_name(filter->trace, row, name);
	for (unsigned int i = 0; i < choice->count; i++) {
		if (fnmatch(choice->one[i].name, name, 0))
			continue;
		filter->met[MET_FUNCTION][i] = true;
		*verdict |= choice->one[i].unwanted ? VERDICT_BARRED : VERDICT_WANTED;
	}
	return *verdict;
}

/* In which of the calls that @function is about a thread is; NULL without memory. */
static struct inside *inside_of(struct filter *filter, uint32_t id)
{
	uint32_t room = filter->inside_room ? filter->inside_room : 256;
	struct inside *larger;

	if (id >= filter->inside_room) {
		while (room <= id)
			room *= 2;
		larger = realloc(filter->inside, room * sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + filter->inside_room, 0,
		       (room - filter->inside_room) * sizeof(*larger));
		filter->inside = larger;
		filter->inside_room = room;
	}
	return &filter->inside[id];
}

void filter_moved(struct filter *filter, uint32_t from, uint32_t to)
{
	struct inside inside;

	if (!(filter->kinds & FILTER_FUNCTION) || !inside_of(filter, from > to ? from : to))
		return;
	inside = *inside_of(filter, from);
	*inside_of(filter, from) = *inside_of(filter, to);
	*inside_of(filter, to) = inside;
}

void filter_enter(struct filter *filter, const struct fkt_call *call)
{
	struct inside *inside;
	uint8_t verdict;

	if (!(filter->kinds & FILTER_FUNCTION))
		return;
	verdict = row_verdict(filter, call->row);
	if (verdict == VERDICT_LOOKED)
		return;
	inside = inside_of(filter, call->id);
	if (!inside)
		return;
	inside->wanted += !!(verdict & VERDICT_WANTED);
	inside->barred += !!(verdict & VERDICT_BARRED);
}

void filter_leave(struct filter *filter, const struct fkt_call *call)
{
	struct inside *inside;
	uint8_t verdict;

	if (call->exit && call->end - call->begin >= filter->longer)
		filter->long_call = true;
	if (!(filter->kinds & FILTER_FUNCTION))
		return;
	verdict = row_verdict(filter, call->row);
	if (call->entered && call->id < filter->inside_room) {
		inside = &filter->inside[call->id];
		inside->wanted -= verdict & VERDICT_WANTED && inside->wanted;
		inside->barred -= verdict & VERDICT_BARRED && inside->barred;
	}
	filter->left_wanted |= !!(verdict & VERDICT_WANTED);
	filter->left_barred |= !!(verdict & VERDICT_BARRED);
}

bool filter_cut(const struct filter *filter, const struct fkt_call *call, struct fkt_call *cut)
{
	if (call->end < filter->to)
		return false;
	*cut = *call;
	cut->end = filter->to;
	if (cut->begin > filter->to)
		cut->begin = filter->to;
	cut->exit = NULL;
	return true;
}

static bool is_long(struct filter *filter, uint64_t cycles, bool wait)
{
	if (cycles > filter->longest[wait])
		filter->longest[wait] = cycles;
	return cycles >= filter->longer;
}

uint64_t filter_longest(const struct filter *filter, bool wait)
{
	return filter->longest[wait];
}

bool filter_names_no_call(const struct filter *filter)
{
	const struct fkt_code_row *row;
	bool any = false;

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		if ((filter->code[code] & (VERDICT_PASSES | VERDICT_BARRED)) != VERDICT_PASSES)
			continue;
		row = fkt_code_row(filter->trace, code);
		if (row && row->kind != FKT_KIND_POINT)
			return false;
		any = true;
	}
	return any && filter->selection->code.count;
}

/* Whether it is one of those that are picked, in so far as time is charged. */
static bool picks(struct filter *filter, const struct fkt_call *call)
{
	uint8_t itself = 0;

	/* Of one whose entry was not seen, the thread is not known to be in it. */
	if (!call->entered && filter->kinds & FILTER_FUNCTION)
		itself = row_verdict(filter, call->row);
	return code_passes(filter, fkt_row_code(filter->trace, call->row)) &&
	       is_inside(filter, call->id, itself & VERDICT_WANTED, itself & VERDICT_BARRED) &&
	       is_long(filter, call->end - call->begin, false);
}

bool filter_row(struct filter *filter, const struct fkt_call *call)
{
	return code_passes(filter, fkt_row_code(filter->trace, call->row)) &&
	       is_inside(filter, call->id, false, false);
}

bool filter_call(struct filter *filter, const struct fkt_call *call)
{
	return call->counts && picks(filter, call);
}

bool filter_wait(struct filter *filter, const struct fkt_wait *wait)
{
	uint64_t cycles = (wait->back ? wait->back : wait->to) - wait->left;
	uint8_t outer, inner;

	if (!filter_thread(filter, wait->id) || !filter_cpu(filter, wait->cpu) ||
	    !is_inside(filter, wait->id, false, false))
		return false;
	if (!(filter->kinds & (FILTER_CODE | FILTER_LAYER)))
		return is_long(filter, cycles, true);
	outer = code_verdict(filter, fkt_row_code(filter->trace, wait->outer));
	inner = code_verdict(filter, fkt_row_code(filter->trace, wait->inner));
	return ((outer | inner) & (VERDICT_PASSES | VERDICT_BARRED)) == VERDICT_PASSES &&
	       is_long(filter, cycles, true);
}

bool filter_switch(struct filter *filter, const struct fkt_wait *wait)
{
	return code_passes(filter, FKT_CODE_SWITCH) && filter_cpu(filter, wait->cpu) &&
	       filter_thread(filter, wait->id) && is_inside(filter, wait->id, false, false);
}

bool filter_gap(const struct filter *filter, const struct fkt_gap *gap)
{
	return gap->cpu == FKT_CPU_ANY || filter_cpu(filter, gap->cpu);
}

/* Whether what is told now is, as far as those who have to live are concerned. */
static bool is_charged(const struct watch *watch)
{
	return !watch->any || watch->count;
}

bool filter_charges(const struct filter *filter)
{
	return is_charged(&filter->wanted) && !filter->barred.count;
}

bool filter_event(struct filter *filter, const struct fkt_event *event)
{
	uint32_t id = fkt_process_id(filter->processes, event->pid, event->cpu);
	bool wanted = is_charged(&filter->wanted), barred = filter->barred.count, lives, pass;

	watch_event(filter, &filter->wanted, event, id);
	watch_event(filter, &filter->barred, event, id);
	/* Its first and its last event are its own: one in which it is wanted, or is not. */
	wanted |= is_charged(&filter->wanted);
	barred |= filter->barred.count;
	lives = wanted && !barred;
	/* The code first: that it came has to be known. */
	pass = code_passes(filter, event->code);
	filter->but_code = (pass || event->code == FKT_CODE_EXIT) && lives &&
			   filter_cpu(filter, event->cpu) && thread_passes(filter, id, event) &&
			   is_inside(filter, id, filter->left_wanted, filter->left_barred);
	pass = pass && filter->but_code && (filter->selection->longer < 0 || filter->long_call);
	filter->left_wanted = false;
	filter->left_barred = false;
	filter->long_call = false;
	return pass;
}

bool filter_but_code(const struct filter *filter)
{
	/* filter_event() need not have been called of one that lets all through. */
	return filter_is_open(filter) || filter->but_code;
}

bool filter_code(struct filter *filter, uint32_t code)
{
	return code_passes(filter, code);
}

/* Who lives at some moment is said by what happened to processes before it, since the beginning. */
static int follow_processes(struct filter *filter, struct fkt_trace *trace, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_processes(trace, to);
	struct fkt_event event;
	int what;

	if (!reader)
		return -ENOMEM;
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what != FKT_EVENT || !fkt_is_process_event(event.code))
			continue;
		fkt_processes_event(filter->processes, &event);
		filter_event(filter, &event);
	}
	fkt_reader_free(reader);
	return what;
}

struct fkt_reader *filter_reader(struct filter *filter, struct fkt_trace *trace)
{
	const struct selection *selection = filter->selection;
	uint64_t first, last, begin;

	if (selection->from <= 0 || !fkt_span(trace, &first, &last))
		return fkt_reader_new(trace);
	filter_begin(filter, first);
	begin = fkt_look_back(trace, filter_from(filter));
	if (begin && selection->lives.count && follow_processes(filter, trace, begin))
		return NULL;
	return fkt_reader_new_window(trace, begin, UINT64_MAX);
}

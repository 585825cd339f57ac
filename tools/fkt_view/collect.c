// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each track has a state, and a stamp up to which its time has been charged to cells. When the
 * state changes, the time since then is charged, as far as it is in the bin that goes on at the
 * moment: that before is in the bins that are over, in which the track has a cell, or stayed as it
 * was.
 *
 * Calls and interrupts are the analysis's; who runs, and who is awake, the events say.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect.h"
#include "common/rows.h"
#include "common/sample.h"
#include "trace/fields.h"

#define CPUS	      (UINT16_MAX + 1)
#define FIRST_ROOM    64u

/* Of fkt_state_reported(). */
#define STATE_D	      0x0002u
#define STATE_DEAD    0x0010u
#define STATE_ZOMBIE  0x0020u

/* Threads that come behind so many others have no track. */
#define TRACKS_MAX    (1u << 20)
/* Counters that come behind so many others have none, either. */
#define COUNTERS_MAX  256u
#define PROGRAM_CODES (FKT_CODE_PROGRAMS_END - FKT_CODE_PROGRAMS)
#define NO_CELL	      UINT32_MAX
#define NO_TRACK      UINT32_MAX
#define EVENTS_FACTOR 8

/**
 * struct track - a thread, a counter or a CPU
 * @key: cell.track
 * @id: of a thread, its number
 * @state: enum state
 * @what: of a thread, name of the outermost call; of a CPU, the thread
 * @inner: name of the innermost call or interrupt; of a counter, @what and @inner are its value
 * @softirq: of a CPU: @inner is one
 * @task: of a thread, name of the softirq that it runs, as threads do on PREEMPT_RT
 * @since: its time up to this stamp has been charged
 * @cell: its open cell, or NO_CELL
 * @running: of a thread, cycles
 */
struct track {
	uint32_t key;
	uint32_t id;
	uint32_t what;
	uint32_t inner;
	uint8_t state;
	bool softirq;
	uint32_t task;
	uint64_t since;
	uint32_t cell;
	uint64_t running;
};

/* What a value comes to, if there is one that comes to more than half: Boyer and Moore. */
struct most {
	uint32_t value;
	uint64_t weight;
};

/* A cell whose bin goes on; of a counter, the values of @top and @inner are floats. */
struct open_cell {
	uint32_t track;
	uint64_t cycles[SHARES];
	struct most top;
	struct most inner;
	uint64_t events;
	uint8_t flags;
};

/* Whether the events of a code are values of a counter. */
enum verdict {
	VERDICT_NONE, /* nobody has looked */
	VERDICT_NO,
	VERDICT_COUNTER,
};

/**
 * struct counter - what is known of the events of a code
 * @verdict: of enum verdict
 * @tgid: the process that had one last, @key: of its track; 0: none
 */
struct counter {
	enum verdict verdict;
	uint32_t tgid;
	uint32_t key;
};

struct cpu {
	uint32_t track; /* NO_TRACK: it was not met */
	uint64_t last;	/* stamp of its last event */
};

struct collector {
	struct fkt_trace *trace;
	struct names *names;
	uint32_t *name; /* numbers of rows' names, by row; 0: not asked for yet */
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct collect_to to;
	uint64_t from;
	uint64_t bin_cycles;
	uint32_t bin;
	uint64_t bin_from;
	uint64_t bin_to;
	struct track *track;
	uint32_t tracks;
	uint32_t track_room;
	uint32_t thread; /* track of the thread that was looked for last */
	uint32_t *slot;	 /* numbers of threads' tracks + 1, by a hash; twice @track_room */
	struct open_cell *open;
	uint32_t opens;
	uint32_t open_room;
	struct cpu cpu[CPUS];
	uint32_t cpus;
	bool tasks; /* threads run softirqs: PREEMPT_RT */
	uint32_t counters;
	struct counter counter[PROGRAM_CODES];
	const struct fkt_event *event; /* the one that is looked at */
	int err;
};

/* ---- tracks ---- */

static void keep(struct collector *collector, int err)
{
	if (err && !collector->err)
		collector->err = err;
}

static uint32_t *find_slot(const struct collector *collector, uint32_t key)
{
	const uint32_t mask = 2 * collector->track_room - 1;
	uint32_t at = (key * 2654435761u) & mask;

	while (collector->slot[at] && collector->track[collector->slot[at] - 1].key != key)
		at = (at + 1) & mask;
	return &collector->slot[at];
}

static bool grow_tracks(struct collector *collector)
{
	uint32_t room = collector->track_room ? 2 * collector->track_room : FIRST_ROOM;
	struct track *larger = reallocarray(collector->track, room, sizeof(*larger));
	uint32_t *slot = calloc(2 * (size_t)room, sizeof(*slot));

	if (larger)
		collector->track = larger;
	if (!larger || !slot) {
		free(slot);
		return false;
	}
	free(collector->slot);
	collector->slot = slot;
	collector->track_room = room;
	for (uint32_t i = 0; i < collector->tracks; i++)
		*find_slot(collector, collector->track[i].key) = i + 1;
	return true;
}

/* How a track was before its first cell. */
static void tell_before(struct collector *collector, const struct track *track)
{
	struct cell cell = {
		.track = track->key,
		.bin = CELL_BEFORE,
		.top = track->what,
		.inner = track->inner,
		.last = track->what,
		.last_inner = track->inner,
		.state = track->state,
	};

	keep(collector, collector->to.cell(collector->to.arg, &cell));
}

/* The track with a key; a new one is, and was before, in @state. NULL without memory. */
static struct track *get_track(struct collector *collector, uint32_t key, enum state state,
			       uint32_t what)
{
	uint32_t *slot = collector->slot ? find_slot(collector, key) : NULL;
	struct track *track;

	if (slot && *slot)
		return &collector->track[*slot - 1];
	if (collector->tracks == TRACKS_MAX)
		return NULL;
	if (collector->tracks == collector->track_room) {
		if (!grow_tracks(collector)) {
			keep(collector, -ENOMEM);
			return NULL;
		}
		slot = find_slot(collector, key);
	}
	track = &collector->track[collector->tracks++];
	*slot = collector->tracks;
	*track = (struct track){
		.key = key,
		.state = (uint8_t)state,
		.what = what,
		.since = collector->from,
		.cell = NO_CELL,
	};
	tell_before(collector, track);
	return track;
}

/* ---- cells ---- */

static void weigh(struct most *most, uint32_t value, uint64_t weight)
{
	if (most->value == value || !most->weight) {
		most->value = value;
		most->weight += weight;
	} else if (most->weight >= weight) {
		most->weight -= weight;
	} else {
		most->value = value;
		most->weight = weight - most->weight;
	}
}

/* The track's cell in the bin that goes on; NULL without memory. */
static struct open_cell *open_cell(struct collector *collector, struct track *track)
{
	uint32_t room = collector->open_room ? 2 * collector->open_room : FIRST_ROOM;
	struct open_cell *larger;

	if (track->cell != NO_CELL)
		return &collector->open[track->cell];
	if (collector->opens == collector->open_room) {
		larger = reallocarray(collector->open, room, sizeof(*larger));
		if (!larger) {
			keep(collector, -ENOMEM);
			return NULL;
		}
		collector->open = larger;
		collector->open_room = room;
	}
	track->cell = collector->opens;
	collector->open[collector->opens] = (struct open_cell){
		.track = (uint32_t)(track - collector->track),
	};
	return &collector->open[collector->opens++];
}

static void add_cpu_time(struct open_cell *cell, const struct track *track, uint64_t cycles)
{
	if (track->state == STATE_RUNNING)
		cell->cycles[SHARE_RUNNING] += cycles;
	if (track->state == STATE_UNKNOWN)
		cell->cycles[SHARE_UNKNOWN] += cycles;
	if (track->inner)
		cell->cycles[track->softirq ? SHARE_SOFTIRQ : SHARE_IRQ] += cycles;
	if (track->state == STATE_RUNNING)
		weigh(&cell->top, track->what, cycles);
	if (track->inner)
		weigh(&cell->inner, track->inner, cycles);
}

static void add_thread_time(struct open_cell *cell, const struct track *track, uint64_t cycles)
{
	static const uint8_t share[STATES] = {
		[STATE_UNKNOWN] = SHARE_UNKNOWN, [STATE_GONE] = SHARES,
		[STATE_SLEEPING] = SHARES,	 [STATE_BLOCKED] = SHARE_BLOCKED,
		[STATE_READY] = SHARE_READY,	 [STATE_RUNNING] = SHARE_RUNNING,
	};

	if (share[track->state] < SHARES)
		cell->cycles[share[track->state]] += cycles;
	weigh(&cell->top, track->what, cycles);
	weigh(&cell->inner, track->inner, cycles);
}

/* Charge the time up to a stamp, which is in the bin that goes on, or its end. */
static void charge(struct collector *collector, struct track *track, uint64_t stamp)
{
	const uint64_t begin = track->since > collector->bin_from ? track->since
								  : collector->bin_from;
	struct open_cell *cell = open_cell(collector, track);

	if (!cell || track_is_counter(track->key))
		return;
	if (track->state == STATE_RUNNING && stamp > track->since)
		track->running += stamp - track->since;
	if (stamp > begin) {
		if (track->key & TRACK_CPU)
			add_cpu_time(cell, track, stamp - begin);
		else
			add_thread_time(cell, track, stamp - begin);
	}
	if (stamp > track->since)
		track->since = stamp;
}

static uint8_t share_of(uint64_t cycles, uint64_t all)
{
	uint64_t share;

	if (!cycles)
		return 0;
	share = cycles >= all ? SHARE_ALL : (uint64_t)((double)cycles / (double)all * SHARE_ALL);
	return share ? (uint8_t)share : 1;
}

uint8_t collected_events(uint64_t events)
{
	unsigned int bits = events ? 64 - (unsigned int)__builtin_clzll(events) : 0;

	if (!events)
		return 0;
	bits--;
	return (uint8_t)(1 + bits * EVENTS_FACTOR +
			 (bits ? ((events - (1ull << bits)) * EVENTS_FACTOR >> bits) : 0));
}

/* The bin that goes on is over, at @end, which is its own or that of all. */
static void close_bin(struct collector *collector, uint64_t end)
{
	const uint64_t all = end - collector->bin_from;

	for (uint32_t i = 0; i < collector->opens; i++) {
		struct track *track = &collector->track[collector->open[i].track];
		struct open_cell *open;
		struct cell cell;

		charge(collector, track, end);
		open = &collector->open[i];
		cell = (struct cell){
			.track = track->key,
			.bin = collector->bin,
			.top = open->top.value,
			.inner = open->inner.value,
			.last = track->what,
			.last_inner = track->inner,
			.state = track->state,
			.flags = open->flags | (track->softirq ? CELL_SOFTIRQ : 0),
			.events = collected_events(open->events),
		};
		for (unsigned int n = 0; n < SHARES; n++)
			cell.share[n] = share_of(open->cycles[n], all);
		track->cell = NO_CELL;
		keep(collector, collector->to.cell(collector->to.arg, &cell));
	}
	collector->opens = 0;
}

/* The bin of a stamp goes on. */
static void go_to(struct collector *collector, uint64_t stamp)
{
	uint64_t bin;

	if (stamp < collector->bin_to)
		return;
	close_bin(collector, collector->bin_to);
	bin = (stamp - collector->from) / collector->bin_cycles;
	if (bin >= CELL_BEFORE) {
		keep(collector, -EOVERFLOW);
		return;
	}
	collector->bin = (uint32_t)bin;
	collector->bin_from = collector->from + bin * collector->bin_cycles;
	collector->bin_to = collector->bin_from + collector->bin_cycles;
}

/* ---- changes ---- */

static void set(struct collector *collector, struct track *track, uint64_t stamp, enum state state)
{
	if (!track || track->state == state)
		return;
	charge(collector, track, stamp);
	track->state = (uint8_t)state;
}

/* The thread with a pid; NULL for the idle tasks and those that are not known. */
static struct track *thread_track(struct collector *collector, uint32_t tid, enum state before)
{
	struct track *track;

	if (!tid || tid >= TRACK_COUNTER)
		return NULL;
	/* Most often it is the same one as before. */
	if (collector->thread < collector->tracks && collector->track[collector->thread].key == tid)
		return &collector->track[collector->thread];
	track = get_track(collector, tid, before, 0);
	if (track && !track->id)
		track->id = fkt_process_id(collector->processes, tid, 0);
	if (track)
		collector->thread = (uint32_t)(track - collector->track);
	return track;
}

static enum state cpu_state(uint32_t tid)
{
	return tid == FKT_PID_UNKNOWN ? STATE_UNKNOWN : tid ? STATE_RUNNING : STATE_IDLE;
}

static struct track *cpu_track(struct collector *collector, uint16_t number, uint32_t tid)
{
	struct cpu *cpu = &collector->cpu[number];
	struct track *track;

	if (cpu->track != NO_TRACK)
		return &collector->track[cpu->track];
	track = get_track(collector, TRACK_CPU | number, cpu_state(tid), tid);
	if (!track)
		return NULL;
	cpu->track = (uint32_t)(track - collector->track);
	cpu->last = collector->from;
	if (number >= collector->cpus)
		collector->cpus = number + 1u;
	return track;
}

/* Which interrupt a CPU is in: the name of its innermost call, or 0. */
static void set_interrupt(struct collector *collector, uint16_t cpu, uint64_t stamp, uint32_t inner,
			  bool softirq)
{
	struct track *track = cpu_track(collector, cpu, FKT_PID_UNKNOWN);

	if (!track)
		return;
	charge(collector, track, stamp);
	track->inner = inner;
	track->softirq = softirq;
}

/* From now on a thread is current on a CPU. */
static void set_current(struct collector *collector, uint16_t cpu, uint64_t stamp, uint32_t tid)
{
	struct track *track = cpu_track(collector, cpu, tid);

	if (!track || (track->what == tid && track->state == cpu_state(tid)))
		return;
	charge(collector, track, stamp);
	track->what = tid;
	track->state = (uint8_t)cpu_state(tid);
	if (!collector->tasks)
		return;
	/* It goes on with the softirq in which it was preempted. */
	track = thread_track(collector, tid, STATE_UNKNOWN);
	set_interrupt(collector, cpu, stamp, track ? track->task : 0, track && track->task);
}

static enum state state_of_switch(uint16_t state)
{
	if (!state)
		return STATE_READY;
	switch (fkt_state_reported(state)) {
	case STATE_DEAD:
	case STATE_ZOMBIE:
		return STATE_GONE;
	case STATE_D:
		return STATE_BLOCKED;
	default:
		return STATE_SLEEPING;
	}
}

static void take_switch(struct collector *collector, const struct fkt_event *event)
{
	const uint32_t prev = fkt_arg32(event, 0), next = fkt_arg32(event, 4);
	struct track *track = thread_track(collector, prev, STATE_RUNNING);

	set(collector, track, event->stamp, state_of_switch(event->imm));
	track = thread_track(collector, next, STATE_READY);
	set(collector, track, event->stamp, STATE_RUNNING);
	set_current(collector, event->cpu, event->stamp, next);
}

static void take_wakeup(struct collector *collector, const struct fkt_event *event)
{
	const uint32_t tid = fkt_arg32(event, 0);
	struct track *track = thread_track(
		collector, tid, event->code == FKT_CODE_WAKEUP ? STATE_SLEEPING : STATE_GONE);

	if (!track || track->state == STATE_RUNNING)
		return;
	set(collector, track, event->stamp, STATE_READY);
	if (collector->to.wake && event->stamp >= collector->from)
		keep(collector, collector->to.wake(collector->to.arg, event, tid));
}

static void take_process(struct collector *collector, const struct fkt_event *event)
{
	struct track *track;

	if (event->code == FKT_CODE_EXEC && event->words >= 1 &&
	    fkt_arg32(event, 0) != fkt_arg32(event, 4)) {
		track = thread_track(collector, fkt_arg32(event, 4), STATE_RUNNING);
		set(collector, track, event->stamp, STATE_GONE);
	}
	fkt_processes_event(collector->processes, event);
	/* A number that is given anew is another thread's. */
	if (event->code == FKT_CODE_FORK && event->words >= 2) {
		track = thread_track(collector, fkt_arg32(event, 0), STATE_GONE);
		if (track)
			track->id = fkt_process_id(collector->processes, track->key, 0);
	}
}

/* What a mark says, or what has happened that a trigger waits for. */
static void put_mark(struct collector *collector, const struct fkt_event *event, char *text)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	char name[FKT_VALUE_NAME_BYTES];
	struct fkt_value value;
	size_t bytes;

	if (!fkt_fields(collector->trace, event->code, fields) ||
	    !fkt_field_value(&fields[0], event, &value))
		return;
	if (value.kind == FKT_VALUE_UNSIGNED && fkt_field_is_named(&fields[0])) {
		value.text = name;
		value.bytes = (size_t)(fkt_put_name(collector->trace, collector->processes,
						    &fields[0], event, value.number, name) -
				       name);
	} else if (value.kind != FKT_VALUE_TEXT) {
		return;
	}
	if (!value.bytes)
		return;
	bytes = value.bytes < MARK_BYTES ? value.bytes : MARK_BYTES - 1;
	memcpy(text, value.text, bytes);
	text[bytes] = '\0';
	fkt_sanitize(text);
}

static void take_mark(struct collector *collector, const struct fkt_event *event)
{
	struct mark mark = { .stamp = event->stamp, .cpu = event->cpu, .text = "trigger" };

	if (!collector->to.mark || event->stamp < collector->from)
		return;
	put_mark(collector, event, mark.text);
	keep(collector, collector->to.mark(collector->to.arg, &mark));
}

static void flag_sample(struct collector *collector, struct track *track)
{
	struct open_cell *cell = track ? open_cell(collector, track) : NULL;

	if (cell)
		cell->flags |= CELL_SAMPLE;
}

static void take_sample(struct collector *collector, const struct fkt_event *event)
{
	const uint32_t tid = fkt_arg32(event, SAMPLE_PID);
	const struct fkt_stack *stack;
	char name[FKT_FRAME_BYTES + 1];
	struct fkt_stack room;

	if (event->stamp < collector->from)
		return;
	flag_sample(collector, cpu_track(collector, event->cpu, event->pid));
	flag_sample(collector, thread_track(collector, tid, STATE_RUNNING));
	if (!collector->to.sample)
		return;
	stack = sample_stack_of(collector->processes, NULL, event, &room);
	*fkt_put_frame_name(collector->trace, name, stack, 0) = '\0';
	keep(collector, collector->to.sample(collector->to.arg, event, tid, name));
}

/* ---- counters: events of programs whose one argument is a value ---- */

static bool is_counter(struct collector *collector, struct counter *counter, uint32_t code)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	const struct fkt_code_row *row;

	if (counter->verdict == VERDICT_NONE) {
		row = fkt_code_row(collector->trace, code);
		counter->verdict =
			row && row->kind == FKT_KIND_POINT && !strcmp(row->layer, "application") &&
					fkt_fields(collector->trace, code, fields) == 1 &&
					!strcmp(fields[0].name, "value") &&
					fields[0].type == FKT_FIELD_SIGNED &&
					fields[0].bytes == sizeof(uint64_t) && !fields[0].offset &&
					!fields[0].immediate
				? VERDICT_COUNTER
				: VERDICT_NO;
	}
	return counter->verdict == VERDICT_COUNTER;
}

/* The counter of a process; NULL when there are too many. */
static struct track *counter_track(struct collector *collector, struct counter *counter,
				   const struct fkt_event *event)
{
	const uint32_t id = fkt_process_id(collector->processes, event->pid, event->cpu);
	const struct fkt_process *process = fkt_process(collector->processes, id);
	const uint32_t tgid = process->tgid == FKT_PID_UNKNOWN ? event->pid : process->tgid;
	char code[FKT_NAME_BYTES], name[FKT_NAME_BYTES];
	uint32_t number, before = collector->tracks;
	struct track *track;

	/* Most often it is that of the same process as before. */
	if (!counter->key || counter->tgid != tgid) {
		fkt_code_name(collector->trace, event->code, code);
		snprintf(name, sizeof(name), "%.60s %" PRIu32, code, tgid);
		number = names_add(collector->names, name);
		if (!number || number >= TRACK_COUNTER)
			return NULL;
		counter->key = TRACK_COUNTER | number;
		counter->tgid = tgid;
	}
	if (collector->counters == COUNTERS_MAX && !*find_slot(collector, counter->key))
		return NULL;
	track = get_track(collector, counter->key, STATE_UNKNOWN, 0);
	collector->counters += collector->tracks - before;
	return track;
}

static void take_counter(struct collector *collector, const struct fkt_event *event)
{
	struct counter *counter = &collector->counter[event->code - FKT_CODE_PROGRAMS];
	struct open_cell *cell;
	struct track *track;
	uint64_t value;
	bool had;
	float now;

	if (!event->words || !is_counter(collector, counter, event->code))
		return;
	track = counter_track(collector, counter, event);
	if (!track)
		return;
	had = track->cell != NO_CELL;
	cell = open_cell(collector, track);
	if (!cell)
		return;
	now = (float)cell_value(track->what, track->inner);
	/* The value that it had when the bin began is one of the bin's. */
	if (!had && track->state == STATE_RUNNING)
		cell->top.value = cell->inner.value = float_bits(now);
	had |= track->state == STATE_RUNNING;
	value = fkt_arg64(event, 0);
	now = (float)(int64_t)value;
	if (!had || event->stamp <= collector->from || now < bits_float(cell->top.value))
		cell->top.value = float_bits(now);
	if (!had || event->stamp <= collector->from || now > bits_float(cell->inner.value))
		cell->inner.value = float_bits(now);
	track->what = (uint32_t)value;
	track->inner = (uint32_t)(value >> 32);
	track->state = STATE_RUNNING;
}

/* ---- calls, as the analysis tells of them ---- */

/* In an interrupt, a call begins or ends: behind the outermost one, a thread's softirq goes on. */
static void set_call_in_interrupt(struct collector *collector, const struct fkt_call *call,
				  uint64_t stamp, uint32_t inner, bool softirq)
{
	const struct track *track = NULL;

	if (!inner && collector->tasks)
		track = thread_track(collector, fkt_process(collector->processes, call->id)->tid,
				     STATE_UNKNOWN);
	if (track && track->task)
		set_interrupt(collector, call->cpu, stamp, track->task, true);
	else
		set_interrupt(collector, call->cpu, stamp, inner, softirq);
}

/* A thread begins or ends a softirq; of one that is open when a part begins, it may be nowhere. */
static void set_task(struct collector *collector, struct track *track, uint16_t cpu, uint64_t stamp,
		     uint32_t task)
{
	const uint32_t on = collector->cpu[cpu].track;

	collector->tasks = true;
	track->task = task;
	if (on != NO_TRACK && collector->track[on].what == track->key)
		set_interrupt(collector, cpu, stamp, task, task);
}

static void set_call(struct collector *collector, const struct fkt_call *call, uint32_t outer,
		     uint32_t inner, bool softirq)
{
	const uint64_t stamp = collector->event ? collector->event->stamp : collector->bin_to;
	struct track *track;

	if (call->interrupt) {
		set_call_in_interrupt(collector, call, stamp, inner, softirq);
		return;
	}
	track = thread_track(collector, fkt_process(collector->processes, call->id)->tid,
			     STATE_UNKNOWN);
	if (!track)
		return;
	charge(collector, track, stamp);
	if (!call->depth)
		track->what = outer;
	track->inner = inner;
	if (row_is_softirq(call->row))
		set_task(collector, track, call->cpu, stamp, softirq ? inner : 0);
}

/* The number of a row's name. */
static uint32_t name_of(struct collector *collector, uint32_t row)
{
	if (row >= FKT_ROWS)
		return 0;
	if (!collector->name[row])
		collector->name[row] = names_row(collector->names, collector->trace, row);
	return collector->name[row];
}

static void on_enter(void *arg, const struct fkt_call *call)
{
	struct collector *collector = arg;
	const uint32_t name = name_of(collector, call->row);

	set_call(collector, call, name, name, row_is_softirq(call->row));
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct collector *collector = arg;
	const bool has_caller = call->depth && call->caller < FKT_ROW_USER;
	struct track *track;

	set_call(collector, call, 0, has_caller ? name_of(collector, call->caller) : 0,
		 has_caller && row_is_softirq(call->caller));
	if (!call->exit || call->interrupt || call->exit->code < FKT_CODE_SYSCALL_EXIT ||
	    call->exit->code >= FKT_CODE_SYSCALL_EXIT + 1024)
		return;
	track = thread_track(collector, fkt_process(collector->processes, call->id)->tid,
			     STATE_UNKNOWN);
	if (track && track->cell != NO_CELL && !call->exit->words && (int16_t)call->exit->imm < 0)
		collector->open[track->cell].flags |= CELL_ERROR;
}

/* ---- what comes ---- */

struct collector *collector_new(struct fkt_trace *trace, struct names *names, uint64_t from,
				uint64_t bin_cycles, const struct collect_to *to)
{
	struct collector *collector = calloc(1, sizeof(*collector));
	const struct fkt_analysis_hooks hooks = {
		.arg = collector,
		.enter = on_enter,
		.leave = on_leave,
	};

	if (!collector)
		return NULL;
	collector->trace = trace;
	collector->names = names;
	collector->to = *to;
	collector->from = collector->bin_from = from;
	collector->bin_cycles = bin_cycles;
	collector->bin_to = from + bin_cycles;
	for (uint32_t i = 0; i < CPUS; i++)
		collector->cpu[i].track = NO_TRACK;
	collector->name = calloc(FKT_ROWS, sizeof(*collector->name));
	collector->processes = fkt_processes_new(trace);
	if (collector->name && collector->processes)
		collector->analysis = fkt_analysis_new(trace, collector->processes, &hooks);
	if (!collector->analysis) {
		collector_free(collector);
		return NULL;
	}
	return collector;
}

void collector_free(struct collector *collector)
{
	if (!collector)
		return;
	fkt_analysis_free(collector->analysis);
	fkt_processes_free(collector->processes);
	free(collector->name);
	free(collector->track);
	free(collector->slot);
	free(collector->open);
	free(collector);
}

int collector_event(struct collector *collector, const struct fkt_event *event)
{
	struct track *track;
	struct open_cell *cell;
	int err;

	if (event->stamp >= collector->bin_to)
		go_to(collector, event->stamp);
	collector->event = event;
	track = cpu_track(collector, event->cpu, event->pid);
	if (track && event->pid != track->what) {
		/* Events that would have said so are missing. */
		set(collector, thread_track(collector, track->what, STATE_RUNNING), event->stamp,
		    STATE_UNKNOWN);
		set_current(collector, event->cpu, event->stamp, event->pid);
	}
	if (track && event->code != FKT_CODE_SWITCH)
		set(collector, thread_track(collector, event->pid, STATE_RUNNING), event->stamp,
		    STATE_RUNNING);
	err = fkt_analysis_event(collector->analysis, event);
	switch (event->code) {
	case FKT_CODE_SWITCH:
		if (event->words)
			take_switch(collector, event);
		break;
	case FKT_CODE_WAKEUP:
	case FKT_CODE_WAKEUP_NEW:
		if (event->words)
			take_wakeup(collector, event);
		break;
	case FKT_CODE_TRIGGER:
	case FKT_CODE_MARK:
		take_mark(collector, event);
		break;
	case FKT_CODE_SAMPLE:
		if (is_sample(event))
			take_sample(collector, event);
		break;
	default:
		if (fkt_is_process_event(event->code))
			take_process(collector, event);
		if (event->code >= FKT_CODE_PROGRAMS && event->code < FKT_CODE_PROGRAMS_END)
			take_counter(collector, event);
		break;
	}
	collector->event = NULL;
	if (event->stamp >= collector->from && collector->cpu[event->cpu].track != NO_TRACK) {
		track = &collector->track[collector->cpu[event->cpu].track];
		cell = open_cell(collector, track);
		if (cell)
			cell->events++;
		collector->cpu[event->cpu].last = event->stamp;
	}
	return err ?: collector->err;
}

int collector_gap(struct collector *collector, const struct fkt_event *event,
		  const struct fkt_gap *gap)
{
	const bool one = gap->cpu != FKT_CPU_ANY;
	struct loss loss = {
		.from = one ? collector->cpu[gap->cpu].last : 0,
		.to = event->stamp,
		.count = gap->kind == FKT_GAP_OVERWRITTEN ? 0 : gap->count,
		.cpu = gap->cpu,
		.tid = TID_UNKNOWN,
		.pages = gap->kind == FKT_GAP_MISSING,
	};
	struct track *track;

	fkt_analysis_gap(collector->analysis, gap);
	if (one && collector->cpu[gap->cpu].track != NO_TRACK)
		loss.tid = collector->track[collector->cpu[gap->cpu].track].what;
	if (loss.from < collector->from)
		loss.from = collector->from;
	if (loss.to < loss.from)
		loss.to = loss.from;
	if (event->stamp >= collector->from)
		keep(collector, collector->to.loss(collector->to.arg, &loss));
	if (one && collector->cpu[gap->cpu].track != NO_TRACK) {
		if (loss.to >= collector->bin_to)
			go_to(collector, loss.to);
		track = &collector->track[collector->cpu[gap->cpu].track];
		set(collector, thread_track(collector, track->what, STATE_UNKNOWN), loss.to,
		    STATE_UNKNOWN);
	}
	return collector->err;
}

int collector_end(struct collector *collector, uint64_t end)
{
	if (end > collector->bin_to)
		go_to(collector, end);
	if (end > collector->bin_from)
		close_bin(collector, end < collector->bin_to ? end : collector->bin_to);
	for (uint32_t i = 0; i < collector->tracks; i++) {
		struct track *track = &collector->track[i];

		if (track->state == STATE_RUNNING && end > track->since)
			track->running += end - track->since;
	}
	return collector->err;
}

bool collector_thread(const struct collector *collector, uint32_t *at,
		      struct collected_thread *thread)
{
	const struct fkt_process *process;
	const struct track *track;

	while (*at < collector->tracks && collector->track[*at].key >= TRACK_COUNTER)
		++*at;
	if (*at >= collector->tracks)
		return false;
	track = &collector->track[(*at)++];
	process = fkt_process(collector->processes, track->id);
	*thread = (struct collected_thread){
		.tid = track->key,
		.tgid = process->tgid == FKT_PID_UNKNOWN ? track->key : process->tgid,
		.kernel = process->kernel,
		.running = track->running,
	};
	memcpy(thread->comm, process->comm, sizeof(thread->comm));
	return true;
}

uint32_t collector_cpus(const struct collector *collector, uint8_t *met, uint32_t room)
{
	for (uint32_t i = 0; i < collector->cpus && i < room; i++)
		met[i] = collector->cpu[i].track != NO_TRACK;
	return collector->cpus;
}

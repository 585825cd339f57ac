// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Noise: what took time from threads that wanted to run. Interrupts and softirqs that came while
 * they did, each without those that came while it was going on itself, other threads that ran in
 * their place, what the hypervisor says it took, and gaps: a timer's interrupt came late, and no
 * event tells why. What comes while a CPU is idle takes time from nobody.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/rows.h"
#include "print.h"

/* So many of the longest are told one by one. */
#define LONGEST_MAX 10

#define CPUS	    (UINT16_MAX + 1u)

enum kind {
	INTERRUPT,
	SOFTIRQ,
	PREEMPTED,
	STOLEN,
	GAP,
	KINDS,
	/* Most machines have no others: where there are none, people are not shown them. */
	KINDS_COMMON = STOLEN,
};

/* For programs. */
static const char *const kind_names[] = {
	"interrupt", "softirq", "preempted", "stolen", "gap",
};

struct sums {
	uint64_t count;
	uint64_t cycles;
	uint64_t longest;
};

/**
 * struct disturbance - one of them
 * @begin: stamp; FKT_CELL_NONE where it is not known
 * @cycles: how long it took, within what was asked for
 * @kind: enum kind
 * @id: the thread from which it took them
 * @by: row of the interrupt; number of the thread that ran, 0 where it is not known
 * @cpu: where
 */
struct disturbance {
	uint64_t begin;
	uint64_t cycles;
	enum kind kind;
	uint32_t id;
	uint32_t by;
	uint16_t cpu;
};

/**
 * struct cpu - what is known of a CPU
 * @sums: its noise
 * @inside: of interrupts that have ended, by the depth at which they began: the cycles of those
 *	around which the same call is still open
 * @room: how many depths there are
 * @busy: stamp from which on it has not been idle, in the time that was asked for
 * @last: stamp of its last event
 * @quiet: stamp of the event before the last interrupt that was in no other one
 * @came: stamp at which that came
 * @gap: what nothing explains of the time before that, but for @stolen; until it is known that
 *	this is all
 * @stolen: what was stolen since @came was known
 */
struct cpu {
	struct sums sums[KINDS];
	uint64_t *inside;
	uint32_t room;
	uint64_t busy;
	uint64_t last;
	uint64_t quiet;
	uint64_t came;
	struct disturbance gap;
	uint64_t stolen;
};

/* So many columns a kind has, behind the first column. */
#define CPU_EACH    3
#define POWER_EACH  1
#define COLUMNS_MAX (1 + KINDS * CPU_EACH + 4)

struct noise {
	const struct context *context;
	const struct fkt_trace *trace;
	struct cpu *cpu;
	uint32_t cpu_end; /* those of which anything is known have lower numbers */
	struct fkt_histogram values[KINDS];
	struct disturbance longest[LONGEST_MAX]; /* the longest first */
	unsigned int count;
	bool interrupts;    /* there were any, on whatever CPU and in whatever thread */
	unsigned int kinds; /* so many are shown, in these columns */
	struct fkt_column cpu_columns[COLUMNS_MAX];
	struct fkt_column power_columns[COLUMNS_MAX];
};

static void noise_free(void *view)
{
	struct noise *noise = view;

	for (uint32_t i = 0; i < noise->cpu_end; i++)
		free(noise->cpu[i].inside);
	free(noise->cpu);
	free(noise);
}

static void *noise_new(const struct context *context)
{
	struct noise *noise = calloc(1, sizeof(*noise));

	if (!noise)
		return NULL;
	noise->context = context;
	noise->trace = context->trace;
	noise->cpu = calloc(CPUS, sizeof(*noise->cpu));
	if (!noise->cpu) {
		noise_free(noise);
		return NULL;
	}
	return noise;
}

/* There can be many, and few are there. */
static struct cpu *cpu_of(struct noise *noise, uint16_t number)
{
	if (number >= noise->cpu_end)
		noise->cpu_end = number + 1u;
	return &noise->cpu[number];
}

/* Which of two comes first; it does not depend on which one was told of first. */
static int compare(const struct disturbance *x, const struct disturbance *y)
{
	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->by < y->by ? -1 : x->by > y->by;
}

static void add(struct noise *noise, const struct disturbance *one)
{
	struct sums *sums = &cpu_of(noise, one->cpu)->sums[one->kind];
	unsigned int i;

	sums->count++;
	sums->cycles += one->cycles;
	if (one->cycles > sums->longest)
		sums->longest = one->cycles;
	fkt_histogram_add(&noise->values[one->kind], one->cycles);

	if (noise->count < LONGEST_MAX)
		noise->count++;
	else if (compare(one, &noise->longest[LONGEST_MAX - 1]) >= 0)
		return;
	for (i = noise->count - 1; i && compare(one, &noise->longest[i - 1]) < 0; i--)
		noise->longest[i] = noise->longest[i - 1];
	noise->longest[i] = *one;
}

/* ---- interrupts ---- */

/* Whether it is one, and not a call in one. */
static bool is_interrupt(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_code_row *code;

	if (row >= FKT_ROW_IRQ && row < FKT_ROW_FUNCTION)
		return true;
	code = fkt_code_row(trace, fkt_row_code(trace, row));
	return code && code->kind == FKT_KIND_CPU_ENTRY;
}

static bool make_room(struct cpu *cpu, uint32_t depths)
{
	uint32_t room = cpu->room ? cpu->room : 8;
	uint64_t *larger;

	if (depths <= cpu->room)
		return true;
	while (room < depths)
		room *= 2;
	larger = realloc(cpu->inside, room * sizeof(*larger));
	if (!larger)
		return false;
	memset(larger + cpu->room, 0, (room - cpu->room) * sizeof(*larger));
	cpu->inside = larger;
	cpu->room = room;
	return true;
}

/* ---- what is no event ---- */

static void end_gap(struct noise *noise, struct cpu *cpu)
{
	if (cpu->gap.cycles > cpu->stolen) {
		cpu->gap.cycles -= cpu->stolen;
		add(noise, &cpu->gap);
	}
	cpu->gap.cycles = 0;
	cpu->stolen = 0;
}

static uint64_t cycles_of(const struct noise *noise, uint64_t ns, uint64_t most)
{
	const uint64_t cycles = fkt_has_clock(noise->trace) ? fkt_ns_to_cycles(noise->trace, ns)
							    : 0;

	return cycles < most ? cycles : most;
}

/* In the interrupt of a timer: a CPU that had an event, or was idle, was not gone at that time. */
static void add_late(struct noise *noise, const struct fkt_event *event, bool passes)
{
	struct cpu *cpu = cpu_of(noise, event->cpu);
	const uint64_t since = cpu->quiet > cpu->busy ? cpu->quiet : cpu->busy;
	struct disturbance one = {
		.begin = FKT_CELL_NONE,
		.kind = STOLEN,
		.id = fkt_process_id(noise->context->processes, event->pid, event->cpu),
		.cpu = event->cpu,
	};
	uint64_t gap =
		cycles_of(noise, fkt_arg64(event, 0), cpu->came > since ? cpu->came - since : 0);

	one.cycles = cycles_of(noise, fkt_arg64(event, 8),
			       event->stamp > cpu->busy ? event->stamp - cpu->busy : 0);
	cpu->stolen += one.cycles;
	if (!passes || !event->pid || event->pid == FKT_PID_UNKNOWN)
		return;
	if (one.cycles)
		add(noise, &one);
	if (gap <= cpu->gap.cycles)
		return;
	one.begin = cpu->came - gap;
	one.cycles = gap;
	one.kind = GAP;
	cpu->gap = one;
}

static int noise_event(void *view, const struct fkt_event *event, bool passes)
{
	struct noise *noise = view;
	struct cpu *cpu = cpu_of(noise, event->cpu);
	const bool was_idle = event->code == FKT_CODE_SWITCH && !fkt_arg32(event, 0);

	if (!cpu->busy)
		cpu->busy = filter_from(noise->context->filter) ?: event->stamp;
	if (was_idle && event->stamp > cpu->busy)
		cpu->busy = event->stamp;
	if (event->code == FKT_CODE_LATE && event->words >= 2)
		add_late(noise, event, passes);
	cpu->last = event->stamp;
	return 0;
}

/* @last is that of the event before. */
static int noise_enter(void *view, const struct fkt_call *call, bool passes)
{
	struct noise *noise = view;
	struct cpu *cpu = cpu_of(noise, call->cpu);

	(void)passes;
	if (!call->interrupt || !is_interrupt(noise->trace, call->row))
		return 0;
	end_gap(noise, cpu);
	cpu->came = call->begin;
	cpu->quiet = call->depth ? call->begin : cpu->last;
	return 0;
}

static int noise_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct noise *noise = view;
	struct cpu *cpu = cpu_of(noise, call->cpu);
	struct disturbance one = {
		.begin = call->entered ? call->begin : FKT_CELL_NONE,
		.cycles = call->cycles,
		.kind = row_is_softirq(call->row) ? SOFTIRQ : INTERRUPT,
		.id = call->id,
		.by = call->row,
		.cpu = call->cpu,
	};
	bool interrupt;
	uint64_t inside;

	/* A softirq may be a thread's: then what interrupts it is no time of it. */
	if (!call->interrupt && !row_is_softirq(call->row))
		return 0;
	interrupt = is_interrupt(noise->trace, call->row);
	if (interrupt)
		end_gap(noise, cpu);
	if (call->entered && call->interrupt) {
		if (!make_room(cpu, call->depth + 2))
			return -ENOMEM;
		inside = cpu->inside[call->depth + 1];
		cpu->inside[call->depth + 1] = 0;
		cpu->inside[call->depth] += interrupt ? call->cycles : inside;
		one.cycles -= inside < one.cycles ? inside : one.cycles;
	}
	noise->interrupts |= interrupt;
	if (interrupt && passes && call->outside != FKT_ROW_IDLE &&
	    call->outside != FKT_ROW_UNKNOWN)
		add(noise, &one);
	return 0;
}

/* ---- other threads ---- */

static int noise_wait(void *view, const struct fkt_wait *wait, bool passes)
{
	const struct disturbance one = {
		.begin = wait->left,
		.cycles = wait->to > wait->from ? wait->to - wait->from : 0,
		.kind = PREEMPTED,
		.id = wait->id,
		.by = wait->next,
		.cpu = wait->cpu,
	};

	/* A thread that slept wanted something; a new one, that is woken, has not run yet. */
	if (passes && !wait->state && !wait->woken)
		add(view, &one);
	return 0;
}

/* ---- printing ---- */

static const struct fkt_column cpu_columns[] = {
	{ "CPU", "cpu", FKT_COLUMN_JSON, 0 },
	{ "Interrupts", "interrupt", FKT_COLUMN_DURATION, 0 },
	{ "Count", "interrupts", FKT_COLUMN_NUMBER, 2 },
	{ "Max", "interrupt_max", FKT_COLUMN_DURATION, 1 },
	{ "Softirqs", "softirq", FKT_COLUMN_DURATION, 0 },
	{ "Count", "softirqs", FKT_COLUMN_NUMBER, 2 },
	{ "Max", "softirq_max", FKT_COLUMN_DURATION, 1 },
	{ "Preempted", "preempted", FKT_COLUMN_DURATION, 0 },
	{ "Count", "preemptions", FKT_COLUMN_NUMBER, 2 },
	{ "Max", "preempted_max", FKT_COLUMN_DURATION, 1 },
	{ "Stolen", "stolen", FKT_COLUMN_DURATION, 0 },
	{ "Count", "steals", FKT_COLUMN_NUMBER, 2 },
	{ "Max", "stolen_max", FKT_COLUMN_DURATION, 1 },
	{ "Gaps", "gap", FKT_COLUMN_DURATION, 0 },
	{ "Count", "gaps", FKT_COLUMN_NUMBER, 2 },
	{ "Max", "gap_max", FKT_COLUMN_DURATION, 1 },
	{ "Noise", "noise", FKT_COLUMN_DURATION, 0 },
	{ "Of", "wanted", FKT_COLUMN_DURATION, 3 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ 0 },
};

/* Moments are for programs. */
static const struct fkt_column longest_columns[] = {
	{ "", "begin", FKT_COLUMN_MOMENT, 0 }, { "", "duration", FKT_COLUMN_DURATION, 0 },
	{ "", "cpu", FKT_COLUMN_NUMBER, 0 },   { "", "process", FKT_COLUMN_THREAD, 0 },
	{ "", "kind", FKT_COLUMN_TEXT, 0 },    { "", "name", FKT_COLUMN_TEXT, 0 },
	{ "", "by", FKT_COLUMN_THREAD, 0 },    { 0 },
};

static const struct fkt_column longest_columns_text[] = {
	{ "When", "", FKT_COLUMN_JSON, 0 },  { "Longest", "", FKT_COLUMN_DURATION, 0 },
	{ "CPU", "", FKT_COLUMN_NUMBER, 0 }, { "Thread", "", FKT_COLUMN_THREAD, 0 },
	{ "By", "", FKT_COLUMN_TEXT, 0 },    { 0 },
};

static const struct fkt_column power_columns[] = {
	{ "From", "from", FKT_COLUMN_DURATION, 0 },
	{ "Interrupts", "interrupts", FKT_COLUMN_NUMBER, 1 },
	{ "Softirqs", "softirqs", FKT_COLUMN_NUMBER, 1 },
	{ "Preempted", "preemptions", FKT_COLUMN_NUMBER, 1 },
	{ "Stolen", "steals", FKT_COLUMN_NUMBER, 1 },
	{ "Gaps", "gaps", FKT_COLUMN_NUMBER, 1 },
	{ "All", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "", "", FKT_COLUMN_BAR, 0 },
	{ 0 },
};

static void choose_columns(struct fkt_column to[COLUMNS_MAX], const struct fkt_column *all,
			   unsigned int each, unsigned int kinds)
{
	const struct fkt_column *behind = all + 1 + each * KINDS;

	memcpy(to, all, (1 + each * kinds) * sizeof(*to));
	to += 1 + each * kinds;
	while (behind->title)
		*to++ = *behind++;
}

static void choose_kinds(struct noise *noise, bool people)
{
	noise->kinds = people ? KINDS_COMMON : KINDS;
	for (unsigned int kind = KINDS_COMMON; kind < KINDS; kind++)
		if (noise->values[kind].count)
			noise->kinds = KINDS;
	choose_columns(noise->cpu_columns, cpu_columns, CPU_EACH, noise->kinds);
	choose_columns(noise->power_columns, power_columns, POWER_EACH, noise->kinds);
}

static uint64_t longest(const struct sums *sums)
{
	return sums->count ? sums->longest : FKT_CELL_NONE;
}

/* @wanted: for how long threads ran or would have; FKT_CELL_NONE where that is not known. */
static void print_cpu(struct fkt_output *out, const struct noise *noise, const char *name,
		      const struct sums sums[KINDS], uint64_t wanted, bool strong)
{
	union fkt_cell cells[COLUMNS_MAX] = { { .text = name } }, *cell = cells + 1;
	bool known = wanted != FKT_CELL_NONE;
	uint64_t all = 0;

	for (unsigned int kind = 0; kind < noise->kinds; kind++) {
		all += sums[kind].cycles;
		cell++->number = sums[kind].cycles;
		cell++->number = sums[kind].count;
		cell++->number = longest(&sums[kind]);
	}
	cell++->number = all;
	cell++->number = wanted;
	cell->number = known ? fkt_parts(all, wanted) : FKT_CELL_NONE;
	fkt_table_row(out, "noise", noise->cpu_columns, cells, strong);
}

/* For how long threads ran, interrupts included, on each CPU. */
static uint64_t *times_on_cpus(const struct context *context)
{
	uint64_t *time = calloc(CPUS, sizeof(*time));
	struct fkt_on_cpu *all;
	size_t count = 0;

	all = fkt_analysis_on_cpus(context->analysis, &count);
	if (!time || !all) {
		free(time);
		free(all);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (all[i].id && fkt_process(context->processes, all[i].id)->tid)
			time[all[i].cpu] += all[i].cycles;
	free(all);
	return time;
}

/* Zeros alone say nothing. */
static bool tell_no_noise(const struct context *context, const struct noise *noise,
			  const uint64_t *time)
{
	bool wanted = false;

	for (uint32_t i = 0; i < CPUS; i++)
		wanted |= time[i] && filter_cpu(context->filter, (uint16_t)i);
	if (noise->count || (wanted && !filter_picks_calls(context->filter)))
		return false;
	fkt_table_line(context->out, "%s", "");
	if (wanted)
		tell(context, "no noise that was asked for was seen");
	else
		tell(context, "no thread%s wanted a CPU, so that nothing could disturb it",
		     filter_is_open(context->filter) ? "" : " that was asked for");
	return true;
}

static void print_cpus(const struct context *context, const struct noise *noise,
		       const uint64_t *time)
{
	bool known = !filter_picks_calls(context->filter);
	struct fkt_output *out = context->out;
	struct sums total[KINDS] = { 0 };
	char name[NUMBER_BYTES];
	uint64_t wanted, all = 0;
	unsigned int cpus = 0;

	fkt_table_begin(out, noise->cpu_columns);
	for (uint32_t i = 0; i < fkt_analysis_cpu_end(context->analysis); i++) {
		const struct sums *sums = noise->cpu[i].sums;

		if (!fkt_analysis_has_cpu(context->analysis, (uint16_t)i) ||
		    !filter_cpu(context->filter, (uint16_t)i))
			continue;
		cpus++;
		wanted = time[i] + sums[PREEMPTED].cycles;
		all += wanted;
		for (unsigned int kind = 0; kind < KINDS; kind++) {
			total[kind].count += sums[kind].count;
			total[kind].cycles += sums[kind].cycles;
			if (sums[kind].longest > total[kind].longest)
				total[kind].longest = sums[kind].longest;
		}
		snprintf(name, sizeof(name), "%" PRIu32, i);
		print_cpu(out, noise, name, sums, known ? wanted : FKT_CELL_NONE, false);
	}
	/* Programs can add. */
	if (fkt_format_for_people(out->format) && cpus > 1)
		print_cpu(out, noise, "all", total, known ? all : FKT_CELL_NONE, true);
}

static void put_moment(const struct context *context, uint64_t first, uint64_t stamp,
		       char text[FKT_MOMENT_BYTES])
{
	struct fkt_moments moments = {
		.trace = context->trace,
		.time = context->options->time,
		.first = first,
	};

	if (stamp == FKT_CELL_NONE)
		strcpy(text, "?");
	else if (fkt_has_clock(context->trace))
		fkt_moment(&moments, stamp, text);
	else
		snprintf(text, FKT_MOMENT_BYTES, "%" PRId64, (int64_t)(stamp - first));
}

static void put_name(const struct fkt_process *thread, char text[FKT_NAME_BYTES])
{
	char name[FKT_THREAD_BYTES];

	fkt_thread_name(thread, name);
	if (thread->tid && thread->tid != FKT_PID_UNKNOWN)
		snprintf(text, FKT_NAME_BYTES, "%s[%" PRIu32 "]", name, thread->tid);
	else
		snprintf(text, FKT_NAME_BYTES, "%s", name);
}

static void print_longest(const struct context *context, const struct noise *noise)
{
	bool people = fkt_format_for_people(context->out->format);
	uint64_t first = filter_is_open(context->filter) ? context->stats.first
							 : filter_first(context->filter);
	char name[FKT_NAME_BYTES], moment[FKT_MOMENT_BYTES];
	const struct fkt_process *disturbed, *by;

	context->out->first = first;
	fkt_table_begin(context->out, people ? longest_columns_text : longest_columns);
	for (unsigned int i = 0; i < noise->count; i++) {
		const struct disturbance *one = &noise->longest[i];

		disturbed = fkt_process(context->processes, one->id);
		by = NULL;
		if (one->kind == PREEMPTED) {
			by = fkt_process(context->processes, one->by);
			put_name(by, name);
		} else if (one->kind == STOLEN || one->kind == GAP) {
			strcpy(name, one->kind == GAP ? "(unknown)" : "(hypervisor)");
		} else {
			fkt_row_name(context->trace, one->by, name);
		}
		put_moment(context, first, one->begin, moment);

		const union fkt_cell text[] = {
			{ .text = moment },	 { .number = one->cycles }, { .number = one->cpu },
			{ .thread = disturbed }, { .text = name },
		};
		const union fkt_cell cells[] = {
			{ .number = one->begin },
			{ .number = one->cycles },
			{ .number = one->cpu },
			{ .thread = disturbed },
			{ .text = kind_names[one->kind] },
			{ .text = by ? NULL : name },
			{ .thread = by },
		};

		fkt_table_row(context->out, "noise_longest",
			      people ? longest_columns_text : longest_columns,
			      people ? text : cells, false);
	}
}

static uint64_t in_power(const struct noise *noise, unsigned int power)
{
	uint64_t count = 0;

	for (unsigned int kind = 0; kind < KINDS; kind++)
		count += fkt_histogram_power(&noise->values[kind], power);
	return count;
}

static void print_histogram(struct fkt_output *out, const struct noise *noise)
{
	unsigned int first = 0, last = 64;
	uint64_t all = 0, count;

	for (unsigned int kind = 0; kind < KINDS; kind++)
		all += noise->values[kind].count;
	fkt_table_begin(out, noise->power_columns);
	if (!all)
		return;
	while (first < last && !in_power(noise, first))
		first++;
	while (last > first && !in_power(noise, last))
		last--;
	for (unsigned int power = first; power <= last; power++) {
		union fkt_cell cells[COLUMNS_MAX], *cell = cells;

		count = in_power(noise, power);
		cell++->number = power ? 1ull << (power - 1) : 0;
		for (unsigned int kind = 0; kind < noise->kinds; kind++)
			cell++->number = fkt_histogram_power(&noise->values[kind], power);
		cell++->number = count;
		cell++->number = fkt_parts(count, all);
		cell->number = fkt_parts(count, all);
		fkt_table_row(out, "noise_histogram", noise->power_columns, cells, false);
	}
}

static int noise_print(const struct context *context, void *view)
{
	bool people = fkt_format_for_people(context->out->format);
	uint64_t *time = times_on_cpus(context);
	struct noise *noise = view;
	bool nothing;

	if (!time)
		return -ENOMEM;
	choose_kinds(noise, people);
	nothing = tell_no_noise(context, noise, time);
	if (!nothing)
		fkt_table_line(context->out, "%s", "");
	if (!nothing || !people)
		print_cpus(context, noise, time);
	free(time);
	if (noise->count || !people) {
		fkt_table_line(context->out, "%s", "");
		print_longest(context, noise);
		fkt_table_line(context->out, "%s", "");
		print_histogram(context->out, noise);
	}
	if (!noise->interrupts)
		fkt_table_line(context->out,
			       "\nNo interrupt was seen; fkt_record -k system records them.");
	else if (fkt_info(context->trace, "filter"))
		fkt_table_line(
			context->out,
			"\nInterrupts were recorded with %s alone: where it leaves them out, "
			"0 is not known to be none.",
			fkt_info(context->trace, "filter"));
	return 0;
}

static const struct argp_option noise_options[] = {
	{ .name = "noise",
	  .doc = "What took time from threads that wanted to run: interrupts, softirqs, others, the hypervisor" },
	{ 0 },
};

const struct view view_noise = {
	.name = "noise",
	.wants = VIEW_SUMS,
	.option = noise_options,
	.new = noise_new,
	.event = noise_event,
	.enter = noise_enter,
	.leave = noise_leave,
	.wait = noise_wait,
	.print = noise_print,
	.free = noise_free,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How work is queued: interrupts by CPU, calls by thread and CPU, and how many threads wait for a
 * CPU while others have it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rows.h"
#include "print.h"
#include "trace/internal.h"

/* What a group's key holds; of waits, the CPU alone. */
enum {
	KEY_THREAD,
	KEY_CPU,
	KEY_ROW,
};

/* In the place of a thread: calls in an interrupt are not those of whom it interrupted. */
#define INTERRUPT UINT64_MAX
/* In the place of a CPU: threads that did not get one. */
#define NO_CPU	  UINT64_MAX

/* What is known of a thread between two events. */
struct queued {
	bool runs;
	bool ready;
};

struct queues {
	const struct context *context;
	bool elapsed;
	struct groups *interrupts;
	struct groups *calls;
	struct groups *ready;
	struct queued *thread; /* by its number */
	uint32_t threads;
	uint64_t now; /* so many are ready */
	uint64_t most;
};

static void queues_free(void *view)
{
	struct queues *queues = view;

	groups_free(queues->interrupts);
	groups_free(queues->calls);
	groups_free(queues->ready);
	free(queues->thread);
	free(queues);
}

static void *queues_new(const struct context *context)
{
	struct queues *queues = calloc(1, sizeof(*queues));

	if (!queues)
		return NULL;
	queues->context = context;
	queues->elapsed = context->options->elapsed;
	queues->interrupts = groups_new();
	queues->calls = groups_new();
	queues->ready = groups_new();
	if (!queues->interrupts || !queues->calls || !queues->ready) {
		queues_free(queues);
		return NULL;
	}
	return queues;
}

static int add(struct groups *groups, const uint64_t key[BY_MAX], uint64_t value)
{
	struct group *group = groups_get(groups, key);

	if (!group)
		return -ENOMEM;
	group->count++;
	fkt_histogram_add(&group->values, value);
	return 0;
}

/* Softirqs are told of by CPU, also where threads run them: PREEMPT_RT. */
static bool is_interrupt(const struct fkt_trace *trace, uint32_t row)
{
	return fkt_row_interrupts(trace, row) || row_is_softirq(row);
}

static int queues_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct queues *queues = view;
	const bool interrupt = is_interrupt(queues->context->out->trace, call->row);
	const uint64_t key[BY_MAX] = {
		[KEY_THREAD] = call->interrupt || interrupt ? INTERRUPT : call->id,
		[KEY_CPU] = call->cpu,
		[KEY_ROW] = call->row,
	};

	if (!passes || call->partial)
		return 0;
	return add(interrupt ? queues->interrupts : queues->calls, key,
		   queues->elapsed ? call->end - call->begin : call->cycles);
}

/* For how long it was ready; a thread that did not sleep was so all the time. */
static int queues_wait(void *view, const struct fkt_wait *wait, bool passes)
{
	struct queues *queues = view;
	const uint64_t key[BY_MAX] = { [KEY_CPU] = wait->back ? wait->back_cpu : NO_CPU };
	uint64_t from = wait->from;

	if (!passes || (wait->state && !wait->woken))
		return 0;
	if (wait->state && wait->woken > from)
		from = wait->woken;
	return add(queues->ready, key, wait->to > from ? wait->to - from : 0);
}

/* ---- how many at once ---- */

static struct queued *thread_of(struct queues *queues, uint32_t pid, uint16_t cpu)
{
	const uint32_t id = fkt_process_id(queues->context->processes, pid, cpu);
	uint32_t room = queues->threads ?: 256;
	struct queued *larger;

	if (id >= queues->threads) {
		while (room <= id)
			room *= 2;
		larger = realloc(queues->thread, room * sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + queues->threads, 0, (room - queues->threads) * sizeof(*larger));
		queues->thread = larger;
		queues->threads = room;
	}
	return &queues->thread[id];
}

/* Nobody waits for the idle task, nor does who is not known. */
static bool is_somebody(uint32_t pid)
{
	return pid && pid != FKT_PID_UNKNOWN;
}

static int set_state(struct queues *queues, uint32_t pid, uint16_t cpu, bool runs, bool ready)
{
	struct queued *thread = is_somebody(pid) ? thread_of(queues, pid, cpu) : NULL;

	if (!thread)
		return is_somebody(pid) ? -ENOMEM : 0;
	queues->now += (uint64_t)ready - thread->ready;
	*thread = (struct queued){ .runs = runs, .ready = ready };
	return 0;
}

static int wake(struct queues *queues, uint32_t pid, uint16_t cpu)
{
	struct queued *thread = is_somebody(pid) ? thread_of(queues, pid, cpu) : NULL;

	if (!thread)
		return is_somebody(pid) ? -ENOMEM : 0;
	return thread->runs ? 0 : set_state(queues, pid, cpu, false, true);
}

/* Only of the time that is asked for; in which those are, too, that wait when it begins. */
static void keep_most(struct queues *queues, uint64_t stamp)
{
	const struct filter *filter = queues->context->filter;

	if (stamp >= filter_from(filter) && stamp < filter_to(filter) && filter_charges(filter) &&
	    queues->now > queues->most)
		queues->most = queues->now;
}

static int queues_event(void *view, const struct fkt_event *event, bool passes)
{
	struct queues *queues = view;
	int err;

	(void)passes; /* all threads wait for the same CPUs */
	/* What was so up to now. */
	keep_most(queues, event->stamp - 1);
	err = set_state(queues, event->pid, event->cpu, true, false);
	if (!event->words)
		return err;
	if (event->code == FKT_CODE_WAKEUP || event->code == FKT_CODE_WAKEUP_NEW)
		err = err ?: wake(queues, fkt_arg32(event, 0), event->cpu);
	else if (event->code == FKT_CODE_SWITCH && !fkt_is_no_switch(event))
		err = err ?: set_state(queues, fkt_arg32(event, 0), event->cpu, false, !event->imm)
			  ?: set_state(queues, fkt_arg32(event, 4), event->cpu, true, false);
	keep_most(queues, event->stamp);
	return err;
}

/* ---- printing ---- */

static const struct fkt_column interrupt_columns[] = {
	{ "Interrupt", "name", FKT_COLUMN_TEXT, 0 },
	{ "CPU", "cpu", FKT_COLUMN_NUMBER, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Average", "average", FKT_COLUMN_DURATION, 0 },
	SPREAD_COLUMNS,
	{ 0 },
};

static const struct fkt_column call_columns[] = {
	{ "Thread", "process", FKT_COLUMN_THREAD, 0 },
	{ "CPU", "cpu", FKT_COLUMN_NUMBER, 0 },
	{ "Function", "function", FKT_COLUMN_TEXT, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 7 },
	{ "Average", "average", FKT_COLUMN_DURATION, 0 },
	SPREAD_COLUMNS,
	{ 0 },
};

/* Who got the CPU had waited for it; "waiting" is how many did so, on average over the time. */
static const struct fkt_column ready_columns[] = {
	{ "CPU", "cpu", FKT_COLUMN_TEXT, 0 },
	{ "Waiting", "waiting_average", FKT_COLUMN_JSON, 0 },
	{ "Most", "waiting_most", FKT_COLUMN_NUMBER, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Average", "average", FKT_COLUMN_DURATION, 0 },
	SPREAD_COLUMNS,
	{ 0 },
};

static const struct fkt_process interrupt_process = { .tid = FKT_PID_UNKNOWN,
						      .comm = "(interrupt)" };

static void print_interrupt(const struct context *context, const struct group *group)
{
	union fkt_cell cells[5 + SPREAD] = {
		[1] = { .number = group->key[KEY_CPU] },
		[2] = { .number = group->count },
		[3] = { .number = group->values.sum },
		[4] = { .number = group->values.sum / group->count },
	};
	char name[FKT_NAME_BYTES];

	fkt_row_name(context->trace, (uint32_t)group->key[KEY_ROW], name);
	cells[0].text = name;
	put_spread(&group->values, cells + 5);
	fkt_table_row(context->out, "interrupts", interrupt_columns, cells, false);
}

static void print_calls(const struct context *context, const struct group *group)
{
	const uint64_t id = group->key[KEY_THREAD];
	union fkt_cell cells[6 + SPREAD] = {
		[0] = { .thread = id == INTERRUPT ? &interrupt_process
						  : fkt_process(context->processes, (uint32_t)id) },
		[1] = { .number = group->key[KEY_CPU] },
		[3] = { .number = group->count },
		[4] = { .number = group->values.sum },
		[5] = { .number = group->values.sum / group->count },
	};
	char name[FKT_NAME_BYTES];

	fkt_row_name(context->trace, (uint32_t)group->key[KEY_ROW], name);
	cells[2].text = name;
	put_spread(&group->values, cells + 6);
	fkt_table_row(context->out, "queue_calls", call_columns, cells, false);
}

static void put_average(const struct context *context, uint64_t sum, char text[NUMBER_BYTES])
{
	const uint64_t duration = fkt_analysis_duration(context->analysis);

	snprintf(text, NUMBER_BYTES, "%.4f", duration ? (double)sum / (double)duration : 0);
}

static void print_ready(const struct context *context, const struct group *group)
{
	const uint64_t number = group->key[KEY_CPU];
	char cpu[NUMBER_BYTES] = "none yet", average[NUMBER_BYTES];
	union fkt_cell cells[6 + SPREAD] = {
		[0] = { .text = cpu },
		[1] = { .text = average },
		[2] = { .number = FKT_CELL_NONE },
		[3] = { .number = group->count },
		[4] = { .number = group->values.sum },
		[5] = { .number = group->values.sum / group->count },
	};

	if (number != NO_CPU)
		snprintf(cpu, sizeof(cpu), "%" PRIu64, number);
	put_average(context, group->values.sum, average);
	put_spread(&group->values, cells + 6);
	fkt_table_row(context->out, "queue", ready_columns, cells, false);
}

static void print_total(const struct context *context, const struct queues *queues, uint64_t count,
			uint64_t sum)
{
	char average[NUMBER_BYTES];
	union fkt_cell cells[6 + SPREAD] = {
		[0] = { .text = "all" },
		[1] = { .text = average },
		[2] = { .number = queues->most },
		[3] = { .number = count },
		[4] = { .number = sum },
		[5] = { .number = count ? sum / count : FKT_CELL_NONE },
	};

	for (unsigned int i = 6; i < 6 + SPREAD; i++)
		cells[i].number = FKT_CELL_NONE;
	put_average(context, sum, average);
	fkt_table_row(context->out, "queue_total", ready_columns, cells, true);
}

static int by_cpu(const void *a, const void *b)
{
	const uint64_t x = (*(const struct group *const *)a)->key[KEY_CPU];
	const uint64_t y = (*(const struct group *const *)b)->key[KEY_CPU];

	return x < y ? -1 : x > y;
}

/* A table of groups: 0 or -ENOMEM. */
static int print_groups(const struct context *context, const struct groups *groups,
			const char *what, const struct fkt_column *columns,
			void (*print)(const struct context *, const struct group *))
{
	size_t count;
	struct group **sorted = groups_sorted(groups, &count);

	if (!sorted)
		return -ENOMEM;
	if (count)
		fkt_table_line(context->out, "%s", "");
	else
		tell_nothing(context, what, false);
	if (count || !fkt_format_for_people(context->out->format))
		fkt_table_begin(context->out, columns);
	for (size_t i = 0; i < count; i++)
		print(context, sorted[i]);
	if (groups_others(groups))
		fkt_table_line(context->out, "%" PRIu64 " more, of others than these %d",
			       groups_others(groups)->count, GROUPS_MAX);
	free(sorted);
	return 0;
}

static int print_queue(const struct context *context, const struct queues *queues)
{
	uint64_t all = 0, sum = 0;
	size_t count;
	struct group **sorted = groups_sorted(queues->ready, &count);

	if (!sorted)
		return -ENOMEM;
	if (count)
		qsort(sorted, count, sizeof(struct group *), by_cpu);
	fkt_table_line(context->out, "%s", "");
	fkt_table_begin(context->out, ready_columns);
	for (size_t i = 0; i < count; i++) {
		print_ready(context, sorted[i]);
		all += sorted[i]->count;
		sum += sorted[i]->values.sum;
	}
	print_total(context, queues, all, sum);
	free(sorted);
	return 0;
}

static int queues_print(const struct context *context, void *view)
{
	const struct queues *queues = view;

	return print_groups(context, queues->interrupts, "interrupt", interrupt_columns,
			    print_interrupt)
		       ?: print_groups(context, queues->calls, "call", call_columns, print_calls)
		       ?: print_queue(context, queues);
}

static const struct argp_option queues_options[] = {
	{ .name = "queues",
	  .doc = "Interrupts by CPU, calls by thread and CPU, and how many threads wait" },
	{ 0 },
};

const struct view view_queues = {
	.name = "queues",
	.wants = VIEW_SUMS,
	.option = queues_options,
	.new = queues_new,
	.event = queues_event,
	.leave = queues_leave,
	.wait = queues_wait,
	.print = queues_print,
	.free = queues_free,
};

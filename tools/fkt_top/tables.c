// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/counted.h"
#include "top.h"
#include "trace/fields.h"
#include "trace/put.h"

/* So many frames of a stack are shown to people. */
#define FRAMES_MAX 12

/**
 * struct item - what a row of a table is of
 * @index: where it is in the interval
 * @time: of it
 * @count: likewise
 * @all: its time of all intervals
 * @id: a number of it, for what is the same otherwise
 * @name: for SORT_NAME, to be freed
 */
struct item {
	size_t index;
	uint64_t time;
	uint64_t count;
	uint64_t all;
	uint64_t id;
	char *name;
};

static int descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rest(const struct item *x, const struct item *y)
{
	return descending(x->time, y->time) ?: descending(x->count, y->count)
					    ?: descending(x->all, y->all)
					    ?: -descending(x->id, y->id);
}

static int compare_time(const void *a, const void *b)
{
	return compare_rest(a, b);
}

static int compare_count(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return descending(x->count, y->count) ?: compare_rest(x, y);
}

static int compare_name(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return strcmp(x->name, y->name) ?: compare_rest(x, y);
}

static int compare_all(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return descending(x->all, y->all) ?: compare_rest(x, y);
}

static void sort_items(struct item *item, size_t count, enum sort sort)
{
	static int (*const compare[])(const void *, const void *) = {
		[SORT_TIME] = compare_time,
		[SORT_COUNT] = compare_count,
		[SORT_NAME] = compare_name,
		[SORT_ALL] = compare_all,
	};

	if (count)
		qsort(item, count, sizeof(*item), compare[sort]);
}

static void free_items(struct item *item, size_t count)
{
	for (size_t i = 0; item && i < count; i++)
		free(item[i].name);
	free(item);
}

static bool all_named(const struct item *item, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!item[i].name)
			return false;
	return true;
}

static uint64_t or_none(uint64_t number)
{
	return number ? number : FKT_CELL_NONE;
}

/* ---- rows ---- */

/* What a function is: what is traced besides system calls and interrupts. */
static bool is_function(const struct top *top, uint32_t row)
{
	return fkt_row_code(top->trace, row) < FKT_SLOT_CODES &&
	       strcmp(fkt_row_layer(top->trace, row), "system");
}

static bool in_view(const struct top *top, enum view view, uint32_t row)
{
	return is_function(top, row) == (view == VIEW_functions);
}

#define ROW_COLUMNS 8

/* They are followed by what counters have counted in the interval. */
static struct fkt_column row_columns[ROW_COLUMNS + FKT_COUNTERS_MAX + 1] = {
	{ "Name", "name", FKT_COLUMN_TEXT, 0 },
	{ "Time", "own", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "Calls", "calls", FKT_COLUMN_NUMBER, 0 },
	{ "Partial", "partial", FKT_COLUMN_NUMBER, 2 },
	{ "All: time", "all_own", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "all_percent", FKT_COLUMN_PERCENT, 1 },
	{ "Calls", "all_calls", FKT_COLUMN_NUMBER, 0 },
};

static void put_row(const struct top *top, const struct top_row *row, const char *name,
		    union fkt_cell cells[ROW_COLUMNS + FKT_COUNTERS_MAX])
{
	const struct interval *last = &top->last;
	const struct top_row *all = &top->whole.row[row->row];
	const bool called = row->row < FKT_ROW_USER;
	union fkt_cell *cell = cells;

	(cell++)->text = name;
	(cell++)->number = row->own;
	(cell++)->number = fkt_parts(row->own, last->duration * last->cpus);
	(cell++)->number = called ? row->calls : FKT_CELL_NONE;
	(cell++)->number = called ? row->partial : FKT_CELL_NONE;
	(cell++)->number = all->own;
	(cell++)->number = fkt_parts(all->own, top->whole.time);
	(cell++)->number = called ? all->calls : FKT_CELL_NONE;
	for (unsigned int i = 0; i < FKT_COUNTERS_MAX; i++)
		(cell++)->number = row->counted[i];
}

static bool show_rows(const struct top *top, struct fkt_output *out, enum view view, enum sort sort,
		      unsigned int rows)
{
	const struct interval *last = &top->last;
	struct item *item = calloc(last->rows + 1, sizeof(*item));
	char name[FKT_NAME_BYTES];
	union fkt_cell cells[ROW_COLUMNS + FKT_COUNTERS_MAX];
	const struct top_row *row;
	size_t count = 0;
	bool done;

	for (size_t i = 0; item && i < last->rows; i++) {
		row = &last->row[i];
		if (!in_view(top, view, row->row))
			continue;
		fkt_row_name(top->trace, row->row, name);
		item[count++] = (struct item){
			.index = i,
			.time = row->own,
			.count = row->calls,
			.all = top->whole.row[row->row].own,
			.id = row->row,
			.name = strdup(name),
		};
	}
	done = item && all_named(item, count);
	if (done)
		sort_items(item, count, sort);
	counted_columns(top->trace, row_columns + ROW_COLUMNS);
	fkt_table_begin(out, row_columns);
	for (size_t i = 0; done && i < count && (!rows || i < rows); i++) {
		row = &last->row[item[i].index];
		put_row(top, row, item[i].name, cells);
		fkt_table_row(out, view_names[view], row_columns, cells, false);
	}
	free_items(item, count);
	return done;
}

/* ---- threads ---- */

static const struct fkt_process *thread_of(const struct top *top, uint32_t id)
{
	static const struct fkt_process unknown = { .tid = FKT_PID_UNKNOWN, .comm = "unknown" };

	return id ? fkt_process(top->processes, id) : &unknown;
}

static const struct fkt_column thread_columns[] = {
	{ "Thread", "process", FKT_COLUMN_THREAD, 0 },
	{ "Time", "on_cpu", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "percent", FKT_COLUMN_PERCENT, 0 },
	{ "User", "user", FKT_COLUMN_DURATION, 7 },
	{ "Interrupts", "interrupts", FKT_COLUMN_DURATION, 8 },
	{ "Ready", "waiting", FKT_COLUMN_DURATION, 0 },
	{ "Sleep S", "sleep_s", FKT_COLUMN_DURATION, 3 },
	{ "Sleep D", "sleep_d", FKT_COLUMN_DURATION, 2 },
	{ "Switches", "switches", FKT_COLUMN_NUMBER, 4 },
	{ "All: time", "all_on_cpu", FKT_COLUMN_DURATION, 0 },
	{ "Percent", "all_percent", FKT_COLUMN_PERCENT, 1 },
	{ "Ready", "all_waiting", FKT_COLUMN_DURATION, 5 },
	{ "Switches", "all_switches", FKT_COLUMN_NUMBER, 6 },
	{ 0 },
};

static bool show_threads(const struct top *top, struct fkt_output *out, enum sort sort,
			 unsigned int rows)
{
	const struct interval *last = &top->last;
	struct item *item = calloc(last->threads + 1, sizeof(*item));
	const struct fkt_thread_sums *sums;
	const struct top_thread *all;
	char name[FKT_THREAD_BYTES];
	bool done;

	for (size_t i = 0; item && i < last->threads; i++) {
		sums = &last->thread[i];
		item[i] = (struct item){
			.index = i,
			.time = sums->cycles,
			.count = sums->switches,
			.all = whole_thread(&top->whole, sums->id)->cycles,
			.id = sums->id,
			.name = strdup(fkt_thread_name(thread_of(top, sums->id), name)),
		};
	}
	done = item && all_named(item, last->threads);
	if (done)
		sort_items(item, last->threads, sort);
	fkt_table_begin(out, thread_columns);
	for (size_t i = 0; done && i < last->threads && (!rows || i < rows); i++) {
		sums = &last->thread[item[i].index];
		all = whole_thread(&top->whole, sums->id);
		fkt_table_row(
			out, "threads", thread_columns,
			(const union fkt_cell[]){
				{ .thread = thread_of(top, sums->id) },
				{ .number = sums->cycles },
				{ .number = fkt_parts(sums->cycles, last->duration * last->cpus) },
				{ .number = or_none(sums->user + sums->program) },
				{ .number = or_none(sums->interrupts) },
				{ .number = or_none(sums->waiting) },
				{ .number = or_none(sums->sleeping[FKT_SLEEP_INTERRUPTIBLE]) },
				{ .number = or_none(sums->sleeping[FKT_SLEEP_UNINTERRUPTIBLE]) },
				{ .number = sums->switches },
				{ .number = all->cycles },
				{ .number = fkt_parts(all->cycles, top->whole.time) },
				{ .number = or_none(all->waiting) },
				{ .number = all->switches },
			},
			false);
	}
	free_items(item, last->threads);
	return done;
}

/* ---- waits and stacks ---- */

/* Those of the interval, in their order; NULL without memory. */
static struct item *tally_items(const struct top *top, enum view view, enum sort sort,
				const struct tally *tally, const struct tally *whole)
{
	const size_t count = tally_count(tally);
	struct item *item = calloc(count + 1, sizeof(*item));
	const struct tallied *one, *all;
	char name[FKT_NAME_BYTES];

	for (size_t i = 0; item && i < count; i++) {
		one = tally_at(tally, i);
		all = tally_find(whole, one->key);
		if (view == VIEW_waits)
			fkt_row_name(top->trace, (uint32_t)one->key[WAIT_IN], name);
		else
			fkt_code_name(top->trace, (uint32_t)one->key[STACK_CODE], name);
		item[i] = (struct item){
			.index = i,
			.time = one->off,
			.count = one->count,
			.all = !all		    ? 0
			       : view == VIEW_waits ? all->off
						    : all->count,
			.id = one->key[0] << 32 | one->key[view == VIEW_waits ? WAIT_IN : 1],
			.name = strdup(name),
		};
	}
	if (item && !all_named(item, count)) {
		free_items(item, count);
		item = NULL;
	}
	if (item)
		sort_items(item, count, sort);
	return item;
}

/* What there was no room for is not left unsaid. */
static void show_others(struct fkt_output *out, struct tally *tally)
{
	if (tally_others(tally)->count)
		fkt_table_line(out, "%" PRIu64 " times more, for others than these %d",
			       tally_others(tally)->count, TALLY_MAX);
}

static const struct fkt_column wait_columns[] = {
	{ "Thread", "process", FKT_COLUMN_THREAD, 0 },
	{ "State", "state", FKT_COLUMN_TEXT, 0 },
	{ "In", "in", FKT_COLUMN_TEXT, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Max", "max", FKT_COLUMN_DURATION, 2 },
	{ "Then ready", "ready", FKT_COLUMN_DURATION, 3 },
	{ "All: count", "all_count", FKT_COLUMN_NUMBER, 1 },
	{ "Sum", "all_sum", FKT_COLUMN_DURATION, 0 },
	{ 0 },
};

static bool show_waits(const struct top *top, struct fkt_output *out, enum sort sort,
		       unsigned int rows)
{
	struct tally *tally = top->last.waits;
	struct item *item = tally_items(top, VIEW_waits, sort, tally, top->whole.waits);
	static const struct tallied none;
	const struct tallied *one, *all;
	char state[FKT_STATE_BYTES];

	fkt_table_begin(out, wait_columns);
	for (size_t i = 0; item && i < tally_count(tally) && (!rows || i < rows); i++) {
		one = tally_at(tally, item[i].index);
		all = tally_find(top->whole.waits, one->key) ?: &none;
		fkt_state_letters((uint32_t)one->key[WAIT_STATE], state);
		fkt_table_row(out, "waits", wait_columns,
			      (const union fkt_cell[]){
				      { .thread = thread_of(top, (uint32_t)one->key[WAIT_THREAD]) },
				      { .text = state },
				      { .text = item[i].name },
				      { .number = one->count },
				      { .number = one->off },
				      { .number = one->max },
				      { .number = or_none(one->ready) },
				      { .number = all->count },
				      { .number = all->off },
			      },
			      false);
	}
	show_others(out, tally);
	free_items(item, tally_count(tally));
	return item;
}

static const struct fkt_column stack_columns[] = {
	{ "Event", "event", FKT_COLUMN_TEXT, 0 },
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "All: count", "all_count", FKT_COLUMN_NUMBER, 0 },
	{ "Stack", "stack", FKT_COLUMN_TEXT, 0 },
	{ 0 },
};

/* The frames, the innermost first, with semicolons between them; to be freed. */
static char *join_frames(const struct top *top, const struct fkt_stack *stack, unsigned int most)
{
	const unsigned int begin = stack ? fkt_stack_begin(top->trace, stack) : 0;
	char *text = malloc(FKT_STACK_FRAMES_BOTH * (FKT_FRAME_BYTES + 1) + sizeof("...")),
	     *to = text;

	if (!text)
		return NULL;
	for (unsigned int i = begin; stack && i < stack->count && i - begin < most; i++) {
		to = fkt_put_frame(top->trace, to, stack, i);
		*to++ = ';';
	}
	if (stack && (stack->cut || stack->count > begin + most))
		to = stpcpy(to, "...");
	else if (to != text)
		to--;
	*to = '\0';
	return text;
}

/* For people, a stack is not a cell: its frames stand below, and are cut to the line's width. */
static void show_frames(struct fkt_output *out, char *frames)
{
	char *save, *frame;
	size_t room;

	for (frame = strtok_r(frames, ";", &save); frame; frame = strtok_r(NULL, ";", &save)) {
		room = strlen(frame);
		if (out->width > 8)
			room = fkt_fitting(frame, room, out->width - 8);
		fkt_table_line(out, "        %.*s", (int)room, frame);
	}
}

static bool show_stacks(const struct top *top, struct fkt_output *out, enum sort sort,
			unsigned int rows)
{
	const bool people = fkt_format_for_people(out->format);
	struct tally *tally = top->last.stacks;
	struct item *item = tally_items(top, VIEW_stacks, sort == SORT_TIME ? SORT_COUNT : sort,
					tally, top->whole.stacks);
	static const struct tallied none;
	const struct tallied *one, *all;
	char *frames;
	bool done = item;

	if (!people)
		fkt_table_begin(out, stack_columns);
	for (size_t i = 0; done && i < tally_count(tally) && (!rows || i < rows); i++) {
		one = tally_at(tally, item[i].index);
		all = tally_find(top->whole.stacks, one->key) ?: &none;
		frames = join_frames(top, stacks_get(top->stacks, (uint32_t)one->key[STACK_NUMBER]),
				     people ? FRAMES_MAX : FKT_STACK_FRAMES_BOTH);
		done = frames;
		if (frames && people) {
			fkt_table_line(out, "%s: %" PRIu64 " times; in all %" PRIu64, item[i].name,
				       one->count, all->count);
			show_frames(out, frames);
		} else if (frames) {
			fkt_table_row(out, "stacks", stack_columns,
				      (const union fkt_cell[]){
					      { .text = item[i].name },
					      { .number = one->count },
					      { .number = all->count },
					      { .text = *frames ? frames : NULL },
				      },
				      false);
		}
		free(frames);
	}
	show_others(out, tally);
	free_items(item, tally_count(tally));
	return done;
}

/* ---- all of them ---- */

bool is_empty(const struct top *top, enum view view)
{
	switch (view) {
	case VIEW_threads:
		return !top->last.threads;
	case VIEW_waits:
		return !tally_count(top->last.waits);
	case VIEW_stacks:
		return !tally_count(top->last.stacks);
	default:
		for (size_t i = 0; i < top->last.rows; i++)
			if (in_view(top, view, top->last.row[i].row))
				return false;
		return true;
	}
}

bool show_view(const struct top *top, struct fkt_output *out, enum view view, enum sort sort,
	       unsigned int rows)
{
	bool done;

	switch (view) {
	case VIEW_threads:
		done = show_threads(top, out, sort, rows);
		break;
	case VIEW_waits:
		done = show_waits(top, out, sort, rows);
		break;
	case VIEW_stacks:
		done = show_stacks(top, out, sort, rows);
		break;
	default:
		done = show_rows(top, out, view, sort, rows);
	}
	fkt_table_end(out);
	return done;
}

static const struct fkt_column head_columns[] = {
	{ "Interval", "interval", FKT_COLUMN_NUMBER, 0 },
	{ "From", "from", FKT_COLUMN_MOMENT, 0 },
	{ "Duration", "duration", FKT_COLUMN_DURATION, 0 },
	{ "CPUs", "cpus", FKT_COLUMN_NUMBER, 0 },
	{ "Events", "events", FKT_COLUMN_NUMBER, 0 },
	{ "Lost", "lost", FKT_COLUMN_NUMBER, 0 },
	{ "All: events", "all_events", FKT_COLUMN_NUMBER, 0 },
	{ "Lost", "all_lost", FKT_COLUMN_NUMBER, 0 },
	{ 0 },
};

static uint64_t idle_time(const struct interval *interval)
{
	for (size_t i = 0; i < interval->rows; i++)
		if (interval->row[i].row == FKT_ROW_IDLE)
			return interval->row[i].own;
	return 0;
}

void show_head(const struct top *top, struct fkt_output *out)
{
	const struct interval *last = &top->last;
	const uint64_t time = last->duration * last->cpus;

	if (fkt_format_for_people(out->format)) {
		fkt_table_line(out,
			       "%.3f s  %" PRIu64 " events, %" PRIu64 " lost  %" PRIu32
			       " CPUs, %.1f %% busy",
			       (double)fkt_cycles_to_ns(top->trace,
							(int64_t)(last->from - top->first)) /
				       FKT_NS_PER_SECOND,
			       last->events, last->lost, last->cpus,
			       (double)fkt_parts(time - idle_time(last), time) / 1e4);
		return;
	}
	fkt_table_begin(out, head_columns);
	fkt_table_row(out, "interval", head_columns,
		      (const union fkt_cell[]){
			      { .number = last->number },
			      { .number = last->from },
			      { .number = last->duration },
			      { .number = last->cpus },
			      { .number = last->events },
			      { .number = last->lost },
			      { .number = top->whole.events },
			      { .number = top->whole.lost },
		      },
		      false);
	fkt_table_end(out);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tables of events: all of them, their fields, switches, stacks, and what is missing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fkt_sqlite.h"
#include "read/reader.h"
#include "show/args.h"
#include "show/internal.h"
#include "trace/maps.h"

/* Room for a stack as text. */
#define STACK_BYTES (FKT_STACK_FRAMES_BOTH * (2 * FKT_FRAME_BYTES + 3) + 16)

/**
 * struct events - a cursor of any of these tables
 * @scan: its events
 * @want: which
 * @grouped: they are counted
 * @args: their fields as JSON
 * @field: the fields of the events of a code, see args
 * @fields: how many
 * @code: the code; FKT_SLOT_CODES: none so far
 * @at: the row's
 * @more: the event has more rows
 * @row: numbers the rows
 * @text: room for a stack
 */
struct events {
	struct fkt_scan scan;
	const struct fkt_want *want;
	struct fkt_grouped *grouped;
	struct fkt_args *args;
	struct fkt_field field[FKT_FIELDS_MAX];
	unsigned int fields;
	uint32_t code;
	unsigned int at;
	bool more;
	int64_t row;
	char text[STACK_BYTES];
};

static void events_free(void *cursor)
{
	struct events *events = cursor;

	if (!events)
		return;
	fkt_grouped_free(events->grouped);
	fkt_args_free(events->args);
	fkt_scan_end(&events->scan);
	free(events);
}

static struct events *begin(struct fkt_shared *shared, const struct fkt_want *want,
			    unsigned int follow, bool args)
{
	struct events *events = malloc(sizeof(*events));

	if (!events)
		return NULL;
	memset(events, 0, offsetof(struct events, text));
	events->want = want;
	events->code = FKT_SLOT_CODES;
	events->row = -1;
	if (args)
		follow |= FKT_FOLLOW_PROCESSES;
	if (!fkt_scan_begin(&events->scan, shared, want, follow)) {
		free(events);
		return NULL;
	}
	if (!args)
		return events;
	events->args = fkt_args_new(shared->trace, events->scan.processes, fkt_format_find("json"));
	if (!events->args) {
		events_free(events);
		return NULL;
	}
	return events;
}

/* What is the same in all of these tables. */
#define COMMON_COLUMNS                                                                             \
	{ "id", "INTEGER", FKT_PUSH_ID, false }, { "time", "INTEGER", FKT_PUSH_TIME, false },      \
		{ "stamp", "INTEGER", FKT_PUSH_STAMP, false },                                     \
		{ "cpu", "INTEGER", FKT_PUSH_CPU, true },                                          \
		{ "tid", "INTEGER", FKT_PUSH_TID, true },                                          \
		{ "pid", "INTEGER", FKT_PUSH_NONE, true },                                         \
		{ "process", "TEXT", FKT_PUSH_NONE, true },                                        \
		{ "code", "INTEGER", FKT_PUSH_CODE, true },                                        \
		{ "name", "TEXT", FKT_PUSH_NAME, true },                                           \
	{                                                                                          \
		"layer", "TEXT", FKT_PUSH_NONE, true                                               \
	}

/* A process as SQL has it: NULL when it is not known. */
static void result_process_id(struct events *events, sqlite3_context *context, uint32_t id)
{
	fkt_result_pid(context, fkt_process(events->scan.processes, id)->tgid);
}

static void common_column(struct events *events, sqlite3_context *context, unsigned int column)
{
	struct fkt_scan *scan = &events->scan;
	const struct fkt_event *event = &scan->event;
	const struct fkt_code_info *info;

	switch (column) {
	case EVENT_ID:
		sqlite3_result_int64(context, fkt_scan_id(scan));
		break;
	case EVENT_TIME:
		sqlite3_result_int64(context, fkt_shared_time(scan->shared, event->stamp));
		break;
	case EVENT_STAMP:
		sqlite3_result_int64(context, (int64_t)event->stamp);
		break;
	case EVENT_CPU:
		sqlite3_result_int(context, event->cpu);
		break;
	case EVENT_TID:
		fkt_result_pid(context, event->pid);
		break;
	case EVENT_PID:
		result_process_id(events, context, fkt_scan_thread(scan));
		break;
	case EVENT_PROCESS:
		fkt_result_comm(scan, context, fkt_scan_thread(scan));
		break;
	case EVENT_CODE:
		sqlite3_result_int(context, (int)event->code);
		break;
	case EVENT_NAME:
	case EVENT_LAYER:
		info = fkt_shared_code(scan->shared, event->code);
		if (info)
			fkt_result_static(context, column == EVENT_NAME ? info->name : info->layer);
		else
			sqlite3_result_error_nomem(context);
		break;
	}
}

static unsigned int follow_common(const struct fkt_want *want)
{
	return fkt_want_uses(want, EVENT_PID) || fkt_want_uses(want, EVENT_PROCESS)
		       ? FKT_FOLLOW_PROCESSES
		       : 0;
}

static int64_t row_id(const void *cursor)
{
	return ((const struct events *)cursor)->row;
}

static int64_t event_id(const void *cursor)
{
	const struct events *events = cursor;

	return events->grouped ? events->row : fkt_scan_id(&events->scan);
}

/* ---- stacks as text ---- */

static void result_stack(struct events *events, sqlite3_context *context)
{
	const struct fkt_stack *stack = events->scan.stack;
	char *end;

	if (!stack || !stack->known) {
		sqlite3_result_null(context);
		return;
	}
	end = fkt_put_json_stack(events->scan.shared->trace, events->text, stack, false);
	sqlite3_result_text(context, events->text, (int)(end - events->text), SQLITE_TRANSIENT);
}

/* As flame graphs are made of: the outermost first, without offsets. */
static void result_folded(struct events *events, sqlite3_context *context)
{
	struct fkt_trace *trace = events->scan.shared->trace;
	const struct fkt_stack *stack = events->scan.stack;
	char *to = events->text;
	struct fkt_stack placed;

	if (!stack || !stack->known) {
		sqlite3_result_null(context);
		return;
	}
	stack = fkt_stack_placed(trace, stack, &placed);
	for (unsigned int i = stack->count, first = fkt_stack_begin(trace, stack); i-- > first;) {
		to = fkt_put_frame_name(trace, to, stack, i);
		if (i > first)
			*to++ = ';';
	}
	sqlite3_result_text(context, events->text, (int)(to - events->text), SQLITE_TRANSIENT);
}

/* ---- events ---- */

static const struct fkt_column_info events_columns[] = {
	COMMON_COLUMNS,
	{ "kind", "TEXT", FKT_PUSH_NONE, true },
	{ "lane", "INTEGER", FKT_PUSH_NONE, false },
	{ "imm", "INTEGER", FKT_PUSH_NONE, false },
	{ "args", "TEXT", FKT_PUSH_NONE, false },
	{ "stack", "TEXT", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *events_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	unsigned int follow = follow_common(want);
	struct events *events;

	if (fkt_want_uses(want, EVENT_STACK))
		follow |= FKT_FOLLOW_STACKS;
	events = begin(shared, want, follow, fkt_want_uses(want, EVENT_ARGS));
	if (!events || !want->group)
		return events;
	events->grouped = fkt_grouped_new(&events->scan, want);
	if (events->grouped)
		return events;
	events_free(events);
	return NULL;
}

static int events_next(void *cursor)
{
	struct events *events = cursor;

	events->row++;
	return events->grouped ? fkt_grouped_next(events->grouped) : fkt_scan_next(&events->scan);
}

static void events_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	struct events *events = cursor;
	const struct fkt_code_info *info;

	if (events->grouped) {
		fkt_grouped_column(events->grouped, context, column);
		return;
	}
	switch (column) {
	case EVENT_KIND:
		info = fkt_shared_code(events->scan.shared, events->scan.event.code);
		fkt_result_static(context, info ? info->kind : NULL);
		break;
	case EVENT_LANE:
		sqlite3_result_int(context, events->scan.event.lane);
		break;
	case EVENT_IMM:
		sqlite3_result_int(context, events->scan.event.imm);
		break;
	case EVENT_ARGS:
		fkt_result_copy(context,
				fkt_args_entry(events->args, &events->scan.event, FKT_ROW_NONE));
		break;
	case EVENT_STACK:
		result_stack(events, context);
		break;
	default:
		common_column(events, context, column);
	}
}

const struct fkt_table fkt_table_events = {
	.name = "events",
	.columns = events_columns,
	.rows_per_event = 1,
	.open = events_open,
	.next = events_next,
	.column = events_column,
	.id = event_id,
	.free = events_free,
};

/* ---- args ---- */

enum {
	ARGS_FIELD = EVENT_LAYER + 1,
	ARGS_VALUE,
	ARGS_TEXT,
};

static const struct fkt_column_info args_columns[] = {
	COMMON_COLUMNS,
	{ "field", "TEXT", FKT_PUSH_NONE, false },
	{ "value", "", FKT_PUSH_NONE, false },
	{ "text", "TEXT", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *args_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	return begin(shared, want,
		     follow_common(want) |
			     (fkt_want_uses(want, ARGS_TEXT) ? FKT_FOLLOW_PROCESSES : 0),
		     false);
}

/* To the next field that is there. */
static int args_next(void *cursor)
{
	struct events *events = cursor;
	struct fkt_event *event = &events->scan.event;
	int what;

	for (;;) {
		while (events->more && ++events->at < events->fields)
			if (fkt_field_is_there(&events->field[events->at], event)) {
				events->row++;
				return 1;
			}
		what = fkt_scan_next(&events->scan);
		if (what <= 0)
			return what;
		if (event->code != events->code) {
			events->code = event->code;
			events->fields =
				fkt_fields(events->scan.shared->trace, event->code, events->field);
		}
		events->at = UINT32_MAX;
		events->more = true;
	}
}

/* Text from an event, fit for a terminal. */
static void result_untrusted(sqlite3_context *context, const struct fkt_value *value)
{
	char text[FKT_SLOT_WORDS_MAX * 8 + 1];
	char *end = fkt_put_untrusted(
		text, value->text, value->bytes < sizeof(text) ? value->bytes : sizeof(text) - 1);

	sqlite3_result_text(context, text, (int)(end - text), SQLITE_TRANSIENT);
}

static void result_value(struct events *events, sqlite3_context *context)
{
	const struct fkt_field *field = &events->field[events->at];
	char state[FKT_STATE_BYTES];
	struct fkt_value value;

	if (!fkt_field_value(field, &events->scan.event, &value)) {
		sqlite3_result_null(context);
		return;
	}
	switch (value.kind) {
	case FKT_VALUE_SIGNED:
	case FKT_VALUE_UNSIGNED:
		if (field->type == FKT_FIELD_STATE) {
			fkt_state_letters((uint32_t)value.number, state);
			fkt_result_copy(context, state);
			break;
		}
		sqlite3_result_int64(context, (int64_t)value.number);
		break;
	case FKT_VALUE_TEXT:
		result_untrusted(context, &value);
		break;
	case FKT_VALUE_ARRAY:
		sqlite3_result_blob(context, value.text, (int)value.bytes, SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_result_null(context);
	}
}

/* What the number is the number of. */
static void result_text(struct events *events, sqlite3_context *context)
{
	const struct fkt_field *field = &events->field[events->at];
	char name[FKT_VALUE_NAME_BYTES], *end = name;
	struct fkt_value value;

	if (fkt_field_is_named(field) && fkt_field_value(field, &events->scan.event, &value) &&
	    (field->type != FKT_FIELD_RESULT || fkt_is_errno(value.number)))
		end = fkt_put_name(events->scan.shared->trace, events->scan.processes, field,
				   &events->scan.event, value.number, name);
	if (end == name)
		sqlite3_result_null(context);
	else
		sqlite3_result_text(context, name, (int)(end - name), SQLITE_TRANSIENT);
}

static void args_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	struct events *events = cursor;

	switch (column) {
	case ARGS_FIELD:
		fkt_result_copy(context, events->field[events->at].name);
		break;
	case ARGS_VALUE:
		result_value(events, context);
		break;
	case ARGS_TEXT:
		result_text(events, context);
		break;
	default:
		common_column(events, context, column);
	}
}

const struct fkt_table fkt_table_args = {
	.name = "args",
	.columns = args_columns,
	.rows_per_event = 1.5,
	.open = args_open,
	.next = args_next,
	.column = args_column,
	.id = row_id,
	.free = events_free,
};

/* ---- switches ---- */

enum {
	SWITCHES_ID,
	SWITCHES_TIME,
	SWITCHES_STAMP,
	SWITCHES_CPU,
	SWITCHES_TID,
	SWITCHES_PID,
	SWITCHES_PROCESS,
	SWITCHES_STATE,
	SWITCHES_NEXT_TID,
	SWITCHES_NEXT_PID,
	SWITCHES_NEXT_PROCESS,
	SWITCHES_STACK,
};

static const struct fkt_column_info switches_columns[] = {
	{ "id", "INTEGER", FKT_PUSH_ID, false },
	{ "time", "INTEGER", FKT_PUSH_TIME, false },
	{ "stamp", "INTEGER", FKT_PUSH_STAMP, false },
	{ "cpu", "INTEGER", FKT_PUSH_CPU, false },
	{ "tid", "INTEGER", FKT_PUSH_TID, false },
	{ "pid", "INTEGER", FKT_PUSH_NONE, false },
	{ "process", "TEXT", FKT_PUSH_NONE, false },
	{ "state", "TEXT", FKT_PUSH_NONE, false },
	{ "next_tid", "INTEGER", FKT_PUSH_NONE, false },
	{ "next_pid", "INTEGER", FKT_PUSH_NONE, false },
	{ "next_process", "TEXT", FKT_PUSH_NONE, false },
	{ "stack", "TEXT", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *switches_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	const uint32_t names = 1u << SWITCHES_PID | 1u << SWITCHES_PROCESS |
			       1u << SWITCHES_NEXT_PID | 1u << SWITCHES_NEXT_PROCESS;
	unsigned int follow = want->used & names ? FKT_FOLLOW_PROCESSES : 0;

	if (fkt_want_uses(want, SWITCHES_STACK))
		follow |= FKT_FOLLOW_STACKS;
	return begin(shared, want, follow, false);
}

static int switches_next(void *cursor)
{
	struct events *events = cursor;
	int what;

	while ((what = fkt_scan_next(&events->scan)) > 0)
		if (events->scan.event.code == FKT_CODE_SWITCH && events->scan.event.words >= 1)
			break;
	return what;
}

static void switches_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	struct events *events = cursor;
	struct fkt_scan *scan = &events->scan;
	const struct fkt_event *event = &scan->event;
	uint32_t next = fkt_arg32(event, 4);
	char state[FKT_STATE_BYTES];

	switch (column) {
	case SWITCHES_STATE:
		fkt_state_letters(event->imm, state);
		fkt_result_copy(context, state);
		break;
	case SWITCHES_NEXT_TID:
		fkt_result_pid(context, next);
		break;
	case SWITCHES_NEXT_PID:
		result_process_id(events, context,
				  fkt_process_id(scan->processes, next, event->cpu));
		break;
	case SWITCHES_NEXT_PROCESS:
		fkt_result_comm(scan, context, fkt_process_id(scan->processes, next, event->cpu));
		break;
	case SWITCHES_STACK:
		result_stack(events, context);
		break;
	default:
		common_column(events, context, column);
	}
}

const struct fkt_table fkt_table_switches = {
	.name = "switches",
	.columns = switches_columns,
	.rows_per_event = 0.1,
	.open = switches_open,
	.next = switches_next,
	.column = switches_column,
	.id = event_id,
	.free = events_free,
};

/* ---- stacks ---- */

enum {
	STACKS_FRAMES = EVENT_LAYER + 1,
	STACKS_CUT,
	STACKS_STACK,
	STACKS_FOLDED,
};

static const struct fkt_column_info stacks_columns[] = {
	COMMON_COLUMNS,
	{ "frames", "INTEGER", FKT_PUSH_NONE, false },
	{ "cut", "INTEGER", FKT_PUSH_NONE, false },
	{ "stack", "TEXT", FKT_PUSH_NONE, false },
	{ "folded", "TEXT", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *stacks_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	return begin(shared, want, follow_common(want) | FKT_FOLLOW_STACKS, false);
}

static int stacks_next(void *cursor)
{
	struct events *events = cursor;
	int what;

	while ((what = fkt_scan_next(&events->scan)) > 0)
		if (events->scan.stack && events->scan.stack->known)
			break;
	return what;
}

static void stacks_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	struct events *events = cursor;
	const struct fkt_stack *stack = events->scan.stack;

	switch (column) {
	case STACKS_FRAMES:
		sqlite3_result_int(
			context,
			(int)(stack->count - fkt_stack_begin(events->scan.shared->trace, stack)));
		break;
	case STACKS_CUT:
		sqlite3_result_int(context, stack->cut);
		break;
	case STACKS_STACK:
		result_stack(events, context);
		break;
	case STACKS_FOLDED:
		result_folded(events, context);
		break;
	default:
		common_column(events, context, column);
	}
}

const struct fkt_table fkt_table_stacks = {
	.name = "stacks",
	.columns = stacks_columns,
	.rows_per_event = 0.1,
	.open = stacks_open,
	.next = stacks_next,
	.column = stacks_column,
	.id = event_id,
	.free = events_free,
};

/* ---- losses ---- */

enum {
	LOSSES_TIME,
	LOSSES_STAMP,
	LOSSES_LANE,
	LOSSES_CPU,
	LOSSES_KIND,
	LOSSES_COUNT,
};

static const struct fkt_column_info losses_columns[] = {
	{ "time", "INTEGER", FKT_PUSH_NONE, false },
	{ "stamp", "INTEGER", FKT_PUSH_NONE, false },
	{ "lane", "INTEGER", FKT_PUSH_NONE, false },
	{ "cpu", "INTEGER", FKT_PUSH_NONE, false },
	{ "kind", "TEXT", FKT_PUSH_NONE, false },
	{ "count", "INTEGER", FKT_PUSH_NONE, false },
	{ 0 },
};

static void *losses_open(struct fkt_shared *shared, const struct fkt_want *want)
{
	return begin(shared, want, FKT_FOLLOW_GAPS, false);
}

static int losses_next(void *cursor)
{
	struct events *events = cursor;
	int what;

	while ((what = fkt_scan_next(&events->scan)) > 0)
		if (events->scan.gap)
			break;
	events->row++;
	return what;
}

static void losses_column(void *cursor, sqlite3_context *context, unsigned int column)
{
	static const char *const kinds[] = {
		[FKT_GAP_LOST] = "lost",
		[FKT_GAP_MISSING] = "missing_pages",
		[FKT_GAP_DAMAGED] = "damaged_pages",
		[FKT_GAP_DISCARDED] = "discarded",
		[FKT_GAP_OVERWRITTEN] = "overwritten",
	};
	struct events *events = cursor;
	const struct fkt_gap *gap = events->scan.gap;
	uint64_t stamp = events->scan.event.stamp;

	switch (column) {
	case LOSSES_TIME:
		sqlite3_result_int64(context, fkt_shared_time(events->scan.shared, stamp));
		break;
	case LOSSES_STAMP:
		sqlite3_result_int64(context, (int64_t)stamp);
		break;
	case LOSSES_LANE:
		sqlite3_result_int(context, gap->lane);
		break;
	case LOSSES_CPU:
		if (gap->cpu == FKT_CPU_ANY)
			sqlite3_result_null(context);
		else
			sqlite3_result_int(context, gap->cpu);
		break;
	case LOSSES_KIND:
		fkt_result_static(context, kinds[gap->kind]);
		break;
	case LOSSES_COUNT:
		sqlite3_result_int64(context, (int64_t)gap->count);
		break;
	}
}

const struct fkt_table fkt_table_losses = {
	.name = "losses",
	.columns = losses_columns,
	.rows_per_event = 0.00001,
	.open = losses_open,
	.next = losses_next,
	.column = losses_column,
	.id = row_id,
	.free = events_free,
};

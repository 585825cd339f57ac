// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls and events in groups, by what the user says. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* The value of a field that an event does not have. */
#define NO_VALUE (1ull << 63) /* less likely than -1 */

/* The key is what the option calls it, too. */
static const struct fkt_column field_columns[] = {
	[BY_FUNCTION] = { "Function", "function", FKT_COLUMN_TEXT, 0 },
	[BY_CALLER] = { "Caller", "caller", FKT_COLUMN_TEXT, 0 },
	[BY_PROCESS] = { "Process", "process", FKT_COLUMN_THREAD, 0 },
	[BY_THREAD] = { "Thread", "thread", FKT_COLUMN_THREAD, 0 },
	[BY_CPU] = { "CPU", "cpu", FKT_COLUMN_JSON, 0 },
	[BY_LAYER] = { "Layer", "layer", FKT_COLUMN_TEXT, 0 },
	[BY_CODE] = { "Code", "code", FKT_COLUMN_TEXT, 0 },
	[BY_ERRNO] = { "Errno", "errno", FKT_COLUMN_TEXT, 0 },
	[BY_ARG0] = { "Arg 0", "arg0", FKT_COLUMN_JSON, 0 },
	[BY_ARG0 + 1] = { "Arg 1", "arg1", FKT_COLUMN_JSON, 0 },
	[BY_ARG0 + 2] = { "Arg 2", "arg2", FKT_COLUMN_JSON, 0 },
	[BY_ARG0 + 3] = { "Arg 3", "arg3", FKT_COLUMN_JSON, 0 },
	[BY_ARG0 + 4] = { "Arg 4", "arg4", FKT_COLUMN_JSON, 0 },
	[BY_ARG0 + 5] = { "Arg 5", "arg5", FKT_COLUMN_JSON, 0 },
};

/* A trace has 32 layers; more are a lie, and share the last one. */
#define LAYERS_MAX 40

/* The result among the fields of a code. */
struct result {
	bool known; /* it was looked for */
	bool any;
	struct fkt_field field;
};

struct by {
	const struct context *context;
	const struct options *options;
	const struct fkt_trace *trace;
	struct groups *groups;
	bool counts_events;	       /* those that are no calls, too */
	const char *layer[LAYERS_MAX]; /* those that came, each once */
	unsigned int layers;
	struct result *result; /* by code; NULL: nobody asks */
};

static bool groups_by(const struct options *options, enum by_field field)
{
	for (unsigned int i = 0; i < options->bys; i++)
		if (options->by[i] == field)
			return true;
	return false;
}

static void by_free(void *view)
{
	struct by *by = view;

	groups_free(by->groups);
	free(by->result);
	free(by);
}

static void *by_new(const struct context *context)
{
	struct by *by = calloc(1, sizeof(*by));

	if (!by)
		return NULL;
	by->context = context;
	by->options = context->options;
	by->trace = context->trace;
	by->counts_events = by->options->selected.code.count || groups_by(by->options, BY_CODE);
	by->groups = groups_new();
	if (groups_by(by->options, BY_ERRNO))
		by->result = calloc(FKT_SLOT_CODES, sizeof(*by->result));
	if (!by->groups || (groups_by(by->options, BY_ERRNO) && !by->result)) {
		by_free(by);
		return NULL;
	}
	return by;
}

static uint64_t layer_key(struct by *by, uint32_t row)
{
	const char *name = fkt_row_layer(by->trace, row);

	for (unsigned int i = 0; i < by->layers; i++)
		if (!strcasecmp(by->layer[i], name))
			return i;
	if (by->layers == LAYERS_MAX)
		return LAYERS_MAX - 1;
	by->layer[by->layers] = name;
	return by->layers++;
}

static void find_result(struct by *by, uint32_t code)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int n = fkt_fields(by->trace, code, fields);
	struct result *result = &by->result[code];

	result->known = true;
	for (unsigned int i = 0; i < n && !result->any; i++) {
		result->any = fields[i].type == FKT_FIELD_RESULT;
		result->field = fields[i];
	}
}

/* 0 is none: also of what has no result, or one that is no error whatever it is. */
static uint64_t errno_key(struct by *by, const struct fkt_event *exit)
{
	struct fkt_value value;

	if (!exit)
		return NO_VALUE;
	if (!by->result[exit->code].known)
		find_result(by, exit->code);
	if (!by->result[exit->code].any ||
	    !fkt_field_value(&by->result[exit->code].field, exit, &value))
		return 0;
	return fkt_is_errno(value.number) ? -value.number : 0;
}

static struct group *get(struct by *by, const struct fkt_call *call, uint32_t code,
			 const uint64_t *args, unsigned int words)
{
	uint64_t key[BY_MAX] = { 0 };

	for (unsigned int i = 0; i < by->options->bys; i++) {
		enum by_field field = by->options->by[i];

		switch (field) {
		case BY_FUNCTION:
			key[i] = call->row;
			break;
		case BY_CALLER:
			key[i] = call->caller;
			break;
		case BY_PROCESS:
			/* A process is its leader, under which all of its threads are. */
			key[i] = call->leader;
			break;
		case BY_THREAD:
			key[i] = call->id;
			break;
		case BY_CPU:
			key[i] = call->cpu;
			break;
		case BY_LAYER:
			key[i] = layer_key(by, call->row);
			break;
		case BY_CODE:
			key[i] = code;
			break;
		case BY_ERRNO:
			key[i] = errno_key(by, call->exit);
			break;
		default:
			key[i] = (unsigned int)(field - BY_ARG0) < words ? args[field - BY_ARG0]
									 : NO_VALUE;
		}
	}
	return groups_get(by->groups, key);
}

static int by_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct by *by = view;
	struct group *group;

	if (!passes || call->partial)
		return 0;
	group = get(by, call, fkt_row_code(by->trace, call->row), call->entry_args,
		    call->entry_words);
	if (!group)
		return -ENOMEM;
	group->count++;
	fkt_histogram_add(&group->values,
			  by->options->elapsed ? call->end - call->begin : call->cycles);
	return 0;
}

/* Whether an event is no call's beginning or end. */
static bool is_point(const struct fkt_trace *trace, uint32_t code)
{
	const struct fkt_code_row *row = fkt_code_row(trace, code);

	return !row || row->kind == FKT_KIND_POINT;
}

static int count_event(struct by *by, const struct fkt_event *event)
{
	uint32_t id = fkt_analysis_current(by->context->analysis, event->cpu);
	const struct fkt_call call = {
		.row = event->code,
		.caller = FKT_ROW_NONE,
		.id = id,
		.leader = fkt_process_leader(by->context->processes, id),
		.cpu = event->cpu,
	};
	uint64_t args[FKT_CALL_ARGS];
	unsigned int words = event->words < FKT_CALL_ARGS ? event->words : FKT_CALL_ARGS;
	struct group *group;

	for (unsigned int i = 0; i < words; i++)
		args[i] = fkt_arg64(event, 8 * i);
	group = get(by, &call, event->code, args, words);
	if (!group)
		return -ENOMEM;
	group->count++;
	return 0;
}

static int by_event(void *view, const struct fkt_event *event, bool passes)
{
	struct by *by = view;

	return passes && by->counts_events && is_point(by->trace, event->code)
		       ? count_event(by, event)
		       : 0;
}

static bool by_no_events(const void *view)
{
	return !((const struct by *)view)->counts_events;
}

/* ---- printing ---- */

#define FIELD_BYTES (FKT_NAME_BYTES + 24)
#define OTHERS	    "(others)"

/* Arguments beyond this are likely to be addresses, or bits. */
#define SMALL_MAX   0xffff

/* What a register holds: a small negative number of 32 bits is one, as in the listing. */
static int64_t argument(uint64_t value)
{
	if (value <= UINT32_MAX && (uint32_t)value >= -(uint32_t)FKT_ERRNO_MAX)
		return (int32_t)value;
	return (int64_t)value;
}

static bool has_value(unsigned int i, struct group *const *groups, size_t count)
{
	for (size_t j = 0; j < count; j++)
		if (groups[j]->key[i] != NO_VALUE)
			return true;
	return false;
}

/* All arguments of a column are shown to people in one base. */
static bool is_hex(const struct by *by, unsigned int i, struct group *const *groups, size_t count)
{
	int64_t value;

	if (by->options->by[i] < BY_ARG0)
		return false;
	for (size_t j = 0; j < count; j++) {
		value = argument(groups[j]->key[i]);
		if (groups[j]->key[i] != NO_VALUE && (value > SMALL_MAX || value < -FKT_ERRNO_MAX))
			return true;
	}
	return false;
}

static void put_field(const struct by *by, enum by_field field, uint64_t value, bool hex,
		      char text[FIELD_BYTES])
{
	const char *name;

	switch (field) {
	case BY_FUNCTION:
	case BY_CALLER:
		fkt_row_name(by->trace, (uint32_t)value, text);
		break;
	case BY_CPU:
		snprintf(text, FIELD_BYTES, "%" PRIu64, value);
		break;
	case BY_LAYER:
		snprintf(text, FIELD_BYTES, "%s", by->layer[value]);
		break;
	case BY_CODE:
		snprintf(text, FIELD_BYTES, "%04" PRIx64, value);
		break;
	case BY_ERRNO:
		name = value ? fkt_errno_name((int)value) : "ok";
		if (name)
			snprintf(text, FIELD_BYTES, "%s", name);
		else
			snprintf(text, FIELD_BYTES, "%" PRIu64, value);
		break;
	default:
		snprintf(text, FIELD_BYTES, hex ? "0x%" PRIx64 : "%" PRId64,
			 (uint64_t)argument(value));
	}
}

static const struct fkt_column value_columns[] = {
	{ "Count", "count", FKT_COLUMN_NUMBER, 0 },
	{ "Sum", "sum", FKT_COLUMN_DURATION, 0 },
	{ "Average", "average", FKT_COLUMN_DURATION, 0 },
	SPREAD_COLUMNS,
};

#define VALUES (sizeof(value_columns) / sizeof(value_columns[0]))

/* In the place of a thread's name. */
static const struct fkt_process other_threads = { .tid = FKT_PID_UNKNOWN, .comm = OTHERS };

static void put_key(const struct by *by, unsigned int i, const struct fkt_column *column,
		    const struct group *group, bool others, bool hex, char text[FIELD_BYTES],
		    union fkt_cell *cell)
{
	bool thread = column->type == FKT_COLUMN_THREAD;
	bool people = fkt_format_for_people(by->context->out->format);

	*cell = (union fkt_cell){ 0 };
	if (others && !i && thread) {
		cell->thread = &other_threads;
	} else if (others && !i && (people || column->type == FKT_COLUMN_TEXT)) {
		cell->text = OTHERS;
	} else if (!others && group->key[i] != NO_VALUE && thread) {
		cell->thread = fkt_process(by->context->processes, (uint32_t)group->key[i]);
	} else if (!people && by->options->by[i] == BY_CALLER && group->key[i] == FKT_ROW_NONE) {
		; /* nobody: programs get nothing */
	} else if (!others && group->key[i] != NO_VALUE) {
		put_field(by, by->options->by[i], group->key[i], hex && people, text);
		cell->text = text;
	}
}

static void print_group(const struct by *by, struct fkt_output *out,
			const struct fkt_column *columns, const struct group *group, bool others,
			const bool hex[BY_MAX])
{
	const struct fkt_histogram *values = &group->values;
	char text[BY_MAX][FIELD_BYTES];
	unsigned int n = by->options->bys;
	union fkt_cell cells[BY_MAX + VALUES] = { 0 };

	for (unsigned int i = 0; i < n; i++)
		put_key(by, i, &columns[i], group, others, hex[i], text[i], &cells[i]);
	cells[n].number = group->count;
	for (unsigned int i = 1; i < VALUES; i++)
		cells[n + i].number = FKT_CELL_NONE;
	if (values->count) {
		cells[n + 1].number = values->sum;
		cells[n + 2].number = values->sum / values->count;
		put_spread(values, &cells[n + 3]);
	}
	fkt_table_row(out, "by", columns, cells, false);
}

static int by_print(const struct context *context, void *view)
{
	struct fkt_output *out = context->out;
	struct by *by = view;
	struct fkt_column columns[BY_MAX + VALUES + 1] = { 0 };
	struct group **groups;
	bool hex[BY_MAX];
	int status = 0;
	size_t count;

	for (unsigned int i = 0; i < by->options->bys; i++)
		columns[i] = field_columns[by->options->by[i]];
	memcpy(columns + by->options->bys, value_columns, sizeof(value_columns));
	groups = groups_sorted(by->groups, &count);
	if (!groups)
		return -ENOMEM;
	for (unsigned int i = 0; i < by->options->bys; i++) {
		hex[i] = is_hex(by, i, groups, count);
		if (by->options->by[i] < BY_ARG0 || !count || has_value(i, groups, count))
			continue;
		fprintf(stderr,
			"%s: --by=%s: nothing that was selected has such an argument; "
			"fkt_record --args records them\n",
			program_invocation_short_name, field_columns[by->options->by[i]].key);
		status = 1;
	}
	if (!count)
		tell_nothing(context, by->counts_events ? "call or event" : "call", false);
	else
		fkt_table_line(out, "%s", "");
	if (count || !fkt_format_for_people(out->format))
		fkt_table_begin(out, columns);
	for (size_t i = 0; i < count; i++)
		print_group(by, out, columns, groups[i], false, hex);
	if (groups_others(by->groups))
		print_group(by, out, columns, groups_others(by->groups), true, hex);
	free(groups);
	return status;
}

/* ---- the option ---- */

static int find_field(const char *name)
{
	for (size_t i = 0; i < sizeof(field_columns) / sizeof(field_columns[0]); i++)
		if (!strcmp(field_columns[i].key, name))
			return (int)i;
	return -1;
}

static void by_parse(struct argp_state *state, struct options *options, unsigned int option,
		     char *arg)
{
	int field;

	(void)option;
	if (!strcmp(arg, "stack") && !options->bys) {
		options->view[VIEW_by] = false;
		options->view[VIEW_stack] = true;
		return;
	}
	for (char *word = strtok(arg, ","); word; word = strtok(NULL, ",")) {
		if (!strcmp(word, "stack") || options->view[VIEW_stack])
			argp_error(state, "--by=stack is of events, and of nothing else besides");
		field = find_field(word);
		if (field < 0)
			argp_error(state,
				   "--by=%s: it can be function, caller, process, thread, cpu, "
				   "layer, code, errno, arg0 ... arg5, or several of them with "
				   "commas; or stack",
				   word);
		if (groups_by(options, (enum by_field)field))
			argp_error(state, "--by: %s is there twice", word);
		if (options->bys == BY_MAX)
			argp_error(state, "--by: no more than %d fields, please", BY_MAX);
		options->by[options->bys++] = (enum by_field)field;
	}
	if (!options->bys)
		argp_error(state, "--by: by what? By function, process, cpu, ...");
}

static const struct argp_option by_options[] = {
	{ .name = "by",
	  .arg = "FIELD,...",
	  .doc = "Calls in groups: by function, caller, process, thread, cpu, layer, code, errno, "
		 "arg0 ... arg5. stack: events by the stacks that they were recorded with, how "
		 "long threads were off the CPU there, and which waits they ended" },
	{ 0 },
};

const struct view view_by = {
	.name = "by",
	.wants = VIEW_ARGS | VIEW_LEADERS,
	.option = by_options,
	.parse = by_parse,
	.new = by_new,
	.event = by_event,
	.no_events = by_no_events,
	.leave = by_leave,
	.print = by_print,
	.free = by_free,
};

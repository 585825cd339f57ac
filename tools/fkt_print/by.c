// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls and events in groups, by what the user says. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/distance.h"
#include "print.h"

/* The value of a field that an event does not have. */
#define NO_VALUE (1ull << 63) /* less likely than -1 */

/* What begins the name of a recorded field. */
#define NAMED	 "arg:"

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
	[BY_NAMED] = { "", NAMED, FKT_COLUMN_JSON, 0 },
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
	struct result *result;	       /* by code; NULL: nobody asks */
	struct values *values[BY_MAX]; /* of those that are BY_NAMED */
	unsigned int counters;
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
	for (unsigned int i = 0; i < BY_MAX; i++)
		values_free(by->values[i]);
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
	by->counters = fkt_counters(context->trace);
	by->counts_events = by->options->selected.code.count || groups_by(by->options, BY_CODE) ||
			    groups_by(by->options, BY_NAMED);
	by->groups = groups_new();
	if (groups_by(by->options, BY_ERRNO))
		by->result = calloc(FKT_SLOT_CODES, sizeof(*by->result));
	if (!by->groups || (groups_by(by->options, BY_ERRNO) && !by->result))
		goto fail;
	for (unsigned int i = 0; i < by->options->bys; i++) {
		if (by->options->by[i] != BY_NAMED)
			continue;
		by->values[i] = values_new(context, by->options->by_named[i].name);
		if (!by->values[i])
			goto fail;
	}
	return by;

fail:
	by_free(by);
	return NULL;
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

/*
 * The value of a field that is named, of what began a call, or else of what ended it. An event that
 * is no call began, and nothing ends it.
 */
static int named_key(struct values *values, const struct fkt_event *entry, bool whole,
		     const struct fkt_event *exit, uint64_t *key)
{
	int found = values_get(values, entry, whole, key);

	return found || !exit ? found : values_get(values, exit, true, key);
}

/*
 * Return: 1; 0 when one of the fields that are named is not there, which leaves it out; a negative
 * errno value.
 */
static int get(struct by *by, const struct fkt_call *call, const struct fkt_event *entry,
	       bool whole, struct group **group)
{
	uint64_t key[BY_MAX] = { 0 };
	int found;

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
			key[i] = entry->code;
			break;
		case BY_ERRNO:
			key[i] = errno_key(by, call->exit);
			break;
		case BY_NAMED:
			found = named_key(by->values[i], entry, whole, call->exit, &key[i]);
			if (found <= 0)
				return found < 0 ? -ENOMEM : 0;
			break;
		default:
			key[i] = (unsigned int)(field - BY_ARG0) < entry->words
					 ? fkt_arg64(entry, 8 * (field - BY_ARG0))
					 : NO_VALUE;
		}
	}
	*group = groups_get(by->groups, key);
	return *group ? 1 : -ENOMEM;
}

static int by_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct by *by = view;
	const struct fkt_event entry = {
		.code = fkt_row_code(by->trace, call->row),
		.args = call->entry_args,
		.words = (uint8_t)call->entry_words,
		.cpu = call->cpu,
	};
	struct group *group;
	int found;

	if (!passes || call->partial)
		return 0;
	found = get(by, call, &entry, false, &group);
	if (found <= 0)
		return found;
	group->count++;
	for (unsigned int i = 0; call->counted && i < by->counters; i++)
		group->counted[i] += call->counted[i];
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
	struct group *group;
	int found = get(by, &call, event, true, &group);

	if (found <= 0)
		return found;
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

#define FIELD_BYTES (FKT_NAME_BYTES + VALUE_BYTES)
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

	if (by->options->by[i] < BY_ARG0 || by->options->by[i] == BY_NAMED)
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
		snprintf(text, FIELD_BYTES,
			 hex && !fkt_is_errno((uint64_t)argument(value)) ? "0x%" PRIx64
									 : "%" PRId64,
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
	} else if (!others && by->options->by[i] == BY_NAMED) {
		values_put(by->values[i], group->key[i], people, text);
		cell->text = text;
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
	union fkt_cell cells[BY_MAX + VALUES + FKT_COUNTERS_MAX] = { 0 };

	for (unsigned int i = 0; i < n; i++)
		put_key(by, i, &columns[i], group, others, hex[i], text[i], &cells[i]);
	cells[n].number = group->count;
	for (unsigned int i = 1; i < VALUES + by->counters; i++)
		cells[n + i].number = FKT_CELL_NONE;
	if (values->count) {
		cells[n + 1].number = values->sum;
		cells[n + 2].number = values->sum / values->count;
		put_spread(values, &cells[n + 3]);
		for (unsigned int i = 0; i < by->counters; i++)
			cells[n + VALUES + i].number = group->counted[i];
	}
	fkt_table_row(out, "by", columns, cells, false);
}

/* Whether a code has a field of that name; else, those that have come are what may be meant. */
static bool has_field(const struct context *context, struct fkt_near *near)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int count;

	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		if (!fkt_code_row(context->trace, code))
			continue;
		count = fkt_fields(context->trace, code, fields);
		for (unsigned int i = 0; i < count; i++) {
			if (!strcmp(fields[i].name, near->wanted))
				return true;
			if (context->analysis && fkt_analysis_code_count(context->analysis, code))
				fkt_near_show(near, fields[i].name);
		}
	}
	return false;
}

/* Complain of names that no field has. Return: whether there is such a one. */
static bool tell_unknown_fields(const struct by *by)
{
	const struct context *context = by->context;
	char meant[FKT_MEANT_BYTES];
	bool any = false;

	for (unsigned int i = 0; i < by->options->bys; i++) {
		struct fkt_near near = { .wanted = by->options->by_named[i].name };

		if (by->options->by[i] != BY_NAMED || has_field(context, &near))
			continue;
		any = true;
		fprintf(stderr, "%s: %s: --by=%s%s: no event has such a field%s\n",
			program_invocation_short_name, selection_path(&context->options->selected),
			NAMED, near.wanted, fkt_near_meant(&near, meant));
	}
	return any;
}

static int by_print(const struct context *context, void *view)
{
	struct fkt_output *out = context->out;
	struct by *by = view;
	struct fkt_column columns[BY_MAX + VALUES + FKT_COUNTERS_MAX + 1] = { 0 };
	struct group **groups;
	bool hex[BY_MAX];
	int status = 0;
	size_t count;

	for (unsigned int i = 0; i < by->options->bys; i++) {
		columns[i] = field_columns[by->options->by[i]];
		/* For programs a process is its number, and tid a thread's. */
		if (by->options->by[i] == BY_PROCESS)
			columns[i].key = "pid";
		if (by->options->by[i] != BY_NAMED)
			continue;
		columns[i].title = by->options->by_named[i].title;
		columns[i].key = by->options->by_named[i].key;
		/* Programs get numbers where all values are numbers. */
		columns[i].type = values_have_texts(by->values[i]) ? FKT_COLUMN_TEXT
								   : FKT_COLUMN_JSON;
	}
	memcpy(columns + by->options->bys, value_columns, sizeof(value_columns));
	counted_columns(by->trace, columns + by->options->bys + VALUES);
	groups = groups_sorted(by->groups, &count);
	if (!groups)
		return -ENOMEM;
	for (unsigned int i = 0; i < by->options->bys; i++) {
		hex[i] = is_hex(by, i, groups, count);
		if (by->options->by[i] < BY_ARG0 || by->options->by[i] == BY_NAMED || !count ||
		    has_value(i, groups, count))
			continue;
		fprintf(stderr,
			"%s: --by=%s: nothing that was selected has such an argument; "
			"fkt_record --args records them\n",
			program_invocation_short_name, field_columns[by->options->by[i]].key);
		status = 1;
	}
	if (!count && tell_unknown_fields(by))
		status = 1;
	else if (!count && groups_by(by->options, BY_NAMED))
		tell(context,
		     "nothing that was selected has such a field; fkt_record --args and -e record "
		     "them");
	else if (!count)
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

/* Group by the recorded field that a word of the option names. */
static void add_named(struct argp_state *state, struct options *options, const char *word)
{
	struct by_named *named = &options->by_named[options->bys];
	const char *name = word + strlen(NAMED);

	if (!*name || strlen(name) >= sizeof(named->name))
		argp_error(state, "--by=%s: no field has such a name", word);
	for (unsigned int i = 0; i < options->bys; i++)
		if (options->by[i] == BY_NAMED && !strcmp(options->by_named[i].name, name))
			argp_error(state, "--by: %s is there twice", word);
	strcpy(named->name, name);
	snprintf(named->title, sizeof(named->title), "Arg %s", name);
	snprintf(named->key, sizeof(named->key), "arg_%s", name);
	options->by[options->bys++] = BY_NAMED;
}

/* Group by what a word of the option says. */
static void add_word(struct argp_state *state, struct options *options, const char *word)
{
	struct fkt_near near = { .wanted = word };
	char meant[FKT_MEANT_BYTES];
	int field = find_field(word);

	if (options->bys == BY_MAX)
		argp_error(state, "--by: no more than %d fields, please", BY_MAX);
	if (!strncmp(word, NAMED, strlen(NAMED))) {
		add_named(state, options, word);
		return;
	}
	for (size_t i = 0; i < sizeof(field_columns) / sizeof(field_columns[0]); i++)
		fkt_near_show(&near, field_columns[i].key);
	fkt_near_show(&near, "stack");
	if (field < 0)
		argp_error(state,
			   "--by=%s: it can be function, caller, process, thread, cpu, layer, "
			   "code, errno, arg0 ... arg5, arg:NAME, or several of them with commas; "
			   "or stack%s",
			   word, fkt_near_meant(&near, meant));
	if (groups_by(options, (enum by_field)field))
		argp_error(state, "--by: %s is there twice", word);
	options->by[options->bys++] = (enum by_field)field;
}

static void by_parse(struct argp_state *state, struct options *options, unsigned int option,
		     char *arg)
{
	(void)option;
	if (!strcmp(arg, "stack") && !options->bys) {
		options->view[VIEW_by] = false;
		options->view[VIEW_stack] = true;
		return;
	}
	for (char *word = strtok(arg, ","); word; word = strtok(NULL, ",")) {
		if (!strcmp(word, "stack") || options->view[VIEW_stack])
			argp_error(state, "--by=stack is of events, and of nothing else besides");
		add_word(state, options, word);
	}
	if (!options->bys)
		argp_error(state, "--by: by what? By function, process, cpu, ...");
}

static const struct argp_option by_options[] = {
	{ .name = "by",
	  .arg = "FIELD,...",
	  .doc = "Calls in groups: by function, caller, process, thread, cpu, layer, code, errno, "
		 "arg0 ... arg5, or arg:NAME, a field that events and calls were recorded with; "
		 "then events count as well. stack: events by the stacks that they were recorded with, how "
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

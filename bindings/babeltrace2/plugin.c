// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source.fkt.fs: traces for babeltrace2.
 *
 * Each input is a trace of its own with a port. A CPU is a stream, in packets of so many events; a
 * loss stands between two of them. Where events are missing, an empty packet ends the time in
 * which they are: in CTF, what was discarded is told by a packet's end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <babeltrace2/babeltrace.h>

#include <fkt/version.h>

#include "lttng.h"

/* So much of a stream is looked through where a moment is searched for. */
#define PACKET_EVENTS 8192
#define CPUS	      (UINT16_MAX + 1)
#define NS_PER_SECOND 1000000000

/* ---- component ---- */

struct input {
	char *path;
	struct fkt_trace *trace;
};

struct source {
	uint64_t count;
	struct input *input;
};

static void warn(void *arg, const char *sentence)
{
	const struct input *input = arg;

	fprintf(stderr, "source.fkt.fs: %s: %s\n", input->path, sentence);
}

static void source_free(struct source *source)
{
	for (uint64_t i = 0; i < source->count; i++) {
		fkt_close(source->input[i].trace);
		free(source->input[i].path);
	}
	free(source->input);
	free(source);
}

static bool open_input(bt_self_component *self, struct input *input, const bt_value *path)
{
	char error[FKT_ERROR_BYTES];

	if (!bt_value_is_string(path)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			self, "the parameter \"inputs\" is to be an array of strings");
		return false;
	}
	input->path = strdup(bt_value_string_get(path));
	if (!input->path)
		return false;
	input->trace = fkt_open(input->path, warn, input, error);
	if (!input->trace)
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, "%s: %s", input->path,
								    error);
	return input->trace;
}

static bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self_source,
		  bt_self_component_source_configuration *config, const bt_value *params,
		  void *data)
{
	bt_self_component *self = bt_self_component_source_as_self_component(self_source);
	const bt_value *inputs = bt_value_map_borrow_entry_value_const(params, "inputs");
	struct source *source;
	char name[32];

	(void)config;
	(void)data;
	if (!inputs || !bt_value_is_array(inputs) || bt_value_array_is_empty(inputs)) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
			self, "it needs traces: -p 'inputs=[\"trace_file\"]'");
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	source = calloc(1, sizeof(*source));
	if (!source)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	source->count = bt_value_array_get_length(inputs);
	source->input = calloc(source->count, sizeof(*source->input));
	if (!source->input)
		goto fail;
	for (uint64_t i = 0; i < source->count; i++) {
		if (!open_input(self, &source->input[i],
				bt_value_array_borrow_element_by_index_const(inputs, i)))
			goto fail;
		snprintf(name, sizeof(name), "trace%llu", (unsigned long long)i);
		if (bt_self_component_source_add_output_port(self_source, name, &source->input[i],
							     NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			goto fail;
	}
	bt_self_component_set_data(self, source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;

fail:
	if (!source->input)
		source->count = 0;
	source_free(source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

static void source_finalize(bt_self_component_source *self)
{
	source_free(bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

/* ---- whether a file is a trace ---- */

static bool is_trace(const char *path)
{
	char magic[sizeof(FKT_FILE_MAGIC) - 1];
	FILE *file = fopen(path, "rb");
	bool is = file && fread(magic, sizeof(magic), 1, file) == 1 &&
		  !memcmp(magic, FKT_FILE_MAGIC, sizeof(magic));

	if (file)
		fclose(file);
	return is;
}

static bt_component_class_query_method_status
source_query(bt_self_component_class_source *self, bt_private_query_executor *executor,
	     const char *object, const bt_value *params, void *data, const bt_value **result)
{
	const bt_value *type, *input;

	(void)self;
	(void)executor;
	(void)data;
	if (strcmp(object, "babeltrace.support-info"))
		return BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_UNKNOWN_OBJECT;
	type = bt_value_map_borrow_entry_value_const(params, "type");
	input = bt_value_map_borrow_entry_value_const(params, "input");
	*result = bt_value_real_create_init(
		type && bt_value_is_string(type) && input && bt_value_is_string(input) &&
				!strcmp(bt_value_string_get(type), "file") &&
				is_trace(bt_value_string_get(input))
			? 1
			: 0);
	return *result ? BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_OK
		       : BT_COMPONENT_CLASS_QUERY_METHOD_STATUS_MEMORY_ERROR;
}

/* ---- iterator ---- */

/**
 * struct stream - a CPU's
 * @stream: the stream, NULL: none yet
 * @packet: the one that is open, or NULL
 * @events: in it
 * @end: when the last packet ended
 * @packets: whether there was one
 */
struct stream {
	bt_stream *stream;
	bt_packet *packet;
	uint32_t events;
	uint64_t end;
	bool packets;
};

struct iterator {
	bt_self_message_iterator *self;
	struct input *input;
	struct fkt_reader *reader;
	struct fkt_processes *processes;
	struct lttng *lttng;
	struct lttng_event event;
	struct fkt_stack **stack; /* CPUS: of the next event of a lane */
	bool *has_stack;	  /* CPUS */
	bt_trace_class *trace_class;
	bt_clock_class *clock_class;
	bt_stream_class *stream_class;
	bt_trace *trace;
	struct stream **stream; /* CPUS */
	const bt_message **queue;
	uint64_t head;
	uint64_t tail;
	uint64_t room;
	uint64_t last;		/* stamp of the last message */
	struct fkt_event first; /* read ahead, for the clock's sake */
	int has_first;
	bool begun;
	bool ended;
};

/* What a callee of ours returns: 0, or a negative errno value. */

static int push(struct iterator *it, const bt_message *message)
{
	const bt_message **queue;
	uint64_t room;

	if (!message)
		return -ENOMEM;
	if (it->head == it->tail)
		it->head = it->tail = 0;
	if (it->tail == it->room) {
		room = it->room ? it->room * 2 : 64;
		queue = realloc(it->queue, room * sizeof(*queue));
		if (!queue) {
			bt_message_put_ref(message);
			return -ENOMEM;
		}
		it->queue = queue;
		it->room = room;
	}
	it->queue[it->tail++] = message;
	return 0;
}

static int open_packet(struct iterator *it, struct stream *stream, uint16_t cpu, uint64_t stamp)
{
	bt_field *context;

	stream->packet = bt_packet_create(stream->stream);
	if (!stream->packet)
		return -ENOMEM;
	context = bt_packet_borrow_context_field(stream->packet);
	bt_field_integer_unsigned_set_value(
		bt_field_structure_borrow_member_field_by_index(context, 0), cpu);
	stream->events = 0;
	stream->packets = true;
	return push(it, bt_message_packet_beginning_create_with_default_clock_snapshot(
				it->self, stream->packet, stamp));
}

static int close_packet(struct iterator *it, struct stream *stream, uint64_t stamp)
{
	int ret;

	if (!stream->packet)
		return 0;
	ret = push(it, bt_message_packet_end_create_with_default_clock_snapshot(
			       it->self, stream->packet, stamp));
	bt_packet_put_ref(stream->packet);
	stream->packet = NULL;
	stream->end = stamp;
	return ret;
}

/* The stream of a CPU, which begins when it is first asked for; NULL without memory. */
static struct stream *stream_of(struct iterator *it, uint16_t cpu)
{
	struct stream *stream = it->stream[cpu];
	char name[16];

	if (stream)
		return stream;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	it->stream[cpu] = stream;
	stream->stream = bt_stream_create_with_id(it->stream_class, it->trace, cpu);
	snprintf(name, sizeof(name), "kernel_%u", cpu);
	if (!stream->stream ||
	    bt_stream_set_name(stream->stream, name) != BT_STREAM_SET_NAME_STATUS_OK ||
	    push(it, bt_message_stream_beginning_create(it->self, stream->stream)) < 0)
		return NULL;
	return stream;
}

/* ---- classes ---- */

/* Add a field to a structure, whose reference is then the structure's. */
static int add_field(bt_field_class *structure, const char *name, bt_field_class *field)
{
	int ret = field && bt_field_class_structure_append_member(structure, name, field) ==
					  BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK
			  ? 0
			  : -ENOMEM;

	bt_field_class_put_ref(field);
	return ret;
}

static bt_field_class *integer_class(struct iterator *it, bool is_signed, unsigned int bytes,
				     bool hex)
{
	bt_field_class *class = is_signed ? bt_field_class_integer_signed_create(it->trace_class)
					  : bt_field_class_integer_unsigned_create(it->trace_class);

	if (!class)
		return NULL;
	bt_field_class_integer_set_field_value_range(class, bytes * 8);
	if (hex)
		bt_field_class_integer_set_preferred_display_base(
			class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static bt_field_class *field_class(struct iterator *it, const struct lttng_field *field)
{
	bt_field_class *class, *element;

	if (field->kind == LTTNG_STRING)
		return bt_field_class_string_create(it->trace_class);
	class = integer_class(it, field->is_signed, field->bytes, field->hex);
	if (field->kind != LTTNG_ARRAY || !class)
		return class;
	element = class;
	class = bt_field_class_array_static_create(it->trace_class, element, field->elements);
	bt_field_class_put_ref(element);
	return class;
}

/* Those of a stack. */
#define STACK_FIELDS 3

/*
 * A stack of an event: how many addresses, the addresses, and what they are the addresses of. It
 * stands behind the event's own fields, for babeltrace2 2.0 does not read back the arrays that it
 * has written into an event's own context.
 */
static int add_stack(struct iterator *it, bt_field_class *payload, const char *stack)
{
	bt_field_class *length = integer_class(it, false, 4, false);
	bt_field_class *address = integer_class(it, false, 8, true);
	bt_field_class *name = bt_field_class_string_create(it->trace_class);
	char of_length[32], of_addresses[32], of_names[32];
	int ret = -ENOMEM;

	snprintf(of_length, sizeof(of_length), "callstack_%s_length", stack);
	snprintf(of_addresses, sizeof(of_addresses), "callstack_%s", stack);
	snprintf(of_names, sizeof(of_names), "callstack_%s_names", stack);
	if (length && address && name &&
	    bt_field_class_structure_append_member(payload, of_length, length) ==
		    BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK &&
	    !add_field(payload, of_addresses,
		       bt_field_class_array_dynamic_create(it->trace_class, address, length)) &&
	    !add_field(payload, of_names,
		       bt_field_class_array_dynamic_create(it->trace_class, name, length)))
		ret = 0;
	bt_field_class_put_ref(length);
	bt_field_class_put_ref(address);
	bt_field_class_put_ref(name);
	return ret;
}

/* The event class of a class of events; its reference is the stream class's. */
static bt_event_class *event_class(struct iterator *it, const struct lttng_class *of)
{
	bt_event_class *class = of->user;
	bt_field_class *payload;
	int ret = -ENOMEM;

	if (class)
		return class;
	class = bt_event_class_create(it->stream_class);
	payload = bt_field_class_structure_create(it->trace_class);
	if (!class || !payload)
		goto out;
	ret = bt_event_class_set_name(class, of->name) == BT_EVENT_CLASS_SET_NAME_STATUS_OK
		      ? 0
		      : -ENOMEM;
	for (unsigned int i = 0; !ret && i < of->count; i++)
		ret = add_field(payload, of->field[i].name, field_class(it, &of->field[i]));
	for (enum lttng_stack which = 0; !ret && which < LTTNG_STACKS; which++)
		if (of->stacks & 1u << which)
			ret = add_stack(it, payload, lttng_stack_name[which]);
	if (!ret && bt_event_class_set_payload_field_class(class, payload) !=
			    BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK)
		ret = -ENOMEM;
out:
	bt_field_class_put_ref(payload);
	/* The stream class has a reference of its own. */
	bt_event_class_put_ref(class);
	if (ret < 0)
		return NULL;
	/* Classes are handed out as const, for all but this. */
	((struct lttng_class *)of)->user = class;
	return class;
}

/* ---- events ---- */

static uint64_t array_element(const char *bytes, unsigned int size, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 64 - 8 * size;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)(unsigned char)bytes[i] << 8 * i;
	return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static void set_integer(bt_field *to, bool is_signed, uint64_t value)
{
	if (is_signed)
		bt_field_integer_signed_set_value(to, (int64_t)value);
	else
		bt_field_integer_unsigned_set_value(to, value);
}

static int set_field(bt_field *to, const struct lttng_field *field, const struct lttng_value *value)
{
	if (field->kind == LTTNG_STRING)
		return bt_field_string_set_value(to, value->text) ==
				       BT_FIELD_STRING_SET_VALUE_STATUS_OK
			       ? 0
			       : -ENOMEM;
	if (field->kind == LTTNG_INTEGER) {
		set_integer(to, field->is_signed, value->number);
		return 0;
	}
	for (unsigned int i = 0; i < field->elements; i++)
		set_integer(bt_field_array_borrow_element_field_by_index(to, i), field->is_signed,
			    array_element(value->text + (size_t)i * field->bytes, field->bytes,
					  field->is_signed));
	return 0;
}

/* Into the three fields of a stack, of which this is the first one. */
static int set_stack(struct iterator *it, bt_field *payload, unsigned int field,
		     const struct fkt_stack *stack, enum lttng_stack which)
{
	bt_field *addresses = bt_field_structure_borrow_member_field_by_index(payload, field + 1);
	bt_field *names = bt_field_structure_borrow_member_field_by_index(payload, field + 2);
	char name[FKT_FRAME_BYTES + 1];
	unsigned int first, count;

	count = lttng_frames(stack, which, &first);
	bt_field_integer_unsigned_set_value(
		bt_field_structure_borrow_member_field_by_index(payload, field), count);
	if (bt_field_array_dynamic_set_length(addresses, count) !=
		    BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK ||
	    bt_field_array_dynamic_set_length(names, count) !=
		    BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(addresses, i),
			lttng_address(stack->frame[first + i]));
		*fkt_put_frame(it->input->trace, name, stack, first + i) = '\0';
		if (bt_field_string_set_value(
			    bt_field_array_borrow_element_field_by_index(names, i), name) !=
		    BT_FIELD_STRING_SET_VALUE_STATUS_OK)
			return -ENOMEM;
	}
	return 0;
}

static int fill_event(struct iterator *it, bt_event *to, const struct lttng_event *event)
{
	bt_field *context = bt_event_borrow_common_context_field(to);
	bt_field *payload = bt_event_borrow_payload_field(to);
	const struct lttng_class *class = event->class;
	unsigned int field = class->count;
	int ret;

	bt_field_integer_signed_set_value(
		bt_field_structure_borrow_member_field_by_index(context, 0), event->tid);
	if (bt_field_string_set_value(bt_field_structure_borrow_member_field_by_index(context, 1),
				      event->procname) != BT_FIELD_STRING_SET_VALUE_STATUS_OK)
		return -ENOMEM;
	for (unsigned int i = 0; i < class->count; i++) {
		ret = set_field(bt_field_structure_borrow_member_field_by_index(payload, i),
				&class->field[i], &event->value[i]);
		if (ret < 0)
			return ret;
	}
	for (enum lttng_stack which = 0; which < LTTNG_STACKS; which++) {
		if (!(class->stacks & 1u << which))
			continue;
		ret = set_stack(it, payload, field, event->stack, which);
		if (ret < 0)
			return ret;
		field += STACK_FIELDS;
	}
	return 0;
}

static int push_event(struct iterator *it, const struct lttng_event *event)
{
	const bt_event_class *class = event_class(it, event->class);
	struct stream *stream = stream_of(it, event->cpu);
	bt_message *message;
	int ret;

	if (!class || !stream)
		return -ENOMEM;
	if (event->stamp > it->last)
		it->last = event->stamp;
	if (!stream->packet) {
		ret = open_packet(it, stream, event->cpu, it->last);
		if (ret < 0)
			return ret;
	}
	message = bt_message_event_create_with_packet_and_default_clock_snapshot(
		it->self, class, stream->packet, it->last);
	if (!message)
		return -ENOMEM;
	ret = fill_event(it, bt_message_event_borrow_event(message), event);
	if (ret < 0) {
		bt_message_put_ref(message);
		return ret;
	}
	ret = push(it, message);
	if (ret < 0 || ++stream->events < PACKET_EVENTS)
		return ret;
	return close_packet(it, stream, it->last);
}

/* Something is missing: between two packets, and up to the end of an empty one. */
static int push_gap(struct iterator *it, const struct fkt_event *event)
{
	const struct fkt_gap *gap = fkt_gap(it->reader);
	struct stream *stream;
	bt_message *message;
	uint64_t from;
	int ret;

	lttng_gap(it->lttng, gap);
	it->has_stack[gap->lane] = false;
	/* Of a lane that all CPUs share, on the one that the event behind it has. */
	stream = stream_of(it, event->cpu == FKT_CPU_ANY ? 0 : event->cpu);
	if (!stream)
		return -ENOMEM;
	ret = close_packet(it, stream, it->last);
	if (ret < 0)
		return ret;
	if (event->stamp > it->last)
		it->last = event->stamp;
	from = stream->packets ? stream->end : it->last;
	message = bt_message_discarded_events_create_with_default_clock_snapshots(
		it->self, stream->stream, from, it->last);
	if (!message)
		return -ENOMEM;
	/* How many events a page had that is missing, or that was overwritten, is not known. */
	if (gap->kind == FKT_GAP_LOST || gap->kind == FKT_GAP_DISCARDED)
		bt_message_discarded_events_set_count(message, gap->count);
	ret = push(it, message);
	if (ret < 0)
		return ret;
	ret = open_packet(it, stream, event->cpu == FKT_CPU_ANY ? 0 : event->cpu, it->last);
	return ret < 0 ? ret : close_packet(it, stream, it->last);
}

static int push_statedump(struct iterator *it, const struct fkt_event *first)
{
	uint32_t index = 0;
	int ret;

	while ((ret = lttng_statedump(it->lttng, &index, first, &it->event)) > 0) {
		ret = push_event(it, &it->event);
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* Keep a stack for the next event of its lane. */
static int keep_stack(struct iterator *it, const struct fkt_event *event)
{
	struct fkt_stack **stack = &it->stack[event->lane];

	if (!*stack)
		*stack = calloc(1, sizeof(**stack));
	if (!*stack)
		return -ENOMEM;
	fkt_stack_event(it->reader, event, *stack);
	it->has_stack[event->lane] = (*stack)->known;
	return 0;
}

static int take_event(struct iterator *it, const struct fkt_event *event)
{
	const struct fkt_stack *stack = NULL;
	int ret;

	if (!it->begun) {
		it->begun = true;
		ret = push_statedump(it, event);
		if (ret < 0)
			return ret;
	}
	if (event->code == FKT_CODE_STACK)
		return keep_stack(it, event);
	if (it->has_stack[event->lane])
		stack = it->stack[event->lane];
	it->has_stack[event->lane] = false;
	if (fkt_is_process_event(event->code))
		fkt_processes_event(it->processes, event);
	ret = lttng_event(it->lttng, event, stack, &it->event);
	return ret > 0 ? push_event(it, &it->event) : ret;
}

static int push_end(struct iterator *it)
{
	int ret;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct stream *stream = it->stream[cpu];

		if (!stream)
			continue;
		ret = close_packet(it, stream, it->last);
		if (!ret)
			ret = push(it, bt_message_stream_end_create(it->self, stream->stream));
		if (ret < 0)
			return ret;
	}
	if (lttng_left_out(it->lttng))
		fprintf(stderr,
			"source.fkt.fs: %s: %llu exits from interrupts were left out, whose "
			"entries are not there\n",
			it->input->path, (unsigned long long)lttng_left_out(it->lttng));
	it->ended = true;
	return 0;
}

/* Read on until there is a message, or no more. */
static int produce(struct iterator *it)
{
	struct fkt_event event;
	int what;

	if (it->has_first) {
		what = it->has_first;
		event = it->first;
		it->has_first = 0;
	} else {
		what = fkt_next(it->reader, &event);
	}
	switch (what) {
	case FKT_EVENT:
		return take_event(it, &event);
	case FKT_GAP:
		return push_gap(it, &event);
	case FKT_END:
		return push_end(it);
	case FKT_WAIT:
		return 0;
	default:
		return what;
	}
}

static bt_message_iterator_class_next_method_status iterator_next(bt_self_message_iterator *self,
								  bt_message_array_const messages,
								  uint64_t capacity,
								  uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	int ret = 0;

	while (!it->ended && it->tail - it->head < capacity && !ret)
		ret = produce(it);
	if (ret < 0) {
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
			self, "%s: %s", it->input->path, strerror(-ret));
		return ret == -ENOMEM ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR
				      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	for (*count = 0; *count < capacity && it->head < it->tail; ++*count)
		messages[*count] = it->queue[it->head++];
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

/* ---- what the trace is ---- */

/*
 * The clock counts cycles, at the frequency that the trace has, and says when it was 0: so that
 * a reader's time is that of the time of day, as fkt_wall_ns() has it at the first event.
 */
static int set_clock(struct iterator *it)
{
	const struct fkt_trace *trace = it->input->trace;
	const uint64_t stamp = it->has_first ? it->first.stamp : 0, span = 1ull << 40;
	bool wall = fkt_has_wall_clock(trace);
	long double frequency = NS_PER_SECOND, offset;
	int64_t ns, seconds = 0;
	uint64_t hertz, cycles = 0;

	if (fkt_has_clock(trace)) {
		ns = wall ? fkt_wall_ns(trace, stamp + span) - fkt_wall_ns(trace, stamp)
			  : fkt_cycles_to_ns(trace, (int64_t)span);
		if (ns > 0)
			frequency = (long double)span * NS_PER_SECOND / ns;
	}
	hertz = frequency < 1 ? 1 : (uint64_t)(frequency + 0.5L);
	if (wall) {
		offset = fkt_wall_ns(trace, stamp) - (long double)stamp * NS_PER_SECOND / hertz;
		seconds = (int64_t)(offset / NS_PER_SECOND);
		offset -= (long double)seconds * NS_PER_SECOND;
		if (offset < 0) {
			seconds--;
			offset += NS_PER_SECOND;
		}
		cycles = (uint64_t)(offset * hertz / NS_PER_SECOND);
		if (cycles >= hertz)
			cycles = hertz - 1;
	}
	bt_clock_class_set_frequency(it->clock_class, hertz);
	bt_clock_class_set_offset(it->clock_class, seconds, cycles);
	bt_clock_class_set_origin_is_unix_epoch(it->clock_class, wall);
	return bt_clock_class_set_name(it->clock_class, "fkt") == BT_CLOCK_CLASS_SET_NAME_STATUS_OK
		       ? 0
		       : -ENOMEM;
}

static int set_text(struct iterator *it, const char *key, const char *value)
{
	return !value || bt_trace_set_environment_entry_string(it->trace, key, value) ==
				       BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK
		       ? 0
		       : -ENOMEM;
}

static int set_number(struct iterator *it, const char *key, int64_t value)
{
	return bt_trace_set_environment_entry_integer(it->trace, key, value) ==
			       BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK
		       ? 0
		       : -ENOMEM;
}

/* By these, readers choose what the events are taken for. */
static int set_environment(struct iterator *it)
{
	const struct fkt_trace *trace = it->input->trace;

	bt_trace_set_uuid(it->trace, fkt_header(trace)->id);
	if (bt_trace_set_name(it->trace, "kernel") != BT_TRACE_SET_NAME_STATUS_OK)
		return -ENOMEM;
	return set_text(it, "domain", "kernel") || set_text(it, "tracer_name", "lttng-modules") ||
			       set_number(it, "tracer_major", 2) ||
			       set_number(it, "tracer_minor", 13) ||
			       set_number(it, "tracer_patchlevel", 0) ||
			       set_text(it, "hostname", fkt_info(trace, "nodename")) ||
			       set_text(it, "sysname", fkt_info(trace, "sysname")) ||
			       set_text(it, "kernel_release", fkt_info(trace, "release")) ||
			       set_text(it, "kernel_version", fkt_info(trace, "version")) ||
			       set_text(it, "architecture", fkt_info(trace, "machine")) ||
			       set_text(it, "fkt_version", fkt_info(trace, "fkt_version")) ||
			       set_text(it, "fkt_command", fkt_info(trace, "command"))
		       ? -ENOMEM
		       : 0;
}

static int set_stream_class(struct iterator *it)
{
	bt_field_class *packet = bt_field_class_structure_create(it->trace_class);
	bt_field_class *event = bt_field_class_structure_create(it->trace_class);
	int ret = -ENOMEM;

	if (!packet || !event || add_field(packet, "cpu_id", integer_class(it, false, 4, false)) ||
	    add_field(event, "tid", integer_class(it, true, 4, false)) ||
	    add_field(event, "procname", bt_field_class_string_create(it->trace_class)))
		goto out;
	if (bt_stream_class_set_default_clock_class(it->stream_class, it->clock_class) !=
	    BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK)
		goto out;
	bt_stream_class_set_assigns_automatic_stream_id(it->stream_class, BT_FALSE);
	bt_stream_class_set_supports_packets(it->stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(it->stream_class, BT_TRUE, BT_TRUE);
	if (bt_stream_class_set_packet_context_field_class(it->stream_class, packet) ==
		    BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK &&
	    bt_stream_class_set_event_common_context_field_class(it->stream_class, event) ==
		    BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK)
		ret = 0;
out:
	bt_field_class_put_ref(packet);
	bt_field_class_put_ref(event);
	return ret;
}

static void iterator_free(struct iterator *it)
{
	for (uint32_t cpu = 0; it->stream && cpu < CPUS; cpu++) {
		if (!it->stream[cpu])
			continue;
		bt_packet_put_ref(it->stream[cpu]->packet);
		bt_stream_put_ref(it->stream[cpu]->stream);
		free(it->stream[cpu]);
	}
	while (it->head < it->tail)
		bt_message_put_ref(it->queue[it->head++]);
	free(it->queue);
	free(it->stream);
	bt_trace_put_ref(it->trace);
	bt_stream_class_put_ref(it->stream_class);
	bt_clock_class_put_ref(it->clock_class);
	bt_trace_class_put_ref(it->trace_class);
	for (uint32_t lane = 0; it->stack && lane < CPUS; lane++)
		free(it->stack[lane]);
	free(it->stack);
	free(it->has_stack);
	lttng_free(it->lttng);
	fkt_processes_free(it->processes);
	fkt_reader_free(it->reader);
	free(it);
}

/* Read up to the first event: a stream knows no other moment of its own. */
static int read_first(struct iterator *it)
{
	int what;

	while ((what = fkt_next(it->reader, &it->first)) == FKT_WAIT)
		continue;
	it->has_first = what > 0 ? what : 0;
	return what < 0 ? what : 0;
}

static bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		    bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *it = calloc(1, sizeof(*it));

	(void)config;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->self = self;
	it->input = bt_self_component_port_get_data(
		bt_self_component_port_output_as_self_component_port(port));
	it->reader = fkt_reader_new(it->input->trace);
	it->processes = fkt_processes_new(it->input->trace);
	it->lttng = it->processes ? lttng_new(it->input->trace, it->processes) : NULL;
	it->stack = calloc(CPUS, sizeof(*it->stack));
	it->has_stack = calloc(CPUS, sizeof(*it->has_stack));
	it->stream = calloc(CPUS, sizeof(*it->stream));
	it->trace_class = bt_trace_class_create(component);
	it->clock_class = bt_clock_class_create(component);
	if (!it->reader || !it->lttng || !it->stack || !it->has_stack || !it->stream ||
	    !it->trace_class || !it->clock_class)
		goto fail;
	it->stream_class = bt_stream_class_create(it->trace_class);
	it->trace = bt_trace_create(it->trace_class);
	if (!it->stream_class || !it->trace || read_first(it) < 0 || set_clock(it) < 0 ||
	    set_environment(it) < 0 || set_stream_class(it) < 0)
		goto fail;
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;

fail:
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
		self, "%s: it can't be read, or there is no memory", it->input->path);
	iterator_free(it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

static void iterator_finalize(bt_self_message_iterator *self)
{
	iterator_free(bt_self_message_iterator_get_data(self));
}

/* ---- the plugin ---- */

BT_PLUGIN_MODULE();
BT_PLUGIN(fkt);
BT_PLUGIN_DESCRIPTION("Traces of FKT, Fast Kernel Tracing");
BT_PLUGIN_LICENSE("GPL-2.0-or-later");
BT_PLUGIN_SOURCE_COMPONENT_CLASS(fs, iterator_next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_DESCRIPTION(fs, "Read a trace of FKT");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_HELP(
	fs,
	"inputs=[\"trace_file\",…]: the traces. Events have the names of LTTng's kernel tracer.");
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(fs, source_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(fs, source_finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_QUERY_METHOD(fs, source_query);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(fs, iterator_initialize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(fs, iterator_finalize);

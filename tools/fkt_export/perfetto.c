// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perfetto's protocol buffers, as its own recorder of ftrace writes them: perfetto.proto has the
 * messages. Events of a CPU are gathered in a bundle, in their order; bundles of different CPUs
 * come as they are full, and readers sort them.
 *
 *	system calls, functions		sys_enter and sys_exit, funcgraph_entry and _exit: slices
 *	interrupts			irq_handler, softirq
 *	threads				sched_switch, sched_waking, task_newtask, task_rename, …
 *	samples				perf_sample, with the stack
 *	all else			an instant of the thread, with its fields
 *
 * A function whose exit is not recorded is an instant: its slice would never end.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bindings/babeltrace2/lttng.h"
#include "common/sample.h"
#include "format.h"
#include "interned.h"
#include "protobuf.h"
#include "trace/fields.h"
#include "trace/put.h"

/* Fields of TracePacket. */
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_SYSTEM_INFO = 45,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
};

/* Fields of InternedData. */
enum {
	INTERNED_EVENT = 2,
	INTERNED_FUNCTION = 5,
	INTERNED_FRAME = 6,
	INTERNED_CALLSTACK = 7,
	INTERNED_PATH = 17,
	INTERNED_MAPPING = 19,
	INTERNED_SYMBOL = 26,
};

/* Fields of FtraceEvent. */
enum {
	EVENT_TIMESTAMP = 1,
	EVENT_PID = 2,
	EVENT_SWITCH = 4,
	EVENT_WAKING = 20,
	EVENT_SOFTIRQ_ENTRY = 24,
	EVENT_SOFTIRQ_EXIT = 25,
	EVENT_SOFTIRQ_RAISE = 26,
	EVENT_IRQ_ENTRY = 36,
	EVENT_IRQ_EXIT = 37,
	EVENT_WAKEUP_NEW = 114,
	EVENT_NEWTASK = 235,
	EVENT_RENAME = 236,
	EVENT_PROCESS_EXIT = 238,
	EVENT_PROCESS_FREE = 240,
	EVENT_SYS_ENTER = 329,
	EVENT_SYS_EXIT = 330,
	EVENT_FUNCTION_ENTRY = 437,
	EVENT_FUNCTION_EXIT = 438,
};

/* One sequence of packets has it all; its first packet begins the state that others need. */
#define SEQUENCE	  1
#define FLAGS_CLEARED	  1
#define FLAGS_NEEDED	  2

#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_BOOTTIME 6

/* A bundle is written when it has this much, and has room for one more event then. */
#define BUNDLE_BYTES	  65536
#define EVENT_BYTES	  128

/* A thread's name with its NUL; an IRQ's, which takes what is left of a short event. */
#define IRQ_NAME_BYTES	  64

/* trace_processor refuses a trace with more. */
#define CPUS_MAX	  1024

#define DEFAULT_PRIO	  120
#define KTHREADD_PID	  2

/* Numbers of interrupt vectors, which are drawn as IRQs, begin above those of IRQs. */
#define VECTOR_IRQ	  0x10000
#define TYPE_INSTANT	  3
#define UUID_THREADS	  0x464b540000000000 /* + number of the thread */
#define UUID_CPUS	  0x464b550000000000 /* + number of the CPU */
#define ANNOTATION_BYTES  1024

/* Files of programs that are told apart; all others are OBJECT_OTHER. */
#define OBJECTS_MAX	  1024
#define OBJECT_OTHER	  "[unknown]"
/* The modes of a sample. */
#define MODE_KERNEL	  1
#define MODE_USER	  2
#define STACK_BYTES	  (256 + FKT_STACK_FRAMES_BOTH * (PB_VARINT_BYTES + 1))

/* What becomes of the events of a code. */
enum as {
	AS_UNKNOWN, /* it was not looked at */
	AS_NOTHING,
	AS_SYS_ENTER,
	AS_SYS_EXIT,
	AS_FUNCTION_ENTRY,
	AS_FUNCTION_EXIT,
	AS_VECTOR_ENTRY,
	AS_VECTOR_EXIT,
	AS_IRQ_ENTRY,
	AS_IRQ_EXIT,
	AS_SOFTIRQ,
	AS_SWITCH,
	AS_WAKING,
	AS_PROCESS,
	AS_SAMPLE,
	AS_INSTANT,
};

/**
 * struct code - what is known of a code
 * @as: enum as
 * @by_address: of a function: its events have an address, which says which one it is
 * @number: of a system call, of a vector, of a softirq's field; in perfetto.proto's numbers
 * @iid: number of the interned name, 0: it has not been written yet
 */
struct code {
	uint8_t as;
	bool by_address;
	uint32_t number;
	uint32_t iid;
};

/**
 * struct bundle - events of a CPU that have not gone out
 * @data: the events; NULL: the CPU has had none
 * @end: behind them
 * @lost: events are missing before them
 * @described: the track of what is the CPU's own is
 */
struct bundle {
	uint8_t *data;
	uint8_t *end;
	bool lost;
	bool described;
};

/**
 * struct thread - what is known of a thread
 * @prio: when it was last woken
 * @cpu: where it last ran, + 1; 0: nowhere yet
 * @described: its track is
 */
struct thread {
	int32_t prio;
	uint32_t cpu : 17;
	uint32_t described : 1;
};

struct perfetto {
	struct export *export;
	struct code *code; /* by code */
	struct bundle bundle[CPUS_MAX];
	struct thread *thread; /* by number */
	uint32_t threads;
	struct interned symbol; /* addresses of functions, of which some are written */
	uint32_t symbols;
	struct interned frame; /* addresses, and the processes whose they are */
	uint32_t frames;
	struct interned call; /* a call path and a frame that it goes on to */
	uint8_t *written;     /* which paths are, as a sample's stack */
	uint32_t paths;
	char *object[OBJECTS_MAX]; /* what frames are part of */
	bool begun;
	bool tells_target; /* see lttng_tells_target() */
};

static uint64_t boot_ns(const struct perfetto *perfetto, uint64_t stamp)
{
	return (uint64_t)fkt_cycles_to_ns(perfetto->export->trace, (int64_t)stamp);
}

/* ---- packets ---- */

/* A packet without its length, which pb_end_long() writes. */
static uint8_t *begin_packet(uint8_t *at, uint8_t **packet, uint32_t flags)
{
	at = *packet = pb_begin_long(at, 1);
	at = pb_number(at, PACKET_SEQUENCE, SEQUENCE);
	return pb_number(at, PACKET_FLAGS, flags);
}

static void end_packet(struct perfetto *perfetto, const uint8_t *begin, uint8_t *packet,
		       const uint8_t *at)
{
	pb_end_long(packet, at);
	output_bytes(perfetto->export->out, begin, (size_t)(at - begin));
}

static void write_bundle(struct perfetto *perfetto, uint32_t cpu)
{
	struct bundle *bundle = &perfetto->bundle[cpu];
	uint8_t head[64], *packet, *events, *at;
	size_t bytes = (size_t)(bundle->end - bundle->data);

	if (!bytes && !bundle->lost)
		return;
	at = begin_packet(head, &packet, FLAGS_NEEDED);
	at = events = pb_begin_long(at, PACKET_FTRACE);
	at = pb_number(at, 1, cpu);
	if (bundle->lost)
		at = pb_number(at, 3, 1);
	pb_end_long(events, at + bytes);
	pb_end_long(packet, at + bytes);
	output_bytes(perfetto->export->out, head, (size_t)(at - head));
	output_bytes(perfetto->export->out, bundle->data, bytes);
	bundle->end = bundle->data;
	bundle->lost = false;
}

/* The bundle of a CPU, with room for an event; NULL without memory. */
static struct bundle *bundle_of(struct perfetto *perfetto, uint32_t cpu)
{
	struct bundle *bundle = &perfetto->bundle[cpu];

	if (!bundle->data)
		bundle->data = bundle->end = malloc(BUNDLE_BYTES + EVENT_BYTES);
	else if (bundle->end - bundle->data >= BUNDLE_BYTES)
		write_bundle(perfetto, cpu);
	return bundle->data ? bundle : NULL;
}

static void write_clocks(struct perfetto *perfetto, uint64_t stamp)
{
	const struct fkt_trace *trace = perfetto->export->trace;
	uint8_t data[128], *packet, *snapshot, *clock, *at;

	at = begin_packet(data, &packet, FLAGS_CLEARED);
	at = snapshot = pb_begin(at, PACKET_CLOCK_SNAPSHOT);
	at = clock = pb_begin(at, 1);
	at = pb_number(at, 1, CLOCK_ID_BOOTTIME);
	at = pb_number(at, 2, boot_ns(perfetto, stamp));
	pb_end(clock, at);
	if (fkt_has_wall_clock(trace)) {
		at = clock = pb_begin(at, 1);
		at = pb_number(at, 1, CLOCK_ID_REALTIME);
		at = pb_number(at, 2, (uint64_t)fkt_wall_ns(trace, stamp));
		pb_end(clock, at);
	}
	pb_end(snapshot, at);
	end_packet(perfetto, data, packet, at);
}

/* Without the machine, readers do not know system calls' names. */
static void write_system(struct perfetto *perfetto)
{
	static const char *const keys[] = { "sysname", "version", "release", "machine" };
	uint8_t data[4096], *packet, *system, *utsname, *at;
	const char *value;

	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = system = pb_begin_long(at, PACKET_SYSTEM_INFO);
	at = utsname = pb_begin_long(at, 1);
	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		value = fkt_info(perfetto->export->trace, keys[i]);
		if (value)
			at = pb_bytes(at, i + 1, value, fkt_cut_text(value, 512));
	}
	pb_end_long(utsname, at);
	pb_end_long(system, at);
	end_packet(perfetto, data, packet, at);
}

/* The threads that are known; a packet each, as there may be very many. */
static void write_processes(struct perfetto *perfetto)
{
	const struct fkt_processes *processes = perfetto->export->processes;
	const struct fkt_process *process;
	uint8_t data[256], *packet, *tree, *part, *at;

	for (uint32_t id = 1; id < fkt_process_count(processes); id++) {
		process = fkt_process(processes, id);
		if (!process->tid || process->released)
			continue;
		at = begin_packet(data, &packet, FLAGS_NEEDED);
		at = tree = pb_begin(at, PACKET_PROCESS_TREE);
		if (process->tgid == process->tid || process->tgid == FKT_PID_UNKNOWN) {
			at = part = pb_begin(at, 1);
			at = pb_number(at, 1, process->tid);
			/* How readers know the kernel's threads. */
			if (process->kernel && process->tid != KTHREADD_PID)
				at = pb_number(at, 2, KTHREADD_PID);
			at = pb_string(at, 3, process->comm);
			pb_end(part, at);
		}
		at = part = pb_begin(at, 2);
		at = pb_number(at, 1, process->tid);
		at = pb_string(at, 2, process->comm);
		at = pb_number(at, 3,
			       process->tgid == FKT_PID_UNKNOWN ? process->tid : process->tgid);
		pb_end(part, at);
		pb_end(tree, at);
		end_packet(perfetto, data, packet, at);
	}
}

/* @field: that of InternedData. */
static void write_name(struct perfetto *perfetto, uint32_t field, uint32_t iid, const char *name)
{
	uint8_t data[2 * FKT_VALUE_NAME_BYTES], *packet, *interned, *entry, *at;

	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = interned = pb_begin_long(at, PACKET_INTERNED);
	at = entry = pb_begin_long(at, field);
	at = pb_number(at, 1, iid);
	at = pb_string(at, 2, name);
	pb_end_long(entry, at);
	pb_end_long(interned, at);
	end_packet(perfetto, data, packet, at);
}

/* ---- what is known ---- */

static void look_at_code(struct perfetto *perfetto, uint32_t number, struct code *code)
{
	const struct fkt_code_row *row = fkt_code_row(perfetto->export->trace, number);
	struct fkt_field fields[FKT_FIELDS_MAX];
	uint32_t kind = row ? row->kind : FKT_KIND_POINT;

	code->as = AS_INSTANT;
	code->number = row ? number - row->first : 0;
	if (number < FKT_CODE_SYSCALL_ENTRY + 1024u)
		code->as = AS_SYS_ENTER;
	else if (number >= FKT_CODE_SYSCALL_EXIT && number < FKT_CODE_SYSCALL_EXIT + 1024)
		code->as = AS_SYS_EXIT;
	else if (number == FKT_CODE_IRQ_ENTRY)
		code->as = AS_IRQ_ENTRY;
	else if (number == FKT_CODE_IRQ_EXIT)
		code->as = AS_IRQ_EXIT;
	else if (number >= FKT_CODE_SOFTIRQ_ENTRY && number <= FKT_CODE_SOFTIRQ_RAISE)
		code->as = AS_SOFTIRQ;
	else if (number == FKT_CODE_SWITCH)
		code->as = AS_SWITCH;
	else if (number == FKT_CODE_WAKEUP || number == FKT_CODE_WAKEUP_NEW)
		code->as = AS_WAKING;
	else if (fkt_is_process_event(number))
		code->as = AS_PROCESS;
	else if (number == FKT_CODE_SAMPLE)
		code->as = AS_SAMPLE;
	else if (number == FKT_CODE_STACK || number == FKT_CODE_DATA || number == FKT_CODE_COUNTERS)
		code->as = AS_NOTHING;
	else if (kind == FKT_KIND_CPU_ENTRY)
		code->as = AS_VECTOR_ENTRY;
	else if (kind == FKT_KIND_CPU_EXIT)
		code->as = AS_VECTOR_EXIT;
	else if (kind == FKT_KIND_ENTRY && row->pair)
		code->as = AS_FUNCTION_ENTRY;
	else if (kind == FKT_KIND_EXIT)
		code->as = AS_FUNCTION_EXIT;
	code->by_address = fkt_fields(perfetto->export->trace, number, fields) &&
			   fields[0].type == FKT_FIELD_FUNCTION && !fields[0].immediate;
	code->number = number == FKT_CODE_SOFTIRQ_ENTRY	 ? EVENT_SOFTIRQ_ENTRY
		       : number == FKT_CODE_SOFTIRQ_EXIT ? EVENT_SOFTIRQ_EXIT
		       : code->as == AS_SOFTIRQ		 ? EVENT_SOFTIRQ_RAISE
							 : code->number;
}

/* NULL without memory. */
static struct thread *thread_of(struct perfetto *perfetto, uint32_t id)
{
	uint32_t count = perfetto->threads ? perfetto->threads : 1024;
	struct thread *larger;

	if (id < perfetto->threads)
		return &perfetto->thread[id];
	while (count <= id)
		count *= 2;
	larger = reallocarray(perfetto->thread, count, sizeof(*larger));
	if (!larger)
		return NULL;
	for (uint32_t i = perfetto->threads; i < count; i++)
		larger[i] = (struct thread){ .prio = DEFAULT_PRIO };
	perfetto->thread = larger;
	perfetto->threads = count;
	return &larger[id];
}

/* The interned name of a code's events; 0: there is none. */
static uint32_t name_of_code(struct perfetto *perfetto, uint32_t number, struct code *code,
			     uint32_t field)
{
	char name[FKT_NAME_BYTES];

	if (!code->iid) {
		code->iid = number + 1;
		fkt_code_name(perfetto->export->trace, number, name);
		write_name(perfetto, field, code->iid, name);
	}
	return code->iid;
}

/* The interned name of the function that a code's events are of; 0 without memory. */
static uint32_t name_of_function(struct perfetto *perfetto, const struct fkt_event *event,
				 struct code *code)
{
	struct export *export = perfetto->export;
	char name[FKT_VALUE_NAME_BYTES + 1];
	struct fkt_symbol symbol;
	const struct fkt_code_row *row;
	struct code *entry = code;
	uint32_t number = event->code;
	uint64_t address;

	if (!code->by_address || event->words < 1) {
		/* An exit has its entry's name. */
		row = fkt_code_row(export->trace, number);
		if (code->as == AS_FUNCTION_EXIT && row && row->pair < FKT_SLOT_CODES) {
			number = row->pair + (number - row->first);
			entry = &perfetto->code[number < FKT_SLOT_CODES ? number : event->code];
			number = number < FKT_SLOT_CODES ? number : event->code;
		}
		return name_of_code(perfetto, number, entry, INTERNED_SYMBOL);
	}
	address = fkt_arg64(event, 0);
	number = interned(&perfetto->symbol, address, 0);
	if (number == INTERNED_FAILED)
		return 0;
	if (number >= perfetto->symbols) {
		perfetto->symbols = number + 1;
		if (fkt_symbol(export->trace, address, &symbol))
			snprintf(name, sizeof(name), "%s", symbol.name);
		else
			snprintf(name, sizeof(name), "0x%llx", (unsigned long long)address);
		write_name(perfetto, INTERNED_SYMBOL, FKT_SLOT_CODES + 1 + number, name);
	}
	return FKT_SLOT_CODES + 1 + number;
}

/* ---- instants ---- */

/* The track of the event's thread, or of its CPU; 0 without memory. */
static uint64_t track_of(struct perfetto *perfetto, uint32_t pid, uint16_t cpu)
{
	struct fkt_processes *processes = perfetto->export->processes;
	uint8_t data[160], *packet, *track, *part, *at;
	const struct fkt_process *process;
	struct thread *thread = NULL;
	uint64_t uuid;
	char name[32];
	uint32_t id = 0;

	if (pid && pid != FKT_PID_UNKNOWN)
		id = fkt_process_id(processes, pid, cpu);
	uuid = id ? UUID_THREADS + id : UUID_CPUS + cpu;
	if (id) {
		thread = thread_of(perfetto, id);
		if (!thread)
			return 0;
	}
	if (thread ? thread->described : perfetto->bundle[cpu].described)
		return uuid;
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = track = pb_begin(at, PACKET_TRACK_DESCRIPTOR);
	at = pb_number(at, 1, uuid);
	if (thread) {
		process = fkt_process(processes, id);
		at = part = pb_begin(at, 4);
		at = pb_number(at, 1,
			       process->tgid == FKT_PID_UNKNOWN ? process->tid : process->tgid);
		at = pb_number(at, 2, process->tid);
		pb_end(part, at);
		thread->described = true;
	} else {
		snprintf(name, sizeof(name), "FKT on CPU %u", cpu);
		at = pb_string(at, 2, name);
		perfetto->bundle[cpu].described = true;
	}
	pb_end(track, at);
	end_packet(perfetto, data, packet, at);
	return uuid;
}

static uint8_t *put_annotation(struct perfetto *perfetto, uint8_t *at,
			       const struct fkt_field *field, const struct fkt_event *event)
{
	char text[FKT_VALUE_NAME_BYTES + 32];
	struct fkt_value value;
	uint8_t *part;
	size_t bytes;

	if (!fkt_field_value(field, event, &value) || value.kind == FKT_VALUE_NONE ||
	    value.kind == FKT_VALUE_ARRAY)
		return at;
	at = part = pb_begin_long(at, 4);
	at = pb_string(at, 10, field->name);
	if (value.kind == FKT_VALUE_TEXT) {
		bytes = value.bytes < FKT_VALUE_NAME_BYTES ? value.bytes : FKT_VALUE_NAME_BYTES;
		memcpy(text, value.text, bytes);
		text[bytes] = '\0';
		fkt_sanitize(text);
		at = pb_string(at, 6, text);
	} else if (fkt_field_is_named(field) &&
		   (bytes = (size_t)(fkt_put_name(perfetto->export->trace,
						  perfetto->export->processes, field, event,
						  value.number, text) -
				     text))) {
		/* Several have the same name. */
		if (field->type == FKT_FIELD_PID && value.number)
			bytes += (size_t)sprintf(text + bytes, "[%llu]",
						 (unsigned long long)value.number);
		at = pb_bytes(at, 6, text, bytes);
	} else {
		at = pb_number(at,
			       field->type == FKT_FIELD_HEX	? 7
			       : value.kind == FKT_VALUE_SIGNED ? 4
								: 3,
			       value.number);
	}
	pb_end_long(part, at);
	return at;
}

static int put_instant(struct perfetto *perfetto, const struct fkt_event *event, struct code *code)
{
	const struct fkt_code_row *row = fkt_code_row(perfetto->export->trace, event->code);
	uint8_t data[256 + FKT_FIELDS_MAX * ANNOTATION_BYTES], *packet, *track, *at;
	uint64_t uuid = track_of(perfetto, event->pid, event->cpu);
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int count;

	if (!uuid)
		return -ENOMEM;
	name_of_code(perfetto, event->code, code, INTERNED_EVENT);
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = pb_number(at, PACKET_TIMESTAMP, boot_ns(perfetto, event->stamp));
	at = track = pb_begin_long(at, PACKET_TRACK_EVENT);
	at = pb_number(at, 9, TYPE_INSTANT);
	at = pb_number(at, 10, code->iid);
	at = pb_number(at, 11, uuid);
	if (row && *row->layer)
		at = pb_bytes(at, 22, row->layer, fkt_cut_text(row->layer, 64));
	count = fkt_fields(perfetto->export->trace, event->code, fields);
	for (unsigned int i = 0; i < count; i++)
		at = put_annotation(perfetto, at, &fields[i], event);
	pb_end_long(track, at);
	end_packet(perfetto, data, packet, at);
	return 0;
}

/* ---- samples ---- */

/* The number of what a frame is part of, from 1; 0 without memory. */
static uint32_t number_of_object(struct perfetto *perfetto, const char *object)
{
	uint8_t data[2 * FKT_VALUE_NAME_BYTES], *packet, *interned, *mapping, *at;
	uint32_t i;

	for (i = 0; i < OBJECTS_MAX && perfetto->object[i]; i++)
		if (!strcmp(perfetto->object[i], object))
			return i + 1;
	if (i == OBJECTS_MAX)
		return number_of_object(perfetto, OBJECT_OTHER);
	perfetto->object[i] = strdup(object);
	if (!perfetto->object[i])
		return 0;
	write_name(perfetto, INTERNED_PATH, i + 1, object);
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = interned = pb_begin_long(at, PACKET_INTERNED);
	at = mapping = pb_begin(at, INTERNED_MAPPING);
	at = pb_number(at, 1, i + 1);
	at = pb_number(at, 7, i + 1);
	pb_end(mapping, at);
	pb_end_long(interned, at);
	end_packet(perfetto, data, packet, at);
	return i + 1;
}

static bool write_frame(struct perfetto *perfetto, const struct fkt_stack *stack, unsigned int i,
			uint32_t iid)
{
	char name[FKT_FRAME_BYTES + 1], object[FKT_VALUE_NAME_BYTES];
	uint8_t data[128], *packet, *interned, *frame, *at;
	const char *part = NULL;
	uint32_t mapping;

	*fkt_put_frame_names(perfetto->export->trace, name, stack, i, &part) = '\0';
	snprintf(object, sizeof(object), "%s", part ?: OBJECT_OTHER);
	fkt_sanitize(object);
	mapping = number_of_object(perfetto, object);
	if (!mapping)
		return false;
	write_name(perfetto, INTERNED_FUNCTION, iid, name);
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = interned = pb_begin_long(at, PACKET_INTERNED);
	at = frame = pb_begin(at, INTERNED_FRAME);
	at = pb_number(at, 1, iid);
	at = pb_number(at, 2, iid);
	at = pb_number(at, 3, mapping);
	at = pb_number(at, 4, stack->frame[i]);
	pb_end(frame, at);
	pb_end_long(interned, at);
	end_packet(perfetto, data, packet, at);
	return true;
}

/* The number of a frame, which is written when it is new; 0 without memory. */
static uint32_t number_of_frame(struct perfetto *perfetto, const struct fkt_stack *stack,
				unsigned int i)
{
	/* Where something returns to may be behind the end of what has called. */
	const bool exact = stack->exact && !i;
	const uint64_t whose = stack->frame[i] >= FKT_FRAME_KERNEL ? 0 : stack->pid;
	const uint32_t number =
		interned(&perfetto->frame, stack->frame[i], whose | (uint64_t)exact << 32);

	if (number == INTERNED_FAILED)
		return 0;
	if (number >= perfetto->frames) {
		perfetto->frames = number + 1;
		if (!write_frame(perfetto, stack, i, number + 1))
			return 0;
	}
	return number + 1;
}

/* The number of a call path, from which its stack can be seen to be written; 0 without memory. */
static uint32_t number_of_path(struct perfetto *perfetto, const uint32_t *frame, unsigned int count)
{
	uint32_t path = 0, paths = perfetto->paths ?: 1024;
	uint8_t *larger;

	for (unsigned int i = 0; i < count; i++) {
		path = interned(&perfetto->call, path, frame[i]);
		if (path == INTERNED_FAILED)
			return 0;
		path++;
	}
	if (path >= perfetto->paths) {
		while (paths <= path)
			paths *= 2;
		larger = realloc(perfetto->written, paths);
		if (!larger)
			return 0;
		memset(larger + perfetto->paths, 0, paths - perfetto->paths);
		perfetto->written = larger;
		perfetto->paths = paths;
	}
	return path;
}

/* The number of a stack, the outermost frame first; 0 without memory. */
static uint32_t number_of_stack(struct perfetto *perfetto, const struct fkt_stack *stack)
{
	const unsigned int begin = fkt_stack_begin(perfetto->export->trace, stack);
	uint8_t data[STACK_BYTES], *packet, *interned, *callstack, *at;
	uint32_t frame[FKT_STACK_FRAMES_BOTH], path;
	unsigned int count = 0;

	for (unsigned int i = stack->count; i-- > begin; count++) {
		frame[count] = number_of_frame(perfetto, stack, i);
		if (!frame[count])
			return 0;
	}
	path = number_of_path(perfetto, frame, count);
	if (!path || perfetto->written[path])
		return path;
	perfetto->written[path] = true;
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = interned = pb_begin_long(at, PACKET_INTERNED);
	at = callstack = pb_begin_long(at, INTERNED_CALLSTACK);
	at = pb_number(at, 1, path);
	for (unsigned int i = 0; i < count; i++)
		at = pb_number(at, 2, frame[i]);
	pb_end_long(callstack, at);
	pb_end_long(interned, at);
	end_packet(perfetto, data, packet, at);
	return path;
}

static int put_sample(struct perfetto *perfetto, const struct fkt_event *event)
{
	struct fkt_processes *processes = perfetto->export->processes;
	const uint32_t tid = fkt_arg32(event, SAMPLE_PID);
	const struct fkt_process *process =
		fkt_process(processes, fkt_process_id(processes, tid, event->cpu));
	const uint32_t pid = process->tgid == FKT_PID_UNKNOWN ? tid : process->tgid;
	uint8_t data[128], *packet, *sample, *at;
	struct fkt_stack room;
	uint32_t stack;

	stack = number_of_stack(perfetto,
				sample_stack_of(processes, perfetto->export->stack, event, &room));
	if (!stack)
		return -ENOMEM;
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = pb_number(at, PACKET_TIMESTAMP, boot_ns(perfetto, event->stamp));
	at = sample = pb_begin(at, PACKET_PERF_SAMPLE);
	at = pb_number(at, 1, event->cpu);
	at = pb_number(at, 2, pid);
	at = pb_number(at, 3, tid);
	at = pb_number(at, 4, stack);
	at = pb_number(at, 5, event->imm ? MODE_USER : MODE_KERNEL);
	pb_end(sample, at);
	end_packet(perfetto, data, packet, at);
	return 0;
}

/* ---- events of ftrace ---- */

static uint8_t *put_comm(struct perfetto *perfetto, uint8_t *at, uint32_t field, uint32_t id)
{
	const struct fkt_process *process = fkt_process(perfetto->export->processes, id);

	return process->tid ? pb_string(at, field, process->comm) : pb_string(at, field, "swapper");
}

static uint8_t *put_switch(struct perfetto *perfetto, uint8_t *at, const struct fkt_event *event)
{
	struct fkt_processes *processes = perfetto->export->processes;
	const uint32_t prev = fkt_arg32(event, 0), next = fkt_arg32(event, 4);
	const uint32_t prev_id = fkt_process_id(processes, prev, event->cpu);
	const uint32_t next_id = fkt_process_id(processes, next, event->cpu);
	struct thread *thread;
	uint8_t *part;

	if (!thread_of(perfetto, prev_id > next_id ? prev_id : next_id))
		return NULL;
	thread = perfetto->thread;
	thread[next_id].cpu = event->cpu + 1u;
	thread[prev_id].cpu = event->cpu + 1u;
	at = part = pb_begin(at, EVENT_SWITCH);
	at = put_comm(perfetto, at, 1, prev_id);
	at = pb_number(at, 2, prev);
	at = pb_number(at, 3, (uint64_t)(int64_t)thread[prev_id].prio);
	/* That a thread was preempted is not told apart from its giving way: both are 0. */
	at = pb_number(at, 4, fkt_state_reported(event->imm));
	at = put_comm(perfetto, at, 5, next_id);
	at = pb_number(at, 6, next);
	at = pb_number(at, 7, (uint64_t)(int64_t)thread[next_id].prio);
	pb_end(part, at);
	return at;
}

static uint8_t *put_waking(struct perfetto *perfetto, uint8_t *at, const struct fkt_event *event)
{
	const uint32_t pid = fkt_arg32(event, 0);
	const uint32_t id = fkt_process_id(perfetto->export->processes, pid, event->cpu);
	struct thread *thread = thread_of(perfetto, id);
	uint8_t *part;
	uint32_t cpu;

	if (!thread)
		return NULL;
	thread->prio = (int32_t)fkt_arg32(event, 4);
	at = part = pb_begin(at, event->code == FKT_CODE_WAKEUP ? EVENT_WAKING : EVENT_WAKEUP_NEW);
	at = put_comm(perfetto, at, 1, id);
	at = pb_number(at, 2, pid);
	at = pb_number(at, 3, (uint64_t)(int64_t)thread->prio);
	at = pb_number(at, 4, 1);
	/* Where it is, or as far as that is known, ran last: where it will run is found later. */
	if (perfetto->tells_target)
		cpu = event->imm;
	else
		cpu = thread->cpu ? thread->cpu - 1u : event->cpu;
	at = pb_number(at, 5, cpu);
	pb_end(part, at);
	return at;
}

static uint8_t *put_rename(uint8_t *at, uint32_t pid, const struct fkt_event *event)
{
	char comm[FKT_COMM_BYTES + 1] = "";
	uint8_t *part;

	memcpy(comm, (const char *)event->args + 8, FKT_COMM_BYTES);
	fkt_sanitize(comm);
	at = part = pb_begin(at, EVENT_RENAME);
	at = pb_number(at, 1, pid);
	/* Sanitizing may have made more of it. */
	at = pb_bytes(at, 3, comm, strnlen(comm, FKT_COMM_BYTES));
	pb_end(part, at);
	return at;
}

static uint8_t *put_process(struct perfetto *perfetto, uint8_t *at, const struct fkt_event *event)
{
	const uint32_t pid = fkt_arg32(event, 0);
	const uint32_t id = fkt_process_id(perfetto->export->processes, pid, event->cpu);
	const struct fkt_process *process = fkt_process(perfetto->export->processes, id);
	uint8_t *part;

	switch (event->code) {
	case FKT_CODE_FORK:
		at = part = pb_begin(at, EVENT_NEWTASK);
		at = pb_number(at, 1, pid);
		at = put_comm(perfetto, at, 2, id);
		at = pb_number(at, 3,
			       fkt_arg32(event, 4) == fkt_arg32(event, 12) ? CLONE_THREAD : 0);
		pb_end(part, at);
		return at;
	case FKT_CODE_EXEC:
	case FKT_CODE_RENAME:
		return put_rename(at, pid, event);
	case FKT_CODE_EXIT:
		at = part = pb_begin(at, EVENT_PROCESS_EXIT);
		at = put_comm(perfetto, at, 1, id);
		at = pb_number(at, 2, pid);
		at = pb_number(at, 3,
			       process->tgid == FKT_PID_UNKNOWN ? process->tid : process->tgid);
		pb_end(part, at);
		return at;
	default:
		at = part = pb_begin(at, EVENT_PROCESS_FREE);
		at = put_comm(perfetto, at, 1, id);
		at = pb_number(at, 2, pid);
		pb_end(part, at);
		return at;
	}
}

/* A call with a number that no row has: the argument says which. */
static uint64_t syscall_number(const struct fkt_event *event, const struct code *code)
{
	return code->number == 1023 && event->words ? fkt_arg64(event, 0) : code->number;
}

static uint8_t *put_sys_enter(uint8_t *at, const struct fkt_event *event, const struct code *code)
{
	const unsigned int count = event->words < 6 ? event->words : 6;
	uint8_t *part;

	at = part = pb_begin(at, EVENT_SYS_ENTER);
	at = pb_number(at, 1, syscall_number(event, code));
	for (unsigned int i = 0; i < count; i++)
		at = pb_number(at, 2, fkt_arg64(event, 8 * i));
	pb_end(part, at);
	return at;
}

static uint8_t *put_sys_exit(uint8_t *at, const struct fkt_event *event, const struct code *code)
{
	uint8_t *part;

	at = part = pb_begin(at, EVENT_SYS_EXIT);
	at = pb_number(at, 1, code->number);
	at = pb_number(at, 2,
		       event->words ? fkt_arg64(event, 0) : (uint64_t)(int64_t)(int16_t)event->imm);
	pb_end(part, at);
	return at;
}

static uint8_t *put_irq(struct perfetto *perfetto, uint8_t *at, const struct fkt_event *event,
			const struct code *code)
{
	const bool vector = code->as == AS_VECTOR_ENTRY || code->as == AS_VECTOR_EXIT;
	char name[FKT_NAME_BYTES];
	const char *text = name;
	uint8_t *part;

	if (code->as == AS_IRQ_ENTRY || code->as == AS_VECTOR_ENTRY) {
		if (vector)
			fkt_code_name(perfetto->export->trace, event->code, name);
		else
			text = fkt_irq_name(perfetto->export->trace, event->imm);
		at = part = pb_begin(at, EVENT_IRQ_ENTRY);
		at = pb_number(at, 1, vector ? VECTOR_IRQ + code->number : event->imm);
		at = pb_bytes(at, 2, text ?: "?", fkt_cut_text(text ?: "?", IRQ_NAME_BYTES));
	} else {
		at = part = pb_begin(at, EVENT_IRQ_EXIT);
		at = pb_number(at, 1, vector ? VECTOR_IRQ + code->number : event->imm);
		/* Handled: what the handler returned is not recorded. */
		at = pb_number(at, 2, 1);
	}
	pb_end(part, at);
	return at;
}

static uint8_t *put_function(uint8_t *at, uint32_t iid, bool entry)
{
	uint8_t *part;

	at = part = pb_begin(at, entry ? EVENT_FUNCTION_ENTRY : EVENT_FUNCTION_EXIT);
	at = pb_number(at, entry ? 2 : 3, iid);
	pb_end(part, at);
	return at;
}

/* Room that the words of each kind take, which a damaged event may not have. */
static bool has_words(const struct fkt_event *event, const struct code *code)
{
	switch (code->as) {
	case AS_SWITCH:
	case AS_WAKING:
		return event->words >= 1;
	case AS_SAMPLE:
		return event->words >= SAMPLE_WORDS;
	case AS_PROCESS:
		return event->words >=
		       (event->code == FKT_CODE_FORK					 ? 2
			: event->code == FKT_CODE_EXEC || event->code == FKT_CODE_RENAME ? 3
											 : 1);
	default:
		return true;
	}
}

static uint8_t *put_field(struct perfetto *perfetto, uint8_t *at, const struct fkt_event *event,
			  const struct code *code, uint32_t iid)
{
	uint8_t *part;

	switch (code->as) {
	case AS_SYS_ENTER:
		return put_sys_enter(at, event, code);
	case AS_SYS_EXIT:
		return put_sys_exit(at, event, code);
	case AS_FUNCTION_ENTRY:
	case AS_FUNCTION_EXIT:
		return put_function(at, iid, code->as == AS_FUNCTION_ENTRY);
	case AS_SOFTIRQ:
		at = part = pb_begin(at, code->number);
		at = pb_number(at, 1, event->imm);
		pb_end(part, at);
		return at;
	case AS_SWITCH:
		return put_switch(perfetto, at, event);
	case AS_WAKING:
		return put_waking(perfetto, at, event);
	case AS_PROCESS:
		return put_process(perfetto, at, event);
	default:
		return put_irq(perfetto, at, event, code);
	}
}

static void begin_trace(struct perfetto *perfetto, uint64_t stamp)
{
	perfetto->begun = true;
	write_clocks(perfetto, stamp);
	write_system(perfetto);
	write_processes(perfetto);
}

static int event(void *format, const struct fkt_event *event)
{
	struct perfetto *perfetto = format;
	struct code *code = &perfetto->code[event->code];
	struct bundle *bundle;
	uint8_t *at, *begin;
	uint32_t iid = 0;

	if (!perfetto->begun)
		begin_trace(perfetto, event->stamp);
	if (code->as == AS_UNKNOWN)
		look_at_code(perfetto, event->code, code);
	if (code->as == AS_NOTHING)
		return 0;
	if (event->cpu >= CPUS_MAX || !has_words(event, code) ||
	    (code->as < AS_VECTOR_ENTRY && event->pid == FKT_PID_UNKNOWN)) {
		perfetto->export->left_out++;
		return 0;
	}
	if (code->as == AS_INSTANT)
		return put_instant(perfetto, event, code);
	if (code->as == AS_SAMPLE)
		return put_sample(perfetto, event);
	if (code->as == AS_FUNCTION_ENTRY || code->as == AS_FUNCTION_EXIT) {
		iid = name_of_function(perfetto, event, code);
		if (!iid)
			return -ENOMEM;
	}
	bundle = bundle_of(perfetto, event->cpu);
	if (!bundle)
		return -ENOMEM;
	at = begin = pb_begin(bundle->end, 2);
	at = pb_number(at, EVENT_TIMESTAMP, boot_ns(perfetto, event->stamp));
	at = pb_number(at, EVENT_PID, event->pid);
	at = put_field(perfetto, at, event, code, iid);
	if (!at)
		return -ENOMEM;
	pb_end(begin, at);
	bundle->end = at;
	return 0;
}

/* An instant that says how much, and a flag in the CPU's next bundle. */
static int gap(void *format, const struct fkt_gap *gap, uint64_t stamp)
{
	struct perfetto *perfetto = format;
	uint8_t data[256], *packet, *track, *at;
	const uint16_t cpu = gap->cpu < CPUS_MAX ? gap->cpu : 0;
	char text[GAP_BYTES];
	uint64_t uuid;

	if (!perfetto->begun)
		begin_trace(perfetto, stamp);
	if (!bundle_of(perfetto, cpu))
		return -ENOMEM;
	write_bundle(perfetto, cpu);
	perfetto->bundle[cpu].lost = true;
	uuid = track_of(perfetto, 0, cpu);
	export_gap(gap, text);
	at = begin_packet(data, &packet, FLAGS_NEEDED);
	at = pb_number(at, PACKET_TIMESTAMP, boot_ns(perfetto, stamp));
	at = track = pb_begin_long(at, PACKET_TRACK_EVENT);
	at = pb_number(at, 9, TYPE_INSTANT);
	at = pb_number(at, 11, uuid);
	at = pb_string(at, 22, "fkt");
	at = pb_string(at, 23, text);
	pb_end_long(track, at);
	end_packet(perfetto, data, packet, at);
	return 0;
}

static int end(void *format, uint64_t last)
{
	struct perfetto *perfetto = format;

	if (!perfetto->begun)
		begin_trace(perfetto, last);
	for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
		write_bundle(perfetto, cpu);
	return 0;
}

static void free_perfetto(void *format)
{
	struct perfetto *perfetto = format;

	for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
		free(perfetto->bundle[cpu].data);
	interned_free(&perfetto->symbol);
	interned_free(&perfetto->frame);
	interned_free(&perfetto->call);
	for (uint32_t i = 0; i < OBJECTS_MAX; i++)
		free(perfetto->object[i]);
	free(perfetto->written);
	free(perfetto->thread);
	free(perfetto->code);
	free(perfetto);
}

static void *begin(struct export *export)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return NULL;
	perfetto->export = export;
	perfetto->tells_target = lttng_tells_target(export->trace);
	perfetto->code = calloc(FKT_SLOT_CODES, sizeof(*perfetto->code));
	if (!perfetto->code) {
		free(perfetto);
		return NULL;
	}
	return perfetto;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.about = "ui.perfetto.dev, trace_processor",
	.lacks =
		"stacks but those of samples, the memory of system calls, arguments and results of functions, and "
		"priorities but those that wake-ups tell",
	.wants = EXPORT_NS | EXPORT_BINARY,
	.begin = begin,
	.event = event,
	.gap = gap,
	.end = end,
	.free = free_perfetto,
};

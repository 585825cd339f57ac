// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CTF 1.8 as LTTng-modules writes it: a file for each CPU, of packets, and the metadata, which say
 * what there is in the packets. Names and fields of events are those of bindings/babeltrace2.
 *
 * What is missing is told by the number that a packet has of the events discarded so far: readers
 * take them for lost between the end of the packet before and its own. So the last event before a
 * loss has a packet of its own, which ends with the first moment behind the loss. A packet without
 * an event would do as well, but Trace Compass reads a file no further than that, unless it is the
 * first one.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../bindings/babeltrace2/lttng.h"
#include "format.h"
#include "trace/put.h"

#define PACKET_MAGIC   0xc1fc1fc1u
#define PACKET_BYTES   131072u
/* Its header and its context, see METADATA. */
#define HEADER_BYTES   84u
/* Events whose number is not less, or that come long after the one before, have a long header. */
#define ID_LONG	       65535u
#define CPUS	       (UINT16_MAX + 1)
/* What is said of 200 frames and of 64 KiB of text has room in it. */
#define EVENT_BYTES    (512u << 10)
#define NS_PER_SECOND  1000000000
#define TEXT_BYTES_MAX 256

/* @byte_order, @uuid */
#define METADATA                                                                                   \
	"/* CTF 1.8 */\n\n"                                                                        \
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"                 \
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"               \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"               \
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n\n"             \
	"trace {\n"                                                                                \
	"\tmajor = 1;\n"                                                                           \
	"\tminor = 8;\n"                                                                           \
	"\tuuid = \"%s\";\n"                                                                       \
	"\tbyte_order = le;\n"                                                                     \
	"\tpacket.header := struct {\n"                                                            \
	"\t\tuint32_t magic;\n"                                                                    \
	"\t\tuint8_t uuid[16];\n"                                                                  \
	"\t\tuint32_t stream_id;\n"                                                                \
	"\t\tuint64_t stream_instance_id;\n"                                                       \
	"\t};\n"                                                                                   \
	"};\n\n"

#define METADATA_STREAM                                                                            \
	"typealias integer {\n"                                                                    \
	"\tsize = 32; align = 8; signed = false; map = clock.monotonic.value;\n"                   \
	"} := uint32_clock_monotonic_t;\n\n"                                                       \
	"typealias integer {\n"                                                                    \
	"\tsize = 64; align = 8; signed = false; map = clock.monotonic.value;\n"                   \
	"} := uint64_clock_monotonic_t;\n\n"                                                       \
	"struct packet_context {\n"                                                                \
	"\tuint64_clock_monotonic_t timestamp_begin;\n"                                            \
	"\tuint64_clock_monotonic_t timestamp_end;\n"                                              \
	"\tuint64_t content_size;\n"                                                               \
	"\tuint64_t packet_size;\n"                                                                \
	"\tuint64_t packet_seq_num;\n"                                                             \
	"\tuint64_t events_discarded;\n"                                                           \
	"\tuint32_t cpu_id;\n"                                                                     \
	"};\n\n"                                                                                   \
	"struct event_header_large {\n"                                                            \
	"\tenum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;\n"                      \
	"\tvariant <id> {\n"                                                                       \
	"\t\tstruct {\n"                                                                           \
	"\t\t\tuint32_clock_monotonic_t timestamp;\n"                                              \
	"\t\t} compact;\n"                                                                         \
	"\t\tstruct {\n"                                                                           \
	"\t\t\tuint32_t id;\n"                                                                     \
	"\t\t\tuint64_clock_monotonic_t timestamp;\n"                                              \
	"\t\t} extended;\n"                                                                        \
	"\t} v;\n"                                                                                 \
	"} align(8);\n\n"                                                                          \
	"stream {\n"                                                                               \
	"\tid = 0;\n"                                                                              \
	"\tevent.header := struct event_header_large;\n"                                           \
	"\tpacket.context := struct packet_context;\n"                                             \
	"\tevent.context := struct {\n"                                                            \
	"\t\tinteger { size = 32; align = 8; signed = true; } _tid;\n"                             \
	"\t\tstring _procname;\n"                                                                  \
	"\t};\n"                                                                                   \
	"};\n\n"

/**
 * struct stream - the file of a CPU
 * @file: of the output
 * @used: bytes of the packet that is being made
 * @last_at: where its last event begins
 * @events: how many it has
 * @begin: nanoseconds of its first event
 * @last: of the last one
 * @packets: how many have been written
 * @discarded: events that are missing so far
 * @gap: some are missing behind the last event, or before the packet's only one
 * @gap_end: nanoseconds, up to which they are
 * @data: the packet, PACKET_BYTES
 */
struct stream {
	int file;
	size_t used;
	size_t last_at;
	uint32_t events;
	uint64_t begin;
	uint64_t last;
	uint64_t packets;
	uint64_t discarded;
	bool gap;
	uint64_t gap_end;
	uint8_t data[PACKET_BYTES];
};

struct ctf {
	struct export *export;
	struct lttng *lttng;
	struct stream *stream[CPUS];
	const struct lttng_class **class; /* by number */
	uint32_t classes;
	bool begun;
	bool wall;
	int64_t offset; /* when the clock is 0, nanoseconds since 1970 */
	int64_t last;	/* the latest time so far, nanoseconds */
	struct lttng_event event;
	uint8_t data[EVENT_BYTES];
};

/* ---- packets ---- */

/* Readers refuse a trace whose clock goes back, or beyond what they count nanoseconds with. */
static uint64_t ns_of(struct ctf *ctf, uint64_t stamp)
{
	int64_t ns = ctf->wall ? (int64_t)((uint64_t)fkt_wall_ns(ctf->export->trace, stamp) -
					   (uint64_t)ctf->offset)
			       : export_ns(ctf->export, stamp);

	if (ns > INT64_MAX - ctf->offset)
		ns = INT64_MAX - ctf->offset;
	if (ns > ctf->last)
		ctf->last = ns;
	return (uint64_t)ctf->last;
}

/* Numbers are little-endian, of up to 8 bytes. */
static uint8_t *put(uint8_t *at, uint64_t number, size_t bytes)
{
	number = htole64(number);
	memcpy(at, &number, bytes);
	return at + bytes;
}

static uint8_t *put_text(uint8_t *at, const char *text)
{
	return (uint8_t *)stpcpy((char *)at, text) + 1;
}

/* Write the first bytes of what there is as a packet, with its header. */
static void put_packet(struct ctf *ctf, uint16_t cpu, uint64_t begin, uint64_t end, size_t bytes,
		       uint64_t discarded)
{
	struct stream *stream = ctf->stream[cpu];
	uint8_t *at = stream->data;

	at = put(at, PACKET_MAGIC, 4);
	memcpy(at, fkt_header(ctf->export->trace)->id, FKT_ID_BYTES);
	at = put(at + FKT_ID_BYTES, 0, 4);
	at = put(at, cpu, 8);
	at = put(at, begin, 8);
	at = put(at, end, 8);
	at = put(at, 8 * bytes, 8);
	at = put(at, 8 * bytes, 8);
	at = put(at, stream->packets++, 8);
	at = put(at, discarded, 8);
	put(at, cpu, 4);
	output_append(ctf->export->out, stream->file, stream->data, bytes);
}

/* Write the packet that there is, and begin another one. */
static void write_packet(struct ctf *ctf, uint16_t cpu, uint64_t end)
{
	struct stream *stream = ctf->stream[cpu];

	put_packet(ctf, cpu, stream->begin, end, stream->used, stream->discarded);
	stream->used = HEADER_BYTES;
	stream->events = 0;
}

/*
 * How many events are discarded in the first packet, readers don't know: in front of it, and of the
 * loss, there is one without events.
 */
static void put_first(struct ctf *ctf, uint16_t cpu, uint64_t ns)
{
	if (!ctf->stream[cpu]->packets)
		put_packet(ctf, cpu, ns, ns, HEADER_BYTES, 0);
}

/* Write the events but for the last one, which is the first one of the next packet then. */
static void split_packet(struct ctf *ctf, uint16_t cpu)
{
	struct stream *stream = ctf->stream[cpu];
	size_t bytes = stream->used - stream->last_at;

	if (stream->events > 1) {
		put_packet(ctf, cpu, stream->begin, stream->last, stream->last_at,
			   stream->discarded);
		memmove(stream->data + HEADER_BYTES, stream->data + stream->last_at, bytes);
		stream->last_at = HEADER_BYTES;
		stream->used = HEADER_BYTES + bytes;
		stream->begin = stream->last;
		stream->events = 1;
	} else if (stream->events) {
		put_first(ctf, cpu, stream->begin);
	}
}

/* The file of a CPU; NULL, and errno, on failure. */
static struct stream *stream_of(struct ctf *ctf, uint16_t cpu)
{
	struct stream *stream = ctf->stream[cpu];
	char name[OUTPUT_NAME_BYTES];

	if (stream)
		return stream;
	stream = malloc(sizeof(*stream));
	if (!stream)
		return NULL;
	/* But for the data: memory that is not used is not there. */
	memset(stream, 0, offsetof(struct stream, data));
	stream->used = HEADER_BYTES;
	snprintf(name, sizeof(name), "kernel_%u", cpu);
	stream->file = output_add_file(ctf->export->out, name);
	if (stream->file < 0) {
		errno = -stream->file;
		free(stream);
		return NULL;
	}
	ctf->stream[cpu] = stream;
	return stream;
}

/* ---- events ---- */

/* The number of a class, which it gets when it is first asked for; negative on failure. */
static int64_t number_of(struct ctf *ctf, const struct lttng_class *class)
{
	const struct lttng_class **larger = ctf->class;

	if (class->user)
		return (int64_t)(uintptr_t) class->user - 1;
	if (!(ctf->classes & (ctf->classes - 1)))
		larger = reallocarray(ctf->class, ctf->classes ? 2 * (size_t)ctf->classes : 1,
				      sizeof(const struct lttng_class *));
	if (!larger)
		return -ENOMEM;
	ctf->class = larger;
	larger[ctf->classes++] = class;
	/* Classes are handed out as const, for all but this. */
	((struct lttng_class *)class)->user = (void *)(uintptr_t)ctf->classes;
	return ctf->classes - 1;
}

static uint8_t *put_stack(struct ctf *ctf, uint8_t *at, const struct fkt_stack *stack,
			  enum lttng_stack which)
{
	unsigned int first, end;

	end = lttng_frames(stack, which, &first);
	at = put(at, end, 4);
	end += first;
	for (unsigned int i = first; i < end; i++)
		at = put(at, lttng_address(stack->frame[i]), 8);
	for (unsigned int i = first; i < end; i++) {
		at = (uint8_t *)fkt_put_frame(ctf->export->trace, (char *)at, stack, i);
		*at++ = '\0';
	}
	return at;
}

static uint8_t *put_fields(struct ctf *ctf, uint8_t *at, const struct lttng_event *event)
{
	const struct lttng_class *class = event->class;

	at = put(at, (uint32_t)event->tid, 4);
	at = put_text(at, event->procname);
	for (unsigned int i = 0; i < class->count; i++) {
		const struct lttng_field *field = &class->field[i];
		const struct lttng_value *value = &event->value[i];

		switch (field->kind) {
		case LTTNG_INTEGER:
			at = put(at, value->number, field->bytes);
			break;
		case LTTNG_STRING:
			at = put_text(at, value->text);
			break;
		case LTTNG_ARRAY:
			memcpy(at, value->text, (size_t)field->bytes * field->elements);
			at += (size_t)field->bytes * field->elements;
			break;
		}
	}
	for (enum lttng_stack which = 0; which < LTTNG_STACKS; which++)
		if (class->stacks & 1u << which)
			at = put_stack(ctf, at, event->stack, which);
	return at;
}

/* The header is put together when it is known how much room there is. */
static uint8_t *put_header(const struct stream *stream, uint8_t *at, uint32_t number, uint64_t ns)
{
	if (number < ID_LONG && (!stream->events || ns - stream->last <= UINT32_MAX)) {
		at = put(at, number, 2);
		return put(at, ns & UINT32_MAX, 4);
	}
	at = put(at, ID_LONG, 2);
	at = put(at, number, 4);
	return put(at, ns, 8);
}

#define HEADER_LONG_BYTES 14

static int put_event(struct ctf *ctf, const struct lttng_event *event)
{
	const int64_t number = number_of(ctf, event->class);
	const uint64_t ns = ns_of(ctf, event->stamp);
	struct stream *stream = stream_of(ctf, event->cpu);
	size_t bytes;
	uint8_t *at;

	if (!stream || number < 0)
		return number < 0 ? (int)number : -errno;
	bytes = (size_t)(put_fields(ctf, ctf->data, event) - ctf->data);
	if (bytes > PACKET_BYTES - HEADER_BYTES - HEADER_LONG_BYTES) {
		ctf->export->left_out++;
		return 0;
	}
	if (stream->events &&
	    (stream->gap || bytes + HEADER_LONG_BYTES > PACKET_BYTES - stream->used)) {
		write_packet(ctf, event->cpu,
			     stream->gap && stream->gap_end > stream->last ? stream->gap_end
									   : stream->last);
		stream->gap = false;
	}
	if (stream->discarded)
		put_first(ctf, event->cpu, 0);
	if (!stream->events)
		stream->begin = ns;
	stream->last_at = stream->used;
	at = put_header(stream, stream->data + stream->used, (uint32_t)number, ns);
	memcpy(at, ctf->data, bytes);
	stream->used = (size_t)(at - stream->data) + bytes;
	stream->events++;
	stream->last = ns;
	return 0;
}

static int begin_trace(struct ctf *ctf, const struct fkt_event *first)
{
	uint32_t index = 0;
	int ret;

	ctf->begun = true;
	ctf->wall = fkt_has_wall_clock(ctf->export->trace);
	if (ctf->wall)
		ctf->offset = fkt_wall_ns(ctf->export->trace, ctf->export->first);
	/* Before 1970, babeltrace2 knows no time. */
	if (ctf->offset < 0) {
		ctf->wall = false;
		ctf->offset = 0;
	}
	while ((ret = lttng_statedump(ctf->lttng, &index, first, &ctf->event)) > 0) {
		ret = put_event(ctf, &ctf->event);
		if (ret)
			return ret;
	}
	return ret;
}

static int event(void *format, const struct fkt_event *event)
{
	struct ctf *ctf = format;
	int ret = 0;

	if (!ctf->begun)
		ret = begin_trace(ctf, event);
	if (!ret)
		ret = lttng_event(ctf->lttng, event, ctf->export->stack, &ctf->event);
	return ret > 0 ? put_event(ctf, &ctf->event) : ret;
}

/* Of pages it is not known how many events they had: each counts as one. */
static int gap(void *format, const struct fkt_gap *gap, uint64_t stamp)
{
	struct ctf *ctf = format;
	const uint16_t cpu = gap->cpu == FKT_CPU_ANY ? 0 : gap->cpu;
	struct stream *stream;

	lttng_gap(ctf->lttng, gap);
	stream = stream_of(ctf, cpu);
	if (!stream)
		return -errno;
	split_packet(ctf, cpu);
	stream->discarded += gap->count;
	stream->gap = true;
	stream->gap_end = ctf->begun ? ns_of(ctf, stamp) : 0;
	return 0;
}

/* ---- metadata ---- */

/* A string, in its quotes. */
static void put_string(struct output *out, const char *text)
{
	const size_t bytes = fkt_cut_text(text, TEXT_BYTES_MAX);

	output_text(out, "\"");
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '"' || text[i] == '\\')
			output_text(out, "\\");
		output_bytes(out, text + i, 1);
	}
	output_text(out, "\"");
}

/* By these, readers choose what the events are taken for. */
static void put_environment(struct ctf *ctf)
{
	static const struct {
		const char *name;
		const char *key;
	} known[] = {
		{ "hostname", "nodename" },	 { "sysname", "sysname" },
		{ "kernel_release", "release" }, { "kernel_version", "version" },
		{ "architecture", "machine" },	 { "fkt_version", "fkt_version" },
		{ "fkt_command", "command" },
	};
	struct output *out = ctf->export->out;
	const char *value;

	output_text(out, "env {\n\tdomain = \"kernel\";\n\ttracer_name = \"lttng-modules\";\n"
			 "\ttracer_major = 2;\n\ttracer_minor = 13;\n\ttracer_patchlevel = 0;\n"
			 "\ttrace_buffering_scheme = \"global\";\n");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		value = fkt_info(ctf->export->trace, known[i].key);
		if (!value)
			continue;
		output_format(out, "\t%s = ", known[i].name);
		put_string(out, value);
		output_text(out, ";\n");
	}
	output_text(out, "};\n\n");
}

static void put_integer(struct output *out, unsigned int bytes, bool is_signed, bool hex)
{
	output_format(out, "integer { size = %u; align = 8; signed = %s; base = %u; }", 8 * bytes,
		      is_signed ? "true" : "false", hex ? 16 : 10);
}

/* With a "_" before each name, which readers take away: it is no word of the language then. */
static void put_class(struct output *out, uint32_t number, const struct lttng_class *class)
{
	output_text(out, "event {\n\tname = ");
	put_string(out, class->name);
	output_format(out, ";\n\tid = %" PRIu32 ";\n\tstream_id = 0;\n\tfields := struct {\n",
		      number);
	for (unsigned int i = 0; i < class->count; i++) {
		const struct lttng_field *field = &class->field[i];

		output_text(out, "\t\t");
		if (field->kind == LTTNG_STRING)
			output_text(out, "string");
		else
			put_integer(out, field->bytes, field->is_signed, field->hex);
		output_format(out, " _%s", field->name);
		if (field->kind == LTTNG_ARRAY)
			output_format(out, "[%u]", field->elements);
		output_text(out, ";\n");
	}
	for (enum lttng_stack which = 0; which < LTTNG_STACKS; which++) {
		const char *stack = lttng_stack_name[which];

		if (!(class->stacks & 1u << which))
			continue;
		output_format(out, "\t\tuint32_t _callstack_%s_length;\n\t\t", stack);
		put_integer(out, 8, false, true);
		output_format(out,
			      " _callstack_%s[_callstack_%s_length];\n"
			      "\t\tstring _callstack_%s_names[_callstack_%s_length];\n",
			      stack, stack, stack, stack);
	}
	output_text(out, "\t};\n};\n\n");
}

static void put_metadata(struct ctf *ctf)
{
	const uint8_t *id = fkt_header(ctf->export->trace)->id;
	struct output *out = ctf->export->out;
	char uuid[2 * FKT_ID_BYTES + 5], *at = uuid;

	for (unsigned int i = 0; i < FKT_ID_BYTES; i++)
		at += sprintf(at, "%s%02x", i >= 4 && i <= 10 && !(i % 2) ? "-" : "", id[i]);
	output_format(out, METADATA, uuid);
	put_environment(ctf);
	output_format(out,
		      "clock {\n\tname = \"monotonic\";\n\tdescription = \"Monotonic Clock\";\n"
		      "\tfreq = %d;\n\toffset = %" PRId64 ";\n};\n\n",
		      NS_PER_SECOND, ctf->offset);
	output_text(out, METADATA_STREAM);
	for (uint32_t i = 0; i < ctf->classes; i++)
		put_class(out, i, ctf->class[i]);
}

static int end(void *format, uint64_t last)
{
	struct ctf *ctf = format;
	uint64_t ns = ctf->begun ? ns_of(ctf, last) : 0;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct stream *stream = ctf->stream[cpu];

		/* One that has nothing but a loss has one packet, with nothing but that. */
		if (stream && stream->gap)
			write_packet(ctf, (uint16_t)cpu, ns > stream->last ? ns : stream->last);
		else if (stream && stream->events)
			write_packet(ctf, (uint16_t)cpu, stream->last);
	}
	put_metadata(ctf);
	ctf->export->left_out += lttng_left_out(ctf->lttng);
	return 0;
}

static void free_ctf(void *format)
{
	struct ctf *ctf = format;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		free(ctf->stream[cpu]);
	free(ctf->class);
	lttng_free(ctf->lttng);
	free(ctf);
}

static void *begin(struct export *export)
{
	struct ctf *ctf = calloc(1, sizeof(*ctf));

	if (!ctf)
		return NULL;
	ctf->export = export;
	ctf->lttng = lttng_new(export->trace, export->processes);
	if (!ctf->lttng) {
		free(ctf);
		return NULL;
	}
	return ctf;
}

const struct export_format export_ctf = {
	.name = "ctf",
	.about =
		"babeltrace2, Trace Compass: a directory, of CTF 1.8 as LTTng's kernel tracer writes "
		"it",
	.lacks = "exits from interrupts whose entries are not there, and priorities but those that "
		 "wake-ups tell",
	.wants = EXPORT_NS | EXPORT_DIRECTORY,
	.begin = begin,
	.event = event,
	.gap = gap,
	.end = end,
	.free = free_ctf,
};

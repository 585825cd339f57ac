// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JSON as Chrome's about:tracing has it: calls are complete slices (X), who runs on each CPU is a
 * track of its own, everything else is an instant with its fields.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format.h"

/* Processes that stand for the CPUs: no pid is as large. */
#define PID_RUNNING    5000000
#define PID_INTERRUPTS 5000001

/**
 * struct running - who runs on a CPU
 * @id: the thread
 * @since: stamp
 * @known: it is
 * @named: the CPU's tracks have their names
 */
struct running {
	uint32_t id;
	uint64_t since;
	bool known;
	bool named;
};

struct chrome {
	struct export *export;
	struct running running[UINT16_MAX + 1];
	uint64_t count;
};

/* Microseconds, with three digits behind the point. */
static void put_us(struct output *out, const char *key, int64_t ns)
{
	const uint64_t positive = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	output_format(out, ",\"%s\":%s%" PRIu64 ".%03" PRIu64, key, ns < 0 ? "-" : "",
		      positive / 1000, positive % 1000);
}

/* The beginning of an event: everything that all of them have. */
static void begin_event(struct chrome *chrome, const char *kind, const char *name, uint64_t stamp,
			uint32_t pid, uint32_t tid)
{
	struct output *out = chrome->export->out;

	output_text(out, chrome->count++ ? ",\n{\"name\":" : "\n{\"name\":");
	output_json(out, name, strlen(name));
	output_format(out, ",\"ph\":\"%s\"", kind);
	put_us(out, "ts", export_ns(chrome->export, stamp));
	output_format(out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, pid, tid);
}

static void put_duration(struct chrome *chrome, uint64_t from, uint64_t to)
{
	const int64_t ns = (int64_t)((uint64_t)export_ns(chrome->export, to) -
				     (uint64_t)export_ns(chrome->export, from));

	put_us(chrome->export->out, "dur", ns < 0 ? 0 : ns);
}

static void put_meta(struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid,
		     const char *name)
{
	begin_event(chrome, "M", what, chrome->export->first, pid, tid);
	output_text(chrome->export->out, ",\"args\":{\"name\":");
	output_json(chrome->export->out, name, strlen(name));
	output_text(chrome->export->out, "}}");
}

/* The tracks of a CPU, before there is anything on them. */
static void name_cpu(struct chrome *chrome, uint16_t cpu)
{
	char name[16];

	if (chrome->running[cpu].named)
		return;
	chrome->running[cpu].named = true;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	put_meta(chrome, "thread_name", PID_RUNNING, cpu, name);
	put_meta(chrome, "thread_name", PID_INTERRUPTS, cpu, name);
}

static void put_value(struct chrome *chrome, const struct fkt_field *field,
		      const struct fkt_event *event, const struct fkt_value *value)
{
	struct output *out = chrome->export->out;
	char text[FKT_VALUE_NAME_BYTES + 32];
	size_t bytes = 0;

	if (field->type == FKT_FIELD_STATE) {
		fkt_state_letters((uint32_t)value->number, text);
		bytes = strlen(text);
	}
	if (value->kind == FKT_VALUE_TEXT) {
		output_json(out, value->text, value->bytes);
		return;
	}
	if (fkt_field_is_named(field))
		bytes = (size_t)(fkt_put_name(chrome->export->trace, chrome->export->processes,
					      field, event, value->number, text) -
				 text);
	/* Several have the same name. */
	if (bytes && field->type == FKT_FIELD_PID && value->number)
		bytes += (size_t)sprintf(text + bytes, "[%" PRIu64 "]", value->number);
	if (bytes)
		output_json(out, text, bytes);
	else if (field->type == FKT_FIELD_HEX)
		output_format(out, "\"0x%" PRIx64 "\"", value->number);
	else if (value->kind == FKT_VALUE_SIGNED)
		output_format(out, "%" PRId64, (int64_t)value->number);
	else
		output_format(out, "%" PRIu64, value->number);
}

/* The fields of an event, as members; whether there were any before: @any. Returns the same. */
static bool put_fields(struct chrome *chrome, const struct fkt_event *event, bool any)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int count = fkt_fields(chrome->export->trace, event->code, fields);
	struct output *out = chrome->export->out;
	struct fkt_value value;

	for (unsigned int i = 0; i < count; i++) {
		if (!fkt_field_value(&fields[i], event, &value) || value.kind == FKT_VALUE_NONE ||
		    value.kind == FKT_VALUE_ARRAY)
			continue;
		if (any)
			output_text(out, ",");
		output_json(out, fields[i].name, strlen(fields[i].name));
		output_text(out, ":");
		put_value(chrome, &fields[i], event, &value);
		any = true;
	}
	return any;
}

static uint32_t tgid_of(const struct fkt_process *process)
{
	return process->tgid == FKT_PID_UNKNOWN ? process->tid : process->tgid;
}

/* Where an event is shown: with its thread, or with the CPU. */
static void place(struct chrome *chrome, uint32_t id, uint16_t cpu, uint32_t *pid, uint32_t *tid)
{
	const struct fkt_process *process = fkt_process(chrome->export->processes, id);

	*pid = PID_INTERRUPTS;
	*tid = cpu;
	if (!id || !process->tid)
		name_cpu(chrome, cpu);
	else
		*pid = tgid_of(process), *tid = process->tid;
}

/* A slice of who ran on the CPU until now. */
static void put_running(struct chrome *chrome, uint16_t cpu, uint64_t stamp)
{
	struct running *running = &chrome->running[cpu];
	const struct fkt_process *process;
	char name[64];

	if (!running->known)
		return;
	running->known = false;
	process = fkt_process(chrome->export->processes, running->id);
	/* Nothing is drawn where nobody ran. */
	if (!process->tid)
		return;
	name_cpu(chrome, cpu);
	snprintf(name, sizeof(name), "%s[%" PRIu32 "]", process->comm, process->tid);
	begin_event(chrome, "X", name, running->since, PID_RUNNING, cpu);
	put_duration(chrome, running->since, stamp);
	output_text(chrome->export->out, "}");
}

static bool is_call(const struct chrome *chrome, uint32_t code)
{
	const struct fkt_code_row *row = fkt_code_row(chrome->export->trace, code);

	return row && row->kind != FKT_KIND_POINT;
}

static int event(void *format, const struct fkt_event *event)
{
	struct chrome *chrome = format;
	struct running *running = &chrome->running[event->cpu];
	char name[FKT_NAME_BYTES];
	uint32_t id, pid, tid;

	if (event->code == FKT_CODE_SWITCH && event->words >= 1) {
		put_running(chrome, event->cpu, event->stamp);
		running->id =
			fkt_process_id(chrome->export->processes, fkt_arg32(event, 4), event->cpu);
		running->since = event->stamp;
		running->known = true;
	}
	/* Calls come when they end. */
	if (event->code == FKT_CODE_DATA || event->code == FKT_CODE_COUNTERS ||
	    is_call(chrome, event->code))
		return 0;
	id = event->pid == FKT_PID_UNKNOWN
		     ? 0
		     : fkt_process_id(chrome->export->processes, event->pid, event->cpu);
	place(chrome, id, event->cpu, &pid, &tid);
	fkt_code_name(chrome->export->trace, event->code, name);
	begin_event(chrome, "i", name, event->stamp, pid, tid);
	output_text(chrome->export->out, ",\"s\":\"t\",\"args\":{");
	put_fields(chrome, event, false);
	output_text(chrome->export->out, "}}");
	return 0;
}

static int leave(void *format, const struct fkt_call *call, bool passes)
{
	struct chrome *chrome = format;
	struct output *out = chrome->export->out;
	const uint32_t code = fkt_row_code(chrome->export->trace, call->row);
	struct fkt_event entry = { .stamp = call->begin,
				   .args = call->entry_args,
				   .code = code,
				   .cpu = call->cpu,
				   .words = (uint8_t)call->entry_words };
	char name[FKT_NAME_BYTES];
	uint32_t pid, tid;
	bool any = false;

	if (!passes)
		return 0;
	fkt_row_name(chrome->export->trace, call->row, name);
	if (call->interrupt) {
		name_cpu(chrome, call->cpu);
		pid = PID_INTERRUPTS;
		tid = call->cpu;
	} else {
		place(chrome, call->id, call->cpu, &pid, &tid);
	}
	begin_event(chrome, "X", name, call->begin, pid, tid);
	put_duration(chrome, call->begin, call->end);
	output_text(out, ",\"args\":{");
	if (call->partial) {
		output_text(out, "\"partial\":true");
		any = true;
	}
	if (!call->interrupt && call->entry_words && code < FKT_SLOT_CODES)
		any = put_fields(chrome, &entry, any);
	if (!call->interrupt && call->exit)
		put_fields(chrome, call->exit, any);
	output_text(out, "}}");
	return 0;
}

static int gap(void *format, const struct fkt_gap *gap, uint64_t stamp)
{
	struct chrome *chrome = format;
	char text[GAP_BYTES];

	export_gap(gap, text);
	if (gap->cpu != FKT_CPU_ANY) {
		put_running(chrome, gap->cpu, stamp);
		name_cpu(chrome, gap->cpu);
	}
	begin_event(chrome, "i", text, stamp, PID_RUNNING, gap->cpu == FKT_CPU_ANY ? 0 : gap->cpu);
	output_text(chrome->export->out, ",\"s\":\"g\"}");
	return 0;
}

static int end(void *format, uint64_t last)
{
	struct chrome *chrome = format;
	const struct fkt_processes *processes = chrome->export->processes;
	const struct fkt_process *process;

	for (uint32_t cpu = 0; cpu <= UINT16_MAX; cpu++)
		put_running(chrome, (uint16_t)cpu, last);
	put_meta(chrome, "process_name", PID_RUNNING, 0, "CPUs");
	put_meta(chrome, "process_name", PID_INTERRUPTS, 0, "Interrupts");
	for (uint32_t id = 1; id < fkt_process_count(processes); id++) {
		process = fkt_process(processes, id);
		if (!process->tid)
			continue;
		put_meta(chrome, "thread_name", tgid_of(process), process->tid, process->comm);
		if (tgid_of(process) == process->tid)
			put_meta(chrome, "process_name", process->tid, process->tid, process->comm);
	}
	output_text(chrome->export->out, "\n]}\n");
	return 0;
}

static void *begin(struct export *export)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return NULL;
	chrome->export = export;
	output_text(export->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	return chrome;
}

const struct export_format export_chrome = {
	.name = "chrome",
	.about =
		"about:tracing, Perfetto, Speedscope; of cuts: it is some ten times as large as the "
		"trace",
	.lacks = "stacks, the memory of system calls, and former names of threads and of pids that "
		 "were given again",
	.wants = EXPORT_NS | EXPORT_ARGS,
	.begin = begin,
	.event = event,
	.gap = gap,
	.leave = leave,
	.end = end,
	.free = free,
};

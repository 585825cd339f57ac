// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * FKT's events as those of LTTng-modules, by whose names and fields the readers of CTF work out who
 * runs where. What LTTng has no event for keeps FKT's names.
 *
 * An event's class is found by its code and how many words it has: the fields that it holds.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lttng.h"

/* All texts of an event; what finds no room is "". */
#define TEXT_BYTES	 (64u << 10)
/* Of the number of words in a slot. */
#define WORDS		 (FKT_SLOT_WORDS_MAX + 1)
#define CODES		 FKT_SLOT_CODES
#define CPUS		 (UINT16_MAX + 1)
#define CLASS_BUCKETS	 4096
/* Deeper than interrupts nest. */
#define IRQ_DEPTH	 16
#define IDLE_BYTES	 16
/* LTTng counts priorities from here on: those of real time are negative. */
#define MAX_RT_PRIO	 100
/* The priority of a thread of which the trace has no wake-up: nice 0. */
#define USUAL_PRIO	 20
/* A thread has not run since the trace began. */
#define NO_CPU		 UINT16_MAX
/* So many events are looked at for who was current on each CPU. */
#define FIRST_EVENTS_MAX (1u << 20)

/* lttng_statedump_process_state */
enum {
	LTTNG_USER_THREAD = 0,
	LTTNG_KERNEL_THREAD = 1,
	LTTNG_MODE_UNKNOWN = 5,
	LTTNG_SUBMODE_UNKNOWN = 1,
	LTTNG_WAIT = 5,
	LTTNG_RUN = 6,
};

/* Of a thread: what LTTng's events say and FKT's do not. */
struct thread {
	int16_t prio;
	uint16_t cpu; /* where it ran last */
	bool has_prio;
	bool runs; /* was current on a CPU when the trace began */
};

/* Where a field of a class comes from. */
struct origin {
	struct fkt_field field;
	enum {
		ORIGIN_VALUE,
		ORIGIN_NAME,
		ORIGIN_FUNCTION,
		ORIGIN_VECTOR,
		ORIGIN_RWBS,
	} what;
};

/* What becomes of the events of a code that have so many words. */
struct shape {
	struct lttng_class *class[1 << LTTNG_STACKS]; /* by the stacks that they have */
	unsigned int count;
	struct lttng_field *field;
	struct origin *origin;
};

struct code {
	const struct known *known; /* those that are put together by hand */
	char *name;		   /* of the event */
	char *function;		   /* of the function that it is an entry or exit of, or NULL */
	int vector;		   /* of the interrupt, -1: none */
	unsigned int count;
	struct fkt_field *field;
	struct shape *shape[WORDS];
	struct shape by_hand; /* of @known: its classes alone */
};

struct irqs {
	unsigned int depth;
	uint16_t irq[IRQ_DEPTH];
};

struct lttng {
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct lttng_class *classes;
	struct lttng_class *bucket[CLASS_BUCKETS]; /* the same, by their names */
	struct code **code;			   /* CODES */
	struct thread *thread;
	uint32_t threads;
	uint32_t at_first;	  /* how many threads there were at first */
	struct irqs **irqs;	  /* CPUS */
	char (*idle)[IDLE_BYTES]; /* CPUS: the name of the thread that is idle there */
	uint64_t last;
	uint64_t left_out;
	bool tells_target; /* wake-ups say where to; in older traces they do not */
	struct lttng_class *dump_class;
	struct fkt_event now;
	struct fkt_stack stack; /* of this event, where it is another one than the trace has */
	size_t text_bytes;
	char text[TEXT_BYTES];
};

/* ---- classes ---- */

static bool same_fields(const struct lttng_class *class, const struct lttng_field *field,
			unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (strcmp(class->field[i].name, field[i].name) ||
		    class->field[i].kind != field[i].kind ||
		    class->field[i].bytes != field[i].bytes ||
		    class->field[i].elements != field[i].elements ||
		    class->field[i].is_signed != field[i].is_signed ||
		    class->field[i].hex != field[i].hex)
			return false;
	return true;
}

/* The class with that name and these fields. */
static struct lttng_class *class_of(struct lttng *lttng, const char *name, unsigned int stacks,
				    const struct lttng_field *field, unsigned int count)
{
	struct lttng_class *class, **bucket;
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	bucket = &lttng->bucket[(hash ^ hash >> 12) % CLASS_BUCKETS];
	for (class = *bucket; class; class = class->chain)
		if (class->count == count && class->stacks == stacks &&
		    !strcmp(class->name, name) && same_fields(class, field, count))
			return class;
	class = calloc(1, sizeof(*class));
	if (!class)
		return NULL;
	class->name = strdup(name);
	class->field = calloc(count + 1, sizeof(*field));
	if (!class->name || !class->field) {
		free(class->name);
		free(class->field);
		free(class);
		return NULL;
	}
	memcpy(class->field, field, count * sizeof(*field));
	class->count = count;
	class->stacks = stacks;
	class->next = lttng->classes;
	lttng->classes = class;
	class->chain = *bucket;
	*bucket = class;
	return class;
}

/* Make a name that C would take, and that neither another field before it has nor a stack. */
static void set_name(struct lttng_field *fields, unsigned int n, const char *name)
{
	const char *prefix = isdigit((unsigned char)*name) ? "_" : "";
	char *to = fields[n].name, base[FKT_FIELD_NAME_BYTES + 6];
	unsigned int number = 1, i;

	if (!strncmp(name, "callstack", strlen("callstack")))
		prefix = "field_";
	snprintf(base, sizeof(base), "%s%s", prefix, name);
	for (char *c = base; *c; c++)
		if (!isascii((unsigned char)*c) || (!isalnum((unsigned char)*c) && *c != '_'))
			*c = '_';
	snprintf(to, LTTNG_NAME_BYTES, "%s", *base ? base : "_");
	for (i = 0; i < n; i++)
		if (!strcmp(fields[i].name, to)) {
			snprintf(to, LTTNG_NAME_BYTES, "%.*s_%u", LTTNG_NAME_BYTES - 6, base,
				 ++number);
			i = UINT32_MAX; /* from the first one on again */
		}
}

/* ---- texts ---- */

/* Keep a text until the next event: clean. */
static const char *put_text(struct lttng *lttng, const char *text, size_t bytes)
{
	char *to = lttng->text + lttng->text_bytes;

	if (bytes >= TEXT_BYTES - lttng->text_bytes)
		return "";
	memcpy(to, text, bytes);
	to[bytes] = '\0';
	fkt_sanitize(to);
	lttng->text_bytes += bytes + 1;
	return to;
}

/* What an array has whose event is too short for it. */
static const char zeros[UINT8_MAX];

/* ---- threads ---- */

static struct thread *thread_of(struct lttng *lttng, uint32_t id)
{
	struct thread *thread;
	uint32_t room;

	if (id >= lttng->threads) {
		room = id + id / 2 + 64;
		thread = realloc(lttng->thread, room * sizeof(*thread));
		if (!thread)
			return NULL;
		for (uint32_t i = lttng->threads; i < room; i++)
			thread[i] = (struct thread){ .cpu = NO_CPU };
		lttng->thread = thread;
		lttng->threads = room;
	}
	return &lttng->thread[id];
}

static uint32_t id_of(struct lttng *lttng, uint32_t tid)
{
	return fkt_process_id(lttng->processes, tid, lttng->now.cpu);
}

/* A thread's name as it is at this moment: it is clean, but its place may change. */
static const char *comm_of(struct lttng *lttng, uint32_t tid)
{
	const struct fkt_process *process;
	char *to = lttng->text + lttng->text_bytes;

	/* As LTTng has it, and each other tracer. */
	if (!tid) {
		to = lttng->idle[lttng->now.cpu];
		if (!*to)
			snprintf(to, IDLE_BYTES, "swapper/%u", lttng->now.cpu);
		return to;
	}
	if (sizeof(process->comm) > TEXT_BYTES - lttng->text_bytes)
		return "";
	process = fkt_process(lttng->processes, id_of(lttng, tid));
	memcpy(to, process->comm, sizeof(process->comm));
	lttng->text_bytes += sizeof(process->comm);
	return to;
}

static int64_t prio_of(struct lttng *lttng, uint32_t tid)
{
	const struct thread *thread = thread_of(lttng, id_of(lttng, tid));

	return thread && thread->has_prio ? thread->prio : USUAL_PRIO;
}

/* ---- events that LTTng has, put together by hand ---- */

static void put_number(struct lttng_event *out, unsigned int i, int64_t number)
{
	out->value[i].number = (uint64_t)number;
}

static void fill_switch(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	uint32_t prev = fkt_arg32(event, 0), next = fkt_arg32(event, 4);
	struct thread *thread = thread_of(lttng, id_of(lttng, next));

	if (thread)
		thread->cpu = event->cpu;
	out->value[0].text = comm_of(lttng, prev);
	put_number(out, 1, (int32_t)prev);
	put_number(out, 2, prio_of(lttng, prev));
	/* What the kernel tells nobody of does not run, and is not 0. */
	put_number(out, 3, fkt_state_reported(event->imm) ?: event->imm);
	out->value[4].text = comm_of(lttng, next);
	put_number(out, 5, (int32_t)next);
	put_number(out, 6, prio_of(lttng, next));
}

static void fill_wakeup(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	uint32_t tid = fkt_arg32(event, 0);
	int64_t prio = (int64_t)(int32_t)fkt_arg32(event, 4) - MAX_RT_PRIO;
	struct thread *thread = thread_of(lttng, id_of(lttng, tid));

	if (thread) {
		thread->prio = (int16_t)prio;
		thread->has_prio = true;
	}
	out->value[0].text = comm_of(lttng, tid);
	put_number(out, 1, (int32_t)tid);
	put_number(out, 2, prio);
	/*
	 * Where it is, which is where it ran last, as far as that can be seen: the scheduler has
	 * not chosen yet.
	 */
	if (lttng->tells_target)
		put_number(out, 3, event->imm);
	else
		put_number(out, 3, thread && thread->cpu != NO_CPU ? thread->cpu : event->cpu);
}

static void fill_fork(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	uint32_t child = fkt_arg32(event, 0), parent = fkt_arg32(event, 8);

	out->value[0].text = comm_of(lttng, parent);
	put_number(out, 1, (int32_t)parent);
	put_number(out, 2, (int32_t)fkt_arg32(event, 12));
	out->value[3].text = comm_of(lttng, child);
	put_number(out, 4, (int32_t)child);
	put_number(out, 5, (int32_t)fkt_arg32(event, 4));
}

static void fill_exit(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	uint32_t tid = fkt_arg32(event, 0);

	out->value[0].text = comm_of(lttng, tid);
	put_number(out, 1, (int32_t)tid);
	put_number(out, 2, prio_of(lttng, tid));
	put_number(out, 3, event->code == FKT_CODE_EXIT ? fkt_arg32(event, 4) : 0);
}

static void fill_exec(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	uint32_t tid = fkt_arg32(event, 0);

	/* The name is the file's, up to its 15th character. */
	out->value[0].text = comm_of(lttng, tid);
	put_number(out, 1, (int32_t)tid);
	put_number(out, 2, (int32_t)fkt_arg32(event, 4));
}

static void fill_rename(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	uint32_t tid = fkt_arg32(event, 0);

	put_number(out, 0, (int32_t)tid);
	put_number(out, 1, (int32_t)fkt_arg32(event, 4));
	out->value[2].text = comm_of(lttng, tid);
}

static void fill_irq(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	const char *name;

	put_number(out, 0, event->imm);
	if (out->class->count < 2)
		return;
	name = fkt_irq_name(lttng->trace, event->imm) ?: "";
	out->value[1].text = put_text(lttng, name, strlen(name));
}

static void fill_vec(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	(void)lttng;
	put_number(out, 0, event->imm);
}

#define TEXT(name)                                                                                 \
	{                                                                                          \
		name, LTTNG_STRING, 0, 0, false, false                                             \
	}
#define INT(name)                                                                                  \
	{                                                                                          \
		name, LTTNG_INTEGER, 4, 0, true, false                                             \
	}
#define LONG(name)                                                                                 \
	{                                                                                          \
		name, LTTNG_INTEGER, 8, 0, true, false                                             \
	}
#define UINT(name)                                                                                 \
	{                                                                                          \
		name, LTTNG_INTEGER, 4, 0, false, false                                            \
	}
#define HEX32(name)                                                                                \
	{                                                                                          \
		name, LTTNG_INTEGER, 4, 0, false, true                                             \
	}

static const struct known {
	uint32_t code;
	uint8_t words; /* those with less are shown as they are */
	const char *name;
	void (*fill)(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out);
	unsigned int count;
	struct lttng_field field[8];
} known[] = {
	{ FKT_CODE_SWITCH,
	  1,
	  "sched_switch",
	  fill_switch,
	  7,
	  { TEXT("prev_comm"), INT("prev_tid"), INT("prev_prio"), LONG("prev_state"),
	    TEXT("next_comm"), INT("next_tid"), INT("next_prio") } },
	{ FKT_CODE_WAKEUP,
	  1,
	  "sched_waking",
	  fill_wakeup,
	  4,
	  { TEXT("comm"), INT("tid"), INT("prio"), INT("target_cpu") } },
	{ FKT_CODE_WAKEUP_NEW,
	  1,
	  "sched_wakeup_new",
	  fill_wakeup,
	  4,
	  { TEXT("comm"), INT("tid"), INT("prio"), INT("target_cpu") } },
	{ FKT_CODE_FORK,
	  2,
	  "sched_process_fork",
	  fill_fork,
	  6,
	  { TEXT("parent_comm"), INT("parent_tid"), INT("parent_pid"), TEXT("child_comm"),
	    INT("child_tid"), INT("child_pid") } },
	{ FKT_CODE_EXIT,
	  1,
	  "sched_process_exit",
	  fill_exit,
	  4,
	  { TEXT("comm"), INT("tid"), INT("prio"), HEX32("code") } },
	{ FKT_CODE_RELEASE,
	  1,
	  "sched_process_free",
	  fill_exit,
	  3,
	  { TEXT("comm"), INT("tid"), INT("prio") } },
	{ FKT_CODE_EXEC,
	  3,
	  "sched_process_exec",
	  fill_exec,
	  3,
	  { TEXT("filename"), INT("tid"), INT("old_tid") } },
	{ FKT_CODE_RENAME,
	  3,
	  "task_rename",
	  fill_rename,
	  3,
	  { INT("tid"), INT("pid"), TEXT("newcomm") } },
	{ FKT_CODE_IRQ_ENTRY, 0, "irq_handler_entry", fill_irq, 2, { INT("irq"), TEXT("name") } },
	{ FKT_CODE_IRQ_EXIT, 0, "irq_handler_exit", fill_irq, 1, { INT("irq") } },
	{ FKT_CODE_SOFTIRQ_ENTRY, 0, "irq_softirq_entry", fill_vec, 1, { UINT("vec") } },
	{ FKT_CODE_SOFTIRQ_EXIT, 0, "irq_softirq_exit", fill_vec, 1, { UINT("vec") } },
	{ FKT_CODE_SOFTIRQ_RAISE, 0, "irq_softirq_raise", fill_vec, 1, { UINT("vec") } },
};

static const struct lttng_field state_fields[] = {
	INT("tid"),  INT("pid"),     INT("ppid"),   TEXT("name"), INT("type"),
	INT("mode"), INT("submode"), INT("status"), UINT("cpu"),
};

/* ---- names of events ---- */

/* Those that readers work out the machine's state by are not to come from anywhere else. */
static bool is_reserved(const char *name)
{
	static const char *const reserved[] = { "syscall_", "x86_irq_vectors_", "lttng_statedump_",
						"compat_syscall_" };

	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (!strncmp(name, reserved[i], strlen(reserved[i])))
			return true;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name))
			return true;
	return !strcmp(name, "sched_wakeup");
}

static char *concat(const char *a, const char *b)
{
	size_t bytes = strlen(a) + strlen(b) + 1;
	char *text = malloc(bytes);

	if (text)
		snprintf(text, bytes, "%s%s", a, b);
	return text;
}

static bool is_in(uint32_t code, uint32_t first)
{
	return code >= first && code < first + 1024;
}

/*
 * The name of a system call's events. Those that have no name of their own say their number.
 */
static char *syscall_name(const struct fkt_trace *trace, uint32_t code)
{
	bool compat = code >= FKT_CODE_COMPAT_ENTRY;
	bool exit = is_in(code, FKT_CODE_SYSCALL_EXIT) || is_in(code, FKT_CODE_COMPAT_EXIT);
	const struct fkt_syscall *call = fkt_syscall(trace, compat, code & 1023);
	char prefix[32], number[16];

	snprintf(prefix, sizeof(prefix), "%ssyscall_%s_", compat ? "compat_" : "",
		 exit ? "exit" : "entry");
	snprintf(number, sizeof(number), "%u", code & 1023);
	return concat(prefix, call ? call->name : number);
}

/* Vectors in the order of FKT_VECTORS, by the names that LTTng has for them. */
static const struct {
	const char *fkt;
	const char *lttng;
	int number;
} vectors[] = {
	{ "local_timer", "local_timer", 0xec },
	{ "reschedule", "reschedule", 0xfd },
	{ "call_function", "call_function", 0xfc },
	{ "call_function_single", "call_function_single", 0xfb },
	{ "irq_work", "irq_work", 0xf6 },
	{ "x86_platform_ipi", "ipi", 0xf7 },
	{ "spurious_apic", "spurious_apic", 0xff },
	{ "error_apic", "error_apic", 0xfe },
	{ "thermal_apic", "thermal_apic", 0xfa },
	{ "threshold_apic", "threshold_apic", 0xf9 },
	{ "deferred_error_apic", "deferred_error_apic", 0xf4 },
};

static char *vector_name(const struct fkt_trace *trace, uint32_t code, int *vector)
{
	bool exit = code >= FKT_CODE_VECTOR_EXIT;
	const char *name = fkt_vector_name(trace, code - (exit ? FKT_CODE_VECTOR_EXIT
							       : FKT_CODE_VECTOR_ENTRY));
	char text[FKT_NAME_BYTES];

	for (size_t i = 0; name && i < sizeof(vectors) / sizeof(vectors[0]); i++)
		if (!strcmp(vectors[i].fkt, name)) {
			*vector = vectors[i].number;
			snprintf(text, sizeof(text), "x86_irq_vectors_%s%s", vectors[i].lttng,
				 exit ? "_exit" : "_entry");
			return strdup(text);
		}
	return NULL;
}

/* Beginnings and ends that have the same name, such as those of spans, are told apart. */
static const char *which_end(struct fkt_trace *trace, const struct fkt_code_row *row,
			     const char *name)
{
	char other[FKT_NAME_BYTES];

	if (!row || (row->kind != FKT_KIND_ENTRY && row->kind != FKT_KIND_EXIT))
		return "";
	fkt_code_name(trace, row->pair, other);
	if (strcmp(name, other))
		return "";
	return row->kind == FKT_KIND_ENTRY ? "_entry" : "_exit";
}

/* The name of a code's events. */
static char *event_name(struct lttng *lttng, uint32_t code, struct code *c)
{
	const struct fkt_code_row *row = fkt_code_row(lttng->trace, code);
	char name[FKT_NAME_BYTES + sizeof("_entry")], *vector, *bare;

	if (code < FKT_CODE_IRQ_ENTRY)
		return syscall_name(lttng->trace, code);
	if (code >= FKT_CODE_VECTOR_ENTRY && code < FKT_CODE_SWITCH) {
		vector = vector_name(lttng->trace, code, &c->vector);
		if (vector)
			return vector;
	}
	if (code == FKT_CODE_PAGE_FAULT_USER || code == FKT_CODE_PAGE_FAULT_KERNEL)
		return strdup(code == FKT_CODE_PAGE_FAULT_USER
				      ? "x86_exceptions_page_fault_user"
				      : "x86_exceptions_page_fault_kernel");
	fkt_code_name(lttng->trace, code, name);
	if (code >= FKT_CODE_DYNAMIC && code < FKT_CODE_DYNAMIC_END && row &&
	    (row->kind == FKT_KIND_ENTRY || row->kind == FKT_KIND_EXIT)) {
		c->function = strdup(name);
		return c->function ? strdup(row->kind == FKT_KIND_ENTRY ? "fkt_function_entry"
									: "fkt_function_exit")
				   : NULL;
	}
	strcat(name, which_end(lttng->trace, row, name));
	/* A tracepoint's name stands behind its system's; another tracer has it without that. */
	bare = strchr(name, ':');
	if (bare && bare[1] && !is_reserved(bare + 1))
		return strdup(bare + 1);
	return is_reserved(name) ? concat("fkt:", name) : strdup(name);
}

/* ---- what becomes of a code ---- */

static struct code *code_of(struct lttng *lttng, uint32_t code)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	struct code *c;

	if (lttng->code[code])
		return lttng->code[code];
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	lttng->code[code] = c;
	c->vector = -1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].code == code)
			c->known = &known[i];
	c->name = event_name(lttng, code, c);
	c->count = fkt_fields(lttng->trace, code, fields);
	c->field = calloc(c->count + 1, sizeof(*fields));
	if (!c->name || !c->field)
		return NULL;
	memcpy(c->field, fields, c->count * sizeof(*fields));
	return c;
}

/* LTTng's name of a field, where it has another one than FKT. */
static const char *field_name(uint32_t code, const char *name)
{
	if ((code == FKT_CODE_PAGE_FAULT_USER || code == FKT_CODE_PAGE_FAULT_KERNEL) &&
	    !strcmp(name, "error"))
		return "error_code";
	return name;
}

/* How a field looks, but for its name. */
static struct lttng_field looks(const struct fkt_field *field)
{
	struct lttng_field to = { .kind = LTTNG_INTEGER, .bytes = field->bytes };

	if (field->immediate && !to.bytes)
		to.bytes = 2;
	switch (field->type) {
	case FKT_FIELD_COMM:
	case FKT_FIELD_STRING:
	case FKT_FIELD_QUOTED:
	case FKT_FIELD_CHAR:
		to.kind = LTTNG_STRING;
		to.bytes = 0;
		break;
	case FKT_FIELD_ARRAY:
		to.kind = LTTNG_ARRAY;
		to.elements = field->elements;
		to.bytes = (uint8_t)(field->bytes / field->elements);
		to.is_signed = field->element == FKT_FIELD_SIGNED ||
			       field->element == FKT_FIELD_ENUM;
		to.hex = field->element == FKT_FIELD_HEX || field->element == FKT_FIELD_SYMBOL;
		break;
	case FKT_FIELD_RESULT:
	case FKT_FIELD_RESULT_UNSIGNED:
		to.bytes = 8;
		to.is_signed = field->type == FKT_FIELD_RESULT;
		break;
	case FKT_FIELD_PID:
	case FKT_FIELD_SIGNED:
	case FKT_FIELD_ENUM:
	case FKT_FIELD_ARGUMENT:
		to.is_signed = true;
		break;
	case FKT_FIELD_HEX:
	case FKT_FIELD_SYMBOL:
	case FKT_FIELD_FUNCTION:
		to.hex = true;
		break;
	default:
		break;
	}
	return to;
}

/*
 * What LTTng has in "rwbs", from the kernel's "opf": an operation, in the lowest byte, and flags.
 * Trace Compass tells reads and writes of disks apart by it.
 */
static uint64_t rwbs(uint64_t opf)
{
	static const uint16_t operations[] = { 1u << 2, 1, 1u << 8, 1u << 1, 0, 1u << 1 | 1u << 7 };
	static const struct {
		uint32_t opf;
		uint32_t rwbs;
	} flags[] = {
		{ 1u << 11, 1u << 5 },	/* REQ_SYNC */
		{ 1u << 12, 1u << 6 },	/* REQ_META */
		{ 1u << 17, 1u << 9 },	/* REQ_FUA */
		{ 1u << 18, 1u << 10 }, /* REQ_PREFLUSH */
		{ 1u << 19, 1u << 3 },	/* REQ_RAHEAD */
	};
	uint64_t to = 0;

	if ((opf & 0xff) < sizeof(operations) / sizeof(operations[0]))
		to = operations[opf & 0xff];
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (opf & flags[i].opf)
			to |= flags[i].rwbs;
	return to;
}

static void free_shape(struct shape *shape)
{
	if (!shape)
		return;
	free(shape->field);
	free(shape->origin);
	free(shape);
}

/* The class of a shape's events that have these stacks; NULL without memory. */
static struct lttng_class *class_of_shape(struct lttng *lttng, struct shape *shape,
					  const char *name, unsigned int stacks,
					  const struct lttng_field *field, unsigned int count)
{
	if (!shape->class[stacks])
		shape->class[stacks] = class_of(lttng, name, stacks, field, count);
	return shape->class[stacks];
}

/* The fields that events of a code have with so many words, and where they come from. */
static struct shape *make_shape(struct code *c, const struct fkt_event *event)
{
	struct lttng_field fields[LTTNG_FIELDS_MAX];
	struct origin origin[LTTNG_FIELDS_MAX];
	struct shape *shape = calloc(1, sizeof(*shape));
	struct fkt_value value;
	unsigned int n = 0;
	char name[FKT_FIELD_NAME_BYTES + 6];

	if (!shape)
		return NULL;
	if (c->function) {
		fields[n] = (struct lttng_field){ .kind = LTTNG_STRING };
		origin[n].what = ORIGIN_FUNCTION;
		set_name(fields, n++, "name");
	}
	if (c->vector >= 0) {
		fields[n] = (struct lttng_field){ .kind = LTTNG_INTEGER,
						  .bytes = 4,
						  .is_signed = true };
		origin[n].what = ORIGIN_VECTOR;
		set_name(fields, n++, "vector");
	}
	for (unsigned int i = 0; i < c->count; i++) {
		const struct fkt_field *field = &c->field[i];

		if (!fkt_field_value(field, event, &value))
			continue;
		fields[n] = looks(field);
		origin[n] = (struct origin){ .field = *field, .what = ORIGIN_VALUE };
		set_name(fields, n++, field_name(event->code, field->name));
		if (!strcmp(field->name, "opf") && field->type == FKT_FIELD_HEX) {
			fields[n] = (struct lttng_field){ .kind = LTTNG_INTEGER,
							  .bytes = 4,
							  .hex = true };
			origin[n] = (struct origin){ .field = *field, .what = ORIGIN_RWBS };
			set_name(fields, n++, "rwbs");
		}
		if (!fkt_field_is_named(field) || field->type == FKT_FIELD_RESULT)
			continue;
		fields[n] = (struct lttng_field){ .kind = LTTNG_STRING };
		origin[n] = (struct origin){ .field = *field, .what = ORIGIN_NAME };
		snprintf(name, sizeof(name), "%s_name", field_name(event->code, field->name));
		set_name(fields, n++, name);
	}
	shape->count = n;
	shape->origin = calloc(n + 1, sizeof(*origin));
	shape->field = calloc(n + 1, sizeof(*fields));
	if (!shape->origin || !shape->field) {
		free_shape(shape);
		return NULL;
	}
	memcpy(shape->origin, origin, n * sizeof(*origin));
	memcpy(shape->field, fields, n * sizeof(*fields));
	return shape;
}

static void put_value(struct lttng *lttng, const struct origin *origin,
		      const struct fkt_event *event, struct lttng_value *to)
{
	struct fkt_value value;
	char character;

	if (!fkt_field_value(&origin->field, event, &value)) {
		*to = (struct lttng_value){ .text = origin->field.type == FKT_FIELD_ARRAY ? zeros
											  : "" };
		return;
	}
	to->number = value.number;
	if (origin->field.type == FKT_FIELD_CHAR) {
		character = (char)value.number;
		to->text = put_text(lttng, &character, character != '\0');
	} else if (value.kind == FKT_VALUE_TEXT) {
		to->text = put_text(lttng, value.text, value.bytes);
	} else if (value.kind == FKT_VALUE_ARRAY) {
		to->text = value.text;
	}
	/* A pid is signed where there is none. */
	if (origin->field.type == FKT_FIELD_PID)
		to->number = (uint64_t)(int64_t)(int32_t)value.number;
}

static void put_name(struct lttng *lttng, const struct origin *origin,
		     const struct fkt_event *event, struct lttng_value *to)
{
	char name[FKT_VALUE_NAME_BYTES];
	struct fkt_value value;
	char *end = name;

	if (fkt_field_value(&origin->field, event, &value))
		end = fkt_put_name(lttng->trace, lttng->processes, &origin->field, event,
				   value.number, name);
	to->text = put_text(lttng, name, (size_t)(end - name));
}

/* An event as the table of fields says. */
static int fill_fields(struct lttng *lttng, struct code *c, const struct fkt_event *event,
		       unsigned int stacks, struct lttng_event *out)
{
	struct shape *shape = c->shape[event->words % WORDS];

	if (!shape) {
		shape = make_shape(c, event);
		if (!shape)
			return -ENOMEM;
		c->shape[event->words % WORDS] = shape;
	}
	out->class = class_of_shape(lttng, shape, c->name, stacks, shape->field, shape->count);
	if (!out->class)
		return -ENOMEM;
	for (unsigned int i = 0; i < shape->count; i++) {
		const struct origin *origin = &shape->origin[i];
		struct lttng_value *value = &out->value[i];

		switch (origin->what) {
		case ORIGIN_VALUE:
			put_value(lttng, origin, event, value);
			break;
		case ORIGIN_NAME:
			put_name(lttng, origin, event, value);
			break;
		case ORIGIN_FUNCTION:
			value->text = c->function;
			break;
		case ORIGIN_VECTOR:
			value->number = (uint64_t)c->vector;
			break;
		case ORIGIN_RWBS:
			put_value(lttng, origin, event, value);
			value->number = rwbs(value->number);
			break;
		}
	}
	return 1;
}

static int fill_known(struct lttng *lttng, struct code *c, const struct fkt_event *event,
		      unsigned int stacks, struct lttng_event *out)
{
	out->class = class_of_shape(lttng, &c->by_hand, c->known->name, stacks, c->known->field,
				    c->known->count);
	if (!out->class)
		return -ENOMEM;
	c->known->fill(lttng, event, out);
	return 1;
}

/* ---- stacks ---- */

unsigned int lttng_frames(const struct fkt_stack *stack, enum lttng_stack which,
			  unsigned int *first)
{
	unsigned int kernel = fkt_stack_kernel(stack);

	/* What stands for those of the kernel that are missing is the kernel's, too. */
	if (kernel < stack->count && (stack->frame[kernel] == FKT_FRAME_CUT ||
				      (!kernel && stack->frame[0] == FKT_FRAME_UNKNOWN)))
		kernel++;
	*first = which == LTTNG_STACK_KERNEL ? 0 : kernel;
	return which == LTTNG_STACK_KERNEL ? kernel : stack->count - kernel;
}

/* An event's stack, with a frame for those that are missing in the end: which ones there are. */
static unsigned int set_stacks(struct lttng *lttng, const struct fkt_stack *stack,
			       struct lttng_event *out)
{
	unsigned int stacks = 0, first;

	if (!stack)
		return 0;
	if (stack->cut && stack->count && stack->count < FKT_STACK_FRAMES_BOTH) {
		lttng->stack = *stack;
		lttng->stack.frame[lttng->stack.count++] = FKT_FRAME_CUT;
		stack = &lttng->stack;
	}
	out->stack = stack;
	for (enum lttng_stack which = 0; which < LTTNG_STACKS; which++)
		if (lttng_frames(stack, which, &first))
			stacks |= 1u << which;
	/* One that is not known has no frames. */
	return stack->known ? stacks : 1u << LTTNG_STACK_KERNEL;
}

/* ---- interrupts that are left out ---- */

static struct irqs *irqs_of(struct lttng *lttng, uint16_t cpu)
{
	if (!lttng->irqs[cpu])
		lttng->irqs[cpu] = calloc(1, sizeof(**lttng->irqs));
	return lttng->irqs[cpu];
}

/*
 * Whether an event is the exit from an interrupt whose entry is not there: readers take what runs
 * there then for something else, for good.
 */
static bool is_exit_alone(struct lttng *lttng, const struct fkt_event *event)
{
	struct irqs *irqs;

	if (event->code != FKT_CODE_IRQ_ENTRY && event->code != FKT_CODE_IRQ_EXIT)
		return false;
	irqs = irqs_of(lttng, event->cpu);
	if (!irqs)
		return false;
	if (event->code == FKT_CODE_IRQ_ENTRY) {
		if (irqs->depth < IRQ_DEPTH)
			irqs->irq[irqs->depth++] = event->imm;
		return false;
	}
	if (!irqs->depth || irqs->irq[irqs->depth - 1] != event->imm)
		return true;
	irqs->depth--;
	return false;
}

void lttng_gap(struct lttng *lttng, const struct fkt_gap *gap)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (lttng->irqs[cpu] && (gap->cpu == FKT_CPU_ANY || gap->cpu == cpu))
			lttng->irqs[cpu]->depth = 0;
}

/* ---- the public functions ---- */

bool lttng_tells_target(const struct fkt_trace *trace)
{
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int n = fkt_fields(trace, FKT_CODE_WAKEUP, fields);

	for (unsigned int i = 0; i < n; i++)
		if (fields[i].immediate && !strcmp(fields[i].name, "target_cpu"))
			return true;
	return false;
}

struct lttng *lttng_new(struct fkt_trace *trace, struct fkt_processes *processes)
{
	struct lttng *lttng = calloc(1, sizeof(*lttng));

	if (!lttng)
		return NULL;
	lttng->trace = trace;
	lttng->processes = processes;
	lttng->tells_target = lttng_tells_target(trace);
	lttng->code = calloc(CODES, sizeof(*lttng->code));
	lttng->irqs = calloc(CPUS, sizeof(*lttng->irqs));
	lttng->idle = calloc(CPUS, sizeof(*lttng->idle));
	if (!lttng->code || !lttng->irqs || !lttng->idle) {
		lttng_free(lttng);
		return NULL;
	}
	return lttng;
}

static void free_code(struct code *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < WORDS; i++)
		free_shape(c->shape[i]);
	free(c->name);
	free(c->function);
	free(c->field);
	free(c);
}

void lttng_free(struct lttng *lttng)
{
	struct lttng_class *class;

	if (!lttng)
		return;
	while ((class = lttng->classes)) {
		lttng->classes = class->next;
		free(class->name);
		free(class->field);
		free(class);
	}
	for (uint32_t i = 0; lttng->code && i < CODES; i++)
		free_code(lttng->code[i]);
	for (uint32_t i = 0; lttng->irqs && i < CPUS; i++)
		free(lttng->irqs[i]);
	free(lttng->code);
	free(lttng->irqs);
	free(lttng->idle);
	free(lttng->thread);
	free(lttng);
}

struct lttng_class *lttng_classes(const struct lttng *lttng)
{
	return lttng->classes;
}

uint64_t lttng_left_out(const struct lttng *lttng)
{
	return lttng->left_out;
}

/*
 * Whoever was current on a CPU runs there: each CPU's next event says who that was. Of a stream,
 * which can't be read ahead, that is not known.
 */
static void find_running(struct lttng *lttng, uint64_t from)
{
	const struct fkt_file_header *header = fkt_header(lttng->trace);
	uint32_t left = header->lanes, seen = 0, id;
	uint64_t first, last;
	struct fkt_reader *reader;
	struct fkt_event event;
	struct thread *thread;
	bool *known_cpu;
	int what;

	if (!fkt_span(lttng->trace, &first, &last))
		return;
	reader = fkt_reader_new_window(lttng->trace, from, UINT64_MAX);
	known_cpu = calloc(CPUS, sizeof(*known_cpu));
	while (reader && known_cpu && left && seen < FIRST_EVENTS_MAX &&
	       (what = fkt_next(reader, &event)) > 0) {
		if (what != FKT_EVENT)
			continue;
		seen++;
		if (known_cpu[event.cpu])
			continue;
		known_cpu[event.cpu] = true;
		if (!header->shared)
			left--;
		if (!event.pid || event.pid == FKT_PID_UNKNOWN)
			continue;
		id = fkt_process_id(lttng->processes, event.pid, event.cpu);
		thread = id < lttng->at_first ? thread_of(lttng, id) : NULL;
		if (thread) {
			thread->runs = true;
			thread->cpu = event.cpu;
		}
	}
	free(known_cpu);
	fkt_reader_free(reader);
}

static void begin_event(struct lttng *lttng, const struct fkt_event *event, struct lttng_event *out)
{
	lttng->now = *event;
	lttng->text_bytes = 0;
	if (event->stamp > lttng->last)
		lttng->last = event->stamp;
	out->stamp = lttng->last;
	out->cpu = event->cpu;
	out->tid = event->pid == FKT_PID_UNKNOWN ? -1 : (int32_t)event->pid;
	out->procname = comm_of(lttng, event->pid);
	out->stack = NULL;
}

static int fill_state(struct lttng *lttng, uint32_t id, struct lttng_event *out)
{
	const struct fkt_process *process = fkt_process(lttng->processes, id);
	const struct thread *thread = thread_of(lttng, id);

	if (!thread)
		return -ENOMEM;
	put_number(out, 0, (int32_t)process->tid);
	put_number(out, 1,
		   (int32_t)(process->tgid == FKT_PID_UNKNOWN ? process->tid : process->tgid));
	put_number(out, 2, process->parent == FKT_PID_UNKNOWN ? 0 : (int32_t)process->parent);
	out->value[3].text = put_text(lttng, process->comm, strlen(process->comm));
	put_number(out, 4, process->kernel ? LTTNG_KERNEL_THREAD : LTTNG_USER_THREAD);
	put_number(out, 5, LTTNG_MODE_UNKNOWN);
	put_number(out, 6, LTTNG_SUBMODE_UNKNOWN);
	put_number(out, 7, thread->runs ? LTTNG_RUN : LTTNG_WAIT);
	put_number(out, 8, thread->cpu == NO_CPU ? 0 : thread->cpu);
	return 1;
}

/*
 * The first and the last one say that it begins and ends; in between, there is one for each thread.
 */
int lttng_statedump(struct lttng *lttng, uint32_t *index, const struct fkt_event *first,
		    struct lttng_event *out)
{
	const char *name = "lttng_statedump_process_state";
	unsigned int count = sizeof(state_fields) / sizeof(state_fields[0]);
	uint32_t id = *index;

	if (!id) {
		lttng->at_first = fkt_process_count(lttng->processes);
		find_running(lttng, first->stamp);
	}
	/* Number 0 is for those that are not known. */
	while (id && id < lttng->at_first && fkt_process(lttng->processes, id)->released)
		id++;
	if (id > lttng->at_first)
		return 0;
	*index = id + 1;
	if (!id || id == lttng->at_first) {
		name = id ? "lttng_statedump_end" : "lttng_statedump_start";
		count = 0;
	}
	begin_event(lttng, first, out);
	out->class = class_of(lttng, name, 0, state_fields, count);
	if (!out->class)
		return -ENOMEM;
	return count ? fill_state(lttng, id, out) : 1;
}

int lttng_event(struct lttng *lttng, const struct fkt_event *event, const struct fkt_stack *stack,
		struct lttng_event *out)
{
	unsigned int stacks;
	struct code *c;

	if (is_exit_alone(lttng, event)) {
		lttng->left_out++;
		return 0;
	}
	c = code_of(lttng, event->code);
	if (!c || !c->name || !c->field)
		return -ENOMEM;
	begin_event(lttng, event, out);
	stacks = set_stacks(lttng, stack, out);
	if (c->known && event->words >= c->known->words)
		return fill_known(lttng, c, event, stacks, out);
	return fill_fields(lttng, c, event, stacks, out);
}

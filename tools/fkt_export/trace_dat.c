// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.dat, version 7, as trace-cmd records it (trace-cmd.dat.v7(5)): the pages of ftrace's
 * buffers, CPU by CPU, and the formats of the events in them. Nothing is compressed.
 *
 * What ftrace has an event for has ftrace's format; the rest, the fields that the event has as
 * LTTng's. All of a CPU's pages stand together, so they wait in a file until the end.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <fkt/version.h>

#include "../../bindings/babeltrace2/lttng.h"
#include "format.h"
#include "spool.h"

#define PAGE_BYTES	 4096u
/* Before the data of a page: when it begins, and how much it has. */
#define PAGE_HEAD	 16u
#define DATA_BYTES	 (PAGE_BYTES - PAGE_HEAD)
/* In that number: events are missing before the page; how many stands behind its data. */
#define PAGE_MISSED	 (1u << 31)
#define PAGE_COUNTED	 (1u << 30)
/* Kinds of entry, the lowest five bits of an entry's head; larger ones than 0 are words of data. */
#define ENTRY_WORDS_MAX	 28u
#define ENTRY_TIME	 30u
#define DELTA_BITS	 27
/* type, flags, preempt_count, pid: what all events have. */
#define COMMON_BYTES	 8u
#define EVENT_BYTES	 (256u << 10)
#define FIRST_ID	 16u
#define LAST_ID		 UINT16_MAX
#define CPUS		 (UINT16_MAX + 1)
/* LTTng counts priorities from the first one on that is not of real time, ftrace from 0. */
#define PRIO		 100
#define COMM_BYTES	 16
#define TEXT_BYTES	 512
#define KNOWN_FIELDS_MAX 8

/* Sections of the file, and the options that say where they are. */
enum {
	SECTION_OPTIONS = 0,
	SECTION_BUFFER = 3,
	SECTION_STRINGS = 15,
	SECTION_HEADERS = 16,
	SECTION_FTRACE = 17,
	SECTION_EVENTS = 18,
	SECTION_KALLSYMS = 19,
	SECTION_PRINTK = 20,
	SECTION_COMMANDS = 21,
};

enum {
	OPTION_DONE = 0,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_CPUS = 8,
	OPTION_VERSION = 9,
};

#define SECTION_HEAD 16u

/* Where a field of an event comes from. */
enum field_kind {
	FIELD_INTEGER,
	FIELD_COMM,   /* of COMM_BYTES, padded with NULs */
	FIELD_STRING, /* its place and length, and behind the fields the string */
	FIELD_ARRAY,
};

/**
 * struct field - a field of a format
 * @kind: enum field_kind
 * @bytes: of it, or of an array's element
 * @source: which field of the class
 * @add: added to it
 * @offset: in the event
 */
struct field {
	uint8_t kind;
	uint8_t bytes;
	uint8_t source;
	int8_t add;
	uint16_t offset;
};

/**
 * struct format - what events of a class look like
 * @id: their number
 * @bytes: of an event without its strings
 * @count: number of fields
 * @field: the fields
 * @system: whose event it is
 * @text: as the kernel has it in its file "format"
 */
struct format {
	uint16_t id;
	uint16_t bytes;
	unsigned int count;
	struct field *field;
	char *system;
	char *text;
};

/**
 * struct cpu - the buffer of a CPU
 * @used: bytes of data in its page
 * @last: nanoseconds of the last event
 * @missed: events are missing before the page
 * @missing: how many
 * @pages: that have been written
 * @page: the page
 */
struct cpu {
	uint32_t used;
	uint64_t last;
	bool missed;
	uint64_t missing;
	uint64_t pages;
	uint8_t page[PAGE_BYTES];
};

struct dat {
	struct export *export;
	struct lttng *lttng;
	struct spool spool;
	struct cpu *cpu[CPUS];
	uint32_t cpus; /* the largest number of a CPU that has events, and 1 */
	struct format **format;
	uint32_t formats;
	struct lttng_event event;
	uint8_t data[EVENT_BYTES];
};

/* ---- formats ---- */

/* Those that ftrace has. A field's name says how many elements it has, as in C. */
static const struct known {
	const char *lttng;
	const char *system;
	const char *name;
	unsigned int count;
	struct {
		const char *type;
		const char *name;
		uint8_t kind;
		uint8_t bytes;
		uint8_t source;
		int8_t add;
	} field[KNOWN_FIELDS_MAX];
	const char *print;
} known[] = {
	{ "sched_switch",
	  "sched",
	  "sched_switch",
	  7,
	  { { "char", "prev_comm[16]", FIELD_COMM, 16, 0, 0 },
	    { "pid_t", "prev_pid", FIELD_INTEGER, 4, 1, 0 },
	    { "int", "prev_prio", FIELD_INTEGER, 4, 2, PRIO },
	    { "long", "prev_state", FIELD_INTEGER, 8, 3, 0 },
	    { "char", "next_comm[16]", FIELD_COMM, 16, 4, 0 },
	    { "pid_t", "next_pid", FIELD_INTEGER, 4, 5, 0 },
	    { "int", "next_prio", FIELD_INTEGER, 4, 6, PRIO } },
	  "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d "
	  "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? "
	  "__print_flags(REC->prev_state & 0xff, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, "
	  "\"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, "
	  "\"I\" }) : \"R\", REC->next_comm, REC->next_pid, REC->next_prio" },
#define WAKING(name)                                                                               \
	{                                                                                          \
		name, "sched", name, 4,                                                            \
			{ { "char", "comm[16]", FIELD_COMM, 16, 0, 0 },                            \
			  { "pid_t", "pid", FIELD_INTEGER, 4, 1, 0 },                              \
			  { "int", "prio", FIELD_INTEGER, 4, 2, PRIO },                            \
			  { "int", "target_cpu", FIELD_INTEGER, 4, 3, 0 } },                       \
			"\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "        \
			"REC->prio, REC->target_cpu"                                               \
	}
	WAKING("sched_waking"),
	WAKING("sched_wakeup_new"),
	{ "sched_process_fork",
	  "sched",
	  "sched_process_fork",
	  4,
	  { { "char", "parent_comm[16]", FIELD_COMM, 16, 0, 0 },
	    { "pid_t", "parent_pid", FIELD_INTEGER, 4, 1, 0 },
	    { "char", "child_comm[16]", FIELD_COMM, 16, 3, 0 },
	    { "pid_t", "child_pid", FIELD_INTEGER, 4, 4, 0 } },
	  "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, "
	  "REC->child_comm, REC->child_pid" },
#define ENDS(name)                                                                                 \
	{                                                                                          \
		name, "sched", name, 3,                                                            \
			{ { "char", "comm[16]", FIELD_COMM, 16, 0, 0 },                            \
			  { "pid_t", "pid", FIELD_INTEGER, 4, 1, 0 },                              \
			  { "int", "prio", FIELD_INTEGER, 4, 2, PRIO } },                          \
			"\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio"               \
	}
	ENDS("sched_process_exit"),
	ENDS("sched_process_free"),
	{ "sched_process_exec",
	  "sched",
	  "sched_process_exec",
	  3,
	  { { "__data_loc char[]", "filename", FIELD_STRING, 4, 0, 0 },
	    { "pid_t", "pid", FIELD_INTEGER, 4, 1, 0 },
	    { "pid_t", "old_pid", FIELD_INTEGER, 4, 2, 0 } },
	  "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid" },
	{ "task_rename",
	  "task",
	  "task_rename",
	  2,
	  { { "pid_t", "pid", FIELD_INTEGER, 4, 0, 0 },
	    { "char", "newcomm[16]", FIELD_COMM, 16, 2, 0 } },
	  "\"pid=%d newcomm=%s\", REC->pid, REC->newcomm" },
	{ "irq_handler_entry",
	  "irq",
	  "irq_handler_entry",
	  2,
	  { { "int", "irq", FIELD_INTEGER, 4, 0, 0 },
	    { "__data_loc char[]", "name", FIELD_STRING, 4, 1, 0 } },
	  "\"irq=%d name=%s\", REC->irq, __get_str(name)" },
	{ "irq_handler_exit",
	  "irq",
	  "irq_handler_exit",
	  1,
	  { { "int", "irq", FIELD_INTEGER, 4, 0, 0 } },
	  "\"irq=%d\", REC->irq" },
#define SOFTIRQ(name)                                                                              \
	{                                                                                          \
		"irq_" name, "irq", name, 1,                                                       \
			{ { "unsigned int", "vec", FIELD_INTEGER, 4, 0, 0 } },                     \
			"\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, "       \
			"\"HI\" }, { 1, \"TIMER\" }, { 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, "  \
			"\"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, \"TASKLET\" }, { 7, \"SCHED\" "    \
			"}, { 8, \"HRTIMER\" }, { 9, \"RCU\" })"                                   \
	}
	{ "x86_exceptions_page_fault_user",
	  "exceptions",
	  "page_fault_user",
	  3,
	  { { "unsigned long", "address", FIELD_INTEGER, 8, 1, 0 },
	    { "unsigned long", "ip", FIELD_INTEGER, 8, 2, 0 },
	    { "unsigned long", "error_code", FIELD_INTEGER, 8, 0, 0 } },
	  "\"address=0x%lx ip=0x%lx error_code=0x%lx\", REC->address, REC->ip, REC->error_code" },
	SOFTIRQ("softirq_entry"),
	SOFTIRQ("softirq_exit"),
	SOFTIRQ("softirq_raise"),
};

static void put_head(FILE *text, const char *name, uint16_t id)
{
	fprintf(text,
		"name: %s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		name, id);
}

/* Fields stand at multiples of their sizes. */
static void place(struct format *format, struct field *field, unsigned int elements)
{
	const unsigned int unit = field->kind == FIELD_COMM ? 1 : field->bytes;

	format->bytes = (uint16_t)((format->bytes + unit - 1) / unit * unit);
	field->offset = format->bytes;
	format->bytes = (uint16_t)(format->bytes + elements * field->bytes);
	format->count++;
}

static void put_known(FILE *text, struct format *format, const struct known *known)
{
	put_head(text, known->name, format->id);
	for (unsigned int i = 0; i < known->count; i++) {
		struct field *field = &format->field[i];

		*field = (struct field){ .kind = known->field[i].kind,
					 .bytes = known->field[i].bytes,
					 .source = known->field[i].source,
					 .add = known->field[i].add };
		place(format, field, 1);
		fprintf(text, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			known->field[i].type, known->field[i].name, field->offset, field->bytes,
			field->kind == FIELD_COMM || strncmp(known->field[i].type, "unsigned", 8));
	}
	fprintf(text, "\nprint fmt: %s\n", known->print);
}

static const char *c_type(const struct lttng_field *field)
{
	static const char *const types[2][4] = {
		{ "u8", "u16", "u32", "u64" },
		{ "s8", "s16", "s32", "s64" },
	};
	const unsigned int size = field->bytes == 1   ? 0
				  : field->bytes == 2 ? 1
				  : field->bytes == 4 ? 2
						      : 3;

	return types[field->is_signed][size];
}

static void put_field(FILE *text, struct format *format, const struct lttng_field *from,
		      unsigned int i)
{
	struct field *field = &format->field[i];

	*field = (struct field){ .source = (uint8_t)i, .bytes = from->bytes };
	switch (from->kind) {
	case LTTNG_STRING:
		field->kind = FIELD_STRING;
		field->bytes = 4;
		place(format, field, 1);
		fprintf(text, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:4;\tsigned:1;\n",
			from->name, field->offset);
		break;
	case LTTNG_ARRAY:
		field->kind = FIELD_ARRAY;
		place(format, field, from->elements);
		fprintf(text, "\tfield:%s %s[%u];\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			c_type(from), from->name, from->elements, field->offset,
			from->bytes * from->elements, from->is_signed);
		break;
	default:
		place(format, field, 1);
		fprintf(text, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", c_type(from),
			from->name, field->offset, from->bytes, from->is_signed);
	}
}

static bool is_syscall(const struct lttng_class *class, const char *kind)
{
	return strstr(class->name, "syscall_") && strstr(class->name, kind);
}

/* How a field looks: of system calls as in ftrace. */
static void put_look(FILE *text, const struct lttng_class *class, unsigned int i)
{
	const struct lttng_field *field = &class->field[i];

	if (is_syscall(class, "syscall_entry_"))
		fprintf(text, "%s%s: 0x%%08llx", i ? ", " : "", field->name);
	else if (is_syscall(class, "syscall_exit_"))
		fputs("0x%llx", text);
	else
		fprintf(text, "%s%s=%s", i ? " " : "", field->name,
			field->kind != LTTNG_INTEGER ? "%s"
			: field->hex		     ? "0x%llx"
			: field->is_signed	     ? "%lld"
						     : "%llu");
}

static void put_print(FILE *text, const struct lttng_class *class)
{
	fputs("\nprint fmt: \"", text);
	for (unsigned int i = 0; i < class->count; i++)
		put_look(text, class, i);
	fputs("\"", text);
	for (unsigned int i = 0; i < class->count; i++) {
		const struct lttng_field *field = &class->field[i];

		if (field->kind == LTTNG_STRING)
			fprintf(text, ", __get_str(%s)", field->name);
		else if (field->kind == LTTNG_ARRAY)
			fprintf(text, ", __print_array(REC->%s, %u, %u)", field->name,
				field->elements, field->bytes);
		else
			fprintf(text, ", (%slong long)REC->%s", field->is_signed ? "" : "unsigned ",
				field->name);
	}
	fputs("\n", text);
}

/* The names that ftrace has: a class's behind its system's. What is no word of C gets "_". */
static void set_names(const struct dat *dat, const struct lttng_class *class, uint32_t code,
		      char system[TEXT_BYTES], char name[TEXT_BYTES])
{
	static const struct {
		const char *lttng;
		const char *system;
		const char *ftrace;
	} prefixes[] = {
		{ "syscall_entry_", "syscalls", "sys_enter_" },
		{ "syscall_exit_", "syscalls", "sys_exit_" },
		{ "compat_syscall_entry_", "syscalls", "compat_sys_enter_" },
		{ "compat_syscall_exit_", "syscalls", "compat_sys_exit_" },
		{ "x86_irq_vectors_", "irq_vectors", "" },
		{ "x86_exceptions_", "exceptions", "" },
	};
	char code_name[FKT_NAME_BYTES];
	const char *colon;
	size_t bytes;

	fkt_code_name(dat->export->trace, code, code_name);
	colon = strchr(code_name, ':');
	snprintf(system, TEXT_BYTES, "%.*s", colon ? (int)(colon - code_name) : 3,
		 colon ? code_name : "fkt");
	snprintf(name, TEXT_BYTES, "%.200s", class->name);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		bytes = strlen(prefixes[i].lttng);
		if (strncmp(class->name, prefixes[i].lttng, bytes))
			continue;
		snprintf(system, TEXT_BYTES, "%s", prefixes[i].system);
		snprintf(name, TEXT_BYTES, "%s%.200s", prefixes[i].ftrace, class->name + bytes);
	}
	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
			*c = '_';
}

static char *describe(const struct dat *dat, struct format *format, const struct lttng_class *class,
		      uint32_t code)
{
	char system[TEXT_BYTES], name[TEXT_BYTES], *text = NULL;
	const struct known *as = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	if (!file)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		/* An event that is cut short has not all of them. */
		if (!strcmp(known[i].lttng, class->name) && class->count >= known[i].count)
			as = &known[i];
	if (as) {
		snprintf(system, sizeof(system), "%s", as->system);
		put_known(file, format, as);
	} else {
		set_names(dat, class, code, system, name);
		put_head(file, name, format->id);
		for (unsigned int i = 0; i < class->count; i++)
			put_field(file, format, &class->field[i], i);
		put_print(file, class);
	}
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	format->system = strdup(system);
	return text;
}

/* The format of a class, which it gets when it is first asked for; NULL without memory. */
static struct format *format_of(struct dat *dat, const struct lttng_class *class, uint32_t code)
{
	struct format **larger = dat->format, *format = class->user;

	if (format)
		return format;
	if (!(dat->formats & (dat->formats - 1)))
		larger = reallocarray(dat->format, dat->formats ? 2 * (size_t)dat->formats : 1,
				      sizeof(*larger));
	if (!larger)
		return NULL;
	dat->format = larger;
	format = calloc(1, sizeof(*format));
	if (!format)
		return NULL;
	larger[dat->formats++] = format;
	format->id = (uint16_t)(FIRST_ID + dat->formats - 1);
	format->bytes = COMMON_BYTES;
	format->field = calloc(class->count + KNOWN_FIELDS_MAX, sizeof(*format->field));
	if (format->field)
		format->text = describe(dat, format, class, code);
	if (!format->text || !format->system)
		return NULL;
	/* Classes are handed out as const, for all but this. */
	((struct lttng_class *)class)->user = format;
	return format;
}

/* ---- pages ---- */

static uint8_t *put(uint8_t *at, uint64_t number, size_t bytes)
{
	number = htole64(number);
	memcpy(at, &number, bytes);
	return at + bytes;
}

/* NULL without memory. */
static struct cpu *cpu_of(struct dat *dat, uint16_t number)
{
	if (!dat->cpu[number])
		dat->cpu[number] = calloc(1, sizeof(struct cpu));
	if (dat->cpu[number] && number >= dat->cpus)
		dat->cpus = number + 1u;
	return dat->cpu[number];
}

static int write_page(struct dat *dat, uint16_t number)
{
	struct cpu *cpu = dat->cpu[number];
	uint32_t used = cpu->used;

	if (!used)
		return 0;
	memset(cpu->page + PAGE_HEAD + used, 0, DATA_BYTES - used);
	if (cpu->missed) {
		if (used + 8 <= DATA_BYTES) {
			put(cpu->page + PAGE_HEAD + used, cpu->missing, 8);
			used |= PAGE_COUNTED;
		}
		used |= PAGE_MISSED;
		cpu->missed = false;
		cpu->missing = 0;
	}
	put(cpu->page + 8, used, 8);
	cpu->used = 0;
	cpu->pages++;
	return spool_add(&dat->spool, number, cpu->page, PAGE_BYTES);
}

/* Write an entry of a buffer, whose data are there, and have a length that is a multiple of 4. */
static int put_entry(struct dat *dat, uint16_t number, uint64_t ns, uint32_t bytes)
{
	struct cpu *cpu = cpu_of(dat, number);
	const bool small = bytes <= 4 * ENTRY_WORDS_MAX;
	uint64_t delta;
	uint8_t *at;
	int err;

	if (!cpu)
		return -ENOMEM;
	/* The head, the length, a delta that is a long one, and how many events are missing. */
	if (cpu->used + 24 + bytes > DATA_BYTES) {
		err = write_page(dat, number);
		if (err)
			return err;
	}
	if (!cpu->used) {
		put(cpu->page, ns, 8);
		cpu->last = ns;
	}
	delta = ns > cpu->last ? ns - cpu->last : 0;
	cpu->last += delta;
	at = cpu->page + PAGE_HEAD + cpu->used;
	if (delta >> DELTA_BITS) {
		at = put(at, ENTRY_TIME | (delta & ((1u << DELTA_BITS) - 1)) << 5, 4);
		at = put(at, delta >> DELTA_BITS, 4);
		delta = 0;
	}
	at = put(at, (small ? bytes / 4 : 0) | delta << 5, 4);
	if (!small)
		at = put(at, bytes + 4, 4);
	memcpy(at, dat->data, bytes);
	cpu->used = (uint32_t)(at - cpu->page) - PAGE_HEAD + bytes;
	return 0;
}

/* ---- events ---- */

/* The data of an event; their length. */
static uint32_t put_data(struct dat *dat, const struct format *format,
			 const struct lttng_event *event)
{
	uint32_t tail = format->bytes, bytes;
	uint8_t *data = dat->data;

	memset(data, 0, format->bytes);
	put(data, format->id, 2);
	put(data + 4, (uint32_t)event->tid, 4);
	for (unsigned int i = 0; i < format->count; i++) {
		const struct field *field = &format->field[i];
		const struct lttng_value *value = &event->value[field->source];
		uint8_t *at = data + field->offset;

		switch (field->kind) {
		case FIELD_INTEGER:
			put(at, value->number + (uint64_t)(int64_t)field->add, field->bytes);
			break;
		case FIELD_COMM:
			memcpy(at, value->text, strnlen(value->text, COMM_BYTES - 1));
			break;
		case FIELD_ARRAY:
			memcpy(at, value->text,
			       (size_t)field->bytes * event->class->field[field->source].elements);
			break;
		case FIELD_STRING:
			bytes = (uint32_t)strlen(value->text) + 1;
			put(at, tail | bytes << 16, 4);
			memcpy(data + tail, value->text, bytes);
			tail += bytes;
			break;
		}
	}
	memset(data + tail, 0, 4);
	return (tail + 3) & ~3u;
}

static int event(void *format, const struct fkt_event *event)
{
	struct dat *dat = format;
	const struct format *as;
	uint32_t bytes;
	int ret;

	ret = lttng_event(dat->lttng, event, dat->export->stack, &dat->event);
	if (ret <= 0)
		return ret;
	if (dat->formats > LAST_ID - FIRST_ID && !dat->event.class->user) {
		dat->export->left_out++;
		return 0;
	}
	as = format_of(dat, dat->event.class, event->code);
	if (!as)
		return -ENOMEM;
	bytes = put_data(dat, as, &dat->event);
	if (bytes + 24 > DATA_BYTES) {
		dat->export->left_out++;
		return 0;
	}
	return put_entry(dat, event->cpu,
			 (uint64_t)fkt_cycles_to_ns(dat->export->trace, (int64_t)dat->event.stamp),
			 bytes);
}

/* Of pages it is not known how many events they had. */
static int gap(void *format, const struct fkt_gap *gap, uint64_t stamp)
{
	const uint16_t number = gap->cpu == FKT_CPU_ANY ? 0 : gap->cpu;
	struct dat *dat = format;
	struct cpu *cpu = cpu_of(dat, number);
	int err;

	(void)stamp;
	lttng_gap(dat->lttng, gap);
	if (!cpu)
		return -ENOMEM;
	err = write_page(dat, number);
	cpu->missed = true;
	cpu->missing += gap->count;
	return err;
}

/* ---- the file ---- */

/**
 * struct piece - a section while it is put together
 * @id: of the section
 * @text: its name
 * @data: what is in it
 * @bytes: how much
 * @file: where it is written
 */
struct piece {
	uint16_t id;
	const char *text;
	char *data;
	size_t bytes;
	FILE *file;
};

static void put_number(FILE *file, uint64_t number, size_t bytes)
{
	uint8_t data[8];

	put(data, number, 8);
	fwrite(data, bytes, 1, file);
}

static void put_option(FILE *file, uint16_t id, const void *data, uint32_t bytes)
{
	put_number(file, id, 2);
	put_number(file, bytes, 4);
	fwrite(data, bytes, 1, file);
}

static void put_headers(FILE *file)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	static const char entry[] = "# compressed entry header\n"
				    "\ttype_len    :    5 bits\n"
				    "\ttime_delta  :   27 bits\n"
				    "\tarray       :   32 bits\n\n"
				    "\tpadding     : type == 29\n"
				    "\ttime_extend : type == 30\n"
				    "\ttime_stamp : type == 31\n"
				    "\tdata max type_len  == 28\n";

	fwrite("header_page", 12, 1, file);
	put_number(file, sizeof(page) - 1, 8);
	fwrite(page, sizeof(page) - 1, 1, file);
	fwrite("header_event", 13, 1, file);
	put_number(file, sizeof(entry) - 1, 8);
	fwrite(entry, sizeof(entry) - 1, 1, file);
}

static int by_system(const void *a, const void *b)
{
	const struct format *x = *(struct format *const *)a, *y = *(struct format *const *)b;

	return strcmp(x->system, y->system) ?: x->id - y->id;
}

/* Each system, with the formats of its events. */
static void put_formats(struct dat *dat, FILE *file)
{
	struct format **format = dat->format;
	uint32_t systems = 0, end;

	if (dat->formats)
		qsort(format, dat->formats, sizeof(*format), by_system);
	for (uint32_t i = 0; i < dat->formats; i++)
		systems += !i || strcmp(format[i]->system, format[i - 1]->system);
	put_number(file, systems, 4);
	for (uint32_t i = 0; i < dat->formats; i = end) {
		for (end = i; end < dat->formats; end++)
			if (strcmp(format[end]->system, format[i]->system))
				break;
		fwrite(format[i]->system, strlen(format[i]->system) + 1, 1, file);
		put_number(file, end - i, 4);
		for (uint32_t j = i; j < end; j++) {
			put_number(file, strlen(format[j]->text), 8);
			fputs(format[j]->text, file);
		}
	}
}

/* The names of threads, of which a pid has one: the last one counts. */
static void put_commands(const struct dat *dat, FILE *file)
{
	const struct fkt_processes *processes = dat->export->processes;
	const struct fkt_process *process;
	char *text = NULL;
	size_t bytes;
	FILE *list = open_memstream(&text, &bytes);

	if (!list)
		return;
	for (uint32_t id = 1; id < fkt_process_count(processes); id++) {
		process = fkt_process(processes, id);
		if (process->tid)
			fprintf(list, "%" PRIu32 " %s\n", process->tid, process->comm);
	}
	fclose(list);
	put_number(file, bytes, 8);
	fwrite(text ?: "", bytes, 1, file);
	free(text);
}

/* Where each CPU's pages are; @buffer: where the section is; @data: where its data begin. */
static void put_buffer_option(const struct dat *dat, FILE *file, uint64_t buffer, uint64_t data)
{
	static const char clock[] = "local";
	uint32_t cpus = 0;

	for (uint32_t i = 0; i < dat->cpus; i++)
		cpus += dat->cpu[i] && dat->cpu[i]->pages;
	put_number(file, OPTION_BUFFER, 2);
	put_number(file, 8 + 1 + sizeof(clock) + 4 + 4 + cpus * 20ull, 4);
	put_number(file, buffer, 8);
	put_number(file, 0, 1);
	fwrite(clock, sizeof(clock), 1, file);
	put_number(file, PAGE_BYTES, 4);
	put_number(file, cpus, 4);
	for (uint32_t i = 0; i < dat->cpus; i++) {
		if (!dat->cpu[i] || !dat->cpu[i]->pages)
			continue;
		put_number(file, i, 4);
		put_number(file, data, 8);
		put_number(file, dat->cpu[i]->pages * PAGE_BYTES, 8);
		data += dat->cpu[i]->pages * PAGE_BYTES;
	}
}

/* @at: where each of the pieces is */
static void put_options(const struct dat *dat, FILE *file, const struct piece *piece,
			unsigned int pieces, uint64_t at, uint64_t buffer, uint64_t data)
{
	const struct fkt_trace *trace = dat->export->trace;
	char text[TEXT_BYTES];
	uint8_t number[8];

	for (unsigned int i = 0; i < pieces; i++) {
		put(number, at, 8);
		if (piece[i].id != SECTION_STRINGS && piece[i].id != SECTION_OPTIONS)
			put_option(file, piece[i].id, number, 8);
		at += SECTION_HEAD + piece[i].bytes;
	}
	put_option(file, OPTION_CLOCK, "[local]", 8);
	snprintf(text, sizeof(text), "%.100s %.100s %.100s %.100s",
		 fkt_info(trace, "sysname") ?: "Linux", fkt_info(trace, "nodename") ?: "?",
		 fkt_info(trace, "release") ?: "?", fkt_info(trace, "machine") ?: "?");
	put_option(file, OPTION_UNAME, text, (uint32_t)strlen(text) + 1);
	put_option(file, OPTION_VERSION, "FKT " FKT_RELEASE, sizeof("FKT " FKT_RELEASE));
	put(number, dat->cpus, 4);
	put_option(file, OPTION_CPUS, number, 4);
	put_buffer_option(dat, file, buffer, data);
	put(number, 0, 8);
	put_option(file, OPTION_DONE, number, 8);
}

static void put_section(struct output *out, uint16_t id, uint32_t text, uint64_t bytes)
{
	uint8_t head[SECTION_HEAD], *at = head;

	at = put(at, id, 2);
	at = put(at, 0, 2);
	at = put(at, text, 4);
	put(at, bytes, 8);
	output_bytes(out, head, sizeof(head));
}

static const char magic[] = "\x17\x08\x44tracing7\0\0\x08";
static const char compression[] = "none\0";

/* The initial format ends with where the options are: behind it. */
#define INITIAL_BYTES (sizeof(magic) - 1 + 4 + sizeof(compression) + 8)

static int write_file(struct dat *dat, struct piece *piece, unsigned int pieces)
{
	struct output *out = dat->export->out;
	static const uint8_t zeros[PAGE_BYTES];
	uint64_t at = INITIAL_BYTES, pages = 0, buffer, data, options;
	uint32_t text = 0;
	uint8_t number[8];
	int err = 0;

	for (uint32_t i = 0; i < dat->cpus; i++)
		pages += dat->cpu[i] ? dat->cpu[i]->pages : 0;
	/* Where the options are, their length is the same whatever they say. */
	for (int again = 0; again < 2; again++) {
		options = at;
		buffer = INITIAL_BYTES;
		for (unsigned int i = 0; i < pieces; i++)
			buffer += SECTION_HEAD + piece[i].bytes;
		data = (buffer + SECTION_HEAD + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
		rewind(piece[0].file);
		put_options(dat, piece[0].file, piece, pieces, options, buffer, data);
		if (fflush(piece[0].file))
			return -ENOMEM;
	}
	output_bytes(out, magic, sizeof(magic) - 1);
	put(number, PAGE_BYTES, 4);
	output_bytes(out, number, 4);
	output_bytes(out, compression, sizeof(compression));
	put(number, options, 8);
	output_bytes(out, number, 8);
	for (unsigned int i = 0; i < pieces; i++) {
		put_section(out, piece[i].id, text, piece[i].bytes);
		output_bytes(out, piece[i].data, piece[i].bytes);
		text += (uint32_t)strlen(piece[i].text) + 1;
	}
	put_section(out, SECTION_BUFFER, text, data - buffer - SECTION_HEAD + pages * PAGE_BYTES);
	output_bytes(out, zeros, data - buffer - SECTION_HEAD);
	for (uint32_t i = 0; i < dat->cpus && !err; i++)
		if (dat->cpu[i] && dat->cpu[i]->pages)
			err = spool_write(&dat->spool, i, out);
	return err;
}

static int end(void *format, uint64_t last)
{
	static const char buffer_name[] = "buffer";
	struct piece piece[] = {
		{ SECTION_OPTIONS, "options", NULL, 0, NULL },
		{ SECTION_HEADERS, "headers", NULL, 0, NULL },
		{ SECTION_FTRACE, "ftrace events", NULL, 0, NULL },
		{ SECTION_EVENTS, "events format", NULL, 0, NULL },
		{ SECTION_KALLSYMS, "kallsyms", NULL, 0, NULL },
		{ SECTION_PRINTK, "printk", NULL, 0, NULL },
		{ SECTION_COMMANDS, "command lines", NULL, 0, NULL },
		{ SECTION_STRINGS, "strings", NULL, 0, NULL },
	};
	const unsigned int pieces = sizeof(piece) / sizeof(piece[0]);
	struct dat *dat = format;
	int err = 0;

	(void)last;
	for (uint32_t i = 0; i < dat->cpus && !err; i++)
		if (dat->cpu[i])
			err = write_page(dat, (uint16_t)i);
	for (unsigned int i = 0; i < pieces; i++) {
		piece[i].file = open_memstream(&piece[i].data, &piece[i].bytes);
		if (!piece[i].file)
			err = -ENOMEM;
	}
	if (!err) {
		put_headers(piece[1].file);
		put_number(piece[2].file, 0, 4);
		put_formats(dat, piece[3].file);
		put_number(piece[4].file, 0, 4);
		put_number(piece[5].file, 0, 4);
		put_commands(dat, piece[6].file);
		for (unsigned int i = 0; i < pieces; i++)
			fwrite(piece[i].text, strlen(piece[i].text) + 1, 1, piece[7].file);
		fwrite(buffer_name, sizeof(buffer_name), 1, piece[7].file);
		for (unsigned int i = 0; i < pieces; i++)
			if (fflush(piece[i].file))
				err = -ENOMEM;
	}
	if (!err)
		err = write_file(dat, piece, pieces);
	for (unsigned int i = 0; i < pieces; i++) {
		if (piece[i].file)
			fclose(piece[i].file);
		free(piece[i].data);
	}
	dat->export->left_out += lttng_left_out(dat->lttng);
	return err;
}

static void free_dat(void *format)
{
	struct dat *dat = format;

	for (uint32_t i = 0; i < dat->formats; i++) {
		free(dat->format[i]->field);
		free(dat->format[i]->system);
		free(dat->format[i]->text);
		free(dat->format[i]);
	}
	free(dat->format);
	for (uint32_t i = 0; i < CPUS; i++)
		free(dat->cpu[i]);
	spool_free(&dat->spool);
	lttng_free(dat->lttng);
	free(dat);
}

static void *begin(struct export *export)
{
	struct dat *dat = calloc(1, sizeof(*dat));
	int err;

	if (!dat)
		return NULL;
	dat->export = export;
	dat->lttng = lttng_new(export->trace, export->processes);
	err = dat->lttng ? spool_open(&dat->spool) : -ENOMEM;
	if (!err)
		return dat;
	lttng_free(dat->lttng);
	free(dat);
	errno = -err;
	return NULL;
}

const struct export_format export_trace_dat = {
	.name = "trace.dat",
	.about = "trace-cmd report, KernelShark: version 7, of cuts and of whole traces",
	.lacks = "stacks, former names of threads, and priorities but those that wake-ups tell",
	.wants = EXPORT_NS | EXPORT_BINARY,
	.begin = begin,
	.event = event,
	.gap = gap,
	.end = end,
	.free = free_dat,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace's events as LTTng's kernel tracer names them, which is what readers of CTF know: nothing
 * here depends on how they are written.
 */
#ifndef LTTNG_H
#define LTTNG_H

#include <fkt/trace.h>

/* A name behind a name, of the longest field that libfkt has, and its NUL. */
#define LTTNG_NAME_BYTES (FKT_FIELD_NAME_BYTES + 8)
/* Each field, and the name of what it numbers. */
#define LTTNG_FIELDS_MAX (2 * FKT_FIELDS_MAX + 1)

enum lttng_kind {
	LTTNG_INTEGER,
	LTTNG_STRING,
	LTTNG_ARRAY, /* of integers */
};

/**
 * struct lttng_field - a field of a class of events
 * @name: its name, a C identifier that no other field of the class has
 * @kind: enum lttng_kind
 * @bytes: size of the integer, or of an array's element
 * @elements: of an array
 * @is_signed: whether the integer is
 * @hex: whether people read it in hexadecimal
 */
struct lttng_field {
	char name[LTTNG_NAME_BYTES];
	uint8_t kind;
	uint8_t bytes;
	uint8_t elements;
	bool is_signed;
	bool hex;
};

/* The stacks that an event may have. */
enum lttng_stack {
	LTTNG_STACK_KERNEL,
	LTTNG_STACK_USER,
	LTTNG_STACKS,
};

/* What they are called in names of fields. */
static const char *const lttng_stack_name[LTTNG_STACKS] = { "kernel", "user" };

/**
 * struct lttng_class - events of one name with the same fields; several classes may share a name
 * @name: their name, which is clean
 * @stacks: which of enum lttng_stack they have, a bit each
 * @count: number of fields
 * @field: the fields
 * @user: whatever the user keeps of it, NULL at first
 * @next: another one, in no order
 * @chain: lttng.c's own
 */
struct lttng_class {
	char *name;
	unsigned int stacks;
	unsigned int count;
	struct lttng_field *field;
	void *user;
	struct lttng_class *next;
	struct lttng_class *chain;
};

/**
 * struct lttng_value - the value of a field
 * @number: of an integer; that of an int64_t where it is signed
 * @text: of a string, clean, with a NUL; of an array its elements, little-endian; never NULL then
 */
struct lttng_value {
	uint64_t number;
	const char *text;
};

/**
 * struct lttng_event - an event; all pointers are valid until the next one is asked for
 * @class: what it is
 * @stamp: when, in cycles; never before the one before
 * @cpu: where
 * @tid: the thread that was current, -1 where that is not known
 * @procname: its name
 * @stack: where class->stacks, its stacks, see lttng_frames()
 * @value: of class->count fields
 */
struct lttng_event {
	const struct lttng_class *class;
	uint64_t stamp;
	uint16_t cpu;
	int32_t tid;
	const char *procname;
	const struct fkt_stack *stack;
	struct lttng_value value[LTTNG_FIELDS_MAX];
};

struct lttng;

/**
 * lttng_tells_target() - whether wake-ups have as immediate the CPU that the woken is on
 * @trace: the trace; in those of earlier versions they have none
 */
bool lttng_tells_target(const struct fkt_trace *trace);

/**
 * lttng_new() - begin with a trace
 * @trace: the trace, which must outlive it
 * @processes: its threads, likewise; the caller tells them of events, before anything here
 *
 * Return: to be freed with lttng_free(), or NULL without memory.
 */
struct lttng *lttng_new(struct fkt_trace *trace, struct fkt_processes *processes);

/**
 * lttng_free() - free it, and its classes
 * @lttng: may be NULL
 */
void lttng_free(struct lttng *lttng);

/**
 * lttng_classes() - the classes that there have been so far
 * @lttng: the trace's
 *
 * Return: the first one of a list, or NULL.
 */
struct lttng_class *lttng_classes(const struct lttng *lttng);

/**
 * lttng_statedump() - how things stood when the events began, as events before the first one
 * @lttng: the trace's; of which lttng_event() was not called
 * @index: 0 at first, and then what it was set to, until the answer is 0
 * @first: the first event
 * @out: the event
 *
 * Return: 1, 0 when there are no more, or -ENOMEM.
 */
int lttng_statedump(struct lttng *lttng, uint32_t *index, const struct fkt_event *first,
		    struct lttng_event *out);

/**
 * lttng_event() - the next event
 * @lttng: the trace's
 * @event: the event, which is not of FKT_CODE_STACK
 * @stack: its stack, or NULL
 * @out: what it is
 *
 * Return: 1, 0 when it is left out (the exit from an interrupt whose entry is not there), or
 * -ENOMEM.
 */
int lttng_event(struct lttng *lttng, const struct fkt_event *event, const struct fkt_stack *stack,
		struct lttng_event *out);

/**
 * lttng_frames() - which frames are of one of an event's stacks
 * @stack: the event's
 * @which: enum lttng_stack
 * @first: set to the number of the first one
 *
 * Return: how many there are. Where some are missing, one stands for them.
 */
unsigned int lttng_frames(const struct fkt_stack *stack, enum lttng_stack which,
			  unsigned int *first);

/**
 * lttng_address() - the address of a frame, as LTTng has it: all ones where frames are missing
 * @frame: the frame
 */
static inline uint64_t lttng_address(uint64_t frame)
{
	return frame >= FKT_FRAME_CUT && frame < FKT_FRAME_KERNEL ? UINT64_MAX : frame;
}

/**
 * lttng_gap() - something is missing
 * @lttng: the trace's
 * @gap: what
 */
void lttng_gap(struct lttng *lttng, const struct fkt_gap *gap);

/**
 * lttng_left_out() - how many exits from interrupts were left out so far
 * @lttng: the trace's
 */
uint64_t lttng_left_out(const struct lttng *lttng);

#endif

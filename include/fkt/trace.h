/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libfkt: read a trace.
 *
 *	trace = fkt_open("trace_file", warn, NULL, error);
 *	reader = fkt_reader_new(trace);
 *	while ((what = fkt_next(reader, &event)) > 0)
 *		if (what == FKT_EVENT)
 *			printf("%" PRIu64 " %x\n", event.stamp, event.code);
 *	fkt_reader_free(reader);
 *	fkt_close(trace);
 *
 * It is compiled with what "pkg-config --cflags --libs fkt" says. docs/example.c is a whole
 * program.
 *
 * The trace may be a regular file, a block device or a stream, cut off anywhere or damaged: what
 * can be read is read, and what is missing is said. Nothing in the file is trusted. Strings that
 * the library hands out hold no control characters, the values of fields (struct fkt_value)
 * excepted: they may go to a terminal.
 *
 * Functions return 0 or a pointer when all is well, and a negative errno value or NULL when not,
 * unless their comment says something else. A trace may be used by several threads at once, each
 * with objects of its own for everything else, once fkt_open() has returned.
 *
 * A program that was linked to one release runs with later ones that have the same soname: what is
 * declared here stays as it is until that changes.
 */
#ifndef FKT_TRACE_H
#define FKT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <fkt/codes.h>
#include <fkt/format.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What follows is what the library exports. */
#pragma GCC visibility push(default)

/* ---- the trace ---- */

struct fkt_trace;

/* Room for the longest sentence that fkt_open() leaves. */
#define FKT_ERROR_BYTES 256

/**
 * typedef fkt_warn_fn - told of each thing that is wrong but does not stop reading
 * @arg: as given to fkt_open()
 * @sentence: what is wrong; without the file's name or a newline, and not the callee's to keep
 *
 * It is called in whatever thread has found it, and must not call the library.
 */
typedef void fkt_warn_fn(void *arg, const char *sentence);

/**
 * fkt_open() - open a trace and read everything in it but the events
 * @path: file, block device or pipe; "-" is standard input
 * @warn: called for what is wrong but harmless, here and while reading; or NULL
 * @arg: for @warn
 * @error: on failure, a sentence that says why, without the file's name
 *
 * Return: the trace, to be closed with fkt_close(), or NULL.
 */
struct fkt_trace *fkt_open(const char *path, fkt_warn_fn *warn, void *arg,
			   char error[FKT_ERROR_BYTES]);

/**
 * fkt_close() - free a trace and everything that was got from it
 * @trace: may be NULL; its readers must be gone
 */
void fkt_close(struct fkt_trace *trace);

/**
 * fkt_header() - the file's header in host byte order, checked
 * @trace: the trace
 */
const struct fkt_file_header *fkt_header(const struct fkt_trace *trace);

/**
 * fkt_is_complete() - whether the trace has its end sections
 * @trace: the trace
 *
 * Of a stream, true only once they have come: when fkt_next() has returned FKT_END.
 */
bool fkt_is_complete(const struct fkt_trace *trace);

/**
 * fkt_info() - a value from the trace's "key=value" sections
 * @trace: the trace
 * @key: such as "command"
 *
 * Return: the value, owned by the trace, or NULL when the trace has none.
 */
const char *fkt_info(const struct fkt_trace *trace, const char *key);

/**
 * fkt_lane_totals() - what a lane had recorded when the recording ended
 * @trace: the trace
 * @index: 0 … until the answer is NULL
 *
 * Return: totals in host byte order, owned by the trace; NULL beyond the last, and always when the
 * trace has no end sections.
 */
const struct fkt_lane_totals *fkt_lane_totals(const struct fkt_trace *trace, size_t index);

/* ---- an event ---- */

/* The thread that is current on a CPU is not known, because events that said so were lost. */
#define FKT_PID_UNKNOWN UINT32_MAX

/**
 * struct fkt_event - one event
 * @stamp: when, in cycles, all 64 bits
 * @args: its argument words as they stand in the file (little-endian; read them with fkt_arg32()
 *	and its like); valid until the next call of fkt_next()
 * @code: probe code, see codes.h
 * @pid: thread that was current on @cpu, 0 for the idle task, or FKT_PID_UNKNOWN
 * @imm: the slot's immediate
 * @cpu: CPU on which it happened
 * @lane: lane that recorded it
 * @words: number of words at @args
 */
struct fkt_event {
	uint64_t stamp;
	const uint64_t *args;
	uint32_t code;
	uint32_t pid;
	uint16_t imm;
	uint16_t cpu;
	uint16_t lane;
	uint8_t words;
};

/* No frames: there are more; the memory of more was not there; or they are not known. */
#define FKT_FRAME_CUT	      (1ull << 63 | 1)
#define FKT_FRAME_FAULT	      (1ull << 63 | 2)
#define FKT_FRAME_UNKNOWN     (1ull << 63 | 3)
/* The kernel's code is there, and behind it; that of programs is far before it. */
#define FKT_FRAME_KERNEL      0xffffffff00000000ull

#define FKT_STACK_FRAMES_BOTH (2 * FKT_STACK_FRAMES_MAX + 2)

/**
 * struct fkt_stack - the stacks of an event, the kernel's and below it the program's; begin with
 *	all zero
 * @known: something of it was recorded; if not, there are no frames
 * @cut: it has more frames, which were not
 * @exact: the first frame is where something was interrupted, not where something returns to
 * @count: how many there are
 * @pid: the process that the program's frames are of, 0 where there are none
 * @stamp: when these were its own
 * @frame: return addresses, the innermost first, before all others that of the event itself; those
 *	of the kernel are FKT_FRAME_KERNEL and more. Or FKT_FRAME_CUT and its like
 */
struct fkt_stack {
	bool known;
	bool cut;
	bool exact;
	unsigned int count;
	uint32_t pid;
	uint64_t stamp;
	uint64_t frame[FKT_STACK_FRAMES_BOTH];
};

/**
 * fkt_stack_kernel() - how many of a stack's frames are the kernel's: those before all others
 * @stack: the stack
 */
static inline unsigned int fkt_stack_kernel(const struct fkt_stack *stack)
{
	unsigned int count = 0;

	while (count < stack->count && stack->frame[count] >= FKT_FRAME_KERNEL)
		count++;
	return count;
}

/**
 * fkt_arg16() - 16 bits of an event's arguments in host order; fkt_arg32, fkt_arg64 likewise
 * @event: the event
 * @offset: where in its argument words, in bytes; the caller knows that they are there
 */
static inline uint16_t fkt_arg16(const struct fkt_event *event, unsigned int offset)
{
	uint16_t value;

	memcpy(&value, (const char *)event->args + offset, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap16(value);
#endif
	return value;
}

static inline uint32_t fkt_arg32(const struct fkt_event *event, unsigned int offset)
{
	uint32_t value;

	memcpy(&value, (const char *)event->args + offset, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap32(value);
#endif
	return value;
}

static inline uint64_t fkt_arg64(const struct fkt_event *event, unsigned int offset)
{
	uint64_t value;

	memcpy(&value, (const char *)event->args + offset, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value);
#endif
	return value;
}

/* ---- time ---- */

/**
 * fkt_has_clock() - whether the trace says how long a cycle is
 * @trace: the trace
 */
bool fkt_has_clock(const struct fkt_trace *trace);

/**
 * fkt_cycles_to_ns() - length of a span, to the nearest nanosecond
 * @trace: a trace with fkt_has_clock()
 * @cycles: the span, may be negative
 */
int64_t fkt_cycles_to_ns(const struct fkt_trace *trace, int64_t cycles);

/**
 * fkt_ns_to_cycles() - the least number of cycles that takes so long, as fkt_cycles_to_ns() has it
 * @trace: a trace with fkt_has_clock()
 * @ns: how long
 */
uint64_t fkt_ns_to_cycles(const struct fkt_trace *trace, uint64_t ns);

/**
 * fkt_parse_time() - a time as users write it
 * @text: such as "12.5", "12.5s", "900ms", "20us", "1500ns", "2m" or "1h"; without a unit, seconds
 * @ns: set to it, in nanoseconds
 *
 * Return: false when it is not one, or too large.
 */
bool fkt_parse_time(const char *text, uint64_t *ns);

/**
 * fkt_has_wall_clock() - whether the trace knows the time of day
 * @trace: the trace
 */
bool fkt_has_wall_clock(const struct fkt_trace *trace);

/**
 * fkt_wall_ns() - time of day of a moment
 * @trace: a trace with fkt_has_wall_clock()
 * @stamp: the moment
 *
 * Return: nanoseconds since 1970, CLOCK_REALTIME.
 */
int64_t fkt_wall_ns(const struct fkt_trace *trace, uint64_t stamp);

/* ---- the events of all lanes in the order of time ---- */

/* What fkt_next() found; less than 0 is a negative errno value. */
enum fkt_next {
	FKT_END = 0, /* no more */
	FKT_EVENT,   /* an event */
	FKT_GAP,     /* something is missing here, see fkt_gap() */
	FKT_WAIT,    /* a stream has no more at the moment: a moment to flush output; call again */
};

enum fkt_gap_kind {
	FKT_GAP_LOST,	 /* events found no room in the buffer while recording */
	FKT_GAP_MISSING, /* whole pages are not in the file, or so damaged that they were skipped */
	FKT_GAP_DAMAGED, /* the end of a page could not be read, or it holds more or fewer slots */
			 /* than it says */
	FKT_GAP_DISCARDED, /* events at the end of a lane were recorded and could not be written */
	FKT_GAP_OVERWRITTEN, /* what a lane had before its first page was overwritten */
};

/**
 * struct fkt_gap - something missing in a lane
 * @kind: what
 * @lane: where
 * @cpu: CPU of the lane, FKT_CPU_ANY when it is shared
 * @count: how many events (FKT_GAP_LOST, FKT_GAP_DISCARDED) or pages; 1 for FKT_GAP_OVERWRITTEN:
 *	INFO's "overwritten" has the number, of all lanes together
 * @after: of FKT_GAP_DISCARDED: stamp when the lane's last page was closed, which all of them are
 *	later than; 0: the lane has no page in the trace
 */
struct fkt_gap {
	enum fkt_gap_kind kind;
	uint16_t lane;
	uint16_t cpu;
	uint64_t count;
	uint64_t after;
};

/**
 * struct fkt_read_stats - what a reader has seen so far
 * @events: events delivered
 * @pages: pages of events read, without those of @damaged
 * @index_pages: index pages and marks
 * @damaged: pages skipped, or not read to their end
 * @missing: pages that the lanes' sequence numbers say should have been there; pages of
 *	@damaged that were skipped are among them
 * @lost: events that the recording lost, as far as the pages, or at the end the totals, say
 * @foreign: pages of another recording were met, and reading stopped there
 * @first: stamp of the first event delivered
 * @last: the latest stamp delivered
 */
struct fkt_read_stats {
	uint64_t events;
	uint64_t pages;
	uint64_t index_pages;
	uint64_t damaged;
	uint64_t missing;
	uint64_t lost;
	bool foreign;
	uint64_t first;
	uint64_t last;
};

struct fkt_reader;

/**
 * fkt_reader_new() - begin to read a trace's events
 * @trace: the trace; a stream has one reader only, a file any number
 *
 * Return: the reader, to be freed with fkt_reader_free(), or NULL without memory.
 */
struct fkt_reader *fkt_reader_new(struct fkt_trace *trace);

/**
 * fkt_reader_new_window() - begin to read the events of a part of a trace
 * @trace: the trace
 * @from: stamp with which the window begins
 * @to: stamp before which it ends; UINT64_MAX: it has all that follows
 *
 * Of a file, the page index leads there, so that this takes as long for a large trace as for a
 * small one; of a stream, what comes before is read and passed over. Each event is in one of the
 * windows into which a trace is cut, with the thread that was current, also when stamps run
 * backwards: each lane is cut at its first event that is not before the cut. A gap belongs to the
 * window that has the event behind it, and one behind the last event to the one that has
 * this event. Of fkt_read_stats(), events and gaps are the window's, pages those that were looked
 * at.
 *
 * What else was so when the window began, such as names, the events before it say: begin with
 * fkt_look_back() and pass over those with stamps before @from.
 *
 * Return: the reader, to be freed with fkt_reader_free(), or NULL without memory.
 */
struct fkt_reader *fkt_reader_new_window(struct fkt_trace *trace, uint64_t from, uint64_t to);

/**
 * fkt_reader_new_processes() - begin to read what happens to processes
 * @trace: the trace
 * @to: stamp before which to end
 *
 * All events for which fkt_is_process_event() is true come, and others with them. It takes a part
 * of the time that reading all events does.
 *
 * Return: the reader, to be freed with fkt_reader_free(), or NULL without memory.
 */
struct fkt_reader *fkt_reader_new_processes(struct fkt_trace *trace, uint64_t to);

/**
 * fkt_look_back() - where to begin to read so as to know how things stood at some moment
 * @trace: the trace
 * @from: the moment
 *
 * Events from the answer on say who had which name and who was in which call at @from, but for
 * what had been so for longer. It is the trace's beginning in all but large traces, and not more
 * than FKT_LOOK_BACK_PAGES pages away.
 *
 * Return: a stamp, not later than @from; 0 is the trace's beginning.
 */
uint64_t fkt_look_back(struct fkt_trace *trace, uint64_t from);

#define FKT_LOOK_BACK_PAGES 16384

/**
 * fkt_span() - when a trace begins and ends
 * @trace: the trace, not a stream
 * @first: set to the stamp of its first event
 * @last: set to a stamp that no event is later than
 *
 * Return: whether it has any event.
 */
bool fkt_span(struct fkt_trace *trace, uint64_t *first, uint64_t *last);

/**
 * fkt_reader_free() - end reading
 * @reader: may be NULL
 */
void fkt_reader_free(struct fkt_reader *reader);

/**
 * fkt_next() - the next event of the trace
 * @reader: the reader
 * @event: filled in for FKT_EVENT; for FKT_GAP only stamp, lane and cpu
 *
 * Events come in the order of their stamps, those of equal stamps in the order of their lanes, and
 * those of one lane always in the order in which they were recorded.
 *
 * Return: enum fkt_next, or -ENOMEM.
 */
int fkt_next(struct fkt_reader *reader, struct fkt_event *event);

/**
 * fkt_gap() - what is missing, after fkt_next() returned FKT_GAP
 * @reader: the reader
 *
 * Return: owned by the reader, valid until the next call of fkt_next().
 */
const struct fkt_gap *fkt_gap(const struct fkt_reader *reader);

/**
 * fkt_read_stats() - what a reader has seen so far
 * @reader: the reader
 *
 * Return: owned by the reader, which goes on counting there.
 */
const struct fkt_read_stats *fkt_read_stats(const struct fkt_reader *reader);

/**
 * fkt_stack_event() - what an event of FKT_CODE_STACK says: a stack of the next event of its lane
 * @reader: which has delivered the event, and none since
 * @event: the event
 * @stack: one for each lane: set, or completed where several events say it
 */
void fkt_stack_event(const struct fkt_reader *reader, const struct fkt_event *event,
		     struct fkt_stack *stack);

/**
 * fkt_event_stamp() - when the event with a number came
 * @trace: the trace, not a stream
 * @number: how many events are before it, in the order of fkt_next()
 * @stamp: set to its stamp
 *
 * Return: 1, 0 when there are not so many, or a negative errno value.
 */
int fkt_event_stamp(struct fkt_trace *trace, uint64_t number, uint64_t *stamp);

/* ---- what numbers mean ---- */

/**
 * struct fkt_code_row - a row of the code table, see codes.h
 * @first: its first code
 * @count: number of codes in the row
 * @kind: enum fkt_kind
 * @pair: first code of the matching entry or exit row, or 0
 * @layer: name of its layer
 * @name: name of the row
 * @spec: its arguments
 */
struct fkt_code_row {
	uint32_t first;
	uint32_t count;
	uint32_t kind;
	uint32_t pair;
	const char *layer;
	const char *name;
	const char *spec;
};

/**
 * fkt_code_row() - the row of a code
 * @trace: the trace, whose own table comes first; what is not in it is looked up in codes.h
 * @code: the code
 *
 * Return: the row, owned by the trace, or NULL when nobody knows the code.
 */
const struct fkt_code_row *fkt_code_row(const struct fkt_trace *trace, uint32_t code);

/* Room for the longest name that fkt_code_name() writes. */
#define FKT_NAME_BYTES 80

/**
 * fkt_code_name() - full name of a code: "sys_openat", "local_timer", "switch_to", "code_12345"
 * @trace: the trace
 * @code: the code; the exit of a system call has the same name as its entry
 * @name: written, with its NUL
 */
void fkt_code_name(const struct fkt_trace *trace, uint32_t code, char name[FKT_NAME_BYTES]);

/**
 * struct fkt_syscall - a system call's name and arguments
 * @name: such as "openat"
 * @args: such as "dfd,filename,flags,mode", or ""
 */
struct fkt_syscall {
	const char *name;
	const char *args;
};

/**
 * fkt_syscall() - look up a system call
 * @trace: the trace
 * @compat: whether of the 32-bit table
 * @nr: its number
 *
 * Return: the call, owned by the trace, or NULL when it is not known.
 */
const struct fkt_syscall *fkt_syscall(const struct fkt_trace *trace, bool compat, uint32_t nr);

/**
 * fkt_irq_name() - devices of an IRQ line
 * @trace: the trace
 * @irq: its number
 *
 * Return: names, owned by the trace, or NULL.
 */
const char *fkt_irq_name(const struct fkt_trace *trace, uint32_t irq);

/* Names of numbers; NULL when there is no such number, or it is not known on such a machine. */
const char *fkt_errno_name(int number); /* of 2: "ENOENT"; the traced machine's, not the host's */
const char *fkt_softirq_name(uint32_t number);
const char *fkt_trap_name(const struct fkt_trace *trace, uint32_t number);
const char *fkt_vector_name(const struct fkt_trace *trace, uint32_t index);

/* What an idle kernel thread's sleep is reported as. */
#define FKT_STATE_REPORTED_IDLE 0x80u

/**
 * fkt_state_reported() - a task's state as the kernel's sched_switch reports it
 * @state: bits as the switch event has them
 *
 * Return: one of the seven lowest bits, or FKT_STATE_REPORTED_IDLE; 0: it is ready to run, or,
 * where @state is not 0, in a state that the kernel tells nobody of.
 */
uint32_t fkt_state_reported(uint32_t state);

/* Room for the letters of a state. */
#define FKT_STATE_BYTES 12

/**
 * fkt_state_letters() - the letter of a task's state, as ps and sched_switch show it
 * @state: bits as the switch event has them; 0 is "R"; of several, the one that the kernel reports
 * @letters: written, with its NUL; "?" for what has no letter
 */
void fkt_state_letters(uint32_t state, char letters[FKT_STATE_BYTES]);

/**
 * fkt_sanitize() - make a string from the trace fit for a terminal, in place
 * @text: control characters and what is not UTF-8 in it become "?"
 */
void fkt_sanitize(char *text);

/* ---- addresses to names ---- */

/**
 * struct fkt_symbol - the symbol that an address lies in
 * @name: its name
 * @module: its module, or NULL
 * @offset: how far behind its beginning the address is
 */
struct fkt_symbol {
	const char *name;
	const char *module;
	uint64_t offset;
};

/**
 * fkt_symbol() - look up a kernel address
 * @trace: the trace; the first call decompresses and sorts its symbols
 * @address: the address
 * @symbol: filled in; strings are the trace's
 *
 * Return: whether there is one.
 */
bool fkt_symbol(struct fkt_trace *trace, uint64_t address, struct fkt_symbol *symbol);

/* ---- threads and their names, over time ---- */

#define FKT_COMM_BYTES 16

/**
 * struct fkt_process - a thread; a pid that was given out again is another one
 * @tid: its number, "pid" in events; 0 for the idle task of a CPU
 * @tgid: its process, FKT_PID_UNKNOWN when not known
 * @cpu: CPU of an idle task, else 0
 * @comm: its latest name, "?" when not known
 * @released: its pid was released: the next fork() with that pid is another thread
 * @kernel: a thread of the kernel's, which has no user mode
 * @parent: the process that had it as a child when it was first told of, FKT_PID_UNKNOWN when not
 *	known
 */
struct fkt_process {
	uint32_t tid;
	uint32_t tgid;
	uint16_t cpu;
	bool released;
	bool kernel;
	char comm[FKT_COMM_BYTES + 1];
	uint32_t parent;
};

struct fkt_processes;

/**
 * fkt_processes_new() - the threads known when the recording began
 * @trace: the trace, which must outlive it
 *
 * Return: to be freed with fkt_processes_free(), or NULL without memory.
 */
struct fkt_processes *fkt_processes_new(const struct fkt_trace *trace);

/**
 * fkt_processes_free() - free it
 * @processes: may be NULL
 */
void fkt_processes_free(struct fkt_processes *processes);

/* The code of an event that fkt_processes_event() must be told of. */
static inline bool fkt_is_process_event(uint32_t code)
{
	return code >= FKT_CODE_FORK && code <= FKT_CODE_RENAME;
}

/**
 * fkt_processes_event() - follow names and pids
 * @processes: the threads
 * @event: an event; events must come in order
 */
void fkt_processes_event(struct fkt_processes *processes, const struct fkt_event *event);

/**
 * fkt_process_id() - the thread that has a pid at this moment
 * @processes: the threads
 * @tid: the pid; 0 is the idle task of @cpu
 * @cpu: a CPU, looked at for idle tasks
 *
 * Return: its number, from 0; they are counted up and never reused. Number 0 is for those that are
 * not known (FKT_PID_UNKNOWN), and for all that come when there are too many (a million).
 */
uint32_t fkt_process_id(struct fkt_processes *processes, uint32_t tid, uint16_t cpu);

/**
 * fkt_process() - the thread with a number
 * @processes: the threads
 * @id: what fkt_process_id() returned
 *
 * Return: the thread; valid until the next call of fkt_process_id() or fkt_processes_event().
 */
const struct fkt_process *fkt_process(const struct fkt_processes *processes, uint32_t id);

/**
 * fkt_process_count() - how many threads have numbers
 * @processes: the threads
 *
 * Return: one more than the largest number.
 */
uint32_t fkt_process_count(const struct fkt_processes *processes);

/**
 * fkt_process_leader() - the first thread of a thread's process
 * @processes: the threads
 * @id: the thread
 *
 * Return: its number, or @id when it is not known.
 */
uint32_t fkt_process_leader(struct fkt_processes *processes, uint32_t id);

/* ---- some of the events ---- */

/**
 * struct fkt_wanted - which events are wanted: those for which all of this is so
 * @first: stamp since which the times of rows are
 * @from: they are not before this stamp
 * @code: this is not 0 for their code, of FKT_SLOT_CODES; NULL: all codes, but for FKT_CODE_STACK
 * @cpu: and not 0 for their CPU, of UINT16_MAX + 1; NULL: all CPUs
 * @pid: one of these threads is current; NULL: any
 * @pids: how many
 * @comm: a thread with this name is; NULL: any. Not looked at where there is @pid
 */
struct fkt_wanted {
	uint64_t first;
	uint64_t from;
	const uint8_t *code;
	const uint8_t *cpu;
	const uint32_t *pid;
	size_t pids;
	const char *comm;
};

/**
 * fkt_code_like() - find the codes whose names a pattern matches
 * @trace: the trace
 * @from: begin with this code
 * @pattern: of names, as those of file names: "vfs_*"
 *
 * Return: the first such code from @from on, FKT_SLOT_CODES when there is none.
 */
uint32_t fkt_code_like(const struct fkt_trace *trace, uint32_t from, const char *pattern);

/**
 * struct fkt_event_row - an event as a row of numbers
 * @stamp: when, in cycles
 * @time: in nanoseconds since wanted.first; in cycles where the trace has no clock
 * @code: its code
 * @pid: thread that was current
 * @id: the number of that, for fkt_process()
 * @cpu: CPU on which it happened
 * @imm: its immediate
 */
struct fkt_event_row {
	uint64_t stamp;
	int64_t time;
	uint32_t code;
	uint32_t pid;
	uint32_t id;
	uint16_t cpu;
	uint16_t imm;
};

/**
 * fkt_next_wanted() - the next event that is wanted
 * @reader: the reader, of a window if the end is to be somewhere
 * @processes: the threads, which are told of all events that are passed over, and of this one
 * @wanted: what is wanted
 * @event: filled in as by fkt_next()
 *
 * Return: as fkt_next(); FKT_WAIT also when very many events were passed over: call again.
 */
int fkt_next_wanted(struct fkt_reader *reader, struct fkt_processes *processes,
		    const struct fkt_wanted *wanted, struct fkt_event *event);

/**
 * fkt_next_rows() - the next events that are wanted, many at once
 * @reader: the reader
 * @processes: as for fkt_next_wanted()
 * @wanted: what is wanted
 * @rows: filled in
 * @room: for how many rows there is room, less than INT_MAX
 *
 * What is missing in between is in fkt_read_stats().
 *
 * Return: how many rows there are; 0: no more will come; -EAGAIN: none yet, call again; -ENOMEM.
 */
int fkt_next_rows(struct fkt_reader *reader, struct fkt_processes *processes,
		  const struct fkt_wanted *wanted, struct fkt_event_row *rows, unsigned int room);

/* ---- what an event holds ---- */

enum fkt_field_type {
	FKT_FIELD_SIGNED,
	FKT_FIELD_UNSIGNED,
	FKT_FIELD_HEX,
	FKT_FIELD_CYCLES,
	FKT_FIELD_PID,
	FKT_FIELD_IRQ,
	FKT_FIELD_SOFTIRQ,
	FKT_FIELD_TRIGGER, /* of a flight recorder */
	FKT_FIELD_TRAP,
	FKT_FIELD_DEVICE, /* a dev_t as the kernel has it: the minor in the low 20 bits */
	FKT_FIELD_STATE,
	FKT_FIELD_SYMBOL,   /* an address */
	FKT_FIELD_FUNCTION, /* the address of a function */
	FKT_FIELD_COMM,	    /* the name of a process */
	FKT_FIELD_STRING,
	FKT_FIELD_QUOTED, /* a string that people see in quotes */
	FKT_FIELD_CHAR,
	FKT_FIELD_ARGUMENT,	   /* of a system call: a register */
	FKT_FIELD_RESULT,	   /* of a call: signed, or an error */
	FKT_FIELD_RESULT_UNSIGNED, /* of a call that can't fail */
	FKT_FIELD_VOID,		   /* of one that has none */
	FKT_FIELD_ARRAY,	   /* see fkt_field_element() */
	FKT_FIELD_CODE,		   /* the code of an event */
	FKT_FIELD_ENUM,		   /* of an enum of the kernel's, whose names the trace has */
};

/* Room for the longest name, and how many fields an event can have. */
#define FKT_FIELD_NAME_BYTES 32
#define FKT_FIELDS_MAX	     66

/**
 * struct fkt_field - a field of the events of some code
 * @type: enum fkt_field_type: what it is, and so how it is shown
 * @bytes: its size; 0: all that remain
 * @offset: where it stands in the event's words, in bytes
 * @immediate: it is the event's immediate instead
 * @bare: it speaks for itself: people are shown it without its name
 * @name: its name, which no other field of the code has; there are no quotes in it
 * @element: of an array: enum fkt_field_type of its elements
 * @elements: of an array: how many it has
 * @unit: of its number, such as "cycles", or ""
 * @names: of an enum: its names, "NAME=NUMBER,…", up to a brace; NULL of others
 */
struct fkt_field {
	uint8_t type;
	uint8_t bytes;
	uint8_t offset;
	bool immediate;
	bool bare;
	char name[FKT_FIELD_NAME_BYTES];
	uint8_t element;
	uint8_t elements;
	const char *unit;
	const char *names;
};

/**
 * fkt_fields() - the fields of a code
 * @trace: the trace, whose table says them
 * @code: the code; of one that nobody knows, the words
 * @fields: filled in
 *
 * Return: how many there are.
 */
unsigned int fkt_fields(const struct fkt_trace *trace, uint32_t code,
			struct fkt_field fields[FKT_FIELDS_MAX]);

/**
 * fkt_field_element() - an element of an array, as a field of its own
 * @field: the field, of the type FKT_FIELD_ARRAY
 * @index: which one, less than field->elements
 */
static inline struct fkt_field fkt_field_element(const struct fkt_field *field, unsigned int index)
{
	struct fkt_field element = *field;

	element.type = field->element;
	element.bytes = (uint8_t)(field->bytes / field->elements);
	element.offset = (uint8_t)(field->offset + index * element.bytes);
	element.elements = 0;
	return element;
}

/**
 * fkt_field_is_named() - whether what the field numbers has a name, which fkt_put_name() says
 * @field: the field
 */
static inline bool fkt_field_is_named(const struct fkt_field *field)
{
	return (field->type >= FKT_FIELD_PID && field->type <= FKT_FIELD_DEVICE) ||
	       field->type == FKT_FIELD_SYMBOL || field->type == FKT_FIELD_FUNCTION ||
	       field->type == FKT_FIELD_RESULT || field->type == FKT_FIELD_CODE ||
	       field->type == FKT_FIELD_ENUM;
}

enum fkt_value_kind {
	FKT_VALUE_NONE,
	FKT_VALUE_SIGNED,
	FKT_VALUE_UNSIGNED,
	FKT_VALUE_TEXT,
	FKT_VALUE_ARRAY,
};

/**
 * struct fkt_value - the value of a field of an event
 * @kind: what it is
 * @number: the number; with FKT_VALUE_SIGNED that of an int64_t
 * @text: the text, without a NUL behind it, and with anything in it; with FKT_VALUE_ARRAY the bytes
 *	of all elements, which fkt_field_element() makes fields of
 * @bytes: its length
 */
struct fkt_value {
	enum fkt_value_kind kind;
	uint64_t number;
	const char *text;
	size_t bytes;
};

/**
 * fkt_field_value() - the value of a field
 * @field: a field of the event's code
 * @event: the event
 * @value: set to it; valid as long as the event
 *
 * Return: false when it has none: the event was recorded with fewer words, or it is a void result.
 */
bool fkt_field_value(const struct fkt_field *field, const struct fkt_event *event,
		     struct fkt_value *value);

#define FKT_ERRNO_MAX 4095

/**
 * fkt_is_errno() - whether a result is an error, negated
 * @result: the result
 */
static inline bool fkt_is_errno(uint64_t result)
{
	return result > UINT64_MAX - FKT_ERRNO_MAX;
}

/* Room for the longest name that fkt_put_name() writes. */
#define FKT_VALUE_NAME_BYTES 600

/**
 * fkt_put_name() - what a number is the number of: a process, an IRQ, a device, an address; or what
 *	an enum calls it
 * @trace: the trace
 * @processes: its threads, at this moment
 * @field: the field, of which fkt_field_is_named() is true
 * @event: the event
 * @number: the field's value
 * @to: where to, with room for FKT_VALUE_NAME_BYTES; no NUL is written
 *
 * Return: the end of it, @to when the number has no name.
 */
char *fkt_put_name(struct fkt_trace *trace, struct fkt_processes *processes,
		   const struct fkt_field *field, const struct fkt_event *event, uint64_t number,
		   char *to);

/* Room for the longest text that fkt_put_frame() writes. */
#define FKT_FRAME_BYTES 160

/**
 * fkt_put_frame() - a frame of a stack: "vfs_read+0x7a", of a module "nfs_read+0x18 [nfs]", of a
 *	program "main+0x2c (cat)", an address where no name is known, or what stands for frames that
 *	are missing
 * @trace: the trace
 * @to: where to, with room for FKT_FRAME_BYTES; no NUL is written
 * @stack: the stack
 * @i: which of its frames
 *
 * Return: the end of it.
 */
char *fkt_put_frame(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
		    unsigned int i);

/*
 * ---- where the time went ----
 *
 * All time between the beginning of a trace and its end is charged, on each CPU, to somebody: to a
 * call (of a function, a system call) of the thread that was current, to an interrupt, to what a
 * thread does outside of all calls, or to what is not known. Each of these is a row; the rows add
 * up to the trace's duration times its CPUs, and so do the threads.
 */

/*
 * Rows: those below FKT_SLOT_CODES are the codes of entries (kinds ENTRY and CPU_ENTRY); IRQs and
 * softirqs have a row for each number, and functions that the same code tells of, by their address,
 * a row for each address; the rest is not inside any call.
 */
enum fkt_row {
	FKT_ROW_IRQ = FKT_SLOT_CODES,		 /* + number of the IRQ */
	FKT_ROW_SOFTIRQ = FKT_ROW_IRQ + 0x10000, /* + number of the softirq */
	FKT_ROW_FUNCTION = FKT_ROW_SOFTIRQ + 64, /* + number of the function; the last one is for */
						 /* all that come when there are too many */
	FKT_ROW_USER = FKT_ROW_FUNCTION + 0x10000, /* outside of all calls: user mode */
	FKT_ROW_KERNEL,				   /* outside of all calls: kernel threads */
	FKT_ROW_IDLE,				   /* outside of all calls: idle tasks */
	FKT_ROW_BEFORE,	  /* in a call that was entered before the trace began */
	FKT_ROW_UNKNOWN,  /* where events are missing */
	FKT_ROW_LEFT_OUT, /* of threads that were not recorded while they ran, but for switches */
	FKT_ROW_UNTRACED, /* outside of what was traced while system calls were not */
	FKT_ROWS,
	FKT_ROW_NONE = FKT_ROWS,
};

/**
 * struct fkt_row_sums - what a row comes to
 * @own: cycles charged to it, without those of what it called
 * @total: cycles of its whole calls, with those of what they called
 * @calls: how many calls were seen from entry to exit
 * @partial: calls that were not: entered before the trace began, not left when it ended, or with
 *	events missing in between; they are in @own alone
 */
struct fkt_row_sums {
	uint64_t own;
	uint64_t total;
	uint64_t calls;
	uint64_t partial;
};

/* How a thread can be off the CPU. */
enum fkt_sleep {
	FKT_SLEEP_INTERRUPTIBLE,   /* S */
	FKT_SLEEP_UNINTERRUPTIBLE, /* D */
	FKT_SLEEP_IDLE,		   /* I */
	FKT_SLEEP_STOPPED,	   /* T, t */
	FKT_SLEEP_OTHER,
	FKT_SLEEPS,
};

/**
 * struct fkt_thread_sums - what a thread comes to
 * @id: the thread, for fkt_process(); 0 for times at which it is not known who was current
 * @cycles: time for which it was current; the sum of the next four, of @left_out, and of @untraced;
 *	or, of thread 0, not known
 * @user: outside of all calls, of a thread that has a user mode
 * @kernel: in calls; of a kernel thread, all of it
 * @program: in functions of its program, and in spans that it tells of: in user mode, too
 * @before: in the kernel since before the trace began, it is not known in which call
 * @interrupts: in interrupts that came while it was current
 * @waiting: ready to run, on no CPU
 * @sleeping: asleep, by state
 * @switches: how often it came to a CPU, by a switch
 * @left_out: while it was not recorded, but for switches
 * @untraced: while system calls were not recorded, outside of all calls, in user mode or not
 */
struct fkt_thread_sums {
	uint32_t id;
	uint64_t cycles;
	uint64_t user;
	uint64_t kernel;
	uint64_t before;
	uint64_t interrupts;
	uint64_t waiting;
	uint64_t sleeping[FKT_SLEEPS];
	uint64_t switches;
	uint64_t left_out;
	uint64_t untraced;
	uint64_t program;
};

/**
 * struct fkt_call - a call that has ended, or has been given up
 * @row: of what
 * @caller: row of the call in which it was made, FKT_ROW_NONE when there is none
 * @id: the thread; of an interrupt, the one that it interrupted
 * @leader: of the process whose thread @id is, at that moment, or @id; only with leaders
 * @outside: row of what the thread is at outside of all calls: FKT_ROW_IDLE of an idle task,
 *	FKT_ROW_UNKNOWN where it is not known who was current
 * @cpu: where it ended
 * @depth: calls around it, on the thread's stack or on that of the CPU's interrupts
 * @interrupt: it was on the latter
 * @partial: it was not seen from its entry to its exit
 * @entered: its entry was seen, or told by the head of an extracted trace
 * @counts: time of it was charged, or would have been when it ended; not so of one that was open
 *	all the while, in a thread that never ran
 * @begin: stamp of the entry
 * @end: stamp of the exit, or of when it was given up
 * @cycles: CPU time, that of interrupts apart
 * @own: the same without what it called
 * @former: the thread that had it up to an exec, see struct fkt_analysis_hooks; 0 if none did
 * @former_own: so much of @own is that one's
 * @only_elapsed: end - begin, less the same of what it called
 * @entry_words: how many of @entry_args there are
 * @entry_args: the words of the entry; only with keep_args
 * @entry: the event that begins it; only when it begins
 * @exit: the event that ended it, NULL when it was given up
 * @counted: what each of fkt_counters() has counted in it, and from FKT_COUNTERS_MAX on, the same
 *	without what it called; valid in the hook alone. NULL where there are none, or the entry was
 *	not seen
 */
struct fkt_call {
	uint32_t row;
	uint32_t caller;
	uint32_t id;
	uint32_t leader;
	uint32_t outside;
	uint16_t cpu;
	uint32_t depth;
	bool interrupt;
	bool partial;
	bool entered;
	bool counts;
	uint64_t begin;
	uint64_t end;
	uint64_t cycles;
	uint64_t own;
	uint32_t former;
	uint64_t former_own;
	uint64_t only_elapsed;
	unsigned int entry_words;
	const uint64_t *entry_args;
	const struct fkt_event *entry;
	const struct fkt_event *exit;
	const uint64_t *counted;
};

/* As many arguments as a system call has. */
#define FKT_CALL_ARGS	   6
/* Words of a call's entry that are kept: all that an event may have. */
#define FKT_CALL_WORDS	   FKT_SLOT_WORDS_MAX
/* Deeper than any kernel stack is: beyond it events must be missing. */
#define FKT_CALL_DEPTH_MAX 512

/**
 * struct fkt_wait - a time for which a thread did not run
 * @id: the thread
 * @state: in which state it left the CPU, see fkt_state_letters(); 0 when it was preempted
 * @outer: row of the outermost call that was open then, such as a system call
 * @inner: row of the innermost one; both are rows outside of all calls when there is none
 * @cpu: the CPU that it left
 * @next: the thread that took its place there; 0 where that is not known
 * @left: stamp when it left it
 * @woken: stamp when it was woken; 0 when it was preempted, or that is not known
 * @back: stamp when it ran again; 0 when it had not at @to
 * @from, @to: the part of it in which time was charged
 * @waker: thread that was current where it was woken
 * @waker_row: what went on there: an interrupt's row, that of a system call, or one outside
 * @back_cpu: the CPU on which it ran again; only with @back
 */
struct fkt_wait {
	uint32_t id;
	uint32_t state;
	uint32_t outer;
	uint32_t inner;
	uint16_t cpu;
	uint32_t next;
	uint64_t left;
	uint64_t woken;
	uint64_t back;
	uint64_t from;
	uint64_t to;
	uint32_t waker;
	uint32_t waker_row;
	uint16_t back_cpu;
};

/**
 * struct fkt_analysis_hooks - who wants to know of each call; what is NULL is not called
 * @arg: for all of them
 * @enter: a call begins; of it, only row, id, cpu, depth, interrupt, begin and entry are there;
 *	entry is NULL where it was open when an extracted trace began
 * @leave: a call has ended
 * @wait: a thread runs again, or does not yet when time is charged no longer
 * @moved: all calls that the thread @from is in are @to's from now on, which was in none: a thread
 *	that is not the leader has made an exec, and has the leader's number now
 * @charges: whether time of a thread on a CPU is charged, asked at each event for the time since
 *	the one before there; what a thread does off all CPUs is asked for with the one that it
 *	left. NULL: all is
 * @keep_args: keep the entries' arguments for @leave
 * @leaders: tell @leave who leads the process
 */
struct fkt_analysis_hooks {
	void *arg;
	void (*enter)(void *arg, const struct fkt_call *call);
	void (*leave)(void *arg, const struct fkt_call *call);
	void (*wait)(void *arg, const struct fkt_wait *wait);
	void (*moved)(void *arg, uint32_t from, uint32_t to);
	bool (*charges)(void *arg, uint16_t cpu, uint32_t id);
	bool keep_args;
	bool leaders;
};

struct fkt_analysis;

/**
 * fkt_analysis_new() - begin to sum up
 * @trace: the trace, which must outlive it
 * @processes: its threads, likewise; the caller tells them of events, after this
 * @hooks: copied; NULL for none
 *
 * Return: to be freed with fkt_analysis_free(), or NULL without memory.
 */
struct fkt_analysis *fkt_analysis_new(const struct fkt_trace *trace,
				      struct fkt_processes *processes,
				      const struct fkt_analysis_hooks *hooks);

/**
 * fkt_analysis_free() - free it
 * @analysis: may be NULL
 */
void fkt_analysis_free(struct fkt_analysis *analysis);

/**
 * fkt_analysis_event() - take in the next event
 * @analysis: the sums
 * @event: the event
 *
 * Return: 0 or -ENOMEM.
 */
int fkt_analysis_event(struct fkt_analysis *analysis, const struct fkt_event *event);

/**
 * fkt_analysis_gap() - something is missing
 * @analysis: the sums
 * @gap: what; the next event is the first one after it
 */
void fkt_analysis_gap(struct fkt_analysis *analysis, const struct fkt_gap *gap);

/**
 * fkt_analysis_read() - read events, and take them in, with what is missing between them
 * @analysis: the sums
 * @processes: its threads, which are told of events after it
 * @reader: the events
 * @count: so many at most
 *
 * Return: FKT_END when there are no more, greater than 0 when there may be, or a negative errno
 * value.
 */
int fkt_analysis_read(struct fkt_analysis *analysis, struct fkt_processes *processes,
		      struct fkt_reader *reader, unsigned int count);

/**
 * fkt_analysis_charge() - charge time from now on, or no longer
 * @analysis: the sums
 * @stamp: now, not before the last event
 * @on: whether; a new analysis charges from the trace's beginning on
 *
 * Calls that are open at that moment are partial. Who runs where is followed in any case.
 */
void fkt_analysis_charge(struct fkt_analysis *analysis, uint64_t stamp, bool on);

/**
 * fkt_analysis_end() - charge the time up to the end, and close what is open
 * @analysis: the sums
 * @last: stamp at which the trace ended, as far as events say; its end sections may say more
 *
 * Return: 0 or -ENOMEM.
 */
int fkt_analysis_end(struct fkt_analysis *analysis, uint64_t last);

/**
 * fkt_analysis_current() - the thread that is current on a CPU after the last event
 * @analysis: the sums
 * @cpu: the CPU
 *
 * Return: its number, for fkt_process().
 */
uint32_t fkt_analysis_current(const struct fkt_analysis *analysis, uint16_t cpu);

/**
 * fkt_analysis_knows_cpus() - whether there was an event of each lane that has any, and of each CPU
 *	of a shared one
 * @analysis: the sums
 *
 * A CPU's first event says who was current until then. Where charging ends before that, reading on
 * for a while tells.
 */
bool fkt_analysis_knows_cpus(const struct fkt_analysis *analysis);

/**
 * fkt_analysis_is_settled() - whether it is known what all that was charged went to
 * @analysis: the sums
 *
 * What a thread did outside of all calls since its first event is told by its next system call; who
 * was current on a CPU of a shared lane since that one's last event, by its next switch; and
 * whether one slept that was woken before it had left its CPU, by what wakes it or where it runs
 * again. Where charging ends before that, reading on for a while tells.
 *
 * Return: false also when fkt_analysis_knows_cpus() is.
 */
bool fkt_analysis_is_settled(struct fkt_analysis *analysis);

/* The following are for after fkt_analysis_end(). */

/**
 * fkt_analysis_duration() - for how long time was charged, in cycles
 * @analysis: the sums
 */
uint64_t fkt_analysis_duration(const struct fkt_analysis *analysis);

/**
 * fkt_analysis_left_out() - the time on all CPUs that was not charged by hooks.charges, in cycles
 * @analysis: the sums
 */
uint64_t fkt_analysis_left_out(const struct fkt_analysis *analysis);

/**
 * fkt_analysis_cpus() - on how many CPUs
 * @analysis: the sums
 */
uint32_t fkt_analysis_cpus(const struct fkt_analysis *analysis);

/**
 * fkt_analysis_has_cpu() - whether a CPU is one of these
 * @analysis: the sums
 * @cpu: the CPU
 */
bool fkt_analysis_has_cpu(const struct fkt_analysis *analysis, uint16_t cpu);

/**
 * fkt_analysis_cpu_end() - one more than the largest number of these CPUs
 * @analysis: the sums
 */
uint32_t fkt_analysis_cpu_end(const struct fkt_analysis *analysis);

/**
 * fkt_analysis_row() - what a row comes to
 * @analysis: the sums
 * @row: less than FKT_ROWS
 */
const struct fkt_row_sums *fkt_analysis_row(const struct fkt_analysis *analysis, uint32_t row);

/**
 * fkt_analysis_counted() - what a counter has counted of a row, without what that called
 * @analysis: the sums
 * @row: less than FKT_ROWS
 * @number: less than fkt_counters()
 *
 * What came before a CPU's first event with counters, or behind its last one, is nowhere; what came
 * where events are missing, in FKT_ROW_UNKNOWN.
 */
uint64_t fkt_analysis_counted(const struct fkt_analysis *analysis, uint32_t row,
			      unsigned int number);

/**
 * fkt_analysis_threads() - what each thread that was seen comes to, the longest current first
 * @analysis: the sums
 * @count: how many there are
 *
 * Return: rows, owned by the caller (free()), or NULL without memory.
 */
struct fkt_thread_sums *fkt_analysis_threads(struct fkt_analysis *analysis, size_t *count);

/**
 * fkt_analysis_on_cpu() - for how long a thread was current on a CPU, in cycles
 * @analysis: the sums
 * @id: the thread
 * @cpu: the CPU
 */
uint64_t fkt_analysis_on_cpu(const struct fkt_analysis *analysis, uint32_t id, uint16_t cpu);

/**
 * struct fkt_on_cpu - for how long a thread was current on a CPU
 * @id: the thread, 0: the time in which it is not known who was
 * @cpu: the CPU
 * @cycles: how long, more than 0
 */
struct fkt_on_cpu {
	uint32_t id;
	uint16_t cpu;
	uint64_t cycles;
};

/**
 * fkt_analysis_on_cpus() - the same of all threads and CPUs, by thread, and of each by CPU
 * @analysis: the sums
 * @count: how many there are
 *
 * A CPU's rows come to its time, and a thread's to its own, unless there are more than 786,432.
 *
 * Return: rows, owned by the caller (free()), or NULL without memory.
 */
struct fkt_on_cpu *fkt_analysis_on_cpus(const struct fkt_analysis *analysis, size_t *count);

/**
 * fkt_analysis_code_count() - how many events had a code
 * @analysis: the sums
 * @code: the code, less than FKT_SLOT_CODES
 */
uint64_t fkt_analysis_code_count(const struct fkt_analysis *analysis, uint32_t code);

/**
 * fkt_analysis_has_syscalls() - whether there was any system call
 * @analysis: the sums
 *
 * If not, FKT_ROW_USER, too, is time outside of what was traced, in user mode or not.
 */
bool fkt_analysis_has_syscalls(const struct fkt_analysis *analysis);

/**
 * fkt_counters() - how many counters were read with the events
 * @trace: the trace
 *
 * Return: the number, FKT_COUNTERS_MAX at most.
 */
unsigned int fkt_counters(const struct fkt_trace *trace);

/**
 * fkt_counter_name() - what a counter counts: "page-faults"
 * @trace: the trace
 * @number: less than fkt_counters()
 * @name: written
 *
 * Return: @name.
 */
const char *fkt_counter_name(const struct fkt_trace *trace, unsigned int number,
			     char name[FKT_NAME_BYTES]);

/**
 * fkt_row_name() - what a row is called: "sys_openat", "irq 30 virtio2-requests", "user"
 * @trace: the trace
 * @row: the row
 * @name: written, with its NUL
 */
void fkt_row_name(const struct fkt_trace *trace, uint32_t row, char name[FKT_NAME_BYTES]);

/**
 * fkt_row_code() - the code of a row's entries
 * @trace: the trace
 * @row: the row
 *
 * Return: the code, FKT_SLOT_CODES when it has none.
 */
uint32_t fkt_row_code(const struct fkt_trace *trace, uint32_t row);

/**
 * fkt_row_layer() - the layer of a row
 * @trace: the trace
 * @row: the row
 *
 * Return: its name, owned by the trace, or "" when it has none.
 */
const char *fkt_row_layer(const struct fkt_trace *trace, uint32_t row);

/**
 * fkt_row_interrupts() - whether a row is an interrupt's: whose thread it comes to is chance
 * @trace: the trace
 * @row: the row
 *
 * A softirq is one, too, but on PREEMPT_RT, where a thread runs it, and is preempted in it.
 *
 * Return: whether it is.
 */
bool fkt_row_interrupts(const struct fkt_trace *trace, uint32_t row);

/**
 * fkt_can_sum() - whether fkt_sum() can do it: a whole file with a lane for each CPU
 * @trace: the trace
 */
bool fkt_can_sum(const struct fkt_trace *trace);

/**
 * fkt_sum() - analyse all events, as fkt_analysis_event() and fkt_analysis_gap() do
 * @trace: the trace, of which fkt_can_sum() is true
 * @processes: new ones
 * @analysis: a new one, with them, and of hooks with @leave, @wait and @keep_args alone;
 *	fkt_analysis_end() is left to the caller
 * @threads: how many threads; more than eight are not used
 * @stats: set to what was read
 *
 * Calls that begin and end in the same page are summed up page by page, which is faster with one
 * thread, too.
 *
 * Return: 0, -ENOMEM, or -EAGAIN when something in the trace is too odd for that: then @processes,
 * @analysis, and what it told of waits are of no use, and the events have to be read one by one.
 */
int fkt_sum(struct fkt_trace *trace, struct fkt_processes *processes, struct fkt_analysis *analysis,
	    unsigned int threads, struct fkt_read_stats *stats);

/* ---- formats: how listings and tables look, for people and for programs ---- */

struct fkt_format;

/**
 * fkt_format() - the format with a number
 * @index: 0, which is for people, … until the answer is NULL
 */
const struct fkt_format *fkt_format(unsigned int index);

/**
 * fkt_format_find() - the format with a name
 * @name: such as "csv"
 *
 * Return: the format, or NULL.
 */
const struct fkt_format *fkt_format_find(const char *name);

/**
 * fkt_format_name() - what a format is called
 * @format: the format
 */
const char *fkt_format_name(const struct fkt_format *format);

/**
 * fkt_format_about() - what there is to know of it
 * @format: the format
 *
 * Return: some words, or "".
 */
const char *fkt_format_about(const struct fkt_format *format);

/**
 * fkt_format_for_people() - whether people read it
 * @format: the format
 *
 * They want titles, and no more lines and columns than tell something; programs want the same ones
 * in all cases.
 */
bool fkt_format_for_people(const struct fkt_format *format);

/* ---- events as lines ---- */

enum fkt_time {
	FKT_TIME_CYCLES, /* cycles since the event before */
	FKT_TIME_NS,	 /* nanoseconds since the event before */
	FKT_TIME_US,	 /* microseconds since the event before */
	FKT_TIME_REL,	 /* seconds since the first event */
	FKT_TIME_ABS,	 /* date and time of day */
	FKT_TIME_FIT,	 /* since the event before, in the unit that fits: ns, us, ms or s; in */
			 /* cycles when the trace has no clock */
};

struct fkt_text;

/**
 * fkt_text_new() - begin a listing
 * @trace: the trace, which must outlive it
 * @processes: its threads, likewise
 * @fd: where the text goes, in large pieces
 * @time: what the first column shows
 *
 * Return: to be freed with fkt_text_free(), or NULL without memory.
 */
struct fkt_text *fkt_text_new(struct fkt_trace *trace, struct fkt_processes *processes, int fd,
			      enum fkt_time time);

/**
 * fkt_text_set_format() - how lines look, before the first one
 * @text: the listing
 * @format: the format, NULL: for people; in those for programs, time_ns is since the first event
 * @color: whether names are coloured, by the kind of event; only for people
 */
void fkt_text_set_format(struct fkt_text *text, const struct fkt_format *format, bool color);

/**
 * fkt_text_set_first() - the trace begins before the first event that is listed
 * @text: the listing; nothing is changed after its first event
 * @first: stamp of the trace's first event, since which times are
 */
void fkt_text_set_first(struct fkt_text *text, uint64_t first);

/**
 * fkt_text_free() - free it; what was not flushed is gone
 * @text: may be NULL
 */
void fkt_text_free(struct fkt_text *text);

/**
 * fkt_text_header() - the line with the columns' names
 * @text: the listing
 */
void fkt_text_header(struct fkt_text *text);

/**
 * fkt_text_event() - a line for an event
 * @text: the listing
 * @event: the event; fkt_processes_event() must have been told of it
 *
 * Errors of writing are kept for fkt_text_flush().
 */
void fkt_text_event(struct fkt_text *text, const struct fkt_event *event);

/**
 * fkt_text_gap() - a line for something missing
 * @text: the listing
 * @gap: what
 */
void fkt_text_gap(struct fkt_text *text, const struct fkt_gap *gap);

/**
 * fkt_text_flush() - write what has not been written
 * @text: the listing
 *
 * Return: 0, or the negative errno value of the first write that failed.
 */
int fkt_text_flush(struct fkt_text *text);

/* ---- a listing made by several threads ---- */

/**
 * struct fkt_listing - how fkt_list() lists
 * @fd: where the text goes
 * @time: what the first column shows
 * @format: how lines look; NULL: for people
 * @color: and whether in colours
 * @stacks: with the stacks of those events that have one
 * @threads: how many threads; more than eight are not used
 */
struct fkt_listing {
	int fd;
	enum fkt_time time;
	const struct fkt_format *format;
	bool color;
	bool stacks;
	unsigned int threads;
};

/**
 * fkt_can_list() - whether fkt_list() can do it: a whole file with a lane for each CPU
 * @trace: the trace
 */
bool fkt_can_list(const struct fkt_trace *trace);

/**
 * fkt_list() - list all events, as fkt_text_event() and fkt_text_gap() do, but for the header
 * @trace: the trace, of which fkt_can_list() is true
 * @listing: how
 * @stats: set to what was read, without numbers of pages
 *
 * Return: 0, or the negative errno value of the first write that failed, or -ENOMEM.
 */
int fkt_list(struct fkt_trace *trace, const struct fkt_listing *listing,
	     struct fkt_read_stats *stats);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
 * The trace may be a regular file, a block device or a stream, cut off anywhere or damaged: what
 * can be read is read, and what is missing is said. Nothing in the file is trusted. Strings that
 * the library hands out hold no control characters: they may go to a terminal.
 *
 * Functions return 0 or a pointer when all is well, and a negative errno value or NULL when not,
 * unless their comment says something else. A trace may be used by several threads at once, each
 * with objects of its own for everything else, once fkt_open() has returned; fkt_symbol() excepted.
 */
#ifndef FKT_H
#define FKT_H

#include <stddef.h>

#include "read/decode.h"

/* ---- the trace ---- */

struct fkt_trace;

/* Room for the longest sentence that fkt_open() leaves. */
#define FKT_ERROR_BYTES 256

/**
 * typedef fkt_warn_fn - told of each thing that is wrong but does not stop reading
 * @arg: as given to fkt_open()
 * @sentence: what is wrong; without the file's name or a newline, and not the callee's to keep
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

/* ---- clock.c: cycles to nanoseconds ---- */

/**
 * fkt_has_clock() - whether the trace says how long a cycle is
 * @trace: the trace
 */
bool fkt_has_clock(const struct fkt_trace *trace);

/**
 * fkt_cycles_to_ns() - length of a span
 * @trace: a trace with fkt_has_clock()
 * @cycles: the span, may be negative
 */
int64_t fkt_cycles_to_ns(const struct fkt_trace *trace, int64_t cycles);

/**
 * fkt_ns_to_cycles() - the least number of cycles that takes so long
 * @trace: a trace with fkt_has_clock()
 * @ns: how long
 */
uint64_t fkt_ns_to_cycles(const struct fkt_trace *trace, uint64_t ns);

/**
 * fkt_parse_time() - a time as users write it
 * @text: such as "12.5", "12.5s", "900ms", "20us", "1500ns" or "2m"; without a unit, seconds
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

/* ---- merge.c: the events of all lanes in the order of time ---- */

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
};

/**
 * struct fkt_gap - something missing in a lane
 * @kind: what
 * @lane: where
 * @cpu: CPU of the lane, FKT_CPU_ANY when it is shared
 * @count: how many events (FKT_GAP_LOST) or pages
 */
struct fkt_gap {
	enum fkt_gap_kind kind;
	uint16_t lane;
	uint16_t cpu;
	uint64_t count;
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

struct fkt_lane;
struct fkt_source;

/**
 * struct fkt_reader - delivers the events of a trace; callers touch none of it
 * @cursor: in the page from which events are delivered at the moment
 * @limit: it may deliver events with earlier stamps than this before other lanes have their turn
 * @from: earlier events are passed over
 * @to: where reading ends; UINT64_MAX: with the trace
 * @stats: what was seen
 * @gap: the gap last returned
 * @watermark: all pages with events of earlier stamps have been found
 * @trace: of this trace
 * @source: where its pages come from
 * @lane: all lanes
 * @heap: those lanes that have an event to deliver, the one with the earliest at [0]
 * @in_heap: how many
 * @none: a cursor without slots
 * @delivered: something was delivered since FKT_WAIT
 * @hurried: events were delivered although earlier ones might have come
 * @ended: there are no more pages to find
 * @closing: lane whose end is looked at next, once all is delivered
 * @block: the block of pages with which it began
 * @processes: pages without events about processes are passed over
 * @passed: events before @from: those that were passed over, and those before the index page
 * @cpu_pid: thread that is current on each CPU
 */
struct fkt_reader {
	struct fkt_cursor *cursor;
	uint64_t limit;
	uint64_t from;
	uint64_t to;
	struct fkt_read_stats stats;
	struct fkt_gap gap;
	uint64_t watermark;
	struct fkt_trace *trace;
	struct fkt_source *source;
	struct fkt_lane *lane;
	struct fkt_lane **heap;
	uint32_t in_heap;
	struct fkt_cursor none;
	bool delivered;
	bool hurried;
	bool ended;
	uint32_t closing;
	uint64_t block;
	bool processes;
	uint64_t passed;
	uint32_t cpu_pid[UINT16_MAX + 1];
};

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

/* The way of fkt_next() when a page ends, another lane has its turn, or there is a gap. */
int fkt_next_slow(struct fkt_reader *reader, struct fkt_event *event);

/* Follow the current thread of the event's CPU. */
static inline void fkt_follow(struct fkt_reader *reader, struct fkt_event *event)
{
	uint32_t *pid = &reader->cpu_pid[event->cpu];

	/* An exec by a thread that is not the leader takes over the leader's pid. */
	if (event->code == FKT_CODE_EXEC && event->words >= 1)
		*pid = fkt_arg32(event, 0);
	event->pid = *pid;
	if (event->code == FKT_CODE_SWITCH && event->words >= 1) {
		event->pid = fkt_arg32(event, 0);
		*pid = fkt_arg32(event, 4);
	}
}

/* Move behind the event that the reader's cursor looks at. */
static inline void fkt_deliver(struct fkt_reader *reader, struct fkt_event *event)
{
	fkt_slot_pass(reader->cursor, event);
	fkt_follow(reader, event);
	if (event->stamp > reader->stats.last)
		reader->stats.last = event->stamp;
	reader->stats.events++;
}

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
static inline int fkt_next(struct fkt_reader *reader, struct fkt_event *event)
{
	if (__builtin_expect(fkt_slot_decode(reader->cursor, event) && event->stamp < reader->limit,
			     1)) {
		fkt_deliver(reader, event);
		return FKT_EVENT;
	}
	return fkt_next_slow(reader, event);
}

/**
 * fkt_gap() - what is missing, after fkt_next() returned FKT_GAP
 * @reader: the reader
 */
static inline const struct fkt_gap *fkt_gap(const struct fkt_reader *reader)
{
	return &reader->gap;
}

/**
 * fkt_read_stats() - what a reader has seen so far
 * @reader: the reader
 */
static inline const struct fkt_read_stats *fkt_read_stats(const struct fkt_reader *reader)
{
	return &reader->stats;
}

/**
 * fkt_event_stamp() - when the event with a number came
 * @trace: the trace, not a stream
 * @number: how many events are before it, in the order of fkt_next()
 * @stamp: set to its stamp
 *
 * Return: 1, 0 when there are not so many, or a negative errno value.
 */
int fkt_event_stamp(struct fkt_trace *trace, uint64_t number, uint64_t *stamp);

/* ---- state.c: how things stand at some moment ---- */

/**
 * struct fkt_open_call - a call that was entered before an extracted trace begins
 * @code: the code of its entry
 * @tid: the thread that is in it
 * @cpu: the CPU that is in it, of an interrupt
 * @interrupt: whether it is one
 * @stamp: when it was entered
 */
struct fkt_open_call {
	uint32_t code;
	uint32_t tid;
	uint16_t cpu;
	bool interrupt;
	uint64_t stamp;
};

/**
 * fkt_open_call() - calls that were open when an extracted trace begins
 * @trace: the trace
 * @index: 0 … until the answer is NULL; those of one thread or CPU stand in their order, the
 *	outermost one first
 *
 * Only what fkt_extract wrote has any. Others may be open as well, if they had been so for long.
 */
const struct fkt_open_call *fkt_open_call(const struct fkt_trace *trace, size_t index);

struct fkt_state;

/**
 * fkt_state_new() - how things stand when a trace begins
 * @trace: the trace, which must outlive it
 *
 * Return: to be freed with fkt_state_free(), or NULL without memory.
 */
struct fkt_state *fkt_state_new(const struct fkt_trace *trace);

/**
 * fkt_state_free() - free it
 * @state: may be NULL
 */
void fkt_state_free(struct fkt_state *state);

/**
 * fkt_state_event() - go on by an event
 * @state: the state
 * @event: the event; they come in order
 *
 * Return: 0 or -ENOMEM.
 */
int fkt_state_event(struct fkt_state *state, const struct fkt_event *event);

/**
 * fkt_state_join() - learn who is current on CPUs that had no event
 * @state: the state
 * @reader: the reader of the events
 */
void fkt_state_join(struct fkt_state *state, const struct fkt_reader *reader);

/**
 * fkt_state_current() - the thread that is current on a CPU
 * @state: the state
 * @cpu: the CPU
 *
 * Return: its pid, or FKT_PID_UNKNOWN.
 */
uint32_t fkt_state_current(const struct fkt_state *state, uint16_t cpu);

/**
 * fkt_state_gap() - something is missing: it is not known what calls are open
 * @state: the state
 */
void fkt_state_gap(struct fkt_state *state);

/**
 * fkt_state_thread() - process and name of the thread that has a pid now
 * @state: the state
 * @tid: the pid
 * @tgid: set to its process
 * @comm: set to its name, which is valid until the next event
 *
 * Return: false when that can't be known.
 */
bool fkt_state_thread(struct fkt_state *state, uint32_t tid, uint32_t *tgid, const char **comm);

/**
 * fkt_state_processes() - the threads, as FKT_SECTION_PROCESSES has them
 * @state: the state
 * @bytes: set to the length of the text
 *
 * Return: the text, owned by the caller, or NULL without memory.
 */
char *fkt_state_processes(const struct fkt_state *state, size_t *bytes);

/**
 * fkt_state_text() - what runs and what is open, as FKT_SECTION_STATE has it
 * @state: the state
 * @bytes: set to the length of the text
 *
 * Return: the text, owned by the caller, or NULL without memory.
 */
char *fkt_state_text(const struct fkt_state *state, size_t *bytes);

/* ---- extract.c: a part of a trace as a trace ---- */

/**
 * struct fkt_extract - which part, and what came of it
 * @from: stamp with which it begins
 * @to: stamp before which it ends; UINT64_MAX: with the trace
 * @by_pid: only the events of the process or thread @pid
 * @pid: its number
 * @process: only the events of threads with this name; NULL: of all
 * @by_cpu: only the events of @cpu
 * @cpu: its number
 * @events: set to how many events there are
 * @pages: set to how many pages
 * @bytes: set to the size of the new trace
 *
 * With @by_pid and @process, switches, and events about processes, are kept of all threads: they
 * say who ran when, and who is called what.
 */
struct fkt_extract {
	uint64_t from;
	uint64_t to;
	bool by_pid;
	uint32_t pid;
	const char *process;
	bool by_cpu;
	uint16_t cpu;
	uint64_t events;
	uint64_t pages;
	uint64_t bytes;
};

/**
 * fkt_extract() - write a part of a trace as a trace of its own
 * @trace: the trace, not a stream
 * @extract: which part
 * @fd: where to, in sequence
 *
 * Return: 0, -ENODATA when there is no such event, another errno value of writing or of reading.
 */
int fkt_extract(struct fkt_trace *trace, struct fkt_extract *extract, int fd);

/* ---- names.c: what numbers mean ---- */

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

/* Names of fixed numbers; NULL when there is no such number. */
const char *fkt_errno_name(int number); /* of 2: "ENOENT"; the traced machine's, not the host's */
const char *fkt_softirq_name(uint32_t number);
const char *fkt_trap_name(uint32_t number);
const char *fkt_vector_name(uint32_t index);

/* Room for the letters of a state. */
#define FKT_STATE_BYTES 12

/**
 * fkt_state_letters() - letters of a task's state, as ps shows them
 * @state: bits as the switch event has them; 0 is "R"
 * @letters: written, with its NUL
 */
void fkt_state_letters(uint32_t state, char letters[FKT_STATE_BYTES]);

/**
 * fkt_sanitize() - make a string from the trace fit for a terminal, in place
 * @text: control characters and what is not UTF-8 in it become "?"
 */
void fkt_sanitize(char *text);

/* ---- symbols.c: addresses to names ---- */

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

/* ---- process.c: threads and their names, over time ---- */

#define FKT_COMM_BYTES 16

/**
 * struct fkt_process - a thread; a pid that was given out again is another one
 * @tid: its number, "pid" in events; 0 for the idle task of a CPU
 * @tgid: its process, FKT_PID_UNKNOWN when not known
 * @cpu: CPU of an idle task, else 0
 * @comm: its latest name, "?" when not known
 * @released: its pid was released: the next fork() with that pid is another thread
 * @kernel: a thread of the kernel's, which has no user mode
 */
struct fkt_process {
	uint32_t tid;
	uint32_t tgid;
	uint16_t cpu;
	bool released;
	bool kernel;
	char comm[FKT_COMM_BYTES + 1];
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

/* ---- fields.c: what an event holds ---- */

enum fkt_field_type {
	FKT_FIELD_SIGNED,
	FKT_FIELD_UNSIGNED,
	FKT_FIELD_HEX,
	FKT_FIELD_CYCLES,
	FKT_FIELD_PID,
	FKT_FIELD_IRQ,
	FKT_FIELD_SOFTIRQ,
	FKT_FIELD_TRAP,
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
 * @unit: of its number, such as "cycles", or ""
 */
struct fkt_field {
	uint8_t type;
	uint8_t bytes;
	uint8_t offset;
	bool immediate;
	bool bare;
	char name[FKT_FIELD_NAME_BYTES];
	const char *unit;
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
 * fkt_field_is_named() - whether what the field numbers has a name, which fkt_put_name() says
 * @field: the field
 */
static inline bool fkt_field_is_named(const struct fkt_field *field)
{
	return (field->type >= FKT_FIELD_PID && field->type <= FKT_FIELD_TRAP) ||
	       field->type == FKT_FIELD_SYMBOL || field->type == FKT_FIELD_FUNCTION ||
	       field->type == FKT_FIELD_RESULT;
}

enum fkt_value_kind {
	FKT_VALUE_NONE,
	FKT_VALUE_SIGNED,
	FKT_VALUE_UNSIGNED,
	FKT_VALUE_TEXT,
};

/**
 * struct fkt_value - the value of a field of an event
 * @kind: what it is
 * @number: the number; with FKT_VALUE_SIGNED that of an int64_t
 * @text: the text, without a NUL behind it, and with anything in it
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
 * fkt_put_name() - what a number is the number of: a process, an IRQ, an error, an address
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

/* ---- analysis.c: where the time went ---- */

#include "sum/analysis.h"
#include "sum/histogram.h"

/* ---- sum.c: an analysis made by several threads ---- */

/**
 * fkt_can_sum() - whether fkt_sum() can do it: a whole file with a lane for each CPU
 * @trace: the trace
 */
bool fkt_can_sum(const struct fkt_trace *trace);

/**
 * fkt_sum() - analyse all events, as fkt_analysis_event() and fkt_analysis_gap() do
 * @trace: the trace, of which fkt_can_sum() is true
 * @processes: new ones
 * @analysis: a new one, with them and without hooks; fkt_analysis_end() is left to the caller
 * @threads: how many threads; more than eight are not used
 * @stats: set to what was read
 *
 * Calls that begin and end in the same page are summed up page by page, which is faster with one
 * thread, too.
 *
 * Return: 0, -ENOMEM, or -EAGAIN when something in the trace is too odd for that: then @processes
 * and @analysis are of no use, and the events have to be read one by one.
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

#include "show/table.h"

/* ---- text.c: events as lines ---- */

enum fkt_time {
	FKT_TIME_CYCLES, /* cycles since the event before */
	FKT_TIME_NS,	 /* nanoseconds since the event before */
	FKT_TIME_US,	 /* microseconds since the event before */
	FKT_TIME_REL,	 /* seconds since the first event */
	FKT_TIME_ABS,	 /* date and time of day */
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

/* ---- list.c: a listing made by several threads ---- */

/**
 * struct fkt_listing - how fkt_list() lists
 * @fd: where the text goes
 * @time: what the first column shows
 * @format: how lines look; NULL: for people
 * @color: and whether in colours
 * @threads: how many threads; more than eight are not used
 */
struct fkt_listing {
	int fd;
	enum fkt_time time;
	const struct fkt_format *format;
	bool color;
	unsigned int threads;
};

/**
 * fkt_can_list() - whether fkt_list() can do it: a whole file with a lane for each CPU
 * @trace: the trace
 */
bool fkt_can_list(const struct fkt_trace *trace);

/**
 * fkt_list() - list all events, as fkt_text_event() and fkt_text_gap() do, but for the header
 * @trace: the trace, of which fkt_can_list() is true; nobody else looks up symbols meanwhile
 * @listing: how
 * @stats: set to what was read, without numbers of pages
 *
 * Return: 0, or the negative errno value of the first write that failed, or -ENOMEM.
 */
int fkt_list(struct fkt_trace *trace, const struct fkt_listing *listing,
	     struct fkt_read_stats *stats);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.c: how things stand at some moment. */
#ifndef FKT_STATE_H
#define FKT_STATE_H

#include <fkt/trace.h>

/* Bits of a Linux task's state: it has ended. */
#define FKT_TASK_GONE  0x00b0u

/* So many events behind the end are looked at, as by fkt_print, for what is not known there. */
#define FKT_LOOK_AHEAD 1000000u

/**
 * struct fkt_open_call - a call that was entered before an extracted trace begins
 * @code: the code of its entry
 * @tid: the thread that is in it
 * @cpu: the CPU that is in it, of an interrupt, or whose idle task is
 * @interrupt: whether it is one, or was called in one
 * @idle: the CPU's idle task is in it
 * @numbered: whether @imm is known
 * @ends: with the call in it: no exit of its own will tell
 * @imm: of its entry: which interrupt it is, or the place of a program's function
 * @stamp: when it was entered
 */
struct fkt_open_call {
	uint32_t code;
	uint32_t tid;
	uint16_t cpu;
	bool interrupt;
	bool idle;
	bool numbered;
	bool ends;
	uint16_t imm;
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

/**
 * struct fkt_open_wait - a thread that is not on a CPU when an extracted trace begins, or is and
 *	was woken there
 * @tid: the thread
 * @cpu: the CPU that it left, or on which it was woken, if it was on none before, or is @running
 * @state: its task state when it left, 0 when it could have run on
 * @left: when it left; 0 when that is not known
 * @woken: when it was woken, 0 when that was not so far
 * @waker: who woke it; with @woken 0, before it left; 0 is nobody, or an idle task
 * @waker_cpu: where that one was
 * @waker_base: enum fkt_base, what was known of it then
 * @has_base: whether that is told
 * @next: who came to the CPU that it left; FKT_PID_UNKNOWN when that is not known
 * @outer, @inner: codes of the calls in which it left, where they are not among those that are
 *	open as events are missing since; FKT_NO_CODE outside of all calls, or where they are
 * @base: enum fkt_base, of such a one outside of all calls
 * @told_base: whether that is told
 * @early: it was woken before it left
 * @running: it has not left yet: only who woke it is known
 * @imm: of the event that began what the waker was at: which interrupt it is
 * @code: that event's code, FKT_NO_CODE outside of all calls
 */
struct fkt_open_wait {
	uint32_t tid;
	uint16_t cpu;
	uint16_t state;
	uint64_t left;
	uint64_t woken;
	uint32_t waker;
	uint16_t waker_cpu;
	uint8_t waker_base;
	bool has_base;
	uint32_t next;
	uint32_t outer;
	uint32_t inner;
	uint8_t base;
	bool told_base;
	bool early;
	bool running;
	uint16_t imm;
	uint32_t code;
};

/* Of struct fkt_open_wait: no code. */
#define FKT_NO_CODE UINT32_MAX

/**
 * fkt_open_wait() - threads that waited when an extracted trace begins, or were woken before
 * @trace: the trace
 * @index: 0 … until the answer is NULL
 *
 * Only what fkt_extract wrote has any. Others may be asleep as well, if they had been so for long.
 */
const struct fkt_open_wait *fkt_open_wait(const struct fkt_trace *trace, size_t index);

/**
 * enum fkt_base - what is known of a thread outside of all calls
 * @FKT_BASE_SLEPT: it has slept there, so that it was not in user mode all the time
 * @FKT_BASE_USER: a system call of its was seen, so that it is in user mode there
 * @FKT_BASE_LEFT_OUT: it is not recorded, which it may be again when it comes to a CPU
 * @FKT_BASE_UNKNOWN: none of these
 * @FKT_BASE_UNTRACED: system calls were not recorded when it ran last
 *
 * They are numbers in a file.
 */
enum fkt_base {
	FKT_BASE_SLEPT,
	FKT_BASE_USER,
	FKT_BASE_LEFT_OUT,
	FKT_BASE_UNKNOWN,
	FKT_BASE_UNTRACED,
};

/**
 * struct fkt_open_base - the same
 * @tid: the thread
 * @base: enum fkt_base
 * @made: code of the system call by which it was made, and in which it is yet; FKT_NO_CODE: none
 */
struct fkt_open_base {
	uint32_t tid;
	uint32_t base;
	uint32_t made;
};

/**
 * enum fkt_verdict - whether threads that come to a CPU are recorded, where a recording leaves out
 *	some; until that is known, they are left out
 */
enum fkt_verdict {
	FKT_VERDICT_UNKNOWN,
	FKT_VERDICT_LEFT_OUT,
	FKT_VERDICT_RECORDED,
};

/**
 * fkt_open_base() - threads of which something is known when an extracted trace begins
 * @trace: the trace
 * @index: 0 … until the answer is NULL
 */
const struct fkt_open_base *fkt_open_base(const struct fkt_trace *trace, size_t index);

/* Whether no system calls are recorded when a trace begins. */
bool fkt_begins_untraced(const struct fkt_trace *trace);

/**
 * fkt_next_after_end() - an event behind the end of an extracted trace
 * @text: what follows of INFO's "after_end", is moved on and cut
 * @event: set to it
 * @words: room for its arguments, FKT_SLOT_WORDS_MAX
 *
 * They tell what cannot be known at the end: whether a thread that was woken on its way out sleeps,
 * and what a thread was at whose calls are not known.
 *
 * Return: false when there is none any more.
 */
bool fkt_next_after_end(char **text, struct fkt_event *event, uint64_t *words);

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

/* How many CPUs had an event, or are known to have somebody who is current. */
uint32_t fkt_state_seen(const struct fkt_state *state);

/**
 * fkt_state_first() - learn who is current on a CPU from its first event, behind this moment
 * @state: the state
 * @event: the event
 * @stopped: all CPUs had stopped recording meanwhile, so that another thread may have been there
 *
 * Return: whether it was the first one.
 */
bool fkt_state_first(struct fkt_state *state, const struct fkt_event *event, bool stopped);

/**
 * fkt_state_first_missing() - its first event, behind this moment, may be missing
 * @state: the state
 * @cpu: the CPU
 *
 * Return: whether it had none so far, so that it is not known now who is current there.
 */
bool fkt_state_first_missing(struct fkt_state *state, uint16_t cpu);

/* What of a call goes into a part of which events are picked. */
enum fkt_kept {
	FKT_NOT_KEPT,
	FKT_KEPT,	       /* its entry and its exit */
	FKT_KEPT_WITH_CALLEES, /* and all calls that are made in it */
};

/**
 * struct fkt_state_call - a call, or interrupt, that is open
 * @code: the code of its entry
 * @imm: of its entry: which interrupt it is
 * @kept: enum fkt_kept, for the caller to set
 * @ends: with the call in it: no exit of its own will tell
 * @stamp: when it was entered
 */
struct fkt_state_call {
	uint32_t code;
	uint16_t imm;
	uint8_t kept;
	bool ends;
	uint64_t stamp;
};

/**
 * fkt_state_calls() - the calls that a thread is in
 * @state: the state
 * @tid: the thread
 * @depth: set to how many there are
 *
 * Return: they, the outermost one first, valid until the next event.
 */
struct fkt_state_call *fkt_state_calls(struct fkt_state *state, uint32_t tid, uint32_t *depth);

/**
 * fkt_state_interrupts() - the interrupts that a CPU is in, and the calls made there
 * @state: the state
 * @cpu: the CPU
 * @depth: set to how many there are
 *
 * Return: as fkt_state_calls() does.
 */
struct fkt_state_call *fkt_state_interrupts(struct fkt_state *state, uint16_t cpu, uint32_t *depth);

/**
 * fkt_state_at_work() - what a CPU is at work with
 * @state: the state
 * @event: an event of the CPU
 *
 * Return: the innermost interrupt or softirq, or its thread's outermost call, the idle task's too;
 * NULL outside of all of them.
 */
struct fkt_state_call *fkt_state_at_work(struct fkt_state *state, const struct fkt_event *event);

/**
 * fkt_state_entered() - the call that the last event entered
 * @state: the state
 *
 * Return: it, NULL when it was not an entry.
 */
struct fkt_state_call *fkt_state_entered(const struct fkt_state *state);

#define FKT_NO_CALL UINT32_MAX

/**
 * fkt_state_ended() - which call the last event was the exit of
 * @state: the state
 *
 * Return: 0 for the outermost one of its stack, …; FKT_NO_CALL for none that was open.
 */
uint32_t fkt_state_ended(const struct fkt_state *state);

/**
 * fkt_state_caller() - the call in which that one was made
 * @state: the state
 *
 * Return: it, or NULL.
 */
const struct fkt_state_call *fkt_state_caller(const struct fkt_state *state);

/* Whether the last event ended a call that is kept. */
bool fkt_state_ended_kept(const struct fkt_state *state);

/* Whether the last event told what its thread is at, outside of all calls, and was up to then. */
bool fkt_state_told_base(const struct fkt_state *state);

/* Whether it told that its thread, of which that is not known, sleeps or execs: no user mode. */
bool fkt_state_told_sleep(const struct fkt_state *state);

/**
 * fkt_state_took_over() - whether the last event told that a thread goes on as the leader, in an
 *	exec
 * @state: the state
 * @from: set to the pid that it had
 * @to: set to the one that it has
 */
bool fkt_state_took_over(const struct fkt_state *state, uint32_t *from, uint32_t *to);

/* Whether events were missing. */
bool fkt_state_has_gaps(const struct fkt_state *state);

/**
 * fkt_state_is_outside() - whether it is not known what a thread was at that ran lately
 * @state: the state
 * @index: the thread, as of fkt_state_wait()
 * @since: it ran after this stamp
 *
 * Return: so it is: its next system call will tell.
 */
bool fkt_state_is_outside(const struct fkt_state *state, uint32_t index, uint64_t since);

/* Whether nothing is known of what a thread is at outside of all calls. */
bool fkt_state_is_untold(struct fkt_state *state, uint32_t tid);

/* Whether it is known of a thread that it is in user mode outside of all calls. */
bool fkt_state_knows(struct fkt_state *state, uint32_t tid);

/* Whether a thread, as of fkt_state_wait(), has got its pid since the state was made. */
bool fkt_state_is_anew(const struct fkt_state *state, uint32_t index);

/*
 * How often it has come to be recorded without system calls, or with them again, since then: what
 * it was at before that does not come out any more.
 */
uint32_t fkt_state_remasked(struct fkt_state *state, uint32_t tid);

/* How many threads are known. */
uint32_t fkt_state_threads(const struct fkt_state *state);

/**
 * fkt_state_wait() - a thread, and whether it waits
 * @state: the state
 * @index: from 0 on, less than fkt_state_threads()
 * @tid: set to the thread
 *
 * Return: since when it is on no CPU, and why; NULL when it is on one, or that is not known.
 */
const struct fkt_open_wait *fkt_state_wait(const struct fkt_state *state, uint32_t index,
					   uint32_t *tid);

/**
 * struct fkt_state_wake - what has woken a thread
 * @stamp: of the event
 * @code: likewise
 * @work_code: what the waker was at; FKT_NO_CODE outside of all calls
 * @work_stamp: when that was entered
 */
struct fkt_state_wake {
	uint64_t stamp;
	uint32_t code;
	uint32_t work_code;
	uint64_t work_stamp;
};

/**
 * fkt_state_wake() - what has woken a thread that has not come to a CPU since
 * @state: the state
 * @tid: the thread
 *
 * Return: that, valid until the next event; NULL when nothing has that was seen, or not since then.
 */
const struct fkt_state_wake *fkt_state_wake(struct fkt_state *state, uint32_t tid);

/**
 * fkt_state_set_current() - who is current on a CPU came out later
 * @state: the state
 * @cpu: the CPU
 * @tid: the thread; nothing happens if another one, or that it is elsewhere, is known
 */
void fkt_state_set_current(struct fkt_state *state, uint16_t cpu, uint32_t tid);

/**
 * fkt_state_current() - the thread that is current on a CPU
 * @state: the state
 * @cpu: the CPU
 *
 * Return: its pid, or FKT_PID_UNKNOWN.
 */
uint32_t fkt_state_current(const struct fkt_state *state, uint16_t cpu);

/**
 * fkt_state_gap() - something is missing
 * @state: the state
 * @cpu: of this CPU; FKT_CPU_ANY: of all
 *
 * Only of threads that are current on other CPUs it remains known what calls they are in.
 */
void fkt_state_gap(struct fkt_state *state, uint16_t cpu);

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
char *fkt_state_processes(struct fkt_state *state, size_t *bytes);

typedef bool fkt_state_wants_fn(void *arg, struct fkt_state *state, uint32_t tid);

/**
 * fkt_state_text() - what runs and what is open, as FKT_SECTION_STATE has it
 * @state: the state
 * @picked: only the calls that are kept
 * @wants: the threads of which it is said what they are at outside of all calls, NULL for all;
 *	of those that woke others it is said as well
 * @arg: its first argument
 * @bytes: set to the length of the text
 *
 * Return: the text, owned by the caller, or NULL without memory.
 */
char *fkt_state_text(struct fkt_state *state, bool picked, fkt_state_wants_fn *wants, void *arg,
		     size_t *bytes);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state.c: how things stand at some moment. */
#ifndef FKT_STATE_H
#define FKT_STATE_H

#include <fkt/trace.h>

/* Bits of a Linux task's state: it has ended. */
#define FKT_TASK_GONE 0x00b0u

/**
 * struct fkt_open_call - a call that was entered before an extracted trace begins
 * @code: the code of its entry
 * @tid: the thread that is in it
 * @cpu: the CPU that is in it, of an interrupt
 * @interrupt: whether it is one, or was called in one
 * @numbered: whether @imm is known, of an interrupt
 * @imm: of its entry: which interrupt it is
 * @stamp: when it was entered
 */
struct fkt_open_call {
	uint32_t code;
	uint32_t tid;
	uint16_t cpu;
	bool interrupt;
	bool numbered;
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
 * struct fkt_open_base - what is known of a thread outside of all calls
 * @tid: the thread
 * @user: a system call of its was seen, so that it is in user mode there; else it has slept there,
 *	so that it was not in user mode all the time
 */
struct fkt_open_base {
	uint32_t tid;
	bool user;
};

/**
 * fkt_open_base() - threads of which something is known when an extracted trace begins
 * @trace: the trace
 * @index: 0 … until the answer is NULL
 */
const struct fkt_open_base *fkt_open_base(const struct fkt_trace *trace, size_t index);

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
char *fkt_state_processes(const struct fkt_state *state, size_t *bytes);

/**
 * fkt_state_text() - what runs and what is open, as FKT_SECTION_STATE has it
 * @state: the state
 * @bytes: set to the length of the text
 *
 * Return: the text, owned by the caller, or NULL without memory.
 */
char *fkt_state_text(const struct fkt_state *state, size_t *bytes);

#endif

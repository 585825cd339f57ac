/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the time went (paper, §6): part of fkt.h.
 *
 * All time between the beginning of a trace and its end is charged, on each CPU, to somebody: to a
 * call (of a function, a system call) of the thread that was current, to an interrupt, to what a
 * thread does outside of all calls, or to what is not known. Each of these is a row; the rows add
 * up to the trace's duration times its CPUs, and so do the threads.
 */
#ifndef FKT_ANALYSIS_H
#define FKT_ANALYSIS_H

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
	FKT_ROW_BEFORE,	 /* in a call that was entered before the trace began */
	FKT_ROW_UNKNOWN, /* where events are missing */
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
 * @cycles: time for which it was current; the sum of the next four, or, of thread 0, not known
 * @user: outside of all calls, of a thread that has a user mode
 * @kernel: in calls; of a kernel thread, all of it
 * @before: in the kernel since before the trace began, it is not known in which call
 * @interrupts: in interrupts that came while it was current
 * @waiting: ready to run, on no CPU
 * @sleeping: asleep, by state
 * @switches: how often it came to a CPU
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
};

/**
 * struct fkt_call - a call that has ended, or has been given up
 * @row: of what
 * @caller: row of the call in which it was made, FKT_ROW_NONE when there is none
 * @id: the thread; of an interrupt, the one that it interrupted
 * @cpu: where it ended
 * @depth: calls around it, on the thread's stack or on that of the CPU's interrupts
 * @interrupt: it was on the latter
 * @partial: it was not seen from its entry to its exit
 * @begin: stamp of the entry
 * @end: stamp of the exit, or of when it was given up
 * @cycles: CPU time, that of interrupts apart
 * @own: the same without what it called
 * @only_elapsed: end - begin, less the same of what it called
 * @entry_words: how many of @entry_args there are
 * @entry_args: the first arguments of the entry; only with keep_args
 * @exit: the event that ended it, NULL when it was given up
 */
struct fkt_call {
	uint32_t row;
	uint32_t caller;
	uint32_t id;
	uint16_t cpu;
	uint32_t depth;
	bool interrupt;
	bool partial;
	uint64_t begin;
	uint64_t end;
	uint64_t cycles;
	uint64_t own;
	uint64_t only_elapsed;
	unsigned int entry_words;
	const uint64_t *entry_args;
	const struct fkt_event *exit;
};

#define FKT_CALL_ARGS 6

/**
 * struct fkt_wait - a time for which a thread did not run
 * @id: the thread
 * @state: in which state it left the CPU, see fkt_state_letters(); 0 when it was preempted
 * @outer: row of the outermost call that was open then, such as a system call
 * @inner: row of the innermost one; both are rows outside of all calls when there is none
 * @left: stamp when it left the CPU
 * @woken: stamp when it was woken; 0 when it was preempted, or that is not known
 * @back: stamp when it ran again
 * @waker: thread that was current where it was woken
 * @waker_row: what went on there: an interrupt's row, that of a system call, or one outside
 */
struct fkt_wait {
	uint32_t id;
	uint32_t state;
	uint32_t outer;
	uint32_t inner;
	uint64_t left;
	uint64_t woken;
	uint64_t back;
	uint32_t waker;
	uint32_t waker_row;
};

/**
 * struct fkt_analysis_hooks - who wants to know of each call; what is NULL is not called
 * @arg: for all of them
 * @enter: a call begins; of it, only row, id, cpu, depth, interrupt and begin are there
 * @leave: a call has ended
 * @wait: a thread runs again
 * @keep_args: keep the entries' arguments for @leave
 */
struct fkt_analysis_hooks {
	void *arg;
	void (*enter)(void *arg, const struct fkt_call *call);
	void (*leave)(void *arg, const struct fkt_call *call);
	void (*wait)(void *arg, const struct fkt_wait *wait);
	bool keep_args;
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
 * fkt_analysis_knows_cpus() - whether there was an event of each lane that has any
 * @analysis: the sums
 *
 * A CPU's first event says who was current until then. Where charging ends before that, reading on
 * for a while tells.
 */
bool fkt_analysis_knows_cpus(const struct fkt_analysis *analysis);

/* The following are for after fkt_analysis_end(). */

/**
 * fkt_analysis_duration() - for how long time was charged, in cycles
 * @analysis: the sums
 */
uint64_t fkt_analysis_duration(const struct fkt_analysis *analysis);

/**
 * fkt_analysis_cpus() - on how many CPUs
 * @analysis: the sums
 */
uint32_t fkt_analysis_cpus(const struct fkt_analysis *analysis);

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
 * fkt_analysis_code_count() - how many events had a code
 * @analysis: the sums
 * @code: the code, less than FKT_SLOT_CODES
 */
uint64_t fkt_analysis_code_count(const struct fkt_analysis *analysis, uint32_t code);

/**
 * fkt_analysis_has_syscalls() - whether there was any system call
 * @analysis: the sums
 *
 * If not, FKT_ROW_USER is time outside of what was traced, in user mode or not.
 */
bool fkt_analysis_has_syscalls(const struct fkt_analysis *analysis);

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

#endif

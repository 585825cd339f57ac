// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the time went (paper, §6).
 *
 * Each thread has a stack of the calls that it is in, and each CPU one of the interrupts that it is
 * in, with the calls made there. A stack has a clock, which runs while the stack is the one at work
 * on a CPU: between two events on a CPU, the time is that of one stack. A call's cycles are the
 * difference of its stack's clock between entry and exit. So a thread that sleeps in a call, or
 * goes on with it on another CPU, or is interrupted, needs no attention: its clock stands still.
 *
 * What a thread does outside of all calls, at the base of its stack, is user mode, or for kernel
 * threads and the idle task, which have none, their work. Whether a thread whose first event comes
 * is in user mode or in a system call that began before is not known until it enters or leaves one:
 * until then its time is kept as pending.
 *
 * A thread is current from the switch to it on; in particular, time begins anew from the last event
 * on its CPU. When an event says that another thread is current than the last switch did, the
 * event is right, for the time before it too.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "clone.h"
#include "internal.h"
#include "outside.h"
#include "read/reader.h"
#include "read/state.h"
#include "reduce.h"

#define DEPTH_FIRST   4

#define CHUNK_THREADS 256
#define CHUNKS	      4096
#define CPUS	      (UINT16_MAX + 1)

/* How often it is asked whether the events behind an extracted trace's end are still needed. */
#define END_STEP      1024

/* Pairs of thread and CPU whose times are kept. */
#define PAIRS_FIRST   1024u
#define PAIRS_MAX     (1u << 20)

/* Of fkt_state_reported(). */
#define STATE_S	      0x0001u
#define STATE_D	      0x0002u
#define STATE_STOPPED 0x0004u
#define STATE_TRACED  0x0008u

struct frame {
	uint32_t row;
	uint16_t words;
	bool interrupt;	  /* it is one, and not a call in one */
	bool told;	  /* as the call of whom it was another thread's before */
	bool late;	  /* it is known of since it ended: for how long it was on a CPU is not */
	bool moved;	  /* it was another thread's before, of which the following is known */
	bool user;	  /* a program's function; these are the outermost ones of a stack */
	bool ends;	  /* with the call in it: no exit of its own will tell */
	bool ends_behind; /* since the time that is asked for is over */
	bool placed;	  /* and @place is known: FKT_UPROBE_PLACE */
	uint16_t place;
	uint32_t former;
	uint64_t former_own;
	uint64_t begin; /* stamp */
	uint64_t clock; /* of the stack, at the entry */
	uint64_t dark;	/* likewise */
	uint64_t child; /* cycles of what it called */
	uint64_t child_elapsed;
};

struct stack {
	uint64_t clock;
	uint64_t dark; /* for how long it was at work while the clock stood still: hooks.charges */
	uint64_t base; /* the clock when the last call was left */
	struct frame *frame;
	uint64_t *args;	  /* FKT_CALL_WORDS a frame, when they are kept */
	uint64_t *counts; /* of each frame, where there are counters: its own, and of its calls */
	uint32_t depth;
	uint32_t room;
};

enum thread_state {
	THREAD_NEW, /* nothing is known */
	THREAD_RUNNING,
	THREAD_WAITING,
	THREAD_SLEEPING,
	THREAD_GONE,
};

struct waker {
	bool known;
	uint32_t id;
	uint32_t row;
};

/* Stamps between which time was charged. */
struct lit {
	uint64_t from;
	uint64_t to;
};

/* When all CPUs stopped recording. */
struct stop {
	uint64_t stamp;
	uint64_t time; /* on the analysis's clock */
};

struct thread {
	struct stack stack;
	uint32_t id;
	uint32_t epoch;	      /* the gap up to which its stack has been put right */
	uint32_t row;	      /* outside of all calls */
	uint32_t resolved;    /* what it turned out to have been at up to its first event, or 0 */
	uint32_t came_out;    /* the same since fkt_analysis_outside() was asked last */
	uint32_t made;	      /* and in this call it slept, by which it was made; or 0 */
	uint32_t took;	      /* whose base it took over; what that one was at comes out with it */
	bool base_known;      /* whether it is in user mode, outside of all calls */
	bool slept;	      /* asleep outside of all calls, so not in user mode */
	bool execs;	      /* an exec has come while that was not known */
	bool slept_before;    /* it was asleep before that */
	bool left_out;	      /* what it does is not recorded */
	bool untraced;	      /* of what it does, system calls are not recorded */
	bool ended;	      /* by its last switch; who has its pid now is another one */
	uint16_t cpu;	      /* where it was last */
	uint8_t state;	      /* enum thread_state */
	uint8_t sleep;	      /* enum fkt_sleep */
	uint64_t pending;     /* outside of all calls while that was not known */
	uint64_t before_exec; /* so much of it is before the exec */
	uint64_t user;
	uint64_t program; /* in functions of its program */
	uint64_t kernel;  /* of a kernel thread, outside of all calls */
	uint64_t before;
	uint64_t not_recorded;
	uint64_t not_traced;
	uint64_t interrupts;
	uint64_t came;	/* clock and interrupts when it came to its CPU */
	uint64_t left;	/* stamp when it left its last one, as far as that is known */
	uint64_t since; /* when it came to its state, on the analysis's clock */
	uint64_t waiting;
	uint64_t sleeping[FKT_SLEEPS];
	uint64_t switches;
	struct fkt_wait wait;
	struct waker early; /* came while it was still on its CPU */
	uint32_t lits;	    /* the first of those in which a part of its wait is untold */
	uint32_t moved;	    /* fkt_analysis.cuts, when it came to another CPU last */
	uint16_t cut;	    /* where it was before, when it came there first since then */
	uint32_t stops;	    /* fkt_analysis.stops, when it came to its state */
	uint64_t counted[FKT_COUNTERS_MAX]; /* while @pending is */
};

struct cpu {
	uint64_t last;	     /* stamp up to which time is charged */
	struct stack *stack; /* at work: &irq or &thread->stack */
	struct thread *thread;
	uint32_t pid; /* of @thread */
	bool seen;
	bool blind;	      /* events are missing since @last */
	bool known;	      /* when an extracted trace began, in which interrupts it was */
	bool awake;	      /* it is in fkt_analysis.awake */
	uint8_t verdict;      /* enum fkt_verdict: on its threads, where some are left out */
	uint32_t verdict_on;  /* whom the last one named, if it was another one than was there */
	uint64_t irq_charged; /* clock of @irq up to which its time is some thread's */
	uint64_t odd_until;   /* stamps up to this one came twice */
	uint64_t owed;	      /* to be charged to who is there, when its next event says that */
	uint64_t owed_since;  /* stamp */
	uint64_t irq_before;  /* cycles of the interrupt that it was in when the trace began */
	uint64_t dark;	      /* cycles that are not charged, by hooks.charges */
	struct thread *first; /* current up to the first event */
	uint32_t first_row;   /* what it was at; FKT_ROW_NONE: see first->resolved */
	bool first_irq;	      /* it was interrupted */
	bool first_dark;      /* it is not charged, by hooks.charges */
	bool uncounted;	      /* events are missing since the last reading of the counters */
	uint64_t read_at;     /* stamp of that */
	uint32_t read;	      /* which were read then, a bit each */
	uint64_t counter[FKT_COUNTERS_MAX];
	uint32_t unread; /* calls open all the time since then, if a span was not */
	struct stack irq;
};

struct pair {
	uint32_t id; /* 0: a free place, as thread 0 is not kept */
	uint32_t cpu;
	uint64_t cycles;
};

struct fkt_analysis {
	const struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct fkt_analysis_hooks hooks;
	void (*folded)(void *arg, const struct fkt_folded_calls *calls);
	bool begun;
	bool on;
	bool syscalls;	  /* there are some, or may be */
	bool untraced;	  /* they are not recorded now */
	bool masked;	  /* a layer was turned off, and may be off now */
	bool switched;	  /* layers were turned off, or system calls on */
	bool interrupted; /* a CPU was in an interrupt when an extracted trace began */
	bool reduced;	  /* calls were taken out of the events */
	bool filtered;	  /* the recording left out some threads */
	bool failed;
	bool stopped;	    /* all CPUs had stopped recording, or may have, once or more */
	bool paused;	    /* an event has said that recording was paused, of no CPU's own */
	bool gaps_before;   /* there were gaps before the first event */
	bool gaps_anywhere; /* there were gaps that may be of any CPU */
	bool behind;	    /* the events are those behind the end of an extracted trace */
	uint32_t unsettled; /* the first thread that may be, see fkt_analysis_is_settled() */
	bool odd;	    /* something was taken out of the events that should not have been */
	uint32_t mask;	    /* the active one: layers that are recorded */
	uint32_t counters;
	uint32_t epoch;
	uint32_t cpus;
	uint64_t duration;
	uint64_t left_out;  /* not charged, by hooks.charges */
	uint64_t on_since;  /* stamp */
	uint64_t off_since; /* where the last time that was asked for ended; 0: none did */
	uint64_t first;	    /* stamp of the beginning; UINT64_MAX when time was not charged then */
	uint64_t on_before; /* for how long it was on before that */
	struct thread *unknown;
	struct thread **chunk;
	struct pair *pair;
	uint32_t pairs;
	uint32_t pair_room;
	bool pairs_full; /* there were more */
	uint64_t seed;	 /* odd */
	struct lit *lit; /* those that have ended */
	uint32_t lits;
	uint32_t lit_room;
	struct stop *stop;
	uint32_t stops;
	uint32_t stop_room;
	uint32_t cuts;	     /* how often no more time was charged from a moment on */
	uint32_t seen[CPUS]; /* numbers of the CPUs that had events */
	uint32_t n_seen;
	uint32_t cpu_end;	/* all that are @seen in themselves have lower numbers */
	uint32_t current[CPUS]; /* who was there when an extracted trace began, or 0 */
	uint32_t awake[CPUS];	/* of these, those that had one since all stopped recording */
	uint32_t n_awake;
	struct fkt_row_sums *row;
	uint64_t *counted; /* @counters a row; NULL: there are none */
	struct fkt_code_use *code;
	bool rows[FKT_ROWS / FKT_PART + 1];	   /* whether a part of @row, @counted is in use */
	bool codes[FKT_SLOT_CODES / FKT_PART + 1]; /* likewise of @code */
	struct cpu cpu[CPUS];
};

/*
 * Zeroes, of which only what is written takes time and memory: of all CPUs and codes that there can
 * be, a trace has few. calloc() would clear them all, each time but the first.
 */
static void *zeroes(size_t bytes)
{
	void *there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return there == MAP_FAILED ? NULL : there;
}

static void free_zeroes(void *there, size_t bytes)
{
	if (there)
		munmap(there, bytes);
}

/* A row, to be added to. Of what has never been asked for so, nothing is read either. */
static inline struct fkt_row_sums *row_of(struct fkt_analysis *a, uint32_t row)
{
	a->rows[row / FKT_PART] = true;
	return &a->row[row];
}

static size_t counted_bytes(const struct fkt_analysis *a)
{
	return (size_t)FKT_ROWS * a->counters * sizeof(*a->counted);
}

/* The parts of @a that are large, and hardly used. */
static bool add_tables(struct fkt_analysis *a)
{
	a->chunk = calloc(CHUNKS, sizeof(*a->chunk));
	a->row = zeroes(FKT_ROWS * sizeof(*a->row));
	a->code = zeroes(FKT_SLOT_CODES * sizeof(*a->code));
	a->counted = a->counters ? zeroes(counted_bytes(a)) : NULL;
	return a->chunk && a->row && a->code && (a->counted || !a->counters);
}

struct fkt_analysis *fkt_analysis_new(const struct fkt_trace *trace,
				      struct fkt_processes *processes,
				      const struct fkt_analysis_hooks *hooks)
{
	struct fkt_analysis *a = zeroes(sizeof(*a));

	if (!a)
		return NULL;
	a->trace = trace;
	a->processes = processes;
	if (hooks)
		a->hooks = *hooks;
	a->on = true;
	a->filtered = fkt_info(trace, "filter");
	a->syscalls = fkt_has_layer(trace, "system");
	a->counters = fkt_counters(trace);
	a->mask = fkt_begins_with(trace);
	a->masked = trace->mask;
	a->untraced = fkt_begins_untraced(trace);
	if (getrandom(&a->seed, sizeof(a->seed), 0) < 0)
		a->seed = (uint64_t)(uintptr_t)a * 0x9e3779b97f4a7c15u;
	a->seed |= 1;
	if (!add_tables(a)) {
		fkt_analysis_free(a);
		return NULL;
	}
	return a;
}

static void free_stack(struct stack *stack)
{
	free(stack->frame);
	free(stack->args);
	free(stack->counts);
	stack->frame = NULL;
	stack->args = NULL;
	stack->counts = NULL;
	stack->room = 0;
	stack->depth = 0;
}

void fkt_analysis_free(struct fkt_analysis *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; a->chunk && i < CHUNKS; i++) {
		for (uint32_t j = 0; a->chunk[i] && j < CHUNK_THREADS; j++)
			free_stack(&a->chunk[i][j].stack);
		free(a->chunk[i]);
	}
	for (uint32_t i = 0; i < a->n_seen; i++)
		free_stack(&a->cpu[a->seen[i]].irq);
	/* Those of CPUs that were in one at the beginning, and never had an event. */
	for (uint32_t i = 0; a->interrupted && i < CPUS; i++)
		free_stack(&a->cpu[i].irq);
	free(a->chunk);
	free(a->lit);
	free(a->stop);
	free(a->pair);
	free_zeroes(a->row, FKT_ROWS * sizeof(*a->row));
	free_zeroes(a->code, FKT_SLOT_CODES * sizeof(*a->code));
	free_zeroes(a->counted, counted_bytes(a));
	free_zeroes(a, sizeof(*a));
}

/* ---- another one that knows as much ---- */

/* Whose stack it is that is not a CPU's. */
static struct thread *thread_of(struct stack *stack)
{
	return (struct thread *)((char *)stack - offsetof(struct thread, stack));
}

/* Of each frame, what it counts itself, and what it calls. */
static size_t counts_of(const struct fkt_analysis *a)
{
	return 2 * (size_t)a->counters;
}

static bool copy_stack(const struct fkt_analysis *a, struct stack *to, const struct stack *from)
{
	*to = *from;
	to->frame = NULL;
	to->args = NULL;
	to->counts = NULL;
	if (!from->room)
		return true;
	to->frame = malloc(from->room * sizeof(*to->frame));
	if (!to->frame)
		return false;
	memcpy(to->frame, from->frame, from->depth * sizeof(*to->frame));
	if (from->counts) {
		to->counts = malloc(from->room * counts_of(a) * sizeof(*to->counts));
		if (!to->counts)
			return false;
		memcpy(to->counts, from->counts, from->depth * counts_of(a) * sizeof(*to->counts));
	}
	if (!from->args)
		return true;
	to->args = malloc(from->room * FKT_CALL_WORDS * sizeof(*to->args));
	if (!to->args)
		return false;
	memcpy(to->args, from->args, from->depth * FKT_CALL_WORDS * sizeof(*to->args));
	return true;
}

static bool copy_threads(struct fkt_analysis *to, const struct fkt_analysis *from)
{
	bool copied = true;

	for (uint32_t i = 0; i < CHUNKS; i++) {
		if (!from->chunk[i])
			continue;
		to->chunk[i] = malloc(CHUNK_THREADS * sizeof(*to->chunk[i]));
		if (!to->chunk[i])
			return false;
		memcpy(to->chunk[i], from->chunk[i], CHUNK_THREADS * sizeof(*to->chunk[i]));
		/* None of them has the other one's when it is freed. */
		for (uint32_t j = 0; j < CHUNK_THREADS; j++)
			copied = copy_stack(to, &to->chunk[i][j].stack, &from->chunk[i][j].stack) &&
				 copied;
		if (!copied)
			return false;
	}
	return true;
}

/* Its own thread in the place of the other one's. */
static struct thread *own_thread(const struct fkt_analysis *a, const struct thread *thread)
{
	return thread ? &a->chunk[thread->id / CHUNK_THREADS][thread->id % CHUNK_THREADS] : NULL;
}

static bool copy_cpu(struct fkt_analysis *to, const struct fkt_analysis *from, uint32_t number)
{
	const struct cpu *cpu = &from->cpu[number];
	struct cpu *copy = &to->cpu[number];

	*copy = *cpu;
	copy->thread = own_thread(to, cpu->thread);
	copy->first = own_thread(to, cpu->first);
	if (cpu->stack)
		copy->stack = cpu->stack == &cpu->irq
				      ? &copy->irq
				      : &own_thread(to, thread_of(cpu->stack))->stack;
	return copy_stack(to, &copy->irq, &cpu->irq);
}

static bool copy_cpus(struct fkt_analysis *to, const struct fkt_analysis *from)
{
	static const struct cpu none;

	/* Memory that was never written to is not to be so in the copy. */
	for (uint32_t i = 0; i < CPUS; i++) {
		if (memcmp(&from->cpu[i], &none, sizeof(none)) && !copy_cpu(to, from, i))
			return false;
	}
	return true;
}

/* NULL is none. */
static bool copy_array(void *to, const void *from, size_t bytes)
{
	void *copy = bytes ? malloc(bytes) : NULL;

	memcpy(to, &copy, sizeof(copy));
	if (!bytes)
		return true;
	if (copy)
		memcpy(copy, from, bytes);
	return copy;
}

/* All of them are tried: none of the other one's is to be freed. */
static bool copy_arrays(struct fkt_analysis *to, const struct fkt_analysis *from)
{
	bool copied;

	copied = copy_array(&to->pair, from->pair, from->pair_room * sizeof(*to->pair));
	copied = copy_array(&to->lit, from->lit, from->lit_room * sizeof(*to->lit)) && copied;
	return copy_array(&to->stop, from->stop, from->stop_room * sizeof(*to->stop)) && copied;
}

struct fkt_analysis *fkt_analysis_clone(const struct fkt_analysis *from,
					const struct fkt_analysis_hooks *hooks)
{
	struct fkt_analysis *a = zeroes(sizeof(*a));
	bool added, copied;

	if (!a)
		return NULL;
	memcpy(a, from, offsetof(struct fkt_analysis, cpu));
	added = add_tables(a);
	a->hooks = hooks ? *hooks : (struct fkt_analysis_hooks){ 0 };
	copied = copy_arrays(a, from);
	if (!copied || !added || !copy_threads(a, from) || !copy_cpus(a, from)) {
		fkt_analysis_free(a);
		return NULL;
	}
	a->unknown = own_thread(a, from->unknown);
	return a;
}

/* Whether a thread of a chunk is on a CPU, or was the first one there. */
static bool has_cpu(const struct fkt_analysis *a, uint32_t chunk)
{
	const struct cpu *cpu;

	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		if (cpu->thread->id / CHUNK_THREADS == chunk ||
		    cpu->first->id / CHUNK_THREADS == chunk)
			return true;
	}
	return false;
}

/* Whether all threads of a chunk are as good as ones of which nothing is known. */
static bool has_ended(const struct fkt_analysis *a, uint32_t chunk)
{
	const struct thread *thread = a->chunk[chunk];

	for (uint32_t i = 0; i < CHUNK_THREADS; i++)
		if (thread[i].row && (thread[i].state != THREAD_GONE || thread[i].stack.depth))
			return false;
	return true;
}

void fkt_analysis_forget(struct fkt_analysis *a)
{
	for (uint32_t i = 1; i < CHUNKS; i++) {
		if (!a->chunk[i] || !has_ended(a, i) || has_cpu(a, i))
			continue;
		for (uint32_t j = 0; j < CHUNK_THREADS; j++)
			free_stack(&a->chunk[i][j].stack);
		free(a->chunk[i]);
		a->chunk[i] = NULL;
	}
}

/* The analysis's clock: for how long it has been charging. */
static uint64_t on_time(const struct fkt_analysis *a, uint64_t stamp)
{
	return a->on_before + (a->on && stamp > a->on_since ? stamp - a->on_since : 0);
}

/* For how long it was charging after a stamp, up to when it ended doing so last. */
static uint64_t lit_after(const struct fkt_analysis *a, uint64_t stamp)
{
	const struct lit *lit;
	uint64_t time = 0;

	for (uint32_t i = a->lits; i && a->lit[i - 1].to > stamp; i--) {
		lit = &a->lit[i - 1];
		time += lit->to - (lit->from > stamp ? lit->from : stamp);
	}
	return time;
}

/* The clock at a stamp that may be before the end of the time that was asked for. */
static uint64_t on_time_at(const struct fkt_analysis *a, uint64_t stamp)
{
	const uint64_t after = lit_after(a, stamp);

	if (a->on && stamp >= a->on_since)
		return on_time(a, stamp);
	return a->on_before > after ? a->on_before - after : 0;
}

/*
 * What a thread is at outside of all calls, as far as is known: one that slept there without being
 * known to be outside was in one that began before, or, before it has returned from it, in the one
 * by which it was made.
 */
static uint32_t base_row(const struct thread *thread)
{
	if (thread->base_known || thread->untraced || !thread->slept)
		return thread->row;
	return thread->made ? thread->made - 1 : FKT_ROW_BEFORE;
}

/* Whether time of a thread on a CPU is asked for. */
static inline bool charges(const struct fkt_analysis *a, uint16_t cpu, const struct thread *thread)
{
	return likely(!a->hooks.charges) || a->hooks.charges(a->hooks.arg, cpu, thread->id);
}

/* ---- threads ---- */

static struct thread *get_thread(struct fkt_analysis *a, uint32_t id)
{
	struct thread **chunk = &a->chunk[id / CHUNK_THREADS], *thread;
	const struct fkt_process *process;

	if (!*chunk) {
		*chunk = calloc(CHUNK_THREADS, sizeof(**chunk));
		if (!*chunk) {
			a->failed = true;
			return NULL;
		}
	}
	thread = &(*chunk)[id % CHUNK_THREADS];
	if (thread->row)
		return thread;
	process = fkt_process(a->processes, id);
	thread->id = id;
	thread->epoch = a->epoch;
	if (!id)
		thread->row = FKT_ROW_UNKNOWN;
	else if (!process->tid)
		thread->row = FKT_ROW_IDLE;
	else
		thread->row = process->kernel ? FKT_ROW_KERNEL : FKT_ROW_USER;
	thread->base_known = thread->row != FKT_ROW_USER;
	return thread;
}

/* Who leads the thread's process now, if that is asked for. */
static inline uint32_t leader(const struct fkt_analysis *a, uint32_t id)
{
	return unlikely(a->hooks.leaders) ? fkt_process_leader(a->processes, id) : id;
}

static struct thread *find_thread(struct fkt_analysis *a, uint32_t pid, uint16_t cpu)
{
	return get_thread(a, fkt_process_id(a->processes, pid, cpu));
}

/* By a number that no trace knows, so that none can be made to fill one place. */
static struct pair *find_pair(const struct fkt_analysis *a, struct pair *pairs, uint32_t room,
			      uint32_t id, uint32_t cpu)
{
	uint32_t i = (uint32_t)((((uint64_t)id << 16 | cpu) * a->seed) >> 32) & (room - 1);

	while (pairs[i].id && (pairs[i].id != id || pairs[i].cpu != cpu))
		i = (i + 1) & (room - 1);
	return &pairs[i];
}

static void add_to_pair(struct fkt_analysis *a, uint32_t id, uint32_t cpu, uint64_t cycles)
{
	struct pair *pair, *larger;
	uint32_t room;

	if (!id || !cycles)
		return;
	if (a->pairs * 2 >= a->pair_room && a->pair_room < PAIRS_MAX) {
		room = a->pair_room ? a->pair_room * 2 : PAIRS_FIRST;
		larger = calloc(room, sizeof(*larger));
		if (!larger) {
			a->failed = true;
			return;
		}
		for (uint32_t i = 0; i < a->pair_room; i++)
			if (a->pair[i].id)
				*find_pair(a, larger, room, a->pair[i].id, a->pair[i].cpu) =
					a->pair[i];
		free(a->pair);
		a->pair = larger;
		a->pair_room = room;
	}
	pair = find_pair(a, a->pair, a->pair_room, id, cpu);
	if (!pair->id) {
		/* So many threads: times on each CPU are not for all of them. */
		if (a->pairs * 4 >= PAIRS_MAX * 3) {
			a->pairs_full = true;
			return;
		}
		a->pairs++;
		pair->id = id;
		pair->cpu = cpu;
	}
	pair->cycles += cycles;
}

/* ---- the base of a thread's stack ---- */

/* Charge the time since the last call; while it is not known what it is, keep it. */
static inline void end_base(struct fkt_analysis *a, struct thread *thread)
{
	uint64_t cycles = thread->stack.clock - thread->stack.base;

	thread->stack.base = thread->stack.clock;
	if (unlikely(!thread->base_known)) {
		thread->pending += cycles;
		return;
	}
	row_of(a, thread->row)->own += cycles;
	if (thread->row == FKT_ROW_USER)
		thread->user += cycles;
	else if (unlikely(thread->row == FKT_ROW_LEFT_OUT))
		thread->not_recorded += cycles;
	else
		thread->kernel += cycles;
}

static void add_base(struct fkt_analysis *a, struct thread *thread, uint32_t row, uint64_t cycles)
{
	row_of(a, row)->own += cycles;
	if (row == FKT_ROW_USER)
		thread->user += cycles;
	else if (row == FKT_ROW_BEFORE)
		thread->before += cycles;
	else if (row == FKT_ROW_LEFT_OUT)
		thread->not_recorded += cycles;
	else if (row == FKT_ROW_UNTRACED)
		thread->not_traced += cycles;
}

/*
 * Whether what a thread turned out to be at after an exec cannot have begun before that: the exec's
 * own system call has, and functions in which it was made.
 */
static bool begins_behind_exec(const struct fkt_analysis *a, uint32_t row)
{
	char name[FKT_NAME_BYTES];

	if (row >= FKT_CODE_IRQ_ENTRY)
		return row == FKT_ROW_USER || row == FKT_ROW_BEFORE;
	fkt_row_name(a->trace, row, name);
	return !strstr(name, "execve");
}

/*
 * What a thread was at does not come out. Where it slept it was in a call that had begun before;
 * unless system calls are not recorded, when it may have been in many, and in user mode.
 */
static uint32_t never_told_row(const struct thread *thread, bool slept)
{
	if (thread->untraced)
		return FKT_ROW_UNTRACED;
	return slept ? FKT_ROW_BEFORE : FKT_ROW_USER;
}

/* What it was at before the exec does not come out. */
static __attribute__((noinline, cold)) void resolve_before_exec(struct fkt_analysis *a,
								struct thread *thread)
{
	const uint32_t row = never_told_row(thread, thread->slept_before);

	if (!thread->resolved)
		thread->resolved = row + 1;
	if (!thread->came_out)
		thread->came_out = row + 1;
	add_base(a, thread, row, thread->before_exec);
	thread->pending -= thread->before_exec;
}

static void add_counted(struct fkt_analysis *a, uint32_t row, unsigned int number, uint64_t count)
{
	a->rows[row / FKT_PART] = true;
	a->counted[(size_t)row * a->counters + number] += count;
}

/* It has come out what the thread did, outside of all calls, while that was pending. */
static void resolve_pending(struct fkt_analysis *a, struct thread *thread, uint32_t row)
{
	uint64_t cycles;

	if (unlikely(thread->execs) && begins_behind_exec(a, row))
		resolve_before_exec(a, thread);
	cycles = thread->pending;
	thread->execs = thread->slept_before = false;
	thread->before_exec = 0;
	thread->pending = 0;
	thread->slept = false;
	thread->made = 0;
	if (!thread->resolved)
		thread->resolved = row + 1;
	if (!thread->came_out)
		thread->came_out = row + 1;
	add_base(a, thread, row, cycles);
	for (unsigned int i = 0; i < a->counters; i++) {
		add_counted(a, row, i, thread->counted[i]);
		thread->counted[i] = 0;
	}
}

/* It was another one before, up to an exec: that one was at the same. */
static __attribute__((noinline, cold)) void resolve_taken(struct fkt_analysis *a,
							  struct thread *thread, uint32_t row)
{
	struct thread *from = get_thread(a, thread->took);

	thread->took = 0;
	if (!from || from->base_known)
		return;
	/* All of that one's time is from before the exec. */
	if (thread->execs && begins_behind_exec(a, row))
		row = never_told_row(from, from->slept);
	resolve_pending(a, from, row);
}

/* It has come out what the thread did, outside of all calls, since its first event. */
static void resolve_base(struct fkt_analysis *a, struct thread *thread, uint32_t row)
{
	if (thread->base_known)
		return;
	/* In functions of its program, it is in these. */
	if (!thread->stack.depth)
		end_base(a, thread);
	if (unlikely(thread->took))
		resolve_taken(a, thread, row);
	resolve_pending(a, thread, row);
}

/* What was at the base will never come out: a thread that did not sleep can have been outside. */
static void give_up_base(struct fkt_analysis *a, struct thread *thread)
{
	if (!thread->stack.depth)
		end_base(a, thread);
	if (!thread->base_known)
		resolve_base(a, thread, never_told_row(thread, thread->slept));
}

/* ---- calls ---- */

static bool grow_stack(struct fkt_analysis *a, struct stack *stack)
{
	uint32_t room = stack->room ? stack->room * 2 : DEPTH_FIRST;
	struct frame *frame = realloc(stack->frame, room * sizeof(*frame));
	uint64_t *args, *counts;

	if (!frame)
		goto fail;
	stack->frame = frame;
	if (a->hooks.keep_args) {
		args = realloc(stack->args, room * FKT_CALL_WORDS * sizeof(*args));
		if (!args)
			goto fail;
		stack->args = args;
	}
	if (a->counters) {
		counts = realloc(stack->counts, room * counts_of(a) * sizeof(*counts));
		if (!counts)
			goto fail;
		stack->counts = counts;
	}
	stack->room = room;
	return true;

fail:
	a->failed = true;
	return false;
}

/* The innermost call of a stack has counted nothing yet. */
static void begin_counts(const struct fkt_analysis *a, struct stack *stack)
{
	if (unlikely(stack->counts))
		memset(stack->counts + (stack->depth - 1) * counts_of(a), 0,
		       counts_of(a) * sizeof(*stack->counts));
}

/*
 * A call that is no longer on its stack: what it has counted, with what it called, and without, and
 * what it was called by has the former among its calls'.
 */
static void end_counts(const struct fkt_analysis *a, struct stack *stack,
		       uint64_t counted[2 * FKT_COUNTERS_MAX])
{
	uint64_t *own = stack->counts + stack->depth * counts_of(a);

	memset(counted, 0, 2 * FKT_COUNTERS_MAX * sizeof(*counted));
	for (unsigned int i = 0; i < a->counters; i++) {
		counted[i] = own[i] + own[a->counters + i];
		counted[FKT_COUNTERS_MAX + i] = own[i];
		if (stack->depth)
			own[(ptrdiff_t)(a->counters + i) - (ptrdiff_t)counts_of(a)] += counted[i];
	}
}

/*
 * The outermost call in the kernel, of a stack that is not empty; in a program, its innermost
 * function.
 */
static inline const struct frame *outermost_call(const struct stack *stack)
{
	uint32_t i = 0;

	while (unlikely(stack->frame[i].user) && i + 1 < stack->depth)
		i++;
	return &stack->frame[i];
}

/* Where a call ends: of the time that is charged, where it was last. */
static inline uint16_t last_cpu(const struct fkt_analysis *a, const struct cpu *cpu,
				const struct thread *thread, const struct stack *stack)
{
	if (unlikely(!a->on) && stack == &thread->stack)
		return thread->moved == a->cuts ? thread->cut : thread->cpu;
	return cpu ? (uint16_t)(cpu - a->cpu) : thread->cpu;
}

/* Whether a call that is left after the time that is asked for was entered in it. */
static bool began_lit(const struct fkt_analysis *a, const struct frame *frame)
{
	return a->off_since && !frame->told && frame->begin >= a->on_since &&
	       frame->begin < a->off_since;
}

static inline void pop_one(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
			   struct stack *stack, uint64_t stamp, const struct fkt_event *event)
{
	struct frame *frame = &stack->frame[--stack->depth];
	struct fkt_row_sums *row = row_of(a, frame->row);
	const uint64_t cycles = stack->clock - frame->clock, own = cycles - frame->child;
	uint64_t elapsed = stamp > frame->begin ? stamp - frame->begin : 0;
	/* Not one that was open all the time, of a thread that never ran. */
	bool lit = (a->on ? event || frame->begin >= a->on_since : began_lit(a, frame)) &&
		   charges(a, last_cpu(a, cpu, thread, stack), thread);
	bool whole = event && a->on && lit && frame->begin >= a->on_since &&
		     frame->dark == stack->dark && !frame->late;

	uint64_t counted[2 * FKT_COUNTERS_MAX];

	/* A span in which no counter was read. */
	const bool unread = frame->user && !frame->placed && cpu && cpu->read_at < frame->begin;

	/* What it is around may go on for long after its own end. */
	bool counts = lit || (unlikely(frame->ends && !frame->ends_behind) ? own : cycles);

	row->own += own;
	if (unlikely(frame->user)) {
		const uint64_t former = frame->moved ? frame->former_own : 0;
		struct thread *before = former ? get_thread(a, frame->former) : NULL;

		thread->program += own - former;
		if (before)
			before->program += former;
	}
	if (likely(whole)) {
		row->calls++;
		row->total += cycles;
	} else if (counts) {
		row->partial++;
	}
	if (stack->depth) {
		frame[-1].child += cycles;
		frame[-1].child_elapsed += elapsed;
	} else {
		stack->base = stack->clock;
	}
	if (unlikely(stack->counts))
		end_counts(a, stack, counted);
	if (unlikely(a->hooks.leave)) {
		struct fkt_call call = {
			.row = frame->row,
			.caller = stack->depth ? frame[-1].row : FKT_ROW_NONE,
			.id = thread->id,
			.leader = leader(a, thread->id),
			.outside = thread->row,
			.cpu = last_cpu(a, cpu, thread, stack),
			.depth = stack->depth,
			.interrupt = stack != &thread->stack,
			.partial = !whole,
			.entered = true,
			.counts = counts,
			.begin = frame->begin,
			.end = frame->begin + elapsed,
			.cycles = cycles,
			.own = own,
			.former = frame->moved ? frame->former : 0,
			.former_own = frame->moved ? frame->former_own : 0,
			.only_elapsed =
				elapsed > frame->child_elapsed ? elapsed - frame->child_elapsed : 0,
			.entry_words = frame->words,
			.entry_args = stack->args ? stack->args + stack->depth * FKT_CALL_WORDS
						  : NULL,
			.exit = a->behind ? NULL : event,
			.counted = stack->counts && !unread ? counted : NULL,
		};

		a->hooks.leave(a->hooks.arg, &call);
	}
}

/* Of a call, no exit will tell: it ends when what is open in it does. */
static void set_ends(const struct fkt_analysis *a, struct frame *frame)
{
	if (frame->ends)
		return;
	frame->ends = true;
	frame->ends_behind = !a->on && a->on_before && frame->begin < a->off_since;
}

/* Calls that have ended, now that nothing is open in them any more. */
static __attribute__((noinline, cold)) void pop_ended(struct fkt_analysis *a, struct cpu *cpu,
						      struct thread *thread, struct stack *stack,
						      uint64_t stamp)
{
	while (stack->depth && stack->frame[stack->depth - 1].ends)
		pop_one(a, cpu, thread, stack, stamp, NULL);
}

/* End the innermost call of a stack: event ended it, or it is given up. */
static inline void pop(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
		       struct stack *stack, uint64_t stamp, const struct fkt_event *event)
{
	pop_one(a, cpu, thread, stack, stamp, event);
	if (unlikely(stack->depth && stack->frame[stack->depth - 1].ends))
		pop_ended(a, cpu, thread, stack, stamp);
}

static void pop_all(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
		    struct stack *stack, uint64_t stamp)
{
	while (stack->depth)
		pop(a, cpu, thread, stack, stamp, NULL);
}

static inline void push(struct fkt_analysis *a, struct cpu *cpu, struct stack *stack, uint32_t row,
			const struct fkt_event *event, bool interrupt)
{
	struct frame *frame;

	if (unlikely(stack->depth == stack->room)) {
		if (stack->depth >= FKT_CALL_DEPTH_MAX)
			pop_all(a, cpu, cpu->thread, stack, event->stamp);
		else if (!grow_stack(a, stack))
			return;
	}
	if (unlikely(a->hooks.enter)) {
		struct fkt_call call = {
			.row = row,
			.id = cpu->thread->id,
			.cpu = event->cpu,
			.depth = stack->depth,
			.interrupt = stack == &cpu->irq,
			.begin = event->stamp,
			.entry = event,
		};

		a->hooks.enter(a->hooks.arg, &call);
	}
	frame = &stack->frame[stack->depth++];
	frame->row = row;
	frame->interrupt = interrupt;
	frame->told = false;
	frame->late = false;
	frame->moved = false;
	frame->user = false;
	frame->ends = false;
	frame->placed = false;
	frame->begin = event->stamp;
	frame->clock = stack->clock;
	frame->dark = stack->dark;
	frame->child = 0;
	frame->child_elapsed = 0;
	frame->words = 0;
	begin_counts(a, stack);
	if (unlikely(stack->args)) {
		frame->words =
			(uint16_t)(event->words < FKT_CALL_WORDS ? event->words : FKT_CALL_WORDS);
		for (uint32_t i = 0; i < frame->words; i++)
			stack->args[(stack->depth - 1) * FKT_CALL_WORDS + i] =
				fkt_arg64(event, 8 * i);
	}
}

/* End what is open in the kernel: the thread is, or was meanwhile, in its program. */
static void pop_kernel(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
		       uint64_t stamp)
{
	struct stack *stack = &thread->stack;

	while (stack->depth && !stack->frame[stack->depth - 1].user)
		pop(a, cpu, thread, stack, stamp, NULL);
}

/*
 * An exit. Calls that are open inside the one that it ends were left without an event. The exit of
 * a call that is not open, which was entered before the trace began, ends nothing; but if its
 * thread was not known to be in any call, all the time up to now has been that call's.
 */
static bool leave(struct fkt_analysis *a, struct cpu *cpu, struct stack *stack, uint32_t row,
		  const struct fkt_event *event)
{
	uint32_t depth = stack->depth;

	if (unlikely(!depth || stack->frame[depth - 1].row != row)) {
		while (depth && !stack->frame[depth - 1].user &&
		       (stack->frame[depth - 1].row != row || stack->frame[depth - 1].ends))
			depth--;
		if (!depth || stack->frame[depth - 1].user)
			return false;
		while (stack->depth > depth)
			pop(a, cpu, cpu->thread, stack, event->stamp, NULL);
	}
	pop(a, cpu, cpu->thread, stack, event->stamp, event);
	return true;
}

/* The same of a program's function, which may be open several times: its place tells which. */
static bool leave_user(struct fkt_analysis *a, struct cpu *cpu, struct stack *stack, uint32_t row,
		       const struct fkt_event *event)
{
	uint32_t depth = stack->depth;
	const struct frame *frame;

	for (; depth; depth--) {
		frame = &stack->frame[depth - 1];
		if (frame->user && !frame->ends && frame->row == row &&
		    (!frame->placed || frame->place == event->imm))
			break;
	}
	if (!depth)
		return false;
	while (stack->depth > depth)
		pop(a, cpu, cpu->thread, stack, event->stamp, NULL);
	pop(a, cpu, cpu->thread, stack, event->stamp, event);
	return true;
}

/* An exit of a call whose entry was not seen; so much of it was charged, all of it is not known. */
static void leave_unopened(struct fkt_analysis *a, struct cpu *cpu, const struct stack *stack,
			   uint32_t row, const struct fkt_event *event, uint64_t own)
{
	struct fkt_call call = {
		.row = row,
		.caller = FKT_ROW_NONE,
		.id = cpu->thread->id,
		.leader = leader(a, cpu->thread->id),
		.outside = cpu->thread->row,
		.cpu = event->cpu,
		.depth = stack->depth,
		.interrupt = stack == &cpu->irq,
		.partial = true,
		.counts = own || (a->on && charges(a, event->cpu, cpu->thread)),
		.begin = event->stamp,
		.end = event->stamp,
		.cycles = own,
		.own = own,
		.exit = a->behind ? NULL : event,
	};

	row_of(a, row)->partial += call.counts;
	if (a->hooks.leave && (a->on || own))
		a->hooks.leave(a->hooks.arg, &call);
}

static void enter_syscall(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	a->syscalls = true;
	/* It came from user mode: nothing was open any more, but functions of the program. */
	if (unlikely(thread->stack.depth))
		pop_kernel(a, cpu, thread, cpu->last);
	if (unlikely(!thread->base_known)) {
		resolve_base(a, thread, FKT_ROW_USER);
		thread->base_known = true;
	}
}

/*
 * A function that is open is entered again at the same place of the stack: it, and what was called
 * in it, was left without an exit, by a longjmp().
 */
static void leave_jumped(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
			 uint32_t row, uint16_t place)
{
	const struct stack *stack = &thread->stack;
	const struct frame *frame;
	uint32_t depth;

	for (depth = stack->depth; depth; depth--) {
		frame = &stack->frame[depth - 1];
		if (frame->row == row && frame->placed && frame->place == place)
			break;
	}
	while (depth && stack->depth >= depth)
		pop(a, cpu, thread, &thread->stack, cpu->last, NULL);
}

/* A program's function begins: so it is in user mode. */
static void enter_user(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	pop_kernel(a, cpu, thread, cpu->last);
	if (unlikely(!thread->base_known)) {
		resolve_base(a, thread, thread->untraced ? FKT_ROW_UNTRACED : FKT_ROW_USER);
		thread->base_known = !thread->untraced;
	}
}

/* How much of it was charged. */
static uint64_t leave_unknown(struct fkt_analysis *a, struct thread *thread, uint32_t row)
{
	uint64_t before = a->row[row].own;

	if (!thread->base_known)
		resolve_base(a, thread, row);
	return a->row[row].own - before;
}

/* Whether events with a code are not recorded now. */
static bool is_masked(const struct fkt_analysis *a, const struct fkt_code_use *code)
{
	return code->keys && !(code->keys & a->mask);
}

/* A call that a program has told of itself: no counters are read where it begins and ends. */
static bool is_span(const struct fkt_code_use *code)
{
	return code->user && !(code->keys & FKT_KEY_USER);
}

static void enter_call(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_code_use *code,
		       const struct fkt_event *event)
{
	uint32_t row = fkt_use_row(a->trace, code, event);
	struct thread *thread = cpu->thread;

	/* It came while that was being turned off: its exit will not. */
	if (unlikely(a->masked) && (!code->system || code->task) && is_masked(a, code))
		return;
	if (cpu->stack == &cpu->irq) {
		if (!code->syscall && !code->user) {
			push(a, cpu, &cpu->irq, row, event, code->task);
			return;
		}
		/* An interrupt's exit is missing. */
		pop_all(a, cpu, thread, &cpu->irq, event->stamp);
		cpu->stack = &thread->stack;
	}
	if (unlikely(thread == a->unknown))
		return;
	if (code->syscall)
		enter_syscall(a, cpu, thread);
	else if (unlikely(code->user))
		enter_user(a, cpu, thread);
	if (unlikely(code->keys & FKT_KEY_USER))
		leave_jumped(a, cpu, thread, row, event->imm);
	if (!thread->stack.depth)
		end_base(a, thread);
	push(a, cpu, &thread->stack, row, event, code->task);
	if (unlikely(code->user) && thread->stack.depth) {
		struct frame *frame = &thread->stack.frame[thread->stack.depth - 1];

		frame->user = true;
		frame->placed = code->keys & FKT_KEY_USER;
		frame->place = event->imm;
	}
	if (unlikely(is_span(code)) && cpu->unread >= thread->stack.depth)
		cpu->unread = thread->stack.depth ? thread->stack.depth - 1 : 0;
	/* It came while that was being turned off: its exit will not. */
	if (unlikely(code->syscall && thread->untraced)) {
		pop_kernel(a, cpu, thread, event->stamp);
		thread->base_known = false;
	}
}

/* Interrupts are charged to themselves; whom they interrupted is told how long. */
static void give_interrupts(struct cpu *cpu)
{
	cpu->thread->interrupts += cpu->irq.clock - cpu->irq_charged;
	cpu->irq_charged = cpu->irq.clock;
}

/* The thread goes on if nothing is open any more of what interrupted it. */
static void end_interrupts(struct cpu *cpu)
{
	if (cpu->irq.depth || cpu->stack != &cpu->irq)
		return;
	give_interrupts(cpu);
	cpu->stack = &cpu->thread->stack;
}

static void leave_call(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_code_use *code,
		       const struct fkt_event *event)
{
	uint32_t row = fkt_use_row(a->trace, code, event);
	struct thread *thread = cpu->thread;
	uint64_t own = 0;

	if (cpu->stack == &cpu->irq) {
		if (!code->syscall && !code->user) {
			if (!leave(a, cpu, &cpu->irq, row, event))
				leave_unopened(a, cpu, &cpu->irq, row, event, 0);
			end_interrupts(cpu);
			return;
		}
		pop_all(a, cpu, thread, &cpu->irq, event->stamp);
		cpu->stack = &thread->stack;
	}
	if (unlikely(thread == a->unknown))
		return;
	if (unlikely(code->user ? !leave_user(a, cpu, &thread->stack, row, event)
				: !leave(a, cpu, &thread->stack, row, event))) {
		if (code->syscall)
			pop_kernel(a, cpu, thread, event->stamp);
		if (!thread->stack.depth)
			own = leave_unknown(a, thread, row);
		leave_unopened(a, cpu, &thread->stack, row, event, own);
	}
	if (unlikely(is_span(code)) && cpu->unread > thread->stack.depth)
		cpu->unread = thread->stack.depth;
	if (code->syscall) {
		a->syscalls = true;
		thread->base_known = !thread->untraced;
	}
}

static struct fkt_code_use *use_of(struct fkt_analysis *a, uint32_t number)
{
	struct fkt_code_use *code = &a->code[number];

	if (!code->kind) {
		fkt_code_use(a->trace, number, code);
		a->codes[number / FKT_PART] = true;
	}
	return code;
}

/*
 * When a call began that is about to end: one that is not known of, for it was recorded only
 * because it took long, and began before the trace did, or the trace is a stream. For how long it
 * was on a CPU is not known, nor in which other one it was.
 */
static void enter_late(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	struct fkt_event entry = *event;
	struct thread *thread = cpu->thread;
	struct stack *stack = cpu->stack;
	const struct fkt_code_use *code;
	uint32_t row, depth;

	if (event->words < FKT_BEGAN_WORDS || event->words > FKT_BEGAN_WORDS + FKT_CALL_ARGS ||
	    fkt_arg32(event, 8) >= FKT_SLOT_CODES || fkt_arg32(event, 12) != event->pid ||
	    fkt_arg64(event, 0) > event->stamp || thread == a->unknown)
		return;
	entry.stamp = fkt_arg64(event, 0);
	entry.code = fkt_arg32(event, 8);
	entry.imm = 0;
	entry.args += FKT_BEGAN_WORDS;
	entry.words = (uint8_t)(entry.words - FKT_BEGAN_WORDS);
	code = use_of(a, entry.code);
	if (code->kind != FKT_USE_ENTRY || code->task || (code->syscall && stack == &cpu->irq))
		return;
	row = fkt_use_row(a->trace, code, &entry);
	/* Unless it is known of all the same. */
	for (depth = 0; depth < stack->depth; depth++)
		if (stack->frame[depth].row == row && stack->frame[depth].begin == entry.stamp)
			return;
	if (!stack->depth && stack == &thread->stack) {
		end_base(a, thread);
		leave_unknown(a, thread, row);
	}
	push(a, cpu, stack, row, &entry, false);
	if (stack->depth)
		stack->frame[stack->depth - 1].late = true;
}

static void leave_interrupt(struct fkt_analysis *a, struct cpu *cpu, uint32_t row,
			    const struct fkt_event *event)
{
	if (!leave(a, cpu, &cpu->irq, row, event)) {
		leave_unopened(a, cpu, &cpu->irq, row, event, cpu->irq_before);
		cpu->irq_before = 0;
	}
	end_interrupts(cpu);
}

/* ---- who is current ---- */

static inline void charge_stack(struct fkt_analysis *a, struct cpu *cpu, struct stack *stack,
				const struct thread *thread, uint64_t cycles)
{
	if (charges(a, (uint16_t)(cpu - a->cpu), thread)) {
		stack->clock += cycles;
	} else {
		stack->dark += cycles;
		cpu->dark += cycles;
		a->left_out += cycles;
	}
}

static inline void charge(struct fkt_analysis *a, struct cpu *cpu, uint64_t stamp)
{
	if (likely(stamp > cpu->last)) {
		if (likely(a->on))
			charge_stack(a, cpu, cpu->stack, cpu->thread, stamp - cpu->last);
		cpu->last = stamp;
	} else if (unlikely(stamp < cpu->last)) {
		cpu->odd_until = cpu->last;
	}
}

/* What is owed is charged, to a stack. */
static void pay(struct fkt_analysis *a, struct cpu *cpu, struct stack *stack,
		const struct thread *thread)
{
	if (unlikely(cpu->owed))
		charge_stack(a, cpu, stack, thread, cpu->owed);
	cpu->owed = 0;
}

/*
 * Time is charged no more. Who had that since a CPU's last event its next one says: the thread that
 * was current, another one where that was not known, or nobody, where events are missing.
 */
static void owe(struct fkt_analysis *a, uint64_t stamp)
{
	struct cpu *cpu;

	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		if (cpu->blind || stamp <= cpu->last)
			continue;
		if (!cpu->owed)
			cpu->owed_since = cpu->last;
		cpu->owed += stamp - cpu->last;
		cpu->last = stamp;
	}
}

/* It is not known what happened on a CPU since its last event: what is open there may not be. */
static void charge_unknown(struct fkt_analysis *a, struct cpu *cpu, uint64_t stamp)
{
	if (stamp <= cpu->last)
		return;
	if (a->on)
		charge_stack(a, cpu, &a->unknown->stack, a->unknown, stamp - cpu->last);
	cpu->last = stamp;
}

/* The thread on a CPU had it up to here. */
static void leave_cpu(struct fkt_analysis *a, struct cpu *cpu)
{
	const uint64_t interrupts = cpu->irq.clock - cpu->irq_charged;
	const uint32_t number = (uint32_t)(cpu - a->cpu);
	struct thread *thread = cpu->thread;

	give_interrupts(cpu);
	/* It has come to another one, and events are missing that say when. */
	if (unlikely(thread->cpu != number)) {
		add_to_pair(a, thread->id, number, interrupts);
		thread->came += interrupts;
		return;
	}
	add_to_pair(a, thread->id, number, thread->stack.clock + thread->interrupts - thread->came);
	thread->came = thread->stack.clock + thread->interrupts;
	thread->left = cpu->last;
}

static bool is_off(const struct thread *thread)
{
	return thread->state == THREAD_WAITING || thread->state == THREAD_SLEEPING;
}

/* Events are missing since the thread last ran: in which calls it is now is not known. */
static void forget_stack(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	/* They end where it was: it may be on its way to another CPU, where they have no time. */
	pop_all(a, thread == a->unknown ? cpu : NULL, thread, &thread->stack, cpu->last);
	if (thread != a->unknown)
		give_up_base(a, thread);
	thread->base_known = thread->row != FKT_ROW_USER && !thread->untraced;
	/* It slept in a call, which may still go on. */
	if (is_off(thread) && thread->wait.left && thread->wait.state && !thread->base_known &&
	    !thread->untraced)
		thread->slept = true;
	thread->epoch = a->epoch;
}

/*
 * Add the time in the state that ends now. Where damaged stamps go back, no time is a thread's
 * twice.
 */
static void end_state(const struct fkt_analysis *a, struct thread *thread, uint64_t now)
{
	uint64_t cycles = now > thread->since ? now - thread->since : 0;

	if (cycles && !charges(a, thread->wait.cpu, thread))
		cycles = 0;
	if (thread->state == THREAD_WAITING)
		thread->waiting += cycles;
	else if (thread->state == THREAD_SLEEPING)
		thread->sleeping[thread->sleep] += cycles;
	if (now > thread->since)
		thread->since = now;
}

/*
 * Whether it sleeps is not known: it was woken while it was on its CPU. If that was on its way out,
 * when it could not stay any more, then nobody wakes it again, and it is waiting for a CPU.
 */
static bool is_undecided(const struct thread *thread)
{
	return thread->state == THREAD_SLEEPING && thread->early.known;
}

/* It runs again, and nobody has woken it since it left its CPU: all the time it was waiting. */
static void was_woken_early(struct thread *thread)
{
	thread->state = THREAD_WAITING;
	thread->wait.woken = thread->wait.left;
	thread->wait.waker = thread->early.id;
	thread->wait.waker_row = thread->early.row;
}

/* Tell of a thread's wait between two stamps; it runs again at the second one if @back says so. */
static void tell_part(struct fkt_analysis *a, struct thread *thread, uint64_t back, uint64_t from,
		      uint64_t to)
{
	struct fkt_wait *wait = &thread->wait;

	wait->id = thread->id;
	wait->back = back;
	wait->from = wait->left > from ? wait->left : from;
	wait->to = to;
	if (back || wait->to > wait->from)
		a->hooks.wait(a->hooks.arg, wait);
}

/*
 * Tell of the parts of a thread's wait in all the time that was charged since it began, or since
 * it was told of last. That is done when what the wait is, or when it ended, has come out, and not
 * for all threads whenever no more time is charged.
 */
static void tell_parts(struct fkt_analysis *a, struct thread *thread, uint64_t until)
{
	const uint32_t first = thread->lits;

	thread->lits = a->lits;
	if (likely(first == a->lits) || !a->hooks.wait || !is_off(thread) || !thread->wait.left)
		return;
	for (uint32_t i = first; i < a->lits; i++)
		tell_part(a, thread, 0, a->lit[i].from,
			  a->lit[i].to < until ? a->lit[i].to : until);
}

/* Tell of the last part of a wait, up to the moment at which the thread runs again. */
static void tell_end(struct fkt_analysis *a, struct thread *thread, uint64_t back)
{
	if (a->hooks.wait && a->on && thread->wait.left && is_off(thread))
		tell_part(a, thread, back, a->on_since, back);
}

/*
 * Since all CPUs stopped recording, nothing is known of a thread that was off its CPU then. That is
 * looked at when it is heard of again, and not for all threads whenever they stop.
 */
static __attribute__((noinline, cold)) void end_at_first_stop(struct fkt_analysis *a,
							      struct thread *thread)
{
	const struct stop *stop = &a->stop[thread->stops];

	thread->stops = a->stops;
	if (!is_off(thread))
		return;
	tell_parts(a, thread, stop->stamp);
	if (a->hooks.wait && a->on && thread->wait.left)
		tell_part(a, thread, 0, a->on_since, stop->stamp);
	end_state(a, thread, stop->time);
	thread->state = THREAD_NEW;
	thread->early.known = false;
}

static inline void end_at_stop(struct fkt_analysis *a, struct thread *thread)
{
	if (unlikely(thread->stops != a->stops))
		end_at_first_stop(a, thread);
}

/* Time was charged up to here. */
static void add_lit(struct fkt_analysis *a, uint64_t to)
{
	uint32_t room = a->lit_room ? 2 * a->lit_room : 16;
	struct lit *larger;

	if (a->lits == a->lit_room) {
		larger = realloc(a->lit, room * sizeof(*larger));
		if (!larger) {
			a->failed = true;
			return;
		}
		a->lit = larger;
		a->lit_room = room;
	}
	a->lit[a->lits++] = (struct lit){ a->on_since, to };
}

/* A thread gets a CPU: the time for which it had none ends. */
static void end_wait(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	/* That it has run here since its last event, its next one behind a window says. */
	const uint64_t until = cpu->owed ? cpu->owed_since : cpu->last;

	end_at_stop(a, thread);
	if (is_undecided(thread))
		was_woken_early(thread);
	thread->early.known = false;
	tell_parts(a, thread, until);
	end_state(a, thread, on_time(a, cpu->last) - cpu->owed);
	thread->wait.back_cpu = (uint16_t)(cpu - a->cpu);
	tell_end(a, thread, cpu->last);
}

/*
 * System calls are not recorded any more, of a thread on a CPU: which ones it is in, and whether it
 * is in user mode, is not known from now on.
 */
static void untrace(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	if (thread->row != FKT_ROW_USER)
		return;
	/* Else it is in functions alone, which go on. */
	if (thread->stack.depth && outermost_call(&thread->stack)->row < FKT_CODE_IRQ_ENTRY)
		pop_kernel(a, cpu, thread, cpu->last);
	if (!thread->stack.depth)
		give_up_base(a, thread);
	else if (!thread->base_known)
		resolve_pending(a, thread, never_told_row(thread, thread->slept));
	thread->untraced = true;
	thread->row = FKT_ROW_UNTRACED;
	thread->base_known = false;
}

/* They are again. The next one tells what it was at since now. */
static void retrace(struct fkt_analysis *a, struct thread *thread)
{
	if (!thread->untraced)
		return;
	if (!thread->stack.depth)
		end_base(a, thread);
	resolve_pending(a, thread, FKT_ROW_UNTRACED);
	thread->untraced = false;
	thread->row = FKT_ROW_USER;
}

/* Calls of layers that are off end, as no exit will tell, but for those that are around others. */
static __attribute__((noinline, cold)) void end_masked(struct fkt_analysis *a, struct cpu *cpu,
						       struct thread *thread, struct stack *stack)
{
	uint32_t code;

	for (uint32_t i = 0; i < stack->depth; i++) {
		code = fkt_row_code(a->trace, stack->frame[i].row);
		if (code < FKT_SLOT_CODES && is_masked(a, use_of(a, code)))
			set_ends(a, &stack->frame[i]);
	}
	pop_ended(a, cpu, thread, stack, cpu->last);
}

/* One that was off all CPUs meanwhile is in the same calls as before. */
static inline void follow_mask(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	if (unlikely(a->masked))
		end_masked(a, cpu, thread, &thread->stack);
	if (likely(a->untraced == thread->untraced))
		return;
	if (a->untraced)
		untrace(a, cpu, thread);
	else
		retrace(a, thread);
}

static void come_to_cpu(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	struct cpu *before = &a->cpu[thread->cpu];

	/* While the calls in which it waited are still known. */
	if (thread->state != THREAD_RUNNING)
		end_wait(a, cpu, thread);
	if (unlikely(thread->epoch != a->epoch))
		forget_stack(a, cpu, thread);
	follow_mask(a, cpu, thread);
	/*
	 * It has left another one, and events are missing that say when, and for whom: that one's
	 * next event tells who is there, and until then it is not known since its last one.
	 */
	if (unlikely(thread->state == THREAD_RUNNING && before != cpu && thread != a->unknown)) {
		a->odd = true;
		if (before->thread == thread) {
			leave_cpu(a, before);
			before->blind = true;
			before->verdict = FKT_VERDICT_UNKNOWN;
		}
	}
	cpu->thread = thread;
	if (unlikely(!a->on) && thread->moved != a->cuts) {
		thread->moved = a->cuts;
		thread->cut = thread->cpu;
	}
	thread->cpu = (uint16_t)(cpu - a->cpu);
	if (cpu->stack != &cpu->irq)
		cpu->stack = &thread->stack;
	thread->came = thread->stack.clock + thread->interrupts;
	thread->state = THREAD_RUNNING;
	thread->ended = false;
}

/* What the thread does from now on is not recorded. Of the kernel's own it is known. */
static void leave_out(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	retrace(a, thread);
	if (thread->left_out || thread->row != FKT_ROW_USER)
		return;
	pop_all(a, cpu, thread, &thread->stack, cpu->last);
	if (thread->base_known)
		end_base(a, thread);
	else
		resolve_base(a, thread, FKT_ROW_LEFT_OUT);
	thread->left_out = true;
	thread->row = FKT_ROW_LEFT_OUT;
	thread->base_known = true;
}

/* It is recorded again; where it is now, is not known. */
static void take_in(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread)
{
	if (!thread->left_out)
		return;
	if (!thread->stack.depth)
		end_base(a, thread);
	thread->left_out = false;
	thread->row = FKT_ROW_USER;
	thread->base_known = false;
	follow_mask(a, cpu, thread);
}

/* What a thread is at outside of all calls, known or not, becomes another one's. */
static void take_over_base(struct fkt_analysis *a, struct thread *from, struct thread *to)
{
	if (!from->stack.depth)
		end_base(a, from);
	give_up_base(a, to);
	to->base_known = from->base_known;
	to->slept = from->slept;
	to->made = from->made;
	to->took = from->base_known ? 0 : from->id;
	/* What was missing while the leader did not run is nothing that this one missed. */
	to->epoch = from->epoch;
}

/*
 * An exec by a thread that is not the leader: it takes over the leader's pid, with its stack. What
 * is charged no more was charged to the thread as it was then, and ends by that name.
 */
static void take_over(struct fkt_analysis *a, struct cpu *cpu, struct thread *from,
		      struct thread *to)
{
	struct stack stack;
	uint64_t clock = from->stack.clock, called = 0;
	uint32_t depth = from->stack.depth;
	struct frame *frame;
	bool end;

	/* What was decided on the pid that it has now was on another thread, if it was before. */
	if (cpu->verdict_on == to->id ? cpu->verdict == FKT_VERDICT_RECORDED : !from->left_out)
		take_in(a, cpu, to);
	else
		leave_out(a, cpu, to);
	follow_mask(a, cpu, to);
	if (to->stack.depth || from->row != to->row)
		return;
	take_over_base(a, from, to);
	if (!depth)
		return;
	stack = to->stack;
	end = !a->on;
	/* Only a trace that is wrong moves one twice. */
	for (uint32_t i = 0; i < depth; i++)
		end |= from->stack.frame[i].moved;
	if (end) {
		pop_all(a, cpu, from, &from->stack, cpu->last);
		from->stack.depth = depth;
	}
	to->stack = from->stack;
	from->stack = stack;
	/* Each keeps the time that it had. */
	to->stack.clock = stack.clock;
	to->stack.base = stack.clock;
	for (uint32_t i = depth; i--;) {
		frame = &to->stack.frame[i];
		if (end) {
			frame->clock = stack.clock;
			frame->child = frame->child_elapsed = 0;
			if (to->stack.counts)
				memset(to->stack.counts + i * counts_of(a), 0,
				       counts_of(a) * sizeof(*to->stack.counts));
			frame->told = frame->late = true;
			frame->moved = false;
			continue;
		}
		frame->moved = true;
		frame->former = from->id;
		frame->former_own = clock - frame->clock - frame->child - called;
		called = clock - frame->clock;
		frame->clock -= clock - stack.clock;
	}
	from->stack.clock = clock;
	from->stack.base = clock;
	if (a->hooks.moved)
		a->hooks.moved(a->hooks.arg, from->id, to->id);
}

/* Tell of a call that was open when an extracted trace began. */
static void tell_open(struct fkt_analysis *a, const struct stack *stack, uint32_t depth,
		      uint32_t id, uint16_t cpu, bool interrupt)
{
	const struct fkt_call call = {
		.row = stack->frame[depth].row,
		.id = id,
		.cpu = cpu,
		.depth = depth,
		.interrupt = interrupt,
		.begin = stack->frame[depth].begin,
	};

	if (a->hooks.enter)
		a->hooks.enter(a->hooks.arg, &call);
}

static void mark_seen(struct fkt_analysis *a, uint32_t number)
{
	a->cpu[number].seen = true;
	if (number >= a->cpu_end)
		a->cpu_end = number + 1;
}

/*
 * A CPU's first event: nobody else was current since the beginning, or there would have been a
 * switch; unless events are missing.
 */
static void see_cpu(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_code_use *code,
		    struct thread *thread, const struct fkt_event *event)
{
	const uint64_t cycles = on_time(a, event->stamp);
	uint64_t charged = thread->stack.clock + thread->interrupts;

	/* A wake-up of a thread that is on its CPU is not one that it waits after. */
	if (!cpu->blind && thread->state != THREAD_RUNNING)
		thread->state = THREAD_NEW;
	a->seen[a->n_seen++] = event->cpu;
	mark_seen(a, event->cpu);
	cpu->last = event->stamp;
	cpu->thread = thread;
	cpu->stack = &thread->stack;
	/* Since when it was not recorded is not known: it may have been there before. */
	if (!cpu->blind)
		follow_mask(a, cpu, thread);
	cpu->first = cpu->blind ? a->unknown : thread;
	cpu->first_dark = !charges(a, event->cpu, cpu->first);
	if (cpu->first->stack.depth)
		cpu->first_row = cpu->first->stack.frame[cpu->first->stack.depth - 1].row;
	else
		cpu->first_row = cpu->first->base_known ? cpu->first->row : FKT_ROW_NONE;
	if (cpu->blind) {
		charge_stack(a, cpu, &a->unknown->stack, a->unknown, cycles);
		pop_all(a, cpu, thread, &cpu->irq, event->stamp);
	} else if (cpu->irq.depth) {
		/* It is in one that was open when an extracted trace began. */
		cpu->stack = &cpu->irq;
		for (uint32_t i = 0; i < cpu->irq.depth; i++)
			tell_open(a, &cpu->irq, i, thread->id, event->cpu, true);
		charge_stack(a, cpu, &cpu->irq, thread, cycles);
		cpu->first_irq = true;
		cpu->first_row = cpu->irq.frame[cpu->irq.depth - 1].row;
		give_interrupts(cpu);
	} else if (code->kind == FKT_USE_CPU_EXIT && !cpu->known) {
		/* It is in an interrupt that began before the trace did. */
		charge_stack(a, cpu, &cpu->irq, thread, cycles);
		cpu->irq_before = cpu->irq.clock;
		cpu->first_irq = true;
		cpu->first_row = fkt_use_row(a->trace, code, event);
		row_of(a, cpu->first_row)->own += cpu->irq_before;
		give_interrupts(cpu);
	} else {
		charge_stack(a, cpu, &thread->stack, thread, cycles);
	}
	/* It is this CPU's, and not that one's too where the thread was last. */
	charged = thread->stack.clock + thread->interrupts - charged;
	add_to_pair(a, thread->id, event->cpu, charged);
	thread->came += charged;
}

/* ---- who is on a CPU ---- */

/*
 * Whether a thread was on another CPU after a CPU's last event: then events are missing that say
 * when it came, and it was not there all the time since then.
 */
static bool was_elsewhere(const struct fkt_analysis *a, const struct cpu *cpu,
			  const struct thread *thread)
{
	const struct cpu *other = &a->cpu[thread->cpu];
	const uint64_t since = cpu->owed ? cpu->owed_since : cpu->last;
	const bool there = other->thread == thread && thread->state == THREAD_RUNNING;

	/* Who has the pid of one that has ended is not that one. */
	if (thread == a->unknown || thread->ended || other == cpu || !other->seen)
		return false;
	return (there ? other->last : thread->left) > (cpu->seen ? since : 0);
}

/*
 * Whether the thread on a CPU, which has not been switched away from, is @now: by an exec, whether
 * this event tells of it or will yet, as the thread has the pid of its leader, who has ended, for
 * some time before that and may sleep in it. Of a leader that nothing is known of, the end was
 * before the trace's beginning.
 */
static bool has_become(const struct fkt_analysis *a, const struct cpu *cpu,
		       const struct thread *old, const struct thread *now,
		       const struct fkt_event *event)
{
	if (old == now || cpu->blind)
		return false;
	if (event->code == FKT_CODE_EXEC)
		return true;
	return (now->ended || now->state == THREAD_NEW) && event->pid && old != a->unknown &&
	       fkt_process(a->processes, old->id)->tgid == event->pid;
}

/*
 * Who was on a CPU until its first event: the thread that this one is of; but where that one has
 * become another one by it, the one that was current when an extracted trace began.
 */
static struct thread *until_first(struct fkt_analysis *a, const struct cpu *cpu,
				  struct thread *thread, const struct fkt_event *event)
{
	const uint32_t pid = a->current[event->cpu];
	struct thread *old = pid ? find_thread(a, pid, event->cpu) : NULL;

	if (!old || old == thread || old == a->unknown)
		return thread;
	if (has_become(a, cpu, old, thread, event))
		return old;
	if (old->state == THREAD_RUNNING && &a->cpu[old->cpu] == cpu)
		old->state = THREAD_NEW;
	return thread;
}

/* The CPU's first event, the first one after a gap, or one by another thread than was expected. */
static bool settle(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_code_use *code,
		   const struct fkt_event *event)
{
	struct thread *thread = find_thread(a, event->pid, event->cpu), *old = cpu->thread;
	bool missed, became;

	if (!thread || !a->unknown)
		return false;
	end_at_stop(a, thread);
	/* All had stopped recording before there was an event of it. */
	cpu->blind |= !cpu->seen && a->stopped;
	/* Before an exec it is another one that is charged. */
	if (unlikely(thread != old && (!cpu->seen || event->code != FKT_CODE_EXEC)))
		cpu->blind |= was_elsewhere(a, cpu, thread);
	missed = cpu->blind;
	cpu->uncounted |= missed;
	if (!cpu->seen)
		see_cpu(a, cpu, code, until_first(a, cpu, thread, event), event);
	if (old || cpu->thread != thread) {
		old = cpu->thread;
		if (cpu->blind) {
			pay(a, cpu, &a->unknown->stack, a->unknown);
			charge_unknown(a, cpu, event->stamp);
			pop_all(a, cpu, old, &cpu->irq, cpu->last);
			cpu->stack = &old->stack;
		}
		became = has_become(a, cpu, old, thread, event);
		if (became || (event->code == FKT_CODE_EXEC && !cpu->blind)) {
			pay(a, cpu, cpu->stack, old);
			charge(a, cpu, event->stamp);
		}
		leave_cpu(a, cpu);
		if (became) {
			/* A wake-up since its leader's end was its own, on its CPU. */
			if (thread->ended)
				thread->state = THREAD_NEW;
			take_over(a, cpu, old, thread);
		}
		if (old != thread && old->state == THREAD_RUNNING && &a->cpu[old->cpu] == cpu)
			old->state = THREAD_NEW;
	}
	cpu->blind = false;
	if (!cpu->awake)
		a->awake[a->n_awake++] = event->cpu;
	cpu->awake = true;
	cpu->pid = event->pid;
	come_to_cpu(a, cpu, thread);
	pay(a, cpu, cpu->stack, thread);
	charge(a, cpu, event->stamp);
	/* Unless this event tells, nobody does: look_for_filter() */
	if (unlikely(missed && a->filtered && code->everyones))
		leave_out(a, cpu, thread);
	return true;
}

static uint8_t sleep_of(uint32_t state)
{
	switch (fkt_state_reported(state)) {
	case STATE_S:
		return FKT_SLEEP_INTERRUPTIBLE;
	case STATE_D:
		return FKT_SLEEP_UNINTERRUPTIBLE;
	case FKT_STATE_REPORTED_IDLE:
		return FKT_SLEEP_IDLE;
	case STATE_STOPPED:
	case STATE_TRACED:
		return FKT_SLEEP_STOPPED;
	default:
		return FKT_SLEEP_OTHER;
	}
}

/* Whether who has come to a CPU is recorded is what the CPU's last verdict says. */
static void obey_verdict(struct fkt_analysis *a, struct cpu *cpu)
{
	cpu->verdict_on = 0;
	if (cpu->verdict == FKT_VERDICT_RECORDED)
		take_in(a, cpu, cpu->thread);
	else
		leave_out(a, cpu, cpu->thread);
}

/* A thread is current, and was. What it is interrupted by goes on. */
static void say_current(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
			uint32_t pid)
{
	struct thread *old = cpu->thread;

	if (!thread)
		return;
	if (thread != old) {
		leave_cpu(a, cpu);
		if (old->state == THREAD_RUNNING && &a->cpu[old->cpu] == cpu)
			old->state = THREAD_NEW;
		cpu->pid = pid;
		come_to_cpu(a, cpu, thread);
	}
	if (unlikely(a->filtered))
		obey_verdict(a, cpu);
}

static void switch_threads(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	struct thread *prev = cpu->thread, *next;
	struct stack *stack = &prev->stack;
	uint32_t pid = fkt_arg32(event, 4);

	next = find_thread(a, pid, event->cpu);
	if (fkt_is_no_switch(event)) {
		say_current(a, cpu, next, pid);
		return;
	}
	if (cpu->irq.depth)
		pop_all(a, cpu, prev, &cpu->irq, event->stamp);
	cpu->stack = stack;
	leave_cpu(a, cpu);
	if (!next)
		return;

	prev->wait = (struct fkt_wait){
		.state = event->imm,
		.outer = stack->depth ? outermost_call(stack)->row : base_row(prev),
		.inner = stack->depth ? stack->frame[stack->depth - 1].row : base_row(prev),
		.left = event->stamp,
		.cpu = event->cpu,
		.next = next->id,
		.waker_row = FKT_ROW_NONE,
	};
	if (on_time(a, event->stamp) > prev->since)
		prev->since = on_time(a, event->stamp);
	prev->lits = a->lits;
	prev->stops = a->stops;
	if (prev->row == FKT_ROW_IDLE || prev == a->unknown) {
		/* It is not the one that waits. */
		prev->state = THREAD_NEW;
	} else if (!event->imm) {
		prev->state = THREAD_WAITING;
	} else if (event->imm & FKT_TASK_GONE) {
		prev->state = THREAD_GONE;
		prev->ended = true;
		pop_all(a, cpu, prev, stack, event->stamp);
		free_stack(stack);
	} else {
		prev->state = THREAD_SLEEPING;
		prev->sleep = sleep_of(event->imm);
		if (!stack->depth && !prev->base_known && !prev->untraced) {
			prev->slept = true;
			prev->wait.outer = prev->wait.inner = base_row(prev);
		}
	}
	next->switches += a->on && charges(a, event->cpu, next);
	cpu->pid = pid;
	come_to_cpu(a, cpu, next);
	if (unlikely(a->filtered))
		obey_verdict(a, cpu);
}

/*
 * What a CPU is at work with: the innermost of its interrupts, or the thread's softirq or system
 * call. What was taken out of its page is said by the event.
 */
static uint32_t row_at_work(const struct fkt_analysis *a, const struct cpu *cpu,
			    const struct fkt_event *event)
{
	const struct stack *stack = cpu->stack;
	uint32_t depth = stack->depth, outermost = FKT_ROW_NONE, interrupt;

	if (a->reduced && (a->hooks.wait || event->code == FKT_CODE_WAKEUP_NEW)) {
		interrupt = fkt_arg32(event, 8 * event->words - 8);
		outermost = fkt_arg32(event, 8 * event->words - 4);
		if (interrupt != FKT_ROW_NONE)
			return interrupt;
	}
	if (!depth)
		return outermost != FKT_ROW_NONE ? outermost : base_row(cpu->thread);
	while (depth && !stack->frame[depth - 1].interrupt)
		depth--;
	if (depth)
		return stack->frame[depth - 1].row;
	return stack == &cpu->irq ? stack->frame[0].row : outermost_call(stack)->row;
}

static void wake(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	struct thread *thread = find_thread(a, fkt_arg32(event, 0), event->cpu);
	const struct waker waker = {
		.known = true,
		.id = cpu->thread->id,
		.row = row_at_work(a, cpu, event),
	};
	const bool anew = event->code == FKT_CODE_WAKEUP_NEW;

	if (!thread || thread == a->unknown)
		return;
	end_at_stop(a, thread);
	if (thread->state == THREAD_WAITING)
		return;
	/* A new one is in the call by which it was made, and has yet to return from it. */
	if (anew && waker.row < FKT_CODE_IRQ_ENTRY && !thread->base_known) {
		thread->slept = true;
		thread->made = waker.row + 1;
	}
	if (thread->state == THREAD_RUNNING) {
		thread->early = waker;
		return;
	}
	/* So it slept. */
	tell_parts(a, thread, UINT64_MAX);
	end_state(a, thread, on_time(a, event->stamp));
	/*
	 * A new one has never been on a CPU: all the time until it is there it waits for one. Since
	 * when another one waits is not known; it has run since the wait that was known last.
	 */
	if (thread->state == THREAD_NEW || thread->state == THREAD_GONE)
		thread->wait = (struct fkt_wait){
			.outer = anew ? base_row(thread) : thread->row,
			.inner = anew ? base_row(thread) : thread->row,
			.left = anew ? event->stamp : 0,
			.cpu = event->cpu,
		};
	thread->state = THREAD_WAITING;
	thread->wait.woken = event->stamp;
	thread->wait.waker = waker.id;
	thread->wait.waker_row = waker.row;
}

/* Who is left out has no events of others' layers: where nobody has told, one of those tells. */
static void look_for_filter(struct fkt_analysis *a, struct cpu *cpu,
			    const struct fkt_code_use *code)
{
	if (cpu->verdict != FKT_VERDICT_UNKNOWN || code->everyones)
		return;
	cpu->verdict = FKT_VERDICT_RECORDED;
	take_in(a, cpu, cpu->thread);
}

static void see_silent_cpu(struct fkt_analysis *a, uint32_t number, uint32_t pid, uint64_t last)
{
	const struct fkt_code_use code = { .kind = FKT_USE_POINT };
	const struct fkt_event event = {
		.stamp = last,
		.cpu = (uint16_t)number,
		.pid = pid,
	};
	struct cpu *cpu = &a->cpu[number];
	struct thread *thread;

	if (cpu->seen || cpu->blind)
		return;
	thread = find_thread(a, event.pid, event.cpu);
	/* Who has shown up elsewhere has left it, and events are missing that say when. */
	if (thread && !was_elsewhere(a, cpu, thread))
		settle(a, cpu, &code, &event);
}

static void add_stop(struct fkt_analysis *a, uint64_t stamp)
{
	uint32_t room = a->stop_room ? 2 * a->stop_room : 16;
	struct stop *larger;

	if (a->stops == a->stop_room) {
		larger = realloc(a->stop, room * sizeof(*larger));
		if (!larger) {
			a->failed = true;
			return;
		}
		a->stop = larger;
		a->stop_room = room;
	}
	a->stop[a->stops++] = (struct stop){ stamp, on_time_at(a, stamp) };
}

/*
 * Of what is owed to a CPU's thread, what came after all had stopped is nobody's: recording may be
 * found to have been off when it goes on.
 */
static void pay_until(struct fkt_analysis *a, struct cpu *cpu, uint64_t stamp)
{
	uint64_t after = lit_after(a, stamp > cpu->owed_since ? stamp : cpu->owed_since);

	if (!cpu->owed || cpu->blind) {
		pay(a, cpu, &a->unknown->stack, a->unknown);
		return;
	}
	if (after > cpu->owed)
		after = cpu->owed;
	charge_stack(a, cpu, &a->unknown->stack, a->unknown, after);
	cpu->owed -= after;
	pay(a, cpu, cpu->stack, cpu->thread);
}

/* All CPUs have stopped recording. */
static void stop_all(struct fkt_analysis *a, uint64_t stamp)
{
	struct cpu *cpu;

	/* What was taken out of pages would have said when each CPU recorded again. */
	a->odd = true;
	/* Of these, the first time leaves none. It may have been before what is asked for. */
	for (size_t i = 0; !a->stopped && i < a->trace->n_current; i++)
		see_silent_cpu(a, a->trace->current[i].cpu, a->trace->current[i].tid,
			       stamp > a->on_since ? stamp : a->on_since);
	a->stopped = true;
	a->epoch++;
	add_stop(a, stamp);
	for (uint32_t i = 0; i < a->n_awake; i++) {
		cpu = &a->cpu[a->awake[i]];
		pay_until(a, cpu, stamp);
		if (cpu->blind)
			charge_unknown(a, cpu, stamp);
		else
			charge(a, cpu, stamp);
		cpu->blind = true;
		cpu->awake = false;
	}
	a->n_awake = 0;
}

/*
 * From now on, on all CPUs, layers are recorded, or not: of those that are not, calls that are open
 * end where it is known of them last.
 */
static void set_mask(struct fkt_analysis *a, uint32_t mask, uint64_t stamp)
{
	const bool untraced = !(mask & FKT_KEY_SYSTEM);
	const uint32_t off = a->mask & ~mask;
	struct cpu *cpu;

	if (a->untraced == untraced && !off) {
		a->mask = mask;
		return;
	}
	/* What was taken out of pages does not tell which of it was before. */
	a->odd = true;
	/* Of these, the first time leaves none. */
	for (size_t i = 0; !a->switched && i < a->trace->n_current; i++)
		see_silent_cpu(a, a->trace->current[i].cpu, a->trace->current[i].tid,
			       stamp > a->on_since ? stamp : a->on_since);
	a->switched = true;
	a->mask = mask;
	a->masked = a->masked || off;
	a->untraced = untraced;
	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		if (cpu->blind || cpu->thread == a->unknown)
			continue;
		pay(a, cpu, cpu->stack, cpu->thread);
		charge(a, cpu, stamp);
		if (a->untraced) {
			pop_all(a, cpu, cpu->thread, &cpu->irq, stamp);
			give_interrupts(cpu);
			cpu->stack = &cpu->thread->stack;
		} else {
			end_masked(a, cpu, cpu->thread, &cpu->irq);
			end_interrupts(cpu);
		}
		follow_mask(a, cpu, cpu->thread);
	}
}

/* Whatever call a thread is in whose entry was not seen, before an exec it was in no other one. */
static void see_exec(struct fkt_analysis *a, struct thread *thread)
{
	if (thread->base_known || thread->untraced || thread->stack.depth)
		return;
	end_base(a, thread);
	thread->execs = true;
	thread->before_exec = thread->pending;
	thread->slept_before |= thread->slept;
	thread->slept = false;
	thread->made = 0;
}

/* The functions of a program that becomes another one are left; around the exec, when that ends. */
static void leave_program(struct fkt_analysis *a, struct cpu *cpu, struct thread *thread,
			  uint64_t stamp)
{
	struct stack *stack = &thread->stack;

	if (thread == a->unknown)
		return;
	for (uint32_t i = 0; i < stack->depth && stack->frame[i].user; i++)
		set_ends(a, &stack->frame[i]);
	pop_ended(a, cpu, thread, stack, stamp);
}

/* What was counted on a CPU is that of what has been at work there since the last reading. */
static void charge_count(struct fkt_analysis *a, struct cpu *cpu, unsigned int number,
			 uint64_t count)
{
	struct stack *stack = cpu->stack;
	struct thread *thread = cpu->thread;
	uint32_t depth = stack->depth;

	if (stack != &cpu->irq && depth > cpu->unread)
		depth = cpu->unread;
	if (cpu->uncounted) {
		add_counted(a, FKT_ROW_UNKNOWN, number, count);
	} else if (depth) {
		stack->counts[(depth - 1) * counts_of(a) + number] += count;
		add_counted(a, stack->frame[depth - 1].row, number, count);
	} else if (thread->base_known) {
		add_counted(a, thread->row, number, count);
	} else {
		thread->counted[number] += count;
	}
}

/*
 * What counters are at, before what was at work up to here ends, or something begins in it. Those
 * that go back are wrong, or were read by who interrupted the reading.
 */
static void read_counters(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	const bool lit = a->on && cpu->read_at >= a->on_since &&
			 charges(a, event->cpu, cpu->uncounted ? a->unknown : cpu->thread);
	const uint32_t before = cpu->read;
	uint64_t value;

	cpu->read = 0;
	for (unsigned int i = 0; i < a->counters && i < event->words; i++) {
		if (event->imm & 1u << i)
			continue;
		value = fkt_arg64(event, 8 * i);
		cpu->read |= 1u << i;
		if (before & 1u << i) {
			if (value <= cpu->counter[i])
				continue;
			if (lit)
				charge_count(a, cpu, i, value - cpu->counter[i]);
		}
		cpu->counter[i] = value;
	}
	cpu->read_at = event->stamp;
	cpu->uncounted = false;
	cpu->unread = UINT32_MAX;
}

static void special(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	struct thread *thread = cpu->thread, *to;

	if (!event->words)
		return;
	switch (event->code) {
	case FKT_CODE_SWITCH:
		switch_threads(a, cpu, event);
		break;
	case FKT_CODE_WAKEUP:
	case FKT_CODE_WAKEUP_NEW:
		wake(a, cpu, event);
		break;
	case FKT_CODE_EXEC:
		leave_program(a, cpu, thread, event->stamp);
		/* A program of the kernel's own. */
		if (thread->row == FKT_ROW_KERNEL) {
			if (!thread->stack.depth)
				end_base(a, thread);
			thread->row = FKT_ROW_USER;
			follow_mask(a, cpu, thread);
		} else {
			see_exec(a, thread);
		}
		break;
	case FKT_CODE_SETMASK:
		if (!fkt_arg32(event, 0))
			stop_all(a, event->stamp);
		else
			set_mask(a, fkt_arg32(event, 0), event->stamp);
		break;
	case FKT_CODE_BEGAN:
		enter_late(a, cpu, event);
		break;
	case FKT_CODE_COUNTERS:
		read_counters(a, cpu, event);
		break;
	case FKT_CODE_FILTER:
		if (!a->filtered)
			break;
		cpu->verdict = event->imm ? FKT_VERDICT_RECORDED : FKT_VERDICT_LEFT_OUT;
		cpu->verdict_on = 0;
		/* Else it is about whom the CPU is about to switch to, or will be by an exec. */
		if (fkt_arg32(event, 0) != event->pid || thread == a->unknown) {
			to = find_thread(a, fkt_arg32(event, 0), event->cpu);
			cpu->verdict_on = to ? to->id : 0;
			break;
		}
		if (event->imm)
			take_in(a, cpu, thread);
		else
			leave_out(a, cpu, thread);
		break;
	}
}

/* ---- what was taken out of pages ---- */

static struct fkt_folded_around around(const struct stack *stack)
{
	return (struct fkt_folded_around){
		.depth = stack->depth,
		.row = stack->depth ? stack->frame[stack->depth - 1].row : FKT_ROW_NONE,
	};
}

/* Of the time from entry to exit, the calls around them have as much less. */
static void tell_folded(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	struct stack *stack = cpu->stack, *irq = &cpu->irq;
	const struct fkt_folded_calls calls = {
		.page = (const struct fkt_reduced *)(uintptr_t)fkt_arg64(event,
									 8 * FKT_FOLDED_PAGE),
		.first = fkt_arg32(event, 8 * FKT_FOLDED_TOLD),
		.end = fkt_arg32(event, 8 * FKT_FOLDED_TOLD + 4),
		.id = cpu->thread->id,
		.leader = leader(a, cpu->thread->id),
		.outside = cpu->thread->row,
		.cpu = (uint16_t)(cpu - a->cpu),
		.in_irq = stack == irq,
		.stack = around(stack),
		.irq = around(irq),
	};

	if (stack->depth)
		stack->frame[stack->depth - 1].child_elapsed +=
			fkt_arg64(event, 8 * FKT_FOLDED_ELAPSED);
	if (irq->depth)
		irq->frame[irq->depth - 1].child_elapsed +=
			fkt_arg64(event, 8 * FKT_FOLDED_INTERRUPTS_ELAPSED);
	if (calls.first == calls.end)
		return;
	if (a->folded)
		a->folded(a->hooks.arg, &calls);
	else
		fkt_tell_folded(&calls, a->hooks.leave, a->hooks.arg);
}

/* Calls and interrupts that fkt_reduce() has summed up, as if they came here and now. */
static void folded(struct fkt_analysis *a, struct cpu *cpu, const struct fkt_event *event)
{
	struct stack *stack = cpu->stack;
	uint64_t calls, interrupts, since, depth;
	bool syscalls;

	if (event->words != FKT_FOLDED_WORDS) {
		a->odd = true;
		return;
	}
	calls = fkt_arg64(event, 8 * FKT_FOLDED_CALLS);
	interrupts = fkt_arg64(event, 8 * FKT_FOLDED_INTERRUPTS);
	since = fkt_arg64(event, 8 * FKT_FOLDED_SINCE);
	depth = fkt_arg64(event, 8 * FKT_FOLDED_DEPTH);
	syscalls = fkt_arg64(event, 8 * FKT_FOLDED_SYSCALLS);
	if (!depth)
		return;
	if (cpu->thread == a->unknown || since < cpu->odd_until || since < a->on_since ||
	    stack->depth + depth > FKT_CALL_DEPTH_MAX ||
	    (syscalls && (stack == &cpu->irq || stack->depth || !cpu->thread->base_known))) {
		a->odd = true;
		return;
	}
	if (stack == &cpu->irq) {
		calls += interrupts;
	} else if (interrupts) {
		stack->clock -= interrupts;
		cpu->irq.clock += interrupts;
		give_interrupts(cpu);
	}
	if (stack->depth)
		stack->frame[stack->depth - 1].child += calls;
	else
		stack->base += calls;
	if (a->hooks.leave)
		tell_folded(a, cpu, event);
}

void fkt_analysis_use_reduced(struct fkt_analysis *a)
{
	a->code[FKT_CODE_FOLDED].kind = FKT_USE_FOLDED;
	a->reduced = true;
	/* What is left of pages does not tell who was recorded. */
	a->odd |= a->filtered;
}

bool fkt_analysis_tells_waits(const struct fkt_analysis *a)
{
	return a->hooks.wait;
}

bool fkt_analysis_tells_calls(const struct fkt_analysis *a)
{
	return a->hooks.leave;
}

struct fkt_analysis_hooks
fkt_analysis_tell(struct fkt_analysis *a, const struct fkt_analysis_hooks *hooks,
		  void (*folded)(void *arg, const struct fkt_folded_calls *calls))
{
	struct fkt_analysis_hooks before = a->hooks;

	a->hooks = *hooks;
	a->folded = folded;
	return before;
}

bool fkt_analysis_is_odd(const struct fkt_analysis *a)
{
	return a->odd;
}

void fkt_analysis_add_reduced(struct fkt_analysis *a, const struct fkt_reducer *reducer)
{
	const struct fkt_row_sums *rows = fkt_reducer_rows(reducer);
	const struct fkt_code_use *codes = fkt_reducer_codes(reducer);

	for (uint32_t row = 0; row < FKT_ROWS; row++) {
		if (!fkt_reducer_has_rows(reducer, row / FKT_PART)) {
			row |= FKT_PART - 1;
			continue;
		}
		row_of(a, row)->own += rows[row].own;
		row_of(a, row)->total += rows[row].total;
		row_of(a, row)->calls += rows[row].calls;
	}
	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++) {
		if (!fkt_reducer_has_codes(reducer, code / FKT_PART)) {
			code |= FKT_PART - 1;
			continue;
		}
		a->codes[code / FKT_PART] = true;
		a->code[code].count += codes[code].count;
	}
	a->code[FKT_CODE_FOLDED].count = 0;
}

/* ---- events ---- */

/* The stack that a call belongs on which was open when an extracted trace began; NULL for none. */
static struct stack *open_stack(struct fkt_analysis *a, const struct fkt_open_call *open,
				const struct fkt_code_use *code)
{
	struct stack *irq = &a->cpu[open->cpu].irq;
	struct thread *thread;

	if (open->interrupt) {
		/* Of one that has no number, its end is enough to know that it was. */
		if (!open->numbered || (code->kind == FKT_USE_ENTRY && !irq->depth))
			return NULL;
		a->interrupted = true;
		return code->syscall ? NULL : irq;
	}
	/* The idle task makes no system calls, and is in no program. */
	if (code->kind != FKT_USE_ENTRY || (open->idle ? code->syscall || code->user : !open->tid))
		return NULL;
	thread = find_thread(a, open->tid, open->cpu);
	if (!thread || thread == a->unknown)
		return NULL;
	thread->base_known |= code->syscall;
	a->syscalls |= code->syscall;
	return &thread->stack;
}

/* What was open when an extracted trace begins. */
static void open_calls(struct fkt_analysis *a)
{
	const struct fkt_open_call *open;
	const struct fkt_code_use *code;
	struct stack *stack;

	for (size_t i = 0; (open = fkt_open_call(a->trace, i)); i++) {
		code = use_of(a, open->code);
		/* Of a function that its address tells, it is not known which one it is. */
		if ((code->kind != FKT_USE_ENTRY && code->kind != FKT_USE_CPU_ENTRY) ||
		    code->function != FKT_NO_FUNCTION)
			continue;
		stack = open_stack(a, open, code);
		if (!stack || stack->depth >= FKT_CALL_DEPTH_MAX ||
		    (stack->depth == stack->room && !grow_stack(a, stack)))
			continue;
		stack->frame[stack->depth++] = (struct frame){
			.row = fkt_use_row(a->trace, code,
					   &(const struct fkt_event){ .imm = open->imm }),
			.interrupt = code->kind == FKT_USE_CPU_ENTRY || code->task,
			.user = code->user,
			.ends = open->ends,
			.placed = code->keys & FKT_KEY_USER && open->numbered,
			.place = open->imm,
			.begin = open->stamp,
		};
		begin_counts(a, stack);
		/* Whom an interrupt interrupted is not known yet: see_cpu(). */
		if (!open->interrupt)
			tell_open(a, stack, stack->depth - 1, thread_of(stack)->id, open->cpu,
				  false);
	}
}

/* What is known of threads outside of all calls when an extracted trace begins. */
static void open_bases(struct fkt_analysis *a)
{
	const struct fkt_open_base *open;
	struct thread *thread;

	for (size_t i = 0; (open = fkt_open_base(a->trace, i)); i++) {
		thread = find_thread(a, open->tid, 0);
		if (!thread || thread->row != FKT_ROW_USER)
			continue;
		if (open->base == FKT_BASE_LEFT_OUT) {
			if (!a->filtered || thread->stack.depth)
				continue;
			thread->left_out = thread->base_known = true;
			thread->row = FKT_ROW_LEFT_OUT;
			continue;
		}
		if (open->base == FKT_BASE_UNTRACED) {
			thread->untraced = true;
			thread->row = FKT_ROW_UNTRACED;
			continue;
		}
		thread->base_known |= open->base == FKT_BASE_USER;
		thread->slept |= open->base == FKT_BASE_SLEPT;
		if (open->made != FKT_NO_CODE && !thread->base_known &&
		    use_of(a, open->made)->syscall)
			thread->made = open->made + 1;
		a->syscalls |= open->base == FKT_BASE_USER;
	}
}

/* The row of a call that is told of by its code alone; FKT_ROW_NONE where that does not tell it. */
static uint32_t open_row(struct fkt_analysis *a, uint32_t number)
{
	const struct fkt_event event = { 0 };
	const struct fkt_code_use *code;

	if (number == FKT_NO_CODE)
		return FKT_ROW_NONE;
	code = use_of(a, number);
	if (code->kind != FKT_USE_ENTRY || code->function != FKT_NO_FUNCTION || code->numbers)
		return FKT_ROW_NONE;
	return fkt_use_row(a->trace, code, &event);
}

/* What a thread waits in, where it is not in it any more as far as is known. */
static void open_left(struct fkt_analysis *a, const struct fkt_open_wait *open,
		      struct thread *thread)
{
	const uint32_t outer = open_row(a, open->outer), inner = open_row(a, open->inner);

	if (thread->stack.depth)
		return;
	if (outer != FKT_ROW_NONE) {
		thread->wait.outer = outer;
		thread->wait.inner = inner != FKT_ROW_NONE ? inner : outer;
	} else if (open->told_base && open->base == FKT_BASE_USER && thread->row == FKT_ROW_USER) {
		thread->wait.outer = thread->wait.inner = FKT_ROW_USER;
	} else if (open->told_base && open->base == FKT_BASE_SLEPT && thread->row == FKT_ROW_USER) {
		thread->wait.outer = thread->wait.inner = FKT_ROW_BEFORE;
	}
}

/* What a waker was at outside of all calls, which may be another thing when the part begins. */
static uint32_t open_waker_row(const struct fkt_open_wait *open, const struct thread *thread)
{
	if (!open->has_base ||
	    (thread->row != FKT_ROW_USER && thread->row != FKT_ROW_LEFT_OUT && !thread->untraced))
		return base_row(thread);
	if (open->waker_base == FKT_BASE_UNTRACED)
		return FKT_ROW_UNTRACED;
	if (open->waker_base == FKT_BASE_SLEPT)
		return FKT_ROW_BEFORE;
	return open->waker_base == FKT_BASE_LEFT_OUT ? FKT_ROW_LEFT_OUT : FKT_ROW_USER;
}

/* Who had woken it, and what that one was at. */
static struct waker open_waker(struct fkt_analysis *a, const struct fkt_open_wait *open)
{
	const struct fkt_event event = { .imm = open->imm };
	const struct thread *thread = find_thread(a, open->waker, open->waker_cpu);
	const struct fkt_code_use *code;

	if (!thread)
		return (struct waker){ false };
	if (open->code == FKT_NO_CODE)
		return (struct waker){ true, thread->id, open_waker_row(open, thread) };
	code = use_of(a, open->code);
	if ((code->kind != FKT_USE_ENTRY && code->kind != FKT_USE_CPU_ENTRY) ||
	    code->function != FKT_NO_FUNCTION)
		return (struct waker){ true, thread->id, open_waker_row(open, thread) };
	return (struct waker){ true, thread->id, fkt_use_row(a->trace, code, &event) };
}

/* Who was on a CPU when an extracted trace begins, and who waited. */
static void open_waits(struct fkt_analysis *a)
{
	const struct fkt_open_wait *open;
	struct thread *thread, *next;
	struct stack *stack;
	struct waker waker;

	for (size_t i = 0; i < a->trace->n_current; i++) {
		/* Unless there was a gap already. */
		if (!a->cpu[a->trace->current[i].cpu].blind)
			a->cpu[a->trace->current[i].cpu].verdict = a->trace->current[i].verdict;
		if (!a->current[a->trace->current[i].cpu])
			a->current[a->trace->current[i].cpu] = a->trace->current[i].tid;
		a->cpu[a->trace->current[i].cpu].blind |= a->trace->current[i].blind;
		a->cpu[a->trace->current[i].cpu].known = a->trace->current[i].seen;
		thread = find_thread(a, a->trace->current[i].tid, a->trace->current[i].cpu);
		if (!thread || thread == a->unknown)
			continue;
		thread->state = THREAD_RUNNING;
		thread->cpu = a->trace->current[i].cpu;
	}
	for (size_t i = 0; (open = fkt_open_wait(a->trace, i)); i++) {
		thread = find_thread(a, open->tid, open->cpu);
		if (thread && open->running && thread->state == THREAD_RUNNING)
			thread->early = open_waker(a, open);
		if (!thread || thread == a->unknown || thread->row == FKT_ROW_IDLE ||
		    open->running || thread->state == THREAD_RUNNING || open->left > a->on_since ||
		    open->woken > a->on_since || (open->woken && open->woken < open->left))
			continue;
		stack = &thread->stack;
		next = find_thread(a, open->next, open->cpu);
		thread->wait = (struct fkt_wait){
			.state = open->state,
			.outer = stack->depth ? outermost_call(stack)->row : base_row(thread),
			.inner = stack->depth ? stack->frame[stack->depth - 1].row
					      : base_row(thread),
			.left = open->left,
			.woken = open->woken,
			.cpu = open->cpu,
			.next = next ? next->id : 0,
			.waker_row = FKT_ROW_NONE,
		};
		thread->cpu = open->cpu;
		thread->state = THREAD_WAITING;
		if (open->state && !open->woken) {
			thread->state = THREAD_SLEEPING;
			thread->sleep = sleep_of(open->state);
		}
		if (open->state && !stack->depth && !thread->base_known && !thread->untraced) {
			thread->slept = true;
			thread->wait.outer = thread->wait.inner = base_row(thread);
		}
		open_left(a, open, thread);
		if (!open->woken && !open->early)
			continue;
		waker = open_waker(a, open);
		if (open->early) {
			thread->early = waker;
		} else if (waker.known) {
			thread->wait.waker = waker.id;
			thread->wait.waker_row = waker.row;
		}
	}
}

/*
 * After a gap: threads that were current when an extracted trace began, on CPUs that have had no
 * event yet, are not concerned, unless it is one of @all CPUs.
 */
static void keep_current(struct fkt_analysis *a, bool all)
{
	const struct fkt_current *current = a->trace->current;
	struct thread *thread;
	struct cpu *cpu;

	for (size_t i = 0; i < a->trace->n_current; i++) {
		cpu = &a->cpu[current[i].cpu];
		if (cpu->seen)
			continue;
		if (all) {
			cpu->blind = true;
			cpu->verdict = FKT_VERDICT_UNKNOWN;
		}
		thread = cpu->blind ? NULL : find_thread(a, current[i].tid, current[i].cpu);
		/* Who has shown up elsewhere is not there any more. */
		if (thread && !was_elsewhere(a, cpu, thread) && thread->epoch == a->epoch - 1)
			thread->epoch = a->epoch;
	}
}

static void begin(struct fkt_analysis *a, uint64_t first)
{
	const char *info = fkt_info(a->trace, "start_cycles");
	uint64_t start;

	a->begun = true;
	a->on_since = first;
	/* The recording began a little before its first event. */
	if (info && fkt_parse_u64(info, &start) && start < first && fkt_clocks_agree(a->trace) &&
	    start >= a->trace->clock[0].cycles)
		a->on_since = start;
	a->first = a->on_since;
	a->unknown = get_thread(a, 0);
	open_calls(a);
	open_bases(a);
	open_waits(a);
	if (!a->gaps_before)
		return;
	a->epoch++;
	keep_current(a, false);
}

/*
 * Whether an event says that recording was paused. It comes when it is off already: that somebody
 * is on its CPU says nothing of before. Out of the way of all others.
 */
static __attribute__((noinline, cold)) bool is_pause(struct fkt_analysis *a,
						     const struct fkt_event *event)
{
	struct fkt_code_use *code = use_of(a, event->code);
	uint64_t at;

	if (code->kind != FKT_USE_PAUSE || !event->words)
		return false;
	at = fkt_arg64(event, 0);
	a->paused = true;
	code->count += a->on;
	stop_all(a, at < event->stamp ? at : event->stamp);
	return true;
}

int fkt_analysis_event(struct fkt_analysis *a, const struct fkt_event *event)
{
	struct cpu *cpu = &a->cpu[event->cpu];
	struct fkt_code_use *code = &a->code[event->code];

	if (unlikely(!a->begun))
		begin(a, event->stamp);
	if (unlikely(code->kind <= FKT_USE_PAUSE) && is_pause(a, event))
		return a->failed ? -ENOMEM : 0;
	code->count += a->on;
	if (unlikely(!cpu->seen || cpu->blind || cpu->owed || cpu->pid != event->pid)) {
		if (!settle(a, cpu, code, event))
			return -ENOMEM;
	} else {
		charge(a, cpu, event->stamp);
	}
	if (unlikely(a->filtered))
		look_for_filter(a, cpu, code);
	switch (code->kind) {
	case FKT_USE_ENTRY:
		enter_call(a, cpu, code, event);
		break;
	case FKT_USE_EXIT:
		leave_call(a, cpu, code, event);
		break;
	case FKT_USE_CPU_ENTRY:
		cpu->stack = &cpu->irq;
		push(a, cpu, &cpu->irq, fkt_use_row(a->trace, code, event), event, true);
		if (unlikely(a->untraced && code->system)) {
			pop_all(a, cpu, cpu->thread, &cpu->irq, event->stamp);
			cpu->stack = &cpu->thread->stack;
		}
		break;
	case FKT_USE_CPU_EXIT:
		leave_interrupt(a, cpu, fkt_use_row(a->trace, code, event), event);
		break;
	case FKT_USE_SPECIAL:
		special(a, cpu, event);
		break;
	case FKT_USE_FOLDED:
		folded(a, cpu, event);
		break;
	}
	return unlikely(a->failed) ? -ENOMEM : 0;
}

void fkt_analysis_gap(struct fkt_analysis *a, const struct fkt_gap *gap)
{
	struct cpu *cpu;

	/*
	 * Threads that are current elsewhere are not concerned. Any other one may have run here in
	 * the meanwhile: that is looked at when it runs again.
	 */
	a->epoch++;
	a->gaps_before |= !a->begun;
	a->gaps_anywhere |= gap->cpu == FKT_CPU_ANY;
	/* Also those that have had no event yet are concerned. */
	a->stopped |= a->begun && gap->cpu == FKT_CPU_ANY;
	if (gap->cpu != FKT_CPU_ANY) {
		a->cpu[gap->cpu].blind = true;
		a->cpu[gap->cpu].verdict = FKT_VERDICT_UNKNOWN;
	}
	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		if (gap->cpu == FKT_CPU_ANY) {
			cpu->blind = true;
			cpu->verdict = FKT_VERDICT_UNKNOWN;
		}
		if (!cpu->blind && cpu->thread->epoch == a->epoch - 1)
			cpu->thread->epoch = a->epoch;
	}
	if (a->begun)
		keep_current(a, gap->cpu == FKT_CPU_ANY);
}

static void charge_all(struct fkt_analysis *a, uint64_t stamp)
{
	struct cpu *cpu;

	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		if (cpu->blind)
			charge_unknown(a, cpu, stamp);
		else
			charge(a, cpu, stamp);
	}
}

void fkt_analysis_charge(struct fkt_analysis *a, uint64_t stamp, bool on)
{
	if (a->on == on)
		return;
	if (!a->begun)
		begin(a, stamp);
	if (a->on)
		owe(a, stamp);
	charge_all(a, stamp);
	if (a->on) {
		/* Without an event as yet, nothing was charged: it is not what was asked for. */
		if (a->n_seen || a->paused)
			add_lit(a, stamp);
		a->on_before = a->n_seen || a->paused ? on_time(a, stamp) : 0;
		if (!a->n_seen && !a->paused)
			a->first = UINT64_MAX;
		a->unsettled = 0;
		a->cuts++;
		a->off_since = stamp;
	} else {
		/* What was charged to threads that still are on their CPUs is those CPUs'. */
		for (uint32_t i = 0; i < a->n_seen; i++)
			leave_cpu(a, &a->cpu[a->seen[i]]);
		a->on_since = stamp;
	}
	a->on = on;
}

/*
 * Of a stream only its end says that the recording began before the first event: the time until
 * then is that of whoever was current up to it.
 */
static void add_beginning(struct fkt_analysis *a)
{
	const char *info = fkt_info(a->trace, "start_cycles");
	struct thread *thread;
	struct cpu *cpu;
	uint64_t start, cycles;

	if (!info || a->first == UINT64_MAX || !fkt_parse_u64(info, &start) || start >= a->first ||
	    !fkt_clocks_agree(a->trace) || start < a->trace->clock[0].cycles)
		return;
	cycles = a->first - start;
	a->duration += cycles;
	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		thread = cpu->first;
		if (cpu->first_dark) {
			cpu->dark += cycles;
			a->left_out += cycles;
			continue;
		}
		if (cpu->first_row == FKT_ROW_NONE)
			cpu->first_row = thread->resolved ? thread->resolved - 1 : thread->row;
		if (cpu->first_irq)
			thread->interrupts += cycles;
		else
			thread->stack.clock += cycles;
		thread->stack.base = thread->stack.clock;
		if (cpu->first_irq)
			row_of(a, cpu->first_row)->own += cycles;
		else
			add_base(a, thread, cpu->first_row, cycles);
		add_to_pair(a, thread->id, a->seen[i], cycles);
	}
}

/* Idle is the CPU that nothing is known of, too: end_silent_cpus(); but for what is open there. */
static void see_left(struct fkt_analysis *a, uint32_t number, uint64_t last)
{
	const struct thread *idle = find_thread(a, 0, (uint16_t)number);

	if (a->current[number] || a->cpu[number].irq.depth || (idle && idle->stack.depth))
		see_silent_cpu(a, number, a->current[number], last);
}

/*
 * CPUs from which no event came though nothing of theirs is missing, in an extracted trace: who was
 * current there when it began stayed so.
 */
static void see_silent_cpus(struct fkt_analysis *a, uint64_t last)
{
	const bool shared = fkt_header(a->trace)->shared;
	const struct fkt_lane_totals *totals;
	bool whole = shared;

	for (size_t i = 0; a->trace->n_current && (totals = fkt_lane_totals(a->trace, i)); i++) {
		whole = whole && !totals->lost && !totals->discarded;
		if (!shared && totals->cpu < FKT_CPU_ANY && !totals->events && !totals->lost &&
		    !totals->discarded)
			see_left(a, totals->cpu, last);
	}
	for (size_t i = 0; whole && i < a->trace->n_current; i++)
		see_left(a, a->trace->current[i].cpu, last);
}

/* CPUs from which no event came: idle, if nothing of theirs is missing. */
static int end_silent(struct fkt_analysis *a, uint32_t number, bool idle)
{
	struct thread *thread;

	if (number >= CPUS || a->cpu[number].seen)
		return 0;
	if (a->cpu[number].blind)
		idle = false;
	/* In an extracted trace, some thread may have been there all the time. */
	idle = idle && !a->current[number];
	thread = idle ? find_thread(a, 0, (uint16_t)number) : a->unknown;
	if (!thread)
		return -ENOMEM;
	if (charges(a, (uint16_t)number, thread)) {
		thread->stack.clock += a->duration;
		add_to_pair(a, thread->id, number, a->duration);
	} else {
		a->cpu[number].dark += a->duration;
		a->left_out += a->duration;
	}
	mark_seen(a, number);
	a->cpus++;
	return 0;
}

static int end_silent_cpus(struct fkt_analysis *a)
{
	const struct fkt_file_header *header = fkt_header(a->trace);
	const struct fkt_lane_totals *totals;
	const char *info = fkt_info(a->trace, "cpus");
	uint64_t cpus = 0;
	const bool complete = fkt_is_complete(a->trace) && !a->gaps_anywhere;
	bool whole = complete;
	int err = 0;

	for (size_t i = 0; (totals = fkt_lane_totals(a->trace, i)) && !err; i++) {
		if (totals->events || totals->lost || totals->discarded)
			whole = false;
		if (totals->cpu != FKT_CPU_ANY)
			err = end_silent(a, totals->cpu,
					 !totals->events && !totals->lost && !totals->discarded);
		else if (!totals->lost && !totals->discarded)
			whole = complete;
	}
	if (err || !header->shared) {
		for (uint32_t i = 0; i < header->lanes && !header->shared && !err; i++)
			if (!fkt_lane_totals(a->trace, 0))
				err = end_silent(a, i, false);
		return err;
	}
	if (info && fkt_parse_u64(info, &cpus))
		for (uint32_t i = 0; i < CPUS && a->cpus < cpus && !err; i++)
			err = end_silent(a, i, whole);
	return err;
}

/* The first thread from a number on, NULL if there is none. */
static struct thread *next_thread(const struct fkt_analysis *a, uint32_t id)
{
	struct thread *thread;

	for (; id / CHUNK_THREADS < CHUNKS; id++) {
		if (!a->chunk[id / CHUNK_THREADS]) {
			id |= CHUNK_THREADS - 1;
			continue;
		}
		thread = &a->chunk[id / CHUNK_THREADS][id % CHUNK_THREADS];
		if (thread->row)
			return thread;
	}
	return NULL;
}

#define for_each_thread(a, thread)                                                                 \
	for ((thread) = next_thread(a, 0); (thread); (thread) = next_thread(a, (thread)->id + 1))

/* What has not come out about a wait will not. */
static void tell_all_parts(struct fkt_analysis *a)
{
	struct thread *thread;

	for_each_thread(a, thread) tell_parts(a, thread, UINT64_MAX);
}

static void end_all_at_stop(struct fkt_analysis *a)
{
	struct thread *thread;

	if (a->stops)
		for_each_thread(a, thread) end_at_stop(a, thread);
}

static void end_thread(struct fkt_analysis *a, struct thread *thread, uint64_t last)
{
	pop_all(a, NULL, thread, &thread->stack, last);
	give_up_base(a, thread);
	if (thread->state == THREAD_WAITING || thread->state == THREAD_SLEEPING)
		end_state(a, thread, a->duration);
}

/*
 * Where an extracted trace ends, some things come out by events behind it, which it has for that.
 * They are looked at as those behind a window's end are.
 */
static void decide_at_end(struct fkt_analysis *a, uint64_t last)
{
	const char *info = fkt_info(a->trace, "after_end");
	char *copy = info && *info ? strdup(info) : NULL, *text = copy;
	uint64_t words[FKT_SLOT_WORDS_MAX];
	struct fkt_event event;
	struct cpu *cpu;

	if (!copy)
		return;
	/* Who is there behind the end may have come behind it: not all switches are there. */
	for (size_t i = 0; i < a->trace->n_current; i++)
		if (!a->trace->current[i].tid)
			see_silent_cpu(a, a->trace->current[i].cpu, 0, last);
	fkt_analysis_charge(a, last, false);
	/* Interrupts end there: of their time it is known whom they interrupted. */
	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		if (cpu->thread != a->unknown)
			pay(a, cpu, cpu->stack, cpu->thread);
		pop_all(a, cpu, cpu->thread, &cpu->irq, last);
		leave_cpu(a, cpu);
		cpu->stack = &cpu->thread->stack;
	}
	/* Nothing was taken out of these; and what ends there lasts to the trace's end. */
	a->reduced = false;
	a->behind = true;
	for (unsigned int i = 0; i < FKT_LOOK_AHEAD; i++) {
		if (!(i % END_STEP) && fkt_analysis_is_settled(a))
			break;
		if (!fkt_next_after_end(&text, &event, words) || event.code == FKT_CODE_FOLDED)
			break;
		event.stamp = last;
		if (fkt_analysis_event(a, &event))
			break;
	}
	end_all_at_stop(a);
	tell_all_parts(a);
	free(copy);
}

int fkt_analysis_end(struct fkt_analysis *a, uint64_t last)
{
	struct thread *thread;
	const char *paused;
	uint64_t at;
	struct cpu *cpu;
	int err;

	if (!a->begun)
		begin(a, last);
	if (!a->unknown)
		return -ENOMEM;
	/* The recording ended a little after its last event. */
	if (a->on)
		last = fkt_recording_end(a->trace, last);
	else if (a->off_since > last)
		last = a->off_since; /* --to is between the two */
	/* Recording was off when an extracted trace ended, which came out behind that. */
	paused = fkt_info(a->trace, "paused_cycles");
	if (paused && fkt_parse_u64(paused, &at) && at < last)
		stop_all(a, at);
	see_silent_cpus(a, last);
	decide_at_end(a, last);
	charge_all(a, last);
	end_all_at_stop(a);
	if (a->on)
		add_lit(a, last);
	tell_all_parts(a);
	a->duration = on_time(a, last);
	a->cpus = a->n_seen;
	for (uint32_t i = 0; i < a->n_seen; i++) {
		cpu = &a->cpu[a->seen[i]];
		pay(a, cpu, cpu->blind ? &a->unknown->stack : cpu->stack, cpu->thread);
		pop_all(a, cpu, cpu->thread, &cpu->irq, last);
		leave_cpu(a, cpu);
	}
	for_each_thread(a, thread) end_thread(a, thread, last);
	add_beginning(a);
	err = end_silent_cpus(a);
	for_each_thread(a, thread) give_up_base(a, thread);
	return err ?: a->failed ? -ENOMEM : 0;
}

/* ---- answers ---- */

bool fkt_analysis_knows_cpus(const struct fkt_analysis *a)
{
	const struct fkt_file_header *header = fkt_header(a->trace);
	const struct fkt_lane_totals *totals;
	const char *info = fkt_info(a->trace, "cpus");
	uint32_t lanes = header->lanes;
	uint64_t cpus;

	if (header->shared)
		return !info || !fkt_parse_u64(info, &cpus) || a->n_seen >= cpus;
	for (size_t i = 0; (totals = fkt_lane_totals(a->trace, i)); i++)
		lanes -= lanes && !totals->events;
	return a->n_seen >= lanes;
}

static bool is_settled(const struct fkt_analysis *a, const struct thread *thread)
{
	/* Of its sleep some was charged. */
	if (is_undecided(thread) && thread->since < a->on_before && thread->stops == a->stops)
		return false;
	return thread->base_known ||
	       (!thread->pending &&
		(thread->stack.depth || thread->stack.clock == thread->stack.base));
}

/* Whether it is still to come out whose some time is. */
static bool owes(const struct fkt_analysis *a)
{
	for (uint32_t i = 0; i < a->n_seen; i++)
		if (a->cpu[a->seen[i]].owed)
			return true;
	return false;
}

bool fkt_analysis_is_settled(struct fkt_analysis *a)
{
	const struct thread *thread;

	if (!fkt_analysis_knows_cpus(a) || owes(a))
		return false;
	/* Once one is, it stays so while no time is charged. */
	for (thread = next_thread(a, a->unsettled); thread;
	     thread = next_thread(a, thread->id + 1)) {
		a->unsettled = thread->id;
		if (!is_settled(a, thread))
			return false;
	}
	return true;
}

uint32_t fkt_analysis_current(const struct fkt_analysis *a, uint16_t cpu)
{
	return a->cpu[cpu].thread ? a->cpu[cpu].thread->id : 0;
}

uint64_t fkt_analysis_duration(const struct fkt_analysis *a)
{
	return a->duration;
}

uint64_t fkt_analysis_left_out(const struct fkt_analysis *a)
{
	return a->left_out;
}

bool fkt_analysis_has_cpu(const struct fkt_analysis *a, uint16_t cpu)
{
	return a->cpu[cpu].seen;
}

uint32_t fkt_analysis_cpus(const struct fkt_analysis *a)
{
	return a->cpus;
}

uint32_t fkt_analysis_cpu_end(const struct fkt_analysis *a)
{
	return a->cpu_end;
}

const struct fkt_row_sums *fkt_analysis_row(const struct fkt_analysis *a, uint32_t row)
{
	static const struct fkt_row_sums none;

	return a->rows[row / FKT_PART] ? &a->row[row] : &none;
}

uint64_t fkt_analysis_counted(const struct fkt_analysis *a, uint32_t row, unsigned int number)
{
	return number < a->counters && a->rows[row / FKT_PART]
		       ? a->counted[(size_t)row * a->counters + number]
		       : 0;
}

uint64_t fkt_analysis_code_count(const struct fkt_analysis *a, uint32_t code)
{
	return a->codes[code / FKT_PART] ? a->code[code].count : 0;
}

bool fkt_analysis_has_syscalls(const struct fkt_analysis *a)
{
	return a->syscalls;
}

uint64_t fkt_analysis_on_cpu(const struct fkt_analysis *a, uint32_t id, uint16_t cpu)
{
	return a->pairs && id ? find_pair(a, a->pair, a->pair_room, id, cpu)->cycles : 0;
}

static int compare_on_cpu(const void *a, const void *b)
{
	const struct fkt_on_cpu *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

struct fkt_on_cpu *fkt_analysis_on_cpus(const struct fkt_analysis *a, size_t *count)
{
	struct fkt_on_cpu *all = malloc(((size_t)a->pairs + a->cpu_end + 1) * sizeof(*all));
	uint64_t *unknown = calloc(CPUS, sizeof(*unknown));

	*count = 0;
	if (!all || !unknown) {
		free(all);
		free(unknown);
		return NULL;
	}
	for (uint32_t i = 0; i < a->cpu_end; i++)
		if (a->cpu[i].seen && a->duration > a->cpu[i].dark)
			unknown[i] = a->duration - a->cpu[i].dark;
	for (uint32_t i = 0; i < a->pair_room; i++) {
		if (!a->pair[i].id)
			continue;
		all[(*count)++] = (struct fkt_on_cpu){
			.id = a->pair[i].id,
			.cpu = (uint16_t)a->pair[i].cpu,
			.cycles = a->pair[i].cycles,
		};
		unknown[a->pair[i].cpu] -= a->pair[i].cycles < unknown[a->pair[i].cpu]
						   ? a->pair[i].cycles
						   : unknown[a->pair[i].cpu];
	}
	for (uint32_t i = 0; i < a->cpu_end && !a->pairs_full; i++)
		if (unknown[i])
			all[(*count)++] = (struct fkt_on_cpu){ 0, (uint16_t)i, unknown[i] };
	free(unknown);
	qsort(all, *count, sizeof(*all), compare_on_cpu);
	return all;
}

static int compare_threads(const void *a, const void *b)
{
	const struct fkt_thread_sums *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool sum_thread(const struct thread *thread, struct fkt_thread_sums *sums)
{
	uint64_t any = thread->waiting;

	*sums = (struct fkt_thread_sums){
		.id = thread->id,
		.cycles = thread->stack.clock + thread->interrupts,
		.user = thread->user,
		.program = thread->program,
		.kernel = thread->stack.clock - thread->user - thread->program - thread->before -
			  thread->not_recorded - thread->not_traced,
		.before = thread->before,
		.interrupts = thread->interrupts,
		.waiting = thread->waiting,
		.switches = thread->switches,
		.left_out = thread->not_recorded,
		.untraced = thread->not_traced,
	};
	if (thread->row == FKT_ROW_UNKNOWN)
		sums->kernel = 0;
	for (unsigned int i = 0; i < FKT_SLEEPS; i++) {
		sums->sleeping[i] = thread->sleeping[i];
		any |= thread->sleeping[i];
	}
	return sums->cycles || any || sums->switches;
}

struct fkt_thread_sums *fkt_analysis_threads(struct fkt_analysis *a, size_t *count)
{
	struct fkt_thread_sums *rows = NULL, *larger;
	size_t room = 0;

	*count = 0;
	for (uint32_t i = 0; i < CHUNKS; i++) {
		if (!a->chunk[i])
			continue;
		if (room - *count < CHUNK_THREADS) {
			room = room * 2 + CHUNK_THREADS;
			larger = realloc(rows, room * sizeof(*rows));
			if (!larger) {
				free(rows);
				return NULL;
			}
			rows = larger;
		}
		for (uint32_t j = 0; j < CHUNK_THREADS; j++)
			if (a->chunk[i][j].row && sum_thread(&a->chunk[i][j], &rows[*count]))
				++*count;
	}
	if (!rows)
		return malloc(sizeof(*rows));
	qsort(rows, *count, sizeof(*rows), compare_threads);
	return rows;
}

void fkt_analysis_reach(struct fkt_analysis *a, uint32_t id, uint64_t stamp)
{
	struct thread *chunk = a->chunk[id / CHUNK_THREADS];
	struct thread *thread = chunk ? &chunk[id % CHUNK_THREADS] : NULL;
	struct cpu *cpu = thread ? &a->cpu[thread->cpu] : NULL;

	/* One that was there when an extracted trace began, and had no event yet. */
	if (cpu && !cpu->seen && a->begun && thread->state == THREAD_RUNNING &&
	    a->current[thread->cpu] && a->current[thread->cpu] != FKT_PID_UNKNOWN &&
	    find_thread(a, a->current[thread->cpu], thread->cpu) == thread)
		see_silent_cpu(a, thread->cpu, a->current[thread->cpu], stamp);
	if (cpu && cpu->seen && !cpu->blind && !cpu->owed && cpu->thread == thread &&
	    thread != a->unknown && thread->state == THREAD_RUNNING && stamp > cpu->last)
		charge(a, cpu, stamp);
}

struct fkt_outside fkt_analysis_outside(struct fkt_analysis *a, uint32_t id)
{
	struct thread *chunk = a->chunk[id / CHUNK_THREADS];
	struct thread *thread = chunk ? &chunk[id % CHUNK_THREADS] : NULL;
	struct fkt_outside outside = { .row = FKT_ROW_NONE };
	uint64_t cycles;

	if (!thread || !thread->row)
		return outside;
	outside.user = thread->user;
	outside.kernel = thread->kernel;
	outside.before = thread->before;
	outside.left_out = thread->not_recorded;
	outside.untraced = thread->not_traced;
	outside.pending = thread->pending;
	/* Since its last call. */
	cycles = thread->stack.depth ? 0 : thread->stack.clock - thread->stack.base;
	if (!thread->base_known)
		outside.pending += cycles;
	else if (thread->row == FKT_ROW_USER)
		outside.user += cycles;
	else if (thread->row == FKT_ROW_LEFT_OUT)
		outside.left_out += cycles;
	else
		outside.kernel += cycles;
	if (thread->came_out)
		outside.row = thread->came_out - 1;
	thread->came_out = 0;
	return outside;
}

uint64_t fkt_analysis_open_own(const struct fkt_analysis *a, uint32_t id, uint32_t depth)
{
	const struct thread *chunk = a->chunk[id / CHUNK_THREADS];
	const struct stack *stack = chunk ? &chunk[id % CHUNK_THREADS].stack : NULL;
	const struct frame *frame;

	if (!stack || depth >= stack->depth)
		return 0;
	frame = &stack->frame[depth];
	/* From where it called another one on, the time is that one's. */
	return (depth + 1 < stack->depth ? frame[1].clock : stack->clock) - frame->clock -
	       frame->child;
}

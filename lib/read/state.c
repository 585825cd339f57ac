// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How things stand at some moment of a trace: which thread is current on each CPU, which calls have
 * been entered and not left, and what the threads are called. It is what a part of a trace has to
 * be told of what came before; in an extracted trace it is FKT_SECTION_STATE.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "internal.h"
#include "state.h"

#define THREADS_MAX (1u << 20)
#define THREAD_BITS 10u /* room for so many, at first */
#define NO_THREAD   UINT32_MAX
/* More open calls than this are not kept, nor believed of a trace. */
#define CALLS_MAX   (1u << 20)
#define CPUS	    (UINT16_MAX + 1)

struct call_stack {
	struct fkt_state_call *call;
	uint32_t depth;
	uint32_t room;
	uint64_t gaps; /* there were so many when it was last looked at: see calls_of() */
};

enum whereabouts {
	UNKNOWN,
	ON_CPU,
	OFF_CPU, /* @wait tells since when and why */
};

struct thread {
	uint32_t tid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t next; /* in the same bucket */
	bool gone;
	bool ended;	   /* by its last switch; who has its pid now is another one */
	bool anew;	   /* it has got its pid, by a fork or an exec, since the state was made */
	uint32_t remasked; /* see fkt_state_remasked() */
	bool waker;	   /* of one that waits */
	bool named;	   /* with one that waits, also when it has ended */
	char comm[FKT_COMM_BYTES + 1];
	uint8_t where; /* enum whereabouts, see where_is() */
	uint8_t base;  /* enum fkt_base, see base_of() */
	uint16_t cpu;  /* where it was last */
	uint32_t made; /* of FKT_BASE_SLEPT: struct fkt_open_base */
	uint64_t base_gaps;
	uint64_t stops;	    /* fkt_state.stops, when it left its CPU: see where_is() */
	uint64_t left_gaps; /* fkt_state.gaps, likewise */
	struct fkt_open_wait wait;
	struct fkt_state_wake wake; /* by an event: its code is not 0 */
	struct call_stack stack;
};

/* What a code does to a stack; looked up once for each code. */
struct effect {
	uint8_t known;
	uint8_t kind;	/* enum fkt_kind */
	bool everyones; /* it is recorded of threads that are left out, too */
	bool system;	/* of the layer of system calls and interrupts */
	bool user;	/* a function of a program, which is around all calls of the kernel */
	bool task;	/* a softirq that a thread runs: fkt_is_preempt_rt() */
	uint32_t keys;	/* its layers; 0: not known */
	uint32_t entry; /* the code that this exit ends */
};

struct fkt_state {
	const struct fkt_trace *trace;
	struct thread *thread; /* in the order in which they were first heard of */
	uint32_t threads;
	uint32_t bits;	  /* there is room for 1 << bits threads, and there are as many buckets */
	uint32_t seed;	  /* odd: so that no trace can be made to fill one bucket */
	uint32_t *bucket; /* a thread each, or NO_THREAD */
	uint64_t gaps;
	uint64_t stops; /* how often all CPUs stopped recording */
	uint32_t calls;
	bool failed;
	struct call_stack *entered; /* by the last event */
	bool ended_kept;	    /* it ended a call that is kept */
	uint32_t ended;		    /* which one of its stack its exit is of; FKT_NO_CALL: none */
	bool filtered;		    /* the recording left out some threads */
	bool stopped;		    /* all CPUs had stopped recording, or may have */
	bool untraced;		    /* system calls are not recorded now */
	bool masked;		    /* a layer was turned off, and may be off now */
	uint32_t mask;		    /* the active one; 0: not told */
	bool told_base;		    /* it told what a thread is at outside of all calls */
	bool told_sleep;	    /* it told that a thread sleeps or execs in one not known */
	uint32_t taken_from;	    /* it told that this thread goes on as another one; or 0 */
	uint32_t taken_by;	    /* that one */
	struct effect *effect;
	struct call_stack irq[CPUS];
	struct call_stack idle[CPUS]; /* of the CPU's idle task */
	uint32_t current[CPUS];
	bool blind[CPUS]; /* what happens there is not known until its next event */
	bool seen[CPUS];
	bool had_event[CPUS];	   /* since something was missing: its interrupts are known */
	bool met[CPUS];		   /* its first event, behind this moment, was looked at */
	bool untold[CPUS];	   /* it has events, but none tells who was current */
	uint8_t verdict[CPUS];	   /* enum fkt_verdict */
	uint32_t verdict_on[CPUS]; /* whom it named, if that one was not there */
	uint32_t n_seen;
	bool is_awake[CPUS]; /* it is in the list: all are that are seen and not blind */
	uint32_t awake[CPUS];
	uint32_t n_awake;
};

static uint32_t *bucket_of(const struct fkt_state *state, uint32_t tid)
{
	return &state->bucket[(tid * state->seed) >> (32 - state->bits)];
}

static bool grow(struct fkt_state *state, uint32_t bits)
{
	struct thread *thread = realloc(state->thread, sizeof(*thread) << bits);
	uint32_t *bucket;

	if (thread)
		state->thread = thread;
	bucket = thread ? realloc(state->bucket, sizeof(*bucket) << bits) : NULL;
	if (!bucket) {
		state->failed = true;
		return false;
	}
	state->bucket = bucket;
	state->bits = bits;
	memset(bucket, 0xff, sizeof(*bucket) << bits);
	for (uint32_t i = 0; i < state->threads; i++) {
		bucket = bucket_of(state, thread[i].tid);
		thread[i].next = *bucket;
		*bucket = i;
	}
	return true;
}

/*
 * The thread that has a pid now; NULL when there are too many. Other threads stay where they are
 * unless this one is new.
 */
static struct thread *find(struct fkt_state *state, uint32_t tid)
{
	struct thread *thread;
	uint32_t *bucket;

	for (uint32_t i = *bucket_of(state, tid); i != NO_THREAD; i = state->thread[i].next)
		if (state->thread[i].tid == tid)
			return &state->thread[i];
	if (state->threads >= THREADS_MAX ||
	    (state->threads == 1u << state->bits && !grow(state, state->bits + 1)))
		return NULL;
	bucket = bucket_of(state, tid);
	thread = &state->thread[state->threads];
	*thread = (struct thread){
		.tid = tid,
		.tgid = tid,
		.next = *bucket,
		.comm = "?",
		.base = FKT_BASE_UNKNOWN,
		.made = FKT_NO_CODE,
	};
	*bucket = state->threads++;
	return thread;
}

static void set_comm(struct thread *thread, const char *comm, size_t bytes)
{
	bytes = strnlen(comm, bytes < FKT_COMM_BYTES ? bytes : FKT_COMM_BYTES);
	memcpy(thread->comm, comm, bytes);
	thread->comm[bytes] = '\0';
	fkt_sanitize(thread->comm);
}

/* How many calls are open: none of those from before a gap. */
static uint32_t calls_of(const struct fkt_state *state, const struct call_stack *stack)
{
	return stack->gaps == state->gaps ? stack->depth : 0;
}

/*
 * Of what was known before a gap, nothing is; but who was left out, or was not traced, is so until
 * he runs again.
 */
static enum fkt_base base_of(const struct fkt_state *state, const struct thread *thread)
{
	if (thread->base == FKT_BASE_LEFT_OUT || thread->base == FKT_BASE_UNTRACED)
		return (enum fkt_base)thread->base;
	return thread->base_gaps == state->gaps ? thread->base : FKT_BASE_UNKNOWN;
}

static void set_base(const struct fkt_state *state, struct thread *thread, enum fkt_base base)
{
	thread->base = (uint8_t)base;
	thread->made = FKT_NO_CODE;
	thread->base_gaps = state->gaps;
}

/* End all calls but the outermost ones. */
static void cut(struct fkt_state *state, struct call_stack *stack, uint32_t depth)
{
	for (uint32_t i = depth; i < calls_of(state, stack); i++) {
		state->ended_kept |= stack->call[i].kept;
		state->calls--;
	}
	stack->depth = depth;
	/* And those that have ended, when nothing is open in them any more. */
	while (depth && depth <= calls_of(state, stack) && stack->call[depth - 1].ends) {
		depth--;
		state->ended_kept |= stack->call[depth].kept;
		state->calls--;
		stack->depth = depth;
	}
}

static void empty(struct fkt_state *state, struct call_stack *stack)
{
	cut(state, stack, 0);
}

static const struct effect *effect_of(struct fkt_state *state, uint32_t code);

/* End all calls in the kernel; those around them are functions of the program. */
static void empty_kernel(struct fkt_state *state, struct call_stack *stack)
{
	uint32_t depth = calls_of(state, stack);

	while (depth && !effect_of(state, stack->call[depth - 1].code)->user)
		depth--;
	cut(state, stack, depth);
}

static void push(struct fkt_state *state, struct call_stack *stack, uint32_t code, uint16_t imm,
		 uint64_t stamp)
{
	struct fkt_state_call *call;

	stack->depth = calls_of(state, stack);
	stack->gaps = state->gaps;
	if (stack->depth == stack->room) {
		uint32_t room = stack->room ? stack->room * 2 : 4;

		if (stack->depth >= FKT_CALL_DEPTH_MAX || state->calls >= CALLS_MAX)
			return;
		call = realloc(stack->call, room * sizeof(*call));
		if (!call) {
			state->failed = true;
			return;
		}
		stack->call = call;
		stack->room = room;
	}
	stack->call[stack->depth++] = (struct fkt_state_call){
		.code = code,
		.imm = imm,
		.kept = FKT_NOT_KEPT,
		.stamp = stamp,
	};
	state->calls++;
	state->entered = stack;
}

/*
 * An exit ends the latest call of its code, and those that were entered since then with it; of
 * functions of programs, and of softirqs of threads, the one whose @imm is the same. No exit in
 * the kernel ends one of the former.
 */
static void pop(struct fkt_state *state, struct call_stack *stack, uint32_t code, uint16_t imm)
{
	const bool user = effect_of(state, code)->user;
	const bool told = user || effect_of(state, code)->task;

	for (uint32_t depth = calls_of(state, stack); depth; depth--) {
		const struct fkt_state_call *call = &stack->call[depth - 1];

		if (!user && effect_of(state, call->code)->user)
			return;
		if (call->ends || call->code != code || (told && call->imm != imm))
			continue;
		state->ended = depth - 1;
		cut(state, stack, depth - 1);
		break;
	}
}

static const struct effect *effect_of(struct fkt_state *state, uint32_t code)
{
	struct effect *effect = &state->effect[code];
	const struct fkt_code_row *row;

	if (likely(effect->known))
		return effect;
	row = fkt_code_row(state->trace, code);
	effect->known = true;
	effect->kind = row ? (uint8_t)row->kind : FKT_KIND_POINT;
	effect->entry = row ? row->pair + (code - row->first) : 0;
	effect->everyones = row && fkt_is_everyones(row);
	effect->system = row && !strcmp(row->layer, "system");
	effect->user = row && fkt_is_user(row);
	effect->keys = row ? fkt_code_keys(row) : 0;
	if (fkt_is_uretprobe(state->trace, code))
		effect->kind = FKT_KIND_POINT;
	if ((code == FKT_CODE_SOFTIRQ_ENTRY || code == FKT_CODE_SOFTIRQ_EXIT) &&
	    fkt_is_preempt_rt(state->trace)) {
		effect->task = true;
		effect->kind = code == FKT_CODE_SOFTIRQ_ENTRY ? FKT_KIND_ENTRY : FKT_KIND_EXIT;
	}
	return effect;
}

/*
 * The outermost call in the kernel, of a stack that is not empty; in a program, its innermost
 * function.
 */
static struct fkt_state_call *outermost(struct fkt_state *state, const struct call_stack *stack)
{
	const uint32_t depth = calls_of(state, stack);
	uint32_t i = 0;

	while (i + 1 < depth && effect_of(state, stack->call[i].code)->user)
		i++;
	return &stack->call[i];
}

/* ---- recordings that left out some threads ---- */

/* The ancestor of all kernel threads, which make no system calls. */
#define KTHREADD 2

static bool is_kernel(const struct thread *thread)
{
	return !thread->tid || thread->tid == KTHREADD || thread->ppid == KTHREADD;
}

/* Of a thread on a CPU, system calls are recorded as the active mask says. */
static void follow_mask(const struct fkt_state *state, struct thread *thread)
{
	if (likely(state->untraced == (thread->base == FKT_BASE_UNTRACED)) ||
	    thread->base == FKT_BASE_LEFT_OUT || is_kernel(thread))
		return;
	thread->remasked++;
	set_base(state, thread, state->untraced ? FKT_BASE_UNTRACED : FKT_BASE_UNKNOWN);
}

/* What the thread does from now on is not recorded. Of the kernel's own it is known. */
static void leave_out(struct fkt_state *state, struct thread *thread)
{
	if (is_kernel(thread))
		return;
	empty(state, &thread->stack);
	set_base(state, thread, FKT_BASE_LEFT_OUT);
}

/* It is recorded again; where it is now, is not known. */
static void take_in(struct fkt_state *state, struct thread *thread)
{
	if (thread->base != FKT_BASE_LEFT_OUT)
		return;
	set_base(state, thread, FKT_BASE_UNKNOWN);
	follow_mask(state, thread);
}

/* A thread that was not the leader has become it, in the midst of its call. */
static void take_over(struct fkt_state *state, uint16_t cpu, struct thread *from, struct thread *to)
{
	struct call_stack stack = to->stack;
	enum fkt_base base = base_of(state, from);
	const uint32_t made = from->made;

	if (state->verdict_on[cpu] == to->tid && state->verdict[cpu] == FKT_VERDICT_LEFT_OUT)
		base = FKT_BASE_LEFT_OUT;
	else if (state->verdict_on[cpu] == to->tid && base == FKT_BASE_LEFT_OUT)
		base = FKT_BASE_UNKNOWN;
	set_base(state, to, base);
	to->made = made;
	follow_mask(state, to);
	to->anew = true;
	empty(state, &stack);
	to->stack = from->stack;
	from->stack = stack;
	state->taken_from = from->tid;
	state->taken_by = to->tid;
}

/* The functions of a program that becomes another one are left; around the exec, when that ends. */
static void leave_program(struct fkt_state *state, struct thread *thread)
{
	struct call_stack *stack = &thread->stack;
	const uint32_t depth = calls_of(state, stack);

	for (uint32_t i = 0; i < depth && effect_of(state, stack->call[i].code)->user; i++)
		stack->call[i].ends = true;
	cut(state, stack, depth);
}

/* An exec in a call whose entry was not seen: no other call reaches back beyond it. */
static void exec_unknown(struct fkt_state *state, struct thread *thread)
{
	const enum fkt_base base = base_of(state, thread);

	if (calls_of(state, &thread->stack) || is_kernel(thread) ||
	    (base != FKT_BASE_SLEPT && base != FKT_BASE_UNKNOWN))
		return;
	state->told_sleep = true;
	set_base(state, thread, FKT_BASE_UNKNOWN);
}

/* Of an exec, @became: it had come out before that the thread has its leader's pid. */
static void process_event(struct fkt_state *state, const struct fkt_event *event, bool became)
{
	struct thread *thread, *other;
	char comm[FKT_COMM_BYTES + 1] = "?";

	if (event->words < 1 || !(thread = find(state, fkt_arg32(event, 0))))
		return;
	switch (event->code) {
	case FKT_CODE_FORK:
		if (event->words < 2)
			return;
		other = find(state, fkt_arg32(event, 8));
		if (other)
			memcpy(comm, other->comm, sizeof(comm));
		/* It has moved if that one is new. */
		thread = find(state, fkt_arg32(event, 0));
		empty(state, &thread->stack);
		set_base(state, thread, FKT_BASE_UNKNOWN);
		thread->where = UNKNOWN;
		thread->gone = false;
		thread->ended = false;
		thread->anew = true;
		thread->tgid = fkt_arg32(event, 4);
		thread->ppid = fkt_arg32(event, 12);
		memcpy(thread->comm, comm, sizeof(comm));
		break;
	case FKT_CODE_EXEC:
		if (event->words < 3)
			return;
		set_comm(thread, (const char *)event->args + 8, FKT_COMM_BYTES);
		if (fkt_arg32(event, 4) == thread->tid || became) {
			leave_program(state, thread);
			exec_unknown(state, thread);
			return;
		}
		other = find(state, fkt_arg32(event, 4));
		/* It has moved if that one is new. */
		thread = find(state, fkt_arg32(event, 0));
		if (!other)
			return;
		take_over(state, event->cpu, other, thread);
		leave_program(state, thread);
		exec_unknown(state, thread);
		break;
	case FKT_CODE_RENAME:
		if (event->words < 3)
			return;
		if (!strcmp(thread->comm, "?") &&
		    fkt_is_own_thread((const char *)event->args + 8, FKT_COMM_BYTES))
			thread->ppid = KTHREADD;
		thread->tgid = fkt_arg32(event, 4);
		set_comm(thread, (const char *)event->args + 8, FKT_COMM_BYTES);
		break;
	case FKT_CODE_RELEASE:
		thread->gone = true;
		/*
		 * Who releases himself is still there: to end by a switch, or to go on with the
		 * pid of the leader, whom he releases by the one that he had, in an exec.
		 */
		if (event->pid == thread->tid)
			break;
		empty(state, &thread->stack);
		thread->where = UNKNOWN;
		break;
	}
}

/* ---- who is on a CPU, and who waits ---- */

static void awake_cpu(struct fkt_state *state, uint16_t cpu)
{
	if (!state->is_awake[cpu])
		state->awake[state->n_awake++] = cpu;
	state->is_awake[cpu] = true;
}

/* What happens on a CPU is not known until its next event. */
static void set_blind(struct fkt_state *state, uint32_t cpu)
{
	state->blind[cpu] = true;
	state->had_event[cpu] = false;
	state->verdict[cpu] = FKT_VERDICT_UNKNOWN;
}

/*
 * A thread comes to a CPU from another one that it has not left: events are missing that say when
 * it did, and for whom.
 */
static void leave_unseen(struct fkt_state *state, const struct thread *thread)
{
	const uint16_t before = thread->cpu;

	if (state->current[before] != thread->tid)
		return;
	empty(state, &state->irq[before]);
	state->current[before] = FKT_PID_UNKNOWN;
	set_blind(state, before);
}

static bool is_off(const struct fkt_state *state, const struct effect *effect)
{
	return effect->keys && !(effect->keys & state->mask);
}

/* Calls of layers that are off end, as no exit will tell, but for those that are around others. */
static void end_off(struct fkt_state *state, struct call_stack *stack)
{
	const uint32_t depth = calls_of(state, stack);

	for (uint32_t i = 0; i < depth; i++)
		if (is_off(state, effect_of(state, stack->call[i].code)))
			stack->call[i].ends = true;
	cut(state, stack, depth);
}

/* What it was in is not known when no exit will tell; functions alone go on. */
static void follow_calls(struct fkt_state *state, struct thread *thread)
{
	const bool untraced = thread->base == FKT_BASE_UNTRACED;

	follow_mask(state, thread);
	if (unlikely(!untraced && thread->base == FKT_BASE_UNTRACED) &&
	    calls_of(state, &thread->stack) &&
	    outermost(state, &thread->stack)->code < FKT_CODE_IRQ_ENTRY)
		empty_kernel(state, &thread->stack);
	if (unlikely(state->masked))
		end_off(state, &thread->stack);
}

/* Where a thread was that had no CPU when all stopped recording is not known any more. */
static enum whereabouts where_is(const struct fkt_state *state, const struct thread *thread)
{
	if (thread->where == OFF_CPU && thread->stops != state->stops)
		return UNKNOWN;
	return (enum whereabouts)thread->where;
}

/* A thread that slept in a call, which may still go on, where events are missing since. */
static bool slept_in_call(const struct fkt_state *state, const struct thread *thread)
{
	return where_is(state, thread) == OFF_CPU && thread->wait.state && thread->wait.left &&
	       base_of(state, thread) == FKT_BASE_UNKNOWN && !calls_of(state, &thread->stack) &&
	       !is_kernel(thread);
}

static void come_to_cpu(struct fkt_state *state, uint16_t cpu, uint32_t tid)
{
	struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	if (unlikely(thread && thread->where == ON_CPU && thread->cpu != cpu))
		leave_unseen(state, thread);
	if (thread)
		thread->cpu = cpu;
	state->n_seen += !state->seen[cpu];
	state->seen[cpu] = true;
	awake_cpu(state, cpu);
	state->current[cpu] = tid;
	if (thread)
		thread->ended = false;
	if (thread)
		follow_calls(state, thread);
	if (unlikely(state->masked) && !tid)
		end_off(state, &state->idle[cpu]);
	if (!thread || thread->where == ON_CPU)
		return;
	if (unlikely(slept_in_call(state, thread)))
		set_base(state, thread, FKT_BASE_SLEPT);
	thread->where = ON_CPU;
	thread->wait = (struct fkt_open_wait){ .tid = tid, .next = FKT_PID_UNKNOWN };
	thread->wake.code = 0;
}

static void set_off_cpu(const struct fkt_state *state, struct thread *thread)
{
	thread->where = OFF_CPU;
	thread->stops = state->stops;
}

/* The thread that is current on a CPU as far as is known; NULL for none. */
static struct thread *thread_on(struct fkt_state *state, uint32_t cpu)
{
	uint32_t tid = state->current[cpu];

	return tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;
}

/*
 * Another thread is current than was thought: where that one has gone is not known. If it is the
 * leader of that one's process, it is that one, in an exec that has not told of itself yet: see
 * has_become() in sum/analysis.c.
 */
static void correct_current(struct fkt_state *state, const struct fkt_event *event, bool missed)
{
	struct thread *now = event->pid && event->pid != FKT_PID_UNKNOWN ? find(state, event->pid)
									 : NULL;
	struct thread *old = thread_on(state, event->cpu);

	/* It has moved if that one is new. */
	now = now ? find(state, event->pid) : NULL;
	if (!missed && old && now && old != now && old->tgid == now->tid &&
	    (now->ended || where_is(state, now) == UNKNOWN) && event->code != FKT_CODE_EXEC) {
		take_over(state, event->cpu, old, now);
		now->where = UNKNOWN;
	}
	if (old && old->where == ON_CPU)
		old->where = UNKNOWN;
	come_to_cpu(state, event->cpu, event->pid);
}

static void switch_threads(struct fkt_state *state, const struct fkt_event *event)
{
	struct thread *prev = event->pid && event->pid != FKT_PID_UNKNOWN ? find(state, event->pid)
									  : NULL;
	const bool none = fkt_is_no_switch(event);
	const struct call_stack *stack;
	struct thread *next;
	uint32_t depth;

	if (prev && !none) {
		set_off_cpu(state, prev);
		if (event->imm && !calls_of(state, &prev->stack) &&
		    base_of(state, prev) == FKT_BASE_UNKNOWN) {
			state->told_sleep = true;
			set_base(state, prev, FKT_BASE_SLEPT);
		}
		/* It has ended, and is in no call any more. */
		if (event->imm & FKT_TASK_GONE) {
			prev->where = UNKNOWN;
			prev->ended = true;
			empty(state, &prev->stack);
		}
		prev->wait.cpu = event->cpu;
		prev->wait.state = event->imm;
		prev->wait.left = event->stamp;
		prev->wait.woken = 0;
		prev->wait.next = fkt_arg32(event, 4);
		stack = &prev->stack;
		depth = calls_of(state, stack);
		prev->wait.outer = depth ? outermost(state, stack)->code : FKT_NO_CODE;
		prev->wait.inner = depth ? stack->call[depth - 1].code : FKT_NO_CODE;
		prev->wait.base = (uint8_t)base_of(state, prev);
		prev->wait.told_base = !depth;
		prev->left_gaps = state->gaps;
	}
	/* What interrupted it is over. */
	if (!none)
		empty(state, &state->irq[event->cpu]);
	come_to_cpu(state, event->cpu, fkt_arg32(event, 4));
	state->verdict_on[event->cpu] = 0;
	if (state->filtered && (next = thread_on(state, event->cpu))) {
		if (state->verdict[event->cpu] == FKT_VERDICT_RECORDED)
			take_in(state, next);
		else
			leave_out(state, next);
	}
}

/* On whom is on this CPU; or on whom it is about to switch to, who is looked at when he comes. */
static void decide(struct fkt_state *state, const struct fkt_event *event)
{
	struct thread *thread = thread_on(state, event->cpu);

	if (!state->filtered)
		return;
	state->verdict[event->cpu] = event->imm ? FKT_VERDICT_RECORDED : FKT_VERDICT_LEFT_OUT;
	state->verdict_on[event->cpu] = 0;
	if (!thread || fkt_arg32(event, 0) != thread->tid) {
		state->verdict_on[event->cpu] = fkt_arg32(event, 0);
		return;
	}
	if (event->imm)
		take_in(state, thread);
	else
		leave_out(state, thread);
}

/* Who is left out has no events of others' layers: where nobody has told, one of those tells. */
static void look_for_filter(struct fkt_state *state, const struct effect *effect,
			    const struct fkt_event *event, bool missed)
{
	struct thread *thread = thread_on(state, event->cpu);

	if (effect->everyones) {
		if (missed && thread)
			leave_out(state, thread);
	} else if (state->verdict[event->cpu] == FKT_VERDICT_UNKNOWN) {
		state->verdict[event->cpu] = FKT_VERDICT_RECORDED;
		if (thread)
			take_in(state, thread);
	}
}

struct fkt_state_call *fkt_state_at_work(struct fkt_state *state, const struct fkt_event *event)
{
	const struct call_stack *stack = &state->irq[event->cpu];
	const struct effect *effect;
	const struct thread *thread;

	if (!calls_of(state, stack)) {
		thread = event->pid && event->pid != FKT_PID_UNKNOWN ? find(state, event->pid)
								     : NULL;
		if (event->pid && !thread)
			return NULL;
		stack = thread ? &thread->stack : &state->idle[event->cpu];
	}
	/* Not a function that it called. */
	for (uint32_t depth = calls_of(state, stack); depth; depth--) {
		effect = effect_of(state, stack->call[depth - 1].code);
		if (effect->kind == FKT_KIND_CPU_ENTRY || effect->task)
			return &stack->call[depth - 1];
	}
	return calls_of(state, stack) ? outermost(state, stack) : NULL;
}

static void wake(struct fkt_state *state, const struct fkt_event *event)
{
	const struct fkt_state_call *at = fkt_state_at_work(state, event);
	const uint32_t tid = fkt_arg32(event, 0);
	struct thread *thread = tid ? find(state, tid) : NULL;
	const struct thread *waker;
	struct fkt_open_wait *wait;

	if (!thread)
		return;
	/* A new one is in the call by which it was made. */
	if (event->code == FKT_CODE_WAKEUP_NEW && at && at->code < FKT_CODE_IRQ_ENTRY &&
	    base_of(state, thread) == FKT_BASE_UNKNOWN) {
		set_base(state, thread, FKT_BASE_SLEPT);
		thread->made = at->code;
	}
	wait = &thread->wait;
	if (where_is(state, thread) == OFF_CPU && (wait->woken || !wait->state))
		return;
	if (where_is(state, thread) == UNKNOWN)
		*wait = (struct fkt_open_wait){
			.cpu = event->cpu,
			.left = event->code == FKT_CODE_WAKEUP_NEW ? event->stamp : 0,
			.next = FKT_PID_UNKNOWN,
			.outer = FKT_NO_CODE,
			.inner = FKT_NO_CODE,
		};
	if (thread->where == ON_CPU)
		wait->cpu = event->cpu;
	wait->waker = event->pid;
	wait->waker_cpu = event->cpu;
	/* It may be another one's when a part begins. */
	waker = thread_on(state, event->cpu);
	wait->has_base = waker;
	if (waker)
		wait->waker_base = (uint8_t)base_of(state, waker);
	wait->code = at ? at->code : FKT_NO_CODE;
	wait->imm = at ? at->imm : 0;
	thread->wake = (struct fkt_state_wake){
		.stamp = event->stamp,
		.code = event->code,
		.work_code = wait->code,
		.work_stamp = at ? at->stamp : 0,
	};
	wait->early = thread->where == ON_CPU;
	if (wait->early)
		return;
	wait->woken = event->stamp;
	set_off_cpu(state, thread);
}

/* An exit of a function: without an entry, it is in that one that the thread slept so far. */
static void leave_call(struct fkt_state *state, struct thread *thread, uint32_t entry, uint16_t imm)
{
	if (calls_of(state, &thread->stack)) {
		pop(state, &thread->stack, entry, imm);
		return;
	}
	state->told_base = base_of(state, thread) != FKT_BASE_USER;
	if (base_of(state, thread) == FKT_BASE_SLEPT)
		set_base(state, thread, FKT_BASE_UNKNOWN);
}

/*
 * A function that is open is entered again at the same place of the stack: it, and what was called
 * in it, was left without an exit, by a longjmp().
 */
static void leave_jumped(struct fkt_state *state, struct call_stack *stack,
			 const struct fkt_event *event)
{
	for (uint32_t depth = calls_of(state, stack); depth; depth--)
		if (stack->call[depth - 1].code == event->code &&
		    stack->call[depth - 1].imm == event->imm) {
			cut(state, stack, depth - 1);
			break;
		}
}

/* A program's function begins: so the thread is in user mode. */
static void enter_user(struct fkt_state *state, struct thread *thread,
		       const struct fkt_event *event)
{
	empty_kernel(state, &thread->stack);
	if (effect_of(state, event->code)->keys & FKT_KEY_USER)
		leave_jumped(state, &thread->stack, event);
	state->told_base = base_of(state, thread) != FKT_BASE_USER;
	if (thread->base != FKT_BASE_UNTRACED)
		set_base(state, thread, FKT_BASE_USER);
	push(state, &thread->stack, event->code, event->imm, event->stamp);
}

/* All CPUs have stopped recording. */
static void stop_all(struct fkt_state *state)
{
	state->stopped = true;
	state->stops++;
	fkt_state_gap(state, FKT_CPU_ANY);
}

/* From now on, on all CPUs, layers are recorded, or not. */
static void set_mask(struct fkt_state *state, uint32_t mask)
{
	const bool untraced = !(mask & FKT_KEY_SYSTEM);
	const uint32_t off = (state->mask ?: fkt_begins_with(state->trace)) & ~mask;
	struct thread *thread;

	state->mask = mask;
	state->masked = state->masked || off;
	if (state->untraced == untraced && !off)
		return;
	state->untraced = untraced;
	for (uint32_t i = 0; i < state->n_awake; i++) {
		if (untraced)
			empty(state, &state->irq[state->awake[i]]);
		else
			end_off(state, &state->irq[state->awake[i]]);
		thread = thread_on(state, state->awake[i]);
		if (thread)
			follow_calls(state, thread);
		else if (!state->current[state->awake[i]])
			end_off(state, &state->idle[state->awake[i]]);
	}
}

int fkt_state_event(struct fkt_state *state, const struct fkt_event *event)
{
	const struct effect *effect = effect_of(state, event->code);
	struct call_stack *irq = &state->irq[event->cpu];
	const bool missed = state->blind[event->cpu];
	const bool known = !missed && state->current[event->cpu] == event->pid;
	/* Which one of a code's calls it is, of those that threads make: which softirq. */
	const uint16_t imm = effect->task ? event->imm : 0;
	struct thread *thread;

	state->entered = NULL;
	state->ended_kept = false;
	state->ended = FKT_NO_CALL;
	state->told_base = false;
	state->told_sleep = false;
	state->taken_from = 0;
	/* It comes when recording is off: that somebody is on its CPU says nothing of before. */
	if (unlikely(event->code == FKT_CODE_PAUSE && event->words)) {
		stop_all(state);
		return state->failed ? -ENOMEM : 0;
	}
	state->blind[event->cpu] = false;
	state->had_event[event->cpu] = true;
	if (unlikely(missed))
		awake_cpu(state, event->cpu);
	if (unlikely(!state->seen[event->cpu] || state->current[event->cpu] != event->pid))
		correct_current(state, event, missed);
	if (unlikely(state->filtered))
		look_for_filter(state, effect, event, missed);

	switch (effect->kind) {
	case FKT_KIND_CPU_ENTRY:
		if (unlikely(state->untraced && effect->system))
			break;
		push(state, irq, event->code, event->imm, event->stamp);
		break;
	case FKT_KIND_CPU_EXIT:
		pop(state, irq, effect->entry, imm);
		break;
	case FKT_KIND_ENTRY:
		/* It came while that was being turned off: its exit will not. */
		if (unlikely(state->masked) && is_off(state, effect) &&
		    (!effect->system || effect->task))
			break;
		__attribute__((fallthrough));
	case FKT_KIND_EXIT:
		if (calls_of(state, irq) && event->code >= FKT_CODE_IRQ_ENTRY && !effect->user) {
			if (effect->kind == FKT_KIND_ENTRY)
				push(state, irq, event->code, imm, event->stamp);
			else
				pop(state, irq, effect->entry, imm);
			break;
		}
		/* No thread makes a system call in an interrupt: the end of that is missing. */
		empty(state, irq);
		if (!event->pid && event->code >= FKT_CODE_IRQ_ENTRY && !effect->user) {
			if (effect->kind == FKT_KIND_ENTRY)
				push(state, &state->idle[event->cpu], event->code, imm,
				     event->stamp);
			else
				pop(state, &state->idle[event->cpu], effect->entry, imm);
			break;
		}
		if (!event->pid || event->pid == FKT_PID_UNKNOWN ||
		    !(thread = find(state, event->pid)))
			break;
		/* System calls come from user mode, where no other call is open. */
		if (event->code < FKT_CODE_IRQ_ENTRY) {
			empty_kernel(state, &thread->stack);
			state->told_base = base_of(state, thread) != FKT_BASE_USER;
			/* It came while that was being turned off: there will be no more. */
			if (thread->base == FKT_BASE_UNTRACED)
				break;
			set_base(state, thread, FKT_BASE_USER);
		}
		if (effect->user && effect->kind == FKT_KIND_ENTRY)
			enter_user(state, thread, event);
		else if (effect->kind == FKT_KIND_ENTRY)
			push(state, &thread->stack, event->code, imm, event->stamp);
		else if (event->code >= FKT_CODE_IRQ_ENTRY)
			leave_call(state, thread, effect->entry, event->imm);
		break;
	default:
		if (event->words < 1)
			break;
		if (event->code == FKT_CODE_SWITCH)
			switch_threads(state, event);
		else if (event->code == FKT_CODE_WAKEUP || event->code == FKT_CODE_WAKEUP_NEW)
			wake(state, event);
		else if (fkt_is_stop(event))
			stop_all(state);
		else if (event->code == FKT_CODE_SETMASK)
			set_mask(state, fkt_arg32(event, 0));
		else if (event->code == FKT_CODE_FILTER)
			decide(state, event);
		else if (fkt_is_process_event(event->code))
			process_event(state, event, known);
	}
	return state->failed ? -ENOMEM : 0;
}

void fkt_state_join(struct fkt_state *state, const struct fkt_reader *reader)
{
	/* Another one may have been there before. */
	if (state->stopped)
		return;
	/* Nor does a page behind a gap say who was there before it. */
	for (uint32_t i = 0; i < CPUS; i++)
		if (state->current[i] == FKT_PID_UNKNOWN && !state->blind[i])
			state->current[i] = reader->cpu_pid[i];
}

uint32_t fkt_state_seen(const struct fkt_state *state)
{
	return state->n_seen;
}

bool fkt_state_first(struct fkt_state *state, const struct fkt_event *event, bool stopped)
{
	const uint16_t cpu = event->cpu;

	if (state->seen[cpu] || state->met[cpu])
		return false;
	state->met[cpu] = true;
	state->blind[cpu] |= state->stopped;
	state->current[cpu] = stopped || state->blind[cpu] || state->untold[cpu] ? FKT_PID_UNKNOWN
										 : event->pid;
	state->untold[cpu] = state->current[cpu] == FKT_PID_UNKNOWN;
	return true;
}

bool fkt_state_first_missing(struct fkt_state *state, uint16_t cpu)
{
	if (state->seen[cpu] || state->met[cpu] || state->untold[cpu])
		return false;
	state->current[cpu] = FKT_PID_UNKNOWN;
	state->untold[cpu] = true;
	return true;
}

uint32_t fkt_state_current(const struct fkt_state *state, uint16_t cpu)
{
	return state->current[cpu];
}

struct fkt_state_call *fkt_state_calls(struct fkt_state *state, uint32_t tid, uint32_t *depth)
{
	struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	*depth = thread ? calls_of(state, &thread->stack) : 0;
	return thread ? thread->stack.call : NULL;
}

struct fkt_state_call *fkt_state_interrupts(struct fkt_state *state, uint16_t cpu, uint32_t *depth)
{
	*depth = calls_of(state, &state->irq[cpu]);
	return state->irq[cpu].call;
}

struct fkt_state_call *fkt_state_entered(const struct fkt_state *state)
{
	const struct call_stack *stack = state->entered;

	return stack ? &stack->call[stack->depth - 1] : NULL;
}

const struct fkt_state_call *fkt_state_caller(const struct fkt_state *state)
{
	const struct call_stack *stack = state->entered;

	return stack && stack->depth > 1 ? &stack->call[stack->depth - 2] : NULL;
}

bool fkt_state_ended_kept(const struct fkt_state *state)
{
	return state->ended_kept;
}

bool fkt_state_told_base(const struct fkt_state *state)
{
	return state->told_base;
}

bool fkt_state_told_sleep(const struct fkt_state *state)
{
	return state->told_sleep;
}

bool fkt_state_took_over(const struct fkt_state *state, uint32_t *from, uint32_t *to)
{
	*from = state->taken_from;
	*to = state->taken_by;
	return state->taken_from;
}

bool fkt_state_has_gaps(const struct fkt_state *state)
{
	return state->gaps;
}

bool fkt_state_is_outside(const struct fkt_state *state, uint32_t index, uint64_t since)
{
	const struct thread *thread = &state->thread[index];

	return !is_kernel(thread) && base_of(state, thread) != FKT_BASE_USER &&
	       base_of(state, thread) != FKT_BASE_LEFT_OUT &&
	       (thread->where == ON_CPU ||
		(where_is(state, thread) == OFF_CPU && thread->wait.left > since));
}

bool fkt_state_is_untold(struct fkt_state *state, uint32_t tid)
{
	const struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	return thread && !is_kernel(thread) && base_of(state, thread) == FKT_BASE_UNKNOWN;
}

bool fkt_state_knows(struct fkt_state *state, uint32_t tid)
{
	const struct thread *thread = find(state, tid);

	return thread && base_of(state, thread) == FKT_BASE_USER;
}

bool fkt_state_is_anew(const struct fkt_state *state, uint32_t index)
{
	return state->thread[index].anew;
}

uint32_t fkt_state_remasked(struct fkt_state *state, uint32_t tid)
{
	const struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	return thread ? thread->remasked : 0;
}

uint32_t fkt_state_threads(const struct fkt_state *state)
{
	return state->threads;
}

const struct fkt_open_wait *fkt_state_wait(const struct fkt_state *state, uint32_t index,
					   uint32_t *tid)
{
	const struct thread *thread = &state->thread[index];

	*tid = thread->tid;
	return where_is(state, thread) == OFF_CPU ? &thread->wait : NULL;
}

const struct fkt_state_wake *fkt_state_wake(struct fkt_state *state, uint32_t tid)
{
	const struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	return thread && where_is(state, thread) != UNKNOWN && thread->wake.code ? &thread->wake
										 : NULL;
}

void fkt_state_set_current(struct fkt_state *state, uint16_t cpu, uint32_t tid)
{
	const struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	if (state->current[cpu] == FKT_PID_UNKNOWN && !state->blind[cpu] &&
	    (!thread || where_is(state, thread) == UNKNOWN))
		come_to_cpu(state, cpu, tid);
}

static void keep_calls(struct fkt_state *state, struct call_stack *stack)
{
	if (stack->gaps != state->gaps - 1)
		return;
	stack->gaps = state->gaps;
	state->calls += stack->depth;
}

uint32_t fkt_state_ended(const struct fkt_state *state)
{
	return state->ended;
}

/* Of a CPU that is not concerned by a gap, and who is there. */
static void keep_cpu(struct fkt_state *state, uint32_t cpu)
{
	struct thread *thread = thread_on(state, cpu);

	keep_calls(state, &state->irq[cpu]);
	if (!state->current[cpu])
		keep_calls(state, &state->idle[cpu]);
	if (!thread)
		return;
	keep_calls(state, &thread->stack);
	if (thread->base_gaps == state->gaps - 1)
		thread->base_gaps = state->gaps;
}

void fkt_state_gap(struct fkt_state *state, uint16_t cpu)
{
	uint32_t other, left = 0;

	state->gaps++;
	state->calls = 0;
	/* Also those that have had no event yet are concerned. */
	state->stopped |= state->n_seen && cpu == FKT_CPU_ANY;
	if (cpu != FKT_CPU_ANY)
		set_blind(state, cpu);
	/* The others are blind already. */
	for (uint32_t i = 0; i < state->n_awake; i++) {
		other = state->awake[i];
		if (cpu == FKT_CPU_ANY)
			set_blind(state, other);
		state->is_awake[other] = !state->blind[other];
		if (state->blind[other])
			continue;
		state->awake[left++] = other;
		keep_cpu(state, other);
	}
	state->n_awake = left;
}

static void read_initial(struct fkt_state *state)
{
	char *copy = strdup(state->trace->processes.text ?: ""), *text = copy, *line;
	uint32_t tid, tgid, ppid, threads;
	struct thread *thread;

	while (copy && (line = fkt_next_line(&text))) {
		if (!fkt_parse_u32(fkt_next_word(&line), &tid) || !tid ||
		    !fkt_parse_u32(fkt_next_word(&line), &tgid) ||
		    !fkt_parse_u32(fkt_next_word(&line), &ppid))
			continue;
		threads = state->threads;
		thread = find(state, tid);
		/* Of a thread that is there twice, the first line holds: fkt_processes_new() */
		if (!thread || state->threads == threads)
			continue;
		thread->tgid = tgid;
		thread->ppid = ppid;
		set_comm(thread, line, strlen(line));
	}
	free(copy);
}

static void push_open(struct fkt_state *state, struct call_stack *stack,
		      const struct fkt_open_call *call)
{
	push(state, stack, call->code, call->imm, call->stamp);
	if (state->entered)
		stack->call[stack->depth - 1].ends = call->ends;
	state->entered = NULL;
}

/* An interrupt, or a call in one; a thread's softirq is neither, for which it was taken once. */
static void push_interrupt(struct fkt_state *state, struct call_stack *irq,
			   const struct fkt_open_call *call)
{
	if (calls_of(state, irq) || effect_of(state, call->code)->kind != FKT_KIND_ENTRY)
		push_open(state, irq, call);
}

struct fkt_state *fkt_state_new(const struct fkt_trace *trace)
{
	struct fkt_state *state = calloc(1, sizeof(*state));
	const struct fkt_open_call *call;
	const struct fkt_open_base *base;
	const struct fkt_open_wait *wait;
	struct thread *thread;

	if (!state)
		return NULL;
	state->trace = trace;
	state->filtered = fkt_info(trace, "filter");
	state->mask = trace->mask;
	state->masked = state->mask;
	state->untraced = fkt_begins_untraced(trace);
	memset(state->current, 0xff, sizeof(state->current));
	state->effect = calloc(FKT_SLOT_CODES, sizeof(*state->effect));
	if (getrandom(&state->seed, sizeof(state->seed), 0) < 0)
		state->seed = (uint32_t)(uintptr_t)state;
	state->seed |= 1;
	if (!state->effect || !grow(state, THREAD_BITS)) {
		fkt_state_free(state);
		return NULL;
	}
	read_initial(state);
	for (size_t i = 0; i < trace->n_current; i++) {
		come_to_cpu(state, trace->current[i].cpu, trace->current[i].tid);
		state->blind[trace->current[i].cpu] = trace->current[i].blind;
		state->verdict[trace->current[i].cpu] = trace->current[i].verdict;
		state->had_event[trace->current[i].cpu] = trace->current[i].seen;
	}
	for (size_t i = 0; (call = fkt_open_call(trace, i)); i++) {
		/* Of one without its number the end will tell. */
		if (call->interrupt && call->numbered)
			push_interrupt(state, &state->irq[call->cpu], call);
		else if (call->idle)
			push_open(state, &state->idle[call->cpu], call);
		else if (!call->interrupt && (thread = find(state, call->tid)))
			push_open(state, &thread->stack, call);
	}
	for (size_t i = 0; (wait = fkt_open_wait(trace, i)); i++) {
		thread = find(state, wait->tid);
		if (!thread || (thread->where == ON_CPU) != wait->running)
			continue;
		if (!wait->running)
			set_off_cpu(state, thread);
		thread->wait = *wait;
		/* So it is told again. */
		if (wait->told_base || wait->outer != FKT_NO_CODE)
			thread->left_gaps = UINT64_MAX;
	}
	for (size_t i = 0; (base = fkt_open_base(trace, i)); i++)
		if ((thread = find(state, base->tid))) {
			set_base(state, thread, (enum fkt_base)base->base);
			thread->made = base->made;
		}
	return state;
}

void fkt_state_free(struct fkt_state *state)
{
	if (!state)
		return;
	for (uint32_t i = 0; i < state->threads; i++)
		free(state->thread[i].stack.call);
	for (uint32_t i = 0; i < CPUS; i++)
		free(state->irq[i].call);
	for (uint32_t i = 0; i < CPUS; i++)
		free(state->idle[i].call);
	free(state->thread);
	free(state->bucket);
	free(state->effect);
	free(state);
}

bool fkt_state_thread(struct fkt_state *state, uint32_t tid, uint32_t *tgid, const char **comm)
{
	struct thread *thread = tid == FKT_PID_UNKNOWN ? NULL : find(state, tid);

	if (!thread)
		return false;
	*tgid = thread->tgid;
	*comm = tid ? thread->comm : "idle";
	return true;
}

static struct thread *find_named(struct fkt_state *state, uint32_t tid)
{
	struct thread *thread = tid && tid != FKT_PID_UNKNOWN ? find(state, tid) : NULL;

	if (thread)
		thread->named = true;
	return thread;
}

/*
 * Who has woken a thread, and who came to its CPU when it left, is named with its wait, also when
 * it has ended since.
 */
static void mark_named(struct fkt_state *state)
{
	const uint32_t threads = state->threads;
	struct fkt_open_wait wait;
	enum whereabouts where;
	struct thread *waker;

	for (uint32_t i = 0; i < threads; i++) {
		wait = state->thread[i].wait;
		where = where_is(state, &state->thread[i]);
		if (where == OFF_CPU)
			find_named(state, wait.next);
		if (where == UNKNOWN || (!wait.woken && !wait.early))
			continue;
		waker = find_named(state, wait.waker);
		if (waker)
			waker->waker = true;
	}
}

char *fkt_state_processes(struct fkt_state *state, size_t *bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);
	const struct thread *thread;

	if (!out)
		return NULL;
	mark_named(state);
	for (uint32_t i = 0; i < state->threads; i++) {
		thread = &state->thread[i];
		/* Of one without a name it may be known whose it is. */
		if ((!thread->gone || thread->named || thread->where == ON_CPU) && thread->tid &&
		    (strcmp(thread->comm, "?") || thread->tgid != thread->tid || thread->ppid))
			fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %s\n", thread->tid,
				thread->tgid, thread->ppid, thread->comm);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void print_waker(FILE *out, const struct fkt_open_wait *wait)
{
	fprintf(out, " %" PRIu32, wait->waker);
	if (wait->code != FKT_NO_CODE)
		fprintf(out, " %" PRIu32 " %u", wait->code, wait->imm);
	else if (wait->has_base)
		fprintf(out, " base %u", wait->waker_base);
}

/* What it was in when it left, if that is not known of it any more. */
static void print_left(FILE *out, const struct fkt_open_wait *wait)
{
	if (wait->outer != FKT_NO_CODE)
		fprintf(out, " in %" PRIu32, wait->outer);
	if (wait->inner != wait->outer)
		fprintf(out, " inner %" PRIu32, wait->inner);
	if (wait->told_base)
		fprintf(out, " at %u", wait->base);
}

static void print_wait(FILE *out, const struct fkt_state *state, const struct thread *thread)
{
	const struct fkt_open_wait *wait = &thread->wait;
	const uint32_t tid = thread->tid;

	fprintf(out, "wait %" PRIu32 " %u %u %" PRIu64 " %" PRIu64, tid, wait->cpu, wait->state,
		wait->left, wait->woken);
	if (wait->woken || wait->early) {
		print_waker(out, wait);
		fprintf(out, " on %u", wait->waker_cpu);
	}
	if (wait->next != FKT_PID_UNKNOWN)
		fprintf(out, " next %" PRIu32, wait->next);
	if (thread->left_gaps != state->gaps)
		print_left(out, wait);
	fputc('\n', out);
}

/* The calls of a stack that are told. */
static bool is_told(const struct call_stack *stack, uint32_t i, bool picked)
{
	return !picked || stack->call[i].kept;
}

/* Of others than those that are wanted it is told of wakers, who woke in what they were at. */
static bool tells_base(struct fkt_state *state, uint32_t index, fkt_state_wants_fn *wants,
		       void *arg)
{
	const struct thread *thread = &state->thread[index];
	const enum fkt_base base = base_of(state, thread);

	if (base == FKT_BASE_UNKNOWN)
		return false;
	if (thread->waker && base != FKT_BASE_USER)
		return true;
	return !thread->gone && (!wants || wants(arg, state, thread->tid));
}

static void print_base(FILE *out, const struct fkt_state *state, const struct thread *thread)
{
	const enum fkt_base base = base_of(state, thread);

	fprintf(out, "base %" PRIu32 " %u", thread->tid, base);
	if (base == FKT_BASE_SLEPT && thread->made != FKT_NO_CODE)
		fprintf(out, " %" PRIu32, thread->made);
	fputc('\n', out);
}

/* @number is that of a thread or of a CPU. */
static void print_call(FILE *out, struct fkt_state *state, const char *word, uint32_t number,
		       const struct fkt_state_call *call)
{
	const struct effect *effect = effect_of(state, call->code);

	fprintf(out, "%s %" PRIu32 " %" PRIu32 " %" PRIu64, word, number, call->code, call->stamp);
	if (*word == 'i' || effect->user || effect->task)
		fprintf(out, " %u", call->imm);
	fputs(call->ends ? " ends\n" : "\n", out);
}

char *fkt_state_text(struct fkt_state *state, bool picked, fkt_state_wants_fn *wants, void *arg,
		     size_t *bytes)
{
	static const char *const verdicts[] = {
		[FKT_VERDICT_UNKNOWN] = "",
		[FKT_VERDICT_LEFT_OUT] = " left_out",
		[FKT_VERDICT_RECORDED] = " recorded",
	};
	const struct call_stack *stack;
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);
	uint32_t tid;

	if (!out)
		return NULL;
	mark_named(state);
	if (state->mask)
		fprintf(out, "mask %" PRIu32 "\n", state->mask);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		tid = state->current[cpu];
		if (tid != FKT_PID_UNKNOWN || state->blind[cpu] || state->verdict[cpu] ||
		    state->untold[cpu])
			fprintf(out, "cpu %" PRIu32 " %" PRIu32 "%s%s%s\n", cpu, tid,
				state->blind[cpu] ? " blind" : "", verdicts[state->verdict[cpu]],
				state->had_event[cpu] ? " seen" : "");
		stack = &state->irq[cpu];
		for (uint32_t i = 0; i < calls_of(state, stack); i++)
			if (is_told(stack, i, picked))
				print_call(out, state, "interrupt", cpu, &stack->call[i]);
		stack = &state->idle[cpu];
		for (uint32_t i = 0; i < calls_of(state, stack); i++)
			if (is_told(stack, i, picked))
				print_call(out, state, "idle", cpu, &stack->call[i]);
	}
	for (uint32_t i = 0; i < state->threads; i++) {
		stack = &state->thread[i].stack;
		for (uint32_t j = 0; j < calls_of(state, stack); j++)
			if (is_told(stack, j, picked))
				print_call(out, state, "call", state->thread[i].tid,
					   &stack->call[j]);
		if (where_is(state, &state->thread[i]) == OFF_CPU)
			print_wait(out, state, &state->thread[i]);
		if (state->thread[i].where == ON_CPU && state->thread[i].wait.early) {
			fprintf(out, "woken %" PRIu32 " %u", state->thread[i].tid,
				state->thread[i].wait.cpu);
			print_waker(out, &state->thread[i].wait);
			fputc('\n', out);
		}
		if (tells_base(state, i, wants, arg))
			print_base(out, state, &state->thread[i]);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- what an extracted trace says ---- */

/* "[IMM] [ends]", at the end of a call's line. */
static bool parse_number(struct fkt_open_call *call, char *line)
{
	const char *word = fkt_next_word(&line);
	uint32_t imm;

	if (word && strcmp(word, "ends")) {
		if (!fkt_parse_u32(word, &imm) || imm > UINT16_MAX)
			return false;
		call->numbered = true;
		call->imm = (uint16_t)imm;
		word = fkt_next_word(&line);
	}
	call->ends = word && !strcmp(word, "ends");
	return true;
}

static bool add_call(struct fkt_trace *trace, size_t *room, const struct fkt_open_call *call)
{
	struct fkt_open_call *larger;

	if (trace->n_open_calls == *room) {
		*room = *room ? *room * 2 : 64;
		if (*room > CALLS_MAX)
			return false;
		larger = realloc(trace->open_calls, *room * sizeof(*larger));
		if (!larger)
			return false;
		trace->open_calls = larger;
	}
	trace->open_calls[trace->n_open_calls++] = *call;
	return true;
}

/* "[CODE IMM]", what a waker was at; the first word was read, and then is the one behind it. */
static bool parse_work(struct fkt_open_wait *wait, const char **word, char **line)
{
	uint32_t imm;

	if (!*word || !fkt_parse_u32(*word, &wait->code))
		return true;
	if (wait->code >= FKT_SLOT_CODES || !fkt_parse_u32(fkt_next_word(line), &imm) ||
	    imm > UINT16_MAX)
		return false;
	wait->imm = (uint16_t)imm;
	*word = fkt_next_word(line);
	return true;
}

/*
 * "[base BASE] [on CPU] [next TID] [in CODE] [inner CODE] [at BASE]"; traces of earlier versions
 * have none of them.
 */
static bool parse_around(struct fkt_open_wait *wait, const char *word, char *line)
{
	uint32_t value;

	for (; word; word = fkt_next_word(&line)) {
		if (!fkt_parse_u32(fkt_next_word(&line), &value))
			return false;
		if (!strcmp(word, "next"))
			wait->next = value;
		if (!strcmp(word, "in") && value < FKT_SLOT_CODES)
			wait->outer = wait->inner = value;
		if (!strcmp(word, "inner") && value < FKT_SLOT_CODES)
			wait->inner = value;
		if (!strcmp(word, "at") && value <= FKT_BASE_UNTRACED) {
			wait->told_base = true;
			wait->base = (uint8_t)value;
		}
		if (!strcmp(word, "base") && value <= FKT_BASE_UNTRACED) {
			wait->has_base = true;
			wait->waker_base = (uint8_t)value;
		}
		if (strcmp(word, "on"))
			continue;
		if (value > UINT16_MAX)
			return false;
		wait->waker_cpu = (uint16_t)value;
	}
	return true;
}

/* "CPU WAKER [CODE IMM] [base BASE]" */
static bool parse_woken(struct fkt_open_wait *wait, uint32_t tid, char *line)
{
	const char *word;
	uint32_t cpu;

	*wait = (struct fkt_open_wait){
		.tid = tid,
		.next = FKT_PID_UNKNOWN,
		.running = true,
		.early = true,
		.code = FKT_NO_CODE,
		.outer = FKT_NO_CODE,
		.inner = FKT_NO_CODE,
	};
	if (!tid || !fkt_parse_u32(fkt_next_word(&line), &cpu) || cpu > UINT16_MAX ||
	    !fkt_parse_u32(fkt_next_word(&line), &wait->waker))
		return false;
	wait->cpu = wait->waker_cpu = (uint16_t)cpu;
	word = fkt_next_word(&line);
	return parse_work(wait, &word, &line) && parse_around(wait, word, line);
}

/* "CPU STATE LEFT WOKEN [WAKER [CODE IMM]] [base BASE] [on CPU] [next TID] …" */
static bool parse_wait(struct fkt_open_wait *wait, uint32_t tid, char *line)
{
	uint32_t cpu, state;
	const char *word;

	*wait = (struct fkt_open_wait){
		.tid = tid,
		.next = FKT_PID_UNKNOWN,
		.code = FKT_NO_CODE,
		.outer = FKT_NO_CODE,
		.inner = FKT_NO_CODE,
	};
	if (!tid || !fkt_parse_u32(fkt_next_word(&line), &cpu) || cpu > UINT16_MAX ||
	    !fkt_parse_u32(fkt_next_word(&line), &state) || state > UINT16_MAX ||
	    !fkt_parse_u64(fkt_next_word(&line), &wait->left) ||
	    !fkt_parse_u64(fkt_next_word(&line), &wait->woken))
		return false;
	wait->cpu = wait->waker_cpu = (uint16_t)cpu;
	wait->state = (uint16_t)state;
	word = fkt_next_word(&line);
	if (word && fkt_parse_u32(word, &wait->waker)) {
		wait->early = !wait->woken;
		word = fkt_next_word(&line);
		if (!parse_work(wait, &word, &line))
			return false;
	}
	return parse_around(wait, word, line);
}

static bool add_wait(struct fkt_trace *trace, size_t *room, const struct fkt_open_wait *wait)
{
	struct fkt_open_wait *larger;

	if (trace->n_open_waits == *room) {
		*room = *room ? *room * 2 : 64;
		larger = *room > THREADS_MAX ? NULL
					     : realloc(trace->open_waits, *room * sizeof(*larger));
		if (!larger)
			return false;
		trace->open_waits = larger;
	}
	trace->open_waits[trace->n_open_waits++] = *wait;
	return true;
}

/* "BASE [CODE]", what it is at outside of all calls. */
static bool add_base(struct fkt_trace *trace, size_t *room, uint32_t tid, char *line)
{
	struct fkt_open_base *larger;
	uint32_t base, made;
	const char *word;

	if (!tid || !fkt_parse_u32(fkt_next_word(&line), &base) || base == FKT_BASE_UNKNOWN ||
	    base > FKT_BASE_UNTRACED)
		return true;
	if (trace->n_open_bases == *room) {
		*room = *room ? *room * 2 : 64;
		larger = *room > THREADS_MAX ? NULL
					     : realloc(trace->open_bases, *room * sizeof(*larger));
		if (!larger)
			return false;
		trace->open_bases = larger;
	}
	word = fkt_next_word(&line);
	if (!word || base != FKT_BASE_SLEPT || !fkt_parse_u32(word, &made) ||
	    made >= FKT_CODE_IRQ_ENTRY)
		made = FKT_NO_CODE;
	trace->open_bases[trace->n_open_bases++] = (struct fkt_open_base){ tid, base, made };
	return true;
}

int fkt_index_state(struct fkt_trace *trace)
{
	char *text = trace->state_lines.text, *line, *word;
	struct fkt_open_call call;
	struct fkt_open_wait wait;
	struct fkt_current *larger;
	size_t room = 0, wait_room = 0, base_room = 0;
	uint32_t first;
	bool known;

	while (text && (line = fkt_next_line(&text))) {
		word = fkt_next_word(&line);
		if (!word || !fkt_parse_u32(fkt_next_word(&line), &first))
			continue;
		if (!strcmp(word, "mask")) {
			trace->mask = first;
			continue;
		}
		if (!strcmp(word, "wait") || !strcmp(word, "woken")) {
			known = !strcmp(word, "wait") ? parse_wait(&wait, first, line)
						      : parse_woken(&wait, first, line);
			if (known && !add_wait(trace, &wait_room, &wait))
				return wait_room > THREADS_MAX ? 0 : -ENOMEM;
			continue;
		}
		if (!strcmp(word, "base")) {
			if (!add_base(trace, &base_room, first, line))
				return base_room > THREADS_MAX ? 0 : -ENOMEM;
			continue;
		}
		memset(&call, 0, sizeof(call));
		call.interrupt = !strcmp(word, "interrupt");
		call.idle = !strcmp(word, "idle");
		if (strcmp(word, "call") && first > UINT16_MAX)
			continue;
		if (!strcmp(word, "cpu")) {
			if (!fkt_parse_u32(fkt_next_word(&line), &call.tid) ||
			    trace->n_current >= CPUS)
				continue;
			larger = realloc(trace->current, (trace->n_current + 1) * sizeof(*larger));
			if (!larger)
				return -ENOMEM;
			trace->current = larger;
			larger += trace->n_current++;
			*larger = (struct fkt_current){ .cpu = (uint16_t)first, .tid = call.tid };
			while ((word = fkt_next_word(&line))) {
				larger->blind |= !strcmp(word, "blind");
				larger->seen |= !strcmp(word, "seen");
				if (!strcmp(word, "recorded"))
					larger->verdict = FKT_VERDICT_RECORDED;
				else if (!strcmp(word, "left_out"))
					larger->verdict = FKT_VERDICT_LEFT_OUT;
			}
			continue;
		}
		if ((!call.interrupt && !call.idle && strcmp(word, "call")) ||
		    !fkt_parse_u32(fkt_next_word(&line), &call.code) ||
		    call.code >= FKT_SLOT_CODES ||
		    !fkt_parse_u64(fkt_next_word(&line), &call.stamp) || !parse_number(&call, line))
			continue;
		if (call.interrupt || call.idle)
			call.cpu = (uint16_t)first;
		else
			call.tid = first;
		if (!add_call(trace, &room, &call))
			return room > CALLS_MAX ? 0 : -ENOMEM;
	}
	return 0;
}

const struct fkt_open_call *fkt_open_call(const struct fkt_trace *trace, size_t index)
{
	return index < trace->n_open_calls ? &trace->open_calls[index] : NULL;
}

const struct fkt_open_base *fkt_open_base(const struct fkt_trace *trace, size_t index)
{
	return index < trace->n_open_bases ? &trace->open_bases[index] : NULL;
}

const struct fkt_open_wait *fkt_open_wait(const struct fkt_trace *trace, size_t index)
{
	return index < trace->n_open_waits ? &trace->open_waits[index] : NULL;
}

bool fkt_begins_untraced(const struct fkt_trace *trace)
{
	return !(fkt_begins_with(trace) & FKT_KEY_SYSTEM);
}

bool fkt_next_after_end(char **text, struct fkt_event *event, uint64_t *words)
{
	char *one = strsep(text, ";"), *word;
	uint32_t cpu, imm;

	*event = (struct fkt_event){ .args = words };
	if (!one || !fkt_parse_u64(fkt_next_word(&one), &event->stamp) ||
	    !fkt_parse_u32(fkt_next_word(&one), &cpu) || cpu > UINT16_MAX ||
	    !fkt_parse_u32(fkt_next_word(&one), &event->pid) ||
	    !fkt_parse_u32(fkt_next_word(&one), &event->code) || event->code >= FKT_SLOT_CODES ||
	    !fkt_parse_u32(fkt_next_word(&one), &imm) || imm > UINT16_MAX)
		return false;
	event->cpu = (uint16_t)cpu;
	event->imm = (uint16_t)imm;
	for (; event->words < FKT_SLOT_WORDS_MAX && (word = fkt_next_word(&one)); event->words++) {
		if (!fkt_parse_u64(word, &words[event->words]))
			return false;
		words[event->words] = htole64(words[event->words]);
	}
	return true;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a page comes to by itself.
 *
 * Most calls are left in the page in which they were entered, and nothing that happens elsewhere
 * changes what they cost: system calls that do not sleep, functions, interrupts. They are summed up
 * here, page by page, by as many threads as there are, and taken out. What remains (switches,
 * wake-ups, calls of which the page has one end only) is written as a page of its own, to be merged
 * with those of the other lanes and analysed in the order of time. Where calls were taken out of a
 * call or of a thread's time outside of calls, a slot FKT_CODE_FOLDED tells how long they were; and
 * a wake-up has a word that tells what it came in, when that is asked for.
 *
 * The analysis finds the same sums as from the whole page, or finds out that it would not, and then
 * the trace is read once more without this. The same holds for all that is odd: pages that are
 * damaged, stamps that run backwards.
 */
#include <stdlib.h>
#include <string.h>

#include "read/internal.h"
#include "reduce.h"

/* A page has no more slots than this. */
#define SLOTS_MAX ((FKT_PAGE_BYTES - sizeof(struct fkt_page_header)) / sizeof(uint64_t))

/* What was taken out at one level of calls since the last slot that remains. */
struct fold {
	uint64_t elapsed;     /* from entry to exit, of the calls on the same stack */
	uint64_t elapsed_irq; /* of interrupts, when the level is not in one */
	uint64_t calls;	      /* cycles of calls, with what they called */
	uint64_t interrupts;  /* cycles of interrupts, when the level is not in one */
	uint32_t depth;	      /* so deep they were nested; 0: nothing was taken out */
	bool syscalls;
};

/* A slot that remains, or a call's entry that does unless its exit comes. */
struct op {
	struct fkt_event event;
	union {
		struct fold before; /* if @folded */
		uint64_t at_work;   /* of a wake-up, which is not: see fkt_at_work() */
	};
	bool folded;
	bool removed;
};

/*
 * What is done with each of a call's events is inline, once for who wants to be told of calls and
 * once for who does not: then there is less to write down.
 */
#define inline_of_two inline __attribute__((always_inline))

struct frame {
	uint64_t begin;
	struct fold fold;
	uint32_t row;
	uint32_t op;
	uint32_t told;	/* calls taken out before it */
	bool interrupt; /* on the CPU's stack of interrupts */
	bool begins;	/* it is itself an interrupt, or a softirq */
};

struct fkt_reducer {
	const struct fkt_trace *trace;
	bool wakers; /* what somebody is woken in is asked for */
	struct fkt_row_sums *row;
	struct fkt_code_use *code;
	bool rows[FKT_ROWS / FKT_PART + 1];	   /* whether there is any in a part */
	bool codes[FKT_SLOT_CODES / FKT_PART + 1]; /* likewise */

	/* Of the page: */
	struct op op[SLOTS_MAX + 1];
	struct frame frame[SLOTS_MAX];
	struct fold bottom; /* below the first frame */
	struct fkt_reduced *out;
	uint32_t ops;
	uint32_t depth;
	uint32_t kept;	/* so many frames, from the outermost one on, have slots that remain */
	bool in_thread; /* the bottom is not in an interrupt */
	bool at_base;	/* it is outside of all calls */
	uint32_t pid;	/* who is current */
	bool odd;
};

struct fkt_reducer *fkt_reducer_new(const struct fkt_trace *trace, bool wakers)
{
	struct fkt_reducer *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->trace = trace;
	r->wakers = wakers;
	r->row = calloc(FKT_ROWS, sizeof(*r->row));
	r->code = calloc(FKT_SLOT_CODES, sizeof(*r->code));
	if (!r->row || !r->code) {
		fkt_reducer_free(r);
		return NULL;
	}
	return r;
}

void fkt_reducer_free(struct fkt_reducer *r)
{
	if (!r)
		return;
	free(r->row);
	free(r->code);
	free(r);
}

const struct fkt_row_sums *fkt_reducer_rows(const struct fkt_reducer *r)
{
	return r->row;
}

const struct fkt_code_use *fkt_reducer_codes(const struct fkt_reducer *r)
{
	return r->code;
}

bool fkt_reducer_has_rows(const struct fkt_reducer *r, uint32_t part)
{
	return r->rows[part];
}

bool fkt_reducer_has_codes(const struct fkt_reducer *r, uint32_t part)
{
	return r->codes[part];
}

/* ---- what remains ---- */

static struct fold *top_fold(struct fkt_reducer *r)
{
	return r->depth ? &r->frame[r->depth - 1].fold : &r->bottom;
}

/* A slot that remains, at least for now. */
static inline struct op *add_op(struct fkt_reducer *r, const struct fkt_event *event)
{
	struct op *op = &r->op[r->ops++];

	op->event = *event;
	op->folded = false;
	op->removed = false;
	return op;
}

static void put_before(struct op *op, const struct fold *fold)
{
	op->folded = fold->depth;
	if (op->folded)
		op->before = *fold;
}

/* The next slot remains, or the page ends: so do the entries of all calls that are open. */
static void keep_open(struct fkt_reducer *r)
{
	struct fold *below = r->kept ? &r->frame[r->kept - 1].fold : &r->bottom;

	for (; r->kept < r->depth; r->kept++) {
		put_before(&r->op[r->frame[r->kept].op], below);
		*below = (struct fold){ 0 };
		below = &r->frame[r->kept].fold;
	}
}

/* A slot that remains, with what was taken out before it; what is open is left as it is. */
static void keep(struct fkt_reducer *r, const struct fkt_event *event)
{
	struct fold *fold = top_fold(r);

	keep_open(r);
	put_before(add_op(r, event), fold);
	*fold = (struct fold){ 0 };
}

/* The same, after which it is not known what is open. */
static void keep_and_forget(struct fkt_reducer *r, const struct fkt_event *event)
{
	keep(r, event);
	r->depth = 0;
	r->kept = 0;
	r->in_thread = false;
	r->at_base = false;
}

/* The slot added last is a call's entry. */
static inline_of_two void push(struct fkt_reducer *r, const struct fkt_event *event, uint32_t row,
			       bool interrupt, bool tells)
{
	struct frame *frame = &r->frame[r->depth];

	frame->begin = event->stamp;
	frame->fold.calls = 0;
	frame->fold.interrupts = 0;
	frame->fold.depth = 0;
	frame->fold.syscalls = false;
	frame->row = row;
	frame->op = r->ops - 1;
	if (tells) {
		frame->fold.elapsed = 0;
		frame->fold.elapsed_irq = 0;
		frame->told = r->out->calls;
	}
	frame->interrupt = interrupt || (r->depth && frame[-1].interrupt);
	frame->begins = interrupt;
	r->depth++;
}

/* ---- what does not ---- */

/*
 * Those around a call are told after it. Its place is that of the outermost one that is taken out
 * with it: what remains and has a smaller number in @op came before.
 */
static void tell(struct fkt_reducer *r, const struct frame *frame, const struct fkt_event *exit,
		 uint64_t cycles)
{
	struct fkt_reduced *out = r->out;
	const struct fkt_event *entry = &r->op[frame->op].event;
	struct fkt_folded_call *call;
	bool outermost = !r->depth || frame->interrupt != frame[-1].interrupt;

	for (uint32_t i = frame->told; i < out->calls; i++) {
		out->call[i].depth += out->call[i].interrupt == frame->interrupt;
		out->call[i].op = frame->op;
	}
	call = &out->call[out->calls++];
	*call = (struct fkt_folded_call){
		.row = frame->row,
		.caller = outermost ? FKT_ROW_NONE : frame[-1].row,
		.interrupt = frame->interrupt,
		.op = frame->op,
		.begin = frame->begin,
		.cycles = cycles,
		.own = cycles - frame->fold.calls,
		.only_elapsed = exit->stamp - frame->begin - frame->fold.elapsed,
		.entry_words = entry->words < FKT_CALL_WORDS ? entry->words : FKT_CALL_WORDS,
		.exit = *exit,
	};
	for (unsigned int i = 0; i < call->entry_words; i++)
		call->args[i] = fkt_arg64(entry, 8 * i);
}

/* The innermost call ends, and nothing is known to be against taking it out. */
static inline_of_two void fold(struct fkt_reducer *r, struct fkt_code_use *code,
			       const struct fkt_event *event, bool interrupt, bool tells)
{
	struct frame *frame = &r->frame[--r->depth];
	struct fkt_row_sums *row = &r->row[frame->row];
	uint64_t cycles = event->stamp - frame->begin - frame->fold.interrupts;
	struct fold *below = top_fold(r);

	row->own += cycles - frame->fold.calls;
	row->total += cycles;
	row->calls++;
	r->rows[frame->row / FKT_PART] = true;
	if (tells) {
		tell(r, frame, event, cycles);
		if (frame->interrupt && !(r->depth && frame[-1].interrupt))
			below->elapsed_irq += event->stamp - frame->begin;
		else
			below->elapsed += event->stamp - frame->begin;
	}
	if (interrupt && !(r->depth && frame[-1].interrupt))
		below->interrupts += cycles;
	else
		below->calls += cycles;
	below->interrupts += frame->fold.interrupts;
	below->syscalls |= code->syscall;
	if (below->depth <= frame->fold.depth)
		below->depth = frame->fold.depth + 1;

	r->code[r->op[frame->op].event.code].count++;
	code->count++;
	if (frame->op + 1 == r->ops)
		r->ops--;
	else
		r->op[frame->op].removed = true;
}

/*
 * Whether a call can be taken out. In an interrupt that began before the page did, those that come
 * in it are part of its time, else they are not: if it is not known, the call remains. So does
 * then an interrupt of no cycles, of which the call around it would not know.
 */
static inline_of_two bool can_fold(const struct fkt_reducer *r, const struct frame *frame,
				   const struct fkt_event *exit, bool interrupt)
{
	if (interrupt && unlikely(exit->stamp == frame->begin) && !r->in_thread)
		return false;
	return r->depth > r->kept && (!frame->fold.interrupts || frame->interrupt || r->in_thread);
}

static inline_of_two void enter(struct fkt_reducer *r, const struct fkt_code_use *code,
				const struct fkt_event *event, bool tells)
{
	if (code->syscall && (!r->at_base || r->depth)) {
		/* It comes from user mode: all that was open is not. */
		keep_and_forget(r, event);
		push(r, event, code->row, false, tells);
		r->kept = 1;
		r->in_thread = true;
		r->at_base = true;
		return;
	}
	add_op(r, event);
	push(r, event, fkt_use_row(r->trace, code, event), false, tells);
	r->frame[r->depth - 1].begins = code->task;
}

static inline_of_two void leave(struct fkt_reducer *r, struct fkt_code_use *code, uint32_t row,
				const struct fkt_event *event, bool interrupt, bool tells)
{
	struct frame *frame = r->depth ? &r->frame[r->depth - 1] : NULL;

	if (unlikely(!frame || frame->row != row)) {
		keep_and_forget(r, event);
		/* The analysis finds out if this is not so. */
		r->in_thread = r->at_base = code->syscall;
	} else if (likely(can_fold(r, frame, event, interrupt))) {
		fold(r, code, event, interrupt, tells);
	} else {
		keep(r, event);
		r->depth--;
		r->kept--;
	}
}

/* Whether a wake-up says what it came in: a new thread is in the call that wakes it, always. */
static bool tells_waker(const struct fkt_reducer *r, uint32_t code)
{
	return code == FKT_CODE_WAKEUP_NEW || (r->wakers && code == FKT_CODE_WAKEUP);
}

/* Somebody is woken in calls and interrupts that may be taken out: which ones these are. */
static uint64_t at_work(const struct fkt_reducer *r)
{
	uint32_t interrupt = FKT_ROW_NONE, outermost = FKT_ROW_NONE, depth = r->depth;

	if (!depth)
		return fkt_at_work(interrupt, outermost);
	outermost = r->frame[0].row;
	while (depth && !r->frame[depth - 1].begins)
		depth--;
	if (depth)
		interrupt = r->frame[depth - 1].row;
	return fkt_at_work(interrupt, outermost);
}

static void special(struct fkt_reducer *r, const struct fkt_event *event)
{
	switch (event->code) {
	case FKT_CODE_WAKEUP:
	case FKT_CODE_WAKEUP_NEW:
		/* Another thread's affair, but for what it is woken in. */
		if (tells_waker(r, event->code) &&
		    (!event->words || event->words > FKT_WAKEUP_WORDS_MAX))
			r->odd = true;
		else
			add_op(r, event)->at_work = at_work(r);
		break;
	case FKT_CODE_SWITCH:
		/* Another one was current, for some of the time. */
		if (event->words >= 1 && r->ops && fkt_arg32(event, 0) != r->pid)
			r->odd = true;
		keep_and_forget(r, event);
		if (event->words >= 1) {
			r->in_thread = !fkt_is_no_switch(event);
			r->pid = fkt_arg32(event, 4);
		}
		break;
	case FKT_CODE_EXEC:
		keep_and_forget(r, event);
		if (event->words >= 1)
			r->pid = fkt_arg32(event, 0);
		break;
	default:
		keep_and_forget(r, event);
	}
}

static inline_of_two void take(struct fkt_reducer *r, struct fkt_code_use *code,
			       const struct fkt_event *event, bool tells)
{
	if (unlikely(code->function != FKT_NO_FUNCTION)) {
		keep_and_forget(r, event);
		return;
	}
	/* Programs' functions stay open around system calls, which are taken for the outermost. */
	if (unlikely(code->user))
		r->odd = true;
	switch (code->kind) {
	case FKT_USE_ENTRY:
		enter(r, code, event, tells);
		break;
	case FKT_USE_EXIT:
		leave(r, code, fkt_use_row(r->trace, code, event), event, false, tells);
		break;
	case FKT_USE_CPU_ENTRY:
		add_op(r, event);
		push(r, event, fkt_use_row(r->trace, code, event), true, tells);
		break;
	case FKT_USE_CPU_EXIT:
		leave(r, code, fkt_use_row(r->trace, code, event), event, true, tells);
		break;
	case FKT_USE_PAUSE:
	case FKT_USE_SPECIAL:
		special(r, event);
		break;
	default:
		if (unlikely(fkt_is_process_event(event->code)))
			add_op(r, event);
		else
			code->count++;
	}
}

/* ---- the page that comes out ---- */

static uint64_t *put_fold(uint64_t *to, const struct fold *fold, const struct fkt_event *at,
			  uint64_t first, uint64_t *stamp, const struct fkt_reduced *page,
			  uint32_t told, uint32_t to_tell)
{
	const uint64_t words[FKT_FOLDED_WORDS] = {
		[FKT_FOLDED_CALLS] = htole64(fold->calls),
		[FKT_FOLDED_INTERRUPTS] = htole64(fold->interrupts),
		[FKT_FOLDED_ELAPSED] = htole64(fold->elapsed),
		[FKT_FOLDED_INTERRUPTS_ELAPSED] = htole64(fold->elapsed_irq),
		[FKT_FOLDED_SINCE] = htole64(first),
		[FKT_FOLDED_DEPTH] = htole64(fold->depth),
		[FKT_FOLDED_SYSCALLS] = htole64(fold->syscalls),
		[FKT_FOLDED_TOLD] = htole64(told | (uint64_t)to_tell << 32),
		[FKT_FOLDED_PAGE] = htole64((uintptr_t)page),
	};
	const struct fkt_event event = {
		.stamp = at->stamp,
		.args = words,
		.code = FKT_CODE_FOLDED,
		.cpu = at->cpu,
		.words = FKT_FOLDED_WORDS,
	};

	to = fkt_slot_encode(to, &event, *stamp, event.cpu);
	*stamp = event.stamp;
	return to;
}

/* A wake-up, with a word more. */
static uint64_t *put_wakeup(uint64_t *to, const struct op *op, uint64_t stamp)
{
	uint64_t words[FKT_WAKEUP_WORDS_MAX + 1];
	struct fkt_event event = op->event;

	memcpy(words, event.args, event.words * sizeof(*words));
	words[event.words++] = htole64(op->at_work);
	event.args = words;
	return fkt_slot_encode(to, &event, stamp, event.cpu);
}

static void write_page(const struct fkt_reducer *r, const struct fkt_event *last, uint64_t first,
		       struct fkt_reduced *out)
{
	uint64_t *to = out->slot, stamp = first;
	const struct fold nothing = { 0 };
	uint32_t told = 0, to_tell = 0;
	const struct op *op;

	out->slots = 0;
	for (uint32_t i = 0; i < r->ops; i++) {
		op = &r->op[i];
		if (op->removed)
			continue;
		/* A slot without room for a wide stamp does not need one behind this. */
		if (op->folded ||
		    (op->event.words == FKT_SLOT_WORDS_MAX && op->event.stamp != stamp)) {
			while (op->folded && to_tell < out->calls && out->call[to_tell].op <= i)
				to_tell++;
			to = put_fold(to, op->folded ? &op->before : &nothing, &op->event, first,
				      &stamp, out, told, to_tell);
			told = to_tell;
			out->slots++;
		}
		if (tells_waker(r, op->event.code))
			to = put_wakeup(to, op, stamp);
		else
			to = fkt_slot_encode(to, &op->event, stamp, op->event.cpu);
		stamp = op->event.stamp;
		out->slots++;
	}
	/* What is open has slots that remain, and in front of them what was taken out before. */
	if (last->stamp != stamp || r->bottom.depth ||
	    (r->depth && r->frame[r->depth - 1].fold.depth)) {
		to = put_fold(to, r->depth ? &r->frame[r->depth - 1].fold : &r->bottom, last, first,
			      &stamp, out, told, out->calls);
		out->slots++;
	}
	out->end = to;
}

void fkt_tell_folded(const struct fkt_folded_calls *calls,
		     void (*leave)(void *arg, const struct fkt_call *call), void *arg)
{
	for (uint32_t i = calls->first; i < calls->end && calls->end <= calls->page->calls; i++) {
		const struct fkt_folded_call *folded = &calls->page->call[i];
		const struct fkt_folded_around *around = folded->interrupt ? &calls->irq
									   : &calls->stack;
		struct fkt_call call = {
			.row = folded->row,
			.caller = folded->caller != FKT_ROW_NONE ? folded->caller : around->row,
			.id = calls->id,
			.leader = calls->leader,
			.outside = calls->outside,
			.cpu = calls->cpu,
			.depth = around->depth + folded->depth,
			.interrupt = folded->interrupt || calls->in_irq,
			.entered = true,
			.counts = true,
			.begin = folded->begin,
			.end = folded->exit.stamp > folded->begin ? folded->exit.stamp
								  : folded->begin,
			.cycles = folded->cycles,
			.own = folded->own,
			.only_elapsed = folded->only_elapsed,
			.entry_words = folded->entry_words,
			.entry_args = folded->args,
			.exit = &folded->exit,
		};

		leave(arg, &call);
	}
}

static inline_of_two bool reduce(struct fkt_reducer *r, const struct fkt_page *page,
				 struct fkt_reduced *out, bool tells)
{
	const struct fkt_page_header *header = &page->header;
	struct fkt_cursor cursor = page->cursor;
	struct fkt_event event = { .stamp = header->first, .cpu = header->cpu };
	struct fkt_code_use *code;
	uint64_t last = header->first;

	r->ops = r->depth = r->kept = 0;
	r->out = out;
	out->calls = 0;
	r->bottom = (struct fold){ 0 };
	r->in_thread = r->at_base = false;
	r->pid = header->pid;
	r->odd = false;
	for (; fkt_slot_decode(&cursor, &event); fkt_slot_pass(&cursor, &event)) {
		if (unlikely(event.stamp < last || event.code == FKT_CODE_FOLDED))
			return false;
		last = event.stamp;
		code = &r->code[event.code];
		if (unlikely(!code->kind)) {
			fkt_code_use(r->trace, event.code, code);
			r->codes[event.code / FKT_PART] = true;
		}
		/* The first one remains: it joins the page to the one before. */
		if (likely(r->pid != FKT_PID_UNKNOWN && cursor.left < header->events))
			take(r, code, &event, tells);
		else if (code->kind == FKT_USE_SPECIAL || code->kind == FKT_USE_PAUSE)
			special(r, &event);
		else
			keep_and_forget(r, &event);
	}
	if (r->odd || cursor.left || cursor.pos != cursor.end || last > header->end ||
	    last - header->first >= 1ull << (FKT_WIDE_STAMP_BITS - 1))
		return false;
	keep_open(r);
	write_page(r, &event, header->first, out);
	return true;
}

bool fkt_reduce(struct fkt_reducer *r, const struct fkt_page *page, struct fkt_reduced *out)
{
	return out->call ? reduce(r, page, out, true) : reduce(r, page, out, false);
}

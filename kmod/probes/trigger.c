// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: what somebody waits for, with the recording's lanes as a flight recorder. When it
 * happens, an event says so, and whoever recorded is woken, to take a snapshot.
 *
 * A trigger is armed from FKT_START on, until one fires; then all are disarmed until
 * FKT_TRIGGER_ARM. What comes in between is counted. So one that is met a million times a second
 * costs what its condition costs, and no more.
 */
#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <trace/events/irq.h>
#include <trace/events/printk.h>
#include <trace/events/sched.h>
#include "compat.h"
#include "fetch.h"
#include "fkt.h"
#include "kprobe.h"

/* Of the kernel's messages, so much is looked at. */
#define FKT_LOG_BYTES 1024

/**
 * struct fkt_trigger - what is waited for
 * @spec: as the recorder said it; checked
 * @fetch: the operations of each condition that has some, else NULL
 * @number: which one it is, for the event
 * @rp: the kretprobe, or its rp.kp alone
 * @point: the tracepoint
 */
struct fkt_trigger {
	struct fkt_trigger_spec spec;
	struct fkt_fetch *fetch[FKT_TRIGGER_CONDITIONS_MAX];
	u32 number;
	struct kretprobe rp;
	struct fkt_tracepoint point;
};

/* Constant while attached; the session's lock. */
static struct fkt_trigger *fkt_triggers[FKT_TRIGGERS_MAX];
static u32 fkt_trigger_count;
static bool fkt_triggers_hooked;
/* Of those of the last recording, when they are gone. */
static u64 fkt_triggers_missed_before;
/* One bit for each kind of which there is any. */
static u32 fkt_trigger_kinds;

/* 1: the next one fires. */
static atomic_t fkt_trigger_armed;
/* What fired; written by the probe that disarmed, which then sets fkt_trigger_fired. */
static struct fkt_triggered fkt_trigger_last;
static bool fkt_trigger_fired;
/* Those that were met while none was armed. */
static DEFINE_PER_CPU(u64, fkt_triggers_ignored);

static void fkt_trigger_wake(struct irq_work *work)
{
	wake_up(&fkt_session.stream.reader_wait);
}

static DEFINE_IRQ_WORK(fkt_trigger_work, fkt_trigger_wake);

/* Any context, NMI included. @p is whom it is about. */
static void fkt_trigger_fire(const struct fkt_trigger *trigger, const struct task_struct *p,
			     u64 value)
{
	if (READ_ONCE(trigger->number) == FKT_TRIGGER_NONE)
		return;
	if (atomic_read(&fkt_trigger_armed) != 1 || atomic_cmpxchg(&fkt_trigger_armed, 1, 0) != 1) {
		this_cpu_inc(fkt_triggers_ignored);
		return;
	}
	fkt_trigger_last.number = trigger->number;
	fkt_trigger_last.cpu = raw_smp_processor_id();
	fkt_trigger_last.tid = p->pid;
	fkt_trigger_last.value = value;
	/* As in fkt_comm(). */
	data_race(memcpy(fkt_trigger_last.comm, p->comm, sizeof(fkt_trigger_last.comm)));
	fkt_trigger_last.stamp = fkt_clock(true) + READ_ONCE(fkt_clock_ahead);
	FKT_EVENT(FKT_CODE_TRIGGER, trigger->number, fkt_pair(p->pid, 0), value);
	/* Pairs with the acquire in fkt_trigger_pending(). */
	smp_store_release(&fkt_trigger_fired, true);
	/* Else fkt_session_cpu_gone() wakes them. */
	if (fkt_irq_work_runs())
		irq_work_queue(&fkt_trigger_work);
}
NOKPROBE_SYMBOL(fkt_trigger_fire);

/* ---- conditions ---- */

/* A value of a condition's size. */
static __always_inline u64 fkt_trigger_value(const struct fkt_trigger_condition *condition,
					     u64 value)
{
	const u32 shift = 64 - 8 * condition->bytes;

	return condition->is_signed ? (u64)((s64)(value << shift) >> shift)
				    : value << shift >> shift;
}

static bool fkt_trigger_compare(const struct fkt_trigger_condition *condition, u64 value)
{
	const s64 is = fkt_trigger_value(condition, value);
	const s64 to = condition->value;
	const bool less = condition->is_signed ? is < to : (u64)is < (u64)to;

	switch (condition->op) {
	case FKT_TRIGGER_EQUAL:
		return is == to;
	case FKT_TRIGGER_NOT_EQUAL:
		return is != to;
	case FKT_TRIGGER_LESS:
		return less;
	case FKT_TRIGGER_LESS_EQUAL:
		return less || is == to;
	case FKT_TRIGGER_GREATER:
		return !less && is != to;
	case FKT_TRIGGER_GREATER_EQUAL:
		return !less;
	case FKT_TRIGGER_BITS:
		return is & to;
	}
	return false;
}
NOKPROBE_SYMBOL(fkt_trigger_compare);

/* What a condition is about; @args are registers of whichever kind its trigger has. */
static __always_inline bool fkt_trigger_word(const struct fkt_trigger *trigger, u32 i,
					     const u64 *args, u64 *word)
{
	const struct fkt_trigger_condition *condition = &trigger->spec.condition[i];

	if (unlikely(condition->ops))
		return fkt_fetch_value(trigger->fetch[i], condition->ops, (void *)args, word);
	*word = args[condition->arg];
	return true;
}

/*
 * The conditions on @args; @p is whom it is about. @first is what the event of the trigger says:
 * the value of the first one.
 */
static __always_inline bool fkt_trigger_met(const struct fkt_trigger *trigger,
					    const struct task_struct *p, const u64 *args,
					    u64 *first)
{
	const struct fkt_trigger_spec *spec = &trigger->spec;
	u64 word;
	u32 i;

	*first = 0;
	for (i = 0; i < spec->conditions; i++) {
		if (!fkt_trigger_word(trigger, i, args, &word) ||
		    !fkt_trigger_compare(&spec->condition[i], word))
			return false;
		if (!i)
			*first = fkt_trigger_value(&spec->condition[0], word);
	}
	return !spec->comm[0] || !data_race(strncmp(p->comm, spec->comm, sizeof(spec->comm)));
}

/* ---- tracepoints ---- */

static void fkt_trigger_point(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	const struct fkt_trigger *trigger = data;
	const u64 args[] = { a0, a1, a2, a3, a4 };
	u64 first;
	FKT_PROBE_GUARD();

	BUILD_BUG_ON(ARRAY_SIZE(args) != FKT_TRACEPOINT_ARGS_MAX);
	if (fkt_on(~0u) && fkt_trigger_met(trigger, current, args, &first))
		fkt_trigger_fire(trigger, current, first);
}

/* ---- functions ---- */

static int fkt_trigger_call(struct kprobe *kp, struct pt_regs *regs)
{
	const struct fkt_trigger *trigger = container_of(kp, struct fkt_trigger, rp.kp);
	u64 first;
	FKT_PROBE_GUARD();

	/* Its arguments are registers by number. */
	if (fkt_on(~0u) && fkt_trigger_met(trigger, current, (const u64 *)regs, &first))
		fkt_trigger_fire(trigger, current, first);
	return 0;
}
NOKPROBE_SYMBOL(fkt_trigger_call);

static int fkt_trigger_enter(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u64 *)ri->data = fkt_clock(true) + READ_ONCE(fkt_clock_ahead);
	return 0;
}
NOKPROBE_SYMBOL(fkt_trigger_enter);

static void fkt_trigger_returned(const struct fkt_trigger *trigger, u64 began, u64 result)
{
	const u64 now = fkt_clock(true) + READ_ONCE(fkt_clock_ahead);
	/* The call may have gone to a CPU whose counter is a little behind. */
	const u64 took = now > began ? now - began : 0;
	u64 first;
	FKT_PROBE_GUARD();

	if (fkt_on(~0u) && (took > trigger->spec.cycles || !trigger->spec.cycles) &&
	    fkt_trigger_met(trigger, current, &result, &first))
		fkt_trigger_fire(trigger, current, trigger->spec.cycles ? took : result);
}
NOKPROBE_SYMBOL(fkt_trigger_returned);

static int fkt_trigger_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = get_kretprobe(ri);

	/* NULL when it is being unregistered. */
	if (rp)
		fkt_trigger_returned(container_of(rp, struct fkt_trigger, rp), *(u64 *)ri->data,
				     regs_return_value(regs));
	return 0;
}
NOKPROBE_SYMBOL(fkt_trigger_return);

/* ---- threads that are ready, or off their CPU; and their softirqs, on PREEMPT_RT ---- */

/* Since when: a word is a pid, and a stamp in units that let waits of days be told. */
#define FKT_SINCE_BITS	 12
#define FKT_SINCE_WAYS	 8
#define FKT_SINCE_UNIT	 8 /* 2^8 cycles */
#define FKT_SINCE_PID	 42
#define FKT_SINCE_STAMPS (BIT_ULL(FKT_SINCE_PID) - 1)

struct fkt_since {
	u64 word[1 << FKT_SINCE_BITS][FKT_SINCE_WAYS];
};

/* There while one of the kind is hooked. */
static struct fkt_since *fkt_since_ready;
static struct fkt_since *fkt_since_left;
/* On PREEMPT_RT alone: of softirqs, which threads run, and are preempted in. */
static struct fkt_since *fkt_since_softirq;

static u64 fkt_since_now(void)
{
	return (fkt_clock(true) + READ_ONCE(fkt_clock_ahead)) >> FKT_SINCE_UNIT & FKT_SINCE_STAMPS;
}

static u64 *fkt_since_bucket(struct fkt_since *since, u32 pid)
{
	return since->word[hash_32(pid, FKT_SINCE_BITS)];
}

/* From now on; where a bucket is full, the longest wait of those in it is not told. */
static void fkt_since_set(struct fkt_since *since, u32 pid)
{
	u64 *bucket = fkt_since_bucket(since, pid), now = fkt_since_now(), word, oldest = 0;
	u32 i, at = 0;

	for (i = 0; i < FKT_SINCE_WAYS; i++) {
		word = READ_ONCE(bucket[i]);
		if (!word || word >> FKT_SINCE_PID == pid) {
			at = i;
			break;
		}
		if (((now - word) & FKT_SINCE_STAMPS) >= oldest) {
			oldest = (now - word) & FKT_SINCE_STAMPS;
			at = i;
		}
	}
	/* Who else writes here at this moment has another thread: one of the two is not told. */
	WRITE_ONCE(bucket[at], (u64)pid << FKT_SINCE_PID | now);
}

/* How long, in cycles, which ends now; 0 when that is not known. */
static u64 fkt_since_end(struct fkt_since *since, u32 pid)
{
	u64 *bucket = fkt_since_bucket(since, pid), word, took;
	u32 i;

	for (i = 0; i < FKT_SINCE_WAYS; i++) {
		word = READ_ONCE(bucket[i]);
		if (word && word >> FKT_SINCE_PID == pid) {
			cmpxchg(&bucket[i], word, 0);
			took = (fkt_since_now() - word) & FKT_SINCE_STAMPS;
			/* CPUs' counters may differ a little: it is not before it began. */
			return took > FKT_SINCE_STAMPS / 2 ? 0 : took << FKT_SINCE_UNIT;
		}
	}
	return 0;
}

/* All triggers of a kind of which it took @cycles. */
static void fkt_trigger_took(u32 kind, const struct task_struct *p, u64 cycles)
{
	u64 none;
	u32 i;

	for (i = 0; i < fkt_trigger_count; i++) {
		const struct fkt_trigger *trigger = fkt_triggers[i];

		if (trigger->spec.kind == kind && cycles > trigger->spec.cycles &&
		    fkt_trigger_met(trigger, p, NULL, &none))
			fkt_trigger_fire(trigger, p, cycles);
	}
}

static void fkt_trigger_switch(void *data, bool preempt, struct task_struct *prev,
			       struct task_struct *next, unsigned int prev_state)
{
	u64 took = 0;
	FKT_PROBE_GUARD();

	/* Also while nothing is recorded: what is remembered of before would be wrong later. */
	if (fkt_since_ready) {
		if (prev->pid && (preempt || !prev_state))
			fkt_since_set(fkt_since_ready, prev->pid);
		if (next->pid)
			took = fkt_since_end(fkt_since_ready, next->pid);
		if (next->pid && fkt_on(~0u))
			fkt_trigger_took(FKT_TRIGGER_RUNNABLE, next, took);
	}
	if (fkt_since_left) {
		/* One that has ended does not come back; its number may, as another thread's. */
		/* Whoever waits for one that ends changes it meanwhile, but not to 0. */
		if (prev->pid && !READ_ONCE(prev->exit_state))
			fkt_since_set(fkt_since_left, prev->pid);
		if (next->pid)
			took = fkt_since_end(fkt_since_left, next->pid);
		if (next->pid && fkt_on(~0u))
			fkt_trigger_took(FKT_TRIGGER_OFF_CPU, next, took);
	}
}

/* Woken: not sched_waking, for a thread that is still on its CPU then need not wait. */
static void fkt_trigger_wakeup(void *data, struct task_struct *p)
{
	FKT_PROBE_GUARD();

	if (fkt_since_ready)
		fkt_since_set(fkt_since_ready, p->pid);
}

static struct fkt_tracepoint fkt_trigger_sched_points[] = {
	FKT_POINT(sched_switch, fkt_trigger_switch),
	FKT_POINT(sched_wakeup, fkt_trigger_wakeup),
	FKT_POINT(sched_wakeup_new, fkt_trigger_wakeup),
};

/* ---- interrupts ---- */

struct fkt_trigger_began {
	u64 irq;
	u64 softirq;
};

static DEFINE_PER_CPU(struct fkt_trigger_began, fkt_trigger_began);

static void fkt_trigger_irq_entry(void *data, int irq, struct irqaction *action)
{
	FKT_PROBE_GUARD();

	this_cpu_write(fkt_trigger_began.irq, fkt_clock(true));
}

static void fkt_trigger_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	FKT_PROBE_GUARD();
	const u64 began = this_cpu_xchg(fkt_trigger_began.irq, 0);

	if (fkt_on(~0u) && began)
		fkt_trigger_took(FKT_TRIGGER_IRQ, current, fkt_clock(true) - began);
}

static void fkt_trigger_softirq_entry(void *data, unsigned int vec)
{
	FKT_PROBE_GUARD();

	if (fkt_since_softirq)
		fkt_since_set(fkt_since_softirq, current->pid);
	else
		this_cpu_write(fkt_trigger_began.softirq, fkt_clock(true));
}

static void fkt_trigger_softirq_exit(void *data, unsigned int vec)
{
	u64 began, took = 0;
	FKT_PROBE_GUARD();

	if (fkt_since_softirq) {
		took = fkt_since_end(fkt_since_softirq, current->pid);
	} else {
		began = this_cpu_xchg(fkt_trigger_began.softirq, 0);
		if (began)
			took = fkt_clock(true) - began;
	}
	if (fkt_on(~0u) && took)
		fkt_trigger_took(FKT_TRIGGER_SOFTIRQ, current, took);
}

static struct fkt_tracepoint fkt_trigger_irq_points[] = {
	FKT_POINT(irq_handler_entry, fkt_trigger_irq_entry),
	FKT_POINT(irq_handler_exit, fkt_trigger_irq_exit),
	FKT_POINT(softirq_entry, fkt_trigger_softirq_entry),
	FKT_POINT(softirq_exit, fkt_trigger_softirq_exit),
};

/* ---- the kernel's log ---- */

static void fkt_trigger_message(void *data, const char *text, size_t bytes)
{
	const struct fkt_trigger *trigger;
	u64 none;
	u32 i;
	FKT_PROBE_GUARD();

	if (!fkt_on(~0u))
		return;
	bytes = min_t(size_t, bytes, FKT_LOG_BYTES);
	for (i = 0; i < fkt_trigger_count; i++) {
		trigger = fkt_triggers[i];
		if (trigger->spec.kind == FKT_TRIGGER_LOG &&
		    strnstr(text, trigger->spec.name, bytes) &&
		    fkt_trigger_met(trigger, current, NULL, &none))
			fkt_trigger_fire(trigger, current, 0);
	}
}

static struct fkt_tracepoint fkt_trigger_log_points[] = {
	FKT_POINT(console, fkt_trigger_message),
};

/* ---- what the recorder asked for ---- */

/* How many values a trigger's conditions may be about. */
static u32 fkt_trigger_args(u32 kind)
{
	switch (kind) {
	case FKT_TRIGGER_TRACEPOINT:
		return FKT_TRACEPOINT_ARGS_MAX;
	case FKT_TRIGGER_CALL:
		return sizeof(struct pt_regs) / sizeof(unsigned long);
	case FKT_TRIGGER_RETURN:
		return 1;
	default:
		return 0;
	}
}

static bool fkt_trigger_valid(const struct fkt_trigger_spec *spec)
{
	const u32 args = fkt_trigger_args(spec->kind);
	u32 i;

	if (!spec->kind || spec->kind >= FKT_TRIGGER_KINDS ||
	    spec->conditions > FKT_TRIGGER_CONDITIONS_MAX || spec->reserved ||
	    strnlen(spec->name, sizeof(spec->name)) == sizeof(spec->name) ||
	    strnlen(spec->comm, sizeof(spec->comm)) == sizeof(spec->comm))
		return false;
	if ((spec->kind == FKT_TRIGGER_TRACEPOINT || spec->kind == FKT_TRIGGER_LOG) !=
	    !!spec->name[0])
		return false;
	for (i = 0; i < spec->conditions; i++) {
		const struct fkt_trigger_condition *condition = &spec->condition[i];

		if (condition->arg >= args || !condition->op || condition->op >= FKT_TRIGGER_OPS ||
		    condition->is_signed > 1 || (!condition->ops && condition->ops_first) ||
		    (condition->bytes != 1 && condition->bytes != 2 && condition->bytes != 4 &&
		     condition->bytes != 8))
			return false;
	}
	return true;
}

/* Whether operations give one value, and no more. */
static bool fkt_trigger_fetch_valid(const struct fkt_fetch *op, u32 ops, u32 kind)
{
	const u32 registers = kind == FKT_TRIGGER_CALL ? 0 : fkt_trigger_args(kind);
	int words, all = 0;
	u32 i;

	for (i = 0; i < ops; i++) {
		words = fkt_fetch_check(&op[i], i == ops - 1, registers);
		if (words < 0 || (words && op[i].op != FKT_FETCH_WORD))
			return false;
		all += words;
	}
	return all == 1 && op[ops - 1].op == FKT_FETCH_WORD;
}

static void fkt_trigger_drop(struct fkt_trigger *trigger)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(trigger->fetch); i++)
		kfree(trigger->fetch[i]);
	kfree(trigger);
}

/* A copy of what its conditions fetch. */
static int fkt_trigger_take_fetch(struct fkt_trigger *trigger, const struct fkt_fetch *fetch,
				  u32 fetches)
{
	u32 i;

	for (i = 0; i < trigger->spec.conditions; i++) {
		const struct fkt_trigger_condition *condition = &trigger->spec.condition[i];

		if (!condition->ops)
			continue;
		if (condition->ops > FKT_FETCH_OPS_MAX || condition->ops_first > fetches ||
		    condition->ops > fetches - condition->ops_first)
			return -EINVAL;
		trigger->fetch[i] = kmemdup(fetch + condition->ops_first,
					    condition->ops * sizeof(*fetch), GFP_KERNEL);
		if (!trigger->fetch[i])
			return -ENOMEM;
		if (!fkt_trigger_fetch_valid(trigger->fetch[i], condition->ops, trigger->spec.kind))
			return -EINVAL;
	}
	return 0;
}

static int fkt_trigger_register(struct fkt_trigger *trigger)
{
	const struct fkt_trigger_spec *spec = &trigger->spec;
	struct kretprobe *rp = &trigger->rp;
	int ret;

	if (spec->kind != FKT_TRIGGER_CALL && spec->kind != FKT_TRIGGER_RETURN)
		return 0;
	rp->kp.addr = (kprobe_opcode_t *)(unsigned long)spec->address;
	rp->kp.flags = KPROBE_FLAG_DISABLED;
	ret = fkt_kprobe_check(&rp->kp);
	if (ret)
		return ret;
	if (spec->kind == FKT_TRIGGER_CALL) {
		rp->kp.pre_handler = fkt_trigger_call;
		return register_kprobe(&rp->kp);
	}
	rp->handler = fkt_trigger_return;
	rp->entry_handler = fkt_trigger_enter;
	rp->data_size = sizeof(u64);
	rp->maxactive = FKT_TRIGGER_ACTIVE;
	return register_kretprobe(rp);
}

static int fkt_trigger_add_one(const struct fkt_trigger_spec *spec, const struct fkt_fetch *fetch,
			       u32 fetches)
{
	struct fkt_trigger *trigger;
	int ret;

	if (!fkt_trigger_valid(spec))
		return -EINVAL;
	/* No probe here has the type of the tracepoint that calls it. */
	if (spec->kind == FKT_TRIGGER_TRACEPOINT && FKT_CALLS_ARE_CHECKED)
		return -EOPNOTSUPP;
	trigger = kzalloc(sizeof(*trigger), GFP_KERNEL);
	if (!trigger)
		return -ENOMEM;
	trigger->spec = *spec;
	trigger->number = fkt_trigger_count;
	trigger->point = (struct fkt_tracepoint){
		.name = trigger->spec.name,
		.probe = fkt_trigger_point,
		.data = trigger,
	};
	ret = fkt_trigger_take_fetch(trigger, fetch, fetches) ?: fkt_trigger_register(trigger);
	if (ret) {
		fkt_trigger_drop(trigger);
		return ret;
	}
	fkt_triggers[fkt_trigger_count++] = trigger;
	fkt_trigger_kinds |= BIT(spec->kind);
	return 0;
}

static int fkt_trigger_add(struct fkt_specs *specs)
{
	const u32 fetches = specs->common_bytes / sizeof(struct fkt_fetch);
	const struct fkt_trigger_spec *spec = specs->spec;
	int ret;

	if (specs->count > FKT_TRIGGERS_MAX - fkt_trigger_count ||
	    specs->common_bytes % sizeof(struct fkt_fetch))
		return -EINVAL;
	for (; specs->done < specs->count; specs->done++) {
		ret = fkt_trigger_add_one(&spec[specs->done], specs->common, fetches);
		if (ret)
			return ret;
	}
	return 0;
}

static void fkt_trigger_free(struct fkt_trigger *trigger)
{
	if (trigger->spec.kind == FKT_TRIGGER_CALL)
		unregister_kprobe(&trigger->rp.kp);
	else if (trigger->spec.kind == FKT_TRIGGER_RETURN)
		unregister_kretprobe(&trigger->rp);
	else
		goto free;
	if (fkt_kprobe_stays(&trigger->rp.kp)) {
		/* It may still be called, in later recordings as well, and is none of theirs. */
		WRITE_ONCE(trigger->number, FKT_TRIGGER_NONE);
		return;
	}
free:
	fkt_trigger_drop(trigger);
}

/* How often the kernel could not look whether a call fires, as fkt_kprobes_missed(). */
static u64 fkt_triggers_missed(void)
{
	u64 missed = 0;
	u32 i;

	if (!fkt_trigger_count)
		return fkt_triggers_missed_before;
	for (i = 0; i < fkt_trigger_count; i++)
		missed += data_race(fkt_triggers[i]->rp.kp.nmissed) +
			  data_race(fkt_triggers[i]->rp.nmissed);
	return missed;
}

static void fkt_trigger_status(struct fkt_status *status)
{
	status->missed += fkt_triggers_missed();
}

static void fkt_trigger_clear(void)
{
	fkt_triggers_missed_before = fkt_trigger_count ? fkt_triggers_missed() : 0;
	while (fkt_trigger_count)
		fkt_trigger_free(fkt_triggers[--fkt_trigger_count]);
	fkt_trigger_kinds = 0;
}

/* ---- attaching ---- */

static bool fkt_trigger_has(u32 kind)
{
	return fkt_trigger_kinds & BIT(kind);
}

static int fkt_trigger_hook(struct fkt_trigger *trigger)
{
	int ret;

	switch (trigger->spec.kind) {
	case FKT_TRIGGER_TRACEPOINT:
		ret = fkt_tracepoints_attach(&trigger->point, 1);
		return ret ?: trigger->point.tp ? 0 : -ENOENT;
	case FKT_TRIGGER_CALL:
	case FKT_TRIGGER_RETURN:
		return fkt_kprobe_enable(&trigger->rp.kp);
	}
	return 0;
}

static int fkt_trigger_hook_sched(void)
{
	if (!fkt_trigger_has(FKT_TRIGGER_RUNNABLE) && !fkt_trigger_has(FKT_TRIGGER_OFF_CPU))
		return 0;
	if (fkt_trigger_has(FKT_TRIGGER_RUNNABLE))
		fkt_since_ready = kvzalloc(sizeof(*fkt_since_ready), GFP_KERNEL);
	if (fkt_trigger_has(FKT_TRIGGER_OFF_CPU))
		fkt_since_left = kvzalloc(sizeof(*fkt_since_left), GFP_KERNEL);
	if ((fkt_trigger_has(FKT_TRIGGER_RUNNABLE) && !fkt_since_ready) ||
	    (fkt_trigger_has(FKT_TRIGGER_OFF_CPU) && !fkt_since_left))
		return -ENOMEM;
	return fkt_tracepoints_attach(fkt_trigger_sched_points,
				      ARRAY_SIZE(fkt_trigger_sched_points));
}

static int fkt_trigger_hook_irq(void)
{
	if (!fkt_trigger_has(FKT_TRIGGER_IRQ) && !fkt_trigger_has(FKT_TRIGGER_SOFTIRQ))
		return 0;
	if (fkt_trigger_has(FKT_TRIGGER_SOFTIRQ) && IS_ENABLED(CONFIG_PREEMPT_RT)) {
		fkt_since_softirq = kvzalloc(sizeof(*fkt_since_softirq), GFP_KERNEL);
		if (!fkt_since_softirq)
			return -ENOMEM;
	}
	return fkt_tracepoints_attach(fkt_trigger_irq_points, ARRAY_SIZE(fkt_trigger_irq_points));
}

static void fkt_trigger_begin(void)
{
	int cpu;

	fkt_triggers_missed_before = 0;
	fkt_trigger_fired = false;
	for_each_possible_cpu(cpu) {
		per_cpu(fkt_triggers_ignored, cpu) = 0;
		per_cpu(fkt_trigger_began, cpu) = (struct fkt_trigger_began){};
	}
	atomic_set(&fkt_trigger_armed, 1);
}

static int fkt_trigger_attach(const struct fkt_session *s, u32 keys)
{
	int ret = 0;
	u32 i;

	if (!fkt_trigger_count || fkt_triggers_hooked)
		return 0;
	if (!fkt_overwrites(s))
		return -EINVAL;
	fkt_triggers_hooked = true;
	ret = fkt_trigger_hook_sched();
	if (!ret)
		ret = fkt_trigger_hook_irq();
	if (!ret && fkt_trigger_has(FKT_TRIGGER_LOG))
		ret = fkt_tracepoints_attach(fkt_trigger_log_points,
					     ARRAY_SIZE(fkt_trigger_log_points));
	for (i = 0; i < fkt_trigger_count && !ret; i++)
		ret = fkt_trigger_hook(fkt_triggers[i]);
	return ret;
}

static void fkt_trigger_detach(void)
{
	u32 i;

	if (!fkt_triggers_hooked)
		return;
	fkt_triggers_hooked = false;
	fkt_tracepoints_detach(fkt_trigger_sched_points, ARRAY_SIZE(fkt_trigger_sched_points));
	fkt_tracepoints_detach(fkt_trigger_irq_points, ARRAY_SIZE(fkt_trigger_irq_points));
	fkt_tracepoints_detach(fkt_trigger_log_points, ARRAY_SIZE(fkt_trigger_log_points));
	for (i = 0; i < fkt_trigger_count; i++) {
		if (fkt_triggers[i]->spec.kind == FKT_TRIGGER_TRACEPOINT)
			fkt_tracepoints_detach(&fkt_triggers[i]->point, 1);
		else if (fkt_triggers[i]->rp.kp.addr)
			disable_kprobe(&fkt_triggers[i]->rp.kp);
	}
	/* No tracepoint's probe runs any more, and a kretprobe's does not use these. */
	kvfree(fkt_since_ready);
	kvfree(fkt_since_left);
	kvfree(fkt_since_softirq);
	fkt_since_ready = NULL;
	fkt_since_left = NULL;
	fkt_since_softirq = NULL;
}

/* A module unload waits for the work; nobody queues it any more. */
static void fkt_trigger_exit(void)
{
	irq_work_sync(&fkt_trigger_work);
}

/**
 * fkt_trigger_pending - whether a trigger has fired since they were armed
 *
 * Context: any.
 */
bool fkt_trigger_pending(void)
{
	/* Pairs with the release in fkt_trigger_fire(). */
	return smp_load_acquire(&fkt_trigger_fired);
}

/**
 * fkt_trigger_tell - what has fired, see FKT_TRIGGERED
 * @told: filled in
 *
 * Context: process; the session's lock.
 */
void fkt_trigger_tell(struct fkt_triggered *told)
{
	int cpu;
	const bool fired = fkt_trigger_pending();
	u64 ignored = 0;

	for_each_possible_cpu(cpu)
		ignored += READ_ONCE(per_cpu(fkt_triggers_ignored, cpu));
	*told = fired ? fkt_trigger_last : (struct fkt_triggered){ .number = FKT_TRIGGER_NONE };
	told->ignored = ignored;
}

/**
 * fkt_trigger_arm - the next one fires again, see FKT_TRIGGER_ARM
 *
 * Context: process; the session's lock.
 */
void fkt_trigger_arm(void)
{
	if (!fkt_trigger_pending())
		return;
	WRITE_ONCE(fkt_trigger_fired, false);
	/* A probe that fires from here on finds what was told read, and sets it anew. */
	atomic_set_release(&fkt_trigger_armed, 1);
}

const struct fkt_provider fkt_provider_trigger = {
	.name = "trigger",
	.keys = ~0u,
	.spec_bytes = sizeof(struct fkt_trigger_spec),
	.common_max = FKT_TRIGGER_FETCH_MAX * sizeof(struct fkt_fetch),
	.count_max = FKT_TRIGGERS_MAX,
	.lockdown = LOCKDOWN_KPROBES,
	.exit = fkt_trigger_exit,
	.begin = fkt_trigger_begin,
	.add = fkt_trigger_add,
	.clear = fkt_trigger_clear,
	.status = fkt_trigger_status,
	.attach = fkt_trigger_attach,
	.detach = fkt_trigger_detach,
};

// SPDX-License-Identifier: GPL-2.0-only
/* Opening and closing the gate, see fkt_gate.h; the trampolines are in arch/NAME/trampoline.S. */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include "../compat.h"
#include "fkt_gate.h"
#include "function_arch.h"
#include "trampoline.h"

/*
 * trampoline.S has 16 and 80 of it in its unwinding hints. The copies are 80 bytes below the
 * arguments: one that has to stand at a multiple of 16 still does.
 */
static_assert(FKT_GATE_COPY_WORDS == 8);
static_assert((8 * FKT_GATE_COPY_WORDS + 16) % 16 == 0);

static DEFINE_MUTEX(fkt_gate_lock);
/* Pinned until the machine is restarted; @fkt_gate_lock. */
static bool fkt_gate_stays;
/* Whether ftrace was told to keep its table; @fkt_gate_lock. */
static bool fkt_gate_keeps;
/* What the next recording's tickets begin with; @fkt_gate_lock. */
static u64 fkt_gate_next = 1;

/*
 * The tickets of the recording that has the gate open, or of the next one, and how many: 0 while
 * nobody has. The trampolines read the one, then the other: the first changes only while there are
 * none.
 */
u64 fkt_gate_first = 1;
u64 fkt_gate_tickets;

static u64 __kprobes fkt_gate_no_entry(struct fkt_gate_call *call)
{
	return 0;
}

static u64 __kprobes fkt_gate_no_entry_copying(struct fkt_gate_copying_call *call)
{
	return 0;
}

static void __kprobes fkt_gate_no_exit(u64 ticket, u64 ret)
{
}

/* The trampolines call them by these names. */
DEFINE_STATIC_CALL(fkt_gate_entry, fkt_gate_no_entry);
DEFINE_STATIC_CALL(fkt_gate_entry_copying, fkt_gate_no_entry_copying);
DEFINE_STATIC_CALL(fkt_gate_exit, fkt_gate_no_exit);

/**
 * fkt_gate_resched - preemption is on again, and another task was to run meanwhile
 */
void __kprobes fkt_gate_resched(void)
{
	preempt_disable_notrace();
	preempt_enable_notrace();
}

/*
 * Several tracers share a function, and ftrace asks them all: here it is told to go on to the
 * trampoline
 * @to as if the function called it, with all registers as they were. A BPF program that came later
 *	than
 * this hook has said already where to go on, and there is one such place only: the call is passed
 * by, and said to be. Preemption is off.
 */
static __always_inline void fkt_gate_shared_by(struct ftrace_regs *fregs, void (*to)(void))
{
	unsigned long *detour = fkt_arch_detour(ftrace_get_regs(fregs));
	struct fkt_gate_call passed = { .body = 0 };

	if (*detour) {
		static_call(fkt_gate_entry)(&passed);
		return;
	}
	*detour = (unsigned long)to;
}

static void __kprobes fkt_gate_shared(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fkt_gate_shared_by(fregs, fkt_gate_called);
}

static void __kprobes fkt_gate_shared_copying(unsigned long ip, unsigned long parent_ip,
					      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	fkt_gate_shared_by(fregs, fkt_gate_called_copying);
}

/**
 * fkt_gate_open - have the gate call a recording's functions
 * @ops: them
 * @tickets: how many tickets the recording may give, not 0
 * @gate: receives its first ticket, and what to hook functions with
 *
 * From the first time on, this module stays loaded.
 *
 * Context: process; may sleep.
 * Return: 0, -EBUSY while another one has it open, -EOPNOTSUPP while ftrace is turned off, or
 * another negative errno value of ftrace's.
 */
int fkt_gate_open(const struct fkt_gate_ops *ops, u64 tickets, struct fkt_gate *gate)
{
	int ret = -EBUSY;

	mutex_lock(&fkt_gate_lock);
	if (fkt_gate_tickets)
		goto out;
	/* Before anything is hooked: from now on it may be called for ever. */
	if (!fkt_gate_stays)
		__module_get(THIS_MODULE);
	fkt_gate_stays = true;
	ret = fkt_gate_guard_set();
	if (ret)
		goto out;
	/* It needs ftrace turned on, as it is now. */
	if (!fkt_gate_keeps)
		fkt_gate_keep_table();
	fkt_gate_keeps = true;
	fkt_gate_next += tickets;
	*gate = (struct fkt_gate){
		.first = fkt_gate_first,
		.called = (unsigned long)fkt_gate_called,
		.called_copying = (unsigned long)fkt_gate_called_copying,
		.shared = fkt_gate_shared,
		.shared_copying = fkt_gate_shared_copying,
	};
	static_call_update(fkt_gate_exit, ops->exit);
	/*
	 * Changing the code makes every CPU see what was written before. Nobody has one of these
	 * tickets before the other two are called.
	 */
	WRITE_ONCE(fkt_gate_tickets, tickets);
	static_call_update(fkt_gate_entry, ops->entry);
	static_call_update(fkt_gate_entry_copying, ops->entry_copying);
out:
	mutex_unlock(&fkt_gate_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(fkt_gate_open);

/**
 * fkt_gate_close - have it call nobody any more
 *
 * When it returns, none of the recording's functions runs, or ever will; tasks that are inside
 * traced functions, or on their way in, come through later and call nothing.
 *
 * Context: process; may sleep.
 */
void fkt_gate_close(void)
{
	mutex_lock(&fkt_gate_lock);
	static_call_update(fkt_gate_entry, fkt_gate_no_entry);
	static_call_update(fkt_gate_entry_copying, fkt_gate_no_entry_copying);
	WRITE_ONCE(fkt_gate_tickets, 0);
	/* Whoever has read the last one's is waited for below, before the next one can begin. */
	smp_wmb(); /* partner: LEAVE in trampoline.S, whose loads are in order */
	WRITE_ONCE(fkt_gate_first, fkt_gate_next);
	static_call_update(fkt_gate_exit, fkt_gate_no_exit);
	fkt_gate_guard_clear();
	/*
	 * Those who were on their way have preemption off. Where RCU does not watch, in idle tasks
	 * of kernels that let functions be traced there, the second one waits for them. Neither
	 * waits for a CPU that is just coming or going: let it have come, or gone.
	 */
	cpus_read_lock();
	cpus_read_unlock();
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
	mutex_unlock(&fkt_gate_lock);
}
EXPORT_SYMBOL_GPL(fkt_gate_close);

/**
 * fkt_gate_text - where this module's code is, which is on the stack within traced functions
 * @begin: receives its address
 * @bytes: receives its size
 */
void fkt_gate_text(unsigned long *begin, size_t *bytes)
{
	const struct fkt_text text = fkt_module_text(THIS_MODULE);

	*begin = text.begin;
	*bytes = text.bytes;
}
EXPORT_SYMBOL_GPL(fkt_gate_text);

MODULE_DESCRIPTION("Fast Kernel Tracing: the way into and out of traced functions");
MODULE_LICENSE("GPL");

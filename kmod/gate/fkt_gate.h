/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fkt_gate.ko: what stands on the stacks of tasks that are inside traced functions.
 *
 * A task may sleep in a traced function for ever, and returns through the trampoline that entered
 * it. So the trampolines are a module of their own, which stays in memory from when functions are
 * first traced until the machine is restarted. Of the recording that uses them the gate knows three
 * functions, and calls them with preemption off while the recording has it open; when
 * fkt_gate_close() has returned, none of them is running or will be called, whoever is still
 * inside.
 *
 * Each return is known by a ticket: a number that the recording gave when the function was entered,
 * from a range that no other recording ever gets. A return with a ticket of a recording that has
 * ended goes on to the caller and calls nothing.
 *
 * A newer fkt.ko meets a gate that was loaded long ago: this interface is not to change.
 */
#ifndef FKT_GATE_H
#define FKT_GATE_H

/* Words of arguments on the stack that a copying trampoline has room for. */
#define FKT_GATE_COPY_WORDS 8
/* Registers with arguments that a recording is shown, see struct fkt_gate_call. */
#define FKT_GATE_ARGS	    6

#ifndef __ASSEMBLER__

#include <linux/types.h>

struct ftrace_ops;
struct ftrace_regs;

/**
 * struct fkt_gate_call - a function that is entered, on the stack
 * @args: its argument registers
 * @body: where ftrace's call in the function returns to, to run it; 0 when the function is not
 *	known, for the call is passed by: it can't be recorded, and a ticket is of no use
 */
struct fkt_gate_call {
	u64 args[FKT_GATE_ARGS];
	unsigned long body;
};

/**
 * struct fkt_gate_copying_call - the same, of one that may have arguments on the stack
 * @args: its argument registers
 * @copy_words: to be set: how many words of arguments it has on the stack, at most
 *	FKT_GATE_COPY_WORDS; 0 when not set
 * @body: where ftrace's call in the function returns to
 */
struct fkt_gate_copying_call {
	u64 args[FKT_GATE_ARGS];
	unsigned long copy_words;
	unsigned long body;
};

/**
 * struct fkt_gate_ops - what the gate calls, in the context of the traced function: any; preemption
 * off
 * @entry: a function is entered. Return: a ticket for its return, 0 when that is not to be caught
 * @entry_copying: the same, by the copying trampoline
 * @exit: a function returns that was entered with a ticket of this recording: the ticket, less the
 *	first one of this recording, and what is in %rax
 */
struct fkt_gate_ops {
	u64 (*entry)(struct fkt_gate_call *call);
	u64 (*entry_copying)(struct fkt_gate_copying_call *call);
	void (*exit)(u64 ticket, u64 ret);
};

/**
 * struct fkt_gate - an open gate
 * @first: the first of the recording's tickets; never 0
 * @called: the trampoline, for ftrace's direct calls
 * @called_copying: the same for functions that have arguments on the stack: the body finds copies
 * @shared: what an ftrace_ops calls, with FTRACE_OPS_FL_SAVE_REGS, whose own trampoline @called is:
 *	where other tracers share a function with it
 * @shared_copying: the same with @called_copying
 */
struct fkt_gate {
	u64 first;
	unsigned long called;
	unsigned long called_copying;
	void (*shared)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);
	void (*shared_copying)(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs);
};

int fkt_gate_open(const struct fkt_gate_ops *ops, u64 tickets, struct fkt_gate *gate);
void fkt_gate_close(void);
void fkt_gate_text(unsigned long *begin, size_t *bytes);

#endif
#endif

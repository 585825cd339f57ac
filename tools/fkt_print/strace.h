/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How strace(1) writes what system calls were given, and what they returned. */
#ifndef STRACE_H
#define STRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <fkt/calls.h>
#include <fkt/trace.h>

#define STRACE_ARGS_MAX 6

/**
 * struct strace_shape - what a system call is given
 * @name: what it is called; NULL: nobody knows
 * @args: how many arguments it has
 * @kind: of each, of enum fkt_arg_kind
 * @table: of those that are FKT_ARG_FLAGS
 * @result: of enum fkt_result_kind
 * @known: it is in FKT_CALLS
 */
struct strace_shape {
	const char *name;
	unsigned int args;
	uint8_t kind[STRACE_ARGS_MAX];
	const char *table[STRACE_ARGS_MAX];
	uint8_t result;
	bool known;
};

/**
 * struct strace_data - what events FKT_CODE_DATA said for a call
 * @code: the call's
 * @text: a struct piece for each event, and its bytes
 * @bytes: length of @text
 * @room: of @text
 */
struct strace_data {
	uint32_t code;
	char *text;
	size_t bytes;
	size_t room;
};

/**
 * struct strace_call - a system call
 * @trace: the trace
 * @shape: of the call
 * @compat: it is a 32-bit program's
 * @args: how many arguments were recorded
 * @arg: the arguments
 * @data: what they point to
 * @ended: it has returned, with @result
 * @result: the result
 */
struct strace_call {
	struct fkt_trace *trace;
	const struct strace_shape *shape;
	bool compat;
	unsigned int args;
	uint64_t arg[STRACE_ARGS_MAX];
	struct strace_data data;
	bool ended;
	int64_t result;
};

/**
 * strace_shape() - look a system call up
 * @shape: filled in
 * @call: as the trace has it; NULL: nobody knows it
 */
void strace_shape(struct strace_shape *shape, const struct fkt_syscall *call);

/**
 * strace_data_add() - keep what an event FKT_CODE_DATA says
 * @data: where; begin with all zero, and free @text in the end
 * @event: the event; one that is wrong is not kept
 *
 * Return: 0 or -ENOMEM.
 */
int strace_data_add(struct strace_data *data, const struct fkt_event *event);

/**
 * strace_put_args() - write arguments, with the commas between them
 * @file: where to
 * @call: the call
 * @from: the first one
 *
 * Before the call has ended, it ends at the first one that only the end tells.
 *
 * Return: the next one; call->shape->args when there is none.
 */
unsigned int strace_put_args(FILE *file, const struct strace_call *call, unsigned int from);

/** strace_put_result() - write what it returned, without "= " */
void strace_put_result(FILE *file, const struct strace_call *call);

/** strace_put_signal() - write the name of a signal; @number where there is none */
void strace_put_signal(FILE *file, const struct fkt_trace *trace, uint32_t number);

#endif

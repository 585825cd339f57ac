/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments and the results of calls, by themselves. */
#ifndef FKT_ARGS_H
#define FKT_ARGS_H

#include <fkt/trace.h>

struct fkt_args;

/**
 * fkt_args_new() - begin to show arguments
 * @trace: the trace, which must outlive it
 * @processes: its threads, likewise
 * @format: people get "fd=3, count=4096" and "= 12", programs an object of JSON
 *
 * Return: to be freed with fkt_args_free(), or NULL without memory.
 */
struct fkt_args *fkt_args_new(struct fkt_trace *trace, struct fkt_processes *processes,
			      const struct fkt_format *format);

/**
 * fkt_args_free() - end
 * @args: may be NULL
 */
void fkt_args_free(struct fkt_args *args);

/**
 * fkt_args_entry() - the arguments of a call
 * @args: the arguments
 * @entry: the event that begins it; NULL: it is not known
 * @row: of the call; what its name says is not said again to people
 *
 * Return: the text, valid until the next call.
 */
const char *fkt_args_entry(struct fkt_args *args, const struct fkt_event *entry, uint32_t row);

/**
 * fkt_args_exit() - what a call returned, for people
 * @args: the arguments
 * @exit: the event that ends it; NULL: none did
 * @row: of the call
 *
 * Return: "= 12" and whatever else was recorded, or ""; valid until the next call.
 */
const char *fkt_args_exit(struct fkt_args *args, const struct fkt_event *exit, uint32_t row);

/**
 * fkt_args_name_threads() - whether an event has arguments that are shown with a thread's name
 * @args: the arguments
 * @event: the event, or NULL
 *
 * Such are to be shown while the threads are those of that moment.
 */
bool fkt_args_name_threads(struct fkt_args *args, const struct fkt_event *event);

/**
 * fkt_args_result() - the same as a number
 * @args: the arguments
 * @exit: the event that ends the call; NULL: none did
 * @value: set to it
 * @error: set to the name of the error that it is, or to NULL
 *
 * Return: false when it has no result, or it was not recorded.
 */
bool fkt_args_result(struct fkt_args *args, const struct fkt_event *exit, struct fkt_value *value,
		     const char **error);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own tracing of functions, which FKT's hooks are part of. */
#ifndef FKT_RECORD_FTRACE_H
#define FKT_RECORD_FTRACE_H

struct functions;

/*
 * * ftrace_directory - where tracefs is mounted; mounts it if it is not; NULL with errno if it
 * can't
 */
const char *ftrace_directory(void);

/** tracefs - the same; exits with a message if it can't */
const char *tracefs(void);

/**
 * ftrace_refuse_disabled - whether all tracing of functions is turned off (kernel.ftrace_enabled)
 *
 * Return: 0, or -1 with a message when it is.
 */
int ftrace_refuse_disabled(void);

/**
 * kprobes_refuse_disabled - whether the kernel calls no kprobes, or none at functions' beginnings,
 * which it has ftrace call
 *
 * Return: 0, or -1 with a message when it does not.
 */
int kprobes_refuse_disabled(void);

/**
 * ftrace_mark_held - find the functions whose place is taken by somebody who can't share it
 * @functions: all that may be traced, sorted; those are marked as @held
 */
void ftrace_mark_held(struct functions *functions);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fkt doctor: whether this machine can be traced, and what helps where it can't. */
#ifndef FKT_DOCTOR_H
#define FKT_DOCTOR_H

#include <stddef.h>

#define FINDING_BYTES 384

enum verdict {
	VERDICT_GOOD,
	VERDICT_NOTE,	 /* recording works, but for what is said */
	VERDICT_PROBLEM, /* it does not */
};

/**
 * struct finding - what was found out of one thing
 * @verdict: enum verdict
 * @text: how it is, in words
 * @remedy: what to do; empty where there is nothing to be done
 */
struct finding {
	int verdict;
	char text[FINDING_BYTES];
	char remedy[FINDING_BYTES];
};

/* What is looked at: X(name), a function check_name() in checks.c or module.c, in this order. */
#define CHECKS(X)                                                                                  \
	X(kernel)                                                                                  \
	X(headers)                                                                                 \
	X(module)                                                                                  \
	X(signature)                                                                               \
	X(lockdown)                                                                                \
	X(permissions)                                                                             \
	X(recording)                                                                               \
	X(ftrace)                                                                                  \
	X(types)                                                                                   \
	X(clock)                                                                                   \
	X(disk)

#define X(name) void check_##name(struct finding *finding);
CHECKS(X)
#undef X

/** finding_set() - fill it in; @remedy may be NULL */
void finding_set(struct finding *finding, int verdict, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * read_line() - the first line of a small file
 * @path: its name
 * @line: without its newline; empty when there is none
 * @bytes: room there
 *
 * Return: 0, or -1 with errno.
 */
int read_line(const char *path, char *line, size_t bytes);

/**
 * doctor() - the command
 * @argc, @argv: its words, the first one its name
 *
 * Return: 0, 1 when something keeps FKT from recording, 2 for a wrong command line.
 */
int doctor(int argc, char **argv);

#endif

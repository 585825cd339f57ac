/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that can be traced, and those that are to be. */
#ifndef FKT_RECORD_FUNCTIONS_H
#define FKT_RECORD_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "btf.h"

enum function_how {
	FUNCTION_PAIR,	/* entry and exit */
	FUNCTION_COPY,	/* both, but the arguments on the stack have to be copied */
	FUNCTION_ENTRY, /* entry alone */
	FUNCTION_NEVER,
};

/**
 * struct function_fields - what the entry of a function has in place of its arguments
 * @spec: its code's spec
 * @first: the first operation that fetches it, of fields_fetches()
 * @ops: how many operations
 */
struct function_fields {
	char *spec;
	uint32_t first;
	uint16_t ops;
};

/**
 * struct function - a function of the kernel or of a module
 * @address: of it, or of ftrace's place in it
 * @order: the first letters of @name, as a number that compares as they do
 * @name: its name
 * @module: its module, NULL for the kernel's own
 * @keys: mask of the layers in which it is to be traced
 * @root: whether it is one of those that --graph names
 * @held: whether a BPF program or a live patch has it, so that nobody else can
 * @namesakes: how many functions of its module have its name, 0 where they were not counted
 * @barred: why ftrace's place for it is not to be used, NULL if it is
 * @fields: what its entry is to have in place of its arguments, or NULL
 * @described: whether the rest is known
 * @how: how it is traced
 * @why: why not better than that, NULL if there is an exit
 * @unknown: why nothing is known of its arguments, NULL if something is
 * @signature: its arguments and result, NULL unless @described
 */
struct function {
	uint64_t address;
	uint64_t order;
	const char *name;
	const char *module;
	uint32_t keys;
	bool root;
	bool held;
	bool described;
	uint32_t namesakes;
	const char *barred;
	const struct function_fields *fields;
	enum function_how how;
	const char *why;
	const char *unknown;
	const struct signature *signature;
};

struct functions {
	struct function *function;
	size_t count;
};

/**
 * functions_hookable - all functions that ftrace can hook, by name
 *
 * Exits with a message where ftrace does not tell.
 */
struct functions *functions_hookable(void);

/** functions_symbols - all functions by name, whether ftrace can hook them or not */
struct functions *functions_symbols(void);

/**
 * functions_named - of all functions, those of some names
 * @names: names, separated by |
 * @count: how many such texts
 *
 * What functions_symbols() has of them, for much less: nothing else is sorted. It is the caller's,
 * who has no more than one of them.
 */
struct functions *functions_named(const char *const *names, size_t count);

/**
 * functions_picked - of the functions that ftrace can hook, those of some names, and others that
 * patterns name
 * @names, @count: see functions_named()
 * @patterns: as functions_match() has them, NULL after the last one; may be NULL
 *
 * What functions_hookable() has of them, for much less: the module is asked for these alone. It is
 * the caller's, who has no more than one of them.
 *
 * Return: NULL where the patterns name too many, or the module does not tell.
 */
struct functions *functions_picked(const char *const *names, size_t count, char *const *patterns);

/** functions_find - the first function with that name, which those with the same name follow */
struct function *functions_find(const struct functions *functions, const char *name);

/**
 * functions_alias - of functions that ftrace can hook, one that is where a function of that name is
 *
 * Return: its name, or NULL.
 */
const char *functions_alias(const struct functions *hookable, const char *name);

/** functions_never - why a function is never traced, or NULL */
const char *functions_never(const struct function *function);

/**
 * functions_own - whether a module is one of FKT's, which does not trace itself
 * @module: its name
 */
bool functions_own(const char *module);

/**
 * functions_for_bpf - whether a function is there for BPF programs to be attached to
 *
 * Only who means these functions traces them: no program can be attached meanwhile.
 */
bool functions_for_bpf(const struct function *function);

/** functions_describe - find out how a function is to be traced */
void functions_describe(struct function *function);

/**
 * functions_match - whether a pattern names a function
 * @pattern: a glob of names, after "MODULE:" of those of that module
 */
bool functions_match(const char *pattern, const struct function *function);

/** functions_nearest - the name that resembles this one most, NULL if none does */
const char *functions_nearest(const struct functions *functions, const char *name);

/* fields.c */

struct codes;
struct fkt_fetch;

/**
 * fields_take - take the fields that are named behind a function
 * @text: what -F is given, which stays: GLOB, or "GLOB FIELD…"
 * @any: set to whether there are any
 *
 * Return: the glob, the caller's.
 */
char *fields_take(char *text, bool *any);

/** fields_any - whether there are any of any function */
bool fields_any(void);

/**
 * fields_find - work out what the functions fetch that are in the layer FUNCTIONS
 *
 * Ends with a message when one of them does not have what is asked for.
 */
void fields_find(const struct functions *functions, struct codes *codes);

/** fields_fetches - the operations of all of them */
const struct fkt_fetch *fields_fetches(uint32_t *count);

/**
 * hazard_find - what speaks against tracing a function, see hazards.c
 * @why: receives the reason
 */
enum function_how hazard_find(const char *name, const char **why);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's own type information (BTF) says of its functions. */
#ifndef FKT_RECORD_BTF_H
#define FKT_RECORD_BTF_H

#include <stdbool.h>
#include <stdint.h>

#define SIGNATURE_WORDS 6 /* argument registers */

/**
 * struct signature - a function's arguments and result
 * @known: whether BTF has the function; else the rest says nothing
 * @copy_words: how many words of its arguments are on the stack, at most; fkt_function_spec's
 * @unfit: why that can't be told, or is too much to copy; else NULL
 * @words: argument registers that it uses, in the order rdi, rsi, rdx, rcx, r8, r9
 * @word: the names of what they hold, and their types as in codes.h, the lowest bytes of a word
 * @ret_bytes: size of its result, 0 for none
 * @ret: the result's type
 */
struct signature {
	bool known;
	uint8_t copy_words;
	const char *unfit;
	uint32_t words;
	struct {
		const char *name;
		const char *type;
	} word[SIGNATURE_WORDS];
	uint8_t ret_bytes;
	const char *ret;
};

/**
 * btf_signature - look up a function
 * @name: its name
 * @module: its module, NULL for the kernel's own
 * @signature: filled in
 */
void btf_signature(const char *name, const char *module, struct signature *signature);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's arguments and its result, as the registers and the stack have them. */
#ifndef FKT_RECORD_SIGNATURE_H
#define FKT_RECORD_SIGNATURE_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include <fkt/ioctl.h>

#include "abi.h"

#define SIGNATURE_WORDS	 FKT_FUNCTION_ARGS_MAX

/* All that a spec has of an enum's names. */
#define ENUM_NAMES_BYTES 4500

/**
 * struct signature - a function's arguments and result
 * @known: whether BTF has the function; else the rest says nothing
 * @entries: how many functions of its name BTF has; what follows holds for each of them
 * @copy_words: how many words of its arguments are on the stack, at most; fkt_function_spec's
 * @unfit: why that can't be told, or is too much to copy; else NULL
 * @words: argument registers that it uses, in their order
 * @most_words: words of its arguments in registers and on the stack, of the function that has the
 *	       most; UINT32_MAX where that can't be told
 * @word: the names of what they hold, and their types as in codes.h, the lowest bytes of a word;
 *	of an enum, besides, which one it is and in which types, else NULL
 * @ret_bytes: size of its result, 0 for none
 * @ret: the result's type
 */
struct signature {
	bool known;
	uint32_t entries;
	uint8_t copy_words;
	const char *unfit;
	uint32_t words;
	uint32_t most_words;
	struct {
		const char *name;
		const char *type;
		const struct btf *btf;
		const struct btf_type *enumeration;
	} word[SIGNATURE_WORDS];
	uint8_t ret_bytes;
	const char *ret;
};

/**
 * signature_read - a function that has this prototype
 * @prototype: the type's id, a BTF_KIND_FUNC_PROTO
 * @signature: filled in, and known unless the prototype is broken
 */
void signature_read(const struct btf *btf, uint32_t prototype, struct signature *signature);

/**
 * signature_enum - the type that shows an enum's names, as in codes.h
 * @btf: the types of which it is
 * @type: the enum
 * @bytes: how many a value has
 * @spec: filled in: "enum32{NAME=NUMBER,…}"
 *
 * Return: false where there is no room for all names, or there are none.
 */
bool signature_enum(const struct btf *btf, const struct btf_type *type, uint32_t bytes,
		    char spec[ENUM_NAMES_BYTES]);

/**
 * signature_merge - a function that is one of two, nobody knows which
 * @signature: the one, and then what holds for both
 * @other: the other
 */
void signature_merge(struct signature *signature, const struct signature *other);

#endif

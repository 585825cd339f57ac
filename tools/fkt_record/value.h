/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's arguments by their names, and the fields that they lead to, as BTF has them. */
#ifndef FKT_RECORD_VALUE_H
#define FKT_RECORD_VALUE_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_STEPS_MAX	 16
#define VALUE_WHY_BYTES	 320
#define VALUE_TYPE_BYTES 128

/* The result of a function, as the beginning of a text. */
#define VALUE_RESULT	 "$retval"

/**
 * struct value - where a value is, and what
 * @argument: it is, or begins at, this one of the function's $argN, from 1; 0: at its result
 * @steps: how many times memory is read on the way, 0 for the argument itself
 * @offset: of each of them: where, from what there is by then
 * @bytes: the size of the number or pointer that it is, or of those that it is an array of: 1, 2, 4
 *	or 8; 0: it is neither
 * @is_signed: the number is
 * @is_pointer: it is a pointer
 * @is_function: and that to a function
 * @is_array: it is an array
 * @is_text: it is an array of bytes, or a pointer to some, or to what is not said: maybe a string
 * @is_chars: an array of characters, which is called so: a string
 * @elements: of an array: how many, 0 where the type does not tell
 * @bit: of a bit field: its first bit
 * @bits: of a bit field: how many, else 0
 * @type: its type, for messages
 * @btf: the types, of which @enumeration is one
 * @enumeration: of a number: the enum that it is of, NULL of others
 */
struct value {
	uint32_t argument;
	size_t steps;
	int64_t offset[VALUE_STEPS_MAX];
	uint8_t bytes;
	bool is_signed;
	bool is_pointer;
	bool is_function;
	bool is_array;
	bool is_text;
	bool is_chars;
	uint32_t elements;
	uint8_t bit;
	uint8_t bits;
	char type[VALUE_TYPE_BYTES];
	const struct btf *btf;
	const struct btf_type *enumeration;
};

/**
 * value_find - look up NAME, NAME->FIELD, NAME->FIELD.FIELD->FIELD…
 * @btf: the types
 * @prototype: the function's type, a BTF_KIND_FUNC_PROTO
 * @function: its name, for messages
 * @registers: how many of the machine's are for arguments; those on the stack are numbered behind
 * @text: what is written; for NAME there may be VALUE_RESULT
 * @value: filled in
 * @why: filled in with what is wrong, when it is
 *
 * Return: whether it is there.
 */
bool value_find(const struct btf *btf, const struct btf_type *prototype, const char *function,
		uint32_t registers, const char *text, struct value *value,
		char why[VALUE_WHY_BYTES]);

#endif

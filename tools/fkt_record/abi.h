/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the machine's ABI passes values, in registers or on the stack: arch/NAME/abi.c. */
#ifndef FKT_RECORD_ABI_H
#define FKT_RECORD_ABI_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct abi_value - what has to be known of a value to pass it
 * @bytes: its size
 * @in_registers: it is passed in registers if as many are left as it has words; else on the stack
 * @aligned: on the stack, it may have to stand at a multiple of 16 bytes
 * @overaligned: and possibly at a multiple of 32, or of more
 */
struct abi_value {
	uint32_t bytes;
	bool in_registers;
	bool aligned;
	bool overaligned;
};

/**
 * struct abi_places - what the arguments of a function have taken so far; begin with all zero
 * @registers: how many of those for arguments
 * @stack_words: words of 8 bytes on the stack, above the return address, or more than there are
 */
struct abi_places {
	uint32_t registers;
	uint32_t stack_words;
};

/** abi_words - how many words of 8 bytes a value has */
static inline uint32_t abi_words(const struct abi_value *value)
{
	return (value->bytes + 7) / 8;
}

/*
 * * abi_strip - the type that a typedef, or const, or such, stands for; NULL for void, or when it
 * is broken
 */
const struct btf_type *abi_strip(const struct btf *btf, uint32_t id);

/**
 * abi_value - find out how a value is passed
 * @id: its type
 * @value: filled in
 *
 * Return: NULL, or why that can't be told.
 */
const char *abi_value(const struct btf *btf, uint32_t id, struct abi_value *value);

/**
 * abi_place - pass the next argument
 * @places: of those before it, and then with it
 *
 * Return: whether it is in registers, the next abi_words() ones.
 */
bool abi_place(struct abi_places *places, const struct abi_value *value);

#endif

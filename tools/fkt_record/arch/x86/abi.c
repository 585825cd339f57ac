// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How x86-64's System V ABI passes values, as gcc does it (classify_argument() and
 * construct_container() of its config/i386/i386.cc).
 *
 * A value of up to 16 bytes is in as many general registers as it has words of 8 bytes, or on the
 * stack as a whole when there are not as many left; a smaller one that follows may get those. It is
 * on the stack always if it is larger, or has a field that is not at a multiple of its size.
 * Numbers with a point are in other registers. The kernel passes none, and BTF does not tell their
 * kinds: functions that do are not described.
 */
#include <stddef.h>

#include "../../abi.h"

#define ABI_REGISTERS	    6 /* rdi, rsi, rdx, rcx, r8, r9 */

/* A value larger than this is not passed in registers. */
#define REGISTERS_MAX_BYTES 16
#define WORD_BITS	    64

/* C allows for more, and a file may be broken. */
#define NESTING_MAX	    32

#define WHY_BROKEN	    "BTF's description of it is broken"
#define WHY_POINT	    "it passes floating-point numbers"
#define WHY_VECTOR	    "it passes vectors"
#define WHY_HOLE	    "it passes a structure with a hole"

/**
 * struct layout - what was found out of a value
 * @used: which of its words have any field; a word without is passed or not as the compiler likes
 * @misaligned: a field is not at a multiple of its size
 * @wide: it has a number of 128 bits
 * @why: why it can't be told, or NULL
 */
struct layout {
	bool used[REGISTERS_MAX_BYTES * 8 / WORD_BITS];
	bool misaligned;
	bool wide;
	const char *why;
};

const struct btf_type *abi_strip(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	for (int n = 0; type && (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type));
	     n++)
		type = n < NESTING_MAX ? btf__type_by_id(btf, type->type) : NULL;
	return type && !btf_is_void(type) ? type : NULL;
}

static void use(struct layout *layout, uint32_t bit, uint32_t bits)
{
	for (uint32_t word = bit / WORD_BITS; bits && word <= (bit + bits - 1) / WORD_BITS; word++)
		if (word < sizeof(layout->used) / sizeof(layout->used[0]))
			layout->used[word] = true;
}

static void add_type(const struct btf *btf, uint32_t id, uint32_t bit, int nesting,
		     struct layout *layout);

static void add_number(const struct btf_type *type, uint32_t bit, struct layout *layout)
{
	uint32_t bits = btf_is_ptr(type) ? WORD_BITS : type->size * 8;

	if (btf_is_int(type) && (btf_int_offset(type) || btf_int_bits(type) != bits)) {
		/* How old compilers described bit fields. */
		use(layout, bit + btf_int_offset(type), btf_int_bits(type));
		return;
	}
	if (!bits || bits & (bits - 1) || bits > 2 * WORD_BITS)
		layout->why = WHY_BROKEN;
	else if (bit % bits)
		layout->misaligned = true;
	layout->wide |= bits > WORD_BITS;
	use(layout, bit, bits);
}

static void add_members(const struct btf *btf, const struct btf_type *type, uint32_t bit,
			int nesting, struct layout *layout)
{
	for (uint32_t i = 0; i < btf_vlen(type) && !layout->why; i++) {
		uint32_t at = bit + btf_member_bit_offset(type, i);
		uint32_t bits = btf_member_bitfield_size(type, i);

		if (bits)
			use(layout, at, bits);
		else
			add_type(btf, btf_members(type)[i].type, at, nesting, layout);
	}
}

static void add_array(const struct btf *btf, const struct btf_type *type, uint32_t bit, int nesting,
		      struct layout *layout)
{
	const struct btf_array *array = btf_array(type);
	long long bytes = array->nelems ? btf__resolve_size(btf, array->type) : 0;

	if (bytes < 0 || bytes > REGISTERS_MAX_BYTES)
		layout->why = WHY_BROKEN;
	/* Those behind the first 16 bytes are in a value that is on the stack anyway. */
	for (uint32_t i = 0; bytes && i < array->nelems && i < REGISTERS_MAX_BYTES && !layout->why;
	     i++)
		add_type(btf, array->type, bit + i * (uint32_t)bytes * 8, nesting, layout);
}

static void add_type(const struct btf *btf, uint32_t id, uint32_t bit, int nesting,
		     struct layout *layout)
{
	const struct btf_type *type = abi_strip(btf, id);

	if (!type || nesting == NESTING_MAX)
		layout->why = WHY_BROKEN;
	else if (btf_is_ptr(type) || btf_is_int(type) || btf_is_any_enum(type))
		add_number(type, bit, layout);
	else if (btf_is_composite(type))
		add_members(btf, type, bit, nesting + 1, layout);
	else if (btf_is_array(type))
		add_array(btf, type, bit, nesting + 1, layout);
	else
		layout->why = btf_is_float(type) ? WHY_POINT : WHY_BROKEN;
}

const char *abi_value(const struct btf *btf, uint32_t id, struct abi_value *value)
{
	const struct btf_type *type = abi_strip(btf, id);
	struct layout layout = { 0 };

	if (!type)
		return WHY_BROKEN;
	/* Else an array is passed as a pointer. */
	if (btf_is_array(type))
		return WHY_VECTOR;
	*value = (struct abi_value){ .bytes = btf_is_ptr(type) ? 8 : type->size };
	if (btf_is_composite(type)) {
		/*
		 * What an attribute asks for is not in BTF, but a structure's size is a multiple of
		 * it.
		 */
		value->aligned = !(value->bytes % 16);
		value->overaligned = !(value->bytes % 32);
		if (value->bytes > REGISTERS_MAX_BYTES)
			return NULL;
	}
	add_type(btf, id, 0, 0, &layout);
	if (layout.why)
		return layout.why;
	value->aligned |= layout.wide;
	value->in_registers = !layout.misaligned;
	for (uint32_t i = 0; i < abi_words(value); i++)
		if (!layout.used[i])
			return WHY_HOLE;
	return NULL;
}

bool abi_place(struct abi_places *places, const struct abi_value *value)
{
	uint32_t words = abi_words(value);

	if (value->in_registers && words <= ABI_REGISTERS - places->registers) {
		places->registers += words;
		return true;
	}
	if (words && value->aligned)
		places->stack_words += places->stack_words & 1;
	places->stack_words += words;
	return false;
}

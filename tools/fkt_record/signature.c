// SPDX-License-Identifier: GPL-2.0-or-later
/* A function's arguments and its result, as the registers and the stack have them. */
#include <fkt/ioctl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "signature.h"

static const char *const unnamed[SIGNATURE_WORDS] = {
	"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"
};

/* Types of 1, 2, 4 and 8 bytes: of arguments without and with a sign, of results. */
static const char *const numbers[][2] = {
	{ "u8", "s8" },
	{ "u16", "s16" },
	{ "u32", "s32" },
	{ "arg", "arg" },
};
static const char *const results[][2] = {
	{ "retu8", "rets8" },
	{ "retu16", "rets16" },
	{ "retu32", "rets32" },
	{ "ret", "ret" },
};
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
static const char *const plain[] = { "x8", "x16", "x32", "x64" };

/* Which of these types has a value: of the largest size that it fills. */
static uint32_t size_row(uint32_t bytes)
{
	return bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
}

static bool is_signed(const struct btf_type *type)
{
	if (btf_is_int(type))
		return btf_int_encoding(type) & BTF_INT_SIGNED;
	return btf_is_any_enum(type) && btf_kflag(type);
}

/* The type in which one word of 8 bytes shows a value, or the part of it that is left. */
static const char *word_type(const struct btf *btf, const struct btf_type *type, uint32_t bytes)
{
	const struct btf_type *pointed;

	if (btf_is_ptr(type)) {
		pointed = abi_strip(btf, type->type);
		return pointed && btf_is_func_proto(pointed) ? "sym" : "x64";
	}
	if (type->size <= 8 && (btf_is_int(type) || btf_is_any_enum(type)))
		return numbers[size_row(bytes)][is_signed(type)];
	/* Odd sizes are shown with what the register has above them. */
	return plain[bytes >= 8 || bytes & (bytes - 1) ? 3 : size_row(bytes)];
}

bool signature_enum(const struct btf *btf, const struct btf_type *type, uint32_t bytes,
		    char spec[ENUM_NAMES_BYTES])
{
	const bool wide = btf_is_enum64(type);
	const size_t begin = (size_t)sprintf(spec, "enum%" PRIu32 "{", 8 * bytes);
	size_t used = begin;

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(btf, wide ? btf_enum64(type)[i].name_off
								 : btf_enum(type)[i].name_off);
		int64_t number = wide ? (int64_t)btf_enum64_value(&btf_enum64(type)[i])
				      : btf_enum(type)[i].val;

		/* What C has no such names for, a reader could not find the end of. */
		if (!name || !*name || name[strspn(name, NAME_LETTERS)])
			continue;
		used += (size_t)snprintf(spec + used, ENUM_NAMES_BYTES - used, "%s%s=%" PRId64,
					 used == begin ? "" : ",", name, number);
		if (used + sizeof("}") > ENUM_NAMES_BYTES)
			return false;
	}
	strcpy(spec + used, "}");
	return used > begin;
}

static void add_word(struct signature *signature, const char *name, const char *type)
{
	signature->word[signature->words].name = name && *name ? name : unnamed[signature->words];
	signature->word[signature->words++].type = type;
}

/* A result that is not passed in registers is where the function is told, by one argument more. */
static void set_result(const struct btf *btf, uint32_t id, struct abi_places *places,
		       struct signature *signature)
{
	static const struct abi_value pointer = { .bytes = 8, .in_registers = true };
	const struct btf_type *type = abi_strip(btf, id);
	struct abi_value value;
	uint32_t row = 3;

	signature->ret_bytes = 0;
	signature->ret = "void";
	/* %rax has no number with a point. */
	if (!type || btf_is_float(type))
		return;
	signature->unfit = abi_value(btf, id, &value);
	if (signature->unfit)
		return;
	if (!value.in_registers) {
		abi_place(places, &pointer);
		add_word(signature, "result", "x64");
	} else if (!value.bytes) {
		return;
	} else if (!(value.bytes & (value.bytes - 1))) {
		row = size_row(value.bytes);
	}
	signature->ret_bytes = (uint8_t)(1u << row);
	signature->ret = results[row][is_signed(type)];
}

static void add_parameter(const struct btf *btf, const struct btf_param *parameter,
			  struct abi_places *places, struct signature *signature)
{
	const char *name = btf__name_by_offset(btf, parameter->name_off);
	const struct btf_type *type;
	struct abi_value value;

	/* The last parameter without a type stands for "…". */
	if (!parameter->type) {
		signature->unfit = "it takes a varying number of arguments";
		return;
	}
	signature->unfit = abi_value(btf, parameter->type, &value);
	if (signature->unfit)
		return;
	if (!abi_place(places, &value)) {
		if (value.overaligned)
			signature->unfit = "it has a structure on the stack that may have to stand "
					   "at a multiple of 32 bytes";
		return;
	}
	type = abi_strip(btf, parameter->type);
	for (uint32_t done = 0; done < value.bytes; done += 8)
		add_word(signature, name, word_type(btf, type, value.bytes - done));
	if (value.bytes == type->size && btf_is_any_enum(type)) {
		signature->word[signature->words - 1].btf = btf;
		signature->word[signature->words - 1].enumeration = type;
	}
}

void signature_read(const struct btf *btf, uint32_t prototype, struct signature *signature)
{
	const struct btf_type *type = btf__type_by_id(btf, prototype);
	struct abi_places places = { 0 };

	*signature = (struct signature){ .ret_bytes = 8, .ret = "ret" };
	if (!type || !btf_is_func_proto(type))
		return;
	signature->known = true;
	signature->entries = 1;
	set_result(btf, type->type, &places, signature);
	for (uint32_t i = 0; i < btf_vlen(type) && !signature->unfit; i++)
		add_parameter(btf, btf_params(type) + i, &places, signature);
	if (!signature->unfit && places.stack_words > FKT_FUNCTION_COPY_MAX)
		signature->unfit = "it has too many arguments on the stack";
	if (!signature->unfit)
		signature->copy_words = (uint8_t)places.stack_words;
	signature->most_words = signature->unfit ? UINT32_MAX
						 : signature->words + places.stack_words;
}

void signature_merge(struct signature *signature, const struct signature *other)
{
	signature->entries += other->entries;
	if (!signature->unfit)
		signature->unfit = other->unfit;
	/* Copying a few more than there are does no harm: the caller has something there. */
	if (other->copy_words > signature->copy_words)
		signature->copy_words = other->copy_words;
	if (other->most_words > signature->most_words)
		signature->most_words = other->most_words;
	if (other->words < signature->words)
		signature->words = other->words;
	for (uint32_t i = 0; i < signature->words; i++) {
		if (strcmp(signature->word[i].name, other->word[i].name))
			signature->word[i].name = unnamed[i];
		if (strcmp(signature->word[i].type, other->word[i].type))
			signature->word[i].type = "x64";
		if (signature->word[i].enumeration != other->word[i].enumeration)
			signature->word[i].enumeration = NULL;
	}
	if (strcmp(signature->ret, other->ret)) {
		signature->ret_bytes = 0;
		signature->ret = "void";
	}
}

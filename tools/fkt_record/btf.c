// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's own type information (BTF) says of its functions: which registers hold their
 * arguments, by the x86-64 calling convention, and what they return.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <fkt/ioctl.h>
#include <stdlib.h>
#include <string.h>

#include "btf.h"

/* A value larger than this is not passed in registers. */
#define VALUE_MAX_BYTES 16

/**
 * struct types - the type information of the kernel or of a module
 * @module: its name, NULL for the kernel
 * @btf: NULL where there is none
 * @bucket: functions by their names: type ids, 0 where there is none
 * @mask: number of buckets, a power of two, less one
 */
struct types {
	struct types *next;
	char *module;
	struct btf *btf;
	uint32_t *bucket;
	uint32_t mask;
};

static struct types *all_types;

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

static const char *function_name(const struct types *types, uint32_t id)
{
	return btf__name_by_offset(types->btf, btf__type_by_id(types->btf, id)->name_off);
}

static void index_functions(struct types *types, uint32_t first)
{
	uint32_t count = btf__type_cnt(types->btf), functions = 0, room = 64;

	for (uint32_t id = first; id < count; id++)
		functions += btf_is_func(btf__type_by_id(types->btf, id));
	while (room < 2 * functions)
		room *= 2;
	types->bucket = calloc(room, sizeof(*types->bucket));
	if (!types->bucket)
		err(EXIT_FAILURE, "no memory for the kernel's types");
	types->mask = room - 1;
	for (uint32_t id = first; id < count; id++) {
		uint32_t at;

		if (!btf_is_func(btf__type_by_id(types->btf, id)))
			continue;
		at = hash_name(function_name(types, id));
		while (types->bucket[at & types->mask])
			at++;
		types->bucket[at & types->mask] = id;
	}
}

static struct types *load(const char *module, struct btf *base)
{
	struct types *types = calloc(1, sizeof(*types));

	if (!types || (module && !(types->module = strdup(module))))
		err(EXIT_FAILURE, "no memory for the kernel's types");
	if (!module)
		types->btf = btf__load_vmlinux_btf();
	else if (base)
		types->btf = btf__load_module_btf(module, base);
	if (libbpf_get_error(types->btf))
		types->btf = NULL;
	if (types->btf)
		index_functions(types, base ? btf__type_cnt(base) : 1);
	types->next = all_types;
	all_types = types;
	return types;
}

static struct types *find_types(const char *module)
{
	struct types *types;

	if (!all_types)
		libbpf_set_print(NULL);
	for (types = all_types; types; types = types->next)
		if (module ? types->module && !strcmp(types->module, module) : !types->module)
			return types;
	return load(module, module ? find_types(NULL)->btf : NULL);
}

static const struct btf_type *strip(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

/* The type in which one word of 8 bytes shows a value. */
static const char *word_type(const struct btf *btf, const struct btf_type *type)
{
	static const char *const numbers[][2] = {
		{ "u8", "s8" }, { "u16", "s16" }, { "u32", "s32" }, { "arg", "arg" },
	};
	const struct btf_type *pointed;
	bool is_signed;

	if (btf_is_ptr(type)) {
		pointed = strip(btf, type->type);
		return pointed && btf_is_func_proto(pointed) ? "sym" : "x64";
	}
	if (btf_is_int(type))
		is_signed = btf_int_encoding(type) & BTF_INT_SIGNED;
	else if (btf_is_any_enum(type))
		is_signed = btf_kflag(type);
	else
		return "x64";
	switch (type->size) {
	case 1:
		return numbers[0][is_signed];
	case 2:
		return numbers[1][is_signed];
	case 4:
		return numbers[2][is_signed];
	default:
		return numbers[3][is_signed];
	}
}

static void set_result(const struct btf *btf, uint32_t id, struct signature *signature)
{
	const struct btf_type *type = strip(btf, id);
	bool is_signed = false;

	signature->ret_bytes = 8;
	signature->ret = "ret";
	if (!id) {
		signature->ret_bytes = 0;
		signature->ret = "void";
		return;
	}
	if (!type || !(btf_is_int(type) || btf_is_any_enum(type)))
		return;
	if (btf_is_int(type))
		is_signed = btf_int_encoding(type) & BTF_INT_SIGNED;
	switch (type->size) {
	case 1:
		signature->ret = is_signed ? "rets8" : "retu8";
		break;
	case 2:
		signature->ret = is_signed ? "rets16" : "retu16";
		break;
	case 4:
		signature->ret = is_signed ? "rets32" : "retu32";
		break;
	default:
		return;
	}
	signature->ret_bytes = (uint8_t)type->size;
}

static bool is_aggregate(const struct btf_type *type)
{
	return btf_is_struct(type) || btf_is_union(type) || btf_is_array(type);
}

static void add_word(struct signature *signature, const char *name, const char *type)
{
	static const char *const unnamed[] = { "arg0", "arg1", "arg2", "arg3", "arg4", "arg5" };

	signature->word[signature->words].name = name && *name ? name : unnamed[signature->words];
	signature->word[signature->words++].type = type;
}

static void add_stack_words(struct signature *signature, uint32_t words)
{
	if (signature->copy_words + words > FKT_FUNCTION_COPY_MAX)
		signature->unfit = "it has too many arguments on the stack";
	else
		signature->copy_words += (uint8_t)words;
}

static void add_parameter(const struct btf *btf, const struct btf_param *parameter,
			  struct signature *signature)
{
	const char *name = btf__name_by_offset(btf, parameter->name_off);
	const struct btf_type *type = strip(btf, parameter->type);
	uint32_t bytes = type && !btf_is_ptr(type) ? type->size : 8, words = (bytes + 7) / 8;

	/* The last parameter without a type stands for "…". */
	if (!parameter->type || !type) {
		signature->unfit = "it takes a varying number of arguments";
		return;
	}
	if (!is_aggregate(type)) {
		if (words > 1)
			signature->unfit = "it takes a number of more than 64 bits";
		else if (signature->words < SIGNATURE_WORDS)
			add_word(signature, name, word_type(btf, type));
		else
			add_stack_words(signature, 1);
		return;
	}
	/* A small structure is in registers unless it is packed, which BTF does not say. */
	add_stack_words(signature, words);
	if (bytes > VALUE_MAX_BYTES || signature->words + words > SIGNATURE_WORDS)
		return;
	while (words--)
		add_word(signature, name, "x64");
}

void btf_signature(const char *name, const char *module, struct signature *signature)
{
	const struct types *types = find_types(module);
	const struct btf_type *type, *ret;
	uint32_t at, id = 0;

	*signature = (struct signature){ .ret_bytes = 8, .ret = "ret" };
	if (!types->btf)
		return;
	for (at = hash_name(name); (id = types->bucket[at & types->mask]); at++)
		if (!strcmp(function_name(types, id), name))
			break;
	if (!id)
		return;
	type = btf__type_by_id(types->btf, btf__type_by_id(types->btf, id)->type);
	if (!type || !btf_is_func_proto(type))
		return;
	signature->known = true;
	ret = strip(types->btf, type->type);
	set_result(types->btf, type->type, signature);
	if (ret && is_aggregate(ret) && ret->size > VALUE_MAX_BYTES)
		add_word(signature, "result", "x64");
	for (uint32_t i = 0; i < btf_vlen(type) && !signature->unfit; i++)
		add_parameter(types->btf, btf_params(type) + i, signature);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel's own type information (BTF) says of its functions. It has them by name: several
 * of one name where source files have functions of their own of that name, with different
 * arguments, be it that the kernel has one of them only, for the compiler may have left the others
 * no place.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btf.h"

#define DIRECTORY "/sys/kernel/btf"

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

/* The running kernel's only: libbpf would look for that of a kernel of this name elsewhere. */
static struct types *load(const char *module, struct btf *base)
{
	struct types *types = calloc(1, sizeof(*types));
	char path[128];

	if (!types || (module && !(types->module = strdup(module))))
		err(EXIT_FAILURE, "no memory for the kernel's types");
	snprintf(path, sizeof(path), DIRECTORY "/%s", module ? module : "vmlinux");
	if (!module)
		types->btf = btf__parse(path, NULL);
	else if (base)
		types->btf = btf__parse_split(path, base);
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

void btf_signature(const char *name, const char *module, struct signature *signature)
{
	const struct types *types = find_types(module);
	struct signature other;
	uint32_t id;

	*signature = (struct signature){ .ret_bytes = 8, .ret = "ret" };
	if (!types->btf)
		return;
	for (uint32_t at = hash_name(name); (id = types->bucket[at & types->mask]); at++) {
		if (strcmp(function_name(types, id), name))
			continue;
		signature_read(types->btf, btf__type_by_id(types->btf, id)->type, &other);
		if (!other.known) {
			signature->known = false;
			return;
		}
		if (signature->known)
			signature_merge(signature, &other);
		else
			*signature = other;
	}
}

const struct btf_type *btf_prototype(const char *name, const char *module, const struct btf **btf,
				     const char **why)
{
	const struct types *types = find_types(module);
	uint32_t id, found = 0;

	*btf = types->btf;
	*why = module ? "the kernel has no type information (BTF) of that module"
		      : "the kernel has no type information (BTF)";
	if (!types->btf)
		return NULL;
	for (uint32_t at = hash_name(name); (id = types->bucket[at & types->mask]); at++) {
		if (strcmp(function_name(types, id), name))
			continue;
		id = btf__type_by_id(types->btf, id)->type;
		*why = "the kernel's type information (BTF) has several functions of that name, "
		       "with different arguments";
		if (found && found != id)
			return NULL;
		found = id;
	}
	if (!found) {
		*why = "the kernel's type information (BTF) does not have it";
		return NULL;
	}
	*why = "its type information (BTF) is broken";
	return btf_is_func_proto(btf__type_by_id(types->btf, found))
		       ? btf__type_by_id(types->btf, found)
		       : NULL;
}

bool btf_has_types(const char *module)
{
	return find_types(module)->btf;
}

int btf_enumerator(const char *name, int64_t *value)
{
	const struct btf *btf = find_types(NULL)->btf;
	uint32_t count = btf ? btf__type_cnt(btf) : 0;
	int found = 0;

	for (uint32_t id = 1; id < count; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		bool wide = btf_is_enum64(type);

		if (!btf_is_any_enum(type))
			continue;
		for (uint16_t i = 0; i < btf_vlen(type); i++) {
			int64_t number = wide ? (int64_t)btf_enum64_value(&btf_enum64(type)[i])
					      : btf_enum(type)[i].val;

			if (strcmp(btf__name_by_offset(btf, wide ? btf_enum64(type)[i].name_off
								 : btf_enum(type)[i].name_off),
				   name))
				continue;
			if (found && number != *value)
				return -1;
			*value = number;
			found = 1;
		}
	}
	return found;
}

bool btf_member(const char *type, const char *member, uint32_t *offset)
{
	const struct btf *btf = find_types(NULL)->btf;
	const struct btf_type *found;
	const struct btf_member *of;
	int id;

	id = btf ? btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT) : -1;
	if (id < 0)
		return false;
	found = btf__type_by_id(btf, (uint32_t)id);
	of = btf_members(found);
	for (uint16_t i = 0; i < btf_vlen(found); i++) {
		if (strcmp(btf__name_by_offset(btf, of[i].name_off), member))
			continue;
		*offset = btf_member_bit_offset(found, i) / 8;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's own type information (BTF) says of its functions. */
#ifndef FKT_RECORD_BTF_H
#define FKT_RECORD_BTF_H

#include <stdbool.h>
#include <stdint.h>

#include "signature.h"

/**
 * btf_signature - look up a function
 * @name: its name
 * @module: its module, NULL for the kernel's own
 * @signature: filled in: with what holds for all functions of this name that BTF has
 */
void btf_signature(const char *name, const char *module, struct signature *signature);

/**
 * btf_prototype - the type of a function
 * @name: its name
 * @module: its module, NULL for the kernel's own
 * @btf: set to the types that it is one of
 * @why: set to why there is none
 *
 * Return: a BTF_KIND_FUNC_PROTO, or NULL.
 */
const struct btf_type *btf_prototype(const char *name, const char *module, const struct btf **btf,
				     const char **why);

/**
 * btf_enumerator - what a name of any of the kernel's enums stands for
 * @name: the name, as of C
 * @value: filled in
 *
 * Return: 0 if there is no such name, negative if it stands for several numbers, else 1.
 */
int btf_enumerator(const char *name, int64_t *value);

/**
 * btf_member - where a member of one of the kernel's structures is
 * @type: the structure's name
 * @member: the member's
 * @offset: set to its offset, in bytes
 *
 * Return: whether there is one.
 */
bool btf_member(const char *type, const char *member, uint32_t *offset);

/** btf_has_types - whether a module, NULL for the kernel, has any BTF */
bool btf_has_types(const char *module);

#endif

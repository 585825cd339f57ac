/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program's debug information (DWARF) says of its functions, as type information (BTF). */
#ifndef FKT_RECORD_PROGRAM_TYPES_H
#define FKT_RECORD_PROGRAM_TYPES_H

#include <bpf/btf.h>

#include "program_file.h"

/**
 * program_prototype - the type of a function of a program
 * @file: the program
 * @function: it
 * @btf: set to the types that it is one of, which last until the end
 * @why: set to why there is none
 *
 * Return: a BTF_KIND_FUNC_PROTO, or NULL.
 */
const struct btf_type *program_prototype(const struct program_file *file,
					 const struct program_function *function,
					 const struct btf **btf, const char **why);

#endif

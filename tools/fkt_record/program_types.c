// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The types of a program's functions, by libdw, as BTF: what is found in the kernel's is found in a
 * program's by the same words.
 *
 * The types that a function leads to are numbered as they are met, and each becomes the type of
 * BTF of that number: so a structure may lead to itself. What BTF has no kind for becomes a
 * structure of which nothing is known.
 */
#include "program_types.h"

#ifndef HAVE_LIBDW

const struct btf_type *program_prototype(const struct program_file *file,
					 const struct program_function *function,
					 const struct btf **btf, const char **why)
{
	(void)file;
	(void)function;
	*btf = NULL;
	*why = "fkt_record was built without libdw, which reads debug information";
	return NULL;
}

#else

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A function that leads to more knows nothing of the others. */
#define TYPES_MAX   65536u
#define NESTING_MAX 32

/**
 * struct debug - the debug information of a file
 * @next: of another one
 * @file: the file
 * @dwarf: NULL: there is none
 * @defined: structures and unions that have a name, by that; see struct definition
 * @indexed: they are there
 */
struct debug {
	struct debug *next;
	const struct program_file *file;
	Dwarf *dwarf;
	void *defined;
	bool indexed;
};

struct definition {
	const char *name;
	int tag;
	Dwarf_Die die;
};

/* A type, and its number. */
struct numbered {
	void *where;
	uint32_t id;
};

/**
 * struct types - the types of a function
 * @debug: where they are from
 * @btf: what they become
 * @die: those that have numbers, the first one of number 1
 * @count: how many
 * @room: room there
 * @number: their numbers, by where they are
 */
struct types {
	struct debug *debug;
	struct btf *btf;
	Dwarf_Die *die;
	uint32_t count;
	uint32_t room;
	void *number;
};

static void __attribute__((noreturn)) no_memory(void)
{
	err(EXIT_FAILURE, "no memory for the types of programs");
}

/* ---- the file ---- */

static Dwarf *open_dwarf(int fd)
{
	Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	Dwarf_Off next;
	size_t header;

	if (dwarf && !dwarf_nextcu(dwarf, 0, &next, &header, NULL, NULL, NULL))
		return dwarf;
	dwarf_end(dwarf);
	return NULL;
}

static struct debug *get_debug(const struct program_file *file)
{
	static struct debug *all;
	struct debug *debug = all;
	int fd;

	while (debug && debug->file != file)
		debug = debug->next;
	if (debug)
		return debug;
	debug = calloc(1, sizeof(*debug));
	if (!debug)
		no_memory();
	debug->file = file;
	debug->dwarf = open_dwarf(file->fd);
	if (!debug->dwarf) {
		/* It stays open as long as it is read. */
		fd = program_debug_file(file);
		debug->dwarf = open_dwarf(fd);
		if (!debug->dwarf && fd >= 0)
			close(fd);
	}
	debug->next = all;
	all = debug;
	return debug;
}

/* ---- attributes ---- */

static bool number_of(Dwarf_Die *die, unsigned int name, Dwarf_Word *value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) && !dwarf_formudata(&attribute, value);
}

static bool has_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	bool flag = false;

	return dwarf_attr_integrate(die, name, &attribute) && !dwarf_formflag(&attribute, &flag) &&
	       flag;
}

static bool refers_to(Dwarf_Die *die, unsigned int name, Dwarf_Die *to)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) && dwarf_formref_die(&attribute, to);
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_name, &attribute) ? dwarf_formstring(&attribute)
								 : NULL;
}

/* 0 where it is not said. */
static uint32_t bytes_of(Dwarf_Die *die)
{
	Dwarf_Word bytes = 0;

	return number_of(die, DW_AT_byte_size, &bytes) && bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

/* ---- structures that are declared in one place, and defined in another ---- */

static int compare_definitions(const void *a, const void *b)
{
	const struct definition *one = a, *other = b;
	int order = (one->tag > other->tag) - (one->tag < other->tag);

	return order ?: strcmp(one->name, other->name);
}

/* A class is a struct. */
static int composite_tag(int tag)
{
	return tag == DW_TAG_class_type ? DW_TAG_structure_type : tag;
}

static void add_definition(struct debug *debug, Dwarf_Die *die)
{
	struct definition *one = malloc(sizeof(*one)), **found;

	if (!one)
		no_memory();
	*one = (struct definition){ name_of(die), composite_tag(dwarf_tag(die)), *die };
	found = tsearch(one, &debug->defined, compare_definitions);
	if (!found)
		no_memory();
	if (*found != one)
		free(one);
}

static void index_definitions(struct debug *debug, Dwarf_Die *in, unsigned int depth)
{
	Dwarf_Die die;

	if (depth == NESTING_MAX || dwarf_child(in, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_namespace:
			index_definitions(debug, &die, depth + 1);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			if (name_of(&die) && !has_flag(&die, DW_AT_declaration))
				add_definition(debug, &die);
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* Its units, one after the other: false at the end. */
static bool next_unit(const struct debug *debug, Dwarf_Off *at, Dwarf_Die *unit)
{
	Dwarf_Off here = *at, next;
	size_t header;

	if (dwarf_nextcu(debug->dwarf, here, &next, &header, NULL, NULL, NULL))
		return false;
	*at = next;
	return dwarf_offdie(debug->dwarf, here + header, unit);
}

/* What is declared there is defined where something of its name is. */
static void define(struct debug *debug, Dwarf_Die *die)
{
	struct definition wanted = { name_of(die), composite_tag(dwarf_tag(die)), *die }, **found;
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	if (!wanted.name || !has_flag(die, DW_AT_declaration))
		return;
	while (!debug->indexed && next_unit(debug, &at, &unit))
		index_definitions(debug, &unit, 0);
	debug->indexed = true;
	found = tfind(&wanted, &debug->defined, compare_definitions);
	if (found)
		*die = (*found)->die;
}

/* ---- numbers ---- */

static int compare_numbered(const void *a, const void *b)
{
	const struct numbered *one = a, *other = b;

	return (one->where > other->where) - (one->where < other->where);
}

/* A type's number in BTF, a new one if it has none; 0, as of void, where there are too many. */
static uint32_t id_of(struct types *types, Dwarf_Die *die)
{
	struct numbered *one = malloc(sizeof(*one)), **found;
	uint32_t room = types->room ? 2 * types->room : 64;

	if (!one)
		no_memory();
	*one = (struct numbered){ die->addr, types->count + 1 };
	found = tsearch(one, &types->number, compare_numbered);
	if (!found)
		no_memory();
	if (*found != one) {
		free(one);
		return (*found)->id;
	}
	if (types->count == TYPES_MAX) {
		one->id = 0;
		return 0;
	}
	if (types->count == types->room) {
		types->die = reallocarray(types->die, room, sizeof(*types->die));
		if (!types->die)
			no_memory();
		types->room = room;
	}
	types->die[types->count++] = *die;
	return types->count;
}

/* That of what something is of; 0, as of void, where that is not said. */
static uint32_t type_of(struct types *types, Dwarf_Die *die)
{
	Dwarf_Die type;

	return refers_to(die, DW_AT_type, &type) ? id_of(types, &type) : 0;
}

/* ---- types ---- */

/* One of which nothing is known. */
static int add_unknown(struct types *types, Dwarf_Die *die)
{
	return btf__add_fwd(types->btf, name_of(die) ?: "?", BTF_FWD_STRUCT);
}

static int add_number(struct types *types, Dwarf_Die *die)
{
	const char *name = name_of(die) ?: "?";
	const uint32_t bytes = bytes_of(die);
	Dwarf_Word encoding = 0;
	int id;

	number_of(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		id = btf__add_int(types->btf, name, bytes, BTF_INT_SIGNED);
		break;
	case DW_ATE_boolean:
		id = btf__add_int(types->btf, name, bytes, BTF_INT_BOOL);
		break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_address:
		id = btf__add_int(types->btf, name, bytes, 0);
		break;
	case DW_ATE_float:
		id = btf__add_float(types->btf, name, bytes);
		break;
	default:
		id = -1;
	}
	return id < 0 ? add_unknown(types, die) : id;
}

/* Where a field begins, in bits; false where that is not the same in all. */
static bool place_of(Dwarf_Die *die, uint32_t *bit, uint32_t *bits)
{
	Dwarf_Word bytes = 0, first = 0, count = 0, from_top;
	Dwarf_Die type;

	if (dwarf_hasattr_integrate(die, DW_AT_data_member_location) &&
	    !number_of(die, DW_AT_data_member_location, &bytes))
		return false;
	number_of(die, DW_AT_bit_size, &count);
	if (number_of(die, DW_AT_bit_offset, &from_top)) {
		/* As up to DWARF 3: from the most significant bit of its type on. */
		if (refers_to(die, DW_AT_type, &type) && !dwarf_peel_type(&type, &type))
			first = 8 * (Dwarf_Word)(bytes_of(die) ?: bytes_of(&type)) - from_top -
				count;
	} else {
		number_of(die, DW_AT_data_bit_offset, &first);
	}
	if (bytes > UINT32_MAX / 16 || first > UINT32_MAX / 2 || count > 64)
		return false;
	*bit = (uint32_t)(8 * bytes + first);
	*bits = (uint32_t)count;
	return true;
}

/* What can't be had is left out. A class has the fields of what it inherits, too. */
static void add_fields(struct types *types, Dwarf_Die *in)
{
	uint32_t bit, bits, type;
	Dwarf_Die die;

	if (dwarf_child(in, &die))
		return;
	do {
		const bool inherits = dwarf_tag(&die) == DW_TAG_inheritance;

		if ((dwarf_tag(&die) != DW_TAG_member && !inherits) ||
		    has_flag(&die, DW_AT_external) || has_flag(&die, DW_AT_declaration) ||
		    !place_of(&die, &bit, &bits))
			continue;
		type = type_of(types, &die);
		if (type)
			btf__add_field(types->btf, inherits ? NULL : name_of(&die), (int)type, bit,
				       bits);
	} while (!dwarf_siblingof(&die, &die));
}

static int add_composite(struct types *types, Dwarf_Die *die)
{
	const bool is_union = dwarf_tag(die) == DW_TAG_union_type;
	const char *name;
	int id;

	define(types->debug, die);
	name = name_of(die);
	if (has_flag(die, DW_AT_declaration))
		return btf__add_fwd(types->btf, name ?: "?",
				    is_union ? BTF_FWD_UNION : BTF_FWD_STRUCT);
	id = is_union ? btf__add_union(types->btf, name, bytes_of(die))
		      : btf__add_struct(types->btf, name, bytes_of(die));
	if (id > 0)
		add_fields(types, die);
	return id;
}

static int add_enum(struct types *types, Dwarf_Die *die)
{
	int id = btf__add_enum64(types->btf, name_of(die), bytes_of(die), true);
	Dwarf_Attribute attribute;
	Dwarf_Sword value;
	Dwarf_Die one;

	if (id < 0)
		return add_unknown(types, die);
	if (dwarf_child(die, &one))
		return id;
	do {
		if (dwarf_tag(&one) == DW_TAG_enumerator && name_of(&one) &&
		    dwarf_attr_integrate(&one, DW_AT_const_value, &attribute) &&
		    !dwarf_formsdata(&attribute, &value))
			btf__add_enum64_value(types->btf, name_of(&one), (uint64_t)value);
	} while (!dwarf_siblingof(&one, &one));
	return id;
}

/* How many elements an array has in all its dimensions; 0 where it does not say. */
static uint32_t elements_of(Dwarf_Die *array)
{
	Dwarf_Word all = 1, count, bound;
	Dwarf_Die die;

	if (dwarf_child(array, &die))
		return 0;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (number_of(&die, DW_AT_upper_bound, &bound))
			count = bound + 1;
		else if (!number_of(&die, DW_AT_count, &count))
			count = 0;
		if (__builtin_mul_overflow(all, count, &all) || all > UINT32_MAX)
			return 0;
	} while (!dwarf_siblingof(&die, &die));
	return (uint32_t)all;
}

/* Exactly one type of BTF, of the next number. */
static int add_type(struct types *types, Dwarf_Die *die)
{
	struct btf *btf = types->btf;

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		return add_number(types, die);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return btf__add_ptr(btf, (int)type_of(types, die));
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return add_composite(types, die);
	case DW_TAG_enumeration_type:
		return add_enum(types, die);
	case DW_TAG_array_type:
		return btf__add_array(btf, 0, (int)type_of(types, die), elements_of(die));
	case DW_TAG_typedef:
		return btf__add_typedef(btf, name_of(die) ?: "?", (int)type_of(types, die));
	case DW_TAG_const_type:
	case DW_TAG_atomic_type:
		return btf__add_const(btf, (int)type_of(types, die));
	case DW_TAG_volatile_type:
		return btf__add_volatile(btf, (int)type_of(types, die));
	case DW_TAG_restrict_type:
		return btf__add_restrict(btf, (int)type_of(types, die));
	case DW_TAG_subroutine_type:
		return btf__add_func_proto(btf, 0);
	/* An argument that is passed by its address, see argument_type(). */
	case DW_TAG_formal_parameter:
		return btf__add_ptr(btf, (int)type_of(types, die));
	default:
		return add_unknown(types, die);
	}
}

/* Those that the types lead to are numbered meanwhile. */
static bool add_types(struct types *types)
{
	for (uint32_t i = 1; i < types->count; i++) {
		Dwarf_Die die = types->die[i];

		if (add_type(types, &die) != (int)i + 1)
			return false;
	}
	return true;
}

/* ---- functions ---- */

/* A class that is copied by a function of its own is passed by its address. */
static uint32_t argument_type(struct types *types, Dwarf_Die *argument)
{
	Dwarf_Word convention;
	Dwarf_Die type;

	if (!refers_to(argument, DW_AT_type, &type))
		return 0;
	if (!dwarf_peel_type(&type, &type) &&
	    number_of(&type, DW_AT_calling_convention, &convention) &&
	    convention == DW_CC_pass_by_reference)
		return id_of(types, argument);
	return type_of(types, argument);
}

/* Number 1: what it returns, and its arguments. */
static bool add_function(struct types *types, Dwarf_Die *function)
{
	Dwarf_Die of = *function, die;

	id_of(types, function);
	if (btf__add_func_proto(types->btf, (int)type_of(types, function)) != 1)
		return false;
	/* Of one that is in other functions, too, all are where it stands once. */
	refers_to(function, DW_AT_abstract_origin, &of);
	if (dwarf_child(&of, &die))
		return true;
	do {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    btf__add_func_param(types->btf, name_of(&die), (int)argument_type(types, &die)))
			return false;
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

static bool find_function(Dwarf_Die *in, Dwarf_Addr address, unsigned int depth, Dwarf_Die *found)
{
	Dwarf_Addr entry;

	if (depth == NESTING_MAX || dwarf_child(in, found))
		return false;
	do {
		Dwarf_Die die = *found;

		if (dwarf_tag(&die) == DW_TAG_subprogram && !dwarf_entrypc(&die, &entry) &&
		    entry == address)
			return true;
		if (dwarf_tag(&die) == DW_TAG_namespace &&
		    find_function(&die, address, depth + 1, found))
			return true;
		*found = die;
	} while (!dwarf_siblingof(found, found));
	return false;
}

static bool find_address(const struct debug *debug, Dwarf_Addr address, Dwarf_Die *found)
{
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	if (dwarf_addrdie(debug->dwarf, address, &unit) && find_function(&unit, address, 0, found))
		return true;
	while (next_unit(debug, &at, &unit))
		if (dwarf_haspc(&unit, address) > 0 && find_function(&unit, address, 0, found))
			return true;
	return false;
}

/* What a compiler has made of a function: with other arguments than its source has. */
static bool is_made(const char *name)
{
	return strstr(name, ".isra.") || strstr(name, ".constprop.") || strstr(name, ".part.");
}

/* NULL: there is none, *why is set. */
static struct btf *read_types(const struct program_file *file,
			      const struct program_function *function, const char **why)
{
	struct types types = { .debug = get_debug(file) };
	Dwarf_Die die;
	bool whole;

	if (!types.debug->dwarf) {
		*why = "its file has no debug information (DWARF), nor is any installed";
		return NULL;
	}
	if (is_made(function->name)) {
		*why = "the compiler has made it of another one, with other arguments";
		return NULL;
	}
	if (!find_address(types.debug, function->address, &die)) {
		*why = "the debug information (DWARF) of its file does not have it";
		return NULL;
	}
	types.btf = btf__new_empty();
	if (!types.btf)
		no_memory();
	whole = add_function(&types, &die) && add_types(&types);
	tdestroy(types.number, free);
	free(types.die);
	if (whole)
		return types.btf;
	*why = "the debug information (DWARF) of its file is broken";
	btf__free(types.btf);
	return NULL;
}

const struct btf_type *program_prototype(const struct program_file *file,
					 const struct program_function *function,
					 const struct btf **btf, const char **why)
{
	/* Each of its arguments is asked for, one after the other. */
	static const struct program_function *last;
	static const char *last_why;
	static struct btf *types;

	if (function != last)
		types = read_types(file, function, &last_why);
	last = function;
	*btf = types;
	*why = last_why;
	return types ? btf__type_by_id(types, 1) : NULL;
}

#endif

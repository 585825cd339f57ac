// SPDX-License-Identifier: GPL-2.0-or-later
/* A function's arguments by their names, and the fields that they lead to, as BTF has them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../common/distance.h"
#include "abi.h"
#include "value.h"

/* Structs within structs; a broken file may have more than C has. */
#define NESTING_MAX	32

/* For numbers with a point, on the machines that there are. */
#define POINT_REGISTERS 8

/**
 * struct walk - from an argument to what it leads to
 * @btf: the types
 * @text: all that is written
 * @value: what is found out
 * @id: the type of what was reached
 * @bit: where that begins, in bits from what the last step reads
 * @bits: of a bit field: how many, else 0
 * @why: what is wrong
 */
struct walk {
	const struct btf *btf;
	const char *text;
	struct value *value;
	uint32_t id;
	uint64_t bit;
	uint32_t bits;
	char *why;
};

static bool __attribute__((format(printf, 2, 3)))
complain(const struct walk *walk, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(walk->why, VALUE_WHY_BYTES, format, ap);
	va_end(ap);
	return false;
}

/* ---- what types are called ---- */

static void add_text(char *text, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, VALUE_TYPE_BYTES - length, "%s", more);
}

static void add_tagged(char *text, const char *tag, const char *name)
{
	add_text(text, tag);
	add_text(text, *name ? name : "without a name");
}

static void add_type(const struct btf *btf, uint32_t id, unsigned int depth, char *text)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name = type ? btf__name_by_offset(btf, type->name_off) : NULL;
	char count[16];

	if (!type || !name || depth == NESTING_MAX) {
		add_text(text, "?");
	} else if (btf_is_void(type)) {
		add_text(text, "void");
	} else if (btf_is_ptr(type)) {
		add_type(btf, type->type, depth + 1, text);
		add_text(text, text[strlen(text) - 1] == '*' ? "*" : " *");
	} else if (btf_is_array(type)) {
		add_type(btf, btf_array(type)->type, depth + 1, text);
		snprintf(count, sizeof(count), "[%" PRIu32 "]", btf_array(type)->nelems);
		add_text(text, count);
	} else if (btf_is_mod(type) || btf_is_type_tag(type)) {
		add_type(btf, type->type, depth + 1, text);
	} else if (btf_is_func_proto(type)) {
		add_text(text, "function");
	} else if (btf_is_struct(type) || (btf_is_fwd(type) && !btf_kflag(type))) {
		add_tagged(text, "struct ", name);
	} else if (btf_is_union(type) || btf_is_fwd(type)) {
		add_tagged(text, "union ", name);
	} else if (btf_is_any_enum(type)) {
		add_tagged(text, "enum ", name);
	} else {
		add_text(text, name);
	}
}

static const char *type_text(const struct btf *btf, uint32_t id, char text[VALUE_TYPE_BYTES])
{
	*text = '\0';
	add_type(btf, id, 0, text);
	return text;
}

/* ---- names that resemble what is written ---- */

/**
 * struct nearest - the name that is nearest to one that there is not
 * @wanted: that one
 * @name: the nearest so far, or NULL
 * @best: how near; only what is nearer is taken
 * @longer: the shortest that has it in it, as f_pos has pos; or NULL
 */
struct nearest {
	char wanted[64];
	const char *name;
	unsigned int best;
	const char *longer;
};

static struct nearest nearest_to(const char *name, size_t length)
{
	struct nearest nearest = { .best = (unsigned int)length / 3 + 2 };

	snprintf(nearest.wanted, sizeof(nearest.wanted), "%.*s", (int)length, name);
	return nearest;
}

static void show(struct nearest *nearest, const char *name)
{
	unsigned int distance = fkt_distance(nearest->wanted, name);

	if (distance < nearest->best) {
		nearest->best = distance;
		nearest->name = name;
	}
	if (*nearest->wanted && strstr(name, nearest->wanted) &&
	    (!nearest->longer || strlen(name) < strlen(nearest->longer)))
		nearest->longer = name;
}

/* "; is f_pos meant?" */
static const char *meant(const struct nearest *nearest, char text[128])
{
	*text = '\0';
	if (nearest->name || nearest->longer)
		snprintf(text, 128, "; is %s meant?", nearest->name ?: nearest->longer);
	return text;
}

/* ---- fields ---- */

/**
 * struct member - a field of a struct or a union
 * @type: its type
 * @bit: where it begins
 * @bits: of a bit field: how many, else 0
 */
struct member {
	uint32_t type;
	uint32_t bit;
	uint32_t bits;
};

/* Those of structs and unions without a name are its own, as in C. */
static bool find_member(const struct btf *btf, const struct btf_type *in, unsigned int depth,
			struct nearest *wanted, struct member *found)
{
	const struct btf_member *member = btf_members(in);

	for (uint32_t i = 0; i < btf_vlen(in); i++) {
		const char *name = btf__name_by_offset(btf, member[i].name_off);
		const struct btf_type *type;

		if (name && *name) {
			show(wanted, name);
			if (strcmp(name, wanted->wanted))
				continue;
			found->type = member[i].type;
			found->bit = btf_member_bit_offset(in, i);
			found->bits = btf_member_bitfield_size(in, i);
			return true;
		}
		type = abi_strip(btf, member[i].type);
		if (type && btf_is_composite(type) && depth < NESTING_MAX &&
		    find_member(btf, type, depth + 1, wanted, found)) {
			found->bit += btf_member_bit_offset(in, i);
			return true;
		}
	}
	return false;
}

/* One "->FIELD" or ".FIELD"; *rest is behind it then. */
static bool take_field(struct walk *walk, const char **rest)
{
	const struct btf_type *type = abi_strip(walk->btf, walk->id);
	bool arrow = !strncmp(*rest, "->", 2);
	int before = (int)(*rest - walk->text);
	char name[VALUE_TYPE_BYTES], hint[128];
	struct value *value = walk->value;
	struct nearest wanted;
	struct member member;
	size_t length;

	if (!arrow && **rest != '.')
		return complain(walk, "'%s': write ->FIELD, or .FIELD", walk->text);
	*rest += arrow ? 2 : 1;
	length = strcspn(*rest, "-.");
	type_text(walk->btf, walk->id, name);
	if (arrow) {
		if (!type || !btf_is_ptr(type))
			return complain(walk, "%.*s is a %s, and no pointer: %s%s", before,
					walk->text, name,
					type && btf_is_composite(type) && value->steps
						? "write ."
						: "it has no ->",
					*rest);
		if (value->steps == VALUE_STEPS_MAX)
			return complain(walk, "'%s' leads too far", walk->text);
		if (value->steps)
			value->offset[value->steps - 1] = (int64_t)(walk->bit / 8);
		value->steps++;
		walk->bit = 0;
		walk->id = type->type;
		type = abi_strip(walk->btf, walk->id);
		type_text(walk->btf, walk->id, name);
	} else if (type && btf_is_ptr(type)) {
		return complain(walk, "%.*s is a %s: write ->%s", before, walk->text, name, *rest);
	} else if (!value->steps) {
		return complain(walk, "%.*s is a %s that is not in memory: its fields can't be had",
				before, walk->text, name);
	}
	if (!type || !btf_is_composite(type))
		return complain(walk, "%.*s %s a %s, and no struct: it has no %.*s", before,
				walk->text, arrow ? "points to" : "is", name, (int)length, *rest);
	if (!length)
		return complain(walk, "'%s': which field of %s?", walk->text, name);
	wanted = nearest_to(*rest, length);
	if (length >= sizeof(wanted.wanted) || !find_member(walk->btf, type, 0, &wanted, &member))
		return complain(walk, "%s has no field %.*s%s", name, (int)length, *rest,
				meant(&wanted, hint));
	walk->bit += member.bit;
	walk->bits = member.bits;
	walk->id = member.type;
	*rest += length;
	if (member.bits && **rest)
		return complain(walk, "%.*s is a bit field: it has no fields",
				(int)(*rest - walk->text), walk->text);
	return true;
}

/* ---- what is there ---- */

/* A number of one byte: a character, which has no name of its own, or what is called u8. */
static bool is_byte(const struct btf *btf, uint32_t id, bool character)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	for (int i = 0; character && type && btf_is_mod(type) && i < NESTING_MAX; i++)
		type = btf__type_by_id(btf, type->type);
	if (!character)
		type = abi_strip(btf, id);
	return type && btf_is_int(type) && type->size == 1 &&
	       !(btf_int_encoding(type) & BTF_INT_BOOL);
}

static void describe_number(const struct btf_type *type, struct value *value)
{
	if (btf_is_ptr(type))
		value->bytes = sizeof(uint64_t);
	else if ((btf_is_int(type) || btf_is_any_enum(type)) && type->size <= 8 &&
		 !(type->size & (type->size - 1)))
		value->bytes = (uint8_t)type->size;
	/* Of enums, older BTF does not tell; the kernel takes them for signed as well. */
	value->is_signed = btf_is_any_enum(type) ||
			   (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED);
}

/* A bit field is in a word as large as its type. */
static bool set_bits(struct walk *walk)
{
	struct value *value = walk->value;
	uint32_t word = 8u * value->bytes;

	if (!walk->bits)
		return true;
	if (!word || walk->bit % word + walk->bits > word)
		return complain(walk, "%s is a bit field across two words", walk->text);
	value->bit = (uint8_t)(walk->bit % word);
	value->bits = (uint8_t)walk->bits;
	value->is_signed = false;
	walk->bit -= value->bit;
	return true;
}

static bool finish(struct walk *walk)
{
	const struct btf_type *type = abi_strip(walk->btf, walk->id), *to;
	struct value *value = walk->value;

	type_text(walk->btf, walk->id, value->type);
	if (!type)
		return complain(walk, "%s is a %s", walk->text, value->type);
	if (btf_is_ptr(type)) {
		to = abi_strip(walk->btf, type->type);
		value->is_pointer = true;
		value->is_function = to && btf_is_func_proto(to);
		value->is_text = !to || is_byte(walk->btf, type->type, false);
	}
	if (btf_is_array(type)) {
		value->is_array = true;
		value->elements = btf_array(type)->nelems;
		value->is_text = is_byte(walk->btf, btf_array(type)->type, false);
		value->is_chars = is_byte(walk->btf, btf_array(type)->type, true);
		type = abi_strip(walk->btf, btf_array(type)->type);
	}
	if (type)
		describe_number(type, value);
	if (type && btf_is_any_enum(type) && value->bytes) {
		value->btf = walk->btf;
		value->enumeration = type;
	}
	if (!set_bits(walk))
		return false;
	if (value->steps)
		value->offset[value->steps - 1] = (int64_t)(walk->bit / 8);
	return true;
}

/* ---- where it begins ---- */

/* A number with a point, which programs may have. */
static bool is_point(const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = abi_strip(btf, id);

	return type && btf_is_float(type) && type->size <= 8;
}

/*
 * The number, from 1, that $argN has for the argument at an index; those in registers come first. 0
 * when that can't be told.
 */
static uint32_t argument_number(const struct btf *btf, const struct btf_type *prototype,
				uint32_t index, uint32_t registers)
{
	static const struct abi_value pointer = { .bytes = 8, .in_registers = true };
	const struct btf_type *result = abi_strip(btf, prototype->type);
	struct abi_places places = { 0 };
	struct abi_value value;
	uint32_t before = 0, points = 0;

	/* Where a large result is to be is told by an argument more. */
	if (result && !btf_is_float(result)) {
		if (abi_value(btf, prototype->type, &value))
			return 0;
		if (!value.in_registers)
			abi_place(&places, &pointer);
	}
	for (uint32_t i = 0; i <= index; i++) {
		/* They are in registers of their own, up to so many. */
		if (is_point(btf, btf_params(prototype)[i].type)) {
			if (i == index || ++points > POINT_REGISTERS)
				return 0;
			continue;
		}
		before = places.registers;
		if (abi_value(btf, btf_params(prototype)[i].type, &value))
			return 0;
		if (!abi_place(&places, &value))
			before = registers + places.stack_words - abi_words(&value);
	}
	return before + 1;
}

bool value_find(const struct btf *btf, const struct btf_type *prototype, const char *function,
		uint32_t registers, const char *text, struct value *value,
		char why[VALUE_WHY_BYTES])
{
	const struct btf_param *param = btf_params(prototype);
	struct walk walk = { .btf = btf, .text = text, .value = value, .why = why };
	size_t length = strcspn(text, "-.");
	struct nearest wanted = nearest_to(text, length);
	const char *rest = text + length;
	uint32_t found = UINT32_MAX;
	char hint[128];

	*value = (struct value){ 0 };
	for (uint32_t i = 0; i < btf_vlen(prototype) && found == UINT32_MAX; i++) {
		const char *name = btf__name_by_offset(btf, param[i].name_off);

		if (!name || !*name)
			continue;
		show(&wanted, name);
		if (!strcmp(name, wanted.wanted))
			found = i;
	}
	if (!strcmp(wanted.wanted, VALUE_RESULT)) {
		walk.id = prototype->type;
	} else if (found == UINT32_MAX) {
		return complain(&walk, "%s has no argument %.*s%s", function, (int)length, text,
				meant(&wanted, hint));
	} else {
		walk.id = param[found].type;
		value->argument = argument_number(btf, prototype, found, registers);
		if (!value->argument && is_point(btf, walk.id))
			return complain(&walk,
					"%s has its argument %s, which is a number with a point, "
					"in a register that is not read",
					function, wanted.wanted);
		if (!value->argument)
			return complain(&walk, "nobody can tell where %s has its argument %s",
					function, wanted.wanted);
	}
	while (*rest)
		if (!take_field(&walk, &rest))
			return false;
	return finish(&walk);
}

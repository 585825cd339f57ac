/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fields.c: the values of fields, inline for those who show each event. */
#ifndef FKT_FIELDS_H
#define FKT_FIELDS_H

#include "internal.h"
#include "put.h"

/* No name is longer: of a symbol, its module, what a number stands for. */
#define FKT_SYMBOL_BYTES      512
#define FKT_MODULE_BYTES      32
/* So much of a function's name in a stack. */
#define FKT_FRAME_NAME_BYTES  96
#define FKT_NUMBER_NAME_BYTES 128

/* A frame of a stack: the name, "+0x" and 16 digits, " [", the module, "]". */
_Static_assert(FKT_FRAME_BYTES >= FKT_FRAME_NAME_BYTES + FKT_MODULE_BYTES + 24, "a frame fits");

static inline bool fkt_field_is_result(const struct fkt_field *field)
{
	return field->type == FKT_FIELD_RESULT || field->type == FKT_FIELD_RESULT_UNSIGNED;
}

static inline bool fkt_field_is_signed(const struct fkt_field *field)
{
	return field->type == FKT_FIELD_SIGNED || field->type == FKT_FIELD_ENUM ||
	       field->type == FKT_FIELD_RESULT || field->type == FKT_FIELD_ARGUMENT;
}

/* Whether an event has so many words. */
static inline bool fkt_field_is_there(const struct fkt_field *field, const struct fkt_event *event)
{
	return field->immediate || fkt_field_is_result(field) ||
	       field->offset + field->bytes <= event->words * 8u;
}

static inline int64_t fkt_sign_extend(uint64_t value, unsigned int bytes)
{
	return (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* A result is the immediate when no word follows. */
static inline uint64_t fkt_result_number(const struct fkt_field *field,
					 const struct fkt_event *event)
{
	uint64_t value;

	if (event->words * 8u < field->offset + 8u)
		value = (uint64_t)(int16_t)event->imm;
	else
		value = fkt_arg64(event, field->offset);
	if (!field->bytes)
		return value;
	return field->type == FKT_FIELD_RESULT ? (uint64_t)fkt_sign_extend(value, field->bytes)
					       : value & (UINT64_MAX >> (64 - 8 * field->bytes));
}

/*
 * The number that a field is, which is there and has one; where fkt_field_is_signed(), that of an
 * int64_t.
 */
static inline uint64_t fkt_field_number(const struct fkt_field *field,
					const struct fkt_event *event)
{
	bool is_signed = field->type == FKT_FIELD_SIGNED || field->type == FKT_FIELD_ENUM;
	uint64_t value;

	if (fkt_field_is_result(field))
		return fkt_result_number(field, event);
	if (field->immediate)
		return is_signed ? (uint64_t)(int64_t)(int16_t)event->imm : event->imm;
	switch (field->bytes) {
	case 1:
		value = ((const uint8_t *)event->args)[field->offset];
		break;
	case 2:
		value = fkt_arg16(event, field->offset);
		break;
	case 4:
		value = fkt_arg32(event, field->offset);
		break;
	default:
		value = fkt_arg64(event, field->offset);
	}
	if (is_signed)
		return (uint64_t)fkt_sign_extend(value, field->bytes);
	/* A small negative number of 32 bits, in a register of 64. */
	if (field->type == FKT_FIELD_ARGUMENT && value <= UINT32_MAX &&
	    (uint32_t)value >= -(uint32_t)FKT_ERRNO_MAX)
		return (uint64_t)(int64_t)(int32_t)value;
	return value;
}

/* The string that a field is, likewise: not trusted, and perhaps with NULs behind it. */
static inline const char *fkt_field_text(const struct fkt_field *field,
					 const struct fkt_event *event, size_t *bytes)
{
	*bytes = field->bytes ?: event->words * 8u - field->offset;
	return (const char *)event->args + field->offset;
}

/* The function of a frame alone, or what stands for one; as fkt_put_frame(). */
char *fkt_put_frame_name(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			 unsigned int i);

/*
 * The same, and what the function is part of: "kernel", a module, a file; NULL where that is not
 * known. Not trusted: @object as it is in the trace.
 */
char *fkt_put_frame_names(struct fkt_trace *trace, char *to, const struct fkt_stack *stack,
			  unsigned int i, const char **object);

/* The first frame that is of what was traced: those before it are of how tracepoints call. */
unsigned int fkt_stack_begin(struct fkt_trace *trace, const struct fkt_stack *stack);

#endif

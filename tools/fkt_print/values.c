// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of a field that events have by its name, whatever codes they are of: each has a number of
 * its own here, by which events are put together.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "print.h"
#include "trace/fields.h"

/* As many as there can be groups by BY_MAX of them; with more, no group is one that is there. */
#define VALUES_MAX (BY_MAX * GROUPS_MAX)
#define PLACES	   (1u << 19) /* twice as many, and a power of two */
/* So much of a text is one value. */
#define TEXT_BYTES 128
/* Arguments beyond this are likely to be addresses, or bits. */
#define SMALL_MAX  0xffff

/**
 * struct value - a value
 * @number: the number, of one that is no text
 * @text: how people see it; "": as the number, or by @name
 * @name: of a thread's number, what the thread was called last, and its number; else NULL
 * @is_text: it is a text, and no number
 * @is_negative: the number is
 */
struct value {
	uint64_t number;
	char *text;
	char *name;
	bool is_text;
	bool is_negative;
};

/* The field among those of a code. */
struct place_of_field {
	bool known; /* it was looked for */
	bool any;
	struct fkt_field field;
};

struct values {
	const char *name;
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	uint64_t seed; /* so that no trace can be made to fill one place */
	struct value *value;
	size_t count;
	size_t room;
	bool texts; /* one of them is a text */
	bool hex;   /* people see the numbers in base 16, as the listing shows one of them */
	uint32_t place[PLACES];
	struct place_of_field code[FKT_SLOT_CODES];
};

struct values *values_new(const struct context *context, const char *name)
{
	struct values *values = calloc(1, sizeof(*values));

	if (!values)
		return NULL;
	values->name = name;
	values->trace = context->trace;
	values->processes = context->processes;
	if (getrandom(&values->seed, sizeof(values->seed), 0) < 0)
		values->seed = (uintptr_t)values;
	return values;
}

void values_free(struct values *values)
{
	if (!values)
		return;
	for (size_t i = 0; i < values->count; i++) {
		free(values->value[i].text);
		free(values->value[i].name);
	}
	free(values->value);
	free(values);
}

/* NULL where events of this code have no such field. */
static const struct fkt_field *field_of(struct values *values, uint32_t code)
{
	struct place_of_field *place;
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int n;

	if (code >= FKT_SLOT_CODES)
		return NULL;
	place = &values->code[code];
	if (!place->known) {
		place->known = true;
		n = fkt_fields(values->trace, code, fields);
		for (unsigned int i = 0; i < n && !place->any; i++) {
			place->any = !strcmp(fields[i].name, values->name);
			place->field = fields[i];
		}
	}
	return place->any ? &place->field : NULL;
}

/* ---- each value once ---- */

/*
 * How people see a value that is no mere number: as the listing shows it.
 *
 * Return: whether it is a text for programs, too, as in the events' JSON.
 */
static bool put_text(const struct values *values, const struct fkt_field *field,
		     const struct fkt_event *event, const struct fkt_value *value,
		     char text[FKT_VALUE_NAME_BYTES + 64])
{
	char *to = text;

	*text = '\0';
	if (value->kind == FKT_VALUE_TEXT) {
		memcpy(text, value->text, value->bytes);
		text[value->bytes] = '\0';
		fkt_sanitize(text);
		return true;
	}
	if (field->type == FKT_FIELD_STATE) {
		fkt_state_letters((uint32_t)value->number, text);
		return true;
	}
	if (field->type == FKT_FIELD_CHAR && value->number >= ' ' && value->number <= '~') {
		*to++ = (char)value->number;
		*to = '\0';
		return true;
	}
	if (!fkt_field_is_named(field))
		return false;
	to = fkt_put_name(values->trace, values->processes, field, event, value->number, to);
	if (to != text && field->type == FKT_FIELD_PID) {
		*to++ = ' ';
		to = fkt_put_unsigned(to, value->number);
	}
	*to = '\0';
	return false;
}

/* Whether the listing shows a number in base 16. */
static bool is_hex(const struct fkt_field *field, const struct fkt_value *value)
{
	const int64_t number = (int64_t)value->number;

	switch (field->type) {
	case FKT_FIELD_HEX:
	case FKT_FIELD_SYMBOL:
	case FKT_FIELD_FUNCTION:
		return true;
	case FKT_FIELD_RESULT:
		return number > INT32_MAX || number < INT32_MIN;
	case FKT_FIELD_ARGUMENT:
		return number > SMALL_MAX || number < -FKT_ERRNO_MAX;
	default:
		return false;
	}
}

static uint64_t hash(const struct values *values, const struct value *value)
{
	uint64_t h = values->seed ^ value->number;

	for (const char *c = value->text; *c; c++)
		h = (h ^ (uint8_t)*c) * 0x9e3779b97f4a7c15ull;
	h ^= h >> 29;
	return h * 0x9e3779b97f4a7c15ull >> 32;
}

static int add(struct values *values, const struct value *value)
{
	struct value *larger;
	size_t room;

	if (values->count == values->room) {
		room = values->room ? 2 * values->room : 64;
		larger = reallocarray(values->value, room, sizeof(*larger));
		if (!larger)
			return -1;
		values->value = larger;
		values->room = room;
	}
	values->value[values->count] = *value;
	values->value[values->count].text = strdup(value->text);
	if (!values->value[values->count].text)
		return -1;
	values->texts |= value->is_text;
	values->count++;
	return 0;
}

static int number_of(struct values *values, const struct value *value, uint64_t *number)
{
	uint64_t i = hash(values, value);
	const struct value *other;
	uint32_t *place;

	for (;; i++) {
		place = &values->place[i & (PLACES - 1)];
		if (!*place)
			break;
		other = &values->value[*place - 1];
		if (other->number == value->number && other->is_text == value->is_text &&
		    other->is_negative == value->is_negative && !strcmp(other->text, value->text)) {
			*number = *place - 1;
			return 0;
		}
	}
	*number = VALUES_MAX;
	if (values->count == VALUES_MAX)
		return 0;
	if (add(values, value))
		return -1;
	*place = (uint32_t)values->count;
	*number = *place - 1;
	return 0;
}

/* A thread is the same one when it is called something else. */
static int set_name(struct values *values, uint64_t number, const char *name)
{
	struct value *value;
	char *copy;

	if (number == VALUES_MAX)
		return 0;
	value = &values->value[number];
	if (value->name && !strcmp(value->name, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -1;
	free(value->name);
	value->name = copy;
	return 0;
}

int values_get(struct values *values, const struct fkt_event *event, bool whole, uint64_t *number)
{
	const struct fkt_field *field = field_of(values, event->code);
	char text[FKT_VALUE_NAME_BYTES + 64], none[] = "";
	struct fkt_value found;
	struct value value = { .text = text };

	if (!field || (field->immediate && !whole) || !fkt_field_value(field, event, &found) ||
	    found.kind == FKT_VALUE_ARRAY)
		return 0;
	if (found.kind == FKT_VALUE_TEXT && found.bytes > TEXT_BYTES)
		found.bytes = TEXT_BYTES;
	value.is_text = put_text(values, field, event, &found, text);
	value.number = value.is_text ? 0 : found.number;
	value.is_negative = found.kind == FKT_VALUE_SIGNED && (int64_t)found.number < 0;
	values->hex |= !*text && is_hex(field, &found);
	if (field->type == FKT_FIELD_PID)
		value.text = none;
	if (number_of(values, &value, number) ||
	    (field->type == FKT_FIELD_PID && *text && set_name(values, *number, text)))
		return -1;
	return 1;
}

bool values_have_texts(const struct values *values)
{
	return values->texts;
}

void values_put(const struct values *values, uint64_t number, bool people, char text[VALUE_BYTES])
{
	const struct value *value = &values->value[number];

	if (value->is_text || (people && *value->text))
		snprintf(text, VALUE_BYTES, "%s", value->text);
	else if (people && value->name)
		snprintf(text, VALUE_BYTES, "%s", value->name);
	else if (people && values->hex && !(value->is_negative && fkt_is_errno(value->number)))
		snprintf(text, VALUE_BYTES, "0x%llx", (unsigned long long)value->number);
	else if (value->is_negative)
		snprintf(text, VALUE_BYTES, "%lld", (long long)value->number);
	else
		snprintf(text, VALUE_BYTES, "%llu", (unsigned long long)value->number);
}

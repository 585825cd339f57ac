// SPDX-License-Identifier: GPL-2.0-or-later
/* A line of notes: an object of JSON with strings and whole numbers alone. */
#include <string.h>

#include <fkt/trace.h>

#include "notes.h"

struct text {
	const char *at;
	const char *end;
};

static void skip_blanks(struct text *text)
{
	while (text->at < text->end && strchr(" \t\r", *text->at) && *text->at)
		text->at++;
}

/* Whether this comes next; it is passed over. */
static bool take(struct text *text, char letter)
{
	skip_blanks(text);
	if (text->at == text->end || *text->at != letter)
		return false;
	text->at++;
	return true;
}

static bool take_word(struct text *text, const char *word)
{
	const size_t bytes = strlen(word);

	skip_blanks(text);
	if ((size_t)(text->end - text->at) < bytes || memcmp(text->at, word, bytes))
		return false;
	text->at += bytes;
	return true;
}

static bool take_number(struct text *text, uint64_t *number)
{
	uint64_t value = 0;
	bool any = false;

	skip_blanks(text);
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text->at - '0'), &value))
			return false;
		any = true;
	}
	*number = value;
	return any;
}

/* Four digits behind \u. Halves of a pair, and NUL, are no character. */
static bool take_escaped(struct text *text, uint32_t *letter)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < 4; i++, text->at++) {
		const char digit = text->at < text->end ? *text->at : '\0';

		value <<= 4;
		if (digit >= '0' && digit <= '9')
			value |= (uint32_t)(digit - '0');
		else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
			value |= (uint32_t)((digit | 0x20) - 'a' + 10);
		else
			return false;
	}
	*letter = value && (value < 0xd800 || value > 0xdfff) ? value : '?';
	return true;
}

static size_t put_utf8(uint32_t letter, char to[3])
{
	if (letter < 0x80) {
		to[0] = (char)letter;
		return 1;
	}
	if (letter < 0x800) {
		to[0] = (char)(0xc0 | letter >> 6);
		to[1] = (char)(0x80 | (letter & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | letter >> 12);
	to[1] = (char)(0x80 | (letter >> 6 & 0x3f));
	to[2] = (char)(0x80 | (letter & 0x3f));
	return 3;
}

/* A string with its quotes; false also when there is no room for it. */
static bool take_string(struct text *text, char *to, size_t room)
{
	static const char escapes[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	size_t bytes = 0, count;
	const char *escape;
	uint32_t letter;
	char utf8[3];

	if (!take(text, '"'))
		return false;
	while (text->at < text->end && *text->at != '"') {
		utf8[0] = *text->at++;
		count = 1;
		if (utf8[0] == '\\') {
			if (text->at == text->end)
				return false;
			escape = *text->at ? strchr(escapes, *text->at) : NULL;
			letter = escape ? (unsigned char)means[escape - escapes] : 0;
			if (*text->at++ == 'u' && !take_escaped(text, &letter))
				return false;
			if (!letter)
				return false;
			count = put_utf8(letter, utf8);
		} else if ((unsigned char)utf8[0] < ' ') {
			return false;
		}
		if (bytes + count >= room)
			return false;
		memcpy(to + bytes, utf8, count);
		bytes += count;
	}
	to[bytes] = '\0';
	return take(text, '"');
}

/* The value of a key: numbers, strings and null of other keys are passed over. */
static bool take_value(struct text *text, const char *key, struct note *note, bool *has_stamp)
{
	char other[NOTE_TEXT_BYTES];
	uint64_t number;

	if (!strcmp(key, "trace"))
		return take_string(text, note->trace, sizeof(note->trace));
	if (!strcmp(key, "text"))
		return take_string(text, note->text, sizeof(note->text));
	if (take_word(text, "null"))
		return true;
	skip_blanks(text);
	if (text->at < text->end && *text->at == '"')
		return take_string(text, other, sizeof(other));
	if (!take_number(text, &number))
		return false;
	if (!strcmp(key, "stamp")) {
		note->stamp = number;
		*has_stamp = true;
	} else if (!strcmp(key, "tid")) {
		note->has_tid = number <= INT32_MAX;
		note->tid = (uint32_t)number;
		return note->has_tid;
	} else if (!strcmp(key, "removes")) {
		note->removes = number;
	}
	return true;
}

bool note_parse(struct note *note, const char *line, size_t bytes)
{
	struct text text = { .at = line, .end = line + bytes };
	bool has_stamp = false;
	char key[32];

	*note = (struct note){ 0 };
	if (!take(&text, '{'))
		return false;
	do {
		if (!take_string(&text, key, sizeof(key)) || !take(&text, ':') ||
		    !take_value(&text, key, note, &has_stamp))
			return false;
	} while (take(&text, ','));
	if (!take(&text, '}'))
		return false;
	skip_blanks(&text);
	fkt_sanitize(note->text);
	return text.at == text.end && *note->trace && (note->removes || (has_stamp && *note->text));
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* How many columns of a terminal text takes: two for many a character, none for some. */
#include <wchar.h>

#include "table.h"

/* Of UTF-8; what is none takes a column a byte. */
static unsigned int character(const char *text, const char *end, unsigned int *columns)
{
	const unsigned char *byte = (const unsigned char *)text;
	unsigned int length = *byte < 0xc0 ? 1 : *byte < 0xe0 ? 2 : *byte < 0xf0 ? 3 : 4;
	uint32_t value = length > 1 ? *byte & (0x7f >> length) : *byte;
	int width;

	*columns = 1;
	if (length == 1)
		return 1;
	for (unsigned int i = 1; i < length; i++) {
		if (text + i == end || (byte[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (byte[i] & 0x3f);
	}
	width = wcwidth((wchar_t)value);
	if (width >= 0)
		*columns = (unsigned int)width;
	return length;
}

unsigned int fkt_width(const char *text, size_t bytes)
{
	const char *end = text + bytes;
	unsigned int n = 0, columns;

	while (text < end) {
		if ((unsigned char)*text < 0x80) {
			text++;
			n++;
		} else {
			text += character(text, end, &columns);
			n += columns;
		}
	}
	return n;
}

size_t fkt_fitting(const char *text, size_t bytes, unsigned int room)
{
	const char *at = text, *end = text + bytes;
	unsigned int length = 1, columns = 1;

	for (; at < end; at += length) {
		length = columns = 1;
		if ((unsigned char)*at >= 0x80)
			length = character(at, end, &columns);
		if (columns > room)
			break;
		room -= columns;
	}
	return (size_t)(at - text);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pieces of a line: each writes something at @to, where there is room for it, and returns its end.
 * Inline, since a listing is made of nothing else.
 */
#ifndef FKT_PUT_H
#define FKT_PUT_H

#include <stdint.h>
#include <string.h>

#define FKT_NS_PER_US	  1000
#define FKT_NS_PER_MS	  1000000
#define FKT_NS_PER_SECOND 1000000000

static inline char *fkt_put_bytes(char *to, const char *text, size_t bytes)
{
	memcpy(to, text, bytes);
	return to + bytes;
}

/* How much of a clean text there is room for: no part of a character. */
static inline size_t fkt_cut_text(const char *text, size_t max)
{
	size_t bytes = strnlen(text, max);

	while (bytes == max && max && ((unsigned char)text[max] & 0xc0) == 0x80)
		bytes = --max;
	return bytes;
}

static inline char *fkt_put_string(char *to, const char *text, size_t max)
{
	return fkt_put_bytes(to, text, fkt_cut_text(text, max));
}

static inline char *fkt_put_word(char *to, const char *word)
{
	return fkt_put_bytes(to, word, strlen(word));
}

/*
 * Copy text out of an array of which it usually fills less than @usual: so many bytes are copied
 * in any case, which takes a few instructions. What is too much is written over by what follows.
 */
#define fkt_put_padded(to, array, bytes, usual)                                                    \
	({                                                                                         \
		_Static_assert(sizeof(array) >= (usual), "within the array");                      \
		memcpy(to, array, usual);                                                          \
		if (unlikely((bytes) > (usual)))                                                   \
			memcpy(to, array, bytes);                                                  \
		(to) + (bytes);                                                                    \
	})

/* The digits of a number, written backwards from @end. */
static inline char *fkt_digits_before(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
				    "31323334353637383940414243444546474849505152535455565758596061"
				    "62636465666768697071727374757677787980818283848586878889909192"
				    "93949596979899";

	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * value, 2);
	} else {
		*--end = (char)('0' + value);
	}
	return end;
}

static inline char *fkt_put_unsigned(char *to, uint64_t value)
{
	char digits[20], *begin;

	if (value < 10) {
		*to++ = (char)('0' + value);
		return to;
	}
	begin = fkt_digits_before(digits + sizeof(digits), value);
	return fkt_put_bytes(to, begin, (size_t)(digits + sizeof(digits) - begin));
}

static inline char *fkt_put_signed(char *to, int64_t value)
{
	if (value < 0)
		*to++ = '-';
	return fkt_put_unsigned(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static inline char *fkt_put_hex(char *to, uint64_t value)
{
	int shift = value ? (63 - __builtin_clzll(value)) & ~3 : 0;

	*to++ = '0';
	*to++ = 'x';
	for (; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[value >> shift & 15];
	return to;
}

#endif

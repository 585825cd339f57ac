/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protocol buffers, written by hand: a message is put together in a buffer of the caller's, which
 * has the room for it. protobuf-c has a struct filled for each message, and goes through it twice;
 * docs/architecture.md has what that costs.
 */
#ifndef FKT_EXPORT_PROTOBUF_H
#define FKT_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a number takes at most, and a field's number and the length of what follows. */
#define PB_VARINT_BYTES 10
#define PB_FIELD_BYTES	15

static inline uint8_t *pb_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

/* A field that is a number; a negative one is given as its 64 bits. */
static inline uint8_t *pb_number(uint8_t *at, uint32_t field, uint64_t value)
{
	return pb_varint(pb_varint(at, field << 3), value);
}

/* A field that is bytes, a string or a message that is made already. */
static inline uint8_t *pb_bytes(uint8_t *at, uint32_t field, const void *bytes, size_t count)
{
	at = pb_varint(pb_varint(at, field << 3 | 2), count);
	memcpy(at, bytes, count);
	return at + count;
}

static inline uint8_t *pb_string(uint8_t *at, uint32_t field, const char *text)
{
	return pb_bytes(at, field, text, strlen(text));
}

/*
 * A field that is a message: pb_begin(), its fields, and pb_end() with what pb_begin() returned. It
 * has less than 128 bytes; pb_begin_long(), pb_end_long(): less than 2 MB. Of these the length
 * takes three bytes, whatever it is, which readers take as they come.
 */
static inline uint8_t *pb_begin(uint8_t *at, uint32_t field)
{
	return pb_varint(at, field << 3 | 2) + 1;
}

static inline void pb_end(uint8_t *begin, const uint8_t *end)
{
	begin[-1] = (uint8_t)(end - begin);
}

static inline uint8_t *pb_begin_long(uint8_t *at, uint32_t field)
{
	return pb_varint(at, field << 3 | 2) + 3;
}

static inline void pb_end_long(uint8_t *begin, const uint8_t *end)
{
	size_t bytes = (size_t)(end - begin);

	begin[-3] = (uint8_t)(bytes | 0x80);
	begin[-2] = (uint8_t)(bytes >> 7 | 0x80);
	begin[-1] = (uint8_t)(bytes >> 14 & 0x7f);
}

#endif

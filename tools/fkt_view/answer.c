// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

#define FIRST_ROOM 4096

void answer_bytes(struct answer *answer, const void *data, size_t bytes)
{
	size_t room = answer->room ? answer->room : FIRST_ROOM;
	char *larger;

	while (room - answer->bytes < bytes)
		room *= 2;
	if (room != answer->room && !answer->failed) {
		larger = realloc(answer->data, room);
		answer->failed = !larger;
		if (larger) {
			answer->data = larger;
			answer->room = room;
		}
	}
	if (answer->failed || !bytes)
		return;
	memcpy(answer->data + answer->bytes, data, bytes);
	answer->bytes += bytes;
}

void answer_text(struct answer *answer, const char *format, ...)
{
	char text[1024];
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (bytes > 0)
		answer_bytes(answer, text,
			     (size_t)bytes < sizeof(text) ? (size_t)bytes : sizeof(text) - 1);
}

void answer_string(struct answer *answer, const char *text)
{
	answer_bytes(answer, "\"", 1);
	for (; *text; text++) {
		if ((unsigned char)*text < ' ')
			answer_text(answer, "\\u%04x", (unsigned int)(unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			answer_text(answer, "\\%c", *text);
		else
			answer_bytes(answer, text, 1);
	}
	answer_bytes(answer, "\"", 1);
}

void answer_free(struct answer *answer)
{
	free(answer->data);
	*answer = (struct answer){ 0 };
}

int answer_error(const struct answer *answer)
{
	return answer->failed ? -ENOMEM : 0;
}

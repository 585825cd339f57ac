/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is answered: bytes that grow, and JSON in them. */
#ifndef FKT_VIEW_ANSWER_H
#define FKT_VIEW_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct answer - an answer; begin with all zero
 * @data: malloc()ed
 * @bytes: how many
 * @room: and how many there is room for
 * @failed: no memory; no more is added
 */
struct answer {
	char *data;
	size_t bytes;
	size_t room;
	bool failed;
};

void answer_bytes(struct answer *answer, const void *data, size_t bytes);
void answer_text(struct answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A string with its quotes. */
void answer_string(struct answer *answer, const char *text);
void answer_free(struct answer *answer);

/* 0, or -ENOMEM where something could not be added. */
int answer_error(const struct answer *answer);

#endif

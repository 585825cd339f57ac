/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes on moments, in a file beside the trace, TRACE.notes: a line of JSON each,
 *
 *	{"trace":"ID","stamp":CYCLES,"at_ns":NS,"tid":TID or null,"text":"…"}
 *	{"trace":"ID","removes":NUMBER OF A LINE}
 *
 * which others may have written as well: nothing of it is believed.
 */
#ifndef FKT_VIEW_NOTES_H
#define FKT_VIEW_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTE_TEXT_BYTES	 1001
#define NOTE_TRACE_BYTES 33
/* What a file has behind so many bytes, or lines, is left out. */
#define NOTES_BYTES_MAX	 (4u << 20)
#define NOTES_MAX	 5000u

/**
 * struct note - a line
 * @line: its number, from 1 on
 * @trace: the trace's id in hexadecimal digits, as the line says it
 * @stamp: when
 * @tid: the thread, if @has_tid
 * @removes: the line that is taken back; 0: none, it is a note
 * @text: what it says: UTF-8 without control characters
 */
struct note {
	unsigned int line;
	char trace[NOTE_TRACE_BYTES];
	uint64_t stamp;
	uint32_t tid;
	bool has_tid;
	uint64_t removes;
	char text[NOTE_TEXT_BYTES];
};

/**
 * note_parse() - read a line
 * @note: filled in, but for @line
 * @text: the line
 * @bytes: its length
 *
 * Return: whether it is a note, or takes one back.
 */
bool note_parse(struct note *note, const char *text, size_t bytes);

#endif

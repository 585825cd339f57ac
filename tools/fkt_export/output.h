/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an export goes: standard output, or a file that is there under its name once it is whole.
 * Until then it is FILE.part, which goes when anything goes wrong, Ctrl-C included. So is a
 * directory with files in it, of which one is written as the others, the last of all.
 */
#ifndef FKT_EXPORT_OUTPUT_H
#define FKT_EXPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUTPUT_BYTES	  262144
/* The longest name of a file in a directory, with its NUL. */
#define OUTPUT_NAME_BYTES 32

/**
 * struct output - an output; callers touch none of it
 * @path: the file, or directory; NULL: standard output
 * @part: its name until it is whole; NULL: it is written in place, being a pipe or a device
 * @fd: where it is written; of a directory, its one file
 * @target: while it is held back, what @fd will be; else -1
 * @directory: of a directory, itself; else -1
 * @name: of a directory, its files
 * @files: how many
 * @err: of the first write that failed, negative
 * @written: bytes that have gone out
 * @used: how much of @buffer is
 * @buffer: what has not gone out
 */
struct output {
	const char *path;
	char *part;
	int fd;
	int target;
	int directory;
	char (*name)[OUTPUT_NAME_BYTES];
	size_t files;
	int err;
	uint64_t written;
	size_t used;
	char buffer[OUTPUT_BYTES];
};

/**
 * output_open() - begin
 * @output: filled in
 * @path: the file; NULL: standard output
 *
 * Return: 0 or a negative errno value.
 */
int output_open(struct output *output, const char *path);

/**
 * output_open_directory() - begin a directory
 * @output: filled in
 * @path: its name; one that is there already is to be empty
 * @main: name of the file that output_bytes() and its like write
 *
 * Return: 0 or a negative errno value.
 */
int output_open_directory(struct output *output, const char *path, const char *main);

/**
 * output_hold() - hold back what is written, in a file without a name
 * @output: just opened; one that has no name until it is whole need not be held
 *
 * Return: 0 or a negative errno value.
 */
int output_hold(struct output *output);

/* Let go what was held back, and what is to come; errors are kept. */
void output_release(struct output *output);

/* Another file of the directory; its number is the answer, or a negative errno value. */
int output_add_file(struct output *output, const char *name);

/* Write more bytes of a file with such a number, which go out at once; errors are kept. */
void output_append(struct output *output, int file, const void *bytes, size_t count);

/* Whether nothing has been written. */
static inline bool output_is_empty(const struct output *output)
{
	return !output->written && !output->used;
}

/* Keep an error of what others have written to @fd, if it is the first one. */
void output_error(struct output *output, int err);

/* Let what is in the buffer go out. Return: 0 or the first error. */
int output_flush(struct output *output);

/* All was written: it is let go, the file gets its name. Return: 0 or a negative errno value. */
int output_finish(struct output *output);

/* End, without the file if it is not finished. */
void output_abandon(struct output *output);

/* Write many bytes. */
void output_long(struct output *output, const void *bytes, size_t count);

/* Write bytes; errors are kept. */
static inline void output_bytes(struct output *output, const void *bytes, size_t count)
{
	if (count > OUTPUT_BYTES - output->used) {
		output_long(output, bytes, count);
		return;
	}
	memcpy(output->buffer + output->used, bytes, count);
	output->used += count;
}

static inline void output_text(struct output *output, const char *text)
{
	output_bytes(output, text, strlen(text));
}

/* The same as printf(), of up to 4095 bytes. */
void output_format(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A string of JSON, in its quotes. What is not UTF-8 becomes "?". */
void output_json(struct output *output, const char *text, size_t bytes);

#endif

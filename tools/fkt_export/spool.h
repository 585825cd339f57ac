/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many streams of bytes at once, in one file that has no name: each is read again when all are
 * written. Memory holds a block of each that is open, whatever they come to.
 */
#ifndef FKT_EXPORT_SPOOL_H
#define FKT_EXPORT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

struct output;
struct spool_stream;

#define SPOOL_BLOCK 1024

/**
 * struct spool - the streams; begin with spool_open()
 * @fd: the file
 * @blocks: how many blocks it has
 * @stream: by number
 * @streams: how many there is room for
 */
struct spool {
	int fd;
	uint64_t blocks;
	struct spool_stream *stream;
	uint32_t streams;
};

/* Open a file that has no name. Return: its descriptor or a negative errno value. */
int spool_file(void);
/* Note that an error is of such a file, and not of the trace or the output. Return: the error. */
int spool_error(int err);
/* Whether there was such an error. */
bool spool_has_failed(void);
/* Return: 0 or a negative errno value. */
int spool_open(struct spool *spool);
/* More bytes for a stream, fewer than in a block. Return: 0 or a negative errno value. */
int spool_add(struct spool *spool, uint32_t number, const void *bytes, uint32_t count);
/* Whether there is anything in it. */
int spool_has(const struct spool *spool, uint32_t number);
/* Two streams change their numbers. Return: 0 or -ENOMEM. */
int spool_swap(struct spool *spool, uint32_t a, uint32_t b);
/* Write a stream to the output. Return: 0 or a negative errno value. */
int spool_write(struct spool *spool, uint32_t number, struct output *output);
void spool_free(struct spool *spool);

#endif

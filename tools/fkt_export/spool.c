// SPDX-License-Identifier: GPL-2.0-or-later
/* Many streams of bytes at once, in one file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "spool.h"

/* A block as it stands in the file: it has as many bytes as there is room for if it has a next. */
struct block {
	uint64_t next; /* number of the stream's next block + 1, 0: none */
	char bytes[SPOOL_BLOCK - sizeof(uint64_t)];
};

struct spool_stream {
	struct block *block; /* the last one, not in the file yet; NULL: nothing is there */
	uint64_t first;	     /* number of the first block */
	uint64_t number;     /* of the last one */
	uint32_t used;	     /* of its bytes */
};

static bool failed;

int spool_error(int err)
{
	failed = true;
	return err;
}

bool spool_has_failed(void)
{
	return failed;
}

int spool_file(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	int fd;

	fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* A file system that knows no files without a name. */
	if ((size_t)snprintf(name, sizeof(name), "%s/fkt_export.XXXXXX",
			     folder && *folder ? folder : "/tmp") >= sizeof(name))
		return spool_error(-ENAMETOOLONG);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return spool_error(-errno);
	unlink(name);
	return fd;
}

int spool_open(struct spool *spool)
{
	memset(spool, 0, sizeof(*spool));
	spool->fd = spool_file();
	return spool->fd < 0 ? spool->fd : 0;
}

static int write_block(struct spool *spool, const struct spool_stream *stream)
{
	ssize_t done = pwrite(spool->fd, stream->block, sizeof(*stream->block),
			      (off_t)(stream->number * sizeof(*stream->block)));

	if (done < 0)
		return spool_error(-errno);
	return done == (ssize_t)sizeof(*stream->block) ? 0 : spool_error(-ENOSPC);
}

static int make_room(struct spool *spool, uint32_t number)
{
	uint32_t count = spool->streams ? spool->streams : 64;
	struct spool_stream *larger;

	if (number < spool->streams)
		return 0;
	while (count <= number)
		count *= 2;
	larger = reallocarray(spool->stream, count, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	memset(larger + spool->streams, 0, (count - spool->streams) * sizeof(*larger));
	spool->stream = larger;
	spool->streams = count;
	return 0;
}

int spool_add(struct spool *spool, uint32_t number, const void *bytes, uint32_t count)
{
	struct spool_stream *stream;
	uint32_t part;
	int err = make_room(spool, number);

	if (err)
		return err;
	stream = &spool->stream[number];
	if (!stream->block) {
		stream->block = calloc(1, sizeof(*stream->block));
		if (!stream->block)
			return -ENOMEM;
		stream->first = stream->number = spool->blocks++;
	}
	while (count) {
		if (stream->used == sizeof(stream->block->bytes)) {
			stream->block->next = spool->blocks + 1;
			err = write_block(spool, stream);
			if (err)
				return err;
			stream->number = spool->blocks++;
			stream->block->next = 0;
			stream->used = 0;
		}
		part = (uint32_t)sizeof(stream->block->bytes) - stream->used;
		if (part > count)
			part = count;
		memcpy(stream->block->bytes + stream->used, bytes, part);
		stream->used += part;
		bytes = (const char *)bytes + part;
		count -= part;
	}
	return 0;
}

int spool_has(const struct spool *spool, uint32_t number)
{
	return number < spool->streams && spool->stream[number].block;
}

int spool_swap(struct spool *spool, uint32_t a, uint32_t b)
{
	struct spool_stream stream;
	int err = make_room(spool, a > b ? a : b);

	if (err)
		return err;
	stream = spool->stream[a];
	spool->stream[a] = spool->stream[b];
	spool->stream[b] = stream;
	return 0;
}

int spool_write(struct spool *spool, uint32_t number, struct output *output)
{
	const struct spool_stream *stream = &spool->stream[number];
	struct block block = { .next = stream->first + 1 };
	uint64_t at;
	ssize_t done;

	while ((at = block.next - 1) != stream->number) {
		done = pread(spool->fd, &block, sizeof(block), (off_t)(at * sizeof(block)));
		if (done != (ssize_t)sizeof(block))
			return spool_error(done < 0 ? -errno : -EIO);
		output_bytes(output, block.bytes, sizeof(block.bytes));
	}
	output_bytes(output, stream->block->bytes, stream->used);
	return 0;
}

void spool_free(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->streams; i++)
		free(spool->stream[i].block);
	free(spool->stream);
	close(spool->fd);
}

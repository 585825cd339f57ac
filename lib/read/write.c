// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace that is written in sequence: buffered, with an index page wherever one is due.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "write.h"

#define BUFFER_BYTES (1u << 20)

static void flush(struct fkt_writer *writer)
{
	size_t done = 0;
	ssize_t n;

	while (done < writer->used && !writer->err) {
		n = write(writer->fd, writer->buffer + done, writer->used - done);
		if (n < 0 && errno != EINTR)
			writer->err = -errno;
		else if (n > 0)
			done += (size_t)n;
	}
	writer->used = 0;
}

int fkt_writer_init(struct fkt_writer *writer, int fd)
{
	writer->fd = fd;
	writer->buffer = malloc(BUFFER_BYTES);
	return writer->buffer ? 0 : -ENOMEM;
}

int fkt_writer_end(struct fkt_writer *writer)
{
	flush(writer);
	free(writer->buffer);
	writer->buffer = NULL;
	return writer->err;
}

void fkt_write(struct fkt_writer *writer, const void *data, size_t bytes)
{
	size_t n;

	writer->bytes += bytes;
	while (bytes) {
		n = BUFFER_BYTES - writer->used < bytes ? BUFFER_BYTES - writer->used : bytes;
		memcpy(writer->buffer + writer->used, data, n);
		writer->used += n;
		data = (const char *)data + n;
		bytes -= n;
		if (writer->used == BUFFER_BYTES)
			flush(writer);
	}
}

void fkt_write_zeros(struct fkt_writer *writer, uint64_t align)
{
	static const char zeros[FKT_PAGE_BYTES];

	fkt_write(writer, zeros, (align - writer->bytes % align) % align);
}

/* ---- sections ---- */

void fkt_write_header(struct fkt_writer *writer, uint64_t section_bytes)
{
	const struct fkt_file_header *header = &writer->header;
	uint64_t bytes = sizeof(*header) + section_bytes;
	struct fkt_file_header stored = {
		.magic = FKT_FILE_MAGIC,
		.version_major = htole16(FKT_VERSION_MAJOR),
		.version_minor = htole16(header->version_minor),
		.byte_order = htole32(FKT_BYTE_ORDER),
		.header_bytes = htole32(sizeof(*header)),
		.page_bytes = htole32(FKT_PAGE_BYTES),
		.page_header_bytes = htole32(header->page_header_bytes),
		.lanes = htole32(header->lanes),
		.shared = htole32(header->shared),
	};

	bytes = (bytes + FKT_PAGE_BYTES - 1) / FKT_PAGE_BYTES * FKT_PAGE_BYTES;
	stored.data_offset = htole64(bytes);
	memcpy(stored.id, header->id, sizeof(stored.id));
	fkt_write(writer, &stored, sizeof(stored));
}

uint64_t fkt_section_bytes(uint64_t data_bytes)
{
	return sizeof(struct fkt_section_header) + ((data_bytes + 7) & ~7ull);
}

void fkt_write_section(struct fkt_writer *writer, uint32_t type, const void *data, size_t bytes)
{
	struct fkt_section_header section = {
		.magic = htole32(FKT_SECTION_MAGIC),
		.type = htole32(type),
		.stored_bytes = htole64(bytes),
		.raw_bytes = htole64(bytes),
	};

	fkt_write(writer, &section, sizeof(section));
	if (bytes)
		fkt_write(writer, data, bytes);
	fkt_write_zeros(writer, 8);
}

void fkt_write_head_end(struct fkt_writer *writer)
{
	fkt_write_section(writer, FKT_SECTION_END, NULL, 0);
	fkt_write_zeros(writer, FKT_PAGE_BYTES);
}

void fkt_write_footer(struct fkt_writer *writer, uint64_t tail_offset)
{
	struct fkt_footer footer = {
		.magic = FKT_FOOTER_MAGIC,
		.tail_offset = htole64(tail_offset),
	};

	memcpy(footer.id, writer->header.id, sizeof(footer.id));
	fkt_write(writer, &footer, sizeof(footer));
}

static void copy_section(struct fkt_writer *writer, struct fkt_trace *trace,
			 const struct fkt_place *place)
{
	char data[4096];
	size_t n;

	for (uint64_t done = 0; done < place->bytes && !writer->err; done += n) {
		n = place->bytes - done < sizeof(data) ? (size_t)(place->bytes - done)
						       : sizeof(data);
		if (fkt_input_read_at(&trace->input, data, n, place->offset + done) != n)
			writer->err = -EIO;
		else
			fkt_write(writer, data, n);
	}
}

uint64_t fkt_write_sections_of(struct fkt_writer *writer, struct fkt_trace *trace, bool in_tail,
			       bool (*leave_out)(uint32_t type))
{
	const struct fkt_place *place;
	uint64_t bytes = 0;

	for (size_t i = 0; i < trace->n_places; i++) {
		place = &trace->places[i];
		if (place->in_tail != in_tail || leave_out(place->type))
			continue;
		bytes += place->bytes;
		if (writer && !writer->err)
			copy_section(writer, trace, place);
	}
	return bytes;
}

/* ---- pages ---- */

static void put_index(struct fkt_writer *writer)
{
	uint64_t page[FKT_PAGE_WORDS] = { 0 };
	uint32_t begin = writer->header.page_header_bytes;
	struct fkt_page_header header = {
		.magic = htole32(FKT_PAGE_MAGIC),
		.lane = htole16(FKT_LANE_INDEX),
		.seq = htole64(++writer->index_seq),
		.used = htole32(begin + (uint32_t)sizeof(struct fkt_index)),
		.events = htole32(FKT_INDEX_ENTRIES),
	};
	struct fkt_index index = {
		.complete = htole64(writer->complete(writer->arg)),
		.max_end = htole64(writer->max_end),
		.events_before = htole64(writer->before),
	};

	memcpy(index.entry, writer->entry, sizeof(index.entry));
	memcpy(header.id, writer->header.id, sizeof(header.id));
	memcpy(page, &header, sizeof(header));
	memcpy((char *)page + begin, &index, sizeof(index));
	fkt_write(writer, page, sizeof(page));
	writer->pages++;
}

void fkt_write_page(struct fkt_writer *writer, void *page, const struct fkt_page_header *header)
{
	struct fkt_index_entry *entry = &writer->entry[writer->entries++];
	struct fkt_page_header stored = *header;

	stored.magic = htole32(FKT_PAGE_MAGIC);
	stored.lane = htole16(header->lane);
	stored.cpu = htole16(header->cpu);
	stored.seq = htole64(header->seq);
	stored.first = htole64(header->first);
	stored.end = htole64(header->end);
	stored.lost = htole64(header->lost);
	stored.used = htole32(header->used);
	stored.events = htole32(header->events);
	stored.pid = htole32(header->pid);
	stored.flags = htole32(header->flags & FKT_PAGE_OVERWROTE);
	memcpy(stored.id, writer->header.id, sizeof(stored.id));
	memcpy(page, &stored, sizeof(stored));
	fkt_write(writer, page, FKT_PAGE_BYTES);

	entry->first = stored.first;
	entry->end = stored.end;
	entry->events = stored.events;
	entry->lane = stored.lane;
	entry->cpu = stored.cpu;
	if (header->end > writer->max_end)
		writer->max_end = header->end;
	writer->pages++;
	if (writer->entries < FKT_INDEX_ENTRIES)
		return;
	put_index(writer);
	for (unsigned int i = 0; i < FKT_INDEX_ENTRIES; i++)
		writer->before += le32toh(writer->entry[i].events);
	writer->entries = 0;
}

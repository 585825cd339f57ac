// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "build_trace.h"

void build_append(struct build *build, const void *data, size_t bytes)
{
	if (build->bytes + bytes > build->room) {
		build->room = (build->bytes + bytes) * 2;
		build->data = realloc(build->data, build->room);
		assert(build->data);
	}
	if (bytes)
		memcpy(build->data + build->bytes, data, bytes);
	build->bytes += bytes;
}

static void pad_to(struct build *build, size_t align)
{
	static const uint8_t zeros[FKT_PAGE_BYTES];

	build_append(build, zeros, (align - build->bytes % align) % align);
}

void build_begin(struct build *build, unsigned int lanes, bool shared)
{
	struct fkt_file_header header = {
		.version_major = htole16(FKT_VERSION_MAJOR),
		.version_minor = htole16(FKT_VERSION_MINOR),
		.byte_order = htole32(FKT_BYTE_ORDER),
		.header_bytes = htole32(sizeof(header)),
		.page_bytes = htole32(FKT_PAGE_BYTES),
		.page_header_bytes = htole32(sizeof(struct fkt_page_header)),
		.lanes = htole32(lanes),
		.shared = htole32(shared),
	};

	memset(build, 0, sizeof(*build));
	build->lanes = lanes;
	build->shared = shared;
	for (unsigned int i = 0; i < FKT_ID_BYTES; i++)
		build->id[i] = (uint8_t)(0xa0 + i);
	for (unsigned int i = 0; i < lanes && i < BUILD_LANES_MAX; i++)
		build->lane[i].cpu = (uint16_t)i;
	memcpy(header.magic, FKT_FILE_MAGIC, sizeof(header.magic));
	memcpy(header.id, build->id, sizeof(header.id));
	build_append(build, &header, sizeof(header));
}

void build_free(struct build *build)
{
	free(build->data);
	build->data = NULL;
}

void build_section(struct build *build, uint32_t type, const void *data, size_t bytes, bool zstd)
{
	struct fkt_section_header section = {
		.magic = htole32(FKT_SECTION_MAGIC),
		.type = htole32(type),
		.stored_bytes = htole64(bytes),
		.raw_bytes = htole64(bytes),
		.compression = htole32(zstd ? FKT_COMPRESS_ZSTD : FKT_COMPRESS_NONE),
	};
	size_t room = ZSTD_compressBound(bytes);
	void *compressed = malloc(room);

	assert(compressed);
	if (zstd) {
		bytes = ZSTD_compress(compressed, room, data, bytes, 3);
		assert(!ZSTD_isError(bytes));
		section.stored_bytes = htole64(bytes);
		data = compressed;
	}
	build_append(build, &section, sizeof(section));
	build_append(build, data, bytes);
	pad_to(build, 8);
	free(compressed);
}

void build_text(struct build *build, uint32_t type, const char *text)
{
	build_section(build, type, text, strlen(text), false);
}

void build_clock(struct build *build, uint64_t cycles, uint64_t mono_ns, uint64_t real_ns)
{
	struct fkt_clock_pair pair = { htole64(cycles), htole64(mono_ns), htole64(real_ns) };

	build_section(build, FKT_SECTION_CLOCK, &pair, sizeof(pair), false);
}

void build_pages(struct build *build)
{
	struct fkt_file_header *header;

	build_section(build, FKT_SECTION_END, NULL, 0, false);
	pad_to(build, FKT_PAGE_BYTES);
	build->data_offset = build->bytes;
	header = (struct fkt_file_header *)(void *)build->data;
	header->data_offset = htole64(build->bytes);
}

/* A page goes into the file; every so many, an index of them follows. */
static void append_index(struct build *build, bool full)
{
	uint64_t page[FKT_PAGE_BYTES / 8] = { 0 };
	struct fkt_page_header *header = (void *)page;
	struct fkt_index *index = (void *)(header + 1);
	uint64_t complete = build->max_end;
	struct fkt_page_header *open;

	/* An open page's next event may be as early as its first one. */
	for (unsigned int i = 0; i < build->lanes; i++) {
		open = (void *)build->lane[i].page;
		if (build->lane[i].open && le64toh(open->first) < complete)
			complete = le64toh(open->first);
	}
	header->magic = htole32(FKT_PAGE_MAGIC);
	header->lane = htole16(FKT_LANE_INDEX);
	header->seq = htole64(++build->index_seq);
	header->events = htole32(full ? build->entries : 0);
	header->used = htole32((uint32_t)(sizeof(*header) + offsetof(struct fkt_index, entry) +
					  (full ? sizeof(build->entry) : 0)));
	memcpy(header->id, build->id, sizeof(header->id));
	index->complete = htole64(complete);
	index->max_end = htole64(build->max_end);
	index->events_before = htole64(build->before);
	if (full)
		memcpy(index->entry, build->entry, sizeof(build->entry));
	build_append(build, page, sizeof(page));
	build->pages++;
}

static void note_page(struct build *build, const struct fkt_index_entry *entry)
{
	build->entry[build->entries++] = *entry;
	if (build->entries < FKT_INDEX_ENTRIES)
		return;
	append_index(build, true);
	build->entries = 0;
	build->before = build->events;
}

void build_mark(struct build *build)
{
	struct fkt_index_entry entry = { .lane = htole16(FKT_LANE_INDEX) };

	append_index(build, false);
	note_page(build, &entry);
}

size_t build_close(struct build *build, unsigned int lane)
{
	struct fkt_page_header *header = (void *)build->lane[lane].page;
	struct fkt_index_entry entry;
	size_t offset = build->bytes;

	if (!build->lane[lane].open)
		return 0;
	build->lane[lane].open = false;
	header->end = htole64(build->lane[lane].latest);
	if (build->lane[lane].latest > build->max_end)
		build->max_end = build->lane[lane].latest;
	build->lane[lane].events += le32toh(header->events);
	build->lane[lane].pages++;
	build->events += le32toh(header->events);
	build_append(build, header, FKT_PAGE_BYTES);
	build->pages++;

	entry.first = header->first;
	entry.end = header->end;
	entry.events = header->events;
	entry.lane = header->lane;
	entry.cpu = header->cpu;
	note_page(build, &entry);
	return offset;
}

static void open_page(struct build *build, unsigned int lane, uint16_t cpu, uint64_t stamp)
{
	struct fkt_page_header *header = (void *)build->lane[lane].page;

	memset(build->lane[lane].page, 0, FKT_PAGE_BYTES);
	header->magic = htole32(FKT_PAGE_MAGIC);
	header->lane = htole16((uint16_t)lane);
	header->cpu = htole16(cpu);
	header->seq = htole64(++build->lane[lane].seq);
	header->first = htole64(stamp);
	header->lost = htole64(build->lane[lane].lost);
	header->used = htole32(sizeof(*header));
	header->pid = htole32(build->lane[lane].pid);
	memcpy(header->id, build->id, sizeof(header->id));
	build->lane[lane].open = true;
	build->lane[lane].stamp = stamp;
	build->lane[lane].latest = stamp;
	build->lane[lane].slot_cpu = cpu;
}

/* A stack and its event: all slots, and one wide stamp. */
#define STACK_WORDS_MAX                                                                            \
	(2 * (FKT_STACK_WORDS_MAX + FKT_STACK_SLOTS_MAX) + 1 + FKT_SLOT_WORDS_MAX + 1)

void build_slot(struct build *build, unsigned int lane, uint16_t cpu, uint64_t stamp, uint32_t code,
		uint16_t imm, const uint64_t *words, unsigned int n)
{
	const uint64_t half = 1ull << (FKT_SLOT_STAMP_BITS - 1);
	struct fkt_page_header *header = (void *)build->lane[lane].page;
	uint64_t head, *slot;
	unsigned int room = n + 2;
	uint32_t used;
	bool wide;

	/* Room for a wide slot; a stack and its event, which is not wide then, are in one page. */
	if (code == FKT_CODE_STACK)
		room = imm & (FKT_STACK_ON | FKT_STACK_BELOW) ? n + 1 : STACK_WORDS_MAX;
	else if (build->lane[lane].stamp == stamp && build->lane[lane].slot_cpu == cpu)
		room = n + 1;
	if (build->lane[lane].open && le32toh(header->used) + 8 * room > FKT_PAGE_BYTES)
		build_close(build, lane);
	if (!build->lane[lane].open)
		open_page(build, lane, cpu, stamp);

	wide = stamp - build->lane[lane].stamp + half >= 2 * half ||
	       cpu != build->lane[lane].slot_cpu;
	used = le32toh(header->used);
	slot = build->lane[lane].page + used / 8;
	head = (n + wide) | (uint64_t)code << FKT_SLOT_CODE_SHIFT |
	       (uint64_t)imm << FKT_SLOT_IMM_SHIFT | stamp << FKT_SLOT_STAMP_SHIFT;
	*slot++ = htole64(head | (wide ? FKT_SLOT_WIDE : 0));
	if (wide)
		*slot++ = htole64((stamp & ((1ull << FKT_WIDE_STAMP_BITS) - 1)) |
				  (uint64_t)cpu << FKT_WIDE_STAMP_BITS);
	for (unsigned int i = 0; i < n; i++)
		*slot++ = htole64(words[i]);
	header->used = htole32(used + 8 * (1 + wide + n));
	header->events = htole32(le32toh(header->events) + 1);
	build->lane[lane].stamp = stamp;
	if (stamp > build->lane[lane].latest)
		build->lane[lane].latest = stamp;
	build->lane[lane].slot_cpu = cpu;
	if (code == FKT_CODE_SWITCH && n)
		build->lane[lane].pid = (uint32_t)(words[0] >> 32);
}

void build_event(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code,
		 uint16_t imm)
{
	build_slot(build, lane, build->lane[lane].cpu, stamp, code, imm, NULL, 0);
}

void build_switch(struct build *build, unsigned int lane, uint64_t stamp, uint16_t state,
		  uint32_t prev, uint32_t next)
{
	uint64_t word = prev | (uint64_t)next << 32;

	build_slot(build, lane, build->lane[lane].cpu, stamp, FKT_CODE_SWITCH, state, &word, 1);
}

void build_fork(struct build *build, unsigned int lane, uint64_t stamp, uint32_t child,
		uint32_t parent)
{
	uint64_t words[2] = { child | (uint64_t)child << 32, parent | (uint64_t)parent << 32 };

	build_slot(build, lane, build->lane[lane].cpu, stamp, FKT_CODE_FORK, 0, words, 2);
}

void build_name(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code, uint32_t pid,
		const char *comm)
{
	uint64_t words[3] = { pid | (uint64_t)pid << 32, 0, 0 };
	char name[16] = "";

	/* Words are in host order here, and names are bytes. */
	memcpy(name, comm, strnlen(comm, sizeof(name)));
	memcpy(&words[1], name, sizeof(name));
	words[1] = le64toh(words[1]);
	words[2] = le64toh(words[2]);
	build_slot(build, lane, build->lane[lane].cpu, stamp, code, 0, words, 3);
}

void build_tail(struct build *build)
{
	for (unsigned int i = 0; i < build->lanes; i++)
		build_close(build, i);
	build->tail_offset = build->bytes;
}

void build_end(struct build *build, uint64_t cycles, uint64_t mono_ns, uint64_t real_ns)
{
	struct fkt_lane_totals totals[BUILD_LANES_MAX] = { 0 };
	struct fkt_footer footer = { .magic = FKT_FOOTER_MAGIC };

	if (!build->tail_offset)
		build_tail(build);
	for (unsigned int i = 0; i < build->lanes; i++) {
		totals[i].lane = htole32(i);
		totals[i].cpu = htole32(build->shared ? FKT_CPU_ANY : i);
		totals[i].events = htole64(build->lane[i].events);
		totals[i].lost = htole64(build->lane[i].lost);
		totals[i].pages = htole64(build->lane[i].pages);
		totals[i].discarded = htole64(build->lane[i].discarded);
	}
	footer.tail_offset = htole64(build->tail_offset);
	memcpy(footer.id, build->id, sizeof(footer.id));
	build_clock(build, cycles, mono_ns, real_ns);
	build_section(build, FKT_SECTION_LANES, totals, build->lanes * sizeof(totals[0]), false);
	build_section(build, FKT_SECTION_END, NULL, 0, false);
	build_append(build, &footer, sizeof(footer));
}

void build_write(const struct build *build, const char *path, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert(file);
	assert(fwrite(build->data, 1, bytes, file) == bytes);
	assert(!fclose(file));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * multiply_trace IN OUT EVENTS: a trace of at least so many events, made of copies of another one,
 * each of which goes on where the last one ended. For measuring what takes a large trace.
 */
#include <endian.h>
#include <errno.h>
#include <error.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fkt/trace.h>

#define PAGE_WORDS (FKT_PAGE_BYTES / 8)

struct lane {
	uint64_t pages; /* of all copies so far, which is the number of its last page */
	uint64_t events;
};

static FILE *out;
static struct fkt_file_header header;
static struct lane *lanes;
static uint64_t pages, index_pages, max_end, complete, events, before;
static struct fkt_index_entry entries[FKT_INDEX_ENTRIES];
static unsigned int n_entries;

static void put(const void *data, size_t bytes)
{
	if (fwrite(data, 1, bytes, out) != bytes)
		error(1, errno, "cannot write");
}

static char *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "r");
	char *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		error(1, errno, "%s", path);
	rewind(file);
	data = malloc((size_t)size + 1);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
		error(1, errno, "%s", path);
	fclose(file);
	*bytes = (size_t)size;
	return data;
}

static void put_index(void)
{
	uint64_t page[PAGE_WORDS] = { 0 };
	struct fkt_page_header *head = (void *)page;
	struct fkt_index *index = (void *)(head + 1);

	head->magic = htole32(FKT_PAGE_MAGIC);
	head->lane = htole16(FKT_LANE_INDEX);
	head->seq = htole64(++index_pages);
	head->used = htole32(sizeof(*head) + sizeof(*index));
	head->events = htole32(FKT_INDEX_ENTRIES);
	memcpy(head->id, header.id, sizeof(head->id));
	index->complete = htole64(complete);
	index->max_end = htole64(max_end);
	index->events_before = htole64(before);
	memcpy(index->entry, entries, sizeof(entries));
	put(page, sizeof(page));
	pages++;
	n_entries = 0;
	before = events;
}

/* Move a page in time. All stamps but those of wide slots are moved by their page's. */
static void put_page(const char *data, uint64_t shift)
{
	uint64_t page[PAGE_WORDS];
	struct fkt_page_header *head = (void *)page;
	struct fkt_index_entry *entry = &entries[n_entries++];
	struct lane *lane;
	uint64_t slot, low, mask = (1ull << FKT_WIDE_STAMP_BITS) - 1;

	memcpy(page, data, sizeof(page));
	lane = &lanes[le16toh(head->lane)];
	head->first = htole64(le64toh(head->first) + shift);
	head->end = htole64(le64toh(head->end) + shift);
	head->seq = htole64(++lane->pages);
	for (size_t i = sizeof(*head) / 8; i < le32toh(head->used) / 8;) {
		slot = le64toh(page[i]);
		if (slot & FKT_SLOT_WIDE && i + 1 < PAGE_WORDS) {
			low = le64toh(page[i + 1]);
			page[i + 1] = htole64((low & ~mask) | ((low + shift) & mask));
		}
		i += 1 + (slot & FKT_SLOT_WORDS_MASK);
	}
	put(page, sizeof(page));
	entry->first = head->first;
	entry->end = head->end;
	entry->events = head->events;
	entry->lane = head->lane;
	entry->cpu = head->cpu;
	lane->events += le32toh(head->events);
	events += le32toh(head->events);
	if (le64toh(head->end) > max_end)
		max_end = le64toh(head->end);
	pages++;
	if (n_entries == FKT_INDEX_ENTRIES)
		put_index();
}

static void put_section(uint32_t type, const void *data, size_t bytes)
{
	struct fkt_section_header section = {
		.magic = htole32(FKT_SECTION_MAGIC),
		.type = htole32(type),
		.stored_bytes = htole64(bytes),
		.raw_bytes = htole64(bytes),
	};

	put(&section, sizeof(section));
	put(data, bytes);
}

static void put_tail(const struct fkt_trace *trace, uint64_t stamp)
{
	uint64_t first = le64toh(header.data_offset) + pages * FKT_PAGE_BYTES;
	struct fkt_footer footer = { .magic = FKT_FOOTER_MAGIC, .tail_offset = htole64(first) };
	uint32_t n = le32toh(header.lanes);
	struct fkt_lane_totals *totals = calloc(n, sizeof(*totals));
	struct fkt_clock_pair pair = { .cycles = htole64(stamp) };

	if (!totals)
		error(1, ENOMEM, "lanes");
	for (uint32_t i = 0; i < n; i++) {
		totals[i].lane = htole32(i);
		totals[i].cpu = htole32(fkt_lane_totals(trace, i)->cpu);
		totals[i].events = htole64(lanes[i].events);
		totals[i].pages = htole64(lanes[i].pages);
	}
	/* The clock goes on at the rate that it had. */
	pair.real_ns = htole64((uint64_t)fkt_wall_ns(trace, stamp));
	pair.mono_ns = htole64((uint64_t)fkt_cycles_to_ns(trace, (int64_t)stamp));
	put_section(FKT_SECTION_CLOCK, &pair, sizeof(pair));
	put_section(FKT_SECTION_LANES, totals, n * sizeof(*totals));
	put_section(FKT_SECTION_END, NULL, 0);
	memcpy(footer.id, header.id, sizeof(footer.id));
	put(&footer, sizeof(footer));
	free(totals);
}

int main(int argc, char **argv)
{
	uint64_t wanted, first, last, step, shift = 0;
	struct fkt_page_header *head;
	char why[FKT_ERROR_BYTES];
	struct fkt_trace *trace;
	size_t bytes, end;
	char *data;

	if (argc != 4)
		error(2, 0, "usage: multiply_trace IN OUT EVENTS");
	wanted = strtoull(argv[3], NULL, 10);
	trace = fkt_open(argv[1], NULL, NULL, why);
	if (!trace)
		error(1, 0, "%s: %s", argv[1], why);
	data = read_file(argv[1], &bytes);
	if (!fkt_is_complete(trace) || !fkt_span(trace, &first, &last) ||
	    !fkt_has_wall_clock(trace))
		error(1, 0, "%s: not a whole trace with events and a clock", argv[1]);
	memcpy(&header, data, sizeof(header));
	memcpy(&end, data + bytes - sizeof(struct fkt_footer) + 8, sizeof(end));
	end = le64toh(end);
	lanes = calloc(le32toh(header.lanes), sizeof(*lanes));
	out = fopen(argv[2], "w");
	if (!out || !lanes)
		error(1, errno, "%s", argv[2]);
	put(data, le64toh(header.data_offset));

	/* A slot has the low bits of its stamp: they stay as they are. */
	step = ((last - first) >> FKT_SLOT_STAMP_BITS) + 2;
	step <<= FKT_SLOT_STAMP_BITS;
	while (events < wanted) {
		for (size_t at = le64toh(header.data_offset); at < end; at += FKT_PAGE_BYTES) {
			head = (void *)(data + at);
			if (le16toh(head->lane) != FKT_LANE_INDEX) {
				put_page(data + at, shift);
				continue;
			}
			complete = le64toh(((struct fkt_index *)(head + 1))->complete) + shift;
		}
		complete = last + shift;
		shift += step;
	}
	put_tail(trace, last + shift);
	if (fclose(out))
		error(1, errno, "%s", argv[2]);
	printf("%" PRIu64 " events, %" PRIu64 " pages\n", events, pages);
	fkt_close(trace);
	free(data);
	free(lanes);
	return 0;
}

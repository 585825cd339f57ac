/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces made by hand, byte for byte as the module and fkt_record write them, for tests that know
 * the right answer. Built in memory; nothing is checked, so that wrong ones can be built too.
 */
#ifndef BUILD_TRACE_H
#define BUILD_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fkt/codes.h>
#include <fkt/format.h>

#define BUILD_LANES_MAX 8

/**
 * struct build - a trace being built
 * @data: the file so far
 * @bytes: its length
 * @room: of @data
 * @data_offset: where pages begin
 * @tail_offset: where they end, once build_tail() was called
 * @lanes: number of lanes
 * @shared: whether a lane is shared by all CPUs
 * @id: its random number
 * @pages: pages written, index pages and marks included
 * @index_seq: number of the last index page or mark
 * @max_end: latest end of all pages
 * @events: events in all pages written
 * @before: events in all pages before those of @entry
 * @entry: pages since the last full index
 * @entries: how many
 * @lane: lanes, see there
 */
struct build {
	uint8_t *data;
	size_t bytes;
	size_t room;
	size_t data_offset;
	size_t tail_offset;
	unsigned int lanes;
	bool shared;
	uint8_t id[FKT_ID_BYTES];
	uint64_t pages;
	uint64_t index_seq;
	uint64_t max_end;
	uint64_t events;
	uint64_t before;
	struct fkt_index_entry entry[FKT_INDEX_ENTRIES];
	unsigned int entries;
	/**
	 * @open: a page is being filled
	 * @page: that page
	 * @stamp: stamp of the last slot
	 * @latest: the latest one of the page
	 * @slot_cpu: its CPU
	 * @seq: number of the last page
	 * @lost: events lost so far; raise it before a page is opened
	 * @events, @pages: totals
	 * @discarded: events discarded at the end
	 * @cpu: CPU for new pages
	 * @pid: thread for new pages; follows SWITCH
	 */
	struct {
		bool open;
		uint64_t page[FKT_PAGE_BYTES / 8];
		uint64_t stamp;
		uint64_t latest;
		uint16_t slot_cpu;
		uint64_t seq;
		uint64_t lost;
		uint64_t events;
		uint64_t pages;
		uint64_t discarded;
		uint16_t cpu;
		uint32_t pid;
	} lane[BUILD_LANES_MAX];
};

/* Begin a trace: the header. Lane n records CPU n, a shared one begins on CPU 0. */
void build_begin(struct build *build, unsigned int lanes, bool shared);
void build_free(struct build *build);

/* Append bytes. */
void build_append(struct build *build, const void *data, size_t bytes);
/* Append a section, compressed by zstd if asked; in the head or in the tail. */
void build_section(struct build *build, uint32_t type, const void *data, size_t bytes, bool zstd);
/* Append a section of text. */
void build_text(struct build *build, uint32_t type, const char *text);
void build_clock(struct build *build, uint64_t cycles, uint64_t mono_ns, uint64_t real_ns);
/* End the head: pages follow. */
void build_pages(struct build *build);

/*
 * Append a slot to a lane; a page that is full is written, and a new one opened. words: n words of
 * arguments in host order.
 */
void build_slot(struct build *build, unsigned int lane, uint16_t cpu, uint64_t stamp, uint32_t code,
		uint16_t imm, const uint64_t *words, unsigned int n);
/* The same, for a lane of one CPU and up to two words: pass 0 for those that are not there. */
void build_event(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code,
		 uint16_t imm);
void build_switch(struct build *build, unsigned int lane, uint64_t stamp, uint16_t state,
		  uint32_t prev, uint32_t next);
void build_fork(struct build *build, unsigned int lane, uint64_t stamp, uint32_t child,
		uint32_t parent);
/* EXEC or RENAME */
void build_name(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code, uint32_t pid,
		const char *comm);

/* Write a lane's page as it is; its offset in the file, 0 when none was open. */
size_t build_close(struct build *build, unsigned int lane);
/* Write a mark. */
void build_mark(struct build *build);
/* Write all open pages. Sections that follow are in the tail, before those of build_end(). */
void build_tail(struct build *build);
/* Write all open pages, the tail sections (a clock pair, the lanes' totals) and the footer. */
void build_end(struct build *build, uint64_t cycles, uint64_t mono_ns, uint64_t real_ns);

/* Write the first bytes of it to a file. */
void build_write(const struct build *build, const char *path, size_t bytes);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What pages a trace has, and to which lane each belongs.
 *
 * Of a file, the full index pages tell: one is read for each FKT_INDEX_ENTRIES pages, and the
 * pages themselves are left to their source. Where there is none (the end of the file, damage), the
 * pages' headers are read instead. Of a stream, the pages are read one after the other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "internal.h"

#define HEADER_RUN_PAGES 16

/* After so many bad pages in a row, in a trace that has no tail, there will be no good one. */
#define BAD_RUN_MAX	 1024

/**
 * struct fkt_scan - how far a trace's pages have been scanned
 * @trace: the trace
 * @page: called for each page of events
 * @arg: for @page
 * @stats: counted here: index_pages, damaged, foreign
 * @next: number of the next page
 * @bad_run: bad pages just before @next; they count as damaged once a good one follows
 * @block: the index read last
 * @buf: room for HEADER_RUN_PAGES pages
 */
struct fkt_scan {
	struct fkt_trace *trace;
	fkt_scan_fn *page;
	void *arg;
	struct fkt_read_stats *stats;
	uint64_t next;
	uint64_t bad_run;
	struct fkt_block block;
	char buf[HEADER_RUN_PAGES * FKT_PAGE_BYTES] __attribute__((aligned(8)));
};

static void raise_watermark(const struct fkt_scan *scan, const char *data, uint64_t *watermark)
{
	uint64_t complete;

	memcpy(&complete,
	       data + scan->trace->header.page_header_bytes + offsetof(struct fkt_index, complete),
	       sizeof(complete));
	complete = le64toh(complete);
	if (complete > *watermark)
		*watermark = complete;
}

/*
 * Take note of the page that is next in the file. 1, 0 when reading stops there, or a negative
 * errno value; *take: it is a page of events, of lane *lane.
 */
static int scan_page(struct fkt_scan *scan, const char *data, uint64_t *watermark, bool *take,
		     uint32_t *lane)
{
	struct fkt_trace *trace = scan->trace;
	struct fkt_page_header header;

	*take = false;
	switch (fkt_page_check(trace, data, &header)) {
	case FKT_PAGE_EVENTS:
		*take = true;
		*lane = header.lane;
		break;
	case FKT_PAGE_INDEX:
		scan->stats->index_pages++;
		raise_watermark(scan, data, watermark);
		break;
	case FKT_PAGE_FOREIGN:
		if (!trace->pages_known) {
			scan->stats->foreign = true;
			return 0;
		}
		/* In the midst of this recording, it is a damaged page. */
		__attribute__((fallthrough));
	default:
		scan->bad_run++;
		scan->next++;
		return trace->pages_known || scan->bad_run < BAD_RUN_MAX;
	}
	scan->stats->damaged += scan->bad_run;
	scan->bad_run = 0;
	scan->next++;
	return 1;
}

/* Use a full index: 1 when that was possible, 0 when there is none to trust. */
static int scan_index(struct fkt_scan *scan, uint64_t *watermark)
{
	struct fkt_block *block = &scan->block;
	union fkt_page_ref ref;
	int err;

	if (!fkt_read_block(scan->trace, scan->next / FKT_BLOCK_PAGES, block))
		return 0;
	for (unsigned int i = 0; i < FKT_INDEX_ENTRIES; i++) {
		if (block->entry[i].lane == FKT_LANE_INDEX) {
			scan->stats->index_pages++;
			continue;
		}
		ref.number = scan->next + i;
		err = scan->page(scan->arg, block->entry[i].lane, ref);
		if (err)
			return err;
	}
	scan->stats->index_pages++;
	scan->stats->damaged += scan->bad_run;
	scan->bad_run = 0;
	if (block->complete > *watermark)
		*watermark = block->complete;
	scan->next += FKT_BLOCK_PAGES;
	return 1;
}

/* Scan the headers of some pages of a file, up to the end of the block that an index covers. */
static int scan_headers(struct fkt_scan *scan, uint64_t *watermark)
{
	struct fkt_trace *trace = scan->trace;
	struct fkt_input *input = &trace->input;
	uint64_t count = FKT_BLOCK_PAGES - scan->next % FKT_BLOCK_PAGES;
	uint64_t offset = fkt_page_offset(trace, scan->next);
	const char *data = scan->buf;
	union fkt_page_ref ref;
	uint32_t lane;
	uint32_t magic;
	bool take;
	int ret;

	if (count > HEADER_RUN_PAGES)
		count = HEADER_RUN_PAGES;
	if (count > trace->pages - scan->next)
		count = trace->pages - scan->next;
	if (!count) {
		/* A tail may be shorter than a page. */
		if (trace->pages_known ||
		    fkt_input_read_at(input, &magic, sizeof(magic), offset) != sizeof(magic) ||
		    le32toh(magic) != FKT_SECTION_MAGIC)
			return 0;
		fkt_read_end(trace, offset);
		return 0;
	}

	if (fkt_read_pages(trace, scan->next, count, scan->buf) != count) {
		fkt_warn(trace, "cannot be read at offset %" PRIu64 ": %s", offset,
			 input->error ? strerror(input->error) : "it has become shorter");
		return 0;
	}
	for (; count; count--, data += FKT_PAGE_BYTES) {
		if (!trace->pages_known &&
		    le32toh(*(const uint32_t *)(const void *)data) == FKT_SECTION_MAGIC &&
		    fkt_read_end(trace, fkt_page_offset(trace, scan->next)))
			return 0;
		ref.number = scan->next;
		ret = scan_page(scan, data, watermark, &take, &lane);
		if (ret > 0 && take)
			ret = scan->page(scan->arg, lane, ref) ?: 1;
		if (ret <= 0)
			return ret;
	}
	return 1;
}

static int scan_stream(struct fkt_scan *scan, uint64_t *watermark)
{
	struct fkt_trace *trace = scan->trace;
	struct fkt_input *input = &trace->input;
	struct fkt_section_header section;
	union fkt_page_ref ref;
	uint32_t lane;
	bool take;
	int ret;

	if (fkt_input_read(input, scan->buf, sizeof(section)) != sizeof(section))
		goto end;
	memcpy(&section, scan->buf, sizeof(section));
	if (le32toh(section.magic) == FKT_SECTION_MAGIC) {
		fkt_read_stream_end(trace, &section);
		return 0;
	}
	if (fkt_input_read(input, scan->buf + sizeof(section), FKT_PAGE_BYTES - sizeof(section)) !=
	    FKT_PAGE_BYTES - sizeof(section))
		goto end;

	ret = scan_page(scan, scan->buf, watermark, &take, &lane);
	if (ret <= 0 || !take)
		return ret;
	ref.data = malloc(FKT_PAGE_BYTES);
	if (!ref.data)
		return -ENOMEM;
	memcpy(ref.data, scan->buf, FKT_PAGE_BYTES);
	ret = scan->page(scan->arg, lane, ref);
	return ret ?: 1;

end:
	if (input->error)
		fkt_warn(trace, "cannot be read at offset %" PRIu64 ": %s", input->pos,
			 strerror(input->error));
	return 0;
}

int fkt_scan_step(struct fkt_scan *scan, uint64_t *watermark)
{
	struct fkt_trace *trace = scan->trace;
	int ret = 0;

	if (!trace->input.seekable) {
		ret = scan_stream(scan, watermark);
	} else {
		if (scan->next % FKT_BLOCK_PAGES == 0 &&
		    trace->pages - scan->next >= FKT_BLOCK_PAGES)
			ret = scan_index(scan, watermark);
		if (!ret)
			ret = scan_headers(scan, watermark);
	}
	/* Bad pages before the tail are damaged; at the end of what was cut off, they are not. */
	if (!ret && (fkt_is_complete(trace) || trace->pages_known)) {
		scan->stats->damaged += scan->bad_run;
		scan->bad_run = 0;
	}
	return ret;
}

void fkt_scan_seek(struct fkt_scan *scan, uint64_t page)
{
	scan->next = page;
}

bool fkt_scan_would_block(const struct fkt_scan *scan)
{
	return fkt_input_would_block(&scan->trace->input);
}

struct fkt_scan *fkt_scan_new(struct fkt_trace *trace, fkt_scan_fn *page, void *arg,
			      struct fkt_read_stats *stats)
{
	struct fkt_scan *scan = calloc(1, sizeof(*scan));

	if (!scan)
		return NULL;
	scan->trace = trace;
	scan->page = page;
	scan->arg = arg;
	scan->stats = stats;
	return scan;
}

void fkt_scan_free(struct fkt_scan *scan)
{
	free(scan);
}

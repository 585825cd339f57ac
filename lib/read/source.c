// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where a reader has a trace's pages from: the queues of all kinds of sources, and the kinds that
 * read a file, or a stream.
 *
 * A queue holds the numbers of a file's pages, 8 bytes each, and only as far as lanes are apart;
 * of a stream it holds the pages themselves, up to a limit.
 */
#include <errno.h>
#include <stdlib.h>

#include "source.h"

/* Pages of a queue at first. */
#define QUEUE_PAGES	 16
/* Pages of a stream that wait; beyond it events go out although earlier ones may yet come. */
#define STREAM_PAGES_MAX 32768
/* Pages of a file that are read at once, shared by all lanes. */
#define WINDOW_PAGES	 64
#define WINDOW_LANE_MAX	 16

/* ---- what all kinds have ---- */

int fkt_source_init(struct fkt_source *source, const struct fkt_source_ops *ops,
		    struct fkt_trace *trace)
{
	source->ops = ops;
	source->trace = trace;
	source->waiting_max = UINT64_MAX;
	source->queue = calloc(trace->header.lanes, sizeof(*source->queue));
	return source->queue ? 0 : -ENOMEM;
}

void fkt_source_free(struct fkt_source *source)
{
	if (!source)
		return;
	source->ops->free(source);
	for (uint32_t i = 0; source->queue && i < source->trace->header.lanes; i++)
		free(source->queue[i].page);
	free(source->queue);
	fkt_scan_free(source->scan);
	free(source);
}

static int queue_add(struct fkt_queue *queue, union fkt_page_ref page)
{
	size_t count = queue->tail - queue->head;
	union fkt_page_ref *larger;

	if (count == queue->room) {
		size_t room = count ? count * 2 : QUEUE_PAGES;

		larger = malloc(room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		for (size_t i = 0; i < count; i++)
			larger[i] = queue->page[(queue->head + i) & (queue->room - 1)];
		free(queue->page);
		queue->page = larger;
		queue->room = room;
		queue->head = 0;
		queue->tail = count;
	}
	queue->page[queue->tail++ & (queue->room - 1)] = page;
	return 0;
}

/* Called for each page that the scan finds. */
static int add_page(void *arg, uint32_t lane, union fkt_page_ref page)
{
	struct fkt_source *source = arg;
	int ret = queue_add(&source->queue[lane], page);

	if (ret) {
		if (!source->trace->input.seekable)
			free(page.data);
		return ret;
	}
	source->waiting++;
	return source->on_found(source->arg, lane);
}

union fkt_page_ref fkt_source_take(struct fkt_source *source, uint32_t lane)
{
	struct fkt_queue *queue = &source->queue[lane];

	source->waiting--;
	return queue->page[queue->head++ & (queue->room - 1)];
}

int fkt_source_begin(struct fkt_source *source, fkt_found_fn *found, void *arg,
		     struct fkt_read_stats *stats)
{
	source->on_found = found;
	source->arg = arg;
	source->scan = fkt_scan_new(source->trace, add_page, source, stats);
	return source->scan ? 0 : -ENOMEM;
}

int fkt_source_find(struct fkt_source *source, uint64_t *watermark)
{
	int ret = fkt_scan_step(source->scan, watermark);

	if (ret > 0 && source->ops->found)
		source->ops->found(source);
	return ret;
}

int fkt_source_next(struct fkt_source *source, uint32_t lane, struct fkt_page *page)
{
	int ret;

	if (source->queue[lane].head == source->queue[lane].tail)
		return 0;
	ret = source->ops->next(source, lane, page);
	return ret > 0 && page->header.lane != lane ? -EBADMSG : ret;
}

bool fkt_source_peek(struct fkt_source *source, uint32_t lane, struct fkt_page_header *header)
{
	const struct fkt_queue *queue = &source->queue[lane];
	union fkt_page_ref page;

	if (queue->head == queue->tail)
		return false;
	page = queue->page[queue->head & (queue->room - 1)];
	return source->ops->peek(source, lane, page, header) == FKT_PAGE_EVENTS &&
	       header->lane == lane;
}

/* ---- a file ---- */

/**
 * struct file_source - the pages of a file
 * @source: what all kinds have
 * @window: of each lane, pages that were read
 * @from: of pages that end before it, the header is enough
 * @lent: pages that somebody else has read; NULL for those that nobody has
 * @lent_first: number of the first of them
 * @lent_pages: how many there are
 */
struct file_source {
	struct fkt_source source;
	struct fkt_window *window;
	uint64_t from;
	const void *const *lent;
	uint64_t lent_first;
	uint64_t lent_pages;
};

/* A page that is in memory already; NULL when it is not. */
static const void *find_page(const struct file_source *file, uint32_t lane, uint64_t number)
{
	const void *data = NULL;

	if (number - file->lent_first < file->lent_pages)
		data = file->lent[number - file->lent_first];
	return data ?: fkt_window_find(&file->window[lane], number);
}

static int file_next(struct fkt_source *source, uint32_t lane, struct fkt_page *page)
{
	struct file_source *file = (struct file_source *)source;
	struct fkt_trace *trace = source->trace;
	uint64_t number = fkt_source_take(source, lane).number;
	const void *data = find_page(file, lane, number);
	void *read;
	int err;

	if (!data && file->from &&
	    fkt_read_page_header(trace, number, &page->header) == FKT_PAGE_EVENTS &&
	    page->header.end < file->from) {
		page->cursor = (struct fkt_cursor){ .stamp = page->header.first };
		return 1;
	}
	if (!data) {
		err = fkt_window_page(trace, &file->window[lane], number, &read);
		if (err)
			return err == -EIO ? -EBADMSG : err;
		data = read;
	}
	return fkt_page_open(trace, data, page) == FKT_PAGE_EVENTS ? 1 : -EBADMSG;
}

static enum fkt_page_kind file_peek(struct fkt_source *source, uint32_t lane,
				    union fkt_page_ref page, struct fkt_page_header *header)
{
	const void *data = find_page((struct file_source *)source, lane, page.number);

	return data ? fkt_page_check(source->trace, data, header)
		    : fkt_read_page_header(source->trace, page.number, header);
}

static void file_free(struct fkt_source *source)
{
	struct file_source *file = (struct file_source *)source;

	for (uint32_t i = 0; file->window && i < source->trace->header.lanes; i++)
		free(file->window[i].data);
	free(file->window);
}

static const struct fkt_source_ops file_ops = {
	.next = file_next,
	.peek = file_peek,
	.free = file_free,
};

struct fkt_source *fkt_source_lent(struct fkt_trace *trace, uint64_t from, const void *const *lent,
				   uint64_t first, uint64_t pages)
{
	struct file_source *file = calloc(1, sizeof(*file));
	uint32_t lanes = trace->header.lanes;
	uint64_t room = WINDOW_PAGES / lanes;

	if (!file)
		return NULL;
	file->from = from;
	file->lent = lent;
	file->lent_first = first;
	file->lent_pages = pages;
	file->window = calloc(lanes, sizeof(*file->window));
	if (fkt_source_init(&file->source, &file_ops, trace) || !file->window) {
		fkt_source_free(&file->source);
		return NULL;
	}
	if (room < 1)
		room = 1;
	if (room > WINDOW_LANE_MAX)
		room = WINDOW_LANE_MAX;
	for (uint32_t i = 0; i < lanes; i++)
		file->window[i].room = room;
	return &file->source;
}

struct fkt_source *fkt_source_file(struct fkt_trace *trace, uint64_t from)
{
	return fkt_source_lent(trace, from, NULL, 0, 0);
}

/* ---- a stream ---- */

/**
 * struct stream_source - the pages of a stream
 * @source: what all kinds have
 * @page: of each lane, the page that its reader is at
 */
struct stream_source {
	struct fkt_source source;
	void **page;
};

static int stream_next(struct fkt_source *source, uint32_t lane, struct fkt_page *page)
{
	struct stream_source *stream = (struct stream_source *)source;

	free(stream->page[lane]);
	stream->page[lane] = fkt_source_take(source, lane).data;
	return fkt_page_open(source->trace, stream->page[lane], page) == FKT_PAGE_EVENTS ? 1
											 : -EBADMSG;
}

static enum fkt_page_kind stream_peek(struct fkt_source *source, uint32_t lane,
				      union fkt_page_ref page, struct fkt_page_header *header)
{
	(void)lane;
	return fkt_page_check(source->trace, page.data, header);
}

static void stream_free(struct fkt_source *source)
{
	struct stream_source *stream = (struct stream_source *)source;
	struct fkt_queue *queue;

	for (uint32_t i = 0; i < source->trace->header.lanes; i++) {
		queue = source->queue ? &source->queue[i] : NULL;
		while (queue && queue->head != queue->tail)
			free(fkt_source_take(source, i).data);
		if (stream->page)
			free(stream->page[i]);
	}
	free(stream->page);
}

static const struct fkt_source_ops stream_ops = {
	.next = stream_next,
	.peek = stream_peek,
	.free = stream_free,
};

struct fkt_source *fkt_source_stream(struct fkt_trace *trace)
{
	struct stream_source *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->page = calloc(trace->header.lanes, sizeof(*stream->page));
	if (fkt_source_init(&stream->source, &stream_ops, trace) || !stream->page) {
		fkt_source_free(&stream->source);
		return NULL;
	}
	stream->source.waiting_max = STREAM_PAGES_MAX;
	return &stream->source;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The cells of a window: of a short one from its events, of a long one from the levels. */
#include <errno.h>
#include <stdlib.h>

#include "model.h"
#include "read/internal.h"

/* A window with no more pages is made of its events. */
#define EXACT_PAGES	668
/* So many of those before it are read, for how things stood. */
#define LOOK_BACK_PAGES 167
/* An index that is damaged may have led to more events than this. */
#define EXACT_EVENTS	3000000
/* More arrows than these are no help. */
#define WAKES_MAX	2000
#define MARKS_MAX	1000
#define LOSSES_MAX	20000
#define SAMPLES_MAX	20000
/* Of a trace that has not been read, so many blocks of pages are looked at, and of each so many. */
#define SAMPLE_BLOCKS	256
#define SAMPLE_PAGES	12

static bool is_asked_for(const struct picture *picture, uint32_t track)
{
	if (track & TRACK_CPU)
		return true;
	for (unsigned int i = 0; i < picture->request->tids; i++)
		if (picture->request->tid[i] == track)
			return true;
	return false;
}

static int on_cell(void *arg, const struct cell *cell)
{
	struct picture *picture = arg;

	if (is_asked_for(picture, cell->track))
		answer_bytes(&picture->cells, cell, sizeof(*cell));
	return answer_error(&picture->cells);
}

/* What is not seen apart is one, which is added to the last loss of its CPU: true then. */
static bool join_loss(const struct picture *picture, struct loss *last, const struct loss *loss)
{
	const uint64_t pixel = (picture->to - picture->from) / picture->request->width;
	const bool full = picture->losses.bytes >= LOSSES_MAX * sizeof(*last);
	/* Of a thread it is to be seen how long nothing is known of it. */
	const bool alike = loss->pages == last->pages &&
			   (loss->tid == last->tid ||
			    (loss->to > loss->from && loss->to - loss->from < pixel));

	if (!full && (!alike || loss->from < last->from || loss->from >= last->to + pixel))
		return false;
	/* Rather too much is said to be missing than too little. */
	last->count = last->count && loss->count && loss->pages == last->pages
			      ? last->count + loss->count
			      : 0;
	last->to = last->to > loss->to ? last->to : loss->to;
	return true;
}

static int on_loss(void *arg, const struct loss *loss)
{
	struct picture *picture = arg;
	struct loss *losses = (struct loss *)picture->losses.data;
	uint32_t *last;

	picture->loss_count++;
	if (!picture->last_loss) {
		picture->last_loss = calloc(UINT16_MAX + 1, sizeof(*picture->last_loss));
		if (!picture->last_loss)
			return -ENOMEM;
	}
	last = loss->cpu <= UINT16_MAX ? &picture->last_loss[loss->cpu] : NULL;
	if (last && *last && join_loss(picture, &losses[*last - 1], loss))
		return 0;
	if (picture->losses.bytes >= LOSSES_MAX * sizeof(*loss))
		return 0;
	answer_bytes(&picture->losses, loss, sizeof(*loss));
	if (last)
		*last = (uint32_t)(picture->losses.bytes / sizeof(*loss));
	return answer_error(&picture->losses);
}

static void forget_losses(struct picture *picture)
{
	answer_free(&picture->losses);
	free(picture->last_loss);
	picture->last_loss = NULL;
	picture->loss_count = 0;
}

static int on_wake(void *arg, const struct fkt_event *event, uint32_t woken)
{
	struct picture *picture = arg;
	const struct wake wake = {
		.stamp = event->stamp, .by = event->pid, .tid = woken, .cpu = event->cpu
	};

	if (!is_asked_for(picture, woken) || picture->wake_count++ >= WAKES_MAX)
		return 0;
	answer_bytes(&picture->wakes, &wake, sizeof(wake));
	return answer_error(&picture->wakes);
}

static int on_mark(void *arg, const struct mark *mark)
{
	struct picture *picture = arg;

	if (picture->mark_count++ >= MARKS_MAX)
		return 0;
	answer_bytes(&picture->marks, mark, sizeof(*mark));
	return answer_error(&picture->marks);
}

/* One of each CPU and bin: that is as close as they can be pointed at. */
static int on_sample(void *arg, const struct fkt_event *event, uint32_t tid, const char *function)
{
	struct picture *picture = arg;
	const uint64_t bin_cycles = picture->part.bin_cycles;
	const uint32_t bin = (uint32_t)((event->stamp - picture->from) / bin_cycles) + 1;
	const struct sample sample = {
		.stamp = event->stamp,
		.function = picture->texts.bytes,
		.tid = tid,
		.cpu = event->cpu,
		.user = event->imm,
	};

	if (!picture->sampled) {
		picture->sampled = calloc(UINT16_MAX + 1, sizeof(*picture->sampled));
		if (!picture->sampled)
			return -ENOMEM;
	}
	if (event->stamp >= picture->to || picture->sampled[event->cpu] == bin ||
	    picture->samples.bytes >= SAMPLES_MAX * sizeof(sample))
		return 0;
	picture->sampled[event->cpu] = bin;
	answer_bytes(&picture->samples, &sample, sizeof(sample));
	answer_bytes(&picture->texts, function, strlen(function) + 1);
	return answer_error(&picture->samples) ?: answer_error(&picture->texts);
}

/* ---- from events ---- */

/* 1, 0 when there are too many events for that, or a negative errno value. */
static int read_events(struct picture *picture, struct fkt_reader *reader,
		       struct collector *collector)
{
	struct fkt_event event;
	unsigned int count = 0;
	int what, err = 0;

	while ((what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			err = collector_gap(collector, &event, fkt_gap(reader));
		if (what == FKT_EVENT)
			err = collector_event(collector, &event);
		if (err)
			return err;
		if (++count == EXACT_EVENTS)
			return 0;
	}
	return what < 0 ? what : collector_end(collector, picture->to) ?: 1;
}

static int collect(struct picture *picture)
{
	struct level_part *part = &picture->part;
	struct view *view = picture->view;
	const struct collect_to to = {
		.arg = picture,
		.cell = on_cell,
		.loss = on_loss,
		.wake = on_wake,
		.mark = on_mark,
		.sample = on_sample,
	};
	const uint64_t begin = fkt_look_back_pages(view->trace, picture->from, LOOK_BACK_PAGES);
	struct fkt_reader *reader = fkt_reader_new_window(view->trace, begin, picture->to);
	struct collector *collector;
	int ret = -ENOMEM;

	part->from = picture->from;
	part->bin_cycles = (picture->to - picture->from - 1) / picture->request->width + 1;
	part->made = picture->to;
	collector = collector_new(view->trace, view->names, part->from, part->bin_cycles, &to);
	if (reader && collector)
		ret = read_events(picture, reader, collector);
	collector_free(collector);
	fkt_reader_free(reader);
	return ret;
}

static bool is_short(const struct picture *picture)
{
	struct fkt_trace *trace = picture->view->trace;
	const uint64_t from = fkt_seek_stamp(trace, picture->from);
	const uint64_t to = fkt_seek_stamp(trace, picture->to);

	return to >= from && (to - from + 1) * FKT_BLOCK_PAGES <= EXACT_PAGES;
}

/* ---- from what pages say of themselves ---- */

static int by_bin(const void *a, const void *b)
{
	const struct cell *one = a, *other = b;

	return one->bin < other->bin ? -1 : one->bin > other->bin;
}

/* A page says who was there when it was begun, and how many events came until it was full. */
static void sample_page(const struct level_part *part, const struct fkt_page_header *header,
			struct cell *cell)
{
	const uint64_t cycles = header->end > header->first ? header->end - header->first : 1;
	const double events = (double)header->events * (double)part->bin_cycles / (double)cycles;

	*cell = (struct cell){
		.track = TRACK_CPU | header->cpu,
		.bin = (uint32_t)((header->first - part->from) / part->bin_cycles),
		.top = header->pid,
		.last = header->pid,
		.state = header->pid ? STATE_RUNNING : STATE_IDLE,
		.events = collected_events(events < 1e18 ? (uint64_t)events : 0),
	};
	cell->share[SHARE_RUNNING] = header->pid ? SHARE_ALL : 0;
}

/* Where not all has been read: a few pages of each of some blocks. */
static int add_sample(struct picture *picture)
{
	const struct level_part *part = &picture->part;
	struct fkt_trace *trace = picture->view->trace;
	const uint64_t from = part->made > picture->from ? part->made : picture->from;
	const uint64_t first = fkt_seek_stamp(trace, from);
	const uint64_t blocks = fkt_seek_stamp(trace, picture->to) + 1 - first;
	const uint64_t step = blocks / SAMPLE_BLOCKS + 1;
	struct cell *cells = calloc(SAMPLE_BLOCKS * SAMPLE_PAGES, sizeof(*cells));
	struct fkt_page_header header;
	size_t count = 0;
	int err = 0;

	if (!cells)
		return -ENOMEM;
	for (uint64_t i = 0; i < blocks && count + SAMPLE_PAGES <= SAMPLE_BLOCKS * SAMPLE_PAGES;
	     i += step)
		for (uint64_t n = 0; n < SAMPLE_PAGES; n++) {
			/* Not the same CPU's each time, where they take turns. */
			uint64_t page = (first + i) * FKT_BLOCK_PAGES +
					n * (FKT_BLOCK_PAGES / SAMPLE_PAGES) + n % 3;

			if (fkt_read_page_header(trace, page, &header) == FKT_PAGE_EVENTS &&
			    header.first >= from && header.first < picture->to)
				sample_page(part, &header, &cells[count++]);
		}
	qsort(cells, count, sizeof(*cells), by_bin);
	for (size_t i = 0; i < count && !err; i++)
		err = on_cell(picture, &cells[i]);
	free(cells);
	return err;
}

/*
 * What the levels know besides: how things stood when the window began, and which losses reach into
 * it, though the events behind them are not in it.
 */
static int add_known(struct picture *picture)
{
	struct levels *levels = picture->view->levels;
	uint32_t track[REQUEST_TIDS];
	struct progress progress;
	int err = 0;

	levels_progress(levels, &progress);
	if (progress.made >= picture->from) {
		memcpy(track, picture->request->tid, sizeof(track));
		err = levels_before(levels, picture->from, track, picture->request->tids, on_cell,
				    picture);
	}
	if (err || !picture->exact || !progress.done || progress.err)
		return err;
	forget_losses(picture);
	return levels_losses(levels, picture->from, picture->to, on_loss, picture);
}

/* ---- all of it ---- */

/* What was begun is of no use. */
static void forget(struct picture *picture)
{
	answer_free(&picture->cells);
	forget_losses(picture);
	answer_free(&picture->wakes);
	answer_free(&picture->marks);
	answer_free(&picture->samples);
	answer_free(&picture->texts);
	picture->wake_count = picture->mark_count = 0;
}

static int read_levels(struct picture *picture)
{
	struct levels *levels = picture->view->levels;
	int err = levels_read(levels, picture->from, picture->to, picture->request->width,
			      &picture->part, on_cell, picture);

	if (!err)
		err = levels_losses(levels, picture->from, picture->to, on_loss, picture);
	if (!err)
		err = levels_marks(levels, picture->from, picture->to, on_mark, picture);
	if (!err && picture->part.made < picture->to)
		err = add_sample(picture);
	return err;
}

int picture_make(struct picture *picture, struct view *view, const struct request *request)
{
	int err = 0;

	*picture = (struct picture){
		.view = view,
		.request = request,
		.from = view_stamp(view, request->from),
		.to = view_stamp(view, request->to),
	};
	if (picture->to > view->last)
		picture->to = view->last + 1;
	if (picture->from >= picture->to)
		picture->from = picture->to - 1;
	if (view->empty)
		return 0;
	if (is_short(picture))
		err = collect(picture);
	picture->exact = err > 0;
	if (!err) {
		forget(picture);
		err = read_levels(picture);
	}
	if (err >= 0)
		err = add_known(picture);
	return err < 0 ? err : 0;
}

void picture_free(struct picture *picture)
{
	forget(picture);
	free(picture->sampled);
	picture->sampled = NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cells of a window: of a short one from its events, of a long one from the levels. The answer
 * is the length of a JSON text in four bytes, that text, which is padded to a multiple of four, and
 * the cells.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "read/internal.h"
#include "view.h"

/* A window with no more pages is made of its events. */
#define EXACT_PAGES	668
/* So many of those before it are read, for how things stood. */
#define LOOK_BACK_PAGES 167
/* An index that is damaged may have led to more events than this. */
#define EXACT_EVENTS	3000000
/* More arrows than these are no help. */
#define WAKES_MAX	2000
#define MARKS_MAX	1000
#define LOSSES_MAX	4000
#define SAMPLES_MAX	20000
/* Of a trace that has not been read, so many blocks of pages are looked at, and of each so many. */
#define SAMPLE_BLOCKS	256
#define SAMPLE_PAGES	12
#define SKIP_BYTES	4

/**
 * struct picture - an answer that is being made
 * @view, @request: what is asked for
 * @from, @to: stamps
 * @cells: struct cell, one behind the other
 * @losses, @wakes, @marks, @samples: rows of JSON; how many there are of each
 * @bin_cycles: length of a bin
 * @sampled: by CPU, the bin of its last sample, and one; NULL: there was none
 * @used: numbers of names that cells have, a bit each
 * @names: how many bits there are
 */
struct picture {
	struct view *view;
	const struct request *request;
	uint64_t from;
	uint64_t to;
	struct answer cells;
	struct answer losses;
	struct answer wakes;
	struct answer marks;
	struct answer samples;
	unsigned int loss_count;
	unsigned int wake_count;
	unsigned int mark_count;
	unsigned int sample_count;
	uint64_t bin_cycles;
	uint32_t *sampled;
	uint8_t *used;
	uint32_t names;
};

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

static int on_loss(void *arg, const struct loss *loss)
{
	struct picture *picture = arg;

	if (picture->loss_count++ >= LOSSES_MAX)
		return 0;
	answer_text(&picture->losses,
		    "%s[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%d,%" PRIu32 "]",
		    picture->loss_count > 1 ? "," : "",
		    loss->cpu == FKT_CPU_ANY ? INT64_C(-1) : (int64_t)loss->cpu,
		    view_ns(picture->view, loss->from), view_ns(picture->view, loss->to),
		    loss->count, loss->pages, loss->tid);
	return answer_error(&picture->losses);
}

static int on_wake(void *arg, const struct fkt_event *event, uint32_t woken)
{
	struct picture *picture = arg;

	if (!is_asked_for(picture, woken) || picture->wake_count++ >= WAKES_MAX)
		return 0;
	answer_text(&picture->wakes, "%s[%" PRId64 ",%u,%" PRId64 ",%" PRIu32 "]",
		    picture->wake_count > 1 ? "," : "", view_ns(picture->view, event->stamp),
		    event->cpu, event->pid == FKT_PID_UNKNOWN ? INT64_C(-1) : (int64_t)event->pid,
		    woken);
	return answer_error(&picture->wakes);
}

static int on_mark(void *arg, const struct mark *mark)
{
	struct picture *picture = arg;

	if (picture->mark_count++ >= MARKS_MAX)
		return 0;
	answer_text(&picture->marks, "%s[%" PRId64 ",%u,", picture->mark_count > 1 ? "," : "",
		    view_ns(picture->view, mark->stamp), mark->cpu);
	answer_string(&picture->marks, mark->text);
	answer_bytes(&picture->marks, "]", 1);
	return answer_error(&picture->marks);
}

/* One of each CPU and bin: that is as close as they can be pointed at. */
static int on_sample(void *arg, const struct fkt_event *event, uint32_t tid, const char *function)
{
	struct picture *picture = arg;
	const uint32_t bin = (uint32_t)((event->stamp - picture->from) / picture->bin_cycles) + 1;

	if (!picture->sampled) {
		picture->sampled = calloc(UINT16_MAX + 1, sizeof(*picture->sampled));
		if (!picture->sampled)
			return -ENOMEM;
	}
	if (event->stamp >= picture->to || picture->sampled[event->cpu] == bin ||
	    picture->sample_count >= SAMPLES_MAX)
		return 0;
	picture->sampled[event->cpu] = bin;
	answer_text(&picture->samples, "%s[%" PRId64 ",%u,%" PRIu32 ",%d,",
		    picture->sample_count++ ? "," : "", view_ns(picture->view, event->stamp),
		    event->cpu, tid, !!event->imm);
	answer_string(&picture->samples, function);
	answer_bytes(&picture->samples, "]", 1);
	return answer_error(&picture->samples);
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

static int collect(struct picture *picture, struct level_part *part)
{
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
	picture->bin_cycles = part->bin_cycles;
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
static int sample(struct picture *picture, const struct level_part *part)
{
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
static int add_known(struct picture *picture, bool exact)
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
	if (err || !exact || !progress.done || progress.err)
		return err;
	answer_free(&picture->losses);
	picture->loss_count = 0;
	return levels_losses(levels, picture->from, picture->to, on_loss, picture);
}

/* ---- the answer ---- */

static void use_name(struct picture *picture, uint32_t number)
{
	if (number && number <= picture->names)
		picture->used[number / 8] |= (uint8_t)(1u << number % 8);
}

static void put_names(struct picture *picture, struct answer *answer)
{
	const struct cell *cell = (const struct cell *)picture->cells.data;
	const size_t cells = picture->cells.bytes / sizeof(*cell);
	char name[FKT_NAME_BYTES];
	const char *comma = "";

	for (size_t i = 0; i < cells; i++, cell++) {
		if (track_is_counter(cell->track))
			continue;
		use_name(picture, cell->inner);
		use_name(picture, cell->last_inner);
		if (cell->track & TRACK_CPU)
			continue;
		use_name(picture, cell->top);
		use_name(picture, cell->last);
	}
	for (uint32_t i = 1; i <= picture->names; i++) {
		if (!(picture->used[i / 8] & 1u << i % 8))
			continue;
		names_get(picture->view->names, i, name);
		answer_text(answer, "%s\"%" PRIu32 "\":", comma, i);
		answer_string(answer, name);
		comma = ",";
	}
}

static int write_answer(struct picture *picture, const struct level_part *part, bool exact,
			struct answer *answer)
{
	struct view *view = picture->view;
	const uint32_t none = 0;
	uint32_t bytes;

	picture->names = names_count(view->names);
	picture->used = calloc(picture->names / 8 + 1, 1);
	if (!picture->used)
		return -ENOMEM;
	answer_bytes(answer, &none, sizeof(none));
	answer_text(answer,
		    "{\"from_ns\":%" PRId64 ",\"bin_ns\":%.6f,\"exact\":%s,\"made_ns\":%" PRId64
		    ",\"sampled_ns\":%" PRId64
		    ",\"all_losses\":%u,\"all_wakes\":%u,\"all_marks\":%u",
		    view_ns(view, part->from),
		    (double)fkt_cycles_to_ns(view->trace, (int64_t)(part->bin_cycles << 10)) / 1024,
		    exact ? "true" : "false", view_ns(view, part->made),
		    view_ns(view, part->made > picture->to ? part->made : picture->to),
		    picture->loss_count, picture->wake_count, picture->mark_count);
	answer_text(answer, ",\"losses\":[");
	answer_bytes(answer, picture->losses.data, picture->losses.bytes);
	answer_text(answer, "],\"wakes\":[");
	answer_bytes(answer, picture->wakes.data, picture->wakes.bytes);
	answer_text(answer, "],\"marks\":[");
	answer_bytes(answer, picture->marks.data, picture->marks.bytes);
	answer_text(answer, "],\"samples\":[");
	answer_bytes(answer, picture->samples.data, picture->samples.bytes);
	answer_text(answer, "],\"names\":{");
	put_names(picture, answer);
	answer_text(answer, "}}");
	while (answer->bytes % SKIP_BYTES)
		answer_bytes(answer, " ", 1);
	bytes = (uint32_t)(answer->bytes - sizeof(bytes));
	if (answer->data)
		memcpy(answer->data, &bytes, sizeof(bytes));
	answer_bytes(answer, picture->cells.data, picture->cells.bytes);
	return answer_error(answer);
}

/* What was begun is of no use. */
static void forget(struct picture *picture)
{
	answer_free(&picture->cells);
	answer_free(&picture->losses);
	answer_free(&picture->wakes);
	answer_free(&picture->marks);
	answer_free(&picture->samples);
	picture->loss_count = picture->wake_count = picture->mark_count = 0;
	picture->sample_count = 0;
}

static int read_levels(struct picture *picture, struct level_part *part)
{
	struct levels *levels = picture->view->levels;
	int err = levels_read(levels, picture->from, picture->to, picture->request->width, part,
			      on_cell, picture);

	if (!err)
		err = levels_losses(levels, picture->from, picture->to, on_loss, picture);
	if (!err)
		err = levels_marks(levels, picture->from, picture->to, on_mark, picture);
	if (!err && part->made < picture->to)
		err = sample(picture, part);
	return err;
}

int answer_picture(struct view *view, const struct request *request, struct answer *answer)
{
	struct picture picture = {
		.view = view,
		.request = request,
		.from = view_stamp(view, request->from),
		.to = view_stamp(view, request->to),
	};
	struct level_part part = { 0 };
	int err = 0, exact = 0;

	if (picture.to > view->last)
		picture.to = view->last + 1;
	if (picture.from >= picture.to)
		picture.from = picture.to - 1;
	if (!view->empty && is_short(&picture))
		err = exact = collect(&picture, &part);
	if (!err && !view->empty) {
		forget(&picture);
		err = read_levels(&picture, &part);
	}
	if (err >= 0 && !view->empty)
		err = add_known(&picture, exact > 0);
	if (err >= 0)
		err = write_answer(&picture, &part, exact > 0, answer);
	forget(&picture);
	free(picture.sampled);
	free(picture.used);
	return err < 0 ? err : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What is looked at in the terminal: asking for it, moving, marking, finding. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"

/* As on the page. */
#define FEW_THREADS 16
/* A thread's calls take no more lines, nor more than half of them. */
#define DEPTH_MAX   6u
/* So many bins a column, so that little of one is in the next. */
#define BINS_EACH   4
/* Of a marked span, so many bins are looked at. */
#define SUM_BINS    2048

static void say(struct terminal *terminal, const char *text)
{
	snprintf(terminal->message, sizeof(terminal->message), "%s", text);
}

/* ---- windows ---- */

void terminal_show(struct terminal *terminal, uint64_t from, uint64_t to)
{
	const uint64_t end = terminal->end ?: 1;
	const uint64_t least = end < SPAN_MIN_NS ? end : SPAN_MIN_NS;
	uint64_t span = to > from ? to - from : 0;

	span = span < least ? least : span > end ? end : span;
	if (from > end - span)
		from = end - span;
	terminal->from = from;
	terminal->to = from + span;
	if (terminal->cursor < terminal->from)
		terminal->cursor = terminal->from;
	if (terminal->cursor >= terminal->to)
		terminal->cursor = terminal->to - 1;
}

void terminal_zoom(struct terminal *terminal, double by)
{
	const double span = (double)(terminal->to - terminal->from);
	const double before = (double)(terminal->cursor - terminal->from) * by;
	double wide = span * by, from;

	if (wide >= (double)terminal->end) {
		terminal_show(terminal, 0, terminal->end);
		return;
	}
	wide = wide < SPAN_MIN_NS ? SPAN_MIN_NS : wide;
	from = (double)terminal->cursor - before * wide / (span * by);
	from = from > 0 ? from : 0;
	terminal_show(terminal, (uint64_t)from, (uint64_t)(from + wide));
}

static void move_by(struct terminal *terminal, bool back, uint64_t by)
{
	const uint64_t span = terminal->to - terminal->from;
	uint64_t from = terminal->from;

	if (back)
		from -= from < by ? from : by;
	else
		from += by;
	terminal_show(terminal, from, from + span);
}

void terminal_pan(struct terminal *terminal, double part)
{
	const uint64_t was = terminal->from;
	const double by = part * (double)(terminal->to - terminal->from);

	move_by(terminal, by < 0, (uint64_t)(by < 0 ? -by : by) ?: 1);
	/* The cursor stays where it is on the screen. */
	terminal->cursor += terminal->from - was;
	terminal_show(terminal, terminal->from, terminal->to);
}

void terminal_step(struct terminal *terminal, int columns)
{
	const uint64_t step = (terminal->to - terminal->from) / terminal_width(terminal) ?: 1;
	const uint64_t by = step * (uint64_t)(columns < 0 ? -columns : columns);

	if (columns < 0)
		terminal->cursor -= terminal->cursor < by ? terminal->cursor : by;
	else
		terminal->cursor += by;
	if (terminal->end && terminal->cursor >= terminal->end)
		terminal->cursor = terminal->end - 1;
	if (terminal->cursor < terminal->from || terminal->cursor >= terminal->to)
		move_by(terminal, columns < 0, 8 * by);
}

void terminal_go(struct terminal *terminal, uint64_t ns)
{
	const uint64_t half = (terminal->to - terminal->from) / 2;

	terminal->cursor = terminal->end && ns >= terminal->end ? terminal->end - 1 : ns;
	if (ns < terminal->from || ns >= terminal->to)
		terminal_show(terminal, ns > half ? ns - half : 0,
			      (ns > half ? ns - half : 0) + terminal->to - terminal->from);
}

/* ---- rows ---- */

/* The chosen row, and its calls, are seen. */
static void scroll(struct terminal *terminal)
{
	const unsigned int body = terminal_body(terminal);
	size_t lines;

	if (terminal->at < terminal->top)
		terminal->top = terminal->at;
	if (terminal->top >= terminal->rows)
		terminal->top = terminal->rows ? terminal->rows - 1 : 0;
	lines = terminal->at - terminal->top + terminal_high(terminal, terminal->at);
	if (lines > body)
		terminal->top += lines - body < terminal->at - terminal->top
					 ? lines - body
					 : terminal->at - terminal->top;
}

void terminal_choose(struct terminal *terminal, int by)
{
	const size_t step = (size_t)(by < 0 ? -by : by);

	if (!terminal->rows)
		return;
	if (by < 0)
		terminal->at -= terminal->at < step ? terminal->at : step;
	else
		terminal->at += step;
	if (terminal->at >= terminal->rows)
		terminal->at = terminal->rows - 1;
}

static void make_rows(struct terminal *terminal)
{
	int err;

	pthread_rwlock_rdlock(&terminal->view->lock);
	err = rows_make(terminal);
	pthread_rwlock_unlock(&terminal->view->lock);
	if (err)
		say(terminal, strerror(-err));
}

void terminal_choose_thread(struct terminal *terminal, uint32_t tid)
{
	terminal->wanted = tid;
	make_rows(terminal);
	terminal->wanted = TRACK_NONE;
}

void terminal_filter(struct terminal *terminal, const char *text)
{
	snprintf(terminal->filter, sizeof(terminal->filter), "%s", text);
	make_rows(terminal);
}

void terminal_fold(struct terminal *terminal)
{
	const struct row *row = terminal_row(terminal);
	uint32_t group;

	if (!row || (row->kind != ROW_GROUP && !row->member))
		return;
	group = row->group;
	rows_fold(terminal, group, !rows_is_folded(terminal, group));
	/* Who is in it is not seen any more. */
	while (terminal->at && terminal->row[terminal->at].kind != ROW_GROUP)
		terminal->at--;
	make_rows(terminal);
}

/* ---- asking ---- */

/* Processes of several threads are open from the first time on where all threads are few. */
static void unfold_few(struct terminal *terminal)
{
	if (terminal->unfolded || !terminal->progress.done)
		return;
	terminal->unfolded = true;
	if (terminal->threads <= FEW_THREADS)
		terminal->folded.bytes = 0;
}

/* What a trace says of its length may be anything. */
static uint64_t length_of(const struct view *view)
{
	const int64_t ns = view->empty ? -1 : view_ns(view, view->last);

	if (ns < 0)
		return !view->empty;
	return (uint64_t)ns < REQUEST_NS_MAX ? (uint64_t)ns + 1 : REQUEST_NS_MAX;
}

int terminal_refresh(struct terminal *terminal)
{
	struct view *view = terminal->view;
	const uint64_t was = terminal->end;
	const bool all = !was || (!terminal->from && terminal->to >= was);
	const bool last = terminal->to >= was;
	int err;

	pthread_rwlock_rdlock(&view->lock);
	terminal->progress = (struct progress){ .done = true };
	if (view->levels)
		levels_progress(view->levels, &terminal->progress);
	terminal->complete = fkt_is_complete(view->trace);
	terminal->growing = view->feed && !terminal->progress.done;
	terminal->end = length_of(view);
	err = rows_make(terminal);
	if (!err && !terminal->unfolded && terminal->progress.done) {
		unfold_few(terminal);
		err = rows_make(terminal);
	}
	pthread_rwlock_unlock(&view->lock);
	/* Who looks at the end, or at all of it, goes on to do so. */
	if (terminal->end != was && (all || last))
		terminal_show(terminal, all ? 0 : terminal->from + terminal->end - was,
			      terminal->end);
	return err;
}

static int ask_calls(struct terminal *terminal)
{
	const struct row *row = terminal_row(terminal);
	const unsigned int half = terminal_body(terminal) / 2;
	struct request request = {
		.from = terminal->from,
		.to = terminal->to,
		.width = terminal_width(terminal),
		.tids = 1,
	};
	const struct drawn_call *call;
	unsigned int depth = 0;
	bool exact;
	int err;

	answer_free(&terminal->calls);
	terminal->calls_of = TRACK_NONE;
	terminal->calls_depth = 0;
	if (!row_is_thread(row))
		return 0;
	request.tid[0] = row->key;
	err = calls_find(terminal->view, &request, &terminal->calls, &exact);
	call = (const struct drawn_call *)terminal->calls.data;
	for (size_t i = 0; i < terminal->calls.bytes / sizeof(*call); i++)
		depth = call[i].depth >= depth ? call[i].depth + 1 : depth;
	terminal->calls_of = row->key;
	depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
	depth = depth < half ? depth : half;
	/* What the thread's own line has, need not be below it again. */
	terminal->calls_depth = depth > 1 ? depth : 0;
	return err;
}

static int ask_picture(struct terminal *terminal)
{
	struct request *request = &terminal->tracks.request;
	const unsigned int body = terminal_body(terminal);
	unsigned int line = 0;

	*request = (struct request){
		.from = terminal->from,
		.to = terminal->to,
		.width = BINS_EACH * terminal_width(terminal),
	};
	for (size_t i = terminal->top; i < terminal->rows && line < body; i++) {
		const struct row *row = &terminal->row[i];

		if (row->kind != ROW_CPU && row->key != TRACK_NONE && request->tids < REQUEST_TIDS)
			request->tid[request->tids++] = row->key;
		line += terminal_high(terminal, i);
	}
	return tracks_make(&terminal->tracks, terminal->view);
}

int terminal_ask(struct terminal *terminal)
{
	struct view *view = terminal->view;
	int err;

	pthread_rwlock_rdlock(&view->lock);
	err = view->empty ? 0 : ask_calls(terminal);
	scroll(terminal);
	if (!err && !view->empty)
		err = ask_picture(terminal);
	pthread_rwlock_unlock(&view->lock);
	return err;
}

int terminal_begin(struct terminal *terminal, struct view *view)
{
	*terminal = (struct terminal){
		.view = view,
		.title = view_title(view),
		.columns = COLUMNS_MIN,
		.lines = LINES_MIN,
		.mark = { NO_MARK, NO_MARK },
		.calls_of = TRACK_NONE,
		.wanted = TRACK_NONE,
	};
	if (!terminal->title)
		return -ENOMEM;
	rows_fold(terminal, GROUP_KERNEL, true);
	rows_fold(terminal, GROUP_COUNTERS, true);
	return terminal_refresh(terminal);
}

void terminal_free(struct terminal *terminal)
{
	tracks_free(&terminal->tracks);
	answer_free(&terminal->calls);
	answer_free(&terminal->folded);
	answer_free(&terminal->panel);
	free(terminal->thread);
	free(terminal->row);
	free(terminal->title);
}

static unsigned int within(unsigned int number, unsigned int least, unsigned int most)
{
	return number < least ? least : number > most ? most : number;
}

void terminal_resize(struct terminal *terminal, unsigned int columns, unsigned int lines)
{
	terminal->columns = within(columns, COLUMNS_MIN, COLUMNS_MAX);
	terminal->lines = within(lines, LINES_MIN, LINES_MAX);
}

/* ---- the marked span ---- */

bool terminal_marked(const struct terminal *terminal, uint64_t *from, uint64_t *to)
{
	const uint64_t a = terminal->mark[0], b = terminal->mark[1];

	if (a == NO_MARK || b == NO_MARK || a == b)
		return false;
	*from = a < b ? a : b;
	*to = a < b ? b : a;
	return true;
}

/* How busy the CPUs were, and how the chosen thread was, in percent. */
static void add_shares(struct terminal *terminal, const struct tracks *tracks, char *text,
		       size_t room)
{
	const struct row *row = terminal_row(terminal);
	const struct request *request = &tracks->request;
	struct pixel pixel;
	float busy = 0, seen = 0;
	int bytes;

	for (size_t i = 0; i < terminal->rows; i++) {
		if (terminal->row[i].kind != ROW_CPU)
			continue;
		tracks_pixels(tracks, terminal->row[i].key, request->from, request->to, 1, &pixel);
		busy += pixel.share[SHARE_RUNNING];
		seen += pixel.seen;
	}
	bytes = snprintf(text, room, "; CPUs busy %.0f %%", seen > 0 ? busy / seen * 100 : 0);
	if (!row_is_thread(row) || bytes < 0 || (size_t)bytes >= room)
		return;
	tracks_pixels(tracks, row->key, request->from, request->to, 1, &pixel);
	snprintf(text + bytes, room - (size_t)bytes,
		 "; %s: ran %.0f %%, ready %.0f %%, blocked %.0f %%", row->label,
		 pixel.share[SHARE_RUNNING] * 100, pixel.share[SHARE_READY] * 100,
		 pixel.share[SHARE_BLOCKED] * 100);
}

void terminal_sum_up(struct terminal *terminal)
{
	const struct row *row = terminal_row(terminal);
	struct tracks tracks = { 0 };
	char length[TIME_BYTES];
	uint64_t from, to;
	int bytes;

	*terminal->marked = '\0';
	if (!terminal_marked(terminal, &from, &to))
		return;
	tracks.request = (struct request){ .from = from, .to = to, .width = SUM_BINS };
	if (row_is_thread(row))
		tracks.request.tid[tracks.request.tids++] = row->key;
	bytes = snprintf(terminal->marked, sizeof(terminal->marked), "Marked %s",
			 text_length(to - from, length));
	pthread_rwlock_rdlock(&terminal->view->lock);
	if (!terminal->view->empty && !tracks_make(&tracks, terminal->view))
		add_shares(terminal, &tracks, terminal->marked + bytes,
			   sizeof(terminal->marked) - (size_t)bytes);
	pthread_rwlock_unlock(&terminal->view->lock);
	tracks_free(&tracks);
}

/* ---- moments ---- */

static void show_moment(struct terminal *terminal, uint32_t tid, uint64_t ns)
{
	struct view *view = terminal->view;
	struct moment moment = { 0 };
	int64_t woken;
	int err;

	answer_free(&terminal->panel);
	terminal->follows = false;
	pthread_rwlock_rdlock(&view->lock);
	err = moment_find(&moment, view, tid, view_last_stamp(view, ns));
	if (err) {
		say(terminal, strerror(-err));
	} else {
		text_moment(terminal, &moment, &terminal->panel);
		woken = view_ns(view, moment.wait.woken);
		terminal->follows = moment.waits && moment.wait.woken && moment.waker_tid &&
				    moment_has_waker(&moment) && woken >= 0;
		terminal->waker = moment.waker_tid;
		terminal->woken = (uint64_t)woken;
	}
	pthread_rwlock_unlock(&view->lock);
	moment_free(&moment);
}

/* Who was on a CPU at a moment; what is seen may be much longer, and say who was there most. */
static bool who_ran(struct terminal *terminal, uint32_t key, uint64_t ns, struct track_part *part)
{
	struct tracks tracks = {
		.request = { .from = ns, .to = ns + SPAN_MIN_NS, .width = SPAN_MIN_NS },
	};
	bool found;

	pthread_rwlock_rdlock(&terminal->view->lock);
	found = !tracks_make(&tracks, terminal->view) && tracks_at(&tracks, key, ns, part);
	pthread_rwlock_unlock(&terminal->view->lock);
	tracks_free(&tracks);
	return found;
}

static void show_cpu(struct terminal *terminal, const struct row *row)
{
	struct track_part part, seen;
	char when[TIME_BYTES];
	bool busy;

	if (!who_ran(terminal, row->key, terminal->cursor, &part) ||
	    (part.share[SHARE_UNKNOWN] && !part.share[SHARE_RUNNING]) || part.top == TID_UNKNOWN) {
		say(terminal, "It is not known who ran there");
		return;
	}
	if (part.share[SHARE_RUNNING] && part.top) {
		show_moment(terminal, part.top, terminal->cursor);
		return;
	}
	busy = tracks_at(&terminal->tracks, row->key, terminal->cursor, &seen) &&
	       seen.share[SHARE_RUNNING];
	snprintf(terminal->message, sizeof(terminal->message), "%s was idle at %s%s", row->label,
		 text_when(terminal->cursor, 1, when),
		 busy ? "; w zooms in to who ran near that" : "");
}

void terminal_moment(struct terminal *terminal)
{
	const struct row *row = terminal_row(terminal);

	if (!row || terminal->view->empty)
		return;
	if (row->key == TRACK_NONE) {
		terminal_fold(terminal);
		return;
	}
	if (row_is_thread(row)) {
		show_moment(terminal, row->key, terminal->cursor);
		return;
	}
	if (row->kind == ROW_CPU)
		show_cpu(terminal, row);
}

void terminal_follow(struct terminal *terminal)
{
	if (!terminal->follows) {
		say(terminal, "Enter on a wait says who ended it, and o goes there");
		return;
	}
	terminal_choose_thread(terminal, terminal->waker);
	terminal_go(terminal, terminal->woken);
	show_moment(terminal, terminal->waker, terminal->woken);
}

void terminal_find(struct terminal *terminal, bool back)
{
	struct request request = { .from = terminal->cursor, .back = back };
	char name[FKT_NAME_BYTES], when[TIME_BYTES];
	struct fkt_event event;
	int64_t ns = 0;
	int what = 0;

	if (!*terminal->filter || terminal->view->empty) {
		say(terminal, "/ searches for a thread, a call or an event");
		return;
	}
	request.tids = rows_named(terminal, request.tid);
	memcpy(request.text, request.tids ? "*" : terminal->filter,
	       request.tids ? sizeof("*") : sizeof(request.text));
	pthread_rwlock_rdlock(&terminal->view->lock);
	what = next_find(terminal->view, &request, &event);
	if (what > 0) {
		fkt_code_name(terminal->view->trace, event.code, name);
		ns = view_ns(terminal->view, event.stamp);
	}
	pthread_rwlock_unlock(&terminal->view->lock);
	if (what < 0) {
		say(terminal, strerror(-what));
		return;
	}
	if (!what) {
		snprintf(terminal->message, sizeof(terminal->message), "No event %s%s %s that%s",
			 request.tids ? "of " : "", terminal->filter, back ? "before" : "behind",
			 rows_match(terminal) ? "; threads of that name are shown" : "");
		rows_choose_match(terminal);
		return;
	}
	terminal_go(terminal, ns > 0 ? (uint64_t)ns : 0);
	snprintf(terminal->message, sizeof(terminal->message), "%s on CPU %u at %s", name,
		 event.cpu, text_when(terminal->cursor, 1, when));
	if (event.pid && event.pid != FKT_PID_UNKNOWN)
		terminal_choose_thread(terminal, event.pid);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is seen, as characters. A line has two halves, of which each has a colour: of a CPU that it
 * was interrupted, and who ran; of a thread how it was, and in which call. Without colours, and
 * without characters that not all terminals have, letters say the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/table.h"
#include "terminal.h"

/* Runs that are shorter have no name in them. */
#define NAME_MIN  6
/* Interrupts that took a lesser part of a column, in which somebody ran, are not seen. */
#define IRQ_LEAST .1f
#define UPPER	  0x2580 /* half of a character */
#define FULL	  0x2588
#define EIGHTHS	  8
#define TICK_EACH 15

struct canvas {
	const struct terminal *terminal;
	struct glyph *glyph;
	struct pixel *pixel;
	unsigned int side;
	unsigned int width;
};

static struct glyph *glyph_at(const struct canvas *canvas, unsigned int line, unsigned int column)
{
	return &canvas->glyph[(size_t)line * canvas->terminal->columns + column];
}

static wchar_t pick(const struct canvas *canvas, wchar_t c, char plain)
{
	return canvas->terminal->ascii ? (wchar_t)plain : c;
}

/* ---- text ---- */

/* A character of a text, fit for any terminal. */
static wchar_t next_character(const struct canvas *canvas, const char **text)
{
	mbstate_t state = { 0 };
	wchar_t c;
	const size_t bytes = mbrtowc(&c, *text, strlen(*text), &state);

	if (bytes == (size_t)-1 || bytes == (size_t)-2 || !bytes) {
		++*text;
		return L'?';
	}
	*text += bytes;
	/* Of wide characters nobody knows here how wide, and others do as they like. */
	return wcwidth(c) == 1 && (!canvas->terminal->ascii || c < 127) ? c : L'?';
}

/* A text from a column on, up to another one: where it ends. */
static unsigned int put_text(const struct canvas *canvas, unsigned int line, unsigned int column,
			     unsigned int end, const char *text)
{
	for (; *text && *text != '\n' && column < end; column++)
		glyph_at(canvas, line, column)->c = next_character(canvas, &text);
	return column;
}

static unsigned int __attribute__((format(printf, 4, 5)))
put(const struct canvas *canvas, unsigned int line, unsigned int column, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return put_text(canvas, line, column, canvas->terminal->columns, text);
}

static void set_look(const struct canvas *canvas, unsigned int line, uint8_t look)
{
	for (unsigned int i = 0; i < canvas->terminal->columns; i++)
		glyph_at(canvas, line, i)->look |= look;
}

/* The colour of a name: the page's. */
static uint8_t hue_of(const char *name)
{
	uint32_t sum = 7;

	for (; *name; name++)
		sum = sum * 31 + (uint8_t)*name;
	return (uint8_t)(HUE_NAMES + sum % (HUES - HUE_NAMES));
}

static void name_of_thread(const struct canvas *canvas, uint32_t tid, char text[LABEL_BYTES],
			   uint8_t *hue)
{
	const struct collected_thread *thread = rows_thread(canvas->terminal, tid);

	text_thread(canvas->terminal, tid, text);
	*hue = hue_of(thread ? thread->comm : text);
}

/* ---- columns ---- */

/* Where a moment is, or -1. */
static int column_of(const struct canvas *canvas, uint64_t ns)
{
	const struct terminal *terminal = canvas->terminal;

	if (ns < terminal->from || ns >= terminal->to)
		return -1;
	return (int)((double)(ns - terminal->from) * canvas->width /
		     (double)(terminal->to - terminal->from));
}

/* Where a stamp is, also outside of what is seen. */
static double column_of_stamp(const struct canvas *canvas, uint64_t stamp)
{
	const struct terminal *terminal = canvas->terminal;
	const double ns = (double)view_ns(terminal->view, stamp);

	return (ns - (double)terminal->from) * canvas->width /
	       (double)(terminal->to - terminal->from);
}

/* Where runs of the same end: of pixels whose top, and whether it is on top, are the same. */
static unsigned int run_end(const struct canvas *canvas, unsigned int begin, float least)
{
	const struct pixel *pixel = canvas->pixel;
	unsigned int end = begin + 1;

	while (end < canvas->width && pixel[end].top == pixel[begin].top &&
	       (pixel[end].share[SHARE_RUNNING] >= least) ==
		       (pixel[begin].share[SHARE_RUNNING] >= least))
		end++;
	return end;
}

/* ---- CPUs ---- */

/* As high as it was busy. */
static void put_busy(const struct canvas *canvas, struct glyph *glyph, float share, uint8_t hue)
{
	const unsigned int eighths = share >= 1 ? EIGHTHS : (unsigned int)(share * EIGHTHS + .5f);

	glyph->fore = hue;
	if (canvas->terminal->ascii)
		glyph->c = share >= .66f ? L'#' : share >= .33f ? L'=' : L'-';
	else
		glyph->c = (wchar_t)(0x2580 + (eighths ?: 1));
}

static void put_interrupt(const struct canvas *canvas, struct glyph *glyph,
			  const struct pixel *pixel, uint8_t hue)
{
	const bool soft = pixel->share[SHARE_SOFTIRQ] > pixel->share[SHARE_IRQ];
	const float share = pixel->share[soft ? SHARE_SOFTIRQ : SHARE_IRQ];

	if (canvas->terminal->mono || canvas->terminal->ascii) {
		/* Where it is all that is seen, or most of it. */
		if (share >= .5f || pixel->share[SHARE_RUNNING] <= 0) {
			glyph->c = soft ? L's' : L'i';
			glyph->fore = soft ? HUE_SOFTIRQ : HUE_IRQ;
		}
		return;
	}
	glyph->c = UPPER;
	glyph->back = pixel->share[SHARE_RUNNING] >= .25f ? hue : HUE_NONE;
	glyph->fore = soft ? HUE_SOFTIRQ : HUE_IRQ;
}

static void put_cpu_column(const struct canvas *canvas, struct glyph *glyph,
			   const struct pixel *pixel, uint8_t hue)
{
	if (pixel->seen <= 0)
		return;
	if (pixel->share[SHARE_UNKNOWN] > .5f) {
		glyph->c = L'?';
		glyph->fore = HUE_UNKNOWN;
		return;
	}
	if (pixel->share[SHARE_RUNNING] > 0) {
		put_busy(canvas, glyph, pixel->share[SHARE_RUNNING], hue);
	} else {
		glyph->c = pick(canvas, 0x00b7, '.');
		glyph->fore = HUE_FAINT;
	}
	if (pixel->share[SHARE_IRQ] + pixel->share[SHARE_SOFTIRQ] >
	    (pixel->share[SHARE_RUNNING] > 0 ? IRQ_LEAST : 0))
		put_interrupt(canvas, glyph, pixel, hue);
}

/* A name on its colour. */
static void put_name(const struct canvas *canvas, unsigned int line, unsigned int begin,
		     unsigned int end, const char *name, uint8_t hue)
{
	unsigned int last = put_text(canvas, line, canvas->side + begin, canvas->side + end, name);

	for (unsigned int i = canvas->side + begin; i < last; i++) {
		glyph_at(canvas, line, i)->fore = HUE_ON;
		glyph_at(canvas, line, i)->back = hue;
	}
}

static void paint_cpu(const struct canvas *canvas, unsigned int line)
{
	char name[LABEL_BYTES];
	unsigned int end;
	uint8_t hue;

	for (unsigned int begin = 0; begin < canvas->width; begin = end) {
		end = run_end(canvas, begin, .6f);
		name_of_thread(canvas, canvas->pixel[begin].top, name, &hue);
		for (unsigned int x = begin; x < end; x++)
			put_cpu_column(canvas, glyph_at(canvas, line, canvas->side + x),
				       &canvas->pixel[x], hue);
		if (end - begin >= NAME_MIN && canvas->pixel[begin].top &&
		    canvas->pixel[begin].share[SHARE_RUNNING] >= .6f)
			put_name(canvas, line, begin, end, name, hue);
	}
}

/* ---- threads ---- */

struct state_look {
	wchar_t c;
	char plain;
	uint8_t hue;
};

static const struct state_look awake_looks[] = {
	[SHARE_RUNNING] = { FULL, '#', HUE_RUNNING },
	[SHARE_READY] = { 0x2592, '+', HUE_READY },
	[SHARE_BLOCKED] = { L'D', 'D', HUE_BLOCKED },
	[SHARE_UNKNOWN] = { L'?', '?', HUE_UNKNOWN },
};

/* The state of which there is most, and the one of which there is most but that. */
static void two_states(const struct pixel *pixel, unsigned int *first, unsigned int *second)
{
	*first = 0;
	for (unsigned int i = 1; i < SHARES; i++)
		if (pixel->share[i] > pixel->share[*first])
			*first = i;
	*second = !*first;
	for (unsigned int i = 0; i < SHARES; i++)
		if (i != *first && pixel->share[i] > pixel->share[*second])
			*second = i;
}

static void put_asleep(const struct canvas *canvas, struct glyph *glyph, const struct pixel *pixel)
{
	if (pixel->state == STATE_GONE)
		return;
	glyph->c = pick(canvas, 0x2500, '-');
	glyph->fore = HUE_SLEEPING;
}

static void put_thread_column(const struct canvas *canvas, struct glyph *glyph,
			      const struct pixel *pixel, uint8_t call_hue)
{
	const bool letters = canvas->terminal->mono || canvas->terminal->ascii;
	const struct state_look *look;
	unsigned int first, second;

	if (pixel->seen <= 0)
		return;
	two_states(pixel, &first, &second);
	look = &awake_looks[first];
	if (pixel->share[first] <= 0) {
		put_asleep(canvas, glyph, pixel);
	} else if (letters) {
		/* Where it ran for a part of the time, half of it. */
		glyph->c = first == SHARE_RUNNING && pixel->share[first] < .75f
				   ? pick(canvas, 0x2584, '=')
				   : pick(canvas, look->c, look->plain);
		glyph->fore = look->hue;
	} else if (pixel->share[first] >= .75f) {
		/* Below it, in which call it was. */
		glyph->c = first == SHARE_UNKNOWN ? L'?' : pixel->top ? UPPER : FULL;
		glyph->fore = look->hue;
		glyph->back = first != SHARE_UNKNOWN && pixel->top ? call_hue : HUE_NONE;
	} else {
		/* The lower half is what there is most of. */
		glyph->c = pixel->share[second] >= .25f ? UPPER
			   : pixel->share[first] >= .3f ? 0x2584
							: 0x2581;
		glyph->fore = glyph->c == UPPER ? awake_looks[second].hue : look->hue;
		glyph->back = glyph->c == UPPER ? look->hue : HUE_NONE;
	}
}

/* In letters, which cover how the thread was, only in the first of several columns. */
static void put_error(const struct canvas *canvas, struct glyph *glyph, unsigned int x)
{
	const bool letters = canvas->terminal->mono || canvas->terminal->ascii;

	if (canvas->pixel[x].seen <= 0 || !(canvas->pixel[x].flags & CELL_ERROR))
		return;
	glyph->look |= LOOK_UNDERLINE;
	if (letters && (!x || !(canvas->pixel[x - 1].flags & CELL_ERROR)))
		glyph->c = L'!';
}

static void put_call(const struct canvas *canvas, unsigned int line, unsigned int begin,
		     unsigned int end, const char *name)
{
	unsigned int column = canvas->side + begin;

	/* It stands in its state's line, which goes on behind it. */
	for (; *name && column < canvas->side + end; column++) {
		struct glyph *glyph = glyph_at(canvas, line, column);

		/* On how the thread was in its first half, if that is a colour. */
		if (glyph->c == UPPER || glyph->c == FULL || glyph->c == L'#') {
			glyph->back = glyph->fore;
			glyph->fore = HUE_ON;
		}
		glyph->c = next_character(canvas, &name);
	}
}

static void paint_thread(const struct canvas *canvas, unsigned int line)
{
	struct names *names = canvas->terminal->view->names;
	char name[FKT_NAME_BYTES];
	unsigned int end;

	for (unsigned int begin = 0; begin < canvas->width; begin = end) {
		end = run_end(canvas, begin, 2);
		names_get(names, canvas->pixel[begin].top, name);
		for (unsigned int x = begin; x < end; x++) {
			put_thread_column(canvas, glyph_at(canvas, line, canvas->side + x),
					  &canvas->pixel[x], hue_of(name));
			put_error(canvas, glyph_at(canvas, line, canvas->side + x), x);
		}
		if (end - begin >= 2 + NAME_MIN && *name)
			put_call(canvas, line, begin + 1, end - 1, name);
	}
}

/* The calls of the chosen thread, each below its caller. */
static void paint_calls(const struct canvas *canvas, unsigned int line, unsigned int lines)
{
	const struct terminal *terminal = canvas->terminal;
	const struct drawn_call *call = (const struct drawn_call *)terminal->calls.data;
	char name[FKT_NAME_BYTES], text[FKT_NAME_BYTES + 32];

	for (size_t i = 0; i < terminal->calls.bytes / sizeof(*call); i++, call++) {
		const double from = column_of_stamp(canvas, call->from);
		const double to = column_of_stamp(canvas, call->to);
		unsigned int begin = from > 0 ? (unsigned int)from : 0;
		unsigned int end = to < canvas->width ? (unsigned int)(to > 0 ? to : 0)
						      : canvas->width;

		if (call->depth >= lines || to < 0 || from >= canvas->width)
			continue;
		if (end <= begin)
			end = begin + 1;
		names_get(terminal->view->names, call->name, name);
		if (call->count > 1)
			snprintf(text, sizeof(text), "%" PRIu32 " calls%s%s", call->count,
				 *name ? " of " : "", name);
		else
			snprintf(text, sizeof(text), "%s%s", name, call->error ? "!" : "");
		for (unsigned int x = begin; x < end; x++) {
			struct glyph *glyph =
				glyph_at(canvas, line + call->depth, canvas->side + x);

			glyph->c = end == begin + 1 ? L'|'
				   : x == begin	    ? L'['
				   : x + 1 == end   ? L']'
						    : pick(canvas, 0x00b7, '.');
			glyph->fore = HUE_ON;
			glyph->back = hue_of(name);
		}
		if (end - begin >= NAME_MIN)
			put_name(canvas, line + call->depth, begin + 1, end - 1, text,
				 hue_of(name));
	}
}

/* ---- counters ---- */

static void paint_counter(const struct canvas *canvas, unsigned int line)
{
	float low = 0, top = 0, part;
	unsigned int eighths;

	for (unsigned int x = 0; x < canvas->width; x++)
		if (canvas->pixel[x].has_value) {
			low = canvas->pixel[x].least < low ? canvas->pixel[x].least : low;
			top = canvas->pixel[x].most > top ? canvas->pixel[x].most : top;
		}
	for (unsigned int x = 0; x < canvas->width; x++) {
		struct glyph *glyph = glyph_at(canvas, line, canvas->side + x);

		if (!canvas->pixel[x].has_value)
			continue;
		part = top > low ? (canvas->pixel[x].most - low) / (top - low) : 0;
		eighths = part > 0 ? (unsigned int)(part * (EIGHTHS - 1) + .5f) : 0;
		glyph->c = pick(canvas, (wchar_t)(0x2581 + (eighths < EIGHTHS ? eighths : 7)),
				"_.,-=+*#"[eighths < EIGHTHS ? eighths : 7]);
		glyph->fore = HUE_VALUE;
	}
}

/* ---- what is missing ---- */

static void paint_losses(const struct canvas *canvas, const struct row *row, unsigned int line)
{
	const struct picture *picture = &canvas->terminal->tracks.picture;
	const struct loss *loss = (const struct loss *)picture->losses.data;

	for (size_t i = 0; i < picture->losses.bytes / sizeof(*loss); i++, loss++) {
		const double from = column_of_stamp(canvas, loss->from);
		const double to = column_of_stamp(canvas, loss->to);
		const bool its = loss->cpu == FKT_CPU_ANY ||
				 (row->kind == ROW_CPU && row->key == (TRACK_CPU | loss->cpu)) ||
				 (row_is_thread(row) && loss->tid && row->key == loss->tid);

		if (!its || to < 0 || from >= canvas->width)
			continue;
		for (unsigned int x = from > 0 ? (unsigned int)from : 0;
		     x < canvas->width && (x <= to || x <= from); x++)
			*glyph_at(canvas, line, canvas->side + x) =
				(struct glyph){ .c = L'/', .fore = HUE_LOSS };
	}
}

/* What has not been read. Of CPUs there is a sample. */
static void paint_unread(const struct canvas *canvas, unsigned int line)
{
	const struct terminal *terminal = canvas->terminal;
	const struct level_part *part = &terminal->tracks.picture.part;
	const double from = column_of_stamp(canvas, part->made);
	struct glyph *glyph;

	if (terminal->progress.done)
		return;
	for (unsigned int x = from > 0 ? (unsigned int)from : 0; x < canvas->width; x++) {
		glyph = glyph_at(canvas, line, canvas->side + x);
		if (glyph->c != L' ')
			continue;
		glyph->c = pick(canvas, 0x2591, ':');
		glyph->fore = HUE_FAINT;
	}
}

/* ---- rows ---- */

static void paint_label(const struct canvas *canvas, const struct row *row, unsigned int line)
{
	unsigned int column = 0;

	if (row->kind == ROW_GROUP)
		column = put(canvas, line, 0,
			     canvas->terminal->ascii ? (row->closed ? "+" : "-")
			     : row->closed	     ? "\xe2\x96\xb8"
						     : "\xe2\x96\xbe");
	if (row->member)
		column = 1;
	/* One column is left between it and the time. */
	put_text(canvas, line, column, canvas->side - 1, row->label);
}

static void paint_row(const struct canvas *canvas, size_t number, unsigned int line)
{
	const struct terminal *terminal = canvas->terminal;
	const struct row *row = &terminal->row[number];

	paint_label(canvas, row, line);
	if (number == terminal->at)
		for (unsigned int i = 0; i + 1 < canvas->side; i++)
			glyph_at(canvas, line, i)->look |= LOOK_REVERSE;
	if (row->key == TRACK_NONE || terminal->view->empty)
		return;
	tracks_pixels(&terminal->tracks, row->key, terminal->from, terminal->to, canvas->width,
		      canvas->pixel);
	if (row->kind == ROW_CPU)
		paint_cpu(canvas, line);
	else if (row->kind == ROW_COUNTER)
		paint_counter(canvas, line);
	else
		paint_thread(canvas, line);
	paint_unread(canvas, line);
	if (row->kind != ROW_COUNTER)
		paint_losses(canvas, row, line);
}

static void paint_rows(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const unsigned int end = LINES_HEAD + terminal_body(terminal);
	unsigned int line = LINES_HEAD, high;

	for (size_t i = terminal->top; i < terminal->rows && line < end; i++) {
		high = terminal_high(terminal, i);
		paint_row(canvas, i, line);
		if (line + high > end)
			high = end - line;
		if (high > 1)
			paint_calls(canvas, line + 1, high - 1);
		line += high;
	}
	if (terminal->view->empty)
		put(canvas, LINES_HEAD, canvas->side, "The trace has no event.");
}

/* ---- above and below ---- */

static void paint_title(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const struct progress *progress = &terminal->progress;
	char length[TIME_BYTES];
	unsigned int column;

	column = put(canvas, 0, 0, "%s  %s  %" PRIu64 " events", terminal->title,
		     text_length(terminal->end, length), progress->events);
	if (progress->err)
		column =
			put(canvas, 0, column, "  could not read on: %s", strerror(-progress->err));
	else if (terminal->growing)
		column = put(canvas, 0, column, "  it is being recorded");
	else if (!progress->done)
		column = put(canvas, 0, column, "  reading: %.0f %%",
			     terminal->end ? (double)view_ns(terminal->view, progress->made) * 100 /
						     (double)terminal->end
					   : 0.);
	if (progress->lost)
		column = put(canvas, 0, column, "  %" PRIu64 " events were lost", progress->lost);
	if (progress->pages)
		column = put(canvas, 0, column, "  %" PRIu64 " pages are missing", progress->pages);
	if (!terminal->complete && !terminal->growing)
		column = put(canvas, 0, column, "  the trace has no end");
	if (*terminal->filter)
		put(canvas, 0, column, "  /%s", terminal->filter);
	set_look(canvas, 0, LOOK_BOLD);
}

/* Of 1, 2 or 5 times a power of ten. */
static uint64_t tick_step(const struct canvas *canvas)
{
	const uint64_t span = canvas->terminal->to - canvas->terminal->from;
	const uint64_t least = span * TICK_EACH / canvas->width;
	uint64_t step = 1;

	while (10 * step < least)
		step *= 10;
	if (step >= least)
		return step;
	return 2 * step >= least ? 2 * step : 5 * step >= least ? 5 * step : 10 * step;
}

static void paint_scale(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const uint64_t step = tick_step(canvas);
	char when[TIME_BYTES];
	int column;

	for (uint64_t at = (terminal->from + step - 1) / step * step; at < terminal->to;
	     at += step) {
		column = column_of(canvas, at);
		if (column < 0)
			continue;
		put_text(canvas, 1, canvas->side + (unsigned int)column, terminal->columns,
			 text_when(at, step, when));
		glyph_at(canvas, 2, canvas->side + (unsigned int)column)->c =
			pick(canvas, 0x2575, '|');
		glyph_at(canvas, 2, canvas->side + (unsigned int)column)->fore = HUE_FAINT;
	}
}

static void put_point(const struct canvas *canvas, uint64_t ns, wchar_t c, uint8_t hue)
{
	const int column = column_of(canvas, ns);

	if (column >= 0)
		*glyph_at(canvas, 2, canvas->side + (unsigned int)column) =
			(struct glyph){ .c = c, .fore = hue };
}

static void paint_marks(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const struct picture *picture = &terminal->tracks.picture;
	const struct mark *mark = (const struct mark *)picture->marks.data;
	uint64_t from, to, ns;

	for (size_t i = 0; i < picture->marks.bytes / sizeof(*mark); i++, mark++) {
		const int64_t at = view_ns(terminal->view, mark->stamp);
		const int column = column_of(canvas, at > 0 ? (uint64_t)at : 0);

		if (column < 0)
			continue;
		put_point(canvas, (uint64_t)at, L'*', HUE_BLOCKED);
		put_text(canvas, 2, canvas->side + (unsigned int)column + 1, terminal->columns,
			 mark->text);
	}
	if (terminal_marked(terminal, &from, &to))
		for (unsigned int x = 0; x < canvas->width; x++) {
			ns = terminal->from + (uint64_t)((double)(terminal->to - terminal->from) *
							 (x + .5) / canvas->width);
			if (ns >= from && ns < to)
				*glyph_at(canvas, 2, canvas->side + x) =
					(struct glyph){ .c = L'=', .fore = HUE_MARK };
		}
	for (unsigned int i = 0; i < 2; i++)
		if (terminal->mark[i] != NO_MARK)
			put_point(canvas, terminal->mark[i],
				  terminal->mark[i] > terminal->mark[!i] ? L']' : L'[', HUE_MARK);
	put_point(canvas, terminal->cursor, pick(canvas, 0x25bc, 'v'), HUE_NONE);
}

static void paint_cursor(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const int column = column_of(canvas, terminal->cursor);

	for (unsigned int i = 0; column >= 0 && i < terminal_body(terminal); i++)
		glyph_at(canvas, LINES_HEAD + i, canvas->side + (unsigned int)column)->look |=
			LOOK_REVERSE;
}

static void paint_foot(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const uint64_t span = terminal->to - terminal->from;
	unsigned int line = terminal->lines - terminal_foot(terminal);
	char length[TIME_BYTES], when[TIME_BYTES], text[MESSAGE_BYTES];
	unsigned int column;

	column = put(canvas, line, 0, "%s from %s on", text_length(span, length),
		     text_when(terminal->from, span / canvas->width ?: 1, when));
	if (terminal->mark[0] != NO_MARK && !*terminal->marked)
		put(canvas, line, column, ". m: the other end of what is marked");
	set_look(canvas, line, LOOK_BOLD);
	if (*terminal->marked) {
		put(canvas, ++line, 0, "%s", terminal->marked);
		set_look(canvas, line, LOOK_BOLD);
	}
	text_cursor(terminal, text);
	put(canvas, line + 1, 0, "%s", text);
	put(canvas, line + 2, 0, "%s",
	    *terminal->message
		    ? terminal->message
		    : "? keys  w s zoom  a d move  / search  m mark  Enter what it was at  q quit");
}

/* How much of a line has room: up to a space, if there is one. */
static size_t piece(const struct canvas *canvas, const char *text, size_t bytes)
{
	size_t room = fkt_fitting(text, bytes, canvas->terminal->columns), space;

	if (room == bytes)
		return bytes;
	for (space = room; space && text[space] != ' ';)
		space--;
	return space ?: room ?: 1;
}

/* The panel's lines, each in as many as it needs: how many. @line: where, or 0: only count. */
static unsigned int put_panel(const struct canvas *canvas, unsigned int line, unsigned int most)
{
	const struct answer *panel = &canvas->terminal->panel;
	const char *text = panel->data, *end = text + panel->bytes, *next;
	unsigned int lines = 0;
	char copy[COLUMNS_MAX + 1];
	size_t bytes;

	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text)) ?: end;
		do {
			bytes = piece(canvas, text, (size_t)(next - text));
			snprintf(copy, sizeof(copy), "%.*s", (int)bytes, text);
			if (line && lines < most)
				put(canvas, line + lines, 0, "%s", copy);
			lines++;
			text += bytes;
			while (bytes && text < next && *text == ' ')
				text++;
		} while (text < next);
	}
	return lines;
}

/* Over the rows, from the last one up. */
static void paint_panel(const struct canvas *canvas)
{
	const struct terminal *terminal = canvas->terminal;
	const unsigned int body = terminal_body(terminal);
	unsigned int lines, line;

	if (!terminal->panel.bytes)
		return;
	lines = put_panel(canvas, 0, 0);
	lines = lines + 1 < body ? lines + 1 : body;
	line = LINES_HEAD + body - lines;
	for (unsigned int i = 0; i < lines; i++)
		for (unsigned int x = 0; x < terminal->columns; x++)
			*glyph_at(canvas, line + i, x) = (struct glyph){
				.c = i ? L' ' : pick(canvas, 0x2500, '-'),
			};
	put_panel(canvas, line + 1, lines - 1);
}

int terminal_paint(const struct terminal *terminal, struct glyph *glyphs)
{
	struct canvas canvas = {
		.terminal = terminal,
		.glyph = glyphs,
		.pixel = calloc(terminal->columns, sizeof(*canvas.pixel)),
		.side = terminal_side(terminal),
		.width = terminal_width(terminal),
	};

	if (!canvas.pixel)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)terminal->columns * terminal->lines; i++)
		glyphs[i] = (struct glyph){ .c = L' ' };
	pthread_rwlock_rdlock(&terminal->view->lock);
	paint_title(&canvas);
	paint_scale(&canvas);
	paint_rows(&canvas);
	paint_marks(&canvas);
	paint_cursor(&canvas);
	paint_panel(&canvas);
	paint_foot(&canvas);
	pthread_rwlock_unlock(&terminal->view->lock);
	free(canvas.pixel);
	return 0;
}

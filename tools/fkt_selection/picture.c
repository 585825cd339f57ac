// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selection.h"

/* Rows that are not the graph's: a title; below it the marks, times, and three lines. */
#define ROWS_ABOVE 1
#define ROWS_BELOW 5
/* Columns left of the graph. */
#define SCALE	   9
#define EIGHTHS	   8

static double of_page(const struct selection *selection, const struct page_time *page)
{
	return (double)(selection->bytes ? page->bytes : page->events);
}

void rates(const struct selection *selection, uint32_t lane, unsigned int count, double *rate)
{
	const double from = (double)selection->from;
	const double width = ((double)selection->to - from) / count;

	for (unsigned int i = 0; i < count; i++)
		rate[i] = 0;
	for (size_t p = 0; p < selection->times.count; p++) {
		const struct page_time *page = &selection->times.page[p];
		double begin, end, each;
		unsigned int first, last;

		if ((lane != ALL_LANES && page->lane != lane) || page->begin >= selection->to ||
		    page->end < selection->from)
			continue;
		/* Its events are spread over the time that it took, a moment at least. */
		begin = ((double)page->begin - from) / width;
		end = ((double)page->end + 1 - from) / width;
		each = of_page(selection, page) / (end - begin);
		first = begin > 0 ? (unsigned int)begin : 0;
		last = end < count ? (unsigned int)end : count - 1;
		for (unsigned int i = first; i <= last && i < count; i++) {
			double left = begin > i ? begin : i, right = end < i + 1 ? end : i + 1;

			if (right > left)
				rate[i] += each * (right - left);
		}
	}
	for (unsigned int i = 0; i < count; i++)
		rate[i] *= 1e9 / width;
}

bool marked(const struct selection *selection, uint64_t *from, uint64_t *to)
{
	const uint64_t a = selection->mark[0], b = selection->mark[1];

	*from = selection->from;
	*to = selection->to;
	if (a == NO_MARK || b == NO_MARK || a == b)
		return false;
	*from = a < b ? a : b;
	*to = a < b ? b : a;
	return true;
}

/* ---- windows ---- */

static uint64_t end_of(const struct selection *selection)
{
	return selection->times.end + 1;
}

void set_window(struct selection *selection, uint64_t from, uint64_t to)
{
	uint64_t end = end_of(selection), least = COLUMNS_MIN * COLUMN_MIN;

	if (to > end)
		to = end;
	if (from >= to)
		from = to ? to - 1 : 0;
	if (to - from < least && end > least) {
		from = from > end - least ? end - least : from;
		to = from + least;
	}
	selection->from = from;
	selection->to = to > from ? to : from + 1;
	if (selection->cursor < selection->from)
		selection->cursor = selection->from;
	if (selection->cursor >= selection->to)
		selection->cursor = selection->to - 1;
}

void move_window(struct selection *selection, int64_t by)
{
	uint64_t width = selection->to - selection->from, end = end_of(selection);
	uint64_t from = selection->from;

	if (by < 0)
		from = from > 0 - (uint64_t)by ? from + (uint64_t)by : 0;
	else
		from += (uint64_t)by;
	if (from > end - width)
		from = end - width;
	set_window(selection, from, from + width);
}

void zoom_window(struct selection *selection, double by)
{
	const double width = (double)(selection->to - selection->from) * by;
	const double part = (double)(selection->cursor - selection->from) /
			    (double)(selection->to - selection->from);
	double from = (double)selection->cursor - width * part;

	if (width >= (double)end_of(selection)) {
		set_window(selection, 0, end_of(selection));
		return;
	}
	if (from < 0)
		from = 0;
	if (from + width > (double)end_of(selection))
		from = (double)end_of(selection) - width;
	set_window(selection, (uint64_t)from, (uint64_t)(from + width));
}

uint64_t column_time(const struct selection *selection, unsigned int column, unsigned int columns)
{
	return selection->from + (uint64_t)((double)(selection->to - selection->from) *
					    ((double)column + 0.5) / (columns - SCALE));
}

unsigned int time_column(const struct selection *selection, uint64_t ns, unsigned int columns)
{
	unsigned int column = (unsigned int)((double)(ns - selection->from) * (columns - SCALE) /
					     (double)(selection->to - selection->from));

	return column < columns - SCALE ? column : columns - SCALE - 1;
}

/* ---- characters ---- */

static void put(struct picture *picture, unsigned int row, unsigned int column, const char *format,
		...) __attribute__((format(printf, 4, 5)));

static void put(struct picture *picture, unsigned int row, unsigned int column, const char *format,
		...)
{
	char text[1024];
	const char *at = text;
	mbstate_t state = { 0 };
	va_list args;
	wchar_t c;
	size_t bytes;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (; *at && column < picture->columns; column++) {
		bytes = mbrtowc(&c, at, strlen(at), &state);
		if (bytes == (size_t)-1 || bytes == (size_t)-2) {
			memset(&state, 0, sizeof(state));
			bytes = 1;
			c = L'?';
		}
		/* Of wide characters nobody knows here how wide. */
		picture->text[row * picture->columns + column] = wcwidth(c) == 1 ? c : L'?';
		at += bytes ?: 1;
	}
}

#define NUMBER_BYTES 32

/* "1.2M" */
static const char *short_number(double number, char text[NUMBER_BYTES])
{
	static const char units[] = { ' ', 'k', 'M', 'G', 'T' };
	unsigned int unit = 0;

	while (number >= 999.5 && unit + 1 < sizeof(units)) {
		number /= 1000;
		unit++;
	}
	snprintf(text, NUMBER_BYTES, "%.*f%c", number < 9.95 && unit ? 1 : 0, number, units[unit]);
	return text;
}

static const char *seconds(uint64_t ns, char text[NUMBER_BYTES])
{
	snprintf(text, NUMBER_BYTES, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	return text;
}

static void put_title(struct picture *picture, const struct selection *selection)
{
	char lane[NUMBER_BYTES];

	snprintf(lane, sizeof(lane), "lane %" PRIu32, selection->lane);
	put(picture, 0, 0, "%s a second, %s: %s", selection->bytes ? "Bytes" : "Events",
	    selection->lane == ALL_LANES ? "all lanes" : lane, selection->path);
}

/* A column from the bottom: full characters, and one of eighths, or a dot for less. */
static void put_bar(struct picture *picture, const struct selection *selection, unsigned int column,
		    double part, unsigned int high)
{
	double full = part * high;
	unsigned int eighths;
	wchar_t c;

	for (unsigned int i = 0; i < high; i++) {
		double here = full - i;

		if (here <= 0)
			break;
		eighths = here >= 1 ? EIGHTHS : (unsigned int)(here * EIGHTHS + 0.5);
		if (selection->ascii)
			c = here >= 0.5 ? L'#' : i ? L' ' : L'.';
		else
			c = eighths ? (wchar_t)(0x2580 + eighths) : i ? L' ' : 0x2581;
		picture->text[(ROWS_ABOVE + high - 1 - i) * picture->columns + SCALE + column] = c;
	}
}

static bool is_between(const struct selection *selection, uint64_t begin, uint64_t end)
{
	uint64_t from, to;

	return marked(selection, &from, &to) && begin < to && end > from;
}

static void put_looks(struct picture *picture, const struct selection *selection, unsigned int high)
{
	const unsigned int columns = picture->columns - SCALE;
	const double width = (double)(selection->to - selection->from) / columns;

	for (unsigned int i = 0; i < columns; i++) {
		uint64_t begin = selection->from + (uint64_t)(width * i);
		uint64_t end = selection->from + (uint64_t)(width * (i + 1));
		uint8_t look = is_between(selection, begin, end) ? LOOK_REVERSE : LOOK_PLAIN;

		if (i == time_column(selection, selection->cursor, picture->columns))
			look = LOOK_CURSOR;
		for (unsigned int row = 0; row < high; row++)
			picture->look[(ROWS_ABOVE + row) * picture->columns + SCALE + i] = look;
	}
}

/* Where the marks and the cursor are is seen without looks, too; and times. */
static void put_times(struct picture *picture, const struct selection *selection, unsigned int row)
{
	char text[NUMBER_BYTES];

	put(picture, row + 1, SCALE, "%s", seconds(selection->from, text));
	put(picture, row + 1, picture->columns - (unsigned int)strlen(seconds(selection->to, text)),
	    "%s", text);
	for (int i = 0; i < 2; i++)
		if (selection->mark[i] >= selection->from && selection->mark[i] <= selection->to)
			put(picture, row,
			    SCALE + time_column(selection, selection->mark[i], picture->columns),
			    "%c", '1' + i);
	put(picture, row, SCALE + time_column(selection, selection->cursor, picture->columns), "^");
}

static void put_lines(struct picture *picture, const struct selection *selection, unsigned int row,
		      double rate)
{
	char a[NUMBER_BYTES], b[NUMBER_BYTES], c[NUMBER_BYTES];
	uint64_t from, to;

	put(picture, row, 0, "Cursor %s s: %s a second", seconds(selection->cursor, a),
	    short_number(rate, b));
	if (marked(selection, &from, &to))
		put(picture, row + 1, 0, "Marked %s .. %s (%s s)", seconds(from, a), seconds(to, b),
		    seconds(to - from, c));
	else
		put(picture, row + 1, 0, "%s", "Space sets the marks");
	if (*selection->message)
		put(picture, row + 2, 0, "%s", selection->message);
	else
		put(picture, row + 2, 0, "%s",
		    "? help  arrows move  + - zoom  Space mark  Enter cut out  q quit");
}

int picture_make(struct picture *picture, const struct selection *selection, unsigned int columns,
		 unsigned int rows)
{
	const unsigned int bars = columns - SCALE, high = rows - ROWS_ABOVE - ROWS_BELOW;
	double *rate = calloc(bars, sizeof(*rate)), most = 0;
	char text[NUMBER_BYTES];

	*picture = (struct picture){ .columns = columns, .rows = rows };
	picture->text = calloc((size_t)columns * rows, sizeof(*picture->text));
	picture->look = calloc((size_t)columns * rows, 1);
	if (!rate || !picture->text || !picture->look) {
		free(rate);
		picture_free(picture);
		return -ENOMEM;
	}
	wmemset(picture->text, L' ', (size_t)columns * rows);
	rates(selection, selection->lane, bars, rate);
	for (unsigned int i = 0; i < bars; i++)
		most = rate[i] > most ? rate[i] : most;
	for (unsigned int i = 0; i < bars && most > 0; i++)
		put_bar(picture, selection, i, rate[i] / most, high);
	put_title(picture, selection);
	put(picture, ROWS_ABOVE, 0, "%*s", SCALE - 1, short_number(most, text));
	put(picture, ROWS_ABOVE + high / 2, 0, "%*s", SCALE - 1, short_number(most / 2, text));
	put(picture, ROWS_ABOVE + high - 1, 0, "%*s", SCALE - 1, "0 ");
	put_looks(picture, selection, high);
	put_times(picture, selection, ROWS_ABOVE + high);
	put_lines(picture, selection, ROWS_ABOVE + high + 2,
		  rate[time_column(selection, selection->cursor, columns)]);
	free(rate);
	return 0;
}

void picture_free(struct picture *picture)
{
	free(picture->text);
	free(picture->look);
	*picture = (struct picture){ 0 };
}

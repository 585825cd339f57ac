// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables for people, in as many columns as there are.
 *
 * The first rows of a table are kept, up to ROWS_KEPT, and say how wide its columns have to be. If
 * that is more than fits, columns of which nothing is known go first, then those that tell least,
 * and then what is left of names is cut. Numbers are never cut, nor do lines become too long.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "internal.h"
#include "trace/put.h"

#define ROWS_KEPT   4096
#define ROWS_FIRST  16
#define COLUMNS_MAX 32

/* Names are cut to so much when there is no other way, and sooner than columns are left out. */
#define NAME_LEAST  8
#define NAME_SHORT  14

#define BAR_PERCENT 2.5 /* a star, in a bar of so many: */
#define BAR_WIDTH   40
#define BAR_LEAST   8

#define STRONG	    "\033[1m"
#define BAR_COLOR   "\033[32m"
#define COLOR_OFF   "\033[0m"

/* What is not known. */
#define NOTHING	    "-"

struct row {
	char *cell[COLUMNS_MAX]; /* of a bar, parts of a million */
	bool strong;
};

struct fkt_layout {
	struct fkt_column column[COLUMNS_MAX];
	unsigned int columns;
	int width[COLUMNS_MAX];
	bool left_out[COLUMNS_MAX];
	int bar;
	bool fixed; /* the title is printed, and so are rows as they come */
	struct row *row;
	size_t rows;
	size_t room;
};

/* In columns of the terminal. */
static int length(const char *text)
{
	return (int)fkt_width(text, strlen(text));
}

/* Names stand to the left, and can be cut. */
static bool is_name(const struct fkt_column *column)
{
	return column->type == FKT_COLUMN_TEXT || column->type == FKT_COLUMN_THREAD;
}

static char *make_cell(const struct fkt_output *out, const struct fkt_column *column,
		       union fkt_cell cell)
{
	char text[FKT_DURATION_BYTES + FKT_COMM_BYTES + 32];

	if (fkt_column_is_text(column))
		return strdup(cell.text ?: column->type == FKT_COLUMN_TEXT ? "" : NOTHING);
	if (column->type == FKT_COLUMN_THREAD) {
		if (!cell.thread)
			return strdup("");
		fkt_thread_name(cell.thread, text);
		if (cell.thread->tid && cell.thread->tid != FKT_PID_UNKNOWN)
			sprintf(strchr(text, '\0'), "[%" PRIu32 "]", cell.thread->tid);
		return strdup(text);
	}
	if (cell.number == FKT_CELL_NONE)
		return strdup(column->type == FKT_COLUMN_BAR ? "" : NOTHING);
	if (column->type == FKT_COLUMN_DURATION)
		fkt_duration_as(out->trace, out->time, cell.number, text);
	else if (column->type == FKT_COLUMN_PERCENT)
		snprintf(text, sizeof(text), "%.2f%%", (double)cell.number / 1e4);
	else
		*fkt_put_unsigned(text, cell.number) = '\0';
	return strdup(text);
}

/* ---- widths ---- */

/* What a line takes when no name is longer than @longest. */
static int line_width(const struct fkt_layout *layout, int longest)
{
	int width = -1;

	for (unsigned int i = 0; i < layout->columns; i++) {
		if (layout->left_out[i] || layout->column[i].type == FKT_COLUMN_BAR)
			continue;
		width += 1 + (is_name(&layout->column[i]) && layout->width[i] > longest
				      ? longest
				      : layout->width[i]);
	}
	return width;
}

static bool is_empty(const struct fkt_layout *layout, unsigned int column)
{
	for (size_t i = 0; i < layout->rows; i++)
		if (layout->row[i].cell[column] && *layout->row[i].cell[column] &&
		    strcmp(layout->row[i].cell[column], NOTHING))
			return false;
	return true;
}

/* Leave out the column that tells least; false when none may go. */
static bool leave_out_one(struct fkt_layout *layout)
{
	unsigned int least = layout->columns, rank = 0;

	for (unsigned int i = 0; i < layout->columns; i++)
		if (!layout->left_out[i] && layout->column[i].rank &&
		    layout->column[i].rank >= rank) {
			rank = layout->column[i].rank;
			least = i;
		}
	if (least == layout->columns)
		return false;
	layout->left_out[least] = true;
	return true;
}

static void fit(struct fkt_layout *layout, int limit)
{
	int longest = 0;

	if (line_width(layout, INT32_MAX) <= limit)
		return;
	for (unsigned int i = 0; i < layout->columns; i++)
		layout->left_out[i] = layout->rows && layout->column[i].rank && is_empty(layout, i);
	while (line_width(layout, NAME_SHORT) > limit && leave_out_one(layout))
		;
	for (unsigned int i = 0; i < layout->columns; i++)
		if (is_name(&layout->column[i]) && layout->width[i] > longest)
			longest = layout->width[i];
	while (longest > NAME_LEAST && line_width(layout, longest) > limit)
		longest--;
	for (unsigned int i = 0; i < layout->columns; i++)
		if (is_name(&layout->column[i]) && layout->width[i] > longest)
			layout->width[i] = longest;
}

static void set_widths(struct fkt_layout *layout, int limit)
{
	int width, rest;

	for (unsigned int i = 0; i < layout->columns; i++) {
		layout->left_out[i] = false;
		layout->width[i] = length(layout->column[i].title);
		for (size_t j = 0; j < layout->rows; j++) {
			width = layout->row[j].cell[i] ? length(layout->row[j].cell[i]) : 0;
			if (width > layout->width[i])
				layout->width[i] = width;
		}
	}
	if (limit)
		fit(layout, limit);
	rest = limit ? limit - line_width(layout, INT32_MAX) - 1 : BAR_WIDTH;
	layout->bar = rest < BAR_LEAST ? 0 : rest < BAR_WIDTH ? rest : BAR_WIDTH;
}

/* ---- printing ---- */

static void put_spaces(FILE *file, int n)
{
	static const char spaces[] = "                                ";
	const int most = sizeof(spaces) - 1;

	for (; n > 0; n -= most)
		fwrite(spaces, 1, (size_t)(n < most ? n : most), file);
}

/* Cut or padded; of a thread, its number stays. */
static void print_name(FILE *file, const char *text, int width, bool thread, bool last)
{
	const char *pid = thread ? strrchr(text, '[') : NULL;
	int have = length(text), room;
	size_t some;

	if (have > width) {
		pid = pid && length(pid) < width - 1 ? pid : "";
		room = width - length(pid) - 1;
		some = fkt_fitting(text, strlen(text), (unsigned int)room);
		fprintf(file, "%.*s~%s", (int)some, text, pid);
		/* Where half a character had no room. */
		have = width - room + (int)fkt_width(text, some);
	} else {
		fputs(text, file);
	}
	put_spaces(file, last ? 0 : width - have);
}

static void print_bar(const struct fkt_output *out, const struct fkt_layout *layout,
		      const char *parts)
{
	const double percent = (double)strtoull(parts, NULL, 10) / 1e4;
	const double wanted = percent / BAR_PERCENT * layout->bar / BAR_WIDTH;
	/* A damaged trace can have more than all. */
	const int stars = wanted < layout->bar ? (int)wanted : layout->bar;

	if (!stars)
		return;
	fprintf(out->file, " %s", out->color ? BAR_COLOR : "");
	for (int i = 0; i < stars; i++)
		fputc('*', out->file);
	fputs(out->color ? COLOR_OFF : "", out->file);
}

static void print_row(const struct fkt_output *out, const struct fkt_layout *layout,
		      char *const *cells, bool strong)
{
	const struct fkt_column *column = layout->column;
	unsigned int last = 0;
	const char *space = "";

	for (unsigned int i = 0; i < layout->columns; i++)
		if (!layout->left_out[i] && column[i].type != FKT_COLUMN_BAR)
			last = i;
	if (strong && out->color)
		fputs(STRONG, out->file);
	for (unsigned int i = 0; i < layout->columns; i++) {
		if (layout->left_out[i] || !cells[i])
			continue;
		if (column[i].type == FKT_COLUMN_BAR) {
			print_bar(out, layout, cells[i]);
			continue;
		}
		fputs(space, out->file);
		if (is_name(&column[i])) {
			print_name(out->file, cells[i], layout->width[i],
				   column[i].type == FKT_COLUMN_THREAD, i == last);
		} else {
			put_spaces(out->file, layout->width[i] - length(cells[i]));
			fputs(cells[i], out->file);
		}
		space = " ";
	}
	fputs(strong && out->color ? COLOR_OFF "\n" : "\n", out->file);
}

static void free_row(const struct fkt_layout *layout, struct row *row)
{
	for (unsigned int i = 0; i < layout->columns; i++)
		free(row->cell[i]);
}

/* Print what was kept, and from now on all rows. */
static void print_kept(struct fkt_output *out, struct fkt_layout *layout)
{
	char *titles[COLUMNS_MAX];

	set_widths(layout, (int)out->width);
	layout->fixed = true;
	for (unsigned int i = 0; i < layout->columns; i++)
		titles[i] = (char *)layout->column[i].title;
	print_row(out, layout, titles, true);
	for (size_t i = 0; i < layout->rows; i++) {
		print_row(out, layout, layout->row[i].cell, layout->row[i].strong);
		free_row(layout, &layout->row[i]);
	}
	layout->rows = 0;
}

static bool is_alone(const struct fkt_layout *layout, unsigned int column)
{
	for (unsigned int i = 0; i < layout->columns; i++)
		if (i != column && !strcmp(layout->column[i].title, layout->column[column].title))
			return false;
	return true;
}

/* Once, too: what is left may still have no room. */
static void tell_too_wide(struct fkt_output *out, const struct fkt_layout *layout)
{
	char text[128];

	if (!out->width || out->told_too_wide || line_width(layout, INT32_MAX) <= (int)out->width)
		return;
	out->told_too_wide = true;
	snprintf(text, sizeof(text),
		 "(Numbers are not cut: lines take %d columns, and there are %u.)\n",
		 line_width(layout, INT32_MAX), out->width);
	fkt_print_wrapped(out, text, 1);
}

/* "Of"; of columns with the same title, what they are of, too: "Count of Softirqs" */
static void put_title(FILE *file, const struct fkt_layout *layout, unsigned int column)
{
	unsigned int group = column;

	fputs(layout->column[column].title, file);
	while (group && !is_alone(layout, group))
		group--;
	if (group != column && is_alone(layout, group))
		fprintf(file, " of %s", layout->column[group].title);
}

/* Once for all tables. */
static void tell_left_out(struct fkt_output *out, const struct fkt_layout *layout)
{
	const char *comma = "(No room for ";
	char *text = NULL;
	size_t bytes;
	FILE *file;

	tell_too_wide(out, layout);
	if (out->told_left_out)
		return;
	file = open_memstream(&text, &bytes);
	if (!file)
		return;
	for (unsigned int i = 0; i < layout->columns; i++) {
		if (!layout->left_out[i])
			continue;
		fputs(comma, file);
		put_title(file, layout, i);
		comma = ", ";
		out->told_left_out = true;
	}
	if (out->told_left_out)
		fputs("; see COLUMNS in fkt_print(1).)\n", file);
	if (!fclose(file))
		fkt_print_wrapped(out, text, 1);
	free(text);
}

void fkt_layout_end(struct fkt_output *out)
{
	struct fkt_layout *layout = out->layout;

	if (!layout)
		return;
	out->layout = NULL;
	if (!layout->fixed)
		print_kept(out, layout);
	tell_left_out(out, layout);
	free(layout->row);
	free(layout);
}

void fkt_layout_begin(struct fkt_output *out, const struct fkt_column *columns)
{
	struct fkt_layout *layout = calloc(1, sizeof(*layout));

	fkt_layout_end(out);
	if (!layout)
		return;
	for (; columns->title && layout->columns < COLUMNS_MAX; columns++)
		layout->column[layout->columns++] = *columns;
	out->layout = layout;
}

/* Most tables are short. False: no more rows are kept. */
static bool make_room(struct fkt_layout *layout)
{
	size_t room = layout->room ? 4 * layout->room : ROWS_FIRST;
	struct row *larger;

	if (layout->room >= ROWS_KEPT)
		return false;
	if (room > ROWS_KEPT)
		room = ROWS_KEPT;
	larger = realloc(layout->row, room * sizeof(*larger));
	if (!larger)
		return false;
	layout->row = larger;
	layout->room = room;
	return true;
}

void fkt_layout_row(struct fkt_output *out, const union fkt_cell *cells, bool strong)
{
	struct fkt_layout *layout = out->layout;
	struct row row = { .strong = strong };

	if (!layout)
		return;
	for (unsigned int i = 0; i < layout->columns; i++)
		row.cell[i] = make_cell(out, &layout->column[i], cells[i]);
	if (!layout->fixed && layout->rows == layout->room && !make_room(layout))
		print_kept(out, layout);
	if (!layout->fixed) {
		layout->row[layout->rows++] = row;
		return;
	}
	print_row(out, layout, row.cell, strong);
	free_row(layout, &row);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selection.h"

#define ESCAPE	   27
#define NAME_BYTES 1024
#define ZOOM_IN	   0.5
#define ZOOM_OUT   2.0

static const char *const help[] = {
	"Left, Right      move the cursor; at the edge, the window",
	"PgUp, PgDn       move the window by half of it; Home, End: to an end of it",
	"+, -  (Up, Down) zoom in, out, around the cursor",
	"a                all of the trace",
	"Space            set a mark at the cursor: the first, the second, the first, ...",
	"[, ]             set the first mark, the second one",
	"z                zoom to what is marked",
	"c                clear the marks",
	"Tab              the next lane, and all lanes together",
	"b                bytes, or events",
	"Enter            cut what is marked out, as a trace of its own (fkt_extract)",
	"?                this",
	"q                quit",
};

#define HELP_LINES (sizeof(help) / sizeof(help[0]))

static bool is_large_enough(void)
{
	return COLS >= COLUMNS_MIN && LINES >= ROWS_MIN;
}

static unsigned int columns(void)
{
	return COLS < COLUMNS_MAX ? (unsigned int)COLS : COLUMNS_MAX;
}

static void draw(const struct selection *selection)
{
	static const attr_t looks[] = {
		[LOOK_PLAIN] = A_NORMAL,
		[LOOK_REVERSE] = A_REVERSE,
		[LOOK_CURSOR] = A_REVERSE | A_BOLD,
	};
	struct picture picture;
	cchar_t cell;

	erase();
	if (!is_large_enough()) {
		mvprintw(0, 0, "%dx%d is too small", COLS, LINES);
		refresh();
		return;
	}
	if (picture_make(&picture, selection, columns(),
			 LINES < ROWS_MAX ? (unsigned int)LINES : ROWS_MAX))
		return;
	for (unsigned int row = 0; row < picture.rows; row++)
		for (unsigned int column = 0; column < picture.columns; column++) {
			size_t at = (size_t)row * picture.columns + column;

			setcchar(&cell, (wchar_t[]){ picture.text[at], 0 }, looks[picture.look[at]],
				 0, NULL);
			mvadd_wch((int)row, (int)column, &cell);
		}
	picture_free(&picture);
	refresh();
}

static void show_help(void)
{
	erase();
	for (size_t i = 0; i < HELP_LINES && (int)i < LINES - 1; i++)
		mvaddnstr((int)i, 0, help[i], COLS);
	mvaddnstr(LINES - 1, 0, "any key: back", COLS);
	refresh();
	getch();
}

/* A line of text at the bottom; false when the user wants none. */
static bool ask(const char *what, char text[NAME_BYTES])
{
	size_t bytes = strlen(text), skip;
	int key;

	curs_set(1);
	for (;;) {
		move(LINES - 1, 0);
		clrtoeol();
		addnstr(what, COLS - 1);
		/* Of a long name, its end. */
		skip = bytes + strlen(what) + 1 > (size_t)COLS
			       ? bytes + strlen(what) + 1 - (size_t)COLS
			       : 0;
		addstr(text + (skip < bytes ? skip : bytes));
		refresh();
		key = getch();
		if (key == '\n' || key == '\r' || key == KEY_ENTER || key == ESCAPE || key == ERR)
			break;
		if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && bytes)
			text[--bytes] = '\0';
		else if (key == ('U' & 31))
			text[bytes = 0] = '\0';
		else if (key >= ' ' && key < 256 && key != 127 && bytes + 1 < NAME_BYTES) {
			text[bytes++] = (char)key;
			text[bytes] = '\0';
		}
	}
	curs_set(0);
	return key != ESCAPE && key != ERR && bytes;
}

static void cut(struct selection *selection)
{
	char name[NAME_BYTES], why[sizeof(selection->message)];
	uint64_t from, to;

	if (!marked(selection, &from, &to)) {
		snprintf(selection->message, sizeof(selection->message),
			 "set two marks first: Space at one end, Space at the other");
		return;
	}
	cut_name(selection, name, sizeof(name));
	if (!ask("Write to (Esc: not): ", name))
		return;
	cut_out(selection, from, to, name, why, sizeof(why));
	memcpy(selection->message, why, sizeof(why));
}

/* By columns: at the edge of the window, that moves. */
static void move_cursor(struct selection *selection, int by)
{
	uint64_t step = (selection->to - selection->from) / columns() ?: 1;

	if (by < 0 && selection->cursor < selection->from + step)
		move_window(selection, -(int64_t)(8 * step));
	else if (by > 0 && selection->cursor + step >= selection->to)
		move_window(selection, (int64_t)(8 * step));
	if (by < 0)
		selection->cursor = selection->cursor > step ? selection->cursor - step : 0;
	else
		selection->cursor += step;
	set_window(selection, selection->from, selection->to);
}

static void set_mark(struct selection *selection)
{
	if (selection->mark[0] != NO_MARK && selection->mark[1] != NO_MARK)
		selection->mark[0] = selection->mark[1] = NO_MARK;
	selection->mark[selection->mark[0] != NO_MARK] = selection->cursor;
}

/* False: the user has seen enough. */
static bool take_key(struct selection *selection, int key)
{
	const int64_t half = (int64_t)((selection->to - selection->from) / 2);
	uint64_t from, to;

	if (key != KEY_RESIZE)
		*selection->message = '\0';
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case '?':
	case 'h':
		show_help();
		break;
	case KEY_LEFT:
		move_cursor(selection, -1);
		break;
	case KEY_RIGHT:
		move_cursor(selection, 1);
		break;
	case KEY_PPAGE:
		move_window(selection, -half);
		break;
	case KEY_NPAGE:
		move_window(selection, half);
		break;
	case KEY_HOME:
		selection->cursor = selection->from;
		break;
	case KEY_END:
		selection->cursor = selection->to - 1;
		break;
	case '+':
	case '=':
	case KEY_UP:
		zoom_window(selection, ZOOM_IN);
		break;
	case '-':
	case KEY_DOWN:
		zoom_window(selection, ZOOM_OUT);
		break;
	case 'a':
		set_window(selection, 0, UINT64_MAX);
		break;
	case ' ':
		set_mark(selection);
		break;
	case '[':
	case ']':
		selection->mark[key == ']'] = selection->cursor;
		break;
	case 'z':
		if (marked(selection, &from, &to))
			set_window(selection, from, to);
		break;
	case 'c':
		selection->mark[0] = selection->mark[1] = NO_MARK;
		break;
	case '\t':
		if (++selection->lane >= selection->times.lanes)
			selection->lane = ALL_LANES;
		break;
	case 'b':
		selection->bytes = !selection->bytes;
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		cut(selection);
		break;
	}
	return true;
}

int show_screen(struct selection *selection)
{
	SCREEN *screen = newterm(NULL, stdout, stdin);
	int key;

	if (!screen) {
		fprintf(stderr,
			"%s: this is no terminal on which it can be shown; --text prints it\n",
			program_invocation_short_name);
		return 1;
	}
	cbreak();
	noecho();
	keypad(stdscr, true);
	set_escdelay(50);
	curs_set(0);
	do {
		draw(selection);
		key = getch();
	} while (key != ERR && take_key(selection, key));
	endwin();
	delscreen(screen);
	return 0;
}

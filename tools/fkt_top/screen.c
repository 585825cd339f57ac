// SPDX-License-Identifier: GPL-2.0-or-later
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/complain.h"
#include "top.h"

#define TERMINAL   "/dev/tty"
#define LINES_MIN  6
#define COLUMNS_OF 40
/* The lines that are no table's. */
#define FRAME	   3

static const char *const help[] = {
	"Tab, Left, Right  the next view, the one before: calls, functions, threads,",
	"                  waits, stacks; also 1 to 5",
	"s                 sort by the next: time, count, name, time of all intervals",
	"Up, Down          one line further; PgUp, PgDn: a page; Home: to the first",
	"Space, p          hold what is shown, and go on",
	"n                 of a trace that is read: the next interval at once",
	"h, ?              this",
	"q, Ctrl-C         quit; a recording that was made for this ends",
	"",
	"Left is the last interval, right of \"All\" everything so far. Own time: that",
	"of what a call called is not its own.",
};

#define HELP_LINES (sizeof(help) / sizeof(help[0]))

/**
 * struct screen - the terminal
 * @screen: of curses
 * @keys: where keys come from: standard input may be the trace
 * @view, @sort: what is shown, and how
 * @skip: so many lines of it are above
 * @chosen: the user has chosen a view
 * @held: it stays as it is
 * @ended: nothing more will come
 * @text: what is shown, lines
 */
struct screen {
	SCREEN *screen;
	FILE *keys;
	enum view view;
	enum sort sort;
	size_t skip;
	bool held;
	bool ended;
	char *text;
};

static const char *const titles[VIEW_COUNT] = {
#define X(name, title) title,
	VIEWS(X)
#undef X
};

static unsigned int body_lines(void)
{
	return LINES > FRAME ? (unsigned int)(LINES - FRAME) : 1;
}

/* The text of the table and what stands above it. */
static void make_text(struct screen *screen, const struct top *top)
{
	struct fkt_output out = {
		.format = fkt_format(0),
		.width = (unsigned int)COLS,
		.trace = top->trace,
		.time = FKT_TIME_FIT,
		.first = top->first,
		.told_left_out = true, /* there is no room for that, either */
	};
	size_t bytes;

	free(screen->text);
	screen->text = NULL;
	out.file = open_memstream(&screen->text, &bytes);
	if (!out.file)
		return;
	if (top->has_last) {
		show_head(top, &out);
		if (is_empty(top, screen->view))
			fkt_table_line(&out, "%s", "(nothing was recorded of these)");
		else
			show_view(top, &out, screen->view, screen->sort,
				  (unsigned int)screen->skip + body_lines());
	}
	fclose(out.file);
}

/* Lines from @first on, of the body; its first two lines stay. */
static void draw_text(const struct screen *screen)
{
	const char *line = screen->text ?: "";
	size_t number = 0, bytes;
	int row = 1;

	for (; *line && row < LINES - 1; line += bytes + (line[bytes] == '\n'), number++) {
		bytes = strcspn(line, "\n");
		if (number >= 2 && number < 2 + screen->skip)
			continue;
		if (number == 1)
			attron(A_BOLD);
		mvaddnstr(row++, 0, line, (int)bytes);
		attroff(A_BOLD);
	}
}

static void draw(const struct screen *screen)
{
	erase();
	if (LINES < LINES_MIN || COLS < COLUMNS_OF) {
		mvprintw(0, 0, "%dx%d is too small", COLS, LINES);
		refresh();
		return;
	}
	move(0, 0);
	for (unsigned int i = 0; i < VIEW_COUNT; i++) {
		if (i == (unsigned int)screen->view)
			attron(A_REVERSE);
		printw("%u %s", i + 1, titles[i]);
		attroff(A_REVERSE);
		addstr("  ");
	}
	printw("by %s%s%s", sort_names[screen->sort], screen->held ? ", held" : "",
	       screen->ended ? ", ended" : "");
	if (screen->text)
		draw_text(screen);
	else
		mvaddstr(1, 0, "waiting for the first interval");
	mvaddnstr(LINES - 1, 0, "h help  Tab view  s sort  Space hold  q quit", COLS - 1);
	refresh();
}

static void show_help(void)
{
	erase();
	for (size_t i = 0; i < HELP_LINES && (int)i < LINES - 1; i++)
		mvaddnstr((int)i, 0, help[i], COLS);
	mvaddnstr(LINES - 1, 0, "any key: back", COLS);
	refresh();
	timeout(-1);
	getch();
	timeout(0);
}

static void set_view(struct screen *screen, unsigned int view)
{
	screen->view = (enum view)(view % VIEW_COUNT);
	screen->skip = 0;
}

/* False: the user has seen enough. @next: the interval has been looked at. */
static bool take_key(struct screen *screen, int key, bool *next)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case '?':
	case 'h':
		show_help();
		break;
	case '\t':
	case KEY_RIGHT:
		set_view(screen, screen->view + 1);
		break;
	case KEY_LEFT:
	case KEY_BTAB:
		set_view(screen, screen->view + VIEW_COUNT - 1);
		break;
	case 's':
		screen->sort = (enum sort)((screen->sort + 1) % SORT_COUNT_OF);
		break;
	case KEY_UP:
		screen->skip -= screen->skip > 0;
		break;
	case KEY_DOWN:
		screen->skip++;
		break;
	case KEY_PPAGE:
		screen->skip -= screen->skip > body_lines() ? body_lines() : screen->skip;
		break;
	case KEY_NPAGE:
		screen->skip += body_lines();
		break;
	case KEY_HOME:
		screen->skip = 0;
		break;
	case ' ':
	case 'p':
		screen->held = !screen->held;
		break;
	case 'n':
		*next = true;
		break;
	default:
		if (key >= '1' && key < '1' + VIEW_COUNT)
			set_view(screen, (unsigned int)(key - '1'));
	}
	return true;
}

bool screen_keys(struct screen *screen, const struct top *top, int wait_ms)
{
	bool taken = false, next = false;
	int key;

	timeout(wait_ms);
	while ((key = getch()) != ERR) {
		if (!take_key(screen, key, &next))
			return false;
		taken = true;
		if (next)
			break;
		timeout(0);
	}
	if (!taken)
		return true;
	/* What is held is what is known: the sums of later intervals are in its right half. */
	make_text(screen, top);
	draw(screen);
	return true;
}

void screen_show(struct screen *screen, const struct top *top)
{
	if (screen->held)
		return;
	make_text(screen, top);
	draw(screen);
}

void screen_say_end(struct screen *screen, const struct top *top)
{
	screen->ended = true;
	screen->held = false;
	screen_show(screen, top);
}

struct screen *screen_begin(const struct options *options)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return NULL;
	screen->keys = fopen(TERMINAL, "re");
	if (screen->keys)
		screen->screen = newterm(NULL, stdout, screen->keys);
	if (!screen->screen) {
		complain(TERMINAL, "this is no terminal on which it can be shown; -b prints lines");
		if (screen->keys)
			fclose(screen->keys);
		free(screen);
		return NULL;
	}
	screen->sort = options->sort;
	while (options->any_view && !options->view[screen->view])
		screen->view++;
	cbreak();
	noecho();
	keypad(stdscr, true);
	set_escdelay(50);
	curs_set(0);
	draw(screen);
	return screen;
}

void screen_end(struct screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->screen);
	fclose(screen->keys);
	free(screen->text);
	free(screen);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal: colours and keys. */
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <termcap.h>
#include <unistd.h>

#include "common/complain.h"
#include "show/table.h"
#include "terminal.h"

#define DEVICE	     "/dev/tty"
#define ESCAPE	     27
#define KEY_STOP     (KEY_MAX + 1) /* a signal, or the terminal is gone */
#define KEY_NOTHING  (KEY_MAX + 2)
/* How often it is looked at what was read meanwhile, or is recorded. */
#define WATCH_MS     300
#define WATCH_LONGER 1000
#define ZOOM_IN	     .6
#define PAN	     .2
#define FEW_COLORS   8
#define MANY_COLORS  256

static const char *const help[] = {
	"w, s, + -         zoom in, out, around the cursor",
	"a, d, Shift+arrow move by a part of what is seen",
	"Left, Right       move the cursor; at the edge, what is seen",
	"Home, End         all of the trace; its end",
	"Up, Down, j, k    the next row, the one above; PgUp, PgDn: a page",
	"Space             show or hide the threads of a process, or the kernel's",
	"Enter             what the row was at, at the cursor: call, wait, and who ended it",
	"o                 follow: to who woke it",
	"g                 go to a time: 12.5 (seconds), 900ms, 20us",
	"/                 search: a thread, by its name or number, or the next event of a name",
	"n, N or p         the next event, the one before",
	"m                 mark: an end of a span at the cursor, and the other one",
	"[, ]              set one end; f: zoom to the span",
	"t                 what happened in it, as fkt_print's tables (without: what is seen)",
	"Esc               close what is open; mark and search for nothing",
	"?                 this",
	"q                 quit",
};

#define HELP_LINES (sizeof(help) / sizeof(help[0]))
/* So wide are its keys. */
#define HELP_SIDE  18

/**
 * struct screen - the terminal
 * @terminal: what is looked at
 * @screen: of curses; @keys: where keys come from, for standard input may be the trace
 * @signals: a descriptor for those that end it
 * @pair: pairs of colours, by enum hue twice; 0: not made yet
 */
struct screen {
	struct terminal terminal;
	SCREEN *screen;
	FILE *keys;
	int signals;
	int pair[HUES][HUES];
};

/* ---- what is wrong ---- */

#define WARNINGS 16

/**
 * said - of what is wrong with the trace while it is looked at, each sentence once
 * @on: the screen shows the trace; @shown: so many of them were said there
 */
static struct {
	pthread_mutex_t lock;
	bool on;
	unsigned int count;
	unsigned int shown;
	char sentence[WARNINGS][FKT_ERROR_BYTES];
} said = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool screen_warn(const char *sentence)
{
	unsigned int i = 0;
	bool on;

	pthread_mutex_lock(&said.lock);
	on = said.on;
	while (on && i < said.count && strncmp(said.sentence[i], sentence, FKT_ERROR_BYTES - 1))
		i++;
	if (on && i == said.count && i < WARNINGS)
		snprintf(said.sentence[said.count++], FKT_ERROR_BYTES, "%s", sentence);
	pthread_mutex_unlock(&said.lock);
	return on;
}

static void begin_warnings(void)
{
	pthread_mutex_lock(&said.lock);
	said.on = true;
	pthread_mutex_unlock(&said.lock);
}

/* In the last line, until a key is pressed. */
static void show_warning(struct terminal *terminal)
{
	pthread_mutex_lock(&said.lock);
	if (said.shown < said.count)
		snprintf(terminal->message, sizeof(terminal->message), "%s",
			 said.sentence[said.shown++]);
	pthread_mutex_unlock(&said.lock);
}

/* Where they stay. */
static void end_warnings(const char *name)
{
	pthread_mutex_lock(&said.lock);
	said.on = false;
	pthread_mutex_unlock(&said.lock);
	for (unsigned int i = 0; i < said.count; i++)
		complain(name, said.sentence[i]);
}

/* ---- colours ---- */

/* The page's, of 256, and of 8. */
static const struct {
	short many;
	short few;
} colors[HUES] = {
	[HUE_NONE] = { -1, -1 },
	[HUE_FAINT] = { 245, -1 },
	[HUE_RUNNING] = { 32, COLOR_BLUE },
	[HUE_READY] = { 214, COLOR_YELLOW },
	[HUE_BLOCKED] = { 166, COLOR_RED },
	[HUE_SLEEPING] = { 244, -1 },
	[HUE_UNKNOWN] = { 245, -1 },
	[HUE_IRQ] = { 184, COLOR_YELLOW },
	[HUE_SOFTIRQ] = { 175, COLOR_MAGENTA },
	[HUE_LOSS] = { 166, COLOR_RED },
	[HUE_MARK] = { 32, COLOR_BLUE },
	[HUE_VALUE] = { 140, COLOR_MAGENTA },
	[HUE_ON] = { 16, COLOR_BLACK },
	[HUE_NAMES] = { 117, COLOR_CYAN },
	[HUE_NAMES + 1] = { 222, COLOR_YELLOW },
	[HUE_NAMES + 2] = { 79, COLOR_GREEN },
	[HUE_NAMES + 3] = { 182, COLOR_MAGENTA },
	[HUE_NAMES + 4] = { 228, COLOR_WHITE },
	[HUE_NAMES + 5] = { 111, COLOR_CYAN },
	[HUE_NAMES + 6] = { 216, COLOR_GREEN },
	[HUE_NAMES + 7] = { 150, COLOR_WHITE },
};

static int pair_of(struct screen *screen, uint8_t fore, uint8_t back)
{
	const bool many = COLORS >= MANY_COLORS;
	int *pair = &screen->pair[fore][back];

	if (!*pair && (fore || back))
		*pair = alloc_pair(many ? colors[fore].many : colors[fore].few,
				   many ? colors[back].many : colors[back].few);
	return *pair > 0 ? *pair : 0;
}

static void put_glyph(struct screen *screen, unsigned int line, unsigned int column,
		      const struct glyph *glyph)
{
	attr_t attributes = A_NORMAL;
	int pair = 0;
	cchar_t cell;

	if (glyph->look & LOOK_REVERSE)
		attributes |= A_REVERSE;
	if (glyph->look & LOOK_BOLD)
		attributes |= A_BOLD;
	if (glyph->look & LOOK_UNDERLINE)
		attributes |= A_UNDERLINE;
	if (!screen->terminal.mono)
		pair = pair_of(screen, glyph->fore, glyph->back);
	else if (glyph->back)
		attributes ^= A_REVERSE;
	setcchar(&cell, (wchar_t[]){ glyph->c, 0 }, attributes, 0, &pair);
	mvadd_wch((int)line, (int)column, &cell);
}

static bool is_large_enough(void)
{
	return COLS >= (int)COLUMNS_MIN && LINES >= (int)LINES_MIN;
}

static void draw(struct screen *screen)
{
	const struct terminal *terminal = &screen->terminal;
	struct glyph *glyphs;

	erase();
	if (!is_large_enough()) {
		mvprintw(0, 0, "%dx%d is too small", COLS, LINES);
		refresh();
		return;
	}
	glyphs = calloc((size_t)terminal->columns * terminal->lines, sizeof(*glyphs));
	if (glyphs && !terminal_paint(terminal, glyphs))
		for (unsigned int line = 0; line < terminal->lines; line++)
			for (unsigned int column = 0; column < terminal->columns; column++)
				put_glyph(screen, line, column,
					  &glyphs[(size_t)line * terminal->columns + column]);
	free(glyphs);
	refresh();
}

/* What is seen may be another part than before. */
static void draw_anew(struct screen *screen)
{
	struct terminal *terminal = &screen->terminal;
	int err = 0;

	terminal_resize(terminal, (unsigned int)COLS, (unsigned int)LINES);
	if (is_large_enough())
		err = terminal_ask(terminal);
	if (err)
		snprintf(terminal->message, sizeof(terminal->message), "%s", strerror(-err));
	show_warning(terminal);
	draw(screen);
}

/* ---- keys ---- */

/* The next one, or KEY_NOTHING when none comes for so long; -1: for any time. */
static int read_key(struct screen *screen, int wait_ms)
{
	struct pollfd in[] = { { .fd = fileno(screen->keys), .events = POLLIN },
			       { .fd = screen->signals, .events = POLLIN } };
	int key = getch(), ready;

	if (key != ERR)
		return key;
	ready = poll(in, 2, wait_ms);
	if (in[1].revents)
		return KEY_STOP;
	/* Also when the size has changed, of which curses hears by a signal. */
	key = getch();
	if (key != ERR)
		return key;
	return ready > 0 && in[0].revents & (POLLHUP | POLLERR) ? KEY_STOP : KEY_NOTHING;
}

static int await_key(struct screen *screen)
{
	int key;

	do {
		key = read_key(screen, -1);
	} while (key == KEY_NOTHING);
	return key;
}

/* How many lines of a text there is room for above the last line. */
static size_t page_lines(void)
{
	return LINES > 2 ? (size_t)LINES - 1 : 1;
}

/* Keys that scroll a text of so many lines, of which a page is seen: whether it is one of them. */
static bool take_scrolling_key(int key, size_t lines, size_t page, size_t *skip)
{
	const size_t most = lines > page ? lines - page : 0;
	size_t at = *skip;

	switch (key) {
	case KEY_UP:
	case 'k':
		at -= at > 0;
		break;
	case KEY_DOWN:
	case 'j':
		at++;
		break;
	case KEY_PPAGE:
	case 'b':
		at -= at < page ? at : page;
		break;
	case KEY_NPAGE:
	case ' ':
		at += page;
		break;
	case KEY_HOME:
	case 'g':
		at = 0;
		break;
	case KEY_END:
	case 'G':
		at = most;
		break;
	default:
		return false;
	}
	*skip = at < most ? at : most;
	return true;
}

/* Its lines, of which long ones take several, from @skip on: how many there are. */
static size_t draw_help(size_t skip)
{
	const size_t wide = COLS > HELP_SIDE + 10 ? (size_t)COLS - HELP_SIDE : 10;
	size_t line = 0, bytes;
	const char *at;

	erase();
	for (size_t i = 0; i < HELP_LINES; i++)
		for (at = help[i] + HELP_SIDE; *at; line++) {
			bytes = strlen(at);
			if (bytes > wide)
				for (bytes = wide; bytes > 1 && at[bytes] != ' ';)
					bytes--;
			if (line >= skip && line - skip < page_lines()) {
				if (at == help[i] + HELP_SIDE)
					mvaddnstr((int)(line - skip), 0, help[i], HELP_SIDE);
				mvaddnstr((int)(line - skip), HELP_SIDE, at, (int)bytes);
			}
			at += bytes;
			at += *at == ' ';
		}
	mvaddnstr(LINES - 1, 0,
		  line > page_lines() ? "Down, Up: more  any other key: back" : "any key: back",
		  COLS - 1);
	refresh();
	return line;
}

static bool show_help(struct screen *screen)
{
	size_t skip = 0, lines;
	int key;

	do {
		lines = draw_help(skip);
		key = await_key(screen);
		if (key == KEY_RESIZE)
			skip = 0;
	} while (key == KEY_RESIZE ||
		 (lines > page_lines() && take_scrolling_key(key, lines, page_lines(), &skip)));
	return key != KEY_STOP;
}

/* Of what is typed, what there is room for is its end. */
static void draw_prompt(const char *what, const char *text)
{
	const int left = COLS - 1 - (int)strlen(what);
	const unsigned int room = left > 1 ? (unsigned int)left : 1;

	while (fkt_fitting(text, strlen(text), room) < strlen(text))
		do {
			text++;
		} while (((unsigned char)*text & 0xc0) == 0x80);
	move(LINES - 1, 0);
	clrtoeol();
	addnstr(what, COLS - 1);
	addstr(text);
	refresh();
}

/* A line of text at the bottom: false when the user wants none, or @stop. */
static bool ask(struct screen *screen, const char *what, char *text, size_t room, bool *stop)
{
	size_t bytes = strlen(text);
	int key;

	curs_set(1);
	for (;;) {
		draw_prompt(what, text);
		key = await_key(screen);
		if (key == '\n' || key == '\r' || key == KEY_ENTER || key == ESCAPE ||
		    key == KEY_STOP)
			break;
		if (key == KEY_RESIZE)
			draw_anew(screen);
		else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && bytes) {
			/* Of a character, all bytes. */
			do {
				bytes--;
			} while (bytes && ((unsigned char)text[bytes] & 0xc0) == 0x80);
			text[bytes] = '\0';
		} else if (key == ('U' & 31)) {
			text[bytes = 0] = '\0';
		} else if (key >= ' ' && key < 256 && key != 127 && bytes + 1 < room) {
			text[bytes++] = (char)key;
			text[bytes] = '\0';
		}
	}
	curs_set(0);
	*stop = key == KEY_STOP;
	return key == '\n' || key == '\r' || key == KEY_ENTER;
}

/* ---- tables ---- */

static const struct {
	enum table table;
	const char *name;
} tables[] = {
	{ TABLE_SUMMARY, "summary" }, { TABLE_WAITS, "waits" },	    { TABLE_BY, "functions" },
	{ TABLE_SPANS, "calls" },     { TABLE_CALLS, "who calls" }, { TABLE_NOISE, "noise" },
	{ TABLE_PROFILE, "samples" }, { TABLE_EVENTS, "events" },
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

/**
 * struct table_job - a table that is made by another thread, for it may take long
 * @ends: it is ended when the first one is closed; it closes the other one
 */
struct table_job {
	struct view *view;
	struct request request;
	unsigned int columns;
	int ends[2];
	struct answer text;
	int err;
};

static void *make_table(void *arg)
{
	struct table_job *job = arg;

	job->err = text_table(job->view, &job->request, job->ends[1], job->columns, &job->text);
	shutdown(job->ends[1], SHUT_RDWR);
	return NULL;
}

/* False: a signal has come. @text: to be freed; empty when the user has not waited for it. */
static bool await_table(struct screen *screen, unsigned int table, struct answer *text)
{
	struct terminal *terminal = &screen->terminal;
	struct table_job job = {
		.view = terminal->view,
		.request = { .table = tables[table].table },
		.columns = terminal->columns,
	};
	struct pollfd in[] = { { .fd = fileno(screen->keys), .events = POLLIN },
			       { .fd = screen->signals, .events = POLLIN },
			       { .events = POLLIN } };
	pthread_t thread;
	int key;

	*text = (struct answer){ 0 };
	if (!terminal_marked(terminal, &job.request.from, &job.request.to)) {
		job.request.from = terminal->from;
		job.request.to = terminal->to;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, job.ends))
		return true;
	if (pthread_create(&thread, NULL, make_table, &job)) {
		close(job.ends[0]);
		close(job.ends[1]);
		return true;
	}
	erase();
	mvaddnstr(0, 0, "Summing up ... (any key: no more)", COLS);
	refresh();
	in[2].fd = job.ends[0];
	while (poll(in, 3, -1) < 0 && errno == EINTR)
		;
	/* It sees that nobody waits for it. */
	close(job.ends[0]);
	pthread_join(thread, NULL);
	close(job.ends[1]);
	if (in[2].revents) {
		if (job.err)
			answer_text(&job.text, "%s\n", strerror(-job.err));
		*text = job.text;
	} else {
		answer_free(&job.text);
		/* The key that said so; the size may have changed before it. */
		do {
			key = getch();
		} while (key == KEY_RESIZE);
	}
	return !in[1].revents;
}

/* The tables' names, of which there are those that there is room for, and the chosen one. */
static void draw_names(unsigned int table)
{
	unsigned int first = 0;
	char text[32];
	int column;

	do {
		column = 0;
		for (unsigned int i = first; i <= table; i++)
			column += 3 + (int)strlen(tables[i].name);
	} while (column > COLS + 1 && first++ < table);
	column = 0;
	for (unsigned int i = first; i < TABLES && column < COLS; i++) {
		snprintf(text, sizeof(text), "%u %s", i + 1, tables[i].name);
		if (i == table)
			attron(A_REVERSE);
		mvaddnstr(0, column, text, COLS - column);
		attroff(A_REVERSE);
		column += (int)strlen(text) + 1;
	}
}

/* Lines of a table from @skip on: how many there are. */
static size_t draw_table(unsigned int table, const struct answer *text, size_t skip)
{
	const char *at = text->data, *end = text->data + text->bytes;
	char line[COLUMNS_MAX + 1];
	size_t number = 0, bytes;
	int row = 1;

	erase();
	draw_names(table);
	for (; at && at < end; at += bytes + 1, number++) {
		bytes = (size_t)((char *)(memchr(at, '\n', (size_t)(end - at)) ?: end) - at);
		if (number < skip || row >= LINES - 1)
			continue;
		snprintf(line, sizeof(line), "%.*s",
			 (int)(bytes < COLUMNS_MAX ? bytes : COLUMNS_MAX), at);
		fkt_sanitize(line);
		mvaddnstr(row++, 0, line, (int)fkt_fitting(line, strlen(line), (unsigned int)COLS));
	}
	mvaddnstr(LINES - 1, 0, "Esc: back  Tab, 1 to 8: another table  Up, Down: scroll",
		  COLS - 1);
	refresh();
	return number;
}

/* False: a signal has come. */
static bool show_tables(struct screen *screen)
{
	unsigned int table = 0;
	struct answer text = { 0 };
	size_t skip = 0, lines, page;
	bool goes_on = await_table(screen, table, &text);
	int key;

	while (goes_on && text.bytes) {
		const unsigned int was = table;
		bool again = false;

		page = LINES > 2 ? (size_t)LINES - 2 : 1;
		lines = draw_table(table, &text, skip);
		key = await_key(screen);
		switch (key) {
		case KEY_STOP:
			goes_on = false;
			break;
		case '\t':
		case KEY_RIGHT:
			table = (table + 1) % TABLES;
			break;
		case KEY_BTAB:
		case KEY_LEFT:
			table = (table + TABLES - 1) % TABLES;
			break;
		case KEY_RESIZE:
			/* It is made for a width. */
			again = screen->terminal.columns != (unsigned int)COLS;
			terminal_resize(&screen->terminal, (unsigned int)COLS, (unsigned int)LINES);
			break;
		default:
			if (take_scrolling_key(key, lines, page, &skip))
				break;
			if (key >= '1' && key < '1' + (int)TABLES)
				table = (unsigned int)(key - '1');
			else
				answer_free(&text);
		}
		if (table == was && !again)
			continue;
		answer_free(&text);
		skip = 0;
		goes_on = await_table(screen, table, &text);
	}
	answer_free(&text);
	return goes_on;
}

/* ---- what keys do ---- */

static void set_mark(struct terminal *terminal)
{
	if (terminal->mark[0] != NO_MARK && terminal->mark[1] != NO_MARK)
		terminal->mark[0] = terminal->mark[1] = NO_MARK;
	terminal->mark[terminal->mark[0] != NO_MARK] = terminal->cursor;
	terminal_sum_up(terminal);
}

/* The other end is that of what is seen, where there is none. */
static void set_end(struct terminal *terminal, bool end)
{
	uint64_t from = terminal->from, to = terminal->to;

	terminal_marked(terminal, &from, &to);
	terminal->mark[0] = end ? from : terminal->cursor;
	terminal->mark[1] = end ? terminal->cursor : to;
	terminal_sum_up(terminal);
}

static void escape(struct terminal *terminal)
{
	if (terminal->panel.bytes) {
		answer_free(&terminal->panel);
		return;
	}
	terminal->mark[0] = terminal->mark[1] = NO_MARK;
	*terminal->marked = '\0';
	terminal_filter(terminal, "");
}

static void say_searching(void)
{
	mvaddnstr(LINES - 1, 0, "Searching ...", COLS - 1);
	clrtoeol();
	refresh();
}

/* False: a signal has come. */
static bool search(struct screen *screen)
{
	struct terminal *terminal = &screen->terminal;
	char text[REQUEST_TEXT_BYTES] = "";
	bool stop, given = ask(screen, "/", text, sizeof(text), &stop);

	if (given) {
		terminal_filter(terminal, text);
		if (*text) {
			say_searching();
			terminal_find(terminal, false);
		}
	}
	return !stop;
}

/* False: a signal has come. */
static bool go_to(struct screen *screen)
{
	struct terminal *terminal = &screen->terminal;
	char text[REQUEST_TEXT_BYTES] = "", *unit;
	uint64_t ns;
	bool stop;

	if (!ask(screen, "Go to: ", text, sizeof(text), &stop) || !*text)
		return !stop;
	/* As it is shown, a unit has a space before it. */
	while ((unit = strchr(text, ' ')))
		memmove(unit, unit + 1, strlen(unit));
	if (fkt_parse_time(text, &ns))
		terminal_go(terminal, ns);
	else
		snprintf(terminal->message, sizeof(terminal->message),
			 "%s is no time, such as 12.5, 900ms or 20us", text);
	return true;
}

/* Keys that move: whether it is one of them. */
static bool take_moving_key(struct terminal *terminal, int key)
{
	const uint64_t span = terminal->to - terminal->from;
	const int page = (int)terminal_body(terminal) - 1;
	uint64_t from, to;

	switch (key) {
	case 'w':
	case '+':
	case '=':
		terminal_zoom(terminal, ZOOM_IN);
		break;
	case 's':
	case '-':
		terminal_zoom(terminal, 1 / ZOOM_IN);
		break;
	case 'a':
	case KEY_SLEFT:
		terminal_pan(terminal, -PAN);
		break;
	case 'd':
	case KEY_SRIGHT:
		terminal_pan(terminal, PAN);
		break;
	case KEY_LEFT:
		terminal_step(terminal, -1);
		break;
	case KEY_RIGHT:
		terminal_step(terminal, 1);
		break;
	case KEY_HOME:
		terminal_show(terminal, 0, terminal->end);
		break;
	case KEY_END:
		terminal->cursor = terminal->end;
		terminal_show(terminal, terminal->end > span ? terminal->end - span : 0,
			      terminal->end);
		break;
	case 'j':
	case KEY_DOWN:
		terminal_choose(terminal, 1);
		break;
	case 'k':
	case KEY_UP:
		terminal_choose(terminal, -1);
		break;
	case KEY_NPAGE:
		terminal_choose(terminal, page);
		break;
	case KEY_PPAGE:
		terminal_choose(terminal, -page);
		break;
	case ' ':
		terminal_fold(terminal);
		break;
	case 'f':
		if (terminal_marked(terminal, &from, &to))
			terminal_show(terminal, from, to);
		break;
	default:
		return false;
	}
	return true;
}

/* False: the user has seen enough. */
static bool take_key(struct screen *screen, int key)
{
	struct terminal *terminal = &screen->terminal;

	if (key == KEY_STOP || key == 'q' || key == 'Q')
		return false;
	if (key == KEY_RESIZE) {
		terminal_resize(terminal, (unsigned int)COLS, (unsigned int)LINES);
		return true;
	}
	*terminal->message = '\0';
	if (take_moving_key(terminal, key))
		return true;
	switch (key) {
	case '?':
	case 'h':
		return show_help(screen);
	case 't':
		return show_tables(screen);
	case '/':
		return search(screen);
	case 'g':
		return go_to(screen);
	case 'n':
	case 'N':
	case 'p':
		say_searching();
		terminal_find(terminal, key != 'n');
		break;
	case 'm':
		set_mark(terminal);
		break;
	case '[':
	case ']':
		set_end(terminal, key == ']');
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		terminal_moment(terminal);
		break;
	case 'o':
		terminal_follow(terminal);
		break;
	case ESCAPE:
		escape(terminal);
		break;
	}
	return true;
}

/* ---- */

static void show(struct screen *screen)
{
	struct terminal *terminal = &screen->terminal;
	bool goes_on = take_key(screen, KEY_RESIZE), taken = true;
	int key, wait = WATCH_MS, err;

	while (goes_on) {
		err = taken ? 0 : terminal_refresh(terminal);
		if (err)
			snprintf(terminal->message, sizeof(terminal->message), "%s",
				 strerror(-err));
		draw_anew(screen);
		key = read_key(screen, terminal->progress.done && terminal->complete ? -1 : wait);
		taken = key != KEY_NOTHING;
		wait = taken ? WATCH_MS : wait < WATCH_LONGER ? wait * 3 / 2 : WATCH_LONGER;
		/* What is typed fast is drawn once. */
		while (goes_on && key != KEY_NOTHING) {
			goes_on = take_key(screen, key);
			key = goes_on ? read_key(screen, 0) : KEY_NOTHING;
		}
	}
}

static void block(int how, const int *signals, size_t count)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(how, &set, NULL);
}

static bool begin(struct screen *screen)
{
	/* Those that end it are blocked in all threads; curses has to hear of these itself. */
	static const int of_curses[] = { SIGWINCH, SIGTSTP };
	const char *plain = getenv("NO_COLOR");
	sigset_t ending;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGQUIT);
	screen->signals = signalfd(-1, &ending, SFD_CLOEXEC);
	screen->keys = fopen(DEVICE, "re");
	if (screen->keys && screen->signals >= 0 && isatty(STDOUT_FILENO))
		screen->screen = newterm(NULL, stdout, screen->keys);
	if (!screen->screen)
		return false;
	/* One whose cursor can't be moved shows lines alone. */
	if (!tgetstr("cm", NULL)) {
		endwin();
		delscreen(screen->screen);
		return false;
	}
	block(SIG_UNBLOCK, of_curses, 2);
	cbreak();
	noecho();
	nodelay(stdscr, true);
	keypad(stdscr, true);
	set_escdelay(50);
	curs_set(0);
	screen->terminal.mono = (plain && *plain) || !has_colors();
	if (!screen->terminal.mono) {
		start_color();
		use_default_colors();
		screen->terminal.mono = COLORS < FEW_COLORS;
	}
	return true;
}

int show_screen(struct view *view)
{
	struct screen *screen = calloc(1, sizeof(*screen));
	int status = 1, err = screen ? 0 : -ENOMEM;

	setlocale(LC_CTYPE, "");
	if (!err)
		err = terminal_begin(&screen->terminal, view);
	if (err) {
		complain(view->name, strerror(-err));
		goto out_free;
	}
	screen->terminal.ascii = strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!begin(screen)) {
		complain("--tui",
			 "this is no terminal on which it can be shown; fkt_print prints a trace");
		goto out_close;
	}
	begin_warnings();
	show(screen);
	endwin();
	end_warnings(view->name);
	delscreen(screen->screen);
	status = 0;
out_close:
	if (screen->keys)
		fclose(screen->keys);
	if (screen->signals >= 0)
		close(screen->signals);
	terminal_free(&screen->terminal);
out_free:
	free(screen);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --flamegraph: one file, which needs no other. Names are text, never markup; the script looks at
 * numbers in attributes, and at text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fkt/trace.h>

#include "flame.h"

#define WIDTH	   1200
#define MARGIN	   10
#define TOP	   56
#define BOTTOM	   26
#define ROW	   17
#define LETTER	   6.7 /* the width of one, of 11 pixels */
/* What is less than this part of all is not drawn. */
#define DRAWN_PART 10000

static const char script[] =
#include "flame_js.inc"
	;

struct drawing {
	FILE *file;
	struct flame *flame;
	struct paths_order order;
	uint64_t *was; /* of each node, its total before */
	uint64_t all;
	uint64_t change; /* the largest */
	unsigned int depth;
	unsigned int height;
	uint64_t left_out; /* nodes */
};

/* Text in XML, in attributes, too. What XML cannot hold is not there. */
static void put_text(FILE *file, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		const unsigned char c = (unsigned char)text[i];

		/* U+FFFE and U+FFFF. */
		if (c == 0xef && i + 2 < bytes && (unsigned char)text[i + 1] == 0xbf &&
		    (unsigned char)text[i + 2] >= 0xbe) {
			putc('?', file);
			i += 2;
		} else if (c < ' ' || c == 0x7f) {
			putc('?', file);
		} else if (strchr("&<>\"'", c)) {
			fprintf(file, "&#%u;", c);
		} else {
			putc(c, file);
		}
	}
}

#define TIME_BYTES 32

static const char *put_time(uint64_t ns, char text[TIME_BYTES])
{
	if (ns < 1000)
		snprintf(text, TIME_BYTES, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(text, TIME_BYTES, "%.3f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, TIME_BYTES, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, TIME_BYTES, "%.3f s", (double)ns / 1e9);
	return text;
}

/* The same name has the same colour in each picture; its kind says which colours there are. */
static void put_colour(const struct drawing *drawing, const char *name, uint32_t node)
{
	unsigned int h = 0, r, g, b;
	int64_t change;

	if (drawing->was) {
		change = (int64_t)(drawing->order.total[node] - drawing->was[node]);
		h = (unsigned int)(200.0 * (double)(change < 0 ? -change : change) /
				   (double)(drawing->change ?: 1));
		r = change < 0 ? 245 - h : 245;
		g = 245 - h;
		b = change > 0 ? 245 - h : 245;
		fprintf(drawing->file, "rgb(%u,%u,%u)", r, g, b);
		return;
	}
	for (const char *c = name; *c; c++)
		h = h * 31 + (unsigned char)*c;
	h = (h ^ h >> 9) % 40;
	switch (*name) {
	case PATHS_THREAD:
		r = 170 + h / 2, g = 190 + h / 2, b = 205 + h;
		break;
	case PATHS_SYSCALL:
		r = 240, g = 150 + h, b = 60 + h / 2;
		break;
	case PATHS_FUNCTION:
		r = 235 - h / 4, g = 200 + h, b = 80 + h;
		break;
	case PATHS_INTERRUPT:
		r = 225 + h / 2, g = 110 + h, b = 120 + h;
		break;
	case PATHS_OUTSIDE:
		r = 130 + h, g = 205 + h / 2, b = 130 + h;
		break;
	default:
		r = g = b = 190 + h;
	}
	fprintf(drawing->file, "rgb(%u,%u,%u)", r, g, b);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* "sys_read: 1.2 ms, 3.4 % of all; 0.5 ms of its own" */
static void put_title(const struct drawing *drawing, const char *name, uint32_t node)
{
	const struct flame *flame = drawing->flame;
	uint64_t total = drawing->order.total[node], own = flame->paths.node[node].weight, change;
	char text[TIME_BYTES];

	fputs("<title>", drawing->file);
	put_text(drawing->file, name, strlen(name));
	fprintf(drawing->file, ": %s, %.2f %% of all", put_time(total, text),
		percent(total, drawing->all));
	if (own && own != total)
		fprintf(drawing->file, "; %s of its own", put_time(own, text));
	if (drawing->was) {
		change = total > drawing->was[node] ? total - drawing->was[node]
						    : drawing->was[node] - total;
		fprintf(drawing->file, "; before %s,", put_time(drawing->was[node], text));
		fprintf(drawing->file, " %s%s", total < drawing->was[node] ? "-" : "+",
			put_time(change, text));
	}
	fputs("</title>", drawing->file);
}

static void put_frame(struct drawing *drawing, uint32_t node, uint64_t at, unsigned int depth)
{
	const struct flame *flame = drawing->flame;
	uint64_t total = drawing->order.total[node];
	const char *name = node ? flame->names->name[flame->paths.node[node].key] : "Xall";
	double scale = (double)(WIDTH - 2 * MARGIN) / (double)drawing->all;
	double x = MARGIN + (double)at * scale, width = (double)total * scale;
	unsigned int y = drawing->height - BOTTOM - (depth + 1) * ROW;
	size_t room = width > 2 * LETTER ? (size_t)((width - 6) / LETTER) : 0;
	size_t bytes = strlen(name + 1);
	FILE *file = drawing->file;

	fprintf(file, "<g class=\"f\" data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-d=\"%u\">",
		at, total, depth);
	put_title(drawing, name + 1, node);
	fprintf(file, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\" fill=\"", x, y, width,
		ROW - 1);
	put_colour(drawing, name, node);
	fprintf(file, "\"/><text x=\"%.1f\" y=\"%u\">", x + 3, y + 12);
	/* Not within a character. */
	if (bytes > room) {
		bytes = room > 2 ? room - 2 : 0;
		while (bytes && (name[1 + bytes] & 0xc0) == 0x80)
			bytes--;
		put_text(file, name + 1, bytes);
		if (bytes)
			fputs("..", file);
	} else {
		put_text(file, name + 1, bytes);
	}
	fputs("</text></g>\n", file);
}

static bool is_drawn(const struct drawing *drawing, uint32_t node)
{
	return drawing->order.total[node] > drawing->all / DRAWN_PART;
}

/* Where each begins: behind those before it that hang on the same one. */
static uint64_t *find_places(const struct drawing *drawing)
{
	const struct fkt_paths *paths = &drawing->flame->paths;
	const struct paths_order *order = &drawing->order;
	uint64_t *at = calloc(paths->count, sizeof(*at)), *taken;
	uint32_t node, above;

	taken = calloc(paths->count, sizeof(*taken));
	for (uint32_t i = 1; at && taken && i < paths->count; i++) {
		node = order->node[i];
		above = paths->node[node].above;
		at[node] = at[above] + taken[above];
		taken[above] += order->total[node];
	}
	if (!taken) {
		free(at);
		at = NULL;
	}
	free(taken);
	return at;
}

static int put_frames(struct drawing *drawing)
{
	const struct fkt_paths *paths = &drawing->flame->paths;
	const struct paths_order *order = &drawing->order;
	uint64_t *at = find_places(drawing);
	uint32_t node;

	if (!at)
		return -ENOMEM;
	for (uint32_t i = 0; i < paths->count; i++) {
		node = order->node[i];
		if (!node || is_drawn(drawing, node))
			put_frame(drawing, node, at[node], order->depth[i]);
		else if (order->total[node] &&
			 (!paths->node[node].above || is_drawn(drawing, paths->node[node].above)))
			drawing->left_out++;
	}
	free(at);
	return 0;
}

/* How many rows. */
static unsigned int depth_of(const struct drawing *drawing)
{
	unsigned int depth = 0;

	for (uint32_t i = 1; i < drawing->flame->paths.count; i++)
		if (is_drawn(drawing, drawing->order.node[i]) && drawing->order.depth[i] > depth)
			depth = drawing->order.depth[i];
	return depth + 1;
}

/* What all was before. */
static int find_was(struct drawing *drawing)
{
	struct fkt_paths *paths = &drawing->flame->paths, *before = drawing->flame->before;
	uint32_t *old;
	uint64_t *was;
	int64_t change;

	if (!before)
		return 0;
	drawing->was = calloc(paths->count, sizeof(*drawing->was));
	old = paths_old(paths, before);
	if (!drawing->was || !old) {
		free(old);
		return -ENOMEM;
	}
	was = drawing->was;
	for (uint32_t i = 1; i < paths->count; i++)
		was[i] = before->node[old[i]].weight;
	was[FKT_PATHS_ROOT] = before->node[FKT_PATHS_ROOT].weight;
	for (uint32_t i = paths->count; i-- > 1;) {
		was[paths->node[i].above] += was[i];
		change = (int64_t)(drawing->order.total[i] - was[i]);
		if ((uint64_t)(change < 0 ? -change : change) > drawing->change)
			drawing->change = (uint64_t)(change < 0 ? -change : change);
	}
	free(old);
	return 0;
}

static void put_head(const struct drawing *drawing)
{
	static const struct {
		char kind;
		const char *name;
	} kinds[] = {
		{ PATHS_THREAD, "threads" },	    { PATHS_SYSCALL, "system calls" },
		{ PATHS_FUNCTION, "functions" },    { PATHS_INTERRUPT, "interrupts" },
		{ PATHS_OUTSIDE, "outside calls" },
	};
	FILE *file = drawing->file;
	char time[TIME_BYTES];
	int x = MARGIN;

	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" data-all=\"%" PRIu64 "\">\n"
		"<style>text{font:11px monospace;fill:#111}g.f{cursor:pointer}"
		"g.f text{pointer-events:none}g.f rect{stroke:#fdfdf8;stroke-width:.5}g.f:hover rect{stroke:#000;stroke-width:1}"
		"#title{font-size:16px}.button{cursor:pointer;text-decoration:underline}"
		"input{font:11px monospace;width:180px;height:18px;box-sizing:border-box}"
		"g.hidden{display:none}g.around{opacity:.5}g.found rect{fill:#e600e6}"
		"g.found text{fill:#fff}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fdfdf8\"/>\n"
		"<text id=\"title\" x=\"%d\" y=\"22\">",
		WIDTH, drawing->height, WIDTH, drawing->height, drawing->all, MARGIN);
	put_text(file, drawing->flame->title, strlen(drawing->flame->title));
	fprintf(file, ": %s", put_time(drawing->all, time));
	if (drawing->was)
		fprintf(file, ", before %s", put_time(drawing->was[FKT_PATHS_ROOT], time));
	fputs("</text>\n", file);
	if (drawing->was)
		fprintf(file,
			"<text x=\"%d\" y=\"44\">red: more than before, blue: less; widths are of "
			"now: what has gone has none</text>\n",
			x);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !drawing->was; i++) {
		fprintf(file, "<rect x=\"%d\" y=\"35\" width=\"11\" height=\"11\" fill=\"", x);
		put_colour(drawing, (const char[]){ kinds[i].kind, 0 }, 0);
		fprintf(file, "\"/><text x=\"%d\" y=\"44\">%s</text>\n", x + 15, kinds[i].name);
		x += 15 + (int)(7 * strlen(kinds[i].name)) + 18;
	}
	fprintf(file,
		"<text id=\"reset\" class=\"button\" x=\"%d\" y=\"44\" "
		"visibility=\"hidden\">reset zoom</text>\n"
		"<text id=\"matched\" x=\"%d\" y=\"44\"></text>\n"
		"<foreignObject x=\"%d\" y=\"8\" width=\"190\" height=\"22\">"
		"<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" type=\"text\" "
		"placeholder=\"search (Ctrl-F)\"/></foreignObject>\n",
		WIDTH - 480, WIDTH - MARGIN - 200, WIDTH - MARGIN - 190);
}

int flame_svg(FILE *file, struct flame *flame)
{
	struct drawing drawing = { .file = file, .flame = flame };
	int err = paths_order(&drawing.order, &flame->paths, flame->names);

	if (!err)
		err = find_was(&drawing);
	if (err)
		goto out_free;
	drawing.all = drawing.order.total[FKT_PATHS_ROOT] ?: 1;
	drawing.depth = depth_of(&drawing);
	drawing.height = TOP + drawing.depth * ROW + BOTTOM;
	put_head(&drawing);
	err = put_frames(&drawing);
	fprintf(file, "<text id=\"details\" x=\"%d\" y=\"%u\">", MARGIN, drawing.height - 9);
	if (drawing.left_out)
		fprintf(file, "%" PRIu64 " paths of less than 0.01 %% each are not drawn",
			drawing.left_out);
	fputs("</text>\n<script><![CDATA[\n", file);
	fputs(script, file);
	fputs("]]></script>\n</svg>\n", file);
out_free:
	paths_order_free(&drawing.order);
	free(drawing.was);
	return err;
}

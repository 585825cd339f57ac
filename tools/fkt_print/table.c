// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "table.h"

#define BAR_PERCENT   2.5 /* a star */
#define BAR_WIDTH     40

#define STRONG	      "\033[1m"
#define BAR_COLOR     "\033[32m"
#define NO_COLOR_TEXT "\033[0m"

uint64_t parts_of(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)part / (double)whole * 1e6 + 0.5) : 0;
}

const char *put_duration(const struct fkt_trace *trace, uint64_t cycles, char text[DURATION_BYTES])
{
	int64_t ns;

	if (!fkt_has_clock(trace)) {
		snprintf(text, DURATION_BYTES, "%" PRIu64 " cyc", cycles);
		return text;
	}
	ns = fkt_cycles_to_ns(trace, (int64_t)cycles);
	if (ns < 1000)
		snprintf(text, DURATION_BYTES, "%" PRId64 " ns", ns);
	else if (ns < 1000000)
		snprintf(text, DURATION_BYTES, "%.3f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(text, DURATION_BYTES, "%.3f ms", (double)ns / 1e6);
	else
		snprintf(text, DURATION_BYTES, "%.3f s", (double)ns / 1e9);
	return text;
}

static bool is_text(const struct column *column)
{
	return column->type == COLUMN_TEXT || column->type == COLUMN_LAST;
}

/* ---- text ---- */

/* Characters, not bytes, are counted. */
static void put_padded(FILE *file, const char *text, int width)
{
	for (const char *c = text; *c; c++)
		width -= (*c & 0xc0) != 0x80;
	fputs(text, file);
	fprintf(file, "%*s", width > 0 ? width : 0, "");
}

static void text_cell(struct output *out, const struct column *column, union cell cell)
{
	char text[DURATION_BYTES];
	int stars;

	if (column->type == COLUMN_LAST) {
		fputs(cell.text, out->file);
		return;
	}
	if (is_text(column)) {
		put_padded(out->file, cell.text, column->width);
		return;
	}
	if (cell.number == CELL_NONE) {
		fprintf(out->file, "%*s", column->width, column->type == COLUMN_BAR ? "" : "-");
		return;
	}
	switch (column->type) {
	case COLUMN_DURATION:
		put_duration(out->trace, cell.number, text);
		fprintf(out->file, "%*s", column->width, text);
		break;
	case COLUMN_PERCENT:
		fprintf(out->file, "%*.2f%%", column->width - 1, (double)cell.number / 1e4);
		break;
	case COLUMN_BAR:
		stars = (int)((double)cell.number / 1e4 / BAR_PERCENT);
		if (out->color)
			fputs(BAR_COLOR, out->file);
		for (int i = 0; i < stars && i < BAR_WIDTH; i++)
			fputc('*', out->file);
		if (out->color)
			fputs(NO_COLOR_TEXT, out->file);
		break;
	default:
		fprintf(out->file, "%*" PRIu64, column->width, cell.number);
	}
}

static void text_header(struct output *out, const struct column *column)
{
	for (unsigned int i = 0; column->title; column++, i++) {
		if (i)
			fputc(' ', out->file);
		if (column->type == COLUMN_LAST || column->type == COLUMN_BAR)
			fputs(column->title, out->file);
		else if (is_text(column))
			put_padded(out->file, column->title, column->width);
		else
			fprintf(out->file, "%*s", column->width, column->title);
	}
}

/* ---- programs ---- */

static void put_csv(FILE *file, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

/* The strings hold no control characters, see fkt_sanitize(). */
static void put_json(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void program_cell(struct output *out, const struct column *column, union cell cell)
{
	if (is_text(column)) {
		if (out->format == FORMAT_CSV)
			put_csv(out->file, cell.text);
		else
			put_json(out->file, cell.text);
		return;
	}
	if (cell.number == CELL_NONE) {
		fputs(out->format == FORMAT_CSV ? "" : "null", out->file);
	} else if (column->type == COLUMN_DURATION) {
		if (fkt_has_clock(out->trace))
			fprintf(out->file, "%" PRId64,
				fkt_cycles_to_ns(out->trace, (int64_t)cell.number));
		else if (out->format == FORMAT_JSON)
			fputs("null", out->file);
	} else if (column->type == COLUMN_PERCENT) {
		fprintf(out->file, "%.4f", (double)cell.number / 1e4);
	} else {
		fprintf(out->file, "%" PRIu64, cell.number);
	}
}

/* ---- both ---- */

void table_begin(struct output *out, const struct column *columns)
{
	bool first = true;

	switch (out->format) {
	case FORMAT_TEXT:
		if (out->color)
			fputs(STRONG, out->file);
		text_header(out, columns);
		fputs(out->color ? NO_COLOR_TEXT "\n" : "\n", out->file);
		break;
	case FORMAT_CSV:
		if (out->tables)
			fputc('\n', out->file);
		for (; columns->title; columns++) {
			if (columns->type == COLUMN_BAR)
				continue;
			fprintf(out->file, "%s%s", first ? "" : ",", columns->key);
			first = false;
		}
		fputc('\n', out->file);
		break;
	case FORMAT_JSON:
		break;
	}
	out->tables++;
}

void table_row(struct output *out, const char *name, const struct column *columns,
	       const union cell *cells, bool strong)
{
	bool first = true;

	if (out->format == FORMAT_TEXT) {
		if (strong && out->color)
			fputs(STRONG, out->file);
		for (unsigned int i = 0; columns[i].title; i++) {
			if (i)
				fputc(' ', out->file);
			text_cell(out, &columns[i], cells[i]);
		}
		fputs(strong && out->color ? NO_COLOR_TEXT "\n" : "\n", out->file);
		return;
	}
	if (out->format == FORMAT_JSON) {
		fprintf(out->file, "{\"table\":\"%s\"", name);
		first = false;
	}
	for (unsigned int i = 0; columns[i].title; i++) {
		if (columns[i].type == COLUMN_BAR)
			continue;
		if (!first)
			fputc(',', out->file);
		first = false;
		if (out->format == FORMAT_JSON)
			fprintf(out->file, "\"%s\":", columns[i].key);
		program_cell(out, &columns[i], cells[i]);
	}
	fputs(out->format == FORMAT_JSON ? "}\n" : "\n", out->file);
}

void table_line(struct output *out, const char *format, ...)
{
	va_list args;

	if (out->format != FORMAT_TEXT)
		return;
	va_start(args, format);
	vfprintf(out->file, format, args);
	va_end(args);
	fputc('\n', out->file);
}

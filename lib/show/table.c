// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tables, and which formats there are. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "trace/put.h"

static const struct fkt_format *const formats[] = {
#define X(name) &fkt_format_##name,
	FKT_FORMATS(X)
#undef X
};

const struct fkt_format *fkt_format(unsigned int index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? formats[index] : NULL;
}

const struct fkt_format *fkt_format_find(const char *name)
{
	const struct fkt_format *format;

	for (unsigned int i = 0; (format = fkt_format(i)); i++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

const char *fkt_format_name(const struct fkt_format *format)
{
	return format->name;
}

const char *fkt_format_about(const struct fkt_format *format)
{
	return format->about;
}

bool fkt_format_for_people(const struct fkt_format *format)
{
	return format->for_people;
}

void fkt_table_begin(struct fkt_output *out, const struct fkt_column *columns)
{
	out->format->table(out, columns);
	out->tables++;
}

void fkt_table_row(struct fkt_output *out, const char *name, const struct fkt_column *columns,
		   const union fkt_cell *cells, bool strong)
{
	out->format->row(out, name, columns, cells, strong);
}

void fkt_table_line(struct fkt_output *out, const char *format, ...)
{
	va_list args;
	char *line;

	if (!out->format->remark)
		return;
	va_start(args, format);
	if (vasprintf(&line, format, args) >= 0) {
		out->format->remark(out, line);
		free(line);
	}
	va_end(args);
}

/* Whether a space stands between a number and its unit. */
static bool is_in_duration(const char *line, const char *space)
{
	const size_t letters = strspn(space + 1, "nums");

	return space > line && space[-1] >= '0' && space[-1] <= '9' && letters && letters <= 2 &&
	       space[letters] == 's' && strchr(" ,;)\n", space[letters + 1]);
}

/* How much of a line goes before the edge: up to its last space, or all there is room for. */
static size_t fitting(const char *line, size_t bytes, size_t room)
{
	size_t end = fkt_fitting(line, bytes, (unsigned int)room), space;

	if (end == bytes)
		return end;
	for (space = end; space && (line[space] != ' ' || is_in_duration(line, line + space));
	     space--)
		;
	return space ?: end;
}

void fkt_print_wrapped(struct fkt_output *out, const char *text, unsigned int indent)
{
	size_t bytes, some, room;

	for (; *text; text += bytes + (text[bytes] == '\n')) {
		bytes = strcspn(text, "\n");
		room = out->width ? out->width : bytes;
		for (size_t at = 0; at < bytes; at += some) {
			if (at) {
				at += text[at] == ' ';
				fprintf(out->file, "\n%*s", (int)indent, "");
			}
			/* Where there is hardly any room, lines are not made of single letters. */
			some = room > 2 * indent + 1
				       ? fitting(text + at, bytes - at, at ? room - indent : room)
				       : bytes - at;
			fwrite(text + at, 1, some, out->file);
		}
		fputc('\n', out->file);
	}
}

void fkt_table_end(struct fkt_output *out)
{
	if (out->format->end)
		out->format->end(out);
}

/* ---- what programs get ---- */

unsigned int fkt_members(const struct fkt_column *column)
{
	switch (column->type) {
	case FKT_COLUMN_BAR:
		return 0;
	case FKT_COLUMN_DURATION:
	case FKT_COLUMN_MOMENT:
	case FKT_COLUMN_THREAD:
		return 2;
	default:
		return 1;
	}
}

const char *fkt_member_key(const struct fkt_column *column, unsigned int member,
			   char key[FKT_KEY_BYTES])
{
	static const char *const ends[][FKT_MEMBERS_MAX] = {
		[FKT_COLUMN_DURATION] = { "_cycles", "_ns" },
		[FKT_COLUMN_MOMENT] = { "_stamp", "_ns" },
		[FKT_COLUMN_THREAD] = { "_tid", "" },
	};

	if (fkt_members(column) == 1)
		return column->key;
	/* "process" is the name in both: of a thread, and of a process, which is its leader's. */
	if (column->type == FKT_COLUMN_THREAD && !strcmp(column->key, "pid"))
		return member ? "process" : "pid";
	if (column->type == FKT_COLUMN_THREAD && !member && !strcmp(column->key, "process"))
		return "tid";
	snprintf(key, FKT_KEY_BYTES, "%s%s", column->key, ends[column->type][member]);
	return key;
}

bool fkt_member_text(const struct fkt_column *column, unsigned int member, union fkt_cell cell,
		     char room[FKT_THREAD_BYTES], const char **text)
{
	if (fkt_column_is_text(column))
		*text = cell.text;
	else if (column->type == FKT_COLUMN_THREAD && member)
		*text = cell.thread ? fkt_thread_name(cell.thread, room) : NULL;
	else
		return false;
	return true;
}

void fkt_print_member(struct fkt_output *out, const struct fkt_column *column, unsigned int member,
		      union fkt_cell cell, const char *none)
{
	bool thread = column->type == FKT_COLUMN_THREAD;
	uint64_t number = cell.number;

	if (thread)
		number = cell.thread && cell.thread->tid != FKT_PID_UNKNOWN ? cell.thread->tid
									    : FKT_CELL_NONE;
	else if (column->type == FKT_COLUMN_MOMENT && member && number != FKT_CELL_NONE)
		number -= out->first;
	if (number == FKT_CELL_NONE || (member && !fkt_has_clock(out->trace)))
		fputs(none, out->file);
	else if (member)
		fprintf(out->file, "%" PRId64, fkt_cycles_to_ns(out->trace, (int64_t)number));
	else if (column->type == FKT_COLUMN_PERCENT)
		fprintf(out->file, "%.4f", (double)number / 1e4);
	else
		fprintf(out->file, "%" PRIu64, number);
}

const char *fkt_thread_name(const struct fkt_process *thread, char text[FKT_THREAD_BYTES])
{
	if (thread->tid)
		snprintf(text, FKT_THREAD_BYTES, "%s", thread->comm);
	else
		snprintf(text, FKT_THREAD_BYTES, "%s/%u", thread->comm, thread->cpu);
	return text;
}

/* With three digits behind the point, as printf() rounds them, for much less: tables have many. */
static void put_unit(char text[FKT_DURATION_BYTES], int64_t ns, int64_t unit, const char *name)
{
	int64_t thousandth = unit / 1000, n = ns / thousandth, rest = ns % thousandth;
	char *to = text;

	if (rest * 2 == thousandth) {
		snprintf(text, FKT_DURATION_BYTES, "%.3f %s", (double)ns / (double)unit, name);
		return;
	}
	n += rest * 2 > thousandth;
	to = fkt_put_unsigned(to, (uint64_t)n / 1000);
	*to++ = '.';
	for (int64_t digit = 100; digit; digit /= 10)
		*to++ = (char)('0' + n / digit % 10);
	*to++ = ' ';
	*fkt_put_word(to, name) = '\0';
}

const char *fkt_duration(const struct fkt_trace *trace, uint64_t cycles,
			 char text[FKT_DURATION_BYTES])
{
	int64_t ns;

	if (!fkt_has_clock(trace)) {
		snprintf(text, FKT_DURATION_BYTES, "%" PRIu64 " cyc", cycles);
		return text;
	}
	ns = fkt_cycles_to_ns(trace, (int64_t)cycles);
	if (ns < FKT_NS_PER_US)
		snprintf(text, FKT_DURATION_BYTES, "%" PRId64 " ns", ns);
	else if (ns < FKT_NS_PER_MS)
		put_unit(text, ns, FKT_NS_PER_US, "us");
	else if (ns < FKT_NS_PER_SECOND - FKT_NS_PER_US / 2)
		put_unit(text, ns, FKT_NS_PER_MS, "ms");
	else
		put_unit(text, ns, FKT_NS_PER_SECOND, "s");
	return text;
}

const char *fkt_duration_as(const struct fkt_trace *trace, enum fkt_time time, uint64_t cycles,
			    char text[FKT_DURATION_BYTES])
{
	if (time == FKT_TIME_CYCLES)
		snprintf(text, FKT_DURATION_BYTES, "%" PRIu64 " cyc", cycles);
	else if (time == FKT_TIME_NS)
		snprintf(text, FKT_DURATION_BYTES, "%" PRId64 " ns",
			 fkt_cycles_to_ns(trace, (int64_t)cycles));
	else if (time == FKT_TIME_US)
		snprintf(text, FKT_DURATION_BYTES, "%.3f us",
			 (double)fkt_cycles_to_ns(trace, (int64_t)cycles) / FKT_NS_PER_US);
	else
		fkt_duration(trace, cycles, text);
	return text;
}

uint64_t fkt_parts(uint64_t part, uint64_t whole)
{
	const double parts = whole ? (double)part / (double)whole * 1e6 + 0.5 : 0;

	return parts < (double)FKT_CELL_NONE ? (uint64_t)parts : FKT_CELL_NONE - 1;
}

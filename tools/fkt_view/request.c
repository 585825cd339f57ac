// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "request.h"

/* Of which parameters there have to be. */
enum {
	NEEDS_SPAN = 1,
	NEEDS_WIDTH = 2,
	NEEDS_TABLE = 4,
	NEEDS_TEXT = 8,
	TAKES_TIDS = 16,
	NEEDS_FROM = 32,
	TAKES_PART = 64,
	NEEDS_SQL = 128,
	TAKES_REMOVE = 256,
	WRITES = 512,
};

static const struct {
	const char *path;
	enum asked what;
	unsigned int needs;
} known[] = {
	{ "/", ASKED_PAGE, 0 },
	{ "/view.js", ASKED_SCRIPT, 0 },
	{ "/view.css", ASKED_STYLE, 0 },
	{ "/icon.svg", ASKED_ICON, 0 },
	{ "/trace", ASKED_TRACE, 0 },
	{ "/traces", ASKED_TRACES, 0 },
	{ "/threads", ASKED_THREADS, 0 },
	{ "/picture", ASKED_PICTURE, NEEDS_SPAN | NEEDS_WIDTH | TAKES_TIDS },
	{ "/moment", ASKED_MOMENT, NEEDS_FROM | TAKES_TIDS },
	{ "/calls", ASKED_CALLS, NEEDS_SPAN | NEEDS_WIDTH | TAKES_TIDS },
	{ "/next", ASKED_NEXT, NEEDS_FROM | NEEDS_TEXT | TAKES_TIDS },
	{ "/table", ASKED_TABLE, NEEDS_SPAN | NEEDS_TABLE | TAKES_TIDS },
	{ "/part", ASKED_PART, NEEDS_SPAN | TAKES_PART },
	{ "/query", ASKED_QUERY, NEEDS_SQL },
	{ "/notes", ASKED_NOTES, 0 },
	{ "/note", ASKED_NOTE, NEEDS_FROM | TAKES_TIDS | TAKES_REMOVE | WRITES },
};

static const struct {
	const char *name;
	enum table table;
} tables[] = {
	{ "summary", TABLE_SUMMARY }, { "waits", TABLE_WAITS },	  { "by", TABLE_BY },
	{ "spans", TABLE_SPANS },     { "calls", TABLE_CALLS },	  { "noise", TABLE_NOISE },
	{ "profile", TABLE_PROFILE }, { "events", TABLE_EVENTS },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A number up to @max, and nothing else but what may end it; the place behind it, or NULL. */
static const char *read_number(const char *text, uint64_t max, char end, uint64_t *number)
{
	uint64_t value = 0;

	if (!text || *text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		value = value * 10 + (uint64_t)(*text - '0');
		/* Before it can overflow. */
		if (value > max)
			return NULL;
	}
	if (*text && *text != end)
		return NULL;
	*number = value;
	return text;
}

static bool read_tids(struct request *request, const char *text)
{
	uint64_t tid;

	while (text && *text) {
		if (request->tids == REQUEST_TIDS)
			return false;
		text = read_number(text, INT32_MAX, ',', &tid);
		if (!text)
			return false;
		request->tid[request->tids++] = (uint32_t)tid;
		if (*text)
			text++;
	}
	return true;
}

/* Without control characters, but for those in @but. */
static bool is_clean(const char *text, const char *but)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' || *text == 127) && !strchr(but, *text))
			return false;
	return true;
}

static bool read_sql(struct request *request, const char *text)
{
	if (!text || !*text || strlen(text) >= REQUEST_SQL_BYTES || !is_clean(text, "\t\r\n"))
		return false;
	request->sql = text;
	return true;
}

/* A word, which an option may end with. */
static bool read_text(struct request *request, const char *text)
{
	size_t bytes = text ? strlen(text) : 0;

	if (bytes >= REQUEST_TEXT_BYTES || (text && !is_clean(text, "")))
		return false;
	if (bytes)
		memcpy(request->text, text, bytes + 1);
	return true;
}

static enum part find_part(const char *name)
{
	static const char *const parts[PARTS] = {
		[PART_TRACE] = "trace",
		[PART_PERFETTO] = "perfetto",
		[PART_FLAME] = "flame",
	};
	unsigned int part = 0;

	while (part < PARTS && strcmp(name, parts[part]))
		part++;
	return part;
}

static enum table find_table(const char *name)
{
	for (size_t i = 0; name && i < COUNT(tables); i++)
		if (!strcmp(name, tables[i].name))
			return tables[i].table;
	return TABLE_NONE;
}

const char *request_read(struct request *request, const char *path, request_value_fn *value,
			 void *arg)
{
	unsigned int needs = 0;
	const char *longer, *remove;
	uint64_t width;

	*request = (struct request){ 0 };
	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(path, known[i].path)) {
			request->what = known[i].what;
			needs = known[i].needs;
		}
	if (request->what == ASKED_NOTHING)
		return "there is no such page";
	request->writes = needs & WRITES;
	remove = needs & TAKES_REMOVE ? value(arg, "remove") : NULL;
	if (remove)
		return read_number(remove, UINT32_MAX, '\0', &request->remove) && request->remove
			       ? NULL
			       : "remove= is to be the number of a note";
	if (needs & (NEEDS_SPAN | NEEDS_FROM) &&
	    !read_number(value(arg, "from"), REQUEST_NS_MAX, '\0', &request->from))
		return "from= is to be a number of nanoseconds";
	if (needs & NEEDS_SPAN &&
	    (!read_number(value(arg, "to"), REQUEST_NS_MAX, '\0', &request->to) ||
	     request->to <= request->from))
		return "to= is to be a number of nanoseconds, more than from=";
	if (needs & NEEDS_WIDTH) {
		if (!read_number(value(arg, "width"), REQUEST_WIDTH_MAX, '\0', &width) || !width)
			return "width= is to be a number of pixels";
		request->width = (uint32_t)width;
	}
	if (needs & TAKES_TIDS && !read_tids(request, value(arg, "tids")))
		return "tids= are to be numbers of threads, and not too many";
	if (needs & NEEDS_TABLE) {
		request->table = find_table(value(arg, "table"));
		if (request->table == TABLE_NONE)
			return "there is no such table";
		longer = value(arg, "longer");
		if (longer && !read_number(longer, REQUEST_NS_MAX, '\0', &request->longer))
			return "longer= is to be a number of nanoseconds";
	}
	if (needs & TAKES_PART) {
		request->part = find_part(value(arg, "as") ?: "trace");
		if (request->part == PARTS)
			return "as= is to be trace, perfetto or flame";
	}
	if (needs & NEEDS_SQL && !read_sql(request, value(arg, "sql")))
		return "sql= is to be a statement, and not too long";
	if (needs & (NEEDS_TEXT | NEEDS_TABLE) && !read_text(request, value(arg, "text")))
		return "text= is too long, or has control characters";
	if (needs & NEEDS_TEXT && !*request->text)
		return "text= is to be a name";
	request->back = needs & NEEDS_TEXT && value(arg, "back");
	return NULL;
}

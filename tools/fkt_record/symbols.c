// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The addresses of the kernel's functions: from /proc/kallsyms, and from a System.map where that
 * lacks some (paper, §7).
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "sections.h"
#include "symbols.h"

#define CHUNK_BYTES	   (64 * 1024)

/* "ffffffff81000000 T name": in both files addresses have all their digits. */
#define TYPE_AT		   17
#define NAME_AT		   19

/* How many incoherences are shown one by one. */
#define INCOHERENCES_SHOWN 5

/* Appends a file's text; its lines of other types are dropped on the way. */
static int read_lines(struct sections *text, const char *name, const char *types)
{
	size_t line = text->bytes; /* start of the first line that was not looked at yet */
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	while ((got = read(fd, sections_reserve(text, CHUNK_BYTES), CHUNK_BYTES)) > 0) {
		const char *from = text->data + line;
		const char *end = text->data + text->bytes + got;
		char *to = text->data + line;
		const char *newline;

		while ((newline = memchr(from, '\n', (size_t)(end - from)))) {
			size_t length = (size_t)(newline + 1 - from);

			if (length > NAME_AT + 1 && strchr(types, from[TYPE_AT])) {
				memmove(to, from, length);
				to += length;
			}
			from = newline + 1;
		}
		line = (size_t)(to - text->data);
		memmove(to, from, (size_t)(end - from));
		text->bytes = line + (size_t)(end - from);
	}
	text->bytes = line;
	close(fd);
	return got < 0 ? -1 : 0;
}

int symbols_read(struct sections *text, const char *name)
{
	return read_lines(text, name, "tTwW");
}

static void add_symbol(struct symbols *symbols, const struct symbol *symbol)
{
	if (symbols->count == symbols->room) {
		size_t room = symbols->room ? 2 * symbols->room : 65536;
		void *grown = reallocarray(symbols->symbol, room, sizeof(*symbol));

		if (!grown)
			err(EXIT_FAILURE, "no memory for the symbols");
		symbols->symbol = grown;
		symbols->room = room;
	}
	symbols->symbol[symbols->count++] = *symbol;
}

/* What follows the name in the line of a module's function: a tab, and the module in brackets. */
static bool is_module(const char *from, const char *newline, const char *module)
{
	size_t length = strlen(module);

	return from && (size_t)(newline - from) == length + 3 && from[1] == '[' &&
	       !memcmp(from + 2, module, length) && newline[-1] == ']';
}

void symbols_parse(struct symbols *symbols, const char *text, size_t bytes, const char *module)
{
	const char *end = text + bytes;
	const char *newline;

	for (; (newline = memchr(text, '\n', (size_t)(end - text))); text = newline + 1) {
		const char *tab = memchr(text + NAME_AT, '\t', (size_t)(newline - text) - NAME_AT);
		struct symbol symbol = {
			.address = strtoull(text, NULL, 16),
			.name = text + NAME_AT,
			.length = (size_t)((tab ? tab : newline) - text) - NAME_AT,
			.type = text[TYPE_AT],
		};

		if (module ? is_module(tab, newline, module) : !tab)
			add_symbol(symbols, &symbol);
	}
}

static int compare_names(const struct symbol *a, const struct symbol *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->name, b->name, shorter);

	if (order)
		return order;
	return (a->length > b->length) - (a->length < b->length);
}

static int compare_symbols(const void *va, const void *vb)
{
	const struct symbol *a = va, *b = vb;
	int order = compare_names(a, b);

	return order ? order : (a->address > b->address) - (a->address < b->address);
}

void symbols_sort(struct symbols *symbols)
{
	if (symbols->count)
		qsort(symbols->symbol, symbols->count, sizeof(*symbols->symbol), compare_symbols);
}

const struct symbol *symbols_find(const struct symbols *sorted, const struct symbol *wanted)
{
	size_t low = 0, high = sorted->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_names(&sorted->symbol[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == sorted->count || compare_names(&sorted->symbol[low], wanted))
		return NULL;
	return &sorted->symbol[low];
}

bool symbols_is_at(const struct symbols *sorted, const struct symbol *first, uint64_t address)
{
	for (const struct symbol *s = first;
	     s < sorted->symbol + sorted->count && !compare_names(s, first); s++)
		if (s->address == address)
			return true;
	return false;
}

/* How far the running kernel was moved from where it was linked (KASLR). */
static bool find_shift(const struct symbols *running, const struct symbols *map, uint64_t *shift)
{
	static const struct symbol text = { .name = "_text", .length = 5 };
	const struct symbol *here = symbols_find(running, &text), *there = NULL;

	for (size_t i = 0; i < map->count && !there; i++)
		if (!compare_names(&map->symbol[i], &text))
			there = &map->symbol[i];
	if (!here || !there)
		return false;
	*shift = here->address - there->address;
	return true;
}

static void merge_map(struct sections *head, size_t begin, const char *name)
{
	struct symbols running = { 0 }, map = { 0 };
	struct sections map_text = { 0 };
	size_t incoherent = 0, added = 0;
	uint64_t shift;
	char *copy = NULL;

	if (symbols_read(&map_text, name)) {
		warn("%s", name);
		goto out;
	}
	/* What is appended to the head may move it. */
	copy = malloc(head->bytes - begin);
	if (!copy)
		err(EXIT_FAILURE, "no memory for the symbols");
	memcpy(copy, head->data + begin, head->bytes - begin);
	symbols_parse(&running, copy, head->bytes - begin, NULL);
	symbols_parse(&map, map_text.data, map_text.bytes, NULL);
	symbols_sort(&running);

	if (!find_shift(&running, &map, &shift)) {
		warnx("%s: no System.map of a kernel (it has no function _text); not used", name);
		goto out;
	}
	for (size_t i = 0; i < map.count; i++) {
		const struct symbol *symbol = &map.symbol[i];
		const struct symbol *known = symbols_find(&running, symbol);
		uint64_t address = symbol->address + shift;

		if (!known) {
			sections_printf(head, "%016" PRIx64 " %c %.*s\n", address, symbol->type,
					(int)symbol->length, symbol->name);
			added++;
		} else if (!symbols_is_at(&running, known, address) &&
			   incoherent++ < INCOHERENCES_SHOWN) {
			warnx("%s: %.*s should be at %#" PRIx64 ", and is at %#" PRIx64, name,
			      (int)symbol->length, symbol->name, address, known->address);
		}
	}
	if (incoherent)
		warnx("%s: %zu of %zu functions are elsewhere in the running kernel; "
		      "is it this kernel's System.map?",
		      name, incoherent, map.count);
	if (added)
		warnx("%s: %zu functions added that /proc/kallsyms lacks", name, added);
out:
	free(copy);
	free(map.symbol);
	free(running.symbol);
	free(map_text.data);
}

const struct sections *symbols_running(void)
{
	static struct sections running;
	static bool read;

	if (read)
		return &running;
	read = true;
	if (symbols_read(&running, "/proc/kallsyms"))
		warn("/proc/kallsyms: functions will have no names");
	else if (running.bytes && !strtoull(running.data, NULL, 16))
		warnx("the kernel hides its addresses (sysctl kernel.kptr_restrict); "
		      "functions will have no names, and those that are traced no exit");
	return &running;
}

void symbols_add(struct sections *head, const char *system_map)
{
	const struct sections *running = symbols_running();
	size_t begin = head->bytes;

	if (running->bytes)
		sections_add(head, running->data, running->bytes);
	if (system_map)
		merge_map(head, begin, system_map);
}

void symbols_add_data(struct sections *head)
{
	struct sections data = { 0 };
	const char *line, *end;

	if (read_lines(&data, "/proc/kallsyms", "bBdDrRvV"))
		warn("/proc/kallsyms: data will have no names");
	/* What each CPU has for itself is told by how far it is from where a CPU's data begin. */
	for (line = data.data; line && line < data.data + data.bytes; line = end) {
		end = (const char *)memchr(line, '\n', data.bytes - (size_t)(line - data.data)) + 1;
		if (*line >= '8')
			sections_add(head, line, (size_t)(end - line));
	}
	free(data.data);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Kernel addresses to names, from the lines of /proc/kallsyms that the trace holds.
 *
 * They are decompressed and sorted when the first address is looked up: many traces are read
 * without any.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* An address so far behind the symbol before it is not in that symbol. */
#define SYMBOL_BYTES_MAX (16u << 20)

static int compare_symbols(const void *a, const void *b)
{
	const struct fkt_symbol_entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool parse_hex(const char *word, uint64_t *address)
{
	unsigned int digits = 0, digit;

	if (!word)
		return false;
	*address = 0;
	for (; word[digits]; digits++) {
		/* Lower case, as the kernel has them. */
		if (word[digits] >= '0' && word[digits] <= '9')
			digit = (unsigned int)(word[digits] - '0');
		else if (word[digits] >= 'a' && word[digits] <= 'f')
			digit = (unsigned int)(word[digits] - 'a' + 10);
		else
			return false;
		*address = *address << 4 | digit;
	}
	return digits && digits <= 16;
}

/* "address type name [module]"; to those that it does not trust, a kernel shows addresses of 0 */
static bool parse_symbol(const char *text, char *line, struct fkt_symbol_entry *entry)
{
	const char *type, *name, *module;

	if (!parse_hex(fkt_next_word(&line), &entry->address) || !entry->address)
		return false;
	type = fkt_next_word(&line);
	name = fkt_next_word(&line);
	if (!type || !name)
		return false;
	module = fkt_next_word(&line);
	entry->name = (uint32_t)(name - text);
	entry->module = 0;
	if (module && *module == '[') {
		entry->module = (uint32_t)(module + 1 - text);
		((char *)module)[strcspn(module, "]")] = '\0';
	}
	return true;
}

/*
 * Of several names for one address, the one that the kernel has first is kept. Its own, which are
 * most, it has in order; those of the modules behind them are not, and only what is above the least
 * of these needs sorting.
 */
static void sort_symbols(struct fkt_trace *trace)
{
	struct fkt_symbol_entry *symbol = trace->symbol, least;
	size_t count = trace->n_symbols, in_order = 1, kept = 0;

	if (!count)
		return;
	while (in_order < count && compare_symbols(&symbol[in_order - 1], &symbol[in_order]) <= 0)
		in_order++;
	if (in_order < count) {
		least = symbol[in_order];
		for (size_t i = in_order + 1; i < count; i++)
			if (compare_symbols(&symbol[i], &least) < 0)
				least = symbol[i];
		while (in_order && compare_symbols(&symbol[in_order - 1], &least) > 0)
			in_order--;
		qsort(symbol + in_order, count - in_order, sizeof(*symbol), compare_symbols);
	}
	for (size_t i = 1; i < count; i++)
		if (symbol[i].address != symbol[kept].address)
			symbol[++kept] = symbol[i];
	trace->n_symbols = kept + 1;
}

/* The text of all sections of symbols, one behind the other; NULL when there is none. */
static char *symbol_text(struct fkt_trace *trace)
{
	char *text = NULL, *piece, *both;
	size_t length = 0, bytes;

	for (unsigned int i = 0; i < trace->n_stored_symbols; i++) {
		piece = fkt_decompress(&trace->symbols[i], &bytes);
		free(trace->symbols[i].data);
		trace->symbols[i].data = NULL;
		if (!piece) {
			fkt_warn(trace, "its symbols are damaged: addresses are shown as numbers");
			continue;
		}
		if (!text) {
			text = piece;
			length = bytes;
			continue;
		}
		both = realloc(text, length + 1 + bytes + 1);
		if (both) {
			text = both;
			text[length] = '\n';
			memcpy(text + length + 1, piece, bytes + 1);
			length += 1 + bytes;
		}
		free(piece);
	}
	return text;
}

static void read_symbols(struct fkt_trace *trace)
{
	struct fkt_symbol_entry entry, *larger;
	char *rest, *line;
	size_t room = 0;

	trace->symbol_text = symbol_text(trace);
	rest = trace->symbol_text;
	while ((line = fkt_next_line(&rest))) {
		if (!parse_symbol(trace->symbol_text, line, &entry))
			continue;
		if (trace->n_symbols == room) {
			room = room ? room * 2 : 1024;
			larger = realloc(trace->symbol, room * sizeof(entry));
			if (!larger)
				break;
			trace->symbol = larger;
		}
		trace->symbol[trace->n_symbols++] = entry;
	}
	sort_symbols(trace);
}

/* Once, whoever comes first. */
static void need_symbols(struct fkt_trace *trace)
{
	pthread_mutex_lock(&trace->lock);
	if (!trace->symbols_read) {
		read_symbols(trace);
		/* Partner: the acquire in fkt_symbol(). */
		__atomic_store_n(&trace->symbols_read, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&trace->lock);
}

bool fkt_symbol(struct fkt_trace *trace, uint64_t address, struct fkt_symbol *symbol)
{
	const struct fkt_symbol_entry *entry;
	size_t low = 0, high, middle;

	/* Partner: the release in need_symbols(). */
	if (!__atomic_load_n(&trace->symbols_read, __ATOMIC_ACQUIRE))
		need_symbols(trace);
	high = trace->n_symbols;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (trace->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	entry = &trace->symbol[low - 1];
	if (address - entry->address > SYMBOL_BYTES_MAX)
		return false;
	symbol->name = trace->symbol_text + entry->name;
	symbol->module = entry->module ? trace->symbol_text + entry->module : NULL;
	symbol->offset = address - entry->address;
	return true;
}

void fkt_free_symbols(struct fkt_trace *trace)
{
	for (unsigned int i = 0; i < trace->n_stored_symbols; i++)
		free(trace->symbols[i].data);
	free(trace->symbol_text);
	free(trace->symbol);
}

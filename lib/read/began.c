// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The entries of calls that were recorded only because they took long, and what programs wrote.
 *
 * When such a call ends, an event says when it began, FKT_CODE_BEGAN. Of a file all of these are
 * looked for once, before anything is read, so that readers deliver an entry at its place; the
 * event that told of it, they pass over. What began before the first event that is there, or a
 * stream tells, is not known in time: that event is delivered instead.
 *
 * What programs write comes into the trace a little later, as FKT_CODE_TOLD, and is treated alike.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

#define BEGANS_FIRST 64
#define WINDOW_PAGES 64

/* Offsets of what FKT_CODE_BEGAN says. */
#define AT_OFFSET    0
#define CODE_OFFSET  8
#define PID_OFFSET   12

struct finding {
	struct fkt_trace *trace;
	struct fkt_begans *begans;
	struct fkt_window window;
	size_t room;
	uint64_t start;
	bool known; /* when the recording began */
};

static bool tells(const struct fkt_event *event)
{
	return event->code == FKT_CODE_BEGAN || event->code == FKT_CODE_TOLD;
}

/* Programs write no events but these. */
static bool is_program_code(uint32_t code)
{
	return code == FKT_CODE_MARK || (code >= FKT_CODE_PROGRAMS && code < FKT_CODE_PROGRAMS_END);
}

bool fkt_tells_late(const struct fkt_trace *trace)
{
	const char *count = fkt_info(trace, "application_events");
	const char *mask = fkt_info(trace, "mask");
	uint64_t number;

	if (fkt_info(trace, "longer_than_cycles"))
		return true;
	if (count && fkt_parse_u64(count, &number))
		return number;
	return mask && strtoull(mask, NULL, 0) & FKT_KEY_APPLICATION;
}

bool fkt_began_is_told(const struct fkt_trace *trace, const struct fkt_begans *begans,
		       const struct fkt_event *event)
{
	const struct fkt_code_row *row;
	uint32_t lane = trace->header.shared ? 0 : event->imm;
	uint64_t at;

	if (!tells(event) || event->words < FKT_LATE_WORDS ||
	    event->words > FKT_LATE_WORDS + FKT_CALL_ARGS || lane >= trace->header.lanes)
		return false;
	at = fkt_arg64(event, AT_OFFSET);
	if (at < begans->low[lane] || at > event->stamp)
		return false;
	row = fkt_code_row(trace, fkt_arg32(event, CODE_OFFSET));
	if (event->code == FKT_CODE_TOLD)
		return row && is_program_code(fkt_arg32(event, CODE_OFFSET));
	return row && row->kind == FKT_KIND_ENTRY;
}

static int add(struct finding *finding, const struct fkt_event *event)
{
	struct fkt_begans *begans = finding->begans;
	struct fkt_began *larger, *one;
	size_t room;

	if (begans->count == finding->room) {
		room = finding->room ? 2 * finding->room : BEGANS_FIRST;
		larger = realloc(begans->one, room * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		begans->one = larger;
		finding->room = room;
	}
	one = &begans->one[begans->count++];
	memset(one, 0, sizeof(*one));
	one->at = fkt_arg64(event, AT_OFFSET);
	one->told = event->stamp;
	one->code = fkt_arg32(event, CODE_OFFSET);
	one->pid = fkt_arg32(event, PID_OFFSET);
	one->cpu = event->imm;
	one->lane = finding->trace->header.shared ? 0 : event->imm;
	one->words = (uint8_t)(event->words - FKT_LATE_WORDS);
	one->claimed = event->code == FKT_CODE_TOLD;
	memcpy(one->args, event->args, event->words * sizeof(*one->args));
	return 0;
}

/*
 * Nothing of a lane is earlier than its first page, unless that is the first one of all: then the
 * CPU may have had no event yet when the call began.
 */
static void set_low(struct finding *finding, const struct fkt_page_header *header)
{
	const bool first = header->seq == 1 && !(header->flags & FKT_PAGE_OVERWROTE);
	uint64_t low = header->first;

	if (first && finding->known && finding->start < low)
		low = finding->start;
	if (low < finding->begans->low[header->lane])
		finding->begans->low[header->lane] = low;
}

/* Called for each page. @begans has no room for entries where only @low is looked for. */
static int look_at_page(struct finding *finding, uint64_t number, bool low)
{
	struct fkt_event event;
	struct fkt_page page;
	void *data;
	int err;

	err = fkt_window_page(finding->trace, &finding->window, number, &data);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (fkt_page_open(finding->trace, data, &page) != FKT_PAGE_EVENTS)
		return 0;
	if (low) {
		set_low(finding, &page.header);
		return 0;
	}
	while (!err && fkt_slot_decode(&page.cursor, &event)) {
		fkt_slot_pass(&page.cursor, &event);
		if (tells(&event) && fkt_began_is_told(finding->trace, finding->begans, &event))
			err = add(finding, &event);
	}
	return err;
}

/*
 * Of calls that began at one moment, the one that ended last is around the others. What a program
 * says comes in the order in which it does.
 */
static int compare(const void *a, const void *b)
{
	const struct fkt_began *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->told != y->told)
		return (x->told > y->told) != (x->claimed && y->claimed) ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

/* One that is open when a snapshot is taken is told of more than once. */
static bool is_same(const struct fkt_began *a, const struct fkt_began *b)
{
	return a->at == b->at && a->cpu == b->cpu && a->code == b->code && a->pid == b->pid &&
	       !a->claimed;
}

static void sort(struct fkt_begans *begans)
{
	size_t n = 0;

	if (!begans->count)
		return;
	qsort(begans->one, begans->count, sizeof(*begans->one), compare);
	for (size_t i = 1; i < begans->count; i++)
		if (!is_same(&begans->one[n], &begans->one[i]))
			begans->one[++n] = begans->one[i];
	begans->count = n + 1;
}

static void free_begans(struct fkt_begans *begans)
{
	if (!begans)
		return;
	free(begans->one);
	free(begans->low);
	free(begans);
}

static struct fkt_begans *find(struct fkt_trace *trace)
{
	struct finding finding = {
		.trace = trace,
		.begans = calloc(1, sizeof(*finding.begans)),
		.window = { .room = WINDOW_PAGES },
	};
	uint64_t stop;
	int err = -ENOMEM;

	finding.known = fkt_recorded(trace, &finding.start, &stop);
	if (finding.begans)
		finding.begans->low = malloc(trace->header.lanes * sizeof(*finding.begans->low));
	if (finding.begans && finding.begans->low) {
		memset(finding.begans->low, 0xff,
		       trace->header.lanes * sizeof(*finding.begans->low));
		err = 0;
	}
	for (unsigned int pass = 0; pass < 2; pass++)
		for (uint64_t i = 0; !err && i < trace->pages; i++)
			err = look_at_page(&finding, i, !pass);
	free(finding.window.data);
	if (err) {
		free_begans(finding.begans);
		return NULL;
	}
	sort(finding.begans);
	return finding.begans;
}

const struct fkt_begans *fkt_begans(struct fkt_trace *trace, int *err)
{
	struct fkt_begans *begans;

	*err = 0;
	if (!trace->input.seekable || !fkt_tells_late(trace))
		return NULL;
	pthread_mutex_lock(&trace->lock);
	if (!trace->begans)
		trace->begans = find(trace);
	begans = trace->begans;
	pthread_mutex_unlock(&trace->lock);
	if (!begans)
		*err = -ENOMEM;
	return begans && begans->count ? begans : NULL;
}

size_t fkt_begans_from(const struct fkt_begans *begans, uint64_t from)
{
	size_t low = 0, high = begans->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (begans->one[middle].at < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void fkt_free_begans(struct fkt_trace *trace)
{
	free_begans(trace->begans);
	trace->begans = NULL;
}

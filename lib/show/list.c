// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The listing of a file, made by several threads at once.
 *
 * The trace is cut into windows of about a block of pages. Each thread takes the next window, looks
 * through its pages for what happens to processes, and tells the others; knowing the same of all
 * earlier windows, it has the names of that moment and makes the window's lines in memory. They go
 * out in their order. So the text is what one thread would have written, and memory depends on the
 * number of threads alone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"
#include "read/source.h"

#define THREADS_MAX   8
/* So many windows are known of at a time: nobody is further ahead than the others are many. */
#define RING	      (2 * THREADS_MAX)
/* Pages of a window that are kept in memory: those of two blocks. */
#define PAGES_KEPT    (2 * FKT_BLOCK_PAGES)
#define PAGES_STEP    32
/* A window whose pages lie farther apart than so many blocks is a large one, of so many blocks. */
#define FAR_BLOCKS    32
#define FAR_WINDOW    4096
/* Of a process event, what fkt_processes_event() looks at. */
#define PROCESS_WORDS 3
#define NO_PAGE	      UINT64_MAX

struct process_event {
	struct fkt_event event;
	uint64_t args[PROCESS_WORDS];
	size_t number; /* in the order in which they were found */
};

/**
 * struct window - a part of the trace
 * @from: stamp with which it begins
 * @to: stamp before which it ends
 * @last: its latest stamp, or that of the window before
 * @any: whether it has any event
 * @collected: @event and @last are there
 * @block: where its pages begin
 * @event: what happens to processes in it, in the order of time
 * @events: how many
 * @room: of @event
 */
struct window {
	uint64_t from;
	uint64_t to;
	uint64_t last;
	bool any;
	bool collected;
	uint64_t block;
	struct process_event *event;
	size_t events;
	size_t room;
};

/**
 * struct job - the whole listing
 * @lock: for what follows
 * @changed: a window was collected or written, or an error came
 * @next: number of the next window to be taken
 * @turn: number of the window that is written next
 * @block: block with which the next window begins
 * @stamp: stamp with which it begins
 * @to: stamp before which it ends
 * @far: its pages lie far apart in the file
 * @ended: there is none
 * @err: the first error
 * @stats: sums
 * @worker: all threads
 * @workers: how many
 * @window: by number % RING
 */
struct job {
	struct fkt_trace *trace;
	const struct fkt_listing *listing;
	uint64_t first;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t next;
	uint64_t turn;
	uint64_t block;
	uint64_t stamp;
	uint64_t to;
	bool far;
	bool ended;
	int err;
	struct fkt_read_stats stats;
	struct worker *worker;
	unsigned int workers;
	struct window window[RING];
};

/**
 * struct worker - a thread
 * @job: the whole
 * @processes: the threads at some moment
 * @text: makes its lines
 * @applied: so many windows' process events @processes knows
 * @told: the same, with the job's lock; no window is taken that needs the ring's place of a later
 *	one
 * @window: the one that it is at
 * @number: its number
 * @page: room for PAGES_KEPT pages, and one
 * @kept: those that are in it, by their number less @first
 * @first: number of the window's first block's first page
 * @tail: of each lane, the last page of the window
 */
struct worker {
	struct job *job;
	struct fkt_processes *processes;
	struct fkt_text *text;
	uint64_t applied;
	uint64_t told;
	struct window *window;
	uint64_t number;
	uint64_t *page;
	const void *kept[PAGES_KEPT];
	uint64_t first;
	uint64_t *tail;
};

static void fail(struct job *job, int err)
{
	if (!job->err)
		job->err = err;
	pthread_cond_broadcast(&job->changed);
}

/* What happened to processes in the windows before this one, all of which are collected. */
static void apply(struct worker *worker, uint64_t number)
{
	struct process_event *noted;
	struct window *window;

	for (; worker->applied < number; worker->applied++) {
		window = &worker->job->window[worker->applied % RING];
		for (size_t i = 0; i < window->events; i++) {
			/* Others read it at the same time: what is changed is a copy. */
			noted = &window->event[i];
			struct fkt_event event = noted->event;

			event.args = noted->args;
			fkt_processes_event(worker->processes, &event);
		}
	}
}

/* Whether nobody needs what stands where the next window would be put. */
static bool has_place(const struct job *job)
{
	for (unsigned int i = 0; i < job->workers && !job->err && !job->ended; i++)
		if (job->next >= RING && job->worker[i].told <= job->next - RING)
			return false;
	return true;
}

/* Whether some page that has events before this moment may come long after the next window. */
static bool is_far(const struct job *job, uint64_t to)
{
	struct fkt_block block;

	for (uint64_t i = job->block - 1; i < job->block + FAR_BLOCKS; i++)
		if (i >= fkt_blocks(job->trace) ||
		    (fkt_read_block(job->trace, i, &block) && block.complete >= to))
			return false;
	return true;
}

/*
 * Find the end of the next window. Windows end where an index page says that blocks do. Where a CPU
 * that has little to say keeps its page open for long, all that lies before that page would have to
 * be looked at for each of them: there they are large.
 */
static void plan_window(struct job *job)
{
	struct fkt_block block;
	uint64_t last = fkt_blocks(job->trace), wanted = job->block;

	job->to = UINT64_MAX;
	job->far = false;
	while (job->to == UINT64_MAX && job->block < last) {
		if (job->block >= wanted && fkt_read_block(job->trace, job->block, &block) &&
		    block.max_end > job->stamp && job->block + 1 < last)
			job->to = block.max_end;
		job->block++;
		if (job->to == UINT64_MAX || job->far || !is_far(job, job->to))
			continue;
		job->far = true;
		job->to = UINT64_MAX;
		wanted = job->block + FAR_WINDOW;
	}
}

/* Take the next window; with the lock. */
static bool take_window(struct worker *worker)
{
	struct job *job = worker->job;
	struct window *window;

	do {
		apply(worker, job->turn);
		worker->told = worker->applied;
		pthread_cond_broadcast(&job->changed);
		/* The lines of a large one are not kept in memory. */
	} while ((!has_place(job) || (job->far && job->turn != job->next && !job->ended)) &&
		 !job->err && !pthread_cond_wait(&job->changed, &job->lock));
	if (job->ended || job->err) {
		worker->told = UINT64_MAX;
		return false;
	}
	worker->number = job->next++;
	worker->window = window = &job->window[worker->number % RING];
	window->from = job->stamp;
	window->to = job->to;
	window->any = false;
	window->collected = false;
	window->events = 0;
	job->stamp = job->to;
	job->ended = job->to == UINT64_MAX;
	if (!job->ended)
		plan_window(job);
	return true;
}

static bool note_event(struct window *window, const struct fkt_event *event)
{
	struct process_event *noted = window->event;

	if (window->events == window->room) {
		window->room = window->room ? window->room * 2 : 64;
		noted = realloc(noted, window->room * sizeof(*noted));
		if (!noted)
			return false;
		window->event = noted;
	}
	noted += window->events;
	noted->event = *event;
	noted->number = window->events++;
	memcpy(noted->args, event->args,
	       (event->words < PROCESS_WORDS ? event->words : PROCESS_WORDS) * sizeof(uint64_t));
	return true;
}

static int compare_events(const void *a, const void *b)
{
	const struct process_event *x = a, *y = b;

	if (x->event.stamp != y->event.stamp)
		return x->event.stamp < y->event.stamp ? -1 : 1;
	if (x->event.lane != y->event.lane)
		return x->event.lane < y->event.lane ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Read pages of the window; those of its first blocks stay in memory, for the reader. */
static void keep_pages(struct worker *worker, uint64_t number, uint64_t count)
{
	uint64_t at = number - worker->first;
	uint64_t *data = worker->page + at * FKT_PAGE_WORDS;

	if (at >= PAGES_KEPT)
		return;
	if (count > PAGES_KEPT - at)
		count = PAGES_KEPT - at;
	count = fkt_read_pages(worker->job->trace, number, count, data);
	for (uint64_t i = 0; i < count; i++)
		worker->kept[at + i] = data + i * FKT_PAGE_WORDS;
}

/* A page of the window, until the next call for one that is not kept. */
static const uint64_t *get_page(struct worker *worker, uint64_t number)
{
	uint64_t at = number - worker->first;
	uint64_t *data = worker->page + PAGES_KEPT * FKT_PAGE_WORDS;

	if (at < PAGES_KEPT && worker->kept[at])
		return worker->kept[at];
	return fkt_read_pages(worker->job->trace, number, 1, data) == 1 ? data : NULL;
}

static bool begin_page(struct worker *worker, uint64_t number, struct fkt_cursor *cursor)
{
	const uint64_t *data = get_page(worker, number);
	struct fkt_page page;

	if (!data || fkt_page_open(worker->job->trace, data, &page) != FKT_PAGE_EVENTS ||
	    page.header.end < worker->window->from || page.header.first >= worker->window->to)
		return false;
	*cursor = page.cursor;
	return true;
}

/* Look for process events in a page. */
static int collect_page(struct worker *worker, uint64_t number)
{
	struct window *window = worker->window;
	struct fkt_cursor cursor;
	struct fkt_event event;

	if (!begin_page(worker, number, &cursor))
		return 0;
	worker->tail[cursor.lane] = number;
	if (!fkt_may_have_process_event(&cursor))
		return 0;
	for (; fkt_slot_decode(&cursor, &event); fkt_slot_pass(&cursor, &event)) {
		if (event.stamp < window->from)
			continue;
		if (event.stamp >= window->to && window->to != UINT64_MAX)
			break;
		if (fkt_is_process_event(event.code) && !note_event(window, &event))
			return -ENOMEM;
	}
	return 0;
}

/* The lanes' last pages have the window's last event. */
static void find_last(struct worker *worker)
{
	struct window *window = worker->window;
	struct fkt_cursor cursor;
	struct fkt_event event;

	for (uint32_t lane = 0; lane < worker->job->trace->header.lanes; lane++) {
		if (worker->tail[lane] == NO_PAGE ||
		    !begin_page(worker, worker->tail[lane], &cursor))
			continue;
		for (; fkt_slot_decode(&cursor, &event); fkt_slot_pass(&cursor, &event)) {
			if (event.stamp < window->from)
				continue;
			if (event.stamp >= window->to && window->to != UINT64_MAX)
				break;
			window->any = true;
			if (event.stamp > window->last)
				window->last = event.stamp;
		}
	}
}

/* How many pages of a block, from one on, the index does not say to be outside of the window. */
static unsigned int count_pages(const struct window *window, const struct fkt_block *block,
				unsigned int first)
{
	const struct fkt_index_entry *entry;
	unsigned int i;

	for (i = first; i < FKT_INDEX_ENTRIES && i - first < PAGES_STEP; i++) {
		entry = &block->entry[i];
		if (entry->lane == FKT_LANE_INDEX || entry->end < window->from ||
		    entry->first >= window->to)
			break;
	}
	return i - first;
}

/* Look at the window's pages. */
static int collect(struct worker *worker)
{
	struct window *window = worker->window;
	struct fkt_trace *trace = worker->job->trace;
	struct fkt_block block;
	bool indexed, past = false;
	uint64_t page;
	unsigned int count;
	int err = 0;

	window->last = 0;
	window->block = window->from ? fkt_seek_stamp(trace, window->from) : 0;
	page = worker->first = window->block * FKT_BLOCK_PAGES;
	memset(worker->kept, 0, sizeof(worker->kept));
	memset(worker->tail, 0xff, trace->header.lanes * sizeof(*worker->tail));
	while (!past && page < trace->pages && !err) {
		indexed = fkt_read_block(trace, page / FKT_BLOCK_PAGES, &block);
		for (unsigned int i = 0; i < FKT_INDEX_ENTRIES && !err; i += count ?: 1) {
			count = indexed ? count_pages(window, &block, i) : 1;
			if (count)
				keep_pages(worker, page + i, count);
			for (unsigned int j = 0; j < count && !err; j++)
				err = collect_page(worker, page + i + j);
		}
		past = indexed && block.complete >= window->to;
		page += FKT_BLOCK_PAGES;
	}
	if (err)
		return err;
	find_last(worker);
	if (window->events)
		qsort(window->event, window->events, sizeof(*window->event), compare_events);
	return 0;
}

/*
 * Called when there is no room for more lines: once it is the window's turn, they need not be kept.
 */
static bool is_turn(void *arg)
{
	struct worker *worker = arg;

	/* Pairs with the release in do_window(): what was written before is written. */
	return __atomic_load_n(&worker->job->turn, __ATOMIC_ACQUIRE) == worker->number;
}

static int make_lines(struct worker *worker, uint64_t last, struct fkt_read_stats *stats)
{
	const struct window *window = worker->window;
	struct fkt_source *source = fkt_source_lent(worker->job->trace, window->from, worker->kept,
						    worker->first, PAGES_KEPT);
	struct fkt_reader *reader =
		fkt_reader_new_source(source, window->from, window->to, window->block);
	struct fkt_event event;
	int what, err;

	if (!reader)
		return -ENOMEM;
	fkt_text_set_reader(worker->text, reader);
	if (window->from)
		fkt_text_resume(worker->text, worker->job->first, last);
	while ((what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			if (fkt_is_process_event(event.code))
				fkt_processes_event(worker->processes, &event);
			fkt_text_event(worker->text, &event);
		} else if (what == FKT_GAP) {
			fkt_text_gap(worker->text, fkt_gap(reader));
		}
	}
	err = what < 0 ? what : 0;
	*stats = *fkt_read_stats(reader);
	fkt_text_set_reader(worker->text, NULL);
	fkt_reader_free(reader);
	return err;
}

static void add_stats(struct fkt_read_stats *sum, const struct fkt_read_stats *stats)
{
	if (!sum->events)
		sum->first = stats->first;
	if (stats->last > sum->last)
		sum->last = stats->last;
	sum->events += stats->events;
	sum->damaged += stats->damaged;
	sum->missing += stats->missing;
	sum->lost += stats->lost;
}

/* With the lock, which is not held while there is work: one window, from taking to writing it. */
static void do_window(struct worker *worker)
{
	uint64_t number = worker->number;
	struct job *job = worker->job;
	struct window *window = worker->window;
	const struct window *before = number ? &job->window[(number - 1) % RING] : NULL;
	struct fkt_read_stats stats;
	uint64_t last;
	int err;

	pthread_mutex_unlock(&job->lock);
	err = collect(worker);
	pthread_mutex_lock(&job->lock);
	if (err)
		return fail(job, err);
	while (before && !before->collected && !job->err)
		pthread_cond_wait(&job->changed, &job->lock);
	last = before ? before->last : 0;
	if (!window->any)
		window->last = last;
	window->collected = true;
	pthread_cond_broadcast(&job->changed);
	if (job->err)
		return;

	pthread_mutex_unlock(&job->lock);
	apply(worker, number);
	worker->applied = number + 1;
	err = make_lines(worker, last, &stats);
	pthread_mutex_lock(&job->lock);
	if (err)
		return fail(job, err);
	while (job->turn != number && !job->err)
		pthread_cond_wait(&job->changed, &job->lock);
	if (job->err)
		return;

	pthread_mutex_unlock(&job->lock);
	err = fkt_text_flush(worker->text);
	pthread_mutex_lock(&job->lock);
	if (err)
		return fail(job, err);
	add_stats(&job->stats, &stats);
	__atomic_store_n(&job->turn, number + 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&job->changed);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct job *job = worker->job;

	pthread_mutex_lock(&job->lock);
	while (take_window(worker))
		do_window(worker);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

static bool make_worker(struct worker *worker, struct job *job)
{
	const struct fkt_listing *listing = job->listing;

	worker->job = job;
	worker->page = malloc((PAGES_KEPT + 1) * FKT_PAGE_BYTES);
	worker->processes = fkt_processes_new(job->trace);
	if (!worker->page || !worker->processes)
		return false;
	worker->tail = calloc(job->trace->header.lanes, sizeof(*worker->tail));
	worker->text = fkt_text_new(job->trace, worker->processes, listing->fd, listing->time);
	if (!worker->tail || !worker->text)
		return false;
	fkt_text_set_format(worker->text, listing->format, listing->color);
	fkt_text_hold(worker->text, is_turn, worker);
	if (listing->stacks)
		fkt_text_set_stacks(worker->text);
	return true;
}

static void free_worker(struct worker *worker)
{
	fkt_text_free(worker->text);
	fkt_processes_free(worker->processes);
	free(worker->page);
	free(worker->tail);
}

bool fkt_can_list(const struct fkt_trace *trace)
{
	/* Entries that were told of late are in no page. */
	return !fkt_tells_late(trace) && trace->input.seekable && trace->complete &&
	       trace->pages_known && !trace->header.shared && fkt_blocks(trace) > 1;
}

int fkt_list(struct fkt_trace *trace, const struct fkt_listing *listing,
	     struct fkt_read_stats *stats)
{
	struct job *job = calloc(1, sizeof(*job));
	struct worker worker[THREADS_MAX] = { 0 };
	unsigned int threads = listing->threads < THREADS_MAX ? listing->threads : THREADS_MAX;
	pthread_t thread[THREADS_MAX];
	unsigned int begun = 0, made = 0;
	struct fkt_symbol symbol;
	uint64_t last;
	int err;

	if (!job)
		return -ENOMEM;
	job->trace = trace;
	job->listing = listing;
	job->worker = worker;
	pthread_mutex_init(&job->lock, NULL);
	pthread_cond_init(&job->changed, NULL);
	fkt_span(trace, &job->first, &last);
	plan_window(job);
	/*
	 * Symbols are read when one is looked up first: else all threads would wait for one of
	 * them.
	 */
	fkt_symbol(trace, 0, &symbol);
	for (made = 0; made < threads; made++) {
		if (!make_worker(&worker[made], job)) {
			job->err = -ENOMEM;
			free_worker(&worker[made]);
			break;
		}
	}
	/* One that cannot be started is not needed, unless it is the first. */
	pthread_mutex_lock(&job->lock);
	for (; begun < made && !job->err; begun++) {
		err = pthread_create(&thread[begun], NULL, work, &worker[begun]);
		if (err && !begun)
			job->err = -err;
		if (err)
			break;
	}
	job->workers = begun;
	pthread_mutex_unlock(&job->lock);
	for (unsigned int i = 0; i < begun; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int i = 0; i < made; i++)
		free_worker(&worker[i]);
	for (unsigned int i = 0; i < RING; i++)
		free(job->window[i].event);
	*stats = job->stats;
	err = job->err;
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->lock);
	free(job);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The analysis of a whole file, made by several threads at once.
 *
 * One thread merges and analyses what remains of the pages when fkt_reduce() has summed up the calls
 * in each; the others read and reduce the pages that it will come to next, in the order in which it
 * asked for them. When the one that it needs is not ready, it does the same. So nobody waits
 * for long, however the work is divided between the two.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "read.h"
#include "reduce.h"

#define THREADS_MAX 8
/* Pages that are asked for and not yet used, of all lanes; of one there are not more than AHEAD_MAX. */
#define PAGES_AHEAD 256
#define AHEAD_MAX   64
/* With more lanes, so many pages in memory would be too many. */
#define LANES_MAX   512

/**
 * struct page - a page that was asked for
 * @number: its number in the file
 * @done: what follows is there
 * @ok: it was read and is not odd
 * @data: as it is in the file
 * @reduced: what remains of it
 */
struct page {
	uint64_t number;
	bool done;
	bool ok;
	uint64_t data[FKT_PAGE_BYTES / sizeof(uint64_t)];
	struct fkt_reduced reduced;
};

/**
 * struct lane - a lane's pages, a ring
 * @page: of fkt_ahead.room pages
 * @asked: counts those that were asked for
 * @taken: counts those that were taken
 */
struct lane {
	struct page *page;
	uint64_t asked;
	uint64_t taken;
};

/**
 * struct fkt_ahead - pages that are made ready ahead of their reader
 * @trace: the trace
 * @lane: its lanes
 * @room: pages of each
 * @events: events in all pages taken
 * @lock: for what follows
 * @more: there is work, or none any more
 * @ready: the page that the reader waits for is done
 * @work: pages that nobody has begun with, a ring in the order in which they were asked for
 * @work_room: its size: all pages
 * @work_head: counts those taken out
 * @work_tail: counts those put in
 * @awaited: the page that the reader waits for
 * @ended: there is nothing more to do
 * @reducer: of each thread, the reader's first
 * @threads: how many there are
 */
struct fkt_ahead {
	struct fkt_trace *trace;
	struct lane *lane;
	uint32_t room;
	uint64_t events;
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_cond_t ready;
	struct page **work;
	size_t work_room;
	size_t work_head;
	size_t work_tail;
	struct page *awaited;
	bool ended;
	struct fkt_reducer *reducer[THREADS_MAX];
	unsigned int threads;
};

static void make_ready(const struct fkt_ahead *ahead, struct page *page,
		       struct fkt_reducer *reducer)
{
	struct fkt_page opened;

	page->ok = fkt_read_page(ahead->trace, page->number, page->data, &opened) ==
			   FKT_PAGE_EVENTS &&
		   fkt_reduce(reducer, &opened, &page->reduced);
}

/* With the lock, which is not held meanwhile: do what is next, if there is anything. */
static bool do_next(struct fkt_ahead *ahead, struct fkt_reducer *reducer)
{
	struct page *page;

	if (ahead->work_head == ahead->work_tail)
		return false;
	page = ahead->work[ahead->work_head++ % ahead->work_room];
	pthread_mutex_unlock(&ahead->lock);
	make_ready(ahead, page, reducer);
	pthread_mutex_lock(&ahead->lock);
	/* Pairs with the acquire in fkt_ahead_take(). */
	__atomic_store_n(&page->done, true, __ATOMIC_RELEASE);
	if (ahead->awaited == page)
		pthread_cond_signal(&ahead->ready);
	return true;
}

uint32_t fkt_ahead_wanted(const struct fkt_ahead *ahead, uint32_t lane)
{
	uint64_t open = ahead->lane[lane].asked - ahead->lane[lane].taken;

	/* One is in use. Many at once, so that nobody is woken for each. */
	return open > ahead->room / 2 ? 0 : ahead->room - 1 - (uint32_t)open;
}

void fkt_ahead_ask(struct fkt_ahead *ahead, uint32_t number, const uint64_t *pages, uint32_t count)
{
	struct lane *lane = &ahead->lane[number];
	struct page *page;

	pthread_mutex_lock(&ahead->lock);
	for (uint32_t i = 0; i < count; i++) {
		page = &lane->page[lane->asked++ % ahead->room];
		page->number = pages[i];
		page->done = false;
		ahead->work[ahead->work_tail++ % ahead->work_room] = page;
	}
	pthread_cond_broadcast(&ahead->more);
	pthread_mutex_unlock(&ahead->lock);
}

const void *fkt_ahead_take(struct fkt_ahead *ahead, uint32_t number,
			   const struct fkt_reduced **reduced)
{
	struct lane *lane = &ahead->lane[number];
	struct page *page = &lane->page[lane->taken++ % ahead->room];
	struct fkt_page_header header;

	if (!__atomic_load_n(&page->done, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&ahead->lock);
		ahead->awaited = page;
		while (!page->done)
			if (!do_next(ahead, ahead->reducer[0]))
				pthread_cond_wait(&ahead->ready, &ahead->lock);
		ahead->awaited = NULL;
		pthread_mutex_unlock(&ahead->lock);
	}
	if (!page->ok)
		return NULL;
	fkt_page_check(ahead->trace, page->data, &header);
	ahead->events += header.events;
	*reduced = &page->reduced;
	return page->data;
}

/* ---- the threads ---- */

struct worker {
	struct fkt_ahead *ahead;
	struct fkt_reducer *reducer;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct fkt_ahead *ahead = worker->ahead;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->ended)
		if (!do_next(ahead, worker->reducer))
			pthread_cond_wait(&ahead->more, &ahead->lock);
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

static void free_ahead(struct fkt_ahead *ahead)
{
	for (unsigned int i = 0; i < ahead->threads; i++)
		fkt_reducer_free(ahead->reducer[i]);
	for (uint32_t i = 0; ahead->lane && i < ahead->trace->header.lanes; i++)
		free(ahead->lane[i].page);
	free(ahead->lane);
	free(ahead->work);
	pthread_cond_destroy(&ahead->more);
	pthread_cond_destroy(&ahead->ready);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
}

static struct fkt_ahead *make_ahead(struct fkt_trace *trace, unsigned int threads)
{
	struct fkt_ahead *ahead = calloc(1, sizeof(*ahead));
	uint32_t lanes = trace->header.lanes;

	if (!ahead)
		return NULL;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->more, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	ahead->trace = trace;
	ahead->room = PAGES_AHEAD / lanes + 2;
	if (ahead->room > AHEAD_MAX)
		ahead->room = AHEAD_MAX;
	ahead->work_room = (size_t)ahead->room * lanes;
	ahead->work = calloc(ahead->work_room, sizeof(*ahead->work));
	ahead->lane = calloc(lanes, sizeof(*ahead->lane));
	if (!ahead->work || !ahead->lane)
		goto fail;
	for (uint32_t i = 0; i < lanes; i++) {
		ahead->lane[i].page = malloc(ahead->room * sizeof(struct page));
		if (!ahead->lane[i].page)
			goto fail;
	}
	for (; ahead->threads < threads; ahead->threads++) {
		ahead->reducer[ahead->threads] = fkt_reducer_new(trace);
		if (!ahead->reducer[ahead->threads])
			goto fail;
	}
	return ahead;

fail:
	free_ahead(ahead);
	return NULL;
}

static int analyse(struct fkt_reader *reader, struct fkt_processes *processes,
		   struct fkt_analysis *analysis)
{
	struct fkt_event event;
	int what, err;

	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP) {
			fkt_analysis_gap(analysis, fkt_gap(reader));
			continue;
		}
		err = fkt_analysis_event(analysis, &event);
		if (err)
			return err;
		if (unlikely(fkt_is_process_event(event.code)))
			fkt_processes_event(processes, &event);
		else if (unlikely(fkt_analysis_is_odd(analysis)))
			return -EAGAIN;
	}
	return what;
}

bool fkt_can_sum(const struct fkt_trace *trace)
{
	return trace->input.seekable && trace->complete && trace->pages_known &&
	       !trace->header.shared && trace->header.lanes <= LANES_MAX;
}

int fkt_sum(struct fkt_trace *trace, struct fkt_processes *processes, struct fkt_analysis *analysis,
	    unsigned int threads, struct fkt_read_stats *stats)
{
	struct worker worker[THREADS_MAX] = { 0 };
	unsigned int begun = 1;
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_ahead *ahead;
	int err = -ENOMEM;

	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	ahead = make_ahead(trace, threads ?: 1);
	if (!reader || !ahead)
		goto out_free;
	fkt_read_ahead(reader, ahead);
	fkt_analysis_use_reduced(analysis);
	/* One that cannot be started is not needed. */
	for (; begun < threads; begun++) {
		worker[begun].ahead = ahead;
		worker[begun].reducer = ahead->reducer[begun];
		if (pthread_create(&worker[begun].thread, NULL, work, &worker[begun]))
			break;
	}
	err = analyse(reader, processes, analysis);
	pthread_mutex_lock(&ahead->lock);
	ahead->ended = true;
	pthread_cond_broadcast(&ahead->more);
	pthread_mutex_unlock(&ahead->lock);
	while (--begun)
		pthread_join(worker[begun].thread, NULL);
	for (unsigned int i = 0; i < ahead->threads && !err; i++)
		fkt_analysis_add_reduced(analysis, ahead->reducer[i]);
	*stats = *fkt_read_stats(reader);
	stats->events = ahead->events;

out_free:
	if (ahead)
		free_ahead(ahead);
	fkt_reader_free(reader);
	return err;
}

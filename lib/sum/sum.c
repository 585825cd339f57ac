// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The analysis of a whole file, made by several threads at once.
 *
 * One thread merges and analyses what remains of the pages when fkt_reduce() has summed up the
 * calls in each; the others read and reduce the pages that it will come to next, in the order in
 * which it asked for them. When the one that it needs is not ready, it does the same. So nobody
 * waits for long, however the work is divided between the two.
 *
 * Whoever wants to know of calls and waits is told by these others, too, in batches: the analysis
 * only writes down what there is to tell; of calls that were taken out of a page, where they stand
 * there and what was around them. A batch is told by one thread at a time, and in their order: all
 * is told as if one thread did it. A page is kept until all of it was told.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "read/source.h"
#include "reduce.h"

#define THREADS_MAX 8
/* Pages that are asked for and not yet used, of all lanes; of one, not more than AHEAD_MAX. */
#define PAGES_AHEAD 256
#define AHEAD_MAX   64
/* So many pages are found before they are needed. */
#define PAGES_FOUND (2 * FKT_BLOCK_PAGES)
/* With more lanes, so many pages in memory would be too many. */
#define LANES_MAX   512
/* Batches that are not told yet, and what is in one. */
#define BATCHES	    16
#define BATCH_TOLD  256

/**
 * struct page - a page that was asked for
 * @number: its number in the file
 * @done: what follows is there
 * @ok: it was read and is not odd
 * @data: as it is in the file
 * @page: its header, and the slots that remain of it
 * @reduced: these slots
 */
struct page {
	uint64_t number;
	bool done;
	bool ok;
	uint64_t data[FKT_PAGE_WORDS];
	struct fkt_page page;
	struct fkt_reduced reduced;
};

/**
 * struct lane - a lane's pages, a ring
 * @page: of ahead.room pages
 * @asked: counts those that were asked for
 * @taken: counts those that were taken
 * @left: counts those that are not needed any more
 */
struct lane {
	struct page *page;
	uint64_t asked;
	uint64_t taken;
	uint64_t left;
};

enum telling {
	TELL_CALL,
	TELL_FOLDED,
	TELL_WAIT,
	TELL_MOVED,
	TELL_PAGE, /* that all of a lane's page was told */
};

/**
 * struct told - what is to be told
 * @what: enum telling
 * @args: arguments of @call
 * @exit: event that ends it; its arguments are in its page
 */
struct told {
	enum telling what;
	union {
		struct {
			struct fkt_call call;
			struct fkt_event exit;
			uint64_t args[FKT_CALL_WORDS];
		};
		struct fkt_folded_calls folded;
		struct fkt_wait wait;
		struct {
			uint32_t from;
			uint32_t to;
		};
		struct lane *lane;
	};
};

struct batch {
	unsigned int count;
	struct told told[BATCH_TOLD];
};

/**
 * struct ahead - a source of pages that are made ready ahead of their reader
 * @source: what all kinds have
 * @lane: its lanes
 * @calls: what was taken out of their pages, if it is to be told
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
 * @hooks: whom to tell
 * @batch: what is to be told, a ring; NULL: the analysis tells it at once
 * @batches: counts those that are complete; the next one is being filled
 * @told: counts those that were told; with the lock, as what precedes and follows
 * @telling: somebody tells one
 */
struct ahead {
	struct fkt_source source;
	struct lane *lane;
	struct fkt_folded_call *calls;
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
	struct fkt_analysis_hooks hooks;
	struct batch *batch;
	uint64_t batches;
	uint64_t told;
	bool telling;
};

static void make_ready(const struct ahead *ahead, struct page *page, struct fkt_reducer *reducer)
{
	struct fkt_cursor *cursor = &page->page.cursor;

	page->ok = fkt_read_page(ahead->source.trace, page->number, page->data, &page->page) ==
			   FKT_PAGE_EVENTS &&
		   fkt_reduce(reducer, &page->page, &page->reduced);
	if (!page->ok)
		return;
	cursor->pos = page->reduced.slot;
	cursor->end = page->reduced.end;
	cursor->left = page->reduced.slots;
}

/* With the lock, which is not held meanwhile: do what is next, if there is anything. */
static bool do_next(struct ahead *ahead, struct fkt_reducer *reducer)
{
	struct page *page;

	if (ahead->work_head == ahead->work_tail)
		return false;
	page = ahead->work[ahead->work_head++ % ahead->work_room];
	pthread_mutex_unlock(&ahead->lock);
	make_ready(ahead, page, reducer);
	pthread_mutex_lock(&ahead->lock);
	/* Pairs with the acquire in await(). */
	__atomic_store_n(&page->done, true, __ATOMIC_RELEASE);
	if (ahead->awaited == page)
		pthread_cond_signal(&ahead->ready);
	return true;
}

/* ---- telling ---- */

static void tell(const struct ahead *ahead, struct told *told)
{
	switch (told->what) {
	case TELL_CALL:
		if (told->call.entry_args)
			told->call.entry_args = told->args;
		if (told->call.exit)
			told->call.exit = &told->exit;
		ahead->hooks.leave(ahead->hooks.arg, &told->call);
		break;
	case TELL_FOLDED:
		fkt_tell_folded(&told->folded, ahead->hooks.leave, ahead->hooks.arg);
		break;
	case TELL_WAIT:
		ahead->hooks.wait(ahead->hooks.arg, &told->wait);
		break;
	case TELL_MOVED:
		ahead->hooks.moved(ahead->hooks.arg, told->from, told->to);
		break;
	case TELL_PAGE:
		/* Pairs with the acquire in held(). */
		__atomic_store_n(&told->lane->left, told->lane->left + 1, __ATOMIC_RELEASE);
		break;
	}
}

/* With the lock, which is not held meanwhile: tell what is next, if there is and nobody does. */
static bool tell_next(struct ahead *ahead)
{
	struct batch *batch;

	if (ahead->telling || ahead->told == ahead->batches)
		return false;
	ahead->telling = true;
	batch = &ahead->batch[ahead->told % BATCHES];
	pthread_mutex_unlock(&ahead->lock);
	for (unsigned int i = 0; i < batch->count; i++)
		tell(ahead, &batch->told[i]);
	pthread_mutex_lock(&ahead->lock);
	batch->count = 0;
	ahead->told++;
	ahead->telling = false;
	pthread_cond_signal(&ahead->ready);
	return true;
}

/* With the lock: wait until somebody has told something more. */
static void await_telling(struct ahead *ahead)
{
	if (!tell_next(ahead) && !do_next(ahead, ahead->reducer[0]))
		pthread_cond_wait(&ahead->ready, &ahead->lock);
}

/* What was written down is to be told; wait until there is room for more. */
static void pass_on(struct ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	if (ahead->batch[ahead->batches % BATCHES].count) {
		ahead->batches++;
		pthread_cond_signal(&ahead->more);
	}
	while (ahead->batches - ahead->told == BATCHES)
		await_telling(ahead);
	pthread_mutex_unlock(&ahead->lock);
}

/* All that was written down is told. */
static void tell_all(struct ahead *ahead)
{
	pass_on(ahead);
	pthread_mutex_lock(&ahead->lock);
	while (ahead->told != ahead->batches)
		await_telling(ahead);
	pthread_mutex_unlock(&ahead->lock);
}

static struct told *write_down(struct ahead *ahead, enum telling what)
{
	struct batch *batch = &ahead->batch[ahead->batches % BATCHES];
	struct told *told;

	if (batch->count == BATCH_TOLD) {
		pass_on(ahead);
		batch = &ahead->batch[ahead->batches % BATCHES];
	}
	told = &batch->told[batch->count++];
	told->what = what;
	return told;
}

static void later_call(void *arg, const struct fkt_call *call)
{
	struct told *told = write_down(arg, TELL_CALL);

	told->call = *call;
	if (call->exit)
		told->exit = *call->exit;
	for (unsigned int i = 0; call->entry_args && i < call->entry_words; i++)
		told->args[i] = call->entry_args[i];
}

static void later_folded(void *arg, const struct fkt_folded_calls *calls)
{
	write_down(arg, TELL_FOLDED)->folded = *calls;
}

static void later_wait(void *arg, const struct fkt_wait *wait)
{
	write_down(arg, TELL_WAIT)->wait = *wait;
}

static void later_moved(void *arg, uint32_t from, uint32_t to)
{
	struct told *told = write_down(arg, TELL_MOVED);

	told->from = from;
	told->to = to;
}

/* Have all that the analysis tells written down from now on, if there is anybody to be told. */
static int tell_later(struct ahead *ahead, struct fkt_analysis *analysis)
{
	struct fkt_analysis_hooks later = { .arg = ahead };

	if (!fkt_analysis_tells_calls(analysis) && !fkt_analysis_tells_waits(analysis))
		return 0;
	ahead->batch = calloc(BATCHES, sizeof(*ahead->batch));
	if (!ahead->batch)
		return -ENOMEM;
	ahead->hooks = fkt_analysis_tell(analysis, &later, NULL);
	later.leave = ahead->hooks.leave ? later_call : NULL;
	later.wait = ahead->hooks.wait ? later_wait : NULL;
	later.moved = ahead->hooks.moved ? later_moved : NULL;
	later.keep_args = ahead->hooks.keep_args;
	later.leaders = ahead->hooks.leaders;
	fkt_analysis_tell(analysis, &later, later_folded);
	return 0;
}

/* ---- the source ---- */

/* So many pages of a lane must be kept. */
static uint64_t held(const struct lane *lane)
{
	/* Pairs with the release in tell(). */
	return lane->asked - __atomic_load_n(&lane->left, __ATOMIC_ACQUIRE);
}

/* Room for what is told of a page's calls, where that is asked for. */
static struct fkt_folded_call *calls_of(const struct ahead *ahead, size_t page)
{
	return ahead->calls ? ahead->calls + page * FKT_FOLDED_CALLS_MAX : NULL;
}

/* Ask for the next pages of a lane, as far as its queue goes. */
static void ask(struct ahead *ahead, uint32_t number)
{
	const struct fkt_queue *queue = &ahead->source.queue[number];
	struct lane *lane = &ahead->lane[number];
	size_t at = queue->head + (lane->asked - lane->taken);
	uint64_t open = held(lane), place;
	struct page *page;

	/* Many at once, so that nobody is woken for each. */
	if (open > ahead->room / 2 + 1 || at == queue->tail)
		return;
	pthread_mutex_lock(&ahead->lock);
	for (; open < ahead->room && at != queue->tail; open++) {
		place = lane->asked++ % ahead->room;
		page = &lane->page[place];
		page->reduced.call = calls_of(ahead, (size_t)number * ahead->room + place);
		page->number = queue->page[at++ & (queue->room - 1)].number;
		page->done = false;
		ahead->work[ahead->work_tail++ % ahead->work_room] = page;
	}
	pthread_cond_broadcast(&ahead->more);
	pthread_mutex_unlock(&ahead->lock);
}

/* Wait for a page, and work meanwhile. */
static void await(struct ahead *ahead, struct page *page)
{
	/* Pairs with the release in do_next(). */
	if (__atomic_load_n(&page->done, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->awaited = page;
	while (!page->done)
		if (!do_next(ahead, ahead->reducer[0]) && !tell_next(ahead))
			pthread_cond_wait(&ahead->ready, &ahead->lock);
	ahead->awaited = NULL;
	pthread_mutex_unlock(&ahead->lock);
}

/* The page that was taken last is not needed any more, when all of it was told. */
static void leave_page(struct ahead *ahead, struct lane *lane)
{
	if (!lane->taken)
		return;
	if (ahead->batch)
		write_down(ahead, TELL_PAGE)->lane = lane;
	else
		lane->left++;
}

/* No page was asked for, as those that are held have to be told first. */
static void await_room(struct ahead *ahead, uint32_t number)
{
	struct lane *lane = &ahead->lane[number];

	for (ask(ahead, number); lane->asked == lane->taken; ask(ahead, number)) {
		pass_on(ahead);
		pthread_mutex_lock(&ahead->lock);
		if (held(lane) > ahead->room / 2 + 1)
			await_telling(ahead);
		pthread_mutex_unlock(&ahead->lock);
	}
}

static int ahead_next(struct fkt_source *source, uint32_t number, struct fkt_page *out)
{
	struct ahead *ahead = (struct ahead *)source;
	struct lane *lane = &ahead->lane[number];
	struct page *page;

	leave_page(ahead, lane);
	if (lane->asked == lane->taken)
		await_room(ahead, number);
	page = &lane->page[lane->taken++ % ahead->room];
	await(ahead, page);
	fkt_source_take(source, number);
	ask(ahead, number);
	if (!page->ok)
		return -EBADMSG;
	ahead->events += page->page.header.events;
	*out = page->page;
	return 1;
}

static enum fkt_page_kind ahead_peek(struct fkt_source *source, uint32_t lane,
				     union fkt_page_ref page, struct fkt_page_header *header)
{
	(void)lane;
	return fkt_read_page_header(source->trace, page.number, header);
}

static void ahead_found(struct fkt_source *source)
{
	for (uint32_t i = 0; i < source->trace->header.lanes; i++)
		ask((struct ahead *)source, i);
}

static void ahead_free(struct fkt_source *source)
{
	struct ahead *ahead = (struct ahead *)source;

	for (unsigned int i = 0; i < ahead->threads; i++)
		fkt_reducer_free(ahead->reducer[i]);
	for (uint32_t i = 0; ahead->lane && i < source->trace->header.lanes; i++)
		free(ahead->lane[i].page);
	free(ahead->lane);
	free(ahead->calls);
	free(ahead->batch);
	free(ahead->work);
	pthread_cond_destroy(&ahead->more);
	pthread_cond_destroy(&ahead->ready);
	pthread_mutex_destroy(&ahead->lock);
}

static const struct fkt_source_ops ahead_ops = {
	.next = ahead_next,
	.found = ahead_found,
	.peek = ahead_peek,
	.free = ahead_free,
};

/* ---- the threads ---- */

struct worker {
	struct ahead *ahead;
	struct fkt_reducer *reducer;
	pthread_t thread;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct ahead *ahead = worker->ahead;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->ended)
		if (!tell_next(ahead) && !do_next(ahead, worker->reducer))
			pthread_cond_wait(&ahead->more, &ahead->lock);
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

static struct ahead *make_ahead(struct fkt_trace *trace, unsigned int threads,
				const struct fkt_analysis *analysis)
{
	struct ahead *ahead = calloc(1, sizeof(*ahead));
	uint32_t lanes = trace->header.lanes;

	if (!ahead)
		return NULL;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->more, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	if (fkt_source_init(&ahead->source, &ahead_ops, trace))
		goto fail;
	ahead->source.wanted = PAGES_FOUND;
	ahead->source.whole = true;
	ahead->room = PAGES_AHEAD / lanes + 2;
	if (ahead->room > AHEAD_MAX)
		ahead->room = AHEAD_MAX;
	ahead->work_room = (size_t)ahead->room * lanes;
	ahead->work = calloc(ahead->work_room, sizeof(*ahead->work));
	ahead->lane = calloc(lanes, sizeof(*ahead->lane));
	if (fkt_analysis_tells_calls(analysis)) {
		ahead->calls =
			malloc(ahead->work_room * FKT_FOLDED_CALLS_MAX * sizeof(*ahead->calls));
		if (!ahead->calls)
			goto fail;
	}
	if (!ahead->work || !ahead->lane)
		goto fail;
	for (uint32_t i = 0; i < lanes; i++) {
		ahead->lane[i].page = malloc(ahead->room * sizeof(struct page));
		if (!ahead->lane[i].page)
			goto fail;
	}
	for (; ahead->threads < threads; ahead->threads++) {
		ahead->reducer[ahead->threads] =
			fkt_reducer_new(trace, fkt_analysis_tells_waits(analysis));
		if (!ahead->reducer[ahead->threads])
			goto fail;
	}
	return ahead;

fail:
	fkt_source_free(&ahead->source);
	return NULL;
}

static int analyse(struct fkt_reader *reader, struct fkt_processes *processes,
		   struct fkt_analysis *analysis)
{
	struct fkt_event event;
	int what, err;

	while ((what = fkt_reader_next(reader, &event)) > 0) {
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
	/* Entries told of late are in no page; what was counted is not summed up by page. */
	return !fkt_tells_late(trace) && !fkt_counters(trace) && trace->input.seekable &&
	       trace->complete && trace->pages_known && !trace->header.shared &&
	       trace->header.lanes <= LANES_MAX;
}

int fkt_sum(struct fkt_trace *trace, struct fkt_processes *processes, struct fkt_analysis *analysis,
	    unsigned int threads, struct fkt_read_stats *stats)
{
	struct worker worker[THREADS_MAX] = { 0 };
	unsigned int begun = 1;
	struct fkt_reader *reader;
	struct ahead *ahead;
	int err;

	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	ahead = make_ahead(trace, threads ?: 1, analysis);
	reader = ahead ? fkt_reader_new_source(&ahead->source, 0, UINT64_MAX, 0) : NULL;
	if (!reader)
		return -ENOMEM;
	fkt_analysis_use_reduced(analysis);
	err = threads > 1 ? tell_later(ahead, analysis) : 0;
	if (err)
		goto out;
	/* One that cannot be started is not needed. */
	for (; begun < threads; begun++) {
		worker[begun].ahead = ahead;
		worker[begun].reducer = ahead->reducer[begun];
		if (pthread_create(&worker[begun].thread, NULL, work, &worker[begun]))
			break;
	}
	err = analyse(reader, processes, analysis);
	/* Of what is wrong, nothing more need be told. */
	if (ahead->batch && !err)
		tell_all(ahead);
	pthread_mutex_lock(&ahead->lock);
	ahead->ended = true;
	pthread_cond_broadcast(&ahead->more);
	pthread_mutex_unlock(&ahead->lock);
	while (--begun)
		pthread_join(worker[begun].thread, NULL);
	if (ahead->batch)
		fkt_analysis_tell(analysis, &ahead->hooks, NULL);
	for (unsigned int i = 0; i < ahead->threads && !err; i++)
		fkt_analysis_add_reduced(analysis, ahead->reducer[i]);
	*stats = *fkt_read_stats(reader);
	stats->events = ahead->events;
out:
	fkt_reader_free(reader);
	return err;
}

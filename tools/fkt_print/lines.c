// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of calls, made by several threads.
 *
 * Who follows the calls only says which lines there are to be, in their order; batches of them are
 * made into text by whoever has nothing else to do, and go out in their order. What a line shows
 * that may be something else by the time it is made is kept with it: the thread's name, and
 * arguments that name threads. With one thread, and where a listing or another view that prints as
 * it goes writes in between, a line is made at once.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

#define WORKERS_MAX 7
#define BATCHES_MAX (2 * (WORKERS_MAX + 1))
#define BATCH_LINES 512
#define BATCH_WORDS (BATCH_LINES * 8)

struct batch {
	unsigned int count;
	unsigned int words;
	struct line line[BATCH_LINES];
	uint64_t word[BATCH_WORDS];
	struct fkt_event entry[BATCH_LINES];
	struct fkt_event exit[BATCH_LINES];
	uint64_t counted[BATCH_LINES][COUNTED];
	FILE *file; /* what it makes @text of */
	char *text;
	size_t bytes;
	bool done; /* @text is there */
};

struct worker {
	struct lines *lines;
	struct line_maker maker;
	pthread_t thread;
};

/**
 * struct lines - lines
 * @make: makes one
 * @maker: of the thread that adds lines
 * @batch: a ring; NULL: lines are made at once
 * @batches: its size
 * @lock: for what follows
 * @changed: any of it has
 * @filled: counts batches that are complete; the next one is being filled, without the lock
 * @begun: counts those that somebody makes, or has made
 * @written: counts those that are out
 * @writing: somebody writes
 * @ended: there is nothing more to do
 * @err: the first error of the output, or memory's
 * @workers: how many there are besides
 */
struct lines {
	void (*make)(struct line_maker *maker, const struct line *line);
	struct line_maker maker;
	struct fkt_output *out;
	struct batch *batch;
	unsigned int batches;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t filled;
	uint64_t begun;
	uint64_t written;
	bool writing;
	bool ended;
	int err;
	unsigned int workers;
	struct worker worker[WORKERS_MAX];
};

static bool begin_maker(struct line_maker *maker, const struct context *context)
{
	maker->out = *context->out;
	maker->moments.trace = context->trace;
	maker->moments.time = context->options->time;
	maker->filter = context->filter;
	maker->args = fkt_args_new(context->trace, context->processes, context->out->format);
	return maker->args;
}

/* ---- the threads ---- */

static int make_batch(struct lines *lines, struct line_maker *maker, struct batch *batch)
{
	rewind(batch->file);
	maker->out.file = batch->file;
	for (unsigned int i = 0; i < batch->count; i++) {
		struct line *line = &batch->line[i];

		lines->make(maker, line);
		free(line->entry_text);
		free(line->exit_text);
	}
	batch->count = 0;
	batch->words = 0;
	return fflush(batch->file) ? -ENOMEM : 0;
}

/* With the lock: write what is next, as far as it is made. */
static void write_done(struct lines *lines)
{
	struct batch *batch;

	if (lines->writing)
		return;
	lines->writing = true;
	while (lines->written < lines->begun) {
		batch = &lines->batch[lines->written % lines->batches];
		if (!batch->done)
			break;
		pthread_mutex_unlock(&lines->lock);
		fwrite(batch->text, 1, batch->bytes, lines->out->file);
		pthread_mutex_lock(&lines->lock);
		batch->done = false;
		lines->written++;
	}
	lines->writing = false;
}

/* With the lock, which is not held meanwhile: make what is next, if there is anything. */
static bool make_next(struct lines *lines, struct line_maker *maker)
{
	struct batch *batch;
	int err;

	if (lines->begun == lines->filled)
		return false;
	batch = &lines->batch[lines->begun++ % lines->batches];
	pthread_mutex_unlock(&lines->lock);
	err = make_batch(lines, maker, batch);
	pthread_mutex_lock(&lines->lock);
	lines->err = lines->err ?: err;
	batch->done = true;
	write_done(lines);
	pthread_cond_broadcast(&lines->changed);
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct lines *lines = worker->lines;

	pthread_mutex_lock(&lines->lock);
	while (!lines->ended)
		if (!make_next(lines, &worker->maker))
			pthread_cond_wait(&lines->changed, &lines->lock);
	pthread_mutex_unlock(&lines->lock);
	return NULL;
}

/* The batch that was filled is to be made; wait until no more than some are not out. */
static int pass_on(struct lines *lines, unsigned int most)
{
	int err;

	pthread_mutex_lock(&lines->lock);
	if (lines->batch[lines->filled % lines->batches].count) {
		lines->filled++;
		pthread_cond_broadcast(&lines->changed);
	}
	while (lines->filled - lines->written > most)
		if (!make_next(lines, &lines->maker))
			pthread_cond_wait(&lines->changed, &lines->lock);
	err = lines->err;
	pthread_mutex_unlock(&lines->lock);
	return err;
}

/* Whether nobody else writes to the same place in the meantime. */
static bool has_output_alone(const struct context *context)
{
	const struct options *options = context->options;

	return !options->listing && !(options->view[VIEW_graph] && options->view[VIEW_spans]);
}

static bool begin_threads(struct lines *lines, const struct context *context, unsigned int workers)
{
	if (workers > WORKERS_MAX)
		workers = WORKERS_MAX;
	lines->batches = 2 * (workers + 1);
	lines->batch = calloc(lines->batches, sizeof(*lines->batch));
	if (!lines->batch)
		return false;
	for (unsigned int i = 0; i < lines->batches; i++) {
		struct batch *batch = &lines->batch[i];

		batch->file = open_memstream(&batch->text, &batch->bytes);
		if (!batch->file)
			return false;
	}
	/* One that cannot be started is not needed. */
	for (; lines->workers < workers; lines->workers++) {
		struct worker *worker = &lines->worker[lines->workers];

		worker->lines = lines;
		if (!begin_maker(&worker->maker, context))
			return false;
		if (pthread_create(&worker->thread, NULL, work, worker)) {
			fkt_args_free(worker->maker.args);
			break;
		}
	}
	return true;
}

struct lines *lines_new(const struct context *context,
			void (*make)(struct line_maker *maker, const struct line *line))
{
	unsigned int threads = thread_count(context->options);
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->make = make;
	lines->out = context->out;
	pthread_mutex_init(&lines->lock, NULL);
	pthread_cond_init(&lines->changed, NULL);
	if (!begin_maker(&lines->maker, context) ||
	    (threads > 1 && has_output_alone(context) && fkt_is_complete(context->trace) &&
	     !begin_threads(lines, context, threads - 1))) {
		lines_free(lines);
		return NULL;
	}
	return lines;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	pthread_mutex_lock(&lines->lock);
	lines->ended = true;
	pthread_cond_broadcast(&lines->changed);
	pthread_mutex_unlock(&lines->lock);
	while (lines->workers--) {
		pthread_join(lines->worker[lines->workers].thread, NULL);
		fkt_args_free(lines->worker[lines->workers].maker.args);
	}
	for (unsigned int i = 0; lines->batch && i < lines->batches; i++) {
		if (lines->batch[i].file)
			fclose(lines->batch[i].file);
		free(lines->batch[i].text);
		for (unsigned int j = 0; j < lines->batch[i].count; j++) {
			free(lines->batch[i].line[j].entry_text);
			free(lines->batch[i].line[j].exit_text);
		}
	}
	free(lines->batch);
	fkt_args_free(lines->maker.args);
	pthread_cond_destroy(&lines->changed);
	pthread_mutex_destroy(&lines->lock);
	free(lines);
}

/* ---- lines ---- */

static const struct fkt_event *keep(struct batch *batch, struct fkt_event *to,
				    const struct fkt_event *event)
{
	if (!event)
		return NULL;
	copy_event(to, &batch->word[batch->words], event);
	batch->words += event->words;
	return to;
}

int lines_add(struct lines *lines, unsigned int kind, const struct fkt_process *process,
	      const struct fkt_call *call)
{
	struct fkt_args *args = lines->maker.args;
	struct batch *batch;
	struct line *line;
	int err;

	if (!lines->batch) {
		const struct line now = { .kind = kind, .process = *process, .call = *call };

		lines->maker.out.file = lines->out->file;
		lines->make(&lines->maker, &now);
		return 0;
	}
	batch = &lines->batch[lines->filled % lines->batches];
	if (batch->count == BATCH_LINES || batch->words > BATCH_WORDS - 2 * FKT_SLOT_WORDS_MAX) {
		err = pass_on(lines, lines->batches - 1);
		if (err)
			return err;
		batch = &lines->batch[lines->filled % lines->batches];
	}
	line = &batch->line[batch->count];
	line->kind = kind;
	line->process = *process;
	line->call = *call;
	line->call.entry = keep(batch, &batch->entry[batch->count], call->entry);
	line->call.exit = keep(batch, &batch->exit[batch->count], call->exit);
	line->call.entry_args = NULL;
	if (call->counted)
		line->call.counted = copy_counted(batch->counted[batch->count], call->counted);
	line->entry_text = line->exit_text = NULL;
	batch->count++;
	if (fkt_args_name_threads(args, call->entry)) {
		line->entry_text = strdup(fkt_args_entry(args, call->entry, call->row));
		if (!line->entry_text)
			return -ENOMEM;
	}
	if (fkt_args_name_threads(args, call->exit)) {
		line->exit_text = strdup(fkt_args_exit(args, call->exit, call->row));
		if (!line->exit_text)
			return -ENOMEM;
	}
	return 0;
}

int lines_flush(struct lines *lines)
{
	return lines->batch ? pass_on(lines, 0) : 0;
}

const char *line_entry(struct line_maker *maker, const struct line *line)
{
	return line->entry_text ?: fkt_args_entry(maker->args, line->call.entry, line->call.row);
}

const char *line_exit(struct line_maker *maker, const struct line *line)
{
	return line->exit_text ?: fkt_args_exit(maker->args, line->call.exit, line->call.row);
}

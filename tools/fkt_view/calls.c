// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls of a thread in a window, each below the one that made it: those that are long enough to
 * be seen as they are, and of shorter ones, side by side, that there are some.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "read/internal.h"
#include "view.h"

/* As in picture.c; a longer window has none. */
#define EXACT_PAGES	668
#define LOOK_BACK_PAGES 167
#define EXACT_EVENTS	3000000
#define DEPTH_MAX	24
#define BLOCKS_MAX	30000

/**
 * struct block - one call, or several that are too short to be seen
 * @from, @to: stamps
 * @name: number of its name, 0: several
 * @count: how many
 * @error: one failed
 */
struct block {
	uint64_t from;
	uint64_t to;
	uint32_t name;
	uint32_t count;
	bool error;
};

/**
 * struct calls - an answer that is being made
 * @view, @request: what is asked for
 * @processes: the threads, as the events go
 * @from, @to: stamps
 * @pixel: what is shorter is not seen, in cycles
 * @open: by depth, the block that may be one with the next one; @count 0: none
 * @blocks: rows of JSON
 * @count: how many
 */
struct calls {
	struct view *view;
	const struct request *request;
	struct fkt_processes *processes;
	uint64_t from;
	uint64_t to;
	uint64_t pixel;
	struct block open[DEPTH_MAX];
	struct answer blocks;
	unsigned int count;
};

static void put_block(struct calls *calls, uint32_t depth)
{
	struct block *block = &calls->open[depth];
	char name[FKT_NAME_BYTES];

	if (!block->count || calls->count++ >= BLOCKS_MAX)
		return;
	names_get(calls->view->names, block->name, name);
	answer_text(&calls->blocks, "%s[%" PRIu32 ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",%d,",
		    calls->count > 1 ? "," : "", depth, view_ns(calls->view, block->from),
		    view_ns(calls->view, block->to), block->count, block->error);
	answer_string(&calls->blocks, name);
	answer_bytes(&calls->blocks, "]", 1);
	block->count = 0;
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct calls *calls = arg;
	struct block *block, one;
	bool small;

	if (call->interrupt || call->depth >= DEPTH_MAX || call->end < calls->from ||
	    call->begin >= calls->to ||
	    fkt_process(calls->processes, call->id)->tid != calls->request->tid[0])
		return;
	block = &calls->open[call->depth];
	one = (struct block){
		.from = call->begin,
		.to = call->end,
		.name = names_row(calls->view->names, calls->view->trace, call->row),
		.count = 1,
		.error = call->exit && !call->exit->words && (int16_t)call->exit->imm < 0 &&
			 call->row < FKT_CODE_SYSCALL_ENTRY + 1024u,
	};
	small = one.to - one.from < calls->pixel;
	if (block->count && small && one.from >= block->from &&
	    block->to - block->from < 4 * calls->pixel && one.from - block->to < calls->pixel &&
	    (block->count > 1 || block->to - block->from < calls->pixel)) {
		block->to = one.to;
		block->name = block->name == one.name ? one.name : 0;
		block->count++;
		block->error |= one.error;
		return;
	}
	put_block(calls, call->depth);
	*block = one;
}

static int read_calls(struct calls *calls, struct fkt_reader *reader, struct fkt_analysis *analysis)
{
	struct fkt_event event;
	unsigned int count = 0;
	int what = 0, err = 0;

	while (!err && count++ < EXACT_EVENTS && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			fkt_analysis_gap(analysis, fkt_gap(reader));
		if (what != FKT_EVENT)
			continue;
		err = fkt_analysis_event(analysis, &event);
		if (fkt_is_process_event(event.code))
			fkt_processes_event(calls->processes, &event);
	}
	err = err ?: what < 0 ? what : 0;
	/* Those that go on are told of as well. */
	return err ?: fkt_analysis_end(analysis, calls->to);
}

int answer_calls(struct view *view, const struct request *request, struct answer *answer)
{
	struct calls calls = {
		.view = view,
		.request = request,
		.from = view_stamp(view, request->from),
		.to = view_stamp(view, request->to),
	};
	const struct fkt_analysis_hooks hooks = { .arg = &calls, .leave = on_leave };
	const uint64_t first = fkt_seek_stamp(view->trace, calls.from);
	const uint64_t end = fkt_seek_stamp(view->trace, calls.to);
	const uint64_t begin = fkt_look_back_pages(view->trace, calls.from, LOOK_BACK_PAGES);
	struct fkt_reader *reader = NULL;
	struct fkt_analysis *analysis = NULL;
	bool exact = request->tids && end >= first &&
		     (end - first + 1) * FKT_BLOCK_PAGES <= EXACT_PAGES;
	int err = exact ? -ENOMEM : 0;

	calls.pixel = (calls.to - calls.from) / request->width;
	if (exact) {
		reader = fkt_reader_new_window(view->trace, begin, calls.to);
		calls.processes = fkt_processes_new(view->trace);
	}
	if (calls.processes)
		analysis = fkt_analysis_new(view->trace, calls.processes, &hooks);
	if (reader && analysis)
		err = read_calls(&calls, reader, analysis);
	for (uint32_t depth = 0; depth < DEPTH_MAX; depth++)
		put_block(&calls, depth);
	answer_text(answer, "{\"exact\":%s,\"calls\":[", exact ? "true" : "false");
	answer_bytes(answer, calls.blocks.data, calls.blocks.bytes);
	answer_text(answer, "]}");
	err = err ?: answer_error(&calls.blocks) ?: answer_error(answer);
	answer_free(&calls.blocks);
	fkt_analysis_free(analysis);
	fkt_processes_free(calls.processes);
	fkt_reader_free(reader);
	return err;
}

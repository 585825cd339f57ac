// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls of a thread in a window, each below the one that made it: those that are long enough to
 * be seen as they are, and of shorter ones, side by side, that there are some.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "model.h"
#include "read/internal.h"

/* As in picture.c; a longer window has none. */
#define EXACT_PAGES	668
#define LOOK_BACK_PAGES 167
#define EXACT_EVENTS	3000000
#define DEPTH_MAX	24
#define CALLS_MAX	30000

/**
 * struct calls - those that are being looked for
 * @view, @request: what is asked for
 * @processes: the threads, as the events go
 * @from, @to: stamps
 * @pixel: what is shorter is not seen, in cycles
 * @open: by depth, the one that may be one with the next one; its count is 0: none
 * @found: struct drawn_call
 */
struct calls {
	struct view *view;
	const struct request *request;
	struct fkt_processes *processes;
	uint64_t from;
	uint64_t to;
	uint64_t pixel;
	struct drawn_call open[DEPTH_MAX];
	struct answer *found;
};

static void put_call(struct calls *calls, uint32_t depth)
{
	struct drawn_call *call = &calls->open[depth];

	if (!call->count || calls->found->bytes >= CALLS_MAX * sizeof(*call))
		return;
	answer_bytes(calls->found, call, sizeof(*call));
	call->count = 0;
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct calls *calls = arg;
	struct drawn_call *open, one;
	bool small;

	if (call->interrupt || call->depth >= DEPTH_MAX || call->end < calls->from ||
	    call->begin >= calls->to ||
	    fkt_process(calls->processes, call->id)->tid != calls->request->tid[0])
		return;
	open = &calls->open[call->depth];
	one = (struct drawn_call){
		.from = call->begin,
		.to = call->end,
		.name = names_row(calls->view->names, calls->view->trace, call->row),
		.count = 1,
		.depth = call->depth,
		.error = call->exit && !call->exit->words && (int16_t)call->exit->imm < 0 &&
			 call->row < FKT_CODE_SYSCALL_ENTRY + 1024u,
	};
	small = one.to - one.from < calls->pixel;
	if (open->count && small && one.from >= open->from &&
	    open->to - open->from < 4 * calls->pixel && one.from - open->to < calls->pixel &&
	    (open->count > 1 || open->to - open->from < calls->pixel)) {
		open->to = one.to;
		open->name = open->name == one.name ? one.name : 0;
		open->count++;
		open->error |= one.error;
		return;
	}
	put_call(calls, call->depth);
	*open = one;
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

int calls_find(struct view *view, const struct request *request, struct answer *found, bool *exact)
{
	struct calls calls = {
		.view = view,
		.request = request,
		.from = view_stamp(view, request->from),
		.to = view_stamp(view, request->to),
		.found = found,
	};
	const struct fkt_analysis_hooks hooks = { .arg = &calls, .leave = on_leave };
	const uint64_t first = fkt_seek_stamp(view->trace, calls.from);
	const uint64_t end = fkt_seek_stamp(view->trace, calls.to);
	const uint64_t begin = fkt_look_back_pages(view->trace, calls.from, LOOK_BACK_PAGES);
	struct fkt_reader *reader = NULL;
	struct fkt_analysis *analysis = NULL;
	int err;

	*exact = request->tids && end >= first &&
		 (end - first + 1) * FKT_BLOCK_PAGES <= EXACT_PAGES;
	if (!*exact)
		return 0;
	err = -ENOMEM;
	calls.pixel = (calls.to - calls.from) / request->width;
	reader = fkt_reader_new_window(view->trace, begin, calls.to);
	calls.processes = fkt_processes_new(view->trace);
	if (calls.processes)
		analysis = fkt_analysis_new(view->trace, calls.processes, &hooks);
	if (reader && analysis)
		err = read_calls(&calls, reader, analysis);
	for (uint32_t depth = 0; depth < DEPTH_MAX; depth++)
		put_call(&calls, depth);
	fkt_analysis_free(analysis);
	fkt_processes_free(calls.processes);
	fkt_reader_free(reader);
	return err ?: answer_error(found);
}

int answer_calls(struct view *view, const struct request *request, struct answer *answer)
{
	struct answer found = { 0 };
	const struct drawn_call *call;
	char name[FKT_NAME_BYTES];
	bool exact;
	int err = calls_find(view, request, &found, &exact);

	answer_text(answer, "{\"exact\":%s,\"calls\":[", exact ? "true" : "false");
	for (size_t i = 0; !err && i < found.bytes / sizeof(*call); i++) {
		call = (const struct drawn_call *)found.data + i;
		names_get(view->names, call->name, name);
		answer_text(answer, "%s[%" PRIu32 ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",%d,",
			    i ? "," : "", call->depth, view_ns(view, call->from),
			    view_ns(view, call->to), call->count, call->error);
		answer_string(answer, name);
		answer_bytes(answer, "]", 1);
	}
	answer_text(answer, "]}");
	answer_free(&found);
	return err ?: answer_error(answer);
}

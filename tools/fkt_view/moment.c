// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a thread was at, at a moment: running, waiting, in which calls, and who woke it from that;
 * as the analysis tells of waits and calls. And the next event of a name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "read/internal.h"

/* How many pages before a moment are read, and how many events behind it, for its calls to end. */
#define LOOK_BACK_PAGES 4000
#define LOOK_AHEAD	2000000
/* Events that are passed over until one of the name comes. */
#define NEXT_EVENTS	20000000
#define CODE_BYTES	FKT_SLOT_CODES

static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct moment *moment = arg;
	const struct fkt_process *waker;

	if (fkt_process(moment->processes, wait->id)->tid != moment->tid || moment->waits ||
	    wait->left > moment->at || (wait->back && wait->back <= moment->at))
		return;
	moment->waits = true;
	moment->wait = *wait;
	waker = fkt_process(moment->processes, wait->waker);
	moment->waker_tid = waker->tid;
	memcpy(moment->waker, waker->comm, sizeof(moment->waker));
}

static bool is_its(const struct moment *moment, const struct fkt_call *call)
{
	return !call->interrupt && fkt_process(moment->processes, call->id)->tid == moment->tid;
}

static void on_enter(void *arg, const struct fkt_call *call)
{
	struct moment *moment = arg;

	if (is_its(moment, call))
		moment->open = call->depth + 1;
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct moment *moment = arg;

	if (!is_its(moment, call))
		return;
	moment->open = call->depth;
	if (call->begin > moment->at || call->end <= moment->at ||
	    moment->calls == MOMENT_CALLS_MAX)
		return;
	moment->call[moment->calls++] = (struct around){
		.row = call->row,
		.depth = call->depth,
		.partial = call->partial,
		.ended = call->exit,
		.begin = call->begin,
		.end = call->end,
	};
	moment->over |= !call->depth;
}

static int read_moment(struct moment *moment, struct fkt_reader *reader,
		       struct fkt_analysis *analysis)
{
	uint32_t behind = 0;
	bool known = false;
	struct fkt_event event;
	int what, err = 0;

	while (!err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			fkt_analysis_gap(analysis, fkt_gap(reader));
		if (what != FKT_EVENT)
			continue;
		if (event.stamp > moment->at && !known) {
			known = true;
			for (uint32_t cpu = 0; cpu <= UINT16_MAX && !moment->runs; cpu++) {
				const uint32_t id = fkt_analysis_current(analysis, (uint16_t)cpu);

				if (!id || fkt_process(moment->processes, id)->tid != moment->tid)
					continue;
				moment->runs = true;
				moment->cpu = (uint16_t)cpu;
			}
			moment->over |= !moment->open;
		}
		err = fkt_analysis_event(analysis, &event);
		if (fkt_is_process_event(event.code))
			fkt_processes_event(moment->processes, &event);
		if (event.stamp <= moment->at)
			continue;
		/* Its wait is over, or it ran, and so is its outermost call. */
		if ((moment->waits || moment->runs) && moment->over)
			return 0;
		if (++behind == LOOK_AHEAD) {
			moment->cut = true;
			return 0;
		}
	}
	return err ?: what;
}

const char *moment_comm(const struct moment *moment)
{
	const uint32_t id = fkt_process_id(moment->processes, moment->tid, 0);

	return fkt_process(moment->processes, id)->comm;
}

bool moment_has_waker(const struct moment *moment)
{
	return !fkt_row_interrupts(moment->view->trace, moment->wait.waker_row) &&
	       moment->waker_tid != FKT_PID_UNKNOWN;
}

void moment_row(const struct moment *moment, uint32_t row, char name[FKT_NAME_BYTES])
{
	*name = '\0';
	if (row < FKT_ROWS)
		fkt_row_name(moment->view->trace, row, name);
}

int moment_find(struct moment *moment, struct view *view, uint32_t tid, uint64_t at)
{
	const struct fkt_analysis_hooks hooks = {
		.arg = moment, .enter = on_enter, .wait = on_wait, .leave = on_leave
	};
	const uint64_t begin = fkt_look_back_pages(view->trace, at, LOOK_BACK_PAGES);
	struct fkt_reader *reader = fkt_reader_new_window(view->trace, begin, UINT64_MAX);
	struct fkt_analysis *analysis = NULL;
	int err = -ENOMEM;

	*moment = (struct moment){ .view = view, .tid = tid, .at = at };
	moment->processes = fkt_processes_new(view->trace);
	if (moment->processes)
		analysis = fkt_analysis_new(view->trace, moment->processes, &hooks);
	if (reader && analysis)
		err = read_moment(moment, reader, analysis);
	/* What is open there is told of. */
	if (!err)
		err = fkt_analysis_end(analysis, fkt_read_stats(reader)->last);
	fkt_analysis_free(analysis);
	fkt_reader_free(reader);
	return err;
}

void moment_free(struct moment *moment)
{
	fkt_processes_free(moment->processes);
	moment->processes = NULL;
}

/* ---- as JSON ---- */

static void put_ns(struct moment *moment, struct answer *answer, const char *name, uint64_t stamp)
{
	if (stamp)
		answer_text(answer, ",\"%s\":%" PRId64, name, view_ns(moment->view, stamp));
	else
		answer_text(answer, ",\"%s\":null", name);
}

static void put_row(struct moment *moment, struct answer *answer, const char *name, uint32_t row)
{
	char text[FKT_NAME_BYTES];

	answer_text(answer, ",\"%s\":", name);
	moment_row(moment, row, text);
	answer_string(answer, text);
}

static void put_thread(struct answer *answer, uint32_t tid, const char *comm)
{
	answer_text(answer, "{\"tid\":%" PRIu32 ",\"process\":", tid);
	answer_string(answer, comm);
}

static int put_moment(struct moment *moment, struct answer *answer)
{
	char letters[FKT_STATE_BYTES];

	put_thread(answer, moment->tid, moment_comm(moment));
	put_ns(moment, answer, "at_ns", moment->at);
	answer_text(answer, ",\"cpu\":");
	if (moment->runs && !moment->waits)
		answer_text(answer, "%u", moment->cpu);
	else
		answer_text(answer, "null");
	answer_text(answer, ",\"cut\":%s,\"wait\":", moment->cut ? "true" : "false");
	if (moment->waits) {
		fkt_state_letters(moment->wait.state, letters);
		answer_text(answer, "{\"state\":");
		answer_string(answer, moment->wait.state ? letters : "preempted");
		put_ns(moment, answer, "left_ns", moment->wait.left);
		put_ns(moment, answer, "woken_ns", moment->wait.woken);
		put_ns(moment, answer, "back_ns", moment->wait.back);
		answer_text(answer, ",\"cpu\":%u,\"waker\":", moment->wait.cpu);
		if (moment->wait.woken) {
			if (moment_has_waker(moment))
				put_thread(answer, moment->waker_tid, moment->waker);
			else
				answer_text(answer, "{\"tid\":null,\"process\":\"%s\"",
					    fkt_row_interrupts(moment->view->trace,
							       moment->wait.waker_row)
						    ? "(interrupt)"
						    : "?");
			put_row(moment, answer, "in", moment->wait.waker_row);
			answer_text(answer, "}");
		} else {
			answer_text(answer, "null");
		}
		put_row(moment, answer, "call", moment->wait.outer);
		put_row(moment, answer, "inner", moment->wait.inner);
		answer_text(answer, "}");
	} else {
		answer_text(answer, "null");
	}
	answer_text(answer, ",\"calls\":[");
	for (unsigned int i = moment->calls; i--;) {
		const struct around *call = &moment->call[i];

		answer_text(answer, "%s{\"depth\":%" PRIu32, i + 1 < moment->calls ? "," : "",
			    call->depth);
		put_row(moment, answer, "name", call->row);
		put_ns(moment, answer, "begin_ns", call->begin);
		put_ns(moment, answer, "end_ns", call->ended ? call->end : 0);
		answer_text(answer, ",\"partial\":%s}", call->partial ? "true" : "false");
	}
	answer_text(answer, "]}");
	return answer_error(answer);
}

int answer_moment(struct view *view, const struct request *request, struct answer *answer)
{
	struct moment moment;
	int err = moment_find(&moment, view, request->tids ? request->tid[0] : 0,
			      view_last_stamp(view, request->from));

	if (!err)
		err = put_moment(&moment, answer);
	moment_free(&moment);
	return err;
}

/* ---- the next event of a name ---- */

/* The codes that a name means: what has it, or, of a pattern, what it matches. */
static uint8_t *find_codes(struct view *view, const char *text)
{
	uint8_t *code = calloc(CODE_BYTES, 1);
	char pattern[REQUEST_TEXT_BYTES + 2];
	uint32_t found = 0;

	if (!code)
		return NULL;
	for (uint32_t at = 0; (at = fkt_code_like(view->trace, at, text)) < FKT_SLOT_CODES; at++)
		code[at] = found = 1;
	if (found || strpbrk(text, "*?["))
		return code;
	snprintf(pattern, sizeof(pattern), "*%s*", text);
	for (uint32_t at = 0; (at = fkt_code_like(view->trace, at, pattern)) < FKT_SLOT_CODES; at++)
		code[at] = 1;
	return code;
}

/* The last wanted event before @at: windows before it, each twice as long as the one behind. */
static int find_before(struct view *view, const struct fkt_wanted *wanted, uint64_t at,
		       struct fkt_event *event)
{
	uint64_t to = at, pages = FKT_BLOCK_PAGES, from, seen = 0;
	struct fkt_processes *processes;
	struct fkt_reader *reader;
	struct fkt_event one;
	int what = 0;
	bool found = false;

	do {
		from = fkt_look_back_pages(view->trace, at, pages);
		processes = fkt_processes_new(view->trace);
		reader = fkt_reader_new_window(view->trace, from, to);
		if (!processes || !reader)
			what = -ENOMEM;
		else
			while ((what = fkt_next_wanted(reader, processes, wanted, &one)) > 0)
				if (what == FKT_EVENT) {
					*event = one;
					found = true;
				}
		if (reader)
			seen += fkt_read_stats(reader)->events;
		fkt_reader_free(reader);
		fkt_processes_free(processes);
		to = from;
		pages *= 2;
	} while (what >= 0 && !found && from && seen < NEXT_EVENTS);
	return what < 0 ? what : found;
}

static int find_behind(struct view *view, const struct fkt_wanted *wanted, uint64_t at,
		       struct fkt_event *event)
{
	struct fkt_processes *processes = fkt_processes_new(view->trace);
	struct fkt_reader *reader = fkt_reader_new_window(view->trace, at, UINT64_MAX);
	int what = -ENOMEM;

	while (processes && reader) {
		what = fkt_next_wanted(reader, processes, wanted, event);
		if (what <= 0 || what == FKT_EVENT || fkt_read_stats(reader)->events > NEXT_EVENTS)
			break;
	}
	fkt_reader_free(reader);
	fkt_processes_free(processes);
	return what == FKT_EVENT ? 1 : what < 0 ? what : 0;
}

int next_find(struct view *view, const struct request *request, struct fkt_event *event)
{
	struct fkt_wanted wanted = {
		.code = find_codes(view, request->text),
		.pid = request->tids ? request->tid : NULL,
		.pids = request->tids,
	};
	int what;

	if (!wanted.code)
		return -ENOMEM;
	wanted.first = view->first;
	if (request->back)
		what = find_before(view, &wanted, view_stamp(view, request->from), event);
	else
		what = find_behind(view, &wanted, view_last_stamp(view, request->from) + 1, event);
	free((void *)wanted.code);
	return what;
}

int answer_next(struct view *view, const struct request *request, struct answer *answer)
{
	char name[FKT_NAME_BYTES];
	struct fkt_event event;
	const int what = next_find(view, request, &event);

	if (what < 0)
		return what;
	if (!what) {
		answer_text(answer, "null");
		return answer_error(answer);
	}
	fkt_code_name(view->trace, event.code, name);
	answer_text(answer, "{\"at_ns\":%" PRId64 ",\"cpu\":%u,\"tid\":%" PRId64 ",\"name\":",
		    view_ns(view, event.stamp), event.cpu,
		    event.pid == FKT_PID_UNKNOWN ? INT64_C(-1) : (int64_t)event.pid);
	answer_string(answer, name);
	answer_text(answer, "}");
	return answer_error(answer);
}

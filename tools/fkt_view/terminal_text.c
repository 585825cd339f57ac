// SPDX-License-Identifier: GPL-2.0-or-later
/* What is said of moments, lengths of time, and what is under the cursor: as the page says it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "terminal.h"

#define NS_PER_S UINT64_C(1000000000)

const char *text_length(uint64_t ns, char text[TIME_BYTES])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	unsigned int unit = 0;

	while (value >= 1000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, TIME_BYTES, "%.*f %s",
		 !unit	       ? 0
		 : value < 10  ? 3
		 : value < 100 ? 2
			       : 1,
		 value, units[unit]);
	return text;
}

const char *text_when(uint64_t ns, uint64_t step, char text[TIME_BYTES])
{
	uint64_t part = NS_PER_S, digit = NS_PER_S;
	unsigned int places = 0;

	while (places < 9 && digit > step) {
		digit /= 10;
		places++;
	}
	for (unsigned int i = 0; i < places; i++)
		part /= 10;
	if (places)
		snprintf(text, TIME_BYTES, "%" PRIu64 ".%0*" PRIu64 " s", ns / NS_PER_S,
			 (int)places, ns % NS_PER_S / part);
	else
		snprintf(text, TIME_BYTES, "%" PRIu64 " s", ns / NS_PER_S);
	return text;
}

void text_thread(const struct terminal *terminal, uint32_t tid, char text[LABEL_BYTES])
{
	const struct collected_thread *thread = tid ? rows_thread(terminal, tid) : NULL;

	if (tid == TID_UNKNOWN)
		snprintf(text, LABEL_BYTES, "not known");
	else if (!tid)
		snprintf(text, LABEL_BYTES, "idle");
	else
		snprintf(text, LABEL_BYTES, "%s %" PRIu32, thread ? thread->comm : "?", tid);
}

/* ---- the cursor ---- */

/* A line that is being written. */
struct line {
	char *text;
	size_t bytes;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *line, const char *format, ...)
{
	va_list args;
	int put;

	va_start(args, format);
	put = vsnprintf(line->text + line->bytes, MESSAGE_BYTES - line->bytes, format, args);
	va_end(args);
	if (put > 0)
		line->bytes += (size_t)put;
	if (line->bytes >= MESSAGE_BYTES)
		line->bytes = MESSAGE_BYTES - 1;
}

static void add_percent(struct line *line, const char *before, uint8_t share)
{
	const unsigned int percent = (share * 200u / SHARE_ALL + 1) / 2;

	if (percent)
		add(line, "%s %u %%", before, percent);
	else
		add(line, "%s < 1 %%", before);
}

static void add_cpu(const struct terminal *terminal, const struct track_part *part,
		    struct line *line)
{
	char text[LABEL_BYTES], name[FKT_NAME_BYTES];

	text_thread(terminal, part->top, text);
	if (part->share[SHARE_RUNNING])
		add(line, "%s", text);
	else
		add(line, part->share[SHARE_UNKNOWN] ? "not known" : "idle");
	if (part->share[SHARE_RUNNING] && part->share[SHARE_RUNNING] < SHARE_ALL)
		add_percent(line, ", busy", part->share[SHARE_RUNNING]);
	if (!part->inner)
		return;
	names_get(terminal->view->names, part->inner, name);
	add(line, ", %s", name);
}

static void add_thread(const struct terminal *terminal, const struct track_part *part,
		       struct line *line)
{
	static const char *const states[STATES] = {
		[STATE_UNKNOWN] = "not known",
		[STATE_GONE] = "not there",
		[STATE_SLEEPING] = "asleep",
		[STATE_BLOCKED] = "blocked (D)",
		[STATE_READY] = "ready, waits for a CPU",
		[STATE_RUNNING] = "running",
		[STATE_IDLE] = "idle",
	};
	static const char *const shares[SHARES] = { "running", "ready", "blocked", "not known" };
	char top[FKT_NAME_BYTES], inner[FKT_NAME_BYTES];
	const char *comma = "";

	for (unsigned int i = 0; i < SHARES; i++) {
		if (!part->share[i] || part->share[i] == SHARE_ALL)
			continue;
		add(line, "%s", comma);
		add_percent(line, shares[i], part->share[i]);
		comma = ", ";
	}
	if (!*comma)
		add(line, "%s", part->state < STATES ? states[part->state] : "");
	names_get(terminal->view->names, part->top, top);
	names_get(terminal->view->names, part->inner, inner);
	if (*top)
		add(line, ", in %s", top);
	if (*top && *inner && part->inner != part->top)
		add(line, " > %s", inner);
	if (part->flags & CELL_ERROR)
		add(line, ", a call failed");
}

/* What is missing where the cursor is. */
static void add_losses(const struct terminal *terminal, const struct row *row, uint64_t step,
		       struct line *line)
{
	const struct picture *picture = &terminal->tracks.picture;
	const struct loss *loss = (const struct loss *)picture->losses.data;
	const uint64_t from = view_stamp(terminal->view, terminal->cursor);
	const uint64_t to = view_stamp(terminal->view, terminal->cursor + step);

	for (size_t i = 0; i < picture->losses.bytes / sizeof(*loss); i++, loss++) {
		if (row->kind != ROW_CPU || loss->from > to || loss->to < from ||
		    (loss->cpu != FKT_CPU_ANY && (TRACK_CPU | loss->cpu) != row->key))
			continue;
		if (loss->count)
			add(line, "; %" PRIu64 " %s", loss->count,
			    loss->pages ? "pages are missing" : "events were lost");
		else
			add(line, "; events are missing");
		return;
	}
}

/* Samples and marks that are nearer than a column. */
static void add_near(const struct terminal *terminal, const struct row *row, uint64_t step,
		     struct line *line)
{
	const struct picture *picture = &terminal->tracks.picture;
	const struct sample *sample = (const struct sample *)picture->samples.data;
	const struct mark *mark = (const struct mark *)picture->marks.data;
	const uint64_t from = view_stamp(terminal->view, terminal->cursor);
	const uint64_t to = view_stamp(terminal->view, terminal->cursor + step);

	for (size_t i = 0; i < picture->samples.bytes / sizeof(*sample); i++, sample++) {
		if (sample->stamp < from || sample->stamp >= to ||
		    (row->kind == ROW_CPU ? (TRACK_CPU | sample->cpu) != row->key
					  : sample->tid != row->key))
			continue;
		add(line, "; a sample in %s", picture->texts.data + sample->function);
		break;
	}
	for (size_t i = 0; i < picture->marks.bytes / sizeof(*mark); i++, mark++)
		if (mark->stamp >= from && mark->stamp < to) {
			add(line, "; mark: %s", mark->text);
			break;
		}
}

void text_cursor(const struct terminal *terminal, char text[MESSAGE_BYTES])
{
	const uint64_t step = (terminal->to - terminal->from) / terminal_width(terminal) ?: 1;
	const struct row *row = terminal_row(terminal);
	struct line line = { .text = text };
	char when[TIME_BYTES];
	struct track_part part;

	*text = '\0';
	if (!row)
		return;
	add(&line, "%s, %s: ", row->label, text_when(terminal->cursor, step, when));
	if (row->key == TRACK_NONE)
		add(&line, "Space %s", row->closed ? "shows them" : "hides them");
	else if (!tracks_at(&terminal->tracks, row->key, terminal->cursor, &part))
		add(&line, "not read yet, or not known");
	else if (row->kind == ROW_CPU)
		add_cpu(terminal, &part, &line);
	else if (row->kind != ROW_COUNTER)
		add_thread(terminal, &part, &line);
	else if (part.state != STATE_RUNNING)
		add(&line, "no value");
	else if (part.least < part.most)
		add(&line, "%g .. %g, then %" PRId64, (double)part.least, (double)part.most,
		    part.value);
	else
		add(&line, "%" PRId64, part.value);
	add_losses(terminal, row, step, &line);
	add_near(terminal, row, step, &line);
}

/* ---- a moment ---- */

/* A moment of it, as the terminal has moments. */
static uint64_t ns_of(const struct moment *moment, uint64_t stamp)
{
	const int64_t ns = view_ns(moment->view, stamp);

	return ns > 0 ? (uint64_t)ns : 0;
}

/* Its name then, or, where that is not known so late in a trace, the one that it had last. */
static const char *name_of(const struct terminal *terminal, uint32_t tid, const char *comm)
{
	const struct collected_thread *thread = strcmp(comm, "?") ? NULL
								  : rows_thread(terminal, tid);

	return thread ? thread->comm : comm;
}

static void put_wait(const struct terminal *terminal, const struct moment *moment,
		     struct answer *answer)
{
	const struct fkt_wait *wait = &moment->wait;
	const uint64_t left = ns_of(moment, wait->left), slept = wait->woken ?: wait->back;
	char length[TIME_BYTES], when[TIME_BYTES], letters[FKT_STATE_BYTES];
	char outer[FKT_NAME_BYTES], inner[FKT_NAME_BYTES];

	fkt_state_letters(wait->state, letters);
	moment_row(moment, wait->outer, outer);
	moment_row(moment, wait->inner, inner);
	answer_text(answer, "%s %" PRIu32, name_of(terminal, moment->tid, moment_comm(moment)),
		    moment->tid);
	if (wait->state)
		answer_text(answer, " slept (%s)", letters);
	else
		answer_text(answer, " was ready, but did not run,");
	if (slept)
		answer_text(answer, " for %s", text_length(ns_of(moment, slept) - left, length));
	else
		answer_text(answer, moment->cut ? " for long" : " until the trace ends");
	if (*outer)
		answer_text(answer, " in %s", outer);
	if (*outer && *inner && strcmp(outer, inner))
		answer_text(answer, " > %s", inner);
	answer_text(answer, ", from %s on.\n", text_when(left, 1, when));
}

static bool is_outside(const char *name)
{
	return !*name || !strcmp(name, "user") || !strcmp(name, "kernel threads") ||
	       !strcmp(name, "idle");
}

static void put_waker(const struct terminal *terminal, const struct moment *moment,
		      struct answer *answer)
{
	const struct fkt_wait *wait = &moment->wait;
	const bool known = moment_has_waker(moment);
	char in[FKT_NAME_BYTES], when[TIME_BYTES], length[TIME_BYTES];

	moment_row(moment, wait->waker_row, in);
	answer_text(answer, "Woken at %s by ", text_when(ns_of(moment, wait->woken), 1, when));
	if (known)
		answer_text(answer, "%s %" PRIu32,
			    name_of(terminal, moment->waker_tid, moment->waker), moment->waker_tid);
	else
		answer_text(answer, "%s", in);
	if (known && !is_outside(in))
		answer_text(answer, ", in %s", in);
	if (wait->back)
		answer_text(answer, "; it ran %s later",
			    text_length(ns_of(moment, wait->back) - ns_of(moment, wait->woken),
					length));
	answer_text(answer, "%s\n", known && moment->waker_tid ? ". o: follow" : ".");
}

void text_moment(const struct terminal *terminal, const struct moment *moment,
		 struct answer *answer)
{
	char name[FKT_NAME_BYTES], when[TIME_BYTES], length[TIME_BYTES];
	const char *comm = name_of(terminal, moment->tid, moment_comm(moment));

	text_when(ns_of(moment, moment->at), 1, when);
	if (moment->waits) {
		put_wait(terminal, moment, answer);
		if (moment->wait.woken)
			put_waker(terminal, moment, answer);
	} else if (moment->runs) {
		answer_text(answer, "%s %" PRIu32 " ran on CPU %u at %s.\n", comm, moment->tid,
			    moment->cpu, when);
	} else {
		answer_text(answer, "%s %" PRIu32 " at %s: nothing is known of it there.\n", comm,
			    moment->tid, when);
	}
	for (unsigned int i = moment->calls; i--;) {
		const struct around *call = &moment->call[i];

		moment_row(moment, call->row, name);
		answer_text(answer, "%*s%s: %s%s, from %s on\n", 2 + 2 * (int)call->depth, "", name,
			    call->ended ? text_length(ns_of(moment, call->end) -
							      ns_of(moment, call->begin),
						      length)
					: "not ended",
			    call->partial ? ", a part of it" : "",
			    text_when(ns_of(moment, call->begin), 1, when));
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Speedscope's JSON: a profile for each thread, and for the interrupts of each CPU, of calls that
 * open and close. Profiles stand one after another in the file, so each is spooled until the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/frames.h"
#include "format.h"
#include "interned.h"
#include "spool.h"

/**
 * struct speedscope - what is known
 * @export: what all formats know
 * @spool: events of the profiles: twice a thread's number, or twice a CPU's and one
 * @open: which calls are; their frame + 1, 0 of those that are not told
 * @frame: rows, which have numbers of frames
 * @at: when each profile was last told of, which no later one is before
 * @ats: how many there is room for
 */
struct speedscope {
	struct export *export;
	struct spool spool;
	struct frames *open;
	struct interned frame;
	int64_t *at;
	uint32_t ats;
};

static uint32_t profile_of(const struct fkt_call *call)
{
	return call->interrupt ? call->cpu * 2u + 1 : call->id * 2;
}

static int64_t *at_of(struct speedscope *speedscope, uint32_t profile)
{
	uint32_t count = speedscope->ats ? speedscope->ats : 256;
	int64_t *larger;

	if (profile >= speedscope->ats) {
		while (count <= profile)
			count *= 2;
		larger = reallocarray(speedscope->at, count, sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + speedscope->ats, 0, (count - speedscope->ats) * sizeof(*larger));
		speedscope->at = larger;
		speedscope->ats = count;
	}
	return &speedscope->at[profile];
}

static int put(struct speedscope *speedscope, const struct fkt_call *call, char type,
	       uint32_t frame, uint64_t stamp)
{
	const uint32_t profile = profile_of(call);
	const bool any = spool_has(&speedscope->spool, profile);
	int64_t ns = export_ns(speedscope->export, stamp);
	int64_t *at = at_of(speedscope, profile);
	char text[96];
	int bytes;

	if (!at)
		return -ENOMEM;
	/* A profile in which time runs backwards is refused whole. */
	if (ns < *at)
		ns = *at;
	*at = ns;
	bytes = snprintf(text, sizeof(text),
			 "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}",
			 any ? ",\n" : "", type, frame, ns);
	return spool_add(&speedscope->spool, profile, text, (uint32_t)bytes);
}

static int enter(void *format, const struct fkt_call *call, bool passes)
{
	struct speedscope *speedscope = format;
	uint32_t *open = frames_enter(speedscope->open, call), frame;
	uint64_t begin = call->begin;

	if (!open)
		return -ENOMEM;
	if (!passes)
		return 0;
	frame = interned(&speedscope->frame, call->row, 0);
	if (frame == INTERNED_FAILED)
		return -ENOMEM;
	*open = frame + 1;
	if (begin < speedscope->export->first)
		begin = speedscope->export->first;
	return put(speedscope, call, 'O', frame, begin);
}

static int leave(void *format, const struct fkt_call *call, bool passes)
{
	struct speedscope *speedscope = format;
	const uint32_t *open = call->entered ? frames_at(speedscope->open, call, call->depth)
					     : NULL;
	const uint32_t frame = open ? *open : 0;

	/* What was opened is closed in any case. */
	(void)passes;
	if (call->entered)
		frames_leave(speedscope->open, call);
	/* One whose beginning is not there would close another. */
	return frame ? put(speedscope, call, 'C', frame - 1, call->end) : 0;
}

static int moved(void *format, uint32_t from, uint32_t to)
{
	struct speedscope *speedscope = format;
	int64_t at;

	if (!at_of(speedscope, 2 * (from > to ? from : to)))
		return -ENOMEM;
	at = speedscope->at[2 * from];
	speedscope->at[2 * from] = speedscope->at[2 * to];
	speedscope->at[2 * to] = at;
	return spool_swap(&speedscope->spool, 2 * from, 2 * to)
		       ?: frames_move(speedscope->open, from, to);
}

static int put_profile(struct speedscope *speedscope, uint32_t profile)
{
	struct output *out = speedscope->export->out;
	const struct fkt_process *process = fkt_process(speedscope->export->processes, profile / 2);
	char name[64];
	int err;

	if (profile % 2)
		snprintf(name, sizeof(name), "interrupts on CPU %" PRIu32, profile / 2);
	else if (!profile)
		snprintf(name, sizeof(name), "not known");
	else
		snprintf(name, sizeof(name), "%s[%" PRIu32 "]", process->comm, process->tid);
	output_text(out, "{\"type\":\"evented\",\"name\":");
	output_json(out, name, strlen(name));
	output_format(out,
		      ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%" PRId64
		      ",\"events\":[\n",
		      speedscope->at[profile]);
	err = spool_write(&speedscope->spool, profile, out);
	output_text(out, "]}");
	return err;
}

static int end(void *format, uint64_t last)
{
	struct speedscope *speedscope = format;
	struct output *out = speedscope->export->out;
	char name[FKT_NAME_BYTES];
	bool any = false;
	int err = 0;

	(void)last;
	output_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			 "\"exporter\":\"fkt_export\",\"profiles\":[\n");
	for (uint32_t i = 0; i < speedscope->spool.streams && !err; i++) {
		if (!spool_has(&speedscope->spool, i))
			continue;
		if (any)
			output_text(out, ",\n");
		any = true;
		err = put_profile(speedscope, i);
	}
	output_text(out, "\n],\"shared\":{\"frames\":[\n");
	for (uint32_t i = 0; i < speedscope->frame.count; i++) {
		fkt_row_name(speedscope->export->trace, (uint32_t)speedscope->frame.key[i][0],
			     name);
		output_text(out, i ? ",\n{\"name\":" : "{\"name\":");
		output_json(out, name, strlen(name));
		output_text(out, "}");
	}
	output_text(out, "\n]}}\n");
	return err;
}

static void free_speedscope(void *format)
{
	struct speedscope *speedscope = format;

	spool_free(&speedscope->spool);
	frames_free(speedscope->open);
	interned_free(&speedscope->frame);
	free(speedscope->at);
	free(speedscope);
}

static void *begin(struct export *export)
{
	struct speedscope *speedscope = calloc(1, sizeof(*speedscope));
	int err;

	if (!speedscope)
		return NULL;
	speedscope->export = export;
	speedscope->open = frames_new(sizeof(uint32_t), NULL);
	if (!speedscope->open) {
		free(speedscope);
		return NULL;
	}
	err = spool_open(&speedscope->spool);
	if (err) {
		frames_free(speedscope->open);
		free(speedscope);
		errno = -err;
		return NULL;
	}
	return speedscope;
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.about = "speedscope.app: calls of each thread over time; of cuts, it fails on large ones",
	.lacks = "calls that began before, fields, who ran and who waited, and what is no call; a "
		 "call that a loss cuts off ends there",
	.wants = EXPORT_NS,
	.refuses = FILTER_LONGER,
	.begin = begin,
	.enter = enter,
	.leave = leave,
	.moved = moved,
	.end = end,
	.free = free_speedscope,
};

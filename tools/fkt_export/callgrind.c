// SPDX-License-Identifier: GPL-2.0-or-later
/* Callgrind's text: who called what how often, and how long that took, for callgrind_annotate. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format.h"
#include "interned.h"
#include "trace/put.h"

/* What a function, or a pair of functions, comes to. */
struct sums {
	uint64_t calls;
	uint64_t cycles;
};

struct callgrind {
	struct export *export;
	struct interned pair; /* caller, row; a function itself is a pair with FKT_ROW_NONE + 1 */
	struct sums *sums;    /* of each */
	uint32_t room;
	uint64_t total;
};

/* More of what was recorded is not written. */
#define COMMAND_BYTES 1000

#define ITSELF	      (FKT_ROW_NONE + 1u)

static bool add(struct callgrind *callgrind, uint32_t caller, uint32_t row, uint64_t calls,
		uint64_t cycles)
{
	uint32_t number = interned(&callgrind->pair, caller, row);
	struct sums *larger;

	if (number == INTERNED_FAILED)
		return false;
	if (number >= callgrind->room) {
		larger = reallocarray(callgrind->sums, number + 1, 2 * sizeof(*larger));
		if (!larger)
			return false;
		memset(larger + callgrind->room, 0,
		       (2 * (number + 1) - callgrind->room) * sizeof(*larger));
		callgrind->sums = larger;
		callgrind->room = 2 * (number + 1);
	}
	callgrind->sums[number].calls += calls;
	callgrind->sums[number].cycles += cycles;
	return true;
}

static int leave(void *format, const struct fkt_call *call, bool passes)
{
	struct callgrind *callgrind = format;
	const uint32_t caller = call->caller == FKT_ROW_NONE ? call->outside : call->caller;

	if (!passes)
		return 0;
	callgrind->total += call->own;
	/* Of a call that was not seen whole, only its own time counts, as in the summary. */
	return add(callgrind, ITSELF, call->row, 0, call->own) &&
			       (call->partial || add(callgrind, caller, call->row, 1, call->cycles))
		       ? 0
		       : -ENOMEM;
}

struct line {
	uint32_t caller;
	uint32_t row;
	struct sums sums;
};

/* By the function that calls, its own line first. */
static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	uint64_t p[2] = { x->caller == ITSELF ? x->row : x->caller,
			  y->caller == ITSELF ? y->row : y->caller };

	if (p[0] != p[1])
		return p[0] < p[1] ? -1 : 1;
	if ((x->caller == ITSELF) != (y->caller == ITSELF))
		return x->caller == ITSELF ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void put_name(struct callgrind *callgrind, const char *key, uint32_t row)
{
	char name[FKT_NAME_BYTES];

	fkt_row_name(callgrind->export->trace, row, name);
	output_format(callgrind->export->out, "%s=(%" PRIu32 ") %s\n", key, row + 1, name);
}

static uint64_t in_units(const struct callgrind *callgrind, uint64_t cycles)
{
	const struct fkt_trace *trace = callgrind->export->trace;

	return fkt_has_clock(trace) ? (uint64_t)fkt_cycles_to_ns(trace, (int64_t)cycles) : cycles;
}

static int end(void *format, uint64_t last)
{
	struct callgrind *callgrind = format;
	const bool ns = fkt_has_clock(callgrind->export->trace);
	const uint32_t count = callgrind->pair.count;
	struct line *line = reallocarray(NULL, count + 1, sizeof(*line));
	struct output *out = callgrind->export->out;
	const char *command = fkt_info(callgrind->export->trace, "command") ?: "?";
	uint64_t function = UINT64_MAX;

	(void)last;
	if (!line)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		line[i] = (struct line){ (uint32_t)callgrind->pair.key[i][0],
					 (uint32_t)callgrind->pair.key[i][1], callgrind->sums[i] };
	qsort(line, count, sizeof(*line), compare);
	output_format(out,
		      "# callgrind format\nversion: 1\ncreator: fkt_export\ncmd: %.*s\n"
		      "positions: line\nevent: %s\nevents: %s\nsummary: %" PRIu64 "\n\nfl=(1) "
		      "kernel\n",
		      (int)fkt_cut_text(command, COMMAND_BYTES), command,
		      ns ? "ns : nanoseconds on a CPU" : "cycles : cycles on a CPU",
		      ns ? "ns" : "cycles", in_units(callgrind, callgrind->total));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t caller = line[i].caller == ITSELF ? line[i].row : line[i].caller;
		uint64_t cost = in_units(callgrind, line[i].sums.cycles);

		if (caller != function)
			put_name(callgrind, "\nfn", caller);
		function = caller;
		if (line[i].caller == ITSELF) {
			output_format(out, "0 %" PRIu64 "\n", cost);
			continue;
		}
		put_name(callgrind, "cfn", line[i].row);
		output_format(out, "calls=%" PRIu64 " 0\n0 %" PRIu64 "\n", line[i].sums.calls,
			      cost);
	}
	free(line);
	return 0;
}

static void *begin(struct export *export)
{
	struct callgrind *callgrind = calloc(1, sizeof(*callgrind));

	if (callgrind)
		callgrind->export = export;
	return callgrind;
}

static void free_callgrind(void *format)
{
	struct callgrind *callgrind = format;

	interned_free(&callgrind->pair);
	free(callgrind->sums);
	free(callgrind);
}

const struct export_format export_callgrind = {
	.name = "callgrind",
	.about = "callgrind_annotate, KCachegrind: calls of each function by each, and their times",
	.lacks = "when anything happened, who waited, and what is no call; losses shorten the sums",
	.begin = begin,
	.leave = leave,
	.end = end,
	.free = free_callgrind,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a recording comes to: its calls, its functions, what called them, and its waits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/missing.h"
#include "diff.h"
#include "read/reader.h"

/* Longer paths are cut: no kernel's stack has so many calls. */
#define DEPTH_MAX FKT_CALL_DEPTH_MAX

/* The paths of the calls that are open, of a thread or of a CPU's interrupts; 0: not known. */
struct open_calls {
	uint32_t *path;
	uint32_t depth;
	uint32_t room;
};

/* Of threads by their number, and of CPUs. */
struct opens {
	struct open_calls *one;
	uint32_t count;
};

/**
 * struct collector - at work on a recording
 * @items: where it all goes
 * @recording: the recording
 * @number: its number
 * @elapsed: see collect()
 * @trace: the trace
 * @processes: its threads
 * @first: stamp of its beginning; of a ring, from when on no CPU's events were overwritten
 * @before: for how long some CPUs have events before that, which do not count
 * @part_cycles: how long each of its parts is
 * @name: by row, the number of its name plus 1
 * @kind: and of which kind it is
 * @thread: open calls of threads
 * @cpu: and of interrupts
 * @err: the first error
 */
struct collector {
	struct items *items;
	struct recording *recording;
	unsigned int number;
	bool elapsed;
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	uint64_t first;
	uint64_t before;
	uint64_t part_cycles;
	uint32_t *name;
	uint8_t *kind;
	struct opens thread;
	struct opens cpu;
	int err;
};

static void warn(void *arg, const char *sentence)
{
	selection_complain(arg, sentence);
}

static unsigned int part_of(const struct collector *collector, uint64_t stamp)
{
	uint64_t part =
		stamp > collector->first ? (stamp - collector->first) / collector->part_cycles : 0;

	return part < PARTS ? (unsigned int)part : PARTS - 1;
}

static uint64_t to_ns(const struct collector *collector, uint64_t cycles)
{
	return (uint64_t)fkt_cycles_to_ns(collector->trace, (int64_t)cycles);
}

/* ---- names ---- */

static enum kind kind_of(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_code_row *code = fkt_code_row(trace, fkt_row_code(trace, row));

	if (!code)
		return KIND_FUNCTION;
	return code->kind == FKT_KIND_CPU_ENTRY || code->first == FKT_CODE_SYSCALL_ENTRY ||
			       code->first == FKT_CODE_COMPAT_ENTRY
		       ? KIND_CALL
		       : KIND_FUNCTION;
}

/* The number of a row's name; FKT_PATHS_NONE without memory. */
static uint32_t row_name(struct collector *collector, uint32_t row)
{
	char name[FKT_NAME_BYTES];
	enum kind kind;
	uint32_t number;

	if (!collector->name[row]) {
		fkt_row_name(collector->trace, row, name);
		/* It stands between names of a path. */
		for (char *c = name; (c = strchr(c, ';')); c++)
			*c = ':';
		kind = kind_of(collector->trace, row);
		number = items_name(collector->items, kind, name);
		if (number == FKT_PATHS_NONE)
			return number;
		collector->name[row] = number + 1;
		collector->kind[row] = (uint8_t)kind;
	}
	return collector->name[row] - 1;
}

/* ---- calls ---- */

static struct open_calls *open_calls(struct opens *opens, uint32_t number)
{
	uint32_t count = opens->count ?: 64;
	struct open_calls *larger;

	if (number >= opens->count) {
		while (count <= number)
			count *= 2;
		larger = realloc(opens->one, count * sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + opens->count, 0, (count - opens->count) * sizeof(*larger));
		opens->one = larger;
		opens->count = count;
	}
	return &opens->one[number];
}

static void free_opens(struct opens *opens)
{
	for (uint32_t i = 0; i < opens->count; i++)
		free(opens->one[i].path);
	free(opens->one);
}

static struct open_calls *opens_of(struct collector *collector, const struct fkt_call *call)
{
	return call->interrupt ? open_calls(&collector->cpu, call->cpu)
			       : open_calls(&collector->thread, call->id);
}

static bool has_room(struct open_calls *open, uint32_t depth)
{
	uint32_t room = open->room ?: 8, *larger;

	while (room <= depth)
		room *= 2;
	if (room > open->room) {
		larger = realloc(open->path, room * sizeof(*larger));
		if (!larger)
			return false;
		open->path = larger;
		open->room = room;
	}
	return true;
}

static void on_enter(void *arg, const struct fkt_call *call)
{
	struct collector *collector = arg;
	struct open_calls *open = opens_of(collector, call);
	uint32_t name = row_name(collector, call->row), above = FKT_PATHS_ROOT, path;

	if (call->depth >= DEPTH_MAX)
		return;
	if (!open || name == FKT_PATHS_NONE || !has_room(open, call->depth)) {
		collector->err = -ENOMEM;
		return;
	}
	/* Of callers that nobody saw begin there is nothing. */
	while (open->depth < call->depth)
		open->path[open->depth++] = 0;
	for (uint32_t i = call->depth; i-- && above == FKT_PATHS_ROOT;)
		above = open->path[i];
	path = fkt_paths_below(&collector->items->paths, above, name);
	if (path == FKT_PATHS_NONE)
		collector->err = -ENOMEM;
	/* There are too many: it is not its caller, and no caller of others. */
	if (path == above)
		path = FKT_PATHS_MAX;
	open->path[call->depth] = path;
	open->depth = call->depth + 1;
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct collector *collector = arg;
	struct open_calls *open = opens_of(collector, call);
	const unsigned int part = part_of(collector, call->end);
	uint32_t name = row_name(collector, call->row), path = 0;
	uint64_t ns;
	int err;

	if (!open || name == FKT_PATHS_NONE) {
		collector->err = -ENOMEM;
		return;
	}
	if (call->entered && call->depth < open->depth) {
		path = open->path[call->depth];
		open->depth = call->depth;
	}
	if (call->partial || !call->counts || collector->err || call->end < collector->first)
		return;
	ns = to_ns(collector, collector->elapsed ? call->end - call->begin : call->own);
	err = items_add(collector->items, collector->kind[call->row], name, collector->number, part,
			ns);
	/* What has no caller is not told twice. */
	if (!err && path &&
	    (path == FKT_PATHS_MAX || collector->items->paths.node[path].above != FKT_PATHS_ROOT))
		err = items_add_path(collector->items, path, collector->number, part, ns);
	collector->err = err;
}

static void on_moved(void *arg, uint32_t from, uint32_t to)
{
	struct collector *collector = arg;
	struct open_calls *a, *b, open;

	if (!open_calls(&collector->thread, from > to ? from : to)) {
		collector->err = -ENOMEM;
		return;
	}
	a = &collector->thread.one[from];
	b = &collector->thread.one[to];
	open = *a;
	*a = *b;
	*b = open;
}

/* ---- waits ---- */

static int add_wait(struct collector *collector, const struct fkt_wait *wait, const char *what,
		    uint64_t from, uint64_t to)
{
	char name[3 * FKT_NAME_BYTES + FKT_COMM_BYTES], outer[FKT_NAME_BYTES];
	char inner[FKT_NAME_BYTES] = "";

	if (to < from)
		return 0;
	fkt_row_name(collector->trace, wait->outer, outer);
	if (wait->inner != wait->outer)
		fkt_row_name(collector->trace, wait->inner, inner);
	snprintf(name, sizeof(name), "%s %s %s%s%s",
		 fkt_process(collector->processes, wait->id)->comm, what, outer, *inner ? ";" : "",
		 inner);
	return items_add_wait(collector->items, name, collector->number, part_of(collector, to),
			      to_ns(collector, to - from));
}

/* Asleep until it was woken, and ready from then on until it ran. */
static void on_wait(void *arg, const struct fkt_wait *wait)
{
	struct collector *collector = arg;
	char state[FKT_STATE_BYTES];
	uint64_t ready = wait->left;

	/* How long those take that last is not known. */
	if (!wait->back || !wait->id || collector->err || wait->back < collector->first)
		return;
	fkt_state_letters(wait->state, state);
	if (wait->state) {
		ready = wait->woken && wait->woken < wait->back ? wait->woken : wait->back;
		collector->err = add_wait(collector, wait, state, wait->left, ready);
	}
	if (!collector->err && (!wait->state || wait->woken))
		collector->err = add_wait(collector, wait, "ready", ready, wait->back);
}

/* ---- the run ---- */

static int read_all(struct collector *collector, struct fkt_analysis *analysis,
		    struct fkt_reader *reader)
{
	struct fkt_event event;
	int what, err = 0;

	while (!err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (what == FKT_GAP) {
			fkt_analysis_gap(analysis, fkt_gap(reader));
		} else if (what == FKT_EVENT) {
			err = fkt_analysis_event(analysis, &event);
			if (fkt_is_process_event(event.code))
				fkt_processes_event(collector->processes, &event);
		}
		err = err ?: collector->err;
	}
	err = err ?: what;
	return err ?: fkt_analysis_end(analysis, fkt_read_stats(reader)->last) ?: collector->err;
}

static bool tell_lost(const struct selection *selection, uint64_t lost)
{
	char text[FKT_ERROR_BYTES];

	snprintf(text, sizeof(text), "%" PRIu64 " event%s lost while it was recorded", lost,
		 lost == 1 ? " was" : "s were");
	if (lost)
		selection_complain(selection, text);
	return !lost;
}

static int collect_from(struct collector *collector, const struct selection *selection)
{
	const struct fkt_analysis_hooks hooks = {
		.arg = collector,
		.enter = on_enter,
		.leave = on_leave,
		.wait = on_wait,
		.moved = on_moved,
	};
	struct fkt_reader *reader = fkt_reader_new(collector->trace);
	struct fkt_analysis *analysis = NULL;
	struct recording *recording = collector->recording;
	int err = -ENOMEM;

	collector->name = calloc(FKT_ROWS, sizeof(*collector->name));
	collector->kind = calloc(FKT_ROWS, sizeof(*collector->kind));
	collector->processes = fkt_processes_new(collector->trace);
	if (collector->processes)
		analysis = fkt_analysis_new(collector->trace, collector->processes, &hooks);
	if (reader && analysis && collector->name && collector->kind)
		err = read_all(collector, analysis, reader);
	if (!err) {
		recording->ns = (double)to_ns(collector, fkt_analysis_duration(analysis)) -
				(double)to_ns(collector, collector->before);
		recording->cpus = fkt_analysis_cpus(analysis);
		recording->whole =
			missing_tell(selection, collector->trace, fkt_read_stats(reader), false);
		recording->whole &= tell_lost(selection, fkt_read_stats(reader)->lost);
	}
	fkt_analysis_free(analysis);
	fkt_processes_free(collector->processes);
	fkt_reader_free(reader);
	free(collector->name);
	free(collector->kind);
	free_opens(&collector->thread);
	free_opens(&collector->cpu);
	return err;
}

/* ---- what was recorded ---- */

const char *const recorded_names[RECORDED_COUNT] = {
	[RECORDED_LAYERS] = "layers",
	[RECORDED_FILTER] = "filter",
	[RECORDED_LONGER] = "calls longer than",
};

static int tell_recorded(struct recording *recording, const struct fkt_trace *trace)
{
	const char *longer = fkt_info(trace, "longer_than_cycles");
	char least[FKT_DURATION_BYTES];
	const char *const value[RECORDED_COUNT] = {
		[RECORDED_LAYERS] = fkt_info(trace, "layers"),
		[RECORDED_FILTER] = fkt_info(trace, "filter"),
		/* As time: the same one is another number of cycles on another machine. */
		[RECORDED_LONGER] = longer ? fkt_duration(trace, strtoull(longer, NULL, 10), least)
					   : NULL,
	};

	for (unsigned int i = 0; i < RECORDED_COUNT; i++) {
		recording->recorded[i] = value[i] ? strdup(value[i]) : NULL;
		if (value[i] && !recording->recorded[i])
			return -ENOMEM;
	}
	return 0;
}

/* What some CPUs alone have of before says nothing of how often things come. */
static void begin_where_complete(struct collector *collector, const struct selection *selection)
{
	const uint64_t from = selection_complete_from(collector->trace);

	if (!from)
		return;
	collector->before = from - collector->first;
	collector->first = from;
	selection_complain(selection,
			   "is read from where on no CPU's events were overwritten; what "
			   "some CPUs have of before is left out");
}

static bool is_stream(const char *path)
{
	struct stat about;

	if (!strcmp(path, "-"))
		return true;
	/* What is not there, or a directory, the library says better. */
	return !stat(path, &about) && !S_ISREG(about.st_mode) && !S_ISBLK(about.st_mode) &&
	       !S_ISDIR(about.st_mode);
}

bool collect(struct recording *recording, unsigned int number, struct items *items, bool elapsed)
{
	struct selection selection = SELECTION_NONE;
	struct collector collector = {
		.items = items,
		.recording = recording,
		.number = number,
		.elapsed = elapsed,
	};
	char error[FKT_ERROR_BYTES] = "it is read twice, and so cannot be a stream";
	uint64_t last;
	int err;

	selection.path = recording->path;
	if (!is_stream(recording->path))
		collector.trace = fkt_open(recording->path, warn, &selection, error);
	if (!collector.trace) {
		selection_complain(&selection, error);
		return false;
	}
	if (!fkt_has_clock(collector.trace)) {
		selection_complain(&selection, "does not say how fast its clock is");
		err = 1;
	} else if (!fkt_span(collector.trace, &collector.first, &last)) {
		selection_complain(&selection, "has no events");
		err = 1;
	} else {
		missing_tell_short_calls(&selection, collector.trace);
		begin_where_complete(&collector, &selection);
		collector.part_cycles = (last - collector.first) / PARTS + 1;
		err = tell_recorded(recording, collector.trace);
		err = err ?: collect_from(&collector, &selection);
		if (err)
			selection_complain(&selection,
					   err == -ENOMEM ? "out of memory" : strerror(-err));
	}
	fkt_close(collector.trace);
	return !err;
}

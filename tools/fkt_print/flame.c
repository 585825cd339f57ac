// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --folded and --flamegraph: weights by call path. These are the own time of calls, below their
 * thread's name, and what threads did outside of all calls, so that all comes to what the summary
 * comes to; or how long threads were off the CPU, by the stack with which they left it; or how long
 * those were off it that were woken, by the stack that woke them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/create.h"
#include "flame.h"
#include "print.h"
#include "trace/fields.h"
#include "trace/internal.h"

/* Keys of nodes while the trace is read. */
#define KEY_ROW	       (1ull << 56)
#define KEY_THREAD     (2ull << 56)
#define KEY_INTERRUPTS (3ull << 56)
#define KEY_NAME       (4ull << 56)
#define KEY_KIND       (255ull << 56)

enum flame_what {
	FLAME_OWN,
	FLAME_OFF_CPU,
	FLAME_WAKEUPS,
};

static const char *const whats[] = { "own", "off-cpu", "wakeups" };
static const char *const titles[] = {
	"Own time of calls",
	"Time off the CPU, by where threads left it",
	"Time off the CPU, by what ended it",
};

static enum flame_what what;
static const char *svg; /* NULL: as lines */

/* The names of this trace and of the one before it, whose paths are kept. */
static struct fkt_path_names names;
static struct fkt_paths before;
static bool before_ns; /* they are in nanoseconds */

/**
 * struct off - how a thread left the CPU, and was woken
 * @left: stamp of the last switch away from it
 * @path: of its stack, 0 when that is not known
 * @woken: stamp of the first wake-up since then
 * @waker: path of the stack of that, 0 when that is not known
 */
struct off {
	uint64_t left;
	uint64_t woken;
	uint32_t path;
	uint32_t waker;
};

/**
 * struct flame_view - the view
 * @context: what it knows
 * @calls: calls are picked: nothing outside of them is counted
 * @paths: weights in cycles, by keys
 * @frames: of calls that are open, their paths
 * @own: own time of each thread's calls, those of interrupts apart
 * @off: of each thread
 * @threads: of how many there is @own and @off
 */
struct flame_view {
	const struct context *context;
	bool calls;
	struct fkt_paths paths;
	struct frames *frames;
	uint64_t *own;
	struct off *off;
	uint32_t threads;
};

static void flame_free(void *view)
{
	struct flame_view *flame = view;
	const bool is_before = flame->context->options->is_before;

	fkt_paths_free(&flame->paths);
	frames_free(flame->frames);
	free(flame->own);
	free(flame->off);
	free(flame);
	/* What is of the trace before this one is needed for this one. */
	if (is_before)
		return;
	fkt_paths_free(&before);
	fkt_path_names_free(&names);
}

static void *flame_new(const struct context *context)
{
	struct flame_view *flame = calloc(1, sizeof(*flame));

	if (!flame)
		return NULL;
	flame->context = context;
	flame->calls = filter_picks_calls(context->filter);
	flame->frames = frames_new(sizeof(uint32_t), NULL);
	if (fkt_paths_init(&flame->paths) || !flame->frames) {
		flame_free(flame);
		return NULL;
	}
	return flame;
}

static int grow(struct flame_view *flame, uint32_t id)
{
	uint32_t room = flame->threads ?: 256;
	struct off *off;
	uint64_t *own;

	if (id < flame->threads)
		return 0;
	while (room <= id)
		room *= 2;
	own = realloc(flame->own, room * sizeof(*own));
	if (own)
		flame->own = own;
	off = realloc(flame->off, room * sizeof(*off));
	if (off)
		flame->off = off;
	if (!own || !off)
		return -ENOMEM;
	memset(own + flame->threads, 0, (room - flame->threads) * sizeof(*own));
	memset(off + flame->threads, 0, (room - flame->threads) * sizeof(*off));
	flame->threads = room;
	return 0;
}

/* ---- calls ---- */

/* A path one step longer; FKT_PATHS_NONE without memory, also of one that is. */
static uint32_t step(struct flame_view *flame, uint32_t path, uint64_t key)
{
	return path == FKT_PATHS_NONE ? path : fkt_paths_below(&flame->paths, path, key);
}

static uint32_t thread_path(struct flame_view *flame, uint32_t id)
{
	return step(flame, FKT_PATHS_ROOT, KEY_THREAD | id);
}

/* One whose caller nobody saw begin hangs on the nearest that somebody did. */
static uint32_t call_path(struct flame_view *flame, const struct fkt_call *call)
{
	const uint32_t *above = NULL;
	uint32_t path = 0;

	for (uint32_t depth = call->depth; depth-- && !path;) {
		above = frames_at(flame->frames, call, depth);
		path = above ? *above : 0;
	}
	if (!path)
		path = call->interrupt ? step(flame, FKT_PATHS_ROOT, KEY_INTERRUPTS)
				       : thread_path(flame, call->id);
	return step(flame, path, KEY_ROW | call->row);
}

/* The same path below another thread's name. */
static uint32_t path_of(struct flame_view *flame, uint32_t path, uint32_t id)
{
	const struct fkt_path *node = &flame->paths.node[path];
	const uint64_t key = node->key;

	if (path == FKT_PATHS_ROOT)
		return path;
	if ((key & KEY_KIND) == KEY_THREAD)
		return thread_path(flame, id);
	path = path_of(flame, node->above, id);
	return step(flame, path, key);
}

static int flame_enter(void *view, const struct fkt_call *call, bool passes)
{
	struct flame_view *flame = view;
	uint32_t path, *frame;

	(void)passes;
	if (what != FLAME_OWN)
		return 0;
	path = call_path(flame, call);
	frame = path == FKT_PATHS_NONE ? NULL : frames_enter(flame->frames, call);
	if (!frame)
		return -ENOMEM;
	*frame = path;
	return 0;
}

/* What a thread had of a call's own time. */
static int add_own(struct flame_view *flame, uint32_t path, const struct fkt_call *call,
		   uint32_t id, uint64_t own)
{
	if (path == FKT_PATHS_NONE || grow(flame, id))
		return -ENOMEM;
	flame->paths.node[path].weight += own;
	if (!call->interrupt)
		flame->own[id] += own;
	return 0;
}

static int flame_leave(void *view, const struct fkt_call *call, bool passes)
{
	struct flame_view *flame = view;
	const uint32_t *frame = call->entered ? frames_at(flame->frames, call, call->depth) : NULL;
	uint32_t path = frame ? *frame : 0;

	if (what != FLAME_OWN)
		return 0;
	if (call->entered)
		frames_leave(flame->frames, call);
	if (!call->own || (flame->calls && !passes))
		return 0;
	if (!path)
		path = call_path(flame, call);
	return add_own(flame, path, call, call->id, call->own - call->former_own)
		       ?: call->former_own ? add_own(flame, path_of(flame, path, call->former),
						     call, call->former, call->former_own)
					   : 0;
}

/* What is charged to the calls from now on is the thread's that it has become. */
static int flame_moved(void *view, uint32_t from, uint32_t to)
{
	struct flame_view *flame = view;
	const struct fkt_call of = { .id = to };
	int err = frames_move(flame->frames, from, to);
	uint32_t *frame;

	for (uint32_t depth = 0; !err && (frame = frames_at(flame->frames, &of, depth)); depth++) {
		*frame = path_of(flame, *frame, to);
		err = *frame == FKT_PATHS_NONE ? -ENOMEM : 0;
	}
	return err;
}

/* What a thread did outside of all calls, as a row. */
static int add_outside(struct flame_view *flame, uint32_t id, uint32_t row, uint64_t cycles)
{
	uint32_t path;

	if (!cycles)
		return 0;
	path = step(flame, thread_path(flame, id), KEY_ROW | row);
	if (path == FKT_PATHS_NONE)
		return -ENOMEM;
	flame->paths.node[path].weight += cycles;
	return 0;
}

static int add_thread(struct flame_view *flame, const struct fkt_thread_sums *sums)
{
	const struct fkt_process *process = fkt_process(flame->context->processes, sums->id);
	const uint64_t own = sums->id < flame->threads ? flame->own[sums->id] : 0;
	const uint64_t known = sums->user + sums->before + sums->interrupts + sums->left_out + own;
	const uint64_t rest = sums->cycles > known ? sums->cycles - known : 0;
	const uint32_t row = !sums->id	     ? FKT_ROW_UNKNOWN
			     : !process->tid ? FKT_ROW_IDLE
					     : FKT_ROW_KERNEL;

	return add_outside(flame, sums->id, FKT_ROW_USER, sums->user)
		       ?: add_outside(flame, sums->id, FKT_ROW_BEFORE, sums->before)
		       ?: add_outside(flame, sums->id, FKT_ROW_LEFT_OUT, sums->left_out)
		       ?: add_outside(flame, sums->id, row, rest);
}

static int add_threads(struct flame_view *flame)
{
	struct fkt_thread_sums *sums;
	size_t count = 0;
	int err = 0;

	if (what != FLAME_OWN || flame->calls)
		return 0;
	sums = fkt_analysis_threads(flame->context->analysis, &count);
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = add_thread(flame, &sums[i]);
	free(sums);
	return err;
}

/* ---- waits ---- */

static uint32_t name_path(struct flame_view *flame, uint32_t path, char kind, const char *name)
{
	char text[FKT_NAME_BYTES + FKT_FRAME_BYTES];
	uint32_t number;

	snprintf(text, sizeof(text), "%c%s", kind, name);
	number = fkt_path_name(&names, text);
	return number == FKT_PATHS_NONE ? number : step(flame, path, KEY_NAME | number);
}

/* A stack below a thread's name, the outermost frame first. */
static uint32_t stack_path(struct flame_view *flame, uint32_t id, const struct fkt_stack *stack)
{
	struct fkt_trace *trace = flame->context->trace;
	unsigned int begin = fkt_stack_begin(trace, stack);
	uint32_t path = thread_path(flame, id);
	char frame[FKT_FRAME_BYTES + 1];

	if (stack->cut)
		path = name_path(flame, path, FLAME_OTHER, "...");
	for (unsigned int i = stack->count; i-- > begin;) {
		*fkt_put_frame_name(trace, frame, stack, i) = '\0';
		path = name_path(flame, path, FLAME_FUNCTION, frame);
	}
	return path;
}

static bool flame_no_events(const void *view)
{
	(void)view;
	return what == FLAME_OWN;
}

/* All are looked at: what began before the time that is asked for may go on in it. */
static int flame_event(void *view, const struct fkt_event *event, bool passes)
{
	struct flame_view *flame = view;
	const struct fkt_stack *stack = flame->context->stack;
	const bool known = stack && stack->known;
	uint32_t id, by, path = 0;
	struct off *off;

	(void)passes;
	if (event->words < 1 || (event->code != FKT_CODE_SWITCH && event->code != FKT_CODE_WAKEUP &&
				 event->code != FKT_CODE_WAKEUP_NEW))
		return 0;
	id = fkt_process_id(flame->context->processes, fkt_arg32(event, 0), event->cpu);
	by = fkt_process_id(flame->context->processes, event->pid, event->cpu);
	if (grow(flame, id))
		return -ENOMEM;
	off = &flame->off[id];
	if (event->code == FKT_CODE_SWITCH) {
		if (fkt_is_no_switch(event))
			return 0;
		if (known && what == FLAME_OFF_CPU)
			path = stack_path(flame, id, stack);
		*off = (struct off){ .left = event->stamp, .path = path, .woken = off->woken };
	} else if (off->woken <= off->left) {
		if (known && what == FLAME_WAKEUPS)
			path = stack_path(flame, by, stack);
		off->woken = event->stamp;
		off->waker = path;
	}
	return path == FKT_PATHS_NONE ? -ENOMEM : 0;
}

static int flame_wait(void *view, const struct fkt_wait *wait, bool passes)
{
	struct flame_view *flame = view;
	const struct off none = { 0 },
			 *off = wait->id < flame->threads ? &flame->off[wait->id] : &none;
	uint64_t to = wait->to;
	uint32_t path;

	if (what == FLAME_OWN || !passes)
		return 0;
	if (what == FLAME_OFF_CPU) {
		path = off->left == wait->left ? off->path : 0;
		if (!path) {
			path = step(flame, thread_path(flame, wait->id), KEY_ROW | wait->outer);
			if (wait->inner != wait->outer)
				path = step(flame, path, KEY_ROW | wait->inner);
		}
	} else {
		if (!wait->woken)
			return 0;
		if (wait->woken < to)
			to = wait->woken;
		path = off->woken == wait->woken ? off->waker : 0;
		if (!path)
			path = step(flame, thread_path(flame, wait->waker),
				    KEY_ROW | wait->waker_row);
		path = step(flame, path, KEY_THREAD | wait->id);
	}
	if (path == FKT_PATHS_NONE)
		return -ENOMEM;
	if (to > wait->from)
		flame->paths.node[path].weight += to - wait->from;
	return 0;
}

/* ---- names ---- */

static char kind_of(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_code_row *code;

	if (row >= FKT_ROW_USER)
		return FLAME_OUTSIDE;
	code = fkt_code_row(trace, fkt_row_code(trace, row));
	if (!code)
		return FLAME_OTHER;
	if (code->kind == FKT_KIND_CPU_ENTRY)
		return FLAME_INTERRUPT;
	return code->first == FKT_CODE_SYSCALL_ENTRY || code->first == FKT_CODE_COMPAT_ENTRY
		       ? FLAME_SYSCALL
		       : FLAME_FUNCTION;
}

/* The name of a node; FKT_PATHS_NONE without memory. */
static uint32_t name_of(const struct flame_view *flame, uint64_t key)
{
	const struct context *context = flame->context;
	const uint32_t number = (uint32_t)(key & ~KEY_KIND);
	char text[1 + FKT_NAME_BYTES];
	const struct fkt_process *process;

	switch (key & KEY_KIND) {
	case KEY_NAME:
		return number;
	case KEY_INTERRUPTS:
		return fkt_path_name(&names, (const char[]){ FLAME_INTERRUPT, 'i', 'n', 't', 'e',
							     'r', 'r', 'u', 'p', 't', 's', 0 });
	case KEY_THREAD:
		process = fkt_process(context->processes, number);
		snprintf(text, sizeof(text), "%c%s", FLAME_THREAD,
			 !number	 ? "unknown"
			 : !process->tid ? "idle"
					 : process->comm);
		break;
	default:
		*text = kind_of(context->trace, number);
		fkt_row_name(context->trace, number, text + 1);
		if (number == FKT_ROW_USER && !fkt_analysis_has_syscalls(context->analysis))
			strcpy(text + 1, "not traced");
	}
	/* It stands between names. */
	for (char *c = text; *c; c++)
		if (*c == ';')
			*c = ':';
	return fkt_path_name(&names, text);
}

/* The same by names, in nanoseconds where the trace knows them. */
static int by_names(const struct flame_view *flame, struct fkt_paths *paths)
{
	struct fkt_trace *trace = flame->context->trace;
	uint32_t *node = malloc(flame->paths.count * sizeof(*node)), name;
	int err = node ? fkt_paths_init(paths) : -ENOMEM;

	for (uint32_t i = 0; i < flame->paths.count && !err; i++) {
		const struct fkt_path *path = &flame->paths.node[i];

		node[i] = FKT_PATHS_ROOT;
		if (i) {
			name = name_of(flame, path->key);
			node[i] = name == FKT_PATHS_NONE
					  ? name
					  : fkt_paths_below(paths, node[path->above], name);
		}
		if (node[i] == FKT_PATHS_NONE)
			err = -ENOMEM;
		else
			paths->node[node[i]].weight += path->weight;
	}
	/* Rounded when all was added. */
	for (uint32_t i = 0; i < paths->count && !err && fkt_has_clock(trace); i++)
		paths->node[i].weight =
			(uint64_t)fkt_cycles_to_ns(trace, (int64_t)paths->node[i].weight);
	free(node);
	return err;
}

/* ---- printing ---- */

struct compared {
	uint32_t above;
	uint32_t node;
	const char *name;
};

static int compare(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;

	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	return strcmp(x->name, y->name);
}

int flame_order(struct flame_order *order, const struct flame *flame)
{
	const uint32_t count = flame->paths.count;
	struct compared *all = malloc(count * sizeof(*all));
	const struct fkt_path *path;
	uint32_t at = 0;

	order->first = calloc(count + 1ul, sizeof(*order->first));
	order->node = calloc(count, sizeof(*order->node));
	order->total = calloc(count, sizeof(*order->total));
	if (!all || !order->first || !order->node || !order->total) {
		free(all);
		return -ENOMEM;
	}
	for (uint32_t i = count; i-- > 0;) {
		path = &flame->paths.node[i];
		order->total[i] += path->weight;
		if (!i)
			break;
		order->total[path->above] += order->total[i];
		all[i - 1] = (struct compared){ .above = path->above,
						.node = i,
						.name = flame->names->name[path->key] };
	}
	qsort(all, count - 1, sizeof(*all), compare);
	for (uint32_t i = 0; i < count; i++) {
		order->first[i] = at;
		for (; at < count - 1 && all[at].above == i; at++)
			order->node[at] = all[at].node;
	}
	order->first[count] = at;
	free(all);
	return 0;
}

void flame_order_free(struct flame_order *order)
{
	free(order->first);
	free(order->node);
	free(order->total);
}

/* The names of a path, from the outermost one. */
static void put_path(FILE *file, const struct flame *flame, uint32_t node)
{
	const struct fkt_path *path = &flame->paths.node[node];

	/* What there were too many paths for. */
	if (node == FKT_PATHS_ROOT) {
		fputs("other", file);
		return;
	}
	if (path->above != FKT_PATHS_ROOT) {
		put_path(file, flame, path->above);
		putc(';', file);
	}
	fputs(flame->names->name[path->key] + 1, file);
}

/* With a trace to compare with, its weight stands before this one's, as difffolded.pl has it. */
static void put_folded(FILE *file, const struct flame *flame, const struct flame_order *order,
		       uint32_t node, uint32_t old)
{
	uint64_t weight = flame->paths.node[node].weight, was = 0;
	uint32_t below;

	if (flame->before)
		was = flame->before->node[old].weight;
	if (weight || was) {
		put_path(file, flame, node);
		if (flame->before)
			fprintf(file, " %" PRIu64, was);
		fprintf(file, " %" PRIu64 "\n", weight);
	}
	for (uint32_t i = order->first[node]; i < order->first[node + 1]; i++) {
		below = order->node[i];
		put_folded(file, flame, order, below,
			   flame->before ? fkt_paths_below(flame->before, old,
							   flame->paths.node[below].key)
					 : 0);
	}
}

/* What was only in the trace before is in this one with no weight. */
static int add_old(struct fkt_paths *paths)
{
	uint32_t *node = malloc(before.count * sizeof(*node));
	int err = node ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < before.count && !err; i++) {
		node[i] = i ? fkt_paths_below(paths, node[before.node[i].above], before.node[i].key)
			    : FKT_PATHS_ROOT;
		err = node[i] == FKT_PATHS_NONE ? -ENOMEM : 0;
	}
	free(node);
	return err;
}

static int write_flame(const struct context *context, struct flame *flame)
{
	struct flame_order order = { 0 };
	FILE *file;
	int err;

	if (!svg) {
		err = flame_order(&order, flame);
		if (!err && order.total[FKT_PATHS_ROOT])
			put_folded(context->out->file, flame, &order, FKT_PATHS_ROOT,
				   FKT_PATHS_ROOT);
		else if (!err)
			fprintf(stderr, "%s: %s: no time that was asked for was seen\n",
				program_invocation_short_name,
				selection_path(&context->options->selected));
		flame_order_free(&order);
		return err;
	}
	file = fkt_create(svg);
	if (!file)
		return 1;
	err = flame_svg(file, flame);
	return fkt_created(file, svg) ? err : err ?: 1;
}

static int flame_print(const struct context *context, void *view)
{
	struct flame flame = { .names = &names, .title = titles[what] };
	int err = add_threads(view);

	if (!err)
		err = by_names(view, &flame.paths);
	if (!err && context->options->is_before) {
		before = flame.paths;
		before_ns = fkt_has_clock(context->trace);
		return 0;
	}
	if (!err && context->options->before && before_ns != fkt_has_clock(context->trace)) {
		fprintf(stderr, "%s: only one of %s and %s says how fast its clock is\n",
			program_invocation_short_name, context->options->before,
			selection_path(&context->options->selected));
		err = 1;
	}
	if (!err && context->options->before) {
		flame.before = &before;
		err = add_old(&flame.paths);
	}
	if (!err)
		err = write_flame(context, &flame);
	fkt_paths_free(&flame.paths);
	return err;
}

enum {
	OPTION_FOLDED,
	OPTION_FLAMEGRAPH,
	OPTION_WEIGHT,
	OPTION_DIFF,
};

static const struct argp_option flame_options[] = {
	[OPTION_FOLDED] = { .name = "folded",
			    .doc = "Own time by call path, a;b;c NANOSECONDS, as tools for flame "
				   "graphs read it" },
	[OPTION_FLAMEGRAPH] = { .name = "flamegraph",
				.arg = "OUT.svg",
				.doc = "The same as a picture, that a browser zooms and searches" },
	[OPTION_WEIGHT] = { .name = "flame-of",
			    .arg = "WHAT",
			    .doc = "Of what these are: own (own time, the default); off-cpu (time "
				   "off the CPU by where threads left it: by stack if the trace "
				   "has stacks of switches); wakeups (the same by what ended it)" },
	[OPTION_DIFF] = { .name = "diff",
			  .arg = "BEFORE",
			  .doc = "With these: how they differ from the trace BEFORE" },
};

static void flame_parse(struct argp_state *state, struct options *options, unsigned int option,
			char *arg)
{
	unsigned int i = 0;

	switch (option) {
	case OPTION_FOLDED:
		options->folded = true;
		break;
	case OPTION_FLAMEGRAPH:
		svg = arg;
		break;
	case OPTION_WEIGHT:
		while (i < sizeof(whats) / sizeof(whats[0]) && strcmp(arg, whats[i]))
			i++;
		if (i == sizeof(whats) / sizeof(whats[0]))
			argp_error(state, "--flame-of=%s: it can be own, off-cpu or wakeups", arg);
		what = (enum flame_what)i;
		break;
	case OPTION_DIFF:
		options->before = arg;
		break;
	}
}

const struct view view_flame = {
	.name = "folded",
	.wants = VIEW_SUMS,
	.compares = true,
	.about = "time by call path",
	.option = flame_options,
	.parse = flame_parse,
	.new = flame_new,
	.event = flame_event,
	.no_events = flame_no_events,
	.enter = flame_enter,
	.leave = flame_leave,
	.wait = flame_wait,
	.moved = flame_moved,
	.print = flame_print,
	.free = flame_free,
};

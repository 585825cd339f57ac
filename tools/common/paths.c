// SPDX-License-Identifier: GPL-2.0-or-later
/* Weights by call path, as the events of a trace say them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "paths.h"
#include "sum/outside.h"
#include "trace/fields.h"
#include "trace/maps.h"

/* Keys of nodes while the trace is read: rows, and numbers of names. */
#define KEY_ROW	  (1ull << 56)
#define KEY_NAME  (2ull << 56)
#define KEY_KIND  (255ull << 56)

/* Paths of calls: below the thread's name, as many as there can be. */
#define STEPS_MAX (FKT_CALL_DEPTH_MAX + 1)

/**
 * struct frame - an open call
 * @path: its path
 * @former: the same of the thread that had it up to an exec; 0 if none did
 * @told: how much of its own time is by other paths than @path, in cycles
 * @former_told: how much of that was there by other ones than @former
 * @renamed: its own time by the names that its thread had before: the last of its struct renamed,
 *	by its place + 1
 * @former_renamed: the same of the thread of @former
 */
struct frame {
	uint32_t path;
	uint32_t former;
	uint64_t told;
	uint64_t former_told;
	uint32_t renamed;
	uint32_t former_renamed;
};

/**
 * struct of_thread - what is kept of a thread
 * @name: the path that is its name, 0 when it is to be asked for
 * @own: own time of its calls, those of interrupts apart
 * @told: what it did outside of calls by the names that it had before
 * @renamed: the last of its struct renamed, by its place + 1
 * @left: stamp of the last switch away from it
 * @woken: stamp of the first wake-up since then
 * @stack: path of the stack with which it left, 0 when that is not known
 * @waker: path of the stack that woke it, or of the thread's name
 * @waker_stack: it is that of a stack
 */
struct of_thread {
	uint32_t name;
	uint64_t own;
	struct fkt_outside told;
	uint32_t renamed;
	uint64_t left;
	uint64_t woken;
	uint32_t stack;
	uint32_t waker;
	bool waker_stack;
};

/**
 * struct renamed - what a thread did up to a change of its name: outside of calls, while it was not
 *	known what it was; or in a call that was open
 * @path: the path that was its name, or that of the call
 * @next: the one of the change before, by its place + 1
 * @cycles: how much
 */
struct renamed {
	uint32_t path;
	uint32_t next;
	uint64_t cycles;
};

struct paths {
	enum paths_of of;
	bool outside; /* what is done outside of all calls is asked for */
	struct fkt_trace *trace;
	struct fkt_processes *processes;
	struct fkt_path_names *names;
	struct fkt_paths tree; /* weights in cycles, by keys */
	struct frames *frames;
	struct of_thread *thread;
	uint32_t threads;
	uint32_t moved; /* its name, which is another one now, is yet to come; or 0 */
	struct renamed *renamed;
	size_t renames;
	size_t rename_room;
};

struct paths *paths_new(enum paths_of of, bool outside, struct fkt_trace *trace,
			struct fkt_processes *processes, struct fkt_path_names *names)
{
	struct paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return NULL;
	paths->of = of;
	paths->outside = outside && of == PATHS_OWN;
	paths->trace = trace;
	paths->processes = processes;
	paths->names = names;
	paths->frames = frames_new(sizeof(struct frame), NULL);
	if (fkt_paths_init(&paths->tree) || !paths->frames) {
		paths_free(paths);
		return NULL;
	}
	return paths;
}

void paths_free(struct paths *paths)
{
	if (!paths)
		return;
	fkt_paths_free(&paths->tree);
	frames_free(paths->frames);
	free(paths->thread);
	free(paths->renamed);
	free(paths);
}

static struct of_thread *thread_of(struct paths *paths, uint32_t id)
{
	uint32_t room = paths->threads ?: 256;
	struct of_thread *larger;

	if (id < paths->threads)
		return &paths->thread[id];
	while (room <= id)
		room *= 2;
	larger = reallocarray(paths->thread, room, sizeof(*larger));
	if (!larger)
		return NULL;
	memset(larger + paths->threads, 0, (room - paths->threads) * sizeof(*larger));
	paths->thread = larger;
	paths->threads = room;
	return &paths->thread[id];
}

/* ---- paths: FKT_PATHS_NONE without memory ---- */

/* One step longer; also of one that is FKT_PATHS_NONE. */
static uint32_t step(struct paths *paths, uint32_t path, uint64_t key)
{
	return path == FKT_PATHS_NONE ? path : fkt_paths_below(&paths->tree, path, key);
}

static uint32_t number_of(const struct paths *paths, char kind, const char *name)
{
	char text[1 + FKT_NAME_BYTES + FKT_FRAME_BYTES];

	snprintf(text, sizeof(text), "%c%s", kind, name);
	/* They stand between names, and between lines. */
	for (char *c = text; *c; c++)
		if (*c == ';' || *c == '\n')
			*c = ':';
	return fkt_path_name(paths->names, text);
}

static uint32_t name_path(struct paths *paths, uint32_t path, char kind, const char *name)
{
	const uint32_t number = number_of(paths, kind, name);

	return number == FKT_PATHS_NONE ? number : step(paths, path, KEY_NAME | number);
}

static const char *thread_name(const struct paths *paths, uint32_t id)
{
	const struct fkt_process *process = fkt_process(paths->processes, id);

	return !id ? "unknown" : !process->tid ? "idle" : process->comm;
}

static uint32_t thread_path(struct paths *paths, uint32_t id)
{
	struct of_thread *thread = thread_of(paths, id);

	if (!thread)
		return FKT_PATHS_NONE;
	if (!thread->name)
		thread->name =
			name_path(paths, FKT_PATHS_ROOT, PATHS_THREAD, thread_name(paths, id));
	return thread->name;
}

/* The same path of calls below another thread's name. */
static uint32_t path_of(struct paths *paths, uint32_t path, uint32_t id)
{
	uint64_t keys[STEPS_MAX];
	unsigned int count = 0;

	for (uint32_t node = path; node && count < STEPS_MAX; node = paths->tree.node[node].above)
		keys[count++] = paths->tree.node[node].key;
	path = thread_path(paths, id);
	/* The outermost one is the name. */
	while (count > 1) {
		path = step(paths, path, keys[count - 2]);
		count--;
	}
	return path;
}

/* A stack below a thread's name, the outermost frame first. */
static uint32_t stack_path(struct paths *paths, uint32_t id, const struct fkt_stack *stack)
{
	unsigned int begin = fkt_stack_begin(paths->trace, stack);
	uint32_t path = thread_path(paths, id);
	char frame[FKT_FRAME_BYTES + 1];
	struct fkt_stack placed;

	stack = fkt_stack_placed(paths->trace, stack, &placed);
	if (stack->cut)
		path = name_path(paths, path, PATHS_OTHER, "...");
	for (unsigned int i = stack->count; i-- > begin && path != FKT_PATHS_NONE;) {
		*fkt_put_frame_name(paths->trace, frame, stack, i) = '\0';
		path = name_path(paths, path, PATHS_FUNCTION, frame);
	}
	return path;
}

static int tell_outside(struct paths *paths, uint32_t id, const struct fkt_outside *now);

/* ---- calls ---- */

static int keep_renamed(struct paths *paths, uint32_t *last, uint32_t path, uint64_t cycles)
{
	struct renamed *larger;

	if (!cycles)
		return 0;
	if (paths->renames == paths->rename_room) {
		larger = reallocarray(paths->renamed, paths->rename_room + 16, 2 * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		paths->renamed = larger;
		paths->rename_room = 2 * (paths->rename_room + 16);
	}
	paths->renamed[paths->renames++] =
		(struct renamed){ .path = path, .next = *last, .cycles = cycles };
	*last = (uint32_t)paths->renames;
	return 0;
}

/* The calls that are open are those of the thread, as it is called now. */
static int take_name(struct paths *paths, uint32_t id)
{
	const struct fkt_call of = { .id = id };
	uint32_t before = 0, above = 0, path;
	struct frame *frame;

	for (uint32_t depth = 0; (frame = frames_at(paths->frames, &of, depth)); depth++) {
		path = frame->path;
		if (!path)
			continue;
		if (above && paths->tree.node[path].above == before)
			frame->path = step(paths, above, paths->tree.node[path].key);
		else
			frame->path = path_of(paths, path, id);
		if (frame->path == FKT_PATHS_NONE)
			return -ENOMEM;
		before = path;
		above = frame->path;
	}
	return 0;
}

/* Of the calls that are open, the time up to now is by the name that their thread had. */
static int keep_name(struct paths *paths, const struct fkt_analysis *analysis, uint32_t id)
{
	const struct fkt_call of = { .id = id };
	struct frame *frame;
	uint64_t own;
	int err = 0;

	for (uint32_t depth = 0; !err && (frame = frames_at(paths->frames, &of, depth)); depth++) {
		own = fkt_analysis_open_own(analysis, id, depth);
		if (!frame->path || own <= frame->told)
			continue;
		err = keep_renamed(paths, &frame->renamed, frame->path, own - frame->told);
		frame->told = own;
	}
	return err;
}

/* After a change of its name, once it is known what the thread is called now. */
static int settle(struct paths *paths)
{
	const uint32_t id = paths->moved;

	paths->moved = 0;
	return id ? take_name(paths, id) : 0;
}

/* One whose caller nobody saw begin hangs on the nearest that somebody did. */
static uint32_t call_path(struct paths *paths, const struct fkt_call *call)
{
	const struct frame *above;
	uint32_t path = 0;

	for (uint32_t depth = call->depth; depth-- && !path;) {
		above = frames_at(paths->frames, call, depth);
		path = above ? above->path : 0;
	}
	if (!path)
		path = call->interrupt
			       ? name_path(paths, FKT_PATHS_ROOT, PATHS_INTERRUPT, "interrupts")
			       : thread_path(paths, call->id);
	return step(paths, path, KEY_ROW | call->row);
}

int paths_enter(struct paths *paths, const struct fkt_call *call)
{
	struct frame *frame;
	uint32_t path;

	if (paths->of != PATHS_OWN)
		return 0;
	if (settle(paths))
		return -ENOMEM;
	path = call_path(paths, call);
	frame = path == FKT_PATHS_NONE ? NULL : frames_enter(paths->frames, call);
	if (!frame)
		return -ENOMEM;
	frame->path = path;
	return 0;
}

/* What a thread had of a call's own time. */
static int add_own(struct paths *paths, uint32_t path, const struct fkt_call *call, uint32_t id,
		   uint64_t own)
{
	struct of_thread *thread = thread_of(paths, id);

	if (path == FKT_PATHS_NONE || !thread)
		return -ENOMEM;
	paths->tree.node[path].weight += own;
	if (!call->interrupt)
		thread->own += own;
	return 0;
}

/* And of that what it had by other names. */
static int add_renamed(struct paths *paths, uint32_t last, const struct fkt_call *call, uint32_t id)
{
	int err = 0;

	for (uint32_t i = last; i && !err; i = paths->renamed[i - 1].next)
		err = add_own(paths, paths->renamed[i - 1].path, call, id,
			      paths->renamed[i - 1].cycles);
	return err;
}

static uint64_t more(uint64_t now, uint64_t told)
{
	return now > told ? now - told : 0;
}

/* What it had by other names, of a call of which was not known that it was in it; adds to @told. */
static int add_late(struct paths *paths, uint32_t last, const struct fkt_call *call, uint64_t *told)
{
	const struct renamed *renamed;
	uint64_t cycles;
	int err = 0;

	for (uint32_t i = last; i && !err; i = renamed->next) {
		renamed = &paths->renamed[i - 1];
		cycles = more(call->own, *told);
		if (renamed->cycles < cycles)
			cycles = renamed->cycles;
		*told += cycles;
		err = add_own(paths, step(paths, renamed->path, KEY_ROW | call->row), call,
			      call->id, cycles);
	}
	return err;
}

/*
 * What was pending when the thread's name changed, where it has come out to have been this call;
 * what has come out to be another thing is told.
 */
static int take_late(struct paths *paths, struct fkt_analysis *analysis,
		     const struct fkt_call *call, uint32_t *late)
{
	struct of_thread *thread = thread_of(paths, call->id);
	struct fkt_outside now;

	if (!thread)
		return -ENOMEM;
	if (!thread->renamed)
		return 0;
	now = fkt_analysis_outside(analysis, call->id);
	if (now.row == call->row) {
		*late = thread->renamed;
		thread->renamed = 0;
		thread->told.pending = 0;
	}
	return tell_outside(paths, call->id, &now);
}

int paths_leave(struct paths *paths, struct fkt_analysis *analysis, const struct fkt_call *call,
		bool counts)
{
	struct frame *open, frame = { 0 };
	uint32_t late = 0;
	int err;

	if (paths->of != PATHS_OWN)
		return 0;
	if (settle(paths))
		return -ENOMEM;
	open = call->entered ? frames_at(paths->frames, call, call->depth) : NULL;
	/* All of it was pending, outside of calls. */
	if (!open && call->own && !call->interrupt && take_late(paths, analysis, call, &late))
		return -ENOMEM;
	if (open) {
		frame = *open;
		/* What goes on after this was not told before. */
		*open = (struct frame){ .path = frame.path, .former = frame.former };
	}
	/* What an exec outside of that time gives up goes on as the calls of another thread. */
	if (call->entered && call->exit)
		frames_leave(paths->frames, call);
	if (!call->own || !counts)
		return 0;
	if (!frame.path)
		frame.path = call_path(paths, call);
	if (frame.path == FKT_PATHS_NONE)
		return -ENOMEM;
	if (frame.told < call->former_own)
		frame.told = call->former_own;
	err = add_late(paths, late, call, &frame.told);
	if (err)
		return err;
	err = add_own(paths, frame.path, call, call->id, more(call->own, frame.told));
	err = err ?: add_renamed(paths, frame.renamed, call, call->id);
	if (err || !call->former_own)
		return err;
	err = add_renamed(paths, frame.former_renamed, call, call->former);
	return err
		       ?: add_own(paths, frame.former ?: path_of(paths, frame.path, call->former),
				  call, call->former, more(call->former_own, frame.former_told));
}

/* What is charged to the calls from now on is the thread's that it has become. */
int paths_moved(struct paths *paths, const struct fkt_analysis *analysis, uint32_t from,
		uint32_t to)
{
	const struct fkt_call of = { .id = to };
	int err = settle(paths) ?: frames_move(paths->frames, from, to);
	struct frame *frame;

	for (uint32_t depth = 0; !err && (frame = frames_at(paths->frames, &of, depth)); depth++)
		*frame = (struct frame){
			.path = frame->path,
			.former = frame->path,
			.told = fkt_analysis_open_own(analysis, to, depth),
			.former_told = frame->told,
			.former_renamed = frame->renamed,
		};
	paths->moved = to;
	return err ?: take_name(paths, to);
}

/* ---- outside of calls ---- */

static int add_outside(struct paths *paths, uint32_t name, uint32_t row, uint64_t cycles)
{
	uint32_t path;

	if (!cycles || !paths->outside)
		return 0;
	path = step(paths, name, KEY_ROW | row);
	if (path == FKT_PATHS_NONE)
		return -ENOMEM;
	paths->tree.node[path].weight += cycles;
	return 0;
}

/* What was pending at changes of a thread's name has come out. */
static int tell_pending(struct paths *paths, struct of_thread *thread, uint32_t row)
{
	uint64_t *told = row == FKT_ROW_USER	   ? &thread->told.user
			 : row == FKT_ROW_BEFORE   ? &thread->told.before
			 : row == FKT_ROW_LEFT_OUT ? &thread->told.left_out
			 : row == FKT_ROW_UNTRACED ? &thread->told.untraced
						   : NULL;
	const struct renamed *renamed;

	if (row == FKT_ROW_NONE)
		return 0;
	/* A call's is that call's, told with it. */
	for (uint32_t i = thread->renamed; i && told; i = renamed->next) {
		renamed = &paths->renamed[i - 1];
		*told += renamed->cycles;
		if (add_outside(paths, renamed->path, row, renamed->cycles))
			return -ENOMEM;
	}
	thread->renamed = 0;
	thread->told.pending = 0;
	return 0;
}

/* What it did outside of calls up to now, it did by the name that it has. */
static int tell_outside(struct paths *paths, uint32_t id, const struct fkt_outside *now)
{
	const uint32_t name = thread_path(paths, id);
	struct of_thread *thread = thread_of(paths, id);
	struct fkt_outside told;
	uint32_t row;
	int err;

	if (name == FKT_PATHS_NONE || !thread)
		return -ENOMEM;
	err = tell_pending(paths, thread, now->row);
	told = thread->told;
	thread->told = *now;
	row = !id					? FKT_ROW_UNKNOWN
	      : !fkt_process(paths->processes, id)->tid ? FKT_ROW_IDLE
							: FKT_ROW_KERNEL;
	err = err ?: add_outside(paths, name, FKT_ROW_USER, more(now->user, told.user));
	err = err ?: add_outside(paths, name, FKT_ROW_BEFORE, more(now->before, told.before));
	err = err ?: add_outside(paths, name, FKT_ROW_LEFT_OUT, more(now->left_out, told.left_out));
	err = err ?: add_outside(paths, name, FKT_ROW_UNTRACED, more(now->untraced, told.untraced));
	err = err ?: add_outside(paths, name, row, more(now->kernel, told.kernel));
	return err ?: keep_renamed(paths, &thread->renamed, name, more(now->pending, told.pending));
}

int paths_process(struct paths *paths, struct fkt_analysis *analysis, const struct fkt_event *event)
{
	struct fkt_outside now;
	struct of_thread *thread;
	uint32_t id;
	int err;

	if ((event->code != FKT_CODE_EXEC && event->code != FKT_CODE_RENAME) || event->words < 1)
		return 0;
	err = settle(paths);
	id = fkt_process_id(paths->processes, fkt_arg32(event, 0), event->cpu);
	/* It may be on another CPU than the one that says so. */
	fkt_analysis_reach(analysis, id, event->stamp);
	if (paths->of == PATHS_OWN && !err) {
		now = fkt_analysis_outside(analysis, id);
		err = tell_outside(paths, id, &now);
	}
	err = err ?: keep_name(paths, analysis, id);
	paths->moved = id;
	thread = thread_of(paths, id);
	if (!thread)
		return -ENOMEM;
	thread->name = 0;
	return err;
}

static int end_thread(struct paths *paths, struct fkt_analysis *analysis,
		      const struct fkt_thread_sums *sums)
{
	struct fkt_outside now = fkt_analysis_outside(analysis, sums->id);
	const struct of_thread *thread = thread_of(paths, sums->id);
	uint64_t known;

	if (!thread)
		return -ENOMEM;
	/* What is no call's and is not known to be anything else, the summary says, too. */
	known = sums->user + sums->before + sums->interrupts + sums->left_out + sums->untraced +
		thread->own;
	now.user = sums->user;
	now.before = sums->before;
	now.left_out = sums->left_out;
	now.untraced = sums->untraced;
	now.kernel = more(sums->cycles, known);
	return tell_outside(paths, sums->id, &now);
}

static int end_threads(struct paths *paths, struct fkt_analysis *analysis)
{
	struct fkt_thread_sums *sums;
	size_t count = 0;
	int err = 0;

	sums = fkt_analysis_threads(analysis, &count);
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < count && !err; i++)
		err = end_thread(paths, analysis, &sums[i]);
	free(sums);
	return err;
}

/* ---- waits ---- */

int paths_event(struct paths *paths, const struct fkt_event *event, const struct fkt_stack *stack)
{
	const bool known = stack && stack->known;
	struct of_thread *thread;
	uint32_t id, by, path = 0;

	if (event->words < 1 || (event->code != FKT_CODE_SWITCH && event->code != FKT_CODE_WAKEUP &&
				 event->code != FKT_CODE_WAKEUP_NEW))
		return 0;
	id = fkt_process_id(paths->processes, fkt_arg32(event, 0), event->cpu);
	by = fkt_process_id(paths->processes, event->pid, event->cpu);
	if (event->code == FKT_CODE_SWITCH) {
		if (fkt_is_no_switch(event))
			return 0;
		if (known && paths->of == PATHS_OFF_CPU)
			path = stack_path(paths, id, stack);
		thread = thread_of(paths, id);
		if (path == FKT_PATHS_NONE || !thread)
			return -ENOMEM;
		thread->left = event->stamp;
		thread->stack = path;
		return 0;
	}
	thread = thread_of(paths, id);
	if (!thread)
		return -ENOMEM;
	if (thread->woken > thread->left || paths->of != PATHS_WAKEUPS)
		return 0;
	path = known ? stack_path(paths, by, stack) : thread_path(paths, by);
	thread = thread_of(paths, id);
	if (path == FKT_PATHS_NONE || !thread)
		return -ENOMEM;
	thread->woken = event->stamp;
	thread->waker = path;
	thread->waker_stack = known;
	return 0;
}

static uint32_t off_path(struct paths *paths, const struct fkt_wait *wait)
{
	const struct of_thread *thread = thread_of(paths, wait->id);
	uint32_t path;

	if (!thread)
		return FKT_PATHS_NONE;
	if (thread->left == wait->left && thread->stack)
		return thread->stack;
	path = step(paths, thread_path(paths, wait->id), KEY_ROW | wait->outer);
	return wait->inner == wait->outer ? path : step(paths, path, KEY_ROW | wait->inner);
}

static uint32_t waker_path(struct paths *paths, const struct fkt_wait *wait)
{
	const struct of_thread *thread = thread_of(paths, wait->id);
	uint32_t path;

	if (!thread)
		return FKT_PATHS_NONE;
	if (thread->woken != wait->woken || !thread->waker)
		path = step(paths, thread_path(paths, wait->waker), KEY_ROW | wait->waker_row);
	else if (thread->waker_stack)
		path = thread->waker;
	else
		path = step(paths, thread->waker, KEY_ROW | wait->waker_row);
	return path == FKT_PATHS_NONE
		       ? path
		       : name_path(paths, path, PATHS_THREAD, thread_name(paths, wait->id));
}

int paths_wait(struct paths *paths, const struct fkt_wait *wait)
{
	uint64_t to = wait->to;
	uint32_t path;

	if (paths->of == PATHS_OWN || (paths->of == PATHS_WAKEUPS && !wait->woken))
		return 0;
	if (paths->of == PATHS_WAKEUPS && wait->woken < to)
		to = wait->woken;
	path = paths->of == PATHS_OFF_CPU ? off_path(paths, wait) : waker_path(paths, wait);
	if (path == FKT_PATHS_NONE)
		return -ENOMEM;
	if (to > wait->from)
		paths->tree.node[path].weight += to - wait->from;
	return 0;
}

/* ---- names ---- */

static char kind_of(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_code_row *code;

	if (row >= FKT_ROW_USER)
		return PATHS_OUTSIDE;
	code = fkt_code_row(trace, fkt_row_code(trace, row));
	if (!code)
		return PATHS_OTHER;
	if (code->kind == FKT_KIND_CPU_ENTRY)
		return PATHS_INTERRUPT;
	return code->first == FKT_CODE_SYSCALL_ENTRY || code->first == FKT_CODE_COMPAT_ENTRY
		       ? PATHS_SYSCALL
		       : PATHS_FUNCTION;
}

/* The node of @named that is one of the paths, below another one. */
static uint32_t name_node(const struct paths *paths, const struct fkt_analysis *analysis,
			  struct fkt_paths *named, uint32_t above, uint64_t key)
{
	const uint32_t row = (uint32_t)key;
	char text[FKT_NAME_BYTES];
	uint32_t number = row;

	if ((key & KEY_KIND) == KEY_ROW) {
		fkt_row_name(paths->trace, row, text);
		if (row == FKT_ROW_USER && !fkt_analysis_has_syscalls(analysis))
			strcpy(text, "not traced");
		number = number_of(paths, kind_of(paths->trace, row), text);
	}
	return number == FKT_PATHS_NONE ? number : fkt_paths_below(named, above, number);
}

int paths_end(struct paths *paths, struct fkt_analysis *analysis, struct fkt_paths *named)
{
	uint32_t *node;
	int err = 0;

	*named = (struct fkt_paths){ 0 };
	if (paths->outside)
		err = end_threads(paths, analysis);
	node = malloc(paths->tree.count * sizeof(*node));
	if (err || !node || fkt_paths_init(named)) {
		free(node);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < paths->tree.count && !err; i++) {
		const struct fkt_path *path = &paths->tree.node[i];

		node[i] = i ? name_node(paths, analysis, named, node[path->above], path->key)
			    : FKT_PATHS_ROOT;
		if (node[i] == FKT_PATHS_NONE)
			err = -ENOMEM;
		else
			named->node[node[i]].weight += path->weight;
	}
	/* Rounded when all was added. */
	for (uint32_t i = 0; i < named->count && !err && fkt_has_clock(paths->trace); i++)
		named->node[i].weight =
			(uint64_t)fkt_cycles_to_ns(paths->trace, (int64_t)named->node[i].weight);
	free(node);
	return err;
}

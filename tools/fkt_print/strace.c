// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls as "strace -f" writes them (docs/strace.md).
 *
 * A line is begun when a call begins, with the arguments that are known by then, and goes on when
 * it has ended. When another line comes in between, it is left as "<unfinished ...>", and the rest
 * is a line of its own. Programs get whole calls only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "strace.h"
#include "trace/internal.h"

/* Codes of all system calls that begin, of 64-bit programs and of others. */
#define SYSCALLS      (FKT_CODE_SYSCALL_EXIT - FKT_CODE_SYSCALL_ENTRY)
#define RESULT_COLUMN 40

/**
 * struct task - a thread
 * @call: the call that it is in, if @open, and what is known of the next one's memory
 * @begin: stamp of its begin, if @entered
 * @headed: stamp of the begin of the one that was open when an extracted trace began
 * @head: code of that one's entry, if @headed is not 0
 * @code: of its entry
 * @number: its number
 * @entered: it is known when the call began
 * @open: it is in a call
 * @shown: a line was begun
 * @next: the first argument that is not in that line
 * @born: it comes out of a call of its parent
 */
struct task {
	struct strace_call call;
	uint64_t begin;
	uint64_t headed;
	uint32_t head;
	uint32_t code;
	uint64_t number;
	bool entered;
	bool open;
	bool shown;
	unsigned int next;
	bool born;
};

/**
 * struct strace - the view
 * @context: what there is
 * @tasks: a struct task each
 * @shape: by the code of the entry: COMPAT_ENTRY is behind SYSCALL_ENTRY
 * @line: of the task @writing
 * @text: what @line makes
 * @bytes: length of @text
 * @writing: whose line it is; 0: nobody's
 * @begun: a line was printed; for programs, the table has begun
 * @without: calls came without their arguments
 */
struct strace {
	const struct context *context;
	struct stacks *tasks;
	struct strace_shape *shape[2 * SYSCALLS];
	FILE *line;
	char *text;
	size_t bytes;
	uint32_t writing;
	bool begun;
	bool without;
};

static const struct fkt_column columns[] = {
	{ "", "begin", FKT_COLUMN_MOMENT, 0 },	 { "", "end", FKT_COLUMN_MOMENT, 0 },
	{ "", "process", FKT_COLUMN_THREAD, 0 }, { "", "call", FKT_COLUMN_TEXT, 0 },
	{ "", "result", FKT_COLUMN_TEXT, 0 },	 { 0 },
};

static void free_task(void *task)
{
	free(((struct task *)task)->call.data.text);
}

static void strace_free(void *view)
{
	struct strace *strace = view;

	stacks_free(strace->tasks, free_task);
	for (size_t i = 0; i < 2 * SYSCALLS; i++)
		free(strace->shape[i]);
	if (strace->line)
		fclose(strace->line);
	free(strace->text);
	free(strace);
}

static void *strace_new(const struct context *context)
{
	struct strace *strace = calloc(1, sizeof(*strace));

	if (!strace)
		return NULL;
	strace->context = context;
	strace->tasks = stacks_new(sizeof(struct task));
	strace->line = open_memstream(&strace->text, &strace->bytes);
	if (!strace->tasks || !strace->line) {
		strace_free(strace);
		return NULL;
	}
	return strace;
}

static struct task *get_task(struct strace *strace, uint32_t id)
{
	return stacks_get(strace->tasks, &(struct fkt_call){ .id = id });
}

static uint32_t get_tid(const struct strace *strace, uint32_t id)
{
	return fkt_process(strace->context->processes, id)->tid;
}

static const struct strace_shape *get_shape(struct strace *strace, uint32_t code)
{
	const bool compat = code >= FKT_CODE_COMPAT_ENTRY;
	struct strace_shape **shape =
		&strace->shape[compat ? code - FKT_CODE_COMPAT_ENTRY + SYSCALLS : code];

	if (!*shape) {
		*shape = malloc(sizeof(**shape));
		if (*shape)
			strace_shape(*shape, fkt_code_syscall(strace->context->trace, code));
	}
	return *shape;
}

/* ---- lines ---- */

static bool for_people(const struct strace *strace)
{
	return fkt_format_for_people(strace->context->out->format);
}

/* The line as it is, and @end. */
static void put_line(struct strace *strace, const char *end)
{
	fflush(strace->line);
	if (for_people(strace))
		fprintf(strace->context->out->file, "%.*s%s\n", (int)strace->bytes, strace->text,
			end);
	rewind(strace->line);
	strace->writing = 0;
}

/* A new line of a task, in place of which another one's was left. */
static void begin_line(struct strace *strace, uint32_t id)
{
	if (strace->writing)
		put_line(strace, " <unfinished ...>");
	rewind(strace->line);
	strace->writing = id;
	strace->begun |= for_people(strace);
	if (for_people(strace))
		fprintf(strace->line, "%-5" PRIu32 " ", get_tid(strace, id));
}

/* As strace calls those that it does not know. */
static void put_name(struct strace *strace, const struct task *task)
{
	const struct strace_call *call = &task->call;

	fputs(call->compat ? "ia32_" : "", strace->line);
	if (call->shape->name)
		fputs(call->shape->name, strace->line);
	else
		fprintf(strace->line, "syscall_%#" PRIx64, task->number);
}

static void begin_call(struct strace *strace, uint32_t id, struct task *task)
{
	begin_line(strace, id);
	put_name(strace, task);
	fputc('(', strace->line);
	task->next = strace_put_args(strace->line, &task->call, 0);
	task->shown = true;
}

static void put_row(struct strace *strace, uint32_t id, const struct task *task, uint64_t end)
{
	struct fkt_output *out = strace->context->out;
	char *text = NULL;
	size_t bytes;
	FILE *result = open_memstream(&text, &bytes);

	if (!result)
		return;
	strace_put_result(result, &task->call);
	fclose(result);
	fputc(')', strace->line);
	fputc('\0', strace->line);
	fflush(strace->line);
	if (!strace->begun)
		fkt_table_begin(out, columns);
	strace->begun = true;
	out->first = filter_first(strace->context->filter);
	fkt_table_row(out, "strace", columns,
		      (const union fkt_cell[]){
			      { .number = task->entered ? task->begin : FKT_CELL_NONE },
			      { .number = end },
			      { .thread = fkt_process(strace->context->processes, id) },
			      { .text = strace->text },
			      { .text = task->call.ended ? text : NULL },
		      },
		      false);
	free(text);
	rewind(strace->line);
	strace->writing = 0;
}

/* The rest of the call; @end: the stamp at which it was over, if only by the thread's own end. */
static void end_call(struct strace *strace, uint32_t id, struct task *task, uint64_t end)
{
	long column;

	if (!task->shown || !for_people(strace)) {
		begin_call(strace, id, task);
	} else if (strace->writing != id) {
		begin_line(strace, id);
		fputs("<... ", strace->line);
		put_name(strace, task);
		fputs(" resumed>", strace->line);
	}
	/* A call that never ended has written nothing. */
	if (task->call.ended)
		strace_put_args(strace->line, &task->call, task->next);
	if (!for_people(strace)) {
		put_row(strace, id, task, end);
		return;
	}
	fputs(") ", strace->line);
	column = ftell(strace->line);
	fprintf(strace->line, "%*s= ", column < RESULT_COLUMN ? RESULT_COLUMN - (int)column : 0,
		"");
	if (task->call.ended)
		strace_put_result(strace->line, &task->call);
	else
		fputc('?', strace->line);
	put_line(strace, "");
}

static void close_call(struct strace *strace, uint32_t id, struct task *task)
{
	if (strace->writing == id)
		put_line(strace, " <unfinished ...>");
	task->open = task->shown = false;
	task->call.data.bytes = 0;
}

/* ---- events ---- */

static int enter(struct strace *strace, const struct fkt_event *event, uint32_t id, bool passes)
{
	struct task *task = get_task(strace, id);
	struct strace_call *call;

	if (!task)
		return -ENOMEM;
	call = &task->call;
	/* Of which the end was lost: its memory is not this one's. */
	if (task->open && strace->writing == id)
		put_line(strace, " <unfinished ...>");
	if (call->data.code != event->code)
		call->data.bytes = 0;
	call->trace = strace->context->trace;
	call->compat = event->code >= FKT_CODE_COMPAT_ENTRY;
	call->shape = get_shape(strace, event->code);
	if (!call->shape)
		return -ENOMEM;
	call->args = event->words < STRACE_ARGS_MAX ? event->words : STRACE_ARGS_MAX;
	for (unsigned int i = 0; i < call->args; i++)
		call->arg[i] = fkt_arg64(event, 8 * i);
	call->ended = false;
	task->number = event->code % SYSCALLS;
	/* One that stands for all numbers that are not less has the number. */
	if (task->number == SYSCALLS - 1 && call->args) {
		task->number = call->arg[0];
		call->args = 0;
	}
	task->begin = event->stamp;
	task->code = event->code;
	task->headed = 0;
	task->entered = task->open = true;
	task->shown = task->born = false;
	strace->without |= passes && !call->args && call->shape->known && call->shape->args;
	if (passes && for_people(strace))
		begin_call(strace, id, task);
	return 0;
}

/* A child comes out of the call of its parent that made it, and of none of its own. */
static bool is_birth(const struct strace_shape *shape, const struct fkt_value *result)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork" };

	for (size_t i = 0; shape->name && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(shape->name, names[i]))
			return !result->number;
	return false;
}

/* A call ends of which the entry was not seen, so that its arguments are not known. */
static void open_unseen(struct strace *strace, struct task *task, const struct strace_shape *shape,
			uint32_t code)
{
	task->call.trace = strace->context->trace;
	task->call.shape = shape;
	task->call.compat = code >= FKT_CODE_COMPAT_ENTRY;
	task->call.args = 0;
	task->call.ended = false;
	task->next = shape->args;
	task->code = code;
	task->number = code % SYSCALLS;
	task->shown = true;
	task->entered = task->headed && task->head == code;
	task->begin = task->headed;
}

static int leave(struct strace *strace, const struct fkt_event *event, uint32_t id, bool passes)
{
	struct task *task = get_task(strace, id);
	const struct strace_shape *shape = get_shape(strace, event->code - SYSCALLS);
	struct fkt_field fields[FKT_FIELDS_MAX];
	struct fkt_value value;
	bool told;

	if (!task || !shape)
		return -ENOMEM;
	told = fkt_fields(strace->context->trace, event->code, fields) &&
	       fkt_field_value(&fields[0], event, &value);
	/* A 64-bit program may have become one of 32 bits. */
	if (!task->open ||
	    (task->number < SYSCALLS - 1 && task->number != event->code % SYSCALLS)) {
		/* Its parent's call; or one that began before the trace, or the entry was lost. */
		close_call(strace, id, task);
		if (task->born || !passes || (told && is_birth(shape, &value))) {
			task->born = false;
			return 0;
		}
		open_unseen(strace, task, shape, event->code - SYSCALLS);
	}
	task->headed = 0;
	if (!told)
		return 0;
	task->call.ended = true;
	task->call.result = (int64_t)value.number;
	if (passes || task->shown)
		end_call(strace, id, task, event->stamp);
	close_call(strace, id, task);
	return 0;
}

/* Calls that were open when an extracted trace began are told by its head, and have no entry. */
static int strace_enter(void *view, const struct fkt_call *call, bool passes)
{
	struct strace *strace = view;
	const uint32_t code = fkt_row_code(strace->context->trace, call->row);
	struct task *task;

	/* Whether it passes is known when it ends. */
	(void)passes;
	if (call->entry || call->interrupt || code >= FKT_CODE_COMPAT_EXIT + SYSCALLS ||
	    code & SYSCALLS)
		return 0;
	task = get_task(strace, call->id);
	if (!task)
		return -ENOMEM;
	task->headed = call->begin;
	task->head = code;
	return 0;
}

/* Whether a call is shown that its thread's end ends: that event has another code. */
static bool ended_passes(const struct strace *strace, const struct fkt_event *event,
			 const struct task *task)
{
	struct filter *filter = strace->context->filter;
	const int64_t longer = strace->context->options->selected.longer;

	return filter_time(filter, event->stamp) == FILTER_INSIDE && filter_but_code(filter) &&
	       filter_code(filter, task->code) &&
	       (longer < 0 || event->stamp - task->begin >=
				      fkt_ns_to_cycles(strace->context->trace, (uint64_t)longer));
}

/* A thread ends: with it, the call that it was in. */
static int thread_exits(struct strace *strace, const struct fkt_event *event, uint32_t id,
			bool passes)
{
	struct task *task = get_task(strace, id);
	uint32_t code = event->words ? fkt_arg32(event, 4) : 0;
	const struct strace_shape *shape;

	if (!task)
		return -ENOMEM;
	if (!task->open && task->headed) {
		shape = get_shape(strace, task->head);
		if (!shape)
			return -ENOMEM;
		open_unseen(strace, task, shape, task->head);
		if (ended_passes(strace, event, task))
			end_call(strace, id, task, event->stamp);
		task->headed = 0;
	}
	if (task->open && (task->shown || ended_passes(strace, event, task)))
		end_call(strace, id, task, event->stamp);
	close_call(strace, id, task);
	if (!passes || !for_people(strace) || !event->words)
		return 0;
	begin_line(strace, id);
	if (code & 0x7f) {
		fputs("+++ killed by ", strace->line);
		strace_put_signal(strace->line, strace->context->trace, code & 0x7f);
		fputs(code & 0x80 ? " (core dumped) +++" : " +++", strace->line);
	} else {
		fprintf(strace->line, "+++ exited with %" PRIu32 " +++", code >> 8 & 0xff);
	}
	put_line(strace, "");
	return 0;
}

/* A thread that was not its process's first one is, from now on. */
static int thread_execs(struct strace *strace, const struct fkt_event *event, bool passes)
{
	uint32_t pid, old, to, from;

	if (!event->words)
		return 0;
	pid = fkt_arg32(event, 0);
	old = fkt_arg32(event, 4);
	if (pid == old)
		return 0;
	from = fkt_process_id(strace->context->processes, old, event->cpu);
	to = fkt_process_id(strace->context->processes, pid, event->cpu);
	if (from == to)
		return 0;
	if (passes && for_people(strace)) {
		begin_line(strace, to);
		fprintf(strace->line, "+++ superseded by execve in pid %" PRIu32 " +++", old);
		put_line(strace, "");
	}
	return stacks_move(strace->tasks, from, to);
}

static int thread_forks(struct strace *strace, const struct fkt_event *event)
{
	struct task *task;

	if (!event->words)
		return 0;
	task = get_task(strace, fkt_process_id(strace->context->processes, fkt_arg32(event, 0),
					       event->cpu));
	if (!task)
		return -ENOMEM;
	task->born = true;
	return 0;
}

static int keep_data(struct strace *strace, const struct fkt_event *event, uint32_t id)
{
	struct task *task = get_task(strace, id);

	if (!task)
		return -ENOMEM;
	/* The end of the call before was lost. */
	if (task->open && !(event->imm & FKT_DATA_EXIT))
		close_call(strace, id, task);
	return strace_data_add(&task->call.data, event);
}

static int strace_event(void *view, const struct fkt_event *event, bool passes)
{
	struct strace *strace = view;
	const uint32_t id = fkt_process_id(strace->context->processes, event->pid, event->cpu);
	const uint32_t code = event->code;

	if (code < FKT_CODE_COMPAT_EXIT + SYSCALLS)
		return code & SYSCALLS ? leave(strace, event, id, passes)
				       : enter(strace, event, id, passes);
	switch (code) {
	case FKT_CODE_DATA:
		return keep_data(strace, event, id);
	case FKT_CODE_FORK:
		return thread_forks(strace, event);
	case FKT_CODE_EXEC:
		return thread_execs(strace, event, passes);
	case FKT_CODE_EXIT:
		return thread_exits(strace, event, id, passes);
	default:
		return 0;
	}
}

/* What took longest among all calls need not be a system call: that is not told. */
static void tell_none(const struct context *context)
{
	if (context->options->selected.longer < 0) {
		tell_nothing(context, "system call", false);
		return;
	}
	fkt_table_line(context->out, "%s", "");
	tell(context, "no system call that was asked for was seen");
}

static int strace_print(const struct context *context, void *view)
{
	struct strace *strace = view;

	if (strace->writing)
		put_line(strace, " <unfinished ...>");
	if (!for_people(strace) && !strace->begun)
		fkt_table_begin(context->out, columns);
	if (!strace->begun)
		tell_none(context);
	fflush(context->out->file);
	if (strace->without)
		fprintf(stderr,
			"%s: %s: recorded without the arguments of system calls; fkt_record --args "
			"records them\n",
			program_invocation_short_name, selection_path(&context->options->selected));
	return 0;
}

static const struct argp_option strace_options[] = {
	{ .name = "strace", .doc = "System calls as strace -f -y writes them" },
	{ 0 },
};

const struct view view_strace = {
	.name = "strace",
	.option = strace_options,
	.new = strace_new,
	.event = strace_event,
	.enter = strace_enter,
	.print = strace_print,
	.free = strace_free,
};

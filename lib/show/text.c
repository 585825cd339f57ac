// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events as lines (paper, §1.2, figure 3), in any format.
 *
 * What a line of some code looks like is worked out when the code first comes, and kept: its fixed
 * part as text, its arguments as a list of fields. What stands for a CPU's thread is kept likewise.
 * So a line costs copies and the conversion of its numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define BUFFER_BYTES (256 << 10)

static struct fkt_label *make_label(struct fkt_text *text, uint32_t code)
{
	const struct fkt_format *format = text->format;
	struct fkt_field fields[FKT_FIELDS_MAX];
	unsigned int n = (format->fields ?: fkt_fields)(text->trace, code, fields);
	struct fkt_label *label = calloc(1, sizeof(*label) + n * sizeof(label->field[0]));
	char name[FKT_NAME_BYTES];

	if (!label)
		return NULL;
	label->fields = (uint8_t)n;
	for (unsigned int i = 0; i < n; i++) {
		label->field[i].field = fields[i];
		format->prefix(&label->field[i], code);
	}
	fkt_code_name(text->trace, code, name);
	label->text_bytes =
		(uint16_t)(format->label(text, label->text, code, name, n) - label->text);
	label->next = text->labels;
	text->labels = label;
	text->label[code] = label;
	return label;
}

struct fkt_label *fkt_text_label(struct fkt_text *text, uint32_t code)
{
	return text->label[code] ?: make_label(text, code);
}

static void write_who(struct fkt_text *text, struct fkt_who *who, const struct fkt_event *event)
{
	const struct fkt_process *process = fkt_process(
		text->processes, fkt_process_id(text->processes, event->pid, event->cpu));

	who->text_bytes =
		(uint8_t)(text->format->who(text, who->text, event, process->comm) - who->text);
	who->pid = event->pid;
	who->changes = *text->changes;
}

static void write_out(struct fkt_text *text)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->bytes && !text->error) {
		n = write(text->fd, text->buf + done, text->bytes - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			text->error = -errno;
	}
	text->bytes = 0;
	/* As much as stays in a CPU's cache. */
	text->room = BUFFER_BYTES;
}

/* The next line does not fit any more. */
static void make_room(struct fkt_text *text)
{
	char *larger;

	if (!text->may_write || text->may_write(text->arg)) {
		write_out(text);
		return;
	}
	if (text->room == text->capacity) {
		larger = realloc(text->buf, text->capacity * 2);
		if (!larger) {
			text->error = -ENOMEM;
			text->bytes = 0;
			return;
		}
		text->buf = larger;
		text->capacity *= 2;
	}
	text->room += BUFFER_BYTES;
}

static char *begin_line(struct fkt_text *text)
{
	if (text->bytes > text->room - text->format->line_bytes)
		make_room(text);
	return text->buf + text->bytes;
}

static void end_line(struct fkt_text *text, char *to)
{
	*to++ = '\n';
	text->bytes = (size_t)(to - text->buf);
}

/* Behind an event's line, which is not ended yet. */
static char *put_stack(struct fkt_text *text, char *to, const struct fkt_event *event)
{
	const struct fkt_stack *stack = &text->stack;

	if (!text->stack_there || text->stack_lane != event->lane)
		stack = NULL;
	text->stack_there = false;
	if (!text->stacks)
		return to;
	text->bytes = (size_t)(to - text->format->stack_within - text->buf);
	return text->format->stack(text, begin_line(text), stack);
}

/* Whether an event is none that is listed, but the stack of the next one. */
static bool take_stack(struct fkt_text *text, const struct fkt_event *event)
{
	if (event->code != FKT_CODE_STACK || !text->reader)
		return false;
	if (!text->stack_there || text->stack_lane != event->lane)
		text->stack.known = false;
	text->stack_there = true;
	text->stack_lane = event->lane;
	fkt_stack_event(text->reader, event, &text->stack);
	return true;
}

void fkt_text_pass(struct fkt_text *text)
{
	text->stack_there = false;
}

void fkt_text_set_reader(struct fkt_text *text, const struct fkt_reader *reader)
{
	text->reader = reader;
}

void fkt_text_set_stacks(struct fkt_text *text)
{
	text->stacks = true;
}

void fkt_text_event(struct fkt_text *text, const struct fkt_event *event)
{
	struct fkt_label *label = text->label[event->code];
	struct fkt_who *who = &text->who[event->cpu];
	char *to = begin_line(text);

	if (unlikely(!label)) {
		if (take_stack(text, event))
			return;
		label = make_label(text, event->code);
		if (!label) {
			text->error = -ENOMEM;
			return;
		}
	}
	if (unlikely(who->pid != event->pid || who->changes != *text->changes))
		write_who(text, who, event);
	if (unlikely(!text->begun)) {
		text->begun = true;
		text->first = text->last = event->stamp;
	}
	to = text->format->event(text, to, who, label, event);
	if (unlikely(text->stack_there || text->stacks))
		to = put_stack(text, to, event);
	end_line(text, to);
	text->last = event->stamp;
}

void fkt_text_gap(struct fkt_text *text, const struct fkt_gap *gap)
{
	/* Programs get the number of what is missing in the summary. */
	if (text->format->gap)
		end_line(text, text->format->gap(text, begin_line(text), gap));
}

void fkt_text_header(struct fkt_text *text)
{
	if (text->format->header)
		text->bytes = (size_t)(text->format->header(text, begin_line(text)) - text->buf);
}

int fkt_text_flush(struct fkt_text *text)
{
	write_out(text);
	return text->error;
}

struct fkt_text *fkt_text_new(struct fkt_trace *trace, struct fkt_processes *processes, int fd,
			      enum fkt_time time)
{
	struct fkt_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->buf = malloc(BUFFER_BYTES);
	if (!text->buf) {
		free(text);
		return NULL;
	}
	text->room = text->capacity = BUFFER_BYTES;
	text->trace = trace;
	text->processes = processes;
	text->fd = fd;
	text->time = time == FKT_TIME_FIT && !fkt_has_clock(trace) ? FKT_TIME_CYCLES : time;
	text->format = fkt_format(0);
	text->changes = fkt_process_changes(processes);
	return text;
}

void fkt_text_set_first(struct fkt_text *text, uint64_t first)
{
	if (text->begun)
		return;
	text->begun = true;
	text->first = text->last = first;
}

void fkt_text_set_format(struct fkt_text *text, const struct fkt_format *format, bool color)
{
	text->format = format ?: fkt_format(0);
	text->color = color && text->format->for_people;
}

void fkt_text_hold(struct fkt_text *text, fkt_text_may_write_fn *may_write, void *arg)
{
	text->may_write = may_write;
	text->arg = arg;
}

void fkt_text_resume(struct fkt_text *text, uint64_t first, uint64_t last)
{
	text->begun = true;
	text->first = first;
	text->last = last;
}

void fkt_text_free(struct fkt_text *text)
{
	struct fkt_label *label;

	if (!text)
		return;
	while ((label = text->labels)) {
		text->labels = label->next;
		free(label);
	}
	free(text->buf);
	free(text);
}

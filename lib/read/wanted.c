// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events that are wanted, of all that a reader delivers, for programs to which a call is dear. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "internal.h"

/* So many events are passed over before the caller may see to something else. */
#define PASS_MAX (1u << 20)

uint32_t fkt_code_like(const struct fkt_trace *trace, uint32_t from, const char *pattern)
{
	char name[FKT_NAME_BYTES];

	for (; from < FKT_SLOT_CODES; from++) {
		fkt_code_name(trace, from, name);
		if (!fnmatch(pattern, name, 0))
			break;
	}
	return from;
}

static bool wants_thread(const struct fkt_wanted *wanted, struct fkt_processes *processes,
			 const struct fkt_event *event)
{
	uint32_t id;

	if (wanted->pid) {
		for (size_t i = 0; i < wanted->pids; i++)
			if (wanted->pid[i] == event->pid)
				return true;
		return false;
	}
	if (!wanted->comm)
		return true;
	id = fkt_process_id(processes, event->pid, event->cpu);
	return !strcmp(fkt_process(processes, id)->comm, wanted->comm);
}

static bool is_wanted(const struct fkt_wanted *wanted, struct fkt_processes *processes,
		      const struct fkt_event *event)
{
	if (event->stamp < wanted->from)
		return false;
	if (wanted->code ? !wanted->code[event->code] : event->code == FKT_CODE_STACK)
		return false;
	return (!wanted->cpu || wanted->cpu[event->cpu]) && wants_thread(wanted, processes, event);
}

int fkt_next_wanted(struct fkt_reader *reader, struct fkt_processes *processes,
		    const struct fkt_wanted *wanted, struct fkt_event *event)
{
	int what = FKT_WAIT;

	for (unsigned int i = 0; i < PASS_MAX; i++) {
		what = fkt_reader_next(reader, event);
		if (what != FKT_EVENT)
			return what;
		if (fkt_is_process_event(event->code))
			fkt_processes_event(processes, event);
		if (is_wanted(wanted, processes, event))
			return FKT_EVENT;
	}
	return FKT_WAIT;
}

int fkt_next_rows(struct fkt_reader *reader, struct fkt_processes *processes,
		  const struct fkt_wanted *wanted, struct fkt_event_row *rows, unsigned int room)
{
	const struct fkt_trace *trace = reader->trace;
	const bool clock = fkt_has_clock(trace);
	struct fkt_event event;
	unsigned int count = 0;
	int what = FKT_WAIT;
	int64_t time;

	while (count < room && (what = fkt_next_wanted(reader, processes, wanted, &event)) > 0) {
		if (what == FKT_WAIT)
			break;
		if (what != FKT_EVENT)
			continue;
		time = (int64_t)(event.stamp - wanted->first);
		rows[count++] = (struct fkt_event_row){
			.stamp = event.stamp,
			.time = clock ? fkt_cycles_to_ns(trace, time) : time,
			.code = event.code,
			.pid = event.pid,
			.id = fkt_process_id(processes, event.pid, event.cpu),
			.cpu = event.cpu,
			.imm = event.imm,
		};
	}
	if (what < 0)
		return what;
	return count || what == FKT_END ? (int)count : -EAGAIN;
}

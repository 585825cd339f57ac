/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is on the screen: the time of each thread and of each CPU in equal parts of a window, bins.
 * Events come in order and what is known of a bin goes out as soon as it is over, so that a trace
 * of any size takes no more memory than its threads do.
 *
 * A cell is a track's share of a bin. There is one only where something of the track changes, or
 * an event comes on the CPU; in the bins up to its next cell, a track stays as it was at the end
 * of the last one. A cell with the bin CELL_BEFORE says how it was before its first one.
 */
#ifndef FKT_VIEW_COLLECT_H
#define FKT_VIEW_COLLECT_H

#include <string.h>

#include <fkt/trace.h>

#include "names.h"

/* Tracks: threads by their numbers, counters by those of their names (names.h), and CPUs. */
#define TRACK_COUNTER 0x40000000u
#define TRACK_CPU     0x80000000u
#define TRACK_NONE    UINT32_MAX
/* Of CPUs, instead of a thread's number: it is not known who is there. */
#define TID_UNKNOWN   UINT32_MAX

#define CELL_BEFORE   UINT32_MAX

/*
 * How a thread is. Of a CPU: running when anybody but the idle task is, or unknown. Of a counter:
 * running once it has a value.
 */
enum state {
	STATE_UNKNOWN,
	STATE_GONE, /* not there yet, or no more */
	STATE_SLEEPING,
	STATE_BLOCKED, /* asleep, and no signal wakes it */
	STATE_READY,
	STATE_RUNNING,
	STATE_IDLE, /* of a CPU */
	STATES,
};

/* Shares of a cell, the first three of threads, the others of CPUs. */
enum share {
	SHARE_RUNNING,
	SHARE_READY,
	SHARE_BLOCKED,
	SHARE_UNKNOWN,
	SHARE_IRQ = SHARE_READY,
	SHARE_SOFTIRQ = SHARE_BLOCKED,
	SHARES = 4,
};

#define SHARE_ALL    255
/* Bits of cell.flags. */
#define CELL_ERROR   1 /* a call failed */
#define CELL_SOFTIRQ 2 /* of a CPU: the interrupt at its end is a softirq */
#define CELL_SAMPLE  4 /* a sample came */

/**
 * struct cell - as it is kept and sent, in the machine's byte order, which is little-endian
 * @track: the thread, or TRACK_CPU + CPU
 * @bin: number of the bin, or CELL_BEFORE
 * @top: of a thread, name of the outermost call, 0: none; of a CPU, the thread; that of which there
 *	was most
 * @inner: likewise, name of the innermost call; of a CPU, that of the interrupt
 * @last, @last_inner: the same at the end of the bin
 *	Of a counter, @top and @inner are the least and the largest of its values, each a float, and
 *	@last and @last_inner the low and the high half of that at the end of the bin.
 * @share: of enum share, in parts of SHARE_ALL; more than nothing is at least 1
 * @state: enum state at its end
 * @flags: CELL_...
 * @events: how many, of a CPU: their binary logarithm times 8, and 1
 */
struct cell {
	uint32_t track;
	uint32_t bin;
	uint32_t top;
	uint32_t inner;
	uint32_t last;
	uint32_t last_inner;
	uint8_t share[SHARES];
	uint8_t state;
	uint8_t flags;
	uint8_t events;
	uint8_t reserved;
};

_Static_assert(sizeof(struct cell) == 32, "the page's script reads them");

/**
 * struct loss - events are missing on a CPU
 * @cpu: the CPU, FKT_CPU_ANY: any
 * @from, @to: stamps between which they would have been
 * @count: how many, or 0: not known; @pages: or so many pages
 * @tid: the thread that was current there before, so that it is not known how it was, either;
 *	TID_UNKNOWN: it is not known who
 */
struct loss {
	uint64_t from;
	uint64_t to;
	uint64_t count;
	uint32_t cpu;
	uint32_t tid;
	bool pages;
};

/* Whether a track is a counter. */
static inline bool track_is_counter(uint32_t track)
{
	return (track & (TRACK_CPU | TRACK_COUNTER)) == TRACK_COUNTER;
}

/* The value of a counter at the end of a cell, and as a float: the bits of it. */
static inline int64_t cell_value(uint32_t last, uint32_t last_inner)
{
	return (int64_t)((uint64_t)last_inner << 32 | last);
}

static inline uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#define MARK_BYTES 64

/**
 * struct mark - an event that stands out
 * @stamp: when
 * @cpu: where
 * @text: what it says
 */
struct mark {
	uint64_t stamp;
	uint16_t cpu;
	char text[MARK_BYTES];
};

/**
 * struct collect_to - where what is known goes
 * @arg: for all of them
 * @cell: a bin is over
 * @loss: events are missing
 * @wake: a thread, current on a CPU, has woken another one; or NULL
 * @mark: an event that stands out: a trigger, a program's mark; or NULL
 * @sample: a sample of a thread, in a function; or NULL
 *
 * Each returns 0 or a negative errno value, which ends the collection.
 */
struct collect_to {
	void *arg;
	int (*cell)(void *arg, const struct cell *cell);
	int (*loss)(void *arg, const struct loss *loss);
	int (*wake)(void *arg, const struct fkt_event *event, uint32_t woken);
	int (*mark)(void *arg, const struct mark *mark);
	int (*sample)(void *arg, const struct fkt_event *event, uint32_t tid, const char *function);
};

struct collector;

/**
 * collector_new() - begin
 * @trace: the trace
 * @names: where names of calls get numbers
 * @from: stamp at which the first bin begins; events before it say how things stood then
 * @bin_cycles: length of a bin
 * @to: where what is known goes
 *
 * Return: to be freed with collector_free(), or NULL without memory.
 */
struct collector *collector_new(struct fkt_trace *trace, struct names *names, uint64_t from,
				uint64_t bin_cycles, const struct collect_to *to);
void collector_free(struct collector *collector);

/* The next event, or what is missing before the next one: 0 or a negative errno value. */
int collector_event(struct collector *collector, const struct fkt_event *event);
int collector_gap(struct collector *collector, const struct fkt_event *event,
		  const struct fkt_gap *gap);
/* All have come: bins up to @end are over. */
int collector_end(struct collector *collector, uint64_t end);

/* How a number of events stands in a cell. */
uint8_t collected_events(uint64_t events);

/**
 * struct collected_thread - a thread that was met
 * @tid, @tgid, @kernel, @comm: see struct fkt_process
 * @running: for how long it ran since the first bin began, in cycles
 */
struct collected_thread {
	uint32_t tid;
	uint32_t tgid;
	bool kernel;
	char comm[FKT_COMM_BYTES + 1];
	uint64_t running;
};

/* The next thread, @at begins with 0; false behind the last one. */
bool collector_thread(const struct collector *collector, uint32_t *at,
		      struct collected_thread *thread);
/* The CPUs that were met, up to CPU number @room; how many numbers there are. */
uint32_t collector_cpus(const struct collector *collector, uint8_t *met, uint32_t room);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stress test of lane.h and lane.c, which are compiled unchanged: threads are the CPUs, signals the
 * interrupts, and one reader checks every page that it takes.
 *
 * What is written says by whom it was written, and as which of that writer's events. So the reader
 * knows of each slot that it was written once, by the right one, whole and in its order; and of
 * each number that is missing, that it was lost, and before which page.
 *
 * The primitives of lane_user.h call fkt_stress_point() between any two steps that others could
 * come between, where now and then an interrupt is raised, or the CPU given away.
 */
#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lane.h"

#define THREADS_MAX 16

/* A thread's contexts: its own, and two interrupts that interrupt each other. */
enum level {
	LEVEL_TASK,
	LEVEL_TIMER,
	LEVEL_STORM,
	LEVELS,
};

#define SIGNAL_TIMER SIGRTMIN
#define SIGNAL_STORM SIGUSR1

#define TIMER_NS     100000
#define WORDS_MAX    (FKT_SLOT_WORDS_MAX - 1)
#define POISON	     0xa5
/* The clock's largest jumps must not add up to more than 64 bits. */
#define BIG_JUMPS    8000

static const u8 recording_id[FKT_ID_BYTES] = "whose pages";

/**
 * struct kind - a way to use lanes
 * @name: its name
 * @shared: one lane for all threads, or one for each
 * @ring: pages of each lane, and entries of its ring
 * @lossless: writers wait for room, so that nothing may be lost
 * @jumps: the clock jumps forward, so that slots are wide
 * @stress: one in about so many stress points does something
 * @kick_pages: as for fkt_lane_init(): 0 for lanes that overwrite, of which the reader takes
 *	snapshots
 */
struct kind {
	const char *name;
	bool shared;
	u32 ring;
	bool lossless;
	bool jumps;
	int stress;
	u32 kick_pages;
};

static const struct kind kinds[] = {
	{ "cpu-tiny", false, 4, false, false, 300, 1 },
	{ "cpu-tiny-wide", false, 4, false, true, 300, 2 },
	{ "cpu-big", false, 256, true, false, 1000, 16 },
	{ "cpu-big-wide", false, 256, true, true, 300, 16 },
	{ "shared-tiny", true, 4, false, false, 300, 1 },
	{ "shared-tiny-wide", true, 4, false, true, 300, 2 },
	{ "shared-big", true, 256, true, false, 1000, 16 },
	{ "shared-big-wide", true, 256, true, true, 300, 16 },
	{ "ring-tiny", false, 4, false, false, 100, 0 },
	{ "ring-tiny-wide", false, 4, false, true, 100, 0 },
	{ "ring-big", false, 64, false, false, 300, 0 },
	{ "ring-big-wide", false, 64, false, true, 300, 0 },
};

/**
 * struct context - one who writes
 * @id: its number, in its slots' code
 * @level: task or interrupt
 * @attempts: events that it tried to record
 * @lost: how many of them were lost, as fkt_lane_full() said
 * @random: state of its random numbers
 */
struct context {
	u32 id;
	enum level level;
	u64 attempts;
	u64 lost;
	u64 random;
};

struct thread {
	pthread_t thread;
	u32 cpu;
	u32 pid;
	int online_cpu;
	struct fkt_lane *lane;
	bool close_wanted;
	bool fence_wanted;
	bool fence_done;
	bool running;
	struct context context[LEVELS];
};

/**
 * struct source - what the reader knows of a context
 * @attempts: its attempts up to its last event
 * @events: its events
 * @lost: its numbers that were missing
 * @page: page of its last event
 * @stamp: stamp of its last event
 */
struct source {
	u64 attempts;
	u64 events;
	u64 lost;
	u64 page;
	u64 stamp;
};

/**
 * struct page_losses - losses before a page, for the check of what its header says
 * @said: by the header
 * @certain: found by gaps up to the page's end
 * @possible: found by gaps that began before this page and not before the one before it
 */
struct page_losses {
	u64 said;
	u64 certain;
	u64 possible;
};

/**
 * struct event - a slot decoded; @args and @words also say where the next one is
 */
struct event {
	u64 stamp;
	const u64 *args;
	u32 words;
	u32 code;
	u16 imm;
	u16 cpu;
	bool wide;
};

struct held {
	struct fkt_page_header *page;
	void *buf;
	u64 sum;
};

/**
 * struct lane_check - the reader's view of a lane
 * @entries: its ring
 * @pages: all its memory
 * @held: pages that the reader has and has not queued again
 * @queued: pages in the lane
 * @seq: sequence number of the last page
 * @stamp: stamp of the last slot, or of the closing of the last page
 * @complete: what fkt_lane_complete() said last
 * @lost: missing numbers found so far
 * @overwritten: events that were, up to the last snapshot
 * @source: by context
 * @losses: by sequence number
 */
struct lane_check {
	struct fkt_lane lane;
	struct fkt_ring_entry *entries;
	char *pages;
	struct held held[256];
	u32 held_count;
	u32 queued;
	u32 first_page;
	u64 seq;
	u64 stamp;
	u64 complete;
	u64 lost;
	u64 overwritten;
	u64 kicks;
	struct source source[THREADS_MAX * LEVELS];
	struct page_losses *losses;
	u64 losses_room;
};

struct counts {
	u64 events, pages, lost, overwritten, wide, long_gaps, interrupts, closes, fences;
};

static const struct kind *kind;
static struct thread threads[THREADS_MAX];
static unsigned int thread_count;
static struct lane_check *lanes;
static unsigned int lane_count;
static struct counts counts;
/* The thread that is to make a fence, and has not said that it has. */
static struct thread *fencing;
static bool stopping;
static bool storm_stopping;
static bool filling_up;
static u32 big_jumps;
static u64 interrupts;
static u64 seed;

__thread u32 fkt_user_cpu;
__thread u32 fkt_user_pid;
__thread int fkt_stress_countdown;
u64 fkt_clock_offset;

static __thread struct thread *self;
/* One who only looks on: long between any two steps. */
static __thread bool watching;
static __thread struct context *volatile current_context;

static bool overwrites(void)
{
	return !kind->kick_pages;
}

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "lane_stress: %s (seed %" PRIu64 "): ", kind ? kind->name : "set-up",
		(uint64_t)seed);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

static u64 random_next(u64 *state)
{
	u64 x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return x >> 11;
}

static u64 random_below(u64 *state, u64 limit)
{
	return random_next(state) % limit;
}

static u64 mix(u64 x)
{
	x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9ull;
	return x ^ (x >> 32);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap_us(unsigned int us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

/* A moment before all that follows and after all that went before. */
static u64 fenced_clock(void)
{
	u64 now = fkt_counter(true) + fkt_clock_moved();

#ifdef __x86_64__
	__builtin_ia32_lfence();
#endif
	return now;
}

/*
 * The writers
 */

void fkt_stress_now(void)
{
	struct context *context = current_context;
	u64 spin, begin;

	if (!context) {
		fkt_stress_countdown = watching ? 16 : INT_MAX;
		if (watching)
			nap_us(50);
		return;
	}
	fkt_stress_countdown = random_below(&context->random, 2 * kind->stress);
	switch (random_below(&context->random, 8)) {
	case 0 ... 2:
		raise(SIGNAL_STORM);
		break;
	case 3:
		raise(SIGNAL_TIMER);
		break;
	case 4:
		sched_yield();
		break;
	default:
		spin = random_below(&context->random, 4000);
		begin = fkt_counter(false);
		while (fkt_counter(false) - begin < spin)
			;
		break;
	}
}

void fkt_lane_kick(struct fkt_lane *lane)
{
	__atomic_fetch_add(&lanes[lane->number].kicks, 1, __ATOMIC_RELAXED);
}

void fkt_lane_full(struct fkt_lane *lane, u64 now)
{
	if (kind->lossless && !filling_up)
		fail("lane %u lost an event at %" PRIu64 ", with room for it", lane->number,
		     (uint64_t)now);
	current_context->lost++;
}

/* Move the clock, above all to the limits of what a slot can say. */
static void jump(struct context *context)
{
	static const u64 around[] = { 1ull << 22, 1ull << 23, 1ull << 24,
				      (1ull << 23) + (1ull << 22) };
	u64 *random = &context->random;
	u64 near = random_below(random, 1ull << 23);
	u64 by;

	switch (random_below(random, 16)) {
	case 0 ... 3:
		by = around[random_below(random, 4)] + random_below(random, 4096) - 2048;
		break;
	case 4 ... 7:
		by = near * 4;
		break;
	case 8 ... 10:
		by = 1ull << random_below(random, 46);
		break;
	default:
		if (__atomic_fetch_add(&big_jumps, 1, __ATOMIC_RELAXED) >= BIG_JUMPS)
			return;
		by = 1ull << (46 + random_below(random, 3));
		by += random_below(random, 2) ? near : -near;
		break;
	}
	__atomic_fetch_add(&fkt_clock_offset, by, __ATOMIC_ACQ_REL);
}

static u64 payload(const struct context *context, u64 number, u32 words, u32 i, u64 before)
{
	if (i == 0)
		return number | (u64)context->id << 48 | (u64)words << 60;
	if (i == 1)
		return before;
	return mix(number ^ (u64)context->id << 48 ^ (u64)i << 56);
}

static struct thread *context_thread(u32 id)
{
	return &threads[id / LEVELS];
}

static u32 context_code(u32 id)
{
	return FKT_SLOT_CODES - 1 - id;
}

/* fkt_lane_record() with a constant number of words, as probes call it. */
static __always_inline void record_constant(struct fkt_lane *lane, u64 tag, u32 words,
					    const u64 *args, bool shared)
{
	switch (words) {
#define CASE(n)                                                                                    \
	case n:                                                                                    \
		fkt_lane_record(lane, tag, n, args, shared);                                       \
		break
		CASE(0);
		CASE(1);
		CASE(2);
		CASE(3);
		CASE(4);
		CASE(5);
		CASE(6);
#undef CASE
	default:
		fkt_lane_record_slow(lane, tag, words, args, shared);
		break;
	}
}

static __always_inline void record_one(struct context *context, bool shared)
{
	struct fkt_lane *lane = self->lane;
	u64 *random = &context->random;
	u64 number = context->attempts++;
	static __thread u64 last_lost[LEVELS];
	bool gap = context->lost != last_lost[context->level];
	u32 words = random_below(random, 7);
	u64 args[WORDS_MAX];
	struct fkt_slot slot;
	u64 before, tag;
	u32 i;

	/* A slot without words has but 16 bits of the number: enough when nothing is missing. */
	last_lost[context->level] = context->lost;
	if (!words && (gap || overwrites()))
		words = 1;
	if (!random_below(random, 64))
		words = WORDS_MAX;
	if (kind->jumps && !random_below(random, 64))
		jump(context);

	before = fenced_clock();
	tag = FKT_TAG(context_code(context->id), words, number);
	for (i = 0; i < words; i++)
		args[i] = payload(context, number, words, i, before);
	if (random_below(random, 4)) {
		record_constant(lane, tag, words, args, shared);
		return;
	}
	/* Fill it slowly, the last word first. */
	if (!fkt_reserve(lane, &tag, 0, words, shared, &slot) &&
	    !fkt_reserve_slow(lane, tag, shared, &slot))
		return;
	for (i = words; i-- > 0;) {
		slot.words[i] = args[i];
		fkt_stress_point();
	}
	fkt_commit(&slot, shared);
}

static void record(struct context *context)
{
	if (kind->shared)
		record_one(context, true);
	else
		record_one(context, false);
}

/*
 * Each context begins one page at most between asking and recording, and each thread may close one
 * in between, as may the reader.
 */
static bool has_room(struct fkt_lane *lane)
{
	u32 margin = kind->shared ? (LEVELS + 1) * thread_count + 2 : LEVELS + 2;
	u32 limit = __atomic_load_n(&lane->limit, __ATOMIC_ACQUIRE);

	return !kind->lossless ||
	       (s32)(limit - 1 - FKT_HEAD_PAGE(READ_ONCE(lane->head)) - margin) > 0;
}

static void close_page(struct fkt_lane *lane)
{
	if (has_room(lane) && fkt_lane_close(lane, kind->shared))
		__atomic_fetch_add(&counts.closes, 1, __ATOMIC_RELAXED);
}

/*
 * The reader asks one thread at a time. An interrupt that comes between an event's clock and its
 * slot is what the fence is for. A lane that overwrites is held by it, and the reader's from there
 * on; not when that is what was interrupted, but then it is asked for again.
 */
static bool fence(struct context *context)
{
	if (!__atomic_exchange_n(&self->fence_wanted, false, __ATOMIC_ACQUIRE))
		return false;
	if (overwrites() && !fkt_lane_hold(self->lane)) {
		__atomic_store_n(&self->fence_wanted, true, __ATOMIC_RELAXED);
		return false;
	}
	fkt_lane_fence(self->lane, kind->shared);
	__atomic_store_n(&self->fence_done, true, __ATOMIC_RELEASE);
	/* The reader may be at it before who was interrupted goes on. */
	if (overwrites())
		sched_yield();
	/* The next event is likely to be interrupted, and the lane still to be closed then. */
	fkt_stress_countdown = random_below(&context->random, 8);
	return true;
}

/* What an interrupt does: some events, once in a while more than a page of them. */
static void interrupt(int signal)
{
	struct context *interrupted = current_context;
	struct context *context;
	u32 events;

	if (!self || !self->running)
		return;
	context = &self->context[signal == SIGNAL_STORM ? LEVEL_STORM : LEVEL_TIMER];
	current_context = context;
	__atomic_fetch_add(&interrupts, 1, __ATOMIC_RELAXED);
	if (has_room(self->lane) && fence(context)) {
		current_context = interrupted;
		return;
	}
	events = random_below(&context->random, 6);
	if (!random_below(&context->random, 512))
		events = 600;
	while (events-- > 0 && has_room(self->lane))
		record(context);
	if (!random_below(&context->random, 64) ||
	    __atomic_exchange_n(&self->close_wanted, false, __ATOMIC_RELAXED))
		close_page(self->lane);
	current_context = interrupted;
}

static timer_t start_timer(void)
{
	struct itimerspec interval = {
		.it_interval.tv_nsec = TIMER_NS,
		.it_value.tv_nsec = TIMER_NS,
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGNAL_TIMER,
	};
	timer_t timer;

	event._sigev_un._tid = syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &interval, NULL))
		fail("no timer: %m");
	return timer;
}

static void block_interrupts(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGNAL_TIMER);
	sigaddset(&set, SIGNAL_STORM);
	pthread_sigmask(how, &set, NULL);
}

static void *writer(void *arg)
{
	struct thread *thread = arg;
	struct context *context = &thread->context[LEVEL_TASK];
	cpu_set_t cpus;
	timer_t timer;
	u64 lost;

	self = thread;
	fkt_user_cpu = thread->cpu;
	fkt_user_pid = thread->pid;
	fkt_stress_countdown = kind->stress;
	current_context = context;
	CPU_ZERO(&cpus);
	CPU_SET(thread->online_cpu, &cpus);
	/* Where that is not allowed the test is the same, a little tamer. */
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);

	timer = start_timer();
	thread->running = true;
	block_interrupts(SIG_UNBLOCK);
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		if (!has_room(thread->lane)) {
			nap_us(20);
			continue;
		}
		lost = context->lost;
		record(context);
		if (context->lost != lost && !random_below(&context->random, 16))
			nap_us(50);
		if (!random_below(&context->random, 4096))
			close_page(thread->lane);
		if (!random_below(&context->random, 16) && has_room(thread->lane))
			fence(context);
	}
	block_interrupts(SIG_BLOCK);
	thread->running = false;
	timer_delete(timer);
	current_context = NULL;
	return NULL;
}

/* Interrupts at any moment, not only at those that a timer or a stress point finds. */
static void *storm(void *arg)
{
	u64 random = seed * 0x9e3779b97f4a7c15ull | 1;

	(void)arg;
	watching = true;
	while (!__atomic_load_n(&storm_stopping, __ATOMIC_RELAXED)) {
		struct fkt_lane *lane = &lanes[random_below(&random, lane_count)].lane;

		/* Whoever asks, not only the reader, must not find less than none. */
		if ((s32)fkt_lane_queued(lane) < 0 || (s32)fkt_lane_filling(lane) < 0)
			fail("lane %u: %d pages are free and %d filling", lane->number,
			     (int)fkt_lane_queued(lane), (int)fkt_lane_filling(lane));
		pthread_kill(threads[random_below(&random, thread_count)].thread, SIGNAL_STORM);
		if (!random_below(&random, 16))
			nap_us(random_below(&random, 200));
	}
	return NULL;
}

/*
 * The reader
 */

static u64 page_sum(const struct fkt_page_header *header)
{
	const u64 *word = (const void *)header;
	u64 sum = 0;
	u32 i;

	for (i = 0; i < FKT_PAGE_BYTES / sizeof(*word); i++)
		sum = (sum ^ word[i]) * 0x100000001b3ull;
	return sum;
}

#define fail_page(check, header, format, ...)                                                      \
	fail("lane %u, page %" PRIu64 ": " format, (check)->lane.number, (uint64_t)(header)->seq,  \
	     ##__VA_ARGS__)

/* The full stamp nearest to @stamp with these low bits. */
static u64 extend(u64 stamp, u64 low, u32 bits)
{
	return stamp + ((s64)((low - stamp) << (64 - bits)) >> (64 - bits));
}

/* Decode the slot at event->args, as format.h says. Return: false when it is not all there. */
static bool next_event(struct event *event, const u64 *end)
{
	const u64 *slot = event->args + event->words;
	u32 words = *slot & FKT_SLOT_WORDS_MASK;

	event->wide = *slot & FKT_SLOT_WIDE;
	event->code = (*slot >> FKT_SLOT_CODE_SHIFT) & (FKT_SLOT_CODES - 1);
	event->imm = *slot >> FKT_SLOT_IMM_SHIFT;
	event->args = slot + 1;
	event->words = words - event->wide;
	if (words < event->wide || words >= end - slot)
		return false;
	if (!event->wide) {
		event->stamp =
			extend(event->stamp, *slot >> FKT_SLOT_STAMP_SHIFT, FKT_SLOT_STAMP_BITS);
		return true;
	}
	event->stamp = extend(event->stamp, slot[1], FKT_WIDE_STAMP_BITS);
	event->cpu = slot[1] >> FKT_WIDE_STAMP_BITS;
	event->args++;
	return true;
}

/* Was this event written, by this context, and not read before? */
static void check_event(struct lane_check *check, const struct fkt_page_header *header,
			const struct event *event)
{
	u32 id = FKT_SLOT_CODES - 1 - event->code;
	const struct context *context;
	struct source *source;
	u64 number, before = 0;
	u32 i;

	if (id >= thread_count * LEVELS || context_thread(id)->lane != &check->lane)
		fail_page(check, header, "a slot with code %#x was invented", event->code);
	context = &context_thread(id)->context[id % LEVELS];
	source = &check->source[id];
	number = source->attempts;
	if (event->words)
		number = event->args[0] & ((1ull << 48) - 1);
	if (event->imm != (u16)number)
		fail_page(check, header, "context %u: event %" PRIu64 " has the immediate %#x", id,
			  (uint64_t)number, event->imm);
	if (number < source->attempts)
		fail_page(check, header, "context %u: event %" PRIu64 " comes after event %" PRIu64,
			  id, (uint64_t)number, (uint64_t)source->attempts - 1);
	if (event->words > 1)
		before = event->args[1];
	for (i = 0; i < event->words; i++)
		if (event->args[i] != payload(context, number, event->words, i, before))
			fail_page(check, header,
				  "context %u: event %" PRIu64 ": word %u of %u is %#" PRIx64, id,
				  (uint64_t)number, i, event->words, (uint64_t)event->args[i]);
	if (event->cpu != context_thread(id)->cpu)
		fail_page(check, header, "context %u: event %" PRIu64 " is of CPU %u, not %u", id,
			  (uint64_t)number, event->cpu, context_thread(id)->cpu);
	if (event->words > 1 && (event->stamp < before || before < source->stamp))
		fail_page(check, header,
			  "context %u: event %" PRIu64 ": stamp %#" PRIx64 ", begun at %#" PRIx64
			  ", the one before at %#" PRIx64,
			  id, (uint64_t)number, (uint64_t)event->stamp, (uint64_t)before,
			  (uint64_t)source->stamp);

	if (number != source->attempts) {
		u64 gap = number - source->attempts;

		check->lost += gap;
		source->lost += gap;
		check->losses[source->page + 1].possible += gap;
	}
	source->attempts = number + 1;
	source->page = header->seq;
	source->stamp = event->stamp;
	source->events++;
}

static void check_header(struct lane_check *check, const struct fkt_page_header *header)
{
	const u32 flags = check->lane.overwritten && !check->seq ? FKT_PAGE_OVERWROTE : 0;

	if (header->magic != FKT_PAGE_MAGIC || header->lane != check->lane.number ||
	    header->flags != flags || header->seq != check->seq + 1)
		fail_page(check, header, "magic %#x, lane %u, flags %#x, after page %" PRIu64,
			  header->magic, header->lane, header->flags, (uint64_t)check->seq);
	if (memcmp(header->id, recording_id, sizeof(recording_id)))
		fail_page(check, header, "it has not the recording's id");
	if (header->used <= sizeof(*header) || header->used > FKT_PAGE_BYTES || header->used % 8)
		fail_page(check, header, "%u bytes are used", header->used);
	if (header->first < check->stamp || header->end < header->first)
		fail_page(check, header,
			  "from %#" PRIx64 " to %#" PRIx64 ", after one that ended at %#" PRIx64,
			  (uint64_t)header->first, (uint64_t)header->end, (uint64_t)check->stamp);
	if (header->first < check->lane.overwritten_end)
		fail_page(check, header,
			  "from %#" PRIx64 ", when what was overwritten ended at %#" PRIx64,
			  (uint64_t)header->first, (uint64_t)check->lane.overwritten_end);
	if (header->seq > 1 && header->lost < check->losses[header->seq - 1].said)
		fail_page(check, header, "%" PRIu64 " events lost, but %" PRIu64 " before it",
			  (uint64_t)header->lost, (uint64_t)check->losses[header->seq - 1].said);
}

static void losses_make_room(struct lane_check *check, u64 seq)
{
	u64 room = check->losses_room;

	if (seq + 2 <= room)
		return;
	check->losses_room = 2 * room + 1024;
	check->losses = realloc(check->losses, check->losses_room * sizeof(*check->losses));
	if (!check->losses)
		fail("no memory");
	memset(&check->losses[room], 0, (check->losses_room - room) * sizeof(*check->losses));
}

/* The page's header says all of its first slot; what a reader makes of it begins there. */
static void check_first(struct lane_check *check, const struct fkt_page_header *header,
			const struct event *event)
{
	u32 id = FKT_SLOT_CODES - 1 - event->code;

	if (event->wide || event->stamp != header->first)
		fail_page(check, header, "the first slot is at %#" PRIx64 ", not %#" PRIx64,
			  (uint64_t)event->stamp, (uint64_t)header->first);
	if (id < thread_count * LEVELS && header->pid != context_thread(id)->pid)
		fail_page(check, header, "pid %u was not current", header->pid);
}

static void check_page(struct lane_check *check, const struct fkt_page_header *header)
{
	const u64 *end = (const void *)((const char *)header + header->used);
	struct event event = {
		.stamp = header->first,
		.cpu = header->cpu,
		.args = (const void *)(header + 1),
	};
	u64 stamp = header->first;
	u32 slots;

	losses_make_room(check, header->seq);
	check_header(check, header);
	for (slots = 0; event.args + event.words < end; slots++) {
		if (!next_event(&event, end))
			fail_page(check, header, "slot %u does not fit into %u bytes", slots,
				  header->used);
		if (!slots)
			check_first(check, header, &event);
		if (event.stamp < stamp || event.stamp > header->end)
			fail_page(check, header,
				  "slot %u: stamp %#" PRIx64 " after %#" PRIx64
				  ", page closed at %#" PRIx64,
				  slots, (uint64_t)event.stamp, (uint64_t)stamp,
				  (uint64_t)header->end);
		check_event(check, header, &event);
		stamp = event.stamp;
		counts.wide += event.wide;
	}
	if (slots != header->events)
		fail_page(check, header, "%u slots, not %u", slots, header->events);
	counts.long_gaps += header->end - stamp >= 1ull << (FKT_WIDE_STAMP_BITS - 1);
	check->stamp = header->end;
	check->seq = header->seq;
	check->losses[header->seq].said = header->lost;
	check->losses[header->seq].certain = check->lost;
	counts.events += header->events;
	counts.pages++;
}

/*
 * A header counts the losses up to the moment when its page was begun. Each context may at that
 * moment have found no room for an event, and not yet have counted it.
 */
static void check_losses(struct lane_check *check)
{
	u32 writers = kind->shared ? thread_count * LEVELS : LEVELS;
	const struct page_losses *losses;
	u64 possible = 0, seq;

	for (seq = 1; seq <= check->seq; seq++) {
		losses = &check->losses[seq];
		possible += losses->possible;
		if (losses->said + writers < losses->certain || losses->said > possible)
			fail("lane %u, page %" PRIu64 ": %" PRIu64
			     " events lost before it, not %" PRIu64 " to %" PRIu64,
			     check->lane.number, (uint64_t)seq, (uint64_t)losses->said,
			     (uint64_t)losses->certain, (uint64_t)possible);
	}
}

static void queue_page(struct lane_check *check, struct fkt_page_header *page, void *buf)
{
	memset(page, POISON, FKT_PAGE_BYTES);
	fkt_lane_queue(&check->lane, page, buf);
	check->queued++;
}

static void give_back(struct lane_check *check, u32 i)
{
	struct held held = check->held[i];

	if (page_sum(held.page) != held.sum)
		fail("lane %u: a page was written to after it was taken", check->lane.number);
	check->held[i] = check->held[--check->held_count];
	queue_page(check, held.page, held.buf);
}

/* While a fence is being made, as before: its stamp and its page come one after the other. */
static u64 complete_so_far(struct lane_check *check)
{
	if (!fencing || fencing->lane != &check->lane)
		check->complete = fkt_lane_complete(&check->lane);
	return check->complete;
}

static bool take_page(struct lane_check *check)
{
	struct fkt_page_header *header;
	bool ready = fkt_lane_ready(&check->lane);
	u64 complete = complete_so_far(check);
	struct held *held;
	void *buf = NULL;

	header = fkt_lane_take(&check->lane, &buf);
	if (ready && !header)
		fail("lane %u: a page that was ready can't be taken", check->lane.number);
	if (!header)
		return false;
	check->queued--;
	if (buf != (char *)header + 1)
		fail("lane %u: a page came with another one's handle", check->lane.number);
	if (header->first < complete)
		fail_page(check, header,
			  "from %#" PRIx64 ", when all up to %#" PRIx64
			  " was said to have been taken",
			  (uint64_t)header->first, (uint64_t)complete);
	if (complete_so_far(check) < complete)
		fail_page(check, header, "less is complete than before");
	check_page(check, header);
	held = &check->held[check->held_count++];
	held->page = header;
	held->buf = buf;
	held->sum = page_sum(header);
	return true;
}

static void check_lane(struct lane_check *check)
{
	if (fkt_lane_queued(&check->lane) > check->queued ||
	    fkt_lane_filling(&check->lane) > check->queued)
		fail("lane %u: of %u pages %u are free and %u filling", check->lane.number,
		     check->queued, fkt_lane_queued(&check->lane), fkt_lane_filling(&check->lane));
}

/*
 * One fence at a time, now of one thread and now of another. Return: the thread that has made one.
 */
static struct thread *fence_threads(u64 *random)
{
	struct thread *done = NULL;

	if (fencing) {
		if (!__atomic_load_n(&fencing->fence_done, __ATOMIC_ACQUIRE))
			return NULL;
		counts.fences++;
		done = fencing;
		fencing = NULL;
	}
	/* In between is the time to see what it says is complete, and to take a snapshot. */
	if (random_below(random, 4) || (done && overwrites()))
		return done;
	fencing = &threads[random_below(random, thread_count)];
	fencing->fence_done = false;
	__atomic_store_n(&fencing->fence_wanted, true, __ATOMIC_RELEASE);
	return done;
}

static void read_until(double end)
{
	u64 random = (seed + 77) * 0x9e3779b97f4a7c15ull | 1;
	struct lane_check *check;
	unsigned int i;
	bool idle;

	while (seconds_now() < end) {
		idle = true;
		fence_threads(&random);
		for (i = 0; i < lane_count; i++) {
			check = &lanes[i];
			check_lane(check);
			while (random_below(&random, 16) && take_page(check))
				idle = false;
			/* Give them back in another order, and not always all. */
			while (check->held_count && random_below(&random, 16))
				give_back(check, random_below(&random, check->held_count));
			if (kind->shared && !random_below(&random, 64))
				close_page(&check->lane);
		}
		if (!random_below(&random, 16))
			__atomic_store_n(&threads[random_below(&random, thread_count)].close_wanted,
					 true, __ATOMIC_RELAXED);
		if (idle)
			sched_yield();
		else if (!kind->lossless && !random_below(&random, 64))
			nap_us(random_below(&random, 500));
	}
}

/* Of a lane that is held: some of it is forgotten, and all the rest from before the fence taken. */
static void take_snapshot(struct lane_check *check, u64 *random)
{
	struct fkt_lane *lane = &check->lane;
	char *buf;

	while (random_below(random, 4) && fkt_lane_before_fence(lane) &&
	       (buf = fkt_lane_forget(lane, lane->fence_end - random_below(random, 1 << 20)))) {
		check->queued--;
		queue_page(check, (void *)(buf - 1), buf);
	}
	while (fkt_lane_before_fence(lane)) {
		check_lane(check);
		/* Who was interrupted has not committed yet. */
		if (!take_page(check))
			sched_yield();
		while (check->held_count && random_below(random, 2))
			give_back(check, random_below(random, check->held_count));
	}
	while (check->held_count)
		give_back(check, random_below(random, check->held_count));
	check->overwritten += lane->overwritten;
	fkt_lane_restart(lane, true, 0);
	check->seq = 0;
	fkt_lane_release(lane);
}

static void take_snapshots_until(double end)
{
	u64 random = (seed + 77) * 0x9e3779b97f4a7c15ull | 1;
	const struct thread *fenced;

	while (seconds_now() < end) {
		fenced = fence_threads(&random);
		if (fenced)
			take_snapshot(&lanes[fenced - threads], &random);
		else if (fencing)
			sched_yield();
		else
			nap_us(random_below(&random, 200));
	}
}

/* Alone with a lane: what its pages hold, it takes, and nothing is lost before that. */
static void fill_up(struct lane_check *check)
{
	u64 lost;

	self = &threads[check->lane.number];
	fkt_user_cpu = self->cpu;
	fkt_user_pid = self->pid;
	current_context = &self->context[LEVEL_TASK];
	filling_up = true;
	lost = current_context->lost;
	while (current_context->lost == lost)
		record(current_context);
	if (fkt_lane_queued(&check->lane))
		fail("lane %u: an event was lost with %u pages free", check->lane.number,
		     fkt_lane_queued(&check->lane));
	filling_up = false;
	current_context = NULL;
	self = NULL;
}

/* Nobody writes any more: the rest, the sums, and the pages back. */
static void finish_lane(struct lane_check *check)
{
	struct fkt_lane *lane = &check->lane;
	u64 attempts = 0, events = 0, writers_lost = 0, begun = 0, most, page;
	const struct context *context;
	const struct source *source;
	void *buf;
	u32 id;

	if (overwrites() && !fkt_lane_hold(lane))
		fail("lane %u: nobody overwrites, and it can't be held", lane->number);
	fill_up(check);
	if (fkt_lane_close(lane, kind->shared))
		fail("lane %u: a page was lost from, and left open", lane->number);
	while (take_page(check))
		if (check->held_count)
			give_back(check, 0);
	if (fkt_lane_pending(lane))
		fail("lane %u: %u pages were begun and never became whole", lane->number,
		     fkt_lane_filling(lane));
	if (fkt_lane_queued(lane) != check->queued)
		fail("lane %u: %u pages are free, not %u", lane->number, fkt_lane_queued(lane),
		     check->queued);

	for (id = 0; id < thread_count * LEVELS; id++) {
		if (context_thread(id)->lane != lane)
			continue;
		context = &context_thread(id)->context[id % LEVELS];
		source = &check->source[id];
		/* What was lost after its last event; it may have been before any later page. */
		check->losses[source->page + 1].possible += context->attempts - source->attempts;
		if (!overwrites() && source->events + context->lost != context->attempts)
			fail("lane %u, context %u: of %" PRIu64 " events %" PRIu64
			     " were read and %" PRIu64 " lost",
			     lane->number, id, (uint64_t)context->attempts,
			     (uint64_t)source->events, (uint64_t)context->lost);
		attempts += context->attempts;
		events += source->events;
		writers_lost += context->lost;
	}
	if (lane->lost != writers_lost)
		fail("lane %u: counted %" PRIu64 " losses of %" PRIu64, lane->number,
		     (uint64_t)lane->lost, (uint64_t)writers_lost);
	check->overwritten += lane->overwritten;
	if (events + writers_lost + check->overwritten != attempts)
		fail("lane %u: of %" PRIu64 " events %" PRIu64 " were read, %" PRIu64
		     " lost and %" PRIu64 " overwritten",
		     lane->number, (uint64_t)attempts, (uint64_t)events, (uint64_t)writers_lost,
		     (uint64_t)check->overwritten);
	if (!overwrites())
		check_losses(check);

	for (page = 0; page < check->seq; page++)
		begun += !((u32)(check->first_page + page) & lane->kick_mask);
	/*
	 * And one each time that the lane becomes full: without losses that is when it is filled
	 * up.
	 */
	most = begun + (kind->lossless ? 1 : lane->lost);
	if (!overwrites() && (check->kicks <= begun || check->kicks > most))
		fail("lane %u: %" PRIu64 " kicks, not %" PRIu64 " to %" PRIu64, lane->number,
		     (uint64_t)check->kicks, (uint64_t)begun + 1, (uint64_t)most);
	counts.lost += lane->lost;
	counts.overwritten += check->overwritten;

	while (check->held_count)
		give_back(check, 0);
	while ((buf = fkt_lane_unqueue(lane))) {
		check->queued--;
		if (((char *)buf - 1 - check->pages) % FKT_PAGE_BYTES)
			fail("lane %u: a handle of no page came back", lane->number);
	}
	if (check->queued)
		fail("lane %u: %u pages did not come back", lane->number, check->queued);
}

/*
 * Setting up
 */

static void start_lane(struct lane_check *check, u32 number, u32 cpu, u64 *random)
{
	struct fkt_lane *lane = &check->lane;
	char *page;
	u32 i;

	check->entries = calloc(kind->ring, sizeof(*check->entries));
	check->pages = aligned_alloc(FKT_PAGE_BYTES, (size_t)kind->ring * FKT_PAGE_BYTES);
	if (!check->entries || !check->pages)
		fail("no memory");
	losses_make_room(check, 0);
	fkt_lane_init(lane, check->entries, kind->ring, number, cpu, kind->kick_pages,
		      recording_id);
	/* As if the lane had been in use, so that the count of its pages soon wraps. */
	check->first_page = -(u32)random_below(random, 64);
	lane->head = FKT_HEAD(check->first_page, 0, FKT_HEAD_CLOSED);
	lane->tail = check->first_page + 1;
	lane->limit = lane->tail;
	for (i = 0; i < kind->ring; i++) {
		page = check->pages + (size_t)i * FKT_PAGE_BYTES;
		queue_page(check, (void *)page, page + 1);
	}
}

static void start_thread(unsigned int i, int online_cpu, u64 *random)
{
	struct thread *thread = &threads[i];
	unsigned int level;

	memset(thread, 0, sizeof(*thread));
	thread->cpu = kind->shared ? (u16)(i * 0x5557) : i;
	thread->pid = 1000 + i;
	thread->online_cpu = online_cpu;
	thread->lane = &lanes[kind->shared ? 0 : i].lane;
	for (level = 0; level < LEVELS; level++) {
		thread->context[level].id = i * LEVELS + level;
		thread->context[level].level = level;
		thread->context[level].random = mix(random_next(random)) | 1;
	}
	if (pthread_create(&thread->thread, NULL, writer, thread))
		fail("no thread: %m");
}

static int nth_cpu(const cpu_set_t *cpus, unsigned int n)
{
	int cpu;

	n %= CPU_COUNT(cpus);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus) && !n--)
			break;
	return cpu;
}

static void run(const cpu_set_t *cpus, double seconds)
{
	u64 random = mix(seed + (kind - kinds)) | 1;
	double begin = seconds_now();
	pthread_t storm_thread;
	unsigned int i;

	counts = (struct counts){ 0 };
	fencing = NULL;
	stopping = storm_stopping = false;
	fkt_clock_offset = 0;
	big_jumps = 0;
	interrupts = 0;
	lane_count = kind->shared ? 1 : thread_count;
	lanes = aligned_alloc(64, lane_count * sizeof(*lanes));
	if (!lanes)
		fail("no memory");
	memset(lanes, 0, lane_count * sizeof(*lanes));
	for (i = 0; i < lane_count; i++)
		start_lane(&lanes[i], i, kind->shared ? FKT_CPU_ANY : i, &random);
	for (i = 0; i < thread_count; i++)
		start_thread(i, nth_cpu(cpus, i), &random);
	if (pthread_create(&storm_thread, NULL, storm, NULL))
		fail("no thread: %m");

	if (overwrites())
		take_snapshots_until(begin + seconds);
	else
		read_until(begin + seconds);

	__atomic_store_n(&storm_stopping, true, __ATOMIC_RELAXED);
	pthread_join(storm_thread, NULL);
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	for (i = 0; i < thread_count; i++)
		pthread_join(threads[i].thread, NULL);
	for (i = 0; i < lane_count; i++) {
		finish_lane(&lanes[i]);
		free(lanes[i].losses);
		free(lanes[i].pages);
		free(lanes[i].entries);
	}
	free(lanes);
	printf("%-16s %9" PRIu64 " events %7" PRIu64 " pages %9" PRIu64 " lost %8" PRIu64
	       " wide %6" PRIu64 " interrupts %5" PRIu64 " closed %6" PRIu64 " fences %9" PRIu64
	       " overwritten\n",
	       kind->name, (uint64_t)counts.events, (uint64_t)counts.pages, (uint64_t)counts.lost,
	       (uint64_t)counts.wide, (uint64_t)interrupts, (uint64_t)counts.closes,
	       (uint64_t)counts.fences, (uint64_t)counts.overwritten);
	if (!counts.events || !counts.fences || !interrupts || (!kind->lossless && !counts.lost) ||
	    (overwrites() && !counts.overwritten) ||
	    (kind->jumps && (!counts.wide || !counts.long_gaps)))
		fail("shows nothing: too little happened");
}

/*
 * The command line
 */

struct options {
	double seconds;
	char **names;
	int name_count;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	char *end = "";

	switch (key) {
	case 's':
		options->seconds = strtod(arg, &end);
		if (*end || !(options->seconds > 0))
			argp_error(state, "'%s' is no number of seconds", arg);
		return 0;
	case 'r':
		seed = strtoull(arg, &end, 0);
		if (*end)
			argp_error(state, "'%s' is no seed", arg);
		return 0;
	case 't':
		thread_count = strtoul(arg, &end, 0);
		if (*end || !thread_count || thread_count > THREADS_MAX)
			argp_error(state, "threads are 1 to %d", THREADS_MAX);
		return 0;
	case ARGP_KEY_ARGS:
		options->names = state->argv + state->next;
		options->name_count = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool wanted(const struct options *options, const struct kind *k)
{
	int i;

	for (i = 0; i < options->name_count; i++)
		if (strstr(k->name, options->names[i]))
			return true;
	return !options->name_count;
}

int main(int argc, char **argv)
{
	static const struct argp_option option_table[] = {
		{ "seconds", 's', "SECONDS", 0, "Take so long in all (default: 9)", 0 },
		{ "seed", 'r', "NUMBER", 0, "Seed of the random numbers (default: the time)", 0 },
		{ "threads", 't', "NUMBER", 0,
		  "Threads that write (default: one a CPU, at least 2)", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = option_table,
		.parser = parse_option,
		.args_doc = "[KIND...]",
		.doc = "Stress lanes with threads and signals, and check every slot.\v"
		       "A KIND is any part of the names cpu-tiny, cpu-big, shared-tiny, shared-big, "
		       "ring-tiny and ring-big, or of these followed by -wide.",
	};
	struct options options = { .seconds = 9 };
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	u64 events = 0, lost = 0, wide = 0, interrupted = 0;
	unsigned int i, count = 0;
	double begin = seconds_now();
	cpu_set_t cpus;

	seed = time(NULL);
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		fail("sched_getaffinity: %m");
	if (!thread_count) {
		thread_count = CPU_COUNT(&cpus);
		if (thread_count < 2)
			thread_count = 2;
		if (thread_count > THREADS_MAX)
			thread_count = THREADS_MAX;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	block_interrupts(SIG_BLOCK);
	if (sigaction(SIGNAL_TIMER, &action, NULL) || sigaction(SIGNAL_STORM, &action, NULL))
		fail("sigaction: %m");

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		count += wanted(&options, &kinds[i]);
	if (!count) {
		fprintf(stderr, "lane_stress: no such kind (see --help)\n");
		return 2;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!wanted(&options, &kinds[i]))
			continue;
		kind = &kinds[i];
		run(&cpus, options.seconds / count);
		events += counts.events;
		lost += counts.lost;
		wide += counts.wide;
		interrupted += interrupts;
	}
	printf("%u kinds of lane, %u threads, %" PRIu64 " interrupts in %.1f s: %" PRIu64
	       " events (%" PRIu64 " wide) read once, whole and in order, %" PRIu64
	       " counted as lost\n",
	       count, thread_count, (uint64_t)interrupted, seconds_now() - begin, (uint64_t)events,
	       (uint64_t)wide, (uint64_t)lost);
	return 0;
}

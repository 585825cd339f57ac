// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a slot costs on real CPUs: lanes of one CPU each, the lane that all CPUs share, and the
 * algorithm of the paper (§4, figure 7), which locks the page around each slot.
 *
 * All write the same slots, with the same clock, into as many pages; whole pages go back in place,
 * once for some pages, by whoever begins the next one. A series in which a thread did not have its
 * CPU to itself, or in which there was no page, is not counted.
 *
 * Prints rows of: bench, tracer, value, unit.
 */
#include <argp.h>
#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lane.h"

#define THREADS_MAX 2
#define RING	    64
#define KICK_PAGES  8
#define SERIES	    101
#define SLOTS	    4000
/*
 * The part of a series for which a thread may be off its CPU, or alone on its lane, before the
 * series does not count; and how long to look for series that do.
 */
#define DISTURBED   0.1
#define SECONDS	    8

__thread u32 fkt_user_cpu;
__thread u32 fkt_user_pid;

/*
 * The paper's rotating buffer. The head is its two pointers: the page in the upper half, the place
 * in it in the lower one.
 */
struct paper_page {
	u32 users ____cacheline_aligned;
	u32 used;
	char *data;
};

struct paper {
	u64 head ____cacheline_aligned;
	u32 limit ____cacheline_aligned;
	u32 to_write;
	u64 lost;
	struct paper_page page[RING];
};

/**
 * struct way - a way to record
 * @name: what is printed as the tracer
 * @lanes_of_cpus: each thread has its own
 * @run: record so many slots of 8 and of 24 bytes
 */
struct way {
	const char *name;
	bool lanes_of_cpus;
	void (*run[2])(void *lane, u32 slots);
};

static struct fkt_lane lanes[THREADS_MAX];
static struct fkt_ring_entry rings[THREADS_MAX][RING];
static const u8 id[FKT_ID_BYTES];
static struct paper paper;
static char *memory;
static bool recycling[THREADS_MAX];

static const u64 args[2] = { 1, 2 };

static void lock_inc(u32 *p)
{
	__atomic_fetch_add(p, 1, __ATOMIC_ACQ_REL);
}

static void lock_dec(u32 *p)
{
	__atomic_fetch_sub(p, 1, __ATOMIC_ACQ_REL);
}

static struct paper_page *paper_page(u32 number)
{
	return &paper.page[number % RING];
}

/* The recording thread's part: pages that nobody uses any more, in order. */
static void paper_recycle(void)
{
	struct paper_page *page;

	if (__atomic_exchange_n(&recycling[0], true, __ATOMIC_ACQUIRE))
		return;
	while (paper.to_write != READ_ONCE(paper.head) >> 32) {
		page = paper_page(paper.to_write);
		if (smp_load_acquire(&page->users) || !page->used)
			break;
		page->used = 0;
		paper.to_write++;
		smp_store_release(&paper.limit, paper.limit + 1);
	}
	__atomic_store_n(&recycling[0], false, __ATOMIC_RELEASE);
}

/* Figure 7, with its steps. */
static __always_inline void paper_record(u64 tag, u32 words)
{
	const u32 bytes = 8 * (1 + words);
	struct paper_page *page, *next_page;
	u64 head, next, now;
	u32 offset, i;
	u64 *slot;

	for (;;) {
		head = READ_ONCE(paper.head); /* 1 */
		page = paper_page(head >> 32);
		lock_inc(&page->users); /* 2 */
		now = fkt_clock(true);
		offset = (u32)head; /* 3 */
		next = head + bytes;
		if (unlikely(offset + bytes > FKT_PAGE_BYTES)) {
			if ((u32)(head >> 32) + 1 == smp_load_acquire(&paper.limit)) {
				lock_dec(&page->users);
				fkt_count(&paper.lost, true);
				paper_recycle();
				return;
			}
			offset = 0;
			next = ((head >> 32) + 1) << 32 | bytes;
		}
		if (likely(fkt_cmpxchg(&paper.head, &head, next, true))) /* 4 */
			break;
		lock_dec(&page->users);
	}
	if (unlikely(!offset)) {
		next_page = paper_page(next >> 32);
		lock_inc(&next_page->users);
		page->used = (u32)head;
		lock_dec(&page->users);
		page = next_page;
		if (!((next >> 32) % KICK_PAGES))
			paper_recycle();
	}
	slot = (void *)(page->data + offset); /* 5 */
	slot[0] = (now << FKT_SLOT_STAMP_SHIFT) | tag;
	for (i = 0; i < words; i++)
		slot[1 + i] = args[i];
	lock_dec(&page->users); /* 6 */
}

void fkt_lane_kick(struct fkt_lane *lane)
{
	struct fkt_page_header *page;
	void *buf;

	if (__atomic_exchange_n(&recycling[lane->number], true, __ATOMIC_ACQUIRE))
		return;
	while ((page = fkt_lane_take(lane, &buf)))
		fkt_lane_queue(lane, page, buf);
	__atomic_store_n(&recycling[lane->number], false, __ATOMIC_RELEASE);
}

void fkt_lane_full(struct fkt_lane *lane, u64 now)
{
	(void)lane;
	(void)now;
}

#define RUN(name, record)                                                                          \
	static void name(void *lane, u32 slots)                                                    \
	{                                                                                          \
		u32 k;                                                                             \
                                                                                                   \
		(void)lane;                                                                        \
		for (k = 0; k < slots; k++)                                                        \
			record;                                                                    \
	}

static u64 sink;

RUN(run_cpu_8, fkt_lane_record(lane, FKT_TAG(1, 0, k), 0, args, false))
RUN(run_cpu_24, fkt_lane_record(lane, FKT_TAG(1, 2, k), 2, args, false))
RUN(run_shared_8, fkt_lane_record(lane, FKT_TAG(1, 0, k), 0, args, true))
RUN(run_shared_24, fkt_lane_record(lane, FKT_TAG(1, 2, k), 2, args, true))
RUN(run_paper_8, paper_record(FKT_TAG(1, 0, k), 0))
RUN(run_paper_24, paper_record(FKT_TAG(1, 2, k), 2))
RUN(run_clock, WRITE_ONCE(sink, fkt_clock(false)))
RUN(run_clock_ordered, WRITE_ONCE(sink, fkt_clock(true)))

static const struct way ways[] = {
	{ "clock", true, { run_clock, NULL } },
	{ "clock_ordered", true, { run_clock_ordered, NULL } },
	{ "fkt", true, { run_cpu_8, run_cpu_24 } },
	{ "fkt_lanes_1", false, { run_shared_8, run_shared_24 } },
	{ "paper", false, { run_paper_8, run_paper_24 } },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct worker {
	pthread_t thread;
	int cpu;
	u32 number;
	u32 slots;
	double begin_ns;
	double end_ns;
	double cpu_ns;
	void (*run)(void *lane, u32 slots);
	void *lane;
	u32 *waiting;
};

static void reset(void)
{
	u32 i, k;

	for (i = 0; i < THREADS_MAX; i++) {
		fkt_lane_init(&lanes[i], rings[i], RING, i, i, KICK_PAGES, id);
		for (k = 0; k < RING; k++)
			fkt_lane_queue(&lanes[i], memory + (size_t)(i * RING + k) * FKT_PAGE_BYTES,
				       NULL);
	}
	paper.head = 0;
	paper.to_write = 0;
	paper.limit = RING;
	paper.lost = 0;
	for (k = 0; k < RING; k++)
		paper.page[k] = (struct paper_page){
			.data = memory + (size_t)k * FKT_PAGE_BYTES,
		};
}

static u64 lost(void)
{
	return lanes[0].lost + lanes[1].lost + paper.lost;
}

static double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	cpu_set_t cpus;
	double cpu;

	fkt_user_cpu = worker->number;
	CPU_ZERO(&cpus);
	CPU_SET(worker->cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "CPU %d", worker->cpu);
	worker->run(worker->lane, worker->slots / 2);
	__atomic_fetch_sub(worker->waiting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(worker->waiting, __ATOMIC_ACQUIRE))
		;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	worker->begin_ns = clock_ns(CLOCK_MONOTONIC);
	worker->run(worker->lane, worker->slots);
	worker->end_ns = clock_ns(CLOCK_MONOTONIC);
	worker->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	return NULL;
}

/* Return: nanoseconds a slot, as each thread sees it; negative when the series was disturbed. */
static double series(const struct way *way, unsigned int size, const int *cpus, u32 threads,
		     u32 slots)
{
	struct worker workers[THREADS_MAX];
	double ns = 0, wall_ns, begin = 0, end = 0;
	bool disturbed = false;
	u32 waiting = threads;
	u32 i;

	reset();
	for (i = 0; i < threads; i++) {
		workers[i] = (struct worker){
			.cpu = cpus[i],
			.number = i,
			.slots = slots,
			.run = way->run[size],
			.lane = &lanes[way->lanes_of_cpus ? i : 0],
			.waiting = &waiting,
		};
		errno = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (errno)
			err(1, "no thread");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		if (!i || workers[i].begin_ns > begin)
			begin = workers[i].begin_ns;
		if (!i || workers[i].end_ns < end)
			end = workers[i].end_ns;
	}
	for (i = 0; i < threads; i++) {
		wall_ns = workers[i].end_ns - workers[i].begin_ns;
		ns += wall_ns / slots / threads;
		if (wall_ns > workers[i].cpu_ns * (1 + DISTURBED) ||
		    wall_ns > (end - begin) * (1 + DISTURBED))
			disturbed = true;
	}
	return disturbed || lost() ? -ns : ns;
}

static int compare(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

static double cycles_per_ns(void)
{
	double ns = clock_ns(CLOCK_MONOTONIC);
	u64 cycles = fkt_clock(true);
	struct timespec t = { .tv_nsec = 50000000 };

	nanosleep(&t, NULL);
	cycles = fkt_clock(true) - cycles;
	return cycles / (clock_ns(CLOCK_MONOTONIC) - ns);
}

/* The ways take turns, so that a change in the machine's speed meets them all. */
static void bench(unsigned int size, const int *cpus, u32 threads, u32 slots, double ghz)
{
	double ns[WAYS][SERIES], median[WAYS] = { 0 }, value;
	double deadline = clock_ns(CLOCK_MONOTONIC) + SECONDS * 1e9;
	char name[64];
	unsigned int count[WAYS] = { 0 };
	unsigned int i;
	bool enough;

	do {
		enough = true;
		for (i = 0; i < WAYS; i++) {
			if (!ways[i].run[size] || count[i] == SERIES)
				continue;
			enough = false;
			value = series(&ways[i], size, cpus, threads, slots);
			if (value > 0)
				ns[i][count[i]++] = value;
		}
	} while (!enough && clock_ns(CLOCK_MONOTONIC) < deadline);
	snprintf(name, sizeof(name), "slot_%u_bytes_%u_thread%s", size ? 24 : 8, threads,
		 threads > 1 ? "s" : "");
	for (i = 0; i < WAYS; i++) {
		if (!ways[i].run[size])
			continue;
		if (count[i] < 3) {
			warnx("%s, %s: the machine is too busy for a measurement", name,
			      ways[i].name);
			continue;
		}
		qsort(ns[i], count[i], sizeof(ns[i][0]), compare);
		median[i] = ns[i][count[i] / 2];
		printf("%s\t%s\t%.1f\tns\n", name, ways[i].name, median[i]);
		printf("%s\t%s\t%.1f\tns_min\n", name, ways[i].name, ns[i][0]);
		printf("%s\t%s\t%.0f\tcycles\n", name, ways[i].name, median[i] * ghz);
	}
	for (i = 0; i < WAYS - 1; i++)
		if (ways[i].run[1] && median[i] > 0 && median[WAYS - 1] > 0)
			printf("%s\t%s\t%.2f\tof_paper\n", name, ways[i].name,
			       median[i] / median[WAYS - 1]);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	u32 *slots = state->input;
	char *end;

	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	*slots = strtoul(arg, &end, 0);
	if (*end || !*slots)
		argp_error(state, "'%s' is no number of slots", arg);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "slots", 'n', "NUMBER", 0, "Slots a series (default: 4000)", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.doc = "Measure what a slot costs on this machine's CPUs.",
	};
	u32 slots = SLOTS, threads, count = 0;
	int cpus[THREADS_MAX], cpu;
	unsigned int size;
	cpu_set_t allowed;
	double ghz;

	argp_parse(&argp, argc, argv, 0, NULL, &slots);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		err(1, "sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE && count < THREADS_MAX; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[count++] = cpu;
	memory = aligned_alloc(FKT_PAGE_BYTES, (size_t)THREADS_MAX * RING * FKT_PAGE_BYTES);
	if (!memory)
		err(1, "no memory");
	memset(memory, 0, (size_t)THREADS_MAX * RING * FKT_PAGE_BYTES);

	ghz = cycles_per_ns();
	for (threads = 1; threads <= count; threads++)
		for (size = 0; size < 2; size++)
			bench(size, cpus, threads, slots, ghz);
	if (count < 2)
		warnx("only one CPU: nothing to say about two threads");
	return 0;
}

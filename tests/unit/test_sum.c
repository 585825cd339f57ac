// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt_sum() against fkt_analysis_event(): the same answer, to the last cycle, of traces of threads
 * that call, are interrupted, sleep, wake each other and go from CPU to CPU, by chance.
 */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fkt/trace.h>

#include "build_trace.h"

#define PIDS	  12
#define FIRST_PID 50
#define STACK_MAX 40
#define F	  0x10000u
#define FUNCTIONS 4u
#define POINT	  0x1005u
#define LAST_CODE (FKT_SLOT_CODES - 1)

static const char codes[] = "0x10000 4 entry 0x10004 functions F args:args\n"
			    "0x10004 4 exit 0x10000 functions F ret:ret\n"
			    "0x10008 1 entry 0x10009 functions G one:u64 what:func\n"
			    "0x10009 1 exit 0x10008 functions G what:func\n"
			    "0x10010 1 entry 0x10011 functions H\n"
			    "0x10011 1 cpu_exit 0x10010 functions H\n"
			    "0x10012 1 cpu_entry 0x10013 functions I\n"
			    "0x10013 1 exit 0x10012 functions I\n";

/* What may be wrong with a trace. */
enum {
	ODD_NOTHING = 0,
	ODD_GAPS = 1,	 /* events are lost */
	ODD_CALLS = 2,	 /* entries and exits are missing, and wrong ones come */
	ODD_PAUSES = 4,	 /* recording is turned off and on */
	ODD_TIME = 8,	 /* stamps run backwards */
	ODD_PAGES = 16,	 /* damaged ones, and some twice */
	PREEMPT_RT = 32, /* nothing wrong: threads run softirqs, with which they are preempted */
};

struct stack {
	uint32_t code[STACK_MAX];
	uint64_t address[STACK_MAX];
	unsigned int depth;
};

/* What is being recorded. */
static struct {
	struct build build;
	unsigned int cpus;
	unsigned int odd;
	uint64_t now;
	struct stack thread[PIDS];
	struct stack irq[BUILD_LANES_MAX];
	unsigned int on[BUILD_LANES_MAX]; /* PIDS: idle */
	bool runs[PIDS];
} m;

static unsigned int seed;

static unsigned int any(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

static void event(unsigned int cpu, uint32_t code, uint16_t imm, const uint64_t *words,
		  unsigned int n)
{
	uint64_t stamp = m.now;

	if (m.odd & ODD_TIME && !any(400))
		stamp -= any(3000);
	build_slot(&m.build, cpu, (uint16_t)cpu, stamp, code, imm, words, n);
}

static void enter(unsigned int cpu, struct stack *stack, uint32_t code)
{
	uint64_t words[6] = { any(100), 0x1000 + any(5) };

	if (stack->depth == STACK_MAX)
		return;
	stack->code[stack->depth] = code;
	stack->address[stack->depth++] = words[1];
	if (m.odd & ODD_CALLS && !any(60))
		return;
	event(cpu, code, (uint16_t)(code == FKT_CODE_SOFTIRQ_ENTRY ? 3 : 14), words,
	      code == 0x10008 ? 2 : any(3));
}

static void leave(unsigned int cpu, struct stack *stack)
{
	uint32_t code;
	uint64_t word;

	if (!stack->depth)
		return;
	code = stack->code[--stack->depth];
	word = stack->address[stack->depth];
	if (m.odd & ODD_CALLS && !any(60))
		return;
	if (m.odd & ODD_CALLS && !any(80))
		code = F + any(FUNCTIONS);
	if (code == 0x10008)
		event(cpu, 0x10009, 0, &word, 1);
	else if (code == FKT_CODE_IRQ_ENTRY || code == FKT_CODE_SOFTIRQ_ENTRY)
		event(cpu, code + 1, code == FKT_CODE_SOFTIRQ_ENTRY ? 3 : 14, NULL, 0);
	else if (code >= F)
		event(cpu, code + 4, 0, NULL, 0);
	else
		event(cpu, code + (code >= 0x1000 ? 0x40 : 0x400), 7, NULL, 0);
}

static void change(unsigned int cpu)
{
	unsigned int next = any(PIDS + 1), prev = m.on[cpu];

	if (next == prev || (next < PIDS && m.runs[next]))
		return;
	if (prev < PIDS)
		m.runs[prev] = false;
	if (next < PIDS)
		m.runs[next] = true;
	m.on[cpu] = next;
	m.irq[cpu].depth = 0;
	if (m.odd & ODD_CALLS && !any(40))
		return;
	build_switch(&m.build, cpu, m.now,
		     any(2)   ? 0
		     : any(2) ? 1
			      : 2,
		     prev < PIDS ? FIRST_PID + prev : 0, next < PIDS ? FIRST_PID + next : 0);
	if (m.odd & ODD_CALLS && !any(40))
		build_close(&m.build, cpu);
}

/* One thing that happens on a CPU. */
static void happen(unsigned int cpu)
{
	struct stack *thread = m.on[cpu] < PIDS ? &m.thread[m.on[cpu]] : NULL;
	struct stack *stack = m.irq[cpu].depth || !thread ? &m.irq[cpu] : thread;
	uint64_t words[3] = { FIRST_PID + any(PIDS), 0, 0 };
	unsigned int what = any(100);

	if (what < 30) {
		leave(cpu, stack);
	} else if (what < 40 && thread && !thread->depth && stack == thread) {
		enter(cpu, thread, any(8) ? any(5) : 0x800 + any(3));
	} else if (what < 62 && (stack->depth || !any(6)) && thread) {
		enter(cpu, stack, any(7) ? F + any(FUNCTIONS) : 0x10008);
	} else if (what < 66 && m.odd & PREEMPT_RT && thread && stack == thread) {
		enter(cpu, thread, FKT_CODE_SOFTIRQ_ENTRY);
	} else if (what < 70) {
		enter(cpu, &m.irq[cpu],
		      any(3)				? FKT_CODE_IRQ_ENTRY
		      : any(2) && !(m.odd & PREEMPT_RT) ? FKT_CODE_SOFTIRQ_ENTRY
							: FKT_CODE_VECTOR_ENTRY + any(2));
	} else if (what < 78) {
		event(cpu, POINT, 2, words, 2);
	} else if (what < 83) {
		event(cpu, FKT_CODE_WAKEUP, 0, words, 1);
	} else if (what < 92) {
		change(cpu);
	} else if (what < 93) {
		build_fork(&m.build, cpu, m.now, 1000 + any(40), FIRST_PID + any(PIDS));
	} else if (what < 94 && thread) {
		build_name(&m.build, cpu, m.now, any(2) ? FKT_CODE_EXEC : FKT_CODE_RENAME,
			   FIRST_PID + m.on[cpu], "name");
	} else if (what < 95 && m.odd & ODD_GAPS && !any(6)) {
		build_close(&m.build, cpu);
		m.build.lane[cpu].lost += any(9);
		m.build.lane[cpu].seq += any(2);
	} else if (what < 96 && m.odd & ODD_PAUSES && !any(30)) {
		words[0] = any(3) ? 0x80000000 | any(2) << 8 | any(2) : 0;
		event(cpu, FKT_CODE_SETMASK, 0, words, 1);
	} else if (what < 97 && m.odd & ODD_PAUSES && !any(30)) {
		words[0] = m.now - any(2000);
		event(cpu, FKT_CODE_PAUSE, (uint16_t)cpu, words, 1);
	} else if (what < 98 && m.odd & ODD_PAGES && !any(40)) {
		/* A page again; then one with a slot that leads nowhere. */
		size_t at = build_close(&m.build, cpu);
		char page[FKT_PAGE_BYTES];

		if (at)
			memcpy(page, m.build.data + at, sizeof(page));
		if (at && any(2))
			build_append(&m.build, page, sizeof(page));
		else if (at)
			m.build.data[at + 72 + 8 * any(20)] |= 15;
	} else if (what < 99 && m.odd & ODD_CALLS && !any(200)) {
		event(cpu, LAST_CODE, 1, words, any(4));
	} else if (!any(50)) {
		m.now += any(1u << 26); /* beyond what a slot's stamp tells */
	}
}

static void begin_trace(unsigned int cpus, unsigned int odd)
{
	memset(&m, 0, sizeof(m));
	m.cpus = cpus;
	m.odd = odd;
	m.now = 1000000;
	build_begin(&m.build, cpus, false);
	if (odd & PREEMPT_RT)
		build_text(&m.build, FKT_SECTION_INFO, "version=#1 SMP PREEMPT_RT Debian");
	build_text(&m.build, FKT_SECTION_CODES, codes);
	build_text(&m.build, FKT_SECTION_PROCESSES, "50 50 1 app\n51 50 1 app\n52 52 2 kthread\n");
	build_pages(&m.build);
}

static struct fkt_trace *end_trace(void)
{
	char path[32], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;
	int fd;

	build_end(&m.build, 0, 0, 0);
	fd = memfd_create("trace", 0);
	assert_int_equal(write(fd, m.build.data, m.build.bytes), m.build.bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	close(fd);
	build_free(&m.build);
	return trace;
}

static struct fkt_trace *make_trace(unsigned int cpus, unsigned int odd, unsigned int events)
{
	begin_trace(cpus, odd);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		m.on[cpu] = PIDS;
	for (unsigned int i = 0; i < events; i++) {
		m.now += any(300);
		/* Some CPUs have less to do. */
		happen(any(4) ? any(cpus) : 0);
	}
	return end_trace();
}

/* What hooks were told, in whatever order. */
struct told {
	uint64_t calls;
	uint64_t waits;
	uint64_t digest;
	uint64_t in_order; /* this one depends on it */
};

struct answer {
	struct fkt_processes *processes;
	struct fkt_analysis *analysis;
	struct fkt_read_stats stats;
	struct told told;
};

/* FNV-1a of numbers; hashes of different things are added up. */
static uint64_t digest(const uint64_t *numbers, size_t count)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < 8 * count; i++)
		hash = (hash ^ (numbers[i / 8] >> i % 8 * 8 & 0xff)) * 0x100000001b3;
	return hash;
}

static void add(struct told *told, const uint64_t *numbers, size_t count)
{
	uint64_t hash = digest(numbers, count);

	told->digest += hash;
	told->in_order = told->in_order * 0x100000001b3 + hash;
}

static void on_leave(void *arg, const struct fkt_call *call)
{
	struct told *told = arg;
	uint64_t numbers[19 + FKT_CALL_WORDS] = {
		call->row,
		call->caller,
		call->id,
		call->cpu,
		call->depth,
		call->interrupt,
		call->partial,
		call->entered | call->counts << 1,
		call->begin,
		call->end,
		call->cycles,
		call->own,
		call->only_elapsed,
		call->entry_words,
		call->exit ? call->exit->code : 0,
		call->exit ? call->exit->stamp : 0,
		call->exit && call->exit->words ? fkt_arg64(call->exit, 0) : 0,
		call->leader,
		call->outside,
	};

	assert_true(call->entry_words <= FKT_CALL_WORDS);
	for (unsigned int i = 0; i < call->entry_words; i++)
		numbers[19 + i] = call->entry_args[i];
	told->calls++;
	add(told, numbers, 19 + FKT_CALL_WORDS);
}

static void on_wait(void *arg, const struct fkt_wait *wait)
{
	const uint64_t numbers[] = {
		wait->id,    wait->state,     wait->outer, wait->inner, wait->cpu,
		wait->left,  wait->from,      wait->to,	   wait->back,	wait->woken,
		wait->waker, wait->waker_row, wait->next,
	};
	struct told *told = arg;

	told->waits++;
	add(told, numbers, sizeof(numbers) / sizeof(numbers[0]));
}

static void begin(struct answer *answer, struct fkt_trace *trace, bool tell)
{
	const struct fkt_analysis_hooks hooks = {
		.arg = &answer->told,
		.leave = on_leave,
		.wait = on_wait,
		.keep_args = true,
		.leaders = true,
	};

	answer->told = (struct told){ 0 };
	answer->processes = fkt_processes_new(trace);
	answer->analysis = fkt_analysis_new(trace, answer->processes, tell ? &hooks : NULL);
	assert_true(answer->processes && answer->analysis);
}

static void end(struct answer *answer)
{
	fkt_analysis_free(answer->analysis);
	fkt_processes_free(answer->processes);
}

static void read_one_by_one(struct answer *answer, struct fkt_trace *trace, bool tell)
{
	struct fkt_reader *reader = fkt_reader_new(trace);
	struct fkt_event found;
	int what;

	begin(answer, trace, tell);
	while ((what = fkt_next(reader, &found)) > 0) {
		if (what == FKT_GAP) {
			fkt_analysis_gap(answer->analysis, fkt_gap(reader));
			continue;
		}
		assert_int_equal(fkt_analysis_event(answer->analysis, &found), 0);
		if (fkt_is_process_event(found.code))
			fkt_processes_event(answer->processes, &found);
	}
	assert_int_equal(what, 0);
	answer->stats = *fkt_read_stats(reader);
	assert_int_equal(fkt_analysis_end(answer->analysis, answer->stats.last), 0);
	fkt_reader_free(reader);
}

static void compare(const struct answer *a, const struct answer *b)
{
	struct fkt_thread_sums *threads[2];
	size_t count[2];

	assert_int_equal(a->told.calls, b->told.calls);
	assert_int_equal(a->told.waits, b->told.waits);
	assert_int_equal(a->told.digest, b->told.digest);
	assert_int_equal(a->stats.events, b->stats.events);
	assert_int_equal(a->stats.pages, b->stats.pages);
	assert_int_equal(a->stats.index_pages, b->stats.index_pages);
	assert_int_equal(a->stats.lost, b->stats.lost);
	assert_int_equal(a->stats.missing, b->stats.missing);
	assert_int_equal(a->stats.damaged, b->stats.damaged);
	assert_int_equal(a->stats.first, b->stats.first);
	assert_int_equal(a->stats.last, b->stats.last);
	assert_int_equal(fkt_analysis_duration(a->analysis), fkt_analysis_duration(b->analysis));
	assert_int_equal(fkt_analysis_cpus(a->analysis), fkt_analysis_cpus(b->analysis));
	for (uint32_t row = 0; row < FKT_ROWS; row++)
		assert_memory_equal(fkt_analysis_row(a->analysis, row),
				    fkt_analysis_row(b->analysis, row),
				    sizeof(struct fkt_row_sums));
	for (uint32_t code = 0; code < FKT_SLOT_CODES; code++)
		assert_int_equal(fkt_analysis_code_count(a->analysis, code),
				 fkt_analysis_code_count(b->analysis, code));
	threads[0] = fkt_analysis_threads(a->analysis, &count[0]);
	threads[1] = fkt_analysis_threads(b->analysis, &count[1]);
	assert_true(threads[0] && threads[1]);
	assert_int_equal(count[0], count[1]);
	assert_memory_equal(threads[0], threads[1], count[0] * sizeof(*threads[0]));
	for (size_t i = 0; i < count[0]; i++)
		for (uint16_t cpu = 0; cpu < BUILD_LANES_MAX; cpu++)
			assert_int_equal(fkt_analysis_on_cpu(a->analysis, threads[0][i].id, cpu),
					 fkt_analysis_on_cpu(b->analysis, threads[0][i].id, cpu));
	assert_int_equal(fkt_analysis_has_syscalls(a->analysis),
			 fkt_analysis_has_syscalls(b->analysis));
	free(threads[0]);
	free(threads[1]);
}

/* Hooks are told the same in the same order, whatever number of threads it is. */
static void check_order(struct fkt_trace *trace, const struct told *told)
{
	struct answer one;

	begin(&one, trace, true);
	assert_int_equal(fkt_sum(trace, one.processes, one.analysis, 1, &one.stats), 0);
	assert_int_equal(fkt_analysis_end(one.analysis, one.stats.last), 0);
	assert_memory_equal(&one.told, told, sizeof(*told));
	end(&one);
}

/* Whether it was not too odd for fkt_sum(). */
static bool check(unsigned int cpus, unsigned int odd, unsigned int events, unsigned int threads)
{
	struct fkt_trace *trace = make_trace(cpus, odd, events);
	bool tell = events % 2;
	struct answer one, many;
	int err;

	assert_true(fkt_can_sum(trace));
	read_one_by_one(&one, trace, tell);
	begin(&many, trace, tell);
	err = fkt_sum(trace, many.processes, many.analysis, threads, &many.stats);
	if (!err) {
		assert_int_equal(fkt_analysis_end(many.analysis, many.stats.last), 0);
		compare(&one, &many);
		if (tell)
			check_order(trace, &many.told);
		assert_true(!tell || (one.told.calls && (events < 1000 || one.told.waits)));
	} else {
		assert_int_equal(err, -EAGAIN);
	}
	end(&one);
	end(&many);
	fkt_close(trace);
	return !err;
}

static void test_well_behaved(void **state)
{
	(void)state;
	for (seed = 1; seed < 40;) {
		unsigned int number = seed;

		if (!check(1 + number % 4, number % 5 ? ODD_NOTHING : PREEMPT_RT,
			   3000 + 501 * number, 1 + number % 3))
			fail_msg("seed %u is too odd", number);
		seed = number + 1;
	}
}

static void test_odd(void **state)
{
	static const unsigned int odds[] = {
		ODD_GAPS,
		ODD_CALLS,
		ODD_GAPS | ODD_CALLS,
		ODD_TIME,
		ODD_PAGES,
		ODD_GAPS | ODD_PAUSES,
		ODD_CALLS | ODD_TIME,
	};
	const unsigned int kinds = sizeof(odds) / sizeof(odds[0]);
	unsigned int same[sizeof(odds) / sizeof(odds[0])] = { 0 }, number;

	(void)state;
	for (number = 0; number < 20 * kinds; number++) {
		seed = 1000 + number;
		same[number % kinds] += check(1 + number % 4, odds[number % kinds],
					      300 + 21 * number, 1 + number % 3);
	}
	/* Gaps are nothing odd, and others need not be. */
	assert_int_equal(same[0], 20);
	for (unsigned int i = 1; i < kinds; i++)
		assert_true(same[i] >= 1);
	for (number = 0; number < 20; number++) {
		seed = 2000 + number;
		assert_true(check(1 + number % 4, PREEMPT_RT | ODD_GAPS, 1300 + 51 * number,
				  1 + number % 3));
		check(1 + number % 4, PREEMPT_RT | odds[number % kinds], 300 + 21 * number,
		      1 + number % 3);
	}
}

/* Many pages, more than are asked for at once. */
static void test_large(void **state)
{
	(void)state;
	seed = 7;
	assert_true(check(3, ODD_NOTHING, 400000, 3));
	seed = 7;
	assert_true(check(3, ODD_NOTHING, 400001, 2));
	assert_true(check(2, ODD_GAPS, 200000, 1));
}

/* Threads are current from the beginning; each event comes 100 cycles after the one before. */
static void check_codes(const uint32_t *code, size_t count, unsigned int no_cycles)
{
	struct answer one, reduced;
	struct fkt_trace *trace;

	begin_trace(1, ODD_NOTHING);
	m.build.lane[0].pid = FIRST_PID;
	for (size_t i = 0; i < count; i++) {
		m.now += i == no_cycles ? 0 : 100;
		event(0, code[i], 2, NULL, 0);
	}
	trace = end_trace();
	read_one_by_one(&one, trace, true);
	begin(&reduced, trace, true);
	assert_int_equal(fkt_sum(trace, reduced.processes, reduced.analysis, 1, &reduced.stats), 0);
	assert_int_equal(fkt_analysis_end(reduced.analysis, reduced.stats.last), 0);
	compare(&one, &reduced);
	end(&one);
	end(&reduced);
	fkt_close(trace);
}

/* An interrupt of no cycles in a call, in an interrupt of which the page lost sight. */
static void test_short_interrupt(void **state)
{
	static const uint32_t codes_of[] = {
		0x1004, FKT_CODE_VECTOR_ENTRY,	      FKT_CODE_GCC_EXIT,
		F,	FKT_CODE_IRQ_ENTRY,	      FKT_CODE_IRQ_EXIT,
		F + 4,	FKT_CODE_VECTOR_ENTRY + 0x40, 0x1004,
	};

	(void)state;
	check_codes(codes_of, sizeof(codes_of) / sizeof(codes_of[0]), 5);
	check_codes(codes_of, sizeof(codes_of) / sizeof(codes_of[0]), 0);
}

/* Exits that are said to belong to entries of the other kind. */
static void test_mixed_kinds(void **state)
{
	static const uint32_t codes_of[] = {
		0x1004, 0,	 F,	  F + 1,   0x10010, 0x10011, F + 5,
		F,	0x10012, 0x10013, F + 4,   0x10012, F + 2,   0x10010,
		F + 3,	0x10011, F + 7,	  0x10013, F + 6,   F + 4,   0x1004,
	};

	(void)state;
	check_codes(codes_of, sizeof(codes_of) / sizeof(codes_of[0]), 0);
}

/*
 * A thread that ends before it has returned from the call that makes it, which can be taken out of
 * its maker's page: it is in that call, and not in user mode, whoever sums up.
 */
static void test_new_thread(void **state)
{
	const uint64_t child = 900;
	struct answer one, reduced;
	struct fkt_trace *trace;
	struct build *build;

	(void)state;
	begin_trace(2, ODD_NOTHING);
	build = &m.build;
	build->lane[0].pid = FIRST_PID;
	build->lane[1].pid = 0;
	build_event(build, 1, m.now + 50, FKT_CODE_SOFTIRQ_ENTRY, 1);
	build_event(build, 1, m.now + 60, FKT_CODE_SOFTIRQ_EXIT, 1);
	build_event(build, 0, m.now + 100, 39, 0);
	build_event(build, 0, m.now + 200, 1024 + 39, 0);
	build_event(build, 0, m.now + 300, 56, 0);
	build_fork(build, 0, m.now + 310, child, FIRST_PID);
	build_slot(build, 0, 0, m.now + 320, FKT_CODE_WAKEUP_NEW, 0, &child, 1);
	build_switch(build, 1, m.now + 400, 0, 0, child);
	build_switch(build, 1, m.now + 500, 0x20, child, 0);
	build_event(build, 0, m.now + 600, 1024 + 56, 0);
	build_event(build, 0, m.now + 700, 39, 0);
	build_event(build, 0, m.now + 800, 1024 + 39, 0);
	trace = end_trace();
	read_one_by_one(&one, trace, false);
	assert_int_equal(fkt_analysis_row(one.analysis, FKT_ROW_BEFORE)->own, 100);
	begin(&reduced, trace, false);
	assert_int_equal(fkt_sum(trace, reduced.processes, reduced.analysis, 1, &reduced.stats), 0);
	assert_int_equal(fkt_analysis_end(reduced.analysis, reduced.stats.last), 0);
	compare(&one, &reduced);
	end(&one);
	end(&reduced);
	fkt_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_thread),
		cmocka_unit_test(test_well_behaved),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_short_interrupt),
		cmocka_unit_test(test_mixed_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

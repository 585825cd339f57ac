// SPDX-License-Identifier: GPL-2.0-only
/*
 * fkt_view's cells of a trace whose right answers are known. With --trace=FILE it writes that
 * trace, with --whole=FILE the same without the loss, with
 * --fast=FILE one whose clock has 2.6 cycles in a nanosecond; each of its rounds takes 100 us:
 *
 *	CPU 1	"reader" enters sys_read, sleeps in it from 10 us on, is woken at 30 us by "writer",
 *		runs again at 40 us, and leaves the call at 45 us; an interrupt at 15 us
 *	CPU 0	"writer" runs all the time, in sys_write from 20 us on to 32 us
 *
 * In round 7, the reader is woken at 80 us, runs at 84 us, and leaves the call at 88 us; the writer
 * is in sys_write up to 82 us, and in G from 50 us on to 60 us. Five events of CPU 0 are lost
 * between rounds 12 and 13. A mark is in round 3.
 *
 * With --application=FILE it writes one of programs that tell of spans, counters and marks, with
 * samples and a trigger; with --long=FILE the same of so many rounds that it is shown by levels,
 * and nothing is told of later. With --unknown=FILE the reader is woken by a thread that is not
 * known, and with --losses=FILE an event is lost in each of many rounds.
 */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "build_trace.h"
#include "fkt_view/collect.h"

#define WRITER	  50
#define READER	  60
#define READ	  0
#define WRITE	  1
#define CALL_END  0x400
#define G	  0x10000
#define G_END	  0x10001

#define ROUNDS	  20
#define ROUND_NS  100000
#define FIRST	  1000
#define SLOW	  7
#define MARKED	  3
#define LOST	  13
#define LOST_MANY 5
#define REAL_NS	  1790000000000000000ull
#define IRQ	  14
#define CELLS_MAX 1000
#define SHOP	  70
#define CART	  80
#define ORDER	  0x6f800
#define LOOK	  0x6f802
#define CLIENTS	  0x6f804
#define OTHER	  0x6f806 /* an event, and no counter */
#define TRIGGERED 5
#define LONG	  30000
#define LOSSES	  5000

static struct fkt_trace *trace;
static struct names *names;

static void one(struct build *build, unsigned int lane, uint64_t stamp, uint32_t code, uint16_t imm,
		uint64_t word)
{
	build_slot(build, lane, (uint16_t)lane, stamp, code, imm, &word, 1);
}

static void build_round(struct build *build, unsigned int round, bool lossy)
{
	const uint64_t base = FIRST + round * (uint64_t)ROUND_NS;
	const bool slow = round == SLOW;
	const uint64_t text[2] = { 0x7265682068636977, 0 };

	if (round == LOST && lossy) {
		build_close(build, 0);
		build->lane[0].lost += LOST_MANY;
	}
	build_event(build, 1, base, READ, 0);
	build_switch(build, 1, base + 10000, 1, READER, 0);
	build_event(build, 1, base + 15000, FKT_CODE_IRQ_ENTRY, IRQ);
	build_event(build, 1, base + 17000, FKT_CODE_IRQ_EXIT, IRQ);
	build_event(build, 0, base + 20000, WRITE, 0);
	if (round == MARKED)
		build_slot(build, 0, 0, base + 25000, FKT_CODE_MARK, 0, text, 2);
	if (slow) {
		build_event(build, 0, base + 50000, G, 0);
		build_event(build, 0, base + 60000, G_END, 0);
	}
	one(build, 0, base + (slow ? 80000 : 30000), FKT_CODE_WAKEUP, 0, READER | 120ull << 32);
	build_event(build, 0, base + (slow ? 82000 : 32000), CALL_END + WRITE, 0);
	build_switch(build, 1, base + (slow ? 84000 : 40000), 0, 0, READER);
	build_event(build, 1, base + (slow ? 88000 : 45000), CALL_END + READ, 1);
}

static void write_trace(const char *path, bool lossy, bool fast)
{
	static const char info[] = "command=reader and <i>writer</i>\0machine=x86_64\0cpus=2\0"
				   "tsc_khz=1000000";
	static const char fast_info[] = "command=fast\0cpus=2\0tsc_khz=2600000";
	const uint64_t end = FIRST + ROUNDS * (uint64_t)ROUND_NS;
	const uint64_t ns = fast ? end * 10 / 26 : end;
	struct build build;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, REAL_NS);
	if (fast)
		build_section(&build, FKT_SECTION_INFO, fast_info, sizeof(fast_info), false);
	else
		build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 <b>writer</b>\n60 60 1 reader\n");
	build_text(&build, FKT_SECTION_IRQS, "14 ide0\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x10000 1 entry 0x10001 functions G\n"
		   "0x10001 1 exit 0x10000 functions G ret:ret\n");
	build_pages(&build);
	build.lane[0].pid = WRITER;
	build.lane[1].pid = READER;
	for (unsigned int round = 0; round < ROUNDS; round++)
		build_round(&build, round, lossy);
	build_end(&build, end, ns, REAL_NS + ns);
	build_write(&build, path, build.bytes);
	build_free(&build);
}

/* A trace of two CPUs, up to its events. */
static void begin_trace(struct build *build, const char *processes)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000";

	build_begin(build, 2, false);
	build_clock(build, 0, 0, REAL_NS);
	build_section(build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(build, FKT_SECTION_PROCESSES, processes);
	build_pages(build);
}

static void end_trace(struct build *build, const char *path, uint64_t end)
{
	build_end(build, end, end, REAL_NS + end);
	build_write(build, path, build->bytes);
	build_free(build);
}

/* In each round an event of CPU 0 is lost. */
static void write_losses(const char *path)
{
	struct build build;

	begin_trace(&build, "50 50 1 writer\n");
	build.lane[0].pid = WRITER;
	for (unsigned int round = 0; round < LOSSES; round++) {
		const uint64_t base = FIRST + round * (uint64_t)ROUND_NS;

		build_event(&build, 0, base, WRITE, 0);
		build_event(&build, 0, base + 90000, CALL_END + WRITE, 0);
		build_close(&build, 0);
		build.lane[0].lost++;
	}
	end_trace(&build, path, FIRST + LOSSES * (uint64_t)ROUND_NS);
}

/* Of CPU 0 nothing is known but that the reader is woken from there. */
static void write_unknown(const char *path)
{
	struct build build;

	begin_trace(&build, "60 60 1 reader\n");
	build.lane[0].pid = FKT_PID_UNKNOWN;
	build.lane[1].pid = READER;
	build_switch(&build, 1, FIRST + 10000, 1, READER, 0);
	one(&build, 0, FIRST + 30000, FKT_CODE_WAKEUP, 0, READER | 120ull << 32);
	build_switch(&build, 1, FIRST + 40000, 0, 0, READER);
	end_trace(&build, path, FIRST + ROUND_NS);
}

/* At their own stamps, or told of later, as programs do. */
static void put_programs(struct build *build, uint64_t base, unsigned int round, bool late)
{
	const struct {
		uint32_t at;
		uint32_t code;
		uint64_t value;
	} events[] = {
		{ 10000, ORDER, 0 },	 { 15000, CLIENTS, round }, { 20000, LOOK, 0 },
		{ 30000, LOOK + 1, 0 },	 { 50000, CLIENTS, 3 },	    { 55000, OTHER, 1000000 },
		{ 60000, ORDER + 1, 0 },
	};

	for (unsigned int i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		const uint64_t at = base + events[i].at, code = events[i].code;
		const uint64_t words[] = { at, code | (uint64_t)SHOP << 32, events[i].value };
		const unsigned int args = code == CLIENTS || code == OTHER;

		if (late)
			build_slot(build, 0, 0, base + 80000 + i, FKT_CODE_TOLD, 0, words,
				   2 + args);
		else
			build_slot(build, 0, 0, at, (uint32_t)code, 0, words + 2, args);
	}
}

static void sample(struct build *build, uint64_t stamp, uint16_t user, uint64_t ip)
{
	const uint64_t words[] = { SHOP, ip };

	build_slot(build, 0, 0, stamp, FKT_CODE_SAMPLE, user, words, 2);
}

/*
 * CPU 0	"shop" is in order from 10 us on to 60 us, and therein in look from 20 us to 30 us;
 *		it has as many clients as there were rounds at 15 us, and 3 at 50 us; samples at
 *		5 us, in inner(), and at 70 us, in user mode
 * CPU 1	"cart" has the opposite of the number of rounds as clients at 35 us
 */
static void build_application(struct build *build, unsigned int round, bool late)
{
	const uint64_t base = FIRST + round * (uint64_t)ROUND_NS;
	const uint64_t text[2] = { 0x6465726564726f, 0 }, waited[2] = { SHOP, 5 };

	sample(build, base + 5000, 0, 0xffffffff81000108);
	if (!late)
		put_programs(build, base, round, false);
	sample(build, base + 70000, 1, 0x5500);
	if (round == MARKED)
		build_slot(build, 0, 0, base + 75000, FKT_CODE_MARK, 0, text, 2);
	if (round == TRIGGERED)
		build_slot(build, 0, 0, base + 76000, FKT_CODE_TRIGGER, 1, waited, 2);
	if (late)
		put_programs(build, base, round, true);
	one(build, 1, base + 35000, CLIENTS, 0, -(uint64_t)round);
}

static void write_application(const char *path, unsigned int rounds, bool late)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000\0profile_hz=20000\0"
				   "layers=process,profile,application\0trigger_1=long wait";
	const uint64_t end = FIRST + rounds * (uint64_t)ROUND_NS;
	struct build build;
	char tail[100];
	int bytes;

	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, REAL_NS);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "70 70 1 <i>shop\n80 80 1 cart\n");
	build_text(&build, FKT_SECTION_SYMBOLS,
		   "ffffffff81000000 T outer\nffffffff81000100 T inner\n");
	build_text(&build, FKT_SECTION_CODES,
		   "0x6f800 1 entry 0x6f801 application app:order #words\n"
		   "0x6f801 1 exit 0x6f800 application app:order #words\n"
		   "0x6f802 1 entry 0x6f803 application app:look #words\n"
		   "0x6f803 1 exit 0x6f802 application app:look #words\n"
		   "0x6f804 1 point 0 application app:clients #words value:s64\n"
		   "0x6f806 1 point 0 application app:other #words size:s64\n");
	build_pages(&build);
	build.lane[0].pid = SHOP;
	build.lane[1].pid = CART;
	for (unsigned int round = 0; round < rounds; round++)
		build_application(&build, round, late);
	build_tail(&build);
	bytes = snprintf(tail, sizeof(tail),
			 "application_events=%u%cstart_cycles=%d%cstop_cycles=%lu",
			 late ? rounds * 7 : 0, 0, FIRST, 0, (unsigned long)end);
	build_section(&build, FKT_SECTION_INFO, tail, (size_t)bytes + 1, false);
	build_end(&build, end, end, REAL_NS + end);
	build_write(&build, path, build.bytes);
	build_free(&build);
}

/* ---- what was told ---- */

struct told {
	struct cell cell[CELLS_MAX];
	unsigned int cells;
	struct loss loss;
	unsigned int losses;
	struct mark mark;
	unsigned int marks;
	unsigned int wakes;
	uint64_t woken_at;
};

static int on_cell(void *arg, const struct cell *cell)
{
	struct told *told = arg;

	assert_true(told->cells < CELLS_MAX);
	told->cell[told->cells++] = *cell;
	return 0;
}

static int on_loss(void *arg, const struct loss *loss)
{
	struct told *told = arg;

	told->loss = *loss;
	told->losses++;
	return 0;
}

static int on_wake(void *arg, const struct fkt_event *event, uint32_t woken)
{
	struct told *told = arg;

	assert_int_equal(event->pid, WRITER);
	assert_int_equal(woken, READER);
	told->woken_at = event->stamp;
	told->wakes++;
	return 0;
}

static int on_mark(void *arg, const struct mark *mark)
{
	struct told *told = arg;

	told->mark = *mark;
	told->marks++;
	return 0;
}

/* Cells of bins that begin with a round: all events, or those from a stamp on, are read. */
static void collect(struct told *told, uint64_t begin, uint64_t from, uint64_t to, uint64_t bin)
{
	const struct collect_to where = {
		.arg = told, .cell = on_cell, .loss = on_loss, .wake = on_wake, .mark = on_mark
	};
	struct fkt_reader *reader = fkt_reader_new_window(trace, begin, to);
	struct collector *collector = collector_new(trace, names, from, bin, &where);
	struct fkt_event event;
	int what;

	*told = (struct told){ 0 };
	assert_non_null(reader);
	assert_non_null(collector);
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			assert_int_equal(collector_gap(collector, &event, fkt_gap(reader)), 0);
		else if (what == FKT_EVENT)
			assert_int_equal(collector_event(collector, &event), 0);
	}
	assert_int_equal(what, FKT_END);
	assert_int_equal(collector_end(collector, to), 0);
	collector_free(collector);
	fkt_reader_free(reader);
}

static const struct cell *find(const struct told *told, uint32_t track, uint32_t bin)
{
	const struct cell *found = NULL;

	for (unsigned int i = 0; i < told->cells; i++) {
		if (told->cell[i].track != track || told->cell[i].bin != bin)
			continue;
		assert_null(found);
		found = &told->cell[i];
	}
	assert_non_null(found);
	return found;
}

static void expect_name(uint32_t number, const char *expected)
{
	char name[FKT_NAME_BYTES];

	names_get(names, number, name);
	assert_string_equal(name, expected);
}

static void expect_shares(const struct cell *cell, unsigned int first, unsigned int second,
			  unsigned int third)
{
	/* Percents, to parts of 255 that are cut off. */
	assert_int_equal(cell->share[0], first * SHARE_ALL / 100);
	assert_int_equal(cell->share[1], second * SHARE_ALL / 100);
	assert_int_equal(cell->share[2], third * SHARE_ALL / 100);
	assert_int_equal(cell->share[3], 0);
}

/* ---- the tests ---- */

static void test_rounds(void **state)
{
	static struct told told;

	(void)state;
	collect(&told, 0, FIRST, FIRST + ROUNDS * (uint64_t)ROUND_NS, ROUND_NS);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct cell *cell = find(&told, READER, round);

		assert_int_equal(cell->state, STATE_RUNNING);
		if (round == SLOW) {
			expect_shares(cell, 26, 4, 0);
			expect_name(cell->top, "sys_read");
		} else {
			expect_shares(cell, 70, 10, 0);
			expect_name(cell->top, "");
		}
		cell = find(&told, WRITER, round);
		expect_shares(cell, 100, 0, 0);
		expect_name(cell->top, round == SLOW ? "sys_write" : "");
		cell = find(&told, TRACK_CPU | 1, round);
		expect_shares(cell, round == SLOW ? 26 : 70, 2, 0);
		expect_name(cell->inner, "irq 14 ide0");
		assert_int_equal(cell->top, READER);
		/* Six of them: 1 and 8 times log2(4), and half of the way to 8. */
		assert_int_equal(cell->events, 1 + 16 + 4);
		cell = find(&told, TRACK_CPU | 0, round);
		assert_int_equal(cell->top, WRITER);
		expect_shares(cell, 100, 0, 0);
	}
	assert_int_equal(told.wakes, ROUNDS);
	assert_int_equal(told.woken_at, FIRST + 19 * ROUND_NS + 30000);
	assert_int_equal(told.marks, 1);
	assert_string_equal(told.mark.text, "wich her");
	assert_int_equal(told.mark.stamp, FIRST + MARKED * ROUND_NS + 25000);
}

/* Losses are told of, with when they were: after the last event before, up to the next. */
static void test_loss(void **state)
{
	static struct told told;

	(void)state;
	collect(&told, 0, FIRST, FIRST + ROUNDS * (uint64_t)ROUND_NS, ROUND_NS);
	assert_int_equal(told.losses, 1);
	assert_int_equal(told.loss.cpu, 0);
	assert_int_equal(told.loss.count, LOST_MANY);
	assert_false(told.loss.pages);
	assert_int_equal(told.loss.from, FIRST + 12 * ROUND_NS + 32000);
	assert_int_equal(told.loss.to, FIRST + 13 * ROUND_NS + 20000);
}

/* Small bins: those where nothing changes have no cell, and follow from the one before. */
static void test_bins(void **state)
{
	static struct told told;
	const struct cell *cell;

	(void)state;
	collect(&told, 0, FIRST, FIRST + ROUND_NS, 1000);
	cell = find(&told, READER, CELL_BEFORE);
	assert_int_equal(cell->state, STATE_RUNNING);
	/* It sleeps from 10 us on: the bin begins with that. */
	cell = find(&told, READER, 10);
	assert_int_equal(cell->state, STATE_SLEEPING);
	expect_shares(cell, 0, 0, 0);
	expect_name(cell->last, "sys_read");
	cell = find(&told, READER, 30);
	assert_int_equal(cell->state, STATE_READY);
	expect_shares(cell, 0, 100, 0);
	cell = find(&told, READER, 40);
	assert_int_equal(cell->state, STATE_RUNNING);
	expect_shares(cell, 100, 0, 0);
	cell = find(&told, READER, 45);
	expect_name(cell->last, "");
	for (unsigned int i = 0; i < told.cells; i++)
		if (told.cell[i].track == READER && told.cell[i].bin != CELL_BEFORE)
			assert_true(told.cell[i].bin == 0 || told.cell[i].bin == 10 ||
				    told.cell[i].bin == 30 || told.cell[i].bin == 40 ||
				    told.cell[i].bin == 45);
	/* The interrupt, and nothing of it behind it. */
	cell = find(&told, TRACK_CPU | 1, 15);
	expect_name(cell->last_inner, "irq 14 ide0");
	assert_int_equal(cell->share[SHARE_IRQ], SHARE_ALL);
	cell = find(&told, TRACK_CPU | 1, 17);
	expect_name(cell->last_inner, "");
	assert_int_equal(cell->state, STATE_IDLE);
}

/* A window that begins later has the same cells, as the events before it have been read. */
static void test_window(void **state)
{
	static struct told all, part;
	const uint64_t from = FIRST + 5 * ROUND_NS, to = FIRST + 10 * ROUND_NS;
	unsigned int compared = 0;

	(void)state;
	collect(&all, 0, FIRST, FIRST + ROUNDS * (uint64_t)ROUND_NS, ROUND_NS);
	collect(&part, FIRST + 4 * ROUND_NS, from, to, ROUND_NS);
	for (unsigned int i = 0; i < part.cells; i++) {
		struct cell cell = part.cell[i];
		const struct cell *same;

		if (cell.bin == CELL_BEFORE)
			continue;
		same = find(&all, cell.track, cell.bin + 5);
		cell.bin += 5;
		assert_memory_equal(&cell, same, sizeof(cell));
		compared++;
	}
	assert_int_equal(compared, 5 * 4);
}

/* A thread of which the first event says that it was woken was asleep until then. */
static void test_before(void **state)
{
	static struct told told;

	(void)state;
	collect(&told, FIRST + 20000, FIRST + 20000, FIRST + ROUND_NS, 1000);
	assert_int_equal(find(&told, READER, CELL_BEFORE)->state, STATE_SLEEPING);
	assert_int_equal(find(&told, TRACK_CPU | 1, CELL_BEFORE)->state, STATE_IDLE);
	assert_int_equal(find(&told, WRITER, CELL_BEFORE)->state, STATE_RUNNING);
}

static void test_names(void **state)
{
	char name[FKT_NAME_BYTES];
	uint32_t number[1000];

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		number[i] = names_add(names, name);
		assert_int_not_equal(number[i], 0);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(names_add(names, name), number[i]);
		expect_name(number[i], name);
	}
	expect_name(0, "");
	expect_name(names_count(names) + 1, "");
}

/*
 * On PREEMPT_RT a thread runs softirqs, with which another one preempts it: they are the CPU's on
 * which it is, with interrupts in them as everywhere.
 *
 * CPU 0: 10 us writer: softirq( 20 irq( 25 irq) 30 reader 40 irq( 45 irq) 90 end
 * CPU 1: 0 idle; 50 writer 60 softirq) 80 end
 */
static void test_threads_softirqs(void **state)
{
	static const char info[] = "machine=x86_64\0cpus=2\0tsc_khz=1000000\0"
				   "version=#1 SMP PREEMPT_RT Debian";
	static const struct {
		uint32_t cpu, us;
		const char *inner;
	} expected[] = {
		{ 0, 10, "softirq NET_RX" }, { 0, 20, "irq 14" },
		{ 0, 25, "softirq NET_RX" }, { 0, 30, "" },
		{ 0, 40, "irq 14" },	     { 0, 45, "" },
		{ 1, 50, "softirq NET_RX" }, { 1, 60, "" },
	};
	char path[] = "/tmp/test_collect.XXXXXX", error[FKT_ERROR_BYTES];
	struct fkt_trace *whole = trace;
	static struct told told;
	const struct cell *cell;
	struct build build;

	(void)state;
	build_begin(&build, 2, false);
	build_clock(&build, 0, 0, REAL_NS);
	build_section(&build, FKT_SECTION_INFO, info, sizeof(info), false);
	build_text(&build, FKT_SECTION_PROCESSES, "50 50 1 writer\n60 60 1 reader\n");
	build_pages(&build);
	build.lane[0].pid = WRITER;
	build.lane[1].pid = 0;
	build_event(&build, 0, FIRST, FKT_CODE_SOFTIRQ_RAISE, 3);
	build_event(&build, 1, FIRST, FKT_CODE_SOFTIRQ_RAISE, 3);
	build_event(&build, 0, FIRST + 10000, FKT_CODE_SOFTIRQ_ENTRY, 3);
	build_event(&build, 0, FIRST + 20000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, FIRST + 25000, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 0, FIRST + 30000, 0, WRITER, READER);
	build_event(&build, 0, FIRST + 40000, FKT_CODE_IRQ_ENTRY, 14);
	build_event(&build, 0, FIRST + 45000, FKT_CODE_IRQ_EXIT, 14);
	build_switch(&build, 1, FIRST + 50000, 0, 0, WRITER);
	build_event(&build, 1, FIRST + 60000, FKT_CODE_SOFTIRQ_EXIT, 3);
	build_event(&build, 1, FIRST + 80000, FKT_CODE_SOFTIRQ_RAISE, 3);
	build_event(&build, 0, FIRST + 90000, FKT_CODE_SOFTIRQ_RAISE, 3);
	close(mkstemp(path));
	end_trace(&build, path, FIRST + ROUND_NS);
	trace = fkt_open(path, NULL, NULL, error);
	unlink(path);
	assert_non_null(trace);
	collect(&told, 0, FIRST, FIRST + ROUND_NS, 1000);
	for (unsigned int i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		cell = find(&told, TRACK_CPU | expected[i].cpu, expected[i].us);
		expect_name(cell->last_inner, expected[i].inner);
		assert_int_equal(cell->share[SHARE_SOFTIRQ],
				 *expected[i].inner == 's' ? SHARE_ALL : 0);
	}
	expect_name(find(&told, WRITER, 10)->last, "softirq NET_RX");
	fkt_close(trace);
	trace = whole;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_threads_softirqs),
	};
	char path[] = "/tmp/test_collect.XXXXXX", error[FKT_ERROR_BYTES];
	int failed;

	if (argc == 2 && !strncmp(argv[1], "--trace=", 8)) {
		write_trace(argv[1] + 8, true, false);
		return 0;
	}
	if (argc == 2 && !strncmp(argv[1], "--whole=", 8)) {
		write_trace(argv[1] + 8, false, false);
		return 0;
	}
	if (argc == 2 && !strncmp(argv[1], "--application=", 14)) {
		write_application(argv[1] + 14, ROUNDS, true);
		return 0;
	}
	if (argc == 2 && !strncmp(argv[1], "--long=", 7)) {
		write_application(argv[1] + 7, LONG, false);
		return 0;
	}
	if (argc == 2 && !strncmp(argv[1], "--fast=", 7)) {
		write_trace(argv[1] + 7, false, true);
		return 0;
	}
	if (argc == 2 && !strncmp(argv[1], "--losses=", 9)) {
		write_losses(argv[1] + 9);
		return 0;
	}
	if (argc == 2 && !strncmp(argv[1], "--unknown=", 10)) {
		write_unknown(argv[1] + 10);
		return 0;
	}
	close(mkstemp(path));
	write_trace(path, true, false);
	trace = fkt_open(path, NULL, NULL, error);
	unlink(path);
	names = trace ? names_new() : NULL;
	if (!names)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	names_free(names);
	fkt_close(trace);
	return failed;
}

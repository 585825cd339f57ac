// SPDX-License-Identifier: GPL-2.0-only
/* Parts of a trace: cut anywhere, they are together what the whole is. */
#include "test.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "read/extract.h"
#include "read/state.h"
#include "read_trace.h"

#define FUNCTION 0x10000u

/**
 * struct list - what readers delivered, a line for each event and gap
 */
struct list {
	char *text;
	size_t bytes;
	FILE *file;
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Lanes at different speeds, with switches, losses and now and then a page that is not there. */
static void build_random(struct build *build, unsigned int lanes, bool shared, unsigned int events,
			 uint32_t seed, bool holes)
{
	uint64_t stamp = 1000000, words[15] = { 0 };
	uint32_t current[BUILD_LANES_MAX] = { 0 };
	uint16_t count = 0;

	build_begin(build, lanes, shared);
	build_pages(build);
	for (unsigned int i = 0; i < events; i++) {
		unsigned int lane = next_random(&seed) % lanes;
		uint16_t cpu = (uint16_t)(shared ? next_random(&seed) % 4 : lane);

		if (!lane && next_random(&seed) % 64)
			lane = lanes - 1;
		cpu = shared ? cpu : (uint16_t)lane;
		stamp += next_random(&seed) % 3;
		words[0] = next_random(&seed) % 8 | (uint64_t)(next_random(&seed) % 8) << 32;
		build->lane[lane].pid = current[cpu];
		if (next_random(&seed) % 20 == 0) {
			build_slot(build, lane, cpu, stamp, FKT_CODE_SWITCH, 0, words, 1);
			current[cpu] = (uint32_t)(words[0] >> 32);
		} else {
			build_slot(build, lane, cpu, stamp, 0x27, count++, words,
				   next_random(&seed) % 15);
		}
		if (next_random(&seed) % 500 == 0)
			build->lane[lane].lost += 3;
		if (next_random(&seed) % 1000 == 0) {
			build_close(build, lane);
			build->lane[lane].seq += holes;
			build_mark(build);
		}
	}
	for (unsigned int i = 0; i < lanes; i++) {
		build_close(build, i);
		build->lane[i].lost += 7;
	}
	build_end(build, stamp, 0, 0);
}

static struct fkt_trace *open_fd(int fd)
{
	char path[64], error[FKT_ERROR_BYTES];
	struct fkt_trace *trace;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, NULL, NULL, error);
	assert_non_null(trace);
	close(fd);
	return trace;
}

static struct fkt_trace *open_build(const struct build *build)
{
	int fd = memfd_create("trace", 0);

	assert_int_equal(write(fd, build->data, build->bytes), build->bytes);
	return open_fd(fd);
}

static void list_window(struct list *list, struct fkt_trace *trace, uint64_t from, uint64_t to)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, from, to);
	struct fkt_event event;
	int what;

	assert_non_null(reader);
	if (!list->file)
		list->file = open_memstream(&list->text, &list->bytes);
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_EVENT) {
			assert_true(event.stamp >= from);
			assert_true(event.stamp < to);
			fprintf(list->file, "%lu %u %u %u %d %u\n", event.stamp, event.lane,
				event.cpu, event.code, (int)event.pid, event.imm);
		} else {
			fprintf(list->file, "gap %d %u %lu\n", fkt_gap(reader)->kind,
				fkt_gap(reader)->lane, fkt_gap(reader)->count);
		}
	}
	assert_int_equal(what, FKT_END);
	fkt_reader_free(reader);
}

static char *end_list(struct list *list)
{
	fclose(list->file);
	return list->text;
}

/* Shows the first line that differs, of megabytes. */
static void assert_same(const char *whole, const char *parts)
{
	size_t line = 0, i;

	for (i = 0; whole[i] && whole[i] == parts[i]; i++)
		if (whole[i] == '\n')
			line = i + 1;
	if (whole[i] != parts[i])
		fail_msg("%.60s instead of %.60s", parts + line, whole + line);
}

static void check_cuts(const struct build *build, uint32_t seed, unsigned int cuts)
{
	struct list whole = { 0 }, parts = { 0 };
	struct fkt_trace *trace = open_build(build);
	uint64_t first, last, at, next;

	list_window(&whole, trace, 0, UINT64_MAX);
	assert_true(fkt_span(trace, &first, &last));
	for (at = 0; cuts--; at = next) {
		next = (at ? at : first) + next_random(&seed) % ((last - first) / 4);
		list_window(&parts, trace, at, next);
	}
	list_window(&parts, trace, at, UINT64_MAX);
	assert_same(end_list(&whole), end_list(&parts));
	free(whole.text);
	free(parts.text);
	fkt_close(trace);
}

static void test_cuts(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 24; seed++) {
		build_random(&build, 1 + seed % 5, false, 60000, seed, seed % 2);
		check_cuts(&build, seed, 6);
		build_free(&build);
	}
}

/* Who runs on the other CPUs is looked for before the window. */
static void test_shared(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 4; seed++) {
		build_random(&build, 1, true, 150000, seed, false);
		check_cuts(&build, seed, 4);
		build_free(&build);
	}
}

/* The index pages' places in the built trace. */
static struct fkt_index *index_of(struct build *build, unsigned int block)
{
	uint64_t page = block * (FKT_INDEX_ENTRIES + 1) + FKT_INDEX_ENTRIES;
	uint8_t *data = build->data + build->data_offset + page * FKT_PAGE_BYTES;

	return (void *)(data + sizeof(struct fkt_page_header));
}

/* Indexes that are not there, or lie: slower, but the same. */
static void test_bad_indexes(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 16; seed++) {
		build_random(&build, 3, false, 100000, seed, false);
		assert_true(build.pages > 5 * (FKT_INDEX_ENTRIES + 1));
		switch (seed % 4) {
		case 0:
			memset((char *)index_of(&build, 2) - sizeof(struct fkt_page_header), 0,
			       FKT_PAGE_BYTES);
			break;
		case 1:
			index_of(&build, 2)->max_end = 0;
			break;
		case 2:
			index_of(&build, 1)->max_end = htole64(UINT64_MAX);
			break;
		case 3:
			index_of(&build, 3)->events_before = htole64(UINT64_MAX);
			break;
		}
		check_cuts(&build, seed, 5);
		build_free(&build);
	}
}

/* Long before the window there is a hole: it is none of the window's business. */
static void test_outside(void **state)
{
	struct fkt_trace *trace;
	struct list list = { 0 };
	struct build build;
	uint64_t first, last;

	(void)state;
	build_random(&build, 2, false, 30000, 5, true);
	trace = open_build(&build);
	assert_true(fkt_span(trace, &first, &last));
	list_window(&list, trace, 0, first);
	list_window(&list, trace, last / 2, last / 2);
	list_window(&list, trace, last, first);
	assert_string_equal(end_list(&list), "");
	free(list.text);
	fkt_close(trace);
	build_free(&build);
}

/* The part that was asked for, read back. */
static struct fkt_trace *extract_trace(struct fkt_trace *trace, struct fkt_extract *extract)
{
	int fd = memfd_create("part", 0);

	assert_int_equal(fkt_extract(trace, extract, fd), 0);
	return open_fd(fd);
}

/* An extracted stretch has the same events, threads and gaps as the window, and no others. */
static void check_extract(const struct build *build, uint32_t seed)
{
	struct list window = { 0 }, whole = { 0 };
	struct fkt_trace *trace = open_build(build), *part;
	struct fkt_extract extract = { 0 };
	uint64_t first, last;

	assert_true(fkt_span(trace, &first, &last));
	extract.from = seed % 5 ? first + next_random(&seed) % ((last - first) / 2) : 0;
	extract.to = seed % 3 ? (extract.from ?: first) + 10000 +
					next_random(&seed) % ((last - first) / 4)
			      : UINT64_MAX;
	part = extract_trace(trace, &extract);
	assert_true(fkt_is_complete(part));
	list_window(&window, trace, extract.from, extract.to);
	list_window(&whole, part, 0, UINT64_MAX);
	assert_same(end_list(&window), end_list(&whole));
	free(window.text);
	free(whole.text);
	fkt_close(part);
	fkt_close(trace);
}

static void test_extract(void **state)
{
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 60; seed++) {
		build_random(&build, 1 + seed % 5, false, 60000, seed, seed % 2);
		check_extract(&build, seed);
		build_free(&build);
	}
	for (uint32_t seed = 0; seed < 6; seed++) {
		build_random(&build, 1, true, 100000, seed, false);
		check_extract(&build, seed);
		build_free(&build);
	}
}

/* What a reader of one CPU's events gets, and of all that are not others'; and what is lost. */
static void list_picked(struct list *list, struct fkt_trace *trace,
			const struct fkt_extract *extract)
{
	struct fkt_reader *reader = fkt_reader_new_window(trace, extract->from, extract->to);
	struct fkt_event event;
	int what;

	list->file = open_memstream(&list->text, &list->bytes);
	while ((what = fkt_next(reader, &event)) > 0)
		if (what == FKT_GAP)
			fprintf(list->file, "%lu %u: %lu lost\n", event.stamp, event.lane,
				fkt_gap(reader)->count);
		else if ((!extract->cpus || extract->cpus[0] & 1u << event.cpu) &&
			 (!extract->processes || event.pid == extract->process->pid ||
			  event.code == FKT_CODE_SWITCH))
			fprintf(list->file, "%lu %u %u %u %d %u\n", event.stamp, event.lane,
				event.cpu, event.code, (int)event.pid, event.imm);
	fkt_reader_free(reader);
}

static void test_picked(void **state)
{
	static const uint8_t cpus[UINT16_MAX / 8 + 1] = { 1u << 1 };
	struct list window, whole;
	struct fkt_extract_process wanted = { .pid = 5 };
	struct fkt_extract extract = { 0 };
	struct fkt_trace *trace, *part;
	struct build build;

	(void)state;
	for (uint32_t seed = 0; seed < 16; seed++) {
		bool shared = seed % 4 == 3;

		build_random(&build, shared ? 1 : 3, shared, 60000, seed, false);
		trace = open_build(&build);
		memset(&extract, 0, sizeof(extract));
		extract.from = seed % 3 ? 1020000 : 0;
		extract.to = 1050000;
		extract.cpus = seed % 2 ? cpus : NULL;
		extract.process = &wanted;
		extract.processes = !(seed % 2);
		part = extract_trace(trace, &extract);
		list_picked(&window, trace, &extract);
		/* Of others there is what is needed to know who was at what. */
		extract.from = 0;
		list_picked(&whole, part, &extract);
		assert_same(end_list(&window), end_list(&whole));
		free(window.text);
		free(whole.text);
		fkt_close(part);
		fkt_close(trace);
		build_free(&build);
	}
}

/* Calls that are open when the part begins, and names that threads have by then. */
static void test_state(void **state)
{
	const struct fkt_open_call *call;
	struct fkt_extract extract = { .from = 500, .to = UINT64_MAX };
	struct fkt_processes *processes;
	struct fkt_trace *trace, *part;
	struct build build;
	bool in_irq = false;
	uint32_t id;

	(void)state;
	build_begin(&build, 2, false);
	build_text(&build, FKT_SECTION_PROCESSES, "7 7 1 seven\n8 8 1 eight\n");
	build_text(&build, FKT_SECTION_CODES,
		   "65536 1 entry 65537 functions F\n65537 1 exit 65536 functions F\n");
	build_pages(&build);
	build_switch(&build, 0, 100, 0, 0, 7);
	build_event(&build, 0, 110, FKT_CODE_SYSCALL_ENTRY + 1, 0);
	build_event(&build, 0, 120, FKT_CODE_SYSCALL_EXIT + 1, 0);
	build_event(&build, 0, 130, FKT_CODE_SYSCALL_ENTRY + 57, 0);
	build_fork(&build, 0, 140, 9, 7);
	build_name(&build, 0, 150, FKT_CODE_RENAME, 9, "nine");
	build_event(&build, 0, 160, FKT_CODE_IRQ_ENTRY, 4);
	build_event(&build, 0, 165, FUNCTION, 0);
	build_switch(&build, 1, 170, 0, 0, 8);
	build_event(&build, 1, 180, FKT_CODE_SYSCALL_ENTRY + 2, 0);
	build_close(&build, 1);
	build_event(&build, 0, 600, FKT_CODE_IRQ_EXIT, 4);
	build_event(&build, 0, 610, FKT_CODE_SYSCALL_EXIT + 57, 0);
	build_event(&build, 1, 620, FKT_CODE_SYSCALL_EXIT + 2, 0);
	build_end(&build, 1000, 0, 0);

	trace = open_build(&build);
	assert_null(fkt_open_call(trace, 0));
	part = extract_trace(trace, &extract);
	assert_int_equal(extract.events, 3);
	for (size_t i = 0, seen = 0; seen < 4 || fkt_open_call(part, i); i++, seen++) {
		call = fkt_open_call(part, i);
		assert_non_null(call);
		if (call->interrupt) {
			assert_int_equal(call->cpu, 0);
			assert_true(call->numbered);
			/* What is called in it comes after it. */
			assert_int_equal(call->code, in_irq ? FUNCTION : FKT_CODE_IRQ_ENTRY);
			assert_int_equal(call->imm, in_irq ? 0 : 4);
			assert_int_equal(call->stamp, in_irq ? 165 : 160);
			in_irq = true;
		} else if (call->tid == 7) {
			assert_int_equal(call->code, FKT_CODE_SYSCALL_ENTRY + 57);
			assert_int_equal(call->stamp, 130);
		} else {
			assert_int_equal(call->tid, 8);
			assert_int_equal(call->code, FKT_CODE_SYSCALL_ENTRY + 2);
			assert_int_equal(call->stamp, 180);
		}
	}
	processes = fkt_processes_new(part);
	id = fkt_process_id(processes, 9, 0);
	assert_string_equal(fkt_process(processes, id)->comm, "nine");
	fkt_processes_free(processes);

	/* And a part of the part. */
	extract.from = 610;
	fkt_close(trace);
	trace = extract_trace(part, &extract);
	assert_int_equal(extract.events, 2);
	call = fkt_open_call(trace, 0);
	assert_non_null(call);
	assert_false(call->interrupt);
	assert_non_null(fkt_open_call(trace, 1));
	assert_null(fkt_open_call(trace, 2));
	fkt_close(trace);
	fkt_close(part);
	build_free(&build);
}

/* What happens on CPU 0 with a thread there, at the time that the code is. */
static void happens(struct fkt_state *now, uint32_t pid, uint32_t code, uint16_t imm)
{
	const struct fkt_event event = { .stamp = code, .code = code, .pid = pid, .imm = imm };

	assert_int_equal(fkt_state_event(now, &event), 0);
}

static void expect_at_work(struct fkt_state *now, uint32_t pid, uint32_t code, uint16_t imm)
{
	const struct fkt_event event = { .pid = pid };
	const struct fkt_state_call *call = fkt_state_at_work(now, &event);

	assert_non_null(call);
	assert_int_equal(call->code, code);
	assert_int_equal(call->imm, imm);
}

/*
 * In what somebody is woken: a softirq that a thread, the idle task too, runs on PREEMPT_RT, or
 * that is in an interrupt; else the outermost call.
 */
static void test_at_work(void **state)
{
	const struct fkt_event idle = { 0 };
	struct fkt_state *now;
	struct fkt_trace *trace;
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_INFO, "version=#1 SMP PREEMPT_RT Debian");
	build_text(&build, FKT_SECTION_CODES,
		   "65536 2 entry 65538 functions F\n65538 2 exit 65536 functions F\n");
	build_pages(&build);
	build_end(&build, 1000, 0, 0);
	trace = open_build(&build);
	now = fkt_state_new(trace);
	happens(now, 0, FKT_CODE_SOFTIRQ_RAISE, 3);
	assert_null(fkt_state_at_work(now, &idle));
	happens(now, 0, FUNCTION, 0);
	happens(now, 0, FUNCTION + 1, 0);
	expect_at_work(now, 0, FUNCTION, 0);
	happens(now, 0, FKT_CODE_SOFTIRQ_ENTRY, 3);
	happens(now, 0, FUNCTION + 1, 0);
	expect_at_work(now, 0, FKT_CODE_SOFTIRQ_ENTRY, 3);
	happens(now, 0, FKT_CODE_IRQ_ENTRY, 14);
	expect_at_work(now, 0, FKT_CODE_IRQ_ENTRY, 14);
	happens(now, 0, FKT_CODE_SOFTIRQ_ENTRY, 4);
	happens(now, 0, FUNCTION, 0);
	expect_at_work(now, 0, FKT_CODE_SOFTIRQ_ENTRY, 4);
	happens(now, 0, FKT_CODE_IRQ_EXIT, 14);
	happens(now, 0, FKT_CODE_SOFTIRQ_EXIT, 3);
	happens(now, 0, FUNCTION + 3, 0);
	expect_at_work(now, 0, FUNCTION, 0);
	/* It is another one's. */
	happens(now, 7, FKT_CODE_SYSCALL_ENTRY, 0);
	happens(now, 7, FKT_CODE_SOFTIRQ_ENTRY, 3);
	happens(now, 7, FKT_CODE_SOFTIRQ_ENTRY, 4);
	expect_at_work(now, 7, FKT_CODE_SOFTIRQ_ENTRY, 4);
	/* The inner one has not told of its end. */
	happens(now, 7, FKT_CODE_SOFTIRQ_EXIT, 3);
	expect_at_work(now, 7, FKT_CODE_SYSCALL_ENTRY, 0);
	fkt_state_free(now);
	fkt_close(trace);
	build_free(&build);
}

/*
 * Versions before this one had a softirq that is open when a part of a trace of PREEMPT_RT begins
 * for an interrupt. Whose it was is not known, and who is there makes no calls in it.
 */
static void test_softirq_as_interrupt(void **state)
{
	struct fkt_state *now;
	struct fkt_trace *trace;
	struct build build;
	char *text;
	size_t bytes;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_INFO, "version=#1 SMP PREEMPT_RT Debian");
	build_text(&build, FKT_SECTION_CODES,
		   "65536 1 entry 65537 functions F\n65537 1 exit 65536 functions F\n");
	build_text(&build, FKT_SECTION_STATE,
		   "cpu 0 7 seen\ninterrupt 0 4098 400 3\ninterrupt 0 65536 500 0\n");
	build_pages(&build);
	build_end(&build, 1000, 0, 0);
	trace = open_build(&build);
	now = fkt_state_new(trace);
	happens(now, 7, FUNCTION, 0);
	text = fkt_state_text(now, false, NULL, NULL, &bytes);
	assert_non_null(text);
	assert_null(strstr(text, "interrupt "));
	assert_non_null(strstr(text, "call 7 65536 65536\n"));
	free(text);
	fkt_state_free(now);
	fkt_close(trace);
	build_free(&build);
}

/* Threads become known by the event that makes another one their successor. */
static void test_many_threads(void **state)
{
	static const unsigned int counts[] = { 767, 1022, 1023, 1024, 1535, 2047, 2048, 3071 };
	struct fkt_extract extract = { .from = 500, .to = UINT64_MAX };
	const uint64_t exec[3] = { 1000 | 99999ull << 32 };
	struct fkt_trace *trace, *part;
	struct build build;
	char *text;
	size_t bytes;
	FILE *file;

	(void)state;
	mallopt(M_PERTURB, 0xa5);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		file = open_memstream(&text, &bytes);
		for (unsigned int tid = 1000; tid < 1000 + counts[i]; tid++)
			fprintf(file, "%u %u 1 old\n", tid, tid);
		fclose(file);
		build_begin(&build, 1, false);
		build_text(&build, FKT_SECTION_PROCESSES, text);
		build_pages(&build);
		build_switch(&build, 0, 100, 0, 0, 1000);
		build_event(&build, 0, 110, FKT_CODE_SYSCALL_ENTRY + 59, 0);
		build_switch(&build, 0, 115, 0, 1000, 1001);
		build_close(&build, 0);
		build.lane[0].pid = 1000;
		build_slot(&build, 0, 0, 120, FKT_CODE_EXEC, 0, exec, 3);
		build_fork(&build, 0, 130, 99998, 1000);
		build_event(&build, 0, 600, FKT_CODE_SYSCALL_EXIT + 59, 0);
		build_end(&build, 1000, 0, 0);
		trace = open_build(&build);
		part = extract_trace(trace, &extract);
		assert_null(fkt_open_call(part, 0));
		fkt_close(part);
		fkt_close(trace);
		build_free(&build);
		free(text);
	}
	mallopt(M_PERTURB, 0);
}

/* Pids made so that a known hash, tid * 2654435761 ^ tid >> 15, has the same low 18 bits. */
static char *equal_pids(unsigned int targets)
{
	FILE *file;
	char *text;
	size_t bytes;

	file = open_memstream(&text, &bytes);
	for (uint32_t target = 0; target < targets; target++)
		for (uint32_t low = 0; low < 1u << 18; low++) {
			uint32_t high = (low * 2654435761u ^ target) & ((1u << 18) - 1);

			if (high < 1u << 17 && (high & 7) == low >> 15)
				fprintf(file, "%u 1 1 same\n", high << 15 | (low & 0x7fff));
		}
	fclose(file);
	return text;
}

/* A slot with all the words that it can have, far behind the last one that is picked. */
static void test_full_slot(void **state)
{
	struct fkt_extract_process wanted = { .pid = 7 };
	struct fkt_extract extract = { .to = UINT64_MAX, .process = &wanted, .processes = 1 };
	struct list list = { 0 };
	struct fkt_trace *trace, *part;
	const uint64_t words[15] = { 7 };
	struct build build;

	(void)state;
	build_begin(&build, 1, false);
	build_text(&build, FKT_SECTION_PROCESSES, "7 7 1 seven\n8 8 1 eight\n");
	build_pages(&build);
	build_switch(&build, 0, 100, 0, 0, 8);
	for (unsigned int i = 1; i <= 5; i++)
		build_event(&build, 0, i << 22, 0x27, 0);
	build_slot(&build, 0, 0, 6 << 22, FKT_CODE_RENAME, 0, words, 15);
	build_switch(&build, 0, 26000000, 0, 8, 7);
	build_event(&build, 0, 26000001, 0x27, 0);
	build_end(&build, 7 << 22, 0, 0);
	trace = open_build(&build);
	part = extract_trace(trace, &extract);
	list_window(&list, part, 0, UINT64_MAX);
	assert_string_equal(
		end_list(&list),
		"100 0 0 4352 0 0\n25165824 0 0 4359 8 0\n26000000 0 0 4352 8 0\n26000001 0 0 39 7 0\n");
	free(list.text);
	fkt_close(part);
	fkt_close(trace);
	build_free(&build);
}

/* Neither chosen pids nor many gaps take long; what was open before a gap is not any more. */
static void test_hostile(void **state)
{
	const clock_t begun = clock();
	struct fkt_event event = { .code = FKT_CODE_SYSCALL_ENTRY, .pid = 7 };
	struct fkt_state *now;
	struct fkt_trace *trace;
	struct build build;
	char *text;
	size_t bytes;

	(void)state;
	build_begin(&build, 1, false);
	text = equal_pids(8);
	build_text(&build, FKT_SECTION_PROCESSES, text);
	free(text);
	build_pages(&build);
	build_end(&build, 1000, 0, 0);
	trace = open_build(&build);
	now = fkt_state_new(trace);
	for (unsigned int i = 0; i < 3000; i++) {
		event.cpu = (uint16_t)i;
		event.stamp = i;
		assert_int_equal(fkt_state_event(now, &event), 0);
		fkt_state_gap(now, event.cpu);
	}
	event.code++;
	assert_int_equal(fkt_state_event(now, &event), 0);
	text = fkt_state_text(now, false, NULL, NULL, &bytes);
	assert_non_null(strstr(text, "call 7 1 2999\n"));
	assert_null(strstr(text, "call 7 0"));
	free(text);
	fkt_state_free(now);
	fkt_close(trace);
	build_free(&build);
	assert_true(clock() - begun < 2 * CLOCKS_PER_SEC);
}

/* Numbers of events are those of the listing. */
static void test_numbers(void **state)
{
	struct fkt_reader *reader;
	struct fkt_trace *trace;
	struct fkt_event event;
	struct build build;
	uint64_t stamp;
	uint64_t n = 0;
	int what;

	(void)state;
	build_random(&build, 3, false, 100000, 3, false);
	trace = open_build(&build);
	reader = fkt_reader_new(trace);
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what != FKT_EVENT || n++ % 1237)
			continue;
		assert_int_equal(fkt_event_stamp(trace, n - 1, &stamp), 1);
		assert_int_equal(stamp, event.stamp);
	}
	assert_int_equal(fkt_event_stamp(trace, n - 1, &stamp), 1);
	assert_int_equal(fkt_event_stamp(trace, n, &stamp), 0);
	fkt_reader_free(reader);
	fkt_close(trace);
	build_free(&build);
}

static void test_times(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "12.5", 12500000000 },
		{ "12.5s", 12500000000 },
		{ "900ms", 900000000 },
		{ ".5us", 500 },
		{ "7ns", 7 },
		{ "50000000000ns", 50000000000 },
		{ "1.0000000019s", 1000000001 },
		{ "2m", 120000000000 },
		{ "0", 0 },
		{ "0.500000000m", 30000000000 },
		{ "1.5h", 5400000000000 },
		{ "0.000000001h", 3600 },
	};
	static const char *const bad[] = {
		"", ".", "s", "1x", "-1", "1 s", "99999999999999999999",
	};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(fkt_parse_time(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(fkt_parse_time(bad[i], &ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_bad_indexes),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_extract),
		cmocka_unit_test(test_picked),
		cmocka_unit_test(test_state),
		cmocka_unit_test(test_at_work),
		cmocka_unit_test(test_softirq_as_interrupt),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_full_slot),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

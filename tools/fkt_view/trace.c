// SPDX-License-Identifier: GPL-2.0-or-later
/* What the page has to know before it draws anything: the trace, its CPUs and threads. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "model.h"

/* A page shows no more rows; others are found by their names. */
#define THREADS_MAX 20000

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_info(struct view *view, struct answer *answer, const char *key)
{
	const char *value = fkt_info(view->trace, key);
	char *text = value ? strdup(value) : NULL;

	answer_text(answer, ",\"%s\":", key);
	if (text) {
		fkt_sanitize(text);
		answer_string(answer, text);
	} else {
		answer_text(answer, "null");
	}
	free(text);
}

char *view_title(const struct view *view)
{
	char *name = strdup(base_name(view->name));

	if (name)
		fkt_sanitize(name);
	return name;
}

uint32_t view_cpus(struct view *view, uint8_t met[VIEW_CPUS])
{
	const struct fkt_file_header *header = fkt_header(view->trace);
	uint32_t cpus = 0;

	memset(met, 0, VIEW_CPUS);
	if (view->levels)
		cpus = levels_cpus(view->levels, met, VIEW_CPUS);
	for (uint32_t i = 0; !header->shared && header->lanes > 1 && i < header->lanes; i++) {
		met[i & UINT16_MAX] = 1;
		cpus = cpus > i ? cpus : i + 1;
	}
	return cpus < VIEW_CPUS ? cpus : VIEW_CPUS;
}

static int put_cpus(struct view *view, struct answer *answer)
{
	uint8_t *met = malloc(VIEW_CPUS);
	const char *comma = "";
	uint32_t cpus;

	if (!met)
		return -ENOMEM;
	cpus = view_cpus(view, met);
	answer_text(answer, ",\"cpus\":[");
	for (uint32_t i = 0; i < cpus; i++) {
		if (!met[i])
			continue;
		answer_text(answer, "%s%" PRIu32, comma, i);
		comma = ",";
	}
	answer_text(answer, "]");
	free(met);
	return 0;
}

int answer_trace(struct view *view, struct answer *answer)
{
	struct progress progress = { .done = true };
	int64_t wall = 0;
	char *name = view_title(view);
	int err;

	if (!name)
		return -ENOMEM;
	if (view->levels)
		levels_progress(view->levels, &progress);
	if (fkt_has_wall_clock(view->trace))
		wall = fkt_wall_ns(view->trace, view->first);
	answer_text(answer, "{\"name\":");
	answer_string(answer, name);
	free(name);
	answer_text(answer,
		    ",\"empty\":%s,\"end_ns\":%" PRId64 ",\"wall_s\":%" PRId64
		    ",\"wall_ns\":%" PRId64 ",\"complete\":%s,\"made_ns\":%" PRId64
		    ",\"done\":%s,\"growing\":%s,\"events\":%" PRIu64 ",\"lost\":%" PRIu64
		    ",\"missing_pages\":%" PRIu64 ",\"marks_left\":%" PRIu64 ",\"error\":",
		    view->empty ? "true" : "false", view_ns(view, view->last) + !view->empty,
		    wall / 1000000000, wall % 1000000000,
		    fkt_is_complete(view->trace) ? "true" : "false",
		    view_ns(view, progress.made ?: view->first), progress.done ? "true" : "false",
		    view->feed && !progress.done ? "true" : "false", progress.events, progress.lost,
		    progress.pages, progress.marks_left);
	answer_string(answer, progress.err ? strerror(-progress.err) : "");
	put_info(view, answer, "command");
	put_info(view, answer, "release");
	put_info(view, answer, "machine");
	err = put_cpus(view, answer);
	answer_text(answer, "}");
	return err ?: answer_error(answer);
}

/* ---- several traces ---- */

/* How far the clocks of two traces of one machine may be apart, beside what they drift. */
#define SAME_CLOCK_NS 10000000
#define DRIFT_PER_NS  1000
/* Of so many cycles the time is compared. */
#define RATE_CYCLES   (1ll << 32)
/* The page's numbers are exact for these. */
#define OFFSET_NS_MAX (1ll << 53)

/* What of a trace is asked without its lock being held for long. */
struct begin {
	char *name;
	bool has_wall;
	uint64_t first;
	int64_t wall_ns;
	int64_t end_ns;
	int64_t rate_ns;
	bool empty;
};

static bool read_begin(struct view *view, struct begin *begin)
{
	pthread_rwlock_rdlock(&view->lock);
	begin->name = view_title(view);
	begin->empty = view->empty;
	begin->first = view->first;
	begin->end_ns = view_ns(view, view->last) + !view->empty;
	begin->rate_ns = fkt_cycles_to_ns(view->trace, RATE_CYCLES);
	begin->has_wall = !view->empty && fkt_has_wall_clock(view->trace);
	if (begin->has_wall)
		begin->wall_ns = fkt_wall_ns(view->trace, view->first);
	pthread_rwlock_unlock(&view->lock);
	return begin->name;
}

static bool are_near(int64_t a, int64_t b, int64_t most)
{
	int64_t apart;

	return !__builtin_sub_overflow(a, b, &apart) && apart <= most && apart >= -most;
}

/*
 * How much later another trace begins, and what says so: "stamps" where both count with the same
 * counter, for then these say the same as the time of day; that alone; or "nothing".
 */
static const char *compare_begins(struct view *view, const struct begin *own,
				  const struct begin *other, int64_t *offset)
{
	int64_t by_stamps;

	*offset = 0;
	if (!own->has_wall || !other->has_wall ||
	    __builtin_sub_overflow(other->wall_ns, own->wall_ns, offset) ||
	    *offset > OFFSET_NS_MAX || *offset < -OFFSET_NS_MAX) {
		*offset = 0;
		return "nothing";
	}
	pthread_rwlock_rdlock(&view->lock);
	by_stamps = fkt_cycles_to_ns(view->trace, (int64_t)(other->first - own->first));
	pthread_rwlock_unlock(&view->lock);
	if (!are_near(own->rate_ns, other->rate_ns, own->rate_ns / DRIFT_PER_NS) ||
	    !are_near(by_stamps, *offset, SAME_CLOCK_NS + llabs(*offset) / DRIFT_PER_NS))
		return "time of day";
	*offset = by_stamps;
	return "stamps";
}

int answer_traces(struct view *views, unsigned int count, const struct view *asks,
		  struct answer *answer)
{
	const unsigned int own = (unsigned int)(asks - views);
	struct begin begins[TRACES_MAX] = { 0 };
	const char *by;
	int64_t offset;
	bool all = true;

	for (unsigned int i = 0; i < count; i++)
		all &= read_begin(&views[i], &begins[i]);
	answer_text(answer, "{\"own\":%u,\"traces\":[", own);
	for (unsigned int i = 0; all && i < count; i++) {
		by = compare_begins(&views[own], &begins[own], &begins[i], &offset);
		answer_text(answer, "%s{\"name\":", i ? "," : "");
		answer_string(answer, begins[i].name);
		answer_text(answer,
			    ",\"by\":\"%s\",\"offset_ns\":%" PRId64 ",\"end_ns\":%" PRId64
			    ",\"empty\":%s}",
			    by, offset, begins[i].end_ns, begins[i].empty ? "true" : "false");
	}
	answer_text(answer, "]}");
	for (unsigned int i = 0; i < count; i++)
		free(begins[i].name);
	return all ? answer_error(answer) : -ENOMEM;
}

struct put_counters {
	struct view *view;
	struct answer *answer;
	const char *comma;
};

/* Its name ends with the number of its process: see collect.c. */
bool view_counter(struct view *view, uint32_t track, char name[FKT_NAME_BYTES], uint32_t *tgid)
{
	char *space;

	names_get(view->names, track & ~TRACK_COUNTER, name);
	space = strrchr(name, ' ');
	if (!space)
		return false;
	*space = '\0';
	*tgid = (uint32_t)strtoul(space + 1, NULL, 10);
	return true;
}

static int put_counter(void *arg, uint32_t track)
{
	struct put_counters *put = arg;
	char name[FKT_NAME_BYTES];
	uint32_t tgid;

	if (!view_counter(put->view, track, name, &tgid))
		return 0;
	answer_text(put->answer, "%s[%" PRIu32 ",%" PRIu32 ",", put->comma, track, tgid);
	answer_string(put->answer, name);
	answer_bytes(put->answer, "]", 1);
	put->comma = ",";
	return 0;
}

int answer_threads(struct view *view, struct answer *answer)
{
	struct put_counters put = { .view = view, .answer = answer, .comma = "" };
	struct collected_thread *threads = NULL;
	size_t count = 0;

	if (view->levels)
		threads = levels_threads(view->levels, &count);
	answer_text(answer, "{\"all\":%zu,\"threads\":[", count);
	for (size_t i = 0; threads && i < count && i < THREADS_MAX; i++) {
		answer_text(answer, "%s[%" PRIu32 ",%" PRIu32 ",%d,%" PRId64 ",", i ? "," : "",
			    threads[i].tid, threads[i].tgid, threads[i].kernel,
			    fkt_cycles_to_ns(view->trace, (int64_t)threads[i].running));
		answer_string(answer, threads[i].comm);
		answer_text(answer, "]");
	}
	answer_text(answer, "],\"counters\":[");
	if (view->levels)
		levels_counters(view->levels, put_counter, &put);
	answer_text(answer, "]}");
	free(threads);
	return answer_error(answer);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the page has to know before it draws anything: the trace, its CPUs and threads. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "view.h"

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

/* Each CPU that has a lane, or was met. */
static int put_cpus(struct view *view, struct answer *answer)
{
	const struct fkt_file_header *header = fkt_header(view->trace);
	uint8_t *met = calloc(UINT16_MAX + 1, 1);
	uint32_t cpus = 0;
	const char *comma = "";

	if (!met)
		return -ENOMEM;
	if (view->levels)
		cpus = levels_cpus(view->levels, met, UINT16_MAX + 1);
	for (uint32_t i = 0; !header->shared && header->lanes > 1 && i < header->lanes; i++) {
		met[i & UINT16_MAX] = 1;
		cpus = cpus > i ? cpus : i + 1;
	}
	answer_text(answer, ",\"cpus\":[");
	for (uint32_t i = 0; i < cpus && i <= UINT16_MAX; i++) {
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
	char *name = strdup(base_name(view->name));
	int err;

	if (!name)
		return -ENOMEM;
	if (view->levels)
		levels_progress(view->levels, &progress);
	if (fkt_has_wall_clock(view->trace))
		wall = fkt_wall_ns(view->trace, view->first);
	fkt_sanitize(name);
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

struct put_counters {
	struct view *view;
	struct answer *answer;
	const char *comma;
};

/* Its name ends with the number of its process: see collect.c. */
static int put_counter(void *arg, uint32_t track)
{
	struct put_counters *put = arg;
	char name[FKT_NAME_BYTES], *space;

	names_get(put->view->names, track & ~TRACK_COUNTER, name);
	space = strrchr(name, ' ');
	if (!space)
		return 0;
	*space = '\0';
	answer_text(put->answer, "%s[%" PRIu32 ",%lu,", put->comma, track,
		    strtoul(space + 1, NULL, 10));
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

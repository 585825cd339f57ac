// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "levels_internal.h"
#include "read/internal.h"

/* Events of a bin of the base level, and how many bins there may be, and are at least. */
#define BIN_EVENTS     500
#define BINS_MAX       (1u << 20)
#define BINS_MIN       4096u
/* Bins of a trace that grows, of which nobody knows how long it gets. */
#define GROWING_BIN_NS 1000000

/* Threads that come behind so many others are in no level but the base. */
#define TRACKS_MAX     (1u << 18)
#define FIRST_ROOM     64u
#define BUFFER_CELLS   2048u
/* Cells that are looked at in a level for how tracks were before. */
#define BACK_CELLS_MAX (1u << 17)
/* How often the other threads hear of what was made. */
#define PUBLISH_EVENTS 65536u

#define NO_CELL	       UINT32_MAX

/* ---- files ---- */

/* Some file systems have no files without a name: overlayfs up to Linux 6.2. */
static int open_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || asprintf(&path, "%s/fkt_view.XXXXXX", folder) < 0)
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

bool levels_folder(char *path, size_t bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length;

	if (cache && *cache == '/')
		length = snprintf(path, bytes, "%s", cache);
	else if (home && *home == '/')
		length = snprintf(path, bytes, "%s/.cache", home);
	else
		return false;
	return length > 0 && (size_t)length < bytes;
}

int levels_file(void)
{
	char path[4096];
	int fd = levels_folder(path, sizeof(path)) ? open_unnamed(path) : -1;

	/* Not in /tmp: that may be memory. */
	return fd >= 0 ? fd : open_unnamed("/var/tmp");
}

bool levels_write(int fd, const void *from, size_t bytes)
{
	const char *data = from;

	while (bytes) {
		ssize_t put = write(fd, data, bytes);

		if (put < 0 && errno == EINTR)
			continue;
		/* Whoever reads it is gone, or there is no more room. */
		if (put <= 0)
			return false;
		data += put;
		bytes -= (size_t)put;
	}
	return true;
}

static int write_cells(struct level *level)
{
	const char *data = (const char *)level->buffer;
	size_t bytes = level->buffered * sizeof(struct cell);
	off_t at = (off_t)(level->count * sizeof(struct cell));

	while (bytes) {
		ssize_t put = pwrite(level->fd, data, bytes, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -EIO;
		data += put;
		at += put;
		bytes -= (size_t)put;
	}
	return 0;
}

static int flush_cells(struct levels *levels, struct level *level)
{
	int err = write_cells(level);

	if (err)
		return err;
	pthread_mutex_lock(&levels->lock);
	level->count += level->buffered;
	pthread_mutex_unlock(&levels->lock);
	level->buffered = 0;
	return 0;
}

static int put_cell(struct levels *levels, struct level *level, const struct cell *cell)
{
	level->buffer[level->buffered++] = *cell;
	return level->buffered == BUFFER_CELLS ? flush_cells(levels, level) : 0;
}

/* Cells from number @at on: how many were read, or a negative errno value. */
static ssize_t read_cells(const struct level *level, uint64_t at, struct cell *cells, size_t count)
{
	ssize_t got;

	do {
		got = pread(level->fd, cells, count * sizeof(*cells),
			    (off_t)(level->begin + at * sizeof(*cells)));
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got / (ssize_t)sizeof(*cells);
}

/* ---- tracks ---- */

static uint32_t *find_slot(const struct levels *levels, uint32_t key)
{
	const uint32_t mask = 2 * levels->track_room - 1;
	uint32_t at = (key * 2654435761u) & mask;

	while (levels->slot[at] && levels->before[levels->slot[at] - 1].track != key)
		at = (at + 1) & mask;
	return &levels->slot[at];
}

static int grow_tracks(struct levels *levels)
{
	uint32_t room = levels->track_room ? 2 * levels->track_room : FIRST_ROOM;
	uint32_t *slot = calloc(2 * (size_t)room, sizeof(*slot));
	struct cell *before;
	struct known *known;

	if (!slot)
		return -ENOMEM;
	for (unsigned int i = 0; i < levels->levels; i++) {
		known = reallocarray(levels->level[i].known, room, sizeof(*known));
		if (!known) {
			free(slot);
			return -ENOMEM;
		}
		levels->level[i].known = known;
	}
	pthread_mutex_lock(&levels->lock);
	before = reallocarray(levels->before, room, sizeof(*before));
	if (before)
		levels->before = before;
	pthread_mutex_unlock(&levels->lock);
	if (!before) {
		free(slot);
		return -ENOMEM;
	}
	free(levels->slot);
	levels->slot = slot;
	levels->track_room = room;
	for (uint32_t i = 0; i < levels->tracks; i++)
		*find_slot(levels, levels->before[i].track) = i + 1;
	return 0;
}

/* A track that was not met before. */
static int add_track(struct levels *levels, const struct cell *cell)
{
	int err;

	if (levels->tracks == TRACKS_MAX)
		return 0;
	if (levels->tracks == levels->track_room) {
		err = grow_tracks(levels);
		if (err)
			return err;
	}
	pthread_mutex_lock(&levels->lock);
	levels->before[levels->tracks] = *cell;
	levels->befores = levels->tracks + 1;
	pthread_mutex_unlock(&levels->lock);
	*find_slot(levels, cell->track) = levels->tracks + 1;
	for (unsigned int i = 0; i < levels->levels; i++)
		levels->level[i].known[levels->tracks] = (struct known){
			.last = cell->last,
			.last_inner = cell->last_inner,
			.pending = NO_CELL,
			.state = cell->state,
		};
	levels->tracks++;
	return 0;
}

/* ---- from level to level ---- */

/* A bin in which the track stays as it is known to be. */
static struct cell same_cell(uint32_t track, const struct known *known)
{
	struct cell cell = {
		.track = track,
		.top = known->last,
		.inner = known->last_inner,
		.last = known->last,
		.last_inner = known->last_inner,
		.state = known->state,
	};

	if (track_is_counter(track)) {
		cell.top = cell.inner =
			float_bits((float)cell_value(known->last, known->last_inner));
		return cell;
	}
	if (known->last_inner && track & TRACK_CPU)
		cell.share[known->softirq ? SHARE_SOFTIRQ : SHARE_IRQ] = SHARE_ALL;
	switch (known->state) {
	case STATE_RUNNING:
		cell.share[SHARE_RUNNING] = SHARE_ALL;
		break;
	case STATE_UNKNOWN:
		cell.share[SHARE_UNKNOWN] = SHARE_ALL;
		break;
	case STATE_READY:
		cell.share[SHARE_READY] = SHARE_ALL;
		break;
	case STATE_BLOCKED:
		cell.share[SHARE_BLOCKED] = SHARE_ALL;
		break;
	}
	return cell;
}

/* The same of a counter, which may have had no value before. */
static struct cell join_counter(const struct cell *a, const struct cell *b)
{
	struct cell cell = *b;

	if (a->state == STATE_UNKNOWN)
		return cell;
	if (bits_float(a->top) < bits_float(b->top))
		cell.top = a->top;
	if (bits_float(a->inner) > bits_float(b->inner))
		cell.inner = a->inner;
	return cell;
}

/* The cell of two bins, one after the other. */
static struct cell join(const struct cell *a, const struct cell *b)
{
	struct cell cell = *b;
	bool first = a->share[SHARE_RUNNING] > b->share[SHARE_RUNNING] || !b->top;

	if (track_is_counter(b->track))
		return join_counter(a, b);
	cell.top = first ? a->top : b->top;
	cell.inner = a->inner && (first || !b->inner) ? a->inner : b->inner;
	for (unsigned int i = 0; i < SHARES; i++) {
		cell.share[i] = (uint8_t)((a->share[i] + b->share[i]) / 2);
		if (!cell.share[i] && (a->share[i] || b->share[i]))
			cell.share[i] = 1;
	}
	cell.flags = (a->flags & (CELL_ERROR | CELL_SAMPLE)) | b->flags;
	/* The logarithm of a sum, as far as a picture needs it. */
	cell.events = a->events > b->events ? a->events : b->events;
	if (a->events && b->events && cell.events < UINT8_MAX - 8)
		cell.events += a->events == b->events ? 8 : 4;
	return cell;
}

static int level_put(struct levels *levels, unsigned int number, const struct cell *cell);

/* The bin that goes on is over in a level above the base. */
static int level_close(struct levels *levels, unsigned int number)
{
	struct level *level = &levels->level[number];
	int err = 0;

	for (uint32_t i = 0; i < level->pendings && !err; i++) {
		struct cell *cell = &level->pending[i];
		struct known *known = &level->known[*find_slot(levels, cell->track) - 1];
		struct cell same;

		/* Of its two bins, the second one may have no cell. */
		if (cell->reserved == 1) {
			same = same_cell(cell->track, known);
			same.bin = cell->bin;
			*cell = join(cell, &same);
		}
		cell->reserved = 0;
		known->pending = NO_CELL;
		err = level_put(levels, number, cell);
	}
	level->pendings = 0;
	return err;
}

/* A cell of the level below. */
static int level_take(struct levels *levels, unsigned int number, const struct cell *below)
{
	struct level *level = &levels->level[number];
	const uint32_t bin = below->bin / 2;
	uint32_t room = level->pending_room ? 2 * level->pending_room : FIRST_ROOM;
	uint32_t slot = *find_slot(levels, below->track);
	struct known *known;
	struct cell *larger, same;
	int err = 0;

	if (!slot)
		return 0;
	if (bin != level->bin)
		err = level_close(levels, number);
	level->bin = bin;
	if (err)
		return err;
	known = &level->known[slot - 1];
	if (known->pending == NO_CELL) {
		if (level->pendings == level->pending_room) {
			larger = reallocarray(level->pending, room, sizeof(*larger));
			if (!larger)
				return -ENOMEM;
			level->pending = larger;
			level->pending_room = room;
		}
		known->pending = level->pendings++;
		level->pending[known->pending] = *below;
		if (below->bin & 1) {
			same = same_cell(below->track, known);
			level->pending[known->pending] = join(&same, below);
		}
	} else {
		level->pending[known->pending] = join(&level->pending[known->pending], below);
	}
	/* Whether it is the first of the two bins that this has been made of up to now. */
	level->pending[known->pending].reserved = !(below->bin & 1);
	level->pending[known->pending].bin = bin;
	known->last = below->last;
	known->last_inner = below->last_inner;
	known->state = below->state;
	known->softirq = below->flags & CELL_SOFTIRQ;
	return 0;
}

static int level_put(struct levels *levels, unsigned int number, const struct cell *cell)
{
	int err = put_cell(levels, &levels->level[number], cell);

	if (!err && number + 1 < levels->levels)
		err = level_take(levels, number + 1, cell);
	return err;
}

/* ---- the thread ---- */

static int on_cell(void *arg, const struct cell *cell)
{
	struct levels *levels = arg;

	return cell->bin == CELL_BEFORE ? add_track(levels, cell) : level_put(levels, 0, cell);
}

static int on_loss(void *arg, const struct loss *loss)
{
	struct levels *levels = arg;
	uint32_t room = levels->loss_room ? 2 * levels->loss_room : FIRST_ROOM;
	struct loss *larger = levels->loss;
	int err = 0;

	pthread_mutex_lock(&levels->lock);
	if (loss->pages)
		levels->progress.pages += loss->count;
	else
		levels->progress.lost += loss->count;
	if (levels->losses == levels->loss_room && levels->losses < LOSSES_MAX) {
		larger = reallocarray(levels->loss, room, sizeof(*larger));
		if (larger) {
			levels->loss = larger;
			levels->loss_room = room;
		}
	}
	if (!larger)
		err = -ENOMEM;
	else if (levels->losses < levels->loss_room)
		levels->loss[levels->losses++] = *loss;
	else
		levels->loss[levels->losses - 1].to = loss->to;
	pthread_mutex_unlock(&levels->lock);
	return err;
}

static int on_mark(void *arg, const struct mark *mark)
{
	struct levels *levels = arg;

	pthread_mutex_lock(&levels->lock);
	if (levels->marks < MARKS_MAX)
		levels->mark[levels->marks++] = *mark;
	else
		levels->progress.marks_left++;
	pthread_mutex_unlock(&levels->lock);
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct collected_thread *one = a, *other = b;

	if (one->running != other->running)
		return one->running < other->running ? 1 : -1;
	return one->tid < other->tid ? -1 : one->tid > other->tid;
}

/* Tell the others how far it is. */
static int publish(struct levels *levels, const struct collector *collector, uint64_t made,
		   uint64_t events, bool done)
{
	struct collected_thread *threads = NULL, *larger, *old;
	size_t count = 0, room = 0;
	uint32_t at = 0;
	int err = 0;

	for (unsigned int i = 0; i < levels->levels && !err; i++)
		err = flush_cells(levels, &levels->level[i]);
	for (;;) {
		if (count == room) {
			room = room ? 2 * room : FIRST_ROOM;
			larger = reallocarray(threads, room, sizeof(*larger));
			if (!larger)
				err = -ENOMEM;
			if (!larger)
				break;
			threads = larger;
		}
		if (!collector_thread(collector, &at, &threads[count]))
			break;
		count++;
	}
	if (count)
		qsort(threads, count, sizeof(*threads), by_use);
	pthread_mutex_lock(&levels->lock);
	old = levels->threads;
	levels->threads = threads;
	levels->thread_count = count;
	levels->cpus = collector_cpus(collector, levels->cpu, UINT16_MAX + 1);
	levels->progress.made = made;
	levels->progress.events = events;
	levels->progress.done |= done;
	pthread_mutex_unlock(&levels->lock);
	free(old);
	return err;
}

/* The stamp with which the bin of a stamp begins. */
static uint64_t bin_begin(const struct levels *levels, uint64_t stamp)
{
	const uint64_t since = stamp > levels->first ? stamp - levels->first : 0;

	return levels->first + since / levels->bin_cycles * levels->bin_cycles;
}

static int make(struct levels *levels, struct fkt_reader *reader, struct collector *collector)
{
	uint64_t next = PUBLISH_EVENTS, seen = 0, told = 0, last = levels->first, end;
	struct fkt_event event;
	int what, err = 0;

	while (!err && (what = fkt_reader_next(reader, &event)) > 0) {
		if (__atomic_load_n(&levels->stop, __ATOMIC_RELAXED))
			err = -EINTR;
		if (what == FKT_GAP)
			err = err ?: collector_gap(collector, &event, fkt_gap(reader));
		/* A stream has no more at the moment: what came is to be seen. */
		if (what == FKT_WAIT && seen != told && !err) {
			err = publish(levels, collector, bin_begin(levels, last), seen, false);
			told = seen;
		}
		if (what != FKT_EVENT)
			continue;
		err = err ?: collector_event(collector, &event);
		last = event.stamp;
		/* More and more rarely: there may be many threads. */
		if (++seen >= next && !err) {
			next += PUBLISH_EVENTS + seen / 8;
			err = publish(levels, collector, bin_begin(levels, last), seen, false);
		}
	}
	end = (levels->growing ? fkt_read_stats(reader)->last : levels->last) + 1;
	if (!err)
		err = what;
	if (!err)
		err = collector_end(collector, end);
	for (unsigned int i = 1; i < levels->levels && !err; i++)
		err = level_close(levels, i);
	return err ?: publish(levels, collector, end, seen, true);
}

static void *run(void *arg)
{
	struct levels *levels = arg;
	const struct collect_to to = {
		.arg = levels, .cell = on_cell, .loss = on_loss, .mark = on_mark
	};
	struct fkt_reader *reader = fkt_reader_new(levels->trace);
	struct collector *collector =
		collector_new(levels->trace, levels->names, levels->first, levels->bin_cycles, &to);
	int err = reader && collector ? make(levels, reader, collector) : -ENOMEM;

	pthread_mutex_lock(&levels->lock);
	levels->progress.err = err;
	levels->progress.done |= !!err;
	pthread_mutex_unlock(&levels->lock);
	collector_free(collector);
	fkt_reader_free(reader);
	if (!err && levels->keep)
		kept_put(levels);
	return NULL;
}

/* About how many events there are. */
static uint64_t guess_events(struct fkt_trace *trace)
{
	const struct fkt_lane_totals *totals;
	uint64_t events = 0;

	for (size_t i = 0; (totals = fkt_lane_totals(trace, i)); i++)
		events += totals->events;
	return events ?: trace->pages * (FKT_PAGE_BYTES / 10);
}

struct levels *levels_new(struct fkt_trace *trace, struct names *names, bool keep, uint64_t first,
			  uint64_t last, bool growing)
{
	struct levels *levels = calloc(1, sizeof(*levels));
	uint64_t bins = guess_events(trace) / BIN_EVENTS;
	int err;

	if (!levels)
		return NULL;
	bins = bins < BINS_MIN ? BINS_MIN : bins > BINS_MAX ? BINS_MAX : bins;
	levels->trace = trace;
	levels->names = names;
	levels->first = first;
	levels->last = last;
	levels->bin_cycles = (last - first) / bins + 1;
	if (growing) {
		levels->growing = true;
		levels->bin_cycles = fkt_ns_to_cycles(trace, GROWING_BIN_NS) + 1;
		bins = BINS_MAX;
	}
	levels->progress.made = first;
	pthread_mutex_init(&levels->lock, NULL);
	for (unsigned int i = 0; i < LEVELS_MAX; i++)
		levels->level[i].fd = -1;
	/* That which is read: another one may have its name by now. */
	if (keep && !growing && fkt_is_complete(trace) && !fstat(trace->input.fd, &levels->file) &&
	    S_ISREG(levels->file.st_mode) && (uint64_t)levels->file.st_size == trace->input.size) {
		levels->keep = true;
		if (kept_take(levels))
			return levels;
	}
	while (levels->levels < LEVELS_MAX && (!levels->levels || bins >= BINS_MIN)) {
		struct level *level = &levels->level[levels->levels++];

		level->fd = levels_file();
		level->buffer = malloc(BUFFER_CELLS * sizeof(*level->buffer));
		if (level->fd < 0 || !level->buffer)
			goto failed;
		bins /= 2;
	}
	levels->mark = calloc(MARKS_MAX, sizeof(*levels->mark));
	/* The slots are looked at before there is a track. */
	if (!levels->mark || grow_tracks(levels)) {
		errno = ENOMEM;
		goto failed;
	}
	err = pthread_create(&levels->thread, NULL, run, levels);
	if (!err) {
		levels->running = true;
		return levels;
	}
	errno = err;
failed:
	err = errno;
	levels_free(levels);
	errno = err;
	return NULL;
}

void levels_free(struct levels *levels)
{
	if (!levels)
		return;
	__atomic_store_n(&levels->stop, true, __ATOMIC_RELAXED);
	if (levels->running)
		pthread_join(levels->thread, NULL);
	for (unsigned int i = 0; i < LEVELS_MAX; i++) {
		struct level *level = &levels->level[i];

		if (level->fd >= 0)
			close(level->fd);
		free(level->buffer);
		free(level->known);
		free(level->pending);
	}
	pthread_mutex_destroy(&levels->lock);
	free(levels->slot);
	free(levels->before);
	free(levels->loss);
	free(levels->mark);
	free(levels->threads);
	free(levels);
}

/* ---- answers ---- */

void levels_progress(struct levels *levels, struct progress *progress)
{
	pthread_mutex_lock(&levels->lock);
	*progress = levels->progress;
	pthread_mutex_unlock(&levels->lock);
}

struct collected_thread *levels_threads(struct levels *levels, size_t *count)
{
	struct collected_thread *copy;

	pthread_mutex_lock(&levels->lock);
	*count = levels->thread_count;
	copy = *count ? malloc(*count * sizeof(*copy)) : NULL;
	if (copy)
		memcpy(copy, levels->threads, *count * sizeof(*copy));
	pthread_mutex_unlock(&levels->lock);
	return copy;
}

int levels_counters(struct levels *levels, level_counter_fn *counter, void *arg)
{
	int err = 0;

	pthread_mutex_lock(&levels->lock);
	for (uint32_t i = 0; i < levels->befores && !err; i++)
		if (track_is_counter(levels->before[i].track))
			err = counter(arg, levels->before[i].track);
	pthread_mutex_unlock(&levels->lock);
	return err;
}

uint32_t levels_cpus(struct levels *levels, uint8_t *met, uint32_t room)
{
	uint32_t cpus;

	pthread_mutex_lock(&levels->lock);
	cpus = levels->cpus;
	memcpy(met, levels->cpu, room < cpus ? room : cpus);
	pthread_mutex_unlock(&levels->lock);
	return cpus;
}

int levels_losses(struct levels *levels, uint64_t from, uint64_t to, level_loss_fn *loss, void *arg)
{
	int err = 0;

	pthread_mutex_lock(&levels->lock);
	for (uint32_t i = 0; i < levels->losses && !err; i++)
		if (levels->loss[i].to >= from && levels->loss[i].from < to)
			err = loss(arg, &levels->loss[i]);
	pthread_mutex_unlock(&levels->lock);
	return err;
}

int levels_marks(struct levels *levels, uint64_t from, uint64_t to, level_mark_fn *mark, void *arg)
{
	int err = 0;

	pthread_mutex_lock(&levels->lock);
	for (uint32_t i = 0; i < levels->marks && !err; i++)
		if (levels->mark[i].stamp >= from && levels->mark[i].stamp < to)
			err = mark(arg, &levels->mark[i]);
	pthread_mutex_unlock(&levels->lock);
	return err;
}

static uint64_t level_count(struct levels *levels, unsigned int number)
{
	uint64_t count;

	pthread_mutex_lock(&levels->lock);
	count = levels->level[number].count;
	pthread_mutex_unlock(&levels->lock);
	return count;
}

/* The first cell of a level whose bin is not before @bin; a negative errno value on failure. */
static int64_t find_cell(const struct level *level, uint64_t count, uint64_t bin)
{
	uint64_t low = 0, high = count, middle;
	struct cell cell;
	ssize_t got;

	while (low < high) {
		middle = low + (high - low) / 2;
		got = read_cells(level, middle, &cell, 1);
		if (got != 1)
			return got < 0 ? got : -EIO;
		if (cell.bin < bin)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low;
}

int levels_read(struct levels *levels, uint64_t from, uint64_t to, uint32_t bins,
		struct level_part *part, level_cell_fn *take, void *arg)
{
	const uint64_t pixel = (to - from) / (bins ?: 1);
	unsigned int number = 0;
	struct progress progress;
	struct cell cells[512];
	uint64_t first, end, count;
	int64_t at;
	ssize_t got;
	int err = 0;

	while (number + 1 < levels->levels && levels->bin_cycles << (number + 1) <= pixel)
		number++;
	levels_progress(levels, &progress);
	part->bin_cycles = levels->bin_cycles << number;
	part->made = progress.made;
	first = from > levels->first ? (from - levels->first) / part->bin_cycles : 0;
	part->from = levels->first + first * part->bin_cycles;
	end = to > levels->first ? (to - levels->first) / part->bin_cycles + 1 : 0;
	count = level_count(levels, number);
	at = find_cell(&levels->level[number], count, first);
	for (; at >= 0 && (uint64_t)at < count && !err; at += got) {
		uint64_t room = count - (uint64_t)at;

		got = read_cells(&levels->level[number], (uint64_t)at, cells,
				 room < 512 ? room : 512);
		if (got <= 0)
			return got ? (int)got : -EIO;
		for (ssize_t i = 0; i < got && !err; i++) {
			if (cells[i].bin >= end)
				return 0;
			cells[i].bin -= (uint32_t)first;
			err = take(arg, &cells[i]);
		}
	}
	return at < 0 ? (int)at : err;
}

/* ---- how things stood ---- */

/* Who is still looked for. */
struct wanted {
	const uint32_t *track;
	unsigned int count;
	bool found[512];
	unsigned int left;
	level_cell_fn *cell;
	void *arg;
};

static int found(struct wanted *wanted, const struct cell *cell)
{
	struct cell before = *cell;

	for (unsigned int i = 0; i < wanted->count; i++) {
		if (wanted->track[i] != cell->track || wanted->found[i])
			continue;
		wanted->found[i] = true;
		wanted->left--;
		before.bin = CELL_BEFORE;
		before.top = cell->last;
		before.inner = cell->last_inner;
		return wanted->cell(wanted->arg, &before);
	}
	return 0;
}

/* Back through a level's cells from bins before @end to those from @begin on. */
static int look_back(struct levels *levels, unsigned int number, uint64_t begin, uint64_t end,
		     struct wanted *wanted)
{
	const struct level *level = &levels->level[number];
	uint64_t count = level_count(levels, number), looked = 0, room;
	int64_t at = find_cell(level, count, end);
	struct cell cells[512];
	ssize_t got;
	int err = 0;

	while (at > 0 && !err && wanted->left && looked < BACK_CELLS_MAX) {
		room = at < 512 ? (uint64_t)at : 512;
		got = read_cells(level, (uint64_t)at - room, cells, room);
		if (got != (ssize_t)room)
			return got < 0 ? (int)got : -EIO;
		for (ssize_t i = got - 1; i >= 0 && !err; i--) {
			if (cells[i].bin < begin)
				return 0;
			err = found(wanted, &cells[i]);
		}
		at -= (int64_t)room;
		looked += room;
	}
	return at < 0 ? (int)at : err;
}

int levels_before(struct levels *levels, uint64_t at, const uint32_t *track, unsigned int count,
		  level_cell_fn *cell, void *arg)
{
	struct wanted wanted = {
		.track = track, .count = count < 512 ? count : 512, .cell = cell, .arg = arg
	};
	uint64_t bin;
	int err = 0;

	wanted.left = wanted.count;
	bin = at > levels->first ? (at - levels->first) / levels->bin_cycles : 0;
	/* In each level the last bin, if it has no other one of its pair; in the top one, all. */
	for (unsigned int i = 0; i < levels->levels && bin && !err && wanted.left; i++, bin /= 2) {
		if (i + 1 == levels->levels)
			err = look_back(levels, i, 0, bin, &wanted);
		else if (bin & 1)
			err = look_back(levels, i, bin - 1, bin, &wanted);
	}
	pthread_mutex_lock(&levels->lock);
	for (uint32_t i = 0; i < levels->befores && !err && wanted.left; i++)
		err = found(&wanted, &levels->before[i]);
	pthread_mutex_unlock(&levels->lock);
	return err;
}

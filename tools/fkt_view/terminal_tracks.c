// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How tracks were, column by column. In bins without a cell a track stays as it was at the end of
 * the last one.
 */
#include <errno.h>
#include <stdlib.h>

#include "terminal.h"

static const struct cell *cell_of(const struct tracks *tracks, size_t at)
{
	return (const struct cell *)tracks->picture.cells.data + tracks->order[at];
}

static int by_track(const void *a, const void *b, void *arg)
{
	const struct cell *cell = arg;
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	if (cell[one].track != cell[other].track)
		return cell[one].track < cell[other].track ? -1 : 1;
	return one < other ? -1 : one > other;
}

int tracks_make(struct tracks *tracks, struct view *view)
{
	struct picture *picture = &tracks->picture;
	int err;

	tracks_free(tracks);
	err = picture_make(picture, view, &tracks->request);
	tracks->cells = err ? 0 : picture->cells.bytes / sizeof(struct cell);
	if (!tracks->cells)
		return err;
	tracks->order = calloc(tracks->cells, sizeof(*tracks->order));
	if (!tracks->order) {
		tracks->cells = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < tracks->cells; i++)
		tracks->order[i] = (uint32_t)i;
	qsort_r(tracks->order, tracks->cells, sizeof(*tracks->order), by_track,
		picture->cells.data);
	return 0;
}

void tracks_free(struct tracks *tracks)
{
	picture_free(&tracks->picture);
	free(tracks->order);
	tracks->order = NULL;
	tracks->cells = 0;
}

/* The first cell that is not of a lesser track. */
static size_t find_track(const struct tracks *tracks, uint32_t key)
{
	size_t low = 0, high = tracks->cells, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (cell_of(tracks, middle)->track < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- parts ---- */

static struct track_part part_of(const struct cell *cell)
{
	struct track_part part = {
		.top = cell->top,
		.inner = cell->inner,
		.state = cell->state,
		.flags = cell->flags,
	};

	memcpy(part.share, cell->share, sizeof(part.share));
	if (track_is_counter(cell->track)) {
		part.least = bits_float(cell->top);
		part.most = bits_float(cell->inner);
		part.value = cell_value(cell->last, cell->last_inner);
	}
	return part;
}

/* As the track stays behind a cell. */
static struct track_part rest_of(const struct cell *cell)
{
	static const uint8_t share[STATES] = {
		[STATE_UNKNOWN] = SHARE_UNKNOWN, [STATE_GONE] = SHARES,
		[STATE_SLEEPING] = SHARES,	 [STATE_BLOCKED] = SHARE_BLOCKED,
		[STATE_READY] = SHARE_READY,	 [STATE_RUNNING] = SHARE_RUNNING,
		[STATE_IDLE] = SHARES,
	};
	struct track_part part = {
		.top = cell->last,
		.inner = cell->last_inner,
		.state = cell->state,
	};

	if (track_is_counter(cell->track)) {
		part.value = cell_value(cell->last, cell->last_inner);
		part.least = part.most = (float)part.value;
		return part;
	}
	if (cell->state < STATES && share[cell->state] < SHARES)
		part.share[share[cell->state]] = SHARE_ALL;
	if (cell->track & TRACK_CPU && cell->last_inner)
		part.share[cell->flags & CELL_SOFTIRQ ? SHARE_SOFTIRQ : SHARE_IRQ] = SHARE_ALL;
	return part;
}

/* Of a part from one bin to another, which may be within bins. */
typedef void part_fn(void *arg, double from, double to, const struct track_part *part);

/* Call put() for each part of a track between two stamps, in order. */
static void each_part(const struct tracks *tracks, uint32_t key, double from, double to,
		      part_fn *put, void *arg)
{
	const struct level_part *level = &tracks->picture.part;
	const double bin = (double)level->bin_cycles, begin = (double)level->from;
	/* Of CPUs there is a sample behind what was read. */
	const uint64_t known = key & TRACK_CPU && tracks->picture.to > level->made
				       ? tracks->picture.to
				       : level->made;
	const double first = (from - begin) / bin - 1, end = (to - begin) / bin + 1;
	const double made = ((double)known - begin) / bin;
	const struct cell *last = NULL, *cell;
	double at = first > 0 ? first : 0, stay;
	struct track_part part;
	size_t i;

	if (!level->bin_cycles)
		return;
	for (i = find_track(tracks, key); i < tracks->cells; i++) {
		cell = cell_of(tracks, i);
		if (cell->track != key)
			break;
		if (cell->bin == CELL_BEFORE)
			last = cell;
	}
	for (i = find_track(tracks, key); i < tracks->cells; i++) {
		cell = cell_of(tracks, i);
		if (cell->track != key || (cell->bin != CELL_BEFORE && cell->bin > end))
			break;
		if (cell->bin == CELL_BEFORE)
			continue;
		if (cell->bin + 1 >= first) {
			if (last && at < cell->bin) {
				part = rest_of(last);
				put(arg, at, cell->bin, &part);
			}
			part = part_of(cell);
			put(arg, cell->bin, cell->bin + 1., &part);
			at = cell->bin + 1.;
		}
		last = cell;
	}
	stay = end < made ? end : made;
	if (last && at < stay) {
		part = rest_of(last);
		put(arg, at, stay, &part);
	}
}

/* ---- columns ---- */

/* @scale: columns a bin; @shift: the column of bin 0 */
struct columns {
	struct pixel *pixel;
	unsigned int count;
	double scale;
	double shift;
	bool cpu;
	bool counter;
};

static void add_value(struct pixel *pixel, const struct track_part *part)
{
	if (part->state != STATE_RUNNING)
		return;
	if (!pixel->has_value || part->least < pixel->least)
		pixel->least = part->least;
	if (!pixel->has_value || part->most > pixel->most)
		pixel->most = part->most;
	pixel->has_value = true;
}

static void add_part(struct pixel *pixel, const struct track_part *part, double over, bool cpu)
{
	const float weight = (float)over * (cpu ? part->share[SHARE_RUNNING] + 1 : SHARE_ALL);

	pixel->seen += (float)over;
	for (unsigned int i = 0; i < SHARES; i++)
		pixel->share[i] += (float)over * part->share[i] / SHARE_ALL;
	if (weight > pixel->top_weight || (!pixel->top && part->top)) {
		pixel->top_weight = weight;
		pixel->top = part->top;
	}
	if (part->inner && over > pixel->inner_weight) {
		pixel->inner_weight = (float)over;
		pixel->inner = part->inner;
	}
	pixel->state = part->state;
	pixel->flags |= part->flags;
}

static void on_part(void *arg, double from, double to, const struct track_part *part)
{
	const struct columns *columns = arg;
	const double a = from * columns->scale + columns->shift;
	const double b = to * columns->scale + columns->shift;
	double left, right;

	for (unsigned int x = a > 0 ? (unsigned int)a : 0; x < columns->count && x < b; x++) {
		left = a > x ? a : x;
		right = b < x + 1. ? b : x + 1.;
		if (right <= left)
			continue;
		if (columns->counter)
			add_value(&columns->pixel[x], part);
		else
			add_part(&columns->pixel[x], part, right - left, columns->cpu);
	}
}

void tracks_pixels(const struct tracks *tracks, uint32_t key, uint64_t from, uint64_t to,
		   unsigned int count, struct pixel *pixel)
{
	const struct picture *picture = &tracks->picture;
	const double begin = (double)view_stamp(picture->view, from);
	const double end = (double)view_stamp(picture->view, to);
	struct columns columns = {
		.pixel = pixel,
		.count = count,
		.cpu = key & TRACK_CPU,
		.counter = track_is_counter(key),
	};

	memset(pixel, 0, count * sizeof(*pixel));
	if (end <= begin)
		return;
	columns.scale = (double)picture->part.bin_cycles * count / (end - begin);
	columns.shift = ((double)picture->part.from - begin) * count / (end - begin);
	each_part(tracks, key, begin, end, on_part, &columns);
}

struct moment_of_part {
	double bin;
	bool found;
	struct track_part part;
};

static void on_part_at(void *arg, double from, double to, const struct track_part *part)
{
	struct moment_of_part *at = arg;

	if (at->bin < from || at->bin >= to)
		return;
	at->found = true;
	at->part = *part;
}

bool tracks_at(const struct tracks *tracks, uint32_t key, uint64_t ns, struct track_part *part)
{
	const struct level_part *level = &tracks->picture.part;
	struct moment_of_part at = { 0 };
	double stamp;

	if (!tracks->cells || !level->bin_cycles)
		return false;
	stamp = (double)view_stamp(tracks->picture.view, ns);
	at.bin = (stamp - (double)level->from) / (double)level->bin_cycles;
	each_part(tracks, key, stamp, stamp + 1, on_part_at, &at);
	*part = at.part;
	return at.found;
}

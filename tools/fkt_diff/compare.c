// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether what takes time differs between two sides, and by how much.
 *
 * Where both sides have several recordings, what differs between recordings of one side is noise.
 * Where there is one, it has to tell by itself: how much its parts differ is noise, so that a phase
 * in which all calls are slow is not taken for so many calls that are slow independently.
 */
#include <math.h>
#include <stdlib.h>

#include "diff.h"

/* What comes less often, or in fewer parts, is compared duration by duration. */
#define OFTEN	       64
#define OFTEN_PART     (PARTS / 2)

/* Durations are whole nanoseconds. */
#define DURATION_GRAIN 1

/* A duration that stands for so many. */
struct weighed {
	double value;
	double weight;
};

/* What is looked at of an item, on one side. */
struct sample {
	double *value;
	size_t count;
};

static int compare_values(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int compare_weighed(const void *a, const void *b)
{
	return compare_values(&((const struct weighed *)a)->value,
			      &((const struct weighed *)b)->value);
}

/* ---- numbers of a side ---- */

static double percentile(const struct weighed *values, size_t count, double all, double part)
{
	double below = 0;

	for (size_t i = 0; i < count; i++) {
		below += values[i].weight;
		if (below >= part * all)
			return values[i].value;
	}
	return count ? values[count - 1].value : NAN;
}

static bool set_percentiles(struct numbers *numbers, const struct item *item,
			    const struct recording *recording, unsigned int recordings,
			    enum side side)
{
	const struct durations *in;
	struct weighed *values;
	size_t count = 0;
	double all = 0;

	for (unsigned int r = 0; r < recordings; r++)
		if (recording[r].side == side && item->in[r])
			count += item->in[r]->kept;
	values = calloc(count + 1, sizeof(*values));
	if (!values)
		return false;
	count = 0;
	for (unsigned int r = 0; r < recordings; r++) {
		in = item->in[r];
		for (uint32_t i = 0; recording[r].side == side && in && i < in->kept; i++)
			values[count++] =
				(struct weighed){ .value = (double)in->value[i],
						  .weight = (double)in->count / in->kept };
		all += recording[r].side == side && in ? (double)in->count : 0;
	}
	qsort(values, count, sizeof(*values), compare_weighed);
	numbers->p50 = percentile(values, count, all, 0.5);
	numbers->p99 = percentile(values, count, all, 0.99);
	free(values);
	return true;
}

static bool set_numbers(struct numbers *numbers, const struct item *item,
			const struct recording *recording, unsigned int recordings, enum side side)
{
	double count = 0, sum = 0, unit = 0, time = 0;

	for (unsigned int r = 0; r < recordings; r++) {
		if (recording[r].side != side)
			continue;
		unit += recording[r].unit;
		time += recording[r].ns * recording[r].cpus;
		if (item->in[r]) {
			count += (double)item->in[r]->count;
			sum += item->in[r]->sum;
		}
	}
	*numbers = (struct numbers){
		.count = count / unit,
		.total = sum / unit,
		.share = time > 0 ? sum / time : 0,
		.mean = count > 0 ? sum / count : NAN,
	};
	return set_percentiles(numbers, item, recording, recordings, side);
}

/* ---- by chance? ---- */

/* How often it came on a side, and in how many of its parts. */
static void how_often(const struct item *item, const struct recording *recording,
		      unsigned int recordings, enum side side, uint64_t *count, unsigned int *parts)
{
	*count = *parts = 0;
	for (unsigned int r = 0; r < recordings; r++) {
		if (recording[r].side != side || !item->in[r])
			continue;
		*count += item->in[r]->count;
		for (unsigned int i = 0; i < PARTS; i++)
			*parts += item->in[r]->part_count[i] != 0;
	}
}

static bool is_often(const struct item *item, const struct recording *recording,
		     unsigned int recordings)
{
	uint64_t count;
	unsigned int parts;

	for (enum side side = BEFORE; side < SIDES; side++) {
		how_often(item, recording, recordings, side, &count, &parts);
		if (count < OFTEN || parts < OFTEN_PART)
			return false;
	}
	return true;
}

/* The mean of each of its parts, or all durations; in ascending order. */
static bool take_sample(struct sample *sample, const struct item *item,
			const struct recording *recording, unsigned int recordings, enum side side,
			bool parts)
{
	const struct durations *in;
	size_t room = 1;

	for (unsigned int r = 0; r < recordings; r++)
		if (recording[r].side == side && item->in[r])
			room += parts ? PARTS : item->in[r]->kept;
	sample->count = 0;
	sample->value = calloc(room, sizeof(*sample->value));
	if (!sample->value)
		return false;
	for (unsigned int r = 0; r < recordings; r++) {
		in = item->in[r];
		if (recording[r].side != side || !in)
			continue;
		for (unsigned int i = 0; parts && i < PARTS; i++)
			if (in->part_count[i])
				sample->value[sample->count++] =
					in->part_sum[i] / in->part_count[i];
		for (uint32_t i = 0; !parts && i < in->kept; i++)
			sample->value[sample->count++] = (double)in->value[i];
	}
	qsort(sample->value, sample->count, sizeof(*sample->value), compare_values);
	return true;
}

/* A number of each recording of a side: how often, a unit, or how long on the average. */
static size_t of_recordings(double value[RECORDINGS_MAX], const struct item *item,
			    const struct recording *recording, unsigned int recordings,
			    enum side side, bool counts)
{
	const struct durations *in;
	size_t count = 0;

	for (unsigned int r = 0; r < recordings; r++) {
		in = item->in[r];
		if (recording[r].side != side)
			continue;
		if (counts)
			value[count++] = in ? (double)in->count / recording[r].unit : 0;
		else if (in)
			value[count++] = in->sum / (double)in->count;
	}
	return count;
}

/* One call more or less, in a number of calls a unit. */
static double grain_of_counts(const struct recording *recording, unsigned int recordings)
{
	double sum = 0;

	for (unsigned int r = 0; r < recordings; r++)
		sum += 1 / (recording[r].unit * recording[r].unit);
	return sqrt(sum / recordings);
}

static double mean_of(const double *value, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += value[i];
	return count ? sum / (double)count : NAN;
}

/* By how much the counts of the parts vary more than if each had come independently. */
static double dispersion(const struct item *item, const struct recording *recording,
			 unsigned int recordings)
{
	double largest = 1, mean, variance;

	for (unsigned int r = 0; r < recordings; r++) {
		if (!item->in[r] || !recording[r].unit)
			continue;
		mean = (double)item->in[r]->count / PARTS;
		variance = 0;
		for (unsigned int i = 0; i < PARTS; i++)
			variance += pow(item->in[r]->part_count[i] - mean, 2) / (PARTS - 1);
		largest = fmax(largest, variance / mean);
	}
	return largest;
}

static double chance_of_counts(const struct item *item, const struct recording *recording,
			       unsigned int recordings)
{
	double count[SIDES] = { 0 }, unit[SIDES] = { 0 }, variance = 0, distance;

	for (unsigned int r = 0; r < recordings; r++) {
		unit[recording[r].side] += recording[r].unit;
		if (item->in[r])
			count[recording[r].side] += (double)item->in[r]->count;
	}
	for (enum side side = BEFORE; side < SIDES; side++)
		variance += count[side] / (unit[side] * unit[side]);
	variance *= dispersion(item, recording, recordings);
	distance = fabs(count[AFTER] / unit[AFTER] - count[BEFORE] / unit[BEFORE]);
	return variance > 0 ? erfc(distance / sqrt(variance) / M_SQRT2) : 1;
}

/* False without memory. */
static bool set_chances(struct result *result, const struct recording *recording,
			unsigned int recordings, bool *larger)
{
	const struct item *item = result->item;
	double a[RECORDINGS_MAX], b[RECORDINGS_MAX];
	size_t a_count = of_recordings(a, item, recording, recordings, BEFORE, true);
	size_t b_count = of_recordings(b, item, recording, recordings, AFTER, true);
	const bool several = a_count > 1 && b_count > 1;
	struct sample before = { 0 }, after = { 0 };
	bool parts, done = true;

	result->count_chance = several ? chance_of_means(a, a_count, b, b_count,
							 grain_of_counts(recording, recordings))
				       : chance_of_counts(item, recording, recordings);
	if (several) {
		a_count = of_recordings(a, item, recording, recordings, BEFORE, false);
		b_count = of_recordings(b, item, recording, recordings, AFTER, false);
		result->duration_chance = chance_of_means(a, a_count, b, b_count, DURATION_GRAIN);
		/* Of what was tested: a recording with many of them counts more in all of them. */
		*larger = mean_of(b, b_count) > mean_of(a, a_count);
		return true;
	}
	parts = is_often(item, recording, recordings);
	done = take_sample(&before, item, recording, recordings, BEFORE, parts) &&
	       take_sample(&after, item, recording, recordings, AFTER, parts);
	if (done)
		result->duration_chance = chance_of_ranks(before.value, before.count, after.value,
							  after.count, larger);
	free(before.value);
	free(after.value);
	return done;
}

/*
 * The largest chance that is taken for a difference. Of those that are, about a part of level are
 * by chance, however many were looked at (Benjamini and Hochberg's way).
 */
static double find_limit(const struct result *result, size_t results, double level)
{
	double *chance = calloc(2 * results + 1, sizeof(*chance)), limit = -1;
	size_t count = 0;

	if (!chance)
		return NAN;
	for (size_t i = 0; i < results; i++) {
		chance[count++] = result[i].duration_chance;
		chance[count++] = result[i].count_chance;
	}
	qsort(chance, count, sizeof(*chance), compare_values);
	for (size_t i = 0; i < count; i++)
		if (chance[i] <= level * (double)(i + 1) / (double)count)
			limit = chance[i];
	free(chance);
	return limit;
}

/* ---- verdicts ---- */

static bool has_changed(double before, double after, bool larger, double least)
{
	return larger ? after >= before * (1 + least) : after <= before * (1 - least);
}

static enum verdict judge(const struct result *result, bool larger, double limit, double least)
{
	const struct numbers *before = &result->side[BEFORE], *after = &result->side[AFTER];

	if (result->duration_chance <= limit &&
	    has_changed(before->mean, after->mean, larger, least))
		return larger ? VERDICT_SLOWER : VERDICT_FASTER;
	if (result->count_chance > limit)
		return VERDICT_NONE;
	if (!(before->count > 0))
		return VERDICT_NEW;
	if (!(after->count > 0))
		return VERDICT_GONE;
	larger = after->count > before->count;
	if (!has_changed(before->count, after->count, larger, least))
		return VERDICT_NONE;
	return larger ? VERDICT_MORE : VERDICT_FEWER;
}

/* What changed most, first. */
static int compare_results(const void *a, const void *b)
{
	const struct result *x = a, *y = b;
	const double dx = fabs(x->side[AFTER].total - x->side[BEFORE].total);
	const double dy = fabs(y->side[AFTER].total - y->side[BEFORE].total);

	if (x->item->kind != y->item->kind)
		return x->item->kind < y->item->kind ? -1 : 1;
	return dx > dy ? -1 : dx < dy;
}

struct result *compare(const struct items *items, const struct recording *recording,
		       unsigned int recordings, const struct limits *limits)
{
	struct result *result = calloc(items->count + 1ul, sizeof(*result));
	bool *larger = calloc(items->count + 1ul, sizeof(*larger));
	double limit = NAN;
	bool done = result && larger;

	for (uint32_t i = 0; i < items->count && done; i++) {
		result[i].item = &items->one[i];
		for (enum side side = BEFORE; side < SIDES && done; side++)
			done = set_numbers(&result[i].side[side], result[i].item, recording,
					   recordings, side);
		done = done && set_chances(&result[i], recording, recordings, &larger[i]);
	}
	if (done)
		limit = find_limit(result, items->count, limits->level);
	if (isnan(limit)) {
		free(result);
		free(larger);
		return NULL;
	}
	for (uint32_t i = 0; i < items->count; i++)
		result[i].verdict = judge(&result[i], larger[i], limit, limits->least);
	free(larger);
	qsort(result, items->count, sizeof(*result), compare_results);
	return result;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Log-linear histograms.
 *
 * Values less than 8 have a bucket each; from there on each power of two has 8.
 */
#include "histogram.h"

#define PARTS	  FKT_HISTOGRAM_PARTS
#define PART_BITS 3

_Static_assert(PARTS == 1 << PART_BITS, "the same");

static unsigned int bucket_of(uint64_t value)
{
	unsigned int power;

	if (value < PARTS)
		return (unsigned int)value;
	power = 63 - (unsigned int)__builtin_clzll(value);
	return (power - PART_BITS + 1) * PARTS +
	       (unsigned int)(value >> (power - PART_BITS) & (PARTS - 1));
}

/* The smallest value of a bucket. */
static uint64_t bucket_low(unsigned int bucket)
{
	unsigned int shift = bucket / PARTS;

	if (!shift)
		return bucket;
	return (uint64_t)(PARTS + bucket % PARTS) << (shift - 1);
}

static uint64_t bucket_width(unsigned int bucket)
{
	return bucket < PARTS ? 1 : 1ull << (bucket / PARTS - 1);
}

void fkt_histogram_add(struct fkt_histogram *histogram, uint64_t value)
{
	uint32_t *bucket = &histogram->bucket[bucket_of(value)];

	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->sum += value;
	if (*bucket < UINT32_MAX)
		++*bucket;
}

uint64_t fkt_histogram_percentile(const struct fkt_histogram *histogram, double percent)
{
	/* Rounded up; what is a whole number may have come out a little more. */
	double exact = (double)histogram->count * percent / 100.0 * (1 - 1e-12);
	uint64_t rank = (uint64_t)exact, value;

	rank += (double)rank < exact;
	if (!histogram->count)
		return 0;
	if (rank < 1)
		rank = 1;
	if (rank >= histogram->count)
		return histogram->max;
	for (unsigned int i = 0; i < FKT_HISTOGRAM_BUCKETS; i++) {
		if (histogram->bucket[i] < rank) {
			rank -= histogram->bucket[i];
			continue;
		}
		value = bucket_low(i) + bucket_width(i) / 2;
		if (value < histogram->min)
			value = histogram->min;
		return value < histogram->max ? value : histogram->max;
	}
	return histogram->max;
}

uint64_t fkt_histogram_power(const struct fkt_histogram *histogram, unsigned int power)
{
	uint64_t count = 0;
	unsigned int first, last;

	if (!power)
		return histogram->bucket[0];
	first = bucket_of(1ull << (power - 1));
	last = power < 64 ? bucket_of(1ull << power) : FKT_HISTOGRAM_BUCKETS;
	for (unsigned int i = first; i < last; i++)
		count += histogram->bucket[i];
	return count;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How values are distributed, in bounded memory.
 *
 * A log-linear histogram: each power of two is cut into equal parts, so that a percentile is off by
 * no more than 1/16 of its value.
 */
#ifndef FKT_HISTOGRAM_H
#define FKT_HISTOGRAM_H

#include <stdint.h>

#define FKT_HISTOGRAM_PARTS   8 /* of each power of two, a power of two itself */
#define FKT_HISTOGRAM_BUCKETS ((64 - 3 + 1) * FKT_HISTOGRAM_PARTS)

/**
 * struct fkt_histogram - values, zeroed to begin with
 * @count: how many
 * @sum: of all
 * @min: the smallest, if there is any
 * @max: the largest
 * @bucket: how many fell into each part; they stay at their largest number
 */
struct fkt_histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint32_t bucket[FKT_HISTOGRAM_BUCKETS];
};

/**
 * fkt_histogram_add() - take in a value
 * @histogram: where
 * @value: the value
 */
void fkt_histogram_add(struct fkt_histogram *histogram, uint64_t value);

/**
 * fkt_histogram_percentile() - the value below which a part of all values are
 * @histogram: the values
 * @percent: the part, 0 … 100
 *
 * Return: the value, 0 when there is none.
 */
uint64_t fkt_histogram_percentile(const struct fkt_histogram *histogram, double percent);

/**
 * fkt_histogram_power() - how many values are between powers of two
 * @histogram: the values
 * @power: 0 for values of 0, else from 2^(@power - 1) to less than 2^@power; up to 64
 */
uint64_t fkt_histogram_power(const struct fkt_histogram *histogram, unsigned int power);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* How likely differences are by chance: tests, of two sides each. */
#include <math.h>

#include "diff.h"

/* Of fewer values on a side, ranks do not tell. */
#define RANKS_LEAST  4
/* The continued fraction below has settled long before. */
#define FRACTION_MAX 300

double chance_of_ranks(const double *a, size_t a_count, const double *b, size_t b_count,
		       bool *larger)
{
	const double na = (double)a_count, nb = (double)b_count, n = na + nb;
	double ranks = 0, ties = 0, at = 0, mean, deviation, distance;
	size_t i = 0, j = 0;

	*larger = false;
	if (a_count < RANKS_LEAST || b_count < RANKS_LEAST)
		return 1;
	while (i < a_count || j < b_count) {
		const double value = j == b_count || (i < a_count && a[i] < b[j]) ? a[i] : b[j];
		double in_a = 0, in_b = 0;

		for (; i < a_count && a[i] == value; i++)
			in_a++;
		for (; j < b_count && b[j] == value; j++)
			in_b++;
		/* All that are the same have the rank in their middle. */
		ranks += in_b * (at + (in_a + in_b + 1) / 2);
		ties += pow(in_a + in_b, 3) - (in_a + in_b);
		at += in_a + in_b;
	}
	mean = nb * (n + 1) / 2;
	deviation = sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
	*larger = ranks > mean;
	if (!(deviation > 0))
		return 1;
	distance = fabs(ranks - mean) - 0.5;
	return distance > 0 ? erfc(distance / deviation / M_SQRT2) : 1;
}

/* The continued fraction of the incomplete beta function (Lentz's method). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h, step, numerator;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m <= FRACTION_MAX; m++) {
		numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + numerator * d;
		c = 1 + numerator / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + numerator * d;
		c = 1 + numerator / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return h;
}

/* The regularized incomplete beta function. */
static double beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double mean_of(const double *value, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += value[i];
	return sum / (double)count;
}

/* The variance of their mean, with the least one that values that are rounded to @grain have. */
static double variance_of(const double *value, size_t count, double mean, double grain)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (value[i] - mean) * (value[i] - mean);
	return fmax(sum / (double)(count - 1), grain * grain / 12) / (double)count;
}

double chance_of_means(const double *a, size_t a_count, const double *b, size_t b_count,
		       double grain)
{
	double a_mean, b_mean, a_part, b_part, t, freedom;

	if (a_count < 2 || b_count < 2)
		return 1;
	a_mean = mean_of(a, a_count);
	b_mean = mean_of(b, b_count);
	a_part = variance_of(a, a_count, a_mean, grain);
	b_part = variance_of(b, b_count, b_mean, grain);
	if (!(a_part + b_part > 0))
		return a_mean == b_mean;
	t = (b_mean - a_mean) / sqrt(a_part + b_part);
	freedom =
		(a_part + b_part) * (a_part + b_part) /
		(a_part * a_part / (double)(a_count - 1) + b_part * b_part / (double)(b_count - 1));
	return beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

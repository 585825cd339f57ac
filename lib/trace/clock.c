// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cycles to nanoseconds: the line through the trace's first and last clock pair, or, when it has
 * only one of them, the frequency that the kernel gave for the counter.
 */
#include <ctype.h>

#include "internal.h"
#include "put.h"

/* (a * b) >> 64 */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)(((unsigned __int128)a * b) >> 64);
#else
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
	uint64_t low = a0 * b1 + (uint32_t)middle;

	return a1 * b1 + (middle >> 32) + (low >> 32);
#endif
}

/* numerator * 2^64 / denominator, for a fraction less than 1 */
static uint64_t fraction(uint64_t numerator, uint64_t denominator)
{
	uint64_t quotient = 0;

	for (int bit = 0; bit < 64; bit++) {
		bool carry = numerator >> 63;

		numerator <<= 1;
		quotient <<= 1;
		if (carry || numerator >= denominator) {
			numerator -= denominator;
			quotient |= 1;
		}
	}
	return quotient;
}

static void set_rate(struct fkt_rate *rate, uint64_t ns, uint64_t cycles)
{
	rate->whole = ns / cycles;
	rate->part = fraction(ns % cycles, cycles);
}

/* To the nearest nanosecond. */
static int64_t scale(const struct fkt_rate *rate, int64_t cycles)
{
	uint64_t positive = cycles < 0 ? -(uint64_t)cycles : (uint64_t)cycles;
	uint64_t ns = positive * rate->whole + multiply_high(positive, rate->part) +
		      (positive * rate->part >> 63);

	return cycles < 0 ? (int64_t)-ns : (int64_t)ns;
}

/* The kernel's idea of the frequency is some parts in a thousand off: this is a damaged pair. */
static bool is_near(const struct fkt_rate *rate, const struct fkt_rate *known)
{
	const int64_t cycles = 1ll << 32;
	int64_t ns = scale(rate, cycles), known_ns = scale(known, cycles);

	return ns > known_ns / 2 && ns / 2 < known_ns;
}

/* The line through both pairs, when it can be one; @real: that of CLOCK_REALTIME. */
static bool rate_of_pairs(const struct fkt_trace *trace, bool real, struct fkt_rate *rate)
{
	const struct fkt_clock_pair *a = &trace->clock[0], *b = &trace->clock[1];
	const char *info = fkt_info(trace, "tsc_khz");
	struct fkt_rate known;
	uint64_t ns, khz;

	if (fkt_clocks(trace) < 2)
		return false;
	ns = real ? b->real_ns - a->real_ns : b->mono_ns - a->mono_ns;
	if (b->cycles <= a->cycles || !ns || ns > INT64_MAX)
		return false;
	set_rate(rate, ns, b->cycles - a->cycles);
	/* Between two moments that are close together it says little. */
	if (ns < FKT_NS_PER_MS || !info || !fkt_parse_u64(info, &khz) || !khz)
		return true;
	set_rate(&known, FKT_NS_PER_MS, khz);
	return is_near(rate, &known);
}

bool fkt_clocks_agree(const struct fkt_trace *trace)
{
	struct fkt_rate rate;

	return rate_of_pairs(trace, false, &rate);
}

void fkt_set_clock(struct fkt_trace *trace)
{
	const char *info = fkt_info(trace, "tsc_khz");
	uint64_t khz;

	trace->has_rate = rate_of_pairs(trace, false, &trace->rate);
	if (!trace->has_rate && info && fkt_parse_u64(info, &khz) && khz) {
		set_rate(&trace->rate, FKT_NS_PER_MS, khz);
		trace->has_rate = true;
		if (fkt_clocks(trace) == 2)
			fkt_warn(trace, "its two readings of the clock can't both be right: times "
					"are by the frequency that the kernel gave");
	}
	if (!rate_of_pairs(trace, true, &trace->wall_rate))
		trace->wall_rate = trace->rate;
}

bool fkt_has_clock(const struct fkt_trace *trace)
{
	return trace->has_rate;
}

int64_t fkt_cycles_to_ns(const struct fkt_trace *trace, int64_t cycles)
{
	return scale(&trace->rate, cycles);
}

uint64_t fkt_ns_to_cycles(const struct fkt_trace *trace, uint64_t ns)
{
	const struct fkt_rate *rate = &trace->rate;
	uint64_t cycles = 0, next;

	/* The largest number that takes less. */
	for (uint64_t bit = 1ull << 62; bit; bit >>= 1) {
		next = cycles | bit;
		if (multiply_high(next, rate->whole) || (uint64_t)scale(rate, (int64_t)next) >= ns)
			continue;
		cycles = next;
	}
	return ns ? cycles + 1 : 0;
}

#define SECOND 1000000000ull

bool fkt_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", FKT_NS_PER_SECOND },
		{ "s", FKT_NS_PER_SECOND },
		{ "ms", FKT_NS_PER_MS },
		{ "us", FKT_NS_PER_US },
		{ "ns", 1 },
		{ "m", 60ull * FKT_NS_PER_SECOND },
		{ "h", 3600ull * FKT_NS_PER_SECOND },
	};
	uint64_t whole = 0, part = 0, scale = 1;
	bool any = false;

	for (; isdigit((unsigned char)*text); text++, any = true) {
		if (whole > INT64_MAX / 20)
			return false;
		whole = whole * 10 + (uint64_t)(*text - '0');
	}
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++, any = true) {
			/* Less than a nanosecond counts for nothing. */
			if (scale == FKT_NS_PER_SECOND)
				continue;
			part = part * 10 + (uint64_t)(*text - '0');
			scale *= 10;
		}
	for (size_t i = 0; any && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name))
			continue;
		if (whole > INT64_MAX / 2 / units[i].ns)
			return false;
		/*
		 * Seconds of a unit first: a part of a minute or an hour has more digits than
		 * there is room for.
		 */
		*ns = whole * units[i].ns + part * (units[i].ns % SECOND) / scale +
		      part * (SECOND / scale) * (units[i].ns / SECOND);
		return true;
	}
	return false;
}

bool fkt_has_wall_clock(const struct fkt_trace *trace)
{
	return trace->has_rate && fkt_clocks(trace) && trace->clock[0].real_ns;
}

int64_t fkt_wall_ns(const struct fkt_trace *trace, uint64_t stamp)
{
	uint64_t behind =
		(uint64_t)scale(&trace->wall_rate, (int64_t)(stamp - trace->clock[0].cycles));

	return (int64_t)(trace->clock[0].real_ns + behind);
}

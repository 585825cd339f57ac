// SPDX-License-Identifier: GPL-2.0-or-later
/* The stamp counter, and where it stands on the system's clocks. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <fkt/trace.h>

#include "arch.h"
#include "record.h"

#define NS_PER_SECOND  1000000000ull
#define NS_PER_MS      1000000ull

/* Enough rounds that one of them is not interrupted. */
#define ROUNDS	       16

/* Over this time, reading the clocks to 100 ns gives the frequency to 5 parts in a million. */
#define CALIBRATION_MS 20

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

/* A clock is read between two readings of another one; the closest two of all rounds count. */
struct fkt_clock_pair clock_pair(void)
{
	struct fkt_clock_pair pair = { 0 };
	uint64_t best_cycles = UINT64_MAX, best_ns = UINT64_MAX;
	int64_t real_offset_ns = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = arch.cycles();
		uint64_t mono_ns = now_ns(CLOCK_BOOTTIME);
		uint64_t after = arch.cycles();
		uint64_t real_ns = now_ns(CLOCK_REALTIME);
		uint64_t again_ns = now_ns(CLOCK_BOOTTIME);

		if (after - before < best_cycles) {
			best_cycles = after - before;
			pair.cycles = before + (after - before) / 2;
			pair.mono_ns = mono_ns;
		}
		if (again_ns - mono_ns < best_ns) {
			best_ns = again_ns - mono_ns;
			real_offset_ns = (int64_t)(real_ns - mono_ns - best_ns / 2);
		}
	}
	pair.real_ns = pair.mono_ns + (uint64_t)real_offset_ns;
	return pair;
}

uint64_t clock_ahead(int device)
{
	struct fkt_status status = { .size = sizeof(status) };

	return ioctl(device, FKT_STATUS, &status) ? 0 : status.clock_ahead;
}

uint64_t clock_khz(const struct fkt_clock_pair *since)
{
	struct fkt_clock_pair pair;
	uint64_t passed_ns = now_ns(CLOCK_BOOTTIME) - since->mono_ns;

	if (passed_ns < CALIBRATION_MS * NS_PER_MS) {
		struct timespec rest = { .tv_nsec = CALIBRATION_MS * NS_PER_MS - passed_ns };

		nanosleep(&rest, NULL);
	}
	pair = clock_pair();
	passed_ns = pair.mono_ns - since->mono_ns;
	return (uint64_t)((double)(pair.cycles - since->cycles) * NS_PER_MS / (double)passed_ns +
			  0.5);
}

bool clock_parse_ns(const char *text, uint64_t *ns)
{
	const size_t length = strlen(text);

	return length && isalpha((unsigned char)text[length - 1]) && fkt_parse_time(text, ns) &&
	       *ns < CLOCK_NS_MAX;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lanes that overwrite, step by step: what must not bring one to a standstill. An interrupt is what
 * is recorded between a slot's being reserved and its being committed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

#define PAGES 32

static struct fkt_ring_entry ring[2 * PAGES];
static u8 memory[PAGES][FKT_PAGE_BYTES] __attribute__((aligned(FKT_PAGE_BYTES)));
static const u8 id[FKT_ID_BYTES] = { 1, 2, 3 };
static int failures;

/* What lane.c and lane_user.h ask for. */
__thread u32 fkt_user_cpu, fkt_user_pid;

void fkt_lane_kick(struct fkt_lane *lane)
{
	(void)lane;
}

void fkt_lane_full(struct fkt_lane *lane, u64 now)
{
	(void)lane;
	(void)now;
}

static void check(const char *what, bool holds)
{
	printf("%s: %s\n", holds ? "ok" : "FAILED", what);
	failures += !holds;
}

static void begin(struct fkt_lane *lane, u32 pages)
{
	fkt_lane_init(lane, ring, 2 * PAGES, 0, 0, 0, id);
	for (u32 i = 0; i < pages; i++)
		fkt_lane_queue(lane, memory[i], NULL);
}

static void record(struct fkt_lane *lane, u32 count)
{
	static const u64 args[3] = { 1, 2, 3 };

	while (count--)
		fkt_lane_record(lane, FKT_TAG(1, 3, 0), 3, args, false);
}

static void reserve(struct fkt_lane *lane, struct fkt_slot *slot)
{
	const u64 tag = FKT_TAG(1, 3, 0);

	if (!fkt_reserve(lane, &tag, 0, 3, false, slot) &&
	    !fkt_reserve_slow(lane, tag, false, slot))
		check("there is room for a slot", false);
}

/* Whether events come in again, all of them, and the oldest go. */
static void goes_on(struct fkt_lane *lane, const char *what)
{
	const u64 lost = lane->lost, overwritten = lane->overwritten;

	record(lane, 100000);
	check(what, lane->lost == lost && lane->overwritten > overwritten);
}

static void interrupted_for_a_whole_ring(void)
{
	struct fkt_lane lane;
	struct fkt_slot slot;

	begin(&lane, PAGES);
	record(&lane, 100000);
	check("a ring overwrites", !lane.lost && lane.overwritten);
	reserve(&lane, &slot);
	while (!lane.lost)
		record(&lane, 1);
	fkt_commit(&slot, false);
	goes_on(&lane,
		"it does so after all its pages were full behind a slot that was not committed");
}

/* fkt_lane_release() comes while a probe that it has interrupted is overwriting. */
static void released_while_overwriting(void)
{
	struct fkt_lane lane;
	void *buf;

	begin(&lane, PAGES);
	record(&lane, 100000);
	check("it is held", fkt_lane_hold(&lane));
	while (!lane.lost)
		record(&lane, 1);
	check("a lane that is held overwrites nothing", fkt_lane_queued(&lane) == 0);
	lane.overwriting = true;
	check("nor is it held twice at a time", !fkt_lane_hold(&lane));
	fkt_lane_release(&lane);
	lane.overwriting = false;
	goes_on(&lane, "it overwrites when it was let go without an empty page");

	check("it is held again", fkt_lane_hold(&lane));
	fkt_lane_fence(&lane, false);
	while (fkt_lane_before_fence(&lane) && fkt_lane_take(&lane, &buf))
		;
	check("all that it had was taken", !fkt_lane_before_fence(&lane));
	fkt_lane_restart(&lane, true, 0);
	check("it begins anew at the fence",
	      !lane.overwritten && !lane.taken && lane.overwritten_end == lane.fence_end);
}

int main(void)
{
	interrupted_for_a_whole_ring();
	released_while_overwriting();
	return failures != 0;
}

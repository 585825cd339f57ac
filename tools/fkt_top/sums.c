// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "top.h"

#define THREADS_FIRST 256

void interval_free(struct interval *interval)
{
	free(interval->row);
	free(interval->thread);
	tally_free(interval->waits);
	tally_free(interval->stacks);
	*interval = (struct interval){ 0 };
}

bool whole_begin(struct whole *whole)
{
	whole->row = calloc(FKT_ROWS, sizeof(*whole->row));
	whole->waits = tally_new();
	whole->stacks = tally_new();
	return whole->row && whole->waits && whole->stacks;
}

void whole_end(struct whole *whole)
{
	free(whole->row);
	free(whole->thread);
	tally_free(whole->waits);
	tally_free(whole->stacks);
}

static struct top_thread *thread_of(struct whole *whole, uint32_t id)
{
	uint32_t room = whole->threads ?: THREADS_FIRST;
	struct top_thread *larger;

	if (id >= whole->threads) {
		while (room <= id)
			room *= 2;
		larger = reallocarray(whole->thread, room, sizeof(*larger));
		if (!larger)
			return NULL;
		memset(larger + whole->threads, 0, (room - whole->threads) * sizeof(*larger));
		whole->thread = larger;
		whole->threads = room;
	}
	return &whole->thread[id];
}

const struct top_thread *whole_thread(const struct whole *whole, uint32_t id)
{
	static const struct top_thread none;

	return id < whole->threads ? &whole->thread[id] : &none;
}

static void add_tallied(struct tallied *sum, const struct tallied *one)
{
	sum->count += one->ended;
	sum->off += one->off;
	sum->ready += one->ready;
	if (one->max > sum->max)
		sum->max = one->max;
}

static bool add_tally(struct tally *to, struct tally *from)
{
	struct tallied *sum;

	for (size_t i = 0; i < tally_count(from); i++) {
		sum = tally_get(to, tally_at(from, i)->key);
		if (!sum)
			return false;
		add_tallied(sum, tally_at(from, i));
	}
	add_tallied(tally_others(to), tally_others(from));
	return true;
}

bool whole_add(struct whole *whole, const struct interval *interval)
{
	const struct fkt_thread_sums *sums;
	struct top_thread *thread;

	whole->events += interval->events;
	whole->lost += interval->lost;
	whole->duration += interval->duration;
	whole->time += interval->duration * interval->cpus;
	for (size_t i = 0; i < interval->rows; i++) {
		struct top_row *row = &whole->row[interval->row[i].row];

		row->own += interval->row[i].own;
		row->calls += interval->row[i].calls + interval->row[i].ended;
	}
	for (size_t i = 0; i < interval->threads; i++) {
		sums = &interval->thread[i];
		thread = thread_of(whole, sums->id);
		if (!thread)
			return false;
		thread->cycles += sums->cycles;
		thread->waiting += sums->waiting;
		for (unsigned int s = 0; s < FKT_SLEEPS; s++)
			thread->sleeping += sums->sleeping[s];
		thread->switches += sums->switches;
	}
	return add_tally(whole->waits, interval->waits) &&
	       add_tally(whole->stacks, interval->stacks);
}

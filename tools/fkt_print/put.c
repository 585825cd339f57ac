// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that several views show. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

void put_thread(const struct fkt_process *process, unsigned int width, char text[THREAD_BYTES])
{
	char name[FKT_THREAD_BYTES], pid[NUMBER_BYTES] = "";
	const char *cut = "";
	unsigned int room, have;
	size_t bytes;

	fkt_thread_name(process, name);
	bytes = strlen(name);
	if (process->tid && process->tid != FKT_PID_UNKNOWN)
		snprintf(pid, sizeof(pid), "[%" PRIu32 "]", process->tid);
	room = width - (unsigned int)strlen(pid);
	have = fkt_width(name, bytes);
	if (have > room) {
		cut = "~";
		bytes = fkt_fitting(name, bytes, --room);
		have = fkt_width(name, bytes);
	}
	snprintf(text, THREAD_BYTES, "%.*s%s%s%*s", (int)bytes, name, cut, pid, (int)(room - have),
		 "");
}

void put_row_code(const struct fkt_trace *trace, uint32_t row, char text[CODE_BYTES])
{
	uint32_t code = fkt_row_code(trace, row);

	if (code < FKT_SLOT_CODES)
		snprintf(text, CODE_BYTES, "%04" PRIx32, code);
	else
		*text = '\0';
}

void put_spread(const struct fkt_histogram *values, union fkt_cell cells[SPREAD])
{
	cells[0].number = values->min;
	cells[1].number = fkt_histogram_percentile(values, 50);
	cells[2].number = fkt_histogram_percentile(values, 90);
	cells[3].number = fkt_histogram_percentile(values, 99);
	cells[4].number = fkt_histogram_percentile(values, 99.9);
	cells[5].number = values->max;
}

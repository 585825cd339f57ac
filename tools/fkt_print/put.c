// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that several views show. */
#include <inttypes.h>
#include <stdio.h>

#include "print.h"

void put_pid(const struct fkt_process *process, char text[PID_BYTES])
{
	if (process->tid == FKT_PID_UNKNOWN)
		snprintf(text, PID_BYTES, "?");
	else
		snprintf(text, PID_BYTES, "%s%" PRIu32, process->tid ? "" : "-",
			 process->tid ? process->tid : process->cpu);
}

void put_thread(const struct fkt_process *process, char text[THREAD_BYTES])
{
	char pid[PID_BYTES];

	put_pid(process, pid);
	snprintf(text, THREAD_BYTES, "%s[%s]", process->comm, pid);
}

void put_row_code(const struct fkt_trace *trace, uint32_t row, char text[PID_BYTES])
{
	uint32_t code = fkt_row_code(trace, row);

	if (code < FKT_SLOT_CODES)
		snprintf(text, PID_BYTES, "%04" PRIx32, code);
	else
		*text = '\0';
}

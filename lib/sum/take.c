// SPDX-License-Identifier: LGPL-2.1-or-later
/* The analysis told of many events in one call, for programs to which a call is dear. */
#include "internal.h"
#include "read/reader.h"

int fkt_analysis_read(struct fkt_analysis *analysis, struct fkt_processes *processes,
		      struct fkt_reader *reader, unsigned int count)
{
	struct fkt_event event;
	int what = FKT_WAIT, err = 0;

	while (count-- && !err) {
		what = fkt_reader_next(reader, &event);
		if (what == FKT_GAP)
			fkt_analysis_gap(analysis, fkt_gap(reader));
		if (what == FKT_EVENT) {
			err = fkt_analysis_event(analysis, &event);
			if (fkt_is_process_event(event.code))
				fkt_processes_event(processes, &event);
		}
		if (what <= 0)
			break;
	}
	return err ?: what;
}

/* SPDX-License-Identifier: MIT */
/* Lists a trace: cc -o example example.c $(pkg-config --cflags --libs fkt); ./example trace_file */
#include <inttypes.h>
#include <stdio.h>
#include <fkt/trace.h>

int main(int argc, char **argv)
{
	char error[FKT_ERROR_BYTES], name[FKT_NAME_BYTES];
	struct fkt_trace *trace = fkt_open(argc > 1 ? argv[1] : "trace_file", NULL, NULL, error);
	struct fkt_reader *reader = trace ? fkt_reader_new(trace) : NULL;
	struct fkt_processes *processes = trace ? fkt_processes_new(trace) : NULL;
	struct fkt_event event;
	uint32_t id;
	int what;

	if (!reader || !processes) {
		fprintf(stderr, "example: %s\n", trace ? "no memory" : error);
		return 1;
	}
	while ((what = fkt_next(reader, &event)) > 0) {
		if (what == FKT_GAP)
			printf("%" PRIu64 " are missing here\n", fkt_gap(reader)->count);
		if (what != FKT_EVENT)
			continue;
		fkt_processes_event(processes, &event);
		fkt_code_name(trace, event.code, name);
		id = fkt_process_id(processes, event.pid, event.cpu);
		printf("%20" PRIu64 " %3d %-16s %s\n", event.stamp, event.cpu,
		       fkt_process(processes, id)->comm, name);
	}
	printf("%" PRIu64 " events, %" PRIu64 " lost\n", fkt_read_stats(reader)->events,
	       fkt_read_stats(reader)->lost);
	fkt_processes_free(processes);
	fkt_reader_free(reader);
	fkt_close(trace);
	return what < 0;
}

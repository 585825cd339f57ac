// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libFuzzer feeds: any bytes as a trace, as a file and as a stream, to every way of printing
 * it and to fkt_extract's copying. The parts that are copied are read again: they have to be whole.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "read/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The main() of fkt_print, renamed by the compiler's command line. */
int fkt_print_main(int argc, char **argv);

/* Ways of printing: a line each, words with one space between them. */
static const char *const modes[] = {
	"fkt_print",
	"fkt_print --summary",
	"fkt_print --no-summary --time=ns",
	"fkt_print --no-summary --time=cycles",
	"fkt_print --no-summary --time=rel",
	"fkt_print --no-summary --time=abs",
	"fkt_print --summary --cpus --kernel-only",
	"fkt_print --summary --calls",
	"fkt_print --summary --histogram=* --elapsed",
	"fkt_print --summary --by=function,process,errno,arg0",
	"fkt_print --summary --waits",
	"fkt_print --profile --by=stack",
	"fkt_print --no-summary --stack",
	"fkt_print --graph --time=rel",
	"fkt_print --spans",
	"fkt_print --format=csv",
	"fkt_print --format=json --calls --waits --cpus",
	"fkt_print --from=1us --to=1ms --longer-than=10ns",
	"fkt_print -p +seven -s eight",
	"fkt_print --threads=3",
	"fkt_print --summary --threads=1",
	"fkt_print --summary --threads=3",
};

#define PIPE_BYTES 65536

static void run_print(const char *mode, const char *path)
{
	char words[128], *argv[16], *word, *rest = words;
	char copy[64];
	int argc = 0;

	snprintf(words, sizeof(words), "%s", mode);
	snprintf(copy, sizeof(copy), "%s", path);
	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	argv[argc++] = copy;
	argv[argc] = NULL;
	fkt_print_main(argc, argv);
	fflush(stdout);
}

static void check_part(int fd)
{
	char path[64], error[FKT_ERROR_BYTES];
	struct fkt_reader *reader;
	struct fkt_trace *trace;
	struct fkt_event event;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = fkt_open(path, NULL, NULL, error);
	if (!trace || !fkt_is_complete(trace))
		abort();
	reader = fkt_reader_new(trace);
	while (fkt_next(reader, &event) > 0)
		;
	fkt_reader_free(reader);
	fkt_close(trace);
}

static void run_extract(const char *path, unsigned int how)
{
	struct fkt_extract extract = { .to = UINT64_MAX };
	char error[FKT_ERROR_BYTES];
	struct fkt_trace *trace = fkt_open(path, NULL, NULL, error);
	static const uint8_t first_cpu[UINT16_MAX / 8 + 1] = { 1 };
	struct fkt_extract_process wanted[] = { { .pid = 7 }, { .name = "seven" } };
	uint64_t first, last;
	int fd;

	if (!trace)
		return;
	if (fkt_span(trace, &first, &last)) {
		if (how & 1)
			extract.from = first + (last - first) / 3;
		if (how & 2)
			extract.to = last - (last - first) / 3;
		extract.cpus = how & 12 ? NULL : first_cpu;
		extract.process = how & 4 ? wanted : wanted + 1;
		extract.processes = !!(how & 4) + !!(how & 8);
		if (how & 16)
			fkt_event_stamp(trace, how * 3, &extract.from);
		fd = memfd_create("part", MFD_CLOEXEC);
		if (fd >= 0 && !fkt_extract(trace, &extract, fd))
			check_part(fd);
		close(fd);
	}
	fkt_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int how = 0;
	char path[64];
	int fd, ends[2];

	/* What is done depends on the bytes alone, so that what is found can be repeated. */
	for (size_t i = size > 512 ? size - 512 : 0; i < size; i++)
		how = how * 31 + data[i];
	how ^= how >> 16;

	fd = memfd_create("trace", MFD_CLOEXEC);
	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	run_print(modes[how % (sizeof(modes) / sizeof(modes[0]))], path);
	run_extract(path, how >> 4);
	close(fd);

	if (size <= PIPE_BYTES && how & 8) {
		if (pipe2(ends, O_CLOEXEC) || write(ends[1], data, size) != (ssize_t)size)
			abort();
		close(ends[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
		run_print(modes[(how >> 8) % (sizeof(modes) / sizeof(modes[0]))], path);
		close(ends[0]);
	}
	return 0;
}

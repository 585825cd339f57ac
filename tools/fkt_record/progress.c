// SPDX-License-Identifier: GPL-2.0-or-later
/* What the user sees of a recording: a line while it runs, a few when it has ended. */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "record.h"

#define NS_PER_SECOND 1e9
#define NS_PER_MS     1e6
#define ERASE_LINE    "\r\033[K"

static bool shown;

static void print_bytes(uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit < sizeof(units) / sizeof(units[0]) - 1) {
		value /= 1024;
		unit++;
	}
	fprintf(stderr, "%.*f %s", unit ? 1 : 0, value, units[unit]);
}

void progress_show(const struct recording *recording)
{
	const struct fkt_status *status = &recording->status;
	struct timespec now;
	double seconds;

	clock_gettime(CLOCK_BOOTTIME, &now);
	seconds = (double)now.tv_sec + (double)now.tv_nsec / NS_PER_SECOND -
		  (double)recording->begin.mono_ns / NS_PER_SECOND;
	fprintf(stderr, ERASE_LINE "recording  %.1f s  %llu events  ", seconds, status->events);
	print_bytes(status->bytes);
	if (status->lost)
		fprintf(stderr, "  %llu lost", status->lost);
	shown = true;
}

void status_get(struct recording *recording)
{
	struct fkt_status status = {
		.size = sizeof(status),
		.lanes_room = recording->lane_status ? recording->lanes : 0,
		.lanes_ptr = (uintptr_t)recording->lane_status,
	};

	if (!ioctl(recording->device, FKT_STATUS, &status))
		recording->status = status;
	/* Those that lane_status has. */
	if (recording->status.lanes > status.lanes_room)
		recording->status.lanes = status.lanes_room;
}

void progress_erase(void)
{
	if (shown)
		fputs(ERASE_LINE, stderr);
	shown = false;
}

/* Why it ended before the command did, and what is not in the file. */
static void show_troubles(const struct recording *recording)
{
	const struct fkt_status *status = &recording->status;
	const char *name = recording->output.name;

	if (status->limit_reached && recording->options.limit_bytes)
		warnx("%s: the size limit was reached", name);
	else if (status->limit_reached)
		warnx("%s: the device is full", name);
	if (status->error && status->error != EPIPE)
		warnx("%s: %s; the trace ends there", name, strerror(status->error));
	if (status->lost > status->skipped)
		warnx("%llu %s lost because the buffer was full; "
		      "a larger one (-p) or fewer layers (-k) will help",
		      status->lost - status->skipped,
		      status->lost - status->skipped == 1 ? "event was" : "events were");
	if (status->skipped)
		warnx("%llu events of functions were lost where little was left of the stack, another "
		      "tracer took the call, or too many tasks were inside a graph",
		      status->skipped);
	if (status->applications_lost)
		warnx("%llu events were lost that programs had written faster than they could be taken, or "
		      "had not finished, or for which too many programs recorded already, or which were "
		      "built with another version of fkt/user.h",
		      status->applications_lost);
	if (status->missed)
		warnx("%llu times an address was passed when its probe could not be called, because "
		      "another one was running, or too many were inside the function (r100:…)",
		      status->missed);
	if (status->pauses == 1)
		warnx("the recording was paused once because the buffer was full");
	else if (status->pauses)
		warnx("the recording was paused %u times because the buffer was full",
		      status->pauses);
	if (status->discarded)
		warnx("%llu events more were in the buffer when it ended", status->discarded);
}

void summary_show(const struct recording *recording)
{
	const struct fkt_status *status = &recording->status;
	double ns = 0;

	if (status->start_cycles && recording->tsc_khz)
		ns = (double)(status->stop_cycles - status->start_cycles) * NS_PER_MS /
		     (double)recording->tsc_khz;

	fprintf(stderr, "fkt_record: %s: %llu events, %llu pages (", recording->output.name,
		status->events, status->pages);
	print_bytes(status->bytes);
	fprintf(stderr, ") in %.3f s, %llu lost", ns / NS_PER_SECOND, status->lost);
	if (ns > 0)
		fprintf(stderr, "; flush thread %.1f %%, synchronizing thread %.1f %% of a CPU",
			100 * (double)status->flush_cpu_ns / ns,
			100 * (double)status->sync_cpu_ns / ns);
	fputc('\n', stderr);
	kinds_summary(recording);
	show_troubles(recording);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* --longer-than: calls that take no longer than that leave nothing in the trace. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include <fkt/trace.h>

#include "record.h"

enum {
	OPTION_LONGER_THAN = 0x600,
};

#define NS_PER_MS 1000000ull

/* What the command line says, and what it comes to. */
static uint64_t longer_ns;
static uint64_t cycles;

bool longer_any(void)
{
	return longer_ns;
}

uint64_t longer_cycles(void)
{
	return cycles;
}

static void find(struct recording *recording)
{
	(void)recording;
	if (longer_ns && strings_any())
		errx(EXIT_FAILURE,
		     "--longer-than writes nothing when a call begins, --strings what it is given then: "
		     "they do not go together");
}

static int set(struct recording *recording)
{
	struct fkt_clock_pair since = clock_pair();
	struct fkt_longer_spec spec = { 0 };
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_LONGER,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
	};

	if (!longer_ns)
		return 0;
	cycles = (uint64_t)((double)longer_ns * (double)clock_khz(&since) / (double)NS_PER_MS);
	/* The module takes what is longer than so many. */
	cycles += !cycles;
	spec.cycles = cycles;
	if (!ioctl(recording->device, FKT_ADD_PROBES, &probes))
		return 0;
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EINVAL)
		warnx("--longer-than: the module that is loaded does not know it");
	else
		warn("--longer-than");
	return -1;
}

static const struct argp_option options[] = {
	{ "longer-than", OPTION_LONGER_THAN, "TIME", 0,
	  "Record only those calls of system calls and functions that take longer than TIME, as 1ms or "
	  "20us; others leave nothing in the trace",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	if (key != OPTION_LONGER_THAN)
		return ARGP_ERR_UNKNOWN;
	/* A number alone is seconds, as for fkt_print. */
	if (!fkt_parse_time(arg, &longer_ns) || !longer_ns || longer_ns >= CLOCK_NS_MAX)
		argp_error(state, "--longer-than: '%s' is not a time, as 1ms is", arg);
	return 0;
}

const struct probe_kind kind_longer = {
	.argp = { .options = options, .parser = parse },
	.find = find,
	.set = set,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* --profile: samples of what the CPUs are at, so many times a second, with their stacks. */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "record.h"

enum {
	OPTION_PROFILE = 0x700,
};

/* A prime number: what is done regularly is not met at the same point again and again. */
#define HZ_DEFAULT    997

#define NS_PER_SECOND 1000000000

/* So many a second; 0: none. */
static uint32_t hz;

bool profile_any(void)
{
	return hz;
}

uint32_t profile_hz(void)
{
	return hz;
}

/* Without timers of high resolution, a timer is looked at with the tick alone. */
static void find(struct recording *recording)
{
	struct timespec resolution;
	uint32_t most;

	if (!hz && recording->options.mask & FKT_KEY_PROFILE)
		hz = HZ_DEFAULT;
	if (!hz || clock_getres(CLOCK_MONOTONIC, &resolution) || resolution.tv_sec ||
	    !resolution.tv_nsec)
		return;
	most = (uint32_t)(NS_PER_SECOND / resolution.tv_nsec);
	if (hz <= most)
		return;
	warnx("--profile: the kernel has no timers of high resolution here: %u samples a second, not "
	      "%u",
	      most, hz);
	hz = most;
}

static int set(struct recording *recording)
{
	struct fkt_profile_spec spec = { .hz = hz };
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_PROFILE,
		.count = 1,
		.spec_bytes = sizeof(spec),
		.specs_ptr = (uintptr_t)&spec,
	};

	if (!hz || !ioctl(recording->device, FKT_ADD_PROBES, &probes))
		return 0;
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM)
		warnx(FKT_DEVICE ": --profile is for root alone (CAP_SYS_ADMIN)");
	else if (errno == EINVAL)
		warnx("--profile: the module that is loaded does not know it");
	else
		warn("--profile");
	return -1;
}

static void summary(const struct recording *recording)
{
	if (hz && recording->status.late)
		warnx("%llu samples did not come when they were due: interrupts were off for long, a "
		      "virtual CPU did not run, or so many take too much time",
		      recording->status.late);
}

static const struct argp_option options[] = {
	{ "profile", OPTION_PROFILE, "HZ", OPTION_ARG_OPTIONAL,
	  "Record so many times a second what each CPU is at that is not idle, with the stacks of "
	  "kernel and program (default: 997)",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static void parse_hz(struct argp_state *state, const char *text)
{
	unsigned long value = strtoul(text, NULL, 10);

	if (!is_number(text) || !value)
		argp_error(state,
			   "--profile: '%s' is not a number of samples a second, such as 997",
			   text);
	if (value > FKT_PROFILE_HZ_MAX)
		argp_error(state, "--profile: no more than %u samples a second, not %s",
			   FKT_PROFILE_HZ_MAX, text);
	hz = (uint32_t)value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *recording = state->input;

	if (key != OPTION_PROFILE)
		return ARGP_ERR_UNKNOWN;
	hz = HZ_DEFAULT;
	/* No command is called by a number. */
	if (!arg && state->next < state->argc && is_number(state->argv[state->next]))
		arg = state->argv[state->next++];
	if (arg)
		parse_hz(state, arg);
	recording->probe_keys |= FKT_KEY_PROFILE;
	return 0;
}

const struct probe_kind kind_profile = {
	.argp = { .options = options, .parser = parse },
	.find = find,
	.set = set,
	.summary = summary,
};

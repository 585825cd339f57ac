// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --profile: samples of what the CPUs are at, so many times a second, or whenever a counter has
 * counted so much, with their stacks.
 */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

/* So many a second; 0: by @period, or none. */
static uint32_t hz;
/* By what, NULL: a timer; and how much of it is counted from one to the next, 0: as @hz says. */
static const struct counter *counter;
static uint64_t period;

bool profile_any(void)
{
	return hz || period;
}

void profile_add_info(struct sections *head)
{
	if (hz)
		sections_printf(head, "profile_hz=%" PRIu32, hz);
	else if (period)
		sections_printf(head, "profile_period=%" PRIu64, period);
	else
		return;
	sections_add(head, "", 1);
	if (!counter)
		return;
	sections_printf(head, "profile_event=%s", counter->name);
	sections_add(head, "", 1);
}

/* Without timers of high resolution, a timer is looked at with the tick alone. */
static void find(struct recording *recording)
{
	struct timespec resolution;
	uint32_t most;

	if (!profile_any() && recording->options.mask & FKT_KEY_PROFILE)
		hz = HZ_DEFAULT;
	if (!hz || counter || clock_getres(CLOCK_MONOTONIC, &resolution) || resolution.tv_sec ||
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

static int add(struct recording *recording, uint32_t kind, const void *spec, uint32_t bytes)
{
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = kind,
		.count = 1,
		.spec_bytes = bytes,
		.specs_ptr = (uintptr_t)spec,
	};

	return ioctl(recording->device, FKT_ADD_PROBES, &probes);
}

/* By the counter; where this machine has it not, by a timer, as perf does. */
static int set_counter(struct recording *recording)
{
	const struct fkt_overflow_spec spec = {
		.type = counter->type,
		.hz = hz,
		.config = counter->config,
		.period = period,
	};

	if (!add(recording, FKT_PROVIDER_OVERFLOW, &spec, sizeof(spec)))
		return 0;
	if (!counter_tell("--profile", counter, true))
		return -1;
	if (!hz)
		hz = HZ_DEFAULT;
	period = 0;
	counter = NULL;
	warnx("--profile: by a timer, %u times a second", hz);
	return 0;
}

static int set(struct recording *recording)
{
	struct fkt_profile_spec spec;

	if (counter && set_counter(recording))
		return -1;
	if (counter || !profile_any())
		return 0;
	spec = (struct fkt_profile_spec){ .hz = hz };
	if (!add(recording, FKT_PROVIDER_PROFILE, &spec, sizeof(spec)))
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
	const unsigned long long late = recording->status.late;

	if (late && counter)
		warnx("samples did not come, %llu at least: the kernel let the counter rest when they "
		      "were too many, or a CPU came later, or had been away",
		      late);
	else if (late && hz)
		warnx("%llu samples did not come when they were due: interrupts were off for long, a "
		      "virtual CPU did not run, or so many take too much time",
		      late);
}

static const struct argp_option options[] = {
	{ "profile", OPTION_PROFILE, "HZ|COUNTER[:N]", OPTION_ARG_OPTIONAL,
	  "Record so many times a second what each CPU is at that is not idle, with the stacks of "
	  "kernel and program (default: 997); or by a counter, as cycles, in interrupts that nobody "
	  "masks where the processor counts, also whenever it has counted so much "
	  "(cache-misses:10000)",
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

	if (!value)
		argp_error(state,
			   "--profile: '%s' is not a number of samples a second, such as 997",
			   text);
	if (value > FKT_PROFILE_HZ_MAX) {
		warnx("--profile: no more than %u samples a second, not %s", FKT_PROFILE_HZ_MAX,
		      text);
		value = FKT_PROFILE_HZ_MAX;
	}
	hz = (uint32_t)value;
}

/* COUNTER[:N] */
static void parse_counter(struct argp_state *state, const char *text)
{
	char *name = strdup(text), *colon;

	if (!name)
		err(EXIT_FAILURE, "--profile");
	colon = strchr(name, ':');
	if (colon)
		*colon++ = '\0';
	counter = counter_find_or_fail(state, "--profile", name);
	if (colon) {
		errno = 0;
		period = strtoul(colon, NULL, 10);
		if (!is_number(colon) || !period || errno || period > INT64_MAX)
			argp_error(state,
				   "--profile: '%s' is not how much %s is to count, such as 10000",
				   colon, name);
		if (counter_is_clock(counter) && period < FKT_OVERFLOW_NS_MIN) {
			warnx("--profile: no more than %u samples a second: one in %u ns, not %s",
			      FKT_PROFILE_HZ_MAX, FKT_OVERFLOW_NS_MIN, colon);
			period = FKT_OVERFLOW_NS_MIN;
		}
		hz = 0;
	}
	free(name);
}

/* Whether this is an argument of --profile, and not the command: none is called by a number. */
static bool is_argument(const char *text)
{
	size_t bytes = strcspn(text, ":");
	char name[64];

	if (is_number(text))
		return true;
	if (bytes >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)bytes, text);
	return counter_find(name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *recording = state->input;

	if (key != OPTION_PROFILE)
		return ARGP_ERR_UNKNOWN;
	hz = HZ_DEFAULT;
	period = 0;
	counter = NULL;
	if (!arg && state->next < state->argc && is_argument(state->argv[state->next]))
		arg = state->argv[state->next++];
	if (arg && is_number(arg))
		parse_hz(state, arg);
	else if (arg && (*arg < 'a' || *arg > 'z'))
		argp_error(state,
			   "--profile: '%s' is not a number of samples a second, such as 997", arg);
	else if (arg)
		parse_counter(state, arg);
	recording->probe_keys |= FKT_KEY_PROFILE;
	return 0;
}

const struct probe_kind kind_profile = {
	.argp = { .options = options, .parser = parse },
	.find = find,
	.set = set,
	.summary = summary,
};

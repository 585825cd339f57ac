// SPDX-License-Identifier: GPL-2.0-or-later
/* --counters: what perf events of the kernel count, read where something begins or ends. */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/perf_event.h>

#include "common/distance.h"
#include "record.h"

enum {
	OPTION_COUNTERS = 0x900,
};

static const struct counter known[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

/* Those that are asked for, in the order of the command line. */
static const struct counter *chosen[FKT_COUNTERS_MAX];
static unsigned int count;

bool counters_any(void)
{
	return count;
}

void counters_add_info(struct sections *head)
{
	for (unsigned int i = 0; i < count; i++)
		sections_printf(head, "%s%s", i ? "," : "counters=", chosen[i]->name);
	if (count)
		sections_add(head, "", 1);
}

bool counters_add_code(struct sections *codes)
{
	char spec[256];
	int bytes = snprintf(spec, sizeof(spec), "@missing:x16");

	for (unsigned int i = 0; i < count; i++) {
		char *field = spec + bytes;

		bytes += snprintf(field, sizeof(spec) - (size_t)bytes, " %s:u64", chosen[i]->name);
		for (char *c = field; *c; c++)
			if (*c == '-')
				*c = '_';
	}
	if (count)
		fkt_codes_line(codes,
			       &(struct code_line){ FKT_CODE_COUNTERS, 1, FKT_KIND_POINT, 0,
						    (uint32_t)FKT_KEY_PROCESS, "counters", spec });
	return count;
}

static void find(struct recording *recording)
{
	(void)recording;
	if (count && longer_any())
		errx(EXIT_FAILURE,
		     "--longer-than writes nothing when a call begins, --counters what it has counted "
		     "until then: they do not go together");
}

bool counter_tell(const char *option, const struct counter *counter, bool left_out)
{
	const char *what = left_out ? " is left out" : "";

	switch (errno) {
	case EBUSY:
		warnx(FKT_DEVICE ": another recording is running");
		break;
	case EINVAL:
		warnx("%s: the module that is loaded does not know %s", option, counter->name);
		break;
	case EPERM:
	case EACCES:
		warnx("%s=%s: what a whole CPU counts is for root alone, or for CAP_PERFMON "
		      "(sysctl kernel.perf_event_paranoid)",
		      option, counter->name);
		break;
	case ENOSPC:
		warnx("%s=%s%s: it is taken, or is one more than this CPU can count "
		      "at a time; the kernel's watchdog takes one (sysctl kernel.nmi_watchdog)",
		      option, counter->name, what);
		return left_out;
	case ENOENT:
		if (counter->type == PERF_TYPE_HARDWARE)
			warnx("%s=%s%s: this machine has no such counter, as most "
			      "virtual ones; task-clock, page-faults and context-switches are the "
			      "kernel's own",
			      option, counter->name, what);
		else
			warnx("%s=%s%s: this kernel has no such counter", option, counter->name,
			      what);
		return left_out;
	default:
		warn("%s=%s", option, counter->name);
	}
	return false;
}

static int set(struct recording *recording)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct fkt_counter_spec spec = {
			.type = chosen[i]->type,
			.config = chosen[i]->config,
		};
		struct fkt_probes probes = {
			.size = sizeof(probes),
			.kind = FKT_PROVIDER_COUNTERS,
			.count = 1,
			.spec_bytes = sizeof(spec),
			.specs_ptr = (uintptr_t)&spec,
		};

		if (!ioctl(recording->device, FKT_ADD_PROBES, &probes))
			chosen[kept++] = chosen[i];
		else if (!counter_tell("--counters", chosen[i], true))
			return -1;
	}
	count = kept;
	return 0;
}

static void summary(const struct recording *recording)
{
	if (count && recording->status.uncounted)
		warnx("%llu events without all of their counters: a CPU came later, or somebody else "
		      "took a counter; what is missing is said with each (missing)",
		      recording->status.uncounted);
}

static const struct argp_option options[] = {
	{ "counters", OPTION_COUNTERS, "COUNTER,...", 0,
	  "Record what these perf events have counted where a system call, a function, an interrupt "
	  "or a thread's time on a CPU begins or ends, as page-faults, context-switches, task-clock, "
	  "and where the processor counts, instructions, cache-misses; 4 at most",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

const struct counter *counter_find(const char *name)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

bool counter_is_clock(const struct counter *counter)
{
	return counter->type == PERF_TYPE_SOFTWARE && (counter->config == PERF_COUNT_SW_CPU_CLOCK ||
						       counter->config == PERF_COUNT_SW_TASK_CLOCK);
}

const struct counter *counter_find_or_fail(struct argp_state *state, const char *option,
					   const char *name)
{
	struct fkt_near near = { .wanted = name };
	char meant[FKT_MEANT_BYTES], all[KNOWN * sizeof("stalled-cycles-frontend, ")] = "";
	const struct counter *counter = counter_find(name);

	if (counter)
		return counter;
	for (size_t i = 0; i < KNOWN; i++) {
		sprintf(all + strlen(all), "%s%s", i ? ", " : "", known[i].name);
		fkt_near_show(&near, known[i].name);
	}
	argp_error(state, "%s: '%s' is no counter%s; it can be %s", option, name,
		   fkt_near_meant(&near, meant), all);
	return NULL;
}

static void add_counter(struct argp_state *state, const char *name)
{
	const struct counter *counter = counter_find_or_fail(state, "--counters", name);

	for (unsigned int j = 0; j < count; j++)
		if (chosen[j] == counter)
			argp_error(state, "--counters: %s is there twice", name);
	if (count == FKT_COUNTERS_MAX)
		argp_error(state, "--counters: no more than %d, please", FKT_COUNTERS_MAX);
	chosen[count++] = counter;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *word;

	if (key != OPTION_COUNTERS)
		return ARGP_ERR_UNKNOWN;
	while ((word = strsep(&arg, ",")))
		add_counter(state, word);
	return 0;
}

const struct probe_kind kind_counters = {
	.argp = { .options = options, .parser = parse },
	.find = find,
	.set = set,
	.summary = summary,
};

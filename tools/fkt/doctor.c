// SPDX-License-Identifier: GPL-2.0-or-later
/* fkt doctor: goes through all checks, and prints what they say. */
#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/help.h"
#include "doctor.h"

static const struct check {
	const char *name;
	void (*check)(struct finding *finding);
} checks[] = {
#define X(name) { #name, check_##name },
	CHECKS(X)
#undef X
};

void finding_set(struct finding *finding, int verdict, const char *remedy, const char *format, ...)
{
	va_list args;

	finding->verdict = verdict;
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy ? remedy : "");
}

int read_line(const char *path, char *line, size_t bytes)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return -1;
	if (!fgets(line, (int)bytes, file))
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		argp_error(state, "there is nothing to name");
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

int doctor(int argc, char **argv)
{
	static const struct argp_option options[] = { FKT_OPTION_HELP, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.doc = "See whether this machine can be traced, by the user who asks, and say what "
		       "helps where it can't. Exit status 1 when something keeps FKT from "
		       "recording.",
	};
	static const char *const words[] = { "good", "note", "PROBLEM" };
	static char name[] = "fkt doctor";
	int problems = 0;

	argv[0] = name;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct finding finding = { 0 };

		checks[i].check(&finding);
		printf("%-8s %-12s %s\n", words[finding.verdict], checks[i].name, finding.text);
		if (finding.remedy[0])
			printf("%22s%s\n", "-> ", finding.remedy);
		problems += finding.verdict == VERDICT_PROBLEM;
	}
	return problems ? 1 : 0;
}

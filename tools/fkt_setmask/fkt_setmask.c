// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_enable, fkt_disable, fkt_setmask: change the active mask of the running recording (paper,
 * §C.2). One program that does what its name says.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fkt/ioctl.h>
#include <fkt/version.h>

#include "common/help.h"
#include "common/keys.h"
#include "common/permission.h"

static const struct action {
	const char *name;
	const char *version;
	unsigned long request;
	const char *doc;
} actions[] = {
	{ "fkt_setmask", "fkt_setmask (FKT) " FKT_RELEASE, FKT_SETMASK,
	  "Replace the active mask of the running recording by MASK." },
	{ "fkt_enable", "fkt_enable (FKT) " FKT_RELEASE, FKT_ENABLE,
	  "Let the layers in MASK be recorded from now on; all: every layer." },
	{ "fkt_disable", "fkt_disable (FKT) " FKT_RELEASE, FKT_DISABLE,
	  "Stop recording the layers in MASK; all: every layer." },
};

static const struct argp_option argp_options[] = {
	FKT_OPTION_HELP,
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	uint32_t *mask = state->input;
	char why[FKT_KEYS_WHY_BYTES];

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state,
				   "one MASK is enough; write several layers as LAYER,LAYER");
		/* Of a layer that the recording has nothing of, nothing is recorded. */
		if (!strcmp(arg, "all"))
			*mask = fkt_keys_all();
		else if (fkt_keys_parse(arg, mask, why))
			argp_error(state, "%s", why);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which MASK?");
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

static const char *explain(int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
		return "no such device; is the module loaded? (modprobe fkt)";
	case EACCES:
	case EPERM:
		return permission_denied(error);
	case ENODEV:
		return "no recording is running";
	case EAGAIN:
		return "the recording is paused, and the output has not taken a page yet; once more, later";
	case EINVAL:
		return "the loaded module does not know these layers";
	default:
		return strerror(error);
	}
}

int main(int argc, char **argv)
{
	const struct action *action = &actions[0];
	struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "MASK",
	};
	uint32_t mask;
	int fd;

	permission_keep();
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(program_invocation_short_name, actions[i].name))
			action = &actions[i];
	argp.doc = action->doc;
	argp_program_version = action->version;
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &mask);

	fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, action->request, &mask) < 0) {
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, FKT_DEVICE,
			explain(fd < 0 && errno == ENODEV ? ENXIO : errno));
		return 1;
	}
	return 0;
}

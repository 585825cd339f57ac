// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_snapshot: what fkt_record --ring holds, as a trace, while it goes on.
 */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fkt/trace.h>
#include <fkt/version.h>

#include "common/config.h"
#include "common/help.h"
#include "common/snapshot.h"

#define EXIT_USAGE   2
#define DEFAULT_NAME "trace_file"
#define NUMBERS_MAX  100000

const char *argp_program_version = "fkt_snapshot (FKT) " FKT_RELEASE;

/**
 * struct options - the command line
 * @output: the file, or NULL for the next one with a number
 * @last_ns: as in struct snapshot_request
 */
struct options {
	const char *output;
	uint64_t last_ns;
};

static const struct argp_option argp_options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the snapshot to FILE (default: " DEFAULT_NAME ".N, the first N that is free)", 0 },
	{ "last", 'l', "TIME", 0,
	  "Only what was recorded in this time, such as 500ms or 20s; what is older is forgotten "
	  "(default: all that there is)",
	  0 },
	FKT_OPTION_HELP,
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		if (!strcmp(arg, "-"))
			argp_error(state, "a snapshot goes into a regular file, not to standard "
					  "output");
		options->output = arg;
		return 0;
	case 'l':
		if (!fkt_parse_time(arg, &options->last_ns) || !options->last_ns)
			argp_error(state,
				   "'%s' is not a time; write a number and ns, us, ms, s, m or h",
				   arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'? -o gives the file a name", arg);
		return 0;
	default:
		return fkt_other_option(key, state);
	}
}

static int connect_recorder(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SNAPSHOT_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(EXIT_FAILURE, "socket");
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	if (errno == ENOENT || errno == ECONNREFUSED)
		errx(EXIT_FAILURE, "no recording is running that keeps the newest events "
				   "(fkt_record --ring SIZE)");
	if (errno == EACCES || errno == EPERM)
		errx(EXIT_FAILURE, SNAPSHOT_SOCKET ": not allowed; only root may trace (sudo?)");
	err(EXIT_FAILURE, SNAPSHOT_SOCKET);
}

/* Return: the file, open and empty; @created: it was not there. */
static int open_output(const char **name, bool *created)
{
	static char numbered[sizeof(DEFAULT_NAME) + 12];
	struct stat st;
	int fd = -1;

	if (!*name) {
		*name = numbered;
		for (int i = 1; i <= NUMBERS_MAX; i++) {
			snprintf(numbered, sizeof(numbered), DEFAULT_NAME ".%d", i);
			fd = open(numbered, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
			if (fd >= 0 || errno != EEXIST)
				break;
		}
		*created = fd >= 0;
	} else {
		fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		*created = fd >= 0;
		/* O_CREAT, for fs.protected_regular. */
		if (fd < 0 && errno == EEXIST)
			fd = open(*name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		err(EXIT_FAILURE, "%s: cannot write a trace there", *name);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		errx(EXIT_FAILURE, "%s: a snapshot goes into a regular file", *name);
	return fd;
}

static void send_request(int to, int fd, uint64_t last_ns)
{
	struct snapshot_request request = { .version = SNAPSHOT_VERSION, .last_ns = last_ns };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = &request, .iov_len = sizeof(request) };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(to, &message, MSG_NOSIGNAL) != sizeof(request))
		err(EXIT_FAILURE, "cannot ask for a snapshot");
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = "Write what a running fkt_record --ring holds into a file, while it goes on.\v"
		       "What is written is used up: the next snapshot begins where this one ends. "
		       "See fkt_snapshot(1).",
	};
	struct snapshot_reply reply = { .failed = 1 };
	struct options options = { 0 };
	bool created = false;
	int to, fd;

	argp_err_exit_status = EXIT_USAGE;
	config_parse(&argp, argc, argv, 0, &options);
	to = connect_recorder();
	fd = open_output(&options.output, &created);
	send_request(to, fd, options.last_ns);
	if (recv(to, &reply, sizeof(reply), 0) != sizeof(reply))
		snprintf(reply.text, sizeof(reply.text), "the recording has ended");
	fprintf(stderr, "fkt_snapshot: %s: %.*s\n", options.output, (int)sizeof(reply.text) - 1,
		reply.text);
	if (!reply.failed)
		return EXIT_SUCCESS;
	if (created)
		unlink(options.output);
	return EXIT_FAILURE;
}

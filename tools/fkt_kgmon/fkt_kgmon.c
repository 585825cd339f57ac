// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_kgmon: profile the kernel as BSD's kgmon does, for gprof. Behind it are fkt_record, which
 * keeps samples in a ring, fkt_snapshot and fkt_print.
 *
 * Who records is known by a lock: the recorder has inherited it, so that it is free when that has
 * ended, whatever became of it.
 */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fkt/ioctl.h>
#include <fkt/version.h>

#define FOLDER	   "/run/fkt_kgmon"
#define LOCK	   FOLDER "/lock"     /* with the recorder's number in it */
#define TRACE	   FOLDER "/trace"    /* what it leaves when it ends */
#define SNAPSHOT   FOLDER "/snapshot" /* what it has written so far */
#define SAID	   FOLDER "/said"     /* by it */

#define RING	   "16M"
#define EXIT_USAGE 2
#define WAIT_MS	   30000
#define STEP_MS	   50

const char *argp_program_version = "fkt_kgmon (FKT) " FKT_RELEASE;

/**
 * struct options - the command line
 * @command: 'b', 'B', 'h', 'r' or 'p'; 0: say how things are
 * @functions: of 'B'
 * @output: of 'p'
 */
struct options {
	int command;
	const char *functions;
	const char *output;
};

static const struct argp_option argp_options[] = {
	{ NULL, 'b', NULL, 0, "Begin: record samples, in memory", 0 },
	{ NULL, 'B', "FUNCTIONS", 0,
	  "Begin with the calls of these functions as well, as fkt_record -F names them, so that "
	  "the call graph has numbers of calls",
	  0 },
	{ NULL, 'h', NULL, 0, "Halt: end the recording; what it has can still be dumped", 0 },
	{ NULL, 'r', NULL, 0, "Reset: forget what was recorded", 0 },
	{ NULL, 'p', NULL, 0, "Dump what was recorded since the last dump or reset, for gprof", 0 },
	{ NULL, 'o', "OUT", 0, "Dump to OUT, and OUT.elf (default: gmon.out)", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'B':
		options->functions = arg;
		/* fall through */
	case 'b':
	case 'h':
	case 'r':
	case 'p':
		if (options->command)
			argp_error(state, "one of -b, -B, -h, -r and -p at a time, please");
		options->command = key;
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case ARGP_KEY_END:
		if (options->output && options->command != 'p')
			argp_error(state, "-o is where -p dumps to");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- programs ---- */

/* In a process that is about to be another program. */
static void __attribute__((noreturn)) become(const char *const argv[])
{
	execvp(argv[0], (char *const *)argv);
	err(EXIT_FAILURE, "%s", argv[0]);
}

/* Run a program to its end. Return: whether it did what it was to do. */
static bool run(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid)
		become(argv);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			err(EXIT_FAILURE, "waitpid");
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---- the recorder ---- */

/* Open the lock. It is for root alone, and so is the folder. */
static int open_lock(void)
{
	struct stat st;
	int fd;

	if (mkdir(FOLDER, 0700) && errno != EEXIST)
		err(EXIT_FAILURE, FOLDER);
	if (lstat(FOLDER, &st))
		err(EXIT_FAILURE, FOLDER);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		errx(EXIT_FAILURE, FOLDER ": is not ours alone");
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		err(EXIT_FAILURE, LOCK);
	return fd;
}

/* Whether somebody records; if not, the lock is ours, and there is no number to be taken. */
static bool is_running(int lock)
{
	if (!flock(lock, LOCK_EX | LOCK_NB)) {
		if (ftruncate(lock, 0))
			err(EXIT_FAILURE, LOCK);
		return false;
	}
	if (errno != EWOULDBLOCK)
		err(EXIT_FAILURE, LOCK);
	return true;
}

static pid_t recorder(int lock)
{
	char text[32];
	ssize_t bytes = pread(lock, text, sizeof(text) - 1, 0);

	if (bytes <= 0)
		errx(EXIT_FAILURE, "another fkt_kgmon is at work");
	text[bytes] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

static void sleep_ms(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* What the recorder has said, as it is of no use behind its back. */
static void tell_said(void)
{
	FILE *file = fopen(SAID, "re");
	char line[1024];

	while (file && fgets(line, sizeof(line), file))
		fputs(line, stderr);
	if (file)
		fclose(file);
}

static bool is_recording(void)
{
	struct fkt_status status = { .size = sizeof(status) };
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	bool is = fd >= 0 && !ioctl(fd, FKT_STATUS, &status) && status.state == FKT_STATE_RECORDING;

	if (fd >= 0)
		close(fd);
	return is;
}

/* Becomes the recorder, which outlives us. */
static void __attribute__((noreturn)) record(int lock, const char *functions)
{
	const char *argv[] = { "fkt_record", "--ring", RING, "--profile", "-n",
			       "-o",	     TRACE,    NULL, NULL,	  NULL };
	int said = open(SAID, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (functions) {
		argv[7] = "-F";
		argv[8] = functions;
	}
	/* The lock goes with it. */
	if (said < 0 || null < 0 || setsid() < 0 || fcntl(lock, F_SETFD, 0) || dup2(null, 0) < 0 ||
	    dup2(null, 1) < 0 || dup2(said, 2) < 0)
		err(EXIT_FAILURE, "cannot begin");
	become(argv);
}

static int begin(int lock, const struct options *options)
{
	bool ended = false;
	pid_t pid;

	if (is_running(lock))
		errx(EXIT_FAILURE, "the kernel is being profiled already; -h halts that");
	/* Its state is not to be taken for that of the recorder that is begun here. */
	if (is_recording())
		errx(EXIT_FAILURE, "something else records already; end that first");
	unlink(TRACE);
	unlink(SNAPSHOT);
	pid = fork();
	if (pid < 0)
		err(EXIT_FAILURE, "fork");
	if (!pid)
		record(lock, options->functions);
	/* Before it is waited for: whoever is killed meanwhile leaves one that -h can halt. */
	if (dprintf(lock, "%d\n", (int)pid) < 0) {
		int error = errno;

		kill(pid, SIGINT);
		errno = error;
		err(EXIT_FAILURE, LOCK);
	}
	for (int ms = 0; ms < WAIT_MS && !ended && !is_recording(); ms += STEP_MS) {
		sleep_ms(STEP_MS);
		ended = waitpid(pid, NULL, WNOHANG) == pid;
	}
	if (!ended && is_recording())
		return EXIT_SUCCESS;
	if (!ended) {
		kill(pid, SIGINT);
		waitpid(pid, NULL, 0);
	}
	tell_said();
	errx(EXIT_FAILURE, "it does not begin");
}

static int halt(int lock)
{
	pid_t pid;

	if (!is_running(lock))
		errx(EXIT_FAILURE, "the kernel is not being profiled");
	pid = recorder(lock);
	if (pid <= 1 || kill(pid, SIGINT))
		err(EXIT_FAILURE, "the recorder, process %d", (int)pid);
	while (flock(lock, LOCK_EX))
		if (errno != EINTR)
			err(EXIT_FAILURE, LOCK);
	return EXIT_SUCCESS;
}

static void take_snapshot(void)
{
	unlink(SNAPSHOT);
	if (!run((const char *const[]){ "fkt_snapshot", "-o", SNAPSHOT, NULL }))
		exit(EXIT_FAILURE);
}

static int reset(int lock)
{
	if (is_running(lock))
		take_snapshot();
	else
		unlink(TRACE);
	unlink(SNAPSHOT);
	return EXIT_SUCCESS;
}

static int dump(int lock, const char *output)
{
	const char *trace = TRACE;
	bool done;

	if (is_running(lock)) {
		take_snapshot();
		trace = SNAPSHOT;
	} else if (access(TRACE, F_OK)) {
		errx(EXIT_FAILURE, "there is nothing to dump: -b begins");
	}
	done = run(
		(const char *const[]){ "fkt_print", "--gmon", output ?: "gmon.out", trace, NULL });
	/* What was dumped is not there any more, halted or not. */
	if (done)
		unlink(trace);
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.doc = "Profile the kernel, and what runs on it, for gprof.\v"
		       "Without an option, says whether it is being profiled. See fkt_kgmon(1).",
	};
	struct options options = { 0 };
	int lock;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (geteuid())
		errx(EXIT_FAILURE, "not allowed; only root may trace (sudo?)");
	lock = open_lock();
	switch (options.command) {
	case 'b':
	case 'B':
		return begin(lock, &options);
	case 'h':
		return halt(lock);
	case 'r':
		return reset(lock);
	case 'p':
		return dump(lock, options.output);
	default:
		printf("fkt_kgmon: the kernel is %sbeing profiled\n",
		       is_running(lock) ? "" : "not ");
		return EXIT_SUCCESS;
	}
}

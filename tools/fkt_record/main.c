// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_record: record what the kernel does while a command runs (paper, §C.2).
 *
 * The module writes the pages itself, into the file that it is given; this program writes what
 * stands before and behind them, and waits.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/permission.h"
#include "common/recorder.h"
#include "ftrace.h"
#include "record.h"
#include "sections.h"

#define PROGRESS_MS	250

/* A stream's reader sees events at most this much later. */
#define STREAM_FLUSH_MS 200

/* There is one recording at a time; it may be a service's, which nobody thinks of. */
static void complain_of_other(void)
{
	char unit[RECORDER_UNIT_BYTES];
	pid_t other = recorder_find(unit);

	if (other && *unit)
		warnx(FKT_DEVICE ": another recording is running: %s's (sudo systemctl stop %s?)",
		      unit, unit);
	else if (other)
		warnx(FKT_DEVICE ": another recording is running: process %d's", other);
	else
		warnx(FKT_DEVICE ": another recording is running");
}

static int open_device(const struct options *options)
{
	const char *level, *signature = "";
	uint32_t version;
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		if (signatures_wanted())
			signature = "; this kernel takes signed modules alone, see fkt doctor";
		if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
			warnx(FKT_DEVICE ": no such device; is the module loaded? (modprobe fkt%s)",
			      signature);
		else if (errno == EPERM && (level = lockdown()))
			warnx(FKT_DEVICE
			      ": the kernel is locked down for %s, which forbids all tracing; see "
			      "kernel_lockdown(7)",
			      level);
		else if (errno == EACCES || errno == EPERM)
			warnx(FKT_DEVICE ": %s", permission_denied(errno));
		else
			warn(FKT_DEVICE);
		return -1;
	}
	if (ioctl(fd, FKT_VERSION, &version)) {
		warn(FKT_DEVICE ": this is not FKT's device");
		goto fail;
	}
	if (version != FKT_IOCTL_VERSION) {
		warnx(FKT_DEVICE ": the loaded module speaks version %u, this program version %u; "
				 "install both from one release",
		      version, FKT_IOCTL_VERSION);
		goto fail;
	}
	if (ioctl(fd, FKT_SETINITPOWPAGES, &options->pow) ||
	    ioctl(fd, FKT_SETINITMASK, &options->mask)) {
		if (errno == EBUSY)
			complain_of_other();
		else
			warn(FKT_DEVICE ": cannot set up a recording");
		goto fail;
	}
	return fd;

fail:
	close(fd);
	return -1;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	interrupted = sig;
}

/*
 * Whether a signal is nothing to us: as nohup(1) has it. Of SIGINT that says little, for shells
 * ignore it in what they run in the background, and scripts send it to end that.
 */
static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

/*
 * FKT_START, which may look at many functions for long: signals that end the recording end that,
 * too. One that comes too late for it is left for wait_for_end().
 */
static int start_interruptible(int device, const struct fkt_start *start)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = interrupt }, before[3];
	sigset_t set, blocked;
	int ret, error;

	sigemptyset(&set);
	for (size_t i = 0; i < 3; i++) {
		sigaddset(&set, ends[i]);
		sigaction(ends[i], ends[i] == SIGHUP && is_ignored(SIGHUP) ? NULL : &act,
			  &before[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, &blocked);
	ret = interrupted ? -1 : ioctl(device, FKT_START, start);
	error = interrupted && ret ? EINTR : errno;
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	for (size_t i = 0; i < 3; i++)
		sigaction(ends[i], &before[i], NULL);
	if (!ret && interrupted)
		raise(interrupted);
	errno = error;
	return ret;
}

/* Nothing goes out before the end. */
static bool keeps_newest(const struct options *options)
{
	return options->on_full == FKT_ON_FULL_OVERWRITE;
}

static int start(const struct recording *recording)
{
	const struct options *options = &recording->options;
	const struct output *output = &recording->output;
	uint64_t room = output_page_room(output, tail_room(recording));
	struct fkt_start start = {
		.size = sizeof(start),
		.out_fd = keeps_newest(options) ? FKT_NO_OUTPUT : output->fd,
		.limit_bytes = options->limit_bytes,
		.lanes = options->lanes,
		.on_full = options->on_full,
		.flags = (options->args ? FKT_START_SYSCALL_ARGS : 0) |
			 (keeps_newest(options) && !options->gap ? FKT_START_RESERVE : 0),
		.flush_ms = output->kind == OUTPUT_STREAM ? STREAM_FLUSH_MS : 0,
	};

	if (room && room < FKT_PAGE_BYTES) {
		warnx("%s: the device is too small for a trace", output->name);
		return -1;
	}
	if (room && !keeps_newest(options) && (!start.limit_bytes || start.limit_bytes > room))
		start.limit_bytes = room;
	memcpy(start.id, recording->id, sizeof(start.id));

	if (!start_interruptible(recording->device, &start))
		return 0;
	switch (errno) {
	case EINTR:
		warnx("interrupted before the recording began");
		break;
	case EBUSY:
		warnx(FKT_DEVICE ": another recording is running");
		break;
	case ENOMEM:
		if (options->ring_bytes)
			warnx("no memory for that ring%s",
			      options->gap
				      ? ""
				      : ", twice; --gap takes it once, a smaller one will help as well");
		else
			warnx("no memory for 2^%u pages a lane; a smaller -p will help",
			      options->pow);
		break;
	case EOPNOTSUPP:
		/* It has been turned off only now. */
		if (!kprobes_refuse_disabled())
			warnx("the kernel does not call what it was told to; try again");
		break;
	case EBADF:
	case EINVAL:
		warnx("%s: the kernel cannot write a trace there: %s", output->name,
		      strerror(errno));
		break;
	default:
		warn("cannot begin the recording");
	}
	return -1;
}

/*
 * Signals that end the recording go to the command as well. Those that a terminal sends it has
 * got already, for it is in the foreground like this program.
 *
 * Return: the signal, or 0 if there was none of these.
 */
static int take_signal(struct recording *recording, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo == SIGUSR1) {
		recording->snapshot = !recording->ended;
		return 0;
	}
	child_reap(&recording->child, false);
	if (info.ssi_signo == SIGCHLD)
		return 0;
	if (recording->child.pid && !recording->child.ended && info.ssi_code != SI_KERNEL)
		kill(recording->child.pid, (int)info.ssi_signo);
	return (int)info.ssi_signo;
}

/* Until the command has ended, a signal comes, or the module can't go on. */
static void wait_for_end(struct recording *recording, int signals)
{
	bool progress = isatty(STDERR_FILENO);
	int requests = keeps_newest(&recording->options) ? ring_listen() : -1;
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = recording->device }, /* POLLHUP */
		{ .fd = requests, .events = POLLIN },
		{ .fd = maps_fd(), .events = POLLIN },
	};

	for (;;) {
		int wait_ms = triggers_wait_ms(), ready;

		if (recording->snapshot)
			wait_ms = 0;
		else if (progress && (wait_ms < 0 || wait_ms > PROGRESS_MS))
			wait_ms = PROGRESS_MS;
		fds[1].events = triggers_armed() ? POLLPRI : 0;
		ready = poll(fds, 4, wait_ms);
		if (ready < 0 && errno != EINTR) {
			warn("poll");
			break;
		}
		if (ready > 0 && fds[0].revents && take_signal(recording, signals))
			break;
		if (recording->child.ended || (ready > 0 && fds[1].revents & ~POLLPRI))
			break;
		triggers_go_on(recording, ready > 0 && fds[1].revents & POLLPRI);
		if (ready > 0 && fds[3].revents)
			maps_take();
		if (ready > 0 && fds[2].revents)
			ring_answer(recording, requests);
		/* Signals that end it come first, whatever their number. */
		if (recording->snapshot && !(ready > 0 && fds[0].revents)) {
			recording->snapshot = false;
			ring_snapshot(recording);
		}
		if (progress) {
			status_get(recording);
			progress_show(recording);
		}
	}
	triggers_end(recording);
	progress_erase();
	ring_close(requests);
	recording->ended = true;
}

/* Return: 0, or -1 when the trace is not what it should be. */
static int finish(struct recording *recording)
{
	struct sections tail = { 0 };
	int ret, error = 0;

	while (ioctl(recording->device, FKT_STOP))
		if (errno != EINTR) {
			warn("cannot stop the recording");
			break;
		}
	if (triggers_any()) {
		/* What they were waiting for is in the snapshots. */
		child_reap(&recording->child, false);
		output_discard(&recording->output);
		kinds_summary(recording);
		return triggers_failed() ? -1 : 0;
	}
	if (keeps_newest(&recording->options))
		error = ring_write(recording);
	recording->lane_status = calloc(recording->lanes, sizeof(*recording->lane_status));
	status_get(recording);
	child_reap(&recording->child, false);
	tail_build(&tail, recording);
	ret = output_end(&recording->output, recording->id, recording->status.bytes, tail.data,
			 tail.bytes);
	free(tail.data);
	summary_show(recording);
	if (!error)
		error = recording->status.error;
	return error && error != EPIPE ? -1 : ret;
}

/* The recording has ended, the command goes on. A second signal ends the waiting too. */
static int wait_for_command(struct recording *recording, int signals)
{
	struct child *child = &recording->child;

	child_reap(child, false);
	while (child->pid && !child->ended) {
		int sig = take_signal(recording, signals);

		if (sig)
			return EXIT_SIGNAL + sig;
	}
	return child->pid ? child->status : EXIT_SUCCESS;
}

/* Return: the exit status. */
static int record(struct recording *recording, int signals)
{
	struct child *child = &recording->child;
	const bool now = !keeps_newest(&recording->options);
	int status = EXIT_FAILURE, failed;

	if (kinds_set(recording)) {
		child_abandon(child);
		goto out_discard;
	}
	maps_begin(!now);
	head_begin(recording);
	if (now)
		head_end(recording, false);
	if ((now ? output_begin(&recording->output, recording->head.data, recording->head.bytes)
		 : ring_begin(recording)) ||
	    start(recording)) {
		child_abandon(child);
		goto out_discard;
	}
	if (child->pid) {
		failed = child_release(child, recording->options.command[0]);
		if (failed) {
			status = failed;
			ioctl(recording->device, FKT_STOP);
			goto out_discard;
		}
	}
	wait_for_end(recording, signals);
	failed = finish(recording);
	status = wait_for_command(recording, signals);
	if (failed)
		status = EXIT_FAILURE;
	goto out_free;

out_discard:
	output_discard(&recording->output);
out_free:
	free(recording->lane_status);
	free(recording->module_codes.data);
	free(recording->loaded);
	free(recording->processes.data);
	free(recording->head.data);
	return status;
}

/* To be read from a file, and not to strike anywhere else. Return: the file. */
static int catch_signals(const struct options *options, sigset_t *before)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	/* Whoever ignores it does not hear of his children's end. */
	signal(SIGCHLD, SIG_DFL);
	sigaddset(&set, SIGCHLD);
	if (keeps_newest(options))
		sigaddset(&set, SIGUSR1);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(EXIT_FAILURE, "signalfd");
	/* A reader who has gone, or RLIMIT_FSIZE, is an error of write(). */
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &set, before);
	return fd;
}

/* Return: the exit status. */
static int list(const struct options *options)
{
	if (options->list(options))
		return EXIT_FAILURE;
	if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
		warn("standard output");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct recording recording = { 0 };
	struct options *options = &recording.options;
	int signals, failed, stdout_fd;
	char *path = NULL;
	sigset_t before;

	permission_keep();
	options_parse(options, argc, argv);
	if (options->list)
		return list(options);
	if (options->system_map && access(options->system_map, R_OK))
		err(EXIT_FAILURE, "%s", options->system_map);
	for (size_t i = 0; i < options->module_files_count; i++)
		if (access(options->module_files[i], R_OK))
			err(EXIT_FAILURE, "%s", options->module_files[i]);
	if (options->command) {
		failed = child_find(options->command[0], &path);
		if (failed)
			return failed;
	}
	kinds_find(&recording);
	if (getrandom(recording.id, sizeof(recording.id), 0) != sizeof(recording.id))
		err(EXIT_FAILURE, "getrandom");

	recording.child.ignores_ends = is_ignored(SIGCHLD);
	signals = catch_signals(options, &before);
	recording.device = open_device(options);
	if (recording.device < 0 || output_open(&recording.output, options->output))
		return EXIT_FAILURE;
	if (triggers_any() && (recording.output.kind != OUTPUT_FILE || !recording.output.ours)) {
		warnx("%s: --trigger writes snapshots into files that are called like that of -o: it "
		      "has to be a regular file, by its name",
		      recording.output.name);
		return EXIT_FAILURE;
	}
	/* A trace on standard output is not to be mixed with what the command says. */
	stdout_fd = strcmp(options->output, "-") ? -1 : STDERR_FILENO;
	if (options->command &&
	    child_fork(&recording.child, path, options->command, stdout_fd, &before)) {
		output_discard(&recording.output);
		return EXIT_FAILURE;
	}
	free(path);
	return record(&recording, signals);
}

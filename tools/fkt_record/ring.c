// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the lanes hold of a recording that overwrites becomes a trace: in the end, or while it goes
 * on, as a snapshot that fkt_snapshot or a signal has asked for.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/snapshot.h"
#include "record.h"

#define NS_PER_MS   1000000ull

/* How long whoever has connected may take to say what for. */
#define REQUEST_MS  1000
#define NUMBERS_MAX 100000

/* Return: 0 or an errno value. */
static int write_head(struct recording *recording)
{
	head_end(recording, true);
	if (output_begin(&recording->output, recording->head.data, recording->head.bytes))
		return errno ?: EIO;
	return 0;
}

int ring_begin(struct recording *recording)
{
	struct recording early = *recording;
	int ret;

	if (recording->output.kind == OUTPUT_STREAM ||
	    (recording->output.kind == OUTPUT_FILE && !recording->output.ours))
		return 0;
	early.head = (struct sections){ 0 };
	sections_add(&early.head, recording->head.data, recording->head.bytes);
	head_end(&early, false);
	ret = output_begin(&early.output, early.head.data, early.head.bytes);
	free(early.head.data);
	/* It will be begun anew. */
	lseek(recording->output.fd, recording->output.start, SEEK_SET);
	fcntl(recording->output.fd, F_SETFL, fcntl(recording->output.fd, F_GETFL) & ~O_DIRECT);
	recording->output.begun = true;
	return ret;
}

int ring_write(struct recording *recording)
{
	int error = write_head(recording);

	return error ?: output_splice(&recording->output, recording->device);
}

/* The stamp of so long ago; 0: as far as there is anything. */
static uint64_t stamp_before(const struct recording *recording, uint64_t ns)
{
	double cycles = (double)ns * (double)recording->tsc_khz / (double)NS_PER_MS;
	uint64_t now = clock_pair().cycles + clock_ahead(recording->device);

	return ns && cycles < (double)(now - recording->begin.cycles) ? now - (uint64_t)cycles : 0;
}

/* The pages; what goes on is held up for no longer. Return: 0 or an errno value. */
static int write_pages(struct recording *snapshot, uint64_t last_ns)
{
	struct fkt_snapshot begin = {
		.size = sizeof(begin),
		.from_cycles = stamp_before(snapshot, last_ns),
	};
	uint32_t used;
	int error;

	memcpy(begin.id, snapshot->id, FKT_ID_BYTES);
	if (ioctl(snapshot->device, FKT_SNAPSHOT, &begin))
		return errno;
	error = output_splice(&snapshot->output, snapshot->device);
	status_get(snapshot);
	snapshot->status.stop_cycles = begin.stop_cycles;
	used = !error;
	while (ioctl(snapshot->device, FKT_SNAPSHOT_END, &used) && errno == EINTR)
		;
	return error;
}

static int write_tail(struct recording *snapshot)
{
	struct sections tail = { 0 };
	int error = 0;

	tail_build(&tail, snapshot);
	if (output_end(&snapshot->output, snapshot->id, snapshot->status.bytes, tail.data,
		       tail.bytes))
		error = errno ?: EIO;
	free(tail.data);
	return error;
}

static void describe(const struct recording *snapshot, char *text, size_t bytes)
{
	const struct fkt_status *status = &snapshot->status;
	uint64_t from = status->start_cycles;
	double seconds;

	for (uint32_t i = 0; i < status->lanes; i++)
		if (snapshot->lane_status[i].complete_from > from)
			from = snapshot->lane_status[i].complete_from;
	seconds = (double)(status->stop_cycles - from) / (double)snapshot->tsc_khz / 1000;
	if (status->stop_cycles < from)
		seconds = 0;
	snprintf(text, bytes, "%llu events, %llu pages (%.1f MB) of %.3f s, %llu lost",
		 status->events, status->pages, (double)status->bytes / (1 << 20), seconds,
		 status->lost);
}

/*
 * Write a snapshot into a file: head and tail are its own, as is the id.
 */
static int take_snapshot(struct recording *recording, struct output *output, uint64_t last_ns,
			 char *text, size_t bytes)
{
	struct recording snapshot = *recording;
	int error = 0;

	snapshot.output = *output;
	snapshot.head = (struct sections){ 0 };
	sections_add(&snapshot.head, recording->head.data, recording->head.bytes);
	snapshot.lane_status = calloc(recording->lanes, sizeof(*snapshot.lane_status));
	if (!snapshot.lane_status ||
	    getrandom(snapshot.id, sizeof(snapshot.id), 0) != sizeof(snapshot.id))
		error = ENOMEM;
	memcpy(((struct fkt_file_header *)snapshot.head.data)->id, snapshot.id, FKT_ID_BYTES);
	if (!error)
		error = write_head(&snapshot);
	if (!error)
		error = write_pages(&snapshot, last_ns);
	if (!error)
		error = write_tail(&snapshot);
	if (error == ENODEV)
		snprintf(text, bytes, "the recording has ended");
	else if (error)
		snprintf(text, bytes, "cannot write the snapshot: %s", strerror(error));
	else
		describe(&snapshot, text, bytes);
	free(snapshot.lane_status);
	free(snapshot.head.data);
	return error;
}

static bool is_there(const char *name, long number)
{
	char file[4096];
	struct stat st;

	snprintf(file, sizeof(file), "%s.%ld", name, number);
	return !lstat(file, &st);
}

/*
 * A number that no snapshot has yet: to try one after the other takes time, in which what the lanes
 * hold is overwritten.
 */
static long free_number(const char *name)
{
	long taken = 0, free = 1, middle;

	while (free <= NUMBERS_MAX && is_there(name, free)) {
		taken = free;
		free *= 2;
	}
	while (free - taken > 1) {
		middle = taken + (free - taken) / 2;
		if (is_there(name, middle))
			taken = middle;
		else
			free = middle;
	}
	return free <= NUMBERS_MAX ? free : 1;
}

int ring_snapshot(struct recording *recording)
{
	const char *name = recording->output.name;
	struct output output;
	char file[4096], text[256];
	int error, fd = -1;

	if (recording->output.kind != OUTPUT_FILE || !recording->output.ours)
		name = "trace_file";
	/* Those that are there stay, also one that has come in between. */
	for (long i = free_number(name); fd < 0 && i <= NUMBERS_MAX; i++) {
		snprintf(file, sizeof(file), "%s.%ld", name, i);
		fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	progress_erase();
	if (fd < 0) {
		error = errno;
		warn("%s: cannot write a snapshot there", file);
		return error;
	}
	output_take(&output, fd, file);
	output.created = true;
	error = take_snapshot(recording, &output, 0, text, sizeof(text));
	fprintf(stderr, "fkt_record: %s: %s\n", file, text);
	if (error)
		output_discard(&output);
	close(fd);
	return error;
}

int ring_listen(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = SNAPSHOT_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0077);

	/* One that is there is of a recorder that was killed: there is one recording at a time. */
	unlink(SNAPSHOT_SOCKET);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 16)) {
		warn(SNAPSHOT_SOCKET ": fkt_snapshot will not be able to ask for snapshots");
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	umask(mask);
	return fd;
}

void ring_close(int fd)
{
	if (fd < 0)
		return;
	unlink(SNAPSHOT_SOCKET);
	close(fd);
}

/* Return: the file to write, or -1. */
static int receive_request(int from, struct snapshot_request *request)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = request, .iov_len = sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_LEN(sizeof(int)), /* of more files, the first */
	};
	struct cmsghdr *header;
	int fd = -1;
	ssize_t got;

	if (poll(&(struct pollfd){ .fd = from, .events = POLLIN }, 1, REQUEST_MS) != 1)
		return -1;
	got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	header = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	if (fd >= 0 && (got != sizeof(*request) || message.msg_flags & MSG_TRUNC)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Why a snapshot can't go into a file that somebody has opened; NULL when it can. */
static const char *refuse(const struct recording *recording, int fd)
{
	struct stat st, own;
	int flags = fcntl(fd, F_GETFL);

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return "a snapshot goes into a regular file";
	if (flags < 0 || flags & (O_PATH | O_APPEND) || (flags & O_ACCMODE) == O_RDONLY ||
	    lseek(fd, 0, SEEK_SET))
		return "the file is not open for writing";
	if (!fstat(recording->output.fd, &own) && own.st_dev == st.st_dev &&
	    own.st_ino == st.st_ino)
		return "this is where the recording itself will be written when it ends";
	return NULL;
}

static void answer(int to, struct recording *recording)
{
	struct snapshot_reply reply = { .failed = 1 };
	struct snapshot_request request = { 0 };
	struct output output;
	const char *why;
	int fd = receive_request(to, &request);

	if (fd < 0)
		return;
	if (request.version != SNAPSHOT_VERSION || request.reserved)
		snprintf(reply.text, sizeof(reply.text),
			 "fkt_record is of another release; install both from one");
	else if ((why = refuse(recording, fd)))
		snprintf(reply.text, sizeof(reply.text), "%s", why);
	else {
		output_take(&output, fd, "the snapshot");
		reply.failed = !!take_snapshot(recording, &output, request.last_ns, reply.text,
					       sizeof(reply.text));
	}
	close(fd);
	send(to, &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void ring_answer(struct recording *recording, int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int to = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (to < 0)
		return;
	/* The socket's mode says it already; not every file system keeps to that. */
	if (!getsockopt(to, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
	    (!peer.uid || peer.uid == geteuid()))
		answer(to, recording);
	close(to);
}

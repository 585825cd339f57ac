// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which code of which files programs have at which addresses, so that their stacks get names.
 *
 * What there is when the recording begins, /proc says; what comes while it runs, the kernel tells
 * perf's users, with the files' build ids: there is a buffer for each CPU, which is emptied now and
 * then. So those are known as well that have long gone in the end.
 */
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "trace/elf.h"

/* Of each CPU; a power of two. A program that begins takes some kilobytes. */
#define BUFFER_BYTES (256u << 10)
/* Of all lines; a reader takes no more than 64 MB. */
#define LINES_BYTES  (48u << 20)
/* Of them, what /proc says at a time: it leaves room for what comes. */
#define SCAN_BYTES   (16u << 20)
/* And of those at the end of a device that is filled up to its end. */
#define ROOM_BYTES   (1u << 20)
#define PATH_BYTES   4096
/* Where something is missing, /proc is asked anew, but not more often than this. */
#define AGAIN_NS     5000000000ull
/* A CPU that comes is told of so much later at most; what runs there meanwhile is not heard. */
#define COME_NS	     1000000000ull
#define UEVENT_BYTES 4096

/**
 * struct buffer - what a CPU tells
 * @fd: where from; -1: the CPU was not there, or has come anew
 * @page: the first one, which says how far it is filled
 * @data: the others
 * @sure_ns: up to this moment no record is missing
 * @lost: records for which there was no room
 * @full: it is told that from then on nothing is taken
 */
struct buffer {
	int fd;
	struct perf_event_mmap_page *page;
	const char *data;
	uint64_t sure_ns;
	uint64_t lost;
	bool full;
};

/*
 * The build id of a file that many have. The number of an inode does not say which file it is: of
 * btrfs each subvolume has numbers of its own, and all of them the device that /proc says.
 */
struct file {
	unsigned int major, minor;
	uint64_t inode;
	char *path;
	char build_id[FKT_BUILD_ID_TEXT];
};

static struct {
	int epoll;	       /* ready when a buffer is half full, or a CPU has come */
	int uevents;	       /* what the kernel tells of its devices, CPUs among them */
	struct buffer *buffer; /* by CPU */
	size_t buffers;
	struct sections lines;
	size_t told; /* of the lines, that the head has */
	struct file *file;
	size_t files;
	size_t scan; /* where the lines of /proc begin */
	uint64_t lost;
	bool missing;	   /* something is, since /proc was asked last */
	uint64_t asked_ns; /* when that was */
	bool full;
	bool newest; /* what is long ago is of no use */
} maps = { .epoll = -1, .uevents = -1 };

/* In a PID namespace neither /proc nor perf have the numbers that the trace has. */
static bool is_wanted(void)
{
	return stacks_user() && head_proc_is_machines();
}

/* ---- lines ---- */

static void add_map(uint64_t ns, uint32_t pid, uint64_t begin, uint64_t end, uint64_t offset,
		    const char *build_id, char *path)
{
	for (char *c = path; (c = strchr(c, '\n')); c++)
		*c = '?';
	sections_printf(&maps.lines,
			"map %" PRIu64 " %" PRIu32 " %#" PRIx64 " %#" PRIx64 " %#" PRIx64
			" %s %s\n",
			ns, pid, begin, end, offset, *build_id ? build_id : "-", path);
}

/* From one moment to the other, programs may have got code that nobody tells of. */
static void add_missing(uint64_t from_ns, uint64_t to_ns)
{
	maps.missing = true;
	sections_printf(&maps.lines, "missing %" PRIu64 " %" PRIu64 "\n", from_ns, to_ns);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- what there is, by /proc ---- */

/* The very file, wherever it is. */
static void read_build_id(uint32_t pid, uint64_t begin, uint64_t end, char text[FKT_BUILD_ID_TEXT])
{
	struct stat st;
	char path[64];
	int fd;

	*text = '\0';
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, begin,
		 end);
	/* To open a device may do something. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	fkt_elf_build_id(fd, text);
	close(fd);
}

static const char *build_id_of(const struct file *key, uint32_t pid, uint64_t begin, uint64_t end)
{
	struct file *file;

	for (file = maps.file; file < maps.file + maps.files; file++)
		if (file->inode == key->inode && file->major == key->major &&
		    file->minor == key->minor && !strcmp(file->path, key->path))
			return file->build_id;
	maps.file = reallocarray(maps.file, maps.files + 1, sizeof(*maps.file));
	if (!maps.file)
		err(EXIT_FAILURE, "no memory for --user-stack");
	file = &maps.file[maps.files++];
	*file = *key;
	file->path = strdup(key->path);
	if (!file->path)
		err(EXIT_FAILURE, "no memory for --user-stack");
	read_build_id(pid, begin, end, file->build_id);
	return file->build_id;
}

/* A line of /proc/PID/maps: "begin-end r-xp offset major:minor inode   path" */
static void add_proc_line(uint64_t ns, uint32_t pid, char *line)
{
	uint64_t begin, end, offset;
	struct file file = { 0 };
	char execute;
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &begin, &end, &execute, &offset, &file.major, &file.minor, &file.inode,
		   &at) != 7 ||
	    execute != 'x' || !line[at])
		return;
	if (maps.lines.bytes - maps.scan > SCAN_BYTES) {
		maps.lost++;
		return;
	}
	file.path = line + at;
	add_map(ns, pid, begin, end, file.inode ? offset : 0,
		file.inode ? build_id_of(&file, pid, begin, end) : "", line + at);
}

/* What a process has, from some moment on: 0, all the time before. */
static void add_process(uint64_t ns, uint32_t pid)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	/* Instead of what was heard of it. */
	if (ns)
		sections_printf(&maps.lines, "exec %" PRIu64 " %" PRIu32 "\n", ns, pid);
	while (getline(&line, &room, file) > 0)
		add_proc_line(ns, pid, line);
	free(line);
	fclose(file);
}

static void add_processes(bool again)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	maps.scan = maps.lines.bytes;
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_process(again ? now_ns() : 0,
				    (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	/* A file may have become another one meanwhile. */
	for (size_t i = 0; i < maps.files; i++)
		free(maps.file[i].path);
	free(maps.file);
	maps.file = NULL;
	maps.files = 0;
}

/* ---- what comes, by perf ---- */

/* A record's moment is at its end: it is all that was asked for. */
static uint64_t moment_of(const struct perf_event_header *header)
{
	uint64_t ns;

	memcpy(&ns, (const char *)header + header->size - sizeof(ns), sizeof(ns));
	return ns;
}

static void take_map(const struct perf_event_header *header)
{
	/* As perf_event_open(2) has it; the name's NULs go on to a multiple of 8. */
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t begin, bytes, offset;
		uint8_t build_id_bytes, reserved[3], build_id[20];
		uint32_t prot, flags;
		char path[];
	} *map = (const void *)header;
	char build_id[FKT_BUILD_ID_TEXT] = "", path[PATH_BYTES];
	const size_t room = header->size - sizeof(*map) - sizeof(uint64_t);

	if (!(map->prot & PROT_EXEC))
		return;
	snprintf(path, sizeof(path), "%.*s", (int)room, map->path);
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		for (unsigned int i = 0; i < map->build_id_bytes && i < sizeof(map->build_id); i++)
			sprintf(build_id + 2 * i, "%02x", map->build_id[i]);
	else if (*path == '/' && path[1] != '/')
		read_build_id(map->pid, map->begin, map->begin + map->bytes, build_id);
	add_map(moment_of(header), map->pid, map->begin, map->begin + map->bytes,
		*path == '/' ? map->offset : 0, build_id, path);
}

/* "pid, tid, name": the name is that of a program which is executed. */
static void take_comm(const struct perf_event_header *header)
{
	uint32_t pid;

	if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	memcpy(&pid, header + 1, sizeof(pid));
	sections_printf(&maps.lines, "exec %" PRIu64 " %" PRIu32 "\n", moment_of(header), pid);
}

/* "pid, parent, …"; of a thread, these are the same. */
static void take_fork(const struct perf_event_header *header)
{
	uint32_t pid[2];

	memcpy(pid, header + 1, sizeof(pid));
	if (pid[0] != pid[1])
		sections_printf(&maps.lines, "fork %" PRIu64 " %" PRIu32 " %" PRIu32 "\n",
				moment_of(header), pid[0], pid[1]);
}

static void take_record(struct buffer *buffer, const struct perf_event_header *header)
{
	if (maps.full) {
		if (!buffer->full)
			add_missing(buffer->sure_ns, UINT64_MAX);
		buffer->full = true;
		maps.lost++;
		return;
	}
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		take_map(header);
		break;
	case PERF_RECORD_COMM:
		take_comm(header);
		break;
	case PERF_RECORD_FORK:
		take_fork(header);
		break;
	default:
		break;
	}
}

/*
 * What was lost up to now, which the records say only when the next one comes. It came when the
 * buffer was full.
 */
static void take_lost(struct buffer *buffer)
{
	struct {
		uint64_t value, lost;
	} count;

	if (read(buffer->fd, &count, sizeof(count)) != sizeof(count) || count.lost <= buffer->lost)
		return;
	maps.lost += count.lost - buffer->lost;
	buffer->lost = count.lost;
	add_missing(buffer->sure_ns, now_ns());
}

static void take_records(struct buffer *buffer)
{
	/* Partner: the kernel's write of data_head, after the records. */
	const uint64_t head = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = buffer->page->data_tail;
	/* From there on, there may have been no room for a record. */
	const uint64_t sure = tail + BUFFER_BYTES - 2 * PATH_BYTES;
	static char record[UINT16_MAX + 1] __attribute__((aligned(8)));
	struct perf_event_header header;

	while (tail < head) {
		const size_t at = tail % BUFFER_BYTES;

		/* A header does not go round the end: all is aligned to its size. */
		memcpy(&header, buffer->data + at, sizeof(header));
		if (header.size < sizeof(header) + sizeof(uint64_t) || header.size > head - tail)
			break;
		for (size_t i = 0; i < header.size; i++)
			record[i] = buffer->data[(at + i) % BUFFER_BYTES];
		take_record(buffer, (const struct perf_event_header *)record);
		if (tail < sure)
			buffer->sure_ns = moment_of((const struct perf_event_header *)record);
		tail += header.size;
	}
	/* Partner: the kernel's read of data_tail, before it writes over what is free. */
	__atomic_store_n(&buffer->page->data_tail, head, __ATOMIC_RELEASE);
	take_lost(buffer);
}

/*
 * Too many lines. Of the newest events alone, the older half is of little use; what programs have
 * now that are still there is put in its place.
 */
static void make_room(void)
{
	struct sections lines = maps.lines;
	const char *half = memchr(lines.data + lines.bytes / 2, '\n', lines.bytes / 2);

	if (!maps.newest || !half) {
		maps.full = true;
		return;
	}
	maps.lines = (struct sections){ 0 };
	add_processes(false);
	sections_add(&maps.lines, half + 1, (size_t)(lines.data + lines.bytes - half - 1));
	free(lines.data);
}

static int open_cpu(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_LOST,
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = BUFFER_BYTES / 2,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void close_buffer(struct buffer *buffer)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (buffer->fd < 0)
		return;
	take_records(buffer);
	munmap(buffer->page, page_bytes + BUFFER_BYTES);
	close(buffer->fd);
	buffer->fd = -1;
}

/* Listen to a CPU, anew if it was there before. Return: 0 or an errno value. */
static int listen_to(struct buffer *buffer)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct epoll_event event = { .events = EPOLLIN };
	char *memory;
	int fd, error;

	close_buffer(buffer);
	fd = open_cpu((int)(buffer - maps.buffer));
	if (fd < 0)
		return errno;
	memory = mmap(NULL, page_bytes + BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED || epoll_ctl(maps.epoll, EPOLL_CTL_ADD, fd, &event)) {
		error = errno;
		if (memory != MAP_FAILED)
			munmap(memory, page_bytes + BUFFER_BYTES);
		close(fd);
		return error;
	}
	buffer->fd = fd;
	buffer->page = (struct perf_event_mmap_page *)memory;
	buffer->data = memory + page_bytes;
	buffer->sure_ns = now_ns();
	buffer->lost = 0;
	return 0;
}

/* ---- CPUs that come ---- */

/*
 * An event of perf does not come back with its CPU. The kernel tells of that, as it does of all
 * devices: "online@/devices/system/cpu/cpu1", "offline@...".
 */
static void listen_to_uevents(void)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	struct epoll_event event = { .events = EPOLLIN };
	const int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			      NETLINK_KOBJECT_UEVENT);

	if (fd < 0)
		return;
	if (bind(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) ||
	    epoll_ctl(maps.epoll, EPOLL_CTL_ADD, fd, &event)) {
		close(fd);
		return;
	}
	maps.uevents = fd;
}

static void take_uevents(void)
{
	struct sockaddr_nl from;
	char text[UEVENT_BYTES];
	unsigned int cpu;
	ssize_t bytes;
	char on[2];
	uint64_t ns;

	while (maps.uevents >= 0) {
		socklen_t from_bytes = sizeof(from);

		bytes = recvfrom(maps.uevents, text, sizeof(text) - 1, 0, (struct sockaddr *)&from,
				 &from_bytes);
		if (bytes < 0 && errno == EINTR)
			continue;
		/* Where some did not fit (ENOBUFS), the next ones do. */
		if (bytes < 0 && errno != ENOBUFS)
			return;
		text[bytes < 0 ? 0 : bytes] = '\0';
		/* Its own alone, which have the number 0. */
		if (from.nl_pid ||
		    sscanf(text, "o%1[nf]%*[a-z]@/devices/system/cpu/cpu%u", on, &cpu) != 2 ||
		    cpu >= maps.buffers)
			continue;
		ns = now_ns();
		if (*on == 'f')
			close_buffer(&maps.buffer[cpu]);
		else if (!listen_to(&maps.buffer[cpu]))
			add_missing(ns > COME_NS ? ns - COME_NS : 0, now_ns());
	}
}

void maps_take(void)
{
	uint64_t ns;

	if (!maps.buffers)
		return;
	take_uevents();
	for (size_t i = 0; i < maps.buffers; i++)
		if (maps.buffer[i].fd >= 0)
			take_records(&maps.buffer[i]);
	ns = now_ns();
	if (maps.missing && !maps.full && ns - maps.asked_ns >= AGAIN_NS &&
	    (maps.newest || maps.lines.bytes < LINES_BYTES / 2)) {
		maps.missing = false;
		add_processes(true);
		maps.asked_ns = now_ns();
	}
	if (maps.lines.bytes > LINES_BYTES && !maps.full)
		make_room();
}

void maps_begin(bool newest)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	int error = 0;

	if (!is_wanted())
		return;
	maps.newest = newest;
	maps.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (maps.epoll < 0)
		error = errno;
	if (!error)
		listen_to_uevents();
	maps.buffer = calloc((size_t)cpus, sizeof(*maps.buffer));
	if (!maps.buffer)
		err(EXIT_FAILURE, "no memory for --user-stack");
	for (int cpu = 0; cpu < cpus; cpu++)
		maps.buffer[cpu].fd = -1;
	for (maps.buffers = 0; maps.buffers < (size_t)cpus && !error; maps.buffers++) {
		error = listen_to(&maps.buffer[maps.buffers]);
		/* It is not online. */
		if (error == ENODEV)
			error = 0;
	}
	if (error)
		warnx("--user-stack: the code of programs that begin from now on will have no "
		      "names: perf_event_open: %s",
		      strerror(error));
	add_processes(false);
}

int maps_fd(void)
{
	return maps.epoll;
}

/* ---- in the trace ---- */

static void add_section(struct sections *to, size_t from)
{
	sections_begin(to, FKT_SECTION_MAPS);
	sections_add(to, maps.lines.data + from, maps.lines.bytes - from);
	sections_end_compressed(to);
}

void maps_add_head(struct sections *head)
{
	if (!is_wanted())
		return;
	maps_take();
	maps.told = maps.lines.bytes;
	add_section(head, 0);
}

void maps_add_tail(struct sections *tail, const struct recording *recording)
{
	struct sections late = { 0 };

	if (!is_wanted())
		return;
	maps_take();
	add_section(&late, maps.newest ? 0 : maps.told);
	if (recording->output.kind == OUTPUT_BLOCK && late.bytes > ROOM_BYTES)
		warnx("%s: no room for the names of programs that came while recording",
		      recording->output.name);
	else
		sections_add(tail, late.data, late.bytes);
	free(late.data);
	if (maps.lost)
		warnx("--user-stack: %" PRIu64 " times it is not known what code a program had",
		      maps.lost);
}

size_t maps_room(void)
{
	return is_wanted() ? ROOM_BYTES : 0;
}

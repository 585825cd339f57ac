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
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
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
/* And of those at the end of a device that is filled up to its end. */
#define ROOM_BYTES   (1u << 20)
#define PATH_BYTES   4096

/**
 * struct buffer - what a CPU tells
 * @page: the first one, which says how far it is filled
 * @data: the others
 */
struct buffer {
	struct perf_event_mmap_page *page;
	const char *data;
};

/* The build id of a file that many have. */
struct file {
	unsigned int major, minor;
	uint64_t inode;
	char build_id[FKT_BUILD_ID_TEXT];
};

static struct {
	int epoll; /* ready when a buffer is half full */
	struct buffer *buffer;
	size_t buffers;
	struct sections lines;
	size_t told; /* of the lines, that the head has */
	struct file *file;
	size_t files;
	uint64_t lost;
	bool full;
	bool newest; /* what is long ago is of no use */
} maps = { .epoll = -1 };

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
		    file->minor == key->minor)
			return file->build_id;
	maps.file = reallocarray(maps.file, maps.files + 1, sizeof(*maps.file));
	if (!maps.file)
		err(EXIT_FAILURE, "no memory for --user-stack");
	file = &maps.file[maps.files++];
	*file = *key;
	read_build_id(pid, begin, end, file->build_id);
	return file->build_id;
}

/* A line of /proc/PID/maps: "begin-end r-xp offset major:minor inode   path" */
static void add_proc_line(uint32_t pid, char *line)
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
	add_map(0, pid, begin, end, file.inode ? offset : 0,
		file.inode ? build_id_of(&file, pid, begin, end) : "", line + at);
}

static void add_process(uint32_t pid)
{
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		add_proc_line(pid, line);
	free(line);
	fclose(file);
}

static void add_processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			add_process((uint32_t)strtoul(entry->d_name, NULL, 10));
	if (dir)
		closedir(dir);
	/* A file may have become another one meanwhile. */
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

static void take_record(const struct perf_event_header *header)
{
	uint64_t lost[2];

	if (header->type == PERF_RECORD_LOST) {
		memcpy(lost, header + 1, sizeof(lost));
		maps.lost += lost[1];
		return;
	}
	if (maps.full) {
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

static void take_records(struct buffer *buffer)
{
	/* Partner: the kernel's write of data_head, after the records. */
	const uint64_t head = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = buffer->page->data_tail;
	static char record[UINT16_MAX + 1] __attribute__((aligned(8)));
	struct perf_event_header header;

	while (tail < head) {
		const size_t at = tail % BUFFER_BYTES;

		/* A header does not go round the end: all is aligned to its size. */
		memcpy(&header, buffer->data + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		for (size_t i = 0; i < header.size; i++)
			record[i] = buffer->data[(at + i) % BUFFER_BYTES];
		take_record((const struct perf_event_header *)record);
		tail += header.size;
	}
	/* Partner: the kernel's read of data_tail, before it writes over what is free. */
	__atomic_store_n(&buffer->page->data_tail, head, __ATOMIC_RELEASE);
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
	add_processes();
	sections_add(&maps.lines, half + 1, (size_t)(lines.data + lines.bytes - half - 1));
	free(lines.data);
}

void maps_take(void)
{
	for (size_t i = 0; i < maps.buffers; i++)
		take_records(&maps.buffer[i]);
	if (maps.lines.bytes > LINES_BYTES && !maps.full)
		make_room();
}

static int open_cpu(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
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

/* Return: 0 or an errno value. */
static int listen_to(int cpu)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct epoll_event event = { .events = EPOLLIN };
	struct buffer *buffer;
	char *memory;
	int fd = open_cpu(cpu), error;

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
	maps.buffer = reallocarray(maps.buffer, maps.buffers + 1, sizeof(*maps.buffer));
	if (!maps.buffer)
		err(EXIT_FAILURE, "no memory for --user-stack");
	buffer = &maps.buffer[maps.buffers++];
	buffer->page = (struct perf_event_mmap_page *)memory;
	buffer->data = memory + page_bytes;
	return 0;
}

void maps_begin(bool newest)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	int error = 0;

	if (!stacks_user())
		return;
	maps.newest = newest;
	maps.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (maps.epoll < 0)
		error = errno;
	for (int cpu = 0; cpu < cpus && !error; cpu++) {
		error = listen_to(cpu);
		/* It is not online. */
		if (error == ENODEV)
			error = 0;
	}
	if (error)
		warnx("--user-stack: the code of programs that begin from now on will have no "
		      "names: perf_event_open: %s",
		      strerror(error));
	add_processes();
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
	if (!stacks_user())
		return;
	maps_take();
	maps.told = maps.lines.bytes;
	add_section(head, 0);
}

void maps_add_tail(struct sections *tail, const struct recording *recording)
{
	struct sections late = { 0 };

	if (!stacks_user())
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
	return stacks_user() ? ROOM_BYTES : 0;
}

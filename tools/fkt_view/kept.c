// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The levels of a large trace, kept in the cache directory for the next time that somebody looks at
 * it. They are this user's own, of the same program, and of the very same file: its id, its size
 * and the time of its last change are asked for. A file that is cut short, or whose head or tables
 * are not what was written, is not taken; cells are too many to be looked at before they are drawn.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <fkt/version.h>

#include "levels_internal.h"
#include "read/internal.h"

/* Of fewer events they are made in no time. */
#define KEEP_EVENTS   1000000
/* What was not looked at for so long, and what is more than so much, oldest first, is removed. */
#define KEEP_SECONDS  (30 * 24 * 3600)
#define KEEP_BYTES    (4ull << 30)

#define PATH_BYTES    4096
#define COPY_BYTES    (1u << 20)
/* Who quits waits for no more than this to be on the disk. */
#define SYNC_BYTES    (32u << 20)
#define CELLS_ALIGNED 4096ull

#define SUM_BEGIN     14695981039346656037ull

/* The number changes with what cells, or numbers in them, mean: another program's are no use. */
static const char magic[] = "FKT levels 2 of FKT " FKT_RELEASE;

/**
 * struct kept - how such a file begins
 * @id, @bytes, @changed_s, @changed_ns: of the trace
 * @program_bytes, @program_s, @program_ns: of the program that has written it: a release may be
 *	built anew, and sum up otherwise
 * @whole: bytes of this file
 * @sum: of all before the cells, of this head with 0 here
 * @cells: how many cells of each level
 * @names, @befores, @losses, @marks, @threads, @cpus: how many of them follow, in this order; then
 *	the cells, level by level, aligned to CELLS_ALIGNED
 */
struct kept {
	char magic[48];
	uint8_t id[FKT_ID_BYTES];
	uint64_t bytes;
	int64_t changed_s;
	int64_t changed_ns;
	uint64_t program_bytes;
	int64_t program_s;
	int64_t program_ns;
	uint64_t first;
	uint64_t last;
	uint64_t bin_cycles;
	uint64_t whole;
	uint64_t sum;
	uint64_t cells[LEVELS_MAX];
	struct progress progress;
	uint64_t threads;
	uint32_t levels;
	uint32_t names;
	uint32_t befores;
	uint32_t losses;
	uint32_t marks;
	uint32_t cpus;
};

_Static_assert(sizeof(magic) <= sizeof(((struct kept *)0)->magic), "it has room");

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + CELLS_ALIGNED - 1) / CELLS_ALIGNED * CELLS_ALIGNED;
}

/* Where each level's cells begin. Return: how long the file is; 0: there can be no such. */
static uint64_t lay_out(const struct kept *kept, uint64_t begin[LEVELS_MAX])
{
	const uint64_t most = UINT64_MAX / 64 / sizeof(struct cell);
	uint64_t end;

	if (kept->threads > UINT32_MAX || kept->cpus > UINT16_MAX + 1u ||
	    kept->losses > LOSSES_MAX || kept->marks > MARKS_MAX || !kept->levels ||
	    kept->levels > LEVELS_MAX || !kept->bin_cycles)
		return 0;
	end = sizeof(*kept) + (uint64_t)kept->names * FKT_NAME_BYTES +
	      (uint64_t)kept->befores * sizeof(struct cell) +
	      (uint64_t)kept->losses * sizeof(struct loss) +
	      (uint64_t)kept->marks * sizeof(struct mark) +
	      kept->threads * sizeof(struct collected_thread) + kept->cpus;
	for (uint32_t i = 0; i < kept->levels; i++) {
		if (kept->cells[i] > most)
			return 0;
		begin[i] = end = aligned(end);
		end += kept->cells[i] * sizeof(struct cell);
	}
	return end;
}

/* FNV-1a. */
static uint64_t add_to_sum(uint64_t sum, const void *data, uint64_t bytes)
{
	const uint8_t *byte = data;

	while (bytes--)
		sum = (sum ^ *byte++) * 1099511628211u;
	return sum;
}

/* ---- where they are ---- */

static bool is_own(const struct stat *about)
{
	return S_ISDIR(about->st_mode) && about->st_uid == geteuid();
}

/*
 * The folder, in a cache directory of this user's own: it may be root whose HOME is another's, who
 * is to find nothing there that is not his.
 */
static bool folder_path(char path[PATH_BYTES])
{
	struct stat about;
	size_t length;

	if (!levels_folder(path, PATH_BYTES - sizeof("/fkt")) || stat(path, &about) ||
	    !is_own(&about))
		return false;
	length = strlen(path);
	memcpy(path + length, "/fkt", sizeof("/fkt"));
	return true;
}

static bool is_own_folder(const char *path)
{
	struct stat about;

	return !lstat(path, &about) && is_own(&about);
}

/* Parts of a trace have its id, too. */
static bool kept_path(const struct levels *levels, const char *folder, char path[PATH_BYTES])
{
	const uint8_t *id = fkt_header(levels->trace)->id;
	char name[2 * FKT_ID_BYTES + 1];

	for (size_t i = 0; i < FKT_ID_BYTES; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	return (size_t)snprintf(path, PATH_BYTES, "%s/%s-%llx.levels", folder, name,
				(unsigned long long)levels->file.st_size) < PATH_BYTES;
}

static void fill_key(const struct levels *levels, struct kept *kept)
{
	struct stat program;

	if (!stat("/proc/self/exe", &program)) {
		kept->program_bytes = (uint64_t)program.st_size;
		kept->program_s = program.st_mtim.tv_sec;
		kept->program_ns = program.st_mtim.tv_nsec;
	}
	memcpy(kept->magic, magic, sizeof(magic));
	memcpy(kept->id, fkt_header(levels->trace)->id, FKT_ID_BYTES);
	kept->bytes = (uint64_t)levels->file.st_size;
	kept->changed_s = levels->file.st_mtim.tv_sec;
	kept->changed_ns = levels->file.st_mtim.tv_nsec;
	kept->first = levels->first;
	kept->last = levels->last;
	kept->bin_cycles = levels->bin_cycles;
}

static bool is_of(const struct levels *levels, const struct kept *kept)
{
	struct kept key = { 0 };

	fill_key(levels, &key);
	return !memcmp(key.magic, kept->magic, sizeof(key.magic)) &&
	       !memcmp(key.id, kept->id, sizeof(key.id)) && key.bytes == kept->bytes &&
	       key.changed_s == kept->changed_s && key.changed_ns == kept->changed_ns &&
	       key.program_bytes == kept->program_bytes && key.program_s == kept->program_s &&
	       key.program_ns == kept->program_ns && key.first == kept->first &&
	       key.last == kept->last && key.bin_cycles == kept->bin_cycles;
}

/* ---- taking ---- */

static bool read_all(int fd, void *to, uint64_t bytes, uint64_t *at)
{
	char *data = to;

	while (bytes) {
		ssize_t got = pread(fd, data, bytes, (off_t)*at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		data += got;
		bytes -= (uint64_t)got;
		*at += (uint64_t)got;
	}
	return true;
}

/* What is read of such a file, from the begin on. */
struct input {
	int fd;
	uint64_t at;
	uint64_t sum;
};

static bool read_summed(struct input *input, void *to, uint64_t bytes)
{
	if (!read_all(input->fd, to, bytes, &input->at))
		return false;
	input->sum = add_to_sum(input->sum, to, bytes);
	return true;
}

/* So many things of a size, to be freed with free(). */
static bool read_many(struct input *input, void *to, uint64_t count, size_t size)
{
	void *things = reallocarray(NULL, count ?: 1, size);

	memcpy(to, &things, sizeof(things));
	return things && read_summed(input, things, count * size);
}

/* They have the numbers that they had. */
static bool add_names(struct levels *levels, char (*name)[FKT_NAME_BYTES], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		name[i][FKT_NAME_BYTES - 1] = '\0';
		if (names_add(levels->names, name[i]) != i + 1)
			return false;
	}
	return true;
}

static bool read_rest(int fd, struct levels *levels, const struct kept *kept)
{
	struct input input = { .fd = fd, .at = sizeof(*kept), .sum = SUM_BEGIN };
	char(*name)[FKT_NAME_BYTES] = NULL;
	struct kept head;
	bool all;

	memcpy(&head, kept, sizeof(head));
	head.sum = 0;
	input.sum = add_to_sum(input.sum, &head, sizeof(head));
	all = read_many(&input, &name, kept->names, sizeof(*name)) &&
	      read_many(&input, &levels->before, kept->befores, sizeof(*levels->before)) &&
	      read_many(&input, &levels->loss, kept->losses, sizeof(*levels->loss)) &&
	      read_many(&input, &levels->mark, kept->marks, sizeof(*levels->mark)) &&
	      read_many(&input, &levels->threads, kept->threads, sizeof(*levels->threads)) &&
	      read_summed(&input, levels->cpu, kept->cpus) && input.sum == kept->sum &&
	      add_names(levels, name, kept->names);
	free(name);
	return all;
}

static bool take(int fd, struct levels *levels)
{
	uint64_t begin[LEVELS_MAX], at = 0;
	struct stat about;
	struct kept kept;

	if (fstat(fd, &about) || about.st_uid != geteuid() || !S_ISREG(about.st_mode) ||
	    about.st_mode & (S_IWGRP | S_IWOTH) || !read_all(fd, &kept, sizeof(kept), &at) ||
	    !is_of(levels, &kept) || kept.whole != (uint64_t)about.st_size ||
	    lay_out(&kept, begin) != kept.whole || names_count(levels->names) ||
	    !read_rest(fd, levels, &kept))
		return false;
	for (uint32_t i = 0; i < kept.levels; i++) {
		levels->level[i].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		levels->level[i].begin = begin[i];
		levels->level[i].count = kept.cells[i];
		if (levels->level[i].fd < 0)
			return false;
	}
	levels->levels = kept.levels;
	levels->befores = kept.befores;
	levels->losses = kept.losses;
	levels->marks = kept.marks;
	levels->thread_count = kept.threads;
	levels->cpus = kept.cpus;
	levels->progress = kept.progress;
	return true;
}

/* Nothing of it: the levels are as before, but for names, which are only numbers. */
static void give_back(struct levels *levels)
{
	for (unsigned int i = 0; i < LEVELS_MAX; i++) {
		if (levels->level[i].fd >= 0)
			close(levels->level[i].fd);
		levels->level[i] = (struct level){ .fd = -1 };
	}
	free(levels->before);
	free(levels->loss);
	free(levels->mark);
	free(levels->threads);
	levels->before = NULL;
	levels->loss = NULL;
	levels->mark = NULL;
	levels->threads = NULL;
	memset(levels->cpu, 0, sizeof(levels->cpu));
}

bool kept_take(struct levels *levels)
{
	char folder[PATH_BYTES], path[PATH_BYTES];
	bool taken;
	int fd;

	if (!folder_path(folder) || !is_own_folder(folder) || !kept_path(levels, folder, path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	taken = take(fd, levels);
	if (taken)
		/* When it was looked at last: see clear(). */
		(void)utimensat(AT_FDCWD, path, NULL, 0);
	else
		give_back(levels);
	close(fd);
	return taken;
}

/* ---- putting ---- */

static bool write_summed(int fd, const void *from, uint64_t bytes, uint64_t *sum)
{
	*sum = add_to_sum(*sum, from, bytes);
	return levels_write(fd, from, bytes);
}

static bool write_names(int fd, struct levels *levels, uint32_t count, uint64_t *sum)
{
	char name[FKT_NAME_BYTES];
	bool all = true;

	for (uint32_t i = 1; i <= count && all; i++) {
		names_get(levels->names, i, name);
		all = write_summed(fd, name, sizeof(name), sum);
	}
	return all;
}

static bool copy_cells(int fd, struct levels *levels, const struct level *level, uint64_t begin,
		       uint64_t cells)
{
	uint64_t left = cells * sizeof(struct cell), at = level->begin, unsynced = 0;
	char *buffer = malloc(COPY_BYTES);
	bool all = buffer && lseek(fd, (off_t)begin, SEEK_SET) >= 0;

	while (all && left) {
		uint64_t bytes = left < COPY_BYTES ? left : COPY_BYTES;

		all = !__atomic_load_n(&levels->stop, __ATOMIC_RELAXED) &&
		      read_all(level->fd, buffer, bytes, &at) && levels_write(fd, buffer, bytes);
		left -= bytes;
		unsynced += bytes;
		if (all && unsynced >= SYNC_BYTES) {
			all = !fdatasync(fd);
			unsynced = 0;
		}
	}
	free(buffer);
	return all;
}

/* The lock is not needed: nothing changes any more. */
static bool put(int fd, struct levels *levels)
{
	uint64_t begin[LEVELS_MAX] = { 0 }, sum;
	struct kept kept;
	bool all;

	/* What is between its members is summed up, too. */
	memset(&kept, 0, sizeof(kept));
	fill_key(levels, &kept);
	kept.progress = levels->progress;
	kept.threads = levels->thread_count;
	kept.levels = levels->levels;
	kept.names = names_count(levels->names);
	kept.befores = levels->befores;
	kept.losses = levels->losses;
	kept.marks = levels->marks;
	kept.cpus = levels->cpus;
	for (uint32_t i = 0; i < kept.levels; i++)
		kept.cells[i] = levels->level[i].count;
	kept.whole = lay_out(&kept, begin);
	if (!kept.whole || lseek(fd, sizeof(kept), SEEK_SET) < 0)
		return false;
	sum = add_to_sum(SUM_BEGIN, &kept, sizeof(kept));
	all = write_names(fd, levels, kept.names, &sum) &&
	      write_summed(fd, levels->before, kept.befores * sizeof(*levels->before), &sum) &&
	      write_summed(fd, levels->loss, kept.losses * sizeof(*levels->loss), &sum) &&
	      write_summed(fd, levels->mark, kept.marks * sizeof(*levels->mark), &sum) &&
	      write_summed(fd, levels->threads, kept.threads * sizeof(*levels->threads), &sum) &&
	      write_summed(fd, levels->cpu, kept.cpus, &sum);
	for (uint32_t i = 0; i < kept.levels && all; i++)
		all = copy_cells(fd, levels, &levels->level[i], begin[i], kept.cells[i]);
	kept.sum = sum;
	/*
	 * The last levels may be empty. It has its name only when it is on the disk: after a crash
	 * there would be one as long as this, of nothing.
	 */
	return all && lseek(fd, 0, SEEK_SET) == 0 && levels_write(fd, &kept, sizeof(kept)) &&
	       !ftruncate(fd, (off_t)kept.whole) && !fdatasync(fd);
}

/* A file of the folder that may be removed. */
struct old {
	char name[256];
	time_t used;
	uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct old *one = a, *other = b;

	return one->used < other->used ? -1 : one->used > other->used;
}

/* Whether kept_path(), or what gets its name later, is called so: others may be here, too. */
static bool is_kept_name(const char *name)
{
	const size_t number = strspn(name, "0123456789abcdef-");
	const char *rest = name + number;

	return number >= 2 * FKT_ID_BYTES && !strncmp(rest, ".levels", 7) &&
	       (!rest[7] || rest[7] == '.');
}

/* Remove what is too old, and of the rest the oldest until there is room for @bytes more. */
static void clear(const char *folder, uint64_t bytes)
{
	const time_t now = time(NULL);
	struct old *all = NULL, *larger;
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat about;
	uint64_t sum = bytes;
	size_t count = 0;

	while (dir && (entry = readdir(dir))) {
		if (!is_kept_name(entry->d_name) ||
		    fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(about.st_mode))
			continue;
		larger = reallocarray(all, count + 1, sizeof(*all));
		if (!larger)
			break;
		all = larger;
		snprintf(all[count].name, sizeof(all[count].name), "%s", entry->d_name);
		all[count].used = about.st_mtime;
		all[count++].bytes = (uint64_t)about.st_size;
		sum += (uint64_t)about.st_size;
	}
	if (count)
		qsort(all, count, sizeof(*all), by_age);
	for (size_t i = 0; i < count && (sum > KEEP_BYTES || all[i].used < now - KEEP_SECONDS);
	     i++) {
		unlinkat(dirfd(dir), all[i].name, 0);
		sum -= all[i].bytes;
	}
	free(all);
	if (dir)
		closedir(dir);
}

static uint64_t bytes_of(const struct levels *levels)
{
	uint64_t cells = 0;

	for (unsigned int i = 0; i < levels->levels; i++)
		cells += levels->level[i].count;
	return cells * sizeof(struct cell);
}

/* Whether the trace's file is what it was when it was begun to be read, and all of it was. */
static bool is_unchanged(const struct levels *levels)
{
	struct stat now;

	return !levels->trace->input.error && !fstat(levels->trace->input.fd, &now) &&
	       now.st_size == levels->file.st_size &&
	       now.st_mtim.tv_sec == levels->file.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == levels->file.st_mtim.tv_nsec;
}

/* Others need the disk, too: what is kept takes no more than half of what is free. */
static bool has_room(int fd, uint64_t bytes)
{
	struct statvfs about;

	return !fstatvfs(fd, &about) && bytes / about.f_frsize < about.f_bavail / 2;
}

void kept_put(struct levels *levels)
{
	char folder[PATH_BYTES], path[PATH_BYTES], *new = NULL;
	int fd;

	if (levels->progress.events < KEEP_EVENTS || bytes_of(levels) > KEEP_BYTES ||
	    !folder_path(folder) || !kept_path(levels, folder, path) || !is_unchanged(levels))
		return;
	if ((mkdir(folder, 0700) && errno != EEXIST) || !is_own_folder(folder))
		return;
	clear(folder, bytes_of(levels));
	if (asprintf(&new, "%s.XXXXXX", path) < 0)
		return;
	fd = mkostemp(new, O_CLOEXEC);
	if (fd >= 0) {
		if (!has_room(fd, bytes_of(levels)) || !put(fd, levels) || rename(new, path))
			unlink(new);
		close(fd);
	}
	free(new);
}

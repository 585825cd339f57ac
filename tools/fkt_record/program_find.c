// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a program or library is that is named without a directory. */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch.h"
#include "program_file.h"

#define CACHE	    "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_MAX   (64u << 20)

/* glibc's sysdeps/generic/dl-cache.h */
struct cache_header {
	char magic[sizeof(CACHE_MAGIC) - 1];
	uint32_t libraries;
	uint32_t strings_bytes;
	uint8_t flags;
	uint8_t padding[3];
	uint32_t extension;
	uint32_t unused[3];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* from the header on */
	uint32_t os_version;
	uint64_t hwcap;
};

/* Whether it is a file of this machine. */
static bool is_ours(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr header;
	struct stat status;
	bool ours;

	if (fd < 0)
		return false;
	ours = !fstat(fd, &status) && S_ISREG(status.st_mode) &&
	       pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_machine == arch.elf_machine;
	close(fd);
	return ours;
}

static char *if_ours(const char *path)
{
	return is_ours(path) ? strdup(path) : NULL;
}

/* All of a file, with a NUL behind it; NULL when it can't be had. */
static char *read_all(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *text = NULL;

	if (file && !fstat(fileno(file), &status) && S_ISREG(status.st_mode) &&
	    status.st_size > 0 && status.st_size < (off_t)CACHE_MAX)
		text = malloc((size_t)status.st_size + 1);
	if (text) {
		*bytes = fread(text, 1, (size_t)status.st_size, file);
		text[*bytes] = '\0';
	}
	if (file)
		fclose(file);
	return text;
}

/* Where the dynamic linker has a library, which it prefers in this order. */
static char *find_in_cache(const char *name)
{
	size_t bytes = 0;
	char *text = read_all(CACHE, &bytes), *found = NULL;
	const char *begin = text && bytes ? memmem(text, bytes, CACHE_MAGIC, strlen(CACHE_MAGIC))
					  : NULL;
	struct cache_header header;
	size_t room;

	if (!begin || (size_t)(text + bytes - begin) < sizeof(header))
		goto out;
	room = (size_t)(text + bytes - begin);
	memcpy(&header, begin, sizeof(header));
	for (size_t i = 0; !found && i < header.libraries &&
			   sizeof(header) + (i + 1) * sizeof(struct cache_entry) <= room;
	     i++) {
		struct cache_entry entry;

		memcpy(&entry, begin + sizeof(header) + i * sizeof(entry), sizeof(entry));
		if (entry.key < room && entry.value < room && !strcmp(begin + entry.key, name))
			found = if_ours(begin + entry.value);
	}
out:
	free(text);
	return found;
}

static char *find_in_path(const char *name)
{
	const char *dir = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	char path[PATH_MAX], *found = NULL;

	while (!found && *dir) {
		size_t length = strcspn(dir, ":");

		if (length && snprintf(path, sizeof(path), "%.*s/%s", (int)length, dir, name) <
				      (int)sizeof(path))
			found = if_ours(path);
		dir += length + (dir[length] == ':');
	}
	return found;
}

/* What a process has mapped; its path may be another file here than for the process. */
static char *find_in_maps(const char *pid, const char *name)
{
	char path[64], line[PATH_MAX + 128], through[2 * PATH_MAX], *found = NULL;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		char *file = strchr(line, '/'), *slash = strrchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		if (!file || strcmp(slash + 1, name))
			continue;
		snprintf(through, sizeof(through), "/proc/%.20s/root%s", pid, file);
		found = if_ours(through);
	}
	if (maps)
		fclose(maps);
	return found;
}

static char *find_in_processes(const char *name)
{
	DIR *processes = opendir("/proc");
	const struct dirent *process;
	char *found = NULL;

	while (processes && !found && (process = readdir(processes)))
		if (process->d_name[0] >= '1' && process->d_name[0] <= '9')
			found = find_in_maps(process->d_name, name);
	if (processes)
		closedir(processes);
	return found;
}

char *program_find(const char *name)
{
	return find_in_cache(name) ?: find_in_path(name) ?: find_in_processes(name);
}

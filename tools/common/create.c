// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fkt/format.h>

#include "complain.h"
#include "create.h"

/* Whoever gives the names of two files in the wrong order is not to lose a recording. */
static bool is_trace(const char *path)
{
	char magic[sizeof(((struct fkt_file_header *)0)->magic)];
	FILE *file = fopen(path, "re");
	bool is;

	if (!file)
		return false;
	is = fread(magic, sizeof(magic), 1, file) == 1 &&
	     !memcmp(magic, FKT_FILE_MAGIC, sizeof(magic));
	fclose(file);
	return is;
}

FILE *fkt_create(const char *path)
{
	FILE *file;

	if (!strcmp(path, "-"))
		return stdout;
	if (is_trace(path)) {
		complain(path, "that is a trace; it is not overwritten");
		return NULL;
	}
	file = fopen(path, "we");
	if (!file)
		complain(path, strerror(errno));
	return file;
}

/* Devices and pipes have no half that could be taken for a whole, and stay. */
static bool is_file(FILE *file, const char *path)
{
	struct stat opened, named;

	return file != stdout && !fstat(fileno(file), &opened) && !lstat(path, &named) &&
	       S_ISREG(named.st_mode) && opened.st_dev == named.st_dev &&
	       opened.st_ino == named.st_ino;
}

bool fkt_created(FILE *file, const char *path)
{
	bool goes = is_file(file, path), bad;

	errno = 0;
	bad = fflush(file) || ferror(file);
	if (file != stdout && fclose(file))
		bad = true;
	if (!bad)
		return true;
	complain(path, strerror(errno ?: EIO));
	if (goes)
		unlink(path);
	return false;
}

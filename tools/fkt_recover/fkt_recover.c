// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fkt_recover: the trace of a machine that has died, out of an image of its memory.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <fkt/version.h>

#include "common/complain.h"
#include "common/config.h"
#include "common/help.h"
#include "image.h"
#include "read/recover.h"

#define PROGRESS_MS 250
#define ID_DIGITS   (2 * FKT_ID_BYTES)

const char *argp_program_version = "fkt_recover (FKT) " FKT_RELEASE;

struct options {
	const char *image;
	const char *head;
	const char *output;
	const char *id;
	bool list;
};

enum {
	OPTION_HEAD = 256,
	OPTION_ID,
};

static const struct argp_option argp_options[] = {
	{ "head", OPTION_HEAD, "FILE", 0,
	  "The file that fkt_record was writing: it has the names. What of the trace it has is "
	  "taken, too",
	  0 },
	{ "output", 'o', "FILE", 0, "Write the trace to FILE, - for standard output", 0 },
	{ "list", 'l', NULL, 0, "List the recordings of which there are pages, the newest first",
	  0 },
	{ "id", OPTION_ID, "ID", 0,
	  "Which recording, by the first digits of what --list calls it (default: that of --head, "
	  "or the newest one)",
	  0 },
	FKT_OPTION_HELP,
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		break;
	case 'l':
		options->list = true;
		break;
	case OPTION_HEAD:
		options->head = arg;
		break;
	case OPTION_ID:
		if (!*arg || strspn(arg, "0123456789abcdef") != strlen(arg) ||
		    strlen(arg) > ID_DIGITS)
			argp_error(state, "--id=%s: it is digits, from 0 to f; --list shows them",
				   arg);
		options->id = arg;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "%s: one image at a time, please", arg);
		options->image = arg;
		break;
	case ARGP_KEY_END:
		if (!options->image)
			argp_error(state, "which image?");
		if (!options->list && !options->output)
			argp_error(state, "where to? (-o FILE)");
		if (options->list && (options->output || options->head || options->id))
			argp_error(state,
				   "--list lists, and writes nothing: not with other options");
		if (options->head && options->id)
			argp_error(state, "--head says which recording, so does --id: which one?");
		break;
	default:
		return fkt_other_option(key, state);
	}
	return 0;
}

static const struct argp argp = {
	.options = argp_options,
	.parser = parse_option,
	.args_doc = "IMAGE -o FILE\nIMAGE --list",
	.doc = "Make a trace of what a machine that has died has in memory.\v"
	       "IMAGE is what kdump saved, what QEMU's dump-guest-memory wrote, or memory as it is. "
	       "See fkt_recover(1).",
};

static void warn(void *arg, const char *sentence)
{
	complain(arg, sentence);
}

/* ---- the image ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void show_progress(const struct image *image)
{
	static uint64_t last;
	uint64_t now = now_ms();

	if (!last)
		last = now;
	if (now - last < PROGRESS_MS)
		return;
	last = now;
	fprintf(stderr, "\rfkt_recover: %.1f of %.1f GB looked at\033[K",
		(double)image->done * IMAGE_PAGE_BYTES / (1 << 30),
		(double)image->pages * IMAGE_PAGE_BYTES / (1 << 30));
}

static int look(void *arg, const void *page, uint64_t place)
{
	return fkt_recovery_may(page) ? fkt_recovery_look(arg, page, place) : 0;
}

static bool read_again(void *arg, uint64_t place, void *page)
{
	return image_read(arg, place, page);
}

/* Look at all of it. False after a complaint. */
static bool look_through(const struct options *options, struct image *image,
			 struct fkt_recovery *recovery)
{
	const bool tty = isatty(STDERR_FILENO);
	char text[IMAGE_ERROR_BYTES];
	int err;

	image->progress = tty ? show_progress : NULL;
	err = image_scan(image, look, recovery);
	if (tty)
		fputs("\r\033[K", stderr);
	if (err) {
		complain(options->image, strerror(-err));
		return false;
	}
	if (image->lacks || image->failed) {
		snprintf(text, sizeof(text),
			 "%s: %.1f MB of memory are missing; what is there is used",
			 image->lacks ? "is cut off" : "can't be read everywhere",
			 (double)(image->lacks + image->failed) / (1 << 20));
		complain(options->image, text);
	}
	return true;
}

/* ---- which recording ---- */

static void put_id(char text[ID_DIGITS + 1], const uint8_t *id)
{
	for (unsigned int i = 0; i < FKT_ID_BYTES; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
}

static void list(const struct fkt_recovered *recording, size_t count)
{
	char id[ID_DIGITS + 1];

	printf("%-*s %9s %12s %6s %18s\n", ID_DIGITS, "Recording", "Pages", "Not written", "Lanes",
	       "Newest stamp");
	for (size_t i = 0; i < count; i++) {
		put_id(id, recording[i].id);
		printf("%s %9" PRIu64 " %12" PRIu64 " %6" PRIu32 " %18" PRIu64 "\n", id,
		       recording[i].pages, recording[i].held, recording[i].notes,
		       recording[i].last);
	}
}

/* NULL after a complaint. */
static const struct fkt_recovered *choose(const struct options *options,
					  const struct fkt_trace *head,
					  const struct fkt_recovered *recording, size_t count)
{
	const struct fkt_recovered *chosen = NULL;
	char text[FKT_ERROR_BYTES], id[ID_DIGITS + 1];

	if (!count) {
		complain(options->image,
			 "has no page of FKT's; was it recording, and is this all of the machine's "
			 "memory?");
		return NULL;
	}
	if (!head && !options->id)
		return recording;
	for (size_t i = 0; i < count; i++) {
		put_id(id, recording[i].id);
		if (head ? memcmp(recording[i].id, fkt_header(head)->id, FKT_ID_BYTES)
			 : strncmp(id, options->id, strlen(options->id)))
			continue;
		if (chosen) {
			complain(options->id, "there are several of these; more digits, please");
			return NULL;
		}
		chosen = &recording[i];
	}
	if (chosen)
		return chosen;
	if (head)
		snprintf(text, sizeof(text),
			 "has no page of the recording that %s is of, but of %zu others (--list)",
			 options->head, count);
	else
		snprintf(text, sizeof(text), "has no page of a recording %s (--list)", options->id);
	complain(options->image, text);
	return NULL;
}

/* ---- the trace ---- */

static bool to_stdout(const struct options *options)
{
	return !strcmp(options->output, "-");
}

static bool is_same_file(const struct stat *out, const char *path)
{
	struct stat in;

	return path && !stat(path, &in) && in.st_dev == out->st_dev && in.st_ino == out->st_ino;
}

/* -1 after a complaint. */
static int open_output(const struct options *options)
{
	struct stat out;
	int fd;

	if (to_stdout(options)) {
		if (!isatty(STDOUT_FILENO))
			return STDOUT_FILENO;
		complain("standard output", "is a terminal; a trace is no text");
		return -1;
	}
	if (!stat(options->output, &out)) {
		if (is_same_file(&out, options->image) || is_same_file(&out, options->head)) {
			complain(options->output, "is what is read; name another file with -o");
			return -1;
		}
		if (!S_ISREG(out.st_mode)) {
			complain(options->output,
				 "is not a regular file; name one that is, or a new one, with -o");
			return -1;
		}
	}
	fd = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* It has kernel addresses in it: it is the user's alone also when it was there before. */
	if (fd < 0 || fchmod(fd, 0600)) {
		complain(options->output, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

static void tell(const struct options *options, const struct fkt_recover *result)
{
	FILE *out = to_stdout(options) ? stderr : stdout;
	const char *name = to_stdout(options) ? "standard output" : options->output;
	char text[FKT_ERROR_BYTES];

	fprintf(out,
		"%s: %" PRIu64 " events in %" PRIu64 " pages, %" PRIu64 " of them from memory; "
		"%" PRIu64 " bytes\n",
		name, result->events, result->pages, result->from_memory, result->bytes);
	if (result->missing || result->damaged || result->unknown) {
		snprintf(text, sizeof(text),
			 "%" PRIu64 " pages are missing, %" PRIu64 " are damaged, and of %" PRIu64
			 " nothing says what was written into them",
			 result->missing, result->damaged, result->unknown);
		complain(name, text);
	}
	if (result->unwritten) {
		snprintf(text, sizeof(text),
			 "%" PRIu64
			 " events were being recorded when the machine stopped; they are "
			 "left out",
			 result->unwritten);
		complain(name, text);
	}
}

static bool recover(const struct options *options, struct fkt_recovery *recovery,
		    struct fkt_trace *head, const struct fkt_recovered *chosen)
{
	struct fkt_recover result;
	int fd = open_output(options), err;

	if (fd < 0)
		return false;
	err = fkt_recover(recovery, chosen->id, head, fd, &result);
	if (close(fd) && !err)
		err = -errno;
	if (!err) {
		tell(options, &result);
		return true;
	}
	if (err == -ENODATA)
		complain(options->image, "has no page of which it is known what was written into "
					 "it; nothing was written");
	else if (err == -ESPIPE)
		complain(options->head, "is a stream; save it as a file first");
	else if (err == -EPROTONOSUPPORT)
		complain(options->head, "is of another version of FKT");
	else if (err == -ENOMEM)
		complain(options->image, "out of memory");
	else
		complain(to_stdout(options) ? "standard output" : options->output, strerror(-err));
	if (!to_stdout(options))
		unlink(options->output);
	return false;
}

int main(int argc, char **argv)
{
	const struct fkt_recovered *recordings, *chosen;
	struct options options = { 0 };
	struct fkt_recovery *recovery = NULL;
	struct fkt_trace *head = NULL;
	char error[FKT_ERROR_BYTES];
	struct image image;
	size_t count;
	bool ok = false;

	argp_err_exit_status = 2;
	config_parse(&argp, argc, argv, 0, &options);
	if (options.head) {
		head = fkt_open(options.head, warn, (void *)(uintptr_t)options.head, error);
		if (!head) {
			complain(options.head, error);
			return 1;
		}
	}
	if (!image_open(&image, options.image)) {
		complain(options.image, image.error);
		fkt_close(head);
		return 1;
	}
	recovery = fkt_recovery_new(read_again, &image);
	if (!recovery) {
		complain(options.image, "out of memory");
		goto out;
	}
	if (!look_through(&options, &image, recovery))
		goto out;
	if (fkt_recovery_sort(recovery, &recordings, &count)) {
		complain(options.image, "out of memory");
		goto out;
	}
	chosen = choose(&options, head, recordings, count);
	if (!chosen)
		goto out;
	ok = true;
	if (options.list)
		list(recordings, count);
	else
		ok = recover(&options, recovery, head, chosen);

out:
	fkt_recovery_free(recovery);
	image_close(&image);
	fkt_close(head);
	return ok ? 0 : 1;
}

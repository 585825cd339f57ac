// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A trace's header and sections, at its head and at its tail.
 *
 * Everything is checked before it is believed, and memory is only taken for bytes that are there.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "internal.h"

#define STREAM_BUFFER_BYTES (64 << 10)
/* Sections are read in steps of this, so that a lying size costs no more than it has bytes. */
#define SECTION_STEP_BYTES  (1 << 20)
#define SECTION_LOG_MAX	    26
#define SECTIONS_MAX	    1024
#define SECTIONS_BYTES_MAX  (4 * FKT_SECTION_BYTES_MAX)

_Static_assert(FKT_SECTION_BYTES_MAX == 1u << SECTION_LOG_MAX, "the limits agree");

void fkt_warn(const struct fkt_trace *trace, const char *format, ...)
{
	char sentence[FKT_ERROR_BYTES];
	va_list args;

	if (!trace->warn)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	trace->warn(trace->warn_arg, sentence);
}

static size_t read_fully(struct fkt_input *input, void *buf, size_t bytes, bool at, uint64_t offset)
{
	size_t got = 0;
	ssize_t n;

	while (got < bytes) {
		if (at)
			n = pread(input->fd, (char *)buf + got, bytes - got, (off_t)(offset + got));
		else
			n = read(input->fd, (char *)buf + got, bytes - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !input->error)
			input->error = errno;
		if (n <= 0)
			break;
		got += (size_t)n;
		if (!at)
			break;
	}
	return got;
}

size_t fkt_input_read_at(struct fkt_input *input, void *buf, size_t bytes, uint64_t offset)
{
	return read_fully(input, buf, bytes, true, offset);
}

size_t fkt_input_read(struct fkt_input *input, void *buf, size_t bytes)
{
	size_t got = 0, n;

	if (input->seekable) {
		got = read_fully(input, buf, bytes, true, input->pos);
		input->pos += got;
		return got;
	}
	while (got < bytes) {
		if (input->buf_pos == input->buf_end) {
			input->buf_pos = 0;
			input->buf_end =
				read_fully(input, input->buf, STREAM_BUFFER_BYTES, false, 0);
			if (!input->buf_end)
				break;
		}
		n = input->buf_end - input->buf_pos;
		if (n > bytes - got)
			n = bytes - got;
		memcpy((char *)buf + got, input->buf + input->buf_pos, n);
		input->buf_pos += n;
		got += n;
	}
	input->pos += got;
	return got;
}

bool fkt_input_would_block(const struct fkt_input *input)
{
	struct pollfd pollfd = { .fd = input->fd, .events = POLLIN };

	if (input->seekable || input->buf_end - input->buf_pos >= FKT_PAGE_BYTES)
		return false;
	return poll(&pollfd, 1, 0) == 0;
}

/* Move on in sequence; false when the file ends before. */
static bool input_skip(struct fkt_input *input, uint64_t bytes)
{
	char scratch[4096];
	size_t n;

	if (input->seekable) {
		if (bytes > input->size - input->pos)
			return false;
		input->pos += bytes;
		return true;
	}
	while (bytes) {
		n = bytes < sizeof(scratch) ? (size_t)bytes : sizeof(scratch);
		if (fkt_input_read(input, scratch, n) != n)
			return false;
		bytes -= n;
	}
	return true;
}

/* Read the stored bytes of a section. NULL: the file ends before, or there is no memory. */
static void *read_stored(struct fkt_input *input, uint64_t bytes)
{
	size_t room = 0, got = 0, step;
	char *data = NULL, *larger;

	do {
		step = bytes - got < SECTION_STEP_BYTES ? bytes - got : SECTION_STEP_BYTES;
		if (got + step > room || !data) {
			room = got + step + got / 2;
			if (room > bytes)
				room = bytes;
			larger = realloc(data, room + 1);
			if (!larger)
				goto fail;
			data = larger;
		}
		if (fkt_input_read(input, data + got, step) != step)
			goto fail;
		got += step;
	} while (got < bytes);
	return data;

fail:
	free(data);
	return NULL;
}

static char *decompress_zstd(const struct fkt_stored *stored, size_t *bytes)
{
	ZSTD_inBuffer in = { stored->data, stored->bytes, 0 };
	ZSTD_outBuffer out = { NULL, 0, 0 };
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t left = 1, before, room;
	char *larger;

	if (!stream)
		return NULL;
	/* A frame may not ask for a larger window than a section can be. */
	ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, SECTION_LOG_MAX);
	while (left) {
		if (out.pos == out.size) {
			room = out.size ? out.size * 2 : SECTION_STEP_BYTES;
			if (room > stored->raw_bytes + 1)
				room = stored->raw_bytes + 1;
			if (room <= out.size)
				goto fail; /* there is more than the header said */
			larger = realloc(out.dst, room + 1);
			if (!larger)
				goto fail;
			out.dst = larger;
			out.size = room;
		}
		before = in.pos + out.pos;
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left))
			goto fail;
		if (left && in.pos + out.pos == before && out.pos < out.size)
			goto fail; /* it is cut off */
	}
	if (out.pos != stored->raw_bytes)
		goto fail;
	ZSTD_freeDStream(stream);
	*bytes = out.pos;
	return out.dst;

fail:
	ZSTD_freeDStream(stream);
	free(out.dst);
	return NULL;
}

char *fkt_decompress(const struct fkt_stored *stored, size_t *bytes)
{
	char *raw;

	switch (stored->compression) {
	case FKT_COMPRESS_NONE:
		if (stored->raw_bytes != stored->bytes)
			return NULL;
		raw = malloc(stored->bytes + 1);
		if (!raw)
			return NULL;
		memcpy(raw, stored->data, stored->bytes);
		*bytes = stored->bytes;
		break;
	case FKT_COMPRESS_ZSTD:
		raw = decompress_zstd(stored, bytes);
		if (!raw)
			return NULL;
		break;
	default:
		return NULL;
	}
	raw[*bytes] = '\0';
	return raw;
}

/* Append text to what a former section of the same type had; takes over raw. */
static bool append_lines(struct fkt_lines *lines, char *raw, size_t bytes)
{
	char *both;

	if (!lines->text) {
		lines->text = raw;
		lines->bytes = bytes;
		return true;
	}
	both = NULL;
	if (lines->bytes + bytes <= FKT_SECTION_BYTES_MAX)
		both = realloc(lines->text, lines->bytes + 1 + bytes + 1);
	if (both) {
		both[lines->bytes] = '\n';
		memcpy(both + lines->bytes + 1, raw, bytes + 1);
		lines->text = both;
		lines->bytes += 1 + bytes;
	}
	free(raw);
	return both;
}

static bool append_info(struct fkt_trace *trace, const char *raw, size_t bytes)
{
	struct fkt_info_piece *piece;

	if (trace->info_bytes + bytes > FKT_SECTION_BYTES_MAX)
		return false;
	piece = malloc(sizeof(*piece) + 2 * (bytes + 1));
	if (!piece)
		return false;
	memcpy(piece->text, raw, bytes);
	/* A last string without its NUL gets one. */
	piece->text[bytes] = '\0';
	piece->bytes = bytes + (bytes && raw[bytes - 1]);
	for (char *value = piece->text; value < piece->text + bytes; value += strlen(value) + 1)
		fkt_sanitize(value);
	/* Once more, with what takes several lines as it was. */
	piece->lines = piece->text + bytes + 1;
	memcpy(piece->lines, piece->text, bytes + 1);
	for (size_t i = 0; i < bytes; i++)
		if (raw[i] == '\n' || raw[i] == '\t')
			piece->lines[i] = raw[i];
	piece->before = trace->info;
	trace->info_bytes += piece->bytes;
	/* Partner: the acquire in fkt_info(). */
	__atomic_store_n(&trace->info, piece, __ATOMIC_RELEASE);
	return true;
}

static bool take_clock(struct fkt_trace *trace, const char *raw, size_t bytes)
{
	unsigned int clocks = trace->clocks;
	struct fkt_clock_pair pair;

	/* Once readers may have seen both, they stay as they are. */
	if (trace->names_indexed && clocks == 2)
		return true;
	for (; bytes >= sizeof(pair); raw += sizeof(pair), bytes -= sizeof(pair)) {
		memcpy(&pair, raw, sizeof(pair));
		pair.cycles = le64toh(pair.cycles);
		pair.mono_ns = le64toh(pair.mono_ns);
		pair.real_ns = le64toh(pair.real_ns);
		trace->clock[clocks ? 1 : 0] = pair;
		if (clocks < 2)
			clocks++;
	}
	/* Partner: the acquire in fkt_clocks(). */
	__atomic_store_n(&trace->clocks, clocks, __ATOMIC_RELEASE);
	return !bytes;
}

static bool take_totals(struct fkt_trace *trace, const char *raw, size_t bytes)
{
	size_t n = bytes / sizeof(*trace->totals);
	struct fkt_lane_totals *totals;

	if (bytes % sizeof(*totals) || n > trace->header.lanes || trace->totals)
		return false;
	totals = malloc(bytes + 1);
	if (!totals)
		return false;
	memcpy(totals, raw, bytes);
	for (size_t i = 0; i < n; i++) {
		totals[i].lane = le32toh(totals[i].lane);
		totals[i].cpu = le32toh(totals[i].cpu);
		totals[i].events = le64toh(totals[i].events);
		totals[i].lost = le64toh(totals[i].lost);
		totals[i].pages = le64toh(totals[i].pages);
		totals[i].discarded = le64toh(totals[i].discarded);
		if (totals[i].lane < trace->header.lanes && totals[i].cpu != FKT_CPU_ANY)
			totals[i].cpu = fkt_cpu_of_lane(trace, totals[i].lane);
	}
	trace->totals = totals;
	/* Partner: the acquire in fkt_lane_totals(). */
	__atomic_store_n(&trace->n_totals, n, __ATOMIC_RELEASE);
	return true;
}

/* Take in a section whose stored bytes were read; takes them over. */
static bool take_section(struct fkt_trace *trace, uint32_t type, struct fkt_stored *stored)
{
	size_t bytes;
	char *raw;
	bool ok;

	if (type == FKT_SECTION_SYMBOLS) {
		if (trace->n_stored_symbols == 2 || trace->symbols_read) {
			free(stored->data);
			return trace->symbols_read; /* a stream's: no event comes any more */
		}
		trace->symbols[trace->n_stored_symbols++] = *stored;
		return true;
	}
	raw = fkt_decompress(stored, &bytes);
	free(stored->data);
	if (!raw)
		return false;

	/* End sections that come late: the tables are made, and no event comes any more. */
	if (trace->names_indexed && type != FKT_SECTION_INFO && type != FKT_SECTION_CLOCK &&
	    type != FKT_SECTION_LANES) {
		free(raw);
		return true;
	}
	switch (type) {
	case FKT_SECTION_IRQS:
		return append_lines(&trace->irq_lines, raw, bytes);
	case FKT_SECTION_PROCESSES:
		return append_lines(&trace->processes, raw, bytes);
	case FKT_SECTION_CODES:
		return append_lines(&trace->code_lines, raw, bytes);
	case FKT_SECTION_SYSCALLS:
		return append_lines(&trace->syscall_lines, raw, bytes);
	case FKT_SECTION_STATE:
		return append_lines(&trace->state_lines, raw, bytes);
	case FKT_SECTION_MAPS:
		return append_lines(&trace->map_lines, raw, bytes);
	case FKT_SECTION_INFO:
		ok = append_info(trace, raw, bytes);
		break;
	case FKT_SECTION_CLOCK:
		ok = take_clock(trace, raw, bytes);
		break;
	case FKT_SECTION_LANES:
		ok = take_totals(trace, raw, bytes);
		break;
	default: /* of a newer minor version */
		ok = true;
	}
	free(raw);
	return ok;
}

/* Remember where a section of a file stands. More than there can be are not remembered. */
static void note_place(struct fkt_trace *trace, uint32_t type, uint64_t offset, uint64_t bytes)
{
	struct fkt_place *larger;

	if (!trace->input.seekable || trace->n_places >= SECTIONS_MAX)
		return;
	larger = realloc(trace->places, (trace->n_places + 1) * sizeof(*larger));
	if (!larger)
		return;
	trace->places = larger;
	larger += trace->n_places++;
	larger->type = type;
	larger->in_tail = offset >= trace->header.data_offset;
	larger->offset = offset;
	larger->bytes = bytes;
}

bool fkt_read_sections(struct fkt_trace *trace, uint64_t limit,
		       const struct fkt_section_header *head)
{
	struct fkt_input *input = &trace->input;
	struct fkt_section_header section;
	struct fkt_stored stored;
	uint64_t padded;

	for (;; head = NULL) {
		if (head)
			section = *head;
		else if (input->pos > limit || limit - input->pos < sizeof(section) ||
			 fkt_input_read(input, &section, sizeof(section)) != sizeof(section))
			return false;
		if (le32toh(section.magic) != FKT_SECTION_MAGIC) {
			fkt_warn(trace,
				 "a section's header at offset %" PRIu64
				 " is damaged: names may be missing",
				 input->pos - sizeof(section));
			return false;
		}
		section.type = le32toh(section.type);
		if (section.type == FKT_SECTION_END)
			return true;

		stored.bytes = section.stored_bytes = le64toh(section.stored_bytes);
		stored.raw_bytes = le64toh(section.raw_bytes);
		stored.compression = le32toh(section.compression);
		if (section.stored_bytes > limit - input->pos) {
			fkt_warn(trace,
				 "section %" PRIu32 " is damaged or cut off: names may be missing",
				 section.type);
			return false;
		}
		padded = (section.stored_bytes + 7) & ~7ull;
		if (padded <= limit - input->pos)
			note_place(trace, section.type, input->pos - sizeof(section),
				   sizeof(section) + padded);
		if (section.stored_bytes > FKT_SECTION_BYTES_MAX ||
		    stored.raw_bytes > FKT_SECTION_BYTES_MAX) {
			fkt_warn(trace,
				 "section %" PRIu32 " claims to be of %" PRIu64 " bytes: not read",
				 section.type, stored.raw_bytes);
			if (!input_skip(input, padded))
				return false;
			continue;
		}
		/* Each may be of kilobytes in the file and take long to be decompressed. */
		trace->sections_bytes += stored.raw_bytes;
		if (trace->sections_bytes > SECTIONS_BYTES_MAX) {
			fkt_warn(trace,
				 "its sections claim to be of more than %u MB together: the others "
				 "are not read",
				 SECTIONS_BYTES_MAX >> 20);
			return false;
		}
		stored.data = read_stored(input, section.stored_bytes);
		if (!stored.data)
			return false;
		if (!take_section(trace, section.type, &stored))
			fkt_warn(trace, "section %" PRIu32 " is damaged: not used", section.type);
		if (!input_skip(input, padded - section.stored_bytes))
			return false;
	}
}

/*
 * Whether the lanes' totals come to what INFO says. Where it does not, the file may have lost that:
 * then they are believed as long as they can be.
 */
static bool totals_are(const struct fkt_trace *trace, const char *key, size_t offset)
{
	const char *info = fkt_info(trace, key);
	uint64_t sum = 0, number, wanted;
	bool told = info && fkt_parse_u64(info, &wanted);

	for (size_t i = 0; i < trace->n_totals; i++) {
		memcpy(&number, (const char *)&trace->totals[i] + offset, sizeof(number));
		if ((!told && number > FKT_LOST_EVENTS) ||
		    __builtin_add_overflow(sum, number, &sum))
			return false;
	}
	return !told || sum == wanted;
}

/* The end has been read: totals that contradict themselves are as good as none. */
static void check_totals(struct fkt_trace *trace)
{
	if (totals_are(trace, "events", offsetof(struct fkt_lane_totals, events)) &&
	    totals_are(trace, "lost", offsetof(struct fkt_lane_totals, lost)) &&
	    totals_are(trace, "discarded", offsetof(struct fkt_lane_totals, discarded)))
		return;
	fkt_warn(trace, "how many events it has and how many were lost, its end says wrongly: no "
			"more of that is known than what its pages tell");
	__atomic_store_n(&trace->n_totals, 0, __ATOMIC_RELEASE);
}

/* Each place may be a lie, and takes as long as the rest of the file. */
#define END_TRIES_MAX 16

bool fkt_read_end(struct fkt_trace *trace, uint64_t offset)
{
	bool found;

	pthread_mutex_lock(&trace->lock);
	if (!trace->complete && offset >= trace->end_tried && trace->end_tries < END_TRIES_MAX) {
		trace->end_tries++;
		trace->input.pos = offset;
		found = fkt_read_sections(trace, trace->input.size, NULL);
		check_totals(trace);
		trace->end_tried = offset + !found;
		/* Partner: the acquire in fkt_is_complete(). */
		__atomic_store_n(&trace->complete, found, __ATOMIC_RELEASE);
	}
	found = trace->complete && offset == trace->end_tried;
	pthread_mutex_unlock(&trace->lock);
	return found;
}

void fkt_read_stream_end(struct fkt_trace *trace, const struct fkt_section_header *head)
{
	bool found;

	pthread_mutex_lock(&trace->lock);
	found = fkt_read_sections(trace, UINT64_MAX, head);
	check_totals(trace);
	__atomic_store_n(&trace->complete, found, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&trace->lock);
}

static int open_input(struct fkt_input *input, const char *path, char *error)
{
	struct stat stat;
	off_t size;

	input->opened = strcmp(path, "-");
	input->fd = input->opened ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (input->fd < 0 || fstat(input->fd, &stat)) {
		snprintf(error, FKT_ERROR_BYTES, "%s%s", strerror(errno),
			 errno == EACCES ? " (traces belong to who recorded them)" : "");
		return -errno;
	}
	if (S_ISDIR(stat.st_mode)) {
		snprintf(error, FKT_ERROR_BYTES, "is a directory; name the trace in it");
		return -EISDIR;
	}
	if (S_ISREG(stat.st_mode) || S_ISBLK(stat.st_mode)) {
		size = lseek(input->fd, 0, SEEK_END);
		if (size >= 0) {
			input->seekable = true;
			input->size = (uint64_t)size;
			return 0;
		}
	}
	input->buf = malloc(STREAM_BUFFER_BYTES);
	if (!input->buf) {
		snprintf(error, FKT_ERROR_BYTES, "out of memory");
		return -ENOMEM;
	}
	return 0;
}

static int read_header(struct fkt_trace *trace, char *error)
{
	struct fkt_file_header *header = &trace->header;
	size_t got = fkt_input_read(&trace->input, header, sizeof(*header));

	if (trace->input.error) {
		snprintf(error, FKT_ERROR_BYTES, "%s", strerror(trace->input.error));
		return -trace->input.error;
	}
	if (!got) {
		snprintf(error, FKT_ERROR_BYTES, "is empty: nothing was recorded");
		return -EINVAL;
	}
	if (got < sizeof(header->magic) ||
	    memcmp(header->magic, FKT_FILE_MAGIC, sizeof(header->magic))) {
		snprintf(error, FKT_ERROR_BYTES,
			 "not an FKT trace (bad magic); was it written by fkt_record?");
		return -EINVAL;
	}
	if (got < sizeof(*header)) {
		snprintf(error, FKT_ERROR_BYTES,
			 "cut off in its header: nothing in it can be read");
		return -EINVAL;
	}
	header->version_major = le16toh(header->version_major);
	header->version_minor = le16toh(header->version_minor);
	header->byte_order = le32toh(header->byte_order);
	header->header_bytes = le32toh(header->header_bytes);
	header->page_bytes = le32toh(header->page_bytes);
	header->page_header_bytes = le32toh(header->page_header_bytes);
	header->lanes = le32toh(header->lanes);
	header->shared = le32toh(header->shared);
	header->data_offset = le64toh(header->data_offset);

	if (header->version_major != FKT_VERSION_MAJOR) {
		snprintf(
			error, FKT_ERROR_BYTES,
			"is of format version %u.%u, and only %u can be read; read it with the FKT "
			"that wrote it, or a newer one",
			header->version_major, header->version_minor, FKT_VERSION_MAJOR);
		return -EPROTONOSUPPORT;
	}
	if (header->byte_order != FKT_BYTE_ORDER || header->header_bytes < sizeof(*header) ||
	    header->header_bytes % 8 || header->page_bytes != FKT_PAGE_BYTES ||
	    header->page_header_bytes < sizeof(struct fkt_page_header) ||
	    header->page_header_bytes > FKT_PAGE_BYTES - sizeof(struct fkt_index) ||
	    header->page_header_bytes % 8 || !header->lanes || header->lanes >= FKT_LANE_INDEX ||
	    header->shared > 1 || header->data_offset % FKT_PAGE_BYTES ||
	    header->data_offset < header->header_bytes || header->data_offset > INT64_MAX) {
		snprintf(error, FKT_ERROR_BYTES, "has a damaged header: it cannot be read");
		return -EINVAL;
	}
	return 0;
}

/* Find the tail of a seekable file through its footer, and with it where the pages end. */
static void read_tail(struct fkt_trace *trace)
{
	struct fkt_input *input = &trace->input;
	uint64_t data = trace->header.data_offset;
	struct fkt_footer footer;
	uint64_t tail;

	if (input->size <= data)
		return;
	trace->pages = (input->size - data) / FKT_PAGE_BYTES;
	if (input->size - data < sizeof(footer) ||
	    fkt_input_read_at(input, &footer, sizeof(footer), input->size - sizeof(footer)) !=
		    sizeof(footer) ||
	    memcmp(footer.magic, FKT_FOOTER_MAGIC, sizeof(footer.magic)) ||
	    memcmp(footer.id, trace->header.id, sizeof(footer.id)))
		return;
	tail = le64toh(footer.tail_offset);
	if (tail < data || tail > input->size - sizeof(footer) || (tail - data) % FKT_PAGE_BYTES) {
		fkt_warn(trace, "its footer is damaged: the end sections are looked for");
		return;
	}
	input->pos = tail;
	trace->complete = fkt_read_sections(trace, input->size - sizeof(footer), NULL);
	check_totals(trace);
	trace->pages = (tail - data) / FKT_PAGE_BYTES;
	trace->pages_known = true;
}

struct fkt_trace *fkt_open(const char *path, fkt_warn_fn *warn, void *arg,
			   char error[FKT_ERROR_BYTES])
{
	struct fkt_trace *trace = calloc(1, sizeof(*trace));
	uint64_t data;

	if (!trace) {
		snprintf(error, FKT_ERROR_BYTES, "out of memory");
		return NULL;
	}
	pthread_mutex_init(&trace->lock, NULL);
	trace->warn = warn;
	trace->warn_arg = arg;
	if (open_input(&trace->input, path, error) || read_header(trace, error))
		goto fail;

	data = trace->header.data_offset;
	if (!input_skip(&trace->input, trace->header.header_bytes - sizeof(trace->header)) ||
	    !fkt_read_sections(trace, data, NULL))
		fkt_warn(trace, "its head has no proper end: names may be missing");
	if (trace->input.seekable) {
		read_tail(trace);
		trace->input.pos = data;
	} else if (trace->input.pos <= data) {
		input_skip(&trace->input, data - trace->input.pos);
	}
	fkt_set_clock(trace);
	if (fkt_index_names(trace) || fkt_index_state(trace)) {
		snprintf(error, FKT_ERROR_BYTES, "out of memory");
		goto fail;
	}
	return trace;

fail:
	fkt_close(trace);
	return NULL;
}

void fkt_close(struct fkt_trace *trace)
{
	struct fkt_info_piece *piece;

	if (!trace)
		return;
	if (trace->input.fd >= 0 && trace->input.opened)
		close(trace->input.fd);
	free(trace->input.buf);
	while ((piece = trace->info)) {
		trace->info = piece->before;
		free(piece);
	}
	free(trace->totals);
	free(trace->places);
	free(trace->state_lines.text);
	free(trace->current);
	free(trace->open_calls);
	free(trace->open_waits);
	free(trace->open_bases);
	free(trace->processes.text);
	fkt_free_names(trace);
	fkt_free_symbols(trace);
	fkt_free_maps(trace);
	fkt_free_begans(trace);
	fkt_free_functions(trace);
	pthread_mutex_destroy(&trace->lock);
	free(trace);
}

const struct fkt_file_header *fkt_header(const struct fkt_trace *trace)
{
	return &trace->header;
}

bool fkt_is_complete(const struct fkt_trace *trace)
{
	/* Partner: the release in fkt_read_end(). */
	return __atomic_load_n(&trace->complete, __ATOMIC_ACQUIRE);
}

static const char *find_info(const struct fkt_trace *trace, const char *key, bool lines)
{
	/* Partner: the release in append_info(). */
	const struct fkt_info_piece *piece = __atomic_load_n(&trace->info, __ATOMIC_ACQUIRE);
	const char *value, *last = NULL;
	size_t length = strlen(key);

	for (; piece && !last; piece = piece->before)
		for (value = piece->text; value < piece->text + piece->bytes;
		     value += strlen(value) + 1)
			if (!strncmp(value, key, length) && value[length] == '=')
				last = (lines ? piece->lines + (value - piece->text) : value) +
				       length + 1;
	return last;
}

const char *fkt_info(const struct fkt_trace *trace, const char *key)
{
	return find_info(trace, key, false);
}

const char *fkt_info_lines(const struct fkt_trace *trace, const char *key)
{
	return find_info(trace, key, true);
}

bool fkt_has_layer(const struct fkt_trace *trace, const char *layer)
{
	const char *list = fkt_info(trace, "layers");
	const size_t bytes = strlen(layer);

	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == bytes && !strncmp(list, layer, bytes))
			return true;
	return false;
}

static uint32_t key_of(const char *name, size_t bytes)
{
	static const struct {
		uint32_t key;
		const char *name;
	} layers[] = {
#define X(NAME, bit, name, about) { 1u << (bit), name },
		FKT_LAYERS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		if (strlen(layers[i].name) == bytes && !strncmp(layers[i].name, name, bytes))
			return layers[i].key;
	return 0;
}

/* Those of a list with commas; @known: all of them are known here. */
static uint32_t keys_of(const char *list, bool *known)
{
	uint32_t keys = 0, key;

	*known = true;
	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		key = key_of(list, strcspn(list, ","));
		*known = *known && key;
		keys |= key;
	}
	return keys;
}

uint32_t fkt_code_keys(const struct fkt_code_row *row)
{
	bool known;
	const uint32_t keys = keys_of(row->layer, &known);

	return known ? keys : 0;
}

uint32_t fkt_begins_with(const struct fkt_trace *trace)
{
	const char *list = fkt_info(trace, "layers");
	bool known;

	if (trace->mask)
		return trace->mask;
	return list ? keys_of(list, &known) : ~0u;
}

const struct fkt_lane_totals *fkt_lane_totals(const struct fkt_trace *trace, size_t index)
{
	/* Partner: the release in take_totals(). */
	size_t count = __atomic_load_n(&trace->n_totals, __ATOMIC_ACQUIRE);

	return index < count ? &trace->totals[index] : NULL;
}

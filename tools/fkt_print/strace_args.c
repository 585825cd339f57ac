// SPDX-License-Identifier: GPL-2.0-or-later
/* Arguments and results of system calls as strace(1) writes them. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "strace.h"
#include "trace/internal.h"

/* So much of the memory of one call is kept; a trace may say anything. */
#define DATA_BYTES_MAX	(1u << 20)

/* Of the machines that there are tables for. */
#define O_CREAT_BITS	0x400040u /* or O_TMPFILE */
#define AT_FDCWD_VALUE	(-100)
#define FUTEX_PRIVATE	128u
#define SA_WITH_INFO	4u
#define SA_HAS_RESTORER 0x04000000u
#define NSIG_BITS	64u
#define SIGNAL_RT	32u

/* ---- what a call is given ---- */

static const struct {
	const char *name;
	const char *args;
	const char *result;
} known_calls[] = {
#define X(name, args, result) { name, args, result },
	FKT_CALLS(X)
#undef X
};

static const struct {
	const char *word;
	uint8_t read;
} arg_kinds[] = {
#define X(NAME, word, read, bytes) [FKT_ARG_##NAME] = { word, FKT_DATA_##read },
	FKT_ARG_KINDS(X)
#undef X
};

static const char *const result_kinds[] = {
#define X(NAME, word) [FKT_RESULT_##NAME] = word,
	FKT_RESULT_KINDS(X)
#undef X
};

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static bool is_word(const char *word, const char *at, size_t bytes)
{
	return strlen(word) == bytes && !memcmp(word, at, bytes);
}

static void set_arg(struct strace_shape *shape, const char *at, size_t bytes)
{
	const unsigned int n = shape->args++;

	shape->kind[n] = FKT_ARG_FLAGS;
	shape->table[n] = at;
	for (size_t i = 0; i < ARRAY_SIZE(arg_kinds); i++)
		if (is_word(arg_kinds[i].word, at, bytes))
			shape->kind[n] = (uint8_t)i;
}

void strace_shape(struct strace_shape *shape, const struct fkt_syscall *call)
{
	const char *at;
	size_t bytes;

	*shape = (struct strace_shape){ .name = call && strcmp(call->name, "?") ? call->name
										: NULL };
	for (size_t i = 0; call && i < ARRAY_SIZE(known_calls); i++) {
		if (strcmp(known_calls[i].name, call->name))
			continue;
		shape->known = true;
		for (at = known_calls[i].args; *at && shape->args < STRACE_ARGS_MAX; at += bytes) {
			at += *at == ' ';
			bytes = strcspn(at, " ");
			set_arg(shape, at, bytes);
		}
		for (size_t k = 0; k < ARRAY_SIZE(result_kinds); k++)
			if (!strcmp(result_kinds[k], known_calls[i].result))
				shape->result = (uint8_t)k;
		return;
	}
	/* As many as were recorded. */
	shape->args = STRACE_ARGS_MAX;
	memset(shape->kind, FKT_ARG_HEX, sizeof(shape->kind));
}

/* ---- what its memory held ---- */

struct piece {
	uint16_t of;
	uint16_t index;
	uint16_t bytes;
};

int strace_data_add(struct strace_data *data, const struct fkt_event *event)
{
	struct piece piece = { .of = event->imm };
	size_t room = data->room ?: 256;
	uint32_t code;
	char *larger;

	if (!event->words)
		return 0;
	code = fkt_arg32(event, 0);
	piece.index = fkt_arg16(event, 4);
	piece.bytes = fkt_arg16(event, 6);
	/* What is left of another call, whose own event was lost. */
	if (code != data->code)
		data->bytes = 0;
	data->code = code;
	if (piece.bytes > 8u * (event->words - 1u) ||
	    data->bytes + sizeof(piece) + piece.bytes > DATA_BYTES_MAX)
		return 0;
	while (room < data->bytes + sizeof(piece) + piece.bytes)
		room *= 2;
	if (room != data->room) {
		larger = realloc(data->text, room);
		if (!larger)
			return -ENOMEM;
		data->text = larger;
		data->room = room;
	}
	memcpy(data->text + data->bytes, &piece, sizeof(piece));
	memcpy(data->text + data->bytes + sizeof(piece), (const char *)event->args + 8,
	       piece.bytes);
	data->bytes += sizeof(piece) + piece.bytes;
	return 0;
}

enum state {
	ABSENT, /* it was not looked at */
	FAULT,	/* it was not there */
	THERE,
};

/**
 * struct memory - what was recorded of an argument's memory
 * @state: whether
 * @cut: there was more
 * @bytes: length of @text
 * @text: the bytes, with a NUL behind them; free it
 */
struct memory {
	enum state state;
	bool cut;
	size_t bytes;
	char *text;
};

/* Of the pieces with such a number. Those before the last complete one are of events lost since. */
static struct memory get_pieces(const struct strace_call *call, unsigned int of, uint32_t index)
{
	const struct strace_data *data = &call->data;
	struct memory memory = { 0 };
	struct piece piece;
	bool more = false;

	for (size_t at = 0; at < data->bytes; at += sizeof(piece) + piece.bytes) {
		memcpy(&piece, data->text + at, sizeof(piece));
		if ((piece.of & FKT_DATA_OF) != of || piece.index != index)
			continue;
		if (!memory.text)
			memory.text = malloc(data->bytes + 1);
		if (!memory.text)
			return (struct memory){ 0 };
		if (!more)
			memory = (struct memory){ .text = memory.text };
		memcpy(memory.text + memory.bytes, data->text + at + sizeof(piece), piece.bytes);
		memory.bytes += piece.bytes;
		if (!(piece.of & FKT_DATA_FAULT))
			memory.state = THERE;
		else if (memory.state == ABSENT)
			memory.state = FAULT;
		memory.cut = piece.of & (FKT_DATA_CUT | FKT_DATA_FAULT);
		more = piece.of & FKT_DATA_MORE;
	}
	/* The rest was lost. */
	memory.cut |= more;
	if (memory.text)
		memory.text[memory.bytes] = '\0';
	return memory;
}

/* At the end, or where nothing was looked at then, at the begin. */
static struct memory get_element(const struct strace_call *call, unsigned int of, uint32_t index)
{
	struct memory memory = get_pieces(call, of | FKT_DATA_EXIT, index);

	if (memory.state != ABSENT)
		return memory;
	free(memory.text);
	return get_pieces(call, of, index);
}

static struct memory get(const struct strace_call *call, unsigned int of)
{
	return get_element(call, of, 0);
}

static enum state state_of(const struct strace_call *call, unsigned int of, uint32_t index)
{
	struct memory memory = get_element(call, of, index);

	free(memory.text);
	return memory.state;
}

/* The first bytes, where they are all there. */
static bool get_struct(const struct strace_call *call, unsigned int of, void *to, size_t bytes)
{
	struct memory memory = get(call, of);
	const bool whole = memory.state == THERE && memory.bytes >= bytes;

	if (whole)
		memcpy(to, memory.text, bytes);
	free(memory.text);
	return whole;
}

/* How many elements an array has; @cut: there are more. */
static bool get_count(const struct strace_call *call, unsigned int of, uint32_t *count, bool *cut)
{
	struct memory memory = get_element(call, of, FKT_DATA_ARRAY);
	const bool there = memory.state == THERE && memory.bytes >= sizeof(*count);

	if (there)
		memcpy(count, memory.text, sizeof(*count));
	*cut = memory.cut;
	free(memory.text);
	return there;
}

/* ---- pieces of a line ---- */

static void put_text(FILE *file, const char *text, size_t bytes, const char *also)
{
	static const char letters[] = "tnvfr"; /* from \t on */

	for (size_t i = 0; i < bytes; i++) {
		const unsigned char c = (unsigned char)text[i];
		const bool digit = i + 1 < bytes && text[i + 1] >= '0' && text[i + 1] <= '7';

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (c >= '\t' && c <= '\r')
			fprintf(file, "\\%c", letters[c - '\t']);
		else if (c >= 0x20 && c < 0x7f && !strchr(also, c))
			fputc(c, file);
		else
			fprintf(file, digit ? "\\%03o" : "\\%o", c);
	}
}

static void put_quoted(FILE *file, const char *text, size_t bytes, bool cut)
{
	fputc('"', file);
	put_text(file, text, bytes, "");
	fputs(cut ? "\"..." : "\"", file);
}

static void put_hex(FILE *file, uint64_t value)
{
	fprintf(file, "%#" PRIx64, value);
}

static void put_pointer(FILE *file, uint64_t value)
{
	if (value)
		put_hex(file, value);
	else
		fputs("NULL", file);
}

static void put_octal(FILE *file, uint32_t value)
{
	fprintf(file, value ? "%#03" PRIo32 : "%03" PRIo32, value);
}

static const struct fkt_flag *find_table(const struct fkt_trace *trace, const char *name,
					 const struct fkt_flag **end)
{
	const struct fkt_flag *flag = trace->arch->flag;
	const size_t bytes = strcspn(name, " ");

	*end = flag + trace->arch->flags;
	while (flag < *end && !is_word(flag->table, name, bytes))
		flag++;
	return flag;
}

/* By the table whose name goes up to a space; nothing where @optional, and there is no name. */
static bool put_flags(FILE *file, const struct fkt_trace *trace, const char *table, uint32_t value,
		      bool optional)
{
	const struct fkt_flag *end, *first = find_table(trace, table, &end), *flag;
	const bool has_table = first < end;
	uint32_t rest = value;
	const char *bar = "";
	bool whole = false; /* numbers, not bits */

	for (flag = first; flag < end && !strcmp(flag->table, first->table); flag++) {
		whole |= flag->mask == UINT32_MAX && flag->value;
		if (!flag->mask || (value & flag->mask) != flag->value ||
		    (flag->value & rest) != flag->value)
			continue;
		fprintf(file, "%s%s", bar, flag->name);
		rest &= ~flag->value;
		bar = "|";
	}
	if (rest && *bar)
		fprintf(file, "|%#" PRIx32, rest);
	else if (*bar)
		return true;
	else if (optional)
		return false;
	else if (!value && !whole)
		fputs("0", file);
	else
		fprintf(file, "%#" PRIx32 " /* %s */", value, has_table ? first->name : "???");
	return true;
}

void strace_put_signal(FILE *file, const struct fkt_trace *trace, uint32_t number)
{
	if (number == SIGNAL_RT)
		fputs("SIGRTMIN", file);
	else if (number > SIGNAL_RT && number <= NSIG_BITS)
		fprintf(file, "SIGRT_%" PRIu32, number - SIGNAL_RT);
	else if (!number || !put_flags(file, trace, "signal", number, true))
		fprintf(file, "%" PRIu32, number);
}

static void put_path_of(FILE *file, const struct strace_call *call, unsigned int of, uint32_t index)
{
	static const char deleted[] = " (deleted)";
	struct memory path = get_element(call, of, index);
	char *end = NULL;

	if (path.state == THERE) {
		if (path.bytes >= sizeof(deleted))
			end = path.text + path.bytes + 1 - sizeof(deleted);
		if (end && strcmp(end, deleted))
			end = NULL;
		fputc('<', file);
		put_text(file, path.text, end ? (size_t)(end - path.text) : path.bytes, "<>");
		fprintf(file, "%s>%s", path.cut ? "..." : "", end ? "(deleted)" : "");
	}
	free(path.text);
}

/* A file descriptor, and what it stands for. */
static void put_fd(FILE *file, const struct strace_call *call, unsigned int of, int32_t fd)
{
	fprintf(file, "%" PRId32, fd);
	put_path_of(file, call, of, 0);
}

/* ---- what memory held ---- */

static bool put_string(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory = get(call, of);

	if (memory.state == THERE)
		put_quoted(file, memory.text, memory.bytes, memory.cut);
	free(memory.text);
	return memory.state == THERE;
}

static bool put_raw(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory = get(call, of);

	if (memory.state == THERE) {
		fputc('"', file);
		for (size_t i = 0; i < memory.bytes; i++)
			fprintf(file, "\\x%02x", (unsigned char)memory.text[i]);
		fputs(memory.cut ? "\"..." : "\"", file);
	}
	free(memory.text);
	return memory.state == THERE;
}

/* It returns the length with the NUL, which is not shown. */
static bool put_cwd(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory = get(call, of);

	if (memory.state == THERE)
		put_quoted(file, memory.text, strlen(memory.text), memory.cut);
	free(memory.text);
	return memory.state == THERE;
}

static bool put_argv(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory;
	uint32_t count;
	bool cut;

	if (!get_count(call, of, &count, &cut))
		return false;
	fputc('[', file);
	for (uint32_t i = 0; i < count && i < FKT_DATA_ELEMENTS_MAX; i++) {
		memory = get_element(call, of, i);
		fputs(i ? ", " : "", file);
		if (memory.state == THERE)
			put_quoted(file, memory.text, memory.bytes, memory.cut);
		else
			fputs("???", file);
		free(memory.text);
	}
	fprintf(file, "%s]", !cut ? "" : count ? ", ..." : "...");
	return true;
}

static bool put_envp(FILE *file, const struct strace_call *call, unsigned int of)
{
	uint32_t count;
	bool cut;

	put_pointer(file, call->arg[of]);
	if (get_count(call, of, &count, &cut))
		fprintf(file, " /* %" PRIu32 "%s var%s%s */", count, cut ? " or more" : "",
			count == 1 ? "" : "s", cut ? "" : "");
	return true;
}

static bool put_iov(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory;
	uint32_t count;
	uint64_t length;
	bool cut;

	if (!get_count(call, of, &count, &cut))
		return false;
	fputc('[', file);
	for (uint32_t i = 0; i < count && i < FKT_DATA_ELEMENTS_MAX; i++) {
		memory = get_element(call, of, i);
		fputs(i ? ", " : "", file);
		if (memory.bytes >= sizeof(length)) {
			memcpy(&length, memory.text, sizeof(length));
			fputs("{iov_base=", file);
			if (memory.state == THERE)
				put_quoted(file, memory.text + sizeof(length),
					   memory.bytes - sizeof(length), memory.cut);
			else
				fputs("???", file);
			fprintf(file, ", iov_len=%" PRIu64 "}", length);
		} else {
			fputs("???", file);
		}
		free(memory.text);
	}
	fprintf(file, "%s]", !cut ? "" : count ? ", ..." : "...");
	return true;
}

static void put_sun_path(FILE *file, const char *path, size_t bytes)
{
	fputs(", sun_path=", file);
	if (bytes && !*path) {
		fputc('@', file);
		put_quoted(file, path + 1, bytes - 1, false);
	} else {
		put_quoted(file, path, strnlen(path, bytes), false);
	}
}

static void put_in6(FILE *file, const char *addr)
{
	char text[INET6_ADDRSTRLEN];
	struct sockaddr_in6 in;

	memcpy(&in, addr, sizeof(in));
	inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
	fprintf(file,
		", sin6_port=htons(%u), sin6_flowinfo=htonl(%" PRIu32
		"), inet_pton(AF_INET6, \"%s\", &sin6_addr), sin6_scope_id=%" PRIu32,
		ntohs(in.sin6_port), ntohl(in.sin6_flowinfo), text, in.sin6_scope_id);
}

static bool put_addr(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory = get(call, of);
	const char *addr = memory.text;
	char text[INET_ADDRSTRLEN];
	uint32_t nl[2];
	uint16_t family, port;

	if (memory.state != THERE || memory.bytes < sizeof(family)) {
		free(memory.text);
		return false;
	}
	memcpy(&family, addr, sizeof(family));
	fputs("{sa_family=", file);
	put_flags(file, call->trace, "family", family, false);
	if (family == AF_UNIX && memory.bytes > sizeof(family)) {
		put_sun_path(file, addr + sizeof(family), memory.bytes - sizeof(family));
	} else if (family == AF_INET && memory.bytes >= 8) {
		memcpy(&port, addr + 2, sizeof(port));
		fprintf(file, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(port),
			inet_ntop(AF_INET, addr + 4, text, sizeof(text)));
	} else if (family == AF_INET6 && memory.bytes >= sizeof(struct sockaddr_in6)) {
		put_in6(file, addr);
	} else if (family == AF_NETLINK && memory.bytes >= 12) {
		memcpy(nl, addr + 4, sizeof(nl));
		fprintf(file, ", nl_pid=%" PRId32 ", nl_groups=%08" PRIx32, (int32_t)nl[0], nl[1]);
	} else if (memory.bytes > sizeof(family)) {
		fputs(", sa_data=", file);
		put_quoted(file, addr + sizeof(family), memory.bytes - sizeof(family), memory.cut);
	}
	fputc('}', file);
	free(memory.text);
	return true;
}

/* An option of a socket: a number, or whatever it is. */
static bool put_option(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory memory = get(call, of);
	int32_t value;

	if (memory.state == THERE && memory.bytes == sizeof(value)) {
		memcpy(&value, memory.text, sizeof(value));
		fprintf(file, "[%" PRId32 "]", value);
	} else if (memory.state == THERE) {
		put_quoted(file, memory.text, memory.bytes, memory.cut);
	}
	free(memory.text);
	return memory.state == THERE;
}

/* A length that the call writes anew. */
static bool put_length(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct memory before = get_pieces(call, of, 0);
	uint32_t now, was;
	bool there = get_struct(call, of, &now, sizeof(now));

	if (there && before.state == THERE && before.bytes >= sizeof(was)) {
		memcpy(&was, before.text, sizeof(was));
		if (was != now)
			fprintf(file, "[%" PRIu32 " => %" PRIu32 "]", was, now);
		else
			fprintf(file, "[%" PRIu32 "]", now);
	} else if (there) {
		fprintf(file, "[%" PRIu32 "]", now);
	}
	free(before.text);
	return there;
}

static bool put_pipe(FILE *file, const struct strace_call *call, unsigned int of)
{
	int32_t fd[2];

	if (!get_struct(call, of, fd, sizeof(fd)))
		return false;
	fprintf(file, "[%" PRId32, fd[0]);
	put_path_of(file, call, of, 1);
	fprintf(file, ", %" PRId32, fd[1]);
	put_path_of(file, call, of, 2);
	fputc(']', file);
	return true;
}

static bool put_wait_status(FILE *file, const struct strace_call *call, unsigned int of)
{
	uint32_t status;

	if (call->result <= 0 || !get_struct(call, of, &status, sizeof(status)))
		return false;
	if (status == 0xffff) {
		fputs("[{WIFCONTINUED(s)}]", file);
	} else if (!(status & 0x7f)) {
		fprintf(file, "[{WIFEXITED(s) && WEXITSTATUS(s) == %" PRIu32 "}]",
			status >> 8 & 0xff);
	} else if ((status & 0xff) == 0x7f) {
		fputs("[{WIFSTOPPED(s) && WSTOPSIG(s) == ", file);
		strace_put_signal(file, call->trace, status >> 8 & 0xff);
		fputs("}]", file);
	} else {
		fputs("[{WIFSIGNALED(s) && WTERMSIG(s) == ", file);
		strace_put_signal(file, call->trace, status & 0x7f);
		fputs(status & 0x80 ? " && WCOREDUMP(s)}]" : "}]", file);
	}
	return true;
}

static void put_sigset(FILE *file, const struct fkt_trace *trace, uint64_t set)
{
	const bool most = (unsigned int)__builtin_popcountll(set) >= NSIG_BITS * 2 / 3;
	const char *space = "";
	char *text = NULL;
	size_t bytes;
	FILE *name;

	set = most ? ~set : set;
	fputs(most ? "~[" : "[", file);
	for (uint32_t i = 1; i <= NSIG_BITS; i++) {
		if (!(set >> (i - 1) & 1))
			continue;
		name = open_memstream(&text, &bytes);
		if (!name)
			return;
		strace_put_signal(name, trace, i);
		fclose(name);
		fprintf(file, "%s%s", space, strncmp(text, "SIG", 3) ? text : text + 3);
		free(text);
		space = " ";
	}
	fputc(']', file);
}

static bool put_sigset_at(FILE *file, const struct strace_call *call, unsigned int of)
{
	uint64_t set;

	if (!get_struct(call, of, &set, sizeof(set)))
		return false;
	put_sigset(file, call->trace, set);
	return true;
}

static bool put_sigaction(FILE *file, const struct strace_call *call, unsigned int of)
{
	uint64_t word[4]; /* handler, flags, restorer, mask */

	if (!get_struct(call, of, word, sizeof(word)))
		return false;
	fputs(word[1] & SA_WITH_INFO ? "{sa_sigaction=" : "{sa_handler=", file);
	if (word[0] <= 1)
		fputs(word[0] ? "SIG_IGN" : "SIG_DFL", file);
	else
		put_hex(file, word[0]);
	fputs(", sa_mask=", file);
	put_sigset(file, call->trace, word[3]);
	fputs(", sa_flags=", file);
	put_flags(file, call->trace, "sigaction", (uint32_t)word[1], false);
	if (word[1] & SA_HAS_RESTORER) {
		fputs(", sa_restorer=", file);
		put_pointer(file, word[2]);
	}
	fputc('}', file);
	return true;
}

static bool put_timespec(FILE *file, const struct strace_call *call, unsigned int of)
{
	int64_t word[2];

	if (!get_struct(call, of, word, sizeof(word)))
		return false;
	fprintf(file, "{tv_sec=%" PRId64 ", tv_nsec=%" PRId64 "}", word[0], word[1]);
	return true;
}

static void put_limit(FILE *file, uint64_t value)
{
	if (value == UINT64_MAX)
		fputs("RLIM64_INFINITY", file);
	else if (value > 1024 && !(value % 1024))
		fprintf(file, "%" PRIu64 "*1024", value / 1024);
	else
		fprintf(file, "%" PRIu64, value);
}

static bool put_rlimit(FILE *file, const struct strace_call *call, unsigned int of)
{
	uint64_t word[2];

	if (!get_struct(call, of, word, sizeof(word)))
		return false;
	fputs("{rlim_cur=", file);
	put_limit(file, word[0]);
	fputs(", rlim_max=", file);
	put_limit(file, word[1]);
	fputc('}', file);
	return true;
}

#define FILE_TYPE  0170000u
#define FILE_CHAR  0020000u
#define FILE_BLOCK 0060000u

static void put_file_mode(FILE *file, const struct fkt_trace *trace, uint32_t mode)
{
	if (put_flags(file, trace, "filetype", mode & FILE_TYPE, true))
		fputc('|', file);
	fprintf(file, "%s%s%s", mode & 04000 ? "S_ISUID|" : "", mode & 02000 ? "S_ISGID|" : "",
		mode & 01000 ? "S_ISVTX|" : "");
	put_octal(file, mode & 0777);
}

static bool is_device(uint32_t mode)
{
	return (mode & FILE_TYPE) == FILE_CHAR || (mode & FILE_TYPE) == FILE_BLOCK;
}

static void put_device(FILE *file, uint64_t device)
{
	fprintf(file, "makedev(%#" PRIx64 ", %#" PRIx64 ")",
		(device >> 8 & 0xfff) | (device >> 32 & 0xfffff000),
		(device & 0xff) | (device >> 12 & 0xffffff00));
}

/* x86-64's struct stat. */
static bool put_stat(FILE *file, const struct strace_call *call, unsigned int of)
{
	struct {
		uint64_t dev, ino, links;
		uint32_t mode, uid, gid, pad;
		uint64_t rdev, size;
	} stat;

	if (!get_struct(call, of, &stat, sizeof(stat)))
		return false;
	fputs("{st_mode=", file);
	put_file_mode(file, call->trace, stat.mode);
	if (is_device(stat.mode)) {
		fputs(", st_rdev=", file);
		put_device(file, stat.rdev);
	} else {
		fprintf(file, ", st_size=%" PRId64, (int64_t)stat.size);
	}
	fputs(", ...}", file);
	return true;
}

/* ---- arguments ---- */

#define FCNTL_DUPFD	    0u
#define FCNTL_GETFD	    1u
#define FCNTL_SETFD	    2u
#define FCNTL_GETFL	    3u
#define FCNTL_SETFL	    4u
#define FCNTL_DUPFD_CLOEXEC 1030u

/* What has no third argument. */
static bool fcntl_is_get(uint32_t command)
{
	static const uint16_t gets[] = { 1, 3, 9, 11, 1025, 1032, 1034 };

	for (size_t i = 0; i < ARRAY_SIZE(gets); i++)
		if (command == gets[i])
			return true;
	return false;
}

static void put_fcntl_arg(FILE *file, const struct strace_call *call, unsigned int n)
{
	const uint32_t command = (uint32_t)call->arg[n - 1], value = (uint32_t)call->arg[n];

	if (command == FCNTL_SETFD)
		put_flags(file, call->trace, "fd", value, false);
	else if (command == FCNTL_SETFL)
		put_flags(file, call->trace, "open", value, false);
	else if (command == FCNTL_DUPFD || command == FCNTL_DUPFD_CLOEXEC || command == 8 ||
		 command == 1031)
		fprintf(file, "%" PRId32, (int32_t)value);
	else
		put_pointer(file, call->arg[n]);
}

static void put_futex_op(FILE *file, const struct strace_call *call, uint32_t op)
{
	const uint32_t command = op & 0x7f;

	put_flags(file, call->trace, "futex", command, false);
	fprintf(file, "%s%s", op & FUTEX_PRIVATE ? "_PRIVATE" : "",
		op & 256 ? "|FUTEX_CLOCK_REALTIME" : "");
}

/* After the operation: which of val, timeout or val2, uaddr2, val3 it has. */
static void put_futex_args(FILE *file, const struct strace_call *call, unsigned int n)
{
	static const char *const has[] = {
		"vt", "v", "v",	   "v2u", "v2ub", "v2ub", "t",
		"",   "",  "vtub", "vb",  "v2ub", "v2u",  "t",
	};
	const uint32_t command = (uint32_t)call->arg[n - 1] & 0x7f;
	const char *at = command < ARRAY_SIZE(has) ? has[command] : "v2ub", *comma = "";

	for (; *at; at++) {
		const unsigned int arg = *at == 'v'		    ? n
					 : *at == 't' || *at == '2' ? n + 1
					 : *at == 'u'		    ? n + 2
								    : n + 3;

		/* The second address is not looked at by a wait for bits. */
		if (arg >= call->args)
			break;
		fputs(comma, file);
		comma = ", ";
		if (*at == 't' || *at == 'u')
			put_pointer(file, call->arg[arg]);
		else if (*at == 'b' && (uint32_t)call->arg[arg] == UINT32_MAX)
			fputs("FUTEX_BITSET_MATCH_ANY", file);
		else if (*at == 'b')
			put_hex(file, (uint32_t)call->arg[arg]);
		else
			fprintf(file, "%" PRIu32, (uint32_t)call->arg[arg]);
	}
}

#define CLONE_SIGNAL_MASK    0xffu
#define CLONE_HAS_PARENT_TID 0x00101000u /* or CLONE_PIDFD */
#define CLONE_HAS_TLS	     0x00080000u
#define CLONE_HAS_CHILD_TID  0x01200000u

static void put_clone_args(FILE *file, const struct strace_call *call)
{
	const uint32_t flags = (uint32_t)call->arg[0];

	fputs("child_stack=", file);
	put_pointer(file, call->arg[1]);
	fputs(", flags=", file);
	if (flags & ~CLONE_SIGNAL_MASK)
		put_flags(file, call->trace, "clone", flags & ~CLONE_SIGNAL_MASK, false);
	if (flags & CLONE_SIGNAL_MASK) {
		fputs(flags & ~CLONE_SIGNAL_MASK ? "|" : "", file);
		strace_put_signal(file, call->trace, flags & CLONE_SIGNAL_MASK);
	} else if (!flags) {
		fputs("0", file);
	}
	if (flags & CLONE_HAS_PARENT_TID) {
		fputs(", parent_tid=", file);
		put_pointer(file, call->arg[2]);
	}
	if (flags & CLONE_HAS_TLS) {
		fputs(", tls=", file);
		put_hex(file, call->arg[4]);
	}
	if (flags & CLONE_HAS_CHILD_TID) {
		fputs(", child_tidptr=", file);
		put_pointer(file, call->arg[3]);
	}
}

static void put_protocol(FILE *file, const struct strace_call *call, unsigned int n)
{
	const uint32_t family = (uint32_t)call->arg[n - 2];

	if (family == AF_INET || family == AF_INET6)
		put_flags(file, call->trace, "ipproto", (uint32_t)call->arg[n], false);
	else if (family == AF_NETLINK)
		put_flags(file, call->trace, "netlink", (uint32_t)call->arg[n], false);
	else
		fprintf(file, "%" PRIu32, (uint32_t)call->arg[n]);
}

static void put_option_name(FILE *file, const struct strace_call *call, unsigned int n)
{
	const uint32_t level = (uint32_t)call->arg[n - 1], value = (uint32_t)call->arg[n];

	if (level == SOL_SOCKET)
		put_flags(file, call->trace, "so", value, false);
	else if (level == IPPROTO_TCP)
		put_flags(file, call->trace, "tcp", value, false);
	else
		put_hex(file, value);
}

typedef bool put_memory_fn(FILE *file, const struct strace_call *call, unsigned int of);

/* Those that show memory; what of it is not known is shown as the pointer. */
static put_memory_fn *const put_memory[] = {
	[FKT_ARG_PATH] = put_string,	   [FKT_ARG_ARGV] = put_argv,
	[FKT_ARG_ENVP] = put_envp,	   [FKT_ARG_BUF] = put_string,
	[FKT_ARG_RBUF] = put_string,	   [FKT_ARG_RRAW] = put_raw,
	[FKT_ARG_RCWD] = put_cwd,	   [FKT_ARG_ADDR] = put_addr,
	[FKT_ARG_RADDR] = put_addr,	   [FKT_ARG_OPT] = put_option,
	[FKT_ARG_ROPT] = put_option,	   [FKT_ARG_RLEN] = put_length,
	[FKT_ARG_IOV] = put_iov,	   [FKT_ARG_RIOV] = put_iov,
	[FKT_ARG_PIPE] = put_pipe,	   [FKT_ARG_WSTATUS] = put_wait_status,
	[FKT_ARG_RID] = put_option,	   [FKT_ARG_SIGSET] = put_sigset_at,
	[FKT_ARG_RSIGSET] = put_sigset_at, [FKT_ARG_SIGACT] = put_sigaction,
	[FKT_ARG_RSIGACT] = put_sigaction, [FKT_ARG_TIME] = put_timespec,
	[FKT_ARG_RTIME] = put_timespec,	   [FKT_ARG_RLIMIT] = put_rlimit,
	[FKT_ARG_RRLIMIT] = put_rlimit,	   [FKT_ARG_STAT] = put_stat,
};

static bool is_memory(uint8_t kind)
{
	return kind < ARRAY_SIZE(put_memory) && put_memory[kind];
}

/* A number, or what is known by the numbers before it. */
static void put_number(FILE *file, const struct strace_call *call, unsigned int n)
{
	const struct strace_shape *shape = call->shape;
	const uint64_t value = call->arg[n];

	switch (shape->kind[n]) {
	case FKT_ARG_FLAGS:
		if (is_word("futex", shape->table[n], strcspn(shape->table[n], " ")))
			put_futex_op(file, call, (uint32_t)value);
		else
			put_flags(file, call->trace, shape->table[n], (uint32_t)value, false);
		break;
	case FKT_ARG_INT:
	case FKT_ARG_ID:
		fprintf(file, "%" PRId32, (int32_t)value);
		break;
	case FKT_ARG_UINT:
		fprintf(file, "%" PRIu32, (uint32_t)value);
		break;
	case FKT_ARG_LONG:
		fprintf(file, "%" PRId64, (int64_t)value);
		break;
	case FKT_ARG_SIZE:
		fprintf(file, "%" PRIu64, value);
		break;
	case FKT_ARG_OCTAL:
	case FKT_ARG_CREAT:
		put_octal(file, (uint32_t)value);
		break;
	case FKT_ARG_FILEMODE:
		put_file_mode(file, call->trace, (uint32_t)value);
		break;
	case FKT_ARG_DEV:
		put_device(file, (uint32_t)value);
		break;
	case FKT_ARG_SIGNAL:
		strace_put_signal(file, call->trace, (uint32_t)value);
		break;
	case FKT_ARG_PROTOCOL:
		put_protocol(file, call, n);
		break;
	case FKT_ARG_CLONEFLAGS:
		put_clone_args(file, call);
		break;
	case FKT_ARG_FCNTLARG:
		put_fcntl_arg(file, call, n);
		break;
	case FKT_ARG_FUTEXARGS:
		put_futex_args(file, call, n);
		break;
	case FKT_ARG_OPTNAME:
		put_option_name(file, call, n);
		break;
	case FKT_ARG_FD:
	case FKT_ARG_DIRFD:
		if (shape->kind[n] == FKT_ARG_DIRFD && (int32_t)value == AT_FDCWD_VALUE) {
			fputs("AT_FDCWD", file);
			put_path_of(file, call, n, 0);
		} else {
			put_fd(file, call, n, (int32_t)value);
		}
		break;
	case FKT_ARG_HEX:
		put_hex(file, value);
		break;
	default:
		put_pointer(file, value);
	}
}

/* How many arguments it has: the last ones may depend on those before. */
static unsigned int count_args(const struct strace_call *call)
{
	const struct strace_shape *shape = call->shape;
	const unsigned int n = shape->args < call->args ? shape->args : call->args;

	if (!n)
		return 0;
	switch (shape->kind[n - 1]) {
	case FKT_ARG_CREAT:
		return call->arg[n - 2] & O_CREAT_BITS ? n : n - 1;
	case FKT_ARG_DEV:
		return is_device((uint32_t)call->arg[n - 2]) ? n : n - 1;
	case FKT_ARG_FCNTLARG:
		return fcntl_is_get((uint32_t)call->arg[n - 2]) ? n - 1 : n;
	default:
		/* All of it is written as one. */
		return shape->kind[0] == FKT_ARG_CLONEFLAGS ? 1 : n;
	}
}

/* Whether only the call's end tells it; or may, as it was not there at its begin. */
static bool comes_late(const struct strace_call *call, unsigned int n)
{
	const uint8_t kind = call->shape->kind[n];

	if (kind == FKT_ARG_REST)
		return true;
	if (!is_memory(kind) || !call->arg[n])
		return false;
	switch (arg_kinds[kind].read) {
	case FKT_DATA_OUT:
	case FKT_DATA_INOUT:
	case FKT_DATA_OUT_RESULT:
	case FKT_DATA_OUT_LENGTH:
	case FKT_DATA_VECTOR_OUT:
	case FKT_DATA_FDS_OUT:
		return true;
	case FKT_DATA_STRINGS:
	case FKT_DATA_VECTOR_IN:
		return state_of(call, n, FKT_DATA_ARRAY) == FAULT;
	default:
		return state_of(call, n, 0) == FAULT;
	}
}

unsigned int strace_put_args(FILE *file, const struct strace_call *call, unsigned int from)
{
	const unsigned int args = count_args(call);
	unsigned int n;

	if (!call->args && call->shape->args && call->shape->known && !from) {
		fputs("...", file);
		return call->shape->args;
	}
	for (n = from; n < args; n++) {
		if (!call->ended && comes_late(call, n))
			return n;
		if (!is_memory(call->shape->kind[n]) || !call->arg[n] ||
		    !put_memory[call->shape->kind[n]](file, call, n))
			put_number(file, call, n);
		fputs(n + 1 < args ? ", " : "", file);
	}
	return call->shape->args;
}

/* ---- results ---- */

static bool put_restart(FILE *file, int64_t result)
{
	static const struct {
		int number;
		const char *text;
	} restarts[] = {
		{ 512, "ERESTARTSYS (To be restarted if SA_RESTART is set)" },
		{ 513, "ERESTARTNOINTR (To be restarted)" },
		{ 514, "ERESTARTNOHAND (To be restarted if no handler)" },
		{ 516, "ERESTART_RESTARTBLOCK (Interrupted by signal)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++) {
		if (-result != restarts[i].number)
			continue;
		fprintf(file, "? %s", restarts[i].text);
		return true;
	}
	return false;
}

static void put_error(FILE *file, int64_t result)
{
	const char *name = fkt_errno_name((int)-result);

	if (put_restart(file, result))
		return;
	if (name)
		fprintf(file, "-1 %s (%s)", name, strerror((int)-result));
	else
		fprintf(file, "%" PRId64, result);
}

static bool put_fcntl_result(FILE *file, const struct strace_call *call)
{
	const uint32_t command = call->args > 1 ? (uint32_t)call->arg[1] : UINT32_MAX;

	if (command == FCNTL_DUPFD || command == FCNTL_DUPFD_CLOEXEC) {
		put_fd(file, call, FKT_DATA_RESULT, (int32_t)call->result);
		return true;
	}
	if (command != FCNTL_GETFL && (command != FCNTL_GETFD || !call->result))
		return false;
	put_hex(file, (uint64_t)call->result);
	fputs(" (flags ", file);
	put_flags(file, call->trace, command == FCNTL_GETFD ? "fd" : "open", (uint32_t)call->result,
		  false);
	fputc(')', file);
	return true;
}

void strace_put_result(FILE *file, const struct strace_call *call)
{
	const struct strace_shape *shape = call->shape;

	if (fkt_is_errno((uint64_t)call->result)) {
		put_error(file, call->result);
		return;
	}
	if (shape->known && shape->args && shape->kind[shape->args - 1] == FKT_ARG_FCNTLARG &&
	    put_fcntl_result(file, call))
		return;
	switch (shape->result) {
	case FKT_RESULT_HEX:
		put_hex(file, (uint64_t)call->result);
		break;
	case FKT_RESULT_OCTAL:
		put_octal(file, (uint32_t)call->result);
		break;
	case FKT_RESULT_FD:
		put_fd(file, call, FKT_DATA_RESULT, (int32_t)call->result);
		break;
	case FKT_RESULT_TIMEOUT:
		fprintf(file, "%" PRId64 "%s", call->result, call->result ? "" : " (Timeout)");
		break;
	default:
		fprintf(file, "%" PRId64, call->result);
	}
}

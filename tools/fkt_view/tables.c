// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of a span are those of fkt_print, SQL is fkt_query's, and a part of the trace is that of
 * fkt_extract: the programs beside this one are run, so that the numbers are the same ones, and so
 * that what takes too much can be ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model.h"

#define NOT_THERE    127
#define WRONG_OPTION 2
#define ARGS_MAX     (REQUEST_TIDS + 16)
#define OPTION_ROOM  160
/* A table that is larger is cut, so that a browser can show it. */
#define TABLE_BYTES  (8u << 20)
#define TABLE_LINES  20000u
#define WAIT_MS	     120000
#define QUERY_MS     20000
/* So many programs run at once, however many pages there are; others wait. */
#define PROGRAMS     3
#define TURN_MS	     50

/**
 * struct command - a program with its arguments
 * @args: pointers to @option, and others; NULL ends them
 * @count: how many
 * @option: room for those that are made
 * @options: how many
 * @columns: how wide its lines may be; 0: any
 */
struct command {
	const char *args[ARGS_MAX];
	unsigned int count;
	char option[ARGS_MAX][OPTION_ROOM];
	unsigned int options;
	unsigned int columns;
};

static void add(struct command *command, const char *word)
{
	if (command->count < ARGS_MAX - 1)
		command->args[command->count++] = word;
}

static void __attribute__((format(printf, 2, 3)))
add_made(struct command *command, const char *format, ...)
{
	va_list args;

	if (command->options == ARGS_MAX)
		return;
	va_start(args, format);
	vsnprintf(command->option[command->options], OPTION_ROOM, format, args);
	va_end(args);
	add(command, command->option[command->options++]);
}

/* The program beside this one, or else the one that the shell finds. */
static void run(const struct command *command)
{
	char path[4096], columns[16], *slash;
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *const *args = (char *const *)command->args;

	if (command->columns) {
		snprintf(columns, sizeof(columns), "%u", command->columns);
		setenv("COLUMNS", columns, 1);
	}
	if (bytes > 0) {
		path[bytes] = '\0';
		slash = strrchr(path, '/');
		if (slash) {
			strcpy(slash + 1, command->args[0]);
			execv(path, args);
		}
	}
	execvp(command->args[0], args);
	_exit(NOT_THERE);
}

static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static unsigned int running;

/* Wait until a program may be begun: false when nobody waits for it any more. */
static bool take_turn(int client)
{
	struct pollfd gone = { .fd = client, .events = POLLRDHUP };
	bool taken;

	for (;;) {
		pthread_mutex_lock(&turns);
		taken = running < PROGRAMS;
		running += taken;
		pthread_mutex_unlock(&turns);
		if (taken)
			return true;
		if (poll(&gone, 1, TURN_MS))
			return false;
	}
}

static void end_turn(void)
{
	pthread_mutex_lock(&turns);
	running--;
	pthread_mutex_unlock(&turns);
}

/* What of a program is read: what it prints goes to a file, or to who asks, or that and errors. */
enum reads {
	READS_ERRORS,
	READS_OUTPUT,
	READS_BOTH,
};

/*
 * Begin it: its number, and from *fd what of it is read; or a negative errno value. @output: the
 * file, with READS_ERRORS.
 */
static pid_t start(const struct command *command, int client, enum reads reads, int output, int *fd)
{
	int says[2], err;
	pid_t pid;

	if (!take_turn(client))
		return -EPIPE;
	if (pipe2(says, O_CLOEXEC)) {
		err = errno;
		end_turn();
		return -err;
	}
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_RDWR);
		sigset_t none;

		/* It ends with this program, which blocks signals, or has curses hear of them. */
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGTSTP, SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(null, STDIN_FILENO);
		dup2(reads == READS_ERRORS ? output : says[1], STDOUT_FILENO);
		dup2(reads == READS_OUTPUT ? null : says[1], STDERR_FILENO);
		run(command);
	}
	err = errno;
	close(says[1]);
	if (pid > 0) {
		*fd = says[0];
		return pid;
	}
	close(says[0]);
	end_turn();
	return -err;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Read up to the end of what it prints, or the limits, or until @client is gone: whether that was
 * the end. */
static bool read_all(int fd, int client, struct answer *answer, int64_t wait_ms,
		     unsigned int lines_max)
{
	const int64_t until = now_ms() + wait_ms;
	struct pollfd in[] = { { .fd = fd, .events = POLLIN },
			       { .fd = client, .events = POLLRDHUP } };
	unsigned int lines = 0;
	char data[65536];
	ssize_t got;

	for (;;) {
		int64_t left = until - now_ms();

		if (left <= 0 || poll(in, 2, (int)left) == 0)
			return false;
		/* Nobody waits for it any more. */
		if (in[1].revents)
			return false;
		got = read(fd, data, sizeof(data));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return !got;
		for (ssize_t i = 0; i < got; i++) {
			if (data[i] != '\n' || ++lines < lines_max)
				continue;
			answer_bytes(answer, data, (size_t)i + 1);
			return false;
		}
		answer_bytes(answer, data, (size_t)got);
		if (answer->bytes > TABLE_BYTES || answer->failed)
			return false;
	}
}

/* Its exit status, or -1. */
static int finish(pid_t pid, int fd, bool cut)
{
	int status;

	close(fd);
	if (cut)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			status = -1;
			break;
		}
	end_turn();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Half of a line is no JSON. */
static void cut_line(struct answer *answer)
{
	while (answer->bytes && answer->data[answer->bytes - 1] != '\n')
		answer->bytes--;
}

static void put_error(struct answer *answer, const char *text)
{
	answer_text(answer, "{\"table\":\"error\",\"text\":");
	answer_string(answer, text);
	answer_text(answer, "}\n");
}

static void add_table(struct command *command, const struct view *view,
		      const struct request *request)
{
	static const char *const options[] = {
		[TABLE_SUMMARY] = "--summary", [TABLE_WAITS] = "--waits", [TABLE_BY] = "--by=",
		[TABLE_SPANS] = "--spans",     [TABLE_CALLS] = "--calls", [TABLE_NOISE] = "--noise",
		[TABLE_PROFILE] = "--profile",
	};

	add(command, "--no-pager");
	add_made(command, "--range=%" PRIu64 "ns..%" PRIu64 "ns", request->from, request->to);
	if (request->table == TABLE_BY)
		add_made(command, "--by=%s", *request->text ? request->text : "function");
	else if (request->table == TABLE_EVENTS)
		add(command, "--no-summary");
	else
		add(command, options[request->table]);
	if (request->table == TABLE_EVENTS && *request->text)
		add_made(command, "--code=*%s*", request->text);
	for (unsigned int i = 0; i < request->tids; i++)
		add_made(command, "--process=%" PRIu32, request->tid[i]);
	if (request->longer)
		add_made(command, "--longer-than=%" PRIu64 "ns", request->longer);
	add(command, "--");
	add(command, view->path);
}

/* The programs open the file anew. */
static const char replaced[] = "its file has another trace by now: start fkt_view again";

/* Its exit status, or a negative errno value; *whole: all that it printed is there. */
static int run_table(struct command *command, int client, struct answer *answer, bool *whole)
{
	int fd, status;
	pid_t pid = start(command, client, READS_OUTPUT, -1, &fd);

	if (pid < 0)
		return (int)pid;
	*whole = read_all(fd, client, answer, WAIT_MS, TABLE_LINES);
	status = finish(pid, fd, !*whole);
	return status < 0 ? 1 : status;
}

/* What it says of an option that it does not take, before it reads anything. */
static void put_complaint(struct command *command, int client, struct answer *answer)
{
	struct answer said = { 0 };
	const char *text;
	int fd;
	pid_t pid = start(command, client, READS_BOTH, -1, &fd);

	if (pid < 0)
		return;
	finish(pid, fd, !read_all(fd, client, &said, QUERY_MS, 1));
	answer_bytes(&said, "", 1);
	if (!said.failed) {
		said.data[strcspn(said.data, "\n")] = '\0';
		text = strstr(said.data, ": ");
		put_error(answer, text ? text + 2 : said.data);
	}
	answer_free(&said);
}

int answer_table(struct view *view, const struct request *request, int client,
		 struct answer *answer)
{
	struct command *command = calloc(1, sizeof(*command));
	bool whole;
	int status;

	if (!command)
		return -ENOMEM;
	if (view_is_replaced(view)) {
		free(command);
		put_error(answer, replaced);
		return answer_error(answer);
	}
	add(command, "fkt_print");
	add(command, "--format=json");
	add_table(command, view, request);
	status = run_table(command, client, answer, &whole);
	if (status == WRONG_OPTION && !answer->bytes)
		put_complaint(command, client, answer);
	free(command);
	if (status < 0)
		return status;
	cut_line(answer);
	if (!whole)
		answer_text(answer, "{\"table\":\"cut\"}\n");
	else if (status == NOT_THERE)
		put_error(answer, "fkt_print is not there");
	else if (!answer->bytes)
		put_error(answer, "there is nothing of this in the span");
	return answer_error(answer);
}

int text_table(struct view *view, const struct request *request, int client, unsigned int columns,
	       struct answer *answer)
{
	struct command *command = calloc(1, sizeof(*command));
	bool whole;
	int status;

	if (!command)
		return -ENOMEM;
	if (view_is_replaced(view)) {
		free(command);
		answer_text(answer, "%s\n", replaced);
		return answer_error(answer);
	}
	command->columns = columns;
	add(command, "fkt_print");
	add_table(command, view, request);
	status = run_table(command, client, answer, &whole);
	free(command);
	if (status < 0)
		return status;
	if (!whole)
		answer_text(answer, "There is more: mark a shorter span.\n");
	else if (status == NOT_THERE)
		answer_text(answer, "fkt_print is not there\n");
	else if (!answer->bytes && access(view->path, R_OK))
		answer_text(answer, "%s: %s\n", view->name, strerror(errno));
	else if (!answer->bytes)
		answer_text(answer, "There is nothing of this in the span.\n");
	return answer_error(answer);
}

/* A row is {…}; anything else is what fkt_query complains of. */
static void put_lines(struct answer *answer, struct answer *said)
{
	static const char name[] = "fkt_query: ";
	char *at, *end;

	answer_bytes(said, "", 1);
	for (at = said->data; !said->failed && *at; at = end) {
		end = strchr(at, '\n');
		if (end)
			*end++ = '\0';
		else
			end = at + strlen(at);
		if (*at == '{') {
			answer_text(answer, "{\"row\":");
			answer_bytes(answer, at, strlen(at));
			answer_bytes(answer, "}\n", 2);
		} else {
			put_error(answer,
				  strncmp(at, name, sizeof(name) - 1) ? at : at + sizeof(name) - 1);
		}
	}
}

int answer_query(struct view *view, const struct request *request, int client,
		 struct answer *answer)
{
	struct command *command = calloc(1, sizeof(*command));
	struct answer said = { 0 };
	int64_t begun;
	bool whole;
	int fd, status, err;
	pid_t pid;

	if (!command)
		return -ENOMEM;
	if (view_is_replaced(view)) {
		free(command);
		put_error(answer, replaced);
		return answer_error(answer);
	}
	add(command, "fkt_query");
	add(command, "--bounded");
	add(command, "--format=json");
	add(command, "--");
	add(command, view->path);
	add(command, request->sql);
	pid = start(command, client, READS_BOTH, -1, &fd);
	free(command);
	if (pid < 0)
		return (int)pid;
	begun = now_ms();
	whole = read_all(fd, client, &said, QUERY_MS, TABLE_LINES);
	status = finish(pid, fd, !whole);
	if (!whole)
		cut_line(&said);
	put_lines(answer, &said);
	err = answer_error(&said);
	answer_free(&said);
	if (!whole && now_ms() - begun >= QUERY_MS)
		put_error(answer, "it was ended: it takes longer than 20 seconds");
	else if (!whole)
		answer_text(answer, "{\"table\":\"cut\"}\n");
	else if (status == NOT_THERE)
		put_error(answer, "fkt_query is not there");
	else if (status < 0)
		put_error(answer, "fkt_query did not come to an end");
	return err ?: answer_error(answer);
}

int answer_part(struct view *view, const struct request *request, int client, int *file)
{
	struct command *command = calloc(1, sizeof(*command));
	struct answer said = { 0 };
	int fd, status, err = 0;
	bool whole;
	pid_t pid;

	if (!command)
		return -ENOMEM;
	if (view_is_replaced(view)) {
		free(command);
		return -ESTALE;
	}
	*file = levels_file();
	if (*file < 0) {
		free(command);
		return -errno;
	}
	switch (request->part) {
	case PART_PERFETTO:
		add(command, "fkt_export");
		add(command, "--to=perfetto");
		add(command, "--output=-");
		break;
	case PART_FLAME:
		add(command, "fkt_print");
		add(command, "--flamegraph=-");
		break;
	default:
		add(command, "fkt_extract");
		add(command, "--output=-");
		break;
	}
	add_made(command, "--range=%" PRIu64 "ns..%" PRIu64 "ns", request->from, request->to);
	add(command, "--");
	add(command, view->path);
	pid = start(command, client, READS_ERRORS, *file, &fd);
	free(command);
	if (pid < 0) {
		close(*file);
		return (int)pid;
	}
	whole = read_all(fd, client, &said, WAIT_MS, UINT32_MAX);
	status = finish(pid, fd, !whole);
	answer_free(&said);
	if (status)
		err = status == NOT_THERE ? -ENOENT : -EIO;
	if (err)
		close(*file);
	return err;
}

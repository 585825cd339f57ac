// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * HTTP, on 127.0.0.1 alone. Other users of the machine can reach it, and so can pages of other
 * sites in the user's browser: all that is asked for has to begin with the token, which only the
 * address has that was printed, and to name this machine as Host, so that no other name leads
 * here. What a page of another site asks for is refused even with the token.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "notes.h"
#include "page.h"
#include "view.h"

#define TOKEN_BYTES   16
#define TOKEN_LETTERS (2 * TOKEN_BYTES)
#define CONNECTIONS   64
#define TIMEOUT_S     30
/* Who has not shown that he may ask keeps a connection from others for no longer. */
#define UNKNOWN_S     3
#define MEMORY	      (32u << 10)
#define HOST_BYTES    64

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; "
			     "img-src 'self'; connect-src 'self'; base-uri 'none'; "
			     "form-action 'none'; frame-ancestors 'none'";

struct server {
	struct view *views;
	unsigned int count;
	char token[TOKEN_LETTERS + 1];
};

/**
 * struct upload - what comes with a POST
 * @data: it, with a NUL
 * @bytes: how much has come, also more than there is room for
 */
struct upload {
	char data[NOTE_TEXT_BYTES];
	size_t bytes;
};

/* ---- who may ask ---- */

static bool same_token(const char *token, const char *given)
{
	unsigned char differs = 0;

	/* In a time that does not tell how much of it is right. */
	for (size_t i = 0; i < TOKEN_LETTERS; i++)
		differs |= (unsigned char)(token[i] ^ given[i]);
	return !differs;
}

/* Whether a Host is this machine: any port, for it may be one of ssh's. */
static bool is_here(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (size_t i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t bytes = strlen(names[i]);

		if (strncmp(host, names[i], bytes))
			continue;
		if (!host[bytes])
			return true;
		if (host[bytes] == ':' &&
		    strspn(host + bytes + 1, "0123456789") == strlen(host + bytes + 1))
			return true;
	}
	return false;
}

static bool comes_from_here(struct MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
	const char *site =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");

	if (!is_here(host))
		return false;
	if (origin && (strncmp(origin, "http://", 7) || strcmp(origin + 7, host)))
		return false;
	return !site || !strcmp(site, "same-origin") || !strcmp(site, "none");
}

/* ---- answers ---- */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned int status,
				     struct MHD_Response *response, const char *type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Content-Security-Policy", policy);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned int status,
				 const char *text)
{
	return send_response(connection, status,
			     MHD_create_response_from_buffer(strlen(text), (void *)text,
							     MHD_RESPMEM_MUST_COPY),
			     "text/plain; charset=utf-8");
}

static enum MHD_Result send_file(struct MHD_Connection *connection, const char *begin,
				 const char *end, const char *type)
{
	return send_response(connection, MHD_HTTP_OK,
			     MHD_create_response_from_buffer((size_t)(end - begin), (void *)begin,
							     MHD_RESPMEM_PERSISTENT),
			     type);
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer,
				   int err, const char *type)
{
	struct MHD_Response *response;

	if (err < 0) {
		answer_free(answer);
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-err));
	}
	response = MHD_create_response_from_buffer_with_free_callback(answer->bytes, answer->data,
								      free);
	if (!response)
		answer_free(answer);
	return send_response(connection, MHD_HTTP_OK, response, type);
}

/* The socket of who asks; -1: not known. */
static int client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static enum MHD_Result send_part(struct MHD_Connection *connection, struct view *view,
				 const struct request *request)
{
	static const char *const names[PARTS] = {
		[PART_TRACE] = "attachment; filename=\"part.fkt\"",
		[PART_PERFETTO] = "attachment; filename=\"part.perfetto-trace\"",
		[PART_FLAME] = "attachment; filename=\"part.svg\"",
	};
	struct MHD_Response *response;
	off_t bytes;
	int fd = -1, err = answer_part(view, request, client_of(connection), &fd);

	if (err)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-err));
	bytes = lseek(fd, 0, SEEK_END);
	response = bytes >= 0 ? MHD_create_response_from_fd64((uint64_t)bytes, fd) : NULL;
	if (!response)
		close(fd);
	else
		MHD_add_response_header(response, "Content-Disposition", names[request->part]);
	return send_response(connection, MHD_HTTP_OK, response, "application/octet-stream");
}

static const char *get_value(void *arg, const char *name)
{
	return MHD_lookup_connection_value(arg, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result send_note(struct MHD_Connection *connection, struct view *view,
				 const struct request *request, struct upload *upload)
{
	struct answer text = { 0 };

	if (upload->bytes >= sizeof(upload->data) || strlen(upload->data) != upload->bytes)
		return send_text(connection, MHD_HTTP_BAD_REQUEST,
				 "a note is text of no more than 1000 bytes");
	if (!request->remove && !upload->bytes)
		return send_text(connection, MHD_HTTP_BAD_REQUEST, "a note without a text");
	return send_answer(connection, &text, answer_note(view, request, upload->data, &text),
			   "application/json");
}

static enum MHD_Result send_asked(struct server *server, struct view *view,
				  struct MHD_Connection *connection, const struct request *request,
				  struct upload *upload)
{
	static const char json[] = "application/json";
	struct answer text = { 0 };

	switch (request->what) {
	case ASKED_PAGE:
		return send_file(connection, page_html, page_html_end, "text/html; charset=utf-8");
	case ASKED_SCRIPT:
		return send_file(connection, page_js, page_js_end,
				 "text/javascript; charset=utf-8");
	case ASKED_STYLE:
		return send_file(connection, page_css, page_css_end, "text/css; charset=utf-8");
	case ASKED_ICON:
		return send_file(connection, page_icon, page_icon_end, "image/svg+xml");
	case ASKED_TRACE:
		return send_answer(connection, &text, answer_trace(view, &text), json);
	case ASKED_TRACES:
		return send_answer(connection, &text,
				   answer_traces(server->views, server->count, view, &text), json);
	case ASKED_THREADS:
		return send_answer(connection, &text, answer_threads(view, &text), json);
	case ASKED_PICTURE:
		return send_answer(connection, &text, answer_picture(view, request, &text),
				   "application/octet-stream");
	case ASKED_MOMENT:
		return send_answer(connection, &text, answer_moment(view, request, &text), json);
	case ASKED_CALLS:
		return send_answer(connection, &text, answer_calls(view, request, &text), json);
	case ASKED_NEXT:
		return send_answer(connection, &text, answer_next(view, request, &text), json);
	case ASKED_TABLE:
		return send_answer(connection, &text,
				   answer_table(view, request, client_of(connection), &text), json);
	case ASKED_QUERY:
		return send_answer(connection, &text,
				   answer_query(view, request, client_of(connection), &text), json);
	case ASKED_NOTES:
		return send_answer(connection, &text, answer_notes(view, &text), json);
	case ASKED_NOTE:
		return send_note(connection, view, request, upload);
	case ASKED_PART:
		return send_part(connection, view, request);
	default:
		return MHD_NO;
	}
}

/* Whether a request may change something: a page of this server's has to say that it is one. */
static bool may_write(struct MHD_Connection *connection)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
}

/* The first trace's page is at "/", those of the others at "/1/", "/2/" and so on. */
static struct view *pick_view(struct server *server, const char **path)
{
	const char digit = (*path)[1];
	unsigned int number = (unsigned int)(digit - '0');

	if (digit < '1' || digit > '9' || (*path)[2] != '/' || number >= server->count)
		return &server->views[0];
	*path += 2;
	return &server->views[number];
}

/* @upload: what came with a POST; NULL: it is a GET. @whole: all of it has come. */
static enum MHD_Result answer(struct server *server, struct MHD_Connection *connection,
			      const char *path, struct upload *upload, bool whole)
{
	struct view *view = pick_view(server, &path);
	struct request request;
	const char *wrong = request_read(&request, path, get_value, connection);
	enum MHD_Result result;

	if (wrong)
		return send_text(connection,
				 request.what == ASKED_NOTHING ? MHD_HTTP_NOT_FOUND
							       : MHD_HTTP_BAD_REQUEST,
				 wrong);
	if (request.writes != !!upload)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "read-only");
	if (upload && !may_write(connection))
		return send_text(connection, MHD_HTTP_FORBIDDEN, "not from here");
	if (upload && !whole)
		return MHD_YES;
	/* Other programs open the trace themselves, and take their time; and some look at all. */
	if (request.what == ASKED_TABLE || request.what == ASKED_PART ||
	    request.what == ASKED_QUERY || request.what == ASKED_TRACES)
		return send_asked(server, view, connection, &request, upload);
	pthread_rwlock_rdlock(&view->lock);
	result = send_asked(server, view, connection, &request, upload);
	pthread_rwlock_unlock(&view->lock);
	return result;
}

static void take_data(struct upload *upload, const char *data, size_t bytes)
{
	const size_t room = sizeof(upload->data) - 1;

	if (upload->bytes < room)
		memcpy(upload->data + upload->bytes, data,
		       bytes < room - upload->bytes ? bytes : room - upload->bytes);
	upload->bytes += bytes;
}

static enum MHD_Result take(void *arg, struct MHD_Connection *connection, const char *url,
			    const char *method, const char *version, const char *data,
			    size_t *data_bytes, void **state)
{
	const bool posts = !strcmp(method, MHD_HTTP_METHOD_POST);
	struct server *server = arg;
	struct upload *upload = *state;
	bool whole = upload && !*data_bytes;

	(void)version;
	if ((strcmp(method, MHD_HTTP_METHOD_GET) || *data_bytes) && !posts)
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "read-only");
	if (upload && *data_bytes) {
		take_data(upload, data, *data_bytes);
		*data_bytes = 0;
		return MHD_YES;
	}
	if (posts && !upload) {
		*state = upload = calloc(1, sizeof(*upload));
		if (!upload)
			return MHD_NO;
	}
	if (!comes_from_here(connection))
		return send_text(connection, MHD_HTTP_FORBIDDEN, "not from here");
	/* "/TOKEN/what" */
	if (strlen(url) < TOKEN_LETTERS + 2 || !same_token(server->token, url + 1) ||
	    url[TOKEN_LETTERS + 1] != '/')
		return send_text(connection, MHD_HTTP_FORBIDDEN,
				 "the address has to be the one that fkt_view has printed");
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, TIMEOUT_S);
	return answer(server, connection, url + TOKEN_LETTERS + 1, upload, whole);
}

static void end_request(void *arg, struct MHD_Connection *connection, void **state,
			enum MHD_RequestTerminationCode why)
{
	(void)arg;
	(void)connection;
	(void)why;
	free(*state);
	*state = NULL;
}

/* ---- */

static int make_token(char token[TOKEN_LETTERS + 1])
{
	uint8_t bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static uint16_t port_of(struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}

int serve(struct view *views, unsigned int count, uint16_t port,
	  void (*ready)(const char *address, uint16_t port))
{
	struct server server = { .views = views, .count = count };
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_addr = { htonl(INADDR_LOOPBACK) },
				    .sin_port = htons(port) };
	struct MHD_Daemon *daemon;
	char address[HOST_BYTES + TOKEN_LETTERS];
	sigset_t signals;
	int err = make_token(server.token), signal;

	if (err)
		return err;
	/* All threads leave them to this one. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	errno = 0;
	/* A thread a connection, so that a table that takes long holds up no picture. */
	daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION,
				  port, NULL, NULL, take, &server, MHD_OPTION_SOCK_ADDR, &here,
				  MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				  MHD_OPTION_CONNECTION_TIMEOUT, UNKNOWN_S,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
				  MHD_OPTION_END);
	if (!daemon)
		return errno ? -errno : -EIO;
	port = port_of(daemon);
	snprintf(address, sizeof(address), "http://127.0.0.1:%u/%s/", port, server.token);
	ready(address, port);
	sigwait(&signals, &signal);
	MHD_stop_daemon(daemon);
	return 0;
}

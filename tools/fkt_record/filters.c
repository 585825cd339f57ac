// SPDX-License-Identifier: GPL-2.0-or-later
/* Only what matters: the options that say who is recorded, and where. The module decides. */
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/distance.h"
#include "record.h"

#define CGROUP_ROOT	 "/sys/fs/cgroup"
#define CGROUP_HYBRID	 "/sys/fs/cgroup/unified"
#define COMM_BYTES	 sizeof(((struct fkt_filter_spec *)NULL)->comm)
/* Digits of a container's id, of which people give some. */
#define CONTAINER_MIN	 6
#define CONTAINER_MAX	 64
/* Names that differ by more are not what was meant. */
#define NEAR_ENOUGH(len) ((len) / 3 + 1)

enum {
	OPTION_PID = 0x200,
	OPTION_TID,
	OPTION_COMM,
	OPTION_UID,
	OPTION_CGROUP,
	OPTION_CPU,
	OPTION_CHILDREN,
	OPTION_ONLY_COMMAND,
};

/* What the options say. */
static struct {
	struct fkt_filter_spec *spec;
	char **said; /* of each, the option */
	uint32_t count;
	struct sections text;
	bool children;
	bool only_command;
} filters;

static void add(struct fkt_filter_spec spec, const char *option, const char *value)
{
	char *said;

	if (filters.count == FKT_FILTERS_MAX)
		errx(EXIT_USAGE, "--%s %s: more than %u are not possible", option, value,
		     FKT_FILTERS_MAX);
	filters.spec = reallocarray(filters.spec, filters.count + 1, sizeof(*filters.spec));
	filters.said = reallocarray(filters.said, filters.count + 1, sizeof(*filters.said));
	if (!filters.spec || !filters.said || asprintf(&said, "--%s %s", option, value) < 0)
		err(EXIT_FAILURE, "no memory for the command line");
	filters.said[filters.count] = said;
	filters.spec[filters.count++] = spec;
}

/* For the trace: the options as they were given, but what would end a line. */
static void say(const char *option, const char *value)
{
	sections_printf(&filters.text, "%s--%s", filters.text.bytes ? " " : "", option);
	if (value)
		sections_printf(&filters.text, " ");
	for (; value && *value; value++)
		sections_printf(&filters.text, "%c", iscntrl((unsigned char)*value) ? '?' : *value);
}

/* ---- options ---- */

static bool read_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *value <= max;
}

/* A list with commas, a piece at a time. */
static void parse_list(const char *list, const char *option, struct argp_state *state,
		       void (*parse)(const char *one, const char *option, struct argp_state *state))
{
	char *copy = strdup(list), *rest = copy, *one;

	if (!copy)
		argp_failure(state, EXIT_FAILURE, errno, "--%s", option);
	while ((one = strsep(&rest, ",")))
		parse(one, option, state);
	free(copy);
}

static void parse_task(const char *one, const char *option, struct argp_state *state)
{
	struct fkt_filter_spec spec = {
		.kind = strcmp(option, "pid") ? FKT_FILTER_TID : FKT_FILTER_PID,
	};
	uint64_t value;

	if (!read_number(one, INT_MAX, &value) || !value)
		argp_error(state, "--%s takes numbers with commas between them, not '%s'", option,
			   one);
	spec.value = value;
	add(spec, option, one);
}

static void parse_comm(const char *name, struct argp_state *state)
{
	struct fkt_filter_spec spec = { .kind = FKT_FILTER_COMM };

	if (!*name)
		argp_error(state, "--comm: which name?");
	if (strlen(name) >= COMM_BYTES)
		argp_error(state,
			   "--comm: the kernel's names of threads have %zu letters at most, and "
			   "'%s' has %zu; '%.15s' may be meant",
			   COMM_BYTES - 1, name, strlen(name), name);
	memcpy(spec.comm, name, strlen(name));
	add(spec, "comm", name);
}

static void parse_uid(const char *one, const char *option, struct argp_state *state)
{
	struct fkt_filter_spec spec = { .kind = FKT_FILTER_UID };
	const struct passwd *user;
	uint64_t value;

	if (read_number(one, UINT32_MAX - 1, &value)) {
		spec.value = value;
	} else {
		user = getpwnam(one);
		if (!user)
			argp_error(state, "--%s: there is no user '%s'", option, one);
		else
			spec.value = user->pw_uid;
	}
	add(spec, option, one);
}

static void parse_cpus(const char *list, struct argp_state *state)
{
	static uint8_t cpus[CPUS_BYTES];
	struct fkt_filter_spec spec = { .kind = FKT_FILTER_CPU };
	char number[16];

	memset(cpus, 0, sizeof(cpus));
	if (!read_cpus(list, cpus))
		argp_error(state, "--cpu: '%s' is not a list of CPUs, as 0,2-3 is", list);
	for (uint32_t cpu = 0; cpu < 8 * CPUS_BYTES; cpu++) {
		if (!(cpus[cpu / 8] & 1 << cpu % 8))
			continue;
		spec.value = cpu;
		snprintf(number, sizeof(number), "%u", cpu);
		add(spec, "cpu", number);
	}
}

/* The directory among those of @parent whose name is the most like @name, into @best. */
static void near_cgroup(const char *parent, const char *name, char best[NAME_MAX + 1])
{
	unsigned int least = NEAR_ENOUGH((unsigned int)strlen(name)), distance;
	DIR *dir = opendir(parent);
	struct dirent *entry;

	*best = '\0';
	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		distance = fkt_distance(name, entry->d_name);
		if (distance > least)
			continue;
		least = distance;
		snprintf(best, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void __attribute__((noreturn)) no_cgroup(const char *said, const char *path, int error)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX], best[NAME_MAX + 1];

	if (error != ENOENT)
		errx(EXIT_FAILURE, "--cgroup %s: %s: %s", said, path, strerror(error));
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
	near_cgroup(parent, slash + 1, best);
	if (*best)
		errx(EXIT_FAILURE, "--cgroup %s: there is no %s; is %s/%s meant?", said, path,
		     parent, best);
	errx(EXIT_FAILURE, "--cgroup %s: there is no %s", said, path);
}

/* A container's id, or how one begins: some of its hexadecimal digits. */
static bool is_container(const char *said)
{
	const size_t len = strlen(said);

	return len >= CONTAINER_MIN && len <= CONTAINER_MAX &&
	       strspn(said, "0123456789abcdef") == len;
}

/*
 * The cgroups of containers are called by their ids, with or without something around them:
 * docker/ID, docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope.
 */
static bool is_of_container(const char *name, const char *id)
{
	const char *at = strstr(name, id);

	return at && (at == name || at[-1] == '-') &&
	       strspn(at, "0123456789abcdef") == CONTAINER_MAX;
}

/* Where its cgroup is below @root, into @path; what a container has inside of it is its own. */
static bool find_container(const char *said, const char *root, char path[PATH_MAX])
{
	char *const roots[] = { (char *)root, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	bool found = false;
	FTSENT *entry;

	while (tree && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D || !is_of_container(entry->fts_name, said))
			continue;
		if (found)
			errx(EXIT_FAILURE, "--cgroup %s: more than one begins so: %s, and %s", said,
			     path, entry->fts_path);
		snprintf(path, PATH_MAX, "%s", entry->fts_path);
		found = true;
		fts_set(tree, entry, FTS_SKIP);
	}
	if (tree)
		fts_close(tree);
	return found;
}

/* By its path, in the file system or the hierarchy, as /proc/PID/cgroup has it; a container's. */
static int open_cgroup(const char *said)
{
	const char *root = access(CGROUP_HYBRID "/cgroup.procs", F_OK) ? CGROUP_ROOT
								       : CGROUP_HYBRID;
	const bool whole = !strncmp(said, CGROUP_ROOT "/", strlen(CGROUP_ROOT "/"));
	char path[PATH_MAX], *end;
	int fd;

	snprintf(path, sizeof(path), "%s%s%s", whole ? "" : root, whole || *said == '/' ? "" : "/",
		 said);
	for (end = path + strlen(path); end > path + 1 && end[-1] == '/';)
		*--end = '\0';
	if (is_container(said) && access(path, F_OK) && !find_container(said, root, path))
		errx(EXIT_FAILURE, "--cgroup %s: there is no such container, nor %s", said, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		no_cgroup(said, path, errno);
	return fd;
}

/* ---- looking up, and handing over ---- */

/* Whose thread it is; 0 where there is none. */
static uint64_t process_of(uint64_t tid)
{
	char path[64], line[256];
	unsigned long long pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %llu", &pid) == 1)
			break;
	if (file)
		fclose(file);
	return pid;
}

static void find_task(const struct fkt_filter_spec *spec, const char *said)
{
	const uint64_t pid = process_of(spec->value);

	if (!pid)
		errx(EXIT_FAILURE, "%s: there is no such %s", said,
		     spec->kind == FKT_FILTER_PID ? "process" : "thread");
	if (spec->kind == FKT_FILTER_PID && pid != spec->value)
		errx(EXIT_FAILURE,
		     "%s: that is a thread of the process %llu; --tid %llu, or "
		     "--pid %llu?",
		     said, (unsigned long long)pid, spec->value, (unsigned long long)pid);
}

static void find_filters(struct recording *recording)
{
	uint32_t tasks = 0;

	for (uint32_t i = 0; i < filters.count; i++) {
		struct fkt_filter_spec *spec = &filters.spec[i];

		switch (spec->kind) {
		case FKT_FILTER_PID:
		case FKT_FILTER_TID:
			find_task(spec, filters.said[i]);
			spec->flags = filters.children ? FKT_FILTER_CHILDREN : 0;
			tasks++;
			break;
		case FKT_FILTER_CGROUP:
			spec->value = (uint64_t)open_cgroup(filters.said[i] + strlen("--cgroup "));
			break;
		}
	}
	if (filters.children && !tasks)
		errx(EXIT_USAGE, "--children: whose? (--pid or --tid; --only-command is the "
				 "command and all that comes of it)");
	if (filters.only_command && recording->options.no_command)
		errx(EXIT_USAGE, "--only-command: -n runs no command");
}

static void __attribute__((noreturn)) refuse(const char *said, const struct fkt_filter_spec *spec)
{
	switch (errno) {
	case ESRCH:
		errx(EXIT_FAILURE, "%s: it has ended", said);
	case EBADF:
		errx(EXIT_FAILURE, "%s: that is no cgroup of version 2, by which alone is filtered",
		     said);
	case ENOSPC:
		errx(EXIT_FAILURE, "%s: these are too many; 16 of a kind are possible", said);
	case EINVAL:
		if (spec->kind == FKT_FILTER_CPU)
			errx(EXIT_FAILURE, "%s: there is no such CPU", said);
		break;
	}
	err(EXIT_FAILURE, "%s: the kernel refuses it", said);
}

static int set_filters(struct recording *recording)
{
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_FILTER,
		.spec_bytes = sizeof(filters.spec[0]),
	};
	char pid[16];

	if (filters.only_command) {
		snprintf(pid, sizeof(pid), "%d", recording->child.pid);
		add((struct fkt_filter_spec){ .kind = FKT_FILTER_PID,
					      .flags = FKT_FILTER_CHILDREN,
					      .value = (uint64_t)recording->child.pid },
		    "only-command", pid);
		filters.only_command = false;
	}
	if (!filters.count)
		return 0;
	probes.count = filters.count;
	probes.specs_ptr = (uintptr_t)filters.spec;
	if (!ioctl(recording->device, FKT_ADD_PROBES, &probes))
		return 0;
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (probes.done < filters.count)
		refuse(filters.said[probes.done], &filters.spec[probes.done]);
	else
		warn("cannot set the filters");
	return -1;
}

void filters_add_text(struct sections *head)
{
	if (!filters.text.bytes)
		return;
	sections_printf(head, "filter=");
	sections_add(head, filters.text.data, filters.text.bytes);
	sections_add(head, "", 1);
}

static void summary(const struct recording *recording)
{
	if (recording->status.untracked)
		warnx("%llu threads that belong to what was asked for were left out: so many at a time "
		      "can't be told from others",
		      recording->status.untracked);
}

static const struct argp_option options_of_filters[] = {
	{ "only-command", OPTION_ONLY_COMMAND, NULL, 0,
	  "Record only the command, and all that comes of it; of others, switches, wake-ups and names "
	  "alone, as with all of these",
	  0 },
	{ "pid", OPTION_PID, "PID,…", 0, "Record only these processes", 0 },
	{ "tid", OPTION_TID, "TID,…", 0, "Record only these threads", 0 },
	{ "children", OPTION_CHILDREN, NULL, 0,
	  "With --pid or --tid: and all that comes of them from now on", 0 },
	{ "comm", OPTION_COMM, "NAME", 0,
	  "Record only threads of this name; may be given more than once", 0 },
	{ "uid", OPTION_UID, "USER,…", 0, "Record only threads of these users, by name or number",
	  0 },
	{ "cgroup", OPTION_CGROUP, "PATH", 0,
	  "Record only threads in this cgroup, or in one in it, or in the container of this id; may be "
	  "given more than once",
	  0 },
	{ "cpu", OPTION_CPU, "LIST", 0, "Record only on these CPUs, as 0,2-3", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case OPTION_PID:
		parse_list(arg, "pid", state, parse_task);
		say("pid", arg);
		return 0;
	case OPTION_TID:
		parse_list(arg, "tid", state, parse_task);
		say("tid", arg);
		return 0;
	case OPTION_COMM:
		parse_comm(arg, state);
		say("comm", arg);
		return 0;
	case OPTION_UID:
		parse_list(arg, "uid", state, parse_uid);
		say("uid", arg);
		return 0;
	case OPTION_CGROUP:
		if (!*arg)
			argp_error(state, "--cgroup: which one? (/ is all of them)");
		add((struct fkt_filter_spec){ .kind = FKT_FILTER_CGROUP }, "cgroup", arg);
		say("cgroup", arg);
		return 0;
	case OPTION_CPU:
		parse_cpus(arg, state);
		say("cpu", arg);
		return 0;
	case OPTION_CHILDREN:
		filters.children = true;
		say("children", NULL);
		return 0;
	case OPTION_ONLY_COMMAND:
		filters.only_command = true;
		say("only-command", NULL);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct probe_kind kind_filters = {
	.argp = { .options = options_of_filters, .parser = parse },
	.find = find_filters,
	.set = set_filters,
	.summary = summary,
};

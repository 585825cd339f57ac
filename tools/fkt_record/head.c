// SPDX-License-Identifier: GPL-2.0-or-later
/* The head of a trace: all that is known before the recording (paper, §C.1). */
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fkt/codes.h>
#include <fkt/version.h>

#include "arch.h"
#include "common/keys.h"
#include "record.h"
#include "sections.h"

#define PROC_FILE_BYTES 4096

/* The PID namespace that the machine begins with, see PID_NS_INIT_INO of <linux/nsfs.h>. */
#define FIRST_PID_SPACE "pid:[4026531836]"

/* Reads a small file of /proc or /sys as a string. Return: its length, or -1. */
static ssize_t read_small(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -1;
	length = read(fd, text, bytes - 1);
	close(fd);
	if (length >= 0)
		text[length] = '\0';
	return length;
}

static void add_symbols(struct sections *head, struct recording *recording)
{
	size_t begin;

	sections_begin(head, FKT_SECTION_SYMBOLS);
	begin = head->bytes;
	symbols_add(head, recording->options.system_map);
	modules_add_symbols(head, begin, recording);
	if (recording->codes.names_data)
		symbols_add_data(head);
	sections_end_compressed(head);
}

static void add_irqs(struct sections *head)
{
	DIR *dir = opendir("/sys/kernel/irq");
	struct dirent *entry;

	sections_begin(head, FKT_SECTION_IRQS);
	while (dir && (entry = readdir(dir))) {
		char path[sizeof("/sys/kernel/irq//actions") + sizeof(entry->d_name)];
		char actions[PROC_FILE_BYTES];

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/sys/kernel/irq/%s/actions", entry->d_name);
		/* "ide0,eth1" and a newline; the newline alone when nobody has asked for it. */
		if (read_small(path, actions, sizeof(actions)) > 1)
			sections_printf(head, "%s %.*s\n", entry->d_name,
					(int)strcspn(actions, "\n"), actions);
	}
	if (dir)
		closedir(dir);
	sections_end(head);
}

static void add_codes(struct sections *head, struct recording *recording)
{
	const struct codes *codes = &recording->codes;
	static const struct code_line rows[] = {
#define X(NAME, code, count, KIND, pair, LAYER, name, spec)                                        \
	{ code, count, FKT_KIND_##KIND, pair, (uint32_t)FKT_KEY_##LAYER, name, spec },
		FKT_CODES(X)
#undef X
	};

	sections_begin(head, FKT_SECTION_CODES);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code != FKT_CODE_COUNTERS || !counters_add_code(head))
			fkt_codes_line(head, &rows[i]);
	if (codes->lines.bytes)
		sections_add(head, codes->lines.data, codes->lines.bytes);
	modules_add_codes(head, recording);
	sections_end_compressed(head);
}

static void add_syscalls(struct sections *head)
{
	sections_begin(head, FKT_SECTION_SYSCALLS);
	arch.add_syscalls(head);
	sections_end(head);
}

/* One thread, from /proc/PID/task/TID/stat: "tid (comm) state ppid …"; comm may hold anything. */
static void add_thread(struct sections *head, const char *pid, const char *stat)
{
	const char *comm = strchr(stat, '(');
	const char *end = strrchr(stat, ')');
	char name[64];
	size_t length = 0;

	if (!comm || !end || end < comm || strlen(end) < sizeof(") S "))
		return;
	for (comm++; comm < end && length < sizeof(name) - 1; comm++)
		name[length++] = *comm == '\n' ? '?' : *comm;
	name[length] = '\0';
	sections_printf(head, "%ld %s %ld %s\n", strtol(stat, NULL, 10), pid,
			strtol(end + sizeof(") S"), NULL, 10), name);
}

bool head_proc_is_machines(void)
{
	char space[32];
	const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof(space));

	return length < 0 || ((size_t)length == strlen(FIRST_PID_SPACE) &&
			      !memcmp(space, FIRST_PID_SPACE, strlen(FIRST_PID_SPACE)));
}

static void add_threads(struct sections *head)
{
	DIR *proc = head_proc_is_machines() ? opendir("/proc") : NULL;
	struct dirent *process, *thread;

	while (proc && (process = readdir(proc))) {
		char path[64], stat[PROC_FILE_BYTES];
		DIR *tasks;

		if (!isdigit((unsigned char)process->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.10s/task", process->d_name);
		tasks = opendir(path);
		while (tasks && (thread = readdir(tasks))) {
			if (!isdigit((unsigned char)thread->d_name[0]))
				continue;
			snprintf(path, sizeof(path), "/proc/%.10s/task/%.10s/stat", process->d_name,
				 thread->d_name);
			/* It may have ended meanwhile. */
			if (read_small(path, stat, sizeof(stat)) > 0)
				add_thread(head, process->d_name, stat);
		}
		if (tasks)
			closedir(tasks);
	}
	if (proc)
		closedir(proc);
}

/* What said how they are called may have been overwritten, and /proc knows them no more. */
static void add_ended(struct sections *head, int device)
{
	struct fkt_ended *ended = calloc(FKT_ENDED_MAX, sizeof(*ended));
	struct fkt_ended_list list = {
		.size = sizeof(list),
		.room = FKT_ENDED_MAX,
		.ended_ptr = (uintptr_t)ended,
	};

	if (!ended || ioctl(device, FKT_LIST_ENDED, &list))
		list.count = 0;
	for (uint32_t i = 0; i < list.count && i < FKT_ENDED_MAX; i++) {
		for (char *c = ended[i].comm; *c && c < ended[i].comm + sizeof(ended[i].comm); c++)
			if (*c == '\n')
				*c = '?';
		sections_printf(head, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %.15s\n", ended[i].tid,
				ended[i].pid, ended[i].ppid, ended[i].comm);
	}
	free(ended);
}

/* Of two lines with one number, a reader takes the first. */
static void add_processes(struct sections *head, const struct recording *recording, bool late)
{
	sections_begin(head, FKT_SECTION_PROCESSES);
	if (late) {
		add_threads(head);
		add_ended(head, recording->device);
	}
	if (recording->processes.bytes)
		sections_add(head, recording->processes.data, recording->processes.bytes);
	sections_end(head);
}

static void add_info(struct sections *head, const char *key, const char *value)
{
	sections_printf(head, "%s=%s", key, value);
	sections_add(head, "", 1);
}

static void add_info_number(struct sections *head, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	add_info(head, key, text);
}

static void add_cpu_model(struct sections *head)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		char *value = strstr(line, ": ");

		if (value && !strncmp(line, "model name", strlen("model name"))) {
			value[strcspn(value, "\n")] = '\0';
			add_info(head, "cpu_model", value + 2);
			break;
		}
	}
	if (file)
		fclose(file);
}

/* As it can be given to a shell again. */
static void add_command(struct sections *head, char **command)
{
	sections_printf(head, "command=");
	for (char **arg = command; *arg; arg++) {
		const char *separator = arg == command ? "" : " ";
		size_t plain = strspn(*arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789_@%+=:,./-");

		if (**arg && !(*arg)[plain]) {
			sections_printf(head, "%s%s", separator, *arg);
			continue;
		}
		sections_printf(head, "%s'", separator);
		for (const char *c = *arg; *c; c++) {
			if (*c == '\'')
				sections_printf(head, "'\\''");
			else
				sections_add(head, c, 1);
		}
		sections_printf(head, "'");
	}
	sections_add(head, "", 1);
}

static void add_infos(struct sections *head, const struct recording *recording)
{
	static const char *const on_full[] = {
		[FKT_ON_FULL_DROP] = "drop",
		[FKT_ON_FULL_PAUSE] = "pause",
		[FKT_ON_FULL_OVERWRITE] = "overwrite",
	};
	const struct options *options = &recording->options;
	char text[128];
	struct utsname uts;

	uname(&uts);
	sections_begin(head, FKT_SECTION_INFO);
	add_info(head, "fkt_version", FKT_RELEASE);
	add_info(head, "sysname", uts.sysname);
	add_info(head, "release", uts.release);
	add_info(head, "version", uts.version);
	add_info(head, "machine", uts.machine);
	add_info(head, "nodename", uts.nodename);
	add_cpu_model(head);
	add_info_number(head, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	add_info_number(head, "tsc_khz", recording->tsc_khz);
	if (options->command) {
		add_command(head, options->command);
		add_info_number(head, "command_pid", (uint64_t)recording->child.pid);
	}
	add_info_number(head, "recorder_pid", (uint64_t)getpid());
	snprintf(text, sizeof(text), "%#" PRIx32, options->mask);
	add_info(head, "mask", text);
	fkt_keys_names(options->mask, text, sizeof(text));
	add_info(head, "layers", text);
	add_info_number(head, "syscall_args", options->args);
	add_info(head, "lanes", options->lanes == FKT_LANES_SHARED ? "shared" : "cpu");
	add_info(head, "on_full", on_full[options->on_full]);
	triggers_add_texts(head);
	filters_add_text(head);
	if (longer_cycles())
		add_info_number(head, "longer_than_cycles", longer_cycles());
	profile_add_info(head);
	counters_add_info(head);
	add_info_number(head, "start_ns", recording->begin.real_ns);
	sections_end(head);
}

/* Lanes are numbered like CPUs: the highest number that a CPU can have ends the list. */
static uint32_t count_possible_cpus(void)
{
	char list[PROC_FILE_BYTES];
	const char *last;

	if (read_small("/sys/devices/system/cpu/possible", list, sizeof(list)) <= 0)
		return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	last = list + strlen(list);
	while (last > list && last[-1] != '-' && last[-1] != ',')
		last--;
	return (uint32_t)strtoul(last, NULL, 10) + 1;
}

static void add_file_header(struct sections *head, const struct recording *recording)
{
	bool shared = recording->options.lanes == FKT_LANES_SHARED;
	struct fkt_file_header header = {
		.magic = { 'F', 'K', 'T', 'T', 'R', 'A', 'C', 'E' },
		.version_major = FKT_VERSION_MAJOR,
		.version_minor = FKT_VERSION_MINOR,
		.byte_order = FKT_BYTE_ORDER,
		.header_bytes = sizeof(header),
		.page_bytes = FKT_PAGE_BYTES,
		.page_header_bytes = sizeof(struct fkt_page_header),
		.lanes = recording->lanes,
		.shared = shared,
	};

	memcpy(header.id, recording->id, FKT_ID_BYTES);
	sections_add(head, &header, sizeof(header));
}

void head_begin(struct recording *recording)
{
	struct fkt_clock_pair since = clock_pair();
	struct sections *head = &recording->head;

	recording->lanes = recording->options.lanes == FKT_LANES_SHARED ? 1 : count_possible_cpus();
	add_file_header(head, recording);
	add_symbols(head, recording);
	add_irqs(head);
	add_codes(head, recording);
	add_syscalls(head);

	if (!head_proc_is_machines())
		warnx("this is a PID namespace: in the trace, threads have their numbers outside of it, "
		      "and those that run already no names");
	/* What changes comes last. */
	add_threads(&recording->processes);
	recording->tsc_khz = clock_khz(&since);
	recording->begin = clock_pair();
	recording->begin.cycles += clock_ahead(recording->device);
}

void head_end(struct recording *recording, bool late)
{
	struct sections *head = &recording->head;

	add_processes(head, recording, late);
	add_infos(head, recording);
	sections_begin(head, FKT_SECTION_CLOCK);
	sections_add(head, &recording->begin, sizeof(recording->begin));
	sections_end(head);
	/* Late, the tail has it. */
	if (!late)
		maps_add_head(head);

	sections_begin(head, FKT_SECTION_END);
	sections_end(head);
	sections_pad(head, FKT_PAGE_BYTES);
	((struct fkt_file_header *)head->data)->data_offset = head->bytes;
}

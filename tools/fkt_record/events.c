// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tracepoints that -e names. tracefs lists events with their systems; which of them are
 * tracepoints, and whose, the kernel's symbols tell: each tracepoint has a function
 * __traceiter_NAME.
 */
#include <argp.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ftrace.h"
#include "functions.h"
#include "record.h"

#define ITERATOR	"__traceiter_"
/* Each argument begins a word, see codes.h. */
#define WORDS		"#words"
#define EVENT_BYTES	256

#define OPTION_LATER	0x100

/* A module with another taint than these has silent tracepoints (trace_module_has_bad_taint()). */
#define HARMLESS_TAINTS "CEON\n"

/* What the command line names, NULL after the last one. */
static char **patterns;
/* A name that there is not is that of a tracepoint of a module that comes later. */
static bool later;

/* The tracepoints of the recording. */
static struct {
	struct fkt_tracepoint_spec *spec;
	size_t count;
} events;

struct texts {
	char **text;
	size_t count;
};

static void texts_add(struct texts *texts, const char *text)
{
	size_t count = texts->count;

	/* Room for a power of two of them. */
	if (!(count & (count - 1)))
		texts->text = reallocarray(texts->text, count ? 2 * count : 1, sizeof(char *));
	if (!texts->text || !(texts->text[count] = strdup(text)))
		err(EXIT_FAILURE, "no memory for the tracepoints");
	texts->count++;
}

/* All events that tracefs has, as "system:event". */
static const struct texts *all_events(void)
{
	static struct texts events;
	char path[2 * EVENT_BYTES], name[2 * NAME_MAX + 2];
	struct dirent *system, *event;
	DIR *systems, *of_system;

	if (events.count)
		return &events;
	snprintf(path, sizeof(path), "%s/events", tracefs());
	systems = opendir(path);
	if (!systems)
		err(EXIT_FAILURE, "%s", path);
	while ((system = readdir(systems))) {
		if (system->d_name[0] == '.' || system->d_type != DT_DIR)
			continue;
		snprintf(path, sizeof(path), "%s/events/%s", tracefs(), system->d_name);
		of_system = opendir(path);
		while (of_system && (event = readdir(of_system))) {
			if (event->d_name[0] == '.' || event->d_type != DT_DIR)
				continue;
			snprintf(name, sizeof(name), "%s:%s", system->d_name, event->d_name);
			texts_add(&events, name);
		}
		if (of_system)
			closedir(of_system);
	}
	closedir(systems);
	return &events;
}

/* The function that calls a tracepoint's probes, NULL when there is no such tracepoint. */
static const struct function *find_iterator(const char *tracepoint)
{
	char name[EVENT_BYTES + sizeof(ITERATOR)];

	snprintf(name, sizeof(name), ITERATOR "%s", tracepoint);
	return functions_find(functions_symbols(), name);
}

static bool is_iterator(const struct function *function)
{
	return !strncmp(function->name, ITERATOR, strlen(ITERATOR));
}

/* The letter of a taint for which the kernel keeps a module's tracepoints silent; 0: none. */
static char bad_taint(const char *module)
{
	char path[EVENT_BYTES], taints[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/%s/taint", module);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(taints, sizeof(taints), file))
		taints[0] = '\0';
	fclose(file);
	return taints[strspn(taints, HARMLESS_TAINTS)];
}

static const char *after_colon(const char *event)
{
	const char *colon = strchr(event, ':');

	return colon ? colon + 1 : event;
}

/* Its layer's number is that of the bit of @key. */
static void add_event(struct codes *codes, const char *name, uint32_t key)
{
	const char *tracepoint = after_colon(name);
	const struct function *iterator = find_iterator(tracepoint);
	struct fkt_tracepoint_spec *spec;
	struct signature signature = { 0 };
	size_t count = events.count, used = strlen(WORDS);
	char text[FKT_TRACEPOINT_ARGS_MAX * EVENT_BYTES] = WORDS;
	uint32_t args = FKT_TRACEPOINT_ARGS_MAX;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(events.spec[i].name, tracepoint))
			return;
	if (strlen(tracepoint) >= FKT_TRACEPOINT_NAME_BYTES)
		errx(EXIT_FAILURE, "-e %s: a tracepoint's name has at most %d characters", name,
		     FKT_TRACEPOINT_NAME_BYTES - 1);
	if (count == FKT_TRACEPOINTS_MAX)
		errx(EXIT_FAILURE, "-e %s: there are too many tracepoints", name);

	if (iterator)
		btf_signature(iterator->name, iterator->module, &signature);
	/* The first argument is the probe's own. */
	if (signature.known && signature.words)
		args = signature.words - 1 < args ? signature.words - 1 : args;
	for (uint32_t i = 0; i < args; i++) {
		if (signature.known)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %.60s:%s",
						 signature.word[i + 1].name,
						 signature.word[i + 1].type);
		else
			used += (size_t)snprintf(text + used, sizeof(text) - used, " a%u:arg", i);
	}

	if (!(count & (count - 1)))
		events.spec =
			reallocarray(events.spec, count ? 2 * count : 1, sizeof(*events.spec));
	if (!events.spec)
		err(EXIT_FAILURE, "no memory for the tracepoints");
	spec = &events.spec[events.count++];
	*spec = (struct fkt_tracepoint_spec){
		.code = fkt_codes_add(codes, FKT_KIND_POINT, 0, key, name, text),
		.key = (uint8_t)__builtin_ctz(key),
		.args = (uint8_t)args,
	};
	strcpy(spec->name, tracepoint);
}

/* Why nothing comes from this tracepoint, if it is that of a module that the kernel refuses. */
static bool complain_of_taint(const char *pattern, const struct function *iterator)
{
	char taint = iterator && iterator->module ? bad_taint(iterator->module) : 0;

	if (taint)
		warnx("-e %s: the kernel keeps the tracepoints of the module %s silent, "
		      "because it taints the kernel (%c in /sys/module/%s/taint)",
		      pattern, iterator->module, taint, iterator->module);
	return taint;
}

/*
 * Nothing matches: the reason, if it is a module's taint, for then the module's events are not in
 * tracefs. Systems are often called like their modules.
 */
static void exit_if_tainted(const char *pattern)
{
	const struct functions *symbols = functions_symbols();
	size_t system = (size_t)(after_colon(pattern) - pattern);

	for (size_t i = 0; i < symbols->count; i++) {
		const struct function *function = &symbols->function[i];

		if (!is_iterator(function) || !function->module)
			continue;
		if (fnmatch(after_colon(pattern), function->name + strlen(ITERATOR), 0))
			continue;
		if (strpbrk(after_colon(pattern), "*?[") && system &&
		    (strlen(function->module) != system - 1 ||
		     strncmp(function->module, pattern, system - 1)))
			continue;
		if (complain_of_taint(pattern, function))
			exit(EXIT_FAILURE);
	}
}

static void __attribute__((noreturn)) exit_unknown(const char *pattern)
{
	const struct texts *events = all_events();
	struct functions names = { 0 };
	const char *nearest;

	exit_if_tainted(pattern);
	if (strpbrk(pattern, "*?["))
		errx(EXIT_FAILURE, "-e '%s': no tracepoint of this kernel matches", pattern);

	names.function = calloc(events->count + 1, sizeof(*names.function));
	if (!names.function)
		err(EXIT_FAILURE, "no memory for the tracepoints");
	for (size_t i = 0; i < events->count; i++)
		if (find_iterator(after_colon(events->text[i])))
			names.function[names.count++].name = strchr(pattern, ':')
								     ? events->text[i]
								     : after_colon(events->text[i]);
	for (size_t i = 0; i < events->count; i++)
		if (!strchr(pattern, ':') && !strncmp(events->text[i], pattern, strlen(pattern)) &&
		    events->text[i][strlen(pattern)] == ':')
			errx(EXIT_FAILURE,
			     "-e %s: there is no such tracepoint; is '%s:*' meant, all of that group?",
			     pattern, pattern);
	nearest = functions_nearest(&names, pattern);
	if (nearest)
		errx(EXIT_FAILURE, "-e %s: there is no such tracepoint; is %s meant?", pattern,
		     nearest);
	errx(EXIT_FAILURE,
	     "-e %s: there is no such tracepoint (/sys/kernel/tracing/events lists them; "
	     "--later if its module is loaded later)",
	     pattern);
}

/* Events that tracefs made up, and that no tracepoint of their own stands behind. */
static void __attribute__((noreturn)) exit_unreal(const char *pattern, const char *event)
{
	if (!strncmp(event, "syscalls:", strlen("syscalls:")))
		errx(EXIT_FAILURE,
		     "-e '%s': system calls have no tracepoints of their own; "
		     "-k system --args records them",
		     pattern);
	errx(EXIT_FAILURE, "-e '%s': %s is ftrace's own, and not a tracepoint", pattern, event);
}

/* Tracepoints by their names alone, those among them that tracefs does not know. */
static size_t add_by_name(struct codes *codes, const char *pattern)
{
	const struct functions *symbols = functions_symbols();
	const struct texts *known = all_events();
	size_t found = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct function *function = &symbols->function[i];
		const char *tracepoint = function->name + strlen(ITERATOR);

		if (!is_iterator(function) || fnmatch(pattern, tracepoint, 0))
			continue;
		if (complain_of_taint(pattern, function))
			continue;
		found++;
		for (size_t k = 0; k < known->count; k++)
			if (!strcmp(after_colon(known->text[k]), tracepoint)) {
				tracepoint = known->text[k];
				break;
			}
		add_event(codes, tracepoint, FKT_KEY_TRACEPOINTS);
	}
	return found;
}

static size_t add_by_event(struct codes *codes, const char *pattern, const char **unreal)
{
	const struct texts *known = all_events();
	size_t found = 0;

	for (size_t i = 0; i < known->count; i++) {
		const struct function *iterator;

		if (fnmatch(pattern, known->text[i], 0))
			continue;
		iterator = find_iterator(after_colon(known->text[i]));
		if (!iterator) {
			*unreal = known->text[i];
			continue;
		}
		if (complain_of_taint(pattern, iterator))
			continue;
		found++;
		add_event(codes, known->text[i], FKT_KEY_TRACEPOINTS);
	}
	return found;
}

static void find(struct codes *codes, const char *pattern)
{
	const char *unreal = NULL;
	size_t found;

	if (!functions_symbols()->count)
		errx(EXIT_FAILURE,
		     "-e %s: the kernel hides its symbols (sysctl kernel.kptr_restrict)", pattern);
	if (strchr(pattern, ':'))
		found = add_by_event(codes, pattern, &unreal);
	else
		found = add_by_name(codes, pattern);
	if (found)
		return;
	if (unreal)
		exit_unreal(pattern, unreal);
	if (!later || strpbrk(pattern, "*?["))
		exit_unknown(pattern);
	add_event(codes, pattern, FKT_KEY_TRACEPOINTS);
}

static void find_events(struct recording *recording)
{
	for (char **pattern = patterns; pattern && *pattern; pattern++)
		find(&recording->codes, *pattern);
}

static int set_events(struct recording *recording)
{
	struct fkt_probes tracepoints = {
		.size = sizeof(tracepoints),
		.kind = FKT_PROVIDER_TRACEPOINT,
		.count = (uint32_t)events.count,
		.spec_bytes = sizeof(*events.spec),
		.specs_ptr = (uintptr_t)events.spec,
	};

	if (!events.count || !ioctl(recording->device, FKT_ADD_PROBES, &tracepoints))
		return 0;
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM)
		warnx(FKT_DEVICE ": tracepoints are for root alone (CAP_SYS_ADMIN)");
	else if (errno == EOPNOTSUPP)
		warnx("-e: this kernel checks the types of what it calls (CONFIG_CFI), and would stop at a "
		      "probe for any tracepoint; functions (-F) and addresses (-P) can be traced");
	else
		warn("cannot set the tracepoints");
	return -1;
}

static const struct argp_option options_of_events[] = {
	{ "event", 'e', "SYSTEM:EVENT", 0,
	  "Trace this tracepoint, with its first arguments; a glob: all that match", 0 },
	{ "later", OPTION_LATER, NULL, 0,
	  "Take names of tracepoints that there are not for those of modules that are loaded later",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'e':
		options_add_word(&patterns, arg);
		options->probe_keys |= FKT_KEY_TRACEPOINTS;
		return 0;
	case OPTION_LATER:
		later = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct probe_kind kind_events = {
	.argp = { .options = options_of_events, .parser = parse },
	.find = find_events,
	.set = set_events,
};

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

#include "common/permission.h"
#include "fetch.h"
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

/**
 * struct pattern - one of them
 * @text: all that is written
 * @event: the tracepoint's name, or a glob
 * @fields: what is to be recorded of it, "" when that is not said
 */
struct pattern {
	const char *text;
	const char *event;
	const char *fields;
};
/* A name that there is not is that of a tracepoint of a module that comes later. */
static bool later;

/* The tracepoints of the recording, and what they fetch, one behind the other. */
static struct {
	struct fkt_tracepoint_spec *spec;
	size_t count;
	struct fkt_fetch *fetch;
	size_t fetches;
} events;

/* What an event shows when nothing else is asked for. */
static const struct event_fields {
	const char *name;
	const char *fields;
} event_fields[] = {
#define EVENT(name, fields) { name, fields },
#include "event_fields.inc"
#undef EVENT
};

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

/* ---- what is recorded of an event ---- */

/* The first arguments as they are. Return: how many. */
static uint32_t describe_arguments(const struct function *iterator, char *text, size_t bytes)
{
	size_t used = (size_t)snprintf(text, bytes, WORDS);
	uint32_t args = FKT_TRACEPOINT_ARGS_MAX;
	struct signature signature = { 0 };

	if (iterator)
		btf_signature(iterator->name, iterator->module, &signature);
	/* The first argument is the probe's own. */
	if (signature.known && signature.words)
		args = signature.words - 1 < args ? signature.words - 1 : args;
	for (uint32_t i = 0; i < args; i++) {
		if (signature.known)
			used += (size_t)snprintf(text + used, bytes - used, " %.60s:%s",
						 signature.word[i + 1].name,
						 signature.word[i + 1].type);
		else
			used += (size_t)snprintf(text + used, bytes - used, " a%u:arg", i);
	}
	return args;
}

static int compare_fields(const void *name, const void *row)
{
	return strcmp(name, ((const struct event_fields *)row)->name);
}

static bool is_there(const struct fetching *fetch, const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < fetch->arguments; i++)
		if (!strncmp(fetch->argument[i].name, word, length) &&
		    !fetch->argument[i].name[length])
			return true;
	return false;
}

/* What ftrace shows of it, as far as this kernel has it where some kernel has. */
static void add_default(struct fetching *fetch, const char *name)
{
	const struct event_fields *row = bsearch(name, event_fields,
						 sizeof(event_fields) / sizeof(event_fields[0]),
						 sizeof(event_fields[0]), compare_fields);
	char *text = row ? strdup(row->fields) : NULL, *save, *word;

	for (word = text ? strtok_r(text, " ", &save) : NULL; word;
	     word = strtok_r(NULL, " ", &save)) {
		if (is_there(fetch, word) || fetch->arguments == FETCH_ARGS_MAX ||
		    !fetch_has(fetch, word))
			continue;
		fetch_add(fetch, word);
		if (!fetch_fits(fetch))
			fetch->arguments--;
	}
	free(text);
}

/* What the user asks for. */
static void add_asked(struct fetching *fetch, const char *fields)
{
	char *text = strdup(fields), *save, *word;

	if (!text)
		err(EXIT_FAILURE, "no memory for the tracepoints");
	for (word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
		fetch_add_word(fetch, word);
	free(text);
}

/*
 * What is recorded besides the arguments as they are. Return: how many operations that takes, with
 * @spec filled in; 0: nothing.
 */
static uint16_t fetch_fields(const struct pattern *pattern, const char *name,
			     const struct function *iterator, char *spec)
{
	struct fetching *fetch = calloc(1, sizeof(*fetch));
	struct fkt_fetch ops[FKT_FETCH_OPS_MAX];
	size_t count = 0;

	if (!fetch)
		err(EXIT_FAILURE, "no memory for the tracepoints");
	fetch->option = "-e";
	fetch->text = pattern->text;
	fetch->event = after_colon(name);
	fetch->function = iterator ? iterator->name : NULL;
	fetch->module = iterator ? iterator->module : NULL;
	fetch->own = 1;
	fetch->args = FKT_TRACEPOINT_ARGS_MAX;
	/* The arguments, and nothing else, are to be had for less. */
	if (!strcmp(pattern->fields, "$arg*"))
		;
	else if (*pattern->fields)
		add_asked(fetch, pattern->fields);
	else if (iterator)
		add_default(fetch, name);
	if (fetch->arguments)
		count = fetch_compile(fetch, ops, spec);
	if (count) {
		events.fetch =
			reallocarray(events.fetch, events.fetches + count, sizeof(*events.fetch));
		if (!events.fetch)
			err(EXIT_FAILURE, "no memory for the tracepoints");
		memcpy(events.fetch + events.fetches, ops, count * sizeof(*ops));
		events.fetches += count;
	}
	free(fetch);
	return (uint16_t)count;
}

/* Its layer's number is that of the bit of @key. */
static void add_event(struct codes *codes, const struct pattern *pattern, const char *name,
		      uint32_t key)
{
	const char *tracepoint = after_colon(name);
	const struct function *iterator = find_iterator(tracepoint);
	struct fkt_tracepoint_spec *spec;
	size_t count = events.count;
	char text[FKT_TRACEPOINT_ARGS_MAX * EVENT_BYTES > FETCH_SPEC_BYTES
			  ? FKT_TRACEPOINT_ARGS_MAX * EVENT_BYTES
			  : FETCH_SPEC_BYTES];
	uint32_t args = FKT_TRACEPOINT_ARGS_MAX;
	uint16_t ops;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(events.spec[i].name, tracepoint))
			continue;
		if (!*pattern->fields)
			return;
		errx(EXIT_FAILURE,
		     "-e '%s': %s is already named with fields: write them all behind "
		     "one of them",
		     pattern->text, name);
	}
	if (strlen(tracepoint) >= FKT_TRACEPOINT_NAME_BYTES)
		errx(EXIT_FAILURE, "-e %s: a tracepoint's name has at most %d characters", name,
		     FKT_TRACEPOINT_NAME_BYTES - 1);
	if (count == FKT_TRACEPOINTS_MAX)
		errx(EXIT_FAILURE, "-e %s: there are too many tracepoints", name);

	ops = fetch_fields(pattern, name, iterator, text);
	if (!ops)
		args = describe_arguments(iterator, text, sizeof(text));
	/* What is there may be a variable as well as a function. */
	else if (strstr(text, ":sym"))
		codes->names_data = true;
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
		.ops = ops,
		.ops_first = ops ? (uint32_t)(events.fetches - ops) : 0,
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
static size_t add_by_name(struct codes *codes, const struct pattern *pattern)
{
	const struct functions *symbols = functions_symbols();
	const struct texts *known = all_events();
	size_t found = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct function *function = &symbols->function[i];
		const char *tracepoint = function->name + strlen(ITERATOR);

		if (!is_iterator(function) || fnmatch(pattern->event, tracepoint, 0))
			continue;
		if (complain_of_taint(pattern->event, function))
			continue;
		found++;
		for (size_t k = 0; k < known->count; k++)
			if (!strcmp(after_colon(known->text[k]), tracepoint)) {
				tracepoint = known->text[k];
				break;
			}
		add_event(codes, pattern, tracepoint, FKT_KEY_TRACEPOINTS);
	}
	return found;
}

static size_t add_by_event(struct codes *codes, const struct pattern *pattern, const char **unreal)
{
	const struct texts *known = all_events();
	size_t found = 0;

	for (size_t i = 0; i < known->count; i++) {
		const struct function *iterator;

		if (fnmatch(pattern->event, known->text[i], 0))
			continue;
		iterator = find_iterator(after_colon(known->text[i]));
		if (!iterator) {
			*unreal = known->text[i];
			continue;
		}
		if (complain_of_taint(pattern->event, iterator))
			continue;
		found++;
		add_event(codes, pattern, known->text[i], FKT_KEY_TRACEPOINTS);
	}
	return found;
}

static void find(struct codes *codes, const struct pattern *pattern)
{
	const char *event = pattern->event, *unreal = NULL;
	size_t found;

	if (!functions_symbols()->count)
		errx(EXIT_FAILURE,
		     "-e %s: the kernel hides its symbols (sysctl kernel.kptr_restrict)", event);
	if (strchr(event, ':'))
		found = add_by_event(codes, pattern, &unreal);
	else
		found = add_by_name(codes, pattern);
	if (found)
		return;
	if (unreal)
		exit_unreal(event, unreal);
	if (!later || strpbrk(event, "*?["))
		exit_unknown(event);
	if (*pattern->fields)
		errx(EXIT_FAILURE, "-e '%s': of what comes later, nothing is known of its fields",
		     pattern->text);
	add_event(codes, pattern, event, FKT_KEY_TRACEPOINTS);
}

/* Those that fields are named of, or the others. */
static void find_those(struct recording *recording, bool with_fields)
{
	for (char **text = patterns; text && *text; text++) {
		size_t blank = strcspn(*text, " \t\n");
		char *event = strndup(*text, blank);
		struct pattern pattern = {
			.text = *text,
			.event = event,
			.fields = *text + blank + strspn(*text + blank, " \t\n"),
		};

		if (!event)
			err(EXIT_FAILURE, "no memory for the tracepoints");
		if (with_fields == (*pattern.fields != '\0'))
			find(&recording->codes, &pattern);
		free(event);
	}
}

/* What is said of one event's fields goes before what a glob means that matches it as well. */
static void find_events(struct recording *recording)
{
	find_those(recording, true);
	find_those(recording, false);
}

static int set_events(struct recording *recording)
{
	struct fkt_probes tracepoints = {
		.size = sizeof(tracepoints),
		.kind = FKT_PROVIDER_TRACEPOINT,
		.count = (uint32_t)events.count,
		.spec_bytes = sizeof(*events.spec),
		.specs_ptr = (uintptr_t)events.spec,
		.common_ptr = (uintptr_t)events.fetch,
		.common_bytes = (uint32_t)(events.fetches * sizeof(*events.fetch)),
	};
	const char *level;

	if (!events.count || !ioctl(recording->device, FKT_ADD_PROBES, &tracepoints))
		return 0;
	level = lockdown();
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM && level && events.fetches)
		warnx("-e: the kernel is locked down for %s, which forbids to read its "
		      "memory: name no fields; see kernel_lockdown(7)",
		      level);
	else if (errno == EPERM)
		permission_warn("tracepoints are");
	else if (errno == EOPNOTSUPP)
		warnx("-e: this kernel checks the types of what it calls (CONFIG_CFI), and would stop at a "
		      "probe for any tracepoint; functions (-F) and addresses (-P) can be traced");
	else
		warn("cannot set the tracepoints");
	return -1;
}

static const struct argp_option options_of_events[] = {
	{ "event", 'e', "SYSTEM:EVENT", 0,
	  "Trace this tracepoint, a glob: all that match; with the fields that ftrace shows of it, or "
	  "with those behind its name: arguments, and what they lead to, as -P has them "
	  "('block:block_rq_issue rq->__sector')",
	  0 },
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

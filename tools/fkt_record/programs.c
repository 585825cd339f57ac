// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * -U: functions of programs and libraries, and the probes that programs have in their source.
 *
 *	[p:|r:]FILE:FUNCTION [FETCHARGS]	entry and return, or entry alone, or return alone
 *	FILE:PROBE, FILE:PROVIDER:PROBE [FETCHARGS]
 *
 * with the FETCHARGS of -P, as far as they are about a program.
 */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/distance.h"
#include "common/permission.h"
#include "arch.h"
#include "fetch.h"
#include "program_file.h"
#include "record.h"

#define NAME_BYTES	200
#define RESULT		"$retval"
#define RETURN_SUFFIX	"%return"
/* What the kernel says of an instruction that it can't execute elsewhere; no errno of programs. */
#define KERNEL_ENOTSUPP 524

/* What the command line names, NULL after the last one. */
static char **texts;

/* What the module is told; and what these record, one behind the other. */
static struct {
	struct fkt_uprobe_spec *spec;
	const char **text; /* what the user wrote */
	size_t count;
	struct fkt_fetch *fetch;
	size_t fetches;
} programs;

/**
 * struct wanted - what one -U asks for
 * @text: all of it
 * @file: in which file
 * @entry: FETCHARGS of when it is entered, or passed
 * @result: FETCHARGS of when it returns
 * @flags: FKT_UPROBE_…
 * @pattern: a function's name, or a glob
 * @provider: the first part of PROVIDER:PROBE, or NULL
 * @words: the FETCHARGS as they are written, NULL after the last one
 */
struct wanted {
	const char *text;
	const struct program_file *file;
	uint8_t flags;
	const char *pattern;
	const char *provider;
	char **words;
};

bool programs_any(void)
{
	return texts;
}

/* @of: NULL: it is a probe in the program's source */
static struct fetching *new_fetching(const struct wanted *wanted, const char *function,
				     const struct program_function *of, bool returns)
{
	struct fetching *fetch = calloc(1, sizeof(*fetch));

	if (!fetch)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	fetch->option = "-U";
	fetch->text = wanted->text;
	fetch->function = function;
	fetch->program = wanted->file;
	fetch->of = of;
	fetch->returns = returns;
	return fetch;
}

/* What can't be had is left out: the rest of the recording goes on, see find_programs(). */
static void __attribute__((format(printf, 2, 3)))
missing(const struct wanted *wanted, const char *format, ...)
{
	char why[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	warnx("-U '%s': %s", wanted->text, why);
}

/* ---- describing them ---- */

/* Words end at blanks, and a line of the trace's codes has them. */
static void name_of(const struct wanted *wanted, const char *middle, const char *name,
		    const char *suffix, char *to)
{
	snprintf(to, NAME_BYTES, "%s:%s%s%s%s", wanted->file->label, middle, *middle ? ":" : "",
		 name, suffix);
	for (; *to; to++)
		if (*to <= ' ' || *to == 0x7f)
			*to = '_';
}

/* Operations, with what they record; *first is where they are. Return: how many. */
static uint16_t add_fetch(const struct fetching *fetch, uint32_t *first, char *spec)
{
	struct fkt_fetch ops[FKT_FETCH_OPS_MAX];
	size_t count = fetch->arguments ? fetch_compile(fetch, ops, spec) : 0;

	*first = (uint32_t)programs.fetches;
	if (!count) {
		*spec = '\0';
		return 0;
	}
	if (programs.fetches + count > FKT_UPROBE_OPS_MAX)
		fetch_wrong(fetch, "that is too much to fetch");
	programs.fetch =
		reallocarray(programs.fetch, programs.fetches + count, sizeof(*programs.fetch));
	if (!programs.fetch)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	memcpy(programs.fetch + programs.fetches, ops, count * sizeof(*ops));
	programs.fetches += count;
	return (uint16_t)count;
}

static struct fkt_uprobe_spec *add_spec(const struct wanted *wanted)
{
	struct fkt_uprobe_spec *spec;

	if (programs.count == FKT_UPROBES_MAX)
		errx(EXIT_FAILURE,
		     "-U '%s': more than %d functions of programs can't be traced at a time",
		     wanted->text, FKT_UPROBES_MAX);
	programs.spec = program_grow(programs.spec, programs.count, sizeof(*programs.spec));
	programs.text = program_grow(programs.text, programs.count, sizeof(*programs.text));
	programs.text[programs.count] = wanted->text;
	spec = &programs.spec[programs.count++];
	*spec = (struct fkt_uprobe_spec){
		.fd = wanted->file->fd,
		.key = (uint8_t)__builtin_ctz(FKT_KEY_USER),
	};
	return spec;
}

/* The result as it is: without debug information nobody knows what it is. */
static void add_result(struct fetching *fetch)
{
	char text[] = "ret=" RESULT ":arg";

	fetch_add(fetch, text);
}

static void add_words(struct fetching *fetch, const struct wanted *wanted, bool result)
{
	for (char **word = wanted->words; word && *word; word++) {
		char *copy;

		if (wanted->flags == FKT_UPROBE_FLAGS && result != !!strstr(*word, RESULT))
			continue;
		copy = strdup(*word);
		if (!copy)
			err(EXIT_FAILURE, "no memory for the functions of programs");
		fetch_add_word(fetch, copy);
		free(copy);
	}
}

static bool is_named(const struct fkt_uprobe_spec *spec, uint64_t offset, uint8_t flags)
{
	for (size_t i = 0; i < programs.count; i++)
		if (programs.spec[i].fd == spec->fd && programs.spec[i].offset == offset &&
		    programs.spec[i].flags == flags)
			return true;
	return false;
}

static void add_function(struct codes *codes, const struct wanted *wanted,
			 const struct program_function *function)
{
	struct fetching *entry = new_fetching(wanted, function->name, function, false);
	struct fetching *result = new_fetching(wanted, function->name, function, true);
	const struct fkt_uprobe_spec like = { .fd = wanted->file->fd };
	char name[NAME_BYTES], entry_spec[FETCH_SPEC_BYTES], result_spec[FETCH_SPEC_BYTES];
	uint8_t flags = wanted->flags;
	struct fkt_uprobe_spec *spec;

	/* Also of a glob: asked for, but nobody may put something in its place. */
	if (flags == FKT_UPROBE_FLAGS && function->how == PROGRAM_ENTRY)
		flags = FKT_UPROBE_ENTRY;
	if (is_named(&like, function->offset, flags))
		goto out;
	if (flags & FKT_UPROBE_ENTRY)
		add_words(entry, wanted, false);
	if (flags & FKT_UPROBE_RETURN)
		add_words(result, wanted, true);
	if (flags & FKT_UPROBE_RETURN && !result->arguments)
		add_result(result);
	spec = add_spec(wanted);
	spec->offset = function->offset;
	spec->flags = flags;
	spec->ops = add_fetch(entry, &spec->ops_first, entry_spec);
	spec->return_ops = add_fetch(result, &spec->return_ops_first, result_spec);
	name_of(wanted, "", function->name, flags == FKT_UPROBE_RETURN ? RETURN_SUFFIX : "", name);
	if (flags == FKT_UPROBE_FLAGS)
		spec->code = fkt_codes_add_pair(codes, (uint32_t)FKT_KEY_USER, name, entry_spec,
						result_spec);
	else
		spec->code = fkt_codes_add(codes, FKT_KIND_POINT, 0, (uint32_t)FKT_KEY_USER, name,
					   flags & FKT_UPROBE_ENTRY ? entry_spec : result_spec);
out:
	free(entry);
	free(result);
}

/* All that can be had of a probe's own arguments. */
static void add_point_arguments(struct fetching *fetch, const struct fetching *arguments)
{
	for (size_t i = 0; i < arguments->arguments; i++) {
		char text[64];

		if (!arguments->argument[i].ops)
			continue;
		snprintf(text, sizeof(text), "arg%zu=$arg%zu:%s", i + 1, i + 1,
			 fetch_type_name(&arguments->argument[i]));
		fetch_add(fetch, text);
		if (!fetch_fits(fetch)) {
			fetch->arguments--;
			return;
		}
	}
}

static void add_point(struct codes *codes, const struct wanted *wanted,
		      const struct program_point *point)
{
	struct fetching *fetch = new_fetching(wanted, point->name, NULL, false);
	struct fetching *arguments = new_fetching(wanted, point->name, NULL, false);
	char name[NAME_BYTES], text[FETCH_SPEC_BYTES], *args = strdup(point->args), *save, *word;
	struct fkt_uprobe_spec *spec;

	if (!args)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	for (word = strtok_r(args, " ", &save); word; word = strtok_r(NULL, " ", &save))
		fetch_add_point(arguments, word);
	fetch->point = arguments->argument;
	fetch->points = arguments->arguments;
	if (wanted->words)
		add_words(fetch, wanted, false);
	else
		add_point_arguments(fetch, arguments);
	spec = add_spec(wanted);
	spec->offset = point->offset;
	spec->semaphore = point->semaphore;
	spec->flags = FKT_UPROBE_ENTRY;
	spec->ops = add_fetch(fetch, &spec->ops_first, text);
	name_of(wanted, point->provider, point->name, "", name);
	spec->code = fkt_codes_add(codes, FKT_KIND_POINT, 0, (uint32_t)FKT_KEY_USER, name, text);
	free(args);
	free(fetch);
	free(arguments);
}

/* ---- finding them ---- */

static bool is_glob(const char *text)
{
	return strpbrk(text, "*?[");
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Of several names of one place, the one to call it by comes first. */
static int compare_places(const void *a, const void *b)
{
	const struct program_function *one = *(const struct program_function *const *)a;
	const struct program_function *other = *(const struct program_function *const *)b;
	int order = (one->offset > other->offset) - (one->offset < other->offset);

	if (!order)
		order = (underscores(one->name) > underscores(other->name)) -
			(underscores(one->name) < underscores(other->name));
	if (!order)
		order = (strlen(one->name) > strlen(other->name)) -
			(strlen(one->name) < strlen(other->name));
	return order ?: strcmp(one->name, other->name);
}

/* What is asked for, and what of it is left out. */
static void say_what_is_not(const struct wanted *wanted, size_t indirect,
			    const char *first_indirect, size_t entries, const char *first_entry)
{
	if (indirect)
		warnx("-U '%s': %s%s left out: which implementation it is, is decided when a program "
		      "starts",
		      wanted->text, first_indirect, indirect > 1 ? ", and others, are" : " is");
	if (!entries || wanted->flags != FKT_UPROBE_FLAGS)
		return;
	if (wanted->file->why_no_returns)
		warnx("-U '%s': returns are left out: %s (r:%s:… traces them all the same)",
		      wanted->text, wanted->file->why_no_returns, wanted->file->label);
	else
		warnx("-U '%s': the return of %s%s left out: the program may look at its address, or "
		      "not return",
		      wanted->text, first_entry, entries > 1 ? ", and of others, is" : " is");
}

static size_t find_functions(struct codes *codes, const struct wanted *wanted)
{
	const struct program_file *file = wanted->file;
	const struct program_function **found = calloc(file->functions + 1, sizeof(*found));
	size_t count = 0, indirect = 0, entries = 0;
	const char *first_indirect = NULL, *first_entry = NULL;

	if (!found)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	for (size_t i = 0; i < file->functions; i++) {
		const struct program_function *function = &file->function[i];

		if (fnmatch(wanted->pattern, function->name, 0))
			continue;
		if (function->how == PROGRAM_INDIRECT) {
			first_indirect = first_indirect ?: function->name;
			indirect++;
			continue;
		}
		found[count++] = function;
	}
	qsort(found, count, sizeof(*found), compare_places);
	for (size_t i = 0; i < count; i++) {
		if (i && found[i]->offset == found[i - 1]->offset)
			continue;
		if (wanted->flags == FKT_UPROBE_RETURN && found[i]->how == PROGRAM_ENTRY &&
		    !file->why_no_returns) {
			if (!is_glob(wanted->pattern))
				missing(wanted,
					"the return of %s can't be traced: the program may "
					"look at its address, or not return",
					found[i]->name);
			continue;
		}
		if (found[i]->how == PROGRAM_ENTRY) {
			first_entry = first_entry ?: found[i]->name;
			entries++;
		}
		add_function(codes, wanted, found[i]);
	}
	say_what_is_not(wanted, indirect, first_indirect, entries, first_entry);
	free(found);
	return count + indirect;
}

static size_t find_points(struct codes *codes, const struct wanted *wanted)
{
	size_t found = 0;

	for (size_t i = 0; i < wanted->file->points; i++) {
		const struct program_point *point = &wanted->file->point[i];

		if (wanted->provider && fnmatch(wanted->provider, point->provider, 0))
			continue;
		if (fnmatch(wanted->pattern, point->name, 0))
			continue;
		if (wanted->flags == FKT_UPROBE_RETURN && !found)
			missing(wanted, "a probe in the program's source has no return");
		else if (wanted->flags != FKT_UPROBE_RETURN)
			add_point(codes, wanted, point);
		found++;
	}
	return found;
}

static const char *nearest(const struct program_file *file, const char *name)
{
	unsigned int best = (unsigned int)strlen(name) / 3 + 1;
	const char *found = NULL;

	for (size_t i = 0; i < file->functions; i++) {
		unsigned int d = fkt_distance(name, file->function[i].name);

		if (d <= best && (d < best || !found)) {
			best = d;
			found = file->function[i].name;
		}
	}
	return found;
}

/* Why there is no such function. */
static void tell_missing(const struct wanted *wanted)
{
	const struct program_file *file = wanted->file;
	const char *near = nearest(file, wanted->pattern);

	if (wanted->provider)
		missing(wanted, "%s has no such probe", file->path);
	else if (strchr(wanted->pattern, '+') ||
		 (*wanted->pattern >= '0' && *wanted->pattern <= '9'))
		missing(wanted,
			"functions are traced by name, from their beginning: a breakpoint in "
			"the middle of an instruction would make it another one");
	else if (!file->functions && !file->points)
		missing(wanted,
			"%s has no names of functions (is it stripped? Its debug symbols may "
			"be installed)",
			file->path);
	else if (is_glob(wanted->pattern))
		missing(wanted, "no function of %s matches", file->path);
	else if (near)
		missing(wanted, "%s has no function %s; is %s meant?", file->path, wanted->pattern,
			near);
	else
		missing(wanted, "%s has no function %s", file->path, wanted->pattern);
}

static void find_wanted(struct codes *codes, const struct wanted *wanted)
{
	size_t found = 0;

	if (!wanted->provider)
		found = find_functions(codes, wanted);
	if (!found)
		found = find_points(codes, wanted);
	if (found)
		return;
	tell_missing(wanted);
}

/* ---- the command line ---- */

/* Whether it was said before that this is the file. */
static bool is_said(const char *path)
{
	static char **said;

	for (char **known = said; known && *known; known++)
		if (!strcmp(*known, path))
			return true;
	options_add_word(&said, strdup(path));
	return false;
}

static const struct program_file *open_file(const struct wanted *wanted, const char *name)
{
	const bool given = strchr(name, '/');
	char *path = given ? strdup(name) : program_find(name);
	const struct program_file *file;
	const char *why;

	if (!path) {
		missing(wanted,
			"there is no program and no library %s where the shell and the dynamic "
			"linker look, and no process has one; write its path",
			name);
		return NULL;
	}
	file = program_open(path, &why);
	if (!file)
		missing(wanted, "%s: %s", path, why);
	else if (!given && !is_said(path))
		warnx("-U %s: %s", name, path);
	free(path);
	return file;
}

static void find_text(struct codes *codes, const char *text)
{
	struct wanted wanted = { .text = text, .flags = FKT_UPROBE_FLAGS };
	char *copy = strdup(text), *save, *word, *place, *colon;
	size_t words = 0;

	if (!copy)
		err(EXIT_FAILURE, "no memory for the functions of programs");
	place = strtok_r(copy, " \t\n", &save);
	if (place && place[0] && place[1] == ':' && strchr(place + 2, ':')) {
		if (*place == 'r' || *place == 'p') {
			wanted.flags = *place == 'r' ? FKT_UPROBE_RETURN : FKT_UPROBE_ENTRY;
			place += 2;
		}
	}
	colon = place ? strchr(place, ':') : NULL;
	if (!colon || colon == place || !colon[1])
		errx(EXIT_USAGE, "-U '%s': write FILE:FUNCTION", text);
	*colon = '\0';
	wanted.pattern = colon + 1;
	/* C++ has "::" in none of the names that are in files. */
	colon = strchr(wanted.pattern, ':');
	if (colon) {
		*colon = '\0';
		wanted.provider = wanted.pattern;
		wanted.pattern = colon + 1;
	}
	for (word = strtok_r(NULL, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
		wanted.words = reallocarray(wanted.words, words + 2, sizeof(*wanted.words));
		if (!wanted.words)
			err(EXIT_FAILURE, "no memory for the functions of programs");
		wanted.words[words++] = word;
		wanted.words[words] = NULL;
	}
	wanted.file = open_file(&wanted, place);
	if (wanted.file)
		find_wanted(codes, &wanted);
	free(wanted.words);
	free(copy);
}

static void find_programs(struct recording *recording)
{
	for (char **text = texts; text && *text; text++)
		find_text(&recording->codes, *text);
	/* Whoever named nothing else would wait for nothing. */
	if (texts && !programs.count && !(recording->options.mask & ~(uint32_t)FKT_KEY_USER))
		exit(EXIT_FAILURE);
}

/*
 * The kernel looks at an instruction when some process has it mapped: this one does, so that it
 * tells of those that it does not take.
 */
static void map_code(const struct fkt_uprobe_spec *spec)
{
	const long page = sysconf(_SC_PAGESIZE);
	static uint64_t last = UINT64_MAX;
	static int last_fd = -1;
	uint64_t begin = spec->offset / (uint64_t)page * (uint64_t)page;

	if (begin == last && spec->fd == last_fd)
		return;
	(void)mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, spec->fd, (off_t)begin);
	last = begin;
	last_fd = spec->fd;
}

static int set_programs(struct recording *recording)
{
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_UPROBE,
		.count = (uint32_t)programs.count,
		.spec_bytes = sizeof(*programs.spec),
		.specs_ptr = (uintptr_t)programs.spec,
		.common_ptr = (uintptr_t)programs.fetch,
		.common_bytes = (uint32_t)(programs.fetches * sizeof(*programs.fetch)),
	};
	const char *level;

	if (!programs.count)
		return 0;
	for (size_t i = 0; i < programs.count; i++)
		map_code(&programs.spec[i]);
	if (!ioctl(recording->device, FKT_ADD_PROBES, &probes))
		return 0;
	level = lockdown();
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM && level)
		warnx("-U: the kernel is locked down for %s, which forbids to read memory; see "
		      "kernel_lockdown(7)",
		      level);
	else if (errno == EPERM)
		warnx(FKT_DEVICE ": functions of programs (-U) are for root alone (sudo?)");
	else if (errno == EOPNOTSUPP)
		warnx("-U: this kernel can't interrupt programs (CONFIG_UPROBES)");
	else if (probes.done < programs.count)
		warn("-U '%s'", programs.text[probes.done]);
	else
		warn("cannot set the functions of programs");
	return -1;
}

static const char *refusal(uint32_t error)
{
	switch (error) {
	case KERNEL_ENOTSUPP:
	case ENOEXEC:
		return "the kernel can't execute its first instruction elsewhere";
	case EIO:
		return "the kernel can't read single pages of this file system";
	case EINVAL:
		return "the file has changed, or another tracer takes it for another kind of probe";
	default:
		return strerror((int)error);
	}
}

static void programs_summary(const struct recording *recording)
{
	const struct fkt_status *status = &recording->status;
	uint32_t count = status->uprobes_refused;

	for (uint32_t i = 0; i < count && i < FKT_REFUSED_FIRST; i++) {
		const struct fkt_refused *refused = &status->uprobe_refused[i];
		size_t bytes;
		const char *name = fkt_codes_name(&recording->codes, refused->code, &bytes);

		if (name)
			warnx("-U: %.*s is left out: %s", (int)bytes, name,
			      refusal(refused->error));
	}
	if (count > FKT_REFUSED_FIRST)
		warnx("-U: and %u more are left out", count - FKT_REFUSED_FIRST);
	if (status->uprobes_missed)
		warnx("-U: %llu calls are not in the recording: more than 64 were within each other, "
		      "and the kernel catches no more returns of a thread",
		      (unsigned long long)status->uprobes_missed);
}

static const struct argp_option options_of_programs[] = {
	{ "user", 'U', "FILE:FUNCTION", 0,
	  "Trace entry and return of this function of a program or library, in all processes; a glob: "
	  "of all that match. p:FILE:FUNCTION the entry alone, r:FILE:FUNCTION the return. Or a probe "
	  "that a program has in its source, FILE:PROBE. What they find in registers and the "
	  "program's memory may follow, as with -P ('libc.so.6:open name=$arg1:string')",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != 'U')
		return ARGP_ERR_UNKNOWN;
	options_add_word(&texts, arg);
	options->probe_keys |= FKT_KEY_USER;
	return 0;
}

const struct probe_kind kind_programs = {
	.argp = { .options = options_of_programs, .parser = parse },
	.find = find_programs,
	.set = set_programs,
	.summary = programs_summary,
};

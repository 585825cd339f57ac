// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions a recording traces: those of its layers, and those that -F names. */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fkt/layers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/permission.h"
#include "ftrace.h"
#include "functions.h"
#include "common/keys.h"
#include "record.h"
#include "sections.h"

static const struct layer_row {
	uint32_t key;
	const char *names;
} layer_rows[] = {
#define X(LAYER, names) { (uint32_t)FKT_KEY_##LAYER, names },
	FKT_LAYER_FUNCTIONS(X)
#undef X
};

#define N_LAYER_ROWS (sizeof(layer_rows) / sizeof(layer_rows[0]))

/*
 * What the command line names: globs of functions to trace, globs of those below which to trace
 * them, NULL for everywhere, and how many levels of calls, 0 for all. NULL ends each list.
 */
static char **patterns;
static char **graph_patterns;
static uint32_t graph_depth;

/* fkt_status.text_reused from before functions were looked up. */
static uint32_t text_reused;

/* Lines of the summary: what the recording has not, because this kernel has not. */
static struct sections left_out;

/* How many functions it has not, because others hold them, and with -v their names. */
static uint32_t held_count;
static struct sections held_names;

/* The same of those of which it is not known how long they take: --longer-than. */
static uint32_t endless_count;
static struct sections endless_names;

/* Whether it has some not, because they are there for BPF programs. */
static bool left_for_bpf;

/* The first of a row's names that there is. */
static struct function *find_row(const struct functions *functions, const struct layer_row *row)
{
	for (const char *name = row->names;; name++) {
		size_t length = strcspn(name, "|");
		char one[128];
		struct function *function;

		snprintf(one, sizeof(one), "%.*s", (int)length, name);
		function = functions_find(functions, one);
		name += length;
		if (function || !*name)
			return function;
	}
}

void select_layer(const struct functions *functions, uint32_t key, struct sections *missing)
{
	const struct function *end = functions->function + functions->count;

	for (size_t i = 0; i < N_LAYER_ROWS; i++) {
		const struct layer_row *row = &layer_rows[i];
		struct function *function, *first;

		if (row->key != key)
			continue;
		first = find_row(functions, row);
		if (!first) {
			sections_printf(missing, "%s%s", missing->bytes ? ", " : "", row->names);
			continue;
		}
		for (function = first; function < end && !strcmp(function->name, first->name);
		     function++)
			function->keys |= key;
	}
}

/* The layers that have functions in layers.h. */
static uint32_t layers_with_functions(void)
{
	uint32_t keys = 0;

	for (size_t i = 0; i < N_LAYER_ROWS; i++)
		keys |= layer_rows[i].key;
	return keys;
}

/* Whether each of some patterns names a function that may be traced, as far as it names any. */
static bool all_found(const struct functions *functions, char *const *globs)
{
	for (; globs && *globs; globs++) {
		bool found = **globs == '!';

		for (size_t i = 0; i < functions->count && !found; i++)
			found = functions_match(*globs, &functions->function[i]) &&
				!functions_never(&functions->function[i]);
		if (!found)
			return false;
	}
	return true;
}

static void add_name(const char ***names, size_t *count, const char *name)
{
	*names = reallocarray(*names, *count + 1, sizeof(**names));
	if (!*names)
		err(EXIT_FAILURE, "no memory for the functions");
	(*names)[(*count)++] = name;
}

/* Those of some patterns that are plain names go to the names, the others to the globs. */
static void sort_out(char *const *list, const char ***names, size_t *count, char ***globs)
{
	for (; list && *list; list++) {
		if (**list == '!')
			continue;
		if (strpbrk(*list, "*?[\\:|"))
			options_add_word(globs, *list);
		else
			add_name(names, count, *list);
	}
}

/*
 * The functions that may be traced, those of layers and those that -F and --graph name; or all of
 * them, where it takes them all to say why there is none of a name.
 */
static struct functions *find_all(void)
{
	struct functions *functions;
	const char **names = NULL;
	char **globs = NULL;
	size_t count = 0;

	for (size_t i = 0; i < N_LAYER_ROWS; i++)
		add_name(&names, &count, layer_rows[i].names);
	sort_out(patterns, &names, &count, &globs);
	sort_out(graph_patterns, &names, &count, &globs);
	functions = patterns ? functions_picked(names, count, globs)
			     : functions_named(names, count);
	if (!functions || !all_found(functions, patterns) || !all_found(functions, graph_patterns))
		functions = functions_hookable();
	free(globs);
	free(names);
	return functions;
}

/* The same, with who holds them; they are looked up once. */
static struct functions *all_functions(void)
{
	static struct functions *functions;

	if (functions)
		return functions;
	functions = find_all();
	ftrace_mark_held(functions);
	return functions;
}

static void select_layers(const struct functions *functions, uint32_t mask)
{
	uint32_t keys = layers_with_functions();

	for (uint32_t bit = 0; bit < 32; bit++) {
		struct sections missing = { 0 };
		uint32_t key = keys & 1u << bit;
		char name[64];

		if (!key)
			continue;
		select_layer(functions, key, &missing);
		fkt_keys_names(key, name, sizeof(name));
		if (!functions->count && mask & key)
			sections_printf(&left_out,
					"layer %s: the kernel hides where its functions are\n",
					name);
		else if (missing.bytes && mask & key)
			sections_printf(&left_out, "layer %s: this kernel does not have %.*s\n",
					name, (int)missing.bytes, missing.data);
		free(missing.data);
	}
}

/* Says why a pattern stands for nothing. */
static void complain(const struct functions *functions, const char *option, const char *pattern)
{
	const struct function *function;
	const char *nearest, *alias;

	if (strpbrk(pattern, "*?[")) {
		warnx("%s '%s': no function that can be traced matches "
		      "(fkt_record --list-functions '*' lists all)",
		      option, pattern);
		return;
	}
	function = functions_find(functions, pattern);
	if (function && functions_never(function)) {
		warnx("%s %s: this function is never traced: %s", option, pattern,
		      functions_never(function));
	} else if (function && function->held) {
		warnx("%s %s: a BPF program or a live patch holds this function, and it cannot be "
		      "traced before that has gone",
		      option, pattern);
	} else if ((alias = functions_alias(functions, pattern))) {
		warnx("%s %s: ftrace has this function by another name: %s %s", option, pattern,
		      option, alias);
	} else if (functions_find(functions_symbols(), pattern)) {
		warnx("%s %s: the kernel has this function, but does not let ftrace hook it",
		      option, pattern);
	} else if (strchr(pattern, ',')) {
		warnx("%s %s: no such function; a list is not taken: %s once for each, please",
		      option, pattern, option);
	} else {
		nearest = functions_nearest(functions, pattern);
		if (nearest)
			warnx("%s %s: no such function; did you mean %s?", option, pattern,
			      nearest);
		else
			warnx("%s %s: no such function", option, pattern);
	}
}

static bool is_symbol(const char *pattern)
{
	const struct functions *symbols = functions_symbols();

	for (size_t i = 0; i < symbols->count; i++)
		if (functions_match(pattern, &symbols->function[i]))
			return true;
	return false;
}

/*
 * A pattern takes the functions that are there for BPF programs only when it has their beginning:
 * on 6.12, systemd could not attach a program of its own while a function is traced.
 */
static bool pattern_leaves(const char *pattern, const struct function *function)
{
	const size_t length = strcspn(pattern, "*?[");

	return functions_for_bpf(function) && pattern[length] &&
	       strncmp(pattern, "bpf_lsm_", strlen("bpf_lsm_"));
}

static bool any_selected(const struct functions *functions)
{
	for (size_t i = 0; i < functions->count; i++)
		if (functions->function[i].keys & FKT_KEY_FUNCTIONS)
			return true;
	return false;
}

int select_patterns(const struct functions *functions, char **globs, bool never)
{
	bool positive = false, matched;
	int ret = 0;

	for (char **pattern = globs; *pattern; pattern++) {
		if (**pattern == '!')
			continue;
		positive = true;
		matched = false;
		for (size_t i = 0; i < functions->count; i++) {
			struct function *function = &functions->function[i];

			if (!functions_match(*pattern, function) || functions_never(function))
				continue;
			if (pattern_leaves(*pattern, function)) {
				left_for_bpf = true;
				continue;
			}
			matched |= !function->held || never;
			function->keys |= FKT_KEY_FUNCTIONS;
		}
		if (!matched && !(never && is_symbol(*pattern))) {
			complain(functions, "-F", *pattern);
			ret = -1;
		}
	}
	if (!positive) {
		warnx("-F '%s' leaves functions out, but none is named; add -F '*'", *globs);
		return -1;
	}
	for (char **pattern = globs; *pattern; pattern++) {
		for (size_t i = 0; **pattern == '!' && i < functions->count; i++)
			if (functions_match(*pattern + 1, &functions->function[i]))
				functions->function[i].keys &= ~(uint32_t)FKT_KEY_FUNCTIONS;
	}
	if (!ret && !never && !graph_patterns && !any_selected(functions)) {
		warnx("-F leaves out all the functions that it names: there is nothing to trace");
		return -1;
	}
	return ret;
}

/*
 * What --graph names is traced whether -F names it or not. It needs an exit, or nobody could tell
 * where its calls end.
 */
static int select_roots(const struct functions *functions)
{
	int ret = 0;

	for (char **pattern = graph_patterns; *pattern; pattern++) {
		const struct function *without = NULL;
		bool matched = false;

		for (size_t i = 0; i < functions->count; i++) {
			struct function *function = &functions->function[i];

			if (!functions_match(*pattern, function) || function->held ||
			    pattern_leaves(*pattern, function))
				continue;
			functions_describe(function);
			if (function->how == FUNCTION_ENTRY)
				without = function;
			if (function->how == FUNCTION_ENTRY || function->how == FUNCTION_NEVER)
				continue;
			matched = true;
			function->root = true;
			function->keys |= FKT_KEY_FUNCTIONS;
		}
		if (matched)
			continue;
		ret = -1;
		if (without)
			warnx("--graph %s: this function's exit is not traced: %s", *pattern,
			      without->why);
		else
			complain(functions, "--graph", *pattern);
	}
	return ret;
}

void select_entry_spec(const struct function *function, bool named, char *spec, size_t bytes)
{
	static const char registers[] = "rdi:x64 rsi:x64 rdx:x64 rcx:x64 r8:x64 r9:x64";
	const struct signature *signature = function->signature;
	size_t used = 0;

	if (!signature->known) {
		snprintf(spec, bytes, "%s", registers);
		return;
	}
	spec[0] = '\0';
	for (uint32_t i = 0; i < signature->words && used < bytes; i++) {
		const struct btf_type *enumeration = signature->word[i].enumeration;
		const char *type = signature->word[i].type;
		char names[ENUM_NAMES_BYTES];

		if (named && enumeration &&
		    signature_enum(signature->word[i].btf, enumeration, enumeration->size, names))
			type = names;
		used += (size_t)snprintf(spec + used, bytes - used, "%s%s:%s", i ? " " : "",
					 signature->word[i].name, type);
	}
}

/* The kernel's own functions are group 0, those of each module one more. */
static uint32_t group_of(const char *module)
{
	static const char **modules;
	static uint32_t count;
	const char **grown;

	if (!module)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(modules[i], module))
			return i + 1;
	grown = reallocarray(modules, count + 1, sizeof(*modules));
	if (!grown)
		err(EXIT_FAILURE, "no memory for the functions");
	modules = grown;
	modules[count++] = module;
	return count;
}

/* With --graph-depth alone, each call that no other one surrounds is a root. */
static uint8_t graph_flags(const struct function *function)
{
	uint8_t flags = FKT_FUNCTION_GRAPH;

	if (!(function->keys & FKT_KEY_FUNCTIONS) || !(graph_patterns || graph_depth))
		return 0;
	if (!graph_patterns || function->root)
		flags |= FKT_FUNCTION_ROOT;
	return flags;
}

static struct fkt_function_spec describe(struct codes *codes, struct function *function,
					 const struct options *options, bool entry_only)
{
	bool args = options->args;
	const struct signature *signature;
	struct fkt_function_spec spec = {
		.address = function->address,
		.keys = function->keys,
		.group = group_of(function->module),
	};
	char exit_spec[32], args_spec[512 + SIGNATURE_WORDS * ENUM_NAMES_BYTES];
	const char *entry_spec = args_spec;

	args_spec[0] = '\0';
	functions_describe(function);
	if (entry_only)
		function->how = FUNCTION_ENTRY;
	signature = function->signature;
	spec.ret_bytes = signature->ret_bytes;
	if (function->how == FUNCTION_COPY)
		spec.copy_words = signature->copy_words;
	spec.flags = graph_flags(function);
	if (function->fields) {
		spec.ops = function->fields->ops;
		spec.ops_first = spec.ops ? function->fields->first : 0;
		entry_spec = function->fields->spec;
	} else if (args) {
		spec.args = (uint8_t)(signature->known ? signature->words : SIGNATURE_WORDS);
		strcpy(args_spec, "#words ");
		select_entry_spec(function, true, args_spec + 7, sizeof(args_spec) - 7);
	}
	if (function->how == FUNCTION_ENTRY) {
		spec.flags |= FKT_FUNCTION_ENTRY_ONLY;
		spec.code = fkt_codes_add(codes, FKT_KIND_POINT, 0, function->keys, function->name,
					  entry_spec);
		return spec;
	}
	snprintf(exit_spec, sizeof(exit_spec), "ret:%s", signature->ret);
	spec.code =
		fkt_codes_add_pair(codes, function->keys, function->name, entry_spec, exit_spec);
	return spec;
}

/*
 * Counts it if it would be recorded at once: the functions of all layers are hooked only on demand.
 */
static void leave_held(const struct function *function, const struct options *options)
{
	if (!(function->keys & options->mask))
		return;
	held_count++;
	if (options->verbose)
		sections_printf(&held_names, " %s", function->name);
}

/* Whether the end of its calls can be recorded. */
static bool returns(struct function *function)
{
	functions_describe(function);
	return function->how != FUNCTION_ENTRY;
}

static void leave_endless(const struct function *function, const struct options *options)
{
	if (!(function->keys & options->mask))
		return;
	endless_count++;
	if (options->verbose)
		sections_printf(&endless_names, " %s", function->name);
}

/* What functions have in common: their operations are behind it. */
static void *new_common(uint32_t *bytes)
{
	struct fkt_functions_common *common;
	uint32_t count;
	const struct fkt_fetch *fetches = fields_fetches(&count);

	*bytes = (uint32_t)(sizeof(*common) + count * sizeof(*fetches));
	common = malloc(*bytes);
	if (!common)
		err(EXIT_FAILURE, "no memory for the functions");
	*common = (struct fkt_functions_common){
		.graph_depth = graph_depth,
		.text_reused = text_reused,
	};
	if (count)
		memcpy(common + 1, fetches, count * sizeof(*fetches));
	return common;
}

/* Say why no function at all has an exit, if that is so. Of hidden addresses symbols.c tells. */
static void say_endless(const char *level)
{
	if (level)
		warnx("the kernel is locked down for %s, which forbids to trace where "
		      "functions return: they have no exit; see kernel_lockdown(7)",
		      level);
	else if (!btf_has_types(NULL))
		warnx("the kernel has no type information (BTF): functions have no exit, and no "
		      "arguments by name");
}

static int add_functions(struct recording *recording, const struct functions *functions)
{
	struct fkt_function_spec *specs = calloc(functions->count, sizeof(*specs));
	struct fkt_probes argument = {
		.size = sizeof(argument),
		.kind = FKT_PROVIDER_FUNCTION,
		.spec_bytes = sizeof(*specs),
		.specs_ptr = (uintptr_t)specs,
	};
	void *common = new_common(&argument.common_bytes);
	/* What FKT says of the arguments of functions is not believed then: that takes no exit. */
	const char *level = lockdown();
	bool wanted = false;
	int ret = 0;

	if (!specs)
		err(EXIT_FAILURE, "no memory for the functions");
	argument.common_ptr = (uintptr_t)common;
	for (size_t i = 0; i < functions->count; i++) {
		struct function *function = &functions->function[i];

		if (!function->keys || functions_never(function))
			continue;
		if (function->held) {
			leave_held(function, &recording->options);
			continue;
		}
		if (longer_any() && !returns(function)) {
			leave_endless(function, &recording->options);
			continue;
		}
		specs[argument.count++] =
			describe(&recording->codes, function, &recording->options, level);
		wanted |= function->keys & recording->options.mask;
	}
	if (wanted)
		say_endless(level);
	if (argument.count && ioctl(recording->device, FKT_ADD_PROBES, &argument)) {
		/* Nobody has asked for any; fkt_enable will find none in these layers. */
		if (errno == EPERM && !wanted)
			goto out_free;
		if (errno == EPERM && level && fields_any())
			warnx("-F: the kernel is locked down for %s, which forbids to read "
			      "its memory: name no fields; see kernel_lockdown(7)",
			      level);
		else if (errno == EPERM)
			permission_warn("functions are");
		else if (errno == EBUSY)
			warnx(FKT_DEVICE ": another recording is running");
		else if (errno == ESTALE)
			warnx("modules were loaded while functions were looked up, too many to tell "
			      "them apart; start again");
		else
			warn(FKT_DEVICE ": cannot trace these functions");
		ret = -1;
	}
out_free:
	free(common);
	free(specs);
	return ret;
}

static int set_functions(struct recording *recording)
{
	const struct options *options = &recording->options;
	bool named = patterns;
	struct functions *functions;

	if ((named || options->mask & layers_with_functions()) && ftrace_refuse_disabled())
		return -1;
	functions = all_functions();
	select_layers(functions, options->mask);
	if (named && select_patterns(functions, patterns, false))
		return -1;
	if (graph_patterns && select_roots(functions))
		return -1;
	return add_functions(recording, functions);
}

static const char *refusal(uint32_t error)
{
	switch (error) {
	case EBUSY:
		return "a BPF program or a live patch holds it";
	case EEXIST:
		return "it is named twice";
	case EINVAL:
		return "ftrace does not know it";
	case ENOENT:
		return "its module has gone";
	default:
		return strerror((int)error);
	}
}

static void refused_summary(const struct recording *recording)
{
	const struct fkt_status *status = &recording->status;
	struct sections names = { 0 };
	uint32_t count = status->functions_refused, named;

	for (named = 0; named < count && named < FKT_REFUSED_FIRST; named++) {
		const struct fkt_refused *refused = &status->refused[named];
		size_t bytes;
		const char *name = fkt_codes_name(&recording->codes, refused->code, &bytes);

		/* An older module does not say which. */
		if (!name)
			break;
		sections_printf(&names, "%s %.*s (%s)", named ? "," : ":", (int)bytes, name,
				refusal(refused->error));
	}
	if (named && named < count)
		sections_printf(&names, " and %u more", count - named);
	warnx("%u function%s could not be hooked%.*s", count, count == 1 ? "" : "s",
	      (int)names.bytes, names.bytes ? names.data : "");
	free(names.data);
}

static void functions_summary(const struct recording *recording)
{
	const bool verbose = recording->options.verbose;
	const char *naming = held_count == 1 ? " (fkt_record -v names it)"
					     : " (fkt_record -v names them)";

	if (left_out.bytes)
		fprintf(stderr, "%.*s", (int)left_out.bytes, left_out.data);
	if (held_count)
		warnx("%u function%s left out: held by a BPF program or a live patch%s%.*s",
		      held_count, held_count == 1 ? "" : "s", verbose ? ":" : naming,
		      (int)held_names.bytes, held_names.bytes ? held_names.data : "");
	if (endless_count)
		warnx("%u function%s left out: what can be traced is their entry alone, and "
		      "--longer-than asks how long they take%s%.*s",
		      endless_count, endless_count == 1 ? "" : "s",
		      verbose		   ? ":"
		      : endless_count == 1 ? " (fkt_record -v names it)"
					   : " (fkt_record -v names them)",
		      (int)endless_names.bytes, endless_names.bytes ? endless_names.data : "");
	if (left_for_bpf && verbose)
		warnx("functions bpf_lsm_* left out: BPF programs are attached to them (-F 'bpf_lsm_*' "
		      "traces them)");
	if (recording->status.functions_refused)
		refused_summary(recording);
}

/* --- The command line ----------------------------------------------------------------------- */

enum {
	OPTION_GRAPH = 0x100,
	OPTION_GRAPH_DEPTH,
	OPTION_LIST_FUNCTIONS,
};

static const struct argp_option options_of_functions[] = {
	{ "function", 'F', "GLOB", 0,
	  "Trace entry and exit of the functions that match, MODULE:GLOB only those of a module, "
	  "!GLOB none of these; with the fields behind it, as -P has them ('vfs_read "
	  "file->f_path.dentry->d_name.name:string count')",
	  0 },
	{ "graph", OPTION_GRAPH, "GLOB", 0,
	  "Trace functions only while one that matches runs, in that thread (without -F: all)", 0 },
	{ "graph-depth", OPTION_GRAPH_DEPTH, "N", 0,
	  "Trace only N levels of functions that call each other", 0 },
	{ "list-functions", OPTION_LIST_FUNCTIONS, "GLOB", 0,
	  "List the functions that -F GLOB would trace, with -v how, and record nothing", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static uint32_t parse_depth(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || !value || value > UINT32_MAX)
		argp_error(state, "a depth is a number from 1 on, not '%s'", text);
	return (uint32_t)value;
}

/* The functions that -F names, and their fields. */
static void take_functions(char *text, struct argp_state *state)
{
	bool fields;
	char *glob = fields_take(text, &fields);

	if (!*glob)
		argp_error(state, "-F '%s': which function?", text);
	if (*glob == '!' && fields)
		argp_error(state, "-F '%s': what is left out has no fields", text);
	options_add_word(&patterns, glob);
}

static int list(const struct options *options)
{
	return list_functions(patterns, options->verbose);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static char all[] = "*";
	struct options *options = state->input;

	switch (key) {
	case 'F':
		take_functions(arg, state);
		break;
	case OPTION_GRAPH:
		options_add_word(&graph_patterns, arg);
		break;
	case OPTION_GRAPH_DEPTH:
		graph_depth = parse_depth(arg, state);
		break;
	case OPTION_LIST_FUNCTIONS:
		options_add_word(&patterns, arg);
		options->list = list;
		return 0;
	case ARGP_KEY_END:
		if ((graph_patterns || graph_depth) && !patterns)
			options_add_word(&patterns, all);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	options->probe_keys |= FKT_KEY_FUNCTIONS;
	return 0;
}

/* Before anything is read about functions: nothing without a device, which is said later. */
static void find_text_reused(void)
{
	struct fkt_status status = { .size = sizeof(status) };
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!ioctl(fd, FKT_STATUS, &status))
		text_reused = status.text_reused;
	close(fd);
}

/* What is wrong in fields is said before there is a trace. */
static void find_functions(struct recording *recording)
{
	struct functions *functions;

	find_text_reused();
	if (!fields_any())
		return;
	functions = all_functions();
	if (select_patterns(functions, patterns, false))
		exit(EXIT_FAILURE);
	fields_find(functions, &recording->codes);
}

const struct probe_kind kind_functions = {
	.argp = { .options = options_of_functions, .parser = parse },
	.find = find_functions,
	.set = set_functions,
	.summary = functions_summary,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --trigger: what makes a flight recorder take a snapshot by itself. The module waits for it; the
 * end of the command alone is waited for here.
 *
 * When a trigger has fired, none is armed. After --after the snapshot is taken, and after --every
 * they are armed again, until there are --times snapshots.
 */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/permission.h"
#include "arch.h"
#include "fetch.h"
#include "ftrace.h"
#include "functions.h"
#include "record.h"

#define NS_PER_MS     1000000ull
#define NS_PER_SECOND 1000000000ull
#define ITERATOR      "__traceiter_"
#define SPACES	      " \t\n"
#define FIELD_BYTES   64
/* Of "file->f_path.dentry->d_name.len". */
#define PATH_BYTES    FETCH_NAME_BYTES
/* No error of the kernel has a greater number. */
#define ERRNO_MAX     4095
/* Without --every. */
#define EVERY_NS      NS_PER_SECOND

enum {
	OPTION_TRIGGER = 0x300,
	OPTION_AFTER,
	OPTION_TIMES,
	OPTION_EVERY,
};

/* What the command line says. */
static char **texts; /* NULL after the last one */
static uint64_t after_ns;
static uint64_t every_ns = EVERY_NS;
static uint32_t times = 1;
static bool any_option, every_given;

/* Those of the module, and beside each what it was called. */
static struct {
	struct fkt_trigger_spec spec[FKT_TRIGGERS_MAX];
	uint64_t ns[FKT_TRIGGERS_MAX];
	const char *text[FKT_TRIGGERS_MAX];
	uint32_t count;
	struct fkt_fetch *fetch; /* what their conditions fetch */
	size_t fetches;
} triggers;

/* The command's end: its status is held against this. */
static struct {
	const char *text;
	struct fkt_trigger_condition condition;
} command_end;

enum stage {
	ARMED,
	FIRED, /* until @due, when the snapshot is taken */
	RESTS, /* until @due, when they are armed again */
	DONE,
};

static struct {
	enum stage stage;
	uint64_t due;	/* on now_ns()'s clock */
	uint32_t taken; /* snapshots */
	bool failed;	/* one could not be written */
	uint64_t ignored;
	struct fkt_triggered fired;
} now;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SECOND + (uint64_t)ts.tv_nsec;
}

static void __attribute__((noreturn, format(printf, 2, 3)))
wrong(const char *trigger, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	errx(EXIT_FAILURE, "--trigger '%s': %s", trigger, text);
}

/* ---- conditions ---- */

/* "-ENOSPC", "0x10", "-1" */
static bool parse_number(const char *text, __s64 *value)
{
	const char *name = text + (*text == '-');
	char *end;

	if (*name == 'E') {
		for (int number = 1; number <= ERRNO_MAX; number++) {
			const char *known = strerrorname_np(number);

			if (known && !strcmp(known, name)) {
				*value = *text == '-' ? -number : number;
				return true;
			}
		}
		return false;
	}
	errno = 0;
	*value = *text == '-' ? strtoll(text, &end, 0) : (__s64)strtoull(text, &end, 0);
	return isdigit((unsigned char)*name) && !*end && !errno;
}

/* The same, or "TCP_CLOSE", a name of one of the kernel's enums. Return: whether it is that. */
static bool parse_value(const char *trigger, const char *field, const char *text, __s64 *value)
{
	int64_t number = 0;
	int found;

	if (parse_number(text, value))
		return false;
	found = btf_enumerator(text, &number);
	if (found < 0)
		wrong(trigger,
		      "%s: %s stands for different numbers in several of the kernel's enums", field,
		      text);
	if (!found)
		wrong(trigger,
		      "%s: %s is neither a number nor the name of an error, nor in an enum of the "
		      "kernel's (BTF)",
		      field, text);
	*value = number;
	return true;
}

struct words {
	char field[PATH_BYTES];
	uint8_t op;
	char value[FIELD_BYTES];
};

/* How long the name of a field is, or the way to it, which may have "->" in it. */
static size_t field_length(const char *text)
{
	size_t length = strcspn(text, SPACES "=!<>&");

	while (length && text[length] == '>' && text[length - 1] == '-')
		length += 1 + strcspn(text + length + 1, SPACES "=!<>&");
	return length;
}

/* Takes "FIELD OP VALUE" from the text, and an && behind it. */
static const char *take_condition(const char *trigger, const char *text, struct words *words)
{
	static const struct {
		const char *sign;
		uint8_t op;
	} ops[] = {
		{ "==", FKT_TRIGGER_EQUAL },	  { "!=", FKT_TRIGGER_NOT_EQUAL },
		{ "<=", FKT_TRIGGER_LESS_EQUAL }, { ">=", FKT_TRIGGER_GREATER_EQUAL },
		{ "<", FKT_TRIGGER_LESS },	  { ">", FKT_TRIGGER_GREATER },
		{ "&", FKT_TRIGGER_BITS },
	};
	size_t length = field_length(text);

	if (!strncmp(text, "||", 2))
		wrong(trigger, "conditions are joined by && alone; for ||, give --trigger twice");
	if (!length || length >= sizeof(words->field))
		wrong(trigger, "a condition is FIELD==VALUE, and %s is none", text);
	snprintf(words->field, sizeof(words->field), "%.*s", (int)length, text);
	text += length + strspn(text + length, SPACES);
	words->op = 0;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]) && !words->op; i++)
		if (!strncmp(text, ops[i].sign, strlen(ops[i].sign))) {
			words->op = ops[i].op;
			text += strlen(ops[i].sign);
		}
	if (!words->op)
		wrong(trigger, "%s: ==, !=, <, <=, >, >= or & belongs behind it", words->field);
	text += strspn(text, SPACES);
	length = strcspn(text, SPACES "&");
	if (!length || length >= sizeof(words->value))
		wrong(trigger, "%s: there is no value to hold it against", words->field);
	snprintf(words->value, sizeof(words->value), "%.*s", (int)length, text);
	text += length + strspn(text + length, SPACES);
	if (!strncmp(text, "&&", 2))
		text += 2 + strspn(text + 2, SPACES);
	return text;
}

/* A condition on a number; @type is one of a signature's: s32, x64, … */
static void add_condition(const char *trigger, struct fkt_trigger_spec *spec,
			  const struct words *words, uint8_t arg, const char *type)
{
	struct fkt_trigger_condition *condition = &spec->condition[spec->conditions];
	const char *bits = type + strcspn(type, "0123456789");
	bool by_name;

	if (spec->conditions == FKT_TRIGGER_CONDITIONS_MAX)
		wrong(trigger, "at most %d conditions, and the thread's name",
		      FKT_TRIGGER_CONDITIONS_MAX);
	*condition = (struct fkt_trigger_condition){
		.arg = arg,
		.op = words->op,
		.bytes = (uint8_t)(*bits ? atoi(bits) / 8 : 8),
		.is_signed = !strncmp(type, "s", 1) || !strncmp(type, "ret", 3),
	};
	if (!strncmp(type, "retu", 4))
		condition->is_signed = 0;
	by_name = parse_value(trigger, words->field, words->value, &condition->value);
	/* Of a whole word, "arg", it is not known; then it is as the value says. */
	if (*words->value == '-' ||
	    (*type == 'a' && condition->value >= 0 && condition->value <= INT64_MAX))
		condition->is_signed = 1;
	/* BTF has an enum's numbers with a sign, whether its fields have one or not. */
	if (by_name && !condition->is_signed)
		condition->value &= (__s64)(~0ull >> (64 - 8 * condition->bytes));
	spec->conditions++;
}

/* Which of a signature's words has a name; SIGNATURE_WORDS for none. */
static uint32_t find_word(const struct signature *signature, uint32_t first, const char *name)
{
	for (uint32_t i = first; i < signature->words && i < SIGNATURE_WORDS; i++)
		if (!strcmp(signature->word[i].name, name))
			return i;
	return SIGNATURE_WORDS;
}

static void __attribute__((noreturn))
no_field(const char *trigger, const char *name, const struct signature *signature, uint32_t first)
{
	char list[SIGNATURE_WORDS * FIELD_BYTES] = "";
	size_t used = 0;

	for (uint32_t i = first; i < signature->words && i < SIGNATURE_WORDS; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.40s",
					 used ? ", " : "", signature->word[i].name);
	if (!signature->known)
		wrong(trigger, "the kernel does not tell its fields (BTF), so not %s either", name);
	wrong(trigger, "there is no field %s; it has %s%scomm", name, list, used ? " and " : "");
}

/* Whose arguments conditions are about. */
struct owner {
	const struct function *function;
	const char *event; /* of a tracepoint: its name; else NULL */
};

/* A condition on what is to be fetched, as -e and -P fetch it: "rq->__sector". */
static void add_fetched(const char *trigger, struct fkt_trigger_spec *spec,
			const struct words *words, const struct owner *owner)
{
	struct fetching *fetch = calloc(1, sizeof(*fetch));
	struct fkt_fetch ops[FKT_FETCH_OPS_MAX];
	struct fkt_trigger_condition *condition;
	char field[PATH_BYTES], text[FETCH_SPEC_BYTES];
	const char *type;
	size_t count;

	if (!fetch)
		err(EXIT_FAILURE, "no memory for the triggers");
	fetch->option = "--trigger";
	fetch->text = trigger;
	fetch->function = owner->function->name;
	fetch->module = owner->function->module;
	fetch->event = owner->event;
	fetch->own = owner->event ? 1 : 0;
	fetch->args = owner->event ? FKT_TRACEPOINT_ARGS_MAX : 0;
	strcpy(field, words->field);
	fetch_add(fetch, field);
	type = fetch_type_name(&fetch->argument[0]);
	if (fetch->argument[0].comm || fetch->argument[0].elements || strstr(type, "string"))
		wrong(trigger, "%s is not a number", words->field);
	/* "symbol", "dev" and others are what was read, with zeros before it. */
	if (!isdigit((unsigned char)type[1]))
		type = "x64";
	count = fetch_compile(fetch, ops, text);
	if (triggers.fetches + count > FKT_TRIGGER_FETCH_MAX)
		wrong(trigger, "that is too much to fetch");
	add_condition(trigger, spec, words, 0, type);
	condition = &spec->condition[spec->conditions - 1];
	condition->ops = (uint16_t)count;
	condition->ops_first = (uint16_t)triggers.fetches;
	triggers.fetch = reallocarray(triggers.fetch, triggers.fetches + count, sizeof(*ops));
	if (!triggers.fetch)
		err(EXIT_FAILURE, "no memory for the triggers");
	memcpy(triggers.fetch + triggers.fetches, ops, count * sizeof(*ops));
	triggers.fetches += count;
	free(fetch);
}

/*
 * All conditions of a trigger. Words of @signature from @first on are the arguments, number 0 and
 * so on of @places, or as they are; @result is the type of the result, NULL where there is none.
 */
static void add_conditions(const char *trigger, struct fkt_trigger_spec *spec, const char *text,
			   const struct signature *signature, uint32_t first,
			   const unsigned int *places, const char *result,
			   const struct owner *owner)
{
	struct words words;
	uint32_t word;
	__s64 error;

	while (*text) {
		text = take_condition(trigger, text, &words);
		if (!strcmp(words.field, "comm")) {
			if (words.op != FKT_TRIGGER_EQUAL || spec->comm[0] ||
			    strlen(words.value) >= sizeof(spec->comm))
				wrong(trigger,
				      "comm can be held against one name, by ==, of at most %zu "
				      "characters",
				      sizeof(spec->comm) - 1);
			strcpy(spec->comm, words.value);
			continue;
		}
		if (result) {
			if (strcmp(words.field, "ret") && strcmp(words.field, "$ret"))
				wrong(trigger, "there is no field %s; it has ret and comm",
				      words.field);
			if (isalpha((unsigned char)*words.value) &&
			    parse_number(words.value, &error))
				wrong(trigger, "what fails returns -%s, not %s", words.value,
				      words.value);
			add_condition(trigger, spec, &words, 0, result);
			continue;
		}
		word = signature ? find_word(signature, first, words.field) : SIGNATURE_WORDS;
		if (!signature)
			wrong(trigger, "there is no field %s; it has comm", words.field);
		if (strpbrk(words.field, ".[$@+:") || strstr(words.field, "->")) {
			add_fetched(trigger, spec, &words, owner);
			continue;
		}
		if (word == SIGNATURE_WORDS)
			no_field(trigger, words.field, signature, first);
		add_condition(trigger, spec, &words,
			      (uint8_t)(places ? places[word - first] : word - first),
			      signature->word[word].type);
	}
}

/* ---- what is waited for ---- */

/* The function of a system call, by the name that FKT has for it without "sys_"; NULL for none. */
static const struct function *function_of_syscall(const char *name)
{
	static const char *const prefixes[] = { "__x64_sys_", "__se_sys_", "__arm64_sys_", "sys_" };
	char symbol[FIELD_BYTES + 16];
	const struct function *function = NULL;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && !function; i++) {
		snprintf(symbol, sizeof(symbol), "%s%s", prefixes[i], name);
		function = functions_find(functions_symbols(), symbol);
	}
	return function;
}

/* What is no function, but the name of something else that can be a trigger. */
static void complain_of_name(const char *trigger, const char *name)
{
	const char *call = !strncmp(name, "sys_", 4) ? name + 4 : name;
	char iterator[FKT_TRIGGER_NAME_BYTES + sizeof(ITERATOR)];

	if (function_of_syscall(call))
		wrong(trigger,
		      "there is no function %s; the system call is sys_enter:%s, sys_exit:%s when "
		      "it returns, or sys_%s>TIME, without blanks",
		      name, call, call, call);
	snprintf(iterator, sizeof(iterator), ITERATOR "%s", name);
	if (functions_find(functions_symbols(), iterator))
		wrong(trigger,
		      "there is no function %s; a tracepoint has its system before it, SYSTEM:%s "
		      "(/sys/kernel/tracing/events lists them)",
		      name, name);
}

static const struct function *find_function(const char *trigger, const char *name)
{
	const struct functions *symbols = functions_symbols();
	const struct function *function = functions_find(symbols, name);
	const char *nearest, *why;

	if (!symbols->count)
		wrong(trigger, "the kernel hides its addresses (sysctl kernel.kptr_restrict)");
	if (!function) {
		complain_of_name(trigger, name);
		nearest = functions_nearest(symbols, name);
		if (nearest && strcmp(nearest, name))
			wrong(trigger, "there is no function %s; is %s meant?", name, nearest);
		wrong(trigger, "there is no function %s", name);
	}
	if (function + 1 < symbols->function + symbols->count && !strcmp(function[1].name, name))
		wrong(trigger, "there are several functions %s", name);
	if (hazard_find(name, &why) == FUNCTION_NEVER)
		wrong(trigger, "not to be probed: %s", why);
	return function;
}

static const struct function *find_syscall(const char *trigger, const char *name)
{
	const struct function *function = function_of_syscall(name);

	if (!function)
		wrong(trigger, "there is no system call %s", name);
	return function;
}

/*
 * The kernel finds a tracepoint by its name alone. That it is another system's is said where
 * ftrace's files can be seen.
 */
static void refuse_other_system(const char *trigger, const char *event)
{
	static const char events[] = "/sys/kernel/tracing/events/";
	const char *name = strchr(event, ':') + 1;
	const int system = (int)(name - event) - 1;
	char path[PATH_MAX];
	glob_t found = { 0 };

	snprintf(path, sizeof(path), "%s%.*s/%s", events, system, event, name);
	if (access(path, F_OK)) {
		snprintf(path, sizeof(path), "%s*/%s", events, name);
		if (!glob(path, GLOB_NOSORT, NULL, &found) && found.gl_pathc) {
			char *other = found.gl_pathv[0] + strlen(events);

			*strchr(other, '/') = '\0';
			wrong(trigger, "there is no such tracepoint; is %s:%s meant?", other, name);
		}
		globfree(&found);
	}
}

static void of_tracepoint(const char *trigger, struct fkt_trigger_spec *spec, const char *event,
			  const char *conditions)
{
	const char *name = strchr(event, ':') + 1;
	char iterator[FKT_TRIGGER_NAME_BYTES + sizeof(ITERATOR)];
	const struct function *function;
	struct signature signature = { 0 };

	if (strlen(name) >= sizeof(spec->name))
		wrong(trigger, "a tracepoint's name has at most %zu characters",
		      sizeof(spec->name) - 1);
	snprintf(iterator, sizeof(iterator), ITERATOR "%s", name);
	function = functions_find(functions_symbols(), iterator);
	if (!function)
		wrong(trigger,
		      "there is no such tracepoint (/sys/kernel/tracing/events lists them)");
	refuse_other_system(trigger, event);
	if (function->module)
		wrong(trigger,
		      "it is a module's tracepoint; only the kernel's own can be triggers");
	btf_signature(function->name, NULL, &signature);
	spec->kind = FKT_TRIGGER_TRACEPOINT;
	strcpy(spec->name, name);
	/* The first argument is the probe's own. */
	add_conditions(trigger, spec, conditions, &signature, 1, NULL, NULL,
		       &(struct owner){ function, name });
}

/* Whether a condition is on the result. */
static bool asks_result(const char *conditions)
{
	const char *ret = conditions;

	/* The whole word. */
	while ((ret = strstr(ret, "ret"))) {
		if ((ret == conditions || strchr(SPACES "$&", ret[-1])) &&
		    strchr(SPACES "=!<>&", ret[3]))
			return true;
		ret++;
	}
	return false;
}

static void of_function(const char *trigger, struct fkt_trigger_spec *spec,
			const struct function *function, const char *conditions, bool returns,
			const char *result)
{
	struct signature signature = { 0 };

	btf_signature(function->name, function->module, &signature);
	spec->address = function->address;
	spec->kind = returns ? FKT_TRIGGER_RETURN : FKT_TRIGGER_CALL;
	add_conditions(trigger, spec, conditions, &signature, 0, arch.argument,
		       !returns		 ? NULL
		       : result		 ? result
		       : signature.known ? signature.ret
					 : "s64",
		       &(struct owner){ function, NULL });
}

/* "NAME>TIME". Return: whether it is that. */
static bool of_time(const char *trigger, struct fkt_trigger_spec *spec, uint64_t *ns,
		    const char *what, const char *conditions)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} kinds[] = {
		{ "runnable", FKT_TRIGGER_RUNNABLE },
		{ "offcpu", FKT_TRIGGER_OFF_CPU },
		{ "irq", FKT_TRIGGER_IRQ },
		{ "softirq", FKT_TRIGGER_SOFTIRQ },
	};
	const char *sign = strchr(what, '>');
	char name[FIELD_BYTES];

	if (!sign)
		return false;
	if (sign == what || (size_t)(sign - what) >= sizeof(name))
		wrong(trigger, "what takes so long?");
	if (!clock_parse_ns(sign + 1, ns) || !*ns)
		wrong(trigger, "'%s' is not a time; write a number and ns, us, ms, s, m or h",
		      sign + 1);
	snprintf(name, sizeof(name), "%.*s", (int)(sign - what), what);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name)) {
			spec->kind = kinds[i].kind;
			add_conditions(trigger, spec, conditions, NULL, 0, NULL, NULL, NULL);
			return true;
		}
	if (!strncmp(name, "sys_", 4) && !functions_find(functions_symbols(), name))
		of_function(trigger, spec, find_syscall(trigger, name + 4), conditions, true,
			    "s64");
	else
		of_function(trigger, spec, find_function(trigger, name), conditions, true, NULL);
	return true;
}

/* "exit!=0". Return: whether it is that. */
static bool of_command(const char *text)
{
	struct fkt_trigger_spec spec = { 0 };
	struct words words;
	size_t length = strlen("exit");

	if (strncmp(text, "exit", length) || !strchr("=!<>& ", text[length]) || !text[length])
		return false;
	if (command_end.text)
		wrong(text, "the command's end can be waited for once");
	if (*take_condition(text, text, &words))
		wrong(text, "of the command's end there is one condition");
	add_condition(text, &spec, &words, 0, "s64");
	command_end.text = text;
	command_end.condition = spec.condition[0];
	return true;
}

/* Messages that the kernel writes when it is in trouble. */
static const char *message_of(const char *word)
{
	static const char *const messages[][2] = {
		/* "Oops: 0002 [#1]", "general protection fault, ...: 0000 [#1]" */
		{ "oops", " [#" },
		{ "warning", "WARNING: " },
		{ "lockup", "BUG: soft lockup" },
		{ "stall", "detected stall" },
		{ "hung", "blocked for more than" },
	};

	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if (!strcmp(word, messages[i][0]))
			return messages[i][1];
	return NULL;
}

static void add_trigger(const char *text)
{
	struct fkt_trigger_spec *spec = &triggers.spec[triggers.count];
	size_t length;
	const char *rest, *message;
	char what[256];

	text += strspn(text, SPACES);
	if (!*text)
		wrong(text, "what is to be waited for?");
	if (of_command(text))
		return;
	if (triggers.count == FKT_TRIGGERS_MAX)
		wrong(text, "there are too many; %d at most", FKT_TRIGGERS_MAX);
	length = strcspn(text, SPACES);
	if (length >= sizeof(what))
		wrong(text, "there is nothing with a name that long");
	snprintf(what, sizeof(what), "%.*s", (int)length, text);
	rest = text + length + strspn(text + length, SPACES);
	if (!strncmp(rest, "&&", 2))
		rest += 2 + strspn(rest + 2, SPACES);

	message = message_of(what);
	if (!strncmp(text, "log:", 4)) {
		message = text + 4;
		rest = "";
	}
	if (message) {
		if (!*message || strlen(message) >= sizeof(spec->name))
			wrong(text, "a message's part has 1 to %zu characters",
			      sizeof(spec->name) - 1);
		spec->kind = FKT_TRIGGER_LOG;
		strcpy(spec->name, message);
		add_conditions(text, spec, rest, NULL, 0, NULL, NULL, NULL);
	} else if (of_time(text, spec, &triggers.ns[triggers.count], what, rest)) {
		;
	} else if (!strncmp(what, "sys_exit:", strlen("sys_exit:"))) {
		of_function(text, spec, find_syscall(text, what + strlen("sys_exit:")), rest, true,
			    "s64");
	} else if (!strncmp(what, "sys_enter:", strlen("sys_enter:"))) {
		of_function(text, spec, find_syscall(text, what + strlen("sys_enter:")), rest,
			    false, NULL);
	} else if (strchr(what, ':')) {
		of_tracepoint(text, spec, what, rest);
	} else {
		of_function(text, spec, find_function(text, what), rest, asks_result(rest), NULL);
	}
	triggers.text[triggers.count++] = text;
}

static void find_triggers(struct recording *recording)
{
	for (char **text = texts; text && *text; text++)
		add_trigger(*text);
	if (any_option && !texts)
		errx(EXIT_FAILURE, "--after, --times and --every are about --trigger");
	if (any_option && !triggers.count)
		errx(EXIT_FAILURE,
		     "--after, --times and --every: the command ends once, and nothing "
		     "comes after that");
	if (every_given && times == 1)
		errx(EXIT_FAILURE, "--every is about several snapshots: it needs --times");
	if (texts && recording->options.on_full != FKT_ON_FULL_OVERWRITE)
		errx(EXIT_FAILURE, "--trigger takes a snapshot of what is kept in memory: it needs "
				   "--ring SIZE");
	if (command_end.text && recording->options.no_command)
		errx(EXIT_FAILURE, "--trigger '%s': without a command there is no such end",
		     command_end.text);
}

static int set_triggers(struct recording *recording)
{
	struct fkt_clock_pair since = clock_pair();
	struct fkt_probes probes = {
		.size = sizeof(probes),
		.kind = FKT_PROVIDER_TRIGGER,
		.count = triggers.count,
		.spec_bytes = sizeof(triggers.spec[0]),
		.specs_ptr = (uintptr_t)triggers.spec,
		.common_ptr = (uintptr_t)triggers.fetch,
		.common_bytes = (uint32_t)(triggers.fetches * sizeof(*triggers.fetch)),
	};
	uint64_t khz = 0;

	if (!triggers.count)
		return 0;
	for (uint32_t i = 0; i < triggers.count; i++) {
		if (triggers.spec[i].address && kprobes_refuse_disabled())
			return -1;
		if (!triggers.ns[i])
			continue;
		if (!khz)
			khz = clock_khz(&since);
		triggers.spec[i].cycles =
			(uint64_t)((double)triggers.ns[i] * (double)khz / (double)NS_PER_MS);
	}
	if (!ioctl(recording->device, FKT_ADD_PROBES, &probes))
		return 0;
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM)
		permission_warn("triggers are");
	else if (probes.done < triggers.count)
		warnx("--trigger '%s': %s", triggers.text[probes.done],
		      address_refused(errno, true));
	else
		warn("cannot set the triggers");
	return -1;
}

/* ---- while it records ---- */

bool triggers_any(void)
{
	return texts;
}

bool triggers_armed(void)
{
	return triggers.count && now.stage == ARMED;
}

int triggers_wait_ms(void)
{
	uint64_t ns = now_ns();

	if (now.stage != FIRED && now.stage != RESTS)
		return -1;
	if (now.due <= ns)
		return 0;
	ns = (now.due - ns + NS_PER_MS - 1) / NS_PER_MS;
	return ns > INT_MAX ? INT_MAX : (int)ns;
}

/* Say what has fired in the next snapshot. */
static void describe(struct recording *recording, const char *text)
{
	recording->trigger = text;
	recording->fired = now.fired;
}

/* What could not be written is still in memory: it does not count. */
static void take(struct recording *recording)
{
	if (ring_snapshot(recording))
		now.failed = true;
	else
		now.taken++;
	recording->trigger = NULL;
}

static void snapshot(struct recording *recording)
{
	describe(recording, triggers.text[now.fired.number]);
	take(recording);
	now.stage = now.taken < times ? RESTS : DONE;
	now.due = now_ns() + every_ns;
}

/* Names are of any user's choice: nothing of them steers the terminal. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

/* What the module says: which one has fired, and how often one was met that could not fire. */
static void ask(struct recording *recording)
{
	struct fkt_triggered told = { .size = sizeof(told) };
	char comm[sizeof(told.comm) + 1] = "", text[128];

	if (!triggers.count || ioctl(recording->device, FKT_TRIGGERED, &told))
		return;
	now.ignored = told.ignored;
	if (now.stage != ARMED || told.number >= triggers.count)
		return;
	now.fired = told;
	now.stage = FIRED;
	now.due = now_ns() + after_ns;
	memcpy(comm, told.comm, sizeof(told.comm));
	snprintf(text, sizeof(text), "%s", triggers.text[told.number]);
	make_plain(comm);
	make_plain(text);
	progress_erase();
	fprintf(stderr, "fkt_record: triggered by %s: %s[%u]\n", text, comm, told.tid);
}

void triggers_go_on(struct recording *recording, bool fired)
{
	if (fired)
		ask(recording);
	if (now.stage == FIRED && !triggers_wait_ms())
		snapshot(recording);
	if (now.stage == RESTS && !triggers_wait_ms() && !ioctl(recording->device, FKT_TRIGGER_ARM))
		now.stage = ARMED;
}

void triggers_end(struct recording *recording)
{
	const struct fkt_trigger_condition *condition = &command_end.condition;
	const int64_t status = recording->child.status;
	bool met = false;
	char text[128];

	/* It may have fired at the last moment. */
	ask(recording);
	if (now.stage == FIRED)
		snapshot(recording);
	if (!command_end.text || !recording->child.ended || now.taken >= times)
		return;
	switch (condition->op) {
	case FKT_TRIGGER_EQUAL:
		met = status == condition->value;
		break;
	case FKT_TRIGGER_NOT_EQUAL:
		met = status != condition->value;
		break;
	case FKT_TRIGGER_LESS:
		met = status < condition->value;
		break;
	case FKT_TRIGGER_LESS_EQUAL:
		met = status <= condition->value;
		break;
	case FKT_TRIGGER_GREATER:
		met = status > condition->value;
		break;
	case FKT_TRIGGER_GREATER_EQUAL:
		met = status >= condition->value;
		break;
	case FKT_TRIGGER_BITS:
		met = status & condition->value;
		break;
	}
	if (!met)
		return;
	/* The snapshot comes later, as soon as there is a file for it. */
	now.fired = (struct fkt_triggered){
		.tid = (uint32_t)recording->child.pid,
		.stamp = clock_pair().cycles + clock_ahead(recording->device),
	};
	snprintf(text, sizeof(text), "%s", command_end.text);
	make_plain(text);
	progress_erase();
	fprintf(stderr, "fkt_record: triggered by %s: the command's status is %d\n", text,
		recording->child.status);
	describe(recording, command_end.text);
	take(recording);
}

bool triggers_failed(void)
{
	return now.failed;
}

void triggers_add_texts(struct sections *head)
{
	for (uint32_t i = 0; i < triggers.count; i++) {
		sections_printf(head, "trigger_%u=%s", i, triggers.text[i]);
		sections_add(head, "", 1);
	}
}

static void summary(const struct recording *recording)
{
	(void)recording;
	if (!texts)
		return;
	fprintf(stderr, "fkt_record: %u snapshot%s by triggers%s\n", now.taken,
		now.taken == 1 ? "" : "s", now.taken ? "" : ": nothing was written");
	if (now.ignored)
		warnx("triggers were met %" PRIu64
		      " times more, too soon after the last snapshot or "
		      "after all of them (--times, --every)",
		      now.ignored);
}

static const struct argp_option options_of_triggers[] = {
	{ "trigger", OPTION_TRIGGER, "WHAT", 0,
	  "With --ring, take a snapshot when WHAT happens: an event ('block:block_rq_complete "
	  "error!=0'), a call that takes long ('vfs_fsync>50ms', 'sys_read>10ms') or fails "
	  "('sys_exit:write ret==-ENOSPC'), 'runnable>5ms', 'offcpu>1s comm==NAME', 'irq>1ms', "
	  "'softirq>1ms', the command's end ('exit!=0'), a message of the kernel (oops, warning, "
	  "lockup, stall, hung, log:TEXT). May be given more than once",
	  0 },
	{ "after", OPTION_AFTER, "TIME", 0, "Go on for TIME before that snapshot (default: 0ms)",
	  0 },
	{ "times", OPTION_TIMES, "N", 0, "Take up to N snapshots by triggers (default: 1)", 0 },
	{ "every", OPTION_EVERY, "TIME", 0, "But not more often than that (default: 1s)", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *end;

	switch (key) {
	case OPTION_TRIGGER:
		options_add_word(&texts, arg);
		return 0;
	case OPTION_AFTER:
		any_option = true;
		if (!clock_parse_ns(arg, &after_ns))
			argp_error(state, "--after: '%s' is not a time, as 100ms is", arg);
		return 0;
	case OPTION_TIMES:
		any_option = true;
		times = (uint32_t)strtoul(arg, &end, 10);
		if (!isdigit((unsigned char)*arg) || *end || !times || strlen(arg) > 9)
			argp_error(state, "--times: a number from 1 on, not '%s'", arg);
		return 0;
	case OPTION_EVERY:
		any_option = true;
		every_given = true;
		if (!clock_parse_ns(arg, &every_ns))
			argp_error(state, "--every: '%s' is not a time, as 10s is", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct probe_kind kind_triggers = {
	.argp = { .options = options_of_triggers, .parser = parse },
	.find = find_triggers,
	.set = set_triggers,
	.summary = summary,
};

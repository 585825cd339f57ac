// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The addresses that -P names, in the language of tracefs' kprobe_events
 * (Documentation/trace/kprobetrace.rst):
 *
 *	[p[:[GRP/]EVENT]] [MOD:]SYM[+OFFSET]|0xADDRESS [FETCHARGS]
 *	r[MAXACTIVE][:[GRP/]EVENT] [MOD:]SYM [FETCHARGS]
 *
 * and "p:SYM" and "r:SYM" where no place follows.
 */
#include <argp.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/permission.h"
#include "arch.h"
#include "fetch.h"
#include "ftrace.h"
#include "functions.h"
#include "record.h"

#define RETURN_SUFFIX "%return"

/* What the command line names, NULL after the last one. */
static char **texts;

/*
 * The addresses of the recording: what the module is told, what the user wrote, for messages; and
 * what they record, one behind the other.
 */
static struct {
	struct fkt_kprobe_spec *spec;
	const char **text;
	size_t count;
	struct fkt_fetch *fetch;
	size_t fetches;
} addresses;

/**
 * struct probe - what is being parsed
 * @max_active: see struct fkt_kprobe_spec
 * @address: where
 * @name: of its code
 * @fetch: what it fetches
 */
struct probe {
	uint32_t max_active;
	uint64_t address;
	char name[FETCH_NAME_BYTES];
	struct fetching fetch;
};

/* ---- where ---- */

/* How many bytes of code there are from this address to the next symbol. */
static uint64_t code_bytes(uint64_t address)
{
	const struct functions *symbols = functions_symbols();
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < symbols->count; i++)
		if (symbols->function[i].address > address && symbols->function[i].address < next)
			next = symbols->function[i].address;
	return next - address;
}

/* Its address. *module is that which was asked for, or NULL, and is then the one it is in. */
static uint64_t find_function(const struct probe *probe, const char *name, const char **module)
{
	const struct functions *symbols = functions_symbols();
	const struct function *function = functions_find(symbols, name), *first = NULL;
	const struct function *end = symbols->function + symbols->count;
	size_t found = 0, used = 0;
	const char *why;
	char where[256];

	if (!symbols->count)
		fetch_missing(&probe->fetch,
			      "the kernel hides its addresses (sysctl kernel.kptr_restrict)");
	for (; function && function < end && !strcmp(function->name, name); function++) {
		if (*module && (!function->module || strcmp(function->module, *module)))
			continue;
		if (!found++)
			first = function;
		if (used < sizeof(where))
			used += (size_t)snprintf(where + used, sizeof(where) - used, "%s%#" PRIx64,
						 found > 1 ? ", " : "", function->address);
	}
	if (found > 1)
		fetch_missing(&probe->fetch,
			      "there are %zu functions %s; write the address of one of them (%s)",
			      found, name, where);
	if (!found) {
		const char *nearest = functions_nearest(symbols, name);

		if (nearest && strcmp(nearest, name))
			fetch_missing(&probe->fetch, "there is no function %s; is %s meant?", name,
				      nearest);
		fetch_missing(&probe->fetch, "there is no function %s%s%s", name,
			      *module ? " in the module " : "", *module ? *module : "");
	}
	if (first->module && functions_own(first->module))
		fetch_missing(&probe->fetch, "FKT does not trace itself");
	if (hazard_find(name, &why) == FUNCTION_NEVER)
		fetch_missing(&probe->fetch, "not to be probed: %s", why);
	*module = first->module;
	return first->address;
}

static void parse_place(struct probe *probe, char *place)
{
	size_t length = strlen(place), suffix = strlen(RETURN_SUFFIX);
	const char *module = NULL;
	char *symbol, *plus;
	int64_t offset = 0;

	if (length > suffix && !strcmp(place + length - suffix, RETURN_SUFFIX)) {
		place[length - suffix] = '\0';
		probe->fetch.returns = true;
	}
	if (!*probe->name)
		snprintf(probe->name, sizeof(probe->name), "%s%s", place,
			 probe->fetch.returns ? RETURN_SUFFIX : "");
	if (*place >= '0' && *place <= '9') {
		if (!fetch_number(place, &offset))
			fetch_wrong(&probe->fetch, "'%s' is not an address", place);
		probe->address = (uint64_t)offset;
		return;
	}
	symbol = strchr(place, ':');
	if (symbol) {
		module = place;
		*symbol++ = '\0';
	} else {
		symbol = place;
	}
	plus = strpbrk(symbol, "+-");
	if (plus) {
		if (*plus == '-' || !fetch_number(plus, &offset))
			fetch_wrong(&probe->fetch,
				    "'%s' is not an offset in a function; write +NUMBER", plus);
		*plus = '\0';
	}
	if (probe->fetch.returns && offset)
		fetch_wrong(
			&probe->fetch,
			"a function's return is traced from its beginning: leave out the offset");
	probe->address = find_function(probe, symbol, &module);
	if ((uint64_t)offset >= code_bytes(probe->address))
		fetch_missing(&probe->fetch, "%s has only %#" PRIx64 " bytes", symbol,
			      code_bytes(probe->address));
	probe->address += (uint64_t)offset;
	probe->fetch.inside = offset;
	probe->fetch.function = symbol;
	probe->fetch.module = module;
}

/*
 * "p", "p:…", "r", "r16:…". Return: what follows the colon, "" without one; NULL: it is none of
 * these.
 */
static char *parse_kind(struct probe *probe, char *word)
{
	size_t digits = strspn(word + 1, "0123456789");
	int64_t number;
	char end;

	if (*word != 'p' && *word != 'r')
		return NULL;
	end = word[1 + digits];
	if (end && end != ':')
		return NULL;
	if (digits) {
		word[1 + digits] = '\0';
		if (*word == 'p' || !fetch_number(word + 1, &number) || number < 1 ||
		    number > FKT_KPROBE_ACTIVE_MAX)
			fetch_wrong(&probe->fetch,
				    "'%s': a number belongs behind r, and is at most %u", word,
				    FKT_KPROBE_ACTIVE_MAX);
		probe->max_active = (uint32_t)number;
	}
	probe->fetch.returns = *word == 'r';
	return word + 1 + digits + (end == ':');
}

static bool is_place(const char *word)
{
	return word && !strpbrk(word, "=>") && !strchr("%$@+-\\", *word);
}

/*
 * Whether a word that may be a place is an argument, called by its name, of a function that stands
 * where kprobe_events have the name of an event.
 */
static bool is_argument(const char *word, const char *event)
{
	return !functions_find(functions_symbols(), word) &&
	       functions_find(functions_symbols(), event);
}

static void parse_probe(struct probe *probe, char *text)
{
	char *save, *word = strtok_r(text, " \t\n", &save), *event;

	if (!word)
		fetch_wrong(&probe->fetch, "which function or address?");
	if (*word == '-')
		fetch_wrong(&probe->fetch,
			    "nothing is there to be deleted: a probe ends with its recording");
	event = parse_kind(probe, word);
	if (event) {
		word = strtok_r(NULL, " \t\n", &save);
		if (is_place(word) && !is_argument(word, event)) {
			char *slash = strchr(event, '/');

			if (slash)
				*slash = ':';
			snprintf(probe->name, sizeof(probe->name), "%s", event);
			event = word;
			word = strtok_r(NULL, " \t\n", &save);
		}
		if (!*event)
			fetch_wrong(&probe->fetch, "which function or address?");
		parse_place(probe, event);
	} else {
		parse_place(probe, word);
		word = strtok_r(NULL, " \t\n", &save);
	}
	for (; word; word = strtok_r(NULL, " \t\n", &save))
		fetch_add_word(&probe->fetch, word);
}

static void add_address(struct codes *codes, const char *text)
{
	struct probe *probe = calloc(1, sizeof(*probe));
	struct fkt_fetch ops[FKT_FETCH_OPS_MAX];
	size_t count = addresses.count, n;
	char spec[FETCH_SPEC_BYTES], *copy = strdup(text);

	if (!probe || !copy)
		err(EXIT_FAILURE, "no memory for the addresses");
	probe->fetch.option = "-P";
	probe->fetch.text = text;
	parse_probe(probe, copy);
	if (count == FKT_KPROBES_MAX)
		fetch_wrong(&probe->fetch, "there are too many addresses");
	n = fetch_compile(&probe->fetch, ops, spec);
	/* What is there may be a variable as well as a function. */
	if (strstr(spec, ":sym"))
		codes->names_data = true;
	if (!(count & (count - 1))) {
		size_t room = count ? 2 * count : 1;

		addresses.spec = reallocarray(addresses.spec, room, sizeof(*addresses.spec));
		addresses.text = reallocarray(addresses.text, room, sizeof(*addresses.text));
	}
	if (n)
		addresses.fetch = reallocarray(addresses.fetch, addresses.fetches + n,
					       sizeof(*addresses.fetch));
	if (!addresses.spec || !addresses.text || (n && !addresses.fetch))
		err(EXIT_FAILURE, "no memory for the addresses");
	if (n)
		memcpy(addresses.fetch + addresses.fetches, ops, n * sizeof(*ops));
	addresses.text[count] = text;
	addresses.spec[count] = (struct fkt_kprobe_spec){
		.address = probe->address,
		.code = fkt_codes_add(codes, FKT_KIND_POINT, 0, (uint32_t)FKT_KEY_ADDRESSES,
				      probe->name, spec),
		.key = (uint8_t)__builtin_ctz(FKT_KEY_ADDRESSES),
		.flags = probe->fetch.returns ? FKT_KPROBE_RETURN : 0,
		.ops = (uint16_t)n,
		.max_active = probe->max_active,
		.ops_first = (uint32_t)addresses.fetches,
	};
	addresses.count++;
	addresses.fetches += n;
	free(copy);
	free(probe);
}

const char *address_refused(int error, bool returns)
{
	switch (error) {
	case EINVAL:
		return returns ? "the kernel allows no probe there: it is not the beginning of a "
				 "function, or of one that must not be probed"
			       : "the kernel allows no probe there: it is not code, or code that must "
				 "not be probed (/sys/kernel/debug/kprobes/blacklist)";
	case EILSEQ:
		return "no instruction begins there";
	case EDEADLK:
		return "FKT does not trace itself";
	case ERANGE:
		return "it is the last function of its module, and the kernel, when it puts a probe "
		       "there, reads past the module's end";
	case ENOENT:
		return "there is no code at that address";
	default:
		return strerror(error);
	}
}

static void find_addresses(struct recording *recording)
{
	for (char **text = texts; text && *text; text++)
		add_address(&recording->codes, *text);
}

static int set_addresses(struct recording *recording)
{
	struct fkt_probes kprobes = {
		.size = sizeof(kprobes),
		.kind = FKT_PROVIDER_KPROBE,
		.count = (uint32_t)addresses.count,
		.spec_bytes = sizeof(*addresses.spec),
		.specs_ptr = (uintptr_t)addresses.spec,
		.common_ptr = (uintptr_t)addresses.fetch,
		.common_bytes = (uint32_t)(addresses.fetches * sizeof(*addresses.fetch)),
	};
	const char *level;

	if (!addresses.count)
		return 0;
	if (kprobes_refuse_disabled())
		return -1;
	if (!ioctl(recording->device, FKT_ADD_PROBES, &kprobes))
		return 0;
	level = lockdown();
	if (errno == EBUSY)
		warnx(FKT_DEVICE ": another recording is running");
	else if (errno == EPERM && level)
		warnx("-P: the kernel is locked down for %s, which forbids to read its memory; "
		      "see kernel_lockdown(7)",
		      level);
	else if (errno == EPERM)
		permission_warn("addresses (-P) are");
	else if (kprobes.done >= addresses.count)
		warn("cannot set the addresses");
	else
		warnx("-P '%s': %s", addresses.text[kprobes.done],
		      address_refused(errno,
				      addresses.spec[kprobes.done].flags & FKT_KPROBE_RETURN));
	return -1;
}

static const struct argp_option options_of_addresses[] = {
	{ "probe", 'P', "PROBE", 0,
	  "Trace an address, FUNCTION+OFFSET, or a function's return, r:FUNCTION, and what it finds "
	  "in registers and memory: as in tracefs' kprobe_events",
	  0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != 'P')
		return ARGP_ERR_UNKNOWN;
	options_add_word(&texts, arg);
	options->probe_keys |= FKT_KEY_ADDRESSES;
	return 0;
}

const struct probe_kind kind_addresses = {
	.argp = { .options = options_of_addresses, .parser = parse },
	.find = find_addresses,
	.set = set_addresses,
};

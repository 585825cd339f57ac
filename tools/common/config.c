// SPDX-License-Identifier: GPL-2.0-or-later
/* Options from files and from the environment: see config.h, and fkt.conf(5). */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#define EXIT_USAGE    2
#define SYSTEM_CONFIG "/etc/fkt/fkt.conf"
/* Beside the folder that the tool is in. */
#define SETS_FILE     "/../share/fkt/sets.conf"
/* A tool's name in capitals, and this. */
#define ENVIRONMENT   "_OPTIONS"

/* The command line in the making. */
struct words {
	char **word;
	size_t count;
};

static void add_word(struct words *words, char *word)
{
	words->word = reallocarray(words->word, words->count + 2, sizeof(*words->word));
	if (!words->word || !word)
		err(EXIT_FAILURE, "options");
	words->word[words->count++] = word;
	words->word[words->count] = NULL;
}

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return text;
}

/* "option" or "option = value" */
static void add_line(struct words *words, char *line, const char *path, unsigned int number)
{
	char *name = line, *value = strchr(line, '='), *word;

	if (value) {
		*value = '\0';
		value = trim(value + 1);
		name = trim(line);
	}
	if (!*name || name[0] == '-' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz-")])
		errx(EXIT_USAGE, "%s:%u: neither 'option' nor 'option = value', as in 'size = 1G'",
		     path, number);
	if (asprintf(&word, value ? "--%s=%s" : "--%s", name, value) < 0)
		word = NULL;
	add_word(words, word);
}

/* What a file has for a section. Return: whether it has that. */
static bool read_section(struct words *words, const char *path, const char *section)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	bool inside = false, found = false;
	unsigned int number = 0;
	char *line = NULL, *text;
	size_t room = 0;

	if (!file) {
		if (path && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
			err(EXIT_USAGE, "%s", path);
		return false;
	}
	while (getline(&line, &room, file) > 0) {
		number++;
		text = trim(line);
		if (!*text || *text == '#')
			continue;
		if (*text == '[') {
			if (text[strlen(text) - 1] != ']')
				errx(EXIT_USAGE, "%s:%u: no ] behind the section's name", path,
				     number);
			text[strlen(text) - 1] = '\0';
			inside = !strcmp(trim(text + 1), section);
			found |= inside;
		} else if (inside) {
			add_line(words, text, path, number);
		}
	}
	free(line);
	fclose(file);
	return found;
}

static const char *system_config(void)
{
	const char *path = getenv("FKT_CONFIG");

	return path ? path : SYSTEM_CONFIG;
}

/* Return: a name in a buffer that stays; NULL where there is no home. */
static const char *user_config(void)
{
	static char path[PATH_MAX];
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (folder && *folder)
		snprintf(path, sizeof(path), "%s/fkt/config", folder);
	else if (home && *home)
		snprintf(path, sizeof(path), "%s/.config/fkt/config", home);
	else
		return NULL;
	return path;
}

static const char *sets_file(void)
{
	static char path[PATH_MAX + sizeof(SETS_FILE)];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	strcpy(slash, SETS_FILE);
	return path;
}

static void add_set(struct words *words, const char *name)
{
	const char *const files[] = { user_config(), system_config(), sets_file() };
	char section[NAME_MAX];

	snprintf(section, sizeof(section), "%s", name);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (read_section(words, files[i], section))
			return;
	errx(EXIT_USAGE, "%s: no such set: no [%s] in %s, %s, or %s", name, name,
	     files[0] ? files[0] : "~/.config/fkt/config", files[1], files[2]);
}

/* FKT_RECORD_OPTIONS and its like: words with blanks between them. */
static void add_environment(struct words *words, const char *tool)
{
	char name[NAME_MAX], *copy, *word, *rest;
	const char *text;
	size_t i;

	for (i = 0; tool[i] && i < sizeof(name) - sizeof(ENVIRONMENT); i++)
		name[i] = (char)toupper((unsigned char)tool[i]);
	strcpy(name + i, ENVIRONMENT);
	text = getenv(name);
	if (!text)
		return;
	/* It stays, as the words of a command line do. */
	copy = strdup(text);
	for (word = copy ? strtok_r(copy, " \t\n", &rest) : NULL; word;
	     word = strtok_r(NULL, " \t\n", &rest)) {
		if (*word != '-')
			errx(EXIT_USAGE,
			     "%s: '%s': not an option; a value follows a long one with =", name,
			     word);
		add_word(words, word);
	}
}

void config_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	const char *tool = program_invocation_short_name;
	/* Options and arguments point into it from now on. */
	static struct words words;
	int i = 1;

	if (!argc) {
		argp_parse(argp, argc, argv, flags, NULL, input);
		return;
	}
	words.count = 0;
	add_word(&words, argv[0]);
	read_section(&words, system_config(), tool);
	read_section(&words, user_config(), tool);
	add_environment(&words, tool);
	while (flags & ARGP_IN_ORDER && i < argc && argv[i][0] == '@')
		add_set(&words, argv[i++]);
	while (i < argc)
		add_word(&words, argv[i++]);
	argp_parse(argp, (int)words.count, words.word, flags, NULL, input);
}

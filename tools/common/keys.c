// SPDX-License-Identifier: GPL-2.0-or-later
/* Key masks as people write them: numbers, and names from FKT_LAYERS. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fkt/codes.h>

#include "distance.h"
#include "keys.h"

static const struct layer {
	const char *name;
	uint32_t key;
} layers[] = {
#define X(NAME, bit, name, about) { name, 1u << (bit) },
	FKT_LAYERS(X)
#undef X
};

#define N_LAYERS (sizeof(layers) / sizeof(layers[0]))

uint32_t fkt_keys_all(void)
{
	uint32_t all = 0;

	for (size_t i = 0; i < N_LAYERS; i++)
		all |= layers[i].key;
	return all;
}

/* The layer whose name is a letter or two away, NULL if there is none. */
static const char *nearest(const char *word, int length)
{
	unsigned int best = 3;
	const char *name = NULL;
	char copy[64];

	snprintf(copy, sizeof(copy), "%.*s", length, word);
	for (size_t i = 0; i < N_LAYERS; i++) {
		unsigned int d = fkt_distance(copy, layers[i].name);

		if (d < best) {
			best = d;
			name = layers[i].name;
		}
	}
	return name;
}

/* A sentence's end: "…; the layers are system (0x1), process (0x80000000)". */
static void complain(char *why, const char *what, const char *word, int length)
{
	const char *meant = nearest(word, length);
	int used = snprintf(why, FKT_KEYS_WHY_BYTES, "%s '%.*s'%s%s%s; the layers are", what,
			    length, word, meant ? " (is " : "", meant ? meant : "",
			    meant ? " meant?)" : "");

	for (size_t i = 0; i < N_LAYERS && used < FKT_KEYS_WHY_BYTES; i++)
		used += snprintf(why + used, FKT_KEYS_WHY_BYTES - used, "%s %s (%#" PRIx32 ")",
				 i ? "," : "", layers[i].name, layers[i].key);
}

static int parse_number(const char *word, size_t length, uint32_t *key, char *why)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(word, &end, 0);
	if (end != word + length || errno || value > UINT32_MAX) {
		snprintf(why, FKT_KEYS_WHY_BYTES, "'%.*s' is not a number of 32 bits",
			 (int)(length < 40 ? length : 40), word);
		return -1;
	}
	if (value & ~(unsigned long long)fkt_keys_all()) {
		complain(why, "bits without a layer in", word, (int)length);
		return -1;
	}
	*key = (uint32_t)value;
	return 0;
}

static int parse_name(const char *word, size_t length, uint32_t *key, char *why)
{
	for (size_t i = 0; i < N_LAYERS; i++) {
		if (strlen(layers[i].name) != length || strncmp(layers[i].name, word, length))
			continue;
		*key = layers[i].key;
		return 0;
	}
	complain(why, "unknown layer", word, (int)(length < 40 ? length : 40));
	return -1;
}

int fkt_keys_parse(const char *text, uint32_t *mask, char *why)
{
	uint32_t keys = 0;

	for (const char *word = text;; word++) {
		size_t length = strcspn(word, ",");
		uint32_t key;
		int err;

		if (*word >= '0' && *word <= '9')
			err = parse_number(word, length, &key, why);
		else
			err = parse_name(word, length, &key, why);
		if (err)
			return err;
		keys |= key;
		word += length;
		if (!*word)
			break;
	}
	*mask = keys;
	return 0;
}

void fkt_keys_names(uint32_t mask, char *names, size_t bytes)
{
	size_t used = 0;

	names[0] = '\0';
	for (size_t i = 0; i < N_LAYERS && used < bytes; i++) {
		if (mask & layers[i].key)
			used += snprintf(names + used, bytes - used, "%s%s", used ? "," : "",
					 layers[i].name);
		mask &= ~layers[i].key;
	}
	if (mask && used < bytes)
		snprintf(names + used, bytes - used, "%s%#" PRIx32, used ? "," : "", mask);
}

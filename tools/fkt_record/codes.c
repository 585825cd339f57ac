// SPDX-License-Identifier: GPL-2.0-or-later
/* Codes that are given out for one recording: to functions, tracepoints, addresses and modules. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <fkt/codes.h>
#include <fkt/format.h>

#include "codes.h"
#include "common/keys.h"

static const char *const kinds[] = {
#define X(NAME, name) [FKT_KIND_##NAME] = name,
	FKT_KINDS(X)
#undef X
};

void fkt_codes_line(struct sections *lines, const struct code_line *line)
{
	char layer[64];

	fkt_keys_names(line->key, layer, sizeof(layer));
	sections_printf(lines, "0x%04x %u %s 0x%04x %s %s %s\n", line->code, line->count,
			kinds[line->kind], line->pair, layer, line->name, line->spec);
}

const char *fkt_codes_name(const struct codes *codes, uint32_t code, size_t *bytes)
{
	const char *line = codes->lines.data, *end = line + codes->lines.bytes;
	const int name_at = 5; /* words before it, see fkt_codes_line() */

	for (; line < end; line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1) {
		const char *name = line;

		if (strtoul(line, NULL, 16) != code)
			continue;
		for (int i = 0; i < name_at; i++)
			name = strchr(name, ' ') + 1;
		*bytes = strcspn(name, " \n");
		return name;
	}
	return NULL;
}

uint32_t fkt_codes_next(const struct codes *codes)
{
	return FKT_CODE_DYNAMIC + codes->count;
}

uint32_t fkt_codes_add(struct codes *codes, enum fkt_kind kind, uint32_t pair, uint32_t key,
		       const char *name, const char *spec)
{
	uint32_t code = fkt_codes_next(codes);

	if (code >= FKT_CODE_DYNAMIC_END)
		errx(EXIT_FAILURE, "more probes than a trace has codes for (%u)",
		     FKT_CODE_DYNAMIC_END - FKT_CODE_DYNAMIC);
	codes->count++;
	fkt_codes_line(&codes->lines, &(struct code_line){ code, 1, kind, pair, key, name, spec });
	return code;
}

uint32_t fkt_codes_add_pair(struct codes *codes, uint32_t key, const char *name,
			    const char *entry_spec, const char *exit_spec)
{
	uint32_t entry = fkt_codes_next(codes);

	fkt_codes_add(codes, FKT_KIND_ENTRY, entry + 1, key, name, entry_spec);
	fkt_codes_add(codes, FKT_KIND_EXIT, entry, key, name, exit_spec);
	return entry;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "format.h"
#include "paths.h"
#include "trace/fields.h"
#include "trace/maps.h"

/* Deeper than any stack and any nesting of calls is. */
#define STEPS_MAX 1024

uint32_t paths_step(struct paths *paths, uint32_t node, uint64_t step)
{
	/* From a root: 0. */
	return interned(&paths->node, node + 1u, step);
}

uint64_t paths_text(struct paths *paths, const char *text)
{
	uint64_t key[2] = { 0 };
	uint32_t number;

	memcpy(key, text, strnlen(text, sizeof(key)));
	number = interned(&paths->text, key[0], key[1]);
	return number == INTERNED_FAILED ? 0 : STEP_TEXT | number;
}

uint64_t paths_frame(struct paths *paths, struct fkt_trace *trace, const struct fkt_stack *stack,
		     unsigned int i)
{
	const uint64_t frame = stack->frame[i];
	uint32_t number;

	if (frame >= FKT_FRAME_KERNEL)
		return STEP_SYMBOL | (frame & STEP_ADDRESS);
	/* With whether it is the innermost one of the program, which is behind no call. */
	number = interned(&paths->frame, fkt_frame_place(trace, stack, frame),
			  i && stack->frame[i - 1] < FKT_FRAME_CUT);
	return number == INTERNED_FAILED ? 0 : STEP_FRAME | number;
}

int paths_add(struct paths *paths, uint32_t node, uint64_t cycles)
{
	uint64_t *larger;

	if (node >= paths->room) {
		larger = reallocarray(paths->weight, node + 1, 2 * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		memset(larger + paths->room, 0, (2 * (node + 1) - paths->room) * sizeof(*larger));
		paths->weight = larger;
		paths->room = 2 * (node + 1);
	}
	paths->weight[node] += cycles;
	return 0;
}

static void put_step(const struct paths *paths, struct export *export, uint64_t step)
{
	char name[FKT_FRAME_BYTES + 1];
	struct fkt_stack stack = { .count = 2 };
	struct fkt_symbol symbol;
	const uint64_t *key;
	uint64_t address;

	switch (step & STEP_KIND) {
	case STEP_FRAME:
		key = paths->frame.key[step & STEP_ADDRESS];
		stack.frame[0] = stack.frame[1] = key[0];
		*fkt_put_frame_name(export->trace, name, &stack, (unsigned int)key[1]) = '\0';
		break;
	case STEP_TEXT:
		snprintf(name, sizeof(name), "%.16s",
			 (const char *)paths->text.key[step & STEP_ADDRESS]);
		break;
	case STEP_ROW:
		fkt_row_name(export->trace, (uint32_t)step, name);
		break;
	default:
		/* An address of the kernel's, whose upper bits are set. */
		address = step | STEP_KIND;
		/* A return address may be behind its function's end. */
		if (fkt_symbol(export->trace, address - 1, &symbol))
			snprintf(name, sizeof(name), "%s", symbol.name);
		else
			snprintf(name, sizeof(name), "0x%" PRIx64, address);
	}
	/* What separates steps and the weight. */
	for (char *at = name; *at; at++)
		if (*at == ';' || *at == '\n')
			*at = ':';
	output_text(export->out, name);
}

void paths_write(const struct paths *paths, struct export *export)
{
	uint64_t steps[STEPS_MAX], ns;
	unsigned int count;

	for (uint32_t i = 0; i < paths->node.count && i < paths->room; i++) {
		ns = (uint64_t)fkt_cycles_to_ns(export->trace, (int64_t)paths->weight[i]);
		if (!ns)
			continue;
		count = 0;
		for (uint64_t node = i + 1ull; node && count < STEPS_MAX;
		     node = paths->node.key[node - 1][0])
			steps[count++] = paths->node.key[node - 1][1];
		while (count) {
			put_step(paths, export, steps[--count]);
			output_text(export->out, count ? ";" : " ");
		}
		output_format(export->out, "%" PRIu64 "\n", ns);
	}
}

void paths_free(struct paths *paths)
{
	interned_free(&paths->node);
	free(paths->weight);
	interned_free(&paths->text);
	interned_free(&paths->frame);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows: what time is charged to. What events of a code do to the calls that are open, and what the
 * rows are called.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "internal.h"

#define FUNCTIONS_MAX  (FKT_ROW_USER - FKT_ROW_FUNCTION)
#define FUNCTION_SLOTS (2 * FUNCTIONS_MAX) /* a power of two */

/* Functions that share a code, and are told apart by their addresses. */
struct fkt_functions {
	uint64_t seed; /* odd: so that no trace can be made to fill one place */
	uint32_t count;
	struct function {
		uint64_t address;
		uint32_t code; /* of the entry */
	} function[FUNCTIONS_MAX];
	uint32_t slot[FUNCTION_SLOTS]; /* a hash table of indices, plus 1 */
};

static bool is_special(uint32_t code)
{
	return code == FKT_CODE_SWITCH || code == FKT_CODE_WAKEUP || code == FKT_CODE_WAKEUP_NEW ||
	       code == FKT_CODE_EXEC || code == FKT_CODE_PAUSE || code == FKT_CODE_SETMASK;
}

/* The row of the code at the other end of a call. */
static const struct fkt_code_row *entry_row(const struct fkt_trace *trace,
					    const struct fkt_code_row *row, uint32_t *code)
{
	const struct fkt_code_row *pair = fkt_code_row(trace, row->pair);
	uint32_t index = *code - row->first;

	if (!pair || pair->first != row->pair || index >= pair->count ||
	    (pair->kind != FKT_KIND_ENTRY && pair->kind != FKT_KIND_CPU_ENTRY))
		return NULL;
	*code = pair->first + index;
	return pair;
}

void fkt_code_use(const struct fkt_trace *trace, uint32_t number, struct fkt_code_use *use)
{
	static const uint8_t kinds[] = {
		[FKT_KIND_POINT] = FKT_USE_POINT,	[FKT_KIND_ENTRY] = FKT_USE_ENTRY,
		[FKT_KIND_EXIT] = FKT_USE_EXIT,		[FKT_KIND_CPU_ENTRY] = FKT_USE_CPU_ENTRY,
		[FKT_KIND_CPU_EXIT] = FKT_USE_CPU_EXIT,
	};
	const struct fkt_code_row *row = fkt_code_row(trace, number), *entry = row;

	use->kind = FKT_USE_POINT;
	use->function = FKT_NO_FUNCTION;
	if (is_special(number)) {
		use->kind = FKT_USE_SPECIAL;
		return;
	}
	if (!row || row->kind == FKT_KIND_POINT)
		return;
	use->row = number;
	if (row->kind == FKT_KIND_EXIT || row->kind == FKT_KIND_CPU_EXIT) {
		entry = entry_row(trace, row, &use->row);
		if (!entry)
			return;
	}
	use->kind = kinds[row->kind];
	use->syscall = !strncmp(row->spec, "#sysnr", 6) || !strncmp(row->spec, "#compat", 7);
	if (use->row == FKT_CODE_IRQ_ENTRY) {
		use->row = FKT_ROW_IRQ;
		use->numbers = FKT_ROW_SOFTIRQ - FKT_ROW_IRQ;
	} else if (use->row == FKT_CODE_SOFTIRQ_ENTRY) {
		use->row = FKT_ROW_SOFTIRQ;
		use->numbers = FKT_ROW_FUNCTION - FKT_ROW_SOFTIRQ;
	} else if (fkt_function_field(trace, use->row) != FKT_NO_FUNCTION) {
		/* Only if both ends say which one it is. */
		use->function = fkt_function_field(trace, number);
	}
}

uint32_t fkt_function_row(const struct fkt_trace *trace, const struct fkt_code_use *use,
			  const struct fkt_event *event)
{
	struct fkt_functions *functions = trace->functions;
	struct function *function;
	uint64_t address;
	uint32_t at;

	if (event->words * 8u < use->function + 8u)
		return use->row;
	address = fkt_arg64(event, use->function);
	if (!functions) {
		/* Made when it is first needed, and kept. */
		functions = calloc(1, sizeof(*functions));
		if (!functions)
			return use->row;
		if (getrandom(&functions->seed, sizeof(functions->seed), 0) < 0)
			functions->seed = (uintptr_t)functions;
		functions->seed |= 1;
		((struct fkt_trace *)trace)->functions = functions;
	}
	at = (uint32_t)((address ^ use->row) * functions->seed >> 40) % FUNCTION_SLOTS;
	for (; functions->slot[at]; at = (at + 1) % FUNCTION_SLOTS) {
		function = &functions->function[functions->slot[at] - 1];
		if (function->address == address && function->code == use->row)
			return FKT_ROW_FUNCTION + functions->slot[at] - 1;
	}
	/* The last row is for all that come when the others are taken. */
	if (functions->count == FUNCTIONS_MAX - 1)
		return FKT_ROW_USER - 1;
	function = &functions->function[functions->count++];
	function->address = address;
	function->code = use->row;
	functions->slot[at] = functions->count;
	return FKT_ROW_FUNCTION + functions->count - 1;
}

void fkt_free_functions(struct fkt_trace *trace)
{
	free(trace->functions);
}

static void name_function(const struct fkt_trace *trace, uint32_t row, char name[FKT_NAME_BYTES])
{
	const struct fkt_functions *functions = trace->functions;
	struct fkt_symbol symbol;
	uint64_t address;

	if (!functions || row - FKT_ROW_FUNCTION >= functions->count) {
		strcpy(name, "other functions");
		return;
	}
	address = functions->function[row - FKT_ROW_FUNCTION].address;
	if (!fkt_symbol((struct fkt_trace *)trace, address, &symbol))
		snprintf(name, FKT_NAME_BYTES, "0x%" PRIx64, address);
	else if (symbol.offset)
		snprintf(name, FKT_NAME_BYTES, "%.60s+0x%" PRIx64, symbol.name, symbol.offset);
	else
		snprintf(name, FKT_NAME_BYTES, "%.79s", symbol.name);
}

void fkt_row_name(const struct fkt_trace *trace, uint32_t row, char name[FKT_NAME_BYTES])
{
	const char *known;

	if (row < FKT_ROW_IRQ) {
		fkt_code_name(trace, row, name);
	} else if (row < FKT_ROW_SOFTIRQ) {
		known = fkt_irq_name(trace, row - FKT_ROW_IRQ);
		snprintf(name, FKT_NAME_BYTES, "irq %u%s%.60s", row - FKT_ROW_IRQ, known ? " " : "",
			 known ?: "");
	} else if (row < FKT_ROW_FUNCTION) {
		known = fkt_softirq_name(row - FKT_ROW_SOFTIRQ);
		if (known)
			snprintf(name, FKT_NAME_BYTES, "softirq %s", known);
		else
			snprintf(name, FKT_NAME_BYTES, "softirq %u", row - FKT_ROW_SOFTIRQ);
	} else if (row < FKT_ROW_USER) {
		name_function(trace, row, name);
	} else {
		static const char *const names[] = {
			[FKT_ROW_USER - FKT_ROW_USER] = "user",
			[FKT_ROW_KERNEL - FKT_ROW_USER] = "kernel threads",
			[FKT_ROW_IDLE - FKT_ROW_USER] = "idle",
			[FKT_ROW_BEFORE - FKT_ROW_USER] = "begun before",
			[FKT_ROW_UNKNOWN - FKT_ROW_USER] = "unknown",
			[FKT_ROW_NONE - FKT_ROW_USER] = "-",
		};

		strcpy(name, names[row - FKT_ROW_USER]);
	}
	fkt_sanitize(name);
}

uint32_t fkt_row_code(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_functions *functions = trace->functions;

	if (row < FKT_ROW_IRQ)
		return row;
	if (row < FKT_ROW_SOFTIRQ)
		return FKT_CODE_IRQ_ENTRY;
	if (row < FKT_ROW_FUNCTION)
		return FKT_CODE_SOFTIRQ_ENTRY;
	if (row < FKT_ROW_USER && functions && row - FKT_ROW_FUNCTION < functions->count)
		return functions->function[row - FKT_ROW_FUNCTION].code;
	return FKT_SLOT_CODES;
}

const char *fkt_row_layer(const struct fkt_trace *trace, uint32_t row)
{
	uint32_t number = fkt_row_code(trace, row);
	const struct fkt_code_row *code = number < FKT_SLOT_CODES ? fkt_code_row(trace, number)
								  : NULL;

	return code ? code->layer : "";
}

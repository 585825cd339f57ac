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
	       code == FKT_CODE_EXEC || code == FKT_CODE_PAUSE || code == FKT_CODE_SETMASK ||
	       code == FKT_CODE_FILTER || code == FKT_CODE_BEGAN || code == FKT_CODE_COUNTERS;
}

/* The row of the code at the other end of a call, which is of the same kind of calls. */
static const struct fkt_code_row *entry_row(const struct fkt_trace *trace,
					    const struct fkt_code_row *row, uint32_t *code)
{
	const struct fkt_code_row *pair = fkt_code_row(trace, row->pair);
	uint32_t index = *code - row->first;

	if (!pair || pair->first != row->pair || index >= pair->count ||
	    pair->kind != (row->kind == FKT_KIND_EXIT ? FKT_KIND_ENTRY : FKT_KIND_CPU_ENTRY))
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
	use->everyones = row && fkt_is_everyones(row);
	if (is_special(number)) {
		use->kind = number == FKT_CODE_PAUSE ? FKT_USE_PAUSE : FKT_USE_SPECIAL;
		use->everyones = true;
		return;
	}
	if (!row || row->kind == FKT_KIND_POINT || fkt_is_uretprobe(trace, number))
		return;
	use->row = number;
	if (row->kind == FKT_KIND_EXIT || row->kind == FKT_KIND_CPU_EXIT) {
		entry = entry_row(trace, row, &use->row);
		if (!entry)
			return;
	}
	use->kind = kinds[row->kind];
	use->system = !strcmp(row->layer, "system");
	use->user = fkt_is_user(row);
	use->keys = fkt_code_keys(row);
	use->syscall = !strncmp(row->spec, "#sysnr", 6) || !strncmp(row->spec, "#compat", 7);
	if (use->row == FKT_CODE_IRQ_ENTRY) {
		use->row = FKT_ROW_IRQ;
		use->numbers = FKT_ROW_SOFTIRQ - FKT_ROW_IRQ;
	} else if (use->row == FKT_CODE_SOFTIRQ_ENTRY) {
		use->row = FKT_ROW_SOFTIRQ;
		use->numbers = FKT_ROW_FUNCTION - FKT_ROW_SOFTIRQ;
		use->task = fkt_is_preempt_rt(trace);
		if (use->task)
			use->kind = entry == row ? FKT_USE_ENTRY : FKT_USE_EXIT;
	} else if (fkt_function_field(trace, use->row) != FKT_NO_FUNCTION) {
		/* Only if both ends say which one it is. */
		use->function = fkt_function_field(trace, number);
	}
}

static uint32_t function_place(const struct fkt_functions *functions, uint64_t address,
			       uint32_t code)
{
	uint64_t h = (address ^ functions->seed) * 0x9e3779b97f4a7c15u;

	/* Of a product, what is above does not reach the bits below. */
	h = (h ^ h >> 32 ^ code) * functions->seed;
	return (uint32_t)((h ^ h >> 29) >> 16) % FUNCTION_SLOTS;
}

/* The row of a function, FKT_ROW_NONE where it has none as yet; @at: where it is, or would be. */
static uint32_t find_function(const struct fkt_functions *functions, uint64_t address,
			      uint32_t code, uint32_t *at)
{
	const struct function *function;
	uint32_t slot;

	*at = function_place(functions, address, code);
	/* Partner: the release in add_function(). */
	while ((slot = __atomic_load_n(&functions->slot[*at], __ATOMIC_ACQUIRE))) {
		function = &functions->function[slot - 1];
		if (function->address == address && function->code == code)
			return FKT_ROW_FUNCTION + slot - 1;
		*at = (*at + 1) % FUNCTION_SLOTS;
	}
	return FKT_ROW_NONE;
}

static uint32_t add_function(struct fkt_functions *functions, uint64_t address, uint32_t code)
{
	uint32_t at, row = find_function(functions, address, code, &at);
	struct function *function;

	/* Another thread has added it just now. */
	if (row != FKT_ROW_NONE)
		return row;
	if (functions->count == FUNCTIONS_MAX - 1)
		return FKT_ROW_USER - 1;
	function = &functions->function[functions->count];
	function->address = address;
	function->code = code;
	/* Partners: the acquires in count_functions() and in find_function(). */
	__atomic_store_n(&functions->count, functions->count + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&functions->slot[at], functions->count, __ATOMIC_RELEASE);
	return FKT_ROW_FUNCTION + functions->count - 1;
}

/* Made when they are first needed, and kept. NULL: no memory. With the trace's lock. */
static struct fkt_functions *need_functions(struct fkt_trace *trace)
{
	struct fkt_functions *functions = trace->functions;

	if (functions)
		return functions;
	functions = calloc(1, sizeof(*functions));
	if (!functions)
		return NULL;
	if (getrandom(&functions->seed, sizeof(functions->seed), 0) < 0)
		functions->seed = (uintptr_t)functions;
	functions->seed |= 1;
	/* Partner: the acquire in get_functions(). */
	__atomic_store_n(&trace->functions, functions, __ATOMIC_RELEASE);
	return functions;
}

static struct fkt_functions *get_functions(const struct fkt_trace *trace)
{
	/* Partner: the release in need_functions(). */
	return __atomic_load_n(&trace->functions, __ATOMIC_ACQUIRE);
}

static uint32_t count_functions(const struct fkt_functions *functions)
{
	/* Partner: the release in add_function(). */
	return functions ? __atomic_load_n(&functions->count, __ATOMIC_ACQUIRE) : 0;
}

uint32_t fkt_function_row(const struct fkt_trace *trace, const struct fkt_code_use *use,
			  const struct fkt_event *event)
{
	struct fkt_trace *shared = (struct fkt_trace *)trace;
	struct fkt_functions *functions = get_functions(trace);
	uint32_t at, row = FKT_ROW_NONE;
	uint64_t address;

	if (event->words * 8u < use->function + 8u)
		return use->row;
	address = fkt_arg64(event, use->function);
	if (functions)
		row = find_function(functions, address, use->row, &at);
	if (row != FKT_ROW_NONE)
		return row;
	/* The last row is for all that come when the others are taken. */
	if (count_functions(functions) == FUNCTIONS_MAX - 1)
		return FKT_ROW_USER - 1;
	pthread_mutex_lock(&shared->lock);
	functions = need_functions(shared);
	row = functions ? add_function(functions, address, use->row) : use->row;
	pthread_mutex_unlock(&shared->lock);
	return row;
}

void fkt_free_functions(struct fkt_trace *trace)
{
	free(trace->functions);
}

static void name_function(const struct fkt_trace *trace, uint32_t row, char name[FKT_NAME_BYTES])
{
	const struct fkt_functions *functions = get_functions(trace);
	struct fkt_symbol symbol;
	uint64_t address;

	if (row - FKT_ROW_FUNCTION >= count_functions(functions)) {
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
			[FKT_ROW_LEFT_OUT - FKT_ROW_USER] = "not recorded",
			[FKT_ROW_UNTRACED - FKT_ROW_USER] = "not traced",
			[FKT_ROW_NONE - FKT_ROW_USER] = "-",
		};

		strcpy(name, names[(row < FKT_ROW_NONE ? row : FKT_ROW_NONE) - FKT_ROW_USER]);
	}
	fkt_sanitize(name);
}

uint32_t fkt_row_code(const struct fkt_trace *trace, uint32_t row)
{
	const struct fkt_functions *functions = get_functions(trace);

	if (row < FKT_ROW_IRQ)
		return row;
	if (row < FKT_ROW_SOFTIRQ)
		return FKT_CODE_IRQ_ENTRY;
	if (row < FKT_ROW_FUNCTION)
		return FKT_CODE_SOFTIRQ_ENTRY;
	if (row < FKT_ROW_USER && row - FKT_ROW_FUNCTION < count_functions(functions))
		return functions->function[row - FKT_ROW_FUNCTION].code;
	return FKT_SLOT_CODES;
}

bool fkt_row_interrupts(const struct fkt_trace *trace, uint32_t row)
{
	if (row >= FKT_ROW_SOFTIRQ && row < FKT_ROW_FUNCTION)
		return !fkt_is_preempt_rt(trace);
	return (row >= FKT_ROW_IRQ && row < FKT_ROW_SOFTIRQ) ||
	       (row >= FKT_CODE_VECTOR_ENTRY && row < FKT_CODE_VECTOR_EXIT);
}

const char *fkt_row_layer(const struct fkt_trace *trace, uint32_t row)
{
	uint32_t number = fkt_row_code(trace, row);
	const struct fkt_code_row *code = number < FKT_SLOT_CODES ? fkt_code_row(trace, number)
								  : NULL;

	return code ? code->layer : "";
}

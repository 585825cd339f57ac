// SPDX-License-Identifier: GPL-2.0-only
/* The module finds ftrace's place in a function also while another tracer changes it. */
#include "test.h"

#include <endian.h>
#include <stdbool.h>

#include "arch/x86/ftrace_code.h"

#define PLACE_BYTES 5

static const uint8_t nop[PLACE_BYTES] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

static bool is_ftrace_code(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return fkt_is_ftrace_code(le32toh(word));
}

/* As the kernel's text_poke_bp() does it: a breakpoint, the rest, then the first byte. */
static void change(uint8_t *code, const uint8_t *to)
{
	assert_true(is_ftrace_code(code));
	code[0] = 0xcc;
	assert_true(is_ftrace_code(code));
	/* The rest need not come at once. */
	for (int i = 1; i < PLACE_BYTES; i++) {
		code[i] = to[i];
		assert_true(is_ftrace_code(code));
	}
	code[0] = to[0];
	assert_true(is_ftrace_code(code));
}

static void test_changed(void **state)
{
	uint8_t code[PLACE_BYTES];

	(void)state;
	memcpy(code, nop, sizeof(code));
	for (uint32_t n = 0; n < 4096; n++) {
		uint32_t distance = htole32(n * 2654435761u);
		uint8_t call[PLACE_BYTES] = { 0xe8 };

		memcpy(call + 1, &distance, sizeof(distance));
		change(code, call);
		/* To another trampoline, or to nobody. */
		if (n % 3)
			change(code, nop);
	}
}

/* What stands before ftrace's place, or is none. */
static void test_others(void **state)
{
	static const uint8_t others[][PLACE_BYTES] = {
		{ 0xf3, 0x0f, 0x1e, 0xfa, 0x0f }, /* endbr64 */
		{ 0x66, 0x0f, 0x1f, 0x00, 0x0f }, /* what the kernel writes over one */
		{ 0x90, 0x90, 0x90, 0x90, 0x90 }, /* room before a function */
		{ 0x55, 0x48, 0x89, 0xe5, 0x53 }, /* push %rbp … */
		{ 0x0f, 0x1f, 0x80, 0x00, 0x00 }, /* a longer no-operation */
		{ 0x0f, 0x1f, 0x40, 0x00, 0x55 }, /* a shorter one */
		{ 0xe9, 0x00, 0x00, 0x00, 0x00 }, /* a jump */
		{ 0xff, 0x15, 0x00, 0x00, 0x00 }, /* a call through memory */
		{ 0x1f, 0xe8, 0xcc, 0xe8, 0xcc },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (is_ftrace_code(others[i]))
			fail_msg("line %zu is taken for ftrace's place", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

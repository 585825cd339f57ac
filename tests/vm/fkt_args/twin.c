// SPDX-License-Identifier: GPL-2.0-only
/* The same name as in main.c, of a function with arguments on the stack. */
#include "args.h"

static PLAIN u64 args_same_name(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	const u64 got[] = { a, b, c, d, e, f, g, h };

	return args_mix(got, sizeof(got));
}

u64 args_twin(void)
{
	return args_same_name(1, 2, 3, 4, 5, 6, 7, 8);
}

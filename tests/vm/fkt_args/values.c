// SPDX-License-Identifier: GPL-2.0-only
/* Functions with 0 to 14 arguments, with structures by value, and with results of all kinds. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "args.h"

/* --- numbers ---------------------------------------------------------------------------------- */

#define ARGS(N, parameters, ...)                                                                   \
	PLAIN u64 args_##N parameters;                                                             \
	PLAIN u64 args_##N parameters                                                              \
	{                                                                                          \
		const u64 got[] = { N, ##__VA_ARGS__ };                                            \
                                                                                                   \
		return args_mix(got, sizeof(got));                                                 \
	}

ARGS(0, (void))
ARGS(1, (u64 a), a)
ARGS(2, (u64 a, u64 b), a, b)
ARGS(3, (u64 a, u64 b, u64 c), a, b, c)
ARGS(4, (u64 a, u64 b, u64 c, u64 d), a, b, c, d)
ARGS(5, (u64 a, u64 b, u64 c, u64 d, u64 e), a, b, c, d, e)
ARGS(6, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f), a, b, c, d, e, f)
ARGS(7, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g), a, b, c, d, e, f, g)
ARGS(8, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h), a, b, c, d, e, f, g, h)
ARGS(9, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i), a, b, c, d, e, f, g, h, i)
ARGS(10, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j), a, b, c, d, e, f,
     g, h, i, j)
ARGS(11, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k), a, b, c, d,
     e, f, g, h, i, j, k)
ARGS(12, (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l), a, b,
     c, d, e, f, g, h, i, j, k, l)
ARGS(13,
     (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l, u64 m), a,
     b, c, d, e, f, g, h, i, j, k, l, m)
ARGS(14,
     (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l, u64 m,
      u64 n),
     a, b, c, d, e, f, g, h, i, j, k, l, m, n)
/* One more than the trampoline copies. */
ARGS(15,
     (u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l, u64 m,
      u64 n, u64 o),
     a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)

/* Of each only the lowest bytes count; those above are of somebody else. */
PLAIN u64 args_small(u8 a, s8 b, u16 c, s16 d, u32 e, s32 f, u8 g, s16 h, u32 i, bool j);
PLAIN u64 args_small(u8 a, s8 b, u16 c, s16 d, u32 e, s32 f, u8 g, s16 h, u32 i, bool j)
{
	const s64 got[] = { a, b, c, d, e, f, g, h, i, j };

	return args_mix(got, sizeof(got));
}

PLAIN u64 args_wide(u64 a, unsigned __int128 b, u64 c, u64 d, unsigned __int128 e, u64 f, u64 g,
		    unsigned __int128 h);
PLAIN u64 args_wide(u64 a, unsigned __int128 b, u64 c, u64 d, unsigned __int128 e, u64 f, u64 g,
		    unsigned __int128 h)
{
	const unsigned __int128 got[] = { a, b, c, d, e, f, g, h };

	return args_mix(got, sizeof(got));
}

/* The compiler looks for the arguments in place. */
PLAIN u64 args_variadic(u64 count, ...);
PLAIN u64 args_variadic(u64 count, ...)
{
	u64 sum = count;
	va_list ap;

	va_start(ap, count);
	while (count--)
		sum = sum * 31 + va_arg(ap, u64);
	va_end(ap);
	return sum;
}

/* --- tail calls ------------------------------------------------------------------------------- */

/* To fewer arguments, to as many, whose places are overwritten, and on from there. */
PLAIN u64 args_tail_few(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h);
PLAIN u64 args_tail_few(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	return args_6(h, g, c, d, e, f + a + b);
}

PLAIN u64 args_tail_same(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h);
PLAIN u64 args_tail_same(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	return args_8(h, g, f, e, d, c, b, a);
}

PLAIN u64 args_tail_twice(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i);
PLAIN u64 args_tail_twice(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i)
{
	return args_tail_same(i, h, g, f, e, d, c, b + a);
}

/* Not the last thing that they do. */
PLAIN u64 args_middle(u64 a, u64 b);
PLAIN u64 args_middle(u64 a, u64 b)
{
	return args_tail_same(a, b, a, b, a, b, a, b) + args_tail_few(b, a, b, a, b, a, b, a);
}

u64 args_values(void)
{
	const u64 got[] = {
		args_0(),
		args_1(101),
		args_2(201, 202),
		args_3(301, 302, 303),
		args_4(401, 402, 403, 404),
		args_5(501, 502, 503, 504, 505),
		args_6(601, 602, 603, 604, 605, 606),
		args_7(701, 702, 703, 704, 705, 706, 707),
		args_8(801, 802, 803, 804, 805, 806, 807, 808),
		args_9(901, 902, 903, 904, 905, 906, 907, 908, 909),
		args_10(1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010),
		args_11(1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108, 1109, 1110, 1111),
		args_12(1201, 1202, 1203, 1204, 1205, 1206, 1207, 1208, 1209, 1210, 1211, 1212),
		args_13(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13),
		args_14(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14),
		args_15(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
		args_small(200, -2, 60000, -4, 4000000000u, -6, 207, -8, 3000000009u, true),
		args_wide(1, ((unsigned __int128)2 << 64) + 3, 4, 5,
			  ((unsigned __int128)6 << 64) + 7, 8, 9,
			  ((unsigned __int128)10 << 64) + 11),
		args_variadic(0),
		args_variadic(9, 1ull, 2ull, 3ull, 4ull, 5ull, 6ull, 7ull, 8ull, 9ull),
		args_tail_few(1, 2, 3, 4, 5, 6, 7, 8),
		args_tail_same(11, 12, 13, 14, 15, 16, 17, 18),
		args_tail_twice(21, 22, 23, 24, 25, 26, 27, 28, 29),
		args_middle(31, 32),
	};

	return args_mix(got, sizeof(got));
}

/* --- structures ------------------------------------------------------------------------------- */

/* clang-format off */
#define SIZES(X)                                                                                   \
	X(1)                                                                                       \
	X(2)                                                                                       \
	X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18)   \
	X(19) X(20) X(21) X(22) X(23) X(24)
/* clang-format on */

/*
 * Alone, as a result, which may be in memory; behind five numbers, so that those of two words are
 * on the stack and what follows is not; twice on the stack; and a result of such a one.
 */
#define STRUCTURE(N)                                                                               \
	struct bytes##N {                                                                          \
		u8 byte[N];                                                                        \
	};                                                                                         \
	PLAIN u64 args_take##N(struct bytes##N a);                                                 \
	PLAIN u64 args_take##N(struct bytes##N a)                                                  \
	{                                                                                          \
		return args_mix(&a, sizeof(a));                                                    \
	}                                                                                          \
	PLAIN struct bytes##N args_give##N(u8 first);                                              \
	PLAIN struct bytes##N args_give##N(u8 first) {                                             \
		struct bytes##N a;                                                                 \
		int i;                                                                             \
                                                                                                   \
		for (i = 0; i < N; i++)                                                            \
			a.byte[i] = (u8)(first + 7 * i);                                           \
		return a;                                                                          \
	} PLAIN u64 args_behind##N(u64 a, u64 b, u64 c, u64 d, u64 e, struct bytes##N f, u64 g,    \
				   u64 h);                                                         \
	PLAIN u64 args_behind##N(u64 a, u64 b, u64 c, u64 d, u64 e, struct bytes##N f, u64 g,      \
				 u64 h)                                                            \
	{                                                                                          \
		const u64 got[] = { a, b, c, d, e, args_mix(&f, sizeof(f)), g, h };                \
                                                                                                   \
		return args_mix(got, sizeof(got));                                                 \
	}                                                                                          \
	PLAIN struct bytes##N args_both##N(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f,               \
					   struct bytes##N g, u8 h, struct bytes##N i);            \
	PLAIN struct bytes##N args_both##N(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f,               \
					   struct bytes##N g, u8 h, struct bytes##N i) {           \
		const u64 got[] = { a, b, c, d, e, f, h, args_mix(&i, sizeof(i)) };                \
		int n;                                                                             \
                                                                                                   \
		for (n = 0; n < N; n++)                                                            \
			g.byte[n] += args_mix(got, sizeof(got)) >> n % 8;                          \
		return g;                                                                          \
	}

SIZES(STRUCTURE)

#define CALL(N)                                                                                    \
	{                                                                                          \
		struct bytes##N one = args_give##N(N), two = args_give##N(2 * N);                  \
		u64 got[4] = { args_take##N(one), args_behind##N(1, 2, 3, 4, 5, two, 6, 7) };      \
                                                                                                   \
		one = args_both##N(1, 2, 3, 4, 5, 6, two, 7, one);                                 \
		got[2] = args_mix(&one, sizeof(one));                                              \
		got[3] = sum;                                                                      \
		sum = args_mix(got, sizeof(got));                                                  \
	}

/* Packed, so that it is on the stack; of several levels; aligned by an attribute. */
struct tight {
	u8 a;
	u64 b;
} __packed;

struct nested {
	struct {
		u32 a;
	} a;
	union {
		u32 b;
		u8 c;
	};
	void *d;
};

struct aligned16 {
	u64 a;
	u64 b;
} __aligned(16);

struct aligned32 {
	u64 a;
} __aligned(32);

PLAIN u64 args_tight(u64 a, struct tight b, u64 c, struct tight d);
PLAIN u64 args_tight(u64 a, struct tight b, u64 c, struct tight d)
{
	const u64 got[] = { a, b.a, b.b, c, d.a, d.b };

	return args_mix(got, sizeof(got));
}

PLAIN u64 args_nested(u64 a, struct nested b, u64 c, struct nested d, struct nested e);
PLAIN u64 args_nested(u64 a, struct nested b, u64 c, struct nested d, struct nested e)
{
	const u64 got[] = { a, args_mix(&b, sizeof(b)), c, args_mix(&d, sizeof(d)),
			    args_mix(&e, sizeof(e)) };

	return args_mix(got, sizeof(got));
}

/* Also where they are. */
PLAIN u64 args_aligned16(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, struct aligned16 h,
			 u64 i);
PLAIN u64 args_aligned16(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, struct aligned16 h, u64 i)
{
	unsigned long at = (unsigned long)&h;
	u64 got[] = { a, b, c, d, e, f, g, h.a, h.b, i, 0 };

	OPTIMIZER_HIDE_VAR(at);
	got[10] = at % sizeof(h);
	return args_mix(got, sizeof(got));
}

PLAIN u64 args_aligned32(u64 a, struct aligned32 b, u64 c);
PLAIN u64 args_aligned32(u64 a, struct aligned32 b, u64 c)
{
	unsigned long at = (unsigned long)&b;
	u64 got[] = { a, b.a, c, 0 };

	OPTIMIZER_HIDE_VAR(at);
	got[3] = at % sizeof(b);
	return args_mix(got, sizeof(got));
}

u64 args_structures(void)
{
	const struct nested nested = { { 11 }, { 12 }, (void *)13 };
	const struct aligned16 wide = { 14, 15 };
	const struct aligned32 wider = { 16 };
	const struct tight tight = { 17, 18 };
	u64 sum = 0;

	SIZES(CALL)
	{
		u64 got[] = {
			sum,
			args_tight(1, tight, 2, tight),
			args_nested(1, nested, 2, nested, nested),
			args_aligned16(1, 2, 3, 4, 5, 6, 7, wide, 8),
			args_aligned32(1, wider, 2),
		};

		return args_mix(got, sizeof(got));
	}
}

/* --- results ---------------------------------------------------------------------------------- */

#define RESULT(type)                                                                               \
	PLAIN type args_ret_##type(u64 a);                                                         \
	PLAIN type args_ret_##type(u64 a)                                                          \
	{                                                                                          \
		return (type)(0x8182838485868788 + a);                                             \
	}

typedef unsigned __int128 u128_t;

RESULT(u8)
RESULT(s8)
RESULT(u16)
RESULT(s16)
RESULT(u32)
RESULT(s32)
RESULT(u64)
RESULT(bool)

PLAIN u128_t args_ret_u128(u64 a);
PLAIN u128_t args_ret_u128(u64 a)
{
	return (u128_t)a * 0x8182838485868788 * 0x9192939495969798;
}

PLAIN void args_ret_void(u64 *a);
PLAIN void args_ret_void(u64 *a)
{
	*a += 41;
}

/* Where the result is to be takes the first register, so that there are seven arguments. */
PLAIN struct bytes24 args_ret_memory(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
PLAIN struct bytes24 args_ret_memory(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	const u64 got[] = { a * b, c * d, e * f };
	struct bytes24 result;

	memcpy(&result, got, sizeof(result));
	return result;
}

u64 args_results(void)
{
	struct bytes24 memory = args_ret_memory(2, 3, 5, 7, 11, 13);
	u128_t wide = args_ret_u128(43);
	u64 got[] = {
		args_ret_u8(1),
		(u64)args_ret_s8(2),
		args_ret_u16(3),
		(u64)args_ret_s16(4),
		args_ret_u32(5),
		(u64)args_ret_s32(6),
		args_ret_u64(7),
		args_ret_bool(8),
		(u64)wide,
		(u64)(wide >> 64),
		args_mix(&memory, sizeof(memory)),
		1,
	};

	args_ret_void(&got[11]);
	return args_mix(got, sizeof(got));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the arguments of functions are, as BTF describes them: in which registers, how many words
 * on the stack.
 */
#include "test.h"

#include <bpf/btf.h>
#include <stdio.h>

#include "../../tools/fkt_record/signature.h"

/* Types by what C calls them. */
static struct types {
	struct btf *btf;
	int u8, s8, u16, u32, s32, u64, wide, real, real16;
	int pointer, callback, bool8, enum32, alias;
	int pair;      /* struct { u64 a, b; } */
	int small;     /* struct { u32 a; } */
	int twelve;    /* struct { u64 a; u32 b; }, packed, in 12 bytes */
	int odd;       /* struct { u8 a[5]; } */
	int packed;    /* struct { u8 a; u64 b; }, packed, in 9 bytes */
	int three;     /* struct { u64 a, b, c; } */
	int line;      /* struct { u64 a[8]; } */
	int four;      /* struct { u64 a[4]; } */
	int nested;    /* struct { struct small a; union { u32 b; u8 c; } d; struct pair *e; } */
	int bits;      /* struct { u32 a : 3, b : 29; u64 c : 40; } */
	int empty;     /* struct { } */
	int hole;      /* struct { u64 a; }, aligned(16) */
	int real_pair; /* struct { double a; u64 b; } */
	int flexible;  /* struct { u64 a; u64 b[]; } */
	int wide_pair; /* struct { __int128 a; } */
	int vector;
	int loop; /* a typedef of itself */
} t;

static int integer(const char *name, size_t bytes, int encoding)
{
	return btf__add_int(t.btf, name, bytes, encoding);
}

/* A structure of members of the same type, one behind the other. */
static int record(uint32_t bytes, int member, uint32_t members, uint32_t step_bits)
{
	static const char *const names[] = { "a", "b", "c" };
	int id = btf__add_struct(t.btf, NULL, bytes);

	for (uint32_t i = 0; i < members; i++)
		assert_false(btf__add_field(t.btf, names[i], member, i * step_bits, 0));
	return id;
}

static int record2(uint32_t bytes, int first, int second, uint32_t at_bit)
{
	int id = record(bytes, first, 1, 0);

	assert_false(btf__add_field(t.btf, "z", second, at_bit, 0));
	return id;
}

static int setup(void **state)
{
	int any;

	(void)state;
	t.btf = btf__new_empty();
	assert_non_null(t.btf);
	t.u8 = integer("u8", 1, 0);
	t.s8 = integer("s8", 1, BTF_INT_SIGNED);
	t.u16 = integer("u16", 2, 0);
	t.u32 = integer("u32", 4, 0);
	t.s32 = integer("s32", 4, BTF_INT_SIGNED);
	t.u64 = integer("u64", 8, 0);
	t.wide = integer("__int128", 16, BTF_INT_SIGNED);
	t.bool8 = integer("bool", 1, BTF_INT_BOOL);
	t.real = btf__add_float(t.btf, "double", 8);
	t.real16 = btf__add_float(t.btf, "long double", 16);
	t.pointer = btf__add_ptr(t.btf, 0);
	any = btf__add_func_proto(t.btf, 0);
	t.callback = btf__add_ptr(t.btf, any);
	t.enum32 = btf__add_enum(t.btf, "e", 4);
	assert_false(btf__add_enum_value(t.btf, "OFF", 0));
	assert_false(btf__add_enum_value(t.btf, "BOTH", 3));
	t.alias = btf__add_const(t.btf, btf__add_typedef(t.btf, "alias", t.u16));

	t.pair = record(16, t.u64, 2, 64);
	t.small = record(4, t.u32, 1, 0);
	t.twelve = record2(12, t.u64, t.u32, 64);
	t.odd = record(5, btf__add_array(t.btf, t.u32, t.u8, 5), 1, 0);
	t.packed = record2(9, t.u8, t.u64, 8);
	t.three = record(24, t.u64, 3, 64);
	t.line = record(64, btf__add_array(t.btf, t.u32, t.u64, 8), 1, 0);
	t.four = record(32, btf__add_array(t.btf, t.u32, t.u64, 4), 1, 0);
	any = btf__add_union(t.btf, NULL, 4);
	assert_false(btf__add_field(t.btf, "b", t.u32, 0, 0));
	assert_false(btf__add_field(t.btf, "c", t.u8, 0, 0));
	t.nested = record2(16, t.small, any, 32);
	assert_false(btf__add_field(t.btf, "e", t.pointer, 64, 0));
	t.bits = btf__add_struct(t.btf, NULL, 16);
	assert_false(btf__add_field(t.btf, "a", t.u32, 0, 3));
	assert_false(btf__add_field(t.btf, "b", t.u32, 3, 29));
	assert_false(btf__add_field(t.btf, "c", t.u64, 64, 40));
	t.empty = btf__add_struct(t.btf, NULL, 0);
	t.hole = record(16, t.u64, 1, 0);
	t.real_pair = record2(16, t.real, t.u64, 64);
	t.flexible = record2(8, t.u64, btf__add_array(t.btf, t.u32, t.u64, 0), 64);
	t.wide_pair = record(16, t.wide, 1, 0);
	t.vector = btf__add_array(t.btf, t.u32, t.u64, 2);
	/* The next type has the number that the loop's type will have. */
	t.loop = btf__add_typedef(t.btf, "loop", (int)btf__type_cnt(t.btf));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	btf__free(t.btf);
	return 0;
}

#define END (-1)

/* The function that returns @result and takes @types, up to END, named a, b and so on. */
static struct signature signature(int result, const int *types)
{
	int id = btf__add_func_proto(t.btf, result);
	struct signature signature;

	for (int i = 0; types[i] != END; i++) {
		char name[] = { (char)('a' + i), '\0' };

		assert_false(btf__add_func_param(t.btf, types[i] ? name : NULL, types[i]));
	}
	signature_read(t.btf, (uint32_t)id, &signature);
	assert_true(signature.known);
	return signature;
}

/* "a:u8 b:x64 +2 -> ret": what is in the registers, the words on the stack and the result. */
static void describe(const struct signature *signature, char *text, size_t bytes)
{
	size_t used = 0;

	for (uint32_t i = 0; i < signature->words; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s:%s ",
					 signature->word[i].name, signature->word[i].type);
	if (signature->unfit)
		snprintf(text + used, bytes - used, "%s", signature->unfit);
	else
		snprintf(text + used, bytes - used, "+%u -> %s %u", signature->copy_words,
			 signature->ret, signature->ret_bytes);
}

static void expect_(const struct signature *signature, const char *expected, int line)
{
	char text[512];

	describe(signature, text, sizeof(text));
	if (strcmp(text, expected))
		fail_msg("line %d: '%s', not '%s'", line, text, expected);
}

#define expect(expected, result, ...)                                                              \
	do {                                                                                       \
		struct signature found_ = signature(result, (const int[]){ __VA_ARGS__, END });    \
		expect_(&found_, expected, __LINE__);                                              \
	} while (0)

#define SIX	   t.u64, t.u64, t.u64, t.u64, t.u64, t.u64
#define FIVE	   t.u64, t.u64, t.u64, t.u64, t.u64
#define FIVE_WORDS "a:arg b:arg c:arg d:arg e:arg "
#define SIX_WORDS  FIVE_WORDS "f:arg "

static void test_numbers(void **state)
{
	(void)state;
	expect("a:u8 b:s8 c:u16 d:u32 e:s32 f:arg +0 -> void 0", 0, t.u8, t.s8, t.alias, t.u32,
	       t.s32, t.u64);
	expect("a:x64 b:sym c:u8 d:u32 +0 -> ret 8", t.pointer, t.pointer, t.callback, t.bool8,
	       t.enum32);
	expect(SIX_WORDS "+1 -> retu8 1", t.bool8, SIX, t.u8);
	expect(SIX_WORDS "+8 -> rets32 4", t.s32, SIX, t.u8, t.u8, SIX);
	expect(SIX_WORDS "it has too many arguments on the stack", 0, SIX, t.u8, t.u8, t.u8, SIX);
	/* Both halves in registers, or both on the stack, at a multiple of 16. */
	expect("a:arg b:x64 b:x64 c:arg +0 -> ret 8", t.wide, t.u64, t.wide, t.u64);
	expect(FIVE_WORDS "g:arg +2 -> void 0", 0, FIVE, t.wide, t.u64);
	expect(SIX_WORDS "+4 -> void 0", 0, SIX, t.u64, t.wide);
	expect(SIX_WORDS "+5 -> void 0", 0, SIX, t.u64, t.wide, t.u8);
}

static void test_structures(void **state)
{
	(void)state;
	expect("a:x64 a:x64 b:arg +0 -> ret 8", t.pair, t.pair, t.u64);
	expect("a:x32 b:x64 c:x64 c:x32 +0 -> retu32 4", t.small, t.small, t.odd, t.twelve);
	expect("a:x64 a:x64 b:x64 b:x64 c:x64 +0 -> void 0", 0, t.nested, t.bits, t.flexible);
	/* On the stack as a whole; what follows takes the register that is left. */
	expect(FIVE_WORDS "g:arg +2 -> void 0", 0, FIVE, t.pair, t.u64);
	expect(FIVE_WORDS "g:arg +3 -> void 0", 0, FIVE, t.pair, t.u64, t.u64);
	expect(FIVE_WORDS "g:x32 +2 -> void 0", 0, FIVE, t.twelve, t.small);
	/* A pair may be one that asks for 16 bytes. */
	expect(SIX_WORDS "+4 -> void 0", 0, SIX, t.u64, t.pair);
	expect(SIX_WORDS "+3 -> void 0", 0, SIX, t.u64, t.twelve);
	/* Never in registers. */
	expect("b:arg +3 -> void 0", 0, t.three, t.u64);
	expect("a:arg c:arg +2 -> void 0", 0, t.u64, t.packed, t.u64);
	expect("it has a structure on the stack that may have to stand at a multiple of 32 bytes",
	       0, t.four);
	expect("it has a structure on the stack that may have to stand at a multiple of 32 bytes",
	       0, t.line);
	expect("+6 -> void 0", 0, t.three, t.three);
	expect("it has too many arguments on the stack", 0, t.three, t.three, t.three);
	expect("b:arg +0 -> void 0", 0, t.empty, t.u64);
	expect("a:x64 a:x64 b:x64 b:x64 c:x64 c:x64 +0 -> void 0", 0, t.wide_pair, t.wide_pair,
	       t.pair);
	expect("a:arg b:x64 b:x64 c:x64 c:x64 e:arg +4 -> void 0", 0, t.u64, t.pair, t.pair,
	       t.wide_pair, t.u64, t.pair);
}

static void test_results(void **state)
{
	(void)state;
	/* In memory: where, is told by one argument more. */
	expect("result:x64 a:arg +0 -> ret 8", t.three, t.u64);
	expect("result:x64 " FIVE_WORDS "+1 -> ret 8", t.three, SIX);
	expect("result:x64 " FIVE_WORDS "+1 -> ret 8", t.packed, SIX);
	expect(SIX_WORDS "+0 -> ret 8", t.pair, SIX);
	expect("+0 -> ret 8", t.odd, END);
	expect("+0 -> void 0", t.empty, END);
	expect("a:arg +0 -> void 0", t.real, t.u64);
	expect("it passes floating-point numbers", t.real_pair, t.u64);
}

static void test_unfit(void **state)
{
	(void)state;
	expect("a:arg it takes a varying number of arguments", 0, t.u64, 0);
	expect("a:arg it passes floating-point numbers", 0, t.u64, t.real);
	expect("it passes floating-point numbers", 0, t.real16);
	expect("it passes floating-point numbers", 0, t.real_pair);
	expect("it passes a structure with a hole", 0, t.hole);
	expect("it passes vectors", 0, t.vector);
	expect("BTF's description of it is broken", 0, t.loop);
	expect("BTF's description of it is broken", 0, 1 << 20);
}

static void test_merge(void **state)
{
	struct signature one = signature(t.s32, (const int[]){ SIX, END });
	struct signature other = signature(t.s32, (const int[]){ t.u64, t.u32, FIVE, t.u64, END });

	(void)state;
	/* What both have, and as many words on the stack as either has. */
	signature_merge(&one, &other);
	expect_(&one, "a:arg b:x64 c:arg d:arg e:arg f:arg +2 -> rets32 4", __LINE__);
	assert_int_equal(one.entries, 2);
	other = signature(t.u64, (const int[]){ t.u64, t.three, t.u64, END });
	signature_merge(&one, &other);
	expect_(&one, "a:arg arg1:x64 +3 -> void 0", __LINE__);
	assert_int_equal(one.entries, 3);
	other = signature(t.u64, (const int[]){ t.u64, 0, END });
	signature_merge(&one, &other);
	expect_(&one, "a:arg it takes a varying number of arguments", __LINE__);
	/* The other way round too. */
	signature_merge(&other, &one);
	assert_string_equal(other.unfit, "it takes a varying number of arguments");
}

/* An enum has its names, up to where nobody knows any more which enum it is. */
static void test_enum(void **state)
{
	struct signature one = signature(0, (const int[]){ t.enum32, t.u32, END });
	struct signature other = signature(0, (const int[]){ t.enum32, t.enum32, END });
	char spec[ENUM_NAMES_BYTES], name[64];
	int large;

	(void)state;
	assert_non_null(one.word[0].enumeration);
	assert_null(one.word[1].enumeration);
	assert_true(signature_enum(one.word[0].btf, one.word[0].enumeration, 4, spec));
	assert_string_equal(spec, "enum32{OFF=0,BOTH=3}");
	signature_merge(&one, &other);
	assert_non_null(one.word[0].enumeration);
	assert_null(one.word[1].enumeration);
	/* One without names, and one with more than there is room for. */
	large = btf__add_enum(t.btf, "large", 4);
	assert_false(signature_enum(t.btf, btf__type_by_id(t.btf, (uint32_t)large), 4, spec));
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "LARGE_%u", i);
		assert_false(btf__add_enum_value(t.btf, name, (int)i));
	}
	assert_false(signature_enum(t.btf, btf__type_by_id(t.btf, (uint32_t)large), 4, spec));
}

static void test_broken(void **state)
{
	struct signature signature;

	(void)state;
	signature_read(t.btf, (uint32_t)t.u64, &signature);
	assert_false(signature.known);
	signature_read(t.btf, 1u << 30, &signature);
	assert_false(signature.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_structures),
		cmocka_unit_test(test_results), cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_merge),	cmocka_unit_test(test_broken),
		cmocka_unit_test(test_enum),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

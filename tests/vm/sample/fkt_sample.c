// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user's module with probes of its own, for tests/vm/probes.sh and tests/bench/40-probes.sh.
 *
 *	echo N >/sys/module/fkt_sample/parameters/run	calls sample_put() N times
 *	insmod fkt_sample.ko bad=N			registers a table that is wrong: it fails
 *	echo 1 >/sys/module/fkt_sample/parameters/forget	unregisters the codes, and goes on
 *	cat /sys/module/fkt_sample/parameters/measure	ns a call of a function with 0, 2 and 5
 *							arguments recorded, beyond one that records
 *							nothing
 */
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <fkt/probe.h>

enum {
	PUT,
	PUT_EXIT,
	NONE,
	ONE,
	THREE,
	FOUR,
	FIVE,
	IN_IRQ,
};

static const struct fkt_probe_code codes[] = {
	[PUT] = { "sample_put", "number:u32 flags:x32", FKT_KIND_ENTRY },
	[PUT_EXIT] = { "sample_put_exit", "ret:ret", FKT_KIND_EXIT },
	[NONE] = { "sample_none" },
	[ONE] = { "sample_one", "small:s8" },
	[THREE] = { "sample_three", "a:u8 b:s16 c:s64" },
	[FOUR] = { "sample_four", "pid:pid at:sym in:func big:u64" },
	[FIVE] = { "sample_five", "a:u64 b:u64 c:u64 d:u64 e:u64", FKT_KIND_POINT, FKT_KEY_BLOCK },
	[IN_IRQ] = { "sample_irq", "irqs:u32" },
};
static int base = -ENOENT;

/* Each a table with one fault, or two codes of which the second one has it. */
static const struct fkt_probe_code bad_codes[][2] = {
	{ { NULL } },
	{ { "with space" } },
	{ { "" } },
	{ { "a_name_of_more_than_forty-seven_characters_in_all" } },
	{ { "bad", "no_type" } },
	{ { "bad", "field:u31" } },
	{ { "bad", "text:str" } },
	{ { "bad", "a:u8 b:u8 c:u8 d:u8 e:u8 f:u8" } },
	{ { "bad", "a:u8\nb:u8" } },
	{ { "bad", NULL, 77 } },
	{ { "bad", NULL, FKT_KIND_POINT, 3 } },
	{ { "bad", NULL, FKT_KIND_ENTRY }, { "bad_too" } },
	{ { "bad" }, { "bad_exit", NULL, FKT_KIND_EXIT } },
	{ { "bad", NULL, FKT_KIND_ENTRY }, { "bad_exit", NULL, FKT_KIND_CPU_EXIT } },
	{ { "bad" }, { "bad" } },
	{ { "irq" }, { "bad" } },
};

static int bad = -1;
module_param(bad, int, 0400);

static void sample_in_irq(struct irq_work *work)
{
	FKT_PROBE1(FKT_KEY_MODULES, base + IN_IRQ, hardirq_count() >> HARDIRQ_SHIFT);
}

static struct irq_work irq = IRQ_WORK_INIT_HARD(sample_in_irq);

/* For the test to look at: what FKT_PROBE2 costs while it is off. */
noinline void sample_probe(void *a, int b);
noinline void sample_probe(void *a, int b)
{
	FKT_PROBE2(FKT_KEY_MODULES, base + PUT, a, b);
}

static noinline long sample_put(u32 number, u32 flags)
{
	int ret = number & 1 ? -EAGAIN : 0;

	FKT_PROBE2(FKT_KEY_MODULES, base + PUT, number, flags);
	FKT_PROBE0(FKT_KEY_MODULES, base + NONE);
	FKT_PROBE1(FKT_KEY_MODULES, base + ONE, -3);
	FKT_PROBE3(FKT_KEY_MODULES, base + THREE, 200, -300, S64_MIN);
	FKT_PROBE4(FKT_KEY_MODULES, base + FOUR, current->pid, sample_probe, sample_probe, U64_MAX);
	FKT_PROBE5(FKT_KEY_BLOCK, base + FIVE, 1, 2, 3, 4, 5);
	FKT_PROBE1(FKT_KEY_MODULES, base + PUT_EXIT, ret);
	return ret;
}

static int run_set(const char *value, const struct kernel_param *param)
{
	u32 i, count;
	int ret = kstrtou32(value, 0, &count);

	if (ret)
		return ret;
	for (i = 0; i < count; i++)
		sample_put(i, 0xf00d);
	irq_work_queue(&irq);
	irq_work_sync(&irq);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);

static noinline void sample_nothing(void *a, int b)
{
	barrier();
}

static noinline void sample_probe0(void *a, int b)
{
	FKT_PROBE0(FKT_KEY_MODULES, base + NONE);
}

static noinline void sample_probe5(void *a, int b)
{
	FKT_PROBE5(FKT_KEY_MODULES, base + FIVE, a, b, a, b, a);
}

#define ROUNDS 20000

/* Tenths of ns a call. A call through a pointer, so that nothing is known of what is called. */
static u32 sample_time(void (*call)(void *a, int b))
{
	u64 begin;
	int i;

	call(NULL, 0);
	begin = ktime_get_ns();
	for (i = 0; i < ROUNDS; i++) {
		OPTIMIZER_HIDE_VAR(call);
		call(NULL, i);
	}
	return div_u64((ktime_get_ns() - begin) * 10, ROUNDS);
}

static int measure_get(char *text, const struct kernel_param *param)
{
	void (*const calls[])(void *a, int b) = { sample_probe0, sample_probe, sample_probe5 };
	int i, added, length = 0;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		added = sample_time(calls[i]) - sample_time(sample_nothing);
		length += sysfs_emit_at(text, length, "%d.%d\n", added / 10, abs(added % 10));
	}
	return length;
}

static const struct kernel_param_ops measure_ops = { .get = measure_get };
module_param_cb(measure, &measure_ops, NULL, 0400);

static int forget_set(const char *value, const struct kernel_param *param)
{
	fkt_unregister_codes(base);
	return 0;
}

static const struct kernel_param_ops forget_ops = { .set = forget_set };
module_param_cb(forget, &forget_ops, NULL, 0200);

static int __init sample_init(void)
{
	if (bad >= 0 && bad < ARRAY_SIZE(bad_codes))
		base = fkt_register_codes(bad_codes[bad], bad_codes[bad][1].name ? 2 : 1);
	else if (bad == ARRAY_SIZE(bad_codes))
		base = fkt_register_codes(codes, FKT_REGISTER_MAX + 1);
	else
		base = fkt_register_codes(codes, ARRAY_SIZE(codes));
	return base < 0 ? base : 0;
}

static void __exit sample_exit(void)
{
	fkt_unregister_codes(base);
}

module_init(sample_init);
module_exit(sample_exit);
MODULE_DESCRIPTION("Probes for FKT's tests");
MODULE_LICENSE("GPL");

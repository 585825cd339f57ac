// SPDX-License-Identifier: GPL-2.0-only
/*
 * What passing a tracepoint of three arguments, and calling a function, takes; and empty probes on
 * both, which are the kernel's share of what a probe costs.
 *
 *	echo tracepoint|function >parameters/run	measure
 *	echo deep >parameters/run			the tracepoint, some calls deeper
 *	echo named >parameters/run			a function of a number and a string
 *	cat parameters/run				ns a round, the best of several turns
 *	echo tracepoint|kprobe|kretprobe|none >parameters/empty
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/kmem.h>

#define TURNS	  9
#define ROUNDS	  2000
#define THOUSANDS 1000
#define DEEPER	  3

static u64 best;

static noinline __attribute__((noipa)) int events_loop_function(int value)
{
	return value + 1;
}

static const char name[] = "a name of 20 letters";
static_assert(sizeof(name) == 20 + 1);

static noinline __attribute__((noipa)) int events_loop_named(int value, const char *text)
{
	return value + *text;
}

/* For those who look into it. */
static struct kmem_cache *cache;

/* With one, a cache is not merged into another one, of another name. */
static void construct(void *object)
{
}

static void pass_tracepoint(int i)
{
	trace_kmem_cache_free(i, NULL, cache);
}

static noinline __attribute__((noipa)) void go_deeper(int i, int calls)
{
	if (calls)
		go_deeper(i, calls - 1);
	else
		pass_tracepoint(i);
	/* Neither call is a jump. */
	barrier();
}

static void pass_deep(int i)
{
	go_deeper(i, DEEPER);
}

static void call_function(int i)
{
	events_loop_function(i);
}

static void call_named(int i)
{
	events_loop_named(i, name);
}

/* Without interrupts, so that nothing else is counted; a little after each turn, for the others. */
static __always_inline void measure(void (*round)(int))
{
	int turn, i;

	best = U64_MAX;
	for (turn = 0; turn < TURNS; turn++) {
		unsigned long flags;
		u64 begin, ns;

		local_irq_save(flags);
		begin = ktime_get_ns();
		for (i = 0; i < ROUNDS; i++)
			round(i);
		ns = ktime_get_ns() - begin;
		local_irq_restore(flags);
		best = min(best, ns * THOUSANDS / ROUNDS);
		msleep(20);
	}
}

static int run(const char *what, const struct kernel_param *param)
{
	if (sysfs_streq(what, "tracepoint"))
		measure(pass_tracepoint);
	else if (sysfs_streq(what, "deep"))
		measure(pass_deep);
	else if (sysfs_streq(what, "function"))
		measure(call_function);
	else if (sysfs_streq(what, "named"))
		measure(call_named);
	else
		return -EINVAL;
	return 0;
}

static int show(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%llu.%03llu\n", best / THOUSANDS, best % THOUSANDS);
}

static void empty_tracepoint(void *data, unsigned long call_site, const void *ptr,
			     const struct kmem_cache *s)
{
}

static int empty_kprobe(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}

static int empty_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe kprobe;
static struct kretprobe kretprobe;
static struct tracepoint *tracepoint;
static enum {
	NONE,
	TRACEPOINT,
	KPROBE,
	KRETPROBE
} active;

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "kmem_cache_free"))
		tracepoint = tp;
}

static void no_empty(void)
{
	switch (active) {
	case TRACEPOINT:
		tracepoint_probe_unregister(tracepoint, empty_tracepoint, NULL);
		tracepoint_synchronize_unregister();
		break;
	case KPROBE:
		unregister_kprobe(&kprobe);
		break;
	case KRETPROBE:
		unregister_kretprobe(&kretprobe);
		break;
	case NONE:
		break;
	}
	active = NONE;
}

static int empty(const char *what, const struct kernel_param *param)
{
	int ret = 0;

	no_empty();
	if (sysfs_streq(what, "tracepoint")) {
		for_each_kernel_tracepoint(find_tracepoint, NULL);
		if (!tracepoint)
			return -ENOENT;
		ret = tracepoint_probe_register(tracepoint, empty_tracepoint, NULL);
		active = ret ? NONE : TRACEPOINT;
	} else if (sysfs_streq(what, "kprobe")) {
		kprobe = (struct kprobe){
			.addr = (kprobe_opcode_t *)events_loop_function,
			.pre_handler = empty_kprobe,
		};
		ret = register_kprobe(&kprobe);
		active = ret ? NONE : KPROBE;
	} else if (sysfs_streq(what, "kretprobe")) {
		kretprobe = (struct kretprobe){
			.kp.addr = (kprobe_opcode_t *)events_loop_function,
			.handler = empty_kretprobe,
		};
		ret = register_kretprobe(&kretprobe);
		active = ret ? NONE : KRETPROBE;
	} else if (!sysfs_streq(what, "none")) {
		return -EINVAL;
	}
	return ret;
}

static const struct kernel_param_ops run_ops = { .set = run, .get = show };
static const struct kernel_param_ops empty_ops = { .set = empty };

module_param_cb(run, &run_ops, NULL, 0600);
MODULE_PARM_DESC(run, "measure: tracepoint, deep, function or named");
module_param_cb(empty, &empty_ops, NULL, 0200);
MODULE_PARM_DESC(empty, "hook an empty probe: tracepoint, kprobe, kretprobe or none");

static void __exit events_loop_exit(void)
{
	no_empty();
	kmem_cache_destroy(cache);
}
module_exit(events_loop_exit);

static int __init events_loop_init(void)
{
	cache = kmem_cache_create(name, sizeof(u64), 0, 0, construct);
	return cache ? 0 : -ENOMEM;
}
module_init(events_loop_init);
MODULE_DESCRIPTION("A tracepoint and functions in a loop");
MODULE_LICENSE("GPL");

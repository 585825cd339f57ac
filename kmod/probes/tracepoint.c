// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any tracepoint, of the kernel and of its modules, with its first arguments as they are, or with
 * what they lead to.
 *
 * The recorder names the tracepoints, and how many arguments each has. Modules' tracepoints come
 * and go with them, which the kernel tells.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/tracepoint.h>
#include "compat.h"
#include "fetch.h"
#include "fkt.h"
#include "stacks.h"

/**
 * struct fkt_point - a tracepoint that is traced
 * @tag: its FKT_TAG
 * @key: mask of its layer
 * @args: how many arguments are recorded
 * @ops: how many operations there are in place of that
 * @ops_first: the first of them in fkt_point_fetches
 * @stack: with the stack
 * @hooked: its probe is registered
 * @tp: the tracepoint, NULL while neither the kernel nor a loaded module has it
 * @name: its name
 */
struct fkt_point {
	u64 tag;
	u32 key;
	u8 args;
	bool stack;
	bool hooked;
	u16 ops;
	u32 ops_first;
	struct tracepoint *tp;
	char name[FKT_TRACEPOINT_NAME_BYTES];
};

/* By name; the session's lock, and constant while attached. */
static struct fkt_point *fkt_points;
static u32 fkt_point_count;
/* The operations of all of them; likewise. */
static struct fkt_fetch *fkt_point_fetches;
static u32 fkt_point_fetch_count;

/* Layers that are attached, and every point's @tp and @hooked. Taken within the notifier's lock. */
static DEFINE_MUTEX(fkt_points_lock);
static u32 fkt_points_keys;

/**
 * struct fkt_point_spare - a module's tracepoint that has the name of another module's, which is
 * traced
 * @link: in fkt_point_spares, the oldest first
 * @tp: it; traced when that goes
 */
struct fkt_point_spare {
	struct list_head link;
	struct tracepoint *tp;
};

static LIST_HEAD(fkt_point_spares); /* fkt_points_lock */

/* One probe for each number of arguments, so that none records more words than it has to. */
static __always_inline void fkt_point_record(void *data, u32 words, const u64 *args)
{
	const struct fkt_point *point = data;
	FKT_PROBE_GUARD();

	if (fkt_on(point->key))
		fkt_event_tag(point->tag, words, args);
}

static void fkt_point_0(void *data)
{
	fkt_point_record(data, 0, NULL);
}

static void fkt_point_1(void *data, u64 a0)
{
	const u64 args[] = { a0 };

	fkt_point_record(data, ARRAY_SIZE(args), args);
}

static void fkt_point_2(void *data, u64 a0, u64 a1)
{
	const u64 args[] = { a0, a1 };

	fkt_point_record(data, ARRAY_SIZE(args), args);
}

static void fkt_point_3(void *data, u64 a0, u64 a1, u64 a2)
{
	const u64 args[] = { a0, a1, a2 };

	fkt_point_record(data, ARRAY_SIZE(args), args);
}

static void fkt_point_4(void *data, u64 a0, u64 a1, u64 a2, u64 a3)
{
	const u64 args[] = { a0, a1, a2, a3 };

	fkt_point_record(data, ARRAY_SIZE(args), args);
}

static void fkt_point_5(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	const u64 args[] = { a0, a1, a2, a3, a4 };

	fkt_point_record(data, ARRAY_SIZE(args), args);
}

/* Those that there are not are whatever the registers hold: no operation asks for them. */
static void fkt_point_fetch(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	u64 args[] = { a0, a1, a2, a3, a4 };
	const struct fkt_point *point = data;
	FKT_PROBE_GUARD();

	BUILD_BUG_ON(ARRAY_SIZE(args) != FKT_TRACEPOINT_ARGS_MAX);
	if (fkt_on(point->key))
		fkt_fetch(point->tag, fkt_point_fetches + point->ops_first, point->ops, args, NULL);
}

/* Any of them, with its stack. */
static void fkt_point_stack(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	u64 args[] = { a0, a1, a2, a3, a4 };
	const struct fkt_point *point = data;
	FKT_PROBE_GUARD();

	if (!fkt_on(point->key))
		return;
	if (point->ops)
		fkt_fetch_stack(point->tag, fkt_point_fetches + point->ops_first, point->ops, args,
				NULL, 0, FKT_STACK_OF_CALLER);
	else
		fkt_event_stack(point->tag, point->args, args, 0, FKT_STACK_OF_CALLER);
}

static void *const fkt_point_probes[FKT_TRACEPOINT_ARGS_MAX + 1] = {
	fkt_point_0, fkt_point_1, fkt_point_2, fkt_point_3, fkt_point_4, fkt_point_5,
};

static void *fkt_point_probe(const struct fkt_point *point)
{
	if (point->stack)
		return fkt_point_stack;
	return point->ops ? fkt_point_fetch : fkt_point_probes[point->args];
}

/* --- What the recorder asked for ------------------------------------------------------------ */

static int fkt_point_compare(const void *a, const void *b)
{
	return strcmp(((const struct fkt_point *)a)->name, ((const struct fkt_point *)b)->name);
}

/* @fetch are @fetches operations, some of which are the tracepoint's. */
static bool fkt_point_valid(const struct fkt_tracepoint_spec *spec, const struct fkt_fetch *fetch,
			    u32 fetches)
{
	if (!spec->ops)
		return !spec->ops_first;
	return spec->args &&
	       fkt_fetch_valid(fetch, fetches, spec->ops_first, spec->ops, spec->args);
}

/* What it fetches will be behind the operations that there are already. */
static int fkt_point_init(struct fkt_point *point, const struct fkt_tracepoint_spec *spec)
{
	if (spec->key >= 32 || spec->args > FKT_TRACEPOINT_ARGS_MAX ||
	    spec->code < FKT_CODE_DYNAMIC || spec->code >= FKT_CODE_DYNAMIC_END || !spec->name[0] ||
	    strnlen(spec->name, sizeof(spec->name)) == sizeof(spec->name))
		return -EINVAL;
	*point = (struct fkt_point){
		.tag = FKT_TAG(spec->code, spec->ops ? 0 : spec->args, 0),
		.key = 1u << spec->key,
		.args = spec->args,
		.ops = spec->ops,
		.ops_first = spec->ops ? fkt_point_fetch_count + spec->ops_first : 0,
	};
	strscpy(point->name, spec->name, sizeof(point->name));
	return 0;
}

/* Room for more of both; what there is stays where it is while there is no memory. */
static int fkt_points_grow(struct fkt_point **all, u32 count, struct fkt_fetch **fetches, u32 ops)
{
	*all = kvmalloc_array(fkt_point_count + count, sizeof(**all), GFP_KERNEL);
	*fetches = kvmalloc_array(fkt_point_fetch_count + ops + 1, sizeof(**fetches), GFP_KERNEL);
	if (!*all || !*fetches)
		return -ENOMEM;
	if (fkt_point_count)
		memcpy(*all, fkt_points, fkt_point_count * sizeof(**all));
	if (fkt_point_fetch_count)
		memcpy(*fetches, fkt_point_fetches, fkt_point_fetch_count * sizeof(**fetches));
	return 0;
}

static int fkt_tracepoint_add(struct fkt_specs *specs)
{
	const struct fkt_tracepoint_spec *spec = specs->spec;
	const u32 ops = specs->common_bytes / sizeof(struct fkt_fetch);
	struct fkt_fetch *fetches = NULL;
	struct fkt_point *all = NULL;
	u32 i;
	int ret;

	/* No probe here has the type of the tracepoint that calls it. */
	if (FKT_CALLS_ARE_CHECKED)
		return -EOPNOTSUPP;
	if (specs->count > FKT_TRACEPOINTS_MAX - fkt_point_count ||
	    specs->common_bytes % sizeof(struct fkt_fetch) ||
	    ops > FKT_TRACEPOINT_OPS_MAX - fkt_point_fetch_count)
		return -EINVAL;
	/* Any memory may be read: as for the kernel's own kprobe events. */
	ret = ops ? security_locked_down(LOCKDOWN_KPROBES) : 0;
	if (ret)
		return ret;
	ret = fkt_points_grow(&all, specs->count, &fetches, ops);
	for (i = 0; i < specs->count && !ret; i++) {
		ret = fkt_point_valid(&spec[i], specs->common, ops)
			      ? fkt_point_init(&all[fkt_point_count + i], &spec[i])
			      : -EINVAL;
	}
	if (ret) {
		kvfree(all);
		kvfree(fetches);
		return ret;
	}
	if (ops)
		memcpy(fetches + fkt_point_fetch_count, specs->common, ops * sizeof(*fetches));
	kvfree(fkt_points);
	kvfree(fkt_point_fetches);
	fkt_points = all;
	fkt_point_fetches = fetches;
	fkt_point_count += specs->count;
	fkt_point_fetch_count += ops;
	sort(fkt_points, fkt_point_count, sizeof(*fkt_points), fkt_point_compare, NULL);
	return 0;
}

static void fkt_tracepoint_clear(void)
{
	kvfree(fkt_points);
	fkt_points = NULL;
	fkt_point_count = 0;
	kvfree(fkt_point_fetches);
	fkt_point_fetches = NULL;
	fkt_point_fetch_count = 0;
}

/* --- Attaching ------------------------------------------------------------------------------ */

/* Who leaves is current while a switch is told: before FKT's own event, which says who comes. */
static int fkt_point_prio(const struct fkt_point *point)
{
	return TRACEPOINT_DEFAULT_PRIO + !strcmp(point->tp->name, "sched_switch");
}

static int fkt_point_hook(struct fkt_point *point)
{
	int ret;

	if (!point->tp || point->hooked || !(point->key & fkt_points_keys))
		return 0;
	ret = tracepoint_probe_register_prio(point->tp, fkt_point_probe(point), point,
					     fkt_point_prio(point));
	if (!ret)
		point->hooked = true;
	return ret;
}

static void fkt_point_unhook(struct fkt_point *point)
{
	if (point->hooked)
		tracepoint_probe_unregister(point->tp, fkt_point_probe(point), point);
	point->hooked = false;
	point->tp = NULL;
}

/* The first point with a name, or the place where it would be: there may be one in each layer. */
static u32 fkt_point_find(const char *name)
{
	u32 low = 0, high = fkt_point_count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (strcmp(fkt_points[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of two modules that have the same, the first one stays. */
static void fkt_tracepoint_waits(struct tracepoint *tp)
{
	struct fkt_point_spare *spare = kmalloc(sizeof(*spare), GFP_KERNEL);

	if (!spare) {
		pr_warn("fkt: no memory for a second tracepoint %s\n", tp->name);
		return;
	}
	spare->tp = tp;
	list_add_tail(&spare->link, &fkt_point_spares);
}

static void fkt_tracepoint_comes(struct tracepoint *tp, void *unused)
{
	bool waits = false;
	u32 i;
	int ret;

	for (i = fkt_point_find(tp->name);
	     i < fkt_point_count && !strcmp(fkt_points[i].name, tp->name); i++) {
		if (fkt_points[i].tp) {
			waits |= fkt_points[i].tp != tp;
			continue;
		}
		fkt_points[i].tp = tp;
		ret = fkt_point_hook(&fkt_points[i]);
		if (ret)
			pr_warn("fkt: cannot trace the tracepoint %s: error %d\n", tp->name, -ret);
	}
	if (waits)
		fkt_tracepoint_waits(tp);
}

static void fkt_tracepoint_goes(struct tracepoint *tp)
{
	struct fkt_point_spare *spare, *next;
	bool traced = false;
	u32 i;

	for (i = fkt_point_find(tp->name);
	     i < fkt_point_count && !strcmp(fkt_points[i].name, tp->name); i++) {
		if (fkt_points[i].tp != tp)
			continue;
		fkt_point_unhook(&fkt_points[i]);
		traced = true;
	}
	list_for_each_entry_safe(spare, next, &fkt_point_spares, link) {
		struct tracepoint *other = spare->tp;

		if (strcmp(other->name, tp->name) || (other != tp && !traced))
			continue;
		list_del(&spare->link);
		kfree(spare);
		if (other == tp)
			break;
		fkt_tracepoint_comes(other, NULL);
		traced = false;
	}
}

static int fkt_points_module(struct notifier_block *nb, unsigned long action, void *data)
{
	struct module *mod = ((struct tp_module *)data)->mod;
	unsigned int i;

	mutex_lock(&fkt_points_lock);
	for (i = 0; i < mod->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);

		if (action == MODULE_STATE_COMING)
			fkt_tracepoint_comes(tp, NULL);
		else if (action == MODULE_STATE_GOING)
			fkt_tracepoint_goes(tp);
	}
	mutex_unlock(&fkt_points_lock);
	return NOTIFY_OK;
}

static struct notifier_block fkt_points_block = {
	.notifier_call = fkt_points_module,
};

static bool fkt_point_wants_stack(const struct fkt_point *point)
{
	return fkt_stack_wanted(point->tag >> FKT_SLOT_CODE_SHIFT & (FKT_SLOT_CODES - 1), 1);
}

static int fkt_tracepoint_attach(const struct fkt_session *s, u32 keys)
{
	bool first = !fkt_points_keys;
	int ret = 0;
	u32 i;

	if (!fkt_point_count)
		return 0;
	mutex_lock(&fkt_points_lock);
	fkt_points_keys |= keys;
	for (i = 0; first && i < fkt_point_count; i++)
		fkt_points[i].stack = fkt_point_wants_stack(&fkt_points[i]);
	if (first)
		for_each_kernel_tracepoint(fkt_tracepoint_comes, NULL);
	for (i = 0; i < fkt_point_count && !ret; i++)
		ret = fkt_point_hook(&fkt_points[i]);
	mutex_unlock(&fkt_points_lock);
	/* Tells of all modules that are there. */
	if (first && !ret)
		ret = register_tracepoint_module_notifier(&fkt_points_block);
	return ret;
}

static void fkt_tracepoint_detach(void)
{
	struct fkt_point_spare *spare, *next;
	u32 i;

	if (!fkt_points_keys)
		return;
	/* What waits for another one to go is not hooked any more. */
	mutex_lock(&fkt_points_lock);
	fkt_points_keys = 0;
	mutex_unlock(&fkt_points_lock);
	/* Tells of all modules once more; of one that was never registered, of none. */
	unregister_tracepoint_module_notifier(&fkt_points_block);
	mutex_lock(&fkt_points_lock);
	for (i = 0; i < fkt_point_count; i++)
		fkt_point_unhook(&fkt_points[i]);
	list_for_each_entry_safe(spare, next, &fkt_point_spares, link) {
		list_del(&spare->link);
		kfree(spare);
	}
	mutex_unlock(&fkt_points_lock);
	tracepoint_synchronize_unregister();
}

const struct fkt_provider fkt_provider_tracepoint = {
	.name = "tracepoint",
	.keys = ~0u,
	.spec_bytes = sizeof(struct fkt_tracepoint_spec),
	.common_max = FKT_TRACEPOINT_OPS_MAX * sizeof(struct fkt_fetch),
	.count_max = FKT_TRACEPOINTS_MAX,
	.add = fkt_tracepoint_add,
	.clear = fkt_tracepoint_clear,
	.attach = fkt_tracepoint_attach,
	.detach = fkt_tracepoint_detach,
};

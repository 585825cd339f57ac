// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with a tracepoint and a function; writing N to its parameter "fire" passes both N times.
 * It takes as many steps to be loaded as its parameter "steps" says, 100 ms each; which may be
 * changed meanwhile.
 */
#include <linux/delay.h>
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "fkt_event_trace.h"

/* As it is written: no copy of it with other arguments. */
static noinline __attribute__((noipa)) int fkt_event_call(int number, const char *text)
{
	trace_fkt_event_fired(number, 200 + number, -1000000000000ll * number);
	return -number;
}

static int fire(const char *text, const struct kernel_param *param)
{
	unsigned int times, i;
	int ret = kstrtouint(text, 0, &times);

	for (i = 0; !ret && i < times; i++)
		fkt_event_call(i, "some text of the module's");
	return ret;
}

static const struct kernel_param_ops fire_ops = {
	.set = fire,
};
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "pass the tracepoint so many times");

static unsigned int steps;
module_param(steps, uint, 0200);
MODULE_PARM_DESC(steps, "how long it takes to be loaded, in tenths of a second");

static noinline __attribute__((noipa)) int __init fkt_event_step(unsigned int step)
{
	msleep(100);
	return step;
}

static int __init fkt_event_init(void)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(steps); i++)
		fkt_event_step(i);
	return 0;
}
module_init(fkt_event_init);

static void __exit fkt_event_exit(void)
{
}
module_exit(fkt_event_exit);

MODULE_DESCRIPTION("A tracepoint for FKT's tests");
MODULE_LICENSE("GPL");

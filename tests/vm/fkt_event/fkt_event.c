// SPDX-License-Identifier: GPL-2.0-only
/* A module with a tracepoint and a function; writing N to its parameter "fire" passes both N times. */
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
MODULE_DESCRIPTION("A tracepoint for FKT's tests");
MODULE_LICENSE("GPL");

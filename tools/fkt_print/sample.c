// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples. */
#include <stdlib.h>

#include "common/sample.h"
#include "print.h"
#include "trace/put.h"

/* Where nobody knows it. */
#define HZ_UNKNOWN 100

uint32_t sample_hz(const struct context *context)
{
	const char *info = fkt_info(context->trace, "profile_hz");
	const unsigned long hz = info ? strtoul(info, NULL, 10) : 0;

	return hz && hz <= FKT_NS_PER_SECOND ? (uint32_t)hz : HZ_UNKNOWN;
}

const struct fkt_stack *sample_stack(const struct context *context, const struct fkt_event *event,
				     struct fkt_stack *room)
{
	return sample_stack_of(context->processes, context->stack, event, room);
}

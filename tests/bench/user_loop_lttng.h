/* SPDX-License-Identifier: GPL-2.0-only */
/* The event of user_loop.c, as LTTng-UST has it; read several times, as it asks for. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER user_loop

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./user_loop_lttng.h"

#if !defined(USER_LOOP_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define USER_LOOP_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(user_loop, one, LTTNG_UST_TP_ARGS(unsigned long, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned long, value,
								       value)))

#endif

#include <lttng/tracepoint-event.h>

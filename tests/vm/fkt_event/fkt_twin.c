// SPDX-License-Identifier: GPL-2.0-only
/* Another module with a tracepoint of that name, for ftrace in another subsystem. */
#define FKT_EVENT_SYSTEM fkt_twin
#include "fkt_event.c"

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FKT_EVENT_SYSTEM
#define FKT_EVENT_SYSTEM fkt_event
#endif
#undef TRACE_SYSTEM
#define TRACE_SYSTEM FKT_EVENT_SYSTEM

#if !defined(FKT_EVENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define FKT_EVENT_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(fkt_event_fired, TP_PROTO(int number, u8 narrow, s64 wide),
	    TP_ARGS(number, narrow, wide),
	    TP_STRUCT__entry(__field(int, number) __field(u8, narrow) __field(s64, wide)),
	    TP_fast_assign(__entry->number = number; __entry->narrow = narrow;
			   __entry->wide = wide;),
	    TP_printk("number=%d narrow=%u wide=%lld", __entry->number, __entry->narrow,
		      __entry->wide));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE fkt_event_trace
#include <trace/define_trace.h>

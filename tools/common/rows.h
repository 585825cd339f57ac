/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kinds of rows of the analysis there are. */
#ifndef FKT_COMMON_ROWS_H
#define FKT_COMMON_ROWS_H

#include <fkt/trace.h>

/* Whether it is a softirq's: an interrupt, or, on PREEMPT_RT, a call of the thread that runs it. */
static inline bool row_is_softirq(uint32_t row)
{
	return row >= FKT_ROW_SOFTIRQ && row < FKT_ROW_FUNCTION;
}

#endif

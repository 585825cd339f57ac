/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kinds of rows of the analysis there are. */
#ifndef FKT_COMMON_ROWS_H
#define FKT_COMMON_ROWS_H

#include <fkt/trace.h>

/* Whether it is an interrupt's, or a softirq's: whom that interrupted is chance. */
static inline bool row_is_interrupt(uint32_t row)
{
	return (row >= FKT_ROW_IRQ && row < FKT_ROW_FUNCTION) ||
	       (row >= FKT_CODE_VECTOR_ENTRY && row < FKT_CODE_VECTOR_EXIT);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* Recording only what is called below a function, and so many levels deep: graph.c. */
#ifndef FKT_GRAPH_H
#define FKT_GRAPH_H

#include <linux/types.h>

struct task_struct;

bool fkt_graph_enter(bool root, bool pair, bool *full);
void fkt_graph_leave(void);
void fkt_graph_forget(const struct task_struct *task);
int fkt_graph_begin(u32 depth);
void fkt_graph_free(void);

#endif

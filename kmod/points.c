// SPDX-License-Identifier: GPL-2.0-only
/* Hooking the kernel's tracepoints by name: they are exported one by one, or not at all. */
#include <linux/tracepoint.h>
#include "fkt.h"

struct fkt_tracepoint_search {
	struct fkt_tracepoint *table;
	unsigned int count;
};

static void fkt_tracepoint_find(struct tracepoint *tp, void *data)
{
	struct fkt_tracepoint_search *search = data;
	unsigned int i;

	for (i = 0; i < search->count; i++)
		if (!strcmp(tp->name, search->table[i].name))
			search->table[i].tp = tp;
}

/* In which order a tracepoint calls its probes. */
static int fkt_tracepoint_prio(const struct fkt_tracepoint *point)
{
	if (point->last)
		return 0;
	return TRACEPOINT_DEFAULT_PRIO + point->first;
}

/**
 * fkt_tracepoints_detach - unhook what fkt_tracepoints_attach() has hooked
 * @table: the tracepoints
 * @count: their number
 *
 * Context: process; may sleep. Probes may still be running when it returns.
 */
void fkt_tracepoints_detach(struct fkt_tracepoint *table, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!table[i].tp)
			continue;
		tracepoint_probe_unregister(table[i].tp, table[i].probe, table[i].data);
		table[i].tp = NULL;
	}
	tracepoint_synchronize_unregister();
}

/**
 * fkt_tracepoints_attach - hook tracepoints of the kernel
 * @table: the tracepoints; one that this kernel does not have is left out, its @tp stays NULL
 * @count: their number
 *
 * Context: process; may sleep.
 * Return: 0, or a negative errno value with none of them hooked.
 */
int fkt_tracepoints_attach(struct fkt_tracepoint *table, unsigned int count)
{
	struct fkt_tracepoint_search search = { .table = table, .count = count };
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		table[i].tp = NULL;
	for_each_kernel_tracepoint(fkt_tracepoint_find, &search);
	for (i = 0; i < count; i++) {
		if (!table[i].tp)
			continue;
		ret = tracepoint_probe_register_prio(table[i].tp, table[i].probe, table[i].data,
						     fkt_tracepoint_prio(&table[i]));
		if (ret) {
			for (; i < count; i++)
				table[i].tp = NULL;
			fkt_tracepoints_detach(table, count);
			return ret;
		}
	}
	return 0;
}

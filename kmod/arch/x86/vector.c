// SPDX-License-Identifier: GPL-2.0-only
/* The x86 interrupt vectors, in and out (paper, §B.5, layer System). */
#include <asm/trace/irq_vectors.h>
#include <fkt/x86/codes.h>
#include "compat.h"
#include "counters.h"
#include "fkt.h"

/* It gets the code to record as its data. */
static void fkt_vector(void *data, int vector)
{
	FKT_PROBE_GUARD();

	if (fkt_on(FKT_KEY_SYSTEM))
		FKT_EVENT0((unsigned long)data, vector);
}

/* The same where there are counters. */
static void fkt_vector_counted(void *data, int vector)
{
	FKT_PROBE_GUARD();

	if (!fkt_on(FKT_KEY_SYSTEM))
		return;
	fkt_counters_tell();
	FKT_EVENT0((unsigned long)data, vector);
}

static struct fkt_tracepoint fkt_vector_points[] = {
/* Some kernels lack some of the vectors; they are of one type. */
#define X(index, name)                                                                             \
	{ #name "_entry", FKT_PROBE_FOR(local_timer_entry, fkt_vector),                            \
	  (void *)(FKT_CODE_VECTOR_ENTRY + (index)) },                                             \
		{ #name "_exit", FKT_PROBE_FOR(local_timer_exit, fkt_vector),                      \
		  (void *)(FKT_CODE_VECTOR_EXIT + (index)) },
	FKT_VECTORS(X)
#undef X
};

static int fkt_vector_attach(const struct fkt_session *s, u32 keys)
{
	void *probe = fkt_counters_wanted() ? FKT_PROBE_FOR(local_timer_entry, fkt_vector_counted)
					    : FKT_PROBE_FOR(local_timer_entry, fkt_vector);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fkt_vector_points); i++)
		fkt_vector_points[i].probe = probe;
	return fkt_tracepoints_attach(fkt_vector_points, ARRAY_SIZE(fkt_vector_points));
}

static void fkt_vector_detach(void)
{
	fkt_tracepoints_detach(fkt_vector_points, ARRAY_SIZE(fkt_vector_points));
}

const struct fkt_provider fkt_provider_vector = {
	.name = "vector",
	.keys = FKT_KEY_SYSTEM,
	.attach = fkt_vector_attach,
	.detach = fkt_vector_detach,
};

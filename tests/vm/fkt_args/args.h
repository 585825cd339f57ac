/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of fkt_args share. */
#ifndef ARGS_H
#define ARGS_H

#include <linux/types.h>

/*
 * A function as the calling convention has it: the compiler changes nothing, and knows nothing of
 * it.
 */
#define PLAIN __attribute__((noipa))

/**
 * args_mix - what a function has got, as one number
 * @data: it
 * @bytes: how many
 */
u64 args_mix(const void *data, size_t bytes);

/* Each calls its functions, and mixes what they got and returned. */
u64 args_values(void);
u64 args_structures(void);
u64 args_results(void);
u64 args_twin(void);

#endif

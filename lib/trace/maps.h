/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* maps.c: which code of which file was at an address of a program. */
#ifndef FKT_MAPS_H
#define FKT_MAPS_H

#include "internal.h"

/*
 * A frame of a stack that is at a place of a file, whatever process it is of: these bits, and a
 * number of the file.
 */
#define FKT_FRAME_FILE	      (1ull << 62)
#define FKT_FRAME_FILE_SHIFT  40
#define FKT_FRAME_FILE_OFFSET ((1ull << FKT_FRAME_FILE_SHIFT) - 1)

/* Or it was looked for already, and is in no file that is known. */
#define FKT_FRAME_NOWHERE     (1ull << 61)

/* Frames of a program that are in files become such, and others are marked. */
void fkt_stack_place(struct fkt_trace *trace, struct fkt_stack *stack);
/* The same of a copy, which is returned: who needs several frames, asks once. */
const struct fkt_stack *fkt_stack_placed(struct fkt_trace *trace, const struct fkt_stack *stack,
					 struct fkt_stack *placed);
/* The same of one frame; that one where it is in no file that is known. */
uint64_t fkt_frame_place(struct fkt_trace *trace, const struct fkt_stack *stack, uint64_t frame);

/* The file's name, without its folder. */
const char *fkt_frame_file(const struct fkt_trace *trace, uint64_t place);
/* The function so far before it, see fkt_elf_function(). */
bool fkt_frame_function(struct fkt_trace *trace, uint64_t place, unsigned int back,
			const char **name, uint64_t *into);

#endif

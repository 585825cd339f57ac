/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a traced function's call has on the stack, from where the body's return address stands on:
 *
 *	0		fkt_function_returned, or fkt_function_returned_copied
 *	8		FKT_COPY_BYTES of copied arguments, in the second case only
 *	FRAME		the frame: the six argument registers, then what is at these offsets
 *	FRAME + BODY	the return into the body, which has been made
 *	and 8 more	the function's return to its caller
 */
#ifndef FKT_TRAMPOLINE_H
#define FKT_TRAMPOLINE_H

/* In the frame, and in that of a function whose arguments on the stack are copied. */
#define FKT_FRAME_FUNCTION	 48
#define FKT_FRAME_BODY		 56
#define FKT_FRAME_COPIED_BODY	 64

/* Room for the arguments that a function has on the stack. */
#define FKT_COPY_WORDS		 8
#define FKT_COPY_BYTES		 (8 * FKT_COPY_WORDS)

/*
 * What the kernel's code that stands in for the trampoline's end adds to %rsp, see frames.c: from
 * behind the body's return address to the caller's. With copied arguments it is run twice.
 */
#define FKT_EPILOGUE_BYTES	 (FKT_FRAME_BODY + 8)

/* Where struct fkt_function says how many of them to copy. */
#define FKT_FUNCTION_COPY_OFFSET 36

#ifndef __ASSEMBLY__

struct fkt_function;

/* Where ftrace enters: called by the function, or in its place with the body in %r10. */
void fkt_function_trampoline(void);
void fkt_function_redirected(void);
void fkt_function_trampoline_copying(void);
void fkt_function_redirected_copying(void);

/* Where the body returns to. */
extern const char fkt_function_returned[];
extern const char fkt_function_returned_copied[];

/* What they call. */
struct fkt_function *fkt_function_entry(unsigned long body, const u64 *args);
void fkt_function_exit(struct fkt_function *function, u64 ret);

/* frames.c */
long fkt_frames_take_back(bool (*ours)(const struct fkt_function *function, unsigned long body));

#endif
#endif

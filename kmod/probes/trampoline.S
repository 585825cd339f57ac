/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The direct trampoline of traced functions. ftrace makes a function's first instruction call it, so
 * that it finds on the stack
 *
 *	0(%rsp)		the return into the function's body
 *	8(%rsp)		the function's return to its caller
 *
 * and the arguments in their registers. It calls the body, and so catches the exit without touching
 * the caller's return address. A body that has arguments on the stack as well finds copies of them:
 * they are the called function's own, and nobody looks at them afterwards. How many words there are
 * says the function; where that can't be known, the exit isn't caught (function.c).
 *
 * The body is entered by a return: an indirect call would have to land on an ENDBR.
 *
 * Where ftrace can't call it directly, fkt_function_redirected is entered instead of the body, as if
 * by the caller, with the body in %r10: no function's argument.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm-offsets.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/unwind_hints.h>
#include "trampoline.h"

	.text

/* Behind the return address stand the copies, if there are any, and the trampoline's frame. */
.macro ENTER_BODY name:req offset:req
SYM_FUNC_START_LOCAL(\name)
	pushq	8+\offset(%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(\name)
.endm

ENTER_BODY fkt_enter_body, FKT_FRAME_BODY
ENTER_BODY fkt_enter_body_copied, FKT_COPY_BYTES+FKT_FRAME_COPIED_BODY

/* The frame is made; enters the body with what it had in registers, or leaves for it by .Lno_exit. */
.macro RECORD_ENTRY body:req no_exit:req
	/*
	 * The six argument registers make the array that fkt_function_entry() gets. %al, which
	 * counts a variadic function's vector registers, says nothing in the kernel.
	 */
	movq	%rdi, 0(%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)

	movq	\body(%rsp), %rdi
	movq	%rsp, %rsi
	call	fkt_function_entry
	movq	%rax, FKT_FRAME_FUNCTION(%rsp)
	testq	%rax, %rax

	movq	0(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	jz	\no_exit
.endm

/* The body has returned: its value is in %rax, of a pair the second half in %rdx. */
.macro RECORD_EXIT body:req
	movq	%rax, 0(%rsp)
	movq	%rdx, 8(%rsp)
	movq	FKT_FRAME_FUNCTION(%rsp), %rdi
	movq	%rax, %rsi
	call	fkt_function_exit
	movq	0(%rsp), %rax
	movq	8(%rsp), %rdx
	addq	$(\body + 8), %rsp
.endm

SYM_FUNC_START(fkt_function_redirected)
	pushq	%r10
SYM_INNER_LABEL(fkt_function_trampoline, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR /* called directly */
	/* One word more on the stack than a function has that was just called. */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	subq	$FKT_FRAME_BODY, %rsp
	RECORD_ENTRY FKT_FRAME_BODY, .Lno_exit
	call	fkt_enter_body
SYM_INNER_LABEL(fkt_function_returned, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR /* returned to */
	RECORD_EXIT FKT_FRAME_BODY
	UNWIND_HINT_FUNC
	RET

.Lno_exit:
	addq	$FKT_FRAME_BODY, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(fkt_function_redirected)

SYM_FUNC_START(fkt_function_redirected_copying)
	pushq	%r10
SYM_INNER_LABEL(fkt_function_trampoline_copying, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR /* called directly */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	subq	$FKT_FRAME_COPIED_BODY, %rsp
	RECORD_ENTRY FKT_FRAME_COPIED_BODY, .Lno_exit_copying

	/* %rax and %r10 are free: the one has the function, the other is no function's argument. */
	movzbl	FKT_FUNCTION_COPY_OFFSET(%rax), %eax
	subq	$FKT_COPY_BYTES, %rsp
	testl	%eax, %eax
	jz	.Lcopied
.Lcopy:
	movq	FKT_COPY_BYTES+FKT_FRAME_COPIED_BODY+8(%rsp,%rax,8), %r10
	movq	%r10, -8(%rsp,%rax,8)
	decl	%eax
	jnz	.Lcopy
.Lcopied:
	call	fkt_enter_body_copied
SYM_INNER_LABEL(fkt_function_returned_copied, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR /* returned to */
	addq	$FKT_COPY_BYTES, %rsp
	RECORD_EXIT FKT_FRAME_COPIED_BODY
	UNWIND_HINT_FUNC
	RET

.Lno_exit_copying:
	addq	$FKT_FRAME_COPIED_BODY, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(fkt_function_redirected_copying)
